"""How results speak: laws over many numbers, counts and names."""

from __future__ import annotations

import math

import pytest

from rankscope import words

SIZES = (
    0.0,
    1e-300,
    1e-17,
    4.9e-13,
    6e-13,
    0.000049,
    0.00042,
    0.0005,
    0.00999,
    0.021,
    0.5,
    0.99995,
    1.0,
    12.345,
    1234.5,
    1e6,
    1e18,
)
VALUES = (*SIZES, *(-size for size in SIZES))  # fmt: skip
SHARES = (0.0, 1e-9, 0.0049, 0.005, 0.0051, 0.1, 0.5, 0.905, 0.9949, 0.995, 0.9951, 1 - 1e-9, 1.0)
NAMES = [f"run{i}" for i in range(12)]


@pytest.mark.parametrize("digits", [None, 0, 1, 3, 4])
@pytest.mark.parametrize("sign", [False, True])
@pytest.mark.parametrize("value", VALUES)
def test_numbers_read_back_and_zero_has_no_sign(value: float, sign: bool, digits: int | None) -> None:
    text = words.number(value, sign, digits)
    read = float(text.replace(words.MINUS, "-").replace(",", ""))
    assert read == pytest.approx(value, abs=0.5 * 10.0 ** -(3 if digits is None else digits), rel=0.05)
    assert "-" not in text
    assert (text[0] == words.MINUS) == (read < 0)
    assert (text[0] == "+") == (sign and read > 0)


@pytest.mark.parametrize("value", VALUES)
def test_a_difference_that_is_no_rounding_is_never_written_as_0(value: float) -> None:
    if abs(value) >= words.NOTHING:
        assert any(digit in words.number(value) for digit in "123456789")


@pytest.mark.parametrize("value", VALUES)
def test_what_goes_into_a_table_can_be_read_by_programs(value: float) -> None:
    assert math.isfinite(float(words.cell(value, sign=True).replace(",", "")))
    assert float(words.in_table(words.amount(value)).replace(",", "")) == pytest.approx(value, rel=1e-3)


def test_numbers_that_are_none() -> None:
    none = (math.nan, math.inf, -math.inf)
    assert [words.number(value) for value in none] == ["-", "∞", "−∞"]
    assert [words.finite(value) for value in (*none, None, 0.0)] == [None, None, None, None, 0.0]
    assert [f(math.nan) for f in (words.share, words.relative, words.p_cell, words.amount)] == ["-"] * 4


@pytest.mark.parametrize("p", [0.0, 1e-300, 0.000999, 0.001, 0.00101, 0.0499, 0.05, 0.0999, 0.1, 0.5, 1.0])
def test_a_p_value_is_never_0(p: float) -> None:
    text = words.p_value(p)
    assert "0.000" not in text
    assert text == "p < 0.001" if p < 0.001 else float(text.removeprefix("p = ")) > 0
    assert words.p_cell(p) == text.removeprefix("p = ").replace("p < 0.001", "<.001")


@pytest.mark.parametrize("digits", [0, 1])
@pytest.mark.parametrize("part", SHARES)
def test_a_share_is_none_or_all_only_if_it_is(part: float, digits: int) -> None:
    text = words.share(part, digits)
    none, every = f"{0:.{digits}f}%", f"{100:.{digits}f}%"
    assert (text == none) == (part == 0)
    assert (text == every) == (part == 1)


def test_counts_have_separators_and_agree() -> None:
    assert words.counted(1234567, "query") == "1,234,567 queries"
    for number in (0, 1, 2, 1000):
        noun, verb = words.counted(number, "judged query").split(" ", 1)[1], words.agree(number, "carries")
        assert (noun, verb) == (("judged query", "carries") if number == 1 else ("judged queries", "carry"))
    pairs = {"is": "are", "has": "have", "does": "do", "was": "were", "differs": "differ", "scores": "score"}
    assert {one: words.agree(2, one) for one in pairs} == pairs
    nouns = {"judgment": "judgments", "query": "queries", "key": "keys", "box": "boxes", "such row": "such rows"}
    assert {one: words.plural(one) for one in nouns} == nouns


@pytest.mark.parametrize("number", [0, 1, 9, 99, 100, 113, 999, 12345, 999_999])
def test_rounded_counts_keep_two_digits(number: int) -> None:
    near, above = (int(words.rounded(number, up).replace(",", "")) for up in (False, True))
    assert abs(near - number) <= 0.05 * number
    assert number <= above <= 1.1 * number


@pytest.mark.parametrize("size", range(12))
def test_lists_name_or_count_all(size: int) -> None:
    text = words.listing(NAMES[:size], most=4)
    named = sum(name in text.replace(",", "").split() for name in NAMES)
    more = int(text.split()[-2]) if text.endswith(" more") else 0
    assert named + more == size
    assert named <= 5
    assert more != 1  # it would be shorter to name it
    assert text.count(" and ") == (size > 1)


def test_samples_say_that_there_is_more() -> None:
    assert words.sample(["a" * 50]) == "a" * 39 + "…"
    assert words.sample(NAMES, most=2) == "run0, run1 ..."
    assert words.sample(NAMES[:2], total=2) == "run0, run1"


def test_hints_offer_the_nearest_or_what_there_is() -> None:
    assert words.nearest("NDCG@10", ["AP", "nDCG@10"]) == "nDCG@10"
    assert words.hint("mpa", ["map", "mrr"], offer=str.upper) == ", did you mean MAP?"
    assert words.hint("x", ["one"]) == ": there is one"
    assert words.hint("x", ["one", "two"], otherwise="; say a name") == "; say a name"
    assert words.hint("x", NAMES, most=2) == ": there are run0, run1 and 10 more"
    assert words.hint("x", NAMES, otherwise="") == ""
