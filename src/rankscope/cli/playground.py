"""``rankscope playground``: a page that opens where someone looks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from rankscope.cli import output
from rankscope.cli.commands import Command


def run(command: Command, ctx: click.Context) -> int:
    """Write the page, and open it in a browser unless it was told where to go."""
    out = ctx.params["out"]
    place = out or "playground.html"
    output.check_page(place, charts=False)

    from rankscope.reporting.playground import playground
    from rankscope.show.html.page import render

    output.write([render(playground())], place)
    opens = out is None and not ctx.params["no_open"] and _has_screen() and _open(Path(place))
    if place != "-":
        output.say(f"wrote {place} ({'open in your browser' if opens else 'open it in a browser'})")
    return 0


def _has_screen() -> bool:
    """Whether someone looks at the terminal, on a machine that has a screen."""
    screen = sys.platform in {"darwin", "win32"} or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return screen and output.watched(sys.stdout)


def _open(path: Path) -> bool:
    """Whether a browser took the page."""
    import webbrowser

    try:
        return webbrowser.open(path.resolve().as_uri())
    except webbrowser.Error:
        return False
