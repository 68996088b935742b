"""Which way a log is summed: merged rows and bins are used wherever they can be, and no other pass over the rows is made then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.logs.test_bins import IDS, METRICS, VARIANTS, _table
from tests.logs.test_rollup import a_log, assert_units

import rankscope as rs
from rankscope.impressions import Log
from rankscope.logs import bins, rollup
from rankscope.logs.base import OnlineMetric, RatioParts, parse_online_metrics
from rankscope.logs.cuts import with_merged_rows
from rankscope.logs.metrics import CTR
from rankscope.logs.rollup import roll_up, roll_up_parts


def refused(*_: Any, **__: Any) -> Any:
    raise AssertionError("this way is not to be gone here")


@pytest.mark.parametrize("by", [[], ["variant"], ["variant", "country"]], ids=["units", "by one", "by all"])
def test_merged_rows_are_used_for_all_that_they_were_merged_for(by: list[str]) -> None:
    metrics = parse_online_metrics("CTR ListCTR RPM LTV@3 ReturnRate@2")
    log = with_merged_rows(a_log(), metrics, ["variant", "country"])
    closed = replace(log, collect=refused)
    asked = [metric for metric in metrics if not metric.windowed]  # these ask for the end of the log
    assert_units(roll_up(closed, asked, by, ids=True), roll_up(a_log(), asked, by, ids=True), exact=False)
    assert_units(roll_up(closed, asked[:1], by, ids=True), roll_up(a_log(), asked[:1], by, ids=True), exact=False)
    for others, groups in ((metrics[:1], ["query_id"]), (parse_online_metrics("Count"), by)):
        with pytest.raises(AssertionError, match="not to be gone"):
            roll_up(closed, others, groups, ids=True)
    assert with_merged_rows(closed, metrics, ["variant"]) is closed, (
        "merged rows of these very rows are not merged again"
    )
    with pytest.raises(AssertionError, match="not to be gone"):
        with_merged_rows(closed.turned(lambda rows: rows.filter(pl.col("position") == 1)), metrics, ["variant"])


@pytest.mark.parametrize("ids", [name for name in IDS if "blanks" not in name])
def test_rows_are_summed_in_bins_wherever_ids_can_be_numbered(ids: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log = rs.read_log(_table(ids, "one variant a unit", rows=400))
    monkeypatch.setattr(rollup, "_query", refused)
    assert roll_up(log, parse_online_metrics(METRICS), ["variant"], ids=True).rows == 400


@pytest.mark.parametrize("variants", [name for name in VARIANTS if name not in {"padded texts", "empty texts"}])
def test_rows_are_summed_in_bins_whatever_they_are_grouped_by(variants: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log = rs.read_log(_table("short texts", variants, rows=400))
    monkeypatch.setattr(rollup, "_query", refused)
    assert roll_up(log, parse_online_metrics(f"{METRICS} Quantile(dwell_s,q=0.5)"), ["variant", "country"]).rows == 400


@pytest.mark.parametrize(
    ("metrics", "options"),
    [("ListCTR", {}), ("Attribute(dwell_s)", {}), ("CTR", {"attributes": ["country"]})],
    ids=["a metric of lists", "the first value of a unit", "what units have"],
)
def test_what_looks_at_several_rows_is_grouped(metrics: str, options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollup, "_query", refused)
    with pytest.raises(AssertionError, match="not to be gone"):
        roll_up(a_log(), parse_online_metrics(metrics), ["variant"], **options)


def test_places_are_summed_in_bins_unless_only_the_largest_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    log = a_log()
    asked: list[int] = []

    def watched(*given: Any) -> Any:
        asked.append(1)
        return bins.sum_at_places(*given)

    monkeypatch.setattr(rollup, "sum_at_places", watched)
    for most, times in ((0, 1), (2, 0)):
        asked.clear()
        assert len([*roll_up_parts(log, [CTR()], "position", most)]) == (most or 4)
        assert len(asked) == times


@pytest.mark.parametrize(("users", "merged"), [(20, True), (21, False)])
def test_rows_are_merged_up_to_a_number_that_is_expected(
    users: int, merged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 40 rows as many are expected as users among the first rows, of which 20 are not too many."""
    monkeypatch.setattr(rollup, "FEW", 39)
    monkeypatch.setattr(rollup, "MOST", 20)
    log = rs.read_log({"user": [n % users for n in range(40)], "item": ["a"] * 40, "click": [1] * 40})
    assert (with_merged_rows(log, [CTR()]).merged is not None) == merged
    monkeypatch.setattr(rollup, "FEW", 40)
    assert with_merged_rows(log, [CTR()]).merged is not None, "a small log is always merged"


def test_numbers_of_a_place_are_summed_however_many_are_ones() -> None:
    log = rs.read_log({"user": ["u", "v", "u", "v"], "position": [1, 1, 2, 2], "revenue": [1.0, 2.0, 0.5, 1.0]})
    found = {
        place: units.numerators.tolist()
        for place, units in roll_up_parts(log, parse_online_metrics("Ratio(revenue, revenue)"), "position")
    }
    assert found == {1: [[1.0, 2.0]], 2: [[0.5, 1.0]]}


def test_a_class_with_parts_of_its_own_does_not_inherit_that_each_row_adds_by_itself() -> None:
    class Spread(CTR):
        """The largest click of a unit less the least: rows of a unit are seen together."""

        def parts(self, log: Log, end: Any) -> RatioParts:
            return RatioParts("row", pl.col("click").max() - pl.col("click").min())

    class Same(CTR):
        """As it is."""

    try:
        assert (CTR.rowwise, Same.rowwise, Spread.rowwise) == (True, True, False)
        log = rs.read_log({"user": ["a", "a", "b", "b"], "item": list("xyxy"), "click": [0, 1, 1, 1]})
        units = roll_up(log, [Spread()], ids=True)
        assert units.ids is not None
        assert dict(zip(units.ids, units.numerators[0].tolist(), strict=True)) == {"a": 1.0, "b": 0.0}
    finally:
        for name in ("Spread", "Same"):
            OnlineMetric.catalogue.pop(name, None)
