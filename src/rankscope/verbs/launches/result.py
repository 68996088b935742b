"""The results of ``launches``: the list of launches, the predictors, and the chances of a new launch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
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
LAUNCHED = {True: "yes", False: "no", None: None}
HOW = {"predicts": "predicts", "predicts the opposite": "predicts the opposite of"}

Estimated = tuple[float, Bounds]

# --- numbers and intervals as text -----------------------------------------------------------------------


def _two(value: float) -> str:
    return words.number(value, digits=2)


def _small(value: float, size: float = 0.0) -> str:
    """Return a difference of any size with its sign, and the decimals that show two digits of ``size``, or of itself."""
    return words.number(value, sign=True, digits=words.decimals_for(size or abs(value)))


def _alike(*values: float) -> Callable[[float], str]:
    """Return a function that writes a value and the ends of its interval with the decimals of the largest."""
    return partial(_small, size=max((abs(value) for value in values if math.isfinite(value)), default=0.0))


def _measured(difference: float, error: float) -> str:
    return f"{_small(difference, error)} ± {words.number(error, digits=words.decimals_for(error))}"


def _evidence(bounds: Bounds, write: Callable[[float], str]) -> str:
    """Return an interval in words."""
    return f"95% interval {write(bounds.lower)} to {write(bounds.upper)}" if bounds.known else "no bounded interval"


def _three(
    name: str, of: Callable[[Any], Estimated], head: str = "", write: Callable[[float], str] | None = _two
) -> Col:
    """Return a column of a value and both ends of its interval; without ``write`` they have the decimals of the largest."""

    def cell(row: Any) -> Value:
        value, ends = of(row)
        if math.isnan(value):
            return None
        form = write or _alike(value, *ends.ends)
        text = form(value) + (f" ({form(ends.lower)} to {form(ends.upper)})" if ends.known else "")
        return ValueRange(value, ends.lower, ends.upper, words.in_table(text))

    return Col(
        name, f"{name}_ci_lower", f"{name}_ci_upper", of=lambda row: (of(row)[0], *of(row)[1].ends),
        cell=cell, kind="value", head=head,
    )  # fmt: skip


# --- the list --------------------------------------------------------------------------------------------


def _summary(measurements: Sequence[Measurement]) -> str | None:
    several = [f"{m.metric} {_measured(m.difference, m.standard_error)}" for m in measurements[:2]]
    more = [f"{len(measurements) - 2} more"] if len(measurements) > 2 else []
    return words.in_table(", ".join(several + more)) or None


def _of_measurement(name: str) -> Col:
    return Col(name, of=lambda row: getattr(row[1], name))


@dataclass(frozen=True, eq=False, repr=False)
class LaunchList(Result):
    """Launches of a ledger: ``launches`` has each with its measurements."""

    ledger: str
    launches: Sequence[Launch]
    written: bool = False

    schema: ClassVar[str] = "launches/1"
    views: ClassVar[tuple[View, ...]] = (
        View(
            "results",
            (
                Col("launch", of=lambda one: one.name, head="launch"),
                Col("date", of=lambda one: None if one.day is None else str(one.day), head="date"),
                Col("baseline"), Col("candidate"),
                Col("launched", head="launched", cell=lambda one: LAUNCHED[one.launched]),
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
                *map(_of_measurement, ("side", "metric", "difference", "standard_error", "better", "baseline_value", "units", "verdict", "conventions", "judgments", "covariances")),
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


class _OfRelations(Result):
    """A result from relations of metrics over past launches."""

    relations: Sequence[Relation]

    header: ClassVar[tuple[str, ...]] = ("verdict", "conventions")

    @property
    def exit_code(self) -> int:
        """0, or 4 if no pair of metrics has an answer."""
        return 0 if any(r.true.known for r in self.relations) else 4


# --- correlations ----------------------------------------------------------------------------------------


def _error(name: str, count: str, of: str, head: str) -> Col:
    return _three(name, lambda r: share_of(getattr(r.rates, count), getattr(r.rates, of)), head, words.share)


def _reliability(r: Relation) -> str | None:
    return None if math.isnan(r.true.reliability[0]) else ", ".join(map(_two, r.true.reliability))


def _weights(c: Combination) -> str:
    return words.in_table(words.listing(f"{name} {_small(weight)}" for name, weight in c.weights.items()))


_PAIR = (Col("offline", head="offline"), Col("online", head="online"))
_CORRELATION = _three("correlation", lambda r: r.true.correlation(), "correlation")
CORRELATED = (
    *_PAIR,
    Col("launches", of=lambda r: r.count, head="n", kind="count"),
    Col("candidates", of=lambda r: len(r.x), kind="count"),
    Col("correlation_with_noise", of=lambda r: r.true.naive, head="naive", kind="value",
        cell=lambda r: None if math.isnan(r.true.naive) else NumberText(words.in_table(_two(r.true.naive)), r.true.naive)),
    _CORRELATION,
    Col("reliability_offline", "reliability_online", of=lambda r: r.true.reliability, head="reliability", kind="value", cell=_reliability),
    Col("true_variance_offline_lower", "true_variance_online_lower", of=lambda r: r.true.lowest, kind="value"),
    _three("slope", lambda r: r.true.slope()),
    Col("verdict", head="verdict"), Col("reason"), Col("judgments", kind="count"), Col("conventions", of=lambda r: r.mixed, kind="count"),
)  # fmt: skip
RANKS = (
    *_PAIR,
    _three("spearman", lambda r: r.true.spearman(), "Spearman"),
    _three("kendall", lambda r: r.true.kendall(), "Kendall"),
)
SIGNS = (
    *_PAIR,
    _three("same_sign", lambda r: r.agreement, "same sign", words.share),
    _three("same_true_sign", lambda r: r.true.agreement(), "same true sign", words.share),
    _error("type_one", "type_one", "nulls", "type I"), _error("type_two", "type_two", "decided", "type II"),
    _error("type_three", "type_three", "directed", "type III"),
    Col("nulls", "decided", "directed", of=lambda r: (r.rates.nulls, r.rates.decided, r.rates.directed), kind="count"),
)  # fmt: skip
COMBINED = (
    Col("online", head="online"),
    Col("best_metric", of=lambda c: c.chosen, head="best metric"),
    _three("best_correlation", lambda c: c.single.correlation(), "validated"),
    Col("weights", of=lambda c: dict(c.weights), head="weights", wraps=True, cell=_weights),
    _three("combined_correlation", lambda c: c.weighted.correlation(), "validated"),
    Col("launches", of=lambda c: c.count, kind="count"),
)  # fmt: skip
DRIFT = (
    *_PAIR, Col("period", head="period"), Col("launches", of=lambda r: r.count, kind="count"), _CORRELATION,
    _three("slope", lambda r: r.true.slope(), "slope", None),
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class LaunchCorrelations(_OfRelations):
    """Which offline metric predicts which online one, with the noise in the differences taken off.

    ``found["nDCG@10", "CTR"]`` is the ``Relation`` of two metrics. ``exit_code`` is 4 if no pair has an answer.
    """

    ledger: str
    relations: Sequence[Relation]
    mixed: bool = False

    schema: ClassVar[str] = "launch_correlations/1"
    shown: ClassVar[tuple[str, ...]] = ("results", "signs", "combinations", "drift")
    views: ClassVar[tuple[View, ...]] = (
        View("results", CORRELATED, lambda f: f.ordered, labels=2),
        View("ranks", RANKS, lambda f: f.ordered, "Rank correlations by a normal model", labels=2),
        View("signs", SIGNS, lambda f: f.ordered, "Signs and errors", labels=2,
            note="type I: clear offline without an effect online; II: unclear offline, clear online; III: clear in opposite directions"),
        View("combinations", COMBINED, lambda f: f.combinations, "Best metric and weighted combination"),
        View("drift", DRIFT, lambda f: f.drift, "Over time", labels=3),
    )  # fmt: skip

    def __getitem__(self, key: tuple[str, str]) -> Relation:
        by_pair = {(r.offline, r.online): r for r in self.relations}
        if tuple(key) not in by_pair:
            raise KeyError(f"{key} was not analysed: there are {words.listing(map(', '.join, by_pair))}")
        return by_pair[key]

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
        return {
            online: sorted(rs, key=lambda r: -abs(r.true.correlation()[0]) if r.true.known else 1.0)
            for online, rs in groupby(self.relations, key=lambda r: r.online)
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

    @property
    def drift(self) -> list[Relation]:
        """The periods of the best offline metric for each online one."""
        return [part for relations in self.by_online.values() for part in relations[0].periods]

    @cached_property
    def warnings(self) -> list[Caution]:
        """Few launches, noise, selection, mixed conventions and judgments, unknown covariances."""
        out = _cautions(self.relations)
        names = dict.fromkeys(name for r in self.relations for name in (r.offline, r.online))
        if apart := [name for name in names if name.endswith("]")]:
            out.append(rules.ApartConventions.caution(metrics=apart))
        if uncovered := [c.metrics for c in self.combinations if not c.covered]:
            out.append(rules.ErrorsIndependent.caution(metrics=uncovered[-1]))
        return out + [
            rules.FewForCombination.caution(count=c.count, metrics=len(c.metrics), online=c.online)
            for c in self.combinations
            if c.few
        ]

    # -- in words -----------------------------------------------------------------------------------

    def sentences(self) -> Iterator[str]:
        """Yield per online metric the best offline metric, the worth of its gain, signs, the combination and the drift."""
        for online, (best, *others) in self.by_online.items():
            yield from _told(best)
            unclear = [r.offline for r in others if r.verdict == "no clear relation"]
            if unclear and best.verdict != "no clear relation":
                yield f"No clear relation with {online}: {words.listing(unclear)}."
            unknown = [f"{r.offline} ({r.reason})" for r in others if not r.true.known]
            if unknown and best.true.known:
                yield f"No answer for {online}: {words.listing(unknown)}."
            for c in self.combinations:
                if c.online == online and c.weighted.known and c.single.known:
                    single, weighted = _two(c.single.correlation()[0]), _two(c.weighted.correlation()[0])
                    said = (
                        f"The best metric for {online}, {c.chosen}, reaches {single} on launches that did not choose it"
                    )
                    yield f"{said}; a weighted sum of {words.count(len(c.metrics))} metrics {weighted}."
            if best.change is not None:
                value, bounds = best.change
                how = "changed" if bounds.lower > 0 or bounds.upper < 0 else "shows no clear change"
                said = f"The slope of {online} on {best.offline} {how} from the early to the late half of launches"
                write = _alike(value, *bounds.ends)
                yield f"{said} (by {write(value)}, {_evidence(bounds, write)})."

    def small_print(self) -> Iterator[str]:
        """Yield how noise was taken off."""
        yield "correlations of true differences: known errors are subtracted from the covariance, intervals by Fieller's method, one per pair"
        yield NORMAL
        rejected = sum(len(rs[0].x) - rs[0].count for rs in self.by_online.values())
        if rejected:
            yield f"{words.counted(rejected, 'candidate')} without an online result count offline"

    def charts(self) -> Iterator[Chart]:
        """The differences of the best metric for each online one with their errors, correlations side by side, and slopes over time."""
        several = len(self.by_online) > 1
        for online, (best, *_) in self.by_online.items():
            if best.count:
                yield _scatter(best, f"scatter_{online}" if several else "scatter")
        known = [(r.true.correlation(), r.offline, r.online) for r in self.ordered if r.true.known]
        yield from _intervals(
            ("correlations", "Correlation of true differences"), ("correlation", "offline", "online"), known, several,
            "With the noise of both sides taken off, and 95% intervals.", (-1.0, 1.0),
        )  # fmt: skip
        steps = [(r.true.slope(), r.period, f"{r.offline}, {r.online}") for r in self.drift]
        yield from _intervals(
            ("drift", "Slope over time"), ("slope", "period", "metrics"), [row for row in steps if row[0][1].known], True,
            "The change of the online metric per unit of the offline one, by period.",
        )  # fmt: skip


def _cautions(relations: Sequence[Relation]) -> list[Caution]:
    """Return the limits of relations, each once."""
    return list({f"{c.code} {c.message}": c for r in relations for c in _cautions_of(r)}.values())


def _cautions_of(r: Relation) -> Iterator[Caution]:
    if r.count < FEW:
        yield rules.FewLaunches.caution(offline=r.offline, online=r.online, count=r.count, fewest=FEW)
    for metric, reliability in zip((r.offline, r.online), r.true.reliability, strict=True):
        if reliability < UNRELIABLE:
            yield rules.NoisyDifferences.caution(metric=metric, reliability=reliability)
    gained = float(np.mean(r.pairs.x > 0))
    if gained >= GAINED and r.count == len(r.x) and r.count >= 3:
        yield rules.OnlyLaunched.caution(metric=r.offline, share=gained, count=r.count)
    if r.mixed > 1:
        yield rules.MixedConventions.caution(offline=r.offline, online=r.online, count=r.mixed)
    if r.judgments > 1:
        yield rules.SeveralJudgments.caution(metric=r.offline, count=r.judgments)


def _told(r: Relation) -> Iterator[str]:
    """Yield the answer for the best offline metric of an online one."""
    if not r.true.known:
        yield f"Cannot tell if {r.offline} predicts {r.online}: {r.reason}."
        return
    value, bounds = r.true.correlation()
    how = HOW.get(r.verdict)
    said = f"{r.offline} {how} {r.online}" if how else f"No clear relation between {r.offline} and {r.online}"
    over = f"{_two(r.true.naive)} with noise; {words.counted(r.count, 'launch')}"
    yield f"{said} (correlation {_two(value)} of true differences, {_evidence(bounds, _two)}; {over})."
    slope, ends = r.true.slope()
    step = 10.0 ** math.floor(math.log10(float(np.std(r.pairs.x))))
    share = f", or {words.relative(slope * step / abs(r.baseline_value))} of its value" if r.baseline_value else ""
    write = _alike(slope * step, *(step * end for end in ends.ends))
    worth = f"{words.amount(step)} {r.offline} is worth {write(slope * step)} {r.online}{share}"
    yield f"{worth} ({_evidence(ends, lambda x: write(x * step))})."
    same, (true, inside) = words.share(r.agreement[0]), r.true.agreement()
    without = f"{words.share(true)} ({_evidence(inside, words.share)})"
    yield f"Both have the same sign in {same} of launches; without noise in {without}."


def _intervals(
    name: tuple[str, str], columns: tuple[str, str, str], rows: Sequence[tuple[Estimated, str, str]], several: bool,
    caption: str, limits: tuple[float, float] | None = None,
) -> Iterator[Chart]:  # fmt: skip
    """Yield a chart of values with their intervals; nothing without rows."""
    value, label, series = columns
    if rows:
        yield Chart(
            *name, "intervals", (Column(value, "value"), Column(label), Column(series)),
            tuple((ends.around(one), *labels) for (one, ends), *labels in rows),
            x=value, y=label, series=series if several else "", guide="zero", limits=limits, caption=caption,
        )  # fmt: skip


def _scatter(r: Relation, name: str) -> Chart:
    """Return the gains of launches with 95% error bars on both axes, and the fitted line of true differences."""
    p, places = r.pairs, np.flatnonzero(r.pairs.both)
    kept = places[:: max(1, math.ceil(len(places) / MOST_POINTS))]
    across, up = f"{r.offline} gain offline", f"{r.online} gain online"
    points = (
        [ValueRange(v, v - reach, v + reach) for v, reach in zip(value[kept], normal(0.025) * np.sqrt(noise[kept]), strict=True)]
        for value, noise in ((p.x, p.x_variance), (p.y, p.y_variance))
    )  # fmt: skip
    fit = None
    if r.true.known:
        slope, ends = r.true.slope()[0], (float(p.x[p.both].min()), float(p.x[p.both].max()))
        mx, my = map(float, r.true.estimate[:2])
        low, high = ((end, my + slope * (end - mx)) for end in ends)
        fit = (*low, *high)
    shown = (
        f" {words.count(len(kept))} of {words.counted(len(places), 'launch')} are drawn."
        if len(kept) < len(places)
        else ""
    )
    return Chart(
        name, f"{r.online} online by {r.offline} offline", "points", (Column("launch"), Column(across, "value"), Column(up, "value")),
        tuple(zip((r.launches[i].name for i in kept), *points, strict=True)), x=across, y=up, fit=fit, guide="zero",
        caption=f"One point per launch with 95% intervals; the line is the relation of true differences.{shown}",
    )  # fmt: skip


# --- predictions -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class LaunchPrediction(_OfRelations):
    """The probability that a new launch wins online, by its offline differences; one row per pair of metrics."""

    ledger: str
    given: Mapping[str, tuple[float, float]]
    relations: Sequence[Relation]

    schema: ClassVar[str] = "launch_prediction/1"
    views: ClassVar[tuple[View, ...]] = (
        View(
            "results",
            lambda found: (
                *_PAIR,
                Col("difference", "standard_error", of=lambda r: found.given[r.offline], head="given", kind="value",
                    cell=lambda r: words.in_table(_measured(*found.given[r.offline]))),
                _three("win_probability", lambda r: r.true.wins(*found.measured(r)), "wins online", words.share),
                _three("expected", lambda r: r.true.expected(*found.measured(r)), "expected online", None),
                Col("launches", of=lambda r: r.count, head="launches", kind="count"),
                Col("reason"),
            ),
            lambda found: found.relations,
            labels=2,
        ),
    )  # fmt: skip

    def measured(self, r: Relation) -> tuple[float, float]:
        """Return the gain and the variance of its error."""
        value, error = self.given[r.offline]
        return (value if r.x[0].better == "higher" else -value), error**2

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The place of the ledger and the model."""
        model = "true differences of past launches are normal; the new one is like them"
        return {"ledger": self.ledger, "level": 0.95, "model": model}

    @cached_property
    def warnings(self) -> list[Caution]:
        """The limits of the relations that the prediction uses."""
        return _cautions(self.relations)

    def sentences(self) -> Iterator[str]:
        """Yield the probability per pair of metrics."""
        for r in self.relations:
            if not r.true.known:
                yield f"No answer for {r.online} by {r.offline}: {r.reason}."
                continue
            chance, bounds = r.true.wins(*self.measured(r))
            value, ends = r.true.expected(*self.measured(r))
            write = _alike(value, *ends.ends)
            given = f"With {_small(self.given[r.offline][0])} {r.offline}, the launch wins on {r.online}"
            yield (
                f"{given} with probability {words.share(chance)} ({_evidence(bounds, words.share)}); expected "
                f"{write(value)}, between {write(ends.lower)} and {write(ends.upper)} in 95% of launches."
            )
