"""One set of lists, many libraries: what each of them prints for P, R, AP, nDCG and RR at 3.

The printed figures were measured by running the libraries, which the tests in ``tests/parity`` do again where
they can be installed. Here each is computed under the dialect of that name, from the same lists.
"""

from __future__ import annotations

from math import log2
from typing import Any

import pytest

import rankscope as rs

Table = dict[str, dict[str, float]]

LIKED = {"u1": "012", "u2": "3", "u3": "456789", "u4": "9", "u5": "", "u6": "2"}
SHOWN = {"u1": "05167", "u2": "56378", "u3": "40516", "u4": "", "u5": "01234", "u6": "01345"}
PRINTED = 5e-5  # four decimals

QRELS: Table = {user: dict.fromkeys(items, 1.0) for user, items in LIKED.items()}


def ranked(lists: dict[str, str]) -> Table:
    return {user: {item: 10.0 - i for i, item in enumerate(items)} for user, items in lists.items()}


LISTS = ranked(SHOWN)
# a table of recommendations has no row for a user who was shown nothing
ROWS = ranked({user: items for user, items in SHOWN.items() if items})
# tools that take labelled lists were given all items, those not recommended below the others
ALL = ranked({user: items + "".join(i for i in "0123456789" if i not in items) for user, items in SHOWN.items()})
ALL_LABELS: Table = {user: {item: float(item in LIKED[user]) for item in "0123456789"} for user in LIKED}

TABLE: list[tuple[str, Table, dict[str, float]]] = [
    ("rectools", ROWS, {"P": 0.3333, "R": 0.4000, "AP": 0.2333, "nDCG": 0.3285, "RR": 0.4667}),
    ("rectools-achievable", ROWS, {"P": 0.4667, "AP": 0.2444, "nDCG": 0.3816}),
    ("replay", ROWS, {"P": 0.3333, "R": 0.4000, "AP": 0.2889, "nDCG": 0.3816, "RR": 0.4667}),
    ("recpack", ROWS, {"P": 0.3333, "R": 0.4000, "nDCG": 0.3816, "RR": 0.4667}),
    ("elliot", LISTS, {"P": 0.3333, "R": 0.4000, "AP": 0.3111, "nDCG": 0.3816, "RR": 0.4667}),
    ("elliot-rendle2020", LISTS, {"nDCG": 0.3816}),
    ("recommenders", ROWS, {"P": 0.4167, "R": 0.5000, "AP": 0.2917, "nDCG": 0.3816}),
    ("recbole", ROWS, {"P": 0.4167, "R": 0.5000, "AP": 0.3611, "nDCG": 0.4770, "RR": 0.5833}),
    ("lenskit", ROWS, {"P": 0.3333, "R": 0.4667, "nDCG": 0.3741, "RR": 0.4667}),
    ("torchmetrics", ALL, {"P": 0.2778, "R": 0.3333, "AP": 0.3333, "nDCG": 0.3180, "RR": 0.3889}),
    ("torchmetrics-neg", ALL, {"P": 0.2778, "R": 0.3333, "AP": 0.3333, "nDCG": 0.3180, "RR": 0.3889}),
    ("torchmetrics-skip", ALL, {"AP": 0.4000}),
    ("torchmetrics-pos", ALL, {"AP": 0.5000}),
    ("sklearn", ALL, {"nDCG": 0.3180}),
    ("rax", ALL, {"P": 0.2778, "R": 0.3333, "AP": 0.1944, "nDCG": 0.3180, "RR": 0.3889}),
    ("tfr", ALL, {"P": 0.2778, "R": 0.3333, "AP": 0.1944, "nDCG": 0.3180, "RR": 0.3889}),
    ("catboost", ALL, {"P": 0.2778, "R": 0.5000, "AP": 0.2407, "nDCG": 0.4846, "RR": 0.3889}),
    ("lightgbm", ALL, {"AP": 0.4074, "nDCG": 0.4846}),
    ("xgboost", ALL, {"P": 0.2778, "AP": 0.4074, "nDCG": 0.4846}),
    ("xgboost-minus", ALL, {"P": 0.2778, "AP": 0.2407, "nDCG": 0.3180}),
    ("evidently", ROWS, {"P": 0.5556, "R": 0.8889, "nDCG": 0.7079}),
]
CELLS = [(dialect, run, name, value) for dialect, run, row in TABLE for name, value in row.items()]


def qrels_of(run: Table) -> Table:
    return ALL_LABELS if run is ALL else QRELS


def board(dialect: str, run: Table, metric: str, qrels: Table | None = None) -> Any:
    """The mean under a dialect, and how many users it is made of."""
    (mean,) = rs.evaluate(qrels or qrels_of(run), run, [metric], dialect=dialect).board
    return mean


