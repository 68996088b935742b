"""``rankscope gate``: what it prints, where it writes, its exit codes, its settings."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

QUERIES = [f"q{i:02}" for i in range(40)]


def placed(name: str, ranks: list[int]) -> str:
    lines = []
    for query, rank in zip(QUERIES, ranks, strict=True):
        docs = ["d1", "d2", "d3", "d4"]
        docs.insert(rank - 1, "good")
        lines += [f"{query} Q0 {doc} {i} {9 - i} {name}\n" for i, doc in enumerate(docs, start=1)]
    return "".join(lines)


@pytest.fixture(autouse=True)
def runs(folder: Path) -> None:
    Path("qrels.txt").write_text("".join(f"{query} 0 good 1\n" for query in QUERIES))
    Path("main.run").write_text(placed("main", [2] * 40))
    Path("worse.run").write_text(placed("worse", [1, 1] + [2] * 18 + [4] * 20))
    Path("better.run").write_text(placed("better", [1] * 20 + [2] * 20))
    Path("odd.run").write_text(placed("odd", [1] * 4 + [2] * 28 + [4] * 8))
    Path("few.run").write_text(placed("few", [1] * 3 + [2] * 36 + [4]))


@pytest.mark.parametrize(
    ("candidate", "code", "first"),
    [
        ("main.run", 0, " pass: nothing changed:"), ("better.run", 0, " pass: RR changed by +0.2500 (95% interval"),
        ("worse.run", 1, " FAIL: RR changed by −0.1000 (95% interval"), ("odd.run", 4, " cannot tell: RR changed by 0.0000"),
        ("few.run", 4, " cannot tell: RR: 4 of 40 queries differ, too few for an interval; ignoring"),
    ],
)  # fmt: skip
def test_the_answer_comes_first_and_the_exit_code_last(run: Any, candidate: str, code: int, first: str) -> None:
    said = run("gate", "qrels.txt", "main.run", candidate, "-m", "RR")
    assert said.code == code
    lines = said.out.splitlines()
    assert lines[0].startswith(first)
    assert lines[-1] == f" exit {code} (0 pass, 1 fail, 4 cannot tell)"
    assert all(len(line) <= 80 for line in lines)
    assert ("Clopper-Pearson" in " ".join(said.out.split())) == (candidate == "few.run")
    assert "-0.0000" not in said.out
    assert said.err.count("read ") == 3
    assert run("gate", "qrels.txt", "main.run", candidate, "-m", "RR", "-q").err == ""


def test_formats(run: Any) -> None:
    args = ("gate", "qrels.txt", "main.run", "worse.run", "-m", "RR P@10")
    document = json.loads(run(*args, "--format", "json").out)
    assert (document["schema"], document["status"], document["exit_code"]) == ("rankscope/gate/1", "fail", 1)
    assert [r["metric"] for r in document["results"]] == ["RR", "P@10"]
    rows = list(csv.DictReader(io.StringIO(run(*args, "--format", "csv").out)))
    assert [row["status"] for row in rows] == ["fail", "pass"]
    assert float(rows[0]["difference"]) == document["results"][0]["difference"] == pytest.approx(-0.1)
    lines = run(*args, "--format", "jsonl").out.splitlines()
    assert json.loads(lines[1])["method"] == "nothing changed"
    markdown = run(*args, "--format", "markdown").out
    assert markdown.startswith("### rankscope gate: fail (worse against main)\n")
    assert "| RR |" in markdown
    said = run(*args, "-o", "verdict.json")
    assert (said.code, said.out) == (1, "")
    assert "FAIL: 1 of 2 checks fails. RR changed by −0.1000" in said.err
    assert json.loads(Path("verdict.json").read_text()) == document


def test_junit(run: Any) -> None:
    Path("kinds.csv").write_text("query,kind\n" + "".join(f'{q},"a<b{i // 32}"\n' for i, q in enumerate(QUERIES)))
    said = run("gate", "qrels.txt", "main.run", "odd.run", "-m", "RR", "--slices", "kinds.csv", "--junit", "gate.xml")
    root = ET.parse("gate.xml").getroot()
    suite = root[0]
    assert {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3", "failures": "1", "errors": "0", "skipped": "2",
    }  # fmt: skip
    cases = {case.get("name"): case for case in suite}
    assert set(cases) == {"RR", "RR [kind=a<b0]", "RR [kind=a<b1]"}
    failure = cases["RR [kind=a<b1]"].find("failure")
    assert failure is not None
    assert "Holm-corrected for 2 checks" in str(failure.get("message"))
    skipped = cases["RR"].find("skipped")
    assert skipped is not None
    assert str(skipped.get("message")).startswith("cannot tell: RR ")
    assert "wrote gate.xml (JUnit XML)" in said.err
    assert said.code == 1


def test_the_summary_is_appended(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    args = ("gate", "qrels.txt", "main.run", "worse.run", "-m", "RR", "--github-summary")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    said = run(*args)
    assert said.code == 2
    assert "GITHUB_STEP_SUMMARY is not set" in said.err
    Path("summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert run(*args).code == 1
    text = Path("summary.md").read_text()
    assert text.startswith("before\n### rankscope gate: fail")
    assert "exit 1" in text


def test_a_stored_baseline(run: Any) -> None:
    run("evaluate", "qrels.txt", "main.run", "-m", "RR", "--per-query", "--format", "json", "-o", "baseline.json")
    said = run("gate", "qrels.txt", "baseline.json", "worse.run", "-m", "RR")
    assert said.code == 1
    assert "read baseline.json as a stored baseline: main, RR, by rankscope" in said.err
    assert run("gate", "qrels.txt", "before=baseline.json", "worse.run", "-m", "RR").out.count("before") == 1
    said = run("gate", "qrels.txt", "baseline.json", "worse.run", "-m", "RR", "--ties", "docid")
    assert said.code == 3
    assert said.err.splitlines()[-1].startswith("baseline.json cannot be the baseline here: ties was trec, now docid.")
    said = run("gate", "qrels.txt", "baseline.json", "worse.run")
    assert said.code == 2
    assert "has no nDCG@10, only RR" in said.err


def test_tolerances(run: Any) -> None:
    args = ("gate", "qrels.txt", "main.run", "odd.run", "-q", "--format", "json")
    out = json.loads(run(*args, "-m", "RR AP", "--tolerance", "0.3", "--tolerance", "AP=2%").out)
    assert [r["tolerance"] for r in out["results"]] == [0.3, 0.02 * 0.5]
    rbp = json.loads(run(*args, "-m", "RBP(p=0.8)", "--tolerance", "RBP(p=0.8)=0.2").out)
    assert rbp["results"][0]["tolerance"] == 0.2
    assert run(*args, "-m", "RR", "--tolerance", "0.3").code == 0
    assert run(*args, "-m", "RR", "--tolerance", "lots").code == 2
    assert run(*args, "-m", "RR", "--tolerance", "1", "--tolerance", "2").code == 2


@pytest.mark.parametrize("args", [(), ("qrels.txt", "main.run")])
def test_what_it_takes(run: Any, args: tuple[str, ...]) -> None:
    said = run("gate", *args)
    assert said.code == 2
    assert said.err.startswith(
        "a gate takes judgments and two runs: rankscope gate QRELS BASELINE CANDIDATE, like rankscope gate qrels.txt "
    )
    assert said.err.endswith(", or the log of an experiment: rankscope gate log.parquet\n")
    assert said.err.count("\n") == 1


def test_judgments_alone_are_no_log(run: Any) -> None:
    said = run("gate", "qrels.txt")
    assert said.code == 2
    assert said.err.startswith("a gate takes judgments and two runs, or the log of an experiment: qrels.txt: ")
    assert said.err.count("\n") == 1


def test_places_are_checked_first(run: Any) -> None:
    said = run("gate", "qrels.txt", "main.run", "worse.run", "--junit", "main.run")
    assert said.code == 2
    assert "is also an input" in said.err
    assert (
        "cannot hold both" in run("gate", "qrels.txt", "main.run", "worse.run", "--junit", "a.txt", "-o", "a.txt").err
    )
    assert run("gate", "qrels.txt", "main.run", "worse.run", "--junit", "no/such/gate.xml").code == 2
    assert run("gate", "qrels.txt", "main.run", "nothing.run").code == 2


@pytest.mark.parametrize("option", ["-o", "--junit"])
@pytest.mark.parametrize("read", ["slices", "clusters", "weights", "settings"])
def test_nothing_that_is_read_is_written_over(run: Any, option: str, read: str) -> None:
    text = "depth = 3\n" if read == "settings" else "query,of\n" + "".join(f"{q},{i}\n" for i, q in enumerate(QUERIES))
    Path("read.csv").write_text(text)
    args = ("gate", "qrels.txt", "main.run", "worse.run", "-m", "RR", option, "read.csv")
    said = run(*args, f"--{read}", "read.csv")
    assert (said.code, said.err) == (2, f"read.csv is also an input: name another file for {option}\n")
    Path("gate.toml").write_text(f'{read} = "read.csv"\n')
    if read != "settings":
        assert "read.csv is also an input" in run(*args, "--settings", "gate.toml").err
    assert Path("read.csv").read_text() == text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_baseline_through_a_pipe_is_read_in_full(run: Any) -> None:
    os.mkfifo("pipe.run")
    writer = threading.Thread(target=lambda: Path("pipe.run").write_text(Path("main.run").read_text()))
    writer.start()
    args = ("-m", "RR", "--format", "json")
    said = run("gate", "qrels.txt", "pipe.run", "worse.run", *args)
    writer.join(10)
    assert said.code == 1
    whole = json.loads(run("gate", "qrels.txt", "main.run", "worse.run", *args).out)
    assert json.loads(said.out)["results"][0]["baseline_value"] == whole["results"][0]["baseline_value"]
    assert f"{len(Path('main.run').read_text().splitlines())} rows" in said.err


def test_equal_losses_are_told_as_such(run: Any) -> None:
    Path("same.run").write_text(placed("same", [3] * 40))
    said = run("gate", "qrels.txt", "main.run", "same.run", "-m", "RR", "--tolerance", "0.4")
    text = " ".join(said.out.split())
    assert said.code == 0
    assert "all queries changed by the same amount" in text
    assert "fewer than 6" not in text
    Path("up.run").write_text(placed("up", [1] * 3 + [2] * 37))
    said = run("gate", "qrels.txt", "main.run", "up.run", "-m", "RR")
    assert "losses alone 0.0000" in said.out


# --- settings ---------------------------------------------------------------------------------------------


def test_settings_of_the_project_and_the_command_line_above_them(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pyproject.toml").write_text(
        '[tool.rankscope]\nmetrics = ["RR", "AP"]\ndepth = 3\nalpha = 0.1\n'
        '[tool.rankscope.gate]\nfail-on = "tolerance"\nslices = "kinds.csv"\n[tool.rankscope.gate.tolerance]\nRR = "2%"\n'
    )
    Path("kinds.csv").write_text("query,kind\n" + "".join(f"{q},k{i // 20}\n" for i, q in enumerate(QUERIES)))
    Path("below").mkdir()
    monkeypatch.chdir("below")
    args = ("gate", "../qrels.txt", "../main.run", "../worse.run", "--format", "json")
    said = run(*args)
    assert "settings: pyproject.toml [tool.rankscope]" in said.err
    out = json.loads(said.out)
    assert out["settings"] == "pyproject.toml [tool.rankscope]"
    assert (out["conventions"]["depth"], out["rule"]["alpha"], out["rule"]["fail_on"]) == (3, 0.1, "tolerance")
    assert [r["metric"] for r in out["results"]] == ["RR"] * 3 + ["AP"] * 3
    assert [r["tolerance"] for r in out["results"][:3]] == [0.01] * 3
    out = json.loads(run(*args, "-m", "RR", "--alpha", "0.05", "--depth", "10", "--tolerance", "0.5").out)
    assert (out["conventions"]["depth"], out["rule"]["alpha"]) == (10, 0.05)
    assert {r["tolerance"] for r in out["results"]} == {0.5}
    out = json.loads(run(*args, "-m", "RR", "--alpha", "0.05", "--fail-on", "loss").out)
    assert (out["rule"]["alpha"], out["rule"]["fail_on"]) == (0.05, "loss")


def test_settings_from_a_file(run: Any) -> None:
    args = ("gate", "qrels.txt", "main.run", "odd.run", "--format", "json", "--settings")
    Path("gate.toml").write_text('primary = "RR"\ntolerance = 0.3\n')
    said = run(*args, "gate.toml")
    assert "settings: gate.toml" in said.err
    assert [(r["metric"], r["tolerance"]) for r in json.loads(said.out)["results"]] == [("RR", 0.3)]
    Path("tool.toml").write_text('[tool.rankscope]\nprimary = "AP"\n')
    assert json.loads(run(*args, "tool.toml").out)["results"][0]["metric"] == "AP"
    said = run(*args, "nothing.toml")
    assert (said.code, said.err) == (
        2,
        "nothing.toml: cannot be read: No such file or directory; settings are a TOML file\n",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tolerence = 0.1", "no setting is called tolerence, did you mean tolerance?"), ("ties = 1", "ties is one of 'trec'"),
        ("alpha = true", "alpha = true: alpha is a number above 0 and below 0.5"), ("depth = 0", "depth is a whole number of at least 1"),
        ('tolerance = "2"', "tolerance is a number of at least 0 like 0.01, a percentage"), ("metrics = []", "metrics is a metric or a list"),
        ('fail_on = "x"', "fail_on is one of 'loss', 'tolerance'"), ("no_relevant = true", "no_relevant is one of"),
        ("gate = 3", "must be a table of settings"), ('"fail-on" = "loss"\nfail_on = "loss"', "fail_on is set twice"),
        ("[gate]\ncorrection = 'holm'", "gate does not use correction"), ("[compare]\ntolerance = 0.1", "compare does not use tolerance"),
        ("depth 3", "not TOML"), ("gates = 3", "did you mean gate?"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_right(run: Any, text: str, message: str) -> None:
    Path("gate.toml").write_text(text)
    said = run("gate", "qrels.txt", "main.run", "odd.run", "--settings", "gate.toml")
    assert said.code == 2
    assert message in said.err
    assert said.err.count("\n") == 1


def test_a_project_without_settings(run: Any) -> None:
    Path("pyproject.toml").write_text('[project]\nname = "x"\n')
    assert "settings" not in run("gate", "qrels.txt", "main.run", "main.run").err
    assert run("gate", "qrels.txt", "main.run", "main.run", "--settings", "pyproject.toml").code == 0


def test_tolerances_of_the_project_wait_for_their_metric(run: Any) -> None:
    Path("gate.toml").write_text("[tolerance]\nRR = 0.3\nAP = 0.2\n")
    args = ("gate", "qrels.txt", "main.run", "odd.run", "-m", "RR", "--format", "json")
    said = run(*args, "--settings", "gate.toml")
    assert [r["tolerance"] for r in json.loads(said.out)["results"]] == [0.3]
    said = run(*args, "--tolerance", "AP=0.2")
    assert (said.code, said.err.splitlines()[-1]) == (2, "tolerance of AP: the gate does not look at it, only at RR")
    said = run(*args, "--tolerance", "RR=0.2", "--tolerance", "mrr=0.3")
    assert said.code == 2
    assert "tolerance of mrr: RR has one already, as RR" in said.err
