"""What a command of the command line is: what it takes and says of itself, and where the function that does it lives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc
from typing import Any

import click

from rankscope.cli.options import Option, Options


@dataclass(frozen=True)
class Command:
    """A command: its name, what it does in a line and in full, examples of it, and its arguments and options.

    ``verb`` is the module of the function of the command's name, ``way`` a module whose function ``run`` calls it where that takes
    more than to read, call and write. ``usage`` says what has to be typed, for those who did not; with the options in
    ``alone`` no file has to be. ``bar`` tells whether the verb says how far it is.
    """

    name: str
    about: str
    text: str
    examples: tuple[str, ...]
    takes: tuple[click.Parameter | Options, ...]
    verb: str = ""
    way: str = "rankscope.cli.runner"
    usage: str = "QRELS RUN..."
    alone: tuple[str, ...] = ()
    bar: bool = False

    @property
    def function(self) -> Callable[..., Any]:
        """The function that does the work."""
        found: Callable[..., Any] = getattr(import_module(self.verb), self.name)
        return found

    @property
    def parameters(self) -> list[click.Parameter]:
        """All arguments and options."""
        out: list[click.Parameter] = []
        for one in self.takes:
            out += [one] if isinstance(one, click.Parameter) else one()
        return out

    def options(self, *readers: str) -> list[Option]:
        """The options that these readers take."""
        return [one for one in self.parameters if isinstance(one, Option) and one.to in readers]

    def build(self) -> click.Command:
        """The command as click runs it."""

        def call(**_: Any) -> None:
            ctx = click.get_current_context()
            if code := import_module(self.way).run(self, ctx):
                ctx.exit(code)

        examples = "\n".join(f"  rankscope {one}" for one in self.examples)
        text = f"{cleandoc(self.text)}\n\n\b\nExamples:\n{examples}"
        return click.Command(self.name, callback=call, params=self.parameters, help=text, short_help=self.about)
