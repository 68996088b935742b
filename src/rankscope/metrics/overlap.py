"""Metrics that compare a ranking with the ideal one by their overlap."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists, total
from rankscope.metrics.base import Example, Metric, Terms


class Compat(Metric, aliases=("Compatibility",)):
    """How close the top of the ranking is to an ideal ranking: their rank-biased overlap."""

    formula = (
        "sum over depths d of p^(d-1) · |top d of the ranking and of the ideal| / d, over the same of the ideal with itself "
        "(normalize=False: over the sum of p^(d-1))"
    )
    convention = (
        "the ideal holds all documents graded above 0, best first, equal grades in the order of the ranking; depths "
        "go to the longer of the two. ir_measures orders tied scores by document id and gives unretrieved documents "
        "a score of 0"
    )
    source = "Clarke, Vtyurina and Smucker, Assessing Top-k Preferences, TOIS 2021; ir_measures Compat"
    best_for = "preferences and grades of many levels, where the top matters most"
    examples = (
        Example("Compat(p=0.5)", (0, 1), "1/4 / (1 + 1/4)"),
        Example("Compat(p=0.5)", (1, 2), "1/2 / (1 + 1/2)"),
        Example("Compat(p=0.5, normalize=False)", (2, 0), "(1 + 1/4) / (1 + 1/2)", {"known": 1}),
    )
    relevance = "graded"

    p: Annotated[float, Param("the chance of going on to the next depth", low=0, high=1)] = 0.95
    normalize: Annotated[bool, Param("divide by what the ideal ranking gets, so that a short one can reach 1")] = True

    def terms(self, lists: Lists) -> Terms:
        wanted = lists.shown & (lists.grade > 0)
        size = (lists.ideal.shown & (lists.ideal.grade > 0)).sum(axis=1)
        depth = np.maximum(lists.retrieved.astype(np.int64), size)
        weight = np.full(int(depth.max(initial=0)) + 1, self.p)
        weight[0] = 1.0
        np.cumprod(weight, out=weight)  # of depth 1, 2 and so on
        at = np.arange(1, len(weight) + 1)
        upto = np.concatenate([[0.0], np.cumsum(weight / at)])  # index: the last depth that is counted

        def from_here_on(rank: Array) -> Array:
            return np.asarray(upto[depth][:, None] - upto[np.minimum(rank - 1, depth[:, None])])

        # a document is in both tops from the deeper of its two ranks on
        both = np.where(wanted, np.maximum(lists.rank, ideal_rank(lists, wanted)), 1)
        place = np.arange(1, max(int(size.max(initial=0)), 1) + 1)
        inside = place <= size[:, None]
        whole = np.concatenate([[0.0], np.cumsum(weight)])[depth]
        best = total(np.where(inside, from_here_on(np.broadcast_to(place, inside.shape)), 0.0))
        return Terms(
            lists,
            {"in the ideal": wanted, "in both from here on": from_here_on(both)},
            best if self.normalize else whole,
        )


def ideal_rank(lists: Lists, wanted: Array) -> Array:
    """The rank in the ideal of each wanted cell: by grade, and within a grade those retrieved first, in their order."""
    row = np.broadcast_to(np.arange(len(lists))[:, None], wanted.shape)[wanted]
    # negative grades stand before the padding, which is 0; as 0 they too leave the rows in order
    every = np.maximum(lists.ideal.grade, 0.0)
    grades, code = np.unique(np.concatenate([lists.grade[wanted], every.ravel()]), return_inverse=True)
    width = every.shape[1]
    # keys rise along the rows of the ideal, from its best grade on, and from row to row
    worse = len(grades) - 1 - code
    cells = worse[: len(row)] + row * len(grades)
    ideal = worse[len(row) :] + np.repeat(np.arange(len(lists)), width) * len(grades)
    better = np.searchsorted(ideal, cells) - row * width
    order = np.argsort(cells, kind="stable")
    alike = np.empty(len(cells), dtype=np.int64)
    alike[order] = np.arange(len(cells)) - np.searchsorted(cells[order], cells[order])
    out = np.ones(wanted.shape, dtype=np.int64)
    out[wanted] = better + alike + 1
    return out
