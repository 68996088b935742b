"""Laws over verdicts: they do not depend on the unit of the scores, nor on where its 0 lies; what rounding tells apart is equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import InputError
from rankscope.inference.base import Sample
from rankscope.inference.bootstrap import bca, percentile, studentised
from rankscope.lists import Array

TESTS = [None, "t", "permutation(rounds=999)", "wilcoxon", "sign", "bootstrap(rounds=999)", "anytime"]
CORRECTIONS = ["holm", "max_t(rounds=999)", "tukey", "randomised_tukey(rounds=999)"]
INTERVALS = ["t", "percentile(rounds=999)", "bca(rounds=999)", "studentised(rounds=999)", "anytime"]
UNITS = [10.0, 1 / 3, 1e-3, 1e-100, 1e-170, 1e-300, 1e100, 1e149]
SHIFTS = [1.0, -0.3, 100.0, 1e5, 1e9]
KINDS = ["numbers", "tenths", "one step", "two sizes", "few"]


def pair_of(kind: str, seed: int) -> tuple[Array, Array]:
    """The scores of two systems whose differences are of one kind."""
    draws = np.random.default_rng(seed)
    n = int(draws.integers(6, 45))
    one = draws.integers(0, 10, n) / 10 if kind != "numbers" else draws.random(n)
    added = {
        "numbers": draws.normal(0.05, 0.1, n),
        "tenths": draws.integers(-2, 4, n) / 10,
        "one step": np.full(n, 0.1),
        "two sizes": draws.choice([0.1, -0.1, 0.2], n),
        "few": np.where(np.arange(n) < draws.integers(1, 9), 0.1, 0.0),
    }[kind]
    return one, one + added


def tables_of(systems: dict[str, Array]) -> dict[str, dict[str, float]]:
    return {name: {f"q{i:02}": float(v) for i, v in enumerate(values)} for name, values in systems.items()}


def compared(systems: dict[str, Array], **method: Any) -> list[Any]:
    return list(rs.compare(tables_of(systems), **method).contrasts)


def assert_same(ours: list[Any], theirs: list[Any], digits: float) -> None:
    for one, other in zip(ours, theirs, strict=True):
        assert (one.verdict, one.test, one.wins, one.losses) == (other.verdict, other.test, other.wins, other.losses)
        for name in ("p_value", "p_value_adjusted"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=digits, nan_ok=True)


@pytest.mark.parametrize("test", TESTS)
@settings(max_examples=12, deadline=None)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 1000), unit=st.sampled_from(UNITS))
def test_another_unit_changes_no_verdict(test: str | None, kind: str, seed: int, unit: float) -> None:
    one, other = pair_of(kind, seed)
    here = compared({"a": one, "b": other}, test=test)
    there = compared({"a": one * unit, "b": other * unit}, test=test)
    assert_same(here, there, 1e-6)
    assert there[0].bounds.upper == pytest.approx(here[0].bounds.upper * unit, rel=1e-6, nan_ok=True)
    assert there[0].relative[0] == pytest.approx(here[0].relative[0], rel=1e-6, nan_ok=True)
    assert there[0].relative[1].upper == pytest.approx(here[0].relative[1].upper, rel=1e-5, nan_ok=True)


@pytest.mark.parametrize("test", TESTS)
@settings(max_examples=12, deadline=None)
@given(kind=st.sampled_from(KINDS[1:]), seed=st.integers(0, 1000), shift=st.sampled_from(SHIFTS))
def test_another_zero_changes_no_verdict(test: str | None, kind: str, seed: int, shift: float) -> None:
    one, other = pair_of(kind, seed)
    here = compared({"a": one, "b": other}, test=test)
    there = compared({"a": one + shift, "b": other + shift}, test=test)
    assert_same(here, there, 1e-4)


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("kind", KINDS[:2])
def test_another_unit_changes_no_correction(correction: str, kind: str) -> None:
    (a, b), (c, _) = pair_of(kind, 7), pair_of(kind, 7)
    systems = {"a": a, "b": b, "c": c[::-1]}
    here = compared(systems, correction=correction)
    for unit in UNITS:
        there = compared({name: values * unit for name, values in systems.items()}, correction=correction)
        assert_same(here, there, 1e-6)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clusters", [False, True])
def test_another_unit_changes_no_interval(interval: str, kind: str, clusters: bool) -> None:
    """Nor what else is said of the difference: an end of 0 is 0, and what can be detected is a part of the scores."""
    one, other = pair_of(kind, 2)
    if clusters and interval == "anytime" and kind != "one step":  # without a spread there is no interval to refuse
        with pytest.raises(InputError, match="takes queries as independent"):
            compared(
                {"a": one, "b": other}, interval=interval, clusters={f"q{i:02}": f"u{i % 3}" for i in range(len(one))}
            )
        return
    of_query = {f"q{i:02}": f"u{i % 5 if i < 20 else 0}" for i in range(len(one))}
    more: dict[str, Any] = {"interval": interval, **({"clusters": of_query} if clusters else {})}
    (here,) = compared({"a": one, "b": other}, **more)
    for unit in UNITS:
        (there,) = compared({"a": one * unit, "b": other * unit}, margin=0.05 * unit, **more)
        for mine, theirs in ((here.bounds, there.bounds), (here.adjusted, there.adjusted)):
            ends = theirs.lower / unit, theirs.upper / unit
            assert ends == pytest.approx((mine.lower, mine.upper), rel=1e-6, abs=0, nan_ok=True)
        assert there.detectable.difference / unit == pytest.approx(here.detectable.difference, rel=1e-6, abs=0)
        assert (there.effect, there.sign_flip) == pytest.approx((here.effect, here.sign_flip), rel=1e-6, nan_ok=True)
        assert (there.queries_needed, there.favourable) == (here.queries_needed, here.favourable)


@pytest.mark.parametrize("interval", [percentile(rounds=999), bca(rounds=999), studentised(rounds=999)], ids=str)
@pytest.mark.parametrize("clusters", [None, [0, 0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 7]], ids=["queries", "clusters"])
def test_bootstrap_intervals_are_in_the_unit_of_the_scores(interval: Any, clusters: Any) -> None:
    values = np.random.default_rng(3).gamma(2.0, size=12)
    numbers = None if clusters is None else np.array(clusters)
    here = interval.of(Sample(values, numbers))
    for unit in (2.0**-500, 2.0**-900):
        there = interval.of(Sample(values * unit, numbers))
        assert (there.lower / unit, there.upper / unit) == pytest.approx((here.lower, here.upper), rel=1e-9)


STEPS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


@pytest.mark.parametrize("unit", [1, 10, 1e-170, 1e-300, 7 / 3])
@pytest.mark.parametrize("shift", [0.0, 1e3, 1e9])
def test_six_equal_gains_are_counted_out(unit: float, shift: float) -> None:
    """Of 64 patterns of signs 2 are as extreme: p = 1/32, in any unit; .3 - .2 and .2 - .1 are one difference."""
    (found,) = compared({"a": STEPS * unit + shift * unit, "b": (STEPS + 0.1) * unit + shift * unit})
    assert (found.test, found.p_value, found.verdict) == ("permutation", 2 / 64, "better")


def test_equal_gains_that_are_too_few_are_said_to_be() -> None:
    systems = {name: STEPS + added / 10 for added, name in enumerate("abcd")}
    first, *_ = compared(systems)
    assert first.sentence() == (
        "No clear difference between b and a on score (+0.100, p = 0.094, Holm-corrected for 3 comparisons): every query differs by the "
        "same, so a verdict needs more queries."
    )
    assert not any("can detect" in sentence for sentence in rs.compare(tables_of(systems)).sentences())


@pytest.mark.parametrize("size", [1e151, 1e300])
def test_scores_too_large_to_be_squared_are_refused(size: float) -> None:
    with pytest.raises(InputError, match="is too large to be squared: give scores on a smaller scale"):
        compared({"a": STEPS * size, "b": (STEPS + 0.1) * size})


def test_a_step_of_precision_on_each_query_has_one_p_in_compare_and_gate() -> None:
    """P@10 falls by .1 on each of six queries: p = 2/64 in both, by sign flips."""
    qrels = {f"q{i}": {f"d{j}": 1 for j in range(10)} for i in range(6)}
    ranked = {f"q{i}": [f"d{j}" for j in range(i + 3)] + [f"x{j}" for j in range(7 - i)] for i in range(6)}
    fallen = {query: [docs[0].replace("d", "y"), *docs[1:]] for query, docs in ranked.items()}
    (found,) = rs.compare(qrels, {"old": ranked, "new": fallen}, "P@10").contrasts
    (check,) = rs.gate(qrels, ranked, fallen, "P@10").checks
    assert found.p_value == check.p_value == 2 / 64
    assert found.verdict == "worse"
    assert found.difference == pytest.approx(-0.1)
