"""A diagnosis as plain records, for other programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rankscope._version import __version__
from rankscope.show.result import input_record, null
from rankscope.verbs.diagnose.diagnose import Diagnosis
from rankscope.verbs.diagnose.failures import BANDS, KINDS
from rankscope.verbs.diagnose.losses import Diagnosed, Query
from rankscope.verbs.diagnose.result import sentences

COLUMNS = (
    "run", "query_id", "metric", "value", "ceiling", "best", "lost", "never_retrieved", "ordered_badly", "regret", "best_run",
    "kind", "relevant_known", "relevant_retrieved", "first_relevant_rank",
)  # fmt: skip


def envelope(found: Diagnosis) -> dict[str, Any]:
    """All of it: what each run loses, how queries fail, which lose most, and every query."""
    return {
        "schema": "rankscope/diagnose/1",
        "rankscope": __version__,
        "metric": str(found.metric),
        "summary": list(sentences(found)),
        "conventions": dict(found.scores.conventions),
        "inputs": [input_record(source) for source in found.scores.inputs],
        "data_health": found.scores.data_health,
        "results": [_run(found, run) for run in found.runs],
        "no_ceiling": found.reason or None,
        "kinds": [{"kind": k.name, "meaning": k.meaning, "remedy": k.remedy} for k in KINDS],
        "hardest": [_query(found, one) for one in found.hardest],
        "regrets": [_query(found, one) for one in found.regrets],
        "documents": [
            {"run": run.name, "what": d.what, "query_id": d.query_id, "doc_id": d.doc_id, "grade": d.grade, "rank": d.rank}
            for run in found.runs
            for d in found.shown.of(run)
        ],
        "per_query": list(records(found)),
        "warnings": [warned.as_dict() for warned in found.scores.warnings],
    }  # fmt: skip


def records(found: Diagnosis) -> Iterator[dict[str, Any]]:
    """One record a run and query, with the keys of ``COLUMNS``; null stands for what is not known or not there."""
    return (_query(found, one) for one in found.queries)


def _query(found: Diagnosis, one: Query) -> dict[str, Any]:
    return {
        "run": one.run,
        "query_id": one.query_id,
        "metric": str(found.metric),
        "value": null(one.value),
        "ceiling": null(one.ceiling),
        "best": null(one.best),
        "lost": null(one.loss),
        "never_retrieved": null(one.never_retrieved),
        "ordered_badly": null(one.ordered_badly),
        "regret": null(one.regret) if one.best_run else None,
        "best_run": one.best_run or None,
        "kind": one.kind,
        "relevant_known": one.known,
        "relevant_retrieved": one.found,
        "first_relevant_rank": one.first_relevant or None,
    }


def _run(found: Diagnosis, run: Diagnosed) -> dict[str, Any]:
    lost = run.lost
    whole = lost.loss
    return {
        "run": run.name,
        "metric": str(found.metric),
        "queries": len(run.query_ids),
        "value": null(lost.value),
        "ceiling": null(lost.ceiling),
        "best": null(lost.best),
        "lost": null(whole),
        "never_retrieved": null(lost.never_retrieved),
        "ordered_badly": null(lost.ordered_badly),
        "share_never_retrieved": null(lost.never_retrieved / whole) if whole > 0 else None,
        "reranked": {str(depth): null(value) for depth, value in sorted(lost.tops.items())},
        "kinds": run.kinds,
        "typical_first_relevant_rank": _finite(run.rank),
        "median_first_relevant_rank": _finite(run.median),
        "ranks": [
            {"rank": at.rank, "relevant": at.relevant, "not_relevant": at.not_relevant, "unjudged": at.unjudged, "nothing": at.nothing}
            for at in run.high
        ],
        "relevant_documents": [
            {
                "grade": depth.grade,
                **{_band(i): count for i, count in enumerate(depth.bands)},
                "never": depth.never,
                "known": depth.total,
            }
            for depth in run.depths
        ],
    }  # fmt: skip


def _band(number: int) -> str:
    low, high = BANDS[number]
    return f"{low}-{high}" if high else f"{low}+"


def _finite(rank: float) -> float | None:
    return rank if math.isfinite(rank) else None
