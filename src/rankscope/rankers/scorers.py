"""Scorers of texts for re-ranking: any function, or a cross-encoder of sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from rankscope import words
from rankscope.errors import InputError, MissingExtraError
from rankscope.lists import Array


class TextScorer(Protocol):
    """A function from a query and the texts of its documents to one score per text, higher is better."""

    def __call__(self, query: str, texts: Sequence[str], /) -> Sequence[float]:
        """Return one score per text."""


class CrossEncoderScorer:
    """A cross-encoder: a name or a folder of a model, or a ``CrossEncoder`` of sentence-transformers.

    Raises MissingExtraError without sentence-transformers, InputError for a model that cannot be loaded.
    """

    def __init__(self, model: Any, batch_size: int = 32) -> None:
        """Load the model once. ``batch_size`` is the number of texts that the model scores at once."""
        self.batch_size = batch_size
        if not isinstance(model, str):
            self.model = model
            return
        try:
            from sentence_transformers import CrossEncoder
        except ImportError:
            raise MissingExtraError(
                "a cross-encoder needs sentence-transformers: pip install 'rankscope[rerank]'"
            ) from None
        try:
            self.model = CrossEncoder(model)
        except (OSError, ValueError) as error:
            reason = words.short(str(error).partition("\n")[0], 120)
            raise InputError(f"cross-encoder {model}: cannot be loaded: {reason}") from None

    def __call__(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the score of each pair of the query and a text."""
        pairs = [(query, text) for text in texts]
        scores: Array = self.model.predict(pairs, batch_size=self.batch_size, show_progress_bar=False)
        return np.asarray(scores, dtype=np.float64).ravel().tolist()


def scores_of_texts(scorer: TextScorer, query_id: str, query: str, texts: Sequence[str]) -> Array:
    """Return the scores of a scorer, checked. Raises InputError for too few scores, and for a score that is not a finite number.

    >>> scores_of_texts(lambda query, texts: [len(text) for text in texts], "q1", "moon", ["tide", "orbit"]).tolist()
    [4.0, 5.0]
    """
    try:
        scores = np.asarray(scorer(query, texts), dtype=np.float64)
    except Exception as error:
        reason = words.short(str(error).partition("\n")[0], 120)
        raise InputError(
            f"query {query_id}: the re-ranker failed, or returned no numbers: {type(error).__name__}: {reason}"
        ) from error
    if scores.shape != (len(texts),):
        shape = words.counted(len(scores), "score") if scores.ndim == 1 else f"an array of shape {scores.shape}"
        raise InputError(
            f"query {query_id}: the re-ranker returned {shape} for {words.counted(len(texts), 'text')}: one per text"
        )
    if not np.isfinite(scores).all():
        place = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InputError(
            f"query {query_id}: the re-ranker returned {scores[place]} for text {place + 1}: scores are finite numbers"
        )
    return scores