def values(metric: str, run: Table = ROWS, **how: Any) -> dict[str, float]:
    """The value of each user, in rankscope's own words."""
    parsed = rs.parse(metric)
    (one,) = rs.evaluate(QRELS, run, [parsed], **how).runs
    return dict(zip(one.query_ids, one.values[parsed].tolist(), strict=True))


@pytest.mark.parametrize(("dialect", "run", "name", "printed"), CELLS, ids=[f"{c[0]} {c[2]}" for c in CELLS])
def test_cell(dialect: str, run: Table, name: str, printed: float) -> None:
    assert board(dialect, run, f"{name}@3").value == pytest.approx(printed, abs=PRINTED)


USERS = {"rectools": 5, "replay": 5, "recpack": 5, "elliot": 5, "recbole": 4, "lenskit": 5,
         "torchmetrics-neg": 6, "torchmetrics-skip": 5, "torchmetrics-pos": 6, "sklearn": 6, "rax": 6, "catboost": 6,
         "lightgbm": 6, "xgboost": 6, "evidently": 3}  # fmt: skip


@pytest.mark.parametrize(("dialect", "users"), USERS.items())
def test_users_averaged(dialect: str, users: int) -> None:
    """A figure without the number of users behind it says little."""
    run = next(run for name, run, _ in TABLE if name == dialect)
    assert board(dialect, run, "nDCG@3").queries == users


@pytest.mark.parametrize("dialect", ["lightgbm", "xgboost", "catboost", "rax", "sklearn", "torchmetrics"])
def test_labels_may_be_left_out_where_they_are_0(dialect: str) -> None:
    """Who liked nothing has no row in judgments of relevant items alone, and counts all the same."""
    liked = {user: items for user, items in QRELS.items() if items}
    ours, theirs = (board(dialect, ALL, "nDCG@3", qrels) for qrels in (liked, ALL_LABELS))
    assert ours.queries == theirs.queries == 6
    assert ours.value == pytest.approx(theirs.value)


# --- rows of one user each

AP_AT_3 = {
    "relevant": ("AP@3", (0.5556, 0.3333, 0.2778)),
    "min_k_relevant": ("AP(denominator='min_k_relevant')@3", (0.5556, 0.3333, 0.5556)),
    "k": ("AP(denominator='k')@3", (0.5556, 0.1111, 0.5556)),
    "hits_at_k": ("AP(denominator='hits_at_k')@3", (0.8333, 0.3333, 0.8333)),
    "mean of P": ("MeanP@3", (0.7222, 0.1111, 0.7222)),
}


@pytest.mark.parametrize(("metric", "printed"), AP_AT_3.values(), ids=list(AP_AT_3))
def test_average_precision_of_each_user(metric: str, printed: tuple[float, ...]) -> None:
    got = values(metric)
    assert [got[user] for user in ("u1", "u2", "u3")] == pytest.approx(printed, abs=PRINTED)


def test_the_user_without_truth_and_the_user_without_recommendations() -> None:
    assert values("P@3")["u4"] == 0
    assert values("P@3", no_relevant="skip")["u5"] != values("P@3", no_relevant="skip")["u5"]  # no number
    for count, dialect in ((0, "rax"), (1, "lightgbm")):
        (one,) = rs.evaluate(ALL_LABELS, ALL, ["nDCG@3"], dialect=dialect).runs
        assert dict(zip(one.query_ids, next(iter(one.values.values())), strict=True))["u5"] == count


def test_lenskit_per_user_average_precision() -> None:
    """Divided by the smaller of relevant items and list; who liked nothing is an error to it."""
    (one,) = rs.evaluate(QRELS, ROWS, ["AP@3"], dialect="lenskit").runs
    got = dict(zip(one.query_ids, next(iter(one.values.values())).tolist(), strict=True))
    assert "u4" not in got
    assert got["u3"] == pytest.approx((1 / 1 + 2 / 3) / 3)
    assert got["u5"] != got["u5"]


# --- further facts of the same lists


def test_at_5() -> None:
    (one,) = rs.evaluate(QRELS, ROWS, ["R@5"], dialect="lenskit").runs
    got = dict(zip(one.query_ids, next(iter(one.values.values())).tolist(), strict=True))
    assert got["u3"] == 3 / 5
    assert values("R@5")["u3"] == 3 / 6
    (one,) = rs.evaluate(QRELS, ROWS, ["nDCG@5"], dialect="lenskit").runs
    got = dict(zip(one.query_ids, next(iter(one.values.values())).tolist(), strict=True))
    assert got["u2"] == pytest.approx(1 / log2(3))
    assert got["u2"] == pytest.approx(0.6309, abs=PRINTED)
    assert values("nDCG@5")["u2"] == 1 / log2(4)


