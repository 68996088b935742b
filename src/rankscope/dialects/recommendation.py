"""Tools of recommendation.

Those that read tables know no user without recommendations; which users are averaged is told by ``queries``.
Ranks are given to most of them, so that equal scores stay in the order of the input.
"""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, Says

_GAIN = "relevant or not, whatever the grade"
_SMALLER = "divided by the smaller of k and the relevant documents"
_IN_LIST = "a document missing from the list is not missed"

_TRUTH = Convention(ties="input", no_relevant="skip")
_COMMON = {"P": Says("P"), "R": Says("R"), "RR": Says("RR"), "Success": Says("Success"), "F": Says("F")}
_BINARY = Says("nDCG(gain='binary')", _GAIN)
_AP_MIN = Says("AP(denominator='min_k_relevant')", _SMALLER)

RECOMMENDATION: tuple[Dialect, ...] = (
    Dialect("rectools", "RecTools",
        "RecTools as it is called without options; ranks are given, users without test items are left out",
        {
            **_COMMON,
            "nDCG": Says("nDCG(gain='binary', ideal='full_k')", "ideal of k relevant documents even where fewer exist"),
            "AP": Says("AP"),
        }, version="0.19.0", convention=_TRUTH),
    Dialect("rectools-achievable", "RecTools, divide_by_achievable",
        "NDCG(divide_by_achievable=True), MAP(divide_by_k=True) and Precision(r_precision=True) of RecTools",
        {
            "nDCG": _BINARY,
            "AP": Says("AP(denominator='k')", "divided by k even where fewer relevant documents exist"),
            "P": Says("P(denominator='min_k_relevant')", _SMALLER),
        }, version="0.19.0", convention=_TRUTH),
    Dialect("replay", "RePlay",
        "replay.metrics over the users of the ground truth; equal scores by item id, the highest first",
        {**{name: says for (name, says) in _COMMON.items() if name != "F"}, "nDCG": _BINARY, "AP": _AP_MIN},
        version="0.22.0", convention=Convention(ties="trec", no_relevant="skip")),
    Dialect("recbole", "RecBole",
        "RecBole's evaluator, which ranks all items for every user of the test set and rounds to 4 decimals",
        {**{name: says for (name, says) in _COMMON.items() if name != "F"}, "nDCG": _BINARY, "AP": _AP_MIN},
        convention=Convention(ties="input", queries="both", no_relevant="skip")),
    Dialect("recpack", "RecPack",
        "RecPack over the users with test items; its CalibratedRecallK is R(denominator='min_k_relevant')",
        {
            "P": Says("P"), "R": Says("R"), "RR": Says("RR"), "nDCG": _BINARY,
            "Success": Says("HitCount", "HitK is the number of hits, not whether there is one"),
            "HitCount": Says("HitCount"),
        }, version="0.3.6", convention=_TRUTH),
    Dialect("elliot", "Elliot",
        "Elliot with relevance_threshold=1; with a threshold t its gain is 2^(grade - t + 1) - 1",
        {
            **_COMMON,
            "nDCG": Says("nDCG(gain='exponential')", "exponential gain, counted from the relevance threshold"),
            "AP": Says("MeanP", "MAP is the mean of P@1 to P@k, which rewards no relevant document by itself"),
            "MeanP": Says("MeanP"), "MeanR": Says("MeanR"),
        }, convention=Convention(ties="input", queries="both", no_relevant="skip")),
    Dialect("elliot-rendle2020", "Elliot, nDCGRendle2020", "nDCGRendle2020 of Elliot: its nDCG without grades",
        {"nDCG": _BINARY}, convention=Convention(ties="input", queries="both", no_relevant="skip")),
    Dialect("recommenders", "Recommenders",
        "recommenders.evaluation.python_evaluation; ndcg_at_k averages all users with test items, the rest "
        "only those with recommendations too; map_at_k is AP(denominator='min_k_relevant')",
        {
            "P": Says("P", "users without recommendations left out"),
            "R": Says("R", "users without recommendations left out"),
            "AP": Says("AP", "users without recommendations left out"),
            "nDCG": Says("nDCG(gain='binary')", _GAIN, {"queries": "judged"}),
            "Rprec": Says("", defect="users without a hit are dropped from the mean of r_precision_at_k"),
        }, convention=Convention(ties="input", queries="both", no_relevant="skip")),
    Dialect("lenskit", "LensKit",
        "lenskit.metrics over the users with recommendations; a user without test items counts as 0",
        {
            "P": Says("P(denominator='min_k_listlen')", "divided by the smaller of k and the documents returned"),
            "R": Says("R(denominator='min_k_relevant')", _SMALLER),
            "AP": Says("AP(denominator='min_relevant_listlen')",
                "divided by the smaller of relevant and returned documents; a user without test items is an error",
                {"no_relevant": "skip"}),
            "nDCG": Says("nDCG(gain='binary', discount='log2_rank')", "the first two ranks are worth the same"),
            "RR": Says("RR"), "Success": Says("Success"),
            "RBP": Says("RBP(p=0.85, level=1)", "persistence 0.85, relevant or not"),
        }, version="2025.8.1", convention=Convention(ties="input", queries="run", no_relevant=0)),
    Dialect("evidently", "Evidently",
        "Evidently's ranking metrics: users with a relevant document in their list, and nothing outside it",
        {
            "P": Says("P(denominator='min_k_listlen')", "users with nothing relevant in the list left out"),
            "R": Says("R(denominator='positives_in_list')", _IN_LIST),
            "nDCG": Says("nDCG(ideal='retrieved_all')", _IN_LIST),
            "AP": Says("", defect="depends on the order of the rows, and goes beyond 1"),
            "MeanR": Says("", defect="depends on the order of the rows, and goes beyond 1"),
        }, version="0.7.23", convention=Convention(ties="input", queries="run", nothing_found="skip_list")),
    Dialect("implicit", "implicit",
        "implicit.evaluation.ranking_metrics_at_k, where precision is one ratio over all users",
        {
            "P": Says("P(denominator='min_k_relevant')",
                "all hits divided by all that could be hit, over all users together", {"mean": "micro"}),
            "AP": _AP_MIN, "nDCG": _BINARY,
        }, convention=_TRUTH),
    Dialect("lightfm", "LightFM",
        "lightfm.evaluation, which ranks all items; preserve_rows=True counts users without test items as 0",
        {"P": Says("P"), "R": Says("R"), "RR": Says("RR")}, convention=_TRUTH),
    Dialect("spark-mllib", "Spark MLlib", "RankingMetrics of Spark; a user without test items counts as 0",
        {
            "P": Says("P"), "R": Says("R"),
            "AP": Says("AP(denominator='min_k_relevant')", "meanAveragePrecisionAt: " + _SMALLER),
            "nDCG": Says("nDCG(gain='binary')", "relevant or not: with grades its ideal is in the order given"),
        }, convention=Convention(ties="input", queries="both", no_relevant=0)),
    Dialect("pyg", "PyTorch Geometric",
        "torch_geometric.metrics of link prediction, over the rows with something to find",
        {**_COMMON, "AP": _AP_MIN, "nDCG": _BINARY},
        convention=Convention(ties="input", queries="both", no_relevant="skip")),
)  # fmt: skip
