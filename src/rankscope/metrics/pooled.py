"""Metrics for incomplete judgments."""

from __future__ import annotations

import numpy as np

from rankscope.lists import Lists, running, total
from rankscope.metrics.base import Cutoff, Example, Level, Metric, NeededCutoff, Terms
from rankscope.metrics.trec import TrecName

SMALL = 0.00001  # trec_eval's smoothing of the precision above a document


class Judged(Metric, aliases=("J",)):
    """The share of the first k documents that is judged."""

    formula = "in the qrels, in the top k / the smaller of k and the documents returned"
    convention = "documents with a negative grade count as judged. A list shorter than k is divided by its own length (trec_eval's unj divides by k)"
    source = "ir_measures Judged"
    best_for = "how reliable the other numbers are"
    not_for = "quality: a run of judged but useless documents has 1"
    examples = (Example("Judged@4", (1, None, 0, None), "2 / 4"),)
    relevance = "none"
    positions = False
    better = "neither"

    cutoff: Cutoff = None
    additive = True

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"in the qrels": lists.shown}, lists.retrieved)


class Unjudged(Metric):
    """The share of the first k positions with unjudged documents."""

    formula = "without a grade, in the top k / k"
    convention = "divides by k even if fewer documents were returned. Documents with a negative grade count as unjudged, unlike in Judged"
    source = "trec_eval unj"
    best_for = "detecting judgments that were not made for runs like this one"
    examples = (Example("Unjudged@4", (1, None, 0, None), "2 / 4"), Example("Unjudged@4", (None,), "1 / 4"))
    positions = False
    better = "neither"
    trec = (TrecName("unj", sets="cutoff", defaults=(5, 10, 20)),)

    cutoff: NeededCutoff = None

    def terms(self, lists: Lists) -> Terms:
        outside = lists.retrieved - total(lists.shown)
        return Terms(lists, {"pooled, without a grade": lists.pooled}, float(self.cutoff or 0), unjudged=outside)


class Bpref(Metric, aliases=("BPref",)):
    """The share of relevant documents ranked above judged non-relevant ones, ignoring unjudged documents."""

    formula = "sum over relevant documents found of 1 - min(non-relevant above, R) / min(N, R), over R"
    convention = "N counts all judged non-relevant documents, found or not (trec_eval since version 8). Negative grades are skipped"
    source = "Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004; trec_eval bpref"
    best_for = "incomplete judgments, as for systems that did not contribute to the pool"
    not_for = "judgments of relevant documents only: no judged document can rank above them"
    examples = (Example("Bpref", (1, 0, 1), "(1 + (1 - 1 / 1)) / 2"),)
    trec = (TrecName("bpref"),)

    level: Level = 1.0

    def terms(self, lists: Lists) -> Terms:
        relevant, known = lists.relevant(self.level), lists.known(self.level)
        rejected = lists.judged & ~relevant
        bound = np.maximum(np.minimum(known, lists.known_judged - known), 1.0)
        above = np.minimum(running(rejected), known[:, None])
        return Terms(lists, {"relevant": relevant, "spared": 1.0 - above / bound[:, None]}, known)


class GBpref(Bpref, aliases=("GeometricBpref",)):
    """Bpref with a geometric mean over queries, so that hard queries count more."""

    formula = "exp(mean over queries of ln max(Bpref, 0.00001))"
    convention = "a query at 0 counts as 0.00001"
    source = "trec_eval gm_bpref"
    best_for = "improving the queries that fail, with incomplete judgments"
    examples = (Example("GBpref", (1, 0, 1), "(1 + (1 - 1 / 1)) / 2"),)
    trec = (TrecName("gm_bpref"),)
    aggregate = "geometric"


class infAP(Metric, aliases=("InferredAP",)):
    """Average precision, estimated from judgments of a sample of the pool."""

    formula = (
        "mean over relevant of 1/r + (r-1)/r · (in the pool above / (r-1)) · (relevant above + e) / (judged above + 2e)"
    )
    convention = "documents that were pooled but not judged must be in the qrels with a negative grade. e = 0.00001"
    source = "Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM 2006; trec_eval infAP"
    best_for = "judgments of a random sample of the pool"
    not_for = "complete judgments: AP gives the value without estimating"
    examples = (Example("infAP", (1, 0, 1), "(1 + (1/3 + 2/3 * (1 + 0.00001) / (2 + 0.00002))) / 2"),)
    trec = (TrecName("infAP"),)

    level: Level = 1.0
    settled_by_grade = False  # documents without a grade also count, between the grades

    def terms(self, lists: Lists) -> Terms:
        relevant = lists.relevant(self.level)
        relevant_above = running(relevant) - relevant
        judged_above = running(lists.judged) - lists.judged
        in_pool_above = running(lists.shown) - lists.shown
        rank = lists.rank.astype(float)
        expected = in_pool_above * (relevant_above + SMALL) / (judged_above + 2 * SMALL)
        factors = {"relevant": relevant, "precision expected": (1.0 + expected) / rank}
        return Terms(lists, factors, lists.known(self.level))
