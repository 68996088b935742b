"""Sums in bins: what grouping gives, whatever ids and groups are; and numbers for keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.files import logs, parquet
from rankscope.files.logs import read_log
from rankscope.files.parquet import open_parquet
from rankscope.files.raw import open_raw
from rankscope.impressions import Log
from rankscope.logs import bins, rollup
from rankscope.logs.base import OnlineMetric, RatioParts, parse_online_metrics
from rankscope.logs.bins import Numbering, sum_in_bins
from rankscope.logs.cuts import DAY, with_days
from rankscope.logs.metrics import CTR
from rankscope.logs.rollup import UnitTotals, roll_up, roll_up_parts

ROWS, PIECE = 3000, 700
METRICS = "CTR CVR RPM OrderValue Mean(revenue) SatisfiedClicks"
IDS: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {
    "numbers from 0 on": lambda n: n,
    "small numbers": lambda n: pl.Series(n, dtype=pl.UInt16),
    "negative numbers": lambda n: n - 250,
    "numbers far apart": lambda n: (n - 250) * (1 << 54),
    "numbers that end alike": lambda n: n * (1 << 24),
    "the largest numbers": lambda n: pl.Series([(1 << 64) - 1 - x for x in n.tolist()], dtype=pl.UInt64),
    "one number far from all others": lambda n: np.where(n == 7, 1 << 60, n),
    "short texts": lambda n: [f"u{x}" for x in n.tolist()],
    "long texts": lambda n: [f"{x:064d}" for x in n.tolist()],
    "texts of numbers": lambda n: [f"{x:04d}" for x in n.tolist()],
    "texts with blanks at their ends": lambda n: [f"{x // 2}{' ' * (x % 2)}" for x in n.tolist()],
    "texts written as floats": lambda n: [f"{x}.0" for x in n.tolist()],
    "floats": lambda n: n.astype(float),
    "categories": lambda n: pl.Series([f"u{x}" for x in n.tolist()], dtype=pl.Categorical),
    "one unit": lambda n: n * 0,
    "a unit a row": lambda n: np.arange(len(n)),
}
VARIANTS: dict[str, Callable[[np.ndarray[Any, Any], Any], Any]] = {
    "one variant a unit": lambda n, rng: np.where(n % 3 == 0, "A", "B"),
    "units in several variants": lambda n, rng: np.where((n + (rng.random(len(n)) < 0.1)) % 2 == 0, "A", "B"),
    "rows without a variant": lambda n, rng: [None if x < 0.2 else "AB"[x < 0.6] for x in rng.random(len(n)).tolist()],
    "empty texts": lambda n, rng: ["" if x < 0.2 else "AB"[x < 0.6] for x in rng.random(len(n)).tolist()],
    "padded texts": lambda n, rng: [["A", "A ", "B"][x] for x in (n % 3).tolist()],
    "numbers": lambda n, rng: n % 4,
    "numbers, some of them missing": lambda n, rng: [None if x == 3 else x for x in (n % 4).tolist()],
    "yes and no": lambda n, rng: n % 2 == 0,
    "many variants": lambda n, rng: rng.integers(0, 40, len(n)),
}


def _table(ids: str, variants: str, seed: int = 1, rows: int = ROWS) -> pl.DataFrame:
    """A log with missing clicks and conversions, and revenue that is no whole number."""
    rng = np.random.default_rng(seed)
    unit = rng.integers(0, 500, rows)
    click = [None if x < 0.1 else x < 0.4 for x in rng.random(rows).tolist()]
    sold = [None if x < 0.05 else int(x < 0.2) for x in rng.random(rows).tolist()]
    return pl.DataFrame(
        {
            "user_id": IDS[ids](unit), "variant": VARIANTS[variants](unit, rng), "item": rng.integers(0, 9, rows),
            "shown": rng.random(rows) < 0.9, "click": click, "conversion": sold, "dwell_s": rng.random(rows) * 60,
            "revenue": np.where(rng.random(rows) < 0.3, rng.gamma(2.0, 10.0, rows), 0.0), "country": rng.choice(["", "DE", "FR"], rows),
            "timestamp": pl.Series(rng.integers(0, 10 * 86400, rows) * 1_000_000, dtype=pl.Datetime("us", "UTC")),
        }
    )  # fmt: skip


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few hundred rows, worked on in steps of fewer."""
    monkeypatch.setattr(logs, "PIECE", PIECE)
    monkeypatch.setattr(parquet, "PIECE", PIECE)
    monkeypatch.setattr(bins, "STEP", 256)


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[dict[Any, Any], dict[Any, Any]]]:
    """What each unit and group adds, in bins and by grouping."""

    def roll(log: Log, by: list[str], metrics: str = METRICS) -> tuple[dict[Any, Any], dict[Any, Any]]:
        chosen = parse_online_metrics(metrics)
        fast = roll_up(log, chosen, by, ids=True)
        with monkeypatch.context() as without:
            without.setattr(rollup, "sum_in_bins", lambda *_: None)
            slow = roll_up(log, chosen, by, ids=True)
        assert (fast.rows, fast.unit, fast.noun, fast.count) == (slow.rows, slow.unit, slow.noun, slow.count)
        return _by_unit(fast), _by_unit(slow)

    return roll


