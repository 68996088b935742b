"""The traffic that interleaving and an A/B test need for the same difference, both measured on one log of interleaved lists."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from rankscope import words
from rankscope.experiments.interleaved import Interleaved
from rankscope.impressions import one_key
from rankscope.inference.power import queries_needed, units_needed
from rankscope.lists import Array
from rankscope.moments import Moments
from rankscope.panels.ratios import deviation_of_units

ROUNDS = 400  # draws of units for the interval of the multiplier
BUNDLES = 2_000  # of units that are drawn together
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

    @property
    def in_words(self) -> str:
        """The multiplier with its interval."""
        times, low, high = (words.number(value, digits=1) for value in (self.multiplier, self.low, self.high))
        return f"{times} times the lists (95% interval {low} to {high})"


def traffic_of(
    interleaved: Interleaved, power: float = 0.8, alpha: float = 0.05, decay: float | None = None
) -> Traffic | None:
    """Return the traffic that both designs need; None if the log lacks the ranks, positions or clicks to know, or shows no difference.

    The expected clicks on a ranker's own list come from each clicked item: attention at its rank there over attention at its place here.
    Attention falls as position to the power of -decay. The decay is measured: items of the same query that were shown at several positions, as
    mixing does, are compared with themselves. Items that were not shown count for neither ranker. ``decay``: if it is known already.
    """
    decay = decay_of(interleaved) if decay is None else decay
    if decay is None:
        return None
    table = _per_unit(interleaved, decay)
    one, other = _moments_of(np.ones((1, len(table))) @ _sums(table))
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


def decay_of(interleaved: Interleaved) -> float | None:
    """Return the fall of attention, by items that were shown at several positions; None if the log does not show it."""
    wanted = ("position", "click", "impression_id", "item_id")
    if (
        len(interleaved.rankers) != 2
        or not interleaved.ranks
        or interleaved.competitive
        or not interleaved.log.has(*wanted)
    ):
        return None
    keys = [*(["query_id"] if interleaved.log.has("query_id") else []), "item_id"]
    click = pl.col("click").fill_null(0.0)

    def counts(frame: pl.LazyFrame) -> pl.LazyFrame:
        ids = [*keys, "position"]
        columns = pl.col(ids).first(), pl.len().alias("shown"), click.sum().alias("clicks")
        return frame.group_by(one_key(ids)).agg(*columns).drop("key")

    rows = interleaved.log.gather(counts, ids=keys).group_by(*keys, "position").agg(pl.col("shown", "clicks").sum())
    rows = rows.filter((pl.col("clicks").sum().over(keys) > 0) & (pl.len().over(keys) > 1) & (pl.col("position") > 0))
    rows = rows.sort(*keys, "position")  # sums in one order
    if not rows.height:
        return None
    item = rows.select(pl.struct(keys).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    place, shown, clicks = (rows[name].cast(pl.Float64).to_numpy() for name in ("position", "shown", "clicks"))
    places, at = np.unique(place, return_inverse=True)
    logs, whole = np.log(places)[at], np.bincount(item, clicks)

    def slope(decay: float) -> float:
        weight = shown * (places**-decay)[at]
        mean = np.bincount(item, weight * logs) / np.bincount(item, weight)
        return float(whole @ mean - clicks @ logs)  # falls as the decay rises

    low, high = 0.0, MOST_DECAY
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return round((low + high) / 2, 9)


def _per_unit(interleaved: Interleaved, decay: float) -> Array:
    """One row per unit: lists won by the first ranker less lost, lists with an event, clicks, lists, and clicks on the list of each ranker."""
    units, place = interleaved.units, pl.col("position").cast(pl.Float64)
    unit, click = units.unit, pl.col("click").fill_null(0.0)
    ranks = [(name, interleaved.log.number(name)) for name in interleaved.ranks]  # text in a CSV file
    own = [
        pl.when(rank <= pl.col("longest")).then(click * (place / rank) ** decay).otherwise(0.0).sum().alias(name)
        for name, rank in ranks
    ]
    clicked = interleaved.clicked.join(interleaved.lists.select("key", "longest"), on="key").group_by(unit).agg(own)
    won, of = units.columns(units.metrics[0]).T
    outcomes = pl.DataFrame({unit: units.ids, "apart": 2 * won - of, "of": of})
    of_units = interleaved.lists.group_by(unit).agg(pl.col("clicks").sum(), pl.len().alias("lists"))
    joined = of_units.join(clicked, on=unit, how="left").join(outcomes, on=unit, how="left").sort(unit)
    table = joined.select(
        pl.col("apart", "of", "clicks", "lists", *interleaved.ranks).fill_null(0.0).cast(pl.Float64)
    ).to_numpy()
    return np.asarray(np.round(table, 9))  # the order in which rows are added does not matter


def _sums(table: Array) -> Array:
    """The numerators and denominators of the preference and of the clicks per list, with their squares and products: units x sums."""
    apart, of, clicks, lists, one, other = table.T
    each = [np.ones(len(table))]
    for above, below, spread in ((apart, of, apart), (one - other, lists, clicks)):
        each += [above, below, spread, spread**2, spread * below, below**2]
    return np.stack(each, axis=1)


def _moments_of(sums: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the preference and the variance between units, then the same of the clicks per list; one per row of sums."""
    count = sums[:, 0]
    for above, below, spread, squares, products, belows in (sums[:, 1:7].T, sums[:, 7:].T):
        centre = spread / below
        yield above / below, (squares - 2 * centre * products + centre**2 * belows) * count / below**2


def _interval(table: Array) -> tuple[float, float]:
    """The 95% interval of the multiplier, by drawing units again; many units are drawn in bundles."""
    draws = np.random.default_rng(0)
    sums = _sums(table)
    if len(table) > BUNDLES:
        mixed = draws.permutation(len(table))
        sums = np.add.reduceat(sums[mixed], np.linspace(0, len(table), BUNDLES, endpoint=False, dtype=int))
    weights = draws.poisson(1.0, (ROUNDS, len(sums))).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        (preference, variance), (difference, of_clicks) = _moments_of(weights @ sums)
        lists = 4 * of_clicks / difference**2 / (variance / preference**2)
    known = lists[~np.isnan(lists)]
    low, high = np.quantile(known, [0.025, 0.975], method="inverted_cdf") if len(known) else (math.nan, math.nan)
    return float(low), float(high)
