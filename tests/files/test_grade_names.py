"""Judgments whose grades are words, in every form: what the words are worth is told when they are read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs

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
        ("Perfect", "not a name with a number"), ("Perfect=high", "not a name with a number"), ("", "no grade is named"),
        ("=4", "not a name with a number"), ("Good=1,good=2", "two values"), ({"Good": float("inf")}, "not a name with a number"),
        (4, "no grade is named"),
    ],
)  # fmt: skip
def test_no_names(grades: Any, said: str) -> None:
    with pytest.raises(rs.InputError, match=said):
        rs.read_qrels(WORDS, grades=grades)


def test_a_word_without_a_number_is_named() -> None:
    with pytest.raises(rs.InputError, match=r"'GOOD' is not a number.*named now: perfect, bad, fair"):
        rs.evaluate(rs.read_qrels(WORDS, grades="Perfect=4,Bad=0,Fair=1"), {"q1": {"d1": 1.0}})


@pytest.mark.parametrize("name", FORMS)
def test_words_in_every_file_of_a_folder(name: str, tmp_path: Path) -> None:
    for query in ("q1", "q2"):
        mine = [line for line in FORMS[name].splitlines(keepends=True) if f"{query}" in line or "_id" in line]
        text = json.dumps({query: WORDS[query]}) if name == "n.json" else "".join(mine)
        (tmp_path / query).with_suffix(Path(name).suffix).write_text(text, encoding="utf-8", newline="")
    assert [*worth(rs.read_qrels(tmp_path, grades=NAMES)).values()] == [*WORTH.values()]
    assert [*worth(rs.read_qrels(f"{tmp_path}/q*", grades=NAMES)).values()] == [*WORTH.values()]
