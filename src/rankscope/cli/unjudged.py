"""``rankscope unjudged``: also a file of documents to judge."""

from __future__ import annotations

import click

from rankscope import words
from rankscope.cli import output
from rankscope.cli.commands import Command
from rankscope.cli.runner import Call
from rankscope.errors import InputError


def run(command: Command, ctx: click.Context) -> int:
    """Say what hangs on unjudged documents, and write those to judge."""
    call = Call(command, ctx)
    place = call.params["worklist"]
    if place == "-":
        raise InputError("--worklist -: name a file for the documents to judge, like judge.csv")
    result = call.result(command.function)
    call.show(result)
    if place is not None:
        output.write(result.write("csv", table="to_judge"), place)
        output.say_where(place, f"csv, {words.counted(len(result.worklist), 'document')} to judge", call.quiet)
    return 0
