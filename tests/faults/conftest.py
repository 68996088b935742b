"""Every command as someone would type it, on small files, in a process whose streams, disk or folder fail."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.made.samples import sampled

from rankscope.cli.table import COMMANDS

QUERIES = [f"q{number}" for number in range(12)]
ENV = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}

# each command of the table, with what makes it read, find and say something; {} is the folder of the files
TYPED = {
    "evaluate": "evaluate {}/qrels.txt {}/old.run",
    "compare": "compare {}/qrels.txt {}/old.run {}/new.run -m nDCG@10",
    "report": "report {}/qrels.txt {}/old.run {}/new.run -m nDCG@10",
    "explain": "explain {}/qrels.txt {}/old.run --query q1",
    "check": "check {}/qrels.txt {}/old.run",
    "gate": "gate {}/qrels.txt {}/old.run {}/new.run",
    "power": "power --deviation 0.2 --difference 0.02",
    "unjudged": "unjudged {}/qrels.txt {}/old.run",
    "pool": "pool {}/qrels.txt {}/old.run {}/new.run",
    "ties": "ties {}/qrels.txt {}/old.run",
    "reconcile": "reconcile {}/qrels.txt {}/old.run -m P@5",
    "advise": "advise {}/qrels.txt",
    "reproduce": "reproduce {}/qrels.txt {}/old.run {}/new.run",
    "fuse": "fuse {}/old.run {}/new.run -o {}/fused.run",
    "tune": "tune {}/qrels.txt {}/old.run {}/new.run --method RRF --vary k=1,60",
    "diversify": "diversify {}/old.run --method MMR --features {}/features.csv --qrels {}/qrels.txt -m nDCG@2",
    "rerank": "rerank {}/old.run --scorer {}/scorer.py:score --queries-text {}/queries.tsv --docs-text {}/docs.tsv --qrels {}/qrels.txt",
    "learn": "learn {}/train.txt --learner Linear",
    "agree": "agree {}/old.run {}/new.run",
    "contexts": "contexts {}/questions.jsonl",
    "interleave": "interleave {}/old.run {}/new.run -k 3 -o {}/lists.jsonl",
    "interleaving": "interleaving {}/log.csv",
    "position-bias": "position-bias {}/log.csv --method swaps --rounds 20",
    "clicks": "clicks {}/log.csv --model RCTR --model PBM",
    "estimate": "estimate {}/log.csv --target p_new --estimator SNIPS",
    "launches": "launches list --ledger {}/launches.db",
    "merge": "merge {}/1.parquet {}/2.parquet",
    "playground": "playground --no-open",
    "online": "online {}/users.csv -m Mean(orders)",
    "experiment": "experiment {}/users.csv --primary Mean(orders)",
    "simulate": "simulate log --users 40 --items 5",
    "metrics": "metrics RR",
    "demo": "demo",
    "completion": "completion bash",
}
assert set(TYPED) == {command.name for command in COMMANDS}, "a command that no fault is tried on"
# rerank is left out: it prints how long it took. streams belong to the process, which is the same for all commands: one that answers, one with an exit code, a short one
SOME = sampled([name for name in TYPED if name != "rerank"], 3, always=("evaluate", "check", "completion"))


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it said."""

    code: int
    out: bytes
    err: str

    @property
    def faults(self) -> list[str]:
        """What was said beside notes of what was read."""
        notes = ("read ", "wrote ", "warning ", "copied ")
        lines = [line for line in self.err.splitlines() if not line.startswith(notes)]
        return [line for line in lines if not line.endswith("each its own user")]


def log_of_swaps() -> str:
    """Lists of two items in either order, each with the ranker of its first place, clicked more at the first place."""
    lines = ["user,list_id,query,item,position,click,p_item_pos,p_new,team"]
    for i in range(160):
        for place, item in enumerate("ab" if i % 2 else "ba", 1):
            click = int((i * 7 + place * 3) % 10 < (6 if place == 1 else 3))
            lines.append(
                f"u{i % 40},l{i},q,{item},{place},{click},0.5,{0.6 if (item == 'a') == (place == 1) else 0.4},{'AB'[item == 'a']}"
            )
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments, two runs of which the second is better, parts of an evaluation, users, a log, and texts and features for rankers."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "qrels.txt").write_text("".join(f"{q} 0 good {1 + i % 2}\n{q} 0 poor 0\n" for i, q in enumerate(QUERIES)))
    for name, documents in (("old", ("poor", "good", "other")), ("new", ("good", "other", "poor"))):
        rows = (f"{q} Q0 {d} {r} {9 - r} {name}\n" for q in QUERIES for r, d in enumerate(documents, 1))
        (folder / f"{name}.run").write_text("".join(rows))
    users = (f"u{i},{'AB'[i % 2]},{i % 3}\n" for i in range(60))
    (folder / "users.csv").write_text("user,variant,orders\n" + "".join(users))
    (folder / "log.csv").write_text(log_of_swaps())
    (folder / "features.csv").write_text("doc_id,feature\ngood,a\npoor,a\nother,b\n")
    (folder / "queries.tsv").write_text("".join(f"{q}\tsome words\n" for q in QUERIES))
    (folder / "docs.tsv").write_text("good\tsome words\npoor\tothers\nother\twords\n")
    (folder / "scorer.py").write_text("def score(query, texts):\n    return [float(len(text)) for text in texts]\n")
    rows = (f"{(i + d) % 2} qid:{i} 1:{(i + d) % 2} 2:{d}\n" for i in range(24) for d in range(3))
    (folder / "train.txt").write_text("".join(rows))
    (folder / "questions.jsonl").write_text(
        '{"question": "q", "contexts": ["in Paris"], "reference_contexts": ["in Paris"]}\n'
    )
    added = ["add", "new", "--ledger", "launches.db", "--offline", "AP=0.01,0.004", "--online", "CTR=0.003,0.001"]
    subprocess.run(
        [sys.executable, "-m", "rankscope", "launches", *added], cwd=folder, check=True, env=ENV, capture_output=True
    )
    for part in (1, 2):
        made = ["evaluate", "qrels.txt", "old.run", "--partition", f"{part}/2", "-o", f"{part}.parquet"]
        subprocess.run([sys.executable, "-m", "rankscope", *made], cwd=folder, check=True, env=ENV, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def arguments(files: Path) -> Callable[[str], list[str]]:
    """What is typed for a command."""
    return lambda name: TYPED[name].replace("{}", str(files)).split()


@pytest.fixture(scope="session")
def undisturbed(arguments: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Ended]:
    """How a command ends where nothing fails."""

    @cache
    def run_once(name: str) -> Ended:
        return run(arguments(name), tmp_path_factory.mktemp(name))

    return run_once


def run(arguments: Sequence[str], folder: Path, before: str = "", **streams: Any) -> Ended:
    """Run a command in a folder, after some lines of Python; without ``streams`` what it says is caught."""
    code = f"{before}\nimport sys\nfrom rankscope.cli import run\nsys.argv[0] = 'rankscope'\nrun()"
    done: Any = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, env=ENV, check=False, timeout=120,
        **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams),
    )  # fmt: skip
    return Ended(done.returncode, done.stdout or b"", (done.stderr or b"").decode())
