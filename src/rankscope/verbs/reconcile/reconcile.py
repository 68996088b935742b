"""What other tools print for a metric, which convention makes the difference, and which explains a given number."""

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
from rankscope.scoring.evaluation import KeptValues, board_of, evaluate_request, mark_averaged, values_of
from rankscope.scoring.inputs import CleanInput, clean, fraction_in, read_inputs
from rankscope.scoring.judging import judge_clean
from rankscope.scoring.policies import Policies
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.runs import Mean, RunEvaluation
from rankscope.scoring.scores import Scores
from rankscope.scoring.ways import Way, changes, computes, convention_of, options_of, said_of, translate
from rankscope.verbs.reconcile.result import CLOSE, Match, Reconciliation, ToolValues
from rankscope.verbs.reconcile.slips import SlipSearch, other_metrics, search_slips

MOST = 3  # conventions that are changed at once in search of a number
ENOUGH = 10  # explanations of a number that are given


def reconcile(
    qrels: Any,
    runs: Any,
    metric: Any = "nDCG@10",
    *,
    value: float | str | None = None,
    duplicates: Any = "error",
    columns: Mapping[str, str] | str | None = None,
    grades: Mapping[str, float] | str | None = None,
) -> Reconciliation:
    """Say what other tools print for a metric on these data, and the one reason for each difference.

    With ``value``, a number that somebody printed, search the conventions and say which produce it (to as
    many decimals as were given: pass a string to say ``"0.710"``). With two runs or more, ``winners`` tells
    whether the choice of convention changes which is best. Of a list of metrics the first is in the result itself, the others in its
    ``more``. ``duplicates``, ``columns`` and ``grades`` are as in ``evaluate``. Raises what ``evaluate`` raises.

    >>> import rankscope as rs
    >>> qrels = {"q1": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}}
    >>> found = rs.reconcile(qrels, {"q1": {"a": 1.0}}, "nDCG@10", value="1.000")
    >>> round(found.ours[0], 3)
    0.339
    >>> any("mlflow" in way.dialects for way in found.matches)
    True
    """
    asked = [(str(one), parse(one)) for one in (metric if isinstance(metric, list | tuple) else [metric or "nDCG@10"])]
    targets = [None if value is None else _target(value, one.range[1]) for _, one in asked]
    policies = Policies(duplicates=duplicates, columns=columns, grades=grades)
    bench = _Bench(*read_inputs(qrels, runs, policies), policies)
    first, *others = (_reconcile_metric(bench, *one, target) for one, target in zip(asked, targets, strict=True))
    return replace(first, more=others)


def _reconcile_metric(bench: _Bench, spelling: str, metric: Metric, target: _Target | None) -> Reconciliation:
    plain = Way(metric)
    fractions = fraction_in(CleanInput(bench.qrels)) is not None
    theirs = {
        name: way
        for name, dialect in DIALECTS.items()
        if not (fractions and dialect.whole_grades) and (way := _in_dialect(dialect, plain.metric)) is not None
    }
    alone = (_alone(plain, departure) for way in theirs.values() for departure in way.departs(plain))
    scores = bench.begin([plain, *theirs.values(), *filter(None, alone)])
    own = ToolValues("rankscope", "rankscope", way=plain, values=bench.values[plain])
    others = (_tool_values(name, plain, theirs.get(name), bench) for name in DIALECTS)
    return Reconciliation(
        metric=plain.metric,
        spelling=spelling,
        runs=tuple(run.name for run in scores.runs),
        tools=[own, *filter(None, others)],
        value=None if target is None else target.text,
        matches=(matches := [] if target is None else list(_search(target, plain, theirs, bench))),
        scores=scores,
        slips=None if target is None or matches else _slips(target, plain, scores, bench),
    )


