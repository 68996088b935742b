"""Interpolated precision: the best precision at a recall or beyond."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists, running
from rankscope.metrics.base import Example, JudgedOnly, Level, Metric, Terms, first
from rankscope.metrics.trec import TENTHS, TrecName, two_places

Compat = Annotated[
    Literal[9, 10],
    Param(
        "how recall times R is rounded to a number of documents: 10 half away from zero, 9 floor(x + 0.9), as trec_eval of that version"
    ),
]


def documents_needed(recall: float, known: Array, compat: int) -> Array:
    """How many relevant documents a share of recall means."""
    exact = recall * known
    if compat == 9:
        return np.floor(exact + 0.9)
    whole = np.floor(exact)
    return whole + (exact - whole >= 0.5)


def best_beyond(relevant: Array, precision: Array, need: Array) -> Array:
    """Marks, in each row, the first cell of the highest precision with at least ``need`` relevant documents."""
    candidate = np.where(relevant & (running(relevant) >= need[:, None]), precision, 0.0)
    return first((candidate == candidate.max(axis=1, keepdims=True)) & (candidate > 0))


class IPrec(Metric, aliases=("InterpolatedPrecision",), at="recall"):
    """The best precision at this recall level or beyond."""

    formula = "max over ranks with recall ≥ x of precision"
    convention = "x · R is rounded half away from zero (trec_eval 10); compat=9 rounds up from a tenth, as trec_eval 9 and pytrec_eval"
    source = "trec_eval iprec_at_recall"
    best_for = "drawing precision against recall"
    examples = (Example("IPrec@0.5", (1, 0, 1, 0), "2 / 3", {"known": 4}),)
    trec = (TrecName("iprec_at_recall", sets="recall", defaults=TENTHS, reads=float, writes=two_places),)

    recall: Annotated[float | None, Param("the share of the known relevant documents", low=0, high=1, needed=True)] = (
        None
    )
    level: Level = 1.0
    compat: Compat = 10
    judged_only: JudgedOnly = False

    def terms(self, lists: Lists) -> Terms:
        relevant = lists.relevant(self.level)
        precision = running(relevant) / lists.rank
        need = documents_needed(float(self.recall or 0), lists.known(self.level), self.compat)
        return Terms(
            lists, {"best from here on": best_beyond(relevant, precision, need), "precision so far": precision}
        )


class IPrecAvg(Metric, aliases=("ElevenPointAverage", "11ptAP")):
    """The mean of interpolated precision over eleven recall levels."""

    formula = "mean of IPrec at recall 0, 0.1 ... 1"
    convention = "rounds as IPrec does: half away from zero; compat=9 for the older rule"
    source = "trec_eval 11pt_avg"
    best_for = "comparing with papers from before 2000"
    examples = (Example("IPrecAvg", (1, 1), "1"), Example("IPrecAvg", (0, 1), "11 * (1/2) / 11"))
    trec = (TrecName("11pt_avg", sets="points", defaults=(TENTHS,), reads=float, together=True, plain_too=True),)

    points: Annotated[tuple[float, ...], Param("the levels of recall", low=0, high=1)] = TENTHS
    level: Level = 1.0
    compat: Compat = 10
    judged_only: JudgedOnly = False

    def terms(self, lists: Lists) -> Terms:
        relevant, known = lists.relevant(self.level), lists.known(self.level)
        precision = running(relevant) / lists.rank
        marks = (best_beyond(relevant, precision, documents_needed(x, known, self.compat)) for x in self.points)
        return Terms(
            lists, {"levels decided here": _count(marks), "precision so far": precision}, float(len(self.points))
        )


def _count(marks: Iterable[Array]) -> Array:
    return np.asarray(sum(mark.astype(float) for mark in marks))
