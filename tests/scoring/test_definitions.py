"""The other ways to compute a metric: every value of a convention but the one in use."""

from __future__ import annotations

from rankscope.scoring.definitions import MetricDefinition, options_of
from rankscope.scoring.request import Request


def test_other_values_of_a_convention() -> None:
    plain = Request.of(["AP"]).metrics[0]
    found = options_of(MetricDefinition(plain.metric, plain.convention))
    assert found["judged_only"] == [True]  # a truth value has one other
    assert found["level"] == [2.0, 3.0]
    # a choice among words has all other words, and no truth value, which Python would take for a 1
    assert found["denominator"] == [
        "min_k_relevant",
        "min_relevant_listlen",
        "hits_at_k",
        "k",
        "positives_in_list",
        "min_k_positives_in_list",
    ]
