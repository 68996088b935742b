"""The edges of what logs mean: zones of times, ids that look like numbers, lines of several files, windows, and spelling of covariates."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.impressions import attribute_columns, attribute_of, cluster_columns, column_of
from rankscope.logs.base import parse_online
from rankscope.logs.cuts import come_back


def cells(log: Any, name: str) -> list[Any]:
    read = rs.read_log(log)
    return read.collect(read.frame.select(name))[name].to_list()


def test_a_date_begins_where_its_day_does() -> None:
    """On the first of these days clocks in Sao Paulo went from midnight to one."""
    log = rs.read_log(
        {"user": ["a", "b"], "click": [1, 0], "day": ["2018-11-04", "2018-11-05"]},
        columns={"day": "timestamp"},
        time_zone="America/Sao_Paulo",
    )
    first, second = cells(log, "timestamp")
    assert (first.day, first.hour, second.day, second.hour) == (4, 1, 5, 0)


@pytest.mark.parametrize(
    ("text", "hour", "minute"),
    [
        pytest.param("2024-05-01T14:30:00+05:30", 9, 0, id="east by half an hour"),
        pytest.param("2024-05-01T09:00:00-03:30", 12, 30, id="west by half an hour"),
        pytest.param("2024-05-01T09:00:00-0345", 12, 45, id="without a colon"),
        pytest.param("2024-05-01T09:00:00+00:00", 9, 0, id="no offset"),
    ],
)
def test_minutes_of_a_zone_count_in_its_direction(text: str, hour: int, minute: int) -> None:
    assert cells({"item": ["a"], "time": [text]}, "timestamp") == [datetime(2024, 5, 1, hour, minute, tzinfo=UTC)]


def test_numbers_are_dates_only_if_the_smallest_and_the_largest_are() -> None:
    assert cells({"item": ["a", "b"], "time": [20240501, 20240502]}, "timestamp") == [
        datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 5, 2, tzinfo=UTC),
    ]  # fmt: skip
    with pytest.raises(InputError, match="too small for times after 1973"):
        rs.read_log({"item": ["a", "b"], "time": [7, 20240502]})


def test_ids_are_whole_numbers_only_if_all_are() -> None:
    assert cells({"user": ["1.0", "2.0"], "click": [1, 0]}, "unit_id") == ["1", "2"]
    assert cells({"user": ["1.0", "x"], "click": [1, 0]}, "unit_id") == ["1.0", "x"]


@pytest.mark.parametrize("empty", [999, 1000, 1001, 2500])
@pytest.mark.parametrize(("written", "ids"), [(["1.0", "2.0"], ["1", "2"]), (["1.0", "x"], ["1.0", "x"]), (["x", "1.0"], ["x", "1.0"])])  # fmt: skip
def test_ids_are_whole_numbers_however_late_the_first_comes(empty: int, written: list[str], ids: list[str]) -> None:
    """The first thousand rows are searched for an id, then all: a column that has one near the top is of its own kind."""
    items: list[str | None] = [None] * empty
    log = {"item": [*items, *written], "user": [f"{n // 2}.0" for n in range(empty + 2)], "click": [0] * (empty + 2)}
    assert cells(log, "item_id")[-2:] == ids
    assert cells(log, "unit_id")[:3] == ["0", "0", "1"]


def test_two_columns_for_a_role_are_noted_unless_one_has_its_name() -> None:
    notes = rs.read_log({"user": ["a"], "visitor": ["b"], "click": [1]}).source.notes
    assert (
        "columns user and visitor could each be unit_id (the unit that was given a variant: a user, a device, an account): user is used"
        in notes
    )
    notes = rs.read_log({"unit_id": ["a"], "visitor": ["b"], "click": [1]}).source.notes
    assert not any("could each be" in note for note in notes)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("Mean(spent)", r"^covariate of Mean\(spent\): it is not computed; there are Mean\(orders\) and Quantile\(orders, q=0.5\)"),
        ("Quantile(orders, q=0.5)", r"^covariate of Quantile\(orders, q=0.5\): a quantile is not adjusted for covariates"),
    ],
    ids=["a metric that is not computed", "a quantile"],
)  # fmt: skip
def test_a_metric_without_covariates_is_named(metric: str, said: str) -> None:
    log = {"user": list("abcd"), "variant": list("ABAB"), "orders": [1, 2, 3, 4], "before": [1, 1, 2, 2]}
    with pytest.raises(InputError, match=said):
        rs.experiment(log, ["Mean(orders)", "Quantile(orders, q=0.5)"], covariates={metric: "before"})


@pytest.mark.parametrize("text", ["=orders", "CTR=", " = "])
def test_a_covariate_without_a_metric_or_a_column_is_refused(text: str) -> None:
    log = {"user": list("abcd"), "variant": list("ABAB"), "click": [1, 0, 1, 1], "orders": [1, 2, 3, 4]}
    with pytest.raises(InputError, match="write METRIC=COLUMN, like"):
        rs.experiment(log, "CTR", covariates=text)


LINES = "s1\t0\tQ\tq7\tr1\tu1\tu2\ns1\t20\tC\tu2\ns1\t30\tC\tu9\ns1\t31\tC\tu8\n"


def test_stray_clicks_of_lines_are_counted_and_regions_kept(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(LINES)
    notes = rs.read_log(tmp_path / "log.txt").source.notes
    assert any(note.startswith("2 of 3 clicks: no page before in the session shows the url") for note in notes)
    assert cells(tmp_path / "log.txt", "region") == ["r1"] * 4


def test_a_faulty_line_of_a_second_file_has_its_own_number(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(LINES)
    (tmp_path / "b.txt").write_text("s2\t0\tQ\tq7\tr1\tu1\ns2\tx\tC\tu1\n")
    with pytest.raises(InputError, match=r"b\.txt line 2: "):
        rs.read_log(tmp_path)


def test_a_table_of_a_folder_without_times_is_no_measurement_of_growthbook(tmp_path: Path) -> None:
    (tmp_path / "exposures.csv").write_text(
        "user_id,timestamp,experiment_id,variation_id\nu1,2024-05-01,e,0\nu2,2024-05-01,e,1\n"
    )
    (tmp_path / "orders.csv").write_text("user_id,value\nu1,3\n")
    with pytest.raises(InputError):
        rs.read_log(tmp_path)


WINDOW = {"user": ["u", "u", "v", "end"], "click": [1, 1, 1, 1], "revenue": [1.0, 2.0, 4.0, 0.0]}


@pytest.mark.parametrize(
    ("metric", "second", "end", "value"),
    [
        pytest.param("ReturnRate@1", "2024-05-02T23:59:59Z", "2024-05-10", 0.5, id="the last second of the next day"),
        pytest.param("ReturnRate@1", "2024-05-03T00:00:00Z", "2024-05-10", 0.0, id="a second too late to return"),
        pytest.param("Retention@1", "2024-05-03T00:00:00Z", "2024-05-10", 0.0, id="a second too late to stay"),
        pytest.param("Retention@1", "2024-05-02T00:00:00Z", "2024-05-10", 0.5, id="the first second of the day"),
        pytest.param("LTV@2", "2024-05-03T11:59:59Z", "2024-05-10", (3 + 4) / 2, id="within two days"),
        pytest.param("LTV@2", "2024-05-03T12:00:00Z", "2024-05-10", (1 + 4) / 2, id="two days later"),
        pytest.param("ReturnRate@1", "2024-05-02T23:59:59Z", "2024-05-03T12:00:00Z", 0.5, id="observed for two days"),
        pytest.param(
            "Retention@1", "2024-05-02T00:00:00Z", "2024-05-03T12:00:00Z", 0.5, id="observed just long enough"
        ),
    ],
)
def test_windows_end_where_they_say(metric: str, second: str, end: str, value: float) -> None:
    end = end if "T" in end else f"{end}T12:00:00Z"
    log = {**WINDOW, "time": ["2024-05-01T12:00:00Z", second, "2024-05-01T12:00:00Z", end]}
    assert rs.online(log, metric)[metric] == pytest.approx(value)


def test_users_seen_a_second_too_late_are_left_out_of_a_window() -> None:
    log = {
        **WINDOW,
        "time": ["2024-05-01T12:00:01Z", "2024-05-02T12:00:00Z", "2024-05-01T12:00:00Z", "2024-05-03T12:00:00Z"],
    }
    assert rs.online(log, "Retention@1")["Retention@1"] == 0.0  # of v alone


def test_simulated_visits_fill_the_days() -> None:
    times = rs.simulate(users=300, items=3, candidates=4, queries=5, days=6, seed=2).log["timestamp"]
    assert (times.max() - times.min()).total_seconds() > 5 * 86_400


@pytest.mark.parametrize(
    "name",
    [
        "CTR",
        "ListCTR",
        "Abandonment",
        "GoodAbandonment",
        "CVR",
        "SatisfiedClicks",
        "ReformulationRate",
        "ReturnRate@7",
        "Retention@7",
    ],
)
def test_a_share_lies_between_0_and_1(name: str) -> None:
    assert parse_online(name).range == (0.0, 1.0)


@pytest.mark.parametrize(
    ("named", "days", "again"),
    [
        pytest.param("user", (1, 2), True, id="two days of a user"),
        pytest.param("user", (1, 1), False, id="one day of a user"),
        pytest.param("session", (1, 2), False, id="sessions without a user"),
        pytest.param("user", (), False, id="no times"),
    ],
)
def test_users_come_back_if_one_has_rows_on_several_days(named: str, days: tuple[int, ...], again: bool) -> None:
    rows = {
        "item": ["a", "b"],
        named: ["one", "one"],
        **({"time": [f"2024-05-0{day}" for day in days]} if days else {}),
    }
    assert come_back(rs.read_log(rows)) is again


@pytest.mark.parametrize(
    ("second", "again"),
    [("12:05:00", 1), ("12:05:00.000001", 0), ("12:04:59.999999", 1)],
    ids=["at the limit", "after it", "before it"],
)
def test_a_query_within_just_so_many_seconds_follows(second: str, again: int) -> None:
    log = {"session": ["s", "s"], "query": ["q", "r"], "time": ["2024-05-01T12:00:00Z", f"2024-05-01T{second}Z"]}
    found = rs.online(log, "ReformulationRate").values[0]
    assert (found.numerator, found.denominator) == (again, 2)


@pytest.mark.parametrize(("dwell", "satisfied"), [(30.0, 1), (29.999999, 0), (None, None)])
def test_a_click_of_just_so_many_seconds_satisfies(dwell: float | None, satisfied: int | None) -> None:
    log = {"user": ["u", "v", "w"], "click": [1, 0, 1], "dwell_s": [dwell, None, 31.0]}
    found = rs.online(log, "SatisfiedClicks").values[0]
    assert (found.numerator, found.denominator) == ((satisfied or 0) + 1, 2 if satisfied is None else 3)


def test_sizes_up_to_a_bound_that_belongs_to_them_are_summed() -> None:
    """Squares and ratios of what units add stay finite up to 1e50, and from 1e-50 on."""
    for size in (1e50, 1e-50, -1e50):
        log = {"user": ["u", "v"], "spent": [size, 0.0]}
        assert rs.online(log, "Mean(spent)")["Mean(spent)"] == size / 2
    for size in (1.001e50, 0.999e-50):
        with pytest.raises(DataError, match="beyond 1e+50 in size, or below 1e-50 and not 0".replace("+", "[+]")):
            rs.online({"user": ["u", "v"], "spent": [size, 0.0]}, "Mean(spent)")


COLUMNS = {
    "user": ["a", "b"],
    "list_id": ["l", "m"],
    "group": ["A", "B"],
    "position": [1, 2],
    "click": [1, 0],
    "city": ["x", "y"],
    "a,b": [1, 2],
}


@pytest.mark.parametrize(
    ("find", "name", "said"),
    [
        pytest.param(attribute_of, "planet", "log: no column 'planet' to group by: there are ", id="grouped by no column"),
        pytest.param(column_of, "planet", "log: no column 'planet' to slice by: there are ", id="sliced by no column"),
        pytest.param(cluster_columns, "planet", "log: no column 'planet' to cluster by: there are ", id="clustered by no column"),
        pytest.param(attribute_of, "group", "log: group is the column of variants, which are compared already: name another to group by", id="the variants"),
        pytest.param(column_of, "list_id", "log: column list_id is taken as impression_id: slices need columns with few values, like a country or a device", id="ids"),
        pytest.param(cluster_columns, "group", "log: group is the column of variants: name a column of clusters, like household", id="clusters of variants"),
        pytest.param(cluster_columns, "user", "log: user is the column that names each user, which is the unit without clusters: name a column of clusters, like household", id="clusters of users"),
        pytest.param(attribute_columns, {"city": "x"}, "slices: of a log they are names of its columns, like country", id="values of a column"),
        pytest.param(cluster_columns, 5, "clusters: of a log they are names of its columns, like household", id="a number"),
    ],
)  # fmt: skip
def test_a_column_that_cannot_cut_a_log_is_refused_with_the_reason(find: Any, name: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        find(rs.read_log(COLUMNS, columns={"group": "variant"}), name)
    assert str(error.value).startswith(said)
    assert said.endswith("there are ") or str(error.value) == said


def test_columns_to_cut_by_are_named_in_a_list_or_apart_at_commas() -> None:
    log = rs.read_log(COLUMNS, columns={"group": "variant"})
    assert attribute_columns(log, "city, position ,city") == ["city", "position"]
    assert attribute_columns(log, ["a,b", "city"]) == ["a,b", "city"]
    assert attribute_columns(log, None) == []
    for lowest, refused in ((0, False), (-1, True)):
        other = rs.read_log(COLUMNS | {"position": [lowest, 2]}, columns={"group": "variant"})
        if refused:
            with pytest.raises(DataError, match=r"^log: a row has position -1: positions count from 1"):
                attribute_of(other, "position")
        else:
            assert attribute_of(other, "position") == "position"
