"""A gate on a log: each variant, policy or ranker against the baseline, on each metric and slice."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankscope import words
from rankscope.diagnostics.codes import codes_of
from rankscope.errors import InputError, RankscopeError
from rankscope.estimators.base import Estimator
from rankscope.experiments.arms import name_of_test, shares_of
from rankscope.experiments.interleaved import Interleaved
from rankscope.experiments.plan import ExperimentPlanFile, read_plan
from rankscope.experiments.request import ExperimentRequest
from rankscope.experiments.roles import roles_of
from rankscope.experiments.variants import check_winsorise, covariate_pairs, variants_of
from rankscope.files.roles import column_roles
from rankscope.impressions import Log, attribute_columns
from rankscope.interleavings.credits import Credit
from rankscope.logs.base import parse_online, parse_online_metrics
from rankscope.logs.metrics import require_deciding, require_direction
from rankscope.panels.contrast import contrast
from rankscope.panels.method import Margin, Method, method_of, require_own_units
from rankscope.panels.tolerance import USUAL, tolerances_of
from rankscope.scoring.counterfactual import Counterfactual
from rankscope.scoring.logs import apart_from_before, design_of, log_of, read_experiment
from rankscope.verbs.gate.checks import FailOn, draft_check, settle_checks
from rankscope.verbs.gate.result import Gated, GatedKind, GatedLog, LogGate
from rankscope.words import option_named

READING = ("columns", "ignore")  # options of rankings that a log takes
REFUSED = ("all_pairs", "alternative", "correction", "window")  # options of a plan that would change a gate


@dataclass(frozen=True)
class PlannedGate:
    """The request of a ``plan`` of an experiment to a gate: its metrics, the losses that it accepts, and options as for ``experiment``."""

    plan: ExperimentPlanFile | None
    metrics: Any
    tolerance: Any
    request: ExperimentRequest

    @classmethod
    def of(cls, log: Log, source: Any, metrics: Any, request: ExperimentRequest, tolerance: Any) -> PlannedGate:
        """Read the plan of a log that was read by its options. Raises InputError for an option that both set, and for options that gates do not take."""
        if source is None:
            return cls(None, metrics, tolerance, request)
        plan = read_plan(source).once_read
        if odd := next((name for name in plan.options if name in REFUSED), None):
            raise InputError(f"the plan sets {odd}, which a gate does not take: leave it out of the plan")
        chosen, planned = plan.applied(metrics, request)
        roles = roles_of(log, chosen, planned.primary, planned.guardrails, planned.margin)
        margins = {str(metric): role.margin for metric, role in roles.items() if role.margin is not None}
        losses = {name: f"{m.number * 100:g}%" if m.relative else m.number for name, m in margins.items()}
        if losses and tolerance is not None:
            raise InputError(
                "the plan sets margins, which are the tolerances: leave --tolerance out, or change the plan"
            )
        return cls(plan, [*roles], losses or tolerance, planned)

    def gate(
        self, log: Log, candidate: Any, fail_on: FailOn, usual: Method, names: Sequence[str], **others: Any
    ) -> LogGate:
        """Gate a log as asked, by the ``usual`` method without a plan; ``names`` are the options of variants."""
        one = self.request
        chosen = (
            method_of(test=one.test, interval=one.interval, alpha=one.alpha, seed=usual.seed) if self.plan else usual
        )
        of_variants = {name: getattr(one, name) for name in names}
        return gate_of_log(
            log, self.metrics, baseline=one.baseline, candidate=candidate, tolerance=self.tolerance, fail_on=fail_on, method=chosen,
            slices=one.slices, of_variants=of_variants, plan=self.plan, **others,
        )  # fmt: skip


def check_of_variants(split: Any = None, covariates: Any = None, winsorise: Any = None) -> None:
    """Reject options of variants that are wrong for every log. Raises InputError."""
    shares_of(split)
    covariate_pairs(covariates)
    check_winsorise(winsorise)


def log_to_gate(
    source: Any, baseline: Any, candidate: Any, variant: str | None, columns: Any, *, target: Any = None, plan: Any = None, **form: Any
) -> Log | None:  # fmt: skip
    """Return the log of an experiment, of interleaved lists, or of a policy if ``target`` names another; None for judgments.

    A source with a ``log_format`` (in ``form``) is a log. ``baseline`` and ``candidate`` of a log are names of variants: an existing file is a run.
    Raises InputError if there are no runs and no log.
    """
    if not (_is_name(baseline) and _is_name(candidate)) or (candidate is not None and _is_name(source)):
        return None  # the reader reports a missing file, after all other checks
    if plan is not None and source is not None:
        form = read_plan(plan).reading({"variant": variant, "columns": columns, **form})
        variant, columns = None, form.pop("columns", None)
    if target is not None and source is not None:
        return log_of(source, columns=columns, target=target, **form)
    if any(value is not None for value in form.values()) and not isinstance(source, Log):
        return read_experiment(source, variant=variant, columns=columns, **form)
    stated = dict(column_roles(columns, "visitor=unit_id")) if columns else {}
    roles = stated | ({variant: "variant"} if variant else {})
    log = None if isinstance(source, str) and source == "-" else log_of(source, columns=roles or None)
    if log is None:
        try:
            log = read_experiment(source, columns=roles or None)
        except RankscopeError as error:
            if candidate is not None:
                return None  # two runs, and one does not exist
            raise InputError(f"a gate takes judgments and two runs, or the log of an experiment: {error}") from None
    if not design_of(log):
        log.require(("variant",), "an experiment")
    return apart_from_before(log)


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
        f"{log.label} is the log of an experiment, which compares its variants, not runs or a stored baseline: "
        "leave them out, or name variants instead"
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
    odd = _first_set(options)
    if odd is not None:
        raise InputError(
            f"{option_named(odd)} is for the log of an experiment: leave it out, or give a log instead of judgments and runs"
        )


def _first_set(options: Mapping[str, Any]) -> str | None:
    return next((name for name, value in options.items() if value is not None and value is not False), None)


def gate_of_log(  # noqa: PLR0913 - the options of the command line for a log
    log: Log, metrics: Any, *, baseline: Any, candidate: Any, tolerance: Any, fail_on: FailOn, method: Method, slices: Any,
    policies: Mapping[str, Any], target: Any = None, of_variants: Mapping[str, Any], of_policies: Mapping[str, Any],
    plan: ExperimentPlanFile | None = None,
) -> LogGate:  # fmt: skip
    """Gate the named system of a log, or all but the baseline: variants of users, policies, or rankers of interleaved lists.

    ``of_variants`` are options of ``variants_of``, ``of_policies`` of ``Counterfactual.of``. Raises InputError for wrong values and for
    options of rankings or of other designs, DataError if nothing can be compared.
    """
    for name, value in policies.items():
        if value is not None and name not in READING:
            raise InputError(f"{option_named(name)} is about rankings: leave it out for {log.label}")
    design = design_of(log, target)
    refuse_others(design, {**of_variants, "plan": plan}, of_policies, log.label)
    named = None if baseline is None else str(baseline)
    if design == "policies":
        policies_of_log = Counterfactual.of(log, target, metrics, method=method, baseline=named, **of_policies)
        gated = _policies(policies_of_log.deciding(named=bool(metrics)), slices)
    elif design == "rankers":
        gated = _rankers(Interleaved.of(log, metrics, first=named), method, slices)
    else:
        log.require(("variant",), "an experiment")
        gated = _variants(log, metrics, named, method, slices, of_variants, plan)
    candidates, kind = _candidates(gated, candidate), gated.kind
    allowances = tolerances_of(tolerance, [(str(m), m) for m in gated.metrics], kind.read, kind.usual)
    drafts = [
        draft_check(contrast(panel, name, gated.baseline, how, gated.validity[name]), allowances[metric], fail_on, part, name * (len(candidates) > 1))
        for metric, part, panel, how in gated.panels
        for name in candidates
    ]  # fmt: skip
    checks = [
        check
        if check.contrast.validity.holds
        else replace(check, status="withheld", reason=check.contrast.validity.reason, queries_needed=None)
        for check in settle_checks(drafts, fail_on, gated.method)
    ]
    if plan is not None and all(validity.holds for validity in gated.validity.values()):
        plan.write(gated.look, gated.noun)
    ignored = frozenset(codes_of(policies.get("ignore") or ()))
    names = words.listing(candidates, most=12)
    return LogGate(checks, gated.baseline, names, gated.method, fail_on, (), gated, candidates, ignored)


def refuse_others(design: str, of_variants: Mapping[str, Any], of_policies: Mapping[str, Any], label: str) -> None:
    """Reject options of variants for a log without them, and options of policies without a target. Raises InputError."""
    if design == "policies":
        options, about = of_variants, "variants, and --target is about policies"
    elif design == "rankers":
        options, about = {**of_variants, **of_policies}, "variants or policies, and these are interleaved lists"
    else:
        options, about = of_policies, "policies: name one with --target"
    odd = _first_set(options)
    if odd is not None:
        raise InputError(f"{label}: {option_named(odd)} is about {about}")


# --- the systems of a log ---------------------------------------------------------------------------------


def _variants(
    log: Log, metrics: Any, baseline: str | None, method: Method, slices: Any, options: Mapping[str, Any], plan: ExperimentPlanFile | None
) -> GatedLog:  # fmt: skip
    for part in (method.test, method.interval):
        require_own_units(part)
    chosen = parse_online_metrics(metrics) if metrics is not None else require_deciding(log)[:1]
    for metric in chosen:
        require_direction(log, metric)
    attributes = attribute_columns(log, slices)
    variants = variants_of(log, chosen, baseline=baseline, **options)
    look = None if plan is None else plan.look_at(variants.arms.units.count, variants.noun)
    method = method if look is None else look.method(method)
    variants = variants.looked_at(method.test)
    method, notes, panels = variants.method_for(method, chosen), list[str](), list[Gated]()
    for metric in chosen:
        panels.append((metric, None, variants.panel(metric), method))
        for attribute in attributes:
            of_attribute, left_out = variants.slices(attribute, metric, variants.units_by(attribute, metric))
            panels += [(metric, f"{attribute}={value}", panel, method) for value, panel in of_attribute.items()]
            notes += left_out
    split, first = variants.sample_ratio, variants.names[0]
    sentence = " ".join([split.sentence(variants.noun), *([] if look is None else [look.sentence(variants.noun)])])
    return GatedLog(
        VARIANTS, log, variants.noun, first, panels, method, dict.fromkeys(variants.names[1:], variants.validity),
        (*variants.notes, *notes), variants.cautions(chosen, method.test), sentence, split.holds,
        {"sample_ratio": split.record(), **({} if look is None else {"look": look.record()})}, {"test": name_of_test(method.test), **variants.adjustment.statement()}, [*variants.adjustment.remarks()], split, look,
    )  # fmt: skip


def _rankers(interleaved: Interleaved, method: Method, slices: Any) -> GatedLog:
    interleaved.check_method()
    panels, notes = interleaved.slices(attribute_columns(interleaved.log, slices))
    parts: list[Gated] = [(interleaved.credit, None, interleaved.panel(interleaved.units), method)]
    parts += [
        (interleaved.credit, f"{attribute}={value}", panel, method) for (attribute, value), panel in panels.items()
    ]
    *others, last = interleaved.rankers
    why = interleaved.validity.reason
    return GatedLog(
        RANKERS, interleaved.log, interleaved.units.noun, last, parts, method, dict.fromkeys(others, interleaved.validity), (*interleaved.notes, *notes), (),
        f"{why[:1].upper()}{why[1:]}." if why else " ".join(interleaved.checks()), interleaved.validity.holds, {"validity": interleaved.record()},
        {"credit": str(interleaved.credit)}, [f"credit: {interleaved.credit}", "preference: lists won less lists lost, out of lists with a click"], interleaved.first_places,
    )  # fmt: skip


def _policies(counterfactual: Counterfactual, slices: Any) -> GatedLog:
    log, panels, notes = counterfactual.event_log.log, list[Gated](), list[str]()
    for one in counterfactual.measured:
        panels.append((one.estimator, None, one.panel, one.method))
        if attributes := attribute_columns(log, slices):
            within, left_out = counterfactual.slices(attributes, one)
            panels += [(one.estimator, f"{name}={value}", panel, one.method) for (name, value), panel in within.items()]
            notes += left_out
    lead = counterfactual.measured[0]
    values = [value for value in lead.values if value.policy in lead.validity]
    why = next((one.reason for one in lead.validity.values() if not one.holds), "")
    support = [{"policy": v.policy, "estimator": str(v.estimator), **v.support.record()} for v in values]
    return GatedLog(
        POLICIES, log, counterfactual.event_log.noun, counterfactual.baseline, panels, lead.method, lead.validity, (*log.source.notes, *counterfactual.event_log.notes, *notes), counterfactual.cautions,
        f"{why}." if why else " ".join(value.support.sentence() for value in values), not why, {"support": support},
        {"reward": counterfactual.event_log.reward, "forced": counterfactual.force}, [f"mean {counterfactual.event_log.reward}", *(["estimates were forced"] if counterfactual.force else [])],
    )  # fmt: skip


def _candidates(gated: GatedLog, candidate: Any) -> list[str]:
    """Return the systems to gate: the named one, otherwise all but the baseline."""
    others = [*gated.validity]
    if candidate is None:
        return others
    named, several = str(candidate), f"{gated.kind.name}"
    if named == gated.baseline:
        raise InputError(
            f"candidate {named!r} is the baseline: name another of {words.listing([gated.baseline, *others])}"
        )
    if named not in others:
        raise InputError(
            f"candidate {named!r}: no {several} is called that{words.hint(named, [gated.baseline, *others])}"
        )
    return [named]


VARIANTS = GatedKind("variant", "sample ratio", parse_online, Margin(USUAL, relative=True))
POLICIES = GatedKind("policy", "support", Estimator.read, Margin(USUAL, relative=True))
RANKERS = GatedKind("ranker", "mixing", Credit.read, Margin(USUAL))
