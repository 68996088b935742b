"""Rules about metrics against the grades: each finds its case, is silent on a clean one, and tells the size of the effect as arithmetic does."""

from __future__ import annotations

from math import log2

import pytest
from tests.verbs.check.grade_lists import Grades, found, judged, only, orders, ranked

import rankscope as rs

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
