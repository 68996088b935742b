"""One system against another on one measure: the difference, its test and interval, and the verdict.

``contrast`` makes the p-value of two systems for every caller, ``families`` corrects it, and ``Contrast.verdict`` gives its meaning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.inference.base import Bounds, Estimate, PairedTest, Sample, is_significant
from rankscope.inference.intervals import t as t_interval
from rankscope.inference.intervals import without_interval
from rankscope.panels.method import ALTERNATIVES, FEWEST, POWER, VALID, Method, Validity, require_own_units
from rankscope.panels.panel import WITHOUT_UNITS, EstimatedPair, Pair, PairedValues, Panel

if TYPE_CHECKING:
    from rankscope.inference.effects import Equivalence
    from rankscope.inference.power import Detectable

Verdict = Literal["better", "worse", "different", "equivalent", "not worse", "cannot tell", "same", "withheld"]
UNCORRECTED = Bounds(math.nan, math.nan, "none", "not corrected yet")
CLEAR = frozenset({"better", "worse", "different"})


@dataclass(frozen=True, eq=False)
class Contrast:
    """A system against a baseline on one measure. The difference is run - baseline; both values are means over the same ``queries``.

    ``wins``, ``losses`` and ``ties`` count the units on which the run is better, worse and the same (higher and lower on a measure
    without a direction). ``is_gain`` is true if the difference is in the better direction, or upwards on a measure without one, and
    ``few`` if too few units differ for any test. ``bounds`` is the interval of the difference. ``p_value`` is the p-value of ``test``,
    which could have been as low as ``smallest``. ``by`` is its name in sentences, empty for t and for tests with an interval. ``agrees`` is true if the test sees the differences go the same way as their mean.

    ``adjusted`` and ``p_value_adjusted`` are corrected for the ``comparisons`` of the family; ``corrected_level`` is the level of the
    corrected interval, NaN after a joint correction. The contrast is ``significant`` if the corrected p-value is at most alpha, six or
    more units differ, and the test agrees with the mean. ``validity`` is whether the data allow a verdict. Costly values are computed
    on demand.
    """

    run: str
    baseline: str
    metric: str
    panel: Panel
    pair: Pair
    method: Method
    queries: int
    value: float
    baseline_value: float
    difference: float
    is_gain: bool
    differing: int
    few: bool
    wins: int
    losses: int
    ties: int
    bounds: Bounds
    p_value: float
    test: str
    agrees: bool = False
    smallest: float = 0.0
    by: str = ""
    p_value_adjusted: float = math.nan
    adjusted: Bounds = UNCORRECTED
    corrected_level: float = math.nan
    comparisons: int = 1
    significant: bool = False
    validity: Validity = VALID

    def __repr__(self) -> str:
        return self.sentence()

    @property
    def paired(self) -> PairedValues:
        """Both systems unit by unit. Raises DataError if they share no units."""
        if not isinstance(self.pair, PairedValues):
            raise DataError(f"{self.metric}: {WITHOUT_UNITS}")
        return self.pair

    @property
    def sides(self) -> str:
        """Both systems: ``hybrid against bm25``."""
        return f"{self.run} against {self.baseline}"

    @property
    def title(self) -> str:
        """Both systems and the metric: ``hybrid against bm25 on nDCG@10``."""
        return f"{self.sides} on {self.metric}"

    @cached_property
    def verdict(self) -> Verdict:
        """Better, worse or cannot tell by the corrected p-value; with a margin also equivalent or not worse; withheld if data are not valid."""
        if not self.validity.holds:
            return "withheld"
        if not self.differing and self.queries:
            return "same"
        if self.significant:
            return ("better" if self.is_gain else "worse") if self.panel.sign else "different"
        if self.queries < FEWEST or self.margin is None:
            return "cannot tell"
        level = self.margin_alpha
        if self.equivalence is not None and is_significant(self.equivalence.p_value, level):
            return "equivalent"
        return "not worse" if self.not_worse is not None and is_significant(self.not_worse, level) else "cannot tell"

    @cached_property
    def shown(self) -> Bounds:
        """The corrected interval for people; none if it includes 0 in spite of a clear verdict, as after a test of signs."""
        bounds = self.adjusted
        if self.verdict in CLEAR and bounds.known and bounds.lower < 0 < bounds.upper:
            return Bounds.none(f"the interval of the mean includes 0, and {self.test} is clear")
        return bounds

    @property
    def margin(self) -> float | None:
        """The margin as a number, or None; a share is taken of the baseline's value."""
        margin = self.method.margin_of(self.metric)
        return None if margin is None else margin.of(self.baseline_value) or None

    # -- computed on demand ----------------------------------------------------------------------

    @cached_property
    def sign_flip(self) -> float:
        """Fisher's sign-flip p-value, exact up to 40 differing queries."""
        from rankscope.inference.paired import permutation

        test = permutation(seed=self.method.seed)
        return math.nan if self.panel.predicted is not None else test.p_value(self.pair.sample_for(test))

    @cached_property
    def effect(self) -> float:
        """The difference in standard deviations of the differences."""
        from rankscope.inference.effects import standardised

        return math.nan if self.panel.predicted is not None else standardised(self.paired.means)

    @cached_property
    def superiority(self) -> float:
        """The share of queries on which the run is better; ties count half."""
        return (self.wins + self.ties / 2) / self.queries if self.queries else math.nan

    @cached_property
    def relative(self) -> tuple[float, Bounds]:
        """The lift: the difference as a share of the size of the baseline's mean, with its interval at the level of one comparison."""
        return self._lift(self.method.level)

    @cached_property
    def relative_adjusted(self) -> tuple[float, Bounds]:
        """The lift with the interval at the level of the corrected difference, which it never contradicts."""
        if not self.adjusted.known or math.isnan(self.corrected_level):
            reason = self.adjusted.reason or "the correction gives no level for each comparison"
            return self.relative[0], Bounds.none(reason)
        value, bounds = self._lift(self.corrected_level)
        if self.significant and bounds.lower < 0 < bounds.upper:
            bounds = Bounds.none("the interval of the lift includes 0, and the test is clear")
        return value, bounds if self.significant else bounds.including(0.0)

    def _lift(self, level: float) -> tuple[float, Bounds]:
        from rankscope.inference.effects import relative, relative_of_own

        pair = self.pair
        if isinstance(pair, PairedValues):
            value, bounds = relative(pair.run_sample, pair.baseline_sample, level)
        else:
            paid = self.method.interval if self._looks is not None else None
            value, bounds = relative_of_own(pair.run_sample, pair.baseline_sample, level, paid, pair.means)
        bounds = self.panel.measure.in_units(bounds)
        return value, bounds.clipped(-1.0, math.inf) if self.panel.measure.range[0] >= 0 else bounds

    @cached_property
    def detectable(self) -> Detectable:
        """The smallest difference that these queries could show at 80% power, at the level that the correction leaves each comparison."""
        from rankscope.inference.power import detectable

        return detectable(self.pair.means, POWER, self._two_sided_alpha)

    @property
    def _two_sided_alpha(self) -> float:
        """The level of the two-sided test with the power of the corrected test."""
        return self.method.corrected_alpha(self.comparisons) * (2 if self.method.one_sided else 1)

    @cached_property
    def queries_needed(self) -> int | None:
        """The number of queries that would show this difference; None without a difference or spread."""
        from rankscope.inference.power import queries_needed

        sample = self.pair.means
        units = sample.freedom + 1  # the equivalent number of clusters of one size, with as many queries as now
        deviation = sample.error * math.sqrt(units)
        if not self.difference or not sample.error > sample.rounding:
            return None
        needed = queries_needed(deviation, abs(self.difference), POWER, self._two_sided_alpha, pilot=sample.freedom)
        return math.ceil(needed * self.queries / units)

    @cached_property
    def favourable(self) -> tuple[int, float] | None:
        """The number and the share of the most favourable queries that carry the lead; None without a lead, or without units."""
        known = isinstance(self.pair, PairedValues) and self.panel.predicted is None
        return self.paired.means.favourable if known else None

    def share_of_largest(self, most: int) -> float | None:
        """Return the share of the ``most`` largest differences among all in its direction; None if there are no more, or weights differ."""
        if self.panel.weights is not None or self.panel.measure.aggregate not in {"mean", "sum"} or not self.difference:
            return None
        sizes = sorted((abs(gain) for gain in self.paired.gains.tolist() if gain * self.difference > 0), reverse=True)
        return math.fsum(sizes[:most]) / math.fsum(sizes) if len(sizes) > most else None

    @cached_property
    def chances(self) -> dict[str, float] | None:
        """The probabilities that the run is better, worse or practically equal, by the Bayesian bootstrap; None by default."""
        if not self.method.bayes or not self.queries:
            return None
        from rankscope.inference.bootstrap import bayesian

        posterior = bayesian(self.paired.means, self.margin, seed=self.method.seed)
        better, worse = (posterior.better, posterior.worse)[:: self.panel.sign or 1]
        return {"better": better, "worse": worse, "practically_equal": posterior.equal}

    @cached_property
    def equivalence(self) -> Equivalence | None:
        """Two one-sided tests that the difference is within the margin; None without a margin."""
        return self._equivalence(self.method.alpha)

    @cached_property
    def equivalence_adjusted(self) -> Equivalence | None:
        """The same with the interval at the corrected level, which lies within the margin exactly if the verdict is ``equivalent``."""
        return self._equivalence(self.margin_alpha)

    def _equivalence(self, alpha: float) -> Equivalence | None:
        if self.margin is None or self.queries < 2:
            return None
        from rankscope.inference.effects import Equivalence, equivalence, equivalence_at_looks

        at_looks = self._looks is not None and self.method.interval is not None
        if self._margin_share is not None:  # within the margin exactly if the interval of the lift is
            level, size = 1 - alpha * (1 if at_looks else 2), abs(self.baseline_value)
            lift = self._lift(level)[1]
            p_value = max(self._inside(-1), self._inside(1))
            return Equivalence(p_value, lift.lower * size, lift.upper * size, level)
        if at_looks and isinstance(self.pair, EstimatedPair):
            assert self._looks is not None
            assert self.method.interval is not None
            return equivalence_at_looks(self._looks, self.method.interval, self.pair.means, self.margin, alpha)
        return equivalence(self.pair.means, self.margin, alpha)

    @cached_property
    def not_worse(self) -> float | None:
        """The p-value of being worse by the margin or more; None without a margin or a direction."""
        if self.margin is None or self.queries < 2 or not self.panel.sign:
            return None
        return self._inside(-self.panel.sign)

    @property
    def _margin_share(self) -> float | None:
        """The margin as a share of the baseline, so that the error of the baseline counts. None for a number."""
        margin = self.method.margin_of(self.metric)
        own = isinstance(self.pair, PairedValues) or self.pair.means.least
        return margin.number if margin is not None and margin.relative and own else None

    def _inside(self, side: int) -> float:
        """The one-sided p-value that the difference is above the lower end of the margin (``side`` -1), or below the upper end (1)."""
        from rankscope.inference.effects import above, above_at_looks, less_share

        means, bound = self.pair.means, side * (self.margin or 0.0)
        if self._margin_share is not None:
            share, bound = side * self._margin_share, 0.0
            means = less_share(self.pair.run_sample, self.pair.baseline_sample, share, means)
        if side > 0:
            means, bound = means.mirror, -bound
        if self._looks is not None and isinstance(means, Estimate):
            return above_at_looks(self._looks, means, bound)
        return above(means, bound)

    @property
    def _looks(self) -> PairedTest | None:
        """The test that pays for looks at an experiment; its interval replaces the t interval."""
        test = self.method.test
        return test if test is not None and test.has_interval and not self.pair.by_unit else None

    # -- in words ----------------------------------------------------------------------------------

    def sentence(self) -> str:
        """Return the contrast in full; interval and p-value are corrected if there are several comparisons."""
        run, baseline, on = self.run, self.baseline, self.metric
        if self.verdict == "withheld":
            return f"The verdict on {self.title} is withheld: {self.validity.reason}."
        size, queries = self._size, self._counted(self.queries)
        corrected = self.method.corrected_for(self.comparisons)
        if self.verdict in {"better", "worse"}:
            verb = "beats" if self.verdict == "better" else "loses to"
            counts = queries
            if self.pair.by_unit:
                counts = f"better on {self._counted(self.wins)}, worse on {self.losses:,}, unchanged on {self.ties:,}{self._share}"
            return f"{run} {verb} {baseline} on {on} by {size} ({self._evidence}{corrected}; {counts})."
        if self.verdict == "different":
            return f"{run} is {self._way} than {baseline} on {on} by {size} ({self._evidence}{corrected}; {queries})."
        if self.verdict == "same":
            each = f"the one {self.panel.measure.unit}" if self.queries == 1 else f"each of {queries}"
            return f"{run} and {baseline} score the same on {on}, on {each}."
        if self.verdict == "equivalent":
            return f"{run} and {baseline} are practically the same on {on} ({self._within}; {queries})."
        if self.verdict == "not worse":
            p_value = self.p_of_margin(self.not_worse or 0)
            return (
                f"{run} is not worse than {baseline} on {on} by {self.margin_in_words} or more ({p_value}; {queries})."
            )
        if self.method.one_sided:
            return f"{run} is not clearly {ALTERNATIVES[self.method.alternative]} than {baseline} on {on}{self._limits(corrected)}"
        return f"No clear difference between {run} and {baseline} on {on}{self._limits(corrected)}"

    def short_sentence(self) -> str:
        """Return the contrast next to another of the same two systems, without names and correction."""
        if self.verdict == "withheld":
            return f"{self.metric}: the verdict is withheld."
        if self.verdict in CLEAR:
            how = self._way if self.verdict == "different" else self.verdict
            return f"{self.metric}: {how} by {self._size} ({self._evidence})."
        if self.verdict == "same":
            return f"{self.metric}: the same on every {self.panel.measure.unit}."
        if self.verdict == "equivalent":
            return f"{self.metric}: practically the same ({self._within})."
        if self.verdict == "not worse":
            return (
                f"{self.metric}: not worse by {self.margin_in_words} or more ({self.p_of_margin(self.not_worse or 0)})."
            )
        return f"{self.metric}: no clear difference{self._limits()}"

    @property
    def margin_in_words(self) -> str:
        """The margin as a number, with the share it was given as."""
        chosen, number = self.method.margin_of(self.metric), words.amount(self.margin or 0.0)
        return f"{chosen} ({number})" if chosen is not None and chosen.relative else number

    def p_of_margin(self, p_value: float) -> str:
        """Return the p-value of a test of the margin, with its level if that is below alpha."""
        level, way = self.margin_alpha, "above"
        if level >= self.method.alpha:
            return words.p_value(p_value)
        way = "below" if is_significant(p_value, level) else way
        return (
            f"{words.p_value(p_value)}, {way} {words.number(level)} for {words.counted(self.comparisons, 'comparison')}"
        )

    @property
    def margin_alpha(self) -> float:
        """The level at which the margin is tested."""
        return self.method.corrected_alpha(self.comparisons)

    @property
    def _size(self) -> str:
        return words.number(abs(self.difference), digits=self.panel.measure.decimals)

    @property
    def _way(self) -> str:
        return "higher" if self.difference > 0 else "lower"

    def _counted(self, number: int) -> str:
        return words.counted(number, self.panel.measure.unit)

    @property
    def _evidence(self) -> str:
        """Interval and p-value, both corrected; the interval is turned to match the sentence."""
        bounds = self.shown
        turned = self.verdict in CLEAR and self.difference < 0
        ends = (-bounds.upper, -bounds.lower) if turned else (bounds.lower, bounds.upper)
        if not bounds.known:
            return self._p
        kind = f"{bounds.method.partition('(')[0]} " if self.by else ""
        text = words.interval(*ends, digits=self.panel.measure.decimals, apart=(0.0,))
        return f"{words.percent(self.method.level)} {kind}interval {text}, {self._p}"

    @property
    def _p(self) -> str:
        """The corrected p-value, with the test unless it is t."""
        one_sided = ", one-sided" if self.method.one_sided else ""
        return f"{words.p_value(self.p_value_adjusted)}{f' by {self.by}' if self.by else ''}{one_sided}"

    @property
    def _share(self) -> str:
        """The interval that a sign test has: of the share of the differing queries that got better."""
        if self.method.test is None or self.method.test.of != "signs" or math.isnan(self.corrected_level):
            return ""
        from rankscope.inference.paired import share_of_wins

        interval = share_of_wins(self.wins, self.losses, self.corrected_level)
        ends = f"{words.share(interval.lower, 1)} to {words.share(interval.upper, 1)}"
        share = words.share(self.wins / (self.wins + self.losses), 1)
        return f", better on {share} of differing {words.plural(self.panel.measure.unit)}, {words.percent(self.method.level)} interval {ends}"

    @property
    def _within(self) -> str:
        return f"{self.interval_of_margin}, within ±{self.margin_in_words}"

    @property
    def _noun(self) -> str:
        return self.panel.measure.unit if self.panel.clusters is None else "cluster"

    @property
    def _alike(self) -> str:
        """The equal values or differences, in words, if there is no spread."""
        if self.pair.by_unit:
            return f"every {self._noun} differs by the same"
        return f"every {self._noun} of {self.run} has the same value, and of {self.baseline}"

    @property
    def without_interval(self) -> str:
        """The reason why the difference has no interval. Empty if it has one."""
        if self.shown.known:
            return ""
        return self.shown.reason if self.queries < 2 or self.detectable.difference > 0 else self._alike

    @property
    def interval_of_margin(self) -> str:
        """The interval that decides about the margin, with its level: of the lift if the margin is a share. Empty without a margin."""
        result, margin, share = self.equivalence_adjusted, self.margin or 0.0, self._margin_share
        if result is None or not math.isfinite(result.lower):
            return ""
        level, ends = words.percent(round(result.level, 6)), (result.lower, result.upper)
        if share is not None:
            low, high = (end / abs(self.baseline_value) for end in ends)
            return f"{level} interval of the lift {words.interval_of_change(low, high, apart=(-share, share))}"
        return f"{level} interval {words.interval(*ends, sign=True, digits=self.panel.measure.decimals, apart=(-margin, margin))}"

    def _limits(self, corrected: str = "") -> str:
        """Return why there is no clear difference, and the difference that these queries could have shown."""
        if not self.queries:
            return f": no {self.panel.measure.unit} is scored for both."
        p_value = words.p_value(self.p_value_adjusted)
        if self.few:
            differ = self._counted(self.queries)
            if self.pair.by_unit:
                differ = f"{self.differing:,} of {differ} {words.agree(self.differing, 'differs')}"
            but = ", which so few do not support" * is_significant(self.p_value_adjusted, self.method.alpha)
            return f": only {differ}, and fewer than {FEWEST} cannot show one ({p_value}{but})."
        signed = words.number(self.difference, sign=True, digits=self.panel.measure.decimals)
        if is_significant(self.p_value_adjusted, self.method.alpha) and not self.agrees:
            return f": {signed} in the mean, but {self.test} sees most differences go the other way ({p_value}{corrected})."
        if self._looks is not None and not self.bounds.known:
            return f" ({signed}): {self.bounds.reason}."
        if self.method.every_look:
            return (
                f" ({signed}, {self._evidence}{corrected}); add {words.plural(self.panel.measure.unit)} and look again."
            )
        if self._looks is not None:  # a planned look detects less than t would
            return f" ({signed}, {self._evidence}{corrected})."
        if not self.detectable.difference > 0:
            if math.isnan(self.p_value) or self.queries < 2:
                return f": {self.bounds.reason or 'the differences have no spread'}."
            more = words.plural(self._noun)
            return f" ({signed}, {p_value}{corrected}): {self._alike}, so a verdict needs more {more}."
        of_means = self.method.test is None or self.method.test.of not in {"signs", "ranks"}
        # it detects other differences, or none
        if not of_means or self.smallest > self.method.corrected_alpha(self.comparisons):
            return f" ({signed}, {self._evidence}{corrected})."
        return f" ({signed}, {self._evidence}{corrected}). {self.reach}."

    @property
    def reach(self) -> str:
        """The difference that these queries can detect. The observed one is too uncertain to plan from."""
        detected = words.number(self.detectable.difference, digits=self.panel.measure.decimals)
        return f"{self._counted(self.queries)} can detect about {detected}"


