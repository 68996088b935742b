"""``rankscope evaluate``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from rankscope.cli import inputs, output
from rankscope.cli.names import DialectName
from rankscope.cli.progress import bar

if TYPE_CHECKING:
    from rankscope.verbs.scores import Scores

NEXT = "next: --per-query shows every query · rankscope metrics {name} says what {name} is"


@click.command("evaluate", short_help="Score rankings against judgments.")
@inputs.taken(
    "A metric, like nDCG@10; may be repeated, or several in quotes. Default: nDCG@10 AP RR@10 R@100 P@10 Judged@10."
)
@click.option("--per-query", is_flag=True, help="Also the values of every query.")
@click.option(
    "--ties",
    type=click.Choice(["trec", "docid", "input", "rank", "expected", "best", "worst"]),
    default="trec",
    show_default=True,
    help="How equal scores are ordered: document id descending as trec_eval, id ascending, order of the file, or by the rank column "
    "alone; or all their orders together: the mean, the best or the worst.",
)
@inputs.queries_option(
    "Which queries are averaged: all judged ones, all of the run, those judged and in every run, those that are either, "
    "or those listed in FILE, an id a line."
)
@click.option(
    "--depth", type=click.IntRange(min=1), metavar="N", help="Cut every ranking at N documents first."
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "first", "best"]),
    default="error",
    show_default=True,
    help="A document ranked twice for a query: refuse it, or keep its first or best place.",
)
@click.option(
    "--self-match",
    type=click.Choice(["keep", "drop"]),
    default="keep",
    show_default=True,
    help="A document with the id of its query.",
)
@click.option(
    "--no-relevant",
    type=click.Choice(["metric", "0", "1", "skip"]),
    default="metric",
    show_default=True,
    callback=lambda _ctx, _param, value: int(value) if value in {"0", "1"} else value,
    help="The value of a query without a relevant document: as the metric says, 0, 1, or left out.",
)
@click.option(
    "--nothing-found",
    type=click.Choice(["metric", "skip", "skip_list"]),
    default="metric",
    show_default=True,
    help="A query with nothing relevant in the top k: scored, or left out (skip_list: with nothing in the whole list).",
)
@click.option(
    "--weights",
    type=click.Path(),
    metavar="FILE",
    help="Weigh queries in the mean: a query and its weight a line.",
)
@click.option(
    "--mean",
    type=click.Choice(["macro", "micro"]),
    default="macro",
    show_default=True,
    help="The mean of the queries' values, or all that they earned out of all that they are worth.",
)
@click.option(
    "--dialect",
    type=DialectName(),
    metavar="TOOL",
    help="Compute as another tool does: lightgbm, recbole, mlflow ... (rankscope reconcile shows them side by side).",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    help="For orders of equal scores that are too many to count.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(output.FORMATS),
    help="How to print. Default: table, or by the ending of FILE.",
)
@click.option(
    "-o",
    "--output",
    "out",
    type=click.Path(),
    metavar="FILE",
    help="Write to FILE (.json .jsonl .csv .md .tex .txt).",
)
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    quiet: bool,
    per_query: bool,
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
    """  # noqa: D301 - click reads the \b
    named = inputs.named(qrels, runs, "rankscope evaluate QRELS RUN...")
    output.check_place(out, [str(qrels), *(path for _, path in named)])
    form = output.format_of(form, out)

    from rankscope.verbs.evaluate import evaluate

    with bar([path for _, path in named], wanted=not quiet) as progress:
        scores = evaluate(qrels, named, list(metrics) or None, progress=progress, **policies)
    if not quiet:
        _tell(scores, form)
        if output.watched(sys.stdout) and output.watched(sys.stderr):
            output.say("")
    output.write(PRINTERS[form](scores, per_query, out), out)
    if out not in {None, "-"} and not quiet:
        output.say(f"wrote {out} ({form})")


def _tell(scores: Scores, form: str) -> None:
    """What was read, and for data that carry no warnings the warnings."""
    from rankscope.verbs.scoreboard import notes_of, warned

    for note in notes_of(scores):
        output.say(note)
    if form not in {"table", "json"}:
        for doubt in warned(scores):
            output.say(f"warning {doubt.code}: {doubt.text}")


# --- one function a format -----------------------------------------------------------------------


def _table(scores: Scores, per_query: bool, out: str | None) -> Iterator[str]:
    from rankscope.blocks import Paragraph
    from rankscope.verbs.scoreboard import blocks_of

    blocks = blocks_of(scores, per_query)
    if out is None and not per_query:
        met = next((m for m in scores.metrics if m.aggregate != "sum"), scores.metrics[0])
        blocks.append(Paragraph(NEXT.format(name=type(met).__name__), quiet=True))
    yield output.rendered(blocks, out)


def _json(scores: Scores, per_query: bool, out: str | None) -> Iterator[str]:
    from rankscope.show.text import as_json
    from rankscope.verbs.records import envelope

    yield as_json(envelope(scores, per_query))


def _jsonl(scores: Scores, per_query: bool, out: str | None) -> Iterable[str]:
    from rankscope.show.text import as_jsonl
    from rankscope.verbs.records import means, query_values

    return as_jsonl(query_values(scores) if per_query else means(scores))


def _csv(scores: Scores, per_query: bool, out: str | None) -> Iterable[str]:
    from rankscope.show.text import as_csv
    from rankscope.verbs.records import MEAN_COLUMNS, QUERY_COLUMNS, means, query_values

    if per_query:
        return as_csv(QUERY_COLUMNS, query_values(scores))
    return as_csv(MEAN_COLUMNS, ({"undefined": 0} | row for row in means(scores)))


def _markdown(scores: Scores, per_query: bool, out: str | None) -> Iterator[str]:
    from rankscope.show.text import as_markdown
    from rankscope.verbs.scoreboard import paper_blocks

    yield as_markdown(paper_blocks(scores, per_query))


def _latex(scores: Scores, per_query: bool, out: str | None) -> Iterator[str]:
    from rankscope.show.text import as_latex
    from rankscope.verbs.scoreboard import paper_blocks

    yield as_latex(paper_blocks(scores, per_query))


def _trec(scores: Scores, per_query: bool, out: str | None) -> Iterable[str]:
    from rankscope.verbs.records import trec_lines

    return trec_lines(scores, per_query)


PRINTERS: dict[str, Callable[[Any, bool, str | None], Iterable[str]]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
    "trec": _trec,
}
