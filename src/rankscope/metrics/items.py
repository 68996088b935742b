"""Metrics of the items shown, judged or not: diversity, novelty, popularity, serendipity and calibration."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.lists import Array, ItemTable, Labels, Lists, ShownLists, each, log2_discounts, ratio, total
from rankscope.metrics.base import Cutoff, Example, Level, Metric, NeededCutoff, Terms

By = Annotated[str, Param("the column of item features; may be left out if only one fits")]
Cold = Annotated[
    Literal["keep", "drop"], Param("an item without interactions: kept, with the count of the formula, or left out")
]
NO_ITEMS = "{} looks at every item shown: add --items or --history"
GENRES = {"items": {"a": "drama", "b": "drama", "c": "war", "d": ["drama", "war"]}}
BOUGHT = {"history": {"u1": ["a", "b"], "u2": ["a"], "u3": ["a", "c"], "u4": ["c"]}}


class _OfItems(Metric):
    """Base of metrics of every item shown. A subclass has ``earn``: the addition of each item, and the divisor."""

    needs = frozenset({"items"})
    relevance: ClassVar[Literal["binary", "graded", "none"]] = "none"
    monotone = False
    settled_by_grade = False

    def taken_apart(self, lists: Lists) -> Terms:
        """The terms over every item down to the cutoff. Judged documents are not cut, as they are not used."""
        self.ready()
        return self.terms(lists)

    def terms(self, lists: Lists) -> Terms:
        if lists.items is None:
            raise InputError(NO_ITEMS.format(self))
        return self.earn(*lists.every_item(getattr(self, "cutoff", None)))

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        """The terms over the items shown: ``every`` and ``items`` have a column for each rank down to the cutoff."""
        raise TypeError(f"{type(self).__name__} declares no earnings")

    def mean(self, every: Lists, name: str, values: Array, counts: Array | None = None) -> Terms:
        """The mean of values of the items that count (default: all shown), undefined without such items."""
        counted = every.shown if counts is None else every.shown & counts
        kept = np.where(counted, values, 0.0)
        number = total(counted)
        return Terms(every, {name: kept}, number, defined=number > 0)


class _Undefined(_OfItems):
    """Base of means over items: an empty list has no value."""

    empty = None

    cutoff: Cutoff = None


# --- diversity within a list


def unit_vectors(table: ItemTable, name: str, metric: str) -> Array:
    """The features of each item as vectors of length 1, features by items. An item without features is 0."""
    matrix = table.feature(name, metric).matrix

    def make() -> Array:
        length = each(math.sqrt, np.cumsum(matrix * matrix, axis=1)[:, -1]) if matrix.shape[1] else np.ones(len(matrix))
        return np.ascontiguousarray(ratio(matrix, length[:, None]).T)

    vectors: Array = table.keep(("unit", name), make)
    return vectors


class ILD(_OfItems, aliases=("IntraListDiversity", "intra_list_diversity")):
    """The mean distance between two items of a list, by their features."""

    formula = "sum over pairs of items of distance / number of pairs; distance = 1 - cosine, or the share of labels that differ"
    convention = "a list of one item scores 0 (RecTools, RecPack), or is undefined with single='undefined'. An item without features is at distance 1"
    source = "Ziegler et al., Improving recommendation lists through topic diversification, WWW 2005; RecTools IntraListDiversity"
    best_for = "lists whose items should differ, with genres, categories or embeddings"
    examples = (
        Example("ILD@3", ("a", "b", "c"), "(0 + 1 + 1) / 3", GENRES),
        Example("ILD(distance='hamming')@2", ("a", "d"), "1 / 2", GENRES),
    )
    bounds = (0.0, 2.0)
    positions = False

    cutoff: Cutoff = None
    by: By = ""
    distance: Annotated[
        Literal["cosine", "hamming"], Param("1 - cosine of the features, or the share of labels that differ")
    ] = "cosine"
    single: Annotated[Literal["zero", "undefined"], Param("the value of a list with fewer than two items")] = "zero"

    @property
    def empty(self) -> float | None:
        """As one item."""
        return 0.0 if self.single == "zero" else None

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        number = total(every.shown)
        others = np.maximum(number - 1.0, 1.0)[:, None]
        near = self._alike(items, number)
        apart = np.where(every.shown & (number[:, None] > 1), (others - near) / others, 0.0)
        defined = number > 1 if self.single == "undefined" else None
        return Terms(every, {"distance to the others": apart}, number, defined=defined)

    def _alike(self, items: ShownLists, number: Array) -> Array:
        """For each item the sum of its similarities to the other items, in closed form."""
        row, table = items.row, items.table
        if self.distance == "hamming":
            labels = table.labels(self.by, str(self))
            shown, many = items.labelled(labels), float(len(labels.names))
            own = shown.by_cell(2.0 * shown.sums() - number[shown.query])  # of its labels: with it, less without it
            held = np.bincount(shown.query, minlength=len(number))
            return (many * (number - 1.0) - held)[:, None] / many + own / many
        feature = table.feature(self.by, str(self))
        if isinstance(feature, Labels):  # vectors of zeros and of one number
            shown = items.labelled(feature)
            here = 1.0 / each(math.sqrt, shown.beside.astype(float))
            return shown.by_cell(here * (shown.sums(here) - here))
        near = np.zeros(row.shape)
        for column in unit_vectors(table, self.by, str(self)):
            here = np.where(items.shown, column[row], 0.0)
            near += here * (total(here)[:, None] - here)
        return near


class CategoryCoverage(_OfItems, aliases=("CategoricalDiversity",)):
    """The number of different labels in the first k items, as a share."""

    formula = "labels met in the top k / min(k · most labels of an item, all labels), or / k, or / all labels"
    convention = "out_of='k' is RePlay's CategoricalDiversity for items with one label"
    source = "RePlay CategoricalDiversity"
    best_for = "pages that should show several categories"

    @property
    def range(self) -> tuple[float, float]:
        """At most 1, unless items have several labels and k is the divisor."""
        return (0.0, math.inf if self.out_of == "k" else 1.0)

    examples = (
        Example("CategoryCoverage@2", ("a", "b"), "1 / 2", GENRES),
        Example("CategoryCoverage@2", ("a", "c"), "2 / 2", GENRES),
    )
    positions = False

    cutoff: NeededCutoff = None
    by: By = ""
    out_of: Annotated[Literal["reachable", "k", "labels"], Param("the number that is divided by")] = "reachable"

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        labels = items.table.labels(self.by, str(self))
        labelled = items.labelled(labels)
        fresh = labelled.by_cell(labelled.is_first.astype(float))
        k, known = float(self.cutoff or 0), float(len(labels.names))
        richest = float(labels.count.max(initial=1))  # so that items with several labels stay within 1
        worth = {"reachable": min(k * richest, known), "k": k, "labels": known}[self.out_of]
        return Terms(every, {"new labels": fresh}, worth)


class CategoryEntropy(_Undefined):
    """The entropy of the labels in the first k items, in bits."""

    formula = "-sum over labels of share · log2(share)"
    convention = "an item with several labels gives each an equal part. Undefined without a labelled item"
    source = "Shannon, 1948; LensKit entropy"
    best_for = "how evenly a page is spread over categories"
    examples = (
        Example("CategoryEntropy@2", ("a", "c"), "1", GENRES),
        Example("CategoryEntropy@2", ("a", "b"), "0", GENRES),
    )
    bounds = (0.0, math.inf)
    positions = False

    by: By = ""

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        shares = label_shares(items, self.by, str(self), np.ones(items.code.shape))
        value = np.zeros(len(every))
        for column in shares.T:
            value -= each(lambda share: share * math.log2(share) if share > 0 else 0.0, column)
        return Terms(every, {}, base=value, defined=total(shares) > 0)


def label_shares(items: ShownLists, by: str, metric: str, weight: Array) -> Array:
    """The weighted share of each label among the items shown: queries by labels, all 0 without a labelled item."""
    labelled = items.labelled(items.table.labels(by, metric))
    out = labelled.by_query(weight.ravel()[labelled.cell] / labelled.beside)
    return ratio(out, total(out)[:, None])


# --- popularity and novelty


class Popularity(_Undefined, aliases=("AveragePopularity", "MeanPopularity")):
    """The mean popularity of the items shown: their users in the training data."""

    formula = "mean over the top k of users of the item in the training data"
    convention = (
        "cold items count 0 (RecTools, RecBole, and Elliot as ARP), or are left out with cold='drop' (Evidently). out_of='share' divides by all "
        "interactions, out_of='top' by the count of the most popular item"
    )
    source = "Yin et al., Challenging the long tail recommendation, VLDB 2012; RecTools AvgRecPopularity"
    best_for = "popularity bias: does the recommender show what is popular anyway?"
    examples = (Example("Popularity@2", ("a", "d"), "(3 + 0) / 2", BOUGHT | GENRES),)
    better = "neither"
    bounds = (0.0, math.inf)
    positions = False

    cold: Cold = "keep"
    out_of: Annotated[
        Literal["count", "share", "top"], Param("users, share of all interactions, or share of the top item")
    ] = "count"

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        users = items.table.users_of_items(str(self))
        counts, most = users[items.row], float(users.max(initial=1.0))
        divisor = {"count": 1.0, "share": float(items.table.interactions), "top": most}[self.out_of]
        return self.mean(every, "popularity", counts / divisor, counts > 0 if self.cold == "drop" else None)


class LongTail(_Undefined, aliases=("APLT", "TailPercentage")):
    """The share of the items shown that are not among the popular ones."""

    formula = "items of the long tail in the top k / items shown"
    convention = (
        "the head is the fewest items with 80% of the interactions (Elliot's APLT). measured_in='items' makes the head the most popular 80% of "
        "the items (RecBole's TailPercentage has its own share)"
    )
    source = (
        "Abdollahpouri, Burke and Mobasher, Managing popularity bias in recommender systems, FLAIRS 2019; Elliot APLT"
    )
    best_for = "does the long tail get a place?"
    examples = (Example("LongTail(head=0.5)@2", ("a", "c"), "1 / 2", BOUGHT | GENRES),)
    better = "neither"
    positions = False

    head: Annotated[float, Param("the share of interactions, or of items, that the head has", above=0, high=1)] = 0.8
    measured_in: Annotated[Literal["interactions", "items"], Param("the size of the head")] = "interactions"

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        table = items.table
        users = table.users_of_items(str(self))
        tail = table.keep(("tail", self.head, self.measured_in), lambda: self._tail(users[:-1]))
        return self.mean(every, "in the long tail", tail[items.row])

    def _tail(self, users: Array) -> Array:
        """1 for each item outside the head. Items that nobody had are outside."""
        order = np.argsort(-users, kind="stable")
        size = users[order] if self.measured_in == "interactions" else np.ones(len(order))
        before = np.cumsum(size) - size
        tail = np.ones(len(order) + 1)
        tail[order] = before >= self.head * size.sum() - 1e-9
        return tail


class Novelty(_Undefined, aliases=("MIUF", "Surprisal", "SelfInformation")):
    """The mean surprise at the items shown, in bits: few users had them."""

    formula = "mean over the top k of -log2(users of the item / users)"
    convention = (
        "a cold item counts as if one user had it (RecTools MIUF), or is left out with cold='drop'. among='interactions' divides by all "
        "interactions (recommenders), among='items' by the number of items in the training data (Evidently). scaled=True divides by the largest value, log2 "
        "of the divisor (RePlay Surprisal, which divides the sum by k, also for a short list)"
    )
    source = "Vargas and Castells, Rank and relevance in novelty and diversity metrics, RecSys 2011; RecTools MeanInvUserFreq"
    best_for = "catalogues in which users should meet what they did not know"
    examples = (
        Example("Novelty@2", ("a", "d"), "(-log2(3 / 4) - log2(1 / 4)) / 2", BOUGHT | GENRES),
        Example("Novelty(cold='drop')@2", ("a", "d"), "-log2(3 / 4)", BOUGHT | GENRES),
        Example("Novelty(scaled=True)@1", ("c",), "-log2(2 / 4) / log2(4)", BOUGHT | GENRES),
    )
    better = "neither"
    bounds = (-math.inf, math.inf)
    positions = False

    cold: Cold = "keep"
    among: Annotated[Literal["users", "interactions", "items"], Param("the number that counts are divided by")] = (
        "users"
    )
    scaled: Annotated[bool, Param("divide by the largest possible value")] = False

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        table = items.table
        users = table.users_of_items(str(self))

        def surprise() -> Array:
            had = float((users > 0).sum())
            whole = {"users": float(table.users), "interactions": float(table.interactions), "items": had}[self.among]
            bits = each(lambda count: -math.log2(max(count, 1.0) / whole), users)
            return bits / max(math.log2(whole), 1e-300) if self.scaled else bits

        bits = table.keep(("surprise", self.among, self.scaled), surprise)
        counted = users[items.row] > 0 if self.cold == "drop" else None
        return self.mean(every, "surprise", bits[items.row], counted)


class EPC(_OfItems, aliases=("ExpectedPopularityComplement",)):
    """Novelty of the relevant items shown, with less weight at lower ranks."""

    formula = "sum of discount · relevant · novelty / sum of discount; novelty = 1 - users of the item / users"
    convention = (
        "a cold item has novelty 1. free_of='bits' is Elliot's EFD: novelty = -log2(users of the item / interactions), and a cold item is as "
        "novel as the rarest one"
    )
    source = "Vargas and Castells, Rank and relevance in novelty and diversity metrics, RecSys 2011; Elliot EPC and EFD"
    best_for = "novelty that users also like"
    examples = (
        Example(
            "EPC@2", ("a", "c"), "(1 / log2(3)) * (1 - 2 / 4) / (1 + 1 / log2(3))",
            BOUGHT | GENRES | {"judgments": {"c": 1}},
        ),
    )  # fmt: skip
    relevance = "binary"
    bounds = (0.0, math.inf)

    cutoff: Cutoff = None
    level: Level = 1.0
    free_of: Annotated[Literal["popularity", "bits"], Param("novelty as 1 - popularity, or in bits (EFD)")] = (
        "popularity"
    )

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        table = items.table
        users = table.users_of_items(str(self))

        def of_items() -> Array:
            if self.free_of == "popularity":
                return 1.0 - users / table.users
            rarest = float(users[users > 0].min())
            return each(lambda count: -math.log2((count or rarest) / table.interactions), users)

        novelty = table.keep(("novelty", self.free_of), of_items)[items.row]
        discount = np.where(every.shown, log2_discounts(every.rank), 0.0)
        factors = {"relevant": every.relevant(self.level), "discount": discount, "novelty": novelty}
        return Terms(every, factors, total(discount))


class Unseen(_Undefined, aliases=("NewToUser",)):
    """The share of the items shown that the user did not have in the training data."""

    formula = "items in the top k that are not in the user's history / items shown"
    convention = "a user without a history has seen nothing. RePlay calls it novelty"
    source = "RePlay Novelty"
    best_for = "shops and feeds that should not repeat what a user had"
    examples = (Example("Unseen@2", ("a", "c"), "1 / 2", BOUGHT | {"user": "u1"}),)
    better = "neither"
    positions = False

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        return self.mean(every, "not seen", 1.0 - seen_before(items, str(self)))


def seen_before(items: ShownLists, metric: str) -> Array:
    """1 for items that the user has in the training data."""
    table = items.table
    histories, width = table.history(metric), table.size + 1

    def pairs_of() -> Array:
        owner = np.repeat(np.arange(len(histories.start) - 1), np.diff(histories.start))
        return np.unique(owner * width + np.minimum(histories.item, table.size))

    pairs = table.keep("pairs", pairs_of)
    wanted = np.where(items.user >= 0, items.user, 0)[:, None] * width + items.row
    near = np.minimum(np.searchsorted(pairs, wanted), max(len(pairs) - 1, 0))
    known = items.shown & (items.user >= 0)[:, None] & (items.row < table.size)
    return np.asarray(known & (pairs[near] == wanted), dtype=float)


class Unexpectedness(_Undefined):
    """The mean distance of the items shown from the user's history, by their features."""

    formula = "mean over the top k of (1 - mean cosine to the items of the user's history)"
    convention = "undefined for a user without a history"
    source = "recommenders (Microsoft), serendipity without relevance; Zhang et al., Auralist, WSDM 2012"
    best_for = "does a list leave the filter bubble?"
    examples = (
        Example("Unexpectedness@2", ("b", "c"), "(0 + 1) / 2", GENRES | {"history": {"u": ["a"]}, "user": "u"}),
    )
    bounds = (0.0, 2.0)
    better = "neither"
    positions = False

    by: By = ""

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        distance = distance_to_history(items, self.by, str(self))
        return self.mean(every, "distance to the history", distance, (items.user >= 0)[:, None])


