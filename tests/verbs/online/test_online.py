"""``online``: laws over logs, intervals by formula, parts, real logs, and what is wrong told in a line."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import DataError, InputError, RankscopeError
from rankscope.inference.intervals import student, wilson
from rankscope.show.charts import data_of

FIVE = pl.DataFrame({"item": list("abcab"), "shown": ["yes"] * 5, "clicked": ["yes", "no", "yes", "no", "yes"]})


def made(users: int = 60, seed: int = 5) -> pl.DataFrame:
    """A log of users who each have their own rate of clicks, over some days."""
    draws = np.random.default_rng(seed)
    rows = []
    for user in range(users):
        rate = draws.beta(2, 5)
        for visit in range(int(draws.integers(1, 5))):
            day = int(draws.integers(0, 12))
            for place in range(1, int(draws.integers(2, 6))):
                click = int(draws.random() < rate / place)
                paid = float(draws.integers(1, 90)) if click and draws.random() < 0.3 else 0.0
                rows.append((f"u{user}", f"s{user}-{visit}", f"l{user}-{visit}", f"q{place % 3}", f"i{draws.integers(20)}", place, click, 5.0 * click,
                             int(paid > 0), paid, ["de", "fr"][user % 2], f"2024-03-{day + 1:02}T{visit:02}:{place:02}:00Z"))  # fmt: skip
    names = [
        "user",
        "session",
        "list_id",
        "query",
        "item",
        "position",
        "click",
        "dwell",
        "conversion",
        "revenue",
        "country",
        "time",
    ]
    return pl.DataFrame(rows, schema=names, orient="row")


def numbers(frame: Any, **options: Any) -> list[dict[str, Any]]:
    result = rs.online(frame, **options)
    views = ("results", "by_day", "by_position", "slices")
    return [record for view in views for record in result.to_dicts(view)]


def assert_same(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> None:
    assert len(one) == len(other) > 0
    for left, right in zip(one, other, strict=True):
        assert left.keys() == right.keys()
        for key in left:
            assert left[key] == (
                pytest.approx(right[key], rel=1e-12, abs=1e-12) if isinstance(left[key], float) else right[key]
            ), key


# --- laws

EVERYTHING: dict[str, Any] = {"by": ["day", "position"], "slices": "country"}


@pytest.mark.parametrize("cuts", [1, 2, 7])
def test_parts_of_a_log_in_any_number_and_order_give_the_same_numbers(cuts: int, tmp_path: Path) -> None:
    log = made()
    for i, part in enumerate(reversed([log[i::cuts] for i in range(cuts)])):
        part.write_parquet(tmp_path / f"part-{i}.parquet")
    assert_same(numbers(tmp_path, **EVERYTHING), numbers(log, **EVERYTHING))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    log = made()
    assert_same(numbers(log.sample(fraction=1, shuffle=True, seed=seed), **EVERYTHING), numbers(log, **EVERYTHING))


def test_names_of_users_do_not_matter() -> None:
    log = made()
    renamed = log.with_columns(pl.col("user").str.reverse() + "-x", pl.col("session").str.to_uppercase())
    assert_same(numbers(renamed, **EVERYTHING), numbers(log, **EVERYTHING))


def test_rows_that_nobody_observed_add_nothing() -> None:
    log = made()
    unseen = log.with_columns(pl.lit(None, dtype=pl.Int64).alias("click"))
    both = pl.concat([log, unseen])
    for metric in ("CTR", "ListCTR", "Abandonment"):
        one, other = rs.online(both, metric).values[0], rs.online(log, metric).values[0]
        assert (one.numerator, one.denominator) == (other.numerator, other.denominator)
        assert one.bounds == other.bounds


def test_the_same_log_twice_under_other_users_keeps_the_value_and_narrows_the_interval() -> None:
    log = made()
    twice = pl.concat([log, log.with_columns(pl.col("user") + "'", pl.col("list_id") + "'", pl.col("session") + "'")])
    for one, other in zip(rs.online(log).values, rs.online(twice).values, strict=True):
        assert other.value == pytest.approx(one.value, rel=1e-12)
        wide, narrow = (side.bounds.upper - side.bounds.lower for side in (one, other))
        if one.bounds.method == other.bounds.method == "t" and one.bounds.lower > 0:
            assert narrow < wide


def test_slices_and_days_and_positions_add_up_to_the_whole() -> None:
    result = rs.online(made(), ["CTR", "RPM", "CVR"], **EVERYTHING)
    for whole in result.values:
        for parts in (result.days, result.positions, result.slices):
            own = [part for part in parts if part.metric == whole.metric]
            assert sum(part.numerator for part in own) == pytest.approx(whole.numerator)
            assert sum(part.denominator for part in own) == whole.denominator


def test_frames_of_any_kind_give_the_same(tmp_path: Path) -> None:
    log = made()
    log.write_csv(tmp_path / "log.csv")
    log.write_ndjson(tmp_path / "log.jsonl")
    log.write_parquet(tmp_path / "log.parquet")
    for name in ("log.csv", "log.jsonl", "log.parquet"):
        assert_same(numbers(tmp_path / name), numbers(log))
    assert_same(numbers(log.lazy()), numbers(log))
    assert_same(numbers(log.to_dict(as_series=False)), numbers(log))


# --- intervals


def ends(value: Any) -> Any:
    """The two ends of an interval, to compare with others."""
    return [value.bounds.lower, value.bounds.upper]


def test_five_rows_without_users() -> None:
    result = rs.online(FIVE)
    value = result.values[0]
    bounds = wilson().of_share(5, 3 / 5)
    assert (value.value, value.bounds.lower, value.bounds.upper) == (3 / 5, bounds.lower, bounds.upper)
    said = list(result.sentences())
    assert said[0] == "CTR is 60.0% (95% interval 23.1% to 88.2%): 3 out of 5 impressions that were shown."
    assert any("each row counts as one of its own" in text for text in said)
    assert any(text.startswith("More could be asked with the columns unit_id") for text in said)


@pytest.mark.parametrize(
    ("log", "noun"),
    [
        ({"user": ["a", "b", "c"]}, "user"),
        ({"uid": ["a", "b", "c"]}, "unit"),
        ({"user": ["a", "b", "b"]}, "row"),
        ({"user": ["a", "b", "b"], "item": ["x", "x", "y"]}, "impression"),
        ({"country": ["de", "fr", "fr"]}, "row"),
    ],
    ids=["a row a user", "a row a unit", "rows of users", "items", "rows of nobody"],
)
def test_a_rate_is_out_of_what_the_rows_are(log: Any, noun: str) -> None:
    result = rs.online({**log, "clicked": [1, 0, 1]}, "CTR", columns={"uid": "unit_id"} if "uid" in log else None)
    shown = "impressions that were shown" if noun == "impression" else f"{noun}s"
    assert next(iter(result.sentences())).endswith(f": 2 out of 3 {shown}.")
    assert result.to_dicts()[0]["of"] == noun


@pytest.mark.parametrize("written", [[True, False, True, False, True], [1, 0, 1, 0, 1], [1.0, 0.0, 1.0, 0.0, 1.0], ["1", "0", "1", "0", "1"], ["TRUE", "FALSE", "true", "no", "Y"]],
                         ids=["booleans", "whole numbers", "doubles", "digits", "words"])  # fmt: skip
def test_clicks_however_they_are_written(written: list[Any]) -> None:
    assert rs.online(FIVE.with_columns(pl.Series("clicked", written)))["CTR"] == 3 / 5


def test_the_interval_is_that_of_the_delta_method_over_users() -> None:
    log = made()
    value = rs.online(log, "CTR").values[0]
    users = log.group_by("user").agg(pl.col("click").sum().cast(float).alias("n"), pl.len().cast(float).alias("d"))
    n, d = users["n"].to_numpy(), users["d"].to_numpy()
    ratio, count = n.sum() / d.sum(), len(n)
    spread = np.cov(n, d)
    error = math.sqrt((spread[0, 0] + ratio**2 * spread[1, 1] - 2 * ratio * spread[0, 1]) / count) / d.mean()
    reach = student(count - 1, 0.025) * error
    assert value.value == pytest.approx(ratio, rel=1e-12)
    assert value.units == count
    assert ends(value) == pytest.approx([ratio - reach, ratio + reach], rel=1e-10)


def test_units_without_anything_below_the_line_count() -> None:
    log = pl.DataFrame(
        {"user": ["a", "b", "c", "d"], "click": [1, 1, 1, 0], "conversion": [1, 0, 1, 0], "item": ["x"] * 4}
    )
    value = rs.online(log, "CVR").values[0]
    assert value.value == pytest.approx(2 / 3)
    assert value.units == 4


def test_intervals_of_users_are_wider_where_they_come_back() -> None:
    log = made(users=40)
    often = pl.concat([log] * 4)  # the same users four times: no more is known of them
    by_user, by_row = (
        rs.online(often, "CTR").values[0],
        rs.online(often.drop("user", "session", "list_id"), "CTR").values[0],
    )
    assert by_user.value == by_row.value
    assert by_user.bounds.upper - by_user.bounds.lower > 2 * (by_row.bounds.upper - by_row.bounds.lower)


def test_the_level_of_intervals() -> None:
    wide, narrow = (rs.online(made(), "CTR", level=level).values[0].bounds for level in (0.99, 0.8))
    assert wide.lower < narrow.lower < narrow.upper < wide.upper


def test_one_user_has_no_interval_and_the_reason_names_users() -> None:
    value = rs.online(pl.DataFrame({"user": ["a", "a"], "click": [1, 0], "item": ["x", "y"]}), "CTR").values[0]
    assert value.interval_in_words == "no interval: fewer than 2 users"


# --- parts


def test_positions_from_0_are_counted_from_1_and_said() -> None:
    log = made()
    result = rs.online(log.with_columns(pl.col("position") - 1), "CTR", by="position")
    assert_same(result.to_dicts("by_position"), rs.online(log, "CTR", by="position").to_dicts("by_position"))
    assert "RS601" in [caution.code for caution in result.warnings]


def test_positions_below_0_are_refused() -> None:
    with pytest.raises(DataError, match="a row has position -2"):
        rs.online(made().with_columns(pl.col("position") - 3), "CTR", by="position")


def test_metrics_that_are_not_of_rows_have_no_position() -> None:
    result = rs.online(made(), ["CTR", "ListCTR", "Retention@1"], by=["position", "day"])
    assert {str(one.metric) for one in result.positions} == {"CTR"}
    assert {str(one.metric) for one in result.days} == {"CTR", "ListCTR"}
    said = list(result.sentences())
    assert "Not by position: ListCTR and Retention@1." in said
    assert "Not by day: Retention@1." in said


def test_charts_by_day_and_by_position() -> None:
    result = rs.online(made(), ["CTR", "RPM"], by=["position", "day"])
    assert [chart.name for chart in result.charts()] == [
        "by_day-CTR",
        "by_day-RPM",
        "by_position-CTR",
        "by_position-RPM",
    ]
    assert all(len(chart.rows) >= 4 for chart in result.charts())


def test_a_day_without_an_interval_has_its_value_on_the_scale_of_the_others() -> None:
    log = {"user": ["a", "b", "a", "c"], "item": ["x"] * 4, "click": [1, 0, 0, 1], "time": ["2024-05-01", "2024-05-01", "2024-05-02", "2024-05-03"]}  # fmt: skip
    found = rs.online(log, "CTR", by="day")
    drawn = found.to_text().partition("CTR by day")[2]
    assert "2024-05-03                 100.0%" in drawn
    assert "1.0000" not in drawn
    assert [row["c2"] for row in data_of(next(found.charts()))] == [0.5, 0.0, 1.0]


def test_of_a_slice_with_many_values_those_with_most_units_are_looked_at() -> None:
    log = pl.DataFrame(
        {
            "user": range(200),
            "item": ["x"] * 200,
            "click": [0, 1] * 100,
            "town": [f"t{min(i, 120)}" for i in range(200)],
        }
    )
    result = rs.online(log, "CTR", slices="town")
    assert len(result.slices) == 30
    assert "t120" in {one.part for one in result.slices}
    assert any(text == "Slices of town: the 30 values with the most units." for text in result.sentences())


def test_columns_to_slice_by_may_be_one_text_apart_at_commas() -> None:
    log = pl.DataFrame(
        {"user": range(8), "item": ["x"] * 8, "click": [0, 1] * 4, "town": list("aabbccdd"), "a, b": list("uvuvuvuv")}
    )
    apart = rs.online(log, "CTR", slices=["town", "a, b"]).to_dicts("slices")
    assert len(apart) == 6
    assert rs.online(log, "CTR", slices=["a, b"]).to_dicts("slices") == apart[4:]
    log = log.rename({"a, b": "device"})
    assert rs.online(log, "CTR", slices="town,device,town").to_dicts("slices") == rs.online(
        log, "CTR", slices=("town", "device")
    ).to_dicts("slices")


def test_users_who_were_not_observed_for_long_enough_are_said() -> None:
    result = rs.online(made(), "Retention@7")
    value = result.values[0]
    assert 0 < value.censored < 60
    assert value.units + value.censored == result.units
    assert any(f"leaves out {value.censored}" in text for text in result.sentences())


# --- real logs


def open_bandit(shared_data: Any, policy: str) -> pl.DataFrame:
    with gzip.open(shared_data(f"obd/{policy}/men/men.csv.gz"), "rb") as file:
        return pl.read_csv(file.read())


@pytest.mark.parametrize(("policy", "clicks"), [("random", 46), ("bts", 69)])
def test_click_through_of_the_open_bandit_data(shared_data: Any, policy: str, clicks: int) -> None:
    result = rs.online(open_bandit(shared_data, policy), "CTR", by="position")
    value = result.values[0]
    assert (value.numerator, value.denominator, value.value) == (clicks, 10_000, clicks / 10_000)
    bounds = wilson().of_share(10_000, clicks / 10_000)
    assert ends(value) == pytest.approx([bounds.lower, bounds.upper])
    assert [one.part for one in result.positions] == [1, 2, 3]
    assert sum(one.numerator for one in result.positions) == clicks


def test_click_rate_by_position_of_a_search_log(shared_data: Any) -> None:
    rows: list[tuple[str, int, str, int, int]] = []
    shown: dict[tuple[str, str], int] = {}
    number = 0
    with gzip.open(shared_data("clara2/CLARA2SearchLog_beta.gz"), "rt") as file:
        for line in file:
            session, _, kind, *rest = line.rstrip("\n").split("\t")
            if kind == "Q":
                number += 1
                for place, url in enumerate(rest[2:], start=1):
                    shown[session, url] = len(rows)
                    rows.append((session, number, url, place, 0))
            elif (at := shown.get((session, rest[0]))) is not None:
                rows[at] = (*rows[at][:4], 1)
    log = pl.DataFrame(rows, schema=["session", "list_id", "item", "position", "click"], orient="row")
    result = rs.online(log, "CTR", by="position")
    rates = {one.part: one.value for one in result.positions}
    assert number == 31_564
    assert (round(rates[1], 3), round(rates[2], 3), round(rates[10], 3)) == (0.151, 0.062, 0.003)
    assert result.unit == "session"


# --- what is wrong


@pytest.mark.parametrize(
    ("log", "options", "said"),
    [
        pytest.param(
            {"query": ["q"], "grade": [1]}, {}, "its columns allow no online metric (query and grade)", id="no outcome"
        ),
        pytest.param(
            {"a": [1], "b": [2]}, {}, "give a column its role, like columns='a=unit_id'", id="no column that is known"
        ),
        pytest.param(
            {"item": ["a"], "click": ["perhaps"]},
            {},
            "row 1, column click: 'perhaps': true or false",
            id="a word that is no answer",
        ),
        pytest.param(
            {"item": ["a"], "click": [float("inf")]}, {}, "row 1, column click: 'inf'", id="infinitely many clicks"
        ),
        pytest.param(
            {"item": ["a"], "click": [1]},
            {"by": "week"},
            "by='week': by is 'day', 'position'",
            id="a part that there is not",
        ),
        pytest.param(
            {"item": ["a"], "click": [1]}, {"by": "day"}, "by day needs the column timestamp", id="days without times"
        ),
        pytest.param(
            {"item": ["a"], "click": [1]},
            {"slices": "country"},
            "no column 'country' to slice by",
            id="a slice that there is not",
        ),
        pytest.param(
            {"item": ["a"], "click": [1]},
            {"columns": {"hits": "click"}},
            "no column 'hits'",
            id="a column that there is not",
        ),
        pytest.param(
            {"item": ["a"], "click": [1]},
            {"columns": {"click": "taps"}},
            "columns: 'click' has the unknown role 'taps'",
            id="a role that there is not",
        ),
        pytest.param({"item": ["a"], "click": [1]}, {"level": 95}, "level is between 0 and 1", id="a level in percent"),
        pytest.param(
            {"user": ["a", None], "click": [1, 0], "item": ["x", "y"]},
            {},
            "1 row names no user (user is empty)",
            id="a row of nobody",
        ),
    ],
)
def test_what_is_wrong_is_one_line(log: Any, options: Any, said: str) -> None:
    with pytest.raises(RankscopeError) as error:
        rs.online(pl.DataFrame(log), **options)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_roles_either_way_round() -> None:
    frame = pl.DataFrame({"hit": [1, 0], "thing": ["a", "b"]})
    for columns in ({"hit": "click"}, {"click": "hit"}):
        assert rs.online(frame, columns=columns)["CTR"] == 0.5


def test_a_metric_that_was_not_asked_for() -> None:
    with pytest.raises(KeyError, match="there are CTR"):
        _ = rs.online(FIVE)["CVR"]


def test_clicks_that_are_never_0_are_warned_of() -> None:
    result = rs.online(pl.DataFrame({"item": ["a", "b"], "click": [1, None]}))
    assert result["CTR"] == 1.0
    assert [caution.code for caution in result.warnings] == ["RS611"]


def test_empty_cells_that_a_metric_takes_for_zeros_need_no_warning() -> None:
    table = pl.DataFrame({"user": ["a", "b"], "rating": [4, None]})
    assert rs.online(table, "Mean(rating, empty='zero')").warnings == []
    assert [one.code for one in rs.online(table, "Mean(rating)").warnings] == ["RS611"]


# --- the command line


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    told = capsys.readouterr()
    return code, told.out, told.err


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FIVE.write_csv(tmp_path / "five.csv")
    code, out, err = run(capsys, "online", str(tmp_path / "five.csv"))
    assert code == 0
    assert "CTR is 60.0% (95% interval 23.1% to 88.2%)" in " ".join(out.split())
    assert "as a log: item_id (item), shown and click (clicked)" in err
    code, out, _ = run(
        capsys, "online", str(tmp_path / "five.csv"), "-q", "--format", "json", "--columns", "item=query_id"
    )
    said = json.loads(out)
    assert (code, said["results"][0]["value"], said["conventions"]["unit"]) == (0, 0.6, "row")


def test_the_command_with_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made().write_parquet(tmp_path / "log.parquet")
    code, out, _ = run(
        capsys,
        "online",
        str(tmp_path / "log.parquet"),
        "-m",
        "CTR RPM",
        "--by",
        "day",
        "--by",
        "position",
        "--slices",
        "country",
    )
    assert code == 0
    assert all(title in out for title in ("By day", "By position", "By slice", "CTR by position"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param([], "give a log: rankscope online LOG", id="no file"),
        pytest.param(["nosuch.csv"], "nosuch.csv: no such file", id="a file that is not there"),
        pytest.param(
            ["five.csv", "-m", "nDGC"],
            "no online metric is called nDGC (rankscope metrics online lists all)",
            id="a metric that there is not",
        ),
        pytest.param(
            ["five.csv", "--columns", "item"],
            "--columns item: give the role of each column",
            id="a role without a name",
        ),
        pytest.param(["five.csv", "-o", "five.csv"], "five.csv is also an input", id="over what is read"),
    ],
)
def test_mistakes_on_the_command_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    FIVE.write_csv("five.csv")
    code, out, err = run(capsys, "online", *words)
    assert (code, out) == (2, "")
    assert said in err


def test_a_check_of_a_log_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FIVE.with_columns(pl.Series("shown", ["no"] * 5)).write_csv(tmp_path / "five.csv")
    code, out, _ = run(capsys, "check", str(tmp_path / "five.csv"))
    assert code == 1
    assert "RS603" in out
    assert run(capsys, "check", "--explain", "RS603")[0] == 0
    assert InputError.exit_code == 2


def test_settings_of_rankings_are_none_of_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[tool.rankscope]\nmetrics = ["nDCG@5"]\nties = "docid"\n')
    FIVE.write_csv("five.csv")
    assert run(capsys, "check", "five.csv")[0] == 0
    code, _, err = run(capsys, "check", "five.csv", "--ties", "docid")
    assert code == 2
    assert "--ties is about rankings" in err


def test_a_variant_has_the_value_that_an_experiment_gives_it() -> None:
    log = made().with_columns(
        pl.when(pl.col("user").str.slice(1).cast(int) % 3 == 0)
        .then(pl.lit("A"))
        .otherwise(pl.lit("B"))
        .alias("variant")
    )
    result = rs.online(log, ["CTR", "RPM", "SessionsPerUser"], slices="variant")
    trial = rs.experiment(log, ["CTR", "RPM", "SessionsPerUser"], split={"A": 1, "B": 2})
    for record in trial.to_dicts():
        own = {one.part: one.value for one in result.slices if str(one.metric) == record["metric"]}
        assert [own["A"], own["B"]] == pytest.approx([record["baseline_value"], record["value"]], rel=1e-12)


def test_a_page_of_it() -> None:
    html = rs.report(rs.online(made(), "CTR", by=["day", "position"])).html
    assert "CTR by position" in html
    assert "By day" in html


def test_warnings_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    clicks = "\n".join(f"u{i},d{i},{1 + i % 3},{'1' if i % 3 else ''}" for i in range(90))
    path.write_text(f"user,item,position,click\n{clicks}\n")
    assert main(["online", str(path), "-m", "CTR"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "▲" in printed
    assert "click is empty in 30 rows and 0 in none" in printed
    assert "RS611" in printed
    assert main(["online", str(path), "-m", "CTR", "--ignore", "RS611"]) == 0
    assert "▲" not in capsys.readouterr().out


def test_a_session_over_midnight_has_its_rows_of_each_day() -> None:
    rows = [
        ("u1", "s1", "a", "2024-03-01T23:58:00Z"),
        ("u1", "s1", "b", "2024-03-01T23:59:00Z"),
        ("u1", "s1", "c", "2024-03-02T00:02:00Z"),
        ("u1", "s1", "d", "2024-03-02T00:02:30Z"),
        ("u1", "s2", "a", "2024-03-02T09:00:00Z"),
        ("u2", "s3", "a", "2024-03-01T08:00:00Z"),
    ]
    log = pl.DataFrame(rows, schema=["user", "session", "item", "time"], orient="row")
    found = rs.online(log, ["SessionLength", "ItemsPerSession"], by="day").to_dicts("by_day")
    values = [one["value"] for one in found]
    assert values == [60 / 2, 30 / 2, (2 + 1) / 2, (2 + 1) / 2]  # s1 and s3, then s1 and s2


def test_a_query_is_followed_on_its_own_day_and_rows_of_no_session_are_in_none() -> None:
    rows = [
        ("u1", "s1", "q", "2024-03-01T23:58:00Z"),
        ("u1", "s1", "r", "2024-03-01T23:59:00Z"),
        ("u1", "s1", "t", "2024-03-02T00:02:00Z"),
        ("u1", "s1", "u", "2024-03-02T00:02:30Z"),
        ("u1", None, "v", "2024-03-02T00:02:40Z"),
        ("u2", "s3", "q", "2024-03-01T08:00:00Z"),
        ("u2", None, "r", "2024-03-01T08:00:30Z"),
    ]
    log = pl.DataFrame(rows, schema=["user", "session", "query", "time"], orient="row")
    metrics = ["ReformulationRate", "SessionLength", "SessionsPerUser"]
    found = [(one.numerator, one.denominator) for one in rs.online(log, metrics, by="day").days]
    assert found[:2] == [(1, 2 + 1), (1, 2)]  # q to r, t to u: r is the last query of its day
    assert found[2:4] == [(60, 2), (30, 1)]
    assert found[4:] == [(1 + 1, 2), (1, 1)]


def test_a_query_is_followed_by_one_of_another_slice() -> None:
    asked = [("q", "08:00"), ("q", "08:00"), ("r", "08:01"), ("q", "08:02"), ("r", "09:00")]
    rows = [("u1", "s1", query, f"2024-03-01T{time}:00Z") for query, time in asked]
    log = pl.DataFrame(rows, schema=["user", "session", "query", "time"], orient="row")
    found = rs.online(log, "ReformulationRate", slices="query").slices
    assert [(one.part, one.numerator, one.denominator) for one in found] == [("q", 1, 2), ("r", 1, 2)]


def test_values_of_a_metric_in_a_column_have_one_number_of_decimals() -> None:
    """Values by slice, and their intervals, have as many decimals as the largest value needs."""
    log = {"user": ["a", "b", "c", "d"], "page": ["x", "x", "y", "y"], "cost": [3.0, 4.0, 12.125, 12.0]}
    found = rs.online(log, "Mean(cost)", slices="page")
    texts = [one.number.text for one in found.slices] + found.slices[1].interval_in_words.split(" to ")
    assert texts[:2] == ["3.50", "12.06"]
    assert {len(text.partition(".")[2]) for text in texts} == {2}
    assert [one.number.text for one in rs.online({"user": ["a"], "cost": [1250]}, "Mean(cost)").values] == ["1,250"]
