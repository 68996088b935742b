"""A metric's value, still taken apart: what positions earn, and what the query is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np

from rankscope.lists import Array, Lists, total


@dataclass(frozen=True, eq=False)
class Terms:
    """A metric's value, still taken apart.

    ``factors`` are multiplied at each position to give what the position earns; ``out_of`` is what
    the query is worth; ``base`` is added to their ratio. ``unjudged`` is what the positions of documents
    nobody judged earn together; ``link`` transforms the result, for the few metrics that are no sum.
    ``defined`` is False for the queries that have no value at all. ``mean_earnings`` takes the place of the sum
    where it was added up over all orders of tied documents.

    value = link((sum(product of the factors) + unjudged) / out_of + base), and 0 / 0 is 0.
    """

    lists: Lists
    factors: Mapping[str, Array]
    out_of: Array | float = 1.0
    base: Array | float = 0.0
    link: Callable[[Array], Array] | None = None
    unjudged: Array | float = 0.0
    defined: Array | None = None
    mean_earnings: Array | None = None

    @property
    def earned(self) -> Array:
        """What each position earns."""
        start = self.lists.shown.astype(float) if self.factors else np.zeros(self.lists.shown.shape)
        if self.lists.chance is not None:
            start *= self.lists.chance
        return reduce(np.multiply, self.factors.values(), start)

    @property
    def worth(self) -> Array:
        """What each query is worth."""
        return np.broadcast_to(np.asarray(self.out_of, dtype=float), len(self.lists))

    @property
    def value(self) -> Array:
        """The value of each query, NaN where it is undefined."""
        earned = total(self.earned) if self.mean_earnings is None else self.mean_earnings
        value = self.linked(_over(earned + self.unjudged, self.worth) + self.base)
        return value if self.defined is None else np.where(self.defined, value, np.nan)

    def linked(self, parts: Array) -> Array:
        """The sum of the parts as a value."""
        return parts if self.link is None else self.link(parts)

    @property
    def unjudged_share(self) -> Array:
        """What the positions of unjudged documents add, before the link."""
        return _over(np.broadcast_to(np.asarray(self.unjudged, dtype=float), len(self.lists)), self.worth)

    @property
    def shares(self) -> Array:
        """What each position adds to the value, before the link."""
        return _over(self.earned, np.broadcast_to(self.worth[:, None], self.lists.shown.shape))


def _over(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
