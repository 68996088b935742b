"""The results of ``launches``: the list of launches, the predictors, and the chances of a new launch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from rankscope import words
from rankscope.blocks import Caution, Chart, Column, NumberText, Value, ValueRange
from rankscope.diagnostics import launches as rules
from rankscope.inference.base import Bounds
from rankscope.inference.intervals import normal
from rankscope.ledger.analysis import Combination, Relation, combination_of, share_of
from rankscope.ledger.launch import Launch, Measurement
from rankscope.show.result import Col, Result, View

FEW, UNRELIABLE, GAINED = 30, 0.6, 0.9
MOST_POINTS = 400  # of a chart with error bars
NORMAL = "rank correlations by a normal model (Spearman 6/π·asin(r/2), Kendall 2/π·asin(r))"

Estimated = tuple[float, Bounds]

# --- cells -----------------------------------------------------------------------------------------------


def _range(found: Estimated, digits: int | None = 2, sign: bool = False) -> Value:
    """Return a value with its interval for a table; None if it is unknown."""
    value, bounds = found
    if math.isnan(value):
        return None
    text = words.number(value, sign, digits)
    if bounds.known:
        text += f" ({words.interval(bounds.lower, bounds.upper, sign, digits)})"
    return ValueRange(value, bounds.lower, bounds.upper, words.in_table(text))


def _share(found: Estimated) -> Value:
    value, bounds = found
    if math.isnan(value):
        return None
    text = (
        f"{words.share(value)} ({words.share(bounds.lower)} to {words.share(bounds.upper)})"
        if bounds.known
        else words.share(value)
    )
    return ValueRange(value, bounds.lower, bounds.upper, text)


def _three(
    name: str, of: Callable[[Any], Estimated], head: str = "", cell: Callable[[Estimated], Value] = _range
) -> Col:
    """Return a column of a value and both ends of its interval."""
    return Col(
        name, f"{name}_ci_lower", f"{name}_ci_upper", of=lambda row: (of(row)[0], of(row)[1].lower, of(row)[1].upper),
        cell=lambda row: cell(of(row)), kind="value", head=head,
    )  # fmt: skip


def _number(value: float, digits: int = 2) -> Value:
    return None if math.isnan(value) else NumberText(words.in_table(words.number(value, digits=digits)), value)


def small(value: float) -> str:
    """Return a difference of any size with two digits that count, and its sign."""
    return words.number(value, sign=True, digits=words.decimals_for(abs(value)))


def evidence(bounds: Bounds, write: Callable[[float], str]) -> str:
    """Return an interval in words; empty if there is none."""
    return f"95% interval {write(bounds.lower)} to {write(bounds.upper)}" if bounds.known else "no bounded interval"


def _of_measurement(name: str) -> Callable[[Any], Any]:
    return lambda row: getattr(row[1], name)


# --- the list --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class LaunchList(Result):
    """Launches of a ledger: ``launches`` has each with its measurements."""

    ledger: str
    launches: Sequence[Launch]
    written: bool = False

    schema: ClassVar[str] = "launches/1"
    header: ClassVar[tuple[str, ...]] = ("conventions",)
    notes: ClassVar[Sequence[str]] = ()
    warnings: ClassVar[Sequence[Caution]] = ()
    views: ClassVar[tuple[View, ...]] = (
        View(
            "results",
            (
                Col("launch", of=lambda one: one.name, head="launch"),
                Col("date", of=lambda one: None if one.day is None else str(one.day), head="date"),
                Col("baseline"), Col("candidate"),
                Col("launched", of=lambda one: one.launched, head="launched", cell=lambda one: {True: "yes", False: "no", None: None}[one.launched]),
                Col(head="offline", cell=lambda one: _summary(one.of("offline")), wraps=True),
                Col(head="online", cell=lambda one: _summary(one.of("online")), wraps=True),
                Col("tags", of=lambda one: list(one.tags)), Col("notes"),
            ),
            lambda found: found.launches,
        ),
        View(
            "measurements",
            (
                Col("launch", of=lambda row: row[0].name, head="launch"),
                *(Col(name, of=_of_measurement(name)) for name in ("side", "metric", "difference", "standard_error", "better", "baseline_value", "units", "verdict", "conventions", "judgments")),
                Col("covariances", of=lambda row: dict(row[1].covariances)),
            ),
            lambda found: [(one, m) for one in found.launches for m in one.measurements],
        ),
    )  # fmt: skip

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The place of the ledger."""
        return {"ledger": self.ledger}

    def sentences(self) -> Iterator[str]:
        """Yield the numbers of launches and of launches with both sides."""
        both = sum(bool(one.of("offline") and one.of("online")) for one in self.launches)
        said = f"{words.counted(len(self.launches), 'launch')} {'written to' if self.written else 'in'} {self.ledger}"
        yield f"{said}, {words.count(both)} with differences offline and online."


