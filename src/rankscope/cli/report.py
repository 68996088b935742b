"""``rankscope report``: a page rather than a result that is printed."""

from __future__ import annotations

import shlex

import click

from rankscope.cli import output
from rankscope.cli.commands import Command
from rankscope.cli.runner import Call


def run(command: Command, ctx: click.Context) -> int:
    """Make a page, write it and all that was asked for beside it, and say the verdict."""
    call = Call(command, ctx)
    out, folder = str(call.out), call.params["export"]
    from rankscope.blocks import Paragraph
    from rankscope.reporting.report import check_folder

    output.check_page(out, call.reads())
    if folder is not None:
        check_folder(folder)
    page = call.result(command.function, command=_words(ctx.obj))
    if not call.quiet:
        output.tell(page.notes)
    html = page.html
    output.write([html], out)
    output.say_where(out, f"{len(html.encode()) / 1e6:.1f} MB, opens in a browser", call.quiet)
    if folder is not None:
        output.say_where(folder, f"{len(page.export(folder)):,} files", call.quiet)
    if out != "-":
        output.write([output.rendered([Paragraph(verdict.text) for verdict in page.page.verdicts])])
    return 0


def _words(arguments: list[str]) -> str:
    """The command as it was typed, but for where the page went: the same page has the same words."""
    words, rest = iter(arguments), []
    for word in words:
        if word in {"-o", "--output", "--export"}:
            next(words, None)
        elif not word.startswith(("-o", "--output=", "--export=")) and word not in {"-q", "--quiet"}:
            rest.append(word)
    return shlex.join(["rankscope", *rest])
