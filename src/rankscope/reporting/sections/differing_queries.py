"""One run against another, query by query: sorted differences, one against the other, and the queries that differ most."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rankscope.blocks import Block, Chart, Column, Paragraph, Section, Table, Value
from rankscope.lists import Array
from rankscope.panels.contrast import Contrast
from rankscope.panels.method import FEWEST
from rankscope.panels.verdicts import counted, percent
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import FEW, files_of, query_ids, rivals_of, short, some, weighed

BARS = 6000  # bars of a chart; of more queries those that differ least are left out
MOST = 30  # queries of a table: as many as are shown without folding
LONGEST = 120  # signs of a query's text in a table
TOP = 10  # queries whose share of the gain is told


def section(subject: Subject) -> Section | None:
    """Per rival each query's difference: in order, one run against the other, and the queries that differ most."""
    rivals = [c for c in rivals_of(subject) if c.queries][:FEW]
    if not rivals:
        return None
    files = files_of(rivals)
    blocks: list[Block | Chart] = []
    for c in rivals:
        file = files[c.run, c.baseline]
        if c.differing:
            blocks += [waterfall(c, file), scatter(c, file), extreme(c, file, subject.queries_text)]
        else:
            said = f"{c.run} and {c.baseline} score the same on {c.metric} on {counted(c.queries)}."
            blocks.append(Paragraph(said))
    assert subject.comparison is not None
    left = len(subject.comparison.of(subject.comparison.primary)) - len(rivals)
    if left > 0:
        said = f"Shown are the {len(rivals)} pairs whose means differ most in favour of the run, of {len(rivals) + left:,}."
        blocks.append(Paragraph(said, quiet=True))
    return Section("by-query", "Query by query: where they differ", tuple(blocks), _lead(rivals[0]))


def _lead(c: Contrast) -> str:
    """How few queries carry the difference of the first rival."""
    pair = f"{c.run} against {c.baseline} on {c.metric}"
    if not c.differing:
        return f"{pair}: nothing changes on any of {counted(c.queries)}."
    said, share = [], carried_by_top(c)
    if share is not None:
        what = f"is {'gained' if c.improved else 'lost'}" if c.measured.sign else "changes the way of the mean"
        said.append(f"{TOP} queries carry {share:.0%} of all that {what}")
    said += [one for one in (_carried(c),) if one]
    return f"{pair}: {'; '.join(said) or f'{c.differing:,} of {counted(c.queries)} differ'}."


def _carried(c: Contrast) -> str:
    """How many queries carry the lead; nothing where there is none, too few queries, or all that favour it are needed."""
    if c.favourable is None or c.queries < FEWEST:
        return ""
    (count, part), ahead = c.favourable, c.run if c.improved else c.baseline
    if count >= int(np.count_nonzero(c.paired.gains * c.difference > 0)):
        return ""
    which = f"the {counted(count)} that favour{'s' if count == 1 else ''} {ahead} most"
    if not c.measured.sign:
        which = f"the {counted(count)} that differ{'s' if count == 1 else ''} most that way"
    lead = "the lead" if c.measured.sign else "the difference"
    return f"without {which} ({part:.1%} of all) {lead} is gone"


def carried_by_top(c: Contrast, most: int = TOP) -> float | None:
    """The share that the largest differences have of all that go the way of the mean; None where there are no more, or they weigh unevenly."""
    aggregate = c.measured.metric.aggregate if c.measured.metric is not None else "mean"
    if c.measured.weights is not None or aggregate not in {"mean", "sum"} or not c.difference:
        return None
    ahead = sorted((abs(g) for g in c.paired.gains.tolist() if g * c.difference > 0), reverse=True)
    return math.fsum(ahead[:most]) / math.fsum(ahead) if len(ahead) > most else None


def outcomes(c: Contrast) -> list[str]:
    """What each query is: better, worse or same; higher and lower on a metric without a direction."""
    up, down = ("better", "worse") if c.measured.sign else ("higher", "lower")
    signs = np.sign((c.measured.sign or 1) * c.paired.gains)
    return [up if sign > 0 else down if sign < 0 else "same" for sign in signs.tolist()]


def best_first(c: Contrast) -> Array:
    """The numbers of the queries, those that gain most first; equal ones in the order of the queries."""
    return np.argsort(-(c.measured.sign or 1) * c.paired.gains, kind="stable")


def waterfall(c: Contrast, file: str) -> Chart:
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
        f"waterfall-{file}",
        f"{c.run} against {c.baseline}, query by query",
        "ordered",
        (Column("place", "count"), Column("difference", "value"), Column("outcome"), Column("query", queries=True)),
        rows,
        x="place",
        y="difference",
        series="outcome",
        query="query",
        guide="zero",
        pair=(c.baseline, c.run),
        caption=f"The difference in {c.metric} on every query, {c.run} minus {c.baseline}, sorted. Two even flanks: they differ "
        f"by query, with little in the mean. A few tall bars on one side: few queries carry the lead.{more}{weighed(c.measured)}",
    )


def scatter(c: Contrast, file: str) -> Chart:
    """One run against the other, a point a pair of values; queries of equal values are one point that tells how many they are."""
    ids, which = query_ids(c.measured, c.paired.inside), outcomes(c)
    x, y = f"{c.metric} of {c.baseline}", f"{c.metric} of {c.run}"
    at: dict[tuple[float, float], list[int]] = {}
    for i, pair in enumerate(zip(c.paired.baseline.tolist(), c.paired.run.tolist(), strict=True)):
        at.setdefault(pair, []).append(i)
    rows: list[tuple[Value, ...]] = [
        (*pair, which[here[0]], len(here), ids[here[0]], some([ids[i] for i in here], 3) if len(here) > 1 else "")
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
        f"scatter-{file}",
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


def extreme(c: Contrast, file: str, texts: Mapping[str, str]) -> Table:
    """The queries that differ most, whichever way, with both values; ties in the order of the queries."""
    ids, gains = query_ids(c.measured, c.paired.inside), c.paired.gains
    order = [i for i in np.argsort(-np.abs(gains), kind="stable").tolist() if gains[i]]
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
    which = outcomes(c)
    rows: list[tuple[Value, ...]] = [
        (
            ids[i],
            *([short(texts.get(ids[i], ""), LONGEST)] if told else []),
            float(c.paired.baseline[i]),
            float(c.paired.run[i]),
            float(gains[i]),
            which[i],
        )
        for i in chosen
    ]
    left = len(order) - len(chosen)
    more = f"{counted(left).replace(' ', ' more ')} {'differs' if left == 1 else 'differ'}"
    note = f"{more} ({percent(round(left / c.queries, 3))} of all)" if left else ""
    return Table(
        columns, tuple(rows), note=note, name=f"differing-{file}", pair=(c.baseline, c.run),
        title=f"Queries on which {c.run} and {c.baseline} differ most",
    )  # fmt: skip
