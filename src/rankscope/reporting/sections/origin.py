"""Where in the ranking a difference comes from: bands of ranks that sum to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rankscope.blocks import Block, Chart, Column, Paragraph, Section, Table, Value
from rankscope.errors import DataError
from rankscope.metrics import Metric
from rankscope.panels.verdicts import number
from rankscope.reporting.subject import Subject
from rankscope.scoring.bands import Band
from rankscope.scoring.scores import Scores
from rankscope.verbs.explain.explain import explain_origin, why_not_by_rank
from rankscope.verbs.explain.result import Origin

TITLE = "Where in the ranking the difference comes from"
RIVALS = 3  # pairs that are taken apart
UNEARNED = "Not shown: the policies give queries values that no document earned, or no query has a value for both runs."
NOTHING = 1e-9  # what is left by rounding
REST = "no rank"
CAPTION = (
    "What the documents at these ranks add to the difference of the means: the bars of a pair sum to it. A bar above 0 raises the "
    "value of the run named first against that of the other, one below 0 lowers it."
)


def section(subject: Subject) -> Section | None:
    """The difference of each rival by bands of ranks; None without rankings, for one run and where no query differs."""
    scores, metric = subject.scores, subject.metric
    if scores is None or metric is None or not scores.evaluations:
        return None
    names = {scored.name for scored in scores.runs}
    pairs = [pair for pair in subject.rivals if names.issuperset(pair)]
    if not pairs:
        return None
    reason = _why_not(scores, metric)
    if reason:
        return Section("origin", TITLE, (Paragraph(f"Not shown: {reason}.", quiet=True),), folded=True)
    found = [one for run, baseline in pairs[:RIVALS] if (one := _sourced(scores, baseline, run, metric))]
    moved = [one for one in found if any(band.adds for band in one.bands) or abs(one.rest) > NOTHING]
    if not moved:
        if len(found) == len(pairs[:RIVALS]):
            return None
        return Section("origin", TITLE, (Paragraph(UNEARNED, quiet=True),), folded=True)
    blocks: list[Block | Chart] = [
        _chart(moved, metric),
        _table(moved),
        *map(Paragraph, _details(moved)),
        *(Paragraph(text, quiet=True) for text in _left_out(pairs, found, moved)),
    ]
    return Section("origin", TITLE, tuple(blocks), _in_words(moved[0]))


def _left_out(pairs: Sequence[tuple[str, str]], found: Sequence[Origin], moved: Sequence[Origin]) -> Iterator[str]:
    """What to say of pairs that are not shown, and why."""
    known = {(after, before) for before, after in (one.runs for one in found)}
    shown = {(after, before) for before, after in (one.runs for one in moved)}
    for pair in pairs[:RIVALS]:
        if pair not in known:
            yield f"{' against '.join(pair)} is left out: the policies give queries values that no document earned, or no query has a value for both runs."
        elif pair not in shown:
            yield f"{' against '.join(pair)} is left out: no rank adds to a difference."
    more = len(pairs) - RIVALS
    if more > 0:
        yield f"Only the {RIVALS} pairs furthest ahead were looked at; {more:,} {'is' if more == 1 else 'are'} left out."


def _why_not(scores: Scores, metric: Metric) -> str:
    """Why a difference does not part by rank; empty where it does."""
    convention = scores.request.of_metric(metric).convention
    if convention.ties in {"expected", "best", "worst"}:
        return f"under ties={convention.ties} a document has no one rank"
    return why_not_by_rank(metric)


def _sourced(scores: Scores, before: str, after: str, metric: Metric) -> Origin | None:
    """The parts of a difference, where there is one and they sum to it."""
    try:
        found = explain_origin(scores, before, after, metric)
    except DataError:  # no query has a value for both
        return None
    whole = math.fsum([*(band.adds for band in found.bands), found.rest])
    # a policy may give a query a value that its documents did not earn
    return found if abs(whole - found.value) < NOTHING else None


def _label(found: Origin) -> str:
    before, after = found.runs
    return f"{after} against {before}"


def _merged(found: Sequence[Origin]) -> list[tuple[Band, list[float]]]:
    """The bands down to the deepest that adds something, with what each pair has there."""
    last = max((band.first for one in found for band in one.bands if band.adds), default=0)
    bands = {band.first: band for one in found for band in one.bands if band.first <= last}
    return [
        (bands[first], [next((b.adds for b in one.bands if b.first == first), 0.0) for one in found])
        for first in sorted(bands)
    ]


def _rows(found: Sequence[Origin]) -> list[tuple[str, list[float]]]:
    rows = [(_short(band), adds) for band, adds in _merged(found)]
    if any(abs(one.rest) > NOTHING for one in found):
        rows.append((REST, [one.rest for one in found]))
    return rows


def _short(band: Band) -> str:
    """The ranks as an axis has room for them."""
    if band.first == band.last:
        return f"{band.first}"
    return f"{band.first} to {band.last}" if band.last < 10**9 else f"from {band.first}"


def _chart(found: Sequence[Origin], metric: Metric) -> Chart:
    rows: list[tuple[Value, ...]] = [
        (ranks, value, _label(one)) for ranks, adds in _rows(found) for one, value in zip(found, adds, strict=True)
    ]
    return Chart(
        "origin",
        f"What each rank adds to the difference on {metric}",
        "bars",
        (Column("ranks"), Column("adds", "value"), Column("pair")),
        tuple(rows),
        x="ranks",
        y="adds",
        series="pair",
        caption=CAPTION,
        guide="zero",
        told=True,
    )


def _table(found: Sequence[Origin]) -> Table:
    """A row a pair and a column a band, with the sum; a pair is a row so that names have room."""
    rows = _rows(found)
    columns = (Column("pair"), *(Column(ranks, "value") for ranks, _ in rows), Column("difference", "value"))
    lines: list[tuple[Value, ...]] = [
        (_label(one), *(adds[i] for _, adds in rows), one.value) for i, one in enumerate(found)
    ]
    note = (
        f"{REST}: what does not come from a document at a rank, as a constant or a transformation of the sum."
        if any(ranks == REST for ranks, _ in rows)
        else ""
    )
    return Table(columns, tuple(lines), name="origin-table", turns=True, note=note)


def _in_words(found: Origin) -> str:
    """Which ranks carry the difference."""
    before, after = found.runs
    band = max(found.bands, key=lambda b: abs(b.adds), default=None)
    said = f"{after} and {before} differ by {number(found.value, sign=True)} on {found.metric}"
    if band is None or not band.adds:
        return f"{said}, and no rank adds to it."
    most = f"{band.label} {'adds' if band.first == band.last else 'add'} most, {number(band.adds, sign=True)}"
    against = [b for b in found.bands if b.adds * band.adds < 0 and abs(b.adds) >= abs(band.adds) / 10]
    if not against:
        return f"{said}: {most}."
    worst = max(against, key=lambda b: abs(b.adds))
    return f"{said}: {most}; {worst.label} {'goes' if worst.first == worst.last else 'go'} against it, {number(worst.adds, sign=True)}."


def _details(found: Sequence[Origin]) -> Iterator[str]:
    """The same of the other pairs."""
    yield from (_in_words(one) for one in found[1:])
