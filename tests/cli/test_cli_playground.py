"""``rankscope playground``."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from rankscope.cli import output


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a browser was asked to open; none ever is."""
    addresses: list[str] = []

    def opened(address: str) -> bool:
        addresses.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", opened)
    monkeypatch.setenv("DISPLAY", ":0")
    return addresses


@pytest.fixture
def page(need: Any, asked: list[str], run: Any) -> Any:
    """Runs the command, where pages can be made."""
    for name in ("jinja2", "altair"):
        need(name)
    return run


def test_it_writes_a_page_and_says_where(page: Any, asked: list[str]) -> None:
    said = page("playground")
    assert (said.code, said.out) == (0, "")
    assert said.err == "wrote playground.html (open it in a browser)\n"
    html = Path("playground.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "AP by hand" in html
    assert len(html) < 400_000
    assert asked == []  # nobody looks


def test_it_opens_where_someone_looks(page: Any, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    assert "open in your browser" in page("playground").err
    assert asked == [Path("playground.html").resolve().as_uri()]
    assert page("playground", "--no-open").code == 0
    assert page("playground", "-o", "lesson.html").code == 0
    assert len(asked) == 1
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert "open it in a browser" in page("playground").err
    assert len(asked) == 1


def test_no_browser_is_no_failure(page: Any, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def none(address: str) -> bool:
        raise webbrowser.Error(address)

    monkeypatch.setattr(webbrowser, "open", none)
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    said = page("playground")
    assert said.code == 0
    assert "open it in a browser" in said.err


def test_the_same_bytes_every_time(page: Any) -> None:
    assert page("playground", "-o", "a.html").code == 0
    said = page("playground", "-o", "-")
    assert (said.code, said.err) == (0, "")
    assert said.out == Path("a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["page.csv", "nowhere/page.html", "page"])
def test_places_that_are_none(run: Any, place: str) -> None:
    said = run("playground", "-o", place)
    assert (said.code, said.out) == (2, "")
    assert place in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize("lacking", ["jinja2", "markupsafe"])
def test_without_the_extra(run: Any, monkeypatch: pytest.MonkeyPatch, lacking: str) -> None:
    for name in [name for name in sys.modules if name.startswith("rankscope.show.html")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, lacking, None)
    said = run("playground")
    assert (said.code, said.out) == (2, "")
    assert (
        said.err
        == "charts and pages need altair, jinja2, platformdirs and vl-convert-python: pip install 'rankscope[report]'\n"
    )
    assert not Path("playground.html").exists()


def test_help(run: Any) -> None:
    said = run("playground", "--help")
    assert said.code == 0
    assert "Examples:\n    rankscope playground" in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    assert "playground" in run("--help").out
