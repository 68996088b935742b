"""``rankscope completion``."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from rankscope.cli import output


@click.command("completion", short_help="Complete commands, metrics and files in your shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, metrics and files in your SHELL.

    \b
    Examples:
      rankscope completion bash >> ~/.bashrc
      rankscope completion zsh >> ~/.zshrc
      rankscope completion fish > ~/.config/fish/completions/rankscope.fish
    """  # noqa: D301 - click reads the \b
    kind = get_completion_class(shell)
    assert kind is not None
    # the script of the base class: bash's own checks the version of whatever bash there is
    script = ShellComplete.source(kind(ctx.find_root().command, {}, "rankscope", "_RANKSCOPE_COMPLETE"))
    output.write([script.strip() + "\n"])
