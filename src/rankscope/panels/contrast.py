"""One system against another on one measure: the difference, what is known about it, and the verdict.

The p-value of two runs is made in ``contrast``, whoever asks; ``families`` corrects it, and ``Contrast.verdict`` says what it means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.inference.base import CLOSE, Bounds, Interval, PairedTest, Sample
from rankscope.inference.intervals import t as t_interval
from rankscope.inference.intervals import without_interval
from rankscope.panels.method import FEWEST, POWER, Method
from rankscope.panels.panel import WITHOUT_UNITS, EstimatedPair, Pair, PairedValues, Panel

if TYPE_CHECKING:
    from rankscope.inference.effects import Equivalence
    from rankscope.inference.power import Detectable

Verdict = Literal["better", "worse", "different", "equivalent", "not worse", "cannot tell", "same"]
UNCORRECTED = Bounds(math.nan, math.nan, "none", "not corrected yet")
CLEAR = frozenset({"better", "worse", "different"})


@dataclass(frozen=True, eq=False)
class Contrast:
    """A run against a baseline on one measure. The difference is run - baseline; both values are means over the same ``queries``.

    ``wins``, ``losses`` and ``ties`` count the queries on which the run is better, worse and the same; on a measure without a direction,
    higher and lower. ``is_gain`` tells whether the difference is in the better direction (on a measure without one, upwards), and
    ``few`` whether so few queries differ that no test can tell. ``bounds`` is the interval of the difference, ``p_value`` that of
    ``test``, which could have given none below ``smallest``; ``agrees`` says whether the test sees the differences go the way that
    their mean does. ``adjusted`` and ``p_value_adjusted`` take into account that there are ``comparisons`` in the family; where that
    p-value is small enough, six or more queries differ, and the test sees what the mean says, it is ``significant``. What costs more
    is worked out when it is asked for.
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
    p_value_adjusted: float = math.nan
    adjusted: Bounds = UNCORRECTED
    comparisons: int = 1
    significant: bool = False

    def __repr__(self) -> str:
        return self.sentence()

    @property
    def paired(self) -> PairedValues:
        """Both systems unit by unit. Raises DataError where they have no units in common."""
        if not isinstance(self.pair, PairedValues):
            raise DataError(f"{self.metric}: {WITHOUT_UNITS}")
        return self.pair

    @property
    def sides(self) -> str:
        """Which system is compared with which: ``hybrid against bm25``."""
        return f"{self.run} against {self.baseline}"

    @property
    def title(self) -> str:
        """What is compared, and by which metric: ``hybrid against bm25 on nDCG@10``."""
        return f"{self.sides} on {self.metric}"

    @cached_property
    def verdict(self) -> Verdict:
        """What the adjusted p-value says: better, worse, cannot tell; with a margin also equivalent and not worse."""
        if not self.differing and self.queries:
            return "same"
        if self.significant:
            return ("better" if self.is_gain else "worse") if self.panel.sign else "different"
        if self.queries < FEWEST or self.method.margin is None:
            return "cannot tell"
        # Bonferroni's level, whatever corrects the differences
        level = self.method.alpha / (self.comparisons if self.method.correction.corrects else 1)
        if self.equivalence is not None and self.equivalence.p_value <= level:
            return "equivalent"
        return "not worse" if self.not_worse is not None and self.not_worse <= level else "cannot tell"

    # -- worked out when asked for ---------------------------------------------------------------

    @cached_property
    def sign_flip(self) -> float:
        """Fisher's sign-flip p-value, exact up to 40 differing queries."""
        from rankscope.inference.permutation import permutation

        test = permutation(seed=self.method.seed)
        return test.p_value(self.pair.sample_for(test))

    @cached_property
    def effect(self) -> float:
        """The difference in standard deviations of the differences."""
        from rankscope.inference.effects import standardised

        return standardised(self.paired.means)

    @cached_property
    def superiority(self) -> float:
        """The share of queries on which the run is better, those where both are the same counting half."""
        return (self.wins + self.ties / 2) / self.queries if self.queries else math.nan

    @cached_property
    def relative(self) -> tuple[float, Bounds]:
        """The difference as a part of the baseline's mean, with its interval; what cannot be below 0 cannot fall by more than all of it."""
        from rankscope.inference.effects import relative, relative_of_own

        pair = self.pair
        if isinstance(pair, PairedValues):
            value, bounds = relative(pair.run_sample, pair.baseline_sample, self.method.level)
        else:
            paid = self.method.interval if self._looks is not None else None
            value, bounds = relative_of_own(pair.run_sample, pair.baseline_sample, self.method.level, paid)
        return value, bounds.clipped(-1.0, math.inf) if self.panel.measure.range[0] >= 0 else bounds

    @cached_property
    def detectable(self) -> Detectable:
        """The smallest difference that these queries could show, at 80% power."""
        from rankscope.inference.power import detectable

        return detectable(self.pair.means, POWER, self.method.alpha)

    @cached_property
    def queries_needed(self) -> int | None:
        """How many queries would show the difference that was seen; None where there is none, or no spread."""
        from rankscope.inference.power import queries_needed

        sample = self.pair.means
        units = sample.freedom + 1  # clusters, as many of one size as say as much; they hold as many queries as now
        deviation = sample.error * math.sqrt(units)
        if not self.difference or not deviation > 0:
            return None
        needed = queries_needed(deviation, abs(self.difference), POWER, self.method.alpha)
        return math.ceil(needed * self.queries / units)

    @cached_property
    def favourable(self) -> tuple[int, float] | None:
        """How many of the queries that favour the one ahead carry its lead, and their share; None where nobody leads, or by no unit known."""
        return self.pair.means.favourable if isinstance(self.pair, PairedValues) else None

    def share_of_largest(self, most: int) -> float | None:
        """The share that the ``most`` largest differences have of all in its direction; None where there are no more, or weights differ."""
        if self.panel.weights is not None or self.panel.measure.aggregate not in {"mean", "sum"} or not self.difference:
            return None
        sizes = sorted((abs(gain) for gain in self.paired.gains.tolist() if gain * self.difference > 0), reverse=True)
        return math.fsum(sizes[:most]) / math.fsum(sizes) if len(sizes) > most else None

    @cached_property
    def chances(self) -> dict[str, float] | None:
        """How probable it is that the run is better, worse or practically equal, by the Bayesian bootstrap; None unless asked for."""
        if not self.method.bayes or not self.queries:
            return None
        from rankscope.inference.bootstrap import bayesian

        found = bayesian(self.paired.means, self.method.margin_of(self.metric), seed=self.method.seed)
        better, worse = (found.better, found.worse)[:: self.panel.sign or 1]
        return {"better": better, "worse": worse, "practically_equal": found.equal}

    @cached_property
    def equivalence(self) -> Equivalence | None:
        """Two one-sided tests that the difference is within the margin; None without a margin."""
        margin = self.method.margin_of(self.metric)
        if margin is None or self.queries < 2:
            return None
        from rankscope.inference.effects import equivalence, equivalence_at_looks

        if self._looks is not None and self.method.interval is not None and isinstance(self.pair, EstimatedPair):
            return equivalence_at_looks(self._looks, self.method.interval, self.pair.means, margin, self.method.alpha)
        return equivalence(self.pair.means, margin, self.method.alpha)

    @cached_property
    def not_worse(self) -> float | None:
        """The p-value of being worse by the margin or more; None without a margin or a direction."""
        margin = self.method.margin_of(self.metric)
        if margin is None or self.queries < 2 or not self.panel.sign:
            return None
        from rankscope.inference.effects import above_at_looks, noninferiority

        if self._looks is not None and isinstance(self.pair, EstimatedPair):
            means = self.pair.means if self.panel.sign > 0 else self.pair.means.mirror
            return above_at_looks(self._looks, means, -margin)
        return noninferiority(self.pair.means, margin, self.panel.better).p_value

    @property
    def _looks(self) -> PairedTest | None:
        """The test that pays for looks at an experiment; its interval stands in for t's wherever one is needed."""
        test = self.method.test
        return test if test is not None and test.has_interval and not self.pair.by_unit else None

    # -- in words ----------------------------------------------------------------------------------

    def sentence(self) -> str:
        """The contrast in full; interval and p-value are the adjusted ones where there are several comparisons."""
        run, baseline, on = self.run, self.baseline, self.metric
        size, queries = (
            words.number(abs(self.difference), digits=self.panel.measure.decimals),
            words.counted(self.queries, self.panel.measure.unit),
        )
        corrected = self.method.corrected_for(self.comparisons)
        if self.verdict in {"better", "worse"}:
            verb = "beats" if self.verdict == "better" else "loses to"
            counts = words.counted(self.queries, self.panel.measure.unit)
            if self.pair.by_unit:
                better = words.counted(self.wins, self.panel.measure.unit)
                counts = f"better on {better}, worse on {self.losses:,}, unchanged on {self.ties:,}"
            return f"{run} {verb} {baseline} on {on} by {size} ({self._evidence}{corrected}; {counts})."
        if self.verdict == "different":
            return f"{run} is {self._way} than {baseline} on {on} by {size} ({self._evidence}{corrected}; {queries})."
        if self.verdict == "same":
            each = f"the one {self.panel.measure.unit}" if self.queries == 1 else f"each of {queries}"
            return f"{run} and {baseline} score the same on {on}, on {each}."
        if self.verdict == "equivalent":
            return f"{run} and {baseline} are practically the same on {on} ({self._within}; {queries})."
        if self.verdict == "not worse":
            return f"{run} is not worse than {baseline} on {on} by {self._margin} or more ({words.p_value(self.not_worse or 0)}; {queries})."
        return f"No clear difference between {run} and {baseline} on {on}{self._limits(corrected)}"

    def beside(self) -> str:
        """The contrast beside another one of the same two runs, which tells what was corrected for."""
        size = words.number(abs(self.difference), digits=self.panel.measure.decimals)
        if self.verdict in CLEAR:
            how = self._way if self.verdict == "different" else self.verdict
            return f"{self.metric}: {how} by {size} ({self._evidence})."
        if self.verdict == "same":
            return f"{self.metric}: the same on every {self.panel.measure.unit}."
        if self.verdict == "equivalent":
            return f"{self.metric}: practically the same ({self._within})."
        if self.verdict == "not worse":
            return f"{self.metric}: not worse by {self._margin} or more ({words.p_value(self.not_worse or 0)})."
        return f"{self.metric}: no clear difference{self._limits()}"

    @property
    def _way(self) -> str:
        return "higher" if self.difference > 0 else "lower"

    @property
    def _margin(self) -> str:
        return self.method.margin_in_words(self.metric)

    @property
    def _evidence(self) -> str:
        """Interval and p-value, both corrected; the interval is of what the sentence says."""
        bounds = self.adjusted
        turned = self.verdict in CLEAR and self.difference < 0
        ends = (-bounds.upper, -bounds.lower) if turned else (bounds.lower, bounds.upper)
        interval = (
            f"{words.percent(self.method.level)} interval {words.interval(*ends, digits=self.panel.measure.decimals)}, "
            if bounds.known
            else ""
        )
        return f"{interval}{words.p_value(self.p_value_adjusted)}"

    @property
    def _within(self) -> str:
        found = self.equivalence
        assert found is not None
        ends = words.interval(found.lower, found.upper, sign=True, digits=self.panel.measure.decimals)
        return f"{words.percent(found.level)} interval {ends}, within ±{self._margin}"

    def _limits(self, corrected: str = "") -> str:
        """Why there is no clear difference, and what these queries could have shown."""
        if not self.queries:
            return f": no {self.panel.measure.unit} has a value for both."
        p_value = words.p_value(self.p_value_adjusted)
        if self.few:
            whole = words.counted(self.queries, self.panel.measure.unit)
            differ = (
                f"{self.differing:,} of {whole} {words.agree(self.differing, 'differs')}"
                if self.pair.by_unit
                else whole
            )
            return f": only {differ}, and fewer than {FEWEST} cannot show one ({p_value})."
        signed = words.number(self.difference, sign=True, digits=self.panel.measure.decimals)
        if self.p_value_adjusted <= self.method.alpha and not self.agrees:
            return f": {signed} in the mean, but {self.test} sees most differences go the other way ({p_value}{corrected})."
        if self._looks is not None and not self.bounds.known:
            return f" ({signed}): {self.bounds.reason}."
        if self.method.every_look:
            return (
                f" ({signed}, {self._evidence}{corrected}); add {words.plural(self.panel.measure.unit)} and look again."
            )
        if self._looks is not None:  # what t would detect is not what a planned look does
            return f" ({signed}, {self._evidence}{corrected})."
        if not self.detectable.difference > 0:
            if math.isnan(self.p_value) or self.queries < 2:
                return f": {self.bounds.reason or 'there is no spread to go by'}."
            unit = self.panel.measure.unit if self.panel.clusters is None else "cluster"
            return f" ({signed}, {p_value}{corrected}): every {unit} differs by the same, so that only more of them can tell."
        return f" ({signed}, {self._evidence}{corrected}). {self.reach}."

    @property
    def reach(self) -> str:
        """What difference these queries can detect, and how many would detect the one that was seen."""
        decimals = self.panel.measure.decimals
        detected = words.number(self.detectable.difference, digits=decimals)
        text = f"{words.counted(self.queries, self.panel.measure.unit)} can detect about {detected}"
        needed, size = self.queries_needed, abs(self.difference)
        if needed is not None and needed > self.queries and size > 0.5 * 10 ** -(3 if decimals is None else decimals):
            text += f"; detecting {words.number(size, digits=decimals)} would take about {words.rounded(needed)}"
        return text


