"""The sample that every inference starts from, and the base classes of intervals, tests and corrections."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Declared, Param, plain
from rankscope.errors import InputError
from rankscope.lists import Array, exact_sum

CLOSE = 1e-9  # sums of the same numbers in another order are equal up to this part of the largest
CELLS = 2_000_000  # random numbers held at once: some tens of megabytes
TINY = 2.0**-300  # the squares and cubes of values below this are lost: they are enlarged first, exactly
UNIT = 2.0**600

Rounds = Annotated[int, Param("how many random draws are made", low=99, high=100_000_000)]
Seed = Annotated[int, Param("where the random numbers start", low=0)]


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
    """One value a query: the scores of a run, or the differences of two.

    ``clusters`` numbers the cluster (user, session, topic) of each query from 0, where queries come in such. Values are
    finite. Whatever is computed from a sample does not depend on the order of its queries.

    ``count`` is how many queries there are, ``groups`` how many clusters (or queries, without). ``freedom`` is the number of degrees
    of freedom: groups less one, and less than that where clusters are of unequal size, as few of them then hold most queries or weight.
    ``shares`` is what part of all queries each cluster holds, where they are of unequal size; of all weight where queries have
    ``weights`` in the mean, which are above 0. ``largest`` is the size of the value farthest from 0, against which rounding is judged;
    0 without any.
    ``statistic`` gives what the bootstrap is of, by how often each query (or cluster) is drawn, rounds x groups: where that is not
    the mean of the values drawn. The values are then what each query adds to it.
    """

    reason: ClassVar[str] = ""

    values: Array
    clusters: Array | None = None
    statistic: Callable[[Array], Array] | None = None
    weights: Array | None = None
    count: int = field(init=False, repr=False)
    groups: int = field(init=False, repr=False)
    freedom: float = field(init=False, repr=False)
    shares: Array | None = field(init=False, repr=False)
    largest: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        groups = count = len(self.values)
        freedom: float = max(count - 1, 0)
        shares = None
        if self.clusters is not None:
            groups, freedom, shares = _freedom_of(self.clusters, self.weights)
        largest = float(np.abs(self.values).max()) if count else 0.0
        vars(self).update(count=count, groups=groups, freedom=freedom, shares=shares, largest=largest)

    @cached_property
    def mean(self) -> float:
        """The mean over queries; NaN without any."""
        return exact_sum(self.values) / self.count if self.count else math.nan

    def sum_clusters(self, values: Array) -> Array:
        """The sum of each cluster's values, one value a query; without clusters the values as they are."""
        return values if self.clusters is None else _sums_of(values, self.clusters)

    def corrected(self, sums: Array) -> Array:
        """What is left of clusters around the mean, as large as it would be if none pulled the mean to itself (CR2).

        So it is of clusters of unequal size: where they are of one size, the error has one factor for all.
        """
        return sums if self.shares is None else sums / np.sqrt(rest_of(self.shares))

    @cached_property
    def deviation(self) -> float:
        """The standard deviation over queries (n - 1), not looking at clusters; NaN for fewer than two queries."""
        if self.count < 2:
            return math.nan
        if 0 < self.largest < TINY:
            return self.enlarged.deviation / UNIT
        return math.sqrt(exact_sum((self.values - self.mean) ** 2) / (self.count - 1))

    @cached_property
    def error(self) -> float:
        """The standard error of the mean, between clusters where there are such; NaN without freedom.

        What is left of a large cluster is too small, as the cluster pulls the mean to itself, so each counts by its share of the
        queries, or of their weight: bias-reduced linearisation, also CR2. Source: Bell and McCaffrey, Bias reduction in standard errors
        for linear regression with multi-stage samples, Survey Methodology 28(2), 2002.
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
        """The same ``UNIT`` times as large, for values below ``TINY``: exact, as it is a power of 2."""
        return replace(self, values=self.values * UNIT)

    @cached_property
    def constant(self) -> bool:
        """Whether all values are the same, so that their spread is unknown."""
        return bool(self.count) and bool(np.ptp(self.values) == 0)

    @cached_property
    def differing(self) -> int:
        """How many values are not 0."""
        return int(np.count_nonzero(self.values))

    @property
    def favourable(self) -> tuple[int, float] | None:
        """How many of the most favourable queries must be removed for the leader to lose its lead.

        Gives their number and their share of all queries; the mean of the rest is 0 or has the other sign. None where nobody leads.
        Source: Broderick, Giordano and Meager, An automatic finite-sample robustness metric, 2020.

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
        """The same sample with every sign turned, as when two runs change places."""
        of = self.statistic
        return replace(self, values=-self.values, statistic=None if of is None else lambda counts: -of(counts))


def _sums_of(values: Array, clusters: Array) -> Array:
    """The sum of each cluster's values, whatever their order."""
    parts: dict[int, list[float]] = defaultdict(list)
    for cluster, value in zip(clusters.tolist(), values.tolist(), strict=True):
        parts[cluster].append(value)
    return np.array([math.fsum(part) for _, part in sorted(parts.items())])


