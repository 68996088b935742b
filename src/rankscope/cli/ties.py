"""``rankscope ties``."""

from __future__ import annotations

from typing import Any

import click

from rankscope.cli import inputs, output


@click.command("ties", short_help="Say how much equal scores matter.")
@inputs.taken("A metric, like nDCG@10; may be repeated.")
@inputs.queries_option("Which queries are averaged.")
@click.option(
    "--depth", type=click.IntRange(min=1), metavar="N", help="Cut every ranking at N documents first."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="For orders that are too many to count.")
@output.printed()
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    quiet: bool,
    form: str | None,
    out: str | None,
    **policies: Any,
) -> None:
    """Say how much equal scores matter: how much of the top k is tied, and how far each metric could move.

    \b
    Examples:
      rankscope ties qrels.txt my.run
      rankscope ties qrels.txt a.run b.run -m nDCG@10 -m "RR AP"
    """  # noqa: D301 - click reads the \b
    named = inputs.named(qrels, runs, "rankscope ties QRELS RUN...")
    output.check_place(out, [str(qrels), *(path for _, path in named)])
    form = output.answer_format_of(form, out)

    from rankscope.verbs.ties.ties import ties

    report = ties(qrels, named, list(metrics) or None, **policies)
    output.show(report, form, out, notes=() if quiet else report.scores.notes)
    output.tell_where(out, form, quiet)
