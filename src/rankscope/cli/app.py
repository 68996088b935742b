"""The group of commands. Each is built when it is called."""

from __future__ import annotations

from contextlib import nullcontext

import click

from rankscope._version import __version__
from rankscope.cli.commands import Command
from rankscope.cli.table import COMMANDS

BY_NAME = {command.name: command for command in COMMANDS}


class Lazy(click.Group):
    """A group that builds a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of a first visit."""
        return list(BY_NAME)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name. An error suggests the nearest one."""
        if cmd_name in BY_NAME:
            return BY_NAME[cmd_name].build(lambda **_: _call(BY_NAME[cmd_name]))
        if ctx.resilient_parsing or cmd_name.startswith("-"):
            return None
        from rankscope import words

        hint = words.hint(cmd_name, BY_NAME, most=len(BY_NAME))
        raise click.UsageError(f"no command is called {cmd_name}{hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, each with its one-line summary."""
        with formatter.section("Commands"):
            formatter.write_dl([(command.name, command.about) for command in COMMANDS])


def _call(command: Command) -> None:
    from rankscope.cli.runner import Call
    from rankscope.parallel import limits

    ctx = click.get_current_context()
    call = Call(command, ctx)
    bounds = {name: ctx.params[name] for name in ("threads", "memory") if ctx.params.get(name) is not None}
    with limits(**bounds) if bounds else nullcontext():
        from rankscope.cli import handlers

        handler = getattr(handlers, command.name.replace("-", "_"), None)
        code = handler(call) if handler else call.show(call.result())
    if code:
        ctx.exit(code)


HELP = """Find out how good rankings are, with numbers you can defend.

\b
Examples:
  rankscope demo                                   see it work
  rankscope evaluate qrels.txt my.run              score one ranking
  rankscope compare qrels.txt a.run b.run          is the difference real?
  rankscope report qrels.txt a.run b.run           one HTML report
  rankscope explain qrels.txt my.run --query 7     why this score?
  rankscope check qrels.txt my.run                 find data problems
  rankscope gate qrels.txt main.run branch.run     pass, fail or cannot tell
  rankscope power qrels.txt a.run b.run            how many queries to judge
  rankscope reconcile qrels.txt my.run -m nDCG@10  what other tools print
  rankscope metrics ERR                            what a metric means
"""

app = Lazy(
    "rankscope",
    help=HELP,
    subcommand_metavar="[COMMAND] [ARGS]...",  # without one there is help
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, "--version", "-V", message="rankscope %(version)s")(app)
