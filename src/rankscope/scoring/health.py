"""The state of the data behind a number, and what it does to the number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope import words
from rankscope.engines.base import DataFacts
from rankscope.errors import RankscopeError
from rankscope.lists import Array, Judged

if TYPE_CHECKING:
    from rankscope.metrics import Metric

Warned = tuple[str, str]  # the code of a caution, and what is so
LISTED = 10  # how many queries a health entry names
POSITIVE = 0.05  # with fewer judgments of "not relevant" than this share, unjudged says little
NOTABLE = 0.0005  # a smaller change of a mean prints as 0.000 and is not worth a word
# to these, and to what is made of them, unjudged is not "not relevant"
BLIND = {"Judged", "Bpref", "infAP", "AUC", "_Count"}
REMEDIES = {  # what to do about each warning, here and where ``check`` explains its rule
    "RS101": "find out why they are missing (rankscope check lists them); --queries both leaves them out, for all runs alike",
    "RS102": "expected where a run covers more than the qrels do; --queries judged leaves them out, run counts them",
    "RS103": "keep them to match trec_eval, or leave them out with --no-relevant skip, and say which (rankscope check lists them)",
    "RS104": "remove the repeated rows at their source; --duplicates first or best says which one to keep",
    "RS105": "remove the query from its own ranking, or let --self-match drop do it, and say which",
    "RS106": "find out why nothing was returned for them (rankscope check lists them)",
    "RS111": "check that the document ids of run and qrels are those of the same collection, written alike",
    "RS113": "write the ids alike; spreadsheets and data frames drop leading zeros and add .0",
    "RS114": "write the ids alike; --fold chunks.csv or --fold-by PATTERN makes documents of chunks",
    "RS115": "compare the files: one may be a copy, or the change between them has no effect",
    "RS116": "give the judgments first, then the run: QRELS RUN",
    "RS201": "write scores that fall with the rank; --ties rank follows the rank column",
    "RS202": "retrieve at least as many documents as the largest cutoff, or choose a smaller one",
    "RS203": "give distinct scores, or take --ties expected; rankscope ties shows how much it matters",
    "RS306": "say from which grade on a document is relevant, like --relevance-level 4",
    "RS204": "judge more, or look at Bpref beside the others; rankscope unjudged shows how much it could matter",
}
STARS = 5  # so many positive grades, or fractions among them, and hardly a 0: a scale of ratings
HARDLY = 0.01
LIKED = 0.8  # of the top of such a scale: four of five stars
BREAKS = {  # a tie across a cutoff
    "trec": "the document id breaks the tie",
    "docid": "the document id breaks the tie",
    "input": "the order of the file breaks the tie",
}


@dataclass(frozen=True)
class Health:
    """What was found in a run and its judgments. Keys at a cutoff k are of the judged queries.

    ``ties_at_cutoff[k]``: queries in which scores tie across rank k. ``unjudged_at_cutoff[k]``: the share
    of the documents in the top k that are not in the qrels, ``tied_at_cutoff[k]`` the share of those whose
    score another document of the query has too. ``rank_disagreements``: queries whose rank
    column contradicts the scores (null without a rank column). ``empty_queries``: judged queries whose
    ranking is there but holds no document. ``judgments`` counts the judged documents of the queries, ``not_relevant`` those of
    them below grade 1. ``ratings`` is the lowest grade that is liked, where grades
    look like a scale of ratings, and else not there.
    """

    rows: int
    queries: int
    judged_queries: int
    missing_queries: int
    missing: Sequence[str]
    extra_queries: int
    extra: Sequence[str]
    queries_without_relevant: int
    tied_rows: int
    ties_at_cutoff: Mapping[int, int] = field(default_factory=dict)
    unjudged_at_cutoff: Mapping[int, float] = field(default_factory=dict)
    rank_disagreements: int | None = None
    duplicates: int = 0
    self_matches: int = 0
    empty_queries: int = 0
    qrels_duplicates: int = 0
    judgments: int = 0
    not_relevant: int = 0
    tied_at_cutoff: Mapping[int, float] = field(default_factory=dict)
    ratings: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, keys as strings."""
        out = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        if self.ratings is None:
            del out["ratings"]
        return {
            n: {str(k): v for k, v in value.items()} if isinstance(value, Mapping) else value
            for n, value in out.items()
        }


