"""``evaluate_arrays``: worked arithmetic, layouts, tensors and what is refused. That every metric agrees is a law, in tests/laws/test_batches.py."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import log2
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError


class Device:
    """A tensor of a device, as DLPack tells of it; it can be brought to the processor by one way only."""

    def __init__(self, values: Any, way: str, kind: int = 2) -> None:
        self.values, self.kind, self.device = np.asarray(values), kind, "cuda:0"
        setattr(self, way, lambda: self.values)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 0

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("not on the processor")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("can't convert a tensor of a device to numpy")


def test_worked_arithmetic() -> None:
    scores = rs.evaluate_arrays(
        [0, 2, 1, 1, 0], [0.9, 0.8, 0.1, 0.2, 0.7], group=[3, 2], metrics=["nDCG@2", "RR", "AP"]
    )
    ideal = 2 / log2(2) + 1 / log2(3)
    np.testing.assert_array_equal(scores.per_query["nDCG@2"], [(2 / log2(3)) / ideal, 1 / log2(3)])
    np.testing.assert_array_equal(scores.per_query["RR"], [1 / 2, 1 / 2])
    np.testing.assert_array_equal(scores.per_query["AP"], [(1 / 2 + 2 / 3) / 2, 1 / 2])
    assert scores["RR"] == scores.means["RR"] == 0.5
    assert list(scores.query_ids) == [0, 1]


@pytest.mark.parametrize(
    ("ties", "value"),
    [
        ("input", 1.0),
        ("docid", 1.0),
        ("trec", 1 / 3),
        ("expected", (1 + 1 / 2 + 1 / 3) / 3),
        ("best", 1.0),
        ("worst", 1 / 3),
    ],
)
def test_equal_scores(ties: str, value: float) -> None:
    found = rs.evaluate_arrays([1, 0, 0, 0], [5.0, 5.0, 5.0, 1.0], metrics="RR", ties=ties)
    assert found["RR"] == pytest.approx(value, abs=1e-15)
    assert found.conventions["ties"] == ties
    assert "place" in found.conventions["document_ids"]


def test_a_place_where_both_are_nan_holds_no_document() -> None:
    nan = np.nan
    found = rs.evaluate_arrays(
        [[1, nan, 0], [0, 1, nan]],
        [[0.1, 0.9, 0.8], [0.2, 0.1, nan]],
        metrics=["RR", "P(denominator='min_k_listlen')@3"],
    )
    np.testing.assert_array_equal(found.per_query["RR"], [1 / 3, 1 / 2])  # the unjudged document stands first
    np.testing.assert_array_equal(found.per_query["P(denominator='min_k_listlen')@3"], [1 / 3, 1 / 2])


def test_query_ids_in_any_order_and_of_any_kind() -> None:
    found = rs.evaluate_arrays([1, 1, 0, 0], [0.5, 0.1, 0.9, 0.4], group=["b", "a", "b", "a"], metrics="RR")
    assert list(found.query_ids) == ["b", "a"]
    np.testing.assert_array_equal(found.per_query["RR"], [1 / 2, 1 / 2])


def test_an_empty_query_scores_as_empty() -> None:
    found = rs.evaluate_arrays([1, 0], [0.5, 0.1], group=[2, 0], metrics=["RR", "nDCG@10"])
    np.testing.assert_array_equal(found.per_query["RR"], [1, 0])


def test_labels_of_integers_and_booleans_are_those_of_floats() -> None:
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 2, (20, 30)), rng.integers(-5, 5, (20, 30))
    one = rs.evaluate_arrays(labels.astype(float), scores.astype(float), metrics=["nDCG@5", "AP"])
    for kind in (np.int8, np.uint8, np.int64, bool, np.float32, np.float16):
        other = rs.evaluate_arrays(labels.astype(kind), scores.astype(np.int16), metrics=["nDCG@5", "AP"])
        for name, values in one.per_query.items():
            np.testing.assert_array_equal(other.per_query[name], values)
    unsigned = rs.evaluate_arrays(labels, (scores + 5).astype(np.uint8), metrics="AP")
    np.testing.assert_array_equal(unsigned.per_query["AP"], one.per_query["AP"])


def test_infinite_scores_are_in_order() -> None:
    found = rs.evaluate_arrays(
        [[0, 1, 2, 0, 0, 0, 0, 0]], [[np.inf, -np.inf, 3, 2, 1, 0, -1, -2]], metrics=["RR@1", "nDCG", "P@2"]
    )
    assert found["RR@1"] == 0
    assert found["P@2"] == 1 / 2
    assert found["nDCG"] == (2 / log2(3) + 1 / log2(9)) / (2 / log2(2) + 1 / log2(3))


def test_the_result_as_text_has_its_numbers() -> None:
    found = rs.evaluate_arrays([1, 0, 0, 1], [1, 2, 2, 1], group=[2, 2], metrics=["RR", "P@1"])
    assert str(found) == repr(found) == found.to_text()
    assert all(number in str(found) for number in ("0.5000", "0.0000", "2 queries"))


def test_the_result_in_other_formats() -> None:
    found = rs.evaluate_arrays([[1, 0], [0, 1]], [[2.0, 1.0], [2.0, 1.0]], metrics=["RR", "mrr"])
    assert found.to_dicts()[0]["value"] == 0.75
    assert found.to_dicts("per_query")[1] == {"query_id": "1", "metric": "RR", "value": 0.5}
    assert found["mrr"] == found[rs.RR()] == 0.75
    assert found.bounds_of("RR").lower < 0.75 < found.bounds_of("RR").upper
    with pytest.raises(KeyError, match="AP was not computed"):
        found["AP"]
    with pytest.raises(KeyError, match="no metric is called"):
        found["nonsense"]


@pytest.mark.parametrize("way", ["get", "cpu"])
def test_tensors_of_a_device_are_copied_and_said_to_be(way: str) -> None:
    found = rs.evaluate_arrays(Device([[1, 0]], way), Device([[0.1, 0.9]], way), metrics="RR")
    assert found["RR"] == 0.5
    assert [note.split(":")[0] for note in found.notes] == [
        "labels was copied from cuda",
        "scores was copied from cuda",
    ]


def test_memory_that_the_processor_reads_is_not_copied() -> None:
    pinned: Any = np.array([[1, 0]]).view(type("Pinned", (np.ndarray,), {"__dlpack_device__": lambda _: (3, 0)}))
    assert rs.evaluate_arrays(pinned, [[0.1, 0.9]], metrics="RR").notes == []


ROWS = np.zeros((3, 4))
REFUSED: list[Any] = [
    ("sizes that do not add up", ([1, 0, 1], [1, 2, 3]), {"group": [2, 2]}, "group holds 2 queries adding up to 4 rows, but there are 3 labels"),
    ("a negative size", ([1, 0, 1], [1, 2, 3]), {"group": [4, -1]}, "group holds the size -1"),
    ("sizes that are no whole numbers", ([1, 0, 1], [1, 2, 3]), {"group": [1.5, 1.5]}, "group has 2 entries for 3 labels"),
    ("sizes or ids", ([1, 0, 1], [1, 2, 3]), {"group": [1, 1, 1]}, "group is 1 for each of 3 rows"),
    ("an id that is NaN", ([1, 0], [1, 2]), {"group": [1, np.nan]}, "query id of row 2 is NaN"),
    ("groups of rows", (ROWS, ROWS), {"group": [3]}, "one query per row"),
    ("a group of two dimensions", ([1, 0], [1, 2]), {"group": [[1], [1]]}, "group has the shape 2 x 1"),
    ("shapes that differ", (ROWS, np.zeros((3, 5))), {}, "labels has the shape 3 x 4 and scores 3 x 5"),
    ("three dimensions", (np.zeros((2, 2, 2)), np.zeros((2, 2, 2))), {}, "labels has 3 dimensions"),
    ("a score that is NaN", ([1, 0], [1, np.nan]), {}, "score 2 of 2 is NaN"),
    ("a score that is NaN in a row", (ROWS, np.full((3, 4), np.nan)), {}, "row 1, column 1 is NaN"),
    ("an infinite label", ([1, np.inf], [1, 2]), {}, "label 2 is infinite"),
    ("labels of words", (["a", "b"], [1, 2]), {}, "labels is an array of strings"),
    ("lists of several lengths", ([[1], [1, 0]], [[1], [1, 0]]), {}, "labels is not an array of numbers"),
    ("a mask of another shape", (ROWS, ROWS), {"mask": np.ones((3, 3), bool)}, "mask is true for documents"),
    ("a mask of numbers", (ROWS, ROWS), {"mask": np.ones((3, 4))}, "this is float64"),
    ("a mask for flat arrays", ([1, 0], [1, 2]), {"mask": [True, True]}, "mask goes with two-dimensional arrays"),
    ("lengths beyond the width", (ROWS, ROWS), {"lengths": [1, 5, 2]}, "row 2 has length 5"),
    ("too few lengths", (ROWS, ROWS), {"lengths": [1]}, "each of 3 rows"),
    ("a mask and lengths", (ROWS, ROWS), {"lengths": [1, 1, 1], "mask": ROWS == 0}, "give one"),
    ("an option of ids", (ROWS, ROWS), {"queries": "both"}, "has no option 'queries': it goes by ids"),
    ("no option", (ROWS, ROWS), {"tiess": "input"}, "no option 'tiess', did you mean ties"),
    ("ties by rank", (ROWS, ROWS), {"ties": "rank"}, "arrays have no rank column"),
    ("a fact", (ROWS, ROWS), {"metrics": ["P@5", "relstring"]}, "relstring is a string for each query"),
    ("fractions for a tool of whole grades", (ROWS + 0.5, ROWS), {"metrics": "nDCG@3", "dialect": "lightgbm"}, "takes whole grades only"),
]  # fmt: skip


@pytest.mark.parametrize(("arrays", "more", "said"), [pytest.param(*rest, id=name) for name, *rest in REFUSED])
def test_one_clear_line(arrays: Any, more: dict[str, Any], said: str) -> None:
    with pytest.raises(rs.InputError) as error:
        rs.evaluate_arrays(*arrays, **{"metrics": "RR", **more})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


# --- tensors --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch(need: Callable[[str], ModuleType]) -> Any:
    return need("torch")


def test_tensors_are_read_where_they_lie(torch: Any) -> None:
    labels, scores = torch.tensor([[1, 0], [0, 1]]), torch.tensor([[0.1, 0.9], [0.1, 0.9]])
    found = rs.evaluate_arrays(labels, scores, metrics="RR")
    assert found["RR"] == 0.75
    assert found.notes == []
    assert (rs.RR().of(labels, scores=scores) == [0.5, 1.0]).all()
    assert rs.RR().of(torch.tensor([0, 1])) == 0.5
    assert rs.evaluate_arrays(labels, scores.to(torch.bfloat16), metrics="RR")["RR"] == 0.75


def test_a_tensor_with_gradients(torch: Any) -> None:
    scores = torch.tensor([[0.1, 0.9]], requires_grad=True)
    with pytest.raises(rs.InputError, match=r"scores: the tensor records gradients; give scores\.detach\(\)"):
        rs.evaluate_arrays(torch.tensor([[1, 0]]), scores * 2, metrics="RR")
    assert rs.evaluate_arrays(torch.tensor([[1, 0]]), scores.detach(), metrics="RR")["RR"] == 0.5


def test_pandas_columns(need: Callable[[str], ModuleType]) -> None:
    pandas = need("pandas")
    frame = pandas.DataFrame({"q": ["x", "x", "y"], "label": [0, 1, 1], "score": [0.9, 0.1, 0.5]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rs.evaluate_arrays(frame["label"], frame["score"], group=frame["q"], metrics="RR")
    np.testing.assert_array_equal(found.per_query["RR"], [1 / 2, 1])


@pytest.mark.parametrize("policy", ["no_relevant", "nothing_found"])
def test_policies_look_below_the_cutoff(policy: str) -> None:
    """They are those of ``evaluate``, whatever the metric looks at."""
    labels, scores = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0]]), np.array([[3.0, 2.0, 1.0]] * 3)
    metrics = ["P@1", "nDCG@1", "R@2", "AP"]
    found = rs.evaluate_arrays(labels, scores, metrics=metrics, **{policy: "skip"})
    qrels = {f"q{i}": {f"d{j}": int(grade) for j, grade in enumerate(row)} for i, row in enumerate(labels.tolist())}
    run = {query: {"d0": 3.0, "d1": 2.0, "d2": 1.0} for query in qrels}
    values = rs.evaluate(qrels, run, metrics, **{policy: "skip"}).runs[0].values  # type: ignore[call-overload]
    for name in metrics:
        np.testing.assert_array_equal(found.per_query[name], values[rs.parse(name)])


def test_a_score_that_is_alone_is_told() -> None:
    with pytest.raises(
        InputError, match="labels has the shape 2 and scores a single number: give a score for each label"
    ):
        rs.evaluate_arrays(np.array([1.0, 0.0]), np.float64(3.0), metrics="AP")


def test_a_fact_of_a_query_is_no_number() -> None:
    with pytest.raises(InputError, match="relstring is a string for each query, not a number"):
        rs.evaluate_arrays(np.array([[1.0, 0.0]]), np.array([[2.0, 1.0]]), metrics=["P@5", "relstring"])
