"""The rankings of a page as data and as a table: what is read back is what was given, and nothing leaves its place."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import Any

import pytest

from rankscope.blocks import Document, Explorer, Query
from rankscope.show.html.explorer_data import encode, fragment, query_table

HOSTILE = {
    "a script": "</script><script>alert(1)</script>", "an open comment": "<!--", "separators of lines": "\u2028\u2029",
    "quotes": '"quoted" \\ back', "white space": "a\nb\tc\rd", "control characters": "\x00\x1b[31m",
    "right to left override": "\u202eabc", "joined emoji": "👩‍🔬", "Arabic": "عربى", "a long word": "x" * 500,
    "an entity": "&amp;", "a blank": " ", "half a surrogate pair": "\ud800", "an apostrophe": "'",
}  # fmt: skip
hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


def query(query_id: str = "q1", *, values: Any = ((0.5,), (0.25,)), text: str = "", documents: Any = ()) -> Query:
    """A query of as many runs as it has values."""
    runs = len(values)
    return Query(
        query_id, text, values, tuple(documents), (10,) * runs, ((1.0, 2),), ((),) * runs, (0.0,) * runs, (0,) * runs
    )


def explorer(*queries: Query, runs: tuple[str, ...] = ("bm25", "hybrid"), **more: Any) -> Explorer:
    """A block around queries."""
    given: dict[str, Any] = {"better": "higher", "depth": 10, "cutoff": 10, "level": 1.0, "top_grade": 3.0, **more}
    return Explorer(runs, ("nDCG@10",), queries=queries, **given)


def test_documents_that_no_ranking_shows_are_read_back_with_their_ranks() -> None:
    others = (Document("deep", 2.0, (0, 57), (0.0, 0.0)), Document("never", 4.0, (0, 0), (0.0, 0.0)))
    read = json.loads(encode(explorer(replace(query(), others=others))))
    (found,) = read["queries"]
    assert found["o"] == ["deep", "never"]
    assert [read["grades"][code] for code in found["og"]] == [2, 4]
    assert found["or"] == [[], [0, 57]]  # place and rank, run by run
    assert "o" not in json.loads(encode(explorer(query())))["queries"][0]


def test_what_was_given_is_read_back() -> None:
    documents = (
        Document("d1", 3.0, (1, 2), (0.5, 0.25), "first"),
        Document("d2", None, (2, 0), (0.0, 0.0), "second"),
        Document("d3", 0.5, (0, 1), (0.0, 1 / 3), "first"),
    )
    one = Query(
        "q", "text", ((0.5, math.nan), (7 / 12, 1.0)), documents, (100, 90), ((3.0, 1), (0.5, 2)),
        (((57, 3.0),), ()), (0.0, -1e-9), (4, 2),
    )  # fmt: skip
    read = json.loads(encode(explorer(one, notes=("a note",), left_out=7)))
    (found,) = read["queries"]
    grades, texts = read["grades"], read["texts"]
    assert (read["runs"], read["metrics"], read["leftOut"], read["notes"]) == (
        ["bm25", "hybrid"],
        ["nDCG@10"],
        7,
        ["a note"],
    )
    assert found["v"] == [[0.5, None], [0.583333, 1]]
    assert found["d"] == ["d1", "d2", "d3"]
    assert [grades[code] for code in found["g"]] == [3, None, 0.5]
    assert [texts[code] for code in found["x"]] == ["first", "second", "first"]
    assert found["r"] == [[1, 2, 0], [2, 0, 1]]
    assert found["a"] == [[0, 0.5], [0, 0.25, 2, 0.333333]], "places and values of what is not 0"
    assert found["n"] == [100, 90]
    assert [grades[found["j"][0]], found["j"][1], grades[found["j"][2]], found["j"][3]] == [3, 1, 0.5, 2]
    assert [found["b"][0][0], grades[found["b"][0][1]], found["b"][1]] == [57, 3, []]
    assert (found["s"], found["u"]) == ([0, -1e-09], [4, 2])
    assert texts.count("first") == 1


@hostile
def test_no_text_leaves_the_script_it_stands_in(text: str) -> None:
    documents = [Document(text, 1.0, (1, 1), (0.5, 0.5), text)]
    data = encode(explorer(query(text, text=text, documents=documents), runs=(text, "b"), notes=(text,)))
    assert "<" not in data
    assert not any(sign in data for sign in "\u2028\u2029\n\r")
    data.encode("utf-8")
    read = json.loads(data)
    assert read["queries"][0]["i"] == read["queries"][0]["d"][0] == read["runs"][0] == text


def test_the_same_block_gives_the_same_bytes() -> None:
    def made() -> str:
        grades = [2.0, None, 0.0, 1.0, -1.0]
        documents = [
            Document(f"d{at}", grade, (at + 1, 5 - at), (0.1, 0.2), f"t{at}") for at, grade in enumerate(grades)
        ]
        return encode(explorer(query(documents=documents)))

    assert made() == made()
    assert json.loads(made())["grades"] == [None, -1, 0, 1, 2]


def test_no_runs_no_queries_and_no_documents_are_fine() -> None:
    assert json.loads(encode(explorer()))["queries"] == []
    assert json.loads(encode(explorer(query())))["queries"][0]["r"] == []
    assert query_table(explorer())["rows"] == ()
    assert query_table(explorer(query(values=()), runs=()))["rows"] == (("q=q1", "q1", "", ()),)


def test_many_queries_take_little_room() -> None:
    draw = random.Random(1)

    def document(rank: int) -> Document:
        ranks = tuple(draw.randrange(0, 1000) for _ in range(3))
        adds = tuple(draw.random() if rank < 10 else 0.0 for _ in range(3))
        return Document(f"{draw.getrandbits(80):020x}", float(rank % 4), ranks, adds)

    queries = [query(str(at), values=((0.5,),) * 3, documents=[document(r) for r in range(35)]) for at in range(100)]
    each = len(encode(explorer(*queries, runs=("a", "b", "c")))) / 100
    assert 5_000 * each < 9e6


def test_the_table_has_the_largest_loss_first_and_what_has_no_value_last() -> None:
    nan = math.nan
    given = [("gains", 0.1, 0.4), ("none", nan, 0.4), ("loses", 0.5, 0.2), ("level", 0.3, 0.3)]
    queries = [query(name, values=((one,), (two,))) for name, one, two in given]
    table = query_table(explorer(*queries))
    assert [row[1] for row in table["rows"]] == ["loses", "level", "gains", "none"]
    assert [row[3][-1] for row in table["rows"]] == ["-0.3000", "0.0000", "+0.3000", "-"]
    assert table["heads"] == ("nDCG@10 of bm25", "nDCG@10 of hybrid", "hybrid against bm25")
    lower = query_table(explorer(*queries, better="lower"))
    assert [row[1] for row in lower["rows"]] == ["gains", "level", "loses", "none"], (
        "a rise is a loss where lower is better"
    )


def test_the_table_of_one_run_has_no_differences() -> None:
    table = query_table(explorer(query("good", values=((0.9,),)), query("bad", values=((0.1,),)), runs=("bm25",)))
    assert table["heads"] == ("nDCG@10 of bm25",)
    assert [(row[1], row[3]) for row in table["rows"]] == [("bad", ("0.1000",)), ("good", ("0.9000",))]


def test_the_table_says_what_it_leaves_out() -> None:
    runs = tuple(f"run {at}" for at in range(40))
    queries = [query(str(at), values=((0.5,),) * 40) for at in range(600)]
    table = query_table(explorer(*queries, runs=runs, left_out=1))
    assert len(table["rows"]) == 500
    assert len(table["heads"]) == 9
    assert "100 more queries" in table["note"]
    assert "the first 8 of 40 runs" in table["note"]
    assert "1 query is not in this file" in table["note"]
    assert query_table(explorer(query()))["note"] == ""


def test_what_the_page_links_to_is_in_the_table() -> None:
    queries = [query(str(at), values=((0.0,), (at / 1000,))) for at in range(700)]
    plain = [row[1] for row in query_table(explorer(*queries))["rows"]]
    assert plain == [str(at) for at in range(500)], "the largest loss first"
    linked = {"q=699", "q=650", "q=3", "q=none"}
    table = query_table(explorer(*queries), linked)
    assert [row[1] for row in table["rows"]] == [*plain[:498], "650", "699"]
    assert "200 more queries are not" in table["note"]
    every = {fragment(one.query_id) for one in queries[:-1]}
    whole = query_table(explorer(*queries), every)
    assert len(whole["rows"]) == 699, "no link leads nowhere, however many there are"
    assert "1 more query is not in this table. With JavaScript it can" in whole["note"]


def test_spaces_at_the_ends_of_an_id_are_seen() -> None:
    rows = query_table(explorer(query("a"), query("a "), query("  a"), query(" ")))["rows"]
    assert [row[1] for row in rows] == ["a", "a␣", "␣␣a", "␣"]


def test_long_and_hostile_ids_are_cut_and_shown() -> None:
    table = query_table(explorer(query("x" * 500, text="y" * 1000), query("a\x00b\u202e")))
    assert [len(row[1]) <= 80 for row in table["rows"]] == [True, True]
    assert table["rows"][0][2].endswith("…")
    assert table["rows"][1][1] == r"a\x00b\u202e"


@hostile
def test_a_fragment_can_be_an_address(text: str) -> None:
    said = fragment(text)
    assert said.isascii()
    assert not set(said) & set(' "<>\n\t#%') - {"%"}


def test_the_fragment_is_that_of_the_page() -> None:
    plain = "AZaz09-_.!~*'()"
    assert fragment(plain) == f"q={plain}"
    assert fragment("a&b=c#d/e?f+g") == "q=a%26b%3Dc%23d%2Fe%3Ff%2Bg"
