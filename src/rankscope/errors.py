"""Errors, one line each: the input, the expected value, the next step."""

from __future__ import annotations

from rankscope.words import in_caller_syntax, printable

HUGE = 1e60  # the largest absolute value of a number, so that fourth powers of sums do not overflow
LARGEST_INT = 2**31 - 1  # of a parameter


class RankscopeError(Exception):
    """Base of every error that rankscope raises on purpose. Its text is one line, even if it quotes others."""

    exit_code = 2

    def __str__(self) -> str:
        text = super().__str__()
        return printable(in_caller_syntax(text) if "--" in text else text)

    def _render_traceback_(self) -> list[str]:
        """The lines that a notebook shows: the caller's part of the traceback, and the message."""
        import traceback

        inside = (__file__.rpartition("errors.py")[0], "IPython")
        frames = traceback.extract_tb(self.__traceback__)
        own = [frame for frame in frames if not any(part in frame.filename for part in inside)]
        lines = [line.rstrip("\n") for line in traceback.format_list(own)]
        return [*lines, f"{type(self).__name__}: {self}"]


class InputError(RankscopeError, ValueError):
    """A file, a value or a name that is invalid."""


class DataError(RankscopeError, ValueError):
    """Readable input without an answer, like a run and qrels without a common query."""

    exit_code = 3


class MissingExtraError(RankscopeError, ImportError):
    """A missing package that a part of rankscope needs."""
