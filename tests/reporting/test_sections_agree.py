"""Sections that speak of the same thing say the same: cutoffs, counts of queries, runs that are alike, what was left out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.made.scores import ranked_run
from tests.reporting.made_sections import (
    QRELS,
    SUBJECTS,
    charts,
    column,
    compared,
    find_section,
    scored,
    section_of,
    tables,
)
from tests.reporting.made_subjects import subject, world

import rankscope as rs
from rankscope import words
from rankscope.analysis.curves import CUTOFFS, curve_of
from rankscope.blocks import Chart, Notes, NumberText, Paragraph, Section, Table
from rankscope.errors import DataError
from rankscope.metrics import parse
from rankscope.metrics.rank_weights import DEPTH, chart_of, weights_below_relevant, weights_of
from rankscope.reporting.sections.reproduce import notes_read
from rankscope.reporting.subject import Subject
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.explain.explain import explain_origin


def lead_of(section: Section) -> str:
    return section.lead


def doubts_of(section: Section) -> list[str]:
    return [note.text for block in section.blocks if isinstance(block, Notes) for note in block.items]


# --- cutoffs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_note_on_cutoffs_and_the_section_name_the_same_leaders(seed: int) -> None:
    qrels, runs = world(seed, queries=12)
    found = subject(qrels, runs, "P@5")
    assert isinstance(found.result, Comparison)
    curve = curve_of(found.scores, list(runs), parse("P@5"), parse("P@5"), 10**6)  # type: ignore[arg-type]
    assert curve.cutoffs == CUTOFFS
    alone = {str(k): winners[0] for k, winners in zip(CUTOFFS, curve.winners(), strict=True) if len(winners) == 1}
    said = [w.message for w in found.result.warnings if w.code == "RS402"]
    systems = set(alone.values())
    clear = [c for c in found.result.contrasts if c.verdict in {"better", "worse"} and {c.run, c.baseline} <= systems]
    assert bool(said) == (len(systems) > 1 and bool(clear))
    for message in said:
        parts = message.partition(": ")[2].split("; ")
        told = {k: run for part in parts for run, _, ks in [part.partition(" at ")] for k in re.findall(r"\d+", ks)}
        assert told == alone


def test_another_metric_than_the_leading_one_is_said_to_be_another() -> None:
    qrels, runs = world()
    assert lead_of(section_of("cutoffs", subject(qrels, runs, ["AP", "P@5"]))).startswith(
        "The main metric, AP, has no cutoff. This is P@k. "
    )
    assert "The main metric, AP, has no cutoff. This is nDCG@k." in lead_of(
        section_of("cutoffs", subject(qrels, runs, "AP"))
    )
    assert "leading metric" not in lead_of(section_of("cutoffs", subject(qrels, runs, ["P@5", "AP"])))


def test_of_many_runs_the_lead_speaks_of_those_shown() -> None:
    made = {f"run{i}": ranked_run(i) for i in range(10)}
    found = compared(QRELS, made, "P@3")
    assert re.search(r"(Of the runs|All runs) shown", lead_of(section_of("cutoffs", found)))


# --- counts of queries ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_counts_of_the_heatmap_add_up_to_all_queries(name: str) -> None:
    found = SUBJECTS[name]()
    section = find_section("heatmap", found)
    if section is None:
        return
    assert re.search(r"differ on [\d,]+ of", section.lead)
    counts = re.findall(r" on ([\d,]+)(?: of| all| some)", section.lead)
    assert sum(int(count.replace(",", "")) for count in counts) == len(found.lead.units)


def test_queries_that_cannot_differ_are_told_apart() -> None:
    nan = float("nan")
    rows = {
        "a": {"q1": 0.1, "q2": 0.5, "q3": nan, "q4": nan, "q5": 0.3},
        "b": {"q1": 0.2, "q2": 0.5, "q3": 0.5, "q4": nan, "q5": 0.3},
        "c": {"q1": 0.3, "q2": 0.5, "q3": 0.5, "q4": nan, "q5": nan},
    }
    assert lead_of(section_of("heatmap", compared(rows, metrics="AP"))).endswith(
        "They differ on 1 of 5 queries; on 1 all score the same; on 2 some runs lack a value; on 1 all runs lack a value."
    )


def test_a_spread_without_any_says_what_is_the_same() -> None:
    values = {f"q{i}": 0.5 for i in range(10)} | {"q0": 0.1, "q1": 0.9}
    low = {query: value / 2 for query, value in values.items()}
    lead = lead_of(section_of("spread", compared({"a": low, "b": values}, metrics="AP")))
    assert lead == "On 8 of 10 queries b has the same AP, 0.500, and values from 0.100 to 0.900 on the others."


def test_quantiles_say_that_queries_weigh() -> None:
    found = tables(section_of("spread", SUBJECTS["weights"]()))
    assert "Queries have different weights" in found["quantiles"].note
    assert found["quantiles-others"].note.startswith("Every query counts once here. The mean is geometric")
    assert not tables(section_of("spread", SUBJECTS["two"]()))["quantiles"].note
    hints = {c.header: c.hint for c in found["quantiles"].columns}
    assert all("at most" in hints[q] for q in ("q05", "q25", "median", "q75", "q95"))


# --- the order of runs, and numbers once -----------------------------------------------------------


def test_runs_stand_in_one_order_everywhere() -> None:
    qrels, runs = world(3)
    runs |= {name: {q: {d: -s for d, s in docs.items()} for q, docs in run.items()} for name, run in
             {"last": runs["low"], "third": runs["high"]}.items()}  # fmt: skip
    found = subject(qrels, runs, "nDCG@10")
    order = sorted(runs, key=lambda name: -found.lead.means[name])
    shown = [
        tables(section_of("spread", found))["quantiles"],
        tables(section_of("spread", found))["first-relevant-ranks"],
        tables(section_of("cutoffs", found))["cutoffs-nDCG-table"],
        tables(section_of("recall", found))["recall-table"],
    ]
    for table in shown:
        assert column(table, "run") == order
    matrix = charts(section_of("agreement", found))["agreement-rbo"]
    assert list(dict.fromkeys(column(matrix, "run"))) == order


def test_charts_whose_numbers_stand_in_a_table_do_not_tell_them_again() -> None:
    qrels, runs = world()
    found = subject(qrels, runs, "nDCG@10")
    for name in ("cutoffs", "recall", "agreement", "origin", "discounts"):
        section = section_of(name, found)
        assert all(block.told for block in section.blocks if isinstance(block, Chart)), name
        titles = [b.title for b in section.blocks if isinstance(b, Chart | Table) and b.title]
        assert len(titles) == len(set(titles))
    assert charts(section_of("spread", found))["first-relevant"].told
    assert not charts(section_of("spread", scored(QRELS, {"x": ranked_run(1)})))["first-relevant"].told


def test_recall_says_how_it_rounds() -> None:
    section = section_of("recall", subject(*world(), "nDCG@10"))
    assert "rounded half up to a whole number, as in trec_eval 10" in charts(section)["recall"].caption
    assert "rounded half up" in tables(section)["recall-table"].note
    # 0.5 of 5 documents are 3 of them, of which the run has two
    assert (
        rs.evaluate({"q": dict.fromkeys("abcde", 1)}, {"r": {"q": {"a": 2.0, "b": 1.0}}}, "IPrec@0.5")["IPrec@0.5"]
        == 0.0
    )


def test_numbers_in_tables_are_numbers() -> None:
    qrels, runs = world()
    found = subject(qrels, runs, "nDCG@10")
    weights = column(tables(section_of("discounts", found))["discounts-table"], "below 10")
    assert all(w is None or (isinstance(w, NumberText) and w.text == words.share(w.value)) for w in weights)
    shared = column(tables(section_of("agreement", found))["agreement-table"], "shared of 10")
    assert all(isinstance(s, NumberText) and s.text == f"{s.value:.1f}" for s in shared)


# --- what later documents count --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ERR", "RR", "alpha_nDCG", "PFound", "Success@10", "NERR8(max_grade=2)@3"])
def test_what_is_added_below_others_sums_to_the_best_list(name: str) -> None:
    metric = parse(name).ready()
    hidden = weights_below_relevant(metric, 20)
    assert hidden is not None
    assert hidden[0] == 1.0
    assert (hidden >= 0).all()
    assert (hidden <= weights_of(metric, 20) + 1e-9).all()


def test_under_err_one_good_document_hides_the_next() -> None:
    hidden = weights_below_relevant(parse("ERR(max_grade=2)"), 4)  # the top grade satisfies 3/4
    assert hidden is not None
    assert hidden.tolist() == pytest.approx([1, (1 / 4) / 2, (1 / 16) / 3, (1 / 64) / 4])


@pytest.mark.parametrize("name", ["nDCG@10", "DCG", "P@10", "RBP(p=0.5)", "AP", "AUC", "SetP"])
def test_where_nothing_is_hidden_there_is_one_line(name: str) -> None:
    assert weights_below_relevant(parse(name)) is None


def test_the_chart_of_err_and_the_reach_of_a_report_say_what_they_are() -> None:
    chart = chart_of(parse("ERR(max_grade=2)"))
    assert list(dict.fromkeys(column(chart, "metric"))) == ["ERR(max_grade=2)", "ERR(max_grade=2), below others"]
    assert len(chart.rows) == 2 * DEPTH
    assert "rank 2 then adds 12% of rank 1" in chart.caption
    assert "ERR reach of a report is different" in chart.caption
    section = section_of("discounts", subject(*world(), "nDCG@10"))
    said = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert any("the share of readers still reading, not a discount" in text for text in said)
    table = tables(section)["discounts-table"]
    assert all((row[-1] is None) == str(row[0]).startswith("ERR reach") for row in table.rows)


# --- data health -----------------------------------------------------------------------------------


def copies(*names: str) -> dict[str, Any]:
    return {"base": ranked_run(1), "other": ranked_run(2)} | {name: ranked_run(2) for name in names}


def in_subject(runs: dict[str, Any], **options: Any) -> Subject[Comparison]:
    found = rs.compare(QRELS, runs, "P@5", **options)
    return Subject(found, QRELS, runs)


def test_runs_that_are_one_ranking_are_told() -> None:
    assert "other and again are the same ranking on every query: both count in the correction" in doubts_of(
        section_of("data", in_subject(copies("again")))
    )
    assert any(
        text.startswith("other, again and more are the same ranking on every query: all 3 count")
        for text in doubts_of(section_of("data", in_subject(copies("again", "more"))))
    )
    none = in_subject(copies("again"), correction="none")
    assert "other and again are the same ranking on every query" in doubts_of(section_of("data", none))
    assert not any("same ranking" in text for text in doubts_of(section_of("data", in_subject(copies()))))


def test_scores_of_one_run_under_two_names() -> None:
    rows = {"a": {"q1": 0.1, "q2": 0.4}, "b": {"q1": 0.2, "q2": 0.3}, "c": {"q1": 0.2, "q2": 0.3}}
    said = doubts_of(section_of("data", compared(rows, metrics="AP")))
    assert "b and c have the same value of every metric on every query: both count in the correction" in said


def test_the_same_values_are_not_yet_the_same_ranking() -> None:
    # nobody judged what stands below the one good document
    runs = {
        name: {q: {"good": 9.0, first: 2.0, second: 1.0} for q in QRELS}
        for name, first, second in [("one", "u1", "u2"), ("two", "u2", "u1"), ("three", "u1", "u2")]
    }
    (said,) = [t for t in doubts_of(section_of("data", in_subject(runs))) if "the same" in t]
    assert said.startswith("one and three are the same ranking")


def test_what_was_read_is_not_what_is_odd(tmp_path: Any) -> None:
    lines = {"qrels": "q1 0 a 1\n", "one": "q1 Q0 a 1 2.0 t\n", "two": "q1 Q0 b 1 2.0 t\n"}
    paths = {name: tmp_path / name for name in lines}
    for name, path in paths.items():
        path.write_text(lines[name], encoding="utf-8")
    found = rs.compare(str(paths["qrels"]), [str(paths["one"]), str(paths["two"])], "P@1")
    made = Subject(found)
    section = section_of("data", made)
    assert not any("read" in b.text for b in section.blocks if isinstance(b, Paragraph) and b.quiet)
    notes = notes_read(made)
    assert len([note for note in notes if note.startswith("read")]) == 3


def test_all_warnings_can_be_read_on_a_page() -> None:
    nobody = {f"run{i}": {q: {f"u{i}": 1.0} for q in list(QRELS)[:20]} for i in range(6)}
    section = section_of("data", in_subject({"base": ranked_run(1), **nobody}))
    assert not any("--format" in text for text in doubts_of(section))
    found = in_subject({"base": ranked_run(1), **nobody}).result
    every = tables(section)["warnings"]
    assert sorted(column(every, "what")) == sorted(w.message for w in found.warnings)
    assert any("the table below lists all" in text for text in doubts_of(section))
    assert "warnings" not in tables(section_of("data", SUBJECTS["two"]()))


def test_shares_are_written_in_per_cent_and_kept_in_full() -> None:
    cells = column(tables(section_of("data", in_subject({"x": {q: {"good": 2.0, "u": 1.0, "v": 0.5} for q in QRELS},
                                                           "y": ranked_run(1)})))["data-health"], "unjudged@5")  # fmt: skip
    assert cells[0] == NumberText("67%", 2 / 3)


# --- where a difference comes from ---------------------------------------------------------------


def test_a_pair_that_is_left_out_is_said_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    found = in_subject(copies("again"))
    run, baseline = found.pairs[0]

    def but_one(scores: Any, before: str, after: str, metric: Any) -> Any:
        if (after, before) == (run, baseline):
            raise DataError("no query is scored for both")
        return explain_origin(scores, before, after, metric)

    monkeypatch.setattr("rankscope.reporting.sections.ranks.explain_origin", but_one)
    section = section_of("origin", found)
    said = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert any(text.startswith(f"{run} against {baseline} is left out: ") for text in said)
