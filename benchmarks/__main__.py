"""Time rankscope beside other tools, in turn, in one run: ``make bench``, or ``python -m benchmarks [GROUP]...``.

Each row gives the median of whole processes (or of calls, where the input is in memory) and the ratio of times, taken round by round,
because machines are noisy and ratios are less so. A tool that is not installed is left out, and said to be. ``--write`` keeps what was measured
in benchmarks/results.json and writes docs/benchmarks.md and docs/scale.md from it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.machine import state
from benchmarks.measure import Trial, measure
from benchmarks.results import STORE, merge, table
from benchmarks.scope import Scope

GROUPS = {
    "startup": "what a user waits for before anything happens",
    "dicts": "rankings in memory as dicts, and ties",
    "arrays": "arrays and tensors, and an evaluator in a loop",
    "inference": "sign flips, and many comparisons",
    "fusion": "fusion of 24 runs, beside ranx",
    "launches": "the ledger of up to 10,000 launches and 20 metrics",
    "report": "reports: seconds, size, and when a browser shows them",
    "recommenders": "data frames, beside RecTools and RePlay",
    "contexts": "evidence by text in retrieved contexts, beside its normalisation alone",
    "files": "TREC files up to 7 million lines, gzip, Parquet",
    "scale": "Parquet up to --rows, ten metrics",
    "logs": "logs of up to 10 million rows: an experiment, beside pandas and tea-tasting",
    "lists": "logs of lists: interleaving, other policies, position bias, click models",
    "spark": "Spark on this machine, beside RePlay",
}


def main() -> int:
    """Measure the groups that were named, or all."""
    said = _arguments()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=said.folder) as folder:
        scope = Scope(Path(folder), said.small, said.rows)
        if said.trec_eval:
            scope = replace(scope, trec_eval=said.trec_eval)
        for name in said.groups or GROUPS:
            group = _group(name, scope, said.rounds)
            if group["trials"]:
                found[name] = group
                _keep(said, found)  # after each group, so that one who stops keeps what was measured
    if said.write:
        from benchmarks.pages import write

        write()
    return 0


def _keep(said: argparse.Namespace, found: dict[str, Any]) -> None:
    if said.output:
        said.output.write_text(json.dumps(merge({}, found), indent=1) + "\n", encoding="utf-8")
    if said.write:
        STORE.write_text(json.dumps(merge(_stored(), found), indent=1) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="groups:\n" + "\n".join(f"  {name:<14}{words}" for name, words in GROUPS.items()),
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="what to measure (default: all groups)")
    parser.add_argument("--rounds", type=_positive, default=5, help="counted rounds of each (default 5)")
    parser.add_argument("--small", action="store_true", help="without the largest size of each, to try it out")
    parser.add_argument("--rows", type=_positive, default=10_000_000, help="rows of the largest file (default 10,000,000; 100,000,000 needs 5 GB of disk)")  # fmt: skip
    parser.add_argument("--trec-eval", default="", metavar="BINARY", help="trec_eval (or RANKSCOPE_BENCH_TREC_EVAL)")
    parser.add_argument("--folder", type=Path, help="where files are made and removed again (default: the system's temporary folder)")  # fmt: skip
    parser.add_argument("-o", "--output", type=Path, help="write what was measured to a JSON file")
    parser.add_argument("--write", action="store_true", help="keep what was measured, and write the pages from it")
    said = parser.parse_args()
    if unknown := [name for name in said.groups if name not in GROUPS]:
        parser.error(f"there is no group {', '.join(unknown)}: groups are {', '.join(GROUPS)}")
    if said.small and said.write:
        parser.error("--small is to try things out: pages are written from whole sizes, without --small")
    for folder in filter(None, (said.folder, said.output and said.output.absolute().parent)):
        if not folder.is_dir():
            parser.error(f"{folder} is no folder: make it first")
    return said


def _positive(text: str) -> int:
    try:
        number = int(text.replace("_", "").replace(",", ""))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number") from error
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number


def _group(name: str, scope: Scope, rounds: int) -> dict[str, Any]:
    """Measure all trials of a group, and say each as soon as it is there."""
    print(f"\n{name}: {GROUPS[name]}", flush=True)
    measured = []
    for trial in _trials(name, scope):
        measured.append(measure(trial, rounds))
        print(table(measured[-1]), flush=True)
    return {**state(scope), "rounds": rounds, "trials": measured}


def _trials(name: str, scope: Scope) -> Iterator[Trial]:
    try:
        module = import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"benchmarks.{name}":
            raise
        print("  nothing of this group can be measured in this version")
        return iter(())
    trials: Iterator[Trial] = module.trials(scope)
    return trials


def _stored() -> dict[str, Any]:
    return json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # whoever read the tables has gone away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
