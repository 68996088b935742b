"""Where runs differ: by how much on each metric, on how many queries, and on which."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from rankscope.blocks import Block, Chart, Column, Heading, Paragraph, Section, Value
from rankscope.verbs.comparison.compare import Comparison
from rankscope.verbs.comparison.compare_tables import ROOM, in_order_of_merit
from rankscope.verbs.comparison.compared import how
from rankscope.verbs.comparison.contrast import Contrast
from rankscope.verbs.comparison.measured import Measured
from rankscope.verbs.comparison.method import FEWEST
from rankscope.verbs.comparison.sentences import counted, p_of, percent
from rankscope.verbs.reporting.differing_queries import extreme, scatter, waterfall
from rankscope.verbs.reporting.subject import Subject
from rankscope.verbs.reporting.wording import FEW, each_pair, is_clear, name_of, ranged, rivals_of, way

LARGE = 2.0  # differences on a metric of a wider range have a scale of their own
TOP = 10  # queries whose share of the gain is told


def section(subject: Subject) -> Section | None:
    """Differences with their intervals, counts of queries, and per rival each query's difference."""
    found = subject.comparison
    if found is None:
        return None
    blocks: list[Block | Chart] = [*forests(found), *_without(found), *_counts(found)]
    rivals = [c for c in rivals_of(subject) if c.queries][:FEW]
    for number, c in enumerate(rivals, start=1):
        if len(found.contrasts) > len(found.fields):
            blocks.append(Heading(f"{c.run} against {c.baseline}"))
        if c.differing:
            blocks += [waterfall(c, number), scatter(c, number), extreme(c, number, subject.queries_text)]
        else:
            blocks.append(
                Paragraph(f"{c.run} and {c.baseline} score the same on {c.metric} on {counted(c.queries)}.")
            )
    left = len(found.of(found.primary)) - len(rivals)
    if left > 0 and rivals:
        said = f"Query by query: the {len(rivals)} pairs whose means differ most, of {len(rivals) + left:,}."
        blocks.append(Paragraph(said, quiet=True))
    return Section("differences", "Differences", tuple(blocks), _lead(rivals))


def _lead(rivals: Sequence[Contrast]) -> str:
    """On how many queries the first rival differs, and how few carry the lead."""
    if not rivals:
        return "No query has a value for two of the runs."
    c = rivals[0]
    pair = f"{c.run} against {c.baseline} on {c.metric}"
    if not c.differing:
        return f"{pair}: nothing changes on any of {counted(c.queries)}."
    up, down = ("better", "worse") if c.measured.sign else ("higher", "lower")
    said = f"{pair}: {counted(c.wins)} {up}, {c.losses:,} {down}"
    said += f"; on {c.ties:,} of {c.queries:,} nothing changes" if c.ties else f" of {c.queries:,}"
    share = carried_by_top(c)
    if share is not None:
        what = (
            f"all that is {'gained' if c.improved else 'lost'}" if c.measured.sign else "the change that way"
        )
        said += f". {TOP} queries carry {share:.0%} of {what}"
    return f"{said}{_carried(c)}."


def _carried(c: Contrast) -> str:
    """How many queries carry the lead; nothing where there is none, or too few queries."""
    if c.favourable is None or c.queries < FEWEST:
        return ""
    (count, part), ahead = c.favourable, c.run if c.improved else c.baseline
    which = f"the {counted(count)} that favour{'s' if count == 1 else ''} {ahead} most"
    if not c.measured.sign:
        which = f"the {counted(count)} that differ{'s' if count == 1 else ''} most that way"
    return (
        f"; without {which} ({part:.1%} of all) {'the lead' if c.measured.sign else 'the difference'} is gone"
    )


def carried_by_top(c: Contrast, most: int = TOP) -> float | None:
    """The share that the largest differences have of all that go the way of the mean; None where there are no more, or they weigh unevenly."""
    aggregate = c.measured.metric.aggregate if c.measured.metric is not None else "mean"
    if c.measured.weights is not None or aggregate not in {"mean", "sum"} or not c.difference:
        return None
    ahead = sorted((abs(g) for g in c.paired.gains.tolist() if g * c.difference > 0), reverse=True)
    return math.fsum(ahead[:most]) / math.fsum(ahead) if len(ahead) > most else None


# --- means ---------------------------------------------------------------------------------------


def forests(found: Comparison) -> Iterator[Chart]:
    """The differences of the means with their adjusted intervals, as one chart or several small ones.

    With one rival a row is a metric, else a row is a run and the leading metric has a chart of its own. A metric of a wide
    range (a count, a total) does not share its scale with others.
    """
    first, *others = found.fields
    alike = [field for field in others if _wide(field) == _wide(first)]
    unlike = [field for field in others if _wide(field) != _wide(first)]
    if len(found.of(first.name)) == 1:
        yield from _forest(found, [first, *alike], "forest", by_metric=True)
        for i, field in enumerate(unlike, start=2):
            yield from _forest(found, [field], f"forest-{i}", by_metric=True)
        return
    yield from _forest(found, [first], "forest")
    if alike:
        yield from _forest(found, alike, "forest-others")
    for i, field in enumerate(unlike, start=2):
        yield from _forest(found, [field], f"forest-{i}")


