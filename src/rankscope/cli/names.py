"""Names on the command line that the shell can complete."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from rankscope.errors import InputError

if TYPE_CHECKING:
    Kind = click.ParamType[Any]
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
        from rankscope.verbs.catalogue.catalogue import spellings

        typed = incomplete.casefold()
        found = [
            (name, about)
            for name, about in spellings(CUTOFFS if "@" in incomplete else (10,))
            if name.casefold().startswith(typed)
        ]
        return [CompletionItem(name, help=about) for name, about in found]


class DialectName(Kind):
    """The name of a dialect; which there are is for the verb to say."""

    name = "tool"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The tools whose conventions are known."""
        from rankscope.dialects import DIALECTS

        return [
            CompletionItem(name, help=dialect.about)
            for name, dialect in DIALECTS.items()
            if name.startswith(incomplete.casefold())
        ]


class QueryChoice(Kind):
    """Which queries are averaged: a policy, or @ and a file that lists them."""

    name = "queries"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name of a policy as it is, the ids that a file lists as a list."""
        if not isinstance(value, str) or not value.startswith("@"):
            return value
        try:
            lines = Path(value[1:]).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", None) or "no UTF-8 text"
            raise InputError(
                f"{value[1:]}: cannot be read: {said}; --queries @FILE wants a query id a line"
            ) from None
        ids = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
        if not ids:
            raise InputError(f"{value[1:]}: lists no query; --queries @FILE wants a query id a line")
        return ids


class FamilyName(Kind):
    """The name of a metric without parameters."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names of the catalogue."""
        from rankscope.verbs.catalogue.catalogue import spellings

        return [
            CompletionItem(name, help=about)
            for name, about in spellings(())
            if name.casefold().startswith(incomplete.casefold())
        ]
