"""``rankscope evaluate``: inputs, names, the table, mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

GIVEN = ("evaluate", "qrels.txt", "good.run", "poor.run")
DEFAULT = ["nDCG@10", "AP", "RR@10", "R@100", "P@10", "Judged@10"]


def row(out: Any, name: Any) -> Any:
    return next(line.split() for line in out.splitlines() if line.split()[:1] == [name])


def test_answer_first_then_doubt_then_conventions(run: Any) -> None:
    said = run(*GIVEN)
    assert said.code == 0
    answer, doubt, small, after = (said.out.index(part) for part in ("good", "▲", "ties:", "next:"))
    assert answer < doubt < small < after
    assert said.out.splitlines()[0].split() == ["good", "my_poor"]
    assert [line.split()[0] for line in said.out.splitlines()[1:7]] == DEFAULT
    assert [row(said.out, metric)[1] for metric in DEFAULT[:3]] == ["1.0000", "1.0000", "1.0000"]
    assert "2 judged queries" in said.out
    assert "my_poor has no ranking for 1 of 2 judged queries (q2)" in " ".join(said.out.split())


def test_notes_go_to_stderr_and_can_be_dropped(run: Any) -> None:
    assert re.match(r"read qrels.txt as TREC qrels: 5 judgments, 2 queries", run(*GIVEN).err)
    assert run(*GIVEN, "--quiet").err == ""


def test_conventions_tell_only_what_the_metrics_rest_on(run: Any) -> None:
    assert "gain" not in run(*GIVEN, "-m", "AP").out
    assert "relevant: grade" not in run(*GIVEN, "-m", "nDCG@10").out
    assert "linear gain by default" in run(*GIVEN, "-m", "nDCG@10 nDCG(gain='exponential')@10").out
    assert "top grade for ERR@5: 4" in run(*GIVEN, "-m", "ERR@5").out
    assert "rankings were cut after 3 documents" in run(*GIVEN, "--depth", "3").out


def test_metrics_repeated_or_in_one_string(run: Any) -> None:
    said = run(*GIVEN, "-m", "nDCG@5,10 RR", "-m", "P@1")
    assert [line.split()[0] for line in said.out.splitlines()[1:5]] == ["nDCG@5", "nDCG@10", "RR", "P@1"]


def test_a_run_may_be_named(run: Any) -> None:
    said = run("evaluate", "qrels.txt", "new=good.run", "poor.run", "-m", "RR")
    assert row(said.out, "new")[:2] == ["new", "1.0000"]
    assert row(said.out, "my_poor")


def test_a_file_with_an_equals_sign_is_a_file(run: Any) -> None:
    Path("a=good.run").write_bytes(Path("good.run").read_bytes())
    assert row(run("evaluate", "qrels.txt", "a=good.run", "-m", "RR").out, "good")


def test_standard_input(run: Any, monkeypatch: Any) -> None:
    with Path("good.run").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        said = run("evaluate", "qrels.txt", "mine=-", "-m", "RR", "--format", "json")
    assert '{"run": "mine", "metric": "RR", "asked": "RR", "value": 1.0, "queries": 2, "ci_lower": ' in said.out
    assert '{"path": "-", "sha256": ' in said.out


def test_undefined_is_a_dash_and_counted(run: Any) -> None:
    said = run("evaluate", "qrels.txt", "poor.run", "-m", "RR(not_found='skip')@1")
    assert row(said.out, "my_poor") == ["my_poor", "-"]
    assert "has no value for 2 queries: left out of its mean" in said.out
    assert "nan" not in said.out.lower()


def test_counts_have_no_decimals(run: Any) -> None:
    assert row(run(*GIVEN, "-m", "NumRet").out, "good") == ["good", "5"]


def test_per_query(run: Any) -> None:
    out = run(*GIVEN, "-m", "RR", "--per-query").out
    assert ["q1", "my_poor", "0.3333"] in [line.split() for line in out.splitlines()]
    alone = run("evaluate", "qrels.txt", "good.run", "-m", "RR", "--per-query").out
    assert ["q2", "1.0000"] in [line.split() for line in alone.splitlines()]


def test_the_queries_of_each_run_are_shown_where_they_differ(run: Any) -> None:
    out = run(*GIVEN, "-m", "RR", "--queries", "run").out
    assert (row(out, "good")[1], row(out, "good")[-1]) == ("1.0000", "2")
    assert row(out, "my_poor") == ["my_poor", "0.3333", "1"]


def test_many_runs_do_not_drown_the_answer(run: Any) -> None:
    text = Path("poor.run").read_text()
    for i in range(24):
        Path(f"r{i}.run").write_text(text.replace("my_poor", f"r{i}"))
    said = run("evaluate", "qrels.txt", *(f"r{i}.run" for i in range(24)))
    assert len(said.err.splitlines()) == 2
    assert "read 24 runs as TREC runs: 3 rows, 1 queries each" in said.err
    assert said.out.count("▲") <= 3
    assert "and 23 more like it" in " ".join(said.out.split())


def test_best_values_are_bold_on_a_terminal(run: Any, monkeypatch: Any) -> None:
    assert "\x1b" not in run(*GIVEN).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m1.0000 -" in run(*GIVEN).out
    assert "\x1b[1m" not in run("evaluate", "qrels.txt", "good.run").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(*GIVEN).out


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_tables_keep_to_the_width(run: Any, monkeypatch: Any, columns: Any) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    name = "a-very-long_name.of" * 5
    for extra in ([], ["-m", "official"], ["-m", "all_trec"], ["-m", "nDCG@10", "--per-query"]):
        out = run("evaluate", "qrels.txt", f"{name}=good.run", "poor.run", *extra).out
        assert max(map(len, out.splitlines())) <= columns


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        ([], 2, "no qrels and no run were given"),
        (["qrels.txt"], 2, "no run was given"),
        (["qrels.txt", "nope.run"], 2, "nope.run: no such file"),
        (["nope.txt", "good.run"], 2, "nope.txt: no such file"),
        (["qrels.txt", "."], 2, "these are TREC qrels"),
        (["good.run", "qrels.txt"], 2, "not qrels"),
        (["-", "-"], 2, "only once"),
        (["qrels.txt", "a=good.run", "a=poor.run"], 2, "another run is also called a"),
        (["qrels.txt", "=good.run"], 2, "name=path"),
        (["qrels.txt", "good.run", "-m", "nDGC@10"], 2, "did you mean nDCG?"),
        (["qrels.txt", "good.run", "-m", "P(level='x')@5"], 2, "level must be a number"),
        (["qrels.txt", "good.run", "-m", "R(foo=1)@5"], 2, "not foo"),
        (["qrels.txt", "good.run", "--depth", "0"], 2, "--depth"),
        (["qrels.txt", "good.run", "--ties", "trek"], 2, "'trec'"),
        (["qrels.txt", "good.run", "--formt", "csv"], 2, "--format"),
        (["qrels.txt", "good.run", "-o", "none/x.json"], 2, "there is no folder none"),
        (["qrels.txt", "good.run", "-o", "."], 2, "a folder"),
        (["qrels.txt", "good.run", "-o", "x.xlsx"], 2, "name one with --format"),
        (["qrels.txt", "other.run"], 3, "no query of other.run is judged"),
        (["qrels.txt", "twice.run"], 2, "--duplicates first or best"),
    ],
)
def test_mistakes_are_one_clear_line(run: Any, args: Any, code: Any, told: Any) -> None:
    Path("other.run").write_text("z Q0 d1 1 2 other\n")
    Path("twice.run").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n")
    said = run("evaluate", *args)
    assert (said.code, said.out) == (code, "")
    assert told in said.err
    assert len(said.err.splitlines()) == 1


def test_intervals_may_be_chosen(run: Any) -> None:
    Path("users.csv").write_text("query,user\nq1,u1\nq2,u2\n")
    out = run(*GIVEN, "-m", "RR", "--interval", "t", "--level", "0.8").out
    assert row(out, "my_poor")[1:] == ["0.1667", "-0.1667", "+0.5129"]  # 0.1667 · 3.0777, not below 0
    assert "no interval of RR (good): every query has the same value" in out
    assert "- and + are the two sides of the 80% t interval over queries\n" in out
    said = run(*GIVEN, "-m", "RR", "--interval", "bca(rounds=200)", "--clusters", "users.csv")
    assert "bca(rounds=200) interval over queries in clusters" in said.out
    told = json.loads(run(*GIVEN, "-m", "RR", "--clusters", "users.csv", "--format", "json").out)
    assert (told["conventions"]["clusters"], told["results"][1]["interval"]) == ("users.csv", "t")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--interval", "bcaa"], "interval 'bcaa': no interval is called bcaa, did you mean bca?"),
        (["--level", "95"], "--level 95.0: a level must be a number between 0.5 and 1, like 0.95"),
        (["--clusters", "nope.csv"], "nope.csv: "),
        (["--distribution", "--format", "csv"], "--distribution is written as table, json, markdown, latex, not as csv"),
    ],
)  # fmt: skip
def test_mistakes_about_intervals(run: Any, args: Any, told: Any) -> None:
    said = run(*GIVEN, *args)
    assert (said.code, said.out) == (2, "")
    assert told in said.err
    assert said.err.count("\n") == 1


def test_one_query_has_no_interval_and_the_reason(run: Any) -> None:
    Path("one.txt").write_text("q1 0 d1 1\n")
    out = run("evaluate", "one.txt", "good.run", "-m", "RR AP").out
    assert "no interval: fewer than 2 queries" in out
    assert "±" not in out


def test_distribution(run: Any) -> None:
    out = run(*GIVEN, "-m", "RR P@1", "--distribution").out
    tables = out[out.index("values of the queries") :].splitlines()
    assert tables[1].split() == ["RR", "min", "q05", "q25", "median", "q75", "q95", "max", "zeros"]
    # q1 finds d3 at rank 3, q2 nothing: 0 and 0.3333
    assert tables[3].split() == ["my_poor", "0.0000", "0.0167", "0.0833", "0.1667", "0.2500", "0.3167", "0.3333", "1"]
    ranks = [line.split() for line in tables[tables.index(next(t for t in tables if "rank of their" in t)) + 1 :]]
    assert ["1", "2", "0"] in ranks
    assert ["3", "0", "1"] in ranks
    assert ["none", "0", "1"] in ranks
    told = json.loads(run(*GIVEN, "-m", "RR", "--distribution", "--format", "json").out)
    assert told["distribution"][0]["median"] == 1.0
    assert {"run": "my_poor", "rank": "3", "queries": 1} in told["first_relevant"]
    alone = run("evaluate", "qrels.txt", "good.run", "-m", "RR P@1", "--distribution", "--format", "markdown").out
    assert "| metric | min |" in alone


@pytest.mark.parametrize("line", ["qrels.txt good.run -m nDCG@10 AP", "-m nDCG@10 AP qrels.txt good.run"])
def test_a_metric_among_the_files_is_explained(run: Any, line: str) -> None:
    found = run("evaluate", *line.split())
    assert (found.code, found.out) == (2, "")
    assert found.err == "no file called AP: -m takes one argument, write -m 'nDCG@10 AP'\n"


def test_metrics_parted_by_commas(run: Any) -> None:
    commas, blanks = (
        run("evaluate", "qrels.txt", "good.run", "-m", text, "--format", "csv", "-q")
        for text in ("nDCG@5,10,AP", "nDCG@5,10 AP")
    )
    assert commas.out == blanks.out
    assert commas.out.count("\n") == 4
