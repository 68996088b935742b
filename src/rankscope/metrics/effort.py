"""Metrics of the time or the text that a reader spends before each document."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Annotated, Any, Literal, cast

import numpy as np

from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.lists import LENGTHS, Array, Lists, ShownLists, each, running
from rankscope.metrics.base import Cutoff, Example, Level, MaxGrade, Metric, Terms, gains_of
from rankscope.metrics.items import NO_ITEMS

Chance = Annotated[float, Param("a probability", low=0, high=1)]
Amount = Annotated[float, Param("a number of seconds, words or characters", low=0, high=1e9)]
Length = Annotated[
    float | Literal["items"] | None,
    Param("the length of every document, or 'items': the column length of the items", low=0, high=1e9, needed=True),
]
LONG = {"items": {"a": {"length": 100}, "b": {"length": 1000}, "c": {"length": 10}}, "judgments": {"b": 1, "c": 1}}

PASSAGES = {"items": {one: {"tokens": 60 - 50 * (one == "c")} for one in "abc"}, "judgments": {"a": 1, "c": 1}}


class _Effort(Metric):
    """Base of metrics of readers whose effort depends on the length of documents."""

    bounds = (0.0, math.inf)

    cutoff: Cutoff = None
    length: Length = None

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        """Every item shown, if documents have lengths of their own."""
        return frozenset({"items"}) if self.length == "items" else frozenset()

    @property
    def monotone(self) -> bool:
        """False if documents have lengths of their own: a better one that is longer delays all others."""
        return self.length != "items"

    def lay_out(self, lists: Lists) -> tuple[Lists, Array | float]:
        """The lists with the length of each document."""
        if self.length != "items":
            return lists, float(self.length or 0.0)
        if lists.items is None:
            raise InputError(NO_ITEMS.format(self))
        every, items = lists.every_item(self.cutoff)
        length = np.zeros(items.code.shape)
        length[items.shown] = items.table.fact("length", items.code[items.shown], str(self))
        return every, length

    def spent(self, lists: Lists, here: Array, elsewhere: float) -> Array:
        """The effort down to each document, itself included. Each document without a cell costs ``elsewhere``."""
        here = np.where(lists.shown, here, 0.0)
        return running(here) + (lists.rank - running(lists.shown)) * elsewhere


class TBG(_Effort, aliases=("TimeBiasedGain",)):
    """The expected number of relevant documents that a user saves before stopping, as the time spent grows."""

    formula = "sum over relevant of click · save · 2^(-time before it / half_life); a document takes summary + click · (per_word · length + per_document) seconds"
    convention = (
        "the times and chances are of the study in the paper: half_life=224, summary=4.4, per_word=0.018, per_document=7.8, click=0.64 (0.39 if not "
        "relevant), save=0.77. Near-duplicates count like other documents. Not normalised: queries with many relevant documents weigh more in the mean"
    )
    source = "Smucker and Clarke, Time-based calibration of effectiveness measures, SIGIR 2012"
    best_for = "documents of different lengths: long ones cost the time to find others"
    examples = (
        Example(
            "TBG(length=500)", (1, 0, 1), "0.64 * 0.77 * (1 + 2 ** -((4.4 + 0.64 * 16.8 + 4.4 + 0.39 * 16.8) / 224))"
        ),
        Example(
            "TBG(length='items')", ("a", "b"), "0.64 * 0.77 * 2 ** -((4.4 + 0.39 * (0.018 * 100 + 7.8)) / 224)", LONG
        ),
    )

    level: Level = 1.0
    half_life: Annotated[float, Param("the seconds after which half of the users have stopped", above=0, high=1e9)] = (
        224.0
    )
    summary: Amount = 4.4
    per_word: Amount = 0.018
    per_document: Amount = 7.8
    click: Chance = 0.64
    click_other: Chance = 0.39
    save: Chance = 0.77

    def terms(self, lists: Lists) -> Terms:
        lists, length = self.lay_out(lists)
        relevant = lists.relevant(self.level)
        reading = self.per_word * length + self.per_document
        here = self.summary + np.where(relevant, self.click, self.click_other) * reading
        other = self.summary + self.click_other * float(np.max(reading))
        before = np.where(relevant, self.spent(lists, here, other) - here, 0.0)
        saved = np.asarray(relevant * (self.click * self.save))
        return Terms(lists, {"saved": saved, "still there": each(lambda t: 2.0 ** -(t / self.half_life), before)})


class UMeasure(_Effort, aliases=("U-measure",)):
    """The gain of a reader along the text read: the more characters before a document, the less it earns."""

    formula = "sum over relevant of (2^grade - 1) / 2^max_grade · max(1 - characters read / patience, 0); a reader reads every snippet, and a share of each relevant document"
    convention = "patience=132,000 characters, snippets of 200, and a fifth of a relevant document are read, as in the paper. max_grade=4 is the top of the scale. Not normalised"
    source = "Sakai and Dou, Summaries, ranked retrieval and sessions: a unified framework for information access evaluation, SIGIR 2013"
    best_for = "documents of different lengths, and summaries next to ranked lists"
    examples = (
        Example("UMeasure(length=5000, max_grade=1)", (0, 1), "1 / 2 * (1 - (200 + 200 + 0.2 * 5000) / 132000)"),
        Example("UMeasure(length='items', max_grade=1)", ("b", "a"), "1 / 2 * (1 - (200 + 0.2 * 1000) / 132000)", LONG),
    )
    relevance = "graded"

    max_grade: MaxGrade = 4.0
    patience: Annotated[float, Param("the characters after which no reader is left", above=0, high=1e9)] = 132_000.0
    snippet: Amount = 200.0
    read_share: Chance = 0.2
    monotone = False  # a document of a higher grade is read like one of a lower grade, but one without gain is not read

    def terms(self, lists: Lists) -> Terms:
        lists, length = self.lay_out(lists)
        self.refuse_grades_above(self.max_grade, lists)
        gain = gains_of(lists, "exponential") / 2.0**self.max_grade
        offset = self.spent(lists, self.snippet + np.where(gain > 0, self.read_share * length, 0.0), self.snippet)
        return Terms(lists, {"gain": gain, "readers left": np.maximum(1.0 - offset / self.patience, 0.0)})


def uncut_metric(value: Any) -> Any:
    """The canonical spelling of a metric without its cutoff. Any other value as it is."""
    try:
        return str(_at(str(value), 1).having(cutoff=None))
    except (InputError, TypeError):
        return value


def reason_against_uncut(value: Any) -> str:
    """Return the reason to refuse a metric, empty if it can end at any rank."""
    like = "choose one that takes a cutoff, and leave that out, like R, P or nDCG"
    try:
        metric = _at(str(value), 1)
    except InputError:
        return f"{value} does not end at a rank: {like}"
    if metric.needs or metric.aggregate != "mean":
        return f"{metric.having(cutoff=None)} needs more than grades and ranks: {like}"
    return ""


@cache
def _at(metric: str, rank: int) -> Metric:
    return Metric.read(f"{metric}@{rank}")


def trait_of_inner(trait: str, budget: TokenBudget) -> Any:
    """Return a trait of the metric whose list is cut. None if it lacks the trait."""
    return getattr(budget.inner(), trait, None)


class TokenBudget(Metric):
    """A metric with a cutoff in tokens: of the documents that fit into the context of a language model."""

    formula = "metric@n, n = documents at the top that fit into the tokens together, each of them whole"
    convention = (
        "written R@2048tok. The list stops at the first document that does not fit whole: it is not cut, and no shorter one moves up. Queries of which nothing "
        "fits have the value of an empty list"
    )
    source = "what a context of fixed length holds; the rule of rankscope contexts"
    best_for = "passages for a language model, whose context ends after a number of tokens and not of passages"
    not_for = "lists of pages that people read"
    examples = (
        Example("R@100tok", ("a", "b", "c"), "1 / 2", PASSAGES),
        Example("P@120tok", ("a", "b", "c"), "1 / 2", PASSAGES),
        Example("R@50tok", ("a", "b", "c"), "0", PASSAGES),
    )
    monotone = False  # a better document that is longer may push out others
    settled_by_grade = False
    asks = f"counts the tokens of documents: add --lengths with {LENGTHS}"
    needs = frozenset({"items"})

    metric: Annotated[
        str | None,
        Param(
            "a metric that takes a cutoff, without it: R, P, nDCG", reason_against=reason_against_uncut,
            reads=uncut_metric, needed=True,
        ),
    ] = None  # fmt: skip
    tokens: Annotated[int | None, Param("the tokens that fit", low=1, needed=True)] = None

    def __str__(self) -> str:
        return f"{self.metric}@{self.tokens}tok" if self.metric and self.tokens else super().__str__()

    __repr__ = __str__

    def inner(self, rank: int = 1) -> Metric:
        """Return the metric, with its cutoff at a rank."""
        return _at(self.metric or "R", rank)

    relevance, better, range, empty, level = cast("Any", [
        property(partial(trait_of_inner, trait), doc="As the metric.")
        for trait in ("relevance", "better", "range", "empty", "level")
    ])  # fmt: skip

    @property
    def assumption(self) -> str:
        """The rule by which documents fit."""
        return "whole documents from the top, until one does not fit"

    def terms(self, lists: Lists) -> Terms:
        if lists.items is None:
            raise InputError(f"{self} {self.asks}")
        fit = self.fitting(lists.items)
        earned, worth, value, is_sum = np.zeros(lists.shown.shape), np.ones(len(lists)), np.empty(len(lists)), True
        for number in np.unique(fit).tolist():
            at = np.flatnonzero(fit == number)
            part = lists.of(at) if number else lists.of(at).top(0)
            terms = self.inner(max(number, 1)).taken_apart(part)
            earned[at], worth[at], value[at] = terms.earned, terms.worth, terms.value
            is_sum &= terms.link is None and not np.any(terms.base) and not np.any(terms.unjudged)
        defined = ~np.isnan(value)
        if is_sum:
            return Terms(lists, {f"in {self.metric}": earned}, worth, defined=defined)
        return Terms(lists, {}, base=np.where(defined, value, 0.0), defined=defined)

    def fitting(self, items: ShownLists) -> Array:
        """The number of documents that fit, for each query."""
        length = np.zeros(items.code.shape)
        length[items.shown] = items.table.fact("tokens", items.code[items.shown], str(self))
        fits = items.shown & (running(length) <= float(self.tokens or 0))
        return np.asarray(fits.sum(axis=1))
