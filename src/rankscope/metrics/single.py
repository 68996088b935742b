"""Score plain lists: ``nDCG().of([3, 2, 0, 1, 2])``, without files, runs or queries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from rankscope import words
from rankscope.declared import plain
from rankscope.errors import HUGE, InputError
from rankscope.lists import Array, Aspects, Batch, Judged, RankedBatch, Shown
from rankscope.lists.arrays import as_array
from rankscope.lists.items import table_of

MAX_KNOWN = 100_000_000  # each known document is laid out
Grade = float | tuple[tuple[Hashable, float], ...]  # one grade, or one per aspect


@dataclass(frozen=True)
class PlainList:
    """One ranked list: its grades (NaN: unjudged) and scores, and the grades of judged documents that it misses."""

    grades: list[Grade]
    scores: Array | None
    missing: list[Grade]


def tensor_as_array(value: Any, name: str) -> Any:
    """Return a tensor as a NumPy array, and any other value unchanged."""
    tensor = hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray)
    return as_array(value, name) if tensor else value


def is_batch(ranking: Any) -> bool:
    """True for a list of lists, False for one list."""
    if isinstance(ranking, np.ndarray):
        return ranking.ndim > 1
    return bool(len(ranking)) and isinstance(ranking[0], list | np.ndarray)


def ranked_lists(ranking: Any, level: float, options: Mapping[str, Any], lengths: Any = None) -> RankedBatch:
    """Read one or more lists, as ``Metric.of`` takes them. Raises InputError for anything else."""
    takes = "of() takes a ranked list, or a list of ranked lists"
    if lengths is not None:
        if not (isinstance(ranking, np.ndarray) and ranking.ndim == 2):
            raise InputError("lengths goes with a two-dimensional array of grades: this array has one dimension")
        if options["relevant"] is not None or options["judgments"] is not None:
            raise InputError("lengths goes with an array of grades; give lists of ids as lists of lists")
    if isinstance(ranking, str | bytes | Mapping) or not isinstance(ranking, Sequence | np.ndarray):
        raise InputError(f"{takes}, not {type(ranking).__name__}")
    if isinstance(ranking, np.ndarray):
        if ranking.ndim not in (1, 2):
            raise InputError(f"{takes}, not an array of {ranking.ndim} dimensions")
    elif any(isinstance(one, tuple) for one in ranking):
        raise InputError(f"{takes}, not of tuples: write each list in square brackets")
    if not is_batch(ranking):
        alone = {name: None if value is None else [value] for name, value in options.items()}
        batch = _grades_at_once([ranking], level, alone, None)
        return RankedBatch(batch or end_to_end([_read_list(ranking, level, options)]))
    if not len(ranking):
        raise InputError(f"{takes}; this array is empty")
    if batch := _grades_at_once(ranking, level, options, lengths):
        return RankedBatch(batch)
    for i, one in enumerate(ranking):
        if not isinstance(one, list | np.ndarray) or (isinstance(one, np.ndarray) and one.ndim != 1):
            raise InputError(f"{takes}: entry {i + 1} is {one!r}, not a list like the first")
    count = len(ranking)
    parts = ({name: _of_list(name, value, i, count) for name, value in options.items()} for i in range(count))
    return RankedBatch(end_to_end([_read_list(one, level, part) for one, part in zip(ranking, parts, strict=True)]))


PLAIN = {int, float, bool, type(None)}  # types that become a grade unchanged


def _grades_at_once(ranking: Any, level: float, options: Mapping[str, Any], lengths: Any) -> Batch | None:
    """Lists of plain grades as a batch, or None if anything needs a closer look or is wrong: its reader raises the error."""
    if any(options[name] is not None for name in ("relevant", "judgments", "ideal")):
        return None
    grade, counts = _numbers(ranking)
    if grade is None or (grade.dtype.kind == "f" and (np.abs(grade.astype(float, copy=False)) > HUGE).any()):
        return None
    start = np.cumsum(counts) - counts
    size = counts if lengths is None else lengths_of(lengths, len(counts), ranking.shape[1])
    score = None
    if options["scores"] is not None:
        score, score_counts = _numbers(options["scores"])
        if score is None or not np.array_equal(counts, score_counts):
            return None
        if score.dtype.kind == "f":
            inside = np.arange(len(score)) < np.repeat(start + size, counts)
            if np.isnan(score[inside]).any():
                return None
    batch = Batch(grade, score, start, size)
    return batch if options["known"] is None else _with_known(batch, level, options["known"])


def _numbers(lists: Any) -> tuple[Array | None, Array]:
    """Lists of plain numbers end to end, and their sizes, or None if they hold anything else."""
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
        numeric = all(kind in PLAIN or issubclass(kind, np.number | np.bool) for kind in set(map(type, flat)))
        return (np.array(flat, dtype=float) if numeric else None), size
    except OverflowError:
        return None, size


def lengths_of(lengths: Any, count: int, width: int) -> Array:
    """Check the lengths of lists in the rows of an array."""
    meaning = f"lengths is the number of documents in each of {words.counted(count, 'row')}"
    out = np.asarray(as_array(lengths, "lengths"))
    if out.shape != (count,) or out.dtype.kind not in "iu":
        raise InputError(f"{meaning}: {count} whole numbers, not {_kind(lengths)} of shape {out.shape}")
    wrong = np.flatnonzero((out < 0) | (out > width))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(f"{meaning}, from 0 to {width}; row {row + 1} has length {out[row]}")
    return out.astype(np.int64)


def _with_known(batch: Batch, level: float, known: Any) -> Batch | None:
    numbers = np.full(len(batch), known) if isinstance(known, int) else known
    if isinstance(numbers, list) and set(map(type, numbers)) <= {int}:
        numbers = np.array(numbers)
    if not isinstance(numbers, np.ndarray) or numbers.shape != (len(batch),) or numbers.dtype.kind not in "iu":
        return None
    relevant = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(batch.grade >= max(level, 0.0))])
    missing = numbers.astype(np.int64) - (relevant[batch.start + batch.size] - relevant[batch.start])
    if (missing < 0).any() or numbers.max(initial=0) > MAX_KNOWN:
        return None
    return batch.with_missing(missing, _grade_of_missing(level))


def _grade_of_missing(level: float) -> float:
    return max(level, 1.0) if level else 1.0


def lists_of_items(ranking: Any, items: Any, history: Any, user: Any, judgments: Any) -> Judged:
    """Lists of item ids as the output of an engine: the judged documents, and every item shown."""
    several = [list(one) for one in ranking] if is_batch(ranking) else [list(ranking)]
    table = table_of(items, history)
    users = [user or ""] * len(several) if user is None or isinstance(user, str) else list(user)
    graded = judgments if isinstance(judgments, list) else [judgments or {}] * len(several)
    code = [table.codes(map(str, one)) for one in several]
    grade = [float(one.get(item, math.nan)) for some, one in zip(several, graded, strict=True) for item in some]
    wanted = [(n, table.codes([item])[0], g) for n, one in enumerate(graded) for item, g in one.items() if g > 0]
    columns = tuple(np.array(column) for column in zip(*wanted, strict=True)) if wanted else (np.empty(0, int),) * 3
    size = np.array([len(one) for one in several])
    known = np.full(len(several), -1) if table.histories is None else table.histories.rows(users)
    shown = Shown(size, np.concatenate(code), np.array(grade), known, table, lambda: columns)  # type: ignore[arg-type, return-value]
    ranks = [{item: rank for rank, item in enumerate(one, start=1)} for one in several]
    ranked = [[(here.get(item, 0), g) for item, g in one.items()] for here, one in zip(ranks, graded, strict=True)]
    rows = [row for one in ranked for row in sorted(one, key=lambda row: (row[0] or math.inf, -row[1]))]
    rank, held = np.array([row[0] for row in rows], dtype=np.int64), np.array([len(one) for one in ranked])
    inside = np.array([sum(row[0] > 0 for row in one) for one in ranked])
    worth = np.array([row[1] for row in rows], dtype=float)
    names = [str(n) for n in range(len(several))]
    return Judged(names, size, held, inside, worth, rank, rank, np.ones(len(rank), dtype=np.int64), shown=shown)


def _of_list(name: str, value: Any, i: int, count: int) -> Any:
    if value is None or isinstance(value, int | float | np.number | set | frozenset | Mapping):
        return value
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray) or _is_scalar(value):
        raise InputError(f"{name} is {_kind(value)}; give a list with one entry for each list")
    if len(value) != count:
        raise InputError(f"{name} has {len(value)} entries for {count} lists: give one for each list")
    return value[i]


def _read_list(ranking: Any, level: float, options: Mapping[str, Any]) -> PlainList:
    used = [name for name in ("known", "ideal", "relevant", "judgments") if options[name] is not None]
    if len(used) > 1:
        raise InputError(f"{' and '.join(used)} give the same information twice: give one")
    if options["relevant"] is not None or options["judgments"] is not None:
        graded, absent = _look_up(ranking, options["relevant"], options["judgments"])
    else:
        graded = [_grades(value) for value in ranking]
        absent = _missing(graded, level, options["known"], options["ideal"])
    return PlainList(graded, _scores(options["scores"], len(graded)), absent)


def _grades(value: Any) -> Grade:
    if isinstance(value, Mapping):
        return tuple(sorted(((name, _grade(grade)) for name, grade in value.items()), key=str))
    return _grade(value)


def _highest(grade: Grade) -> float:
    return max((g for _, g in grade), default=math.nan) if isinstance(grade, tuple) else grade


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
        raise InputError(
            f"{value!r} is not a grade; for a list of ids give relevant={{...}} or judgments={{id: grade}}"
        )
    if abs(grade) > HUGE:
        size = "infinite" if math.isinf(grade) else f"{grade:g} (too large to compute with)"
        raise InputError(f"a grade is {size}; grades are finite numbers")
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
        raise InputError("an id is a string or a number, and the list or relevant holds another type") from None
    if twice:
        raise InputError(f"document {twice[0]!r} is in the list twice: remove one")
    grade_of: dict[Any, Grade] = (
        dict.fromkeys(relevant, 1.0) if relevant is not None else {i: _grades(g) for i, g in (judgments or {}).items()}
    )
    absent = [g for i, g in grade_of.items() if i not in set(ids) and not math.isnan(_highest(g))]
    return [grade_of.get(i, math.nan) for i in ids], absent


def _missing(graded: list[Grade], level: float, known: Any, ideal: Any) -> list[Grade]:
    if ideal is not None:
        if isinstance(ideal, str | bytes | Mapping) or not isinstance(ideal, Iterable) or _is_scalar(ideal):
            raise InputError(f"ideal is {_kind(ideal)}, not a list of the grades of all judged documents")
        rest = Counter(_grades(value) for value in ideal)
        rest.subtract(grade for grade in graded if _highest(grade) > 0)
        short = [grade for grade, n in rest.items() if n < 0]
        if short:
            grade = plain(short[0]) if isinstance(short[0], float) else f"{dict(short[0])}"
            raise InputError(
                f"ideal holds fewer documents of grade {grade} than the list; it is the grades of all judged documents"
            )
        return [grade for grade, n in rest.items() if _highest(grade) > 0 for _ in range(n)]
    if known is None:
        return []
    relevant = sum(_highest(grade) >= max(level, 0.0) for grade in graded)
    if not hasattr(known, "__index__") or isinstance(known, np.ndarray):
        raise InputError(f"known is the whole number of relevant documents that exist, not {known!r}")
    if known > MAX_KNOWN:
        raise InputError(f"known is at most {words.count(MAX_KNOWN)}")
    if known < relevant:
        raise InputError(
            f"known={known!r}, but the list holds {relevant} relevant documents; known counts all that exist"
        )
    return [_grade_of_missing(level)] * (int(known) - relevant)


def end_to_end(lists: Sequence[PlainList]) -> Batch:
    """Several lists as one batch."""
    graded = [one.grades + one.missing for one in lists]
    size = np.array(list(map(len, graded)), dtype=np.int64)
    scores = [one.scores if one.scores is not None else -np.arange(len(one.grades), dtype=float) for one in lists]
    padded = chain.from_iterable(zip(scores, (np.full(len(one.missing), np.nan) for one in lists), strict=True))
    several = any(isinstance(grade, tuple) for grades in graded for grade in grades)
    return Batch(
        grade=np.array([_highest(grade) for grades in graded for grade in grades], dtype=float),
        score=None if all(one.scores is None for one in lists) else np.concatenate(list(padded)),
        start=np.cumsum(size) - size,
        size=size,
        listed=np.array([len(one.grades) for one in lists], dtype=np.int64),
        aspects=_aspects(graded) if several else None,
    )


def _aspects(lists: Sequence[list[Grade]]) -> Aspects:
    """The grades by aspect of all documents: a plain grade is the grade of an aspect without a name."""
    count, aspect, grade = [], [], []
    for graded in lists:
        judged = [() if math.isnan(_highest(one)) else one for one in graded]
        entries = [one if isinstance(one, tuple) else ((None, one),) for one in judged]
        names = sorted({name for document in entries for name, _ in document}, key=str)
        number = {name: i for i, name in enumerate(names)}
        count += [len(document) for document in entries]
        aspect += [number[name] for document in entries for name, _ in document]
        grade += [value for document in entries for _, value in document]
    numbers = np.array(aspect, dtype=np.int64)
    return Aspects(np.array(count, dtype=np.int64), numbers, numbers, np.array(grade, dtype=float), "the list")
