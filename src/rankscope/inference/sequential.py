"""Sequential tests: p-values that hold at every look, or at planned looks, and the limits at these looks."""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Literal

import numpy as np

from rankscope import words
from rankscope.declared import Lookup, Param, plain
from rankscope.errors import InputError
from rankscope.inference.base import CLOSE, Estimate, PairedTest, Sample
from rankscope.inference.intervals import normal, student, without_interval
from rankscope.lists import Array

_FEWEST = "the number of queries at which the interval is narrowest, decided beforehand"
First = Annotated[int, Param("how many queries there are at the first look, decided beforehand", low=20)]
Narrowest = Annotated[int, Param(_FEWEST, low=20)]
Low = Annotated[float, Param("the lowest value there can be", low=-1e9)]
High = Annotated[float, Param("the highest value there can be", high=1e9)]
Look = Annotated[int, Param("which look this is, from 1", low=1, high=50)]
Looks = Annotated[int, Param("how many looks were planned, at equal numbers of units", low=1, high=50)]
Shares = Annotated[
    Lookup | None,
    Param(
        "the share of all planned units at each look up to this one, like (0.2, 0.5), if looks were not at equal numbers",
        takes_sequence=True,
    ),
]
Adding = Annotated[
    bool, Param("users go on adding to the metric after their first day, so that the correlation of looks is unknown")
]
Spending = Annotated[
    Literal["obrien_fleming", "pocock"],
    Param("how alpha is spent: obrien_fleming keeps nearly all for the end, pocock spends it evenly"),
]

_AIM = 2 * np.log(2 / 0.05)  # bets are sized for a 95% interval, and right for any other
_BEST = 8.2122  # where (1 + 1/x) * log((1 + x) / 0.05**2) is smallest: the narrowest 95% interval
_CAP = 0.5  # at most this part of the capital can be lost at one query
FAR = 8.0  # standard errors beyond which nothing is left of a normal distribution
LOST = 1e-300  # what is rarer is not told apart
LEAST = 1e-3  # the least part of all units that comes between two looks
STEPS = 400  # points, at least, of the grid on which the density of what goes on is held


def check_range(low: float, high: float) -> None:
    """Refuse a range whose low end is not below its high end."""
    if low >= high:
        raise InputError(
            f"betting(low={plain(low)}, high={plain(high)}): low is below high, as in betting(low=0, high=1)"
        )


def within(sample: Sample, low: float, high: float) -> Array:
    """The values on a scale from -1 to 1, in the order given; InputError for one outside low to high."""
    least, most = float(sample.values.min()), float(sample.values.max())
    room = CLOSE * (high - low)  # a score may be above 1 by its rounding
    if least < low - room or most > high + room:
        there = f"values from {words.amount(least)} to {words.amount(most)}"
        raise InputError(f"betting(low={plain(low)}, high={plain(high)}) was given {there}: set their range")
    return np.clip((sample.values - (low + high) / 2) / ((high - low) / 2), -1.0, 1.0)


def bets(values: Array) -> Array:
    """The size of the bet on each value, from the values before it: larger where these vary little, and shrinking."""
    seen = np.arange(1, len(values) + 1)
    centre = np.cumsum(values) / (seen + 1)
    spread = (1 + np.cumsum((values - centre) ** 2)) / (seen + 1)
    before = np.concatenate([[1.0], spread[:-1]])
    return np.asarray(np.sqrt(_AIM / (before * seen * np.log1p(seen))))


def stakes(sizes: Array, mean: float) -> Array:
    """The bets that a mean allows: whatever the next value is, half the capital is left."""
    return np.minimum(sizes, _CAP / max(1 + mean, 1e-300))


def most_wealth(values: Array, sizes: Array, mean: float) -> float:
    """The logarithm of the most that betting on a larger mean than this ever made of 1, looking after every value."""
    return max(0.0, float(np.cumsum(np.log1p(stakes(sizes, mean) * (values - mean))).max()))


def lowest(values: Array, alpha: float) -> float:
    """The lowest mean that is not refuted at this alpha, on the scale from -1 to 1."""
    sizes, enough = bets(values), float(np.log(2 / alpha))
    refuted, left = -1.0, 1.0
    if most_wealth(values, sizes, refuted) < enough:
        return refuted
    while (middle := (refuted + left) / 2) not in {refuted, left}:
        refuted, left = (middle, left) if most_wealth(values, sizes, middle) >= enough else (refuted, middle)
    return refuted


def prior(count: int, narrowest: int) -> float:
    """The variance that the mixture gives to the mean, in squared standard errors at this many queries."""
    return _BEST * count / narrowest


