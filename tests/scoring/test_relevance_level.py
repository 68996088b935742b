"""The lowest grade that is relevant, for a whole call; grades that look like ratings; grades that are words."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
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


# --- words

NAMES = "Perfect=4,Excellent=3,Good=2,Fair=1,Bad=0"
WORDS = {"q1": {"d1": "Perfect", "d2": "Bad", "d 3": "fair"}, "q2": {"d1": "GOOD", "d2": "2"}}
WORTH = {("q1", "d1"): 4.0, ("q1", "d2"): 0.0, ("q1", "d 3"): 1.0, ("q2", "d1"): 2.0, ("q2", "d2"): 2.0}
ROWS = [(query, doc, grade) for query, docs in WORDS.items() for doc, grade in docs.items()]
FORMS: dict[str, str] = {
    "n.csv": "query_id,doc_id,grade\n" + "".join(f"{q},{d},{g}\n" for q, d, g in ROWS),
    "n.tsv": "query_id\tdoc_id\trelevance\n" + "".join(f"{q}\t{d}\t{g}\n" for q, d, g in ROWS),
    "n.json": json.dumps(WORDS),
    "n.jsonl": "".join(json.dumps({"query_id": q, "doc_id": d, "grade": g}) + "\n" for q, d, g in ROWS),
    "n.qrels": "".join(f"{q} 0  {d.replace(' ', '')}\t{g}\r\n" for q, d, g in ROWS),
    "n.txt": "".join(f"{q} {d.replace(' ', '')} {g}\n" for q, d, g in ROWS),
}


def worth(qrels: rs.Qrels) -> dict[tuple[str, str], float]:
    return {(q, d): g for q, d, g in qrels.frame.select("query_id", "doc_id", "grade").iter_rows()}


@pytest.mark.parametrize("name", FORMS)
def test_words_in_every_format(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name].encode())
    expected = {(q, d.replace(" ", "") if name in {"n.qrels", "n.txt"} else d): g for (q, d), g in WORTH.items()}
    found = rs.read_qrels(path, grades=NAMES)
    assert worth(found) == expected
    assert found.source.sha256 is not None
    assert found.source.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
    said = "a TREC qrels line has 4" if name == "n.txt" else "'Perfect' is not a number; name grades with grades="
    with pytest.raises(rs.InputError, match=said):
        rs.evaluate(path, {"q1": {"d1": 1.0}})


def test_words_in_memory(tmp_path: Path) -> None:
    frame = pl.DataFrame(ROWS, schema=["query_id", "doc_id", "grade"], orient="row")
    frame.write_parquet(tmp_path / "n.parquet")
    for given in (WORDS, frame, tmp_path / "n.parquet"):
        assert worth(rs.read_qrels(given, grades=NAMES)) == WORTH
        assert worth(rs.read_qrels(given, grades={"perfect": 4, "bad": 0, "FAIR": 1.0, "Good": 2})) == WORTH


def test_words_are_forgotten_afterwards() -> None:
    rs.read_qrels(WORDS, grades=NAMES)
    with pytest.raises(rs.InputError, match="'Perfect' is not a number"):
        rs.evaluate(WORDS, {"q1": {"d1": 1.0}})


@pytest.mark.parametrize(
    ("grades", "said"),
    [
        ("Perfect", "no name with a number"), ("Perfect=high", "no name with a number"), ("", "no grade is named"),
        ("=4", "no name with a number"), ("Good=1,good=2", "two values"), ({"Good": float("inf")}, "no name with a number"),
        (4, "no grade is named"),
    ],
)  # fmt: skip
def test_no_names(grades: Any, said: str) -> None:
    with pytest.raises(rs.InputError, match=said):
        rs.read_qrels(WORDS, grades=grades)


def test_a_word_without_a_number_is_named() -> None:
    with pytest.raises(rs.InputError, match=r"'GOOD' is not a number.*so far: perfect, bad, fair"):
        rs.evaluate(rs.read_qrels(WORDS, grades="Perfect=4,Bad=0,Fair=1"), {"q1": {"d1": 1.0}})
