"""The demo data that ships in the package is complete and consistent."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from tests.made.files import some

DEMO = Path(__file__).resolve().parents[3] / "src" / "rankscope" / "demo"
SYSTEMS = ("bm25", "dense", "hybrid")
FILES = {"README.md", "docs.jsonl.gz", "qrels.txt", "queries.tsv"} | {f"{name}.run.gz" for name in SYSTEMS}


@cache
def lines(name: str) -> list[str]:
    """Lines of a file of the folder, decompressed where it ends in .gz."""
    data = (DEMO / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8")
    assert text.endswith("\n")
    return text.split("\n")[:-1]


@cache
def queries() -> dict[str, str]:
    """Query texts by id."""
    found: dict[str, str] = {}
    for line in lines("queries.tsv"):
        qid, text = line.split("\t")
        assert qid
        assert text
        assert qid not in found
        found[qid] = text
    return found


@cache
def docs() -> dict[str, dict[str, str]]:
    """Documents by id."""
    records = [json.loads(line) for line in lines("docs.jsonl.gz")]
    found = {record["_id"]: record for record in records}
    assert len(found) == len(records)
    return found


@cache
def qrels() -> dict[str, dict[str, int]]:
    """Grades by query and document."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for line in lines("qrels.txt"):
        qid, zero, doc_id, grade = line.split(" ")
        assert zero == "0"
        assert doc_id not in found[qid], f"{qid} judges {doc_id} twice"
        found[qid][doc_id] = int(grade)
    return dict(found)


@cache
def run(name: str) -> dict[str, list[tuple[str, int, float]]]:
    """Document, rank and score by query, in the order of the file."""
    found: dict[str, list[tuple[str, int, float]]] = defaultdict(list)
    for line in lines(f"{name}.run.gz"):
        qid, q0, doc_id, rank, score, tag = line.split(" ")
        assert (q0, tag) == ("Q0", name)
        found[qid].append((doc_id, int(rank), float(score)))
    return dict(found)


def test_folder_holds_only_the_data_and_is_small() -> None:
    found = {path.name: path.stat().st_size for path in DEMO.iterdir()}
    assert set(found) == FILES
    assert sum(found.values()) < 1_200_000


def test_gzip_files_carry_no_time_and_no_name() -> None:
    for path in some(DEMO.glob("*.gz")):
        header = path.read_bytes()[:10]
        assert header[3] == 0, "no optional fields"
        assert header[4:8] == bytes(4), "no time stamp"


def test_queries() -> None:
    assert len(queries()) >= 150
    assert len(set(queries().values())) == len(queries())


def test_docs_have_title_and_text() -> None:
    for doc_id, record in docs().items():
        assert set(record) == {"_id", "title", "text"}
        assert " " not in doc_id
        assert record["title"]
        assert record["text"]
        assert len(record["text"]) <= 160


def test_every_query_is_judged_and_has_a_best_document() -> None:
    assert set(qrels()) == set(queries())
    for qid, grades in qrels().items():
        assert set(grades.values()) <= {0, 1, 2, 3}
        assert 3 in grades.values(), qid


def test_every_grade_is_used() -> None:
    assert {grade for grades in qrels().values() for grade in grades.values()} == {0, 1, 2, 3}


def test_judged_documents_exist() -> None:
    assert {doc_id for grades in qrels().values() for doc_id in grades} <= set(docs())


@pytest.mark.parametrize("name", SYSTEMS)
def test_run_ranks_all_queries_without_duplicates(name: str) -> None:
    assert set(run(name)) == set(queries())
    for qid, ranking in run(name).items():
        ids = [doc_id for doc_id, _, _ in ranking]
        assert len(set(ids)) == len(ids), qid
        assert set(ids) <= set(docs()), qid
        assert len(ids) <= 100


@pytest.mark.parametrize("name", SYSTEMS)
def test_run_order_agrees_with_scores(name: str) -> None:
    for qid, ranking in run(name).items():
        assert [rank for _, rank, _ in ranking] == list(range(1, len(ranking) + 1)), qid
        keys = [(score, doc_id.encode()) for doc_id, _, score in ranking]
        assert keys == sorted(keys, reverse=True), qid


def test_held_out_sentence_is_not_in_the_text() -> None:
    for qid, grades in qrels().items():
        for doc_id in (doc_id for doc_id, grade in grades.items() if grade == 3):
            assert not docs()[doc_id]["text"].lower().startswith(queries()[qid]), doc_id


def test_readme_says_that_no_person_judged_it_and_carries_the_licence() -> None:
    text = " ".join((DEMO / "README.md").read_text(encoding="utf-8").split())
    assert "No person judged" in text
    assert "PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2" in text
    assert "Python Software Foundation; All Rights Reserved" in text
    assert "$" not in text, "a place left unfilled"
