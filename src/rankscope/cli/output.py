"""Output: files, widths, colours, messages, and a bar for long work."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import click

from rankscope.errors import InputError, RankscopeError
from rankscope.words import printable

LARGE = 50_000_000  # bytes that take long enough to be worth a bar
BROKEN_PIPE = 141


class LostOutputError(RankscopeError):
    """Standard output cannot be written: it is closed, or its disk is full."""

    def __init__(self, error: OSError) -> None:
        closed = error.errno == errno.EBADF
        self.exit_code = BROKEN_PIPE if closed else InputError.exit_code
        why = "it is closed" if closed else error.strerror or str(error)
        super().__init__(f"standard output cannot be written: {why}")


def check_place(out: str | None, inputs: Iterable[str] = (), option: str = "-o") -> None:
    """Refuse, before any work is done, a file that cannot be written or that is about to be read."""
    if out is None or out == "-":
        return
    if Path(out).is_dir():
        raise InputError(f"{out}: a folder, not a file: name the file to write")
    folder = Path(out).parent
    if not folder.is_dir():
        raise InputError(f"{out}: there is no folder {folder} to write into (mkdir -p {folder} makes it)")
    if any(_same_file(out, path) for path in inputs):
        raise InputError(f"{out} is also an input: name another file for {option}")


def check_page(out: str, inputs: Iterable[str] = (), charts: bool = True) -> None:
    """Refuse, before any work, a place that cannot hold a page, and a page without the packages that draw it and its ``charts``."""
    from rankscope.reporting import check_page_file
    from rankscope.show.extra import check_installed

    if out != "-":
        check_page_file(out)
        check_place(out, inputs)
        if not os.access(Path(out).parent, os.W_OK):
            raise InputError(f"{out}: cannot be written: nothing may be written into {Path(out).parent}")
    check_installed(charts)
    if charts:
        from rankscope.show.charts import prepare_runtime

        prepare_runtime()


def _same_file(out: str, path: str) -> bool:
    try:
        return Path(out).is_file() and Path(path).samefile(out)
    except (OSError, ValueError):  # the reader reports a missing input
        return False


def is_terminal(stream: TextIO | None) -> bool:
    """True if this stream is a terminal; False if the shell closed it."""
    return stream is not None and stream.isatty()


def write(pieces: Iterable[str], out: str | None = None, *, drawn: bool = False) -> None:
    """Write to stdout, or to a file that is there in full or not at all. A terminal gets control signs only from ``drawn`` text."""
    if out is not None and out != "-":
        from rankscope.store import write_file

        write_file(out, pieces)
        return
    if not drawn and is_terminal(sys.stdout):
        pieces = (
            "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n")) for text in pieces
        )
    try:
        for piece in pieces:  # in small parts: one large write may not notice a closed pipe
            sys.stdout.writelines(piece.splitlines(keepends=True))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LostOutputError(error) from error


def say(message: str) -> None:
    """Print one line to stderr. Carry on if that fails."""
    with suppress(OSError, ValueError):
        click.echo(printable(message), err=True)


def report(notes: Iterable[str], warnings: Iterable[Any] = (), form: str = "table") -> None:
    """Print the notes, and the warnings if the format does not hold them. A blank line follows on a terminal."""
    lines = [*notes]
    if form not in {"table", "json"}:
        from rankscope.show.result import caution_notes

        lines += [f"warning {note.code}: {note.text}" for note in caution_notes(list(warnings))]
    for line in lines:
        say(line)
    if lines and is_terminal(sys.stdout) and is_terminal(sys.stderr):
        say("")


def say_where(out: str | None, what: str, quiet: bool = False) -> None:
    """Print the name of the file that was written, if any."""
    if out not in {None, "-"} and not quiet:
        say(f"wrote {out} ({what})")


def output_style(out: str | None = None) -> tuple[int, bool]:
    """Return the width and the colour of an output. COLUMNS, NO_COLOR and FORCE_COLOR overrule the terminal, a file has 80 plain columns."""
    if out not in {None, "-"}:
        return 80, False
    env = os.environ
    looks = sys.stdout.isatty() and env.get("TERM") != "dumb"
    colour = not env.get("NO_COLOR") and (bool(env.get("FORCE_COLOR")) or looks)
    return shutil.get_terminal_size((80, 24)).columns, colour


def render(blocks: Any, out: str | None = None) -> str:
    """Return blocks as text for an output: a terminal's width and colour, or plain 80 columns for a file."""
    from rankscope.show import terminal

    return terminal.render(blocks, *output_style(out))


@contextmanager
def bar(paths: Sequence[str]) -> Iterator[Callable[[str], None] | None]:
    """Yield the function to call after each run, or None if no bar is shown."""
    sizes = [Path(path).stat().st_size for path in paths if Path(path).is_file()]
    long = len(paths) > 2 or sum(sizes) > LARGE
    if not is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb" or not long:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("evaluating", total=len(paths))

        def advance(name: str) -> None:
            progress.update(task, advance=1, description=f"evaluated {name[:30]}")

        yield advance
