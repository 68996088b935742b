"""Charts as pictures, and the script that draws them in a browser: both from vl-convert, with no browser and no network."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from rankscope.blocks import Chart
from rankscope.show.charts.data import data_of
from rankscope.show.charts.spec import titled
from rankscope.show.charts.theme import PAPER, PICTURE_FONT, config_of
from rankscope.show.extra import needed

SNIPPET = "window.vegaEmbed = vegaEmbed; window.vega = vega;"


def svg_of(chart: Chart, dark: bool = False, width: int = 640) -> str:
    """A chart as SVG with its title and caption, on no paper of its own. Raises MissingExtraError without the extra ``report``."""
    drawn: str = needed("vl_convert").vegalite_to_svg(
        _filled(chart, width), vl_version=_version(), config=_config(dark), allowed_base_urls=[]
    )
    return _numbered(drawn)


def png_of(chart: Chart, dark: bool = False, width: int = 640, scale: float = 2) -> bytes:
    """A chart as PNG with its title and caption, on paper of the theme: a picture gets pasted anywhere.

    ``scale`` is how many dots a pixel has. Raises MissingExtraError without the extra ``report``.
    """
    config = {**_config(dark), "background": PAPER["dark" if dark else "light"], "padding": 12}
    drawn: bytes = needed("vl_convert").vegalite_to_png(
        _filled(chart, width), vl_version=_version(), config=config, scale=scale, allowed_base_urls=[]
    )
    return drawn


@cache
def runtime() -> str:
    """The script that draws charts in a browser, with all it needs: it puts ``vegaEmbed`` and ``vega`` on ``window``.

    Always the same bytes for the same versions of altair and vl-convert. Raises MissingExtraError without the extra ``report``.
    """
    script: str = needed("vl_convert").javascript_bundle(SNIPPET, vl_version=_version())
    return script


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
