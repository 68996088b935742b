"""Charts as specifications: ones that Vega-Lite takes, with data that any JSON reader takes."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.made.samples import sampled
from tests.show.made_charts import (
    COLUMNS,
    FORMS,
    INHERITED,
    NASTY,
    chart,
    letters,
    made,
    named_as,
    renamed,
    rows_of_anything,
    valid,
)  # fmt: skip

from rankscope.blocks import Chart, Column, Form, ValueRange
from rankscope.show.charts import config_of, data_of, spec_of, svg_of, themes
from rankscope.show.charts.data import UNSEEN, names_of, query_field
from rankscope.show.charts.marks import series_of, tellings
from rankscope.show.charts.spec import kept_runtime
from rankscope.show.charts.theme import GREY, MUTED, ORANGE, PALETTE, PAPER

Need = Callable[[str], ModuleType]


@pytest.fixture(autouse=True)
def _extra(need: Need) -> None:
    need("altair")
    need("vl_convert")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "more",
    [
        {"series": "", "query": ""},
        {"guide": "zero", "label": "name"},
        {"guide": "equal", "limits": (0.0, 1.0)},
        {"logs": frozenset(("x", "y")), "path": "marked"},
        {"panel": "panel", "middle": 0.1},
    ],
)
def test_every_option_is_valid(form: Form, more: dict[str, Any]) -> None:
    spec = valid(chart(form, made(panels=3), **more))
    if "panel" in more:
        assert spec["usermeta"]["panels"] == 3
        assert spec["facet"]["sort"] == ["panel 0", "panel 1", "panel 2"]
        assert spec["spec"]["width"] <= 240


@pytest.mark.parametrize("form", FORMS)
def test_rows_without_values_are_drawn(form: Form) -> None:
    rows = (
        (None,) * len(COLUMNS),
        ("a", None, math.nan, math.inf, "p", None, "q"),
        ("b", "c", ValueRange(math.nan, -math.inf, 1.0), 0, "p", 0, None),
    )
    for more in ({}, {"panel": "panel"}, {"logs": frozenset("xy")}):
        valid(chart(form, rows, marked="marked", **more))
    svg_of(chart(form, rows, marked="marked"))


@pytest.mark.parametrize("form", FORMS)
def test_no_name_breaks_a_chart(form: Form) -> None:
    heads = {column.header: f"{column.header} {NASTY[i]}" for i, column in enumerate(COLUMNS)}
    rows = tuple((n, m, (i + j) / 10, 1 + i + j, m, 1, n) for i, n in enumerate(NASTY) for j, m in enumerate(NASTY[:3]))
    old = chart(form, rows, label="name")
    given = replace(renamed(old, heads), title="</title>\x00<b>", name="\ud800")
    valid(given)
    svg = svg_of(given)
    assert "</title>\\x00<b>" in letters(svg)
    assert not {"\x00", "\x1b", "\ud800"} & set(svg)
    assert "<script" not in svg


@pytest.mark.parametrize("form", FORMS)
def test_what_every_object_has_is_a_name_like_any_other(form: Form) -> None:
    def marks(svg: str) -> Counter[str]:
        return Counter(re.findall(r'aria-roledescription="([^"]*)"', svg))

    for i, name in sampled(enumerate(INHERITED), 1):
        names = [*INHERITED[i:], *INHERITED[:i]]
        given = named_as(form, names)
        valid(given)
        svg = svg_of(given)
        plain = svg_of(named_as(form, ["x" * len(other) + chr(97 + j) for j, other in enumerate(names)]))
        assert marks(svg) == marks(plain), name
        assert name in letters(svg).replace(UNSEEN, ""), name
        assert len(letters(svg).replace(UNSEEN, "").split()) == len(letters(plain).split()), name
        records = data_of(given)
        texts = [at for at, column in enumerate(COLUMNS) if column.kind == "text"]
        assert [[record[f"c{at}_id"] for at in texts] for record in records] == [
            [row[at] for at in texts] for row in given.rows
        ]


def test_titles_may_be_what_every_object_has() -> None:
    for name in INHERITED:
        given = replace(chart("bars"), title=name, caption=name, name=name)
        assert letters(svg_of(given)).replace(UNSEEN, "").split().count(name) == 2


def test_headers_that_repeat_lose_nothing_on_hover() -> None:
    given = renamed(chart("points"), {"panel": "name", "query": "name"})
    told = valid(given)["layer"][-1]["encoding"]["tooltip"]["value"]["expr"]
    assert all(f'"{header}": ' in told for header in ("name", "name 2", "name 3"))
    svg_of(given)


@settings(max_examples=40)
@given(
    form=st.sampled_from(FORMS),
    rows=rows_of_anything,
    panel=st.booleans(),
    guide=st.sampled_from(["", "zero", "equal"]),
)
def test_whatever_the_rows_the_specification_is_valid(form: Form, rows: Any, panel: bool, guide: Any) -> None:
    given = chart(form, tuple(rows), panel="panel" if panel else "", guide=guide)
    valid(given)


@pytest.mark.parametrize(
    "values", [(0.0, 1.75e308), (-1.75e308, 0.0), (-1.75e308, 1.75e308)], ids=["up", "down", "both"]
)
def test_an_axis_ends_where_numbers_end(values: tuple[float, float]) -> None:
    rows = tuple((None, "better", value, None, None, 0, None) for value in values)
    valid(chart("intervals", rows, guide="equal"))  # as JSON, which has no infinity


def test_data_hold_every_value() -> None:
    rows = made()
    records = data_of(chart("points", rows))
    assert len(records) == len(rows)
    for record, row in zip(records, rows, strict=True):
        assert isinstance(row[2], ValueRange)
        assert [record[f"c{i}"] for i in (0, 1, 3, 4, 5, 6)] == [row[i] for i in (0, 1, 3, 4, 5, 6)]
        assert ValueRange(record["c2"], record["c2_low"], record["c2_high"]) == row[2]


def test_numbers_that_name_are_text_and_ids_can_be_had_as_they_are() -> None:
    columns = (Column("grade", "count"), Column("n", "count"), Column("id"))
    given = Chart("g", "G", "bars", columns, ((1, 5, "q\x1b"), (2, None, None)), x="grade", y="n", query="id")
    assert names_of(given, "grade") == ["1", "2"]
    assert data_of(given) == [
        {"c0": "1", "c0_id": 1, "c1": 5, "c2": "q\\x1b", "c2_id": "q\x1b"},
        {"c0": "2", "c0_id": 2, "c1": None, "c2": None, "c2_id": None},
    ]
    assert query_field(given) == "c2_id" == spec_of(given)["usermeta"]["query"]


def test_better_and_worse_have_colours_and_shapes_of_their_own() -> None:
    rows = tuple((w, w, 0.1, 1, "", 1, "q") for w in ("worse", "bm25", "same", "better"))
    series = series_of(chart("points", rows))
    assert series is not None
    look = dict(zip(series.names, zip(series.colours, series.shapes, strict=True), strict=True))
    assert look["better"] == (PALETTE[0], "triangle-up")
    assert look["worse"] == (ORANGE, "triangle-down")
    assert ORANGE not in PALETTE, "orange says worse, and is no run"
    assert look["same"][0] == GREY
    assert look["bm25"][0] == PALETTE[1]


def test_percentages_are_told_with_one_decimal() -> None:
    given = chart("intervals")
    heads = tuple(replace(c, header="lift in percent") if c.header == given.x else c for c in given.columns)
    told = dict(tellings(replace(given, columns=heads, x="lift in percent")))
    assert "',.1f'" in told["lift in percent"]
    assert "',.4f'" in dict(tellings(given))[given.x]


def test_no_colour_stands_for_two_series() -> None:
    given = chart("lines", made(2, 11))
    series = series_of(given)
    assert series is not None
    assert series.colours[:8] == PALETTE
    assert series.colours[8:] == (GREY,) * 3
    assert len(set(series.dashes[:8])) == len(set(series.shapes[:8])) == 8
    assert "3 others" in letters(svg_of(given))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_is_seen_on_paper_of_both_themes(theme: str) -> None:
    sheet = (Path(__file__).parents[2] / "src/rankscope/show/html/static/base.css").read_text(encoding="utf-8")
    boards = [pair[theme == "dark"] for pair in re.findall(r"-wash: light-dark\((#\w+), (#\w+)\)", sheet)]
    assert len(boards) >= 5
    papers = [PAPER[theme]]
    for colours, grounds in ((PALETTE, [*papers, *boards]), ((*MUTED, GREY), papers)):
        for colour, ground in product(colours, grounds):
            low, high = sorted((luminance(ground), luminance(colour)))
            assert (high + 0.05) / (low + 0.05) >= 3.0, (colour, ground)


def test_metrics_have_no_colour_of_a_run() -> None:
    given = chart("lines", made(2, 8))
    heads = tuple(replace(c, header="metric") if c.header == given.series else c for c in given.columns)
    series = series_of(replace(given, columns=heads, series="metric"))
    assert series is not None
    assert series.colours == MUTED
    assert not set(MUTED) & {*PALETTE, ORANGE, GREY}


@pytest.mark.parametrize("form", ["stacked", "heat"])
def test_the_axis_of_a_chart_that_is_cut_is_above_it(form: Form) -> None:
    for names, side in ((8, "bottom"), (24, "top")):
        axis = spec_of(chart(form, made(names, 2) if form == "stacked" else made(2, names)))["layer"][0]["encoding"][
            "x"
        ]["axis"]
        assert axis.get("orient", "bottom") == side


def test_themes_differ_in_colours_alone() -> None:
    light, dark = themes()["light"], themes()["dark"]
    assert light == config_of(False)
    assert dark == config_of(True)
    assert set(light) == set(dark)
    assert light["axis"]["labelColor"] != dark["axis"]["labelColor"]
    assert light["background"] == dark["background"] == "transparent"


def test_heights_grow_with_names() -> None:
    few, many = (valid(chart("intervals", made(n, 1), series=""))["height"] for n in (4, 40))
    assert many == 10 * few


def test_bars_of_many_or_long_names_lie() -> None:
    upright, lying = (spec_of(chart("bars", made(n, 1), series=""))["layer"][0]["encoding"] for n in (4, 40))
    assert upright["x"]["field"] == lying["y"]["field"] == "c0"


def test_equal_axes_have_one_domain() -> None:
    spec = spec_of(chart("points", guide="equal"))
    marks = spec["layer"][-1]["encoding"]
    assert marks["x"]["scale"]["domain"] == marks["y"]["scale"]["domain"]


def test_a_logarithm_loses_no_row() -> None:
    some = spec_of(chart("points", logs=frozenset("x")))["layer"][-1]["encoding"]["x"]["scale"]
    assert some["type"] == "log"
    rows = (*made(), ("z", "other 0", 0.1, 0, "", 1, "q"))  # a 0 has no place on a logarithmic axis
    none = spec_of(chart("points", rows, logs=frozenset("x")))["layer"][-1]["encoding"]["x"]["scale"]
    assert "type" not in none


def test_panels_of_other_sizes_have_scales_of_their_own() -> None:
    rows = made(panels=2)
    assert (
        "resolve" not in spec_of(chart("bars", rows, panel="panel"))
        or "scale" not in spec_of(chart("bars", rows, panel="panel"))["resolve"]
    )
    large = tuple((*row[:2], 1000.0 if row[4] == "panel 1" else row[2], *row[3:]) for row in rows)
    assert spec_of(chart("bars", large, panel="panel"))["resolve"]["scale"] == {"y": "independent"}


def test_one_panel_fills_the_page_and_keeps_its_name() -> None:
    given = chart("bars", panel="panel")
    spec = valid(given)
    assert spec["width"] == "container"
    assert spec["title"]["text"] == "panel 0"
    assert "panel 0" in letters(svg_of(given))


def test_cells_are_written_where_they_are_few() -> None:
    few, many = (spec_of(chart("heat", made(n, 10))) for n in (10, 40))
    assert [layer["mark"]["type"] for layer in few["layer"]] == ["rect", "text"]
    assert [layer["mark"]["type"] for layer in many["layer"]] == ["rect"]


def test_a_hover_tells_every_column() -> None:
    spec = spec_of(chart("points", made(1, 1)))
    told = spec["layer"][-1]["encoding"]["tooltip"]["value"]["expr"]
    assert all(json.dumps(column.header) in told for column in COLUMNS)


def test_a_series_looks_the_same_in_every_chart_that_names_its_order() -> None:
    def looks(names: list[str]) -> dict[str, str]:
        columns = (Column("x", "value"), Column("y", "value"), Column("run"))
        rows = tuple((float(i), 1.0, name) for i, name in enumerate(names))
        chart = Chart("c", "t", "lines", columns, rows, x="x", y="y", series="run", order=tuple("abcdefghijkl"))
        found = series_of(chart)
        assert found is not None
        return dict(zip(found.names, found.colours, strict=True))

    both = looks(["b", "a"])
    assert list(both) == ["a", "b"]
    assert looks(["b"])["b"] == both["b"]
    assert len(set(looks(["a", "k", "l"]).values())) == 3  # beyond the eighth, a colour that nobody else here has


def test_the_script_that_draws_charts_is_bundled_once_and_a_cache_that_fails_costs_time_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache, bundled = tmp_path / "a" / "cache", []

    def bundle(snippet: str, vl_version: str) -> str:
        bundled.append(vl_version)
        return f"{snippet} in\r\ntwo lines, {vl_version}"

    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: cache / name)
    tools = [SimpleNamespace(__version__=version, javascript_bundle=bundle) for version in ("1.0", "2.0")]
    scripts = [kept_runtime(tool, version) for tool in tools for version in ("5.1", "5.2") for _ in range(3)]
    assert bundled == ["5.1", "5.2", "5.1", "5.2"]
    assert len(set(scripts)) == 2
    (cache / "rankscope" / "charts-1.0-5.1.js").write_bytes(b"\xff")
    assert kept_runtime(tools[0], "5.1") == scripts[0]
    cache = tmp_path / "file"
    cache.write_text("")
    assert kept_runtime(tools[0], "5.1") == scripts[0]
