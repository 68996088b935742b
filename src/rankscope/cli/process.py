"""The process of a command line: its streams, its exit code, and one line for every error that ends it.

Exit codes: 0 done or passed; 1 a gate failed, or check found something; 2 usage or unreadable input; 3 the data refuse an answer;
4 a gate cannot tell; 70 a bug; 130 interrupted; 141 the output is closed. None comes with a traceback.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False  # instead of typing's, which is slow to import: start-up must stay short and interruptible
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn, TextIO

    import click

USAGE, INTERNAL, INTERRUPTED, BROKEN_PIPE = 2, 70, 130, 141  # next to the codes of errors and results
# Loading modules makes hundreds of thousands of objects and no garbage; to look for some a hundred times takes a tenth of a small call.
COLLECT = 300_000
# Polars gives memory back to the system and asks for it again while it reads a large file; a process is a fifth
# faster if it keeps for a second what it does not use.
MEMORY = "narenas:1,oversize_threshold:0,dirty_decay_ms:1000"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    os.environ.setdefault("_RJEM_MALLOC_CONF", MEMORY)
    try:
        if None in {sys.stdin, sys.stdout, sys.stderr}:
            _fill_closed_streams()
        _speak_utf8(sys.stdout, sys.stderr)
        code = _run(argv)
    except BrokenPipeError:
        code = BROKEN_PIPE
    except KeyboardInterrupt:
        _say_interrupted()
        code = INTERRUPTED
    if code == BROKEN_PIPE:
        _close_quietly(sys.stdout)
    return code


def run() -> NoReturn:
    """Run as the whole process: exit at once when done, as freeing objects one by one takes a tenth of the time of large files."""
    sys.unraisablehook = _leave_if_interrupted
    try:
        gc.set_threshold(COLLECT)
        code = main()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                continue
    except KeyboardInterrupt:  # once more
        code = INTERRUPTED
    os._exit(code)


def _leave_if_interrupted(lost: sys.UnraisableHookArgs) -> None:
    """End the process on an interruption that Python would drop, as in a callback of an import."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        _say_interrupted()
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(lost)


def _say_interrupted() -> None:
    try:  # must be quick: users interrupt twice
        os.write(2, b"interrupted\n")
    except OSError:
        return


def _run(argv: Sequence[str] | None) -> int:
    import click  # late, so that an interruption during the import shows no traceback

    from rankscope.cli.app import app
    from rankscope.cli.commands import COMPLETION
    from rankscope.errors import RankscopeError
    from rankscope.words import MESSAGE_STYLE

    before, MESSAGE_STYLE["options"] = MESSAGE_STYLE["options"], True
    try:
        if shell := os.environ.get(COMPLETION):
            from click.shell_completion import shell_complete

            return shell_complete(app, {}, "rankscope", COMPLETION, shell)
        line = sys.argv[1:] if argv is None else list(argv)
        # the typed words, for pages that show their command
        with app.make_context("rankscope", line or ["--help"], obj=tuple(line)) as ctx:
            app.invoke(ctx)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        return _fail(_usage(error), USAGE)
    except RankscopeError as error:
        return _fail(_in_options(str(error), line), error.exit_code)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(*_lost(error))
    except MemoryError:
        remedy = "evaluate fewer runs at a time, or cut them with --depth"
        return _fail(f"not enough memory for this input: {remedy}", INTERNAL)
    except Exception as error:  # noqa: BLE001 - whatever is left is ours to answer for
        return _bug(error)
    finally:
        MESSAGE_STYLE["options"] = before
    return 0


def _in_options(text: str, line: Sequence[str]) -> str:
    """A message with the options of the command that was typed in the place of Python's keywords."""
    from rankscope.cli.app import BY_NAME

    command = next((BY_NAME[word] for word in line if word in BY_NAME), None)
    if "=" not in text or command is None:
        return text
    flags = {p.name: max(p.opts, key=len) for p in command.parameters if p.opts[0].startswith("-") and p.name}
    return with_options(text, flags)


def with_options(text: str, flags: Mapping[str, str]) -> str:
    """Return a message with options in place of Python's keywords; ``flags`` are the options by keyword. Parameters of metrics stay."""
    import re

    out, end = list[str](), 0
    for match in re.finditer(r"(?<![\w.])([a-z_]+)=('[^']*'|\"[^\"]*\"|-?[\w.]+)", text):
        before = text[: match.start()]
        if match[1] in flags and before.count("(") == before.count(")"):
            value = match[2][1:-1] if match[2][0] in "'\"" else match[2]
            shown = value if re.fullmatch(r"[\w.%@/-]+", value) else f"'{value}'"
            out.append(f"{text[end : match.start()]}{flags[match[1]]} {shown}")
            end = match.end()
    return "".join([*out, text[end:]])


def _usage(error: click.ClickException) -> str:
    import click

    from rankscope import words

    if isinstance(error, click.NoSuchOption):  # click names every option that is a little like it
        text = f"no such option {error.option_name}{words.hint(error.option_name, error.possibilities or (), otherwise='')}"
    else:
        text = " ".join(error.format_message().split())
    ctx = getattr(error, "ctx", None)
    return f"{text[:1].lower()}{text[1:].rstrip('.')} (see {ctx.command_path if ctx else 'rankscope'} --help)"


def _lost(error: OSError) -> tuple[str, int]:
    """Return the message and the exit code for a stream, a file or a disk that failed."""
    from rankscope.cli.output import LostOutputError

    last = error.__traceback__
    while last and last.tb_next:
        last = last.tb_next
    if last and last.tb_frame.f_globals.get("__name__") == "click.utils":  # click prints help there
        lost = LostOutputError(error)
        return str(lost), lost.exit_code
    where = f"{error.filename}: " if error.filename is not None else ""
    return (f"{where}a file could not be read or written: {error.strerror or error}: check that it still exists", USAGE)


def _bug(error: Exception) -> int:
    if os.environ.get("RANKSCOPE_DEBUG"):
        import traceback
        from contextlib import suppress

        with suppress(OSError):
            traceback.print_exception(error)
        return INTERNAL
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    remedy = "RANKSCOPE_DEBUG=1 shows the traceback"
    return _fail(f"this is a bug in rankscope, please report it: {what} ({remedy})", INTERNAL)


def _fail(message: str, code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError:  # a full disk, already reported
        _close_quietly(sys.stdout)
    from rankscope.cli.output import say

    say(message)
    return code


def _fill_closed_streams() -> None:
    """Give standard streams that the shell closed a number of their own, or the next file that is opened gets it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)  # the lowest number that is free
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")


def _speak_utf8(*streams: TextIO | None) -> None:
    """Make every character printable: UTF-8 for files and pipes, escapes on terminals that lack it."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if stream is not None and reconfigure is not None:
            encoding = None if stream.isatty() or os.environ.get("PYTHONIOENCODING") else "utf-8"
            reconfigure(encoding=encoding, errors="backslashreplace")


def _close_quietly(stream: TextIO) -> None:
    """Let nothing more be written, not even when Python shuts down."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):  # not a real stream
        return
