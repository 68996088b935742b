"""``rankscope unjudged``: what it prints, in every form, and what it writes for judging."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs

Run = Callable[..., Any]


@pytest.fixture
def two(folder: Path) -> Path:
    """Judgments of ten queries, and two runs: one finds the good document first, the other below one that nobody judged."""
    Path("ten.txt").write_text("".join(f"q{i} 0 good 1\nq{i} 0 bad 0\n" for i in range(10)))
    rankings = {"bm25": ("good", "bad"), "dense": ("new", "good")}
    for name, docs in rankings.items():
        lines = [f"q{i} Q0 {d} {r} {9 - r} {name}\n" for i in range(10) for r, d in enumerate(docs, 1)]
        Path(f"{name}.run").write_text("".join(lines))
    return folder


def test_one_run(two: Path, run: Run) -> None:
    said = run("unjudged", "ten.txt", "dense.run", "-m", "P@2", "-q")
    assert said.code == 0
    assert said.err == ""
    text = " ".join(said.out.split())
    assert text.startswith(
        "dense: 50% of its top 2 is unjudged. P@2 is 0.500 as judged, between 0.500 and 1.000 depending on unjudged documents."
    )
    assert "Judging these documents could change P@2 most" in text
    assert "next: --worklist judge.csv" in text
    assert all(len(line) <= 80 for line in said.out.splitlines())


def test_two_runs_and_what_would_turn_them(two: Path, run: Run) -> None:
    # P@1: bm25 is at 1, dense at 0: all ten would make it even, so none turn it
    text = " ".join(run("unjudged", "ten.txt", "bm25.run", "dense.run", "-m", "P@1", "-q").out.split())
    assert "bm25: every document of its top 1 is judged, and P@1 is 1.000." in text
    assert "bm25 is ahead of dense by 1.0000: no grades of the 10 unjudged documents could reverse this." in text
    # RBP@2, p 0.5: bm25 0.5 against 0.25; each new document is worth 0.5 / 10: six of ten make it 0.55
    text = " ".join(run("unjudged", "ten.txt", "bm25.run", "dense.run", "-m", "RBP(p=0.5)@2", "-q").out.split())
    assert "6 of 10 unjudged documents would have to be graded 1 to reverse this." in text
    # nDCG@2: judged relevant, new makes the query worth more
    text = " ".join(run("unjudged", "ten.txt", "bm25.run", "dense.run", "-m", "nDCG@2", "-q").out.split())
    assert "unjudged documents, if graded 1, would reverse this." in text


def test_nothing_unjudged(two: Path, run: Run) -> None:
    said = run("unjudged", "ten.txt", "bm25.run", "-m", "P@2", "-q")
    assert "every document of its top 2 is judged" in said.out
    assert "Judging these" not in said.out
    assert "--worklist" not in said.out


def test_every_form_says_the_same(two: Path, run: Run) -> None:
    asked = ("unjudged", "ten.txt", "bm25.run", "dense.run", "-m", "nDCG@2", "-m", "P@2", "-q", "--format")
    found = rs.unjudged("ten.txt", ["bm25.run", "dense.run"], ["nDCG@2", "P@2"])
    out = json.loads(run(*asked, "json").out)
    assert out["schema"] == "rankscope/unjudged/1"
    assert out["verdict"] == str(found).splitlines()
    assert [row["lower"] for row in out["results"]] == [b.lower for b in found]
    assert [row["needed"] for row in out["turns"]] == [t.needed for t in found.turns]
    assert [row["doc_id"] for row in out["worklist"]] == [w.doc_id for w in found.worklist]
    assert out["worklist"][0]["ranks"] == {"dense": 1}
    rows = list(csv.DictReader(io.StringIO(run(*asked, "csv").out)))
    assert [float(row["upper"]) for row in rows] == [b.upper for b in found]
    lines = [json.loads(line) for line in run(*asked, "jsonl").out.splitlines()]
    assert lines == out["results"]
    markdown = run(*asked, "markdown").out
    assert "### nDCG@2" in markdown
    assert "| run |" in markdown
    said = run("unjudged", "ten.txt", "dense.run", "-o", "out.json")
    assert said.code == 0
    assert "wrote out.json (json)" in said.err
    assert json.loads(Path("out.json").read_text())["results"][0]["run"] == "dense"


def test_without_a_metric_it_is_about_the_usual_one(two: Path, run: Run) -> None:
    found = json.loads(run("unjudged", "ten.txt", "dense.run", "--format", "json", "-q").out)
    assert [row["metric"] for row in found["results"]] == ["nDCG@10"]


def test_a_worklist_for_judging(two: Path, run: Run) -> None:
    said = run("unjudged", "ten.txt", "bm25.run", "dense.run", "-m", "P@2", "--worklist", "judge.csv", "-n", "3")
    assert said.code == 0
    assert "wrote judge.csv (csv, 3 documents to judge)" in said.err
    rows = list(csv.DictReader(io.StringIO(Path("judge.csv").read_text())))
    assert [(row["query_id"], row["doc_id"], row["ranks"]) for row in rows] == [
        (f"q{i}", "new", "dense=1") for i in range(3)
    ]
    assert [float(row["effect"]) for row in rows] == pytest.approx([1 / 20] * 3)


def test_many_runs_fit_into_80_columns(run: Run, shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("trec_covid/round1/runs")
    runs = [str(folder / f"{name}.gz") for name in ("BioinfoUA-emb-q", "DA_IICT_all", "sab20.1.meta.docs")]
    for metric in ("nDCG@10", "RBP@10"):
        said = run("unjudged", str(shared_data("trec_covid/qrels.txt")), *runs, "-m", metric, "-q")
        assert said.code == 0
        assert all(len(line) <= 80 for line in said.out.splitlines())


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        ([], 2, "no qrels and no run were given: rankscope unjudged QRELS RUN..."),
        (["ten.txt"], 2, "no run was given"),
        (["ten.txt", "dense.run", "--baseline", "bm"], 2, "baseline 'bm': no run is called that: there is dense"),
        (["ten.txt", "dense.run", "--grade", "0"], 2, "must be a number above 0"),
        (["ten.txt", "dense.run", "--worklist", "-"], 2, "name a file for the documents to judge"),
        (["ten.txt", "dense.run", "--worklist", "ten.txt"], 2, "is also an input"),
        (["ten.txt", "dense.run", "--worklist", "a.csv", "-o", "a.csv"], 2, "cannot hold both: name another file"),
        (["ten.txt", "dense.run", "-m", "nDGC@10"], 2, "did you mean nDCG?"),
        (["ten.txt", "dense.run", "--format", "trec"], 2, ""),
        (["qrels.txt", "ten.txt"], 2, ""),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line(two: Path, run: Run, args: list[str], code: int, says: str) -> None:
    said = run("unjudged", *args, "-q")
    assert said.code == code
    assert said.out == ""
    assert says in said.err
