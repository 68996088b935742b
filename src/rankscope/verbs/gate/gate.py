"""A gate for continuous integration: pass, fail, or cannot tell whether a candidate lost against a baseline."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from rankscope.declared import one_of
from rankscope.errors import DataError, InputError, RankscopeError
from rankscope.experiments.request import ExperimentRequest
from rankscope.metrics import Metric, parse
from rankscope.panels.contrast import contrast
from rankscope.panels.contrast_result import few_clusters
from rankscope.panels.families import parts_of
from rankscope.panels.method import Margin, Method, method_of
from rankscope.panels.panel import Panel
from rankscope.panels.tolerance import tolerances_of
from rankscope.scoring.keywords import PolicyOptions, with_policies
from rankscope.scoring.measurements import evaluate_local_or_spark, in_clusters, panels_of
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.verbs.gate.baseline import as_pair, stored_baseline
from rankscope.verbs.gate.checks import Check, FailOn, draft_check, refuse_undirected, settle_checks
from rankscope.verbs.gate.log import PlannedGate, error_of_judgments, error_of_metrics, log_to_gate, refuse_experiments
from rankscope.verbs.gate.result import Gate, LogGate

USUAL = "nDCG@10"
OPTIONS = (
    "tolerance", "fail_on", "alpha", "slices", "clusters", "interval", "test", "variant", "split", "covariates", "strata", "winsorise", "plan",
    "target", "reward", "logging", "model", "examination", "force", "log_format", "time_format", "metrics", "progress",
)  # fmt: skip


# fmt: off
@with_policies
def gate(  # noqa: PLR0913 - the options of the command line, each with its default
    qrels: Any, baseline: Any = None, candidate: Any = None, metrics: Any = None, *,
    tolerance: Any = None, fail_on: FailOn = "loss", alpha: float = 0.05, slices: Any = None, clusters: Any = None,
    test: Any = None, interval: Any = None, plan: Any = None, variant: str | None = None, split: Any = None, covariates: Any = None,
    strata: str | None = None, winsorise: float | None = None, target: Any = None, reward: str | None = None, logging: Any = None,
    model: Any = None, examination: Any = None, force: bool = False, log_format: str | None = None, time_format: str | None = None,
    progress: Callable[[str], None] | None = None, **policies: Unpack[PolicyOptions],
) -> Gate | LogGate:
    """Say whether a candidate may replace a baseline: pass, fail, or cannot tell.

    ``qrels``, ``baseline`` and ``candidate`` are as for ``evaluate``; the baseline may also be what ``evaluate`` stored with the values
    of every query, whose judgments, conventions and version must be those at hand. ``metrics`` are all gated (nDCG@10 unless named).

    Each metric, on all queries and on each slice, is one check. It passes if the lower end of the interval of the difference lies above
    minus the tolerance, or if nothing changed. It fails if a loss is proved: the mean is below 0, by a test whose p-values are corrected
    over all checks (Holm). If fewer than six queries differ, no interval is used: it passes if an exact bound of the loss is within
    the tolerance, and never fails. All checks must pass.
    ``tolerance``: how much worse the candidate may be: a number, ``"2%"`` of the baseline, or a mapping of these by metric. Default 0.01.
    ``fail_on``: "loss", or "tolerance" to fail only a proved loss of more than the tolerance.
    ``alpha``: the level; 0.05 means 95% intervals.
    ``slices``: a table of query attributes, each of whose values must hold, too.
    ``clusters``: the user, session or topic of each query; for a log as for ``experiment``.
    ``test``, ``interval``: as in ``compare``, which gives the same p-value for the same two runs. Default t.
    ``progress``: called with the name of each run that is read.
    {policies}
    ``qrels`` may be a log. Of an experiment every variant is gated against the baseline, with the p-value of ``experiment``; of interleaved lists every
    ranker against the last; with a ``target`` every policy against the one that ran, by the first estimator of ``estimate``. ``baseline`` and ``candidate``
    are names of these, ``metrics`` are online metrics, a credit or estimators, the default ``tolerance`` is ``"1%"`` (of a preference 0.01), ``slices``
    names columns. ``plan`` to ``winsorise`` are as for ``experiment`` (a plan's metrics are all gated, and its margins are tolerances), ``target`` to ``force`` as for ``estimate``. The verdict is withheld if users were not
    split as planned, lists were not mixed fairly (``exit_code`` 3), or the log does not support an estimate (4).
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
    form = {"log_format": log_format, "time_format": time_format}
    of_policies = {"reward": reward, "logging": logging, "model": model, "examination": examination, "force": force}
    if (log := log_to_gate(qrels, baseline, candidate, variant, policies.get("columns"), target=target, plan=plan, **form)) is not None:
        options: dict[str, Any] = {"baseline": baseline, "slices": slices or None, "clusters": clusters or None, "test": test, "interval": interval, **of_variants}
        taken = PlannedGate.of(log, plan, metrics, ExperimentRequest(alpha=alpha, **options), tolerance)
        return taken.gate(log, candidate, fail_on, method, [*of_variants, "clusters"], policies=policies, target=target, of_policies=of_policies)
    refuse_experiments({"plan": plan, "variant": variant, **of_variants, "target": target, **of_policies, **form})
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
        error = InputError("a gate takes judgments and two runs, the baseline and the candidate, or the log of an experiment")
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
                f"{metric} needs the documents of all queries together, which a stored baseline lacks: give the baseline as a run, "
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
                raise DataError(f"no query is scored on {panel.name} in both runs: they cannot be compared")
            else:
                notes.append(f"{name}: no query is scored on {panel.name} in both runs, so it is not gated")
    return checks, notes
