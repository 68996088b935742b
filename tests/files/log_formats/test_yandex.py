"""Lines of queries and clicks: rows written out, clicks where they belong, real logs against a plain read, lines at fault named."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.impressions import Log

COLUMNS = ("session_id", "impression_id", "query_id", "item_id", "position", "shown", "click", "time_to_next")


def written(folder: Path, text: str, name: str = "clicks.txt") -> Path:
    path = folder / name
    path.write_text("".join("\t".join(line.split()) + "\n" for line in text.strip().splitlines()))
    return path


def rows(log: Log, *names: str) -> list[tuple[Any, ...]]:
    return log.collect(log.frame.select(names or COLUMNS)).rows()


TWO = """
    s1  0   Q  q7  r1  u1  u2  u3
    s1  20  C  u2
    s1  95  C  u9
    s1  99  Q  q8  r1  u2  u4
    s1  110 C  u2
    s1  111 C  u1
    s2  0   Q  q7  r1  u1  u2  u3
"""


def test_each_url_shown_is_a_row_and_each_click_goes_to_the_latest_page_that_shows_it(tmp_path: Path) -> None:
    log = rs.read_log(written(tmp_path, TWO))
    assert rows(log) == [
        (
            "s1",
            "s1-1",
            "q7",
            "u1",
            1,
            1.0,
            1.0,
            None,
        ),  # clicked after the second page, which does not show it: nothing came after
        ("s1", "s1-1", "q7", "u2", 2, 1.0, 1.0, 95.0 - 20.0),
        ("s1", "s1-1", "q7", "u3", 3, 1.0, 0.0, None),
        ("s1", "s1-1", "q7", "u9", None, 0.0, 1.0, 99.0 - 95.0),
        ("s1", "s1-2", "q8", "u2", 1, 1.0, 1.0, 111.0 - 110.0),
        ("s1", "s1-2", "q8", "u4", 2, 1.0, 0.0, None),
        ("s2", "s2-1", "q7", "u1", 1, 1.0, 0.0, None),
        ("s2", "s2-1", "q7", "u2", 2, 1.0, 0.0, None),
        ("s2", "s2-1", "q7", "u3", 3, 1.0, 0.0, None),
    ]
    assert log.source.notes[0].startswith(
        f"read {tmp_path / 'clicks.txt'} as lines of queries and clicks: 3 pages of results, 4 clicks:"
    )
    assert log.source.notes[1].startswith("1 of 4 clicks: no page before in the session shows the url")


def test_a_click_on_what_was_not_shown_is_counted_by_the_rule_and_not_by_the_metric(tmp_path: Path) -> None:
    result = rs.online(rs.read_log(written(tmp_path, TWO)), "CTR")
    assert (result.values[0].numerator, result.values[0].denominator) == (3, 8)
    assert [fact.count for fact in result.health.of("RS603")] == [1]


def test_clicks_that_come_again_are_one_click_and_told(tmp_path: Path) -> None:
    log = rs.read_log(written(tmp_path, "s 0 Q q r a b\ns 5 C a\ns 9 C a\ns 10 C b\n"))
    assert rows(log, "item_id", "click", "time_to_next") == [("a", 1.0, 4.0), ("b", 1.0, None)]
    assert any(note.startswith("1 click came again") for note in log.source.notes)


def test_clicks_on_what_was_not_shown_are_not_clicks_that_come_again(tmp_path: Path) -> None:
    log = rs.read_log(written(tmp_path, "s 0 Q q r a b\ns 5 C a\ns 9 C a\ns 10 C y\ns 11 C z\n"))
    said = [note.partition(":")[0] for note in log.source.notes[1:3]]
    assert said == ["2 of 4 clicks", "1 click came again on a url of the same page"]
    assert [item for item, shown in rows(log, "item_id", "shown") if not shown] == ["y", "z"]


def test_a_url_that_a_page_shows_twice_is_clicked_where_it_stands_first(tmp_path: Path) -> None:
    log = rs.read_log(written(tmp_path, "s 0 Q q r a b a\ns 5 C a\n"))
    assert rows(log, "item_id", "position", "click") == [("a", 1, 1.0), ("b", 2, 0.0), ("a", 3, 0.0)]


def test_pages_that_show_nothing_are_told_of(tmp_path: Path) -> None:
    log = rs.read_log(written(tmp_path, "s 0 Q q r\ns 5 Q p r a\n"))
    assert rows(log, "impression_id", "item_id") == [("s-2", "a")]
    assert "1 page of results showed nothing, and has no row" in log.source.notes


PERSONAL = """
    7  M  23  u5
    7  0  Q  0  q1  t1,t2  a,x  b,y
    7  30 C  0  b
    7  60 T  1  q2  t3  b,y  c,z
    7  61 C  0  a
    8  M  23  u6
    8  0  Q  0  q1  t1,t2  a,x  b,y
