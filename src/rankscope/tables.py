"""Runs and qrels as tables: the columns, their types, and one check for each thing that can be wrong. Readers in ``files/`` make them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from rankscope.errors import HUGE, MissingExtraError
from rankscope.sources import Fault as Fault  # noqa: PLC0414 - readers take them from here
from rankscope.sources import Source as Source  # noqa: PLC0414

Array = npt.NDArray[Any]
FEW = 1000
IN_CACHE = 1 << 17  # rows that are worked on at once: they stay in the processor's cache
NEAR = 4  # times as many queries before and after are searched first
SEED = 17  # of hashes of ids: equal ids have equal hashes, and others hardly ever do
NO_ROWS = np.empty(0, dtype=np.int64)
# a partial result has a column and an attribute of this name, so that it is never taken for anything else
MARK = "part_of_rankscope"
FROM_CLICKS = "clicks"  # in column 2 of qrels: grades that come from behaviour
PARTIAL = "one part of an evaluation (--partition): rankscope merge makes the result of all its parts"


def column(whole_numbers: Array) -> pl.Series:
    """Whole numbers as a column of a table. A few as a list, so that Polars does not load numpy.ma."""
    few = len(whole_numbers) <= FEW
    return pl.Series(whole_numbers.tolist() if few else whole_numbers, dtype=pl.Int64)


def rows_at(ids: pl.Series, rows: Array) -> pl.Series:
    """The ids in these rows. NumPy takes whole numbers faster."""
    return pl.Series(ids.to_numpy()[rows]) if ids.dtype.is_integer() else ids.gather(column(rows))


def as_texts(ids: pl.Series) -> pl.Series:
    """Ids as texts. Whole numbers between bounds near each other are written once."""
    if not ids.dtype.is_integer():
        return ids
    low, high = ids.min(), ids.max()
    if not isinstance(low, int) or not isinstance(high, int) or high - low >= len(ids) or high >= (1 << 63) - 1:
        return ids.cast(pl.String)
    texts = pl.int_range(low, high + 1, eager=True).cast(pl.String)
    return texts.gather(ids.cast(pl.Int64) - low if low else ids).alias(ids.name)


def pandas_of(frame: pl.DataFrame) -> Any:
    """Return a frame of pandas, made without pyarrow. Raises MissingExtraError if pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("frames of pandas need pandas: pip install pandas") from None
    columns = {}
    for one in frame:
        plain = one.dtype.is_numeric() and not one.null_count()
        columns[one.name] = one.to_numpy() if plain or one.dtype.is_float() else one.to_list()
    return pd.DataFrame(columns)


def sha256_of(frame: pl.DataFrame) -> str:
    """Digest of the values of a table, from any file or memory."""
    sha = hashlib.sha256()
    for column in frame.get_columns():
        sha.update(f"{column.name} {column.dtype} {len(column)}\n".encode())
        sha.update(column.is_null().to_numpy().tobytes())
        if column.dtype == pl.String:
            texts = column.fill_null("")
            sha.update(texts.str.len_bytes().to_numpy().tobytes())
            sha.update("".join(texts.to_list()).encode("utf-8", "surrogatepass"))
        else:
            sha.update(column.fill_null(0).to_numpy().tobytes())
    return sha.hexdigest()


@dataclass(frozen=True)
class Blocks:
    """Consecutive rows of one query: the start and query of each block. ``whole`` if every query is in one block, as in nearly every file."""

    start: Array
    size: Array
    query: pl.Series
    code: Array
    whole: bool = False

    @classmethod
    def of(cls, size: Array, query: pl.Series) -> Blocks:
        """Return blocks of different queries, one after the other."""
        return cls(np.cumsum(size) - size, size, query, np.arange(len(size)), whole=True)


