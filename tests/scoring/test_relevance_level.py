"""The lowest grade that is relevant, for a whole call; grades that look like ratings."""

from __future__ import annotations

import json
from typing import Any

import pytest

import rankscope as rs

RATINGS = {f"u{i}": {f"i{j}": 1 + (i + j) % 5 for j in range(10)} for i in range(8)}
GRADED = {query: {doc: grade % 4 for doc, grade in docs.items()} for query, docs in RATINGS.items()}
RUN = {query: {doc: float(10 - j) for j, doc in enumerate(docs)} for query, docs in RATINGS.items()}
METRICS = ["P@5", "AP", "RR", "R@5", "P(level=2)@5", "nDCG@5", "Judged@5"]


def test_a_level_for_the_whole_call() -> None:
    """Law: it is what writing the level into each metric is; one that names its own keeps it, and grades stay what they are."""
    scores = rs.evaluate(GRADED, RUN, METRICS, relevance_level=3)
    by_hand = ["P(level=3)@5", "AP(level=3)", "RR(level=3)", "R(level=3)@5", "P(level=2)@5", "nDCG@5", "Judged@5"]
    assert [mean.value for mean in scores.board] == [mean.value for mean in rs.evaluate(GRADED, RUN, by_hand).board]
    assert [str(mean.metric) for mean in scores.board] == by_hand
    assert scores.conventions["relevance_level"] == 3
    assert "relevant: grade ≥ 2 and" not in scores.request.small_print()


def test_a_budget_of_tokens_passes_the_level_to_its_metric() -> None:
    lengths = {doc: 10 for docs in RATINGS.values() for doc in docs}
    for metric, by_hand in (
        ("R@60tok", "R(level=4)@60tok"), ("nDCG(gain='binary')@60tok", "nDCG(gain='binary>=4')@60tok"), ("nDCG@60tok", "nDCG@60tok"),
    ):  # fmt: skip
        (mean,) = rs.evaluate(RATINGS, RUN, metric, relevance_level=4, lengths=lengths).board
        assert str(mean.metric) == by_hand
        assert mean.value == rs.evaluate(RATINGS, RUN, by_hand, lengths=lengths)[by_hand]


@pytest.mark.parametrize("metric", ["SNIPS(metric='R@5')", "IPS(metric='R@5')", "EffectiveSize"])
def test_implicit_feedback_has_no_level(metric: str) -> None:
    with pytest.raises(rs.InputError, match="counts every grade above 0; leave lower grades out"):
        rs.evaluate(RATINGS, RUN, metric, relevance_level=4, history={"u": ["i1"]})


def test_a_binary_gain_is_of_relevant_grades() -> None:
    """Law: it is what judgments of 0 and 1 have, also in the dialects of tools for recommenders."""
    relevant = {query: {doc: int(grade >= 4) for doc, grade in docs.items()} for query, docs in RATINGS.items()}
    for metric in ("nDCG(gain='binary')@5", "nDCG(gain='binary', ideal='full_k')@5", "DCG(gain='binary')@5"):
        (mean,) = rs.evaluate(RATINGS, RUN, metric, relevance_level=4).board
        assert "gain='binary>=4'" in str(mean.metric)
        assert mean.value == rs.evaluate(relevant, RUN, metric)[metric]
        assert rs.evaluate(RATINGS, RUN, [str(mean.metric)]).board[0].value == mean.value
    for dialect in ("rectools", "recbole"):
        (mean,) = rs.evaluate(RATINGS, RUN, "nDCG@5", relevance_level=4, dialect=dialect).board
        assert mean.value == rs.evaluate(relevant, RUN, "nDCG@5", dialect=dialect).board[0].value
    (same,) = rs.evaluate(RATINGS, RUN, "nDCG(gain='binary')@5", relevance_level=1).board
    assert str(same.metric) == "nDCG(gain='binary')@5"


@pytest.mark.parametrize("level", [2, 4.0])
def test_level_reads_grades_from_1_on(level: float) -> None:
    assert (
        rs.evaluate(GRADED, RUN, ["AP"], level=level).rows
        == rs.evaluate(GRADED, RUN, ["AP"], relevance_level=level).rows
    )
    assert rs.evaluate(GRADED, RUN, ["AP"], level=0.9).conventions["relevance_level"] is None


