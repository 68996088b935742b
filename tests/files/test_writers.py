"""Runs and judgments that are written and read again, and the digest of what they say."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import InputError

ENDINGS = ["run", "txt", "trec", "csv", "tsv", "jsonl", "json", "parquet", "run.gz", "csv.gz", "jsonl.gz"]
ids = st.text("abz09é.-_/", min_size=1, max_size=5)
scores = st.floats(allow_nan=False, allow_infinity=False, width=64)
runs = st.dictionaries(ids, st.dictionaries(ids, scores, min_size=1, max_size=5), min_size=1, max_size=5)
grades = st.dictionaries(ids, st.dictionaries(ids, st.integers(-2, 4), min_size=1, max_size=5), min_size=1, max_size=5)


def rows(table: Any, value: str) -> set[tuple[Any, ...]]:
    return set(table.frame.select("query_id", "doc_id", value).rows())


def all_floats(by_query: dict[str, Any]) -> bool:
    """Whether ids are written as floats, which CSV gives back as whole numbers."""
    docs = {doc for docs in by_query.values() for doc in docs}
    return any(
        all(one.replace(".0", "").isdigit() and one.endswith(".0") for one in some) for some in (set(by_query), docs)
    )


@pytest.mark.parametrize("ending", ENDINGS)
@given(run=runs, qrels=grades)
def test_what_is_written_is_read_again(
    ending: str, run: Any, qrels: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("written")
    if all_floats(run) or all_floats(qrels):
        return
    path = rs.write_run(run, folder / f"mine.{ending}")
    back = rs.read_run(path)
    assert rows(back, "score") == rows(rs.read_run(run), "score")
    assert back.name == "mine"
    same = rs.read_qrels(rs.write_qrels(qrels, folder / f"qrels.{ending}"))
    assert rows(same, "grade") == rows(rs.read_qrels(qrels), "grade")
    assert same.content_sha256 == rs.read_qrels(qrels).content_sha256


def test_a_run_is_written_in_the_order_of_its_ranks(tmp_path: Path) -> None:
    run = {"q2": {"a": 1.0, "b": 2.0, "c": 2.0}, "q1": ["x", "y"]}
    assert rs.write_run({"q2": run["q2"]}, tmp_path / "a.run", name="mine").read_text() == (
        "q2 Q0 c 1 2.0 mine\nq2 Q0 b 2 2.0 mine\nq2 Q0 a 3 1.0 mine\n"
    )
    assert rs.write_run({"q1": run["q1"]}, tmp_path / "b.run").read_text() == "q1 Q0 x 1 -1.0 b\nq1 Q0 y 2 -2.0 b\n"
    packed = rs.write_run({"q1": run["q1"]}, tmp_path / "b.run.gz")
    assert gzip.decompress(packed.read_bytes()) == (tmp_path / "b.run").read_bytes()


def test_the_parts_of_a_run_are_written_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankscope.files.writers.IN_CACHE", 2)
    rows = {
        "query_id": ["q1", "q1", "q1", "q2", "q3", "q3"],
        "doc_id": ["a", "b", "c", "a", "b", "a"],
        "score": [0.1, 0.1 + 0.2, 1e-7, 1e16, 5e-324, 5e-324],
    }
    written = rs.write_run(pl.DataFrame(rows), tmp_path / "a.run").read_text()
    lines = [line.split() for line in written.splitlines()]
    assert [(query, doc, int(rank), float(score)) for query, _, doc, rank, score, _ in lines] == [
        ("q1", "b", 1, 0.1 + 0.2), ("q1", "a", 2, 0.1), ("q1", "c", 3, 1e-7),
        ("q2", "a", 1, 1e16), ("q3", "b", 1, 5e-324), ("q3", "a", 2, 5e-324),
    ]  # fmt: skip
    ranked = pl.DataFrame(rows | {"rank": [3, 1, 2, 1, 2, 1]})
    back = rs.read_run(rs.write_run(ranked, tmp_path / "b.csv"))
    assert back.frame.rows() == [
        ("q1", "b", 0.1 + 0.2, 1), ("q1", "c", 1e-7, 2), ("q1", "a", 0.1, 3),
        ("q2", "a", 1e16, 1), ("q3", "a", 5e-324, 1), ("q3", "b", 5e-324, 2),
    ]  # fmt: skip


def test_subtopics_are_kept(tmp_path: Path) -> None:
    qrels = {"q": {"a": {"s1": 1, "s2": 0}, "b": {"s1": 1}}}
    for ending in ("txt", "csv", "json", "parquet"):
        back = rs.read_qrels(rs.write_qrels(qrels, tmp_path / f"q.{ending}"))
        assert set(back.frame.select("doc_id", "iteration", "grade").rows()) == {
            ("a", "s1", 1.0),
            ("a", "s2", 0.0),
            ("b", "s1", 1.0),
        }


@pytest.mark.parametrize(
    ("run", "name", "message"),
    [
        (
            {"q": {"two words": 1.0}},
            "a.run",
            "doc_id 'two words' cannot be written in TREC lines; write .csv, .jsonl or .parquet",
        ),
        ({"q": {"a": 1.0, "": 2.0}}, "a.run", "doc_id '' cannot be written in TREC lines"),
        ({"q": {"a": 1.0, "#b": 2.0}}, "a.run", "doc_id '#b' cannot be written in TREC lines"),
        ({"q": {"a": 1.0, "é\u00a0b": 2.0}}, "a.run", "cannot be written in TREC lines"),
        ({"#q": {"a": 1.0}}, "a.run", "query_id '#q' cannot be written in TREC lines"),
        ({"q": {"a": 1.0}, "r": {}}, "a.csv", "a query without documents has no rows; write .json"),
        ({"q": {"a": 1.0}}, "a.run.zst", "only .gz is written; leave .zst out"),
        ({"q": {"a": "high"}}, "a.run", "score 'high' is not a number"),
        ({"q": {"a": 1.0}}, "no/folder/a.run", "cannot be written: No such file or directory"),
    ],
    ids=[
        "a blank",
        "no id",
        "a comment as id",
        "a blank beyond ASCII",
        "a comment",
        "an empty query",
        "zstd",
        "no score",
        "no folder",
    ],
)
def test_what_cannot_be_written(run: Any, name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        rs.write_run(run, tmp_path / name)
    assert not (tmp_path / name).exists()


@given(qrels=grades, data=st.data())
def test_the_digest_is_of_what_is_said(qrels: Any, data: st.DataObject) -> None:
    frame = rs.read_qrels(qrels).frame
    digest = rs.read_qrels(qrels).content_sha256
    order = data.draw(st.permutations(range(len(frame))))
    assert rs.read_qrels(frame[order]).content_sha256 == digest
    assert rs.read_qrels(frame.with_columns(iteration=pl.lit("Q0"))).content_sha256 == digest
    at = data.draw(st.integers(0, len(frame) - 1))
    changed = frame.with_columns(
        grade=pl.when(pl.int_range(pl.len()) == at).then(pl.col("grade") + 1).otherwise(pl.col("grade"))
    )
    assert rs.read_qrels(changed).content_sha256 != digest
    if len(frame) > 1:
        assert rs.read_qrels(frame[1:]).content_sha256 != digest


def test_a_result_tells_the_digest_of_its_judgments(tmp_path: Path) -> None:
    qrels, run = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    digest = rs.read_qrels(qrels).content_sha256
    sources = [
        qrels,
        rs.read_qrels(qrels).frame.reverse(),
        *(rs.write_qrels(qrels, tmp_path / f"q.{e}") for e in ("txt", "csv.gz", "json")),
    ]
    assert {rs.evaluate(source, run, "AP").judgments_sha256 for source in sources} == {digest}


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "md", "tex", "txt", "trec"])
def test_a_result_is_saved_in_the_format_of_the_ending(ending: str, tmp_path: Path) -> None:
    scores = rs.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "AP")
    form = {"md": "markdown", "tex": "latex", "txt": "table"}.get(ending, ending)
    more = {"per_query": True} if ending == "json" else {}
    assert scores.save(tmp_path / f"a.{ending}").read_text() == "".join(scores.write(form, **more))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"the ending sets the format, one of .json .jsonl .csv .md .tex .txt .trec"):
        scores.save(tmp_path / "a.doc")
    comparison = rs.compare({"q1": {"a": 1}, "q2": {"a": 1}}, [{"q1": {"a": 1.0}}, {"q2": {"a": 1.0}}], "AP")
    if ending != "trec":
        assert comparison.save(tmp_path / f"c.{ending}").read_text() == "".join(comparison.write(form))
    else:
        with pytest.raises(InputError, match="the ending sets the format"):
            comparison.save(tmp_path / "c.trec")
