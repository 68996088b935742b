"""The planted case: five well known mistakes in one evaluation, each named with its code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

QUERIES = [f"q{i}" for i in range(20)]
DOCS = [f"d{j:02d}" for j in range(20)]


def test_each_planted_mistake_is_named(run: Callable[..., Any], tmp_path: Path) -> None:
    grades = [3, 2, 2, 1, 1, 1, *[0] * 14]
    qrels = "".join(f"{q} 0 {d} {g}\n" for q in QUERIES for d, g in zip(DOCS, grades, strict=True))
    fair = "".join(f"{q} Q0 {d} {i} {50 - i} fair\n" for q in QUERIES for i, d in enumerate(DOCS, 1))
    # every document of one score, written best first, and the best document a second time
    constant = "".join(f"{q} Q0 {d} {i} 1.0 constant\n" for q in QUERIES for i, d in enumerate(DOCS, 1))
    constant += "q0 Q0 d00 21 1.0 constant\n"
    for name, text in (("qrels.txt", qrels), ("fair.run", fair), ("constant.run", constant)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    asked = ["nDCG(ideal='retrieved_topk')@10", "AP", "nDCG@5", "nDCG@10"]
    options = [part for metric in asked for part in ("-m", metric)]
    files = [str(tmp_path / name) for name in ("qrels.txt", "fair.run", "constant.run")]
    result = run("check", *files, *options, "--format", "json")
    assert result.code == 1
    found = json.loads(result.out)["warnings"]
    codes = {finding["code"] for finding in found}
    assert "RS104" in codes  # a document twice
    assert "RS205" in codes  # a constant scorer
    assert "RS203" in codes  # whose ties leave the number open
    assert "RS301" in codes  # AP on graded judgments
    assert "RS311" in codes  # several cutoffs side by side
    assert codes & {"RS312", "RS313"}  # an ideal of what was retrieved
    assert {f["run"] for f in found if f["code"] in {"RS104", "RS205"}} == {"constant"}
