"""Rules for rankings: each on a minimal bad case and on a clean one, with the size of the effect by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.verbs.check.made_findings import finder

import rankscope as rs

QRELS = {f"q{i}": {"a": 1, "b": 0, "c": 0, "d": 0} for i in range(10)}
RUN = {q: {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0} for q in QRELS}


of = finder("RR")


@pytest.mark.parametrize("code", ["RS105", "RS201", "RS202", "RS203", "RS205"])
def test_clean_rankings_are_left_in_peace(code: str) -> None:
    assert of(code, QRELS, RUN, ["RR", "P@4"]) == []


@pytest.fixture
def distances(tmp_path: Path) -> tuple[Path, Path]:
    """A run whose scores rise with the rank."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "my.run"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()))
    run.write_text("".join(f"{q} Q0 {d} {i} {i} x\n" for q in QRELS for i, d in enumerate("abcd", 1)))
    return qrels, run


def test_a_rank_column_that_says_otherwise(distances: tuple[Path, Path]) -> None:
    (found,) = of("RS201", *distances)
    assert (found.count, found.severity) == (10, "warning")
    assert found.effect == {"RR": pytest.approx(1 - 1 / 4)}
    assert "are they distances?" in found.message
    assert of("RS201", *distances, ties="rank") == []


def test_a_rank_column_that_changes_nothing_is_information(tmp_path: Path, distances: tuple[Path, Path]) -> None:
    run = tmp_path / "swapped.run"  # ranks 3 and 4 exchanged, both not relevant
    run.write_text("".join(f"{q} Q0 {d} {r} {s} x\n" for q in QRELS for d, r, s in ("a14", "b23", "d42", "c31")))
    (found,) = of("RS201", distances[0], run)
    assert found.severity == "information"


def test_a_run_that_is_shorter_than_the_cutoff() -> None:
    (found,) = of("RS202", QRELS, RUN, ["P@4", "P@5", "R@100"])
    assert (found.count, found.severity) == (4, "information")
    assert "P@5 and R@100 look deeper" in found.message
    deep = {q: {**docs, "e": 0.5} for q, docs in RUN.items()}
    (found,) = of("RS202", QRELS, {"short": RUN, "deep": deep}, "P@5")
    assert (found.run, found.severity) == ("short", "warning")


def test_ties_are_told_by_how_far_the_number_could_move() -> None:
    run = RUN | {"q0": {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.2}}  # 1 or 1/2 in one query of ten
    (found,) = of("RS203", QRELS, run)
    assert found.effect == {"RR": pytest.approx((1 - 1 / 2) / 10)}
    assert "RR could be anything from 0.950 to 1.000" in found.message
    assert found.severity == "warning"
    assert of("RS203", QRELS, run, ties="expected") == []


def test_ties_that_move_little_are_information_and_those_that_do_not_are_none() -> None:
    qrels = {f"q{i}": QRELS["q0"] for i in range(100)}
    run = dict.fromkeys(qrels, RUN["q0"])
    (found,) = of("RS203", qrels, run | {"q0": {"a": 1.0, "b": 1.0}})
    assert found.severity == "information"
    assert of("RS203", qrels, run | {"q0": {"a": 4.0, "b": 1.0, "c": 1.0}}) == []


def test_a_constant_scorer() -> None:
    constant = {q: dict.fromkeys(docs, 0.5) for q, docs in RUN.items()}
    (found,) = of("RS205", QRELS, constant)
    assert (found.count, found.severity) == (10, "warning")
    # a stands last by id, and at each of four ranks in the mean
    assert found.effect == {"RR": pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4 - 1 / 4)}
    (found,) = of("RS205", QRELS, RUN | {"q0": constant["q0"]})
    assert found.severity == "information"


def test_queries_that_retrieve_themselves() -> None:
    selves = {q: {q: 9.0, **docs} for q, docs in RUN.items()}
    (found,) = of("RS105", QRELS, selves)
    assert (found.count, found.severity) == (10, "warning")
    assert found.effect == {"RR": pytest.approx(1 - 1 / 2)}
    assert of("RS105", QRELS, selves, self_match="drop") == []


def test_queries_that_retrieve_themselves_second() -> None:
    qrels = {str(i): {"a": 1, "b": 0} for i in range(1, 21)}
    run = {q: {"b": 3.0, q: 2.0, "a": 1.0} for q in qrels}
    (found,) = of("RS105", qrels, run)
    assert found.message == "run ranks the query itself in its top 10 in 20 of 20 queries; without it: +0.167 RR"
    assert found.effect == {"RR": pytest.approx(1 / 2 - 1 / 3)}


def test_numbers_that_meet_by_chance_are_no_self_match() -> None:
    """Ten of 100 documents whose ids are numbers are shown to each of 100 queries whose ids are numbers, too: 10 meet themselves."""
    qrels = {str(i): {str(i + 1): 1, str(i + 2): 0} for i in range(100)}
    draws = np.random.default_rng(2)
    run = {q: {str(d): 9.0 - r for r, d in enumerate(draws.permutation(100)[:10].tolist())} for q in qrels}
    assert sum(q in docs for q, docs in run.items()) > 5
    assert of("RS105", qrels, run) == []


def test_a_query_that_is_its_own_right_answer_is_left_in_peace() -> None:
    qrels = {q: {q: 1, "b": 0} for q in QRELS}
    assert of("RS105", qrels, {q: {q: 2.0, "b": 1.0} for q in qrels}) == []


def test_ties_that_decide_who_is_clearly_ahead_are_a_warning() -> None:
    qrels = {f"q{i}": QRELS["q0"] for i in range(400)}
    one = dict.fromkeys(qrels, RUN["q0"])
    tied = one | {f"q{i}": {"a": 1.0, "b": 1.0} for i in range(12)}  # 1 - 6/400 = 0.985 to 1
    other = one | {f"q{i}": {"b": 2.0, "a": 1.0} for i in range(6)}  # 0.9925: better on six queries, p = 2/64
    found = list(rs.check(qrels, {"tied": tied, "other": other}, "RR", select=["RS203"]))
    assert [(f.run, f.severity) for f in found] == [("tied", "warning")]
    assert found[0].message.endswith("their order decides whether it is ahead of other on RR")


def test_ties_that_decide_who_is_ahead_by_chance_are_information() -> None:
    qrels = {f"q{i}": QRELS["q0"] for i in range(100)}
    one = dict.fromkeys(qrels, RUN["q0"])
    tied = one | {"q0": {"a": 1.0, "b": 1.0}, "q1": {"b": 2.0, "a": 1.0}}  # 0.990 to 0.995
    other = one | {"q0": {"b": 2.0, "c": 1.5, "a": 1.0}}  # 1 - 2/3/100 = 0.9933
    found = list(rs.check(qrels, {"tied": tied, "other": other}, "RR", select=["RS203"]))
    assert [(f.run, f.severity) for f in found] == [("tied", "information")]
    assert found[0].message.endswith("RR could be anything from 0.990 to 0.995")
