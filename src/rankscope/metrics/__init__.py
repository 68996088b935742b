"""All metrics by family, and the reader of their spellings."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rankscope import words
from rankscope.declared import SEPARATORS, doc_of, parse_all, split_spellings
from rankscope.errors import InputError
from rankscope.metrics.base import Example, Metric, Terms
from rankscope.metrics.browsing import ERR, RBP, Compat, RBPResidual
from rankscope.metrics.buckley import YAAP, BinG, G, RnDCG, RprecMult, nDCGRel
from rankscope.metrics.diversity import AP_IA, ERR_IA, NRBP, P_IA, StRecall, alpha_DCG, alpha_nDCG, nERR_IA, nNRBP
from rankscope.metrics.effort import TBG, TokenBudget, UMeasure
from rankscope.metrics.exposure import AWRF, NDKL
from rankscope.metrics.gain import CG, DCG, IdealDCG, nDCG
from rankscope.metrics.items import (
    EPC,
    ILD,
    CategoryCoverage,
    CategoryEntropy,
    FullLists,
    LongTail,
    Miscalibration,
    Novelty,
    Popularity,
    Serendipity,
    Unexpectedness,
    Unseen,
)  # fmt: skip
from rankscope.metrics.labels import LRAP, CoverageError, LabelRankingLoss, PercentileRank
from rankscope.metrics.ntcir import NCU, OMeasure, PMeasure, PPlus, Q, nERR
from rankscope.metrics.pairs import AUC, GAUC, LAUC, OPA, Accuracy
from rankscope.metrics.pooled import Bpref, GBpref, Judged, Unjudged, infAP
from rankscope.metrics.population import (
    EED,
    EEL,
    EER,
    REO,
    RSP,
    Coverage,
    Entropy,
    Gini,
    GroupExposure,
    Personalisation,
    Skew,
)  # fmt: skip
from rankscope.metrics.preferences import AvgAP, AvgP, AvgRprec, NumPrefs, NumPrefsFul, Prefs, PrefsR
from rankscope.metrics.propensity import IPS, SNIPS, EffectiveSize
from rankscope.metrics.recommendation import FallOut, HitCount, MeanP, MeanR, PFound, RelevantPosition, pAP, pAUC
from rankscope.metrics.relevance import AP, GMAP, RR, F, IPrec, IPrecAvg, P, R, Rprec, Success
from rankscope.metrics.sampled import Sampled
from rankscope.metrics.sets import NumNonrelRet, NumQ, NumRel, NumRelRet, NumRet, SetAP, SetF, SetP, SetR, Utility
from rankscope.metrics.stopping import BPM, INSQ, INST, NERR8, NERR9, NERR10, NERR11, SDCG
from rankscope.metrics.strata import infNDCG, xinfAP
from rankscope.metrics.trec import SETS, parse_ranx, parse_trec
from rankscope.metrics.users import EBU, rrDBN, uUBM

__all__ = ["AP", "AP_IA", "AUC", "AWRF", "BPM", "CATALOGUE", "CG", "DCG", "DEFAULT", "EBU", "EED", "EEL", "EER", "EPC", "ERR", "ERR_IA", "FAMILIES", "GAUC", "GMAP", "ILD", "INSQ", "INST", "IPS", "LAUC", "LRAP", "NCU", "NDKL", "NERR8", "NERR9", "NERR10", "NERR11", "NICKNAMES", "NRBP", "OPA", "P_IA", "RBP", "REO", "RR", "RSP", "SDCG", "SETS", "SNIPS", "TBG", "YAAP", "Accuracy", "AvgAP", "AvgP", "AvgRprec", "BinG", "Bpref", "CategoryCoverage", "CategoryEntropy", "Compat", "Coverage", "CoverageError", "EffectiveSize", "Entropy", "Example", "F", "FallOut", "FullLists", "G", "GBpref", "Gini", "GroupExposure", "HitCount", "IPrec", "IPrecAvg", "IdealDCG", "Judged", "LabelRankingLoss", "LongTail", "MeanP", "MeanR", "Metric", "Miscalibration", "Novelty", "NumNonrelRet", "NumPrefs", "NumPrefsFul", "NumQ", "NumRel", "NumRelRet", "NumRet", "OMeasure", "P", "PFound", "PMeasure", "PPlus", "PercentileRank", "Personalisation", "Popularity", "Prefs", "PrefsR", "Q", "R", "RBPResidual", "RelevantPosition", "RnDCG", "Rprec", "RprecMult", "Sampled", "Serendipity", "SetAP", "SetF", "SetP", "SetR", "Skew", "StRecall", "Success", "Terms", "TokenBudget", "UMeasure", "Unexpectedness", "Unjudged", "Unseen", "Utility", "alpha_DCG", "alpha_nDCG", "families", "family_of", "in_order", "infAP", "infNDCG", "is_foreign", "nDCG", "nDCGRel", "nERR", "nERR_IA", "nNRBP", "pAP", "pAUC", "parse", "parse_many", "rrDBN", "spelled", "uUBM", "xinfAP"]  # fmt: skip

CATALOGUE: dict[str, type[Metric]] = Metric.catalogue

DEFAULT = ("nDCG@10", "AP", "RR@10", "R@100", "P@10", "Judged@10")

NICKNAMES = tuple(SETS)

FAMILIES = (
    "relevance", "gain", "browsing", "stopping", "effort", "users", "ntcir", "pooled", "strata", "diversity", "pairs", "accuracy", "labels", "recommendation", "sampled", "propensity", "items", "exposure", "population",
    "sets", "interpolated", "overlap", "preferences", "judges", "buckley", "counts",
)  # fmt: skip


def parse(text: str | Metric | type[Metric]) -> Metric:
    """Read one metric: ``nDCG(gain='exponential')@10``, ``mrr@10`` or trec_eval's ``ndcg_cut_10``.

    Return metrics and metric classes unchanged. Raises InputError for an unknown metric, or for several.

    >>> parse("ndcg_cut_10")
    nDCG@10
    >>> parse("RBP(p=0.5, max_rel=2)")
    RBP(p=0.5, max_grade=2)
    """
    metrics = parse_many(text)
    if len(metrics) != 1:
        some = words.sample([str(metric) for _, metric in metrics])
        raise InputError(f"metric {text!r} names {len(metrics)} metrics, but only one fits here: {some}")
    return metrics[0][1]


def spelled(metric: Any) -> str:
    """The canonical spelling of a metric, empty if there is no such metric."""
    try:
        return str(parse(metric))
    except InputError:
        return ""


def is_foreign(metric: object) -> bool:
    """True for a measure of ir_measures, whose spelling is also ours."""
    return hasattr(metric, "NAME") and hasattr(metric, "params")


def parse_many(text: str | Metric | type[Metric], names: Mapping[str, str] | None = None) -> list[tuple[str, Metric]]:
    """Read all metrics of a spelling, each with its name as typed: ``nDCG@5,10``, ``P.5,10``, ``official``.

    ``names`` maps the names of a dialect to spellings of ours.

    >>> parse_many("nDCG@5,10")
    [('nDCG@5', nDCG@5), ('nDCG@10', nDCG@10)]
    """
    if isinstance(text, Metric):
        return [(str(text), text.ready())]
    if isinstance(text, type) and issubclass(text, Metric):
        return [(text.__name__, text().ready())]
    if not isinstance(text, str):
        if is_foreign(text):
            return parse_many(str(text), names)
        raise InputError(f"a metric is a name like 'nDCG@10' or an object like nDCG @ 10, not {text!r}")
    spelling = text.strip()
    parts = split_spellings(spelling) if SEPARATORS.search(spelling) else [spelling]
    if len(parts) == 1:  # keep the name as typed
        return _read(parts[0], spelling, names)
    return [pair for part in parts for pair in _read(part, part, names)]


_RANX = re.compile(r"-l\d+$|^rbp\.\d+$|^(?:precision|f1|n?dcg_burges)$")  # names that only ranx has


def _read(text: str, spelling: str, names: Mapping[str, str] | None = None) -> list[tuple[str, Metric]]:
    if names and text in names:
        return [(spelling, parse(names[text]))]
    if text in SETS:
        return [pair for name in SETS[text] for pair in _read(name, name, names)]
    # a class name before @ or ( is not trec_eval's
    name, *rest = re.split("[(@]", text, maxsplit=1)
    ours = bool(rest) and name in CATALOGUE and CATALOGUE[name].__name__ == name
    if _RANX.search(text) and text not in CATALOGUE:
        metrics = parse_ranx(text, lambda name: _read(name, name, names))
        return [(spelling if len(metrics) == 1 else str(metric), metric) for metric in metrics]
    named = None if ours else parse_trec(text, CATALOGUE)
    if named is not None and (len(named) > 1 or text not in CATALOGUE):
        return [(metric.trec_name() or text, metric) for metric in named]
    several = parse_all(Metric, text)
    return [(spelling if len(several) == 1 else str(metric), metric) for metric in several]


# families that share a module with another; a module describes its own family
SHARING = {
    "accuracy": "Pairs of a relevant and another retrieved document",
    "interpolated": "Interpolated precision: the best precision at a recall or beyond",
    "overlap": "Overlap of a ranking with the ideal ranking",
    "judges": "Metrics averaged over several judges of the same documents",
    "counts": "Counts of queries, documents and relevant documents",
}


def describe_family(name: str) -> str:
    """A family of metrics in one sentence."""
    module = sys.modules.get(f"{__name__}.{name}")
    about = SHARING.get(name) or (doc_of(module) if module else "") or name
    return re.split(r"\n|\. ", about.strip())[0].rstrip(".")


def family_of(cls: type[Metric]) -> str:
    """The family of a metric."""
    return cls.family or cls.__module__.rpartition(".")[2]


def families() -> dict[str, list[type[Metric]]]:
    """The catalogue by family, each metric once, the most used families first."""
    out: dict[str, list[type[Metric]]] = {name: [] for name in FAMILIES}
    for cls in dict.fromkeys(CATALOGUE.values()):
        out.setdefault(family_of(cls), []).append(cls)
    return {name: group for name, group in out.items() if group}


def in_order(metrics: Iterable[Any], names: Mapping[str, str] | None = None) -> list[tuple[str, Metric]]:
    """Read a list of spellings. Return each metric once, in the given order. ``names``: as in ``parse_many``."""
    seen: dict[Metric, str] = {}
    for text in metrics:
        for spelling, metric in parse_many(text, names):
            seen.setdefault(metric, spelling)
    return [(spelling, metric) for metric, spelling in seen.items()]
