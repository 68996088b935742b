"""Corrections for several comparisons that need only their p-values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankscope.declared import plain
from rankscope.errors import InputError
from rankscope.inference.base import Correction, check_between
from rankscope.lists import Array

_LEAST = 1e-300  # a p-value below it is taken as equal to it where its level is asked for


class _OfP(Correction):
    """What the corrections of p-values share: each says by what ``_raw`` p-values, in ascending order, are multiplied out."""

    def adjusted(self, p_values: Array) -> Array:
        """The adjusted p-values, in the order given; NaN stays NaN and does not count as a comparison."""
        return _in_order(p_values, lambda p: np.minimum(self._raw(p), 1.0))

    def levels(self, p_values: Array, alpha: float = 0.05) -> Array:
        """The level at which the correction tests each comparison of a family, in the order given.

        It is alpha times the p-value over its adjusted value before that is cut at 1, so that p <= level exactly where adjusted <=
        alpha: an interval at confidence ``1 - level``, dual to the test, leaves out 0 exactly where the adjusted p-value says so.
        A p-value of 0 takes the level of a very small one: alpha / m under Holm, as for ties. NaN for a p-value of NaN.

        Each such interval is right for its own comparison at its own level. All together they keep ``1 - alpha`` under ``bonferroni``;
        under ``holm`` they do not promise it, and under ``bh`` the share of wrong intervals among the significant is kept.

        >>> holm().levels(np.array([0.01, 0.04, 0.03])).round(4).tolist()
        [0.0167, 0.0333, 0.025]
        """
        check_between("alpha", alpha, 0.05)
        p, significant = np.asarray(p_values, dtype=np.float64), self.adjusted(p_values) <= alpha
        levels = alpha * _in_order(np.maximum(p, _LEAST), lambda p: p / self._raw(p))
        # rounding must not part the level from the adjusted p-value
        return np.where(significant, np.maximum(levels, p), np.minimum(levels, np.nextafter(p, 0.0)))

    def _raw(self, p: Array) -> Array:
        """The adjusted p-values of ascending ones, not yet cut at 1; the one thing that each of these corrections must say."""
        raise TypeError(f"{type(self).__name__} needs a method that adjusts p-values")


class holm(_OfP):
    """The smallest p-value times the number of comparisons, the next times one fewer, and so on.

    Never less powerful than ``bonferroni`` and as safe, however the comparisons depend on each other. The default.

    >>> holm().adjusted(np.array([0.01, 0.04, 0.03])).round(4).tolist()
    [0.03, 0.06, 0.06]
    """

    in_words = "Holm's correction"
    source = "Holm, A simple sequentially rejective multiple test procedure, 1979"
    title = "Holm"
    least = True
    best_for = "any family of comparisons. It assumes valid p-values only"
    calibration = "errs in 3.3 to 4.3 % of families at alpha = 5 % (10 systems, 50 queries of TREC scores), in 1 % among near variants"

    def _raw(self, p: Array) -> Array:
        return np.maximum.accumulate(p * np.arange(len(p), 0, -1))


class bonferroni(_OfP):
    """Every p-value times the number of comparisons.

    >>> bonferroni().adjusted(np.array([0.01, 0.04, 0.03])).round(4).tolist()
    [0.03, 0.12, 0.09]
    """

    in_words = "Bonferroni's correction"
    source = "Dunn, Multiple comparisons among means, 1961"
    title = "Bonferroni"
    least = True
    best_for = "intervals that are valid together, significant or not"

    def _raw(self, p: Array) -> Array:
        return p * float(len(p))


class bh(_OfP, aliases=("fdr_bh", "benjamini_hochberg")):
    """Each p-value times the number of comparisons, divided by its rank: controls the false discovery rate.

    It lets single false differences pass more often than ``holm``; of all those reported, no more than alpha are false on average
    where comparisons are independent or depend positively.

    >>> bh().adjusted(np.array([0.01, 0.04, 0.03])).round(4).tolist()
    [0.03, 0.04, 0.04]
    """

    controls = "the expected share of false differences among those reported"
    in_words = "the correction of Benjamini and Hochberg"
    source = "Benjamini and Hochberg, Controlling the false discovery rate, 1995"
    title = "Benjamini-Hochberg"
    best_for = "screening many variants, when a few false ones do little harm"

    def _raw(self, p: Array) -> Array:
        each = p * (len(p) / np.arange(1, len(p) + 1))
        return np.minimum.accumulate(each[::-1])[::-1]


class none(_OfP, aliases=("no",)):
    """The p-values as they are.

    >>> none().adjusted(np.array([0.01, 0.04, 0.03])).tolist()
    [0.01, 0.04, 0.03]
    """

    controls = "the chance of a false difference in each single comparison"
    corrects = False
    best_for = "one comparison that was planned before looking"

    def _raw(self, p: Array) -> Array:
        return p


def _in_order(p_values: Array, work: Callable[[Array], Array]) -> Array:
    """What ``work`` makes of the known p-values in ascending order, put back in their places."""
    p = np.asarray(p_values, dtype=np.float64)
    wrong = p[(p < 0) | (p > 1)]
    if len(wrong):
        raise InputError(f"p-value {plain(float(wrong[0]))}: a p-value is between 0 and 1")
    known = np.flatnonzero(~np.isnan(p))
    ascending = known[np.argsort(p[known], kind="stable")]
    out = np.full(p.shape, np.nan)
    out[ascending] = work(p[ascending])
    return out
