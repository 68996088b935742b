"""``rankscope check`` as it is typed: exit codes, formats, explanations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.made.files import some

Run = Callable[..., Any]
QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq2 0 b 0\n"
RUN = "q1 Q0 a 1 2 x\nq1 Q0 b 2 1 x\nq2 Q0 a 1 2 x\nq2 Q0 b 2 1 x\n"


@pytest.fixture
def check(run: Run) -> Run:
    """Runs the command on a run given as text."""

    def call(text: str, *options: str) -> Any:
        Path("qrels.txt").write_text(QRELS)
        Path("my.run").write_text(text)
        return run("check", "qrels.txt", "my.run", "-m", "P@2", *options)

    return call


def test_clean_data_exit_with_0(check: Run) -> None:
    result = check(RUN, "--ignore", "RS3")
    assert result.code == 0
    assert "Nothing found" in result.out
    assert "read " in result.err


def test_a_warning_exits_with_1(check: Run) -> None:
    bad = RUN.replace("q2 Q0 a 1 2 x\n", "q2 Q0 a\n")
    result = check(bad, "-q")
    assert result.code == 1
    assert "RS107  warning " in result.out
    assert "line 3" in result.out
    assert "next: rankscope check --explain RS107" in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    assert check(bad, "--exit-zero").code == 0
    assert check(bad, "--ignore", "RS107").code == 0
    assert check(bad, "--select", "RS2,RS101").code == 0


def test_information_exits_with_0(check: Run) -> None:
    result = check(RUN + "q3 Q0 a 1 1 x\n", "--select", "RS1")
    assert "RS102  info " in result.out
    assert "1 note" in result.out
    assert result.code == 0


def test_everything_that_evaluate_refuses_is_listed_at_once(check: Run) -> None:
    bad = RUN + "q1 Q0 a 3 1 x\nq1 Q0 c 4 nan x\nq2 Q0\n"
    said = json.loads(check(bad, "--format", "json").out)
    assert said["schema"] == "rankscope/check/1"
    codes = [finding["code"] for finding in said["warnings"]]
    assert {"RS104", "RS107", "RS108"} <= set(codes)
    counts = {rule["code"]: rule["findings"] for rule in said["results"]}
    assert counts["RS104"] == 1
    assert counts["RS101"] == 0
    for finding in said["warnings"]:
        assert {"code", "severity", "message", "hint", "run"} <= finding.keys()
    assert [len(given["sha256"]) for given in said["inputs"]] == [64, 64]


@pytest.mark.parametrize("form", ["jsonl", "csv", "markdown"])
def test_other_formats(check: Run, form: str) -> None:
    result = check("q1 Q0 a 1 2 x\n", "--format", form)
    assert result.code == 1
    assert "RS101" in result.out


def test_rules_that_lack_what_they_need_are_not_counted_as_applied(check: Run, tmp_path: Path) -> None:
    assert check(RUN, "-q", "--select", "RS206").out.strip() == "RS206 not applied: needs --docs-text"
    train = " ".join(check(RUN, "-q", "--select", "RS5").out.split())
    assert (
        train
        == "RS501, RS502, RS503, RS504, RS505, RS506 not applied: needs --train; RS507, RS508 not applied: needs --items"
    )
    other = " ".join(check(RUN, "-q", "--select", "RS404,RS408").out.split())
    assert "RS404 not applied: reported by rankscope compare --slices" in other
    assert "RS408 not applied: reported by rankscope power" in other
    assert "Nothing found: 1 rule applied." in check(RUN, "-q", "--select", "RS112,RS113").out
    assert "Nothing found: 2 rules applied." in check(RUN, "-q", "--select", "RS112,RS113", "--scale", "0-1").out
    said = json.loads(check(RUN, "--select", "RS112,RS113", "--format", "json").out)
    assert [rule["code"] for rule in said["results"]] == ["RS113"]
    assert said["not_applied"] == [{"code": "RS112", "reason": "needs --scale"}]
    texts = tmp_path / "texts.csv"
    texts.write_text("doc_id,text\na,one text\nb,another one\n")
    assert "1 rule applied" in check(RUN, "--select", "RS206", "--docs-text", str(texts)).out


def test_a_split_is_audited_without_runs(run: Run, tmp_path: Path) -> None:
    test, train = tmp_path / "test.csv", tmp_path / "train.csv"
    test.write_text("user_id,item_id,rating\nu1,a,1\nu2,b,1\n")
    train.write_text("user_id,item_id\nu1,a\nu2,c\n")
    for option in ("--train", "--history"):
        result = run("check", str(test), option, str(train), "--select", "RS5")
        assert result.code == 1
        said = " ".join(result.out.split())
        assert "1 of 2 relevant test items (50%) is in the training data of the same user" in said
        assert (
            "2 of 2 relevant test items (100%) cannot be hit (1 not in the training data, 1 already had by the user)"
            in said
        )


def test_a_rule_is_explained(run: Run) -> None:
    result = run("check", "--explain", "rs101")
    assert result.code == 0
    said = " ".join(result.out.split())
    for text in ("RS101 MissingQueries (warning)", "what", "why", "to do", "--queries both"):
        assert text in said
    assert max(map(len, result.out.splitlines())) <= 80


def test_a_rule_is_explained_as_json(run: Run) -> None:
    result = run("check", "--explain", "RS101", "--format", "json")
    (rule,) = json.loads(result.out)["results"]
    assert rule.keys() == {"code", "rule", "severity", "what", "why", "remedy"}


def test_an_unknown_rule_is_refused_with_the_nearest(run: Run) -> None:
    result = run("check", "--explain", "MissingQuery")
    assert result.code != 0
    assert "did you mean MissingQueries (RS101)?" in result.err


def test_all_rules_are_listed(run: Run) -> None:
    result = run("check", "--list")
    assert result.code == 0
    assert "RS101" in result.out
    assert "RS504" in result.out


def test_what_cannot_be_read_at_all_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    result = run("check", str(tmp_path / "qrels.txt"), str(tmp_path / "none.run"))
    assert "no such file" in result.err


def test_the_collection_that_ships_has_the_one_fault_that_it_tells_of(run: Run) -> None:
    demo = Path(__file__).resolve().parents[2] / "src" / "rankscope" / "demo"
    runs = [str(path) for path in some(demo.glob("*.run.gz"))]
    result = run(
        "check", str(demo / "qrels.txt"), *runs, "--format", "json", "--docs-text", str(demo / "docs.jsonl.gz")
    )
    found = json.loads(result.out)["warnings"]
    warned = [f["code"] for f in found if f["severity"] == "warning" and not f["code"].startswith("RS3")]
    assert warned == ["RS204"]  # half of what is shown there was never judged, as its README says