def units_seen(sample: Sample | Estimate) -> int:
    """How many units there are; of two sides of unequal size twice the smaller one, which is what a first look waits for."""
    return 2 * sample.least if isinstance(sample, Estimate) and sample.least else sample.count


def first_look(sample: Sample | Estimate, first: int) -> str:
    """The share of all units at the first look."""
    if isinstance(sample, Estimate) and sample.least:
        return f"the first look is at {words.count(-(-first // 2))} units in each variant, and one has {words.count(sample.least)}"
    return f"the first look is at {first} queries"


def error_of_looks(sample: Sample | Estimate) -> float:
    """The standard error, of two sides the ``guarded`` one."""
    return sample.guarded if isinstance(sample, Estimate) else sample.error


def is_constant(sample: Sample | Estimate) -> bool:
    """Whether all values are the same up to rounding, so that their spread is unknown."""
    return sample.error <= sample.rounding


# --- planned looks, each of which spends a part of alpha


def spent(part: float, alpha: float, spending: str) -> float:
    """How much of alpha is spent when this part of the units is in.

    Source: Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70(3), 1983.

    >>> round(spent(1.0, 0.05, "obrien_fleming"), 4), round(spent(0.5, 0.05, "pocock"), 4)
    (0.05, 0.031)
    """
    if spending == "pocock":
        return alpha * math.log1p((math.e - 1) * part)
    return 2 * math.erfc(normal(alpha / 4) / math.sqrt(part) / math.sqrt(2))  # half of alpha on each side


@cache
def critical(looks: int, of: int, alpha: float, spending: str, shares: tuple[float, ...] = ()) -> tuple[float, ...]:
    """How many standard errors a difference must be away from 0, at each look up to this one.

    ``shares`` are the parts of all planned units that were in at each look, equal steps unless given; the last look spends all that is
    left of alpha, also where there are fewer units then than planned, or more. What is left of the normal density after each look
    is carried to the next on a grid (Armitage, McPherson and Rowe, 1969).

    >>> [round(z, 3) for z in critical(5, 5, 0.05, "pocock")]
    [2.438, 2.427, 2.41, 2.397, 2.386]
    >>> [round(z, 3) for z in critical(5, 5, 0.05, "obrien_fleming")]
    [4.877, 3.357, 2.68, 2.29, 2.031]
    >>> [round(z, 3) for z in critical(2, 2, 0.05, "obrien_fleming", (0.3, 1.0))]
    [3.929, 1.96]
    """
    times = [0.0, *(shares or (look / of for look in range(1, looks + 1)))]
    ends: list[float] = []
    grid, density = np.zeros(1), np.ones(1)  # of the sum so far, whose variance is the part of the units that is in
    before = 0.0
    for look in range(1, looks + 1):
        spread = math.sqrt(times[look] - times[look - 1])
        now = alpha if look == of else spent(times[look], alpha, spending)
        end = _end(grid, density, spread, now - before, FAR * max(1.0, math.sqrt(times[look])))
        ends.append(end / math.sqrt(times[look]))
        before = now
        if look < looks:
            edge = min(end, FAR * math.sqrt(times[look]))
            grid, density = _kept(grid, density, spread, edge, math.sqrt(times[look + 1] - times[look]))
    return tuple(ends)


def _kept(
    grid: Array, density: Array, spread: float, edge: float, ahead: float, move: float = 0.0
) -> tuple[Array, Array]:
    """The grid and the density of experiments that go on after a look; ``move`` is their drift up to it, ``ahead`` the spread up to the next."""
    steps = 2 * math.ceil(max(STEPS / 2, 2.5 * edge / ahead))
    points = np.linspace(-edge, edge, steps + 1)
    weights = np.ones(steps + 1)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0  # Simpson's rule
    away = (points[:, None] - grid[None, :] - move) / spread
    kernel = np.exp(-0.5 * away**2) / (spread * math.sqrt(2 * math.pi))
    return points, (kernel @ density) * weights * (2 * edge / steps / 3)


def _end(grid: Array, density: Array, spread: float, part: float, most: float) -> float:
    """The sum at which this part of all experiments ends, by bisection."""
    low, high = 0.0, most
    for _ in range(80):
        end = (low + high) / 2
        low, high = (end, high) if _beyond(grid, density, spread, end) > part else (low, end)
    return (low + high) / 2


def _beyond(grid: Array, density: Array, spread: float, end: float, move: float = 0.0) -> float:
    from scipy.special import ndtr

    away = grid + move
    return float((density * (ndtr((-end - away) / spread) + ndtr((away - end) / spread))).sum())


def as_student(z: float, freedom: float) -> float:
    """Where Student's t has as much beyond it as the normal distribution has beyond z: an early look knows its spread only roughly.

    Source: Jennison and Turnbull, Group Sequential Methods with Applications to Clinical Trials, 2000.

    >>> round(as_student(2.438, 18), 3)
    2.696
    """
    return student(freedom, max(math.erfc(z / math.sqrt(2)) / 2, LOST))


