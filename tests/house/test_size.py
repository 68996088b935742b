"""Size is a feature: each package stays within its budget of lines, and all packages within the total."""

from __future__ import annotations

from pathlib import Path

from tests.house import sizes


def test_every_package_stays_within_its_budget() -> None:
    assert sizes.excesses(sizes.lines(), sizes.BUDGETS, sizes.TOTAL) == []


def test_an_excess_is_reported(tmp_path: Path) -> None:
    for name, lines in {
        "words": 3,
        "verbs/__init__": 1,
        "verbs/ties/result": 2,
        "files/trec": 5,
        "files/log/ubi": 5,
    }.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n" * lines)
    counts = sizes.lines(tmp_path)
    assert counts == {"modules": 4, "verbs/ties": 2, "files": 10}
    budgets = {"modules": 4, "verbs/ties": 2, "files": 10}
    assert sizes.excesses(counts, budgets, 16) == []
    assert sizes.excesses(counts, budgets, 15) == ["all packages have 16 lines, at most 15"]
    assert sizes.excesses(counts, budgets | {"files": 9}, 16) == ["files has 10 lines, at most 9"]
    assert sizes.excesses(counts, budgets | {"logs": 9}, 16) == ["logs does not exist"]
    assert sizes.excesses(counts, {"modules": 4, "files": 10}, 16) == ["verbs/ties has 2 lines and no budget"]
