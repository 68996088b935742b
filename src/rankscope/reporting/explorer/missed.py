"""The best documents that a ranking does not show: judged ones that stand deep down, or nowhere."""

from __future__ import annotations

import numpy as np
import polars as pl

from rankscope.engines.mappings import as_text
from rankscope.lists import Array
from rankscope.reporting.explorer.found import Behind, Found, found_of

MOST = 5  # documents of a query


def missed_in(source: Behind, found: Found, kept: Array, values: Array) -> Found:
    """Of each query that is ``kept``, the 5 best documents of a grade above 0 that are not among those found; equal grades by id."""
    there = pl.DataFrame(
        {"query": found.query, "doc_id": list(found.doc_ids)}, schema={"query": pl.Int64, "doc_id": pl.String}
    )
    rows = (
        _graded(source, kept)
        .join(there, on=["query", "doc_id"], how="anti")
        .sort("query", "grade", "doc_id", descending=[False, True, False])
        .filter(pl.int_range(pl.len()).over("query") < MOST)
    )
    # no rank of theirs is shown: ``best`` tells nothing
    return found_of(source, rows.select("query_id", "query", "doc_id", best=pl.lit(0, pl.Int64)), values)


def _graded(source: Behind, kept: Array) -> pl.DataFrame:
    """query_id, query, doc_id and grade of the documents of a grade above 0; of several grades the highest."""
    numbers = {query: number for query, number in source.number.items() if kept[number]}
    if source.qrels.is_mapping:
        flat = [
            (query, number, doc, float(grade))
            for query, number in numbers.items()
            for doc, grade in as_text(source.qrels.data.get(query, {}), f"qrels: query {query}").items()
        ]
        schema = {"query_id": pl.String, "query": pl.Int64, "doc_id": pl.String, "grade": pl.Float64}
        return pl.DataFrame(flat, schema=schema, orient="row").filter(pl.col("grade") > 0)
    asked = pl.DataFrame(
        {"query_id": list(numbers), "query": np.fromiter(numbers.values(), dtype=np.int64)},
        schema={"query_id": pl.String, "query": pl.Int64},
    )
    graded: pl.DataFrame = source.qrels.data.frame.filter(pl.col("grade") > 0).join(asked, on="query_id")
    return graded.group_by("query_id", "query", "doc_id").agg(pl.col("grade").max().cast(pl.Float64))
