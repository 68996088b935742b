"""A page as one HTML file that loads nothing, and blocks as HTML for a notebook."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any

from rankscope import words
from rankscope.blocks import (
    Answer,
    Block,
    Chart,
    Explorer,
    Page,
    Paragraph,
    Section,
    Table,
    Tone,
    Value,
    ValueRange,
    Verdict,
    plain_value,
)
from rankscope.show.cells import note_text, text_of
from rankscope.show.charts import data_of, runtime, spec_of, svg_of, themes
from rankscope.show.charts.data import query_field
from rankscope.show.charts.marks import in_percent, scale_of_values
from rankscope.show.charts.theme import PALETTE
from rankscope.show.extra import import_extra
from rankscope.show.html import assets
from rankscope.show.html import explorer_data as explorers
from rankscope.show.html.tables import TONES, Link, slug, table_of, visible, visible_id

SECTION_FIELDS = ("name", "title", "label", "lead", "folded", "blocks")  # that the template reads
MOST = 200  # rows of a table in a notebook, and of the numbers of a chart: more numbers are saved, not shown
MARKS: dict[Tone, str] = {
    "better": "#1f6fc6", "worse": "#de6a0c", "unclear": "#8a84a3", "same": "#8a8f98", "opposite": "#de6a0c", "invalid": "#c62828", "plain": "rgba(128,128,128,.4)",
}  # fmt: skip
WHOLE = re.compile(r"\bp (?:=|&lt;) [\d.]*\d|(?<!\S)--[a-z][a-z-]*")  # in text that is escaped
QUERY = 30  # signs of the text of a query that decides a verdict
RUN = 40  # characters of the name of a run
HEIGHT = 260  # pixels reserved for a chart of unknown height


@cache
def environment() -> Any:
    """Return the environment of templates: everything escaped, nothing undefined, no control characters."""
    jinja = import_extra("jinja2")
    markup = import_extra("markupsafe").Markup

    def escape_controls(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, markup) else value

    def unbroken(text: str) -> Any:
        """Running text in which no line breaks within a p-value or an option."""
        return markup(WHOLE.sub(r'<span class="whole">\g<0></span>', str(markup.escape(visible(text)))))

    made = jinja.Environment(
        loader=jinja.PackageLoader("rankscope.show.html"), undefined=jinja.StrictUndefined, finalize=escape_controls,
        autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    made.globals.update(tones=TONES, words=words, palette=PALETTE)
    made.filters.update(unbroken=unbroken, note_text=note_text)
    return made


def fragment(blocks: Iterable[Block | Chart | Explorer | Verdict], dark: bool | None = None) -> str:
    """Blocks as HTML for a notebook.

    Charts are pictures for a dark or a light notebook, on white if ``dark`` is None. Raises
    MissingExtraError without the packages of ``[report]``.

    >>> print(fragment([Paragraph("30 judged <queries>")]))
    <div class="rankscope" style="...">
    <p style="margin:.5em 0">30 judged &lt;queries&gt;</p>
    </div>
    <BLANKLINE>
    """
    parts = [_part(block, dark) for block in blocks if block != Paragraph("")]
    return str(environment().get_template("fragment.html.j2").render(parts=parts, most=MOST, marks=MARKS))


def _part(block: Block | Chart | Explorer | Verdict, dark: bool | None) -> dict[str, Any]:
    """Return the data of a block for the template of a notebook."""
    part: dict[str, Any] = {"kind": type(block).__name__.lower(), "shown": block}
    if isinstance(block, Table):
        part["shown"] = table_of(block, "", "", "", lambda _: "")
    elif isinstance(block, Chart):
        part |= {"title": block.title, "svg": import_extra("markupsafe").Markup(_svg(block, dark))}
    elif isinstance(block, Explorer):
        part["count"] = len(block.queries)
    return part


def _svg(chart: Chart, dark: bool | None) -> str:
    """The picture of a chart, with ids that no other chart of the notebook has: of equal ids a browser takes the first."""
    if not chart.rows:
        return ""
    svg = svg_of(chart, dark=bool(dark))
    own = "r" + hashlib.sha256(svg.encode()).hexdigest()[:10]
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{own}-", svg)
    # fonts of the notebook may be wider than those the picture was measured with
    paper = ";background:#fff;border-radius:4px" if dark is None else ""
    style = f"max-width:100%;height:auto;box-sizing:border-box;padding:10px 16px{paper}"
    return svg.replace("<svg ", f'<svg style="{style};overflow:visible" ', 1)


def render(page: Page) -> str:
    """A page as HTML: the same page gives the same bytes.

    The file contains its styles, scripts and data; its content security policy allows nothing else. Tables and verdicts are
    static, so that they can be read without scripts. Raises MissingExtraError without the packages of ``[report]``.
    """
    markup = import_extra("markupsafe").Markup
    parts = PageBlocks(page)
    answer = parts.answer(page.answer) if page.answer is not None else None
    verdicts = [(verdict, parts.deciding(verdict)) for verdict in page.verdicts]
    sections = [_section(section, parts) for section in page.sections]
    drawn = any(isinstance(b, Chart) and b.rows for section in page.sections for b in section.blocks)
    explored = page.explorer is not None
    # without the runtime of charts: it runs when the first chart is drawn
    names = [*assets.SCRIPTS, *(assets.CHART_SCRIPTS if drawn else ()), *(assets.EXPLORER_SCRIPTS if explored else ())]
    first, scripts = assets.static(assets.FIRST), [assets.static(name) for name in names]
    drawing = runtime() if drawn else ""
    styles = [*assets.STYLES, *(assets.EXPLORER_STYLES if explored else ()), *assets.LAST_STYLES]
    filled = environment().get_template("page.html.j2").render(
        page=page, sections=sections, first=markup(first), themes=markup(assets.as_data(themes())) if drawn else "",
        answer=answer, verdicts=verdicts, explored=next((s.name for s in page.sections if page.explorer in s.blocks), "") if explored else "",
        runtime=markup(assets.packed(drawing)) if drawn else "", runtime_size=len(drawing.encode()),
        policy=assets.policy([first, *scripts, *([drawing] if drawn else [])]),
        styles=[markup(assets.static(name)) for name in styles],
        scripts=[markup(script) for script in scripts],
    )  # fmt: skip
    return str(filled)


def _section(section: Section, parts: PageBlocks) -> dict[str, Any]:
    blocks = [block for block in section.blocks if block != Paragraph("")]
    groups = [(title, [parts.part(block, section) for block in g]) for title, g in _groups(blocks, section.folded)]
    return {name: getattr(section, name) for name in SECTION_FIELDS} | {"groups": groups}


def _groups(blocks: Sequence[Any], folded: bool) -> Iterator[tuple[str, Sequence[Any]]]:
    """The blocks of a section, those to be folded under a title: in a folded section each chart but the first, with all up to the next."""
    drawn = [isinstance(block, Chart) for block in blocks]
    starts = [i for i, here in enumerate(drawn) if here and not (i and drawn[i - 1])][1:] if folded else []
    end = len(blocks)
    while starts and isinstance(blocks[end - 1], Paragraph):
        end -= 1
    edges = [0, *starts, end]
    for first, last in itertools.pairwise(edges):
        yield blocks[first].title if first in starts else "", blocks[first:last]
    yield "", blocks[end:]


# --- charts
def figure_of(chart: Chart, anchor: str, name: str, link: Link) -> dict[str, Any]:
    """Return a chart with its own id, the name of its files, its data as JSON, and its numbers as a table if they are few."""
    made = {
        "anchor": anchor, "chart": chart, "name": name, "alt": alt_of(chart), "data": "", "height": 0, "table": None,
    }  # fmt: skip
    if not chart.rows:
        return made
    spec = spec_of(chart)
    if len(chart.rows) <= MOST and not chart.told:
        numbers = Table(chart.columns, chart.rows, name=name)
        made["table"] = table_of(numbers, f"{anchor}-numbers", name, f"Numbers: {chart.title}", link)
    ranged = [any(isinstance(row[i], ValueRange) for row in chart.rows) for i in range(len(chart.columns))]
    columns = [
        {"header": c.header, "ranged": some, "kind": c.kind} for c, some in zip(chart.columns, ranged, strict=True)
    ]
    data = {
        "spec": spec, "columns": columns, "query": query_field(chart), "count": len(chart.rows), "fields": pack(chart),
    }  # fmt: skip
    height = spec["height"] if isinstance(spec.get("height"), int) else HEIGHT
    return made | {"data": import_extra("markupsafe").Markup(assets.as_data(data)), "height": height}


def alt_of(chart: Chart) -> str:
    """Return the text for a chart that is not seen: its title, and the lowest and the highest value with their names.

    >>> from rankscope.blocks import Column
    >>> columns = (Column("run"), Column("AP", "value"))
    >>> alt_of(Chart("a", "Means", "bars", columns, (("bm25", 0.25), ("dense", 0.5)), x="run", y="AP"))
    'Means. 2 values of AP, from 0.250 (bm25) to 0.500 (dense)'
    """
    value = scale_of_values(chart)
    at = chart.at(value)
    # a place or a number on the other axis names no one
    of_queries = chart.query and chart.form in {"ordered", "points"}
    names = {chart.query, chart.series} if of_queries else {chart.x, chart.y, chart.series}
    named = [i for i, column in enumerate(chart.columns) if column.header in names - {value, ""}]
    digits = 1 if in_percent(value) else None
    numbers = [(plain_value(row[at]), row) for row in chart.rows]
    known = [(n, row) for n, row in numbers if isinstance(n, int | float) and math.isfinite(n)]
    if not known:
        return chart.title

    def said(row: Sequence[Value]) -> str:
        names = words.short(", ".join(visible(text_of(row[i], chart.columns[i].kind)) for i in named))
        number = float(plain_value(row[at]))  # type: ignore[arg-type]
        return f"{words.amount(number) if number.is_integer() else words.number(number, digits=digits)}{f' ({names})' if names else ''}"

    low, high = (said(pick(known, key=lambda one: one[0])[1]) for pick in (min, max))
    return f"{chart.title}. {words.counted(len(known), 'value')} of {value}, from {low} to {high}"


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


# --- the parts of a page
class PageBlocks:
    """The blocks of a page made ready for its templates, each with an id and a name of its own."""

    def __init__(self, page: Page) -> None:
        self.page, self.uses, explorer = page, dict[str, int](), page.explorer
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
        address = explorers.fragment(query_id, runs)
        places = self.places.setdefault(explorers.fragment(query_id), [])
        if runs and address not in places:
            places.append(address)
        return f"#{address}"

    def answer(self, answer: Answer) -> dict[str, Any]:
        """Return the data of the first screen for its template."""
        titles = {section.name: section.label or section.title for section in self.page.sections}
        links = self._deciding(answer)
        self.decided.append([one["address"] or one["query_id"] for one in links])
        name, label = self.distinct("answer"), "The answer in numbers"
        board = table_of(answer.board, "table-answer", name, label, lambda _: "")
        return {"shown": answer, "board": board, "section": titles.get(answer.caution_at, ""), "links": links}

    def deciding(self, verdict: Verdict) -> list[dict[str, str]]:
        """Return the queries that decide a verdict; none if an earlier verdict named them with the same runs."""
        queries = self._deciding(verdict)
        addresses = [one["address"] or one["query_id"] for one in queries]
        if any(
            earlier and (set(addresses) <= set(earlier) or set(earlier) <= set(addresses)) for earlier in self.decided
        ):
            return []
        self.decided.append(addresses)
        return queries

    def _deciding(self, of: Answer | Verdict) -> list[dict[str, str]]:
        """Return the address, id, sentence and text of each query; where names or texts are cut, also the whole."""
        out = []
        for (query_id, sentence), systems in zip(of.queries, of.pairs or ((),) * len(of.queries), strict=True):
            text = " ".join(self.texts.get(query_id, "").split())
            short, brief = words.short(text, QUERY), sentence
            for name in sorted(systems, key=len, reverse=True):
                brief = brief.replace(name, words.short(name, RUN))
            whole = {
                "whole_sentence": sentence if brief != sentence else "",
                "whole_text": text if short != text else "",
            }
            shown = {"address": self.link(query_id, systems), "query_id": visible_id(query_id)}
            out.append({**shown, "sentence": brief, "text": short, **whole})
        return out

    def part(self, block: Block | Chart | Explorer | Verdict, section: Section) -> dict[str, Any]:
        """Return the data of a block for its template."""
        if isinstance(block, Explorer):
            data = import_extra("markupsafe").Markup(explorers.encode(block))
            # links are known only when all parts are ready
            rows = partial(explorers.query_table, block, self.places)
            return {"kind": "explorer", "data": data, "listed": rows, "places": self.places}
        if isinstance(block, Verdict):
            return {"kind": "verdict", "shown": block, "links": self.deciding(block)}
        kind = type(block).__name__.lower()
        if not isinstance(block, Table | Chart):
            return {"kind": kind, "shown": block}
        name = self.distinct(slug(block.name) or slug(section.name) or kind)
        link = partial(self.link, systems=block.pair)
        if isinstance(block, Chart):
            return {"kind": kind, "shown": figure_of(block, f"chart-{name}", name, link), "pair": self.pair(block.pair)}
        label = self.distinct(block.title or f"Table of {section.title}", " ")
        return {"kind": kind, "shown": table_of(block, f"table-{name}", name, label, link)}

    def distinct(self, name: str, join: str = "-") -> str:
        """A name that no other block has: numbered from the second on."""
        count = self.uses[name] = self.uses.get(name, 0) + 1
        return name if count == 1 else f"{name}{join}{count}"