def _summary(measurements: Sequence[Measurement]) -> str | None:
    several = [
        f"{m.metric} {small(m.difference)} ± {words.number(m.standard_error, digits=words.decimals_for(m.standard_error))}"
        for m in measurements[:2]
    ]
    more = [f"{len(measurements) - 2} more"] if len(measurements) > 2 else []
    return words.in_table(", ".join(several + more)) or None


# --- correlations ----------------------------------------------------------------------------------------

_PAIR = (Col("offline", head="offline"), Col("online", head="online"))


def _error(name: str, count: str, of: str, head: str) -> Col:
    return _three(name, lambda r: share_of(getattr(r.rates, count), getattr(r.rates, of)), head, _share)


CORRELATED = (
    *_PAIR,
    Col("launches", of=lambda r: r.count, head="n", kind="count"),
    Col("candidates", of=lambda r: len(r.x), kind="count"),
    Col("correlation_with_noise", of=lambda r: r.true.naive, head="naive", kind="value", cell=lambda r: _number(r.true.naive)),
    _three("correlation", lambda r: r.true.correlation(), "correlation"),
    Col("reliability_offline", "reliability_online", of=lambda r: r.true.reliability, head="reliability", kind="value",
        cell=lambda r: None if math.isnan(r.true.reliability[0]) else ", ".join(words.number(part, digits=2) for part in r.true.reliability)),
    Col("true_variance_offline_lower", "true_variance_online_lower", of=lambda r: r.true.lowest, kind="value"),
    _three("slope", lambda r: r.true.slope()),
    Col("verdict", head="verdict"),
    Col("reason", of=lambda r: r.reason),
    Col("judgments", kind="count"), Col("conventions", of=lambda r: r.mixed, kind="count"),
)  # fmt: skip
RANKS = (
    *_PAIR,
    _three("spearman", lambda r: r.true.spearman(), "Spearman"),
    _three("kendall", lambda r: r.true.kendall(), "Kendall"),
)
SIGNS = (
    *_PAIR,
    _three("same_sign", lambda r: r.agreement, "same sign", _share),
    _three("same_true_sign", lambda r: r.true.agreement(), "same true sign", _share),
    _error("type_one", "type_one", "nulls", "type I"), _error("type_two", "type_two", "decided", "type II"),
    _error("type_three", "type_three", "directed", "type III"),
    Col("nulls", "decided", "directed", of=lambda r: (r.rates.nulls, r.rates.decided, r.rates.directed), kind="count"),
)  # fmt: skip
COMBINED = (
    Col("online", head="online"),
    Col("best_metric", of=lambda c: c.chosen, head="best metric"),
    _three("best_correlation", lambda c: c.single.correlation(), "validated"),
    Col("weights", of=lambda c: dict(c.weights), head="weights", wraps=True,
        cell=lambda c: words.in_table(words.listing(f"{name} {words.number(w, sign=True, digits=words.decimals_for(abs(w)))}" for name, w in c.weights.items()))),
    _three("combined_correlation", lambda c: c.weighted.correlation(), "validated"),
    Col("launches", of=lambda c: c.count, kind="count"),
)  # fmt: skip
DRIFT = (
    *_PAIR, Col("period", head="period"), Col("launches", of=lambda row: row.relation.count, kind="count"),
    _three("correlation", lambda row: row.relation.true.correlation(), "correlation"),
    _three("slope", lambda row: row.relation.true.slope(), "slope", lambda found: _range(found, 3)),
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class LaunchCorrelations(Result):
    """Which offline metric predicts which online one, with the noise in the differences taken off.

    ``found["nDCG@10", "CTR"]`` is the ``Relation`` of two metrics. ``exit_code`` is 4 if no pair has an answer.
    """

    ledger: str
    relations: Sequence[Relation]
    mixed: bool = False

    schema: ClassVar[str] = "launch_correlations/1"
    header: ClassVar[tuple[str, ...]] = ("verdict", "conventions")
    notes: ClassVar[Sequence[str]] = ()
    shown: ClassVar[tuple[str, ...]] = ("results", "signs", "combinations", "drift")
    views: ClassVar[tuple[View, ...]] = (
        View("results", CORRELATED, lambda f: f.ordered, labels=2),
        View("ranks", RANKS, lambda f: f.ordered, "Rank correlations by a normal model", labels=2),
        View("signs", SIGNS, lambda f: f.ordered, "Signs and errors", labels=2,
            note="type I: clear offline without an effect online; II: unclear offline, clear online; III: clear in opposite directions"),
        View("combinations", COMBINED, lambda f: f.combinations, "Best metric and weighted combination", labels=1),
        View("drift", DRIFT, lambda f: f.drift, "Over time", labels=3),
    )  # fmt: skip

    def __getitem__(self, key: tuple[str, str]) -> Relation:
        found = [r for r in self.relations if (r.offline, r.online) == tuple(key)]
        if not found:
            raise KeyError(
                f"{key} was not analysed: there are {words.listing(f'{r.offline}, {r.online}' for r in self.relations)}"
            )
        return found[0]

    @property
    def exit_code(self) -> int:
        """0, or 4 if no pair of metrics has an answer."""
        return 0 if any(r.true.known for r in self.relations) else 4

    @property
    def verdict(self) -> list[str]:
        """The sentences."""
        return list(self.sentences())

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The correction for noise, and the place of the ledger."""
        return {
            "ledger": self.ledger, "level": 0.95, "corrected_for": "standard errors and covariances of both differences", "interval": "fieller",
            "rank_correlations": NORMAL, "gains": "differences in the better direction", "mixed": self.mixed,
            "rejected_candidates": "modelled: given its offline difference, an online one is as for launched candidates",
        }  # fmt: skip

    @cached_property
    def by_online(self) -> dict[str, list[Relation]]:
        """The relations of each online metric, the largest correlation first."""
        out: dict[str, list[Relation]] = {}
        for r in self.relations:
            out.setdefault(r.online, []).append(r)
        return {
            online: sorted(rs, key=lambda r: (not r.true.known, -abs(r.true.correlation()[0]) if r.true.known else 0))
            for online, rs in out.items()
        }

    @property
    def ordered(self) -> list[Relation]:
        """The relations by online metric, the largest correlation first."""
        return [r for several in self.by_online.values() for r in several]

    @cached_property
    def combinations(self) -> list[Combination]:
        """The best metric and the weighted combination for each online metric."""
        each = (combination_of([r for r in self.relations if r.online == online]) for online in self.by_online)
        return [one for one in each if one is not None and (one.single.known or one.weighted.known)]

    @cached_property
    def drift(self) -> list[SimpleNamespace]:
        """The periods of the best offline metric for each online one."""
        leading = (rs[0] for rs in self.by_online.values())
        return [
            SimpleNamespace(offline=r.offline, online=r.online, period=name, relation=part)
            for r in leading
            for name, part in r.periods
        ]

    @cached_property
    def warnings(self) -> list[Caution]:
        """Few launches, noise, selection, mixed conventions and judgments, unknown covariances."""
        out: dict[str, Caution] = {}
        for r in self.relations:
            for caution in _cautions(r):
                out.setdefault(f"{caution.code} {caution.message}", caution)
        if apart := [
            name
            for name in dict.fromkeys(n for r in self.relations for n in (r.offline, r.online))
            if name.endswith("]")
        ]:
            out["904"] = rules.ApartConventions.caution(metrics=apart)
        for c in self.combinations:
            if not c.covered:
                out["906"] = rules.ErrorsIndependent.caution(metrics=c.metrics)
            if c.few:
                out[f"907 {c.online}"] = rules.FewForCombination.caution(
                    count=c.count, metrics=len(c.metrics), online=c.online
                )
        return list(out.values())

    # -- in words -----------------------------------------------------------------------------------

    def sentences(self) -> Iterator[str]:
        """Yield per online metric the best offline metric, the worth of its gain, signs, the combination and the drift."""
        for online, relations in self.by_online.items():
            best = relations[0]
            yield from _told(best)
            unclear = [r for r in relations if r.verdict == "no clear relation"]
            if unclear and best not in unclear:
                yield f"No clear relation with {online}: {words.listing(r.offline for r in unclear)}."
            unknown = [r for r in relations[1:] if not r.true.known]
            if unknown and best.true.known:
                yield f"No answer for {online}: {words.listing(f'{r.offline} ({r.reason})' for r in unknown)}."
            yield from (
                _combined(c) for c in self.combinations if c.online == online and c.weighted.known and c.single.known
            )
            if best.change is not None:
                yield _changed(best, *best.change)

    def small_print(self) -> Iterator[str]:
        """Yield how noise was taken off."""
        yield "correlations of true differences: known errors are subtracted from the covariance, intervals by Fieller's method, one per pair"
        yield NORMAL
        rejected = sum(len(rs[0].x) - rs[0].count for rs in self.by_online.values())
        if rejected:
            yield f"{words.counted(rejected, 'candidate')} without an online result count offline"

    def charts(self) -> Iterator[Chart]:
        """The differences of the best metric for each online one with their errors, correlations side by side, and slopes over time."""
        for online, relations in self.by_online.items():
            if relations[0].count:
                yield _scatter(relations[0], f"scatter_{online}" if len(self.by_online) > 1 else "scatter")
        rows = [
            (ValueRange((found := r.true.correlation())[0], found[1].lower, found[1].upper), r.offline, r.online)
            for rs in self.by_online.values() for r in rs if r.true.known
        ]  # fmt: skip
        if rows:
            yield Chart(
                "correlations", "Correlation of true differences", "intervals", (Column("correlation", "value"), Column("offline"), Column("online")),
                tuple(rows), x="correlation", y="offline", series="online" if len(self.by_online) > 1 else "", guide="zero", limits=(-1.0, 1.0),
                caption="With the noise of both sides taken off, and 95% intervals.",
            )  # fmt: skip
        steps = [
            (row.period, f"{row.offline}, {row.online}", found)
            for row in self.drift
            if (found := row.relation.true.slope())[1].known
        ]
        if steps:
            yield Chart(
                "drift", "Slope over time", "intervals", (Column("slope", "value"), Column("period"), Column("metrics")),
                tuple((ValueRange(value, b.lower, b.upper), period, name) for period, name, (value, b) in steps),
                x="slope", y="period", series="metrics", guide="zero", caption="The change of the online metric per unit of the offline one, by period.",
            )  # fmt: skip


def _cautions(r: Relation) -> Iterator[Caution]:
    if r.count < FEW:
        yield rules.FewLaunches.caution(offline=r.offline, online=r.online, count=r.count, fewest=FEW)
    for metric, reliability in zip((r.offline, r.online), r.true.reliability, strict=True):
        if reliability < UNRELIABLE:
            yield rules.NoisyDifferences.caution(metric=metric, reliability=reliability)
    gained = float(np.mean(r.pairs.x > 0)) if len(r.x) else 0.0
    if gained >= GAINED and r.count == len(r.x) and r.count >= 3:
        yield rules.OnlyLaunched.caution(metric=r.offline, share=gained, count=r.count)
    if r.mixed > 1:
        yield rules.MixedConventions.caution(offline=r.offline, online=r.online, count=r.mixed)
    if r.judgments > 1:
        yield rules.SeveralJudgments.caution(metric=r.offline, count=r.judgments)


def _told(r: Relation) -> Iterator[str]:
    """Yield the answer for the best offline metric of an online one."""
    over = words.counted(r.count, "launch", "launches")
    if not r.true.known:
        yield f"Cannot tell if {r.offline} predicts {r.online}: {r.reason}."
        return
    value, bounds = r.true.correlation()
    how = {"predicts": "predicts", "predicts the opposite": "predicts the opposite of"}.get(r.verdict)

    def two(number: float) -> str:
        return words.number(number, digits=2)

    about = (
        f"correlation {two(value)} of true differences, {evidence(bounds, two)}; {two(r.true.naive)} with noise; {over}"
    )
    yield (
        f"{r.offline} {how} {r.online} ({about})."
        if how
        else f"No clear relation between {r.offline} and {r.online} ({about})."
    )
    slope, ends = r.true.slope()
    step = 10.0 ** math.floor(math.log10(float(np.std(r.pairs.x))))
    share = f", or {words.relative(slope * step / abs(r.baseline_value))} of its value" if r.baseline_value else ""
    yield f"{words.amount(step)} {r.offline} is worth {small(slope * step)} {r.online}{share} ({evidence(ends, lambda x: small(x * step))})."
    same, (true, inside) = r.agreement[0], r.true.agreement()
    yield f"Both have the same sign in {words.share(same)} of launches; without noise in {words.share(true)} (95% interval {words.share(inside.lower)} to {words.share(inside.upper)})."


def _combined(c: Combination) -> str:
    single, weighted = c.single.correlation()[0], c.weighted.correlation()[0]
    said = f"The best metric for {c.online}, {c.chosen}, reaches {words.number(single, digits=2)} on launches that did not choose it"
    return f"{said}; a weighted sum of {words.count(len(c.metrics))} metrics {words.number(weighted, digits=2)}."


def _changed(r: Relation, value: float, bounds: Bounds) -> str:
    clear = bounds.lower > 0 or bounds.upper < 0
    said = f"The slope of {r.online} on {r.offline} {'changed' if clear else 'shows no clear change'} from the early to the late half of launches"
    return f"{said} (by {small(value)}, {evidence(bounds, small)})."


def _scatter(r: Relation, name: str) -> Chart:
    """Return the gains of launches with 95% error bars on both axes, and the fitted line of true differences."""
    z, p = normal(0.025), r.pairs
    places = np.flatnonzero(p.both).tolist()
    kept = places[:: max(1, math.ceil(len(places) / MOST_POINTS))]
    across, up = f"{r.offline} gain offline", f"{r.online} gain online"
    rows = []
    for i in kept:
        ex, ey = z * math.sqrt(p.x_variance[i]), z * math.sqrt(p.y_variance[i])
        rows.append(
            (
                r.launches[i].name,
                ValueRange(p.x[i], p.x[i] - ex, p.x[i] + ex),
                ValueRange(p.y[i], p.y[i] - ey, p.y[i] + ey),
            )
        )
    fit = None
    if r.true.known:
        (slope, _), low, high = r.true.slope(), float(p.x[p.both].min()), float(p.x[p.both].max())
        mx, my = float(r.true.estimate[0]), float(r.true.estimate[1])
        fit = (low, my + slope * (low - mx), high, my + slope * (high - mx))
    shown = (
        ""
        if len(kept) == len(places)
        else f" {words.count(len(kept))} of {words.counted(len(places), 'launch', 'launches')} are drawn."
    )
    return Chart(
        name, f"{r.online} online by {r.offline} offline", "points", (Column("launch"), Column(across, "value"), Column(up, "value")),
        tuple(rows), x=across, y=up, fit=fit, guide="zero",
        caption=f"One point per launch with 95% intervals; the line is the relation of true differences.{shown}",
    )  # fmt: skip


# --- predictions -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class LaunchPrediction(Result):
    """The probability that a new launch wins online, by its offline differences; one row per pair of metrics."""

    ledger: str
    given: Mapping[str, tuple[float, float]]
    relations: Sequence[Relation]

    schema: ClassVar[str] = "launch_prediction/1"
    header: ClassVar[tuple[str, ...]] = ("verdict", "conventions")
    notes: ClassVar[Sequence[str]] = ()
    views: ClassVar[tuple[View, ...]] = (
        View(
            "results",
            lambda found: (
                *_PAIR,
                Col("difference", "standard_error", of=found.of, head="given", kind="value",
                    cell=lambda r: words.in_table(f"{small(found.of(r)[0])} ± {words.number(found.of(r)[1], digits=words.decimals_for(found.of(r)[1]))}")),
                _three("win_probability", lambda r: r.true.wins(*found.measured(r)), "wins online", _share),
                _three("expected", lambda r: r.true.expected(*found.measured(r)), "expected online", lambda one: _range(one, None, sign=True)),
                Col("launches", of=lambda r: r.count, head="launches", kind="count"),
                Col("reason", of=lambda r: r.reason),
            ),
            lambda found: found.relations,
            labels=2,
        ),
    )  # fmt: skip

    def of(self, r: Relation) -> tuple[float, float]:
        """Return the difference and its standard error on the offline metric of a relation."""
        return self.given[r.offline]

    def measured(self, r: Relation) -> tuple[float, float]:
        """Return the gain and the variance of its error."""
        value, error = self.given[r.offline]
        return (value if r.x[0].better == "higher" else -value), error**2

    @property
    def exit_code(self) -> int:
        """0, or 4 if no past relation is known."""
        return 0 if any(r.true.known for r in self.relations) else 4

    @property
    def verdict(self) -> list[str]:
        """The sentences."""
        return list(self.sentences())

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The place of the ledger and the model."""
        return {
            "ledger": self.ledger,
            "level": 0.95,
            "model": "true differences of past launches are normal; the new one is like them",
        }

    @cached_property
    def warnings(self) -> list[Caution]:
        """The limits of the relations that the prediction uses."""
        return list({c.message: c for r in self.relations for c in _cautions(r)}.values())

    def sentences(self) -> Iterator[str]:
        """Yield the probability per pair of metrics."""
        for r in self.relations:
            if not r.true.known:
                yield f"No answer for {r.online} by {r.offline}: {r.reason}."
                continue
            chance, bounds = r.true.wins(*self.measured(r))
            value, ends = r.true.expected(*self.measured(r))
            yield (
                f"With {small(self.of(r)[0])} {r.offline}, the launch wins on {r.online} with probability {words.share(chance)} (95% interval {words.share(bounds.lower)} "
                f"to {words.share(bounds.upper)}); expected {small(value)}, between {small(ends.lower)} and {small(ends.upper)} in 95% of launches."
            )
