"""Commands about rankscope itself: metrics, demo, playground, completion."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rankscope import words
from rankscope.cli import output
from rankscope.cli.commands import COMPLETION
from rankscope.cli.runner import Call
from rankscope.errors import InputError

FIGURES = (".svg", ".png", ".pdf")


def metrics(call: Call) -> int:
    """Explain metrics, or draw the weight of each rank."""
    several, traits = list(call.params["names"]), call.params["traits"]
    name = " ".join(several) or None
    ending = Path(call.out).suffix.lower() if call.out not in {None, "-"} else ""
    call.check(of_result=False)
    if call.params["plot"]:
        _check_plot(call, several, traits, ending)
        _plot(several[0], call.out, ending)
        return 0
    if ending in FIGURES and call.params["form"] is None:
        example = f"{call.path} {name or 'RR'} --plot -o {call.out}"
        raise click.UsageError(f"{call.out}: a figure is drawn with --plot: add --plot ({example})", call.ctx)
    _ = call.form
    return call.show(call.command.function(several or None))


def _check_plot(call: Call, several: Sequence[str], traits: bool, ending: str) -> None:
    form = call.params["form"]
    if len(several) != 1 or traits:
        remedy = "name one, like rankscope metrics RR --plot" if len(several) != 1 else "leave out --table"
        raise click.UsageError(f"--plot draws one metric: {remedy}", call.ctx)
    if form == "json" or ending not in {"", ".txt", *FIGURES}:
        message = f"a plot is shown here or written as .svg, .png, .pdf or .txt, not as {ending or form}"
        raise click.UsageError(message, call.ctx)
    from rankscope.verbs.catalogue.catalogue import find_set

    if find_set(several[0]):
        raise InputError(f"--plot draws one metric, and {several[0]} is a set: rankscope metrics {several[0]} lists it")


def _plot(name: str, out: str | None, ending: str) -> None:
    """Draw the weight of each rank in a metric, in the terminal or as a figure."""
    from rankscope.metrics.rank_weights import chart_of, table_of
    from rankscope.verbs.catalogue.catalogue import find_usual

    metric = find_usual(name)
    if out is None or ending not in FIGURES:
        # a terminal has room for one line; the table shows both
        output.write([output.render([chart_of(metric, alone=True), table_of(metric)], out)], out, drawn=True)
        output.say_where(out, "plot")
        return
    from rankscope.show.charts import pdf_of, png_of, svg_of
    from rankscope.store import write_file

    chart = chart_of(metric)
    draw: Any = {".svg": svg_of, ".png": png_of, ".pdf": pdf_of}[ending]
    write_file(out, [draw(chart)])
    output.say_where(out, ending[1:])


def demo(call: Call) -> int:
    """Print the demo, copy its files, or write its page."""
    from rankscope.verbs.demo import demo

    folder, page = call.params["copy"], call.params["report"]
    if page is not None:
        output.check_page(page)
    if folder is not None:
        files = demo.copy_files(folder)
        if not call.quiet:
            output.say(f"copied {words.counted(len(files), 'file')} into {folder}: README.md describes them")
        runs = " ".join(f"{folder}/{name}.run.gz" for name in demo.RUNS)
        output.write([f"rankscope evaluate {folder}/qrels.txt {runs}\n"])
    else:
        output.write([output.render(demo.introduction(demo.demo(), brief=call.quiet))], drawn=True)
    if page is not None:
        from rankscope.reporting.report import demo_report

        output.write([demo_report().html], page)
        if not call.quiet:
            output.say(f"wrote {page}: the same in one page, with every query to look into. Open it in a browser")
    return 0


def playground(call: Call) -> int:
    """Write the page, and open it in a browser unless -o names a file."""
    place = call.out or "playground.html"
    output.check_page(place, charts=False)

    from rankscope.reporting.playground import playground
    from rankscope.show.html.page import render

    output.write([render(playground())], place)
    # a person at the terminal of a machine with a screen
    screen = sys.platform in {"darwin", "win32"} or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    wanted = call.out is None and not call.params["no_open"] and screen and output.is_terminal(sys.stdout)
    opens = wanted and _open(Path(place))
    if place != "-":
        output.say(f"wrote {place} ({'open in your browser' if opens else 'open it in a browser'})")
    return 0


def _open(path: Path) -> bool:
    import webbrowser

    try:
        return webbrowser.open(path.resolve().as_uri())
    except webbrowser.Error:
        return False


def completion(call: Call) -> int:
    """Print the script for a shell."""
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(call.params["shell"])
    assert kind is not None
    # the script of the base class: bash's own checks the installed version of bash
    script = ShellComplete.source(kind(call.ctx.find_root().command, {}, "rankscope", COMPLETION))
    output.write([script.strip() + "\n"])
    return 0
