"""``of`` on batches: arithmetic, padding, and what is refused. That a batch is its lists is a law, in tests/laws/test_batches.py."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import pytest

import rankscope as rs


def test_worked_arithmetic() -> None:
    values = rs.nDCG().of(np.array([[1, 0, 2], [0, 0, 0], [3, 2, 1]]))
    np.testing.assert_array_equal(values, [(1 + 2 / log2(4)) / (2 + 1 / log2(3)), 0, 1])


def test_lists_of_several_lengths() -> None:
    np.testing.assert_array_equal(rs.RR().of([[0, None, 1], [1], [], [0, 1]]), [1 / 3, 1, 0, 1 / 2])


def test_what_stands_past_the_end_is_no_document() -> None:
    grades, scores = np.array([[0, 1, 1], [1, 1, 0]]), np.array([[1.0, 2.0, 3.0], [1.0, 9.0, 2.0]])
    np.testing.assert_array_equal(rs.R(cutoff=1).of(grades, scores=scores, lengths=[2, 3]), [1, 1 / 2])
    np.testing.assert_array_equal(rs.AP().of(grades, lengths=np.array([2, 0])), [1 / 2, 0])
    nan = np.where(np.arange(3) < np.array([[2], [3]]), scores, np.nan)
    np.testing.assert_array_equal(rs.R(cutoff=1).of(grades, scores=nan, lengths=[2, 3]), [1, 1 / 2])


def test_numbers_of_any_kind() -> None:
    grades = np.random.default_rng(3).integers(0, 2, (9, 13))
    expected = rs.AP().of(grades)
    for other in (
        grades.astype(bool),
        grades.astype(np.uint8),
        grades.astype(np.float16),
        grades.T.copy().T,
        grades[:, ::1].tolist(),
        list(grades),
        [[np.float64(one) for one in row] for row in grades],
    ):
        np.testing.assert_array_equal(rs.AP().of(other), expected)


def test_scores_without_a_sign() -> None:
    np.testing.assert_array_equal(rs.RR().of([[1, 0, 0]], scores=np.array([[0, 5, 255]], dtype=np.uint8)), [1 / 3])


def test_no_list_is_looked_at_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The speed of batches: whatever is plain goes through rectangles."""
    grades = [[1.0, None, 0.0], [2, 1], [True, False, False]]
    expected = [[metric.of(one) for one in grades] for metric in (rs.nDCG(), rs.AP(), rs.AUC(), rs.Bpref())]

    def refuse(*_: Any) -> Any:
        raise AssertionError("a list was looked at alone")

    monkeypatch.setattr("rankscope.metrics.single._read_list", refuse)
    for metric, values in zip((rs.nDCG(), rs.AP(), rs.AUC(), rs.Bpref()), expected, strict=True):
        np.testing.assert_array_equal(metric.of(grades), values)
        metric.of(np.ones((3, 4)), scores=np.ones((3, 4)), known=7)
        metric.of(list(np.ones((3, 4))), scores=[[1, 2, 3, 4]] * 3, known=[5, 4, 9])


REFUSED: list[Any] = [
    ("lengths of a list", [1, 0], {"lengths": [2]}, "lengths goes with a two-dimensional array"),
    ("lengths of lists", [[1, 0]], {"lengths": [2]}, "lengths goes with a two-dimensional array"),
    ("too few lengths", np.zeros((2, 3)), {"lengths": [2]}, "each of 2 rows: 2 whole numbers"),
    ("lengths beyond the rows", np.zeros((2, 3)), {"lengths": [2, 4]}, "row 2 has length 4"),
    ("lengths that are no whole numbers", np.zeros((2, 3)), {"lengths": [2.0, 1.0]}, "whole numbers"),
    ("lengths of ids", np.array([[1, 2]]), {"lengths": [1], "relevant": [{1}]}, "lengths goes with an array of grades"),
    ("an infinite grade", np.array([[1, np.inf]]), {}, "a grade is infinite"),
    ("a grade beyond computing", [[1, 1e70]], {}, "too large to compute with"),
    ("words", [["a", "b"]], {}, "'a' is not a grade"),
    ("scores of another length", [[1, 0], [1]], {"scores": [[1, 2], [1, 2]]}, "2 numbers for 1 documents"),
    ("a score that is NaN", np.array([[1, 0]]), {"scores": np.array([[1, np.nan]])}, "score 2 is NaN"),
    ("fewer that are known", [[1, 1], [1, 0]], {"known": [1, 1]}, "the list holds 2 relevant documents"),
]  # fmt: skip


@pytest.mark.parametrize(("ranking", "more", "said"), [pytest.param(*rest, id=name) for name, *rest in REFUSED])
def test_one_clear_line(ranking: Any, more: dict[str, Any], said: str) -> None:
    with pytest.raises(rs.InputError, match=said) as error:
        rs.AP().of(ranking, **more)
    assert "\n" not in str(error.value)


def test_a_discount_of_ones_own_is_in_the_ideal_too() -> None:
    """What is worked out of the judgments once is not shared with a metric that works it out in another way."""

    class Slow(rs.nDCG):
        """nDCG with a discount of its own."""

        def discounts(self, rank: Any) -> Any:
            return 1.0 / rank

    found = rs.evaluate({"q": {"a": 1, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}}, [rs.nDCG() @ 2, Slow() @ 2])
    assert found["nDCG@2"] == (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    assert found["Slow@2"] == (1 + 3 / 2) / (3 + 1 / 2)
