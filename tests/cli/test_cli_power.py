"""``rankscope power``: what it prints, in every form, and what it says when it cannot."""

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
def three(folder: Path) -> Path:
    """Judgments of 30 queries, and three runs that find the one good document at several ranks."""
    Path("many.txt").write_text("".join(f"q{i:02} 0 good 1\n" for i in range(30)))
    for name, step in (("bm25", 1), ("dense", 2), ("hybrid", 3)):
        lines = []
        for i in range(30):
            docs = [f"d{j}" for j in range(9)]
            docs.insert((i * step + step) % 5, "good")
            lines += [f"q{i:02} Q0 {doc} {rank} {100 - rank} {name}\n" for rank, doc in enumerate(docs, 1)]
        Path(f"{name}.run").write_text("".join(lines))
    return folder


def test_a_pair_in_words_and_tables(three: Path, run: Run) -> None:
    said = run("power", "many.txt", "bm25.run", "dense.run", "-m", "RR", "-q")
    assert said.code == 0
    assert said.err == ""
    text = " ".join(said.out.split())
    assert text.startswith("30 queries can detect a difference of about 0.")
    assert ") in RR between bm25 and dense with 80% power; detecting 0.05 would take about " in text
    assert "for queries like these" in text
    assert "alpha 0.05 for one comparison" in text
    assert all(len(line) <= 80 for line in said.out.splitlines())


@pytest.mark.parametrize("more", [[], ["--all-pairs"], ["--details"], ["--difference", "0.03", "-n", "200"]])
def test_several_pairs_fit_into_80_columns(three: Path, run: Run, more: list[str]) -> None:
    said = run("power", "many.txt", "bm25.run", "dense.run", "hybrid.run", "-m", "RR", "-m", "AP", *more)
    assert said.code == 0
    assert "median" in said.out
    assert all(len(line) <= 80 for line in said.out.splitlines())


def test_many_pairs_are_summed_up(run: Run, shared_data: Callable[[str], Path]) -> None:
    path = str(shared_data("system_scores/adhoc5_ap.csv"))
    said = run("power", "--scores", path, "-m", "AP", "--baseline", "run1", "-q")
    assert said.code == 0
    assert "60 pairs" in said.out
    assert "--details lists each pair" in " ".join(said.out.split())
    assert len(run("power", "--scores", path, "--baseline", "run1", "--details", "-q").out) > 2 * len(said.out)


def test_every_form_says_the_same(three: Path, run: Run) -> None:
    asked = ("power", "many.txt", "bm25.run", "dense.run", "-m", "RR", "-q", "--format")
    found = rs.power("many.txt", ["bm25.run", "dense.run"], "RR")["RR"]
    out = json.loads(run(*asked, "json").out)
    assert out["schema"] == "rankscope/power/1"
    assert out["verdict"] == [str(rs.power("many.txt", ["bm25.run", "dense.run"], "RR"))]
    assert [row["queries_needed"] for row in out["results"]] == [t.queries for t in found.targets]
    rows = list(csv.DictReader(io.StringIO(run(*asked, "csv").out)))
    assert [int(row["queries_needed"]) for row in rows] == [t.queries for t in found.targets]
    assert [float(row["detectable_difference"]) for row in rows] == [found.detectable.difference] * len(rows)
    lines = [json.loads(line) for line in run(*asked, "jsonl").out.splitlines()]
    assert lines == out["results"]
    assert "| metric |" in run(*asked, "markdown").out
    assert run(*asked[:-1], "-o", "plan.json").code == 0
    assert json.loads(Path("plan.json").read_text())["results"] == out["results"]


def test_without_runs(run: Run) -> None:
    said = run("power", "--deviation", "0.2", "--difference", "0.1")
    assert said.code == 0
    assert " ".join(said.out.split()).startswith("Detecting a difference of 0.1 with 80% power takes 34 queries")
    said = run("power", "--deviation", "0.2", "-n", "100", "--format", "csv")
    assert len(said.out.splitlines()) == 4
    assert "158 topics" in run(
        "power", "--design", "anova", "--systems", "10", "--variance", "0.05", "--difference", "0.1"
    ).out  # fmt: skip
    said = run("power", "--design", "interval", "--variance", "0.05", "--width", "0.1", "--width", "0.2")
    assert "95% interval" in said.out
    out = json.loads(run("power", "--design", "t", "--variance", "0.04", "--difference", "0.1", "--format", "json").out)
    assert out["results"][0]["topics"] == 34


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        ([], 2, "no qrels and no run were given: rankscope power QRELS RUN RUN..."),
        (["many.txt"], 2, "no run was given"),
        (["many.txt", "bm25.run"], 3, "there is one run, bm25"),
        (["many.txt", "bm25.run", "dense.run", "--baseline", "bm"], 2, "did you mean bm25?"),
        (["many.txt", "bm25.run", "dense.run", "--variance", "1"], 2, "one at a time|belongs to a design"),
        (["many.txt", "bm25.run", "dense.run", "-m", "RR", "--difference", "2"], 2, "RR is between 0 and 1"),
        (["many.txt", "a=bm25.run", "b=bm25.run", "-m", "RR"], 3, "score the same on all 30 queries of RR"),
        (["many.txt", "bm25.run", "--deviation", "1"], 2, "one at a time"),
        (["--design", "t", "--variance", "1"], 2, "needs a difference"),
        (["--variance", "1"], 2, "variance belongs to a design"),
        (["--scores"], 2, "no file of scores was given"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_is_one_line(three: Path, run: Run, args: list[str], code: int, says: str) -> None:
    import re

    said = run("power", *args, "-q")
    assert said.code == code
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert re.search(says.replace("...", r"\.\.\.").replace("?", r"\?"), said.err)


def test_warnings_go_beside_data(three: Path, run: Run) -> None:
    moved = Path("bm25.run").read_text()
    for query in ("q00", "q05"):  # the good document from rank 2 to rank 1
        moved = moved.replace(f"{query} Q0 good 2 98", f"{query} Q0 good 2 100")
    Path("near.run").write_text(moved.replace(" bm25\n", " near\n"))
    said = run("power", "many.txt", "bm25.run", "near.run", "-m", "RR", "--format", "csv")
    assert said.code == 0
    assert "warning RS405: near and bm25 differ on 2 of 30 queries on RR" in said.err
    assert "warning" not in said.out