def contrast(panel: Panel, run: str, baseline: str, method: Method, validity: Validity = VALID) -> Contrast:
    """Compare two systems on one measure, not yet corrected for other comparisons."""
    pair: Pair = panel.pair(run, baseline) if panel.by_unit else panel.pair_of_means(run, baseline)
    test = choose_test(pair, method)
    if isinstance(pair, EstimatedPair):
        pair = pair.drawn_for(test)
    sample = pair.sample_for(test)
    difference = pair.means.mean
    p_value = test.p_value(sample) if pair.queries else math.nan
    if side := method.side(panel.name, panel.sign):
        p_value = _one_sided(p_value, test.direction(sample) * side, pair.means, side)
    rounding = abs(difference) <= pair.means.rounding
    sign = panel.sign or 1
    wins, losses = (pair.higher, pair.lower)[::sign]
    return Contrast(
        run, baseline, panel.name, panel, pair, method,
        queries=pair.queries,
        value=pair.run_sample.mean,
        baseline_value=pair.baseline_sample.mean,
        difference=difference,
        is_gain=sign * difference > 0,
        differing=pair.differing,
        few=0 < pair.differing < FEWEST,
        wins=wins,
        losses=losses,
        ties=pair.queries - wins - losses,
        bounds=interval_of(pair, method, method.level, panel),
        p_value=p_value,
        test=str(test),
        agrees=bool(not rounding and test.direction(sample) == np.sign(difference)),
        smallest=test.smallest(sample),
        by="" if test.by_moments or test.has_interval or method.correction.joint else (not pair.by_unit and test.of_own_units) or test.in_words.partition(" (")[0] or str(test),
        validity=validity,
    )  # fmt: skip


