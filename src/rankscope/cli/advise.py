"""``rankscope advise``."""

from __future__ import annotations

import click

from rankscope.cli import inputs, output
from rankscope.errors import InputError


@click.command("advise", short_help="Recommend metrics that fit the data and the task.")
@click.argument("qrels", type=click.Path(), required=False, metavar="QRELS")
@click.argument("runs", type=click.Path(), nargs=-1, metavar="[RUN]...")
@click.option(
    "--task",
    metavar="TASK",
    help="known-item, question-answering, web, exploratory, recall, entity, candidates, re-ranking, feed, next-item, clicks, rag or "
    "benchmark. Default: the task that fits the data best.",
)
@click.option(
    "--k",
    "-k",
    "k",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many results people see, the next stage takes, or the context of a language model holds. Default: that of the task.",
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "first", "best"]),
    default="error",
    show_default=True,
    help="A document with several grades or ranks: take the grades for subtopics and refuse the ranks, or keep the first or the best.",
)
@click.option("-q", "--quiet", is_flag=True, help="No notes about what was read and written.")
@output.printed()
def command(  # noqa: PLR0913, PLR0917 - the options of the command line
    qrels: str | None,
    runs: tuple[str, ...],
    task: str | None,
    k: int | None,
    duplicates: str,
    quiet: bool,
    form: str | None,
    out: str | None,
) -> None:
    """Recommend metrics and cutoffs, the one to declare in advance, and what not to use.

    Goes by the judgments, by the runs where some are given, and by the task.

    \b
    Examples:
      rankscope advise qrels.txt
      rankscope advise qrels.txt bm25.run dense.run --task web
      rankscope advise qrels.txt my.run --task rag --k 8
    """  # noqa: D301 - click reads the \b
    if qrels is None:
        raise InputError(
            "no qrels were given: rankscope advise QRELS [RUN...], like rankscope advise qrels.txt my.run"
        )
    named = inputs.named(qrels, runs, "rankscope advise QRELS RUN...") if runs else None
    output.check_place(out, [qrels, *(path for _, path in named or [])])
    form = output.answer_format_of(form, out)

    from rankscope.verbs.advise.advise import advise

    found = advise(qrels, named, task, k, duplicates=duplicates)
    output.show(found, form, out, () if quiet else found.notes)
    output.tell_where(out, form, quiet)
