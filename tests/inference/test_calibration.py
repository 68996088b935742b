"""Whether intervals, tests and corrections are right on samples of real scores: laws with room for chance, from fixed seeds.

The simulations of ``tools/calibrate.py`` look at many samples at once; here they are also held against the library, one by one.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rankscope.inference.anova import tukey
from rankscope.inference.base import Sample
from rankscope.inference.bootstrap import Groups, bca, bootstrap, percentile, studentised
from rankscope.inference.corrections import holm
from rankscope.inference.intervals import linearise, t
from rankscope.inference.max_t import max_t, randomised_tukey
from rankscope.inference.paired import patterns, permutation
from rankscope.inference.paired import t as t_test
from rankscope.inference.sequential import anytime, betting

ROOT = Path(__file__).resolve().parents[2]
METRICS = ("AP", "P@10", "RR")
each_metric = pytest.mark.parametrize("metric", METRICS)


@pytest.fixture(scope="module")
def tool() -> Iterator[SimpleNamespace]:
    """The modules of the tool that writes the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        names = ("batched", "cells", "families", "looks", "scores")
        yield SimpleNamespace(
            main=import_module("calibrate"), **{name: import_module(f"calibrate_{name}") for name in names}
        )


@pytest.fixture(scope="module")
def scores(shared_data: Callable[[str], Path], tool: Any) -> Any:
    return tool.scores.population(shared_data("system_scores"))


@pytest.fixture
def drawn(scores: Any, tool: Any) -> Any:
    """A few samples of AP, P@10 and RR differences of 50 queries."""
    rng = np.random.default_rng(1)
    return np.vstack([rng.choice(m[:, 3] - m[:, 20], (6, 50)) for m in scores.values()])


# --- laws ----------------------------------------------------------------------------------------


@each_metric
@pytest.mark.parametrize("n", [20, 50, 100])
def test_the_t_interval_of_a_difference_covers(scores: Any, tool: Any, metric: str, n: int) -> None:
    rng, hits = np.random.default_rng(n), []
    for one, other in tool.scores.some_pairs(30, "law", metric):
        values = scores[metric][:, one] - scores[metric][:, other]
        hits.append(tool.batched.inside(tool.batched.t_ends(rng.choice(values, (600, n))), values.mean()))
    found = tool.scores.Rate.of(np.array(hits))
    assert 0.944 - 3 * found.error <= found.rate <= 0.956 + 3 * found.error


@each_metric
def test_t_and_sign_flip_keep_their_level_where_labels_are_swapped(scores: Any, tool: Any, metric: str) -> None:
    rng = np.random.default_rng(4)
    by_t, by_flips = [], []
    for one, other in tool.scores.some_pairs(12, "law", metric):
        values = tool.cells.swapped(scores[metric][:, one] - scores[metric][:, other], (600, 50), rng)
        by_t.append(tool.batched.t_p(values) <= 0.05)
        by_flips.append(tool.batched.flip_p(values, tool.batched.signs(999, 50, rng)) <= 0.05)
    for rejected in (by_t, by_flips):
        found = tool.scores.Rate.of(np.array(rejected))
        assert found.rate <= 0.05 + 3 * found.error


@pytest.mark.slow
@each_metric
def test_corrections_keep_the_family_wise_error(scores: Any, tool: Any, metric: str) -> None:
    """Ten systems that change places at random: no pair differs, so that whatever is found is an error."""
    rng = np.random.default_rng(5)
    batch = np.array([tool.families.shuffled(scores[metric], 50, rng) for _ in range(300)])
    size = tool.scores.Size(rounds=499, rounds_of_families=2999)
    parts = [tool.families.errors(part, size, rng) for part in np.array_split(batch, 3)]
    for name in ("Holm on t", "Holm on sign-flip", "max_t", "randomised_tukey"):
        found = tool.scores.Rate.of(np.concatenate([part[name] for part in parts]))
        assert found.rate <= 0.05 + 3 * found.error, name


