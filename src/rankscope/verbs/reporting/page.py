"""The sections of a report, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

from rankscope import __version__
from rankscope.blocks import Chart, Page, Section
from rankscope.verbs.comparison.compare_tables import in_order_of_merit
from rankscope.verbs.reporting import reproduce
from rankscope.verbs.reporting.rankings import explorer_of
from rankscope.verbs.reporting.subject import Subject
from rankscope.verbs.reporting.verdicts import verdicts

SECTIONS = (
    "data_health", "board", "differences", "explorer", "origin", "spread", "heat", "cutoffs", "recall", "pairs", "agreement", "slices",
    "costs", "discounts", "worklist",
)  # fmt: skip


def page_of(
    subject: Subject, title: str | None = None, shown: int | None = None, command: str | None = None
) -> Page:
    """The whole page of a subject."""
    return Page(
        title or title_of(subject),
        _about(subject),
        verdicts(subject),
        (*_sections(subject, shown), reproduce.section(subject, command)),
        f"rankscope {__version__}",
    )


def _sections(subject: Subject, shown: int | None) -> Iterator[Section]:
    order = colours_of(subject)
    for name in SECTIONS:
        if name == "explorer":
            found = _queries(subject, shown)
        else:
            make: Callable[[Subject], Section | None] = import_module(
                f"rankscope.verbs.reporting.{name}"
            ).section
            found = make(subject)
        if found is not None:
            yield _in_colours(found, order)


def colours_of(subject: Subject) -> tuple[str, ...]:
    """The systems in the order in which they get colours: the baseline, then the best first."""
    first = subject.systems[0]
    return (first, *(system for system in in_order_of_merit(subject.lead) if system != first))


def _in_colours(section: Section, order: tuple[str, ...]) -> Section:
    """The section with charts in which every run has the colour that it has in the others."""
    known = set(order)

    def ordered(block: Any) -> Any:
        if not isinstance(block, Chart) or not block.series:
            return block
        at = block.at(block.series)
        return replace(block, order=order) if {row[at] for row in block.rows} <= known else block

    return replace(section, blocks=tuple(map(ordered, section.blocks)))


def _queries(subject: Subject, shown: int | None) -> Section | None:
    found = explorer_of(subject, depth=shown)
    if found is None:
        return None
    several = len(found.runs) > 1
    lead = (
        "Pick a query to see which documents make its difference."
        if several
        else "Pick a query to see its ranking beside the best there is."
    )
    return Section("queries", "Query by query", (found,), lead)


NAMED = 3  # runs that a title names


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


def _about(subject: Subject) -> str:
    queries = len(subject.lead.query_ids)
    return f"{queries:,} {'query' if queries == 1 else 'queries'} · {subject.lead.name} leads"
