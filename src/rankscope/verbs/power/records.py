"""Plans as plain records, for other programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rankscope._version import __version__
from rankscope.panels.reach import Middle, Overall
from rankscope.show.result import input_record
from rankscope.verbs.power import topics
from rankscope.verbs.power.power import Plan
from rankscope.verbs.power.topics import Design

COLUMNS = (
    "run", "baseline", "metric", "queries", "planned_queries", "differing", "difference", "deviation",
    "detectable_difference", "detectable_lower", "detectable_upper", "wanted_difference", "observed", "queries_needed",
    "queries_needed_lower", "queries_needed_upper", "power", "reason",
)  # fmt: skip
FORMULA = {
    "detectable_difference": "(t[1 - alpha/2] + t[power]) * s / sqrt(n), t with n - 1 degrees of freedom; alpha of each comparison",
    "queries_needed": "the smallest n for which the detectable difference is at most the wanted one",
    "power": "two-sided t test, noncentral t distribution",
    "range": "at the ends of the 95% interval of s, by the chi square distribution",
    "assumes": "queries like these, drawn at random, and differences that vary as they do here",
}


def records(found: Plan) -> Iterator[dict[str, Any]]:
    """One record a pair of runs, metric and wanted difference; null stands for what there is not."""
    for reach in found.reaches:
        shared = {
            "run": reach.run or None,
            "baseline": reach.baseline or None,
            "metric": reach.metric or None,
            "queries": reach.queries if reach.run else None,
            "planned_queries": found.aim.n,
            "differing": reach.differing if reach.run else None,
            "difference": plain(reach.difference),
            "deviation": plain(reach.deviation),
            "detectable_difference": plain(reach.detectable.difference),
            "detectable_lower": plain(reach.detectable.low),
            "detectable_upper": plain(reach.detectable.high),
        }
        for wanted in reach.wanted:
            yield shared | {
                "wanted_difference": wanted.difference,
                "observed": wanted.observed,
                "queries_needed": wanted.queries,
                "queries_needed_lower": wanted.low,
                "queries_needed_upper": wanted.high,
                "power": wanted.power,
                "reason": None,
            }
        if not reach.wanted:
            yield shared | dict.fromkeys(COLUMNS[len(shared) : -1]) | {"reason": reach.reason}


def summary(one: Overall) -> dict[str, Any]:
    """A metric over all its pairs."""
    return {
        "metric": one.metric,
        "pairs": one.pairs,
        "pairs_left_out": one.left_out,
        "deviation": _middle(one.deviation),
        "detectable_difference": _middle(one.detectable),
        "variance_within_runs": plain(one.variance_within),
        "wanted": [
            {"difference": size, "queries_needed": _middle(queries), "power": _middle(power)}
            for size, queries, power in zip(one.differences, one.queries, one.power, strict=True)
        ],
    }


def envelope(found: Plan | Design) -> dict[str, Any]:
    """All of a plan, with what it rests on; keys are added to it but never renamed."""
    aim = found.aim
    out: dict[str, Any] = {"schema": "rankscope/power/1", "rankscope": __version__, "verdict": [str(found)]}
    own: dict[str, Any] = {
        "power": aim.power,
        "alpha": aim.alpha,
        "comparisons": aim.comparisons,
        "alpha_of_each": aim.each,
    }
    if isinstance(found, Design):
        return out | {"conventions": own, "results": list(topics.records(found)), "warnings": []}
    scores = found.given.scores if found.given else None
    clustered = found.given is not None and found.given.fields[0].clusters is not None
    own |= {
        "planned_queries": aim.n,
        "baseline": found.baseline,
        "clustered": clustered,
        "in_words": FORMULA,
    }
    return out | {
        "conventions": {**(scores.conventions if scores is not None else {}), **own},
        "inputs": [input_record(source) for source in scores.inputs] if scores is not None else [],
        "data_health": scores.data_health if scores is not None else {},
        "results": list(records(found)),
        "summary": [summary(one) for one in found.summary],
        "warnings": [warned.as_dict() for warned in found.warnings],
    }


def plain(value: float) -> float | None:
    """A number as it stands in a record; None where there is none."""
    return value if math.isfinite(value) else None


def _middle(found: Middle) -> dict[str, float]:
    return {"median": found.median, "lowest": found.low, "highest": found.high}
