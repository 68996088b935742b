"""The input of the conformance page: what every tool is given, and rankscope too."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from pathlib import Path

from rankscope.verbs.demo.demo import folder

Table = dict[str, dict[str, float]]
Judged = dict[str, dict[str, int]]
Judgments = dict[str, dict[str, dict[str, int]]]


@dataclass(frozen=True, eq=False)
class Data:
    """Judgments and one run, with documents in the order of their ids, so that input order is an order of its own."""

    name: str
    qrels: Judged
    run: Table

    @cached_property
    def untied(self) -> Data:
        """The same order, by score and then by id falling, with no two scores equal."""
        run = {}
        for query, docs in self.run.items():
            order = sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)
            place = {doc: (len(order) - i) / 128 for i, doc in enumerate(order)}
            run[query] = {doc: place[doc] for doc in docs}
        return Data(self.name, self.qrels, run)

    @cached_property
    def exact(self) -> Data:
        """The same order and the same ties, with scores between 0 and 1 that are exact in single precision."""
        run = {}
        for query, docs in self.run.items():
            place = {score: (i + 1) / 128 for i, score in enumerate(sorted(set(docs.values())))}
            run[query] = {doc: place[score] for doc, score in docs.items()}
        return Data(self.name, self.qrels, run)

    @cached_property
    def numbered(self) -> Data:
        """The same with numbers for queries, which is all that some tools read."""
        number = {query: str(i + 1) for i, query in enumerate(self.qrels)}
        qrels = {number[query]: docs for query, docs in self.qrels.items()}
        return Data(self.name, qrels, {number[query]: docs for query, docs in self.run.items()})

    @cached_property
    def found(self) -> Data:
        """Without the queries that the run lacks, ties broken."""
        return Data(self.name, {query: self.qrels[query] for query in self.run}, self.untied.run)

    def first(self, count: int) -> Data:
        """The first queries only."""
        qrels = dict([*self.qrels.items()][:count])
        name = f"{self.name}, {count} queries"
        return Data(name, qrels, {query: docs for query, docs in self.run.items() if query in qrels})

    @cached_property
    def candidates(self) -> Data:
        """Labelled lists, as tools of learning take them: what was retrieved, 0 where nobody judged, nothing else."""
        qrels = {q: {d: self.qrels[q].get(d, 0) for d in self.run[q]} for q in self.run if q in self.qrels}
        return Data(self.name, qrels, {q: self.run[q] for q in qrels})

    @cached_property
    def lists(self) -> list[tuple[str, list[int], list[float]]]:
        """Each query with the labels and the scores of its documents."""
        return [(q, [*self.qrels[q].values()], [*self.run[q].values()]) for q in self.qrels]

    def at(self, level: int) -> Data:
        """The same with labels that are 0 or 1."""
        qrels = {q: {d: int(g >= level) for d, g in docs.items()} for q, docs in self.qrels.items()}
        return Data(self.name, qrels, self.run)


def by_id(table: Mapping[str, Mapping[str, float]]) -> Table:
    """Documents in the order of their ids."""
    return {query: dict(sorted(docs.items())) for query, docs in table.items()}


def rows(path: Path, column: int) -> Table:
    """A file of the demo, read by splitting its lines, nothing of ours."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    out: Table = {}
    for line in text.splitlines():
        fields = line.split()
        out.setdefault(fields[0], {})[fields[2]] = float(fields[column])
    return by_id(out)


@lru_cache(maxsize=1)
def demo() -> Data:
    """The collection that ships with rankscope, and its run bm25, in which many scores are equal."""
    qrels = rows(folder() / "qrels.txt", 3)
    grades = {query: {doc: int(grade) for doc, grade in docs.items()} for query, docs in qrels.items()}
    return Data("demo", grades, rows(folder() / "bm25.run.gz", 4))


def ranking(docs: str, tied: str = "") -> dict[str, float]:
    """Documents of one letter in falling order of score; those in ``tied`` share the score of the first of them."""
    scores = {doc: float(len(docs) - i) for i, doc in enumerate(docs)}
    return scores | (dict.fromkeys(tied, scores[tied[0]]) if tied else {})


