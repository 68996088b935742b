"""``rankscope metrics``: the catalogue, and a plot of what a metric gives for each rank."""

from __future__ import annotations

from pathlib import Path

import click

from rankscope.cli import output
from rankscope.cli.commands import Command
from rankscope.cli.runner import Call
from rankscope.errors import InputError

FIGURES = (".svg", ".png")


def run(command: Command, ctx: click.Context) -> int:
    """Say what metrics mean, or draw one."""
    call = Call(command, ctx)
    name, traits = call.params["name"], call.params["traits"]
    ending = Path(call.out).suffix.lower() if call.out not in {None, "-"} else ""
    call.check_places()
    if call.params["plot"]:
        _check_plot(name, traits, ending, call.params["form"], ctx)
        _plot(name, call.out, ending)
        return 0
    if name is not None and traits:
        raise click.UsageError(f"--table compares all metrics: leave out {name} or --table", ctx)
    if ending in FIGURES and call.params["form"] is None:
        example = f"{call.path} {name or 'RR'} --plot -o {call.out}"
        raise click.UsageError(f"{call.out}: a figure is drawn with --plot: add --plot ({example})", ctx)
    _ = call.form
    return call.show(command.function(name))


def _check_plot(name: str | None, traits: bool, ending: str, form: str | None, ctx: click.Context) -> None:
    """Refuse what cannot be drawn, or not so."""
    if name is None or traits:
        remedy = "name one, like rankscope metrics RR --plot" if name is None else "leave out --table"
        raise click.UsageError(f"--plot draws one metric: {remedy}", ctx)
    if form == "json" or ending not in {"", ".txt", *FIGURES}:
        raise click.UsageError(f"a plot is shown here or written as .svg, .png or .txt, not as {ending or form}", ctx)
    from rankscope.verbs.catalogue.catalogue import find_set

    if find_set(name):
        raise InputError(f"--plot draws one metric, and {name} is a set: rankscope metrics {name} lists it")


def _plot(name: str, out: str | None, ending: str) -> None:
    """What each rank is worth to one metric, in the terminal or as a figure."""
    from rankscope.metrics.rank_weights import chart_of, table_of
    from rankscope.verbs.catalogue.catalogue import find_usual

    metric = find_usual(name)
    if out is None or ending not in FIGURES:
        # one line has room to be drawn, the table tells of both
        blocks = [chart_of(metric, alone=True), table_of(metric)]
        output.write([output.rendered(blocks, out)], out)
        output.say_where(out, "plot")
        return
    from rankscope.show.charts import png_of, svg_of

    chart = chart_of(metric)
    try:
        Path(out).write_bytes(png_of(chart) if ending == ".png" else svg_of(chart).encode())
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from error
    output.say_where(out, ending[1:])
