"""``rankscope evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankscope.cli import inputs, output
from rankscope.cli.progress import bar
from rankscope.errors import InputError

if TYPE_CHECKING:
    from rankscope.scoring.scores import Scores

SPREAD = ("table", "json", "markdown", "latex")  # formats that have room for --distribution
NEXT = "next: --per-query shows every query · rankscope metrics {name} says what {name} is"
COMPARE = (
    "next: rankscope compare QRELS RUN RUN tells whether differences are real · --per-query shows every query"
)


@click.command("evaluate", short_help="Score rankings against judgments.")
@inputs.taken(
    "A metric, like nDCG@10; may be repeated, or several in quotes. Default: nDCG@10 AP RR@10 R@100 P@10 Judged@10."
)
@click.option("--per-query", is_flag=True, help="Also the values of every query.")
@click.option(
    "--distribution",
    is_flag=True,
    help="Also how the values of the queries are spread, and first relevant ranks.",
)
@click.option(
    "--interval",
    metavar="NAME",
    help="The interval of each mean: t, wilson, bca, percentile, studentised ..., also bca(rounds=20000). "
    "Default: t, and wilson for scores of 0 and 1.",
)
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="The level of intervals, between 0.5 and 1."
)
@click.option(
    "--clusters",
    type=click.Path(),
    metavar="FILE",
    help="Queries that belong together: a query and its user, session or topic a line.",
)
@inputs.policies
@output.printed(output.FORMATS)
def command(  # noqa: PLR0913, PLR0917 - one argument an option
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    quiet: bool,
    per_query: bool,
    distribution: bool,
    form: str | None,
    out: str | None,
    **policies: Any,
) -> None:
    """Score one or more RUNs against the judgments in QRELS.

    Files may be TREC, CSV, TSV, JSON, JSON lines or Parquet, also compressed; - is standard input. A RUN may
    be given a name: bm25=path/to/file.

    \b
    Examples:
      rankscope evaluate qrels.txt bm25.run dense.run.gz
      rankscope evaluate qrels.txt new=out.run -m "nDCG@5,10 RR" --per-query
      rankscope evaluate qrels.txt my.run -m official --format trec
      rankscope evaluate qrels.txt *.run -o scores.csv
      rankscope evaluate qrels.txt my.run --ties expected --no-relevant skip
      rankscope evaluate qrels.txt my.run -m nDCG@10 --dialect lightgbm
      rankscope evaluate qrels.txt my.run --interval bca --distribution
    """  # noqa: D301 - click reads the \b
    named = inputs.named(qrels, runs, "rankscope evaluate QRELS RUN...")
    output.check_place(out, [str(qrels), *(path for _, path in named)])
    form = output.format_of(form, out)
    if distribution and form not in SPREAD:
        raise InputError(f"--distribution is written as {', '.join(SPREAD)}, not as {form}")

    from rankscope.verbs.evaluate.evaluate import evaluate

    with bar([path for _, path in named], wanted=not quiet) as progress:
        scores = evaluate(qrels, named, list(metrics) or None, progress=progress, **policies)
    if not quiet:
        output.tell(scores.reader_notes(), scores.warnings, form)
    shown: dict[str, Any] = {"per_query": per_query, "distribution": distribution}
    if form == "table" and out is None and not per_query:
        shown["next_step"] = _next(scores)
    width, colour = output.room(out)
    output.write(scores.write(form, width=width, colour=colour, **shown), out)
    output.tell_where(out, form, quiet)


def _next(scores: Scores) -> str:
    """What to look at next."""
    first = next((m for m in scores.metrics if m.aggregate != "sum"), scores.metrics[0])
    return NEXT.format(name=type(first).__name__) if len(scores.runs) == 1 else COMPARE