def rest_of(shares: Array) -> Array:
    """What part all other clusters hold, never 0, though a weight may leave them nothing that a number can say."""
    return np.asarray(np.maximum(1 - shares, np.finfo(float).eps))


def _freedom_of(clusters: Array, weights: Array | None) -> tuple[int, float, Array | None]:
    """How many clusters there are, their degrees of freedom, and the share of each where they are of unequal size.

    The degrees are Satterthwaite's, those of the error for queries that vary alike: with shares w and b = w² / (1 - w) they
    are 1 / (sum w² + (sum b)² - sum b²), and clusters less one where all are of one size. The shares are those of the weight where
    queries weigh differently, which is exact for values that vary by one over their weight. Source: Bell and McCaffrey 2002;
    Pustejovsky and Tipton, Small-sample methods for cluster-robust variance estimation, JBES 36(4), 2018.
    """
    sizes = np.unique(clusters, return_counts=True)[1]
    if weights is not None and np.ptp(weights) > 0:
        sizes = _sums_of(weights / weights.max(), clusters)
    return freedom_of_sizes(sizes)


def freedom_of_sizes(sizes: Array) -> tuple[int, float, Array | None]:
    """The same of clusters of these sizes, each above 0.

    >>> freedom_of_sizes(np.array([2, 2, 2]))
    (3, 2, None)
    """
    groups = len(sizes)
    if groups < 2 or (sizes == sizes[0]).all():
        return groups, max(groups - 1, 0), None
    shares = sizes / math.fsum(sizes.tolist())
    pulls = np.sort(shares**2 / rest_of(shares))
    # (sum b)² - sum b² is twice the products of all pairs: so nothing cancels where one cluster holds nearly all
    squares = math.fsum((shares**2).tolist()) + 2 * math.fsum((pulls[1:] * np.cumsum(pulls)[:-1]).tolist())
    freedom = 1 / squares
    # whole but for rounding: the quantiles of whole numbers are exact, which those of fractions are not in every scipy
    whole = round(freedom)
    return groups, whole if math.isclose(freedom, whole, rel_tol=1e-14) else freedom, shares


@dataclass(frozen=True)
class Estimate:
    """A mean or a difference of means with its standard error: what a t test needs where the values themselves were not kept.

    ``count`` is the number of units it rests on, ``freedom`` that of its degrees of freedom, which may be a fraction (Welch).
    ``largest`` is the size against which rounding is judged: that of the means and of the spread behind them. ``reason`` says why the
    error is unknown, where that is not for want of units. Of a difference between units of their own ``least`` is how many units the
    smaller side has, and ``pooled`` the error as it would be if all units varied alike; 0 where there are no two sides.
    """

    mean: float
    error: float
    freedom: float
    count: int
    largest: float
    least: int = 0
    pooled: float = 0.0
    reason: str = ""

    @classmethod
    def of(cls, mean: float, variance: float, count: int) -> Estimate:
        """The mean of so many units with this variance (by n - 1)."""
        if count < 2:
            return cls(mean, math.nan, 0, count, abs(mean))
        return cls(mean, math.sqrt(variance / count), count - 1, count, max(abs(mean), math.sqrt(variance)))

    @classmethod
    def between(cls, run: Sample | Estimate, baseline: Sample | Estimate) -> Estimate:
        """The difference of two means over units of their own, whose variances may differ.

        A side of which no spread was seen, as where the few units of a small one bought nothing, varies as all units do: its own error
        would be 0.

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
        unseen = any(side.error <= CLOSE * side.largest for side in (run, baseline))
        if unseen and pooled > math.sqrt(whole):
            return cls(mean, pooled, both, count, largest, least, pooled)
        return cls(mean, math.sqrt(whole), whole**2 / parts if parts else both, count, largest, least, pooled)

    @property
    def clusters(self) -> None:
        """None: clusters are in the error already."""

    @property
    def differing(self) -> int:
        """As many units as there are, where anything varies or differs."""
        return self.count if self.error or self.mean else 0

    @property
    def guarded(self) -> float:
        """The error where looks begin early: no smaller than if all units varied alike.

        The smaller of two sides may have seen none of the rare large values yet. Its mean and its own error are both too small then,
        which makes a difference look clear that is not there.
        """
        return max(self.error, self.pooled)

    @property
    def chance_apart(self) -> float:
        """How probable it is by chance that units of two values are parted cleanly between two sides: the exact permutation test.

        >>> round(Estimate(1.0, 0.0, 4, 6, 1.0, least=3).chance_apart, 9)  # 2 of the 20 ways to choose three of six
        0.1
        """
        ways = math.lgamma(self.count + 1) - math.lgamma(self.least + 1) - math.lgamma(self.count - self.least + 1)
        return (2 if 2 * self.least == self.count else 1) * math.exp(-ways)

    @property
    def mirror(self) -> Estimate:
        """The same with the two systems in each other's place."""
        return replace(self, mean=-self.mean)


