"""The report as a whole: what it is made of, what it refuses, the same bytes for the same input."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.blocks import Chart, Explorer, Table

QRELS = {f"q{i:02}": {"a": 2, "b": 1, "c": 0} for i in range(12)}
OLD = {query: {"x": 3.0, "a": 2.0, "b": 1.0} for query in QRELS}
NEW = {query: {"a": 3.0, "b": 2.0, "x": 1.0 if i % 3 else 4.0} for i, query in enumerate(QRELS)}
RUNS = {"old": OLD, "new": NEW}


@pytest.fixture(scope="module")
def made() -> rs.Report:
    return rs.report(QRELS, RUNS, ["nDCG@3", "RR"])


def names(report: rs.Report) -> list[str]:
    return [section.name for section in report.page.sections]


def test_it_starts_with_the_verdict_of_compare(made: rs.Report) -> None:
    said = str(rs.compare(QRELS, RUNS, ["nDCG@3", "RR"]))
    first = made.page.verdicts[0]
    assert " ".join([first.text, *first.more]).startswith(said)
    assert first.tone == "better"
    assert str(made).splitlines()[0] == first.text


def test_the_sections_stand_in_their_order(made: rs.Report) -> None:
    found = names(made)
    assert len(set(found)) == len(found)
    assert found[-1] == "reproduce"
    assert found.index("queries") < found.index("reproduce")


def test_every_anchor_and_file_name_is_there_once(made: rs.Report) -> None:
    charts = [b.name for s in made.page.sections for b in s.blocks if isinstance(b, Chart)]
    assert len(set(charts)) == len(charts)


def test_the_page_is_one_document_with_the_verdict_and_every_query(made: rs.Report) -> None:
    assert made.html.startswith("<!doctype html>")
    assert "new beats old on nDCG@3" in made.html
    for query in QRELS:
        assert query in made.html


def test_the_same_input_gives_the_same_bytes(made: rs.Report) -> None:
    assert rs.report(QRELS, RUNS, ["nDCG@3", "RR"]).html == made.html


def test_a_comparison_makes_its_own_report(made: rs.Report) -> None:
    found = rs.compare(QRELS, RUNS, ["nDCG@3", "RR"])
    assert rs.report(found).html == made.html
    assert rs.report(found, title="Which?").page.title == "Which?"


def test_scores_make_their_own_report_too() -> None:
    alone = rs.report(QRELS, {"old": OLD}, ["nDCG@3", "RR"])
    assert rs.report(rs.evaluate(QRELS, {"old": OLD}, ["nDCG@3", "RR"])).html == alone.html


def test_one_run_makes_a_page() -> None:
    report = rs.report(QRELS, OLD, "nDCG@3")
    assert "queries" in names(report)
    assert "differences" not in names(report)
    assert report.page.verdicts


def test_scores_alone_make_a_page_without_rankings() -> None:
    table = {"old": {q: 0.1 * i for i, q in enumerate(QRELS)}, "new": {q: 0.12 * i for i, q in enumerate(QRELS)}}
    report = rs.report(table, None, "mine")
    assert report.page.explorer is None
    assert "differences" in names(report)
    assert "mine" in report.html


@pytest.mark.parametrize("count", [3, 40])
def test_many_runs(count: int) -> None:
    runs = {f"run-{i}": {q: {"a": float(i % 3), "b": 1.0, "x": 1.5} for q in QRELS} for i in range(count)}
    report = rs.report(QRELS, runs, "nDCG@3")
    explorer = report.page.explorer
    assert explorer is not None
    assert set(explorer.runs) == set(runs)
    assert len(report.html) < 3_000_000


def test_texts_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps({"_id": d, "text": f"the text of {d}"}) + "\n" for d in "abcx"))
    report = rs.report(QRELS, RUNS, "nDCG@3", queries_text={q: f"words of {q}" for q in QRELS}, docs_text=str(path))
    explorer = report.page.explorer
    assert explorer is not None
    assert {query.text for query in explorer.queries} == {f"words of {q}" for q in QRELS}
    assert {doc.text for query in explorer.queries for doc in query.documents} == {f"the text of {d}" for d in "abx"}
    assert any("docs.jsonl" in note for note in report.notes)


def test_values_on_the_page_are_those_of_evaluate(made: rs.Report) -> None:
    scores = rs.evaluate(QRELS, RUNS, ["nDCG@3", "RR"])
    explorer = made.page.explorer
    assert isinstance(explorer, Explorer)
    for row, run in enumerate(explorer.runs):
        scored = next(one for one in scores.runs if one.name == run)
        for query in explorer.queries:
            at = list(scored.query_ids).index(query.query_id)
            expected = [float(values[at]) for values in scored.values.values()]
            assert list(query.values[row]) == expected


def test_export_writes_numbers_in_full_and_figures(made: rs.Report, tmp_path: Path) -> None:
    files = {path.name: path for path in made.export(tmp_path / "out")}
    tables = [b for s in made.page.sections for b in s.blocks if isinstance(b, Table) and b.rows]
    charts = [b for s in made.page.sections for b in s.blocks if isinstance(b, Chart) and b.rows]
    assert len(files) == 2 * len(tables) + 8 * len(charts)
    for chart in charts:
        name = chart.name.lower()
        assert files[f"{name}.svg"].read_text().startswith("<svg")
        assert files[f"{name}.png"].read_bytes().startswith(b"\x89PNG")
        rows = list(csv.reader(io.StringIO(files[f"{name}.csv"].read_text())))
        assert len(rows) == len(chart.rows) + 1
        assert len(json.loads(files[f"{name}.json"].read_text())) == len(chart.rows)


def test_a_file_that_changed_since_is_refused(tmp_path: Path) -> None:
    run, qrels = tmp_path / "old.run", tmp_path / "qrels.txt"
    run.write_text("".join(f"{q} Q0 {d} 1 {s} old\n" for q, docs in OLD.items() for d, s in docs.items()))
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()))
    for path in (run, qrels):
        scores = rs.evaluate(str(qrels), str(run), "RR")
        assert rs.report(scores).page.explorer is not None
        path.write_text(path.read_text().replace("q00", "q99"))  # as many rows, and other ones
        with pytest.raises(rs.DataError, match=f"{path.name}: the file has changed since it was read"):
            rs.report(scores)


def test_a_dict_that_changed_since_is_refused() -> None:
    run = {query: dict(docs) for query, docs in OLD.items()}
    scores = rs.evaluate(QRELS, run, "RR")
    run["q00"]["z"] = 0.1
    with pytest.raises(rs.DataError, match="37 rows, but 36 were scored"):
        rs.report(scores)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"shown": 0}, "shown=0"),
        ({"colour": "red"}, "report has no option 'colour'"),
        ({"queries_text": {"other": "words"}}, "other"),
        ({"quries_text": {}}, "report has no option 'quries_text', did you mean queries_text?"),
        ({"docs_text": {}}, "texts of documents: a dict has no texts"),
    ],
)
def test_what_it_refuses(options: dict[str, Any], said: str) -> None:
    with pytest.raises(rs.InputError, match=said):
        rs.report(QRELS, RUNS, "nDCG@3", **options)


def test_options_that_a_result_has_no_use_for_are_one_line() -> None:
    found = rs.compare(QRELS, RUNS, "nDCG@3")
    with pytest.raises(rs.InputError, match=r"no option 'tilte', did you mean title\?"):
        rs.report(found, tilte="x")
    with pytest.raises(rs.InputError, match=r"no option 'margin' \(the comparison is fixed\)"):
        rs.report(found, margin=0.1)


def test_places_that_are_none_are_refused_before_the_page_is_made(tmp_path: Path) -> None:
    report = rs.report(QRELS, RUNS, "nDCG@3")
    there = tmp_path / "costs.csv"
    there.write_text("run,cost\n")
    for refused, place, words in (
        (report.save, tmp_path / "p.pdf", "a page is one HTML file: name it like p.html"),
        (report.save, tmp_path / "nod" / "x.html", "there is no folder .*nod to write into"),
        (report.save, tmp_path, "a page is one HTML file"),
        (report.export, there, "a file, not a folder"),
    ):
        with pytest.raises(rs.InputError, match=words):
            refused(place)
    assert "html" not in vars(report)


def test_what_a_reader_should_know_stands_below_the_title() -> None:
    about = "No <person> judged them."
    for report in (
        rs.report(QRELS, RUNS, "nDCG@3", about=about),
        rs.report(rs.compare(QRELS, RUNS, "nDCG@3"), about=about),
    ):
        assert report.page.about.endswith(about)
    assert "No &lt;person&gt; judged them." in report.html


def test_options_of_a_comparison_are_refused_for_one_run() -> None:
    with pytest.raises(rs.InputError, match="margin is for a comparison, and there is one run"):
        rs.report(QRELS, OLD, "nDCG@3", margin=0.1)


def test_runs_with_nothing_in_common_have_no_report() -> None:
    with pytest.raises(rs.DataError, match="no query of"):
        rs.report(QRELS, {"old": OLD, "other": {"z9": {"a": 1.0}}}, "nDCG@3")


def test_no_relevant_documents_make_a_page() -> None:
    none = {query: {"c": 0} for query in QRELS}
    report = rs.report(none, RUNS, "nDCG@3")
    assert report.page.verdicts[0].tone == "same"
    assert report.html


def test_real_runs(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("trec_covid/round1/runs")
    runs = sorted(folder.iterdir())[:5]
    report = rs.report(
        str(shared_data("trec_covid/qrels.txt")),
        [str(run) for run in runs],
        queries_text=str(shared_data("trec_covid/topics.xml")),
    )
    explorer = report.page.explorer
    assert explorer is not None
    assert len(explorer.queries) == 30
    assert any("coronavirus" in query.text for query in explorer.queries)
    deciding = report.page.verdicts[0].queries
    assert deciding
    assert {query for query, _ in deciding} <= {query.query_id for query in explorer.queries}


def test_half_a_character_in_an_id_is_told_in_one_line() -> None:
    qrels = {"q\udcff": {"a": 1}, "r": {"a": 1}}
    run = {query: {"a": 1.0, "b": 2.0} for query in qrels}
    with pytest.raises(rs.InputError, match="holds half of a character"):
        rs.report(qrels, {"one": run, "two": run}, "RR")


# --- the page of any result --------------------------------------------------------------------------------

RESULTS: dict[str, Callable[[], Any]] = {
    "ties": lambda: rs.ties(QRELS, RUNS),
    "gate": lambda: rs.gate(QRELS, OLD, NEW, "nDCG@3"),
    "power": lambda: rs.power(QRELS, RUNS, "nDCG@3"),
    "explain": lambda: rs.explain(QRELS, OLD, "nDCG@3", query="q00"),
    "difference": lambda: rs.explain(QRELS, [OLD, NEW], "nDCG@3"),
    "diagnose": lambda: rs.diagnose(QRELS, OLD, "nDCG@3"),
    "unjudged": lambda: rs.unjudged(QRELS, RUNS, "nDCG@3"),
    "check": lambda: rs.check(QRELS, RUNS),
    "reconcile": lambda: rs.reconcile(QRELS, OLD, "nDCG@3"),
    "advise": lambda: rs.advise(QRELS, RUNS),
    "catalogue": lambda: rs.catalogue("nDCG"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_any_result_makes_a_page(name: str) -> None:
    result = RESULTS[name]()
    report = rs.report(result, title="Found", about="A trial.")
    assert (report.page.title, report.page.about) == ("Found", "A trial.")
    assert [verdict.text for verdict in report.page.verdicts] == list(result.sentences())
    sections = {section.name: section for section in report.page.sections}
    assert list(sections)[-1] == "reproduce"
    for view in result.views:
        table = view.table(result)
        rows = table.rows if table.columns else ()
        assert not rows or any(isinstance(b, Table) and b.rows == rows for b in sections[view.name or name].blocks)
    drawn = [block for section in report.page.sections for block in section.blocks if isinstance(block, Chart)]
    assert drawn == list(result.charts())
    assert report.html.count("<h1") == 1


def test_a_result_takes_no_texts() -> None:
    with pytest.raises(rs.InputError, match="queries_text, docs_text, shown"):
        rs.report(rs.ties(QRELS, RUNS), queries_text={"q00": "a question"})
