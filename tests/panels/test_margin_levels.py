"""At which level "practically the same" is told: each comparison's own without a correction, Bonferroni's with one."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.metrics import parse
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure


@pytest.mark.parametrize(("correction", "verdict"), [("none", "equivalent"), ("holm", "cannot tell")])
def test_the_level_of_a_margin(correction: str, verdict: str) -> None:
    """A mean difference of 0 whose error is 0.005025, in a margin of 1.77 errors: each one-sided p is 0.04, of two comparisons."""
    base, moves = np.full(100, 0.5), np.tile([0.05, -0.05], 50)
    panel = Panel(
        Measure.of(parse("RR")),
        ("base", "one", "two"),
        tuple(map(str, range(100))),
        np.stack([base, base + moves, base - moves]),
    )
    error = 0.05 / 99**0.5
    method = method_of(correction=correction, margin=1.77 * error)
    family = Family([panel], pairs_of(panel.systems, "base", False), method, "base")
    assert [c.verdict for c in family.contrasts] == [verdict, verdict]
    for c in family.contrasts:
        assert c.equivalence is not None
        assert c.equivalence.p_value == pytest.approx(0.0399, abs=5e-4)
