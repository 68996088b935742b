"""Each convention of each metric, as arithmetic that can be done by hand."""

from math import exp, isnan, log, log2
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.metrics import (
    AP,
    AUC,
    CG,
    DCG,
    ERR,
    GAUC,
    GMAP,
    RBP,
    RR,
    Bpref,
    GBpref,
    IPrec,
    IPrecAvg,
    Judged,
    Metric,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    R,
    Rprec,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)
from rankscope.testing import Case
from rankscope.testing.cases import values

near = pytest.approx
NOTHING = near(float("nan"), nan_ok=True)


def of(metric: Metric, *ranking: float | None, missing: tuple[float, ...] = (), tied: tuple[bool, ...] = ()) -> Any:
    """The value for one query: grades in ranked order, and grades of judged documents not retrieved."""
    return near(float(values(metric, [Case(ranking, missing, tied)])[0]), rel=1e-12, nan_ok=True)


# --- gain -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "best"),
    [
        (nDCG @ 2, 3 / log2(2) + 2 / log2(3)),
        (nDCG(), 3 / log2(2) + 2 / log2(3) + 1 / log2(4) + 1 / log2(5)),
        (nDCG(ideal="judged_uncut") @ 2, 3 / log2(2) + 2 / log2(3) + 1 / log2(4) + 1 / log2(5)),
        (nDCG(ideal="judged_at_returned") @ 2, 3 / log2(2) + 2 / log2(3)),
        (nDCG(ideal="judged_at_returned") @ 10, 3 / log2(2) + 2 / log2(3) + 1 / log2(4)),
        (nDCG(ideal="judged_at_returned"), 3 / log2(2) + 2 / log2(3) + 1 / log2(4)),
        (nDCG(ideal="retrieved_topk") @ 2, 1 / log2(2)),
        (nDCG(ideal="retrieved_all") @ 2, 2 / log2(2) + 1 / log2(3)),
        (nDCG(ideal="full_k", cutoff=2), 1 / log2(2) + 1 / log2(3)),
        (nDCG(ideal="max_grade_k", max_grade=4, cutoff=2), 4 / log2(2) + 4 / log2(3)),
    ],
    ids=str,
)
def test_the_ideal_is_made_of_what_was_asked(metric: nDCG, best: float) -> None:
    # three returned, one of grade 3 and one of grade 1 missed
    got = 1 / log2(3) + (2 / log2(4) if metric.cutoff != 2 else 0)
    assert of(metric, 0, 1, 2, missing=(3, 1)) == got / best


def test_a_longer_ideal_than_the_list() -> None:
    assert of(nDCG @ 10, 1, missing=(1, 1)) == 1 / (1 + 1 / log2(3) + 1 / log2(4))
    assert of(nDCG(ideal="full_k", cutoff=3), 3) == 3 / (1 + 1 / log2(3) + 1 / log2(4))


def test_gains() -> None:
    assert of(DCG(), 3, 1) == 3 + 1 / log2(3)
    assert of(DCG(gain="exponential"), 3, 1) == (2**3 - 1) + (2**1 - 1) / log2(3)
    assert of(DCG(gain="exponential"), 0.5) == 2**0.5 - 1
    assert of(CG @ 2, 3, 1, 2) == 3 + 1


def test_a_grade_missing_from_the_table_keeps_its_linear_gain() -> None:
    table: Any = {1: 3, 2: 9}
    assert of(DCG(gain=table), 1, 2, 3, 0) == 3 + 9 / log2(3) + 3 / log2(4)


def test_the_ideal_is_sorted_by_gain_where_the_table_falls() -> None:
    table: Any = {1: 2, 2: 5, 3: 1}
    assert of(nDCG(gain=table), 3, 2, 1) == (1 + 5 / log2(3) + 2 / log2(4)) / (5 + 2 / log2(3) + 1 / log2(4))
    assert of(nDCG(gain=table) @ 1, 2, missing=(3, 3, 1)) == 5 / 5


