"""Rules about metrics: each finds its case, is silent on a clean one, and tells the size of the effect as arithmetic does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from typing import Any

import pytest
from tests.verbs.check.grade_lists import Grades, found, judged, only, orders, ranked

import rankscope as rs
from rankscope import words

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


def test_a_copy_cut_shorter_is_warned_of_in_every_verb() -> None:
    qrels = judged([(1, 0, 1, 1)] * 8)
    full = {q: {"d0": 4.0, "d1": 3.0, "d2": 2.0, "d3": 1.0} for q in qrels}
    runs = {"full": full, "cut": {q: dict(list(docs.items())[:2]) for q, docs in full.items()}}
    by = 1 / 3 - (1 + 2 / 3 + 3 / 4) / 3
    said = f"the lists of cut end at rank 2, so that AP is AP@2 there; cutting all runs there: up to {words.number(by, digits=3)} AP of full"
    results = (
        rs.evaluate(qrels, runs, ["AP", "P@2"]),
        rs.compare(qrels, runs, "AP"),
        rs.gate(qrels, runs["full"], runs["cut"], "AP"),
    )
    for result in results:
        (warning,) = [one for one in result.warnings if one.code == "RS322"]
        assert warning.message.replace("candidate", "cut").replace("baseline", "full") == said
    assert only("RS322", qrels, runs, "AP").severity == "warning"
    for same in (["AP@2", "P@2"], ["R@2"]):
        assert not any(one.code == "RS322" for one in rs.evaluate(qrels, runs, same).warnings)
    assert not any(one.code == "RS322" for one in rs.evaluate(qrels, runs, "AP", depth=2).warnings)
    uneven = {**runs, "cut": runs["cut"] | {q: full[q] for q in list(qrels)[:5]}}  # most lists are not cut
    assert not any(one.code == "RS322" for one in rs.evaluate(qrels, uneven, "AP").warnings)


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
