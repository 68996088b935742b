"""Assignments and events in two tables: which events count, what was before, and how columns are found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import DataError, InputError
from rankscope.files.log_formats.joining import window_of
from rankscope.scoring.logs import read_experiment

NOON = datetime(2024, 5, 1, 12)
USERS = pl.DataFrame({
    "uid": ["u1", "u1", "u2", "u3", "u4"], "test_arm": ["A", "A", "B", "B", "A"],
    "joined": [NOON, NOON + timedelta(days=1), NOON, NOON, NOON], "country": ["de", "fr", "de", "fr", "de"],
})  # fmt: skip
EVENTS = pl.DataFrame({
    "who": ["u1", "u1", "u1", "u2", "u9", "u4"], "country": ["xx"] * 6,
    "when": [NOON - timedelta(hours=1), NOON, NOON + timedelta(days=3), NOON + timedelta(hours=2), NOON, NOON - timedelta(days=1)],
    "kind": ["buy", "buy", "view", "buy", "buy", "view"], "amount": [5.0, 7.0, 11.0, 13.0, 17.0, 19.0],
})  # fmt: skip


def sums(metric: str, **options: Any) -> dict[str, float]:
    """The sum of a metric per variant."""
    found = rs.experiment(assignments=USERS, events=EVENTS, metrics=metric, **options)
    arms, units = found.variants.arms, found.units
    return {name: float(units.numerators[0][(units.groups["variant"] == name).to_numpy()].sum()) for name in arms.names}


def test_events_from_the_assignment_on_count_and_units_without_any_are_zero() -> None:
    assert sums("Mean(amount)") == {"A": 7.0 + 11.0, "B": 13.0}
    assert sums("Count") == {"A": 2, "B": 1}  # rows of assignments are no events
    assert sums("Count(where=\"kind = 'buy'\")") == {"A": 1, "B": 1}
    found = rs.experiment(assignments=USERS, events=EVENTS, metrics="Share(where=\"kind = 'buy'\")")
    assert found.sample_ratio.counts == {"A": 2, "B": 2}
    assert found["B", "Share(where=\"kind = 'buy'\")"].difference == 1 / 2 - 1 / 2


def test_an_event_is_proposed_as_a_metric_where_none_is_named() -> None:
    with pytest.raises(InputError, match=r"""-m 'Mean\(amount\)' or -m "Share\(where=\\"kind = 'buy'\\"\)\""""):
        rs.experiment(assignments=USERS, events=EVENTS)


def test_a_window_ends_after_the_assignment() -> None:
    assert sums("Mean(amount)", window="2d") == {"A": 7.0, "B": 13.0}
    assert sums("Mean(amount)", window="90 min") == {"A": 7.0, "B": 0.0}
    assert sums("Mean(amount)", window=timedelta(days=3)) == {"A": 7.0, "B": 13.0}  # the end is outside
    with pytest.raises(InputError, match="write a number above 0 with its unit, like 7d, 24h or 90min"):
        sums("Mean(amount)", window="soon")


def test_notes_tell_what_was_found_and_left_out() -> None:
    notes = rs.experiment(assignments=USERS, events=EVENTS, metrics="Mean(amount)", window="2d").notes
    assert notes[0] == (
        "read assignments and events as assignments and events: 4 units, 4 events: unit_id (uid), timestamp (joined), revenue (amount) and variant (test_arm)"
    )
    for said in (
        "uid and who have the ids of both tables: taken as unit_id", "1 assignment came again to the same unit and variant: the first counts",
        "left out: 1 event of units without an assignment", "left out: 1 event after the window of 2 days", "events: country is taken from the assignments",
    ):  # fmt: skip
        assert said in notes


def test_a_window_that_ends_with_the_last_event_is_whole_and_leaves_that_event_out() -> None:
    notes = rs.experiment(assignments=USERS, events=EVENTS, metrics="Mean(amount)", window=timedelta(days=3)).notes
    assert "left out: 1 event after the window of 3 days" in notes
    assert not [note for note in notes if "observed for a shorter time" in note]
    longer = rs.experiment(assignments=USERS, events=EVENTS, metrics="Mean(amount)", window="73h").notes
    assert "the window of 4 units ends after the last event: they were observed for a shorter time" in longer


