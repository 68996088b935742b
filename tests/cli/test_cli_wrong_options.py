"""What cannot be right whatever the data are is refused before anything is read: every option of every command that reads."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from rankscope.cli.commands import Command, Option
from rankscope.cli.table import COMMANDS

READING = [c for c in COMMANDS if any(isinstance(one, click.Argument) and one.name == "qrels" for one in c.parameters)]

# what each option cannot be; those with choices, and files that are not there, are found by their types
WRONG: dict[str, tuple[str, ...]] = {
    "out": ("nowhere/x.json", "x.unknown"),
    "metrics": ("nDGC@10",),
    "primary": ("nDGC",),
    "test": ("tt",),
    "interval": ("no such interval",),
    "correction": ("no such correction",),
    "alpha": ("2", "-1"),
    "risk": ("-1", "much"),
    "level": ("0.3", "11"),
    "sort": ("nDGC", "GBpref"),
    "p": ("0", "1"),
    "depth_of_overlap": ("0",),
    "margin": ("abc", "AP=x", "-1"),
    "tolerance": ("abc", "-1", "RR=0.1"),
    "limits": ("latency", "latency=abc", "latency=3"),
    "digits": ("0", "10"),
    "label": ("a b{",),
    "caption": ("A caption without a table of a paper",),
    "queries": ("@nowhere.txt",),
    "fold_by": ("(",),
    "dialect": ("no such tool",),
    "columns": ("x", "x=no_role", "x=doc_id,x=query_id"),
    "seed": ("-1",),
    "depth": ("0",),
    "relevance_level": ("nan", "x"),
    "partition": ("9/3", "x"),
    "resume": ("nowhere/kept",),
    "threads": ("0",),
    "memory": ("abc",),
    "master": ("local",),
    "grades": ("Perfect",),
    "tried": ("0",),
    "shown": ("0",),
    "export": ("a.txt",),
    "select": ("RS999",),
    "ignore": ("RS999",),
    "scale": ("abc",),
    "explain": ("RS999",),
    "junit": ("nowhere/x.xml",),
    "difference": ("x",),
    "power": ("2",),
    "comparisons": ("0",),
    "n": ("-1",),
    "deviation": ("-1",),
    "variance": ("-1",),
    "systems": ("1",),
    "width": ("-1",),
    "grade": ("-1",),
    "worklist": ("nowhere/x.csv", "-"),
    "pool_depth": ("0",),
    "value": ("abc",),
    "task": ("no such task",),
    "k": ("0",),
    "method": ("RRFF",),
    "ranking": ("nowhere/x.run",),
    "held_out": ("nowhere/x.run",),
    "normalise": ("no such",),
    "search": ("no such",),
    "space": ("k=1,2", "x"),
    "folds": ("1",),
    # of logs, and these are no logs
    "covariates": ("before",),
    "lift": ("2%", "abc"),
    "share": ("0.5",),
    "log_format": ("no such format", "ubi"),
    "time_format": ("%q", "%d/%m/%Y"),
    "online": ("CTR",),
    "split": ("A=none", "A"),
    "guardrails": ("RPM=1%",),
    "prior": ("-1",),
    "winsorise": ("2", "x"),
}
# names, texts and flags, of which any may be right until the data are known
ANY = {
    "baseline", "title", "about", "query", "quiet", "per_query", "distribution", "all_pairs", "bayes", "details", "exit_zero", "list",
    "scores", "github_summary", "variant", "strata", "methods", "collections", "references", "record", "launch",
    "clicks", "examination", "force", "logging", "model", "reward", "target",
}  # fmt: skip


def cases() -> Iterator[tuple[Command, Option, str]]:
    for command in READING:
        for option in command.parameters:
            if not isinstance(option, Option) or option.name in ANY:
                continue
            values = WRONG.get(str(option.name), ())
            if not values and isinstance(option.type, click.Choice):
                values = ("no such choice",)
            if not values and isinstance(option.type, click.Path):
                values = ("nowhere.csv",)
            assert values, f"{command.name} --{option.name}: say what is wrong for it"
            yield from ((command, option, value) for value in values)


CASES = {f"{c.name} {o.name} {i}": (c, o, value) for i, (c, o, value) in enumerate(cases())}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_option_is_refused_before_anything_is_read(case: str, run: Callable[..., Any], folder: Path) -> None:
    command, option, value = CASES[case]
    Path("a.txt").write_text("a file\n")
    inputs = ["missing-qrels", "missing-a", "missing-b"]
    said = run(command.name, *inputs, max(option.opts, key=len), value)
    assert said.code == 2, said.err
    assert "missing-" not in said.err
    assert said.err.strip()
    assert not said.out


def test_inputs_that_are_missing_are_told_where_all_options_are_right(run: Callable[..., Any]) -> None:
    for command in READING:
        if command.name != "explain":
            assert "missing-qrels: no such file" in run(command.name, "missing-qrels", "missing-a", "missing-b").err
