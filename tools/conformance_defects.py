"""Numbers of released tools that follow from no convention, each run here, with ours beside it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

import rankscope as rs
from conformance_base import Defect
from conformance_groups import said_by_catboost
from conformance_learning import Queries, said_by_lightgbm, said_by_xgboost

ONE_CLASS: Queries = [
    ([1, 0, 1, 0, 0], [0.9, 0.7, 0.5, 0.3, 0.1]),
    ([1, 1, 0, 0, 0, 0, 0, 0], [0.5, 0.2, 0.9, 0.8, 0.7, 0.5, 0.2, 0.1]),
    ([0, 0, 0], [0.6, 0.4, 0.2]),
    ([1, 1], [0.6, 0.4]),
]
SOME_LISTS = "four lists, of which one has only relevant documents and one none"
WEIGHTED: Queries = [([0, 1], [2.0, 1.0]), ([0, 0], [2.0, 1.0])]


def ours(metric: str, qrels: Any, run: Any, **policy: Any) -> float:
    """What rankscope says."""
    return float(rs.evaluate(qrels, run, [metric], **policy)[metric])


def of_lists(metric: str, queries: Queries, **policy: Any) -> float:
    """What rankscope says of labelled lists."""
    qrels, run = (
        {f"q{i}": {f"d{j}": value for j, value in enumerate(query[side])} for i, query in enumerate(queries)}
        for side in (0, 1)
    )
    return ours(metric, qrels, run, **policy)


def defects() -> Iterator[Defect]:
    """All of them, by tool."""
    yield from _trec_eval()
    yield from _ir_measures()
    yield from _ranx()
    yield from _ndeval()
    yield from _cwl()
    yield from _learning()
    yield from _torchmetrics()


def _trec_eval() -> Iterator[Defect]:
    import pytrec_eval

    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 20000000.5, "b": 20000000.0}}
    found = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["q"]["recip_rank"]
    yield Defect(
        "trec_eval 9",
        "recip_rank",
        "a relevant document with score 20000000.5 above another with 20000000.0",
        found,
        ours("RR", qrels, run),
        "scores are read in single precision, so close ones are equal, and the ranking is another one",
    )


def _ir_measures() -> Iterator[Defect]:
    import ir_measures

    def theirs(spelling: str, qrels: Any, run: Any) -> float:
        measure = ir_measures.parse_measure(spelling)
        return float(ir_measures.calc_aggregate([measure], qrels, run)[measure])

    qrels, run = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1}}, {"q1": {"a": 2.0, "b": 1.0}}
    for name, what in (("NumQ", ""), ("NumRel", ", with its relevant documents")):
        yield Defect(
            "ir_measures",
            name,
            "two judged queries, three relevant documents in all, a run with one of the queries",
            theirs(name, qrels, run),
            ours(name, qrels, run),
            f"a query that is not in the run is left out{what}",
        )
    one: Any = {"q": {"a": 1}}
    ranked = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    yield Defect(
        "ir_measures",
        "SetF(beta=2.0)",
        "three documents, the only relevant one among them: P = 1/3, R = 1, F = 5PR / (4P + R)",
        theirs("SetF(beta=2.0)", one, ranked),
        ours("SetF(beta=2.0)", one, ranked),
        "beta is passed on as trec_eval's x, which is beta squared",
    )
    both = {"q": {"a": 1, "b": 1}}
    below = {"q": {"a": -5.0, "x": -6.0}}
    yield Defect(
        "ir_measures",
        "Compat(p=0.5)",
        "two relevant documents, one of them returned first, all scores below 0",
        theirs("Compat(p=0.5)", both, below),
        ours("Compat(p=0.5)", both, below),
        "a document that was not returned counts as one with score 0, so it stands above those",
    )
    graded: Any = {"q": {"a": 1, "b": 2}}
    wanted, other = (ir_measures.parse_measure(text) for text in ("nDCG@5", "nDCG(gains={1:3,2:4})@10"))
    falling = {"q": {"a": 2.0, "b": 1.0}}
    yield Defect(
        "ir_measures",
        "nDCG@5, with nDCG(gains={1:3,2:4})@10",
        "grades 1 and 2, in this order, both measures asked for in one call",
        float(ir_measures.pytrec_eval.calc_aggregate([other, wanted], graded, falling)[wanted]),
        ours("nDCG@5", graded, falling),
        "the gains of one measure are used for the other, too",
    )
    try:
        failed = str(theirs("Accuracy", one, {"q": {"a": 1.0}}))
    except ZeroDivisionError as error:
        failed = type(error).__name__
    yield Defect(
        "ir_measures",
        "Accuracy",
        "one document returned, which is relevant",
        failed,
        ours("Accuracy", one, {"q": {"a": 1.0}}),
        "a ranking without a pair of a relevant and another document has no accuracy",
    )


def _ranx() -> Iterator[Defect]:
    import ranx

    def theirs(name: str, qrels: Any, run: Any) -> float:
        with np.errstate(all="ignore"):
            return float(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), name))

    two = {"q": {"a": 2.0, "b": 1.0}}
    yield Defect(
        "ranx",
        "bpref",
        "two documents, both relevant",
        theirs("bpref", {"q": {"a": 1, "b": 1}}, two),
        ours("Bpref", {"q": {"a": 1, "b": 1}}, two),
        "without a judged non-relevant document it divides 0 by 0",
    )
    pooled, three = {"q": {"x": -1, "a": 1, "n": 0}}, {"q": {"x": 3.0, "a": 2.0, "n": 1.0}}
    yield Defect(
        "ranx",
        "bpref",
        "a document of grade -1 (in the pool, but not judged) above the relevant one",
        theirs("bpref", pooled, three),
        ours("Bpref", pooled, three),
        "bpref is made to be blind to documents without a grade",
    )
    top = {"q": {"a": 3, "b": 3}}
    yield Defect(
        "ranx",
        "rbp.5",
        "two documents of grade 3",
        theirs("rbp.5", top, two),
        ours("RBP(p=0.5)", top, two),
        "grades are gains as they are, so it goes beyond 1",
    )
    parts = {"q": {"a": 0.9, "b": 1.0}}
    yield Defect(
        "ranx",
        "dcg",
        "grades 0.9 and 1, in this order",
        theirs("dcg", parts, two),
        ours("DCG", parts, two),
        "the fraction of a grade is cut off",
    )


def _ndeval() -> Iterator[Defect]:
    import pyndeval

    def theirs(name: str, judged: Any, ranked: Any) -> float:
        found = pyndeval.RelevanceEvaluator(judged, [name]).evaluate(ranked)
        return float(found["q"][name])

    qrels = {"q": {"d1": {"a": 1}, "d2": {"b": 1}, "d3": {"c": 1}}}
    judged = [("q", subtopic, doc, 1) for doc, graded in qrels["q"].items() for subtopic in graded]
    for name, metric in (("alpha-DCG@1", "alpha_DCG@1"), ("ERR-IA@1", "ERR_IA@1")):
        yield Defect(
            "ndeval",
            name,
            "three subtopics, a document about one of them first",
            theirs(name, judged, [("q", "d1", 1.0)]),
            ours(metric, qrels, {"q": {"d1": 1.0}}),
            "at a cutoff of 1, and of 1 only, it is not divided by the number of subtopics",
        )


def _cwl() -> Iterator[Defect]:
    from cwl.ruler import cwl_ruler
    from cwl.ruler.ranking import Ranking

    grades = [1] * 6 + [3]
    ranking = Ranking("q", np.array([grade / 3 for grade in grades]), np.ones(7), max_n=1000)
    yield Defect(
        "cwl-eval",
        "BPMCWLMetric(2.0, 10)",
        "six documents of grade 1 of 3, then one of grade 3; the reader wants a gain of 2",
        float(cwl_ruler.BPMCWLMetric(2.0, 10).measure(ranking)),
        rs.parse("BPM(T=2, max_grade=3)@10").of(grades),
        "six thirds add up to less than 2 in floating point, so the reader goes on",
    )


def _learning() -> Iterator[Defect]:
    mean, _ = said_by_lightgbm(WEIGHTED, "ndcg", 2, [1.0, 2.0])
    told = "two queries, the second without a relevant document and with weight {}"
    why = "such a query adds 1, not 1 times its weight, but its weight is in the divisor (map does it right)"
    weighted = {"q0": 1, "q1": 2}
    value = of_lists("nDCG@2", WEIGHTED, no_relevant=1, weights=weighted)
    yield Defect("LightGBM", "ndcg@2 with weights", told.format(2), mean, value, why)
    mean, _ = said_by_xgboost(WEIGHTED, "ndcg@2", [1.0, 3.0], each=False)
    value = of_lists("nDCG@2", WEIGHTED, no_relevant=1, weights={"q0": 1, "q1": 3})
    yield Defect("XGBoost", "ndcg@2 with weights", told.format(3), mean, value, why)
    last: Queries = [([0] * 9 + [1], [float(10 - i) for i in range(10)])]
    mean, _ = said_by_xgboost(last, "auc", each=False)
    yield Defect(
        "XGBoost",
        "auc, for ranking",
        "ten documents, the only relevant one last",
        mean,
        of_lists("AUC", last),
        "pairs of equal labels are counted as if one were better",
    )
    for scores, how in (([3.0, 2.0, 1.0], "falling"), ([1.0, 2.0, 3.0], "rising")):
        none: Queries = [([0, 0, 0], scores)]
        mean, _ = said_by_xgboost(none, "auc", each=False)
        yield Defect(
            "XGBoost",
            "auc, for ranking",
            f"three documents, none relevant, rows in {how} order of score",
            mean,
            float(rs.AUC().of([0, 0, 0])),
            "without a pair there is no area; theirs says how the rows were ordered",
        )
    yield Defect(
        "CatBoost",
        "QueryAUC:type=Classic",
        SOME_LISTS,
        said_by_catboost(ONE_CLASS, "QueryAUC:type=Classic"),
        of_lists("AUC", ONE_CLASS),
        "a list without a pair has no area, but counts as 0 (so it does here with `single_class=0`)",
    )


def _torchmetrics() -> Iterator[Defect]:
    import torch
    from torchmetrics import retrieval

    def theirs(name: str, labels: list[int], scores: list[float], **more: Any) -> float:
        function = getattr(import_module("torchmetrics.functional.retrieval"), f"retrieval_{name}")
        return float(function(torch.tensor(scores), torch.tensor(labels), **more))

    labels, scores = [1, 0, 0], [-0.1, -0.2, -0.3]
    for name, metric, more in (
        ("average_precision", "AP", {}),
        ("reciprocal_rank", "RR", {}),
        ("precision", "P@1", {"top_k": 1}),
        ("recall", "R@1", {"top_k": 1}),
    ):
        yield Defect(
            "torchmetrics",
            f"retrieval_{name}",
            "three scores below 0, the relevant document first",
            theirs(name, labels, scores, **more),
            rs.parse(metric).of(labels, scores=scores),
            "documents with a score of 0 or below are taken for not relevant (not so in hit rate and nDCG)",
        )
    yield Defect(
        "torchmetrics",
        "retrieval_auroc",
        "a relevant document with score 60 above another with score 50",
        theirs("auroc", [1, 0], [60.0, 50.0]),
        rs.AUC().of([1, 0], scores=[60.0, 50.0]),
        "scores above 1 go through a sigmoid, after which high ones are equal",
    )
    index = torch.tensor([i for i, (said, _) in enumerate(ONE_CLASS) for _ in said])
    flat = [torch.tensor([value for query in ONE_CLASS for value in query[side]]) for side in (0, 1)]
    found = retrieval.RetrievalAUROC(empty_target_action="skip")(flat[1], flat[0], indexes=index)
    yield Defect(
        "torchmetrics",
        "RetrievalAUROC(empty_target_action='skip')",
        SOME_LISTS,
        float(found),
        of_lists("AUC", ONE_CLASS),
        "the list without a relevant document is left out, but the one with nothing else counts as 0",
    )
