"""The tables of a comparison: the columns of a contrast, for programs and for people; runs, pairs, slices, effects."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Ranged, Table, Value, Written
from rankscope.inference.base import Bounds
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.families import Family
from rankscope.panels.panel import Panel
from rankscope.panels.slices import SliceContrast
from rankscope.show.result import Col, View

ROOM = 30  # rows of tables that are read at one go
FEW = 3  # as many runs get sentences of their own; more are counted
MANY = 300  # comparisons beyond which the sign-flip test beside each would take long; it is left out then


@dataclass(frozen=True)
class Row:
    """A contrast as a table shows it: the one ahead first where it is ``turned``, with the name of a ``slice`` where it is of one.

    The row of the baseline has no contrast.
    """

    contrast: Contrast | None
    run: str
    against: str = ""
    value: float = math.nan
    turned: bool = False
    flip: float = math.nan
    slice: str = ""

    @classmethod
    def of(cls, c: Contrast, turned: bool = False, **more: Any) -> Row:
        """The row of a contrast."""
        if turned and _behind(c):
            return cls(c, c.baseline, c.run, c.baseline_value, turned=True, **more)
        return cls(c, c.run, c.baseline, c.value, **more)


def _behind(c: Contrast) -> bool:
    """Whether a pair is read the other way round: the second of the two is ahead."""
    return c.difference < 0 if not c.panel.sign else not c.improved and bool(c.difference)


@dataclass(frozen=True)
class Layout:
    """Which columns of a contrast are printed, as there is room; what a table leaves out is in JSON and CSV.

    ``detects`` is the smallest difference that the queries can detect, ``flips`` the p-value of the sign-flip test. ``parted``
    counts of queries get a column each.
    """

    level: float = 0.95
    against: bool = False
    values: bool = False
    flips: bool = False
    counts: bool = True
    detects: bool = False
    parted: bool = False
    queries: bool = False

    @classmethod
    def of(cls, family: Family) -> Layout:
        """Few runs get the sign-flip test, as sentences tell what their queries could show; many get that in the table."""
        pairs, few = len(family.of(family.primary.name)), len(family.systems) <= FEW + 1
        method = family.method
        if family.baseline is None:
            return cls(method.level, against=True, counts=pairs > ROOM, detects=pairs <= ROOM)
        usual = (method.test is None or str(method.test) == "t") and not method.correction.joint
        return cls(method.level, values=True, flips=usual and few, detects=not few and not method.every_look)

    def legend(self) -> Iterator[str]:
        """What the columns mean that do not say it themselves."""
        if self.flips:
            yield "flip p: Fisher's sign-flip test, corrected in the same way"
        if self.counts:
            yield "W/L/T: queries better, worse, unchanged"
        if self.detects:
            yield "detects: the difference that so many queries can detect with 80% power, in one comparison"


# --- the columns of a contrast ---------------------------------------------------------------------------


def columns_of(layout: Layout, flips: bool = True) -> tuple[Col, ...]:
    """The columns of a contrast: all of them for programs, those of the layout for people. ``flips`` gives the sign-flip p-value."""
    count = "better" if layout.parted else "W/L/T"

    def head(text: str, wanted: bool) -> str:
        return text if wanted else ""

    return (
        Col("run", head="run", cell=lambda row: row.run),
        Col("baseline", head=head("against", layout.against), cell=lambda row: row.against),
        Col("metric"),
        Col("value", kind="value", head=head("value", layout.values), cell=lambda row: row.value),
        Col("baseline_value", kind="value"),
        Col("difference", kind="value", head="change", cell=_blank(_change)),
        Col("ci_lower", "ci_upper", of=lambda c: _ends(c.bounds), kind="value",
            head=f"{words.percent(layout.level)} interval", cell=_blank(_interval)),
        Col("p_value", kind="value"),
        Col("p_value_adjusted", kind="value", head="p", cell=_blank(lambda _, c: p_cell(c.p_value_adjusted))),
        Col("ci_lower_adjusted", "ci_upper_adjusted", of=lambda c: _ends(c.adjusted), kind="value"),
        Col("test"),
        Col("correction", of=lambda c: str(c.method.correction)),
        Col("comparisons", kind="count"),
        Col("sign_flip_p_value", of=lambda c: c.sign_flip if flips else None, kind="value",
            head=head("flip p", layout.flips), cell=_blank(lambda row, _: p_cell(row.flip))),
        Col("wins", kind="count" if layout.parted else "value", head=head(count, layout.counts), cell=_blank(_wins(layout.parted))),
        Col("losses", kind="count", head=head("worse", layout.counts and layout.parted), cell=_blank(lambda row, c: _won(row, c)[1])),
        Col("ties", kind="count", head=head("same", layout.counts and layout.parted), cell=_blank(lambda _, c: c.ties)),
        Col("queries", kind="count", head=head("queries", layout.queries), cell=_blank(lambda _, c: c.queries)),
        Col("verdict"),
        Col("interval", of=lambda c: c.bounds.method),
        Col("relative_difference", of=lambda c: c.relative[0], kind="value"),
        Col("relative_ci_lower", "relative_ci_upper", of=lambda c: _ends(c.relative[1]), kind="value"),
        Col("standardised_effect", of=lambda c: c.effect, kind="value"),
        Col("probability_of_superiority", of=lambda c: c.superiority, kind="value"),
        Col("detectable_difference", of=lambda c: c.detectable.difference, kind="value",
            head=head("detects", layout.detects), cell=_blank(_detects)),
        Col("detectable_lower", "detectable_upper", of=lambda c: (c.detectable.low, c.detectable.high), kind="value"),
        Col("queries_needed", kind="count"),
        Col("queries_that_carry_it", of=lambda c: c.favourable and c.favourable[0], kind="count"),
        Col("share_that_carries_it", of=lambda c: c.favourable and c.favourable[1], kind="value"),
    )  # fmt: skip


CHANCES = ("better", "worse", "practically_equal")


def _equivalence(name: str) -> Callable[[Contrast], float | None]:
    return lambda c: getattr(c.equivalence, name, None)


WITH_MARGIN = (
    Col("margin", of=lambda c: c.equivalence and c.method.margin_of(c.metric), kind="value", rare=True, fill=None),
    Col("equivalence_p_value", of=_equivalence("p_value"), kind="value", rare=True, fill=None),
    Col("equivalence_ci_lower", of=_equivalence("lower"), kind="value", rare=True, fill=None),
    Col("equivalence_ci_upper", of=_equivalence("upper"), kind="value", rare=True, fill=None),
    Col("noninferiority_p_value", of=lambda c: c.not_worse, kind="value"),
)
WITH_BAYES = (
    Col(
        *(f"chance_{name}" for name in CHANCES),
        of=lambda c: [c.chances and c.chances[name] for name in CHANCES],
        kind="value",
    ),
)


def record_columns(family: Family) -> tuple[Col, ...]:
    """The columns of the contrasts of a family, with those that its method adds."""
    return (
        *columns_of(Layout.of(family), flips=len(family.contrasts) <= MANY),
        *(WITH_MARGIN if family.method.margin is not None else ()),
        *(WITH_BAYES if family.method.bayes else ()),
    )


def _ends(bounds: Bounds) -> tuple[float, float]:
    return bounds.lower, bounds.upper


def _blank(cell: Callable[[Row, Contrast], Value]) -> Callable[[Row], Value]:
    """A cell of a contrast, empty in the row of the baseline."""
    return lambda row: "" if row.contrast is None else cell(row, row.contrast)


def _change(row: Row, c: Contrast) -> Value:
    """A difference, with an asterisk where it is clear."""
    difference = -c.difference if row.turned else c.difference
    text = f"{words.in_table(words.signed(difference))} {'*' if c.verdict in CLEAR else ' '}"
    return text if math.isnan(difference) else Written(text, difference)


def _interval(row: Row, c: Contrast) -> Value:
    """The adjusted interval of a difference; None where its ends are not known."""
    bounds, difference = c.adjusted, c.difference
    if not bounds.known:
        return None
    low, high = bounds.lower + 0.0, bounds.upper + 0.0
    if row.turned:
        difference, low, high = -difference, 0.0 - high, 0.0 - low
    return Ranged(difference, low, high, words.in_table(words.interval(low, high, between=", ")))


def p_cell(value: float) -> Value:
    """A p-value in a table; None where there is none."""
    return None if math.isnan(value) else Written(words.p_cell(value), value)


def _won(row: Row, c: Contrast) -> tuple[int, int]:
    return (c.losses, c.wins) if row.turned else (c.wins, c.losses)


def _wins(parted: bool) -> Callable[[Row, Contrast], Value]:
    """The queries that are better; with those worse and unchanged beside them unless these have columns of their own."""

    def cell(row: Row, c: Contrast) -> Value:
        won, lost = _won(row, c)
        return won if parted else "/".join(words.count(part) for part in (won, lost, c.ties))

    return cell


def _detects(_: Row, c: Contrast) -> Value:
    """The smallest difference that could be detected, where none is clear."""
    if c.verdict in CLEAR or c.verdict == "same":
        return ""
    found = c.detectable.difference
    return None if math.isnan(found) else Written(words.in_table(words.number(found)), found)


def how(family: Family) -> str:
    """The test and the correction in words."""
    method, size = family.method, family.size
    test = "paired t test" if method.test is None or str(method.test) == "t" else f"{method.test}"
    if size == 1:
        return test
    if not method.correction.corrects:
        return f"{test}, not corrected"
    each = "" if method.family == "all" or len(family.panels) == 1 else " per metric"
    corrected = f"{method.correction.name} over {size:,} comparisons{each}"
    return corrected if method.correction.joint else f"{test}, {corrected}"


# --- tables ----------------------------------------------------------------------------------------------


def run_table(family: Family, panel: Panel) -> Table:
    """Runs as rows, the best first: the value, the difference from the baseline, its interval, p-values, counts of queries."""
    contrasts = {c.run: c for c in family.of(panel.name)}
    layout = Layout.of(family)
    flips = dict.fromkeys(contrasts, math.nan)
    if layout.flips:
        p_values = np.array([c.sign_flip for c in contrasts.values()])
        flips = dict(zip(contrasts, family.method.correction.adjusted(p_values).tolist(), strict=True))
    rows = [
        Row.of(contrasts[system], flip=flips[system])
        if system in contrasts
        else Row(None, system, value=panel.mean(system))
        for system in panel.by_merit
    ]
    return _table(columns_of(layout), rows)


def pair_table(family: Family, panel: Panel, every: bool, parted: bool = False) -> Table:
    """Pairs as rows, the one ahead first, the largest differences on top; only the clear ones where there are many.

    ``every`` shows all of them, ``parted`` gives each count of queries a column of its own.
    """
    contrasts = sorted(family.of(panel.name), key=lambda c: -abs(c.difference))
    clear = [c for c in contrasts if c.verdict in CLEAR]
    shown = contrasts if every else clear[:ROOM]
    left = len(contrasts) - len(shown)
    note = f"{left:,} more pairs, {len(clear) - len(shown):,} of them clear: --details shows all" if left else ""
    rows = [Row.of(c, turned=True) for c in shown]
    return _table(columns_of(replace(Layout.of(family), parted=parted)), rows, labels=2, note=note)


def slice_table(family: Family, contrasts: Iterable[SliceContrast], parted: bool = False) -> Table:
    """Slices as rows, the primary metric on the queries of each.

    ``parted`` gives each count of queries a column of its own, and writes slices as ``kind = head``.
    """
    several = len(family.systems) > 2
    layout = Layout(
        family.method.level, against=several and family.each_pair, counts=not several,
        detects=family.baseline is not None, parted=parted, queries=True,
    )  # fmt: skip
    _, *rest = columns_of(layout)
    run = Col(head="run" if several else "", cell=lambda row: row.run)
    columns = (Col(head="slice", cell=lambda row: row.slice), run, *rest)
    rows = [
        Row.of(part.contrast, slice=part.equation if parted else part.label)
        for part in contrasts
        if part.contrast.metric == family.primary.name
    ]
    return _table(columns, rows, labels=1 + several + (several and family.each_pair))


def board(family: Family) -> Table:
    """Runs as rows and metrics as columns: values, marked where they differ from the baseline."""
    marks = {(c.run, c.metric): _mark(c) for c in family.contrasts if family.baseline is not None}

    def cell(panel: Panel) -> Callable[[str], Value]:
        def text(system: str) -> Value:
            mean = panel.mean(system)
            return None if math.isnan(mean) else words.cell(mean) + marks.get((system, panel.name), "")

        return text

    columns = [
        Col(head="run", cell=lambda system: system),
        *(Col(head=panel.name, kind="value", cell=cell(panel)) for panel in family.panels),
    ]
    return replace(_table(columns, family.primary.by_merit), turns=True)


def _mark(c: Contrast) -> str:
    if c.verdict in {"better", "different"}:
        return "*"
    return "†" if c.verdict == "worse" else ""


def effects_table(family: Family, panel: Panel) -> Table:
    """How large each difference is, in other units: relative to the baseline, in standard deviations, in queries."""

    def relative(c: Contrast) -> Value:
        share, bounds = c.relative
        if not bounds.known:
            return None
        ends = ", ".join(words.in_table(words.relative(end)) for end in _ends(bounds))
        return Ranged(share, bounds.lower, bounds.upper, ends)

    def carried(c: Contrast) -> Value:
        if c.favourable is None:
            return None
        return Written(f"{c.favourable[0]:,} of {c.queries:,}", c.favourable[0])

    columns = (
        Col(head="run", cell=lambda c: c.run),
        Col(head="against", cell=lambda c: c.baseline),
        Col(head="relative", kind="value",
            cell=lambda c: Written(words.in_table(words.relative(c.relative[0])), c.relative[0])),
        Col(head=f"{words.percent(family.method.level)} interval", kind="value", cell=relative),
        Col(head="in sd", kind="value", cell=lambda c: Written(words.cell(c.effect, 2, sign=True), c.effect)),
        Col(head="P(better)", kind="value", cell=lambda c: Written(words.cell(c.superiority, 2), c.superiority)),
        Col(head="carried by", kind="value", cell=carried),
    )  # fmt: skip
    note = (
        "in sd: standard deviations of the differences · P(better): share of queries that are better, ties half · "
        "carried by: the lead is gone without so many of the queries that favour it most"
    )
    return _table(columns, family.of(panel.name), labels=2, note=note)


def _table(columns: Sequence[Col], rows: Sequence[Any], labels: int = 1, note: str = "") -> Table:
    return View("", tuple(columns), lambda _: rows, labels=labels, note=note).table(None)
