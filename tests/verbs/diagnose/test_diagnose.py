"""What a run loses splits into what was never retrieved and what was ordered badly; the ceiling is what no order beats."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope import words
from rankscope.analysis.ceilings import ceilings, why_not
from rankscope.blocks import Table
from rankscope.engines.base import SEVERAL
from rankscope.errors import DataError, InputError
from rankscope.metrics import CATALOGUE, Metric
from rankscope.testing.cases import Case, accepts, made_up, top_grade, values
from rankscope.testing.cases import judged as judged_of
from rankscope.testing.variants import variants

COLUMNS = [
    "run", "query_id", "metric", "value", "ceiling", "best", "lost", "never_retrieved", "ordered_badly", "regret", "best_run",
    "kind", "relevant_known", "relevant_retrieved", "first_relevant_rank",
]  # fmt: skip
EVERY = list(dict.fromkeys(CATALOGUE.values()))


def ranked(*docs: str) -> dict[str, float]:
    return {doc: float(len(docs) - i) for i, doc in enumerate(docs)}


# --- worked ------------------------------------------------------------------------------------------


def test_the_parts_of_a_loss_as_arithmetic() -> None:
    qrels = {"q": {"a": 3, "b": 2, "c": 1, "n": 0}}
    run = {"q": ranked("n", "c", "x", "b")}  # "a" was never retrieved
    lost = rs.diagnose(qrels, run, "nDCG@10").runs[0].loss
    ideal = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    value = (1 / log2(3) + 2 / log2(5)) / ideal
    ceiling = (2 / log2(2) + 1 / log2(3)) / ideal
    assert lost.value == pytest.approx(value, rel=1e-12)
    assert lost.ceiling == pytest.approx(ceiling, rel=1e-12)
    assert lost.best == 1.0
    assert lost.never_retrieved == pytest.approx(1 - ceiling, rel=1e-12)
    assert lost.ordered_badly == pytest.approx(ceiling - value, rel=1e-12)


def test_re_ranking_only_the_top_leaves_the_rest_where_it_is() -> None:
    docs = [f"n{i}" for i in range(60)]
    docs[7], docs[11], docs[55] = "a", "b", "c"  # ranks 8, 12 and 56
    qrels = {"q": dict.fromkeys(("a", "b", "c"), 1) | {"n0": 0}}
    lost = rs.diagnose(qrels, {"q": ranked(*docs)}, "AP").runs[0].loss
    assert lost.value == pytest.approx((1 / 8 + 2 / 12 + 3 / 56) / 3, rel=1e-12)
    assert lost.tops == {
        10: pytest.approx((1 / 1 + 2 / 12 + 3 / 56) / 3, rel=1e-12),
        50: pytest.approx((1 / 1 + 2 / 2 + 3 / 56) / 3, rel=1e-12),
    }
    assert lost.ceiling == lost.best == 1.0


@pytest.mark.parametrize("size", [3, 4], ids=["three runs", "four runs"])
def test_up_to_three_runs_have_a_sentence_and_a_column_each_and_more_have_rows(size: int) -> None:
    qrels = {"q": {"a": 1, "b": 0}, "r": {"c": 1}}
    found = rs.diagnose(qrels, [(f"run{i}", {"q": ranked("b", "a"), "r": ranked("x")}) for i in range(size)], "P@1")
    told = [sentence.split(" loses ")[0] for sentence in found.sentences() if " loses " in sentence]
    (kinds,) = [
        table
        for table in found.blocks()
        if isinstance(table, Table) and any("below the top" in str(v) for v in heads_and_names(table))
    ]
    if size == 3:
        assert told == ["run0", "run1", "run2"]
        assert [column.header for column in kinds.columns] == ["", "run0", "run1", "run2", "that is"]
    else:
        assert told == ["run0"]
        assert [row[0] for row in kinds.rows] == ["run0", "run1", "run2", "run3"]


def test_the_words_of_the_columns_are_explained() -> None:
    found = rs.diagnose({"q": {"a": 1, "b": 0}}, {"q": ranked("b", "a")}, "nDCG@1")
    small = " ".join(found.to_text().split())
    assert "all: the judged documents that were retrieved, in the best order" in small
    assert "ideal: any judged documents, in the best order" in small


def heads_and_names(table: Table) -> list[object]:
    return [*(column.header for column in table.columns), *(row[0] for row in table.rows)]


def test_a_perfect_ranking_loses_nothing() -> None:
    found = rs.diagnose(
        {"q": {"a": 2, "b": 1}, "r": {"c": 1}}, {"q": ranked("a", "b"), "r": ranked("c", "x")}, "nDCG@10"
    )
    lost = found.runs[0].loss
    assert (lost.total, lost.never_retrieved, lost.ordered_badly) == (0.0, 0.0, 0.0)
    assert found.hardest == []
    assert found.runs[0].kinds["perfect"] == 2
    assert next(found.sentences()).endswith("loses nothing of nDCG@10 (1.000): no ranking scores better.")


def test_gains_of_a_table_decide_what_is_best() -> None:
    qrels = {"q": {"a": 1, "b": 2}}
    lost = rs.diagnose(qrels, {"q": ranked("b", "a")}, "DCG(gain={1: 5, 2: 1})@2").runs[0].loss
    assert lost.value == pytest.approx(1 + 5 / log2(3), rel=1e-12)
    assert lost.ceiling == lost.best == pytest.approx(5 + 1 / log2(3), rel=1e-12)


def test_where_lower_is_better_losses_are_still_positive() -> None:
    qrels = {"q": {"a": 1, "b": 1, "n": 0}}
    lost = rs.diagnose(qrels, {"q": ranked("n", "a", "b")}, "RelevantPosition").runs[0].loss
    assert (lost.value, lost.ceiling) == ((2 + 3) / 2, (1 + 2) / 2)
    assert (lost.best, lost.never_retrieved, lost.ordered_badly) == (1.5, 0.0, 1.0)


def test_a_fall_out_prefers_what_nobody_judged() -> None:
    found = rs.diagnose({"q": {"a": 1, "m": 0, "n": 0}}, {"q": ranked("m", "n", "x", "y")}, "FallOut@2").runs[0]
    assert (found.loss.value, found.loss.ceiling, found.loss.best) == (2 / 2, 0.0, 0.0)


def test_a_set_measure_loses_by_documents_and_not_only_by_missing_ones() -> None:
    found = rs.diagnose({"q": {"a": 1, "n": 0}}, {"q": ranked("n", "a")}, "SetP")
    assert (found.runs[0].loss.ceiling, found.runs[0].loss.best) == (1 / 2, 1.0)
    assert not found.runs[0].ceilings.missing_only
    assert "because of the returned documents" in str(found)
    assert rs.diagnose({"q": {"a": 1, "n": 0}}, {"q": ranked("n", "a")}, "P@2").runs[0].ceilings.missing_only


# --- laws --------------------------------------------------------------------------------------------


def told(cls: type[Metric], size: int) -> Iterator[tuple[Metric, list[Case], np.ndarray, float]]:
    """The variants of a metric with a ceiling, cases that it takes, its values for them, and 1 or -1."""
    for metric in variants(cls):
        if why_not(metric) or metric.needs & SEVERAL:
            continue
        cases = [c for c in made_up(110, 11, top_grade(metric)) if len(c.ranking) <= size]
        cases = [c for c, ok in zip(cases, accepts(metric, cases), strict=True) if ok]
        if cases:
            yield metric, cases, values(metric, cases), -1.0 if metric.better == "lower" else 1.0


@pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.__name__)
def test_value_ceiling_best_in_this_order_and_the_parts_sum(cls: type[Metric]) -> None:
    for metric, cases, value, sign in told(cls, 50):
        could = ceilings(metric, judged_of(tuple(cases)), value)
        known = ~np.isnan(value)
        assert (np.isnan(could.ceiling) == ~known).all(), metric
        assert (np.isnan(could.best) == ~known).all(), metric
        order, never = sign * (could.ceiling - value)[known], sign * (could.best - could.ceiling)[known]
        assert (order >= 0).all(), metric
        assert (never >= 0).all(), metric
        whole = sign * (could.best - value)[known]
        assert np.allclose(order + never, whole, rtol=1e-12, atol=1e-12), metric
        for top in could.tops.values():
            assert (sign * (top - value)[known] >= 0).all(), metric
            assert (sign * (could.ceiling - top)[known] >= 0).all(), metric


@pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.__name__)
def test_no_order_of_what_was_retrieved_beats_the_ceiling_and_one_reaches_it(cls: type[Metric]) -> None:
    for metric, cases, _, sign in told(cls, 4):
        few = [replace(case, tied=()) for case in cases[:12]]
        could = ceilings(metric, judged_of(tuple(few)), values(metric, few))
        for case, ceiling in zip(few, could.ceiling.tolist(), strict=True):
            if math.isnan(ceiling):
                continue
            orders = [case.with_ranking(ranking) for ranking in set(permutations(case.ranking))]
            best = np.nanmax(sign * values(metric, orders))
            assert best == pytest.approx(sign * ceiling, abs=1e-9), f"{metric} on {case}"


@pytest.mark.parametrize("metric", ["nDCG@3", "AP", "RR", "ERR", "RBP", "Bpref", "P@3", "R@3", "Rprec", "infAP"])
def test_no_ranking_of_judged_documents_beats_the_best(metric: str) -> None:
    asked = rs.parse(metric)
    cases = [replace(c, tied=()) for c in made_up(150, 12, 3.0) if len(c.ranking) + len(c.missing) <= 5][:15]
    found = ceilings(asked, judged_of(tuple(cases)), values(asked, cases))
    for case, best in zip(cases, found.best.tolist(), strict=True):
        grades = [g for g in case.ranking if g is not None] + list(case.missing)
        for length in range(len(grades) + 1):
            for places in set(permutations(range(len(grades)), length)):
                left = tuple(grades[i] for i in range(len(grades)) if i not in places)
                value = values(asked, [Case(tuple(grades[i] for i in places), left)])[0]
                assert math.isnan(value) or value <= best + 1e-9, f"{metric}: {case}"


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("NumRel", "no better direction"),
        ("nDCG(ideal='retrieved_topk')@3", "may hurt"),
        ("DCG(discount={1: 3, 2: 9})@3", "may hurt"),
        ("alpha_nDCG@3", "several grades"),
    ],
)
def test_where_no_best_order_is_known_the_rest_is_told_all_the_same(metric: str, why: str) -> None:
    qrels: dict[str, dict[str, object]] = {"q": {"a": 1, "b": 0}, "r": {"c": 1}}
    if "alpha" in metric:
        qrels = {"q": {"a": {"s": 1, "t": 0}, "b": {"s": 0}}, "r": {"c": {"s": 1}}}
    found = rs.diagnose(qrels, {"q": ranked("b", "a"), "r": ranked("x")}, metric)
    assert why in found.reason
    assert why in str(found)
    assert math.isnan(found.runs[0].loss.total)
    assert sum(found.runs[0].kinds.values()) == 2
    text = found.to_text()
    assert "queries by how they fail" in text
    said = json.loads(found.to_json())
    assert said["results"][0]["ceiling"] is None
    assert why in said["no_ceiling"]


# --- over queries and runs ---------------------------------------------------------------------------

QRELS = {"q1": {"a": 1, "n": 0}, "q2": {"a": 1, "b": 1}, "q3": {"a": 1, "n": 0}}
ONE = {"q1": ranked("a"), "q2": ranked("a", "b"), "q3": ranked("n", "x", "a")}
TWO = {"q1": ranked("n", "a"), "q2": ranked("x", "b"), "q3": ranked("n", "a")}


def test_regret_is_what_the_best_run_of_each_query_has_more() -> None:
    found = rs.diagnose(QRELS, {"one": ONE, "two": TWO}, "RR")
    # RR: one has 1, 1, 1/3 and two has 1/2, 1/2, 1/2
    assert [(q.run, q.query_id, q.best_run, q.regret) for q in found.regrets] == [
        ("two", "q1", "one", 1 - 1 / 2),
        ("two", "q2", "one", 1 - 1 / 2),
        ("one", "q3", "two", pytest.approx(1 / 2 - 1 / 3)),
    ]
    # the query that even the best run does not answer at once
    assert [(q.run, q.query_id, q.loss) for q in found.hardest] == [("two", "q3", 1 - 1 / 2)]


def test_one_run_has_no_regret() -> None:
    found = rs.diagnose(QRELS, ONE, "RR")
    assert found.regrets == []
    assert [q.query_id for q in found.hardest] == ["q3"]
    assert {record["regret"] for record in found.rows} == {None}


def test_queries_shown_limits_the_lists_only() -> None:
    found = rs.diagnose(QRELS, {"one": ONE, "two": TWO}, "RR", queries_shown=1)
    assert (len(found.hardest), len(found.regrets), len(found.queries)) == (1, 1, 6)


def test_the_mean_value_is_that_of_evaluate_to_the_bit_whatever_the_policies() -> None:
    for policies in (
        {},
        {"queries": "both"},
        {"no_relevant": "skip"},
        {"weights": {"q1": 2, "q2": 1, "q3": 5, "q4": 1, "q5": 0.5}},
        {"depth": 2},
    ):
        qrels = {**QRELS, "q4": {"n": 0}, "q5": {"a": 1}}
        found = rs.diagnose(qrels, {"one": ONE, "two": TWO}, "AP", **policies)
        scores = rs.evaluate(qrels, {"one": ONE, "two": TWO}, "AP", **policies)
        for run in found.runs:
            assert run.loss.value == scores[run.name, "AP"]
            assert run.loss.total == pytest.approx(run.loss.best - run.loss.value, abs=1e-12)


def test_a_value_that_a_policy_gives_cannot_be_lost() -> None:
    found = rs.diagnose({"q": {"n": 0}, "r": {"a": 1}}, {"q": ranked("n"), "r": ranked("a")}, "AP", no_relevant=1)
    assert (found.runs[0].loss.value, found.runs[0].loss.best) == (1.0, 1.0)
    low = rs.diagnose({"q": {"n": 0}, "r": {"a": 1}}, {"q": ranked("n"), "r": ranked("a")}, "FallOut@1", no_relevant=1)
    assert low.runs[0].loss.total == 0.0


def test_a_micro_mean_has_no_ceiling() -> None:
    found = rs.diagnose(QRELS, ONE, "R@2", mean="micro")
    assert "micro" in found.reason


def test_documents_to_look_at_have_the_ids_of_the_input() -> None:
    qrels = {"q": {"n": 0, "good": 2, "gone": 2, "also": 1, "deep": 1}}
    docs = ["x", "n", "good", *(f"u{i}" for i in range(10)), "deep"]
    found = rs.diagnose(qrels, {"q": ranked(*docs)}, "nDCG@10")
    assert [(d.what, d.doc_id, d.grade, d.rank) for d in found.examples.of(found.runs[0])] == [
        ("not relevant, high up", "n", 0.0, 2),
        ("relevant, never retrieved", "gone", 2.0, None),
        ("relevant, far down", "deep", 1.0, 14),
    ]


def test_documents_to_look_at_are_first_those_of_queries_that_lose_most() -> None:
    """RR: nothing found loses 1, rank 4 loses 3/4, rank 2 loses 1/2; FEW are shown."""
    qrels = {query: {"n": 0, "a": 1} for query in ("half", "none", "most")}
    run = {"half": ranked("n", "a"), "none": ranked("n"), "most": ranked("n", "y", "z", "a")}
    found = rs.diagnose(qrels, run, "RR")
    looked = [d.query_id for d in found.examples.of(found.runs[0]) if d.what == "not relevant, high up"]
    assert looked == ["none", "most", "half"][: len(looked)]
    assert len(looked) > 1


def test_documents_follow_the_policies_of_ties_and_depth(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q 0 a 0\nq 0 b 0\nq 0 c 1\n")
    run.write_text("q Q0 a 1 1.0 r\nq Q0 b 2 1.0 r\nq Q0 c 3 0.5 r\n")

    def shown(**policies: Any) -> list[tuple[str, str, int | None]]:
        found = rs.diagnose(str(qrels), str(run), "nDCG@1", **policies)
        return [(d.what.split(",")[0], d.doc_id, d.rank) for d in found.examples.of(found.runs[0])]

    assert shown() == [("not relevant", "b", 1), ("relevant", "c", 3)]
    assert shown(ties="docid") == [("not relevant", "a", 1), ("relevant", "c", 3)]
    assert shown(depth=2) == [("not relevant", "b", 1), ("relevant", "c", None)]
    assert shown(ties="expected")[0] == ("not relevant", "b", 1)


# --- what a reader sees ------------------------------------------------------------------------------


def test_real_runs_are_told_within_80_columns(shared_data: Callable[[str], Path]) -> None:
    qrels = shared_data("trec_covid/qrels.txt")
    runs = [shared_data(f"trec_covid/round1/runs/{name}.gz") for name in ("bm25_basline", "bm25t5", "sab20.1.merged")]
    for given in (runs[:1], runs):
        found = rs.diagnose(str(qrels), [str(run) for run in given], "nDCG@10")
        text = found.to_text(80)
        assert max(map(len, text.splitlines())) <= 80 or str(qrels) in text
        assert text.startswith(f" {found.runs[0].name} loses ")
        assert "next: rs.explain(" in text.replace("\n", " ")
        for run in found.runs:
            lost = run.loss
            assert lost.value <= lost.tops[10] <= lost.tops[50] <= lost.tops[100] <= lost.ceiling <= lost.best
            assert math.isclose(lost.never_retrieved + lost.ordered_badly, lost.best - lost.value, abs_tol=1e-12)
            assert sum(run.kinds.values()) == len(run.query_ids) == 30
            assert sum(d.total for d in run.depths) == int((run.judged.grade > 0).sum())


def test_the_ceiling_of_a_real_run_is_the_value_of_the_run_put_in_order(shared_data: Callable[[str], Path]) -> None:
    qrels = rs.read_qrels(str(shared_data("trec_covid/qrels.txt"))).mapping
    run = rs.read_run(str(shared_data("trec_covid/round1/runs/bm25_basline.gz"))).frame
    given: dict[str, dict[str, float]] = {}
    for query, doc, score in run.select("query_id", "doc_id", "score").iter_rows():
        given.setdefault(query, {})[doc] = score
    for metric in ("nDCG@10", "AP", "RR@10", "R@50", "ERR@20", "RBP"):
        found = rs.diagnose(qrels, given, metric).runs[0].loss
        oracle = {
            q: {d: qrels[q].get(d, 0) - 1e-6 * i for i, d in enumerate(docs)} for q, docs in given.items() if q in qrels
        }
        perfect = {q: {d: float(g) for d, g in grades.items()} for q, grades in qrels.items()}
        assert found.ceiling == pytest.approx(rs.evaluate(qrels, oracle, metric)[metric], abs=1e-12)
        assert found.best == pytest.approx(rs.evaluate(qrels, perfect, metric)[metric], abs=1e-12)


def test_the_envelope_is_json_with_stable_keys() -> None:
    found = rs.diagnose({**QRELS, "q9": {"z": 1}}, {"one": ONE, "two": TWO}, "RR")
    said = json.loads(found.to_json())
    assert said["schema"] == "rankscope/diagnose/1"
    assert {
        "results",
        "kinds",
        "hardest",
        "regrets",
        "documents",
        "per_query",
        "warnings",
        "inputs",
        "conventions",
    } <= set(said)
    assert all(list(record) == COLUMNS for record in said["per_query"])
    assert len(said["per_query"]) == 2 * 4
    for result in said["results"]:
        assert sum(result["kinds"].values()) == result["queries"] == 4
        assert result["never_retrieved"] + result["ordered_badly"] == pytest.approx(result["lost"])


def test_the_next_step_names_files_and_quotes_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = rs.diagnose({"a b": {"x": 1}}, {"a b": ranked("n", "x")}, "RR")
    assert found.next_step() == "next: rs.explain(qrels, run, \"RR\", query='a b')"
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q 0 a 1\n")
    run.write_text("q Q0 b 1 1.0 r\n")
    found = rs.diagnose(str(qrels), str(run), "RR")
    assert found.next_step() == f"next: rs.explain({str(qrels)!r}, {str(run)!r}, \"RR\", query='q')"
    monkeypatch.setitem(words.MESSAGE_STYLE, "options", True)
    assert found.next_step() == f"next: rankscope explain {qrels} {run} --query q -m RR"


# --- bad input ---------------------------------------------------------------------------------------


def test_what_cannot_be_asked_is_said_in_one_line() -> None:
    with pytest.raises(InputError, match="one metric at a time"):
        rs.diagnose(QRELS, ONE, ["RR", "AP"])
    with pytest.raises(InputError, match="did you mean nDCG"):
        rs.diagnose(QRELS, ONE, "nDGC@10")
    with pytest.raises(InputError, match="queries_shown"):
        rs.diagnose(QRELS, ONE, "RR", queries_shown=-1)
    with pytest.raises(DataError, match="no query"):
        rs.diagnose(QRELS, {"other": ranked("a")}, "RR")


def test_a_dialect_that_gives_lists_without_a_relevant_document_1_loses_nothing_on_them() -> None:
    qrels = {"q": {"a": 1, "n": 0}, "r": {"a": 1, "n": 0}}
    found = rs.diagnose(qrels, {"q": ranked("n"), "r": ranked("n", "a")}, "nDCG@10", dialect="lightgbm")
    first, second = found.queries
    assert (first.value, first.loss) == (1.0, 0.0)
    assert second.value == pytest.approx(1 / log2(3))
    assert second.ceiling == 1.0
    assert found.runs[0].ceilings.missing_only
    assert "ignores documents that were never retrieved" in " ".join(found.to_text(200).split())


def test_the_value_of_a_pooled_metric_is_that_of_evaluate_and_no_mean_of_queries() -> None:
    qrels = {"q": {"a": 1, "m": 0, "n": 0}, "r": {"a": 1, "b": 1, "m": 0}}
    runs = {"one": {"q": ranked("a", "m", "n"), "r": {"m": 0.5, "a": 0.4, "b": 0.3}}, "two": {"q": ranked("m", "a")}}
    metric = "AUC(pooled=True)"
    found, scores = rs.diagnose(qrels, runs, metric), rs.evaluate(qrels, runs, metric)
    for run in found.runs:
        assert run.loss.value == scores[run.name, metric]
        assert math.isnan(run.loss.total)
    one = found["one"]
    # pooled, the scores of the two queries are laid side by side: 3 beats 2, 1 and 0.5, and 0.4 and 0.3 beat none
    assert one.loss.value == 3 / 9
    assert float(np.mean(one.value)) == (1 + 0) / 2
    assert [q.value for q in found.queries if q.run == "one"] == [1.0, 0.0]
    assert "one has AUC(pooled=True) 0.333." in str(found)
    assert "made of the documents of all queries together" in str(found)
    assert "The values of single queries are computed per query" in str(found)
    assert found.json_document()["results"][0]["value"] == 3 / 9


def test_the_queries_that_lose_most_come_first() -> None:
    """Losses of RR: nothing found loses 1, rank 4 loses 3/4, rank 2 loses 1/2, rank 1 nothing; in whatever order they come."""
    qrels = {query: {"a": 1} for query in ("half", "none", "all", "most")}
    run = {"half": ranked("x", "a"), "none": ranked("x"), "all": ranked("a"), "most": ranked("x", "y", "z", "a")}
    found = rs.diagnose(qrels, run, "RR")
    assert [(one.query_id, one.total) for one in found.hardest] == [("none", 1.0), ("most", 0.75), ("half", 0.5)]


@pytest.mark.parametrize("metric", ["AUC(pooled=True)", "AvgAP"])
def test_the_worst_values_come_first_where_no_loss_is_known(metric: str) -> None:
    qrels = {query: {"a": 1, "m": 0, "n": 0} for query in ("good", "bad", "fair")}
    run = {"good": ranked("a", "n", "m"), "bad": ranked("n", "m", "a"), "fair": ranked("n", "a", "m")}
    found = rs.diagnose(qrels, run, metric)
    assert found.reason
    assert [one.query_id for one in found.hardest] == ["bad", "fair", "good"]


def test_the_tables_of_several_runs_say_what_they_show() -> None:
    qrels = {f"q{i}": {"a": i % 3, "b": 1, "c": 0} for i in range(8)}
    runs = {
        "x": {q: {"a": 3.0, "b": 2.0, "c": 1.0} for q in qrels},
        "y": {q: {"c": 3.0, "b": 2.0, "a": 1.5} for q in qrels},
    }
    lines = rs.diagnose(qrels, runs, "nDCG@2").to_text().split("\n")
    for head in (
        "nDCG@2 if the first N documents were in the best order",
        "queries by how they fail",
        "relevant documents by the rank at which they were found",
        "queries by the document at rank 1",
        "queries with the largest losses, each in the run that is best on it",
        "queries on which a run is furthest below the best run",
    ):
        assert f" {head}" in lines
