"""The cells of calibration that look more than once, and those of the gate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import calibrate_batched as many
from calibrate_cells import Row, by_metric
from calibrate_scores import METRICS, Population, Rate, Size, generator, some_pairs
from rankscope.inference.base import Sample
from rankscope.inference.intervals import t
from rankscope.inference.sequences import anytime, betting
from rankscope.inference.sequential import bets, prior, stakes
from rankscope.lists import Array

LAST = 1000


def z_at_looks(values: Array) -> Array:
    """The mean over its standard error after every query, infinite without spread: samples x queries."""
    n = np.arange(1, values.shape[1] + 1)
    mean = np.cumsum(values, axis=1) / n
    squares = np.maximum(np.cumsum(values**2, axis=1) - n * mean**2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.abs(mean) / np.sqrt(squares / (n - 1) / n))


def anytime_limit(n: Array, narrowest: int = 100, alpha: float = 0.05) -> Array:
    """How many standard errors the anytime interval reaches."""
    x = prior(1, narrowest) * n
    return np.asarray(np.sqrt((1 + 1 / x) * (np.log1p(x) - 2 * np.log(alpha))))


def ever_won(values: Array, mean: float) -> Array:
    """The logarithm of the most that betting on a larger mean ever made of 1: one a sample, values from -1 to 1."""
    sizes = np.array([bets(row) for row in values])
    return np.asarray(np.cumsum(np.log1p(stakes(sizes, mean) * (values - mean)), axis=1).max(axis=1))


def looks(scores: Population, size: Size) -> Iterator[Row]:
    """How often the truth is refuted at any look, looking after every query to 1,000: recentred differences."""

    def cell(matrix: Array, metric: str) -> dict[str, Rate]:
        from scipy.special import stdtrit

        n = np.arange(1, LAST + 1)
        late = n >= 20
        found: dict[str, list[Array]] = {}
        rng = generator("looks", metric)
        for one, other in some_pairs(size.tested, "looks", metric):
            values = matrix[:, one] - matrix[:, other]
            drawn = rng.choice(values, (size.looks, LAST))
            z = z_at_looks(drawn - values.mean())
            mean = float(values.mean())
            won = np.maximum(ever_won(drawn, mean), ever_won(-drawn, -mean)) >= np.log(2 / 0.05)
            for name, crossed in (
                ("t at 1,000 only", z[:, -1] > -stdtrit(LAST - 1, 0.025)),
                ("t at every look from 20", (z > -stdtrit(np.maximum(n - 1, 1), 0.025))[:, late].any(axis=1)),
                ("anytime, from 20", (z > anytime_limit(n))[:, late].any(axis=1)),
                ("betting, from 1", won),
            ):
                found.setdefault(name, []).append(np.asarray(crossed))
        return {name: Rate.of(np.array(crossed)) for name, crossed in found.items()}

    for name, rates in by_metric(scores, cell).items():
        yield name, *rates


SHAPES = {  # the share of gains of 0.1 and of losses, of such a size that the mean is 0; all else is the same
    "half gain, a tenth lose 5 times that": (0.5, 0.1),
    "45% gain, 5% lose 9 times that": (0.45, 0.05),
    "half gain, a fifth lose 2.5 times that": (0.5, 0.2),
}


def skewed(_: Population, size: Size) -> Iterator[Row]:
    """How often a true mean of 0 is refuted at any look to 1,000 where many queries gain a little and few lose much."""
    n = np.arange(1, LAST + 1)
    for shape, (gains, losses) in SHAPES.items():
        rng = generator("skewed", shape)
        sizes = np.array([0.1, -0.1 * gains / losses, 0.0])
        drawn = rng.choice(sizes, (size.tries, LAST), p=[gains, losses, 1 - gains - losses])
        beyond = z_at_looks(drawn) > anytime_limit(n)
        rates = [str(Rate.of(np.asarray(beyond[:, n >= first].any(axis=1)))) for first in (20, 50, 100, 200)]
        few = drawn[: size.looks]
        won = np.maximum(ever_won(few, 0.0), ever_won(-few, 0.0)) >= np.log(2 / 0.05)
        yield shape, *rates, str(Rate.of(won))


def widths(scores: Population, size: Size) -> Iterator[Row]:
    """The width of the anytime and the betting interval of differences, as a multiple of the width of t: mean over samples."""
    from scipy.special import stdtrit

    rng = generator("widths")
    for n in (20, 50, 100, 300, LAST):
        ratios = []
        for one, other in some_pairs(size.tested, "widths"):
            values = scores["AP"][:, one] - scores["AP"][:, other]
            sample = Sample(rng.choice(values, n))
            ends = [interval.of(sample) for interval in (t(), anytime(), betting())]
            once, *others = [bounds.upper - bounds.lower for bounds in ends]
            ratios.append([other / once for other in others])
        mean, error = np.mean(ratios, axis=0), np.std(ratios, axis=0, ddof=1) / np.sqrt(len(ratios))
        yield (str(n), f"{anytime_limit(np.array(n)) / -stdtrit(n - 1, 0.025):.2f}", f"{mean[1]:.2f} ± {error[1]:.2f}")


def gate(scores: Population, size: Size) -> Iterator[Row]:
    """How often the gate passes a candidate whose true loss is just the tolerance.

    It passes where the lower end of every metric's 95% t interval of the difference is above minus the tolerance. The five
    metrics are AP, P@10, RR and two means of them.
    """
    five = [scores[metric] for metric in METRICS]
    five += [(five[0] + five[1]) / 2, (five[1] + five[2]) / 2]
    for n in (50, 200):
        passed: dict[str, list[Array]] = {"1 metric": [], "5 metrics, all at the tolerance": []}
        rng = generator("gate", n)
        for one, other in some_pairs(size.tested, "gate"):
            apart = np.array([matrix[:, one] - matrix[:, other] for matrix in five])
            drawn = (apart - apart.mean(axis=1, keepdims=True))[:, rng.integers(0, 200, (size.tries, n))]
            above = np.array([many.t_ends(values)[0] > 0 for values in drawn])
            passed["1 metric"].append(above[0])
            passed["5 metrics, all at the tolerance"].append(np.asarray(above.all(axis=0)))
        for name, found in passed.items():
            yield name, str(n), str(Rate.of(np.array(found)))