def test_looking_after_every_query_keeps_the_level(scores: Any, tool: Any) -> None:
    size = tool.scores.Size(tested=10, looks=100)
    found = {row[0]: [float(cell.split()[0]) for cell in row[1:]] for row in tool.looks.looks(scores, size)}
    assert max(found["anytime, from 20"]) <= 5 + 3 * 100 * math.sqrt(0.05 * 0.95 / 1000)
    assert max(found["betting, from 1"]) <= 5
    assert min(found["t at every look from 20"]) > 25


def test_wilson_covers_where_t_does_not(tool: Any) -> None:
    by_t, by_wilson = ([float(cell) for cell in row[1:]] for row in tool.cells.shares())
    assert by_t[0] < 70
    assert by_wilson[0] > 91
    assert by_t[2] == pytest.approx(by_wilson[2], abs=2)


# --- the simulation is of what the library computes ----------------------------------------------


def test_t_of_many_is_t_of_each(drawn: Any, tool: Any) -> None:
    drawn[0] = 0
    lower, upper = tool.batched.t_ends(drawn)
    p = tool.batched.t_p(drawn)
    for i, row in enumerate(drawn):
        bounds = t().of(Sample(row))
        assert (lower[i], upper[i]) == pytest.approx((bounds.lower, bounds.upper), nan_ok=True)
        assert p[i] == pytest.approx(t_test().p_value(Sample(row)))


def test_clusters_of_many_are_clusters_of_each(drawn: Any, tool: Any) -> None:
    sizes = np.array([1, 20, 3, 5, 14, 7])
    clusters = np.repeat(np.arange(6), sizes)
    for weights in (np.ones(50), np.random.default_rng(7).lognormal(0, 1, 50)):
        lower, upper = tool.batched.clustered_ends(tool.batched.linearised(drawn, weights), sizes, weights)
        for i, row in enumerate(drawn):
            bounds = t().of(Sample(linearise(row, weights), clusters, weights=weights))
            assert (lower[i], upper[i]) == pytest.approx((bounds.lower, bounds.upper))


@pytest.mark.slow
def test_intervals_between_weighted_clusters_hold_the_truth(scores: Any, tool: Any) -> None:
    """Sizes are unequal, and weights vary within clusters and between them."""
    found = {
        row[1:3]: [float(cell.split()[0]) for cell in row[3:]]
        for row in tool.cells.clustered(scores, tool.scores.Size(pairs=20, samples=1000))
        if row[0] == "t between clusters"
    }
    assert all(93.5 <= rate <= 96.5 for (_, sizes), rates in found.items() if "weights" in sizes for rate in rates)
    assert len(found) == 12


def test_resamples_of_many_are_resamples_of_each(drawn: Any, tool: Any) -> None:
    """The library draws from values in their own order and orientation: the same are given to both."""
    kinds = (("percentile", percentile), ("BCa", bca), ("studentised", studentised))
    for row in drawn:
        sample = Sample(row)
        groups = Groups.of(sample)
        picked = np.concatenate(list(groups.draw(999, 3)))
        times = np.array([np.bincount(one, minlength=50) for one in picked], dtype=float)
        values = (groups.parts + groups.sign * sample.mean)[None]
        ends = tool.batched.bootstrap_ends(values, times)
        for name, kind in kinds:
            bounds = kind(rounds=999, seed=3).of(sample)
            here = [groups.sign * float(end[0]) for end in ends[name]]
            assert sorted(here) == pytest.approx([bounds.lower, bounds.upper], abs=1e-9), name
        assert tool.batched.shifted_p(values, times)[0] == bootstrap(rounds=999, seed=3).p_value(sample)


