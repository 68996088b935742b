"""The fuzzer itself: its inputs can be made again, it finds what is planted, and goes on where it was stopped."""

from __future__ import annotations

import ast
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fuzzing import campaign, checks, inputs
from fuzzing.campaign import BLOCK, Campaign, Example, Tried
from fuzzing.known import known
from fuzzing.results import summary
from tests.reference import formulas
from tests.reference.readers import Refused, Row, Rows

SEED = 16


def test_nothing_new_in_some_hundred_inputs(tmp_path: Path) -> None:
    tried = campaign.try_block(SEED, 0, tmp_path, SimpleNamespace(value=0))
    assert tried.inputs == BLOCK
    assert {signature: example.data for signature, example in tried.new().items()} == {}
    told: Counter[str] = Counter()
    for outcome, count in tried.outcomes.items():
        told[outcome.partition(" | ")[2]] += count
    assert min(told["read by both"], told["refused by both"]) > BLOCK / 10
    assert told["open"] < BLOCK / 2


def test_an_input_is_made_again_from_its_number() -> None:
    made = [inputs.made(SEED, number) for number in range(60)]
    assert [given.file for given in made] == [inputs.made(SEED, number).file for number in range(60)]
    assert len({given.file for given in made}) > 50
    assert {given.what for given in made} > {"run", "qrels"}


@pytest.mark.parametrize("form", [pytest.param(form, id=form[2]) for form in inputs.FORMS])
def test_what_is_not_changed_is_read_by_both_or_left_open(form: Any, tmp_path: Path) -> None:
    from random import Random

    what, kind, title, name = form
    for number in range(8):
        given = inputs.Input(what, kind, title, name, inputs.FORMS[form](Random(number)))
        outcome, findings = checks.check(given, tmp_path, checks.SCORED * number)
        assert findings == []
        assert outcome in {"read by both", "open"}


def planted(monkeypatch: pytest.MonkeyPatch, due: Any, tmp_path: Path, data: bytes = b"q Q0 d 1 2 t\n") -> list[str]:
    monkeypatch.setattr(checks, "due_of", lambda given: due)
    given = inputs.Input("run", "trec", "TREC run", "a.run", data)
    return [found.kind for found in checks.check(given, tmp_path, 1)[1]]


def test_what_is_planted_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    row = Row("q", "d", 2.0, 1)
    assert planted(monkeypatch, Rows([row], True), tmp_path) == []
    assert planted(monkeypatch, Rows([row._replace(value=3.0)], True), tmp_path) == ["another table"]
    assert planted(monkeypatch, Rows([row._replace(rank=2)], True), tmp_path) == ["another table"]
    assert planted(monkeypatch, Refused("for a test"), tmp_path) == ["read, though it must be refused"]
    assert planted(monkeypatch, Rows([row], True), tmp_path, b"q Q0 d 1 x t\n") == ["refused, though it is sound"]
    assert planted(monkeypatch, Refused("for a test", 7), tmp_path, b"q Q0 d 1 2 t\nq Q0 d 1\n") == ["another line"]


def test_wrong_numbers_crashes_and_slow_inputs_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = inputs.Input("run", "trec", "TREC run", "a.run", b"q Q0 d 1 2 t\nq Q0 e 2 1 t\n")
    due = checks.due_of(given)
    assert isinstance(due, Rows)
    path = tmp_path / given.name
    path.write_bytes(given.file)
    assert checks.evaluated(given, path, due, 1) == []
    monkeypatch.setitem(formulas.FORMULAS, "P@3", lambda *_: 0.123)
    assert [found.kind for found in checks.evaluated(given, path, due, 1)] == ["another value of P@3"]

    def broken(path: str, what: str) -> Any:
        raise KeyError(path)

    monkeypatch.setattr(checks, "read_file", broken)
    monkeypatch.setattr(checks, "SLOW", -1)
    outcome, findings = checks.check(given, tmp_path, 1)
    assert outcome == "crash"
    assert [found.kind for found in findings] == ["crash", "slow"]


