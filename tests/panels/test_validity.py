"""A verdict that is withheld is withheld in the contrast itself, wherever it is read."""

from __future__ import annotations

import numpy as np
import pytest

import rankscope as rs
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import VALID, Validity, method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure

WITHHELD = Validity.unless(False, "users were not split as planned (p < 0.001)")


def family(validity: Validity, margin: float | None = None) -> Family:
    values = np.random.default_rng(3).normal(size=(3, 40)) / 10 + np.array([[0.5], [0.1], [0.5]])
    panel = Panel(Measure("AP", "higher"), ("a", "b", "c"), tuple(map(str, range(40))), values)
    return Family([panel], pairs_of(panel.systems, "a", all_pairs=False), method_of(margin=margin), "a", validity)


@pytest.mark.parametrize("margin", [None, 0.3])
def test_every_verdict_sentence_and_repr_is_withheld(margin: float | None) -> None:
    clear, *_ = family(VALID, margin).contrasts
    assert clear.verdict == "worse"
    for c in family(WITHHELD, margin).contrasts:
        assert c.verdict == "withheld"
        assert c.sentence() == repr(c) == f"The verdict on {c.title} is withheld: {WITHHELD.reason}."
        assert "withheld" in c.short_sentence()


def test_a_withheld_family_has_no_top_group() -> None:
    assert family(VALID).groups
    assert not family(WITHHELD).groups


def test_numbers_stay_for_finding_out_why() -> None:
    for one, other in zip(family(VALID).contrasts, family(WITHHELD).contrasts, strict=True):
        assert (one.difference, one.p_value_adjusted, one.adjusted) == (
            other.difference,
            other.p_value_adjusted,
            other.adjusted,
        )


def test_what_holds_is_valid() -> None:
    assert Validity.unless(True, "never read") is VALID


def test_a_spread_of_rounding_needs_no_number_of_queries() -> None:
    """0.4 less 0.3 is 0.1 in different roundings: there is no spread to plan by."""
    old = {f"q{n}": value for n, value in enumerate([0.3, 0.4, 0.5, 0.3, 0.4, 0.5, 0.7, 0.9])}
    new = {query: value - 0.1 for query, value in old.items()}
    (row,) = rs.compare({"old": old, "new": new}, metrics="AP").to_dicts()
    assert row["test"] == "permutation"
    assert (row["queries_needed"], row["detectable_difference"]) == (None, 0.0)
