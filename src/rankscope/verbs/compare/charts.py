"""The charts of a comparison: differences with their intervals, counts of queries, and each pair query by query."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rankscope import words
from rankscope.blocks import Chart, Column, Table, Value
from rankscope.lists import Array
from rankscope.metrics.description import DIRECTIONS
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.contrast_result import p_cell, signed_cell
from rankscope.panels.families import Family, square
from rankscope.panels.panel import Panel
from rankscope.verbs.compare.tables import FEW, ROOM, how, value_range

LARGE = 2.0  # differences on a metric of a wider range have a scale of their own
MOST = 30  # queries of a table: as many as are shown without folding
LONGEST = 120  # characters of a query's text in a table
CLEARLY = Column("clear", "count", hint="1 if the difference is clear")
PLACE = Column("place", "count", hint="queries, sorted by difference")
BARS = 6000  # bars of a chart; of more queries those that differ least are left out


def charts_of(family: Family) -> Iterator[Chart]:
    """All charts of a comparison."""
    yield from forests(family)
    yield from outcome_counts(family)
    pairs = [c for c in rivals(family) if c.queries][:FEW]
    names = file_names(pairs)
    for c in pairs:
        if c.differing:
            name = names[c.run, c.baseline]
            yield waterfall(c, name)
            yield scatter(c, name)


def rivals(family: Family) -> list[Contrast]:
    """The contrasts on the primary metric, those first in which the run is furthest ahead."""
    sign = family.primary.sign or 1
    return sorted(family.of(family.primary.name), key=lambda c: -sign * c.difference)


def forests(family: Family) -> Iterator[Chart]:
    """The differences of the means with their adjusted intervals, as one chart, or for metrics of wide ranges several small ones."""
    first, *others = family.panels
    alike = [panel for panel in others if _wide(panel) == _wide(first)]
    unlike = [panel for panel in others if _wide(panel) != _wide(first)]
    alone = len(family.of(first.name)) == 1
    yield from _forest(family, [first, *alike] if alone else [first], "forest", by_metric=alone)
    if alike and not alone:
        yield from _forest(family, alike, "forest-others")
    for i, panel in enumerate(unlike, start=2):
        yield from _forest(family, [panel], f"forest-{i}", by_metric=alone)


def _wide(panel: Panel) -> bool:
    """True if differences may far exceed the range of a share; an unknown range is judged by the values."""
    low, high = panel.measure.range
    if math.isfinite(high - low):
        return high - low > LARGE
    known = panel.values[~np.isnan(panel.values)]
    return bool(known.size) and float(np.abs(known).max()) > LARGE


def _forest(family: Family, panels: Sequence[Panel], name: str, by_metric: bool = False) -> Iterator[Chart]:
    rows: list[tuple[Value, ...]] = []
    for panel in panels:
        label = f"{panel.name} (lower is better)" if panel.sign < 0 else panel.name
        for c in _in_order(family, panel):
            value = value_range(c.difference, c.shown)
            if value is not None:
                names = (label, c.run) if by_metric else (name_of(family, c), label)
                rows.append((*names, value, p_cell(c.p_value_adjusted), c.verdict, c.queries, int(c.verdict in CLEAR)))
    if not rows:
        return
    heads = ("metric", "run") if by_metric else ("run", "metric")
    columns = (
        *map(Column, heads), Column("difference", "value", hint=_difference(family)), Column("p", "value", hint=p_in_words(family)),
        Column("verdict"), Column("queries", "count"), CLEARLY,
    )  # fmt: skip
    c = family.of(panels[0].name)[0]
    if family.each_pair:
        title = f"Differences of pairs on {panels[0].name}"
    else:
        which = f"{c.run} against {c.baseline}" if by_metric else f"Differences from {family.baseline or c.baseline}"
        title = which if len(panels) > 1 else f"{which} on {panels[0].name}"
    several = len(panels) > 1 and not by_metric
    yield Chart(
        name, f"{title}, other metrics" if several else title, "intervals", columns, tuple(rows),
        x="difference", y=heads[0], panel="metric" if several else "", series="verdict", marked="clear", guide="zero",
        caption=_how_to_read(family, panels), axes=(("difference", _on_the_axis(family, panels, by_metric)),),
    )  # fmt: skip


def _in_order(family: Family, panel: Panel) -> list[Contrast]:
    """The contrasts on a metric, the runs in order of merit on the primary one; of many pairs those that differ most."""
    mine = family.of(panel.name)
    if family.each_pair:
        return sorted(mine, key=lambda c: -np.nan_to_num(abs(c.difference)))[:ROOM]
    place = {run: i for i, run in enumerate(family.primary.means)}
    return sorted(mine, key=lambda c: place[c.run])


def _difference(family: Family) -> str:
    return "the first of the pair minus the second" if family.each_pair else "run minus baseline"


def _on_the_axis(family: Family, panels: Sequence[Panel], by_metric: bool) -> str:
    c = family.of(panels[0].name)[0]
    of = "difference" if len(panels) > 1 else f"{panels[0].name}: difference"
    if family.each_pair:
        return f"{of} ({_difference(family)})"
    return f"{of}, {c.run} minus {c.baseline}" if by_metric else f"{of} from {family.baseline or c.baseline}"


def _how_to_read(family: Family, panels: Sequence[Panel]) -> str:
    left = len(family.of(panels[0].name)) - ROOM
    more = f" The {ROOM} largest differences. {left:,} more are not drawn." if family.each_pair and left > 0 else ""
    return (
        f"Difference of the means, {_difference(family)}, with {interval_in_words(family)}. {side_of(panels)} "
        f"An interval that includes 0 is drawn fainter: no clear difference.{more}"
    )


def side_of(panels: Sequence[Panel]) -> str:
    """Which side of 0 is better in a chart of differences on these metrics."""
    ways = {panel.sign for panel in panels}
    if len(ways) > 1:
        return "Right of 0 is better, except for metrics marked otherwise."
    return {
        1: "Right of 0 is better.",
        -1: "Left of 0 is better, as lower is.",
        0: f"{panels[0].name}: no direction is better.",
    }[ways.pop()]


def outcome_counts(family: Family) -> Iterator[Chart]:
    """Queries better, same and worse: one row per metric for one rival, else one row per run on the primary metric."""
    alone = len(family.of(family.primary.name)) == 1
    mine = family.contrasts if alone else _in_order(family, family.primary)
    rows: list[tuple[Value, ...]] = []
    for c in mine:
        up, down = outcomes_of(c)
        name = c.metric if alone else name_of(family, c)
        rows += [(name, up, c.wins), (name, "same", c.ties), (name, down, c.losses)]
    if not any(row[2] for row in rows):
        return
    head = "metric" if alone else "run"
    against = "the other of the pair" if family.each_pair else mine[0].baseline
    yield Chart(
        "win-loss", f"Queries better, same and worse{'' if alone else f' on {family.primary.name}'}", "stacked",
        (Column(head), Column("outcome"), Column("queries", "count")), tuple(rows),
        x="queries", y=head, series="outcome",
        caption=f"On how many queries {mine[0].run if alone else 'a run'} scores better than {against}, the same, or worse. "
        "A small lead on many queries and a large one on few are different things.",
        axes=(("queries", f"queries, {mine[0].run} against {against}" if alone else f"queries, by {family.primary.name} against {against}"),),
    )  # fmt: skip


def waterfall(c: Contrast, name: str) -> Chart:
    """The difference of every query, the best first; one bar per query, to be looked into."""
    ids, gains, which = query_ids(c), c.paired.gains, outcomes(c)
    order = best_first(c).tolist()
    places = list(enumerate(order, start=1))
    if len(places) > BARS:
        kept = set(np.argsort(-np.abs(gains), kind="stable")[:BARS].tolist())
        places = [(place, i) for place, i in places if i in kept]
    rows = tuple((place, float(gains[i]), which[i], ids[i]) for place, i in places)
    left = len(order) - len(rows)
    rest = f" {words.counted(left, 'query')} with smaller or no differences {words.agree(left, 'is')} left out."
    more = rest if left else ""
    return Chart(
        f"waterfall-{name}", f"{c.run} against {c.baseline}, query by query", "ordered",
        (PLACE, Column("difference", "value", hint=f"{c.metric}, {c.run} minus {c.baseline}"), Column("outcome"), Column("query", queries=True)), rows,
        x="place", y="difference", series="outcome", query="query", guide="zero", pair=(c.baseline, c.run),
        caption=f"The difference in {c.metric} on every query, {c.run} minus {c.baseline}, sorted. Equal areas on both sides: gains "
        f"and losses cancel out. A few tall bars on one side: a few queries account for the lead.{more}{unevenness(c.panel)}",
        axes=(("difference", f"{c.metric}: {c.run} minus {c.baseline}"),),
    )  # fmt: skip


def scatter(c: Contrast, name: str) -> Chart:
    """One run against the other, one point per pair of values; queries of equal values are one point that tells how many they are."""
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
    crowd = f" One mark may be several queries (up to {most:,})." if most > 1 else ""
    above = {1: "better", -1: "worse", 0: "higher"}[c.panel.sign]
    columns = (
        Column(x, "value"), Column(y, "value"), Column("outcome"), Column("queries", "count"), Column("query", queries=True),
        Column("which"),
    )  # fmt: skip
    return Chart(
        f"scatter-{name}", f"{c.run} against {c.baseline} on {c.metric}", "points", columns, tuple(rows),
        x=x, y=y, series="outcome", query="query", guide="equal", pair=(c.baseline, c.run), limits=_limits(c),
        caption=f"Each mark is a query: {c.run} is {above} than {c.baseline} above the diagonal, and equal on it.{crowd}",
    )  # fmt: skip


def _limits(c: Contrast) -> tuple[float, float] | None:
    """One axis for both runs: from the lowest value there can be to the highest there is."""
    values = np.concatenate([c.paired.run, c.paired.baseline])
    low = c.panel.measure.range[0]
    low, high = float(low if math.isfinite(low) else values.min()), float(values.max())
    return (low, high) if low < high else None


def query_ids(c: Contrast) -> list[str]:
    """The ids of the queries for which both runs have a value, in their order."""
    return [query for query, kept in zip(c.panel.units, c.paired.inside.tolist(), strict=True) if kept]


def outcomes_of(c: Contrast) -> tuple[str, str]:
    """What a gain and a loss are called."""
    return ("better", "worse") if c.panel.sign else ("higher", "lower")


def outcomes(c: Contrast) -> list[str]:
    """What each query is: better, worse or same; higher and lower on a metric without a direction."""
    up, down = outcomes_of(c)
    signs = np.sign((c.panel.sign or 1) * c.paired.gains)
    return [up if sign > 0 else down if sign < 0 else "same" for sign in signs.tolist()]


def best_first(c: Contrast) -> Array:
    """The numbers of the queries, those that gain most first; equal ones in the order of the queries."""
    return np.argsort(-(c.panel.sign or 1) * c.paired.gains, kind="stable")


def by_size(c: Contrast) -> list[int]:
    """The numbers of the queries that differ, those that differ most first; equal ones in their order."""
    gains = c.paired.gains
    return [i for i in np.argsort(-np.abs(gains), kind="stable").tolist() if gains[i]]


def differing_queries(c: Contrast, name: str, texts: Mapping[str, str]) -> Table:
    """The queries that differ most, in either direction, with both values."""
    ids, gains, which = query_ids(c), c.paired.gains, outcomes(c)
    order = by_size(c)
    chosen = order[:MOST]
    has_texts = any(ids[i] in texts for i in chosen)
    columns = (
        Column("query", queries=True),
        *([Column("text", wraps=True)] if has_texts else []),
        Column("baseline", "value", hint=f"{c.metric} of {c.baseline}"),
        Column("run", "value", hint=f"{c.metric} of {c.run}"),
        Column("difference", "value", hint=f"{c.run} minus {c.baseline}"),
        Column("outcome"),
    )
    rows: list[tuple[Value, ...]] = []
    for i in chosen:
        text = [words.short(texts.get(ids[i], ""), LONGEST)] if has_texts else []
        rows.append(
            (ids[i], *text, float(c.paired.baseline[i]), float(c.paired.run[i]), signed_cell(float(gains[i])), which[i])
        )
    left = len(order) - len(chosen)
    differ = words.counted(left, "more query differs", "more queries differ")
    note = f"{differ} ({words.share(left / c.queries, 1)} of all)" if left else ""
    return Table(
        columns, tuple(rows), note=note, name=f"differing-{name}", pair=(c.baseline, c.run),
        title=f"Queries on which {c.run} and {c.baseline} differ most",
    )  # fmt: skip


def pair_differences(order: Sequence[str], contrasts: Sequence[Contrast]) -> Chart:
    """Differences of all pairs of systems as a picture; a system against itself differs by 0."""
    rows: list[tuple[Value, ...]] = []
    for row, column, c, turned in square(order, contrasts):
        difference = 0.0 if c is None else words.finite(turned * c.difference + 0.0)
        if difference is not None:
            p_value, clear = (None, 0) if c is None else (p_cell(c.p_value_adjusted), int(c.verdict in CLEAR))
            rows.append((row, column, difference, p_value, clear))
    panel = contrasts[0].panel
    columns = (
        Column("run"), Column("against"), Column("difference", "value", hint="run minus the one it is against"),
        Column("p", "value", hint="after the correction, if there is one"), CLEARLY,
    )  # fmt: skip
    return Chart(
        "pairs-differences", f"Differences on {panel.name}", "heat", columns, tuple(rows), x="against", y="run", colour="difference",
        middle=0.0, caption=f"The row minus the column ({DIRECTIONS[panel.measure.better]}), the best run first. The table below shows which differences are clear.",
    )  # fmt: skip


def pair_p_values(order: Sequence[str], contrasts: Sequence[Contrast], note: str) -> Table:
    """The p-values of all pairs as a square; clear differences are stressed."""
    cells = {(row, column): c for row, column, c, _ in square(order, contrasts)}
    rows: list[tuple[Value, ...]] = []
    clear = set()
    for i, row in enumerate(order):
        mine = [cells[row, column] for column in order]
        rows.append((row, *(None if c is None else p_cell(c.p_value_adjusted) for c in mine)))
        clear |= {(i, j) for j, c in enumerate(mine, start=1) if c is not None and int(c.verdict in CLEAR)}
    columns = (Column("run"), *(Column(name, "value") for name in order))
    title = f"p-values on {contrasts[0].metric}"
    return Table(columns, tuple(rows), best=frozenset(clear), note=note, name="pairs-p", title=title)


def name_of(family: Family, c: Contrast) -> str:
    """What a contrast is called where its family is known: by its run, or of all pairs by both."""
    return f"{c.run} {words.MINUS} {c.baseline}" if family.each_pair else c.run


def interval_in_words(family: Family) -> str:
    """What the intervals of differences are: ``the corrected 95% interval (paired t test, Holm over 2 comparisons)``."""
    return f"the {'corrected ' if is_corrected(family) else ''}{words.percent(family.method.level)} interval ({method_in_words(family)})"


def p_in_words(family: Family) -> str:
    """What the p-values of a comparison are."""
    return f"{'corrected ' if is_corrected(family) else ''}p-value ({method_in_words(family)})"


def is_corrected(family: Family) -> bool:
    """Whether p-values and intervals are corrected for several comparisons."""
    return family.size > 1 and family.method.correction.corrects


def method_in_words(family: Family) -> str:
    """The test, its correction, and the clusters that queries come in."""
    codes = family.primary.clusters
    return how(family) + ("" if codes is None else f", queries in {words.counted(int(codes.max()) + 1, 'cluster')}")


def unevenness(panel: Panel) -> str:
    """What a picture of single queries does not show of the mean; nothing for a plain one."""
    if panel.measure.aggregate == "pooled":
        return f" {panel.name} over all is computed from the documents of all queries together, not as a mean of the slices."
    if panel.measure.aggregate == "geometric":
        return " The mean is geometric: values near 0 weigh more in it than this shows."
    return " Queries have different weights in the mean, which this does not show." if panel.weights is not None else ""


def file_names(contrasts: Sequence[Contrast]) -> Mapping[tuple[str, str], str]:
    """What the files of each pair are called, ``hybrid-against-bm25``: letters and digits, not too long, each its own."""
    out: dict[tuple[str, str], str] = {}
    for c in contrasts:
        name = "-against-".join(slug(part) or "run" for part in (c.run, c.baseline))
        tries = (name, *(f"{name}-{number}" for number in range(2, len(contrasts) + 1)))
        out[c.run, c.baseline] = next(one for one in tries if one not in out.values())
    return out


def slug(text: str, most: int = 18) -> str:
    """A name within the name of a file: small letters and digits of ASCII, joined by hyphens."""
    kept = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in text.lower())
    return "-".join(kept.split())[:most].strip("-")
