"""A case with many faults at once: each is named with its code, and mending it silences the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankscope.verbs.check.check import check
from rankscope.verbs.check.result import Inspection

METRICS = ["nDCG(ideal='retrieved_topk')@10", "nDCG@10", "nDCG@5", "AP"]


def files(folder: Path, constant: bool = True, duplicates: bool = True) -> tuple[Path, list[tuple[str, Path]]]:
    """Graded judgments, a run that ranks a document twice, and a scorer that gives everything one score."""
    qrels, good, flat = folder / "qrels.txt", folder / "good.run", folder / "flat.run"
    judgments, one, other = [], [], []
    for q in range(8):
        judgments += [f"q{q} 0 d{q}{d} {grade}" for d, grade in enumerate((3, 2, 1, 0, 0, 1, 0, 2))]
        one += [f"q{q} Q0 d{q}{(d + q) % 8} {d + 1} {8 - d} good" for d in range(8)]
        other += [f"q{q} Q0 d{q}{d} {d + 1} {1.0 if constant else 8 - d} flat" for d in range(8)]
        if duplicates:
            one.append(f"q{q} Q0 d{q}{q % 8} 9 0.5 good")
    for path, lines in ((qrels, judgments), (good, one), (flat, other)):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return qrels, [("good", good), ("flat", flat)]


def by_code(found: Inspection) -> dict[str, str]:
    return {finding.code: finding.severity for finding in found}


def test_every_planted_fault_is_named(tmp_path: Path) -> None:
    found = check(*files(tmp_path), METRICS)
    codes = by_code(found)
    assert codes["RS313"] == "warning"  # nDCG from retrieved-only ideals
    assert codes["RS312"] == "warning"  # beside nDCG from all judged
    assert "RS301" in codes  # AP on graded labels
    assert "RS311" in codes  # different k
    assert codes["RS104"] == "warning"  # duplicate documents
    assert codes["RS205"] == "warning"  # a tied constant scorer
    assert "RS203" in codes  # whose number could be another
    assert found.exit_code == 1


@pytest.mark.parametrize(
    ("code", "metrics", "planted"),
    [
        ("RS313", ["nDCG@10"], {}),
        ("RS312", ["nDCG@10"], {}),
        ("RS311", ["nDCG@10"], {}),
        ("RS301", ["nDCG@10"], {}),
        ("RS104", METRICS, {"duplicates": False}),
        ("RS205", METRICS, {"constant": False}),
    ],
)
def test_a_fault_that_is_mended_is_named_no_more(
    code: str, metrics: list[str], planted: dict[str, bool], tmp_path: Path
) -> None:
    assert code not in by_code(check(*files(tmp_path, **planted), metrics))
