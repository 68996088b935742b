"""Charts: specifications that Vega-Lite takes, data that any JSON reader takes, pictures that show what they should."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.blocks import Chart, Column, Form, Ranged, Value
from rankscope.errors import MissingExtraError
from rankscope.show.charts import config_of, data_of, png_of, runtime, spec_of, svg_of, themes
from rankscope.show.charts.data import names_of, query_field
from rankscope.show.charts.looks import series_of
from rankscope.show.charts.theme import GREY, PALETTE, PAPER
from rankscope.show.extra import needed

Need = Callable[[str], ModuleType]
COLUMNS = (
    Column("name"),
    Column("other"),
    Column("value", "value"),
    Column("count", "count"),
    Column("panel"),
    Column("marked", "count"),
    Column("query", queries=True),
)
AXES: dict[Form, tuple[str, str]] = {
    "intervals": ("value", "name"),
    "bars": ("name", "value"),
    "ordered": ("count", "value"),
    "stacked": ("count", "name"),
    "points": ("count", "value"),
    "lines": ("count", "value"),
    "steps": ("count", "value"),
    "heat": ("name", "other"),
}
FORMS = list(AXES)
NASTY = (
    "a.b[0]",
    'it\'s "quoted" \\',
    "</script><script>alert(1)</script>",
    "a\nb\x00\x1b",
    "x" * 500,
    "\u2028 é 名",
    "\ud800",
)


def chart(form: Form, rows: tuple[tuple[Value, ...], ...] | None = None, **more: Any) -> Chart:
    x, y = AXES[form]
    more = {"series": "other", "colour": "value" if form == "heat" else "", "query": "query"} | more
    if form == "heat":
        more["series"] = ""
    return Chart("made", f"All of {form}", form, COLUMNS, made() if rows is None else rows, x=x, y=y, **more)


def made(names: int = 3, others: int = 2, panels: int = 1) -> tuple[tuple[Value, ...], ...]:
    places = [(i, j, p) for p in range(panels) for i in range(names) for j in range(others)]
    return tuple(
        (
            f"name {i}",
            f"other {j}",
            Ranged(v := (i + j) / 10, v - 0.05, v + 0.1),
            i * others + j + 1,
            f"panel {p}",
            j % 2,
            f"q{i}",
        )
        for i, j, p in places
    )


@cache
def schema() -> Any:
    """What Altair says that Vega-Lite takes."""
    return needed("jsonschema").Draft7Validator(needed("altair").load_schema())


def valid(given: Chart) -> dict[str, Any]:
    """The specification of a chart, held against the schema of Vega-Lite."""
    spec = spec_of(given)
    schema().validate({**spec, "config": config_of()})
    json.dumps([spec, data_of(given)], allow_nan=False)
    return spec


@pytest.fixture(autouse=True)
def _extra(need: Need) -> None:
    need("altair")
    need("vl_convert")


def letters(svg: str) -> str:
    """All the text of a picture, which is read as XML."""
    return " ".join(node.text or "" for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_valid_and_drawn_with_its_titles(form: Form) -> None:
    given = chart(form, marked="marked", caption="How to read it")
    spec = valid(given)
    assert spec["data"] == {"name": "rows"}
    assert spec["usermeta"] == {"name": "made", "query": "c6", "panels": 1}
    assert spec["width"] == "container"
    assert not {"config", "datasets", "title"} & set(spec)
    said = letters(svg_of(given))
    assert f"All of {form}" in said
    assert "How to read it" in said
    assert given.x in said.split() or given.x == "name"


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
def test_without_rows_there_is_a_picture_that_says_so(form: Form) -> None:
    for panel in ("", "panel"):
        given = chart(form, (), panel=panel)
        valid(given)
        assert "nothing to show" in letters(svg_of(given))


@pytest.mark.parametrize("form", FORMS)
def test_rows_without_values_are_drawn(form: Form) -> None:
    rows = (
        (None,) * len(COLUMNS),
        ("a", None, math.nan, math.inf, "p", None, "q"),
        ("b", "c", Ranged(math.nan, -math.inf, 1.0), 0, "p", 0, None),
    )
    for more in ({}, {"panel": "panel"}, {"logs": frozenset("xy")}):
        valid(chart(form, rows, marked="marked", **more))
    svg_of(chart(form, rows, marked="marked"))


@pytest.mark.parametrize("form", FORMS)
def test_no_name_breaks_a_chart(form: Form) -> None:
    columns = tuple(
        Column(f"{c.header} {NASTY[i]}", c.kind, queries=c.queries) for i, c in enumerate(COLUMNS)
    )
    heads = {old.header: new.header for old, new in zip(COLUMNS, columns, strict=True)}
    rows = tuple(
        (n, m, (i + j) / 10, 1 + i + j, m, 1, n) for i, n in enumerate(NASTY) for j, m in enumerate(NASTY[:3])
    )
    old = chart(form, rows, label="name")
    roles = {
        role: heads.get(getattr(old, role), "") for role in ("x", "y", "series", "colour", "query", "label")
    }
    given = replace(old, columns=columns, title="</title>\x00<b>", **roles)  # type: ignore[arg-type]
    valid(given)
    svg = svg_of(given)
    assert "</title>\\x00<b>" in letters(svg)
    assert not {"\x00", "\x1b", "\ud800"} & set(svg)
    assert "<script" not in svg


rows_of_anything = st.lists(
    st.tuples(
        st.none() | st.text(max_size=12),
        st.sampled_from(["better", "worse", "same", "é", None]),
        st.none() | st.floats() | st.builds(Ranged, st.floats(), st.floats(), st.floats()),
        st.none() | st.integers(-(10**6), 10**6),
        st.none() | st.text(max_size=3),
        st.sampled_from([0, 1]),
        st.none() | st.text(max_size=8),
    ),
    max_size=8,
)


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


@settings(max_examples=15)
@given(form=st.sampled_from(FORMS), rows=rows_of_anything)
def test_whatever_the_rows_the_picture_is_well_formed(form: Form, rows: Any) -> None:
    ET.fromstring(svg_of(chart(form, tuple(rows), label="name")))


def test_data_hold_every_value() -> None:
    rows = made()
    records = data_of(chart("points", rows))
    assert len(records) == len(rows)
    for record, row in zip(records, rows, strict=True):
        assert isinstance(row[2], Ranged)
        assert [record[f"c{i}"] for i in (0, 1, 3, 4, 5, 6)] == [row[i] for i in (0, 1, 3, 4, 5, 6)]
        assert Ranged(record["c2"], record["c2_low"], record["c2_high"]) == row[2]


def test_numbers_that_name_are_text_and_ids_can_be_had_as_they_are() -> None:
    columns = (Column("grade", "count"), Column("n", "count"), Column("id"))
    given = Chart("g", "G", "bars", columns, ((1, 5, "q\x1b"), (2, None, None)), x="grade", y="n", query="id")
    assert names_of(given, "grade") == ["1", "2"]
    assert data_of(given) == [
        {"c0": "1", "c1": 5, "c2": "q\\x1b", "c2_id": "q\x1b"},
        {"c0": "2", "c1": None, "c2": None, "c2_id": None},
    ]
    assert query_field(given) == "c2_id" == spec_of(given)["usermeta"]["query"]


def test_better_and_worse_have_colours_and_shapes_of_their_own() -> None:
    rows = tuple((w, w, 0.1, 1, "", 1, "q") for w in ("worse", "bm25", "same", "better"))
    series = series_of(chart("points", rows))
    assert series is not None
    look = dict(zip(series.names, zip(series.colours, series.shapes, strict=True), strict=True))
    assert look["better"] == (PALETTE[0], "triangle-up")
    assert look["worse"] == (PALETTE[1], "triangle-down")
    assert look["same"][0] == GREY
    assert look["bm25"][0] == PALETTE[2]


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
    paper = luminance(PAPER[theme])
    for colour in (*PALETTE, GREY):
        low, high = sorted((paper, luminance(colour)))
        assert (high + 0.05) / (low + 0.05) >= 3.0, colour


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


def test_specifications_are_the_same_each_time() -> None:
    for form in FORMS:
        given = chart(form, made(panels=2), panel="panel")
        assert json.dumps(spec_of(given)) == json.dumps(spec_of(given))
        assert svg_of(given) == svg_of(given)


def test_the_runtime_is_the_same_in_every_process() -> None:
    code = "import hashlib; from rankscope.show.charts import runtime; print(hashlib.sha256(runtime().encode()).hexdigest())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    script = runtime()
    assert other.stdout.strip() == hashlib.sha256(script.encode()).hexdigest()
    assert "window.vegaEmbed" in script
    assert "window.vega=" in script.replace(" ", "")
    assert len(script) < 1_000_000
    assert "</script" not in script.lower()
    assert "<!--" not in script


@pytest.mark.parametrize("dark", [False, True])
def test_png_is_a_picture_on_paper(dark: bool) -> None:
    picture = png_of(chart("intervals"), dark=dark, width=300, scale=1)
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    wide, high = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    assert wide == pytest.approx(300, abs=30)
    assert high > 100
    assert len(picture) > 3000


@pytest.mark.parametrize("form", FORMS)
def test_pictures_are_as_wide_as_asked(form: Form) -> None:
    for panel in ("", "panel"):
        given = chart(form, made(panels=4), panel=panel)
        drawn = float(ET.fromstring(svg_of(given, width=640)).attrib["width"])
        assert 500 <= drawn <= 670, (form, panel)


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    for make in (lambda: spec_of(chart("bars")), runtime.__wrapped__, lambda: svg_of(chart("bars"))):
        with pytest.raises(
            MissingExtraError,
            match=r"need altair, jinja2 and vl-convert-python: pip install 'rankscope\[report\]'$",
        ):
            make()


def test_importing_charts_imports_nothing_of_the_extra() -> None:
    code = "import sys, rankscope.show.charts, rankscope.show.terminal; print({'altair', 'vl_convert', 'jinja2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_series_looks_the_same_in_every_chart_that_names_its_order() -> None:
    def looks(names: list[str]) -> dict[str, str]:
        columns = (Column("x", "value"), Column("y", "value"), Column("run"))
        rows = tuple((float(i), 1.0, name) for i, name in enumerate(names))
        chart = Chart(
            "c", "t", "lines", columns, rows, x="x", y="y", series="run", order=tuple("abcdefghijkl")
        )
        found = series_of(chart)
        assert found is not None
        return dict(zip(found.names, found.colours, strict=True))

    both = looks(["b", "a"])
    assert list(both) == ["a", "b"]
    assert looks(["b"])["b"] == both["b"]
    assert (
        len(set(looks(["a", "k", "l"]).values())) == 3
    )  # beyond the eighth, a colour that nobody else here has
