"""CLAX (click models in JAX), run for real: with the same parameters, the same probability of each click, before and after the clicks above."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.behaviour.browsing import LEARNED
from rankscope.click_models import models
from rankscope.click_models.base import FittedModel
from rankscope.lists import Array
from rankscope.lists.pages import Pages
from rankscope.logs.pages import read_pages

pytestmark = pytest.mark.filterwarnings("ignore:Explicitly requested dtype")  # JAX asks itself for 64 bits
PAGES, ITEMS, PLACES = 300, 12, 6
SURE = 1 - 1e-7  # CLAX keeps logarithms of the odds
SINGLE = 1e-5  # it computes in single precision


@pytest.fixture(scope="module")
def clax(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("clax")


def fixed(chance: Array, by: str | None = None) -> Any:
    """A parameter of CLAX with these probabilities, of all rows or by a column of the batch."""
    import jax.numpy as jnp
    from clax.parameters import Parameter
    from flax import nnx

    class Fixed(Parameter):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = nnx.Param(jnp.asarray(np.log(chance) - np.log1p(-chance)))

        def logit(self, batch: Any = None) -> Any:
            return self.weight.value if by is None else self.weight.value[batch[by]]

        def prob(self, batch: Any = None) -> Any:
            return nnx.sigmoid(self.logit(batch))

        def log_prob(self, batch: Any = None) -> Any:
            return nnx.log_sigmoid(self.logit(batch))

    return Fixed()


def peer_of(clax: ModuleType, name: str, learned: Array, attraction: Array, satisfaction: Array) -> Any:
    """The model of CLAX with these parameters: ``learned`` is the table of examination, without its two fixed rows."""
    from flax import nnx

    both: Mapping[str, Any] = {"attraction": fixed(attraction, "query_doc_ids"), "rngs": nnx.Rngs(0)}
    if name == "PBM":
        return clax.PositionBasedModel(examination=fixed(np.array([0.5, SURE, *learned]), "positions"), **both)
    if name == "UBM":
        peer, side = clax.UserBrowsingModel(positions=PLACES, **both), PLACES + 1
        chance = np.full(side**2, 0.5)
        for last in range(PLACES):
            for place in range(last + 1, PLACES + 1):
                cell = peer._examination_parameters(np.int32(place), np.int32(last))["examination_idx"]
                chance[int(cell)] = SURE if place == 1 else learned[last * (PLACES - 1) + place - 2]
        peer.examination = fixed(chance, "examination_idx")
        return peer
    if name == "CM":
        return clax.CascadeModel(**both)
    if name == "DCM":
        return clax.DependentClickModel(continuation=fixed(np.array([0.5, *learned, 0.5]), "positions"), **both)
    if name == "CCM":
        peer = clax.ClickChainModel(**both)
        skipped, clicked, content = (fixed(learned[[row]]) for row in range(3))
        peer.continuation_exam_no_click, peer.continuation_click_not_satisfied = skipped, clicked
        peer.continuation_click_satisfied = content
        return peer
    own = fixed(satisfaction, "query_doc_ids")
    peer = clax.DynamicBayesianNetwork(satisfaction=own, fix_continuation=name == "SDBN", **both)
    if name == "DBN":
        peer.continuation = fixed(learned[[0]])
    return peer


@pytest.mark.parametrize("name", ["PBM", "UBM", "CM", "DCM", "CCM", "DBN", "SDBN"])
def test_clicks_are_as_probable_as_clax_says(clax: ModuleType, name: str) -> None:
    draws = np.random.default_rng(3)
    item = np.argsort(draws.random((PAGES, ITEMS)), axis=1)[:, :PLACES]
    click = draws.random((PAGES, PLACES)) < 0.3
    attraction, satisfaction = draws.uniform(0.05, 0.9, (2, ITEMS))
    model = getattr(models, name)()
    table = model.browsing.table(PLACES)
    table[LEARNED:] = draws.uniform(0.2, 0.95, len(table) - LEARNED)
    pages = Pages.of(item, click, ITEMS)
    own = satisfaction if model.satisfaction_by == "item" else None
    ours = FittedModel(model, PLACES, table, attraction, own, (0.2, 0.5), pages.pairs)
    peer = peer_of(clax, name, table[LEARNED:], attraction, satisfaction)
    batch = {
        "positions": np.tile(np.arange(1, PLACES + 1), (PAGES, 1)), "query_doc_ids": item, "clicks": click,
        "mask": np.ones(click.shape, dtype=bool),
    }  # fmt: skip
    assert np.exp(peer.predict_clicks(batch)) == pytest.approx(ours.marginal(pages), abs=SINGLE)
    if name != "CM":  # CLAX gives what was probable before any click, also where there was none above
        happened = ours.conditional(pages)
        clicked = np.where(click, happened, 1 - happened)
        assert np.exp(peer.predict_conditional_clicks(batch)) == pytest.approx(clicked, abs=SINGLE)


def batches(pages: Pages) -> list[dict[str, Any]]:
    """Pages as CLAX takes them, some at a time."""
    parts = [pages.where(np.arange(start, min(start + 512, len(pages)))) for start in range(0, len(pages), 512)]
    return [
        {
            "positions": np.tile(np.arange(1, pages.places + 1), (len(part), 1)),
            "query_doc_ids": np.maximum(part.item, 0), "clicks": part.click.astype(np.int32), "mask": part.item >= 0,
        }
        for part in parts
    ]  # fmt: skip


@pytest.mark.slow
def test_held_out_clicks_of_clara_are_predicted_at_least_as_well(
    clax: ModuleType, shared_data: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    from flax import nnx
    from optax import adamw

    pages = read_pages(rs.read_log(shared_data("clara2/CLARA2SearchLog_beta.gz"))).pages
    part = np.random.default_rng(0).random(len(pages))
    train, held = pages.where(part < 0.7), pages.where(part >= 0.8)
    ours = models.PBM().fit(pages.where(part < 0.8)).perplexity(held)
    peer = clax.PositionBasedModel(query_doc_pairs=len(pages.pairs), positions=pages.places + 1, rngs=nnx.Rngs(42))
    trainer = clax.Trainer(adamw(0.03), epochs=50)
    trainer.train(peer, batches(train), batches(pages.where((part >= 0.7) & (part < 0.8))))
    theirs = float(trainer.test_clicks(peer, batches(held))["test_ppl"].iloc[0])
    capsys.readouterr()
    assert 1 < ours.mean() <= theirs
