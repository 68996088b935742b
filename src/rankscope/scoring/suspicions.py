"""What a second look at the input tells where the numbers are odd: ids written differently, inputs swapped, one run twice, uneven lists.

``evaluate`` looks again only where something is odd already (``evaluation.scores_of``), so that nothing is read twice for its own sake.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.engines.base import Order
from rankscope.engines.pairs import SameIds, documents_alike, fold_pattern, queries_alike
from rankscope.engines.top import top
from rankscope.errors import RankscopeError
from rankscope.files import qrels_of, run_of
from rankscope.lists import Array, Judged
from rankscope.panels.samples import mean
from rankscope.scoring.fold import Fold, fold_run
from rankscope.scoring.health import REMEDIES
from rankscope.scoring.request import Request
from rankscope.scoring.runs import RunEvaluation, RunScores
from rankscope.tables import Run

LOOKED_AT = 20  # ranks in which ids are compared
MOST_ROWS = 2_000_000  # of a run that is read once more
MANY_GRADES = 10  # more grades than this, most of them no whole numbers, are scores
Again = Callable[[Any, Any], dict[Any, float]]


def suspicions_of(
    request: Request, evaluations: Sequence[RunEvaluation], runs: Sequence[RunScores], strange: Sequence[bool], data: Any,
    again: Again,
) -> Iterator[Caution]:  # fmt: skip
    """Each suspicion with its size, from what ``evaluate`` has.

    ``strange`` marks the runs whose ids may be written differently, ``data`` are qrels and named runs as they were passed, ``again``
    scores other tables of these.
    """
    names = [run.name for run in runs]
    if evaluations and swapped(evaluations[0].judged[0].grade):
        message = f"most grades are no whole numbers, as if they were scores: were qrels and run swapped? {names[0]} is taken as the run"
        yield Caution("RS116", message, REMEDIES["RS116"])
    if data is not None:
        sources = dict(zip(names, (run for _, run in data[1]), strict=True))
        rows = {run.name: run.health.rows for run in runs}
        for group in twins(evaluations, names, lambda name: _once_more(sources[name], rows[name])):
            yield Caution("RS115", twins_in_words(group), REMEDIES["RS115"])
    reach = {name: int(e.judged[0].retrieved.max(initial=0)) for name, e in zip(names, evaluations, strict=True)}
    whole = request.policies.depth is None
    for name, message, deeper in short_runs(reach, [m.metric for m in request.metrics]) if whole else ():
        if deeper:
            yield Caution("RS202", f"{name} {message}", REMEDIES["RS202"])
    if data is not None:
        qrels, given = data
        for (_, run), scores, e, odd in zip(given, runs, evaluations, strange, strict=True):
            if scores.health.missing_queries and scores.health.extra_queries:
                yield from _other_queries(qrels, run, scores, e.missing, again)
            if odd:
                found = list(_other_spelling(qrels, run, scores, again))
                yield from found
                if not found and not e.judged[0].rank.any():
                    yield _nothing_judged(scores, e.judged[0])


def with_cost(
    cautions: Iterable[Caution], evaluations: Sequence[RunEvaluation], runs: Sequence[RunScores]
) -> Iterator[Caution]:
    """The warnings, those of queries that score as empty with what the first metric is over the others."""
    told: dict[str, str] = {}
    for run, e in zip(runs, evaluations, strict=True):
        metric, values = next(iter(run.values.items()))
        none = dict(zip(e.query_id, e.judged[0].retrieved == 0, strict=True))
        kept = np.array([not none[query] for query in run.query_ids]) & ~np.isnan(values)
        if metric.aggregate in {"mean", "weighted"} and 0 < kept.sum() < len(kept):
            weights = run.weights.get(metric, np.ones(len(values)))
            value = words.number(mean(metric, values[kept], weights[kept]), digits=4)
            told[run.name] = f"; {metric} is {value} over the other {words.count(int(kept.sum()))}"
    for c in cautions:
        name = next((name for name in told if c.message.startswith(f"{name} has ")), None)
        empty = c.code in {"RS101", "RS106"} and name is not None
        yield replace(c, message=c.message + told[name]) if empty and name else c


def _nothing_judged(scores: RunScores, judged: Judged) -> Caution:
    """That a run retrieves no judged document, under no spelling."""
    metric = next(iter(scores.values))
    documents = words.counted(len(judged.grade), "judged document")
    message = f"{scores.name}: none of {documents} is retrieved for any query, so {metric} says nothing of the run"
    return Caution("RS111", message, REMEDIES["RS111"])


def swapped(grades: Array) -> bool:
    """Whether grades look like scores: many different ones, most of them no whole numbers."""
    fractions = grades[grades % 1 != 0]
    return len(fractions) > len(grades) / 2 and len(np.unique(fractions)) > MANY_GRADES


def twins(
    evaluations: Sequence[RunEvaluation], names: Sequence[str], table_of: Callable[[str], Run | None]
) -> list[list[str]]:
    """Runs of the same content, two or more together. ``table_of`` gives that of a run, if it can be had.

    It is asked for only where runs look alike: as many documents on every query, and every judged one at the same rank.
    """
    from rankscope.scoring.overlap import same_values

    alike = {
        name: (tuple(e.query_id), e.judged[0].retrieved, e.judged[0].rank, e.judged[0].tie_start, e.judged[0].tie_size)
        for name, e in zip(names, evaluations, strict=True)
        if e.judged[0].rank.any()
    }
    out = []
    for group in same_values(alike):
        held = [(name, table) for name in group if (table := table_of(name)) is not None]
        content = [
            (name, table.frame.select("query_id", "doc_id", "score").sort("query_id", "doc_id")) for name, table in held
        ]
        same = [name for name, frame in content if frame.equals(content[0][1])]
        out += [same] if len(same) > 1 else []
    return out


def twins_in_words(names: Sequence[str]) -> str:
    """What is said of runs that show the same."""
    return f"{words.listing(names)} hold the same documents with the same scores: {words.counted(len(names), 'run')} that are one"


def short_runs(reach: dict[str, int], metrics: Sequence[Any]) -> Iterator[tuple[str, str, str]]:
    """Runs that end above the cutoff of a metric: the name, what is so, and, where another run goes deeper, which one."""
    for name, end in reach.items():
        beyond = [str(m) for m in metrics if (getattr(m, "cutoff", None) or 0) > end > 0]
        if beyond:
            deeper = next((f"{n} goes down to rank {words.count(d)}" for n, d in reach.items() if d > end), "")
            ends = f"has at most {words.counted(end, 'document')} a query"
            message = f"{ends}, and {words.listing(beyond)} {words.agree(len(beyond), 'looks')} deeper"
            yield name, f"{message}; {deeper}" if deeper else message, deeper


def _once_more(run: Any, rows: int) -> Run | None:
    """A run as a table; None where it is too long to be read again, or cannot be."""
    held = isinstance(run, dict) or hasattr(run, "frame") or hasattr(run, "columns")
    if rows > MOST_ROWS or not (held or (isinstance(run, str | os.PathLike) and os.path.isfile(run))):
        return None
    try:
        return run_of(run)
    except RankscopeError:
        return None


def _other_queries(
    qrels: Any, run: Any, scores: RunScores, missing: Collection[str], again: Again
) -> Iterator[Caution]:
    """Where judged queries are there under ids that are written differently, and what the first metric is with them taken as the same."""
    if queries_alike(scores.health.extra, missing) is None:  # a few tell whether it is worth to read the run again
        return
    table = _once_more(run, scores.health.rows)
    if table is None:
        return
    same = queries_alike(set(table.queries) - set(qrels_of(qrels).queries), missing)
    if same is None:
        return
    number = words.counted(same.pairs.height, "query without judgments", "queries without judgments")
    yield Caution("RS113", _alike(scores, number, same, again, qrels, same.with_queries(table)), REMEDIES["RS113"])


def _alike(scores: RunScores, number: str, same: SameIds, again: Again, qrels: Any, table: Run) -> str:
    """How many ids differ from judged ones in spelling only, and the first metric of the run with them taken as the same."""
    ranked, judged = same.pairs["ranked"][0], same.pairs["judged"][0]
    verb = words.agree(same.pairs.height, "differs")
    message = (
        f"{scores.name}: {number} {verb} from a judged one only in {same.spelling.words}: {ranked!r} and {judged!r}"
    )
    treated, pattern = "treated as the same", fold_pattern(same)
    if pattern:
        message, treated = f"{message} (--fold-by '{pattern}' folds them)", "folded"
    try:
        after = again(qrels, table)
    except RankscopeError:  # it cannot be scored so
        return message
    metric = next(iter(scores.values))
    value = after.get(metric)
    return message if value is None else f"{message}; {treated}, {metric} is {words.number(value, digits=4)}"


def _other_spelling(qrels: Any, run: Any, scores: RunScores, again: Again) -> Iterator[Caution]:
    """Where judged documents are there under ids that are written differently, and what the first metric is with them taken as the same."""
    table = _once_more(run, scores.health.rows)
    if table is None:
        return
    try:
        judgments = qrels_of(qrels).frame.select("query_id", "doc_id", "grade")
        same = documents_alike(table, top(table, Order(), LOOKED_AT, scores.name), judgments)
    except RankscopeError:  # it cannot be read twice
        return
    if same is not None:
        number = f"{words.counted(same.pairs.height, 'unjudged document')} of its top {LOOKED_AT}"
        pattern = fold_pattern(same)
        other = fold_run(table, Fold(pattern), "max", "documents") if pattern else same.with_documents(table, judgments)
        message = _alike(scores, number, same, again, qrels, other)
        yield Caution("RS114", message, REMEDIES["RS114"] if pattern else REMEDIES["RS114"].partition(";")[0])
