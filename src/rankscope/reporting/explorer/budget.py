"""How much room rankings take on a page, in bytes, and which of many queries are worth it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from rankscope.lists import Array
from rankscope.reporting.explorer.pool import DocumentPool

# bytes in compact JSON, as measured on pages of the demo and of TREC-COVID and rounded up
LEAST = 5  # documents of each ranking that are shown before queries are left out
CELLS = 12_000_000  # ranks, and as many shares, that are held at once
ID, NUMBER, VALUE, KEYS, GRADE = 3, 2, 12, 90, 7


def interest(values: Array, sign: int) -> Array:
    """The queries, those to look at first coming first: where one run earns something and another nothing, then by how far they differ.

    ``values`` is runs x queries. With one run the worst values come first. Equal ones stay as they were given.

    >>> interest(np.array([[0.5, 0.0, 0.2], [0.9, 0.1, 0.2]]), 1).tolist()
    [1, 0, 2]
    """
    if len(values) == 1:
        return np.argsort(np.where(np.isnan(values[0]), np.inf, (sign or 1) * values[0]), kind="stable")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a query without any value
        spread = np.nan_to_num(np.nanmax(values, axis=0) - np.nanmin(values, axis=0))
    flips = (values == 0).any(axis=0) & (values > 0).any(axis=0)
    return np.lexsort((-spread, ~flips))


def most_queries(budget: int, runs: int, metrics: int, depth: int) -> int:
    """As many queries as are looked at: more than have room with the fewest documents, and not more than fit the memory."""
    least = min(LEAST, depth)
    room = KEYS + 3 * runs * metrics + least * (ID + 2 * NUMBER + NUMBER * runs)
    return max(1, min(budget // room, 2 * CELLS // (runs * runs * least)))


def workable(depth: int, queries: int, runs: int) -> int:
    """How deep can be looked where no two runs share a document, so that ranks and shares fit the memory."""
    return min(depth, max(LEAST, CELLS // max(1, queries * runs * runs)))


def room_of_queries(ids: Sequence[str], texts: Sequence[str], graded: Array, values: tuple[int, ...]) -> Array:
    """What each query takes without its documents."""
    runs, metrics = values
    words = np.array([_bytes(one) + _bytes(text) for one, text in zip(ids, texts, strict=True)], dtype=np.int64)
    return np.asarray(words + KEYS + runs * (9 * metrics + 9 + 3 * NUMBER) + GRADE * graded)


def room_of_documents(pool: DocumentPool, with_text: bool) -> Array:
    """What each document takes, its text left out."""
    ids = np.array([_bytes(doc) for doc in pool.doc_ids], dtype=np.int64)
    digits = np.floor(np.log10(np.maximum(pool.ranks, 1))).astype(np.int64) + NUMBER
    adds = VALUE * (pool.adds != 0)
    return np.asarray(ids + ID + NUMBER + digits.sum(axis=0) + adds.sum(axis=0) + 5 * with_text)


def room_of_text(text: str) -> int:
    """What a text takes, which stands once for all queries."""
    return _bytes(text) + ID + text.count('"') + text.count("\\") + 5 * text.count("<")


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
