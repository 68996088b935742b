"""One run against another on one metric: the difference, what is known about it, and the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankscope.inference.base import CLOSE, Bounds, PairedTest
from rankscope.inference.intervals import t as t_interval
from rankscope.panels.method import FEWEST, POWER, Method
from rankscope.panels.panel import PairedValues, Panel

if TYPE_CHECKING:
    from rankscope.inference.effects import Equivalence
    from rankscope.inference.power import Detectable

Verdict = Literal["better", "worse", "different", "equivalent", "not worse", "cannot tell", "same"]
OF_MEANS = frozenset(
    {"t", "bootstrap", "anytime", "betting"}
)  # tests of a mean and its spread; others turn signs
CLEAR = frozenset({"better", "worse", "different"})


@dataclass(frozen=True, eq=False)
class Contrast:
    """A run against a baseline on one metric. The difference is run - baseline.

    ``bounds`` is the interval of the difference, ``p_value`` that of ``test``. ``adjusted`` and ``p_value_adjusted`` take into
    account that there are ``comparisons`` in the family. What costs more is worked out when it is asked for.
    """

    run: str
    baseline: str
    measured: Panel
    paired: PairedValues
    method: Method
    bounds: Bounds
    p_value: float
    test: str
    p_value_adjusted: float = math.nan
    adjusted: Bounds = field(default_factory=lambda: Bounds.none("not corrected yet"))
    comparisons: int = 1
    direction: int = 0

    def __repr__(self) -> str:
        from rankscope.panels.verdicts import sentence

        return sentence(self)

    @property
    def metric(self) -> str:
        """How the metric is spelled."""
        return self.measured.name

    @property
    def queries(self) -> int:
        """How many queries both have a value for."""
        return self.paired.queries

    @cached_property
    def value(self) -> float:
        """The mean of the run over these queries."""
        return self._mean_of(self.run)

    @cached_property
    def baseline_value(self) -> float:
        """The mean of the baseline over these queries."""
        return self._mean_of(self.baseline)

    @property
    def difference(self) -> float:
        """Run minus baseline."""
        return self.paired.difference

    @cached_property
    def wins(self) -> int:
        """Queries on which the run is better; on a metric without a direction, higher."""
        return int(np.count_nonzero(self._sign * self.paired.gains > 0))

    @cached_property
    def losses(self) -> int:
        """Queries on which the run is worse; on a metric without a direction, lower."""
        return int(np.count_nonzero(self._sign * self.paired.gains < 0))

    @property
    def ties(self) -> int:
        """Queries on which both score the same."""
        return self.queries - self.wins - self.losses

    @property
    def differing(self) -> int:
        """Queries on which they differ."""
        return self.paired.differing

    @property
    def improved(self) -> bool:
        """Whether the difference is in the better direction."""
        return self._sign * self.difference > 0

    @cached_property
    def verdict(self) -> Verdict:
        """What the adjusted p-value says: better, worse, cannot tell; with a margin also equivalent and not worse."""
        if not self.differing and self.queries:
            return "same"
        if self.significant and self.agrees:
            if not self.measured.sign:
                return "different"
            return "better" if self.improved else "worse"
        if self.queries < FEWEST:
            return "cannot tell"
        level = self.method.alpha / self.tests  # Bonferroni's, whatever corrects the differences
        if self.equivalence is not None and self.equivalence.p_value <= level:
            return "equivalent"
        return "not worse" if self.not_worse is not None and self.not_worse <= level else "cannot tell"

    @property
    def tests(self) -> int:
        """By how many comparisons the level is divided where a margin is tested."""
        return 1 if str(self.method.correction) == "none" else self.comparisons

    @property
    def significant(self) -> bool:
        """Whether the adjusted p-value is small enough, and six or more queries differ."""
        return self.differing >= FEWEST and self.p_value_adjusted <= self.method.alpha

    @property
    def agrees(self) -> bool:
        """Whether the test sees the differences go the way that the mean does."""
        largest = float(np.abs(self.paired.sample.values).max(initial=0.0))
        rounding = abs(self.difference) <= CLOSE * largest
        return not rounding and self.direction == np.sign(self.difference)

    @property
    def few(self) -> bool:
        """Whether so few queries differ that no test can tell."""
        return 0 < self.differing < FEWEST

    @property
    def smallest(self) -> float:
        """The smallest p-value that the test could have given on so many differing queries."""
        drawn = self.test.startswith("bootstrap") or (
            self.test.startswith("permutation") and self.differing > 40
        )
        if drawn:
            return 1 / (getattr(self.method.test, "rounds", 100_000) + 1)
        exact = 2.0 ** (1 - self.differing)
        return exact if self.test.startswith(("permutation", "sign", "wilcoxon")) else 0.0

    @property
    def undefined_for_one(self) -> int:
        """Queries for which only one of the two has a value."""
        a, b = (self.measured.values[self.measured.row(s)] for s in (self.run, self.baseline))
        return int(np.count_nonzero(np.isnan(a) != np.isnan(b)))

    # -- worked out when asked for ---------------------------------------------------------------

    @cached_property
    def sign_flip(self) -> float:
        """Fisher's sign-flip p-value, exact up to 40 differing queries."""
        from rankscope.inference.permutation import permutation

        return permutation(seed=self.method.seed).p_value(self.paired.swapped)

    @cached_property
    def effect(self) -> float:
        """The difference in standard deviations of the differences."""
        from rankscope.inference.effects import standardised

        return standardised(self.paired.sample)

    @cached_property
    def superiority(self) -> float:
        """The share of queries on which the run is better, those where both are the same counting half."""
        return (self.wins + self.ties / 2) / self.queries if self.queries else math.nan

    @cached_property
    def relative(self) -> tuple[float, Bounds]:
        """The difference as a part of the baseline's mean, with its interval."""
        from rankscope.inference.effects import relative

        inside = self._paired_only
        return relative(inside.sample(self.run), inside.sample(self.baseline), self.method.level)

    @cached_property
    def detectable(self) -> Detectable:
        """The smallest difference that these queries could show, at 80% power."""
        from rankscope.inference.power import detectable

        return detectable(self.paired.sample, POWER, self.method.alpha)

    @cached_property
    def queries_needed(self) -> int | None:
        """How many queries would show the difference that was seen; None where there is none, or no spread."""
        from rankscope.inference.power import queries_needed

        sample = self.paired.sample
        units = sample.freedom + 1  # clusters, where queries come in such; they hold as many queries as now
        deviation = sample.error * math.sqrt(units)
        if not self.difference or not deviation > 0:
            return None
        needed = queries_needed(deviation, abs(self.difference), POWER, self.method.alpha)
        return math.ceil(needed * self.queries / units)

    @cached_property
    def favourable(self) -> tuple[int, float] | None:
        """How many of the queries that favour the one ahead carry its lead, and their share; None where nobody leads."""
        from rankscope.inference.effects import favourable

        return favourable(self.paired.sample)

    @cached_property
    def chances(self) -> dict[str, float] | None:
        """How probable it is that the run is better, worse or practically equal, by the Bayesian bootstrap; None unless asked for."""
        if not self.method.bayes or not self.queries:
            return None
        from rankscope.inference.bootstrap import bayesian

        found = bayesian(self.paired.sample, self.method.margin_of(self.metric), seed=self.method.seed)
        better, worse = (found.better, found.worse)[:: self._sign]
        return {"better": better, "worse": worse, "practically_equal": found.equal}

    @cached_property
    def equivalence(self) -> Equivalence | None:
        """Two one-sided tests that the difference is within the margin; None without a margin."""
        margin = self.method.margin_of(self.metric)
        if margin is None or self.queries < 2:
            return None
        from rankscope.inference.effects import equivalence

        return equivalence(self.paired.sample, margin, self.method.alpha)

    @cached_property
    def not_worse(self) -> float | None:
        """The p-value of being worse by the margin or more; None without a margin or a direction."""
        margin = self.method.margin_of(self.metric)
        if margin is None or self.queries < 2 or not self.measured.sign:
            return None
        from rankscope.inference.effects import noninferiority

        return noninferiority(self.paired.sample, margin, self.measured.better).p_value

    @property
    def _sign(self) -> int:
        return self.measured.sign or 1

    def _mean_of(self, system: str) -> float:
        return self._paired_only.mean(system)

    @property
    def _paired_only(self) -> Panel:
        """The metric on the queries for which both have a value."""
        whole = self.queries == len(self.measured.query_ids)
        return self.measured if whole else self.measured.within(self.paired.inside)


