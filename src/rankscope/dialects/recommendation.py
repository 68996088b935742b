"""Tools of recommendation: most get ranks, so ties keep the order of the input, and tools that read tables do not see users without recommendations."""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, DialectMetric

_GAIN = "binary gain: relevant or not"
_SMALLER = "divided by the smaller of k and the relevant documents"
_IN_LIST = "only documents of the list count"

_TRUTH = Convention(ties="input", no_relevant="skip")
_COMMON = {
    "P": DialectMetric("P"), "R": DialectMetric("R"), "RR": DialectMetric("RR"), "Success": DialectMetric("Success"),
    "F": DialectMetric("F"),
}  # fmt: skip
_BINARY = DialectMetric("nDCG(gain='binary')", _GAIN)
_AP_MIN = DialectMetric("AP(denominator='min_k_relevant')", _SMALLER)

RECOMMENDATION: tuple[Dialect, ...] = (
    Dialect("rectools", "RecTools",
        "RecTools without options. It gets ranks, users without test items are left out",
        {
            **_COMMON,
            "nDCG": DialectMetric("nDCG(gain='binary', ideal='full_k')", "ideal of k relevant documents even if fewer exist"),
            "AP": DialectMetric("AP"),
        }, version="0.19.0", convention=_TRUTH),
    Dialect("rectools-achievable", "RecTools, divide_by_achievable",
        "NDCG(divide_by_achievable=True), MAP(divide_by_k=True) and Precision(r_precision=True) of RecTools",
        {
            "nDCG": _BINARY,
            "AP": DialectMetric("AP(denominator='k')", "divided by k even if fewer relevant documents exist"),
            "P": DialectMetric("P(denominator='min_k_relevant')", _SMALLER),
        }, version="0.19.0", convention=_TRUTH),
    Dialect("replay", "RePlay",
        "replay.metrics over the users of the ground truth. Equal scores by item id, the highest first",
        {**{name: says for (name, says) in _COMMON.items() if name != "F"}, "nDCG": _BINARY, "AP": _AP_MIN},
        version="0.22.0", convention=Convention(ties="trec", no_relevant="skip")),
    Dialect("recbole", "RecBole",
        "RecBole's evaluator, which ranks all items for every user of the test set and rounds to 4 decimals",
        {**{name: says for (name, says) in _COMMON.items() if name != "F"}, "nDCG": _BINARY, "AP": _AP_MIN},
        convention=Convention(ties="input", queries="both", no_relevant="skip")),
    Dialect("recpack", "RecPack",
        "RecPack over the users with test items. Its CalibratedRecallK is R(denominator='min_k_relevant')",
        {
            "P": DialectMetric("P"), "R": DialectMetric("R"), "RR": DialectMetric("RR"), "nDCG": _BINARY,
            "Success": DialectMetric("HitCount", "HitK is the number of hits, not 0 or 1"),
            "HitCount": DialectMetric("HitCount"),
        }, version="0.3.6", convention=_TRUTH),
    Dialect("elliot", "Elliot",
        "Elliot with relevance_threshold=1. With a threshold t its gain is 2^(grade - t + 1) - 1",
        {
            **_COMMON,
            "nDCG": DialectMetric("nDCG(gain='exponential')", "exponential gain, counted from the relevance threshold"),
            "AP": DialectMetric("MeanP", "MAP is the mean of P@1 to P@k, not the precision at relevant documents"),
            "MeanP": DialectMetric("MeanP"), "MeanR": DialectMetric("MeanR"),
        }, convention=Convention(ties="input", queries="both", no_relevant="skip")),
    Dialect("elliot-rendle2020", "Elliot, nDCGRendle2020", "nDCGRendle2020 of Elliot: its nDCG without grades",
        {"nDCG": _BINARY}, convention=Convention(ties="input", queries="both", no_relevant="skip")),
    Dialect("recommenders", "Recommenders",
        "recommenders.evaluation.python_evaluation. ndcg_at_k averages all users with test items, the rest "
        "only users with recommendations too. map_at_k is AP(denominator='min_k_relevant')",
        {
            "P": DialectMetric("P", "users without recommendations left out"),
            "R": DialectMetric("R", "users without recommendations left out"),
            "AP": DialectMetric("AP", "users without recommendations left out"),
            "nDCG": DialectMetric("nDCG(gain='binary')", _GAIN, {"queries": "judged"}),
            "Rprec": DialectMetric("", defect="r_precision_at_k drops users without a hit from the mean"),
        }, convention=Convention(ties="input", queries="both", no_relevant="skip")),
    Dialect("lenskit", "LensKit",
        "lenskit.metrics over the users with recommendations. A user without test items counts as 0",
        {
            "P": DialectMetric("P(denominator='min_k_listlen')", "divided by the smaller of k and the documents returned"),
            "R": DialectMetric("R(denominator='min_k_relevant')", _SMALLER),
            "AP": DialectMetric("AP(denominator='min_relevant_listlen')",
                "divided by the smaller of relevant and returned documents. A user without test items is an error",
                {"no_relevant": "skip"}),
            "nDCG": DialectMetric("nDCG(gain='binary', discount='log2_rank')", "the first two ranks are worth the same"),
            "RR": DialectMetric("RR"), "Success": DialectMetric("Success"),
            "RBP": DialectMetric("RBP(p=0.85, level=1)", "persistence 0.85, relevant or not"),
        }, version="2025.8.1", convention=Convention(ties="input", queries="run", no_relevant=0)),
    Dialect("evidently", "Evidently",
        "Evidently's ranking metrics: only users with a relevant document in their list, and only documents in it",
        {
            "P": DialectMetric("P(denominator='min_k_listlen')", "users with nothing relevant in the list left out"),
            "R": DialectMetric("R(denominator='positives_in_list')", _IN_LIST),
            "nDCG": DialectMetric("nDCG(ideal='retrieved_all')", _IN_LIST),
            "AP": DialectMetric("", defect="depends on the order of the rows, and exceeds 1"),
            "MeanR": DialectMetric("", defect="depends on the order of the rows, and exceeds 1"),
        }, version="0.7.23", convention=Convention(ties="input", queries="run", nothing_found="skip_list")),
    Dialect("implicit", "implicit",
        "implicit.evaluation.ranking_metrics_at_k. Its precision is one ratio over all users",
        {
            "P": DialectMetric("P(denominator='min_k_relevant')",
                "all hits divided by all possible hits, over all users together", {"mean": "micro"}),
            "AP": _AP_MIN, "nDCG": _BINARY,
        }, convention=_TRUTH),
    Dialect("lightfm", "LightFM",
        "lightfm.evaluation, which ranks all items. preserve_rows=True counts users without test items as 0",
        {"P": DialectMetric("P"), "R": DialectMetric("R"), "RR": DialectMetric("RR")}, convention=_TRUTH),
    Dialect("spark-mllib", "Spark MLlib", "RankingMetrics of Spark. A user without test items counts as 0",
        {
            "P": DialectMetric("P"), "R": DialectMetric("R"),
            "AP": DialectMetric("AP(denominator='min_k_relevant')", "meanAveragePrecisionAt: " + _SMALLER),
            "nDCG": DialectMetric("nDCG(gain='binary')", "binary gain: with grades its ideal keeps the input order"),
        }, convention=Convention(ties="input", queries="both", no_relevant=0)),
    Dialect("pyg", "PyTorch Geometric",
        "torch_geometric.metrics of link prediction, over rows with at least one relevant item",
        {**_COMMON, "AP": _AP_MIN, "nDCG": _BINARY},
        convention=Convention(ties="input", queries="both", no_relevant="skip")),
)  # fmt: skip
