"""Evidence in retrieved texts: which passages that a question needs are in its contexts, whatever the ids of chunks."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.errors import DataError, InputError
from rankscope.files.texts import count_tokens
from rankscope.files.wide import Passage, Question
from rankscope.lists import Array

PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, None))
ARTICLES = re.compile(r"\b(?:a|an|the)\b")
RUN = 3  # words in a row that must be alike, so that single common words do not count
USEFUL = 0.5  # of a passage, or of a shorter context
ALIKE = 0.5  # whole strings, as Ragas compares them
MATCHES = {
    "words": "{share} of its words are in the contexts, in runs of three, after SQuAD normalisation",
    "characters": "{share} of its characters are in the spans of the contexts",
    "ids": "a context has its id",
    "strings": "a context is like it as a whole",
}


def normalise(text: str) -> str:
    """Lower case, no punctuation, no articles, single spaces: as SQuAD compares answers."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def alike(one: str, other: str) -> float:
    """1 - Levenshtein distance / length of the longer text, by bits of whole numbers.

    Source: Hyyrö, A bit-vector algorithm for computing Levenshtein and Damerau edit distances, 2003.
    """
    if not one or not other:
        return float(one == other)
    where: dict[str, int] = {}
    for place, letter in enumerate(one):
        where[letter] = where.get(letter, 0) | 1 << place
    every, last, edits = (1 << len(one)) - 1, 1 << len(one) - 1, len(one)
    rises, falls = every, 0
    for letter in other:
        same = where.get(letter, 0)
        level = ((same & rises) + rises ^ rises) | same | falls
        up, down = falls | ~(level | rises) & every, rises & level
        edits += bool(up & last) - bool(down & last)
        up = up << 1 | 1
        rises, falls = (down << 1 | ~(level | up)) & every, up & level & every
    return 1.0 - edits / max(len(one), len(other))


@dataclass(frozen=True, eq=False)
class Matching:
    """The match of evidence: the share of a passage's words that must be ``covered``, and the ``tokeniser`` that counts tokens."""

    threshold: float = 0.8
    tokeniser: Callable[[str], Any] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise InputError(
                f"threshold={self.threshold!r}: the share of a passage that must be there is above 0 and at most 1"
            )

    def tokens(self, text: str) -> int:
        """The number of tokens of a text."""
        return count_tokens(text, self.tokeniser)


