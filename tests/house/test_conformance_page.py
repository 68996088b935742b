"""The page of conformance says what the tools say today."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distributions
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


def installed(package: str) -> str:
    """The release that is installed, in this environment or in the one of the tools for recommendations."""
    others = map(str, (ROOT / ".venv-recommenders").glob("lib/python*/site-packages"))
    found = [d for path in (sys.path, [*others]) for d in distributions(name=package, path=path)]
    return found[0].version if found else "not installed"


def test_the_page_is_fresh(need: Callable[[str], ModuleType]) -> None:
    for name in TOOLS:
        need(name)
    page = PAGE.read_text(encoding="utf-8")
    releases = set(re.findall(r"^\| [^|]+ \| (\S+) (\S+) \| \d", page, re.MULTILINE))
    assert len(releases) >= 12
    here = {package: installed(package) for package, _ in releases}
    other = [
        f"{package} {here[package]} instead of {said}" for package, said in sorted(releases) if here[package] != said
    ]
    if other:
        not_here(f"the page was made with other releases than those here: {', '.join(other)}")
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "write_conformance_page.py", "--print"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if made.returncode == MISSING:
        not_here(made.stderr.strip())
    assert made.returncode == 0, made.stderr[-2000:]
    assert made.stdout == page, "docs/conformance.md is out of date: make docs"
