"""The judgments and runs in numbers, as far as the choice of a metric depends on them, and what can be asked of them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.declared import parameters
from rankscope.lists import Array
from rankscope.metrics import CATALOGUE, Metric, parse

STARS = 5  # so many positive grades, or fractions among them, and hardly a 0: a scale of ratings
HARDLY = 0.01
LIKED = 0.8  # of the top of such a scale: four of five stars
USER = re.compile(r"(user|usr|uid|u|customer|cust|visitor|session|playlist|pid)[-_:#]?\d+", re.IGNORECASE)
ENTITY = re.compile(r"<?dbpedia:|Q\d+$|https?://\S*(dbpedia|wikidata|wikipedia)\.|enwiki:|wd:Q\d+")
ONE = 0.8  # of the queries with an answer have exactly one
MANY = 10  # relevant documents of the median query
DEEP = 100  # relevant documents of the median query
THOUSAND = 1000  # queries; and how deep a ranking is usually evaluated
HOLES = 0.1  # of the top k unjudged
LOW = 0.9  # a ceiling below this is worth a word
LONGEST_TABLE = 12  # grades in a table of gains
EXPONENTIAL = 5  # the highest grade for which 2^grade - 1 does not drown the others
COUNTS = 100  # a grade above it is none
EVERYTHING = 0.999  # of the documents returned are judged


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
class Situation:
    """Judgments and runs in numbers, and what can be asked of them. Arrays hold one number a judged query.

    ``grades`` counts judgments by grade; ``level`` is the lowest grade taken as relevant; ``relevant`` counts the documents
    of that level, ``rejected`` those judged and below it; ``grade_lists`` are the grades of each query, the highest first.
    ``several`` counts documents with several grades (by subtopic or judge), ``subtopics`` the fewest and the most of them a query.
    Results are looked at down to rank ``k``, and to ``deep`` for a deeper look; ``taste`` says that low grades are dislikes.

    What a declaration may name in ``when`` is a property or a field; it holds where that is true, or not 0.
    """

    queries: int
    judgments: int
    grades: Mapping[float, int]
    level: float
    relevant: Array
    rejected: Array
    grade_lists: Sequence[Array]
    several: int = 0
    subtopics: tuple[int, int] = (0, 0)
    users: bool = False
    entities: bool = False
    runs: Sequence[RunFacts] = ()
    k: int = 10
    deep: int = 100
    taste: bool = False

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
    def mixed(self) -> int:
        """Queries with judged documents of both kinds, relevant and not."""
        return int(((self.relevant > 0) & (self.rejected > 0)).sum())

    @property
    def reach(self) -> int | None:
        """How deep the shallowest run goes; None without runs."""
        return min((run.deepest for run in self.runs), default=None)

    def precision_ceiling(self, k: int) -> float:
        """P@k of a perfect ranking.

        >>> Situation(2, 4, {1.0: 4}, 1.0, np.array([1, 3]), np.array([0, 0]), []).precision_ceiling(2)
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

    # -- conditions -----------------------------------------------------------------------------------

    def holds(self, when: Sequence[str]) -> bool:
        """Whether all conditions hold, which are named by property: ``("graded", "not one")``."""
        return all(bool(getattr(self, word.removeprefix("not "))) != word.startswith("not ") for word in when)

    @property
    def one(self) -> bool:
        """Most queries have exactly one relevant document."""
        return bool(self.singles >= ONE * max(len(self.answered), 1))

    @property
    def many(self) -> bool:
        """The median query has ten relevant documents or more."""
        return self.median >= MANY

    @property
    def hundreds(self) -> bool:
        """The median query has a hundred relevant documents or more."""
        return self.median >= DEEP

    @property
    def graded(self) -> bool:
        """Several grades above 0 are in use, and they are grades rather than counts."""
        return len(self.positive) > 1 and not self.counts

    @property
    def counts(self) -> bool:
        """The grades are too large for grades: how often something was played, bought or clicked."""
        return self.top > COUNTS

    @property
    def both(self) -> bool:
        """Half of the queries or more have judged documents that are relevant and others that are not."""
        return 2 * self.mixed >= self.queries

    @property
    def some_both(self) -> bool:
        """A query has judged documents of both kinds."""
        return self.mixed > 0

    @property
    def aspects(self) -> bool:
        """Documents have several grades, by subtopic or judge."""
        return self.several > 0

    @property
    def thousands(self) -> bool:
        """A thousand queries or more."""
        return self.queries >= THOUSAND

    @property
    def with_runs(self) -> bool:
        """Runs were given."""
        return bool(self.runs)

    @property
    def short(self) -> bool:
        """No list of some run is longer than ten."""
        return self.reach is not None and self.reach <= 10

    @property
    def long(self) -> bool:
        """Every run has a list of a thousand or more."""
        return self.reach is not None and self.reach >= THOUSAND

    @property
    def all_judged(self) -> bool:
        """Everything that the runs return is judged."""
        return bool(self.runs) and all(1 - run.unknown >= EVERYTHING for run in self.runs)

    @property
    def holes(self) -> bool:
        """A run's top k is unjudged for a tenth or more, though documents that are not relevant were judged."""
        return self.some_both and any(run.unjudged >= HOLES for run in self.runs)

    @property
    def capped(self) -> bool:
        """A perfect ranking stays well below 1 on R@k: queries have more relevant documents than k."""
        return self.recall_ceiling(self.k) < LOW * self.answerable

    @property
    def capped_deep(self) -> bool:
        """The same at the deeper rank."""
        return self.recall_ceiling(self.deep) < LOW * self.answerable

    @property
    def answerable(self) -> float:
        """The share of queries with a relevant document: no metric of the mean can exceed it."""
        return len(self.answered) / self.queries

    @property
    def cut(self) -> bool:
        """Runs end at one rank above a thousand, or at different ones: a metric without cutoff means what they happen to hold."""
        ends = {run.deepest for run in self.runs if run.cut}
        return bool(ends) and (min(ends) < THOUSAND or len({run.deepest for run in self.runs}) > 1)

    @property
    def odd_top(self) -> bool:
        """Grades that do not end at 4, which ERR takes for the top unless told otherwise."""
        return self.graded and self.top != 4

    # -- metrics as they are spelled for these data ------------------------------------------------

    def metric(self, name: str, at: str = "", args: str = "") -> Metric:
        """A metric with what these data need: a cutoff ("k", "deep", "uncut" or a number), a level, gains, the top grade."""
        known = parameters(CATALOGUE[name])
        arguments = [args.format(top=self.top, level=self.level)] if args else []
        if "level" in known and "level" not in args and self.level != 1:
            arguments.append(f"level={self.level:g}")
        if name == "ERR":
            arguments.append(f"max_grade={self.top:g}")
        if "gain" in known and "gain" not in args and (gain := self.gain):
            arguments.append(f"gain={gain}")
        uncut = f"@{self.reach}" if self.cut else ""
        cutoff = {"": "", "k": f"@{self.k}", "deep": f"@{self.deep}", "uncut": uncut}.get(at, f"@{at}")
        return parse(f"{name}({', '.join(arguments)}){cutoff}" if arguments else name + cutoff)

    @property
    def gain(self) -> str:
        """The gain of grades on a scale of ratings, or of counts; empty where the grade itself will do."""
        if self.counts:
            return "'binary'"
        below = [grade for grade in self.positive if grade < self.level]
        if not self.stars or not below:
            return ""
        if not self.taste and self.top <= EXPONENTIAL:
            return "'exponential'"
        if len(below) > LONGEST_TABLE:
            return ""
        return "{" + ", ".join(f"{grade:g}: 0" for grade in below) + "}"


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


