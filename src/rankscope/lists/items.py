"""Items of a recommender: their features and popularity, the histories of users, and every item that a ranking shows.

Metrics of items see all items shown, judged or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.lists.sums import Array

DENSE = 1 << 21  # pairs of a query and a label up to which each has a cell


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of each item, like genres: item ``i`` has ``code[start[i]:start[i + 1]]``, numbers of ``names``."""

    start: Array
    code: Array
    names: tuple[str, ...]

    @classmethod
    def of(cls, by_item: Sequence[Sequence[str]]) -> Labels:
        """Number the labels of items in the order of their names."""
        names = tuple(sorted({name for labels in by_item for name in labels}))
        number = {name: i for i, name in enumerate(names)}
        sets = [sorted({number[name] for name in labels}) for labels in by_item]
        start = np.concatenate([[0], np.cumsum([len(one) for one in sets], dtype=np.int64)])
        return cls(start, np.array([code for one in sets for code in one], dtype=np.int64), names)

    def of_rows(self, row: Array) -> Labels:
        """The labels of the items in these rows."""
        size = self.count[row]
        return Labels(np.append(0, np.cumsum(size)), self.code[_end_to_end(self.start[row], size)], self.names)

    @cached_property
    def matrix(self) -> Array:
        """Items by labels: 1 if the item has the label. The last row is an item without labels."""
        out = np.zeros((len(self.start), len(self.names)))
        out[np.repeat(np.arange(len(self.start) - 1), np.diff(self.start)), self.code] = 1.0
        return out

    @cached_property
    def only(self) -> Array:
        """The label of each item that has exactly one, -1 for the others."""
        one = np.flatnonzero(self.count == 1)
        out = np.full(len(self.start), -1)
        out[one] = self.code[self.start[one]]
        return out

    @cached_property
    def shares(self) -> Array:
        """The same, with the labels of an item sharing a weight of 1."""
        return np.asarray(self.matrix / np.maximum(self.count[:, None], 1.0))

    @cached_property
    def count(self) -> Array:
        """The number of labels of each item, and 0 for an item without labels."""
        return np.append(np.diff(self.start), 0)


@dataclass(frozen=True, eq=False)
class Vectors:
    """A vector of numbers for each item, like an embedding. The last row is for items without one."""

    matrix: Array


@dataclass(frozen=True, eq=False)
class Histories:
    """The items of each user in the training data: ``users[u]`` has ``item[start[u]:start[u + 1]]``."""

    start: Array
    item: Array
    users: Sequence[str]

    def rows(self, users: Sequence[str]) -> Array:
        """The number of each user, -1 without a history."""
        number = {user: i for i, user in enumerate(self.users)}
        return np.fromiter((number.get(user, -1) for user in users), dtype=np.int64, count=len(users))

    def profile(self, matrix: Array) -> Array:
        """The sum of the rows of their items for each user. The last row is for users without a history."""
        out = np.zeros((len(self.start), matrix.shape[1]))
        np.add.at(out, np.repeat(np.arange(len(self.start) - 1), np.diff(self.start)), matrix[self.item])
        return out


FACTS = {
    "length": "its length in words (TBG) or characters (UMeasure)",
    "propensity": "its chance to be observed",
    "exposures": "how often it was shown",
    "tokens": "its length in tokens",
}  # no features
LENGTHS = "a document and its number of tokens in each row"