def test_a_table_may_value_grade_0_but_never_what_nobody_judged() -> None:
    table: Any = {0: 1}
    assert of(DCG(gain=table), None, 0, -1) == 1 / log2(3)


def test_discounts() -> None:
    assert of(DCG(discount="reciprocal"), 1, 1, 1) == 1 + 1 / 2 + 1 / 3
    assert of(DCG(discount="none"), 1, None, 2) == 1 + 2
    table: Any = {1: 1, 2: 0.5}
    assert of(DCG(discount=table), 1, 1, 1) == 1 + 0.5
    growing: Any = {1: 1, 2: 4}
    assert of(nDCG(discount=growing), 0, 1) == 4 / 1
    assert nDCG(discount=growing).range == (0, float("inf"))


def test_negative_grades_gain_nothing_and_are_not_in_the_ideal() -> None:
    assert of(nDCG(), -2, 1, missing=(-1,)) == (1 / log2(3)) / 1
    assert of(nDCG(), -2, missing=(-1,)) == 0
    assert of(DCG(gain="exponential"), -1) == 0


def test_unjudged_documents_take_a_rank_unless_left_out() -> None:
    assert of(nDCG @ 2, None, None, 1) == 0
    assert of(nDCG(judged_only=True) @ 2, None, None, 1) == 1
    assert of(nDCG(judged_only=True) @ 2, -1, None, 1) == 1
    assert of(AP(judged_only=True), None, 0, -1, 1) == 1 / 2


def test_max_grade_of_the_ideal_is_never_exceeded() -> None:
    with pytest.raises(InputError, match=r"a document has grade 3, above max_grade=2; write nDCG\(.*max_grade=3\)@5"):
        of(nDCG(ideal="max_grade_k", max_grade=2, cutoff=5), 0, missing=(3,))


# --- browsing ---------------------------------------------------------------------------------------


def test_err_stops_at_a_satisfying_document() -> None:
    s = [(2**g - 1) / 2**4 for g in (3, 1, 4)]
    assert of(ERR(), 3, 1, 4) == s[0] + (1 - s[0]) * s[1] / 2 + (1 - s[0]) * (1 - s[1]) * s[2] / 3
    assert of(ERR @ 2, 3, 1, 4) == s[0] + (1 - s[0]) * s[1] / 2
    assert of(ERR(max_grade=1), 0, 1) == (1 / 2) / 2


def test_err_refuses_grades_above_its_scale() -> None:
    with pytest.raises(InputError, match=r"ERR: a document has grade 5, above max_grade=4; write ERR\(max_grade=5\)"):
        of(ERR(), 1, missing=(5,))


def test_rbp_has_three_gains() -> None:
    weights = [(1 - 0.8) * 0.8**i for i in range(3)]
    assert of(RBP(), 1, 0, 3) == weights[0] + weights[2]
    assert of(RBP(level=2), 1, 0, 3) == weights[2]
    assert of(RBP(max_grade=4), 1, 0, 3) == weights[0] / 4 + weights[2] * 3 / 4
    assert of(RBP(max_grade="query"), 1, 0, 2, missing=(3,)) == weights[0] / 3 + weights[2] * 2 / 3
    assert of(RBP(max_grade="query"), 0.5, 0) == weights[0] * 0.5  # a best grade below 1 is not blown up
    assert (RBP().relevance, RBP(max_grade=4).relevance) == ("binary", "graded")


def test_rbp_at_the_ends_of_patience() -> None:
    assert of(RBP(p=0), 1, 1) == 1
    assert of(RBP(p=1), 1, 1) == 0


# --- relevant or not ----------------------------------------------------------------------------------


def test_precision_divides_by_k() -> None:
    assert of(P @ 5, 1, 0, 1) == 2 / 5
    assert of(P(denominator="min_k_listlen", cutoff=5), 1, 0, 1) == 2 / 3
    assert of(P(denominator="min_k_listlen", cutoff=2), 1, 0, 1) == 1 / 2
    assert of(P(denominator="min_k_relevant", cutoff=5), 1, 0, 1, missing=(1, 0)) == 2 / 3
    assert of(P(denominator="min_k_relevant", cutoff=5), 0) == 0


