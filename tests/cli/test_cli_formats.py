"""What other programs read: every format, and files."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from rankscope import __version__
from rankscope.files import read_qrels

Z = 1.959963984540054
GIVEN = ("evaluate", "qrels.txt", "good.run", "poor.run", "-m", "nDCG@10 NumRet RR(not_found='skip')@1")


def test_the_json_envelope_is_exact(run: Any) -> None:
    told = json.loads(run(*GIVEN, "--format", "json").out)
    assert set(told) == {
        "schema", "rankscope", "conventions", "inputs", "judgments", "data_health", "results", "per_query", "warnings",
    }  # fmt: skip
    assert (told["schema"], told["rankscope"]) == ("rankscope/evaluate/1", __version__)
    digest = hashlib.sha256(Path("qrels.txt").read_bytes()).hexdigest()
    assert told["inputs"][0] == {"path": "qrels.txt", "sha256": digest}
    assert [entry["path"] for entry in told["inputs"]] == ["qrels.txt", "good.run", "poor.run"]
    assert told["judgments"] == {"content_sha256": read_qrels("qrels.txt").content_sha256}
    assert list(told["data_health"]) == ["good", "my_poor"]
    assert told["results"][0] == {
        "run": "good",
        "metric": "nDCG@10",
        "asked": "nDCG@10",
        "value": 1.0,
        "queries": 2,
        "ci_lower": pytest.approx(2 / (2 + Z**2)),  # Wilson's where all succeed: n / (n + z²)
        "ci_upper": 1.0,
        "interval": "wilson",
    }
    assert told["results"][1] == {
        "run": "good",
        "metric": "NumRet",
        "asked": "NumRet",
        "value": 5.0,
        "queries": 2,
        "ci_lower": None,
        "ci_upper": None,
        "interval": "none",
        "interval_reason": "a total, not a mean",
    }
    assert told["results"][-1]["value"] is None
    assert told["results"][-1]["undefined"] == 2
    assert told["per_query"] == []
    assert all(list(w) == ["code", "message", "hint"] for w in told["warnings"])
    assert told["conventions"]["ties"] == "trec"
    assert (told["conventions"]["interval"], told["conventions"]["level"]) == ("t; wilson for scores of 0 and 1", 0.95)


def test_json_keeps_what_was_asked_and_says_the_canonical_name(run: Any) -> None:
    told = json.loads(run(*GIVEN[:4], "-m", "ndcg_cut_10", "--format", "json").out)
    assert (told["results"][0]["asked"], told["results"][0]["metric"]) == ("ndcg_cut_10", "nDCG@10")


def test_json_per_query(run: Any) -> None:
    said = run(*GIVEN, "--format", "json", "--per-query")
    told = json.loads(said.out)
    assert told["per_query"][0] == {"run": "good", "query_id": "q1", "metric": "nDCG@10", "value": 1.0}
    assert len(told["per_query"]) == 2 * 2 * 3
    assert "NaN" not in said.out
    assert said.out.endswith("}\n")


def test_json_is_utf8(run: Any) -> None:
    said = run("evaluate", "qrels.txt", "größe=good.run", "-m", "RR", "--format", "json")
    assert '"run": "größe"' in said.out


def test_jsonl(run: Any) -> None:
    rows = [json.loads(line) for line in run(*GIVEN, "--format", "jsonl").out.splitlines()]
    assert len(rows) == 6
    assert rows[0]["run"] == "good"
    queries = [json.loads(line) for line in run(*GIVEN, "--format", "jsonl", "--per-query").out.splitlines()]
    assert list(queries[0]) == ["run", "query_id", "metric", "value"]


def test_csv_keeps_every_digit(run: Any) -> None:
    out = run(*GIVEN, "--format", "csv").out
    header, *rows = csv.reader(io.StringIO(out))
    assert header == ["run", "metric", "value", "queries", "undefined", "ci_lower", "ci_upper", "interval"]
    assert rows[-1] == ["my_poor", "RR(not_found='skip')@1", "", "0", "2", "", "", "none"]
    told = json.loads(run(*GIVEN, "--format", "json").out)
    assert [float(row[2]) for row in rows if row[2]] == [r["value"] for r in told["results"] if r["value"] is not None]
    header, *rows = csv.reader(io.StringIO(run(*GIVEN, "--format", "csv", "--per-query").out))
    assert header == ["run", "query_id", "metric", "value"]
    assert rows[0] == ["good", "q1", "nDCG@10", "1.0"]


def test_markdown(run: Any) -> None:
    lines = run(*GIVEN, "--format", "markdown").out.splitlines()
    assert lines[0] == "| run | nDCG@10 | NumRet | RR(not\\_found='skip')@1 |"
    assert lines[1] == "| --- | ---: | ---: | ---: |"
    assert lines[2].startswith("| good | **1.0000 -0.6576 +0.0000** | 5 |")  # 1 - 2 / (2 + 1.96²)
    assert lines[3].startswith("| my\\_poor |")
    assert "ties: score" in lines[-1]


def test_latex(run: Any) -> None:
    out = run(*GIVEN, "--format", "latex").out
    assert out.startswith("% needs \\usepackage{booktabs}")
    assert "my\\_poor & " in out
    assert "1.0000" in out
    assert "2 judged queries" in out


def test_trec_prints_as_trec_eval_does(run: Any) -> None:
    out = run(
        "evaluate",
        "qrels.txt",
        "good.run",
        "-m",
        "num_q num_ret ndcg_cut_10 gm_map ERR@5",
        "--format",
        "trec",
        "--per-query",
    ).out
    assert out.splitlines() == [
        "num_ret               \tq1\t3",
        "ndcg_cut_10           \tq1\t1.0000",
        "ERR@5                 \tq1\t0.2129",
        "num_ret               \tq2\t2",
        "ndcg_cut_10           \tq2\t1.0000",
        "ERR@5                 \tq2\t0.0625",
        "runid                 \tall\tgood",
        "num_q                 \tall\t2",
        "num_ret               \tall\t5",
        "ndcg_cut_10           \tall\t1.0000",
        "gm_map                \tall\t1.0000",
        "ERR@5                 \tall\t0.1377",
    ]


def test_trec_of_several_runs_is_a_block_each(run: Any) -> None:
    lines = run(*GIVEN[:4], "-m", "RR", "--format", "trec").out.splitlines()
    assert [line.split("\t")[2] for line in lines] == ["good", "1.0000", "my_poor", "0.1667"]


def test_a_value_that_depends_on_the_version_of_trec_eval_has_a_note(run: Any) -> None:
    assert "rounded as trec_eval 10 does" in run(*GIVEN, "-m", "official", "--format", "trec").err
    assert "rounded" not in run(*GIVEN, "-m", "IPrec(compat=9)@0.5", "--format", "trec").err
    assert "rounded" not in run(*GIVEN, "-m", "official", "--format", "trec", "-q").err


def test_warnings_of_formats_without_them_go_to_stderr(run: Any) -> None:
    assert "warning RS101: my_poor" in run(*GIVEN, "--format", "csv").err
    assert "RS101" not in run(*GIVEN, "--format", "json").err
    assert run(*GIVEN, "--format", "csv", "-q").err == ""


@pytest.mark.parametrize(
    ("name", "form", "sign"),
    [("x.json", "json", "{"), ("x.jsonl", "jsonl", "{"), ("x.csv", "csv", "run,"), ("x.md", "markdown", "| run"), ("x.tex", "latex", "% needs"), ("x.txt", "table", " run")],
)  # fmt: skip
def test_the_ending_of_a_file_tells_the_format(run: Any, name: Any, form: Any, sign: Any) -> None:
    said = run(*GIVEN, "-o", name)
    assert said.out == ""
    assert said.err.splitlines()[-1] == f"wrote {name} ({form})"
    assert Path(name).read_text(encoding="utf-8").startswith(sign)
    assert sorted(path.name for path in Path().iterdir()) == sorted(["good.run", "poor.run", "qrels.txt", name])


def test_format_overrules_the_ending(run: Any) -> None:
    run(*GIVEN, "-o", "x.txt", "--format", "csv")
    assert Path("x.txt").read_text().startswith("run,")


def test_a_file_that_was_there_stays_until_the_new_one_is_whole(run: Any) -> None:
    Path("x.csv").write_text("old")
    Path("x.csv").chmod(0o640)
    assert run("evaluate", "qrels.txt", "nope.run", "-o", "x.csv").code == 2
    assert Path("x.csv").read_text() == "old"
    assert run(*GIVEN, "-o", "x.csv").code == 0
    assert Path("x.csv").read_text().startswith("run,")
    assert stat.S_IMODE(Path("x.csv").stat().st_mode) == 0o640


@pytest.mark.parametrize("out", ["qrels.txt", "./good.run", "link.csv"])
def test_an_input_is_never_overwritten(run: Any, out: Any) -> None:
    Path("link.csv").symlink_to("good.run")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    said = run("evaluate", "qrels.txt", "poor.run", "a=good.run", "-o", out)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"{out} is also an input: name another file for -o\n"
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_pages_with_every_query_have_the_means_and_the_run(run: Any) -> None:
    alone = run("evaluate", "qrels.txt", "good.run", "-m", "RR", "--per-query", "--format", "markdown").out
    assert alone.startswith("### good: each query\n\n| query | RR |")
    assert "\n### all queries\n\n| run | RR |\n| --- | ---: |\n| good | 1.0000 -0.6576 +0.0000 |\n" in alone
    several = run(*GIVEN[:4], "-m", "RR", "--per-query", "--format", "latex").out
    assert several.startswith("% needs")
    assert (several.count("\\begin{tabular}"), several.count("\\begin{longtable}")) == (1, 1)


def test_no_file_has_colours(run: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    run(*GIVEN, "-o", "x.txt")
    assert "\x1b" not in Path("x.txt").read_text(encoding="utf-8")
