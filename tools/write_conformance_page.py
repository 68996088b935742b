"""Write docs/conformance.md and build/conformance.md: numbers of other tools and of rankscope on the same input, by running the tools.

docs/conformance.md is the summary, build/conformance.md lists every metric. ``--print`` prints the summary and writes nothing. If a tool is
not installed, the pages stay as they are. Raises if numbers differ and no convention is named for it. ``tests/house/test_conformance_page.py``
fails if the summary is out of date.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import rankscope as rs
from conformance_base import Absent, Defect, Row, Tool, compared, number, words
from conformance_data import CORNERS, demo, tied_share

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "conformance.md"
DETAILS = ROOT / "build" / "conformance.md"
NAMES = ("nDCG@10", "AP@10", "P@10", "R@10", "RR@10")

HEAD = """\
# Conformance

rankscope and other tools on the same input. Every number comes from running the tool, and the number next to it from running
rankscope. `make docs` writes this page, and `build/conformance.md` with every metric. It fails if two numbers differ and no
convention is named for the difference. A test writes this page again and compares.

The input, unless a section names another:

- **demo**: {queries} queries of the demo collection (`rankscope demo`) and its run bm25. Grades go from 0 to 3. {tied:.0%} of the
  retrieved documents share their score with another document of the query, and {unjudged:.0%} are unjudged.
- **corners**: {corners} small queries with grades, ties, unjudged documents and relevant documents that the run lacks. One has no
  relevant document, one is missing from the run, one has more than ten relevant documents, one has a short list.

Documents are passed in the order of their ids, so the order of the input differs from the order of equal scores.

