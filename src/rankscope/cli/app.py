"""The command itself: its sub-commands are loaded when one of them is asked for."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from rankscope._version import __version__
from rankscope.cli import ReaderGoneError

COMMANDS = (
    "evaluate", "compare", "report", "explain", "check", "gate", "power", "unjudged", "ties", "reconcile", "advise", "playground", "metrics", "demo", "completion",
)  # fmt: skip


class Lazy(click.Group):
    """A group that imports the module of a command when it needs the command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of a first visit rather than of the alphabet."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"rankscope.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words as they were typed, for those who tell how to make a result again."""
        ctx.obj = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a broken pipe is told by a name of ours."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGoneError from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Offer the nearest command for one that does not exist."""
        name = args[0]
        if name in COMMANDS or ctx.resilient_parsing or name.startswith("-"):
            return super().resolve_command(ctx, args)
        close = get_close_matches(name, COMMANDS, n=1, cutoff=0.65)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(COMMANDS)}"
        raise click.UsageError(f"no command is called {name}, {hint}", ctx)


@click.group(cls=Lazy, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", "-V", message="rankscope %(version)s")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Learn whether rankings are good, in numbers you can defend.

    \b
    Examples:
      rankscope demo                                   see it work
      rankscope evaluate qrels.txt my.run              score one ranking
      rankscope compare qrels.txt a.run b.run          is the difference real?
      rankscope report qrels.txt a.run b.run           one page of it all
      rankscope explain qrels.txt my.run --query 7     why is the score so?
      rankscope check qrels.txt my.run                 what is odd about the data
      rankscope gate qrels.txt main.run branch.run     pass, fail or cannot tell
      rankscope power qrels.txt a.run b.run            how many queries to judge
      rankscope reconcile qrels.txt my.run -m nDCG@10  what other tools print
      rankscope metrics ERR                            what a metric means
    """  # noqa: D301 - click reads the \b
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
