"""Metrics of what was returned as a set: its order does not matter, nor is it cut."""

from __future__ import annotations

import numpy as np

from rankscope.lists import Lists
from rankscope.metrics.base import Example, Terms
from rankscope.metrics.relevance import Beta, _Binary
from rankscope.metrics.trec import TrecName, root, square


class SetP(_Binary, aliases=("SetPrecision",)):
    """The share of everything returned that is relevant."""

    formula = "relevant returned / returned"
    convention = "divides by the number of documents returned, whatever k was asked for"
    source = "trec_eval set_P"
    best_for = "Boolean search and filters: a set, not a ranking"
    examples = (Example("SetP", (1, 0, 1, 0), "2 / 4"),)
    positions = False
    trec = (TrecName("set_P"),)

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"relevant": self.relevant(lists)}, lists.retrieved)


class SetR(_Binary, aliases=("SetRecall",)):
    """The share of the known relevant documents that was returned at all."""

    formula = "relevant returned / known relevant"
    convention = "grows with the length of the list: compare lists of one length"
    source = "trec_eval set_recall"
    best_for = "Boolean search and filters: a set, not a ranking"
    examples = (Example("SetR", (1, 0, 1, 0), "2 / 3", {"known": 3}),)
    positions = False
    trec = (TrecName("set_recall"),)

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"relevant": self.relevant(lists)}, self.known(lists))


class SetF(_Binary):
    """The harmonic mean of precision and recall over everything returned."""

    formula = "(1 + beta²) · relevant returned / (beta² · known relevant + returned)"
    convention = "beta is beta; trec_eval's set_F.x and ir_measures' beta are its square"
    source = "van Rijsbergen, Information Retrieval, 1979; trec_eval set_F"
    best_for = "Boolean search and filters: a set, not a ranking"
    examples = (Example("SetF", (1, 0, 1, 0), "2 * 2 / (3 + 4)", {"known": 3}),)
    positions = False
    trec = (TrecName("set_F", sets="beta", defaults=(1.0,), reads=root, writes=square, plain_too=True),)

    beta: Beta = 1.0

    def terms(self, lists: Lists) -> Terms:
        b = self.beta**2
        return Terms(
            lists,
            {"relevant": self.relevant(lists), "1 + beta²": np.asarray(1 + b)},
            b * self.known(lists) + lists.retrieved,
        )


__all__ = ["SetF", "SetP", "SetR"]
