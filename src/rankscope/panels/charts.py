"""Charts and tables of panels and contrasts: differences of means, queries one by one, distributions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Chart, Column, Ranged, Table, Value, Written
from rankscope.errors import InputError
from rankscope.inference.base import Bounds
from rankscope.lists import Array
from rankscope.metrics import parse
from rankscope.metrics.description import DIRECTIONS, described
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.panel import SAME, Panel

BARS = 6000  # bars of a chart; of more queries those that differ least are left out
MOST = 30  # queries of a table: as many as are shown without folding
LONGEST = 120  # characters of a query's text in a table
LARGE = 2.0  # differences on a metric of a wider range have a scale of their own
PAIRS = 30  # pairs of systems that a chart has room for
STEPS = 200  # steps of a line
HEAT = 60  # queries that can be told apart in a picture
SHARE = "share of queries"
CLEARLY = Column("clear", "count", hint="1 where the difference is clear")


# --- columns and cells -----------------------------------------------------------------------------------


def direction(panel: Panel) -> str:
    """Which way is better, in words."""
    return DIRECTIONS[panel.better]


def column_of(panel: Panel, header: str = "") -> Column:
    """The column of a metric, with what it is."""
    total = panel.metric is not None and panel.metric.aggregate == "sum"
    return Column(header or panel.name, "count" if total else "value", hint=hint_of(panel))


def hint_of(panel: Panel) -> str:
    """What the metric of a panel is."""
    try:
        return described(panel.metric or parse(panel.name))
    except InputError:
        return f"Scores as they were given. {direction(panel).capitalize()}."


def ranged(value: float, bounds: Bounds) -> Ranged | None:
    """A value with its interval; None where an end is not known or without bound."""
    ends = (value, bounds.lower, bounds.upper)
    return Ranged(*ends) if all(map(math.isfinite, ends)) else None


def p_cell(value: float) -> Value:
    """A p-value as people read it; None where there is none."""
    return None if math.isnan(value) else Written(words.p_cell(value), value)


def other_than(header: str, *others: str) -> str:
    """A header of a chart that is none of the others, as columns are found by their headers."""
    return f"{header} (value)" if header in others else header


def is_clear(c: Contrast) -> int:
    """1 where there is a clear difference, else 0."""
    return int(c.verdict in CLEAR)


def slug(text: str, most: int = 18) -> str:
    """A name within the name of a file: small letters and digits of ASCII, joined by hyphens.

    >>> slug("BM25 (tuned).run")
    'bm25-tuned-run'
    """
    kept = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in text.lower())
    return "-".join(kept.split())[:most].strip("-")


def files_of(contrasts: Sequence[Contrast]) -> Mapping[tuple[str, str], str]:
    """What the files of each pair are called, ``hybrid-against-bm25``: letters and digits, not too long, each its own."""
    out: dict[tuple[str, str], str] = {}
    for c in contrasts:
        name = "-against-".join(slug(part) or "run" for part in (c.run, c.baseline))
        tries = (name, *(f"{name}-{number}" for number in range(2, len(contrasts) + 1)))
        out[c.run, c.baseline] = next(one for one in tries if one not in out.values())
    return out


def uneven(panel: Panel) -> str:
    """Why a picture of single queries does not show the mean; empty for a plain one."""
    aggregate = panel.metric.aggregate if panel.metric is not None else "mean"
    if aggregate == "pooled":
        return f" {panel.name} is computed from the documents of all queries together; it is not a mean of these."
    if aggregate == "geometric":
        return " The mean is geometric: values near 0 weigh more in it than this shows."
    return (
        " Queries have different weights in the mean, which this does not show."
        if panel.weights is not None
        else ""
    )


# --- differences of means --------------------------------------------------------------------------------


def forest(
    name: str,
    title: str,
    rows: Sequence[tuple[str, str, Contrast]],
    heads: tuple[str, str],
    caption: str,
    hints: tuple[str, str] = ("", ""),
) -> Chart | None:
    """Differences with their adjusted intervals, a row each under its two labels; None where none has an interval.

    ``heads`` are the headers of the labels; where the second is ``metric`` and there are several, each has a chart of its own.
    ``hints`` say what the differences and the p-values are.
    """
    told: list[tuple[Value, ...]] = []
    for *labels, c in rows:
        value = ranged(c.difference, c.adjusted)
        if value is not None:
            told.append((*labels, value, p_cell(c.p_value_adjusted), c.verdict, c.queries, is_clear(c)))
    columns = (
        *map(Column, heads), Column("difference", "value", hint=hints[0]), Column("p", "value", hint=hints[1]), Column("verdict"),
        Column("queries", "count"), CLEARLY,
    )  # fmt: skip
    panel = "metric" if heads[1] == "metric" and len({metric for _, metric, _ in rows}) > 1 else ""
    return Chart(
        name, title, "intervals", columns, tuple(told), x="difference", y=heads[0], panel=panel, marked="clear", guide="zero",
        caption=caption,
    ) if told else None  # fmt: skip


def wide(panel: Panel) -> bool:
    """Whether differences may be far beyond those of a share; scores of an unknown range tell by their values."""
    low, high = panel.bounds
    if math.isfinite(high - low):
        return high - low > LARGE
    known = panel.values[~np.isnan(panel.values)]
    return bool(known.size) and float(np.abs(known).max()) > LARGE


def sides(panels: Sequence[Panel]) -> str:
    """Which side of 0 is better in a chart of differences on these metrics."""
    ways = {panel.sign for panel in panels}
    if len(ways) > 1:
        return "Right of 0 is better, except for metrics marked otherwise."
    return {
        1: "Right of 0 is better.",
        -1: "Left of 0 is better, as lower is.",
        0: f"{panels[0].name}: {direction(panels[0])}.",
    }[ways.pop()]


def outcome_counts(
    rows: Sequence[tuple[str, Contrast]], *, head: str, title: str, caption: str
) -> Chart | None:
    """Queries better, same and worse, a bar each; None where there are none."""
    told: list[tuple[Value, ...]] = []
    for label, c in rows:
        up, down = ("better", "worse") if c.measured.sign else ("higher", "lower")
        told += [(label, up, c.wins), (label, "same", c.ties), (label, down, c.losses)]
    columns = Column(head), Column("outcome"), Column("queries", "count")
    return Chart(
        "win-loss", title, "stacked", columns, tuple(told), x="queries", y=head, series="outcome", caption=caption
    ) if any(row[2] for row in told) else None  # fmt: skip


# --- query by query --------------------------------------------------------------------------------------


def query_ids(c: Contrast) -> list[str]:
    """The ids of the queries of a contrast, in their order."""
    return [query for query, kept in zip(c.measured.query_ids, c.paired.inside.tolist(), strict=True) if kept]


def by_size(c: Contrast) -> list[int]:
    """The numbers of the queries that differ, those that differ most first; equal ones in their order."""
    gains = c.paired.gains
    return [i for i in np.argsort(-np.abs(gains), kind="stable").tolist() if gains[i]]


def outcomes(c: Contrast) -> list[str]:
    """What each query is: better, worse or same; higher and lower on a metric without a direction."""
    up, down = ("better", "worse") if c.measured.sign else ("higher", "lower")
    signs = np.sign((c.measured.sign or 1) * c.paired.gains)
    return [up if sign > 0 else down if sign < 0 else "same" for sign in signs.tolist()]


def waterfall(c: Contrast, file: str) -> Chart:
    """The difference of every query, the best first, a bar a query."""
    ids, gains, which = query_ids(c), c.paired.gains, outcomes(c)
    order = np.argsort(-(c.measured.sign or 1) * gains, kind="stable").tolist()
    places = list(enumerate(order, start=1))
    if len(places) > BARS:
        kept = set(np.argsort(-np.abs(gains), kind="stable")[:BARS].tolist())
        places = [(place, i) for place, i in places if i in kept]
    left = len(order) - len(places)
    more = (
        f" {words.counted(left, 'query')} with smaller differences, or none, {words.agree(left, 'is')} left out."
        if left
        else ""
    )
    columns = (
        Column("place", "count", hint="queries, sorted by difference"), Column("difference", "value"), Column("outcome"),
        Column("query", queries=True),
    )  # fmt: skip
    return Chart(
        f"waterfall-{file}", f"{c.run} against {c.baseline}, query by query", "ordered", columns,
        tuple((place, float(gains[i]), which[i], ids[i]) for place, i in places),
        x="place", y="difference", series="outcome", query="query", guide="zero", pair=(c.baseline, c.run),
        caption=f"The difference in {c.metric} on every query, {c.run} minus {c.baseline}, sorted. Equal areas on both sides: gains and "
        f"losses cancel out. A few tall bars on one side: few queries account for the lead.{more}{uneven(c.measured)}",
    )  # fmt: skip


def scatter(c: Contrast, file: str) -> Chart:
    """One run against the other, a point a pair of values; queries of equal values are one point that says how many they are."""
    ids, which = query_ids(c), outcomes(c)
    x, y = f"{c.metric} of {c.baseline}", f"{c.metric} of {c.run}"
    at: dict[tuple[float, float], list[int]] = {}
    for i, pair in enumerate(zip(c.paired.baseline.tolist(), c.paired.run.tolist(), strict=True)):
        at.setdefault(pair, []).append(i)
    rows: list[tuple[Value, ...]] = [
        (*pair, which[here[0]], len(here), ids[here[0]], words.sample(ids[i] for i in here) if len(here) > 1 else "")
        for pair, here in sorted(at.items())
    ]  # fmt: skip
    most = max(len(here) for here in at.values())
    crowd = f" One mark may stand for several queries (up to {words.count(most)})." if most > 1 else ""
    above = {1: "better", -1: "worse", 0: "higher"}[c.measured.sign]
    columns = (
        Column(x, "value"), Column(y, "value"), Column("outcome"), Column("queries", "count"), Column("query", queries=True),
        Column("which"),
    )  # fmt: skip
    return Chart(
        f"scatter-{file}", f"{c.run} against {c.baseline} on {c.metric}", "points", columns, tuple(rows),
        x=x, y=y, series="outcome", query="query", guide="equal", pair=(c.baseline, c.run), limits=_ends(c),
        caption=f"Each mark is a query: above the line {c.run} is {above} than {c.baseline}, on the line both are equal.{crowd}",
    )  # fmt: skip


def _ends(c: Contrast) -> tuple[float, float] | None:
    """One axis for both runs: from the lowest value possible to the highest there is."""
    values = np.concatenate([c.paired.run, c.paired.baseline])
    low = c.measured.bounds[0]
    low, high = float(low if math.isfinite(low) else values.min()), float(values.max())
    return (low, high) if low < high else None


def extreme(c: Contrast, file: str, texts: Mapping[str, str]) -> Table:
    """The queries that differ most, in either direction, with both values."""
    ids, gains, which = query_ids(c), c.paired.gains, outcomes(c)
    order = by_size(c)
    chosen = order[:MOST]
    told = any(ids[i] in texts for i in chosen)
    columns = (
        Column("query", queries=True),
        *([Column("text", wraps=True)] if told else []),
        Column("baseline", "value", hint=f"{c.metric} of {c.baseline}"),
        Column("run", "value", hint=f"{c.metric} of {c.run}"),
        Column("difference", "value", hint=f"{c.run} minus {c.baseline}"),
        Column("outcome"),
    )
    rows: list[tuple[Value, ...]] = []
    for i in chosen:
        text = [words.short(texts.get(ids[i], ""), LONGEST)] if told else []
        rows.append(
            (ids[i], *text, float(c.paired.baseline[i]), float(c.paired.run[i]), float(gains[i]), which[i])
        )
    left = len(order) - len(chosen)
    note = (
        f"{words.counted(left, 'more query differs', 'more queries differ')} ({words.share(left / c.queries, 1)} of all)"
        if left
        else ""
    )
    return Table(
        columns, tuple(rows), note=note, name=f"differing-{file}", pair=(c.baseline, c.run),
        title=f"Queries on which {c.run} and {c.baseline} differ most",
    )  # fmt: skip


# --- how values are spread -------------------------------------------------------------------------------


def values_of(panel: Panel, system: str) -> Array:
    """The values that a system has."""
    values = panel.values[panel.row(system)]
    return np.asarray(values[~np.isnan(values)])


def distribution(panel: Panel, systems: Sequence[str], note: str = "") -> Chart:
    """The share of queries that score at most so much, a line a system."""
    rows = tuple((x, share, s) for s in systems for x, share in cumulative(values_of(panel, s), panel.bounds))
    better = {
        1: "The further right and the lower a line, the better",
        -1: "The further left and the higher a line, the better",
        0: "A line further right has higher values",
    }[panel.sign]
    header = other_than(panel.name, SHARE, "run")
    columns = Column(header, "value", hint=hint_of(panel)), Column(SHARE, "value"), Column("run")
    return Chart(
        "distribution", f"Distribution of {panel.name} over queries", "steps", columns, rows, x=header, y=SHARE, series="run",
        caption=f"The share of queries that score at most the value on the axis. {better}; where lines cross, neither run is better "
        f"throughout.{uneven(panel)}{note}",
        limits=(0.0, 1.0),
    )  # fmt: skip


def cumulative(
    known: Array, bounds: tuple[float, float] = (-np.inf, np.inf), most: int = STEPS
) -> list[tuple[float, float]]:
    """The empirical distribution function at the values there are, or at ``most`` of them: always exact, and 1 at the end.

    It starts and ends at the ends of the range, where these are known.

    >>> cumulative(np.array([0.5, 0.0, 0.5, 1.0]))
    [(0.0, 0.25), (0.5, 0.75), (1.0, 1.0)]
    """
    if not known.size:
        return []
    values, counts = np.unique(known, return_counts=True)
    share = np.cumsum(counts) / len(known)
    if len(values) > most:
        # the same rise from step to step, so that no part of the line is coarser than another
        picked = np.searchsorted(share, np.linspace(share[0], 1.0, most))
        kept = np.unique(np.append(picked.clip(0, len(values) - 1), len(values) - 1))
        values, share = values[kept], share[kept]
    points = list(zip(values.tolist(), share.tolist(), strict=True))
    if np.isfinite(bounds[0]) and points[0][0] > bounds[0]:
        points.insert(0, (float(bounds[0]), 0.0))
    if np.isfinite(bounds[1]) and points[-1][0] < bounds[1]:
        points.append((float(bounds[1]), 1.0))
    return points


def gaps(panel: Panel) -> Array:
    """How far the systems are apart on each query; 0 where they differ by rounding alone, or where fewer than two have a value."""
    high = np.where(np.isnan(panel.values), -np.inf, panel.values).max(axis=0)
    low = np.where(np.isnan(panel.values), np.inf, panel.values).min(axis=0)
    known = np.isfinite(high) & np.isfinite(low)
    gap = np.where(known, np.where(known, high, 0.0) - np.where(known, low, 0.0), 0.0)
    return np.where(gap <= SAME * np.maximum(np.abs(high), np.abs(low)), 0.0, gap)


def heat(panel: Panel, order: Sequence[str]) -> Chart:
    """Systems and queries as a picture: those queries on which the systems differ most, the easiest on the left."""
    picked = np.argsort(-gaps(panel), kind="stable")[:HEAT]
    columns = sorted(picked.tolist(), key=lambda i: (-panel.sign * _mean(panel.values[:, i]), i))
    rows: list[tuple[Value, ...]] = []
    for system in order:
        values = panel.values[panel.row(system)]
        rows += [(panel.query_ids[i], system, float(values[i])) for i in columns if not math.isnan(values[i])]
    total = len(panel.query_ids)
    which = (
        "All queries"
        if len(picked) == total
        else f"The {len(picked)} of {words.count(total)} queries on which the runs differ most"
    )
    ordered = "the best run on top and the easiest query on the left" if panel.sign else "in the order given"
    holes = " A gap: no value." if len(rows) < len(order) * len(columns) else ""
    header, (low, high) = other_than(panel.name, "run", "query"), panel.bounds
    return Chart(
        "heatmap", f"{panel.name} by run and query", "heat",
        (Column("query", queries=True), Column("run"), column_of(panel, header)), tuple(rows),
        x="query", y="run", colour=header, query="query", limits=(low, high) if math.isfinite(low) and math.isfinite(high) else None,
        caption=f"{which}, {ordered}. A column of one colour is a query that is equally hard for all; a cell that stands out is worth a look.{holes}",
    )  # fmt: skip


def _mean(values: Array) -> float:
    known = [v for v in values.tolist() if not math.isnan(v)]
    return math.fsum(known) / len(known) if known else math.nan


# --- each system against each ----------------------------------------------------------------------------


def square(
    order: Sequence[str], contrasts: Sequence[Contrast]
) -> Iterator[tuple[str, str, Contrast | None, int]]:
    """Every pair both ways round: row, column, contrast (None: of a run with itself), 1 or -1 where it is turned."""
    by_pair: dict[Any, Contrast] = {(c.run, c.baseline): c for c in contrasts}
    for row in order:
        for column in order:
            turned = (row, column) not in by_pair
            c = by_pair.get((column, row) if turned else (row, column))
            yield row, column, c, -1 if turned else 1


def pair_differences(order: Sequence[str], contrasts: Sequence[Contrast]) -> Chart:
    """Differences of all pairs of systems as a picture; a system against itself differs by 0."""
    rows: list[tuple[Value, ...]] = []
    for row, column, c, turned in square(order, contrasts):
        difference = 0.0 if c is None else words.finite(turned * c.difference + 0.0)
        if difference is not None:
            p_value, clear = (None, 0) if c is None else (p_cell(c.p_value_adjusted), is_clear(c))
            rows.append((row, column, difference, p_value, clear))
    panel = contrasts[0].measured
    columns = (
        Column("run"), Column("against"), Column("difference", "value", hint="run minus the one it is against"),
        Column("p", "value", hint="after the correction, where there is one"), CLEARLY,
    )  # fmt: skip
    return Chart(
        "pairs-differences", f"Differences on {panel.name}", "heat", columns, tuple(rows), x="against", y="run", colour="difference",
        middle=0.0, caption=f"The row minus the column ({direction(panel)}), the best run first. The table below shows which differences are clear.",
    )  # fmt: skip


def pair_p_values(order: Sequence[str], contrasts: Sequence[Contrast], note: str) -> Table:
    """The p-values of all pairs as a square; clear differences are stressed."""
    cells = {(row, column): c for row, column, c, _ in square(order, contrasts)}
    rows: list[tuple[Value, ...]] = []
    clear = set()
    for i, row in enumerate(order):
        mine = [cells[row, column] for column in order]
        rows.append((row, *(None if c is None else p_cell(c.p_value_adjusted) for c in mine)))
        clear |= {(i, j) for j, c in enumerate(mine, start=1) if c is not None and is_clear(c)}
    columns = (Column("run"), *(Column(name, "value") for name in order))
    title = f"p-values on {contrasts[0].metric}"
    return Table(columns, tuple(rows), best=frozenset(clear), note=note, name="pairs-p", title=title)
