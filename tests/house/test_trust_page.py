"""docs/trust.md: its tables are those that were measured."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

from fuzzing.known import KNOWN

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date() -> None:
    written = runpy.run_path(str(ROOT / "tools" / "write_trust_page.py"))
    assert written["page"]() == (ROOT / "docs" / "trust.md").read_text(encoding="utf-8"), (
        "python tools/write_trust_page.py writes it"
    )


def test_what_the_record_found_new_is_told() -> None:
    store = ROOT / "fuzzing" / "results.json"
    if store.exists():
        findings = json.loads(store.read_text(encoding="utf-8"))["findings"]
        assert {finding["open"] for finding in findings} <= {*KNOWN, ""}
