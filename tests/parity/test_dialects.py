"""Every dialect through the other tool's own entry point: all the metrics that it has, at many cutoffs, the mean and not a query.

The tools that need an environment of their own are in test_recommenders.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, TypeVar

import pytest
from tests.conftest import import_foreign

import rankscope as rs
from conformance_data import CORNER_SUBTOPICS, CORNERS, Data, Subtopics, demo, demo_subtopics
from conformance_groups import said_by_catboost
from conformance_learning import binary, flat, lists, queries_of, said_by_lightgbm, said_by_xgboost
from rankscope.dialects import DIALECTS

CUTS = (1, 3, 10, 100, 1000)
NDEVAL_CUTS = (5, 10, 20)  # it has none above; what it prints @1 is not normalised, a defect
STRAY: Any = {"999": {"a": 1.0, "b": 1.0}}  # a query that nobody judged


Input = TypeVar("Input", Data, Subtopics)


def replace(data: Input, **changes: Any) -> Input:
    """The same input in another form."""
    return type(data)(**{"name": data.name, "qrels": data.qrels, "run": data.run, **changes})


def some(data: Data) -> Data:
    """The same judgments, a run that lacks every seventh query and has one that nobody judged."""
    kept = {query: docs for i, (query, docs) in enumerate(data.run.items()) if i % 7}
    return replace(data, name=f"{data.name}, part", run={**kept, **STRAY})


def numbered(data: Data) -> Data:
    """The same with numbers for queries."""
    number = {query: str(i + 1) for i, query in enumerate(data.qrels)}
    run = {number.get(query, query): docs for query, docs in data.run.items()}
    return Data(data.name, {number[query]: docs for query, docs in data.qrels.items()}, run)


def backwards(data: Data) -> Data:
    """The same with the documents of each query in the reverse order."""
    return replace(data, run={query: dict(reversed(docs.items())) for query, docs in data.run.items()})


def ours(data: Any, spelling: str, dialect: str) -> float:
    """What rankscope prints under a dialect."""
    (mean,) = rs.evaluate(data.qrels, data.run, [spelling], dialect=dialect).board
    return mean.value


def agree(data: Any, dialect: str, theirs: Mapping[str, float], close: float) -> None:
    """Our number under each spelling is theirs; the numbers are not all one."""
    wrong = {
        spelling: (value, said)
        for spelling, value in theirs.items()
        if not math.isclose(said := ours(data, spelling, dialect), value, rel_tol=close, abs_tol=close)
    }
    assert not wrong, f"{data.name}: theirs and ours"
    assert len(set(theirs.values())) > 1 or len(theirs) < 3


def cut(names: Mapping[str, str], cuts: Sequence[int] = CUTS) -> Iterator[tuple[str, str]]:
    """Names with a place for a cutoff, theirs and ours, at every cutoff."""
    for theirs, name in names.items():
        yield from ((theirs.format(k=k), name.format(k=k)) for k in (cuts if "{k}" in theirs else (0,)))


DEMO, DEMO_SUBTOPICS = demo().first(60), replace(demo_subtopics(), qrels=dict([*demo_subtopics().qrels.items()][:60]))
INPUTS = [some(DEMO), CORNERS, some(CORNERS), backwards(some(CORNERS))]
inputs = pytest.mark.parametrize("data", INPUTS, ids=["demo", "corners", "part of corners", "part backwards"])

# --- ir_measures: whichever of its providers is asked

SUBTOPICS = {"alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "AP_IA", "P_IA", "NRBP", "nNRBP", "StRecall"}
HEAVY = {
    "BPM",
    "SDCG",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "INSQ",
    "INST",
    "RBP",
}  # they take the square of the depth
NEEDED: dict[str, Any] = {"max_rel": 4, "rel": 1}
OTHERS: dict[type, tuple[Any, ...]] = {int: (2,), float: (0.5,), bool: (True,), dict: ({1: 2, 2: 5},)}


def measures_of(module: ModuleType) -> Iterator[Any]:
    """Every measure at every cutoff or recall, as it is and with other values of each parameter.

    The top grade is above all grades there are: theirs cuts higher ones off, and we refuse it.
    """
    for made in module.measures.registry.values():
        known = made.SUPPORTED_PARAMS
        by_topic = made.NAME.replace("α", "alpha") in SUBTOPICS
        cuts = NDEVAL_CUTS if by_topic else CUTS
        at = next((name for name in ("cutoff", "recall") if name in known), "")
        places: dict[str, list[dict[str, Any]]] = {
            "cutoff": [{}, *({"cutoff": k} for k in cuts)],
            "recall": [{"recall": i / 10} for i in range(11)],
        }
        needed = {name: NEEDED[name] for name, info in known.items() if info.required and name in NEEDED}
        free = {name: info for name, info in known.items() if name not in {at, "max_rel"}}
        if by_topic:  # where it fails for a generator that it takes for a table
            free.pop("judged_only", None)
        others = [{name: v} for name, info in free.items() for v in OTHERS.get(info.dtype, info.choices or ())]
        yield from (made(**{**needed, **place, **other}) for place in places.get(at, [{}]) for other in [{}, *others])


@lru_cache(maxsize=1)
def ir_measures_takes() -> dict[str, Any]:
    """What its entry point takes, by how it is written; nothing where it is not here."""
    try:
        module = import_foreign("ir_measures")
    except ImportError:
        return {}
    out = {}
    for measure in measures_of(module):
        try:
            if module.DefaultPipeline.supports(measure):
                out[str(measure).replace("α", "alpha")] = measure
        except AssertionError:  # which is how it says that a cutoff is missing
            continue
    return out


def by_ir_measures(module: ModuleType, measure: Any, data: Any) -> float:
    """Its number; one measure a call, since several at once are known to influence each other."""
    qrels, run = data.qrels, data.run
    if isinstance(data, Subtopics):
        graded = [(q, doc, each) for q, docs in data.qrels.items() for doc, each in docs.items()]
        qrels = [module.Qrel(q, doc, grade, topic) for q, doc, each in graded for topic, grade in each.items()]
        run = [module.ScoredDoc(q, doc, score) for q, docs in data.run.items() for doc, score in docs.items()]
    return float(module.calc_aggregate([measure], qrels, run)[measure])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("family", sorted({name.partition("(")[0].partition("@")[0] for name in ir_measures_takes()}))
def test_ir_measures(family: str, need: Callable[[str], ModuleType]) -> None:
    module, close = need("ir_measures"), 1e-9
    given: list[Any] = [DEMO_SUBTOPICS, CORNER_SUBTOPICS] if family in SUBTOPICS else INPUTS[1:]
    if family not in SUBTOPICS | HEAVY:
        given.append(INPUTS[0])
    for whole in given:
        theirs, data = {}, whole
        for name, measure in ir_measures_takes().items():
            if measure.NAME.replace("α", "alpha") != family:
                continue
            if "exp-log2" in name or family == "ERR":
                if "@" not in name:  # ranx, which asks for text columns as pandas had them before
                    continue
                data, close = (
                    numbered(replace(whole, run={q: d for q, d in whole.run.items() if q in whole.qrels})),
                    1e-5,
                )
            try:
                value = by_ir_measures(module, measure, data)
            except ZeroDivisionError:
                assert family == "Accuracy"  # where a query has nothing but relevant documents: a defect
                continue
            except ValueError:
                assert family in SUBTOPICS  # which it takes without a cutoff, and then asks for one
                assert "@" not in name
                continue
            if not math.isnan(value):  # of IPrec(judged_only=True)@0 where a query has no judged document: a defect
                theirs[name] = value
        agree(data, "ir_measures", theirs, close)


def test_ir_measures_takes_much(need: Callable[[str], ModuleType]) -> None:
    need("ir_measures")
    assert len(ir_measures_takes()) > 250


# --- trec_eval 9 and ranx


@inputs
@pytest.mark.parametrize("dialect", ["pytrec_eval", "trec_eval-9"])
def test_pytrec_eval(dialect: str, data: Data, need: Callable[[str], ModuleType]) -> None:
    module = need("pytrec_eval")
    found = module.RelevanceEvaluator(data.qrels, module.supported_measures - {"runid", "relstring"}).evaluate(data.run)
    names = list(next(iter(found.values())))
    theirs = {
        name: float(module.compute_aggregated_measure(name, [values[name] for values in found.values()]))
        for name in names
    }
    assert len(theirs) > 90
    agree(data, dialect, theirs, 1e-9)


RANX = {
    "ranx": {
        "hits": "hits",
        "hits-l2": "hits-l2",
        "hit_rate": "hit_rate",
        "hit_rate-l2": "hit_rate-l2",
        "precision": "precision",
        "recall": "recall",
        "recall-l2": "recall-l2",
        "f1": "f1",
        "hits@{k}": "HitCount@{k}",
        "hit_rate@{k}": "Success@{k}",
        "precision@{k}": "P@{k}",
        "recall@{k}": "R@{k}",
        "f1@{k}": "F@{k}",
        "r-precision": "Rprec",
        "mrr": "RR",
        "mrr@{k}": "RR@{k}",
        "map": "AP",
        "map@{k}": "AP@{k}",
        "dcg": "DCG",
        "dcg@{k}": "DCG@{k}",
        "ndcg": "nDCG",
        "ndcg@{k}": "nDCG@{k}",
        "precision@{k}-l2": "P(level=2)@{k}",
        "recall@{k}-l2": "R(level=2)@{k}",
        "map@{k}-l2": "AP(level=2)@{k}",
    },
    "ranx-burges": {
        "dcg_burges": "DCG",
        "dcg_burges@{k}": "DCG@{k}",
        "ndcg_burges": "nDCG",
        "ndcg_burges@{k}": "nDCG@{k}",
    },
}


@pytest.mark.parametrize("data", [DEMO.found, CORNERS.found], ids=["demo", "corners"])
@pytest.mark.parametrize("dialect", RANX)
@pytest.mark.filterwarnings("ignore:.*unsafe cast")  # what numba says when ranx is compiled first
def test_ranx(dialect: str, data: Data, need: Callable[[str], ModuleType]) -> None:
    """Without ties, whose order it leaves open, and of queries that the run has, since it refuses others."""
    module = need("ranx")
    qrels, run = module.Qrels(data.qrels), module.Run(data.run)
    theirs = {name: float(module.evaluate(qrels, run, call)) for call, name in cut(RANX[dialect])}
    agree(data, dialect, theirs, 1e-9)


# --- ndeval and gdeval

NDEVAL = {
    "ERR-IA@{k}": "ERR_IA@{k}",
    "nERR-IA@{k}": "nERR_IA@{k}",
    "alpha-DCG@{k}": "alpha_DCG@{k}",
    "alpha-nDCG@{k}": "alpha_nDCG@{k}",
    "P-IA@{k}": "P_IA@{k}",
    "strec@{k}": "StRecall@{k}",
    "NRBP": "NRBP",
    "nNRBP": "nNRBP",
    "MAP-IA": "AP_IA",
}


@pytest.mark.parametrize("data", [DEMO_SUBTOPICS, CORNER_SUBTOPICS], ids=["demo", "corners"])
def test_pyndeval(data: Subtopics, need: Callable[[str], ModuleType]) -> None:
    module = need("pyndeval")
    graded = [(q, doc, each) for q, docs in data.qrels.items() for doc, each in docs.items()]
    judged = [(q, topic, doc, grade) for q, doc, each in graded for topic, grade in each.items()]
    run = [(q, doc, score) for q, docs in data.run.items() for doc, score in docs.items()]
    theirs = {}
    for call, name in cut(NDEVAL, NDEVAL_CUTS):
        found = module.RelevanceEvaluator(judged, [call]).evaluate(run)
        known = [values[call] for values in found.values() if not math.isnan(values[call])]
        theirs[name] = math.fsum(known) / len(known)
    agree(data, "pyndeval", theirs, 1e-9)


@pytest.mark.parametrize("data", [some(DEMO), CORNERS], ids=["demo", "corners"])
def test_gdeval(data: Data, need: Callable[[str], ModuleType]) -> None:
    """The script that ir_measures brings, without the zeros that ir_measures adds; five decimals of each query."""
    module = need("ir_measures")
    if not module.gdeval.is_available():
        pytest.skip("perl is not here")
    data = numbered(data)
    theirs = {}
    for call, name in cut({"nDCG(dcg='exp-log2')@{k}": "nDCG@{k}", "ERR@{k}": "ERR@{k}"}):
        measure = module.parse_measure(call)
        found = [m.value for m in module.gdeval.evaluator([measure], data.qrels)._iter_calc(data.run)]
        theirs[name] = math.fsum(found) / len(found)
    agree(data, "gdeval", theirs, 1e-5)


# --- tools of learning: labelled lists, and nothing else

CANDIDATES = [lists(DEMO), lists(CORNERS)]
RELEVANT = [binary(DEMO), binary(CORNERS)]
LABELLED = list(zip(CANDIDATES, RELEVANT, strict=True))
labelled = pytest.mark.parametrize(("graded", "relevant"), LABELLED, ids=["demo", "corners"])


@labelled
def test_lightgbm(graded: Data, relevant: Data, need: Callable[[str], ModuleType]) -> None:
    need("lightgbm")
    for metric, name, data in (("ndcg", "nDCG", graded), ("map", "AP", relevant)):
        theirs = {f"{name}@{k}": said_by_lightgbm(queries_of(data), metric, k)[0] for k in CUTS}
        agree(data, "lightgbm", theirs, 1e-9)


@labelled
@pytest.mark.parametrize(("dialect", "minus"), [("xgboost", ""), ("xgboost-minus", "-")])
def test_xgboost(dialect: str, minus: str, graded: Data, relevant: Data, need: Callable[[str], ModuleType]) -> None:
    need("xgboost")
    for metric, name, data in (("ndcg", "nDCG", graded), ("map", "AP", relevant), ("pre", "P", relevant)):
        more: Any = {} if metric == "ndcg" else {"objective": "rank:map"}
        theirs = {
            f"{name}@{k}": said_by_xgboost(queries_of(data), f"{metric}@{k}{minus}", each=False, **more)[0]
            for k in CUTS
        }
        if metric != "pre":
            whole = metric + minus
            theirs[name] = said_by_xgboost(queries_of(data), whole, each=False, **more)[0]
        agree(data, dialect, theirs, 1e-6)


CATBOOST = {
    "MAP": ("AP", 0), "NDCG:top={k}": ("nDCG@{k}", 1), "NDCG": ("nDCG", 1), "DCG:top={k}": ("DCG@{k}", 1), "DCG": ("DCG", 1),
    "MAP:top={k}": ("AP@{k}", 0), "MRR:top={k}": ("RR@{k}", 0), "MRR": ("RR", 0), "PrecisionAt:top={k}": ("P@{k}", 0),
    "RecallAt:top={k}": ("R@{k}", 0), "QueryAUC:type=Classic": ("AUC", 0), "QueryAUC:type=Ranking": ("OPA", 1),
}  # fmt: skip


@labelled
def test_catboost(graded: Data, relevant: Data, need: Callable[[str], ModuleType]) -> None:
    need("catboost")
    for call, (ours_, takes_grades) in CATBOOST.items():
        data = graded if takes_grades else relevant
        theirs = {name: said_by_catboost(queries_of(data), said) for said, name in cut({call: ours_})}
        agree(data, "catboost", theirs, 1e-6)


SKLEARN = {"ndcg_score": ("nDCG", 1), "dcg_score": ("DCG", 1), "label_ranking_average_precision_score": ("LRAP", 0),
           "label_ranking_loss": ("LabelRankingLoss", 0), "coverage_error": ("CoverageError", 0)}  # fmt: skip


@labelled
@pytest.mark.filterwarnings("ignore")
def test_sklearn(graded: Data, relevant: Data, need: Callable[[str], ModuleType]) -> None:
    """A row a query, of lists of one length, so one call a query and their mean."""
    metrics = need("sklearn.metrics")
    for call, (name, takes_grades) in SKLEARN.items():
        data = graded if takes_grades else relevant
        theirs = {}
        for k in CUTS if takes_grades else ():
            said = [float(getattr(metrics, call)([labels], [scores], k=k)) for _, labels, scores in data.lists]
            theirs[f"{name}@{k}"] = math.fsum(said) / len(said)
        said = [float(getattr(metrics, call)([labels], [scores])) for _, labels, scores in data.lists]
        agree(data, "sklearn", {**theirs, name: math.fsum(said) / len(said)}, 1e-9)


TORCH = {"Precision": "P", "Recall": "R", "MAP": "AP", "MRR": "RR", "HitRate": "Success", "NormalizedDCG": "nDCG",
         "FallOut": "FallOut", "AUROC": "AUC"}  # fmt: skip
WHOLE = {"MAP", "MRR", "NormalizedDCG", "AUROC"}  # ours that need no cutoff


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize(
    ("dialect", "action"),
    [("torchmetrics", ""), *((f"torchmetrics-{action}", action) for action in ("neg", "pos", "skip"))],
    ids=["as it is", "neg", "pos", "skip"],
)
def test_torchmetrics(dialect: str, action: str, name: str, need: Callable[[str], ModuleType]) -> None:
    """With scores between 0 and 1, in which it takes all documents for what they are."""
    torch, retrieval = need("torch"), need("torchmetrics.retrieval")
    if TORCH[name] not in DIALECTS[dialect].metrics:
        assert (name, action) in {("FallOut", ""), ("FallOut", "pos"), ("FallOut", "skip")}
        return
    for whole in (DEMO, CORNERS):
        data = lists(whole) if name == "NormalizedDCG" else whole.untied.candidates.at(1)
        labels, scores, sizes = flat(queries_of(data))
        index = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
        theirs = {}
        cuts = CUTS if action in {"", "neg"} else (10,)
        for k in (None, *cuts) if name in WHOLE else cuts:
            more: dict[str, Any] = {"empty_target_action": action} if action else {}
            if k is not None:
                more["top_k"] = k
            made = getattr(retrieval, f"Retrieval{name}")(**more)
            value = made(torch.tensor(scores).float(), torch.tensor(labels).long(), indexes=index)
            theirs[TORCH[name] + (f"@{k}" if k else "")] = float(value)
        agree(data, dialect, theirs, 1e-6)
