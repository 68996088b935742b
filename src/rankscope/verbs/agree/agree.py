"""Measure how much the rankings of runs agree, without judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from rankscope import words
from rankscope.engines.base import Order
from rankscope.engines.top import top
from rankscope.errors import DataError, InputError
from rankscope.files import run_of
from rankscope.lists import Array
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.scoring.inputs import clean, distinct_names, label_of, named_runs, read_any
from rankscope.scoring.policies import Policies
from rankscope.syntax import in_caller_syntax
from rankscope.tables import Run
from rankscope.verbs.agree.measures import USUAL, OfRankings, Two
from rankscope.verbs.agree.result import RankAgreement

DEPTH = 100  # ranks compared: with p = 0.9 a lower rank weighs less than 0.9**100
Ranking = tuple[list[str], Array]


def agree(
    runs: Any, measures: Any = None, *, depth: int = DEPTH, ties: str = "trec", duplicates: str = "error", columns: Any = None,
    per_query: bool = False,
) -> RankAgreement:  # fmt: skip
    """Measure how much the rankings of each two runs agree, per query and over queries. No judgments are needed.

    ``runs`` is a list or a dict of runs, each as for ``evaluate``. ``measures`` are ``RBO(p=0.9)``, ``Jaccard@10``, ``Kendall``, ``TauAP`` and
    ``WeightedTau``, or some of them. Rankings are compared down to ``depth``. Equal scores are ties for RBO, Kendall and WeightedTau. For
    ``Jaccard`` and ``TauAP`` the option ``ties`` orders them. Queries that only one of two runs has are left out, and counted.

    Raises InputError for fewer than two runs or an unknown measure. Raises DataError if no query is in two runs.

    >>> import rankscope as rs
    >>> found = rs.agree({"a": {"q": ["x", "y", "z"]}, "b": {"q": ["x", "z", "y"]}}, ["Kendall", "Jaccard@2"])
    >>> (
    ...     found["a", "b", "Kendall"].value,
    ...     found["a", "b", "Jaccard@2"].value,
    ... )  # 2 of 3 pairs agree, 1 of 3 documents is shared
    (0.3333333333333333, 0.3333333333333333)
    """
    chosen = [OfRankings.read(one) for one in _several(measures or USUAL)]
    policies = Policies(ties=ties, depth=depth, duplicates=duplicates, columns=columns)
    if policies.ties not in ("trec", "docid", "input", "rank"):
        raise InputError(
            in_caller_syntax(f"--ties {ties}: rankings are compared in one order: trec, docid, input or rank")
        )
    tables = _tables(runs, policies)
    if len(tables) < 2:
        raise InputError(f"agreement needs two runs or more, and {words.counted(len(tables), 'run')} was given")
    order = Order(policies.ties, policies.depth)
    rankings = {run.name: _rankings(run, order) for run in tables}
    pairs = list(combinations(rankings, 2))
    queries = tuple(dict.fromkeys(query for one in rankings.values() for query in one))
    if not any(query in rankings[a] and query in rankings[b] for a, b in pairs for query in queries):
        raise DataError(
            f"no query is in two runs: {words.listing(list(rankings), 5, last='and')} have no ranking to compare"
        )
    values = np.full((len(chosen), len(pairs), len(queries)), np.nan)
    for p, (a, b) in enumerate(pairs):
        for q, query in enumerate(queries):
            if query in rankings[a] and query in rankings[b]:
                (docs, group), (other, groups) = rankings[a][query], rankings[b][query]
                two = Two((docs, other), (group, groups))
                values[:, p, q] = [measure.of(two) for measure in chosen]
    names = tuple(" and ".join(pair) for pair in pairs)
    panels = {
        str(measure): Panel(Measure(str(measure), range=measure.range), names, queries, of_measure)
        for measure, of_measure in zip(chosen, values, strict=True)
    }
    lacking = {(a, b): len(rankings[a].keys() ^ rankings[b].keys()) for a, b in pairs}
    conventions = {"depth": policies.depth, "ties": policies.ties, "measures": [str(one) for one in chosen]}
    notes = [note for run in tables for note in run.source.notes]
    return RankAgreement(pairs, panels, lacking, conventions, notes, per_query)


def _several(measures: Any) -> Sequence[Any]:
    return [measures] if isinstance(measures, str | type | OfRankings) else list(measures)


def _tables(runs: Any, policies: Policies) -> list[Run]:
    read = [(name, run_of(read_any("run", run, name, reading=policies))) for name, run in named_runs(runs)]
    if policies.columns is not None:
        policies.columns.refuse_absent()
    labels = distinct_names([label_of(run, name, number) for number, (name, run) in enumerate(read, start=1)])
    return [replace(clean(run, policies, "run").data, name=name) for name, (_, run) in zip(labels, read, strict=True)]


def _rankings(run: Run, order: Order) -> Mapping[str, Ranking]:
    scores = run.frame.select("query_id", "doc_id", "score")
    rows = top(run, order).join(scores, on=["query_id", "doc_id"], maintain_order="left")
    score = rows["score"].to_numpy()
    group = np.arange(len(score))
    if order.ties != "rank":
        group = np.cumsum(np.append(0, score[1:] != score[:-1])[: len(score)])
    docs, out, at = rows["doc_id"].to_list(), dict[str, Ranking](), 0
    for query, size in rows.group_by("query_id", maintain_order=True).len().rows():
        out[query] = (docs[at : at + size], group[at : at + size])
        at += size
    return out