def test_recall_divides_by_all_known() -> None:
    assert of(R @ 2, 1, 0, 1, missing=(1, 1, 0, -1)) == 1 / 4
    assert of(R(denominator="min_k_relevant", cutoff=2), 1, 0, 1, missing=(1, 1)) == 1 / 2
    assert of(R(denominator="positives_in_list", cutoff=2), 1, 0, 1, missing=(1, 1)) == 1 / 2
    assert of(R(level=2, cutoff=3), 1, 2, missing=(2,)) == 1 / 2


@pytest.mark.parametrize(
    ("denominator", "out_of"),
    [("relevant", 5), ("min_k_relevant", 4), ("min_relevant_listlen", 3), ("hits_at_k", 2), ("k", 4)],
)
def test_average_precision_has_five_denominators(denominator: Any, out_of: int) -> None:
    assert of(AP(denominator=denominator, cutoff=4), 1, 0, 1, missing=(1, 1, 1)) == (1 / 1 + 2 / 3) / out_of


def test_one_more_hit_may_lower_a_mean_over_hits() -> None:
    metric = AP(denominator="hits_at_k", cutoff=3)
    assert of(metric, 1, 0, 0, 1) == 1
    assert of(metric, 1, 0, 1, 0) == (1 + 2 / 3) / 2
    assert not metric.monotone
    assert AP(denominator="hits_at_k").monotone


def test_reciprocal_rank_where_nothing_is_found() -> None:
    assert of(RR(), 0, None, 2) == 1 / 3
    assert of(RR @ 2, 0, None, 2) == 0
    assert of(RR(not_found="skip") @ 2, 0, None, 2) == NOTHING
    assert of(RR(not_found="skip") @ 2, 0, 2) == 1 / 2
    scores = rs.evaluate(
        {"a": {"x": 1}, "b": {"x": 1}}, {"a": {"y": 2.0, "x": 1.0}, "b": {"y": 1.0}}, ["RR", "RR(not_found='skip')"]
    )
    assert scores["RR"] == (1 / 2 + 0) / 2
    assert scores["RR(not_found='skip')"] == 1 / 2


def test_success_is_one_or_nothing() -> None:
    assert of(Success @ 3, 0, 1, 1) == 1
    assert of(Success(level=2, cutoff=3), 0, 1, 1) == 0


def test_r_precision_stops_at_r() -> None:
    assert of(Rprec(), 1, 0, 1, missing=(1,)) == 2 / 3
    assert of(Rprec(), 0, 1) == 0 / 1
    assert of(Rprec(), 1, missing=(1, 1, 1)) == 1 / 4


def test_sets() -> None:
    assert of(SetP(), 1, None, 0, 1) == 2 / 4
    assert of(SetP(judged_only=True), 1, None, 0, 1) == 2 / 3
    assert of(SetR(), 1, 0, missing=(1, 1)) == 1 / 3
    precision, recall = 2 / 4, 2 / 3
    for beta in (0.5, 1, 2):
        expected = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        assert of(SetF(beta=beta), 1, 0, 1, 0, missing=(1,)) == expected


def test_level_0_makes_every_graded_document_relevant() -> None:
    assert of(P(level=0, cutoff=4), 0, 1, None, -1) == 2 / 4
    assert of(R(level=0, cutoff=1), 0, 1, missing=(0, -1)) == 1 / 3


def test_nothing_out_of_nothing_is_nothing() -> None:
    for metric in (nDCG(), AP(), R @ 5, SetP(), SetR(), SetF(), Rprec(), Bpref(), infAP(), Judged @ 5):
        assert of(metric) == 0
    for metric in (nDCG(), AP(), R @ 5, SetR(), Rprec(), Bpref(), infAP()):
        assert of(metric, 0, None, -1) == 0


# --- interpolated ---------------------------------------------------------------------------------------


