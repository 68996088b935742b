"""How alike the runs are: rank-biased overlap and Jaccard at a cutoff, run by run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from rankscope.blocks import Block, Chart, Column, Paragraph, Section, Table, Value, Written
from rankscope.lists import Array
from rankscope.lists.overlap import jaccard_by_query, rbo_by_query, shared_by_depth
from rankscope.reporting.sections.shown_runs import leading_metric, ranked_runs
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import number_or_none
from rankscope.scoring.ranking import top_of

PERSISTENCE = 0.9  # with it the first 10 ranks weigh 86 % (Webber, Moffat and Zobel, 2010)
DEPTH = 100  # ranks that are looked at: what lies below weighs 0.9**100
USUAL = 10  # the cutoff of a leading metric without one
QUERIES = 500  # queries that are looked at, so that a report does not wait for them
PAIRS = 60_000  # pairs of runs times queries
MATRIX = 8  # runs that a table has columns for
RBO_CAPTION = (
    "Rank-biased overlap of each pair of runs: 1 where two rankings are the same, 0 where they share no document. The top counts most: "
    f"a share of {PERSISTENCE:g} of the attention goes on from each rank to the next, and what lies below rank {DEPTH} is taken to agree as what is above."
)


@dataclass(frozen=True)
class Alike:
    """Two runs: their mean overlap over the ``queries`` that both rank. ``shared`` is how many documents their first k have in common."""

    one: str
    other: str
    queries: int
    rbo: float
    jaccard: float
    shared: float


@dataclass(frozen=True, eq=False)
class _Top:
    """The top of one run: rows of query number, document number and rank, and the length of each query's ranking."""

    query: Array
    doc: Array
    rank: Array
    size: Array


def section(subject: Subject) -> Section | None:
    """Every pair of runs; None for one run, and without rankings."""
    if subject.scores is None or len(subject.runs) < 2:
        return None
    names = ranked_runs(subject)
    ids = sorted({query for scored in subject.scores.runs for query in scored.query_ids})
    looked_at = sampled(ids, len(names))
    k = getattr(subject.metric, "cutoff", None) or USUAL
    depth = subject.scores.conventions["depth"] or DEPTH
    found = alike(_tops(subject, names, looked_at, min(max(DEPTH, k), depth)), len(looked_at), k)
    if not any(pair.queries for pair in found):
        text = "No two runs rank the same query, so that there is nothing to lay side by side."
        return Section("agreement", "How alike the runs are", (Paragraph(text),))
    blocks: list[Block | Chart] = [
        _heat("agreement-rbo", f"Rank-biased overlap (p={PERSISTENCE:g})", "RBO", names, found, RBO_CAPTION),
        _heat("agreement-jaccard", f"Documents in the first {k} of both, of those in the first {k} of either", f"Jaccard@{k}", names, found,
              f"Jaccard of the first {k} of each pair of runs: 1 where they hold the same documents, in whatever order."),
        _table(names, found, k),
    ]  # fmt: skip
    if len(looked_at) < len(ids):
        text = f"Of {len(looked_at):,} of {len(ids):,} queries, picked evenly by their ids."
        blocks.append(Paragraph(text, quiet=True))
    return Section("agreement", "How alike the runs are", tuple(blocks), _in_words(found, k))


