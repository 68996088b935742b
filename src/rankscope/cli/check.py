"""``rankscope check``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from rankscope.cli import inputs, output


@click.command("check", short_help="Find what can make a number wrong.")
@inputs.taken("A metric, like nDCG@10; may be repeated.")
@click.option(
    "--select", multiple=True, metavar="CODES", help="Only these rules: RS101, or RS1 for a family."
)
@click.option("--ignore", multiple=True, metavar="CODES", help="All rules but these.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 also where a warning stands.")
@click.option("--explain", metavar="CODE", help="Say what a rule is about, why it matters, and what to do.")
@click.option("--list", "listed", is_flag=True, help="List all rules.")
@click.option("--scale", metavar="LOW-HIGH", help="The scale of the grades as it was meant, like 0-3.")
@click.option(
    "--train", type=click.Path(), metavar="FILE", help="Interactions that a recommender was trained on."
)
@click.option(
    "--docs-text", "texts", type=click.Path(), metavar="FILE", help="Texts of documents: doc_id and text."
)
@inputs.policies
@output.printed()
def command(  # noqa: PLR0913, PLR0917 - the options of the command line
    qrels: str | None,
    runs: tuple[str, ...],
    metrics: tuple[str, ...],
    quiet: bool,
    exit_zero: bool,
    explain: str | None,
    listed: bool,
    form: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """Find what can make a number wrong, unfair or misread: a linter for evaluations.

    Every rule has a code. Exits with 0 when all is well or there is only information, with 1 when a warning stands.

    \b
    Examples:
      rankscope check qrels.txt my.run
      rankscope check qrels.txt a.run b.run -m nDCG@10 --ignore RS102
      rankscope check --explain RS101
    """  # noqa: D301 - click reads the \b
    if explain is not None or listed:
        _tell(explain, output.answer_format_of(form, out), out)
        return
    named = inputs.named(qrels, runs, "rankscope check QRELS RUN...")
    output.check_place(out, [str(qrels), *(path for _, path in named)])
    form = output.answer_format_of(form, out)

    from rankscope.verbs.check import result as checked
    from rankscope.verbs.check.check import check

    found = check(qrels, named, list(metrics) or None, **options)
    if not quiet:
        output.tell(note for source in found.sources for note in source.notes)
    answer = output.Answer(
        checked.blocks_of(found), checked.envelope(found), checked.COLUMNS, checked.records(found)
    )
    output.write(answer.written(form, out), out)
    output.tell_where(out, form, quiet)
    if found.exit_code and not exit_zero:
        click.get_current_context().exit(found.exit_code)


def _tell(code: str | None, form: str, out: str | None) -> None:
    """Explain one rule, or list all."""
    from rankscope.verbs.check import result as checked
    from rankscope.verbs.check.rules import called, rules

    chosen: Sequence[Any] = rules() if code is None else [called(code)]
    blocks = checked.listing(chosen) if code is None else checked.explanation(chosen[0])
    columns = ("code", "rule", "severity", "what", "why", "remedy")
    answer = output.Answer(blocks, checked.rules_envelope(chosen), columns, checked.rule_records(chosen))
    output.write(answer.written(form, out), out)
