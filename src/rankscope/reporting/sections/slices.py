"""Slices: what the difference is among queries of one kind, and where the whole hides the parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rankscope.blocks import Block, Chart, Column, Notes, Paragraph, Section, Value
from rankscope.panels.contrast import Contrast
from rankscope.panels.slices import SliceContrast
from rankscope.panels.verdicts import percent
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import FEW, files_of, is_clear, ranged, rivals_of
from rankscope.show.result import caution_notes
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.compare.tables import slice_table

REVERSED = "RS404"
EVERY = "all queries"


def section(subject: Subject) -> Section | None:
    """The leading metric slice by slice, with what reverses."""
    found = subject.comparison
    if found is None or found.slices is None:
        return None
    mine = [part for part in found.slices.contrasts if part.contrast.metric == found.primary]
    blocks: list[Block | Chart] = []
    doubts = caution_notes([w for w in found.warnings if w.code == REVERSED])
    if doubts:
        blocks.append(Notes(tuple(doubts)))
    if mine:
        blocks += [
            *_charts(subject, found, mine),
            replace(slice_table(found.family, found.slices.contrasts, parted=True), name="slices", title="Slices"),
        ]
        size = max(part.contrast.comparisons for part in mine)
        said = f"p and intervals of slices hold after the correction over {size:,} comparisons; *: told apart.{_small(mine)}"
        blocks.append(Paragraph(said, quiet=True))
    blocks += [Paragraph(note, quiet=True) for note in found.slices.notes]
    return Section("slices", "Slices", tuple(blocks), _lead(subject, mine)) if blocks else None


def _small(mine: Sequence[SliceContrast]) -> str:
    """That slices hold few queries, where most of them cannot tell."""
    unclear = sum(part.contrast.verdict == "cannot tell" for part in mine)
    if 2 * unclear <= len(mine):
        return ""
    return f" Slices hold fewer queries than the whole: {unclear:,} of {len(mine):,} cannot tell."


def _lead(subject: Subject, mine: Sequence[SliceContrast]) -> str:
    """How many slices go which way for the first rival, and whether some go against the whole."""
    if not mine:
        return "No attribute makes slices."
    whole = rivals_of(subject)[0]
    parts = [
        part.contrast for part in mine if (part.contrast.run, part.contrast.baseline) == (whole.run, whole.baseline)
    ]
    better, worse = (sum(c.verdict == verdict for c in parts) for verdict in ("better", "worse"))
    said = f"{whole.run} against {whole.baseline} on {whole.metric}: of {len(parts):,} slices {better:,} better, {worse:,} worse"
    said += f", {len(parts) - better - worse:,} not told apart" if len(parts) > better + worse else ""
    against = [part.equation for part in mine if part.contrast in parts and _against(part.contrast, whole)]
    if against:
        up, down = ("better", "worse") if whole.improved else ("worse", "better")
        if not whole.measured.sign:
            up, down = ("higher", "lower") if whole.difference > 0 else ("lower", "higher")
        names = ", ".join(against[:FEW]) + (f" and {len(against) - FEW:,} more" if len(against) > FEW else "")
        clear = sum(is_clear(c) for c in parts if _against(c, whole))
        said += f". The mean is {up} over all and {down} in {names} ({f'{clear:,} of {len(against):,} clear' if clear else 'not clear'})"
    return f"{said}."


def _against(c: Contrast, whole: Contrast) -> bool:
    """Whether a slice goes the other way than the whole."""
    return c.difference * whole.difference < 0


def _charts(subject: Subject, found: Comparison, mine: Sequence[SliceContrast]) -> Iterator[Chart]:
    """A forest of slices for each of the first rivals, under the difference over all queries."""
    rivals = rivals_of(subject)[:FEW]
    files = files_of(rivals)
    for whole in rivals:
        parts = [(EVERY, whole)]
        parts += [
            (p.equation, p.contrast)
            for p in mine
            if (p.contrast.run, p.contrast.baseline) == (whole.run, whole.baseline)
        ]
        rows: list[tuple[Value, ...]] = [
            (label, value, c.queries, c.verdict, is_clear(c))
            for label, c in parts
            if (value := ranged(c.difference, c.adjusted)) is not None
        ]
        if len(rows) < 2:
            continue
        columns = (
            Column("slice"), Column("difference", "value", hint=f"{whole.run} minus {whole.baseline}"), Column("queries", "count"),
            Column("verdict"), Column("clear", "count", hint="1 where the two are told apart"),
        )  # fmt: skip
        better = {1: "Right of 0 is better.", -1: "Left of 0 is better, as lower is.", 0: ""}[whole.measured.sign]
        missing = " A slice without an interval is not drawn." if len(rows) < len(parts) else ""
        yield Chart(
            "slices" if len(rivals) == 1 else f"slices-{files[whole.run, whole.baseline]}",
            f"{whole.run} against {whole.baseline} on {whole.metric}, slice by slice",
            "intervals", columns, tuple(rows), x="difference", y="slice", marked="clear", guide="zero",
            caption=f"Difference of the means with the {percent(found.method.level)} interval, of the slices after the "
            f"correction over all slices; that of {EVERY} is the one of the comparison above. {better} Fainter: cannot be told from 0.{missing}",
        )  # fmt: skip
