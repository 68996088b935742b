"""The base of click models: how users look, what attracts, what satisfies, and the fit by expectation maximisation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.behaviour.browsing import Browsing, Everything, click_chances
from rankscope.click_models.em import Observed, Progress, blocks, fit
from rankscope.click_models.walk import LEAST, Walk
from rankscope.declared import Declared, Param
from rankscope.errors import DataError, InputError
from rankscope.lists import Array
from rankscope.lists.examination import Examination
from rankscope.lists.pages import Pages, PairIds

ROUNDS = 200  # the most steps of EM
TOLERANCE = 1e-6  # the gain in log-likelihood per page at which EM has converged


class ClickModel(Declared, kind="click model"):
    """Base of every click model. The docstring of a class says in one line what it assumes.

    A class names ``browsing`` (how users look, a class of ``behaviour/browsing.py``) and ``attracts``: what has an attraction of its own,
    each ``item`` (for a query), each ``place``, or ``all`` together. If a click satisfies is up to the browsing. Fit, likelihood,
    perplexity, simulation and files follow.
    """

    listed_by: ClassVar[str] = "rankscope clicks --help"
    browsing: ClassVar[Browsing] = Everything()
    attracts: ClassVar[str] = "item"
    source: ClassVar[str] = ""

    smoothing: Annotated[
        float, Param("how many imagined views with the mean attraction each item starts from", low=0.0, high=1e6)
    ] = 10.0
    of: Annotated[
        Literal["item", "label"],
        Param(
            "the owner of an attraction: each item, or each grade in the column label, as needed by the metrics EBU, uUBM and rrDBN"
        ),
    ] = "item"

    def check(self) -> None:
        """Refuse grades for a model without attractions of items."""
        if self.of == "label" and self.attracts != "item":
            raise InputError(f"{self}: items have no attraction of their own here: leave out of='label'")

    def seen(self, pages: Pages) -> Pages:
        """Pages whose items are those that have an attraction. Raises DataError if the model needs grades and there are none."""
        graded = pages if self.of == "item" else pages.by_label()
        if graded is None:
            raise DataError(f"{self} needs the column label with the grade of each item")
        return graded

    def fit(
        self, pages: Pages, rounds: int = ROUNDS, tolerance: float = TOLERANCE, progress: Progress | None = None
    ) -> FittedModel:
        """Fit to pages, by EM from the same start each time. Every step raises the log-likelihood with its prior, or leaves it.

        Raises DataError for pages without a click.
        """
        if not pages.click.any():
            raise DataError("no list has a click, so nothing can be learned of clicks")
        pages = self.seen(pages)
        group, size = self.group(pages)
        seen = Observed(group, np.ascontiguousarray(pages.click.T), size)
        estimate = fit(self.browsing, seen, self.smoothing, rounds, tolerance, progress)
        learned = estimate.table, estimate.attraction, estimate.satisfaction, estimate.prior
        return FittedModel(self, pages.places, *learned, pages.pairs, estimate.trace, estimate.converged, len(pages))

    def group(self, pages: Pages) -> tuple[Array, int]:
        """The source of the attraction of each shown item, places x pages, and how many there are; items not shown have the number after."""
        places = np.arange(pages.places)[:, None]
        sources: dict[str, tuple[int, Array | int]] = {
            "item": (len(pages.pairs), pages.item.T), "place": (pages.places, places), "all": (1, 0)
        }  # fmt: skip
        size, own = sources[self.attracts]
        return np.ascontiguousarray(np.where(pages.item.T >= 0, own, size), dtype=np.int32), size

    @property
    def satisfaction_by(self) -> str:
        """The source of satisfaction: never, one for all items, attraction or the item."""
        return self.browsing.satisfies


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A click model with what a log taught it.

    ``table`` are the probabilities of examination (``Browsing``), ``attraction`` and ``satisfaction`` those of items, with the
    priors that unknown items have. ``trace`` is the log-likelihood per page, prior included, before each step.
    """

    model: ClickModel
    places: int
    table: Array
    attraction: Array
    satisfaction: Array | None
    prior: tuple[float, float]
    pairs: PairIds
    trace: tuple[float, ...] = ()
    converged: bool = True
    pages: int = 0

    @property
    def name(self) -> str:
        """The model's spelling."""
        return str(self.model)

    def _blocks(self, pages: Pages) -> Iterator[tuple[slice, Array, Array | None]]:
        pages = pages if self.model.attracts != "item" else self.model.seen(pages).renumbered(self.pairs)
        known = len(self.attraction)
        group, size = self.model.group(pages)
        attraction = np.full(max(size, known) + 1, self.prior[0])
        attraction[:known] = self.attraction
        attraction[size] = 0.0
        tied, satisfaction = self.model.satisfaction_by, None
        if tied == "attraction":
            satisfaction = attraction
        elif self.satisfaction is not None:
            satisfaction = np.full(size + 1, self.satisfaction[0] if tied == "one" else self.prior[1])
            if tied == "item":
                satisfaction[:known] = self.satisfaction
        for block in blocks(len(pages)):
            cells = group[:, block]
            yield block, attraction[cells], None if satisfaction is None else satisfaction[cells]

    def _refuse(self, pages: Pages) -> None:
        if pages.places > self.places:
            raise DataError(
                f"{self.name} was fitted to lists of {self.places} places, and these have {pages.places}: use --depth {self.places}"
            )

    def conditional(self, pages: Pages) -> Array:
        """The probability of the click or its absence at each place, given the clicks above: pages x places, 1 at empty places."""
        return self._each(pages, lambda *walk: Walk(self.model.browsing, self.table, *walk).chance)

    def marginal(self, pages: Pages) -> Array:
        """The probability of a click at each place, before any click of its page is known: pages x places."""
        return self._each(pages, lambda a, s, _: click_chances(self.model.browsing, self.table, a, s))

    def examined(self, pages: Pages) -> Array:
        """The probability that each place was examined, given all clicks of its page: pages x places."""
        return self._each(pages, lambda *walk: Walk(self.model.browsing, self.table, *walk).expected().examined)

    def _each(self, pages: Pages, counts: Callable[[Array, Array | None, Array], Array]) -> Array:
        self._refuse(pages)
        pages = _padded(pages, self.places)
        out = np.empty(pages.item.shape)
        for block, attraction, satisfaction in self._blocks(pages):
            out[block] = counts(attraction, satisfaction, pages.click[block].T).T
        return out

    def log_likelihood(self, pages: Pages) -> Array:
        """The log-likelihood of each page: the sum over its places of the log probability of click or no click, given the clicks above."""
        return np.asarray(np.log(np.maximum(self.conditional(pages), LEAST)).sum(axis=1))

    def perplexity(self, pages: Pages, *, conditional: bool = False) -> Array:
        """The perplexity at each place: 2 to minus the mean of log2 P(what happened); 1 is perfect, 2 a coin.

        Before any click of the page is known, or ``conditional`` on the clicks above.
        """
        wide = _padded(pages, self.places)
        click = self.conditional(wide) if conditional else self.marginal(wide)
        chance = click if conditional else np.where(wide.click, click, 1 - click)
        shown = wide.item >= 0
        bits = np.where(shown, -np.log2(np.maximum(chance, LEAST)), 0.0).sum(axis=0)
        views = shown.sum(axis=0)
        return np.asarray(np.exp2(np.divide(bits, views, out=np.full(len(views), math.nan), where=views > 0)))

    def simulate(self, pages: Pages, seed: int = 0) -> Pages:
        """The same pages with the clicks of simulated users."""
        draws = np.random.default_rng(seed)
        simulated = self._each(pages, lambda a, s, _: _simulated(self.model.browsing, self.table, a, s, draws))
        return replace(pages, click=simulated[:, : pages.places].astype(bool))

    @cached_property
    def examination(self) -> Examination:
        """The probability that a user looks at each place: the mean over lists of items with the usual attraction."""
        usual = np.full((self.places, 1), self.prior[0])
        content = None if self.satisfaction is None else np.full((self.places, 1), self.prior[1])
        if self.model.satisfaction_by == "attraction":
            content = usual
        clicks = click_chances(self.model.browsing, self.table, usual, content)[:, 0]
        return Examination(np.minimum(clicks / self.prior[0], 1.0), about={"method": self.name})


