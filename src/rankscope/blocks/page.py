"""A page: its verdict first, then sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rankscope.blocks.chart import Chart
from rankscope.blocks.explorer import Explorer
from rankscope.blocks.text import Block

Tone = Literal["better", "worse", "unclear", "same", "plain"]


@dataclass(frozen=True)
class Verdict:
    """A sentence that answers the question of the page; ``tone`` sets its word, sign and colour.

    ``about`` is what it is a verdict on, in a few words (``hybrid against bm25``); ``queries`` are the ids of queries that decide it,
    each with what to say of it, to be looked into. ``more`` says less important things, such as what other metrics tell.
    ``pairs`` names the two runs that each of the queries is to be looked into with, the baseline first; where it is empty, these are
    the first two.
    """

    text: str
    tone: Tone = "plain"
    about: str = ""
    queries: tuple[tuple[str, str], ...] = ()
    more: tuple[str, ...] = ()
    pairs: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Section:
    """A part of a page. ``name`` is its anchor, ``lead`` says in a sentence what it shows; ``folded`` ones open on demand."""

    name: str
    title: str
    blocks: tuple[Block | Chart | Explorer | Verdict, ...]
    lead: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """A whole page. ``about`` says in a line what it is of; ``foot`` stands at its end."""

    title: str
    about: str
    verdicts: tuple[Verdict, ...]
    sections: tuple[Section, ...]
    foot: str = ""

    @property
    def explorer(self) -> Explorer | None:
        """The rankings of the page to look into; None where there are none."""
        found = (b for section in self.sections for b in section.blocks if isinstance(b, Explorer))
        return next(found, None)
