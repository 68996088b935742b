"""Tools of search: trec_eval, and ir_measures with each of its providers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from conformance_base import Pair, Said, Tool
from conformance_data import CORNER_SUBTOPICS, CORNERS, Data, Subtopics, demo, demo_subtopics
from rankscope.metrics import parse_many

# --- trec_eval -----------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _asked(data: Data) -> Any:
    import pytrec_eval

    measures = pytrec_eval.supported_measures - {"runid", "relstring"}
    return pytrec_eval.RelevanceEvaluator(data.qrels, measures).evaluate(data.run)


def _trec_eval(name: str, data: Data) -> Said:
    import pytrec_eval

    values = {query: float(said[name]) for query, said in _asked(data).items()}
    mean = float(pytrec_eval.compute_aggregated_measure(name, [*values.values()]))
    return Said(mean) if name.startswith("gm_") else Said(mean, values)


TREC_SHOWN = re.compile(
    r"(map|gm_map|gm_bpref|Rprec|bpref|recip_rank|infAP|ndcg|ndcg_rel|Rndcg|G|binG|11pt_avg|utility|num_\w+|set_\w+"
    r"|P_10|recall_100|ndcg_cut_10|map_cut_10|relative_P_10|success_1|iprec_at_recall_0.10|Rprec_mult_0.60)"
)
TREC_DIALECT = {"map": "AP", "P_10": "P@10", "recall_100": "R@100", "recip_rank": "RR", "ndcg_cut_10": "nDCG@10"}


def trec_eval() -> Tool:
    """trec_eval 9, all the measures that pytrec_eval has."""
    there = _asked(demo())["q001"]
    pairs = []
    for name, metric in parse_many("all_trec"):
        if name in there:
            ours = metric.having(compat=9) if hasattr(metric, "compat") else metric
            dialect = "pytrec_eval" if name in TREC_DIALECT else ""
            shown = TREC_SHOWN.fullmatch(name) is not None
            pairs.append(
                Pair(name, str(ours), partial(_trec_eval, name), plain=str(metric), dialect=dialect, shown=shown)
            )
    return Tool(
        "trec_eval 9",
        "pytrec-eval-terrier",
        "Called through pytrec_eval, which says nothing of a query that is not in the run, so the means are over the "
        'others (`queries="both"`); `trec_eval -c` counts it as rankscope does by default.',
        (demo(), CORNERS),
        pairs,
        close=1e-12,
        policy={"queries": "both"},
    )


# --- ir_measures ---------------------------------------------------------------------------------------


def _ir_measures(provider: str, spelling: str, data: Any) -> Said:
    import ir_measures

    measure = ir_measures.parse_measure(spelling)
    tool = getattr(ir_measures, provider)
    qrels, run = _frames(ir_measures, data) if provider in {"ranx", "pyndeval"} else (data.qrels, data.run)
    # one measure a call: several at once are known to influence each other
    found = list(tool.iter_calc([measure], qrels, run))
    mean = measure.aggregator()  # as its calc_aggregate does, which would take as long again
    for metric in found:
        mean.add(metric.value)
    return Said(float(mean.result()), {metric.query_id: float(metric.value) for metric in found})


def _frames(ir_measures: Any, data: Any) -> tuple[Any, Any]:
    """As rows: for ranx as tables of plain objects, since it refuses the text columns of pandas 3."""
    run = [(query, doc, score) for query, docs in data.run.items() for doc, score in docs.items()]
    if isinstance(data, Subtopics):
        judged = [
            ir_measures.Qrel(query, doc, grade, subtopic)
            for query, docs in data.qrels.items()
            for doc, graded in docs.items()
            for subtopic, grade in graded.items()
        ]
        return judged, [ir_measures.ScoredDoc(*row) for row in run]
    import pandas as pd

    qrels = [(query, doc, grade) for query, docs in data.qrels.items() for doc, grade in docs.items()]
    text = {"query_id": object, "doc_id": object}
    return (
        pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"]).astype(text),
        pd.DataFrame(run, columns=["query_id", "doc_id", "score"]).astype(text),
    )


# provider: what is to be known of it, the policies of all its numbers, how closely; and calls, with our spelling
# where it is not the same and the plain name where that differs
PROVIDERS: dict[str, tuple[str, dict[str, Any], float, list[tuple[str, str, str]]]] = {
    "pytrec_eval": (
        "", {}, 1e-12,
        [(name, "", "") for name in (
            "AP", "AP(rel=2)@100", "AP(judged_only=True)", "nDCG", "nDCG@10", "nDCG(judged_only=True)@10",
            "nDCG(gains={1:3,2:9})@10", "P@10", "P(rel=2)@5", "P(judged_only=True)@10", "R@20", "R(rel=2)@20", "RR",
            "RR(rel=2,judged_only=True)", "Rprec", "Bpref", "BPref(rel=2)", "infAP", "Success@1", "SetP", "SetR",
            "SetF", "SetAP", "SetRelP", "NumRet", "NumRelRet")]
        + [("SetF(beta=0.25)", "SetF(beta=0.5)", ""), ("IPrec@0.1", "IPrec(compat=9)@0.1", "IPrec@0.1")],
    ),
    "cwl_eval": (
        "", {"ties": "input"}, 1e-9,
        [(name, "", "") for name in (
            "P@10", "RR", "RBP(rel=1)", "RBP(p=0.95,rel=2)", "BPM(max_rel=4)@20", "BPM(T=2.5,max_rel=4)@10",
            "SDCG(max_rel=4)@10", "NERR8(max_rel=4)@10", "NERR9(max_rel=4)@10", "NERR10(max_rel=4)",
            "NERR11(max_rel=4)", "INSQ(max_rel=4)", "INST(max_rel=4)", "INST(T=3.0,max_rel=4)")]
        + [("AP", "AP(denominator='hits_at_k')", "AP")],
    ),
    "compat": ("", {"ties": "docid"}, 1e-9, [(name, "", "") for name in ("Compat", "Compat(p=0.8)", "Compat(normalize=False)")]),
    "judged": ("", {"ties": "docid"}, 1e-12, [(name, "", "") for name in ("Judged@10", "Judged@100")]),
    "msmarco": ("", {"ties": "docid"}, 1e-12, [(name, "", "") for name in ("RR@10", "RR(rel=2)@10")]),
    "ranx": (
        "Equal scores have no fixed order there, and a query that is not in the run is an error, so the input is without both.", {}, 1e-9,
        [(name, "", "") for name in (
            "P@10", "P(rel=2)@5", "SetP", "RR", "Rprec", "AP", "AP(rel=2)@20", "nDCG", "nDCG@10", "R@20", "SetR",
            "nDCG(dcg='exp-log2')@10", "Success@1", "NumRelRet")],
    ),
    "gdeval": (
        "It prints five decimals.", {}, 0.5000001e-5,
        [("nDCG(dcg='exp-log2')@10", "", ""), ("nDCG(dcg='exp-log2')@20", "", ""), ("ERR@10", "", ""), ("ERR@20", "", "")],
    ),
    "pyndeval": (
        "", {"ties": "docid"}, 1e-9,
        [(name, "", "") for name in (
            "alpha_DCG(alpha=0.5)@10", "alpha_nDCG(alpha=0.5)@10", "ERR_IA@10", "nERR_IA@10", "NRBP", "P_IA@10",
            "AP_IA", "StRecall@10")],
    ),
}  # fmt: skip


VIEWS: dict[str, Callable[[Any], Any]] = {"ranx": lambda data: data.found, "gdeval": lambda data: data.numbered}


def ir_measures() -> Iterator[Tool]:
    """ir_measures: each of its providers by itself."""
    for provider, (about, policy, close, calls) in PROVIDERS.items():
        pairs = [
            Pair(
                call,
                ours or call,
                partial(_ir_measures, provider, call),
                plain=plain,
                policy=policy,
                view=VIEWS.get(provider, _as_is),
                dialect="ir_measures" if (provider, call) == ("pytrec_eval", "nDCG@10") else "",
            )
            for call, ours, plain in calls
        ]
        inputs: Any = (demo_subtopics(), CORNER_SUBTOPICS) if provider == "pyndeval" else (demo(), CORNERS)
        if provider == "cwl_eval":  # it takes the square of the depth
            inputs = (demo().first(25), CORNERS)
        said = f"`ir_measures.{provider}.iter_calc([measure], qrels, run)`, and the measure's own mean. {about}".strip()
        digits = 4 if provider == "gdeval" else 6
        yield Tool(f"ir_measures, {provider}", "ir_measures", said, inputs, pairs, close, digits)


def _as_is(data: Any) -> Any:
    return data
