"""The sample that every inference starts from, and the base classes of intervals, tests and corrections."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from rankscope.declared import Declared, Param
from rankscope.errors import InputError
from rankscope.lists import Array

CLOSE = 1e-9  # sums of the same numbers in another order are equal up to this part of the largest
CELLS = 2_000_000  # random numbers held at once: some tens of megabytes

# --- the vocabulary of parameters ----------------------------------------------------------------

Rounds = Annotated[int, Param("how many random draws are made", low=99, high=100_000_000)]
Seed = Annotated[int, Param("where the random numbers start", low=0)]


def exact_sum(values: Array) -> float:
    """The exact sum of all values, rounded once: their order does not matter."""
    return math.fsum(values.ravel().tolist())


def portions(rounds: int, each: int, most: int | None = None) -> Iterator[slice]:
    """Split rounds of ``each`` random numbers into slices of at most ``most`` numbers together."""
    at_once = max((most or CELLS) // max(each, 1), 1)
    for start in range(0, rounds, at_once):
        yield slice(start, min(start + at_once, rounds))


def check_between(name: str, value: float, example: float) -> None:
    """Refuse a level or an alpha that is not between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"{name}={value:g}: {name} is between 0 and 1, like {example}")


@dataclass(frozen=True, eq=False)
class Sample:
    """One value a query: the scores of a run, or the differences of two.

    ``clusters`` numbers the cluster (user, session, topic) of each query from 0, where queries come in such. Values are
    finite. Whatever is computed from a sample does not depend on the order of its queries.
    """

    values: Array
    clusters: Array | None = None

    @property
    def count(self) -> int:
        """How many queries there are."""
        return len(self.values)

    @cached_property
    def mean(self) -> float:
        """The mean over queries; NaN without any."""
        return exact_sum(self.values) / self.count if self.count else math.nan

    @cached_property
    def by_cluster(self) -> Array:
        """The sum of each cluster's values around the mean; without clusters each query's own."""
        return self.sum_clusters(self.values - self.mean)

    def sum_clusters(self, values: Array) -> Array:
        """The sum of each cluster's values; without clusters the values as they are."""
        if self.clusters is None:
            return values
        parts: dict[int, list[float]] = {}
        for cluster, value in zip(self.clusters.tolist(), values.tolist(), strict=True):
            parts.setdefault(cluster, []).append(value)
        return np.array([math.fsum(part) for _, part in sorted(parts.items())])

    @cached_property
    def largest(self) -> float:
        """The size of the largest value; 0 without queries."""
        return float(np.abs(self.values).max(initial=0.0))

    @property
    def freedom(self) -> int:
        """Degrees of freedom: queries, or clusters, less one."""
        groups = self.count if self.clusters is None else len(self.by_cluster)
        return max(groups - 1, 0)

    @cached_property
    def deviation(self) -> float:
        """The standard deviation over queries (n - 1), not looking at clusters; NaN for fewer than two queries."""
        if self.count < 2:
            return math.nan
        around = self.values - self.mean
        return math.sqrt(exact_sum(around**2) / (self.count - 1))

    @cached_property
    def error(self) -> float:
        """The standard error of the mean, between clusters where there are such; NaN without freedom."""
        if not self.freedom:
            return math.nan
        groups = self.freedom + 1
        return math.sqrt(groups / self.freedom * exact_sum(self.by_cluster**2)) / self.count

    @cached_property
    def constant(self) -> bool:
        """Whether all values are the same, so that their spread is unknown."""
        return bool(self.count) and bool(np.ptp(self.values) == 0)

    @cached_property
    def differing(self) -> int:
        """How many values are not 0."""
        return int(np.count_nonzero(self.values))

    @cached_property
    def mirrored(self) -> Sample:
        """The same sample with every sign turned, as when two runs change places."""
        return replace(self, values=-self.values)

    @cached_property
    def turned(self) -> bool:
        """Whether this sample, rather than its mirror image, is the one that random draws are made for.

        Draws are always made for the same one of the two, so that what is said of A against B mirrors what is said of B against A.
        """
        here, there = np.sort(self.values), np.sort(-self.values)
        apart = np.flatnonzero(here != there)
        return bool(len(apart)) and bool(here[apart[-1]] < there[apart[-1]])


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
        """The part of it that lies within the range of what it is of."""
        return replace(self, lower=max(self.lower, low), upper=min(self.upper, high)) if self.known else self


class Interval(Declared, kind="interval"):
    """Base of every interval of a mean. ``best_for`` and ``source`` are for people; ``of`` does the work."""

    source: ClassVar[str] = ""
    best_for: ClassVar[str] = ""

    def of(self, sample: Sample, level: float = 0.95) -> Bounds:
        """The interval of the mean of a sample; ``Bounds.none`` with the reason where there is none."""
        raise TypeError(f"{type(self).__name__} gives no interval")


class PairedTest(Declared, kind="test"):
    """Base of every test of paired differences. ``hypothesis`` says in words what is tested."""

    hypothesis: ClassVar[str] = "the mean difference is 0"
    source: ClassVar[str] = ""
    best_for: ClassVar[str] = ""

    def p_value(self, sample: Sample) -> float:
        """The two-sided p-value of the differences in a sample: 1 where all are 0, NaN where there is no test.

        Raises InputError for clusters where the test takes none.
        """
        raise TypeError(f"{type(self).__name__} gives no p-value")

    def direction(self, sample: Sample) -> int:
        """Which way the test sees the differences go: 1, -1, or 0 where neither; that of the mean unless it looks at something else."""
        return int(np.sign(sample.mean)) if sample.count else 0

    def refuse_clusters(self, sample: Sample) -> None:
        """One line where queries come in clusters and the test takes them as independent."""
        if sample.clusters is not None:
            raise InputError(
                f"the test {self} takes queries as independent; with clusters use t, permutation or bootstrap"
            )


class Correction(Declared, kind="correction"):
    """Base of every correction for several comparisons.

    A ``joint`` correction looks at the scores of all systems together (``over``), others at p-values (``adjusted``).
    ``controls`` says what is kept below alpha.
    """

    joint: ClassVar[bool] = False
    controls: ClassVar[str] = "the chance of any false difference in the family"
    measured: ClassVar[str] = ""
    source: ClassVar[str] = ""
    best_for: ClassVar[str] = ""

    def adjusted(self, p_values: Array) -> Array:
        """The adjusted p-values of a family, in the order given."""
        raise TypeError(f"{type(self).__name__} needs the scores of all systems")

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
    details: Any = None


summed = exact_sum
