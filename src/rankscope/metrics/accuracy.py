"""Pairs within what was retrieved, of which one document is relevant."""

from __future__ import annotations

from rankscope.lists import Lists, running, total
from rankscope.metrics.base import Cutoff, Example, Level, Metric, Terms


class Accuracy(Metric):
    """The probability that a retrieved relevant document ranks above a retrieved non-relevant one."""

    formula = "pairs with the relevant document above / pairs of a relevant and another document, in the top k"
    convention = (
        "unjudged documents count as not relevant (AUC leaves them out), and only what was retrieved counts; a "
        "query without a pair is undefined and left out of the mean"
    )
    source = "ir_measures Accuracy"
    best_for = "checking a ranker on the lists it was trained on"
    examples = (Example("Accuracy", (1, None, 1, 0), "3 / 4"), Example("Accuracy@3", (0, 1, 0, 1), "1 / 2"))

    cutoff: Cutoff = None
    level: Level = 1.0

    @property
    def monotone(self) -> bool:
        """Not under a cutoff: a relevant document that comes into the top k from below brings pairs of its own."""
        return self.cutoff is None

    empty = None  # no pair, no value

    def terms(self, lists: Lists) -> Terms:
        relevant = lists.relevant(self.level)
        count = total(relevant)
        others = lists.retrieved - count
        above = lists.rank - running(relevant)
        pairs = count * others
        return Terms(lists, {"relevant": relevant, "others below": others[:, None] - above}, pairs, defined=pairs > 0)
