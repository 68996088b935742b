"""Events of interleaved searches: a row a list with its clicks by ranker, real events against a plain read."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import InputError

EVENTS = """timestamp,search_id,event,position,ranking_function
2024-05-01T12:00:00Z,s1,serp,NA,NA
2024-05-01T12:00:07Z,s1,click,2,B
2024-05-01T12:00:19Z,s1,click,1,A
2024-05-01T12:00:30Z,s1,click,5,B
2024-05-01T13:00:00Z,s2,serp,NA,NA
2024-05-01T14:00:09Z,s3,click,1,A
2024-05-01T14:00:10Z,s3,checkin,1,A
"""


def written(folder: Path, text: str = EVENTS) -> Path:
    path = folder / "events.csv"
    path.write_text(text)
    return path


def test_a_list_is_a_row_with_its_clicks_by_ranker(tmp_path: Path) -> None:
    log = rs.read_log(written(tmp_path))
    found = log.collect(
        log.frame.select("impression_id", "click", "clicks", "clicks_A", "clicks_B", "seconds_to_click")
    )
    assert found.rows() == [("s1", 1.0, 3, 1, 2, 7.0), ("s2", 0.0, 0, 0, 0, None), ("s3", 1.0, 1, 1, 0, None)]
    assert "1 list has clicks and no event of being shown" in log.source.notes
    assert "1 event of other kinds is in no row: checkin 1" in log.source.notes
    assert not log.has("item_id")
    assert not log.has("position")


def test_the_share_of_lists_with_a_click_is_that_of_lists(tmp_path: Path) -> None:
    result = rs.online(written(tmp_path), ["ListCTR", "Mean(clicks_B)"])
    assert (result["ListCTR"], result["Mean(clicks_B)"]) == (2 / 3, 2 / 3)


def test_a_time_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, EVENTS.replace("2024-05-01T12:00:19Z", "noonZ"))
    with pytest.raises(InputError) as error:
        rs.read_log(path)
    assert str(error.value).startswith(f"{path} line 4, column timestamp: 'noonZ': a time is like 2024-05-01T12:30:00Z")


def test_what_is_named_and_is_none_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "item,click\na,1\n")
    with pytest.raises(
        InputError, match="no events of interleaved searches; their columns are timestamp, search_id, event"
    ):
        rs.read_log(path, log_format="interleaved")


# a list prefers the ranker with more clicks; the difference of wins, out of lists with a click, is what Wikimedia's package gives
@pytest.mark.parametrize(
    ("name", "lists", "clicked", "preference"),
    [("a-pref", 1000, 906, 0.7428), ("b-pref", 1000, None, -0.703), ("no-pref", 1000, None, 0.061)],
)
def test_real_events_have_the_counts_of_a_plain_read(
    shared_data: Any, name: str, lists: int, clicked: int | None, preference: float
) -> None:
    path = shared_data(f"interleaving/{name}.csv.gz")
    searches, clicks = set(), Counter[tuple[str, str]]()
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            searches.add(row["search_id"])
            if row["event"] == "click":
                clicks[row["search_id"], row["ranking_function"]] += 1
    log = rs.read_log(path)
    found = {row["impression_id"]: row for row in log.collect(log.frame).rows(named=True)}
    assert set(found) == searches
    assert len(searches) == lists
    assert {
        (one, ranker): row[f"clicks_{ranker}"]
        for one, row in found.items()
        for ranker in "AB"
        if row[f"clicks_{ranker}"]
    } == clicks
    with_click = [row for row in found.values() if row["click"]]
    assert clicked is None or len(with_click) == clicked
    wins = Counter((row["clicks_A"] > row["clicks_B"]) - (row["clicks_A"] < row["clicks_B"]) for row in with_click)
    assert (wins[1] - wins[-1]) / len(with_click) == pytest.approx(preference, abs=5e-4)
