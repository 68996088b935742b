"""The sections of a report, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from rankscope._version import __version__
from rankscope.blocks import Chart, Page, Section
from rankscope.panels.verdicts import counted
from rankscope.reporting import queries
from rankscope.reporting.sections import (
    agreement,
    board,
    costs,
    cutoffs,
    data_health,
    differences,
    differing_queries,
    discounts,
    heat,
    origin,
    pairs,
    recall,
    reproduce,
    slices,
    spread,
    worklist,
)
from rankscope.reporting.sections.verdicts import verdicts
from rankscope.reporting.subject import Subject

NAMED = 3  # runs that a title names
SECTIONS: tuple[Callable[[Subject], Section | None], ...] = (
    data_health.section,
    board.section,
    differences.section,
    slices.section,
    costs.section,
    queries.section,
    differing_queries.section,
    origin.section,
    spread.section,
    heat.section,
    cutoffs.section,
    recall.section,
    pairs.section,
    agreement.section,
    discounts.section,
    worklist.section,
)


def page_of(subject: Subject, title: str | None = None, command: str | None = None) -> Page:
    """The whole page of a subject."""
    return Page(
        title or title_of(subject),
        f"{counted(len(subject.lead.query_ids))} · {subject.lead.name} leads",
        verdicts(subject),
        (*_sections(subject), reproduce.section(subject, command)),
        f"rankscope {__version__}",
    )


def _sections(subject: Subject) -> Iterator[Section]:
    order = colours_of(subject)
    for section in SECTIONS:
        if (found := section(subject)) is not None:
            yield _in_colours(found, order)


def colours_of(subject: Subject) -> tuple[str, ...]:
    """The systems in the order in which they get colours: the baseline, then the best first."""
    first = subject.systems[0]
    return (first, *(system for system in subject.lead.by_merit if system != first))


def _in_colours(section: Section, order: tuple[str, ...]) -> Section:
    """The section with charts in which every run has the colour that it has in the others."""
    known = set(order)

    def ordered(block: Any) -> Any:
        if not isinstance(block, Chart) or not block.series:
            return block
        at = block.at(block.series)
        return replace(block, order=order) if {row[at] for row in block.rows} <= known else block

    return replace(section, blocks=tuple(map(ordered, section.blocks)))


def title_of(subject: Subject) -> str:
    """What a page is called: ``dense and hybrid against bm25``."""
    first, *others = subject.systems
    if not others:
        return f"{first}: how good is it?"
    if subject.comparison is not None and subject.comparison.all_pairs:
        return f"{len(subject.systems)} runs, each against each"
    if len(others) > NAMED:
        return f"{len(others)} runs against {first}"
    return f"{' and '.join([', '.join(others[:-1]), others[-1]] if others[:-1] else others)} against {first}"
