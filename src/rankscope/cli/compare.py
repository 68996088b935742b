"""``rankscope compare``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from rankscope.cli import inputs, output
from rankscope.errors import InputError

if TYPE_CHECKING:
    from rankscope.verbs.comparison.compare import Comparison

FORMATS = (*output.ANSWERS, "latex")
USAGE = "rankscope compare QRELS RUN RUN..."


@click.command("compare", short_help="Say which run is better, and whether the difference is real.")
@inputs.taken(
    "A metric, like nDCG@10; may be repeated. Default: nDCG@10 AP RR@10 R@100 P@10. With --scores: what the scores are of."
)
@click.option(
    "--baseline", metavar="NAME", help="The run that all others are compared with. Default: the first."
)
@click.option("--all-pairs", is_flag=True, help="Compare every run with every other.")
@click.option("--primary", metavar="METRIC", help="The metric declared in advance: it leads the verdict.")
@click.option(
    "--test",
    metavar="TEST",
    help="t (the default), permutation, wilcoxon, sign, bootstrap, anytime or betting; with parameters: permutation(rounds=20000).",
)
@click.option(
    "--interval",
    metavar="INTERVAL",
    help="Of the differences: t (the default), bca, percentile, studentised, anytime or betting.",
)
@click.option(
    "--correction",
    default=None,
    metavar="NAME",
    help="For several comparisons: holm (the default), bonferroni, bh, max_t, tukey, randomised_tukey or none.",
)
@click.option(
    "--family",
    type=click.Choice(["metric", "all"]),
    default="metric",
    show_default=True,
    help="What is corrected together: the runs of each metric, or all runs and metrics.",
)
@click.option("--alpha", type=float, help="The share of false differences that is accepted. Default: 0.05.")
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="[METRIC=]X",
    help="A difference that would not matter, like 0.01: tests whether runs are practically the same.",
)
@click.option(
    "--bayes", is_flag=True, help="Also the chances that a run is better, by the Bayesian bootstrap."
)
@click.option(
    "--clusters", type=click.Path(), metavar="FILE", help="A query and its user, session or topic a line."
)
@click.option(
    "--slices", type=click.Path(), metavar="FILE", help="A CSV of query attributes: compare within each, too."
)
@click.option(
    "--costs",
    type=click.Path(),
    metavar="FILE",
    help="A CSV of runs and what they cost: latency, price, size.",
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="COLUMN=X",
    help="The best run within a budget, like latency_ms=100.",
)
@click.option(
    "--scores",
    is_flag=True,
    help="The files given are tables of scores (systems and queries) rather than judgments and runs.",
)
@click.option(
    "--tried", type=click.IntRange(min=1), metavar="N", help="How many systems were tried on these judgments."
)
@click.option("--details", is_flag=True, help="A full table for each metric.")
@click.option(
    "--settings",
    type=click.Path(),
    metavar="FILE",
    help="A TOML file; default: [tool.rankscope] of pyproject.toml.",
)
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
    settings: str | None,
    margins: tuple[str, ...],
    limits: tuple[str, ...],
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
    form = _format(form, out)
    metrics, options = _settled(settings, metrics, margins, options)
    options["limits"] = list(limits)
    if scores or (qrels is not None and not runs and _holds_scores(qrels)):
        found = _of_scores(qrels, runs, metrics, out, options)
    else:
        found = _of_runs(qrels, runs, metrics, out, quiet, options)
    if not quiet:
        output.tell(found.notes, found.warnings, form)
    output.write(_written(found, form, details, out), out)
    output.tell_where(out, form, quiet)


def _holds_scores(path: str) -> bool:
    """Whether a file that was given alone is a table of scores."""
    from rankscope.errors import RankscopeError
    from rankscope.files.matrices import scores_of

    try:
        return len(scores_of(path).systems) > 1
    except RankscopeError:
        return False


def _of_runs(
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    out: str | None,
    quiet: bool,
    options: dict[str, Any],
) -> Comparison:
    from rankscope.cli.progress import bar
    from rankscope.verbs.comparison.compare import compare

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
    from rankscope.verbs.comparison.compare import compare

    if qrels is None:
        raise InputError("no file of scores was given: rankscope compare --scores scores.csv")
    paths = [qrels, *runs]
    output.check_place(out, paths)
    for name in inputs.POLICY_NAMES - {"seed"}:  # they say how rankings become scores
        options.pop(name, None)
    asked = metrics[0] if len(metrics) == 1 else list(metrics) or None
    return compare(inputs.named_scores(paths), None, asked, **options)


def _settled(
    path: str | None, metrics: tuple[str, ...], margins: tuple[str, ...], options: dict[str, Any]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Metrics and options as they were said, else as the settings have them; what neither says is left to the verb."""
    from rankscope.verbs.settings import settings_of

    settings = settings_of(path).of("compare")
    if settings.said and not click.get_current_context().params["quiet"]:
        output.say(f"settings: {settings.said}")
    options["margin"] = _margin(margins)
    filled = settings.filled(options, inputs.said(options) | ({"margin"} if margins else set()))
    kept = {name: value for name, value in filled.items() if value is not None or name in inputs.POLICY_NAMES}
    return metrics or tuple(settings.metrics or ()), kept


def _margin(margins: tuple[str, ...]) -> float | dict[str, float] | None:
    """One margin for all metrics, or one for each that is named."""
    by_metric = [said.rpartition("=") for said in margins if "=" in said]
    if not margins:
        return None
    if by_metric and len(by_metric) < len(margins):
        raise InputError("--margin: give one number for all metrics, or METRIC=X for each")
    if by_metric:
        from rankscope.metrics import parse

        return {str(parse(name)): _number(value) for name, _, value in by_metric}
    if len(margins) > 1:
        raise InputError(
            f"--margin is given {len(margins)} times: give one number, or METRIC=X for each metric"
        )
    return _number(margins[0])


def _number(said: str) -> float:
    try:
        return float(said)
    except ValueError:
        raise InputError(f"--margin {said}: that is no number; write it like 0.01 or nDCG@10=0.01") from None


def _format(asked: str | None, out: str | None) -> str:
    form = output.format_of(asked, out)
    if form not in FORMATS:
        raise InputError(f"a comparison is written as {', '.join(FORMATS)}, not as {form}")
    return form


def _written(found: Comparison, form: str, details: bool, out: str | None) -> Iterable[str]:
    from rankscope.blocks import Paragraph
    from rankscope.show.text import as_latex, as_markdown
    from rankscope.verbs.comparison import compared, contrast_records
    from rankscope.verbs.comparison.sentences import sentences

    if form in {"latex", "markdown"}:
        verdict = [Paragraph(text) for text in sentences(found)]
        return [(as_latex if form == "latex" else as_markdown)([*verdict, *compared.paper_blocks(found)])]
    return output.Answer(
        blocks=compared.blocks_of(found, details) if form == "table" else (),
        envelope=contrast_records.envelope(found) if form == "json" else {},
        columns=contrast_records.columns_of(found),
        records=contrast_records.all_records(found),
    ).written(form, out)
