"""Several grades of one document, by subtopic or judge: found in the qrels, laid beside the judged documents."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from rankscope.errors import InputError
from rankscope.lists import Array, Aspects
from rankscope.tables import Qrels

NAMELESS = {"0", "Q0"}  # what stands in column 2 of qrels without subtopics


@dataclass(frozen=True, eq=False)
class Several:
    """Qrels in which a document may have several grades: one row a document, and the grades by aspect.

    ``qrels`` has the highest grade of each document. ``row`` is the row there of each entry.
    """

    qrels: Qrels
    row: Array
    aspect: Array
    group: Array
    grade: Array
    where: str

    def laid(self, by: Array) -> Aspects:
        """The entries of the documents in this order of the rows."""
        place = np.empty(len(by), dtype=np.int64)
        place[by] = np.arange(len(by))
        at = place[self.row]
        order = np.lexsort((self.aspect, at))
        return Aspects(
            count=np.bincount(at, minlength=len(by)),
            aspect=self.aspect[order],
            group=self.group[order],
            grade=self.grade[order],
            where=self.where,
        )


def several(qrels: Qrels, needs: frozenset[str]) -> Several:
    """Take the aspects of every document from the qrels; refuse qrels that name none where subtopics are needed."""
    frame = qrels.frame
    named = "iteration" in frame.columns
    if "subtopics" in needs:
        _refuse_nameless(qrels, named)
    aspect = pl.col("iteration") if named else pl.lit("0")
    part = pl.col("subgroup") if "subgroup" in frame.columns else pl.lit("")
    entries = frame.select(
        "query_id",
        "doc_id",
        "grade",
        aspect.alias("group"),
        pl.struct(aspect.alias("a"), part.alias("b")).alias("aspect"),
    )
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
    return Several(
        qrels=replace(qrels, frame=documents, more_queries=tuple(qrels.queries)),
        row=rows["row"].to_numpy().astype(np.int64),
        aspect=rows["aspect"].to_numpy(),
        group=rows["group"].to_numpy(),
        grade=rows["grade"].to_numpy(),
        where=qrels.source.label,
    )


def _refuse_nameless(qrels: Qrels, named: bool) -> None:
    said = qrels.frame["iteration"].unique().sort().to_list() if named else []
    if set(said) <= NAMELESS:
        what = f"column 2 says {said[0]!r} throughout" if said else "there is no column for them"
        raise InputError(
            f"{qrels.source.label} names no subtopics ({what}): diversity metrics need qrels with a subtopic in column 2, "
            "or a column named subtopic"
        )


def places_by_id(query: Array, ids: pl.Series) -> Array:
    """For each document its place when the ids of its query rise (as bytes)."""
    order = (
        pl.DataFrame({"query": query, "doc": ids, "row": np.arange(len(query))}).sort("query", "doc")["row"].to_numpy()
    )
    place = np.empty(len(order), dtype=np.int64)
    sizes = np.bincount(query) if len(query) else np.zeros(0, dtype=np.int64)
    start = np.cumsum(sizes) - sizes
    place[order] = np.arange(len(order)) - start[query[order]] if len(order) else order
    return place
