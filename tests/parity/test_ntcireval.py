"""The metrics of NTCIREVAL, from the expected output of its own tests."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import rankscope as rs

SCALE = "max_grade=3, stops='ntcireval'"
OURS = {
    "RR": "RR",
    "O-measure": "OMeasure",
    "P-measure": "PMeasure",
    "P-plus": "PPlus",
    "AP": "AP",
    "Q-measure": "Q",
    "NCUgu,P": "NCU(utility='precision')",
    "NCUgu,BR": "NCU",
    "NCUrb,P": "NCU(stops='rank_biased', utility='precision')",
    "NCUrb,BR": "NCU(stops='rank_biased')",
    "RBP": "RBP(p=0.95, max_grade=3)",
    "ERR": f"ERR({SCALE})",
}
AT = {
    "AP@": "AP(denominator='min_k_relevant')@{k}",
    "nDCG@": "nDCG(discount='log2_rank')@{k}",
    "MSnDCG@": "nDCG@{k}",
    "P@": "P@{k}",
    "nERR@": f"nERR({SCALE})@{{k}}",
    "Hit@": "Success@{k}",
}
FILES = {"res_test_compute.txt": 1000, "res_test_compute_cutoff.txt": 2}
GAINS = {1: 1, 2: 4, 3: 9}  # of the file of other grades


def printed(path: Path) -> dict[str, float]:
    """The values that the tool printed, by its names."""
    found = re.findall(r"^ (\S+)= +([0-9.]+)$", path.read_text(), re.MULTILINE)
    return {name: float(value) for name, value in found}


def sample(folder: Path) -> tuple[list[str], dict[str, int]]:
    judged = {doc: int(level[1:]) for doc, level in map(str.split, (folder / "sample.rel").read_text().splitlines())}
    return (folder / "sample.res").read_text().split(), judged


@pytest.mark.parametrize("name", FILES, ids=["cut at 1000", "cut at 2"])
def test_values_that_the_tool_printed(shared_data: Callable[[str], Path], name: str) -> None:
    folder, k = shared_data("ntcireval"), FILES[name]
    ranked, judged = sample(folder)
    expected = printed(folder / name)
    spellings = OURS | {f"{theirs}{k:04d}": ours.format(k=k) for theirs, ours in AT.items()}
    assert spellings.keys() <= expected.keys()
    for theirs, ours in spellings.items():
        found = rs.parse(ours).of(ranked, judgments=judged)
        assert found == pytest.approx(expected[theirs], abs=0.00005001), (theirs, ours)  # 0.40625 is printed as 0.4062


def test_other_gains(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("ntcireval")
    ranked, judged = sample(folder)
    expected = printed(folder / "res_test_compute_grade.txt")
    table = f"gain={GAINS}"
    ours = {"Q-measure": f"Q({table})", "NCUgu,BR": f"NCU({table})", "NCUgu,P": f"NCU({table}, utility='precision')"}
    for theirs, spelling in ours.items():
        assert rs.parse(spelling).of(ranked, judgments=judged) == pytest.approx(expected[theirs], abs=0.00005001)


def test_list_without_unjudged_documents(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("ntcireval")
    ranked, judged = sample(folder)
    expected = printed(folder / "res_test_compute_label_j.txt")
    condensed = [doc for doc in ranked if doc in judged]
    for theirs in ("AP", "Q-measure", "NCUgu,BR", "NCUrb,P", "ERR"):
        assert rs.parse(OURS[theirs]).of(condensed, judgments=judged) == pytest.approx(expected[theirs], abs=0.00005001)
