"""trec_eval's less common measures: the published formulas worked out document by document, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from math import log, log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.declared import Lookup
from rankscope.errors import InputError
from rankscope.metrics import CATALOGUE, parse, parse_many
from rankscope.metrics.browsing import RBP, RBPResidual
from rankscope.metrics.buckley import YAAP, BinG, G, RnDCG, RprecMult, nDCGRel
from rankscope.metrics.gain import IdealDCG, nDCG
from rankscope.metrics.pooled import Judged, Unjudged
from rankscope.metrics.relevance import AP, P
from rankscope.metrics.sets import NumNonrelRet, SetAP, SetP, SetR, Utility
from rankscope.metrics.trec import ALL_TREC, OFFICIAL, spell_value
from rankscope.testing import check_metric

Grades = list[float | None]


@pytest.mark.parametrize(
    "metric",
    [
        Utility(weights=(1, -2, -1, 0.5), documents=500),
        RBP(gain=Lookup.of({1: 1, 2: 3}), max_grade=4, p=0.5) @ 3,
        G(gain=Lookup.of({1: 0.5, 2: 0.25})),
        RnDCG(gain=Lookup.of({1: 0.5, 2: 0.25}), level=2),
        AP(denominator="min_k_positives_in_list", level=2, judged_only=True) @ 2,
    ],
    ids=str,
)
def test_laws_of_parameters_that_go_together(metric: rs.Metric) -> None:
    check_metric(metric)


# --- one document after another, as the measures are described: gains of the list and of the ideal ----------


def worth(gain: dict[float, float], grade: float | None) -> float:
    return 0.0 if grade is None or grade < 0 else gain.get(grade, grade)


def dcg(gains: list[float]) -> float:
    return sum(g / log2(r + 1) for r, g in enumerate(gains, start=1))


def ndcg(found: list[float], ideal: list[float], depth: int) -> float:
    return dcg(found[:depth]) / dcg(ideal[:depth])


def g(found: list[float], ideal: list[float]) -> float:
    cost = gain = total = 0.0
    for r, earned in enumerate(found):
        cost += max(ideal[r] if r < len(ideal) else 0.0, 1.0)
        gain += earned
        total += earned / log2(2 + cost - gain)
    return total / sum(ideal)


def rndcg(found: list[float], ideal: list[float]) -> float:
    depths = [r for r in range(1, len(ideal) + 1) if r == len(ideal) or ideal[r] != ideal[r - 1]]
    if len(found) > len(ideal) + 1:
        depths.append(len(found))
    return sum(ndcg(found, ideal, depth) for depth in depths) / len(depths)


def ndcg_rel(found: list[float], ideal: list[float]) -> float:
    points = [r for r, gain in enumerate(found, start=1) if gain > 0]
    at_end = dcg(found) / dcg(ideal)
    return (sum(ndcg(found, ideal, r) for r in points) + (len(ideal) - len(points)) * at_end) / len(ideal)


def made_up(seed: int) -> tuple[Grades, list[float]]:
    """One graded list, and the grades of judged documents that it does not hold."""
    rng = np.random.default_rng(seed)
    scale: Grades = [None, -1.0, 0.0, 0.0, 1.0, 2.0, 3.0]
    ranking = [scale[i] for i in rng.integers(len(scale), size=int(rng.integers(0, 12)))]
    return ranking, rng.integers(0, 4, size=int(rng.integers(1, 5))).astype(float).tolist()


@pytest.mark.parametrize("gain", [{}, {1.0: 3.5, 2.0: 9.0}, {1.0: 0.25, 3.0: 0.5}])
@pytest.mark.parametrize(("metric", "formula"), [(G, g), (RnDCG, rndcg), (nDCGRel, ndcg_rel)])
def test_gains_against_the_formula(
    metric: Any, formula: Callable[[list[float], list[float]], float], gain: dict[float, float]
) -> None:
    compared = 0
    for seed in range(200):
        ranking, missing = made_up(seed)
        judged = [grade for grade in (*ranking, *missing) if grade is not None and grade >= 0]
        ideal = sorted((w for grade in judged if (w := worth(gain, grade)) > 0), reverse=True)
        if ideal:
            found = [worth(gain, grade) for grade in ranking]
            ours = metric(**({"gain": gain} if gain else {})).of(ranking, ideal=judged)
            assert ours == pytest.approx(formula(found, ideal), abs=1e-12), (ranking, missing)
            compared += 1
    assert compared > 150


def test_an_ideal_list_scores_one_under_each() -> None:
    for metric in (G(), RnDCG(), nDCGRel(), BinG(), nDCG()):
        assert metric.of([3, 2, 2, 1]) == 1.0


@pytest.mark.parametrize(("returned", "points"), [(2, 1), (3, 1), (4, 2)])
def test_rndcg_takes_the_end_of_the_list_as_trec_eval_does(returned: int, points: int) -> None:
    """Two documents of one gain: the end counts from a list of four on."""
    ranking = [1, 0, 1, 0][:returned]
    ideal = dcg([1, 1])
    at = [dcg([float(x) for x in ranking[:2]]) / ideal, dcg([float(x) for x in ranking]) / ideal][:points]
    assert RnDCG().of(ranking, known=2) == pytest.approx(sum(at) / points)


def test_a_level_leaves_gains_alone() -> None:
    assert RnDCG(level=2).of([1, 2]) == RnDCG().of([1, 2]) > 0
    assert RnDCG(level=2).of([1, 1]) == 0.0


def test_bing_and_g_agree_where_grades_are_zero_or_one() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        ranking = rng.integers(0, 2, size=10).tolist()
        assert BinG().of(ranking, known=12) == pytest.approx(G().of(ranking, known=12), abs=1e-12)


def test_yaap_is_the_log_odds_of_average_precision() -> None:
    ranking, known = [1, 0, 1, 1], 5
    s = AP().of(ranking, known=known) * known
    assert YAAP().of(ranking, known=known) == pytest.approx(log((1 + s) / (1 + known - s)))
    assert YAAP().of([0, 0], known=3) == pytest.approx(-log(4))
    assert YAAP().of([], known=0) == 0.0


# --- sets and counts ---------------------------------------------------------------------------------


def test_utility_adds_up_the_contingency_table() -> None:
    # 2 relevant and 3 others returned, of which one without a judgment; 4 relevant missed, 91 others left out
    metric = Utility(weights=(3, -1, -0.5, 0.01), documents=100)
    assert metric.of([1, 0, None, 1, -1], known=6) == pytest.approx(3 * 2 - 3 - 0.5 * 4 + 0.01 * 91)
    assert Utility().of([2, 1, 0]) == 1.0
    assert Utility(level=2).of([2, 1, 0]) == -1.0


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (lambda: Utility(weights=(1, 2)), "four weights"),
        (lambda: Utility(weights=(1, 0, 0, 1)).of([1]), "needs the number of documents"),
        (lambda: Utility(weights=(1, 0, 0, 1), documents=2).of([1, 0, 0]), "more documents than documents=2"),
        (lambda: RBP(gain=Lookup.of({1: 3})), "above 1"),
        (lambda: RBP(gain=Lookup.of({1: 3}), max_grade=2), "max_grade=2"),
        (lambda: RBP(gain=Lookup.of({1: -1})), "0 or more"),
        (lambda: RBP(gain=Lookup.of({1: 1})).of([4]), "a document gains 4"),
        (lambda: parse("rbp.p=half"), "rbp.p=0.5"),
        (lambda: parse("rbp.p=2"), "from 0 to 1"),
        (lambda: parse("G.1"), "1=3.5,2=9"),
        (lambda: parse("set_map.5"), "no values"),
    ],
)
def test_refused_in_one_line(said: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        said()
    assert "\n" not in str(error.value)


def test_sets() -> None:
    ranking: Grades = [1, 0, None, 2]
    assert SetP(relative=True).of(ranking, known=3) == 2 / 3
    assert SetP(relative=True).of(ranking, known=40) == SetP().of(ranking, known=40) == 2 / 4
    both = SetP().of(ranking, known=5) * SetR().of(ranking, known=5)
    assert SetAP().of(ranking, known=5) == pytest.approx(both)
    assert parse("SetRelP") == parse("SetP(relative=True)") == parse("set_relative_P")
    assert parse("SetAP(rel=2)") == SetAP(level=2)


def test_unjudged_is_what_judged_leaves_but_for_short_lists_and_pooled_documents() -> None:
    assert (Unjudged @ 4).of([1, None, 0, None]) == 1 - (Judged @ 4).of([1, None, 0, None])
    assert (Unjudged @ 4).of([1, None]) == 1 / 4
    assert (Judged @ 4).of([1, None]) == 1 / 2
    assert (Unjudged @ 2).of([1, -1]) == 1 / 2
    assert (Judged @ 2).of([1, -1]) == 1.0


def test_precision_at_multiples_of_what_is_relevant() -> None:
    ranking = [1, 0, 1, 1]  # 0.3 x 5 + 0.9 is 2.4, 0.2 x 5 + 0.9 is 1.9, 2 x 5 + 0.9 is 10.9
    for multiple, expected in [(0.3, 1 / 2), (0.2, 1 / 1), (2, 3 / 10), (1, 3 / 5)]:
        assert (RprecMult @ multiple).of(ranking, known=5) == expected
    assert (RprecMult @ 1).of([0, 0], known=0) == 0.0


@pytest.mark.parametrize(
    ("denominator", "cutoff", "worth"),
    [("positives_in_list", 3, 3), ("positives_in_list", None, 3), ("min_k_positives_in_list", 2, 2)],
)
def test_average_precision_over_what_the_list_holds(denominator: Any, cutoff: int | None, worth: int) -> None:
    ranking = [0, 1, 0, 1, 0, 1]
    metric = AP(denominator=denominator, cutoff=cutoff)
    precisions = [1 / 2, 2 / 4, 3 / 6][: sum(ranking[:cutoff])]
    assert metric.of(ranking, known=50) == pytest.approx(sum(precisions) / worth)


def test_a_divisor_of_k_needs_k() -> None:
    with pytest.raises(InputError, match="needs a cutoff"):
        AP(denominator="min_k_positives_in_list").of([1])


# --- rank-biased precision ---------------------------------------------------------------------------


def test_the_residual_is_what_perfect_judgments_would_add() -> None:
    """Were all unjudged documents and all below the list relevant, the value would be RBP and this together."""
    for seed in range(50):
        ranking, _ = made_up(seed)
        binary = [None if x is None or x < 0 else float(x > 0) for x in ranking]
        filled = [1.0 if x is None else x for x in binary] + [1.0] * 400
        least, most = RBP(p=0.9).of(binary), RBP(p=0.9).of(filled)
        assert RBPResidual(p=0.9).of(ranking) == pytest.approx(most - least, abs=1e-12)


def test_the_residual_as_trec_eval_computes_it() -> None:
    theirs = RBPResidual(p=0.9, tail="with_unjudged")
    assert theirs.trec_name() == "rbp_resid"
    assert theirs.of([1, 0]) == theirs.of([]) == 0.0
    assert RBPResidual(p=0.9).of([1, 0]) == pytest.approx(0.9**2)
    for grades in ([1, None], [1, -1]):
        assert theirs.of(grades) == RBPResidual(p=0.9).of(grades) == pytest.approx(0.9**2 + 0.1 * 0.9)


def test_gains_of_rank_biased_precision() -> None:
    """trec_eval divides by the largest gain that the query's grades and the table have between them, if above 1."""
    rbp = parse("rbp.p=0.5,1=1,2=3")
    assert rbp == RBP(p=0.5, gain=Lookup.of({1: 1, 2: 3}), max_grade="query")
    assert rbp.of([2, 0, 1]) == pytest.approx(0.5 * (3 / 3 + 0.25 / 3))
    assert rbp.of([1]) == pytest.approx(0.5 / 3)
    assert rbp.of([4]) == pytest.approx(0.5)
    # grade 2 is on the scale of a query whose best grade is 3, though no document has it
    assert RBP(p=0.5, gain=Lookup.of({3: 0.5}), max_grade="query").of([3, 1]) == pytest.approx(0.5 * (0.25 + 0.5 / 2))
    assert RBP(p=0.5, gain=Lookup.of({1: 0.5, 2: 1})).of([1, 2]) == pytest.approx(0.5 * (0.5 + 0.5))
    assert RBP(p=0.5, gain=Lookup.of({1: 1, 2: 4}), max_grade=8).of([2]) == pytest.approx(0.5 * 4 / 8)