def examine(
    judged: Judged, seen: DataFacts, cutoffs: Sequence[int], judged_queries: int, ties: str = "", **removed: int
) -> Health:
    """Put together what was seen; ``judged_queries`` counts the first rows of ``judged``, those with judgments.

    Where ``ties`` takes all orders of equal scores, unjudged documents are counted over all of them, too: as many as are expected in the
    top k, the fewest (best) or the most (worst). ``removed`` counts what the policies left out: ``duplicates``, ``self_matches`` and ``qrels_duplicates``.
    """
    columns = vars(judged)
    columns = columns.get("kept", columns)  # in few bytes, where there are millions
    grade, rank, size = columns["grade"], columns["rank"], columns["size"][:judged_queries]
    relevant, filled = grade >= 1, np.flatnonzero(size)
    start = (np.cumsum(size, dtype=np.int64) - size)[filled]
    good = int(np.count_nonzero(np.logical_or.reduceat(relevant, start))) if len(filled) else 0
    rated = len(grade) and grade.max() >= STARS  # or it need not be looked at
    unjudged, tied = {}, {}
    retrieved = columns["retrieved"][:judged_queries].astype(np.int64)
    for k in cutoffs:
        shown = int(np.minimum(retrieved, k).sum())
        known: float = int(np.count_nonzero((rank > 0) & (rank <= k)))
        if ties in {"expected", "best", "worst"}:
            known = _known_over_orders(judged, k, ties)
        known += seen.again_in_top.get(k, 0)
        unjudged[k] = (shown - known) / shown if shown else 0.0
        tied[k] = seen.tied_in_top.get(k, 0) / shown if shown else 0.0
    return Health(
        rows=seen.rows, queries=seen.queries, judged_queries=judged_queries, missing_queries=len(seen.missing),
        missing=tuple(seen.missing[:LISTED]), extra_queries=len(seen.extra), extra=tuple(seen.extra[:LISTED]),
        queries_without_relevant=len(size) - good, tied_rows=seen.tied_rows, ties_at_cutoff=dict(seen.tied_at),
        unjudged_at_cutoff=unjudged, rank_disagreements=seen.disagreeing,
        judgments=len(grade), not_relevant=len(grade) - int(np.count_nonzero(relevant)),
        empty_queries=max(int((retrieved == 0).sum()) - len(seen.missing), 0),
        tied_at_cutoff=tied, ratings=_liked(judged.grade) if rated else None, **removed,
    )  # fmt: skip


def _known_over_orders(judged: Judged, k: int, ties: str) -> float:
    """How many judged documents stand in the top k over all orders of equal scores: expected, at best, or at worst."""
    retrieved = judged.rank > 0
    groups = np.stack([judged.query[retrieved], judged.tie_start[retrieved], judged.tie_size[retrieved]])
    (_, start, size), known = np.unique(groups, axis=1, return_counts=True)
    room = np.clip(k - start + 1, 0, size)
    if ties == "expected":
        return math.fsum((known * room / size).tolist())
    inside = np.minimum(known, room) if ties == "best" else np.maximum(room - (size - known), 0)
    return int(inside.sum())


def stars(grades: Mapping[float, int]) -> bool:
    """Whether grades look like a scale of ratings: up to 5 to 10 or to 100, five or more of them or fractions, and hardly a 0.

    >>> stars({1: 4, 2: 9, 3: 9, 4: 9, 5: 4}), stars({0: 90, 1: 4, 2: 9, 3: 9, 4: 9, 5: 4})
    (True, False)
    """
    positive = {grade: count for grade, count in grades.items() if grade > 0}
    several = len(positive) >= STARS or (len(positive) > 1 and any(grade % 1 for grade in positive))
    hardly = grades.get(0, 0) <= HARDLY * sum(positive.values())
    top = max(positive, default=0)
    return (STARS <= top <= 10 or top == 100) and several and hardly


def level_of(grades: Mapping[float, int]) -> float:
    """The lowest grade to take as relevant: 1, more on a scale of ratings, less where no grade reaches 1.

    >>> level_of({0: 5, 1: 2, 2: 1}), level_of(dict.fromkeys((1, 2, 3, 4, 5), 9)), level_of({0: 3, 0.5: 1})
    (1.0, 4.0, 0.5)
    """
    positive = sorted(grade for grade in grades if grade > 0)
    if stars(grades):
        return float(next(grade for grade in positive if grade >= LIKED * positive[-1]))
    return float(positive[0]) if positive and positive[-1] < 1 else 1.0


