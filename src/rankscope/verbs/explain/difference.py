"""The difference of two rankings of one query, document by document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rankscope.verbs.explain.explanation import Explanation, Rest

Move = Literal["rose", "fell", "stayed", "entered", "left"]


@dataclass(frozen=True)
class Moved:
    """One document in both rankings: where it stood, where it stands, and what that adds to the difference.

    A rank is None where the ranking does not hold the document; it may lie below what the metric looks at.
    """

    doc_id: str
    grade: float | None
    before: int | None
    after: int | None
    earned_before: float
    earned_after: float
    adds: float

    @property
    def move(self) -> Move:
        """What happened to it."""
        if self.before is None:
            return "entered"
        if self.after is None:
            return "left"
        if self.before == self.after:
            return "stayed"
        return "rose" if self.after < self.before else "fell"


@dataclass(frozen=True, eq=False)
class Difference:
    """Two rankings of one query: the ``adds`` of ``moved`` and ``rest`` sum to ``value``, the second value less the first."""

    before: Explanation
    after: Explanation
    moved: Sequence[Moved]
    rest: Sequence[Rest]

    @property
    def query_id(self) -> str:
        """The query."""
        return self.before.query_id

    @property
    def value(self) -> float:
        """The second value less the first."""
        return self.after.value - self.before.value

    @cached_property
    def carrying(self) -> list[Moved]:
        """The documents that add most, either way, the largest first."""
        return sorted((m for m in self.moved if m.adds), key=lambda m: (-abs(m.adds), m.doc_id))


def difference(before: Explanation, after: Explanation) -> Difference:
    """Compare two explanations of one query under one metric, by documents' shares.

    A document adds its share in the second ranking (what it earns, over what the query is worth there) less its share in the first.
    Where the query is worth another amount in the second (as where a value is divided by what was returned), a row says so.
    """
    docs = dict.fromkeys([*before.ranking.doc_ids, *after.ranking.doc_ids])
    moved = [m for doc in docs if (m := _moved(doc, before, after)) is not None]
    rest = list(_rest(before, after))
    if not math.isclose(before.worth, after.worth, rel_tol=1e-12):
        rest.append(
            Rest(f"what is earned is divided by {after.worth:.4g} now, by {before.worth:.4g} before", 0.0)
        )
    return Difference(before, after, moved, rest)


def _moved(doc: str, before: Explanation, after: Explanation) -> Moved | None:
    was, now = before.by_doc.get(doc, 0.0), after.by_doc.get(doc, 0.0)
    here, there = before.ranking.rank_of(doc), after.ranking.rank_of(doc)
    if not was and not now and not _seen(here, before) and not _seen(there, after):
        return None
    grade = before.ranking.grades.get(doc)
    return Moved(doc, grade, here, there, was, now, now - was)


def _seen(rank: int | None, found: Explanation) -> bool:
    """Whether the metric looks as far as a rank."""
    return rank is not None and rank <= len(found.positions)


def _rest(before: Explanation, after: Explanation) -> list[Rest]:
    """What no document adds."""
    names = dict.fromkeys([r.what for r in before.rest] + [r.what for r in after.rest])
    parts = {name: _adds(after, name) - _adds(before, name) for name in names}
    return [Rest(name, adds) for name, adds in parts.items() if adds]


def _adds(found: Explanation, name: str) -> float:
    return math.fsum(r.adds for r in found.rest if r.what == name)
