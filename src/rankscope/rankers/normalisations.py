"""Normalisations: bring the scores of several runs to one scale, query by query."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankscope.declared import Declared
from rankscope.lists import Array
from rankscope.rankers.rank_table import RankTable


class Normalisation(Declared, kind="normalisation"):
    """Base of every normalisation. A subclass returns new scores, rows x runs, NaN if a run did not retrieve the document.

    ``signed`` is true if normalised scores can be negative.
    """

    signed: ClassVar[bool] = False
    source: ClassVar[str] = ""

    def apply(self, table: RankTable) -> Array:
        """Return the normalised scores."""
        raise TypeError(f"{type(self).__name__} does not normalise")


class MinMax(Normalisation, aliases=("min_max", "min-max", "minmax")):
    """Scale scores from 0 for the lowest to 1 for the highest score of a run's list. A list with one score is all 1.

    >>> import numpy as np
    >>> MinMax().apply(
    ...     RankTable.of(np.array([[4.0], [3.0], [2.0]]), np.array([[1.0], [2], [3]]), np.array([3]))
    ... ).ravel().tolist()
    [1.0, 0.5, 0.0]
    """

    source = "Lee, Analyses of multiple evidence combination, SIGIR 1997"

    def apply(self, table: RankTable) -> Array:
        low, high = _ends(table)
        return _share(table.scores - low, high - low)


class MinMaxInverted(Normalisation, aliases=("min_max_inverted", "min-max-inverted")):
    """Scale scores from 1 for the lowest to 0 for the highest score, if lower scores are better (distances)."""

    def apply(self, table: RankTable) -> Array:
        low, high = _ends(table)
        return _share(high - table.scores, high - low)


class MaxScore(Normalisation, aliases=("max",)):
    """Divide scores by the highest score of a run's list. Equal scores of 0 or less become 0, and other lists without a score above 0 have no scale (NaN)."""

    signed = True

    def apply(self, table: RankTable) -> Array:
        low, high = _ends(table)
        return np.divide(table.scores, high, out=np.where(low == high, 0.0, np.nan), where=high > 0)


class SumToOne(Normalisation, aliases=("sum",)):
    """Shift the lowest score of a run's list to 0, then divide by the sum, so that scores sum to 1."""

    source = "Montague and Aslam, Relevance score normalization for metasearch, CIKM 2001"

    def apply(self, table: RankTable) -> Array:
        shifted = table.scores - _ends(table)[0]
        total = table.per_query(np.add, np.nan_to_num(shifted))
        return np.where(
            total > 0, shifted / np.where(total > 0, total, 1.0), shifted + 1.0 / np.maximum(table.retrieved, 1.0)
        )


class ZScore(Normalisation, aliases=("zmuv", "z_score", "z-score")):
    """Subtract the mean of a run's list and divide by its standard deviation (over n). A list with one score is all 0."""

    signed = True
    source = "Montague and Aslam, Relevance score normalization for metasearch, CIKM 2001"

    def apply(self, table: RankTable) -> Array:
        mean, spread = _moments(table, 0)
        return np.where(spread > 0, (table.scores - mean) / np.where(spread > 0, spread, 1.0), table.scores - mean)


class ThreeSigma(Normalisation, aliases=("three_sigma", "3sigma")):
    """Scale scores from 0 at three standard deviations below the mean to 1 at three above, and cut scores beyond."""

    def apply(self, table: RankTable) -> Array:
        return np.clip(DistributionBased().apply(table), 0.0, 1.0)


class DistributionBased(Normalisation, aliases=("dbsf", "distribution_based")):
    """Scale scores from 0 at three standard deviations (over n - 1) below the mean to 1 at three above. A list with one score is all 0.5."""

    signed = True

    def apply(self, table: RankTable) -> Array:
        mean, spread = _moments(table, 1)
        apart = (table.scores - mean) / np.where(spread > 0, 6.0 * spread, 1.0)
        return np.where(spread > 0, apart, table.scores - mean) + 0.5


class RankShare(Normalisation, aliases=("rank",)):
    """Replace scores by 1 - (rank - 1) / n, for n documents in a run's list."""

    def apply(self, table: RankTable) -> Array:
        return 1.0 - (table.ranks - 1.0) / np.maximum(table.retrieved, 1.0)


class BordaShare(Normalisation, aliases=("borda",)):
    """Replace scores by 1 - (rank - 1) / c, for c documents in all lists. A missing document gets the mean of the ranks below a list.

    Unlike other normalisations it gives missing documents a score: 1/2 - (n - 1) / 2c for a list of n documents.
    """

    source = "Renda and Straccia, Web metasearch: rank vs. score based rank aggregation methods, SAC 2003"

    def apply(self, table: RankTable) -> Array:
        count = np.repeat(table.sizes, table.sizes)[:, None].astype(np.float64)
        below = 0.5 - (table.retrieved - 1.0) / (2.0 * count)
        return np.where(table.found, 1.0 - (table.ranks - 1.0) / count, below)


def _ends(table: RankTable) -> tuple[Array, Array]:
    low = table.per_query(np.fmin, table.scores)
    return low, table.per_query(np.fmax, table.scores)


def _share(part: Array, whole: Array) -> Array:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), part + 1.0)


def _moments(table: RankTable, less: int) -> tuple[Array, Array]:
    count = table.retrieved
    mean = table.per_query(np.add, np.nan_to_num(table.scores)) / np.maximum(count, 1.0)
    squares = table.per_query(np.add, np.nan_to_num(table.scores - mean) ** 2)
    spread = np.sqrt(squares / np.maximum(count - less, 1.0))
    # rounding leaves a little if all scores are equal
    return mean, np.where(spread > 1e-12 * np.abs(mean), spread, 0.0)
