"""Scoring plain lists: ``nDCG().of([3, 2, 0, 1, 2])``, without files, runs or queries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope import words
from rankscope.declared import plain
from rankscope.errors import InputError
from rankscope.lists import Array, Aspects, Judged

MOST = 100_000_000  # documents that known may count: each is laid out
Grade = float | tuple[tuple[Hashable, float], ...]  # one grade, or one for each aspect


@dataclass(frozen=True)
class PlainList:
    """One ranked list: grades in order (NaN where unjudged), scores, and the grades of what is missing from it."""

    grades: list[Grade]
    scores: Array | None
    missing: list[Grade]


def _highest(graded: Iterable[Grade]) -> Array:
    """One grade a document: the highest, where there are several."""
    return np.array([_highest_of(grade) for grade in graded], dtype=float)


def _highest_of(grade: Grade) -> float:
    return max((g for _, g in grade), default=math.nan) if isinstance(grade, tuple) else grade


def is_batch(ranking: Any) -> bool:
    """Whether this is a list of lists rather than one list."""
    if isinstance(ranking, np.ndarray):
        return ranking.ndim > 1
    return bool(len(ranking)) and isinstance(ranking[0], list | np.ndarray)


def judged_lists(ranking: Any, level: float, given: Mapping[str, Any]) -> Judged:
    """One or more lists as an engine would hand them over."""
    takes = "of() takes a ranked list, or a list of ranked lists"
    if isinstance(ranking, str | bytes | Mapping) or not isinstance(ranking, Sequence | np.ndarray):
        raise InputError(f"{takes}, not {type(ranking).__name__}")
    if isinstance(ranking, np.ndarray):
        if ranking.ndim not in (1, 2):
            raise InputError(f"{takes}, not an array of {ranking.ndim} dimensions")
    elif any(isinstance(one, tuple) for one in ranking):
        raise InputError(f"{takes}, not of tuples: write each list in square brackets")
    if not is_batch(ranking):
        return judged_of([_one(ranking, level, given)])
    if not len(ranking):
        raise InputError(f"{takes}; this array holds no list")
    for i, one in enumerate(ranking):
        if not isinstance(one, list | np.ndarray) or (isinstance(one, np.ndarray) and one.ndim != 1):
            raise InputError(f"{takes}: entry {i + 1} is {one!r}, not a list like the first")
    count = len(ranking)
    parts = ({name: _for_list(name, value, i, count) for name, value in given.items()} for i in range(count))
    return judged_of([_one(one, level, part) for one, part in zip(ranking, parts, strict=True)])


def _for_list(name: str, value: Any, i: int, count: int) -> Any:
    if value is None or isinstance(value, int | float | np.number | set | frozenset | Mapping):
        return value
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray) or _is_scalar(value):
        raise InputError(f"{name} is {_kind(value)}; give a list with one entry for each list")
    if len(value) != count:
        raise InputError(f"{name} has {len(value)} entries for {count} lists: give one for each list")
    return value[i]


def _one(ranking: Any, level: float, given: Mapping[str, Any]) -> PlainList:
    said = [name for name in ("known", "ideal", "relevant", "judgments") if given[name] is not None]
    if len(said) > 1:
        raise InputError(f"{' and '.join(said)} say the same thing in two ways: give one")
    if given["relevant"] is not None or given["judgments"] is not None:
        graded, absent = _look_up(ranking, given["relevant"], given["judgments"])
    else:
        graded = [_grades(value) for value in ranking]
        absent = _missing(graded, level, given["known"], given["ideal"])
    return PlainList(graded, _scores(given["scores"], len(graded)), absent)


def _grades(value: Any) -> Grade:
    """One grade, or those of a dict {subtopic or judge: grade}."""
    if isinstance(value, Mapping):
        return tuple(sorted(((name, _grade(grade)) for name, grade in value.items()), key=str))
    return _grade(value)


def _grade(value: Any) -> float:
    if value is None:
        return math.nan
    number = hasattr(value, "__float__") and not isinstance(value, str | np.ndarray)
    try:
        grade = float(value) if number else math.nan
    except OverflowError:
        grade = math.inf
    except (TypeError, ValueError):
        number = False
    if not number:
        raise InputError(f"{value!r} is not a grade; for a list of ids say relevant={{...}} or judgments={{id: grade}}")
    if math.isinf(grade):
        raise InputError("a grade is infinite; grades are finite numbers")
    return grade


def _is_scalar(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not value.ndim


def _kind(value: Any) -> str:
    return f"{'an' if type(value).__name__[0] in 'aeio' else 'a'} {type(value).__name__}"


def _scores(scores: Any, count: int) -> Array | None:
    if scores is None:
        return None
    try:
        out = np.asarray(scores, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"scores is {_kind(scores)} that is not all numbers; give one number for each") from None
    if out.shape != (count,):
        raise InputError(f"scores has {out.size} numbers for {count} documents: give one for each")
    if np.isnan(out).any():
        raise InputError(
            f"score {int(np.flatnonzero(np.isnan(out))[0]) + 1} is NaN; give it a number or leave the document out"
        )
    return out


def _look_up(
    ids: Iterable[Hashable], relevant: Collection[Hashable] | None, judgments: Mapping[Hashable, float] | None
) -> tuple[list[Grade], list[Grade]]:
    if judgments is not None and not isinstance(judgments, Mapping):
        raise InputError(f"judgments is {_kind(judgments)}, not a dict {{id: grade}}")
    if isinstance(relevant, str | bytes | Mapping) or not isinstance(relevant, Collection | None):
        raise InputError(f"relevant is {_kind(relevant)}, not a set of ids")
    ids = list(ids)
    try:
        twice = [i for i, n in Counter(ids).items() if n > 1]
        relevant = None if relevant is None else list(dict.fromkeys(relevant))
    except TypeError:
        raise InputError("an id is a string or a number; the list or relevant holds something else") from None
    if twice:
        raise InputError(f"document {twice[0]!r} stands in the list twice; remove one")
    grade_of: dict[Any, Grade] = (
        dict.fromkeys(relevant, 1.0) if relevant is not None else {i: _grades(g) for i, g in (judgments or {}).items()}
    )
    shown = set(ids)
    return [grade_of.get(i, math.nan) for i in ids], [
        g for i, g in grade_of.items() if i not in shown and not math.isnan(_highest_of(g))
    ]


def _missing(graded: list[Grade], level: float, known: Any, ideal: Any) -> list[Grade]:
    """The grades of judged documents that the list does not hold."""
    if ideal is not None:
        if isinstance(ideal, str | bytes | Mapping) or not isinstance(ideal, Iterable) or _is_scalar(ideal):
            raise InputError(f"ideal is {_kind(ideal)}, not a list of the grades of all judged documents")
        rest = Counter(_grades(value) for value in ideal)
        rest.subtract(grade for grade in graded if _highest_of(grade) > 0)
        short = [grade for grade, n in rest.items() if n < 0]
        if short:
            said = plain(short[0]) if isinstance(short[0], float) else f"{dict(short[0])}"
            raise InputError(
                f"ideal holds fewer documents of grade {said} than the list; it is the grades of all judged documents"
            )
        return [grade for grade, n in rest.items() if _highest_of(grade) > 0 for _ in range(n)]
    if known is None:
        return []
    found = sum(_highest_of(grade) >= max(level, 0.0) for grade in graded)
    if not hasattr(known, "__index__") or isinstance(known, np.ndarray):
        raise InputError(f"known is a whole number, the relevant documents that exist, not {known!r}")
    if known > MOST:
        raise InputError(f"known is at most {words.count(MOST)}")
    if known < found:
        raise InputError(f"known={known!r}, but the list holds {found} relevant documents; known counts all that exist")
    return [max(level, 1.0) if level else 1.0] * (int(known) - found)


def judged_of(lists: Sequence[PlainList]) -> Judged:
    """Lists as an engine would hand them over."""
    tables, graded = zip(*map(_rank, lists), strict=True)
    grade, rank, start, size, score = np.concatenate(tables, axis=1)
    return Judged(
        query_id=[str(i) for i in range(len(lists))],
        retrieved=np.array([len(one.grades) for one in lists], dtype=np.int64),
        size=np.array([table.shape[1] for table in tables], dtype=np.int64),
        in_run=np.array([np.count_nonzero(table[1]) for table in tables], dtype=np.int64),
        grade=grade,
        rank=rank.astype(np.int64),
        tie_start=start.astype(np.int64),
        tie_size=size.astype(np.int64),
        score=score,
        aspects=_aspects(graded),
    )


def _aspects(lists: Sequence[list[Grade]]) -> Aspects:
    """The grades by aspect of all documents; a plain grade is one of an aspect without a name."""
    count, aspect, grade = [], [], []
    for graded in lists:
        entries = [one if isinstance(one, tuple) else ((None, one),) for one in graded]
        names = sorted({name for document in entries for name, _ in document}, key=str)
        number = {name: i for i, name in enumerate(names)}
        count += [len(document) for document in entries]
        aspect += [number[name] for document in entries for name, _ in document]
        grade += [value for document in entries for _, value in document]
    numbers = np.array(aspect, dtype=np.int64)
    return Aspects(np.array(count, dtype=np.int64), numbers, numbers, np.array(grade, dtype=float), "the list")


def _rank(one: PlainList) -> tuple[Array, list[Grade]]:
    """The judged documents, those in the list first: grade, rank, tied group and score; equal scores keep their order."""
    n = len(one.grades)
    scores = -np.arange(n, dtype=float) if one.scores is None else one.scores
    order = np.argsort(-scores, kind="stable")
    falling = -scores[order]
    above = np.searchsorted(falling, falling, side="left")
    alike = np.searchsorted(falling, falling, side="right") - above
    grades, missing = _highest(one.grades)[order], _highest(one.missing)
    judged, best = ~np.isnan(grades), np.argsort(-missing, kind="stable")
    rows = np.stack([grades, np.arange(1, n + 1), above + 1, alike, -falling])[:, judged]
    rest = np.stack([missing[best], *np.zeros((2, len(best))), np.ones(len(best)), np.full(len(best), np.nan)])
    graded = [one.grades[i] for i in order[judged].tolist()] + [one.missing[i] for i in best.tolist()]
    return np.concatenate([rows, rest], axis=1), graded
