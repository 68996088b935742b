"""Whether the data allow a verdict."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Validity:
    """Whether the data allow a verdict at all, and if not, the reason and the exit code of commands.

    A family of comparisons has one validity and passes it to each contrast, so that a verdict is withheld in the contrast itself.
    ``exit_code`` is 3 if the data refuse an answer, 4 if nothing can be told.

    >>> split = Validity.unless(False, "users were not split as planned (p < 0.001)")
    >>> split.holds, split.exit_code
    (False, 3)
    """

    holds: bool = True
    reason: str = ""
    exit_code: int = 0

    @classmethod
    def unless(cls, holds: bool, reason: str, exit_code: int = 3) -> Validity:
        """Valid if ``holds``, otherwise withheld for a reason."""
        return VALID if holds else cls(False, reason, exit_code)


VALID = Validity()
