"""Data for tests against other tools: real runs without ties, and labelled lists where each document has a score."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

Table = dict[str, dict[str, float]]


class Ranked(NamedTuple):
    """Judgments and a run over the same documents in the same order, so that their values stand side by side."""

    qrels: Table
    run: Table

    @property
    def queries(self) -> list[tuple[list[float], list[float]]]:
        """The labels and the scores of each query."""
        return [([*self.qrels[q].values()], [*self.run[q].values()]) for q in self.run]

    @property
    def flat(self) -> tuple[list[float], list[float], list[int]]:
        """All labels, all scores, and the number of documents of each query."""
        labels = [label for said, _ in self.queries for label in said]
        scores = [score for _, said in self.queries for score in said]
        return labels, scores, [len(said) for said, _ in self.queries]

    def relabelled(self, label: Callable[[float], float]) -> Ranked:
        """The same with other labels."""
        return Ranked({q: {d: label(g) for d, g in docs.items()} for q, docs in self.qrels.items()}, self.run)


def ranked(queries: list[tuple[list[float], list[float]]]) -> Ranked:
    """Labels and scores of each query, with names for queries and documents."""
    qrels, run = (
        {f"q{i}": {f"d{j}": float(value) for j, value in enumerate(query[side])} for i, query in enumerate(queries)}
        for side in (0, 1)
    )
    return Ranked(qrels, run)


@pytest.fixture(scope="session")
def letor(shared_data: Callable[[str], Path]) -> dict[str, Ranked]:
    """Real learning-to-rank lists with labels from 0 to 4, scored without ties, with some, and by one feature.

    All scores are exact in single precision, in which some tools keep them.
    """
    rows = [line.split() for line in shared_data("lambdarank/rank.test").read_text().splitlines()]
    sizes = [int(line) for line in shared_data("lambdarank/rank.test.query").read_text().split()]
    labels = np.array([float(row[0]) for row in rows])
    features = np.zeros((len(rows), 301))
    for at, row in enumerate(rows):
        for pair in row[1:]:
            index, _, value = pair.partition(":")
            features[at, int(index)] = float(value)
    assert len(rows) == sum(sizes) == 768
    linear = features @ np.random.default_rng(1).normal(size=features.shape[1])
    place = np.argsort(np.argsort(linear, kind="stable"), kind="stable") + 1.0
    scorers = {
        "no ties": place,
        "ties": np.round(linear / linear.std() * 2) + 0.0,  # no negative zero
        "one feature": features[:, 9].astype(np.float32).astype(float),
    }
    cuts = np.cumsum(sizes)[:-1]
    return {
        name: ranked(
            [
                (said.tolist(), given.tolist())
                for said, given in zip(np.split(labels, cuts), np.split(scores, cuts), strict=True)
            ]
        )
        for name, scores in scorers.items()
    }


@pytest.fixture(scope="session")
def six_users() -> Ranked:
    """Six users and ten items: each has what was shown to them first, then the other items in their order.

    One user was shown nothing, and one liked nothing.
    """
    liked = [{0, 1, 2}, {3}, {4, 5, 6, 7, 8, 9}, {9}, set(), {2}]
    shown = [[0, 5, 1, 6, 7], [5, 6, 3, 7, 8], [4, 0, 5, 1, 6], [], [0, 1, 2, 3, 4], [0, 1, 3, 4, 5]]
    queries = []
    for likes, first in zip(liked, shown, strict=True):
        order = [*first, *(item for item in range(10) if item not in first)]
        queries.append(([float(item in likes) for item in order], [float(10 - i) for i in range(10)]))
    return ranked(queries)


@pytest.fixture(scope="session")
def graded_list() -> Ranked:
    """One list with labels of four grades, in the order of its scores."""
    return ranked([([0, 3, 1, 2, 0], [5, 4, 3, 2, 1])])


REAL = {
    "filter": ("trec_covid/qrels.txt", "trec_covid/round1/runs/ixa-ir-filter-query.gz"),
    "doc2vec": ("trec_covid/qrels.txt", "trec_covid/round1/runs/RUIR-doc2vec.gz"),
    "aplrob": ("robust03/robust03_qrels.txt.gz", "robust03/runs/input.aplrob03a.gz"),
}
Runs = dict[str, tuple[dict[str, dict[str, int]], Table]]


def column(path: Path, number: int) -> Table:
    """A file read by splitting its lines, nothing of ours."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    out: Table = {}
    for line in text.splitlines():
        fields = line.split()
        out.setdefault(fields[0], {})[fields[2]] = float(fields[number])
    return out


@pytest.fixture(scope="session")
def real_runs(shared_data: Callable[[str], Path]) -> Callable[[int, int], Runs]:
    """Judgments and rankings of some queries to a depth; scores are whole and distinct, so that no rule for ties has a say."""

    def read(queries: int, depth: int) -> Runs:
        out: Runs = {}
        for name, (qrels, run) in REAL.items():
            grades, scores = column(shared_data(qrels), 3), column(shared_data(run), 4)
            # the last ones: in Robust 2003 the first have two grades only
            some = [query for query in scores if query in grades][-queries:]
            ranked = {q: sorted(scores[q], key=lambda doc: (scores[q][doc], doc), reverse=True) for q in some}
            untied = {q: {d: float(depth - i) for i, d in enumerate(docs[:depth])} for q, docs in ranked.items()}
            out[name] = {q: {doc: int(g) for doc, g in grades[q].items()} for q in some}, untied
        return out

    return read
