"""docs/check.md: its tables are those of the rules, and what it says of known collections is what check says."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_is_up_to_date() -> None:
    written = runpy.run_path(str(ROOT / "tools" / "write_rules_page.py"))
    assert written["page"]() == (ROOT / "docs" / "check.md").read_text(encoding="utf-8"), (
        "python tools/write_rules_page.py writes it"
    )


KNOWN = [
    ("trec_eval/qrels.test", ["trec_eval/results.test"], [], []),
    ("trec_eval/qrels.test", ["trec_eval/results.trunc"], ["RS101"], []),
    ("trec_eval/qrels.rel_level", ["trec_eval/results.test"], [], []),
    ("trec_eval/qrels.123", ["trec_eval/results.test"], ["RS104"], []),
    ("trec_eval/qrels.comment.test", ["trec_eval/results.comment.test"], ["RS204"], ["RS102", "RS103"]),
    ("robust03/robust03_qrels.txt.gz", ["robust03/runs"], ["RS202"], ["RS203", "RS409"]),
    ("trec_covid/qrels.txt", ["trec_covid/round1/runs"], ["RS201"] * 4 + ["RS204"], ["RS203", "RS409"]),
    ("ir_measures/compat.qrels", ["ir_measures/compat.run"], [], []),
    ("ir_measures/cwl.qrels", ["ir_measures/cwl.run"], ["RS204"], ["RS202"]),
    ("cacm/qrels.cacm.txt", ["cacm/cacm-bm25.txt"], ["RS114"], ["RS102", "RS202", "RS204"]),
]


@pytest.mark.parametrize(("qrels", "runs", "warnings", "notes"), KNOWN, ids=[f"{q}-{r[0]}" for q, r, _, _ in KNOWN])
def test_known_collections_raise_no_false_alarm(
    shared_data: Any, qrels: str, runs: list[str], warnings: list[str], notes: list[str]
) -> None:
    paths = [shared_data(run) for run in runs]
    files = [str(f) for path in paths for f in (sorted(path.iterdir()) if path.is_dir() else [path])]
    others = ["RS3", *(f"RS40{n}" for n in range(1, 8))]  # notes about metrics and pairs have tests of their own
    found = rs.check(str(shared_data(qrels)), files, ignore=others)
    assert [f.code for f in found if f.severity == "warning"] == warnings
    assert [f.code for f in found if f.severity == "information"] == notes
