"""A chart as a specification of Vega-Lite, for a page or for a picture."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

from rankscope.blocks import Chart
from rankscope.errors import InputError
from rankscope.show.charts.data import data_of, field_of, names_of, parts_of, query_field, safe
from rankscope.show.charts.marks import (
    Canvas,
    Plot,
    apart,
    bars,
    heat,
    intervals,
    is_horizontal,
    lines,
    ordered,
    points,
    stack,
)
from rankscope.show.charts.theme import PAPER, PICTURE_FONT, config_of
from rankscope.show.extra import import_extra
from rankscope.store import write_file
from rankscope.words import printable

FORMS: dict[str, Callable[[Canvas], Plot]] = {
    "intervals": intervals, "bars": bars, "ordered": ordered, "stacked": stack, "points": points, "lines": lines,
    "steps": lines, "heat": heat,
}  # fmt: skip
ROLES = ("role-title", "role-mark")  # a title and marks, drawn or not, are in every picture
AXIS = 44  # characters per line of an axis label without a title
MARGIN = 10  # of paper around a picture that has some
VIEW = re.compile(r'width="([\d.]+)" height="([\d.]+)" viewBox="0 0 [\d. ]+">')
HALVES = "backslashreplace"  # lone surrogates, which no file can hold, are written as escapes
NARROW = 200  # a panel that has room on a phone, in pixels


def spec_of(chart: Chart) -> dict[str, Any]:
    """Return a chart as a specification of Vega-Lite, to be drawn over the rows of ``data_of`` under the name ``rows``.

    It is as wide as its element, without colours of paper and ink, which a theme sets, and without its title, which a page shows.
    ``usermeta`` holds the ``name`` of the chart, ``query``, the field with the id of the query of a mark (or None), and ``panels``,
    the number of small charts. Panels are one below the other, each narrow enough for a phone, as their width must be a number. A page with
    more space sets ``columns`` and ``spec.width``: ``usermeta.left`` is the width in pixels left of a panel, or of a row of panels if
    it is ``shared``. ``usermeta.level`` is true if the plot may be lower on paper; names below each other need their height.
    Raises MissingExtraError without the extra ``report``.
    """
    return _spec(chart, None)


def _spec(chart: Chart, width: int | None) -> dict[str, Any]:
    alt = import_extra("altair")
    panels = names_of(chart, chart.panel)
    with import_extra("altair.utils.schemapi").debug_mode(False):
        canvas = Canvas(chart, alt, width)
        drawn = _facet(canvas, panels) if len(panels) > 1 else _single(canvas)
        spec: dict[str, Any] = drawn.to_dict(validate=False)
    for key in ("config", "autosize"):
        spec.pop(key, None)
    if width is not None and "facet" not in spec:
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    description = ". ".join(safe(text).rstrip(".") for text in (chart.title, chart.caption) if text)
    meta = {"name": safe(chart.name), "query": query_field(chart), "panels": max(len(panels), 1)}
    if not _name_down(chart):
        meta["level"] = True
    if len(panels) == 1:
        spec["title"] = {"text": panels[0], "fontSize": 11.5, "offset": 6}
    if "facet" in spec:
        meta |= {"left": _pixels_left(chart), "shared": _alike(chart)}
    return {**spec, "description": description, "usermeta": meta}


def _single(canvas: Canvas) -> Any:
    chart, alt = canvas.chart, canvas.alt
    width = canvas.width or "container"
    rows = alt.NamedData("rows")
    if not chart.rows:
        text = canvas.once("text", style="quietly", text="nothing to show")
        return alt.layer(text, data=rows).properties(width=width, height=50)
    layers, step = FORMS[chart.form](canvas)
    height = _height(len(names_of(chart, _downward(chart))), step)
    return alt.layer(*layers, data=rows).properties(width=width, height=height)


def _downward(chart: Chart) -> str:
    """Return the header of the names below each other, or empty."""
    return chart.x if chart.form == "bars" else chart.y


def _height(names: int, step: float) -> int:
    """Return the height in pixels: a ``step`` for each name, or the plot's own height, a negative step."""
    return round(-step if step < 0 else max(names, 1) * step)


