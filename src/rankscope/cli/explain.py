"""``rankscope explain``."""

from __future__ import annotations

from typing import Any

import click

from rankscope.cli import inputs, output

USAGE = "rankscope explain QRELS RUN [RUN] --query ID"
COLUMNS = {
    "one": ("rank", "doc_id", "grade", "adds", "so_far", "ideal_grade", "ideal_adds", "lost", "what"),
    "two": ("rank", "rank_before", "doc_id", "grade", "move", "adds_before", "adds_after", "adds", "what"),
    "all": ("ranks", "first", "last", "adds"),
}


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

    Without --query: for one RUN (or several) what it loses over all queries and why, for two where in the ranking their difference comes from
    (add --query to see documents).

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
        answer, notes = _diagnosed(qrels, named, metric, policies)
    else:
        answer, notes = _explained(qrels, named, metric, query, policies)
    if not quiet:
        output.tell(notes)
    output.write(answer.written(form, out), out)
    output.tell_where(out, form, quiet)


def _explained(
    qrels: str | None,
    named: list[tuple[str | None, str]],
    metric: str,
    query: str | None,
    policies: dict[str, Any],
) -> tuple[output.Answer, list[str]]:
    from rankscope.verbs.explain import records as explained_records
    from rankscope.verbs.explain import result as explained
    from rankscope.verbs.explain.explain import explain

    found = explain(qrels, named, metric, query=query, **policies)
    columns = COLUMNS["all" if query is None else "one" if len(named) == 1 else "two"]
    answer = output.Answer(
        explained.blocks_of(found),
        explained_records.envelope(found),
        columns,
        list(explained_records.records(found)),
    )
    return answer, list(found.notes)


def _diagnosed(
    qrels: str | None, named: list[tuple[str | None, str]], metric: str, policies: dict[str, Any]
) -> tuple[output.Answer, list[str]]:
    from rankscope.verbs.diagnose import records as diagnosed_records
    from rankscope.verbs.diagnose import result as diagnosed
    from rankscope.verbs.diagnose.diagnose import diagnose

    found = diagnose(qrels, named, metric, **policies)
    answer = output.Answer(
        diagnosed.blocks_of(found),
        diagnosed_records.envelope(found),
        diagnosed_records.COLUMNS,
        list(diagnosed_records.records(found)),
    )
    return answer, list(found.scores.notes)
