"""A gate for continuous integration: pass, fail, or cannot tell whether a candidate lost against a baseline."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from rankscope.declared import one_of
from rankscope.errors import DataError, InputError, RankscopeError
from rankscope.metrics import Metric, parse
from rankscope.panels.cautions import few_clusters
from rankscope.panels.contrast import contrast
from rankscope.panels.margin import Margin
from rankscope.panels.method import Method, method_of
from rankscope.panels.panel import Panel
from rankscope.panels.slices import parts_of
from rankscope.panels.tolerance import tolerances_of
from rankscope.scoring.dispatch import evaluate_local_or_spark
from rankscope.scoring.keywords import PolicyOptions, with_policies
from rankscope.scoring.measurements import in_clusters, panels_of
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.verbs.gate.baseline import as_pair, stored_baseline
from rankscope.verbs.gate.checks import Check, FailOn, draft_check, refuse_undirected, settle_checks
from rankscope.verbs.gate.log import error_of_judgments, error_of_metrics, gate_of_log, log_to_gate, refuse_experiments
from rankscope.verbs.gate.result import ExperimentGate, Gate

USUAL = "nDCG@10"
OPTIONS = (
    "tolerance", "fail_on", "alpha", "slices", "clusters", "interval", "test", "variant", "split", "covariates", "strata", "winsorise",
    "log_format", "metrics", "progress",
)  # fmt: skip


# fmt: off
@with_policies
def gate(  # noqa: PLR0913 - the options of the command line, each with its default
    qrels: Any, baseline: Any = None, candidate: Any = None, metrics: Any = None, *,
    tolerance: Any = None, fail_on: FailOn = "loss", alpha: float = 0.05, slices: Any = None, clusters: Any = None,
    test: Any = None, interval: Any = None, variant: str | None = None, split: Any = None, covariates: Any = None,
    strata: str | None = None, winsorise: float | None = None, log_format: str | None = None,
    progress: Callable[[str], None] | None = None, **policies: Unpack[PolicyOptions],
) -> Gate | ExperimentGate:
    """Say whether a candidate may replace a baseline: pass, fail, or cannot tell.

    ``qrels``, ``baseline`` and ``candidate`` are as for ``evaluate``; the baseline may also be what ``evaluate`` stored with the values
    of every query, whose judgments, conventions and version must be those at hand. ``metrics`` are all gated (nDCG@10 unless named).

    Each metric, on all queries and on each slice, is one check. It passes if the lower end of the interval of the difference lies above
    minus the tolerance, or if nothing changed. It fails if a loss is proved: the mean is below 0, by a test whose p-values are corrected
    over all checks (Holm). If fewer than six queries differ, no interval is used: it passes if the losses alone stay within the
    tolerance, and never fails. All checks must pass.

    ``tolerance``: how much worse the candidate may be: a number, ``"2%"`` of the baseline, or a mapping of these by metric. Default 0.01.
    ``fail_on``: "loss", or "tolerance" to fail only a proved loss of more than the tolerance.
    ``alpha``: the level; 0.05 means 95% intervals.
    ``slices``: a table of query attributes, each of whose values must hold, too.
    ``clusters``: the user, session or topic of each query.
    ``test``, ``interval``: as in ``compare``, which gives the same p-value for the same two runs. Default t.
    ``progress``: called with the name of each run that is read.
    {policies}

    In place of ``qrels`` may stand the log of an experiment: every variant is gated against the baseline, with the p-value of ``experiment``. There ``baseline``
    and ``candidate`` are names of variants, ``metrics`` are online ones (CTR, or what the columns allow), the default ``tolerance`` is ``"1%"``,
    ``slices`` names columns, and ``variant``, ``split``, ``covariates``, ``strata``, ``winsorise`` and ``log_format`` are as for ``experiment``.
    Where users were not split as planned, the verdict is withheld, and ``exit_code`` is 3.

    Raises InputError for what cannot be used, DataError if nothing can be compared or a stored baseline was made otherwise.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(20)}
    >>> good = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    >>> poor = good | {f"q{i}": {"b": 2.0, "a": 1.0} for i in range(9)}
    >>> rs.gate(qrels, good, poor, "RR").status
    'fail'
    >>> rs.gate(qrels, good, good, "RR").exit_code
    0
    >>> users = {"variant": ["A", "B"] * 500, "orders": [1, 2, 2, 1, 3, 1, 1, 1, 2, 1] * 100}
    >>> rs.gate(users, metrics="Mean(orders)", tolerance="2%").status
    'fail'
    """
    refuse_unknown(policies, "gate", OPTIONS)
    one_of("fail_on", fail_on, ("loss", "tolerance"))
    method = method_of(test=test, interval=interval, alpha=alpha, seed=policies.get("seed", 0))
    of_variants = {"split": split, "covariates": covariates, "strata": strata, "winsorise": winsorise}
    if (log := log_to_gate(qrels, baseline, candidate, variant, policies.get("columns"), log_format)) is not None:
        return gate_of_log(
            log, metrics, baseline=baseline, candidate=candidate, tolerance=tolerance, fail_on=fail_on, method=method, slices=slices,
            clusters=clusters, policies=policies, **of_variants,
        )
    refuse_experiments({"variant": variant, **of_variants, "log_format": log_format})
    return _gate_of_runs(
        qrels, baseline, candidate, metrics, tolerance=tolerance, fail_on=fail_on, method=method, slices=slices, clusters=clusters,
        progress=progress, policies=policies,
    )


def _gate_of_runs(  # noqa: PLR0913 - the options that rankings have a use for
    qrels: Any, baseline: Any, candidate: Any, metrics: Any, *, tolerance: Any, fail_on: FailOn, method: Method, slices: Any, clusters: Any,
    progress: Callable[[str], None] | None, policies: Mapping[str, Any],
) -> Gate:
    """The gate of two runs."""
    if candidate is None:
        error = InputError("a gate takes judgments and two runs, the baseline and the candidate; or the log of an experiment")
        raise error_of_judgments(qrels, policies.get("columns"), error)
    try:
        request = Request.of(USUAL if metrics is None else metrics, policies)
    except RankscopeError as error:
        raise error_of_metrics(qrels, metrics, error) from None
    allowances = tolerances_of(tolerance, [(m.spelling, m.metric) for m in request.metrics], parse)
    stored = stored_baseline(baseline)
    runs = [candidate] if stored is not None else _name_runs(baseline, candidate)
    try:
        scores = evaluate_local_or_spark(qrels, runs, request, progress)
    except RankscopeError as error:
        raise error_of_judgments(qrels, policies.get("columns"), error) from error.__cause__
    _refuse_ungated(scores.metrics, stored is not None)
    panels = in_clusters(panels_of(scores if stored is None else stored.beside(scores), scores.metrics), clusters)
    for panel in panels:
        if panel.reason:
            raise InputError(f"{panel.name} is {panel.reason} and has no interval to gate on: leave it out")
    drafts, notes = _drafts(panels, slices, allowances, fail_on, method)
    one, two = panels[0].systems
    if panels[0].clusters is not None and "RS411" not in (request.policies.ignore or ()):
        notes += [caution.message for caution in few_clusters([contrast(panels[0], two, one, method)])]
    return Gate(settle_checks(drafts, fail_on, method), one, two, method, fail_on, notes, scores, stored)
# fmt: on


def _name_runs(baseline: Any, candidate: Any) -> list[Any]:
    """Both runs; called by their parts where they have no names of their own that would tell them apart."""
    runs = [baseline, candidate]
    bare = [run for _, run in map(as_pair, runs)]
    paths = [str(run) for run in bare if isinstance(run, str | os.PathLike)]
    alike = len(set(paths)) < 2 if len(paths) == 2 else True
    if alike and not any(name for name, _ in map(as_pair, runs)):
        return list(zip(("baseline", "candidate"), bare, strict=True))
    return runs


def _refuse_ungated(metrics: Sequence[Metric], stored: bool) -> None:
    for metric in metrics:
        if stored and metric.aggregate == "pooled":
            raise InputError(
                f"{metric} is made of the documents of all queries together, which a stored baseline lacks: give the baseline as a run, "
                "or leave it out"
            )
        refuse_undirected(metric)


def _drafts(
    panels: Sequence[Panel], slices: Any, allowances: Mapping[Metric, Margin], fail_on: FailOn, method: Method
) -> tuple[list[Check], list[str]]:
    """Return a check per metric, on all queries and on each slice, and the notes about slices."""
    parts, notes = ([], []) if slices is None else parts_of(slices, panels[0].units)
    labelled = [(n if n.startswith(f"{attribute} ") else f"{attribute}={n}", inside) for attribute, n, inside in parts]
    checks = []
    for panel in panels:
        assert panel.metric is not None
        for name, part in [(None, panel), *((name, panel.within(inside)) for name, inside in labelled)]:
            c = contrast(part, panel.systems[1], panel.systems[0], method)
            if c.queries:
                checks.append(draft_check(c, allowances[panel.metric], fail_on, name))
            elif name is None:
                raise DataError(f"no query has a value of {panel.name} in both runs: there is nothing to compare")
            else:
                notes.append(f"{name}: no query has a value of {panel.name} in both runs, so it is not gated")
    return checks, notes