@dataclass(frozen=True)
class Bounds:
    """An interval of a mean: its ends, its method and, where the ends are NaN, the reason why."""

    lower: float
    upper: float
    method: str
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return not math.isnan(self.lower)

    @classmethod
    def none(cls, reason: str) -> Bounds:
        """No interval, and why."""
        return cls(math.nan, math.nan, "none", reason)

    def clipped(self, low: float, high: float) -> Bounds:
        """Return the part within a range."""
        return replace(self, lower=max(self.lower, low), upper=min(self.upper, high)) if self.known else self

    def including(self, value: float) -> Bounds:
        """Return the interval, extended to a value if it does not hold it."""
        return replace(self, lower=min(self.lower, value), upper=max(self.upper, value)) if self.known else self


Of = Literal["means", "signs", "ranks", "swaps"]


class Interval(Declared, kind="interval"):
    """Base of every interval of a mean. ``in_words``, ``best_for`` and ``source`` are for people; ``of`` does the work.

    ``in_words`` is what a text calls it, ``fits`` on which values alone it stands (empty: on any).
    ``by_moments``, ``every_look`` and ``in_order`` are as for a ``PairedTest``; ``has_test`` says that the test of this name belongs to it.
    """

    by_moments: ClassVar[bool] = False
    every_look: ClassVar[bool] = False
    in_order: ClassVar[bool] = False
    has_test: ClassVar[bool] = False
    in_words: ClassVar[str] = ""
    fits: ClassVar[str] = ""
    source: ClassVar[str] = ""
    best_for: ClassVar[str] = ""

    def of(self, sample: Sample, level: float = 0.95) -> Bounds:
        """The interval of the mean of a sample; ``Bounds.none`` with the reason where there is none."""
        raise TypeError(f"{type(self).__name__} gives no interval")


class PairedTest(Declared, kind="test"):
    """Base of every test of paired differences. ``hypothesis`` says in words what is tested, ``in_words`` what a text calls the test.

    ``of`` says which numbers the test is given, one a query:

    - ``"means"``: numbers whose mean is the difference of the means and whose spread is that of this difference. For a plain mean
      these are the gains; weighted and geometric means are linearised.
    - ``"signs"``: the gains themselves, run minus baseline.
    - ``"ranks"``: what the query adds to the difference: its gain, times its weight where queries weigh differently; for a geometric
      mean the difference of the logarithms. Each has the sign of the gain.
    - ``"swaps"``: what changes its sign where the two systems change places on the query. These are the numbers that are ranked,
      but where a query weighs differently in the two systems: there the linearised ones stand in.

    ``by_moments`` says that the mean, its error and the degrees of freedom are all that the test looks at; ``every_look`` that it holds
    however often one looks; ``in_order`` that the order of the queries matters to it; ``has_interval`` that the interval of this name belongs to it. A test that ``needs_many`` errs more often than
    it says below so many queries where differences are skewed.
    """

    of: ClassVar[Of] = "means"
    by_moments: ClassVar[bool] = False
    every_look: ClassVar[bool] = False
    in_order: ClassVar[bool] = False
    has_interval: ClassVar[bool] = False
    needs_many: ClassVar[int] = 0
    hypothesis: ClassVar[str] = "the mean difference is 0"
    in_words: ClassVar[str] = ""
    source: ClassVar[str] = ""
    best_for: ClassVar[str] = ""

    def p_value(self, sample: Sample) -> float:
        """The two-sided p-value of the differences in a sample: 1 where all are 0, NaN where there is no test.

        Raises InputError for clusters where the test takes none.
        """
        raise TypeError(f"{type(self).__name__} gives no p-value")

    def smallest(self, sample: Sample) -> float:
        """The smallest p-value that the test could give on as many differing queries: 0 unless it counts or draws."""
        return 0.0

    def direction(self, sample: Sample) -> int:
        """Which way the test sees the differences go: 1, -1, or 0 where neither; that of the mean unless it looks at something else."""
        return int(np.sign(sample.mean)) if sample.count else 0

    def refuse_clusters(self, sample: Sample | Estimate) -> None:
        """One line where queries come in clusters and the test takes them as independent."""
        if sample.clusters is not None:
            remedy = "with clusters use t, permutation or bootstrap"
            raise InputError(f"the test {self} takes queries as independent; {remedy}")


class Correction(Declared, kind="correction"):
    """Base of every correction for several comparisons.

    A ``joint`` correction looks at the scores of all systems together (``over``), others at p-values (``adjusted``).
    ``controls`` says what is kept below alpha, ``title`` is the name as people write it, ``in_words`` what a text calls it. ``corrects`` is False for one that leaves
    p-values as they are, ``anova`` tells that it rests on an analysis of variance, and ``least`` that the smallest p-value of a family
    is multiplied by the number of comparisons.
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
        """The level at which each comparison of a family is tested. Raises InputError where the correction knows none."""
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

    ``adjusted`` p-values and, where the method gives it, the unadjusted ``single`` p-value of each pair by the same draws.
    A difference is significant where it is beyond ``critical`` times its ``error``: both are arrays over pairs.
    """

    adjusted: Array
    critical: Array
    error: Array
    single: Array | None = None
