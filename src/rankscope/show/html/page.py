"""A page as one HTML file that loads nothing and needs no network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rankscope.blocks import Chart, Page, Paragraph, Section
from rankscope.show.extra import needed
from rankscope.show.html import assets
from rankscope.show.html.notebook import fragment
from rankscope.show.html.parts import Parts, environment

__all__ = ["fragment", "render"]


def render(page: Page) -> str:
    """A page as HTML: the same page gives the same bytes.

    Styles, scripts and data stand in the file; its content security policy lets nothing else in. Tables and verdicts are
    static, so that they can be read where no script runs. Raises MissingExtraError without the packages of ``[report]``.
    """
    markup = needed("markupsafe").Markup
    parts = Parts(page)
    sections = [_section(section, parts) for section in page.sections]
    drawn = any(isinstance(b, Chart) and b.rows for section in page.sections for b in section.blocks)
    explored = page.explorer is not None
    first, scripts = assets.static(assets.FIRST), list(_scripts(drawn, explored))
    styles = [
        *assets.STYLES,
        *(assets.EXPLORER_STYLES if explored else ()),
        *assets.LAST_STYLES,
    ]
    return str(
        environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            sections=sections,
            verdicts=[(verdict, parts.deciding(verdict)) for verdict in page.verdicts],
            policy=assets.policy([first, *scripts]),
            styles=[markup(assets.static(name)) for name in styles],
            first=markup(first),
            themes=_themes(markup) if drawn else "",
            scripts=[markup(script) for script in scripts],
        )
    )


def _scripts(drawn: bool, explored: bool) -> Iterator[str]:
    """The scripts of a page in their order; the runtime of the charts only where there are charts."""
    if drawn:
        from rankscope.show.charts import runtime

        yield runtime()
    yield from map(assets.static, assets.SCRIPTS)
    if drawn:
        yield from map(assets.static, assets.CHART_SCRIPTS)
    if explored:
        yield from map(assets.static, assets.EXPLORER_SCRIPTS)


def _themes(markup: Callable[[str], str]) -> str:
    from rankscope.show.charts import themes

    return markup(assets.as_data(themes()))


def _section(section: Section, parts: Parts) -> dict[str, Any]:
    return {
        "name": section.name,
        "title": section.title,
        "lead": section.lead,
        "folded": section.folded,
        "parts": [parts.part(block, section) for block in section.blocks if block != Paragraph("")],
    }
