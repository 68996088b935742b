"""What a sample of mutants came to, as the section of docs/trust.md that `tools/write_trust_page.py` puts in.

Survivors are read by a person once: `tools/mutants_judged.json` says of each whether it is equivalent (no input tells it from the
package) or a gap that is left, and why. One that nobody has judged counts as a gap.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import rankscope
from mutants_record import ROOT
from mutants_sites import Mutant

JUDGED, FOUND = ROOT / "tools" / "mutants_judged.json", ROOT / "tools" / "mutants.json"
KILLED = {"killed", "out of time"}
GOAL = 0.92


def write(mutants: list[Mutant], results: dict[str, dict[str, Any]], seed: int) -> None:
    """Keeps what was found, and the section."""
    judged: dict[str, dict[str, Any]] = json.loads(JUDGED.read_text(encoding="utf-8"))
    tried = [mutant for mutant in mutants if results.get(mutant.key, {}).get("what", "not tried") != "not tried"]
    outcome = {mutant.key: _outcome(results[mutant.key]["what"], judged.get(mutant.key, {})) for mutant in tried}
    rooms = {
        room: Counter(outcome[m.key] for m in tried if m.room == room) for room in dict.fromkeys(m.room for m in tried)
    }
    left = [m for m in tried if outcome[m.key] != "killed"]
    found = {
        "seed": seed, "drawn": len(mutants), "tried": len(tried), "rankscope": rankscope.__version__,
        "rooms": {room: dict(counts) for room, counts in rooms.items()},
        "survivors": [{"mutant": m.key, "outcome": outcome[m.key], "reason": judged.get(m.key, {}).get("reason", "")} for m in left],
    }  # fmt: skip
    FOUND.write_text(
        json.dumps(found | {"page": section(found)}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def _outcome(what: str, judged: dict[str, Any]) -> str:
    return "killed" if what in KILLED else "equivalent" if judged.get("equivalent") else "survived"


def section(found: dict[str, Any]) -> str:
    """The tables."""
    total: Counter[str] = Counter()
    rows = []
    for room, counts in found["rooms"].items():
        total.update(counts)
        rows.append(_row(f"`{room}`", Counter(counts)))
    rows.append(_row("**all**", total))
    tried = (
        f"{found['tried']:,} mutants"
        if found["tried"] == found["drawn"]
        else f"{found['tried']:,} of {found['drawn']:,} mutants"
    )
    head = f"{tried} drawn from seed {found['seed']} (`make mutants`), rankscope {found['rankscope']}; the goal is {GOAL:.0%} of those that are not equivalent.\n\n"
    table = (
        "| room | mutants | killed | equivalent | survived | killed of the rest |\n|---|--:|--:|--:|--:|--:|\n"
        + "".join(rows)
    )
    return head + table + "".join(_listed(found["survivors"], *kind) for kind in KINDS)


KINDS = (("survived", "Survivors, and why they are left"), ("equivalent", "Equivalent: the change makes no difference"))


def _row(name: str, counts: Counter[str]) -> str:
    killed, all_of_them = counts["killed"], counts.total()
    rest = all_of_them - counts["equivalent"]
    share = f"{killed / rest:.1%}" if rest else ""
    return f"| {name} | {all_of_them} | {killed} | {counts['equivalent']} | {counts['survived']} | {share} |\n"


def _listed(survivors: list[dict[str, str]], outcome: str, title: str) -> str:
    def cell(text: str) -> str:
        return text.replace("|", "\\|").replace("\n", " ")

    rows = [
        f"| `{cell(one['mutant'])}` | {cell(one['reason'] or 'not judged yet')} |\n"
        for one in survivors
        if one["outcome"] == outcome
    ]
    return f"\n{title}:\n\n| change | why |\n|---|---|\n{''.join(rows)}" if rows else ""