def test_other_names_in_the_same_libraries() -> None:
    """RecPack's calibrated recall, Recommenders' map_at_k and average precision of whole lists in Evidently."""
    truth: Any = {"ties": "input", "no_relevant": "skip"}
    recpack = rs.evaluate(QRELS, ROWS, ["R(denominator='min_k_relevant')@3"], **truth).board[0]
    assert recpack.value == pytest.approx(0.4667, abs=PRINTED)
    assert recpack.queries == 5
    at_k = rs.evaluate(QRELS, ROWS, ["AP(denominator='min_k_relevant')@3"], **truth, queries="both").board[0]
    assert at_k.value == pytest.approx(0.3611, abs=PRINTED)
    assert at_k.queries == 4


# --- figures that follow from defects


def test_recommenders_averages_two_populations() -> None:
    """One call of one library: the users of its nDCG are not those of its other metrics."""
    assert board("recommenders", ROWS, "P@3").queries == 4
    assert board("recommenders", ROWS, "nDCG@3").queries == 5


def test_elliot_calls_a_mean_of_precisions_average_precision() -> None:
    """A perfect list for a user with one item gets (1 + 1/2 + 1/3) / 3 = 0.61."""
    perfect = rs.evaluate({"u": {"a": 1}}, {"u": {"a": 3.0, "b": 2.0, "c": 1.0}}, ["AP@3"], dialect="elliot")
    assert perfect.board[0].value == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert rs.evaluate({"u": {"a": 1}}, {"u": {"a": 1.0}}, ["AP@3"])["AP@3"] == 1


def test_average_precision_of_evidently_depends_on_the_order_of_rows() -> None:
    """Sorted rows give what a convention gives; shuffled ones .4722 and reversed ones .6019, which none does."""
    with pytest.raises(rs.InputError, match="order of the rows"):
        board("evidently", ROWS, "AP@3")
    how: Any = {"ties": "input", "queries": "run", "nothing_found": "skip_list"}
    (sorted_rows,) = rs.evaluate(QRELS, ROWS, ["AP(denominator='positives_in_list')@3"], **how).board
    by_hand = ((1 / 1 + 2 / 3) / 2 + (1 / 3) / 1 + (1 / 1 + 2 / 3) / 3) / 3
    assert sorted_rows.value == pytest.approx(by_hand)
    assert by_hand == pytest.approx(0.5741, abs=PRINTED)


# --- one graded list

LABELS = [0, 3, 1, 2, 0]
GRADED: Table = {"q": {f"d{i}": float(label) for i, label in enumerate(LABELS)}}
IN_ORDER: Table = {"q": {f"d{i}": 5.0 - i for i in range(5)}}
LINEAR = (3 / log2(3) + 1 / log2(4)) / (3 + 2 / log2(3) + 1 / log2(4))
EXPONENTIAL = (7 / log2(3) + 1 / log2(4)) / (7 + 3 / log2(3) + 1 / log2(4))
GRADED_BY = {
    "sklearn": LINEAR, "torchmetrics": LINEAR, "catboost": LINEAR, "lightgbm": EXPONENTIAL,
    "xgboost": EXPONENTIAL, "xgboost-minus": EXPONENTIAL, "rax": EXPONENTIAL, "tfr": EXPONENTIAL,
    "elliot": EXPONENTIAL,
}  # fmt: skip


@pytest.mark.parametrize(("dialect", "expected"), GRADED_BY.items())
def test_one_graded_list(dialect: str, expected: float) -> None:
    assert board(dialect, IN_ORDER, "nDCG@3", GRADED).value == pytest.approx(expected, abs=1e-12)


def test_the_same_list_with_other_options() -> None:
    assert pytest.approx(0.5025, abs=PRINTED) == LINEAR
    assert pytest.approx(0.5234, abs=PRINTED) == EXPONENTIAL
    reciprocal = (7 / 2 + 1 / 3) / (7 + 3 / 2 + 1 / 3)
    assert reciprocal == pytest.approx(0.4340, abs=PRINTED)
    ours = rs.evaluate(GRADED, IN_ORDER, ["nDCG(gain=exponential, discount=reciprocal)@3"])
    assert ours.board[0].value == pytest.approx(reciprocal, abs=1e-12)


def test_a_threshold_changes_the_gain_in_elliot() -> None:
    """The gain is 2^(grade - threshold + 1) - 1, so that other grades are relevant and all are worth less."""
    at_2 = rs.evaluate(GRADED, IN_ORDER, ["nDCG(gain={1: 0, 2: 1, 3: 3})@3"]).board[0].value
    assert at_2 == pytest.approx((3 / log2(3)) / (3 + 1 / log2(3)), abs=1e-12)
    assert at_2 != pytest.approx(EXPONENTIAL)
