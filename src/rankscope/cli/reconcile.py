"""``rankscope reconcile``."""

from __future__ import annotations

import click

from rankscope.cli import inputs, output


@click.command("reconcile", short_help="Say what other tools print, and why.")
@inputs.taken("A metric, like nDCG@10 (the default); may be repeated.")
@click.option(
    "--value",
    metavar="X",
    help="A number that was printed somewhere, like 0.71: say which conventions give it.",
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "first", "best"]),
    default="error",
    help="A document ranked twice for a query.",
)
@output.printed()
def command(  # noqa: PLR0913, PLR0917 - the options of the command line
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    value: str | None,
    quiet: bool,
    duplicates: str,
    form: str | None,
    out: str | None,
) -> None:
    """Say what other tools print for a metric on these data, and the one reason for each difference.

    With --value, search the conventions for those that give the number. With two runs, say whether the
    choice of convention changes which is best.

    \b
    Examples:
      rankscope reconcile qrels.txt my.run -m nDCG@10
      rankscope reconcile qrels.txt my.run -m nDCG@10 --value 0.71
      rankscope reconcile qrels.txt a.run b.run -m MAP@10
    """  # noqa: D301 - click reads the \b
    named = inputs.named(qrels, runs, "rankscope reconcile QRELS RUN -m METRIC")
    output.check_place(out, [str(qrels), *(path for _, path in named)])
    form = output.answer_format_of(form, out)

    from rankscope.scoring.inputs import read_any
    from rankscope.verbs.reconcile.reconcile import reconcile
    from rankscope.verbs.reconcile.result import Reconciliations

    grades, given = read_any("qrels", qrels), [(name, read_any("run", run, name)) for name, run in named]
    parts = [
        reconcile(grades, given, metric, value=value, duplicates=duplicates)
        for metric in metrics or ("nDCG@10",)
    ]
    output.show(Reconciliations(tuple(parts)), form, out, notes=() if quiet else parts[0].scores.notes)
    output.tell_where(out, form, quiet)
