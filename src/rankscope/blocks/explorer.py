"""Rankings to look into: query by query, document by document, of several runs side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Document:
    """A document that stands in the shown part of some ranking, or is among the best that a single ranking misses there.

    ``grade`` is None where it is not in the qrels. ``ranks`` holds its rank in each run, 0 where that did not retrieve it; ``adds``
    what it adds to the value of the leading metric in each run.
    """

    doc_id: str
    grade: float | None
    ranks: tuple[int, ...]
    adds: tuple[float, ...]
    text: str = ""


@dataclass(frozen=True)
class Query:
    """A query, its values by run and metric (NaN: none), and the documents shown, each once.

    ``sizes`` is how many documents each run retrieved. ``judged`` holds the grades of all documents in the qrels, retrieved or not,
    each with its count. ``beyond`` holds, run by run, rank and grade of the documents of a grade above 0 that stand below what is
    shown. ``rest`` is what each run earns that no document shown adds. ``unjudged`` is how many of each run's top were not judged.
    """

    query_id: str
    text: str
    values: tuple[tuple[float, ...], ...]
    documents: tuple[Document, ...]
    sizes: tuple[int, ...]
    judged: tuple[tuple[float, int], ...]
    beyond: tuple[tuple[tuple[int, float], ...], ...]
    rest: tuple[float, ...]
    unjudged: tuple[int, ...]


@dataclass(frozen=True)
class Explorer:
    """Queries to look into. ``runs`` starts with the baseline and its first rival, ``metrics`` with the one that leads.

    The first ``depth`` documents of each ranking are shown; ``cutoff`` is that of the leading metric (None: none). Documents of at
    least grade ``level`` are relevant; ``top_grade`` is the best grade there is. ``left_out`` counts queries that are not in
    ``queries``. ``notes`` say what a reader should know of the order and of what is left out. ``members`` names the runs of each
    system that is the mean of several, which pairs of systems stand for. ``parameters`` are what the metrics were told: ``p``,
    ``max_grade``.
    """

    runs: tuple[str, ...]
    metrics: tuple[str, ...]
    better: Literal["higher", "lower", "neither"]
    queries: tuple[Query, ...]
    depth: int
    cutoff: int | None
    level: float
    top_grade: float
    left_out: int = 0
    notes: tuple[str, ...] = ()
    teaching: bool = False
    members: tuple[tuple[str, tuple[str, ...]], ...] = ()
    parameters: tuple[tuple[str, float], ...] = ()
