"""Laws of metrics: each is a function that returns a violation or None."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, groupby, permutations, product
from typing import Any

import numpy as np

from rankscope import words
from rankscope.engines import local
from rankscope.engines.base import SEVERAL, Order
from rankscope.engines.mappings import judge
from rankscope.engines.values import depends_on_order, score, score_under_ties
from rankscope.errors import InputError
from rankscope.files import qrels_of, run_of
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric, parse
from rankscope.testing.cases import Case, accepts, apart, aspects_of, judged, top_grade, values, whole

CLOSE = 1e-12


@dataclass(frozen=True)
class Violation:
    """A case that breaks a law, with a message. The case is None if the law needs none."""

    case: Case | None
    message: str


@dataclass(frozen=True)
class Law:
    """A sentence about metrics, the search for a violation, and the metrics that it applies to."""

    sentence: str
    find_violation: Callable[[Metric, Sequence[Case]], Violation | None]
    about: Callable[[Metric], bool]


LAWS: list[Law] = []


def law(about: Callable[[Metric], bool] = lambda _: True) -> Callable[[Any], Any]:
    """Register a function as a law of these metrics, by default of all. Its docstring is the sentence."""

    def enter(find_violation: Any) -> Any:
        sentence = find_violation.__doc__.rstrip(".")
        LAWS.append(Law(sentence[0].lower() + sentence[1:], find_violation, about))
        return find_violation

    return enter


def compare_changes(
    metric: Metric, cases: Sequence[Case], changes: Callable[[Case], Iterable[Case]],
    holds: Callable[[Array, Array], Array],
) -> Violation | None:  # fmt: skip
    """Compare the values of each case before and after every change."""
    pairs = [(number, after) for number, case in enumerate(cases) for after in changes(case) if after != case]
    if not pairs:
        return None
    try:
        after = values(metric, [case for _, case in pairs])
    except InputError:
        taken = accepts(metric, [case for _, case in pairs])
        pairs = [pair for pair, ok in zip(pairs, taken, strict=True) if ok]
        after = values(metric, [case for _, case in pairs])
    before = values(metric, cases)[[number for number, _ in pairs]]
    wrong = np.flatnonzero(~holds(before, after))
    if not len(wrong):
        return None
    number, changed = pairs[wrong[0]]
    return Violation(cases[number], f"gives {before[wrong[0]]!s}, but {after[wrong[0]]!s} after a change to {changed}")


def same(before: Array, after: Array) -> Array:
    """Equal to the last bit, or both undefined."""
    return np.asarray((before == after) | (np.isnan(before) & np.isnan(after)))


def close(before: Array, after: Array) -> Array:
    """Equal up to rounding, as in a sum in another order."""
    return np.asarray(same(before, after) | (np.abs(before - after) <= CLOSE * np.maximum(1.0, np.abs(before))))


def level_of(metric: Metric) -> float:
    """The lowest relevant grade. A negative grade is never relevant."""
    return max(float(getattr(metric, "level", 1.0)), 0.0)


def edge(metric: Metric, case: Case) -> int:
    """The number of documents above the cutoff: all retrieved ones, or the documents up to the k-th graded one."""
    k = getattr(metric, "cutoff", None)
    if k is None:
        return len(case.ranking)
    if not getattr(metric, "judged_only", False):
        return min(int(k), len(case.ranking))
    graded = [i for i, grade in enumerate(case.ranking, start=1) if grade is not None and grade >= 0]
    return graded[k - 1] if len(graded) >= k else len(case.ranking)


MAX_ORDERS = 24  # of the ties of one query, tried one by one
MAX_QUERIES = 25  # whose orders are tried


@law()
def spelling(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """Its spelling reads back as the same metric."""
    back = parse(str(metric))
    if back == metric and hash(back) == hash(metric) and type(back) is type(metric):
        return None
    return Violation(None, f"{metric} reads back as {back!r}")


@law()
def parts(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """The parts of the positions, of unjudged documents and of the base sum to the value, before the link."""
    lists = whole(tuple(cases))
    terms = metric.taken_apart(lists)
    value = metric.score(lists)
    defined = np.ones(len(cases), dtype=bool) if terms.defined is None else np.asarray(terms.defined)
    if value.shape != (len(cases),):
        return Violation(cases[0], f"gives {value.shape} values for {len(cases)} queries")
    sums = terms.shares.sum(axis=1) + terms.unjudged_share + terms.base
    sums = sums if terms.link is None else terms.link(sums)
    wrong = np.where(defined, ~np.isfinite(value) | ~close(value, sums), ~np.isnan(value))
    return _first(
        cases, wrong, lambda i: f"{value[i]!s}, while the parts sum to {sums[i]!s} (defined: {bool(defined[i])})"
    )


def _first(cases: Sequence[Case], wrong: Array, text: Callable[[int], str]) -> Violation | None:
    return next((Violation(cases[i], f"gives {text(i)}") for i in np.flatnonzero(wrong).tolist()), None)


@law()
def within_range(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """The value is within the declared range."""
    low, high = metric.range
    value = values(metric, cases)
    wrong = (value < low - CLOSE) | (value > high + CLOSE)
    return _first(cases, wrong, lambda i: f"{value[i]!s}, outside {words.amount(low)} to {words.amount(high)}")


@law()
def alone(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """A query scores the same by itself and in a batch."""
    # a wide neighbour pads the rectangle
    wide = Case((0, 1, None) * 20)
    company = (*cases, *(case for case in (wide,) if accepts(metric, [wide])[0]))
    lists = whole(company)
    batch = {"value": metric.score(lists), "weight": metric.weight(lists)}
    engine = score(judged(company), [metric])[0].value
    for i, (case, one) in enumerate(zip(cases, apart(company), strict=False)):
        for what, value in {"value": metric.score(one), "weight": metric.weight(one)}.items():
            if not same(value, batch[what][i : i + 1])[0]:
                return Violation(case, f"gives the {what} {value[0]!s} by itself and {batch[what][i]!s} in a batch")
        if not same(engine[i : i + 1], batch["value"][i : i + 1])[0]:
            return Violation(case, f"gives {batch['value'][i]!s} in one chunk and {engine[i]!s} in another")
    return None


@law(lambda m: not m.needs & {"identities", "items"})
def renaming(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """The ids of documents do not matter without ties, nor does the choice of unjudged documents."""
    apart = [Case(case.ranking, case.missing) for case in cases]
    plainly = values(metric, apart)
    for turn in range(2):
        value = score(_through_engine(tuple(apart), metric.needs, turn), [metric])[0].value
        for i in np.flatnonzero(~same(plainly, value)).tolist():
            return Violation(apart[i], f"gives {plainly[i]!s}, but {value[i]!s} from dicts under other names")
    return None


@lru_cache(maxsize=64)
def _through_engine(cases: tuple[Case, ...], needs: frozenset[str], turn: int) -> Judged:
    """The cases as dicts with document ids. Each turn has other ids and another order of entries."""
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, float]] = {}
    for number, case in enumerate(cases):
        count = len(case.ranking) + len(case.missing)
        names = [f"d{(i * 7919 + turn * 13) % 100003 if turn else i}" for i in range(count)]
        retrieved = list(zip(names, case.scores, strict=False))
        graded = [(n, g) for n, g in zip(names, (*case.ranking, *case.missing), strict=True) if g is not None]
        run[f"q{number}"] = dict(retrieved[::-1] if turn else retrieved)
        qrels[f"q{number}"] = dict(graded[::-1] if turn else graded)
    if not needs & SEVERAL:
        return judge(run, qrels, Order(needs=needs))[0]
    by_aspect: dict[str, dict[str, dict[Any, float]]] = {
        query: {doc: aspects_of(grade) for doc, grade in graded.items()} for query, graded in qrels.items()
    }
    # makes sure that subtopics have names
    by_aspect["more"] = {"d": {"a": 0.0, "b": 0.0}}
    judged_all = local.judge(run_of(run), qrels_of(by_aspect), Order(needs=needs))[0]
    place = {query: i for i, query in enumerate(judged_all.query_id)}
    return judged_all.of(np.array([place[query] for query in qrels]))


@law(lambda m: getattr(m, "cutoff", None) is not None)
def below_cutoff(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """The order of documents below the cutoff does not matter."""

    def shuffles(case: Case) -> Iterable[Case]:
        k = edge(metric, case)
        yield case.with_ranking((*case.ranking[:k], *case.ranking[k:][::-1]))

    return compare_changes(metric, cases, shuffles, same)


@law(lambda m: getattr(m, "cutoff", None) is not None and not m.looks_below)
def cut_off(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """Documents below the cutoff count as not retrieved."""
    return compare_changes(metric, cases, lambda case: [case.cut(edge(metric, case))], close)


@law(lambda m: bool(getattr(m, "judged_only", False)))
def judged_only(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """Unjudged documents have no effect."""

    def with_padding(case: Case) -> Iterable[Case]:
        for at in sorted({0, 1, len(case.ranking) // 2, len(case.ranking)}):
            if at <= len(case.ranking):
                yield case.insert(at, None)
                yield case.insert(at, -1.0)

    return compare_changes(metric, cases, with_padding, same)


@law(lambda m: m.monotone and m.better != "neither")
def monotone(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """A better document moved above a worse one never hurts."""
    sign = 1.0 if metric.better == "higher" else -1.0

    def improvements(case: Case) -> Iterable[Case]:
        graded = [i for i, grade in enumerate(case.ranking) if grade is not None and grade >= 0]
        pairs = [(i, j) for i, j in combinations(graded, 2) if (case.ranking[i] or 0) < (case.ranking[j] or 0)]
        for i, j in pairs[:: max(1, len(pairs) // 12)]:
            ranking = list(case.ranking)
            ranking[i], ranking[j] = ranking[j], ranking[i]
            yield case.with_ranking(ranking)

    def no_worse(before: Array, after: Array) -> Array:
        return np.isnan(before) | (sign * (after - before) >= -CLOSE * np.maximum(1.0, np.abs(before)))

    return compare_changes(metric, cases, improvements, no_worse)


@law()
def empty(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """An empty ranking has the value declared as `empty`."""
    declared = metric.empty
    if declared == "varies":
        return None
    if declared == "judgments":
        return compare_changes(metric, cases, lambda case: [case.cut(0)], same)
    cases = [case.cut(0) for case in cases]
    value = values(metric, cases)
    wrong = ~np.isnan(value) if declared is None else value != declared
    return _first(cases, wrong, lambda i: f"{value[i]!s}, while `empty` is {declared}")


@law(lambda m: not m.positions)
def blind_to_order(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """Positions=False: the order within the top k does not matter."""

    def other_orders(case: Case) -> Iterable[Case]:
        k = edge(metric, case)
        top, rest = case.ranking[:k], case.ranking[k:]
        yield case.with_ranking((*top[::-1], *rest))
        yield case.with_ranking((*top[1:], *top[:1], *rest))

    return compare_changes(metric, cases, other_orders, close)


@law(lambda m: m.relevance == "binary" and not m.needs & SEVERAL)
def blind_to_degree(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """Relevance='binary': only whether a grade reaches the level matters."""
    level = level_of(metric)

    def flatten(case: Case, high: float) -> Case:
        return case.graded_anew(lambda g: high if g >= level else 0.0 if g >= 0 else -1.0)

    high = max(level, top_grade(metric))
    return compare_changes(metric, cases, lambda case: [flatten(case, level), flatten(case, high)], same)


@law(lambda m: m.relevance == "none" and "items" not in m.needs)
def blind_to_grades(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """Relevance='none': grades do not matter."""

    def one_grade_each(case: Case) -> Iterable[Case]:
        for grade in (0.0, 1.0, top_grade(metric), -1.0):
            ranking = tuple(None if g is None else grade for g in case.ranking)
            yield Case(ranking, (grade,) * len(case.missing), case.tied)

    return compare_changes(metric, cases, one_grade_each, same)


@law(lambda m: m.counts == "one")
def blind_after_first(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """Counts='one': documents after the first relevant one do not matter."""
    level = level_of(metric)

    def only_first(case: Case) -> Iterable[Case]:
        at = next((i for i, g in enumerate(case.ranking) if g is not None and g >= level), len(case.ranking))
        gone = 0.0 if level > 0 else -1.0
        rest = (gone if g is not None and g >= level else g for g in case.ranking[at + 1 :])
        yield case.with_ranking((*case.ranking[: at + 1], *rest))

    return compare_changes(metric, cases, only_first, same)


@law(lambda m: m.aggregate != "pooled" and "items" not in m.needs)
def over_all_orders(metric: Metric, cases: Sequence[Case]) -> Violation | None:
    """Under expected, best and worst ties, the value is the mean, the best and the worst over all orders."""
    return next((b for depth in (None, 2) if (b := _over_all_orders(metric, cases, depth))), None)


def _over_all_orders(metric: Metric, cases: Sequence[Case], depth: int | None) -> Violation | None:
    sizes = [[len(list(group)) for _, group in groupby(case.scores)] for case in cases]
    counts = [math.prod(map(math.factorial, size)) for size in sizes]  # orders of the tied documents
    few = [case for case, count in zip(cases, counts, strict=True) if 1 < count <= MAX_ORDERS][:MAX_QUERIES]
    if not few or not depends_on_order(metric, depth):
        return None
    orders = [
        [case.with_ranking(ranking).cut(len(ranking) if depth is None else depth) for ranking in _rankings(case)]
        for case in few
    ]
    flat = [replace(case, tied=()) for group in orders for case in group]
    try:
        each = np.split(values(metric, flat), np.cumsum([len(group) for group in orders])[:-1])
    except InputError:
        return None
    data = judged(tuple(few))
    high, low = (np.min, np.max) if metric.better == "lower" else (np.max, np.min)
    for ties, of in (("expected", np.mean), ("best", high), ("worst", low)):
        if ties != "expected" and metric.better == "neither":
            continue
        under_ties = score_under_ties(data, [metric], ties, depth, 0)[0].value
        for i, case in enumerate(few):
            known = each[i][~np.isnan(each[i])]
            right = of(known) if len(known) else np.nan
            if not close(np.array([right]), under_ties[i : i + 1])[0]:
                problem = f"gives {under_ties[i]!s} under {ties} ties"
                return Violation(case, f"{problem}, while the single orders give {right!s}")
    return None


def _rankings(case: Case) -> Iterable[tuple[float | None, ...]]:
    """All orders of the documents that move only tied ones."""
    groups = [
        [grade for _, grade in group]
        for _, group in groupby(zip(case.scores, case.ranking, strict=True), key=lambda pair: pair[0])
    ]
    for chosen in product(*(permutations(group) for group in groups)):
        yield tuple(grade for group in chosen for grade in group)
