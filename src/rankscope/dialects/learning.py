"""Tools of learning to rank and machine learning: they get candidates, so a document missing from the list does not count."""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, DialectMetric, NoRelevant

# torchmetrics' empty_target_action, and the value of a query without a relevant document
_EMPTY_TARGETS: tuple[tuple[str, str, NoRelevant], ...] = (
    ("torchmetrics", "neg", 0), ("torchmetrics-neg", "neg", 0), ("torchmetrics-skip", "skip", "skip"),
    ("torchmetrics-pos", "pos", 1),
)  # fmt: skip
_CANDIDATES = "only the documents of the list count"
_EXP = f"exponential gain, {_CANDIDATES}"
_SHORT = "divided by the smaller of k and the documents of the list"
_MIN = "divided by the smaller of k and the relevant documents of the list"

_P_SHORT = DialectMetric("P(denominator='min_k_listlen')", _SHORT)
_R_LIST = DialectMetric("R(denominator='positives_in_list')", _CANDIDATES)
_AP_LIST = DialectMetric("AP(denominator='positives_in_list')", _CANDIDATES)
_AP_MIN = DialectMetric("AP(denominator='min_k_positives_in_list')", _MIN)
_NDCG = "nDCG(ideal='retrieved_all')"
_NDCG_EXP = "nDCG(gain='exponential', ideal='retrieved_all')"


# without a cutoff XGBoost uses the number of documents that it pairs in training, 32 by default
_TOP_32 = "the top 32 if no cutoff is given"
_XGBOOST = {
    "nDCG": DialectMetric(f"{_NDCG_EXP}@32", f"{_EXP}; {_TOP_32}", cut=DialectMetric(_NDCG_EXP, _EXP)),
    "AP": DialectMetric(f"{_AP_MIN.metric}@32", f"{_MIN}; {_TOP_32}", cut=_AP_MIN),
}

# metrics of scikit-learn with their own rules for ties and rows without labels
_OF_LABELS = {
    metric: DialectMetric(
        metric,
        "the metric has its own rules for equal scores and for rows without a true label",
        {"ties": "input", "no_relevant": "metric"},
    )
    for metric in ("LRAP", "LabelRankingLoss", "CoverageError")
}
_TORCHMETRICS = tuple(
    Dialect(name, f"torchmetrics, empty_target_action={action!r}",
        "torchmetrics.retrieval. Documents with scores of 0 and below are never relevant in some of its metrics",
        {
            "P": DialectMetric("P"), "R": _R_LIST,
            "AP": DialectMetric("AP(denominator='hits_at_k')", "divided by the relevant documents found in the top k"),
            "RR": DialectMetric("RR"), "Success": DialectMetric("Success"),
            "nDCG": DialectMetric(_NDCG, f"mean over the orders of equal scores, {_CANDIDATES}", {"ties": "expected"}),
            "AUC": DialectMetric("AUC(single_class=0)", "a list of only relevant documents counts as 0"),
            # only one of its values for a list of only relevant documents is ours
            **({"FallOut": DialectMetric("FallOut", _CANDIDATES, {"no_relevant": "metric"})} if name.endswith("neg") else {}),
        }, version="1.9.0",
        convention=Convention(ties="input", queries="run", looks_at="list", no_relevant=no_relevant))
    for name, action, no_relevant in _EMPTY_TARGETS
)  # fmt: skip


