"""Metrics of NTCIR: relevance and cumulated gain blended, and readers who stop at relevant documents."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from rankscope.declared import Lookup, Param
from rankscope.lists import Array, Lists, each, not_before, running, total
from rankscope.metrics.base import Cutoff, Example, Gain, Metric, Terms, gains_of, largest_first
from rankscope.metrics.browsing import ERR

BLEND = (
    "a document is relevant if it has gain. beta=1 weighs a unit of gain as one document; beta=0 leaves precision. "
    "The ideal is made of all judged documents, never cut"
)


class _Blended(Metric):
    """Base of metrics of the blended ratio: documents and gain found, out of the ranks read and the gain of an ideal ranking."""

    relevance = "graded"

    cutoff: Cutoff = None
    gain: Gain = "linear"
    beta: Annotated[float, Param("the weight of gain relative to a relevant document", low=0, high=1e6)] = 1.0

    def gained(self, lists: Lists) -> tuple[Array, Array, Array]:
        """The gain of each cell, the cells with gain, and the gains of the ideal ranking."""
        gain = gains_of(lists, self.gain)
        return gain, np.asarray(gain > 0), largest_first(gains_of(lists.ideal, self.gain))

    def blended(self, lists: Lists) -> Array:
        """The blended ratio at each cell."""
        gain, relevant, ideal = self.gained(lists)
        best = np.take_along_axis(running(ideal), np.minimum(lists.rank, ideal.shape[1]) - 1, 1)
        return np.asarray((running(relevant) + self.beta * running(gain)) / (lists.rank + self.beta * best))


class Q(_Blended, aliases=("QMeasure", "Q-measure")):
    """Average precision for grades: the blended ratio at each relevant document, averaged over all known ones."""

    formula = "sum over relevant of (relevant to the rank + beta · gain to the rank) / (rank + beta · ideal gain to the rank) / known relevant"
    convention = f"{BLEND}. beta=0 is AP. A document of a low grade moved to the top, far below the ideal there, may lower the value"
    source = "Sakai, On the reliability of information retrieval metrics based on graded relevance, IPM 2007; NTCIREVAL Q-measure"
    best_for = "several relevant documents of different grades that should all rank high"
    examples = (
        Example("Q", (0, 3, None, 2), "((1 + 3) / (2 + 5) + (2 + 5) / (4 + 5)) / 2"),
        Example("Q(beta=0)", (0, 3, None, 2), "(1 / 2 + 2 / 4) / 2"),
    )

    @property
    def monotone(self) -> bool:
        """False if gain counts: a low grade moved to the top is far below the ideal there."""
        return self.beta == 0 and not isinstance(self.gain, Lookup)

    def terms(self, lists: Lists) -> Terms:
        _, relevant, ideal = self.gained(lists)
        return Terms(lists, {"relevant": relevant, "blended ratio": self.blended(lists)}, total(ideal > 0))


class OMeasure(_Blended, aliases=("O-measure",)):
    """The blended ratio at the first relevant document."""

    formula = "(1 + beta · gain) / (rank + beta · ideal gain to the rank), at the first relevant document"
    convention = f"{BLEND}. beta=0 is RR. A better document moved up may become the first one, and lower the value"
    source = (
        "Sakai, On the task of finding one highly relevant document with high precision, IPSJ 2006; NTCIREVAL O-measure"
    )
    best_for = "readers who stop at the first relevant document, which should have a high grade"
    examples = (Example("OMeasure", (0, 2, 3), "(1 + 2) / (2 + 5)"),)
    monotone = False

    def last(self, lists: Lists) -> Array:
        """Mark the cell at which the reader stops."""
        relevant = gains_of(lists, self.gain) > 0
        return np.asarray(relevant & (running(relevant) == 1))

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"stops here": self.last(lists), "blended ratio": self.blended(lists)})


class PMeasure(OMeasure, aliases=("P-measure",)):
    """The blended ratio at the preferred rank: the first document of the highest gain in the list."""

    formula = "(relevant to the rank + beta · gain to the rank) / (rank + beta · ideal gain to the rank), at the first document of the highest gain found"
    convention = f"{BLEND}. The highest gain is of the documents returned, not of all judged ones"
    source = "Sakai, Give me just one highly relevant document: P-measure, SIGIR 2006; NTCIREVAL P-measure"
    best_for = "readers who look for one of the best documents, and pass over others"
    examples = (Example("PMeasure", (0, 1, 3), "(2 + 4) / (3 + 4)"),)

    def last(self, lists: Lists) -> Array:
        gain = gains_of(lists, self.gain)
        best = (gain == gain.max(axis=1, initial=0.0, keepdims=True)) & (gain > 0)
        return np.asarray(best & (running(best) == 1))


class PPlus(PMeasure, aliases=("P-plus", "P_plus")):
    """The mean blended ratio at the relevant documents down to the preferred rank."""

    formula = "mean over relevant documents down to the first of the highest gain found of (relevant to the rank + beta · gain to the rank) / (rank + beta · ideal gain to the rank)"
    source = "Sakai, Bootstrap-based comparisons of IR metrics for finding one relevant document, AIRS 2006; NTCIREVAL P-plus"
    examples = (Example("PPlus", (0, 1, 3), "((1 + 1) / (2 + 4) + (2 + 4) / (3 + 4)) / 2"),)

    def terms(self, lists: Lists) -> Terms:
        stop = self.last(lists)
        down_to = (gains_of(lists, self.gain) > 0) & (running(stop) - stop == 0) & stop.any(axis=1, keepdims=True)
        return Terms(lists, {"relevant": down_to, "blended ratio": self.blended(lists)}, total(down_to))


class NCU(_Blended, aliases=("NormalisedCumulativeUtility", "NormalizedCumulativeUtility")):
    """The utility for a population of readers, each of whom stops at a relevant document."""

    formula = "sum over relevant documents of (share of readers who stop there) · (precision or blended ratio there)"
    convention = (
        "stops='graded' divides readers by gain over all known relevant documents, found or not. 'rank_biased' loses a share 1 - gamma at each "
        "relevant document, 'even' divides them evenly: NCU(stops='even', utility='precision') is AP, with 'blended' it is Q"
    )
    source = "Sakai and Robertson, Modelling a user population for designing information retrieval metrics, EVIA 2008; NTCIREVAL NCU"
    best_for = "users who want different numbers of relevant documents"
    examples = (
        Example("NCU", (0, 3, None, 2), "3/5 * (1 + 3) / (2 + 5) + 2/5 * (2 + 5) / (4 + 5)"),
        Example("NCU(stops='rank_biased', utility='precision')", (0, 3, None, 2), "(1/2 + 0.95 * 2/4) / (1 + 0.95)"),
    )

    stops: Annotated[
        Literal["graded", "rank_biased", "even"], Param("where readers stop: by gain, by gamma, or at each alike")
    ] = "graded"
    utility: Annotated[Literal["blended", "precision"], Param("the utility at the stop")] = "blended"
    gamma: Annotated[float, Param("the share of readers who go on at a relevant document", above=0, high=1)] = 0.95

    @property
    def monotone(self) -> bool:
        """True if it is average precision."""
        plain = self.stops == "even" and not isinstance(self.gain, Lookup)
        return plain and (self.beta == 0 or self.utility == "precision")

    def terms(self, lists: Lists) -> Terms:
        gain, relevant, ideal = self.gained(lists)
        known = total(ideal > 0)
        if self.stops == "graded":
            share, out_of = gain, total(ideal)
        elif self.stops == "even":
            share, out_of = relevant.astype(float), known
        else:
            share = relevant * each(lambda n: self.gamma ** max(n - 1, 0), running(relevant))
            out_of = each(lambda n: sum(self.gamma**i for i in range(int(n))), known)
        if self.utility == "blended":
            return Terms(lists, {"readers who stop": share, "blended ratio": self.blended(lists)}, out_of)
        return Terms(lists, {"readers who stop": share, "precision": running(relevant) / lists.rank}, out_of)


class nERR(ERR, aliases=("NormalisedERR", "NormalizedERR")):
    """Expected reciprocal rank, out of its value for the ideal ranking."""

    formula = "ERR / ERR of all judged documents in the order of their grades, cut at k"
    convention = "max_grade is the top of the scale (4 by default). stops='ntcireval' is NTCIREVAL's nERR: satisfied = grade / (max_grade + 1)"
    source = "Sakai, Metrics, statistics, tests, PROMISE 2013; NTCIREVAL nERR"
    best_for = "means over queries whose best documents have different grades"
    examples = (
        Example("nERR(max_grade=1)", (0, 1, 1), "(1/2 * 1/2 + 1/3 * 1/4) / (1/2 + 1/2 * 1/4)"),
        Example("nERR(max_grade=3, stops='ntcireval')@2", (0, 3, 3), "(3/4 / 2) / (3/4 + 1/4 * 3/4 / 2)"),
    )

    def terms(self, lists: Lists) -> Terms:
        terms = super().terms(lists)
        ideal = lists.ideal.first(self.cutoff) if self.cutoff else lists.ideal
        satisfied = self.satisfied(ideal)
        best = satisfied * not_before(satisfied) / np.arange(1, satisfied.shape[1] + 1)
        return Terms(lists, terms.factors, total(best))
