"""GrowthBook's rows: a row a user with what was measured from the first exposure on, what was before, and what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError

EXPOSURES = pl.DataFrame(
    [
        ("u1", "2024-05-01 12:00:00", "checkout", "0", "de"),
        ("u1", "2024-05-02 12:00:00", "checkout", "0", "fr"),
        ("u2", "2024-05-01 12:00:00", "checkout", "1", "de"),
        ("u3", "2024-05-01 12:00:00", "checkout", "1", "fr"),
    ],
    schema=["user_id", "timestamp", "experiment_id", "variation_id", "country"],
    orient="row",
)
ORDERS = pl.DataFrame(
    [
        ("u1", "2024-05-01 11:00:00", 5.0, 1),
        ("u1", "2024-05-01 12:00:00", 7.0, 2),
        ("u1", "2024-05-03 12:00:00", 11.0, 3),
        ("u2", "2024-05-01 12:30:00", 13.0, 4),
        ("u9", "2024-05-01 12:30:00", 17.0, 5),
    ],
    schema=["user_id", "timestamp", "value", "items"],
    orient="row",
)
PURCHASES = ORDERS.select("user_id", "timestamp")


def given(**more: Any) -> dict[str, Any]:
    return {"exposures": EXPOSURES, "revenue": ORDERS, **more}


def test_a_user_is_a_row_with_what_was_measured_from_the_first_exposure_on() -> None:
    log = rs.read_log(given(signups=PURCHASES))
    columns = (
        "unit_id",
        "variant",
        "revenue",
        "revenue_items",
        "revenue_before",
        "signups",
        "signups_before",
        "country",
    )
    assert log.collect(log.frame.select(columns).sort("unit_id")).rows() == [
        ("u1", "0", 7.0 + 11.0, 2.0 + 3.0, 5.0, 2.0, 1.0, "de"),
        ("u2", "1", 13.0, 4.0, 0.0, 1.0, 0.0, "de"),
        ("u3", "1", 0.0, 0.0, 0.0, 0.0, 0.0, "fr"),
    ]
    assert "1 assignment came again to the same unit and variant: the first counts" in log.source.notes
    assert "revenue: left out: 1 event of units without an assignment" in log.source.notes
    assert not log.of_impressions


def test_files_in_a_folder_are_called_by_their_names(tmp_path: Path) -> None:
    EXPOSURES.write_csv(tmp_path / "experiment_viewed.csv")
    ORDERS.write_parquet(tmp_path / "revenue.parquet")
    of_folder, of_frames = rs.read_log(tmp_path), rs.read_log(given())
    assert of_folder.collect(of_folder.frame).equals(of_frames.collect(of_frames.frame))
    assert of_folder.source.notes[0].startswith(f"read {tmp_path} as GrowthBook: 3 users in variations, revenue: ")


def test_the_order_of_rows_says_nothing() -> None:
    log, other = rs.read_log(given()), rs.read_log({"exposures": EXPOSURES.reverse(), "revenue": ORDERS.reverse()})
    assert log.collect(log.frame.sort("unit_id")).equals(other.collect(other.frame.sort("unit_id")))


def test_an_experiment_and_its_covariate_come_from_it() -> None:
    draws = np.random.default_rng(3)
    users = [f"u{i}" for i in range(600)]
    exposures = pl.DataFrame(
        {
            "anonymous_id": users,
            "timestamp": ["2024-05-02"] * 600,
            "experiment_id": ["e"] * 600,
            "variation_id": [i % 2 for i in range(600)],
        }
    )
    pace = draws.gamma(2, 5, 600)
    before, after = pace + draws.normal(0, 1, 600), pace + draws.normal(0, 1, 600) + np.arange(600) % 2
    rows = [("2024-05-01", before), ("2024-05-03", after)]
    metric = pl.concat(
        [pl.DataFrame({"anonymous_id": users, "timestamp": [day] * 600, "value": values}) for day, values in rows]
    )
    log = rs.read_log({"exposures": exposures, "spent": metric})
    found = rs.experiment(log, "Mean(spent)", covariates={"Mean(spent)": "spent_before"})["1", "Mean(spent)"]
    difference = after[1::2].mean() - after[::2].mean()
    plain = rs.experiment(log, "Mean(spent)", covariates="none")["1", "Mean(spent)"]
    assert log.roles["unit_id"] == "anonymous_id"
    assert plain.difference == pytest.approx(difference, rel=1e-12)
    assert found.verdict == "better"
    width = [one.bounds.upper - one.bounds.lower for one in (found, plain)]
    assert width[0] < width[1] / 3  # what was before takes chance away
    # a part of the rows is another metric than the one measured before
    some = "Mean(spent, where='spent > 8')"
    assert rs.experiment(log, some).adjustment["covariates"] == {}
    assert rs.experiment(log, "Mean(spent)").adjustment["covariates"] != {}


def test_a_user_in_two_variations_is_two_rows_which_the_rule_finds() -> None:
    twice = pl.concat([EXPOSURES, EXPOSURES[:1].with_columns(variation_id=pl.lit("1"))])
    log = rs.read_log(given(exposures=twice))
    assert log.rows == 4
    assert "RS605" in {finding.code for finding in rs.check(log).findings}


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        pytest.param({"exposures": EXPOSURES.with_columns(experiment_id=pl.Series(["a", "a", "b", "b"]))},
            "log: exposures to 2 experiments (a and b): keep the rows of one", id="two experiments"),
        pytest.param({"revenue": ORDERS.rename({"user_id": "account"})},
            "revenue: no columns user_id and timestamp among account, timestamp, value and items", id="a metric of other units"),
        pytest.param({"revenue": ORDERS.with_columns(value=pl.Series(["1", "2", "many", "4", "5"]))},
            "revenue row 3, column value: 'many' is not a number", id="a value that is no number"),
        pytest.param({"revenue": ORDERS.with_columns(timestamp=pl.lit("soon"))},
            "revenue row 1, column timestamp: 'soon': a time is like", id="a time that is none"),
        pytest.param({"exposures": ORDERS}, "log: no rows of exposures; GrowthBook has rows of exposures (user_id", id="no exposures"),
        pytest.param({"revenue": 5}, "log: revenue is of type int; a path, a data frame or a list of objects is expected", id="a number"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_line(parts: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        rs.read_log(given(**parts), log_format="growthbook")
    assert str(error.value).startswith(said)


def test_events_without_a_time_are_left_out_and_counted() -> None:
    times = [None, *ORDERS["timestamp"].to_list()[1:]]
    log = rs.read_log(given(revenue=ORDERS.with_columns(timestamp=pl.Series(times))))
    assert "revenue: left out: 1 event without a time" in log.source.notes
    assert log.frame.collect().sort("unit_id")["revenue"].to_list() == [7.0 + 11.0, 13.0, 0.0]
    never = rs.read_log(given(revenue=ORDERS.with_columns(timestamp=pl.lit(None))))
    assert any("revenue: every event counts, as none has a time" in note for note in never.source.notes)
    assert never.frame.collect().sort("unit_id")["revenue"].to_list() == [5.0 + 7.0 + 11.0, 13.0, 0.0]


def test_tables_of_assignments_and_events_without_a_time() -> None:
    """Where no event has a time all count, which is said once, and a window is refused."""
    day = "2024-01-01T10:00:00Z"
    users = pl.DataFrame({"user_id": ["u1", "u2", "u3", "u4"], "variation_id": ["a", "b", "a", "b"], "timestamp": day})
    events = pl.DataFrame({"user_id": ["u1", "u1", "u2"], "value": [1, 2, 4], "timestamp": ["", "", ""]})
    found = rs.experiment(assignments=users, events=events, primary="Mean(value)")
    assert found["b", "Mean(value)"].difference == 4 / 2 - (1 + 2) / 2
    assert sum("none has a time" in note for note in found.notes) == 1
    assert not [one.code for one in found.warnings if one.code in {"RS604", "RS614"}]
    with pytest.raises(InputError, match="a window needs the times of events, and none has one"):
        rs.experiment(assignments=users, events=events, primary="Mean(value)", window="7d")


def test_an_assignment_without_a_time_is_the_last_to_count() -> None:
    times = [None, *EXPOSURES["timestamp"].to_list()[1:]]
    log = rs.read_log(given(exposures=EXPOSURES.with_columns(timestamp=pl.Series(times))))
    # of u1 only the exposure of May 2 has a time: the order of May 3 is after it
    assert log.frame.collect().sort("unit_id")["revenue"].to_list() == [11.0, 13.0, 0.0]
    never = rs.read_log(given(exposures=EXPOSURES.with_columns(timestamp=pl.lit(None))))
    assert any("all events of 3 units count" in note for note in never.source.notes)
    assert never.frame.collect().sort("unit_id")["revenue"].to_list() == [5.0 + 7.0 + 11.0, 13.0, 0.0]


def test_exposures_that_come_again_and_those_of_nobody_are_counted() -> None:
    times = [f"2024-05-01 {hour}:00:00" for hour in range(10, 18)]
    users, variations = ["u1", "u1", "u1", "u2", "u2", "u3", None, "u4"], ["0", "0", "0", "1", "1", "1", "1", None]
    rows = {"user_id": users, "timestamp": times, "experiment_id": ["e"] * 8, "variation_id": variations}
    log = rs.read_log({"exposures": pl.DataFrame(rows), "revenue": ORDERS})
    assert log.rows == len({"u1", "u2", "u3"})
    assert "left out: 2 assignments without user_id or variation_id" in log.source.notes
    assert (
        "3 assignments came again to the same unit and variant: the first of each counts" in log.source.notes
    )  # two of u1, one of u2


def test_other_numbers_of_a_metric_are_summed_where_they_are_known_and_other_texts_left_out() -> None:
    more: dict[str, Any] = {
        "items": ["1", "NA", None, "4", "5"],
        "none": ["NA", None, "nan", "", "NA"],
        "text": ["1", "two", "3", "4", "5"],
    }
    log = rs.read_log(given(revenue=ORDERS.with_columns(**{name: pl.Series(cells) for name, cells in more.items()})))
    assert log.collect(log.frame.select("unit_id", "revenue_items", "revenue_items_before").sort("unit_id")).rows() == [
        ("u1", 0.0, 1.0), ("u2", 4.0, 0.0), ("u3", 0.0, 0.0),
    ]  # fmt: skip
    assert "columns of revenue without numbers are left out: none and text" in log.source.notes
