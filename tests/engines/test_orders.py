"""Orders of rows by numbers and texts, beside plain sorting."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.engines.orders import number_texts, order_within

groups = st.integers(0, 3)
numbers = st.one_of(st.floats(allow_nan=False), st.sampled_from([0.0, -0.0, 1.0]))
texts = st.one_of(
    st.text("ab\0é€", max_size=20),
    st.text("az\x7f", min_size=8, max_size=8),
    st.sampled_from(["clueweb09-en0000-00-00000", "clueweb09-en0000-00-0000"]),
)


@given(st.lists(st.tuples(groups, numbers)))
def test_rows_by_group_and_number(rows: list[tuple[int, float]]) -> None:
    group, values = np.array([g for g, _ in rows], dtype=np.int64), np.array([v for _, v in rows], dtype=np.float64)
    assert order_within(group, values).tolist() == np.lexsort((values, group)).tolist()
    assert order_within(group + (1 << 62), values).tolist() == np.lexsort((values, group)).tolist()


@pytest.mark.parametrize("prefix", ["", "é-", "a common start of all"])
@given(rows=st.lists(st.tuples(groups, texts)), falling=st.booleans())
def test_rows_by_group_and_text(prefix: str, rows: list[tuple[int, str]], falling: bool) -> None:
    rows = [(group, prefix + text) for group, text in rows]
    group = np.array([group for group, _ in rows], dtype=np.int64)
    row, number = number_texts(group, pl.Series([text for _, text in rows], dtype=pl.String), falling=falling)
    distinct = sorted(set(rows), key=lambda one: one[1].encode(), reverse=falling)
    distinct = sorted(distinct, key=lambda one: one[0])
    assert [distinct[at] for at in number.tolist()] == rows
    assert [rows[at] for at in row.tolist()] == distinct
