"""``rankscope check``."""

from __future__ import annotations

from typing import Any

import click

from rankscope.cli import inputs, output


@click.command("check", short_help="Find what can make a number wrong.")
@inputs.taken("A metric, like nDCG@10; may be repeated.")
@click.option(
    "--select", multiple=True, metavar="CODES", help="Only these rules: RS101, or RS1 for a family."
)
@click.option("--ignore", multiple=True, metavar="CODES", help="All rules but these.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are warnings.")
@click.option(
    "--explain", metavar="CODE", help="Explain a rule: what it is about, why it matters, what to do."
)
@click.option("--list", "listed", is_flag=True, help="List all rules.")
@click.option("--scale", metavar="LOW-HIGH", help="The intended scale of the grades, like 0-3.")
@click.option(
    "--train", type=click.Path(), metavar="FILE", help="Interactions that a recommender was trained on."
)
@click.option(
    "--docs-text",
    "texts",
    type=click.Path(),
    metavar="FILE",
    help="Texts of documents: JSONL, TSV, CSV, Parquet or TREC documents.",
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
    """Find what can make a number wrong, unfair or misleading: a linter for evaluations.

    Every rule has a code. Exits with 1 if there is a warning, with 0 otherwise.

    \b
    Examples:
      rankscope check qrels.txt my.run
      rankscope check qrels.txt a.run b.run -m nDCG@10 --ignore RS102
      rankscope check --explain RS101
    """  # noqa: D301 - click reads the \b
    if explain is not None or listed:
        _write_rules(explain, output.answer_format_of(form, out), out)
        return
    named = inputs.named(qrels, runs, "rankscope check QRELS RUN...")
    output.check_place(out, [str(qrels), *(path for _, path in named)])
    form = output.answer_format_of(form, out)

    from rankscope.verbs.check.check import check

    found = check(qrels, named, list(metrics) or None, **options)
    output.show(found, form, out, () if quiet else found.notes)
    output.tell_where(out, form, quiet)
    if found.exit_code and not exit_zero:
        click.get_current_context().exit(found.exit_code)


def _write_rules(code: str | None, form: str, out: str | None) -> None:
    """Explain one rule, or list all."""
    from rankscope.verbs.check.result import RuleBook
    from rankscope.verbs.check.rules.catalogue import all_rules, rule_named

    output.show(RuleBook(all_rules() if code is None else [rule_named(code)]), form, out)
