"""Explain a score, or the difference of two: one query position by position, or all queries by ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from rankscope import words
from rankscope.analysis.bands import bands_of, by_rank
from rankscope.dialects.base import Convention
from rankscope.engines.base import TIES
from rankscope.errors import DataError, InputError
from rankscope.files.texts import texts_of
from rankscope.lists import Array
from rankscope.metrics import Metric, parse
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import clean, read_inputs
from rankscope.scoring.measurements import panels_of
from rankscope.scoring.ranking import order_of, ranking_of
from rankscope.scoring.request import Request
from rankscope.scoring.runs import RunEvaluation
from rankscope.scoring.scores import Scores
from rankscope.verbs.explain.parts import BELOW, Rest
from rankscope.verbs.explain.result import Difference, DocumentChange, Explanation, Origin
from rankscope.words import in_caller_syntax


@overload
def explain(qrels: Any, runs: None = None, metric: Any = "nDCG@10", *, known: int | None = None) -> Explanation: ...
@overload
def explain(
    qrels: Any, runs: Any, metric: Any = "nDCG@10", *, query: str, ties: str = "trec", docs_text: Any = None, queries_text: Any = None, **policies: Any,
) -> Explanation | Difference: ...  # fmt: skip
@overload
def explain(
    qrels: Any, runs: Any, metric: Any = "nDCG@10", *, query: None = None, ties: str = "trec", docs_text: Any = None, queries_text: Any = None, **policies: Any,
) -> Origin: ...  # fmt: skip
def explain(  # noqa: PLR0913 - the options of the command line
    qrels: Any, runs: Any = None, metric: Any = "nDCG@10", *, query: str | None = None, ties: str = "trec",
    known: int | None = None, docs_text: Any = None, queries_text: Any = None, **policies: Any,
) -> Explanation | Difference | Origin:  # fmt: skip
    """Explain the score of a ranking, or the difference of two.

    With a ``query`` and one run: one row per rank with the document, its grade, each factor of the metric, its share, the share at
    this rank of an ideal ranking, and the loss. With two runs: the share of each document in the difference (second less first), as it
    rose, fell, entered or left. The rows sum to the value (within 1e-12), for every metric. Without a query, for two
    runs: which ranks the difference of the means comes from, and which queries. (For one run over all queries there is
    ``diagnose``.)

    A plain list of grades in rank order, None for unjudged documents, is explained without a run: ``rs.explain([1, 0, 1], metric="AP")``.
    ``known`` is the number of relevant documents that exist, if there are more than in the list.
    ``docs_text`` are texts of documents as ``report`` takes them: the explanation shows the beginning of each ranked document.
    ``queries_text`` are texts of queries: the text of the ``query`` is shown, or the texts of the queries with the largest differences.

    Takes what ``evaluate`` takes; ``ties`` is one order (``trec``, ``docid``, ``input`` or ``rank``). Raises InputError for a query
    that is neither judged nor ranked, for more than two runs, and for invalid input of ``evaluate``.

    >>> import rankscope as rs
    >>> why = rs.explain({"q": {"a": 2, "b": 1}}, {"q": {"x": 3.0, "a": 2.0}}, "nDCG@10", query="q")
    >>> [(p.doc_id, round(p.adds, 4)) for p in why.positions]
    [('x', 0.0), ('a', 0.4796)]
    >>> [round(p.adds, 4) for p in rs.explain([1, 0, 1], metric="AP", known=3).positions]
    [0.3333, 0.0, 0.2222]
    """
    if runs is None:
        qrels, runs, query = _of_list(qrels, parse(metric), known)
    elif known is not None:
        raise InputError("known goes with a plain list of grades: judgments contain the number of relevant documents")
    if ties not in TIES:
        raise InputError(f"ties={ties!r}: an explanation is of one order: one of {words.listing(TIES, last='or')}")
    if query is None and docs_text is not None:
        raise InputError("docs_text shows documents of one ranking: name its query, or leave it out")
    parsed = parse(metric)
    if parsed.aggregate == "pooled" and "items" in parsed.needs:
        raise InputError(
            f"{parsed} is of all lists together, so a single list has no value to explain; name another metric"
        )
    request = Request.of([parsed], {"ties": ties, **policies})
    grades, read = read_inputs(qrels, runs, request.policies)
    if len(read) > 2:
        raise InputError(f"there are {len(read)} runs: give one to explain its value, or two for their difference")
    if query is None and len(read) == 1:
        raise InputError("name a query to explain, or give two runs. diagnose explains one run over all queries")
    scores = evaluate_request(grades, read, request)
    if query is not None:
        explanation: Any = _explain_query(scores, grades, [run for _, run in read], str(query))
        if queries_text is not None:
            explanation = replace(explanation, queries=texts_of(queries_text, {str(query)}, "query"))
        return explanation if docs_text is None else _with_texts(explanation, docs_text)
    metric = scores.metrics[0]
    if reason := why_not_by_rank(metric):
        raise InputError(f"{reason}: name a query, or another metric")
    before, after = (run.name for run in scores.runs)
    origin = explain_origin(scores, before, after, metric)
    differing = {query for query, difference in origin.by_query if difference}
    return origin if queries_text is None else replace(origin, queries=texts_of(queries_text, differing, "query"))


def _of_list(grades: Any, metric: Metric, known: int | None) -> tuple[Any, Any, str]:
    plain = grades.tolist() if hasattr(grades, "tolist") else grades
    listed = isinstance(plain, list | tuple) and len(plain) > 0
    if not listed or any(isinstance(one, list | tuple | str | dict) for one in plain):
        raise InputError(
            "without a run, explain takes a list of grades in rank order, like [1, 0, 1]. For judgments give a run as well"
        )
    judged = {f"d{n}": grade for n, grade in enumerate(plain, 1) if grade is not None and not math.isnan(grade)}
    level = getattr(metric, "level", None) or 1
    if known is not None:
        there = sum(grade >= level for grade in judged.values())
        if isinstance(known, bool) or not isinstance(known, int) or known < there:
            raise InputError(
                f"known={known!r}: the list has {words.counted(there, 'relevant document')}. known counts all, these included"
            )
        judged |= {f"missing{n}": max(level, 1) for n in range(1, known - there + 1)}
    return {"list": judged}, {"list": [f"d{n}" for n in range(1, len(plain) + 1)]}, "list"


def _with_texts(explanation: Explanation | Difference, docs_text: Any) -> Explanation | Difference:
    parts = [explanation] if isinstance(explanation, Explanation) else [explanation.before, explanation.after]
    return replace(explanation, texts=texts_of(docs_text, {doc for part in parts for doc in part.ranking.doc_ids}))


def _explain_query(scores: Scores, grades: Any, runs: Sequence[Any], query: str) -> Explanation | Difference:
    metric = scores.metrics[0]
    policies, order = scores.request.policies, order_of(scores, metric)
    judgments = clean(grades, policies, "qrels", [metric])
    parts = []
    for run, evaluation, data in zip(scores.runs, scores.evaluations, runs, strict=True):
        ranking = ranking_of(clean(data, policies, "run"), judgments, query, order)
        if query not in evaluation.query_id:
            raise DataError(f"query {query!r} is not judged, so its rankings have no value. --queries run scores them")
        place = list(evaluation.query_id).index(query)
        judged = evaluation.judged[0].of(np.array([place]))
        part = Explanation(run=run.name, metric=metric, ranking=ranking, judged=judged, scores=scores)
        _refuse_settled(scores.request.metrics[0].convention, part, float(evaluation.values[0].value[place]))
        if math.isnan(part.value):
            raise DataError(f"query {query!r}: {metric} has no value for {part.run}: {metric.convention}")
        parts.append(part)
    return parts[0] if len(parts) == 1 else explain_difference(*parts)


def _refuse_settled(convention: Convention, part: Explanation, counted: float) -> None:
    """Refuse a query whose value comes from a policy, as no rank explains it."""
    named = [("no-relevant", convention.no_relevant), ("nothing-found", convention.nothing_found)]
    policies = [f"--{name} {value}" for name, value in named if value != "metric"]
    if policies and not np.isclose(counted, part.value, rtol=1e-9, atol=1e-12, equal_nan=True):
        does = "leaves it out" if math.isnan(counted) else f"makes it {words.number(counted, digits=4)}"
        own = "undefined" if math.isnan(part.value) else words.number(part.value, digits=4)
        reason = f"{words.listing(policies, last='or')} {does} ({part.metric} itself is {own})"
        raise DataError(
            in_caller_syntax(f"query {part.query_id!r}: no rank explains its value for {part.run}: {reason}")
        )


def explain_difference(before: Explanation, after: Explanation) -> Difference:
    """Compare two explanations of one query by documents' shares of their value. If the worth of the query differs, a row shows it."""
    docs = dict.fromkeys([*before.ranking.doc_ids, *after.ranking.doc_ids])
    documents = [change for doc in docs if (change := _change(doc, before, after)) is not None]
    old, new = ({part.what: part.adds for part in one.rest if part.what != BELOW} for one in (before, after))
    rest = [Rest(what, adds) for what in old | new if (adds := new.get(what, 0.0) - old.get(what, 0.0))]
    if not math.isclose(before.worth, after.worth, rel_tol=1e-12):
        rest.append(Rest(f"divided by {words.amount(after.worth)} now, by {words.amount(before.worth)} before", 0.0))
    return Difference(before, after, documents, rest, scores=after.scores)


