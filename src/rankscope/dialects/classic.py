"""The evaluators of TREC, and those that ask them."""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, Says

_EXP = "exponential gain, 2^grade - 1"
_BOTH = "averaged over the queries of both files, so one that is missing from the run costs nothing"
_BINARY = "relevant or not, whatever the grade"
_AP_MIN = Says("AP(denominator='min_k_relevant')", "divided by the smaller of k and the relevant documents")
_BY_ID = {"ties": "docid"}
_BY_FILE = {"ties": "input"}

# what trec_eval computes as rankscope does
_SAME = (
    "nDCG", "AP", "P", "R", "RR", "Success", "Rprec", "Bpref", "GMAP", "GBpref", "infAP", "SetP", "SetR", "SetF",
    "SetAP", "RprecMult", "NumQ", "NumRet", "NumRel", "NumRelRet",
)  # fmt: skip
_TREC = {name: Says(name) for name in _SAME}
_TEN = {
    **_TREC,
    **{name: Says(name) for name in ("IPrec", "IPrecAvg", "DCG", "IdealDCG", "Unjudged")},
    "RBP": Says("RBP(p=0.9, max_grade='query')", "p=0.9, and the query's best grade is the top of the scale"),
}
_OLD = {
    **{name: Says(name, _BOTH) for name in _SAME},
    **{
        name: Says(f"{name}(compat=9)", "levels of recall are rounded up from a tenth")
        for name in ("IPrec", "IPrecAvg")
    },
}
_SUBTOPICS = {
    name: Says(name, "equal scores by rising document id", _BY_ID)
    for name in (
        "alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall",
    )
}  # fmt: skip

CLASSIC: tuple[Dialect, ...] = (
    Dialect(
        "trec_eval",
        "trec_eval",
        "NIST's trec_eval 10 with -c: every judged query counts",
        _TEN,
        version="10.0",
        whole_grades=True,
    ),
    Dialect(
        "trec_eval-9",
        "trec_eval 9",
        "trec_eval 9 without -c; it reads scores as 32-bit floats, so nearly equal ones are equal to it",
        _OLD,
        version="9.0.8",
        whole_grades=True,
        convention=Convention(queries="both"),
    ),
    Dialect(
        "pytrec_eval",
        "pytrec_eval",
        "pytrec_eval-terrier, averaged over the queries it returns; scores are 32-bit floats to it",
        _OLD,
        version="0.5.11",
        whole_grades=True,
        convention=Convention(queries="both"),
    ),
    Dialect(
        "ir_measures",
        "ir_measures",
        "ir_measures.calc_aggregate: every judged query counts, one missing from the run as 0",
        {
            **_TREC,
            **_SUBTOPICS,
            **{name: Says(name, "equal scores as in the file", _BY_FILE) for name in ("RBP", "Accuracy")},
            **{
                name: Says(name, "equal scores by rising document id", _BY_ID)
                for name in ("Compat", "Judged")
            },
            "ERR": Says("ERR", "gdeval's, with grades up to 4"),
        },
        version="0.4.3",
    ),
    Dialect(
        "ranx",
        "ranx",
        "ranx.evaluate; it raises where a judged query is missing, and orders equal scores in no fixed order",
        {name: _TREC[name] for name in ("nDCG", "AP", "P", "R", "RR", "Rprec")}
        | {
            "Success": Says("Success"),
            "F": Says("F"),
            "HitCount": Says("HitCount"),
            "Bpref": Says(
                "",
                defect="pooled documents without a grade count as judged, and it is no number without judged non-relevant ones",
            ),
            "RBP": Says("", defect="grades are not divided by the top of the scale, so it goes beyond 1"),
        },
        version="0.3.21",
        whole_grades=True,
        convention=Convention(ties="input"),
    ),
    Dialect(
        "ranx-burges",
        "ranx, ndcg_burges",
        "ndcg_burges and dcg_burges of ranx",
        {
            "nDCG": Says("nDCG(gain='exponential')", _EXP),
            "DCG": Says("DCG(gain='exponential')", _EXP),
        },
        version="0.3.21",
        whole_grades=True,
        convention=Convention(ties="input"),
    ),
    Dialect(
        "gdeval",
        "gdeval",
        "gdeval.pl of the TREC web track, without -c: queries of both files, grades up to 4",
        {
            "nDCG": Says("nDCG(gain='exponential')", _EXP),
            "ERR": Says("ERR", _BOTH),
        },
        convention=Convention(queries="both"),
        whole_grades=True,
    ),
    Dialect(
        "beir",
        "BEIR",
        "EvaluateRetrieval of BEIR, which asks pytrec_eval; its own MRR counts every judged query",
        {
            **{name: Says(name, _BOTH) for name in ("nDCG", "AP", "R", "P")},
            "RR": Says(
                "RR", "equal scores stay in the order of the input", {"ties": "input", "queries": "judged"}
            ),
        },
        convention=Convention(queries="both"),
    ),
    Dialect(
        "mteb",
        "MTEB",
        "MTEB's retrieval tasks, which ask pytrec_eval",
        {name: Says(name, _BOTH) for name in ("nDCG", "AP", "R", "P")},
        convention=Convention(queries="both"),
    ),
    Dialect(
        "sentence-transformers",
        "Sentence Transformers",
        "InformationRetrievalEvaluator; membership makes a document relevant, so leave grades of 0 out",
        {
            "nDCG": Says("nDCG(gain='binary')", _BINARY),
            "AP": _AP_MIN,
            "P": Says("P", "equal scores by document id, ascending"),
            "R": Says("R", "equal scores by document id, ascending"),
            "RR": Says("RR", "equal scores by document id, ascending"),
            "Success": Says("Success", "equal scores by document id, ascending"),
        },
        convention=Convention(ties="docid", no_relevant="skip"),
    ),
    Dialect(
        "pyndeval",
        "pyndeval",
        "pyndeval, ndeval in Python: queries of both, subtopics in column 2; @1 is not normalised there",
        _SUBTOPICS,
        version="0.0.8",
        convention=Convention(ties="docid", queries="both"),
        whole_grades=True,
    ),
)