def _by_unit(units: UnitTotals) -> dict[Any, Any]:
    assert units.ids is not None
    names = zip(units.ids.to_list(), *(group.to_list() for group in units.groups.values()), strict=True)
    return dict(zip(names, np.vstack([units.numerators, units.denominators]).T.tolist(), strict=True))


def _assert_alike(fast: dict[Any, Any], slow: dict[Any, Any], money: tuple[int, ...] = (2, 3, 4)) -> None:
    """The same units, whole numbers to the bit, and sums of money but for rounding."""
    assert fast.keys() == slow.keys()
    for name, sums in slow.items():
        for i, value in enumerate(sums):
            assert fast[name][i] == (pytest.approx(value, rel=1e-14) if i in money else value)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("variants", VARIANTS)
@pytest.mark.parametrize("ids", IDS)
def test_bins_and_groups_have_the_same_sums(both: Any, ids: str, variants: str) -> None:
    log = read_log(_table(ids, variants))
    assert len(log.pieces) > 1
    for by in ([], ["variant"]):
        _assert_alike(*both(log, by))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("by", [["country"], ["variant", "country"], ["item_id", "variant"]], ids=" and ".join)
def test_rows_are_grouped_by_any_columns(both: Any, by: list[str]) -> None:
    _assert_alike(*both(read_log(_table("short texts", "units in several variants")), by))


def test_rows_of_a_day_alone(both: Any) -> None:
    log = with_days(
        read_log(_table("numbers from 0 on", "numbers").with_columns(pl.when(pl.col("item") > 0).then("timestamp")))
    )
    fast, slow = both(log, [DAY])
    assert len(fast) > 1000
    _assert_alike(fast, slow)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("group", [100, 650, 701, 5000], ids="row groups of {} rows".format)
def test_pieces_of_a_parquet_file(both: Any, tmp_path: Path, group: int) -> None:
    table = _table("long texts", "units in several variants")
    table.write_parquet(tmp_path / "log.parquet", row_group_size=group)
    log = read_log(tmp_path / "log.parquet")
    read = [log.collect(piece) for piece in log.pieces]
    assert pl.concat(read)["unit_id"].to_list() == table["user_id"].to_list()
    groups = open_parquet(open_raw(tmp_path / "log.parquet", "a log")).footer.groups
    assert {*np.cumsum([len(rows) for rows in read]).tolist()} <= {*np.cumsum(groups).tolist()}
    assert max(len(rows) for rows in read) <= max(PIECE, *groups)
    _assert_alike(*both(log, ["variant"]))


def test_more_columns_of_truths_than_one_mark_holds(both: Any) -> None:
    metrics = "CTR, CVR, CVR(per=impression), SatisfiedClicks, SatisfiedClicks(dwell=10), SatisfiedClicks(dwell=20)"
    fast, slow = both(read_log(_table("short texts", "numbers")), ["variant"], metrics)
    _assert_alike(fast, slow, money=())


