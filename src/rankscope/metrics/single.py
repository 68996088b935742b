"""Scoring plain lists: ``nDCG().of([3, 2, 0, 1, 2])``, without files, runs or queries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope.errors import InputError
from rankscope.lists import Array, Judged

# what each argument of a batch is: one value for every list, or one value a list
PER_LIST = ("scores", "known", "ideal", "relevant", "judgments")


@dataclass(frozen=True)
class _One:
    """One ranked list: grades in order (NaN where unjudged), scores, and the grades of what is missing from it."""

    grades: Array
    scores: Array | None
    missing: Array


def is_batch(ranking: Any) -> bool:
    """Whether this is a list of lists rather than one list."""
    if isinstance(ranking, np.ndarray):
        return ranking.ndim > 1
    return bool(len(ranking)) and isinstance(ranking[0], list | tuple | np.ndarray)


def judged_lists(ranking: Any, level: float, given: Mapping[str, Any]) -> Judged:
    """One or more lists as an engine would hand them over."""
    if isinstance(ranking, str | Mapping) or not isinstance(ranking, Sequence | np.ndarray):
        raise InputError(f"of() takes a ranked list, or a list of ranked lists, not {type(ranking).__name__}")
    if not is_batch(ranking):
        return _joined([_one(ranking, level, given)])
    lists = []
    for i, one in enumerate(ranking):
        lists.append(
            _one(one, level, {name: _for_list(name, given[name], i, len(ranking)) for name in PER_LIST})
        )
    return _joined(lists)


def _for_list(name: str, value: Any, i: int, count: int) -> Any:
    if value is None or isinstance(value, int | float | set | frozenset | Mapping):
        return value
    if len(value) != count:
        raise InputError(f"{name} has {len(value)} entries for {count} lists: give one for each list")
    return value[i]


def _one(ranking: Any, level: float, given: Mapping[str, Any]) -> _One:
    said = [name for name in ("known", "ideal", "relevant", "judgments") if given[name] is not None]
    if len(said) > 1:
        raise InputError(f"{' and '.join(said)} say the same thing in two ways: give one")
    if given["relevant"] is not None or given["judgments"] is not None:
        grades, missing = _looked_up(ranking, given["relevant"], given["judgments"])
    else:
        grades = np.array([_grade(value) for value in ranking], dtype=float)
        missing = _missing(grades, level, given["known"], given["ideal"])
    return _One(grades, _scores(given["scores"], len(grades)), missing)


def _grade(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise InputError(
            f"{value!r} is not a grade; for a list of ids say relevant={{...}} or judgments={{id: grade}}"
        )
    grade = float(value)
    if math.isinf(grade):
        raise InputError("a grade is infinite; grades are finite numbers")
    return grade


def _scores(scores: Any, count: int) -> Array | None:
    if scores is None:
        return None
    out = np.asarray(scores, dtype=float)
    if out.shape != (count,):
        raise InputError(f"scores has {out.size} numbers for {count} documents: give one for each")
    if np.isnan(out).any():
        raise InputError(
            f"score {int(np.flatnonzero(np.isnan(out))[0]) + 1} is NaN; give it a number or leave the document out"
        )
    return out


def _looked_up(
    ids: Iterable[Hashable], relevant: Collection[Hashable] | None, judgments: Mapping[Hashable, float] | None
) -> tuple[Array, Array]:
    ids = list(ids)
    twice = [i for i, n in Counter(ids).items() if n > 1]
    if twice:
        raise InputError(f"document {twice[0]!r} stands in the list twice; remove one")
    grade_of = (
        dict.fromkeys(relevant, 1.0)
        if relevant is not None
        else {i: _grade(g) for i, g in (judgments or {}).items()}
    )
    grades = np.array([grade_of.get(i, math.nan) for i in ids], dtype=float)
    shown = set(ids)
    return grades, np.array(
        [g for i, g in grade_of.items() if i not in shown and not math.isnan(g)], dtype=float
    )


def _missing(grades: Array, level: float, known: Any, ideal: Any) -> Array:
    """The grades of judged documents that the list does not hold."""
    if ideal is not None:
        rest = Counter(_grade(value) for value in ideal)
        rest.subtract(grades[grades > 0].tolist())
        short = [grade for grade, n in rest.items() if n < 0]
        if short:
            raise InputError(
                f"ideal holds fewer documents of grade {short[0]:g} than the list; it is the grades of all judged documents"
            )
        return np.array([grade for grade, n in rest.items() if grade > 0 for _ in range(n)], dtype=float)
    if known is None:
        return np.empty(0)
    found = int((grades >= max(level, 0.0)).sum())
    if not hasattr(known, "__index__") or known < found:
        raise InputError(
            f"known={known!r}, but the list holds {found} relevant documents; known counts all that exist"
        )
    return np.full(int(known) - found, max(level, 1.0) if level else 1.0)


def _joined(lists: Sequence[_One]) -> Judged:
    parts = [_ranked(one) for one in lists]
    grade, rank, start, size = (
        np.concatenate(column) for column in zip(*(part[:4] for part in parts), strict=True)
    )
    return Judged(
        query_id=[str(i) for i in range(len(lists))],
        retrieved=np.array([len(one.grades) for one in lists], dtype=np.int64),
        size=np.array([len(part[0]) for part in parts], dtype=np.int64),
        found=np.array([part[4] for part in parts], dtype=np.int64),
        grade=grade,
        rank=rank.astype(np.int64),
        tie_start=start.astype(np.int64),
        tie_size=size.astype(np.int64),
    )


def _ranked(one: _One) -> tuple[Array, Array, Array, Array, int]:
    """Grade, rank and tied group of the judged documents, those in the list first; equal scores keep their order."""
    n = len(one.grades)
    order = np.arange(n) if one.scores is None else np.argsort(-one.scores, kind="stable")
    falling = -np.arange(n, dtype=float) if one.scores is None else one.scores[order]
    start = n - np.searchsorted(falling[::-1], falling, side="right") + 1
    size = np.searchsorted(falling[::-1], falling, side="right") - np.searchsorted(
        falling[::-1], falling, side="left"
    )
    grades = one.grades[order]
    judged = ~np.isnan(grades)
    more = len(one.missing)
    return (
        np.concatenate([grades[judged], -np.sort(-one.missing)]),
        np.concatenate([np.arange(1, n + 1)[judged], np.zeros(more)]),
        np.concatenate([start[judged], np.zeros(more)]),
        np.concatenate([size[judged], np.ones(more)]),
        int(judged.sum()),
    )
