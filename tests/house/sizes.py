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

TOTAL = 86_777
BUDGETS = {
    "analysis": 636,
    "behaviour": 1_229,
    "cli": 2_939,
    "click_models": 1_136,
    "diagnostics": 963,
    "dialects": 513,
    "engines": 2_569,
    "estimators": 1_598,
    "experiments": 1_933,
    "files": 9_351,
    "inference": 4_641,
    "integrations": 185,
    "interleavings": 261,
    "ledger": 896,
    "lists": 2_375,
    "logs": 2_855,
    "metrics": 6_689,
    "modules": 2_913,
    "panels": 3_307,
    "rankers": 1_461,
    "reporting": 4_575,
    "scoring": 7_973,
    "sharding": 716,
    "show": 3_520,
    "testing": 755,
    "verbs/advise": 1_175,
    "verbs/agree": 350,
    "verbs/catalogue": 493,
    "verbs/check": 2_000,
    "verbs/clicks": 404,
    "verbs/compare": 1_604,
    "verbs/contexts": 755,
    "verbs/demo": 83,
    "verbs/diagnose": 846,
    "verbs/diversify": 289,
    "verbs/estimate": 310,
    "verbs/evaluate": 518,
    "verbs/experiment": 1_183,
    "verbs/explain": 896,
    "verbs/fuse": 66,
    "verbs/gate": 1_503,
    "verbs/interleave": 137,
    "verbs/interleaving": 283,
    "verbs/launches": 626,
    "verbs/learn": 268,
    "verbs/merge": 86,
    "verbs/online": 439,
    "verbs/pool": 222,
    "verbs/position_bias": 415,
    "verbs/power": 1_306,
    "verbs/reconcile": 699,
    "verbs/reproduce": 343,
    "verbs/rerank": 239,
    "verbs/simulate": 621,
    "verbs/ties": 158,
    "verbs/tune": 617,
    "verbs/unjudged": 1_025,
    "worlds": 829,
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
