"""Names on the command line that the shell can complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    Kind = click.ParamType[str]
else:
    Kind = click.ParamType  # not generic before click 8.4

CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)


class MetricName(Kind):
    """The spelling of a metric; what it means is for the verb to say."""

    name = "metric"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Names that go on from what was typed, with cutoffs for those that take one."""
        from rankscope.verbs.catalogue import spellings

        typed = incomplete.casefold()
        found = [
            (name, about)
            for name, about in spellings(CUTOFFS if "@" in incomplete else (10,))
            if name.casefold().startswith(typed)
        ]
        return [CompletionItem(name, help=about) for name, about in found]


class FamilyName(Kind):
    """The name of a metric without parameters."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names of the catalogue."""
        from rankscope.verbs.catalogue import spellings

        return [
            CompletionItem(name, help=about)
            for name, about in spellings(())
            if name.casefold().startswith(incomplete.casefold())
        ]
