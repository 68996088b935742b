"""Reorder the top of each ranking by scores of texts, and measure quality and latency by depth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from rankscope import words
from rankscope.declared import whole_number
from rankscope.errors import DataError, InputError
from rankscope.files.texts import texts_of
from rankscope.panels.families import Family
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.rankers.scorers import TextScorer, scores_of_texts
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.fusing import ReorderedLists
from rankscope.scoring.measurements import lead_first, panels_of
from rankscope.scoring.policies import Policies, refuse_unknown
from rankscope.scoring.request import Request
from rankscope.tables import Run
from rankscope.verbs.rerank.result import Reranking
from rankscope.words import in_caller_syntax

LATENCY = Measure("latency in ms", "lower", (0.0, float("inf")))


# fmt: off
def rerank(  # noqa: PLR0913 - one keyword per option
    run: Any, scorer: TextScorer, *, queries_text: Any, docs_text: Any, depths: Any = (100,), qrels: Any = None, metrics: Any = None,
    test: Any = None, interval: Any = None, correction: Any = "holm", alpha: float = 0.05, name: str | None = None,
    progress: Callable[[str], None] | None = None, **policies: Any,
) -> Reranking:
    """Reorder the first documents of each ranking by ``scorer(query, texts)``, and measure quality and latency at each depth.

    ``scorer`` is any function from a query and texts to one score per text, or ``rankscope.rankers.scorers.CrossEncoderScorer(model)``. ``queries_text``
    and ``docs_text`` are texts by id: paths, dicts or frames. ``depths`` are numbers of documents to reorder. Others follow in their order. Every depth
    calls the scorer again, so that its latency is its own. The first call is repeated, as it may load a model.

    With ``qrels`` each depth is compared with the run, by nDCG@10 unless ``metrics`` are named. ``test``, ``interval``, ``correction`` and ``alpha``
    are as for ``compare``, ``policies`` as for ``evaluate``. The result has the run at the largest depth as ``run``.

    Raises InputError for unusable input, and if the scorer returns too few scores or NaN. Raises DataError for a document without text.

    >>> import rankscope as rs
    >>> texts = {"a": "tides", "b": "the moon and tides"}
    >>> shared = lambda query, texts: [len({*query.split()} & {*text.split()}) for text in texts]
    >>> found = rs.rerank({"q1": ["a", "b"]}, shared, queries_text={"q1": "moon tides"}, docs_text=texts)
    >>> found.run.frame["doc_id"].to_list()
    ['b', 'a']
    """
    refuse_unknown(policies, "rerank", ("scorer", "queries_text", "docs_text", "depths"))
    wanted = _depths(depths)
    if not callable(scorer):
        raise InputError(f"scorer={words.short(repr(scorer), 60)}: a scorer is a function from a query and texts to scores")
    if qrels is None and metrics is not None:
        raise InputError(in_caller_syntax("metrics need judgments: add --qrels"))
    lead = lead_first("nDCG@10" if metrics is None else metrics)
    request = None if qrels is None else Request.of(lead, policies)
    how = method_of(test=test, interval=interval, correction=correction, alpha=alpha)
    lists = ReorderedLists.read(run, Policies(**policies))
    queries, texts = _texts(lists, queries_text, docs_text, wanted[-1])
    runs, seconds = [lists.reordered({}, lists.name)], np.full((len(wanted), len(lists.queries)), np.nan)
    warm = next(number for number, size in enumerate(lists.sizes.tolist()) if size)
    scores_of_texts(scorer, lists.queries[warm], queries[lists.queries[warm]], [texts[lists.top(warm, 1)[0]]])
    for row, depth in enumerate(wanted):
        orders = {}
        for number, query in enumerate(lists.queries):
            top = [texts[doc] for doc in lists.top(number, depth)]
            if not top:
                continue
            start = perf_counter()
            scores = scores_of_texts(scorer, query, queries[query], top)
            seconds[row, number] = perf_counter() - start
            orders[number] = np.argsort(-scores, kind="stable")
        runs.append(lists.reordered(orders, _named(depth)))
        if progress is not None:
            progress(_named(depth))
    final = Run(runs[-1].frame, name=name or f"{lists.name}_reranked")
    latency = Panel(LATENCY, tuple(map(_named, wanted)), tuple(lists.queries), 1000.0 * seconds)
    if request is None:
        return Reranking(None, latency, wanted, final, None, lists.name)
    scores_by_run = evaluate_request(qrels, runs, request)
    panels = panels_of(scores_by_run, [m.metric for m in request.metrics])
    family = Family(panels, [(_named(depth), lists.name) for depth in wanted], how, lists.name)
    return Reranking(family, latency, wanted, final, request, lists.name)
# fmt: on


def _named(depth: int) -> str:
    return f"depth {depth}"


def _depths(depths: Any) -> list[int]:
    several: Sequence[Any] = list(depths) if isinstance(depths, Iterable) else [depths]
    for depth in several:
        whole_number("depths", depth, 1, "a depth is a whole number of documents, 1 or more")
    if not several:
        raise InputError("depths: give the number of documents to reorder, like 10,50,100")
    return sorted(set(several))


def _texts(
    lists: ReorderedLists, queries_text: Any, docs_text: Any, depth: int
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The texts of all queries and of the documents that are scored. Raises DataError for one without text."""
    shown = dict.fromkeys(doc for number in range(len(lists.queries)) for doc in lists.top(number, depth))
    out = []
    for source, ids, noun in ((queries_text, lists.queries, "query"), (docs_text, shown, "document")):
        known = texts_of(source, ids, noun)  # type: ignore[arg-type]
        missing = [one for one in ids if one not in known.by_id]
        if missing:
            many = words.counted(len(missing), noun)
            raise DataError(
                f"{known.label}: {noun} {missing[0]!r} has no text ({many} without one): give the text of every {noun} to re-rank"
            )
        out.append(known.by_id)
    return out[0], out[1]
