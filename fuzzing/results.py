"""The record of a campaign: counts by form and outcome, for docs/trust.md."""

from __future__ import annotations

import json
import platform
import runpy
import subprocess
from pathlib import Path
from typing import Any

from fuzzing.campaign import Campaign, Tried
from fuzzing.known import KNOWN, known

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "fuzzing" / "results.json"
COLUMNS = {"read by both": "read", "read": "read", "refused by both": "refused", "refused": "refused", "open": "open"}


def summary(tried: Tried) -> dict[str, Any]:
    """Inputs by form and outcome; what is in none of the columns is a finding."""
    forms: dict[str, dict[str, int]] = {}
    for key, count in tried.outcomes.items():
        form, _, outcome = key.partition(" | ")
        row = forms.setdefault(form, {"inputs": 0, "read": 0, "refused": 0, "open": 0})
        row["inputs"] += count
        if outcome in COLUMNS:
            row[COLUMNS[outcome]] += count
    return {"inputs": tried.inputs, "forms": dict(sorted(forms.items())), "levels": dict(sorted(tried.levels.items()))}


def record(campaign: Campaign) -> dict[str, Any]:
    """What is kept of a campaign."""
    from rankscope import __version__

    tried = campaign.tried
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    findings = [
        {"kind": found.kind, "form": found.form, "count": found.count, "number": found.number, "open": known(signature)}
        for signature, found in sorted(tried.findings.items())
    ]
    return summary(tried) | {
        "seed": campaign.seed,
        "hours": round(tried.seconds / 3600, 2),
        "python": platform.python_version(),
        "rankscope": __version__,
        "commit": commit.stdout.strip(),
        "open": list(KNOWN),
        "findings": findings,
        "cured": dict(tried.cured),
    }


def write(campaign: Campaign) -> None:
    """Keep the record, and write the page anew."""
    STORE.write_text(json.dumps(record(campaign), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = runpy.run_path(str(ROOT / "tools" / "write_trust_page.py"))
    page["PAGE"].write_text(page["page"](), encoding="utf-8")
