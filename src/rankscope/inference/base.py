"""The sample that every inference starts from, and the base classes of intervals, tests and corrections."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from threading import Thread
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.blocks import ValueRange
from rankscope.declared import Declared, Param, plain
from rankscope.errors import InputError
from rankscope.inference.dealing import SKEWED, Chance, Units, skewness_of_difference
from rankscope.lists import Array, exact_sum

CLOSE = 1e-9  # sums of the same numbers in another order are equal up to this part of the largest
ROUNDED = 1e-12  # a smaller spread, as a share of the largest value, is rounding
FEW_FREEDOM = 60  # degrees of freedom below which the error of a ratio of unequal units is not known well
CELLS = 2_000_000  # random numbers held at once: some tens of megabytes
TINY = 2.0**-300  # the squares and cubes of values below this are lost: they are enlarged first, exactly
UNIT = 2.0**600

Rounds = Annotated[int, Param("how many random draws are made", low=99, high=100_000_000)]
Seed = Annotated[int, Param("the seed of the random numbers", low=0)]


def portions(rounds: int, each: int, most: int | None = None) -> Iterator[slice]:
    """Split rounds of ``each`` random numbers into slices of at most ``most`` numbers together."""
    at_once = max((most or CELLS) // max(each, 1), 1)
    for start in range(0, rounds, at_once):
        yield slice(start, min(start + at_once, rounds))


def check_between(name: str, value: float, example: float) -> None:
    """Refuse a level or an alpha that is not between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"{name}={plain(float(value))}: {name} is between 0 and 1, like {example}")


def is_significant(p_value: float, alpha: float) -> bool:
    """True if a p-value is small enough: at most alpha, everywhere. False for NaN.

    >>> is_significant(0.05, 0.05), is_significant(math.nan, 0.05)
    (True, False)
    """
    return p_value <= alpha


@dataclass(frozen=True, eq=False)
class Sample:
    """One value per query: the scores of a run, or the differences of two. Values are finite, and their order changes no result.

    ``clusters`` numbers the cluster (user, session, topic) of each query from 0. ``weights`` of queries in the mean are above 0.
    ``statistic`` computes the statistic of the bootstrap, if it is not the mean, from the number of times that each query (or cluster) is
    drawn, rounds x groups; the values are then the influence of each query on it. ``most`` limits the degrees of freedom if values carry less.

    ``groups`` counts clusters, or queries without clusters. ``freedom`` is the number of degrees of freedom: groups - 1, and less for clusters
    of unequal size and for queries of unequal weight. ``shares`` is then the share of each in all queries (in their weight, if they have weights). ``largest`` is the
    largest absolute value, against which rounding is judged; 0 without queries.
    """

    reason: ClassVar[str] = ""

    values: Array
    clusters: Array | None = None
    statistic: Callable[[Array], Array] | None = None
    weights: Array | None = None
    most: float = math.inf
    count: int = field(init=False, repr=False)
    groups: int = field(init=False, repr=False)
    freedom: float = field(init=False, repr=False)
    shares: Array | None = field(init=False, repr=False)
    largest: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        groups = count = len(self.values)
        freedom: float = max(count - 1, 0)
        shares = None
        uneven = self.weights is not None and count > 1 and np.ptp(self.weights) > 0
        if self.clusters is not None or uneven:  # a query that weighs more is a larger cluster of its own
            weights = self.weights / self.weights.max() if self.weights is not None and uneven else np.ones(count)
            groups, freedom, shares = freedom_of_sizes(self.sum_clusters(weights))
        largest = float(np.abs(self.values).max()) if count else 0.0
        vars(self).update(count=count, groups=groups, freedom=min(freedom, self.most), shares=shares, largest=largest)

    @cached_property
    def mean(self) -> float:
        """The mean over queries; NaN without queries."""
        return exact_sum(self.values) / self.count if self.count else math.nan

    def sum_clusters(self, values: Array) -> Array:
        """The sum of the values of each cluster; the values themselves without clusters."""
        return values if self.clusters is None else _sums_of(values, self.clusters)

    def corrected(self, sums: Array) -> Array:
        """The residuals of clusters of unequal size, corrected for their pull on the mean (CR2)."""
        return sums if self.shares is None else sums / np.sqrt(rest_of(self.shares))

    @cached_property
    def deviation(self) -> float:
        """The standard deviation over queries (n - 1), without regard to clusters; NaN for fewer than two queries."""
        if self.count < 2:
            return math.nan
        if 0 < self.largest < TINY:
            return self.enlarged.deviation / UNIT
        return math.sqrt(exact_sum((self.values - self.mean) ** 2) / (self.count - 1))

    @cached_property
    def error(self) -> float:
        """The standard error of the mean, between clusters if there are any; NaN without freedom.

        Residuals of clusters of unequal size are corrected by bias-reduced linearisation (CR2). Source: Bell and McCaffrey, Bias reduction in
        standard errors for linear regression with multi-stage samples, Survey Methodology 28(2), 2002.
        """
        if not self.freedom:
            return math.nan
        if 0 < self.largest < TINY:
            return self.enlarged.error / UNIT
        around = self.sum_clusters(self.values - self.mean)
        if self.shares is not None:
            return math.sqrt(exact_sum(self.corrected(around) ** 2)) / self.count
        return math.sqrt(self.groups / (self.groups - 1) * exact_sum(around**2)) / self.count

    @property
    def enlarged(self) -> Sample:
        """The sample times ``UNIT``, for values below ``TINY``: exact, as it is a power of 2."""
        return replace(self, values=self.values * UNIT)

    @property
    def rounding(self) -> float:
        """The largest mean or error that can be rounding."""
        return ROUNDED * self.largest

    @cached_property
    def constant(self) -> bool:
        """True if all values are the same, so that their spread is unknown."""
        return bool(self.count) and bool(np.ptp(self.values) == 0)

    @cached_property
    def differing(self) -> int:
        """The number of values other than 0."""
        return int(np.count_nonzero(self.values))

    @property
    def favourable(self) -> tuple[int, float] | None:
        """The number, and the share, of the most favourable queries without which the leader loses its lead; None without a leader.

        The mean of the rest is 0 or has the other sign. Source: Broderick, Giordano and Meager, An automatic finite-sample robustness
        metric, 2020.

        >>> Sample(np.array([0.5, 0.1, -0.2, -0.3])).favourable  # without .5 the rest sum to -.4
        (1, 0.25)
        """
        total, rounding = exact_sum(self.values), CLOSE * self.largest
        if abs(total) <= rounding:
            return None
        rest = np.cumsum(np.sort(math.copysign(1, total) * self.values))
        dropped = self.count - int(np.flatnonzero(rest <= rounding).max(initial=-1)) - 1
        return dropped, dropped / self.count

    @cached_property
    def mirror(self) -> Sample:
        """The sample with every sign reversed, as if two runs changed places."""
        of = self.statistic
        return replace(self, values=-self.values, statistic=None if of is None else lambda counts: -of(counts))


