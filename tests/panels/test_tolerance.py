"""What is known about a loss: by the test of the contrast, beyond a tolerance, by the losses alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankscope.metrics import parse
from rankscope.panels.contrast import contrast
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.panels.tolerance import differing_clusters, evidence_of_loss, losses_alone, queries_to_settle

BEFORE = np.linspace(0.2, 0.8, 24)
AFTER = BEFORE - np.tile([0.1, 0.02, -0.03], 8)


def pair(run: Any = AFTER, baseline: Any = BEFORE, metric: str = "RR", test: Any = None, **more: Any) -> Any:
    values = np.array([baseline, run])
    units = tuple(f"q{i:02}" for i in range(values.shape[1]))
    return contrast(Panel(Measure.of(parse(metric)), ("a", "b"), units, values, **more), "b", "a", method_of(test=test))  # fmt: skip


@pytest.mark.parametrize("test", [None, "sign", "wilcoxon", "permutation"])
def test_without_a_tolerance_it_is_the_test_of_the_contrast(test: Any) -> None:
    c = pair(test=test)
    evidence = evidence_of_loss(c)
    assert (evidence.p_value, evidence.loses, evidence.by_flips) == (c.p_value, True, False)


def test_beyond_a_tolerance_every_difference_is_better_by_it() -> None:
    by_t = evidence_of_loss(pair(), 0.02)
    assert by_t.p_value == pytest.approx(stats.ttest_1samp(AFTER - BEFORE, -0.02).pvalue, rel=1e-9)
    by_sign = evidence_of_loss(pair(test="sign"), 0.05)  # 8 queries lost more than 0.05, 16 less
    assert by_sign.p_value == pytest.approx(stats.binomtest(8, 24).pvalue, rel=1e-9)
    assert not by_sign.loses
    lower = evidence_of_loss(pair(1 - AFTER, 1 - BEFORE, metric="FallOut@10"), 0.02)
    assert lower.p_value == pytest.approx(by_t.p_value)
    assert lower.loses == by_t.loses


@pytest.mark.parametrize("test", [None, "t", "bootstrap", "anytime", "permutation", "sign", "wilcoxon(method='exact')"])
def test_without_spread_sign_flips_answer_whatever_test_was_asked_for(test: str | None) -> None:
    """Tests of signs and ranks need no spread, and 24 losses of one size are as rare for them."""
    even = pair(BEFORE - 0.1, test=test)
    evidence = evidence_of_loss(even)
    assert evidence.p_value == even.p_value == pytest.approx(2 / 2**24)
    assert evidence.by_flips == (even.test == "permutation")
    assert even.test in {"permutation", test}


def test_before_the_first_look_differences_without_spread_have_no_test() -> None:
    few = pair(BEFORE[:12] - 0.1, BEFORE[:12], test="anytime")
    assert math.isnan(few.p_value)
    assert math.isnan(evidence_of_loss(few).p_value)


def test_clusters_without_spread_go_by_sign_flips_of_clusters() -> None:
    swing = np.tile([0.15, 0.05], 12)  # each cluster of two lost the same
    c = pair(BEFORE - swing, clusters=np.repeat(np.arange(12), 2))
    assert evidence_of_loss(c).p_value == c.p_value == pytest.approx(2 / 2**12)
    assert differing_clusters(c) == 12
    assert differing_clusters(pair()) is None


def test_losses_alone_leave_gains_out() -> None:
    assert losses_alone(pair()) == pytest.approx(8 * 0.12 / 24)
    assert losses_alone(pair(BEFORE + 0.1)) == 0.0
    assert losses_alone(pair(1 - AFTER, 1 - BEFORE, metric="FallOut@10")) == pytest.approx(8 * 0.12 / 24)


def test_queries_settle_a_check_where_there_is_room() -> None:
    near = queries_to_settle(pair(), 0.05, beyond=True)
    assert near is not None
    assert near > 24
    assert queries_to_settle(pair(BEFORE), 0.05, beyond=True) is None
