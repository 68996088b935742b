"""Diversification: reorder one ranking so that its top covers more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from rankscope.declared import Declared, Param
from rankscope.lists import Array

TINY = 1e-12
SMOOTHING = 0.01  # of the target in the distribution of a list, so that a missing feature has a finite divergence

Diversity = Annotated[
    float, Param("the weight of diversity: 0 keeps the order of relevance, 1 ignores relevance", low=0.0, high=1.0)
]


@dataclass(frozen=True, eq=False)
class CandidatePool:
    """The documents of one query, best first.

    ``relevance`` is from 0 to 1. ``features`` has one row per document and one column per feature (a category, a subtopic, a
    dimension of a vector), and ``target`` the share that each feature should have, which sums to 1.
    """

    relevance: Array
    features: Array
    target: Array

    @cached_property
    def similarity(self) -> Array:
        """The cosine of each pair of documents, 0 for a document without features."""
        length = np.linalg.norm(self.features, axis=1, keepdims=True)
        unit = np.divide(self.features, length, out=np.zeros_like(self.features), where=length > 0)
        return np.asarray(np.clip(unit @ unit.T, -1.0, 1.0))

    @cached_property
    def shares(self) -> Array:
        """The features of each document as shares that sum to 1, 0 for a document without features."""
        total = self.features.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(self.features, total, out=np.zeros_like(self.features), where=total > 0))


class Diversifier(Declared, kind="diversifier"):
    """Base of diversifiers. A subclass returns the positions of the first ``k`` documents, best first: ``order(pool, k)``.

    ``of_shares`` is true if features are categories or subtopics with weights of 0 or more, false if only similarity matters.
    """

    of_shares: ClassVar[bool] = False
    source: ClassVar[str] = ""

    def order(self, pool: CandidatePool, k: int) -> Array:
        """Return positions in the pool."""
        raise TypeError(f"{type(self).__name__} does not order documents")


class _Greedy(Diversifier):
    """Base of diversifiers that append one document after another, each with the largest ``gain``. The best rank wins ties."""

    def order(self, pool: CandidatePool, k: int) -> Array:
        left = np.ones(len(pool.relevance), dtype=bool)
        state, chosen = self.start(pool), []
        for _ in range(min(k, len(left))):
            best = int(np.argmax(np.where(left, self.gain(pool, state), -np.inf)))
            left[best] = False
            chosen.append(best)
            self.append(pool, state, best)
        return np.array(chosen, dtype=np.int64)

    def start(self, pool: CandidatePool) -> dict[str, Array]:
        """Return the arrays that change with each chosen document."""
        return {}

    def gain(self, pool: CandidatePool, state: dict[str, Array]) -> Array:
        """Return the gain of each document of the pool if it comes next."""
        raise TypeError(f"{type(self).__name__} has no gain")

    def append(self, pool: CandidatePool, state: dict[str, Array], best: int) -> None:
        """Change the arrays, as a document was chosen."""


class MMR(_Greedy, aliases=("mmr", "maximal_marginal_relevance")):
    """Maximal marginal relevance: (1 - diversity) relevance - diversity times the largest similarity to a document above.

    >>> pool = CandidatePool(np.array([1.0, 0.9, 0.5]), np.array([[1.0, 0], [1, 0], [0, 1]]), np.array([0.5, 0.5]))
    >>> MMR(diversity=0.5).order(pool, 3).tolist()
    [0, 2, 1]
    """

    diversity: Diversity = 0.3
    source = "Carbonell and Goldstein, The use of MMR, diversity-based reranking, SIGIR 1998"

    def start(self, pool: CandidatePool) -> dict[str, Array]:
        return {"similarity": pool.similarity, "nearest": np.full(len(pool.relevance), -np.inf)}

    def gain(self, pool: CandidatePool, state: dict[str, Array]) -> Array:
        near = np.where(np.isinf(state["nearest"]), 0.0, state["nearest"])
        return np.asarray((1.0 - self.diversity) * pool.relevance - self.diversity * near)

    def append(self, pool: CandidatePool, state: dict[str, Array], best: int) -> None:
        np.maximum(state["nearest"], state["similarity"][best], out=state["nearest"])


class xQuAD(_Greedy, aliases=("xquad",)):
    """Explicit query aspect diversification: (1 - diversity) relevance + diversity times the coverage of features not covered above.

    The coverage of a document is the sum over features of target x its feature x the product of (1 - feature) of the documents above.
    """

    diversity: Diversity = 0.5
    of_shares = True
    source = (
        "Santos, Macdonald and Ounis, Exploiting query reformulations for web search result diversification, WWW 2010"
    )

    def start(self, pool: CandidatePool) -> dict[str, Array]:
        covers = np.minimum(pool.features, 1.0)
        return {"covers": covers, "open": pool.target.astype(np.float64)}

    def gain(self, pool: CandidatePool, state: dict[str, Array]) -> Array:
        return np.asarray((1.0 - self.diversity) * pool.relevance + self.diversity * (state["covers"] @ state["open"]))

    def append(self, pool: CandidatePool, state: dict[str, Array], best: int) -> None:
        state["open"] *= 1.0 - state["covers"][best]


class PM2(_Greedy, aliases=("pm2", "PM-2")):
    """Proportionality by seats: each rank goes to the feature that is furthest below its target (Sainte-Laguë).

    The document gains diversity x quotient of this feature + (1 - diversity) x quotients of its other features, each times
    relevance x feature. So ``diversity`` weighs the feature whose turn it is.
    """

    diversity: Diversity = 0.5
    of_shares = True
    source = "Dang and Croft, Diversity by proportionality, SIGIR 2012"

    def start(self, pool: CandidatePool) -> dict[str, Array]:
        return {"fits": pool.relevance[:, None] * pool.features, "seats": np.zeros(len(pool.target))}

    def gain(self, pool: CandidatePool, state: dict[str, Array]) -> Array:
        quotient = pool.target / (2.0 * state["seats"] + 1.0)
        weight = np.full(len(quotient), 1.0 - self.diversity)
        weight[int(np.argmax(quotient))] = self.diversity
        return np.asarray(state["fits"] @ (weight * quotient)) + TINY * pool.relevance

    def append(self, pool: CandidatePool, state: dict[str, Array], best: int) -> None:
        fits = state["fits"][best]
        if fits.sum() > 0:
            state["seats"] += fits / fits.sum()


class DPP(Diversifier, aliases=("dpp", "determinantal")):
    """Greedy determinantal point process: the list with the largest (1 - diversity) relevance + diversity log-volume of its vectors.

    Documents that lie in the span of those above add no volume: they follow in the order of relevance.
    """

    diversity: Diversity = 0.3
    source = "Chen, Zhang and Zhou, Fast greedy MAP inference for determinantal point process, NeurIPS 2018"

    def order(self, pool: CandidatePool, k: int) -> Array:
        count = len(pool.relevance)
        similarity, left = pool.similarity.copy(), np.ones(count, dtype=bool)
        np.fill_diagonal(similarity, 1.0)
        volume, rows, chosen = np.ones(count), np.zeros((min(k, count), count)), list[int]()
        while len(chosen) < min(k, count):
            open_ = left & (volume > 1e-10)
            logs = np.log(np.maximum(volume, 1e-300))
            gain = (1.0 - self.diversity) * pool.relevance + self.diversity * logs
            best = int(np.argmax(np.where(open_, gain, -np.inf))) if open_.any() else int(np.argmax(left))
            at = len(chosen)
            if open_.any():
                rows[at] = (similarity[best] - rows[:at].T @ rows[:at, best]) / np.sqrt(volume[best])
                volume = volume - rows[at] ** 2
            left[best] = False
            chosen.append(best)
        return np.array(chosen, dtype=np.int64)


class Calibrated(_Greedy, aliases=("calibrated", "steck")):
    """Calibrated re-ranking: (1 - diversity) relevance of the list - diversity times the divergence of its features from the target.

    The divergence is Kullback and Leibler's, of the mean shares of features in the list, smoothed by 1% of the target.
    """

    diversity: Diversity = 0.5
    of_shares = True
    source = "Steck, Calibrated recommendations, RecSys 2018"

    def start(self, pool: CandidatePool) -> dict[str, Array]:
        return {"shares": pool.shares, "sum": np.zeros(len(pool.target)), "count": np.zeros(1)}

    def gain(self, pool: CandidatePool, state: dict[str, Array]) -> Array:
        listed = (state["sum"] + state["shares"]) / (state["count"] + 1.0)
        mixed, wanted = (1.0 - SMOOTHING) * listed + SMOOTHING * pool.target, pool.target > 0
        divergence = pool.target[wanted] * np.log(pool.target[wanted] / mixed[:, wanted])
        return np.asarray((1.0 - self.diversity) * pool.relevance - self.diversity * divergence.sum(axis=1))

    def append(self, pool: CandidatePool, state: dict[str, Array], best: int) -> None:
        state["sum"] += state["shares"][best]
        state["count"] += 1.0
