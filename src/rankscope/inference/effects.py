"""Sizes of differences, tests against a margin, whether effects differ, posteriors of lifts, and whether units were split as planned."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from rankscope import words
from rankscope.errors import InputError
from rankscope.inference.base import CLOSE, ROUNDED, Bounds, Estimate, Interval, PairedTest, Sample
from rankscope.inference.intervals import reaches, t
from rankscope.lists import Array, exact_sum

KNOWN = 1e9  # degrees of freedom from which errors are as good as known: F is chi square then, which SciPy has to more digits
EXACT = 1000  # fewer units than this are tested by the binomial distribution itself, ...
FEW = 100  # ... and so are more of them where fewer than this were planned for a variant: limits alarm too often there
FLAT = "flat"
LEAST = 3  # past effects from which a prior is learnt
PRIOR_OF_SPLIT = 100.0  # units that the prior of other splits counts as
FAR = 200  # powers of 2 beyond which products of four values may be too large or too small for a number


def standardised(sample: Sample) -> float:
    """The mean difference in standard deviations of the differences, Cohen's d of paired values.

    0 where all differences are 0; NaN for fewer than two queries, and where all differences are the same otherwise. Clusters do not
    change it. Source: Sakai, On the reliability of statistics in IR, 2014: t over the root of n.

    >>> round(standardised(Sample(np.array([1.0, 2.0, 3.0]))), 6)
    2.0
    """
    if sample.count < 2:
        return math.nan
    if sample.deviation > sample.rounding:
        return sample.mean / sample.deviation
    return math.nan if sample.largest else 0.0


def relative(
    run: Sample, baseline: Sample, level: float = 0.95, method: Literal["fieller", "delta"] = "fieller"
) -> tuple[float, Bounds]:
    """Return the relative difference of two paired means, as a share of the size of the baseline's mean, and its interval.

    Fieller's interval excludes 0 exactly if the t interval of the difference does, and inverts if the runs change places. There is none
    if the baseline's mean is not clear of 0. 'delta' is symmetric around the value. The clusters are those of ``run``. The value has the
    sign of the difference, and is NaN for a baseline of mean 0. Source: Fieller, Some problems in interval estimation, 1954.

    Raises InputError for samples of unequal length, an unknown method, or a level outside 0 to 1.

    >>> value, bounds = relative(Sample(np.array([0.3, 0.5, 0.4])), Sample(np.array([0.2, 0.4, 0.4])))
    >>> round(value, 4)
    0.2
    """
    from scipy.special import stdtrit

    if run.count != baseline.count or method not in {"fieller", "delta"} or not 0 < level < 1:
        got = f"got {run.count} and {baseline.count} values, method={method!r}, level={level}"
        takes = "one value of the baseline per value, method='fieller' or 'delta', and a level between 0 and 1"
        raise InputError(f"a relative difference takes {takes}; {got}")
    _, power = math.frexp(max(run.largest, baseline.largest))
    unit = math.ldexp(1.0, -power) if abs(power) > FAR and power > -1000 else 1.0
    above = replace(run, values=(run.values - baseline.values) * unit)
    base = replace(run, values=baseline.values * unit)
    if base.mean < 0:
        base = base.mirror
    if not base.count or base.mean == 0:
        return math.nan, Bounds.none("the mean of the baseline is 0" if base.count else "no queries")
    value = above.mean / base.mean
    left = replace(run, values=above.values - value * base.values)
    if not above.freedom:
        return value, Bounds.none(f"fewer than 2 {'queries' if run.clusters is None else 'clusters'}")
    if left.error <= ROUNDED * float(max(np.abs(above.values).max(), abs(value) * np.abs(base.values).max())):
        return value, Bounds.none("every query has the same relative difference")
    reach = float(stdtrit(above.freedom, (1 + level) / 2))
    if method == "fieller":
        return value, _fieller(above, base, reach)
    error = reach * left.error / abs(base.mean)
    return value, Bounds(value - error, value + error, "delta")


def _fieller(above: Sample, base: Sample, reach: float) -> Bounds:
    """Return all x for which the mean of ``above - x * base`` is within ``reach`` standard errors of 0."""
    a, b = (side.sum_clusters(side.values - side.mean) for side in (above, base))
    if above.shares is None:
        scale = reach**2 * above.groups / (above.groups - 1) / above.count**2
    else:  # as the standard error has it
        scale = reach**2 / above.count**2
        a, b = above.corrected(a), above.corrected(b)
    squared = base.mean**2 - scale * exact_sum(b * b)
    crossed = above.mean * base.mean - scale * exact_sum(a * b)
    free = above.mean**2 - scale * exact_sum(a * a)
    return roots(squared, crossed, free, base.mean)


def roots(squared: float, crossed: float, free: float, base: float) -> Bounds:
    """Return the x between the roots of ``squared * x**2 - 2 * crossed * x + free``; none if the baseline is not clear of 0."""
    if squared <= CLOSE * base**2:
        return Bounds.none("the mean of the baseline is not clear of 0")
    root = math.sqrt(max(crossed**2 - squared * free, 0.0))
    far = crossed + math.copysign(root, crossed)  # the root without cancellation; the other from their product
    ends = (far / squared, free / far if far else 0.0)
    return Bounds(min(ends), max(ends), "fieller")


def relative_of_own(
    run: Sample | Estimate,
    baseline: Sample | Estimate,
    level: float = 0.95,
    interval: Interval | None = None,
    difference: Estimate | None = None,
) -> tuple[float, Bounds]:
    """Return the relative difference of two means over units of their own, as a share of the size of the baseline's, and its interval.

    Fieller's interval, with the quantile and the error of the difference: it excludes 0 exactly if the interval of the difference does.
    ``interval`` is Student's t by default; intervals for experiments that are analysed while they run also work. ``difference`` is
    the difference of the two means with random deals, by default without. There is none if the baseline is not clear of 0. The value has the sign of the difference, and is NaN for a baseline of mean 0.

    >>> one, other = Estimate.of(1.1, 0.04, 100), Estimate.of(1.0, 0.04, 100)
    >>> value, bounds = relative_of_own(one, other)
    >>> round(value, 3), round(bounds.lower, 3), round(bounds.upper, 3)
    (0.1, 0.043, 0.16)
    """
    if not baseline.mean:
        return math.nan, Bounds.none("the mean of the baseline is 0" if baseline.count else "no units")
    between = difference or Estimate.between(run, baseline)
    side, own = math.copysign(1.0, baseline.mean), _share_of_error(run, baseline, between)
    value = side * (run.mean / baseline.mean - 1)
    bounds = (interval or t()).of(between, level)  # type: ignore[arg-type] # such an interval takes either
    if not bounds.known:
        return value, bounds
    size, ends = abs(baseline.mean), []
    for reach in (between.mean - bounds.lower, bounds.upper - between.mean):
        of_baseline = (reach * own) ** 2
        crossed = between.mean * size + side * of_baseline
        ends.append(roots(size**2 - of_baseline, crossed, between.mean**2 - reach**2, size))
    below, above = ends
    return value, replace(below, upper=above.upper) if below.known and above.known else (
        above if below.known else below
    )


def less_share(
    run: Sample | Estimate, baseline: Sample | Estimate, share: float, difference: Sample | Estimate
) -> Sample | Estimate:
    """The difference of two means less a share of the size of the baseline, with the error of both: above 0 if the lift is above the share.

    ``difference`` is the difference of the two means. Its random deals, degrees of freedom and guard for looks count, so a test of the
    result agrees with the interval of ``relative_of_own``.

    >>> one, other = Estimate.of(1.1, 0.04, 100), Estimate.of(1.0, 0.04, 100)
    >>> less = less_share(one, other, 0.1, Estimate.between(one, other))
    >>> round(less.mean, 12), round(less.error, 6) == round(math.hypot(0.02, 1.1 * 0.02), 6)
    (0.0, True)
    """
    by = 1 + math.copysign(share, baseline.mean * share)
    if isinstance(run, Sample) and isinstance(baseline, Sample) and isinstance(difference, Sample):
        return replace(run, values=run.values - by * baseline.values)
    assert isinstance(difference, Estimate)
    times = math.sqrt(max(1 + (by * by - 1) * _share_of_error(run, baseline, difference) ** 2, 0.0))
    return replace(
        difference, mean=run.mean - by * baseline.mean, error=difference.error * times, pooled=difference.pooled * times
    )


def _share_of_error(run: Sample | Estimate, baseline: Sample | Estimate, difference: Sample | Estimate) -> float:
    """The error of the baseline, as a share of the error of the difference, which random deals and looks may make larger or smaller."""
    both = math.hypot(run.error, baseline.error) if run.error else difference.error
    return baseline.error / both if both else 0.0


def ratio_in_logarithms(run: Sample | Estimate, baseline: Sample | Estimate) -> Estimate | str:
    """The logarithm of the ratio of two means over units of their own, by the delta method; the reason in words where there is none.

    >>> logs = ratio_in_logarithms(Estimate.of(1.1, 0.04, 100), Estimate.of(1.0, 0.04, 100))
    >>> [round(number, 4) for number in (logs.mean, logs.error, logs.freedom)]
    [0.0953, 0.027, 196.2282]
    """
    if not (run.mean > 0 and baseline.mean > 0):
        return "both means must be above 0"
    if not (run.freedom and baseline.freedom):
        return run.reason or baseline.reason or "fewer than 2 units"
    if not (run.error or baseline.error):
        return "no unit differs from another"
    return Estimate.between(_logarithm(run), _logarithm(baseline))


def _logarithm(side: Sample | Estimate) -> Estimate:
    """The logarithm of a mean above 0, by the delta method."""
    error, largest = side.error / side.mean, side.largest / side.mean
    return Estimate(math.log(side.mean), error, side.freedom, side.count, largest)


def favourable_if_normal(sample: Sample) -> float:
    """As ``favourable``, the number of queries for normally distributed differences of this mean and spread.

    With the mean at d standard deviations it is the share q with d (1 - q) = the standard normal density at its quantile 1 - q.

    >>> around = np.linspace(-1, 1, 2001)
    >>> round(favourable_if_normal(Sample(around + around.std(ddof=1) / 10)) / 2001, 3)
    0.045
    """
    if not sample.deviation > 0:
        return math.inf
    size = abs(sample.mean) / sample.deviation
    low, high = -40.0, 40.0
    for _ in range(60):
        z = (low + high) / 2
        kept = math.erfc(-z / math.sqrt(2)) / 2
        low, high = (low, z) if size * kept > math.exp(-z * z / 2) / math.sqrt(2 * math.pi) else (z, high)
    return math.erfc(high / math.sqrt(2)) / 2 * sample.count


@dataclass(frozen=True)
class Equivalence:
    """The larger of two one-sided p-values, and an interval at confidence ``level`` (1 - 2 alpha for t).

    The interval is within the margin exactly if ``p_value`` <= alpha.
    """

    source: ClassVar[str] = "Schuirmann, A comparison of the two one-sided tests procedure, 1987"

    p_value: float
    lower: float
    upper: float
    level: float


def equivalence(sample: Sample | Estimate, margin: float, alpha: float = 0.05) -> Equivalence:
    """Two one-sided t tests: that the mean is above -margin, and that it is below margin.

    NaN for fewer than two queries (or clusters). Without spread the p-value is 0 within the margin and 1 outside.
    Raises InputError for a margin that is not above 0.

    >>> equivalence(Sample(np.array([0.01, -0.01, 0.02, -0.02])), margin=0.1).p_value < 0.05
    True
    """
    _check(margin, alpha)
    p_value = max(above(sample, -margin), above(sample.mirror, -margin))
    reach = reaches(sample, alpha)
    return Equivalence(p_value, sample.mean - reach[0], sample.mean + reach[1], 1 - 2 * alpha)


def equivalence_at_looks(
    test: PairedTest, interval: Interval, sample: Estimate, margin: float, alpha: float = 0.05
) -> Equivalence:
    """As ``equivalence``, by a two-sided test and its interval at 1 - alpha that hold at every look, or at planned looks."""
    _check(margin, alpha)
    bounds = interval.of(sample, 1 - alpha)  # type: ignore[arg-type] # such an interval takes either
    p_value = max(above_at_looks(test, side, -margin) for side in (sample, sample.mirror))
    return Equivalence(p_value, bounds.lower, bounds.upper, 1 - alpha)


def above_at_looks(test: PairedTest, sample: Estimate, bound: float) -> float:
    """The p-value that a mean is above a bound, by a two-sided test that holds at looks: 1 where it lies below.

    >>> from rankscope.inference.sequential import anytime
    >>> above_at_looks(anytime(), Estimate(0.1, 0.01, 98, 100, 1.0), 0.0) < 0.001
    True
    """
    moved = replace(sample, mean=sample.mean - bound)
    p_value = test.p_value(moved)  # type: ignore[arg-type] # such a test takes either
    return p_value if moved.mean > 0 or math.isnan(p_value) else 1.0


@dataclass(frozen=True)
class NonInferiority:
    """The one-sided p-value of a non-inferiority test, and the worst mean difference, ``bound``, that the test does not reject."""

    p_value: float
    bound: float


def noninferiority(
    sample: Sample | Estimate, margin: float, better: str = "higher", alpha: float = 0.05
) -> NonInferiority:
    """A one-sided t test that the mean difference is not worse than the margin.

    ``better`` is 'higher' or 'lower'. NaN for fewer than two queries (or clusters). Raises InputError for another ``better`` and for
    a margin that is not above 0.

    >>> noninferiority(Sample(np.array([0.01, -0.01, 0.02, -0.02])), margin=0.1).p_value < 0.05
    True
    """
    _check(margin, alpha)
    if better not in {"higher", "lower"}:
        raise InputError(f"better={better!r}: not worse needs a direction, 'higher' or 'lower'")
    side = 1 if better == "higher" else -1
    turned = sample if side > 0 else sample.mirror
    return NonInferiority(above(turned, -margin), side * (turned.mean - reaches(turned, alpha)[0]))


def above(sample: Sample | Estimate, bound: float) -> float:
    """The one-sided p-value that the mean is above a bound."""
    from scipy.special import stdtr

    if not sample.freedom:
        return math.nan
    distance = sample.mean - bound
    if sample.error > sample.rounding:
        if isinstance(sample, Estimate) and sample.chance is not None:
            return sample.chance.above(distance / sample.error)
        return float(stdtr(sample.freedom, -distance / sample.error))
    return 0.0 if distance > 0 else 1.0


def _check(margin: float, alpha: float) -> None:
    if not (0 < margin < math.inf and 0 < alpha < 0.5):
        remedy = "a margin is a difference above 0 that would not matter, like 0.01, and alpha is between 0 and 0.5"
        raise InputError(f"margin={margin}, alpha={alpha}: {remedy}")


# --- the posterior of a lift: a prior, and a normal likelihood of the logarithm of the ratio


@dataclass(frozen=True)
class Prior:
    """What was believed of a lift before: nothing (``deviation`` is infinite), or that it is normal around 0 with this standard deviation.

    It is of the logarithm of the ratio, which for small lifts is the lift: 0.05 says that two of three changes move a metric by less than 5%.
    """

    deviation: float = math.inf
    source: str = ""

    def __str__(self) -> str:
        source = f", {self.source}" if self.source else ""
        return (
            FLAT if math.isinf(self.deviation) else f"normal, standard deviation {words.amount(self.deviation)}{source}"
        )

    @classmethod
    def learnt(cls, effects: ArrayLike, errors: ArrayLike, source: str = "past effects") -> Prior:
        """Learn the spread of true effects around 0 from past effects and their standard errors: empirical Bayes.

        The standard deviation has the highest marginal likelihood. Raises InputError for fewer than 3 effects, for errors that are not above 0,
        and if chance explains the spread of the effects.
        Source: Efron and Morris, Stein's estimation rule and its competitors, JASA 68, 1973.

        >>> round(Prior.learnt([0.3, -0.3, 0.3, -0.3], [0.1] * 4).deviation ** 2, 6)  # 0.09 less 0.01 of chance
        0.08
        """
        effect, error = (np.asarray(part, dtype=np.float64) for part in (effects, errors))
        known = np.isfinite(effect) & np.isfinite(error)
        effect, error = effect[known], error[known]
        if len(effect) < LEAST or not (error > 0).all():
            raise InputError(
                f"prior: {source} has {words.counted(len(effect), 'effect')}, give {LEAST} or more with standard errors above 0"
            )
        low, high = 0.0, float((effect**2).max())

        def slope(variance: float) -> float:
            whole = variance + error**2
            return float(((effect**2 - whole) / whole**2).sum())

        if not slope(0.0) > 0:
            raise InputError(
                f"prior: effects in {source} spread no more than chance does: give a standard deviation, like 0.02"
            )
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) > 0 else (low, middle)
        return cls(math.sqrt((low + high) / 2), f"learnt from {words.counted(len(effect), 'effect')} in {source}")

    @classmethod
    def of(cls, prior: object) -> Prior:
        """The prior that is said as ``flat``, or as its standard deviation: ``0.05``, ``"5%"``. Raises InputError for anything else.

        >>> str(Prior.of("flat")), Prior.of("5%").deviation
        ('flat', 0.05)
        """
        if isinstance(prior, Prior):
            return prior
        if str(prior).strip().casefold() == FLAT:
            return cls()
        share = words.as_share(prior)
        if share is None or not 0 < share[0] < math.inf:
            raise InputError(
                f"prior={prior!r}: a prior is 'flat', or how far lifts usually are from 0, a standard deviation above 0 like 0.05"
            )
        return cls(share[0])


@dataclass(frozen=True)
class LiftPosterior:
    """What is believed of a lift: ``chance_better`` that it is in the better direction, and the ``credible`` interval that holds it.

    ``expected_loss`` is what choosing the variant would lose on average, as a share of the baseline: the loss where it is worse, and nothing
    where it is better. ``centre`` and ``deviation`` are those of the logarithm of the ratio. Where there is none, all are NaN and
    ``credible`` says why.
    """

    source: ClassVar[str] = (
        "Stucchio, Bayesian A/B testing at VWO, 2015 (expected loss); Gelman et al., Bayesian Data Analysis, 2013"
    )

    chance_better: float
    expected_loss: float
    credible: Bounds
    centre: float
    deviation: float


def posterior_of_lift(
    run: Sample | Estimate,
    baseline: Sample | Estimate,
    prior: Prior,
    level: float = 0.95,
    better: Literal["higher", "lower", "neither"] = "higher",
) -> LiftPosterior:
    """What to believe of the relative difference of two means over units of their own, given what was believed before.

    The likelihood is that of ``relative_of_own``: the logarithm of the ratio is normal, with the error of the delta method. A normal prior
    around 0 draws it towards 0. Without a direction higher counts as better.

    >>> one, other = Estimate.of(1.1, 0.04, 100), Estimate.of(1.0, 0.04, 100)
    >>> flat, narrow = (posterior_of_lift(one, other, prior) for prior in (Prior(), Prior(0.02)))
    >>> flat.chance_better > narrow.chance_better, flat.expected_loss < 0.001
    (True, True)
    """
    from scipy.special import ndtr, ndtri

    logs = ratio_in_logarithms(run, baseline)
    if isinstance(logs, str):
        return LiftPosterior(math.nan, math.nan, Bounds.none(logs), math.nan, math.nan)
    kept = 1.0 if math.isinf(prior.deviation) else prior.deviation**2 / (prior.deviation**2 + logs.error**2)
    centre, deviation = kept * logs.mean, math.sqrt(kept) * logs.error
    side = -1 if better == "lower" else 1
    at = centre / deviation
    grown = math.exp(min(centre + deviation**2 / 2, 700.0))  # the mean of the ratio
    loss = side * (float(ndtr(-side * at)) - grown * float(ndtr(-side * (at + deviation))))
    reach = float(ndtri((1 + level) / 2)) * deviation
    ends = Bounds(math.expm1(centre - reach), math.expm1(centre + reach), "normal posterior of the logarithm")
    return LiftPosterior(float(ndtr(side * at)), max(loss, 0.0), ends, centre, deviation)


# --- whether effects differ, and whether units were split as planned


@dataclass(frozen=True)
class EqualEffects:
    """The result of a test that several effects are one: ``statistic`` (Q over its degrees of freedom, corrected) is F with ``freedom``."""

    source: ClassVar[str] = (
        "Cochran, The combination of estimates from different experiments, Biometrics 10(1), 1954; "
        "Welch, On the comparison of several mean values: an alternative approach, Biometrika 38, 1951"
    )

    statistic: float
    freedom: tuple[float, float]
    p_value: float


def equal_effects(effects: ArrayLike, covariance: ArrayLike, freedoms: ArrayLike) -> EqualEffects:
    """Test that several effects are one, given the covariance of their errors and the degrees of freedom of each error.

    Independent effects give Cochran's Q, the sum of their squared distances from the weighted mean in standard errors; effects that share
    units are contrasted with each other by their covariance (Wald). As errors are estimated, Q is taken as Welch takes it: for two
    independent effects it is the square of Welch's t. Raises InputError for fewer than two effects, or errors that are not above 0.

    >>> found = equal_effects([0.3, 0.1], np.diag([0.01, 0.01]), [50, 50])  # t is 0.2 over the root of 0.02
    >>> round(found.statistic, 6), found.freedom, round(found.p_value, 3)
    (2.0, (1, 100.0), 0.16)
    """
    from scipy.special import chdtrc, fdtrc

    effect, spread, freedom = (np.asarray(part, dtype=np.float64) for part in (effects, covariance, freedoms))
    count = len(effect)
    if count < 2 or spread.shape != (count, count) or not (np.diagonal(spread) > 0).all() or not (freedom > 0).all():
        raise InputError("a test of effects takes two or more, with errors above 0")
    apart = effect[1:] - effect[0]
    between = spread[1:, 1:] - spread[1:, :1] - spread[:1, 1:] + spread[0, 0]
    q = float(apart @ np.linalg.lstsq(between, apart, rcond=1e-12)[0])
    weights = 1 / np.diagonal(spread)
    slack = float(((1 - weights / weights.sum()) ** 2 / freedom).sum())
    statistic = max(q, 0.0) / (count - 1) / (1 + 2 * (count - 2) / (count**2 - 1) * slack)
    free = (count - 1, float((count**2 - 1) / 3 / slack))
    if free[1] > KNOWN:
        return EqualEffects(statistic, free, float(chdtrc(count - 1, (count - 1) * statistic)))
    return EqualEffects(statistic, free, float(fdtrc(*free, statistic)))


def split_p_value(counts: Array, shares: Array) -> float:
    """The two-sided p-value of a split of units over variants with these planned shares, which sum to 1.

    Two variants: the binomial test, from 1,000 units on its normal limit corrected for continuity. More: chi square. Where fewer than
    100 units were planned for a variant these limits alarm too often, and it is the binomial test: of each variant against the
    others, Bonferroni-corrected. NaN without units.

    >>> round(split_p_value(np.array([505, 495]), np.array([0.5, 0.5])), 4)
    0.7759
    >>> round(split_p_value(np.array([30, 30, 60]), np.array([0.25, 0.25, 0.5])), 4)
    1.0
    """
    total = int(counts.sum())
    if not total:
        return math.nan
    if len(counts) == 2:
        return _two(int(counts[1]), total, float(shares[1]))
    from scipy.special import chdtrc

    expected = total * shares
    if few_planned(total, shares):
        least = min(_two(count, total, share) for count, share in zip(counts.tolist(), shares.tolist(), strict=True))
        return min(least * len(counts), 1.0)
    return float(chdtrc(len(counts) - 1, float(((counts - expected) ** 2 / expected).sum())))


def few_planned(total: int, shares: Iterable[float]) -> bool:
    """True if a variant is planned for fewer than 100 units: chi square alarms too often for so few."""
    return total * min(shares) < FEW


def split_p_value_at_looks(counts: Array, shares: Array) -> float:
    """A p-value of a split that holds at every look: one over the Bayes factor of other splits, at most 1. NaN without units.

    Other splits have a Dirichlet prior around the planned one, worth 100 units. Source: Lindon and Malek, Anytime-valid inference for
    multinomial count data, NeurIPS 2022.

    >>> round(split_p_value_at_looks(np.array([600, 400]), np.array([0.5, 0.5])), 8)
    4e-08
    """
    from scipy.special import gammaln

    total, sure = int(counts.sum()), PRIOR_OF_SPLIT * shares
    if not total:
        return math.nan
    factor = float((gammaln(sure + counts) - gammaln(sure) - counts * np.log(shares)).sum())
    factor += float(gammaln(PRIOR_OF_SPLIT) - gammaln(PRIOR_OF_SPLIT + total))
    return math.exp(min(-factor, 0.0))


def _two(count: int, total: int, share: float) -> float:
    from scipy.special import bdtr, bdtrc, gammaln, ndtr

    if total >= EXACT and not few_planned(total, (share, 1 - share)):
        away = max(abs(count - total * share) - 0.5, 0.0)
        return float(2 * ndtr(-away / math.sqrt(total * share * (1 - share))))
    number = np.arange(total + 1)
    logs = gammaln(total + 1) - gammaln(number + 1) - gammaln(total - number + 1)
    logs = logs + number * math.log(share) + (total - number) * math.log1p(-share)
    likely = logs <= logs[count] + 1e-7  # all counts that are no more probable, rounding aside
    if likely.all():
        return 1.0
    middle = total * share
    low, high = number[likely & (number < middle)], number[likely & (number > middle)]
    below = float(bdtr(int(low.max()), total, share)) if len(low) else 0.0
    above = float(bdtrc(int(high.min()) - 1, total, share)) if len(high) else 0.0
    return min(below + above, 1.0)
