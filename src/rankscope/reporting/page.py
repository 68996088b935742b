"""The sections of a report, in the order in which they are read; and the page of any other result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rankscope._version import __version__
from rankscope.blocks import Chart, Facts, Heading, Notes, Page, Paragraph, Section, Verdict
from rankscope.reporting.explorer.rankings import QueriesPart
from rankscope.reporting.part import PagePart
from rankscope.reporting.sections.agreement import AgreementPart
from rankscope.reporting.sections.by_query import ByQueryPart
from rankscope.reporting.sections.costs import CostsPart
from rankscope.reporting.sections.curves import CutoffsPart, RecallPart
from rankscope.reporting.sections.data import DataPart, warnings_table
from rankscope.reporting.sections.differences import DifferencesPart, SlicesPart
from rankscope.reporting.sections.discounts import DiscountsPart
from rankscope.reporting.sections.origin import OriginPart
from rankscope.reporting.sections.pairs import PairsPart
from rankscope.reporting.sections.reproduce import input_table, reproduce, versions
from rankscope.reporting.sections.scoreboard import ComparisonPart, ScoresPart
from rankscope.reporting.sections.spread import HeatMapPart, SpreadPart
from rankscope.reporting.sections.verdicts import verdicts
from rankscope.reporting.sections.worklist import WorklistPart
from rankscope.reporting.subject import Subject
from rankscope.show.result import Result, caution_notes

SECTIONS: tuple[type[PagePart[Any]], ...] = (
    DataPart, ScoresPart, ComparisonPart, DifferencesPart, SlicesPart, CostsPart, QueriesPart, ByQueryPart, OriginPart, SpreadPart,
    HeatMapPart, CutoffsPart, RecallPart, PairsPart, AgreementPart, DiscountsPart, WorklistPart,
)  # fmt: skip
FOOT = f"rankscope {__version__}"


def page_of(subject: Subject, title: str | None = None, command: str | None = None) -> Page:
    """The whole page of a subject."""
    about = f"{subject.queries} · main metric: {subject.lead.name}"
    sections = (*_sections(subject), reproduce(subject, command))
    return Page(title or subject.title, about, verdicts(subject), sections, FOOT)


def _sections(subject: Subject) -> Iterator[Section]:
    order = subject.colours()
    for part in SECTIONS:
        if (section := part.section(subject)) is not None:
            yield _in_colours(section, order)


def _in_colours(section: Section, order: tuple[str, ...]) -> Section:
    """The section with charts in which every run has the colour that it has in the others."""
    known = set(order)

    def ordered(block: Any) -> Any:
        if not isinstance(block, Chart) or not block.series:
            return block
        at = block.at(block.series)
        return replace(block, order=order) if {row[at] for row in block.rows} <= known else block

    return replace(section, blocks=tuple(map(ordered, section.blocks)))


# --- any result ------------------------------------------------------------------------------------------


def page_of_result(result: Result, title: str | None = None, command: str | None = None) -> Page:
    """The page of any result: its sentences, tables and charts, its warnings, and what it rests on."""
    verb = result.schema.partition("/")[0]
    sentences = list(result.sentences())
    sections = (*_tables_of(result), *_charts_of(result), *_warnings_of(result), _basis_of(result, command))
    return Page(title or verb.capitalize(), "", tuple(map(Verdict, sentences)), sections, FOOT)


def _tables_of(result: Result) -> Iterator[Section]:
    """A section a table, the empty ones left out."""
    for view in result.views:
        table = view.table(result)
        if table.rows and table.columns:
            name = view.name or result.schema.partition("/")[0]
            title = view.title or name.replace("_", " ").capitalize()
            yield Section(name, title, (replace(table, name=table.name or name, title=table.title or title),))


def _charts_of(result: Result) -> Iterator[Section]:
    if charts := tuple(result.charts()):
        yield Section("charts", "Charts", charts)


def _warnings_of(result: Result) -> Iterator[Section]:
    warned = list(getattr(result, "warnings", ()))
    if warned:
        notes = caution_notes(warned, "the table below lists all")
        more = (warnings_table(warned),) if len(notes) < len(warned) else ()
        yield Section("warnings", "What to doubt", (Notes(tuple(notes)), *more))


def _basis_of(result: Result, command: str | None) -> Section:
    """What the result rests on: versions, conventions, what was read."""
    blocks: list[Any] = [*([Paragraph(command)] if command else []), Facts(tuple(versions()))]
    stated = {
        name: value
        for name, value in dict(getattr(result, "conventions", {})).items()
        if isinstance(value, str | int | float)
    }
    if stated:
        blocks += [
            Heading("Conventions"),
            Facts(tuple((name.replace("_", " "), str(value)) for name, value in stated.items())),
        ]
    inputs = [one for one in result.facts().get("inputs", ()) if one]
    if inputs:
        blocks.append(input_table((str(one.get("path", "")), one.get("sha256")) for one in inputs))
    if notes := getattr(result, "notes", ()):
        blocks += [Heading("What was read"), *(Paragraph(note, quiet=True) for note in notes)]
    return Section("reproduce", "Reproduce", tuple(blocks), "What it takes to get the same numbers again.", folded=True)
