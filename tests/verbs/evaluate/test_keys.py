"""Numbers by any name of their metric, values of queries, and metrics as other tools hold and write them."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import InputError

QRELS = {f"q{n}": {"a": 2, "b": 1} for n in range(8)}
GOOD = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in QRELS}
POOR = {query: {"c": 3.0, "b": 2.0, "a": 1.0} for query in QRELS} | {"q7": {"a": 1.0}}


@pytest.mark.parametrize("spelling", ["map", "AP", "ap", "AveragePrecision", rs.AP, rs.AP()], ids=str)
def test_a_comparison_and_scores_by_any_spelling(spelling: Any) -> None:
    if spelling == "AveragePrecision":
        spelling = "MAP"
    found = rs.compare(QRELS, {"KU_run1": GOOD, "KU_run2": POOR}, ["P_5", "map"])
    assert found["KU_run2", spelling].metric == "AP"
    assert rs.evaluate(QRELS, {"KU_run1": GOOD, "KU_run2": POOR}, ["P_5", "map"])["KU_run1", spelling] == 1.0


def test_a_comparison_without_that_metric() -> None:
    found = rs.compare(QRELS, {"one": GOOD, "two": POOR}, "map")
    for key in ("P_5", "no metric"):
        with pytest.raises(KeyError, match="was not compared: there are AP"):
            found["two", key]


def test_the_value_of_a_query() -> None:
    scores = rs.evaluate(QRELS, {"one": GOOD, "two": POOR}, ["P_5", "recip_rank"])
    assert scores["two", "q1", "P@5"] == scores["two", "q1", "P_5"] == 2 / 5
    assert scores["two", "q7", "RR"] == 1.0
    for key, said in ((("two", "q9", "RR"), "query 'q9' is not scored"), (("six", "q1", "RR"), "no run is called 'six'"),
                      (("two", "q1", "AP"), "AP was not evaluated")):  # fmt: skip
        with pytest.raises(KeyError, match=said):
            scores[key]


def test_values_as_pytrec_eval_gives_them(need: Callable[[str], ModuleType]) -> None:
    pytrec_eval = need("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, {"map", "P_5", "ndcg_cut_10"}).evaluate(POOR)
    ours = rs.evaluate(QRELS, POOR, ["map", "P_5", "ndcg_cut_10"]).to_dict()
    assert ours.keys() == theirs.keys()
    for query, values in theirs.items():
        assert ours[query] == pytest.approx({name: values[name] for name in ours[query]}, abs=1e-12)
    several = rs.evaluate(QRELS, {"good": GOOD, "poor": POOR}, ["map", "P_5", "ndcg_cut_10"])
    assert several.to_dict()["poor"] == several.to_dict("poor") == ours
    assert math.isnan(rs.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "GAUC").to_dict()["q"]["GAUC"])
    with pytest.raises(KeyError, match="no run is called 'bad': there are good, poor"):
        several.to_dict("bad")


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        ("nDCG@10,AP", "nDCG@10 AP"),
        ("nDCG@10, AP", "nDCG@10 AP"),
        ("nDCG@5,10,AP", "nDCG@5 nDCG@10 AP"),
        ("nDCG@5, 10, AP , P@5", "nDCG@5 nDCG@10 AP P@5"),
        ("P.5,10,map", "P@5 P@10 AP"),
        ("map,ndcg_cut.5,10", "AP nDCG@5 nDCG@10"),
        ("nDCG(gain='exponential', ideal='judged')@5,AP", "nDCG(gain='exponential')@5 AP"),
        ("AP,P(level=2,)@5", "AP P(level=2)@5"),
        ("nDCG@10,", "nDCG@10"),
    ],
)
def test_lists_with_commas(text: str, metrics: str) -> None:
    wanted = [str(rs.parse(one)) for one in metrics.split(" ")]
    assert list(map(str, rs.evaluate(QRELS, GOOD, text).metrics)) == wanted
    assert list(map(str, rs.evaluate(QRELS, GOOD, [text]).metrics)) == wanted


def test_a_comma_that_parts_nothing_is_told() -> None:
    with pytest.raises(InputError, match=r"no metric is called nDGC, did you mean nDCG"):
        rs.evaluate(QRELS, GOOD, "AP,nDGC@10")


def test_parameters_by_their_other_names() -> None:
    assert rs.P(rel=2) @ 5 == rs.P(level=2) @ 5  # type: ignore[call-arg]
    assert rs.nDCG(dcg="exp-log2") @ 10 == rs.nDCG(gain="exponential") @ 10  # type: ignore[call-arg]
    assert rs.RBP(max_rel=2, p=0.5) == rs.RBP(max_grade=2, p=0.5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="got 'level' twice, once as 'rel'"):
        rs.P(level=2, rel=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'lvl'"):
        rs.P(lvl=2)  # type: ignore[call-arg]


def test_measures_of_ir_measures(need: Callable[[str], ModuleType]) -> None:
    im = need("ir_measures")
    measures = [im.nDCG @ 10, im.P(rel=2) @ 5, im.AP, im.IPrec @ 0.1, im.NumRet(rel=1)]
    scores = rs.evaluate(QRELS, POOR, measures)
    rows = [im.ScoredDoc(q, d, s) for q, docs in POOR.items() for d, s in docs.items()]
    grades = [im.Qrel(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()]
    theirs = im.calc_aggregate(measures, grades, rows)
    assert [scores[m] for m in measures] == pytest.approx([theirs[m] for m in measures], abs=1e-9)
    assert rs.evaluate(QRELS, POOR, im.AP)["AP"] == scores[im.AP]
    assert rs.compare(QRELS, {"one": GOOD, "two": POOR}, measures, primary=im.AP)["two", im.AP].metric == "AP"
