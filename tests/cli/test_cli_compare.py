"""``rankscope compare`` as people use it: formats, exit codes, one line for what is wrong."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.runs_to_compare import KEYS, QUERIES, THREE, Run, of_json, run_file

# --- formats ----------------------------------------------------------------------------------------------


def test_the_table_leads_with_the_verdict_and_fits_80_columns(compare: Run) -> None:
    said = compare("-m", "RR", "-m", "Success@1", "--slices", "slices.csv", "--costs", "costs.csv", runs=THREE)
    lines = said.out.splitlines()
    text = " ".join(said.out.split())
    assert "No clear difference between dense and bm25 on RR" in text or "dense beats bm25 on RR" in text
    assert "best beats bm25 on RR by" in text
    assert "paired t test, Holm over 2 comparisons per metric" in text
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("more", [(), ("--all-pairs",), ("--details",), ("--margin", "0.01"), ("--alpha", "0.001")])
def test_80_columns_hold(compare: Run, more: tuple[str, ...]) -> None:
    long_name = "a_name_of_a_run_that_is_much_too_long_for_a_column_of_a_table_in_a_terminal_of_eighty"
    for runs in (THREE, (f"{long_name}=bm25.run", "dense.run", "best.run")):
        said = compare(*more, "--slices", "slices.csv", "--clusters", "users.csv", runs=runs)
        assert max(map(len, said.out.splitlines())) <= 80


def test_json_says_all(compare: Run) -> None:
    said = compare("-m", "RR", "-m", "Success@1", "--format", "json", runs=THREE)
    found = of_json(said.out)
    assert found["schema"] == "rankscope/compare/1"
    assert {"rankscope", "conventions", "inputs", "data_health", "results", "warnings", "verdict"} <= set(found)
    assert [Path(source["path"]).name for source in found["inputs"]] == ["judged.txt", *THREE]
    assert all(len(source["sha256"]) == 64 for source in found["inputs"])
    assert len(found["results"]) == 4
    for row in found["results"]:
        assert set(row) >= KEYS
        assert row["baseline"] == "bm25"
        assert row["wins"] + row["losses"] + row["ties"] == row["queries"] == 30
        assert row["difference"] == pytest.approx(row["value"] - row["baseline_value"])
    rr = {row["run"]: row["value"] for row in found["results"] if row["metric"] == "RR"}
    assert rr["best"] == pytest.approx(sum(1 / (1 + (i % 7) // 3) for i in range(30)) / 30)
    assert found["conventions"]["correction"] == "holm"
    assert found["conventions"]["baseline"] == "bm25"


def test_the_same_in_jsonl_and_csv(compare: Run) -> None:
    args = ("-m", "RR", "-m", "Success@1")
    rows = of_json(compare(*args, "--format", "json", runs=THREE).out)["results"]
    lines = [of_json(line) for line in compare(*args, "--format", "jsonl", runs=THREE).out.splitlines()]
    assert lines == rows
    table = list(csv.DictReader(io.StringIO(compare(*args, "--format", "csv", runs=THREE).out)))
    assert len(table) == len(rows)
    for line, row in zip(table, rows, strict=True):
        assert set(row) == set(line)
        for key, value in row.items():
            if isinstance(value, float):
                assert float(line[key]) == value
            else:
                assert line[key] == ("" if value is None else str(value))


def test_nothing_to_infer_from_is_null(files: Path, run: Run) -> None:
    """One query: no interval, no spread, no effect."""
    Path("one.csv").write_text("query_id,a,b,c\nq1,0.2,0.4,0\n")
    said = run("compare", "--scores", "one.csv", "-m", "AP", "--format", "json", "--margin", "0.1", "--bayes")
    assert said.code == 0
    (b, c) = of_json(said.out)["results"]
    assert (b["ci_lower"], b["ci_upper"], b["standardised_effect"]) == (None, None, None)
    assert (b["verdict"], b["p_value"]) == ("cannot tell", 1)
    assert c["relative_difference"] == -1


def test_markdown_and_latex_carry_marks_and_name_the_test(compare: Run) -> None:
    args = ("-m", "RR", "-m", "Success@1")
    markdown = compare(*args, "--format", "markdown", runs=THREE).out
    table = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 3
    assert len({line.count("|") for line in table}) == 1
    assert r"\*" in next(line for line in table if "best" in line)
    assert "paired t test, Holm over 2 comparisons per metric; 30 queries" in markdown
    latex = compare(*args, "--format", "latex", runs=THREE).out
    body = latex[latex.index(r"\begin{tabular}") : latex.index(r"\end{tabular}")]
    assert body.count("{") == body.count("}")
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + 3
    assert "*" in next(line for line in rows if line.startswith("best &"))
    assert r"$\dagger$ worse than bm25 at 5\%: paired t test, Holm over 2 comparisons per metric; 30 queries" in latex
    said = compare(*args, "-o", "t.tex", "--caption", "50% & more", "--label", "tab:x", "--digits", "2", runs=THREE)
    assert said.out == ""
    written = Path("t.tex").read_text()
    assert r"\caption{50\% \& more}" in written
    assert r"\label{tab:x}" in written
    wrong = compare("-m", "RR", "--digits", "2", code=2).err
    assert (
        wrong == "digits is of the table of a paper: leave it out, or choose latex, not table\n"
    )  # before anything is read


def test_a_loss_is_marked_in_papers(compare: Run) -> None:
    latex = compare("-m", "RR", "--format", "latex", "--baseline", "best").out
    assert "$\\dagger$" in next(line for line in latex.splitlines() if line.startswith("bm25 &"))
    pairs = compare("-m", "RR", "--format", "latex", "--all-pairs", "--correction", "tukey", runs=THREE).out
    assert "tukey" in pairs.casefold()
    assert r"\textsuperscript{a" in next(line for line in pairs.splitlines() if "}best &" in line)


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "md", "tex", "txt"])
def test_a_file_by_its_ending(compare: Run, ending: str) -> None:
    said = compare("-m", "RR", "-o", f"out.{ending}")
    assert said.out == ""
    assert f"wrote out.{ending}" in said.err
    assert Path(f"out.{ending}").read_text().strip()
    assert compare("-q", "-m", "RR", "-o", f"out.{ending}").err == ""


# --- what is compared ----------------------------------------------------------------------------------


def test_the_worked_example_of_five_queries(files: Path, run: Run) -> None:
    for name, ranks in (("old", [2, 1, 5, 3, 1]), ("new", [1, 1, 2, 1, 1])):
        Path(f"{name}.run").write_text(run_file(name, ranks))
    Path("five.txt").write_text("".join(f"{q} 0 good 1\n" for q in QUERIES[:5]))
    args = ("compare", "five.txt", "old.run", "new.run", "-m", "RR", "--format", "json")
    (row,) = of_json(run(*args).out)["results"]
    assert (row["verdict"], row["p_value"]) == ("cannot tell", 0.25)
    assert (row["wins"], row["losses"], row["ties"]) == (3, 0, 2)
    (row,) = of_json(run(*args, "--test", "t").out)["results"]
    assert (row["verdict"], round(row["p_value"], 3)) == ("cannot tell", 0.092)


def test_sakais_table(run: Run, shared_data: Callable[[str], Path]) -> None:
    """Table 5.1 of Laboratory Experiments in Information Retrieval."""
    paths = {name: str(shared_data(f"elinor/{name}.csv")) for name in "XYZ"}
    said = run("compare", "--scores", f"Y={paths['Y']}", f"X={paths['X']}", "-m", "nDCG@5", "--format", "json")
    assert said.code == 0
    (row,) = of_json(said.out)["results"]
    assert (row["run"], row["baseline"], row["queries"]) == ("X", "Y", 20)
    assert round(row["p_value"], 4) == 0.0478
    assert round(row["standardised_effect"], 4) == 0.4731
    assert round(row["standardised_effect"] * math.sqrt(20), 4) == 2.1158
    three = run("compare", "--scores", *paths.values(), "--all-pairs", "--format", "json")
    assert [(r["run"], r["baseline"]) for r in of_json(three.out)["results"]] == [("Y", "X"), ("Z", "X"), ("Z", "Y")]


def test_scores_that_evaluate_wrote(files: Path, run: Run) -> None:
    assert run("evaluate", "judged.txt", *THREE, "-m", "RR", "--per-query", "-o", "scores.csv").code == 0
    theirs = of_json(run("compare", "--scores", "scores.csv", "-m", "RR", "--format", "json").out)["results"]
    mine = of_json(run("compare", "judged.txt", *THREE, "-m", "RR", "--format", "json").out)["results"]
    assert theirs == mine


@pytest.mark.parametrize("names", [("old/ap.csv", "new/ap.csv"), ("run.v1.csv", "run.v2.csv")])
def test_no_file_of_scores_is_dropped(files: Path, run: Run, names: tuple[str, str]) -> None:
    draws = np.random.default_rng(0)
    for name in (*names, "third.csv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("query_id,AP\n" + "".join(f"{q},{draws.random():.3f}\n" for q in QUERIES))
    said = run("compare", "--scores", *names, "third.csv", "--format", "json")
    assert said.code == 2 or len(of_json(said.out)["results"]) == 2


def test_several_runs_of_one_system(compare: Run) -> None:
    runs = ("old=bm25.run", "old=dense.run", "new=best.run", "new=best.run")
    found = of_json(compare("-m", "RR", "--format", "json", runs=runs).out)
    (row,) = found["results"]
    assert (row["run"], row["baseline"]) == ("new", "old")
    old = [(1 / (1 + i % 7) + 1 / (1 + i % 6)) / 2 for i in range(30)]
    new = [1 / (1 + (i % 7) // 3) for i in range(30)]
    assert row["difference"] == pytest.approx(np.mean(new) - np.mean(old))
    by = {r["run"]: r for r in found["replicates"]}
    assert by["old"]["runs"] == 2
    assert by["new"]["variance_between_runs"] == 0
    within = np.var([[1 / (1 + i % 7) for i in range(30)], [1 / (1 + i % 6) for i in range(30)]], axis=0, ddof=1)
    assert by["old"]["variance_between_runs"] == pytest.approx(within.mean())


def test_baseline_primary_and_tried(compare: Run) -> None:
    said = compare("-m", "RR", "-m", "Success@1", "--primary", "Success@1", "--baseline", "best", "--tried", "12")
    text = " ".join(said.out.split())
    assert text.startswith(("bm25 loses to best on Success@1", "bm25 and best cannot be told apart on Success@1"))
    assert "Success@1 (primary)" in text
    assert "12 systems were tried on these judgments" in text
    found = of_json(compare("--primary", "Success@1", "--tried", "12", "--format", "json").out)
    assert found["conventions"]["primary"] == "Success@1"
    assert found["conventions"]["primary_declared"] is True
    assert found["conventions"]["candidates_tried"] == 12


def test_costs_and_limits(compare: Run) -> None:
    said = compare("-m", "RR", "--costs", "costs.csv", "--limit", "latency_ms=50", runs=THREE)
    text = " ".join(said.out.split())
    assert re.search(r"[Bb]est with latency_ms <= 50: (bm25|dense)", text)
    assert "takes 6x as long" in text
    assert "tradeoffs" in of_json(compare("-m", "RR", "--costs", "costs.csv", "--format", "json").out)


def test_margins_by_metric(compare: Run) -> None:
    args = ("-m", "RR", "-m", "Success@1", "--margin", "rr=0.05", "--format", "json")
    rr, success = of_json(compare(*args).out)["results"]
    assert rr["margin"] == 0.05
    assert 0 <= rr["equivalence_p_value"] <= 1
    assert "margin" not in success


@pytest.mark.parametrize(("option", "column"), [("--margin=0.05", "equivalence_p_value"), ("--bayes", "chance_better")])
def test_csv_has_what_was_asked_for(compare: Run, option: str, column: str) -> None:
    assert column in compare("-m", "RR", option, "--format", "csv").out.splitlines()[0]


def test_slices_and_clusters(compare: Run) -> None:
    found = of_json(compare("-m", "RR", "--slices", "slices.csv", "--clusters", "users.csv", "--format", "json").out)
    assert [(row["attribute"], row["slice"], row["queries"]) for row in found["slices"]] == [
        ("lang", "de", 15), ("lang", "en", 15),
    ]  # fmt: skip
    assert found["conventions"]["clustered"] is True


def test_on_trec_covid(run: Run, shared_data: Callable[[str], Path]) -> None:
    """All 24 runs of the first round: table, verdict and top group."""
    runs = sorted(str(path) for path in shared_data("trec_covid/round1/runs").iterdir())
    qrels = str(shared_data("trec_covid/qrels.txt"))
    said = run("compare", qrels, *runs, "--baseline", "bm25_basline", "-m", "nDCG@10", "-q")
    assert said.code == 0
    assert said.err == ""
    text = " ".join(said.out.split())
    assert text.startswith("Of 23 runs compared with bm25_basline on nDCG@10: ")
    assert re.search(r"nDCG@10: run1,? .*are statistically tied for first", text)
    assert max(map(len, said.out.splitlines())) <= 80
    table = [line for line in said.out.partition("▲")[0].splitlines() if re.search(r" \d\.\d{4} ?", line)]
    values = [float(re.findall(r"\d\.\d{4}", line)[0]) for line in table]
    assert len(values) == 24
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(("alpha", "level", "share"), [("0.001", "99.9%", "0.1%"), ("0.025", "97.5%", "2.5%")])
def test_the_level_in_the_table(compare: Run, alpha: str, level: str, share: str) -> None:
    out = compare("-m", "RR", "--alpha", alpha).out
    assert f"{level} interval  " in out
    assert f"different from bm25 at {share} (" in out


def test_a_table_of_scores_given_alone_needs_no_option(run: Any, folder: Path) -> None:
    Path("scores.csv").write_text("a,b\n" + "".join(f"0.{i},0.{9 - i}\n" for i in range(1, 9)))
    said = run("compare", "scores.csv", "-m", "AP", "-q")
    assert said.code == 0
    assert said.out == run("compare", "--scores", "scores.csv", "-m", "AP", "-q").out
    assert run("compare", "qrels.txt", "-q").code == 2
