"""Results as tables and charts in a notebook."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

from rankscope.show.result import fragment


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
