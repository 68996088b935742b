"""Tools of TREC, of search engines and of retrieval for language models."""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, DialectMetric

_EXP = "exponential gain, 2^grade - 1"
_BOTH = "averaged over the queries of both files, so a query missing from the run costs nothing"
_BINARY = "binary gain: relevant or not"
_AP_MIN = DialectMetric("AP(denominator='min_k_relevant')", "divided by the smaller of k and the relevant documents")
_BY_ID = {"ties": "docid"}
_BY_FILE = {"ties": "input"}

# metrics of trec_eval that equal ours; ir_measures lacks those in _TREC_ALONE
_TREC_ALONE = ("GMAP", "GBpref", "RprecMult", "Utility", "BinG", "G", "nDCGRel", "RnDCG", "NumNonrelRet")
_SAME = (
    "nDCG", "AP", "P", "R", "RR", "Success", "Rprec", "Bpref", "infAP", "SetP", "SetR", "SetF", "SetAP", "NumQ",
    "NumRet", "NumRel", "NumRelRet", *_TREC_ALONE,
)  # fmt: skip
_TREC = {name: DialectMetric(name) for name in _SAME}
_TEN = {
    **_TREC,
    **{name: DialectMetric(name) for name in ("IPrec", "IPrecAvg", "DCG", "IdealDCG", "Unjudged")},
    "RBP": DialectMetric("RBP(p=0.9, max_grade='query')", "p=0.9, and the query's best grade is the top of the scale"),
}
_IPREC_9 = {
    name: DialectMetric(f"{name}(compat=9)", "levels of recall are rounded up from a tenth")
    for name in ("IPrec", "IPrecAvg")
}
_OLD = {**{name: DialectMetric(name, _BOTH) for name in _SAME}, **_IPREC_9}
_SUBTOPICS = {
    name: DialectMetric(name, "equal scores by rising document id", _BY_ID)
    for name in (
        "alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall",
    )
}  # fmt: skip
# ranx looks at the whole list, trec_eval's recall at nine cutoffs
_WHOLE_RANX = {"recall": "SetR", "hits": "HitCount@1000000", "hit_rate": "Success@1000000"}
# cwl_eval's metrics of readers who stop
_READERS = ("BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11", "INSQ", "INST")

CLASSIC: tuple[Dialect, ...] = (
    Dialect("trec_eval", "trec_eval", "NIST's trec_eval 10 with -c: every judged query counts",
        _TEN, version="10.0", whole_grades=True),
    Dialect("trec_eval-9", "trec_eval 9",
        "trec_eval 9 without -c. It reads scores as 32-bit floats, so nearly equal scores become ties",
        _OLD, version="9.0.8", whole_grades=True, convention=Convention(queries="both")),
    Dialect("pytrec_eval", "pytrec_eval",
        "pytrec_eval-terrier, averaged over the queries it returns. It reads scores as 32-bit floats",
        _OLD, version="0.5.11", whole_grades=True, convention=Convention(queries="both")),
    Dialect("ir_measures", "ir_measures",
        "ir_measures.calc_aggregate: every judged query counts, as 0 if missing from the run",
        {
            **{name: says for name, says in _TREC.items() if name not in _TREC_ALONE}, **_SUBTOPICS,
            **{name: DialectMetric(name, "equal scores as in the file", _BY_FILE) for name in ("RBP", "Accuracy", *_READERS)},
            **{name: DialectMetric(name, "equal scores by rising document id", _BY_ID) for name in ("Judged",)},
            "Compat": DialectMetric("Compat", "equal scores by rising document id. Its ideal depends on the order of the judgments "
                "if scores are equal, and on their sign", _BY_ID),
            # trec_eval computes RR, the evaluator of MS MARCO RR@k
            "RR": DialectMetric("RR", cut=DialectMetric("RR", "RR@k: equal scores by rising document id", _BY_ID)),
            **{name: DialectMetric(name, "only queries of both files are counted", {"queries": "both"}) for name in ("NumQ", "NumRel")},
            "IPrec": _IPREC_9["IPrec"], "SetF": DialectMetric("SetF", "beta is its square there", squared="beta"),
            "ERR": DialectMetric("ERR", "gdeval's, with grades up to 4"),
        }, version="0.4.3"),
    Dialect("ranx", "ranx",
        "ranx.evaluate. It raises if a judged query is missing, and ties have no fixed order",
        {name: _TREC[name] for name in ("nDCG", "AP", "P", "R", "RR", "Rprec", "SetP", "SetR", "SetF")} | {
            "Success": DialectMetric("Success"), "F": DialectMetric("F"), "HitCount": DialectMetric("HitCount"), "DCG": DialectMetric("DCG"),
            "Bpref": DialectMetric("",
                defect="pooled documents without a grade count as judged, and the value is undefined "
                "without judged non-relevant documents"),
            "RBP": DialectMetric("", defect="grades are not divided by the top of the scale, so it exceeds 1"),
        }, version="0.3.21", whole_grades=True, convention=Convention(ties="input"), names=_WHOLE_RANX,
        caution="its own order of equal scores is arbitrary"),
    Dialect("ranx-burges", "ranx, ndcg_burges", "ndcg_burges and dcg_burges of ranx",
        {"nDCG": DialectMetric("nDCG(gain='exponential')", _EXP), "DCG": DialectMetric("DCG(gain='exponential')", _EXP)},
        version="0.3.21", whole_grades=True, convention=Convention(ties="input")),
    Dialect("gdeval", "gdeval",
        "gdeval.pl of the TREC web track, without -c: queries of both files with a relevant document, grades up to 4",
        {"nDCG": DialectMetric("nDCG(gain='exponential')", _EXP), "ERR": DialectMetric("ERR", _BOTH)},
        convention=Convention(queries="both", no_relevant="skip"), whole_grades=True),
    Dialect("beir", "BEIR", "EvaluateRetrieval of BEIR, which uses pytrec_eval. Its own MRR counts every judged query",
        {
            **{name: DialectMetric(name, _BOTH) for name in ("nDCG", "AP", "R", "P")},
            "RR": DialectMetric("RR", "equal scores stay in the order of the input", {"ties": "input", "queries": "judged"}),
        }, convention=Convention(queries="both")),
    Dialect("mteb", "MTEB", "MTEB's retrieval tasks, which use pytrec_eval",
        {name: DialectMetric(name, _BOTH) for name in ("nDCG", "AP", "R", "P")}, convention=Convention(queries="both")),
    Dialect("sentence-transformers", "Sentence Transformers",
        "InformationRetrievalEvaluator. Every document in the set is relevant, so leave grades of 0 out",
        {
            "nDCG": DialectMetric("nDCG(gain='binary')", _BINARY), "AP": _AP_MIN,
            "P": DialectMetric("P", "equal scores by document id, ascending"),
            "R": DialectMetric("R", "equal scores by document id, ascending"),
            "RR": DialectMetric("RR", "equal scores by document id, ascending"),
            "Success": DialectMetric("Success", "equal scores by document id, ascending"),
        }, convention=Convention(ties="docid", no_relevant="skip")),
    Dialect("pyndeval", "pyndeval",
        "pyndeval, ndeval in Python: queries of both, subtopics in column 2. @1 is not normalised there",
        {**_SUBTOPICS, "nNRBP": DialectMetric("nNRBP", "undefined for a query without relevant documents", {"no_relevant": "skip"})},
        version="0.0.8", convention=Convention(ties="docid", queries="both"), whole_grades=True),
)  # fmt: skip


