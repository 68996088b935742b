"""Tables and figures as files: every value as it is, under names that any disk takes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.show.made_charts import chart

from rankscope.blocks import Block, Chart, Column, NumberText, Page, Section, Table, ValueRange
from rankscope.errors import InputError
from rankscope.show import export
from rankscope.show.cells import number_headers
from rankscope.show.export import files_of, records_of

Need = Callable[[str], ModuleType]


def page(*blocks: Block | Chart) -> Page:
    return Page("t", "", (), (Section("of/all", "S", blocks),))


def named(*names: str) -> list[str]:
    """The files of tables with these names."""
    tables = [Table((Column("a"),), (("x",),), name=name) for name in names]
    return [name for name, _ in files_of(page(*tables)) if name.endswith(".csv")]


def test_values_are_written_as_they_are() -> None:
    columns = (Column("run"), Column("AP", "value"), Column("share"))
    rows = (
        ("nul\x00x\r", ValueRange(0.1 + 0.2, 0.25, 0.5), NumberText("49 of 200", 49)),
        ("constructor", float("inf"), None),
    )
    files = dict(files_of(page(Table(columns, rows, name="t"))))
    assert json.loads(files["t.json"]) == [
        {"run": "nul\x00x\r", "AP": 0.1 + 0.2, "AP lower": 0.25, "AP upper": 0.5, "share": 49},
        {"run": "constructor", "AP": None, "AP lower": None, "AP upper": None, "share": None},
    ]
    assert files["t.csv"].count(b"\n") == 3
    assert b"\r\n" not in files["t.csv"]


def test_halves_of_characters_stand_as_their_escapes(need: Need) -> None:
    need("altair")
    need("vl_convert")
    rows = tuple((f"\ud800{i}", "\udfff", i / 10, i, "p\ud800", 1, "q\ud800") for i in range(2))
    half = replace(chart("bars", rows, caption="\ud800"), title="\ud800", name="\ud800 made")
    files = dict(files_of(page(Table((Column("r\ud800"),), (("\ud800",),), name="t"), half)))
    assert list(files) == [
        "t.csv", "t.json", "made.csv", "made.json",
        *(f"made{title}.{kind}" for title in ("", "-untitled") for kind in ("svg", "png", "pdf")),
    ]  # fmt: skip
    assert files["t.csv"] == b"r\\ud800\n\\ud800\n"
    assert json.loads(files["t.json"]) == [{"r\ud800": "\ud800"}]
    assert "\\ud8000" in files["made.svg"].decode()
    assert [row["name"] for row in csv.DictReader(io.StringIO(files["made.csv"].decode()))] == ["\\ud8000", "\\ud8001"]  # fmt: skip


def test_headers_that_repeat_are_numbered() -> None:
    header, records = records_of(
        [Column("run"), Column("run", "value"), Column("run 2", "value")], [("bm25", 0.5, 0.25)]
    )
    assert header == ["run", "run 3", "run 2"]
    assert records == [{"run": "bm25", "run 3": 0.5, "run 2": 0.25}]
    ranged = records_of([Column("a", "value"), Column("a", "value")], [(ValueRange(2, 1, 3), ValueRange(5, 4, 6))])
    assert list(ranged[1][0].values()) == [2, 1, 3, 5, 4, 6]


@given(st.lists(st.sampled_from(["a", "a 2", "a 3", "b", ""]), max_size=8))
def test_numbered_headers_are_distinct_and_keep_what_was_there_first(headers: list[str]) -> None:
    out = number_headers(headers)
    assert len(set(out)) == len(out) == len(headers)
    for i, header in enumerate(headers):
        assert out[i] == header if header not in headers[:i] else out[i].startswith(f"{header} ")


@given(st.lists(st.text(max_size=90) | st.sampled_from(["a", "A", "a-2", "con", "../x", "."]), max_size=8))
def test_names_of_files_are_safe_and_distinct_on_any_disk(names: list[str]) -> None:
    files = named(*names)
    assert len({name.lower() for name in files}) == len(names)
    for name in files:
        assert re.fullmatch(r"[a-z0-9-]{1,70}\.csv", name)
        assert name not in {"con.csv", "nul.csv", "com1.csv"}


def test_names_of_files_say_what_they_hold() -> None:
    assert named("Scores of nDCG@10", "../../etc/passwd", "", "CON", "a", "A") == [
        "scores-of-ndcg-10.csv",
        "etc-passwd.csv",
        "of-all.csv",
        "con-.csv",
        "a.csv",
        "a-2.csv",
    ]


def test_a_figure_that_fails_is_told_when_all_else_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(chart: Chart) -> Any:
        if chart.name != "good":
            raise InputError(f"chart {chart.name}: it cannot be drawn: so")
        yield True, "svg", b""

    monkeypatch.setattr(export, "pictures_of", fails)
    charts = [replace(chart("bars"), name=name) for name in ("bad", "good", "worse")]
    files, found = files_of(page(*charts)), list[str]()

    def all_of() -> None:
        found.extend(name for name, _ in islice(files, 7))
        next(files)

    with pytest.raises(InputError, match=r"^chart bad: it cannot be drawn: so \(and 1 more\). The rest was exported$"):
        all_of()
    assert found == ["bad.csv", "bad.json", "good.csv", "good.json", "good.svg", "worse.csv", "worse.json"]
