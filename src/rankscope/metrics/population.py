"""Metrics of all lists together: the exposure of items and of groups of items."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.lists import Array, Judged, Lists, Shown, exact_sum, ratio
from rankscope.metrics.base import Cutoff, Example, Metric, Terms
from rankscope.metrics.exposure import (
    ANY_MODEL,
    PAIR,
    Decay,
    Patience,
    Target,
    attention,
    fair_shares,
    reason_against_viewing,
)
from rankscope.metrics.items import GENRES, NO_ITEMS, By

STEP = 1e-6  # of a total, for a slope
Viewing = Annotated[
    Literal["even", "log", "geometric", "position"] | str,
    Param(
        f"how much a rank is seen: all alike, 1/log2(rank + 1), patience^(rank - 1), rank^-decay{ANY_MODEL}",
        reason_against=reason_against_viewing,
    ),
]


@dataclass(frozen=True, eq=False)
class PooledShares:
    """The additions of ``units`` users to ``width`` totals, and the value of totals.

    An entry adds ``amount`` of user ``unit`` to total ``column``. ``value`` maps totals and the number of users to the metric,
    ``slope`` to the derivative at each total.
    """

    units: int
    unit: Array
    column: Array
    amount: Array
    width: int
    value: Callable[[Array, int], float]
    slope: Callable[[Array, int], Array]

    @property
    def totals(self) -> Array:
        """The totals of all users."""
        return np.bincount(self.column, self.amount, self.width)

    def within(self, inside: Array) -> PooledShares:
        """The same of some of the users, numbered anew."""
        kept, number = inside[self.unit], np.cumsum(inside) - 1
        return PooledShares(
            int(inside.sum()), number[self.unit[kept]], self.column[kept], self.amount[kept], self.width, self.value, self.slope,
        )  # fmt: skip

    def parts(self) -> Array:
        """The additions of users: their mean is the value, and their spread gives the error of the value (linearised)."""
        totals = self.totals
        value = self.value(totals, self.units)
        if math.isnan(value):
            return np.full(self.units, np.nan)
        slope = self.slope(totals, self.units)
        added = np.bincount(self.unit, self.amount * slope[self.column], self.units)
        return np.asarray(value + self.units * (added - exact_sum(added) / max(self.units, 1)))

    def statistic(self, clusters: Array | None) -> None:
        """Nothing: a bootstrap draws the additions of users."""
        return


class _Population(Metric):
    """Base of metrics of all lists together. A subclass has ``shares``, ``value_of`` and, for many totals, ``slope_of``.

    A single list has no value. Each user adds the derivative of the value (infinitesimal jackknife), so intervals, tests and
    bootstraps over users follow.
    """

    needs = frozenset({"items"})
    relevance: ClassVar[Literal["binary", "graded", "none"]] = "none"
    monotone = False
    settled_by_grade = False
    aggregate = "pooled"
    positions = False
    empty = None

    def shares(self, shown: Shown) -> tuple[Array, Array, Array, int]:
        """The user, the total and the amount of each entry, and the number of totals."""
        raise TypeError(f"{type(self).__name__} declares no shares")

    def value_of(self, totals: Array, users: int) -> float:
        """The value by the totals of this number of users."""
        raise TypeError(f"{type(self).__name__} declares no value")

    def slope_of(self, totals: Array, users: int) -> Array:
        """The derivative of the value at each total: by small differences, if there are few totals."""
        out = np.empty(len(totals))
        for i, one in enumerate(totals.tolist()):
            step = STEP * max(abs(one), 1.0)
            ends = []
            for sign in (1.0, -1.0):
                moved = totals.copy()
                moved[i] += sign * step
                ends.append(self.value_of(moved, users))
            out[i] = (ends[0] - ends[1]) / (2.0 * step)
        return np.nan_to_num(out)

    def terms(self, lists: Lists) -> Terms:
        """No terms: a single list has no value."""
        if lists.items is None:
            raise InputError(NO_ITEMS.format(self))
        return Terms(lists, {}, defined=np.zeros(len(lists), dtype=bool))

    def score(self, lists: Lists) -> Array:
        """NaN: a single list has no value, so no cell is filled."""
        self.ready()
        self.terms(lists)  # refuses lists without items
        return np.full(len(lists), np.nan)

    def pooled_shares(self, judged: Judged) -> PooledShares:
        """The additions of each user to the totals."""
        if judged.shown is None:
            raise InputError(NO_ITEMS.format(self))
        return PooledShares(len(judged), *self.shares(judged.shown), self.value_of, self.slope_of)

    def pool(self, judged: Judged) -> float:
        """The value over all users."""
        shares = self.pooled_shares(judged)
        return shares.value(shares.totals, shares.units)

    def top(self, shown: Shown) -> Array:
        """The entries of ``shown`` down to the cutoff."""
        cutoff = getattr(self, "cutoff", None)
        return np.flatnonzero(shown.rank <= (cutoff or np.inf))


def attention_to(shown: Shown, at: Array, metric: Any) -> Array:
    """The attention to some of the items shown, by the model of a metric. Relevant items matter only to models of clicks."""
    rank, reader = shown.rank[at], (metric.viewing, metric.patience, metric.decay)
    none = np.zeros((1, int(rank.max(initial=1))))
    unclicked = attention(none, *reader)
    if np.array_equal(unclicked, attention(none + 1.0, *reader)):
        return np.asarray(unclicked[0, rank - 1])
    grade = shown.rectangle(np.arange(len(shown.count))).grade[:, : none.shape[1]]
    return np.asarray(attention(grade >= getattr(metric, "level", 1.0), *reader)[shown.query[at], rank - 1])


class _OfItemTotals(_Population):
    """Base of metrics of how much each item is shown."""

    cutoff: Cutoff = None

    def shares(self, shown: Shown) -> tuple[Array, Array, Array, int]:
        at = self.top(shown)
        return shown.query[at], shown.code[at], self.seen(shown, at), self.items(shown)

    def seen(self, shown: Shown, at: Array) -> Array:
        """The attention to these items."""
        return np.ones(len(at))

    def items(self, shown: Shown) -> int:
        """The number of items with a total."""
        return shown.table.met


class Coverage(_OfItemTotals, aliases=("CatalogueCoverage", "CatalogCoverage", "ItemCoverage")):
    """The share of the catalogue that is shown to any user."""

    formula = "different items in the top k of any list / items of the catalogue"
    convention = (
        "among='train' counts items of the training data only, shown and in all (RePlay, Evidently). among='train_size' divides all items shown by "
        "the items of the training data (recommenders). among='count' is their number (Elliot)"
    )
    source = "Ge, Delgado-Battenfeld and Jannach, Beyond accuracy, RecSys 2010; RecTools CatalogCoverage"
    best_for = "how much of a catalogue a recommender uses"

    @property
    def range(self) -> tuple[float, float]:
        """At most 1, unless items are counted."""
        return (0.0, math.inf if self.among in {"count", "train_size"} else 1.0)

    examples = (Example("Coverage@2", (["a", "b"], ["a", "c"]), "3 / 4", GENRES),)

    among: Annotated[Literal["catalogue", "train", "train_size", "count"], Param("the items that can be covered")] = (
        "catalogue"
    )

    def pooled_shares(self, judged: Judged) -> PooledShares:
        """The additions of each user, divided by the items that can be covered."""
        shares, table = super().pooled_shares(judged), judged.shown.table  # type: ignore[union-attr]
        if self.among == "catalogue":
            whole = table.catalogue(str(self))
        else:
            in_train = table.counts(np.arange(table.met), str(self)) > 0 if self.among != "count" else None
            whole = 1 if in_train is None else int(in_train.sum())
            if self.among == "train" and in_train is not None:
                kept = in_train[shares.column]
                shares = replace(shares, unit=shares.unit[kept], column=shares.column[kept], amount=shares.amount[kept])
        # an item in a single list goes with its user
        return replace(
            shares,
            value=lambda totals, _: float((totals > 0).sum() / whole),
            slope=lambda totals, _: (totals == 1.0) / whole,
        )


class _OfExposure(_OfItemTotals):
    """Base of metrics of how evenly exposure is spread over items."""

    viewing: Viewing = "even"
    patience: Patience = 0.8
    decay: Decay = 0.85
    among: Annotated[
        Literal["catalogue", "shown"], Param("the items that count: all of the catalogue, or those shown")
    ] = "catalogue"

    def seen(self, shown: Shown, at: Array) -> Array:
        return attention_to(shown, at, self)

    def items(self, shown: Shown) -> int:
        if self.among == "catalogue":
            shown.table.catalogue(str(self))
        return super().items(shown)


class Gini(_OfExposure, aliases=("GiniIndex", "gini_index")):
    """The inequality of items in the lists shown: 0 if all alike, near 1 if a few items get everything."""

    formula = "sum over items in rising order of (2i - n - 1) · exposure(i) / (n · total exposure)"
    convention = (
        "over the catalogue, divided by n (RecBole, LensKit). corrected=True divides by n - 1, and 1 minus that is Elliot's. among='shown' with "
        "corrected=True is Evidently's. viewing='log' is the Gini of exposure"
    )
    source = "Gini, 1912; Fleder and Hosanagar, Blockbuster culture's next rise or fall, Management Science 2009; RecBole GiniIndex"
    best_for = "concentration on few items"
    examples = (
        Example(
            "Gini@1", (["a"], ["a"], ["b"], ["a"]), "((2 * 3 - 4 - 1) * 1 + (2 * 4 - 4 - 1) * 3) / (4 * 4)", GENRES
        ),
        Example(
            "Gini(among='shown', corrected=True)@1", (["a"], ["a"], ["b"], ["a"]),
            "((2 - 3) * 1 + (4 - 3) * 3) / (1 * 4)", GENRES,
        ),
    )  # fmt: skip
    better = "lower"

    corrected: Annotated[bool, Param("divide by n - 1 instead of n, so that 1 is reached")] = False

    def value_of(self, totals: Array, users: int) -> float:
        ordered = np.sort(totals[totals > 0] if self.among == "shown" else totals)
        n, whole = len(ordered), exact_sum(ordered)
        if not whole or (self.corrected and n < 2):
            return math.nan
        return exact_sum((2.0 * np.arange(1, n + 1) - n - 1.0) * ordered) / ((n - 1 if self.corrected else n) * whole)

    def slope_of(self, totals: Array, users: int) -> Array:
        """By the place of each total, equal ones at their mean place."""
        kept = totals > 0 if self.among == "shown" else np.ones(len(totals), dtype=bool)
        ordered = np.sort(totals[kept])
        place = (np.searchsorted(ordered, totals) + np.searchsorted(ordered, totals, "right") + 1) / 2.0
        n = len(ordered)
        weight = (2.0 * place - n - 1.0) / (n - 1 if self.corrected else n)
        return np.asarray(np.where(kept, (weight - self.value_of(totals, users)) / exact_sum(ordered), 0.0))


class Entropy(_OfExposure, aliases=("ShannonEntropy", "DistributionalCoverage")):
    """The entropy of how often items are shown: high if many items are shown alike."""

    formula = "-sum over items of share · log(share), share = exposure of the item / total exposure"
    convention = "in bits (Elliot). unit='nats' with per='shown' divides by the number of items shown (RecBole)"
    source = "Shannon, 1948; Elliot ShannonEntropy"
    best_for = "variety over all users, in one number that grows with the catalogue"
    examples = (Example("Entropy@1", (["a"], ["b"]), "1", GENRES),)
    bounds = (0.0, math.inf)

    unit: Annotated[Literal["bits", "nats"], Param("the logarithm: of base 2 or natural")] = "bits"
    per: Annotated[Literal["all", "shown"], Param("undivided, or divided by the number of items shown")] = "all"
    among: Annotated[Literal["catalogue", "shown"], Param("makes no difference to the entropy")] = "shown"

    def value_of(self, totals: Array, users: int) -> float:
        some = totals[totals > 0]
        if not len(some):
            return math.nan
        share = some / exact_sum(some)
        value = -exact_sum(share * np.log(share))
        return value / (math.log(2.0) if self.unit == "bits" else 1.0) / (len(some) if self.per == "shown" else 1)

    def slope_of(self, totals: Array, users: int) -> Array:
        """The derivative of the entropy at each share."""
        some, whole = totals > 0, exact_sum(totals)
        logs = np.log(np.where(some, totals / whole, 1.0))
        nats = -exact_sum(totals / whole * logs)
        scale = (math.log(2.0) if self.unit == "bits" else 1.0) * (int(some.sum()) if self.per == "shown" else 1)
        return np.asarray(np.where(some, (-logs - nats) / whole / scale, 0.0))


class Personalisation(_OfItemTotals, aliases=("Personalization", "InterListDiversity")):
    """The mean difference between the lists of two users: 1 if no two users share an item."""

    formula = "1 - mean over pairs of users of items shared / k"
    convention = "shared items are divided by the mean length of a list, as in the mean cosine of lists of one length (Evidently, recmetrics)"
    source = "Zhou et al., Solving the apparent diversity-accuracy dilemma, PNAS 2010; Evidently Personalization"
    best_for = "does everyone get the same list?"
    examples = (Example("Personalisation@2", (["a", "b"], ["a", "c"]), "1 - 1 / 2", GENRES),)

    def value_of(self, totals: Array, users: int) -> float:
        whole = exact_sum(totals)
        return 1.0 - exact_sum(totals * (totals - 1.0)) / (whole * (users - 1)) if users > 1 and whole else math.nan

    def slope_of(self, totals: Array, users: int) -> Array:
        """The derivative at each count; the number of users enters through the total."""
        whole = exact_sum(totals)
        pairs = exact_sum(totals * (totals - 1.0))
        return np.asarray(-((2.0 * totals - 1.0) - 2.0 * pairs / whole) / (whole * (users - 1)))


class _OfGroups(_Population):
    """Base of metrics of groups of items: labels of a column, like providers or genres."""

    cutoff: Cutoff = None
    by: By = ""

    def groups(self, shown: Shown) -> Array:
        """Items by groups: the part of each item that belongs to a group. The last row is for unknown items."""
        return shown.table.labels(self.by, str(self)).shares


def spread(unit: Array, row: Array, amount: Array, groups: Array, first: int = 0) -> tuple[Array, Array, Array]:
    """Divide amounts of items over the groups of each item."""
    parts = [(np.flatnonzero(column[row]), g) for g, column in enumerate(np.ascontiguousarray(groups.T))]
    units = np.concatenate([unit[at] for at, _ in parts])
    columns = np.concatenate([np.full(len(at), first + g) for at, g in parts])
    return units, columns, np.concatenate([amount[at] * groups[row[at], g] for at, g in parts])


def relevant_items(shown: Shown, level: float) -> tuple[Array, Array]:
    """The query and the item of each judgment of at least this grade."""
    query, item, grade = shown.wanted
    return query[grade >= level].astype(np.int64), item[grade >= level].astype(np.int64)


class _Exposed(_OfGroups):
    """Base of metrics of the exposure of groups."""

    viewing: Viewing = "log"
    patience: Patience = 0.8
    decay: Decay = 0.85

    def exposure(self, shown: Shown, first: int = 0) -> tuple[Array, Array, Array]:
        """The additions of each item to the exposure of its groups, as columns from ``first``."""
        at = self.top(shown)
        amount = attention_to(shown, at, self)
        return spread(shown.query[at], shown.table.known(shown.code[at]), amount, self.groups(shown), first)


class GroupExposure(_Exposed, aliases=("ExposureShare",)):
    """The share of all exposure that one group of items gets."""

    formula = "exposure of the items of the group / exposure of all items with a group"
    convention = "the attention at a rank is 1/log2(rank + 1), unless viewing sets another. An item of several groups is divided evenly"
    source = "Singh and Joachims, Fairness of exposure in rankings, KDD 2018"
    best_for = "how much of what users see belongs to one provider or category"
    examples = (Example("GroupExposure(group='drama')@2", (["a", "c"],), "1 / (1 + 1 / log2(3))", GENRES),)
    better = "neither"

    group: Annotated[str, Param("the label of the group", needed=True)] = ""

    def shares(self, shown: Shown) -> tuple[Array, Array, Array, int]:
        names = shown.table.labels(self.by, str(self)).names
        if self.group not in names:
            from rankscope import words

            raise InputError(
                f"{self}: no item of {shown.table.label} has the label {self.group!r}{words.hint(self.group, names)}"
            )
        units, columns, amounts = self.exposure(shown)
        return units, (columns != names.index(self.group)).astype(np.int64), amounts, 2

    def value_of(self, totals: Array, users: int) -> float:
        return float(totals[0] / (totals[0] + totals[1])) if totals.any() else math.nan


class Skew(GroupExposure):
    """The over- or under-representation of a group: the logarithm of its share of exposure over its fair share."""

    formula = "log(exposure share of the group / fair share)"
    convention = (
        "0 is fair, below 0 is under-represented, undefined if the group is not shown. Over all users, every rank alike"
    )
    source = "Geyik, Ambler and Kenthapadi, Fairness-aware ranking in search and recommendation, KDD 2019"
    best_for = "which group is short of places"
    examples = (Example("Skew(group='x')@3", (["a", "b", "c"],), "log((2 / 3) / (1 / 2))", PAIR),)
    bounds = (-math.inf, math.inf)

    viewing: Viewing = "even"
    target: Target = "catalogue"

    def pooled_shares(self, judged: Judged) -> PooledShares:
        """The additions of each user, for comparison with the fair share of the group."""
        shares, table = super().pooled_shares(judged), judged.shown.table  # type: ignore[union-attr]
        place = table.labels(self.by, str(self)).names.index(self.group)
        fair = float(fair_shares(table, self.by, self.target, str(self))[place])

        def skew(totals: Array, users: int) -> float:
            share = GroupExposure.value_of(self, totals, users)
            return math.log(share / fair) if share > 0 and fair > 0 else math.nan

        def slope(totals: Array, users: int) -> Array:
            return np.asarray(np.array([1.0 / max(totals[0], 1e-300), 0.0]) - 1.0 / max(totals.sum(), 1e-300))

        return replace(shares, value=skew, slope=slope)


class _Expected(_Exposed):
    """Base of expected exposure: of groups, per user, and in an ideal policy that shows relevant items first, in random order."""

    relevance = "binary"
    level: Annotated[float, Param("the lowest grade that counts as relevant", above=0)] = 1.0

    def shares(self, shown: Shown) -> tuple[Array, Array, Array, int]:
        groups = self.groups(shown)
        width = groups.shape[1]
        here = self.exposure(shown)
        query, item = relevant_items(shown, self.level)
        many = np.bincount(query, minlength=len(shown.count))
        ranks = np.arange(1, int(many.max(initial=1)) + 1)
        seen = attention(np.ones((1, len(ranks))), self.viewing, self.patience, self.decay)[0]
        cutoff = self.cutoff or len(ranks)
        so_far = np.cumsum(np.where(ranks <= cutoff, seen, 0.0))
        fair = ratio(so_far[np.maximum(many, 1) - 1], np.maximum(many, 1).astype(float))
        ideal = spread(query, shown.table.known(item), fair[query], groups, width)
        return *(np.concatenate(pair) for pair in zip(here, ideal, strict=True)), 2 * width

    def exposures(self, totals: Array, users: int) -> tuple[Array, Array]:
        """The exposure of each group per user, and the ideal one."""
        half = len(totals) // 2
        return totals[:half] / users, totals[half:] / users


class EEL(_Expected, aliases=("EE_L", "ExpectedExposureLoss")):
    """The squared distance of the exposure of groups from the exposure that they deserve."""

    formula = "sum over groups of (exposure - ideal exposure)^2, per user"
    convention = (
        "an ideal policy shows all relevant items first, in random order. Exposure is per group, over all users (for one deterministic list per user, "
        "exposure per item has no variance to measure)"
    )
    source = "Diaz et al., Evaluating stochastic rankings with expected exposure, CIKM 2020"
    best_for = "do groups get the exposure that their relevance earns?"
    examples = (Example("EEL@1", (["c"],), "(0 - 1)**2 + (1 - 0)**2", GENRES | {"judgments": {"a": 1}}),)
    better = "lower"
    bounds = (0.0, math.inf)

    def value_of(self, totals: Array, users: int) -> float:
        here, ideal = self.exposures(totals, users)
        return exact_sum((here - ideal) ** 2)


class EED(_Expected, aliases=("EE_D", "ExpectedExposureDisparity")):
    """The inequality of exposure between groups: the part of the loss without relevance."""

    formula = "sum over groups of exposure^2, per user"
    convention = "EEL = EED - EER + sum over groups of ideal exposure^2"
    source = EEL.source
    best_for = "the disparity part of the expected exposure loss"
    examples = (Example("EED@1", (["c"],), "1", GENRES),)
    better = "lower"
    bounds = (0.0, math.inf)

    def value_of(self, totals: Array, users: int) -> float:
        here, _ = self.exposures(totals, users)
        return exact_sum(here**2)


class EER(_Expected, aliases=("EE_R", "ExpectedExposureRelevance")):
    """The exposure of groups with relevant items: the part of the loss with relevance."""

    formula = "2 · sum over groups of exposure · ideal exposure, per user"
    convention = "EEL = EED - EER + sum over groups of ideal exposure^2"
    source = EEL.source
    best_for = "the relevance part of the expected exposure loss"
    examples = (Example("EER@1", (["a"],), "2 * 1 * 1", GENRES | {"judgments": {"a": 1}}),)
    bounds = (0.0, math.inf)

    def value_of(self, totals: Array, users: int) -> float:
        here, ideal = self.exposures(totals, users)
        return 2.0 * exact_sum(here * ideal)


class RSP(_OfGroups, aliases=("RankingStatisticalParity",)):
    """The inequality of the chances of groups to be shown: the spread of the chances over their mean."""

    formula = "standard deviation / mean over groups of P(group), P = items of the group shown / items of the group that the users could be shown"
    convention = "items that a user had in the training data cannot be shown. An item of several groups counts for each. Elliot's RSP"
    source = "Zhu, Wang and Caverlee, Measuring and mitigating item under-recommendation bias, SIGIR 2020; Elliot RSP"
    best_for = "statistical parity of groups of items"
    examples = (Example("RSP@1", (["a"], ["c"]), "(1 / 4 - 1 / 6) / (1 / 4 + 1 / 6)", GENRES),)
    better = "lower"
    bounds = (0.0, math.inf)

    def groups(self, shown: Shown) -> Array:
        return shown.table.labels(self.by, str(self)).matrix

    def shares(self, shown: Shown) -> tuple[Array, Array, Array, int]:
        at, groups, table = self.top(shown), self.groups(shown), shown.table
        width, users = groups.shape[1], np.arange(len(shown.count))
        here = spread(shown.query[at], table.known(shown.code[at]), np.ones(len(at)), groups)
        could = np.broadcast_to(groups[:-1].sum(axis=0), (len(users), width)).copy()
        if table.histories is not None:
            had = table.histories.profile(groups)
            could -= had[shown.user]
        whole = (np.repeat(users, width), np.tile(np.arange(width), len(users)) + width, could.ravel())
        return *(np.concatenate(pair) for pair in zip(here, whole, strict=True)), 2 * width

    def value_of(self, totals: Array, users: int) -> float:
        half = len(totals) // 2
        chances = totals[:half][totals[half:] > 0] / totals[half:][totals[half:] > 0]
        mean = float(chances.mean()) if len(chances) else 0.0
        return float(np.sqrt(np.mean((chances - mean) ** 2)) / mean) if mean else math.nan


class REO(RSP, aliases=("RankingEqualOpportunity",)):
    """The inequality of the chances of relevant items of groups to be shown."""

    formula = "standard deviation / mean over groups of P(group), P = relevant items of the group shown / relevant items of the group"
    convention = (
        "relevant items are those judged at the level or above. An item of several groups counts for each. Elliot's REO"
    )
    source = "Zhu, Wang and Caverlee, Measuring and mitigating item under-recommendation bias, SIGIR 2020; Elliot REO"
    best_for = "equal opportunity of groups of items"
    examples = (
        Example("REO@2", (["a", "c"],), "(1 - 1 / 2) / (1 + 1 / 2)", GENRES | {"judgments": {"a": 1, "b": 1, "c": 1}}),
    )
    relevance = "binary"

    level: Annotated[float, Param("the lowest grade that counts as relevant", above=0)] = 1.0

    def shares(self, shown: Shown) -> tuple[Array, Array, Array, int]:
        groups, table = self.groups(shown), shown.table
        at = self.top(shown)
        at = at[shown.grade[at] >= self.level]
        here = spread(shown.query[at], table.known(shown.code[at]), np.ones(len(at)), groups)
        query, item = relevant_items(shown, self.level)
        whole = spread(query, table.known(item), np.ones(len(query)), groups, groups.shape[1])
        return *(np.concatenate(pair) for pair in zip(here, whole, strict=True)), 2 * groups.shape[1]