@pytest.mark.parametrize("level", [95, -1, 0.2])
def test_no_level(level: float) -> None:
    with pytest.raises(rs.InputError, match=r"between 0\.5 and 1"):
        rs.evaluate(GRADED, RUN, ["AP"], level=level)


@pytest.mark.parametrize("level", ["two", float("nan"), True])
def test_no_relevance_level(level: Any) -> None:
    with pytest.raises(rs.InputError, match="a number like 2"):
        rs.evaluate(GRADED, RUN, ["AP"], relevance_level=level)


def test_every_verb_takes_it() -> None:
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in RUN.items()}
    runs: Any = {"one": RUN, "other": other}
    level: Any = {"relevance_level": 3}
    means = rs.evaluate(GRADED, runs, ["P(level=3)@5"])
    change = means["other", "P(level=3)@5"] - means["one", "P(level=3)@5"]
    assert rs.compare(GRADED, runs, ["P@5"], **level).rows[0]["difference"] == pytest.approx(change)
    assert rs.gate(GRADED, RUN, other, ["P@5"], **level).rows[0]["difference"] == pytest.approx(change)
    assert (
        rs.explain(GRADED, RUN, "P@5", query="u1", **level).value
        == rs.explain(GRADED, RUN, "P(level=3)@5", query="u1").value
    )
    assert rs.diagnose(GRADED, RUN, "P@5", **level).scores.board[0].value == means["one", "P(level=3)@5"]
    dialect = rs.evaluate(GRADED, RUN, ["AP@5"], dialect="lightgbm", **level)
    assert dialect.board[0].value == rs.evaluate(GRADED, RUN, ["AP(level=3)@5"], dialect="lightgbm").board[0].value


def codes(*given: Any, **how: Any) -> list[str]:
    return [warning.code for warning in rs.evaluate(*given, **how).warnings]


@pytest.mark.parametrize(("level", "count"), [(None, 1), (1, 1), (2, 2), (0.5, 1), (3, 3)])
def test_queries_without_relevant_documents_are_counted_at_the_level(level: float | None, count: int) -> None:
    qrels, run = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}, "q3": {"a": 0}}, {f"q{n}": {"a": 1.0} for n in (1, 2, 3)}
    queries = "1 judged query has" if count == 1 else f"{count} judged queries have"
    expected = f"{queries} no relevant document (grade {1 if level is None else level} or more)"
    scores = rs.evaluate(qrels, run, "R@10", relevance_level=level)
    assert [w.message.partition(" and ")[0] for w in scores.warnings if w.code == "RS103"] == [expected]
    (found,) = (one for one in rs.check(qrels, run, "R@10", relevance_level=level).findings if one.code == "RS103")
    assert (found.count, found.message.partition(" and ")[0]) == (count, expected)


def test_ratings_are_told() -> None:
    (told,) = [w for w in rs.evaluate(RATINGS, RUN, METRICS).warnings if w.code == "RS306"]
    assert "P@5, AP, RR, R@5" in told.message
    assert "grade 1 or more" in told.message
    assert "RS306" not in codes(RATINGS, RUN, METRICS[:4], relevance_level=4)
    assert "RS306" not in codes(RATINGS, RUN, ["nDCG@5"])
    assert "RS306" not in codes(GRADED, RUN, METRICS)
    halves = {query: {doc: grade / 2 for doc, grade in docs.items()} for query, docs in RATINGS.items()}
    assert "RS306" not in codes(halves, RUN, METRICS)  # up to 2.5: no scale that is known
    stars = {
        query: {doc: grade if grade != 4 else 4.5 for doc, grade in docs.items()} for query, docs in RATINGS.items()
    }
    assert "RS306" in codes(stars, RUN, METRICS)
    many = {query: {**docs, **{f"n{j}": 0 for j in range(20)}} for query, docs in RATINGS.items()}
    assert "RS306" not in codes(many, RUN, METRICS)  # with a 0 for what is not relevant
    assert "RS306" in {finding.code for finding in rs.check(RATINGS, RUN).findings}


def test_health_says_ratings_only_of_ratings() -> None:
    for grades, said in ((RATINGS, 4.0), (GRADED, None)):
        (health,) = json.loads(rs.evaluate(grades, RUN, ["AP"]).to_json())["data_health"].values()
        assert health.get("ratings") == said