def test_interpolated_precision_is_the_best_from_there_on() -> None:
    # relevant at 1, 4 and 5: precision 1, 2/4, 3/5
    ranking = (1, 0, 0, 1, 1)
    assert of(IPrec @ 0, *ranking) == 1
    assert of(IPrec(recall=2 / 3), *ranking) == 3 / 5
    assert of(IPrec @ 1, *ranking) == 3 / 5
    assert of(IPrec @ 1, *ranking, missing=(1,)) == 0


def test_the_documents_that_a_recall_means_are_rounded_in_two_ways() -> None:
    # 0.3 of 4 relevant documents is 1.2: one document as of version 10, two before
    ranking = (1, 0, 0, 1)
    assert of(IPrec(compat=10, recall=0.3), *ranking, missing=(1, 1)) == 1
    assert of(IPrec(compat=9, recall=0.3), *ranking, missing=(1, 1)) == 2 / 4
    # half a document away from zero: 0.5 of 3 is two
    assert of(IPrec @ 0.5, 1, 0, 1, missing=(1,)) == 2 / 3


def test_eleven_points() -> None:
    # of two relevant documents found at 1 and 4: recall up to 0.7 rounds to one document, then two
    assert of(IPrecAvg(), 1, 0, 0, 1) == (8 * 1 + 3 * (2 / 4)) / 11
    assert of(IPrecAvg(points=(0, 1)), 1, 0, 0, 1) == (1 + 2 / 4) / 2


# --- incomplete judgments ---------------------------------------------------------------------------------


def test_bpref_counts_judged_non_relevant_above() -> None:
    # R = 3, N = 2
    assert of(Bpref(), 1, 0, None, 1, -1, missing=(1, 0)) == (1 + (1 - 1 / 2)) / 3
    # more non-relevant above than R are no worse than R
    assert of(Bpref(), 0, 0, 0, 1) == (1 - 1 / 1) / 1
    # N = 2, R = 1: divided by the smaller
    assert of(Bpref(), 0, 1, 0) == 0


def test_bpref_without_a_non_relevant_document() -> None:
    assert of(Bpref(), 1, None, 1) == 2 / 2
    assert of(Bpref(), 1, -1, missing=(1,)) == 1 / 2


def test_bpref_is_blind_to_unjudged_documents() -> None:
    plain = values(Bpref(), [Case((1, 0, 1, 0, 1), (1,))])
    gaps = values(Bpref(), [Case((None, 1, -1, 0, None, 1, 0, None, 1, -2), (1,))])
    assert plain == gaps


def test_geometric_means() -> None:
    qrels = {"a": {"x": 1}, "b": {"x": 1}}
    run = {"a": {"x": 1.0}, "b": {"y": 1.0}}
    for metric in (GMAP, GBpref):
        assert rs.evaluate(qrels, run, metric)[str(metric())] == near(exp((log(1) + log(0.00001)) / 2))


def test_inferred_ap_tells_the_sampled_pool_from_the_rest() -> None:
    e = 0.00001
    # absent, pooled, not relevant, relevant at rank 4: of the three above, two are in the pool, one is judged
    expected = 1 / 4 + 3 / 4 * (2 / 3) * (0 + e) / (1 + 2 * e)
    assert of(infAP(), None, -1, 0, 1) == expected
    # where nobody judged what stands above, the guess is one half
    assert of(infAP(), -1, 1) == 1 / 2 + 1 / 2 * (1 / 1) * e / (2 * e)


def test_judged_counts_what_stands_in_the_qrels() -> None:
    assert of(Judged @ 4, 1, None, -1, 0, None) == 3 / 4
    assert of(Judged @ 10, 1, None, -1, 0, None) == 3 / 5


