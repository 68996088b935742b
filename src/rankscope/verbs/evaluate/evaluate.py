"""Score rankings against judgments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from rankscope.scoring.places import evaluate_in_place
from rankscope.scoring.policies import PolicyOptions, with_policies
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores


@with_policies
def evaluate(
    qrels: Any,
    runs: Any,
    metrics: Any = None,
    *,
    interval: Any = None,
    level: float = 0.95,
    clusters: Any = None,
    progress: Callable[[str], None] | None = None,
    **policies: Unpack[PolicyOptions],
) -> Scores:
    """Score one or more rankings against judgments.

    ``qrels`` and ``runs`` are paths, dicts, data frames, ``Qrels`` and ``Run``; ``runs`` may also be a list
    or a dict of named runs. ``metrics`` are spellings such as ``"nDCG@10"`` or objects such as
    ``nDCG @ 10``; without any: nDCG@10, AP, RR@10, R@100, P@10 and Judged@10.

    ``interval`` (``"t"``, ``"bca(rounds=20000)"``, ``"wilson"`` ...) says how sure each mean is, at a ``level``; without
    one it is t, and wilson for scores of 0 and 1. ``clusters`` maps queries that belong together to their user or topic.
    ``progress`` is called with the name of each run that is done.

    The policies say what no metric says:

    {policies}

    Raises InputError for what cannot be used and DataError where run and qrels share no query.

    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q1": {"a": 2, "b": 0}}, {"q1": {"a": 0.3, "b": 0.9}}, ["nDCG@10", "RR"])
    >>> scores["RR"]
    0.5
    >>> rs.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0}}, "RR", ties="expected")["RR"]
    0.75
    """
    request = Request.of(metrics, policies, interval=interval, level=level, clusters=clusters)
    return evaluate_in_place(qrels, runs, request, progress)
