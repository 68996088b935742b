"""The page of conformance says what the tools say today."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "conformance.md"
TOOLS = (
    *("pytrec_eval", "ir_measures", "cwl", "ranx", "pyndeval", "sklearn", "lightgbm", "xgboost", "catboost"),
    *("torch", "torchmetrics"),
)
MISSING = 3  # the exit code where a tool is not installed


def not_here(why: str) -> NoReturn:
    if os.environ.get("RANKSCOPE_REQUIRE_PARITY") == "1":
        pytest.fail(f"RANKSCOPE_REQUIRE_PARITY=1, but {why}")
    pytest.skip(why)


def releases(page: str) -> dict[str, str]:
    """The tools of the summary with their releases."""
    return dict(re.findall(r"^\| \[([^]]+)\]\(#\S+\) \| ([^|]+) \|", page, re.MULTILINE))


def test_the_page_is_fresh(need: Callable[[str], ModuleType]) -> None:
    for name in TOOLS:
        need(name)
    writer = ROOT / "tools" / "write_conformance_page.py"
    made = subprocess.run(
        [sys.executable, writer, "--print"], capture_output=True, text=True, encoding="utf-8", check=False
    )
    if made.returncode == MISSING:
        not_here(made.stderr.strip())
    assert made.returncode == 0, made.stderr[-2000:]
    page = PAGE.read_text(encoding="utf-8")
    here, there = releases(made.stdout), releases(page)
    assert len(there) >= 15
    other = [
        f"{tool}: {here.get(tool)}, not {release}"
        for tool, release in there.items()
        if here.get(tool) != release
    ]
    if other:
        not_here(f"the page is of other releases than those installed ({'; '.join(other)})")
    assert made.stdout == page, "docs/conformance.md is out of date: make docs"
