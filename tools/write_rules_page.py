"""Write the table of rules in docs/check.md from their declarations.

Run without arguments; ``tests/verbs/check/test_page.py`` fails where the page is out of date.
"""

from __future__ import annotations

from pathlib import Path

from rankscope.diagnostics.codes import all_rules
from rankscope.diagnostics.rule import Rule

PAGE = Path(__file__).resolve().parents[1] / "docs" / "check.md"
START, END = "<!-- rules: written by tools/write_rules_page.py -->", "<!-- end of rules -->"
FAMILIES = {
    "RS1": "What was given",
    "RS2": "Rankings",
    "RS3": "Metrics against the data",
    "RS4": "Comparisons",
    "RS5": "Training data",
    "RS6": "Logs",
}


def page() -> str:
    """The whole page, its tables fresh."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    return f"{before}{START}\n\n{tables()}{END}{rest.partition(END)[2]}"


def tables() -> str:
    """A table for each family of codes."""
    out = []
    for start, title in FAMILIES.items():
        rows = [_row(rule) for rule in all_rules() if rule.code.startswith(start)]
        out.append(f"### {title}\n\n| code | severity | what | why | to do |\n|---|---|---|---|---|\n" + "".join(rows))
    return "\n".join(out) + "\n"


def _row(rule: Rule) -> str:
    cells = (rule.code, rule.severity, rule.what, rule.why, rule.remedy)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
