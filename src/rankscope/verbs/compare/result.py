"""Comparisons as blocks: the verdict first, then the tables, the top groups, the doubts, the conventions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rankscope.blocks import EMPTY, Block, Heading, Notes, Paragraph
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import anova_of, separated
from rankscope.panels.panel import Panel
from rankscope.panels.verdicts import group_in_words, p_of, percent, title
from rankscope.show.result import caution_notes
from rankscope.verbs.compare.tables import (
    ROOM,
    Layout,
    board,
    effects_table,
    pair_table,
    run_table,
    slice_table,
)
from rankscope.verbs.compare.verdicts import sentences

if TYPE_CHECKING:
    from rankscope.verbs.compare.compare import Comparison


def blocks_of(found: Comparison, details: bool = False) -> list[Block]:
    """The verdict in words, what it rests on, and what to doubt about it."""
    blocks: list[Block] = [Paragraph(text) for text in sentences(found)]
    blocks += _tables(found, details)
    blocks += [Paragraph(line) for line in _lines(found)]
    if found.slices is not None:
        blocks += _slice_blocks(found)
    if found.tradeoffs is not None:
        blocks += [EMPTY, *found.tradeoffs.blocks()]
    doubts = caution_notes(found.warnings)
    blocks += [EMPTY, *([Notes(tuple(doubts))] if doubts else [])]
    return [*blocks, Paragraph(" · ".join(_small_print(found)), quiet=True)]


def _tables(found: Comparison, details: bool) -> Iterator[Block]:
    rows = len(found.contrasts) + len(found.fields)
    full = found.fields if details or rows <= ROOM else found.fields[:1]
    for field in full:
        yield EMPTY
        if found.all_pairs:
            yield Heading(_title(found, field))
            yield pair_table(found, field, all_of_them=details or len(found.of(field.name)) <= ROOM)
        else:
            yield Heading(
                f"{_title(found, field)}{' (lower is better)' if field.sign < 0 else ''}, against {found.baseline}"
            )
            yield run_table(found, field)
        if details:
            yield EMPTY
            yield effects_table(found, field)
    yield Paragraph(_marks(found), quiet=True)
    if len(full) < len(found.fields):
        yield EMPTY
        yield Heading("all metrics")
        yield board(found)


def _title(found: Comparison, field: Panel) -> str:
    primary = found.declared and field.name == found.primary
    return f"{field.name}{' (primary)' if primary else ''}"


def paper_blocks(found: Comparison) -> list[Block]:
    """What goes into a page: runs and metrics, significance marks, and what the marks mean."""
    blocks: list[Block] = []
    if found.all_pairs:
        for field in found.fields:
            table = pair_table(found, field, all_of_them=True)
            blocks += [Heading(_title(found, field)), replace(table, note=_marks(found))]
    else:
        blocks.append(replace(board(found), note=_marks_of_board(found)))
    blocks += [Paragraph(group_in_words(group)) for group in found.groups]
    return [*blocks, Paragraph(" · ".join(_small_print(found)), quiet=True)]


def _marks(found: Comparison) -> str:
    from_what = "" if found.all_pairs else f" from {found.baseline}"
    said = f"* different{from_what} at {percent(found.method.alpha)} ({how(found)})"
    return " · ".join([said, *Layout.of(found).legend()])


def _marks_of_board(found: Comparison) -> str:
    return (
        f"* better, † worse than {found.baseline} at {percent(found.method.alpha)}: {how(found)}; "
        f"{len(found.fields[0].query_ids):,} queries"
    )


def how(found: Comparison) -> str:
    """The test and the correction in words."""
    method = found.method
    test = "paired t test" if method.test is None or str(method.test) == "t" else f"{method.test}"
    size = max((c.comparisons for c in found.contrasts), default=1)
    if size == 1:
        return test
    name = title(str(method.correction))
    if name == "none":
        return f"{test}, not corrected"
    over = f"{size:,} comparisons" + (
        "" if method.family == "all" or len(found.fields) == 1 else " per metric"
    )
    return f"{name} over {over}" if method.correction.joint else f"{test}, {name} over {over}"


def _lines(found: Comparison) -> Iterator[str]:
    """Top groups, discriminative power, variances of repeated systems, how many systems were tried."""
    for group in found.groups:
        if group.metric == found.primary or len(found.fields) <= 3:
            yield group_in_words(group)
    if found.all_pairs and len(found.systems) > 2:
        told = ", ".join(f"{m} {separated(found.of(m)):.0%}" for m in found.metrics)
        yield f"pairs told apart with these queries (discriminative power): {told}"
    if "tukey" in str(found.method.correction):
        for field in found.fields:
            anova = anova_of(field)
            if anova is not None:
                yield (
                    f"two-way ANOVA of {field.name}: F({anova.freedom[0]:,}, {anova.freedom[1]:,}) = {anova.F:.4f}, {p_of(anova.p_value)}"
                )
    for system, r in found.given.replicates.get(found.primary, {}).items():
        yield (
            f"{system}: mean of {r.runs} runs; the variance of {found.primary} is {r.between_queries:.4f} between queries and "
            f"{r.between_runs:.4f} between runs of a query; more runs would remove {r.removable:.0%} of the variance of the mean"
        )
    for c in found.of(found.primary):
        yield from _margins(c)
    if found.tried is not None:
        yield (
            f"{found.tried:,} systems were tried on these judgments: the best of many looks better than it is; "
            "fresh queries tell by how much"
        )


def _margins(c: Contrast) -> Iterator[str]:
    """What a margin and the Bayesian bootstrap say, where they were asked for."""
    pair = f"{c.run} against {c.baseline} on {c.metric}"
    margin = c.method.margin_of(c.metric)
    if c.equivalence is not None:
        worse = "" if c.not_worse is None else f"; not worse by {margin:g} or more: {p_of(c.not_worse)}"
        yield f"{pair}: within ±{margin:g}: {p_of(c.equivalence.p_value)} (two one-sided t tests){worse}"
    if c.chances is not None:
        equal = "" if margin is None else f", within ±{margin:g} {c.chances['practically_equal']:.3f}"
        yield (
            f"{pair}: probability better {c.chances['better']:.3f}, worse {c.chances['worse']:.3f}{equal} (Bayesian bootstrap)"
        )


def _slice_blocks(found: Comparison) -> Iterator[Block]:
    assert found.slices is not None
    size = max((part.contrast.comparisons for part in found.slices.contrasts), default=0)
    yield EMPTY
    yield Heading(f"slices, {found.primary}" + ("" if found.all_pairs else f", against {found.baseline}"))
    yield slice_table(found, found.slices)
    yield Paragraph(f"p and intervals of slices after the correction over {size:,} comparisons", quiet=True)


def _small_print(found: Comparison) -> Iterator[str]:
    queries = len(found.fields[0].query_ids)
    yield f"{queries:,} {'query' if queries == 1 else 'queries'}"
    if found.fields[0].clusters is not None:
        yield f"in {int(found.fields[0].clusters.max()) + 1:,} clusters"
    size = max((c.comparisons for c in found.contrasts), default=1)
    if size > 1:
        yield "p and interval: after the correction"
    if found.method.test is not None:
        yield f"{found.method.test} tests that {found.method.test.hypothesis}"
        if str(found.method.test) != "t" and not found.method.looking:
            yield "intervals are of the mean difference, and may disagree with such a test"
    if found.method.correction.joint and found.method.correction.measured:
        yield f"{title(str(found.method.correction))} {found.method.correction.measured}"
    if found.scores is not None:
        yield found.scores.request.small_print()
