"""What only a real process shows: start-up, pipes, signals, exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ENV = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def rankscope(*args: Any, env: Any = None, **more: Any) -> Any:
    command = [sys.executable, "-m", "rankscope", *args]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env=ENV | (env or {}), check=False, **more
    )


def loaded(code: Any) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        env=ENV,
        check=True,
    )
    return set(done.stdout.split())


def test_help_loads_nothing_heavy() -> None:
    modules = loaded("from rankscope.cli import main\nmain(['--help'])")
    assert "click" in modules
    assert not {"numpy", "polars", "rich", "scipy"} & modules
    modules = loaded("from rankscope.cli import main\nmain(['compare', '--help'])")
    assert not {"numpy", "polars", "rich", "scipy"} & modules


def test_a_small_call_looks_for_no_garbage(tmp_path: Path) -> None:
    """Loading modules makes none, and to look through all that they made takes a tenth of the time of such a call."""
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n")
    (tmp_path / "run.txt").write_text("q Q0 d 1 1.0 run\n")
    code = """
import gc, os
from rankscope.cli import process

looks = []
gc.callbacks.append(lambda phase, info: looks.append(phase))
os._exit = lambda code: print("looks:", len(looks))
gc.set_threshold(process.COLLECT)
process.run()
"""
    command = [sys.executable, "-c", code, "evaluate", "qrels.txt", "run.txt"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENV, check=True, cwd=tmp_path)
    assert done.stdout.endswith("looks: 0\n")


@pytest.mark.parametrize(
    ("command", "known"),
    [
        ("estimate", "SwitchDR"),
        ("fuse", "CombMNZ"),
        ("clicks", "PBM"),
        ("diversify", "PM2"),
        ("position-bias", "harvesting"),
    ],
)
def test_help_of_a_new_process_names_what_can_be_chosen(command: str, known: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rankscope", command, "--help"], capture_output=True, text=True, env=ENV, check=True
    )
    assert known in done.stdout


def test_to_refuse_loads_nothing_heavy() -> None:
    modules = loaded("from rankscope.cli import main\nassert main(['evaluate', 'qrels.txt']) == 2")
    assert not {"numpy", "polars", "rich", "scipy"} & modules


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not {"numpy", "polars", "rich", "scipy", "click"} & loaded("import rankscope")


def test_evaluate_loads_no_scipy_and_no_console(folder: Any) -> None:
    modules = loaded("from rankscope.cli import main\nmain(['evaluate', 'qrels.txt', 'good.run'])")
    assert "polars" in modules
    assert not {"scipy", "rich.console", "pandas"} & modules


def test_output_into_a_pipe_is_plain(folder: Any) -> None:
    done = rankscope("evaluate", "qrels.txt", "good.run", "poor.run")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr


def test_output_is_utf8_whatever_the_locale(folder: Any) -> None:
    done = rankscope(
        "evaluate", "qrels.txt", "good.run", env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    )
    assert done.returncode == 0
    assert "grade ≥ 1" in done.stdout


@POSIX
def test_a_reader_that_goes_away_is_no_error(folder: Any) -> None:
    rows = "".join(f"q{q} Q0 d{d} 1 {1 / (d + 1)} big\n" for q in range(2000) for d in range(10))
    Path("big.run").write_text(rows)
    Path("big.txt").write_text("".join(f"q{q} 0 d{q % 10} 1\n" for q in range(2000)))
    for form in ("table", "jsonl", "json", "csv", "trec"):
        command = [sys.executable, "-m", "rankscope", "evaluate", "big.txt", "big.run", "--per-query", "--format", form]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, text=True)
        assert process.stdout is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        told = process.stderr.read()
        process.stderr.close()
        assert process.wait() == 141, form
        assert "Traceback" not in told
        assert "Exception" not in told


@POSIX
@pytest.mark.parametrize("args", [(), ("--help",), ("--version",), ("compare", "--help")], ids=" ".join)
def test_help_that_nobody_reads_is_no_error(args: Any) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "rankscope", *args], stdout=writer, stderr=subprocess.PIPE, env=ENV, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@POSIX
def test_interrupted(folder: Any) -> None:
    command = [sys.executable, "-m", "rankscope", "evaluate", "qrels.txt", "-"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, text=True
    )
    assert process.stdin is not None
    process.stdin.write("# a comment\n" * 100_000)  # more than a pipe holds: it is reading when this returns
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.strip()) == (130, "", "interrupted")


def test_a_bug_is_one_line(run: Any, monkeypatch: Any) -> None:
    def broken(*args: Any, **more: Any) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("rankscope.verbs.evaluate.evaluate.evaluate", broken)
    said = run("evaluate", "qrels.txt", "good.run")
    assert said.code == 70
    assert "a bug in rankscope" in said.err
    assert "ZeroDivisionError: oops" in said.err
    assert "RANKSCOPE_DEBUG=1" in said.err
    assert len(said.err.splitlines()) == 1


def test_a_bug_shows_its_traceback_when_asked(folder: Any, monkeypatch: Any, capsys: Any) -> None:
    from rankscope.cli import main

    def broken(*args: Any, **more: Any) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("rankscope.verbs.evaluate.evaluate.evaluate", broken)
    monkeypatch.setenv("RANKSCOPE_DEBUG", "1")
    assert main(["evaluate", "qrels.txt", "good.run"]) == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("rankscope eva", "evaluate"),
        ("rankscope evaluate q r -m nD", "nDCG@10"),
        ("rankscope evaluate q r -m bpm(max_grade=1)@5", "BPM(max_grade=1)@5"),
        ("rankscope metrics ER", "ERR"),
    ],
)
def test_the_shell_completes(words: Any, expected: Any) -> None:
    env = {"_RANKSCOPE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    assert f"plain,{expected}" in rankscope(env=env).stdout.splitlines()


@POSIX
def test_closed_streams_are_no_bug(folder: Any) -> None:
    for closing, code in ((">&-", 141), ("2>&-", 0), (">&- 2>&-", 141), ("nope.run 2>&-", 2)):
        command = f"{sys.executable} -m rankscope evaluate qrels.txt good.run {closing}"
        done = subprocess.run(command, shell=True, capture_output=True, text=True, env=ENV, check=False)
        assert done.returncode == code, closing
        assert "bug" not in done.stderr


@POSIX
def test_a_full_disk_is_told(folder: Any) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rankscope", "evaluate", "qrels.txt", "good.run", "-q"],
            stdout=full, stderr=subprocess.PIPE, text=True, env=ENV, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("standard output cannot be written")
    assert len(done.stderr.splitlines()) == 1
