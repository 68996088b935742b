"""The same documents in another order: the best that a re-ranker could do, and the best that there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rankscope.lists.rectangle import Lists
from rankscope.lists.sums import Array

Worth = Callable[[Array], Array]


def best_first(lists: Lists, worth: Worth | None = None) -> Lists:
    """The judged documents that were retrieved moved to the top, the most worthy first: what perfect re-ranking would give.

    ``worth`` maps grades to what they are worth (the grade itself unless given). Ties of scores are broken by it. Lists with
    ``pool`` (several grades of a document) cannot be rearranged by one number.
    """
    grade, shown = _sort_grades(lists.grade, lists.shown, worth)
    return _lay_out(lists, grade, shown, lists.retrieved)


def perfect(lists: Lists, worth: Worth | None = None) -> Lists:
    """All judged documents of each query and nothing else, the most worthy first: the best ranking there is."""
    grade, shown = _sort_grades(lists.ideal.grade, lists.ideal.shown, worth)
    return _lay_out(lists, grade, shown, shown.sum(axis=1).astype(float))


def _sort_grades(grade: Array, shown: Array, worth: Worth | None) -> tuple[Array, Array]:
    value = grade if worth is None else worth(grade)
    order = np.argsort(np.where(shown, -value, np.inf), axis=1, kind="stable")
    inside = np.take_along_axis(shown, order, 1)
    return np.where(inside, np.take_along_axis(grade, order, 1), 0.0), inside


def _lay_out(lists: Lists, grade: Array, shown: Array, retrieved: Array) -> Lists:
    """Documents at ranks 1, 2, 3 ... without ties."""
    assert lists.pool is None, "documents with several grades have no one best order"
    rank = np.where(shown, np.arange(1, shown.shape[1] + 1)[None, :], 1)
    return replace(
        lists,
        grade=grade,
        shown=shown,
        rank=rank,
        retrieved=np.asarray(retrieved, dtype=float),
        tie_start=rank,
        tie_size=np.ones_like(rank),
        uncut=None,
        chance=None,
        spread_from=None,
    )
