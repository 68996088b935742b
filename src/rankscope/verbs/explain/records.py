"""Explanations as records, for other programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rankscope._version import __version__
from rankscope.show.result import input_record
from rankscope.verbs.explain.difference import Difference, Moved
from rankscope.verbs.explain.explain import Explained, Sourced
from rankscope.verbs.explain.explanation import Explanation, Position, Rest


def records(found: Explained | Sourced) -> Iterator[dict[str, Any]]:
    """The rows: positions, documents, or bands of ranks; their ``adds`` sum to the value."""
    if isinstance(found, Sourced):
        for band in found.bands:
            yield {"ranks": band.label, "first": band.first, "last": band.last, "adds": band.adds}
        if found.rest:
            yield {"ranks": "what no rank adds", "first": None, "last": None, "adds": found.rest}
    elif isinstance(found.found, Explanation):
        yield from (_position(p) for p in found.found.positions)
        yield from _below(found.found)
        yield from map(_rest_record, found.found.rest)
    else:
        yield from (_moved_record(m, found.found) for m in found.found.moved)
        yield from map(_rest_record, found.found.rest)


def _position(p: Position) -> dict[str, Any]:
    return {
        "rank": p.rank,
        "doc_id": p.doc_id,
        "grade": p.grade,
        "factors": dict(p.factors),
        "adds": p.adds,
        "so_far": p.so_far,
        "ideal_grade": p.ideal_grade,
        "ideal_adds": p.ideal_adds,
        "lost": p.lost,
    }


def _below(found: Explanation) -> Iterator[dict[str, Any]]:
    """Documents below the positions shown that add something all the same, in one row."""
    shown = {p.doc_id for p in found.positions if p.doc_id is not None}
    adds = math.fsum(add for doc, add in found.by_doc.items() if doc not in shown)
    if adds:
        yield _rest_record(Rest("documents below these ranks", adds))


def _rest_record(part: Rest) -> dict[str, Any]:
    return {"rank": None, "doc_id": None, "grade": None, "factors": {}, "adds": part.adds, "what": part.what}


def _moved_record(m: Moved, found: Difference) -> dict[str, Any]:
    factors = next((p.factors for p in found.after.positions if p.doc_id == m.doc_id), {})
    return {
        "rank": m.after,
        "rank_before": m.before,
        "doc_id": m.doc_id,
        "grade": m.grade,
        "factors": dict(factors),
        "move": m.move,
        "adds_before": m.earned_before,
        "adds_after": m.earned_after,
        "adds": m.adds,
    }


def envelope(found: Explained | Sourced) -> dict[str, Any]:
    """All of an explanation, with what it rests on."""
    inside = found if isinstance(found, Sourced) else found.found
    if isinstance(inside, Sourced):
        about: dict[str, Any] = {
            "runs": list(inside.runs),
            "metric": str(inside.metric),
            "value": inside.value,
            "by_query": [{"query_id": query, "difference": d} for query, d in inside.by_query],
            "queries_that_carry_it": inside.carried[0] if inside.carried else None,
        }
    elif isinstance(inside, Explanation):
        about = _about_one(inside)
    else:
        about = {
            "runs": [inside.before.run, inside.after.run],
            "query": inside.query_id,
            "metric": str(inside.before.metric),
            "value": inside.value,
            "values": [inside.before.value, inside.after.value],
            "worths": [inside.before.worth, inside.after.worth],
        }
    return {
        "schema": "rankscope/explain/1",
        "rankscope": __version__,
        **about,
        "rows": list(records(found)),
        "conventions": dict(found.conventions),
        "inputs": [input_record(source) for source in found.inputs],
    }


def _about_one(found: Explanation) -> dict[str, Any]:
    count, value = found.unjudged
    swap = found.swap
    return {
        "run": found.run,
        "query": found.query_id,
        "metric": str(found.metric),
        "value": found.value,
        "earned": found.earned,
        "worth": found.worth,
        "best": None if math.isnan(found.best) else found.best,
        "swap": None if swap is None else {"upper": swap.upper, "lower": swap.lower, "gain": swap.gain},
        "unjudged": {"documents": count, "value_if_perfect": None if math.isnan(value) else value},
    }
