"""Values on the command line that the shell can complete, or that stand for what a file holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from rankscope.errors import MOST, InputError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Kind = click.ParamType[Any]
else:
    Kind = click.ParamType  # not generic before click 8.4

COMPLETION = "_RANKSCOPE_COMPLETE"  # by this variable of the environment a shell asks for completions
CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)

Names = Iterable[tuple[str, str]]  # each with what it is about


@dataclass(frozen=True, eq=False, repr=False)
class NameType(Kind):
    """A name that the shell completes; what it means, and whether there is one, is for the verb to say.

    ``offers`` takes what was typed so far and gives the names there are, each with what it is about.
    """

    name: str
    offers: Callable[[str], Names]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that go on from what was typed."""
        from click.shell_completion import CompletionItem

        start = incomplete.casefold()
        offers = self.offers(incomplete)
        return [CompletionItem(name, help=about) for name, about in offers if name.casefold().startswith(start)]


class WholeNumber(click.IntRange):
    """A whole number, whose least value help shows; one that is beyond what can be computed with is refused, too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number that was typed."""
        number = super().convert(value, param, ctx)
        if number > MOST:
            self.fail(f"{value} is too large, {MOST:,} is the most", param, ctx)
        return number


def _metrics(start: str) -> Names:
    from rankscope.verbs.catalogue.catalogue import spellings

    return spellings(CUTOFFS if "@" in start else (10,))


def _families(_: str) -> Names:
    from rankscope.verbs.catalogue.catalogue import spellings

    return spellings(())


def _dialects(_: str) -> Names:
    from rankscope.dialects import DIALECTS

    return ((name, dialect.about) for name, dialect in DIALECTS.items())


def _inferences(kind: str) -> Iterator[tuple[str, str]]:
    from rankscope.declared import doc_of
    from rankscope.inference import NAMES, find_method
    from rankscope.inference.base import Correction, Interval, PairedTest

    base: Any = {"test": PairedTest, "interval": Interval, "correction": Correction}[kind]
    for name in NAMES[kind]:
        yield name, doc_of(find_method(base, name)).partition("\n")[0]


def _tasks(_: str) -> Names:
    from rankscope.verbs.advise.tasks import TASKS

    return ((task.name, task.about) for task in TASKS)


METRIC = NameType("metric", _metrics)
FAMILY = NameType("name", _families)
DIALECT = NameType("tool", _dialects)
TEST = NameType("test", lambda _: _inferences("test"))
INTERVAL = NameType("interval", lambda _: _inferences("interval"))
TASK = NameType("task", _tasks)
CORRECTION = NameType("correction", lambda _: _inferences("correction"))


def label(text: str) -> str:
    """What LaTeX refers to a table by. Raises InputError for what can be none."""
    from rankscope.show.latex import check_label

    return check_label(text)


def listed_queries(text: str) -> str | list[str]:
    """Which queries are averaged: the name of a population as it is, or the ids that the file behind an @ lists."""
    if not text.startswith("@"):
        return text
    from pathlib import Path

    try:
        lines = Path(text[1:]).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no UTF-8 text"
        remedy = "--queries @FILE wants a query id a line"
        raise InputError(f"{text[1:]}: cannot be read: {reason}; {remedy}") from None
    ids = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    if not ids:
        raise InputError(f"{text[1:]}: lists no query; --queries @FILE wants a query id a line")
    return ids