def _counting_below(level: float, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics that know only relevant and not, and count a lower grade as relevant."""
    return [m for m in metrics if m.relevance == "binary" and getattr(m, "level", level) < level]


def _liked(grade: Array) -> float | None:
    grades = dict(zip(*(found.tolist() for found in np.unique(grade, return_counts=True)), strict=True))
    return level_of(grades) if stars(grades) else None


def warnings_of_run(name: str, h: Health, population: str, ties: str) -> Iterator[Warned]:
    """What a reader should know of a run before trusting its numbers under these policies."""
    if h.missing_queries and population == "judged":
        which = f"{words.counted(h.judged_queries, 'judged query')} ({words.sample(h.missing, h.missing_queries)})"
        message = f"{name} has no ranking for {h.missing_queries} of {which}, scored as empty"
        yield "RS101", message
    if h.empty_queries:
        queries = words.counted(h.empty_queries, "judged query")
        message = f"{name} has an empty ranking for {queries}, scored as empty"
        yield "RS106", message
    if h.extra_queries:
        queries = words.counted(h.extra_queries, "query")
        what = "scored with no judgments" if population == "run" else "left out"
        message = f"{name} ranks {queries} without judgments ({words.sample(h.extra, h.extra_queries)}), {what}"
        yield "RS102", message
    if h.duplicates:
        what = words.counted(h.duplicates, "repeated document was", "repeated documents were")
        yield "RS104", f"{name}: {what} dropped"
    if h.self_matches:
        nouns = "document that is its own query was", "documents that are their own query were"
        yield "RS105", f"{name}: {words.counted(h.self_matches, *nouns)} dropped"
    if h.rank_disagreements:
        queries = words.counted(h.rank_disagreements, "query")
        message = f"{name}: the rank column contradicts the scores in {queries}; the scores were followed"
        yield "RS201", message
    tied = [(k, n) for k, n in h.ties_at_cutoff.items() if n]
    if tied and ties in BREAKS:  # the rank column leaves none
        where = (f"rank {k} in {words.counted(n, 'query')}" for k, n in tied)
        yield "RS203", f"{name}: scores tie across {words.listing(where)}; {BREAKS[ties]}"


def warnings_of_judgments(
    health: Mapping[str, Health], metrics: Sequence[Metric], positives: bool = False
) -> Iterator[Warned]:
    """What a reader should know of the judgments before trusting the numbers of these metrics (of any, where none is given).

    Judgments that name relevant documents only, such as clicks, leave most of any top without one: that is told with ``positives``.
    """
    if repeated := max((h.qrels_duplicates for h in health.values()), default=0):
        what = words.counted(repeated, "repeated judgment was", "repeated judgments were")
        yield "RS104", f"qrels: {what} dropped"
    if without := max((h.queries_without_relevant for h in health.values()), default=0):
        queries = f"{words.counted(without, 'judged query')} {words.agree(without, 'has')}"
        passed = [m for m in metrics if _leaves_out(m)]
        zero = f"{words.agree(without, 'scores')} 0 on most metrics"
        gone = f"{words.agree(without, 'is')} left out by {words.listing(passed, most=3)}"
        what = zero if not passed else gone if len(passed) == len(metrics) else f"{zero}, but {gone}"
        yield "RS103", f"{queries} no relevant document (grade 1 or more) and {what}"
    liked = None
    for h in health.values():
        liked = h.ratings or liked
    if liked is not None and (below := _counting_below(liked, metrics)):
        which = f"{words.listing(list(map(str, below)), most=4)} {words.agree(len(below), 'counts')}"
        level = words.amount(below[0].level)  # type: ignore[attr-defined]
        yield "RS306", f"the grades look like ratings, and {which} every document of grade {level} or more as relevant"
    if not positives and any(h.not_relevant < POSITIVE * h.judgments for h in health.values()):
        return  # what such judgments do not name is unknown, not unjudged
    cutoffs = {k for h in health.values() for k in h.unjudged_at_cutoff}
    counting = [
        m
        for m in metrics
        if m.relevance != "none"
        and not getattr(m, "judged_only", False)
        and not BLIND & {cls.__name__ for cls in type(m).__mro__}
    ]
    own = {getattr(m, "cutoff", None) for m in counting}
    if metrics and None not in own:  # a metric without a cutoff counts unjudged documents at all of them
        cutoffs &= own
    if not cutoffs:
        return
    k = min(cutoffs, key=lambda c: abs(c - 10))
    share = {name: h.unjudged_at_cutoff.get(k, 0.0) for name, h in health.items()}
    worst, best = max(share, key=lambda n: share[n]), min(share, key=lambda n: share[n])
    if share[worst] >= 0.1:
        uneven = len(share) > 1 and share[worst] - share[best] > 0.05
        compared = f" ({best}: {words.share(share[best])}), so the comparison may be unfair" if uneven else ""
        message = (
            f"{worst}: {words.share(share[worst])} of its top {k} is unjudged and counted as not relevant{compared}"
        )
        yield "RS204", message


def _leaves_out(metric: Metric) -> bool:
    """Whether a query without relevant documents has no value of a metric, as it has no AUC."""
    try:
        return bool(np.isnan(metric.of([0, 0])))
    except (RankscopeError, TypeError):  # it needs more than grades
        return False
