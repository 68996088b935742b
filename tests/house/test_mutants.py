"""The mutator changes what it says, and only that; its sample does not depend on what else there is; its table counts right."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))  # its modules import each other by name

import mutants_page
import mutants_sites

SOURCE = '''"""Told to readers, who are many."""
LIMIT = 3


def verdict(share: float, name: str, more: tuple[int, ...] = ()) -> str:
    """Told to readers, too."""
    assert share <= 1
    if TYPE_CHECKING:
        share = 7
    number: dict[str, int] = {"α": 2}
    if not name and share < LIMIT:
        return f"all of it is {min(share - 1, 0):.2f} é {'one' if more else 'of them'} then"
    return "nothing was found"
'''


def mutants(source: str = SOURCE) -> dict[str, str]:
    """What is changed, and the statement that comes of it."""
    finder = mutants_sites._Finder("room/module.py", source)
    finder.visit(ast.parse(source))
    return {mutant.shown: mutant.apply(source) for mutant in finder.found}


@pytest.mark.parametrize(
    ("shown", "now"),
    [
        pytest.param("3 → 4", "LIMIT = (4)", id="a number of the module"),
        pytest.param("share < LIMIT → share <= LIMIT", "if not name and (share <= LIMIT):", id="a bound"),
        pytest.param("not name → name", "if (name) and share < LIMIT:", id="a not"),
        pytest.param(
            "not name and share < LIMIT → not name or share < LIMIT", "if (not name or share < LIMIT):", id="an and"
        ),
        pytest.param("'nothing was found' → ''", "return ('')", id="a sentence"),
        pytest.param("share - 1 → share + 1", "{min(share + 1, 0):.2f} é", id="a sign in a sentence"),
        pytest.param(
            "min(share - 1, 0) → max(share - 1, 0)", "{max(share - 1, 0):.2f} é", id="a function in a sentence"
        ),
    ],
)
def test_a_change_is_made_where_it_says(shown: str, now: str) -> None:
    changed = mutants()[shown]
    ast.parse(changed)
    assert now in changed
    kept, was = changed.split("\n"), SOURCE.split("\n")
    assert sum(a != b for a, b in zip(kept, was, strict=True)) == 1


def test_what_is_only_read_is_not_changed() -> None:
    lines = [
        line
        for line in SOURCE.split("\n")
        if "Told" in line or "assert" in line or "share = 7" in line or "def " in line
    ]
    assert len(lines) == 5
    for changed in mutants().values():
        assert all(line in changed for line in lines)


def test_each_change_leaves_the_others_alone() -> None:
    found = mutants()
    assert len(found) == len(set(found.values())) > 10


def test_names_do_not_depend_on_the_lines_above() -> None:
    assert list(mutants()) == list(mutants("# a line\n" + SOURCE))


def test_the_sample_is_the_same_and_by_room() -> None:
    one, two = (mutants_sites.sample(7, {"engines": 5, "panels": 6}) for _ in range(2))
    assert one == two
    assert [sum(mutant.room == room for mutant in one) for room in ("engines", "panels")] == [5, 6]
    assert len({mutant.key for mutant in one}) == 11
    assert set(one) <= set(mutants_sites.sample(7, {"engines": 9, "panels": 6}))


def test_the_share_is_of_those_that_are_not_equivalent() -> None:
    found: dict[str, Any] = {
        "seed": 1, "drawn": 12, "tried": 12, "rankscope": "0", "rooms": {"a": {"killed": 8, "equivalent": 2, "survived": 2}},
        "survivors": [{"mutant": "m: a | b", "outcome": "survived", "reason": ""}, {"mutant": "n", "outcome": "equivalent", "reason": "because"}],
    }  # fmt: skip
    page = mutants_page.section(found)
    assert "| **all** | 12 | 8 | 2 | 2 | 80.0% |" in page
    assert "| `m: a \\| b` | not judged yet |" in page
    assert "| `n` | because |" in page