@dataclass(eq=False)
class ItemTable:
    """All that is known of items: their ids, features, ``popularity`` (users in the training data) and histories.

    ``facts`` are numbers of items that are no features, by the names in ``FACTS``.

    ``listed`` is True if the ids are a catalogue. Otherwise they are the items of the training data, and items shown that are not in
    it get further numbers. ``label`` names the source in messages.
    """

    ids: Sequence[str]
    features: Mapping[str, Labels | Vectors] = field(default_factory=dict)
    popularity: Array | None = None
    users: int = 0
    interactions: int = 0
    histories: Histories | None = None
    listed: bool = True
    label: str = "items"
    facts: Mapping[str, Array] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.size = len(self.ids)  # of the catalogue, before further items

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each id."""
        return {one: i for i, one in enumerate(self.ids)}

    @property
    def met(self) -> int:
        """The number of items, further ones included."""
        return len(self.number) if "number" in vars(self) else self.size

    @property
    def without_features(self) -> dict[str, list[str]]:
        """By column, the items without labels, or with a vector of zeros."""
        bare = {name: ~one.matrix[: self.size].any(axis=1) for name, one in self.features.items()}
        return {name: [self.ids[i] for i in np.flatnonzero(rows).tolist()] for name, rows in bare.items()}

    def codes(self, ids: Iterable[str], where: str = "the list") -> Array:
        """The numbers of these items. Raises DataError for an item that the catalogue lacks."""
        ids = list(ids)
        out = np.fromiter((self.number.get(one, -1) for one in ids), dtype=np.int64, count=len(ids))
        for at in np.flatnonzero(out < 0).tolist():
            if self.listed:
                lacking = int((out < 0).sum())
                raise DataError(
                    f"{where}: item {ids[at]!r} is not in {self.label} ({words.count(lacking)} of {words.counted(len(ids), 'item')} "
                    "shown are not); add a row for each item shown"
                )
            out[at] = self.number.setdefault(ids[at], len(self.number))
        return out

    def known(self, code: Array) -> Array:
        """Row numbers of tables with one row per known item and a last row for all others."""
        return np.asarray(np.where((code >= 0) & (code < self.size), code, self.size))

    def users_of_items(self, metric: str) -> Array:
        """The number of users with each item in the training data, and a last row for other items. Raises InputError without training data."""
        if self.popularity is None:
            raise InputError(f"{metric} counts users in the training data: add --history with users and items")
        users = self.popularity
        padded: Array = self.keep("padded", lambda: np.append(users, 0.0))
        return padded

    def counts(self, code: Array, metric: str) -> Array:
        """The number of users with these items in the training data."""
        return np.asarray(self.users_of_items(metric)[self.known(code)])

    def keep(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the value under this key, made once per table and shared by all lists."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def fact(self, name: str, code: Array, metric: str) -> Array:
        """A fact of these items. Raises InputError without a column of this name, DataError for an item without a number above 0."""
        if name not in self.facts:
            add = f"--items with {FACTS[name]} in a column {name}" if name != "tokens" else "--lengths with " + LENGTHS
            raise InputError(f"{metric}: {self.label} has no column {name}; add {add}")
        values: Array = np.append(self.facts[name], np.nan)[self.known(code)]
        low = 0.0 if name == "tokens" else np.nextafter(0.0, 1.0)  # an empty text has none
        for wrong in code[~(values >= low)].tolist():
            item = next(
                (repr(key) for key, number in self.number.items() if number == wrong), "that is judged and has no row"
            )
            least = "above" if low else "at least"
            raise DataError(f"{self.label}: {name} of the item {item} is missing or not {least} 0; give {FACTS[name]}")
        return values

    def feature(self, name: str, metric: str, kind: type | None = None) -> Labels | Vectors:
        """The feature of this name, or the only one that fits. Raises InputError if there is none, or no single one."""
        what = {Labels: "labels", Vectors: "numbers"}.get(kind, "features") if kind else "features"
        fit = [key for key, one in self.features.items() if kind is None or isinstance(one, kind)]
        if name:
            if name not in self.features:
                raise InputError(f"{metric}: {self.label} has no column {name!r}{words.hint(name, fit)}")
            if name not in fit:
                raise InputError(
                    f"{metric}: column {name} of {self.label} does not hold {what}; choose a column of {what}"
                )
            return self.features[name]
        if not fit:
            raise InputError(
                f"{metric} needs {what} of items: add --items with a column of {what} next to the item ids"
            )
        if len(fit) > 1:
            raise InputError(
                f"{metric}: {self.label} has several columns of {what}, {words.choices(fit)}: choose one, like by={fit[0]!r}"
            )
        return self.features[fit[0]]

    def labels(self, name: str, metric: str) -> Labels:
        """The labels of this name, or the only ones."""
        labels = self.feature(name, metric, Labels)
        assert isinstance(labels, Labels)
        return labels

    def history(self, metric: str) -> Histories:
        """The histories of users. Raises InputError without training data."""
        if self.histories is None:
            raise InputError(
                f"{metric} compares with the items that a user had before: add --history with users and items"
            )
        return self.histories

    def catalogue(self, metric: str) -> int:
        """The number of items in the catalogue. Raises InputError without one."""
        if not self.listed:
            raise InputError(
                f"{metric} needs the catalogue: add --items with one row per item, or choose another among="
            )
        return self.size


def table_of(items: Any = None, history: Mapping[str, Sequence[str]] | None = None, label: str = "items") -> ItemTable:
    """Make a table from plain data: ``{item: {feature: value}}`` or a list of ids, and ``{user: [item, ...]}``.

    A value is one or several labels, or one or several numbers. Raises InputError for vectors of different lengths.

    >>> table_of({"a": {"genre": "drama"}, "b": {"genre": ["drama", "war"]}}).labels("genre", "m").matrix.tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    """
    rows: Mapping[Any, Any] = items if isinstance(items, Mapping) else {one: {} for one in items or ()}
    listed = bool(rows)
    bought = {str(user): [str(item) for item in of_user] for user, of_user in (history or {}).items()}
    ids = [str(one) for one in rows] or list(dict.fromkeys(item for some in bought.values() for item in some))
    if not ids:
        raise InputError(f"{label}: no item is there; give one row per item, or training data")
    values = list(rows.values()) if listed else [{}] * len(ids)
    values = [one if isinstance(one, Mapping) else {"feature": one} for one in values]
    names = dict.fromkeys(name for one in values for name in one)
    columns = {str(name): [one.get(name) for one in values] for name in names}
    facts = {name: _numbers(column, name, label) for name, column in columns.items() if name in FACTS}
    features = {name: feature_of(column, name, label) for name, column in columns.items() if name not in FACTS}
    table = ItemTable(ids, features, listed=listed, label=label, facts=facts)
    return with_train(table, bought) if bought else table


def _numbers(values: Sequence[Any], name: str, label: str) -> Array:
    try:
        return np.array([math.nan if one is None else float(one) for one in values])
    except (TypeError, ValueError):
        raise InputError(f"{label}: {name} of an item must be a number: give {FACTS[name]}") from None


def with_train(table: ItemTable, bought: Mapping[str, Sequence[str]]) -> ItemTable:
    """Add training data: popularity and histories. An item that is not in the catalogue counts only for its user."""
    sets = {user: list(dict.fromkeys(items)) for user, items in bought.items()}
    code = np.array([table.number.get(item, table.size) for one in sets.values() for item in one], dtype=np.int64)
    user = np.repeat(np.arange(len(sets)), [len(one) for one in sets.values()])
    return with_interactions(table, list(sets), user, code, sum(map(len, bought.values())))


def with_interactions(table: ItemTable, users: Sequence[str], user: Array, code: Array, interactions: int) -> ItemTable:
    """The same from the rows of ``users``, one user after another: the number of the user, and of the item."""
    start = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=len(users)))])
    table.popularity = np.bincount(code, minlength=table.size + 1)[: table.size].astype(float)
    table.histories = Histories(start, code, users)
    table.users, table.interactions = len(users), interactions
    return table


def feature_of(values: Sequence[Any], name: str, label: str) -> Labels | Vectors:
    """A column of values as labels or vectors."""
    listed = [
        list(one) if isinstance(one, list | tuple | np.ndarray) else [] if one is None else [one] for one in values
    ]
    flat = [one for some in listed for one in some]
    if any(isinstance(one, str | bool) for one in flat):
        return Labels.of([[str(one) for one in some] for some in listed])
    sizes = {len(some) for some in listed if some}
    if len(sizes) > 1:
        short, long = min(sizes), max(sizes)
        raise InputError(
            f"{label}: column {name} has vectors of {short} and of {long} numbers; give all the same length"
        )
    width = next(iter(sizes), 1)
    matrix = np.zeros((len(listed) + 1, width))
    for i, some in enumerate(listed):
        matrix[i] = some or 0.0
    return vectors_of(matrix, name, label)


def vectors_of(matrix: Array, name: str, label: str) -> Vectors:
    """The rows as vectors. Raises InputError for a vector with a number that is missing or infinite."""
    if not np.isfinite(matrix).all():
        remedy = "fill it, or leave the whole vector empty"
        raise InputError(f"{label}: column {name} has a number that is missing or not finite; {remedy}")
    return Vectors(matrix)


@dataclass(frozen=True, eq=False)
class Shown:
    """The items that each query shows, end to end in rank order: their numbers and grades (NaN: unjudged).

    ``count`` is the number of items of each query, and ``user`` its number in the histories, -1 without one. ``find_wanted`` returns ``wanted``,
    which few metrics need.
    """

    count: Array
    code: Array
    grade: Array
    user: Array
    table: ItemTable
    find_wanted: Callable[[], tuple[Array, Array, Array]]

    @cached_property
    def wanted(self) -> tuple[Array, Array, Array]:
        """The judged items of a grade above 0, shown or not: the number of the query, the item and its grade in three columns."""
        return self.find_wanted()

    @cached_property
    def start(self) -> Array:
        """The first item of each query."""
        return np.cumsum(self.count) - self.count

    @cached_property
    def query(self) -> Array:
        """The number of the query of each item."""
        return np.repeat(np.arange(len(self.count)), self.count)

    @cached_property
    def rank(self) -> Array:
        """The rank of each item."""
        return np.asarray(np.arange(len(self.code)) - np.repeat(self.start, self.count) + 1)

    def of(self, queries: Array) -> Shown:
        """The items of these queries."""
        count = self.count[queries]
        at = _end_to_end(self.start[queries], count)
        kept = partial(self._wanted_of, queries)
        return Shown(count, self.code[at], self.grade[at], self.user[queries], self.table, kept)

    def _wanted_of(self, queries: Array) -> tuple[Array, Array, Array]:
        order = np.argsort(self.wanted[0], kind="stable")
        first, last = (np.searchsorted(self.wanted[0][order], queries, side) for side in ("left", "right"))
        wanted = order[_end_to_end(first, last - first)]
        return np.repeat(np.arange(len(queries)), last - first), self.wanted[1][wanted], self.wanted[2][wanted]

    def rectangle(self, queries: Array) -> ShownLists:
        """The items of these queries as a rectangle."""
        count = self.count[queries]
        column = np.arange(max(int(count.max(initial=0)), 1))
        shown = column < count[:, None]
        at = np.where(shown, self.start[queries][:, None] + column, 0)
        code = self.code[at] if len(self.code) else np.zeros(at.shape, dtype=np.int64)
        grade = self.grade[at] if len(self.grade) else np.zeros(at.shape)
        if not shown.all():
            code, grade = np.where(shown, code, -1), np.where(shown, grade, np.nan)
        return ShownLists(code, grade, shown, self.user[queries], self.table, (self, queries))


def _end_to_end(start: Array, count: Array) -> Array:
    """The places of parts that start here, one part after another."""
    place = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return np.asarray(np.repeat(start, count) + place)


@dataclass(frozen=True, eq=False)
class ShownLists:
    """The items that queries show, in rank order: arrays of queries by ranks. Cells past the end are not ``shown``."""

    code: Array
    grade: Array
    shown: Array
    user: Array
    table: ItemTable
    source: tuple[Shown, Array] | None = None

    @cached_property
    def wanted(self) -> tuple[Array, Array, Array]:
        """The judged items of a grade above 0, shown or not: the number of the query here, the item and its grade."""
        assert self.source is not None, "lists of items are made from Shown"
        shown, queries = self.source
        return shown.of(queries).wanted

    @cached_property
    def row(self) -> Array:
        """Rows of tables of known items, the last one for other items and past the end."""
        return np.asarray(self.table.known(self.code))

    def labelled(self, labels: Labels) -> ShownLabels:
        """The labels of the items shown."""
        cell = np.flatnonzero(self.shown)
        row = self.row.ravel() if self.shown.all() else self.row.ravel()[cell]
        code, size = labels.only[row], np.ones(len(row), dtype=np.int64)
        if (code < 0).any():
            size = labels.count[row]
            cell, code = np.repeat(cell, size), labels.code[_end_to_end(labels.start[row], size)]
            size = np.repeat(size, size)
        return ShownLabels(cell, cell // max(self.code.shape[1], 1), code, self.code.shape, len(labels.names), size)

    def top(self, cutoff: int | None) -> ShownLists:
        """The first ``cutoff`` ranks."""
        if cutoff is None or cutoff >= self.code.shape[1]:
            return self
        code, grade, shown = self.code[:, :cutoff], self.grade[:, :cutoff], self.shown[:, :cutoff]
        return ShownLists(code, grade, shown, self.user, self.table, self.source)


@dataclass(frozen=True, eq=False)
class ShownLabels:
    """The labels of the items that queries show, end to end: the cell, the query and the label of each, and how many labels its item has.

    Work grows with the labels that are there, not with those that there could be.
    """

    cell: Array
    query: Array
    code: Array
    shape: tuple[int, ...]
    names: int
    beside: Array

    @cached_property
    def _key(self) -> tuple[Array, int]:
        key, most = self.query * self.names + self.code, self.shape[0] * self.names
        if most <= DENSE:
            return key, most
        return np.unique(key, return_inverse=True)[1], len(key)

    def sums(self, weight: Array | None = None) -> Array:
        """For each label the sum of the weights of the items of its query that have it, or their number."""
        key, most = self._key
        return np.asarray(np.bincount(key, weight, most)[key])

    @property
    def is_first(self) -> Array:
        """True where a query shows a label for the first time."""
        key, most = self._key
        first = np.empty(most, dtype=np.int64)
        first[key[::-1]] = np.arange(len(key))[::-1]
        return np.asarray(first[key] == np.arange(len(key)))

    def by_query(self, weight: Array) -> Array:
        """The sums of weights of each label: queries by labels."""
        sums = np.bincount(self.query * self.names + self.code, weight, self.shape[0] * self.names)
        return np.asarray(sums.reshape(self.shape[0], self.names))

    def by_cell(self, weight: Array) -> Array:
        """The sums of weights of each item shown: queries by ranks."""
        return np.bincount(self.cell, weight, self.shape[0] * self.shape[1]).reshape(self.shape)