def contrast(panel: Panel, run: str, baseline: str, method: Method) -> Contrast:
    """Compare two systems on one measure, not yet corrected for other comparisons."""
    pair: Pair = panel.pair(run, baseline) if panel.by_unit else panel.pair_of_means(run, baseline)
    test = choose_test(pair, method)
    sample = pair.sample_for(test)
    difference = pair.means.mean
    rounding = abs(difference) <= CLOSE * pair.means.largest
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
        p_value=test.p_value(sample) if pair.queries else math.nan,
        test=str(test),
        agrees=bool(not rounding and test.direction(sample) == np.sign(difference)),
        smallest=test.smallest(sample),
    )  # fmt: skip


def interval_of(pair: Pair, method: Method, level: float, panel: Panel) -> Bounds:
    """The interval of a difference at a level: t unless another was asked for, within what a difference can be."""
    if not pair.queries:
        return Bounds.none("no query has a value for both")
    interval = method.interval
    if interval is None:
        interval = _percentile(method.seed) if panel.pools else t_interval()
    if not isinstance(pair.means, Sample) and not interval.by_moments:
        raise InputError(f"the interval {interval} needs the differences of units: {WITHOUT_UNITS}; use t")
    low, high = panel.measure.range
    return interval.of(pair.means, level).clipped(low - high, high - low)  # type: ignore[arg-type] # such an interval takes either


def _percentile(seed: int) -> Interval:
    from rankscope.inference.bootstrap import percentile

    return percentile(seed=seed)


def choose_test(pair: Pair, method: Method) -> PairedTest:
    """The test asked for; else t, but exact sign flips where it would have too little to go by."""
    if method.test is not None:
        return method.test
    if isinstance(pair, PairedValues) and pair.means.statistic is not None and pair.differing >= FEWEST:
        from rankscope.inference.bootstrap import bootstrap

        return bootstrap(seed=method.seed)
    # without spread t would be infinitely sure
    alike = pair.means.freedom and without_interval(pair.means)
    if isinstance(pair, PairedValues) and pair.differing and (pair.differing < FEWEST or alike):
        from rankscope.inference.permutation import permutation

        return permutation(seed=method.seed)
    from rankscope.inference.paired import t

    return t()
