"""The result of ``interleaving``: preferences between rankers, the check of the mixing, slices, and the traffic of an A/B test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from rankscope import words
from rankscope.blocks import Chart, Column, NumberText
from rankscope.experiments.interleaved import PREFERENCE, Interleaved
from rankscope.experiments.traffic import Traffic
from rankscope.logs.rollup import UnitTotals
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.contrast_result import ContrastResult, columns_named, difference_cell, number_cell, value_cell
from rankscope.panels.families import Family, SliceContrast, square
from rankscope.show.result import Col, OfSource, View, input_record


def _columns(interleaving: Any) -> tuple[Col, ...]:
    corrected = any(c.comparisons > 1 for c in interleaving.contrasts)
    several = words.plural(interleaving.units.noun)
    return (
        Col("comparison", of=lambda c: c.sides, head="comparison"),
        Col("metric", head="" if len(interleaving.families) == 1 else "of", cell=lambda c: c.metric.removeprefix(f"{PREFERENCE} of ") if c.metric != PREFERENCE else "lists"),
        Col("preference", of=lambda c: c.difference, kind="value", head="preference", cell=difference_cell),
        *columns_named("ci", "p_value", "p_value_adjusted", p_value_adjusted="p, corrected" if corrected else "p"),
        Col("lists", of=interleaving.lists_of, kind="count", head="lists"),
        *columns_named("units", units="" if interleaving.units.unit == "impression_id" else several),
        *(Col(name, kind="count") for name in ("wins", "losses", "ties")),
        *columns_named("verdict"),
        Col("ranker", of=lambda c: c.run), *columns_named("baseline", "value", "baseline_value", "test", "ci_adjusted", "correction", "comparisons", value="", baseline_value=""),
    )  # fmt: skip


VIEWS = (
    View("results", _columns, lambda interleaving: interleaving.contrasts),
    View(
        "slices",
        (
            Col("attribute", head="attribute"), Col("slice", of=lambda row: row.name, head="slice"),
            Col("comparison", of=lambda row: row.contrast.sides, head="comparison"),
            Col("preference", of=lambda row: row.contrast.difference, kind="value", head="preference", cell=lambda row: difference_cell(row.contrast)),
            *columns_named("ci", "p_value", "p_value_adjusted", "units", "verdict", "ci_adjusted", "correction", "comparisons", at="contrast", p_value_adjusted="p, corrected", units="units"),
        ),
        lambda interleaving: interleaving.slices, "Preference within slices", labels=3, note="corrected over all slices",
        held=lambda interleaving: interleaving.slices,
    ),
    View(
        "graph",
        (Col("preferred", of=lambda c: c.winner, head="preferred"), Col("over", of=lambda c: c.loser, head="over"), Col("preference", of=lambda c: abs(c.c.difference), kind="value", head="preference", cell=lambda c: value_cell(c.c, abs(c.c.difference)))),
        lambda interleaving: interleaving.edges, "Preference graph", labels=2, note="pairs with a clear verdict", held=lambda interleaving: len(interleaving.systems) > 2,
    ),
    View(
        "traffic",
        (
            Col("design", of=lambda row: row[0], head="design"),
            Col("measure", of=lambda row: row[1], head="measure"),
            Col("difference", of=lambda row: row[2], kind="value", head="difference", cell=lambda row: number_cell(words.number(row[2], sign=True), row[2])),
            Col("lists_needed", of=lambda row: row[3], kind="count", head="lists", cell=lambda row: NumberText(words.rounded(row[3]), row[3])),
        ),
        lambda interleaving: interleaving.designs, "Traffic for this difference",
        "At 80% power. The A/B test compares clicks per list, by attention as measured in this log.", held=lambda interleaving: interleaving.traffic,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Edge:
    """A clear preference of a pair of rankers."""

    winner: str
    loser: str
    c: Contrast


@dataclass(frozen=True, eq=False, repr=False)
class Interleaving(ContrastResult, OfSource):
    """The ranker that users prefer, and by how much.

    ``found["A", "B", "preference"]`` is the contrast of two rankers: ``difference`` is the preference, above 0 if users prefer A. ``traffic`` is what
    an A/B test would need for the same difference, None if the log cannot say. The verdict is withheld if the mixing was not fair.
    """

    lists: Interleaved
    units: UnitTotals
    families: Sequence[Family]
    slices: Sequence[SliceContrast]
    traffic: Traffic | None
    slice_notes: Sequence[str] = ()

    schema = "interleaving/1"
    system = "ranker"
    views = VIEWS
    source = property(attrgetter("lists.log.source"), doc="The file or table of the log.")

    def lists_of(self, c: Contrast) -> int:
        """The number of lists with an event behind a contrast."""
        pair = (c.run, c.baseline)
        return int(self.units.columns(self.units.metrics[list(self.lists.pairs).index(pair)])[:, 1].sum())

    @property
    def edges(self) -> list[Edge]:
        """Every clear preference between two rankers."""
        clear = [c for c in self.families[0].contrasts if c.verdict in CLEAR]
        return [Edge(*((c.run, c.baseline) if c.difference > 0 else (c.baseline, c.run)), c) for c in clear]

    @property
    def wins(self) -> dict[str, int]:
        """The number of rankers that each clearly beats, the most first; among equals, the one with the higher mean preference."""
        winners = [edge.winner for edge in self.edges]
        preferred = dict.fromkeys(self.systems, 0.0)
        for c in self.families[0].contrasts:
            preferred[c.run] += c.difference
            preferred[c.baseline] -= c.difference
        order = sorted(self.systems, key=lambda name: (-winners.count(name), -preferred[name]))
        return {name: winners.count(name) for name in order}

    @property
    def designs(self) -> list[tuple[str, str, float, int]]:
        """Both designs with the difference and the number of lists that they need."""
        if self.traffic is None:
            return []
        one, both = self.traffic.needed()
        return [
            ("interleaving", PREFERENCE, self.traffic.preference, one),
            ("A/B test", "clicks per list", self.traffic.difference, both),
        ]

    @property
    def notes(self) -> Sequence[str]:
        """Messages about the log, its units and its slices."""
        return [*self.lists.notes, *self.slice_notes]

    @property
    def conventions(self) -> dict[str, Any]:
        """The way from lists to preferences."""
        method = self.method
        return {
            "rankers": list(self.systems), "unit": self.units.noun, "credit": str(self.lists.credit), "ties": self.lists.credit.ties,
            "pairs": "competitive" if self.lists.competitive else "all", "lists": "with a credited event", "test": str(method.test or "t"),
            "alpha": method.alpha, "correction": str(method.correction),
        }  # fmt: skip

    def sentences(self) -> Iterator[str]:
        """Yield the verdict of each pair, the check of the mixing, and the traffic of an A/B test."""
        if not self.validity.holds:
            yield from self.withheld()
            return
        for family in self.families:
            yield from (c.sentence() for c in family.contrasts if family is self.families[0] or c.verdict in CLEAR)
        if len(self.systems) > 2 and self.edges:
            yield f"Preferences: {words.listing([f'{edge.winner} over {edge.loser}' for edge in self.edges], most=12)}."
        yield from self.lists.checks()
        if self.traffic is not None:
            one, both = map(words.rounded, self.traffic.needed())
            yield (
                f"For this difference, interleaving needs about {one} lists and an A/B test on clicks per list about {both}: "
                f"{self.traffic.in_words}."
            )

    def small_print(self) -> Iterator[str]:
        """Yield the unit, the credit, and the test."""
        yield f"by {self.units.noun}"
        yield f"credit: {self.lists.credit}"
        counted = (
            "lists won less lists lost, out of lists with a click",
            "events won less events lost, out of all events",
        )
        yield counted[self.lists.credit.per == "event"]
        if self.lists.competitive:
            yield "competitive pairs only"
        yield self.conventions["test"] if self.method.test else "t test"

    def body(self, **_: Any) -> Iterator[Sequence[Any]]:
        """Yield the table, then slices and the graph if there are any."""
        yield [self.table()]
        if self.slices:
            yield self.view("slices").part(self)
        if len(self.systems) > 2 and self.edges:
            yield self.view("graph").part(self)

    def charts(self) -> Iterator[Chart]:
        """Yield the preferences with their intervals, of all lists and within slices."""
        whole = [("all", c) for c in self.families[0].contrasts]
        each = [*whole, *((f"{part.attribute}: {part.name}", part.contrast) for part in self.slices)]
        rows = tuple((name, c.sides, c.adjusted.around(c.difference)) for name, c in each)
        labels = "slice" if self.slices else "comparison"
        yield Chart(
            "preferences", "Preference between rankers", "intervals", (Column("slice"), Column("comparison"), Column("preference", "value")), rows,
            x="preference", y=labels, series="comparison" if self.slices and len(whole) > 1 else "", guide="zero",
            caption="Above 0: users prefer the first ranker.",
        )  # fmt: skip
        if len(self.systems) > 2 and self.edges:
            yield self._graph()

    def _graph(self) -> Chart:
        """The clear preferences as a square."""
        pairs = square([*self.wins], self.families[0].contrasts)
        rows = [
            (row, other, 0.0 if c is None else turned * c.difference if c.verdict in CLEAR else None)
            for row, other, c, turned in pairs
        ]
        preference = Column("preference", "value", hint="above 0: users prefer the ranker of the row")
        return Chart(
            "graph", "Preference graph", "heat", (Column("ranker"), Column("against"), preference), tuple(rows),
            x="against", y="ranker", colour="preference", middle=0.0, told=True,
            caption="Above 0: users prefer the ranker of the row to that of the column (–: not clear). The ranker with the most wins is first.",
        )  # fmt: skip

    def json_header(self) -> dict[str, Any]:
        """Return the verdict, the check of the mixing, the measured traffic, the conventions and the inputs."""
        t = self.traffic
        names = ("multiplier", "ci_lower", "ci_upper", "decay")
        measured = t and dict(zip(names, map(words.finite, (t.multiplier, t.low, t.high, t.decay)), strict=True))
        return {
            "verdict": list(self.sentences()), "conventions": self.conventions, "validity": self.lists.record(),
            "ab_test": measured, "inputs": list(map(input_record, self.inputs)),
        }  # fmt: skip
