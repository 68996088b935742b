"""Whether a file is regular, and how to make it so: the same number of fields in every line, parted by one separator each.

Most are, and then the parser need not be asked for columns that nobody uses just to see that they are
there, which would cost as much as reading the scores. Fields are counted over the whole file: where the
parser has found that no line has too few, the sum tells that none has too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np

from rankscope.files.raw import BOM
from rankscope.tables import Array

BLOCK = 1 << 18  # what a processor's second cache holds
NEWLINE, BLANK = 10, 32
BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")


def is_regular(feed: Path | bytes, separator: str, wide: int, last: bytes | None) -> bool:
    """Look at every byte once: no doubled, leading or trailing blank, ``wide`` fields a line, the ``last`` always the same."""
    blanks, lines = 0, 0
    for block in _blocks(feed):
        blank = block <= BLANK
        ends = np.flatnonzero(block == NEWLINE)
        if blank[0] or (blank[1:] & blank[:-1]).any() or not _ends_with(block, ends, separator, last):
            return False
        found = int(np.count_nonzero(blank))
        if found != len(ends) + np.count_nonzero(block == ord(separator)):
            return False
        blanks += found
        lines += len(ends)
    return blanks == lines * wide


def tidy(data: bytes) -> bytes:
    """Leave one space between columns and none around lines, line for line."""
    data = data.removeprefix(BOM)
    if any(blank in data for blank in (b"\t", b"\r", b"\v", b"\f")):
        data = data.translate(BLANKS)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")


def comment_lines(data: bytes) -> int:
    """How many lines begin with #, blanks before it not counted."""
    return len(re.findall(rb"^[ \t]*#", data.removeprefix(BOM), re.MULTILINE))


def _ends_with(block: Array, ends: Array, separator: str, last: bytes | None) -> bool:
    """Whether every line of the block ends with the separator and these bytes."""
    if last is None:
        return True
    expected = separator.encode() + last
    begins = ends - len(expected)
    if begins[0] < 0:
        return False
    return all(bool((block[begins + i] == letter).all()) for i, letter in enumerate(expected))


def _blocks(feed: Path | bytes) -> Iterator[Array]:
    """The file in blocks of whole lines; the last line gets the newline that it may lack."""
    with feed.open("rb", buffering=0) if isinstance(feed, Path) else BytesIO(feed) as file:
        buffer, kept = bytearray(BLOCK), 0
        while got := file.readinto(memoryview(buffer)[kept:]):
            held = kept + got
            end = buffer.rfind(b"\n", 0, held) + 1
            if end:
                yield np.frombuffer(buffer, np.uint8, count=end)
            rest = bytes(memoryview(buffer)[end:held])
            if len(rest) == len(buffer):
                buffer = bytearray(2 * len(rest))
            buffer[: len(rest)] = rest
            kept = len(rest)
    if kept:
        yield np.frombuffer(bytes(buffer[:kept]) + b"\n", np.uint8)
