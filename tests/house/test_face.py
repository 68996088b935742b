"""What Python callers meet: names, stars, messages in their words, short tracebacks."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope import words
from rankscope.cli import main
from rankscope.errors import RankscopeError

QRELS = {"q1": {"a": 1, "b": 0}}
RUN = {"q1": {"a": 1.0, "b": 2.0}}


def test_a_star_brings_verbs_and_metrics() -> None:
    names: dict[str, Any] = {}
    exec("from rankscope import *", names)
    assert {"evaluate", "compare", "gate", "read_run", "write_run", "nDCG", "AP", "Qrels"} <= names.keys()
    assert not {"annotations", "TYPE_CHECKING", "files", "cli"} & names.keys()
    assert all(getattr(rs, name) is names[name] for name in dir(rs) if not name.startswith("_"))


def test_a_name_that_is_nearly_there() -> None:
    with pytest.raises(AttributeError, match=r"module 'rankscope' has no attribute 'nDGC', did you mean nDCG\?"):
        _ = rs.nDGC
    with pytest.raises(AttributeError, match=r"has no attribute 'wholly_other'$"):
        _ = rs.wholly_other


CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "a document twice": (
        lambda: rs.evaluate(QRELS, rs.read_run(RUN).frame[[0, 1, 0]], "AP"),
        'remove one, or choose duplicates="first" or "best"',
    ),
    "a level": (
        lambda: rs.evaluate(QRELS, RUN, "AP", level=95),
        "level=95: a level must be a number between 0.5 and 1",
    ),
    "no judgment": (
        lambda: rs.explain(QRELS, {"q2": {"a": 1.0}, **RUN}, "AP", query="q2"),
        'queries="run" scores them',
    ),
    "a tolerance": (lambda: rs.gate(QRELS, RUN, RUN, "DCG@10"), "like tolerance='DCG@10=2%'"),
}


@pytest.mark.parametrize("case", CALLS)
def test_python_reads_keywords(case: str) -> None:
    call, said = CALLS[case]
    with pytest.raises(RankscopeError) as caught:
        call()
    assert said in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("evaluate qrels.txt a.run --level 95", "--level 95.0: a level must be a number between 0.5 and 1, like 0.95"),
        ("compare qrels.txt a.run b.run --alpha 7", "--alpha 7.0: alpha is a share above 0"),
        ("evaluate qrels.txt twice.run", "remove one, or choose --duplicates first or best"),
        ("evaluate qrels.txt a.run -m AUC(pooled=True) --mean micro", "--mean micro: AUC(pooled=True) has a mean of its own (pooled); leave it out, or use --mean macro"),
        ("explain qrels.txt a.run --query q1 -m RBP(p=3)", "metric 'RBP(p=3)': RBP(p=3): p must be from 0 to 1"),
    ],
)  # fmt: skip
def test_the_command_line_reads_options(
    line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\n")
    for name, text in (
        ("a.run", "q1 Q0 a 1 1 x\n"),
        ("b.run", "q1 Q0 b 1 1 y\n"),
        ("twice.run", "q1 Q0 a 1 2 x\nq1 Q0 a 2 1 x\n"),
    ):
        Path(name).write_text(text)
    assert main([*line.split(), "-q"]) == 2
    assert said in capsys.readouterr().err
    assert words.MESSAGE_STYLE == {"options": False}  # Python's own calls go on in its words


@pytest.mark.parametrize(
    "call",
    [lambda: rs.evaluate("no such file", RUN), lambda: rs.evaluate(QRELS, {"q1": {2.5: 1.0}}), lambda: rs.parse("P@"),
     lambda: rs.evaluate(QRELS, RUN).save("no/such/folder/a.json")],
    ids=["no file", "an odd id", "no metric", "no folder"],
)  # fmt: skip
def test_a_traceback_is_of_one_error(call: Callable[[], Any]) -> None:
    with pytest.raises(RankscopeError) as caught:
        call()
    told = "".join(traceback.format_exception(caught.value))
    assert told.count("Traceback") == 1


def test_what_only_the_command_line_had(tmp_path: Path) -> None:
    assert rs.demo()["bm25", "AP"] == rs.demo().board[1].value
    assert [row["code"] for row in rs.rules("RS101").rows] == ["RS101"]
    assert len(rs.rules().rows) > 30
    with pytest.raises(RankscopeError, match="no rule is called RS999"):
        rs.rules("RS999")


def test_every_command_is_reached_from_python() -> None:
    from rankscope.cli.table import COMMANDS

    known = {
        "metrics": "catalogue",
        "launches": "simulate_launches",
    }  # the actions of launches are functions of rs.launches
    names = [
        known.get(command.name, command.name.replace("-", "_")) for command in COMMANDS if command.name != "completion"
    ]
    assert [name for name in names if not callable(getattr(rs, name))] == []
    for action in ("add", "list", "import_", "predict", "correlate"):
        assert callable(getattr(rs.launches, action))
