"""What other tools print for a metric, which convention makes the difference, and which explains a given number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankscope.dialects import DIALECTS, Dialect
from rankscope.errors import InputError
from rankscope.metrics import Metric, parse
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import CleanInput, fraction_in, named_runs, read_any
from rankscope.scoring.policies import Policies
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.scores import Scores
from rankscope.scoring.ways import Way, changes, computes, family, options_of, translated
from rankscope.verbs.reconcile.result import CLOSE, Match, Printed, Reconciliation

MOST = 3  # conventions that are changed at once in search of a number
ENOUGH = 10  # explanations of a number that are given


def reconcile(
    qrels: Any, runs: Any, metric: Any = "nDCG@10", *, value: float | str | None = None, duplicates: Any = "error"
) -> Reconciliation:
    """Say what other tools print for a metric on these data, and the one reason for each difference.

    With ``value``, a number that somebody printed, search the conventions and say which produce it (to as
    many decimals as were given: pass a string to say ``"0.710"``). With two runs or more, ``winners`` tells
    whether the choice of convention changes which is best. Raises what ``evaluate`` raises.

    >>> import rankscope as rs
    >>> qrels = {"q1": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}}
    >>> found = rs.reconcile(qrels, {"q1": {"a": 1.0}}, "nDCG@10", value="1.000")
    >>> round(found.ours[0], 3)
    0.339
    >>> any("mlflow" in way.dialects for way in found.explained)
    True
    """
    plain = Way(parse(metric))
    target = None if value is None else _target(value, plain.metric.range[1])
    bench = _Bench(read_any("qrels", qrels), [(n, read_any("run", r, n)) for n, r in named_runs(runs)], duplicates)
    fractions = fraction_in(CleanInput(bench.qrels)) is not None
    theirs = {
        name: way
        for name, dialect in DIALECTS.items()
        if not (fractions and dialect.whole_grades) and (way := _in_dialect(dialect, plain.metric)) is not None
    }
    alone = [
        w
        for way in theirs.values()
        for d in way.departs(plain)
        if (w := plain.having(dict([d]))) is not None and d[0] != "metric"
    ]
    scores = bench.add([plain, *theirs.values(), *alone])
    printed = [
        _printed(name, plain, theirs.get(name), bench)
        for name in DIALECTS
        if name in theirs or _is_defect(DIALECTS[name], plain.metric)
    ]
    return Reconciliation(
        metric=plain.metric,
        asked=str(metric),
        runs=tuple(run.name for run in scores.runs),
        ours=bench.values[plain],
        printed=printed,
        value=None if target is None else target.text,
        explained=[] if target is None else list(_search(target, plain, theirs, bench)),
        scores=scores,
    )


def _in_dialect(dialect: Dialect, metric: Metric) -> Way | None:
    """A metric as a dialect computes it; None where it does not, or only with a cutoff that was not given."""
    if not computes(dialect, metric):
        return None
    try:
        return Way(translated(dialect, metric), dialect.of(family(metric)))
    except InputError:
        return None


def _is_defect(dialect: Dialect, metric: Metric) -> bool:
    """Whether a dialect has a number under this name that follows from no convention."""
    says = dialect.metrics.get(family(metric))
    return says is not None and not says.metric


class _Bench:
    """Computes the value of a metric in many ways on the same data; each way once."""

    def __init__(self, qrels: Any, runs: Sequence[Any], duplicates: Any) -> None:
        self.qrels, self.runs, self.policy = qrels, runs, Policies(duplicates=duplicates)
        self.values: dict[Way, tuple[float, ...]] = {}
        self.names: list[str] = []

    def add(self, ways: Sequence[Way]) -> Scores:
        """Compute these ways; what was computed before is computed again only if it is the first."""
        new = [way for way in dict.fromkeys(ways) if way not in self.values] or list(ways[:1])
        scores = evaluate_request(
            self.qrels,
            self.runs,
            Request(tuple(MetricRequest(str(w.metric), w.metric, w.convention) for w in new), self.policy),
        )
        by_run = [[mean.value for mean in scores.board if mean.run == run.name] for run in scores.runs]
        self.names = [run.name for run in scores.runs]
        self.values |= {way: tuple(run[i] for run in by_run) for i, way in enumerate(new)}
        return scores


def _printed(name: str, plain: Way, way: Way | None, bench: _Bench) -> Printed:
    dialect = DIALECTS[name]
    says = dialect.metrics[family(plain.metric)]
    if way is None:
        return Printed(name, dialect.tool, says, None, None)
    values, ours = bench.values[way], bench.values[plain]
    departures = tuple(way.departs(plain))
    alone = {
        d: bench.values[w] for d in departures if d[0] != "metric" and (w := plain.having(dict([d]))) in bench.values
    }
    left = {d: _distance(alone.get(d, values), values) for d in departures}
    idle = tuple(d for d in departures if d in alone and _distance(alone[d], ours) <= CLOSE)
    reasons = tuple(sorted((d for d in departures if d not in idle), key=lambda d: left[d]))
    if not reasons and _distance(values, ours) > CLOSE:
        reasons, idle = departures, ()  # none changes anything alone
    elif reasons and left[reasons[0]] <= CLOSE:
        reasons = reasons[:1]  # it explains all of the difference
    return Printed(name, dialect.tool, says, way, values, reasons, idle)


def _distance(one: Sequence[float], two: Sequence[float]) -> float:
    pairs = zip(one, two, strict=True)
    return max(
        0.0 if math.isnan(a) and math.isnan(b) else math.inf if math.isnan(a) or math.isnan(b) else abs(a - b)
        for a, b in pairs
    )


# --- a number in search of its conventions -----------------------------------------------------------


@dataclass(frozen=True)
class _Target:
    text: str
    number: float
    half: float

    def meets(self, value: float) -> bool:
        return abs(value - self.number) <= self.half + CLOSE


def _target(value: float | str, top: float) -> _Target:
    said = str(value).strip()
    try:
        number = float(said)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise InputError(f"value={value!r}: give the number that was printed, like 0.71")
    decimals = len(said.partition(".")[2]) if "e" not in said.casefold() else 9
    half = 0.5 * 10.0**-decimals if decimals else 0.0
    if top <= 1 < number <= 100:  # no value of the metric, but it may be a percentage
        return _Target(f"{said}%", number / 100, (half or 0.5) / 100)
    return _Target(said, number, half)


def _search(target: _Target, plain: Way, theirs: Mapping[str, Way], bench: _Bench) -> Iterator[Match]:
    """Ways that give the number, those of tools first, then those with the fewest departures."""
    matches: dict[Way, None] = {}
    for way in [plain, *theirs.values()]:
        if way not in matches and _run_at(target, bench.values[way]) is not None:
            matches[way] = None
    options = options_of(plain)
    for count in range(1, MOST + 1):
        if len(matches) >= ENOUGH or (matches and count > 1):
            break
        ways = [w for change in changes(options, count) if (w := plain.having(change)) is not None]
        bench.add(ways)
        for way in ways:
            if _run_at(target, bench.values[way]) is not None:
                matches.setdefault(way)
    for way in list(matches)[:ENOUGH]:
        at = _run_at(target, bench.values[way])
        assert at is not None
        names = tuple(name for name, own in theirs.items() if own == way)
        yield Match(way, tuple(way.departs(plain)), names, bench.names[at], bench.values[way][at])


def _run_at(target: _Target, values: Sequence[float]) -> int | None:
    return next((i for i, value in enumerate(values) if not math.isnan(value) and target.meets(value)), None)
