"""ir_measures: each of its providers on real runs, query by query, and each of its spellings read here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from tests.conftest import import_foreign

import rankscope as rs
from rankscope.metrics.pairs import Accuracy

Table = dict[str, dict[str, float]]
Values = dict[str, float]

CLOSE = 1e-9


@pytest.fixture(scope="module")
def ir_measures(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("ir_measures")


# --- real runs: some queries, some documents, no two documents with one score

QUERIES = 30
DEPTH = 200


@pytest.fixture(scope="module")
def real(real_runs: Callable[[int, int], Any]) -> dict[str, tuple[dict[str, dict[str, int]], Table]]:
    """Judgments and rankings without ties."""
    return real_runs(QUERIES, DEPTH)  # type: ignore[no-any-return]


def theirs(provider: Any, measure: Any, qrels: Any, run: Table) -> Values:
    """What one provider gives for one measure: several at once are known to influence each other."""
    return {m.query_id: float(m.value) for m in provider.iter_calc([measure], qrels, run)}


def frames(qrels: Any, run: Table) -> tuple[Any, Any]:
    """As tables of plain objects: ranx refuses the text columns of pandas 3, which ir_measures would hand to it."""
    import pandas as pd

    def frame(data: Any, worth: str) -> Any:
        rows = [(query, doc, value) for query, docs in data.items() for doc, value in docs.items()]
        return pd.DataFrame(rows, columns=["query_id", "doc_id", worth]).astype({"query_id": object, "doc_id": object})

    return frame(qrels, "relevance"), frame(run, "score")


def by_query(metric: rs.Metric, qrels: Any, run: Table, **conventions: Any) -> Values:
    (one,) = rs.evaluate(qrels, run, [metric], **conventions).runs
    return dict(zip(one.query_ids, one.values[metric].tolist(), strict=True))


# what had no counterpart when this was written; what gets one is compared
WAITING = re.compile(r"SetAP.*|SetRelP|SetP\(relative=.*|NumRet\(rel=.*|Judged|α_n?DCG.*")


def read(spelling: str) -> rs.Metric:
    """Their spelling read by us; a skip where we have nothing of the kind yet."""
    try:
        return rs.parse(spelling)
    except rs.InputError as error:
        if WAITING.fullmatch(spelling):
            pytest.skip(f"rankscope has no counterpart yet: {error}")
        raise


# provider: their spelling, and ours where it is not the same
SAME = ""
ROOT = repr(math.sqrt(2))
PAIRS: dict[str, dict[str, str]] = {
    "pytrec_eval": {
        **dict.fromkeys(("P@10", "P(rel=2)@5", "P(judged_only=True)@10", "R@20", "R(rel=2)@20"), SAME),
        **dict.fromkeys(("R(rel=2,judged_only=True)@20", "RR", "MRR", "RR(rel=2,judged_only=True)"), SAME),
        **dict.fromkeys(("AP", "MAP@10", "AP(rel=2)@100", "AP(judged_only=True)", "infAP", "infAP(rel=2)"), SAME),
        **dict.fromkeys(("nDCG", "NDCG@10", "nDCG(judged_only=True)@10", "nDCG(gains={1:3,2:9})@10"), SAME),
        **dict.fromkeys(("Rprec", "Rprec(rel=2)", "Rprec(judged_only=True)", "Bpref", "BPref(rel=2)"), SAME),
        **dict.fromkeys(("Success@1", "Success(rel=2)@5", "Success(judged_only=True)@5"), SAME),
        **dict.fromkeys(("SetP", "SetP(rel=2,judged_only=True)", "SetR", "SetR(rel=2)"), SAME),
        **dict.fromkeys(("SetF", "SetF(rel=2)", "SetF(judged_only=True)"), SAME),
        **dict.fromkeys(("NumQ", "NumRet", "NumRel", "NumRet(rel=1)", "NumRet(rel=2)"), SAME),
        **dict.fromkeys(("SetAP", "SetAP(rel=2)", "SetRelP", "SetP(relative=True,rel=2)"), SAME),
        "SetAP(judged_only=True)": SAME,
        "nDCG(dcg='log2')@10": SAME,
        "NumRelRet": SAME,
        # their beta is trec_eval's x, which is beta squared
        "SetF(beta=2.0)": f"SetF(beta={ROOT})",
        "SetF(beta=0.25)": "SetF(beta=0.5)",
        # it is built on trec_eval 9, which rounds the number of documents for a recall in another way
        "IPrec@0.1": "IPrec(compat=9)@0.1",
        "IPrec(rel=2)@0.5": "IPrec(level=2,compat=9)@0.5",
        "IPrec(judged_only=True)@0.25": "IPrec(judged_only=True,compat=9)@0.25",
    },
    "cwl_eval": {
        **dict.fromkeys(("P@10", "P(rel=2)@20", "RR", "RR(rel=2)", "RBP(rel=1)", "RBP(p=0.95,rel=2)"), SAME),
        **dict.fromkeys(("BPM(max_rel=2)@20", "BPM(T=2.5,max_rel=2)@10", "BPM(T=1.0,max_rel=4)@30"), SAME),
        **dict.fromkeys(("BPM(min_rel=1,max_rel=2)@10", "SDCG(max_rel=2)@10", "SDCG(max_rel=4)@100"), SAME),
        **dict.fromkeys(("SDCG(dcg='log2',min_rel=1,max_rel=2)@10", "NERR8(max_rel=2)@10"), SAME),
        **dict.fromkeys(("NERR8(min_rel=1,max_rel=4)@5", "NERR9(max_rel=2)@10", "NERR9(max_rel=4)@1"), SAME),
        **dict.fromkeys(("NERR10(max_rel=2)", "NERR10(p=0.5,max_rel=4)", "NERR11(max_rel=2)"), SAME),
        **dict.fromkeys(("NERR11(T=3.0,max_rel=4)", "INSQ(max_rel=2)", "INSQ(T=0.5,max_rel=4)"), SAME),
        **dict.fromkeys(("INST(max_rel=2)", "INST(T=3.0,max_rel=4)", "INST(T=2.0,min_rel=1,max_rel=2)"), SAME),
        # as a metric of a reader, AP is divided by the relevant documents that were retrieved
        "AP": "AP(denominator='hits_at_k')",
    },
    "compat": dict.fromkeys(("Compat", "Compat(p=0.8)", "Compat(normalize=False)", "Compat(p=1.0)"), SAME),
    "judged": dict.fromkeys(("Judged@10", "Judged@1000", "Judged"), SAME),
    "msmarco": dict.fromkeys(("RR@10", "RR(rel=2)@10", "MRR@1", "RR"), SAME),
    "accuracy": {"Accuracy": SAME, "Accuracy(rel=2)": SAME, "Accuracy(cutoff=100,rel=2)": SAME},
    "ranx": {
        **dict.fromkeys(("P@10", "P(rel=2)@5", "SetP", "SetP(rel=2)", "RR", "RR(rel=2)", "Rprec"), SAME),
        **dict.fromkeys(("Rprec(rel=2)", "AP", "AP(rel=2)@20", "nDCG", "nDCG@10", "R@20", "SetR"), SAME),
        **dict.fromkeys(("nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@10", "SetR(rel=2)"), SAME),
        **dict.fromkeys(("NumRet(rel=1)", "NumRet(rel=2)", "Success@1", "Success(rel=2)@5"), SAME),
        "NumRelRet": SAME,
    },
    "gdeval": {
        "nDCG(dcg='exp-log2')@10": SAME,
        "nDCG(dcg='exp-log2')@20": SAME,
        # its scale ends at 4, whatever the grades
        "ERR@10": "ERR(max_grade=4)@10",
        "ERR@20": "ERR@20",
    },
}  # fmt: skip

# it takes the square of the depth; queries that are left out are scored as empty by both
SLOW = {("cwl_eval", "AP"): 5}
# gdeval prints five decimals
ROUNDED = {"gdeval": 0.5000001e-5}
CASES = [(provider, spelling) for provider, pairs in PAIRS.items() for spelling in pairs]


@pytest.fixture(scope="module")
def provider_of(ir_measures: ModuleType, need: Callable[[str], ModuleType]) -> Callable[[str], Any]:
    """A provider by its name, where what it calls is here."""
    packages = {"pytrec_eval": "pytrec_eval", "cwl_eval": "cwl", "ranx": "ranx"}

    def find(name: str) -> Any:
        need(packages.get(name, "ir_measures"))
        provider = getattr(ir_measures, name)
        if not provider.is_available():
            pytest.skip(f"ir_measures' provider {name} cannot run here: {provider.install_instructions()}")
        return provider

    return find


@pytest.mark.filterwarnings("ignore:.*unsafe cast")
@pytest.mark.parametrize(("provider", "spelling"), CASES)
def test_real_runs(
    provider: str, spelling: str, ir_measures: ModuleType, provider_of: Callable[[str], Any], real: Any
) -> None:
    metric = read(PAIRS[provider][spelling] or spelling)
    tool = provider_of(provider)
    measure = ir_measures.parse_measure(spelling)
    seen = set()
    for name, (qrels, whole) in real.items():
        run = dict(list(whole.items())[: SLOW.get((provider, spelling), QUERIES)])
        expected = (
            theirs(tool, measure, *frames(qrels, run)) if provider == "ranx" else theirs(tool, measure, qrels, run)
        )
        got = by_query(metric, qrels, run)
        if provider == "accuracy":  # which names no query that has no pair
            got = {query: value for query, value in got.items() if not math.isnan(value)}
        elif provider == "gdeval":  # which names no query without a relevant document
            got = {query: value for query, value in got.items() if max(qrels[query].values()) > 0}
        assert got == pytest.approx(expected, abs=ROUNDED.get(provider, CLOSE)), name
        assert len(expected) >= QUERIES - 10
        seen |= set(expected.values())
    assert len(seen) > 1 or spelling in {"NumQ", "NumRet"}


# --- ties: their providers do not agree among themselves


@pytest.fixture(scope="module")
def tied(real: Any) -> tuple[Any, Table]:
    """A real run whose scores are rounded to a few; judgments in the order of ids, on which Compat's ideal depends."""
    qrels, run = real["filter"]
    rounded = {q: {doc: score // 7 for doc, score in docs.items()} for q, docs in run.items()}
    return {q: dict(sorted(docs.items())) for q, docs in qrels.items()}, rounded


TIES = {
    "trec": {"pytrec_eval": ("AP", "nDCG@10", "RR"), "gdeval": ("ERR@10",)},
    "docid": {"judged": ("Judged@10",), "msmarco": ("RR@10", "RR(rel=2)@10"), "compat": ("Compat", "Compat(p=0.8)")},
    "input": {"cwl_eval": ("INST(max_rel=2)", "BPM(max_rel=2)@10", "RBP(rel=1)"), "accuracy": ("Accuracy@50",)},
}


@pytest.mark.parametrize(
    ("ties", "provider", "spelling"),
    [(t, p, spelling) for t, providers in TIES.items() for p, many in providers.items() for spelling in many],
)
def test_ties(
    ties: Any, provider: str, spelling: str, ir_measures: ModuleType, provider_of: Callable[[str], Any], tied: Any
) -> None:
    qrels, run = tied
    expected = theirs(provider_of(provider), ir_measures.parse_measure(spelling), qrels, run)
    close = ROUNDED.get(provider, CLOSE)
    assert by_query(rs.parse(spelling), qrels, run, ties=ties) == pytest.approx(expected, abs=close)
    others = [by_query(rs.parse(spelling), qrels, run, ties=other) for other in TIES if other != ties]
    assert all(other != pytest.approx(expected, abs=close) for other in others)


# --- measures made at run time, and the means


def test_a_measure_of_ones_own(ir_measures: ModuleType, provider_of: Callable[[str], Any], real: Any) -> None:
    """Precision written by hand in theirs, ours as it is."""

    def share(qrels: Any, run: Any) -> float:
        relevant = set(qrels[qrels["relevance"] >= 2]["doc_id"])
        return float(run["doc_id"].head(7).isin(relevant).sum()) / 7

    measure = ir_measures.define_byquery(share, name="share")
    for qrels, run in real.values():
        expected = theirs(provider_of("runtime"), measure, qrels, run)
        assert by_query(rs.P(level=2) @ 7, qrels, run) == pytest.approx(expected, abs=CLOSE)


MEANS = ("AP", "nDCG@10", "RR", "P(rel=2)@10", "RBP(rel=1)", "INST(max_rel=2)", "Compat", "NumRelRet", "NumQ")


@pytest.mark.parametrize("name", ["filter", "doc2vec", "aplrob"])
def test_means(name: str, ir_measures: ModuleType, real: Any) -> None:
    qrels, run = real[name]
    measures = [ir_measures.parse_measure(spelling) for spelling in MEANS]
    expected = ir_measures.calc_aggregate(measures, qrels, run)
    ours = rs.evaluate(qrels, run, MEANS)
    assert {m: ours[m] for m in MEANS} == pytest.approx(
        {s: expected[m] for s, m in zip(MEANS, measures, strict=True)}, abs=CLOSE
    )


def test_a_query_that_a_run_lacks_counts_as_empty(ir_measures: ModuleType, real: Any) -> None:
    qrels, run = real["filter"]
    part = dict(list(run.items())[: QUERIES // 2])
    for spelling in ("AP", "nDCG@10", "RBP(rel=1)", "INST(max_rel=2)", "Compat"):
        measure = ir_measures.parse_measure(spelling)
        expected = ir_measures.calc_aggregate([measure], qrels, part)[measure]
        assert rs.evaluate(qrels, part, [spelling])[spelling] == pytest.approx(expected, abs=CLOSE)


# --- their defects: their number and ours side by side


SMALL: tuple[dict[str, dict[str, int]], Table] = (
    {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1}},
    {"q1": {"a": 2.0, "b": 1.0}},
)


def test_they_lose_queries_from_counts(ir_measures: ModuleType) -> None:
    """Two judged queries, one of them in the run, and three relevant documents in all."""
    for spelling, said, true in (("NumQ", 1, 2), ("NumRel", 1, 3)):
        measure = ir_measures.parse_measure(spelling)
        assert ir_measures.calc_aggregate([measure], *SMALL)[measure] == said
        assert rs.evaluate(*SMALL, [spelling])[spelling] == true


def test_their_accuracy_fails_where_nothing_but_relevant_documents_was_retrieved(ir_measures: ModuleType) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    with pytest.raises(ZeroDivisionError):
        theirs(ir_measures.accuracy, ir_measures.Accuracy, qrels, run)
    assert math.isnan(by_query(Accuracy(), qrels, run)["q"])


def test_their_beta_is_beta_squared(ir_measures: ModuleType) -> None:
    """P = 1/3 and R = 1: F with beta 2 is 5PR / (4P + R) = 5/7; they say 3PR / (2P + R) = 3/5."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    measure = ir_measures.parse_measure("SetF(beta=2)")
    assert theirs(ir_measures.pytrec_eval, measure, qrels, run)["q"] == pytest.approx(3 / 5)
    assert rs.evaluate(qrels, run, ["SetF(beta=2)"])["SetF(beta=2)"] == pytest.approx(5 / 7)


def test_their_compat_takes_a_document_that_was_not_retrieved_to_score_zero(ir_measures: ModuleType) -> None:
    """So their number changes when the same ranking is scored below zero; ours does not."""
    qrels = {"q": {"a": 1, "b": 1}}
    one, below = ({"q": {"a": score, "x": score - 1.0}} for score in (5.0, -5.0))
    compat = ir_measures.Compat(p=0.5)
    assert theirs(ir_measures.compat, compat, qrels, one) != theirs(ir_measures.compat, compat, qrels, below)
    ours = rs.parse("Compat(p=0.5)")
    assert by_query(ours, qrels, below) == by_query(ours, qrels, one)
    assert by_query(ours, qrels, one) == pytest.approx(theirs(ir_measures.compat, compat, qrels, one))


def test_their_gains_leak_into_the_next_measure(ir_measures: ModuleType, real: Any) -> None:
    """nDCG asked for together with nDCG of other gains is computed with those gains."""
    qrels, run = real["filter"]
    plain, other = (ir_measures.parse_measure(text) for text in ("nDCG@5", "nDCG(gains={1:3,2:9})@10"))
    alone = theirs(ir_measures.pytrec_eval, plain, qrels, run)
    both = {
        m.query_id: m.value for m in ir_measures.pytrec_eval.iter_calc([other, plain], qrels, run) if m.measure == plain
    }
    assert both != pytest.approx(alone)
    assert by_query(rs.nDCG @ 5, qrels, run) == pytest.approx(alone, abs=CLOSE)


# --- spellings


# without a cutoff, which ir_measures lets be written, its provider of these refuses them
CUT = {"ERR_IA", "nERR_IA", "alpha_DCG", "α_DCG", "alpha_nDCG", "α_nDCG", "P_IA", "StRecall"}

VALUES = {int: (2,), float: (0.5,), bool: (True, False), dict: ({1: 2, 2: 5},)}
NEEDED = {int: 5, float: 0.5}


def spellings() -> Iterator[str]:
    """Every measure that is registered, with every parameter, as ir_measures itself writes it and by its other names."""
    try:
        base = import_foreign("ir_measures.measures.base")
    except ImportError:
        return
    for name, measure in sorted(base.registry.items()):
        known = measure.SUPPORTED_PARAMS
        needed = {
            key: NEEDED[info.dtype] for key, info in known.items() if info.required or (key == "cutoff" and name in CUT)
        }
        made = [measure(**needed)]
        for key, info in known.items():
            made += [measure(**{**needed, key: value}) for value in VALUES.get(info.dtype, info.choices)]
        for one in made:
            said = str(one)
            yield said
            yield name if name in {"SetRelP", "NumRelRet"} else name + said.removeprefix(one.NAME)


@pytest.mark.parametrize(
    "spelling", sorted(set(spellings())), ids=lambda spelling: spelling.replace("α", "Greek alpha")
)
def test_spellings(spelling: str) -> None:
    metric = read(spelling)
    assert rs.parse(str(metric)) == metric


def test_there_are_many_spellings(ir_measures: ModuleType) -> None:
    assert len(set(spellings())) > 120
