"""Examples of what is wrong with a ranking: documents with their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope.lists import Array
from rankscope.scoring.ceilings import worthy
from rankscope.scoring.inputs import clean
from rankscope.scoring.ranking import Ranking, order_of, part_of, ranking_of
from rankscope.scoring.scores import Scores
from rankscope.verbs.diagnose.failures import HIGH
from rankscope.verbs.diagnose.losses import RunDiagnosis

FEW = 3  # examples of each thing
NOT_RELEVANT, NEVER, DEEP = "not relevant, high up", "relevant, never retrieved", "relevant, far down"


@dataclass(frozen=True)
class Example:
    """One document as an example: ``rank`` is None where it was not retrieved."""

    run: str
    what: str
    query_id: str
    doc_id: str
    grade: float
    rank: int | None


@dataclass(frozen=True, eq=False)
class Examples:
    """Finds examples with the ids of their documents in what was evaluated."""

    qrels: Any
    runs: Mapping[str, Any]
    scores: Scores

    def of(self, run: RunDiagnosis) -> list[Example]:
        """Documents judged not relevant at the first ranks, relevant ones never retrieved, and those found far down.

        A few of each, from the queries that lose most, a document a query.
        """
        rows = list(_rows(run))
        rankings = self._rankings(run, list(dict.fromkeys(run.query_ids[query] for _, query, _ in rows)))
        found = (_example(what, rankings[run.query_ids[query]], run, row) for what, query, row in rows)
        return [example for example in found if example is not None]

    def _rankings(self, run: RunDiagnosis, queries: Sequence[str]) -> dict[str, Ranking]:
        policies, order = self.scores.request.policies, order_of(self.scores, run.metric)
        grades = clean(part_of(self.qrels, queries), policies, "qrels", [run.metric])
        ranked = clean(part_of(self.runs[run.name], queries), policies, "run")
        return {query: ranking_of(ranked, grades, query, order) for query in queries}


def _rows(run: RunDiagnosis) -> Iterator[tuple[str, int, int]]:
    """The examples: what each is of, its query, and its row among the judged documents."""
    judged = run.judged
    query = np.repeat(np.arange(len(judged)), judged.size)
    place = np.empty(len(judged), dtype=np.int64)
    place[run.worst_first] = np.arange(len(judged))
    relevant = worthy(run.metric, judged.grade)
    bad = (judged.grade >= 0) & ~relevant & np.isin(judged.rank, HIGH)
    never = relevant & (judged.rank == 0)
    deep = relevant & (judged.rank > run.facts.k)

    def first(what: str, rows: Array, *keys: Array) -> Iterator[tuple[str, int, int]]:
        at = np.flatnonzero(rows)
        seen: set[int] = set()
        for row in at[np.lexsort([place[query[at]], *(key[at] for key in keys)])].tolist():
            if int(query[row]) not in seen:
                seen.add(int(query[row]))
                yield what, int(query[row]), row
            if len(seen) == FEW:
                return

    yield from first(NOT_RELEVANT, bad, judged.rank)
    yield from first(NEVER, never, -judged.grade)
    yield from first(DEEP, deep, -judged.rank, -judged.grade)


def _example(what: str, ranking: Ranking, run: RunDiagnosis, row: int) -> Example | None:
    """The document behind a row: by its rank, or the first id of its grade among those not retrieved."""
    rank, grade = int(run.judged.rank[row]), float(run.judged.grade[row])
    if rank:
        if rank > len(ranking.doc_ids):
            return None
        return Example(run.name, what, ranking.query_id, ranking.doc_ids[rank - 1], grade, rank)
    retrieved = set(ranking.doc_ids)
    left = [doc for doc, own in ranking.grades.items() if own == grade and doc not in retrieved]
    return Example(run.name, what, ranking.query_id, min(left), grade, None) if left else None