def test_what_was_before_is_a_covariate() -> None:
    draws = np.random.default_rng(3)
    users = [f"u{i}" for i in range(600)]
    given = pl.DataFrame({"user_id": users, "variant": ["A", "B"] * 300, "time": [NOON] * 600})
    pace = draws.gamma(2, 5, 600)
    before, after = pace + draws.normal(0, 1, 600), pace + draws.normal(0, 1, 600) + np.arange(600) % 2
    before[:50] = 0  # units without an event before
    rows = [(NOON - timedelta(days=1), before, slice(50, 600)), (NOON + timedelta(days=1), after, slice(0, 600))]
    events = pl.concat(
        [
            pl.DataFrame({"user_id": users[part], "time": [at] * len(users[part]), "spent": values[part]})
            for at, values, part in rows
        ]
    )
    found = rs.experiment(
        assignments=given, events=events, metrics="Mean(spent)", covariates={"Mean(spent)": "before"}
    )["B", "Mean(spent)"]
    theta = np.cov(before, after)[0, 1] / before.var(ddof=1)
    left = after - theta * before
    assert found.difference == pytest.approx(left[1::2].mean() - left[::2].mean(), rel=1e-12)
    # the same numbers as one table with a row per user
    wide = pl.DataFrame({"user": users, "variant": ["A", "B"] * 300, "spent": after, "early": before})
    other = rs.experiment(wide, "Mean(spent)", covariates={"Mean(spent)": "early"})["B", "Mean(spent)"]
    assert found.bounds.lower == pytest.approx(other.bounds.lower, rel=1e-12)
    with pytest.raises(InputError, match="no column 'before'"):
        rs.experiment(wide, "Mean(spent)", covariates="Mean(spent)=before")


def test_days_are_adjusted_by_what_was_before_all_of_them() -> None:
    draws = np.random.default_rng(4)
    users = np.arange(200)
    given = pl.DataFrame({"user_id": users, "variant": ["A", "B"] * 100, "time": [NOON] * 200})
    pace, who = draws.gamma(2, 5, 200), draws.integers(0, 200, 1000)
    when = [NOON + timedelta(days=float(days)) for days in draws.uniform(-3, 4, 1000)]
    events = pl.DataFrame({"user_id": who, "time": when, "spent": pace[who]})
    found = rs.experiment(assignments=given, events=events, metrics="Mean(spent, better='higher')", by="day")
    whole, last = found.to_dicts()[0], found.to_dicts("cumulated")[-1]
    for name in ("difference", "ci_lower", "ci_upper", "p_value"):
        assert last[name] == pytest.approx(whole[name], rel=1e-12)


@pytest.mark.parametrize("length", ["1month", "2 years", "7 dayz", "d", "7", "7 d d"])
def test_a_window_has_a_unit_of_time(length: str) -> None:
    with pytest.raises(InputError, match="like 7d, 24h or 90min"):
        sums("Mean(amount)", window=length)


def test_windows_in_full_are_those_in_short() -> None:
    for short, full in (
        ("7d", "7 days"),
        ("1w", "1 Week"),
        ("36h", "36 hrs"),
        ("90m", "90 minutes"),
        ("30s", "30 sec"),
    ):
        assert window_of(short) == window_of(full)


@pytest.mark.parametrize("form", ["columns", "rows", "lazy"])
def test_tables_are_given_in_any_form(form: str) -> None:
    ways: dict[str, Any] = {
        "columns": lambda frame: frame.to_dict(as_series=False),
        "rows": pl.DataFrame.to_dicts,
        "lazy": pl.DataFrame.lazy,
    }
    users, events = (ways[form](table) for table in (USERS, EVENTS))
    found = rs.experiment(assignments=users, events=events, metrics="Mean(amount)", window="2d")
    assert found.units.numerators.sum() == 7.0 + 13.0