def blocks_of(query: pl.Series) -> Blocks:
    """Find the blocks of equal neighbours in a column of query ids."""
    runs = query.rename("query").rle().struct.unnest()
    size, names = runs["len"].to_numpy().astype(np.int64), runs["value"].alias("query")
    if names.n_unique() == len(names):
        return Blocks.of(size, as_texts(names))
    unique = names.unique(maintain_order=True)
    numbers = pl.DataFrame({"query": unique}).with_row_index("code")
    codes = pl.DataFrame({"query": names}).join(numbers, on="query", how="left", maintain_order="left")
    return Blocks(np.cumsum(size) - size, size, as_texts(unique), codes["code"].to_numpy().astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Table:
    """The common part of runs and qrels: rows of (query, document), and the set of queries."""

    frame: pl.DataFrame
    source: Source = field(default_factory=lambda: Source("table"))
    more_queries: tuple[str, ...] = ()
    as_read: bool = field(default=True, kw_only=True)

    worth: ClassVar[str]

    def having(self, rows: pl.DataFrame, **changes: Any) -> Self:
        """The table with these rows, with ids that may be whole numbers. ``frame``, with ids as texts, is made on first use."""
        made: Any = object.__new__(Qrels if isinstance(self, Qrels) else type(self))
        kept = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "frame"}
        vars(made).update(kept | changes, held=rows)
        return cast("Self", made)

    if TYPE_CHECKING:

        @property
        def held(self) -> pl.DataFrame:
            """The rows, with ids that may be whole numbers."""

    else:

        def __getattr__(self, name: str) -> Any:
            known = vars(self)
            if name == "held" and "frame" in known:  # with texts as ids
                return self.frame
            if name != "frame" or "held" not in known:
                raise AttributeError(name)
            kinds = self.held.schema
            numbers = [self.held[role] for role in ("query_id", "doc_id") if kinds.get(role, pl.String()).is_integer()]
            frame: pl.DataFrame = known.setdefault(
                "frame", self.held.with_columns(map(as_texts, numbers)) if numbers else self.held
            )
            return frame

    def in_texts(self) -> Self:
        """The table with ids as texts."""
        return self if self.held is self.frame else self.having(self.frame, blocks=self.blocks)

    @cached_property
    def blocks(self) -> Blocks:
        """The positions of each query's rows."""
        return blocks_of(self.held["query_id"])

    @cached_property
    def queries(self) -> list[str]:
        """Every query in order of first appearance. Queries without rows come last."""
        seen: list[str] = self.blocks.query.to_list()
        return [*seen, *sorted(set(self.more_queries).difference(seen))] if self.more_queries else seen

    @cached_property
    def names(self) -> pl.Series:
        """``queries`` as a column. Making a hundred thousand strings takes longer than comparing them."""
        return pl.Series("query", self.queries, pl.String) if self.more_queries else self.blocks.query

    @cached_property
    def query_code(self) -> Array:
        """For each row, the number of its query in ``queries``."""
        return np.repeat(self.blocks.code, self.blocks.size)

    @cached_property
    def doc_hash(self) -> Array:
        """The hash of the document of each row."""
        return self.held["doc_id"].hash(seed=SEED).to_numpy()

    @cached_property
    def nan_rows(self) -> Array:
        """The rows with a score or grade that is not a number. A grade must also be finite and small enough to compute with."""
        worth = self.held[self.worth].to_numpy()
        return np.flatnonzero(np.isnan(worth) if self.worth == "score" else ~(np.abs(worth) <= HUGE))

    @cached_property
    def repetitions(self) -> Array:
        """The rows whose (query, document) pair was in an earlier row. Only pairs whose hashes meet are compared in full."""
        if self.blocks.whole:
            few = self.held.height <= IN_CACHE
            rows_again = [NO_ROWS]
            for first, last in [(0, len(self.blocks.size))] if few else self._cut(IN_CACHE):
                at, size = int(self.blocks.start[first : first + 1].sum()), self.blocks.size[first:last]
                hashes = (
                    self.doc_hash if few else self.held["doc_id"].slice(at, int(size.sum())).hash(seed=SEED).to_numpy()
                )
                # the query's number on top, so that sorting finds equal hashes within a query; 32 bits sort three times faster than 64
                bits = len(size).bit_length()
                number = np.repeat(np.arange(len(size), dtype=np.uint32) << np.uint32(32 - bits), size)
                key = (hashes >> np.uint64(32 + bits)).astype(np.uint32) | number
                ordered = np.sort(key)
                same = ordered[1:][ordered[1:] == ordered[:-1]]
                if len(same):
                    alike = np.zeros(1 << 16, dtype=bool)
                    alike[same.astype(np.uint16)] = True  # by their low bits
                    rows_again.append(at + np.flatnonzero(alike.take(key.astype(np.uint16))))
            suspects = np.concatenate(rows_again)
        else:
            suspects = np.arange(self.held.height)
        if not len(suspects):
            return suspects
        rows = self.held.select("query_id", "doc_id")[suspects]
        is_first = rows.select(pl.struct("query_id", "doc_id").is_first_distinct()).to_series().to_numpy()
        return np.asarray(suspects[~is_first])

    def _cut(self, rows: int) -> Iterator[tuple[int, int]]:
        start, ends, first = self.blocks.start, self.blocks.start + self.blocks.size, 0
        while first < len(ends):
            last = max(first + 1, int(np.searchsorted(ends, start[first] + rows, side="right")))
            yield first, last
            first = last

    @cached_property
    def content_sha256(self) -> str:
        """The digest of what the table says, whatever it was read from and in whatever order its rows stand.

        A column of iterations that says the same in every row says nothing, as the second one of most TREC qrels.

        >>> rows = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "grade": [1.0, 0.0]}
        >>> Qrels(pl.DataFrame(rows)).content_sha256 == Qrels(pl.DataFrame(rows).reverse()).content_sha256
        True
        """
        names = ["query_id", "doc_id", self.worth]
        for name in ("iteration", "subgroup"):
            if name in self.frame.columns and self.frame[name].n_unique() > 1:
                names.insert(-1, name)
        rows = self.frame.select(pl.col(name).cast(pl.String) for name in names[:-1])
        rows = rows.with_columns(self.frame[self.worth].cast(pl.Float64) + 0.0).sort(names)  # no -0
        more = sorted(set(self.more_queries).difference(self.blocks.query.to_list()))
        return hashlib.sha256(f"{sha256_of(rows)} {more}".encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def mapping(self) -> dict[str, dict[str, float]]:
        """The same table as ``{query: {document: grade or score}}``."""
        out: dict[str, dict[str, float]] = {query: {} for query in self.queries}
        for query, doc, worth in self.frame.select("query_id", "doc_id", self.worth).iter_rows():
            out[query][doc] = worth
        return out

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the table as ``{query: {document: score}}``, or grades of judgments, as pytrec_eval takes them.

        >>> import rankscope as rs
        >>> rs.read_run({"q1": {"b": 2.0, "a": 1.0}}).to_dict()
        {'q1': {'b': 2.0, 'a': 1.0}}
        """
        return {query: dict(docs) for query, docs in self.mapping.items()}

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars frame."""
        return self.frame

    def to_pandas(self) -> Any:
        """Return the rows as a pandas frame. Raises MissingExtraError if pandas is not installed."""
        return pandas_of(self.frame)

    def rows_of(self, hashes: Array) -> Array:
        """Rows whose document may have one of these hashes: every row that has one, and few others. The caller compares documents."""
        # sixteen times as many places as documents, so that few others share one
        mask = np.uint64((1 << min(max(16 * len(hashes), 1).bit_length(), 26)) - 1)
        is_wanted = np.zeros(int(mask) + 1, dtype=bool)
        is_wanted[hashes & mask] = True
        return np.flatnonzero(is_wanted.take((self.doc_hash & mask).view(np.int64)))

    def by_query(self) -> Self:
        """The same table with the rows of each query together, in the order they had."""
        if self.blocks.whole:
            return self
        return self.having(self.held[np.argsort(self.query_code, kind="stable")], as_read=False)

    def distinct(self, keep: str, *more: str) -> Self:
        """One row per pair (or pair and ``more`` columns): the ``first`` in the file, or the ``best`` by score or grade."""
        frame, keys = (self.frame, ["query_id", "doc_id", *(name for name in more if name in self.frame.columns)])
        if keep == "best":
            frame = frame.with_row_index("row").sort(self.worth, descending=True, maintain_order=True)
            frame = frame.unique(keys, keep="first").sort("row").drop("row")
        else:
            frame = frame.unique(keys, keep="first", maintain_order=True)
        return self._having(frame)

    def without_self_matches(self) -> tuple[Self, int]:
        """The table without documents that are their own query, and how many were left out."""
        same = self.frame["query_id"] == self.frame["doc_id"]
        count = int(same.sum())
        return (self._having(self.frame.filter(~same)) if count else self), count

    def _having(self, frame: pl.DataFrame) -> Self:
        # the query set stays what it was, though a query may lose all its rows
        return self.having(frame, more_queries=tuple(self.queries))


@dataclass(frozen=True, eq=False)
class Run(_Table):
    """A system's rankings: ``query_id``, ``doc_id``, ``score`` and, if there is one, ``rank``.

    Rows stand in the order of the input. ``name`` is the tag or, without one, the file's name.
    """

    name: str = "run"

    worth: ClassVar[str] = "score"

    def named(self, name: str) -> Run:
        """Return the same run under another name, with the same cached facts about its rows."""
        run = copy(self)
        object.__setattr__(run, "name", name)
        return run

    def only_queries(self, first: int, last: int) -> Run:
        """The queries from position ``first`` in ``queries`` up to ``last``, without it. The rows of each query must be adjacent."""
        start = np.append(self.blocks.start, self.held.height)
        at, end = (int(start[min(place, len(start) - 1)]) for place in (first, last))
        without_rows = tuple(self.queries[max(first, len(start) - 1) : last])
        return self.having(self.held.slice(at, end - at), more_queries=without_rows, as_read=False)

    def parts(self, rows: int) -> Iterator[Run]:
        """The run in parts of whole queries and about this many rows. Queries without a row come with the last.

        The rows of each query must stand together.
        """
        start, ends = self.blocks.start, self.blocks.start + self.blocks.size
        cuts = [*self._cut(rows)]
        if len(cuts) < 2:
            yield self
            return
        for first, last in cuts:
            at, end = int(start[first]), int(ends[last - 1])
            more = self.more_queries if last == len(ends) else ()
            as_read = self.as_read and not at  # whose row numbers are those of the file
            numbers, queries = np.arange(last - first), self.blocks.query.slice(first, last - first)
            blocks = Blocks(start[first:last] - at, self.blocks.size[first:last], queries, numbers, True)
            yield self.having(self.held.slice(at, end - at), more_queries=more, as_read=as_read, blocks=blocks)


@dataclass(frozen=True, eq=False)
class Qrels(_Table):
    """Relevance judgments: ``query_id``, ``doc_id``, ``grade`` and ``iteration`` (column 2) where given.

    A grade of 0 or more is a judgment. A negative one marks a document that was pooled but not judged.
    """

    worth: ClassVar[str] = "grade"

    @cached_property
    def _by_hash(self) -> tuple[Array, Array]:
        hashes = self.names.hash(seed=SEED).to_numpy()
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    def places_of(self, queries: pl.Series) -> Array:
        """The position of each of these queries in ``queries``, -1 for a missing one."""
        names, count = self.names, len(queries)
        near = self.__dict__.get("_near", 0)  # where those were that were looked up before
        for first, many in ((max(near - NEAR * count, 0), 2 * NEAR * count), (0, len(names))):
            window = names.slice(first, many)
            at = window.index_of(queries[0]) if count and len(window) else None
            if at is not None and names.slice(first + at, count).equals(queries):  # as where both are sorted
                self.__dict__["_near"] = first + at + count
                return np.arange(first + at, first + at + count)
            if at is not None:
                break
        known, place = self._by_hash
        if not len(known):
            return np.full(len(queries), -1)
        wanted = queries.hash(seed=SEED).to_numpy()
        by, near = np.argsort(wanted), np.empty(len(wanted), dtype=np.int64)
        near[by] = place[np.minimum(np.searchsorted(known, wanted[by]), len(known) - 1)]  # fast where both rise
        places = np.where((names.gather(column(near)) == queries).to_numpy(), near, -1)
        if (known[1:] == known[:-1]).any():  # hashes of two queries meet: all are compared in full
            by_name = dict(zip(self.queries, range(len(known)), strict=True))
            places = np.array([by_name.get(query, -1) for query in queries.to_list()], dtype=np.int64)
        return places

    def only(self, places: Array) -> Qrels:
        """The judgments of the queries at these positions of ``queries``. The rows of each query must be adjacent."""
        first, last = (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)
        if last - first == len(places) and (places[1:] > places[:-1]).all():
            if last - first == len(self.names):
                return self
            if last <= len(self.blocks.size):
                return self._slice(first, last)
        has_rows = places < len(self.blocks.size)
        at, more = places[has_rows], self.names.gather(column(places[~has_rows])).to_list()
        size = self.blocks.size[at]
        rows = np.repeat(self.blocks.start[at] - np.cumsum(size) + size, size) + np.arange(int(size.sum()))
        names = self.blocks.query.gather(column(at))
        blocks = Blocks.of(size, names)
        return self.having(self._rows(rows, names, size), more_queries=tuple(more), as_read=True, blocks=blocks)

    def _slice(self, first: int, last: int) -> Qrels:
        start, size = self.blocks.start[first:last], self.blocks.size[first:last]
        names, at = self.blocks.query.slice(first, last - first), int(start[:1].sum())
        blocks = Blocks(start - start[:1], size, names, np.arange(last - first), whole=True)
        rows = self._rows(slice(at, at + int(size.sum())), names, size)
        return self.having(rows, more_queries=(), as_read=True, blocks=blocks)

    def _rows(self, rows: Array | slice, queries: pl.Series, size: Array) -> pl.DataFrame:
        return self.held[rows] if isinstance(rows, slice) else self.held[column(rows)]

    @cached_property
    def repetitions_by_aspect(self) -> Array:
        """The rows with a (query, document, aspect) that an earlier row has. A document may have one grade per aspect."""
        if not len(self.repetitions):
            return self.repetitions
        keys = [name for name in ("query_id", "doc_id", "iteration", "subgroup") if name in self.frame.columns]
        first = self.frame.select(pl.struct(keys).is_first_distinct()).to_series().to_numpy()
        return np.flatnonzero(~first)


class PackedQrels(Qrels):
    """Judgments of millions of queries in a third of the memory: rows of a query together, each id once, no pair twice."""

    documents: pl.Series
    grades: Array

    def __new__(cls, *arguments: Any, **fields: Any) -> Any:
        """Made of a frame, as a copy with another one is, they are like any others."""
        return Qrels(*arguments, **fields)

    @classmethod
    def of(cls, blocks: Blocks, documents: pl.Series, grades: Array, source: Source) -> PackedQrels:
        """The judgments in these blocks of whole, checked rows."""
        made = object.__new__(cls)
        made.__dict__ |= {
            "documents": documents, "grades": grades, "blocks": blocks, "source": source, "more_queries": (),
            "as_read": True, "nan_rows": NO_ROWS, "repetitions": NO_ROWS,
        }  # fmt: skip
        return made

    def __getattr__(self, name: str) -> pl.DataFrame:
        if name not in {"frame", "held"}:
            raise AttributeError(name)
        return self._rows(slice(None), self.blocks.query, self.blocks.size)

    def _rows(self, rows: Array | slice, queries: pl.Series, size: Array) -> pl.DataFrame:
        ids = queries.gather(column(np.repeat(np.arange(len(size)), size)))
        if not isinstance(rows, slice) and self.documents.n_chunks() > 1:
            self.__dict__["documents"] = self.documents.rechunk()  # or each part would make one of its own
        documents = self.documents[rows] if isinstance(rows, slice) else self.documents.gather(column(rows))
        grade = pl.Series(self.grades[rows].astype(np.float64))
        return pl.DataFrame({"query_id": ids, "doc_id": documents, "grade": grade})
