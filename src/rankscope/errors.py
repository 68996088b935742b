"""What can go wrong, in one line each: what was read, what would be right, what to do next."""

from __future__ import annotations

from rankscope.words import keywords, printable

# The largest number, whichever its sign, that is computed with: fourth powers of sums must not overflow.
HUGE = 1e60
MOST = 2**31 - 1  # the largest whole number that a parameter can be


class RankscopeError(Exception):
    """Base of every error that rankscope raises on purpose; its text is one line for people, whatever it quotes."""

    exit_code = 2

    def __str__(self) -> str:
        text = super().__str__()
        return printable(keywords(text) if "--" in text else text)

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the lines that led here, without those of this package and of the notebook itself, and the message."""
        import traceback

        inside = (__file__.rpartition("errors.py")[0], "IPython")
        frames = traceback.extract_tb(self.__traceback__)
        own = [frame for frame in frames if not any(part in frame.filename for part in inside)]
        lines = [line.rstrip("\n") for line in traceback.format_list(own)]
        return [*lines, f"{type(self).__name__}: {self}"]


class InputError(RankscopeError, ValueError):
    """A file, a value or a name that cannot be used as it stands."""


class DataError(RankscopeError, ValueError):
    """The input can be read, but gives no answer, as when run and qrels share no query."""

    exit_code = 3


class MissingExtraError(RankscopeError, ImportError):
    """A part of rankscope that needs a package that is not installed."""
