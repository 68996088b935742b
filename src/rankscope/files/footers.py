"""Footers of Parquet files and the levels of their pages: Polars panics at some damage, and at damaged levels it ends the process.

A level says if a value is missing. Damaged levels let Polars reserve more memory than there is, which no Python code can catch (measured
with 1.32 to 2.1). Names of fields are those of the format's ``parquet.thrift``, written in Thrift's compact protocol.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankscope.files.raw import first_of_zstd

MAGIC, LOCKED = b"PAR1", b"PARE"
TAIL = 8  # bytes after the footer: its length, and the magic
PAGE_HEAD = 1 << 9  # bytes read for the head of a page; more if its statistics are longer
LONGEST_HEAD = 64 << 20
DEEPEST = 32  # structs within structs
RLE = 3  # the encoding of levels
DATA_PAGE, DATA_PAGE_V2 = 0, 3
TEXT = 6  # the type of texts
ERRORS = (KeyError, TypeError, AttributeError, IndexError, ValueError)  # of values that are missing or of another type
Read = Callable[[int, int], bytes]  # from a place, a number of bytes


class DamageError(Exception):
    """The damage of a file, in words."""


class Thrift:
    """Values in Thrift's compact protocol; a struct is a dict by field number. Raises IndexError if the data end too early."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self) -> int:
        """Read an unsigned number."""
        value = shift = 0
        while shift < 70:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise DamageError("a number without an end")

    def take(self, size: int) -> bytes:
        """Read ``size`` bytes."""
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise IndexError
        return self.data[start : self.at]

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Read the fields of a struct."""
        out: dict[int, Any] = {}
        number = 0
        while head := self.data[self.at]:
            self.at += 1
            number = number + (head >> 4) if head >> 4 else self.value(4, depth)
            kind = head & 15
            out[number] = kind == 1 if kind < 3 else self.value(kind, depth)
        self.at += 1
        return out

    def value(self, kind: int, depth: int) -> Any:
        """Read a value of this kind."""
        if 4 <= kind <= 6:
            value = self.number()
            return (value >> 1) ^ -(value & 1)
        if kind == 8:
            return self.take(self.number())
        if 1 <= kind <= 3:
            return self.take(1)[0]
        if kind == 7:
            return self.take(8)
        if depth > DEEPEST:
            raise DamageError("a struct too deep")
        if kind == 12:
            return self.struct(depth + 1)
        if kind not in {9, 10}:
            raise DamageError("a value of no known kind")
        head = self.take(1)[0]
        count = head >> 4 if head >> 4 < 15 else self.number()
        if count > len(self.data):  # every value takes a byte
            raise IndexError
        return [self.value(head & 15, depth + 1) for _ in range(count)]


@dataclass(frozen=True)
class Chunk:
    """A column of a row group: its name, the place of its pages, their codec, values and unpacked bytes.

    ``optional`` is True if values may be missing, and none are repeated. ``finite`` is True if the file records finite bounds of floats.
    ``full`` is True if it records that no value is missing and each text begins with a letter or sign of ASCII.
    """

    name: str
    start: int
    codec: int
    values: int
    unpacked: int
    optional: bool
    finite: bool
    full: bool


@dataclass(frozen=True)
class Footer:
    """A footer: its place, the number of rows, the columns of every row group, and the rows of each group."""

    start: int
    rows: int
    chunks: tuple[Chunk, ...]
    groups: tuple[int, ...]


def read_footer(read: Read, size: int) -> Footer:
    """Read the footer of a file of ``size`` bytes. Raises DamageError if it contradicts itself or the file."""
    tail = read(size - TAIL, TAIL) if size >= 4 + TAIL else b""
    if tail[4:] == LOCKED or read(0, 4) == LOCKED:
        raise DamageError("the file is encrypted")
    if tail[4:] != MAGIC:
        raise DamageError("it does not end with PAR1")
    length = int.from_bytes(tail[:4], "little")
    start = size - TAIL - length
    if start < 4 or not length:
        raise DamageError("its footer is longer than the file")
    try:
        footer = Thrift(read(start, length)).struct()
        elements, groups = footer[2][1:], footer[4]
        flat = {part[4]: part.get(3, 0) for part in elements} if len(elements) == footer[2][0].get(5) else {}
        chunks = tuple(_chunk(column[3], flat, start) for group in groups for column in group[1])
        sizes = tuple(group[3] for group in groups)
        if sum(sizes) != footer[3] or min(sizes, default=0) < 0:
            raise DamageError("its row groups do not add up")
    except ERRORS as error:
        raise DamageError("its footer is damaged") from error
    return Footer(start, footer[3], chunks, sizes)


def _chunk(facts: dict[int, Any], flat: dict[bytes, int], end: int) -> Chunk:
    """Return a column from its metadata; ``flat`` has the repetition of each column of a schema without nesting."""
    start = min((facts[field] for field in (9, 11) if facts.get(field, 0) > 0), default=0)
    if min(facts[5], facts[6], facts[7]) < 0 or start < 4 or start + facts[7] > end:
        raise DamageError("a column is outside of the file")
    name = facts[3][0]
    statistics = facts.get(12) or {}
    bounds = [statistics.get(field) for field in (5, 6)]
    form = {4: "<f", 5: "<d"}.get(facts[1], "")
    finite = bool(form) and all(
        isinstance(bound, bytes) and len(bound) == struct.calcsize(form) and math.isfinite(*struct.unpack(form, bound))
        for bound in bounds
    )
    most, least = bounds
    visible = isinstance(most, bytes) and isinstance(least, bytes) and least[:1] > b" " and most[:1] < b"\x7f"
    full = statistics.get(3) == 0 and (facts[1] != TEXT or visible)
    return Chunk(name.decode(), start, facts[4], facts[5], facts[6], flat.get(name) == 1, finite, full)


def check_pages(read: Read, chunk: Chunk, end: int) -> None:
    """Check that the pages of a column lie before ``end`` and their levels add up. Raises DamageError if they do not."""
    at, values = chunk.start, 0
    try:
        while values < chunk.values:
            head, length = _page_head(read, at)
            at += length
            if min(head[2], head[3]) < 0 or at + head[3] > end:
                raise DamageError(f"a page of column {chunk.name} is outside of the file")
            if head[1] in {DATA_PAGE, DATA_PAGE_V2}:
                values += head[5 if head[1] == DATA_PAGE else 8][1]
                if chunk.optional:
                    _check_levels(read, at, chunk.codec, head)
            at += head[3]
    except ERRORS as error:
        raise DamageError(f"a page of column {chunk.name} is damaged") from error
    if values != chunk.values:
        raise DamageError(f"the pages of column {chunk.name} hold more values than it has")


def _page_head(read: Read, at: int) -> tuple[dict[int, Any], int]:
    size = PAGE_HEAD
    while True:
        data = Thrift(read(at, size))
        try:
            return data.struct(), data.at
        except IndexError:
            if len(data.data) < size or size > LONGEST_HEAD:
                raise
            size *= 16


def _check_levels(read: Read, at: int, codec: int, head: dict[int, Any]) -> None:
    """Check the levels of a data page; in version 2 they are not packed, and the head has their length."""
    if head[1] == DATA_PAGE_V2:
        _check_runs(read(at, head[8][5]), head[8][5], head[8][1])
    elif head[5][3] == RLE:
        start = _first_bytes(read(at, min(head[3], 64)), codec, 16)
        if len(start) < 4:
            return
        length = int.from_bytes(start[:4], "little")
        if length > head[2] - 4:
            raise IndexError
        if length > len(start) - 4:  # some values are missing
            start = _first_bytes(read(at, head[3]), codec, 4 + length)
        _check_runs(start[4 : 4 + length], length, head[5][1])


def _check_runs(levels: bytes, length: int, count: int) -> None:
    """Check that runs of levels add up to ``count`` within ``length`` bytes; bytes beyond ``levels`` are not checked."""
    data, total, whole = Thrift(levels), 0, len(levels) == length
    while total < count and (whole or data.at < len(levels)):
        try:
            run = data.number()
        except IndexError:
            if whole:
                raise
            return
        packed = run & 1  # eight levels per byte, or one level and its repetitions
        total += 8 * (run >> 1) if packed else run >> 1
        data.at += run >> 1 if packed else 1
        if run < 2 or total >= count + (504 if packed else 1) or data.at > length:
            raise DamageError("which values are missing is damaged")


def _first_bytes(data: bytes, codec: int, size: int) -> bytes:
    """Unpack the first bytes of a page; fewer than ``size`` if a codec gives no more."""
    try:
        if codec == 2:
            return zlib.decompressobj(47).decompress(data, size)
        if codec == 6:
            return first_of_zstd(data, size)
    except (OSError, zlib.error) as error:
        raise DamageError("a page cannot be unpacked") from error
    if codec == 1:
        return _first_of_snappy(data)[:size]
    return data[:size] if codec == 0 else b""


def _first_of_snappy(data: bytes) -> bytes:
    """Return the bytes before the first repetition, which hold the levels unless many values are missing."""
    packed = Thrift(data)
    packed.number()
    tag = packed.take(1)[0]
    length = tag >> 2
    if length > 59:
        length = int.from_bytes(packed.take(length - 59), "little")
    return data[packed.at : packed.at + length + 1] if tag & 3 == 0 else b""