LEARNING: tuple[Dialect, ...] = (
    Dialect("lightgbm", "LightGBM",
        "ndcg and map of LightGBM with its usual label_gain. A query without relevant documents counts as 1",
        {"nDCG": DialectMetric(_NDCG_EXP, _EXP), "AP": _AP_MIN}, version="4.7.0",
        convention=Convention(ties="input", queries="run", looks_at="list", no_relevant=1), whole_grades=True),
    Dialect("xgboost", "XGBoost",
        "ndcg, map and pre of XGBoost. A query without relevant documents counts as 1 (as 0 in pre)",
        {
            **_XGBOOST, "P": DialectMetric("P(denominator='min_k_listlen')", _SHORT, {"no_relevant": 0}),
            "AUC": DialectMetric("", defect="it counts pairs of equal labels, so the area of a query depends on the order of rows"),
        }, version="3.2.0", convention=Convention(ties="input", queries="run", looks_at="list", no_relevant=1)),
    Dialect("xgboost-minus", "XGBoost, names with a minus",
        "ndcg@10- and map@10- of XGBoost: a query without relevant documents counts as 0",
        {**_XGBOOST, "P": _P_SHORT}, version="3.2.0",
        convention=Convention(ties="input", queries="run", looks_at="list", no_relevant=0)),
    Dialect("catboost", "CatBoost",
        "NDCG, MAP, MRR, PrecisionAt and RecallAt of CatBoost, equal scores in the worst order",
        {
            "nDCG": DialectMetric(_NDCG, f"a query without relevant documents counts as 1, {_CANDIDATES}", {"no_relevant": 1}),
            "DCG": DialectMetric("DCG"), "AP": DialectMetric("AP(denominator='positives_in_list')", _CANDIDATES, cut=_AP_MIN), "P": _P_SHORT,
            "R": DialectMetric("R(denominator='positives_in_list')",
                f"a query without relevant documents counts as 1, {_CANDIDATES}", {"no_relevant": 1}),
            "RR": DialectMetric("RR"), "PFound": DialectMetric("PFound"),
            "AUC": DialectMetric("AUC(single_class=0)", "a group of one class counts as 0", {"ties": "input",
                "no_relevant": "metric"}),
            "OPA": DialectMetric("OPA(single_class=0)", "a group without a pair counts as 0", {"ties": "input",
                "no_relevant": "metric"}),
        }, version="1.2.10", convention=Convention(ties="worst", queries="run", looks_at="list", no_relevant=0)),
    Dialect("sklearn", "scikit-learn",
        "ndcg_score, dcg_score and the metrics of label ranking, for rows in which all documents have labels",
        {
            "nDCG": DialectMetric(_NDCG, f"mean over the orders of equal scores, {_CANDIDATES}"),
            "DCG": DialectMetric("DCG", "mean over the orders of equal scores"), **_OF_LABELS,
        }, version="1.9.1", convention=Convention(ties="expected", queries="run", looks_at="list", no_relevant=0)),
    *_TORCHMETRICS,
    Dialect("rax", "Rax", "rax metrics with equal weight for every list. A list without relevant documents counts as 0",
        {
            "nDCG": DialectMetric(_NDCG_EXP, _EXP), "DCG": DialectMetric("DCG(gain='exponential')", "exponential gain"), "P": _P_SHORT,
            "R": _R_LIST, "AP": _AP_LIST, "RR": DialectMetric("RR"),
            "OPA": DialectMetric("OPA(tied=0)", "a pair with equal scores is wrong"),
        }, version="0.4.0", convention=Convention(ties="input", queries="run", looks_at="list", no_relevant=0)),
    Dialect("tfr", "TensorFlow Ranking",
        "tfr.keras.metrics without weights. It shuffles equal scores, this is the mean over their orders",
        {
            "nDCG": DialectMetric(_NDCG_EXP, _EXP), "DCG": DialectMetric("DCG(gain='exponential')", "exponential gain"), "P": _P_SHORT,
            "R": _R_LIST, "AP": _AP_LIST, "RR": DialectMetric("RR"), "Success": DialectMetric("Success"),
            "RelevantPosition": DialectMetric("RelevantPosition", "the weight of a list is the sum of its grades",
                {"mean": "micro", "no_relevant": "metric"}),
            "OPA": DialectMetric("OPA(tied=0, weights='pairs')",
                "a pair with equal scores is wrong, and the weight of a list is its number of pairs", {"ties": "input",
                "no_relevant": "metric"}),
        }, convention=Convention(ties="expected", queries="run", looks_at="list", no_relevant=0)),
)  # fmt: skip