def test_counts_are_added_up() -> None:
    qrels = {"a": {"x": 1, "y": 2}, "b": {"x": 0}, "c": {"z": 1}}
    run = {"a": {"x": 2.0, "w": 1.0}, "b": {"x": 1.0}}
    scores = rs.evaluate(qrels, run, [NumQ, NumRet, NumRel, NumRelRet, NumRel(level=2)])
    assert [scores[str(m)] for m in (NumQ(), NumRet(), NumRel(), NumRelRet(), NumRel(level=2))] == [
        3,
        2 + 1,
        2 + 0 + 1,
        1,
        1,
    ]


# --- pairs ------------------------------------------------------------------------------------------------


def test_auc_counts_pairs_and_halves_ties() -> None:
    assert of(AUC(), 1, 0, 1, 0) == 3 / 4
    assert of(AUC(), 1, 0, tied=(False, True)) == 1 / 2
    assert of(AUC(), 0, 1, 1, 0, tied=(False, False, False, True)) == (0 + 1 + 0 + 1 / 2) / 4
    assert of(AUC(), 1, None, 0, missing=(1, 0)) == 1
    assert of(AUC(), 2, 1, 0) == 1
    assert of(AUC(level=2), 1, 2, 0) == 1 / 2


@pytest.mark.parametrize("ranking", [(), (1, 1), (0, 0), (None,), (1, -1)])
def test_auc_of_one_class_is_undefined(ranking: tuple[float | None, ...]) -> None:
    assert of(AUC(), *ranking) == NOTHING


def test_auc_leaves_undefined_queries_out_of_the_mean() -> None:
    qrels = {"a": {"x": 1, "y": 0}, "b": {"x": 1}}
    run = {"a": {"x": 1.0, "y": 2.0}, "b": {"x": 1.0}}
    scores = rs.evaluate(qrels, run, AUC)
    assert scores["AUC"] == 0 / 1
    assert isnan(scores.runs[0].values[AUC()][1])


def test_pooled_auc_compares_across_queries() -> None:
    qrels = {"a": {"x": 1, "y": 0}, "b": {"x": 1, "y": 0, "z": -1}}
    run = {"a": {"x": 9.0, "y": 8.0}, "b": {"x": 3.0, "y": 2.0, "z": 1.0}}
    scores = rs.evaluate(qrels, run, [AUC, AUC(pooled=True)])
    assert scores["AUC"] == (1 + 1) / 2
    assert scores["AUC(pooled=True)"] == (2 + 1) / 4  # 9 above 8 and 2, 3 above 2 only
    run["b"]["x"] = 8.0
    assert rs.evaluate(qrels, run, AUC(pooled=True))["AUC(pooled=True)"] == (2 + (1 / 2 + 1)) / 4


@pytest.mark.parametrize(
    ("weights", "a", "b"), [("length", 3, 2), ("positives", 2, 1), ("pairs", 2 * 1, 1 * 1), ("equal", 1, 1)]
)
def test_gauc_has_four_weights(weights: Any, a: float, b: float) -> None:
    qrels = {"a": {"x": 1, "y": 0, "z": 1}, "b": {"x": 0, "y": 1}, "one class": {"x": 1}}
    run = {"a": {"x": 3.0, "y": 2.0, "z": 1.0}, "b": {"x": 1.0, "y": 2.0}, "one class": {"x": 1.0}}
    metric = GAUC(weights=weights)
    assert rs.evaluate(qrels, run, metric)[str(metric)] == near((a * (1 / 2) + b * 1) / (a + b))


# --- what holds for all ---------------------------------------------------------------------------------------


def test_shares_name_what_each_document_adds() -> None:
    from rankscope.testing.cases import judged

    lists = judged((Case((1, 0, 1), (1,)),)).lists(np.array([0]))
    terms = AP().taken_apart(lists)
    assert list(terms.factors) == ["relevant", "precision so far"]
    assert terms.worth.tolist() == [3]
    assert terms.shares.tolist() == [[1 / 1 / 3, 0, 2 / 3 / 3]]


def test_cutting_never_touches_what_is_known() -> None:
    assert of(AP @ 1, 1, 1, 1) == 1 / 3
    assert of(IPrec @ 0.5, 1, 0, missing=(1,)) == 1
