"""The traffic that interleaving and an A/B test need for the same difference, both measured on one log of interleaved lists."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from rankscope.experiments.interleaved import Interleaved
from rankscope.inference.power import queries_needed, units_needed
from rankscope.lists import Array
from rankscope.moments import Moments
from rankscope.panels.ratios import deviation_of_units

ROUNDS = 400  # draws of units for the interval of the multiplier
STEPS = 60  # of the search for the decay
MOST_DECAY = 8.0


@dataclass(frozen=True)
class Traffic:
    """Lists that both designs need for one difference: ``preference`` by interleaving, ``difference`` in clicks per list by an A/B test.

    ``value`` is the clicks per list of the second ranker, ``deviation`` and ``deviation_of_clicks`` are between units. ``lists`` and ``units`` are
    those of the log, ``each`` the lists per unit. ``lists_needed`` is for interleaving and ``lists_of_ab`` for both variants
    together. ``multiplier`` is their ratio, ``low`` and ``high`` the ends of its 95% interval. ``decay`` is how attention falls with position.
    """

    preference: float
    difference: float
    value: float
    deviation: float
    deviation_of_clicks: float
    units: int
    lists: int
    decay: float
    power: float
    alpha: float
    low: float
    high: float

    @property
    def each(self) -> float:
        """The number of lists per unit."""
        return self.lists / self.units

    def needed(self, share: float = 1.0) -> tuple[int, int]:
        """Return the lists for interleaving and for an A/B test, for this share of the observed difference."""
        one = queries_needed(self.deviation, abs(self.preference) * share, self.power, self.alpha)
        both = units_needed(self.deviation_of_clicks, abs(self.difference) * share, self.power, self.alpha)
        return math.ceil(one * self.each), math.ceil(both * self.each)

    @property
    def multiplier(self) -> float:
        """The lists of an A/B test over the lists of interleaving."""
        one, both = self.needed()
        return both / one


def traffic_of(found: Interleaved, power: float = 0.8, alpha: float = 0.05) -> Traffic | None:
    """Return the traffic that both designs need; None if the log lacks the ranks, positions or clicks to know, or shows no difference.

    The expected clicks on a ranker's own list come from each clicked item: attention at its rank there over attention at its place here.
    Attention falls as position to the power of -decay. The decay is measured: items of the same query that were shown at several positions, as
    mixing does, are compared with themselves. Items that were not shown count for neither ranker.
    """
    ranks = [f"rank_{name}" for name in found.rankers]
    log = found.log
    wanted = ("position", "click", "impression_id", "item_id")
    if (
        len(ranks) != 2
        or found.competitive
        or not log.has(*wanted)
        or not all(name in log.attributes for name in ranks)
    ):
        return None
    decay = _decay(found)
    if decay is None:
        return None
    table = _per_unit(found, decay, ranks)
    one, other = _moments_of(table, np.ones((1, len(table))))
    preference, difference = float(one[0][0]), float(other[0][0])
    if not preference or not difference:
        return None
    shown = table[:, [2, 3]]
    value, deviation_of_clicks = deviation_of_units(Moments.of_set(shown))
    low, high = _interval(table)
    return Traffic(
        preference, difference, value, math.sqrt(float(one[1][0])), deviation_of_clicks, len(table), int(table[:, 3].sum()), decay,
        power, alpha, low, high,
    )  # fmt: skip


def _decay(found: Interleaved) -> float | None:
    """The fall of attention, by items that were shown at several positions: the conditional likelihood of the positions of their clicks."""
    keys = [*(["query_id"] if found.log.has("query_id") else []), "item_id"]
    click = pl.col("click").fill_null(0.0)

    def counts(frame: pl.LazyFrame) -> pl.LazyFrame:
        return frame.group_by(*keys, "position").agg(pl.len().alias("shown"), click.sum().alias("clicks"))

    rows = found.log.gather(counts).group_by(*keys, "position").agg(pl.col("shown", "clicks").sum())
    rows = rows.filter((pl.col("clicks").sum().over(keys) > 0) & (pl.len().over(keys) > 1) & (pl.col("position") > 0))
    rows = rows.sort(*keys, "position")  # sums in one order
    if not rows.height:
        return None
    item = rows.select(pl.struct(keys).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    place, shown, clicks = (rows[name].cast(pl.Float64).to_numpy() for name in ("position", "shown", "clicks"))
    logs, whole = np.log(place), np.bincount(item, clicks)

    def slope(decay: float) -> float:
        weight = shown * place**-decay
        mean = np.bincount(item, weight * logs) / np.bincount(item, weight)
        return float(whole @ mean - clicks @ logs)  # falls as the decay rises

    low, high = 0.0, MOST_DECAY
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return round((low + high) / 2, 9)


def _per_unit(found: Interleaved, decay: float, ranks: list[str]) -> Array:
    """One row per unit: lists won by the first ranker less lost, lists with an event, clicks, lists, and clicks on the list of each ranker."""
    units = found.units
    unit, click = units.unit, pl.col("click").fill_null(0.0)
    keys = list(dict.fromkeys([unit, "impression_id"]))
    longest, place = pl.col("position").max().alias("longest"), pl.col("position").cast(pl.Float64)
    own = [
        pl.when(pl.col(name) <= pl.col("longest")).then(click * (place / pl.col(name).cast(pl.Float64)) ** decay).otherwise(0.0)
        .sum().alias(name)
        for name in ranks
    ]  # fmt: skip

    def totals(frame: pl.LazyFrame) -> pl.LazyFrame:
        lists = frame.group_by(keys).agg(click.sum().alias("clicks"), longest)
        of_units = lists.group_by(unit).agg(pl.col("clicks").sum(), pl.len().alias("lists"))
        clicked = frame.filter(click != 0).join(lists, on=keys, nulls_equal=True).group_by(unit).agg(own)
        return of_units.join(clicked, on=unit, how="left").with_columns(pl.col(ranks).fill_null(0.0))

    won, of = units.columns(units.metrics[0]).T
    ids = units.ids
    assert ids is not None
    outcomes = pl.DataFrame({unit: ids, "apart": 2 * won - of, "of": of})
    joined = (
        found.log.gather(totals, unit)
        .join(outcomes, on=unit, how="left")
        .with_columns(pl.col("apart", "of").fill_null(0.0))
        .sort(unit)
    )
    table = joined.select("apart", "of", "clicks", "lists", *ranks).cast(pl.Float64).to_numpy()
    return np.asarray(np.round(table, 9))  # the order in which rows are added does not matter


def _moments_of(table: Array, weights: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the preference and the variance between units, then the same of the clicks per list; one per row of weights."""
    apart, of, clicks, lists, one, other = table.T
    count = weights.sum(axis=1)
    for above, below, spread in ((apart, of, apart), (one - other, lists, clicks)):
        under = weights @ below
        value, centre = (weights @ above) / under, (weights @ spread) / under
        squares = weights @ spread**2 - 2 * centre * (weights @ (spread * below)) + centre**2 * (weights @ below**2)
        yield value, squares * count / under**2


def _interval(table: Array) -> tuple[float, float]:
    """The 95% interval of the multiplier, by drawing units again."""
    draws = np.random.default_rng(0)
    found: list[float] = []
    size = max(1, 4_000_000 // len(table))
    for start in range(0, ROUNDS, size):
        weights = draws.poisson(1.0, (min(size, ROUNDS - start), len(table))).astype(float)
        (preference, variance), (difference, of_clicks) = _moments_of(table, weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            found += (4 * of_clicks / difference**2 / (variance / preference**2)).tolist()
    known = np.array(found)[~np.isnan(found)]
    low, high = np.quantile(known, [0.025, 0.975], method="inverted_cdf") if len(known) else (math.nan, math.nan)
    return float(low), float(high)