def _wide(field: Measured) -> bool:
    """Whether differences may be far beyond those of a share; scores of an unknown range tell by their values."""
    low, high = field.bounds
    if math.isfinite(high - low):
        return high - low > LARGE
    known = field.values[~np.isnan(field.values)]
    return bool(known.size) and float(np.abs(known).max()) > LARGE


def _forest(
    found: Comparison, fields: Sequence[Measured], name: str, by_metric: bool = False
) -> Iterator[Chart]:
    rows: list[tuple[Value, ...]] = []
    for field in fields:
        label = f"{field.name} (lower is better)" if field.sign < 0 else field.name
        for c in _in_order(found, field):
            value = ranged(c.difference, c.adjusted)
            if value is not None:
                names = (label, c.run) if by_metric else (name_of(found, c), label)
                rows.append((*names, value, p_of(c.p_value_adjusted), c.verdict, c.queries, is_clear(c)))
    if not rows:
        return
    heads = ("metric", "run") if by_metric else ("run", "metric")
    columns = (
        *map(Column, heads),
        Column("difference", "value", hint=_difference(found)),
        Column("evidence"),
        Column("verdict"),
        Column("queries", "count"),
        Column("clear", "count", hint="1 where the two are told apart"),
    )
    c = found.of(fields[0].name)[0]
    if each_pair(found):
        title = f"Differences of pairs on {fields[0].name}"
    else:
        which = f"{c.run} against {c.baseline}" if by_metric else f"Differences from {found.baseline}"
        title = which if len(fields) > 1 else f"{which} on {fields[0].name}"
    several = len(fields) > 1 and not by_metric
    yield Chart(
        name, title if len(fields) == 1 or by_metric else f"{title}, other metrics", "intervals", columns, tuple(rows),
        x="difference", y=heads[0], panel="metric" if several else "", marked="clear", guide="zero",
        caption=_read(found, fields),
    )  # fmt: skip


def _in_order(found: Comparison, field: Measured) -> list[Contrast]:
    """The contrasts on a metric, the runs in order of merit on the leading one; of many pairs those that differ most."""
    mine = found.of(field.name)
    if each_pair(found):
        return sorted(mine, key=lambda c: -np.nan_to_num(abs(c.difference)))[:ROOM]
    place = {run: i for i, run in enumerate(in_order_of_merit(found.fields[0]))}
    return sorted(mine, key=lambda c: place[c.run])


def _difference(found: Comparison) -> str:
    return "run minus baseline" if not each_pair(found) else "the first of the pair minus the second"


def _read(found: Comparison, fields: Sequence[Measured]) -> str:
    """How to read a forest."""
    left = len(found.of(fields[0].name)) - ROOM
    more = (
        f" The {ROOM} largest differences; {left:,} more are not drawn."
        if each_pair(found) and left > 0
        else ""
    )
    ways = {field.sign for field in fields}
    read = {
        1: "Right of 0 is better.",
        -1: "Left of 0 is better, as lower is.",
        0: f"{fields[0].name}: {way(fields[0])}.",
    }
    said = read[ways.pop()] if len(ways) == 1 else "Right of 0 is better, but for metrics marked otherwise."
    return (
        f"Difference of the means, {_difference(found)}, with the {percent(found.method.level)} interval ({how(found)}). {said} "
        f"An interval that holds 0 is drawn fainter: the two cannot be told apart.{more}"
    )


def _without(found: Comparison) -> Iterator[Paragraph]:
    """What is not drawn, and why."""
    bare = [c for c in found.contrasts if ranged(c.difference, c.adjusted) is None]
    if bare:
        c = bare[0]
        reason = c.adjusted.reason or c.bounds.reason or "it has no end"
        more = f" (and {len(bare) - 1:,} more)" if len(bare) > 1 else ""
        yield Paragraph(
            f"No interval, so not drawn: {c.run} against {c.baseline} on {c.metric}{more}: {reason}.",
            quiet=True,
        )


# --- counts --------------------------------------------------------------------------------------


def _counts(found: Comparison) -> Iterator[Chart]:
    """Queries better, same and worse: a row a metric for one rival, else a row a run on the leading metric."""
    alone = len(found.of(found.primary)) == 1
    mine = (
        [c for field in found.fields for c in found.of(field.name)]
        if alone
        else _in_order(found, found.fields[0])
    )
    rows: list[tuple[Value, ...]] = []
    for c in mine:
        up, down = ("better", "worse") if c.measured.sign else ("higher", "lower")
        name = c.metric if alone else name_of(found, c)
        rows += [(name, up, c.wins), (name, "same", c.ties), (name, down, c.losses)]
    if not any(row[2] for row in rows):
        return
    head = "metric" if alone else "run"
    on = "" if alone else f" on {found.primary}"
    against = "the other of the pair" if each_pair(found) else found.baseline
    yield Chart(
        "win-loss", f"Queries better, same and worse{on}", "stacked",
        (Column(head), Column("outcome"), Column("queries", "count")), tuple(rows),
        x="queries", y=head, series="outcome",
        caption=f"On how many queries {mine[0].run if alone else 'a run'} scores better than {against}, the same, or worse. "
        "A small lead on many queries and a large one on few are different things.",
    )  # fmt: skip
