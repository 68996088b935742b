"""``rankscope compare``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankscope.cli import comparing, inputs, output

if TYPE_CHECKING:
    from rankscope.verbs.compare.result import Comparison

FORMATS = (*output.ANSWERS, "latex")
USAGE = "rankscope compare QRELS RUN RUN..."


@click.command("compare", short_help="Say which run is better, and whether the difference is real.")
@inputs.taken(
    "A metric, like nDCG@10; may be repeated. Default: nDCG@10 AP RR@10 R@100 P@10. With --scores: what the scores are of."
)
@comparing.options
@comparing.scores_option
@click.option("--details", is_flag=True, help="A full table for each metric.")
@inputs.policies
@output.printed(FORMATS)
def command(  # noqa: PLR0913 - the options of the command line
    *,
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    quiet: bool,
    form: str | None,
    out: str | None,
    details: bool,
    scores: bool,
    **options: Any,
) -> None:
    """Compare RUNs, judged by QRELS, with the first of them or with --baseline.

    A run given several times under one name (a=1.run a=2.run) is one system that ran several times: its scores are averaged
    query by query. With --scores, files hold scores that were computed elsewhere.

    \b
    Examples:
      rankscope compare qrels.txt bm25.run dense.run hybrid.run -m nDCG@10
      rankscope compare qrels.txt *.run --baseline bm25 --primary nDCG@10
      rankscope compare qrels.txt *.run --all-pairs --correction max_t
      rankscope compare qrels.txt old.run new.run --margin 0.01
      rankscope compare qrels.txt old.run new.run --slices queries.csv
      rankscope compare --scores scores.csv -m AP
      rankscope compare qrels.txt *.run --format latex -o table.tex
    """  # noqa: D301 - click reads the \b
    form = output.format_of(form, out)
    metrics, options = comparing.settled(metrics, options)
    if scores or (qrels is not None and not runs and comparing.holds_scores(qrels)):
        found = _of_scores(qrels, runs, metrics, out, options)
    else:
        found = _of_runs(qrels, runs, metrics, out, quiet, options)
    if not quiet:
        output.tell(found.notes, found.warnings, form)
    output.show(found, form, out, details=details)
    output.tell_where(out, form, quiet)


def _of_runs(
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    out: str | None,
    quiet: bool,
    options: dict[str, Any],
) -> Comparison:
    from rankscope.cli.progress import bar
    from rankscope.verbs.compare.compare import compare

    named, systems = inputs.repeated(qrels, runs, USAGE)
    paths = [path for _, path in named]
    output.check_place(out, [str(qrels), *paths])
    with bar(paths, wanted=not quiet) as progress:
        return compare(qrels, named, list(metrics) or None, systems=systems, progress=progress, **options)


def _of_scores(
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    out: str | None,
    options: dict[str, Any],
) -> Comparison:
    from rankscope.verbs.compare.compare import compare

    paths, asked, options = comparing.of_scores(qrels, runs, metrics, options)
    output.check_place(out, paths)
    return compare(inputs.named_scores(paths), None, asked, **options)
