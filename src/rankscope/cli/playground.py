"""``rankscope playground``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from rankscope.cli import output

USUAL = "playground.html"


@click.command("playground", short_help="Rearrange rankings in a page and see which metrics move.")
@click.option("--no-open", "closed", is_flag=True, help="Do not open the page in a browser.")
@click.option(
    "-o",
    "--output",
    "out",
    type=click.Path(),
    metavar="FILE",
    help=f"The page, one HTML file, written and not opened; - is standard output. Default: {USUAL}, opened.",
)
def command(out: str | None, closed: bool) -> None:
    """Make a page of worked examples: rankings to rearrange, and the metrics that move with them.

    Drag a document to another rank or change a grade, and see P, R, RR, AP, DCG, nDCG, ERR and RBP with what every position
    adds. The page needs no network. It opens in the browser where there is a screen for it.

    \b
    Examples:
      rankscope playground
      rankscope playground --no-open
      rankscope playground -o lesson.html
    """  # noqa: D301 - click reads the \b
    place = out or USUAL
    output.check_page(place)

    from rankscope.reporting.playground import playground
    from rankscope.show.html.page import render

    html = render(playground())
    output.write([html], place)
    opened = out is None and not closed and _someone_there() and _opened(Path(place))
    if place != "-":
        output.say(f"wrote {place} ({'open in your browser' if opened else 'open it in a browser'})")


def _someone_there() -> bool:
    """Whether someone looks at the terminal, on a machine that has a screen."""
    screen = sys.platform in {"darwin", "win32"} or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return screen and output.watched(sys.stdout)


def _opened(path: Path) -> bool:
    """Whether a browser took the page."""
    import webbrowser

    try:
        return webbrowser.open(path.resolve().as_uri())
    except webbrowser.Error:
        return False
