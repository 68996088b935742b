"""Tools of search and of retrieval for language models."""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, Says
from rankscope.dialects.classic import CLASSIC

_EXP = "exponential gain, 2^grade - 1"
_BINARY = "relevant or not, whatever the grade"
_SHORT = "divided by the documents returned where they are fewer than k"
_FOUND = "divided by the relevant documents found, so what is missed costs nothing"
_RETURNED = "ideal stops at the number of documents returned"
_UNCUT = "ideal of all relevant documents, never cut at k"
_ROUNDED = "every query is rounded to two decimals"
_SMALLER = "divided by the smaller of k and the relevant documents"

_P_SHORT = Says("P(denominator='min_k_listlen')", _SHORT)
_AP_FOUND = Says("AP(denominator='hits_at_k')", _FOUND)
_AP_MIN = Says("AP(denominator='min_k_relevant')", _SMALLER)


_ENGINES: tuple[Dialect, ...] = (
    Dialect(
        "elasticsearch",
        "Elasticsearch",
        "_rank_eval: dcg with normalize, precision, recall, mean_reciprocal_rank",
        {
            "nDCG": Says("nDCG(gain='exponential', ideal='judged_at_returned')", f"{_RETURNED}, {_EXP}"),
            "DCG": Says("DCG(gain='exponential')", _EXP),
            "P": _P_SHORT,
            "R": Says("R"),
            "RR": Says("RR"),
        },
        convention=Convention(ties="input"),
    ),
    Dialect(
        "opensearch",
        "OpenSearch",
        "Search Relevance Workbench; every query is rounded to two decimals, which is left out here",
        {
            "nDCG": Says("nDCG(gain='exponential')", f"{_EXP}; {_ROUNDED}"),
            "P": Says("P(denominator='min_k_listlen')", f"{_SHORT}; {_ROUNDED}"),
        },
        convention=Convention(ties="input"),
    ),
    Dialect(
        "quepid",
        "Quepid",
        "Quepid's scorers nDCG@10, AP@10, P@10, RR@10 and ERR@10",
        {
            "nDCG": Says("nDCG(gain='exponential', ideal='judged_uncut')", f"{_UNCUT}, {_EXP}"),
            "AP": Says("AP", "no number for a query without relevant documents", {"no_relevant": "skip"}),
            "P": _P_SHORT,
            "RR": Says("RR"),
            "ERR": Says("ERR(max_grade=3)", "grades up to 3"),
        },
        convention=Convention(ties="input"),
    ),
    Dialect(
        "quepid-cut",
        "Quepid, ndcg_cut@10",
        "the scorer ndcg_cut@10 of Quepid, whose ideal is cut",
        {"nDCG": Says("nDCG(gain='exponential')", _EXP)},
        convention=Convention(ties="input"),
    ),
    Dialect(
        "rre",
        "Rated Ranking Evaluator",
        "RRE; a query without relevant documents counts as 1",
        {
            "nDCG": Says("", defect="every term is cut off at two decimals"),
            "P": Says(
                "P(denominator='min_k_listlen', level=0)",
                f"every judged document counts as relevant, even at grade 0; {_SHORT}",
            ),
        },
        convention=Convention(ties="input", no_relevant=1),
    ),
    Dialect(
        "pyvespa",
        "pyvespa",
        "vespa.evaluation, whose grades go from 0 to 1",
        {
            "nDCG": Says("nDCG"),
            "AP": Says(
                "AP(denominator='min_k_relevant')", f"{_SMALLER}; of graded documents it is no precision"
            ),
            "P": Says("P"),
        },
        convention=Convention(ties="input"),
    ),
)

_GENERATION: tuple[Dialect, ...] = (
    Dialect(
        "mlflow",
        "MLflow",
        "mlflow.metrics.ndcg_at_k, precision_at_k, recall_at_k; documents returned twice are judged twice to it",
        {
            "nDCG": Says("nDCG(gain='binary', ideal='judged_at_returned')", _RETURNED),
            "P": _P_SHORT,
            "R": Says("R"),
        },
        convention=Convention(ties="input"),
    ),
    Dialect(
        "haystack",
        "Haystack",
        "Haystack's document evaluators, of all that a retriever returned",
        {
            "nDCG": Says("nDCG(ideal='judged_uncut')", _UNCUT),
            "AP": _AP_FOUND,
            "R": Says("Success", "recall in its usual mode is 1 where one relevant document is found"),
            "RR": Says("RR"),
        },
        convention=Convention(ties="input", no_relevant=0),
    ),
    Dialect(
        "llamaindex",
        "LlamaIndex",
        "LlamaIndex's retrieval metrics; documents returned twice count twice to it",
        {
            "nDCG": Says("nDCG(gain='binary', ideal='judged_uncut')", _UNCUT),
            "AP": Says("AP"),
            "P": _P_SHORT,
            "R": Says("R"),
            "RR": Says("RR"),
            "Success": Says("Success"),
        },
        convention=Convention(ties="input"),
    ),
    Dialect(
        "phoenix",
        "Arize Phoenix",
        "Phoenix over the evaluations of retrieved documents; of others it knows nothing",
        {
            "nDCG": Says("nDCG(ideal='retrieved_all')", "ideal of the retrieved documents only"),
            "P": Says("P"),
        },
        convention=Convention(ties="input", queries="run"),
    ),
    Dialect(
        "autorag",
        "AutoRAG",
        "AutoRAG's retrieval metrics",
        {
            "nDCG": Says("nDCG(gain='binary', ideal='judged_at_returned')", _RETURNED),
            "AP": _AP_FOUND,
        },
        convention=Convention(ties="input"),
    ),
    Dialect(
        "ragas",
        "Ragas",
        "Ragas: context precision as AP, ID-based context precision as P; a language model may be the judge",
        {"AP": _AP_FOUND, "P": _P_SHORT},
        convention=Convention(ties="input"),
    ),
    Dialect(
        "deepeval",
        "DeepEval",
        "contextual precision of DeepEval, with a language model as the judge",
        {"AP": _AP_FOUND},
        convention=Convention(ties="input"),
    ),
    Dialect(
        "trulens",
        "TruLens",
        "ground truth agreement of TruLens; no number for a query without relevant documents",
        {"nDCG": Says("nDCG", "queries without relevant documents left out")},
        convention=Convention(ties="input", no_relevant="skip"),
    ),
)

RETRIEVAL: tuple[Dialect, ...] = (*CLASSIC, *_ENGINES, *_GENERATION)
