"""What ``power`` gives: a plan from runs or from a deviation, or the design of a collection."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Any, Literal

from rankscope import words
from rankscope.blocks import EMPTY, Block, Caution, Chart, Column, Heading, NumberText, Paragraph, Table, Value
from rankscope.diagnostics.comparisons import NoPlan, TooFewDifferForPlan
from rankscope.diagnostics.rule import active_cautions
from rankscope.inference.power import detectable_difference
from rankscope.metrics import spelled
from rankscope.panels.method import FEWEST
from rankscope.panels.reach import PairPower, PowerGoal, Summary, Target, summary_of
from rankscope.scoring.measurements import Measurements
from rankscope.scoring.results import OfScores
from rankscope.scoring.scores import Scores
from rankscope.show.result import Col, Result, Shown, View

FORMULA = {
    "detectable_difference": "noncentral t[power], around t[1 - alpha/2], * s / sqrt(n), n - 1 degrees of freedom of s, alpha of each comparison; if s is given: (t[1 - alpha/2] + t[power]) * s / sqrt(n)",
    "queries_needed": "the smallest n for which the detectable difference is at most the wanted one",
    "power": "two-sided t test, noncentral t distribution, on average over what an estimated s may be",
    "range": "at the ends of the 95% interval of s, by the chi square distribution",
    "assumes": "queries like these, drawn at random, and differences that vary as they do here",
}
NEEDED = "for X: queries needed to detect X (current power for it)"
FEW_PAIRS = 30  # pairs that are read at one go; of more, only the summary is printed
LINES = 8  # lines of a chart that are told apart
SHARES = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)  # of the queries at hand
Kind = Literal["text", "value", "count"]
DesignKind = Literal["t", "anova", "interval"]
Line = dict[str, Value]  # a line of the printed tables: its cells by their columns
ENDS = (("median", "median", "median"), ("least", "lowest", "highest"), ("most", "highest", "lowest"))


def _of_reach(name: str, path: str = "", kind: Kind = "value") -> Col:
    """A column of a pair; what only runs have is null without them."""
    get = attrgetter(path or name)
    return Col(name, of=lambda row: get(row[0]) if row[0].run or kind == "value" else None, kind=kind)


def _of_target(name: str, path: str, kind: Kind = "count") -> Col:
    return Col(name, of=lambda row: getattr(row[1], path, None), kind=kind)


def _columns(plan: Plan) -> tuple[Col, ...]:
    return (
        *(_of_reach(name, kind="text") for name in ("run", "baseline", "metric")), _of_reach("queries", kind="count"),
        Col("planned_queries", of=lambda _: plan.goal.n, kind="count"), _of_reach("differing", kind="count"),
        _of_reach("difference"), _of_reach("deviation"), _of_reach("detectable_difference", "detectable.difference"),
        _of_reach("detectable_lower", "detectable.low"), _of_reach("detectable_upper", "detectable.high"),
        _of_target("wanted_difference", "difference", "value"), _of_target("observed", "observed", "text"),
        _of_target("queries_needed", "queries"), _of_target("queries_needed_lower", "low"),
        _of_target("queries_needed_upper", "high"), _of_target("power", "power", "value"),
        Col("reason", of=lambda row: None if row[1] else row[0].reason),
    )  # fmt: skip


SUMMARY = (
    Col("metric"), Col("pairs", "pairs_left_out", kind="count"), Col("deviation"), Col("detectable_difference"),
    Col("variance_within_runs", kind="value"), Col("wanted"),
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Plan(OfScores):
    """What difference queries can detect, and how many queries other differences need.

    ``plan["dense", "nDCG@10"]`` is what the queries can detect about a run against the baseline (with all pairs, name both runs),
    and so is ``plan["nDCG@10"]`` where there are two runs. ``summary`` holds each metric over all pairs. ``results`` is a Polars
    frame with a row a target; ``str(plan)`` is the answer in words.
    """

    reaches: Sequence[PairPower]
    goal: PowerGoal
    measurements: Measurements | None = None
    baseline: str | None = None

    schema = "power/1"
    header = ("verdict", "conventions", "inputs", "data_health")
    views = (
        View("results", _columns, lambda plan: [(r, target) for r in plan.reaches for target in r.targets or (None,)]),
        View("summary", SUMMARY, lambda plan: map(asdict, plan.summary)),
    )

    @property
    def scores(self) -> Scores | None:
        """The scores of the runs; None without runs, and where the values came as a table."""
        return self.measurements.scores if self.measurements else None

    @property
    def notes(self) -> Sequence[str]:
        """What was read, and what was passed over."""
        return self.measurements.notes if self.measurements else ()

    @property
    def metrics(self) -> list[str]:
        """The metrics, the main one first."""
        return [panel.name for panel in self.measurements.panels] if self.measurements else []

    def of(self, metric: str) -> list[PairPower]:
        """All pairs on one metric."""
        return [reach for reach in self.reaches if reach.metric == metric]

    @cached_property
    def summary(self) -> list[Summary]:
        """Each metric over all pairs: collections are designed for more than one pair."""
        panels = self.measurements.panels if self.measurements else ()
        return [one for one in (summary_of(panel, self.of(panel.name)) for panel in panels) if one]

    @cached_property
    def warnings(self) -> list[Caution]:
        """Cautions about the data, then about the plan."""
        cautions = [*super().warnings, *filter(None, map(_caution, self.reaches))]
        return active_cautions(cautions, self.measurements.ignored if self.measurements else None)

    @property
    def conventions(self) -> dict[str, Any]:
        """How rankings became values, and what is planned for."""
        measured = self.measurements
        return {
            **super().conventions, **self.goal.record(), "planned_queries": self.goal.n,
            "baseline": self.baseline, "clustered": measured is not None and measured.panels[0].clusters is not None,
            "in_words": FORMULA, **({} if measured is None else measured.ignoring()),
        }  # fmt: skip

    def __getitem__(self, key: Any) -> PairPower:
        *runs, metric = key if isinstance(key, tuple) else (key,)
        mine = self.of(str(metric)) or self.of(spelled(metric))
        fits = [r for r in mine if tuple(runs) in {(), (r.run,), (r.run, r.baseline)}]
        if len(fits) != 1:
            pairs = "; ".join(f"{r.run}, {r.baseline}, {r.metric}" for r in self.reaches[:5])
            raise KeyError(f"name the runs and the metric, like plan['run', 'metric']: there are {pairs}")
        return fits[0]

    def sentences(self) -> Iterator[str]:
        """What the queries can detect on the first metric for which something can be planned, and what more would take."""
        yield self._of_pairs(self.measurements) if self.measurements else self._of_deviation()

    def _of_pairs(self, measured: Measurements) -> str:
        first, chance = self.summary[0], f"with {words.percent(self.goal.power)} power"
        known = [reach for reach in self.of(first.metric) if not reach.reason]
        counts = {reach.queries for reach in known}
        count = words.counted(counts.pop(), "query") if len(counts) == 1 else ""
        if self.goal.n is not None:  # as many like them as are planned
            planned = words.counted(self.goal.n, "query")
            queries = f"{planned} like these {count.split()[0]}" if count else f"{planned} like these"
        else:
            queries = count or "These queries"
        size = first.detectable_difference
        low, high = next(p.measure.range for p in measured.panels if p.name == first.metric)
        about, more = words.number(size.median), self._more(first)
        if size.median > high - low:
            return (
                f"{queries} cannot detect any difference in {first.metric} {chance}: it would have to be about {about}, "
                f"and no two runs are more than {words.amount(high - low)} apart; {more}."
            )
        text = f"{queries} can detect a difference of about {about}"
        if len(known) == 1:
            (one,) = known
            ends = words.interval(one.detectable.low, one.detectable.high)
            return f"{text} ({ends}) in {first.metric} between {one.baseline} and {one.run} {chance}; {more}."
        ends = words.interval(size.lowest, size.highest)
        pairs = f"median of {words.counted(first.pairs, 'pair')} of runs; {ends}"
        return f"{text} in {first.metric} {chance} ({pairs}); {more}."

    def _more(self, first: Summary) -> str:
        beyond = [one for one in first.wanted if one.power.median < self.goal.power]
        if not beyond:
            least = first.wanted[0]
            return f"a difference of {words.amount(least.difference)} would be detected with {words.share(least.power.median)} power"
        at = beyond[-1].queries_needed
        ends = "" if at.lowest == at.highest else f" ({_about(at.lowest)} to {_about(at.highest)})"
        return f"detecting {words.amount(beyond[-1].difference)} would take about {_about(at.median)}{ends}"

    def _of_deviation(self) -> str:
        (reach,) = self.reaches
        chance = f"with {words.percent(self.goal.power)} power"
        spread = f"if differences have a standard deviation of {words.amount(reach.deviation)}."
        if self.goal.n is not None:
            queries, size = words.counted(self.goal.n, "query"), words.number(reach.detectable.difference)
            return f"{queries} can detect a difference of about {size} {chance} {spread}"
        target = reach.targets[-1]
        size, queries = words.amount(target.difference), words.counted(target.queries, "query")
        return f"Detecting a difference of {size} {chance} takes {queries} {spread}"

    def body(self, *, details: bool = False, **_: Any) -> Iterator[Sequence[Shown]]:
        """Yield the tables: of the pairs on each metric, and of all metrics."""
        if not self.measurements:
            yield [self._targets_alone()]
            return
        if len(self.of(self.metrics[0])) == 1:
            heading = Heading(f"{self.reaches[0].run} against {self.reaches[0].baseline}")
            yield [heading, *self._two_tables(["metric"], [self._line(reach) for reach in self.reaches])]
            return
        for metric in self.metrics if details else self.metrics[:1]:
            heading = Heading(f"{metric}, against {self.baseline}" if self.baseline else metric)
            mine, over = self.of(metric), [one for one in self.summary if one.metric == metric]
            ends = [line for one in over for line in self._ends(one)]
            if len(mine) > FEW_PAIRS and not details and over:
                count = words.counted(over[0].pairs, "pair")
                note = f"{self._legend()} · {NEEDED} · --details lists each pair"
                lines = [{**line, count: line["run"]} for line in ends]
                yield [heading, _table([count, "s", "detects", *self._sizes], 1, lines, note=note)]
            else:
                labels = ["run"] if self.baseline else ["run", "against"]
                yield [heading, *self._two_tables(labels, [*map(self._line, mine), *ends])]
        if len(self.metrics) > 1 and not details:
            lines = [self._ends(one)[0] for one in self.summary]
            table = _table(["metric", "pairs", "s", "detects", *self._sizes], 1, lines, note=NEEDED, turns=True)
            yield [Heading("all metrics, the median over pairs of runs"), table]

    def _two_tables(self, labels: list[str], lines: Sequence[Line]) -> Iterator[Block]:
        columns = [*labels, "queries", "s", "detects", "range", "observed"]
        note = f"{self._legend()} · range: at the ends of the 95% interval of s"
        yield _table(columns, len(labels), lines, note=note)
        have = "current power" if self.goal.n is None else f"power of {words.counted(self.goal.n, 'such query')}"
        yield EMPTY
        yield Paragraph(f"queries needed to detect a difference of (in brackets: {have} for it)")
        observed = ["for observed"] if any(reach.observed_target for reach in self.reaches) else []
        yield _table([*labels, *self._sizes, *observed], len(labels), lines, turns=True, without="for ")

    @cached_property
    def _sizes(self) -> list[str]:
        known = next(reach for reach in self.reaches if not reach.reason)
        return [f"for {words.amount(target.difference)}" for target in known.chosen_targets]

    def _line(self, reach: PairPower) -> Line:
        can, seen = reach.detectable, reach.observed_target
        needs = (_need(target.queries, target.power or 0.0) for target in reach.chosen_targets)
        return {
            "metric": reach.metric, "run": reach.run, "against": reach.baseline,
            "queries": words.count(reach.queries), "s": _number(reach.deviation), "detects": _number(can.difference),
            "range": None if reach.reason else words.in_table(words.interval(can.low, can.high)),
            "observed": NumberText(words.number(reach.difference, sign=True), reach.difference), **dict.fromkeys(self._sizes),
            **dict(zip(self._sizes, needs, strict=False)), "for observed": _range_of(seen) if seen else None,
        }  # fmt: skip

    def _ends(self, over: Summary) -> list[Line]:
        each = list(zip(self._sizes, over.wanted, strict=True))
        return [
            {
                "metric": over.metric, "pairs": words.count(over.pairs), "run": name,
                "s": _number(getattr(over.deviation, end)),
                "detects": _number(getattr(over.detectable_difference, end)),
                **{size: _need(getattr(x.queries_needed, end), getattr(x.power, other)) for size, x in each},
            }
            for name, end, other in ENDS
        ]  # fmt: skip

    def _targets_alone(self) -> Table:
        heads = ["difference", "queries needed"]
        heads += [] if self.goal.n is None else [f"power of {words.count(self.goal.n)}"]
        rows = (
            (words.amount(t.difference), NumberText(words.count(t.queries), t.queries), None if t.power is None else NumberText(words.share(t.power), t.power))
            for t in self.reaches[0].targets
        )  # fmt: skip
        return _table(heads, 1, [dict(zip(heads, row, strict=False)) for row in rows])

    def _legend(self) -> str:
        queries = "these queries" if self.goal.n is None else words.counted(self.goal.n, "such query")
        power = words.percent(self.goal.power)
        return f"s: standard deviation of the differences · detects: the difference that {queries} detect with {power} power"

    def small_print(self) -> Iterator[str]:
        """Yield the formula and what it assumes."""
        if self.measurements:
            yield "for queries like these, drawn at random"
        times = (
            "noncentral t[power] around t[1 - alpha/2], times" if self.measurements else "(t[1 - alpha/2] + t[power])"
        )
        yield f"paired t test, two-sided: {times} s / sqrt(n)"
        yield _level(self.goal)
        if not self.measurements:
            return
        clusters = self.measurements.panels[0].clusters
        if clusters is not None:
            yield f"queries in {words.counted(int(clusters.max()) + 1, 'cluster')}. The plan is for more clusters like these"
        if any(reach.observed_target for reach in self.reaches):
            yield "the observed difference is uncertain itself: plan for the smallest that would matter"
        if self.scores:
            yield self.scores.request.small_print()

    def charts(self) -> Iterator[Chart]:
        """What more queries would detect, pair by pair on the first metric; clusters are planned by another count, and have no chart."""
        metric, each, power = self.reaches[0].metric, self.goal.each, self.goal.power
        rows = []
        for reach in self.reaches[:LINES]:
            if reach.metric != metric or reach.queries < FEWEST or not reach.deviation > 0:
                continue
            pilot = reach.queries - 1
            now = detectable_difference(reach.queries, reach.deviation, power, each, pilot)
            if self.goal.n is None and not math.isclose(now, reach.detectable.difference):
                continue
            for n in (max(round(reach.queries * share), 2) for share in SHARES):
                size = detectable_difference(n, reach.deviation, power, each, pilot)
                rows.append((n, size, f"{reach.run} against {reach.baseline}"))
        if rows:
            columns = (Column("queries", "count"), Column("smallest difference", "value"), Column("pair"))
            yield Chart(
                "power", f"Differences that more queries could detect in {metric}", "lines", columns, tuple(rows),
                x="queries", y="smallest difference", series="pair", logs=frozenset({"x"}),
                caption=f"The smallest difference that is detected with {words.percent(power)} power, if differences vary as they do now.",
            )  # fmt: skip


def _caution(reach: PairPower) -> Caution | None:
    if reach.reason:
        return NoPlan.caution(reason=reach.reason)
    named = {name: getattr(reach, name) for name in ("run", "baseline", "metric", "differing", "queries")}
    return TooFewDifferForPlan.caution(**named, fewest=FEWEST) if 0 < reach.differing < FEWEST else None


def _table(
    heads: Sequence[str], labels: int, lines: Sequence[Line], note: str = "", turns: bool = False, without: str = ""
) -> Table:
    """Lines by the columns that they have; the heads are printed without a beginning."""
    columns = (Column(head.removeprefix(without), "value" if i >= labels else "text") for i, head in enumerate(heads))
    cells = (tuple(line.get(head, "") for head in heads) for line in lines)
    return Table(tuple(columns), tuple(cells), labels=labels, note=note, turns=turns)


def _need(queries: float, power: float) -> str:
    return f"{_about(queries)} ({words.share(power)})"


def _number(value: float) -> Value:
    return None if math.isnan(value) else NumberText(words.number(value), value)


def _range_of(target: Target) -> str:
    """The queries that a target needs, at the ends of the interval of the standard deviation."""
    if target.low is None or target.high is None:
        return _about(target.queries)
    return f"{_about(target.low)} to {_about(target.high)}"


def _about(queries: float) -> str:
    return words.rounded(math.ceil(queries))


VARIANCE_OF: dict[DesignKind, str] = {
    "t": "of the differences of two systems",
    "anova": "of topics within a system",
    "interval": "of the differences of two systems",
}


@dataclass(frozen=True, eq=False, repr=False)
class Design(Result):
    """How many topics each difference (for "interval": each width) needs: ``sizes`` holds both, the smallest difference first."""

    kind: DesignKind
    variance: float
    systems: int | None
    sizes: tuple[tuple[float, int], ...]
    goal: PowerGoal

    schema = "power/1"
    header = ("verdict", "conventions")
    views = (View("results", lambda design: design.columns(), lambda design: design.sizes),)

    @property
    def conventions(self) -> dict[str, Any]:
        """What is planned for."""
        return self.goal.record()

    def columns(self) -> Iterator[Col]:
        """The columns; a row is a size and its number of topics."""
        interval = self.kind == "interval"
        yield Col("design", of=lambda _: self.kind)
        yield Col("systems", of=lambda _: self.systems, kind="count")
        yield Col("variance", of=lambda _: self.variance, kind="value")
        size: dict[str, Any] = {"of": itemgetter(0), "cell": lambda row: words.amount(row[0])}
        for name in ("difference", "width"):
            mine = (name == "width") == interval
            yield Col(name, kind="value", **({**size, "head": name} if mine else {"of": lambda _: None}))
        yield Col("topics", of=itemgetter(1), head="topics", kind="count")
        yield Col("power", of=lambda _: None if interval else self.goal.power, kind="value")
        yield Col("alpha", of=lambda _: self.goal.alpha, kind="value")
        yield Col("comparisons", of=lambda _: self.goal.comparisons, kind="count")

    def sentences(self) -> Iterator[str]:
        """Yield the number of topics."""
        size, topics = words.amount(self.sizes[-1][0]), words.counted(self.sizes[-1][1], "topic")
        chance = f"with {words.percent(self.goal.power)} power"
        if self.kind == "interval":
            level = words.percent(1 - self.goal.each)
            yield f"With {topics}, the {level} interval of a difference is expected to be at most {size} wide."
        elif self.kind == "t":
            yield f"With {topics}, a paired t test detects a true difference of {size} between two systems {chance}."
        else:
            yield (
                f"With {topics}, an analysis of variance detects that {self.systems} systems differ {chance}, if the best and the "
                f"worst are {size} apart."
            )

    def body(self, **_: Any) -> Iterator[Sequence[Shown]]:
        """Yield the table, if there are several sizes."""
        if len(self.sizes) > 1:
            yield [self.table()]

    def small_print(self) -> Iterator[str]:
        """Yield the assumptions."""
        yield f"variance {VARIANCE_OF[self.kind]}: {words.amount(self.variance)}"
        yield _level(self.goal)
        yield {
            "t": "paired two-sided t test, noncentral t distribution",
            "anova": "one-way analysis of variance, noncentral F distribution, the other systems halfway between",
            "interval": "t interval, its width from end to end. Half of the intervals will be wider",
        }[self.kind]
        yield "after Sakai, Topic set size design, 2016"


def _level(goal: PowerGoal) -> str:
    if goal.comparisons == 1:
        return f"alpha {words.amount(goal.alpha)} for one comparison (--comparisons M plans for M)"
    return f"alpha {words.amount(goal.alpha)} over {words.count(goal.comparisons)} comparisons: {words.number(goal.each)} for each"
