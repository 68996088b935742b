"""Scoring plain lists: ``nDCG().of([3, 2, 0, 1, 2])``, without files, runs or queries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from rankscope import words
from rankscope.declared import plain
from rankscope.errors import HUGE, InputError
from rankscope.lists import Array, Aspects, Batch, Judged, RankedBatch
from rankscope.lists.arrays import as_array

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


def tensor_as_array(value: Any, name: str) -> Any:
    """A tensor as NumPy has it; anything else as it is."""
    tensor = hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray)
    return as_array(value, name) if tensor else value


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


# --- batches of plain grades: laid out all together ----------------------------------------------------

PLAIN = {int, float, bool, type(None)}  # what becomes a grade as it is


def judged_batch(ranking: Any, level: float, given: Mapping[str, Any], lengths: Any = None) -> RankedBatch | None:
    """A batch of lists of plain grades, straight from its arrays; None where the lists have to be looked at one by one.

    What is wrong is found there, too, so that it is told once. Raises InputError for lengths that do not fit.
    """
    if lengths is not None and not (isinstance(ranking, np.ndarray) and ranking.ndim == 2):
        raise InputError("lengths says how many documents stand in each row of a two-dimensional array; there is none")
    array = isinstance(ranking, np.ndarray)
    if not (array and ranking.ndim == 2 and len(ranking)) and not (isinstance(ranking, list) and is_batch(ranking)):
        return None
    if given["relevant"] is not None or given["judgments"] is not None:
        if lengths is not None:
            raise InputError("lengths goes with an array of grades; give lists of ids as lists of lists")
        return None
    grade, size = _end_to_end(ranking)
    if grade is None or (grade.dtype.kind == "f" and np.isinf(grade).any()):
        return None
    start = np.cumsum(size) - size
    size = size if lengths is None else lengths_of(lengths, len(size), ranking.shape[1])
    score = None
    if given["scores"] is not None:
        score, counts = _end_to_end(given["scores"])
        whole = counts if lengths is None else size
        if score is None or len(score) != len(grade) or not np.array_equal(whole, size):
            return None
        inside = np.arange(len(score)) < np.repeat(start + size, counts)
        if score.dtype.kind == "f" and np.isnan(score[inside]).any():
            return None
    batch = Batch(grade, score, start, size)
    if given["ideal"] is not None:
        return None
    if given["known"] is None:
        return RankedBatch(batch)
    missing = _missing_from(batch, level, given["known"])
    return None if missing is None else RankedBatch(replace(batch, missing=missing))


def _end_to_end(lists: Any) -> tuple[Array | None, Array]:
    """Lists of plain numbers one after another, and how many each holds; None where something else is among them."""
    if isinstance(lists, np.ndarray) and lists.ndim == 2 and lists.dtype.kind in "iufb":
        values = lists.astype(np.int8) if lists.dtype.kind == "b" else lists
        return values.reshape(-1), np.full(len(lists), lists.shape[1])
    kinds = set(map(type, lists)) if isinstance(lists, list) else set()
    if kinds == {np.ndarray} and all(one.ndim == 1 and one.dtype.kind in "iufb" for one in lists):
        return np.concatenate(lists).astype(float), np.array([len(one) for one in lists])
    if kinds != {list}:
        return None, np.empty(0, dtype=np.int64)
    size = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    flat = list(chain.from_iterable(lists))
    try:
        plain = all(kind in PLAIN or issubclass(kind, np.number | np.bool) for kind in set(map(type, flat)))
        return (np.array(flat, dtype=float) if plain else None), size
    except OverflowError:
        return None, size


def lengths_of(lengths: Any, count: int, width: int) -> Array:
    """The lengths of lists in the rows of an array, checked."""
    told = f"lengths says how many documents stand in each of {words.counted(count, 'row')}"
    out = np.asarray(as_array(lengths, "lengths"))
    if out.shape != (count,) or out.dtype.kind not in "iu":
        raise InputError(f"{told}: {count} whole numbers, not {_kind(lengths)} of shape {out.shape}")
    wrong = np.flatnonzero((out < 0) | (out > width))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(f"{told}, from 0 to {width}; row {row + 1} has length {out[row]}")
    return out.astype(np.int64)


def _missing_from(batch: Batch, level: float, known: Any) -> Array | None:
    """The grades of judged documents that are in no list, a row a list; None where they cannot be told all together."""
    count = len(batch)
    numbers = np.full(count, known) if isinstance(known, int) else known
    if isinstance(numbers, list) and set(map(type, numbers)) <= {int}:
        numbers = np.array(numbers)
    if not isinstance(numbers, np.ndarray) or numbers.shape != (count,) or numbers.dtype.kind not in "iu":
        return None
    inside = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(batch.grade >= max(level, 0.0))])
    rest = numbers.astype(np.int64) - (inside[batch.start + batch.size] - inside[batch.start])
    if (rest < 0).any() or numbers.max(initial=0) > MOST:
        return None
    column = np.arange(int(rest.max(initial=0)))
    return np.where(column < rest[:, None], (max(level, 1.0) if level else 1.0), np.nan)


# --- lists that are looked at one by one ------------------------------------------------------------------


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
    if abs(grade) > HUGE:
        said = "infinite" if math.isinf(grade) else f"{grade:g}, too large to compute with"
        raise InputError(f"a grade is {said}; grades are finite numbers")
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