def _facet(canvas: Canvas, panels: list[str]) -> Any:
    """Draw one small chart per panel, with common names and scales if they are alike."""
    chart, alt = canvas.chart, canvas.alt
    columns = 1 if canvas.width is None else max(1, min(len(panels), canvas.width // 300))
    layers, step = FORMS[chart.form](canvas)
    names = [len(names_of(part, _downward(chart))) for part in parts_of(chart)]
    down, alike = step > 0, _alike(chart)
    height = _height(max(names), step if down else step * 0.7)
    wide = NARROW
    if canvas.width is not None:
        left = _pixels_left(chart) * (1 if alike else columns)
        wide = max(NARROW - 60, (canvas.width - 20 - left - 24 * (columns - 1)) // columns)
    facet = alt.Facet(f"{field_of(chart, chart.panel)}:N", sort=panels, header=alt.Header(title=None))
    drawn = alt.layer(*layers, data=alt.NamedData("rows")).properties(width=wide, height=height)
    drawn = drawn.facet(facet=facet, columns=columns, spacing=18).resolve_axis(x="independent")
    own = {"y": "independent"} if down and not alike else {}
    if apart(chart):
        own["x" if down else "y"] = "independent"
    return drawn.resolve_scale(**own) if own else drawn


def _pixels_left(chart: Chart) -> int:
    """Return the width left of a panel: names, or an axis of numbers."""
    if not _name_down(chart):
        return 68
    return min(110, max(map(len, names_of(chart, _downward(chart))), default=0) * 7) + 20


def _alike(chart: Chart) -> bool:
    """True if panels share their left side: the same names in all, or numbers on one scale."""
    if not _name_down(chart):
        return not apart(chart)
    sets = [names_of(part, _downward(chart)) for part in parts_of(chart)]
    return all(names == sets[0] for names in sets)


def _name_down(chart: Chart) -> bool:
    return chart.form in {"intervals", "stacked", "heat"} or (chart.form == "bars" and is_horizontal(chart))


def svg_of(chart: Chart, dark: bool = False, width: int = 640, *, title: bool = True) -> str:
    """Return a chart as SVG, with its title and caption or without (for a paper), on a transparent background."""
    return _draw(chart, _fill(chart, width, title), _config(dark))


def png_of(chart: Chart, dark: bool = False, width: int = 640, scale: float = 2, *, title: bool = True) -> bytes:
    """A chart as PNG with its title and caption, or without, on paper of the theme: a picture gets pasted anywhere."""
    return _png(svg_of(chart, dark, width, title=title), PAPER["dark" if dark else "light"], scale)


def pdf_of(chart: Chart, width: int = 640, *, title: bool = True) -> bytes:
    """A chart as PDF with its title and caption, or without, on no paper of its own: for LaTeX."""
    drawn: bytes = import_extra("vl_convert").svg_to_pdf(svg_of(chart, width=width, title=title))
    return drawn


def pictures_of(chart: Chart, width: int = 640) -> Iterator[tuple[bool, str, bytes]]:
    """Yield a chart as ``svg``, ``png`` and ``pdf``, with its title (True) and without: each is drawn once."""
    spec, convert = _spec(chart, width), import_extra("vl_convert")
    for title in (True, False):
        svg = _draw(chart, _fill(chart, width, title, spec), _config(False))
        yield title, "svg", svg.encode("utf-8", HALVES)
        yield title, "png", _png(svg, PAPER["light"], 2)
        yield title, "pdf", convert.svg_to_pdf(svg)


def _png(svg: str, paper: str, scale: float) -> bytes:
    """Return a picture as PNG on paper with a margin, as wide as before."""
    size = VIEW.search(svg)
    assert size is not None, "every picture has a size"
    wide, high = (float(side) + 2 * MARGIN for side in size.groups())
    view = f'width="{size[1]}" height="{high * float(size[1]) / wide:.0f}" viewBox="-{MARGIN} -{MARGIN} {wide:g} {high:g}">'
    ground = f'<rect x="-{MARGIN}" y="-{MARGIN}" width="{wide:g}" height="{high:g}" fill="{paper}"/>'
    drawn: bytes = import_extra("vl_convert").svg_to_png(svg.replace(size[0], view + ground, 1), scale=scale)
    return drawn


def runtime() -> str:
    """The script that draws charts in a browser, with all it needs: it puts ``vegaEmbed`` on ``window``."""
    return prepare_runtime().result()


@cache
def prepare_runtime() -> Future[str]:
    """Start to bundle the script of ``runtime``: it takes more than a second, in which a page can be computed."""
    return ThreadPoolExecutor(1).submit(kept_runtime, import_extra("vl_convert"), _version())


def kept_runtime(convert: Any, version: str) -> str:
    """Return the script from the user's cache, where a report before this one left it, otherwise bundle it and leave it there."""
    cache: Path = import_extra("platformdirs").user_cache_path("rankscope")
    kept = cache / f"charts-{convert.__version__}-{version}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_bytes().decode()
    script: str = convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    with suppress(OSError, InputError):  # a page needs no cache
        if cache.is_absolute():  # a user without a home has none
            cache.mkdir(parents=True, exist_ok=True)
            write_file(kept, [script])
    return script


def _draw(chart: Chart, spec: dict[str, Any], config: dict[str, Any]) -> str:
    """Return the picture as SVG. The runtime only logs failures and returns an empty picture, which is an error as well."""
    convert = import_extra("vl_convert")
    try:
        drawn: str = convert.vegalite_to_svg(spec, vl_version=_version(), config=config, allowed_base_urls=[])
    except ValueError as error:
        lines = str(error).strip().splitlines()  # the first is without its place in a script
        reason = printable(lines[0])[:200] if lines else "no reason was given"
        raise InputError(f"chart {safe(chart.name)}: it cannot be drawn: {reason}") from None
    if not all(part in drawn for part in ROLES[0 if isinstance(spec.get("title"), dict) else 1 :]):
        raise InputError(f"chart {safe(chart.name)}: it cannot be drawn: its picture came out empty")
    # vl-convert counts gradients on from picture to picture
    for i, name in enumerate(dict.fromkeys(re.findall(r'<linearGradient id="(gradient_\d+)"', drawn))):
        drawn = drawn.replace(f'id="{name}"', f'id="shades-{i}"').replace(f"url(#{name})", f"url(#shades-{i})")
    return drawn


def _config(dark: bool) -> dict[str, Any]:
    return {**config_of(dark), "font": PICTURE_FONT}


def _version() -> str:
    """Return the version of Vega-Lite of the specifications, otherwise the newest installed one."""
    spoken = import_extra("altair").SCHEMA_VERSION.lstrip("v").split(".")
    there: list[str] = import_extra("vl_convert").get_vegalite_versions()
    exact = ".".join(spoken[:2])
    alike = [version for version in there if version.split(".")[0] == spoken[0]]
    return exact if exact in there else max(alike or there, key=lambda v: [int(part) for part in v.split(".")])


def _name_axes(spec: Any, names: Mapping[str, Sequence[str]]) -> Any:
    """Return a specification with these axis labels, each in lines."""
    if isinstance(spec, list):
        return [_name_axes(part, names) for part in spec]
    if not isinstance(spec, dict):
        return spec
    out = {key: part if key == "datasets" else _name_axes(part, names) for key, part in spec.items()}
    titled = out["axis"] if isinstance(out.get("axis"), dict) and "title" in out["axis"] else out
    title = titled.get("title")
    # a title in lines is a list
    if isinstance(title, str) and title in names and (titled is not out or "field" in out):
        titled["title"] = names[title]
    return out


def _fill(chart: Chart, width: int, titled: bool, drawn: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the specification of a picture with its title, caption and rows, without the ids, which may hold control characters."""
    rows = [{key: value for key, value in row.items() if not key.endswith("_id")} for row in data_of(chart)]
    spec = {**(drawn or _spec(chart, width)), "datasets": {"rows": rows}}
    if not titled:  # axis labels replace the title and caption
        titles = {c.header: f"{c.header} ({c.hint})" for c in chart.columns if c.hint} | dict(chart.axes)
        lines = {safe(header): textwrap.wrap(safe(text), AXIS) for header, text in titles.items()}
        return cast(dict[str, Any], _name_axes(spec, {header: line for header, line in lines.items() if line}))
    title = textwrap.wrap(safe(chart.title), max(20, width // 8)) or [""]
    caption = textwrap.wrap(safe(chart.caption), max(24, round(width / 5.6)))
    if "title" in spec:
        caption.append(spec["title"]["text"])
    return {**spec, "title": {"text": title, **({"subtitle": caption} if caption else {})}}
