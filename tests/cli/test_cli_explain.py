"""``rankscope explain`` on the command line."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from rankscope.cli import main

QRELS = "".join(f"q{q} 0 d{d} {(d * q) % 3}\n" for q in range(1, 9) for d in range(6))
ONE = "".join(f"q{q} Q0 d{d} 0 {10 - d} one\n" for q in range(1, 9) for d in range(8))
TWO = "".join(f"q{q} Q0 d{d} 0 {d if q % 2 else -d} two\n" for q in range(1, 9) for d in range(8))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("qrels.txt", QRELS), ("one.run", ONE), ("two.run", TWO)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["explain", *arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_one_ranking(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "qrels.txt", "one.run", "--query", "q1", "-m", "nDCG@3")
    assert code == 0
    assert out.splitlines()[0].startswith(" one, query q1: nDCG@3 = ")
    assert "Largest loss: rank 1" in out
    assert max(map(len, out.splitlines())) <= 80
    assert err.count("\n") == 2  # what was read


def test_json_adds_up(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for runs in (["one.run"], ["one.run", "two.run"], ["two.run", "one.run"]):
        for metric in ("nDCG@10", "AP", "RR", "Bpref", "SetP", "RBP", "yaap", "utility", "P@3"):
            code, out, _ = said(capsys, "qrels.txt", *runs, "--query", "q2", "-m", metric, "--format", "json", "-q")
            assert code == 0
            found = json.loads(out)
            assert found["schema"] == "rankscope/explain/1"
            assert math.fsum(row["adds"] for row in found["rows"]) == pytest.approx(found["value"], abs=1e-12)
            assert all({"rank", "doc_id", "grade", "factors", "adds"} <= set(row) for row in found["rows"])


def test_two_rankings_and_all_queries(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "qrels.txt", "one.run", "two.run", "--query", "q1", "-q")
    assert code == 0
    assert "query q1: nDCG@10 goes from" in out
    assert " rose from " in out
    code, out, _ = said(capsys, "qrels.txt", "one.run", "two.run", "-m", "nDCG@5", "-q")
    assert code == 0
    assert "difference by ranks" in out
    code, out, _ = said(capsys, "qrels.txt", "one.run", "two.run", "-m", "nDCG@5", "-q", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert rows[0]["ranks"] == "rank 1"


def test_one_run_over_all_queries(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "qrels.txt", "one.run", "-q")
    assert code == 0
    assert "one" in out.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["one.run", "--query", "q99"], 2, "not judged and not in the run"),
        (["one.run", "--query", "Q1"], 2, "did you mean q1?"),
        (["one.run", "--query", "q1", "-m", "AP", "-m", "RR"], 2, "2 metrics: name one"),
        (["one.run", "--query", "q1", "-m", "nDGC@10"], 2, "did you mean nDCG?"),
        (["one.run", "--query", "q1", "--ties", "expected"], 2, "one order"),
        (["one.run", "one=two.run", "x=two.run", "--query", "q1"], 2, "3 runs"),
        (["one.run", "two.run", "-m", "NumRel"], 2, "not a plain mean over queries"),
        ([], 2, "no run was given"),
    ],
)
def test_bad_input_is_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    got, out, err = said(capsys, "qrels.txt", *arguments, "-q")
    assert (got, out) == (code, "")
    assert words in err
    assert err.count("\n") == 1


def test_on_real_runs(shared_data: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared_data("trec_covid")
    code, out, _ = said(
        capsys, str(folder / "qrels.txt"), str(folder / "round1/runs/run1.gz"), "--query", "1", "-m", "nDCG@10", "--format", "json", "-q",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    assert len(found["rows"]) == 10
    assert math.fsum(row["adds"] for row in found["rows"]) == pytest.approx(found["value"], abs=1e-12)
