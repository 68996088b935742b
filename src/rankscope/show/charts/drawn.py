"""Charts as pictures, and the script that draws them in a browser: both from vl-convert, with no browser and no network."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from rankscope.blocks import Chart
from rankscope.errors import InputError
from rankscope.show.cells import printable
from rankscope.show.charts.data import data_of, safe
from rankscope.show.charts.spec import titled
from rankscope.show.charts.theme import PAPER, PICTURE_FONT, config_of
from rankscope.show.extra import needed

ROLES = ("role-title", "role-mark")  # a title and marks, drawn or not, are in every picture
SNIPPET = "window.vegaEmbed = vegaEmbed;"


def svg_of(chart: Chart, dark: bool = False, width: int = 640) -> str:
    """A chart as SVG with its title and caption, on no paper of its own.

    Raises InputError where it cannot be drawn, MissingExtraError without the extra ``report``.
    """
    return _numbered(_drawn(chart, width, _config(dark)))


def png_of(chart: Chart, dark: bool = False, width: int = 640, scale: float = 2) -> bytes:
    """A chart as PNG with its title and caption, on paper of the theme: a picture gets pasted anywhere.

    ``scale`` is how many dots a pixel has. Raises InputError where it cannot be drawn, MissingExtraError without the extra ``report``.
    """
    config = {**_config(dark), "background": PAPER["dark" if dark else "light"], "padding": 12}
    drawn: bytes = needed("vl_convert").svg_to_png(_drawn(chart, width, config), scale=scale)
    return drawn


@cache
def runtime() -> str:
    """The script that draws charts in a browser, with all it needs: it puts ``vegaEmbed`` on ``window``.

    Always the same bytes for the same versions of altair and vl-convert. Raises MissingExtraError without the extra ``report``.
    """
    script: str = needed("vl_convert").javascript_bundle(SNIPPET, vl_version=_version())
    return script


def _drawn(chart: Chart, width: int, config: dict[str, Any]) -> str:
    """The picture as SVG. The runtime only logs what fails while it draws, and gives an empty picture: that is an error, too."""
    convert, spec = needed("vl_convert"), _filled(chart, width)
    try:
        drawn: str = convert.vegalite_to_svg(spec, vl_version=_version(), config=config, allowed_base_urls=[])
    except ValueError as error:
        raise InputError(f"chart {safe(chart.name)}: it cannot be drawn: {_first(error)}") from error
    if not all(part in drawn for part in ROLES):
        raise InputError(f"chart {safe(chart.name)}: it cannot be drawn: its picture came out empty")
    return drawn


def _first(error: ValueError) -> str:
    """The first line of an error, without where in a script it came from."""
    lines = str(error).strip().splitlines()
    return printable(lines[0])[:200] if lines else "no reason was given"


def _numbered(svg: str) -> str:
    """The picture with its gradients numbered anew: vl-convert counts them on from picture to picture."""
    names = dict.fromkeys(re.findall(r'<linearGradient id="(gradient_\d+)"', svg))
    for i, name in enumerate(names):
        svg = svg.replace(f'id="{name}"', f'id="shades-{i}"').replace(f"url(#{name})", f"url(#shades-{i})")
    return svg


def _config(dark: bool) -> dict[str, Any]:
    return {**config_of(dark), "font": PICTURE_FONT}


def _version() -> str:
    """The version of Vega-Lite that the specifications are written for, or else the newest of its kind that is there."""
    spoken = needed("altair").SCHEMA_VERSION.lstrip("v").split(".")
    there: list[str] = needed("vl_convert").get_vegalite_versions()
    exact = ".".join(spoken[:2])
    alike = [version for version in there if version.split(".")[0] == spoken[0]]
    return (
        exact if exact in there else max(alike or there, key=lambda v: [int(part) for part in v.split(".")])
    )


def _filled(chart: Chart, width: int) -> dict[str, Any]:
    """The specification with its rows; ids as they are stay out, for a picture opens nothing and must hold no control character."""
    rows = [{key: value for key, value in row.items() if not key.endswith("_id")} for row in data_of(chart)]
    return {**titled(chart, width), "datasets": {"rows": rows}}