def test_flips_of_many_are_flips_of_each(drawn: Any, tool: Any) -> None:
    few = drawn[:, :12]
    every = np.array(list(itertools.product([-1.0, 1.0], repeat=12)))
    for p, row in zip(tool.batched.flip_p(few, every), few, strict=True):
        assert (p * 4097 - 1) / 4096 == pytest.approx(permutation().p_value(Sample(row)))


def test_families_of_many_are_families_of_each(scores: Any, tool: Any) -> None:
    rng = np.random.default_rng(8)
    flips = 1 - 2 * np.concatenate([part for _, part in patterns(50, 999, np.random.PCG64(2))])
    places = rng.permuted(np.broadcast_to(np.arange(10), (2999, 50, 10)), axis=2)
    first, second = tool.families.FIRST, tool.families.SECOND
    pairs = np.column_stack([first, second])
    for matrix in scores.values():
        batch = np.array([tool.families.recentred(matrix, 50, rng) for _ in range(3)])
        batch[0, :4] += 0.05 * np.arange(4)[:, None]  # some differ, so that there is something to find
        apart = batch[:, first] - batch[:, second]
        largest = tool.batched.largest_t_p(apart, flips)
        by_range = tool.families.tukey_rejects(batch)
        by_dealing = tool.families.randomised_tukey_p(batch, places)
        for i, family in enumerate(batch):
            assert largest[i] == max_t(rounds=999, seed=2).over(family, pairs).adjusted.min()
            p = np.array([t_test().p_value(Sample(row)) for row in apart[i]])
            assert holm().adjusted(p).min() == pytest.approx(min(tool.batched.t_p(apart[i]).min() * 45, 1))
            dealt = randomised_tukey(rounds=2999).over(family, pairs).adjusted.min()  # of other draws
            assert abs(by_dealing[i] - dealt) <= 5 * math.sqrt(2 * max(dealt * (1 - dealt), 0.001) / 3000)
            assert by_range[i] == (tukey().over(family, pairs).adjusted.min() <= 0.05)


def test_of_two_systems_the_randomised_range_is_the_sign_flip(scores: Any, tool: Any) -> None:
    two = scores["P@10"][:10, [3, 20]].T
    places = np.array(list(itertools.product([[0, 1], [1, 0]], repeat=10)))
    (p,) = tool.families.randomised_tukey_p(two[None], places)
    assert (p * 1025 - 1) / 1024 == pytest.approx(permutation().p_value(Sample(two[0] - two[1])))


def test_looks_of_many_are_looks_of_each(drawn: Any, tool: Any) -> None:
    z = tool.looks.z_at_looks(drawn)
    for i, row in enumerate(drawn):
        for n in (20, 33, 50):
            beyond = z[i, n - 1] > tool.looks.anytime_limit(np.array(n))
            assert beyond == (anytime().p_value(Sample(row[:n])) < 0.05)
    won = np.maximum(tool.looks.ever_won(drawn, 0.0), tool.looks.ever_won(-drawn, 0.0))
    for capital, row in zip(won, drawn, strict=True):
        assert min(1, 2 / math.exp(capital)) == pytest.approx(betting().p_value(Sample(row)))


def test_tilting_changes_chances_and_no_value(scores: Any, tool: Any) -> None:
    values = scores["AP"][:, 0] - scores["AP"][:, 30]
    chances = tool.scores.tilted(values)
    assert chances.sum() == pytest.approx(1)
    assert chances @ values == pytest.approx(0, abs=1e-9)
    assert chances.min() > 0


# --- the page ------------------------------------------------------------------------------------


def test_the_page_was_made_by_this_tool_in_full(tool: Any) -> None:
    page = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
    size = tool.scores.Size()
    assert page.startswith(tool.main.head(size))
    assert page.endswith(tool.main.FOLLOWS)
    least, most = map(float, re.findall(r"interval of a difference covers ([\d.]+) to ([\d.]+)", page)[0])
    assert 94.4 <= least <= most <= 95.6
    assert not re.search(r"/(work|home|tmp|root|Users)/", page)
