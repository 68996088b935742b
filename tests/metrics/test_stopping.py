"""Readers who stop: the weights worked out rank by rank, what they come to in plain cases, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from math import log2

import numpy as np
import pytest

import rankscope as rs
from rankscope.metrics import stopping
from rankscope.metrics.stopping import BPM, INSQ, INST, NERR8, NERR9, NERR10, NERR11, SDCG

ALL = (BPM, INSQ, INST, NERR8, NERR9, NERR10, NERR11, SDCG)


# --- one rank after another, as in the papers: the chance of going on from rank r, given the gains down to it

Going = Callable[[int, list[float]], float]


def insq(r: int, t: float) -> float:
    return ((r + 2 * t - 1) / (r + 2 * t)) ** 2


def inst(r: int, t: float, gains: list[float]) -> float:
    left = t - sum(gains[:r])
    return ((r + t + left - 1) / (r + t + left)) ** 2


READERS: dict[str, tuple[rs.Metric, int, Going]] = {
    "BPM": (BPM(T=1.5, max_grade=2) @ 4, 4, lambda r, g: float(sum(g[:r]) < 1.5)),
    "BPM content early": (BPM(T=0.5, max_grade=2) @ 8, 8, lambda r, g: float(sum(g[:r]) < 0.5)),
    "INSQ": (INSQ(T=2, max_grade=2), 1000, lambda r, g: insq(r, 2)),
    "INSQ near": (INSQ(T=0.25, max_grade=2, horizon=5), 5, lambda r, g: insq(r, 0.25)),
    "INST": (INST(T=2, max_grade=2), 1000, lambda r, g: inst(r, 2, g)),
    "INST near": (INST(max_grade=2, horizon=5), 5, lambda r, g: inst(r, 1, g)),
    "NERR8": (NERR8(max_grade=2) @ 4, 4, lambda r, g: 1 - g[r - 1]),
    "NERR9": (NERR9(max_grade=2) @ 4, 4, lambda r, g: r / (r + 1) * (1 - g[r - 1])),
    "NERR10": (NERR10(max_grade=2), 1000, lambda r, g: 0.9 * (1 - g[r - 1])),
    "NERR10 near": (NERR10(p=0.7, max_grade=2, horizon=5), 5, lambda r, g: 0.7 * (1 - g[r - 1])),
    "NERR11": (NERR11(T=2, max_grade=2), 1000, lambda r, g: insq(r, 2) * (1 - g[r - 1])),
}

RANKINGS: tuple[list[int | None], ...] = (
    [0, 1, None, 2, 1, 0, None, 1],
    [2],
    [None, None, -1, 1],
    [1, 0, 1, 1, 1, 1, 2],
    [0, 0, 0],
    [],
)


@pytest.mark.parametrize("reader", READERS)
def test_one_rank_after_another(reader: str) -> None:
    metric, depth, goes_on = READERS[reader]
    for ranking in RANKINGS:
        gains = [max(grade or 0, 0) / 2 for grade in ranking] + [0.0] * depth
        chances = (goes_on(rank, gains) for rank in range(1, depth))
        looks = list(accumulate(chances, lambda so_far, chance: so_far * chance, initial=1.0))
        met = sum(chance * gain for chance, gain in zip(looks, gains, strict=False))
        assert metric.of(ranking) == pytest.approx(met / sum(looks), rel=1e-12, abs=1e-15), ranking


def test_weights_do_not_depend_on_how_many_rows_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    batch = rng.choice([0.0, 1.0, 2.0], size=(50, 30)).tolist()
    for metric, _, _ in READERS.values():
        at_once = metric.of(batch)
        monkeypatch.setattr(stopping, "MAX_CELLS", 3000)
        assert metric.of(batch).tolist() == at_once.tolist()
        monkeypatch.undo()


# --- plain cases in which they are something else


def batches() -> list[list[float]]:
    return [row.tolist() for row in np.random.default_rng(6).choice([0.0, 0.0, 0.0, 1.0], size=(60, 15))]


@pytest.mark.parametrize(
    ("metric", "other"),
    [
        (BPM(T=99, max_grade=1) @ 10, rs.P @ 10),
        (BPM(max_grade=1) @ 10, rs.RR @ 10),
        (NERR8(max_grade=1) @ 10, rs.RR @ 10),
        (NERR10(p=1, max_grade=1), rs.RR()),
        (INSQ(T=0, max_grade=1), rs.P @ 1),
        (SDCG(max_grade=3) @ 10, rs.nDCG(ideal="max_grade_k", max_grade=3) @ 10),
        (
            SDCG(gain="exponential", max_grade=3) @ 10,
            rs.nDCG(gain="exponential", ideal="max_grade_k", max_grade=3) @ 10,
        ),
    ],
    ids=str,
)
def test_plain_cases(metric: rs.Metric, other: rs.Metric) -> None:
    assert metric.of(batches()) == pytest.approx(other.of(batches()), rel=1e-12, abs=1e-15)


def test_insq_far_down_the_list() -> None:
    """Its weights are known without a product: (2T)² / (r + 2T - 1)²."""
    ranking = [0] * 699 + [1]
    weights = [(2 * 3) ** 2 / (r + 2 * 3 - 1) ** 2 for r in range(1, 1001)]
    assert INSQ(T=3, max_grade=1).of(ranking) == pytest.approx(weights[699] / sum(weights), rel=1e-12)


def test_beyond_the_horizon_nothing_is_earned() -> None:
    for metric in (INSQ(horizon=3, max_grade=1), INST(horizon=3, max_grade=1), NERR10(horizon=3, max_grade=1)):
        assert metric.of([0, 1, 0, 1, 1]) == metric.of([0, 1, 0]) > 0
        assert metric.of([0, 0, 0, 1]) == 0


def test_grades_up_to_min_grade_gain_nothing_and_the_scale_begins_there() -> None:
    sdcg = SDCG(min_grade=1, max_grade=3) @ 2
    assert sdcg.of([2, 1]) == pytest.approx((1 / 2) / (1 + 1 / log2(3)))
    assert sdcg.of([0, 3]) == pytest.approx(1 / log2(3) / (1 + 1 / log2(3)))
    assert (NERR8(min_grade=1, max_grade=3) @ 3).of([2, 3]) == pytest.approx((1 / 2 + 1 / 2) / (1 + 1 / 2))


def test_six_thirds_make_two() -> None:
    """Where fractions are added one by one they come to 1.9999999999999998, and the reader would go on."""
    assert [*accumulate([1 / 3] * 6)][-1] < 2  # Python's sum makes up for what is rounded off since 3.12
    assert (BPM(T=2, max_grade=3) @ 10).of([1] * 6 + [3]) == pytest.approx(2 / 6)


def test_names_of_ir_measures() -> None:
    assert rs.parse("BPM(max_rel=3,min_rel=1,T=2.0)@20") == BPM(T=2, min_grade=1, max_grade=3) @ 20
    assert rs.parse("SDCG(max_rel=3,dcg='log2')@20") == SDCG(max_grade=3) @ 20
    assert rs.parse("INST(max_rel=1)") == INST(max_grade=1)


@pytest.mark.parametrize(
    ("spelling", "said"),
    [
        ("INST", "INST needs max_grade: write INST\\(max_grade=...\\)"),
        ("BPM(max_grade=2)", "needs cutoff"),
        ("INSQ(max_grade=1, min_grade=1)", "min_grade=1 is not below max_grade=1"),
        ("INST(T=0.2, max_grade=1)", "T must be at least 0.5"),
        ("INST(max_grade=1)@10", "INST has no cutoff"),
        ("NERR10(p=1.5, max_grade=1)", "p must be from 0 to 1"),
        ("INSQ(horizon=2000000000, max_grade=1)", "horizon must be from 1 to 1e\\+06"),
    ],
)
def test_what_is_refused(spelling: str, said: str) -> None:
    with pytest.raises(rs.InputError, match=said):
        rs.parse(spelling)


@pytest.mark.parametrize("metric", ALL)
def test_a_grade_above_the_scale_is_refused(metric: type[rs.Metric]) -> None:
    one = rs.parse(f"{metric.__name__}(max_grade=2)" + ("@10" if hasattr(metric, "cutoff") else ""))
    with pytest.raises(rs.InputError, match="a document has grade 3, above max_grade=2"):
        one.of([1], ideal=[3, 1])
