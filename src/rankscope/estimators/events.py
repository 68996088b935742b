"""Logged events as arrays, the weights of a target policy on them, and the sums of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankscope.errors import DataError
from rankscope.lists import Array
from rankscope.lists.examination import Examination

Codes = NDArray[np.int64]
Level = Literal["item", "prefix", "slate"]
COLUMN_OF: Mapping[Level, str] = {"item": "p_item_pos", "prefix": "p_prefix", "slate": "p_slate"}
MEANING: Mapping[Level, str] = {
    "item": "the probability of each item at its position",
    "prefix": "the probability of the list down to each position",
    "slate": "the probability of the whole list",
}
Predict = Callable[[Any, Codes], Array]  # rows (an index of arrays) and their items, to predicted rewards
OfRows = Callable[[slice], Array]
MOST_CELLS = 1 << 23  # cells of a table that are held at once
STEP = 1 << 16  # rows in one batch: its arrays stay in the cache
T = TypeVar("T")


class TargetPolicy:
    """A policy to estimate: ``name``, and the probability of each logged row."""

    name: str

    def chance(self, events: LoggedEvents, level: Level) -> Array:
        """Return the probability of each row at this level (the item, the list down to it, or the whole list) in a new array."""
        raise TypeError(f"{type(self).__name__} must define chance(): return the probability of each row")

    def expect(self, events: LoggedEvents, predict: Predict, rows: Codes) -> Array:
        """Return the mean prediction over the items that the policy would show in the situation of these rows."""
        remedy = "give a run, or a policy on a run, or leave out estimators that predict rewards (DM, DR)"
        raise DataError(
            f"{self.name}: the probability of every item is needed, and a column holds only the shown item: {remedy}"
        )

    def unseen(self, events: LoggedEvents) -> float:
        """Return the share of the policy's probability on items that no row of the log shows."""
        return 0.0

    def gains(self, events: LoggedEvents, earnings: Array) -> Array:
        """Return the mean earning of each shown item at its positions under the policy. ``earnings`` are by rank."""
        raise DataError(f"{self.name}: the position of every item is needed: give a run, or a policy on a run")


class Model(Protocol):
    """A model of the reward, fitted across units (``rewards.RewardModel``)."""

    by_cell: ClassVar[bool]

    def across(self, events: LoggedEvents, reward: Array) -> Predict:
        """Return a function that predicts each row by a model of other units."""

    def expect(self, events: LoggedEvents, target: TargetPolicy, predict: Predict) -> OfRows:
        """Return a function from rows to their mean predictions under a target policy."""


@dataclass(frozen=True)
class Earned:
    """The sums of an estimator: its value is the sum of ``numerator / denominator`` over all ``parts``.

    Each part has one number per row above and below. ``+`` joins the parts of two.

    >>> whole = Earned.of([1.0, 0.0], [1.0, 1.0]) + Earned.of([3.0, 3.0], [2.0, 1.0])
    >>> whole.value  # 1 / 2 + 6 / 3
    2.5
    """

    parts: tuple[tuple[Array, Array], ...]

    @classmethod
    def of(cls, numerator: Any, denominator: Any = 1.0) -> Earned:
        """Return one part. A single number as denominator holds for every row."""
        above = np.asarray(numerator, dtype=np.float64)
        return cls(((above, np.broadcast_to(np.asarray(denominator, dtype=np.float64), above.shape)),))

    def __add__(self, other: Earned) -> Earned:
        return Earned((*self.parts, *other.parts))

    @property
    def value(self) -> float:
        """The estimate: the sum over the parts of the ratio of their sums."""
        return float(sum(above.sum() / below.sum() for above, below in self.parts))

    def totals(self, events: LoggedEvents) -> Array:
        """Return the sums per unit: units x columns, a numerator and a denominator per part. Sums of parts of a log add up."""
        return np.stack([events.sum_units(values) for part in self.parts for values in part], axis=1)


