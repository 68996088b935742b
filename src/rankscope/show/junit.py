"""Results as JUnit XML, which servers for continuous integration read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from rankscope.words import printable


@dataclass(frozen=True)
class JUnitCase:
    """One test case: its name, its text, and the reason if it failed or was skipped.

    ``skipped`` is for a case without a result. ``text`` may have several lines.
    """

    name: str
    text: str = ""
    failure: str = ""
    skipped: str = ""


def as_junit(suite: str, cases: Sequence[JUnitCase]) -> str:
    """Return the cases of a suite as an XML document; characters that XML cannot hold are escaped.

    >>> print(as_junit("gate", [JUnitCase("AP", failure="lost 0.1")]))  # doctest: +ELLIPSIS
    <?xml version='1.0' encoding='utf-8'?>
    <testsuites name="gate" tests="1" failures="1" errors="0" skipped="0">
      <testsuite name="gate" tests="1" failures="1" errors="0" skipped="0">
        <testcase classname="gate" name="AP">
          <failure message="lost 0.1" />
        </testcase>
      </testsuite>
    </testsuites>
    <BLANKLINE>
    """
    failures, skipped = (
        str(sum(map(bool, those))) for those in ([c.failure for c in cases], [c.skipped for c in cases])
    )
    counts = {"name": _fit(suite), "tests": str(len(cases)), "failures": failures, "errors": "0", "skipped": skipped}
    root = ET.Element("testsuites", counts)
    inside = ET.SubElement(root, "testsuite", counts)
    for case in cases:
        node = ET.SubElement(inside, "testcase", {"classname": _fit(suite), "name": _fit(case.name)})
        for kind, message in (("failure", case.failure), ("skipped", case.skipped)):
            if message:
                ET.SubElement(node, kind, {"message": _fit(message)})
        if case.text:
            ET.SubElement(node, "system-out").text = _fit(case.text)
    ET.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(root, encoding='unicode')}\n"


def _fit(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))