def _sums_of(values: Array, clusters: Array) -> Array:
    """The sum of the values of each cluster, independent of their order."""
    parts: dict[int, list[float]] = defaultdict(list)
    for cluster, value in zip(clusters.tolist(), values.tolist(), strict=True):
        parts[cluster].append(value)
    return np.array([math.fsum(part) for _, part in sorted(parts.items())])


def rest_of(shares: Array) -> Array:
    """The share of all other clusters, above 0 even if rounding leaves nothing."""
    return np.asarray(np.maximum(1 - shares, np.finfo(float).eps))


def freedom_of_sizes(sizes: Array) -> tuple[int, float, Array | None]:
    """The number of clusters of these sizes, each above 0, their degrees of freedom, and their shares if sizes differ.

    Degrees of freedom are Satterthwaite's for queries that vary alike: with shares w and b = w² / (1 - w) they are
    1 / (sum w² + (sum b)² - sum b²), and clusters - 1 for equal sizes. Weights as sizes are exact for values whose variance is one over
    their weight. Source: Bell and McCaffrey 2002; Pustejovsky and Tipton, Small-sample methods for cluster-robust variance estimation,
    JBES 36(4), 2018.

    >>> freedom_of_sizes(np.array([2, 2, 2]))
    (3, 2, None)
    """
    groups = len(sizes)
    if groups < 2 or (sizes == sizes[0]).all():
        return groups, max(groups - 1, 0), None
    shares = sizes / exact_sum(sizes)
    pulls = np.sort(shares**2 / rest_of(shares))
    # (sum b)² - sum b² as twice the products of all pairs, which loses no digits if one cluster holds nearly all
    squares = exact_sum(shares**2) + 2 * exact_sum(pulls[1:] * np.cumsum(pulls)[:-1])
    freedom = 1 / squares
    # quantiles at whole numbers are exact, at fractions not in every scipy
    whole = round(freedom)
    return groups, whole if math.isclose(freedom, whole, rel_tol=1e-14) else freedom, shares


