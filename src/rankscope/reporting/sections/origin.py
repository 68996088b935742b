"""Where in the ranking a difference comes from: bands of ranks that sum to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rankscope import words
from rankscope.blocks import Chart, Column, Paragraph, Table, Value
from rankscope.errors import DataError
from rankscope.metrics import Metric
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import SubjectOfComparison
from rankscope.scoring.bands import Band
from rankscope.verbs.explain.explain import explain_origin, why_not_by_rank
from rankscope.verbs.explain.result import Origin

RIVALS = 3  # pairs that are taken apart
UNEARNED = "the policies give queries values that no document earned, or no query has a value for both runs."
NOTHING = 1e-9  # what is left by rounding
REST = "no rank"
CAPTION = (
    "What the documents at these ranks add to the difference of the means: the bars of a pair sum to it. A bar above 0 raises the "
    "value of the run named first against that of the other, one below 0 lowers it."
)


class OriginPart(PagePart[SubjectOfComparison]):
    """The difference of each of the first rivals by bands of ranks."""

    name, title = "origin", "Where in the ranking the difference comes from"
    subjects, judged = SubjectOfComparison, True
    moved: Sequence[Origin] = ()

    def blocks(self) -> Iterator[Any]:
        """The bands as a chart and a table; or why they are not shown."""
        names, metric = {scored.name for scored in self.scores.runs}, self.subject.metric
        pairs = [pair for pair in self.subject.pairs if names.issuperset(pair)]
        if metric is None or not pairs:
            return
        if reason := self._why_not(metric):
            self.folded = True
            yield Paragraph(f"Not shown: {reason}.", quiet=True)
            return
        found = {pair: self._sourced(*pair, metric) for pair in pairs[:RIVALS]}
        self.moved = [
            one for one in found.values() if one and (any(band.adds for band in one.bands) or abs(one.rest) > NOTHING)
        ]
        if self.moved:
            yield from (_chart(self.moved, metric), _table(self.moved))
            yield from (Paragraph(_in_words(one)) for one in self.moved[1:])
            yield from (Paragraph(text, quiet=True) for text in self._left_out(found, len(pairs) - RIVALS))
        elif None in found.values():
            self.folded = True
            yield Paragraph(f"Not shown: {UNEARNED}", quiet=True)

    def lead(self) -> str:
        """Which ranks make the difference of the first rival."""
        return _in_words(self.moved[0]) if self.moved else ""

    def _why_not(self, metric: Metric) -> str:
        """Why a difference does not part by rank; empty where it does."""
        ties = self.scores.request.of_metric(metric).convention.ties
        if ties in {"expected", "best", "worst"}:
            return f"under ties={ties} a document has no one rank"
        return why_not_by_rank(metric)

    def _sourced(self, after: str, before: str, metric: Metric) -> Origin | None:
        """The parts of a difference, where there is one and they sum to it."""
        try:
            found = explain_origin(self.scores, before, after, metric)
        except DataError:  # no query has a value for both
            return None
        whole = math.fsum([*(band.adds for band in found.bands), found.rest])
        # a policy may give a query a value that its documents did not earn
        return found if abs(whole - found.value) < NOTHING else None

    def _left_out(self, found: dict[tuple[str, str], Origin | None], more: int) -> Iterator[str]:
        """What to say of pairs that are not shown, and why."""
        for pair, one in found.items():
            if one is None:
                yield f"{' against '.join(pair)} is left out: {UNEARNED}"
            elif one not in self.moved:
                yield f"{' against '.join(pair)} is left out: no rank adds to a difference."
        if more > 0:
            yield f"Only the {RIVALS} pairs furthest ahead were looked at; {words.counted(more, 'is', 'are')} left out."


def _label(found: Origin) -> str:
    before, after = found.runs
    return f"{after} against {before}"


def _rows(found: Sequence[Origin]) -> list[tuple[str, list[float]]]:
    """The bands down to the deepest that adds something, with what each pair has there."""
    last = max((band.first for one in found for band in one.bands if band.adds), default=0)
    bands = {band.first: band for one in found for band in one.bands if band.first <= last}
    rows = [
        (_short(bands[first]), [next((b.adds for b in one.bands if b.first == first), 0.0) for one in found])
        for first in sorted(bands)
    ]
    rest = [(REST, [one.rest for one in found])] if any(abs(one.rest) > NOTHING for one in found) else []
    return [*rows, *rest]


def _short(band: Band) -> str:
    """The ranks as an axis has room for them."""
    if band.first == band.last:
        return f"{band.first}"
    return f"{band.first} to {band.last}" if band.last < 10**9 else f"from {band.first}"


def _chart(found: Sequence[Origin], metric: Metric) -> Chart:
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (ranks, value, _label(one)) for ranks, adds in _rows(found) for one, value in zip(found, adds, strict=True)
    )
    return Chart(
        "origin", f"What each rank adds to the difference on {metric}", "bars", (Column("ranks"), Column("adds", "value"), Column("pair")),
        rows, x="ranks", y="adds", series="pair", caption=CAPTION, guide="zero", told=True,
    )  # fmt: skip


def _table(found: Sequence[Origin]) -> Table:
    """A row a pair and a column a band, with the sum; a pair is a row so that names have room."""
    rows = _rows(found)
    columns = (Column("pair"), *(Column(ranks, "value") for ranks, _ in rows), Column("difference", "value"))
    lines: list[tuple[Value, ...]] = [
        (_label(one), *(adds[i] for _, adds in rows), one.value) for i, one in enumerate(found)
    ]
    note = f"{REST}: what does not come from a document at a rank, such as a constant or a transformation of the sum."
    rest = any(ranks == REST for ranks, _ in rows)
    return Table(columns, tuple(lines), name="origin-table", turns=True, note=note if rest else "")


def _in_words(found: Origin) -> str:
    """Which ranks make the difference."""
    before, after = found.runs
    band = max(found.bands, key=lambda b: abs(b.adds), default=None)
    said = f"{after} and {before} differ by {words.signed(found.value)} on {found.metric}"
    if band is None or not band.adds:
        return f"{said}, and no rank adds to it."
    most = f"{band.label} {_agree(band, 'adds')} most, {words.signed(band.adds)}"
    against = [b for b in found.bands if b.adds * band.adds < 0 and abs(b.adds) >= abs(band.adds) / 10]
    if not against:
        return f"{said}: {most}."
    worst = max(against, key=lambda b: abs(b.adds))
    return f"{said}: {most}; {worst.label} {_agree(worst, 'reduces')} it, {words.signed(worst.adds)}."


def _agree(band: Band, verb: str) -> str:
    return words.agree(1 if band.first == band.last else 2, verb)