def distance_to_history(items: ShownLists, by: str, metric: str) -> Array:
    """1 - the mean cosine of each item shown to the items of the user's history."""
    table, histories = items.table, items.table.history(metric)
    vectors = unit_vectors(table, by, metric)
    owned = np.maximum(np.append(np.diff(histories.start), 1), 1)
    profiles = table.keep(("profile", by), lambda: (histories.profile(vectors.T) / owned[:, None]).T)
    near = np.zeros(items.code.shape)
    for column, profile in zip(vectors, profiles, strict=True):
        near += column[items.row] * profile[items.user][:, None]
    return np.maximum(1.0 - near, 0.0)


class Serendipity(_OfItems):
    """Relevant items shown that a list of the most popular items would not have, or that are far from the user's history."""

    formula = "mean over the top k of relevant · max((n + 1 - rank)/n - (n + 1 - popularity rank)/n, 0), or of relevant · distance to the history"
    convention = (
        "divided by k, and by the items shown in RecTools. n is the catalogue, and equally popular items share a rank. against='history' is the definition of "
        "recommenders (Microsoft)"
    )
    source = "RecTools Serendipity; Zhang et al., Auralist, WSDM 2012"
    best_for = "pleasant surprises: relevant and not obvious"
    examples = (
        Example("Serendipity@2", ("c", "a"), "max(4/4 - 3/4, 0) / 2", BOUGHT | GENRES | {"judgments": {"c": 1}}),
        Example(
            "Serendipity(against='history')@2", ("c", "b"), "1 * 1 / 2",
            GENRES | {"history": {"u": ["a"]}, "user": "u", "judgments": {"c": 1}},
        ),
    )  # fmt: skip
    relevance = "binary"
    bounds = (0.0, 2.0)

    cutoff: NeededCutoff = None
    level: Level = 1.0
    against: Annotated[
        Literal["popularity", "history"], Param("the obvious list: the most popular items, or the user's history")
    ] = "popularity"
    by: By = ""

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        relevant = every.relevant(self.level)
        if self.against == "history":
            surprise = np.where((items.user >= 0)[:, None], distance_to_history(items, self.by, str(self)), 0.0)
        else:
            users, n = items.table.users_of_items(str(self)), float(items.table.catalogue(str(self)))

            def how_usual() -> Array:
                distinct = np.unique(users[:-1])
                place = len(distinct) - np.searchsorted(distinct, users)  # equally popular items share a rank
                return np.where(users > 0, (n + 1.0 - place) / n, 0.0)

            usual = items.table.keep("usual", how_usual)[items.row]
            surprise = np.maximum((n + 1.0 - every.rank) / n - usual, 0.0)
        return Terms(every, {"relevant": relevant, "surprise": surprise}, float(self.cutoff or 0))