def test_amounts_are_no_ids() -> None:
    given = pl.DataFrame({"uid": list(range(40)), "arm": ["A", "B"] * 20})
    events = pl.DataFrame(
        {"uid": [one + 1000 for one in range(40)], "amount": [one + 0.5 * (one > 20) for one in range(40)]}
    )
    with pytest.raises(InputError, match="no column of both tables is the unit that was assigned"):
        rs.experiment(assignments=given, events=events, metrics="Mean(amount)")
    named = {"uid": "unit_id", "number": "unit_id"}
    others = events.with_columns(number=pl.Series([None, *range(1, 40)], dtype=pl.Float64))  # uid is another id there
    found = rs.experiment(assignments=given.rename({"uid": "number"}), events=others, metrics="Mean(amount)")
    assert found.units.count == 40
    with_others = rs.experiment(
        assignments=given, events=others.rename({"uid": "device"}), metrics="Mean(amount)", columns=named
    )
    assert found.to_dicts() == with_others.to_dicts()


def test_times_of_two_tables_are_read_in_their_form_and_zone() -> None:
    form = "%d/%m/%Y %H:%M"
    given, events = (
        table.with_columns(pl.col(name).dt.strftime(form)) for table, name in ((USERS, "joined"), (EVENTS, "when"))
    )
    assert sums("Mean(amount)", window="2d") == {"A": 7.0, "B": 13.0}
    for one, two in ((given, events), (USERS, events), (given, EVENTS)):
        found = rs.experiment(assignments=one, events=two, metrics="Mean(amount)", window="2d", time_format=form)
        assert found.units.numerators.sum() == 7.0 + 13.0
    with pytest.raises(InputError, match="no column of times is known"):
        rs.experiment(assignments=given, events=events, metrics="Mean(amount)", time_format="%m/%d/%y %H:%M")
    late = read_experiment(None, assignments=USERS, events=EVENTS, time_zone="Pacific/Auckland")  # twelve hours ahead
    assert {str(day) for day in late.days()} == {"2024-05-02", "2024-05-05"}
    assert late.source.notes.count("days are days in Pacific/Auckland") == 1