def _padded(pages: Pages, places: int) -> Pages:
    """The same pages with empty places below, so that lists are as long as those of the fit."""
    if pages.places == places:
        return pages
    more = ((0, 0), (0, places - pages.places))
    label = None if pages.label is None else np.pad(pages.label, more, constant_values=math.nan)
    item, click = np.pad(pages.item, more, constant_values=-1), np.pad(pages.click, more)
    return replace(pages, item=item, click=click, label=label)


def _simulated(
    browsing: Browsing, table: Array, attraction: Array, satisfaction: Array | None, draws: np.random.Generator
) -> Array:
    places, pages = attraction.shape
    click = np.zeros(attraction.shape, dtype=bool)
    looked, last = np.ones(pages, dtype=bool), np.zeros(pages, dtype=np.int64)
    for place in range(places):
        if place:
            above = click[place - 1]
            last = np.where(above, place, last)
            rows = browsing.rows(place, above, last, places)
            chance = np.broadcast_to(table[rows.looked], (pages,))
            if satisfaction is not None:
                satisfied = above & (draws.random(pages) < satisfaction[place - 1])
                chance = np.where(satisfied, table[rows.satisfied], chance)
            looked = draws.random(pages) < np.where(looked, chance, table[rows.unlooked])
        click[place] = looked & (draws.random(pages) < attraction[place])
    return click
