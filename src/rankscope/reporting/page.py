"""The sections of a report, in the order in which they are read; and the page of any other result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from rankscope._version import __version__
from rankscope.blocks import Chart, Notes, Page, Section, Table, Verdict
from rankscope.reporting.answer import answer
from rankscope.reporting.explorer.rankings import QueriesPart
from rankscope.reporting.sections.data import DataPart, warnings_table
from rankscope.reporting.sections.differences import ByQueryPart, CostsPart, DifferencesPart, PairsPart, SlicesPart
from rankscope.reporting.sections.ranks import AgreementPart, CutoffsPart, DiscountsPart, OriginPart, RecallPart
from rankscope.reporting.sections.reproduce import reproduce, reproduce_result
from rankscope.reporting.sections.scoreboard import ComparisonPart, ScoresPart
from rankscope.reporting.sections.spread import HeatMapPart, SpreadPart
from rankscope.reporting.sections.verdicts import TONES, verdicts
from rankscope.reporting.sections.worklist import WorklistPart
from rankscope.reporting.subject import PagePart, Subject
from rankscope.show.result import Result, caution_notes
from rankscope.verbs.experiment.result import Experiment

# the sections in reading order; each declares its subjects
SECTIONS: tuple[type[PagePart], ...] = (
    ScoresPart, ComparisonPart, QueriesPart, DifferencesPart, SlicesPart, CostsPart, ByQueryPart, OriginPart, SpreadPart,
    HeatMapPart, CutoffsPart, RecallPart, PairsPart, AgreementPart, DiscountsPart, WorklistPart, DataPart,
)  # fmt: skip
FOOT = f"rankscope {__version__}"


def page_of(subject: Subject[Any], title: str | None = None, command: str | None = None) -> Page:
    """The whole page of a subject."""
    about, order = f"{subject.queries} · main metric: {subject.lead.name}", subject.colours()
    made = [(part, section) for part in SECTIONS if (section := part.section(subject)) is not None]
    shown = {code: section for part, section in made for code in part.warned}
    sections = [_with_links(_in_colours(section, order), shown) for _, section in made]
    first = answer(subject, sections)
    return Page(title or subject.title, about, verdicts(subject), (*sections, reproduce(subject, command)), FOOT, first)


def _in_colours(section: Section, order: tuple[str, ...]) -> Section:
    """Return the section with charts and tables in which every run, and every pair, keeps its colour."""

    def with_order(block: Any) -> Any:
        if isinstance(block, Table):
            named = block.columns and block.columns[0].header == "run"
            return replace(block, order=order) if named and {row[0] for row in block.rows} <= set(order) else block
        if not isinstance(block, Chart) or not block.series:
            return block
        at = block.at(block.series)
        names = {str(row[at]) for row in block.rows}
        if names <= set(order):
            return replace(block, order=order)
        of_run = {run: name for name in sorted(names) for run in order if name.startswith(f"{run} against ")}
        if set(of_run.values()) == names:
            return replace(block, order=tuple(of_run.get(run, run) for run in order))
        return block

    return replace(section, blocks=tuple(map(with_order, section.blocks)))


def _with_links(section: Section, shown: Mapping[str, Section]) -> Section:
    """Return the section with its warnings linked to the sections that show more of them."""

    def linked(block: Any) -> Any:
        if not isinstance(block, Notes):
            return block
        at = [shown.get(note.code, section) for note in block.items]
        notes = zip(block.items, at, strict=True)
        return Notes(tuple(n if s.name == section.name else replace(n, at=s.name, where=s.title) for n, s in notes))

    return replace(section, blocks=tuple(map(linked, section.blocks)))


# --- any result ------------------------------------------------------------------------------------------


def page_of_result(result: Result, title: str | None = None, command: str | None = None) -> Page:
    """Return the page of any result: its sentences, tables, charts, warnings and conventions."""
    verb = result.schema.partition("/")[0]
    sections = (*sections_of(result), reproduce_result(result, command))
    return Page(title or verb.capitalize(), "", verdicts_of(result), sections, FOOT)


def verdicts_of(result: Result) -> tuple[Verdict, ...]:
    """The sentences of a result; of an experiment its verdict leads, in its tone, unless the split forbids one."""
    if not isinstance(result, Experiment):
        return tuple(map(Verdict, result.sentences()))
    first, *others = result.sentences_of_page()
    leading = result.families[0].contrasts
    tone = TONES.get(leading[0].verdict, "plain") if len(leading) == 1 else "plain"
    return Verdict(first, tone), *map(Verdict, others)


def sections_of(result: Result) -> Iterator[Section]:
    """A section a table, the empty ones left out, then charts and warnings."""
    verb = result.schema.partition("/")[0]
    for view in result.views:
        table = view.table(result)
        if table.rows and table.columns:
            name = view.name or verb
            title = view.title or name.replace("_", " ").capitalize()
            own = "" if table.title == title else table.title  # the heading of the section says it
            yield Section(name, title, (replace(table, name=table.name or name, title=own),))
    if charts := tuple(result.charts()):
        yield Section("charts", "Charts", charts)
    if cautions := list(getattr(result, "warnings", ())):
        notes = caution_notes(cautions, "the table below lists all")
        more = (warnings_table(cautions),) if len(notes) < len(cautions) else ()
        yield Section("warnings", "Caveats", (Notes(tuple(notes)), *more))
