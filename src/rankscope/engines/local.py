"""The Polars engine: a run and qrels as tables, millions of rows shrunk to the judged ones.

Speed comes from doing less: the order is checked in one pass and repaired only if it is wrong,
document ids are compared only among equal scores, and nothing is joined but judged documents. Nothing crosses a query, so a run is
judged in parts of whole queries, each while it lies in the processor's cache, and the answers are laid end to end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from rankscope.engines.base import ASPECTS, DataFacts, Order
from rankscope.engines.orders import order_within
from rankscope.errors import InputError
from rankscope.lists import MANY, Array, Aspects, Ids, Judged, NarrowJudged, judged_order
from rankscope.parallel import map_parts
from rankscope.tables import IN_CACHE, Qrels, Run, as_texts, column, rows_at

PART = IN_CACHE  # rows of a part
NO_RUN = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64, "rank": pl.Int32}  # the columns of a run
SHORT = 64  # rows of a query up to which each judgment may be compared with all of them
BY_CELLS = 40  # comparisons for each row up to which it is faster than sorting
AT_ONCE = 1 << 13  # judgments that are compared at once
NO_PLACES = np.empty(0, dtype=np.int64)
NAMELESS = {"0", "Q0"}  # what stands in column 2 of qrels without subtopics


@dataclass(frozen=True, eq=False)
class Several:
    """Qrels with one row per document and its highest grade, and the grades by aspect. ``row`` is the row of each entry."""

    qrels: Qrels
    row: Array
    aspect: Array
    group: Array
    grade: Array
    where: str

    def lay_out(self, by: Array) -> Aspects:
        """The entries of the documents in this order of the rows."""
        place = np.empty(len(by), dtype=np.int64)
        place[by] = np.arange(len(by))
        at = place[self.row]
        order = np.lexsort((self.aspect, at))
        count = np.bincount(at, minlength=len(by))
        return Aspects(count, self.aspect[order], self.group[order], self.grade[order], self.where)


def several(qrels: Qrels) -> Several:
    """Take the aspects of every document from the qrels."""
    frame = qrels.frame
    named = "iteration" in frame.columns
    aspect = pl.col("iteration") if named else pl.lit("0")
    part = pl.col("subgroup") if "subgroup" in frame.columns else pl.lit("")
    entries = frame.select("query_id", "doc_id", "grade", group=aspect, aspect=pl.struct(a=aspect, b=part))
    documents = entries.group_by("query_id", "doc_id", maintain_order=True).agg(pl.col("grade").max())
    rows = entries.join(
        documents.select("query_id", "doc_id").with_row_index("row"),
        on=["query_id", "doc_id"],
        how="left",
        maintain_order="left",
    ).with_columns(
        # numbered in the order of their names, so that the order of the file does not matter
        pl.col("aspect").rank("dense").over("query_id").cast(pl.Int64) - 1,
        pl.col("group").rank("dense").over("query_id").cast(pl.Int64) - 1,
    )
    whole = replace(qrels, frame=documents, more_queries=tuple(qrels.queries))
    row, aspects, group, grade = (rows[name].to_numpy() for name in ("row", "aspect", "group", "grade"))
    return Several(whole, row.astype(np.int64), aspects, group, grade, qrels.source.label)


def check_subtopics(qrels: Qrels) -> None:
    """Refuse qrels that name no subtopics."""
    named = "iteration" in qrels.frame.columns
    refuse_nameless(qrels.frame["iteration"].unique().sort().to_list() if named else [], qrels.source.label)


def refuse_nameless(subtopics: list[str], label: str) -> None:
    """Refuse qrels with these values in column 2 if subtopics are needed. None is a table without that column."""
    if set(subtopics) <= NAMELESS:
        problem = f"column 2 is {subtopics[0]!r} throughout" if subtopics else "a column for them is missing"
        raise InputError(
            f"{label} names no subtopics ({problem}): diversity metrics need qrels with a subtopic in column 2, "
            "or a column named subtopic"
        )


def places_by_id(query: Array, ids: pl.Series) -> Array:
    """For each document its place when the ids of its query rise (as bytes)."""
    documents = pl.DataFrame({"query": query, "doc": ids, "row": np.arange(len(query))})
    order = documents.sort("query", "doc")["row"].to_numpy()
    place = np.empty(len(order), dtype=np.int64)
    sizes = np.bincount(query) if len(query) else np.zeros(0, dtype=np.int64)
    start = np.cumsum(sizes) - sizes
    place[order] = np.arange(len(order)) - start[query[order]] if len(order) else order
    return place


def judge(run: Run, qrels: Qrels, order: Order, place: Array | None = None) -> tuple[Judged, DataFacts]:
    """Find each query's judged documents in the run: their grades, ranks and tied groups.

    Rows of the answer follow ``qrels.queries`` and, if ``order.extra``, the unjudged queries of the
    run. The run must hold no pair twice and no NaN score. ``place`` is the position of each query of the run in
    ``qrels.queries`` (-1: unjudged), if the caller knows it.
    """
    graded = several(qrels) if order.needs & ASPECTS else None
    qrels, run = graded.qrels if graded else qrels, run.by_query()
    if qrels.held["doc_id"].dtype != run.held["doc_id"].dtype:
        qrels, run = qrels.in_texts(), run.in_texts()
    place = qrels.places_of(run.names) if place is None else place
    ranked = RankedRun(run, order)
    extra = _named(run.names, place < 0)
    names: Sequence[str] = Ids(qrels.names) if len(qrels.names) > MANY else qrels.queries
    names = Ids.join([names, extra]) if order.extra and extra else names
    # queries without a row stand behind the others
    size = np.append(ranked.size, np.zeros(len(place) - len(ranked.size), dtype=np.int64))
    retrieved = np.zeros(len(names), dtype=np.int64)
    retrieved[place[place >= 0]] = size[place >= 0]
    if order.extra:
        retrieved[len(qrels.names) :] = size[place < 0]
    if order.depth is not None:
        retrieved = np.minimum(retrieved, order.depth)

    missing = np.ones(len(qrels.names), dtype=bool)
    missing[place[place >= 0]] = False
    place = place[: len(ranked.size)]
    judged = _lay_out(qrels, _rows_of(qrels, run, place), ranked, names, retrieved, order, graded)
    counted = place >= 0
    seen = DataFacts(
        rows=run.held.height,
        queries=len(run.names),
        missing=tuple(_named(qrels.names, missing)),
        extra=tuple(extra),
        tied_rows=len(ranked.tied_places),
        # a cutoff may fall between equal scores
        tied_at={k: int(ranked.same[ranked.start[(ranked.size > k) & counted] + k].sum()) for k in order.cutoffs},
        disagreeing=ranked.disagreeing,
        tied_in_top=ranked.tied_in_top(order.cutoffs, counted),
    )
    return judged, seen


def _named(names: pl.Series, where: Array) -> list[str]:
    at = np.flatnonzero(where)
    named: list[str] = names.gather(column(at)).to_list() if len(at) else []
    return named


def judge_in_parts(run: Run, qrels: Qrels, order: Order) -> tuple[Judged, DataFacts]:
    """Do the work of ``judge`` in parts of whole queries and on all cores. The rows of each query must be adjacent in the qrels."""
    parts = run.by_query().parts(PART)
    return join(list(map_parts(lambda part: judge_part(part, qrels, order), parts)), qrels, order)


def judge_part(run: Run, qrels: Qrels, order: Order) -> tuple[Judged, DataFacts]:
    """Judge the queries of one part of a run, and no others."""
    place = qrels.places_of(run.names)
    known = place >= 0
    return judge(run, qrels.only(place[known]), order, np.where(known, np.cumsum(known) - 1, -1))


def join(parts: Sequence[tuple[Judged, DataFacts]], qrels: Qrels, order: Order) -> tuple[Judged, DataFacts]:
    """Join the answers of the parts of a run, and add the queries of the qrels that are in no part."""
    place = np.concatenate([places_of(qrels, judged.query_id) for judged, _ in parts]) if parts else NO_PLACES
    without = np.ones(len(qrels.names), dtype=bool)
    without[place[place >= 0]] = False
    if without.any():
        parts = [*parts, judge_missing(qrels.only(np.flatnonzero(without)), order)]
        place = np.append(place, np.flatnonzero(without))
    laid = NarrowJudged.join([judged for judged, _ in parts])
    # judged queries in the order of the qrels, then the others as they come
    place = np.where(place < 0, len(qrels.names), place)
    if (place[1:] < place[:-1]).any():
        laid = laid.of(np.argsort(place, kind="stable"))
    return laid, join_facts([facts for _, facts in parts], order)


def places_of(qrels: Qrels, queries: Sequence[str]) -> Array:
    """The positions of queries in the qrels, -1 for a missing one."""
    return qrels.places_of(queries.column if isinstance(queries, Ids) else pl.Series(queries, dtype=pl.String))


def judge_missing(qrels: Qrels, order: Order) -> tuple[Judged, DataFacts]:
    """The answer for queries that are missing from a run."""
    return judge(Run(pl.DataFrame(schema=NO_RUN)), qrels, order)


def join_facts(facts: Sequence[DataFacts], order: Order) -> DataFacts:
    """Join the facts of the parts of a run."""
    extra = tuple(chain.from_iterable(part.extra for part in facts))
    ranks = [part.disagreeing for part in facts if part.rows]  # None if a part has no rank column
    return DataFacts(
        rows=sum(part.rows for part in facts),
        queries=sum(part.queries for part in facts),
        missing=tuple(chain.from_iterable(part.missing for part in facts)),
        extra=extra,
        tied_rows=sum(part.tied_rows for part in facts),
        tied_at={k: sum(part.tied_at[k] for part in facts) for k in order.cutoffs},
        disagreeing=None if None in ranks else sum(filter(None, ranks)),
        tied_in_top={k: sum(part.tied_in_top[k] for part in facts) for k in order.cutoffs},
        again_in_top=dict(sum((Counter(part.again_in_top) for part in facts), Counter())),
    )


def _rows_of(qrels: Qrels, run: Run, number: Array) -> Array:
    """For each judgment the row of the run that holds its document (-1: none). ``number`` is the qrels position of each query of the run (-1: unjudged)."""
    width = int(run.blocks.size.max(initial=0))
    if 0 < width <= SHORT and width * len(qrels.doc_hash) <= BY_CELLS * run.held.height:
        return _rows_of_short(qrels, run, number, width)
    row = run.rows_of(qrels.doc_hash)
    query = number[run.query_code[row]]
    row, query = row[query >= 0], query[query >= 0]
    run_rows = np.full(len(qrels.doc_hash), -1)
    if not len(row):
        return run_rows
    bits = np.uint64(64 - len(qrels.names).bit_length())
    below = np.uint64(64) - bits
    key = (run.doc_hash[row] >> below) | (query.astype(np.uint64) << bits)
    wanted = (qrels.doc_hash >> below) | (qrels.query_code.astype(np.uint64) << bits)
    by = np.argsort(key)
    key, sorted_row = key[by], row[by]
    if (key[1:] == key[:-1]).any():
        return _rows_in_full(qrels, run, row, query)
    near = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    at = np.flatnonzero(key[near] == wanted)
    row = sorted_row[near[at]]
    kept = _same(qrels, at, run, row)
    run_rows[at[kept]] = row[kept]
    return run_rows


def _rows_of_short(qrels: Qrels, run: Run, number: Array, width: int) -> Array:
    """The same if all rankings are short, of ``width`` rows at most: each judgment is compared with all rows of its query, by few bits first."""
    bits = np.append(run.doc_hash.astype(np.uint16), np.zeros(width - 1, dtype=np.uint16))
    wanted, blocks = qrels.doc_hash.astype(np.uint16), run.blocks
    block = np.full(len(qrels.names), -1)
    held = number[: len(blocks.size)]  # a query without a row has no block
    block[held[held >= 0]] = np.flatnonzero(held >= 0)
    block = block[qrels.query_code]
    judged = np.flatnonzero(block >= 0)
    block, rows = block[judged], np.lib.stride_tricks.sliding_window_view(bits, width)[blocks.start]
    hits = [np.empty(0, dtype=np.int64)]
    for at in range(0, len(judged), AT_ONCE):  # few enough to stay in the cache
        some = slice(at, at + AT_ONCE)
        alike = rows.take(block[some], axis=0) == wanted[judged[some], None]
        hits.append(np.flatnonzero(alike) + at * width)
    which, place = np.divmod(np.concatenate(hits), width)
    inside = place < blocks.size[block[which]]
    at, row = judged[which[inside]], (blocks.start[block[which]] + place)[inside]
    same = _same(qrels, at, run, row)
    run_rows = np.full(len(wanted), -1)
    run_rows[at[same]] = row[same]
    return run_rows


def _same(qrels: Qrels, at: Array, run: Run, row: Array) -> Array:
    """Return true for each pair of a judgment and a row with the same document."""
    return (rows_at(qrels.held["doc_id"], at) == rows_at(run.held["doc_id"], row)).to_numpy()


def _rows_in_full(qrels: Qrels, run: Run, row: Array, query: Array) -> Array:
    judgments = qrels.held.select(column(qrels.query_code).alias("query"), "doc_id")
    rows = run.held.select("doc_id")[column(row)].with_columns(column(query).alias("query"), column(row).alias("row"))
    joined = judgments.join(rows, on=["query", "doc_id"], how="left", maintain_order="left")
    return joined["row"].fill_null(-1).to_numpy()


def _lay_out(
    qrels: Qrels,
    row: Array,
    ranked: RankedRun,
    names: Sequence[str],
    retrieved: Array,
    order: Order,
    graded: Several | None,
) -> Judged:
    """The judgments as flat lists, retrieved documents of each query first, in rank order. ``row`` is the row of the run, -1 for none."""
    query, grade = qrels.query_code, qrels.held["grade"].to_numpy()
    place = ranked.place_of(row)
    rank = np.where(place >= 0, ranked.rank_at(place), 0)
    if order.depth is not None:
        rank = np.where(rank <= order.depth, rank, 0)
    in_run = np.bincount(query[rank > 0], minlength=len(names))
    by = judged_order(query, rank, grade)
    rank = rank[by]
    is_retrieved = rank > 0
    tie_start, tie_size = ranked.ties_at(np.where(is_retrieved, place[by], -1), rank)
    score = None
    if "score" in order.needs:
        score = np.full(len(by), np.nan)
        score[is_retrieved] = ranked.run.held["score"].to_numpy()[row[by[is_retrieved]]]
    return Judged(
        query_id=names,
        retrieved=retrieved,
        size=np.bincount(query, minlength=len(names)),
        in_run=in_run,
        grade=grade[by],
        rank=rank,
        tie_start=tie_start,
        tie_size=tie_size,
        score=score,
        aspects=graded.lay_out(by) if graded else None,
        by_id=places_by_id(query, qrels.frame["doc_id"])[by] if "identities" in order.needs else None,
    )


class RankedRun:
    """A run in order. A *place* is a position when queries follow one another, each best first.

    ``same`` tells where a score equals the one before, ``tied_places`` where another document of the query has the same score, and
    ``disagreeing`` in how many queries the rank column contradicts the scores. Only what was out of order is remembered: most files are
    sorted but for a few ties.
    """

    def __init__(self, run: Run, order: Order) -> None:
        self.run, self.ties = run, order.ties
        self.start, self.size = run.blocks.start, run.blocks.size
        has_rank = "rank" in run.held.columns
        if order.ties == "rank" and not has_rank:
            raise InputError(f"{run.source.label} has no rank column of whole numbers, which ties='rank' needs")
        self.disagreeing: int | None = None
        self.tied_places = np.empty(0, dtype=np.int64)
        rank = run.held["rank"].to_numpy() if has_rank else None
        if order.ties == "rank":
            self.same = np.zeros(run.held.height, dtype=bool)
            permutation: Array | None = self._by_rank(rank)
        else:
            permutation = self._by_score()
            self.disagreeing = None if rank is None else self._count_disagreeing(rank, permutation)
        places = np.empty(0, dtype=np.int64)
        if permutation is not None:
            places = np.flatnonzero(permutation != np.arange(len(permutation)))
        rows = places if permutation is None else permutation[places]
        by = np.argsort(rows)
        self.moved_row, self.moved_place = rows[by], places[by]

    def _by_score(self) -> Array | None:
        """The rows in order, best score first, or None if they are in order already."""
        score = self.run.held["score"].to_numpy()
        rising = score[1:] > score[:-1]
        rising[self.start[1:] - 1] = False
        permutation = None
        if rising.any():
            # a stable sort keeps the order of the file among equals
            permutation = order_within(np.repeat(np.arange(len(self.size)), self.size), -score)
            score = score[permutation]
        self.same = np.append(False, score[1:] == score[:-1])[: len(score)]
        self.same[self.start] = False
        if not self.same.any():
            return permutation
        self.tied_places = np.flatnonzero(self.same | np.append(self.same[1:], False))
        if self.ties == "input":
            return permutation
        return self._order_ties(np.cumsum(~self.same[self.tied_places]), permutation)

    def _count_disagreeing(self, rank: Array, permutation: Array | None) -> int:
        tied = self.tied_places
        rank = rank[permutation] if permutation is not None else rank.copy() if len(tied) else rank
        if len(tied):
            rank[tied] = rank[tied][np.lexsort((rank[tied], np.cumsum(~self.same[tied])))]
        falls = rank[1:] < rank[:-1]
        falls[self.start[1:] - 1] = False
        number = np.searchsorted(self.start, np.flatnonzero(falls) + 1, side="right")  # of their queries, which rise
        return int(np.count_nonzero(number[1:] != number[:-1])) + bool(len(number))

    def _by_rank(self, rank: Any) -> Array:
        code = np.repeat(np.arange(len(self.size)), self.size)
        order = np.lexsort((rank, code))
        twice = np.flatnonzero((np.diff(rank[order]) == 0) & (np.diff(code[order]) == 0))
        if len(twice):
            row = int(order[twice[0] + 1])
            query, number = self.run.frame["query_id"][row], rank[order[twice[0] + 1]]
            source = self.run.source
            where = source.at(row) if source.line_of and self.run.as_read else source.label
            raise InputError(
                f"{where}: rank {number} of query {query} is given twice, so ties='rank' has no order; use ties='trec'"
            )
        return order

    def _order_ties(self, group: Array, permutation: Array | None) -> Array | None:
        tied = self.tied_places
        rows = tied if permutation is None else permutation[tied]
        ids = as_texts(self.run.held["doc_id"].gather(column(rows)))
        down = self.ties == "trec"
        before, after = ids[:-1], ids[1:]
        if (after < before if down else after > before).to_numpy()[group[1:] == group[:-1]].all():
            return permutation
        by = pl.DataFrame({"group": column(group), "doc": ids, "row": column(rows)})
        by = by.sort("group", "doc", descending=[False, down])
        permutation = np.arange(len(self.same)) if permutation is None else permutation
        permutation[tied] = by["row"].to_numpy()
        return permutation

    def tied_in_top(self, cutoffs: tuple[int, ...], counted: Array) -> dict[int, int]:
        """For each cutoff, how many documents above it share their score, in the queries counted."""
        if not len(self.tied_places):
            return dict.fromkeys(cutoffs, 0)
        block = np.searchsorted(self.start, self.tied_places, side="right") - 1
        above = (self.tied_places - self.start[block])[counted[block]]
        return {k: int((above < k).sum()) for k in cutoffs}

    def place_of(self, row: Array) -> Array:
        """The positions of rows of the run in the order."""
        if not len(self.moved_row):
            return row
        near = np.minimum(np.searchsorted(self.moved_row, row), len(self.moved_row) - 1)
        return np.where(self.moved_row[near] == row, self.moved_place[near], row)

    @property
    def rows(self) -> Array:
        """The rows of the run in order."""
        rows = np.arange(self.run.held.height)
        rows[self.moved_place] = self.moved_row
        return rows

    def row_at(self, place: Array) -> Array:
        """The row of the run at each position."""
        if not len(self.moved_row):
            return place
        by = np.argsort(self.moved_place)
        near = np.minimum(np.searchsorted(self.moved_place[by], place), len(by) - 1)
        return np.where(self.moved_place[by][near] == place, self.moved_row[by][near], place)

    def rank_at(self, place: Array) -> Array:
        """The 1-based rank at each place. Anything if the place is -1."""
        if not len(self.start):
            return np.zeros(len(place), dtype=np.int64)
        return place - self.start[self.run.query_code[place]] + 1

    def ties_at(self, place: Array, rank: Array) -> tuple[Array, Array]:
        """First rank and size of the tied group at each position with this rank, 0 and 1 if the position is -1."""
        start, size = rank.copy(), np.ones(len(place), dtype=np.int64)
        if len(self.tied_places) and len(tied := np.flatnonzero(np.isin(place, self.tied_places))):
            heads = np.flatnonzero(~self.same[self.tied_places])
            sizes = np.diff(np.append(heads, len(self.tied_places)))
            group = np.searchsorted(self.tied_places[heads], place[tied], side="right") - 1
            start[tied] = self.rank_at(self.tied_places[heads][group])
            size[tied] = sizes[group]
        return start, size
