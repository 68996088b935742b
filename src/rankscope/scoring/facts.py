"""Facts of a query that are no numbers: the grades of its first documents as a string, as trec_eval's relstring."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankscope.errors import InputError
from rankscope.lists import Judged

DEPTH = 10  # documents of a relstring, unless said
_SPELLING = re.compile(r"relstring(?:[._](?P<depth>\d{1,6}))?")


def split_off(metrics: Any) -> tuple[Any, dict[str, int]]:
    """What was asked for without the facts, and the facts: a name as trec_eval prints it with its depth.

    >>> split_off(["P@5", "relstring.20"])
    (['P@5'], {'relstring_20': 20})
    """
    if metrics is None or not isinstance(metrics, str | list | tuple):
        return metrics, {}
    given = [metrics] if isinstance(metrics, str) else list(metrics)
    several = ("relstring", "all_trec")
    words = [
        word
        for one in given
        for word in (one.split() if isinstance(one, str) and any(name in one for name in several) else [one])
    ]
    found: dict[str, int] = {}
    rest = []
    for word in words:
        match = _SPELLING.fullmatch(word.strip()) if isinstance(word, str) else None
        if match:
            depth = int(match["depth"] or DEPTH)
            found["relstring" if match["depth"] is None else f"relstring_{depth}"] = depth
        else:
            rest.append(word)
    if "all_trec" in rest:
        found.setdefault("relstring", DEPTH)
    if not found:
        return metrics, {}
    if not rest:
        raise InputError("relstring is a fact of each query beside its metrics: name a metric, too, like P@10")
    return rest, found


def relstrings(judged: Judged, queries: Iterable[int], depth: int) -> list[str]:
    """The first documents of each query by their grades: a digit (``>`` above 9), ``.`` for a negative grade, ``-`` for one that nobody judged."""
    out = []
    for number in queries:
        at = int(judged.start[number])
        here = slice(at, at + int(judged.found[number]))
        signs = ["-"] * min(depth, int(judged.retrieved[number]))
        rank, grade = judged.rank[here], judged.grade[here]
        for place in np.flatnonzero(rank <= depth).tolist():
            signs[int(rank[place]) - 1] = _sign(float(grade[place]))
        out.append("".join(signs))
    return out


def _sign(grade: float) -> str:
    if grade < 0:
        return "."
    return str(int(grade)) if grade < 10 else ">"
