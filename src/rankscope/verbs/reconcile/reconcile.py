"""Compute a metric as other tools do, name the convention behind each difference, and search for the source of a number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankscope.dialects import DIALECTS, Dialect
from rankscope.engines.base import Order
from rankscope.errors import InputError
from rankscope.lists import Judged
from rankscope.metrics import Metric, parse
from rankscope.scoring import definitions as defined
from rankscope.scoring.definitions import MetricDefinition
from rankscope.scoring.evaluation import KeptValues, board_of, evaluate_request, mark_averaged, values_of
from rankscope.scoring.inputs import CleanInput, clean, fraction_in, read_inputs
from rankscope.scoring.judging import judge_clean
from rankscope.scoring.policies import Policies
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.runs import Mean, RunEvaluation
from rankscope.scoring.scores import Scores
from rankscope.verbs.reconcile.result import CLOSE, Match, Reconciliation, ToolValues
from rankscope.verbs.reconcile.slips import SlipSearch, other_metrics, search_slips

MAX_CHANGED_CONVENTIONS = 3  # at once, in the search for a number
MAX_MATCHES = 10


def reconcile(
    qrels: Any, runs: Any, metric: Any = "nDCG@10", *, value: float | str | None = None, duplicates: Any = "error",
    columns: Mapping[str, str] | str | None = None, grades: Mapping[str, float] | str | None = None,
) -> Reconciliation:  # fmt: skip
    """Compute a metric as other tools do on these data, and name the reason for each difference.

    With ``value``, a printed number, search for the conventions that produce it, to the decimals given: pass ``"0.710"`` as a
    string. With two runs or more, ``winners`` shows if the choice of convention changes the best run. If ``metric`` is a list, the
    result is about the first one, and ``more`` holds the others. ``duplicates``, ``columns`` and ``grades`` are as in ``evaluate``.
    Raises the errors of ``evaluate``.

    >>> import rankscope as rs
    >>> qrels = {"q1": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}}
    >>> found = rs.reconcile(qrels, {"q1": {"a": 1.0}}, "nDCG@10", value="1.000")
    >>> round(found.ours[0], 3)
    0.339
    >>> any("mlflow" in definition.dialects for definition in found.matches)
    True
    """
    pairs = [(str(one), parse(one)) for one in (metric if isinstance(metric, list | tuple) else [metric or "nDCG@10"])]
    targets = [None if value is None else _target(value, one.range[1]) for _, one in pairs]
    policies = Policies(duplicates=duplicates, columns=columns, grades=grades)
    bench = _Bench(*read_inputs(qrels, runs, policies), policies)
    first, *others = (_reconcile_metric(bench, *one, target) for one, target in zip(pairs, targets, strict=True))
    return replace(first, more=others)


def _reconcile_metric(bench: _Bench, spelling: str, metric: Metric, target: _Target | None) -> Reconciliation:
    plain = MetricDefinition(metric)
    fractions = fraction_in(CleanInput(bench.qrels)) is not None
    theirs = {
        name: definition
        for name, dialect in DIALECTS.items()
        if not (fractions and dialect.whole_grades) and (definition := _in_dialect(dialect, plain.metric)) is not None
    }
    single = (_with_one(plain, change) for definition in theirs.values() for change in definition.differences(plain))
    scores = bench.begin([plain, *theirs.values(), *filter(None, single)])
    own = ToolValues("rankscope", "rankscope", definition=plain, values=bench.values[plain])
    others = (_tool_values(name, plain, theirs.get(name), bench) for name in DIALECTS)
    matches = [] if target is None else list(_search(target, plain, theirs, bench))
    return Reconciliation(
        plain.metric, spelling, tuple(bench.names), [own, *filter(None, others)], target.text if target else None, matches, scores,
        slips=None if target is None or matches else _slips(target, plain, scores, bench),
    )  # fmt: skip


def _slips(target: _Target, plain: MetricDefinition, scores: Scores, bench: _Bench) -> SlipSearch:
    others = list(map(MetricDefinition, other_metrics(plain.metric)))
    bench.add(others)
    other_values = {one.metric: dict(zip(bench.names, bench.values[one], strict=True)) for one in others}
    values = {run.name: [v for v in run.values[plain.metric].tolist() if not math.isnan(v)] for run in scores.runs}
    counts = {run.name: (run.health.queries, run.health.judged_queries) for run in scores.runs}
    targets = [target]
    if target.text.endswith("%"):  # it may also be a sum
        targets.append(replace(target, number=100 * target.number, half=100 * target.half))
    return search_slips(
        target.text, lambda value: any(one.meets(value) for one in targets), values, counts, other_values, plain.metric
    )


def _with_one(plain: MetricDefinition, change: tuple[str, Any]) -> MetricDefinition | None:
    """The definition with one convention changed. None for another metric, or if the change is invalid by itself."""
    return None if change[0] == "metric" else plain.having(dict([change]))


def _in_dialect(dialect: Dialect, metric: Metric) -> MetricDefinition | None:
    """A metric as a dialect computes it. None if it does not, or only with a cutoff that is missing."""
    try:
        known = defined.computes(dialect, metric)
        convention = defined.convention_of(dialect, metric)
        return MetricDefinition(defined.translate(dialect, metric), convention) if known else None
    except InputError:
        return None


class _Bench:
    """Values of many definitions on the same data: each is computed once, and each order of ties is judged once."""

    def __init__(self, qrels: Any, runs: Sequence[Any], policies: Policies) -> None:
        self.qrels, self.runs, self.policies = qrels, runs, policies
        self.values: dict[MetricDefinition, tuple[float, ...]] = {}
        self.names: list[str] = []
        self.evaluations: Sequence[RunEvaluation] = ()  # of the first definitions
        self.judged: list[dict[str, Judged]] = []  # per run, by the order of ties
        self.kept: KeptValues = {}

    def begin(self, definitions: Iterable[MetricDefinition]) -> Scores:
        """Judge the data, and compute these definitions."""
        new = list(dict.fromkeys(definitions))
        metrics = tuple(MetricRequest(str(one.metric), one.metric, one.convention) for one in new)
        scores = evaluate_request(self.qrels, self.runs, Request(metrics, self.policies))
        self.evaluations, self.names = scores.evaluations, [run.name for run in scores.runs]
        orders = scores.request.orders
        self.needs = orders[0].needs
        for e in scores.evaluations:
            # later requests also take queries that only the run has
            complete = orders[0].extra or not e.health.extra_queries
            self.judged.append({order.ties: judged for order, judged in zip(orders, e.judged, strict=True) if complete})
        self._keep(new, scores.board)
        return scores

    def add(self, definitions: Iterable[MetricDefinition]) -> None:
        """Compute the definitions that are new."""
        new = [one for one in dict.fromkeys(definitions) if one not in self.values]
        if not new:
            return
        request = Request(tuple(MetricRequest("", one.metric, one.convention) for one in new), self.policies)
        grades = clean(self.qrels, self.policies, "qrels", [one.metric for one in new])
        self._judge(request.orders, grades)
        evaluations = []
        for e, by_ties in zip(self.evaluations, self.judged, strict=True):
            judged = [by_ties[order.ties] for order in request.orders]
            values = values_of(request, judged, self.kept)
            evaluations.append(replace(e, query_id=judged[0].query_id, judged=judged, values=values))
        marked = mark_averaged(request, evaluations, len(grades.queries))
        self._keep(new, [m for name, e in zip(self.names, marked, strict=True) for m in board_of(name, request, e)])

    def _judge(self, orders: Sequence[Order], grades: CleanInput) -> None:
        if more := orders[0].needs - self.needs:
            self.needs |= more
            self.judged, self.kept = [{} for _ in self.runs], {}
        for (_, run), judged in zip(self.runs, self.judged, strict=True):
            missing = {o.ties: replace(o, needs=self.needs, extra=True) for o in orders if o.ties not in judged}
            if missing:
                by_order = judge_clean(clean(run, self.policies, "run"), grades, list(missing.values()))
                judged.update((order.ties, one) for order, (one, _) in by_order.items())

    def _keep(self, definitions: Sequence[MetricDefinition], board: Sequence[Mean]) -> None:
        by_run = [board[i : i + len(definitions)] for i in range(0, len(board), len(definitions))]
        self.values |= {one: tuple(run[i].value for run in by_run) for i, one in enumerate(definitions)}

    def run_of(self, target: _Target, definition: MetricDefinition) -> int | None:
        """The number of the first run for which a definition gives the target, or None."""
        return next((i for i, value in enumerate(self.values[definition]) if target.meets(value)), None)


def _tool_values(
    name: str, plain: MetricDefinition, definition: MetricDefinition | None, bench: _Bench
) -> ToolValues | None:
    """The values of a tool under the name of the metric, with the reason, or None if it has no such metric."""
    dialect = DIALECTS[name]
    entry = defined.dialect_metric_of(dialect, plain.metric)
    if entry is None or (definition is None and entry.metric):
        return None
    if definition is None:  # a defect, which no convention explains
        return ToolValues(name, dialect.tool, defect=entry.defect)
    values, ours = bench.values[definition], bench.values[plain]
    departures = tuple(definition.differences(plain))
    single = {d: bench.values[one] for d in departures if (one := _with_one(plain, d)) is not None}
    left = {d: _distance(single.get(d, values), values) for d in departures}
    idle = tuple(d for d in departures if d in single and _distance(single[d], ours) <= CLOSE)
    reasons = tuple(sorted((d for d in departures if d not in idle), key=lambda d: left[d]))
    if not reasons and _distance(values, ours) > CLOSE:
        reasons, idle = departures, ()  # they change the value only together
    elif reasons and left[reasons[0]] <= CLOSE:
        reasons = reasons[:1]  # it explains the whole difference
    return ToolValues(name, dialect.tool, definition, values, reasons, idle, entry.defect)


def _distance(one: Sequence[float], two: Sequence[float]) -> float:
    pairs = ((a, b) for a, b in zip(one, two, strict=True) if not (math.isnan(a) and math.isnan(b)))
    return max((math.inf if math.isnan(a - b) else abs(a - b) for a, b in pairs), default=0.0)


@dataclass(frozen=True)
class _Target:
    text: str
    number: float
    half: float

    def meets(self, value: float) -> bool:
        return abs(value - self.number) <= self.half + CLOSE


def _target(value: float | str, top: float) -> _Target:
    text = str(value).strip()
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise InputError(f"value={value!r}: give the printed number, like 0.71")
    decimals = len(text.partition(".")[2]) if "e" not in text.casefold() else 9
    half = 0.5 * 10.0**-decimals if decimals else 0.0
    if top <= 1 < number <= 100:  # above the metric's range, so it may be a percentage
        return _Target(f"{text}%", number / 100, (half or 0.5) / 100)
    return _Target(text, number, half)


def _search(
    target: _Target, plain: MetricDefinition, theirs: Mapping[str, MetricDefinition], bench: _Bench
) -> Iterator[Match]:
    def matching(definitions: Iterable[MetricDefinition]) -> dict[MetricDefinition, None]:
        return dict.fromkeys(one for one in definitions if bench.run_of(target, one) is not None)

    matches = matching([plain, *theirs.values()])
    options = defined.options_of(plain)
    for count in range(1, MAX_CHANGED_CONVENTIONS + 1):
        if len(matches) >= MAX_MATCHES or (matches and count > 1):
            break
        definitions = [one for change in defined.changes(options, count) if (one := plain.having(change)) is not None]
        bench.add(definitions)
        matches |= matching(definitions)
    for definition in list(matches)[:MAX_MATCHES]:
        at = bench.run_of(target, definition) or 0
        names = tuple(name for name, own in theirs.items() if own == definition)
        departures = tuple(definition.differences(plain))
        yield Match(definition, departures, names, bench.names[at], bench.values[definition][at])
