"""``rankscope explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankscope.cli import inputs, output

if TYPE_CHECKING:
    from rankscope.show.result import Result

USAGE = "rankscope explain QRELS RUN [RUN] --query ID"


@click.command("explain", short_help="Say why a ranking scores what it scores, or why two differ.")
@inputs.taken("A metric, like nDCG@10 (the default).")
@click.option("--query", metavar="ID", help="The query to explain.")
@inputs.policies
@output.printed()
def command(
    *,
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    query: str | None,
    quiet: bool,
    form: str | None,
    out: str | None,
    **policies: Any,
) -> None:
    """Explain the score of one query, rank by rank; with two RUNs, the difference between them.

    Without --query: for one RUN (or three and more) what it loses over all queries and why, for two where in the ranking their
    difference comes from (add --query to see documents).

    \b
    Examples:
      rankscope explain qrels.txt my.run --query 7 -m nDCG@10
      rankscope explain qrels.txt old.run new.run --query 7 -m AP
      rankscope explain qrels.txt old.run new.run
      rankscope explain qrels.txt my.run
    """  # noqa: D301 - click reads the \b
    named = inputs.named(qrels, runs, USAGE)
    output.check_place(out, [str(qrels), *(path for _, path in named)])
    form = output.answer_format_of(form, out)
    metric = inputs.one_metric(metrics, "nDCG@10")
    if query is None and len(named) != 2:
        from rankscope.verbs.diagnose.diagnose import diagnose

        result: Result = diagnose(qrels, named, metric, **policies)
    else:
        from rankscope.verbs.explain.explain import explain

        result = explain(qrels, named, metric, query=query, **policies)
    output.show(result, form, out, notes=() if quiet else result.notes)
    output.tell_where(out, form, quiet)
