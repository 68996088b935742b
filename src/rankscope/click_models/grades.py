"""Grades from behaviour: the engagement with an item per examined view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankscope.click_models.base import FittedModel
from rankscope.errors import DataError
from rankscope.lists import Array
from rankscope.lists.pages import Pages


@dataclass(frozen=True, eq=False)
class Grades:
    """The ``grade`` of each pair with its standard ``error``, and ``views``: how often users looked, by the model."""

    grade: Array
    error: Array
    views: Array


def grades_of(model: FittedModel, pages: Pages) -> Grades:
    """Return the engagement (``pages.worth``, or 1 per click) of each pair per view that the model expects, shrunk to the mean. Raises DataError for pages without any."""
    shown = pages.item >= 0
    worth = np.where(shown, pages.click if pages.worth is None else np.nan_to_num(pages.worth), 0.0)
    if not worth.any():
        raise DataError("no engagement reaches a grade, so every item would have grade 0")
    examined = model.examined(pages)
    cells, size = pages.item[shown], len(pages.pairs)
    views = np.bincount(cells, examined[shown], minlength=size)
    first, second = (np.bincount(cells, worth[shown] ** power, minlength=size) for power in (1, 2))
    weight = model.model.smoothing
    whole = max(float(views.sum()), 1e-12)
    known = np.maximum(views + weight, 1e-12)
    grade = (first + weight * first.sum() / whole) / known
    square = (second + weight * second.sum() / whole) / known
    return Grades(grade, np.sqrt(np.maximum(square - grade**2, 0.0) / known), views)
