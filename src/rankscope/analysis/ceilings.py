"""The best possible score of a ranking: with its retrieved documents in the best order, and with any documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rankscope.declared import Lookup
from rankscope.engines.base import SEVERAL
from rankscope.engines.values import map_kernels
from rankscope.errors import InputError
from rankscope.lists import Array, Judged, Lists
from rankscope.lists.rectangle import perfect
from rankscope.metrics import Metric
from rankscope.metrics.base import gains

DEPTHS = (10, 50, 100)  # how many documents a re-ranker may get, or all
ANY_GRADE = float(np.nextafter(0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Ceilings:
    """What each query could have scored, NaN if that is not known.

    ``tops[n]`` holds the values if the first n documents retrieved were put in the best order (None: all of them), ``best`` those
    of an ideal ranking. ``missing_only`` says that documents which are not relevant cost nothing but their ranks, so that
    what ``best`` has beyond ``tops[None]`` is due to documents never retrieved. Where nothing is known, ``reason`` says why.
    """

    tops: dict[int | None, Array]
    best: Array
    missing_only: bool = True
    reason: str = ""

    @property
    def ceiling(self) -> Array:
        """The values if all that was retrieved were put in the best order."""
        return self.tops[None]


def why_not(metric: Metric, micro: bool = False) -> str:
    """The reason that no best order is known for a metric, empty if one is."""
    if metric.better == "neither":
        return f"{metric} has no better direction"
    if metric.aggregate == "pooled":
        return f"{metric} is made of the documents of all queries together"
    if "items" in metric.needs:
        return f"{metric} looks at the items shown, which have no one best order"
    if metric.needs & SEVERAL:
        return f"{metric} takes several grades of a document, which have no one best order"
    if micro:
        return "in a micro mean another ranking may change the weight of a query"
    sortable = metric.monotone
    if isinstance(getattr(metric, "gain", None), Lookup):  # a table of gains says itself what is worthy
        with suppress(InputError):
            sortable = sortable or metric.having(gain="linear").ready().monotone
    if not sortable:
        return f"under {metric} a better document above a worse one may hurt, so that no order is known to be best"
    return ""


def ceilings(
    metric: Metric, judged: Judged, values: Array, micro: bool = False, fixed: Array | None = None
) -> Ceilings:
    """What these queries could have scored, given their ``values``. Queries in ``fixed`` keep them under every ranking.

    ``value <= ceiling <= best`` holds for every query (the other way round if lower is better): the ranking as it is, is one of
    the orders, and the best order one of the rankings. Queries without a value have none here either.
    """
    unknown = np.full(len(judged), np.nan)
    fixed = np.zeros(len(judged), dtype=bool) if fixed is None else fixed
    if reason := why_not(metric, micro):
        return Ceilings({None: unknown}, unknown, reason=reason)
    judged = replace(judged, aspects=None)  # the metric looks at none
    best_of = np.fmin if metric.better == "lower" else np.fmax
    deepest = int(judged.retrieved.max(initial=0))
    depths: list[int | None] = [None, *(depth for depth in DEPTHS if depth < deepest)]
    kernels: list[Callable[[Lists], Array]] = [_reordering(metric, depth) for depth in depths]
    rankings = [lambda lists, make=make: metric.score(make(lists)) for make in candidates(metric)]
    columns = map_kernels(judged, [*kernels, *rankings])
    out = np.isnan(values)
    tops = [np.where(out | fixed, values, best_of(values, top)) for top in columns[: len(depths)]]
    for at in range(1, len(tops)):  # all that was retrieved holds its top n
        tops[0] = best_of(tops[0], tops[at])
    everything, *others = columns[len(depths) :]
    best = best_of.reduce([tops[0], everything, *others])
    best = np.where(out | fixed, values, best)
    close = np.isclose(best, everything, rtol=0, atol=1e-12, equal_nan=True) | out | fixed
    return Ceilings(dict(zip(depths, tops, strict=True)), best, bool(close.all()))


def worthy(metric: Metric, grade: Array) -> Array:
    """The grades that the metric calls relevant or gives a gain. A negative grade never is."""
    gain = getattr(metric, "gain", None)
    level = getattr(metric, "level", None)
    if gain is not None and level is None:
        return np.asarray((grade >= 0) & (gains(grade, gain) > 0))
    return np.asarray((grade >= 0) & (grade >= (ANY_GRADE if level is None else level)))


def _worth(metric: Metric) -> Callable[[Array], Array]:
    gain = getattr(metric, "gain", None)
    return (lambda grade: gains(grade, gain)) if gain is not None else (lambda grade: grade)


def _reordering(metric: Metric, depth: int | None) -> Callable[[Lists], Array]:
    """The value with the first ``depth`` documents in the best order, which may have unjudged documents above worthless ones."""
    best_of = np.fmin if metric.better == "lower" else np.fmax
    both = getattr(metric, "gain", None) is None

    def kernel(lists: Lists) -> Array:
        value = metric.score(reorder(lists, metric, depth))
        return best_of(value, metric.score(reorder(lists, metric, depth, sunk=True))) if both else value

    return kernel


def reorder(lists: Lists, metric: Metric, depth: int | None = None, sunk: bool = False) -> Lists:
    """The judged documents among the first ``depth`` moved to the top, the most worthy first. With ``sunk``, worthless documents move to the end of them."""
    top = lists.retrieved if depth is None else np.minimum(lists.retrieved, depth)
    inside = lists.shown & (lists.rank <= top[:, None])
    worth = -_worth(metric)(lists.grade)
    if sunk:  # what was pooled and left without a grade, before what was judged
        worth = np.where(worthy(metric, lists.grade), worth, np.where(lists.judged, 2.0, 1.0))
    by_worth = np.where(inside, worth, np.where(lists.shown, np.inf, np.nan))
    order = np.argsort(by_worth, axis=1, kind="stable")  # NaN comes last: cells that hold no document

    def move(cells: Array) -> Array:
        return np.take_along_axis(cells, order, 1)

    inside, shown, grade = move(inside), move(lists.shown), move(lists.grade)
    place = np.broadcast_to(np.arange(1, shown.shape[1] + 1), shown.shape)
    if sunk:
        gap = (top - inside.sum(axis=1)).astype(np.int64)
        place = place + np.where(worthy(metric, grade), 0, gap[:, None])
    rank = np.where(inside, place, np.where(shown, move(lists.rank), 1)).astype(np.int64)
    return replace(
        lists, grade=np.where(shown, grade, 0.0), shown=shown, rank=rank, tie_start=rank, tie_size=np.ones_like(rank)
    )  # fmt: skip


def candidates(metric: Metric) -> Sequence[Callable[[Lists], Lists]]:
    """Rankings that may be ideal: all judged documents or only the relevant ones, down to the metric's cutoff."""
    mosts = dict.fromkeys((None, getattr(metric, "cutoff", None)))
    return [lambda lists: perfect(lists, _worth(metric)), *(partial(_only, metric, most=most) for most in mosts)]


def _only(metric: Metric, lists: Lists, *, most: int | None) -> Lists:
    best = perfect(lists, _worth(metric))
    shown = best.shown & worthy(metric, best.grade)
    if most is not None:
        shown &= best.rank <= most
    return replace(best, shown=shown, retrieved=shown.sum(axis=1).astype(float))
