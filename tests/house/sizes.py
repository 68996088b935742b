"""Budgets of lines: how many lines of Python each package of rankscope may have.

    python -m tests.house.sizes    prints the table: lines, budget and room left of each package

A feature that exceeds a budget removes lines elsewhere in the package first; a budget is raised in the change that needs it, with
the reason in its message. A new package gets a row.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.made.files import some

SRC = Path(__file__).resolve().parents[2] / "src" / "rankscope"

TOTAL = 61916
BUDGETS = {
    "analysis": 645,
    "behaviour": 352,
    "cli": 2_074,
    "diagnostics": 804,
    "dialects": 505,
    "engines": 2_552,
    "experiments": 1_055,
    "files": 7_684,
    "inference": 3_364,
    "integrations": 186,
    "lists": 1_519,
    "logs": 1_651,
    "metrics": 4_445,
    "modules": 2665,
    "panels": 2_855,
    "reporting": 4_374,
    "scoring": 5_998,
    "sharding": 685,
    "show": 3_399,
    "testing": 726,
    "verbs/advise": 1_211,
    "verbs/catalogue": 552,
    "verbs/check": 1_947,
    "verbs/compare": 1_421,
    "verbs/demo": 89,
    "verbs/diagnose": 862,
    "verbs/evaluate": 470,
    "verbs/experiment": 939,
    "verbs/explain": 882,
    "verbs/gate": 1_314,
    "verbs/merge": 88,
    "verbs/online": 438,
    "verbs/pool": 234,
    "verbs/power": 856,
    "verbs/reconcile": 716,
    "verbs/simulate": 365,
    "verbs/ties": 154,
    "verbs/unjudged": 1_080,
    "worlds": 760,
}  # fmt: skip


def package_of(module: Path, root: Path = SRC) -> str:
    """Return the package that holds a module; modules outside of packages are counted as "modules", each verb as a package."""
    parts = module.relative_to(root).parts[:-1]
    if parts in {(), ("verbs",)}:
        return "modules"
    return "/".join(parts[:2]) if parts[0] == "verbs" else parts[0]


def lines(root: Path = SRC) -> Counter[str]:
    """Return the lines of Python by package."""
    counts: Counter[str] = Counter()
    for path in some(root.rglob("*.py")):
        counts[package_of(path, root)] += path.read_text(encoding="utf-8").count("\n")
    return counts


def excesses(counts: Counter[str], budgets: dict[str, int], total: int) -> list[str]:
    """Return one line per package above its budget or without one, per budget without a package, and for the total."""
    out = [f"{package} has {counts[package]} lines and no budget" for package in counts if package not in budgets]
    out += [
        f"{package} has {counts[package]} lines, at most {most}" if package in counts else f"{package} does not exist"
        for package, most in budgets.items()
        if package not in counts or counts[package] > most
    ]
    return out + ([f"all packages have {counts.total()} lines, at most {total}"] if counts.total() > total else [])


def main() -> None:
    """Print the table."""
    counts = lines()
    for package in sorted({*counts, *BUDGETS}):
        count, most = counts[package], BUDGETS.get(package, 0)
        print(f"{package:<20}{count:>8,}{most:>8,}{most - count:>8,}")
    print(f"{'total':<20}{counts.total():>8,}{TOTAL:>8,}{TOTAL - counts.total():>8,}")


if __name__ == "__main__":
    main()