"""


def test_lines_that_name_users_and_pages_say_which_page_was_clicked(tmp_path: Path) -> None:
    log = rs.read_log(written(tmp_path, PERSONAL))
    assert rows(log, "unit_id", "impression_id", "query_id", "item_id", "position", "click") == [
        ("u5", "7-0", "q1", "a", 1, 1.0),
        ("u5", "7-0", "q1", "b", 2, 1.0),
        ("u5", "7-1", "q2", "b", 1, 0.0),
        ("u5", "7-1", "q2", "c", 2, 0.0),
        ("u6", "8-0", "q1", "a", 1, 0.0),
        ("u6", "8-0", "q1", "b", 2, 0.0),
    ]


def test_sessions_in_several_files_give_the_rows_of_one(tmp_path: Path) -> None:
    lines = TWO.strip().splitlines()
    whole = rs.read_log(written(tmp_path, TWO, "whole.txt"))
    parts = tmp_path / "parts"
    parts.mkdir()
    written(parts, "\n".join(lines[:6]), "a.txt")
    (parts / "b.txt.gz").write_bytes(gzip.compress(written(tmp_path, lines[6], "rest.txt").read_bytes()))
    (parts / "README.md").write_text("What is in here.\n")
    several = rs.read_log(parts)
    assert rows(several) == rows(whole)
    assert "left out, as they hold no queries and clicks: README.md" in several.source.notes


def test_padded_lines_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("0\t0\tQ\t2031\t0.0\ta\tb\r\n\n0\t710\tC\ta\t\t\t\r\n")
    assert rows(rs.read_log(path), "item_id", "click") == [("a", 1.0), ("b", 0.0)]


def test_the_unit_of_time_is_for_the_reader_to_say(tmp_path: Path) -> None:
    path = written(tmp_path, TWO)
    assert "dwell_s" not in rs.read_log(path).roles
    result = rs.online(path, "SatisfiedClicks(dwell=50)", columns="time_to_next=dwell_s")
    assert (result.values[0].numerator, result.values[0].denominator) == (
        1,
        7,
    )  # the click whose end is not known is left out


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("s1\tx\tC\tu1", id="a time that is none"),
        pytest.param("s1\t5\tC", id="a click on nothing"),
        pytest.param("s1\t5\tC\tu1\tu2", id="a click on two urls"),
        pytest.param("s1\t5\tX\tu1", id="a kind that there is not"),
        pytest.param("s1\t5\tQ\tq", id="a query without a region"),
        pytest.param("hello", id="no fields at all"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "clicks.txt"
    path.write_text(f"s1\t0\tQ\tq7\tr1\tu1\n\n{line}\ns1\t9\tC\tu1\n")
    with pytest.raises(InputError) as error:
        rs.read_log(path)
    like = "a line is SESSION TIME Q QUERY REGION URL URL ... or SESSION TIME C URL, with tabs between"
    assert str(error.value) == f"{path} line 3: {line!r}: {like}; correct it, or leave it out"


def test_a_row_is_where_its_page_is(tmp_path: Path) -> None:
    log = rs.read_log(written(tmp_path, TWO))
    assert log.source.at(1) == f"{tmp_path / 'clicks.txt'} line 1"
    assert log.source.at(3) == f"{tmp_path / 'clicks.txt'} line 3"
    assert log.source.at(4) == f"{tmp_path / 'clicks.txt'} line 4"


# --- the real log


def plain_read(path: Path) -> tuple[Counter[int], Counter[int], int, int]:
    """Urls shown and urls clicked by position, clicks on urls that no page before shows, and clicks in all: by a plain loop."""
    shown, clicked = Counter[int](), set[tuple[int, int]]()
    latest: dict[tuple[str, str], tuple[int, int]] = {}
    stray = clicks = page = 0
    with gzip.open(path, "rt") as file:
        for line in file:
            session, _, kind, *rest = line.rstrip("\n\t").split("\t")
            if kind == "Q":
                page += 1
                here = dict[str, int]()
                for position, url in enumerate(rest[2:], start=1):
                    shown[position] += 1
                    here.setdefault(url, position)
                latest |= {(session, url): (page, position) for url, position in here.items()}
            else:
                clicks += 1
                place = latest.get((session, rest[0]))
                if place is None:
                    stray += 1
                else:
                    clicked.add(place)
    return shown, Counter(position for _, position in clicked), stray, clicks


def test_the_log_of_clara_has_the_counts_of_a_plain_read(shared_data: Any) -> None:
    path = shared_data("clara2/CLARA2SearchLog_beta.gz")
    shown, clicked, stray, clicks = plain_read(path)
    log = rs.read_log(path)
    result = rs.online(log, "CTR", by="position")
    assert {one.part: (one.numerator, one.denominator) for one in result.positions} == {
        place: (clicked[place], shown[place]) for place in shown
    }
    assert (sum(shown.values()), clicks) == (315_640, 11_613)
    assert f"{stray} of {clicks:,} clicks: " in log.source.notes[1]
    lists = log.collect(log.frame.filter(pl.col("shown") > 0).select(pl.col("impression_id").n_unique())).item()
    assert lists == 31_564


def test_the_folder_of_clara_is_its_log(shared_data: Any) -> None:
    folder = shared_data("clara2")
    of_folder, of_file = rs.read_log(folder), rs.read_log(folder / "CLARA2SearchLog_beta.gz")
    assert of_folder.collect(of_folder.frame).equals(of_file.collect(of_file.frame))
