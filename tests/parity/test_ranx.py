"""ranx: its whole list of metrics on real runs, with cutoffs and levels, query by query; and its defects."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.metrics import parse_many

Table = dict[str, dict[str, float]]

CLOSE = 1e-9
QUERIES = 30
DEPTH = 150

# it compiles itself on the way, and says so
pytestmark = pytest.mark.filterwarnings("ignore:.*unsafe cast")


@pytest.fixture(scope="module")
def ranx(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("ranx")


@pytest.fixture(scope="module")
def real(real_runs: Callable[[int, int], Any]) -> dict[str, tuple[dict[str, dict[str, int]], Table]]:
    """Judgments and rankings without ties, which the other tool orders in no order that can be told."""
    # negative grades are judged non-relevant to it, and pooled to us: see below
    return {
        name: ({q: {doc: max(grade, 0) for doc, grade in docs.items()} for q, docs in qrels.items()}, run)
        for name, (qrels, run) in real_runs(QUERIES, DEPTH).items()
    }


def theirs(ranx: ModuleType, name: str, qrels: Any, run: Any) -> dict[str, float]:
    given = ranx.Run(run)
    ranx.evaluate(ranx.Qrels(qrels), given, name)
    return {query: float(value) for query, value in given.scores[name].items()}


def ours(metric: str, qrels: Any, run: Any) -> dict[str, float]:
    parsed = rs.parse(metric)
    (one,) = rs.evaluate(qrels, run, [parsed]).runs
    return dict(zip(one.query_ids, one.values[parsed].tolist(), strict=True))


# their name, ours, and what a grade below the level is to us: their -l2 makes grade 1 worth nothing, gain and all
PAIRS = {
    "hits": "NumRelRet",
    "hits-l2": "NumRelRet(level=2)",
    "hits@10": "HitCount@10",
    "hits@10-l2": "HitCount(level=2)@10",
    "hit_rate": f"Success@{DEPTH}",
    "hit_rate@5": "Success@5",
    "hit_rate@5-l2": "Success(level=2)@5",
    "precision": "SetP",
    "precision-l2": "SetP(level=2)",
    "precision@10": "P@10",
    "precision@200": "P@200",
    "precision@10-l2": "P(level=2)@10",
    "recall": "SetR",
    "recall-l2": "SetR(level=2)",
    "recall@20": "R@20",
    "recall@20-l2": "R(level=2)@20",
    "f1": "SetF",
    "f1-l2": "SetF(level=2)",
    "f1@10": "F@10",
    "f1@10-l2": "F(level=2)@10",
    "r-precision": "Rprec",
    "r-precision-l2": "Rprec(level=2)",
    "bpref": "Bpref",
    "mrr": "RR",
    "mrr-l2": "RR(level=2)",
    "mrr@3": "RR@3",
    "mrr@3-l2": "RR(level=2)@3",
    "map": "AP",
    "map-l2": "AP(level=2)",
    "map@20": "AP@20",
    "map@20-l2": "AP(level=2)@20",
    "dcg": "DCG",
    "dcg-l2": "DCG(gain={1: 0})",
    "dcg@10": "DCG@10",
    "dcg_burges": "DCG(gain=exponential)",
    "dcg_burges@10": "DCG(gain=exponential)@10",
    "dcg_burges@10-l2": "DCG(gain={1: 0, 2: 3})@10",
    "ndcg": "nDCG",
    "ndcg-l2": "nDCG(gain={1: 0})",
    "ndcg@10": "nDCG@10",
    "ndcg@10-l2": "nDCG(gain={1: 0})@10",
    "ndcg_burges": "nDCG(gain=exponential)",
    "ndcg_burges@10": "nDCG(gain=exponential)@10",
    "ndcg_burges@10-l2": "nDCG(gain={1: 0, 2: 3})@10",
}


@pytest.mark.parametrize("name", PAIRS)
def test_real_runs(name: str, ranx: ModuleType, real: Any) -> None:
    seen = set()
    for data in real.values():
        expected = theirs(ranx, name, *data)
        assert ours(PAIRS[name], *data) == pytest.approx(expected, abs=CLOSE)
        assert len(expected) == QUERIES
        seen |= set(expected.values())
    assert len(seen) > 1 or name == "hit_rate"


def test_every_metric_of_theirs_is_compared(ranx: ModuleType) -> None:
    from ranx.metrics import metric_switch

    names = {name.partition("@")[0].partition("-l")[0] for name in PAIRS} | {"rbp"}
    assert len({metric_switch(name) for name in names}) == len(names) == 14
    with pytest.raises(ValueError, match="not supported"):
        metric_switch("err")


# --- rank-biased precision is not divided by the scale


@pytest.mark.parametrize(("name", "p"), [("rbp.8", 0.8), ("rbp.95", 0.95), ("rbp.05", 0.05)])
def test_rbp_is_of_grades_as_they_are(name: str, p: float, ranx: ModuleType, real: Any) -> None:
    """On a scale up to 2 theirs goes up to 2, so it is twice ours with max_grade=2."""
    for data in real.values():
        got = ours(f"RBP(p={p}, max_grade=2)", *data)
        expected = theirs(ranx, name, *data)
        assert {query: 2 * value for query, value in got.items()} == pytest.approx(expected, abs=CLOSE)
        relevant = ours(f"RBP(p={p}, level=2)", *data)
        at_two = theirs(ranx, name + "-l2", *data)
        assert {query: 2 * value for query, value in relevant.items()} == pytest.approx(at_two, abs=CLOSE)


def test_rbp_of_theirs_goes_beyond_one(ranx: ModuleType) -> None:
    """Two documents of grade 3, p = 0.5: 3 · (1/2 + 1/4)."""
    qrels, run = {"q": {"a": 3, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}}
    assert theirs(ranx, "rbp.5", qrels, run)["q"] == pytest.approx(3 * (1 / 2 + 1 / 4))
    assert ours("RBP(p=0.5)", qrels, run)["q"] == pytest.approx(1 / 2 + 1 / 4)


# --- defects: their number and ours side by side


def test_bpref_of_theirs_is_no_number_without_a_judged_non_relevant_document(ranx: ModuleType) -> None:
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    with np.errstate(all="ignore"):
        assert math.isnan(theirs(ranx, "bpref", qrels, run)["q"])
    assert ours("Bpref", qrels, run)["q"] == 1


def test_bpref_of_theirs_counts_what_nobody_graded_as_non_relevant(ranx: ModuleType) -> None:
    """A document that was pooled and left without a grade stands above the only relevant one."""
    qrels, run = {"q": {"x": -1, "a": 1, "n": 0}}, {"q": {"x": 3.0, "a": 2.0, "n": 1.0}}
    assert theirs(ranx, "bpref", qrels, run)["q"] == 0
    assert ours("Bpref", qrels, run)["q"] == 1


def test_order_of_ties_in_theirs_is_none(ranx: ModuleType) -> None:
    """The same run, its documents named in another order: another number for them, the same one for us."""
    docs = [f"d{i:03d}" for i in range(100)]
    qrels = {"q": dict.fromkeys(docs[::7], 1)}
    runs = [{"q": dict.fromkeys(order, 1.0)} for order in (docs, docs[::-1], docs[1::2] + docs[::2])]
    assert len({theirs(ranx, "map", qrels, run)["q"] for run in runs}) > 1
    assert len({ours("AP", qrels, run)["q"] for run in runs}) == 1


def test_theirs_cuts_off_the_fraction_of_a_grade(ranx: ModuleType) -> None:
    qrels, run = {"q": {"a": 0.9, "b": 1.0}}, {"q": {"a": 2.0, "b": 1.0}}
    assert theirs(ranx, "dcg", qrels, run)["q"] == pytest.approx(1 / math.log2(3))
    assert ours("DCG", qrels, run)["q"] == pytest.approx(0.9 + 1 / math.log2(3))


# --- their spellings: the whole list is read, but for what has another meaning here, or none that can be written

TREC_HAS = {"recall"}  # trec_eval's, too, which means nine cutoffs
NOT_READ = {
    "hit_rate": "Success needs cutoff: write Success@10",
    "dcg_burges@10-l2": r"give the gain of each grade, 0 below 2: DCG\(gain=\{1: 0, 2: 3, 3: 7, 4: 15\}\)@10",
    "ndcg_burges@10-l2": r"give the gain of each grade, 0 below 2: nDCG\(gain=\{1: 0, 2: 3, 3: 7, 4: 15\}\)@10",
    "err-l2": "ERR has no lowest relevant grade, leave out -l2",
    "precisoin-l2": "no metric is called precisoin",
    "bpref@10-l2": "Bpref has no cutoff, write it without @10",
    "P(rel=2)@5-l3": "the level is given twice",
    "rbp.x": "write it like rbp.p=0.5",
}


@pytest.mark.parametrize("spelling", [name for name in PAIRS if name not in {*TREC_HAS, *NOT_READ}])
def test_spellings(spelling: str, ranx: ModuleType, real: Any) -> None:
    """Read as it stands, a name gives the values that ranx gives, and its own value as a key."""
    for data in real.values():
        assert ours(spelling, *data) == pytest.approx(theirs(ranx, spelling, *data), abs=CLOSE)
    qrels, run = data
    scores = rs.evaluate(qrels, run, [spelling])
    assert scores[spelling] == scores[PAIRS[spelling]]
    assert scores.board[0].spelling == spelling


@pytest.mark.parametrize("level", ["", "-l1", "-l2"])
@pytest.mark.parametrize("p", ["95", "8", "05"])
def test_spellings_of_rbp(p: str, level: str, ranx: ModuleType, real: Any) -> None:
    """With grades of relevant or not both are the same."""
    for qrels, run in real.values():
        flat = {
            q: {doc: grade if level == "-l2" else min(grade, 1) for doc, grade in docs.items()}
            for q, docs in qrels.items()
        }
        scale = 2 if level == "-l2" else 1  # theirs is not divided by the scale
        got = {query: scale * value for query, value in ours(f"rbp.{p}{level}", flat, run).items()}
        assert got == pytest.approx(theirs(ranx, f"rbp.{p}{level}", flat, run), abs=CLOSE)


@pytest.mark.parametrize("spelling", NOT_READ, ids=lambda name: name.replace("(", " ").replace(")", " "))
def test_names_that_are_refused(spelling: str) -> None:
    with pytest.raises(rs.InputError, match=NOT_READ[spelling]):
        rs.parse(spelling)


def test_lists_of_their_names() -> None:
    several = [str(metric) for _, metric in parse_many("map@5,10-l2,mrr ndcg@10-l2 rbp.95")]
    assert several == ["AP(level=2)@5", "AP(level=2)@10", "RR", "nDCG(gain={1: 0})@10", "RBP(p=0.95)"]
    assert rs.parse("recall-l2") == rs.SetR(level=2)
    assert rs.parse("P@5-l2") == rs.P(level=2) @ 5