# --- names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "metric"),
    [
        ("relative_P_5", P(denominator="min_k_relevant") @ 5),
        ("utility", Utility()),
        ("utility_2,-1,0,0", Utility(weights=(2, -1, 0, 0))),
        ("Rprec_mult_0.20", RprecMult @ 0.2),
        ("G_1=3.5,2=9", G(gain=Lookup.of({1: 3.5, 2: 9}))),
        ("Rndcg", RnDCG()),
        ("ndcg_rel", nDCGRel()),
        ("binG", BinG()),
        ("yaap", YAAP()),
        ("ideal_dcg", IdealDCG()),
        ("unj_5", Unjudged @ 5),
        ("rbp", RBP(p=0.9, max_grade="query")),
        ("rbp_p=0.5", RBP(p=0.5, max_grade="query")),
        ("rbp_1=1,2=3", RBP(p=0.9, max_grade="query", gain=Lookup.of({1: 1, 2: 3}))),
        ("num_nonrel_judged_ret", NumNonrelRet()),
    ],
)
def test_printed_names_read_back(asked: str, metric: rs.Metric) -> None:
    assert parse(asked) == metric
    assert metric.trec_name() == asked


def test_all_trec_is_the_set_of_that_name(shared_data: Callable[[str], Path]) -> None:
    lines = shared_data("trec_eval/out.test.a").read_text().splitlines()
    printed = [name for line in lines if (name := line.split()[0]) not in {"runid", "relstring"}]
    assert [name for name, _ in parse_many("all_trec")] == printed


def test_only_measures_outside_the_sets_are_left_out_of_all_trec() -> None:
    known = {spec.name for cls in CATALOGUE.values() for spec in cls.trec}
    assert set(OFFICIAL) <= set(ALL_TREC) <= known
    assert {"dcg", "ideal_dcg", "yaap"} <= known - set(ALL_TREC)


@pytest.mark.parametrize(("value", "text"), [(0.25, ".25"), (10.5, "10.5"), (3.0, "3"), ((1.0, 3.5), "1=3.5")], ids=str)
def test_values_in_printed_names(value: Any, text: str) -> None:
    assert spell_value(value) == text
