"""``rankscope advise``: what it prints, in every form, and that the commands it ends with work as they stand."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankscope.cli import main

Run = Callable[..., Any]


def test_the_answer_comes_first_and_fits(run: Run) -> None:
    said = run("advise", "qrels.txt", "good.run", "poor.run", "--task", "web")
    assert said.code == 0
    assert " ".join(said.out.split()).startswith("Declare nDCG@3 in advance: for the task web,")
    assert "not recommended" in said.out
    assert "[tool.rankscope]" in said.out
    assert "read qrels.txt as TREC qrels" in said.err
    assert all(len(line) <= 80 for line in said.out.splitlines())
    assert run("advise", "qrels.txt", "-q").err == ""


@pytest.mark.parametrize("task", ["web", "recall", "rag", "clicks", "feed", None])
def test_the_next_commands_work_as_they_stand(run: Run, task: str | None) -> None:
    asked = ["advise", "qrels.txt", "better one=good.run", "poor.run", *(["--task", task] if task else [])]
    found = json.loads(run(*asked, "--format", "json").out)
    assert found["schema"] == "rankscope/advise/1"
    assert len(found["next"]) == 2
    for command in found["next"]:
        name, *words = shlex.split(command)
        assert name == "rankscope"
        assert main(words) == 0
    evaluated = json.loads(run(*shlex.split(found["next"][0])[1:], "--format", "json").out)
    metrics = [one["metric"] for one in found["recommended"]]
    assert [row["metric"] for row in evaluated["results"] if row["run"] == "better one"] == metrics
    Path("pyproject.toml").write_text(found["settings"])
    assert run("compare", "qrels.txt", "good.run", "poor.run").code == 0


def test_every_form_says_the_same(run: Run) -> None:
    asked = ("advise", "qrels.txt", "--task", "web", "-q", "--format")
    found = json.loads(run(*asked, "json").out)
    keys = (
        "schema",
        "rankscope",
        "verdict",
        "facts",
        "task",
        "inputs",
        "recommended",
        "avoid",
        "showable",
        "doubts",
        "next",
    )
    assert set(keys) <= set(found)
    assert found["task"]["sure"] == "said"
    rows = list(csv.DictReader(io.StringIO(run(*asked, "csv").out)))
    lines = [json.loads(line) for line in run(*asked, "jsonl").out.splitlines()]
    both = [one["metric"] for kind in ("recommended", "avoid") for one in found[kind]]
    assert [row["metric"] for row in rows] == [line["metric"] for line in lines] == both
    assert "| metric | why |" in run(*asked, "markdown").out
    assert run(*asked[:-1], "-o", "advice.json").code == 0
    assert json.loads(Path("advice.json").read_text()) == found


def test_without_runs_places_are_kept_for_them(run: Run) -> None:
    found = json.loads(run("advise", "qrels.txt", "--format", "json", "-q").out)
    assert found["next"][0].startswith("rankscope evaluate qrels.txt my.run -m ")
    assert found["next"][1].startswith("rankscope compare qrels.txt my.run other.run --primary ")
    assert found["task"]["sure"] != "said"
    assert len(found["task"]["likeliest"]) == 2


def test_columns_called_user_are_users(run: Run) -> None:
    Path("likes.csv").write_text(
        "user_id,item_id,rating\n" + "".join(f"{u},{i},1\n" for u in range(9) for i in range(4))
    )
    found = json.loads(run("advise", "likes.csv", "--format", "json", "-q").out)
    assert found["facts"]["queries_look_like_users"] is True
    assert found["task"]["name"] == "feed"


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        ([], 2, "no qrels were given: rankscope advise QRELS [RUN...], like rankscope advise qrels.txt my.run"),
        (["qrels.txt", "--task", "navigationl"], 2, "no task is called 'navigationl', did you mean navigational?"),
        (["qrels.txt", "--k", "0"], 2, "--k"),
        (["empty.txt"], 2, "empty.txt: the file is empty"),
        (["zeros.txt"], 3, "no document is relevant"),
        (["qrels.txt", "other.run"], 3, "no query of other.run is judged"),
        (["qrels.txt", "good.run", "-o", "qrels.txt"], 2, "qrels.txt is also an input"),
        (["qrels.txt", "--format", "latex"], 2, "latex"),
    ],
)
def test_what_cannot_be_advised_on_is_one_line(run: Run, args: list[str], code: int, says: str) -> None:
    Path("empty.txt").write_text("")
    Path("zeros.txt").write_text("q1 0 d1 0\n")
    Path("other.run").write_text("x Q0 d1 1 1.0 other\n")
    said = run("advise", *args, "-q")
    assert said.code == code
    assert said.out == ""
    assert says in said.err
    assert len(said.err.splitlines()) == 1
