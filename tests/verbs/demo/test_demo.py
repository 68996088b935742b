"""The demo: its numbers, and a copy of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

import rankscope as rs
from rankscope.blocks import Paragraph
from rankscope.errors import InputError
from rankscope.verbs.demo.demo import RUNS, copy_files, demo, folder, introduction


def test_a_copy_holds_every_file_of_the_demo_as_it_is(tmp_path: Path) -> None:
    copied = copy_files(str(tmp_path / "new" / "there"))
    names = {path.name for path in folder().iterdir() if path.is_file()}
    assert {path.name for path in copied} == names
    assert {"qrels.txt", "queries.tsv", "docs.jsonl.gz", "README.md", *(f"{run}.run.gz" for run in RUNS)} <= names
    for path in copied:
        assert path.read_bytes() == (folder() / path.name).read_bytes()
    runs = [str(tmp_path / "new" / "there" / f"{run}.run.gz") for run in RUNS]
    assert rs.evaluate(str(tmp_path / "new" / "there" / "qrels.txt"), runs).rows == demo().rows


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("mine")
    with pytest.raises(InputError, match=r"qrels\.txt is there already"):
        copy_files(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["qrels.txt"]
    assert (tmp_path / "qrels.txt").read_text() == "mine"


def test_where_no_copy_can_be_made_the_reason_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be copied there"):
        copy_files(str(tmp_path / "file" / "there"))


def test_the_introduction_tells_the_numbers() -> None:
    scores = demo()
    text = " ".join(block.text for block in introduction(scores) if isinstance(block, Paragraph))
    best = max(RUNS, key=lambda run: scores[run, "nDCG@10"])
    assert f"{best} is ahead" in text
    assert f"{max(scores[run, 'RR@10'] for run in RUNS):.2f} is as good as rank" in text