def sampled(ids: Sequence[str], runs: int) -> list[str]:
    """Queries at even steps of their sorted ids, as many as can be looked at for so many runs."""
    pairs = max(runs * (runs - 1) // 2, 1)
    most = max(1, min(QUERIES, PAIRS // pairs))
    if len(ids) <= most:
        return list(ids)
    return [ids[i * len(ids) // most] for i in range(most)]


def alike(tops: Mapping[str, _Top], queries: int, k: int) -> list[Alike]:
    """Each pair of runs, in their order."""
    names = list(tops)
    count = 1 + max((int(top.doc.max(initial=-1)) for top in tops.values()), default=0)
    out = []
    for j, other in enumerate(names):
        rank_of = np.zeros(count, dtype=np.int64)
        rank_of[tops[other].doc] = tops[other].rank
        out += [_pair(name, other, tops[name], tops[other], rank_of, queries, k) for name in names[:j]]
    places = {name: i for i, name in enumerate(names)}
    return sorted(out, key=lambda pair: (places[pair.one], places[pair.other]))


def _pair(one: str, other: str, a: _Top, b: _Top, rank_of: Array, queries: int, k: int) -> Alike:
    both = np.flatnonzero((a.size > 0) & (b.size > 0))
    there = rank_of[a.doc]
    shown = there > 0
    deeper = np.maximum(a.rank, there)[shown]
    depth = int(max(a.size.max(initial=1), b.size.max(initial=1)))
    shared = shared_by_depth(a.query[shown], deeper, queries, depth)[both]
    if not len(both):
        return Alike(one, other, 0, math.nan, math.nan, math.nan)
    sizes = a.size[both], b.size[both]
    return Alike(
        one,
        other,
        len(both),
        _mean(rbo_by_query(shared, *sizes, PERSISTENCE)),
        _mean(jaccard_by_query(shared, *sizes, k)),
        _mean(shared[:, min(k, depth) - 1]),
    )


def _mean(values: Array) -> float:
    return math.fsum(values.tolist()) / len(values)


def _tops(subject: Subject, names: Sequence[str], queries: Sequence[str], depth: int) -> dict[str, _Top]:
    """The first documents of each run, documents numbered query by query."""
    assert subject.scores is not None
    scores, metric = subject.scores, leading_metric(subject)
    number = pl.DataFrame({"query_id": list(queries)}, schema={"query_id": pl.String}).with_row_index("query")
    frames = [
        top_of(scores, metric, subject.runs[name], depth, queries, name)
        .join(number, on="query_id")
        .with_columns(pl.lit(i).alias("run"))
        for i, name in enumerate(names)
    ]
    whole = pl.concat(frames).with_columns((pl.struct("query", "doc_id").rank("dense") - 1).alias("doc"))
    return {name: _top(whole.filter(pl.col("run") == i), len(queries)) for i, name in enumerate(names)}


def _top(rows: pl.DataFrame, queries: int) -> _Top:
    query = rows["query"].to_numpy().astype(np.int64)
    return _Top(
        query,
        rows["doc"].to_numpy().astype(np.int64),
        rows["rank"].to_numpy().astype(np.int64),
        np.bincount(query, minlength=queries),
    )


# --- as blocks -------------------------------------------------------------------------------------------


def _heat(name: str, title: str, header: str, names: Sequence[str], found: Sequence[Alike], caption: str) -> Chart:
    """A square of runs."""
    values = {pair: value for one in found for pair, value in _both_ways(one, header)}
    rows: list[tuple[Value, ...]] = [
        (one, other, 1.0 if one == other else number_or_none(values[one, other])) for one in names for other in names
    ]
    columns = (Column("run"), Column("other"), Column(header, "value"))
    return Chart(
        name,
        title,
        "heat",
        columns,
        tuple(rows),
        x="other",
        y="run",
        colour=header,
        caption=caption,
        limits=(0.0, 1.0),
        told=len(names) <= MATRIX,  # of more runs the table has but the most and the least alike
    )


def _both_ways(pair: Alike, header: str) -> Iterator[tuple[tuple[str, str], float]]:
    value = pair.rbo if header == "RBO" else pair.jaccard
    yield (pair.one, pair.other), value
    yield (pair.other, pair.one), value


def _table(names: Sequence[str], found: Sequence[Alike], k: int) -> Table:
    """Every pair; of many runs, to each the most and the least alike."""
    last = (
        Column("RBO", "value"),
        Column(f"Jaccard@{k}", "value"),
        Column(f"shared of {k}", "value", hint=f"documents in the first {k} of both"),
    )
    if len(names) <= MATRIX:
        rows = [
            (pair.one, pair.other, *_told(pair), pair.queries) for pair in sorted(found, key=lambda p: -_or_zero(p.rbo))
        ]
        columns = (Column("run"), Column("other"), *last, Column("queries", "count"))
        return Table(
            columns, tuple(rows), labels=2, name="agreement-table", title="Pairs of runs, the most alike first"
        )
    rows = []
    for name in names:
        own = [pair for pair in found if name in (pair.one, pair.other) and pair.queries]
        if own:
            near, far = max(own, key=lambda p: p.rbo), min(own, key=lambda p: p.rbo)
            rows.append((name, _partner(near, name), *_told(near), _partner(far, name), number_or_none(far.rbo)))
    header = (Column("run"), Column("most alike"), *last, Column("least alike"), Column("its RBO", "value"))
    return Table(
        header, tuple(rows), labels=1, name="agreement-table", title="The most and the least alike to each run"
    )


def _told(pair: Alike) -> tuple[Value, ...]:
    shared = None if math.isnan(pair.shared) else Written(f"{pair.shared:.1f}", pair.shared)
    return number_or_none(pair.rbo), number_or_none(pair.jaccard), shared


def _partner(pair: Alike, name: str) -> str:
    return pair.other if pair.one == name else pair.one


def _in_words(found: Sequence[Alike], k: int) -> str:
    """Who shares most with whom, and who least."""
    known = [pair for pair in found if pair.queries]
    near, far = max(known, key=lambda p: p.rbo), min(known, key=lambda p: p.rbo)
    if len(known) == 1:
        return f"{_shares(near, k)} (rank-biased overlap {near.rbo:.2f})."
    return f"Most alike: {_shares(near, k)} (rank-biased overlap {near.rbo:.2f}). Least alike: {_shares(far, k)} ({far.rbo:.2f})."


def _shares(pair: Alike, k: int) -> str:
    return f"{pair.one} and {pair.other} share {pair.shared:.1f} of their first {k}"


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value
