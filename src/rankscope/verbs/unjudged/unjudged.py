"""How much depends on unjudged documents: bounds, what would reverse a difference, what to judge next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.metrics import RBP, Metric, RBPResidual
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import named_runs, read_any
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.verbs.unjudged.result import DocumentToJudge, Turn, Unjudged, ValueBounds
from rankscope.verbs.unjudged.study import Study, study_of


def unjudged(
    qrels: Any,
    runs: Any,
    metrics: Any = "nDCG@10",
    *,
    baseline: str | None = None,
    grade: float | None = None,
    n: int = 50,
    **policies: Any,
) -> Unjudged:
    """Say how much depends on unjudged documents.

    For each run and metric: the value, and its bounds if the documents in the top that are not in the qrels get grades; with several
    runs, how many of them would have to be relevant to reverse the difference to the ``baseline`` (the first run unless named); and
    the ``n`` documents whose judgment could change most. ``grade`` is the best grade a document can get: the highest of the qrels,
    or a metric's ``max_grade`` where it was given one. The rest are the policies of ``evaluate``. Raises what ``evaluate`` raises.

    >>> import rankscope as rs
    >>> found = rs.unjudged({"q1": {"a": 1, "b": 0}}, {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}}, "P@2")
    >>> [(b.value, b.lower, b.upper, b.share) for b in found]
    [(0.5, 0.5, 1.0, 0.5)]
    >>> [(d.doc_id, d.ranks, d.effect) for d in found.worklist]
    [('x', {'run': 2}, 0.5)]
    """
    refuse_unknown(policies, "unjudged", ("baseline", "grade", "n"))
    request = Request.of(metrics, policies)
    _check(grade, n)
    grades = read_any("qrels", qrels)
    read = [(name, read_any("run", run, name)) for name, run in named_runs(runs)]
    beside = {m.metric: _beside(m.metric) for m in request.metrics}
    scores = evaluate_request(grades, read, _with_beside(request, beside))
    names = [run.name for run in scores.runs]
    if baseline is not None and baseline not in names:
        raise InputError(f"baseline {baseline!r}: no run is called that{words.hint(baseline, names)}")
    first = 0 if baseline is None else names.index(baseline)
    bounds, turns, studies = [], [], []
    for m in request.metrics:
        study = study_of(scores, m.metric, grades, [run for _, run in read], grade)
        studies.append(study)
        bounds += [_bounds(study, number, beside[m.metric]) for number in range(len(names))]
        turns += [_turn(study, names, number, first) for number in range(len(names)) if number != first]
    lead = studies[0]
    return Unjudged(
        bounds=bounds,
        turns=turns,
        worklist=_worklist(lead, names, n),
        candidates=lead.candidates,
        considered=lead.considered,
        scores=scores,
        baseline=names[first],
    )


def _check(grade: float | None, n: int) -> None:
    if grade is not None and (
        isinstance(grade, bool) or not isinstance(grade, int | float) or not 0 < grade < math.inf
    ):
        raise InputError(
            f"grade={grade!r}: the best grade that a document can get is a number above 0, like 3"
        )
    if isinstance(n, bool) or not hasattr(n, "__index__") or n < 0:
        raise InputError(f"n={n!r}: the length of the worklist is a whole number of at least 0")


def _beside(metric: Metric) -> dict[str, Metric]:
    """What stands beside a metric: the same over judged documents alone, and its residual."""
    out: dict[str, Metric] = {}
    if getattr(metric, "judged_only", None) is False:
        out["condensed"] = metric.having(judged_only=True)
    if type(metric) is RBP and not metric.judged_only and metric.gain is None:
        out["residual"] = RBPResidual(p=metric.p, cutoff=metric.cutoff)
    return out


def _with_beside(request: Request, beside: Mapping[Metric, Mapping[str, Metric]]) -> Request:
    """The request with what stands beside its metrics, under the same conventions."""
    every = [*request.metrics]
    for m in request.metrics:
        every += request.with_metrics(*beside[m.metric].values(), like=m.metric).metrics
    once = {m.metric: m for m in reversed(every)}
    return request.with_metrics(*(m for m in every if once[m.metric] is m))


def _bounds(study: Study, number: int, beside: Mapping[str, Metric]) -> ValueBounds:
    run = study.scores.runs[number]
    ends = study.bounds(number)
    residual, condensed = beside.get("residual"), beside.get("condensed")
    means = {mean.metric: mean.value for mean in study.scores.board if mean.run == run.name}
    return ValueBounds(
        run=run.name,
        metric=study.metric,
        value=study.values[number],
        lower=ends.lower,
        upper=ends.upper,
        exact=ends.exact,
        worthless=ends.worthless,
        perfect=ends.perfect,
        condensed=None if condensed is None else means[condensed],
        residual=means[residual] if residual is not None else ends.upper - ends.lower,
        residual_of=None if residual is None else str(residual),
        unjudged=study.documents.counts[number],
        shown=study.documents.size[number],
        depth=study.depth,
        grade=study.top,
        queries=len(run.query_ids),
    )


def _turn(study: Study, names: Sequence[str], number: int, baseline: int) -> Turn:
    low, high, exact = study.difference_bounds(number, baseline)
    needed, turned, reason = study.turn(number, baseline)
    return Turn(
        run=names[number],
        baseline=names[baseline],
        metric=study.metric,
        difference=study.values[number] - study.values[baseline],
        lower=low,
        upper=high,
        exact=exact,
        unjudged=study.between(number, baseline),
        needed=needed,
        fewest=needed is not None and study.fewest,
        turned=turned,
        reason=reason,
        grade=study.top,
    )


def _worklist(study: Study, names: Sequence[str], n: int) -> list[DocumentToJudge]:
    return [
        DocumentToJudge(
            query, doc, {name: rank for name, rank in zip(names, ranks, strict=True) if rank}, effect
        )
        for query, doc, ranks, effect in study.worklist(n)
    ]
