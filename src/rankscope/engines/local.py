"""The Polars engine: a run and qrels as tables, millions of rows shrunk to the judged ones.

Speed comes from doing less: the order is checked in one pass and repaired only where it is wrong,
document ids are compared only among equal scores, and nothing is joined but judged documents.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from rankscope.engines.base import Order, Seen
from rankscope.errors import InputError
from rankscope.lists import Array, Judged
from rankscope.tables import Blocks, Qrels, Run


def judge(run: Run, qrels: Qrels, order: Order) -> tuple[Judged, Seen]:
    """Find each query's judged documents in the run: their grades, ranks and tied groups.

    Rows of the answer follow ``qrels.queries`` and, if ``order.extra``, the queries of the run that
    have no judgments. The run must hold no pair twice and no NaN score.
    """
    ranked = _Ranked(run, order)
    names = list(qrels.queries)
    known = set(names)
    extra = [query for query in run.queries if query not in known]
    if order.extra:
        names += extra
    number = {query: i for i, query in enumerate(names)}

    size_of = dict(zip(run.blocks.query.to_list(), ranked.size.tolist(), strict=True))
    retrieved = np.array([size_of.get(query, 0) for query in names], dtype=np.int64)
    if order.depth is not None:
        retrieved = np.minimum(retrieved, order.depth)

    pool = _pool(qrels, run, ranked, number)
    judged = _laid_out(pool, ranked, names, retrieved, order)
    present = set(run.queries)
    seen = Seen(
        rows=run.frame.height,
        queries=len(run.queries),
        missing=tuple(query for query in qrels.queries if query not in present),
        extra=tuple(extra),
        tied_rows=ranked.tied_rows,
        tied_at=ranked.tied_at(order.cutoffs, np.array([query in known for query in run.blocks.query.to_list()], dtype=bool)),
        disagreeing=ranked.disagreeing,
    )
    return judged, seen


def _pool(qrels: Qrels, run: Run, ranked: _Ranked, number: dict[str, int]) -> pl.DataFrame:
    """One row a judgment, with the place of the document in the ordered run (null: not retrieved)."""
    judgments = qrels.frame.select("query_id", "doc_id", "grade")
    wanted = run.frame["doc_id"].is_in(judgments["doc_id"].unique().implode())
    row = np.flatnonzero(wanted.to_numpy())
    hits = run.frame[row].select("query_id", "doc_id").with_columns(pl.Series("place", ranked.place[row]))
    codes = pl.DataFrame({"query_id": list(number), "query": list(number.values())}, schema_overrides={"query": pl.Int64})
    return (
        judgments.join(hits, on=["query_id", "doc_id"], how="left", maintain_order="left")
        .join(codes, on="query_id", how="left", maintain_order="left")
        .select("query", "grade", "place")
    )


def _laid_out(pool: pl.DataFrame, ranked: _Ranked, names: list[str], retrieved: Array, order: Order) -> Judged:
    """The pool as flat lists, the retrieved documents of each query first and in rank order."""
    query = pool["query"].to_numpy()
    grade = pool["grade"].to_numpy()
    place = pool["place"].fill_null(-1).to_numpy().astype(np.int64)
    rank = np.where(place >= 0, ranked.rank_at(place), 0)
    if order.depth is not None:
        rank = np.where(rank <= order.depth, rank, 0)
    found = rank > 0
    # retrieved by rank, then the rest best grade first: an order that does not depend on the file's
    last = np.iinfo(np.int64).max
    by = np.lexsort((-grade, np.where(found, rank, last), query))
    place, found = place[by], found[by]
    tie_start, tie_size = ranked.ties_at(np.where(found, place, -1))
    score = None
    if "score" in order.needs:
        score = np.where(found, ranked.score_at(place), np.nan)
    return Judged(
        query_id=names,
        retrieved=retrieved,
        size=np.bincount(query, minlength=len(names)),
        found=np.bincount(query[by], weights=found, minlength=len(names)).astype(np.int64),
        grade=grade[by],
        rank=rank[by],
        tie_start=tie_start,
        tie_size=tie_size,
        score=score,
    )


class _Ranked:
    """A run in order: ``place[row]`` is where a row stands when queries follow one another, best first."""

    def __init__(self, run: Run, order: Order) -> None:
        self.ties = order.ties
        blocks = run.blocks
        frame = run.frame
        rows: Array | None = None  # rows[place] = row, or None where the file's order is right
        if not blocks.whole:
            rows = np.argsort(run.query_code, kind="stable")
            sizes = np.bincount(run.query_code, minlength=len(blocks.query))
            start = np.cumsum(sizes) - sizes
            blocks = Blocks(start, sizes, blocks.query, np.arange(len(sizes)))
        self.start, self.size = blocks.start, blocks.size
        score = frame["score"].to_numpy() if rows is None else frame["score"].to_numpy()[rows]
        rank = frame["rank"].to_numpy() if "rank" in frame.columns else None
        if rank is not None and rows is not None:
            rank = rank[rows]
        self.disagreeing = None
        self.code = np.repeat(np.arange(len(self.size)), self.size)
        if order.ties == "rank":
            rows, score = self._by_rank(rows, score, rank, run)
        else:
            rows, score, rank = self._by_score(rows, score, rank)
        self.score = score
        self.same = self._same()
        if order.ties in {"trec", "docid"}:
            rows, rank = self._tied(frame["doc_id"], rows, rank)
        if rank is not None and order.ties != "rank":
            self.disagreeing = self._disagreeing(rank)
        self.rows = rows

    @property
    def place(self) -> Array:
        """For each row of the file, its place in the order."""
        if self.rows is None:
            return np.arange(len(self.code))
        place = np.empty(len(self.rows), dtype=np.int64)
        place[self.rows] = np.arange(len(self.rows))
        return place

    def _by_score(self, rows: Array | None, score: Array, rank: Array | None) -> tuple[Array | None, Array, Array | None]:
        rising = score[1:] > score[:-1]
        rising[self.start[1:] - 1] = False
        if not rising.any():
            return rows, score, rank
        # only the queries that are out of order are sorted; a stable sort keeps file order among equals
        disturbed = np.zeros(len(self.size), dtype=bool)
        disturbed[self.code[1:][rising]] = True
        at = np.flatnonzero(disturbed[self.code])
        part = at[np.lexsort((-score[at], self.code[at]))]
        rows = np.arange(len(score)) if rows is None else rows.copy()
        rows[at] = rows[part]
        score = score.copy()
        score[at] = score[part]
        if rank is not None:
            rank = rank.copy()
            rank[at] = rank[part]
        return rows, score, rank

    def _by_rank(self, rows: Array | None, score: Array, rank: Array | None, run: Run) -> tuple[Array, Array]:
        if rank is None:
            raise InputError(f"{run.source.label} has no rank column of whole numbers, which ties='rank' needs")
        order = np.lexsort((rank, self.code))
        ranks, codes = rank[order], self.code[order]
        twice = np.flatnonzero((ranks[1:] == ranks[:-1]) & (codes[1:] == codes[:-1]))
        rows = np.arange(len(score)) if rows is None else rows
        if len(twice):
            row = int(rows[order[twice[0] + 1]])
            query = run.frame["query_id"][row]
            raise InputError(f"{run.source.at(row)}: rank {ranks[twice[0]]} of query {query} is given twice, so ties='rank' has no order; use ties='trec'")
        # the numbers of documents from the bottom stand in for scores: distinct, best first
        return rows[order], -np.arange(len(score), dtype=float)

    def _same(self) -> Array:
        """Places whose score equals that of the place before, in the same query."""
        same = np.zeros(len(self.score), dtype=bool)
        same[1:] = self.score[1:] == self.score[:-1]
        same[self.start] = False
        return same

    def _tied(self, doc: pl.Series, rows: Array | None, rank: Array | None) -> tuple[Array | None, Array | None]:
        """Put equal scores in the order of their document ids, touching only tied rows."""
        at = np.flatnonzero(self._in_tie())
        if not len(at):
            return rows, rank
        ids = doc.gather(at if rows is None else rows[at])
        group = np.cumsum(~self.same[at])
        down = self.ties == "trec"
        if _in_order(ids, group, down):
            return rows, rank
        by = pl.DataFrame({"group": group, "doc": ids, "at": at}).sort("group", "doc", descending=[False, down])["at"].to_numpy()
        rows = np.arange(len(self.score)) if rows is None else rows.copy()
        rows[at] = rows[by]
        if rank is not None:
            rank = rank.copy()
            rank[at] = rank[by]
        return rows, rank

    def _in_tie(self) -> Array:
        tied = self.same.copy()
        tied[:-1] |= self.same[1:]
        return tied

    def _disagreeing(self, rank: Array) -> int:
        """In how many queries the rank column contradicts the scores: equal scores may stand in any order."""
        at = np.flatnonzero(self._in_tie())
        if len(at):
            rank = rank.copy()
            rank[at] = rank[at][np.lexsort((rank[at], np.cumsum(~self.same[at])))]
        falls = rank[1:] < rank[:-1]
        falls[self.start[1:] - 1] = False
        return len(np.unique(self.code[1:][falls]))

    @property
    def tied_rows(self) -> int:
        """How many rows share their score with another row of the query."""
        return int(self._in_tie().sum())

    def tied_at(self, cutoffs: tuple[int, ...], counted: Array) -> dict[int, int]:
        """For each cutoff, in how many of the queries counted it falls between equal scores."""
        return {k: int(self.same[self.start[(self.size > k) & counted] + k].sum()) for k in cutoffs}

    def rank_at(self, place: Array) -> Array:
        """The 1-based rank at each place; anything where the place is -1."""
        return place - self.start[self.code[place]] + 1 if len(self.code) else np.zeros(len(place), dtype=np.int64)

    def score_at(self, place: Array) -> Array:
        """The score at each place; anything where the place is -1."""
        return self.score[place] if len(self.score) else np.zeros(len(place))

    def ties_at(self, place: Array) -> tuple[Array, Array]:
        """First rank and size of the tied group at each place; the group of one where it is -1."""
        start = np.where(place >= 0, self.rank_at(place), 0)
        size = np.ones(len(place), dtype=np.int64)
        follows = self.same[place] if len(self.same) else np.zeros(len(place), bool)
        before_next = np.append(self.same[1:], False)
        tied = np.flatnonzero((place >= 0) & (follows | (before_next[place] if len(self.same) else follows)))
        if len(tied):
            firsts = np.flatnonzero(~self.same)
            group = np.searchsorted(firsts, place[tied], side="right") - 1
            ends = np.append(firsts[1:], len(self.same))
            start[tied] = self.rank_at(firsts[group])
            size[tied] = ends[group] - firsts[group]
        return start, size


def _in_order(ids: pl.Series, group: Array, down: bool) -> bool:
    before = ids.shift(1)
    right = (ids < before) if down else (ids > before)
    inside = np.append(False, group[1:] == group[:-1])
    return bool(right.fill_null(True).to_numpy()[inside].all())


