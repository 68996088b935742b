"""What the pages show under ``$ rankscope ...`` is what the command prints, on the collection that comes along, 80 columns wide."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.made.files import some

from rankscope.cli import main
from rankscope.verbs.demo.demo import copy_files

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", *sorted(f"docs/{page.name}" for page in some((ROOT / "docs").glob("*.md"))))
PROMPT = re.compile(r"^(?P<indent> *)\$ rankscope (?P<command>.*)\n(?P<shown>(?:(?!\s*\$ |```).*\n)*)", re.MULTILINE)

FILE = re.compile(
    r"^```\w+ (?P<name>[\w.]+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL
)  # a file that commands of the page read


def shown_by(page: str) -> list[tuple[str, list[str]]]:
    """Commands with the lines that are shown of their output: those of the fence, or those that are indented."""
    out = []
    for match in PROMPT.finditer((ROOT / page).read_text(encoding="utf-8")):
        indent, lines = match["indent"], []
        for line in match["shown"].splitlines():
            if line and not line.startswith(indent):
                break
            lines.append(line.removeprefix(indent))
        out.append((match["command"], [line for line in lines if line.strip() not in {"", "..."}]))
    return [(command, lines) for command, lines in out if lines]


@pytest.mark.parametrize("page", [page for page in PAGES if shown_by(page)])
def test_a_page_shows_what_the_command_prints(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_files(str(tmp_path / "demo"))
    monkeypatch.setenv("COLUMNS", "80")
    for file in FILE.finditer((ROOT / page).read_text(encoding="utf-8")):
        (tmp_path / "demo" / file["name"]).write_text(file["text"])
    for command, lines in shown_by(page):
        monkeypatch.chdir(tmp_path if "demo/" in command else tmp_path / "demo")
        main(shlex.split(command))
        out, err = capsys.readouterr()
        printed = iter([*err.splitlines(), *out.splitlines()])
        for line in lines:  # some are left out, none is out of order
            assert any(line == other for other in printed), f"{command} does not print, or not here: {line}"


def test_transcripts_are_found() -> None:
    assert [command.split()[0] for command, _ in shown_by("README.md")] == ["compare"]
    assert [page for page in PAGES if shown_by(page)][1:] == [
        f"docs/{name}.md"
        for name in ("check", "clicks", "explain", "online", "power", "recommendation", "retrieval", "unjudged")
    ]
