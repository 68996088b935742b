"""Bound values over unjudged documents, count the judgments that reverse a difference, and list documents to judge."""

from __future__ import annotations

from typing import Any

from rankscope import words
from rankscope.declared import whole_number
from rankscope.errors import HUGE, InputError
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import read_inputs
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.verbs.unjudged.result import UnjudgedReport
from rankscope.verbs.unjudged.study import metrics_beside, study_of


def unjudged(
    qrels: Any,
    runs: Any,
    metrics: Any = "nDCG@10",
    *,
    baseline: str | None = None,
    grade: float | None = None,
    n: int = 50,
    **policies: Any,
) -> UnjudgedReport:
    """Bound values over the grades of unjudged documents.

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
    request = Request.of("nDCG@10" if metrics is None else metrics, policies)
    number = isinstance(grade, int | float) and not isinstance(grade, bool)
    if grade is not None and not (number and 0 < grade <= HUGE):
        most = f", and at most {HUGE:g}" if number and grade > HUGE else ""
        raise InputError(f"grade={grade!r}: the best grade that a document can get is a number above 0{most}, like 3")
    whole_number("n", n, 0, "the length of the worklist is a whole number of at least 0")
    grades, read = read_inputs(qrels, runs, request.policies)
    scores = evaluate_request(grades, read, _with_beside(request))
    names = [run.name for run in scores.runs]
    if baseline is not None and baseline not in names:
        raise InputError(f"baseline {baseline!r}: no run is called that{words.hint(baseline, names)}")
    first = 0 if baseline is None else names.index(baseline)
    studies = [study_of(scores, m.metric, grades, [run for _, run in read], grade) for m in request.metrics]
    others = [number for number in range(len(names)) if number != first]
    return UnjudgedReport(
        bounds=[study.bounds(number) for study in studies for number in range(len(names))],
        turns=[study.turn(number, first) for study in studies for number in others], worklist=studies[0].worklist(n),
        candidates=studies[0].candidates, considered=studies[0].considered, scores=scores, baseline=names[first],
    )  # fmt: skip


def _with_beside(request: Request) -> Request:
    every = [*request.metrics]
    for m in request.metrics:
        every += request.with_metrics(*metrics_beside(m.metric).values(), like=m.metric).metrics
    once = {m.metric: m for m in reversed(every)}
    return request.with_metrics(*(m for m in every if once[m.metric] is m))
