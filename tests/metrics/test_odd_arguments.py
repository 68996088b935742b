"""Odd arguments of metrics and of their spellings: one clear line each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankscope.errors import InputError
from rankscope.metrics import AP, DCG, ERR, P, SetF, nDCG, parse


@pytest.mark.parametrize(
    ("ranking", "given", "said"),
    [
        ([[1, 0], 1], {}, "entry 2 is 1, not a list like the first"),
        ([1, [1, 0]], {}, r"\[1, 0\] is not a grade"),
        (np.zeros((2, 2, 2)), {}, "not an array of 3 dimensions"),
        (np.array(3), {}, "not an array of 0 dimensions"),
        (np.zeros((0, 3)), {}, "this array is empty"),
        ([(1, 0.5), (0, 0.2)], {}, "not of tuples"),
        (b"ab", {}, "not bytes"),
        ([10**400], {}, "a grade is infinite"),
        ([1, 0], {"scores": ["a", "b"]}, "scores is a list that is not all numbers"),
        ([1, 0], {"scores": [[1], [1, 2]]}, "scores is a list that is not all numbers"),
        (["a"], {"judgments": [1]}, r"judgments is a list, not a dict \{id: grade\}"),
        (["a", "b"], {"relevant": "ab"}, "relevant is a str, not a set of ids"),
        (["a", "b"], {"relevant": {"a": 0}}, "relevant is a dict, not a set of ids"),
        (["a", "b"], {"relevant": 3}, "relevant is an int, not a set of ids"),
        (["a", ["b"]], {"relevant": {"a"}}, "an id is a string or a number"),
        ([["a"], ["b"]], {"relevant": "ab"}, "relevant is a str; give a list with one entry for each list"),
        ([1, 0], {"known": 10**30}, "known is at most 100,000,000"),
        ([1, 0], {"known": 1.5}, "known is the whole number of relevant documents that exist, not 1.5"),
        ([1, 0], {"known": [1]}, "known is the whole number"),
        ([1, 0], {"scores": [0.5, float("nan")]}, "score 2 is NaN; give it a number or leave the document out"),
        (
            [2, 2],
            {"ideal": [2, 1]},
            "ideal holds fewer documents of grade 2 than the list; it is the grades of all judged",
        ),
        ([[1, 0], [1]], {"known": np.array([1.5, 2])}, "known is the whole number"),
        ([1, 0], {"ideal": 3}, "ideal is an int, not a list of the grades"),
        ([[1], [0]], {"ideal": [1, 0]}, "ideal is an int, not a list of the grades"),
    ],
)
def test_what_is_no_list(ranking: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        AP().of(ranking, **given)


def test_numpy_numbers_are_numbers() -> None:
    lists = [[1, 0], [0, 1]]
    assert AP().of(lists, known=np.int64(2)).tolist() == AP().of(lists, known=2).tolist() == [0.5, 0.25]
    assert AP().of([1, 0], known=np.int64(2)) == 0.5
    assert AP().of(lists, known=np.array([2, 1])).tolist() == [0.5, 0.5]
    assert AP().of(["b", "a"], relevant=np.array(["a"])) == 0.5


def no(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert len(str(caught.value)) < 700
    return str(caught.value)


def test_bounds_that_keep_arithmetic_safe() -> None:
    assert "2,147,483,647" in no("P@2147483648")
    assert "cutoff must be" in no("P@" + "9" * 4000)
    assert parse("P@2147483647") == P @ (2**31 - 1)
    assert "must be at most" in no("AP(level=1e200)")
    assert "beta must be" in no("SetF(beta=1e200)")
    for wrong in (lambda: P @ 10**5000, lambda: SetF(beta=10**400), lambda: ERR(max_grade=10**400)):
        with pytest.raises(InputError):
            wrong()


def test_only_ranks_are_numbered() -> None:
    assert DCG(discount=[1, 0.5]) == DCG(discount={1: 1, 2: 0.5})  # type: ignore[arg-type]
    for gain in ((5, 9, 7), [5, 9]):
        with pytest.raises(InputError, match=r"a table like \{1: 3, 2: 9\}"):
            nDCG(gain=gain)  # type: ignore[arg-type]
    assert "a table like {1: 3, 2: 9}" in no("nDCG(gain=[5, 9])")


def test_small_words() -> None:
    assert parse("nDCG(judged_only=true)@10") == nDCG(judged_only=True, cutoff=10)
    assert parse("nDCG(judged_only=false, cutoff=none)") == nDCG()
    assert parse("DCG(discount=none)") == DCG(discount="none")
    assert parse("P@05") == P @ 5


@pytest.mark.parametrize(
    "text",
    [
        "nDCG(gain=" + "(" * 5000 + ")" * 5000 + ")",
        "nDCG(gain=" + "-" * 200_000 + "1)",
        "nDCG(gain=" + "1+" * 50_000 + "1)",
        "nDCG(" + "x" * 5000 + "=1)",
        "x" * 5000,
        "x" * 5000 + "(((",
        "P@" + "-" * 100_000 + "1",
        "AP(level='" + "x" * 5000 + "')",
    ],
)
def test_absurd_texts(text: str) -> None:
    assert "…" in no(text)