@dataclass(frozen=True)
class Estimate:
    """A mean or a difference of means with its standard error: the input of a t test without the values themselves.

    ``count`` is the number of units. ``freedom`` is the number of degrees of freedom, a fraction for Welch's test. ``largest`` is the size
    against which rounding is judged. ``reason`` explains an unknown error, if units are not too few. For a difference between separate
    units, ``least`` is the number of units of the smaller side, and ``pooled`` the error if all units varied alike; otherwise 0.

    ``units`` has the units of the system, or of both systems of a difference, if they are held. ``chance`` has random deals. If it is
    there, it replaces Student's t in tests and intervals.
    """

    clusters: ClassVar[None] = None  # they are in the error already

    mean: float
    error: float
    freedom: float
    count: int
    largest: float
    least: int = 0
    pooled: float = 0.0
    reason: str = ""
    units: tuple[Units, ...] = field(default=(), compare=False, repr=False)
    chance: Chance | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, mean: float, variance: float, count: int) -> Estimate:
        """The mean of ``count`` units with this variance (by n - 1)."""
        if count < 2:
            return cls(mean, math.nan, 0, count, abs(mean))
        return cls(mean, math.sqrt(variance / count), count - 1, count, max(abs(mean), math.sqrt(variance)))

    @classmethod
    def between(cls, run: Sample | Estimate, baseline: Sample | Estimate) -> Estimate:
        """The difference of two means over separate units, whose variances may differ.

        A side without spread, such as a few units that bought nothing, gets the variance of all units: its own error would be 0.

        Source: Welch, The generalization of Student's problem when several different population variances are involved, 1947.

        >>> found = Estimate.between(Sample(np.array([1.0, 2.0, 3.0])), Sample(np.array([0.0, 2.0, 4.0, 6.0])))
        >>> found.mean, round(found.error, 4), round(found.freedom, 3)
        (-1.0, 1.4142, 4.075)
        """
        mean, count = run.mean - baseline.mean, run.count + baseline.count
        least = min(run.count, baseline.count)
        largest = max(run.largest, baseline.largest)
        if not (run.freedom and baseline.freedom):
            return cls(mean, math.nan, 0, count, largest, least, reason=run.reason or baseline.reason)
        squares = [(side.error**2, side.freedom) for side in (run, baseline)]
        whole = math.fsum(square for square, _ in squares)
        parts = math.fsum(square**2 / freedom for square, freedom in squares)
        both = float(run.freedom + baseline.freedom)
        within = math.fsum(side.error**2 * side.count * side.freedom for side in (run, baseline)) / both
        pooled = math.sqrt(within * (1 / run.count + 1 / baseline.count))
        unseen = any(side.error <= side.rounding for side in (run, baseline))
        units = (*run.units, *baseline.units) if isinstance(run, Estimate) and isinstance(baseline, Estimate) else ()
        if unseen and pooled > math.sqrt(whole):
            return cls(mean, pooled, both, count, largest, least, pooled, units=units)
        freedom = whole**2 / parts if parts else both
        return cls(mean, math.sqrt(whole), freedom, count, largest, least, pooled, units=units)

    @cached_property
    def skewness(self) -> float:
        """The skewness of a difference if both sides had the same values, or 0 without units."""
        return skewness_of_difference(*self.units) if len(self.units) == 2 else 0.0

    @property
    def beyond_t(self) -> bool:
        """True if Student's t errs: the difference is skewed, or a few units with large denominators carry a ratio."""
        carried = len(self.units) == 2 and self.freedom < min(FEW_FREEDOM, self.least - 1)
        return (carried or abs(self.skewness) > SKEWED) and self.error > self.rounding

    @property
    def apart(self) -> bool:
        """True if the units of each system have one value, and the two differ."""
        return len(self.units) == 2 and self.error <= self.rounding < abs(self.mean)

    def drawn(self, test: PairedTest) -> Estimate:
        """The same estimate with the chance of random draws of its units if a test makes some, and the error by the same formula."""
        chance = test.draws(*self.units) if len(self.units) == 2 else None
        return self if chance is None else replace(self, error=chance.error, chance=chance)

    @property
    def rounding(self) -> float:
        """The largest mean or error that can be rounding."""
        return ROUNDED * self.largest

    @property
    def differing(self) -> int:
        """The number of units; 0 if nothing varies or differs by more than rounding, as 0.3 and 0.1 + 0.2 do."""
        return 0 if self.error <= self.rounding and abs(self.mean) <= self.rounding else self.count

    @property
    def guarded(self) -> float:
        """The error for early looks: at least the error if all units varied alike.

        The smaller of two sides may not have any of the rare large values yet. Its mean and its own error are then both too small.
        """
        return max(self.error, self.pooled)

    @property
    def chance_apart(self) -> float:
        """The probability that chance splits units with two values cleanly between two sides: the exact permutation test.

        >>> round(Estimate(1.0, 0.0, 4, 6, 1.0, least=3).chance_apart, 9)  # 2 of the 20 ways to choose three of six
        0.1
        """
        ways = math.lgamma(self.count + 1) - math.lgamma(self.least + 1) - math.lgamma(self.count - self.least + 1)
        return (2 if 2 * self.least == self.count else 1) * math.exp(-ways)

    @property
    def mirror(self) -> Estimate:
        """The estimate with the two systems in reverse."""
        return replace(self, mean=-self.mean, chance=None if self.chance is None else self.chance.mirror)


