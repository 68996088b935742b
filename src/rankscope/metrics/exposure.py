"""Fairness of one list to groups of items: the share of the exposure of each group."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Annotated, Literal

import numpy as np

from rankscope import words
from rankscope.behaviour.browsing import Browsing, DynamicBayesian, Everything, PositionBased
from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.lists import Array, ItemTable, Lists, ShownLists, each, log2_discounts, ratio, running, total
from rankscope.metrics.base import Example, Level, Terms
from rankscope.metrics.items import By, _Undefined, divergence_of, label_shares

Patience = Annotated[float, Param("the chance to look at the next rank, for geometric and cascade", above=0, high=1)]
Decay = Annotated[float, Param("how fast attention falls, for position", low=0, high=10)]
Target = Annotated[
    Literal["catalogue", "even"],
    Param("the fair share of a group: its share of the catalogue, or the same for every group"),
]
NAMED = ("log", "even", "geometric", "position", "cascade")  # a discount and four browsing models
ANY_MODEL = ", or a browsing model of rankscope simulate, like 'UserBrowsing(decay=1)', which clicks relevant items"
PAIR = {"items": {"a": "x", "b": "y", "c": "x", "d": "y"}}


def reason_against_viewing(viewing: str) -> str:
    """The reason to refuse a model of attention, empty if it is known."""
    with suppress(InputError):
        if viewing in NAMED or Browsing.read(viewing):
            return ""
    return f"viewing is one of {words.choices(NAMED)}, or a browsing model like 'UserBrowsing(decay=1)'"


def attention(relevant: Array, viewing: str, patience: float, decay: float = 0.85, stop: float = 0.5) -> Array:
    """The attention at each rank of lists, by the browsing models of simulated users: 1 at rank 1. A relevant item is clicked."""
    if viewing == "log":
        return log2_discounts(np.broadcast_to(np.arange(1, relevant.shape[1] + 1), relevant.shape))
    named: dict[str, Browsing] = {
        "even": Everything(),
        "geometric": DynamicBayesian(persistence=patience, stop=0.0),
        "cascade": DynamicBayesian(persistence=patience, stop=stop),
        "position": PositionBased(decay=decay),
    }
    return (named.get(viewing) or Browsing.read(viewing)).looks(relevant.astype(float))


def fair_shares(table: ItemTable, by: str, target: str, metric: str) -> Array:
    """The fair share of each group."""
    labels = table.labels(by, metric)
    if target == "even":
        return np.full(len(labels.names), 1.0 / max(len(labels.names), 1))
    whole = np.cumsum(labels.shares[:-1], axis=0)[-1]
    return np.asarray(whole / whole.sum())


class AWRF(_Undefined, aliases=("AttentionWeightedRankFairness",)):
    """The closeness of the exposure of groups in a list to their fair shares: 1 if the same."""

    formula = "1 - distance of (exposure of each group / exposure of all) from the fair shares"
    convention = (
        "the attention at a rank is 1/log2(rank + 1). viewing='cascade' stops at relevant items. Items without a label do not count; "
        "an item of several groups is divided evenly"
    )
    source = "Sapiezynski et al., Quantifying the impact of user attention on fair group representation, WWW 2019; Raj and Ekstrand, Measuring fairness in ranked results, SIGIR 2022"
    best_for = "is each list fair to providers or categories?"
    examples = (
        Example("AWRF(viewing='even')@2", ("a", "b"), "1", PAIR),
        Example("AWRF(distance='total')@2", ("a", "b"), "1 - (1 / (1 + 1 / log2(3)) - 1 / 2)", PAIR),
        Example(
            "AWRF(viewing='cascade', stop=1, distance='total')@2", ("a", "b"), "1 - 1 / 2",
            PAIR | {"judgments": {"a": 1}},
        ),
    )  # fmt: skip
    relevance = "binary"

    by: By = ""
    viewing: Annotated[
        Literal["log", "even", "geometric", "cascade"] | str,
        Param(
            f"how much a rank is seen: 1/log2(rank + 1), all alike, patience^(rank - 1), until a relevant item{ANY_MODEL}",
            reason_against=reason_against_viewing,
        ),
    ] = "log"
    patience: Patience = 0.8
    stop: Annotated[float, Param("the chance to stop at a relevant item, for cascade", low=0, high=1)] = 0.5
    target: Target = "catalogue"
    distance: Annotated[Literal["JS", "total"], Param("Jensen-Shannon in bits, or half the sum of differences")] = "JS"
    level: Level = 1.0

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        weight = attention(every.relevant(self.level), self.viewing, self.patience, stop=self.stop)
        shown = label_shares(items, self.by, str(self), weight)
        fair = np.broadcast_to(fair_shares(items.table, self.by, self.target, str(self)), shown.shape)
        apart = total(np.abs(shown - fair)) / 2.0 if self.distance == "total" else divergence_of(fair, shown, "JS")
        return Terms(every, {}, base=1.0 - apart, defined=total(shown) > 0)


class NDKL(_Undefined):
    """The distance of the groups at the top from their fair shares, over all prefixes of the list."""

    formula = (
        "sum over ranks of KL(groups of the first i, fair shares) / log2(i + 1), over the same sum of 1 / log2(i + 1)"
    )
    convention = "KL with natural logarithms. 0 is fair. Items without a label do not count"
    source = "Geyik, Ambler and Kenthapadi, Fairness-aware ranking in search and recommendation, KDD 2019"
    best_for = "fair tops of lists, at every length"
    examples = (Example("NDKL@2", ("a", "b"), "(log(1 / (1 / 2)) * 1 + 0) / (1 + 1 / log2(3))", PAIR),)
    better = "lower"
    bounds = (0.0, math.inf)

    by: By = ""
    target: Target = "catalogue"

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        fair = fair_shares(items.table, self.by, self.target, str(self))
        columns = np.ascontiguousarray(items.table.labels(self.by, str(self)).shares.T)
        so_far = [running(np.where(items.shown, column[items.row], 0.0)) for column in columns]
        whole = so_far[0].copy()
        for one in so_far[1:]:
            whole += one
        apart = np.zeros(whole.shape)
        for one, share in zip(so_far, fair.tolist(), strict=True):
            observed = ratio(one, whole)
            apart += each(lambda p, q=share: p * math.log(p / q) if p > 0 and q > 0 else 0.0, observed)  # type: ignore[misc]
        discount = np.where(every.shown, log2_discounts(every.rank), 0.0)
        factors = {"divergence of the prefix": np.maximum(apart, 0.0), "discount": discount}
        return Terms(every, factors, total(discount), defined=whole[:, -1] > 0)
