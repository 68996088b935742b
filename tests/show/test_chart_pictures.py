"""Charts as pictures, which show what they should, and the script that draws them in a browser."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.show.made_charts import FORMS, chart, letters, made, rows_of_anything, valid

from rankscope.blocks import Chart, Column, Form
from rankscope.errors import InputError, MissingExtraError
from rankscope.show.charts import pdf_of, pictures_of, png_of, prepare_runtime, runtime, spec_of, svg_of

Need = Callable[[str], ModuleType]


@pytest.fixture(autouse=True)
def _extra(need: Need) -> None:
    need("altair")
    need("vl_convert")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_valid_and_drawn_with_its_titles(form: Form) -> None:
    given = chart(form, marked="marked", caption="How to read it")
    spec = valid(given)
    assert spec["data"] == {"name": "rows"}
    assert spec["usermeta"] == {"name": "made", "query": "c6", "panels": 1} | (
        {} if form in {"intervals", "stacked", "heat"} else {"level": True}
    )
    assert spec["width"] == "container"
    assert not {"config", "datasets", "title"} & set(spec)
    said = letters(svg_of(given))
    assert f"All of {form}" in said
    assert "How to read it" in said
    assert given.x in said.split() or given.x == "name"


@pytest.mark.parametrize("form", FORMS)
def test_without_rows_there_is_a_picture_that_says_so(form: Form) -> None:
    for panel in ("", "panel"):
        given = chart(form, (), panel=panel)
        valid(given)
        assert "nothing to show" in letters(svg_of(given))


@settings(max_examples=15)
@given(form=st.sampled_from(FORMS), rows=rows_of_anything)
def test_whatever_the_rows_the_picture_is_well_formed(form: Form, rows: Any) -> None:
    ET.fromstring(svg_of(chart(form, tuple(rows), label="name")))


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


def test_all_files_of_a_chart_come_from_two_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankscope.show.charts import spec

    given, draw, drawings = chart("bars"), spec._draw, []
    single = {
        (title, kind): data if isinstance(data := make(given, title=title), bytes) else data.encode()
        for title in (True, False)
        for kind, make in (("svg", svg_of), ("png", png_of), ("pdf", pdf_of))
    }

    def counted(*options: Any) -> Any:
        drawings.append(1)
        return draw(*options)

    monkeypatch.setattr(spec, "_draw", counted)
    files = {(title, kind): data for title, kind, data in pictures_of(given)}
    assert len(drawings) == 2
    assert files.keys() == single.keys()
    assert all(data == single[key] for key, data in files.items() if key[1] != "pdf")  # a PDF holds the time


@pytest.mark.parametrize("form", FORMS)
def test_pictures_are_as_wide_as_asked(form: Form) -> None:
    for panel in ("", "panel"):
        given = chart(form, made(panels=4), panel=panel)
        drawn = float(ET.fromstring(svg_of(given, width=640)).attrib["width"])
        assert 500 <= drawn <= 670, (form, panel)


@pytest.mark.parametrize("form", FORMS)
def test_pictures_without_a_title_say_on_their_axes_what_they_show(form: Form) -> None:
    titled = chart(form)
    given = replace(
        titled, title="The title", caption="The caption.",
        columns=tuple(replace(column, hint=f"meaning of {i}") for i, column in enumerate(titled.columns)),
    )  # fmt: skip
    whole, bare = svg_of(given), svg_of(given, title=False)
    assert ">The title<" in whole
    assert ">The caption.<" in whole
    assert not re.search(r"<text[^>]*>The (title|caption)", bare)
    assert set(re.findall(r">[^<]*\(meaning of \d\)<", bare)) or "role-axis-title" not in bare
    assert "(meaning of" not in "".join(re.findall(r"<text[^>]*>[^<]*<", whole))
    for title in (True, False):
        assert pdf_of(given, title=title).startswith(b"%PDF")


@pytest.mark.parametrize("form", FORMS)
def test_a_picture_that_fails_is_an_error_that_names_its_chart(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankscope.show.charts import spec

    given, right = chart(form), spec._fill

    def wrong(change: dict[str, Any]) -> None:
        monkeypatch.setattr(spec, "_fill", lambda chart, width, titled: {**right(chart, width, titled), **change})

    for draw in (svg_of, png_of, pdf_of):
        wrong({"mark": "no mark", "layer": []})
        with pytest.raises(InputError, match=r"^chart made: it cannot be drawn: .+$"):
            draw(given)
        wrong({"transform": [{"stack": "c3", "groupby": ["c0"], "as": ["a", "b"]}],
               "datasets": {"rows": [{"c0": "constructor", "c3": 1}]}})  # fmt: skip
        with pytest.raises(InputError, match=r"^chart made: it cannot be drawn: its picture came out empty$"):
            draw(given)


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    for make in (lambda: spec_of(chart("bars")), prepare_runtime.__wrapped__, lambda: svg_of(chart("bars"))):
        with pytest.raises(
            MissingExtraError,
            match=r"need altair, jinja2, platformdirs and vl-convert-python: pip install 'rankscope\[report\]'$",
        ):
            make()


def test_importing_charts_imports_nothing_of_the_extra() -> None:
    code = "import sys, rankscope.show.charts, rankscope.show.terminal; print({'altair', 'vl_convert', 'jinja2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_an_axis_says_what_its_chart_gives_it_to_say_where_there_is_no_title() -> None:
    titled = chart("bars")
    given = replace(titled, axes=((titled.y, "a long account of what is drawn here, which takes more than one line"),))
    lines = re.findall(r">([^<]+)<", svg_of(given, title=False))
    assert "a long account of what is drawn here, which" in lines
    assert "takes more than one line" in lines
    assert "takes more than one line" not in svg_of(given)


def test_a_legend_names_better_before_same_before_worse_whatever_comes_first() -> None:
    from rankscope.show.charts.marks import series_of

    rows = tuple((i / 10, i / 10, name) for i, name in enumerate(("worse", "better", "same")))
    columns = (Column("x", "value"), Column("y", "value"), Column("outcome"))
    series = series_of(Chart("c", "t", "points", columns, rows, x="x", y="y", series="outcome"))
    assert series is not None
    assert series.names == ("better", "same", "worse")
