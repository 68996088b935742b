"""Rankings with their document ids, under the policies that they were scored with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankscope import words
from rankscope.engines.base import Order, Ties
from rankscope.engines.mappings import as_text
from rankscope.errors import InputError
from rankscope.metrics import Metric
from rankscope.scoring.inputs import CleanInput, clean
from rankscope.scoring.scores import Scores

if TYPE_CHECKING:
    import polars as pl


def one_order(ties: str, metric: Metric) -> Ties:
    """The one order of equal scores in which documents are shown: the order asked for, else (for trec, and all orders together) the metric's own."""
    order: Ties = ties if ties in {"docid", "input", "rank"} else metric.trec_ties  # type: ignore[assignment]
    return order


def part_of(data: Any, queries: Sequence[str]) -> Any:
    """These queries of a table or of a dict. A query that is not in it has no rows."""
    if isinstance(data, dict):
        return {query: data[query] for query in queries if query in data}
    import polars as pl

    rows = data.frame.filter(pl.col("query_id").is_in(pl.Series(list(queries), dtype=pl.String).implode()))
    return replace(data, frame=rows, more_queries=tuple(queries))


def order_of(scores: Scores, metric: Metric) -> Order:
    """The order of the documents of a result: the order in which they were scored, or trec_eval's if all orders of equal scores counted."""
    request = scores.request
    return Order(one_order(request.of_metric(metric).convention.ties, metric), request.policies.depth)


def top_of(
    scores: Scores, metric: Metric, run: Any, k: int | None = None, queries: Sequence[str] | None = None,
    label: str = "run",
) -> pl.DataFrame:  # fmt: skip
    """The first ``k`` documents of a scored run, of all queries or of these: ``query_id``, ``doc_id`` and ``rank``."""
    from rankscope.engines.top import top

    part = run if queries is None else part_of(run, queries)
    cleaned = clean(part, scores.request.policies, "run")
    return top(cleaned.data, order_of(scores, metric), k, label)


@dataclass(frozen=True, eq=False)
class Ranking:
    """The documents of one query, best first, cut at the depth, and the grade of each that was judged."""

    query_id: str
    doc_ids: tuple[str, ...]
    grades: Mapping[str, float]

    def rank_of(self, doc: str) -> int | None:
        """The rank of a document. None if it was not retrieved."""
        return self._places.get(doc)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {doc: rank for rank, doc in enumerate(self.doc_ids, start=1)}


def ranking_of(run: CleanInput, qrels: CleanInput, query: str, order: Order) -> Ranking:
    """The ranking of one query (empty if the run lacks it), and its judgments. Raises InputError for a query that is in neither."""
    from rankscope.engines.top import top

    part = part_of(run.data, [query]) if query in run.queries else None
    grades = _grades(qrels, query)
    if part is None and grades is None:
        known = list(qrels.queries)
        hint = words.hint(query, known, otherwise=f"; the qrels have ids like {words.choices(known[:3])}")
        raise InputError(f"query {query!r}: not judged and not in the run{hint}")
    docs = () if part is None else tuple(top(part, order)["doc_id"].to_list())
    return Ranking(query, docs, grades or {})


def _grades(qrels: CleanInput, query: str) -> dict[str, float] | None:
    if query not in qrels.queries:
        return None
    if isinstance(qrels.data, dict):
        documents = as_text(qrels.data[query], f"qrels: query {query}")
        return {doc: float(grade) for doc, grade in documents.items()}
    import polars as pl

    frame = qrels.data.frame.filter(pl.col("query_id") == query)
    grades: dict[str, float] = {}
    for doc, grade in frame.select("doc_id", "grade").iter_rows():
        grades[doc] = max(grade, grades.get(doc, grade))
    return grades
