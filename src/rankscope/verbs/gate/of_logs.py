"""A gate on the log of an experiment: each variant against the baseline, on each metric and slice."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankscope import words
from rankscope.diagnostics.codes import codes_of
from rankscope.errors import InputError, RankscopeError
from rankscope.experiments.covariates import covariate_pairs
from rankscope.experiments.variants import Variants, check_winsorise, shares_of, variants_of
from rankscope.files.roles import said_columns
from rankscope.impressions import Log
from rankscope.inference.base import CLOSE, Bounds
from rankscope.logs.base import OnlineMetric, parse_online, parse_online_metrics
from rankscope.logs.cuts import attribute_columns
from rankscope.logs.metrics import require_deciding
from rankscope.panels.contrast import Contrast, contrast
from rankscope.panels.margin import Margin
from rankscope.panels.method import FEWEST, Method
from rankscope.panels.panel import Panel
from rankscope.panels.tolerance import USUAL, LossEvidence, evidence_of_loss, queries_to_settle, tolerances_of
from rankscope.scoring.logs import log_of, read_experiment
from rankscope.syntax import option_named
from rankscope.verbs.gate.checks import DIGITS, NO_SPREAD, NOTHING, Check, FailOn
from rankscope.verbs.gate.experiment import SPLIT, ExperimentGate
from rankscope.verbs.gate.rule import refuse_undirected, settle_checks

READING = ("columns", "ignore")  # what a log takes of the options of rankings
NAMED = 5  # values of a slice that a note names


def check_of_variants(split: Any = None, covariates: Any = None, winsorise: Any = None) -> None:
    """Refuse what cannot be right of variants, whatever the log holds. Raises InputError."""
    shares_of(split)
    covariate_pairs(covariates)
    check_winsorise(winsorise)


def log_to_gate(
    source: Any, baseline: Any, candidate: Any, variant: str | None, columns: Any, log_format: str | None = None
) -> Log | None:
    """The log of an experiment, where it stands in the place of judgments and two runs; None for all else.

    What has a ``log_format`` is a log. Beside a log ``baseline`` and ``candidate`` are names of variants, so that what is no name or names a file that is there is a run.
    Raises InputError where no runs are given, and no log either.
    """
    if not (_is_name(baseline) and _is_name(candidate)) or (candidate is not None and _is_name(source)):
        return None  # what is not there is said where it is read, after all else that can be wrong
    if log_format is not None:
        return read_experiment(source, variant=variant, columns=columns, log_format=log_format)
    said = dict(said_columns(columns, "visitor=unit_id")) if columns else {}
    roles = said | ({variant: "variant"} if variant else {})
    log = None if isinstance(source, str) and source == "-" else log_of(source, columns=roles or None)
    if log is None:
        try:
            log = read_experiment(source, columns=roles or None)
        except RankscopeError as error:
            if candidate is not None:
                return None  # so is a run that is not there
            raise InputError(f"a gate takes judgments and two runs, or the log of an experiment: {error}") from None
    log.require(("variant",), "an experiment")
    return log


def _is_name(value: Any) -> bool:
    """Whether a value can name a variant: it is no file that is there, maybe with a name of its own, and no pattern of such."""
    if not isinstance(value, str):
        return value is None or (isinstance(value, int) and not isinstance(value, bool))
    if value == "-" or "://" in value or any(sign in value for sign in "*?"):
        return False
    try:
        return not any(path and Path(path).exists() for path in (value, value.partition("=")[2]))
    except (OSError, ValueError):
        return True


def error_of_judgments(source: Any, columns: Any, error: RankscopeError) -> RankscopeError:
    """The error of what was read as judgments beside runs; where it is a log with variants, that is what is wrong with it."""
    if isinstance(source, str | os.PathLike) and not Path(source).is_file():  # what came through a pipe is gone
        return error
    try:
        log = log_of(source, columns=columns)
    except RankscopeError:
        return error
    if log is None or not log.has("variant"):
        return error
    return InputError(
        f"{log.label} is the log of an experiment, whose variants are compared with each other: it takes no runs and no stored baseline; "
        "leave them out, or name variants in their place"
    )


def error_of_metrics(source: Any, metrics: Any, error: RankscopeError) -> RankscopeError:
    """The error of metrics that rankings do not have; where they are online ones, and no log is there to measure, that is said."""
    try:
        parse_online_metrics(metrics)
    except RankscopeError:
        return error
    if isinstance(source, str) and _is_name(source):
        try:
            log_of(source)
        except InputError as absent:
            return absent
    return error


def refuse_experiments(options: Mapping[str, Any]) -> None:
    """One line for an option that only the log of an experiment has a use for."""
    odd = next((name for name, value in options.items() if value is not None), None)
    if odd is not None:
        raise InputError(
            f"{option_named(odd)} is for the log of an experiment: leave it out, or give a log in place of judgments and runs"
        )


def gate_of_log(  # noqa: PLR0913 - the options of the command line that a log has a use for
    log: Log, metrics: Any, *, baseline: Any, candidate: Any, tolerance: Any, fail_on: FailOn, method: Method, slices: Any,
    policies: Mapping[str, Any], clusters: Any = None, **of_variants: Any,
) -> ExperimentGate:  # fmt: skip
    """Gate the variants of an experiment: the one that is named, or all but the baseline; ``of_variants`` are options of ``variants_of``.

    Raises InputError for what cannot be used, and for options that are of rankings alone; DataError where there is nothing to compare.
    """
    _refuse_rankings(log, {**policies, "clusters": clusters})
    chosen = parse_online_metrics(metrics) if metrics is not None else require_deciding(log)[:1]
    for metric in chosen:
        refuse_undirected(metric)
    allowances = tolerances_of(tolerance, [(str(m), m) for m in chosen], parse_online, Margin(USUAL, relative=True))
    attributes = attribute_columns(log, slices)
    variants = variants_of(log, chosen, baseline=None if baseline is None else str(baseline), **of_variants)
    candidates = _candidates(variants, candidate)
    notes: list[str] = []
    parts = list(_parts(variants, chosen, attributes, notes))
    drafts = [
        replace(
            _draft(panel, metric, name, part, allowances[metric], fail_on, method), variant=name * (len(candidates) > 1)
        )
        for metric, part, panel in parts
        for name in candidates
    ]
    checks = settle_checks(drafts, fail_on, method)
    if not variants.sample_ratio.holds:
        checks = [replace(check, status="withheld", reason=SPLIT, queries_needed=None) for check in checks]
    ignored = frozenset(codes_of(policies.get("ignore") or ()))
    return ExperimentGate(
        checks, variants, candidates, method, fail_on, variants.cautions(chosen, method.test), notes, ignored
    )


def _refuse_rankings(log: Log, options: Mapping[str, Any]) -> None:
    """One line for an option that only rankings have a use for."""
    odd = next((name for name, value in options.items() if value is not None and name not in READING), None)
    if odd is not None:
        raise InputError(f"{option_named(odd)} is about rankings: leave it out for {log.label}")


def _candidates(variants: Variants, candidate: Any) -> list[str]:
    """The variants that are gated: the one that is named, else all but the baseline."""
    baseline, *others = variants.names
    if candidate is None:
        return others
    named = str(candidate)
    if named == baseline:
        raise InputError(f"candidate {named!r} is the baseline: name another of {words.listing(variants.names)}")
    if named not in others:
        raise InputError(f"candidate {named!r}: no variant is called that{words.hint(named, variants.names)}")
    return [named]


def _parts(
    variants: Variants, metrics: Sequence[OnlineMetric], attributes: Sequence[str], notes: list[str]
) -> Iterator[tuple[OnlineMetric, str | None, Panel]]:
    """The panel of each metric, whole and within each slice; values with too few units are told in ``notes``."""
    for metric in metrics:
        yield metric, None, variants.panel(metric)
        for attribute in attributes:
            panels, left_out = variants.slices(attribute, metric, variants.units_by(attribute, metric))
            yield from ((metric, f"{attribute}={value}", panel) for value, panel in panels.items())
            notes += left_out


def _draft(
    panel: Panel, metric: OnlineMetric, name: str, part: str | None, allowance: Margin, fail_on: FailOn, method: Method
) -> Check:  # fmt: skip
    """What is known about a metric of a variant against the baseline; the status waits for all checks."""
    c = contrast(panel, name, panel.systems[0], method)
    tolerance = allowance.of(c.baseline_value)
    units = words.plural(panel.measure.unit)
    bounds, evidence = Bounds.none(f"fewer than {FEWEST} {units}"), LossEvidence(math.nan, loses=False, by_flips=False)
    if c.queries >= FEWEST:
        bounds, evidence = c.bounds, evidence_of_loss(c, tolerance if fail_on == "tolerance" else 0.0)
    lower, upper = (bounds.lower, bounds.upper) if panel.sign > 0 else (-bounds.upper, -bounds.lower)
    return Check(
        metric=str(metric), slice=part, better=panel.better, value=c.value, baseline_value=c.baseline_value,
        difference=panel.sign * c.difference, lower=lower, upper=upper, loss=math.nan, tolerance=tolerance,
        tolerance_said=str(allowance), p_value=evidence.p_value, loses=evidence.loses, queries=c.queries,
        differing=c.differing, wins=0, losses=0, reason=f"there is no interval ({bounds.reason})", test=c.test,
        method=_way(c, bounds),
        queries_needed=queries_to_settle(c, tolerance, fail_on == "tolerance") if bounds.known else None, digits=DIGITS if panel.measure.decimals is None else panel.measure.decimals,
    )  # fmt: skip


def _way(c: Contrast, bounds: Bounds) -> str:
    """What a check rests on."""
    if not c.differing:
        return NOTHING
    if bounds.known:
        return f"{bounds.method} interval"
    return NO_SPREAD if c.queries >= FEWEST and c.pair.means.error <= CLOSE * c.pair.means.largest else "no interval"
