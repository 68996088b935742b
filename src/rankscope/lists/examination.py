"""The examination curve: how probable it is that a user looks at each position."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.lists.sums import Array

SCHEMA = "rankscope/examination/1"
NOUN, REMEDY = "an examination curve", "write one with rankscope position-bias LOG --save examination.json"


def read_document(path: str | PathLike[str], noun: str, remedy: str) -> Any:
    """Read a JSON file. Raises InputError if it cannot be read or is not JSON."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not JSON, and {noun} is: {remedy}") from None


def check_schema(document: Any, label: str, schema: str, noun: str, remedy: str) -> None:
    """Raise InputError for the content of a file of another kind or version."""
    held = document.get("schema") if isinstance(document, Mapping) else None
    if held != schema:
        has = f"holds {words.quote(str(held))}" if held else "has no schema"
        raise InputError(f"{label} {has}, and {noun} is {schema}: {remedy}")


@dataclass(frozen=True, eq=False)
class Examination:
    """The probability of examination at positions 1, 2 and so on, usually relative to position 1, which then has 1.

    An item of attraction ``a`` at position k is clicked with probability ``alpha[k] * a + beta[k]``. Without trust bias ``alpha`` is the
    curve itself and ``beta`` is 0. ``about`` holds facts that travel with a saved curve: the method, the log, intervals.

    Raises InputError for a curve with a value outside 0 to 1, or with nothing above 0.

    >>> curve = Examination(np.array([1.0, 0.5, 0.25]))
    >>> curve.at(np.array([3, 1])).tolist(), len(curve)
    ([0.25, 1.0], 3)
    """

    probabilities: Array
    alpha: Array = None  # type: ignore[assignment] # set below
    beta: Array = None  # type: ignore[assignment]
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every position, and fill in a curve without trust bias."""
        curve = _numbers("a curve", self.probabilities)
        object.__setattr__(self, "probabilities", curve)
        trusting = self.alpha is not None or self.beta is not None
        object.__setattr__(self, "alpha", curve if self.alpha is None else _numbers("alpha", self.alpha))
        object.__setattr__(self, "beta", curve * 0 if self.beta is None else _numbers("beta", self.beta))
        if not len(curve) or not curve.any():
            raise InputError("a curve of examination: must have a probability above 0")
        if trusting and not len(self.alpha) == len(self.beta) == len(curve):
            raise InputError("a curve of examination: alpha and beta must have one number per position")

    def __len__(self) -> int:
        return len(self.probabilities)

    @property
    def has_trust(self) -> bool:
        """True if clicks depend on the position by more than examination."""
        return bool((self.beta > 0).any() or (self.alpha != self.probabilities).any())

    def at(self, position: Array) -> Array:
        """The probability at each position, counted from 1. Raises DataError for a position outside the curve."""
        return np.asarray(self.probabilities[self.index(position)])

    def index(self, position: Array) -> Array:
        """Positions as indices of the arrays, counted from 0. Raises DataError for a position outside the curve."""
        index = np.asarray(position, dtype=np.int64) - 1
        if index.size and (index.min() < 0 or index.max() >= len(self)):
            worst = index.max() + 1 if index.max() >= len(self) else index.min() + 1
            raise DataError(f"position {worst}: the examination curve has positions 1 to {len(self)}")
        return index

    # -- files ------------------------------------------------------------------------------------

    @classmethod
    def of(cls, value: Examination | Sequence[float] | Array | str | PathLike[str]) -> Examination:
        """Return a curve as it is, from probabilities by position, or from a file."""
        if isinstance(value, Examination):
            return value
        return cls.read(value) if isinstance(value, str | PathLike) else cls(np.asarray(value, dtype=float))

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Examination:
        """Read a curve that ``rankscope position-bias`` saved. Raises InputError with the reason if the file is not one."""
        return cls.from_dict(read_document(path, NOUN, REMEDY), str(path))

    @classmethod
    def from_dict(cls, document: Any, label: str = "the curve") -> Examination:
        """Read a curve from the content of its file."""
        check_schema(document, label, SCHEMA, NOUN, REMEDY)
        rows = document.get("positions")
        if not isinstance(rows, Sequence) or not rows or not all(isinstance(row, Mapping) for row in rows):
            raise InputError(f"{label}: positions must be a list of objects, one per position: {REMEDY}")
        order = [row.get("position") for row in rows]
        if order != list(range(1, len(rows) + 1)):
            raise InputError(f"{label}: positions must be 1 to {len(rows)} in order, and are {words.listing(order)}")
        columns = {name: [row.get(name) for row in rows] for name in ("examination", "alpha", "beta")}
        try:
            trust = {name: columns[name] for name in ("alpha", "beta") if any(v is not None for v in columns[name])}
            about = {name: value for name, value in document.items() if name not in {"schema", "positions"}}
            return cls(columns["examination"], about=about, **trust)  # type: ignore[arg-type]
        except InputError as error:
            raise InputError(f"{label}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file: ``schema``, the facts of ``about``, and ``positions``, one object per position."""
        rows = [{"position": i + 1, "examination": float(p)} for i, p in enumerate(self.probabilities)]
        if self.has_trust:
            for row, alpha, beta in zip(rows, self.alpha, self.beta, strict=True):
                row |= {"alpha": float(alpha), "beta": float(beta)}
        return {"schema": SCHEMA, **self.about, "positions": rows}

    def to_json(self) -> str:
        """Return the text of the file, which ``read`` takes."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"


def _numbers(what: str, values: Any) -> Array:
    """Return probabilities as an array. Raises InputError with the first position that has none."""
    for position, value in enumerate(values, 1):
        number = None if isinstance(value, bool | str) else words.as_number(value)
        if number is None or not 0 <= number <= 1:
            shown = "nothing" if value is None else words.quote(str(value))
            raise InputError(f"{what} of examination: must be from 0 to 1, and position {position} has {shown}")
    return np.array(list(values), dtype=float)
