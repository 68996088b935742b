"""Rules of logs: a minimal bad case and a clean case for each, and what one file alone is taken for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.diagnostics.codes import all_rules, rule_named
from rankscope.diagnostics.rule import Finding
from rankscope.errors import InputError
from rankscope.logs import health
from rankscope.logs.health import examine

CLEAN: dict[str, list[Any]] = {  # two lists of two users in an experiment, with all that rules look at
    "user": ["a", "a", "b", "b"],
    "session": ["s1", "s1", "s2", "s2"],
    "list_id": ["l1", "l1", "l2", "l2"],
    "item": ["x", "y", "x", "y"],
    "position": [1, 2, 1, 2],
    "shown": [True, True, True, True],
    "click": [1, 0, 0, 0],
    "dwell": [12.0, None, None, None],
    "revenue": [9.5, 0.0, 0.0, 0.0],
    "variant": ["A", "A", "B", "B"],
    "time": ["2024-01-01T10:00:00Z", "2024-01-01T10:00:05Z", "2024-01-02T10:00:00Z", "2024-01-02T10:00:05Z"],
    "p_item_pos": [0.5, 0.5, 0.25, 0.25],
    "p_prefix": [0.5, 0.25, 0.5, 0.25],
    "p_slate": [0.25, 0.25, 0.25, 0.25],
    "orders_before": [3, 3, 4, 4],
}
BAD: dict[str, tuple[str, dict[str, list[Any]], str]] = {
    "positions from 0": ("RS601", {"position": [0, 1, 0, 1]}, "positions start at 0 (position): 1 is added to all"),
    "positions below 0": ("RS601", {"position": [-1, 2, 1, 2]}, "positions start at -1"),
    "a gap in positions": ("RS602", {"position": [1, 3, 1, 2]}, "in 1 of 2 lists the positions are not 1, 2, 3 and so on"),
    "one position twice": ("RS602", {"position": [1, 1, 1, 2]}, "in 1 of 2 lists"),
    "a list that starts at 2": ("RS602", {"position": [2, 3, 1, 2]}, "in 1 of 2 lists"),
    "a click outside of what was shown": ("RS603", {"shown": [False, True, True, True]}, "1 row was clicked and not shown (shown)"),
    "a click where nothing says if it was shown": ("RS603", {"shown": [None, True, True, True]}, "1 row was clicked and not shown (shown)"),
    "an item twice in a list": ("RS604", {"item": ["x", "x", "x", "y"]}, "1 row repeats an item of the same list, in 1 list"),
    "a unit in two variants": ("RS605", {"variant": ["A", "B", "B", "B"]}, "1 of 2 users has rows in several variants"),
    "one variant": ("RS606", {"variant": ["A"] * 4}, "all rows are of one variant, A"),
    "a clock that goes back": (
        "RS607", {"time": ["2024-01-01T10:00:05Z", "2024-01-01T10:00:00Z", "2024-01-02T10:00:00Z", "2024-01-02T10:00:05Z"]},
        "times go back from row to row in 1 of 2 sessions",
    ),
    "a probability of 0": ("RS608", {"p_item_pos": [0.0, 0.5, 0.25, 0.25]}, "1 row has a p_item_pos that is not above 0 and at most 1"),
    "a probability above 1": ("RS608", {"p_slate": [1.5, 1.5, 0.25, 0.25]}, "2 rows have a p_slate"),
    "a prefix that rises": ("RS609", {"p_prefix": [0.25, 0.5, 0.5, 0.25]}, "p_prefix rises with the position in 1 of 2 lists"),
    "a slate that varies": ("RS610", {"p_slate": [0.25, 0.2, 0.25, 0.25]}, "p_slate is not one number in each list"),
    "a slate above its prefix": ("RS610", {"p_slate": [0.4, 0.4, 0.25, 0.25]}, "in 1 of 2 lists"),
    "clicks without a 0": ("RS611", {"click": [1, None, None, None]}, "click is empty in 3 rows and 0 in none"),
    "revenue without a 0": ("RS611", {"revenue": [9.5, None, None, None]}, "revenue is empty in 3 rows and 0 in none"),
    "negative revenue": ("RS612", {"revenue": [-9.5, 0, 0, 0]}, "1 row has a negative revenue (revenue)"),
    "negative dwell time": ("RS612", {"dwell": [-1.0, None, None, None]}, "1 row has a negative time (dwell)"),
    "a day without traffic": (
        "RS613", {"time": ["2024-01-01"] * 2 + ["2024-01-03"] * 2},
        "1 of the 3 days from 2024-01-01 to 2024-01-03 has no row (2024-01-02)",
    ),
    "an empty user": ("RS614", {"user": ["a", None, "b", "b"]}, "user is empty in 1 of 4 rows"),
    "an empty item": ("RS614", {"item": ["x", "", "x", "y"]}, "item is empty in 1 of 4 rows"),
    "a covariate that changes": ("RS615", {"orders_before": [3, 4, 4, 4]}, "orders_before changes within 1 user"),
    "a list of two users": ("RS616", {"user": ["a", "c", "b", "b"]}, "1 of 2 lists has rows of several users"),
}  # fmt: skip


def log_of(**changed: list[Any]) -> pl.DataFrame:
    return pl.DataFrame({**CLEAN, **changed})


def found(code: str, frame: Any, **options: Any) -> list[Finding]:
    return list(rs.check(frame, select=[code], **options))


def test_a_clean_log_has_nothing() -> None:
    assert [f.message for f in rs.check(log_of())] == []


def test_every_rule_of_logs_has_a_bad_case() -> None:
    of_tables = {"RS617"}  # has a test of its own
    assert {code for code, _, _ in BAD.values()} | of_tables == {
        rule.code for rule in all_rules() if rule.of == "log" and not rule.other_verb
    }


@pytest.mark.parametrize("case", BAD)
def test_each_rule_finds_its_minimal_bad_case(case: str) -> None:
    code, changed, said = BAD[case]
    assert not found(code, log_of())
    findings = found(code, log_of(**changed))
    assert len(findings) == 1
    assert said in findings[0].message
    assert (findings[0].count or 0) > 0
    assert findings[0].hint


@pytest.mark.parametrize("case", [case for case in BAD if BAD[case][0] != "RS607"])
def test_order_of_rows_does_not_matter_but_for_clocks(case: str) -> None:
    code, changed, _ = BAD[case]
    backward = log_of(**changed).reverse()
    assert [f.message for f in found(code, backward)] == [f.message for f in found(code, log_of(**changed))]


def test_a_clock_that_goes_back_to_where_it_was_is_found() -> None:
    times = [f"2024-01-01T10:00:0{second}Z" for second in (0, 5, 0)]
    rows = pl.DataFrame(
        {
            "session": ["a"] * 3 + ["b"] * 2,
            "item": list("xyzxy"),
            "click": [0, 1, 0, 0, 1],
            "time": [*times, *times[:2]],
        }
    )
    assert found("RS607", rows)


def test_a_log_in_no_order_of_time_is_no_disorder() -> None:
    assert not found("RS607", log_of().reverse())


@pytest.mark.parametrize(
    ("steps", "back", "told"),
    [
        pytest.param(100, 40, True, id="two in five go back"),
        pytest.param(100, 41, False, id="more are in no order"),
        pytest.param(99, 30, False, id="too few to tell"),
    ],
)
def test_a_single_session_is_in_order_if_most_of_many_steps_are(steps: int, back: int, told: bool) -> None:
    seconds = [0]
    for step in range(steps):
        seconds.append(seconds[-1] + (-3 if step < back else 10))
    times = [f"2024-01-01T10:{20 + second // 60:02}:{second % 60:02}Z" for second in seconds]
    rows = pl.DataFrame({"session": "a", "item": [f"i{n}" for n in range(steps + 1)], "click": 0, "time": times})
    assert bool(found("RS607", rows)) == told
    assert all(finding.count == 1 for finding in found("RS607", rows))


def test_a_covariate_that_differs_between_variants() -> None:
    users = pl.DataFrame({
        "user": range(200), "variant": ["A", "B"] * 100, "revenue": [1.0] * 200,
        "spent": [float(i % 2 * 3 + i // 2 % 3) for i in range(200)], "before": [float(i // 2 % 3) for i in range(200)],
    })  # fmt: skip
    assert not found("RS615", users)
    (finding,) = found("RS615", users, covariates=["spent"])
    assert "spent differs between variants A and B by more than chance does (0.990 and 3.990)" in finding.message


@pytest.mark.parametrize(("lift", "told"), [(0.2335, False), (0.2342, True)])
def test_a_covariate_differs_from_three_and_a_bit_standard_errors_on(lift: float, told: bool) -> None:
    """Of 0 and 1 in turn among 100 users of a variant: 3.29 times the root of 2 * (100 / 4) / 99 / 100 is 0.2338."""
    users = pl.DataFrame({
        "user": range(200), "variant": ["A"] * 100 + ["B"] * 100, "spent": [1.0] * 200, "past": [n % 2 + lift * (n > 99) for n in range(200)],
    })  # fmt: skip
    (few, one) = (users.filter(pl.col("user") < 100 + n) for n in (2, 1))
    assert [finding.count for finding in found("RS615", users)] == [100] * told
    assert [finding.count for finding in found("RS615", users.with_columns(past=-pl.col("past")))] == [100] * told
    assert not found("RS615", one.with_columns(past=pl.col("past") + 9 * (pl.col("variant") == "B"))), "a user alone"
    assert [finding.count for finding in found("RS615", few.with_columns(past=pl.col("past") + 9 * (pl.col("variant") == "B")))] == [2]  # fmt: skip


def test_a_variant_of_one_user_hides_no_other_two_that_differ() -> None:
    alone = pl.DataFrame({"user": [999], "variant": ["0"], "spent": [1.0], "past": [5.0]})
    others = pl.DataFrame({"user": range(40), "variant": ["A", "B"] * 20, "spent": [1.0] * 40, "past": [n // 2 % 3 + 9.0 * (n % 2) for n in range(40)]})  # fmt: skip
    (finding,) = found("RS615", pl.concat([alone, others]))
    assert "past differs between variants A and B" in finding.message


def test_health_counts_rows_and_groups_by_code() -> None:
    bad: dict[str, list[Any]] = {
        "position": [0, 2, 0, 1],
        "variant": ["A"] * 4,
        "revenue": [-1.0, 0, -2.0, -3.0],
        "user": ["a", None, "b", "b"],
    }
    found = examine(rs.read_log(log_of(**bad)))
    assert found.as_dict() == {"rows": 4, "RS601": 1, "RS602": 1, "RS606": 1, "RS612": 3, "RS614": 1}
    assert (found.first_position, found.remark()) == (0, "")
    assert examine(rs.read_log(log_of(position=[2, 3, 2, 3]))).first_position == 1


@pytest.mark.parametrize(("most", "left"), [(4, ()), (3, ("RS602", "RS604", "RS605", "RS607", "RS609", "RS610", "RS614", "RS615", "RS616"))])  # fmt: skip
def test_what_is_left_in_a_large_log_is_told(most: int, left: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "MAX_ROWS_FOR_GROUPED_CHECKS", most)
    for one, whole in ((examine(rs.read_log(log_of())), left), (examine(rs.read_log(log_of()), whole=True), ())):
        assert one.left == whole
        assert (one.as_dict().keys() - {"rows"}) == {*whole}
        assert one.remark() == (f"Not checked in 4 rows: {', '.join(whole[:-1])} and {whole[-1]} (rankscope check LOG does)" if whole else "")  # fmt: skip


def test_users_with_several_rows_in_a_table_of_users_are_found() -> None:
    users = pl.DataFrame({"user": ["a", "b", "c", "d", "d"], "variant": ["A", "A", "B", "B", "B"], "spent": [1.0] * 5})
    (finding,) = found("RS617", users)
    assert "1 of 4 users has several rows, which are added up, and the others have one" in finding.message
    assert finding.places == ("user d",)
    assert not found("RS617", users.unique())
    (finding,) = found("RS617", pl.concat([users, users.filter(pl.col("user") == "a")]))
    assert "2 of 4 users have several rows" in finding.message, "half of the units"
    (finding,) = found("RS617", users.drop("variant").rename({"spent": "revenue"}))
    assert "1 of 4 users has several rows" in finding.message, "without variants"
    crossed = pl.DataFrame({"user": ["a", "b", "c", "c"], "variant": ["A", "B", "A", "B"], "spent": [1.0] * 4})
    assert not found("RS617", crossed), "one row in each of two variants is told by another rule"
    assert not found("RS617", users.filter(pl.col("user") == "d")), "all users have several rows: these are events"
    assert not found("RS617", users.with_columns(time=pl.lit("2024-05-01T10:00:00Z"))), "times make rows events"


def test_rows_without_a_position_are_no_gap_and_empty_ids_are_no_group() -> None:
    assert not found("RS602", log_of(position=[1, 2, None, None]))
    assert not found("RS602", log_of(position=[1, None, 2, 1]))
    (finding,) = found("RS602", log_of(position=[1, 3, None, None]))
    assert finding.message.startswith("in 1 of 2 lists the positions are not 1, 2, 3 and so on")
    (finding,) = found("RS602", log_of(position=[1, 3, 1, 3], list_id=["l1", "l1", None, None]))
    assert finding.message.startswith("in 1 of 1 list ")
    (finding,) = found("RS602", log_of(position=[0, 2, 0, 1]))
    assert finding.message.startswith("in 1 of 2 lists the positions are not 0, 1, 2 and so on")


def test_probabilities_may_differ_by_rounding() -> None:
    """A difference of 1e-9 is rounding, and of a tenth more is none."""
    for step, told in ((1e-9, False), (1.1e-9, True)):
        assert bool(found("RS609", log_of(p_prefix=[0.0, step, 0.5, 0.25]))) == told
        alone = log_of(p_slate=[0.0, step, 0.25, 0.25]).drop("p_prefix")
        assert bool(found("RS610", alone)) == told
        assert bool(found("RS610", log_of(p_slate=[step, step, 0.25, 0.25], p_prefix=[step, 0.0, 0.5, 0.25]))) == told


def test_three_places_are_named_and_the_first_days_without_traffic() -> None:
    """Of five users the first three by name."""
    users = [name for name in "edcba" for _ in range(2)]
    rows = pl.DataFrame({"user": users, "variant": ["A", "B"] * 5, "click": [0, 1] * 5})
    (finding,) = found("RS605", rows)
    assert finding.places == ("user a", "user b", "user c")
    assert finding.message.startswith("5 of 5 users have rows in several variants")
    (negative,) = found("RS612", pl.DataFrame({"user": users, "revenue": [-1.0] * 10}))
    assert [place.endswith(f"row {n}") for n, place in enumerate(negative.places, 1)] == [True] * 3
    times = [f"2024-01-0{day}T10:00:00Z" for day in (1, 9)]
    (absent,) = found("RS613", pl.DataFrame({"user": ["a", "b"], "click": [0, 1], "time": times}))
    assert (
        "7 of the 9 days from 2024-01-01 to 2024-01-09 have no row (2024-01-02, 2024-01-03, 2024-01-04"
        in absent.message
    )


@pytest.mark.parametrize(("back", "told"), [(1, 1), (2, 2), (3, 0)])
def test_times_that_go_back_in_up_to_half_of_the_sessions_are_told(back: int, told: int) -> None:
    """Of four sessions with two times each; one of one time only is no session to tell by."""
    times = [f"2024-01-01T10:00:0{n + at * (1 if s >= back else -1)}Z" for s in range(4) for n, at in ((5, 0), (5, 1))]
    rows = pl.DataFrame({
        "session": [f"s{s}" for s in range(4) for _ in range(2)] + ["t", "t"], "item": list("xyxyxyxyxy"), "click": [0, 1] * 5,
        "time": [*times, "2024-01-01T10:00:00Z", "2024-01-01T10:00:00Z"],
    })  # fmt: skip
    counts = [(finding.count, finding.places) for finding in found("RS607", rows)]
    assert counts == ([(told, tuple(f"session s{s}" for s in range(told)))] if told else [])
    assert not told or f"in {told} of 5 sessions" in found("RS607", rows)[0].message


@pytest.mark.parametrize(
    ("name", "told"),
    [("orders_before", True), ("preRevenue", True), ("sessionsPrior", True), ("BASELINE", True), ("ORDERS_BEFORE", True), ("past-clicks", True), ("presses", False), ("PRESSES", False), ("beforehand", False)],
)  # fmt: skip
def test_columns_of_the_time_before_are_known_by_a_word_of_their_names(name: str, told: bool) -> None:
    rows = pl.DataFrame({"user": ["a", "a", "b"], "click": [0, 1, 0], name: [1, 2, 3]})
    assert bool(found("RS615", rows)) == told


def test_effects_are_arithmetic() -> None:
    (zeros,) = found("RS611", log_of(click=[1, None, None, None]))
    assert zeros.effect == {"CTR": pytest.approx(1 / 4 - 1 / 1)}
    (unknown,) = found("RS611", log_of(click=[1, None, None, None]).drop("shown"))  # all rows were shown
    assert unknown.effect == zeros.effect
    (outside,) = found("RS603", log_of(shown=[False, True, True, True]))
    assert outside.effect == {"CTR": pytest.approx(1 / 4 - 0 / 3)}
    (unsaid,) = found("RS603", log_of(shown=[None, True, True, True]))  # what nothing calls shown is in no rate
    assert unsaid.effect == outside.effect
    (twice,) = found("RS604", log_of(item=["x", "x", "x", "y"], click=[1, 1, 0, 0]))
    assert twice.effect == {"CTR": pytest.approx(1 / 3 - 2 / 4)}


def test_equal_rows_of_a_log_without_lists() -> None:
    """Without a column of lists a row is repeated if it equals another in all columns, and if times are that exact."""
    log = log_of(page=["home", "help", "home", "home"]).drop("list_id")
    (repeated,) = found("RS604", pl.concat([log, log.head(1)]))
    assert repeated.message == "1 row is equal to another in all columns, times included; each once: −0.150 CTR"
    assert repeated.effect == {"CTR": pytest.approx(1 / 4 - 2 / 5)}
    other = log.head(1).with_columns(page=pl.lit("help"))
    assert not found("RS604", pl.concat([log, other]))
    by_the_minute = log.with_columns(time=pl.col("time").str.replace(":05Z", ":00Z"))
    assert not found("RS604", pl.concat([by_the_minute, by_the_minute]))


def test_large_logs_are_grouped_where_the_whole_is_asked_for() -> None:
    rows = 2_000_001
    log = rs.read_log(
        pl.DataFrame({"list_id": ["l"], "item": ["x"], "click": [1]}).select(pl.all().repeat_by(rows).explode())
    )
    quick, whole = examine(log), examine(log, whole=True)
    assert (quick.left, quick.of("RS604")) == (("RS604", "RS614"), ())
    assert whole.left == ()
    assert whole.of("RS604")[0].count == rows - 1
    assert quick.as_dict() == {"rows": rows, "RS604": None, "RS614": None}
    assert "RS604" in quick.remark()


# --- what one file is taken for


def test_judgments_alone_are_no_log(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.csv"
    qrels.write_text("query_id,doc_id,grade\nq1,a,1\n")
    for one in (str(qrels), {"q1": {"a": 1}}, pl.read_csv(qrels)):
        with pytest.raises(InputError, match="no run was given"):
            rs.check(one)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        rs.check(str(tmp_path / "log.csv"))


def test_options_of_rankings_are_refused() -> None:
    with pytest.raises(InputError, match="ties is about rankings"):
        rs.check(log_of(), ties="docid")
    with pytest.raises(InputError, match="metrics is about rankings"):
        rs.check(log_of(), None, "nDCG@10")


def test_rules_of_the_other_kind_are_told_where_they_were_named() -> None:
    of_log = rs.check(log_of(), select=["RS101", "RS603"])
    assert [rule.code for rule in of_log.rules] == ["RS603"]
    assert of_log.to_dicts("not_applied") == [
        {"code": "RS101", "reason": "about judgments and runs: rankscope check QRELS RUN..."}
    ]
    of_runs = rs.check({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, select=["RS101", "RS603"])
    assert of_runs.to_dicts("not_applied") == [{"code": "RS603", "reason": "for a log: rankscope check LOG"}]
    assert not [
        code
        for code in rs.check({"q1": {"a": 1}}, {"q1": {"a": 1.0}}).to_dicts("not_applied")
        if code["code"].startswith("RS6")
    ]


def test_a_rule_of_logs_is_explained() -> None:
    text = rs.rules("RS601").to_text()
    assert "PositionsFromZero" in text
    assert 'rs.check(log, select="RS601")' in text
    assert rule_named("ClickOutsideShown").code == "RS603"


def test_columns_give_roles() -> None:
    frame = pl.DataFrame({"visitor_number": [1], "hit": [1], "seen": [0], "item": ["x"]})
    (finding,) = rs.check(frame, columns={"hit": "click", "seen": "shown"}, select=["RS603"])
    assert finding.message.startswith("1 row was clicked and not shown (seen)")


def test_effects_count_what_was_shown_and_known() -> None:
    """Rows that were not shown, and those whose click is unknown, are in no rate."""
    rows = {"list_id": ["l"] * 5, "item": list("abcde"), "shown": [0, 0, 1, 1, 1], "click": [1, 0, 1, 0, None]}
    (outside,) = found("RS603", pl.DataFrame(rows))
    assert outside.effect == {"CTR": pytest.approx(2 / 3 - 1 / 2)}
    empty = {"list_id": ["l"] * 4, "item": list("abcd"), "shown": [1, 1, 0, 0], "click": [1, None, 1, None]}
    (zeros,) = found("RS611", pl.DataFrame(empty))
    assert zeros.effect == {"CTR": pytest.approx(1 / 2 - 1 / 1)}
    twice = {"item": list("aabbccdd"), "shown": [1, 0, 1, 1, 0, 0, 1, 1], "click": [1, 1, 0, 0, 1, 1, None, None]}
    (repeated,) = found("RS604", pl.DataFrame({"list_id": ["l"] * 8, **twice}))
    assert repeated.effect == {"CTR": pytest.approx(1 / 2 - 1 / 3)}