def as_normal(t: float, freedom: float) -> float:
    """The reverse of ``as_student``.

    >>> round(as_normal(as_student(2.438, 18), 18), 6)
    2.438
    """
    from scipy.special import ndtri, stdtr

    beyond = float(stdtr(freedom, -t))
    return -float(ndtri(beyond)) if beyond > LOST else t


class Planned:
    """What the test and the interval of a planned look share."""

    look: int
    looks: int
    spending: str
    shares: Lookup | None
    adding: bool

    def check(self) -> None:
        """A look is one of those that were planned, and the parts of the units grow to it."""
        if self.look > self.looks:
            raise InputError(f"group_sequential(look={self.look}, looks={self.looks}): look is at most looks")
        if self.shares is None:
            return
        parts = [part for _, part in self.shares]
        spelling = f"group_sequential(look={self.look}, looks={self.looks}, shares={plain(self.shares)})"
        if [number for number, _ in self.shares] != list(range(1, self.look + 1)):
            raise InputError(
                f"{spelling}: give a share for each look up to this one, like {_example(self.look, self.looks)}"
            )
        early = parts if self.look < self.looks else parts[:-1]
        if (
            any(later - earlier < LEAST for earlier, later in zip([0.0, *parts], parts, strict=False))
            or max([0.0, *early]) >= 1
        ):
            raise InputError(
                f"{spelling}: shares are the parts of all planned units that were in at each look: each is above the one before, "
                f"and below 1 until the last look, like {_example(self.look, self.looks)}"
            )

    def reach(self, alpha: float) -> float:
        """How many standard errors away a difference must be at this look."""
        parts = () if self.shares is None else tuple(part for _, part in self.shares)
        if self.adding:  # the looks' parts of alpha add up, however the looks are correlated
            times = [0.0, *(parts or (look / self.looks for look in range(1, self.look + 1)))]
            before = spent(times[-2], alpha, self.spending) if self.look > 1 else 0.0
            now = alpha if self.look == self.looks else spent(times[-1], alpha, self.spending)
            return normal(max(now - before, LOST) / 2)
        return critical(self.look, self.looks, alpha, self.spending, parts)[-1]


def _example(look: int, looks: int) -> str:
    shares = ", ".join(f"{number / looks:.2g}" for number in range(1, look + 1))
    return f"shares=({shares}{',' if look == 1 else ''})"


# --- the tests


class anytime(PairedTest, aliases=("asymptotic",)):
    """An asymptotic sequential test: valid at every look from the first one on.

    A mean of normal values is tested against a normal mixture of other means. That holds for the differences of scores as
    soon as their mean is near enough to normal, which is what the first look waits for: on real scores, looking after every
    query from 20 to 1,000 errs in about 4 of 100 cases, where a repeated t test errs in 42. NaN before the first look, and
    where all differences are the same other than 0. At each look it does not depend on the order of queries.

    The first queries must show how differences spread. Where half of them are small gains and a tenth large losses, none of the
    losses may have come yet, and looking from 20 queries on errs in 18 of 100 cases, from 50 in 8, from 100 in 5:
    ``anytime(first=100)`` waits for that, and ``betting`` errs in 2 from the first query.

    Of two variants with units of their own ``anytime(first=200)`` waits for 100 in each, and the error is no smaller than if all units
    varied alike: a small variant that has not met any of the rare large values yet would look sure of its mean.

    >>> import numpy as np
    >>> values = np.array([0.1, 0.3, 0.2, -0.1] * 6)
    >>> round(anytime().p_value(Sample(values)), 4)
    0.0074
    >>> round(anytime().p_value(Sample(values[:19])), 4)
    nan
    """

    every_look = True
    has_interval = True
    by_moments = by_spread = True
    needs_many = 100
    hypothesis = "the mean difference is 0, at every look"
    in_words = "a test that holds at every look (asymptotic confidence sequences)"
    source = "Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic confidence sequences, Annals of Statistics 2024"
    best_for = "queries that are judged one after the other, to stop as soon as enough is known, from 20 queries on"

    first: First = 20
    narrowest: Narrowest = 100

    def p_value(self, sample: Sample | Estimate) -> float:
        """The smallest alpha at which the interval ``anytime`` excludes 0."""
        self.refuse_clusters(sample)
        if sample.count and not sample.differing:
            return 1.0
        if units_seen(sample) < self.first or is_constant(sample) or sample.reason:
            return math.nan
        x = prior(sample.count, self.narrowest)
        z = sample.mean / error_of_looks(sample)
        return min(1.0, math.exp((math.log1p(x) - z * z * x / (1 + x)) / 2))


