"""Footers and pages of Parquet files, looked over before Polars reads them: over some kinds of damage it panics or ends the process.

What is read are the footer and the head of each page, in Thrift's compact protocol, and the definition levels that a page begins with.
Field numbers are those of the format's ``parquet.thrift``. Values themselves are not looked at.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rankscope.files import zstd

MAGIC, LOCKED = b"PAR1", b"PARE"
TAIL = 8  # length of the footer, and the magic
HEAD = 1 << 9  # bytes read for the head of a page, and more where statistics make it longer
DEEPEST = 32  # structs within structs
CLAIM = 64 << 20  # bytes of a page from which on its claim is compared with that of its column
RLE = 3  # the encoding of levels
REPEATED = 2
READ = Callable[[int, int], bytes]  # from here, so many bytes


class DamageError(Exception):
    """What is wrong with a file."""


class Thrift:
    """Values in Thrift's compact protocol; a struct is a dict from the numbers of its fields. Raises IndexError where they end too early."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self) -> int:
        """An unsigned number of any length."""
        value = shift = 0
        while shift < 70:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise DamageError("a number without an end")

    def signed(self) -> int:
        """A number that may be negative."""
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def take(self, size: int) -> bytes:
        """So many bytes."""
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise IndexError
        return self.data[start : self.at]

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct."""
        out: dict[int, Any] = {}
        number = 0
        while head := self.data[self.at]:
            self.at += 1
            number = number + (head >> 4) if head >> 4 else self.signed()
            kind = head & 15
            out[number] = kind == 1 if kind < 3 else self.value(kind, depth)
        self.at += 1
        return out

    def value(self, kind: int, depth: int) -> Any:
        """A value of this kind; in a list a truth is a byte."""
        if 4 <= kind <= 6:
            return self.signed()
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
class Leaf:
    """A column as the schema has it: the name that is on top, its type, how often it may be missing and how often repeated."""

    name: str
    kind: Any
    missing: int
    repeated: int


@dataclass(frozen=True)
class Chunk:
    """A column of a row group: where its pages begin, how they are packed, how many values they hold, and their bytes unpacked.

    ``bounds`` are the least and the largest value as they are written, empty where they are not said.
    """

    leaf: Leaf
    start: int
    codec: int
    values: int
    unpacked: int
    bounds: tuple[bytes, bytes] = (b"", b"")

    @property
    def finite(self) -> bool:
        """Whether these are doubles or floats of which the least and the largest are known to be finite."""
        form = {4: "<f", 5: "<d"}.get(self.leaf.kind, "")
        if not form or any(len(bound) != struct.calcsize(form) for bound in self.bounds):
            return False
        return all(math.isfinite(struct.unpack(form, bound)[0]) for bound in self.bounds)


@dataclass(frozen=True)
class Footer:
    """What a footer says: where it begins, how many rows there are, the columns of every row group, and the rows of each."""

    start: int
    rows: int
    chunks: tuple[Chunk, ...]
    groups: tuple[int, ...]


def read_footer(read: READ, size: int) -> Footer:
    """The footer of a file of so many bytes. Raises DamageError for one that contradicts itself or the file."""
    tail = read(size - TAIL, TAIL) if size >= 4 + TAIL else b""
    if tail[4:] == LOCKED or read(0, 4) == LOCKED:
        raise DamageError("it is encrypted")
    if tail[4:] != MAGIC:
        raise DamageError("it does not end with PAR1")
    length = int.from_bytes(tail[:4], "little")
    start = size - TAIL - length
    if start < 4 or not length:
        raise DamageError("its footer is longer than the file")
    try:
        data = Thrift(read(start, length))
        said = data.struct()
        leaves = tuple(_leaves(said[2]))
        groups = said[4]
        if data.at != length or said[3] < 0 or sum(group[3] for group in groups) != said[3]:
            raise DamageError("its row groups do not add up")
        chunks = tuple(_chunk(*pair, group[3], start) for group in groups for pair in _columns(leaves, group))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise DamageError("its footer is damaged") from error
    return Footer(start, said[3], chunks, tuple(group[3] for group in groups))


def _columns(leaves: tuple[Leaf, ...], group: dict[int, Any]) -> Iterator[tuple[Leaf, dict[int, Any]]]:
    return zip(leaves, group[1], strict=True)


def _leaves(elements: list[dict[int, Any]]) -> Iterator[Leaf]:
    """The columns of a schema, which is a list of its parts, each before those that it is made of."""
    rest = iter(elements[1:])

    def within(count: int, name: str, missing: int, repeated: int, depth: int) -> Iterator[Leaf]:
        if depth > DEEPEST:
            raise DamageError("a column too deep")
        for _ in range(count):
            part = next(rest, None)
            if part is None:
                raise DamageError("its schema is cut short")
            own, kind = part[4].decode(), part.get(3, 0)
            if kind not in {0, 1, REPEATED}:
                raise DamageError("a column of no known kind")
            inner = name or own, missing + (kind > 0), repeated + (kind == REPEATED)
            if part.get(5):
                yield from within(part[5], *inner, depth + 1)
            else:
                yield Leaf(inner[0], part[1], *inner[1:])

    yield from within(elements[0].get(5, 0), "", 0, 0, 0)
    if next(rest, None) is not None:
        raise DamageError("its schema has parts beyond its columns")


def _chunk(leaf: Leaf, column: dict[int, Any], rows: int, end: int) -> Chunk:
    said = column[3]
    start = min((said[at] for at in (9, 11) if said.get(at, 0) > 0), default=0)
    if min(said[5], said[6], said[7], rows) < 0 or start < 4 or start + said[7] > end or said[9] > end:
        raise DamageError("a column lies outside of it")
    if said[1] != leaf.kind or not 0 <= said[4] <= 7 or (said[5] != rows if not leaf.repeated else said[5] < 0):
        raise DamageError(f"column {leaf.name} contradicts the schema")
    facts = said.get(12)
    low, high = (facts.get(6), facts.get(5)) if isinstance(facts, dict) else (None, None)
    bounds = (low, high) if isinstance(low, bytes) and isinstance(high, bytes) else (b"", b"")
    return Chunk(leaf, start, said[4], said[5], said[6], bounds)


def check_pages(read: READ, chunk: Chunk, end: int) -> None:
    """See that the pages of a column hold its values and lie before ``end``. Raises DamageError where they do not."""
    at, values = chunk.start, 0
    try:
        while values < chunk.values:
            head, length = _page_head(read, at)
            packed, unpacked = head[3], head[2]
            at += length
            if min(packed, unpacked) < 0 or at + packed > end:
                raise DamageError(f"a page of column {chunk.leaf.name} lies outside of it")
            if (unpacked > CLAIM and unpacked > chunk.unpacked) or (not chunk.codec and packed != unpacked):
                raise DamageError(f"a page of column {chunk.leaf.name} is not of the size it says")
            if head[1] == 2:
                _check_dictionary(chunk, head[7], unpacked)
            if head[1] in {0, 3}:
                values += _check_levels(read, at, chunk, head)
            at += packed
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise DamageError(f"a page of column {chunk.leaf.name} is damaged") from error
    if values != chunk.values:
        raise DamageError(f"the pages of column {chunk.leaf.name} hold more values than it has")


def _page_head(read: READ, at: int) -> tuple[dict[int, Any], int]:
    size = HEAD
    while True:
        data = Thrift(read(at, size))
        try:
            return data.struct(), data.at
        except IndexError:
            if len(data.data) < size or size > CLAIM:
                raise
            size *= 16


def _check_dictionary(chunk: Chunk, said: dict[int, Any], unpacked: int) -> None:
    least = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 4}.get(chunk.leaf.kind, 1)  # bytes of a value
    if said[1] < 0 or said[1] * least > unpacked:
        raise DamageError(f"the dictionary of column {chunk.leaf.name} is not of the size it says")


def _check_levels(read: READ, at: int, chunk: Chunk, head: dict[int, Any]) -> int:
    """How many values a data page has; where any may be missing, the runs that say which must add up to as many."""
    first = head[1] == 0
    said = head[5] if first else head[8]
    count, flat = said[1], chunk.leaf.missing == 1 and not chunk.leaf.repeated
    if count < 0 or not 0 <= said[2 if first else 4] <= 9:
        raise DamageError(f"a page of column {chunk.leaf.name} is damaged")
    if not first:
        if min(said[5], said[6]) < 0 or said[5] + said[6] > head[3] or not 0 <= said[2] <= count:
            raise DamageError(f"a page of column {chunk.leaf.name} is damaged")
        if flat:
            _check_runs(read(at, said[5]), said[5], count)
    elif flat and said[3] == RLE:
        start = _first_bytes(read(at, min(head[3], 64)), chunk.codec, 16)
        if len(start) >= 4:
            length = int.from_bytes(start[:4], "little")
            if length > head[2] - 4:
                raise DamageError(f"a page of column {chunk.leaf.name} is damaged")
            if length > len(start) - 4:  # some are missing
                start = _first_bytes(read(at, head[3]), chunk.codec, 4 + length)
            _check_runs(start[4 : 4 + length], length, count)
    return int(count)


def _check_runs(levels: bytes, length: int, count: int) -> None:
    """Runs of levels 0 and 1 add up to ``count`` within ``length`` bytes, as far as they are there."""
    data, found = Thrift(levels), 0
    whole = len(levels) == length
    while found < count and (whole or data.at < len(levels)):
        try:
            run = data.number()
            if run & 1:  # packed eight to a byte; the last may be filled up
                data.take(run >> 1)
                found += 8 * (run >> 1)
            else:
                found += run >> 1
                if data.take(1)[0] > 1 or found > count:
                    raise DamageError("which values are missing is damaged")
        except IndexError:
            if whole:
                raise
            if data.at > length:
                raise DamageError("which values are missing is damaged") from None
            return
        if run < 2 or found >= count + 504:
            raise DamageError("which values are missing is damaged")


def _first_bytes(data: bytes, codec: int, size: int) -> bytes:
    """At least the first ``size`` bytes of what is packed, where that can be had; what cannot is b""."""
    if codec == 0:
        return data[:size]
    if codec == 1:
        return _first_of_snappy(data, size)
    try:
        if codec == 2:
            return zlib.decompressobj(47).decompress(data, size)
        return zstd.first_bytes(data, size) if codec == 6 else b""
    except (OSError, zlib.error) as error:
        raise DamageError("a page cannot be unpacked") from error


def _first_of_snappy(data: bytes, size: int) -> bytes:
    packed, out = Thrift(data), bytearray()
    whole = packed.number()
    while len(out) < min(size, whole) and packed.at < len(data):
        tag = packed.take(1)[0]
        if tag & 3 == 0:
            length = tag >> 2
            if length > 59:
                length = int.from_bytes(packed.take(length - 59), "little")
            out += data[packed.at : packed.at + length + 1]
            packed.at += length + 1
            continue
        more = packed.take((0, 1, 2, 4)[tag & 3])
        length = (tag >> 2 & 7) + 4 if tag & 3 == 1 else (tag >> 2) + 1
        back = (tag >> 5 << 8) + more[0] if tag & 3 == 1 else int.from_bytes(more, "little")
        if not 0 < back <= len(out):
            raise DamageError("a page is damaged")
        for _ in range(length):
            out.append(out[-back])
    return bytes(out[:size])
