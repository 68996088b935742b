"""Fuse several runs into one."""

from __future__ import annotations

from typing import Any

from rankscope.declared import whole_number
from rankscope.errors import InputError
from rankscope.files import qrels_of
from rankscope.lists import Array
from rankscope.rankers.catalogue import find_fusion, find_normalisation
from rankscope.rankers.fusions import Fusion
from rankscope.scoring.fusing import RunsToFuse, order_for_fusion, read_tables, refuse_unfit
from rankscope.scoring.inputs import clean
from rankscope.scoring.policies import Policies
from rankscope.tables import Run
from rankscope.words import in_caller_syntax


def fuse(  # noqa: PLR0913 - one keyword per option
    runs: Any, method: Any = "RRF(k=60)", *, normalise: Any = None, qrels: Any = None, k: int | None = None,
    name: str | None = None, ties: str = "trec", depth: int | None = None, duplicates: str = "error", columns: Any = None,
) -> Run:  # fmt: skip
    """Combine the rankings of several runs into one run, query by query.

    ``runs`` is a list or a dict of runs, each as for ``evaluate``. They may have different queries and documents: a query is fused from
    the runs that have it. ``method`` is a fusion: of ranks (``RRF(k=60)``, ``RBC(phi=0.8)``, ``ISR``, ``Borda``, ``Condorcet`` ...), or of
    scores (``CombSUM``, ``CombMNZ``, ``WeightedSum(weights=(0.7, 0.3))`` ...), after ``normalise``: ``min_max`` (the default), ``sum``,
    ``max``, ``z_score``, ``rank``, ``borda``, ``three_sigma``, ``dbsf`` or ``none``. ``PosFuse``, ``BayesFuse`` and others learn from
    ``qrels`` (relevant is grade 1 or more), so measure them on other queries. ``k`` keeps the first k documents of each fused ranking. ``depth`` cuts
    the rankings of the runs before, ``ties`` orders their equal scores. Equal fused scores are ordered by document id, descending.

    Returns a ``Run`` that every function takes. Raises InputError for fewer than two runs, an unknown method, unfit weights, and negative
    scores if the method cannot use them. Raises DataError if no query is in two runs.

    >>> import rankscope as rs
    >>> bm25, dense = {"q1": {"a": 9.0, "b": 7.0}}, {"q1": {"b": 0.8, "c": 0.6}}
    >>> rs.fuse([bm25, dense]).frame["doc_id"].to_list()  # b: 1/62 + 1/61, a: 1/61, c: 1/62
    ['b', 'a', 'c']
    >>> rs.fuse([bm25, dense], "CombSUM").frame["score"].to_list()  # b: 0 + 1, a: 1 + 0, c: 0
    [1.0, 1.0, 0.0]
    """
    fusion = find_fusion(method)
    normalisation = find_normalisation(normalise, fusion)
    if k is not None:
        whole_number("k", k, 1, "the number of documents per query is a whole number of 1 or more")
    policies = Policies(ties=ties, depth=depth, duplicates=duplicates, columns=columns)
    order = order_for_fusion(policies)
    rankings = RunsToFuse(list(read_tables(runs, policies)), order)
    refuse_unfit(fusion, rankings.runs)
    learned = _learn(fusion, rankings, qrels, policies)
    return Run(rankings.fuse(fusion, normalisation, learned, k), name=name or str(fusion).replace(" ", ""))


def _learn(fusion: Fusion, runs: RunsToFuse, qrels: Any, policies: Policies) -> list[Array] | None:
    if not fusion.learns:
        if qrels is not None:
            raise InputError(in_caller_syntax(f"--qrels: {fusion} does not learn from judgments: leave them out"))
        return None
    if qrels is None:
        raise InputError(
            in_caller_syntax(f"{fusion} learns from judgments: add --qrels with judgments of training queries")
        )
    judgments = clean(qrels_of(qrels, policies.columns), Policies(duplicates="best"), "qrels").data
    return runs.learn(fusion, judgments)
