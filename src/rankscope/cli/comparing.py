"""What every verb that compares runs takes: the baseline, the test, the correction, slices, costs, settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from rankscope.cli import inputs, output
from rankscope.errors import InputError

_OPTIONS = (
    click.option(
        "--baseline", metavar="NAME", help="The run that all others are compared with. Default: the first."
    ),
    click.option("--all-pairs", is_flag=True, help="Compare every run with every other."),
    click.option("--primary", metavar="METRIC", help="The metric declared in advance: it leads the verdict."),
    click.option(
        "--test",
        metavar="TEST",
        help="t (the default), permutation, wilcoxon, sign, bootstrap, anytime or betting; with parameters: permutation(rounds=20000).",
    ),
    click.option(
        "--interval",
        metavar="INTERVAL",
        help="Of the differences: t (the default), bca, percentile, studentised, anytime or betting.",
    ),
    click.option(
        "--correction",
        default=None,
        metavar="NAME",
        help="For several comparisons: holm (the default), bonferroni, bh, max_t, tukey, randomised_tukey or none.",
    ),
    click.option(
        "--family",
        type=click.Choice(["metric", "all"]),
        default="metric",
        show_default=True,
        help="What is corrected together: the runs of each metric, or all runs and metrics.",
    ),
    click.option(
        "--alpha", type=float, help="The share of false differences that is accepted. Default: 0.05."
    ),
    click.option(
        "--margin",
        "margins",
        multiple=True,
        metavar="[METRIC=]X",
        help="A difference that would not matter, like 0.01: tests whether runs are practically the same.",
    ),
    click.option(
        "--bayes", is_flag=True, help="Also the chances that a run is better, by the Bayesian bootstrap."
    ),
    click.option(
        "--clusters", type=click.Path(), metavar="FILE", help="A query and its user, session or topic a line."
    ),
    click.option(
        "--slices",
        type=click.Path(),
        metavar="FILE",
        help="A CSV of query attributes: compare within each, too.",
    ),
    click.option(
        "--costs",
        type=click.Path(),
        metavar="FILE",
        help="A CSV of runs and what they cost: latency, price, size.",
    ),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="COLUMN=X",
        help="The best run within a budget, like latency_ms=100.",
    ),
    click.option(
        "--tried",
        type=click.IntRange(min=1),
        metavar="N",
        help="How many systems were tried on these judgments.",
    ),
    click.option(
        "--settings",
        type=click.Path(),
        metavar="FILE",
        help="A TOML file; default: [tool.rankscope] of pyproject.toml.",
    ),
)

scores_option = click.option(
    "--scores",
    is_flag=True,
    help="The files given are tables of scores (systems and queries) rather than judgments and runs.",
)


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a comparison; ``settled`` makes arguments of the verb from them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def settled(metrics: tuple[str, ...], options: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Metrics and options as they were said, else as the settings have them; what neither says is left to the verb."""
    from rankscope.scoring.settings import settings_of

    margins, limits = options.pop("margins"), options.pop("limits")
    settings = settings_of(options.pop("settings")).of("compare")
    if settings.place and not click.get_current_context().params["quiet"]:
        output.say(f"settings: {settings.place}")
    options["margin"] = _margin(margins)
    filled = settings.fill(options, inputs.said(options) | ({"margin"} if margins else set()))
    filled["limits"] = list(limits)
    kept = {name: value for name, value in filled.items() if value is not None or name in inputs.POLICY_NAMES}
    return metrics or tuple(settings.values.get("metrics", ())), kept


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


def holds_scores(path: str) -> bool:
    """Whether a file that was given alone is a table of scores."""
    from rankscope.errors import RankscopeError
    from rankscope.files.matrices import scores_of

    try:
        return len(scores_of(path).systems) > 1
    except RankscopeError:
        return False


def of_scores(
    qrels: str | None, runs: tuple[str, ...], metrics: tuple[str, ...], options: dict[str, Any]
) -> tuple[list[str], Any, dict[str, Any]]:
    """The files of scores, what they are scores of, and the options that scores have use for."""
    if qrels is None:
        verb = click.get_current_context().command_path
        raise InputError(f"no file of scores was given: {verb} --scores scores.csv")
    of_rankings = inputs.POLICY_NAMES - {"seed"}  # they say how rankings become scores
    kept = {name: value for name, value in options.items() if name not in of_rankings}
    return [qrels, *runs], metrics[0] if len(metrics) == 1 else list(metrics) or None, kept
