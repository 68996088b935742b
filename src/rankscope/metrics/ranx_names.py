"""Metric names that only ranx has: ``map@100-l2``, ``rbp.95``, ``f1``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rankscope.declared import plain
from rankscope.errors import InputError

# names without a cutoff mean whole rankings; trec_eval also has recall
WHOLE = {
    "precision": "SetP", "f1": "SetF", "dcg_burges": "DCG(gain='exponential')", "ndcg_burges": "nDCG(gain='exponential')",
}  # fmt: skip
_LEVEL = re.compile(r"(?P<name>.+)-l(?P<level>\d{1,6})")
_RBP = re.compile(r"rbp\.(\d{1,9})")

Read = Callable[[str], list[tuple[str, Any]]]


def parse_ranx(text: str, read: Read) -> list[Any]:
    """Read a name that only ranx has. ``read`` returns the metrics of any other name.

    A name may end with the lowest relevant grade (``-l2``). The digits after the dot of ``rbp`` are its persistence.

    >>> from rankscope.metrics import parse
    >>> parse("map@100-l2"), parse("rbp.95"), parse("ndcg@10-l3"), parse("precision-l2")
    (AP(level=2)@100, RBP(p=0.95), nDCG(gain={1: 0, 2: 0})@10, SetP(level=2))
    """
    if found := _LEVEL.fullmatch(text):
        name = {**WHOLE, "recall": "SetR"}.get(found["name"], found["name"])
        return [_at_level(metric, int(found["level"]), text) for _, metric in read(name)]
    found = _RBP.fullmatch(text)
    return [metric for _, metric in read(f"RBP(p=0.{found[1]})" if found else WHOLE[text])]


def _at_level(metric: Any, level: int, text: str) -> Any:
    name = type(metric).__name__
    if "level" in metric.defaults:
        if metric.level != metric.defaults["level"]:
            raise InputError(f"metric {text!r}: the level is given twice")
        return metric.having(level=float(level))
    if metric.defaults.get("gain") != "linear":
        raise InputError(f"metric {text!r}: {name} has no lowest relevant grade, leave out -l{level}")
    if level <= 1:
        return metric
    if metric.gain != "linear":
        gains = {grade: 2**grade - 1 if grade >= level else 0 for grade in range(1, level + 3)}
        cut = "" if metric.cutoff is None else f"@{metric.cutoff}"
        raise InputError(
            f"metric {text!r}: give the gain of each grade, 0 below {level}: {name}(gain={plain(gains)}){cut}"
        )
    return metric.having(gain=dict.fromkeys(range(1, level), 0))
