"""``rankscope check``: also the rules themselves, and an exit code that may be left out."""

from __future__ import annotations

import click

from rankscope.cli import output
from rankscope.cli.command import Command
from rankscope.cli.runner import Call


def run(command: Command, ctx: click.Context) -> int:
    """Find what can make a number wrong; or explain one rule, or list all."""
    call = Call(command, ctx)
    code = call.params["explain"]
    if code is None and not call.params["list"]:
        found = call.answer(command.function)
        return 0 if call.params["exit_zero"] else found
    from rankscope.verbs.check import result as checked
    from rankscope.verbs.check.rules import called, rules

    chosen = rules() if code is None else [called(code)]
    blocks = checked.listing(chosen) if code is None else checked.explanation(chosen[0])
    from rankscope.show.text import as_csv, as_json, as_jsonl, as_markdown

    recs = checked.rule_records(chosen)
    f = call.form
    output.write(
        [output.rendered(blocks, call.out)]
        if f == "table"
        else [as_json(checked.rules_envelope(chosen))]
        if f == "json"
        else as_csv(("code", "rule", "severity", "what", "why", "remedy"), recs)
        if f == "csv"
        else as_jsonl(recs)
        if f == "jsonl"
        else [as_markdown(blocks)],
        call.out,
    )
    return 0
