"""Tools of learning to rank and of general machine learning.

They are given the candidates of each query and know of nothing else: what is missing from a list is not missed.
"""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, NoRelevant, Says

# torchmetrics' empty_target_action, and what it makes of a query without a relevant document
_EMPTY_TARGETS: tuple[tuple[str, str, NoRelevant], ...] = (
    ("torchmetrics", "neg", 0),
    ("torchmetrics-neg", "neg", 0),
    ("torchmetrics-skip", "skip", "skip"),
    ("torchmetrics-pos", "pos", 1),
)
_CANDIDATES = "only the documents of the list count"
_EXP = f"exponential gain, {_CANDIDATES}"
_SHORT = "divided by the smaller of k and the documents of the list"
_MIN = "divided by the smaller of k and the relevant documents of the list"

_P_SHORT = Says("P(denominator='min_k_listlen')", _SHORT)
_R_LIST = Says("R(denominator='positives_in_list')", _CANDIDATES)
_AP_LIST = Says("AP(denominator='positives_in_list')", _CANDIDATES)
_AP_MIN = Says("AP(denominator='min_k_positives_in_list')", _MIN)
_NDCG = "nDCG(ideal='retrieved_all')"
_NDCG_EXP = "nDCG(gain='exponential', ideal='retrieved_all')"


# without a cutoff XGBoost looks at as many documents as it would make pairs of in training, 32 unless told otherwise
_TOP_32 = "the top 32 where no cutoff is given"
_XGBOOST = {
    "nDCG": Says(f"{_NDCG_EXP}@32", f"{_EXP}; {_TOP_32}", cut=Says(_NDCG_EXP, _EXP)),
    "AP": Says(f"{_AP_MIN.metric}@32", f"{_MIN}; {_TOP_32}", cut=_AP_MIN),
}

# metrics of scikit-learn that say themselves what equal scores and a row without labels are worth
_OF_LABELS = {
    metric: Says(
        metric,
        "equal scores and rows without a label that holds are dealt with by the metric itself",
        {"ties": "input", "no_relevant": "metric"},
    )
    for metric in ("LRAP", "LabelRankingLoss", "CoverageError")
}
# one for each of its three answers to a query without relevant documents
_TORCHMETRICS = tuple(
    Dialect(name, f"torchmetrics, empty_target_action={action!r}",
        "torchmetrics.retrieval; documents with scores of 0 and below are never relevant in some of its metrics",
        {
            "P": Says("P"), "R": _R_LIST,
            "AP": Says("AP(denominator='hits_at_k')", "divided by the relevant documents found in the top k"),
            "RR": Says("RR"), "Success": Says("Success"),
            "nDCG": Says(_NDCG, f"mean over the orders of equal scores, {_CANDIDATES}", {"ties": "expected"}),
            "AUC": Says("AUC(single_class=0)", "a list of relevant documents alone counts as 0"),
            # only one of its answers to a list of relevant documents alone is ours
            **({"FallOut": Says("FallOut", _CANDIDATES, {"no_relevant": "metric"})} if name.endswith("neg") else {}),
        }, version="1.9.0",
        convention=Convention(ties="input", queries="run", looks_at="list", no_relevant=no_relevant))
    for name, action, no_relevant in _EMPTY_TARGETS
)  # fmt: skip


LEARNING: tuple[Dialect, ...] = (
    Dialect("lightgbm", "LightGBM",
        "ndcg and map of LightGBM with its usual label_gain; a query without relevant documents counts as 1",
        {"nDCG": Says(_NDCG_EXP, _EXP), "AP": _AP_MIN}, version="4.7.0",
        convention=Convention(ties="input", queries="run", looks_at="list", no_relevant=1), whole_grades=True),
    Dialect("xgboost", "XGBoost",
        "ndcg, map and pre of XGBoost; a query without relevant documents counts as 1 (as 0 in pre)",
        {
            **_XGBOOST, "P": Says("P(denominator='min_k_listlen')", _SHORT, {"no_relevant": 0}),
            "AUC": Says("", defect="pairs of equal labels are counted, so a query's area depends on the order of rows"),
        }, version="3.2.0", convention=Convention(ties="input", queries="run", looks_at="list", no_relevant=1)),
    Dialect("xgboost-minus", "XGBoost, names with a minus",
        "ndcg@10- and map@10- of XGBoost: a query without relevant documents counts as 0",
        {**_XGBOOST, "P": _P_SHORT}, version="3.2.0",
        convention=Convention(ties="input", queries="run", looks_at="list", no_relevant=0)),
    Dialect("catboost", "CatBoost",
        "NDCG, MAP, MRR, PrecisionAt and RecallAt of CatBoost, equal scores in the worst order",
        {
            "nDCG": Says(_NDCG, f"a query without relevant documents counts as 1, {_CANDIDATES}", {"no_relevant": 1}),
            "DCG": Says("DCG"), "AP": Says("AP(denominator='positives_in_list')", _CANDIDATES, cut=_AP_MIN), "P": _P_SHORT,
            "R": Says("R(denominator='positives_in_list')",
                f"a query without relevant documents counts as 1, {_CANDIDATES}", {"no_relevant": 1}),
            "RR": Says("RR"), "PFound": Says("PFound"),
            "AUC": Says("AUC(single_class=0)", "a group of one class counts as 0", {"ties": "input",
                "no_relevant": "metric"}),
            "OPA": Says("OPA(single_class=0)", "a group without a pair counts as 0", {"ties": "input",
                "no_relevant": "metric"}),
        }, version="1.2.10", convention=Convention(ties="worst", queries="run", looks_at="list", no_relevant=0)),
    Dialect("sklearn", "scikit-learn",
        "ndcg_score, dcg_score and the metrics of label ranking, of rows in which every document has a label",
        {
            "nDCG": Says(_NDCG, f"mean over the orders of equal scores, {_CANDIDATES}"),
            "DCG": Says("DCG", "mean over the orders of equal scores"), **_OF_LABELS,
        }, version="1.9.1", convention=Convention(ties="expected", queries="run", looks_at="list", no_relevant=0)),
    *_TORCHMETRICS,
    Dialect("rax", "Rax", "rax metrics over lists that all count alike; a list without relevant documents counts as 0",
        {
            "nDCG": Says(_NDCG_EXP, _EXP), "DCG": Says("DCG(gain='exponential')", "exponential gain"), "P": _P_SHORT,
            "R": _R_LIST, "AP": _AP_LIST, "RR": Says("RR"),
            "OPA": Says("OPA(tied=0)", "a pair with equal scores is wrong"),
        }, version="0.4.0", convention=Convention(ties="input", queries="run", looks_at="list", no_relevant=0)),
    Dialect("tfr", "TensorFlow Ranking",
        "tfr.keras.metrics without weights; equal scores are shuffled, of which this is the mean",
        {
            "nDCG": Says(_NDCG_EXP, _EXP), "DCG": Says("DCG(gain='exponential')", "exponential gain"), "P": _P_SHORT,
            "R": _R_LIST, "AP": _AP_LIST, "RR": Says("RR"), "Success": Says("Success"),
            "RelevantPosition": Says("RelevantPosition", "a list weighs as much as its grades add up to",
                {"mean": "micro", "no_relevant": "metric"}),
            "OPA": Says("OPA(tied=0, weights='pairs')",
                "a pair with equal scores is wrong, and a list weighs as much as it has pairs", {"ties": "input",
                "no_relevant": "metric"}),
        }, convention=Convention(ties="expected", queries="run", looks_at="list", no_relevant=0)),
)  # fmt: skip
