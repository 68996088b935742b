"""Data for tests against tools that rank labelled lists, where each document has a label and a score."""

from __future__ import annotations

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
        {
            f"q{i}": {f"d{j}": float(value) for j, value in enumerate(query[side])}
            for i, query in enumerate(queries)
        }
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
