"""``rankscope power``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankscope.cli import inputs, output
from rankscope.errors import InputError

if TYPE_CHECKING:
    from rankscope.verbs.power.result import Design, Plan

USAGE = "rankscope power QRELS RUN RUN..."


@click.command("power", short_help="What difference queries can detect, and how many it takes.")
@inputs.taken(
    "A metric, like nDCG@10; may be repeated. Default: nDCG@10 AP RR@10 R@100 P@10. With --scores: what the scores are of."
)
@click.option(
    "--difference",
    type=float,
    multiple=True,
    metavar="X",
    help="A difference to detect, like 0.02; may be repeated. Default: 0.01, 0.02, 0.05 and the observed one.",
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    help="The chance to detect a difference that is there.",
)
@click.option(
    "--alpha",
    type=float,
    default=0.05,
    show_default=True,
    help="The accepted share of false differences.",
)
@click.option(
    "--comparisons",
    type=click.IntRange(min=1),
    default=1,
    metavar="M",
    help="How many comparisons you will make: each gets alpha / M. Default: 1.",
)
@click.option(
    "-n", "n", type=click.IntRange(min=2), metavar="N", help="Plan for N queries instead of those at hand."
)
@click.option(
    "--baseline", metavar="NAME", help="The run that all others are compared with. Default: the first."
)
@click.option("--all-pairs", is_flag=True, help="Every run with every other.")
@click.option(
    "--clusters", type=click.Path(), metavar="FILE", help="One query per line, with its user, session or topic."
)
@click.option(
    "--scores",
    is_flag=True,
    help="The files are tables of scores (systems and queries), not judgments and runs.",
)
@click.option(
    "--deviation",
    type=float,
    metavar="S",
    help="Without runs: the standard deviation of the differences, known from elsewhere.",
)
@click.option(
    "--design",
    type=click.Choice(["t", "anova", "interval"]),
    help="Without runs: topics of a collection, for a --difference with a t test or an analysis of variance, or for a --width.",
)
@click.option(
    "--variance",
    type=float,
    metavar="V",
    help="For --design: of differences (t, interval), within systems (anova).",
)
@click.option("--systems", type=int, metavar="M", help="For --design anova: how many systems will be compared.")
@click.option(
    "--width", type=float, multiple=True, metavar="W", help="For --design interval: from end to end."
)
@click.option("--details", is_flag=True, help="A full table for each metric.")
@inputs.policies
@output.printed()
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
    """What difference the queries at hand can detect, and how many queries others need.

    From RUNs, judged by QRELS: the results hold for queries like these. Without runs, from the standard deviation of
    the differences, or by a design for a test collection.

    \b
    Examples:
      rankscope power qrels.txt bm25.run dense.run -m nDCG@10
      rankscope power qrels.txt *.run --all-pairs --difference 0.03
      rankscope power qrels.txt old.run new.run -n 500 --comparisons 10
      rankscope power --scores scores.csv -m AP
      rankscope power --deviation 0.2 --difference 0.02
      rankscope power --design anova --systems 10 --variance 0.05 --difference 0.1
    """  # noqa: D301 - click reads the \b
    form = output.answer_format_of(form, out)
    for name in ("difference", "width"):
        options[name] = list(options[name]) or None
    plan = _plan(qrels, runs, metrics, scores, out, quiet, options)
    notes, warnings = ((), ()) if quiet else (plan.notes, plan.warnings)
    output.show(plan, form, out, notes, warnings, details=details)
    output.tell_where(out, form, quiet)


def _plan(
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    scores: bool,
    out: str | None,
    quiet: bool,
    options: dict[str, Any],
) -> Plan | Design:
    from rankscope.cli.progress import bar
    from rankscope.verbs.power.power import power

    aside = any(options[name] is not None for name in ("deviation", "design", "variance", "width"))
    if scores or aside:
        for name in inputs.POLICY_NAMES:  # they say how rankings become scores
            options.pop(name, None)
    if aside:
        output.check_place(out)
        source = list(runs) or None
        return power(qrels, source, list(metrics) or None, **options)
    if scores:
        if qrels is None:
            raise InputError("no file of scores was given: rankscope power --scores scores.csv")
        output.check_place(out, [qrels, *runs])
        names = metrics[0] if len(metrics) == 1 else list(metrics) or None
        return power(inputs.named_scores([qrels, *runs]), None, names, **options)
    if qrels is None or not runs:
        what = "no run was given" if qrels else "no qrels and no runs were given"
        raise InputError(f"{what}: {USAGE}, or without runs --deviation S or --design t|anova|interval")
    named, systems = inputs.repeated(qrels, runs, USAGE)
    paths = [path for _, path in named]
    output.check_place(out, [str(qrels), *paths])
    options["systems"] = systems if options["systems"] is None else options["systems"]
    with bar(paths, wanted=not quiet) as progress:
        return power(qrels, named, list(metrics) or None, progress=progress, **options)