def contrast(measured: Panel, run: str, baseline: str, method: Method) -> Contrast:
    """Compare two systems on one metric, not yet corrected for other comparisons."""
    paired = measured.pair(run, baseline)
    test = _test_for(paired, method)
    sample = paired.sample if type(test).__name__ in OF_MEANS else paired.swapped
    return Contrast(
        run, baseline, measured, paired, method,
        bounds=interval_of(paired, method, method.level, measured),
        p_value=test.p_value(sample) if paired.queries else math.nan,
        test=str(test),
        direction=test.direction(sample),
    )  # fmt: skip


def interval_of(paired: PairedValues, method: Method, level: float, measured: Panel) -> Bounds:
    """The interval of a difference at a level: t unless another was asked for, within what a difference can be."""
    if not paired.queries:
        return Bounds.none("no query has a value for both")
    interval = method.interval or getattr(method.test, "interval", None) or t_interval()
    found = interval.of(paired.sample, level)
    low, high = measured.bounds
    return found.clipped(low - high, high - low) if math.isfinite(high - low) else found


def _test_for(paired: PairedValues, method: Method) -> PairedTest:
    if method.test is not None:
        return method.test
    # without spread t would be infinitely sure
    if 0 < paired.differing < FEWEST or (paired.differing and paired.sample.constant):
        from rankscope.inference.permutation import permutation

        return permutation(seed=method.seed)
    from rankscope.inference.paired import t

    return t()
