"""Rules about metrics: each finds its case, is silent on a clean one, and tells the size of the effect as arithmetic does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from typing import Any

import pytest

import rankscope as rs
from rankscope import words
from rankscope.verbs.check.check import check
from rankscope.verbs.check.rule import Finding

Grades = Sequence[float | None]


def ranked(queries: Sequence[Grades]) -> dict[str, dict[str, float]]:
    """One run: document ``d0`` of each query stands first."""
    return {f"q{i}": {f"d{j}": float(len(grades) - j) for j in range(len(grades))} for i, grades in enumerate(queries)}


def judged(queries: Sequence[Grades]) -> dict[str, dict[str, float]]:
    return {
        f"q{i}": {f"d{j}": grade for j, grade in enumerate(grades) if grade is not None}
        for i, grades in enumerate(queries)
    }


def orders(grades: Sequence[float], **runs: Sequence[int]) -> tuple[Any, Any]:
    """The judgments of one query, and runs as orders of its documents, for eight queries alike: what differs, differs clearly."""
    qrels = {f"q{i}": {f"d{j}": grade for j, grade in enumerate(grades)} for i in range(8)}
    made = {
        name: {q: {f"d{j}": float(99 - place) for place, j in enumerate(order)} for q in qrels}
        for name, order in runs.items()
    }
    return qrels, made


def found(code: str, qrels: Any, runs: Any, metrics: Any, **more: Any) -> list[Finding]:
    return list(check(qrels, runs, metrics, select=[code], **more))


def only(code: str, qrels: Any, runs: Any, metrics: Any, **more: Any) -> Finding:
    (finding,) = found(code, qrels, runs, metrics, **more)
    assert finding.code == code
    assert finding.hint
    return finding


# --- RS301: relevant or not, on graded judgments -----------------------------------------------------

SEVERAL_PASSABLE = orders((3, 1, 1, 0, 0), fine=[0, 3, 4], passable=[1, 2, 3])


def test_binary_metric_on_graded_judgments_is_information() -> None:
    f = only("RS301", judged([(2, 1, 0)]), ranked([(2, 1, 0)]), ["AP", "RR", "nDCG@10"])
    assert f.severity == "information"
    assert f.message.startswith("AP and RR ignore the difference between grades 1 and 2 (50% of")


def test_it_is_a_warning_where_the_grades_change_the_winner() -> None:
    # AP: passable finds 2 of 3 (1/1 + 2/2) / 3, fine finds one: 1/3. nDCG@3: fine has 3 of the ideal, passable 1 + 1/log2(3)
    f = only("RS301", *SEVERAL_PASSABLE, "AP@3")
    best = 3 + 1 / log2(3) + 1 / 2
    assert f.severity == "warning"
    assert f"passable leads on AP@3 ({2 / 3:.4f} vs {1 / 3:.4f})" in f.message
    assert f"fine on nDCG@3 ({3 / best:.4f} vs {(1 + 1 / log2(3)) / best:.4f})" in f.message


@pytest.mark.parametrize(
    ("code", "metric"),
    [("RS301", "AP@3"), ("RS302", "RR"), ("RS304", "nDCG@3"), ("RS313", "nDCG(ideal='retrieved_topk')@3")],
)
def test_another_winner_that_cannot_be_told_apart_is_information(code: str, metric: str) -> None:
    """The same on five queries of eight, all others alike: five that differ show nothing (p = 2 / 32)."""
    one, other = ([0, 3, 4], [1, 2, 3]) if code in {"RS301", "RS304"} else ([0, 2, 1], [2, 1, 0])
    grades = {"RS301": (3, 1, 1, 0, 0), "RS302": (1, 2, 0), "RS304": (3, 2, 2, 0, 0), "RS313": (1, 1, 0, 0)}[code]
    one, other = ([0], [0, 2, 1]) if code == "RS313" else (one, other)
    qrels, runs = orders(grades, one=one, other=other)
    clear = found(code, qrels, runs, metric)
    runs["other"] |= {q: runs["one"][q] for q in ("q5", "q6", "q7")}
    even = found(code, qrels, runs, metric)
    assert any(f.severity == "warning" for f in clear)
    assert code == "RS313" or {f.severity for f in even} == {"information"}
    assert not any("another run wins" in f.message for f in even)


@pytest.mark.parametrize("code", ["RS301", "RS302"])
def test_a_stray_grade_is_no_scale(code: str) -> None:
    """One document of grade 3 among 200 of grade 1 is a slip, and counting it alone no alternative."""
    queries: list[Grades] = [(1, 1, 0)] * 100
    assert not found(code, judged([*queries[1:], (3, 1, 0)]), ranked(queries), ["AP", "RR"])
    assert found(code, judged([*queries[2:], (3, 1, 0), (3, 1, 0)]), ranked(queries), ["AP", "RR"])


def test_metrics_blind_to_order_are_held_against_gain_without_discount() -> None:
    f = only("RS301", *SEVERAL_PASSABLE, "P@3")
    assert "nDCG(discount='none')@3" in f.message
    assert f"fine on nDCG(discount='none')@3 ({3 / 5:.4f} vs {2 / 5:.4f})" in f.message


def test_a_winner_that_the_discount_changes_is_no_warning() -> None:
    # RR: first at 1 wins; nDCG prefers two relevant documents at 2 and 3, with grades or without
    qrels, runs = orders((2, 2, 2, 1, 0, 0), one=[0, 4, 5], two=[4, 1, 2])
    assert rs.evaluate(qrels, runs, "RR@3")["one", "RR@3"] == 1
    assert rs.evaluate(qrels, runs, "nDCG@3")["two", "nDCG@3"] > 1 / (1 + 1 / log2(3) + 1 / 2)
    assert only("RS301", qrels, runs, "RR@3").severity == "information"


@pytest.mark.parametrize("grades", [(1, 0, 1), (2, 0, 2), (1, -1, 0)])
def test_no_word_where_one_grade_is_relevant(grades: Grades) -> None:
    assert not found("RS301", judged([grades]), ranked([grades]), ["AP", "P@2", "R@2", "Success@2", "RR"])


def test_no_word_about_metrics_that_see_grades() -> None:
    assert not found("RS301", judged([(2, 1, 0)]), ranked([(2, 1, 0)]), ["nDCG@10", "ERR@10", "Judged@10"])


# --- RS302: what counts as relevant ------------------------------------------------------------------


def test_lowest_grade_tells_how_far_metrics_move() -> None:
    f = only("RS302", judged([(1, 2, 0)]), ranked([(1, 2, 0)]), ["RR", "P@2"])
    assert f.severity == "information"
    assert f.effect == {"RR": 1 / 2 - 1, "P@2": 1 / 2 - 1}
    assert "50% of the relevant documents have grade 1" in f.message
    assert "RR(level=2)" in f.hint


def test_lowest_grade_warns_where_another_run_wins() -> None:
    f = only("RS302", *orders((1, 2, 0), a=[0, 2, 1], b=[2, 1, 0]), "RR")
    assert f.severity == "warning"
    assert "a leads on RR (1.0000 vs 0.5000) and b on RR(level=2) (0.5000 vs 0.3333)" in f.message


def test_next_level_is_the_next_grade_in_use() -> None:
    assert "counting only grade 3 and above" in only("RS302", judged([(1, 3)]), ranked([(1, 3)]), "RR").message


@pytest.mark.parametrize("metric", ["RR(level=2)", "nDCG@10", "Judged@10"])
def test_a_level_that_was_said_is_no_finding(metric: str) -> None:
    assert not found("RS302", judged([(1, 2, 0)]), ranked([(1, 2, 0)]), metric)


# --- RS303, RS304: gains -----------------------------------------------------------------------------


def test_top_grade_holds_most_of_exponential_gain() -> None:
    grades = (5, 4, 3, 2, 1, 0)
    f = only("RS303", judged([grades]), ranked([grades]), "nDCG(gain='exponential')@10")
    assert f.severity == "information"
    assert (
        f"grade 5 holds {31 / (31 + 15 + 7 + 3 + 1):.0%} of all gain ({5 / 15:.0%} with linear gain; {1 / 6:.0%}"
        in f.message
    )


@pytest.mark.parametrize(
    ("grades", "metric"), [((5, 4, 3, 2, 1, 0), "nDCG@10"), ((4, 3, 2, 1, 0), "nDCG(gain='exponential')@10")]
)
def test_linear_gain_or_five_grades_are_no_finding(grades: Grades, metric: str) -> None:
    assert not found("RS303", judged([grades]), ranked([grades]), metric)


# linear: three of grade 2 against one of grade 3 on top; exponential: 3 and 7
GAINS = orders((3, 2, 2, 0, 0), steep=[0, 3, 4], flat=[1, 2, 3])


@pytest.mark.parametrize("metric", ["nDCG@3", "nDCG(gain='exponential')@3", "CG@3"])
def test_gains_that_order_runs_differently(metric: str) -> None:
    f = only("RS304", *GAINS, metric)
    assert f.severity == "warning"
    ahead = "steep" if "exponential" in metric else "flat"
    assert f.message.startswith(f"{ahead} is ahead of")
    assert f.count == 1


def test_gains_are_told_as_numbers() -> None:
    linear, exponential = 3 + 2 / log2(3) + 2 / 2, 7 + 3 / log2(3) + 3 / 2
    f = only("RS304", *GAINS, "nDCG@3")
    assert f"({(2 + 2 / log2(3)) / linear:.4f} vs {3 / linear:.4f})" in f.message
    assert f"({(3 + 3 / log2(3)) / exponential:.4f} vs {7 / exponential:.4f})" in f.message


def test_gains_that_agree_on_the_winner_are_information() -> None:
    qrels, runs = orders((3, 2, 2, 0, 0), steep=[0, 3, 4], flat=[1, 2, 3], best=[0, 1, 2])
    f = only("RS304", qrels, runs, "nDCG@3")
    assert f.severity == "information"
    assert f.message.endswith("1 pair of 3 changes order; the same run wins")


def test_gains_that_agree_are_no_finding() -> None:
    assert not found("RS304", *orders((3, 2, 0), a=[0, 1, 2], b=[2, 1, 0]), "nDCG@3")
    assert not found("RS304", *orders((1, 1, 0), a=[0, 2, 1], b=[2, 1, 0]), "nDCG@3")  # one grade
    qrels, runs = GAINS
    assert not found("RS304", qrels, {"flat": runs["flat"]}, "nDCG@3")  # one run


# --- RS305: the top of the scale ---------------------------------------------------------------------


def test_max_grade_above_the_grades_in_use() -> None:
    f = only("RS305", judged([(2, 0)]), ranked([(2, 0)]), "ERR")
    assert f.severity == "information"
    assert f.effect["ERR"] == pytest.approx(3 / 4 - 3 / 16, abs=1e-15)
    assert "stops 19% of readers instead of 75%" in f.message
    assert "ERR(max_grade=2)" in f.hint


def test_max_grade_below_the_grades_in_use() -> None:
    f = only("RS305", judged([(3, 0)]), ranked([(3, 0)]), ["ERR(max_grade=2)", "RR"])
    assert f.severity == "warning"
    assert "evaluate refuses it" in f.message


def test_max_grade_that_decides() -> None:
    # the first document of grade 1 stops half of the readers at max_grade 1, and hardly any at 10: there what follows counts
    qrels, runs = orders((1, 1, 1, 1, 1, 0), one=[0, 5], many=[5, 1, 2, 3, 4])
    f = only("RS305", qrels, runs, "ERR(max_grade=10)")
    many = 1 / 2 / 2 + 1 / 4 / 3 + 1 / 8 / 4 + 1 / 16 / 5
    assert f.severity == "warning"
    assert "many leads on ERR(max_grade=10)" in f.message
    assert f"one on ERR(max_grade=1) (0.5000 vs {many:.4f})" in f.message


def test_the_right_scale_is_no_finding() -> None:
    data = judged([(2, 0)]), ranked([(2, 0)])
    assert not found("RS305", *data, ["ERR(max_grade=2)", "RBP", "RBP(max_grade='query')", "nDCG@10"])
    assert not found("RS305", *data, "ERR", scale="0-4")


def test_a_scale_whose_gains_do_not_fit_is_passed_over() -> None:
    assert not found("RS305", judged([(2, 0)]), ranked([(2, 0)]), "RBP(max_grade=4, gain={2: 3})")


# --- RS311, RS312: side by side ----------------------------------------------------------------------


def test_several_cutoffs_of_ndcg() -> None:
    grades = (1, 0, 1)
    f = only("RS311", judged([grades]), ranked([grades]), ["nDCG@1", "nDCG@3", "P@1", "P@2"])
    assert f.severity == "information"
    assert f"nDCG@1 1.0000 and nDCG@3 {(1 + 1 / 2) / (1 + 1 / log2(3)):.4f}" in f.message


def test_one_cutoff_of_each_is_no_finding() -> None:
    data = judged([(1, 0, 1)]), ranked([(1, 0, 1)])
    assert not found("RS311", *data, ["nDCG@3", "P@1", "P@2", "nDCG(gain='exponential')@5"])


def test_several_conventions_of_one_name() -> None:
    grades = (1, 3, 0)
    f = only("RS312", judged([grades]), ranked([grades]), ["nDCG@3", "nDCG(gain='exponential')@3"])
    assert f.severity == "warning"
    linear = (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    exponential = (1 + 7 / log2(3)) / (7 + 1 / log2(3))
    assert f.effect["nDCG(gain='exponential')@3"] == pytest.approx(exponential - linear, abs=1e-12)
    assert f"nDCG@3 is {linear:.4f}" in f.message


def test_several_ideals_and_denominators() -> None:
    data = judged([(1, 0, 1)]), ranked([(1, 0, 1)])
    assert "ideal" in only("RS312", *data, ["nDCG@3", "nDCG(ideal='judged_uncut')@3"]).message
    assert "denominator" in only("RS312", *data, ["AP@3", "AP(denominator='hits_at_k')@3"]).message


def test_other_parameters_side_by_side_are_no_finding() -> None:
    data = judged([(1, 0, 1)]), ranked([(1, 0, 1)])
    metrics = ["nDCG@3", "nDCG@1", "AP", "AP(level=2)", "RBP(p=0.5)", "RBP(p=0.8)", "nDCG(judged_only=True)@3"]
    assert not found("RS312", *data, metrics)


# --- RS313: out of what was returned -----------------------------------------------------------------

MISSED = judged([(1, 1, 1, 1, 1)]), {"q0": {"d0": 1.0}}


@pytest.mark.parametrize(
    ("metric", "right"),
    [
        ("nDCG(ideal='retrieved_topk')@5", 1 / sum(1 / log2(r + 1) for r in range(1, 6))),
        ("nDCG(ideal='retrieved_all')@5", 1 / sum(1 / log2(r + 1) for r in range(1, 6))),
        ("nDCG(ideal='judged_at_returned')@5", 1 / sum(1 / log2(r + 1) for r in range(1, 6))),
        ("AP(denominator='hits_at_k')@5", 1 / 5),
        ("P(denominator='min_k_listlen')@5", 1 / 5),
        ("R(denominator='positives_in_list')@5", 1 / 5),
    ],
)
def test_out_of_what_was_returned(metric: str, right: float) -> None:
    f = only("RS313", *MISSED, metric)
    assert f.severity == "warning"
    assert f.effect[metric] == pytest.approx(right - 1, abs=1e-12)
    assert f"scores 1.0000, but {right:.4f} out of all judged documents" in f.message


@pytest.mark.parametrize("metric", ["nDCG@5", "AP", "P@5", "R@5", "AP(denominator='min_k_relevant')@5"])
def test_out_of_all_that_is_judged_is_no_finding(metric: str) -> None:
    assert not found("RS313", *MISSED, metric)


def test_returning_less_wins_with_a_retrieved_ideal() -> None:
    qrels, runs = orders((1, 1, 0, 0), less=[0], more=[0, 2, 1])
    f = only("RS313", qrels, runs, "nDCG(ideal='retrieved_topk')@3")
    assert "another run wins: less leads" in f.message


# --- RS314: not normalised ---------------------------------------------------------------------------


def test_rich_queries_hold_most_of_a_sum() -> None:
    queries: list[Grades] = [(3, 3, 3), (1,), (1,)]
    rich = 3 + 3 / log2(3) + 3 / 2
    f = only("RS314", judged(queries), ranked(queries), "DCG@3")
    assert f.severity == "information"
    assert f"the richest of 3 queries holds {rich / (rich + 2):.0%} of its sum" in f.message


def test_rich_queries_that_decide_are_a_warning() -> None:
    qrels = judged([(3, 3), (1, 0), (1, 0)] * 40)
    good, bad = {"d0": 2.0, "d1": 1.0}, {"x": 1.0}
    rich = {q: good if max(of.values()) == 3 else bad for q, of in qrels.items()}
    runs = {"rich": rich, "poor": {q: bad if found is good else good for q, found in rich.items()}}
    f = only("RS314", qrels, runs, "DCG@2")
    assert f.severity == "warning"
    assert f"rich leads on DCG@2 ({(3 + 3 / log2(3)) / 3:.4f} vs {2 / 3:.4f})" in f.message


def test_queries_that_are_alike_or_normalised_are_no_finding() -> None:
    alike: list[Grades] = [(1, 0), (0, 1), (1, 0)]
    assert not found("RS314", judged(alike), ranked(alike), ["DCG@3", "CG@3"])
    queries: list[Grades] = [(3, 3, 3), (1,), (1,)]
    assert not found("RS314", judged(queries), ranked(queries), ["nDCG@3", "IdealDCG@3"])


# --- RS315: the same for all -------------------------------------------------------------------------


def test_zero_everywhere_is_a_warning() -> None:
    queries: list[Grades] = [(0, 1), (0, 0, 1)]
    f = only("RS315", judged(queries), ranked(queries), ["P@1", "RR"])
    assert f.severity == "warning"
    assert "P@1 is 0 for all 2 queries" in f.message


def test_a_constant_is_information() -> None:
    queries: list[Grades] = [(0, 1), (1, 0)]
    f = only("RS315", judged(queries), ranked(queries), ["Success@2", "RR", "Judged@2"])
    assert f.severity == "information"
    assert "Success@2 is 1 for every query, and cannot tell it from a better run" in f.message


def test_values_that_vary_are_no_finding() -> None:
    queries: list[Grades] = [(0, 1), (1, 0)]
    assert not found("RS315", judged(queries), ranked(queries), ["RR", "P@1", "Judged@2"])
    assert not found("RS315", judged([(1, 0)]), ranked([(1, 0)]), ["RR"])  # one query


# --- RS321 to RS323: depth ---------------------------------------------------------------------------


def tall(place: int, size: int = 100) -> Grades:
    return tuple(1.0 if rank == place else 0.0 for rank in range(1, size + 1))


def test_weight_below_rank_10() -> None:
    whole = sum(1 / log2(r + 1) for r in range(1, 101))
    below = sum(1 / log2(r + 1) for r in range(11, 101))
    f = only("RS321", judged([tall(1)]), ranked([tall(1)]), "nDCG@100")
    assert f.severity == "information"
    assert f"{below / whole:.0%} of the weight of nDCG@100" in f.message
    assert f"{below / whole:.0%}" == "78%"  # worked example 37


def test_difference_below_rank_10() -> None:
    order = list(range(20))
    qrels, runs = orders([1.0, 1.0] + [0.0] * 18, deep=[2, *order[3:], 0, 1], top=[2, 0, *order[3:], 1])
    found_at = {name: rs.evaluate(qrels, runs, "nDCG@100")[name, "nDCG@100"] for name in runs}
    ideal = 1 + 1 / log2(3)
    deep, top = (1 / log2(20) + 1 / log2(21)) / ideal, (1 / log2(3) + 1 / log2(21)) / ideal
    assert found_at == pytest.approx({"deep": deep, "top": top}, abs=1e-12)
    f = only("RS321", qrels, runs, "nDCG@100")
    by = -1 / log2(20) / ideal  # the rest of the difference stands at rank 2
    assert (
        f"top is ahead of deep by {top - deep:.4f}, of which {words.number(by, digits=4)} comes from there" in f.message
    )
    assert f.effect["nDCG@100"] == pytest.approx(-by, abs=1e-12)


@pytest.mark.parametrize("metric", ["nDCG@10", "nDCG@20", "R@100", "AP", "nDCG(discount='reciprocal')@20"])
def test_little_weight_below_is_no_finding(metric: str) -> None:
    assert not found("RS321", judged([tall(1)]), ranked([tall(1)]), metric)


def test_lists_that_all_end_at_one_rank() -> None:
    qrels = judged([(1, 0, 1), (0, 1, 1)])
    run = {q: {"d0": 2.0, "d1": 1.0} for q in qrels}
    f = only("RS322", qrels, run, ["AP", "nDCG", "P@2"])
    assert f.severity == "information"
    assert "end at rank 2, so that AP and nDCG are AP@2 and nDCG@2 there" in f.message


def test_a_run_that_was_saved_deeper_wins_for_it() -> None:
    qrels = judged([(1, 0, 0, 1)] * 8)
    short = {q: {"d0": 2.0, "d1": 1.0} for q in qrels}
    deep = {q: {"d1": 4.0, "d0": 3.0, "d3": 2.0, "d2": 1.0} for q in qrels}
    # AP: 1/2 against (1/2 + 2/3) / 2; to rank 2: 1/2 against 1/4
    f = only("RS322", qrels, {"short": short, "deep": deep}, "AP")
    assert f.severity == "warning"
    assert f.effect["AP"] == pytest.approx(1 / 4 - 7 / 12, abs=1e-12)
    assert "deep leads on AP (0.5833 vs 0.5000) and short on AP@2 (0.5000 vs 0.2500)" in f.message


def test_lists_that_hold_all_or_end_anywhere_are_no_finding() -> None:
    data = judged([(1, 0, 1)]), ranked([(1, 0, 1)])
    assert not found("RS322", *data, ["AP", "RR"])  # nothing relevant is missing
    qrels = judged([(1, 0, 1), (0, 1, 1)])
    assert not found("RS322", qrels, {"q0": {"d0": 1.0}, "q1": {"d0": 2.0, "d1": 1.0}}, "AP")
    run = {q: {"d0": 2.0, "d1": 1.0} for q in qrels}
    assert not found("RS322", qrels, run, ["AP@10", "nDCG@10", "Judged"])
    assert not found("RS322", qrels, run, "AP", depth=1)  # the caller cut them


def test_ceiling_of_precision() -> None:
    queries: list[Grades] = [(1, 0, 0, 0), (0, 1, 1, 0)]
    f = only("RS323", judged(queries), ranked(queries), "P@4")
    assert f.severity == "information"
    assert (
        f"scores {(1 / 4 + 2 / 4) / 2:.4f} on P@4: 2 queries have too few relevant documents for 4 ranks" in f.message
    )
    assert "reaches 0.3750, 100% of it" in f.message


@pytest.mark.parametrize(("metric", "ceiling"), [("R@2", 2 / 4), ("AP@2", (1 + 1) / 4)])
def test_ceiling_where_more_is_known_than_fits(metric: str, ceiling: float) -> None:
    queries: list[Grades] = [(0, 1, 1, 1, 1), (1, 1, 1, 1)]
    f = only("RS323", judged(queries), ranked(queries), metric)
    assert f"scores {ceiling:.4f} on {metric}: 2 queries have more relevant documents than 2 ranks" in f.message


@pytest.mark.parametrize("metric", ["P@2", "R@2", "AP@2", "R(denominator='min_k_relevant')@1", "nDCG@1", "AP"])
def test_no_ceiling_where_1_can_be_reached(metric: str) -> None:
    queries: list[Grades] = [(1, 1, 0), (0, 1, 1), (0, 0)]  # nothing relevant in the last is RS103's
    assert not found("RS323", judged(queries), ranked(queries), metric)


# --- RS331, RS332: areas -----------------------------------------------------------------------------


def clicked(users: Mapping[str, tuple[Sequence[int], Sequence[float]]]) -> tuple[Any, Any]:
    labels = {u: {f"i{j}": v for j, v in enumerate(labels)} for u, (labels, _) in users.items()}
    scores = {u: {f"i{j}": v for j, v in enumerate(scores)} for u, (_, scores) in users.items()}
    return labels, scores


PAIR = {"u1": ((1, 1, 1, 0), (0.9, 0.8, 0.7, 0.95)), "u2": ((1, 0, 0, 0), (0.1, 0.2, 0.25, 0.3))}  # worked example 35


@pytest.mark.parametrize("metrics", [["AUC(pooled=True)", "GAUC"], ["GAUC"], ["AUC"], ["AUC(pooled=True)"]])
def test_pooled_auc_against_gauc(metrics: list[str]) -> None:
    items = {"u1": ((1, 1, 1, 0), (0.4, 0.3, 0.35, 0.1)), "u2": ((1, 0, 0, 0), (0.9, 0.7, 0.6, 0.8))}
    # four times the same two users: GAUC tells them apart
    (qrels, knows_users), (_, knows_items) = (
        clicked({f"{user}{i}": lists for user, lists in two.items() for i in range(4)}) for two in (PAIR, items)
    )
    runs = {"users": knows_users, "items": knows_items}
    # pooled, items: of 4 x 4 pairs 4 are won by 0.9, and 0.4, 0.3, 0.35 win over 0.1 alone: 7/16; users: 9/16
    f = only("RS331", qrels, runs, metrics)
    assert f.message.startswith("over all documents and within lists, another run wins: ")
    assert f.severity == "warning"
    assert "users leads on AUC(pooled=True) (0.5625 vs 0.4375)" in f.message
    assert "items on GAUC (1.0000 vs 0.0000)" in f.message


def test_areas_that_agree_are_no_finding() -> None:
    qrels, scores = clicked(PAIR)
    good = {u: {d: float(grade) for d, grade in docs.items()} for u, docs in qrels.items()}
    assert not found("RS331", qrels, {"bad": scores, "good": good}, ["AUC(pooled=True)", "GAUC"])
    assert not found("RS331", qrels, {"bad": scores}, ["AUC(pooled=True)", "GAUC"])
    assert not found("RS331", qrels, {"bad": scores, "good": good}, ["AP"])


def test_users_of_one_class() -> None:
    queries: list[Grades] = [(1, 0), (0, 0), (1, 1)]
    f = only("RS332", judged(queries), ranked(queries), "GAUC")
    assert f.severity == "information"
    assert "GAUC is about 1 of 3 queries: 67% have" in f.message
    f = only("RS332", judged(queries), ranked(queries), "AUC(single_class=0.5)")
    assert f.message.endswith("and count as 0.5")


def test_users_of_both_classes_are_no_finding() -> None:
    queries: list[Grades] = [(1, 0), (0, 1), (1, 1)]
    assert not found("RS332", judged(queries), ranked(queries), ["GAUC", "AUC", "AP"])
