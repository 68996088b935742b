"""The order of rows within groups, by numbers and by texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import numpy as np
import polars as pl

from rankscope.lists.sums import Array

DIGIT = 8  # bytes of a text that are compared at once


def order_within(group: Array, values: Array) -> Array:
    """Return the rows by group, then value, then row, as ``np.lexsort((values, group))`` does, but faster."""
    return _ordered(group, values)[0]


def _ordered(group: Array, values: Array) -> tuple[Array, Array]:
    """The rows by group, value and row, and True for each that has another group or value than the one before."""
    bits, fresh = len(values).bit_length(), np.ones(len(values), dtype=bool)
    if 2 * bits + int(group.max(initial=0)).bit_length() > 63:
        order = np.lexsort((values, group))
        fresh[1:] = (np.diff(group[order]) != 0) | (values[order[1:]] != values[order[:-1]])
        return order, fresh
    by = np.argsort(values)
    ordered, level = values[by], np.zeros(len(by), dtype=np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=level[1:])
    # group, value and row as the digits of one number, as plain numbers are sorted fastest
    keys = np.sort((((group[by] << bits) | level) << bits) | by)
    order = keys & ((1 << bits) - 1)
    keys >>= bits
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return order, fresh


def number_texts(group: Array, texts: pl.Series, *, falling: bool = False) -> tuple[Array, Array]:
    """Number the different texts of each group, in the order of groups and texts: a row of each number, and the number of each row.

    Texts are compared by their bytes, a few at a time.
    """
    row, number = np.zeros(0, dtype=np.int64), group
    for digit in _digits(texts):
        order, fresh = _ordered_texts(number, digit, falling)
        row, number = order[np.flatnonzero(fresh)], np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(fresh) - 1
    return row, number


def _ordered_texts(group: Array, digit: Array, falling: bool) -> tuple[Array, Array]:
    """As ``_ordered``, with equal rows in any order, from a single sort if group and digit fit in one number."""
    digit = _squeezed(digit)
    if not len(digit):
        return _ordered(group, digit)
    low, high = digit.min(), digit.max()
    bits = int(high - low).bit_length()
    if bits + int(group.max()).bit_length() > 64:
        return _ordered(group, ~digit if falling else digit)
    keys = group.astype(np.uint64)
    keys <<= np.uint64(bits)
    keys |= high - digit if falling else digit - low
    order, fresh = np.argsort(keys), np.ones(len(keys), dtype=bool)
    keys = keys[order]
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return order, fresh


def _squeezed(digit: Array) -> Array:
    """Eight bytes of ASCII as 56 bits in the same order. Others as they are."""
    if int(np.bitwise_or.reduce(digit)) & 0x8080808080808080:
        return digit
    for width, low in ((1, 0x007F007F007F007F), (2, 0x00003FFF00003FFF), (4, 0x000000000FFFFFFF)):
        right = digit & np.uint64(low)
        digit = digit ^ right
        digit >>= np.uint64(width)
        digit |= right
    return digit


def _digits(texts: pl.Series) -> Iterator[Array]:
    """The bytes of texts after their common prefix, as whole numbers in the order of the texts."""
    size, same = texts.str.len_bytes().to_numpy(), 0
    longest = int(size.max(initial=0))
    if longest > DIGIT:
        ends = zip(str(texts.min()).encode(), str(texts.max()).encode(), strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    least = int(size.min(initial=longest))
    if least == longest == DIGIT:
        yield texts.cast(pl.Binary).bin.reinterpret(dtype=pl.UInt64, endianness="big").to_numpy()
        return
    data, at = texts.str.join("")[0].encode() + bytes(DIGIT), np.cumsum(size, dtype=np.int64) - size
    eight = np.ndarray((len(data) - DIGIT + 1,), ">u8", data, 0, (1,))  # the bytes from each place on
    for start in range(same, max(longest, same + 1), DIGIT):
        digit = eight[np.minimum(at + start, len(eight) - 1)].astype(np.uint64)
        if least < start + DIGIT:  # bytes of the next text become 0
            beyond = (8 * np.clip(start + DIGIT - size.astype(np.int64), 0, DIGIT)).astype(np.uint64)
            digit = (digit >> beyond) << beyond
        yield digit
    if least < longest and texts.str.ends_with("\0").any():  # which is padding too
        yield size.astype(np.uint64)
