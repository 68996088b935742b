"""What every section of a page is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Generic, TypeVar

from rankscope.blocks import Section
from rankscope.reporting.subject import Subject
from rankscope.scoring.scores import Scores

S = TypeVar("S", bound=Subject)


class PagePart(Generic[S]):
    """A section of a page: for which subjects it is made, and the tables and charts that it picks for one.

    A subclass declares ``name`` (its anchor) and ``title``, and for which kind of ``subjects`` it is made. One that is ``judged``
    needs scores of runs, one that is ``ranked`` the rankings, too.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    subjects: ClassVar[type[Subject]] = Subject
    judged: ClassVar[bool] = False
    ranked: ClassVar[bool] = False
    folded = False

    def __init__(self, subject: S) -> None:
        self.subject = subject

    @classmethod
    def section(cls, subject: Any) -> Section | None:
        """The section for a subject; None where it has nothing to show."""
        scores: Scores | None = subject.scores
        if not isinstance(subject, cls.subjects) or (
            (cls.judged or cls.ranked) and (scores is None or not scores.evaluations)
        ):
            return None
        if cls.ranked and (not subject.runs or subject.metric is None):
            return None
        part = cls(subject)  # type: ignore[arg-type] # it is of the kind that the class takes
        blocks = tuple(part.blocks())
        return Section(cls.name, cls.title, blocks, part.lead(), part.folded) if blocks else None

    @property
    def scores(self) -> Scores:
        """The scores of a subject that has some."""
        assert self.subject.scores is not None
        return self.subject.scores

    def blocks(self) -> Iterable[Any]:
        """What the section shows."""
        raise NotImplementedError

    def lead(self) -> str:
        """What it shows, in a sentence; asked for after the blocks."""
        return ""