_SHORT = "divided by the documents returned if they are fewer than k"
_FOUND = "divided by the relevant documents found, so missed documents cost nothing"
_RETURNED = "ideal stops at the number of documents returned"
_UNCUT = "ideal of all relevant documents, never cut at k"
_ROUNDED = "every query is rounded to two decimals"
_SMALLER = "divided by the smaller of k and the relevant documents"

_IDS = "matched by ids of chunks"
_STRINGS = "whole strings with a Levenshtein similarity of at least 0.5"
_MODEL = "a language model is the judge"

_P_SHORT = DialectMetric("P(denominator='min_k_listlen')", _SHORT)
_AP_FOUND = DialectMetric("AP(denominator='hits_at_k')", _FOUND)


_ENGINES: tuple[Dialect, ...] = (
    Dialect("elasticsearch", "Elasticsearch", "_rank_eval: dcg with normalize, precision, recall, mean_reciprocal_rank",
        {
            "nDCG": DialectMetric("nDCG(gain='exponential', ideal='judged_at_returned')", f"{_RETURNED}, {_EXP}"),
            "DCG": DialectMetric("DCG(gain='exponential')", _EXP), "P": _P_SHORT, "R": DialectMetric("R"), "RR": DialectMetric("RR"),
        }, convention=Convention(ties="input")),
    Dialect("opensearch", "OpenSearch",
        "Search Relevance Workbench. It rounds every query to two decimals, which is not done here",
        {
            "nDCG": DialectMetric("nDCG(gain='exponential')", f"{_EXP}; {_ROUNDED}"),
            "P": DialectMetric("P(denominator='min_k_listlen')", f"{_SHORT}; {_ROUNDED}"),
        }, convention=Convention(ties="input")),
    Dialect("quepid", "Quepid", "Quepid's scorers nDCG@10, AP@10, P@10, RR@10 and ERR@10",
        {
            "nDCG": DialectMetric("nDCG(gain='exponential', ideal='judged_uncut')", f"{_UNCUT}, {_EXP}"),
            "AP": DialectMetric("AP", "undefined for a query without relevant documents", {"no_relevant": "skip"}),
            "P": _P_SHORT, "RR": DialectMetric("RR"), "ERR": DialectMetric("ERR(max_grade=3)", "grades up to 3"),
        }, convention=Convention(ties="input")),
    Dialect("quepid-cut", "Quepid, ndcg_cut@10", "the scorer ndcg_cut@10 of Quepid, with the ideal cut",
        {"nDCG": DialectMetric("nDCG(gain='exponential')", _EXP)}, convention=Convention(ties="input")),
    Dialect("rre", "Rated Ranking Evaluator", "RRE. A query without relevant documents counts as 1",
        {
            "nDCG": DialectMetric("", defect="every term is truncated to two decimals"),
            "P": DialectMetric("P(denominator='min_k_listlen', level=0)",
                f"every judged document counts as relevant, even at grade 0. {_SHORT}"),
        }, convention=Convention(ties="input", no_relevant=1)),
    Dialect("pyvespa", "pyvespa", "vespa.evaluation, with grades from 0 to 1",
        {
            "nDCG": DialectMetric("nDCG"),
            "AP": DialectMetric("AP(denominator='min_k_relevant')", f"{_SMALLER}. With grades it is not a precision"),
            "P": DialectMetric("P"),
        }, convention=Convention(ties="input")),
)  # fmt: skip

