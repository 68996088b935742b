"""``rankscope metrics NAME --plot``: what each rank is worth to a metric."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import pytest


def told(out: str) -> list[float]:
    """The numbers of the first row of the last table, whose columns may stand in two parts: weights at ranks 1, 2, 3, 5, 10, 20, 50, 100."""
    lines = out[out.index("\n metric") :].splitlines()
    row = " ".join(line for line in lines if not line.startswith(" below") and ", below others" not in line)
    return [float(number) for number in re.findall(r"\b\d\.\d{4}\b", row)]


def test_a_plot_in_the_terminal(run: Any) -> None:
    said = run("metrics", "RR", "--plot")
    assert said.code == 0
    assert said.err == ""
    assert "Weight of each rank in RR" in said.out
    assert told(said.out) == [round(1 / r, 4) for r in (1, 2, 3, 5, 10, 20, 50, 100)]
    assert max(map(len, said.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("nDCG", lambda r: 1 / log2(r + 1)),
        ("ndcg_cut_10", lambda r: 1 / log2(r + 1) if r <= 10 else 0),
        ("RBP(p=0.5)", lambda r: 0.5 ** (r - 1)),
        ("P", lambda r: float(r <= 10)),
        ("ERR", lambda r: 1 / r),
        ("mrr@20", lambda r: 1 / r if r <= 20 else 0),
    ],
)
def test_any_spelling_of_a_metric(run: Any, name: str, weight: Callable[[int], float]) -> None:
    said = run("metrics", name, "--plot")
    assert said.code == 0
    assert told(said.out) == pytest.approx([weight(r) for r in (1, 2, 3, 5, 10, 20, 50, 100)], abs=6e-5)


def test_a_figure(run: Any, need: Callable[[str], Any]) -> None:
    need("altair")
    need("vl_convert")
    said = run("metrics", "RR", "--plot", "-o", "rr.svg")
    assert (said.code, said.out, said.err) == (0, "", "wrote rr.svg (svg)\n")
    assert Path("rr.svg").read_text(encoding="utf-8").startswith("<svg")
    assert run("metrics", "RR", "--plot", "-o", "rr.PNG").code == 0
    assert Path("rr.PNG").read_bytes().startswith(b"\x89PNG")


def test_what_good_documents_hide_stands_beside_what_one_alone_is_worth(run: Any) -> None:
    said = run("metrics", "ERR", "--plot")
    assert said.code == 0
    assert "ERR, below others  1.0000  0.0312  0.0013" in said.out  # 1/16 go on, and read the next at half the worth
    assert "ERR reach of a report is different" in " ".join(said.out.split())
    assert ", below others" not in run("metrics", "nDCG", "--plot").out


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (["RR", "-o", "rr.svg"], "add --plot (rankscope metrics RR --plot -o rr.svg)"),
        (["-o", "rr.PNG"], "add --plot (rankscope metrics RR --plot -o rr.PNG)"),
        (["RR", "-o", "rr.csv"], "written as table or json, not as csv"),
        (["-o", "catalogue"], "a name without an ending is not known, name one with --format: table, json"),
    ],
)
def test_a_catalogue_in_a_file_of_another_kind_is_one_line(run: Any, arguments: list[str], because: str) -> None:
    said = run("metrics", *arguments)
    assert (said.code, said.out) == (2, "")
    assert because in said.err
    assert len(said.err.splitlines()) == 1
    assert "jsonl" not in said.err
    assert not Path(arguments[-1]).exists()


def test_a_plot_as_text_in_a_file(run: Any) -> None:
    said = run("metrics", "RR", "--plot", "-o", "rr.txt")
    assert (said.code, said.err) == (0, "wrote rr.txt (plot)\n")
    assert "0.5000" in Path("rr.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (["AUC"], "AUC has no weight by rank"),
        (["SetP"], "ignores the order"),
        (["Judged@10"], "has no weight by rank"),
        (["nDGC"], "did you mean nDCG?"),
        (["nDCG@5,10"], "names 2 metrics, but only one fits here"),
        (["official"], "official is a set"),
        ([], "name one, like rankscope metrics RR --plot"),
        (["RR", "--table"], "leave out --table"),
        (["RR", "--format", "json"], "not as json"),
        (["RR", "-o", "rr.csv"], ".svg, .png, .pdf or .txt, not as .csv"),
        (["RR", "-o", "nowhere/rr.svg"], "no folder nowhere"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(run: Any, arguments: list[str], because: str) -> None:
    said = run("metrics", *arguments, "--plot")
    assert said.code == 2
    assert said.out == ""
    assert because in said.err
    assert len(said.err.splitlines()) == 1
