"""How amounts are written on the pages: three figures, which is more than machines repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BUSY = (
    " Where that is well above the number of cores, other work was running, and seconds are longer than they would be alone; ratios within "
    "a round and CPU seconds suffer less."
)


def is_busy(group: Mapping[str, Any]) -> bool:
    """Whether other work ran while a group was measured."""
    load, cores = group["machine"]["load"], group["machine"]["cores"]
    return load is not None and load > 1.5 * cores


def times(ratio: float) -> str:
    """A ratio.

    >>> times(0.2561), times(4.444), times(17.31), times(131.9)
    ('0.26', '4.44', '17.3', '132')
    """
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"


def amount(seconds: float) -> str:
    """Seconds.

    >>> amount(0.00021), amount(0.0512), amount(1.2345), amount(123.4)
    ('0.00021', '0.051', '1.23', '123')
    """
    return f"{seconds:.2g}" if seconds < 0.1 else f"{seconds:.2f}" if seconds < 10 else f"{seconds:,.1f}" if seconds < 100 else f"{seconds:,.0f}"  # fmt: skip


def much(megabytes: float | None) -> str:
    """Megabytes, whole."""
    return "–" if megabytes is None else f"{megabytes:,.0f}"


def bytes_of(number: float) -> str:
    """Bytes in the unit in which they are short.

    >>> bytes_of(1_430_000), bytes_of(24e9), bytes_of(3.1e12)
    ('1.4 MB', '24 GB', '3.1 TB')
    """
    unit, scale = ("MB", 1e6) if number < 1e9 else ("GB", 1e9) if number < 1e12 else ("TB", 1e12)
    shown = number / scale
    return f"{shown:.1f} {unit}" if shown < 10 else f"{shown:,.0f} {unit}"


def duration(seconds: float) -> str:
    """Seconds in the unit in which they are short.

    >>> duration(44), duration(400), duration(9000), duration(400_000)
    ('44 seconds', '6.7 minutes', '2.5 hours', '4.6 days')
    """
    for unit, scale, most in (("seconds", 1, 100), ("minutes", 60, 100), ("hours", 3600, 50)):
        if seconds / scale < most:
            return f"{seconds / scale:.2g} {unit}"
    return f"{seconds / 86400:.1f} days"


def count(number: float) -> str:
    """A count of two figures, in words where it is large.

    >>> count(48_234), count(1_230_000), count(4.4e9)
    ('48,000', '1.2 million', '4.4 billion')
    """
    for word, scale in (("billion", 1e9), ("million", 1e6)):
        if number >= scale:
            shown = number / scale
            return f"{shown:.1f} {word}" if shown < 10 else f"{shown:,.0f} {word}"
    digits = max(len(str(round(number))) - 2, 0)
    return f"{round(number, -digits):,.0f}"


def exponent(slope: float) -> str:
    """A slope with a true minus sign, and none before a zero.

    >>> exponent(1.004), exponent(-0.271), exponent(-0.001)
    ('1.00', '−0.27', '0.00')
    """
    return f"{round(slope, 2) + 0.0:.2f}".replace("-", "\u2212")


def rounds_of(group: Mapping[str, Any]) -> str:
    """How many rounds were counted."""
    return "1 round" if group["rounds"] == 1 else f"{group['rounds']} rounds"
