"""The state of the data behind a number, and the warnings about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope import words
from rankscope.diagnostics import inputs
from rankscope.diagnostics.metrics import LooksSampled, RatingScale
from rankscope.diagnostics.rankings import BREAKS_TIES, RankColumn, TiesAtCutoff, Unjudged
from rankscope.diagnostics.rule import Rule
from rankscope.engines.base import DataFacts
from rankscope.errors import RankscopeError
from rankscope.lists import Array, Judged

if TYPE_CHECKING:
    from rankscope.metrics import Metric

Numbers = Mapping[str, Any]
Rescored = Callable[..., dict[str, float]]  # means by run: of a metric, computed as another one, maybe under other ties
Raised = tuple[Rule, dict[str, Any]]  # a warning: its rule, and the numbers of its text
LISTED = 10  # queries that a health entry names
MIN_SHARE_NOT_RELEVANT = 0.05  # with fewer such judgments, documents without one are unknown, not unjudged
MIN_SHARE_UNJUDGED = 0.1
MIN_UNEVEN_SHARE = 0.05
IGNORES_UNJUDGED = {"Judged", "Bpref", "infAP", "AUC", "_Count"}  # these metrics and their subclasses
MIN_GRADES_OF_RATINGS = 5
MAX_SHARE_OF_ZEROS = 0.01
MIN_SAMPLED_QUERIES = 20
SAMPLED_LENGTHS = (10, 1001)
LIKED_FROM = 0.8  # of the top of a scale of ratings: four of five stars


@dataclass(frozen=True)
class Health:
    """The state of a run and its judgments. Keys at a cutoff k are over the judged queries.

    ``ties_at_cutoff[k]``: the number of queries with a tie across rank k. ``unjudged_at_cutoff[k]``: the share of the top k that is not
    in the qrels; ``tied_at_cutoff[k]``: the share that has the score of another document of the query. ``rank_disagreements``: the
    number of queries with a rank column that contradicts the scores (null without a rank column). ``empty_queries``: the number of
    judged queries with an empty ranking. ``judgments``: the judged documents of the queries; ``not_relevant``: those below grade 1.
    ``ratings``: the lowest liked grade, if grades look like a scale of ratings; absent otherwise. ``sampled``: the length of the lists, if they look
    like samples of the candidates; absent otherwise.
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
    sampled: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, with keys as strings."""
        out = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        for name in ("ratings", "sampled"):
            if out[name] is None:
                del out[name]
        return {
            n: {str(k): v for k, v in value.items()} if isinstance(value, Mapping) else value
            for n, value in out.items()
        }


def examine(
    judged: Judged, seen: DataFacts, cutoffs: Sequence[int], judged_queries: int, ties: str = "", level: float = 1.0, **removed: int
) -> Health:  # fmt: skip
    """Return the health of a run. The first ``judged_queries`` rows of ``judged`` have judgments.

    Queries without relevant documents have none of grade ``level`` or more.

    If ``ties`` takes all orders of equal scores, unjudged documents are counted over all orders: the expected number in the top k, the
    fewest (best) or the most (worst). ``removed`` counts rows that policies left out: ``duplicates``, ``self_matches``, ``qrels_duplicates``.
    """
    columns = vars(judged)
    columns = columns.get("kept", columns)  # in few bytes for millions of rows
    grade, rank, size = columns["grade"], columns["rank"], columns["size"][:judged_queries]
    relevant, filled = grade >= 1, np.flatnonzero(size)
    start = (np.cumsum(size, dtype=np.int64) - size)[filled]
    good, with_relevant = (
        int(np.count_nonzero(np.logical_or.reduceat(wanted, start))) if len(filled) else 0
        for wanted in (relevant, relevant if level == 1 else grade >= level)
    )
    may_be_ratings = len(grade) and grade.max() >= MIN_GRADES_OF_RATINGS
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
        queries_without_relevant=len(size) - with_relevant, tied_rows=seen.tied_rows, ties_at_cutoff=dict(seen.tied_at),
        unjudged_at_cutoff=unjudged, rank_disagreements=seen.disagreeing,
        judgments=len(grade), not_relevant=len(grade) - int(np.count_nonzero(relevant)),
        empty_queries=max(int((retrieved == 0).sum()) - len(seen.missing), 0),
        tied_at_cutoff=tied, ratings=_lowest_liked(judged.grade) if may_be_ratings else None,
        sampled=_sampled_length(retrieved, good, np.flatnonzero(relevant), rank), **removed,
    )  # fmt: skip


def _sampled_length(retrieved: Array, queries: int, relevant: Array, rank: Array) -> int | None:
    """Return the length of all lists if each holds the only relevant document of its query, as lists of sampled candidates do. Otherwise None."""
    length = int(retrieved[0]) if len(retrieved) >= MIN_SAMPLED_QUERIES else 0
    one_each = len(relevant) == queries == len(retrieved) and bool((rank[relevant] > 0).all())
    low, high = SAMPLED_LENGTHS
    return length if low < length <= high and one_each and bool((retrieved == length).all()) else None


def _known_over_orders(judged: Judged, k: int, ties: str) -> float:
    """Return the number of judged documents in the top k over all orders of equal scores: expected, at best, or at worst."""
    retrieved = judged.rank > 0
    groups = np.stack([judged.query[retrieved], judged.tie_start[retrieved], judged.tie_size[retrieved]])
    (_, start, size), known = np.unique(groups, axis=1, return_counts=True)
    room = np.clip(k - start + 1, 0, size)
    if ties == "expected":
        return math.fsum((known * room / size).tolist())
    inside = np.minimum(known, room) if ties == "best" else np.maximum(room - (size - known), 0)
    return int(inside.sum())


def looks_like_ratings(grades: Mapping[float, int]) -> bool:
    """Return True for a scale of ratings: up to 5 to 10 or to 100, five or more grades or fractions, and almost no 0."""
    positive = {grade: count for grade, count in grades.items() if grade > 0}
    several = len(positive) >= MIN_GRADES_OF_RATINGS or (len(positive) > 1 and any(grade % 1 for grade in positive))
    few_zeros = grades.get(0, 0) <= MAX_SHARE_OF_ZEROS * sum(positive.values())
    top = max(positive, default=0)
    return (MIN_GRADES_OF_RATINGS <= top <= 10 or top == 100) and several and few_zeros


def level_of(grades: Mapping[float, int]) -> float:
    """Return the lowest grade to take as relevant: 1, more on a scale of ratings, less if no grade reaches 1."""
    positive = sorted(grade for grade in grades if grade > 0)
    if looks_like_ratings(grades):
        return float(next(grade for grade in positive if grade >= LIKED_FROM * positive[-1]))
    return float(positive[0]) if positive and positive[-1] < 1 else 1.0


def _lowest_liked(grade: Array) -> float | None:
    grades = dict(zip(*(column.tolist() for column in np.unique(grade, return_counts=True)), strict=True))
    return level_of(grades) if looks_like_ratings(grades) else None


def warnings_of_run(
    name: str, h: Health, population: str, ties: str, cost: Numbers = MappingProxyType({})
) -> Iterator[Raised]:
    """Yield the warnings about a run under these policies. ``cost`` has the first metric over the queries with a ranking."""
    if h.missing_queries and population == "judged":
        numbers = {"count": h.missing_queries, "judged": h.judged_queries, "queries": h.missing}
        yield inputs.MissingQueries, {"run": name, **numbers, **cost}
    if h.empty_queries:
        yield inputs.EmptyRankings, {"run": name, "count": h.empty_queries, **cost}
    if h.extra_queries:
        rule = inputs.ExtraQueriesScored if population == "run" else inputs.ExtraQueries
        yield rule, {"run": name, "count": h.extra_queries, "queries": h.extra}
    if h.duplicates:
        yield inputs.RepeatedDropped, {"run": name, "count": h.duplicates}
    if h.self_matches:
        yield inputs.SelfMatchDropped, {"run": name, "count": h.self_matches}
    if h.rank_disagreements:
        yield RankColumn, {"run": name, "count": h.rank_disagreements}
    tied = {k: n for k, n in h.ties_at_cutoff.items() if n}
    if tied and ties in BREAKS_TIES:  # the rank column leaves no ties
        yield TiesAtCutoff, {"run": name, "ranks": tied_ranks(tied), "breaker": BREAKS_TIES[ties]}


def warnings_of_judgments(
    health: Mapping[str, Health], metrics: Sequence[Metric], no_relevant: Any = "metric", level: float = 1.0
) -> Iterator[Raised]:
    """Yield the warnings about the judgments for these metrics, or for all metrics if ``metrics`` is empty.

    ``no_relevant`` is the policy of queries in which all grades are below ``level``.
    """
    if repeated := max((h.qrels_duplicates for h in health.values()), default=0):
        yield inputs.JudgmentsDropped, {"count": repeated}
    if without := max((h.queries_without_relevant for h in health.values()), default=0):
        passed = [m for m in metrics if _leaves_out(m)]
        case = "zero" if not passed else "gone" if len(passed) == len(metrics) else "both"
        if no_relevant in {"skip", 1}:
            case = "skip" if no_relevant == "skip" else "one"
            yield inputs.NothingRelevantSettled, {"count": without, "level": level, case: without}
        else:
            yield inputs.NothingRelevant, {"count": without, "level": level, case: without, "metrics": passed}
    liked = [h.ratings for h in health.values() if h.ratings]
    below = [m for m in metrics if liked and m.relevance == "binary" and getattr(m, "level", liked[-1]) < liked[-1]]
    if below:
        yield RatingScale, {"metrics": below, "number": len(below), "level": below[0].level}  # type: ignore[attr-defined]
    length = next((h.sampled for h in health.values() if h.sampled), None)
    if length and (
        shallow := [
            m for m in metrics if not m.of_sample and m.relevance != "none" and (getattr(m, "cutoff", 0) or 0) < length
        ]
    ):
        yield LooksSampled, {"length": length, "metrics": shallow, "number": len(shallow)}
    if all(h.not_relevant >= MIN_SHARE_NOT_RELEVANT * h.judgments for h in health.values()):
        yield from unjudged_in_top(health, metrics)


def unjudged_in_top(health: Mapping[str, Health], metrics: Sequence[Metric]) -> Iterator[Raised]:
    """Yield the warning about unjudged documents in the top of the runs, also for judgments that name relevant documents only."""
    cutoffs = {k for h in health.values() for k in h.unjudged_at_cutoff}
    counting = [m for m in metrics if m.relevance != "none" and not getattr(m, "judged_only", False)]
    counting = [m for m in counting if not IGNORES_UNJUDGED & {cls.__name__ for cls in type(m).__mro__}]
    own = {getattr(m, "cutoff", None) for m in counting}
    if metrics and None not in own:  # a metric without a cutoff counts unjudged documents at all cutoffs
        cutoffs &= own
    if not cutoffs:
        return
    k = min(cutoffs, key=lambda c: abs(c - 10))
    share = {name: h.unjudged_at_cutoff.get(k, 0.0) for name, h in health.items()}
    worst, best = max(share, key=lambda n: share[n]), min(share, key=lambda n: share[n])
    if share[worst] >= MIN_SHARE_UNJUDGED:
        uneven = {"best": best, "best_share": share[best]} if share[worst] - share[best] > MIN_UNEVEN_SHARE else {}
        yield Unjudged, {"run": worst, "share": share[worst], "cutoff": k, **uneven}


def _leaves_out(metric: Metric) -> bool:
    """Return True if a metric is undefined for a query without relevant documents, like AUC."""
    try:
        return bool(np.isnan(metric.of([0, 0])))
    except (RankscopeError, TypeError):  # it needs more than grades
        return False


def tied_ranks(tied: Mapping[int, int]) -> str:
    """Return the cutoffs with ties across them, and their numbers of queries, in words."""
    return words.listing(f"rank {words.count(k)} in {words.counted(n, 'query')}" for k, n in tied.items())
