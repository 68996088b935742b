"""The policies of ``evaluate``, with their defaults: what every verb takes that makes values of queries from rankings."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from rankscope.errors import InputError

CONVENTIONS: dict[str, Any] = {
    "ties": "trec", "queries": "judged", "no_relevant": "metric", "nothing_found": "metric", "mean": "macro",
}  # fmt: skip
ROWS: dict[str, Any] = {"duplicates": "error", "self_match": "keep"}
OTHERS: dict[str, Any] = {"depth": None, "weights": None, "dialect": None, "seed": 0}
POLICIES: dict[str, Any] = CONVENTIONS | ROWS | OTHERS


def refuse_unknown(said: Iterable[str], verb: str, options: Iterable[str] = ()) -> None:
    """One line for an option that neither the verb nor ``evaluate`` has, with the nearest that there is."""
    known = [*options, *POLICIES]
    for name in said:
        if name not in known:
            close = get_close_matches(name, known, n=1, cutoff=0.6)
            hint = f", did you mean {close[0]}?" if close else "; it takes those of evaluate"
            raise InputError(f"{verb} has no option {name!r}{hint}")
