"""Numbers too large, nests too deep, names that are no text, texts that were stripped: one line each, or the usual answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.commands import Option
from rankscope.cli.table import COMMANDS
from rankscope.errors import HUGE, InputError, RankscopeError

LARGE = 10**20
WHOLE = [
    (command.name, option.opts[0])
    for command in COMMANDS
    for option in command.parameters
    if isinstance(option, Option) and isinstance(option.type, click.types.IntParamType) and option.name != "seed"
]
QRELS = {f"q{i}": {"a": 2.0, "b": 1.0, "c": 0.0} for i in range(8)}
RUN = {f"q{i}": {"a": 2.0 - i % 2 * 3, "b": 1.0, "d": 0.5} for i in range(8)}
BIG = {query: {document: grade * HUGE / 2 for document, grade in grades.items()} for query, grades in QRELS.items()}


def line_of(call: Any) -> str:
    with pytest.raises(RankscopeError) as told:
        call()
    assert "\n" not in str(told.value)
    return str(told.value)


@pytest.mark.parametrize(("name", "flag"), WHOLE, ids=[" ".join(one) for one in WHOLE])
def test_a_whole_number_beyond_all_use_is_refused(name: str, flag: str, run: Any) -> None:
    said = run(name, *(["bash"] if name == "completion" else []), flag, str(LARGE))
    assert (said.code, said.out) == (2, "")
    assert len(said.err.splitlines()) == 1
    assert str(LARGE) in said.err


def test_every_whole_number_of_the_table_is_tried() -> None:
    assert {("evaluate", "--depth"), ("advise", "-k"), ("report", "--shown"), ("unjudged", "-n")} <= set(WHOLE)


def test_python_refuses_the_same_numbers() -> None:
    assert "at most 2,147,483,647" in line_of(lambda: rs.evaluate(QRELS, RUN, depth=LARGE))
    assert "at most 2,147,483,647" in line_of(lambda: rs.advise(QRELS, k=LARGE))
    assert "at most 2,147,483,647" in line_of(lambda: rs.unjudged(QRELS, RUN, n=LARGE))
    assert "at most 2,147,483,647" in line_of(lambda: rs.power(deviation=0.2, difference=0.1, comparisons=LARGE))
    assert rs.evaluate(QRELS, RUN, depth=2**31 - 1)["AP"] == rs.evaluate(QRELS, RUN)["AP"]
    assert rs.evaluate(QRELS, RUN, "AP", ties="best", seed=LARGE).conventions["seed"] == LARGE


@pytest.mark.parametrize("grade", [1e308, -1e308, HUGE * 1.01], ids=["large", "small", "just too large"])
def test_a_grade_that_cannot_be_computed_with_is_refused_wherever_grades_are_read(grade: float, tmp_path: Path) -> None:
    odd = {"q0": {"a": grade, "b": 1.0}}
    (tmp_path / "qrels.txt").write_text(f"q0 0 a {grade}\nq0 0 b 1\n")
    (tmp_path / "qrels.csv").write_text(f"query_id,doc_id,grade\nq0,a,{grade}\nq0,b,1\n")
    for call in (
        lambda: rs.evaluate(odd, RUN),
        lambda: rs.evaluate(tmp_path / "qrels.txt", RUN),
        lambda: rs.evaluate(tmp_path / "qrels.csv", RUN),
        lambda: rs.Evaluator(odd, "AP"),
        lambda: rs.evaluate_arrays(np.array([[grade, 1.0]]), np.array([[2.0, 1.0]]), metrics="nDCG"),
        lambda: rs.nDCG().of([grade, 1.0]),
    ):
        assert "too large to compute with" in (line := line_of(call)) or f"beyond {HUGE:g}" in line
    assert "best grade" in line_of(lambda: rs.unjudged(QRELS, RUN, grade=1e308))
    assert "at most 1e+60" in line_of(lambda: rs.parse("nDCG(gain={1: 1e308})"))


def test_the_largest_grades_give_numbers_without_a_warning(tmp_path: Path) -> None:
    # warnings are errors here: nothing overflows on the way
    other = {query: dict(zip(ranking, (1.0, 2.0, 0.5), strict=True)) for query, ranking in RUN.items()}
    scores = rs.evaluate(BIG, RUN, ["nDCG@10", "CG@10", "DCG"])
    assert scores["CG@10"] == pytest.approx(1.5 * HUGE)
    assert scores["nDCG@10"] == pytest.approx(rs.evaluate(QRELS, RUN, "nDCG@10")["nDCG@10"], rel=1e-12)
    found = rs.compare(BIG, {"a": RUN, "b": other}, ["CG@10", "nDCG@10"], bayes=True, interval="bca")
    assert "nan" not in found.to_text(details=True)
    assert rs.unjudged(QRELS, RUN, "CG@2", grade=1e50).bounds[0].upper > 1e49


@pytest.mark.parametrize("name", ["gate", "compare"])
def test_settings_nested_too_deeply_are_refused(name: str, run: Any) -> None:
    Path("deep.toml").write_text(f"[tool.rankscope]\nmetrics = {'[' * 3000}{']' * 3000}")
    said = run(name, "qrels.txt", "good.run", "poor.run", "--settings", "deep.toml")
    assert (said.code, said.out) == (2, "")
    assert said.err == "deep.toml: is nested too deeply; settings are tables of names and values\n"


def test_a_message_is_one_line_whatever_it_quotes() -> None:
    assert str(InputError("a\nb\x1b[31m")) == r"a\nb\x1b[31m"
    assert "\\n" in line_of(lambda: rs.evaluate({"q\n1": {"d": float("nan")}}, RUN))


def test_a_header_with_a_line_break_is_told_in_one_line(run: Any) -> None:
    Path("odd.csv").write_text('"query_id","doc_id","sc\nore"\nq1,d1,1\n')
    said = run("evaluate", "qrels.txt", "odd.csv")
    assert said.code == 2
    assert len(said.err.splitlines()) == 1
    assert r"sc\nore" in said.err
    assert "\\n" in line_of(lambda: rs.read_run("odd.csv"))


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
@pytest.mark.parametrize("form", ["run", "csv", "jsonl", "parquet"])
def test_names_of_files_need_not_be_text(form: str, run: Any) -> None:
    frame = rs.read_run("good.run").frame.select("query_id", "doc_id", "score")
    odd = os.fsdecode(b"g\xffd.") + form
    if form == "run":
        Path(odd).write_bytes(Path("good.run").read_bytes())
    else:
        getattr(frame, {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet"}[form])("good")
        Path("good").rename(odd)
    plain, said = (
        run("evaluate", "qrels.txt", "good.run", "--format", "csv"),
        run("evaluate", "qrels.txt", odd, "--format", "csv", "-o", odd + ".csv"),
    )
    assert (said.code, said.out) == (0, "")
    values = [row.split(",")[1:] for row in Path(odd + ".csv").read_text().splitlines()]
    assert values == [row.split(",")[1:] for row in plain.out.splitlines()]


@pytest.mark.parametrize("words", ["metrics ERR", "metrics", "check --list", "metrics nDCG --format json"])
def test_texts_are_said_where_docstrings_are_dropped(words: str, tmp_path: Path) -> None:
    texts = [
        subprocess.run(
            [sys.executable, *stripped, "-m", "rankscope", *words.split()],
            capture_output=True,
            check=True,
            cwd=tmp_path,
        ).stdout
        for stripped in ((), ("-OO",))
    ]
    assert texts[0] == texts[1]


def test_pages_say_that_they_need_docstrings(tmp_path: Path, need: Any) -> None:
    need("altair")
    made = [sys.executable, "-OO", "-m", "rankscope", "demo", "--report", "demo.html"]
    done = subprocess.run(made, capture_output=True, text=True, check=False, cwd=tmp_path)
    if done.returncode == 0:
        pytest.skip("this altair needs none")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "charts and pages: altair does not work under python -OO (PYTHONOPTIMIZE=2): run without it\n"


ODD = {
    "one query": {"a": {"q1": 0.5}, "b": {"q1": 0.7}},
    "a baseline of 0": {"a": dict.fromkeys(QRELS, 0.0), "b": {query: 0.1 * i for i, query in enumerate(QRELS)}},
    "one query of 0": {"a": {"q1": 0.0}, "b": {"q1": 0.7}},
    "nothing at all": {"a": dict.fromkeys(QRELS, 0.0), "b": dict.fromkeys(QRELS, 0.0)},
    "a mean of 0": {"a": {f"q{i}": -1.0 + i % 2 * 2 for i in range(8)}, "b": {f"q{i}": 0.1 * i for i in range(8)}},
    "no spread": {"a": {"q1": 0.5, "q2": 0.5}, "b": {"q1": 0.7, "q2": 0.7}},
}


@pytest.mark.parametrize("world", ODD)
@pytest.mark.parametrize(
    "options", [{}, {"bayes": True}, {"margin": 0.01}, {"interval": "bca"}, {"correction": "max_t"}], ids=str
)
def test_no_text_of_a_comparison_holds_what_is_not_a_number(world: str, options: Any) -> None:
    found = rs.compare(ODD[world], None, "X", **options)
    for text in (
        found.to_text(details=True),
        found.to_markdown(details=True),
        found.to_latex(details=True),
        found.to_json(),
        found.to_csv(),
    ):
        assert "nan" not in text.casefold()


@pytest.mark.parametrize("module", ["click", "rankscope.cli.app", "numpy", "polars", "rankscope.scoring.evaluation"])
@pytest.mark.parametrize("how", ["raised", "dropped"])
def test_an_interruption_while_it_starts_is_one_word(module: str, how: str, folder: Any) -> None:
    """``dropped`` as in a callback of an import, where Python prints a traceback and goes on."""
    code = f"""
import sys
class Dropped:
    def __del__(self): raise KeyboardInterrupt
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            {"raise KeyboardInterrupt" if how == "raised" else "Dropped()"}
sys.meta_path.insert(0, Finder())
from rankscope.cli import run
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", "qrels.txt", "good.run"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_until_it_can_be_interrupted_it_loads_next_to_nothing() -> None:
    code = "import sys; before = set(sys.modules)\nimport rankscope.cli\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {"rankscope", "rankscope._version", "rankscope.cli", "rankscope.cli.process", "__future__", "gc"}
    assert set(done.stdout.split()) <= ours
