"""Copies of documents in the top k, and the texts by which they are told, in every format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from tests.verbs.check.made_findings import QRELS, RUN, finder

from rankscope.errors import InputError
from rankscope.files.texts import texts_of

of = finder("P@2")


TEXTS = {
    "a": "The quick brown fox jumps over the lazy dog again",
    "b": "the quick, brown fox jumps over the lazy dog again!",
    "c": "Something else entirely, about rankings and their judgments",
    "d": "A fourth text, which shares the and nothing more",
}


def test_near_duplicates_in_the_top() -> None:
    (found,) = of("RS206", QRELS, RUN, docs_text=TEXTS)
    assert found.count == 10
    assert found.effect == {"P@2": pytest.approx(1 / 2 - 1)}  # a, c instead of a, b
    assert found.documents[0] == ("q0", "b")
    assert of("RS206", QRELS, RUN) == []
    assert of("RS206", QRELS, RUN, docs_text=TEXTS | {"b": "A text of its own, with a few words"}) == []


ROWS = list(TEXTS.items())
FORMATS = {
    "docs.jsonl": "".join(json.dumps({"_id": k, "title": "", "text": v}) + "\n" for k, v in ROWS),
    "contents.jsonl": "".join(json.dumps({"id": k, "contents": v}) + "\n" for k, v in ROWS),
    "docs.json": json.dumps(TEXTS),
    "list.json": json.dumps([{"doc_id": k, "text": v} for k, v in ROWS]),
    "docs.tsv": "".join(f"{k}\t{v}\n" for k, v in ROWS),
    "header.tsv": "docid\tbody\n" + "".join(f"{k}\t{v}\n" for k, v in ROWS),
    "docs.csv": "doc_id,text\n" + "".join(f'{k},"{v}"\n' for k, v in ROWS),
    "docs.trec": "".join(f"<DOC>\n<DOCNO>{k}</DOCNO>\n<TEXT>{v}</TEXT>\n</DOC>\n" for k, v in ROWS),
    "docs.smart": "".join(f".I {k}\n.W\n{v}\n" for k, v in ROWS),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_texts_are_read_from_all_files_that_the_report_reads(name: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / (f"{name}.gz" if packed else name)
    data = FORMATS[name].encode()
    path.write_bytes(gzip.compress(data, mtime=0) if packed else data)
    assert of("RS206", QRELS, RUN, docs_text=path)[0].count == 10
    assert texts_of(path, TEXTS).by_id.keys() == TEXTS.keys()  # as the report reads them


def test_texts_are_read_from_parquet_and_frames(tmp_path: Path) -> None:
    frame = pl.DataFrame({"_id": list(TEXTS), "text": list(TEXTS.values())})
    frame.write_parquet(tmp_path / "docs.parquet")
    for texts in (tmp_path / "docs.parquet", frame):
        assert of("RS206", QRELS, RUN, docs_text=texts)[0].count == 10


def test_texts_of_other_documents_are_refused() -> None:
    with pytest.raises(InputError, match="Is it the right file"):
        of("RS206", QRELS, RUN, docs_text={"x": "another collection"})


def test_texts_that_no_rule_needs_are_not_read() -> None:
    assert of("RS101", QRELS, RUN, docs_text="no such file") == []


def test_a_copy_with_one_word_changed_is_a_copy() -> None:
    words = " ".join(f"word{i}" for i in range(30))
    texts = {"a": words, "b": words.replace("word7 ", "other "), "c": words.replace("word", "w")}
    (found,) = of("RS206", QRELS, RUN, docs_text=texts)
    assert found.count == 10
