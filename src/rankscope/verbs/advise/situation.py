"""Judgments and runs in the numbers that decide on a metric, and conditions on them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankscope import words
from rankscope.declared import parameters, plain
from rankscope.lists import Array
from rankscope.metrics import CATALOGUE, Metric, parse
from rankscope.scoring.health import level_of, looks_like_ratings
from rankscope.tables import Qrels

ROUND = re.compile(r"-?\d*\.\d+")
USER = re.compile(r"(user|usr|uid|u|customer|cust|visitor|session|playlist|pid)[-_:#]?\d+", re.IGNORECASE)
ENTITY = re.compile(r"<?dbpedia:|Q\d+$|https?://\S*(dbpedia|wikidata|wikipedia)\.|enwiki:|wd:Q\d+")
SHARED = 3  # queries per judged document: few in search, many where users rate the same items
HOLES = 0.1  # the share of unjudged documents in the top k that matters
LOW = 0.9  # a ceiling below this is worth a word
LONGEST_TABLE = 12  # grades in a table of gains
EXPONENTIAL = 5  # the highest grade for which 2^grade - 1 does not drown the others


@dataclass(frozen=True)
class RunFacts:
    """A run over the judged queries.

    ``depth`` is the median length of its ``lists``, ``deepest`` the longest; with ``cut`` most lists end at the same rank.
    ``unjudged`` is the share of its top k that is not in the judgments, ``unjudged_in_all`` that of all it returns,
    ``tied_in_top_10`` the share of its top 10 that shares its score.
    """

    run: str
    lists: int
    depth: int
    deepest: int
    cut: bool
    unjudged: float
    unjudged_in_all: float
    tied_in_top_10: float
    missing_queries: int


@dataclass(frozen=True, eq=False)
class Situation:
    """Judgments and runs in numbers, and what can be asked of them. Arrays hold one number a judged query.

    ``grades`` counts judgments by grade; ``level`` is the lowest grade taken as relevant; ``relevant`` counts the documents
    of that level, ``not_relevant`` those judged and below it; ``grade_lists`` are the grades of each query, the highest first.
    ``several`` counts documents with several grades (by subtopic or judge), ``subtopics`` the fewest and the most of them a query.
    ``shared`` is for how many queries a document is judged on average.
    Results are looked at down to rank ``k``, and to ``deep`` for a deeper look; ``taste`` says that low grades are dislikes.
    """

    queries: int
    judgments: int
    grades: Mapping[float, int]
    level: float
    relevant: Array
    not_relevant: Array
    grade_lists: Sequence[Array]
    several: int = 0
    subtopics: tuple[int, int] = (0, 0)
    shared: float = 0.0
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

    @cached_property
    def with_relevant(self) -> Array:
        """The numbers of relevant documents, of queries that have one."""
        return self.relevant[self.relevant > 0]

    @property
    def median(self) -> float:
        """The median number of relevant documents of queries that have one."""
        return float(np.median(self.with_relevant)) if len(self.with_relevant) else 0.0

    @property
    def singles(self) -> int:
        """Queries with exactly one relevant document."""
        return int((self.relevant == 1).sum())

    @property
    def both_kinds(self) -> int:
        """Queries with judged documents of both kinds, relevant and not."""
        return int(((self.relevant > 0) & (self.not_relevant > 0)).sum())

    @property
    def reach(self) -> int:
        """The depth of the shallowest run, 0 without runs."""
        return min((run.deepest for run in self.runs), default=0)

    @property
    def answerable(self) -> float:
        """The share of queries with a relevant document: the mean of a metric cannot exceed it."""
        return len(self.with_relevant) / self.queries

    def precision_ceiling(self, k: int) -> float:
        """P@k of a perfect ranking."""
        return math.fsum((np.minimum(self.relevant, k) / k).tolist()) / self.queries

    def recall_ceiling(self, k: int) -> float:
        """R@k of a perfect ranking. A query without relevant documents scores 0, as in R."""
        known = np.maximum(self.relevant, 1)
        return math.fsum((np.minimum(self.relevant, k) / known).tolist()) / self.queries

    def ideal_gains(self, k: int) -> list[float]:
        """The ideal DCG@k of each query that has a document with a gain, linear gain."""
        gains = (np.maximum(grades[:k], 0) / np.log2(np.arange(len(grades[:k])) + 2) for grades in self.grade_lists)
        return [value for gain in gains if (value := math.fsum(gain.tolist())) > 0]

    def holds(self, *when: str) -> bool:
        """Return True if all of these ``CONDITIONS`` hold, like ``("graded", "not one")``."""
        return all(CONDITIONS[name.removeprefix("not ")][1](self) != name.startswith("not ") for name in when)

    def metric(self, name: str, at: str = "", args: str = "") -> Metric:
        """Return a metric with the arguments for these data: a cutoff ("k", "deep", "uncut" or a number), a level, gains, the top grade."""
        known = parameters(CATALOGUE[name])
        arguments = [args.format(top=plain(self.top))] if args else []
        if "level" in known and "level" not in args and self.level != 1:
            arguments.append(f"level={plain(self.level)}")
        if name == "ERR":
            arguments.append(f"max_grade={plain(self.top)}")
        if "gain" in known and "gain" not in args and (gain := self.gain):
            arguments.append(f"gain={gain}")
        uncut = f"@{self.reach}" if self.holds("cut") else ""
        cutoff = {"": "", "k": f"@{self.k}", "deep": f"@{self.deep}", "uncut": uncut}.get(at, f"@{at}")
        return parse(f"{name}({', '.join(arguments)}){cutoff}" if arguments else name + cutoff)

    @property
    def gain(self) -> str:
        """The gain for ratings or counts. Empty if the grade itself is the gain."""
        if self.holds("counts"):
            return "'binary'"
        below = [grade for grade in self.positive if grade < self.level]
        if not below or not self.holds("stars"):
            return ""
        if not self.taste and self.top <= EXPONENTIAL:
            return "'exponential'"
        return "" if len(below) > LONGEST_TABLE else "{" + ", ".join(f"{plain(grade)}: 0" for grade in below) + "}"


def situation_of(qrels: Qrels, users: bool = False, topics: bool = True) -> Situation:
    """Judgments as a table, in numbers. ``users`` if the queries are known to be users. Without ``topics`` column 2 is ignored."""
    several, subtopics = _subtopics(qrels) if topics else (0, (0, 0))
    frame = (qrels.distinct("best") if several else qrels).frame.select("query_id", "doc_id", "grade")
    grades = {float(g): int(n) for g, n in sorted(frame["grade"].value_counts().iter_rows())}
    level = level_of(grades)
    by_query = frame.group_by("query_id", maintain_order=True).agg("grade")["grade"]
    lists = [np.asarray(of_query.sort(descending=True).to_numpy(), dtype=float) for of_query in by_query]
    # a query may stand in the judgments without a document
    lists += [np.zeros(0)] * (len(qrels.queries) - len(lists))
    return Situation(
        queries=len(qrels.queries), judgments=frame.height, grades=grades, level=level,
        relevant=np.array([int((list_grades >= level).sum()) for list_grades in lists]),
        not_relevant=np.array([int(((list_grades >= 0) & (list_grades < level)).sum()) for list_grades in lists]), grade_lists=lists,
        several=several, subtopics=subtopics, shared=frame.height / max(frame["doc_id"].n_unique(), 1), users=users or _alike(qrels.queries, USER),
        entities=_alike(frame["doc_id"].head(1000).to_list(), ENTITY),
    )  # fmt: skip


def _subtopics(qrels: Qrels) -> tuple[int, tuple[int, int]]:
    """The number of documents with several grades, and the fewest and the most subtopics of a query: from these, or from numbers or names in column 2."""
    if "iteration" not in qrels.frame.columns:
        return 0, (0, 0)
    pairs = qrels.frame.select("query_id", "iteration").unique()
    counts = pairs["query_id"].value_counts()["count"].to_list()
    if not len(qrels.repetitions):
        names = {str(name).casefold() for name in pairs["iteration"].unique().to_list()}
        no_topic = any(name in {"0", "q0"} or ROUND.fullmatch(name) for name in names)
        if no_topic or 2 * sum(count > 1 for count in counts) < len(counts):
            return 0, (0, 0)
    number = qrels.frame[qrels.repetitions].select("query_id", "doc_id").n_unique()
    return number, (min(counts), max(counts))


def _alike(ids: Sequence[str], like: re.Pattern[str]) -> bool:
    some = ids[:1000]
    return bool(some) and sum(like.match(i) is not None for i in some) >= 0.9 * len(some)


# Conditions that a declaration may name in ``when``: their meaning, and a test.
CONDITIONS: Mapping[str, tuple[str, Callable[[Situation], bool]]] = {
    "one": ("Most queries have exactly one relevant document", lambda data: data.singles >= 0.8 * max(len(data.with_relevant), 1)),
    "many": ("The median query has ten relevant documents or more", lambda data: data.median >= 10),
    "hundreds": ("The median query has a hundred relevant documents or more", lambda data: data.median >= 100),
    "graded": ("Several grades above 0 are in use, and they are grades rather than counts", lambda data: len(data.positive) > 1 and data.top <= 100),
    "counts": ("The grades are too large for grades: how often something was played, bought or clicked", lambda data: data.top > 100),
    "stars": ("The grades are a scale without a 0, as of ratings, in which the low ones mean no", lambda data: looks_like_ratings(data.grades)),
    "negative": ("Documents have a negative grade: pooled, but not judged", lambda data: data.negative > 0),
    "odd_top": ("Grades that do not end at 4, which ERR takes as the top by default", lambda data: data.holds("graded") and data.top != 4),
    "both": ("Half of the queries or more have judged documents that are relevant and others that are not", lambda data: 2 * data.both_kinds >= data.queries),
    "some_both": ("A query has judged documents of both kinds", lambda data: data.both_kinds > 0),
    "past_3": ("Users see more than three results", lambda data: data.k > 3),
    "within_50": ("Users see fewer than 50 results", lambda data: data.k < 50),
    "aspects": ("Documents are judged by subtopic or judge", lambda data: data.subtopics[1] > 0),
    "thousands": ("A thousand queries or more", lambda data: data.queries >= 1000),
    "shared": ("A document is judged for three queries or more on average", lambda data: data.shared >= SHARED),
    "users": ("The queries are users", lambda data: data.users),
    "entities": ("The documents look like entities", lambda data: data.entities),
    "with_runs": ("Runs were given", lambda data: bool(data.runs)),
    "short": ("No list of some run is longer than ten", lambda data: bool(data.runs) and data.reach <= 10),
    "long": ("Every run has lists of a thousand or more", lambda data: data.reach >= 1000),
    "all_judged": ("Everything that the runs return is judged", lambda data: bool(data.runs) and all(1 - run.unjudged_in_all >= 0.999 for run in data.runs)),
    "holes": ("A run's top k is unjudged for a tenth or more, though documents that are not relevant were judged",
        lambda data: data.both_kinds > 0 and any(run.unjudged >= HOLES for run in data.runs)),
    "capped": ("A perfect ranking stays well below 1 on R@k: queries have more relevant documents than k", lambda data: data.recall_ceiling(data.k) < LOW * data.answerable),
    "capped_deep": ("The same at the deeper rank", lambda data: data.recall_ceiling(data.deep) < LOW * data.answerable),
    "cut": ("Runs end at one rank above a thousand, or at different ones: a metric without cutoff depends on their length",
        lambda data: any(run.cut and (run.deepest < 1000 or len({other.deepest for other in data.runs}) > 1) for run in data.runs)),
}  # fmt: skip


def _of_queries(data: Situation, number: int) -> str:
    return f"{words.count(number)} of {words.count(data.queries)} queries"


def grades_in_words(data: Situation) -> str:
    """Return the grades and their shares in words."""
    if len(data.grades) > 8:
        return f"{len(data.grades)} different grades from {words.amount(min(data.grades))} to {words.amount(data.top)}"
    total = sum(data.grades.values())
    return "grades " + ", ".join(f"{words.amount(g)} ({words.share(n / total)})" for g, n in data.grades.items())


def relevant_in_words(data: Situation) -> str:
    """Return the number of relevant documents per query in words."""
    low, high = int(data.with_relevant.min()), int(data.with_relevant.max())
    if low == high:
        return f"every query that has any has {words.counted(low, 'relevant document')}"
    level = "" if data.level == 1 else f" (grade {words.amount(data.level)} or more)"
    noun = words.plural("relevant document") if data.median != 1 else "relevant document"
    return f"the median query has {words.amount(data.median)} {noun}{level}, range {words.count(low)} to {words.count(high)}"


def _depth(data: Situation) -> str:
    ends = sorted({run.deepest for run in data.runs})
    longest = " to ".join(map(words.count, ends[:1] + ends[1:][-1:]))
    return f"the longest list of a run has {longest} documents" if ends else "no run was given"


def _unjudged(data: Situation) -> str:
    worst = max(data.runs, key=lambda run: run.unjudged)
    return f"{words.share(worst.unjudged)} of the top {data.k} of {worst.run} is not in the judgments"


def _ceiling(data: Situation, k: int) -> str:
    ceiling = words.number(data.recall_ceiling(k), digits=2)
    return f"an ideal ranking scores R@{k} = {ceiling}; {relevant_in_words(data)}"


def _tops(data: Situation) -> str:
    number = sum(bool((list_grades >= data.top).any()) for list_grades in data.grade_lists)
    return f"{_of_queries(data, number)} have a document of grade {words.amount(data.top)}"


RESTS: Mapping[str, Callable[[Situation], str]] = {
    "grades": grades_in_words,
    "relevant": relevant_in_words,
    "singles": lambda data: f"{_of_queries(data, data.singles)} have exactly one relevant document",
    "tops": _tops,
    "queries": lambda data: f"{words.counted(data.queries, 'judged query')}, {words.count(len(data.with_relevant))} with a relevant document",
    "both": lambda data: f"{_of_queries(data, data.both_kinds)} have judged documents of both kinds",
    "depth": _depth,
    "unjudged": _unjudged,
    "ceiling": lambda data: _ceiling(data, data.k),
    "ceiling_deep": lambda data: _ceiling(data, data.deep),
    "aspects": lambda data: (
        (f"{words.counted(data.several, 'document')} {words.agree(data.several, 'has')} several grades; " if data.several else "")
        + (f"{data.subtopics[0]} to " if data.subtopics[0] < data.subtopics[1] else "")
        + f"{words.counted(data.subtopics[1], 'subtopic')} (or judges) a query"
    ),
}  # fmt: skip
