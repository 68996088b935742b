"""One run against another, query by query: sorted differences, one against the other, and the queries that differ most."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rankscope.blocks import Chart, Column, Table, Value
from rankscope.lists import Array
from rankscope.verbs.comparison.contrast import Contrast
from rankscope.verbs.comparison.sentences import percent
from rankscope.verbs.reporting.wording import query_ids, some, weighed

BARS = 6000  # bars of a chart; of more queries those that differ least are left out
EITHER = 20  # queries of a table, up and down
LONGEST = 120  # signs of a query's text in a table


def outcomes(c: Contrast) -> list[str]:
    """What each query is: better, worse or same; higher and lower on a metric without a direction."""
    up, down = ("better", "worse") if c.measured.sign else ("higher", "lower")
    signs = np.sign((c.measured.sign or 1) * c.paired.gains)
    return [up if sign > 0 else down if sign < 0 else "same" for sign in signs.tolist()]


def best_first(c: Contrast) -> Array:
    """The numbers of the queries, those that gain most first; equal ones in the order of the queries."""
    return np.argsort(-(c.measured.sign or 1) * c.paired.gains, kind="stable")


def waterfall(c: Contrast, number: int) -> Chart:
    """The difference of every query, the best first; a bar a query, to be looked into."""
    ids, gains, which = query_ids(c.measured, c.paired.inside), c.paired.gains, outcomes(c)
    order = best_first(c).tolist()
    places = list(enumerate(order, start=1))
    if len(places) > BARS:
        kept = set(np.argsort(-np.abs(gains), kind="stable")[:BARS].tolist())
        places = [(place, i) for place, i in places if i in kept]
    rows = tuple((place, float(gains[i]), which[i], ids[i]) for place, i in places)
    left = len(order) - len(rows)
    more = f" {left:,} queries that differ less, or not at all, are left out." if left else ""
    return Chart(
        f"waterfall-{number}",
        f"{c.run} against {c.baseline}, query by query",
        "ordered",
        (
            Column("place", "count"),
            Column("difference", "value"),
            Column("outcome"),
            Column("query", queries=True),
        ),
        rows,
        x="place",
        y="difference",
        series="outcome",
        query="query",
        guide="zero",
        pair=(c.baseline, c.run),
        caption=f"The difference in {c.metric} on every query, {c.run} minus {c.baseline}, sorted. Two even flanks are noise; "
        f"a few tall bars on one side carry a lead.{more}{weighed(c.measured)}",
    )


def scatter(c: Contrast, number: int) -> Chart:
    """One run against the other, a point a pair of values; queries of equal values are one point that tells how many they are."""
    ids, which = query_ids(c.measured, c.paired.inside), outcomes(c)
    x, y = f"{c.metric} of {c.baseline}", f"{c.metric} of {c.run}"
    at: dict[tuple[float, float], list[int]] = {}
    for i, pair in enumerate(zip(c.paired.baseline.tolist(), c.paired.run.tolist(), strict=True)):
        at.setdefault(pair, []).append(i)
    rows: list[tuple[Value, ...]] = [
        (
            *pair,
            which[here[0]],
            len(here),
            ids[here[0]],
            some([ids[i] for i in here], 3) if len(here) > 1 else "",
        )
        for pair, here in sorted(at.items())
    ]
    most = max(len(here) for here in at.values())
    crowd = f" One mark may stand for several queries (up to {most:,})." if most > 1 else ""
    above = {1: "better", -1: "worse", 0: "higher"}[c.measured.sign]
    columns = (
        Column(x, "value"), Column(y, "value"), Column("outcome"), Column("queries", "count"), Column("query", queries=True),
        Column("which"),
    )  # fmt: skip
    return Chart(
        f"scatter-{number}",
        f"{c.run} against {c.baseline} on {c.metric}",
        "points",
        columns,
        tuple(rows),
        x=x,
        y=y,
        series="outcome",
        query="query",
        guide="equal",
        pair=(c.baseline, c.run),
        caption=f"A mark is a query: above the line {c.run} is {above} than {c.baseline}, on the line both are equal.{crowd}",
        limits=_ends(c),
    )


def _ends(c: Contrast) -> tuple[float, float] | None:
    """One axis for both runs: from the lowest value there can be to the highest there is."""
    values = np.concatenate([c.paired.run, c.paired.baseline])
    low = c.measured.bounds[0]
    low, high = float(low if math.isfinite(low) else values.min()), float(values.max())
    return (low, high) if low < high else None


def extreme(c: Contrast, number: int, texts: Mapping[str, str]) -> Table:
    """The queries that differ most, up and down, with both values and their share of the difference."""
    ids, gains = query_ids(c.measured, c.paired.inside), c.paired.gains
    order = [i for i in best_first(c).tolist() if gains[i]]
    chosen = order if len(order) <= 2 * EITHER else [*_up(c, order), *_down(c, order)]
    told = any(ids[i] in texts for i in chosen)
    columns = (
        Column("query", queries=True),
        *([Column("text", wraps=True)] if told else []),
        Column("baseline", "value", hint=f"{c.metric} of {c.baseline}"),
        Column("run", "value", hint=f"{c.metric} of {c.run}"),
        Column("difference", "value", hint=f"{c.run} minus {c.baseline}"),
        Column("outcome"),
    )
    which = outcomes(c)
    rows: list[tuple[Value, ...]] = [
        (
            ids[i],
            *([_cut(texts.get(ids[i], ""))] if told else []),
            float(c.paired.baseline[i]),
            float(c.paired.run[i]),
            float(gains[i]),
            which[i],
        )
        for i in chosen
    ]
    left = len(order) - len(chosen)
    note = f"{left:,} more queries differ ({percent(round(left / c.queries, 3))} of all)" if left else ""
    return Table(
        columns, tuple(rows), note=note, name=f"differing-queries-{number}", pair=(c.baseline, c.run),
        title=f"Queries on which {c.run} and {c.baseline} differ most",
    )  # fmt: skip


def _up(c: Contrast, order: list[int]) -> list[int]:
    return [i for i in order[:EITHER] if _gain(c, i) > 0]


def _down(c: Contrast, order: list[int]) -> list[int]:
    """The largest losses; the smallest of them first, as in the order of all."""
    return [i for i in order[-EITHER:] if _gain(c, i) < 0]


def _gain(c: Contrast, i: int) -> float:
    return float(c.paired.gains[i]) * (c.measured.sign or 1)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
