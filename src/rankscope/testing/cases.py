"""Random small queries in plain lists, and the values of a metric for them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from rankscope.declared import plain
from rankscope.errors import InputError
from rankscope.lists import Array, ItemTable, Judged, Lists, RankedBatch, Shown
from rankscope.lists.items import table_of
from rankscope.lists.judged import with_shown
from rankscope.metrics import Metric
from rankscope.metrics.single import Grade, PlainList, end_to_end

# the grades of the documents of one query; None is an unjudged document
SCALES: tuple[tuple[float | None, ...], ...] = (
    (None, 0, 0, 1), (None, 0, 0, 1, 2, 3), (None, None, -1, 0, 1, 2), (-2, -1, 0, 1), (None, 0, 0.5, 1, 1.5, 2, 2.5),
    (None, 0, 4, 1), (None, 0, -1), (0, 1),
)  # fmt: skip

SCALE: tuple[float | None, ...] = (None, -2, -1, 0, 0.5, 1, 1.5, 2, 2.25, 2.5, 3, 4)
CATALOGUE = 211  # items


@dataclass(frozen=True)
class Case:
    """One query: grades in ranked order, grades of judged documents not retrieved, and True for ties with the document before."""

    ranking: tuple[float | None, ...] = ()
    missing: tuple[float, ...] = ()
    tied: tuple[bool, ...] = ()

    def __str__(self) -> str:
        grades = f"grades in ranked order {_list_grades(self.ranking)}, judged but not retrieved {_list_grades(self.missing)}"
        return f"{grades}, scores {_list_grades(self.scores)}" if any(self.tied) else grades

    @property
    def scores(self) -> list[float]:
        """Whole numbers as scores, lower by one for each new group of ties."""
        groups = np.cumsum([not t for t in self.tied or (False,) * len(self.ranking)])
        return [float(len(self.ranking) - g) for g in groups.tolist()]

    def with_ranking(self, ranking: Sequence[float | None]) -> Case:
        """Return a copy with other grades."""
        return replace(self, ranking=tuple(ranking))

    def cut(self, depth: int) -> Case:
        """Return a copy with only the first documents retrieved."""
        gone = tuple(g for g in self.ranking[depth:] if g is not None)
        return Case(self.ranking[:depth], self.missing + gone, self.tied[:depth])

    def insert(self, at: int, grade: float | None) -> Case:
        """Return a copy with one more document before this position. It joins the tie that it would part."""
        tied = self.tied and (*self.tied[:at], at < len(self.tied) and self.tied[at], *self.tied[at:])
        return Case((*self.ranking[:at], grade, *self.ranking[at:]), self.missing, tied)

    def graded_anew(self, grade: Callable[[float], float]) -> Case:
        """Return a copy with every grade replaced."""
        ranking = tuple(None if g is None else grade(g) for g in self.ranking)
        return replace(self, ranking=ranking, missing=tuple(map(grade, self.missing)))


def _list_grades(values: Sequence[float | None]) -> str:
    return "[" + ", ".join("None" if v is None else plain(v) for v in values) + "]"


def top_grade(metric: Metric) -> float:
    """The highest grade in the random judgments."""
    max_grade = getattr(metric, "max_grade", None)
    return float(max_grade) if isinstance(max_grade, int | float) else 4.0


@lru_cache(maxsize=32)
def made_up(examples: int, seed: int, top: float) -> tuple[Case, ...]:
    """Random queries of every kind: long, short and empty lists, ties, gaps, no relevant document, negative and fractional grades."""
    rng = np.random.default_rng(seed)
    first = [
        Case(), Case((), (1, 0, 2)), Case((0, 0, None), (1,)), Case((None, None)), Case((1,)),
        Case((0, 1, 0, 1), (1, 0)),
    ]  # fmt: skip
    cases = [case.graded_anew(lambda g: min(g, top)) for case in first]
    while len(cases) < max(examples, len(first) + 1):
        long = len(cases) == len(first) or rng.random() < 0.01
        size = int(rng.integers(30, 41)) if long else int(rng.integers(0, 13))
        scale = SCALES[rng.integers(len(SCALES))]
        drawn = [scale[i] for i in rng.integers(len(scale), size=size + int(rng.integers(0, 6)))]
        clipped = [None if g is None else min(float(g), top) for g in drawn]
        tied = (False, *(rng.random(size - 1) < 0.4).tolist()) if size and rng.random() < 0.3 else ()
        cases.append(Case(tuple(clipped[:size]), tuple(g for g in clipped[size:] if g is not None), tied))
    return tuple(cases)


@lru_cache(maxsize=256)
def judged(cases: tuple[Case, ...]) -> Judged:
    """The cases as the output of an engine."""
    parts = ((_with_aspects(case.ranking), np.asarray(case.scores), _with_aspects(case.missing)) for case in cases)
    return with_shown(RankedBatch(end_to_end([PlainList(*part) for part in parts])).flat, _shown(cases))


@lru_cache(maxsize=64)
def whole(cases: tuple[Case, ...]) -> Lists:
    """The rectangle of all cases. Metrics share it, as in an engine."""
    return judged(cases).lists(np.arange(len(cases)))


@lru_cache(maxsize=16)
def apart(cases: tuple[Case, ...]) -> list[Lists]:
    """The rectangle of each case by itself."""
    return [judged(cases).lists(np.array([i])) for i in range(len(cases))]


@lru_cache(maxsize=1)
def _table() -> ItemTable:
    labels: dict[str, dict[str, Any]] = {
        str(n): {"x": [label for label in "xyz" if n % ord(label) % 3]} for n in range(CATALOGUE)
    }
    for number, features in enumerate(labels.values()):
        features |= {
            "length": 1 + number % 7, "propensity": 1 / (1 + number % 5), "exposures": 1 + number % 3,
            "tokens": number % 3 * 30,
        }  # fmt: skip
    return table_of(labels, {"u": ["1", "2"], "v": ["2"]})


def _shown(cases: Sequence[Case]) -> Shown:
    """Every document as an item of a small catalogue: the item follows from the grade, and from how often it came before."""
    code, grade, wanted = [], [], []
    for number, case in enumerate(cases):
        met: Counter[float | None] = Counter()
        for one in case.ranking:
            code.append((SCALE.index(one if one in SCALE else None) * 7 + met[one]) % CATALOGUE)
            grade.append(math.nan if one is None else one)
            met[one] += 1
            wanted += [(number, code[-1], one)] if one is not None and one > 0 else []
    count = np.array([len(case.ranking) for case in cases], dtype=np.int64)
    columns = np.array(wanted, dtype=float).reshape(-1, 3).T
    user = np.zeros(len(cases), dtype=np.int64)
    return Shown(
        count, np.array(code, dtype=np.int64), np.array(grade, dtype=float), user, _table(),
        lambda: (columns[0], columns[1], columns[2]),
    )  # fmt: skip


def _with_aspects(grades: Iterable[float | None]) -> list[Grade]:
    return [math.nan if grade is None else tuple(aspects_of(grade).items()) for grade in grades]


def aspects_of(grade: float) -> dict[int, float]:
    """The subtopics of a document by its grade: grade 3 covers the first two, grade 4 the third."""
    if grade <= 0:
        return {0: grade}
    bits = math.ceil(min(grade, 7.0))
    return {number: grade for number in range(3) if bits >> number & 1}


def values(metric: Metric, cases: Sequence[Case]) -> Array:
    """The values of the metric for all cases, in one rectangle."""
    return metric.score(whole(tuple(cases)))


def accepts(metric: Metric, cases: Sequence[Case]) -> list[bool]:
    """True for cases that the metric does not refuse with InputError."""
    if not _refuses(metric, cases):
        return [True] * len(cases)
    return [not _refuses(metric, (case,)) for case in cases]


def _refuses(metric: Metric, cases: Sequence[Case]) -> bool:
    try:
        with np.errstate(all="ignore"):
            values(metric, cases)
    except Exception as error:  # noqa: BLE001 - the laws report other errors
        return isinstance(error, InputError)
    return False


def smaller(case: Case) -> Iterator[Case]:
    """Simpler cases: one document less, no ties, simpler grades."""
    for i in range(len(case.ranking)):
        tied = case.tied[:i] + case.tied[i + 1 :]
        yield Case(case.ranking[:i] + case.ranking[i + 1 :], case.missing, (False, *tied[1:]) if tied else ())
    for i in range(len(case.missing)):
        yield replace(case, missing=case.missing[:i] + case.missing[i + 1 :])
    if case.tied:
        yield replace(case, tied=())
    for i, grade in enumerate(case.ranking):
        for plainer in _plainer(grade):
            yield case.with_ranking((*case.ranking[:i], plainer, *case.ranking[i + 1 :]))
    for i, grade in enumerate(case.missing):
        for plainer in _plainer(grade):
            yield replace(case, missing=(*case.missing[:i], plainer, *case.missing[i + 1 :]))


def _plainer(grade: float | None) -> tuple[float, ...]:
    if grade is None:
        return (0.0,)
    if grade > 0:
        return tuple(g for g in (0.0, 1.0, 2.0) if g < grade)
    return (0.0, -1.0)[: 1 if grade == -1 else 2] if grade else ()


def smallest(case: Case, broken: Callable[[Case], Any], tries: int = 1000) -> Case:
    """The smallest case found for which ``broken`` is still true."""
    shrinks = True
    while shrinks and tries > 0:
        shrinks = False
        for candidate in smaller(case):
            tries -= 1
            if broken(candidate):
                case, shrinks = candidate, True
                break
    return case
