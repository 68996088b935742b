"""Models of the reward, fitted across units: the prediction for a unit comes from a model that has not seen it."""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Annotated, Any, ClassVar

import numpy as np

from rankscope.declared import Declared, Param
from rankscope.errors import InputError, MissingExtraError
from rankscope.estimators.events import (
    MOST_CELLS,
    Codes,
    LoggedEvents,
    OfRows,
    Predict,
    TargetPolicy,
    slices,
    sum_cells,
)
from rankscope.estimators.targets import OfPolicy
from rankscope.lists import Array

Folds = Annotated[
    int, Param("the number of parts of the users: each part is predicted by a model of the others", low=2, high=100)
]
LACKING = "this model needs scikit-learn: pip install 'rankscope[estimate]'"


class RewardModel(Declared, kind="reward model"):
    """Base of every model of the reward. ``fit`` learns from some rows and returns a function that predicts.

    ``by_cell`` is true if a prediction depends only on the query, the position and the item: it is then made once per cell.
    """

    by_cell: ClassVar[bool] = False
    folds: Folds = 3

    def fit(self, events: LoggedEvents, reward: Array, rows: Codes) -> Predict:
        """Learn from ``rows``, and return a function from rows and items to predicted rewards."""
        raise TypeError(f"{type(self).__name__} must define fit(): return the predicted rewards")

    def fold_of_unit(self, events: LoggedEvents) -> Codes:
        """Return the fold of each unit."""
        return np.arange(events.units) % min(self.folds, max(events.units, 1))

    def across(self, events: LoggedEvents, reward: Array) -> Predict:
        """Return a function that predicts each row by the model of all folds but its own."""
        fold = self.fold_of_unit(events)[events.unit]
        others = (np.flatnonzero(fold != number) for number in range(int(fold.max(initial=0)) + 1))
        models = [self.fit(events, reward, rows) for rows in others]

        def predict(at: Any, item: Codes) -> Array:
            rows = np.arange(*at.indices(events.count)) if isinstance(at, slice) else at
            out = np.empty(len(rows))
            for number, model in enumerate(models):
                own = np.flatnonzero(fold[rows] == number)
                out[own] = model(rows[own], item[own])
            return out

        return predict

    def expect(self, events: LoggedEvents, target: TargetPolicy, predict: Predict) -> OfRows:
        """Return a function from rows to the mean prediction under a target policy in their situations, across folds."""
        fold, contexts, places = self.fold_of_unit(events), events.contexts, events.places
        size = (int(fold.max(initial=0)) + 1) * contexts * places
        if not (self.by_cell and isinstance(target, OfPolicy)) or size > MOST_CELLS:
            return target.expect(events, predict, np.arange(events.count)).__getitem__

        def situations(part: slice) -> Codes:
            number = fold[events.unit[part]]
            number = number if contexts == 1 else number * contexts + events.context[part]
            return number if places == 1 else number * places + events.position[part]

        row = np.full(size, -1)  # of each situation
        for part in slices(events.count):
            row[situations(part)] = np.arange(part.start, part.stop)
            if (row >= 0).all():
                break
        means = np.zeros(size)
        means[row >= 0] = target.expect(events, predict, row[row >= 0])
        return lambda part: means[situations(part)]


class ItemMeans(RewardModel, aliases=("items",)):
    """The mean reward of each item at each position, drawn to the mean of the item and of all rows if there are few."""

    by_cell: ClassVar[bool] = True
    prior: Annotated[float, Param("how many rows the mean of all rows counts for", above=0.0, high=1e9)] = 20.0

    def across(self, events: LoggedEvents, reward: Array) -> Predict:
        """Learn means with ``prior`` rows of the next wider mean, of all folds at once: a fold's model is all that the others add up to."""
        fold, items, places = self.fold_of_unit(events), len(events.items) + 1, events.places
        shape, start = (int(fold.max(initial=0)) + 1, items, places), fold * items

        def cells(at: Any, item: Codes) -> Codes:
            pairs: Codes = start[events.unit[at]]
            pairs += item
            return pairs if places == 1 else pairs * places + events.position[at]

        summed = sum_cells(events.count, math.prod(shape), lambda part: (cells(part, events.item[part]), reward[part]))
        sums, counts = (whole.sum(axis=0) - whole for whole in (each.reshape(shape) for each in summed))
        overall = sums.sum(axis=(1, 2)) / np.maximum(counts.sum(axis=(1, 2)), 1)
        of_item = self._drawn(sums.sum(axis=2), counts.sum(axis=2), overall[:, None])
        means = self._drawn(sums, counts, of_item[:, :, None])
        means[:, -1] = overall[:, None]  # of items that the log never shows
        of_cell = means.ravel()
        return lambda at, item: of_cell[cells(at, np.minimum(item, items - 1))]

    def _drawn(self, sums: Array, counts: Array, centre: Array) -> Array:
        return np.asarray((sums + self.prior * centre) / (counts + self.prior))


