"""``rankscope check``: also the rules themselves, and an exit code that may be left out."""

from __future__ import annotations

import click

from rankscope.cli.commands import Command
from rankscope.cli.runner import Call


def run(command: Command, ctx: click.Context) -> int:
    """Find what can make a number wrong; or explain one rule, or list all."""
    call = Call(command, ctx)
    code = call.params["explain"]
    if code is None and not call.params["list"]:
        # the findings are the rows of every format: no need to repeat them
        exit_code = call.show(call.result(command.function), warnings=())
        return 0 if call.params["exit_zero"] else exit_code
    from rankscope.verbs.check.result import RuleBook
    from rankscope.verbs.check.rules import all_rules, rule_named

    call.check_places()
    return call.show(RuleBook(all_rules() if code is None else [rule_named(code)]))