def test_days_choose_units_by_their_assignment_and_end_the_events() -> None:
    start = datetime(2024, 5, 1, 12, tzinfo=UTC)
    given = pl.DataFrame({"uid": list("abcdef"), "arm": ["A", "B"] * 3})
    given = given.with_columns(joined=pl.Series([start + timedelta(days=i) for i in range(6)]))
    events = pl.DataFrame(
        {"uid": list("abcdef") * 8, "when": [start + timedelta(days=i // 6, hours=1) for i in range(48)]}
    )
    log = read_experiment(None, assignments=given, events=events, start="2024-05-03", end="2024-05-06")
    rows = log.gather(lambda frame: frame.filter(pl.col(str(log.events))).group_by("unit_id").len())
    assert dict(rows.rows()) == {"c": 4, "d": 3, "e": 2, "f": 1}
    assert log.before is not None
    assert log.before.rows == 2 + 3 + 4 + 5  # covariates, also from before the first day
    assert log.source.notes[-2:] == (
        "units assigned from 2024-05-03 to 2024-05-06 are used: 2 units left out, with all events",
        "left out: 8 events after 2024-05-06",
    )
    assert "units assigned up to 2024-05-02 are used: 4 units left out, with all events" in (
        read_experiment(None, assignments=given, events=events, end="2024-05-02").source.notes
    )
    with pytest.raises(
        DataError, match="no unit was assigned from 2024-06-01: assignments are from 2024-05-01 to 2024-05-06"
    ):
        read_experiment(None, assignments=given, events=events, start="2024-06-01")
    with pytest.raises(InputError, match="no column of times is known"):
        read_experiment(None, assignments=given.drop("joined"), events=events, start="2024-06-01")


def test_one_log_has_nothing_before() -> None:
    from rankscope.logs.base import before
    from rankscope.logs.metrics import CTR
    from rankscope.logs.rollup import roll_up

    with pytest.raises(DataError, match="nothing is known of the time before the assignment"):
        roll_up(rs.read_log({"user": ["a"], "click": [1]}), [before(CTR())])


def test_days_without_times_count_from_the_day_of_the_assignment() -> None:
    days = EVENTS.with_columns(pl.col("when").dt.date())
    log = rs.experiment(assignments=USERS, events=days, metrics="Count").log
    assert (
        log.gather(lambda frame: frame.filter(pl.col(str(log.events)))).height == 1 + 1 + 1 + 1
    )  # also the hour before noon
    assert "events have days and no times: those on the day of the assignment count" in log.source.notes


def test_several_tables_of_events_have_their_names() -> None:
    buys, views = (
        EVENTS.filter(pl.col("kind") == "buy").drop("kind"),
        EVENTS.filter(pl.col("kind") == "view").drop("kind"),
    )
    given = {"buys": buys, "views": views}
    found = rs.experiment(assignments=USERS, events=given, metrics="Count(where=\"event = 'buys'\")")
    assert found.units.numerators.sum() == 2


@pytest.mark.parametrize(
    ("users", "events", "said"),
    [
        pytest.param(USERS.rename({"test_arm": "plan"}), EVENTS, "columns plan and country could each be the variant: name it, like variant='plan'", id="two columns of few values"),
        pytest.param(USERS.drop("test_arm", "country"), EVENTS, "no column has a few values, as variants do", id="no variant"),
        pytest.param(USERS, EVENTS.with_columns(who=pl.lit("x")), "no column of both tables is the unit that was assigned", id="other ids"),
        pytest.param(USERS, EVENTS.with_columns(late=pl.col("when")), "columns when and late could each be the time", id="two times"),
        pytest.param(USERS.with_columns(experiment_id=pl.Series([1, 1, 1, 2, 2])), EVENTS, "assignments to 2 experiments (1 and 2): keep the rows of one", id="two experiments"),
        pytest.param(USERS, None, "events missing: give both tables", id="one table"),
    ],
)  # fmt: skip
def test_what_is_doubtful_is_asked_for(users: Any, events: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        rs.experiment(assignments=users, events=events, metrics="Count")
    assert said in str(error.value)


def test_the_command_line_takes_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users = pl.concat([USERS.with_columns(uid=pl.col("uid") + f"-{n}") for n in range(30)])
    events = pl.concat([EVENTS.with_columns(who=pl.col("who") + f"-{n}") for n in range(30)])
    users.write_csv(tmp_path / "a.csv")
    events.write_parquet(tmp_path / "e.parquet")
    both = ["--assignments", str(tmp_path / "a.csv"), "--events", str(tmp_path / "e.parquet")]
    assert main(["experiment", *both]) == 2
    assert "like -m 'Mean(amount)' or -m \"Share(where=\\\"kind = 'buy'\\\")\"" in capsys.readouterr().err
    assert main(["experiment", *both, "--primary", "Mean(amount)", "--window", "2d", "--covariate", "none"]) == 0
    assert "B beats A on Mean(amount) by 3.0" in capsys.readouterr().out  # 13 / 2 - 7 / 2
    assert main(["experiment", str(tmp_path / "a.csv"), *both]) == 2
    assert "not both" in capsys.readouterr().err


def test_a_missing_variant_is_asked_for_by_the_likeliest_column() -> None:
    cats = {
        "userid": range(40),
        "sum_gamerounds": range(40),
        "version": ["gate_30", "gate_40"] * 20,
        "retention_7": ["TRUE", "FALSE"] * 20,
    }
    with pytest.raises(DataError, match="version=variant"):
        rs.experiment(cats, "Mean(retention_7, better='higher')")
    found = rs.experiment(cats, "Mean(retention_7, better='higher')", variant="version")
    assert found["gate_40", "Mean(retention_7, better='higher')"].difference == -1.0


def test_columns_are_offered_for_what_their_cells_can_be() -> None:
    cats: dict[str, Any] = {"userid": range(40), "rounds": range(40), "kept": ["TRUE", "FALSE"] * 20}
    with pytest.raises(
        DataError, match=r"variant of the user in an experiment\); if kept is that, name it: .*'kept=variant'"
    ):
        rs.experiment(cats, "Mean(kept, better='higher')")
    cats["kept"], cats["history_segment"], cats["segment"] = range(40), list("ab") * 20, list("cd") * 20
    with pytest.raises(DataError, match="if segment or history_segment is that"):
        rs.experiment(cats, "Mean(rounds, better='higher')")
    with pytest.raises(DataError, match=r"click \(1 if the item was clicked\); if rounds or kept is that"):
        rs.online(cats, "CTR")
    with pytest.raises(DataError, match=r"averaged with metrics='Mean\(rounds\)'|averaged with -m 'Mean\(rounds\)'"):
        rs.online({"userid": range(40), "version": list("ab") * 20, "rounds": range(40)})
    with pytest.raises(DataError, match=r"in an experiment\)$"):
        rs.experiment({"userid": range(40), "rounds": range(40)}, "Mean(rounds, better='higher')")


def test_a_joined_table_of_events_has_lost_users() -> None:
    joined = pl.DataFrame(
        {"user": ["a", "a", "b", "c", "d"], "variant": list("AAABB"), "event": ["view", "buy", "view", "view", "buy"]}
    )
    lost = "users without events are missing"
    assert any(lost in note for note in rs.experiment(joined, "Count").notes)
    assert not any(lost in note for note in rs.experiment(joined.unique("user"), "Count").notes)  # one row per user
    assert not any(lost in note for note in rs.experiment(assignments=USERS, events=EVENTS, metrics="Count").notes)


def test_events_that_are_all_from_before_the_assignment_are_told() -> None:
    later = USERS.with_columns(pl.col("joined") + timedelta(days=900))
    notes = rs.experiment(assignments=later, events=EVENTS, metrics="Mean(amount)").notes
    assert "every event is from before the assignment of its unit, so none counts: are both times right?" in notes


IDS = {"variant": ["A", "A", "B", "B"], "when": ["2024-05-01"] * 4}


def test_ids_written_as_floats_are_those_of_the_other_table(tmp_path: Path) -> None:
    users, events = tmp_path / "users.csv", tmp_path / "events.csv"
    pl.DataFrame({"user_id": [7.0, 8.0, 9.0, 10.0], **IDS}).write_csv(users)
    pl.DataFrame({"user_id": [7, 7, 9, 10], "when": ["2024-05-02"] * 4, "amount": [1, 2, 3, 6]}).write_csv(events)
    found = rs.experiment(assignments=users, events=events, metrics="Mean(amount)")
    assert found["B", "Mean(amount)"].difference == 9 / 2 - 3 / 2
    assert "4 units, 4 events" in found.notes[0]


def test_events_of_no_assigned_unit_are_refused() -> None:
    events = {"user_id": ["7", "9"], "when": ["2024-05-02"] * 2, "amount": [1, 2]}
    said = "no event is of an assigned unit: assignments has user_id like '007', and events has user_id like '7'"
    with pytest.raises(DataError, match=said):
        rs.experiment(
            assignments={"user_id": ["007", "008", "009", "010"], **IDS}, events=events, metrics="Mean(amount)"
        )


def test_a_unit_in_two_variants_is_one_unit() -> None:
    users = {"user_id": ["7", "7", "8", "9", "10", "11"], "variant": list("ABABAB"), "when": ["2024-05-01"] * 6}
    found = rs.experiment(
        assignments=users, events={"user_id": ["8"], "when": ["2024-05-02"], "amount": [1]}, metrics="Mean(amount)"
    )
    assert "5 units" in found.notes[0]
