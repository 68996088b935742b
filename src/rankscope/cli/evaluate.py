"""``rankscope evaluate``: formats that have no room for everything, and what to look at next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankscope.cli.commands import Command
from rankscope.cli.runner import Call
from rankscope.errors import InputError

if TYPE_CHECKING:
    from rankscope.scoring.scores import Scores

SPREAD = ("table", "json", "markdown", "latex")  # formats that have room for --distribution


def run(command: Command, ctx: click.Context) -> int:
    """Score rankings; a table in the terminal ends with what to look at next."""
    call = Call(command, ctx)
    options = call.values("result")
    if "distribution" in options and call.form not in SPREAD:
        raise InputError(f"--distribution is written as {', '.join(SPREAD)}, not as {call.form}")
    scores: Scores = call.result(command.function)
    if call.form == "table" and call.out is None and "per_query" not in options:
        options["next_step"] = _next(scores)
    return call.show(scores, notes=scores.reader_notes(), **options)


def _next(scores: Scores) -> str:
    """What to look at next."""
    if len(scores.runs) > 1:
        return (
            "next: rankscope compare QRELS RUN RUN tells whether differences are real · --per-query shows every query"
        )
    first = next((m for m in scores.metrics if m.aggregate != "sum"), scores.metrics[0])
    name = type(first).__name__
    return f"next: --per-query shows every query · rankscope metrics {name} says what {name} is"
