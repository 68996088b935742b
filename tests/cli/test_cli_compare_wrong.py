"""What ``rankscope compare`` says of what is wrong: one line and an exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.runs_to_compare import QUERIES, Run, of_json

# --- what is wrong ----------------------------------------------------------------------------------------

WRONG: list[tuple[tuple[str, ...], int, str]] = [
    (("--baseline", "bm52"), 2, "did you mean bm25?"),
    (("--test", "wilcoxn"), 2, "did you mean wilcoxon?"),
    (("--test", "permutation(rounds=5)"), 2, "rounds must be from 99"),
    (("--test", "permutation(round=500)"), 2, "did you mean rounds?"),
    (("--test", "permutation(rounds=500"), 2, "cannot read the test"),
    (("--correction", "homl"), 2, "did you mean holm?"),
    (("--interval", "bcaa"), 2, "did you mean bca?"),
    (("--family", "some"), 2, "'metric', 'all'"),
    (("--family", "all", "--correction", "tukey"), 2, "one metric"),
    (("--alpha", "2"), 2, "alpha is a share"),
    (("--alpha", "0"), 2, "alpha is a share"),
    (("--alpha", "nan"), 2, "alpha is a share"),
    (("--alpha", "x"), 2, "'x' is not a valid float"),
    (("--margin", "x"), 2, "a margin must be a number"),
    (("--margin", "-1"), 2, "above 0"),
    (("--margin", "nan"), 2, "above 0"),
    (("--margin", "inf"), 2, "margin"),
    (("--margin", "nDGC@10=0.1"), 2, "did you mean nDCG?"),
    (("--margin", "0.1", "--margin", "0.2"), 2, "is given 2 times"),
    (("--margin", "0.1", "--margin", "RR=0.2"), 2, "one number for all metrics"),
    (("--limit", "latency_ms=10"), 2, "the cost of each run"),
    (("--costs", "costs.csv", "--limit", "latency=10"), 2, "did you mean latency_ms?"),
    (("--costs", "costs.csv", "--limit", "latency_ms"), 2, "latency_ms=100"),
    (("--costs", "costs.csv", "--limit", "latency_ms=x"), 2, "latency_ms=100"),
    (("--costs", "nowhere.csv"), 2, "no such file"),
    (("--slices", "nowhere.csv"), 2, "no such file"),
    (("--slices", "alien.csv"), 3, "use one set of query ids"),
    (("--clusters", "alien.csv"), 3, "has no cluster"),
    (("--clusters", "users.csv", "--test", "sign"), 2, "independent"),
    (("--tried", "0"), 2, "x>=1"),
    (("-m", "nDGC@10"), 2, "did you mean nDCG?"),
    (("--primary", "nDGC@10"), 2, "did you mean nDCG?"),
    (("--primry", "RR"), 2, "no such option --primry, did you mean --primary? (see rankscope compare --help)"),
    (("--format", "trec"), 2, "'latex'"),
    (("-o", "judged.txt"), 2, "judged.txt"),
    (("--settings", "nowhere.toml"), 2, "nowhere.toml"),
]


@pytest.mark.parametrize(("args", "code", "words"), WRONG, ids=lambda v: " ".join(v) if isinstance(v, tuple) else "")
def test_what_is_wrong_is_one_line(compare: Run, args: tuple[str, ...], code: int, words: str) -> None:
    Path("alien.csv").write_text("query_id,lang\nx1,en\nx2,de\n")
    said = compare(*args, code=code)
    lines = [line for line in said.err.splitlines() if not line.startswith("read ")]
    assert len(lines) == 1, said.err
    assert words in lines[0]
    assert said.out == ""


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ((), 2, "no qrels and no run"),
        (("judged.txt",), 2, "no run was given"),
        (("judged.txt", "bm25.run"), 3, "two or more"),
        (("judged.txt", "a=bm25.run", "a=best.run"), 3, "two or more"),
        (("judged.txt", "bm25.run", "nowhere.run"), 2, "no such file"),
        (("other.txt", "bm25.run", "best.run"), 3, "no query of bm25.run is judged"),
        (("judged.txt", "first.run", "last.run", "--queries", "both"), 3, "in every run"),
        (("--scores",), 2, "no file of scores"),
        (("--scores", "nowhere.csv"), 2, "no such file"),
        (("--scores", "one.csv"), 3, "two or more"),
        (("--scores", "word.csv"), 2, "'x' is not a number"),
        (("--scores", "empty.csv"), 2, "empty"),
        (("--scores", "header.csv"), 2, "no rows"),
        (("--scores", "a.csv", "b.csv"), 3, "shares no query"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, tuple) else "",
)
def test_what_cannot_be_compared_is_one_line(
    files: Path, run: Run, args: tuple[str, ...], code: int, words: str
) -> None:
    Path("other.txt").write_text("x1 0 good 1\n")
    lines = Path("bm25.run").read_text().splitlines(keepends=True)
    Path("first.run").write_text("".join(lines[:110]))
    Path("last.run").write_text("".join(lines[-110:]).replace("bm25", "last"))
    Path("one.csv").write_text("query_id,a\nq1,.1\nq2,.2\n")
    Path("word.csv").write_text("query_id,a,b\nq1,.1,x\nq2,.2,.3\n")
    Path("empty.csv").write_text("")
    Path("header.csv").write_text("query_id,a,b\n")
    Path("a.csv").write_text("query_id,AP\nq1,.1\n")
    Path("b.csv").write_text("query_id,AP\nq2,.1\n")
    said = run("compare", *args)
    told = [line for line in said.err.splitlines() if not line.startswith("read ")]
    assert (said.code, len(told)) == (code, 1), said.err
    assert words in told[0]
    assert said.out == ""


@pytest.mark.parametrize(
    "args", [("--scores", "apart.csv"), ("judged.txt", "first.run", "last.run", "--queries", "run")]
)
def test_no_query_in_common(files: Path, run: Run, args: tuple[str, ...]) -> None:
    Path("apart.csv").write_text("query_id,a,b\nq1,.1,\nq2,,.3\n")
    lines = Path("bm25.run").read_text().splitlines(keepends=True)
    Path("first.run").write_text("".join(lines[:110]))
    Path("last.run").write_text("".join(lines[-110:]).replace("bm25", "last"))
    assert run("compare", *args).code == 3


def test_constant_scores_are_told(files: Path, run: Run) -> None:
    Path("same.csv").write_text("query_id,a,b\n" + "".join(f"{q},0.5,0.5\n" for q in QUERIES))
    Path("apart.csv").write_text("query_id,a,b\n" + "".join(f"{q},0.5,0.75\n" for q in QUERIES))
    said = run("compare", "--scores", "same.csv", "-m", "AP")
    assert (said.code, said.out.splitlines()[0].strip()) == (0, "b and a score the same on AP, on each of 30 queries.")
    (row,) = of_json(run("compare", "--scores", "apart.csv", "-m", "AP", "--format", "json").out)["results"]
    assert (row["difference"], row["ci_lower"], row["wins"]) == (0.25, None, 30)


def test_unknown_queries_of_attributes_are_a_note(compare: Run) -> None:
    with Path("slices.csv").open("a") as file:
        file.write("alien,fr\n")
    said = compare("-m", "RR", "--slices", "slices.csv")
    assert "slices.csv: 1 query is not scored (alien)" in said.err
    assert "alien" not in compare("-q", "-m", "RR", "--slices", "slices.csv").err


@pytest.mark.parametrize("option", ["--slices", "--costs", "--clusters"])
def test_a_file_that_an_option_names_is_not_written_over(compare: Run, option: str) -> None:
    place = {"--slices": "slices.csv", "--costs": "costs.csv", "--clusters": "users.csv"}[option]
    before = Path(place).read_text()
    said = compare(option, place, "-o", place, code=2)
    assert f"{place} is also an input" in said.err
    assert Path(place).read_text() == before
