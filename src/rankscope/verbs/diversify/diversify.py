"""Reorder a run so that the top of each ranking covers more, and measure both sides of the trade-off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.declared import whole_number
from rankscope.errors import DataError, InputError
from rankscope.files import qrels_of
from rankscope.files.features import Features, WordFeatures, features_of, targets_of
from rankscope.files.texts import texts_of
from rankscope.lists import Array
from rankscope.metrics import Metric, in_order
from rankscope.panels.families import Family
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.rankers.diversifiers import CandidatePool, Diversifier
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.fusing import ReorderedLists
from rankscope.scoring.inputs import clean
from rankscope.scoring.measurements import panels_of
from rankscope.scoring.policies import Policies, refuse_unknown
from rankscope.scoring.request import Request
from rankscope.tables import Run
from rankscope.verbs.diversify.result import Diversification, Level
from rankscope.words import in_caller_syntax

LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
NEAR = 10  # documents with averaged distances
SEVERAL = {"subtopics", "aspects"}
USUAL = ("alpha_nDCG@10", "ERR_IA@10", "nDCG@10")


# fmt: off
def diversify(  # noqa: PLR0913 - one keyword per option
    run: Any, method: Any = "MMR", *, features: Any = None, docs_text: Any = None, targets: Any = None, pool: int = 100,
    qrels: Any = None, metrics: Any = None, levels: Sequence[float] = LEVELS, test: Any = None, interval: Any = None, alpha: float = 0.05,
    name: str | None = None, **policies: Any,
) -> Diversification:
    """Reorder the first documents of each ranking so that they repeat each other less or cover features in proportion.

    ``method`` is ``MMR(diversity=0.3)``, ``DPP``, ``xQuAD``, ``PM2`` or ``Calibrated``. ``features`` are categories or vectors of documents (a table of
    doc_id and feature, or a number per column; a dict). ``docs_text`` gives vectors of words instead. ``xQuAD``, ``PM2`` and ``Calibrated`` need
    categories. ``targets`` are the shares of features that each query (or user) wants; by default the shares among its documents.
    ``pool`` documents of each query are reordered, and others follow.

    With ``qrels`` the run is scored before and after: alpha_nDCG@10, ERR_IA@10 and nDCG@10 unless ``metrics`` are named. Metrics of subtopics use
    the subtopics of ``qrels``, or else the categories of relevant documents. ``levels`` of diversity are scored for the trade-off. The
    mean distance of the first ten documents is always measured. ``test``, ``interval`` and ``alpha`` are as for ``compare``, ``policies`` as for ``evaluate``.

    The result has the run as ``run``. Raises InputError for unusable input, DataError if no document of the run has features.

    >>> import rankscope as rs
    >>> run = {"q1": {"a": 3.0, "b": 2.9, "c": 1.0}}
    >>> found = rs.diversify(run, "MMR(diversity=0.6)", features={"a": "x", "b": "x", "c": "y"})
    >>> found.run.frame["doc_id"].to_list()
    ['a', 'c', 'b']
    """
    refuse_unknown(policies, "diversify", ("features", "docs_text", "targets", "pool", "levels"))
    whole_number("pool", pool, 2, "the number of documents to reorder is a whole number of 2 or more")
    diversifier = Diversifier.read(method)
    settings = Policies(**policies)
    lists = ReorderedLists.read(run, settings)
    known, notes = _features(features, docs_text, lists, pool)
    if diversifier.of_shares and not known.named:
        raise InputError(in_caller_syntax(f"{diversifier} needs categories or subtopics of documents: add --features with columns doc_id and feature"))
    wanted = None if targets is None else targets_of(targets, known.names)
    notes += [] if wanted is None else _without_targets(lists.queries, wanted)
    pools = _pools(lists, known, wanted, pool)
    after = _reordered(lists, pools, diversifier, name or f"{lists.name}_{type(diversifier).__name__}")
    how = method_of(test=test, interval=interval, alpha=alpha)
    near = _distances(lists, known, [lists.reordered({}, lists.name), after])
    if qrels is None:
        if metrics is not None:
            raise InputError(in_caller_syntax("metrics need judgments: add --qrels"))
        return Diversification([Family([near], [(after.name, lists.name)], how, lists.name)], after, diversifier, [], None, notes)
    others = {str(level): _reordered(lists, pools, diversifier.having(diversity=level), f"diversity={level:g}") for level in _checked(levels)}
    panels, request = _scored(qrels, [lists.reordered({}, lists.name), after, *others.values()], metrics, known, policies)
    trade = [Level(level, {p.name: p.means[run.name] for p in panels}) for level, run in zip(levels, others.values(), strict=True)]
    both = [panel.of_rows([0, 1]) for panel in panels]
    return Diversification([Family([*both, near], [(after.name, lists.name)], how, lists.name)], after, diversifier, trade, request, notes)
# fmt: on


def _checked(levels: Sequence[float]) -> Sequence[float]:
    for level in levels:
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0 <= level <= 1:
            raise InputError(f"levels={level!r}: diversity is from 0 to 1")
    return levels


def _features(features: Any, docs_text: Any, lists: ReorderedLists, pool: int) -> tuple[Features, list[str]]:
    if features is None and docs_text is None:
        raise InputError(
            in_caller_syntax("diversity needs features of documents: add --features or --docs-text of the documents")
        )
    shown = {(query, doc) for number, query in enumerate(lists.queries) for doc in lists.top(number, pool)}
    if features is None:
        texts = texts_of(docs_text, {doc for _, doc in shown})
        return WordFeatures.of_texts(texts.label, texts.by_id), []
    if docs_text is not None:
        raise InputError(in_caller_syntax("--features and --docs-text are both given: give one"))
    known = features_of(features)
    return known, known.lacking(shown)


def _without_targets(queries: Sequence[str], targets: Mapping[str, Array]) -> list[str]:
    """A note of the queries without targets. Raises DataError if no query has targets."""
    bare = [query for query in queries if query not in targets]
    if len(bare) == len(queries):
        raise DataError(f"no query of the run has targets: they have ids like {words.sample(targets, len(targets))}")
    count = f"{words.count(len(bare))} of {words.counted(len(queries), 'query')} {words.agree(len(bare), 'has')}"
    return [f"{count} no targets (default: the features of the documents)"] * bool(bare)


def _pools(
    lists: ReorderedLists, features: Features, targets: Mapping[str, Array] | None, pool: int
) -> list[CandidatePool]:
    out = []
    for number, query in enumerate(lists.queries):
        rows = features.of(query, lists.top(number, pool))
        one = CandidatePool(lists.relevance(number, pool), rows, np.zeros(rows.shape[1]))
        target = (targets or {}).get(query)
        if target is None and features.named:
            total = one.shares.sum(axis=0)
            target = total / total.sum() if total.sum() > 0 else total
        out.append(one if target is None else replace(one, target=target))
    return out


def _reordered(lists: ReorderedLists, pools: Sequence[CandidatePool], method: Diversifier, name: str) -> Run:
    return lists.reordered({i: method.order(pool, len(pool.relevance)) for i, pool in enumerate(pools)}, name)


def _distances(lists: ReorderedLists, features: Features, runs: Sequence[Run]) -> Panel:
    """The mean distance (1 - cosine) of each pair among the first ten documents, by run and query."""
    values = np.full((len(runs), len(lists.queries)), np.nan)
    for row, run in enumerate(runs):
        for number, query in enumerate(lists.queries):
            start = int(lists.starts[number])
            top = run.frame["doc_id"].slice(start, min(NEAR, int(lists.sizes[number]))).to_list()
            if len(top) > 1:
                near = CandidatePool(np.ones(len(top)), features.of(query, top), np.zeros(1)).similarity
                values[row, number] = 1.0 - near[np.triu_indices(len(top), 1)].mean()
    measure = Measure(f"distance@{NEAR}", "higher", (0.0, 2.0))
    return Panel(measure, tuple(run.name for run in runs), tuple(lists.queries), values)


def _scored(
    qrels: Any, runs: Sequence[Run], metrics: Any, features: Features, policies: Mapping[str, Any]
) -> tuple[list[Panel], Request]:
    """Panels of metrics of subtopics and of other metrics, each by its own kind of judgments."""
    table = qrels_of(qrels, Policies(**policies).columns)
    own = len(table.repetitions) > 0
    spellings = USUAL if metrics is None else [metrics] if isinstance(metrics, str | Metric | type) else list(metrics)
    parsed = [metric for _, metric in in_order(spellings)]
    of_subtopics = [metric for metric in parsed if metric.needs & SEVERAL]
    if metrics is None and not own and not features.named:
        parsed, of_subtopics = [metric for metric in parsed if metric not in of_subtopics], []
    panels: dict[Metric, Panel] = {}
    for part in (of_subtopics, [metric for metric in parsed if metric not in of_subtopics]):
        if part:
            judged = clean(table, Policies(duplicates="best"), "qrels").data
            if part is of_subtopics:
                judged = table if own else _by_feature(table, features)
            scores = evaluate_request(judged, list(runs), Request.of(part, policies))
            panels.update(zip(part, panels_of(scores), strict=True))
    return [panels[metric] for metric in parsed], Request.of(parsed, policies)


def _by_feature(table: Any, features: Features) -> dict[str, dict[str, dict[str, float]]]:
    """Judgments by category: each relevant document with its features as subtopics."""
    if not features.named:
        raise InputError("metrics of subtopics need judgments by subtopic, or categories of documents as features")
    out: dict[str, dict[str, dict[str, float]]] = {}
    for query, doc, grade in table.frame.select("query_id", "doc_id", "grade").iter_rows():
        row = features.by_document.get((query, doc) if features.by_query else doc)
        if grade >= 1 and isinstance(row, Mapping):
            out.setdefault(query, {})[doc] = {name: grade for name, weight in row.items() if weight > 0}
    if not out:
        raise DataError(
            f"{features.label}: no relevant document has a feature ({words.counted(len(table.queries), 'query')})"
        )
    return out
