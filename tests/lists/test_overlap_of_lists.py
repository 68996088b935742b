"""Rank-biased overlap and Jaccard: against the published values, against their definitions, and by what must hold."""

from __future__ import annotations

import csv
import gzip
import math
import re
from collections.abc import Callable, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import InputError
from rankscope.lists.overlap import VARIANTS, count_shared_by_depth, jaccard, jaccard_by_query, rbo, rbo_by_query

plain = st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=8)
chances = st.floats(0.05, 0.95)


@st.composite
def tied(draw: st.DrawFn) -> list[set[int]]:
    items = draw(plain)
    out: list[set[int]] = []
    for item in items:
        joins = draw(st.booleans())
        if out and joins:
            out[-1].add(item)
        else:
            out.append({item})
    return out


# --- laws -------------------------------------------------------------------------------------------------


@given(tied(), tied(), chances, st.sampled_from(VARIANTS))
def test_it_is_symmetric_and_lies_between_its_bounds(a: Any, b: Any, p: float, ties: Any) -> None:
    found, turned = rbo(a, b, p, ties), rbo(b, a, p, ties)
    assert found.ext == pytest.approx(turned.ext, abs=1e-12)
    assert found.min == pytest.approx(turned.min, abs=1e-12)
    assert found.max == pytest.approx(turned.max, abs=1e-12)
    assert -1e-12 <= found.min <= found.ext + 1e-12
    assert found.ext <= found.max + 1e-12
    assert found.max <= 1 + 1e-12
    assert found.res == found.max - found.min


@given(tied(), chances)
def test_a_ranking_with_itself_is_one(a: Any, p: float) -> None:
    for ties in ("w", "b"):
        assert rbo(a, a, p, ties).ext == pytest.approx(1)
        assert rbo(a, a, p, ties).max == pytest.approx(1)
    # under a the two may break their ties in different ways
    assert rbo(a, a, p, "a").ext <= 1 + 1e-12


@given(plain, chances)
def test_disjoint_rankings_share_nothing(a: list[int], p: float) -> None:
    found = rbo(a, [item + 100 for item in a], p)
    assert found.ext == 0
    assert found.min == 0


@given(plain, plain, chances)
def test_without_ties_all_variants_are_one(a: list[int], b: list[int], p: float) -> None:
    first, *others = (rbo(a, b, p, ties) for ties in VARIANTS)
    for other in others:
        assert (other.ext, other.min, other.max) == pytest.approx((first.ext, first.min, first.max))


@given(st.lists(st.tuples(plain, plain), min_size=1, max_size=6), chances, st.integers(1, 10))
def test_many_queries_at_once_are_each_alone(pairs: Any, p: float, k: int) -> None:
    query, deeper = [], []
    for number, (a, b) in enumerate(pairs):
        for item in set(a) & set(b):
            query.append(number)
            deeper.append(max(a.index(item), b.index(item)) + 1)
    sizes = np.array([len(a) for a, _ in pairs]), np.array([len(b) for _, b in pairs])
    shared = count_shared_by_depth(np.array(query, dtype=int), np.array(deeper, dtype=int), len(pairs), 8)
    assert rbo_by_query(shared, *sizes, p).tolist() == pytest.approx([rbo(a, b, p).ext for a, b in pairs])
    found = jaccard_by_query(shared, *sizes, k).tolist()
    assert found == pytest.approx([jaccard(a, b, k) for a, b in pairs])


def test_a_query_alone_is_as_in_company() -> None:
    rng = np.random.default_rng(3)
    shared = np.cumsum(rng.integers(0, 2, (50, 100)), axis=1)
    sizes = rng.integers(1, 101, 50), np.full(50, 100)
    together = rbo_by_query(shared, *sizes, 0.9)
    alone = [rbo_by_query(shared[i : i + 1], sizes[0][i : i + 1], sizes[1][i : i + 1])[0] for i in range(50)]
    assert together.tolist() == alone


# --- from the definition ----------------------------------------------------------------------------------


def by_definition(a: Sequence[Any], b: Sequence[Any], p: float) -> float:
    """The sum over all depths of two long rankings."""
    shared = (len(set(a[:d]) & set(b[:d])) / d for d in range(1, min(len(a), len(b)) + 1))
    return (1 - p) * math.fsum(p**d * overlap for d, overlap in enumerate(shared))


@given(plain, plain, st.floats(0.1, 0.8))
def test_the_bounds_are_those_of_the_worst_and_the_best_continuation(a: list[int], b: list[int], p: float) -> None:
    short, long = sorted((a, b), key=len)
    worst = by_definition([*short, *range(1000, 1400)], [*long, *range(2000, 2400)], p)
    in_long = [item for item in long if item not in short]
    in_short = [item for item in short if item not in long]
    both = list(range(3000, 3400))
    # the shorter goes on with what it lacks; the longer with what it lacks as soon as it ends
    best = by_definition([*short, *in_long, *both], [*long, *in_short, *both], p)
    assert rbo(a, b, p).min == pytest.approx(worst, abs=1e-9)
    assert rbo(a, b, p).max == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("p", [0.3, 0.9])
