"""More tools of search: ranx, ndeval, cwl-eval."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from conformance_base import Pair, Said, Tool, averaged
from conformance_data import CORNER_SUBTOPICS, CORNERS, Data, Subtopics, demo, demo_subtopics

# --- ranx ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _read(data: Data) -> Any:
    import ranx

    return ranx.Qrels(data.qrels), ranx.Run(data.run)


def _ranx(name: str, data: Data) -> Said:
    import ranx

    qrels, run = _read(data)
    with np.errstate(all="ignore"):
        mean = ranx.evaluate(qrels, run, name, make_comparable=True)
    return Said(float(mean), {query: float(value) for query, value in run.scores[name].items()})


RANX = {
    "hits@10": "CG(gain='binary')@10",
    "hit_rate@5": "Success@5",
    "precision@10": "P@10",
    "precision@10-l2": "P(level=2)@10",
    "recall@20": "R@20",
    "recall@20-l2": "R(level=2)@20",
    "f1@10": "F@10",
    "r-precision": "Rprec",
    "mrr": "RR",
    "mrr@3": "RR@3",
    "map": "AP",
    "map@20": "AP@20",
    "map-l2": "AP(level=2)",
    "dcg@10": "DCG@10",
    "dcg_burges@10": "DCG(gain='exponential')@10",
    "ndcg": "nDCG",
    "ndcg@10": "nDCG@10",
    "ndcg@10-l2": "nDCG(gain={1: 0})@10",
    "ndcg_burges@10": "nDCG(gain='exponential')@10",
}
RANX_PLAIN = {"ndcg_burges@10": "nDCG@10", "dcg_burges@10": "DCG@10", "hits@10": "CG@10", "ndcg@10-l2": "nDCG@10"}
RANX_DIALECT = {
    **dict.fromkeys(("ndcg@10", "map", "precision@10", "recall@20", "mrr", "hit_rate@5", "r-precision"), "ranx"),
    "ndcg_burges@10": "ranx-burges",
    "dcg_burges@10": "ranx-burges",
}


def ranx() -> Tool:
    """The functions of ranx itself."""
    return Tool(
        "ranx",
        "ranx",
        "`ranx.evaluate(qrels, run, metric, make_comparable=True)`; without that a judged query that is not in the run is "
        "an error. Equal scores have no fixed order there, so the run is the same one without ties.",
        (demo(), CORNERS),
        [
            Pair(
                name,
                ours,
                partial(_ranx, name),
                plain=RANX_PLAIN.get(name, ""),
                view=lambda data: data.untied,
                dialect=RANX_DIALECT.get(name, ""),
            )
            for name, ours in RANX.items()
        ],
    )


# --- ndeval --------------------------------------------------------------------------------------------


def _ndeval(name: str, data: Subtopics) -> Said:
    import pyndeval

    judged = [
        (query, subtopic, doc, grade)
        for query, docs in data.qrels.items()
        for doc, graded in docs.items()
        for subtopic, grade in graded.items()
    ]
    ranked = [(query, doc, score) for query, docs in data.run.items() for doc, score in docs.items()]
    found = pyndeval.RelevanceEvaluator(judged, [name]).evaluate(ranked)
    return averaged({query: float(said[name]) for query, said in found.items()})


NDEVAL = {
    "ERR-IA@10": "ERR_IA@10",
    "nERR-IA@10": "nERR_IA@10",
    "alpha-DCG@10": "alpha_DCG@10",
    "alpha-nDCG@5": "alpha_nDCG@5",
    "alpha-nDCG@10": "alpha_nDCG@10",
    "NRBP": "NRBP",
    "nNRBP": "nNRBP",
    "MAP-IA": "AP_IA",
    "P-IA@10": "P_IA@10",
    "strec@10": "StRecall@10",
}


def ndeval() -> Tool:
    """ndeval, the evaluator of TREC's diversity task."""
    policy = {"ties": "docid"}
    return Tool(
        "ndeval",
        "pyndeval",
        'Called through pyndeval, which says nothing of a query that is not in the run (`queries="both"`).',
        (demo_subtopics(), CORNER_SUBTOPICS),
        [
            Pair(
                name, ours, partial(_ndeval, name), policy=policy | ({"no_relevant": "skip"} if name == "nNRBP" else {})
            )
            for name, ours in NDEVAL.items()
        ],
        policy={"queries": "both"},
    )


# --- cwl-eval ------------------------------------------------------------------------------------------


def _cwl(made: Callable[[Any], Any], data: Data) -> Said:
    from cwl.ruler import cwl_ruler
    from cwl.ruler.ranking import Ranking

    each = {}
    for query, docs in data.run.items():
        grades = data.qrels[query]
        order = sorted(docs, key=lambda doc: docs[doc], reverse=True)
        gains = np.array([grades[doc] / 4 if doc in grades else math.nan for doc in order])
        each[query] = float(made(cwl_ruler).measure(Ranking(query, gains, np.ones(len(gains)), max_n=1000)))
    return averaged(each)


CWL: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "BPMCWLMetric(1.0, 20)": ("BPM(max_grade=4)@20", lambda r: r.BPMCWLMetric(1.0, 20)),
    "BPMCWLMetric(2.5, 10)": ("BPM(T=2.5, max_grade=4)@10", lambda r: r.BPMCWLMetric(2.5, 10)),
    "NERReq8CWLMetric(10)": ("NERR8(max_grade=4)@10", lambda r: r.NERReq8CWLMetric(10)),
    "NERReq9CWLMetric(10)": ("NERR9(max_grade=4)@10", lambda r: r.NERReq9CWLMetric(10)),
    "NERReq10CWLMetric(0.9)": ("NERR10(max_grade=4)", lambda r: r.NERReq10CWLMetric(0.9)),
    "NERReq11CWLMetric(1.0)": ("NERR11(max_grade=4)", lambda r: r.NERReq11CWLMetric(1.0)),
    "NDCGCWLMetric(10)": ("SDCG(max_grade=4)@10", lambda r: r.NDCGCWLMetric(10)),
    "INSQCWLMetric(1.0)": ("INSQ(max_grade=4)", lambda r: r.INSQCWLMetric(1.0)),
    "INSTCWLMetric(1.0)": ("INST(max_grade=4)", lambda r: r.INSTCWLMetric(1.0)),
    "INSTCWLMetric(2.5)": ("INST(T=2.5, max_grade=4)", lambda r: r.INSTCWLMetric(2.5)),
    "RBPCWLMetric(0.8)": ("RBP(p=0.8, max_grade=4)", lambda r: r.RBPCWLMetric(0.8)),
}


def cwl_eval() -> Tool:
    """cwl-eval, the metrics of readers who stop."""
    return Tool(
        "cwl-eval",
        "cwl-eval",
        '`cwl.ruler.cwl_ruler`, given the gain at each rank, a quarter a grade (`queries="both"`).',
        (demo(), CORNERS),
        [Pair(call, ours, partial(_cwl, made), policy={"ties": "input"}) for call, (ours, made) in CWL.items()],
        policy={"queries": "both"},
    )
