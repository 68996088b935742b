"""``rankscope demo``."""

from __future__ import annotations

import click

from rankscope.cli import output
from rankscope.cli.commands import Command


def run(command: Command, ctx: click.Context) -> int:
    """Show what an evaluation says; or copy its files; or make its page, too."""
    from rankscope.verbs.demo import demo

    folder, page = ctx.params["copy"], ctx.params["report"]
    if folder is not None:
        files = demo.copy_files(folder)
        output.say(f"copied {len(files)} files into {folder}; README.md tells what they are")
        runs = " ".join(f"{folder}/{name}.run.gz" for name in demo.RUNS)
        output.write([f"rankscope evaluate {folder}/qrels.txt {runs}\n"])
        return 0
    if page is not None:
        output.check_page(page)
    output.write([output.rendered(demo.introduction(demo.demo()))])
    if page is not None:
        from rankscope.reporting.demo import demo_report

        output.write([demo_report().html], page)
        output.say(f"wrote {page}: the same in one page, with every query to look into; open it in a browser")
    return 0
