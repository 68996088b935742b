"""Write the section "Claims of outputs" of docs/calibration.md: each claim, the rate it promises, and the rate measured.

python tools/claims.py                      go on where it stopped, and write the page (make calibrate)
python tools/claims.py --seconds 600        stop after so many seconds; what was measured is kept in tools/claims.json
python tools/claims.py --again "GMAP"       measure the claims with this text anew
python tools/claims.py --list               print the claims and what is measured of them

A claim is one ``Claim`` in a module of ``MODULES``: a trial draws a world whose truth is known, asks rankscope, and returns whether the
event of the claim happened; None if rankscope withheld its answer. Rates that an earlier state of the package had are kept beside the new
ones: ``PYTHONPATH=EARLIER/src python tools/claims.py --before`` measures them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from zlib import crc32

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGE, STORE = ROOT / "docs" / "calibration.md", ROOT / "tools" / "claims.json"
BEGINS, ENDS = "## Claims of outputs", "## Experiments"
MODULES = ("claims_offline", "claims_online", "claims_clicks", "claims_policies")
SEED = 25
EACH = 20.0  # seconds between two savings

HEAD = f"""\
{BEGINS}

The rates that outputs promise, and the rates measured through the package itself in worlds with a known truth, before and after
the last change of the method. Rates are percentages, ± is a standard error, *withheld* is the share of worlds in which the answer is
withheld with a reason. These worlds are left out of the rate. `make calibrate` writes this section and resumes after a stop.
`tests/inference/test_claims.py` measures a small part of it.
"""


@dataclass(frozen=True)
class Claim:
    """What an output claims in a kind of world, and how often it should happen.

    ``row`` and ``cell`` name it, ``promise`` is the rate in words, ``low`` and ``high`` are the rates within which the claim holds, in
    percent. ``trial`` draws one world. ``audit`` is what others measured, if they did. Tests draw ``few`` worlds.
    """

    row: str
    cell: str
    promise: str
    low: float
    high: float
    trial: Callable[[np.random.Generator], bool | None]
    samples: int = 4000
    audit: str = ""
    few: int = 150

    @property
    def key(self) -> str:
        """The name under which results are kept."""
        return f"{self.row} | {self.cell}"

    def draw(self, number: int) -> bool | None:
        """The outcome of one world, which depends on nothing but its number."""
        return self.trial(np.random.default_rng([SEED, crc32(self.key.encode()), number]))


@dataclass
class Tally:
    """Of ``tried`` worlds so many were ``hits``, and so many ``withheld``."""

    hits: int = 0
    tried: int = 0
    withheld: int = 0

    def add(self, outcome: bool | None) -> None:
        """Count one world."""
        self.tried += 1
        self.hits += outcome is True
        self.withheld += outcome is None

    @property
    def rate(self) -> tuple[float, float]:
        """The rate among answers in percent, and its standard error; NaN without an answer."""
        count = self.tried - self.withheld
        if not count:
            return float("nan"), float("nan")
        share = self.hits / count
        return 100 * share, 100 * (max(share * (1 - share), 1 / (4 * count)) / count) ** 0.5

    def __str__(self) -> str:
        if not self.tried:
            return ""
        rate, error = self.rate
        withheld = f", withheld {100 * self.withheld / self.tried:.0f}" if self.withheld else ""
        return f"{rate:.1f} ± {error:.1f}{withheld}" if not math.isnan(rate) else "withheld 100"


def claims() -> list[Claim]:
    """All claims, row by row."""
    return [claim for name in MODULES for claim in import_module(name).CLAIMS]


def read() -> dict[str, dict[str, Tally]]:
    """What is measured, by claim: ``before`` and ``after``."""
    held = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    return {key: {when: Tally(*counts) for when, counts in found.items()} for key, found in held.items()}


def save(found: Mapping[str, Mapping[str, Tally]]) -> None:
    """Keep what is measured."""
    held = {
        key: {when: [t.hits, t.tried, t.withheld] for when, t in sorted(one.items(), reverse=True) if t.tried}
        for key, one in sorted(found.items())
    }
    lines = [f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(one)}" for key, one in held.items() if one]
    STORE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")


def measure(wanted: Sequence[Claim], when: str, seconds: float) -> None:
    """Measure claims until each has its samples, or time is up; saves as it goes."""
    found, start, saved = read(), time.monotonic(), time.monotonic()
    for claim in wanted:
        tally = found.setdefault(claim.key, {}).setdefault(when, Tally())
        while tally.tried < claim.samples:
            tally.add(claim.draw(tally.tried))
            now = time.monotonic()
            if now - saved > EACH:
                saved = now
                save(found)
            if now - start > seconds:
                break
        print(f"{claim.key}: {tally}", file=sys.stderr)
        if time.monotonic() - start > seconds:
            break
    save(found)


def table() -> Iterator[str]:
    """The lines of the section."""
    found = read()
    yield "| claim | world | promised | before | now |"
    yield "| --- | --- | --- | --- | --- |"
    for claim in claims():
        one = found.get(claim.key, {})
        before, after = (str(one.get(when, "")) for when in ("before", "after"))
        yield f"| {claim.row} | {claim.cell} | {claim.promise} | {before or claim.audit} | {after} |"


def section() -> str:
    """The section as it stands in the page."""
    return HEAD + "\n" + "\n".join(table()) + "\n\n"


def write() -> None:
    """Put the section into the page, before the one on experiments."""
    page = PAGE.read_text(encoding="utf-8")
    start = page.index(BEGINS if BEGINS in page else ENDS)
    PAGE.write_text(page[:start] + section() + page[page.index(ENDS) :], encoding="utf-8", newline="\n")


def main() -> None:
    """Measure and write."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seconds", type=float, default=3600)
    asked.add_argument("--before", action="store_true")
    asked.add_argument("--again", metavar="TEXT")
    asked.add_argument("--only", metavar="TEXT", default="")
    asked.add_argument("--list", action="store_true")
    said = asked.parse_args()
    when = "before" if said.before else "after"
    if said.list:
        print(*(f"{claim.key}: {read().get(claim.key, {})}" for claim in claims()), sep="\n")
        return
    if said.again is not None:
        found = read()
        for key in [key for key in found if said.again in key]:
            found[key].pop(when, None)
        save(found)
    measure([claim for claim in claims() if (said.again or said.only) in claim.key], when, said.seconds)
    write()


if __name__ == "__main__":
    main()