class Constant(RewardModel):
    """The same prediction for every row."""

    by_cell: ClassVar[bool] = True
    value: Annotated[float, Param("the predicted reward")] = 0.0

    def fit(self, events: LoggedEvents, reward: Array, rows: Codes) -> Predict:
        return lambda at, item: np.full(len(at), self.value)


class Logistic(RewardModel):
    """Logistic regression (of rewards 0 and 1) on the item, the position and numeric columns of the log. Needs scikit-learn."""

    def fit(self, events: LoggedEvents, reward: Array, rows: Codes) -> Predict:
        return _learn(classifier(), events, reward, rows)


class Boosting(RewardModel):
    """Gradient-boosted trees on the item, the position and numeric columns of the log. Needs scikit-learn."""

    def fit(self, events: LoggedEvents, reward: Array, rows: Codes) -> Predict:
        try:
            from sklearn.ensemble import HistGradientBoostingRegressor
        except ImportError:
            raise MissingExtraError(LACKING) from None
        return _learn(HistGradientBoostingRegressor(random_state=0), events, reward, rows)


def model_of(value: Any) -> RewardModel:
    """Return a reward model from an object, a spelling like ``Logistic(folds=5)``, or any regressor with ``fit`` and ``predict``."""
    if hasattr(value, "fit") and hasattr(value, "predict") and not isinstance(value, RewardModel):
        return _Regressor.around(value)
    return RewardModel.read("ItemMeans" if value is None else value)


class _Regressor(RewardModel):
    """A regressor of the user, with the methods ``fit`` and ``predict`` (or ``predict_proba``) of scikit-learn."""

    @classmethod
    def around(cls, regressor: Any) -> _Regressor:
        """Return a model that fits copies of this regressor."""
        made = cls()
        object.__setattr__(made, "_own", regressor)
        return made

    def fit(self, events: LoggedEvents, reward: Array, rows: Codes) -> Predict:
        return _learn(deepcopy(vars(self)["_own"]), events, reward, rows)

    def __str__(self) -> str:
        return type(vars(self)["_own"]).__name__


def classifier() -> Any:
    """Return a logistic regression of scikit-learn. Raises MissingExtraError with the package to install."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtraError(LACKING) from None
    return LogisticRegression(max_iter=1000)


def _design(events: LoggedEvents, rows: Codes, item: Codes) -> Array:
    """Return the features of rows with these items: an indicator per item and position, and the numbers of the row."""
    items, places = np.eye(len(events.items) + 1), np.eye(events.places)
    of_row = [] if events.features is None else [events.features[rows]]
    return np.hstack([items[np.minimum(item, len(events.items))], places[events.position[rows]], *of_row])


def _learn(regressor: Any, events: LoggedEvents, reward: Array, rows: Codes) -> Predict:
    known = reward[rows]
    if len(np.unique(known)) < 2:
        return lambda at, item: np.full(len(at), float(known.mean()) if len(rows) else 0.0)
    classifies = hasattr(regressor, "predict_proba")
    if classifies and not np.isin(known, (0.0, 1.0)).all():
        raise InputError(
            f"{type(regressor).__name__} predicts classes, and rewards are numbers other than 0 and 1: use a regressor"
        )
    regressor.fit(_design(events, rows, events.item[rows]), known)

    def predict(at: Codes, item: Codes) -> Array:
        out = np.empty(len(at))
        for part in slices(len(at)):
            table = _design(events, at[part], item[part])
            out[part] = regressor.predict_proba(table)[:, 1] if classifies else regressor.predict(table)
        return out

    return predict
