"""``rankscope unjudged``."""

from __future__ import annotations

from typing import Any

import click

from rankscope import words
from rankscope.cli import inputs, output
from rankscope.errors import InputError


@click.command("unjudged", short_help="Say how much depends on unjudged documents.")
@inputs.taken("A metric, like nDCG@10 (the default); may be repeated. The worklist is made for the first.")
@click.option(
    "--baseline", metavar="NAME", help="The run that all others are compared with. Default: the first."
)
@click.option(
    "--grade",
    type=float,
    metavar="X",
    help="The best grade a document can get. Default: the highest of the qrels.",
)
@click.option(
    "-n", "n", type=click.IntRange(min=0), default=50, show_default=True, help="Documents to judge."
)
@click.option(
    "--worklist",
    "to_judge",
    type=click.Path(),
    metavar="FILE",
    help="Write the documents to judge to FILE, as CSV: query, document, ranks and effect.",
)
@inputs.policies
@output.printed()
def command(
    *,
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    quiet: bool,
    to_judge: str | None,
    form: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """Say how much depends on unjudged documents: the bounds of each value and difference, how many would have to be relevant to
    reverse a verdict, and which to judge next.

    \b
    Examples:
      rankscope unjudged qrels.txt my.run -m nDCG@10
      rankscope unjudged qrels.txt old.run new.run -m nDCG@10 -m P@5
      rankscope unjudged qrels.txt old.run new.run --worklist judge.csv -n 200
    """  # noqa: D205, D301 - click reads the \b
    named = inputs.named(qrels, runs, "rankscope unjudged QRELS RUN...")
    paths = [str(qrels), *(path for _, path in named)]
    if to_judge is not None:
        _check_worklist(to_judge, out, paths)
    output.check_place(out, paths)
    form = output.answer_format_of(form, out)

    from rankscope.verbs.unjudged.unjudged import unjudged

    result = unjudged(qrels, named, list(metrics) or "nDCG@10", **options)
    output.show(result, form, out, notes=() if quiet else result.notes)
    if to_judge is not None:
        output.write(result.write("csv", table="to_judge"), to_judge)
    for path, what in (
        (out, form),
        (to_judge, f"csv, {words.counted(len(result.worklist), 'document')} to judge"),
    ):
        if path not in {None, "-"} and not quiet:
            output.say(f"wrote {path} ({what})")


def _check_worklist(path: str, out: str | None, inputs: list[str]) -> None:
    if path == "-":
        raise InputError("--worklist -: name a file for the documents to judge, like judge.csv")
    if path == out:
        raise InputError(f"--worklist {path}: -o writes to the same file; name another")
    output.check_place(path, inputs)
