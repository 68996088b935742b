"""``rankscope explain``: of one query or of two rankings; what one ranking loses over all queries is a diagnosis."""

from __future__ import annotations

import click

from rankscope.cli.commands import Command
from rankscope.cli.runner import Call
from rankscope.errors import InputError


def run(command: Command, ctx: click.Context) -> int:
    """Explain a score or a difference; without a query, and of one ranking or of many, diagnose."""
    call = Call(command, ctx)
    metrics = call.metrics or ["nDCG@10"]
    if len(metrics) > 1:
        raise InputError(f"there are {len(metrics)} metrics: name one, like -m {metrics[0]}")
    if "query" in call.options or len(call.files) == 2:
        return call.show(call.result(command.function, metrics[0]))
    from rankscope.verbs.diagnose.diagnose import diagnose

    return call.show(call.result(diagnose, metrics[0]))