def _slips(target: _Target, plain: Way, scores: Scores, bench: _Bench) -> SlipSearch:
    """The arithmetic slips that give a number which no convention gives, and those that were tried."""
    ways = {other: Way(other) for other in other_metrics(plain.metric)}
    bench.add(list(ways.values()))
    others = {other: dict(zip(bench.names, bench.values[way], strict=True)) for other, way in ways.items()}
    values = {
        run.name: [value for value in run.values[plain.metric].tolist() if not math.isnan(value)] for run in scores.runs
    }
    counts = {run.name: (run.health.queries, run.health.judged_queries) for run in scores.runs}
    targets = [target]
    if target.text.endswith("%"):  # it may be a sum as well
        targets.append(replace(target, number=100 * target.number, half=100 * target.half))
    return search_slips(
        target.text, lambda value: any(one.meets(value) for one in targets), values, counts, others, plain.metric
    )


def _alone(plain: Way, departure: tuple[str, Any]) -> Way | None:
    """A way in which one convention departs; None for another metric, or where it does not go with the rest."""
    return None if departure[0] == "metric" else plain.having(dict([departure]))


def _in_dialect(dialect: Dialect, metric: Metric) -> Way | None:
    """A metric as a dialect computes it; None where it does not, or only with a cutoff that was not given."""
    if not computes(dialect, metric):
        return None
    try:
        return Way(translate(dialect, metric), convention_of(dialect, metric))
    except InputError:
        return None


class _Bench:
    """Computes the value of a metric in many ways on the same data; each way once, on what was judged once."""

    def __init__(self, qrels: Any, runs: Sequence[Any], policy: Policies) -> None:
        self.qrels, self.runs, self.policy = qrels, runs, policy
        self.values: dict[Way, tuple[float, ...]] = {}
        self.names: list[str] = []
        self.evaluations: Sequence[RunEvaluation] = ()  # in the ways that came first
        self.judged: list[dict[str, Judged]] = []  # of each run, by the order of equal scores
        self.kept = KeptValues()

    def begin(self, ways: Iterable[Way]) -> Scores:
        """Judge the data, and compute these ways."""
        new = list(dict.fromkeys(ways))
        metrics = tuple(MetricRequest(str(way.metric), way.metric, way.convention) for way in new)
        scores = evaluate_request(self.qrels, self.runs, Request(metrics, self.policy))
        self.evaluations, self.names = scores.evaluations, [run.name for run in scores.runs]
        orders = scores.request.orders
        self.needs = orders[0].needs
        for e in scores.evaluations:
            # what was judged without the queries that only the run has does for all, if there are none
            whole = orders[0].extra or not e.health.extra_queries
            self.judged.append({order.ties: judged for order, judged in zip(orders, e.judged, strict=True) if whole})
        self._keep(new, scores.board)
        return scores

    def add(self, ways: Iterable[Way]) -> None:
        """Compute these ways, too."""
        new = [way for way in dict.fromkeys(ways) if way not in self.values]
        if not new:
            return
        request = Request(tuple(MetricRequest("", way.metric, way.convention) for way in new), self.policy)
        grades = clean(self.qrels, self.policy, "qrels", [way.metric for way in new])
        self._judge(request.orders, grades)
        evaluations = []
        for e, by_ties in zip(self.evaluations, self.judged, strict=True):
            judged = [by_ties[order.ties] for order in request.orders]
            values = values_of(request, judged, self.kept)
            evaluations.append(replace(e, query_id=judged[0].query_id, judged=judged, values=values))
        found = mark_averaged(request, evaluations, len(grades.queries))
        self._keep(new, [m for name, e in zip(self.names, found, strict=True) for m in board_of(name, request, e)])

    def _judge(self, orders: Sequence[Order], grades: CleanInput) -> None:
        """Judge the runs under those of these orders that are new, or all of them where more of the judgments is needed."""
        if more := orders[0].needs - self.needs:
            self.needs |= more
            self.judged, self.kept = [{} for _ in self.runs], KeptValues()
        for (_, run), judged in zip(self.runs, self.judged, strict=True):
            missing = {order.ties: replace(order, needs=self.needs, extra=True) for order in orders}
            missing = {ties: order for ties, order in missing.items() if ties not in judged}
            if missing:
                found = judge_clean(clean(run, self.policy, "run"), grades, list(missing.values()))
                judged.update((order.ties, one) for order, (one, _) in found.items())

    def _keep(self, ways: Sequence[Way], board: Sequence[Mean]) -> None:
        by_run = [board[i : i + len(ways)] for i in range(0, len(board), len(ways))]
        self.values |= {way: tuple(run[i].value for run in by_run) for i, way in enumerate(ways)}

    def run_of(self, target: _Target, way: Way) -> int | None:
        """The number of the first run for which a way gives the number; None where there is none."""
        return next((i for i, value in enumerate(self.values[way]) if target.meets(value)), None)