_GENERATION: tuple[Dialect, ...] = (
    Dialect("mlflow", "MLflow",
        "mlflow.metrics.ndcg_at_k, precision_at_k, recall_at_k. Documents returned twice count as judged twice",
        {"nDCG": DialectMetric("nDCG(gain='binary', ideal='judged_at_returned')", _RETURNED), "P": _P_SHORT, "R": DialectMetric("R")},
        convention=Convention(ties="input")),
    Dialect("haystack", "Haystack", "Haystack's document evaluators, over all documents of a retriever",
        {
            "nDCG": DialectMetric("nDCG(ideal='judged_uncut')", _UNCUT), "AP": _AP_FOUND,
            "R": DialectMetric("Success", "recall in its default mode is 1 if one relevant document is found"),
            "RR": DialectMetric("RR"),
        }, convention=Convention(ties="input", no_relevant=0)),
    Dialect("llamaindex", "LlamaIndex", "LlamaIndex's retrieval metrics. Documents returned twice count twice",
        {
            "nDCG": DialectMetric("nDCG(gain='binary', ideal='judged_uncut')", _UNCUT), "AP": DialectMetric("AP"), "P": _P_SHORT,
            "R": DialectMetric("R"), "RR": DialectMetric("RR"), "Success": DialectMetric("Success"),
        }, convention=Convention(ties="input"),
        contexts={
            "hit_rate": DialectMetric("AnyEvidence(match='ids')", _IDS), "mrr": DialectMetric("FirstUseful(match='ids')", _IDS),
            "precision": DialectMetric("ContextPrecision(match='ids')", f"{_IDS}, divided by the chunks returned"),
            "recall": DialectMetric("EvidenceRecall(match='ids')", _IDS),
        }),
    Dialect("phoenix", "Arize Phoenix",
        "Phoenix over the evaluations of retrieved documents only",
        {"nDCG": DialectMetric("nDCG(ideal='retrieved_all')", "ideal of the retrieved documents only"), "P": DialectMetric("P")},
        convention=Convention(ties="input", queries="run")),
    Dialect("autorag", "AutoRAG", "AutoRAG's retrieval metrics",
        {"nDCG": DialectMetric("nDCG(gain='binary', ideal='judged_at_returned')", _RETURNED), "AP": _AP_FOUND},
        convention=Convention(ties="input")),
    Dialect("ragas", "Ragas",
        "Ragas: context precision as AP, ID-based context precision as P. A language model may be the judge",
        {"AP": _AP_FOUND, "P": _P_SHORT}, version="0.4.3", convention=Convention(ties="input"),
        contexts={
            "context_precision": DialectMetric("RankedPrecision", f"{_FOUND}. There {_MODEL} of each context"),
            "context_recall": DialectMetric("EvidenceRecall", f"there {_MODEL} of each sentence of the reference answer"),
            "non_llm_context_precision_with_reference": DialectMetric("RankedPrecision(match='strings')", f"{_STRINGS}, {_FOUND}"),
            "non_llm_context_recall": DialectMetric("EvidenceRecall(match='strings')", f"{_STRINGS} (above 0.5 in 0.4.3): a passage over two chunks is missed"),
            "id_based_context_precision": DialectMetric("ContextPrecision(match='ids')", f"{_IDS}, each counted once"),
            "id_based_context_recall": DialectMetric("EvidenceRecall(match='ids')", _IDS),
        }),
    Dialect("deepeval", "DeepEval", "contextual precision of DeepEval, with a language model as the judge",
        {"AP": _AP_FOUND}, convention=Convention(ties="input"),
        contexts={
            "contextual_precision": DialectMetric("RankedPrecision", f"{_FOUND}. There {_MODEL} of each context"),
            "contextual_recall": DialectMetric("EvidenceRecall", f"there {_MODEL} of each sentence of the expected output"),
        }),
    Dialect("trulens", "TruLens", "ground truth agreement of TruLens. Undefined for a query without relevant documents",
        {"nDCG": DialectMetric("nDCG", "queries without relevant documents left out")},
        convention=Convention(ties="input", no_relevant="skip")),
)  # fmt: skip

RETRIEVAL: tuple[Dialect, ...] = (*CLASSIC, *_ENGINES, *_GENERATION)
