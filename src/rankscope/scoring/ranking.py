"""One query's ranking with its document ids, in the order that the engines give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from rankscope.engines.mappings import as_text
from rankscope.errors import InputError
from rankscope.scoring.inputs import CleanInput


@dataclass(frozen=True, eq=False)
class Ranking:
    """The documents of one query, best first, cut at the depth; and the grade of each that was judged."""

    query_id: str
    doc_ids: tuple[str, ...]
    grades: Mapping[str, float]

    def rank_of(self, doc: str) -> int | None:
        """The rank of a document; None where it was not retrieved."""
        return self._places.get(doc)

    @property
    def _places(self) -> dict[str, int]:
        return {doc: rank for rank, doc in enumerate(self.doc_ids, start=1)}


def ranking_of(
    run: CleanInput, qrels: CleanInput, query: str, ties: str, depth: int | None = None
) -> Ranking:
    """The ranking of one query under a tie policy (``trec``, ``docid``, ``input`` or ``rank``).

    A query that the run does not hold has an empty ranking. Raises InputError for a query that is neither judged nor ranked.
    """
    rows, ranked = _rows(run, query, ties)
    grades, judged = _grades(qrels, query)
    if not ranked and not judged:
        known = list(qrels.data if qrels.is_mapping else qrels.data.queries)
        close = get_close_matches(query, known, n=1, cutoff=0.5)
        hint = (
            f"did you mean {close[0]}?"
            if close
            else f"the qrels have ids like {', '.join(map(repr, known[:3]))}"
        )
        raise InputError(f"query {query!r}: neither judged nor in the run; {hint}")
    if ties == "trec":
        rows.sort(key=lambda row: row[0].encode("utf-8", "surrogateescape"), reverse=True)
    elif ties == "docid":
        rows.sort(key=lambda row: row[0].encode("utf-8", "surrogateescape"))
    if ties == "rank":
        rows.sort(key=lambda row: row[1])
    else:
        rows.sort(key=lambda row: -row[1])
    return Ranking(query, tuple(doc for doc, _ in rows[:depth]), grades)


def _rows(run: CleanInput, query: str, ties: str) -> tuple[list[tuple[str, float]], bool]:
    """Documents and scores (or ranks) in the order given, and whether the run holds the query."""
    if run.is_mapping:
        scores = run.data.get(query)
        return ([] if scores is None else _items(scores, query)), scores is not None
    import polars as pl

    column = "rank" if ties == "rank" else "score"
    frame = run.data.frame.filter(pl.col("query_id") == query)
    return list(frame.select("doc_id", column).iter_rows()), query in set(run.data.queries)


def _items(scores: Mapping[Any, Any], query: str) -> list[tuple[str, float]]:
    return [(doc, float(score)) for doc, score in as_text(scores, f"query {query}").items()]


def _grades(qrels: CleanInput, query: str) -> tuple[dict[str, float], bool]:
    """The grade of each judged document (the highest, where there are several), and whether the qrels hold the query."""
    if qrels.is_mapping:
        found = qrels.data.get(query)
        return ({} if found is None else dict(_items(found, query))), found is not None
    import polars as pl

    frame = qrels.data.frame.filter(pl.col("query_id") == query).select("doc_id", "grade")
    grades: dict[str, float] = {}
    for doc, grade in frame.iter_rows():
        grades[doc] = max(grade, grades.get(doc, grade))
    return grades, query in set(qrels.data.queries)
