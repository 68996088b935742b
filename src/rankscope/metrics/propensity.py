"""Metrics of implicit feedback, whose relevant items are missing not at random: each counts 1 / propensity."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np

from rankscope.declared import Param, plain
from rankscope.errors import InputError
from rankscope.lists import Array, ItemTable, Lists, Shown, ShownLists, each
from rankscope.metrics.base import Example, Metric, Terms
from rankscope.metrics.items import _OfItems
from rankscope.metrics.population import _Population
from rankscope.metrics.sampled import OneMetric, value_by_rank

HELD = {"items": {"a": {"propensity": 0.5}, "b": {"propensity": 0.25}, "c": {"propensity": 1.0}}}
BOUGHT = {"history": {"u1": ["a", "b"], "u2": ["a"], "u3": ["a"], "u4": ["a", "c"]}}
MNAR = "relevant items are missing not at random: popular ones are observed more often"
Propensity = Annotated[
    Literal["popularity", "items"],
    Param("a power of popularity in the history, 1 for the most popular item, or the column propensity of the items"),
]
Gamma = Annotated[
    float | Literal["fitted"],
    Param(
        "how strongly the system that collected the data prefers popular items: it shows an item with popularity^gamma. 'fitted' is the slope of "
        "log exposures (a column of the items) on log popularity",
        low=-1,
        high=10,
    ),
]
Clip = Annotated[float | None, Param("the lowest propensity: smaller ones are raised to it", above=0, high=1)]


def propensity_of(metric: Metric, table: ItemTable, code: Array) -> Array:
    """The chance that a relevant item is observed, for these items. An item without interactions counts as having one."""
    source, gamma, clip = (getattr(metric, name) for name in ("propensity", "gamma", "clip"))
    if source == "items":
        chance = table.fact("propensity", code, str(metric))
        if (chance > 1).any():
            raise InputError(
                f"{metric}: {table.label} has a propensity of {plain(float(chance.max()))}; a propensity is at most 1"
            )
    else:
        count = np.maximum(table.counts(code, str(metric)), 1.0)
        assert table.popularity is not None
        power = (fitted_gamma(table, str(metric)) if gamma == "fitted" else gamma) / 2.0 + 0.5
        chance = each(lambda n: n**power, count / max(float(table.popularity.max(initial=1.0)), 1.0))
    return np.asarray(np.maximum(chance, clip or 0.0))


def fitted_gamma(table: ItemTable, metric: str) -> float:
    """The slope of log exposures on log popularity, by least squares (Yang et al., RecSys 2018, section 4)."""
    if ("gamma", metric) not in table.kept:
        items = np.arange(table.size)
        shown, popular = table.fact("exposures", items, metric), table.counts(items, metric)
        x, y = np.log(popular[popular > 0]), np.log(shown[popular > 0])
        if len(x) < 2 or not np.ptp(x):
            raise InputError(
                f"{metric}: gamma='fitted' needs items of different popularity in --history; give gamma as a number, like gamma=1.5"
            )
        table.kept["gamma", metric] = float(np.polyfit(x, y, 1)[0])
    return float(table.kept["gamma", metric])


class SNIPS(_OfItems, aliases=("SelfNormalisedIPS",)):
    """A metric of implicit feedback in which each relevant item counts 1 / propensity, as a share of all these weights."""

    formula = "sum over relevant items of (metric at its rank / propensity) / sum over relevant items, shown or not, of 1 / propensity"
    convention = (
        "propensity = (users with the item / users with the most popular item)^((gamma + 1) / 2). A relevant item has a grade above 0, is judged as if it "
        "were the only one, and earns nothing if it is not shown. An item without interactions counts as having one. clip trades variance for bias. "
        "A user with one relevant item has the plain value: with few per user, the micro mean normalises over all users instead"
    )
    source = "Yang, Cui, Xuan, Wang, Belongie and Estrin, Unbiased offline recommender evaluation for missing-not-at-random implicit feedback, RecSys 2018; Swaminathan and Joachims, NIPS 2015"
    best_for = (
        "recommenders judged by clicks or purchases that another system collected: plain means reward popular items"
    )
    not_for = "judgments of a random sample of items, and propensities that were not checked"
    examples = (
        Example(
            "SNIPS(metric='RR', propensity='items')", ("b", "c", "a"), "(4 * 1 + 2 / 3) / (4 + 2)",
            HELD | {"judgments": {"a": 1, "b": 1}},
        ),
        Example("SNIPS(metric='R@1', gamma=1)", ("b", "a"), "4 / (4 + 1)", BOUGHT | {"judgments": {"a": 1, "b": 1}}),
    )  # fmt: skip
    relevance = "binary"

    metric: OneMetric = None
    propensity: Propensity = "popularity"
    gamma: Gamma = 1.5
    clip: Clip = None

    @property
    def assumption(self) -> str:
        """The reason for the weights, and their origin."""
        law = "fitted to exposures" if self.gamma == "fitted" else plain(self.gamma)
        origin = (
            "propensities of the items" if self.propensity == "items" else f"propensities by popularity, gamma {law}"
        )
        return f"{MNAR}; {origin}{'' if self.clip is None else f', of at least {plain(self.clip)}'}"

    def divisor(self, weights: Array) -> Array:
        """The addition of each relevant item to the divisor."""
        return weights

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        relevant = np.asarray(every.shown & (every.grade > 0))
        value = value_by_rank(Metric.read(self.metric), relevant.shape[1])[every.rank - 1]
        weight = np.zeros(relevant.shape)
        weight[relevant] = 1.0 / propensity_of(self, items.table, items.code[relevant])
        query, code, _ = items.wanted
        wanted = self.divisor(1.0 / propensity_of(self, items.table, code.astype(np.int64)))
        out_of = np.bincount(query.astype(np.int64), wanted, len(every))
        factors = {"relevant": relevant, "the metric at this rank": value, "1 / propensity": weight}
        return Terms(every, factors, out_of)


class IPS(SNIPS, aliases=("InversePropensityScore",)):
    """A metric of implicit feedback in which each relevant item counts 1 / propensity, per relevant item."""

    formula = "sum over relevant items of (metric at its rank / propensity) / relevant items"
    convention = (
        "as SNIPS, but divided by the number of relevant items, so that the scale of the propensities matters and values may exceed 1. One rare item may decide the value; "
        "SNIPS varies less"
    )
    examples = (
        Example(
            "IPS(metric='RR', propensity='items')", ("b", "c", "a"), "(4 * 1 + 2 / 3) / 2",
            HELD | {"judgments": {"a": 1, "b": 1}},
        ),
        Example("IPS(metric='RR', propensity='items', clip=0.4)", ("b",), "1 / 0.4", HELD | {"judgments": {"b": 1}}),
    )  # fmt: skip
    bounds = (0.0, math.inf)

    def divisor(self, weights: Array) -> Array:
        return np.ones(len(weights))


class EffectiveSize(_Population, aliases=("ESS", "EffectiveSampleSize")):
    """The number of equally weighted relevant items with the same information, as a share of the relevant items."""

    formula = "(sum of 1 / propensity)² / sum of (1 / propensity)² / relevant items, over all users"
    convention = "the weights of SNIPS and IPS with the same propensities. It does not depend on the lists"
    source = "Kish, Survey Sampling, 1965"
    best_for = "is a propensity-weighted mean decided by a few rare items?"
    examples = (
        Example(
            "ESS(propensity='items')", (["a"], ["b"]), "(2 + 4) ** 2 / (2 ** 2 + 4 ** 2) / 2",
            HELD | {"judgments": [{"a": 1}, {"b": 1}]},
        ),
    )  # fmt: skip
    better = "neither"

    propensity: Propensity = "popularity"
    gamma: Gamma = 1.5
    clip: Clip = None

    def shares(self, shown: Shown) -> tuple[Array, Array, Array, int]:
        query, code, _ = (values.astype(np.int64) for values in shown.wanted)
        weight = 1.0 / propensity_of(self, shown.table, code)
        amounts = (weight, weight * weight, np.ones(len(weight)))
        return np.tile(query, 3), np.repeat(np.arange(3), len(query)), np.concatenate(amounts), 3

    def value_of(self, totals: Array, users: int) -> float:
        """The share, NaN without a relevant item."""
        weight, square, count = totals.tolist()
        return weight * weight / square / count if count else math.nan
