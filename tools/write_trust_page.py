"""Write docs/trust.md from what was measured: fuzzing/results.json, tools/mutants.json and the tests themselves.

Run without arguments; ``tests/house/test_trust_page.py`` fails where the page is out of date.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "trust.md"
FUZZ, MUTANTS = ROOT / "fuzzing" / "results.json", ROOT / "tools" / "mutants.json"
LEVELS = {
    "nothing": "as written, sound",
    "bytes": "bytes changed: a bit, a token, a piece left out or repeated, the end cut off",
    "lines": "lines changed: left out, repeated, moved, joined, added, ended otherwise",
    "cells": "cells changed: another value, one too many, one too few, exchanged, in quotes",
    "gz": "packed with gzip",
    "zst": "packed with zstandard",
    "archive": "bytes of an archive or of Parquet changed",
}


def page() -> str:
    """The whole page."""
    return INTRODUCTION + _fuzzing(_kept(FUZZ)) + _mutants(_kept(MUTANTS)) + FAULTS


def _kept(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _count(number: int) -> str:
    return f"{number:,}"


def _fuzzing(found: dict[str, Any] | None) -> str:
    if found is None:
        return FUZZING + "No campaign is recorded yet.\n\n"
    named = f"{_count(found['inputs'])} inputs from seed {found['seed']}, {found['hours']:g} hours of all processes together, rankscope {found['rankscope']} on Python {found['python']}"
    rows = ["| form | inputs | read by both | refused by both | open | findings |", "|---|--:|--:|--:|--:|--:|"]
    forms = found["forms"] | {
        "**all**": {
            key: sum(form[key] for form in found["forms"].values()) for key in ("inputs", "read", "refused", "open")
        }
    }
    for name, form in forms.items():
        findings = form["inputs"] - form["read"] - form["refused"] - form["open"]
        cells = (form["inputs"], form["read"], form["refused"], form["open"], findings)
        rows.append(f"| {name} | {' | '.join(map(_count, cells))} |")
    levels = [
        "| change | inputs |",
        "|---|--:|",
        *(f"| {words} | {_count(found['levels'].get(name, 0))} |" for name, words in LEVELS.items()),
    ]
    again, scored = found["levels"].get("again", 0), found["levels"].get("scored", 0)
    ways = f"{_count(again)} of them were read in other ways, too, and {_count(scored)} evaluated. Of the other files, which have no reference, it is told whether they were read."
    table, changes = "\n".join(rows), "\n".join(levels)
    return f"{FUZZING}The recorded campaign: {named}. {ways}\n\n{table}\n\n{_open(found)}What was done to them (an input may have more than one change):\n\n{changes}\n\n"


def _open(found: dict[str, Any]) -> str:
    cured = sum(found.get("cured", {}).values())
    outcomes = ("read", "refused", "open")
    plain = sum(form["inputs"] - sum(form[key] for key in outcomes) for form in found["forms"].values())
    mended = (
        f"{_count(cured)} findings were cured while the campaign went on: the {_count(plain)} above, and those of inputs that were read in other ways, too, or "
        "evaluated (one input may have several). The smallest input of each was tried again and passed, and each kind is a case in the tests.\n\n"
    )
    kinds: dict[str, int] = {}
    for finding in found["findings"]:
        words = finding["open"] or f"{finding['kind']}, {finding['form']}"
        kinds[words] = kinds.get(words, 0) + finding["count"]
    if not kinds and cured:
        return mended
    if not kinds:
        return "Nothing was found in this campaign. What earlier ones found is cured, and each is a case in `tests/reference/cases.py`.\n\n"
    rows = "\n".join(
        f"| {words} | {_count(count)} |" for words, count in sorted(kinds.items(), key=lambda item: -item[1])
    )
    return (
        mended if cured else ""
    ) + f"Findings that were open when it ran:\n\n| finding | inputs |\n|---|--:|\n{rows}\n\n"


def _mutants(found: dict[str, Any] | None) -> str:
    return MUTATION + (found["page"] if found else "No sample is recorded yet.\n") + "\n"


INTRODUCTION = """# Why its numbers can be trusted

A tool that measures must be measured itself. rankscope is checked in five ways, each blind to something that another sees:

| what | asks | finds |
|---|---|---|
| [laws](#laws) | what must hold for every metric, file and comparison? | errors in kinds, not in cases |
| [parity](#parity) | do others print the same number? | errors in what was understood |
| [fuzzing](#fuzzing) | what if the file is broken? | rows lost or shifted without a word, crashes, hangs |
| [mutants](#mutants) | would the tests notice an error? | gaps between the tests |
| [faults](#faults) | what if the disk is full, or the pipe closed? | half-written files, wrong exit codes |

All of them run from a checkout. This page is written from what they measured (`python tools/write_trust_page.py`); a test fails where it is out of date.

## Laws

A law is tested for everything that it is about, on worlds that are drawn at random from a fixed seed. The parts of a metric add up to its value; a query scores
the same alone as in company, to the last bit; what stands below the cutoff changes nothing. A run read in parts of any size, on any number of threads, packed or
not, as a file, a dict or a frame, gives one and the same table and the same numbers. The same test on the same pair has the same p-value in every command, and
A against B mirrors B against A. The laws of metrics ship with the package and hold for metrics of your own (`rankscope.testing.check_metric`).

    make test ARGS="tests/laws"

## Parity

NIST's expected outputs of trec_eval are reproduced line for line, and pytrec_eval, ir_measures, ranx, scikit-learn, LightGBM and others are run beside rankscope on the
same data. Where they differ, a page says why: [conformance](conformance.md). Error rates of tests and intervals were simulated on real scores:
[calibration](calibration.md).

"""

FUZZING = """## Fuzzing

Sound files of every format are made from a seed and then broken: in their bytes, lines and cells, before and after they are packed. Each is read by rankscope and by a
*reference* (`tests/reference/`), a reader as slow and plain as the documents it is written from, and formulas as textbooks print them. The two share no code. An input passes where

- both read the same table (queries, documents, scores or grades, ranks, subtopics), or both refuse it, the line of the first fault included;
- whatever is refused is refused in one line, by an error of rankscope's own;
- other ways to read the same rows agree (every eighth input: packed or not, in parts, with a blank line, a comment, a byte order mark or a bad line added);
- thirteen metrics (nDCG with both gains, AP, RR, P, R, ERR, RBP, Success, Bpref, Rprec, AUC) are those of the formulas to 1e-12 under four orders of equal scores,
  as a file and as dicts (every sixteenth input);
- it takes less than a second and no memory to speak of. A process that is aborted or hangs is a finding, too.

*Open* are inputs of which no document says what is right, such as a damaged file of a format without a checksum; they must not crash, hang or disagree with themselves.

    make fuzz SECONDS=600          goes on where it was stopped; SEED=2 tries other inputs

"""

MUTATION = """## Mutants

A mutant is rankscope with one small change: a sign, a bound, a term left out. The tests that run the changed line are run; where one fails, the mutant is killed. One that
survives is an error that the tests would not notice, unless the change makes no difference.

"""

FAULTS = """## Faults

Tests take away what a program relies on: the process is killed or interrupted while it writes, the disk is full, standard output or standard error is closed or full, the reader
of a pipe has gone, the folder is read-only or deleted. After each of them a file holds what it held before or all that is new; what could not be done is told in one line, where there
is a place to tell it; and the exit code, such as the verdict of `gate`, does not depend on whether it could be told.

    make test ARGS="tests/faults"
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