- **equal**: rankscope gives the same numbers under the same name, without parameters.
- **convention**: rankscope gives the same numbers with a named parameter or policy.
- **defect**: a number that follows from no convention, [listed below](#defects).

*Numbers* counts the values of single queries and the means. Each agrees to within the last column. `dialect="..."` computes like a tool.
"""


def tools() -> Iterator[Tool]:
    """Every tool, in the order of the page."""
    import conformance_groups as groups
    import conformance_learning as learning
    import conformance_rankings as rankings
    import conformance_recommenders as recommenders
    import conformance_retrieval as retrieval

    yield retrieval.trec_eval()
    yield from retrieval.ir_measures()
    yield from (rankings.ranx(), rankings.ndeval(), rankings.cwl_eval())
    yield from (learning.sklearn(), learning.lightgbm(), learning.xgboost())
    yield from (groups.catboost(), groups.torchmetrics())
    yield from recommenders.tools()


def pages() -> tuple[str, str]:
    """Return the summary and the page of all metrics. Raises Absent if a tool is not installed."""
    import conformance_defects

    logging.disable(logging.WARNING)  # tools that warn of what is made so on purpose
    try:
        done = [(tool, list(compared(tool))) for tool in tools()]
        found = list(conformance_defects.defects())
    except ImportError as error:
        raise Absent(f"{error.name or error} is not installed") from error
    start = [head(), summary(done, found)]
    end = ["\n".join(defect_section(found)), "\n".join(chain(*same_name()))]
    sections = ["\n".join(section(tool, rows, found)) for tool, rows in done]
    return "\n".join([*start, *end[:1]]), "\n".join([*start, *sections, *end])


def head() -> str:
    """What the page is, and the input."""
    data = demo()
    docs = [(query, doc) for query, run in data.run.items() for doc in run]
    unjudged = sum(doc not in data.qrels[query] for query, doc in docs) / len(docs)
    return HEAD.format(queries=len(data.qrels), corners=len(CORNERS.qrels), tied=tied_share(data), unjudged=unjudged)


def summary(done: Sequence[tuple[Tool, Sequence[Row]]], found: Sequence[Defect]) -> str:
    """A row a tool."""
    heads = ("tool", "release", "metrics", "numbers", "equal", "convention", "defects", "to within")
    lines = []
    named = set()
    for tool, rows in done:
        whole = tool.name.partition(",")[0]
        of_tool = [d for d in found if d.name in {tool.name, whole}] if whole not in named else []
        named.add(whole)
        release = f"{tool.package} {tool.version}"
        equal = sum(row.equal for row in rows)
        counts = (len(rows), sum(row.count for row in rows), equal, len(rows) - equal, len(of_tool))
        lines.append((tool.name, release, *(f"{count:,}" for count in counts), f"{tool.close:.0e}"))
    return "".join(table(heads, lines, "ll------"))


def section(tool: Tool, rows: Sequence[Row], found: Sequence[Defect]) -> Iterator[str]:
    """One tool: how it was called, and a table of the metrics."""
    yield f"## {tool.name}\n"
    yield f"{tool.package} {tool.version}. {tool.about}\n"
    names = [data.name for data in tool.inputs]
    dialects = any(row.pair.dialect for row in rows)
    heads = ["theirs", "ours", *(f"{name}: {who}" for name in names for who in ("theirs", "ours")), "verdict"]
    shown = [row for row in rows if row.pair.shown]
    lines = []
    for row in shown:
        values = [number(value, tool.digits) for pair in row.means for value in pair]
        line = [f"`{row.pair.call}`", row.spelling, *values, verdict(row, tool)]
        lines.append([*line, *([f"`{row.pair.dialect}`" if row.pair.dialect else ""] if dialects else [])])
    yield "".join(table([*heads, *(["dialect"] if dialects else [])], lines, "ll----ll"))
    if len(shown) < len(rows):
        rest = len(rows) - len(shown)
        yield f"{rest} more metrics, the same ones at other cutoffs and levels, were compared and agree as closely.\n"
    if any(d.name == tool.name.partition(",")[0] for d in found):
        yield "It has [defects](#defects), too.\n"


def verdict(row: Row, tool: Tool) -> str:
    """Equal, or the convention and what rankscope says without it."""
    if row.equal:
        return "equal"
    without = ", ".join(number(value, tool.digits) for value in row.plain)
    return f"convention: {row.convention} ({f'without: {without}' if row.matters else 'no matter here'})"


def defect_section(found: Sequence[Defect]) -> Iterator[str]:
    """Their number, ours, and why."""
    yield "## Defects\n"
    yield "Numbers that follow from no convention, or from one that nobody can want, by the releases above.\n"
    lines = [(d.name, f"`{d.call}`", d.input, number(d.theirs, 4), number(d.ours, 4), d.why) for d in found]
    yield "".join(table(("tool", "call", "input", "theirs", "ours", "why"), lines, "lll--l"))


def same_name() -> Iterator[Iterator[str]]:
    """What tools print under one name for the corners, as their dialects have it."""
    yield iter(
        [
            "## The same name, other numbers\n",
            (
                "What the tools that rankscope knows print for the corners, as `rankscope reconcile` tells: a row a number. "
                "These are computed by rankscope, in its dialects of the tools; the dialects in the tables above were "
                "checked against the tools themselves.\n"
            ),
        ]
    )
    for name in NAMES:
        yield _same_name(rs.reconcile(CORNERS.qrels, CORNERS.run, name))


def _same_name(found: Any) -> Iterator[str]:
    groups: dict[str, dict[str, list[str]]] = {number(found.ours[0], 4): {"": ["**rankscope**"]}}
    for printed in found.tools[1:]:  # the first is rankscope
        if printed.values is not None:
            why = "; ".join(map(words, printed.reasons))
            groups.setdefault(number(printed.values[0], 4), {}).setdefault(why, []).append(printed.dialect)
    lines = [(value, ", ".join(names), why) for value, reasons in groups.items() for why, names in reasons.items()]
    yield f"### {found.spelling}\n"
    yield "".join(table((found.spelling, "printed by", "because of"), lines, "-ll"))
    yield from (f"{p.tool}: {p.defect}.\n" for p in found.tools if p.values is None)


def table(heads: Sequence[str], lines: Sequence[Sequence[str]], kinds: str) -> Iterator[str]:
    """A table; a column is text (l) or numbers (-)."""
    rules = ["---" if kind == "l" else "---:" for kind in kinds[: len(heads)]]
    for line in (heads, rules, *lines):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n"


def main() -> None:
    """Write the page, or print it."""
    warnings.simplefilter("ignore")  # of the tools
    os.environ["OMP_NUM_THREADS"] = "1"  # before the tools are loaded: small inputs only wait for other threads
    try:
        summary_page, details = pages()
    except Absent as missing:
        print(f"docs/conformance.md stays as it is: {missing}", file=sys.stderr)
        raise SystemExit(3 if "--print" in sys.argv else 0) from missing
    if "--print" in sys.argv:
        sys.stdout.write(summary_page)
        return
    DETAILS.parent.mkdir(exist_ok=True)
    for path, text in ((PAGE, summary_page), (DETAILS, details)):
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