def test_sums_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "PIECE", PIECE)
    sums = []
    for threads in ("1", "5"):
        monkeypatch.setenv("RANKSCOPE_THREADS", threads)
        units = roll_up(
            read_log(_table("short texts", "numbers")), parse_online_metrics(METRICS), ["variant"], ids=True
        )
        sums.append((_by_unit(units), units.ids.to_list() if units.ids is not None else []))
    assert sums[0] == sums[1]


def test_a_position_below_the_first_is_refused_in_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "PIECE", 4)
    rows = pl.DataFrame({
        "user": [f"u{i // 2}" for i in range(12)], "variant": ["A"] * 6 + ["B"] * 6, "click": [1, 0] * 6,
        "position": [1, 2] * 5 + [-1, 2],
    })  # fmt: skip
    with pytest.raises(DataError, match="a row has position -1: positions count from 1"):
        rs.online(rows, "CTR", by="position")


@pytest.mark.parametrize("empty", [None, ""], ids=["null", "an empty text"])
def test_a_row_that_names_no_unit_is_refused(empty: str | None) -> None:
    log = read_log(pl.DataFrame({"user_id": ["a", empty, "b", empty], "click": [1, 0, 1, 0]}))
    with pytest.raises(DataError, match=r"2 rows name no user \(user_id is empty\)"):
        roll_up(log, [CTR()])


def test_a_null_among_numbers_is_refused() -> None:
    log = read_log(pl.DataFrame({"user_id": [1, None, 2], "click": [1, 0, 1]}))
    with pytest.raises(DataError, match="1 row names no user"):
        roll_up(log, [CTR()])


def test_a_log_without_rows() -> None:
    log = read_log(pl.LazyFrame({"user_id": [], "click": []}, schema={"user_id": pl.Int64, "click": pl.Boolean}))
    assert (roll_up(log, [CTR()]).count, roll_up(log, [CTR()]).rows) == (0, 0)


def test_what_is_odd_is_left_to_grouping() -> None:
    added = {"n0": pl.col("click") > 0}
    for ids in (["a", " b"], ["a", ""], ["a", None]):
        log = read_log(pl.DataFrame({"user_id": ids, "click": [1, 0]}))
        assert sum_in_bins(log, ["unit_id"], added) is None
    log = read_log(pl.DataFrame({"user_id": ["a", "b"], "click": [1, 0], "share": [0.5, 0.25]}))
    assert sum_in_bins(log, ["unit_id", "share"], added) is None


def test_a_metric_of_ones_own_may_look_at_all_rows_of_a_unit() -> None:
    class Distance(OnlineMetric):
        """How far the clicks of a unit are from their mean: an expression that looks at all rows of a unit."""

        needs = ("click",)

        def parts(self, log: Log, end: datetime | None) -> RatioParts:
            return RatioParts("row", (pl.col("click") - pl.col("click").mean()).abs())

    log = read_log(pl.DataFrame({"user_id": ["a", "a", "b", "b"], "click": [0, 1, 1, 1]}))
    units = roll_up(log, [Distance()], ids=True)
    assert units.ids is not None
    assert dict(zip(units.ids.to_list(), units.numerators[0].tolist(), strict=True)) == {"a": 0.5 + 0.5, "b": 0.0}


# --- numbers for keys ---------------------------------------------------------------------------------------------


def _keys(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.uint64)


def test_keys_are_numbered_as_they_come() -> None:
    numbering = Numbering(10)
    numbers, new = numbering.number(_keys(5, 9, 5, 7), _keys(5, 9, 5, 7))
    assert len(new) == numbering.count == 3
    assert numbers.tolist() == [numbers[0], numbers[1], numbers[0], numbers[3]]
    assert sorted(numbers[new].tolist()) == numbers[new].tolist() == [0, 1, 2]
    again, none = numbering.number(_keys(7, 5), _keys(7, 5))
    assert again.tolist() == [numbers[3], numbers[0]]
    assert len(none) == 0


def test_keys_at_one_spot_are_told_apart() -> None:
    numbering, keys = Numbering(10), _keys(*range(3000))
    numbers, new = numbering.number(keys, keys & np.uint64(1))
    assert sorted(numbers.tolist()) == list(range(3000))
    assert numbers[new].tolist() == list(range(3000))
    assert numbering.number(keys[::-1], keys[::-1] & np.uint64(1))[0].tolist() == numbers[::-1].tolist()


