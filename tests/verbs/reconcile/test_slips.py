"""A number that no convention gives: the slips that make it are found, and what was tried is told."""

from __future__ import annotations

import json
import math
from statistics import median

import pytest

import rankscope as rs
from rankscope.verbs.reconcile.slips import other_metrics, search_slips

QRELS = {f"q{i}": {f"d{j}": (3 * i + j * j) % 4 for j in range(12)} for i in range(7)}
RUN = {f"q{i}": {f"d{(5 * j + i) % 15}": 30.0 - j for j in range(15)} for i in range(7)}
VALUES = [float(v) for v in rs.evaluate(QRELS, RUN, ["nDCG@10"]).runs[0].values[rs.nDCG @ 10]]
MEAN = math.fsum(VALUES) / 7


def found(value: float, digits: int = 9) -> list[str]:
    """What is said of a number, where the values are ours."""

    def meets(other: float) -> bool:
        return bool(abs(other - value) <= 0.5 * 10.0**-digits)

    others = {m: {"run": rs.evaluate(QRELS, RUN, [m])[str(m)]} for m in other_metrics(rs.nDCG @ 10)}
    search = search_slips(f"{value:.{digits}f}", meets, {"run": VALUES}, {"run": (9,)}, others, rs.nDCG @ 10)
    return [slip.what for slip in search.matches]


SLIPS = {
    "the mean of queries rounded to 2 decimals": math.fsum(round(v, 2) for v in VALUES) / 7,
    "the mean of queries cut off after 1 decimal": math.fsum(math.floor(10 * v) / 10 for v in VALUES) / 7,
    "the mean over 9 queries instead of 7": math.fsum(VALUES) / 9,
    "the mean over 6 queries instead of 7": math.fsum(VALUES) / 6,
    "the median query": median(VALUES),
    "the best query": max(VALUES),
    "the worst query": min(VALUES),
    "the sum over queries": math.fsum(VALUES),
    "1 less the mean": 1 - MEAN,
    "the geometric mean": math.prod(VALUES) ** (1 / 7),
    "nDCG@9": rs.evaluate(QRELS, RUN, ["nDCG@9"])["nDCG@9"],
    "AP@10": rs.evaluate(QRELS, RUN, ["AP@10"])["AP@10"],
    "the mean with the point one place too far left": MEAN / 10,
}


@pytest.mark.parametrize("what", SLIPS)
def test_a_slip_is_found(what: str) -> None:
    assert what in found(SLIPS[what])


def test_slips_in_writing() -> None:
    cut = math.floor(MEAN * 10**4) / 10**4
    assert round(MEAN, 4) == cut or "the mean cut off after 4 decimals" in found(cut, 4)
    text = f"{MEAN:.4f}"
    swapped = text[:3] + text[4] + text[3] + text[5:]
    assert "the mean with two digits swapped" in found(float(swapped), 4)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (-0.375, "a less b"), (0.5625, "the mean of a and b"), (2.0, "b as a share of a"),
        (1.0, "the change from a to b as a share"),
    ],
)  # fmt: skip
def test_numbers_of_two_runs(value: float, what: str) -> None:
    """a has the mean 0.375, b 0.75."""

    def meets(other: float) -> bool:
        return abs(other - value) < 1e-9

    search = search_slips(str(value), meets, {"a": [0.25, 0.5], "b": [0.5, 1.0]}, {}, {}, rs.AP())
    assert what in [slip.what for slip in search.matches]


def test_what_was_tried_is_told() -> None:
    """Of scores that nothing explains; and nothing of slips where a convention does, or where no number is in question."""
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}, "q2": {"x": 2.0, "b": 1.0}}
    none = rs.reconcile(qrels, run, "RR@10", value="0.1234567")
    assert none.slips is not None
    assert "No slip gives it either. Tried: the value of each query rounded" in str(none)
    (said,) = json.loads(none.to_json())["metrics"]
    assert said["slips"] == []
    assert set(said["slips_tried"]) == set(none.slips.tried)
    sum_of = rs.reconcile(qrels, run, "RR@10", value="1.500")
    assert "A slip may: the mean over 1 query instead of 2 is 1.5000; or the sum over queries is 1.5" in str(sum_of)
    assert {slip["value"] for slip in json.loads(sum_of.to_json())["metrics"][0]["slips"]} == {1.5}
    for given in (rs.reconcile(qrels, run, "RR@10", value="0.750"), rs.reconcile(qrels, run, "RR@10")):
        assert given.slips is None
        assert "slips" not in json.loads(given.to_json())["metrics"][0]


@pytest.mark.parametrize("metric", ["nDCG@10", "AP", "Rprec", "NumRet", "IPrec@0.1", "BPM(max_grade=3)@10", "AUC"])
def test_any_metric_can_be_searched(metric: str) -> None:
    assert rs.reconcile(QRELS, RUN, metric, value="0.98765432").slips is not None
