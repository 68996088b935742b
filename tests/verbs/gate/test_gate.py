"""The gate: its rule on worked values, its promise, what it refuses."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankscope as rs
from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.inference.power import queries_needed
from rankscope.metrics import parse
from rankscope.panels.contrast import contrast
from rankscope.panels.method import Margin, method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.panels.tolerance import tolerances_of
from rankscope.verbs.gate.checks import draft_check, settle_checks
from rankscope.verbs.gate.gate import gate

QRELS = {f"q{i:02}": {"good": 1} for i in range(40)}
METHOD = method_of()


def placed(ranks: Mapping[str, int] | Sequence[int]) -> dict[str, dict[str, float]]:
    """A run with the one good document of each query at a rank; 0 leaves it out."""
    ranked = ranks if isinstance(ranks, Mapping) else {f"q{i:02}": rank for i, rank in enumerate(ranks)}
    out = {}
    for query, rank in ranked.items():
        docs = [f"d{i}" for i in range(1, 12)]
        if rank:
            docs.insert(rank - 1, "good")
        out[query] = {doc: float(100 - i) for i, doc in enumerate(docs)}
    return out


SAME = placed([2] * 40)


def changed(better: int, worse: int) -> dict[str, dict[str, float]]:
    """RR 1 instead of 1/2 on the first queries, 1/4 instead of 1/2 on the last."""
    return placed([1] * better + [2] * (40 - better - worse) + [4] * worse)


def checked(
    baseline: Any, run: Any, tolerance: float = 0.01, fail_on: Any = "loss", metric: str = "RR", **more: Any
) -> Any:
    """A check of plain arrays of values."""
    values = np.array([baseline, run], dtype=float)
    ids = tuple(f"q{i:04}" for i in range(values.shape[1]))
    m = parse(metric)
    panel = Panel(Measure.of(m), ("a", "b"), ids, values, **more)
    draft = draft_check(contrast(panel, "b", "a", METHOD), Margin(tolerance), fail_on)
    return settle_checks([draft], fail_on, METHOD)[0]


# --- the rule -----------------------------------------------------------------------------------------


def test_a_run_against_itself_passes() -> None:
    verdict = gate(QRELS, SAME, SAME, "RR AP", tolerance=0)
    assert (verdict.status, verdict.exit_code, verdict.passed) == ("pass", 0, True)
    assert [c.method for c in verdict.checks] == ["nothing changed"] * 2
    assert (
        verdict.sentence
        == "pass: nothing changed: candidate scores the same as baseline on all 40 queries (RR and AP)."
    )


def test_a_proved_loss_fails_as_scipy_says() -> None:
    from scipy import stats

    verdict = gate(QRELS, SAME, changed(2, 20), "RR")
    (check,) = verdict.checks
    differences = [1 / 2] * 2 + [0.0] * 18 + [-1 / 4] * 20
    found = stats.ttest_1samp(differences, 0)
    low, high = found.confidence_interval(0.95)
    assert (verdict.status, verdict.exit_code) == ("fail", 1)
    assert check.difference == pytest.approx((2 / 2 - 20 / 4) / 40, abs=1e-15)
    assert (check.lower, check.upper) == pytest.approx((low, high), rel=1e-12)
    assert check.p_value == check.p_value_adjusted == pytest.approx(found.pvalue, rel=1e-9)
    assert (check.wins, check.losses, check.ties, check.queries) == (2, 20, 18, 40)
    assert check.method == "t interval"


@pytest.mark.parametrize(("fail_on", "gap"), [("loss", 0.025), ("tolerance", 0.015)])
def test_queries_needed_are_those_of_the_nearer_end(fail_on: Any, gap: float) -> None:
    """A loss of 0.025 with a tolerance of 0.01: to show it takes queries that detect 0.025, or what goes beyond, 0.015."""
    verdict = gate(QRELS, SAME, changed(8, 20), "RR", tolerance=0.01, fail_on=fail_on)
    (check,) = verdict.checks
    differences = np.array([1 / 2] * 8 + [-1 / 4] * 20 + [0.0] * 12)
    assert check.difference == pytest.approx(-0.025)
    assert check.queries_needed == queries_needed(float(differences.std(ddof=1)), gap)
    variance = (8 / 4 + 20 / 16 - 40 * 0.025**2) / 39
    assert check.queries_needed == pytest.approx((1.959964 + 0.841621) ** 2 * variance / gap**2, rel=0.005)


def test_a_p_value_of_exactly_alpha_is_significant() -> None:
    (check,) = gate(QRELS, SAME, changed(4, 20), "RR").checks
    assert 0 < check.p_value < 0.5
    for alpha, status in ((check.p_value, "fail"), (math.nextafter(check.p_value, 0.0), "cannot tell")):
        (at_alpha,) = gate(QRELS, SAME, changed(4, 20), "RR", alpha=alpha).checks
        assert (at_alpha.p_value, at_alpha.status) == (check.p_value, status)


@pytest.mark.parametrize("fail_on", ["loss", "tolerance"])
def test_a_check_shows_the_interval_that_decided(fail_on: Any) -> None:
    """A passing check shows its plain interval, any other the one that is corrected as its p-value is."""
    kinds = {f"q{i:02}": {"kind": "gain" if i < 8 else "even" if i < 20 else "loss"} for i in range(40)}
    verdict = gate(QRELS, SAME, changed(20, 14), "RR", slices=kinds, tolerance=0.02, fail_on=fail_on)
    text, rows = verdict.to_text(width=300), verdict.to_dicts()
    assert {check.status for check in verdict.checks} >= {"pass", "fail"}
    for check, row in zip(verdict.checks, rows, strict=True):
        plain, corrected = (check.lower, check.upper), (check.lower_adjusted, check.upper_adjusted)
        assert (row["ci_lower_adjusted"], row["ci_upper_adjusted"]) == tuple(
            None if math.isnan(e) else e for e in corrected
        )
        assert check.deciding == (plain if check.status == "pass" else corrected) or math.isnan(check.lower)
        if not math.isnan(check.lower):
            shown = words.in_table(words.interval(*check.deciding, sign=True, digits=4))
            assert shown in text
        if check.status == "fail":  # the corrected interval agrees with the corrected p-value
            assert check.upper_adjusted < (0 if fail_on == "loss" else -0.02)
            assert corrected != plain
    assert "intervals of checks that do not pass are corrected, as p is" in text


def test_the_corrected_interval_is_that_of_compare() -> None:
    metrics = ["RR", "nDCG@10"]
    found = rs.compare(QRELS, {"old": SAME, "new": changed(4, 20)}, metrics, family="all")
    for check, c in zip(gate(QRELS, SAME, changed(4, 20), metrics).checks, found.contrasts, strict=True):
        assert check.p_value_adjusted == c.p_value_adjusted
        assert (check.lower_adjusted, check.upper_adjusted) == (c.adjusted.lower, c.adjusted.upper)


def test_a_gain_passes_and_a_doubtful_change_is_open() -> None:
    assert gate(QRELS, SAME, changed(20, 0), "RR", tolerance=0).status == "pass"
    verdict = gate(QRELS, SAME, changed(4, 8), "RR")
    (check,) = verdict.checks
    assert (verdict.status, verdict.exit_code) == ("cannot tell", 4)
    assert check.lower < -0.01 < check.difference + 0.01 < check.upper
    assert check.queries_needed is not None
    assert check.queries_needed > 40
    assert "you have 40" in verdict.sentence


def test_a_proved_loss_within_the_tolerance_passes() -> None:
    losing = changed(0, 20)  # -0.125, and the interval ends at -0.165
    assert gate(QRELS, SAME, losing, "RR", tolerance=0.2).status == "pass"
    assert gate(QRELS, SAME, losing, "RR", tolerance=0.15).status == "fail"
    assert gate(QRELS, SAME, losing, "RR", tolerance=0.15, fail_on="tolerance").status == "cannot tell"
    assert gate(QRELS, SAME, losing, "RR", tolerance=0.05, fail_on="tolerance").status == "fail"


def test_fail_on_tolerance_tests_the_loss_beyond_the_tolerance() -> None:
    (check,) = gate(QRELS, SAME, changed(0, 20), "RR", tolerance=0.05, fail_on="tolerance").checks
    assert check.p_value == pytest.approx(stats.ttest_1samp([0.0] * 20 + [-1 / 4] * 20, -0.05).pvalue, rel=1e-9)


@pytest.mark.parametrize("worse", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("better", [0, 1, 30])
def test_few_differing_queries_go_by_the_share_that_may_lose(worse: int, better: int) -> None:
    if 0 < better <= 5 - worse or better == 0:
        upper = stats.binomtest(worse, 40).proportion_ci(0.95, method="exact").high
        (check,) = gate(QRELS, SAME, changed(better, worse), "RR", tolerance=upper + 1e-6).checks
        assert check.loss == pytest.approx(worse / 4 / 40, abs=1e-15)
        assert check.loss_upper == pytest.approx(upper, rel=1e-9)  # RR goes from 0 to 1
        assert (check.status, check.method) == ("pass", "losses alone")
        assert math.isnan(check.lower)
        assert math.isnan(check.p_value)
        (check,) = gate(QRELS, SAME, changed(better, worse), "RR", tolerance=upper - 1e-6).checks
        assert check.status == "cannot tell"
    else:
        (check,) = gate(QRELS, SAME, changed(better, worse), "RR").checks
        assert check.method == ("losses alone" if better + worse < 6 else "t interval")


def test_few_differing_queries_never_fail_and_say_that_no_interval_was_used() -> None:
    worst = placed([1] * 35 + [0] * 5)
    verdict = gate(QRELS, placed([1] * 40), worst, "RR")
    assert verdict.status == "cannot tell"
    assert "5 of 40 queries differ, too few for an interval" in verdict.sentence
    upper = stats.binomtest(1, 40).proportion_ci(0.95, method="exact").high
    passed = gate(QRELS, SAME, changed(3, 1), "RR", tolerance=0.15)
    assert passed.sentence == (
        f"pass: RR: 4 of 40 queries differ; a loss above {upper:.4f} is ruled out, and the tolerance is 0.1500. No interval was used."
    )
    assert (
        f"and up to {upper:.4f} is not ruled out: the tolerance is 0.0100"
        in gate(QRELS, SAME, changed(3, 1), "RR").sentence
    )


def test_a_loss_that_is_the_same_on_every_query_fails_by_sign_flips() -> None:
    check = checked([1.0] * 10, [0.0] * 10)
    assert (check.status, check.method, check.p_value) == ("fail", "sign flips", 2 / 2**10)
    assert checked([1.0] * 5, [0.0] * 5).status == "cannot tell"
    assert checked([1.0] * 10, [0.995] * 10).status == "pass"
    assert checked([1.0] * 10, [0.9] * 10, 0.2, "tolerance").status == "pass"
    assert checked([1.0] * 10, [0.5] * 10, 0.2, "tolerance").p_value == 2 / 2**10


def test_every_check_must_pass_and_failing_is_corrected_over_all() -> None:
    verdict = gate(QRELS, SAME, changed(3, 13), "RR Success@3 P@10")
    by_name = {c.metric: c for c in verdict.checks}
    assert by_name["P@10"].status == "pass"
    p = sorted(
        c.p_value for c in verdict.checks if c.metric != "P@10"
    )  # on which nothing changed: no test is made of it
    assert by_name["Success@3"].p_value_adjusted == pytest.approx(2 * p[0], rel=1e-9)
    assert by_name["RR"].p_value_adjusted == pytest.approx(max(2 * p[0], p[1]), rel=1e-9)
    assert verdict.status == "fail"


def test_a_proved_loss_passes_only_where_all_checks_pass() -> None:
    """A loss within its tolerance is held against a candidate that does not pass on another metric, unless tolerance is what fails."""
    before = placed([1] * 4 + [2] * 36)
    after = placed([2] * 4 + [1] * 4 + [4] * 20 + [2] * 12)
    verdict = gate(QRELS, before, after, "RR P@1", tolerance={"RR": 0.3})
    assert [c.status for c in verdict.checks] == ["fail", "cannot tell"]
    assert verdict.checks[0].upper < 0
    assert verdict.exit_code == 1
    alone = gate(QRELS, before, after, "RR", tolerance={"RR": 0.3})
    assert (alone.checks[0].upper, alone.exit_code) == (verdict.checks[0].upper, 0)
    lenient = gate(QRELS, before, after, "RR P@1", tolerance={"RR": 0.3}, fail_on="tolerance")
    assert [c.status for c in lenient.checks] == ["pass", "cannot tell"]
    assert lenient.exit_code == 4


def test_lower_is_better_is_turned() -> None:
    metric = "FallOut@10"
    up = checked([0.5] * 30, [0.5 + 0.01 * i for i in range(30)], metric=metric)
    assert up.difference == pytest.approx(-0.145)
    assert up.status == "fail"
    assert (up.wins, up.losses) == (0, 29)
    down = checked([0.5] * 30, [0.5 - 0.01 * i for i in range(30)], metric=metric)
    assert (down.lower, down.upper) == pytest.approx((-up.upper, -up.lower), rel=1e-12)
    assert down.status == "pass"
    assert checked([0.5] * 30, [0.5] * 27 + [0.4] * 2 + [0.8], metric=metric).loss == pytest.approx(0.01)


def test_weighted_queries_weigh_in_the_losses_too() -> None:
    weights = {query: (30.0 if query == "q39" else 1.0) for query in QRELS}
    (check,) = gate(QRELS, SAME, changed(1, 1), "RR", weights=weights).checks
    assert check.loss == pytest.approx(30 / 4 / (39 + 30))
    assert check.status == "cannot tell"
    assert check.difference == pytest.approx((1 / 2 - 30 / 4) / (39 + 30))


TESTS = ("t", "permutation", "wilcoxon", "sign", "bootstrap(rounds=999)")
WEIGHTS = {query: 1.0 + i % 7 for i, query in enumerate(QRELS)}
USERS = {query: f"u{i % 13}" for i, query in enumerate(QRELS)}


@pytest.mark.parametrize("test", [None, *TESTS])
@pytest.mark.parametrize("metric", ["RR", "GMAP", "P@10", "FallOut@10"])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_same_test_on_the_same_runs_has_the_same_p_as_in_compare(test: Any, metric: str, weights: Any) -> None:
    qrels = {query: {**docs, "d1": 0, "d2": 0} for query, docs in QRELS.items()}
    run = changed(12, 20)
    more = {"test": test, "weights": weights, "metrics": metric}
    (check,) = gate(qrels, SAME, run, tolerance="5%", **more).checks
    contrast = rs.compare(qrels, {"before": SAME, "after": run}, **more).contrasts[0]
    if check.method == "nothing changed":
        assert contrast.verdict == "same"
        return
    assert check.p_value == contrast.p_value
    assert abs(check.difference) == abs(contrast.difference)
    assert (check.lower, check.upper) in {
        (contrast.bounds.lower, contrast.bounds.upper), (-contrast.bounds.upper, -contrast.bounds.lower)
    }  # fmt: skip


@pytest.mark.parametrize("test", [None, "t", "permutation", "bootstrap(rounds=999)"])
@pytest.mark.parametrize("lost", [changed(12, 20), placed([4] * 40)])
def test_so_it_has_with_clusters_and_where_all_lose_the_same(test: Any, lost: Any) -> None:
    more = {"test": test, "clusters": USERS, "metrics": "RR"}
    (check,) = gate(QRELS, SAME, lost, **more).checks
    assert check.p_value == rs.compare(QRELS, {"a": SAME, "b": lost}, **more).contrasts[0].p_value


def test_a_test_of_signs_proves_no_loss_where_more_queries_won() -> None:
    run = placed([1] * 30 + [0] * 10)  # +1/2 on 30 queries, -1 on 10 that weigh much more
    weights = {query: 1.0 if i < 30 else 20.0 for i, query in enumerate(QRELS)}
    base = placed([2] * 30 + [1] * 10)
    (check,) = gate(QRELS, base, run, "RR", test="sign", weights=weights).checks
    assert check.difference < 0
    assert check.p_value < 0.05
    assert check.status == "cannot tell"


# --- slices and clusters --------------------------------------------------------------------------------


def test_slices_must_hold_too() -> None:
    kinds = {query: {"kind": "head" if i < 30 else "tail"} for i, query in enumerate(QRELS)}
    run = changed(25, 10)  # all tail queries lose
    assert gate(QRELS, SAME, run, "RR").status == "pass"
    verdict = gate(QRELS, SAME, run, "RR", slices=kinds)
    by_slice = {c.slice: c for c in verdict.checks}
    assert set(by_slice) == {None, "kind=head", "kind=tail"}
    assert by_slice["kind=tail"].method == "sign flips"
    assert by_slice["kind=tail"].p_value_adjusted >= 2 / 2**10
    assert verdict.status == "fail"
    assert "RR [kind=tail]" in verdict.sentence


def test_an_attribute_with_many_values_makes_no_slices() -> None:
    attributes = {q: {"kind": "even" if i % 2 else "odd", "session": f"s{i}"} for i, q in enumerate(QRELS)}
    verdict = gate(QRELS, SAME, changed(8, 20), "RR", slices=attributes)
    assert [c.slice for c in verdict.checks] == [None, "kind=even", "kind=odd"]
    assert any(
        "session has 40 values, too many for slices (at most 30), and is left out" in note for note in verdict.notes
    )
    p_values = sorted(c.p_value for c in verdict.checks)
    assert min(c.p_value_adjusted for c in verdict.checks) == pytest.approx(min(1.0, 3 * p_values[0]))


def test_slices_of_numbers_are_named_once() -> None:
    lengths = {query: {"words": i} for i, query in enumerate(QRELS)}
    names = [c.slice for c in gate(QRELS, SAME, SAME, "RR", slices=lengths | {"other": {"words": 3}}).checks]
    assert names[0] is None
    assert len(names) == 4
    assert all(str(name).startswith("words ") for name in names[1:])
    notes = gate(QRELS, SAME, SAME, "RR", slices=lengths | {"other": {"words": 3}}).notes
    assert "not scored (other)" in notes[0].replace("'", "")
    with pytest.raises(DataError, match="its queries have no scores"):
        gate(QRELS, SAME, SAME, "RR", slices={"other": {"words": 3}})


def test_a_small_slice_goes_by_its_losses() -> None:
    kinds = {query: {"kind": "rare" if i < 4 else "usual"} for i, query in enumerate(QRELS)}
    verdict = gate(QRELS, SAME, placed([4] * 4 + [2] * 36), "RR", tolerance=0.05, slices=kinds)
    by_slice = {c.slice: c for c in verdict.checks}
    assert by_slice["kind=rare"].loss == pytest.approx(0.25)
    assert [by_slice[name].status for name in (None, "kind=rare", "kind=usual")] == [
        "cannot tell",
        "cannot tell",
        "pass",
    ]
    assert verdict.exit_code == 4


def test_checks_beyond_the_third_are_counted() -> None:
    run = placed([2] * 30 + [4] * 10)
    *_, last = gate(QRELS, SAME, run, ["RR", "RR@5", "AP", "nDCG@10"]).sentences()
    assert last == "1 more check does not pass."
    verdict = gate(QRELS, SAME, run, ["RR", "RR@5", "AP", "nDCG@10", "nDCG@5"])
    *_, last = verdict.sentences()
    assert last == "2 more checks do not pass."
    assert "by a t test (p, Holm-corrected for 5 checks)" in " ".join(verdict.to_text().split())
    assert "Holm-corrected for 5 checks), and the tolerance" in verdict.sentence


@pytest.mark.parametrize("unchanged", ["R@11", "R@11 R@12 Success@11 Success@12"])
def test_metrics_that_cannot_change_take_nothing_from_the_others(unchanged: str) -> None:
    run = placed([2] * 33 + [3] * 7)  # the same documents in another order
    alone, beside = gate(QRELS, SAME, run, "RR", tolerance=0), gate(QRELS, SAME, run, f"RR {unchanged}", tolerance=0)
    assert alone.status == beside.status == "fail"
    assert alone.sentence.partition(": ")[2] in beside.sentence
    assert beside.checks[0].p_value_adjusted == alone.checks[0].p_value_adjusted == alone.checks[0].p_value
    assert all(math.isnan(check.p_value_adjusted) and check.status == "pass" for check in beside.checks[1:])
    assert (beside.tested, json.loads(beside.to_json())["rule"]["comparisons"]) == (1, 1)


def test_clusters_count_instead_of_queries() -> None:
    users = {query: f"u{i % 4}" for i, query in enumerate(QRELS)}
    run = changed(0, 20)
    assert gate(QRELS, SAME, run, "RR").status == "fail"
    (check,) = gate(QRELS, SAME, run, "RR", clusters=users).checks
    assert (check.differing, check.differing_clusters, check.method) == (20, 4, "losses alone")
    assert check.status == "cannot tell"


# --- its promise ----------------------------------------------------------------------------------------


def test_at_a_loss_as_large_as_the_tolerance_it_passes_in_at_most_one_of_twenty() -> None:
    draws, tolerance = np.random.default_rng(5), 0.02
    passed = 0
    for _ in range(400):
        base = draws.beta(2, 2, 50)
        passed += checked(base, base - tolerance + draws.normal(0, 0.05, 50), tolerance).status == "pass"
    assert passed <= 0.05 * 400


@pytest.mark.parametrize("metric", ["ap", "rr"])
def test_the_promise_holds_for_differences_of_real_systems(metric: str, shared_data: Callable[[str], Path]) -> None:
    rows = shared_data(f"system_scores/adhoc8_{metric}.csv").read_text().splitlines()[1:]
    matrix = np.array([[float(cell) for cell in row.split(",")] for row in rows])
    draws, tolerance, passed = np.random.default_rng(7), 0.02, 0
    for _ in range(600):
        one, two = draws.choice(matrix.shape[1], 2, replace=False)
        differences = matrix[:, two] - matrix[:, one]
        at = draws.integers(len(matrix), size=50)
        moved = differences - differences.mean() - tolerance  # the true loss is the tolerance
        passed += checked(np.zeros(50), moved[at], tolerance).status == "pass"
    assert passed <= 0.05 * 600


def test_without_a_difference_it_fails_in_at_most_one_of_twenty() -> None:
    draws = np.random.default_rng(6)
    failed = 0
    for _ in range(400):
        base = draws.beta(2, 2, 50)
        failed += checked(base, base + draws.normal(0, 0.05, 50), 0.0).status == "fail"
    assert failed <= 0.05 * 400


values = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=12, max_size=12)


@settings(max_examples=60, deadline=None)
@given(values, values, st.sampled_from([0.0, 0.01, 0.1]))
def test_a_larger_tolerance_or_better_candidate_never_hurts(
    one: list[float], two: list[float], tolerance: float
) -> None:
    order = {"fail": 0, "cannot tell": 1, "pass": 2}
    strict, loose = (checked(one, two, t).status for t in (tolerance, tolerance + 0.2))
    assert order[strict] <= order[loose]
    status = checked(one, two, tolerance).status
    if status == "fail":
        assert np.mean(two) < np.mean(one)
        assert checked(two, one, tolerance).status != "fail"


@settings(max_examples=40, deadline=None)
@given(values, values, st.randoms(use_true_random=False))
def test_the_order_of_queries_does_not_matter(one: list[float], two: list[float], shuffle: Any) -> None:
    places = list(range(len(one)))
    shuffle.shuffle(places)
    a, b = checked(one, two), checked([one[i] for i in places], [two[i] for i in places])
    for name in ("status", "difference", "lower", "upper", "loss", "p_value"):
        assert getattr(a, name) == getattr(b, name) or math.isnan(getattr(a, name))


# --- tolerances -----------------------------------------------------------------------------------------


def test_tolerances_by_metric_and_by_share() -> None:
    run = changed(20, 0)
    said = {"RR": "2%", "default": 0.03}
    by_name = {c.metric: c for c in gate(QRELS, SAME, run, "RR P@10 AP", tolerance=said).checks}
    assert by_name["RR"].tolerance == pytest.approx(0.02 * 1 / 2)
    assert by_name["AP"].tolerance == 0.03
    assert gate(QRELS, SAME, run, "rr", tolerance={"mrr": 0.2}).checks[0].tolerance == 0.2
    assert gate(QRELS, SAME, run, "RR").checks[0].tolerance == 0.01


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (-0.1, "a tolerance must be a number of at least 0"), ("x", "a tolerance must be a number"), (True, "a tolerance must be a number"),
        (float("nan"), "a tolerance must be a number"), ("200%", "a tolerance must be a number"), (1, "would pass everything"),
        ({"AP": 0.1}, "the gate does not look at it"), ({"nDGC@10": 0.1}, "no metric is called nDGC"),
    ],
)  # fmt: skip
def test_what_is_no_tolerance(said: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gate(QRELS, SAME, SAME, "RR", tolerance=said)


def test_the_usual_tolerance_is_for_scores_from_0_to_1() -> None:
    with pytest.raises(InputError, match=r"needs a tolerance of its own, like tolerance='DCG@10=2%'"):
        gate(QRELS, SAME, SAME, "DCG@10")
    assert gate(QRELS, SAME, SAME, "DCG@10", tolerance="2%").passed
    assert tolerances_of(None, [("RR", parse("RR"))], parse)[parse("RR")].number == 0.01


@pytest.mark.parametrize(
    ("metric", "message"), [("Judged@10", "no better direction"), ("NumRelRet", "a total, not a mean")]
)
def test_metrics_without_direction_or_mean_are_refused(metric: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gate(QRELS, SAME, SAME, metric, tolerance=0.1)


@pytest.mark.parametrize("alpha", [0, 1, 0.5, True, "x"])
def test_alpha_is_a_share(alpha: Any) -> None:
    with pytest.raises(InputError, match="alpha"):
        gate(QRELS, SAME, SAME, "RR", alpha=alpha)
    with pytest.raises(InputError, match="fail_on"):
        gate(QRELS, SAME, SAME, "RR", fail_on="loses")  # type: ignore[arg-type]


# --- queries --------------------------------------------------------------------------------------------


def test_a_missing_ranking_is_a_loss_unless_left_out() -> None:
    short = {query: docs for query, docs in SAME.items() if query not in {"q00", "q01"}}
    verdict = gate(QRELS, SAME, short, "RR")
    assert verdict.checks[0].loss == pytest.approx(2 * 0.5 / 40)
    assert "RS101" in {w.code for w in verdict.warnings}
    left = gate(QRELS, SAME, short, "RR", queries="both")
    assert left.checks[0].queries == 38
    assert left.passed
    (warned,) = (w for w in left.warnings if w.code == "RS101")
    assert "candidate has no ranking for 2 judged queries that baseline answers" in warned.message
    assert not [w for w in gate(QRELS, short, SAME, "RR", queries="both").warnings if w.code == "RS101"]
    left = gate(QRELS, SAME, short, "RR", queries="run")
    assert left.checks[0].left_out == 2
    assert "RS407" in {w.code for w in left.warnings}


def test_a_metric_without_a_value_is_told_as_such() -> None:
    missed = placed([0] * 4 + [2] * 36)
    verdict = gate(QRELS, SAME, missed, "RR", tolerance="5%", nothing_found="skip")
    assert [w.hint for w in verdict.warnings if w.code == "RS407"] == [
        'use nothing_found="metric" to score a query that finds nothing'
    ]
    qrels = {query: {"good": 1, "d1": 0} for query in QRELS}
    only = {query: {"good": 1.0} if query < "q04" else docs for query, docs in SAME.items()}
    verdict = gate(qrels, SAME, only, "AUC", tolerance="5%")
    assert verdict.checks[0].left_out == 4
    (hint,) = (w.hint for w in verdict.warnings if w.code == "RS407")
    assert hint.startswith("the metric itself may be undefined for a query")


def test_a_verdict_is_true_where_it_passes() -> None:
    assert gate(QRELS, SAME, SAME, "RR")
    assert not gate(QRELS, SAME, changed(0, 20), "RR")
    misspelt: dict[str, Any] = {"tie": "docid"}
    with pytest.raises(InputError, match="gate has no option 'tie', did you mean ties"):
        gate(QRELS, SAME, SAME, "RR", **misspelt)


def test_no_query_in_common_is_told() -> None:
    one, two = placed({"q00": 1}), placed({"q01": 1})
    with pytest.raises(DataError):
        gate(QRELS, one, two, "RR", queries="run")


# --- stored baselines -----------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("".join(f"{query} 0 good 1\n" for query in QRELS))
    for name, run in (("main", SAME), ("branch", changed(4, 20)), ("other", changed(9, 0))):
        lines = (f"{q} Q0 {d} 1 {s} {name}\n" for q, docs in run.items() for d, s in docs.items())
        Path(f"{name}.run").write_text("".join(lines))
    keep("baseline.json", "main.run")
    return tmp_path


def keep(place: str, *runs: str, metrics: str = "RR nDCG@10", **policies: Any) -> None:
    scores = rs.evaluate("qrels.txt", list(runs), metrics, **policies)
    Path(place).write_text(scores.to_json(per_query=True))


@pytest.mark.usefixtures("stored")
def test_a_stored_baseline_says_what_the_run_says() -> None:
    for metric in ("RR", "nDCG@10"):
        one, two = (
            gate("qrels.txt", "main.run", "branch.run", metric),
            gate("qrels.txt", "baseline.json", "branch.run", metric),
        )
        assert one.checks == two.checks
        assert (two.baseline, two.candidate) == ("main", "branch")
    assert gate("qrels.txt", "baseline.json", "main.run", "RR").sentence.startswith("pass: nothing changed")
    assert gate("qrels.txt", ("before", "baseline.json"), "branch.run", "RR").baseline == "before"
    scores = rs.evaluate("qrels.txt", "main.run", "RR")
    assert gate("qrels.txt", scores, "branch.run", "RR").status == "fail"
    assert gate("qrels.txt", json.loads(Path("baseline.json").read_text()), "branch.run", "RR").status == "fail"


@pytest.mark.usefixtures("stored")
def test_a_stored_baseline_of_weights() -> None:
    weights = {query: 1.0 + i for i, query in enumerate(QRELS)}
    one = gate("qrels.txt", "main.run", "branch.run", "RR", weights=weights)
    assert one.checks == gate("qrels.txt", "baseline.json", "branch.run", "RR", weights=weights).checks
    with pytest.raises(InputError, match="give the baseline as a run"):
        gate("qrels.txt", "baseline.json", "branch.run", "RR", mean="micro")


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ({"ties": "docid"}, "ties was trec, now docid"), ({"depth": 5}, "depth was not set, now 5"),
        ({"queries": "both"}, "queries was judged, now both"), ({"duplicates": "first"}, "duplicates was error, now first"),
        ({"self_match": "drop"}, "self_match was keep, now drop"), ({"no_relevant": 0}, "no_relevant was metric, now 0"),
        ({"nothing_found": "skip"}, "nothing_found was metric, now skip"),
    ],
)  # fmt: skip
def test_other_conventions_are_refused(policies: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as error:
        gate("qrels.txt", "baseline.json", "branch.run", "RR", **policies)
    assert "store it again: rs.evaluate(qrels, run, ['RR']" in str(error.value)


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_orders_drawn_from_another_seed_are_refused(ties: Any) -> None:
    keep("drawn.json", "main.run", ties=ties)
    assert gate("qrels.txt", "drawn.json", "main.run", "RR", ties=ties).nothing_changed
    with pytest.raises(DataError, match="seed was 0, now 1"):
        gate("qrels.txt", "drawn.json", "main.run", "RR", ties=ties, seed=1)
    assert gate("qrels.txt", "baseline.json", "main.run", "RR", seed=1).nothing_changed


@pytest.mark.usefixtures("stored")
def test_other_judgments_and_versions_are_refused() -> None:
    document = json.loads(Path("baseline.json").read_text())
    with pytest.raises(DataError, match=r"rankscope was 0\.0\.9, now"):
        gate("qrels.txt", document | {"rankscope": "0.0.9"}, "branch.run", "RR")
    major, minor, _ = rs.__version__.split(".")
    assert gate("qrels.txt", document | {"rankscope": f"{major}.{minor}.99"}, "branch.run", "RR").status == "fail"
    with Path("qrels.txt").open("a") as file:
        file.write("q00 0 d1 1\n")
    with pytest.raises(DataError, match="the judgments differ"):
        gate("qrels.txt", "baseline.json", "branch.run", "RR")
    del document["judgments"]
    with pytest.raises(DataError, match="it is unknown whether they are the same"):
        gate(QRELS, document, "branch.run", "RR")


@pytest.mark.usefixtures("stored")
def test_the_same_judgments_from_elsewhere_are_the_same(tmp_path: Path) -> None:
    plain = gate("qrels.txt", "baseline.json", "branch.run", "RR")
    rows = [(query, doc, grade) for query, docs in QRELS.items() for doc, grade in docs.items()]
    (tmp_path / "qrels.txt.gz").write_bytes(gzip.compress(Path("qrels.txt").read_bytes()))
    (tmp_path / "shuffled.csv").write_text(
        "query_id,doc_id,relevance\n" + "".join(f"{q},{d},{g}\n" for q, d, g in rows[::-1])
    )
    for qrels in (QRELS, tmp_path / "qrels.txt.gz", tmp_path / "shuffled.csv", rs.read_qrels("qrels.txt").frame):
        assert gate(qrels, "baseline.json", "branch.run", "RR").checks == plain.checks
    other = {query: {doc: 1 - grade for doc, grade in docs.items()} for query, docs in QRELS.items()}
    with pytest.raises(DataError, match=r"the judgments differ \(then SHA-256 \w{12}…, now \w{12}…\)"):
        gate(other, "baseline.json", "branch.run", "RR")


@pytest.mark.usefixtures("stored")
def test_the_metric_itself_must_be_stored() -> None:
    with pytest.raises(InputError, match=r"has no AP, only RR, nDCG@10"):
        gate("qrels.txt", "baseline.json", "branch.run", "AP")
    with pytest.raises(InputError, match=r"has no nDCG\(gain='exponential'\)@10"):
        gate("qrels.txt", "baseline.json", "branch.run", "nDCG(gain='exponential')@10")


@pytest.mark.usefixtures("stored")
def test_of_several_stored_runs_one_is_named() -> None:
    keep("two.json", "main.run", "other.run")
    with pytest.raises(InputError, match=r"holds 2 runs: there is main, other; choose one as main=two\.json"):
        gate("qrels.txt", "two.json", "branch.run", "RR")
    with pytest.raises(InputError, match="holds other runs than x"):
        gate("qrels.txt", ("x", "two.json"), "branch.run", "RR")
    assert gate("qrels.txt", ("other", "two.json"), "branch.run", "RR").baseline == "other"


@pytest.mark.usefixtures("stored")
def test_another_list_of_queries_is_refused() -> None:
    keep("some.json", "main.run", queries=["q00", "q01", "q02"])
    with pytest.raises(DataError, match="the list of queries differs"):
        gate("qrels.txt", "some.json", "branch.run", "RR", queries=["q00", "q01", "q03"])
    assert gate("qrels.txt", "some.json", "branch.run", "RR", queries=["q02", "q01", "q00"]).queries == 3


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "rankscope/gate/1"}, "holds rankscope/gate/1"), ({"per_query": []}, "has no values of queries"),
        ({"per_query": [{"run": "a"}]}, "not as rankscope evaluate writes it"), ({"inputs": None}, "not as rankscope"),
        ({"per_query": [{"run": "a", "metric": "RR", "query_id": "q00", "value": "x"}]}, "not as rankscope"),
    ],
)  # fmt: skip
def test_what_is_no_stored_baseline(change: Any, message: str) -> None:
    document = json.loads(Path("baseline.json").read_text()) | change
    Path("odd.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=message):
        gate("qrels.txt", "odd.json", "branch.run", "RR")
    Path("cut.json").write_text(json.dumps(document)[:90])
    with pytest.raises(InputError):
        gate("qrels.txt", "cut.json", "branch.run", "RR")


@pytest.mark.usefixtures("stored")
def test_stored_values_that_cannot_be_right_are_refused() -> None:
    document = json.loads(Path("baseline.json").read_text())
    rows = document["per_query"]
    of_rr = [row for row in rows if row["metric"] == "RR"]
    without = [row for row in rows if row["query_id"] != "q07"]
    fewer = [r | {"queries": 39} for r in document["results"]]
    for change, message in (
        ({"per_query": [*rows, of_rr[3]]}, "two values of RR for query q03"),
        (
            {"per_query": [{**r, "value": 1.5} if r is of_rr[2] else r for r in rows]},
            "RR of query q02 is 1.5, outside its range of 0 to 1",
        ),
        (
            {"per_query": [{**r, "value": None} if r is of_rr[2] else r for r in rows]},
            "39 queries, and its results count 40",
        ),
        ({"per_query": without}, "query q07 is judged and not in it"),
        ({"per_query": without, "results": fewer}, "query q07 is judged and not in it; store it again: rs.evaluate"),
        ({"results": []}, "its results do not mention it"),
    ):
        with pytest.raises(DataError, match=message) as error:
            gate("qrels.txt", document | change, "branch.run", "RR")
        assert "\n" not in str(error.value)


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(10**400, id="a huge number"),
        pytest.param([], id="an empty list"),
        pytest.param({}, id="an empty table"),
        pytest.param("x", id="a word"),
        pytest.param(True, id="yes"),
        pytest.param(1.5, id="a fraction"),
        pytest.param([[1]], id="a list of lists"),
        pytest.param(None, id="null"),
        pytest.param(float("inf"), id="infinity"),
    ],
)
@pytest.mark.parametrize(
    "key",
    [
        "conventions",
        "inputs",
        "results",
        "per_query",
        "rankscope",
        "value",
        "run",
        "queries",
        "sha256",
        "content_sha256",
    ],
)
def test_odd_kinds_of_values_are_told(key: str, odd: Any) -> None:
    document = json.loads(Path("baseline.json").read_text())
    judgments = document["judgments"] if key == "content_sha256" else document.pop("judgments")
    inner = {
        "content_sha256": judgments,
        "value": document["per_query"][0], "run": document["per_query"][0], "queries": document["conventions"], "sha256": document["inputs"][0],
    }  # fmt: skip
    inner.get(key, document)[key] = odd
    if key == "content_sha256":
        document["inputs"] = []
    with pytest.raises((InputError, DataError)):
        gate("qrels.txt", document, "branch.run", "RR")


@pytest.mark.usefixtures("stored")
def test_packed_baselines_and_late_schemas_are_read() -> None:
    document = json.loads(Path("baseline.json").read_text())
    late = {name: document[name] for name in ("per_query", *(n for n in document if n != "schema"))}
    Path("late.json").write_text(json.dumps(late | {"schema": document["schema"]}))
    Path("packed.json.gz").write_bytes(gzip.compress(json.dumps(document).encode()))
    one = gate("qrels.txt", "main.run", "branch.run", "RR")
    for place in ("late.json", "packed.json.gz"):
        assert gate("qrels.txt", place, "branch.run", "RR").checks == one.checks


@pytest.mark.usefixtures("stored")
def test_the_hint_makes_it_as_it_is_asked_for() -> None:
    with pytest.raises(DataError, match=r"\['RR'\], ties='docid', depth=20\).to_json\(per_query=True\)$"):
        gate("qrels.txt", "baseline.json", "branch.run", "RR", ties="docid", depth=20)


def test_a_run_as_json_is_no_stored_baseline(stored: Path) -> None:
    Path("main.json").write_text(json.dumps(SAME))
    assert gate(stored / "qrels.txt", "main.json", "main.run", "RR").nothing_changed


# --- what is said ---------------------------------------------------------------------------------------


def test_the_envelope_is_plain_json_and_tells_where_it_comes_from(stored: Path) -> None:
    import hashlib

    verdict = gate(stored / "qrels.txt", "baseline.json", "branch.run", "RR nDCG@10")
    document = json.loads(json.dumps(verdict.json_document(), allow_nan=False))
    assert (document["schema"], document["status"], document["exit_code"]) == ("rankscope/gate/1", "cannot tell", 4)
    digest = hashlib.sha256(Path("main.run").read_bytes()).hexdigest()
    assert document["provenance"]["baseline"]["made_from"][0]["sha256"] == digest
    assert document["provenance"]["candidate"]["sha256"] == hashlib.sha256(Path("branch.run").read_bytes()).hexdigest()
    assert document["sentence"] == verdict.sentence == str(verdict).splitlines()[0]


@pytest.mark.parametrize(
    ("pair", "code"),
    [(("bm25_basline", "RUIR-doc2vec"), 1), (("bm25_basline", "run1"), 0), (("BioinfoUA-emb-q", "DA_IICT_all"), 4)],
)
def test_real_runs_give_each_of_the_answers(
    pair: tuple[str, str], code: int, shared_data: Callable[[str], Path]
) -> None:
    data = shared_data("trec_covid")
    one, two = (data / "round1" / "runs" / f"{name}.gz" for name in pair)
    verdict = gate(data / "qrels.txt", one, two)
    assert verdict.exit_code == code, verdict
    assert gate(data / "qrels.txt", one, one).exit_code == 0


def test_a_verdict_on_several_checks_in_words() -> None:
    passed = gate(QRELS, SAME, SAME, "RR AP", tolerance=0)
    assert passed.sentence.startswith("pass: nothing changed: ")
    gained = gate(QRELS, SAME, changed(20, 0), "RR P@1", tolerance=0)
    assert gained.sentence.startswith("pass: all 2 checks pass. The closest: ")
    lost = gate(QRELS, SAME, changed(3, 13), "RR Success@3 P@10")
    assert lost.sentence.startswith("FAIL: ")
    assert (
        f" of 3 checks {'fails. ' if sum(c.status == 'fail' for c in lost.checks) == 1 else 'fail. The worst: '}"
        in lost.sentence
    )


@pytest.mark.parametrize("metrics", ["RR P@1 AP@3", "P@1 AP@3 RR"])
def test_of_several_checks_the_worst_leads_and_the_others_follow(metrics: str) -> None:
    """By how far the worst that is not ruled out stays within the tolerance, whatever the order of the metrics."""
    lost = gate(QRELS, SAME, placed([1] * 2 + [2] * 18 + [9] * 20), metrics)
    order = sorted((c for c in lost.checks if c.status == "fail"), key=lambda c: c.tolerance + c.lower)
    assert len({c.margin for c in order}) == len(order) > 1
    first, *rest = lost.sentences()
    assert f"The worst: {order[0].metric} " in first
    assert [said.removeprefix("FAIL: ").split()[0] for said in rest if said.startswith("FAIL")] == [
        check.metric for check in order[1:]
    ]
    gained = gate(QRELS, SAME, changed(20, 0), metrics, tolerance=0)
    assert f"The closest: {min(gained.checks, key=lambda c: c.lower).metric} " in gained.sentence


def test_few_clusters_are_noted() -> None:
    """Thirty queries of three users: t has two degrees of freedom."""
    qrels = {f"q{i:02}": {"a": 1} for i in range(30)}
    good = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    poor = good | {f"q{i:02}": {"b": 2.0, "a": 1.0} for i in range(9)}
    of_user = {q: f"user{i % 3}" for i, q in enumerate(qrels)}
    note = "30 queries in 3 clusters: intervals and p-values rest on 2 degrees of freedom"
    assert note in rs.gate(qrels, good, poor, "RR", clusters=of_user).notes
    assert note not in rs.gate(qrels, good, poor, "RR").notes
