"""A launch and its measured differences, checked once."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from rankscope.errors import InputError

Side = Literal["offline", "online"]
SIDES: tuple[Side, ...] = ("offline", "online")
LONGEST = 200  # characters of a name
FACTS = ("baseline", "candidate", "day", "launched", "notes", "tags")


@dataclass(frozen=True)
class Measurement:
    """The difference of a candidate from its baseline on one metric, with its standard error.

    ``side`` is ``offline`` or ``online``, ``better`` is ``higher`` or ``lower``. ``baseline_value`` is the value of the baseline,
    ``units`` the number of queries or users. ``conventions`` and ``judgments`` are hashes (see ``hash_of``), empty if unknown.
    ``covariances`` are those of this error with the errors of other metrics of the launch. ``sketch`` is a short random projection of the
    errors of the queries or users: the product of two sketches estimates the covariance of two errors on the same queries or users.
    """

    side: Side
    metric: str
    difference: float
    standard_error: float
    better: str = "higher"
    baseline_value: float | None = None
    units: int | None = None
    verdict: str = ""
    conventions: str = ""
    judgments: str = ""
    covariances: Mapping[str, float] = field(default_factory=dict)
    sketch: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise InputError(f"side {self.side!r}: a side is offline or online")
        if not self.metric or len(self.metric) > LONGEST:
            raise InputError(f"metric {self.metric[:40]!r}: a metric has a name of 1 to {LONGEST} characters")
        if self.better not in {"higher", "lower"}:
            raise InputError(f"{self.metric}: better is {self.better!r}: write higher or lower")
        if not math.isfinite(self.difference):
            raise InputError(f"{self.metric}: the difference is {self.difference}: it must be a finite number")
        if not (math.isfinite(self.standard_error) and self.standard_error >= 0):
            raise InputError(
                f"{self.metric}: the standard error is {self.standard_error}: it must be a number of 0 or more"
            )

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of a measurement within its launch: side, metric and conventions."""
        return self.side, self.metric, self.conventions

    @property
    def gain(self) -> float:
        """The difference, positive if it is an improvement."""
        return self.difference if self.better == "higher" else -self.difference


@dataclass(frozen=True)
class Launch:
    """A candidate that was launched or considered. A candidate that was not launched has only offline measurements.

    ``launched`` is False for a candidate that was rejected, None if that is not known yet.
    """

    name: str
    baseline: str = ""
    candidate: str = ""
    day: date | None = None
    launched: bool | None = None
    notes: str = ""
    tags: tuple[str, ...] = ()
    measurements: tuple[Measurement, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > LONGEST:
            raise InputError(f"launch {self.name[:40]!r}: a launch has a name of 1 to {LONGEST} characters")
        for (side, metric, _), count in Counter(m.key for m in self.measurements).items():
            if count > 1:
                raise InputError(f"launch {self.name}: {metric} is given twice ({side}): leave one out")

    @property
    def facts(self) -> dict[str, Any]:
        """The fields of the launch besides its name and measurements, if they are set."""
        return {name: value for name in FACTS if (value := getattr(self, name)) not in (None, "", ())}

    def of(self, side: str) -> list[Measurement]:
        """Return the measurements of one side."""
        return [m for m in self.measurements if m.side == side]


def hash_of(content: Any) -> str:
    """Return the hash of conventions or judgments: 16 characters of SHA-256 over their JSON; empty for nothing.

    >>> hash_of({"ties": "trec"}) == hash_of({"ties": "trec"}), hash_of({})
    (True, '')
    """
    if not content:
        return ""
    text = json.dumps(content, sort_keys=True, default=str, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def day_of(day: Any) -> date | None:
    """Return a date, also one written like 2024-05-31; None for nothing. Raises InputError for other text."""
    try:
        return day if isinstance(day, date) else date.fromisoformat(str(day).strip()) if day else None
    except ValueError:
        raise InputError(f"date {day!r}: write a date like 2024-05-31") from None