def test_a_campaign_goes_on_where_it_was_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(campaign, "BLOCK", 20)
    at = SimpleNamespace(value=0)
    whole = Campaign(tmp_path / "whole.json", SEED, 1)
    for block in range(3):
        whole._count(block, campaign.try_block(SEED, block, tmp_path, at))
    halves = Campaign.at(tmp_path / "halves.json", SEED, 1)
    halves._count(0, campaign.try_block(SEED, 0, tmp_path, at))
    halves._count(2, campaign.try_block(SEED, 2, tmp_path, at))
    halves.keep()
    again = Campaign.at(tmp_path / "halves.json", SEED, 1)
    assert next(again._blocks(None)) == 1
    again._count(1, campaign.try_block(SEED, 1, tmp_path, at))
    assert (again.done, again.beyond, again.tried.inputs) == (3, set(), 60)
    assert again.tried.outcomes == whole.tried.outcomes
    assert Campaign.at(tmp_path / "halves.json", SEED + 1, 1).done == 0


def test_a_worker_that_ends_tells_on_which_input(tmp_path: Path) -> None:
    told = Campaign(tmp_path / "kept.json", SEED, 1)
    worker = campaign.Worker(SEED)
    worker.give(0)
    while worker.current.value < 3:
        assert worker.process.is_alive()
    worker.process.kill()
    worker.process.join()
    at = worker.current.value
    new = told._replaced(worker, "abort")
    try:
        assert (new.block, *new.without) == (0, at)
        (found,) = told.tried.findings.values()
        assert (found.kind, found.number, told.tried.inputs) == ("abort", at, 1)
        while not new.pipe.poll(1):
            assert new.process.is_alive()
        block, tried = new.pipe.recv()
        assert (block, tried.inputs) == (0, BLOCK - 1)
    finally:
        new.end()


def test_the_smallest_input_of_a_finding_is_kept() -> None:
    def found(data: str, number: int) -> Tried:
        return Tried(1, findings={"x": Example("crash", "TREC run", "a.run", data, "said", "due", number)})

    tried = Tried()
    for one in (found("aaaa", 1), found("aa", 2), found("aaa", 3)):
        tried.add(one)
    assert (tried.findings["x"].data, tried.findings["x"].count, tried.findings["x"].number) == ("aa", 3, 2)
    assert Tried.of_json(json.loads(json.dumps(tried.as_json()))) == tried
    assert known("x") == ""


def test_findings_that_are_cured_are_counted_as_such(tmp_path: Path) -> None:
    sound = next(
        number for number in range(100) if not checks.check(inputs.made(1, number), tmp_path, number, Counter())[1]
    )
    finding = Example("another line", "TSV run", "a.tsv", "aa", "said", "due", sound, count=3)
    tried = Tried(9, findings={"x": finding, "y": replace(finding, kind="abort")})
    tried.try_again(1, tmp_path)
    assert tried.cured == {"another line, TSV run": 3, "abort, TSV run": 3}
    assert tried.findings == {}


def test_the_summary_counts_every_input() -> None:
    tried = Tried(5, outcomes=Counter({"TREC run | read by both": 3, "TREC run | open": 1, "JSON qrels | crash": 1}))
    told = summary(tried)
    assert told["forms"]["TREC run"] == {"inputs": 4, "read": 3, "refused": 0, "open": 1}
    assert sum(form["inputs"] for form in told["forms"].values()) == told["inputs"] == 5


def test_the_reference_shares_no_code_with_what_it_checks() -> None:
    folder = Path(__file__).parent
    for module in ("readers.py", "formulas.py", "online.py"):
        tree = ast.parse((folder / module).read_text(encoding="utf-8"))
        names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not {name for name in names if name.split(".")[0] in {"rankscope", "polars", "numpy", "fuzzing"}}
