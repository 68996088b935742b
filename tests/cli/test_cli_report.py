"""``rankscope report`` and ``rankscope demo --report``: where the page goes, what is said, what is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
TWO = ("judged.txt", "bm25.run", "best.run")


def test_the_page_is_written_and_the_verdict_said(run: Run, files: Path) -> None:
    said = run("report", *TWO, "-m", "RR", "-o", "page.html")
    assert said.code == 0
    assert "best beats bm25 on RR" in said.out
    assert "wrote page.html (0." in said.err
    assert "best beats bm25 on RR" in Path("page.html").read_text()
    assert "rankscope report judged.txt bm25.run best.run -m RR" in Path("page.html").read_text()


def test_without_a_name_it_is_report_html(run: Run, files: Path) -> None:
    assert run("report", *TWO, "-m", "RR").code == 0
    assert Path("report.html").exists()


def test_the_same_input_gives_the_same_bytes_wherever_it_goes(run: Run, files: Path) -> None:
    run("report", *TWO, "-m", "RR", "-o", "one.html")
    run("report", *TWO, "-m", "RR", "--quiet", "--output=two.html")
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()


def test_quiet_leaves_out_notes_and_not_the_verdict(run: Run, files: Path) -> None:
    said = run("report", *TWO, "-m", "RR", "-q")
    assert said.out.startswith(" best beats bm25 on RR")
    assert said.err == ""


def test_what_the_data_are_stands_on_the_page(run: Run, files: Path) -> None:
    run("report", *TWO, "-m", "RR", "--about", "Made up for a test.", "-q")
    assert "Made up for a test." in Path("report.html").read_text()


def test_it_goes_to_standard_output_alone(run: Run, files: Path) -> None:
    said = run("report", *TWO, "-m", "RR", "-o", "-")
    assert said.out.startswith("<!doctype html>")
    assert said.out.rstrip().endswith("</html>")
    assert not Path("report.html").exists()


def test_slices_costs_and_exports(run: Run, files: Path) -> None:
    said = run(
        "report",
        *TWO,
        "-m",
        "RR",
        "--slices",
        "slices.csv",
        "--costs",
        "costs.csv",
        "--export",
        "out",
        "--title",
        "Which one?",
    )
    assert said.code == 0, said.err
    page = Path("report.html").read_text()
    assert "<title>Which one?" in page
    assert 'id="slices"' in page
    assert 'id="costs"' in page
    assert {path.suffix for path in Path("out").iterdir()} == {".csv", ".json", ".svg", ".png", ".pdf"}


def test_one_run_and_scores_alone(run: Run, files: Path) -> None:
    assert run("report", "judged.txt", "bm25.run", "-m", "RR").code == 0
    Path("scores.csv").write_text("query_id,a,b\n" + "".join(f"q{i},{i / 10},{i / 8}\n" for i in range(8)))
    said = run("report", "--scores", "scores.csv", "-m", "AP")
    assert said.code == 0, said.err
    assert "AP" in Path("report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("report",), 2, "no qrels and no run were given: rankscope report QRELS RUN..."),
        (("report", "judged.txt"), 2, "no run was given"),
        (("report", *TWO, "-o", "page.pdf"), 2, "page.pdf: a page is one HTML file: name it like page.html"),
        (("report", *TWO, "-o", "no/page.html"), 2, "there is no folder no to write into"),
        (("report", *TWO, "--export", "judged.txt"), 2, "judged.txt: a file, not a folder"),
        (("report", *TWO, "--docs-text", "none.jsonl"), 2, "none.jsonl"),
        (("report", *TWO, "--queries-text", "slices.txt", "-o", "slices.txt"), 2, "slices.txt"),
        (("report", *TWO, "--shown", "0"), 2, "--shown"),
        (("report", "judged.txt", "bm25.run", "--margin", "0.1"), 2, "margin is for a comparison"),
        (("report", "bm25.run", "judged.txt"), 2, "not qrels; the order is QRELS RUN..."),
        (("report", *TWO, "--baseline", "bm52"), 2, "did you mean bm25?"),
        (("demo", "--report", "demo.txt"), 2, "demo.txt: a page is one HTML file"),
        (("demo", "--report", "no/demo.html"), 2, "there is no folder no to write into"),
    ],
)
def test_what_it_refuses(run: Run, files: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    got = run(*arguments)
    assert (got.code, got.out) == (code, "")
    assert said in got.err
    assert got.err.count("\n") == 1
    assert not Path("report.html").exists()


def test_without_the_extra_it_says_what_to_install(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    for arguments in (("report", *TWO, "-m", "RR"), ("demo", "--report", "demo.html")):
        got = run(*arguments)  # before any work is done: nothing was read or printed
        assert (got.code, got.out) == (2, "")
        assert "pip install 'rankscope[report]'" in got.err
        assert got.err.count("\n") == 1


def test_a_folder_that_cannot_be_written_into_is_told_first(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    got = run("demo", "--report", "demo.html")
    assert (got.code, got.out) == (2, "")
    assert "demo.html: cannot be written" in got.err


def test_the_demo_ends_with_a_report(run: Run, files: Path) -> None:
    said = run("demo", "--report", "demo.html")
    assert said.code == 0
    assert "wrote demo.html" in said.err
    page = Path("demo.html").read_text()
    assert "Three ways to search Python" in page
    assert "No person judged them" in page
    assert "hybrid beats bm25 on nDCG@10" in page


def test_a_page_that_is_there_is_replaced(run: Run, files: Path) -> None:
    """A page, and each file of a folder of exports."""
    for _ in range(2):
        assert run("report", *TWO, "-m", "RR", "-o", "page.html").code == 0
    Path("out").mkdir()
    Path("out/against-baseline.csv").write_text("what was there before\n")
    assert run("report", *TWO, "-m", "RR", "--export", "out").code == 0
    assert "before" not in Path("out/against-baseline.csv").read_text()


def test_the_demo_tells_no_place_of_this_machine(run: Run, files: Path) -> None:
    run("demo", "--report", "demo.html")
    page = Path("demo.html").read_text()
    assert "demo/bm25.run.gz" in page
    assert str(Path(__file__).resolve().parents[2]) not in page


def test_a_plan_in_a_file(run: Run, files: Path) -> None:
    rows = (f"u{i},{'AB'[i % 2]},{i % 3 == 0:d}" for i in range(300))
    Path("users.csv").write_text("\n".join(["visitor,cell_of_test,clicked", *rows]))
    Path("plan.json").write_text(
        '{"primary": "Mean(clicked)", "variant": "cell_of_test", "columns": {"clicked": "click"}, "looks": {"units": 900}}'
    )
    page = run("report", "users.csv", "--plan", "plan.json", "-o", "page.html")
    assert page.code == 0, page.err
    assert "Look 1 of the plan: 300 visitors of 900" in " ".join(page.out.split())
    gate = run("gate", "users.csv", "--plan", "plan.json")
    assert gate.code in {0, 4}, gate.err
    assert "Look 1 of the plan" in " ".join(gate.out.split())
    assert Path("plan.json.looks.json").exists()
    twice = run("gate", "users.csv", "--plan", "plan.json", "--variant", "visitor")
    assert (twice.code, twice.err.count("\n")) == (2, 1)
    assert "variant is set by the plan" in twice.err
