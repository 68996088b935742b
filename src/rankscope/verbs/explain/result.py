"""Explanations as blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import singledispatch
from typing import Any

from rankscope.blocks import EMPTY, Block, Column, Heading, Paragraph, Table, Value
from rankscope.panels.verdicts import counted, number
from rankscope.verbs.explain.difference import Difference, Moved
from rankscope.verbs.explain.explain import Explained, Sourced
from rankscope.verbs.explain.explanation import Explanation, Position

LISTED = 20  # documents, or queries, that a table shows
TOLD = 3  # documents that are told in words
SHOWN = 30  # positions that a terminal shows


@singledispatch
def blocks_of(found: Any) -> list[Block]:
    """The answer first, then the table it rests on."""
    raise TypeError(f"no explanation: {found!r}")


@blocks_of.register
def _explained(found: Explained) -> list[Block]:
    inside = found.found
    return _of_one(inside) if isinstance(inside, Explanation) else _of_two(inside)


@blocks_of.register
def _sourced(found: Sourced) -> list[Block]:
    before, after = found.runs
    count = len(found.by_query)
    moved = [(query, d) for query, d in found.by_query if d]
    if not moved:
        return [
            Paragraph(
                f"{after} and {before} are the same on {found.metric}, on every one of {counted(count)}."
            )
        ]
    blocks: list[Block] = [
        Paragraph(
            f"{after} against {before} on {found.metric}: {number(found.value, sign=True)} in the mean over {counted(count)}."
        )
    ]
    if found.carried is not None:
        many, share = found.carried
        blocks.append(
            Paragraph(
                f"{counted(many)} ({share:.0%}) {'carries' if many == 1 else 'carry'} the difference: without the most favourable the lead is gone."
            )
        )
    last = max((i for i, band in enumerate(found.bands) if band.adds), default=-1)
    rows: list[tuple[Value, ...]] = [(band.label, f"{band.adds:+.4f}") for band in found.bands[: last + 1]]
    if abs(found.rest) > 1e-12:
        rows.append(("what no rank adds", f"{found.rest:+.4f}"))
    queries: list[tuple[Value, ...]] = [(query, number(d, sign=True)) for query, d in moved[:LISTED]]
    return [
        *blocks,
        EMPTY,
        Heading("where it comes from"),
        Table((Column("ranks"), Column("adds", "value")), tuple(rows)),
        EMPTY,
        Heading(f"queries that moved most ({len(moved):,} of {count:,} moved)"),
        Table((Column("query"), Column("difference", "value")), tuple(queries)),
        *([Paragraph(f"next: --query {moved[0][0]} shows its documents", quiet=True)] if moved else []),
    ]


# --- one query, one run ---------------------------------------------------------------------------------


def _of_one(found: Explanation) -> list[Block]:
    names = list(dict.fromkeys(name for p in found.positions for name in p.factors))
    ideal = any(p.ideal_adds is not None for p in found.positions)
    columns = (
        Column("rank", "count"),
        Column("document"),
        Column("grade", "value"),
        *(Column(name if name not in {"grade", "rank"} else f"{name} ×", "value") for name in names),
        Column("adds", "value"),
        Column("so far", "value"),
        *((Column("perfect", "value"), Column("lost", "value")) if ideal else ()),
    )
    rows: list[tuple[Value, ...]] = [_row(p, names, ideal) for p in found.positions[:SHOWN]]
    out: list[Block] = [Paragraph(_headline(found)), EMPTY, Table(columns, tuple(rows), labels=2)]
    if len(found.positions) > SHOWN:
        out.append(
            Paragraph(f"{len(found.positions) - SHOWN:,} more ranks; --format json has all", quiet=True)
        )
    out += [Paragraph(f"{part.what}: {number(part.adds, sign=True)}") for part in found.rest]
    return [*out, *(Paragraph(text) for text in _remarks(found))]


def _row(p: Position, names: list[str], ideal: bool) -> tuple[Value, ...]:
    perfect: list[Value] = []
    if ideal:
        shown = "" if p.ideal_grade is None else f"{p.ideal_grade:g} ({p.ideal_adds:.3f})"
        lost = "-" if not p.lost or abs(p.lost) < 0.0005 else f"{p.lost:.3f}"
        perfect = [shown, lost]
    grade = "" if p.doc_id is None else "?" if p.grade is None else f"{p.grade:g}"
    factors = [f"{p.factors[name]:.3g}" if name in p.factors else "" for name in names]
    return (p.rank, p.doc_id or "(nothing)", grade, *factors, f"{p.adds:.3f}", f"{p.so_far:.3f}", *perfect)


def _headline(found: Explanation) -> str:
    said = f"{found.run}, query {found.query_id}: {found.metric} = {found.value:.4f}"
    if not found.ranking.doc_ids:
        return f"{found.run} has no ranking for query {found.query_id}: {found.metric} = {found.value:.4f}."
    if not found.rest and found.worth not in {0.0, 1.0}:
        said += f" = {found.earned:.4g} / {found.worth:.4g}"
    return said + "."


def _remarks(found: Explanation) -> Iterator[str]:
    """What costs most, what would gain most, and what nobody knows."""
    worst = found.costliest
    if worst is not None:
        grade = "unjudged" if worst.grade is None else f"grade {worst.grade:g}"
        there = "nothing stands there" if worst.doc_id is None else f"{worst.doc_id}, {grade}"
        yield f"Costs most: rank {worst.rank} ({there}): {abs(worst.lost or 0):.3f}."
    if found.swap is not None:
        yield f"The swap that gains most: rank {found.swap.upper} with rank {found.swap.lower} (+{found.swap.gain:.3f})."
    count, value = found.unjudged
    if count:
        cutoff = getattr(found.metric, "cutoff", None)
        where = f"the top {cutoff}" if cutoff else "the ranking"
        them, were = ("1 document", "it") if count == 1 else (f"{count:,} documents", "they")
        yield f"? marks what nobody judged: {them} of {where}. Were {were} perfect, {found.metric} would be {value:.3f}."
    if not math.isnan(found.best) and not math.isclose(found.best, 1.0):
        yield f"A perfect ranking would have {found.metric} = {found.best:.4f}."


# --- one query, two runs ----------------------------------------------------------------------------------


def _of_two(found: Difference) -> list[Block]:
    before, after = found.before, found.after
    if not found.carrying and not found.rest:
        same = f"{before.metric} is {before.value:.4f} for both {before.run} and {after.run}; no document adds to a difference."
        return [Paragraph(f"query {found.query_id}: {same}")]
    shown = found.carrying[:LISTED]
    rows: list[tuple[Value, ...]] = [
        (
            m.doc_id,
            "?" if m.grade is None else f"{m.grade:g}",
            "-" if m.before is None else f"{m.before:,}",
            "-" if m.after is None else f"{m.after:,}",
            f"{m.earned_before:.3f}",
            f"{m.earned_after:.3f}",
            f"{m.adds:+.3f}",
        )
        for m in shown
    ]
    rows += [(part.what, "", "", "", "", "", f"{part.adds:+.3f}") for part in found.rest]
    columns = (
        Column("document"),
        Column("grade", "value"),
        Column("before", "value"),
        Column("after", "value"),
        Column("added", "value"),
        Column("adds now", "value"),
        Column("difference", "value"),
    )
    left = len(found.carrying) - len(shown)
    moves = {kind: sum(m.move == kind for m in found.moved) for kind in ("rose", "fell", "entered", "left")}
    counted = ", ".join(f"{count:,} {kind}" for kind, count in moves.items() if count) or "no document moved"
    return [
        Paragraph(
            f"query {found.query_id}: {before.metric} went from {before.value:.4f} ({before.run}) to {after.value:.4f} ({after.run}): "
            f"{found.value:+.4f}."
        ),
        *(Paragraph(moved_in_words(m) + ".") for m in found.carrying[:TOLD]),
        EMPTY,
        Table(columns, tuple(rows)),
        *([Paragraph(f"{left:,} more documents; --format json has all", quiet=True)] if left > 0 else []),
        Paragraph(f"of the documents looked at: {counted}", quiet=True),
    ]


def moved_in_words(m: Moved) -> str:
    """What happened to a document, and what it adds: ``d17 rose from 6 to 1: +0.090``."""
    said = {
        "rose": f"rose from {m.before} to {m.after}",
        "fell": f"fell from {m.before} to {m.after}",
        "stayed": f"stayed at {m.after}",
        "entered": f"entered at {m.after}",
        "left": f"left from {m.before}",
    }[m.move]
    return f"{m.doc_id} {said}: {number(m.adds, sign=True)}"