def test_keys_without_a_place_are_left() -> None:
    numbering, keys = Numbering(10), _keys(*range(1 << 14))
    numbering.number(keys[:2000], keys[:2000])
    assert not numbering.full
    numbering.number(keys, keys)
    assert numbering.full


# --- what a Parquet file says of its columns ----------------------------------------------------------------------


@pytest.mark.parametrize("column", ["revenue", "dwell_s"])
@pytest.mark.parametrize("kind", [pl.Float64, pl.Float32], ids=["doubles", "floats"])
@pytest.mark.parametrize("odd", [float("inf"), -float("inf")], ids=["infinite", "infinite below 0"])
@pytest.mark.parametrize("said", [True, False], ids=["with the least and the largest", "without"])
def test_an_infinite_number_in_a_parquet_file_is_refused(
    tmp_path: Path, column: str, kind: Any, odd: float, said: bool
) -> None:
    table = _table("short texts", "numbers")
    cells = [odd if row == 2345 else value for row, value in enumerate(table[column])]
    path = tmp_path / "log.parquet"
    table.with_columns(pl.Series(column, cells, dtype=kind)).write_parquet(path, row_group_size=500, statistics=said)
    with pytest.raises(InputError, match=f"row 2,346, column {column}: '-?inf'"):
        read_log(path)


@pytest.mark.parametrize("said", [True, False], ids=["with the least and the largest", "without"])
def test_what_is_no_number_was_not_observed(both: Any, tmp_path: Path, said: bool) -> None:
    table = _table("short texts", "numbers").with_columns(
        pl.when(pl.col("item") > 0).then("revenue").otherwise(float("nan")).alias("revenue")
    )
    table.write_parquet(tmp_path / "log.parquet", statistics=said)
    fast, slow = both(read_log(tmp_path / "log.parquet"), ["variant"])
    _assert_alike(fast, slow)
    assert sum(sums[8] for sums in fast.values()) < len(table)


def test_columns_are_finite_where_the_file_says_so(tmp_path: Path) -> None:
    table = _table("short texts", "numbers").select("user_id", "revenue", "dwell_s", "click")
    odd = table.with_columns(
        pl.when(pl.int_range(pl.len()) != 700).then("dwell_s").otherwise(float("inf")).alias("dwell_s")
    )
    for said, frame, finite in ((True, table, {"revenue", "dwell_s"}), (True, odd, {"revenue"}), (False, table, set())):
        frame.write_parquet(tmp_path / "log.parquet", row_group_size=600, statistics=said)
        assert open_parquet(open_raw(tmp_path / "log.parquet", "a log")).finite == finite


@pytest.mark.parametrize(
    ("cells", "looks"),
    [
        pytest.param(["A", "B", "treatment"], False, id="texts"),
        pytest.param([1, 2, 3], False, id="numbers"),
        pytest.param([True, False, True], True, id="yes and no"),
        pytest.param(["A", "", "B"], True, id="an empty text"),
        pytest.param(["A", " ", "B"], True, id="a blank"),
        pytest.param(["A", "\u00a0", "B"], True, id="a blank beyond ASCII"),
        pytest.param(["A", "é", "B"], True, id="a letter beyond ASCII"),
        pytest.param(["A", None, "B"], True, id="a missing text"),
        pytest.param([1, None, 2], True, id="a missing number"),
        pytest.param([1.0, None, 2.0], True, id="a missing float"),
    ],
)
@pytest.mark.parametrize("statistics", [True, False])
def test_whether_an_id_is_empty_is_read_from_the_footer_if_it_says_so(
    tmp_path: Path, cells: list[Any], looks: bool, statistics: bool
) -> None:
    table = pl.DataFrame({"user": ["a", "b", "c"], "variant": cells, "click": [1, 0, 1]})
    table.write_parquet(tmp_path / "log.parquet", statistics=statistics, row_group_size=2)
    log, asked = read_log(tmp_path / "log.parquet"), list[pl.LazyFrame]()
    watched = replace(log, collect=lambda query: asked.append(query) or log.collect(query))  # type: ignore[func-returns-value]
    assert watched.some_empty("variant") is (watched.collect(log.frame)["variant"].null_count() > 0)
    assert len(asked) - 1 == (looks or not statistics)
    some = watched.turned(lambda frame: frame.with_columns(variant=pl.lit(None, pl.String)))
    assert some.some_empty("variant")  # what a file says holds for its own rows


