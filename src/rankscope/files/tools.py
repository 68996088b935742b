"""Inputs from other tools: lists of scored and of judged documents (ir_measures, ir_datasets), and ranx's runs and qrels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from rankscope.errors import InputError
from rankscope.files.memory import ids_of, number_of, quote_value

VALUES = {"run": ("score",), "qrels": ("relevance", "rel", "grade")}


def is_rows(source: Any) -> bool:
    """True for a list of documents with the query of each, such as ``ScoredDoc`` and ``Qrel``.

    >>> from collections import namedtuple
    >>> ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")
    >>> is_rows([ScoredDoc("q1", "d7", 2.0)]), is_rows([("q1", "d7")])
    (True, False)
    """
    return isinstance(source, list | tuple) and bool(source) and _is_row(source[0])


def _is_row(row: object) -> bool:
    return (
        hasattr(row, "query_id") and hasattr(row, "doc_id") and not hasattr(row, "columns")
    )  # frames have them as well


def handed_over(source: Any, what: str) -> Any:
    """Return an object of another tool as a dict or a data frame; None for other objects."""
    if type(source).__module__.partition(".")[0] == "ranx" and hasattr(source, "to_dict"):
        return source.to_dict()
    if is_rows(source):
        return _frame(source, what)
    if isinstance(source, Iterator):
        rows = list(source)
        if is_rows(rows):
            return _frame(rows, what)
        raise InputError(
            f"{what}: an iterator of no documents with query_id and doc_id; pass a dict, a data frame or a list"
        )
    return None


def _frame(rows: Iterable[Any], what: str) -> pl.DataFrame:
    rows = list(rows)
    name = next((name for name in VALUES[what] if hasattr(rows[0], name)), None)
    odd = next(
        (row for row in rows if not _is_row(row) or name is None or number_of(getattr(row, name, None)) is None), None
    )
    if name is None or odd is not None:
        said = f"{what}: {quote_value(rows[0] if odd is None else odd)} has no {' or '.join(VALUES[what][:1])}"
        raise InputError(f"{said} that is a number; each document has a query_id, a doc_id and a {VALUES[what][0]}")
    columns = {
        "query_id": ids_of((row.query_id for row in rows), what, "query"),
        "doc_id": ids_of((row.doc_id for row in rows), what, "document"),
        "score" if what == "run" else "grade": [float(getattr(row, name)) for row in rows],
    }
    if what == "qrels" and all(hasattr(row, "iteration") for row in rows):
        columns["iteration"] = [str(row.iteration) for row in rows]
    return pl.DataFrame(columns)
