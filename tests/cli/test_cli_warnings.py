"""What a reader is warned of, and in which words."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.engines.base import Order
from rankscope.engines.mappings import judge
from rankscope.scoring.health import Health, examine
from rankscope.scoring.request import Request


def health(**more: Any) -> Health:
    facts: dict[str, Any] = {
        "rows": 9, "queries": 3, "judged_queries": 3, "missing_queries": 0, "missing": (), "extra_queries": 0,
        "extra": (), "queries_without_relevant": 0, "tied_rows": 0,
    }  # fmt: skip
    return Health(**facts | more)


def told(metrics: str = "P@10", ties: str = "trec", **more: Any) -> list[str]:
    asked = Request.of(metrics, {"ties": ties})
    return [f"{w.code} {w.message} / {w.hint}" for w in asked.cautions({"r": health(**more)})]


@pytest.mark.parametrize(
    ("metrics", "warned"),
    [
        ("P@10", True), ("AP", True), ("nDCG@10 Judged@10", True), ("P@5 Bpref", True), ("P@20 Judged@10", False),
        ("P(judged_only=True)@10", False), ("Bpref infAP AUC GAUC GBpref", False), ("NumRet NumRelRet NumQ", False),
        ("Judged@10", False),
    ],
)  # fmt: skip
def test_unjudged_matters_only_where_it_counts_as_not_relevant(metrics: Any, warned: Any) -> None:
    said = told(metrics, unjudged_at_cutoff={5: 0.5, 10: 0.5})
    assert [line.split()[0] for line in said] == ["RS204"] * warned


def test_ties_name_who_decides_and_another_policy() -> None:
    one: dict[str, Any] = {"ties_at_cutoff": {10: 15, 5: 0}}
    (said,) = told(**one)
    assert said.startswith("RS203 r: scores tie across rank 10 in 15 queries; the document id breaks the tie")
    assert said.endswith('give distinct scores, or take ties="expected" (rankscope ties shows how much it matters)')
    assert "the order of the file breaks the tie" in told(ties="input", **one)[0]
    assert told(ties="rank", **one) == []
    two = told(ties_at_cutoff={10: 2, 100: 10})[0]
    assert "scores tie across rank 10 in 2 queries and rank 100 in 10 queries; the" in two


def test_one_is_not_several() -> None:
    assert "r: 1 repeated document was dropped" in told(duplicates=1)[0]
    assert "r: 1,002 repeated documents were dropped" in told(duplicates=1002)[0]
    assert "r: 1 document that is its own query was dropped" in told(self_matches=1)[0]
    assert "r: 2 documents that are their own query were dropped" in told(self_matches=2)[0]
    assert "r has an empty ranking for 1 judged query, scored as empty" in told(empty_queries=1)[0]


def test_the_qrels_are_warned_of_once() -> None:
    both = {"a": health(qrels_duplicates=3), "b": health(qrels_duplicates=3)}
    assert [(w.code, w.message) for w in Request.of().cautions(both)] == [
        ("RS104", "qrels: 3 repeated judgments were dropped")
    ]


def test_long_ids_are_cut() -> None:
    said = told(missing_queries=1, missing=("x" * 500,))[0]
    assert f"({'x' * 39}…)" in said


def test_empty_rankings_are_counted_apart_from_missing_ones() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    judged, seen = judge({"q1": {"a": 1.0}, "q2": {}}, qrels, Order(), "r")
    found = examine(judged, seen, (10,), 3, qrels_duplicates=4)
    assert (found.missing_queries, found.empty_queries, found.qrels_duplicates) == (1, 1, 4)


def test_messages_have_no_control_characters(run: Any) -> None:
    Path("odd.run").write_text("q1 Q0 d1 1 3.0 \x1b[31mred\n")
    said = run("evaluate", "qrels.txt", "odd.run", "--format", "csv")
    assert "warning RS101: \\x1b[31mred has no ranking" in said.err
    assert "\x1b" not in said.err
    assert "\x1b" not in run("evaluate", "qrels.txt", "odd.run").out
    assert "\\x1b[2J.run: no such file" in run("evaluate", "qrels.txt", "\x1b[2J.run").err


@pytest.mark.parametrize(
    ("metrics", "ending"),
    [
        (["nDCG@10", "AP"], "and scores 0 on most metrics"),
        (["AUC"], "and is left out by AUC"),
        (["nDCG@10", "AUC", "GAUC"], "and scores 0 on most metrics, but is left out by AUC and GAUC"),
    ],
    ids=["scored as 0", "left out", "both"],
)
def test_what_becomes_of_queries_without_relevant_documents_is_that_of_the_metrics(metrics: Any, ending: str) -> None:
    (text,) = told(metrics, queries_without_relevant=1)
    assert text.startswith(f"RS103 1 judged query has no relevant document (grade 1 or more) {ending} / ")


@pytest.mark.parametrize(
    ("policy", "ending"),
    [
        ("skip", 'are left out by no_relevant="skip"'),
        (1, "count as 1 by no_relevant=1"),
        (0, "score 0 on most metrics"),
    ],
)
def test_what_becomes_of_queries_without_relevant_documents_is_that_of_the_policy(policy: Any, ending: str) -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 0}}, {f"q{n}": {"a": 1.0} for n in (1, 2, 3)}
    (caution,) = (c for c in rs.evaluate(qrels, run, "RR", no_relevant=policy).warnings if c.code == "RS103")
    assert caution.message == f"2 judged queries have no relevant document (grade 1 or more) and {ending}"
    assert ("leave them out" in caution.hint) == (policy == 0)


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize("seed", range(4))
def test_unjudged_documents_are_counted_over_the_orders_that_are_scored(ties: str, seed: int) -> None:
    """Of all orders of equal scores, written out: the mean, the fewest or the most documents of the top 3 without a judgment."""
    draws = np.random.default_rng(seed)
    qrels = {q: {d: int(draws.integers(0, 2)) for d in "abcdef" if draws.random() < 0.6} for q in ("q1", "q2")}
    run = {q: {d: float(draws.integers(0, 3)) for d in "abcdef"} for q in qrels}
    counts = []
    for q, docs in run.items():
        orders = [o for o in itertools.permutations(docs) if all(docs[x] >= docs[y] for x, y in itertools.pairwise(o))]
        counts.append([sum(d not in qrels[q] for d in order[:3]) for order in orders])
    expected = sum({"expected": np.mean, "best": min, "worst": max}[ties](part) for part in counts)  # type: ignore[operator]
    scores = rs.evaluate(qrels, run, "P@3", ties=ties)  # type: ignore[call-overload]
    assert scores.data_health["run"]["unjudged_at_cutoff"]["3"] == pytest.approx(expected / 6)
    if ties == "expected":
        assert 1 - rs.evaluate(qrels, run, "Judged@3", ties=ties)["Judged@3"] == pytest.approx(expected / 6)  # type: ignore[call-overload]
