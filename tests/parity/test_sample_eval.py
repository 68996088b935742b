"""Values of sampled judgments beside NIST's sample_eval.pl, run for real if it is on the PATH."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import rankscope as rs

SCRIPT = shutil.which("sample_eval.pl")
NAMES = {"infAP": "xinfAP@1000", "infNDCG": "infNDCG@1000"}


def a_stratified_world(folder: Path) -> tuple[Path, Path]:
    """Qrels of three strata, drawn at other rates, and a run with unpooled documents and ties."""
    rng = np.random.default_rng(5)
    judged, ranked = [], []
    for topic in range(1, 13):
        pool = [f"d{i:03d}" for i in range(90)]
        for number, doc in enumerate(pool):
            stratum = 1 + number // 30
            sampled = rng.random() < (1.0, 0.4, 0.15)[stratum - 1]
            grade = int(rng.choice([0, 0, 1, 2])) if sampled else -1
            judged.append(f"{topic} 0 {doc} {stratum} {grade}")
        docs = rng.permutation([*pool[: 15 * (topic % 5 + 1)], *(f"x{i}" for i in range(20))])
        ranked += [f"{topic} Q0 {doc} {i} {(len(docs) - i) // 2} run" for i, doc in enumerate(docs.tolist())]
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    qrels.write_text("\n".join(judged) + "\n")
    run.write_text("\n".join(ranked) + "\n")
    return qrels, run


@pytest.mark.skipif(SCRIPT is None, reason="sample_eval.pl is not on the PATH")
def test_every_query(tmp_path: Path) -> None:
    qrels, run = a_stratified_world(tmp_path)
    printed = subprocess.run(["perl", str(SCRIPT), "-q", qrels, run], capture_output=True, text=True, check=True).stdout
    expected = {
        (ours, topic): float(value)
        for theirs, ours in NAMES.items()
        for topic, value in re.findall(rf"^{theirs}\s+(\d+)\s+([0-9.]+)$", printed, re.MULTILINE)
    }
    found = rs.evaluate(qrels, run, list(NAMES.values())).per_query
    assert len(expected) == 24
    for metric, topic, value in found.select("metric", "query_id", "value").rows():
        assert value == pytest.approx(expected[metric, topic], abs=0.0000501)
