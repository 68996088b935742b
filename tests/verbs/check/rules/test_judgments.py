"""Rules about judgments beside rankings: a minimal bad case and a clean one each."""

from __future__ import annotations

import numpy as np
import pytest
from tests.verbs.check.made_findings import QRELS, QUERIES, RUN, finder

of = finder("P@2")


def test_judged_tops_are_left_in_peace() -> None:
    assert of("RS204", QRELS, RUN) == []


def test_unjudged_documents_and_what_leaving_them_out_gives() -> None:
    run = {q: {"x": 9.0, **docs} for q, docs in RUN.items()}
    (found,) = of("RS204", QRELS, run, "nDCG@2")
    assert found.severity == "warning"
    assert "50% of its top 2" in found.message
    # x, a against a, b; the ideal is a, b: (2/log2(3)) / (2 + 1/log2(3)) against 1
    ideal = 2 + 1 / np.log2(3)
    assert found.effect == {"nDCG@2": pytest.approx(1 - (2 / np.log2(3)) / ideal)}


def test_more_unjudged_in_one_run_than_in_another() -> None:
    run = {q: {"x": 9.0, **docs} for q, docs in RUN.items()}
    (found,) = of("RS204", QRELS, {"old": RUN, "new": run})
    assert found.run == "new"
    assert "(old: 0%), so the comparison may be unfair" in found.message


def test_qrels_of_relevant_documents_only_say_nothing_of_the_rest() -> None:
    (found,) = of("RS204", {q: {"a": 1} for q in QUERIES}, RUN)
    assert found.severity == "information"
    assert "relevant documents only" in found.message


def test_the_run_with_most_that_is_unjudged_is_named() -> None:
    """Also where it is neither the first nor the last, and where only relevant documents are judged."""
    some, most = ({q: dict(zip(order, (9.0, 8.0, 7.0), strict=True)) for q in QUERIES} for order in ("axy", "xya"))
    qrels = {q: {"a": 1} for q in QUERIES}
    (found,) = of("RS204", qrels, {"few": some, "most": most, "again": some})
    assert found.run == "most"
    assert "100% of the top 2 of most" in found.message


def test_grades_off_the_scale_that_was_stated() -> None:
    assert of("RS112", QRELS, RUN, scale="0-2") == []
    assert of("RS112", QRELS, RUN) == []  # nothing was stated
    odd = QRELS | {"q0": {"a": 20, "b": 1, "c": 0, "d": 0}}
    run = {q: {"b": 2.0, "a": 1.0} for q in QUERIES}
    (found,) = of("RS112", odd, run, "nDCG@2", scale=(0, 2))
    assert found.count == 1
    high, low = (1 + 20 / np.log2(3)) / (20 + 1 / np.log2(3)), (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))
    assert found.effect == {"nDCG@2": pytest.approx((low - high) / 10)}
    assert of("RS112", QRELS | {"q0": {"a": 0.5}}, RUN, scale="0-2")  # no half grades on a scale of whole ones
    assert of("RS112", QRELS | {"q0": {"a": -1, "b": 1}}, RUN, scale="0-2") == []  # pooled, not judged


def test_differences_that_so_few_queries_cannot_show() -> None:
    from scipy.stats import nct

    worse = RUN | {"q0": {"c": 2.0, "d": 1.0}}
    (found,) = of("RS409", QRELS, {"one": RUN, "two": worse}, "P@2")
    assert found.severity == "information"
    assert "differ by 0.1000 on P@2" in found.message
    # one difference of 1 in ten: deviation sqrt(0.1), and noncentral t of 9 degrees of freedom around its quantile 2.2622
    error = np.sqrt(0.1) / np.sqrt(10)
    assert (
        f"queries like these detect {nct.ppf(0.8, 9, 2.2622) * error:.3f} in four of five cases (80% power)"
        in found.message
    )
    assert "tells them apart" not in found.message
    assert of("RS409", QRELS, {"one": RUN, "same": RUN}) == []
    # 7 of 24 queries lose 1: p = 2 / 2^7 by signs and 0.006 by t, which detects 0.27 at 5%, and 0.39 at 80% power
    qrels = {f"q{i:02}": QRELS["q0"] for i in range(24)}
    best = dict.fromkeys(qrels, RUN["q0"])
    poor = best | {f"q{i:02}": {"c": 2.0, "d": 1.0} for i in range(6)}
    (found,) = of("RS409", qrels, {"best": best, "poor": poor}, "RR")
    assert found.message.endswith("(80% power), though here compare tells them apart")
    nothing = {q: {"c": 2.0 + i / 10, "d": 1.0} for i, q in enumerate(QUERIES)}
    assert of("RS409", QRELS, {"one": RUN, "none": nothing}) == []  # far apart in every query