class group_sequential(Planned, PairedTest, aliases=("sequential", "alpha_spending")):
    """A test at one of some planned looks, which together err no more often than alpha.

    Plan how many looks there will be, at equal numbers of units, and say which this is: ``group_sequential(look=2, looks=5)``. Where looks
    come at other numbers, ``shares`` says what part of all planned units was in at each of them so far: ``shares=(0.1, 0.4)``. The p-value
    is the smallest alpha of the whole plan at which this look would end it. ``obrien_fleming`` asks for very much at first and hardly more
    than a single test at the end; ``pocock`` asks for the same each time.

    If users go on adding to the metric after their first day, the correlation of looks is unknown. With ``adding`` every look has its own
    part of alpha. Experiments set it if users of the log come back on other days and the metric is not windowed.

    >>> import numpy as np
    >>> sample = Sample(np.array([0.3, 0.1, 0.2, 0.4, -0.1] * 10))
    >>> group_sequential(look=1, looks=5).p_value(sample) > group_sequential(look=5, looks=5).p_value(sample)
    True
    """

    by_moments = by_spread = True
    has_interval = True
    hypothesis = "the mean difference is 0, at the planned looks"
    in_words = "a group-sequential test (alpha spending)"
    source = "Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70(3), 1983"
    best_for = "experiments with a few looks at planned dates. More power than anytime"

    look: Look = 1
    looks: Looks = 1
    spending: Spending = "obrien_fleming"
    shares: Shares = None
    adding: Adding = False

    def p_value(self, sample: Sample | Estimate) -> float:
        """The smallest alpha at which this look ends the experiment; NaN without spread or units."""
        if sample.count and not sample.differing:
            return 1.0
        if without_interval(sample):
            return math.nan
        away = as_normal(abs(sample.mean) / error_of_looks(sample), sample.freedom)
        low, high = 1e-12, 1.0 - 1e-9
        if away <= self.reach(high):
            return 1.0
        for _ in range(60):
            middle = math.sqrt(low * high) if high < 0.5 else (low + high) / 2
            low, high = (low, middle) if away >= self.reach(middle) else (middle, high)
            if high / low < 1 + 1e-9:
                break
        return high


def power_at_looks(test: group_sequential, alpha: float, drift: float) -> float:
    """The chance that one of some planned looks finds a difference that is ``drift`` standard errors away from 0 at the last one.

    >>> round(power_at_looks(group_sequential(looks=1), 0.05, 2.8), 3)  # as one test: 1.96 + 0.84
    0.8
    """
    step = 1 / test.looks
    spread, move = math.sqrt(step), drift * step
    grid, density, power = np.zeros(1), np.ones(1), 0.0
    for look in range(1, test.looks + 1):
        edge = test.having(look=look, shares=None).reach(alpha) * math.sqrt(look * step)
        power += _beyond(grid, density, spread, edge, move)
        grid, density = _kept(grid, density, spread, min(edge, FAR + drift), spread, move)
    return power


class betting(PairedTest):
    """An exact sequential test of bounded differences: valid after every query.

    A gambler bets that the mean difference is not 0; one over the most capital there ever was is the p-value. It supposes only
    that differences lie from ``low`` to ``high`` and that each has mean 0 given those before. Queries are taken in the order
    given, as they were judged: in another order the p-value is another.

    >>> import numpy as np
    >>> round(betting().p_value(Sample(np.array([0.1, 0.3, 0.2, -0.1] * 6))), 4)
    0.4707
    """

    every_look = True
    has_interval = True
    in_order = True
    hypothesis = "the mean difference is 0, at every look"
    in_words = "a test that holds at every look (betting)"
    source = "Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS B 2024"
    best_for = "a promise that holds for any number of queries, at the price of power"

    low: Low = -1.0
    high: High = 1.0

    def check(self) -> None:
        """The range has room, and 0 in it."""
        check_range(self.low, self.high)
        if not self.low <= 0 <= self.high:
            remedy = "0 is between low and high, as in betting(low=-1, high=1)"
            raise InputError(f"betting(low={plain(self.low)}, high={plain(self.high)}): {remedy}")

    def p_value(self, sample: Sample) -> float:
        """One over the largest capital so far, at most 1. InputError for a difference outside ``low`` to ``high``."""
        self.refuse_clusters(sample)
        if not sample.differing:
            return 1.0 if sample.count else math.nan
        values = within(sample, self.low, self.high)
        sizes, middle = bets(values), -(self.low + self.high) / (self.high - self.low)
        most = max(most_wealth(values, sizes, middle), most_wealth(-values, sizes, -middle))
        return min(1.0, math.exp(float(np.log(2)) - most))  # half is bet on a larger and half on a smaller mean
