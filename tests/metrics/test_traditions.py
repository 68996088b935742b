"""Metrics of NTCIR and of stratified samples: what they come to where another metric is known, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rankscope as rs

RNG = np.random.default_rng(8)
LISTS = [RNG.choice([0, 0, 1, 2, 3], size=size).tolist() for size in (1, 3, 8, 20)]
SAME = {
    "gain left out is average precision": ("Q(beta=0)", "AP"),
    "gain left out is reciprocal rank": ("OMeasure(beta=0)", "RR"),
    "readers divided evenly, precision": ("NCU(stops='even', utility='precision')", "AP"),
    "readers divided evenly, blended ratio": ("NCU(stops='even')", "Q"),
    "readers who never stop early": ("NCU(stops='rank_biased', gamma=1)", "Q"),
    "one relevant document preferred": ("PPlus(gain='binary')", "PMeasure(gain='binary')"),
}


@pytest.mark.parametrize(("ours", "known"), SAME.values(), ids=SAME)
def test_special_cases(ours: str, known: str) -> None:
    for grades in LISTS:
        assert rs.parse(ours).of(grades) == pytest.approx(rs.parse(known).of(grades), abs=1e-12)


def test_an_ideal_ranking_has_the_best_value() -> None:
    for grades in LISTS:
        best = sorted(grades, reverse=True)
        for name in ("Q", "OMeasure", "PMeasure", "PPlus", "NCU", "nERR"):
            assert rs.parse(name).of(best) == pytest.approx(float(any(best)))


# --- strata

QRELS = {"q": {"a": {"1": 2}, "b": {"1": 0}, "c": {"2": 1}, "d": {"2": -1}, "e": {"2": -1}, "f": {"2": 0}}}
RUN = {"q": ["d", "a", "x", "c", "e"]}


def test_average_precision_worked_out() -> None:
    """Relevant: a in a stratum judged in full, c, which stands for two documents of its stratum."""
    at_a = 1 / 2 + 1 / 2 * (1 * 0.00001 / 0.00003)  # d was not sampled: a third of it is relevant
    at_c = 1 / 4 + 1 / 4 * (1 * 1.00001 / 1.00003 + 1 * 0.00001 / 0.00003)
    found = rs.evaluate(QRELS, RUN, "xinfAP")["xinfAP"]
    assert found == pytest.approx((1 * at_a + 2 * at_c) / (1 + 2), abs=1e-12)


def test_gain_worked_out() -> None:
    """The list has three documents of stratum 2, of which one was sampled; the ideal has 2, 1 and 1."""
    earned = 2 / np.log2(3) + 3 * 1 / np.log2(5)
    ideal = 2 + 1 / np.log2(3) + 1 / np.log2(4)
    assert rs.evaluate(QRELS, RUN, "infNDCG")["infNDCG"] == pytest.approx(earned / ideal, abs=1e-12)


def test_complete_judgments_need_no_estimate() -> None:
    for grades in LISTS:
        by_stratum = [{f"s{i % 3}": grade} for i, grade in enumerate(grades)]
        assert rs.infNDCG().of(by_stratum) == pytest.approx(rs.nDCG().of(grades), abs=1e-12)
        assert rs.xinfAP().of(by_stratum) == pytest.approx(rs.AP().of(grades), abs=1e-4)  # the smoothing


def test_estimates_are_right_on_average() -> None:
    """Over many samples of one pool, the mean estimate of nDCG is near its value."""
    rng = np.random.default_rng(3)
    grades = rng.choice([0, 0, 1, 2], size=60)
    samples = []
    for _ in range(300):
        kept = np.concatenate([np.ones(20, bool), rng.permutation(40) < 20])
        samples.append(
            [
                {"top" if i < 20 else "rest": int(g) if k else -1}
                for i, (g, k) in enumerate(zip(grades, kept, strict=True))
            ]
        )
    values = rs.infNDCG().of(samples)
    assert values.mean() == pytest.approx(
        rs.nDCG().of(grades.tolist()), abs=4 * values.std() / np.sqrt(len(values)) + 0.005
    )


def test_files_of_sample_eval(tmp_path: Path) -> None:
    lines = [f"q 0 {doc} {s} {g}" for doc, strata in QRELS["q"].items() for s, g in strata.items()]
    file = tmp_path / "qrels.txt"
    file.write_text("\n".join(lines))
    found = rs.evaluate(file, RUN, ["xinfAP", "infNDCG"])
    assert found["xinfAP"] == rs.evaluate(QRELS, RUN, "xinfAP")["xinfAP"]
    assert any("stratum" in note for note in found.notes)


def test_a_document_in_two_strata_is_refused() -> None:
    with pytest.raises(rs.InputError, match="document a of query q has several grades"):
        rs.evaluate({"q": {"a": {"1": 1, "2": 0}}}, RUN, "xinfAP")
