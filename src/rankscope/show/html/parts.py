"""What the templates of a page take: blocks made ready, and the environment that writes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from rankscope.blocks import (
    Block,
    Chart,
    Code,
    Explorer,
    Facts,
    Heading,
    Notes,
    Page,
    Paragraph,
    Section,
    Table,
    Verdict,
)  # fmt: skip
from rankscope.show.extra import needed
from rankscope.show.html.explorer_data import encoded, listed
from rankscope.show.html.explorer_data import fragment as address_of
from rankscope.show.html.figures import shown_figure
from rankscope.show.html.tables import shown_table
from rankscope.show.html.text import TONES, shown, slug, told

KINDS: dict[type, str] = {
    Paragraph: "paragraph", Heading: "heading", Notes: "notes", Facts: "facts", Code: "code",
}  # fmt: skip


@cache
def environment() -> Any:
    """Where templates are found and how they write: everything escaped, nothing undefined, no control characters."""
    jinja = needed("jinja2")
    markup = needed("markupsafe").Markup

    def written(value: Any) -> Any:
        return shown(value) if isinstance(value, str) and not isinstance(value, markup) else value

    made = jinja.Environment(
        loader=jinja.PackageLoader("rankscope.show.html"),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        finalize=written,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["told"] = told
    made.globals["tones"] = TONES
    return made


@dataclass
class Parts:
    """The blocks of a page made ready for its templates, each with an id and a name of its own."""

    page: Page
    used: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        explorer = self.page.explorer
        self.queries = {query.query_id for query in explorer.queries} if explorer else set()

    def link(self, query_id: str) -> str:
        """The address of a query, or nothing where it cannot be looked into."""
        return f"#{address_of(query_id)}" if query_id in self.queries else ""

    def deciding(self, verdict: Verdict) -> list[tuple[str, str, str, tuple[str, ...]]]:
        """The queries that decide a verdict, each with its address, what to say of it, and the two runs to look into it with."""
        pairs = verdict.pairs or ((),) * len(verdict.queries)
        return [
            (self.link(query_id), query_id, said, pair)
            for (query_id, said), pair in zip(verdict.queries, pairs, strict=True)
        ]

    def part(self, block: Block | Chart | Explorer | Verdict, section: Section) -> dict[str, Any]:
        """What a template needs of a block."""
        if isinstance(block, Explorer):
            data = needed("markupsafe").Markup(encoded(block))
            return {"kind": "explorer", "data": data, "listed": listed(block)}
        if isinstance(block, Verdict):
            return {"kind": "verdict", "shown": block, "links": self.deciding(block)}
        if isinstance(block, Table):
            name = self.distinct(slug(block.name) or slug(section.name) or "table")
            label = self.distinct(block.title or f"Table of {section.title}", " ")
            return {"kind": "table", "shown": shown_table(block, f"table-{name}", name, label, self.link)}
        if isinstance(block, Chart):
            name = self.distinct(slug(block.name) or slug(section.name) or "chart")
            figure = shown_figure(block, f"chart-{name}", name, self.link)
            return {"kind": "chart", "shown": figure, "data": needed("markupsafe").Markup(figure.data)}
        return {"kind": KINDS[type(block)], "shown": block}

    def distinct(self, name: str, join: str = "-") -> str:
        """A name that no other block has: numbered from the second on."""
        count = self.used[name] = self.used.get(name, 0) + 1
        return name if count == 1 else f"{name}{join}{count}"
