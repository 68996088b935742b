"""The lists of the playground: what they tell is true."""

from __future__ import annotations

import re
from math import log2

import pytest

from rankscope.blocks import Table
from rankscope.metrics import parse
from rankscope.reporting.playground import EXPLAINED, LESSONS, METRICS, playground, value

BY_NAME = {
    lesson.name.partition(" · ")[0]: f"{lesson.worked(lesson.exercise)} {lesson.worked(lesson.solution)}"
    for lesson in LESSONS
}


def dcg(*gains: float) -> float:
    """Gains in ranked order, discounted."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


# the number of a list -> what it says, as arithmetic, in the order in which it says it
TOLD = {
    "1": [1 / 1, 1 / 2, dcg(1, 0, 1) / dcg(1, 1, 1), dcg(0, 1, 1) / dcg(1, 1, 1)],
    "2": [(1 / 1 + 2 / 3 + 3 / 6) / 3, (1 / 1 + 2 / 2 + 3 / 4) / 3],
    "3": [
        dcg(3, 2, 0, 1, 2) / dcg(3, 2, 2, 1),
        dcg(7, 3, 0, 1, 3) / dcg(7, 3, 3, 1),
        dcg(2, 3, 0, 1, 2) / dcg(3, 2, 2, 1),
        dcg(3, 7, 0, 1, 3) / dcg(7, 3, 3, 1),
    ],
    "4": [dcg(2, 2, 2, 2, 4) / dcg(4, 2, 2, 2, 2), dcg(3, 3, 3, 3, 15) / dcg(15, 3, 3, 3, 3), 1, 1],
    "5": [1 / 2, 1, 1 / 10, 1 / 9],
    "6": [2 / 5, 1, dcg(0, 0, 0, 1, 1) / dcg(1, 1), 1, (1 / 4 + 2 / 5) / 2],
    "7": [1, dcg(1, 1, 3) / dcg(3, 1, 1), dcg(1, 1, 7) / dcg(7, 1, 1), 1 / 3],
    "8": [15 / 16 + (1 / 16) * (15 / 16) / 2, dcg(4, 4), 15 / 16, 4],
    "9": [0, 1, 1 / 10, 1 / log2(11)],
    "10": [0.2 * (0.8**3 + 0.8**4), 0.5 * (0.5**3 + 0.5**4), 0.05 * (0.95**3 + 0.95**4)],
    "11": [1, 1, 5 / 8, 5 / 8, 3 / 8],
    "12": [dcg(0, 1, 0, 1) / dcg(1, 1), dcg(1, 1, 0, 1) / dcg(1, 1, 1)],
    "13": [dcg(1, 0, 1) / dcg(3, 3, 1, 1), dcg(1, 1) / dcg(3, 3, 1, 1), 1],
    "14": [],
    "15": [1, 2 / 5],
    "16": [1, 1],
    "17": [3 / 5, 1 / 3, 3 / 5],
    "18": [dcg(1, 0, 0, 0, 1) / dcg(1, 1), dcg(3, 0, 0, 0, 1) / dcg(3, 1), dcg(1, 0, 0, 0, 3) / dcg(3, 1)],
}  # fmt: skip


@pytest.mark.parametrize("number", list(TOLD))
def test_what_a_list_says_is_so(number: str) -> None:
    said = re.findall(r"\d\.\d{4}", BY_NAME[number])
    assert said == [f"{expected:.4f}" for expected in TOLD[number]]  # type: ignore[attr-defined]


def test_every_list_is_told_and_tested() -> None:
    assert list(BY_NAME) == list(TOLD)
    assert not any("<" in text or ">" in text for text in BY_NAME.values())


def test_known_values() -> None:
    assert value("AP", [1, 0, 1, 0, 0, 1]) == pytest.approx(0.7222, abs=5e-5)
    assert value("nDCG(gain='exponential')@5", [3, 2, 0, 1, 2]) == pytest.approx(0.9686, abs=5e-5)
    assert value("nDCG@5", [3, 2, 0, 1, 2]) == pytest.approx(0.9602, abs=5e-5)


def test_the_queries_hold_what_the_metrics_give() -> None:
    explorer = playground().explorer
    assert explorer is not None
    assert explorer.teaching
    for query, lesson in zip(explorer.queries, LESSONS, strict=True):
        ideal = [grade for grade, count in query.judged for _ in range(count)]
        assert query.values[0] == tuple(parse(name).of(list(lesson.grades), ideal=ideal) for name in METRICS)
        assert sum(document.adds[0] for document in query.documents) == pytest.approx(query.values[0][0], abs=1e-12)
        assert [document.grade for document in query.documents] == list(lesson.grades)
        assert len(ideal) == sum(grade is not None for grade in lesson.grades) + len(lesson.missing)


def test_the_metrics_are_explained() -> None:
    tables = {
        section.name: block for section in playground().sections for block in section.blocks if isinstance(block, Table)
    }
    assert tuple(row[0] for row in tables["metrics"].rows) == EXPLAINED
    assert {str(row[0]).partition("@")[0].partition("(")[0] for row in tables["examples"].rows} == set(EXPLAINED)
    assert {type(parse(name)).__name__ for name in METRICS} == set(EXPLAINED)


def test_it_is_the_same_every_time() -> None:
    assert playground() == playground()
