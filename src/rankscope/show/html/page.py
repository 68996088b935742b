"""A page as one HTML file that loads nothing, and blocks as HTML for a notebook."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rankscope.blocks import Block, Chart, Explorer, Page, Paragraph, Section, Table, Tone, Verdict
from rankscope.show.charts import runtime, svg_of, themes
from rankscope.show.extra import import_extra
from rankscope.show.html import assets
from rankscope.show.html.parts import PageBlocks, environment
from rankscope.show.html.tables import table_of

MOST = 200  # rows of a table
MARKS: dict[Tone, str] = {
    "better": "#1f6fc6", "worse": "#de6a0c", "unclear": "#8a84a3", "same": "#8a8f98", "opposite": "#de6a0c", "plain": "rgba(128,128,128,.4)",
}  # fmt: skip


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
    if isinstance(block, Table):
        return {"kind": "table", "shown": table_of(block, "", "", "", lambda _: "")}
    if isinstance(block, Chart):
        return {"kind": "chart", "title": block.title, "svg": import_extra("markupsafe").Markup(_svg(block, dark))}
    if isinstance(block, Explorer):
        return {"kind": "explorer", "count": len(block.queries)}
    if isinstance(block, Verdict):
        return {"kind": "verdict", "shown": block}
    return {"kind": type(block).__name__.lower(), "shown": block}


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
    first, scripts, drawing = assets.static(assets.FIRST), list(_scripts(drawn, explored)), runtime() if drawn else ""
    styles = [*assets.STYLES, *(assets.EXPLORER_STYLES if explored else ()), *assets.LAST_STYLES]
    filled = environment().get_template("page.html.j2").render(
        page=page, sections=sections, first=markup(first), themes=markup(assets.as_data(themes())) if drawn else "",
        answer=answer, verdicts=verdicts,
        runtime=markup(assets.packed(drawing)) if drawn else "", runtime_size=len(drawing.encode()),
        policy=assets.policy([first, *scripts, *([drawing] if drawn else [])]),
        styles=[markup(assets.static(name)) for name in styles],
        scripts=[markup(script) for script in scripts],
    )  # fmt: skip
    return str(filled)


def _scripts(drawn: bool, explored: bool) -> Iterator[str]:
    """Return the scripts of a page in order, without the runtime of charts: it runs when the first chart is drawn."""
    yield from map(assets.static, assets.SCRIPTS)
    if drawn:
        yield from map(assets.static, assets.CHART_SCRIPTS)
    if explored:
        yield from map(assets.static, assets.EXPLORER_SCRIPTS)


def _section(section: Section, parts: PageBlocks) -> dict[str, Any]:
    blocks = [block for block in section.blocks if block != Paragraph("")]
    made = [
        (title, [parts.part(block, section) for block in group]) for title, group in _groups(blocks, section.folded)
    ]
    return {"groups": made, **{name: getattr(section, name) for name in ("name", "title", "lead", "folded", "blocks")}}


def _groups(blocks: Sequence[Any], folded: bool) -> Iterator[tuple[str, Sequence[Any]]]:
    """The blocks of a section, those to be folded under a title: in a folded section each chart but the first, with all up to the next.

    Consecutive charts are side by side and folded together; the last paragraphs stay open.
    """
    drawn = [isinstance(block, Chart) for block in blocks]
    starts = [i for i, here in enumerate(drawn) if here and not (i and drawn[i - 1])][1:] if folded else []
    end = len(blocks)
    while starts and isinstance(blocks[end - 1], Paragraph):
        end -= 1
    edges = [0, *starts, end]
    for first, last in itertools.pairwise(edges):
        yield blocks[first].title if first in starts else "", blocks[first:last]
    yield "", blocks[end:]
