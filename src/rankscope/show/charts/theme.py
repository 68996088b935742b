"""Colours, fonts and sizes of charts in a light and a dark theme."""

from __future__ import annotations

from typing import Any

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"

# eight colours, distinct for every kind of colour blindness, each at 3:1 or more from paper and board of either theme;
# orange is reserved for worse
BLUE, ORANGE, GREY = "#1f6fc6", "#de6a0c", "#8a8f98"
PALETTE = (BLUE, "#c0609c", "#519951", "#a85cab", "#1d92cc", "#d0402a", "#2b8660", "#6c78fc")
# of metrics, which are no runs
MUTED = ("#7d8590", "#a8772a", "#74841c", "#9a6240", "#5c8291", "#8f6c8a", "#8b6f5a", "#6b8257")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (5, 2), (12, 4), (2, 4), (9, 2, 2, 2, 2, 2))  # fmt: skip
MEANINGS = {
    "better": (BLUE, "triangle-up"),
    "same": (GREY, "circle"),
    "cannot tell": (GREY, "diamond"),
    "worse": (ORANGE, "triangle-down"),
}  # in a legend's order

PICTURE_FONT = "Arial, Helvetica, sans-serif"  # in which vl-convert has letters of its own, and measures fast
PAPER = {"light": "#ffffff", "dark": "#14161a"}
INK = {
    "light": {"ink": "#181b21", "soft": "#474d58", "quiet": "#5d6470", "line": "#e3e5ea", "rule": "#8d94a0"},
    "dark": {"ink": "#e7e9ed", "soft": "#b7bdc8", "quiet": "#9aa1ae", "line": "#2c3139", "rule": "#7d8592"},
}
RAMP = {
    "light": ["#eef3fa", "#bcd4ee", "#7fb0df", "#3f83c6", "#185a9f", "#0b3a70"],
    "dark": ["#1c2530", "#1d4369", "#2467a4", "#4a90d3", "#8dbdec", "#d6e8fa"],
}
PARTED = {
    "light": ["#9a4403", "#de6a0c", "#f3b889", "#f1f2f4", "#a3c6ec", "#3f83c6", "#0d4a8f"],
    "dark": ["#ffc08a", "#e67a24", "#8a4512", "#23272e", "#1d4c80", "#3d8ad6", "#a9d0f7"],
}


def config_of(dark: bool = False) -> dict[str, Any]:
    """Return the configuration of Vega-Lite for one theme: the look of charts, without content.

    >>> config_of()["background"], config_of(dark=True)["axis"]["labelColor"]
    ('transparent', '#b7bdc8')
    """
    theme = "dark" if dark else "light"
    ink = INK[theme]
    words = {"labelColor": ink["soft"], "titleColor": ink["soft"], "labelFontSize": 11, "titleFontSize": 11.5, "titleFontWeight": "normal"}  # fmt: skip
    return {
        "background": "transparent",
        "font": FONT,
        "padding": 2,
        "view": {"stroke": None},
        "axis": {
            **words,
            "gridColor": ink["line"], "domainColor": ink["rule"], "tickColor": ink["rule"],
            "labelLimit": 180, "labelSeparation": 6, "titleLimit": 300, "titlePadding": 8, "tickSize": 4,
        },
        "axisBand": {"grid": False, "domain": False, "ticks": False, "labelPadding": 6},
        "legend": {**words, "orient": "top", "direction": "horizontal", "labelLimit": 180, "titleLimit": 180, "titleOrient": "left",
                   "titlePadding": 10, "symbolStrokeWidth": 2, "rowPadding": 3, "columnPadding": 14, "gradientThickness": 10},
        "header": {"labelColor": ink["ink"], "titleColor": ink["soft"], "labelFontSize": 11.5, "labelFontWeight": 600, "labelLimit": 240,
                   "labelAnchor": "start"},
        "title": {"anchor": "start", "color": ink["ink"], "subtitleColor": ink["soft"], "fontSize": 14, "fontWeight": 600,
                  "subtitleFontSize": 11, "subtitlePadding": 5, "offset": 12, "frame": "bounds"},
        "range": {"category": list(PALETTE), "heatmap": {"scheme": RAMP[theme]}, "diverging": {"scheme": PARTED[theme]}},
        "style": {
            "reference": {"color": ink["rule"], "strokeWidth": 1.2},
            "joined": {"color": ink["rule"], "strokeWidth": 1.5},
            "said": {"color": ink["ink"], "fontSize": 11},
            "quietly": {"color": ink["quiet"], "fontSize": 12},
            "end": {"color": ink["ink"], "strokeWidth": 1.5},
            "part": {"stroke": PAPER[theme], "strokeWidth": 1},
        },
    }  # fmt: skip


def themes() -> dict[str, dict[str, Any]]:
    """The configuration of both themes: ``light`` and ``dark``."""
    return {"light": config_of(False), "dark": config_of(True)}
