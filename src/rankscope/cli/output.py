"""Where results go: formats, files, widths, colours."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from rankscope.errors import InputError

if TYPE_CHECKING:
    from rankscope.show.result import Result

FORMATS = ("table", "json", "jsonl", "csv", "markdown", "latex", "trec")
ANSWERS = ("table", "json", "jsonl", "csv", "markdown")
ENDINGS = {
    ".json": "json", ".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".txt": "table", ".trec": "trec",
}  # fmt: skip


def printed(formats: Sequence[str] = ANSWERS) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of every verb that prints a result: --format and -o."""
    endings = " ".join(ending for ending, form in ENDINGS.items() if form in formats)

    def wrap(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            click.option(
                "-o", "--output", "out", type=click.Path(), metavar="FILE", help=f"Write to FILE ({endings})."
            ),
            click.option(
                "--format",
                "form",
                type=click.Choice(tuple(formats)),
                help="How to print. Default: table, or by the ending of FILE.",
            ),
        ):
            command = option(command)
        return command

    return wrap


def format_of(asked: str | None, out: str | None) -> str:
    """The format asked for, else the one of the file's ending, else the table."""
    if asked is not None or out is None or out == "-":
        return asked or "table"
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f"{out}: the format of {ending or 'a name without an ending'} is not known, name one with --format: {', '.join(FORMATS)}"
        )
    return ENDINGS[ending]


def check_place(out: str | None, inputs: Iterable[str] = (), option: str = "-o") -> None:
    """Refuse, before any work is done, a file that cannot be written or that is about to be read."""
    if out is None or out == "-":
        return
    if Path(out).is_dir():
        raise InputError(f"{out}: a folder, not a file: name the file to write")
    folder = Path(out).parent
    if not folder.is_dir():
        raise InputError(f"{out}: there is no folder {folder} to write into (mkdir -p {folder} makes it)")
    if any(_same_file(out, path) for path in [*inputs, *_named_by_options()]):
        raise InputError(f"{out} is also an input; name another file for {option}")


def check_page(out: str, inputs: Iterable[str] = ()) -> None:
    """Refuse, before any work is done, a place for a page that is none."""
    if out != "-" and Path(out).suffix.lower() not in {".html", ".htm"}:
        raise InputError(f"{out}: a page is one HTML file: name it like {Path(out).stem or 'report'}.html")
    check_place(out, inputs)
    if out != "-" and not os.access(Path(out).parent, os.W_OK):
        raise InputError(f"{out}: cannot be written: nothing may be written into {Path(out).parent}")


WRITTEN = {"out", "junit", "to_judge", "folder", "page"}  # parameters that name files to write


def _named_by_options() -> Iterator[str]:
    """The files that the options of this command name to be read: weights, slices, settings ..."""
    ctx = click.get_current_context(silent=True)
    for param in ctx.command.params if ctx else ():
        value = ctx.params.get(param.name) if ctx and param.name else None
        if isinstance(param.type, click.Path) and param.name not in WRITTEN and isinstance(value, str):
            yield value


def _same_file(out: str, path: str) -> bool:
    try:
        return Path(out).is_file() and Path(path).samefile(out)
    except (OSError, ValueError):  # an input that is not there is told where it is read
        return False


def watched(stream: TextIO | None) -> bool:
    """Whether someone looks at this stream; there is none where the shell closed it."""
    return stream is not None and stream.isatty()