class _once(Generic[T]):
    """A property of the rows that all target policies share: it is computed once."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.make, self.__doc__ = make, make.__doc__

    def __get__(self, events: Any, owner: type) -> T:
        if events is None:
            return self  # type: ignore[return-value] # for help()
        return events.share(self.make, lambda: self.make(events))  # type: ignore[no-any-return]


def slices(count: int, size: int | None = None) -> Iterator[slice]:
    """Yield slices of ``count`` rows, ``size`` rows each (by default as many as stay in the cache).

    >>> list(slices(5, 3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    step = STEP if size is None else size
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def by_parts(count: int, make: Callable[[slice], NDArray[Any]], dtype: Any = np.float64) -> NDArray[Any]:
    """Return the result of ``make`` for all rows, made a few rows at a time: memory for large arrays takes longer than their numbers.

    >>> by_parts(3, lambda rows: np.array([1.0, 2.0, 4.0])[rows] / 2).tolist()
    [0.5, 1.0, 2.0]
    """
    out = np.empty(count, dtype=dtype)
    for part in slices(count):
        out[part] = make(part)
    return out


def sum_cells(count: int, size: int, make: Callable[[slice], tuple[Codes, Array]]) -> tuple[Array, Array]:
    """Return the sum of each cell and its number of rows. ``make`` returns the cells and the values of some rows."""
    sums, counts = np.zeros((2, size))
    for part in slices(count, max(STEP, size)):
        cell, values = make(part)
        sums += np.bincount(cell, weights=values, minlength=size)
        counts += np.bincount(cell, minlength=size)
    return sums, counts


def number_cells(cell: Codes, size: int) -> tuple[Codes, Codes]:
    """Return the different cells (below ``size``) in ascending order, and the place of each row's cell among them.

    >>> number_cells(np.array([7, 2, 7]), 8)
    (array([2, 7]), array([1, 0, 1]))
    """
    if size > max(MOST_CELLS, len(cell)):
        names, place = np.unique(cell, return_inverse=True)
        return names, place
    there = np.zeros(size, dtype=bool)
    there[cell] = True
    if there.all():
        return np.arange(size), cell
    return np.flatnonzero(there), (np.cumsum(there) - 1)[cell]


@dataclass(frozen=True, eq=False)
class LoggedEvents:
    """The rows of a log, one per shown item in the order of lists and positions, under one target policy.

    All arrays have one element per row: ``reward``, ``unit`` (0 to ``units`` - 1), ``lists`` (the number of the list, ascending; None if each
    row is one), ``position`` (from 0), ``item`` (an index into ``items``), ``context`` (the number of the query) and ``logger``. ``propensities`` are the logged
    probabilities by level. ``target`` is the policy to evaluate, ``compared`` all policies of the comparison, the baseline first. ``logging`` is
    the policy that ran, if it is known, and ``examination`` the curve of position bias.
    """

    reward: Array
    unit: Codes
    units: int
    lists: Codes | None
    position: Codes
    item: Codes
    items: Sequence[str]
    context: Codes
    logger: Codes
    propensities: Mapping[Level, Array]
    target: TargetPolicy | None = None
    compared: tuple[TargetPolicy | None, ...] = ()
    logging: TargetPolicy | None = None
    model: Model | None = None
    features: Array | None = None
    categories: Mapping[str, Codes] = field(default_factory=dict)
    mixtures: Array | None = None
    examination: Examination | None = None
    label: str = "log"
    loggers: Sequence[str] = ()
    shared: dict[Any, Any] = field(
        default_factory=dict, init=False
    )  # weights by target, and predictions, which ``under`` keeps

    def share(self, key: Any, make: Callable[[], T]) -> T:
        """Return the value under this key, shared by all target policies: made once, also if estimators run side by side."""
        with self.shared.setdefault(("lock", key), RLock()):
            if key not in self.shared:
                self.shared[key] = make()
            return self.shared[key]  # type: ignore[no-any-return]

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.reward)

    @_once
    def first(self) -> NDArray[np.bool_]:
        """True for the first row of each list."""
        first = np.ones(self.count, dtype=bool)
        if self.lists is not None:
            np.not_equal(self.lists[1:], self.lists[:-1], out=first[1:])
        return first

    @_once
    def starts(self) -> Codes:
        """The first row of each list."""
        return np.flatnonzero(self.first)

    @_once
    def of_items(self) -> bool:
        """True if each list is one item."""
        return bool(self.first.all())

    @_once
    def last(self) -> Codes:
        """The last row of each list."""
        return self.starts if self.of_items else np.append(self.starts[1:], self.count) - 1

    @_once
    def list_number(self) -> Codes:
        """The number of the list of each row, from 0 without gaps."""
        return self.starts if self.of_items else np.cumsum(self.first) - 1

    @property
    def per_list(self) -> Array:
        """1 at the first row of each list: as a denominator it counts lists."""
        return self.first.astype(np.float64)

    @_once
    def places(self) -> int:
        """The number of positions."""
        return int(self.position.max(initial=0)) + 1

    @_once
    def contexts(self) -> int:
        """The number of queries."""
        return int(self.context.max(initial=0)) + 1

    @_once
    def place_of_item(self) -> Codes:
        """The number of each row's pair of item and position."""
        return self.item if self.places == 1 else self.item * self.places + self.position

    @_once
    def _ones(self) -> Array:
        return np.broadcast_to(1.0, self.count)

    @_once
    def rows_of_units(self) -> Array:
        """The number of rows of each unit."""
        return np.bincount(self.unit, minlength=self.units).astype(np.float64)

    def sum_units(self, values: Array) -> Array:
        """Return the sum of each unit; of constants, rewards and weights without going over the rows again."""
        if values.strides == (0,):  # one number for all rows
            return self.rows_of_units * values[:1]
        return self._once_of("sums", values, lambda: np.bincount(self.unit, weights=values, minlength=self.units))

    def weighted(self, used: Array) -> Array:
        """Return weight x reward; for weights as they are once for all estimators."""
        return self.reward if used is self._ones else self._once_of("weighted", used, lambda: used * self.reward)

    def _once_of(self, what: str, values: Array, make: Callable[[], Array]) -> Array:
        lasts = values is self.reward or any(values is one for one in tuple(self.shared.values()))
        return self.share((what, id(values)), make) if lasts else make()

    def sum_lists(self, values: Array) -> Array:
        """Return the sum of each list, in the order of the lists."""
        return np.add.reduceat(values, self.starts) if self.count else np.zeros(0)

    def propensity(self, level: Level = "item") -> Array:
        """Return the logged probabilities of a level. Raises DataError if the log has no column of them."""
        if level in self.propensities:
            return self.propensities[level]
        if level == "slate" and "prefix" in self.propensities:
            return self.propensities["prefix"][self.last][self.list_number]
        raise DataError(
            f"{self.label}: {MEANING[level]} is needed: name its column (--columns 'NAME={COLUMN_OF[level]}'), or the policy that ran (--logging)"
        )

    def chance(self, level: Level = "item") -> Array:
        """Return the probabilities of the target policy on the rows."""
        assert self.target is not None
        return self.target.chance(self, level)

    def weights(self, level: Level = "item") -> Array:
        """Return the importance weights: the probability under the target, over the logged one. 1 for the policy that ran."""
        if self.target is None:
            return self._ones
        if self.of_items:
            level = "item"  # lists of one item
        return self.share(
            (self.target, level), lambda: np.divide(made := self.chance(level), self.propensity(level), out=made)
        )

    @property
    def weight(self) -> Array:
        """The importance weight of each shown item at its position."""
        return self.weights("item")

    def under(self, target: TargetPolicy | None) -> LoggedEvents:
        """Return the same rows under another target policy, None for the policy that ran."""
        made = replace(self, target=target)
        object.__setattr__(made, "shared", self.shared)
        return made

    @_once
    def _fitted(self) -> Array:
        return self.predicted(slice(None), self.item)

    def fitted(self, rows: slice) -> Array:
        """Return the predicted reward of each shown item, by a model that has not seen its unit."""
        return self.predicted(rows, self.item[rows]) if self._model.by_cell else self._fitted[rows]

    @cached_property
    def expected(self) -> OfRows:
        """The predicted reward under the target policy, in the situation of each row: a function of rows."""
        return self.fitted if self.target is None else self._model.expect(self, self.target, self.predicted)

    @_once
    def predicted(self) -> Predict:
        """The prediction for rows and items, each by a model that has not seen the unit of the row."""
        return self.predicted_of(self.reward)

    def predicted_of(self, reward: Array) -> Predict:
        """Return the same for other rewards."""
        return self._model.across(self, reward)

    @property
    def _model(self) -> Model:
        if self.model is None:
            raise DataError(f"{self.label}: this estimator needs a reward model (--model)")
        return self.model
