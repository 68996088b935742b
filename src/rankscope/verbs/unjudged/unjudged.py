"""How much hangs on documents that nobody judged: bounds, what it takes to turn a verdict, what to judge next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rankscope.errors import InputError
from rankscope.metrics import Metric
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import clean, named_runs, read_any, takers
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores
from rankscope.show.notebook import InNotebook
from rankscope.verbs.unjudged.given import Given, beside_of
from rankscope.verbs.unjudged.study import Study, study_of


@dataclass(frozen=True)
class Bounded:
    """How far one number can be trusted.

    ``value`` counts documents that nobody judged as the metric does. ``worthless`` and ``perfect`` are what it would be if those in the top
    (``depth`` ranks, None: all) were all of grade 0, or all of the best grade, ``grade``; judging them also changes what is
    known of a query, and so the ideal. ``lower`` and ``upper`` are the ends over all ways of grading them; ``exact`` is False where not
    all ways could be tried and these are the ends of what was found. ``condensed`` is the metric over judged documents alone, None
    where it has no such form. ``residual`` is what a document nobody judged may still add: ``residual_of`` names the metric that says
    so, else it is upper - lower. ``unjudged`` of the ``shown`` documents in the top of the queries are not in the qrels.
    """

    run: str
    metric: Metric
    value: float
    worthless: float
    perfect: float
    lower: float
    upper: float
    exact: bool
    residual: float
    residual_of: str | None
    condensed: float | None
    unjudged: int
    shown: int
    depth: int | None
    grade: float
    queries: int

    @property
    def share(self) -> float:
        """The share of the top that nobody judged."""
        return self.unjudged / self.shown if self.shown else 0.0


@dataclass(frozen=True)
class Turn:
    """What it would take to turn the difference of two runs.

    ``difference`` is run - baseline as judged, ``lower`` and ``upper`` its ends over ways of grading the ``unjudged`` documents in the
    top of either (``exact``: over all ways). ``needed`` of them, if of the best grade, would turn its sign and make it ``turned``: the
    fewest there are where ``fewest``, else a number that is enough. It is None where none were found, and ``reason`` says why.
    """

    run: str
    baseline: str
    metric: Metric
    difference: float
    lower: float
    upper: float
    exact: bool
    unjudged: int
    needed: int | None
    fewest: bool
    turned: float | None
    reason: str = ""

    @property
    def ahead(self) -> str | None:
        """The run of the larger value; None where both are the same."""
        if math.isnan(self.difference) or not self.difference:
            return None
        return self.run if self.difference > 0 else self.baseline


@dataclass(frozen=True)
class Wanted:
    """A document whose judgment would tell most: the rank each run gives it, and the largest change that it could make."""

    query_id: str
    doc_id: str
    ranks: Mapping[str, int]
    effect: float


@dataclass(frozen=True, eq=False)
class Unjudged(InNotebook):
    """What ``unjudged`` found.

    ``bounds`` has an entry a run and metric, ``turns`` one a metric and run other than the ``baseline``. ``worklist`` is made for the
    first metric: of ``candidates`` documents ``considered`` were tried, and those that could change most come first.
    """

    shown_by: ClassVar[str] = "rankscope.verbs.unjudged.result"

    bounds: Sequence[Bounded]
    turns: Sequence[Turn]
    worklist: Sequence[Wanted]
    candidates: int
    considered: int
    scores: Scores
    baseline: str

    def __iter__(self) -> Iterator[Bounded]:
        return iter(self.bounds)

    def __str__(self) -> str:
        from rankscope.verbs.unjudged.result import sentence

        return sentence(self)

    __repr__ = __str__


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
    """Say how much hangs on the documents that nobody judged.

    For each run and metric: the value, and its bounds when the documents in the top that are not in the qrels get grades; with several
    runs, how many of them would have to be relevant to turn the difference to the ``baseline`` (the first run unless named); and the ``n``
    documents whose judgment could change most. ``grade`` is the best grade a document can get: the highest of the qrels, or a
    metric's ``max_grade`` where it was given one. The rest are the policies of ``evaluate``. Raises what ``evaluate`` raises.

    >>> import rankscope as rs
    >>> found = rs.unjudged({"q1": {"a": 1, "b": 0}}, {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}}, "P@2")
    >>> [(b.value, b.lower, b.upper, b.share) for b in found]
    [(0.5, 0.5, 1.0, 0.5)]
    >>> [(w.doc_id, w.ranks, w.effect) for w in found.worklist]
    [('x', {'run': 2}, 0.5)]
    """
    refuse_unknown(policies, "unjudged", ("baseline", "grade", "n"))
    call = Request.of(metrics, policies)
    _check(grade, n)
    given = _given(qrels, runs, call)
    beside = {a.metric: beside_of(a.metric) for a in call.metrics}
    scores = evaluate_request(given.raw_qrels, given.raw_runs, given.call_with(beside))
    names = [run.name for run in scores.runs]
    first = _baseline(baseline, names)
    bounds, turns, studies = [], [], []
    for asked in call.metrics:
        study = study_of(given, asked, scores, grade)
        studies.append(study)
        bounds += [_bounded(study, scores, number, beside[asked.metric]) for number in range(len(names))]
        turns += [_turn(study, names, number, first) for number in range(len(names)) if number != first]
    lead = studies[0]
    return Unjudged(
        bounds=bounds,
        turns=turns,
        worklist=_worklist(lead, names, n),
        candidates=int(lead.found.there.sum()),
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


def _given(qrels: Any, runs: Any, call: Request) -> Given:
    raw_qrels = read_any("qrels", qrels)
    raw_runs = [(name, read_any("run", run, name)) for name, run in named_runs(runs)]
    return Given(
        raw_qrels,
        raw_runs,
        clean(raw_qrels, call.policies, "qrels", takers([a.metric for a in call.metrics])),
        [clean(run, call.policies, "run") for _, run in raw_runs],
        call,
    )


def _baseline(name: str | None, names: Sequence[str]) -> int:
    if name is None:
        return 0
    if name not in names:
        raise InputError(f"baseline {name!r}: no run is called that: there are {', '.join(names)}")
    return names.index(name)


def _bounded(study: Study, scores: Scores, number: int, beside: Mapping[str, Metric]) -> Bounded:
    run = scores.runs[number].name
    metric = study.asked.metric
    value = study.values[number]
    ends = study.bounds(number)
    residual = beside.get("residual")
    condensed = beside.get("condensed")
    means = {mean.metric: mean.value for mean in scores.board if mean.run == run}
    return Bounded(
        run=run,
        metric=metric,
        value=value,
        worthless=ends.worthless,
        perfect=ends.perfect,
        lower=ends.lower,
        upper=ends.upper,
        exact=ends.exact,
        residual=means[residual] if residual is not None else ends.upper - ends.lower,
        residual_of=None if residual is None else str(residual),
        condensed=None if condensed is None else means[condensed],
        unjudged=study.found.counts[number],
        shown=study.found.shown[number],
        depth=study.depth,
        grade=study.top,
        queries=len(scores.runs[number].query_ids),
    )


def _turn(study: Study, names: Sequence[str], number: int, baseline: int) -> Turn:
    difference = study.values[number] - study.values[baseline]
    low, high, exact = study.difference_bounds(number, baseline)
    picked, turned, reason = study.turn(number, baseline)
    return Turn(
        run=names[number],
        baseline=names[baseline],
        metric=study.asked.metric,
        difference=difference,
        lower=low,
        upper=high,
        exact=exact,
        unjudged=study.between(number, baseline),
        needed=None if picked is None else len(picked),
        fewest=picked is not None and study.fewest,
        turned=turned,
        reason=reason,
    )


def _worklist(study: Study, names: Sequence[str], n: int) -> list[Wanted]:
    return [
        Wanted(query, doc, {name: rank for name, rank in zip(names, ranks, strict=True) if rank}, effect)
        for query, doc, ranks, effect in study.wanted(n)
    ]
