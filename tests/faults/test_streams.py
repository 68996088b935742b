"""Standard streams that are closed, full or unread: said in one line, and never taken for an answer."""

from __future__ import annotations

import errno
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faults.conftest import SOME, run

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="streams of POSIX"),
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full"),
]
EVERY = pytest.mark.parametrize("name", SOME)


def close(number: int) -> str:
    """Lines that start the process anew with a stream closed, as the shell's ``>&-`` does."""
    return (
        "import os, sys\nif 'CLOSED' not in os.environ:\n"
        f"    os.environ['CLOSED'] = '1'; os.close({number}); os.execv(sys.executable, sys.orig_argv)\n"
    )


@EVERY
@pytest.mark.parametrize("how", ["full", "closed"])
def test_an_answer_does_not_depend_on_whether_messages_can_be_told(
    name: str, how: str, arguments: Any, undisturbed: Any, tmp_path: Path
) -> None:
    usual = undisturbed(name)
    assert usual.code == (1 if name == "check" else 0), usual.err
    with open("/dev/full", "w") as full:
        found = run(arguments(name), tmp_path, **({"stderr": full} if how == "full" else {"before": close(2)}))
    assert (found.code, found.out) == (usual.code, usual.out)


@EVERY
def test_a_full_standard_output_is_told_in_one_line(
    name: str, arguments: Any, undisturbed: Any, tmp_path: Path
) -> None:
    if not undisturbed(name).out:
        pytest.skip("it says nothing there")
    with open("/dev/full", "w") as full:
        found = run(arguments(name), tmp_path, stdout=full)
    assert found.code == (undisturbed(name).code or 2)  # what a linter found stands
    assert found.faults[-1] == f"standard output cannot be written: {os.strerror(errno.ENOSPC)}"
    assert len(found.faults) == 1


@EVERY
def test_a_closed_standard_output_is_told_in_one_line(
    name: str, arguments: Any, undisturbed: Any, tmp_path: Path
) -> None:
    found = run(arguments(name), tmp_path, close(1))
    if not undisturbed(name).out:
        assert (found.code, found.faults) == (0, [])
        return
    assert found.code == (undisturbed(name).code or 141)
    assert found.faults == ["standard output cannot be written: it is closed"]


@EVERY
def test_a_reader_that_went_away_is_no_error(name: str, arguments: Any, undisturbed: Any, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    found = run(arguments(name), tmp_path, stdout=writer)
    os.close(writer)
    assert found.code == (141 if undisturbed(name).out else 0)
    assert found.faults == []


@pytest.mark.parametrize("words", ["--help", "--version", "compare --help", ""], ids=lambda words: words or "nothing")
def test_help_that_cannot_be_written_is_told(words: str, tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        found = run(words.split(), tmp_path, stdout=full)
    assert (found.code, found.err) == (2, "standard output cannot be written: No space left on device\n")
    found = run(words.split(), tmp_path, close(1))
    assert (found.code, found.err) == (141, "standard output cannot be written: it is closed\n")


@pytest.mark.parametrize("words", ["evaluate {}/qrels.txt -", "evaluate - {}/old.run", "check {}/qrels.txt -"])
def test_a_closed_standard_input_is_told(words: str, files: Path, tmp_path: Path) -> None:
    found = run(words.replace("{}", str(files)).split(), tmp_path, close(0))
    assert (found.code, found.faults) == (2, ["standard input is closed: give a file instead of -, or a pipe"])


def test_a_standard_input_that_cannot_be_read_is_told(files: Path, tmp_path: Path) -> None:
    unreadable = os.open(os.devnull, os.O_WRONLY)
    found = run(["evaluate", str(files / "qrels.txt"), "-"], tmp_path, stdin=unreadable)
    os.close(unreadable)
    assert (found.code, found.faults) == (2, ["standard input: cannot be read: Bad file descriptor"])


def test_a_gate_fails_whether_or_not_it_can_be_told(files: Path, tmp_path: Path) -> None:
    worse = ["gate", str(files / "qrels.txt"), str(files / "new.run"), str(files / "old.run"), "--junit", "junit.xml"]
    with open("/dev/full", "w") as full:
        for case, streams in {
            "full": {"stdout": full},
            "silent": {"stderr": full},
            "both": {"stdout": full, "stderr": full},
        }.items():
            found = run(worse, tmp_path, **streams)  # type: ignore[arg-type]
            assert found.code == 1, case
            assert "<testsuite" in (tmp_path / "junit.xml").read_text(), case
            (tmp_path / "junit.xml").unlink()


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "markdown", "latex"])
def test_a_terminal_is_given_no_signs_of_the_data_to_act_on(form: str, files: Path, tmp_path: Path) -> None:
    named = f"\x1b]0;owned\x07\x9b31mrun={files / 'old.run'}"
    code, shown = on_a_terminal(["evaluate", str(files / "qrels.txt"), named, "--format", form], tmp_path)
    assert code == 0
    assert "owned" in shown
    ours = re.sub(r"\x1b\[[\d;]*m", "", shown) if form == "table" else shown  # colours
    assert re.sub(r"[\n\r\t]", "", ours).isprintable()


def on_a_terminal(arguments: list[str], folder: Path) -> tuple[int, str]:
    """The exit code and what is shown where both streams are a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "rankscope", *arguments], cwd=folder, stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    return process.wait(), shown.decode()
