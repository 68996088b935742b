"""Measures of the contexts of a question. Each is one class; ``of`` returns its value, NaN if it has none."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from rankscope.declared import Declared, Param
from rankscope.verbs.contexts.evidence import EvidenceSearch, repeated

Cutoff = Annotated[int | None, Param("the number of contexts that count", low=1)]
Tokens = Annotated[int | None, Param("the tokens that fit: whole contexts in their order", low=1)]
Match = Annotated[
    Literal["evidence", "ids", "strings"],
    Param(
        "the match: by words or offsets, by ids of chunks, or of whole strings (Levenshtein similarity of at least 0.5, as Ragas)"
    ),
]
USUAL = (
    "EvidenceRecall", "AllEvidence", "AnswerInContext", "RankedPrecision", "ContextPrecision", "Placed", "Redundancy",
    "Length",
)  # fmt: skip


class ContextMeasure(Declared, kind="context measure"):
    """Base of every measure of contexts. ``needs`` is evidence, answers or nothing."""

    needs: ClassVar[Literal["evidence", "answers", ""]] = "evidence"
    better: ClassVar[Literal["higher", "lower", "neither"]] = "higher"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    source: ClassVar[str] = ""

    def value(self, search: EvidenceSearch) -> float:
        """The value for a question, NaN if it lacks evidence or answers."""
        return self.of(search.under(getattr(self, "match", search.match))) if self.has(search) else math.nan

    def has(self, search: EvidenceSearch) -> bool:
        """True if a question has the evidence, answers, ids or texts that are needed."""
        inputs = {"evidence": search.question.evidence, "answers": search.question.answers, "": (1,)}[self.needs]
        return bool(inputs) and search.offers(getattr(self, "match", "evidence"))

    def of(self, search: EvidenceSearch) -> float:
        """The value for a question with the evidence or answers needed."""
        raise TypeError(f"{type(self).__name__} has no method of()")


class EvidenceRecall(ContextMeasure, aliases=("ContextRecall",)):
    """The share of the evidence passages that the contexts hold."""

    source = "recall; Ragas NonLLMContextRecall counts a passage as found if one context is alike, not by all contexts together"

    cutoff: Cutoff = None
    tokens: Tokens = None
    match: Match = "evidence"

    def of(self, search: EvidenceSearch) -> float:
        """Passages found within the budget / passages."""
        within = search.within(self.tokens, self.cutoff)
        return sum(0 < place <= within for place in search.at) / len(search.at)


class AllEvidence(ContextMeasure, aliases=("AllOf",)):
    """1 if all evidence passages are in the contexts: for questions that need several together."""

    source = "all-of recall, as in HotpotQA: Yang et al., EMNLP 2018"

    cutoff: Cutoff = None
    tokens: Tokens = None

    def of(self, search: EvidenceSearch) -> float:
        """1 or 0."""
        within = search.within(self.tokens, self.cutoff)
        return float(all(0 < place <= within for place in search.at))


class AnyEvidence(ContextMeasure, aliases=("HitRate",)):
    """1 if one of the evidence passages is in the contexts."""

    source = "hit rate of LlamaIndex"

    cutoff: Cutoff = None
    tokens: Tokens = None
    match: Match = "evidence"

    def of(self, search: EvidenceSearch) -> float:
        """1 or 0."""
        within = search.within(self.tokens, self.cutoff)
        return float(any(0 < place <= within for place in search.at))


class DocumentRecall(ContextMeasure):
    """The share of the evidence documents that a context is from: recall of documents."""

    source = "recall after folding chunks into documents"

    cutoff: Cutoff = None
    tokens: Tokens = None

    def of(self, search: EvidenceSearch) -> float:
        """Documents of the evidence met within the budget / documents of the evidence, undefined if they are unknown."""
        wanted = {one.document for one in search.question.evidence if one.document}
        met = {one.document for one in search.question.contexts[: search.within(self.tokens, self.cutoff)]}
        return len(wanted & met) / len(wanted) if wanted else math.nan


class AnswerInContext(ContextMeasure, aliases=("HasAnswer",)):
    """1 if a context holds one of the answers, after the normalisation of SQuAD."""

    needs = "answers"
    source = "Rajpurkar et al., SQuAD, EMNLP 2016; Karpukhin et al., Dense passage retrieval, EMNLP 2020"

    cutoff: Cutoff = None
    tokens: Tokens = None

    def of(self, search: EvidenceSearch) -> float:
        """1 or 0."""
        return float(0 < search.answered_at <= search.within(self.tokens, self.cutoff))


class ContextPrecision(ContextMeasure):
    """The share of the contexts that hold evidence."""

    source = "precision divided by the contexts returned, as LlamaIndex does"

    cutoff: Cutoff = None
    tokens: Tokens = None
    match: Match = "evidence"

    def of(self, search: EvidenceSearch) -> float:
        """Useful contexts / contexts, 0 without contexts."""
        within = search.within(self.tokens, self.cutoff)
        return sum(search.useful[:within]) / within if within else 0.0


class RankedPrecision(ContextMeasure, aliases=("RagasContextPrecision", "ContextualPrecision")):
    """Mean precision at the places of useful contexts: "context precision" of Ragas and DeepEval."""

    source = "Ragas context_precision, DeepEval ContextualPrecision: average precision divided by the useful contexts retrieved, not by those that exist"

    cutoff: Cutoff = None
    match: Match = "evidence"

    def of(self, search: EvidenceSearch) -> float:
        """Sum of precision at useful places / useful contexts, 0 without any."""
        useful = search.useful[: search.within(None, self.cutoff)]
        places = [i for i, one in enumerate(useful, start=1) if one]
        return math.fsum(n / place for n, place in enumerate(places, start=1)) / len(places) if places else 0.0


class FirstUseful(ContextMeasure, aliases=("ContextMRR",)):
    """1 / the place of the first useful context."""

    source = "MRR of LlamaIndex"

    cutoff: Cutoff = None
    match: Match = "evidence"

    def of(self, search: EvidenceSearch) -> float:
        """1 / place, 0 without a useful context."""
        useful = search.useful[: search.within(None, self.cutoff)]
        return 1.0 / (useful.index(True) + 1) if True in useful else 0.0


class Placed(ContextMeasure, aliases=("LostInTheMiddle",)):
    """Evidence found, weighted by where it stands: 1 at both ends of the contexts, less in the middle."""

    source = "Liu et al., Lost in the middle, TACL 2024; the curve is an assumption: 1 - dip · 4x(1 - x), x from 0 (first) to 1 (last)"

    dip: Annotated[float, Param("the loss in the middle", low=0, high=1)] = 0.5

    def of(self, search: EvidenceSearch) -> float:
        """Sum of the weights of passages found / passages."""
        last = max(len(search.question.contexts) - 1, 1)
        at = [(place - 1) / last for place in search.at if place]
        return math.fsum(1.0 - self.dip * 4.0 * x * (1.0 - x) for x in at) / len(search.at)


class Redundancy(ContextMeasure):
    """The share of the text of the contexts that repeats an earlier context."""

    needs, better = "", "lower"
    source = "repeated runs of three words"

    def of(self, search: EvidenceSearch) -> float:
        """Runs of three words met before / all runs."""
        return repeated(search.texts)


class Length(ContextMeasure, aliases=("ContextTokens",)):
    """The tokens of all contexts."""

    needs, better, range = "", "neither", (0.0, math.inf)

    def of(self, search: EvidenceSearch) -> float:
        """The sum of the lengths."""
        return float(search.lengths.sum())
