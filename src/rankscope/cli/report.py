"""``rankscope report``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from rankscope.cli import comparing, inputs, output

if TYPE_CHECKING:
    from rankscope.reporting.report import Report

USAGE = "rankscope report QRELS RUN..."
USUAL = "report.html"


@click.command("report", short_help="Make one page of it all: verdict, charts, every query to look into.")
@inputs.taken(
    "A metric, like nDCG@10; may be repeated. Default: nDCG@10 AP RR@10 R@100 P@10. With --scores: what the scores are of."
)
@click.option(
    "--queries-text",
    type=click.Path(),
    metavar="FILE",
    help="Texts of the queries: TSV, CSV, JSONL (BEIR) or TREC topics.",
)
@click.option(
    "--docs-text",
    type=click.Path(),
    metavar="FILE",
    help="Texts of the documents: TSV, CSV, JSONL (BEIR) or TREC documents.",
)
@click.option("--title", metavar="TEXT", help="What stands on top. Default: the runs.")
@click.option("--about", metavar="TEXT", help="What stands below it: what a reader should know of the data.")
@click.option(
    "--shown",
    type=click.IntRange(min=1),
    metavar="N",
    help="Documents shown of each ranking. Default: as many as there is room for, up to 20.",
)
@click.option(
    "--export",
    "folder",
    type=click.Path(),
    metavar="DIR",
    help="Also write every table (CSV, JSON) and figure (SVG, PNG) into DIR.",
)
@comparing.options
@comparing.scores_option
@inputs.policies
@click.option(
    "-o",
    "--output",
    "out",
    type=click.Path(),
    default=USUAL,
    show_default=True,
    metavar="FILE",
    help="The page, one HTML file; - is standard output.",
)
def command(
    *,
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    quiet: bool,
    scores: bool,
    folder: str | None,
    out: str,
    **options: Any,
) -> None:
    """Make one HTML page of RUNs judged by QRELS, to be opened without a network.

    The verdict comes first, then what it rests on: the state of the data, the scoreboard, where and on which queries the runs
    differ, and every query with its rankings side by side. The first RUN (or --baseline) is what the others are compared with;
    one RUN alone makes a page, too.

    \b
    Examples:
      rankscope report qrels.txt bm25.run dense.run -o report.html
      rankscope report qrels.txt my.run
      rankscope report qrels.txt *.run --queries-text topics.xml --docs-text docs.jsonl
      rankscope report qrels.txt old.run new.run --export figures
      rankscope report --scores scores.csv -m AP
    """  # noqa: D301 - click reads the \b
    output.check_page(out)
    check_extra()
    from rankscope.blocks import Paragraph

    metrics, options = comparing.settled(metrics, options)
    made = _made(qrels, runs, metrics, scores, [out, *([folder] if folder else [])], quiet, options)
    html = made.html
    if not quiet:
        output.tell(made.notes)
    output.write([html], out)
    if out != "-":
        output.tell_where(out, f"{len(html.encode()) / 1e6:.1f} MB, opens in a browser", quiet)
    if folder is not None:
        files = made.export(folder)
        output.tell_where(folder, f"{len(files):,} files", quiet)
    if out != "-":
        output.write([output.rendered([Paragraph(verdict.text) for verdict in made.page.verdicts])])


def check_extra() -> None:
    """Refuse, before any work is done, to make a page without what makes pages."""
    from rankscope.show.extra import import_extra

    for module in ("jinja2", "altair", "vl_convert"):
        import_extra(module)


def _made(
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    scores: bool,
    places: list[str],
    quiet: bool,
    options: dict[str, Any],
) -> Report:
    from rankscope.cli.progress import bar
    from rankscope.reporting.report import report

    command = _typed()
    if scores or (qrels is not None and not runs and comparing.holds_scores(qrels)):
        paths, asked, options = comparing.of_scores(qrels, runs, metrics, options)
        _check_places(places, paths)
        return report(inputs.named_scores(paths), None, asked, command=command, **options)
    named, systems = inputs.repeated(qrels, runs, USAGE)
    paths = [path for _, path in named]
    _check_places(places, [str(qrels), *paths])
    if systems is not None:
        options["systems"] = systems
    with bar(paths, wanted=not quiet) as progress:
        return report(qrels, named, list(metrics) or None, command=command, progress=progress, **options)


def _check_places(places: list[str], inputs: list[str]) -> None:
    from rankscope.reporting.places import check_folder

    out, *folders = places
    output.check_page(out, inputs)
    for folder in folders:
        check_folder(folder)


def _typed() -> str:
    """The command as it was typed, but for where the page went: the same page has the same words."""
    words, kept = iter(click.get_current_context().obj), []
    for word in words:
        if word in {"-o", "--output", "--export"}:
            next(words, None)
        elif not word.startswith(("-o", "--output=", "--export=")) and word not in {"-q", "--quiet"}:
            kept.append(word)
    return shlex.join(["rankscope", *kept])
