"""The judging worklist of a report is the one that ``unjudged`` makes, in the time a page may take."""

from __future__ import annotations

from typing import Any

import pytest
from tests.reporting.made_sections import find_section, section_of
from tests.reporting.made_subjects import Dicts, in_tables, scored, subject, world

import rankscope as rs
from rankscope.blocks import Paragraph, Section, Table
from rankscope.engines.base import Order
from rankscope.engines.top import top
from rankscope.reporting.sections import data as worklist
from rankscope.reporting.subject import Subject


def tables(section: Section) -> dict[str, Table]:
    return {block.name: block for block in section.blocks if isinstance(block, Table)}


def test_one_document_by_hand() -> None:
    section = section_of(
        "worklist", scored({"q1": {"a": 1.0, "b": 0.0}}, {"only": {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}}}, "P@2")
    )
    found = tables(section)
    assert found["judging-worklist"].rows == (("q1", "x", 2, 0.5),)
    assert [column.queries for column in found["judging-worklist"].columns] == [True, False, False, False]
    assert found["unjudged-bounds"].rows == (("only", 0.5, 0.5, 1.0, 1, "50%"),)


@pytest.mark.parametrize(
    "policies",
    [{}, {"ties": "docid", "depth": 8}, {"queries": "both"}, {"ties": "expected"}, {"queries": ["q0", "q3"]}],
)
@pytest.mark.parametrize("tabled", [False, True])
def test_it_is_what_unjudged_says(policies: dict[str, Any], tabled: bool) -> None:
    qrels, runs = world(1)
    given: tuple[Any, Any] = in_tables(qrels, runs) if tabled else (qrels, runs)
    told = rs.unjudged(*given, "nDCG@5", **policies)
    found = tables(section_of("worklist", subject(*given, ["nDCG@5", "AP"], **policies)))
    bounds = {row[0]: row[1:4] for row in found["unjudged-bounds"].rows}
    assert bounds == {b.run: (b.value, b.lower, b.upper) for b in told}
    expected = [w for w in told.worklist if w.effect > 0][:50]
    rows = found["judging-worklist"].rows
    assert [(*row[:2], row[-1]) for row in rows] == [(w.query_id, w.doc_id, w.effect) for w in expected]
    ties = policies.get("ties", "trec")
    whole = {
        name: {
            (query, doc): rank
            for query, doc, rank in top(
                run, Order("trec" if ties == "expected" else ties), policies.get("depth")
            ).iter_rows()
        }
        for name, run in runs.items()
    }
    for row, w in zip(rows, expected, strict=True):
        assert row[2:4] == tuple(whole[name].get((w.query_id, w.doc_id)) for name in ("low", "high"))
        assert all(row[2 + at] == w.ranks[name] for at, name in enumerate(("low", "high")) if name in w.ranks)
    assert any(rank is not None and rank > 5 for row in rows for rank in row[2:4])  # type: ignore[operator]


def test_what_would_turn_a_difference_is_said() -> None:
    qrels: Dicts = {f"q{i}": {"a": 1.0, "b": 0.0} for i in range(6)}
    good = {q: {"a": 2.0, "x": 1.0} for q in qrels}
    bad = {q: {"y": 2.0, "a": 1.0} for q in qrels}
    section = section_of("worklist", subject(qrels, {"good": good, "bad": bad}, "P@1"))
    (said,) = [block.text for block in section.blocks if isinstance(block, Paragraph) and not block.quiet]
    assert said == "good is ahead of bad by 1.0000: no grades of the 6 unjudged documents could reverse this."


def test_many_runs_have_one_column_of_ranks() -> None:
    qrels, runs = world(2)
    many = {f"run{i}": dict(list(runs["low"].items())[i:]) for i in range(7)}
    table = tables(section_of("worklist", scored(qrels, many, "nDCG@10")))["judging-worklist"]
    assert [column.header for column in table.columns] == ["query", "document", "best rank", "runs", "could change"]


def test_nothing_to_judge_is_nothing_to_say() -> None:
    qrels: Dicts = {"q1": {"a": 1.0}, "q2": {"a": 0.0}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 2.0}}
    assert find_section("worklist", scored(qrels, {"r": run}, "P@5")) is None
    assert find_section("worklist", scored(qrels, {"r": {"q1": {"x": 1.0}}}, "NumRet")) is None
    assert find_section("worklist", Subject(rs.evaluate(qrels, run, "AP"))) is None


@pytest.mark.parametrize("no_relevant", [0, 1, "skip"])
def test_where_no_document_can_be_tried_alone_the_bounds_stand_and_the_reason(no_relevant: Any) -> None:
    qrels: Dicts = {"q1": {"a": 1.0, "b": 0.0}, "q2": {"a": 0.0}}
    run = {"q1": {"a": 3.0, "x": 2.0}, "q2": {"y": 1.0}}
    section = section_of("worklist", scored(qrels, {"r": run}, "P@2", no_relevant=no_relevant))
    (bounds,) = tables(section).values()
    (told,) = rs.unjudged(qrels, {"r": run}, "P@2", no_relevant=no_relevant)
    assert bounds.name == "unjudged-bounds"
    assert bounds.rows[0][:4] == ("r", told.value, told.lower, told.upper)
    (said,) = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert "which queries count, and how much, would change with the judgments" in said
    assert "would change the result most" not in section.lead


def test_where_there_is_too_much_to_try_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = world(3)
    monkeypatch.setattr(worklist, "BOUNDED", 3)
    section = section_of("worklist", scored(qrels, runs, "AP"))
    assert set(tables(section)) == {"judging-worklist"}
    assert any("rankscope unjudged" in block.text for block in section.blocks if isinstance(block, Paragraph))
    from rankscope.verbs.unjudged import unjudged as unjudged_study

    monkeypatch.setattr(unjudged_study, "MOST", 3)
    (said,) = section_of("worklist", scored(qrels, runs, "AP")).blocks
    assert isinstance(said, Paragraph)
    assert "depth=100" in said.text


def test_dialects_and_weights() -> None:
    qrels, runs = world(4)
    qrels = {q: {d: max(g, 0.0) for d, g in docs.items()} for q, docs in qrels.items()}
    assert tables(section_of("worklist", scored(qrels, runs, "nDCG@10", dialect="pytrec_eval")))[
        "judging-worklist"
    ].rows
    weights = {q: float(i + 1) for i, q in enumerate(qrels)}
    told = rs.unjudged(qrels, runs, "nDCG@5", weights=weights)
    rows = tables(section_of("worklist", scored(qrels, runs, "nDCG@5", weights=weights)))["unjudged-bounds"].rows
    assert [row[1:4] for row in rows] == [(b.value, b.lower, b.upper) for b in told]
