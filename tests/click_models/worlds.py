"""Small worlds of pages for click models: random orders of a few items per query, with clicks of a model whose truth is known."""

from __future__ import annotations

from functools import cache

import numpy as np

from rankscope.click_models.base import ClickModel, FittedModel
from rankscope.click_models.models import find_click_model
from rankscope.lists.pages import Pages

find_click_model("PBM")
NAMES = tuple(ClickModel.catalogue)
PLACES, DOCS = 6, 8


def shuffled(lists: int, queries: int = 12, places: int = PLACES, seed: int = 1) -> Pages:
    """Lists in random order, without clicks yet."""
    draws = np.random.default_rng(seed)
    query = draws.integers(0, queries, lists)
    order = np.argsort(draws.random((lists, DOCS)), axis=1)[:, :places]
    return Pages.of(query[:, None] * DOCS + order, np.zeros((lists, places)), queries * DOCS)


def truth(name: str, pages: Pages, seed: int = 2) -> FittedModel:
    """A model with known parameters, drawn at random."""
    model, draws = find_click_model(name), np.random.default_rng(seed)
    table = model.browsing.table(pages.places)
    size = {"item": len(pages.pairs), "place": pages.places, "all": 1}[model.attracts]
    satisfaction = draws.uniform(0.2, 0.8, size) if model.browsing.satisfies == "item" else None
    attraction = draws.uniform(0.05, 0.6, size)
    return FittedModel(
        model, pages.places, table, attraction, satisfaction, (float(attraction.mean()), 0.5), pages.pairs
    )


@cache
def clicked(name: str, lists: int = 4000) -> tuple[FittedModel, Pages, FittedModel]:
    """The truth, pages with clicks by it, and the same model fitted to them."""
    pages = shuffled(lists)
    true = truth(name, pages)
    seen = true.simulate(pages, seed=3)
    return true, seen, find_click_model(name).fit(seen)
