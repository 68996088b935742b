"""Subjects and their sections, for the tests of the report's parts that are made from scores and comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tests.made.scores import drawn, ranked_run

import rankscope as rs
from rankscope.blocks import Chart, NumberText, Section, Table, ValueRange
from rankscope.panels.contrast import Contrast
from rankscope.reporting.page import SECTIONS
from rankscope.reporting.subject import Subject
from rankscope.scoring.scores import Scores
from rankscope.verbs.compare.result import Comparison

OF_RESULTS = ("data", "scoreboard", "differences", "by-query", "spread", "heatmap", "pairs", "slices", "costs")


def compared(*given: Any, **options: Any) -> Subject[Comparison]:
    """What a comparison is to the sections of a report."""
    return Subject(rs.compare(*given, **options))


def scored(*given: Any, **options: Any) -> Subject[Scores]:
    """What scores are to the sections of a report."""
    return Subject(rs.evaluate(*given, **options))


def find_section(name: str, subject: Subject[Any]) -> Section | None:
    """The section of this name; None where the subject has none."""
    made = (part.section(subject) for part in SECTIONS if part.name == name)
    return next((section for section in made if section is not None), None)


def section_of(name: str, subject: Subject[Any]) -> Section:
    """The section of this name, which the subject has."""
    section = find_section(name, subject)
    assert section is not None, name
    return section


def all_sections(subject: Subject[Any]) -> list[Section]:
    """Every section of results that has something to say."""
    return [found for name in OF_RESULTS if (found := find_section(name, subject)) is not None]


def charts(section: Section) -> dict[str, Chart]:
    """The charts of a section by name."""
    return {block.name: block for block in section.blocks if isinstance(block, Chart)}


def tables(section: Section) -> dict[str, Table]:
    """The tables of a section by name."""
    return {block.name: block for block in section.blocks if isinstance(block, Table)}


def found_by(blocks: dict[str, Any], begin: str) -> Any:
    """The one block whose name begins so: names of pairs follow."""
    (found,) = (block for name, block in blocks.items() if name.startswith(f"{begin}-"))
    return found


def first_by(blocks: dict[str, Any], begin: str) -> Any:
    """The first block whose name begins so."""
    return next(block for name, block in blocks.items() if name.startswith(f"{begin}-"))


def column(block: Chart | Table, header: str) -> list[Any]:
    """The cells under a header."""
    at = [one.header for one in block.columns].index(header)
    return [row[at] for row in block.rows]


def numbers(section: Section) -> Iterator[float]:
    """Every number that a section shows or exports."""
    for block in section.blocks:
        if isinstance(block, Chart | Table):
            for row in block.rows:
                for cell in row:
                    if isinstance(cell, ValueRange):
                        yield from (cell.value, cell.lower, cell.upper)
                    elif isinstance(cell, NumberText):
                        yield cell.value
                    elif isinstance(cell, int | float):
                        yield float(cell)


QRELS = {f"q{i:02}": {"good": 1, "d1": 0} for i in range(24)}


def first(subject: Subject[Comparison]) -> Contrast:
    return subject.rivals[-1] if len(subject.rivals) == 1 else subject.result.of(subject.result.primary)[0]


def lowered(seed: int = 3) -> dict[str, dict[str, float]]:
    return {name: {q: 5 * v for q, v in row.items()} for name, row in drawn(seed).items()}


COMPARED: dict[str, Callable[[], Subject[Comparison]]] = {
    "two": lambda: compared(drawn(0), metrics="AP"),
    "lower is better": lambda: compared(lowered(), metrics="CoverageError"),
    "no direction": lambda: compared(drawn(1), metrics="Judged@10"),
    "unknown metric": lambda: compared(drawn(2, systems=3), metrics="clicks"),
    "gaps": lambda: compared(
        {**(made := drawn(4, systems=3)), "b": {**made["b"], "q03": math.nan, "q04": math.nan}}, metrics="AP"
    ),
    "one query": lambda: compared({"a": {"q": 0.1}, "b": {"q": 0.5}}, metrics="AP"),
    "all the same": lambda: compared({n: dict.fromkeys(QRELS, 0.5) for n in "abc"}, metrics="AP"),
    "all pairs": lambda: compared(drawn(5, systems=5), metrics="AP", all_pairs=True),
    "forty": lambda: compared(forty(), metrics="AP"),
    "forty, all pairs": lambda: compared(forty(), metrics="AP", all_pairs=True),
    "confusing names": lambda: compared(
        {"run": drawn(6)["a"], "query": drawn(6)["b"], "queries": drawn(7)["a"]}, metrics="query"
    ),
    "repetitions": lambda: compared(drawn(8, systems=4), metrics="AP", systems={"b": "other", "c": "other"}),
    "clusters": lambda: compared(drawn(9), metrics="AP", clusters={f"q{i:02}": i % 6 for i in range(30)}),
    "runs": lambda: compared(QRELS, {"x": ranked_run(1), "y": ranked_run(2)}),
    "weights": lambda: compared(
        QRELS, {"x": ranked_run(1), "y": ranked_run(2)}, ["RR", "GMAP"], weights={q: i + 1 for i, q in enumerate(QRELS)}
    ),
    "of all kinds": lambda: compared(
        QRELS, {"x": ranked_run(1), "y": ranked_run(2)}, ["GMAP", "AUC", "NumRelRet", "Judged@5", "RelevantPosition"]
    ),
    "no query in common": lambda: compared(
        QRELS, {"x": dict(list(ranked_run(1).items())[:12]), "y": dict(list(ranked_run(2).items())[12:])}, "RR"
    ),
    "one apart": lambda: compared(apart(), metrics="AP"),
    "one apart, all pairs": lambda: compared(apart(), metrics="AP", all_pairs=True),
    "one apart, many": lambda: compared({**apart(), **dict(list(forty().items())[:5])}, metrics="AP"),
    "no relevant": lambda: compared({q: {"d1": 0} for q in QRELS}, {"x": ranked_run(1), "y": ranked_run(2)}),
    "long ids": lambda: compared({n: {"é" * 500 + q: v for q, v in row.items()} for n, row in drawn(3).items()}, metrics="AP"),
}  # fmt: skip
SCORED: dict[str, Callable[[], Subject[Scores]]] = {
    "one run": lambda: scored(QRELS, {"x": ranked_run(1)}),
    "one run, no relevant": lambda: scored({q: {"d1": 0} for q in QRELS}, {"x": ranked_run(1)}),
    "one run, pooled": lambda: scored(QRELS, {"x": ranked_run(1)}, ["AUC(pooled=True)", "NumRelRet", "GMAP"]),
    "several runs, not compared": lambda: scored(QRELS, {"x": ranked_run(1), "y": ranked_run(2)}, ["AUC(pooled=True)", "RR"]),
}  # fmt: skip
SUBJECTS: dict[str, Callable[[], Subject[Any]]] = {**COMPARED, **SCORED}


def forty() -> dict[str, dict[str, float]]:
    draws = np.random.default_rng(11)
    hard = draws.random(40)
    rows = [np.clip(hard + draws.normal(0.01 * i, 0.2, 40), 0, 1) for i in range(40)]
    return {f"run{i:02}": {f"q{j:02}": float(v) for j, v in enumerate(row)} for i, row in enumerate(rows)}


def apart() -> dict[str, dict[str, float]]:
    """The third shares a query with the second and none with the first."""
    made = drawn(3)
    return {"a": made["a"], "b": {**made["b"], "q90": 0.3}, "c": {"q90": 0.1, "q91": 0.4}}
