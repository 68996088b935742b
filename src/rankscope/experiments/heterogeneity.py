"""Whether the difference of two variants depends on an attribute of their units: one test an attribute, corrected over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankscope.experiments.shared import shared_units
from rankscope.experiments.variants import Variants
from rankscope.inference.base import Estimate
from rankscope.inference.effects import equal_effects
from rankscope.logs.base import OnlineMetric
from rankscope.logs.rollup import UnitTotals
from rankscope.panels.contrast import Contrast
from rankscope.panels.method import Method

FEWEST_IN_SLICE = 30  # units of an arm below which what is known of a slice's error is too little for this test


@dataclass(frozen=True, eq=False)
class Heterogeneity:
    """The test that the difference of a variant and the baseline is the same in all slices of an attribute.

    ``slices`` are the contrasts by value that were tested together; ``shared`` units are in several of them, which the test takes into
    account. ``p_value_adjusted`` is corrected for ``comparisons``, the attributes and variants that were looked at.
    """

    attribute: str
    metric: str
    run: str
    baseline: str
    slices: Mapping[str, Contrast]
    shared: int
    statistic: float
    freedom: tuple[float, float]
    p_value: float
    p_value_adjusted: float = float("nan")
    comparisons: int = 1
    significant: bool = False


def heterogeneity(
    variants: Variants,
    metric: OnlineMetric,
    attribute: str,
    units: UnitTotals,
    contrasts: Mapping[str, Sequence[Contrast]],
) -> list[Heterogeneity]:
    """Test for each variant whether its difference depends on an attribute; no test if fewer than two values have enough units."""
    own = {str(value): value for value in units.groups[attribute].drop_nulls().unique().to_list()}
    parts = [(units.groups[attribute] == own[value]).fill_null(value=False) for value in contrasts]
    shared = shared_units(variants, metric, units, parts)
    tests = []
    for pair in zip(*contrasts.values(), strict=True):
        within = {value: c for value, c in zip(contrasts, pair, strict=True) if _is_known(c)}
        if len(within) < 2:
            continue
        of = next(iter(within.values()))
        places = [place for place, value in enumerate(contrasts) if value in within]
        together = shared.covariance(of.run) + shared.covariance(of.baseline)
        means = [c.pair.means for c in within.values()]
        covariance = np.diag([mean.error**2 for mean in means]) + together[np.ix_(places, places)]
        test = equal_effects([mean.mean for mean in means], covariance, [mean.freedom for mean in means])
        several = shared.count((of.run, of.baseline), places)
        subject, outcome = (attribute, of.metric, of.run, of.baseline), (test.statistic, test.freedom, test.p_value)
        tests.append(Heterogeneity(*subject, within, several, *outcome))
    return tests


def correct_heterogeneity(
    uncorrected: Iterable[Heterogeneity], method: Method, others: Sequence[float] = ()
) -> list[Heterogeneity]:
    """The tests with p-values corrected for all attributes and variants, and for ``others``: tests over days share their alpha."""
    tests = list(uncorrected)
    if not tests:
        return []
    adjusted = method.correction.adjusted(np.array([*(test.p_value for test in tests), *others])).tolist()
    return [
        replace(test, p_value_adjusted=p, comparisons=len(adjusted), significant=p <= method.alpha)
        for test, p in zip(tests, adjusted, strict=False)
    ]


def _is_known(c: Contrast) -> bool:
    """True if each of the two variants has enough units in a slice, they differ, and no few units decide their error."""
    enough = min(c.pair.run_sample.count, c.pair.baseline_sample.count) >= FEWEST_IN_SLICE
    means = c.pair.means
    return enough and means.freedom > 0 and means.error > 0 and not (isinstance(means, Estimate) and means.beyond_t)
