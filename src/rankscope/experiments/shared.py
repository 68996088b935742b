"""Units that several parts of a log share, as users do who come on several days: how much the values of these parts move together."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope.experiments.arms import places_of
from rankscope.experiments.variants import Variants
from rankscope.lists import Array
from rankscope.logs.base import OnlineMetric
from rankscope.logs.metrics import Quantile
from rankscope.logs.rollup import UnitTotals
from rankscope.moments import Moments
from rankscope.panels.ratios import adjusted_ratios, shares_of_arm


@dataclass(frozen=True, eq=False)
class SharedUnits:
    """The units that are in several parts, with the ``variant`` of each.

    ``there`` says in which parts it is, and ``influences`` by how much it moves the value of its variant there: both are units x parts.
    """

    variant: Any
    there: Array
    influences: Array

    def covariance(self, name: str) -> Array:
        """The covariance of the values of a variant in each two parts; 0 on the diagonal."""
        own = self.influences[self.variant == name]
        products = np.asarray(own.T @ own)
        return products - np.diag(np.diagonal(products))

    def count(self, names: Collection[str], places: Sequence[int]) -> int:
        """How many units of some variants are in several of some parts."""
        own = self.there[np.isin(self.variant, list(names))][:, places]
        return int((own.sum(axis=1) > 1).sum())


def shared_units(variants: Variants, metric: OnlineMetric, units: UnitTotals, parts: Sequence[Any]) -> SharedUnits:
    """The units that several parts share; ``parts`` are columns of true and false, which of ``units`` are in each."""
    ids = units.ids
    if ids is None or not (again := ids.is_duplicated()).any():
        return SharedUnits(np.empty(0, dtype=object), np.zeros((0, len(parts)), dtype=bool), np.zeros((0, len(parts))))
    number = np.zeros(units.count, dtype=np.int64)
    number[again.to_numpy()] = ids.filter(again).rank("dense").to_numpy().astype(np.int64) - 1
    count = int(number.max()) + 1
    there, influences = np.zeros((count, len(parts)), dtype=bool), np.zeros((count, len(parts)))
    variant: Any = np.empty(count, dtype=object)
    for place, inside in enumerate(parts):
        several = again.filter(inside).to_numpy()
        own = number[inside.to_numpy()][several]
        there[own, place] = True
        influences[own, place] = influence_of(variants, metric, units.filter(inside))[several]
        variant[own] = units.groups["variant"].filter(inside).to_numpy()[several]
    return SharedUnits(variant, there, influences)


def influence_of(variants: Variants, metric: OnlineMetric, units: UnitTotals) -> Array:
    """By how much each unit pulls the value of its variant away from what it would be: the squares add up to that of its error."""
    places = places_of(units, variants.names)
    out = np.zeros(units.count)
    if isinstance(metric, Quantile):
        panel = variants.panel(metric, units)
        for name, own in places.items():
            out[own] = _influence_on_quantile(metric, units, own, panel.estimate(name))
        return out
    table = variants.table(metric, units)
    arms = {name: Moments.of_set(table[own]) for name, own in places.items()}
    ratios = adjusted_ratios([*arms.values()], table.shape[1] // 2 - 1)
    for (name, arm), ratio in zip(arms.items(), ratios, strict=True):
        out[places[name]] = shares_of_arm(table[places[name]], arm, ratio)
    return out


def _influence_on_quantile(metric: Quantile, units: UnitTotals, own: Array, value: Any) -> Array:
    """As more rows of a unit lie below a quantile than of others, it pulls it down."""
    rows = units.rows_of(metric, own)
    sizes = rows.sizes.astype(np.float64)
    below = np.bincount(rows.units[rows.values <= value.mean], minlength=len(own)).astype(np.float64)
    rest = below.sum() / max(sizes.sum(), 1.0) * sizes - below
    spread = math.sqrt(float(rest @ rest))
    return rest / spread * value.error if spread and math.isfinite(value.error) else np.zeros(len(rest))
