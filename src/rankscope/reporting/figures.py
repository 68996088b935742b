"""The charts of a result that is looked at alone, as in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankscope.blocks import Block as Text
from rankscope.blocks import Chart, Explorer, Heading, Page, Paragraph, Section, Table, Verdict
from rankscope.reporting.sections import differences, differing_queries, spread
from rankscope.reporting.subject import Subject
from rankscope.scoring.scores import Scores
from rankscope.show.result import Result
from rankscope.verbs.compare.result import Comparison


def charts_of(result: Any) -> list[Chart]:
    """The charts of a result; none for results that are told in words and tables."""
    for kind, charts in KINDS.items():
        if isinstance(result, kind):
            return charts(result)
    return list(result.charts()) if isinstance(result, Result) else []


def beginning(page: Page) -> list[Any]:
    """What a notebook shows of a page: title, verdicts, scoreboard, charts of the differences, and how to have it all."""
    rest = Paragraph(f"{WRITE}, with every query to look into.")
    shown = [block for section in page.sections for block in _shown(section)]
    return [*_top(page), *page.verdicts, *shown, rest]


def beginning_in_words(page: Page) -> list[Text]:
    """The same without charts, for a notebook without what draws them."""
    tables = [b for s in page.sections for b in _shown(s) if not isinstance(b, Chart | Explorer | Verdict)]
    said = [Paragraph(text) for verdict in page.verdicts for text in (verdict.text, *verdict.more)]
    return [*_top(page), *said, *tables, Paragraph(f"{WRITE}.")]


def _top(page: Page) -> list[Text]:
    return [Heading(page.title), Paragraph(page.about, quiet=True)]


def _shown(section: Section) -> list[Any]:
    """The scoreboard, without what is too large to be read at a glance, and the charts of the differences."""
    if section.name == "scoreboard":
        return [b for b in section.blocks if not isinstance(b, Table) or len(b.rows) <= MOST_ROWS]
    return _in(section) if section.name == "differences" else []


def _of_comparison(found: Comparison) -> list[Chart]:
    subject = Subject(found.scores, found)
    return [*_in(differences.section(subject)), *_in(differing_queries.section(subject))]


def _of_scores(found: Scores) -> list[Chart]:
    return _in(spread.section(Subject(found, None)))


def _in(section: Section | None) -> list[Chart]:
    return [block for block in section.blocks if isinstance(block, Chart)] if section else []


WRITE = 'report.save("report.html") writes the whole page'
MOST_ROWS = 30  # of a table that is read at a glance
KINDS: dict[type, Callable[[Any], list[Chart]]] = {Comparison: _of_comparison, Scores: _of_scores}