def situation_of(qrels: Any, users: bool = False) -> Situation:
    """Judgments that were read as a table, in numbers; ``users`` where the queries are known to be users."""
    frame = qrels.frame.select("query_id", "doc_id", "grade")
    several, subtopics = _subtopics(qrels)
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
    return Situation(
        queries=len(qrels.queries),
        judgments=frame.height,
        grades=grades,
        level=level,
        relevant=np.array([int((found >= level).sum()) for found in lists]),
        rejected=np.array([int(((found >= 0) & (found < level)).sum()) for found in lists]),
        grade_lists=lists,
        several=several,
        subtopics=subtopics,
        users=users or _alike(qrels.queries, USER),
        entities=_alike(frame["doc_id"].head(1000).to_list(), ENTITY),
    )


def _subtopics(qrels: Any) -> tuple[int, tuple[int, int]]:
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


# --- what reasons rest on: numbers of the data, in words ---------------------------------------------


def grades(data: Situation) -> str:
    """Which grades there are, and how often."""
    if len(data.grades) > 8:
        return f"{len(data.grades)} different grades from {min(data.grades):g} to {data.top:g}"
    total = sum(data.grades.values())
    return "grades " + ", ".join(f"{g:g} ({words.share(n / total)})" for g, n in data.grades.items())


