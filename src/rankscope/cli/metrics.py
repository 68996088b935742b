"""``rankscope metrics``."""

from __future__ import annotations

from pathlib import Path

import click

from rankscope.cli import output
from rankscope.cli.names import FamilyName
from rankscope.errors import InputError

ENDINGS = {".txt": "table", ".json": "json"}
FIGURES = (".svg", ".png")


@click.command("metrics", short_help="List the metrics, or tell all about one.")
@click.argument("name", type=FamilyName(), required=False)
@click.option(
    "--table", "traits", is_flag=True, help="Compare them: grades, order, range, what each is best for."
)
@click.option(
    "--plot", is_flag=True, help="Draw what each rank is worth to a metric; -o FILE.svg or .png for a figure."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    help="How to print. Default: table, or by the ending of FILE.",
)
@click.option(
    "-o",
    "--output",
    "out",
    type=click.Path(),
    metavar="FILE",
    help="Write to FILE (.json .txt; .svg .png with --plot).",
)
def command(name: str | None, traits: bool, plot: bool, form: str | None, out: str | None) -> None:
    """List the metrics, or tell all about one.

    \b
    Examples:
      rankscope metrics               every metric in a line
      rankscope metrics nDCG          formula, convention, parameters, an example
      rankscope metrics ndcg_cut_10   trec_eval's names are known, too
      rankscope metrics official      the metrics of a set
      rankscope metrics RR --plot     what each rank is worth to it
      rankscope metrics --format json
    """  # noqa: D301 - click reads the \b
    output.check_place(out)
    if plot:
        _plot(name, traits, form, out)
        return
    form = _format_of(name, form, out)

    if name is not None and traits:
        raise click.UsageError(
            f"--table compares all metrics: leave out {name} or --table", click.get_current_context()
        )
    from rankscope.verbs.catalogue.catalogue import catalogue

    output.show(catalogue(name), form, out, traits=traits)
    output.tell_where(out, form)


def _format_of(name: str | None, form: str | None, out: str | None) -> str:
    """How the catalogue is written: a table or JSON, by what was asked for or the ending of the file."""
    if form is not None or out in {None, "-"}:
        return form or "table"
    ending = Path(str(out)).suffix.lower()
    if ending in ENDINGS:
        return ENDINGS[ending]
    if ending in FIGURES:
        drawn = f"rankscope metrics {name or 'RR'} --plot -o {out}"
        raise click.UsageError(
            f"{out}: a figure is drawn with --plot: add --plot ({drawn})", click.get_current_context()
        )
    said = f"not as {ending}" if ending else "and this name has no ending"
    raise click.UsageError(
        f"{out}: the catalogue is written as a table (.txt) or JSON (.json), {said}: name it so, or say --format table or json",
        click.get_current_context(),
    )


def _plot(name: str | None, traits: bool, form: str | None, out: str | None) -> None:
    """What each rank is worth to one metric, in the terminal or as a figure."""
    if name is None or traits:
        said = "name one, like rankscope metrics RR --plot" if name is None else "leave out --table"
        raise click.UsageError(f"--plot draws one metric: {said}", click.get_current_context())
    ending = Path(out).suffix.lower() if out not in {None, "-"} else ""
    if form == "json" or ending not in {"", ".txt", *FIGURES}:
        raise click.UsageError(
            f"a plot is shown here or written as .svg, .png or .txt, not as {ending or form}",
            click.get_current_context(),
        )

    from rankscope.metrics.rank_weights import chart_of, table_of
    from rankscope.verbs.catalogue.catalogue import find_set, find_usual

    if find_set(name):
        raise InputError(f"--plot draws one metric, and {name} is a set: rankscope metrics {name} lists it")
    metric = find_usual(name)
    if out is None or ending not in FIGURES:
        plot = chart_of(metric, alone=True)  # one line has room to be drawn, the table tells of both
        output.write([output.rendered([plot, table_of(metric)], out)], out)
    else:
        from rankscope.show.charts import png_of, svg_of

        chart = chart_of(metric)
        _write_figure(out, png_of(chart) if ending == ".png" else svg_of(chart).encode())
    output.tell_where(out, "plot" if ending not in FIGURES else ending[1:])


def _write_figure(out: str, content: bytes) -> None:
    try:
        Path(out).write_bytes(content)
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from error