def test_a_is_the_mean_over_all_orders_of_ties(p: float) -> None:
    a, b = [{1, 2}, {3}, {4, 5, 6}], [{4}, {1, 3, 7}, {2, 8}]

    def orders(groups: Any) -> list[list[int]]:
        return [[i for part in parts for i in part] for parts in product(*map(permutations, groups))]

    each = [rbo(x, y, p) for x, y in product(orders(a), orders(b))]
    found = rbo(a, b, p, "a")
    assert found.ext == pytest.approx(math.fsum(one.ext for one in each) / len(each), abs=1e-12)
    assert found.min == pytest.approx(math.fsum(one.min for one in each) / len(each), abs=1e-12)


# --- worked -----------------------------------------------------------------------------------------------


def test_worked_values() -> None:
    p = 0.5
    # depth 1: nothing shared; depth 2: both, and so on below
    assert rbo("xy", "yx", p).ext == pytest.approx((1 - p) / p * (1 * p**2) + 1 * p**2)
    # the shorter agrees fully as far as it goes: so it is taken to go on
    assert rbo("x", "xyz", p).ext == pytest.approx(1)
    # depth 1: 1, depth 2: 1 of 2, then no more in common, for ever: sum of p^d / d is log 2
    least = (1 - p) / p * (p + 1 / 2 * p**2 + 1 * (math.log(2) - p - p**2 / 2))
    assert rbo("xy", "xz", p).min == pytest.approx(least)
    # w: both stand at rank 1, so that 2 of 2 are shared at once; a: 4 halves times halves at depth 1
    assert rbo([{"x", "y"}], [{"x", "y"}], p, "w").ext == pytest.approx(1)
    assert rbo([{"x", "y"}], [{"x", "y"}], p, "a").ext == pytest.approx((1 - p) / p * (1 / 2 * p + p**2) + p**2)
    assert jaccard("abc", "bcd", 3) == 2 / 4
    assert jaccard("abc", "bcd", 1) == 0


def test_empty_rankings() -> None:
    found = rbo([], ["x", "y"], 0.9)
    assert math.isnan(found.ext)
    assert (found.min, found.max) == pytest.approx((0, 1))
    nothing = rbo([], [], 0.9)
    assert math.isnan(nothing.ext)
    assert (nothing.min, nothing.max) == pytest.approx((0, 1))
    assert math.isnan(jaccard([], [], 3))
    shared = count_shared_by_depth(np.array([], dtype=int), np.array([], dtype=int), 2, 5)
    assert np.isnan(rbo_by_query(shared, np.array([0, 1]), np.array([0, 0]))).all()
    assert np.isnan(jaccard_by_query(shared, np.array([0, 0]), np.array([0, 0]), 3)).all()


def test_long_rankings_are_done_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    a = [{i, i + 1} for i in range(0, 60, 2)]
    b = [{i} for i in range(40, 0, -1)]
    whole = [rbo(a, b, 0.95, ties) for ties in VARIANTS]
    monkeypatch.setattr("rankscope.lists.overlap.MAX_CELLS", 200)
    for one, ties in zip(whole, VARIANTS, strict=True):
        parts = rbo(a, b, 0.95, ties)
        assert (parts.ext, parts.min, parts.max) == pytest.approx((one.ext, one.min, one.max))


# --- the published values ---------------------------------------------------------------------------------


def groups_of(text: str) -> list[Any]:
    return [g[1:-1].split() if g[0] == "(" else g for g in re.findall(r"\([^)]*\)|\S+", text)]


def test_all_published_values_of_rankings_with_ties(shared_data: Callable[[str], Path]) -> None:
    rows = 0
    with gzip.open(shared_data("rbo/test.csv.gz"), "rt", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            a, b, p = groups_of(row["x"]), groups_of(row["y"]), float(row["p"])
            for ties in VARIANTS:
                found = rbo(a, b, p, ties)
                for score in ("ext", "min", "max", "res"):
                    assert abs(getattr(found, score) - float(row[f"{ties}.{score}"])) < 1e-9, row
            rows += 1
    assert rows == 10_000


# --- bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0, 1, -0.5, 2, math.nan])
def test_a_chance_outside_its_range(p: float) -> None:
    with pytest.raises(InputError, match="above 0 and below 1"):
        rbo("a", "a", p)


def test_what_is_no_ranking() -> None:
    with pytest.raises(InputError, match="'a' is in the ranking twice"):
        rbo(["a", "b", "a"], ["a"])
    with pytest.raises(InputError, match="ties is one of 'w', 'a', 'b'"):
        rbo("a", "a", 0.9, "c")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="k=0: k must be at least 1"):
        jaccard("a", "a", 0)


def test_both_are_found_at_the_front() -> None:
    assert rs.rbo(["x", "y"], ["y", "x"], p=0.5).ext == pytest.approx((1 - 0.5) / 0.5 * 0.5**2 + 0.5**2)
    assert rs.jaccard(["x", "y", "z"], ["y", "v", "x"], 2) == 1 / 3
