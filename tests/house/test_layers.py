"""Imports only fall: the plan of the house, enforced.

A module may import from its own room and from rooms on lower floors; siblings never import each
other. Imports inside functions and under TYPE_CHECKING count like any other.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "rankscope"

FLOOR = {
    "errors": 1, "words": 1, "lists": 1, "moments": 1, "blocks": 1,
    "declared": 2, "tables": 2, "show": 2,
    "metrics": 3, "inference": 3, "estimators": 3, "clicks": 3, "interleavings": 3, "rankers": 3,
    "engines": 3, "files": 3, "dialects": 3,
    "verbs": 4, "testing": 4,
    "cli": 5, "pytest_plugin": 5,
    "__init__": 6, "__main__": 6,
}  # fmt: skip

# third parties: where each may be imported (numpy anywhere)
ALLOWED = {
    "polars": {"tables", "files", "engines", "show", "verbs"},
    "scipy": {"inference", "estimators", "clicks"},
    "pyspark": {"engines/spark"},
    "pyarrow": {"engines/spark"},
    "click": {"cli"},
    "rich": {"cli", "show"},
    "jinja2": {"show"},
    "altair": {"show"},
    "vl_convert": {"show"},
    "markupsafe": {"show"},
    "pytest": {"pytest_plugin"},
}
STRANGERS = {"pandas", "duckdb", "sklearn", "pytrec_eval", "torch", "zstandard"}

MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(parts: tuple[str, ...]) -> str:
    return parts[0] if parts else "__init__"


def imports_of(path: Path) -> list[tuple[str, ...]]:
    """Every import of a module as an absolute dotted path in parts."""
    here = ("rankscope", *path.relative_to(PACKAGE).with_suffix("").parts)
    found: list[tuple[str, ...]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            if called in {"needed", "import_module"}:  # imports by name count, too
                found.append(tuple(str(node.args[0].value).split(".")))
        if isinstance(node, ast.Import):
            found += [tuple(name.name.split(".")) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else ()
            start = (*base, *(node.module.split(".") if node.module else ()))
            if start == ("rankscope",):
                found += [(*start, name.name) for name in node.names]
            else:
                found.append(start)
    return found


@pytest.mark.parametrize("path", MODULES, ids=[str(p.relative_to(PACKAGE)) for p in MODULES])
def test_imports_only_fall(path: Path) -> None:
    here = room_of(path.relative_to(PACKAGE).with_suffix("").parts)
    for target in imports_of(path):
        if target[0] != "rankscope" or len(target) < 2 or here in {"__init__", "__main__"}:
            continue
        there = target[1]
        if there == "__version__":  # a fact, not a room
            continue
        assert there in FLOOR, f"{path.name} imports {'.'.join(target)}, which has no floor in the plan"
        if there != here:
            assert FLOOR[there] < FLOOR[here], (
                f"{here} (floor {FLOOR[here]}) imports {there} (floor {FLOOR[there]})"
            )


@pytest.mark.parametrize("path", MODULES, ids=[str(p.relative_to(PACKAGE)) for p in MODULES])
def test_third_parties_stay_in_their_rooms(path: Path) -> None:
    inside = path.relative_to(PACKAGE).with_suffix("")
    for target in imports_of(path):
        assert target[0] not in STRANGERS, f"{inside} imports {target[0]}"
        if target[0] in ALLOWED:
            assert ALLOWED[target[0]] & {inside.parts[0], str(inside)}, f"{inside} imports {target[0]}"


def test_every_room_has_a_floor() -> None:
    rooms = {p.relative_to(PACKAGE).with_suffix("").parts[0] for p in MODULES}
    assert rooms <= set(FLOOR)


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "show" / "html").glob("[st]*/*.*")), ids=lambda path: path.name
)
def test_parts_of_the_page_stay_small(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 300, f"{path.name} has {lines} lines"


def test_rooms_stay_small() -> None:
    # ast counts the lines of functions; a file over 300 lines wants a second room
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 600, f"{path.relative_to(PACKAGE)} has {text.count(chr(10))} lines"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{path.name}: {node.name} is over 60 lines"
