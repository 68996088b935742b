"""The table of a paper: what is bold and marked, and that LaTeX sets it in a page of two columns."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.show.latex import latex_text
from rankscope.verbs.compare.result import Comparison

QUERIES = [f"q{i:02}" for i in range(40)]
METRICS = ["nDCG@10", "AP", "RR@10", "R@100", "P@10"]
NASTY = ["a_b", "50% & more", "[x]", "*star", "C:\\runs~1", "{brace}", "#1 $x^2$", "naïve ş ß 検 →", "<q> | \"'", "Ω−1"]


def compared(systems: list[str], metrics: list[str] = METRICS[:1], **more: Any) -> Comparison:
    """Systems each clearly better than the one before it, but the last, which is as good as the one before."""
    draws = np.random.default_rng(4)
    hard = draws.random(len(QUERIES)) / 4
    means = [0.1 + 0.6 * min(i, len(systems) - 2) / len(systems) for i in range(len(systems))]
    values = [(hard + mean + draws.normal(0, 0.02, len(QUERIES))).clip(0, 1).tolist() for mean in means]
    rows = [
        (system, query, metric, value)
        for system, row in zip(systems, values, strict=True)
        for query, value in zip(QUERIES, row, strict=True)
        for metric in metrics
    ]
    frame = pl.DataFrame(rows, schema=["run", "query_id", "metric", "value"], orient="row")
    return rs.compare(frame, metrics=metrics, **more)


def rows_of(latex: str) -> dict[str, list[str]]:
    """The cells of each row, by the name that it begins with."""
    body = latex.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    rows = [line.removesuffix(r" \\").split(" & ") for line in body.splitlines()]
    return {re.sub(r"\\textsuperscript\{\w*\}", "", row[0]): row[1:] for row in rows}


def test_letters_name_every_system_that_is_significantly_worse() -> None:
    found = compared(["w", "x", "y", "z"], all_pairs=True)
    rows = rows_of(found.to_latex(digits=2))
    letters = dict(zip("wxyz", "abcd", strict=True))
    for system, (value, marks) in rows.items():
        worse = {c.baseline if c.run == system else c.run for c in found.contrasts if system in {c.run, c.baseline}
                 if c.verdict == ("better" if c.run == system else "worse")}  # fmt: skip
        said = re.sub(r"\\textsuperscript\{(\w*)\}", r"\1", marks)
        assert said == "".join(sorted(letters[other] for other in worse))
        assert float(re.sub(r"\\textbf\{(.*)\}", r"\1", value)) == round(found.panels[0].means[system], 2)
    assert rows["w"][1] == ""
    assert rows["y"][1] == r"\textsuperscript{ab}"
    assert (
        "Letters: significantly better than these systems at 5\\%: paired t test, Holm over 6 comparisons"
        in found.to_latex()
    )


def test_marks_say_better_and_worse_than_a_baseline_and_rows_stay_as_given() -> None:
    found = compared(["z", "y", "x", "w"], baseline="y")
    latex = found.to_latex()
    rows = rows_of(latex)
    assert list(rows) == ["z", "y", "x", "w"]
    assert [row[1] for row in rows.values()] == [r"\textsuperscript{$\dagger$}", "", *[r"\textsuperscript{{*}}"] * 2]
    assert (
        r"\item {*} better, $\dagger$ worse than y at 5\%: paired t test, Holm over 3 comparisons; 40 queries." in latex
    )


def test_the_best_as_far_as_digits_tell_is_bold() -> None:
    scores = {"a": {"q1": 0.3, "q2": 0.5}, "b": {"q1": 0.3001, "q2": 0.5}, "c": {"q1": 0.1, "q2": 0.5}}
    found = rs.compare(scores, metrics="AP")
    assert [row[0] for row in rows_of(found.to_latex(digits=2)).values()] == [
        r"\textbf{0.40}",
        r"\textbf{0.40}",
        "0.30",
    ]
    assert [row[0] for row in rows_of(found.to_latex(digits=5)).values()] == ["0.40000", r"\textbf{0.40005}", "0.30000"]
    same = rs.compare({"a": scores["a"], "b": scores["a"]}, metrics="AP")
    assert "textbf" not in same.to_latex()


def test_lower_is_better_where_a_metric_says_so_and_neither_is_never_bold() -> None:
    qrels = {q: {"a": 1, "b": 0} for q in QUERIES}
    good, poor = ({q: dict(zip(order, (2.0, 1.0), strict=True)) for q in QUERIES} for order in ("ab", "ba"))
    latex = rs.compare(
        qrels, {"good": good, "poor": poor}, ["RR", "PercentileRank", "Judged@1", "NumRelRet"]
    ).to_latex()
    assert r"\multicolumn{2}{c}{PercentileRank$\downarrow$}" in latex
    rows = rows_of(latex)
    assert [cell.startswith(r"\textbf") for cell in rows["good"][::2]] == [True, True, False, False]
    assert rows["good"][6] == "40"  # a count has no digits after its point


def test_caption_and_label() -> None:
    found = compared(["a", "b"])
    latex = found.to_latex(caption="All of it: 50% of_a & b", label="tab:main-1")
    assert r"\caption{All of it: 50\% of\_a \& b}" in latex
    assert r"\label{tab:main-1}" in latex
    assert r"\caption{2 systems on 40 queries.}" in found.to_latex()
    with pytest.raises(InputError, match="a label of LaTeX is letters"):
        found.to_latex(label="a}b")
    for digits in (0, 10, True, "2"):
        with pytest.raises(InputError, match="from 1 to 9"):
            found.to_latex(digits=digits)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="digits is of the table of a paper"):
        found.write("csv", digits=2)


def test_text_is_escaped_and_ascii_where_fonts_have_nothing_else() -> None:
    for name in NASTY:
        text = latex_text(name)
        assert not re.search(r"(?<!\\)[%&#_]", text)
        assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert latex_text("é ş 検") == "é s ?"


# --- LaTeX for real ----------------------------------------------------------------------------------------

PAGE = r"""\documentclass[twocolumn]{article}
\usepackage{booktabs}
\usepackage{threeparttable}
\newbox\wide\newbox\narrow
\begin{document}
TABLES
\end{document}
"""
# the table with its note, and the rows alone: the note must not make it wider
MEASURED = r"""\setbox\wide=\hbox{WITH}\setbox\narrow=\hbox{ALONE}
\typeout{widths NUMBER: \the\wd\wide\space \the\wd\narrow}
"""


@pytest.fixture(scope="module")
def pdflatex() -> str:
    """pdflatex with the two packages that the table needs."""
    found = shutil.which("pdflatex")
    ask = shutil.which("kpsewhich") or ""
    missing = [f"{name}.sty" for name in ("booktabs", "threeparttable") if found and not _has(ask, f"{name}.sty")]
    if found is None or missing:
        reason = f"pdflatex is not here{f' with {missing[0]}' if missing else ''} (Debian: texlive-latex-extra)"
        if os.environ.get("RANKSCOPE_REQUIRE_LATEX") == "1":
            pytest.fail(f"RANKSCOPE_REQUIRE_LATEX=1, but {reason}")
        pytest.skip(reason)
    return found


def _has(ask: str, file: str) -> bool:
    return bool(ask) and subprocess.run([ask, file], capture_output=True, check=False).returncode == 0


def test_tables_compile_in_two_columns_and_notes_do_not_stretch_them(pdflatex: str, tmp_path: Path) -> None:
    many = [f"system-{i}" for i in range(30)]
    tables = [
        compared(["bm25", "dense", "hybrid"], METRICS[:2]).to_latex(),
        compared(["bm25", "dense", "hybrid"], METRICS, all_pairs=True).to_latex(label="tab:pairs"),
        compared(["bm25", "a run with a rather long name"], METRICS, baseline="bm25").to_latex(
            label="tab:long", digits=4
        ),
        compared(many, METRICS[:3]).to_latex(label="tab:many", digits=4),
        compared(many[:12], METRICS[:4], all_pairs=True).to_latex(label="tab:twelve"),
        compared(NASTY, METRICS[:1]).to_latex(label="tab:nasty", caption=" ".join(NASTY)),
        compared(["a", "b"], [f"nDCG@{k}" for k in (1, 2, 3, 5, 10, 20, 50, 100)]).to_latex(label="tab:wide"),
    ]
    assert [r"\begin{table*}" in table for table in tables] == [False, False, True, False, True, False, True]
    measured = []
    for number, table in enumerate(tables):
        layout = re.search(r"\\centering(.*)", table)
        assert layout is not None
        inside = table.partition("\\begin{threeparttable}")[2].partition("\\end{threeparttable}")[0]
        inside = re.sub(r"\\(caption|label)\{.*\}\n", "", inside)  # of a float alone
        whole = f"{layout[1]}\\begin{{threeparttable}}{inside}\\end{{threeparttable}}"
        rows = layout[1] + inside[inside.index(r"\begin{tabular}") : inside.index(r"\begin{tablenotes}")].rstrip()
        measured.append(MEASURED.replace("WITH", whole).replace("ALONE", rows).replace("NUMBER", str(number)))
    (tmp_path / "paper.tex").write_text(PAGE.replace("TABLES", "\n".join([*tables, *measured])), encoding="utf-8")
    command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, "\n".join(line for line in log.splitlines() if line.startswith(("!", "l.")))
    assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")
    assert "Overfull" not in log
    assert "Missing character" not in log
    widths = re.findall(r"widths (\d+): ([\d.]+)pt ([\d.]+)pt", log)
    assert len(widths) == len(tables)
    for _, whole, rows in widths:
        assert float(whole) == pytest.approx(float(rows), abs=0.5)