PLACES: dict[str, tuple[Callable[[np.ndarray[Any, Any]], Any], bool]] = {
    "near each other": (lambda n: n % 5 + 1, True),
    "below zero": (lambda n: n % 5 - 3, True),
    "one": (lambda n: n * 0 + 7, True),
    "rarely deep": (lambda n: np.where(n == 0, 4000, n % 3), False),
    "beyond 32 bits": (lambda n: np.where(n == 0, 1 << 40, n % 3), False),
}


def _rows(units: UnitTotals) -> list[list[float]]:
    return sorted(np.vstack([units.numerators, units.denominators]).T.tolist())


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    ("ids", "places"), [(ids, "near each other") for ids in IDS] + [("short texts", places) for places in PLACES]
)
def test_bins_of_places_have_the_sums_of_grouping(monkeypatch: pytest.MonkeyPatch, ids: str, places: str) -> None:
    numbers, dense = PLACES[places]
    table, asked = _table(ids, "numbers"), list[bool]()
    table = table.with_columns(position=pl.Series(numbers(np.random.default_rng(2).integers(0, 50, ROWS))))
    log, metrics = read_log(table), parse_online_metrics(f"{METRICS} Count")

    def watched(*given: Any) -> Any:
        found = bins.sum_at_places(*given)
        asked.append(found is not None)
        return found

    monkeypatch.setattr(rollup, "sum_at_places", watched)
    fast = dict(roll_up_parts(log, metrics, "position"))
    monkeypatch.setattr(rollup, "sum_at_places", lambda *_: None)
    slow = dict(roll_up_parts(log, metrics, "position"))
    binned = ids not in {"texts with blanks at their ends", "a unit a row"}
    assert asked == [dense and binned]
    assert [*fast] == [*slow] == sorted(table["position"].unique().to_list())
    for value, units in slow.items():
        one = fast[value]
        assert (one.count, one.unit, one.noun, one.metrics) == (units.count, units.unit, units.noun, units.metrics)
        np.testing.assert_allclose(_rows(one), _rows(units), rtol=1e-13)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("column", ["user_id", "position"])
def test_rows_without_a_unit_or_a_place_are_left_to_grouping(column: str) -> None:
    table = _table("short texts", "numbers").with_columns(position=pl.int_range(pl.len()) % 4 + 1)
    log = read_log(table.with_columns(pl.when(pl.int_range(pl.len()) != 1500).then(pl.col(column)).alias(column)))
    if column == "user_id":
        with pytest.raises(DataError, match="1 row names no user"):
            [*roll_up_parts(log, [CTR()], "position")]
    else:
        assert [value for value, _ in roll_up_parts(log, [CTR()], "position")] == [1, 2, 3, 4, None]


@pytest.mark.parametrize(
    "clicks",
    [[0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0], [1, 1, 1, 0], [0, 1, 0, 0]],
    ids=lambda some: f"{sum(some)} of 4",
)
def test_clicks_of_a_place_are_counted_however_usual_they_are(clicks: list[int]) -> None:
    log = read_log({"user": ["u", "v", "u", "v"], "position": [1, 1, 2, 2], "click": clicks})
    found = {place: units.numerators.tolist() for place, units in roll_up_parts(log, [CTR()], "position")}
    assert found == {1: [[float(one) for one in clicks[:2]]], 2: [[float(one) for one in clicks[2:]]]}


def test_a_metric_of_literals_alone_counts_all_rows_of_a_place() -> None:
    log = read_log({"user": ["a", "b", "a"], "item": ["x"] * 3, "position": [1, 1, 2]})
    found = {
        value: units.numerators.sum() for value, units in roll_up_parts(log, parse_online_metrics("Count"), "position")
    }
    assert found == {1: 2.0, 2: 1.0}
