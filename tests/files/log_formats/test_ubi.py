"""OpenSearch UBI: rows written out, events where they belong, every way of writing it the same rows, lines at fault named."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.impressions import Log

Objects = list[dict[str, Any]]


def query(name: str, client: str, text: str, time: str, hits: list[str], **attributes: Any) -> dict[str, Any]:
    return {
        "application": "shop", "query_id": name, "client_id": client, "user_query": text, "timestamp": f"2024-05-01T{time}Z",
        "query_response_id": f"r-{name}", "query_response_hit_ids": hits, "query_attributes": attributes,
    }  # fmt: skip


def event(
    name: str | None, action: str, item: str | None, time: str, session: str = "s1", client: str = "c1", **more: Any
) -> dict[str, Any]:
    about = (
        {"object": {"object_id": item, "object_id_field": "sku", **more}, "position": {"ordinal": 2}} if item else {}
    )
    return {
        "application": "shop", "action_name": action, "query_id": name, "client_id": client, "session_id": session,
        "timestamp": f"2024-05-01T{time}Z", "message_type": "INFO", "message": None, "event_attributes": about,
    }  # fmt: skip


QUERIES = [
    query("q1", "c1", "tv", "12:00:00", ["a", "b", "c"], variant="A", filters=["x"]),
    query("q2", "c2", "radio", "13:00:00", ["a", "d"], variant="B"),
    query("q3", "c2", "rodeo", "13:05:00", [], variant="B"),
]
EVENTS = [
    event("q1", "click", "b", "12:00:10"),
    event("q1", "add_to_cart", "b", "12:00:40"),
    event("q1", "click", "z", "12:01:00"),
    event("q1", "purchase", "b", "12:02:00"),
    event("q2", "click", "sku-9", "13:00:05", "s2", "c2", internal_id="d"),
    event("q2", "click", "d", "13:00:25", "s2", "c2"),
    event(None, "login", None, "11:00:00"),
    event("q9", "click", "k", "11:30:00"),
]
COLUMNS = (
    "unit_id",
    "impression_id",
    "query_id",
    "item_id",
    "position",
    "shown",
    "click",
    "dwell_s",
    "conversion",
    "add_to_cart",
    "variant",
)
ROWS = [
    ("c1", "q1", "tv", "a", 1, 1.0, 0.0, None, 0.0, 0, "A"),
    ("c1", "q1", "tv", "b", 2, 1.0, 1.0, 40.0 - 10.0, 1.0, 1, "A"),
    ("c1", "q1", "tv", "c", 3, 1.0, 0.0, None, 0.0, 0, "A"),
    ("c1", "q1", "tv", "z", None, 0.0, 1.0, 60.0, 0.0, 0, "A"),
    ("c2", "q2", "radio", "a", 1, 1.0, 0.0, None, 0.0, 0, "B"),
    ("c2", "q2", "radio", "d", 2, 1.0, 1.0, 25.0 - 5.0, 0.0, 0, "B"),
]


def rows(log: Log, *names: str) -> list[tuple[Any, ...]]:
    return log.collect(log.frame.select(names or COLUMNS)).rows()


def test_each_hit_is_a_row_with_what_was_done_with_it() -> None:
    log = rs.read_log({"queries": QUERIES, "events": EVENTS})
    assert rows(log) == ROWS
    assert log.source.notes[0].startswith(
        "read log as OpenSearch UBI: 2 lists, 8 events: unit_id (client_id), impression_id, session_id, query_id,"
    )
    assert log.source.notes[1:] == (
        "1 of 4 clicks: the item is not among the hits of the query. It becomes an extra row, with shown 0",
        "1 click came again on the same item of a list: each item is clicked or not",
        "2 events are of no item of a list that is there, and in no row: click 1 and login 1",
    )


def test_what_was_clicked_and_not_shown_is_counted_by_the_rule_and_not_by_the_metric() -> None:
    result = rs.online({"queries": QUERIES, "events": EVENTS}, "CTR")
    assert (result.values[0].numerator, result.values[0].denominator, result.unit) == (2, 5, "client")
    assert [fact.count for fact in result.health.of("RS603")] == [1]


def test_an_experiment_comes_from_the_attributes_of_queries() -> None:
    found = rs.experiment(
        {"queries": [query(f"q{i}", f"c{i}", "tv", "12:00:00", ["a", "b"], variant="AB"[i % 2]) for i in range(40)],
         "events": [event(f"q{i}", "click", "a", "12:00:01", client=f"c{i}") for i in range(0, 40, 3)]}, "CTR")  # fmt: skip
    clicks = {side: sum(i % 2 == side for i in range(0, 40, 3)) for side in (0, 1)}  # of 40 impressions each
    assert found["B", "CTR"].difference == pytest.approx(clicks[1] / 40 - clicks[0] / 40)


# --- every way of writing it


def lines(objects: Objects) -> str:
    return "".join(json.dumps(one) + "\n" for one in objects)


def bulk(objects: Objects) -> str:
    return "".join(
        json.dumps({"index": {"_id": str(n)}}) + "\n" + json.dumps(one) + "\n" for n, one in enumerate(objects)
    )


def wrapped(objects: Objects) -> str:
    return lines([{"_index": "ubi", "_id": str(n), "_source": one} for n, one in enumerate(objects)])


def answer(objects: Objects) -> str:
    hits = [{"_index": "ubi", "_id": str(n), "_source": one} for n, one in enumerate(objects)]
    return json.dumps({"took": 1, "hits": {"total": {"value": len(hits)}, "hits": hits}}, indent=1)


WAYS: dict[str, tuple[str, Callable[[Objects], str]]] = {
    "one object a line": ("ndjson", lines),
    "a list of objects": ("json", json.dumps),
    "an indented list": ("json", lambda objects: json.dumps(objects, indent=2)),
    "lines for the bulk interface": ("ndjson", bulk),
    "documents in what wraps them": ("jsonl", wrapped),
    "the answer of a search": ("json", answer),
}


@pytest.mark.parametrize("way", WAYS)
def test_files_in_a_folder_give_the_same_rows_however_they_are_written(way: str, tmp_path: Path) -> None:
    ending, write = WAYS[way]
    (tmp_path / f"ubi_queries.{ending}").write_text(write(QUERIES))
    (tmp_path / f"ubi_events.{ending}.gz").write_bytes(gzip.compress(write(EVENTS).encode()))
    (tmp_path / "NOTES.txt").write_text("What is in here.\n")
    log = rs.read_log(tmp_path)
    assert rows(log) == ROWS
    assert "left out, as they hold no queries or events: NOTES.txt" in log.source.notes


def test_a_list_of_one_object_is_a_file_too(tmp_path: Path) -> None:
    read = []
    for name, text in (("one.json", json.dumps(QUERIES[:1])), ("one.ndjson", lines(QUERIES[:1]))):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"ubi_queries{Path(name).suffix}").write_text(text)
        (folder / "ubi_events.json").write_text(json.dumps(EVENTS))
        read.append(rs.read_log(folder))
    assert rows(read[0]) == rows(read[1])
    assert all(log.source.sha256 is not None for log in read), "the files are known by their content"


def flat(objects: Objects, *, lists: bool) -> pl.DataFrame:
    frame = pl.DataFrame(objects, infer_schema_length=None).with_columns(pl.col(pl.String).replace("", None))
    while nested := [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Struct)]:
        frame = frame.with_columns(pl.col(one).name.prefix_fields(f"{one}.") for one in nested).unnest(nested)
    names = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
    return frame.with_columns(pl.col(one).list.join(",") for one in names if not lists)


def test_frames_tables_and_parquet_give_the_same_rows(tmp_path: Path) -> None:
    nested = {
        "queries": pl.DataFrame(QUERIES, infer_schema_length=None),
        "events": pl.DataFrame(EVENTS, infer_schema_length=None),
    }
    assert rows(rs.read_log(nested)) == ROWS
    assert rows(rs.read_log({name: frame.lazy() for name, frame in nested.items()})) == ROWS
    for name, frame in nested.items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
    assert rows(rs.read_log(tmp_path)) == ROWS
    tables = tmp_path / "tables"
    tables.mkdir()
    flat(QUERIES, lists=False).write_csv(tables / "queries.csv")
    flat(EVENTS, lists=False).write_csv(tables / "events.csv")
    assert rows(rs.read_log(tables)) == ROWS
    assert rows(rs.read_log({"queries": tables / "queries.csv", "events": nested["events"]})) == ROWS


def test_the_order_of_lines_and_files_says_nothing(tmp_path: Path) -> None:
    for n, part in enumerate((EVENTS[4:], EVENTS[:4])):
        (tmp_path / f"{n}.ndjson").write_text(lines(list(reversed(part))))
    (tmp_path / "9.ndjson").write_text(lines(list(reversed(QUERIES))))
    assert rows(rs.read_log(tmp_path)) == ROWS


# --- what there may be less or more of


def test_impressions_say_what_was_in_view_and_what_was_shown_without_hits() -> None:
    seen = [event("q1", "impression", "a", "12:00:01"), event("q1", "impression", "c", "12:00:02")]
    both = rs.read_log({"queries": QUERIES[:1], "events": [*EVENTS[:1], *seen]})
    assert rows(both, "item_id", "position", "examined", "click") == [
        ("a", 1, 1.0, 0.0),
        ("b", 2, 0.0, 1.0),
        ("c", 3, 1.0, 0.0),
    ]
    alone = rs.read_log({"events": [*seen, event("q1", "click", "a", "12:00:09")]})
    assert rows(alone, "item_id", "position", "shown", "click") == [("a", 2, 1.0, 1.0), ("c", 2, 1.0, 0.0)]
    assert (
        "2 items are known only from impressions, not from hits, with the position in the impressions"
        in alone.source.notes
    )


def test_without_events_nobody_looked() -> None:
    log = rs.read_log({"queries": QUERIES})
    assert log.rows == 5
    assert not log.has("click")
    assert "events are missing: clicks are unknown" in log.source.notes
    assert not [note for note in log.source.notes if "sessions are left out" in note]  # no list has one


def test_without_a_click_all_is_0() -> None:
    log = rs.read_log({"queries": QUERIES[:1], "events": [event(None, "login", None, "11:00:00")]})
    assert rows(log, "click") == [(0.0,), (0.0,), (0.0,)]


def test_a_query_that_comes_twice_goes_on_with_its_hits() -> None:
    more = query("q1", "c1", "tv", "12:03:00", ["c", "e"])
    log = rs.read_log({"queries": [more, QUERIES[0]], "events": EVENTS[:1]})
    assert rows(log, "item_id", "position") == [("a", 1), ("b", 2), ("c", 3), ("e", 4)]


def test_sessions_of_some_lists_alone_are_left_out() -> None:
    log = rs.read_log({"queries": QUERIES, "events": EVENTS[:4]})
    assert not log.has("session_id")
    assert "the session of 1 of 2 lists is not known: sessions are left out" in log.source.notes
    assert rs.read_log({"queries": QUERIES, "events": EVENTS}).has("session_id")


def test_what_was_done_with_a_whole_list_is_in_no_row() -> None:
    log = rs.read_log({"queries": QUERIES[:1], "events": [EVENTS[0], event("q1", "scroll", None, "12:00:50")]})
    assert rows(log, "item_id", "click", "dwell_s") == [("a", 0.0, None), ("b", 1.0, 50.0 - 10.0), ("c", 0.0, None)]
    assert "1 event is of no item of a list that is there, and in no row: scroll 1" in log.source.notes


def test_users_are_units_where_no_client_is_named() -> None:
    named = [{**QUERIES[0], "client_id": None, "user_id": "u7"}]
    log = rs.read_log({"queries": named, "events": [{**EVENTS[0], "client_id": None}]})
    assert rows(log, "unit_id", "item_id") == [("u7", "a"), ("u7", "b"), ("u7", "c")]
    both = rs.read_log({"queries": [{**QUERIES[0], "user_id": "u7"}], "events": EVENTS[:1]})
    assert rows(both, "unit_id") == [("c1",)] * 3


def test_actions_keep_their_names_unless_these_mean_something_here() -> None:
    log = rs.read_log(
        {
            "queries": QUERIES[:1],
            "events": [
                event("q1", "position", "a", "12:00:03"),
                event("q1", "watch", "a", "12:00:04"),
                event("q1", "watch", "a", "12:00:09"),
            ],
        }
    )
    assert rows(log, "item_id", "position", "action_position", "watch")[0] == ("a", 1, 1, 2)
    assert rs.online(log, "Mean(watch)")["Mean(watch)"] == 2.0


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        (30, []),
        (31, ["1 action with the fewest events has no column: act-30"]),
        (33, ["3 actions with the fewest events have no column: act-30, act-31 and act-32"]),
    ],
)
def test_thirty_actions_have_a_column_those_with_the_most_events(actions: int, said: list[str]) -> None:
    names = [f"act-{n:02}" for n in range(actions) for _ in range(1 + (n < 30))]
    events = [event("q1", name, "a", "12:00:01") for name in names]
    log = rs.read_log({"queries": QUERIES[:1], "events": events})
    assert [name for name in log.attributes if name.startswith("act-")] == [f"act-{n:02}" for n in range(30)]
    assert rows(log, "act-00", "act-29") == [(2, 2), (0, 0), (0, 0)]
    assert [note for note in log.source.notes[1:] if "action" in note] == said


def test_every_note_has_its_counts() -> None:
    """Of six clicks on q1 two are on items that are no hits, and two came again; one seen item is no hit; three events are in no row."""
    clicks = [event("q1", "click", item, f"12:00:0{n}") for n, item in enumerate("aaazyb")]
    seen = [event("q1", "impression", item, "12:00:00") for item in ("b", "z")]
    rest = [event("q9", "click", "k", "11:30:00"), event("q1", "scroll", None, "12:00:09"), event("q1", "scroll", None, "12:00:09")]  # fmt: skip
    log = rs.read_log({"queries": QUERIES[:1], "events": [*clicks, *seen, *rest]})
    assert log.source.notes[0].startswith("read log as OpenSearch UBI: 1 list, 11 events: ")
    assert log.source.notes[1:] == (
        "1 of 6 clicks: the item is not among the hits of the query. It becomes an extra row, with shown 0",
        "2 clicks came again on the same item of a list: each item is clicked or not",
        "1 item is known only from impressions, not from hits, with the position in the impressions",
        "3 events are of no item of a list that is there, and in no row: scroll 2 and click 1",
    )
    assert rows(log, "item_id", "position", "shown", "examined", "click") == [
        ("a", 1, 1.0, 0.0, 1.0),
        ("b", 2, 1.0, 1.0, 1.0),
        ("z", 2, 1.0, 1.0, 1.0),
        ("c", 3, 1.0, 0.0, 0.0),
        ("y", None, 0.0, 0.0, 1.0),
    ]


def test_attributes_that_are_called_like_a_column_of_the_log_are_left_out() -> None:
    taken = {
        "position": 9,
        "session_id": "s9",
        "application": "x",
        "click": 1,
        "conversion": 1,
        "item_id": "i",
        "shown": 0,
    }
    log = rs.read_log(
        {"queries": [query("q1", "c1", "tv", "12:00:00", ["a"], **taken, country="de")], "events": EVENTS[:1]}
    )
    names = ("item_id", "position", "session_id", "application", "shown", "click", "country")
    assert rows(log.turned(lambda frame: frame.filter(pl.col("item_id") == "a")), *names) == [
        ("a", 1, "s1", "shop", 1.0, 0.0, "de")
    ]


def test_ids_and_places_may_stand_elsewhere_in_an_event() -> None:
    """An item beside its object, a session among the attributes, a place called index."""
    old = {"query_id": "q1", "action_name": "impression", "client_id": "c1", "timestamp": "2024-05-01T12:00:01Z"}
    events = [
        {**old, "event_attributes": {"object_id": "a", "session_id": "s7", "position": {"index": 4}}},
        {**old, "object_id": "b", "session_id": "s7", "event_attributes": {"position": {"ordinal": {"index": 5}}}},
    ]
    for one, found in zip(events, [("a", 4, "s7", 1.0), ("b", 5, "s7", 1.0)], strict=True):
        log = rs.read_log({"events": [one]}, log_format="ubi")
        assert rows(log, "item_id", "position", "session_id", "shown") == [found]


# --- what is wrong


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("{broken\n", "line 9: not a JSON object: '{broken'; is the file cut off, or a line broken in two?", id="a line that is no JSON"),
        pytest.param('["a"]\n', "line 9: not a JSON object: '[\"a\"]'", id="a line that is no object"),
        pytest.param(lines([{**EVENTS[0], "timestamp": "noonZ"}]), "line 9, column timestamp: 'noonZ': a time is like 2024-05-01T12:30:00Z", id="a time that is none"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_named(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "ubi_queries.ndjson").write_text(lines(QUERIES))
    path = tmp_path / "ubi_events.ndjson"
    path.write_text(lines(EVENTS) + text)
    with pytest.raises(InputError) as error:
        rs.read_log(tmp_path)
    assert str(error.value).startswith(f"{path} {said}")


def test_clicks_alone_say_not_what_was_shown(tmp_path: Path) -> None:
    path = tmp_path / "ubi_events.ndjson"
    path.write_text(lines(EVENTS))
    with pytest.raises(
        InputError, match="no query with hits, and no event of shown items; UBI has queries with query_id"
    ):
        rs.read_log(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"queries\.ndjson: no such file"):
        rs.read_log({"queries": tmp_path / "queries.ndjson", "events": EVENTS})


def test_a_finding_says_which_item_of_which_list() -> None:
    finding = next(
        one for one in rs.check(rs.read_log({"queries": QUERIES, "events": EVENTS})).findings if one.code == "RS603"
    )
    assert any("list q1, item z" in place for place in finding.places)


def test_events_without_a_session_are_not_one_session() -> None:
    nobody = [{**event("q1", "click", item, f"12:00:{s}"), "session_id": None} for item, s in (("a", 10), ("b", 30))]
    known = [event("q2", "click", "a", "13:00:05", "s2", "c2"), event("q2", "click", "d", "13:00:25", "s2", "c2")]
    log = rs.read_log({"queries": QUERIES[:2], "events": [*nobody, *known]})
    clicked = log.collect(log.frame.filter(pl.col("click") > 0).select("impression_id", "item_id", "dwell_s"))
    assert sorted(clicked.rows()) == [("q1", "a", None), ("q1", "b", None), ("q2", "a", 25.0 - 5.0), ("q2", "d", None)]


def test_events_may_name_no_more_than_their_query_and_action() -> None:
    brief = [{"query_id": "q1", "action_name": "scroll"}, {"query_id": "q2", "action_name": "scroll"}]
    log = rs.read_log({"queries": QUERIES, "events": brief})
    assert "2 lists, 2 events" in log.source.notes[0]
    assert {(row[3], row[6]) for row in rows(log, *COLUMNS[:7])} == {(item, 0.0) for item in "abcd"}
