"""Files of weights: a query and what it weighs a line, with a heading or without, in either order under one."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankscope.errors import InputError
from rankscope.scoring.weights import weights_of

WEIGHTS = {"q1": 2.0, "q2": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("q1,2\nq2,0.5\n", id="no heading"),
        pytest.param("q1 2\n\nq2\t0.5\n", id="blanks and tabs"),
        pytest.param("query_id,weight\nq1,2\nq2,0.5\n", id="a heading"),
        pytest.param("# by traffic\nquery,weight\nq1,2\nq2,0.5\n", id="a comment before the heading"),
        pytest.param("weight,queryId\n2,q1\n0.5,q2\n", id="the query second"),
        pytest.param("anything,else\nq1,2\nq2,0.5\n", id="a heading of other names"),
    ],
)
def test_files_of_text(text: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.csv"
    path.write_text(text)
    assert weights_of(path).by_query == WEIGHTS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("q1,2\nquery,weight\n", "query query weighs 'weight'", id="a heading below a weight"),
        pytest.param("2,q1\n0.5,q2\n", "query 0.5 weighs 'q2'", id="the query second and no heading"),
        pytest.param("q1,2\nq1,3\n", "query q1 has two weights; keep one", id="a query twice"),
        pytest.param("q1,2,3\n", "line 1: 3 columns, a line of weights has 2", id="three columns"),
        pytest.param("query,weight\n", "no weight is there", id="a heading alone"),
    ],
)
def test_what_are_no_weights(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        weights_of(path)
