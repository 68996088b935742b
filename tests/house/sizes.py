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

TOTAL = 88_747
BUDGETS = {
    "analysis": 649,
    "behaviour": 1_237,
    "cli": 3_074,
    "click_models": 1_161,
    "diagnostics": 967,
    "dialects": 536,
    "engines": 2_631,
    "estimators": 1_634,
    "experiments": 2_281,
    "files": 9_285,
    "inference": 4_661,
    "integrations": 186,
    "interleavings": 264,
    "ledger": 916,
    "lists": 2_316,
    "logs": 2_836,
    "metrics": 6_816,
    "modules": 2_985,
    "panels": 3_364,
    "rankers": 1_465,
    "reporting": 4_671,
    "scoring": 8_266,
    "sharding": 687,
    "show": 3_575,
    "testing": 772,
    "verbs/advise": 1_222,
    "verbs/agree": 396,
    "verbs/catalogue": 559,
    "verbs/check": 2_084,
    "verbs/clicks": 417,
    "verbs/compare": 1_746,
    "verbs/contexts": 765,
    "verbs/demo": 89,
    "verbs/diagnose": 882,
    "verbs/diversify": 289,
    "verbs/estimate": 319,
    "verbs/evaluate": 533,
    "verbs/experiment": 1_222,
    "verbs/explain": 905,
    "verbs/fuse": 65,
    "verbs/gate": 1_571,
    "verbs/interleave": 137,
    "verbs/interleaving": 288,
    "verbs/launches": 619,
    "verbs/learn": 259,
    "verbs/merge": 86,
    "verbs/online": 443,
    "verbs/pool": 222,
    "verbs/position_bias": 425,
    "verbs/power": 1_341,
    "verbs/reconcile": 742,
    "verbs/reproduce": 359,
    "verbs/rerank": 243,
    "verbs/simulate": 579,
    "verbs/ties": 161,
    "verbs/tune": 624,
    "verbs/unjudged": 1_082,
    "worlds": 838,
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
