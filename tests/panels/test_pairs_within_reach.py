"""All pairs of systems at once: the same counts and the same nearest pair as looking at them one by one."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.metrics import parse
from rankscope.panels.panel import Panel
from rankscope.panels.reach import PairPower, PowerGoal, pairs_within_reach, reach_of
from rankscope.panels.samples import Measure

NONE = float("nan")


def panel_of(rows: Any, clusters: Any = None, weights: Any = None) -> Panel:
    values = np.array(rows, dtype=float)
    systems, units = (tuple(f"{kind}{i}" for i in range(n)) for kind, n in zip("sq", values.shape, strict=True))
    return Panel(Measure.of(parse("RR")), systems, units, values, clusters=clusters, weights=weights)


def one_by_one(panel: Panel) -> tuple[int, int, PairPower | None]:
    reaches = [reach_of(panel, pair, PowerGoal(), (), False) for pair in combinations(panel.systems, 2)]
    reaches = [reach for reach in reaches if reach.queries > 1]
    small = [r for r in reaches if not r.reason and 0 < abs(r.difference) < r.detectable.difference]
    parts = [abs(r.difference) / r.detectable.difference for r in small]
    return len(reaches), len(small), small[int(np.argmin(parts))] if small else None


@st.composite
def panels(draw: Any) -> Panel:
    value = st.sampled_from([0.0, 0.5, 1.0, 1 / 3]) | st.floats(0, 1, allow_subnormal=False)
    units = draw(st.integers(2, 8))
    rows = draw(st.lists(st.lists(value, min_size=units, max_size=units), min_size=1, max_size=6))
    rows += [rows[0]] * draw(st.integers(0, 2))
    if draw(st.booleans()):  # the last two units have a value everywhere
        rows = [[NONE if draw(st.booleans()) and i < units - 2 else one for i, one in enumerate(row)] for row in rows]
    return panel_of(rows)


@settings(max_examples=200, deadline=None)
@given(panels())
def test_all_pairs_at_once(panel: Panel) -> None:
    assert pairs_within_reach(panel, PowerGoal()) == one_by_one(panel)


def test_clusters_and_weights_are_seen_in_all_pairs() -> None:
    draws = np.random.default_rng(4)
    rows = [0.2 + 0.07 * i + np.repeat(draws.normal(0, 0.05, 6), 4) for i in range(5)]
    clustered = panel_of(rows, clusters=np.repeat(np.arange(6), 4))
    weighted = panel_of(rows, weights=np.broadcast_to(draws.random(24) ** 3 + 0.01, (5, 24)))
    for panel in (clustered, weighted):
        assert pairs_within_reach(panel, PowerGoal()) == one_by_one(panel)
    assert pairs_within_reach(clustered, PowerGoal())[1] > pairs_within_reach(panel_of(rows), PowerGoal())[1]


def test_three_systems_by_hand() -> None:
    """Differences of 0.5, -0.5, 0.5, -0.4 have a mean of 0.025 and a large spread; a gain of 2 everywhere has none, and is large."""
    base = [0.0, 0.5, 0.0, 0.4]
    pairs, small, nearest = pairs_within_reach(
        panel_of([base, [0.5, 0.0, 0.5, 0.0], [one + 2 for one in base]]), PowerGoal()
    )
    assert (pairs, small) == (3, 1)
    assert nearest is not None
    assert (nearest.run, nearest.baseline) == ("s0", "s1")
    assert nearest.difference == pytest.approx(-0.025)


def test_no_pair() -> None:
    assert pairs_within_reach(panel_of([[0.5, 1.0]]), PowerGoal()) == (0, 0, None)
    assert pairs_within_reach(panel_of([[0.5, NONE], [1.0, NONE]]), PowerGoal()) == (0, 0, None)