# --- calibration


class Miscalibration(_Undefined, aliases=("Calibration", "SteckCalibration")):
    """The distance of the labels of a list from the labels of the user's history."""

    formula = "divergence of p(label | history) from q(label | list); KL: sum p · log2(p / q'), q' = (1 - alpha) · q + alpha · p"
    convention = (
        "0 is calibrated. An item with several labels gives each an equal part, and weights='log2' weighs ranks as DCG does. Undefined for a user "
        "without a history. KL and JS are in bits"
    )
    source = "Steck, Calibrated recommendations, RecSys 2018"
    best_for = "does a list keep the proportions of a user's interests?"
    examples = (
        Example(
            "Miscalibration(divergence='Hellinger')@2", ("b", "c"), "0",
            GENRES | {"history": {"u": ["a", "c"]}, "user": "u"},
        ),
        Example(
            "Miscalibration(alpha=0.5)@1", ("c",), "1 / 2 * log2((1 / 2) / (1 / 4)) + 1 / 2 * log2((1 / 2) / (3 / 4))",
            GENRES | {"history": {"u": ["a", "c"]}, "user": "u"},
        ),
    )  # fmt: skip
    better = "lower"
    bounds = (0.0, math.inf)

    by: By = ""
    divergence: Annotated[Literal["KL", "JS", "Hellinger"], Param("the distance of the two distributions")] = "KL"
    alpha: Annotated[float, Param("the part of p that is mixed into q, for KL", above=0, high=1)] = 0.01
    weights: Annotated[Literal["even", "log2"], Param("the weight of a rank")] = "even"

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        labels, histories = items.table.labels(self.by, str(self)), items.table.history(str(self))

        def interests() -> Array:
            profile = histories.profile(labels.shares)
            return ratio(profile, np.cumsum(profile, axis=1)[:, -1:])

        wanted = items.table.keep(("interests", self.by), interests)[items.user]
        weight = log2_discounts(every.rank) if self.weights == "log2" else np.ones(every.rank.shape)
        observed = label_shares(items, self.by, str(self), weight)
        defined = (items.user >= 0) & (total(wanted) > 0) & (total(observed) > 0)
        return Terms(every, {}, base=divergence_of(wanted, observed, self.divergence, self.alpha), defined=defined)