def relevant(data: Situation) -> str:
    """How many relevant documents queries have."""
    low, high = int(data.answered.min()), int(data.answered.max())
    if low == high:
        return f"every query that has any has {words.counted(low, 'relevant document')}"
    level = "" if data.level == 1 else f" (grade {data.level:g} or more)"
    noun = words.plural("relevant document") if data.median != 1 else "relevant document"
    return f"the median query has {words.amount(data.median)} {noun}{level}; range {words.count(low)} to {words.count(high)}"


def singles(data: Situation) -> str:
    """How many queries have exactly one relevant document."""
    return f"{words.count(data.singles)} of {words.count(data.queries)} queries have exactly one relevant document"


def tops(data: Situation) -> str:
    """How many queries have a document of the top grade."""
    return f"{words.count(data.having(data.top))} of {words.count(data.queries)} queries have a document of grade {data.top:g}"


def queries(data: Situation) -> str:
    """How many queries are judged."""
    return f"{words.counted(data.queries, 'judged query')}, {words.count(len(data.answered))} with a relevant document"


def both(data: Situation) -> str:
    """How many queries have judged documents of both kinds."""
    return f"{words.count(data.mixed)} of {words.count(data.queries)} queries have judged documents of both kinds"


def depth(data: Situation) -> str:
    """How deep the runs are."""
    if not data.runs:
        return "no run was given"
    low, *_, high = sorted([run.deepest for run in data.runs] * 2)
    span = words.count(low) if low == high else f"{words.count(low)} to {words.count(high)}"
    return f"the longest list of a run has {span} documents"


def unjudged(data: Situation) -> str:
    """How much of the top k is unjudged."""
    worst = max(data.runs, key=lambda run: run.unjudged)
    return f"{words.share(worst.unjudged)} of the top {data.k} of {worst.name} is not in the judgments"


def ceiling(data: Situation) -> str:
    """The ceiling of R@k."""
    return _ceiling(data, data.k)


def ceiling_deep(data: Situation) -> str:
    """The ceiling of R at the deeper rank."""
    return _ceiling(data, data.deep)


def _ceiling(data: Situation, k: int) -> str:
    return f"an ideal ranking scores R@{k} = {words.number(data.recall_ceiling(k), digits=2)}; {relevant(data)}"


def aspects(data: Situation) -> str:
    """How many aspects column 2 holds."""
    low, high = data.subtopics
    return f"{words.count(data.several)} documents have several grades; {low} to {high} subtopics (or judges) a query in column 2"


RESTS: dict[str, Callable[[Any], str]] = {
    found.__name__: found
    for found in (grades, relevant, singles, tops, queries, both, depth, unjudged, ceiling, ceiling_deep, aspects)
}  # fmt: skip
