"""What judgments and runs are like, as far as the choice of a metric depends on it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from rankscope.lists import Array

STARS = 5  # so many positive grades, or fractions among them, and hardly a 0: a scale of ratings
HARDLY = 0.01
LIKED = 0.8  # of the top of such a scale: four of five stars
USER = re.compile(r"(user|usr|uid|u|customer|cust|visitor|session|playlist|pid)[-_:#]?\d+", re.IGNORECASE)
ENTITY = re.compile(r"<?dbpedia:|Q\d+$|https?://\S*(dbpedia|wikidata|wikipedia)\.|enwiki:|wd:Q\d+")


@dataclass(frozen=True)
class RunFacts:
    """A run over the judged queries.

    ``depth`` is the median length of its lists, ``deepest`` the longest; ``ending`` of ``lists`` end exactly there.
    ``unjudged`` is the share of its top k that is not in the judgments, ``unknown`` that of all it returns, ``tied`` the share of its top 10 that shares its score.
    """

    name: str
    lists: int
    depth: int
    deepest: int
    ending: int
    unjudged: float
    unknown: float
    tied: float
    missing: int

    @property
    def cut(self) -> bool:
        """Whether most lists end at the same rank: they were cut there."""
        return self.lists > 1 and 2 * self.ending > self.lists


@dataclass(frozen=True, eq=False)
class Facts:
    """Judgments and runs in numbers. Arrays hold one number a judged query.

    ``grades`` counts judgments by grade; ``level`` is the lowest grade taken as relevant; ``relevant`` counts the documents
    of that level, ``rejected`` those judged and below it; ``grade_lists`` are the grades of each query, the highest first.
    ``several`` counts documents with several grades (by subtopic or judge), ``aspects`` the fewest and the most of them a query.
    """

    queries: int
    judgments: int
    grades: Mapping[float, int]
    level: float
    relevant: Array
    rejected: Array
    grade_lists: Sequence[Array]
    several: int = 0
    aspects: tuple[int, int] = (0, 0)
    users: bool = False
    entities: bool = False
    runs: Sequence[RunFacts] = field(default_factory=tuple)

    @cached_property
    def positive(self) -> tuple[float, ...]:
        """The grades above 0 in use, the lowest first."""
        return tuple(sorted(grade for grade in self.grades if grade > 0))

    @property
    def top(self) -> float:
        """The highest grade in use."""
        return max(self.grades)

    @property
    def negative(self) -> int:
        """Documents with a negative grade: pooled, but not judged."""
        return sum(count for grade, count in self.grades.items() if grade < 0)

    @property
    def stars(self) -> bool:
        """Whether the grades are a scale without a 0, as of ratings, in which the low ones mean no."""
        return stars(self.grades)

    @cached_property
    def answered(self) -> Array:
        """The numbers of relevant documents, of queries that have one."""
        return self.relevant[self.relevant > 0]

    @property
    def median(self) -> float:
        """The median number of relevant documents of queries that have one."""
        return float(np.median(self.answered)) if len(self.answered) else 0.0

    @property
    def singles(self) -> int:
        """Queries with exactly one relevant document."""
        return int((self.relevant == 1).sum())

    @property
    def both(self) -> int:
        """Queries with judged documents of both kinds, relevant and not."""
        return int(((self.relevant > 0) & (self.rejected > 0)).sum())

    @property
    def reach(self) -> int | None:
        """How deep the shallowest run goes; None without runs."""
        return min((run.deepest for run in self.runs), default=None)

    def precision_ceiling(self, k: int) -> float:
        """P@k of a perfect ranking.

        >>> Facts(2, 4, {1.0: 4}, 1.0, np.array([1, 3]), np.array([0, 0]), []).precision_ceiling(2)
        0.75
        """
        return math.fsum((np.minimum(self.relevant, k) / k).tolist()) / self.queries

    def recall_ceiling(self, k: int) -> float:
        """R@k of a perfect ranking; a query without relevant documents scores 0, as in R."""
        known = np.maximum(self.relevant, 1)
        return math.fsum((np.minimum(self.relevant, k) / known).tolist()) / self.queries

    def ideal_gains(self, k: int) -> list[float]:
        """The ideal DCG@k of each query that has a document with a gain, linear gain."""
        ranks = np.log2(np.arange(k) + 2.0).tolist()
        found = (
            math.fsum(g / d for g, d in zip(grades[:k].tolist(), ranks, strict=False) if g > 0)
            for grades in self.grade_lists
        )
        return [value for value in found if value > 0]

    def having(self, grade: float) -> int:
        """Queries with a document of at least this grade."""
        return sum(bool(len(grades)) and bool(grades[0] >= grade) for grades in self.grade_lists)


def stars(grades: Mapping[float, int]) -> bool:
    """Whether grades look like a scale of ratings: up to 5 to 10 or to 100, five or more of them or fractions, and hardly a 0.

    >>> stars({1: 4, 2: 9, 3: 9, 4: 9, 5: 4}), stars({0: 90, 1: 4, 2: 9, 3: 9, 4: 9, 5: 4})
    (True, False)
    """
    positive = {grade: count for grade, count in grades.items() if grade > 0}
    several = len(positive) >= STARS or (len(positive) > 1 and any(grade % 1 for grade in positive))
    hardly = grades.get(0, 0) <= HARDLY * sum(positive.values())
    top = max(positive, default=0)
    return (STARS <= top <= 10 or top == 100) and several and hardly


def level_of(grades: Mapping[float, int]) -> float:
    """The lowest grade to take as relevant: 1, more on a scale of ratings, less where no grade reaches 1.

    >>> level_of({0: 5, 1: 2, 2: 1}), level_of(dict.fromkeys((1, 2, 3, 4, 5), 9)), level_of({0: 3, 0.5: 1})
    (1.0, 4.0, 0.5)
    """
    positive = sorted(grade for grade in grades if grade > 0)
    if stars(grades):
        return float(next(grade for grade in positive if grade >= LIKED * positive[-1]))
    return float(positive[0]) if positive and positive[-1] < 1 else 1.0


def facts_of(qrels: Any, runs: Sequence[RunFacts] = (), users: bool = False) -> Facts:
    """The facts of judgments that were read as a table; ``runs`` were examined elsewhere; ``users`` where it is known."""
    frame = qrels.frame.select("query_id", "doc_id", "grade")
    several, aspects = _aspects(qrels)
    if several:
        frame = frame.group_by("query_id", "doc_id", maintain_order=True).agg(pl.col("grade").max())
    counted = frame["grade"].value_counts()
    grades = {float(g): int(n) for g, n in sorted(counted.iter_rows())}
    level = level_of(grades)
    lists = [
        np.asarray(found.sort(descending=True).to_numpy(), dtype=float)
        for found in frame.group_by("query_id", maintain_order=True).agg("grade")["grade"]
    ]
    # a query may stand in the judgments without a document
    lists += [np.zeros(0)] * (len(qrels.queries) - len(lists))
    return Facts(
        queries=len(qrels.queries),
        judgments=frame.height,
        grades=grades,
        level=level,
        relevant=np.array([int((found >= level).sum()) for found in lists]),
        rejected=np.array([int(((found >= 0) & (found < level)).sum()) for found in lists]),
        grade_lists=lists,
        several=several,
        aspects=aspects,
        users=users or _alike(qrels.queries, USER),
        entities=_alike(frame["doc_id"].head(1000).to_list(), ENTITY),
        runs=tuple(runs),
    )


def _aspects(qrels: Any) -> tuple[int, tuple[int, int]]:
    """How many documents have several grades, and the fewest and most aspects (column 2) of a query."""
    if "iteration" not in qrels.frame.columns or not len(qrels.repeated):
        return 0, (0, 0)
    rows = qrels.frame[qrels.repeated].select("query_id", "doc_id").n_unique()
    counts = qrels.frame.group_by("query_id").agg(pl.col("iteration").n_unique())["iteration"].to_list()
    return int(rows), (min(counts), max(counts))


def _alike(ids: Sequence[str], like: re.Pattern[str]) -> bool:
    """Whether nearly all of the first ids begin like this."""
    some = ids[:1000]
    return bool(some) and sum(like.match(i) is not None for i in some) >= 0.9 * len(some)