def divergence_of(expected: Array, observed: Array, kind: str, alpha: float = 0.0) -> Array:
    """The divergence of two distributions per row, label after label: KL and JS in bits, or the Hellinger distance."""
    out = np.zeros(len(expected))
    for p, q in zip(expected.T, observed.T, strict=True):
        if kind == "KL":
            out += _bits(p, (1.0 - alpha) * q + alpha * p)
        elif kind == "JS":
            out += (_bits(p, (p + q) / 2.0) + _bits(q, (p + q) / 2.0)) / 2.0
        else:
            out += (np.sqrt(p) - np.sqrt(q)) ** 2 / 2.0
    return np.sqrt(out) if kind == "Hellinger" else np.maximum(out, 0.0)


def _bits(p: Array, q: Array) -> Array:
    """P · log2(p / q), 0 if p is 0."""
    inside = (p > 0) & (q > 0)
    part = each(math.log2, np.where(inside, p / np.where(inside, q, 1.0), 1.0))
    return np.asarray(np.where(inside, p * part, 0.0))


class FullLists(_OfItems, aliases=("UserCoverage", "ListSufficiency")):
    """The share of users with k items."""

    formula = "1 if the list has at least k items, otherwise 0"
    convention = (
        "a user missing from the run has no list. Elliot's UserCoverage counts users with any list, as k = 1 does"
    )
    source = "Elliot UserCoverage; RecTools SufficientReco"
    best_for = "does everyone get a full page?"
    examples = (Example("FullLists@2", ("a", "b", "c"), "1", GENRES), Example("FullLists@3", ("a", "b"), "0", GENRES))
    positions = False

    cutoff: NeededCutoff = None

    def earn(self, every: Lists, items: ShownLists) -> Terms:
        k = int(self.cutoff or 1)
        return Terms(every, {"item k is there": every.rank == k})