def _one_sided(p_value: float, toward: int, means: Sample | Estimate, side: int) -> float:
    """The p-value of one side: half the two-sided one if the difference goes ``toward`` it, by random draws their share on this side."""
    chance = means.chance if isinstance(means, Estimate) else None
    if chance is not None and means.error > means.rounding:
        return (chance if side > 0 else chance.mirror).above(side * means.mean / means.error)
    return p_value / 2 if toward > 0 else 1 - p_value / 2


def interval_of(pair: Pair, method: Method, level: float, panel: Panel) -> Bounds:
    """Return the interval of a difference at a level, t by default, clipped to the range of differences."""
    if not pair.queries:
        return panel.measure.in_units(Bounds.none("no query is scored for both"))
    interval = method.interval or t_interval()
    if not isinstance(pair.means, Sample):
        require_own_units(interval)
    if panel.predicted is not None and not interval.by_moments:
        raise InputError(f"the interval {interval} looks at single queries, and predictions correct only means: use t")
    low, high = panel.measure.range
    bounds = interval.of(pair.means, level)  # type: ignore[arg-type] # such an interval takes either
    return panel.measure.in_units(bounds.clipped(low - high, high - low))


def choose_test(pair: Pair, method: Method) -> PairedTest:
    """Return the test that runs: the chosen one, t by default, or permutations.

    Random deals of units replace the default if t would err on a difference between systems with units of their own, and a test that divides
    by the spread if neither has any. Sign flips replace such a test if all differences are the same, and the default if too few units differ.
    """
    from rankscope.inference.paired import t

    test = method.test or t()
    if isinstance(pair, EstimatedPair):
        alike = test.by_spread and not test.has_interval and pair.means.apart
        flips = alike or (method.test is None and pair.means.beyond_t)
    elif not pair.differing or pair.queries < getattr(test, "first", 0):
        return test
    else:
        alike = bool(test.by_spread and pair.means.freedom and without_interval(pair.means))
        flips = alike or (method.test is None and pair.differing < FEWEST and not pair.predicted)
    if not flips:
        return test
    from rankscope.inference.paired import permutation

    return permutation(seed=method.seed)
