"""``rankscope metrics``."""

from __future__ import annotations

import click

from rankscope.cli import output
from rankscope.cli.names import FamilyName


@click.command("metrics", short_help="List the metrics, or tell all about one.")
@click.argument("name", type=FamilyName(), required=False)
@click.option(
    "--table", "traits", is_flag=True, help="Compare them: grades, order, range, what each is best for."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    help="How to print. Default: table, or by the ending of FILE.",
)
@click.option("-o", "--output", "out", type=click.Path(), metavar="FILE", help="Write to FILE (.json .txt).")
def command(name: str | None, traits: bool, form: str | None, out: str | None) -> None:
    """List the metrics, or tell all about one.

    \b
    Examples:
      rankscope metrics               every metric in a line
      rankscope metrics nDCG          formula, convention, parameters, an example
      rankscope metrics ndcg_cut_10   trec_eval's names are known, too
      rankscope metrics official      the metrics of a set
      rankscope metrics --format json
    """  # noqa: D301 - click reads the \b
    output.check_place(out)
    form = output.format_of(form, out)
    if form not in {"table", "json"}:
        raise click.UsageError(
            f"the catalogue is written as a table (.txt) or JSON (.json), not as {form}",
            click.get_current_context(),
        )

    from rankscope.show.text import as_json
    from rankscope.verbs import catalogue, catalogue_records

    if name is not None and traits:
        raise click.UsageError(
            f"--table compares all metrics: leave out {name} or --table", click.get_current_context()
        )
    members = [] if name is None else catalogue.set_called(name)
    cls = None if name is None or members else catalogue.metric_called(name)
    if form == "json":
        classes = list(dict.fromkeys(type(metric) for _, metric in members)) or catalogue.everything()
        text = as_json(catalogue_records.envelope(classes if cls is None else [cls]))
    else:
        blocks = catalogue.traits() if traits else catalogue.listed()
        if name is not None:
            blocks = catalogue.in_full(cls) if cls else catalogue.members(name)
        text = output.rendered(blocks, out)
    output.write([text], out)
    if out not in {None, "-"}:
        output.say(f"wrote {out} ({form})")
