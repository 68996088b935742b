"""A gate on the log of an experiment: each variant against the baseline, on each metric and slice."""

from __future__ import annotations

import os
from collections.abc import Mapping
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
from rankscope.logs.base import parse_online, parse_online_metrics
from rankscope.logs.cuts import attribute_columns
from rankscope.logs.metrics import require_deciding
from rankscope.panels.contrast import contrast
from rankscope.panels.margin import Margin
from rankscope.panels.method import Method
from rankscope.panels.panel import Panel
from rankscope.panels.tolerance import USUAL, tolerances_of
from rankscope.scoring.logs import log_of, read_experiment
from rankscope.syntax import option_named
from rankscope.verbs.gate.checks import FailOn, draft_check, refuse_undirected, settle_checks
from rankscope.verbs.gate.result import ExperimentGate

READING = ("columns", "ignore")  # options of rankings that a log takes


def check_of_variants(split: Any = None, covariates: Any = None, winsorise: Any = None) -> None:
    """Reject options of variants that are wrong for every log. Raises InputError."""
    shares_of(split)
    covariate_pairs(covariates)
    check_winsorise(winsorise)


def log_to_gate(
    source: Any, baseline: Any, candidate: Any, variant: str | None, columns: Any, log_format: str | None = None
) -> Log | None:
    """Return the log of an experiment if ``source`` is one, None for judgments.

    A source with a ``log_format`` is a log. ``baseline`` and ``candidate`` of a log are names of variants: an existing file is a run.
    Raises InputError if there are no runs and no log.
    """
    if not (_is_name(baseline) and _is_name(candidate)) or (candidate is not None and _is_name(source)):
        return None  # the reader reports a missing file, after all other checks
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
                return None  # two runs, and one does not exist
            raise InputError(f"a gate takes judgments and two runs, or the log of an experiment: {error}") from None
    log.require(("variant",), "an experiment")
    return log


def _is_name(value: Any) -> bool:
    """True if a value can name a variant: it is not an existing file (``path`` or ``name=path``) or a pattern of files."""
    if not isinstance(value, str):
        return value is None or (isinstance(value, int) and not isinstance(value, bool))
    if value == "-" or "://" in value or any(sign in value for sign in "*?"):
        return False
    try:
        return not any(path and Path(path).exists() for path in (value, value.partition("=")[2]))
    except (OSError, ValueError):
        return True


def error_of_judgments(source: Any, columns: Any, error: RankscopeError) -> RankscopeError:
    """Return the error of judgments; if the source is the log of an experiment, the error about that."""
    if isinstance(source, str | os.PathLike) and not Path(source).is_file():  # a pipe can be read once
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
    """Return the error of metrics of rankings; for online metrics without a log, the error about the missing log."""
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
    """Reject an option for the logs of experiments only. Raises InputError."""
    odd = next((name for name, value in options.items() if value is not None), None)
    if odd is not None:
        raise InputError(
            f"{option_named(odd)} is for the log of an experiment: leave it out, or give a log in place of judgments and runs"
        )


def gate_of_log(  # noqa: PLR0913 - the options of the command line for a log
    log: Log, metrics: Any, *, baseline: Any, candidate: Any, tolerance: Any, fail_on: FailOn, method: Method, slices: Any,
    policies: Mapping[str, Any], clusters: Any = None, **of_variants: Any,
) -> ExperimentGate:  # fmt: skip
    """Gate the named variant of an experiment, or all but the baseline; ``of_variants`` are options of ``variants_of``.

    Raises InputError for wrong values and for options of rankings, DataError if nothing can be compared.
    """
    for name, value in {**policies, "clusters": clusters}.items():
        if value is not None and name not in READING:
            raise InputError(f"{option_named(name)} is about rankings: leave it out for {log.label}")
    chosen = parse_online_metrics(metrics) if metrics is not None else require_deciding(log)[:1]
    for metric in chosen:
        refuse_undirected(metric)
    allowances = tolerances_of(tolerance, [(str(m), m) for m in chosen], parse_online, Margin(USUAL, relative=True))
    attributes = attribute_columns(log, slices)
    variants = variants_of(log, chosen, baseline=None if baseline is None else str(baseline), **of_variants)
    candidates = _candidates(variants, candidate)
    notes: list[str] = []
    drafts = []
    for metric in chosen:
        panels: dict[str | None, Panel] = {None: variants.panel(metric)}
        for attribute in attributes:
            of_attribute, left_out = variants.slices(attribute, metric, variants.units_by(attribute, metric))
            panels |= {f"{attribute}={value}": panel for value, panel in of_attribute.items()}
            notes += left_out
        for part, panel in panels.items():
            for name in candidates:
                c = contrast(panel, name, panel.systems[0], method)
                drafts.append(draft_check(c, allowances[metric], fail_on, part, name * (len(candidates) > 1)))
    checks = settle_checks(drafts, fail_on, method)
    if not variants.validity.holds:
        reason = "units were not split as planned"
        checks = [replace(check, status="withheld", reason=reason, queries_needed=None) for check in checks]
    cautions, ignored = variants.cautions(chosen, method.test), frozenset(codes_of(policies.get("ignore") or ()))
    names = variants.names[0], words.listing(candidates, most=12)
    return ExperimentGate(checks, *names, method, fail_on, notes, variants, candidates, cautions, ignored)


def _candidates(variants: Variants, candidate: Any) -> list[str]:
    """Return the variants to gate: the named one, otherwise all but the baseline."""
    baseline, *others = variants.names
    if candidate is None:
        return others
    named = str(candidate)
    if named == baseline:
        raise InputError(f"candidate {named!r} is the baseline: name another of {words.listing(variants.names)}")
    if named not in others:
        raise InputError(f"candidate {named!r}: no variant is called that{words.hint(named, variants.names)}")
    return [named]
