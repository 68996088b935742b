"""Results as tables and charts in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import ClassVar

from rankscope.blocks import Block as Text
from rankscope.blocks import Chart, Explorer, Verdict
from rankscope.errors import MissingExtraError


class InNotebook:
    """A result that a notebook shows as it would be printed, and with its charts where these can be drawn.

    ``shown_by`` names the module whose ``blocks_of`` makes it visible.
    """

    shown_by: ClassVar[str]

    def _repr_markdown_(self) -> str:
        from rankscope.show.text import as_markdown

        return as_markdown(import_module(self.shown_by).blocks_of(self))

    def _repr_html_(self) -> str | None:
        from rankscope.reporting.figures import charts_of

        return fragment([*import_module(self.shown_by).blocks_of(self), *charts_of(self)])


def fragment(blocks: Sequence[Text | Chart | Explorer | Verdict]) -> str | None:
    """Blocks as a piece of HTML; None where what draws it is not installed, so that a notebook shows Markdown."""
    try:
        from rankscope.show.html.page import fragment as made

        return made([block for block in blocks if not isinstance(block, Explorer)])
    except MissingExtraError:
        return None
