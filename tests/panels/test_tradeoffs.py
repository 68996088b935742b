"""Trade-offs: the front by its definition, prices and sentences by arithmetic."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.blocks import Paragraph, Table
from rankscope.errors import DataError, InputError
from rankscope.files.side_tables import costs_of
from rankscope.panels.tradeoffs import CostPoint, limits_of, tradeoffs

COSTS = {
    "bm25": {"latency_ms": 10, "cost": 1},
    "dense": {"latency_ms": 40, "cost": 2},
    "hybrid": {"latency_ms": 50, "cost": 4},
    "slow": {"latency_ms": 60, "cost": 1},
}
QUALITY = {"bm25": 0.30, "dense": 0.36, "hybrid": 0.40, "slow": 0.35}


def made(**options: Any) -> Any:
    return tradeoffs(QUALITY, costs_of(COSTS), metric="nDCG@10", **options)


@pytest.mark.parametrize(
    ("cutoff", "large", "small", "percent"),
    [(3, 0.889, 0.823, "7.4"), (10, 0.912, 0.856, "6.1"), (20, 0.924, 0.872, "5.6")],
)
def test_two_models(cutoff: int, large: float, small: float, percent: str) -> None:
    assert percent == f"{(large - small) / large * 100:.1f}"
    costs = costs_of({"large": {"latency_ms": 250}, "small": {"latency_ms": 45}})
    found = tradeoffs({"large": large, "small": small}, costs, metric=f"nDCG@{cutoff}")
    lost = f"{large - small:.3f} nDCG@{cutoff} ({percent}%)"
    assert found.sentence("small", "large") == f"small loses {lost} against large and is {250 / 45:.1f}x faster."
    assert "gains" in found.sentence("large", "small")
    assert found.sentence("large", "small").endswith("takes 5.6x as long.")


def test_front_and_prices() -> None:
    found = made()
    assert [p.run for p in found.front("latency_ms")] == ["bm25", "dense", "hybrid"]
    bm25, dense, hybrid, slow = found.points("latency_ms")
    assert bm25.price is None
    assert dense.price == pytest.approx((40 - 10) / ((0.36 - 0.30) / 0.01))
    assert hybrid.price == pytest.approx((50 - 40) / ((0.40 - 0.36) / 0.01))
    assert (slow.run, slow.dominated_by, slow.price) == ("slow", "hybrid", None)
    assert [p.run for p in found.front("cost")] == [
        "slow",
        "dense",
        "hybrid",
    ]  # bm25 costs the same as slow and is worse


def test_equal_runs_are_both_on_the_front() -> None:
    found = tradeoffs({"a": 0.5, "b": 0.5, "c": 0.75}, costs_of({"a": 1, "b": 1, "c": 2}), metric="AP")
    assert [(p.run, p.price) for p in found.front("cost")] == [("a", None), ("b", None), ("c", pytest.approx(1 / 25))]


def test_lower_is_better() -> None:
    found = tradeoffs({"a": 0.5, "b": 0.25}, costs_of({"a": 1, "b": 2}), metric="error", better="lower")
    assert [(p.run, p.price) for p in found.front("cost")] == [("a", None), ("b", pytest.approx(1 / 25))]
    assert found.sentence("b", "a") == "b is better by 0.250 error (50.0%) against a and costs 2x as much."
    assert found.within({"cost": 2}).best == "b"


points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


@given(points)
def test_the_front_is_what_nothing_beats(given_points: list[tuple[int, int]]) -> None:
    quality = {f"r{n}": q for n, (_, q) in enumerate(given_points)}
    costs = {f"r{n}": c for n, (c, _) in enumerate(given_points)}
    found = tradeoffs(quality, costs_of(costs), metric="m")
    front = {p.run for p in found.front("cost")}
    for run, good in quality.items():
        beaten = any(
            costs[o] <= costs[run] and quality[o] >= good and (costs[o] < costs[run] or quality[o] > good)
            for o in quality
        )
        assert (run in front) == (not beaten)
    assert all(p.dominated_by in front for p in found.points("cost") if not p.on_front)
    assert all(p.price is None or p.price > 0 for p in found.points("cost"))
    other = tradeoffs(dict(reversed(quality.items())), costs_of(costs), metric="m")
    assert other.points("cost") == found.points("cost")


def test_budgets() -> None:
    found = made(within="latency_ms=45")
    assert found.budget is not None
    assert found.budget.best == "dense"
    assert found.budget.sentence == (
        "Best with latency_ms <= 45: dense (of 2 runs within the limit); better, but beyond it: hybrid (latency_ms 50)."
    )
    assert made().within({"latency_ms": 60, "cost": 3}).best == "dense"
    assert made().within({"latency_ms": 40}).best == "dense"  # the limit itself is within
    nobody = made(within={"latency_ms": 5}).budget
    assert nobody.best is None
    assert nobody.sentence == "No run has latency_ms <= 5."
    assert limits_of(["latency_ms<=100", "cost = 2"]) == {"latency_ms": 100, "cost": 2}
    with pytest.raises(InputError, match=r"no column 'latency', did you mean latency_ms\?"):
        made(within="latency=100")
    for text in ("latency_ms", "latency_ms=fast", "=3", "latency_ms=nan"):
        with pytest.raises(InputError, match="write it like latency_ms=100"):
            limits_of(text)
    with pytest.raises(InputError, match="two limits"):
        limits_of("a=1,a=2")


@pytest.mark.parametrize(
    ("column", "own", "other", "words"),
    [
        ("p95 latency", 10, 250, "is 25x faster"),
        ("tookMs", 10, 5, "takes 2x as long"),
        ("params", 10, 5, "costs 2x as much (params)"),
        ("items", 10, 5, "costs 2x as much (items)"),
        ("cost", 5, 10, "costs 50% as much"),
        ("cost", 9, 1, "costs 9x as much"),
        ("index_size", 1000, 5600, "is 5.6x smaller"),
        ("index_size", 5600, 1000, "is 5.6x larger"),
        ("seconds", 2, 2, "is as fast"),
        ("seconds", 1.01, 1, "is about as fast"),
        ("cost", 0, 3, "has a cost of 0 instead of 3"),
        ("cost", 1, 1234, "costs 0.081% as much"),
        ("cost", 1, 12345, "costs less than 0.01% as much"),
    ],
)
def test_words(column: str, own: float, other: float, words: str) -> None:
    found = tradeoffs({"a": 0.5, "b": 0.5}, costs_of({"a": {column: own}, "b": {column: other}}), metric="AP")
    assert found.sentence("a", "b") == f"a equals b on AP and {words}."


def test_blocks_and_places() -> None:
    found = made(baseline="bm25", within="latency_ms=45")
    blocks = found.blocks()
    sentences = [block.text for block in blocks if isinstance(block, Paragraph) and block.text]
    assert sentences[0] == ("dense gains 0.060 nDCG@10 (20.0%) against bm25, takes 4x as long and costs 2x as much.")
    tables = [block for block in blocks if isinstance(block, Table)]
    assert [row[2] for row in tables[0].rows] == ["yes", "yes", "no", "no"]  # 10, 40, 50 and 60 ms
    assert "<= 45" not in {column.header for column in tables[1].columns}
    assert [len(table.rows) for table in tables] == [4, 4]
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
    assert [len(found.points(column)) for column in found.costs.columns] == [4, 4]
    assert found.points("latency_ms")[0] == CostPoint("bm25", 10.0, 0.30)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"unknown run 'hybird', did you mean hybrid\?"):
        tradeoffs({"hybird": 0.5}, costs_of(COSTS), metric="AP")
    with pytest.raises(InputError, match=r"unknown run 'bm2' with a value of nDCG@10, did you mean bm25\?"):
        made(baseline="bm2")
    with pytest.raises(DataError, match="runs have no value of AP"):
        tradeoffs({"bm25": float("nan")}, costs_of(COSTS), metric="AP")
    assert list(tradeoffs({"bm25": 0.5, "x": float("nan")}, costs_of(COSTS), metric="AP").quality) == ["bm25"]


def test_columns_in_words() -> None:
    found = made()
    assert found.cost_in_words("latency_ms") == "the cost of a run: latency_ms"
    assert found.price_in_words == "the cost of 0.01 of nDCG@10, against the next cheaper run on the front"


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("latency_ms", "time"), ("p95Latency", "time"), ("latency_p95", "time"), ("index_size_gb", "size"), ("dollars", "cost"),
    ],
)  # fmt: skip
def test_what_a_column_is(column: str, kind: str) -> None:
    found = tradeoffs({"a": 0.3, "b": 0.4}, costs_of({"a": {column: 2}, "b": {column: 8}}), metric="AP")
    said = {"time": "takes 4x as long", "size": "is 4x larger", "cost": "costs 4x as much"}[kind]
    assert said in found.sentence("b", "a")
