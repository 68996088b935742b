"""Chunks of documents: each ranked chunk counts for its document."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankscope import words
from rankscope.errors import InputError

if TYPE_CHECKING:
    from rankscope.engines.base import Order
    from rankscope.tables import Qrels

AGAIN = " (again: "  # what parts a document from the later chunk that stands for it once more
EXPECTED = "chunks are a table of two columns, chunk and document, or {chunk: document}"


@dataclass(eq=False)
class Fold:
    """The document of each chunk, by a table or a pattern of ids. ``label`` is the file or the pattern, ``used`` is set if an id was changed."""

    label: str
    documents: Mapping[str, str] | None = None
    used: bool = False

    def document(self, chunk: str) -> str:
        """The document of a chunk. An id that is no chunk is kept.

        The first group of a pattern is the document. If it has no group, the match is removed from the id.
        """
        document: str | None = chunk
        if self.documents is not None:
            document = self.documents.get(chunk, chunk)
        elif match := re.search(self.label, chunk):
            document = match[1] if match.re.groups else chunk[: match.start()] + chunk[match.end() :]
        document = document or chunk  # nothing is left of it: no document
        self.used = self.used or document != chunk
        return document

    def refuse_unused(self) -> None:
        """Raises InputError if no id was changed."""
        if not self.used:
            what = f"the pattern {self.label!r}" if self.documents is None else self.label
            raise InputError(f"fold: {what} matches no id of a run; give the ids of the chunks of the run")


def fold_by(pattern: str) -> Fold:
    """A fold by a pattern of ids. Raises InputError for an invalid regular expression."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise InputError(
            f"fold_by={pattern!r}: no regular expression ({error}); write one like '#.*', which is cut off, or '^(.+)_[0-9]+$'"
        ) from None
    return Fold(pattern)


def fold_of(source: Any) -> Fold:
    """A fold by a table: ``{chunk: document}``, a data frame or a file with a chunk and its document in each row."""
    if isinstance(source, Fold):
        return source
    from rankscope.files.raw import is_path
    from rankscope.files.sheets import open_sheet

    table = source if isinstance(source, Mapping) else open_sheet(source, "chunks", EXPECTED)
    label = str(source) if is_path(source) else "chunks"
    if isinstance(table, Mapping):
        return Fold(label, _check(iter(table.items()), label))
    names = table.frame.columns
    if len(names) != 2:
        raise InputError(f"{label}: {words.counted(len(names), 'column')}; {EXPECTED}")
    backwards = names[0].casefold().startswith("doc") and not names[1].casefold().startswith("doc")
    rows = ((doc, chunk) if backwards else (chunk, doc) for chunk, doc in table.frame.rows())
    documents = _check(rows, label)
    if not backwards:  # a file without a header has its first row there
        documents.setdefault(names[0], names[1])
    return Fold(label, documents)


def _check(rows: Iterator[tuple[Any, Any]], label: str) -> dict[str, str]:
    out: dict[str, str] = {}
    for chunk, document in rows:
        if chunk is None or not isinstance(document, str | int) or document == "":
            raise InputError(f"{label}: chunk {chunk!r} is of document {document!r}; {EXPECTED}")
        if out.setdefault(str(chunk), str(document)) != str(document):
            raise InputError(f"{label}: chunk {chunk!s} is of {out[str(chunk)]} and of {document!s}; keep one")
    if not out:
        raise InputError(f"{label}: no chunk is there; {EXPECTED}")
    return out


def fold_run(data: Any, fold: Fold, score: str, cutoffs: str) -> Any:
    """A run of documents from a run of chunks, as ``score`` and ``cutoffs`` set. Raises InputError for both levels at once."""
    if cutoffs == "both":
        raise InputError("fold_cutoffs='both' is for evaluate, which prints both: choose documents or chunks here")
    if isinstance(data, dict):
        return {query: _fold_ranking(docs, fold, score, cutoffs) for query, docs in data.items()}
    import polars as pl

    frame = data.frame.with_row_index("_row")
    chunks = frame["doc_id"].unique()
    documents = pl.Series([fold.document(chunk) for chunk in chunks.to_list()], dtype=pl.String)
    frame = frame.with_columns(
        _chunk="doc_id", doc_id=frame["doc_id"].replace_strict(chunks, documents, return_dtype=pl.String)
    )
    pair = ["query_id", "doc_id"]
    if score == "sum":
        frame = frame.group_by(pair, maintain_order=True).agg(pl.col("score"), pl.exclude("score").first())
        frame = frame.with_columns(
            score=pl.Series([_sum(scores) for scores in frame["score"].to_list()], dtype=pl.Float64)
        )
    else:
        order = frame if score == "first" else frame.sort("score", descending=True, maintain_order=True)
        first = order.select("_row", first=pl.struct(pair).is_first_distinct()).sort("_row")["first"]
        if cutoffs == "chunks":
            later = pl.concat_str([pl.col("doc_id"), pl.lit(AGAIN), pl.col("_chunk"), pl.lit(")")])
            frame = frame.with_columns(doc_id=pl.when(first).then(pl.col("doc_id")).otherwise(later))
        else:
            frame = frame.filter(first)
    return data._having(frame.select(data.frame.columns))


def _sum(scores: list[float]) -> float:
    try:
        return math.fsum(scores)
    except (ValueError, OverflowError):
        return math.nan


def _fold_ranking(docs: Mapping[Any, float], fold: Fold, score: str, cutoffs: str) -> dict[str, float]:
    """Fold one ranking of a dict, to the bit as a table is folded. A ranking with an invalid score is returned for the reader to refuse."""
    if not all(hasattr(value, "__float__") for value in docs.values()):
        return dict(docs)
    rows = [(str(chunk), fold.document(str(chunk)), float(value)) for chunk, value in docs.items()]
    by_document: dict[str, list[float]] = {}
    for _, document, value in rows:
        by_document.setdefault(document, []).append(value)
    if cutoffs == "documents":
        ways: dict[str, Callable[[list[float]], float]] = {"sum": _sum, "max": max, "first": lambda scores: scores[0]}
        worth = ways[score]
        return {document: worth(scores) for document, scores in by_document.items()}
    out: dict[str, float] = {}
    left = {document: scores[0] if score == "first" else max(scores) for document, scores in by_document.items()}
    for chunk, document, value in rows:
        first = left.get(document) == value
        if first:
            del left[document]
        out[document if first else f"{document}{AGAIN}{chunk})"] = value
    return out


def count_again(run: Any, qrels: Qrels, order: Order) -> dict[int, int]:
    """The number of later chunks of judged documents within each cutoff. They have no judgment of their own and earn 0."""
    import polars as pl

    from rankscope.engines.top import top

    ids = pl.col("doc_id").str.split_exact(AGAIN, 1).struct
    shown = top(run, order, max(order.cutoffs, default=0)).filter(pl.col("doc_id").str.contains(AGAIN, literal=True))
    judged = shown.with_columns(doc_id=ids[0]).join(qrels.frame, on=["query_id", "doc_id"], how="semi")
    return {k: int((judged["rank"] <= k).sum()) for k in order.cutoffs}
