"""Which queries count, what they count for, and how much: every policy by arithmetic."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError

# q1 finds its document, q2 misses it, q3 has none, q4 is not in the run, q5 is not judged
QRELS: dict[str, dict[str, int]] = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {"a": 1}}
RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"x": 1.0, "y": 0.5}, "q3": {"a": 1.0}, "q5": {"a": 1.0}}


def value(metric: str = "RR", **policies: Any) -> float:
    return float(rs.evaluate(QRELS, RUN, metric, **policies)[metric])


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        ("judged", 0.5 / 4),
        ("run", 0.5 / 4),
        ("both", 0.5 / 3),
        ("either", 0.5 / 5),
        (["q1", "q2"], 0.5 / 2),
        (("q4", "q1"), 0.5 / 2),
        ({"q3"}, 0.0),
    ],
)
def test_populations(queries: Any, expected: float) -> None:
    assert value(queries=queries) == expected


@pytest.mark.parametrize(
    ("no_relevant", "expected"), [("metric", 0.5 / 4), (0, 0.5 / 4), (1, 1.5 / 4), ("skip", 0.5 / 3)]
)
def test_a_query_without_relevant_documents(no_relevant: Any, expected: float) -> None:
    assert value(no_relevant=no_relevant) == expected
    assert value("nDCG@10", no_relevant=no_relevant) == pytest.approx(
        (1 / math.log2(3) + (1 if no_relevant == 1 else 0)) / (3 if no_relevant == "skip" else 4)
    )


def test_counts_are_not_touched_by_it() -> None:
    assert value("NumRet", no_relevant=1) == value("NumRet") == 5
    assert value("NumQ", no_relevant="skip") == 4
    assert value("Judged@1", no_relevant=1) == value("Judged@1")


def test_nothing_found() -> None:
    assert value(nothing_found="skip") == 0.5
    run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"x": 2.0, "a": 1.0}, "q3": {"y": 1.0}, "q4": {"a": 1.0}}
    assert rs.evaluate(QRELS, run, "P@1", nothing_found="skip")["P@1"] == 1.0  # q4 alone has one at rank 1
    assert rs.evaluate(QRELS, run, "P@1", nothing_found="skip_list")["P@1"] == 1 / 3
    found = rs.evaluate(QRELS, run, "P@1", nothing_found="skip_list").board[0]
    assert (found.queries, found.undefined) == (3, 1)


def test_what_is_left_out_is_counted_and_told() -> None:
    scores = rs.evaluate(QRELS, RUN, "RR", no_relevant="skip")
    assert (scores.board[0].queries, scores.board[0].undefined) == (3, 1)
    assert scores.conventions["no_relevant"] == "skip"
    assert scores.per_query.filter(query_id="q3")["value"].to_list() == [None]


def test_weights() -> None:
    weights = {"q1": 3, "q2": 1, "q3": 0, "q4": 2}
    assert value(weights=weights) == 0.5 * 3 / 6
    assert value("NumRet", weights=weights) == value("NumRet")
    assert value("GMAP", weights={"q1": 1, "q2": 0, "q3": 0, "q4": 0}) == pytest.approx(0.5)
    assert rs.evaluate(QRELS, RUN, "RR", weights=weights).conventions["weights"] == "weights"


def test_weights_from_a_file_and_a_frame(tmp_path: Path) -> None:
    import polars as pl

    for name, text in {
        "w.csv": "query,weight\nq1,3\nq2,1\nq3,0\nq4,2\n",
        "w.txt": "# traffic\nq1 3\n\nq2\t1\nq3 0\nq4 2\n",
    }.items():
        (tmp_path / name).write_text(text)
        assert value(weights=tmp_path / name) == 0.5 * 3 / 6
    frame = pl.DataFrame({"query_id": ["q1", "q2", "q3", "q4"], "weight": [3, 1, 0, 2]})
    assert value(weights=frame) == 0.5 * 3 / 6


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"q1": 1}, "query 'q2' has no weight"),
        ({"q1": -1, "q2": 1, "q3": 1, "q4": 1}, "weighs -1"),
        ({"q1": math.nan}, "weighs nan"),
        ({"q1": "much"}, "weighs 'much'"),
        ({"q1": 0, "q2": 0, "q3": 0, "q4": 0}, "no query weighs anything"),
        ("no/such/file", "no such file"),
        (3.0, "cannot be read"),
    ],
)
def test_weights_that_are_none(weights: Any, said: str) -> None:
    with pytest.raises((InputError, DataError), match=said):
        value(weights=weights)


def test_micro_means_divide_sums_by_sums() -> None:
    qrels = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"x": 1.0}}
    scores = rs.evaluate(qrels, run, ["R@2", "P@2", "AP", "nDCG@2"], mean="micro")
    assert scores["R@2"] == 2 / 4
    assert scores["P@2"] == 2 / 4
    assert scores["AP"] == (1 + 1) / 4
    ideal = 1 + 1 / math.log2(3)
    assert scores["nDCG@2"] == pytest.approx(ideal / (ideal + 1))
    with pytest.raises(InputError, match="GAUC has a mean of its own"):
        rs.evaluate(qrels, run, ["GAUC"], mean="micro")


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"queries": "all"}, "queries is one of 'judged', 'run', 'both', 'either'"),
        ({"queries": []}, "empty list"),
        ({"queries": "list"}, "or a list of query ids"),
        ({"queries": ["q9"]}, "'q9' is not judged"),
        ({"queries": 3}, "or a list of query ids"),
        ({"no_relevant": 2}, "no_relevant is one of"),
        ({"no_relevant": True}, "no_relevant is one of"),
        ({"nothing_found": 0}, "nothing_found is one of"),
        ({"mean": "harmonic"}, "mean is one of"),
        ({"ties": "median"}, "ties is one of"),
        ({"seed": -1}, "seed is a whole number"),
        ({"dialect": "lightgmb"}, "did you mean lightgbm"),
        ({"dialect": "mlflow", "metrics": "Bpref"}, "has no Bpref: it has"),
        ({"dialect": "mlflow", "ties": "docid"}, "has conventions of its own: leave ties out"),
    ],
)
def test_policies_that_are_none(policy: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, DataError), match=said):
        rs.evaluate(QRELS, RUN, policy.pop("metrics", "nDCG@10"), **policy)


def test_several_grades_where_one_is_wanted() -> None:
    qrels = {"q1": {"a": {"s1": 1, "s2": 0}}}
    with pytest.raises(InputError, match=r"has several grades .* and nDCG@10 takes one: only .*alpha_nDCG"):
        rs.evaluate(qrels, {"q1": {"a": 1.0}}, ["alpha_nDCG@10", "nDCG@10"])
    assert rs.evaluate(qrels, {"q1": {"a": 1.0}}, "nDCG@10", duplicates="best")["nDCG@10"] == 1.0
    assert rs.evaluate(qrels, {"q1": {"a": 1.0}}, ["alpha_nDCG@10", "StRecall@1"])["StRecall@1"] == 1.0


def test_subtopics_that_are_missing() -> None:
    with pytest.raises(InputError, match="names no subtopics"):
        rs.evaluate(QRELS, RUN, "alpha_nDCG@10")


def test_relstring_is_a_fact_beside_the_metrics() -> None:
    qrels = {"q1": {"a": 1, "b": 0, "c": -1, "d": 12}}
    run = {"q1": {doc: float(-i) for i, doc in enumerate("axbcd")}}
    scores = rs.evaluate(qrels, run, ["P@5", "relstring.4", "relstring"])
    assert scores.runs[0].facts == {"relstring_4": ["1-0."], "relstring": ["1-0.>"]}
    assert [str(metric) for metric in scores.metrics] == ["P@5"]
    with pytest.raises(InputError, match="also name one, like P@10"):
        rs.evaluate(qrels, run, "relstring")


def test_fractions_where_a_tool_takes_whole_grades() -> None:
    qrels = {"q1": {"a": 0.5, "b": 2}}
    with pytest.raises(InputError, match=r"a of query q1 is graded 0.5, and dialect 'lightgbm' takes whole grades"):
        rs.evaluate(qrels, {"q1": {"a": 1.0}}, "nDCG@10", dialect="lightgbm")
    with pytest.raises(InputError, match="relstring takes whole grades"):
        rs.evaluate(qrels, {"q1": {"a": 1.0}}, ["P@5", "relstring"])
    names = {tool.dialect for tool in rs.reconcile(qrels, {"q1": {"a": 1.0}}, "nDCG@10").tools}
    assert "lightgbm" not in names
    assert "sklearn" in names


def test_weights_of_queries_that_are_not_scored_are_told() -> None:
    weights = {"q1": 1, "q2": 1, "q3": 1, "q4": 1, "other": 5}
    assert any("1 weight is of a query" in note for note in rs.evaluate(QRELS, RUN, "RR", weights=weights).notes)


def test_a_depth_cuts_through_tied_documents() -> None:
    """Of two tied documents one is kept: each in half of the orders, for sets and counts, too."""
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 2.0}}
    names = ["SetP", "SetR", "SetF", "NumRelRet", "P@1", "AP"]
    found = {ties: rs.evaluate(qrels, run, names, ties=ties, depth=1) for ties in ("expected", "best", "worst")}
    for name in names:
        assert (found["worst"][name], found["expected"][name], found["best"][name]) == (0.0, 0.5, 1.0), name


def test_a_dialect_says_which_cutoff_it_needs() -> None:
    with pytest.raises(InputError, match="its AP needs a cutoff, write AP@10"):
        rs.evaluate(QRELS, RUN, "AP", dialect="replay")
    assert rs.evaluate(QRELS, RUN, "AP@2", dialect="RePlay").conventions["dialect"] == "replay"
    with pytest.raises(InputError, match="is the name of one tool"):
        rs.evaluate(QRELS, RUN, "AP@2", dialect=["replay"])  # type: ignore[call-overload]


def test_subtopics_without_any_grade() -> None:
    with pytest.raises(InputError, match="names no subtopics"):
        rs.evaluate({"q": {"a": {}}}, {"q": {"a": 1.0}}, "StRecall@2")


def test_a_list_of_queries_names_judged_ones() -> None:
    with pytest.raises(
        DataError, match=r"queries: 'q9' is not judged \(1 of 2 of the list are not\); the list holds ids of judged"
    ):
        value(queries=["q1", "q9"])
    with pytest.raises(DataError, match=r"queries: 'q8' is not judged \(2 of 3"):
        value(queries=["q9", "q1", "q8"])
    assert value(queries=(q for q in ["q1", "q2"])) == value(queries={"q1", "q2"}) == 0.5 / 2
    with pytest.raises(InputError, match="queries is one of 'judged', 'run', 'both', 'either', or a list of query ids"):
        value(queries={"q1": 1})


def test_a_micro_mean_is_of_means_and_sums_alone() -> None:
    assert value("P@2", mean="micro") == value("P@2")
    for metric in ("NumRelRet", "GMAP"):
        if rs.parse(metric).aggregate not in {"mean", "sum"}:
            with pytest.raises(InputError, match=f"mean='micro': {metric} has a mean of its own"):
                value(metric, mean="micro")
        else:
            assert value(metric, mean="micro") == value(metric)


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ("judged", "4 judged queries"), ("run", "4 queries of the run"), ("both", "3 queries judged and in every run"),
        ("either", "5 queries judged or in the run"), (["q1", "q2"], "2 queries of the list"),
    ],
    ids=["judged", "run", "both", "either", "a list"],
)  # fmt: skip
def test_the_queries_in_words(queries: Any, said: str) -> None:
    assert said in rs.evaluate(QRELS, RUN, "RR", queries=queries).to_text()


def test_a_run_that_is_not_there_is_told() -> None:
    with pytest.raises(KeyError, match="no run is called 'zz': there are "):
        rs.evaluate(QRELS, RUN, "RR")["zz", "RR"]


@pytest.mark.parametrize(("bad", "what"), [(None, "None"), (math.nan, "NaN")], ids=["None", "NaN"])
def test_a_score_that_is_missing(bad: Any, what: str) -> None:
    with pytest.raises(
        InputError, match=f"query q1, document a: score is {what}; give it a number or leave the document out"
    ):
        rs.evaluate(QRELS, {"q1": {"a": bad}}, "RR")