@dataclass(eq=False)
class EvidenceSearch:
    """A search for the evidence of one question: ``at[e]`` is the place of the context that completes passage ``e`` (0: none), ``useful[i]`` if context ``i`` holds half of one."""

    question: Question
    matching: Matching
    match: str = "evidence"
    at: list[int] = field(default_factory=list)
    useful: list[bool] = field(default_factory=list)
    others: dict[str, EvidenceSearch] = field(default_factory=dict)

    def under(self, match: str) -> EvidenceSearch:
        """The same by another match, as other tools have it."""
        if match == self.match:
            return self
        if match not in self.others:
            self.others[match] = EvidenceSearch.of(self.question, self.matching, match)
        return self.others[match]

    @classmethod
    def of(cls, question: Question, matching: Matching, match: str = "evidence") -> EvidenceSearch:
        """Look for the evidence of a question in its contexts."""
        search = cls(question, matching, match)
        useful = np.zeros(len(question.contexts), dtype=bool)
        for passage in question.evidence:
            place, helps = search._place(passage)
            search.at.append(place)
            useful |= helps
        search.useful = useful.tolist()
        return search

    @cached_property
    def texts(self) -> list[str]:
        """The contexts, normalised, with a space at both ends."""
        return [f" {normalise(one.text)} " for one in self.question.contexts]

    @property
    def measured(self) -> bool:
        """True if the tokens of every context are known, by its text or its length: False for spans and ids alone."""
        contexts = self.question.contexts
        with_texts = any(one.text for one in contexts)
        known = (one.text or (one.start is None and (with_texts or not one.id)) for one in contexts)
        return self.question.lengths is not None or all(known)

    @cached_property
    def lengths(self) -> Array:
        """The tokens of each context. Raises DataError for a span or an id without text or length."""
        lengths = self.question.lengths
        if not self.measured:
            raise DataError(
                f"question {self.question.id!r}: its contexts have no text to count tokens of; add a column lengths, or --docs-text for spans"
            )
        counted = [self.matching.tokens(one.text) for one in self.question.contexts] if lengths is None else lengths
        return np.array(counted, dtype=np.int64)

    def within(self, tokens: int | None = None, cutoff: int | None = None) -> int:
        """The number of contexts that fit: whole ones in their order, until one does not."""
        count = len(self.question.contexts) if cutoff is None else min(cutoff, len(self.question.contexts))
        if tokens is None:
            return count
        return int(np.searchsorted(np.cumsum(self.lengths[:count]), tokens, side="right"))

    @cached_property
    def answered_at(self) -> int:
        """The place of the first context that holds an answer, 0 if none does."""
        answers = [f" {text} " for one in self.question.answers if (text := normalise(one))]
        return next((i for i, text in enumerate(self.texts, start=1) if any(one in text for one in answers)), 0)

    def _place(self, passage: Passage) -> tuple[int, Array]:
        masks = self._by(passage) if self.question.contexts else []
        useful, place = np.zeros(len(self.question.contexts), dtype=bool), 0
        covered: Array | None = None
        for i, (mask, own) in enumerate(masks):
            useful[i] = mask.sum() >= USEFUL * max(min(len(mask), own), 1)
            covered = mask if covered is None else covered | mask
            if not place and covered.mean() >= self.matching.threshold - 1e-12:
                place = i + 1
        return place, useful

    def offers(self, match: str) -> bool:
        """True if a question has all that a match of whole contexts needs: ids, or texts."""
        both = [*self.question.contexts, *self.question.evidence]
        return match == "evidence" or all(one.id if match == "ids" else one.text for one in both)

    @property
    def matches(self) -> set[str]:
        """The kinds of match of the passages, of ``MATCHES``."""
        return {self._kind(one) for one in self.question.evidence if self.question.contexts}

    def _kind(self, passage: Passage) -> str:
        contexts = self.question.contexts
        if self.match != "evidence":
            return self.match
        if passage.start is not None and (not passage.text or any(one.start is not None for one in contexts)):
            return "characters"
        return "words" if passage.text and any(one.text for one in contexts) else "ids"

    def _by(self, passage: Passage) -> list[tuple[Array, int]]:
        """For each context which parts of the passage it holds, and the number of its own parts."""
        contexts, kind = self.question.contexts, self._kind(passage)
        if kind == "strings":
            return [(np.array([alike(one.text, passage.text) >= ALIKE]), 1) for one in contexts]
        if kind in {"characters", "words"}:
            return self._by_offsets(passage) if kind == "characters" else self._by_words(passage)
        if not passage.id or not all(one.id for one in contexts):
            remedy = (
                "give both sides texts, offsets or ids, in columns like retrieved_context_ids and reference_context_ids"
            )
            raise DataError(
                f"question {self.question.id!r}: its contexts and evidence have nothing in common to match; {remedy}"
            )
        return [(np.array([one.id == passage.id]), 1) for one in contexts]

    def _by_words(self, passage: Passage) -> list[tuple[Array, int]]:
        """For each context which words of the passage stand there in runs of three, and the number of its own words."""
        wanted = normalise(passage.text).split()
        if not wanted:
            return []
        width = min(RUN, len(wanted))
        runs = [f" {' '.join(wanted[i : i + width])} " for i in range(len(wanted) - width + 1)]
        out = []
        for text in self.texts:
            mask = np.zeros(len(wanted), dtype=bool)
            for i, one in enumerate(runs):
                if one in text:
                    mask[i : i + width] = True
            out.append((mask, text.count(" ") - 1))
        return out

    def _by_offsets(self, passage: Passage) -> list[tuple[Array, int]]:
        """For each context which characters of the passage it spans, and the number of its own."""
        assert passage.start is not None
        assert passage.end is not None
        out = []
        for one in self.question.contexts:
            mask = np.zeros(passage.end - passage.start, dtype=bool)
            if one.start is not None and one.end is not None and one.document == passage.document:
                mask[max(one.start - passage.start, 0) : max(one.end - passage.start, 0)] = True
            out.append((mask, (one.end or 0) - (one.start or 0)))
        return out


def repeated(texts: Sequence[str]) -> float:
    """The share of runs of three words that earlier contexts have already. NaN without any."""
    seen: set[tuple[str, ...]] = set()
    count = again = 0
    for text in texts:
        parts = text.split()
        runs = set(zip(parts, parts[1:], parts[2:], strict=False))
        count += len(runs)
        again += len(runs & seen)
        seen |= runs
    return again / count if count else float("nan")
