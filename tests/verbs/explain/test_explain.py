"""Explanations add up, for every metric; and say what happened."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.made.samples import sampled

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.lists import Judged
from rankscope.metrics import CATALOGUE, Metric, parse
from rankscope.scoring.inputs import clean, read_any
from rankscope.scoring.judging import judge_clean
from rankscope.scoring.policies import Policies
from rankscope.scoring.ranking import Ranking, ranking_of
from rankscope.testing import Case, variants
from rankscope.testing.cases import accepts, judged, made_up, top_grade
from rankscope.verbs.explain.explain import explain, explain_difference
from rankscope.verbs.explain.result import Difference, Explanation, Origin

SCORES = rs.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
CLASSES = [cls for cls in dict.fromkeys(CATALOGUE.values()) if cls.__module__.startswith("rankscope.")]
every_class = pytest.mark.parametrize("cls", sampled(CLASSES, 40), ids=lambda cls: cls.__name__)


def ranking(case: Case, shuffled: int | None = None) -> Ranking:
    docs = [f"d{i}" for i in range(len(case.ranking))]
    grades = {doc: g for doc, g in zip(docs, case.ranking, strict=True) if g is not None}
    grades |= {f"m{i}": g for i, g in enumerate(case.missing)}
    return Ranking("q", tuple(docs), grades)


def alone(case: Case, metric: Metric) -> Judged:
    found = judged((case,))
    return found if metric.needs & {"aspects", "subtopics", "strata"} else replace(found, aspects=None)


def explained(case: Case, metric: Metric) -> Explanation:
    return Explanation(run="run", metric=metric, ranking=ranking(case), judged=alone(case, metric), scores=SCORES)


def close(parts: float, whole: float) -> bool:
    return abs(parts - whole) <= 1e-12 * max(1.0, abs(whole))


@every_class
def test_what_the_rows_add_is_the_value(cls: type[Metric]) -> None:
    for metric in sampled(variants(cls), 5):
        cases = made_up(25, 5, top_grade(metric))
        for case, fine in zip(cases, accepts(metric, cases), strict=True):
            if not fine:
                continue
            found = explained(case, metric)
            if math.isnan(found.value):
                continue
            rows = found.rows
            assert close(math.fsum(row["adds"] for row in rows), found.value), (metric, case)
            for p in found.positions:
                if p.factors and found.worth:
                    product = math.prod(p.factors.values()) / found.worth
                    assert close(product, p.adds), (metric, case, p)


@every_class
def test_what_documents_add_is_the_difference(cls: type[Metric]) -> None:
    rng = np.random.default_rng(3)
    for metric in sampled(variants(cls)[:12], 3):
        cases = [c for c in made_up(25, 6, top_grade(metric)) if not any(c.tied)]
        for case in cases:
            order = rng.permutation(len(case.ranking))
            cut = int(rng.integers(0, len(case.ranking) + 1))
            other = Case(
                tuple(case.ranking[i] for i in order[:cut]),
                (*case.missing, *(grade for i in order[cut:] if (grade := case.ranking[i]) is not None)),
            )
            if not all(accepts(metric, [case, other])):
                continue
            before = explained(case, metric)
            named = ranking(case)
            again = Ranking("q", tuple(f"d{i}" for i in order[:cut].tolist()), named.grades)
            after = Explanation(run="other", metric=metric, ranking=again, judged=alone(other, metric), scores=SCORES)
            if math.isnan(before.value) or math.isnan(after.value):
                continue
            found = explain_difference(before, after)
            whole = math.fsum([*(m.adds for m in found.documents), *(r.adds for r in found.rest)])
            assert close(whole, after.value - before.value), (metric, case, other)


@pytest.mark.parametrize(
    "name",
    ["nDCG@3", "AP", "RR", "P@2", "RBP", "ERR(max_grade=4)@5", "Bpref", "nDCG(gain=exponential)", "LAUC", "LRAP"],
)
def test_no_swap_gains_more_than_the_one_named(name: str) -> None:
    metric = parse(name)
    tried = 0
    for case in made_up(40, 8, 4.0):
        if any(case.tied) or not 2 <= len(case.ranking) <= 10:
            continue
        found = explained(case, metric)
        gains = [0.0]
        for i, j in combinations(range(len(case.ranking)), 2):
            other = list(case.ranking)
            other[i], other[j] = other[j], other[i]
            gains.append(explained(case.with_ranking(other), metric).value - found.value)
        best = max(gains)
        assert (found.swap.gain if found.swap else 0.0) == pytest.approx(best, abs=1e-12), (name, case)
        tried += best > 0
    assert tried > 2


def test_worked() -> None:
    qrels = {"q": {"a": 2, "b": 1, "c": 0, "e": 1}}
    found = explain(qrels, {"q": {"c": 9.0, "x": 8.0, "a": 7.0, "b": 6.0}}, "nDCG@3", query="q")
    assert isinstance(found, Explanation)
    worth = 2 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert found.worth == pytest.approx(worth)
    assert [p.grade for p in found.positions] == [0, None, 2]
    assert [p.adds for p in found.positions] == pytest.approx([0, 0, 2 / log2(4) / worth])
    assert [p.ideal_grade for p in found.positions] == [2, 1, 1]
    assert [p.lost for p in found.positions] == pytest.approx(
        [2 / log2(2) / worth, 1 / log2(3) / worth, (1 - 2) / log2(4) / worth]
    )
    assert found.largest_loss is not None
    assert found.largest_loss.rank == 1
    assert found.swap is not None
    assert (found.swap.upper, found.swap.lower) == (1, 3)
    assert found.swap.gain == pytest.approx(2 * (1 - 1 / 2) / worth)
    # x graded 2: the ideal is 2 2 1, x and a stand at 2 and 3
    count, reached = found.unjudged
    assert count == 1
    assert reached == pytest.approx((2 / log2(3) + 2 / log2(4)) / (2 + 2 / log2(3) + 1 / log2(4)))


def test_a_difference_in_words() -> None:
    qrels = {"q": {"a": 1, "b": 1}}
    before = {"q": {f"x{i}": 20.0 - i for i in range(5)} | {"a": 1.0}}
    after = {"q": {"a": 9.0, "x1": 8.0, "b": 7.0}}
    found = explain(qrels, [before, after], "RR", query="q")
    assert isinstance(found, Difference)
    assert found.value == pytest.approx(1 - 1 / 6)
    assert str(found.largest[0]) == "a rose from rank 6 to 1: +0.833"
    assert [str(m) for m in found.documents if m.doc_id != "a"][:2] == [
        "x0 dropped out (was at rank 1): 0.000",
        "x1 stayed at rank 2: 0.000",
    ]
    moves = {m.doc_id: m.move for m in found.documents}
    assert moves["b"] == "entered"
    assert "documents that the metric considers: 1 rose, 1 entered, 4 dropped out" in str(found)
    assert moves["x0"] == "left"
    assert moves["x1"] == "stayed"


def test_another_worth_has_a_row_of_its_own() -> None:
    qrels = {"q": {"a": 1, "b": 1}}
    found = explain(qrels, [{"q": {"a": 2.0, "x": 1.0}}, {"q": {"a": 3.0, "b": 2.0, "x": 1.0}}], "SetP", query="q")
    assert isinstance(found, Difference)
    assert found.value == pytest.approx(2 / 3 - 1 / 2)
    assert {m.doc_id: m.adds for m in found.documents if m.adds} == pytest.approx({"a": 1 / 3 - 1 / 2, "b": 1 / 3})
    assert [(r.what, r.adds) for r in found.rest] == [("divided by 3 now, by 2 before", 0.0)]


def test_ranks_that_a_ranking_does_not_reach_lose_too() -> None:
    qrels = {"1": {"a": 3, "b": 2, "c": 1}, "2": {"a": 1}}
    found = explain(qrels, {"1": {"a": 1.0}}, "nDCG@10", query="1")
    assert isinstance(found, Explanation)
    assert [p.doc_id for p in found.positions] == ["a", None, None]
    assert math.fsum(p.lost or 0.0 for p in found.positions) == pytest.approx(found.best - found.value)
    assert found.largest_loss is not None
    assert found.largest_loss.rank == 2
    missed = explain(qrels, {"1": {"a": 1.0}}, "nDCG@10", query="2")
    assert "run has no ranking for query 2" in str(missed)
    assert "Largest loss: rank 1 (no document)" in str(missed)


def test_the_same_ranking_is_said_to_be_the_same() -> None:
    qrels, run = {"1": {"a": 1}}, {"1": {"a": 1.0}}
    assert "No document adds" in str(explain(qrels, [run, run], "AP", query="1"))
    assert "have the same AP on the only query" in str(explain(qrels, [run, run], "AP"))


@pytest.mark.parametrize("ties", ["trec", "docid", "input", "rank"])
def test_ids_stand_where_the_engine_ranks_them(ties: str) -> None:
    rng = np.random.default_rng(1)
    for form in ("dict", "table"):
        if form == "dict" and ties == "rank":
            continue
        for _ in range(20):
            docs = [f"d{i}é" if i % 3 else f"D{i}" for i in rng.permutation(12).tolist()]
            scores = {doc: float(rng.integers(4)) for doc in docs}
            graded = {doc: float(rng.integers(3)) for doc in docs[::2]}
            run: Any = {"q": scores}
            if form == "table":
                import polars as pl

                run = pl.DataFrame(
                    {
                        "query_id": ["q"] * 12,
                        "doc_id": docs,
                        "rank": (rng.permutation(12) + 1).tolist(),
                        "score": list(scores.values()),
                    }
                )
            cleaned, grades = (
                clean(read_any("run", run), Policies(), "run"),
                clean(read_any("qrels", {"q": graded}), Policies(), "qrels"),
            )
            from rankscope.engines.base import Order

            order = Order(ties)  # type: ignore[arg-type]
            found, _ = judge_clean(cleaned, grades, [order])[order]
            ids = ranking_of(cleaned, grades, "q", order).doc_ids
            count = int(found.in_run[0])
            assert [graded[ids[rank - 1]] for rank in found.rank[:count].tolist()] == found.grade[:count].tolist()


def test_over_all_queries_the_ranks_add_up(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("trec_covid")
    runs = [folder / "round1" / "runs" / f"{name}.gz" for name in ("run1", "crowd1")]
    for metric in ("nDCG@10", "AP", "RR", "Bpref", "P@5", "SetF", "RBP"):
        found = explain(str(folder / "qrels.txt"), [str(run) for run in runs], metric)
        assert isinstance(found, Origin)
        both = rs.evaluate(str(folder / "qrels.txt"), [str(run) for run in runs], metric)
        whole = both["crowd1", metric] - both["run1", metric]
        assert found.value == pytest.approx(whole, abs=1e-12)
        assert math.fsum([*(b.adds for b in found.bands), found.rest]) == pytest.approx(whole, abs=1e-12)
        assert math.fsum(d for _, d in found.by_query) / 30 == pytest.approx(whole, abs=1e-12)


def test_weighted_queries_add_up() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(6)}
    one = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    two = {query: {"x": 2.0, "b": 1.0} if i % 2 else {"a": 2.0, "b": 1.0} for i, query in enumerate(qrels)}
    weights = {query: i + 1.0 for i, query in enumerate(qrels)}
    found = explain(qrels, [one, two], "AP", weights=weights)
    assert isinstance(found, Origin)
    a, b = (rs.evaluate(qrels, run, "AP", weights=weights)["AP"] for run in (one, two))
    assert math.fsum([*(band.adds for band in found.bands), found.rest]) == pytest.approx(b - a, abs=1e-12)


def test_json() -> None:
    qrels = {"q": {"a": 2, "b": 1}}
    out = explain(qrels, {"q": {"x": 3.0, "a": 2.0}}, "nDCG@10", query="q").json_document()
    assert {"rank", "doc_id", "grade", "factors", "adds"} <= set(out["rows"][0])
    assert math.fsum(row["adds"] for row in out["rows"]) == pytest.approx(out["value"], abs=1e-12)
    two = explain(qrels, [{"q": {"x": 3.0}}, {"q": {"a": 2.0}}], "nDCG@10", query="q").json_document()
    assert math.fsum(row["adds"] for row in two["rows"]) == pytest.approx(two["value"], abs=1e-12)


def test_bad_input() -> None:
    qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0}}
    with pytest.raises(InputError, match="not judged and not in the run, did you mean q1"):
        explain(qrels, run, "RR", query="q11")
    with pytest.raises(InputError, match="3 runs"):
        explain(qrels, [run, run, run], "RR", query="q1")
    with pytest.raises(InputError, match="one order"):
        explain(qrels, run, "RR", query="q1", ties="expected")
    with pytest.raises(InputError, match="name a query"):
        explain(qrels, run, "RR")
    with pytest.raises(DataError, match="has no value"):
        explain(qrels, run, "AUC", query="q1")
    with pytest.raises(DataError, match="not judged"):
        explain(qrels, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, "RR", query="q2")
    with pytest.raises(InputError, match="not a plain mean over queries"):
        explain(qrels, [run, run], "NumRel")


def test_one_query_of_a_pooled_metric_is_explained_alone_and_a_difference_is_refused() -> None:
    qrels = {"q": {"a": 1, "m": 0, "n": 0}, "r": {"a": 1, "b": 1, "m": 0}}
    run = {"q": {"a": 2.0, "m": 3.0, "n": 1.0}, "r": {"m": 0.5, "a": 0.4, "b": 0.3}}
    metric = "AUC(pooled=True)"
    found = explain(qrels, run, metric, query="q")
    assert found.value == rs.evaluate(qrels, run, metric, queries=["q"])[metric] == 1 / 2
    assert close(math.fsum(row["adds"] for row in found.rows), found.value)
    assert "This is its value for this query only" in " ".join(found.sentences())
    with pytest.raises(InputError, match="not a plain mean over queries, so its difference cannot be split by rank"):
        explain(qrels, [run, run], metric)


def test_the_lead_is_that_of_the_run_ahead() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    good = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    poor = good | {f"q{i}": {"b": 2.0, "a": 1.0} for i in range(3)} | {"q7": {"c": 1.0}}
    said = "The lead of good vanishes only if the 4 queries most in its favour (50%) are removed."
    for runs in ({"good": good, "poor": poor}, {"poor": poor, "good": good}):
        _, lead = explain(qrels, runs, "RR").sentences()
        assert lead == said


def test_what_is_said_of_one_ranking() -> None:
    qrels = {"q": {"a": 3, "b": 2, "c": 0, "d": 1}}
    found = explain(qrels, {"q": ["c", "b", "x", "a"]}, "DCG@3", query="q")
    assert isinstance(found, Explanation)
    best, one_more = 3 + 2 / log2(3) + 1 / log2(4), 2 / log2(3) + 3 / log2(4)
    assert list(found.sentences())[-4:] == [
        "Largest loss: rank 1 (c, grade 0): 3.000.",
        "Best swap: ranks 1 and 4 (+3.000).",
        f"? marks 1 unjudged document in the top 3. If it had the top grade, DCG@3 would be {one_more:.3f}.",
        f"An ideal ranking scores {best:.4f}.",
    ]


def test_what_is_said_of_two_rankings() -> None:
    qrels = {"q": {"a": 3, "b": 2, "c": 0, "d": 1}}
    runs = {"one": {"q": ["c", "b", "x", "a"]}, "two": {"q": ["a", "b", "x", "c"]}}
    lines = [" ".join(line.split()) for line in str(explain(qrels, runs, "nDCG@3", query="q")).split("\n")]
    ideal = 3 + 2 / log2(3) + 1 / log2(4)
    before, gain = 2 / log2(3) / ideal, 3 / ideal
    assert f"query q: nDCG@3 goes from {before:.4f} (one) to {before + gain:.4f} (two): +{gain:.4f}." in lines
    assert f"a 3 4 1 0.000 {gain:.3f} +{gain:.3f}" in lines


def test_a_plain_list_is_explained() -> None:
    why = rs.explain([1, 0, 1], metric="AP")
    assert why.value == rs.AP().of([1, 0, 1]) == (1 + 2 / 3) / 2
    assert [p.adds for p in why.positions] == [1 / 2, 0.0, (2 / 3) / 2]
    assert rs.explain([1, 0, 1], metric="AP", known=5).value == rs.AP().of([1, 0, 1], known=5) == (1 + 2 / 3) / 5
    unjudged = rs.explain([3, None, float("nan"), 1], metric="Judged@4")
    assert unjudged.value == 2 / 4


@pytest.mark.parametrize(
    ("grades", "known", "message"),
    [
        ({"q": {"a": 1}}, None, "For judgments give a run as well"),
        ([[1, 0]], None, "explain takes a list of grades in rank order"),
        ([], None, "explain takes a list of grades in rank order"),
        ([1, 1], 1, "known=1: the list has 2 relevant documents. known counts all, these included"),
    ],
    ids=["judgments", "a list of lists", "nothing", "fewer known than there are"],
)
def test_what_is_no_plain_list(grades: Any, known: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rs.explain(grades, metric="AP", known=known)


def test_texts_of_documents_stand_beside_a_ranking() -> None:
    qrels = {"q1": {"a": 2, "b": 1}}
    old, new = {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}}, {"q1": {"a": 3.0, "b": 2.0, "x": 1.0}}
    texts = {"a": "Tides\nand the moon", "b": {"title": "Moon", "text": "w" * 300}, "other": "never shown"}
    one = rs.explain(qrels, old, "nDCG@3", query="q1", docs_text=texts)
    said = one.to_text(width=100)
    assert "Tides and the moon" in said
    assert "never shown" not in said
    assert [row["text"] for row in one.to_dicts()] == [None, "Tides\nand the moon", f"Moon · {'w' * 300}"]
    assert any("2 of 3 documents shown have one" in note for note in one.notes)
    both = rs.explain(qrels, [old, new], "nDCG@3", query="q1", docs_text=texts)
    assert "Tides and the moon" in both.to_text()
    assert {row["doc_id"]: row["text"] for row in both.to_dicts() if row["doc_id"]}["a"] == "Tides\nand the moon"
    assert "text" not in rs.explain(qrels, old, "nDCG@3", query="q1").to_dicts()[0]
    with pytest.raises(InputError, match="name its query"):
        rs.explain(qrels, [old, new], "nDCG@3", docs_text=texts)


@pytest.mark.parametrize(
    ("policy", "does"),
    [
        ({"no_relevant": 1}, "no_relevant=1 makes it 1.0000"),
        ({"no_relevant": "skip"}, 'no_relevant="skip" leaves it out'),
        ({"nothing_found": "skip"}, 'nothing_found="skip" leaves it out'),
    ],
)
def test_a_value_that_a_policy_sets_is_not_explained_by_ranks(policy: dict[str, Any], does: str) -> None:
    qrels, run = {"empty": {"a": 0}, "other": {"b": 1}}, {"empty": {"a": 1.0}, "other": {"b": 1.0}}
    for runs in (run, {"old": run, "new": run}):
        with pytest.raises(rs.DataError) as error:
            rs.explain(qrels, runs, "nDCG@5", query="empty", **policy)
        assert f"{does} (nDCG@5 itself is 0.0000)" in str(error.value)
    assert rs.explain(qrels, run, "nDCG@5", query="other", **policy).value == 1.0
    assert rs.explain(qrels, run, "nDCG@5", query="empty", no_relevant=0).value == 0.0