CORNERS = Data(
    "corners",
    {
        "graded-one-missed": {"a": 3, "b": 2, "c": 1, "d": 0, "e": 0, "m": 2},
        "ties": {"a": 1, "b": 0, "c": 2, "d": 0, "e": 3, "f": 0, "g": 1},
        "all-tied": {"a": 0, "b": 3, "c": 0, "d": 1},
        "many-unjudged": {"a": 1, "b": 2, "n": 0, "k": 0},
        "nothing-relevant": {"a": 0, "b": 0, "c": 0},
        "nothing-found": {"a": 0, "b": 0, "m": 1, "n": 3},
        "not-in-the-run": {"a": 1, "b": 0},
        "more-than-ten": {letter: 1 + i % 3 for i, letter in enumerate("abcdefghijkl")} | {"x": 0},
        "short-list": {"a": 1, "b": 2, "m": 3},
    },
    by_id(
        {
            "graded-one-missed": ranking("dacbe"),
            "ties": ranking("abcdefg", "bcdef"),
            "all-tied": ranking("abcd", "abcd"),
            "many-unjudged": ranking("uvnwxabyzk"),
            "nothing-relevant": ranking("cab"),
            "nothing-found": ranking("ubva"),
            "more-than-ten": ranking("axbycdefzghijkl"),
            "short-list": ranking("ub"),
        }
    ),
)

LIKED = ({0, 1, 2}, {3}, {4, 5, 6, 7, 8, 9}, {9}, set[int](), {2})
SHOWN = ((0, 5, 1, 6, 7), (5, 6, 3, 7, 8), (4, 0, 5, 1, 6), (), (0, 1, 2, 3, 4), (0, 1, 3, 4, 5))
SIX = Data(
    "six users",
    {f"u{u}": {f"i{item}": 1 for item in liked} for u, liked in enumerate(LIKED) if liked},
    {f"u{u}": {f"i{item}": float(5 - i) for i, item in enumerate(shown)} for u, shown in enumerate(SHOWN)},
)


@dataclass(frozen=True, eq=False)
class Subtopics:
    """Judgments by subtopic and one run."""

    name: str
    qrels: Judgments
    run: Table


@lru_cache(maxsize=1)
def demo_subtopics() -> Subtopics:
    """The demo, where the subtopic of a document is the module it is from."""
    whole = demo()
    qrels = {
        q: {doc: {doc.partition(".")[0]: int(grade > 0)} for doc, grade in docs.items()}
        for q, docs in whole.qrels.items()
    }
    return Subtopics("demo", qrels, whole.run)


CORNER_SUBTOPICS = Subtopics(
    "corners",
    {
        "three-subtopics": {
            "a": {"1": 1, "2": 1, "3": 0},
            "b": {"1": 1, "2": 0, "3": 0},
            "c": {"1": 0, "2": 0, "3": 1},
            "d": {"1": 0, "2": 0, "3": 0},
            "m": {"1": 1, "2": 1, "3": 1},
        },
        "one-subtopic": {"a": {"1": 1}, "b": {"1": 1}, "c": {"1": 0}},
        "one-of-two-is-known": {"a": {"1": 1, "2": 0}, "b": {"1": 0, "2": 0}},
        "ties": {"a": {"1": 1, "2": 0}, "b": {"1": 0, "2": 1}, "c": {"1": 1, "2": 1}},
        "nothing-relevant": {"a": {"1": 0, "2": 0}},
        "not-in-the-run": {"a": {"1": 1}},
    },
    by_id(
        {
            "three-subtopics": ranking("bduac"),
            "one-subtopic": ranking("cuab"),
            "one-of-two-is-known": ranking("uvab"),
            "ties": ranking("abcu", "abc"),
            "nothing-relevant": ranking("ua"),
        }
    ),
)


def tied_share(data: Data) -> float:
    """The share of retrieved documents whose score another one of the query has, too."""
    sizes = [len(list(same)) for docs in data.run.values() for _, same in groupby(sorted(docs.values(), reverse=True))]
    return sum(size for size in sizes if size > 1) / sum(sizes)
