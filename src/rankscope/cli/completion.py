"""``rankscope completion``."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from rankscope.cli import output
from rankscope.cli.commands import Command


def run(command: Command, ctx: click.Context) -> int:
    """Print the script for a shell."""
    kind = get_completion_class(ctx.params["shell"])
    assert kind is not None
    # the script of the base class: bash's own checks the version of whatever bash there is
    script = ShellComplete.source(kind(ctx.find_root().command, {}, "rankscope", "_RANKSCOPE_COMPLETE"))
    output.write([script.strip() + "\n"])
    return 0
