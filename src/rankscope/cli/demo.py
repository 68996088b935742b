"""``rankscope demo``."""

from __future__ import annotations

import click

from rankscope.cli import output


@click.command("demo", short_help="See it work on three real rankings, offline.")
@click.option(
    "--copy",
    "to",
    type=click.Path(),
    metavar="DIR",
    help="Copy the demo's files into DIR, to try commands on them.",
)
@click.option(
    "--report",
    "page",
    type=click.Path(),
    metavar="FILE",
    help="Also write the page that rankscope report makes of them (.html).",
)
def command(to: str | None, page: str | None) -> None:
    """Evaluate three real rankings that come along, offline, and tell how to read the result.

    \b
    Examples:
      rankscope demo
      rankscope demo --copy demo
      rankscope demo --report demo.html
    """  # noqa: D301 - click reads the \b
    from rankscope.verbs.demo import demo

    if to is not None:
        files = demo.copy_files(to)
        output.say(f"copied {len(files)} files into {to}; README.md tells what they are")
        output.write(
            [f"rankscope evaluate {to}/qrels.txt {' '.join(f'{to}/{name}.run.gz' for name in demo.RUNS)}\n"]
        )
        return
    if page is not None:
        from rankscope.cli.report import check_extra

        output.check_page(page)
        check_extra()
    output.write([output.rendered(demo.introduction(demo.demo()))])
    if page is not None:
        from rankscope.reporting.demo import demo_report

        output.write([demo_report().html], page)
        output.say(f"wrote {page}: the same in one page, with every query to look into; open it in a browser")
