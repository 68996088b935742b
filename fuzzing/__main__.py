"""Try to break rankscope: ``make fuzz``, or ``python -m fuzzing``.

Inputs of every format are made from a seed, changed in their bytes, lines and cells, read, and compared with a plain reference
(tests/reference). What was tried is kept in .fuzz/, and the same command goes on from there. The exit code is 1 where there are findings that
``known.py`` does not name.
"""

from __future__ import annotations

import argparse
import base64
import os
import sys
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # the processes share the cores
os.environ.setdefault("RANKSCOPE_THREADS", "1")

from fuzzing.campaign import Campaign, Example
from fuzzing.known import known

ROOT = Path(__file__).resolve().parents[1]


def options() -> argparse.Namespace:
    """What the command was told."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzzing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, help="stop after so many seconds")
    parser.add_argument("--inputs", type=int, help="stop when so many inputs were tried in all")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (default 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    parser.add_argument(
        "--kept", type=Path, default=ROOT / ".fuzz" / "campaign.json", help="where what was tried is kept"
    )
    parser.add_argument("--fresh", action="store_true", help="begin anew")
    parser.add_argument("--one", type=int, metavar="NUMBER", help="try one input, and show it")
    parser.add_argument(
        "--write", action="store_true", help="keep the result in fuzzing/results.json and write docs/trust.md"
    )
    return parser.parse_args()


def main() -> int:
    """Try inputs, tell what was found, and give the exit code."""
    asked = options()
    if asked.one is not None:
        return show_one(asked.seed, asked.one)
    if asked.seconds is None and asked.inputs is None and not asked.write:
        asked.seconds = 60
    campaign = Campaign.at(asked.kept, asked.seed, asked.jobs, asked.fresh)
    if asked.seconds is not None or asked.inputs is not None:
        campaign.run(asked.seconds, asked.inputs)
    tried = campaign.tried
    for signature, example in sorted(tried.findings.items(), key=lambda item: (bool(known(item[0])), -item[1].count)):
        tell(signature, example)
    new = tried.new()
    print(
        f"{tried.inputs:,} inputs in {tried.seconds:,.0f} s of processes; {len(tried.findings)} findings, {len(new)} of them new"
    )
    if asked.write:
        from fuzzing.results import write

        write(campaign)
    return 1 if new else 0


def tell(signature: str, example: Example) -> None:
    """Print a finding with its smallest input."""
    status = known(signature)
    print(
        f"{'known: ' + status if status else 'NEW'}: {example.kind}, {example.form} ({example.count}, as number {example.number})"
    )
    if not status:
        print(
            f"  {example.name}: {base64.b64decode(example.data)[:400]!r}\n  said: {example.said}\n  due:  {example.due}"
        )


def show_one(seed: int, number: int) -> int:
    """Try one input, and show it with what is due."""
    import tempfile

    from fuzzing.checks import check, due_of, in_words
    from fuzzing.inputs import made

    given = made(seed, number)
    print(
        f"{given.form}, {given.name}: {given.file!r}\n{given.data.decode(errors='replace')}\ndue: {in_words(due_of(given))}"
    )
    with tempfile.TemporaryDirectory() as folder:
        outcome, findings = check(given, Path(folder), number)
    print(outcome, *(f"\n{found.kind}\n  said: {found.said}\n  due:  {found.due}" for found in findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
