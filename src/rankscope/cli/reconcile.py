"""``rankscope reconcile``: of one metric or of several."""

from __future__ import annotations

import click

from rankscope.cli.command import Command
from rankscope.cli.runner import Call


def run(command: Command, ctx: click.Context) -> int:
    """Say what other tools print for each metric."""
    call = Call(command, ctx)
    return call.answer(command.function, call.metrics or ["nDCG@10"])