def _change(doc: str, before: Explanation, after: Explanation) -> DocumentChange | None:
    old, new = before.ranking.rank_of(doc), after.ranking.rank_of(doc)
    was, now = before.adds_of(old), after.adds_of(new)
    shown = any(rank is not None and rank <= len(one.positions) for one, rank in ((before, old), (after, new)))
    if not was and not now and not shown:
        return None
    factors = next((p.factors for p in after.positions if p.doc_id == doc), {})
    return DocumentChange(doc, before.ranking.grades.get(doc), old, new, factors, was, now)


def why_not_by_rank(metric: Metric) -> str:
    """Return the reason why the difference of two means cannot be split by rank. Empty if it can."""
    if metric.aggregate in {"pooled", "sum", "geometric"}:
        return f"{metric} is not a plain mean over queries, so its difference cannot be split by rank"
    return ""


def explain_origin(scores: Scores, before: str, after: str, metric: Metric) -> Origin:
    """Split the difference ``after`` less ``before`` by ranks, if ``why_not_by_rank`` has no reason against it. Raises DataError without values for both."""
    names = [run.name for run in scores.runs]
    at = [names.index(before), names.index(after)]
    (panel,) = panels_of(replace(scores, runs=[scores.runs[i] for i in at]), [metric])
    pair = panel.pair(after, before)
    if not pair.queries:
        raise DataError(f"no query is scored on {metric} for both runs")
    ids = [query for query, kept in zip(panel.units, pair.inside.tolist(), strict=True) if kept]
    place = scores.request.place(metric)

    def split(row: int, evaluation: RunEvaluation) -> tuple[Array, float]:
        places = {query: i for i, query in enumerate(evaluation.query_id)}
        inside, weight = [places[query] for query in ids], np.zeros(len(places))
        weight[inside] = 1.0 if panel.weights is None else panel.weights[row][pair.inside]
        kept = np.isin(np.arange(len(places)), inside)
        return by_rank(metric, evaluation.judged[place], kept, weight / math.fsum(weight.tolist()))

    (old, old_rest), (new, new_rest) = (split(row, scores.evaluations[i]) for row, i in enumerate(at))
    by_query = sorted(zip(ids, pair.gains.tolist(), strict=True), key=lambda item: (-abs(item[1]), item[0]))
    return Origin(
        (before, after), metric, pair.means.mean, bands_of(old, new), new_rest - old_rest, by_query, pair.means.favourable, scores=scores,
    )  # fmt: skip
