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
        order, fresh = _ordered(number, ~digit if falling else digit)
        row, number = order[np.flatnonzero(fresh)], np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(fresh) - 1
    return row, number


def _digits(texts: pl.Series) -> Iterator[Array]:
    """The bytes of texts after their common prefix, as whole numbers in the order of the texts."""
    size, same = texts.str.len_bytes().to_numpy(), 0
    longest = int(size.max(initial=0))
    if longest > DIGIT:
        ends = zip(str(texts.min()).encode(), str(texts.max()).encode(), strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    least = int(size.min(initial=longest))
    for start in range(same, max(longest, same + 1), DIGIT):
        is_short = least < start + DIGIT
        padded = (texts.str.pad_end(start + DIGIT, "\0") if is_short else texts).cast(
            pl.Binary
        )  # a character has one byte or more
        if longest > DIGIT or (is_short and (padded.bin.size() != DIGIT).any()):
            padded = padded.bin.slice(start, DIGIT)
        yield padded.bin.reinterpret(dtype=pl.UInt64, endianness="big").to_numpy()
    if least < longest and texts.str.ends_with("\0").any():  # which is padding too
        yield size.astype(np.uint64)
