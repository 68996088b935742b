"""``rankscope reconcile``: one metric after the other on files that are read once."""

from __future__ import annotations

from typing import Any

import click

from rankscope.cli.commands import Command
from rankscope.cli.inputs import Named
from rankscope.cli.runner import Call


def run(command: Command, ctx: click.Context) -> int:
    """Say what other tools print for each metric."""
    from rankscope.scoring.inputs import read_any
    from rankscope.verbs.reconcile.result import Reconciliations

    call = Call(command, ctx)

    def reconcile_all(qrels: str, runs: list[Named], metrics: list[str], **options: Any) -> Reconciliations:
        grades = read_any("qrels", qrels)
        rankings = [(name, read_any("run", run, name)) for name, run in runs]
        return Reconciliations(tuple(command.function(grades, rankings, metric, **options) for metric in metrics))

    return call.answer(reconcile_all, call.metrics or ["nDCG@10"])
