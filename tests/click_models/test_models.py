"""Laws of every click model, its likelihood against all ways to look written out, and models against data of another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.click_models.worlds import NAMES, clicked, shuffled, truth
from tests.reference import click_models as reference

from rankscope.behaviour.browsing import LEARNED, Browsing, Cascade, click_chances
from rankscope.click_models.base import FittedModel
from rankscope.click_models.files import read_model, save_model
from rankscope.click_models.models import find_click_model
from rankscope.click_models.walk import Walk
from rankscope.errors import DataError, InputError
from rankscope.lists.pages import Pages

EVERY = pytest.mark.parametrize("name", NAMES)


# --- laws -----------------------------------------------------------------------------------------------------------


@EVERY
def test_no_step_lowers_the_likelihood(name: str) -> None:
    trace = np.array(clicked(name)[2].trace)
    assert len(trace) > 1
    assert (np.diff(trace) > -1e-9).all()


@EVERY
def test_without_smoothing_no_step_lowers_the_plain_likelihood(name: str) -> None:
    seen = clicked(name)[1]
    model = find_click_model(f"{name}(smoothing=0)")
    values = [float(model.fit(seen, rounds=n, tolerance=0.0).log_likelihood(seen).mean()) for n in (1, 2, 4, 8)]
    assert (np.diff(values) > -1e-4).all()  # the table has a prior of two trials


@EVERY
def test_simulated_clicks_are_as_frequent_as_the_model_says(name: str) -> None:
    true, seen, _ = clicked(name)
    expected, rate = true.marginal(seen).mean(axis=0), seen.click.mean(axis=0)
    assert np.abs(expected - rate).max() < 4 * np.sqrt(0.25 / len(seen))


@EVERY
def test_a_fit_finds_the_parameters(name: str) -> None:
    true, _, found = clicked(name, 20_000)
    error = np.sqrt(np.mean((found.attraction - true.attraction) ** 2))
    assert error < 0.05
    reached = np.ones(len(true.table), dtype=bool)
    if name == "UBM":  # rows of a place above the last click are never used
        places = true.places
        reached[LEARNED:] = [place >= last for last in range(places) for place in range(1, places)]
    assert np.abs(found.table - true.table)[reached].max(initial=0.0) < 0.15
    if true.satisfaction is not None and found.satisfaction is not None:
        assert np.corrcoef(found.satisfaction, true.satisfaction)[0, 1] > 0.8


@EVERY
def test_fit_then_simulate_then_fit_agrees(name: str) -> None:
    _, seen, found = clicked(name)
    again = found.model.fit(found.simulate(seen, seed=8))
    assert np.abs(again.marginal(seen).mean(axis=0) - found.marginal(seen).mean(axis=0)).max() < 0.03


@EVERY
def test_a_saved_model_is_read_back(name: str, tmp_path: Path) -> None:
    _, seen, found = clicked(name)
    again = read_model(save_model(found, tmp_path / "model.json"))
    assert again.name == found.name
    assert np.array_equal(again.log_likelihood(seen), found.log_likelihood(seen))


@EVERY
def test_pages_and_their_order_and_empty_places_do_not_matter(name: str) -> None:
    _, seen, found = clicked(name)
    some = np.array([7, 3, 3])
    assert np.array_equal(found.log_likelihood(seen.where(some)), found.log_likelihood(seen)[some])
    item, click = np.pad(seen.item, ((0, 0), (0, 2)), constant_values=-1), np.pad(seen.click, ((0, 0), (0, 2)))
    wider = find_click_model(name).fit(Pages.of(item, click, len(seen.pairs)), rounds=3)
    assert np.allclose(wider.attraction[:4], found.model.fit(seen, rounds=3).attraction[:4], atol=0.02)


@EVERY
def test_the_likelihood_of_all_click_patterns_sums_to_one(name: str) -> None:
    pages = shuffled(1, places=4)
    patterns = (np.arange(16)[:, None] >> np.arange(4)) & 1
    every = Pages.of(np.repeat(pages.item, 16, axis=0), patterns, len(pages.pairs))
    true = truth(name, pages)
    chance = Walk(true.model.browsing, true.table, *_own(true, every), every.click.T).chance.prod(axis=0)
    assert chance.sum() == pytest.approx(1.0, abs=1e-9)
    assert (chance[:, None] * patterns).sum(axis=0) == pytest.approx(true.marginal(every)[0], abs=2e-5)


def _own(model: FittedModel, pages: Pages) -> tuple[np.ndarray, np.ndarray | None]:
    _, attraction, satisfaction = next(model._blocks(pages))
    return attraction, satisfaction


# --- against plain loops --------------------------------------------------------------------------------------------


def _reference(name: str, table: np.ndarray, places: int) -> reference.Onward:
    own = table[LEARNED:].tolist()
    made: dict[str, Callable[[], reference.Onward]] = {
        "PBM": lambda: reference.position_based([1.0, *own]),
        "UBM": lambda: reference.user_browsing(
            {
                (place + 1, last): own[last * (places - 1) + place - 1]
                for last in range(places)
                for place in range(1, places)
            }
        ),
        "CM": reference.cascade,
        "DCM": lambda: reference.dependent_clicks([0.0, *own]),
        "CCM": lambda: reference.click_chain(*own),
        "DBN": lambda: reference.dynamic_bayesian(*own),
        "SDBN": lambda: reference.dynamic_bayesian(1.0),
    }
    return made[name]()


@pytest.mark.parametrize("name", ["PBM", "UBM", "CM", "DCM", "CCM", "DBN", "SDBN"])
def test_likelihood_and_examination_equal_all_ways_written_out(name: str) -> None:
    places = 4
    pages = truth(name, shuffled(12, places=places)).simulate(shuffled(12, places=places), seed=5)
    true = truth(name, pages)
    attraction, satisfaction = _own(true, pages)
    walk = Walk(true.model.browsing, true.table, attraction, satisfaction, pages.click.T)
    examined = walk.expected().examined
    onward = _reference(name, true.table, places)
    for page in range(len(pages)):
        content = [0.0] * places if satisfaction is None else satisfaction[:, page].tolist()
        ways = list(
            reference.ways(
                pages.click[page].astype(int).tolist(),
                attraction[:, page].tolist(),
                content,
                onward,
                name in {"PBM", "UBM"},
            )
        )
        whole = sum(chance for _, chance in ways)
        assert walk.chance[:, page].prod() == pytest.approx(whole, rel=1e-4)  # what is ruled out has one in a million
        for place in range(places):
            expected = sum(chance for looked, chance in ways if looked[place]) / whole
            assert examined[place, page] == pytest.approx(expected, abs=1e-4)


def test_rates_are_counts_with_the_prior() -> None:
    pages = Pages.of([[0, 1], [1, 0], [0, 1]], [[1, 0], [0, 0], [1, 1]])
    assert find_click_model("GCTR(smoothing=0)").fit(pages).attraction.tolist() == pytest.approx([3 / 6])
    assert find_click_model("RCTR(smoothing=0)").fit(pages).attraction.tolist() == pytest.approx([2 / 3, 1 / 3])
    found = find_click_model("DCTR(smoothing=2)").fit(pages)
    assert found.attraction.tolist() == pytest.approx([(2 + 2 * 0.5) / (3 + 2), (1 + 2 * 0.5) / (3 + 2)])
    assert found.log_likelihood(pages)[0] == pytest.approx(np.log(3 / 5) + np.log(1 - 2 / 5))


def test_data_of_another_model_shows_in_perplexity() -> None:
    pages = shuffled(6000)
    seen = truth("DBN", pages).simulate(pages, seed=4)
    train, held = seen.where(np.arange(4500)), seen.where(np.arange(4500, 6000))
    values = {
        name: find_click_model(name).fit(train).perplexity(held, conditional=True).mean()
        for name in ("DBN", "PBM", "RCTR", "GCTR")
    }
    assert values["DBN"] < values["PBM"] < values["RCTR"] < values["GCTR"]


def test_perplexity_of_a_coin_is_two() -> None:
    pages = Pages.of([[0], [0]], [[1], [0]])
    assert find_click_model("GCTR").fit(pages).perplexity(pages).tolist() == pytest.approx([2.0])


# --- browsing simulates as its table says ---------------------------------------------------------------------------


@pytest.mark.parametrize("browsing", list(Browsing.catalogue))
def test_a_browsing_model_examines_as_often_as_its_table_says(browsing: str) -> None:
    model, draws = Browsing.read(browsing), np.random.default_rng(6)
    tempted, mood = draws.random((40_000, 5)) < 0.4, draws.random((40_000, 6))
    looked = model.examine(tempted, mood)
    stop = {"one": model.satisfaction, "item": model.satisfaction, "attraction": model.satisfaction}.get(
        model.satisfies
    )
    content = None if stop is None else np.full((5, 1), stop)
    expected = click_chances(model, model.table(5), np.full((5, 1), 0.4), content)[:, 0] / 0.4
    assert np.abs(looked.mean(axis=0) - expected).max() < 0.015


def test_a_cascade_with_one_draw_of_patience_is_its_chain() -> None:
    draws = np.random.default_rng(7)
    tempted, mood = draws.random((60_000, 5)) < 0.3, draws.random((60_000, 6))
    one, chain = Cascade().examine(tempted, mood), Browsing.examine(Cascade(), tempted, mood)
    assert np.abs(one.mean(axis=0) - chain.mean(axis=0)).max() < 0.012


# --- bad input ------------------------------------------------------------------------------------------------------


def test_pages_without_clicks_are_refused() -> None:
    with pytest.raises(DataError, match="no list has a click"):
        find_click_model("PBM").fit(shuffled(5))


def test_longer_lists_than_fitted_are_refused() -> None:
    with pytest.raises(DataError, match="fitted to lists of 6 places, and these have 7"):
        clicked("PBM")[2].log_likelihood(shuffled(2, places=7))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        (
            '{"schema": "rankscope/click-model/2"}',
            "holds 'rankscope/click-model/2', and a click model is rankscope/click-model/1",
        ),
        ("[1]", "has no schema"),
        ('{"schema": "rankscope/click-model/1"}', "'model'.* is wrong or missing"),
    ],
    ids=["no JSON", "another version", "a list", "nothing in it"],
)
def test_a_file_that_is_no_model_is_refused(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(content)
    with pytest.raises(InputError, match=said):
        read_model(tmp_path / "model.json")


def test_an_unknown_model_is_named() -> None:
    with pytest.raises(InputError, match="no click model is called DNB, did you mean DBN"):
        find_click_model("DNB")