def colour_on(stream: TextIO | None) -> bool:
    """Whether to use colour: what NO_COLOR and FORCE_COLOR say, else whether someone looks."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (watched(stream) and os.environ.get("TERM") != "dumb")


def width() -> int:
    """The columns of the terminal; COLUMNS overrules it, and without a terminal there are 80."""
    return shutil.get_terminal_size((80, 24)).columns


def write(pieces: Iterable[str], out: str | None = None) -> None:
    """Write to stdout, or to a file that is there in full or not at all."""
    if out is None or out == "-":
        _to_stdout(pieces)
        return
    place = Path(os.path.realpath(out))
    try:
        if place.exists() and not place.is_file():  # a pipe, a device: nothing to replace
            with place.open("w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.writelines(pieces)
            return
        _replace(place, pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from error


def _to_stdout(pieces: Iterable[str]) -> None:
    try:
        if sys.stdout is not None:  # as it is where the shell closed it
            for piece in pieces:  # in small parts: one large write may not tell that nobody reads
                sys.stdout.writelines(piece.splitlines(keepends=True))
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"standard output cannot be written: {error.strerror or error}") from error


def _replace(place: Path, pieces: Iterable[str]) -> None:
    handle, beside = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.writelines(pieces)
        mask = os.umask(0)
        os.umask(mask)
        Path(beside).chmod(place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~mask)
        Path(beside).replace(place)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


@dataclass(frozen=True)
class Answer:
    """A result in the forms that every verb has: blocks to read, an envelope and records for programs."""

    blocks: Sequence[Any]
    envelope: Mapping[str, Any]
    columns: Sequence[str]
    records: Iterable[Mapping[str, Any]]

    def written(self, form: str, out: str | None) -> Iterable[str]:
        """The result in one of the formats of ``ANSWERS``."""
        from rankscope.show.text import as_csv, as_json, as_jsonl, as_markdown

        if form == "table":
            return [rendered(list(self.blocks), out)]
        if form == "json":
            return [as_json(self.envelope)]
        if form == "jsonl":
            return as_jsonl(self.records)
        if form == "csv":
            return as_csv(self.columns, self.records)
        return [as_markdown(self.blocks)]


def answer_format_of(asked: str | None, out: str | None) -> str:
    """The format of an ``Answer``; the other formats are those of ``evaluate`` alone."""
    form = format_of(asked, out)
    if form not in ANSWERS:
        raise InputError(f"this is written as table, json, jsonl, csv or markdown, not as {form}")
    return form


def show(
    result: Result,
    form: str,
    out: str | None = None,
    notes: Iterable[str] = (),
    warnings: Iterable[Any] = (),
    **options: Any,
) -> None:
    """Tell the notes and warnings, then write a result where it goes: for a terminal's width and colour, or plain 80 columns in a file."""
    tell(notes, warnings, form)
    here = out is None or out == "-"
    write(
        result.write(form, width=width() if here else 80, colour=here and colour_on(sys.stdout), **options),
        out,
    )


def say(message: str) -> None:
    """One line to stderr."""
    from rankscope.show.cells import printable

    click.echo(printable(message), err=True)


def tell(notes: Iterable[str], warnings: Iterable[Any] = (), form: str = "table") -> None:
    """What was read; and the warnings, where the format does not hold them. A blank line parts it from what follows on a terminal."""
    said = [*notes]
    if form not in {"table", "json"}:
        from rankscope.show.result import caution_notes

        said += [f"warning {note.code}: {note.text}" for note in caution_notes(list(warnings))]
    for line in said:
        say(line)
    if said and watched(sys.stdout) and watched(sys.stderr):
        say("")


def tell_where(out: str | None, what: str, quiet: bool = False) -> None:
    """Where a result went, if it went to a file."""
    if out not in {None, "-"} and not quiet:
        say(f"wrote {out} ({what})")


def room(out: str | None = None) -> tuple[int, bool]:
    """The width, and whether there is colour, where a result goes: those of the terminal, or plain 80 columns in a file."""
    return (width(), colour_on(sys.stdout)) if out is None or out == "-" else (80, False)


def rendered(blocks: Any, out: str | None = None) -> str:
    """Blocks as text for where they go: a terminal's width and colour, or plain 80 columns in a file."""
    from rankscope.show.terminal import render

    if out is None or out == "-":
        return render(blocks, width(), colour_on(sys.stdout))
    return render(blocks)
