"""``rankscope ties``, ``rankscope reconcile`` and the policies of ``evaluate``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """One of five relevant documents returned, by two systems; and a run of equal scores."""
    texts = {
        "qrels": "".join(f"q1 0 {doc} 1\n" for doc in "abcde") + "q2 0 a 1\n",
        "one": "q1 Q0 a 1 1.0 one\nq2 Q0 a 1 1.0 one\n",
        "five": "".join(f"q1 Q0 {doc} {i} {9 - i} five\n" for i, doc in enumerate("xyabc", 1)) + "q2 Q0 a 1 1 five\n",
        "tied": "".join(f"q1 Q0 {doc} 1 1.0 tied\n" for doc in "axyz") + "q2 Q0 a 1 1 tied\n",
        "weights": "q1,3\nq2,1\n",
        "list": "# one a line\nq2\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts}


def test_mlflow_is_explained(run: Any, files: dict[str, str]) -> None:
    said = run("reconcile", files["qrels"], files["one"], "-m", "nDCG@10", "--value", "1.0")
    assert said.code == 0
    first = said.out.splitlines()[0]
    assert first.startswith(" 1.0 is printed by ")
    assert "mlflow" in " ".join(said.out.split()[:60])
    assert "ideal cut at the number of documents returned" in " ".join(said.out.split())
    assert max(map(len, said.out.splitlines())) <= 80


def test_the_winner_may_depend_on_the_convention(run: Any, files: dict[str, str]) -> None:
    said = run("reconcile", files["qrels"], files["one"], files["five"], "-m", "nDCG@10", "--format", "json")
    found = json.loads(said.out)
    assert found["schema"] == "rankscope/reconcile/1"
    winners = {name: won["run"] for won in found["metrics"][0]["winners"] for name in won["dialects"]}
    assert winners["rankscope"] == "five"
    assert winners["mlflow"] == "one"
    by_tool = {(r["dialect"], r["run"]): r for r in found["results"]}
    assert by_tool["trec_eval", "one"]["same"]
    assert not by_tool["mlflow", "one"]["same"]
    text = run("reconcile", files["qrels"], files["one"], files["five"]).out
    assert "The choice of convention changes which run is best" in " ".join(text.split())


def test_a_number_that_nobody_prints(run: Any, files: dict[str, str]) -> None:
    said = run("reconcile", files["qrels"], files["one"], "--value", "0.123")
    assert said.code == 0
    assert "No known convention gives 0.123" in said.out


def test_several_metrics_and_formats(run: Any, files: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "found.csv"
    assert run("reconcile", files["qrels"], files["one"], "-m", "P@1", "-m", "AP@10", "-o", str(out)).code == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert {row["asked"] for row in rows} == {"P@1", "AP@10"}
    assert {row["dialect"] for row in rows} >= {"rankscope", "trec_eval"}
    assert "| value |" in run("reconcile", files["qrels"], files["one"], "--format", "markdown").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--value", "high"], "give the printed number"),
        (["-m", "nDGC@10"], "did you mean nDCG"),
        (["-m", "nDCG@5,10"], "names 2 metrics, but only one fits here"),
        (["-o", "found.tex"], "not as latex"),
    ],
)
def test_reconcile_typed_in_wrong(run: Any, files: dict[str, str], arguments: list[str], said: str) -> None:
    found = run("reconcile", files["qrels"], files["one"], *arguments)
    assert found.code == 2
    assert said in found.err
    assert "Traceback" not in found.err


def test_ties_are_reported(run: Any, files: dict[str, str]) -> None:
    said = run("ties", files["qrels"], files["tied"], "-m", "RR P@2")
    assert said.code == 0
    text = " ".join(said.out.split())
    assert (
        "Equal scores matter: depending on their order, RR is between 0.6250 and 1.0000" in text
    )  # 1/4 or 1 in q1, 1 in q2
    found = json.loads(run("ties", files["qrels"], files["tied"], "-m", "RR", "--format", "json").out)
    (row,) = found["results"]
    assert row["worst"] == (1 / 4 + 1) / 2
    assert row["best"] == 1.0
    assert row["expected"] == pytest.approx(((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4 + 1) / 2)
    assert row["queries_that_move"] == 1
    assert row["tied_in_top"] == 4 / 5


def test_no_ties(run: Any, files: dict[str, str]) -> None:
    assert "Equal scores do not matter here" in run("ties", files["qrels"], files["five"]).out


def test_policies_of_evaluate(run: Any, files: dict[str, str]) -> None:
    def value(*arguments: str) -> float:
        said = run("evaluate", files["qrels"], files["tied"], "-m", "RR", "--format", "json", *arguments)
        assert said.code == 0, said.err
        return float(json.loads(said.out)["results"][0]["value"])

    assert value("--ties", "worst") == (1 / 4 + 1) / 2
    assert value("--ties", "best", "--weights", files["weights"]) == 1.0
    assert value("--ties", "worst", "--weights", files["weights"]) == (3 / 4 + 1) / 4
    assert value("--queries", "@" + files["list"]) == 1.0
    assert value("--no-relevant", "1", "--queries", "either") == value()


def test_conventions_are_told(run: Any, files: dict[str, str]) -> None:
    said = run("evaluate", files["qrels"], files["one"], "-m", "nDCG@10", "--dialect", "mlflow", "--format", "json")
    found = json.loads(said.out)
    assert found["conventions"]["dialect"] == "mlflow"
    assert found["results"][0]["asked"] == "nDCG@10"
    assert found["results"][0]["metric"].startswith("nDCG(")
    text = run(
        "evaluate",
        files["qrels"],
        files["one"],
        "--no-relevant",
        "skip",
        "--mean",
        "micro",
        "--weights",
        files["weights"],
    ).out
    text = " ".join(text.split())
    for part in ("queries without a relevant document were left out", "micro means", "queries were weighted by"):
        assert part in text


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--ties", "best", "-m", "Judged@10"], "no better direction", 2),
        (["--dialect", "mlfow"], "did you mean mlflow", 2),
        (["--queries", "@nowhere"], "one query id per line", 2),
        (["--queries", "q9"], "queries is one of", 2),
        (["--weights", "nowhere"], "no such file", 2),
        (["-m", "alpha_nDCG@10"], "names no subtopics", 2),
        (["-m", "INST(T=2)"], "needs max_grade", 2),
        (["-m", "ERR(max_grade=0.5)"], "above max_grade=0.5", 2),
    ],
)
def test_policies_typed_in_wrong(run: Any, files: dict[str, str], arguments: list[str], said: str, code: int) -> None:
    found = run("evaluate", files["qrels"], files["one"], *arguments)
    assert (found.code, said in found.err) == (code, True), found.err
    assert "Traceback" not in found.err


def test_relstring(run: Any, files: dict[str, str]) -> None:
    said = run(
        "evaluate", files["qrels"], files["five"], "-m", "P@5 relstring.5", "--per-query", "--format", "trec", "-q"
    )
    assert "relstring_5           \tq1\t'--111'" in said.out.splitlines()
    said = run(
        "evaluate", files["qrels"], files["five"], "-m", "P@5 relstring", "--per-query", "--format", "json", "-q"
    )
    assert json.loads(said.out)["facts"][0] == {"run": "five", "query_id": "q1", "runid": "five", "relstring": "--111"}
