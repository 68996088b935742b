"""Whatever the scores, a comparison can be written: JSON without NaN, a table within 80 columns, a sentence a run."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import DataError
from rankscope.panels.contrast import CLEAR

cells = st.one_of(
    st.none(), st.sampled_from([0.0, 0.5, 1.0, 1e-9]), st.floats(0, 1, allow_nan=False).map(lambda v: round(v, 9))
)
METHODS: list[dict[str, Any]] = [
    {},
    {"test": "wilcoxon", "correction": "bh"},
    {"test": "sign", "all_pairs": True, "correction": "bonferroni"},
    {"test": "bootstrap(rounds=99)", "margin": 0.01, "bayes": True},
    {"test": "permutation(rounds=99)", "interval": "bca(rounds=999)"},
    {"test": "anytime"},
    {"test": "betting", "family": "all"},
    {"interval": "studentised(rounds=999)", "margin": 10},
    {"correction": "max_t(rounds=99)", "all_pairs": True},
    {"correction": "tukey"},
    {"correction": "randomised_tukey(rounds=99)"},
]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, dict[str, float | None]]:
    systems, queries = draw(st.integers(2, 5)), draw(st.integers(1, 12))
    rows = draw(st.lists(st.lists(cells, min_size=queries, max_size=queries), min_size=systems, max_size=systems))
    if draw(st.booleans()):
        rows[-1] = rows[0]
    return {f"s{i}": {f"q{j}": v for j, v in enumerate(row)} for i, row in enumerate(rows)}


@settings(max_examples=12, deadline=None)
@pytest.mark.parametrize("method", METHODS)
@given(scores=tables(), metric=st.sampled_from(["AP", "LabelRankingLoss", "NumRet"]), cut=st.booleans())
def test_any_table_can_be_compared_and_written(
    method: dict[str, Any], metric: str, scores: dict[str, Any], cut: bool
) -> None:
    slices = {q: {"kind": "odd" if i % 2 else "even"} for i, q in enumerate(scores["s0"])} if cut else None
    try:
        found = rs.compare(scores, metrics=metric, slices=slices, **method)
    except DataError:  # systems that share no query, or too few for the method
        return
    envelope = found.json_document()
    json.dumps(envelope, allow_nan=False)
    assert set(envelope["results"][0]) <= set(found.results.columns)
    assert found.results.height == len(found.contrasts)
    assert "nan" not in str(found)
    assert max(map(len, found.to_text().splitlines())) <= 80
    assert found.to_latex()
    assert found.to_markdown()
    for c in found.contrasts:
        assert c.wins + c.losses + c.ties == c.queries
        assert math.isnan(c.p_value) or 0 <= c.p_value <= 1
        if c.verdict in CLEAR:
            assert c.p_value_adjusted <= 0.05
            assert c.differing >= 6
            assert c.difference != 0