@dataclass(frozen=True, eq=False)
class Sides:
    """The values of the units of two systems that share none."""

    clusters: ClassVar[None] = None

    run: Array
    baseline: Array


@dataclass(frozen=True)
class Bounds:
    """An interval of a mean: its ends, its method and, if the ends are NaN, the reason."""

    lower: float
    upper: float
    method: str
    reason: str = ""

    @property
    def known(self) -> bool:
        """True if there is an interval."""
        return not math.isnan(self.lower)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends."""
        return self.lower, self.upper

    def around(self, value: float, text: str = "") -> ValueRange | float:
        """Return a value with this interval for tables and charts; the value alone if there is none."""
        return ValueRange(value, self.lower, self.upper, text) if self.known else value

    def scaled(self, factor: float) -> Bounds:
        """Return both ends times a number above 0."""
        return replace(self, lower=factor * self.lower, upper=factor * self.upper)

    @classmethod
    def none(cls, reason: str) -> Bounds:
        """No interval, with the reason."""
        return cls(math.nan, math.nan, "none", reason)

    def clipped(self, low: float, high: float) -> Bounds:
        """Return the part within a range."""
        return replace(self, lower=max(self.lower, low), upper=min(self.upper, high)) if self.known else self

    def including(self, value: float) -> Bounds:
        """Return the interval, extended to a value if it does not hold it."""
        return replace(self, lower=min(self.lower, value), upper=max(self.upper, value)) if self.known else self


def import_ahead() -> None:
    """Import the functions that tests and intervals take, which is slow, on a thread of its own while a log is read."""
    Thread(target=lambda: import_module("scipy.special")).start()


class _Method(Declared):
    """Base of intervals and tests. ``in_words`` is the name in a text; ``best_for`` and ``source`` are for people.

    ``by_moments`` is true if only the mean, its error and the degrees of freedom count, ``every_look`` if the method holds at any number of
    looks, ``in_order`` if the order of the queries matters.
    """

    by_moments: ClassVar[bool] = False
    every_look: ClassVar[bool] = False
    in_order: ClassVar[bool] = False
    in_words: ClassVar[str] = ""
    source: ClassVar[str] = ""
    best_for: ClassVar[str] = ""


class Interval(_Method, kind="interval"):
    """Base of every interval of a mean. ``fits`` names the only values that it is for (empty: any), ``has_test`` tells of a test of this name.

    ``by_range`` is true if it holds for values within a stated range from ``low`` to ``high``, so that it needs the values themselves.
    """

    has_test: ClassVar[bool] = False
    by_range: ClassVar[bool] = False
    fits: ClassVar[str] = ""

    def of(self, sample: Sample, level: float = 0.95) -> Bounds:
        """The interval of the mean of a sample; ``Bounds.none`` with the reason if there is none."""
        raise TypeError(f"{type(self).__name__} gives no interval")


Of = Literal["means", "signs", "ranks", "swaps", "units"]


class PairedTest(_Method, kind="test"):
    """Base of every test of paired differences. ``hypothesis`` is the tested hypothesis in words.

    ``of`` names the input of the test, one number per query:

    - ``"means"``: numbers whose mean is the difference of the means and whose spread is the spread of this difference. For a plain mean
      these are the gains; weighted and geometric means are linearised.
    - ``"signs"``: the gains, run minus baseline.
    - ``"ranks"``: the part of the query in the difference: its gain, times its weight if queries have weights; for a geometric
      mean the difference of the logarithms. Each has the sign of the gain.
    - ``"swaps"``: numbers that change their sign if the two systems change places on the query. These are the numbers that are ranked,
      but the linearised ones if a query has different weights in the two systems.
    - ``"units"``: the values of the units of each system, which are not paired (a pair of arrays).

    ``by_spread`` is true if the test divides by the spread of the differences, so that exact sign flips replace it if all
    paired differences are the same. ``has_interval`` tells of an interval of this name. Below ``needs_many`` queries the test errs more often than stated if differences are
    skewed.
    """

    of: ClassVar[Of] = "means"
    by_spread: ClassVar[bool] = False
    has_interval: ClassVar[bool] = False
    of_own_units: ClassVar[str] = ""  # its name for systems with units of their own
    needs_many: ClassVar[int] = 0
    hypothesis: ClassVar[str] = "the mean difference is 0"

    def p_value(self, sample: Sample) -> float:
        """The two-sided p-value of the differences in a sample: 1 if all are 0, NaN if there is no test."""
        raise TypeError(f"{type(self).__name__} gives no p-value")

    def draws(self, run: Units, baseline: Units) -> Chance | None:
        """Random draws of the units of two systems that share none, for the test and its interval; None if the test makes none."""
        return None

    @classmethod
    def takes_own_units(cls) -> bool:
        """True if it compares systems that have units of their own, as variants have users."""
        return cls.by_moments or cls.of == "units" or cls.draws is not PairedTest.draws

    def smallest(self, sample: Sample) -> float:
        """The smallest possible p-value for the same number of differing queries: 0 unless the test counts or draws."""
        return 0.0

    def direction(self, sample: Sample) -> int:
        """The direction of the differences as the test sees it: 1, -1 or 0; by default the sign of the mean."""
        return int(np.sign(sample.mean)) if sample.count else 0

    def refuse_clusters(self, sample: Sample | Estimate) -> None:
        """Refuse clusters of queries in a test of independent queries."""
        if sample.clusters is not None:
            remedy = "with clusters use t, permutation or bootstrap"
            raise InputError(f"the test {self} takes queries as independent; {remedy}")


class Correction(Declared, kind="correction"):
    """Base of every correction for several comparisons.

    A ``joint`` correction uses the scores of all systems together (``over``), others only p-values (``adjusted``). ``controls`` names the
    error that is kept below alpha, ``title`` is the name for people, ``in_words`` the name in a text. ``corrects`` is False if p-values stay as they
    are, ``anova`` is true for a correction based on an analysis of variance, and ``least`` if the smallest p-value of a family is multiplied
    by the number of comparisons.
    """

    joint: ClassVar[bool] = False
    corrects: ClassVar[bool] = True
    title: ClassVar[str] = ""
    anova: ClassVar[bool] = False
    least: ClassVar[bool] = False
    controls: ClassVar[str] = "the chance of any false difference in the family"
    calibration: ClassVar[str] = ""
    in_words: ClassVar[str] = ""
    source: ClassVar[str] = ""
    best_for: ClassVar[str] = ""

    def adjusted(self, p_values: Array) -> Array:
        """The adjusted p-values of a family, in the order given."""
        raise TypeError(f"{type(self).__name__} needs the scores of all systems")

    def levels(self, p_values: Array, alpha: float = 0.05) -> Array:
        """The level at which each comparison of a family is tested. Raises InputError if the correction has no levels."""
        raise InputError(f"the correction {self} gives no level for each p-value; use holm, bonferroni or bh")

    @property
    def name(self) -> str:
        """The correction as people write it."""
        return self.title or str(self)

    def over(self, scores: Array, pairs: Array, level: float = 0.95) -> Joint:
        """All comparisons of a family at once: ``scores`` is systems x queries, ``pairs`` m x 2 rows of it (run, baseline)."""
        raise TypeError(f"{type(self).__name__} needs only p-values")


@dataclass(frozen=True, eq=False)
class Joint:
    """The result of a joint correction for each pair.

    ``adjusted`` p-values and, for some methods, the unadjusted ``single`` p-value of each pair by the same draws.
    A difference is significant beyond ``critical`` times its ``error``: both are arrays over pairs.
    """

    adjusted: Array
    critical: Array
    error: Array
    single: Array | None = None
