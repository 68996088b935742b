"""What ``power`` gives: a plan from runs or from a deviation, or the design of a collection."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Literal

from rankscope import words
from rankscope.blocks import EMPTY, Block, Caution, Chart, Column, Heading, Paragraph, Table, Value, Written
from rankscope.inference.power import detectable_difference
from rankscope.panels.method import FEWEST
from rankscope.panels.reach import Aim, Middle, Reach, Summary, Target, summary_of
from rankscope.scoring.measurements import Measurements
from rankscope.show.result import Col, Result, Shown, View, caution_block, input_record

if TYPE_CHECKING:
    import polars as pl

FORMULA = {
    "detectable_difference": "(t[1 - alpha/2] + t[power]) * s / sqrt(n), t with n - 1 degrees of freedom; alpha of each comparison",
    "queries_needed": "the smallest n for which the detectable difference is at most the wanted one",
    "power": "two-sided t test, noncentral t distribution",
    "range": "at the ends of the 95% interval of s, by the chi square distribution",
    "assumes": "queries like these, drawn at random, and differences that vary as they do here",
}
NEEDED = "for X: queries needed to detect X (current power for it)"
FEW_PAIRS = 30  # pairs that are read at one go; of more, only the summary is printed
LINES = 8  # lines of a chart that are told apart
SHARES = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)  # of the queries at hand
Kind = Literal["text", "value", "count"]
DesignKind = Literal["t", "anova", "interval"]
Line = dict[str, Value]  # a line of the tables: its cells by their columns
ENDS = (("median", "median", "median"), ("least", "low", "high"), ("most", "high", "low"))


@dataclass(frozen=True)
class _Row:
    """A target of a reach; none where nothing can be planned."""

    reach: Reach
    target: Target | None


def _of_reach(name: str, attribute: str = "", kind: Kind = "value") -> Col:
    return Col(name, of=attrgetter(f"reach.{attribute or name}"), kind=kind)


def _of_target(name: str, attribute: str, kind: Kind = "count") -> Col:
    return Col(name, of=lambda row: getattr(row.target, attribute, None), kind=kind)


def _of_runs(name: str, kind: Kind = "count") -> Col:
    return Col(name, of=lambda row: getattr(row.reach, name) if row.reach.run else None, kind=kind)


def _columns(plan: Plan) -> tuple[Col, ...]:
    return (
        *(_of_runs(name, "text") for name in ("run", "baseline", "metric")),
        _of_runs("queries"),
        Col("planned_queries", of=lambda _: plan.aim.n, kind="count"),
        _of_runs("differing"),
        _of_reach("difference"),
        _of_reach("deviation"),
        _of_reach("detectable_difference", "detectable.difference"),
        _of_reach("detectable_lower", "detectable.low"),
        _of_reach("detectable_upper", "detectable.high"),
        _of_target("wanted_difference", "difference", "value"),
        _of_target("observed", "observed", "text"),
        _of_target("queries_needed", "queries"),
        _of_target("queries_needed_lower", "low"),
        _of_target("queries_needed_upper", "high"),
        _of_target("power", "power", "value"),
        Col("reason", of=lambda row: None if row.target else row.reach.reason),
    )


def _ends_of(middle: Middle) -> dict[str, float]:
    return {"median": middle.median, "lowest": middle.low, "highest": middle.high}


def _targets_of(summary: Summary) -> list[dict[str, Any]]:
    each = zip(summary.differences, summary.queries, summary.power, strict=True)
    return [{"difference": x, "queries_needed": _ends_of(n), "power": _ends_of(p)} for x, n, p in each]


SUMMARY = (
    Col("metric"),
    Col("pairs", kind="count"),
    Col("pairs_left_out", of=attrgetter("left_out"), kind="count"),
    Col("deviation", of=lambda one: _ends_of(one.deviation)),
    Col("detectable_difference", of=lambda one: _ends_of(one.detectable)),
    Col("variance_within_runs", of=attrgetter("variance_within"), kind="value"),
    Col("wanted", of=_targets_of),
)


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """What difference queries can detect, and how many queries other differences need.

    ``plan["dense", "nDCG@10"]`` is what the queries can detect about a run against the baseline (with all pairs, name both runs),
    and so is ``plan["nDCG@10"]`` where there are two runs. ``summary`` holds each metric over all pairs. ``results`` is a Polars
    frame with a row a target; ``str(plan)`` is the answer in words.
    """

    reaches: Sequence[Reach]
    aim: Aim
    measurements: Measurements | None = None
    baseline: str | None = None

    schema = "power/1"
    views = (
        View("results", _columns, lambda plan: plan.pairs_and_targets()),
        View("summary", SUMMARY, lambda plan: plan.summary),
    )

    def pairs_and_targets(self) -> Iterator[_Row]:
        """Every pair of runs with each of its targets."""
        return (_Row(reach, target) for reach in self.reaches for target in reach.targets or (None,))

    @property
    def notes(self) -> Sequence[str]:
        """What was read, and what was passed over."""
        return self.measurements.notes if self.measurements else ()

    @property
    def metrics(self) -> list[str]:
        """The metrics, the main one first."""
        return [panel.name for panel in self.measurements.panels] if self.measurements else []

    def of(self, metric: str) -> list[Reach]:
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
        scores = self.measurements.scores if self.measurements else None
        return [*(scores.warnings if scores else []), *filter(None, map(_caution, self.reaches))]

    @property
    def conventions(self) -> dict[str, Any]:
        """How rankings became values, and what is planned for."""
        measured = self.measurements
        return {
            **(measured.scores.conventions if measured and measured.scores else {}),
            **_aim_record(self.aim),
            "planned_queries": self.aim.n,
            "baseline": self.baseline,
            "clustered": measured is not None and measured.panels[0].clusters is not None,
            "in_words": FORMULA,
        }

    def facts(self) -> dict[str, Any]:
        """The answer in words, what it assumes, and what it was made from."""
        scores = self.measurements.scores if self.measurements else None
        return {
            "verdict": list(self.sentences()),
            "conventions": self.conventions,
            "inputs": [input_record(source) for source in scores.inputs] if scores else [],
            "data_health": scores.data_health if scores else {},
        }

    def __getitem__(self, key: Any) -> Reach:
        *runs, metric = key if isinstance(key, tuple) else (key,)
        fits = [r for r in self.of(str(metric)) if tuple(runs) in {(), (r.run,), (r.run, r.baseline)}]
        if len(fits) != 1:
            pairs = "; ".join(f"{r.run}, {r.baseline}, {r.metric}" for r in self.reaches[:5])
            raise KeyError(f"name the runs and the metric, like plan['run', 'metric']: there are {pairs}")
        return fits[0]

    @property
    def results(self) -> pl.DataFrame:
        """One row a target, with the columns that the command line writes as CSV."""
        return self.to_polars()

    # -- in words ---------------------------------------------------------------------------------------

    def sentences(self) -> Iterator[str]:
        """What the queries can detect on the first metric for which something can be planned, and what more would take."""
        yield self._of_pairs() if self.measurements else self._of_deviation()

    def _of_pairs(self) -> str:
        first, chance = self.summary[0], f"with {words.percent(self.aim.power)} power"
        known = [reach for reach in self.of(first.metric) if not reach.reason]
        queries = self._queries_at_hand({reach.queries for reach in known})
        size, apart = first.detectable.median, self._widest(first.metric)
        if size > apart:
            return (
                f"{queries} cannot detect any difference in {first.metric} {chance}: it would have to be about {words.number(size)}, "
                f"and no two runs are more than {words.amount(apart)} apart; {self._more(first)}."
            )
        text = f"{queries} can detect a difference of about {words.number(size)}"
        if len(known) == 1:
            one = known[0]
            ends = words.interval(one.detectable.low, one.detectable.high)
            return (
                f"{text} ({ends}) in {first.metric} between {one.baseline} and {one.run} {chance}; {self._more(first)}."
            )
        ends = words.interval(first.detectable.low, first.detectable.high)
        pairs = f"median of {words.counted(first.pairs, 'pair')} of runs; {ends}"
        return f"{text} in {first.metric} {chance} ({pairs}); {self._more(first)}."

    def _queries_at_hand(self, counts: set[int]) -> str:
        """What detects a difference: the queries of the pairs, or as many like them as are planned."""
        count = next(iter(counts)) if len(counts) == 1 else None
        if self.aim.n is not None:
            return f"{_queries(self.aim.n)} like these" + (f" {words.count(count)}" if count else "")
        return _queries(count) if count else "These queries"

    def _widest(self, metric: str) -> float:
        """How far apart two runs can be."""
        assert self.measurements is not None
        low, high = next(panel.bounds for panel in self.measurements.panels if panel.name == metric)
        return high - low

    def _more(self, first: Summary) -> str:
        """The largest difference that is out of reach, or else the smallest, which is within."""
        beyond = [i for i, share in enumerate(first.power) if share.median < self.aim.power]
        if not beyond:
            return f"a difference of {words.amount(first.differences[0])} would be detected with {words.share(first.power[0].median)} power"
        at = first.queries[beyond[-1]]
        ends = "" if at.low == at.high else f" ({_about(at.low)} to {_about(at.high)})"
        return f"detecting {words.amount(first.differences[beyond[-1]])} would take about {_about(at.median)}{ends}"

    def _of_deviation(self) -> str:
        reach = self.reaches[0]
        spread = f"if differences have a standard deviation of {words.amount(reach.deviation)}"
        chance = f"with {words.percent(self.aim.power)} power"
        if self.aim.n is not None:
            size = words.number(reach.detectable.difference)
            return f"{_queries(self.aim.n)} can detect a difference of about {size} {chance} {spread}."
        target = reach.targets[-1]
        return f"Detecting a difference of {words.amount(target.difference)} {chance} takes {_queries(target.queries)} {spread}."

    # -- as printed -------------------------------------------------------------------------------------

    def blocks(self, *, details: bool = False, **_: Any) -> list[Shown]:
        """The answer, the tables, the cautions, and the formula with what it assumes."""
        small = Paragraph(" · ".join(self._small_print()), quiet=True)
        answer = map(Paragraph, self.sentences())
        return [*answer, *self._tables(details), EMPTY, *caution_block(self.warnings), small]

    def _tables(self, details: bool) -> Iterator[Block]:
        yield EMPTY
        if not self.measurements:
            yield self._targets_alone()
        elif len(self.of(self.metrics[0])) == 1:
            yield Heading(f"{self.reaches[0].run} against {self.reaches[0].baseline}")
            yield from self._two_tables(1, [self._line(r, metric=r.metric) for r in self.reaches])
        else:
            for i, metric in enumerate(self.metrics if details else self.metrics[:1]):
                yield from [EMPTY] if i else []
                yield from self._of_metric(metric, details)
            if len(self.metrics) > 1 and not details:
                yield from (EMPTY, Heading("all metrics, the median over pairs of runs"))
                heads = ["metric", "pairs", "s", "detects", *self._sizes]
                lines = [
                    {**self._ends(one)[0], "metric": one.metric, "pairs": words.count(one.pairs)}
                    for one in self.summary
                ]
                yield _table(heads, 1, lines, note=NEEDED, turns=True)

    def _of_metric(self, metric: str, details: bool) -> Iterator[Block]:
        yield Heading(f"{metric}, against {self.baseline}" if self.baseline else metric)
        mine = self.of(metric)
        over = next((one for one in self.summary if one.metric == metric), None)
        if len(mine) > FEW_PAIRS and not details and over is not None:
            count = words.counted(over.pairs, "pair")
            lines = [{**line, count: line["run"]} for line in self._ends(over)]
            note = f"{self._legend()} · {NEEDED} · --details lists each pair"
            yield _table([count, "s", "detects", *self._sizes], 1, lines, note=note)
        elif self.baseline:
            lines = [self._line(reach, run=reach.run) for reach in mine]
            yield from self._two_tables(1, lines + self._ends(over))
        else:
            lines = [self._line(reach, run=reach.run, against=reach.baseline) for reach in mine]
            yield from self._two_tables(2, lines + self._ends(over))

    def _two_tables(self, labels: int, lines: Sequence[Line]) -> Iterator[Block]:
        """What the queries can detect, and what other differences take."""
        names = list(lines[0])[:labels]
        columns = [*names, "queries", "s", "detects", "range", "observed"]
        yield _table(columns, labels, lines, note=f"{self._legend()} · range: at the ends of the 95% interval of s")
        have = "current power" if self.aim.n is None else f"power of {words.counted(self.aim.n, 'such query')}"
        yield EMPTY
        yield Paragraph(f"queries needed to detect a difference of (in brackets: {have} for it)")
        observed = ["for observed"] if any(reach.observed for reach in self.reaches) else []
        yield _table([*names, *self._sizes, *observed], labels, lines, turns=True, without="for ")

    @cached_property
    def _sizes(self) -> list[str]:
        """The columns of the chosen targets."""
        known = next(reach for reach in self.reaches if not reach.reason)
        return [f"for {words.amount(target.difference)}" for target in known.chosen]

    def _line(self, reach: Reach, **labels: Value) -> Line:
        """A pair of runs on a metric, by the columns of the tables."""
        can, seen = reach.detectable, reach.observed
        needs = (_need(target.queries, target.power or 0.0) for target in reach.chosen)
        return {
            **labels,
            "queries": words.count(reach.queries),
            "s": _number(reach.deviation),
            "detects": _number(can.difference),
            "range": None if reach.reason else words.in_table(words.interval(can.low, can.high)),
            "observed": Written(words.signed(reach.difference), reach.difference),
            **dict.fromkeys(self._sizes),
            **dict(zip(self._sizes, needs, strict=False)),
            "for observed": _about(seen.queries) if seen else None,
        }

    def _ends(self, over: Summary | None) -> list[Line]:
        """The median over pairs and the ends of their range; the pair that needs fewest has the most power."""
        return [
            {
                "run": name,
                "s": _number(getattr(over.deviation, end)),
                "detects": _number(getattr(over.detectable, end)),
                **{
                    size: _need(getattr(queries, end), getattr(power, other))
                    for size, queries, power in zip(self._sizes, over.queries, over.power, strict=True)
                },
            }
            for name, end, other in ENDS
            if over is not None
        ]

    def _targets_alone(self) -> Table:
        """Differences as rows, where the deviation was given."""
        columns = [Column("difference"), Column("queries needed", "count")]
        if self.aim.n is not None:
            columns.append(Column(f"power of {words.count(self.aim.n)}", "value"))
        rows = [
            (words.amount(t.difference), t.queries, *([] if t.power is None else [_share(t.power)]))
            for t in self.reaches[0].targets
        ]
        return Table(tuple(columns), tuple(rows))

    def _legend(self) -> str:
        queries = "these queries" if self.aim.n is None else words.counted(self.aim.n, "such query")
        power = words.percent(self.aim.power)
        return f"s: standard deviation of the differences · detects: what {queries} detect with {power} power"

    def _small_print(self) -> Iterator[str]:
        if self.measurements:
            yield "for queries like these, drawn at random"
        yield "paired t test, two-sided: (t[1 - alpha/2] + t[power]) s / sqrt(n)"
        yield _level(self.aim)
        if not self.measurements:
            return
        clusters = self.measurements.panels[0].clusters
        if clusters is not None:
            yield f"queries in {words.counted(int(clusters.max()) + 1, 'cluster')}; more such clusters are planned for"
        if any(reach.observed for reach in self.reaches):
            yield "the observed difference is uncertain itself: plan for the smallest that would matter"
        if self.measurements.scores is not None:
            yield self.measurements.scores.request.small_print()

    def charts(self) -> Iterator[Chart]:
        """What more queries would detect, pair by pair on the first metric; clusters are planned by another count, and have no chart."""
        metric, each, power = self.reaches[0].metric, self.aim.each, self.aim.power
        rows = []
        for reach in self.reaches[:LINES]:
            if reach.metric != metric or reach.queries < FEWEST or not reach.deviation > 0:
                continue
            now = detectable_difference(reach.queries, reach.deviation, power, each)
            if self.aim.n is None and not math.isclose(now, reach.detectable.difference):
                continue
            for n in (max(round(reach.queries * share), 2) for share in SHARES):
                size = detectable_difference(n, reach.deviation, power, each)
                rows.append((n, size, f"{reach.run} against {reach.baseline}"))
        if not rows:
            return
        columns = (Column("queries", "count"), Column("smallest difference", "value"), Column("pair"))
        yield Chart(
            "power",
            f"What more queries could detect in {metric}",
            "lines",
            columns,
            tuple(rows),
            x="queries",
            y="smallest difference",
            series="pair",
            logs=frozenset({"x"}),
            caption=f"The smallest difference that is detected with {words.percent(power)} power, if differences vary as they do now.",
        )


def _caution(reach: Reach) -> Caution | None:
    if reach.reason:
        return Caution("RS408", reach.reason, "leave the pair out of the plan, or judge more queries")
    if not 0 < reach.differing < FEWEST:
        return None
    return Caution(
        "RS405",
        f"{reach.run} and {reach.baseline} differ on {reach.differing} of {words.counted(reach.queries, 'query')} on {reach.metric}; "
        f"fewer than {FEWEST} tell little about how differences vary",
        "treat the numbers as rough, or plan with runs that differ more",
    )


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
    return None if math.isnan(value) else Written(words.number(value), value)


def _share(value: float) -> Value:
    return Written(words.share(value), value)


def _about(queries: float) -> str:
    return words.rounded(math.ceil(queries))


def _queries(number: int) -> str:
    return words.counted(number, "query")


# --- designs ---------------------------------------------------------------------------------------------

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
    aim: Aim

    schema = "power/1"
    views = (View("results", lambda design: tuple(design.columns()), lambda design: design.sizes),)

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
        yield Col("power", of=lambda _: None if interval else self.aim.power, kind="value")
        yield Col("alpha", of=lambda _: self.aim.alpha, kind="value")
        yield Col("comparisons", of=lambda _: self.aim.comparisons, kind="count")

    @property
    def notes(self) -> Sequence[str]:
        """Nothing was read."""
        return ()

    @property
    def warnings(self) -> Sequence[Caution]:
        """None: all rests on the variance."""
        return ()

    @property
    def conventions(self) -> dict[str, Any]:
        """What is planned for."""
        return _aim_record(self.aim)

    def facts(self) -> dict[str, Any]:
        """The answer in words, and what is planned for."""
        return {"verdict": list(self.sentences()), "conventions": self.conventions}

    def sentences(self) -> Iterator[str]:
        """How many topics it takes."""
        size, topics = words.amount(self.sizes[-1][0]), words.counted(self.sizes[-1][1], "topic")
        chance = f"with {words.percent(self.aim.power)} power"
        if self.kind == "interval":
            level = words.percent(1 - self.aim.each)
            yield f"With {topics}, the {level} interval of a difference is expected to be at most {size} wide."
        elif self.kind == "t":
            yield f"With {topics}, a paired t test detects a true difference of {size} between two systems {chance}."
        else:
            yield (
                f"With {topics}, an analysis of variance detects that {self.systems} systems differ {chance}, if the best and the "
                f"worst are {size} apart."
            )

    def blocks(self, **_: Any) -> list[Shown]:
        """The answer, a table where there are several sizes, and what was assumed."""
        table: list[Shown] = [EMPTY, self.table()] if len(self.sizes) > 1 else []
        small = Paragraph(" · ".join(self._small_print()), quiet=True)
        return [*map(Paragraph, self.sentences()), *table, EMPTY, small]

    def _small_print(self) -> Iterator[str]:
        yield f"variance {VARIANCE_OF[self.kind]}: {words.amount(self.variance)}"
        yield _level(self.aim)
        yield {
            "t": "paired two-sided t test, noncentral t distribution",
            "anova": "one-way analysis of variance, noncentral F distribution, the other systems halfway between",
            "interval": "t interval, its width from end to end; half of the intervals will be wider",
        }[self.kind]
        yield "after Sakai, Topic set size design, 2016"


def _aim_record(aim: Aim) -> dict[str, Any]:
    return {"power": aim.power, "alpha": aim.alpha, "comparisons": aim.comparisons, "alpha_of_each": aim.each}


def _level(aim: Aim) -> str:
    """Alpha, and over how many comparisons it holds."""
    if aim.comparisons == 1:
        return f"alpha {words.amount(aim.alpha)} for one comparison (--comparisons M plans for M)"
    return f"alpha {words.amount(aim.alpha)} over {words.count(aim.comparisons)} comparisons: {aim.each:.2g} for each"


__all__ = ["VARIANCE_OF", "Design", "DesignKind", "Plan"]
