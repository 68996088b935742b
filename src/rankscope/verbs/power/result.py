"""Plans as blocks: the sentence first, then what can be shown, what it takes, and what was assumed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from rankscope.blocks import EMPTY, Block, Column, Heading, Notes, Paragraph, Table, Value
from rankscope.panels.reach import Overall, Reach
from rankscope.panels.verdicts import number, rounded, signed
from rankscope.show.result import caution_notes
from rankscope.verbs.power.power import Plan
from rankscope.verbs.power.topics import level_in_words

FOR_X = "for X: queries needed to show X (the power for it now)"
ROOM = 30  # pairs that are read at one go; of more, only the summary is shown


def blocks_of(found: Plan, details: bool = False) -> list[Block]:
    """The sentence, the tables, what to doubt, and the formula with what it assumes."""
    blocks: list[Block] = [Paragraph(sentence(found)), *_tables(found, details)]
    doubts = caution_notes(found.warnings)
    blocks += [EMPTY, *([Notes(tuple(doubts))] if doubts else [])]
    return [*blocks, Paragraph(" · ".join(_small_print(found)), quiet=True)]


# --- in words --------------------------------------------------------------------------------------


def sentence(found: Plan) -> str:
    """What the queries can show on the first metric that has something to say, and what more would take."""
    if found.given is None:
        return _of_deviation(found)
    first = found.summary[0]
    known = [reach for reach in found.of(first.metric) if not reach.reason]
    show = f"{_these(found, known)}, {first.metric} can show a difference of about {number(first.detectable.median)}"
    chance = f"with {_share(found.aim.power)} power"
    apart = _most_apart(found, first.metric)
    if first.detectable.median > apart:
        return (
            f"{_these(found, known)}, {first.metric} can show no difference {chance}: it would have to be about "
            f"{number(first.detectable.median)}, and no two runs are more than {apart:g} apart; {_more(first, found.aim.power)}."
        )
    if len(known) == 1:
        one = known[0]
        low, high = number(one.detectable.low), number(one.detectable.high)
        show += f" ({low} to {high}) between {one.baseline} and {one.run} {chance}"
    else:
        low, high = number(first.detectable.low), number(first.detectable.high)
        show += f" {chance} (the median of {first.pairs:,} pairs of runs; {low} to {high})"
    return f"{show}; {_more(first, found.aim.power)}."


def _most_apart(found: Plan, metric: str) -> float:
    """How far apart two runs can be."""
    low, high = (
        next(field.bounds for field in found.given.fields if field.name == metric) if found.given else (0, 1)
    )
    return high - low


def _these(found: Plan, known: Sequence[Reach]) -> str:
    counts = {reach.queries for reach in known}
    count = f"{counts.pop():,}" if len(counts) == 1 else ""
    if found.aim.n is None:
        return f"With these {count} queries".replace("  ", " ")
    return f"With {found.aim.n:,} queries like these {count}".rstrip()


def _more(first: Overall, power: float) -> str:
    """The largest difference that is not within reach, or else the smallest, which is."""
    beyond = [i for i, share in enumerate(first.power) if share.median < power]
    if not beyond:
        return f"{first.differences[0]:g} would be found with {_share(first.power[0].median)} power"
    at = first.queries[beyond[-1]]
    needed = f"{first.differences[beyond[-1]]:g} would need some {_count(at.median)} queries"
    return needed if at.low == at.high else f"{needed} ({_count(at.low)} to {_count(at.high)})"


def _of_deviation(found: Plan) -> str:
    reach = found.reaches[0]
    spread = f"where differences have a standard deviation of {reach.deviation:g}"
    power = f"with {_share(found.aim.power)} power"
    if found.aim.n is not None:
        show = f"{found.aim.n:,} queries can show a difference of about {number(reach.detectable.difference)} {power}"
        return f"{show}, {spread}."
    wanted = reach.wanted[-1]
    return f"A difference of {wanted.difference:g} needs {wanted.queries:,} queries to be shown {power}, {spread}."


# --- tables ----------------------------------------------------------------------------------------


def _tables(found: Plan, details: bool) -> Iterator[Block]:
    if found.given is None:
        yield EMPTY
        yield _wanted_table(found)
        return
    if len(found.of(found.metrics[0])) == 1:
        one = found.reaches[0]
        yield EMPTY
        yield Heading(f"{one.run} against {one.baseline}")
        yield from _both(found, list(found.reaches), lambda reach: (reach.metric,), ("metric",))
        return
    for metric in found.metrics if details else found.metrics[:1]:
        yield from _of_metric(found, metric, details)
    if len(found.metrics) > 1 and not details:
        yield EMPTY
        yield Heading("all metrics, the median over pairs of runs")
        yield _overall_table(found)


def _of_metric(found: Plan, metric: str, details: bool) -> Iterator[Block]:
    mine = found.of(metric)
    against = f", against {found.baseline}" if found.baseline else ""
    yield EMPTY
    yield Heading(f"{metric}{against}")
    ends = next((one for one in found.summary if one.metric == metric), None)
    if len(mine) > ROOM and not details and ends is not None:
        yield _ends_alone(found, ends)
    elif found.baseline:
        yield from _both(found, mine, lambda reach: (reach.run,), ("run",), metric)
    else:
        yield from _both(found, mine, lambda reach: (reach.run, reach.baseline), ("run", "against"), metric)


def _both(
    found: Plan,
    reaches: Sequence[Reach],
    label: Callable[[Reach], tuple[str, ...]],
    names: tuple[str, ...],
    metric: str = "",
) -> Iterator[Block]:
    """What the queries can show, and what other differences take; then both over all pairs of the metric."""
    ends = next((one for one in found.summary if one.metric == metric), None)
    labels, width = tuple(Column(name) for name in names), len(names)
    rows: list[tuple[Value, ...]] = [(*label(reach), *_shown(reach)) for reach in reaches]
    rows += [(*_padded(head, width), "", *cells, "", "") for head, *cells in _ends(ends)]
    columns = [Column(name, "value") for name in ("queries", "s", "detects", "range", "observed")]
    yield Table((*labels, *columns), tuple(rows), labels=width, note=_marks(found))
    asked = next(reach.asked for reach in found.reaches if not reach.reason)
    observed = any(reach.observed for reach in found.reaches)
    last = [""] if observed else []
    more = [(*label(reach), *_takes(reach, len(asked), observed)) for reach in reaches]
    more += [(*_padded(head, width), *cells, *last) for head, *cells in _ends_taken(ends)]
    heads = [f"{wanted.difference:g}" for wanted in asked] + (["observed"] if observed else [])
    yield EMPTY
    yield Paragraph(_taken_title(found))
    columns = [Column(head, "value") for head in heads]
    yield Table((*labels, *columns), tuple(more), labels=width, turns=True)


def _ends_alone(found: Plan, one: Overall) -> Table:
    """The median over pairs and the ends of their range, where there are too many pairs to show."""
    rows = tuple(
        (head, *cells, *taken[1:]) for (head, *cells), taken in zip(_ends(one), _ends_taken(one), strict=True)
    )
    heads = ["s", "detects", *(f"for {size:g}" for size in one.differences)]
    columns = (Column(f"{one.pairs:,} pairs"), *(Column(head, "value") for head in heads))
    return Table(columns, rows, note=f"{_marks(found, ranged=False)} · {FOR_X} · --details shows each pair")


def _padded(head: str, width: int) -> list[str]:
    return [head, *[""] * (width - 1)]


def _taken_title(found: Plan) -> str:
    return f"queries needed to show a difference of (in brackets: the power that {_have(found)} for it)"


def _have(found: Plan) -> str:
    return "these queries have" if found.aim.n is None else f"{found.aim.n:,} queries have"


def _shown(reach: Reach) -> tuple[Value, ...]:
    can = reach.detectable
    known = not math.isnan(can.difference)
    return (
        f"{reach.queries:,}",
        number(reach.deviation),
        number(can.difference) if known else None,
        f"{number(can.low)} to {number(can.high)}" if known else None,
        signed(reach.difference),
    )


def _takes(reach: Reach, asked: int, observed: bool) -> tuple[Value, ...]:
    seen = reach.observed
    cells: list[Value] = [f"{rounded(w.queries)} ({_share(w.power or 0)})" for w in reach.asked]
    cells = cells or [None] * asked
    return (*cells, *([rounded(seen.queries) if seen else None] if observed else []))


ENDS = (("median", "median", "median"), ("least", "low", "high"), ("most", "high", "low"))


def _ends(one: Overall | None) -> Iterator[tuple[str, ...]]:
    """The median over pairs and the ends of their range; nothing where there are no several pairs."""
    if one is None:
        return
    for name, end, _ in ENDS:
        yield name, number(getattr(one.deviation, end)), number(getattr(one.detectable, end))


def _ends_taken(one: Overall | None) -> Iterator[tuple[str, ...]]:
    """The same of what differences take; the pair that needs least has the most power."""
    if one is None:
        return
    for name, end, other in ENDS:
        yield (name, *_cells(one, end, other))


def _cells(one: Overall, end: str, other: str) -> list[str]:
    return [
        f"{_count(getattr(queries, end))} ({_share(getattr(power, other))})"
        for queries, power in zip(one.queries, one.power, strict=True)
    ]


def _overall_table(found: Plan) -> Table:
    """Metrics as rows: the medians over pairs."""
    first = found.summary[0]
    heads = [f"for {size:g}" for size in first.differences]
    columns = (
        Column("metric"),
        *(Column(name, "value") for name in ("pairs", "s", "detects", *heads)),
    )
    rows = tuple(
        (
            one.metric,
            f"{one.pairs:,}",
            number(one.deviation.median),
            number(one.detectable.median),
            *_cells(one, "median", "median"),
        )
        for one in found.summary
    )
    return Table(columns, rows, note=FOR_X, turns=True)


def _wanted_table(found: Plan) -> Table:
    """Differences as rows, where the deviation was given."""
    with_power = found.aim.n is not None
    columns = [Column("difference"), Column("queries needed", "value")]
    columns += [Column(f"power of {found.aim.n:,}", "value")] if with_power else []
    rows = tuple(
        (f"{w.difference:g}", f"{w.queries:,}", *([_share(w.power or 0)] if with_power else []))
        for w in found.reaches[0].wanted
    )
    return Table(tuple(columns), rows)


# --- small print -----------------------------------------------------------------------------------


def _marks(found: Plan, ranged: bool = True) -> str:
    queries = "these queries" if found.aim.n is None else f"{found.aim.n:,} such queries"
    marks = [
        "s: standard deviation of the differences",
        f"detects: what {queries} show with {_share(found.aim.power)} power",
        *(["range: at the ends of the 95% interval of s"] if ranged else []),
    ]
    return " · ".join(marks)


def _small_print(found: Plan) -> Iterator[str]:
    if found.given is not None:
        yield "for queries like these, drawn at random"
    yield "paired t test, two-sided: (t[1 - alpha/2] + t[power]) s / sqrt(n)"
    yield level_in_words(found.aim)
    if found.given is None:
        return
    if found.given.fields[0].clusters is not None:
        yield f"queries in {int(found.given.fields[0].clusters.max()) + 1:,} clusters, more of which are planned for"
    if any(reach.observed for reach in found.reaches):
        yield "the observed difference is uncertain itself: plan for the smallest that would matter"
    if found.given.scores is not None:
        yield found.given.scores.request.small_print()


def _count(value: float) -> str:
    return rounded(math.ceil(value))


def _share(value: float) -> str:
    """A share as people read it.

    >>> _share(0.8), _share(0.9997), _share(0.0504), _share(0.905)
    ('80%', '>99%', '5%', '90%')
    """
    if 0.99 < value < 1:
        return ">99%"
    return f"{value:.0%}"