def _tool_values(name: str, plain: Way, way: Way | None, bench: _Bench) -> ToolValues | None:
    """What a tool prints under the name of the metric, and why; None where it has no such metric."""
    dialect = DIALECTS[name]
    says = said_of(dialect, plain.metric)
    if says is None or (way is None and says.metric):
        return None
    if way is None:  # a number under this name that follows from no convention
        return ToolValues(name, dialect.tool, defect=says.defect)
    values, ours = bench.values[way], bench.values[plain]
    departures = tuple(way.departs(plain))
    alone = {d: bench.values[one] for d in departures if (one := _alone(plain, d)) is not None}
    left = {d: _distance(alone.get(d, values), values) for d in departures}
    idle = tuple(d for d in departures if d in alone and _distance(alone[d], ours) <= CLOSE)
    reasons = tuple(sorted((d for d in departures if d not in idle), key=lambda d: left[d]))
    if not reasons and _distance(values, ours) > CLOSE:
        reasons, idle = departures, ()  # none changes anything alone
    elif reasons and left[reasons[0]] <= CLOSE:
        reasons = reasons[:1]  # it explains all of the difference
    return ToolValues(name, dialect.tool, way, values, reasons, idle, says.defect)


def _distance(one: Sequence[float], two: Sequence[float]) -> float:
    """The largest difference; infinite where only one is undefined."""
    pairs = ((a, b) for a, b in zip(one, two, strict=True) if not (math.isnan(a) and math.isnan(b)))
    return max((math.inf if math.isnan(a - b) else abs(a - b) for a, b in pairs), default=0.0)


# --- a number in search of its conventions -----------------------------------------------------------


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
        raise InputError(f"value={value!r}: give the number that was printed, like 0.71")
    decimals = len(text.partition(".")[2]) if "e" not in text.casefold() else 9
    half = 0.5 * 10.0**-decimals if decimals else 0.0
    if top <= 1 < number <= 100:  # no value of the metric, but it may be a percentage
        return _Target(f"{text}%", number / 100, (half or 0.5) / 100)
    return _Target(text, number, half)


def _search(target: _Target, plain: Way, theirs: Mapping[str, Way], bench: _Bench) -> Iterator[Match]:
    """Ways that give the number, those of tools first, then those with the fewest departures."""
    matches = dict.fromkeys(way for way in [plain, *theirs.values()] if bench.run_of(target, way) is not None)
    options = options_of(plain)
    for count in range(1, MOST + 1):
        if len(matches) >= ENOUGH or (matches and count > 1):
            break
        ways = [w for change in changes(options, count) if (w := plain.having(change)) is not None]
        bench.add(ways)
        matches |= dict.fromkeys(way for way in ways if way not in matches and bench.run_of(target, way) is not None)
    for way in list(matches)[:ENOUGH]:
        at = bench.run_of(target, way) or 0
        names = tuple(name for name, own in theirs.items() if own == way)
        yield Match(way, tuple(way.departs(plain)), names, bench.names[at], bench.values[way][at])
