"""The parts of an HTML page: charts with their data, tables, verdicts, made ready for the templates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from rankscope import words
from rankscope.blocks import Answer, Block, Chart, Explorer, Page, Section, Table, ValueRange, Verdict
from rankscope.show.cells import note_text
from rankscope.show.charts import data_of, spec_of
from rankscope.show.charts.data import query_field
from rankscope.show.charts.theme import PALETTE
from rankscope.show.extra import import_extra
from rankscope.show.html.assets import as_data
from rankscope.show.html.explorer_data import encode, query_table
from rankscope.show.html.explorer_data import fragment as address_of
from rankscope.show.html.tables import TONES, HtmlTable, Link, slug, table_of, visible, visible_id

P_VALUE = re.compile(r"\bp (?:=|&lt;) [\d.]*\d")  # in text that is escaped
MANY = 200  # rows: more numbers are saved, not shown
QUERY = 60  # signs of the text of a query that decides a verdict
RUN = 40  # characters of the name of a run
HEIGHT = 260  # pixels reserved for a chart of unknown height


@dataclass(frozen=True)
class Figure:
    """A chart with its own id, the name of its files, its data as JSON, and its numbers as a table if they are few."""

    anchor: str
    chart: Chart
    name: str
    data: str
    height: int
    table: HtmlTable | None


def figure_of(chart: Chart, anchor: str, name: str, link: Link) -> Figure:
    """A chart made ready for the page."""
    if not chart.rows:
        return Figure(anchor, chart, name, "", 0, None)
    spec = spec_of(chart)
    height = spec.get("height")
    table = None
    if len(chart.rows) <= MANY and not chart.told:
        numbers = Table(chart.columns, chart.rows, name=name)
        table = table_of(numbers, f"{anchor}-numbers", name, f"Numbers: {chart.title}", link)
    ranged = [any(isinstance(row[i], ValueRange) for row in chart.rows) for i in range(len(chart.columns))]
    columns = [{"header": c.header, "ranged": some} for c, some in zip(chart.columns, ranged, strict=True)]
    data = {
        "spec": spec, "columns": columns, "query": query_field(chart), "count": len(chart.rows), "fields": pack(chart),
    }  # fmt: skip
    return Figure(anchor, chart, name, as_data(data), height if isinstance(height, int) else HEIGHT, table)


def pack(chart: Chart) -> dict[str, Any]:
    """The rows by field; repeated names are stored once, with their positions in ``at``."""
    records = data_of(chart)
    fields = dict.fromkeys(field for record in records for field in record)
    return {field: _column([record.get(field) for record in records]) for field in fields}


def _column(values: Sequence[Any]) -> Any:
    if not any(isinstance(value, str) for value in values):
        return values
    places: dict[Any, int] = {}
    at = [places.setdefault(value, len(places)) for value in values]
    return values if 2 * len(places) > len(values) else {"of": list(places), "at": at}


@cache
def environment() -> Any:
    """Return the environment of templates: everything escaped, nothing undefined, no control characters."""
    jinja = import_extra("jinja2")
    markup = import_extra("markupsafe").Markup

    def escape_controls(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, markup) else value

    def unbroken(text: str) -> Any:
        """Running text in which no line breaks within a p-value."""
        return markup(P_VALUE.sub(r'<span class="whole">\g<0></span>', str(markup.escape(visible(text)))))

    made = jinja.Environment(
        loader=jinja.PackageLoader("rankscope.show.html"), undefined=jinja.StrictUndefined, finalize=escape_controls,
        autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    made.globals.update(tones=TONES, words=words, palette=PALETTE)
    made.filters.update(unbroken=unbroken, note_text=note_text)
    return made


@dataclass(frozen=True)
class Deciding:
    """A query that decides a verdict: its address, its id, its sentence, and its text.

    If names of runs in the ``sentence`` are cut, ``whole_sentence`` has them in full, and ``whole_text`` has the ``text``.
    """

    address: str
    query_id: str
    sentence: str
    whole_sentence: str
    text: str
    whole_text: str


@dataclass
class PageBlocks:
    """The blocks of a page made ready for its templates, each with an id and a name of its own."""

    page: Page
    uses: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        explorer = self.page.explorer
        self.texts = {query.query_id: query.text for query in explorer.queries} if explorer else {}
        self.runs = {run: run for run in explorer.runs} if explorer else {}
        # the mean of several runs has no ranking: its first run is shown
        self.runs |= {system: runs[0] for system, runs in explorer.members} if explorer else {}
        # the addresses of each query with two runs: targets of links without scripts
        self.places: dict[str, list[str]] = {}
        self.decided: list[list[str]] = []

    def pair(self, systems: tuple[str, ...]) -> tuple[str, ...]:
        """Return the two runs of the explorer for two systems; empty if it lacks them."""
        runs = tuple(self.runs[name] for name in systems if name in self.runs)
        return runs if len(runs) == 2 and runs[0] != runs[1] else ()

    def link(self, query_id: str, systems: tuple[str, ...] = ()) -> str:
        """Return the address of a query, with two runs if known; empty if the page does not show it."""
        if query_id not in self.texts:
            return ""
        runs = self.pair(systems)
        address = address_of(query_id, runs)
        places = self.places.setdefault(address_of(query_id), [])
        if runs and address not in places:
            places.append(address)
        return f"#{address}"

    def answer(self, answer: Answer) -> dict[str, Any]:
        """Return the data of the first screen for its template."""
        titles = {section.name: section.title for section in self.page.sections}
        pairs = answer.pairs or ((),) * len(answer.queries)
        links = [self._deciding(*query, pair) for query, pair in zip(answer.queries, pairs, strict=True)]
        self.decided.append([one.address or one.query_id for one in links])
        return {
            "shown": answer,
            "board": table_of(
                answer.board, "table-answer", self.distinct("answer"), "The answer in numbers", lambda _: ""
            ),
            "section": titles.get(answer.caution_at, ""),
            "links": links,
        }

    def deciding(self, verdict: Verdict) -> list[Deciding]:
        """Return the queries that decide a verdict; none if an earlier verdict named them all with the same runs."""
        pairs = verdict.pairs or ((),) * len(verdict.queries)
        found = [self._deciding(*query, pair) for query, pair in zip(verdict.queries, pairs, strict=True)]
        addresses = [one.address or one.query_id for one in found]
        if any(set(addresses) <= set(told) for told in self.decided):
            return []
        self.decided.append(addresses)
        return found

    def _deciding(self, query_id: str, said: str, systems: tuple[str, ...]) -> Deciding:
        text = " ".join(self.texts.get(query_id, "").split())
        short, brief = words.short(text, QUERY), said
        for name in sorted(systems, key=len, reverse=True):
            brief = brief.replace(name, words.short(name, RUN))
        told, whole = said if brief != said else "", text if short != text else ""
        return Deciding(self.link(query_id, systems), visible_id(query_id), brief, told, short, whole)

    def part(self, block: Block | Chart | Explorer | Verdict, section: Section) -> dict[str, Any]:
        """Return the data of a block for its template."""
        if isinstance(block, Explorer):
            data = import_extra("markupsafe").Markup(encode(block))
            # links are known only when all parts are ready
            rows = partial(query_table, block, self.places)
            return {"kind": "explorer", "data": data, "listed": rows, "places": self.places}
        if isinstance(block, Verdict):
            return {"kind": "verdict", "shown": block, "links": self.deciding(block)}
        if isinstance(block, Table):
            name = self.distinct(slug(block.name) or slug(section.name) or "table")
            label = self.distinct(block.title or f"Table of {section.title}", " ")
            return {
                "kind": "table",
                "shown": table_of(block, f"table-{name}", name, label, partial(self.link, systems=block.pair)),
            }
        if isinstance(block, Chart):
            name = self.distinct(slug(block.name) or slug(section.name) or "chart")
            figure = figure_of(block, f"chart-{name}", name, partial(self.link, systems=block.pair))
            data = import_extra("markupsafe").Markup(figure.data)
            return {"kind": "chart", "shown": figure, "data": data, "pair": self.pair(block.pair)}
        return {"kind": type(block).__name__.lower(), "shown": block}

    def distinct(self, name: str, join: str = "-") -> str:
        """A name that no other block has: numbered from the second on."""
        count = self.uses[name] = self.uses.get(name, 0) + 1
        return name if count == 1 else f"{name}{join}{count}"
