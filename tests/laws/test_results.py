"""Laws that the result of every verb keeps: each format holds the same numbers, and what is declared is what is written."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from tests.made.results import RESULTS, result, world

import rankscope as rs
from rankscope.blocks import Code
from rankscope.show.result import Result

EVERY = pytest.mark.parametrize("name", RESULTS)


@EVERY
def test_every_verb_gives_a_result(name: str) -> None:
    assert isinstance(result(name), Result)


@EVERY
def test_json_holds_the_records_of_every_view_that_it_names(name: str) -> None:
    found = result(name)
    said = json.loads(found.to_json(per_query=True))
    assert said["schema"] == f"rankscope/{found.schema}"
    assert said["rankscope"] == rs.__version__
    places = {found.main: found.views[0].name} | {view.name: view.name for view in found.views}
    if name.startswith("check"):  # how many findings each rule has under results, the findings under warnings
        places = {"results": "rules", "warnings": ""}
    held = {place: said[place] for place in places if place in said}
    assert held
    for place, records in held.items():
        assert without_nulls(records) == without_nulls(json.loads(json.dumps(found.to_dicts(places[place]))))


def without_nulls(records: Any) -> Any:
    """Records without what they do not have: findings leave it out, where a table has a null."""
    return [{key: value for key, value in record.items() if value is not None} for record in records]


@EVERY
def test_lines_of_json_are_the_records(name: str) -> None:
    found = result(name)
    assert [json.loads(line) for line in found.to_jsonl().splitlines()] == json.loads(json.dumps(found.to_dicts()))


@EVERY
def test_csv_holds_the_numbers_of_the_records(name: str) -> None:
    found = result(name)
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    records = list(found.view().rectangle(found))
    assert len(rows) == len(records)
    for row, record in zip(rows, records, strict=True):
        for column, text in row.items():
            value = record.get(column)
            if isinstance(value, float):
                assert float(text) == value
            elif value is None:
                assert text == ""
            elif isinstance(value, str):
                assert text == value


@EVERY
def test_frames_hold_the_numbers_of_the_records(name: str) -> None:
    found = result(name)
    try:
        frame = found.to_polars()
    except TypeError:  # what is nested has no place in a frame
        pytest.skip("this result holds lists")
    records = list(found.view().rectangle(found))
    assert frame.height == len(records)
    for column in frame.columns:
        for value, record in zip(frame[column].to_list(), records, strict=True):
            if isinstance(record.get(column), float):
                assert value == record[column]


@EVERY
def test_every_view_is_named_and_has_the_columns_it_declares(name: str) -> None:
    found = result(name)
    names = [view.name for view in found.views]
    assert len(set(names)) == len(names)
    for view in found.views:
        header = view.header(found)
        for record in view.rectangle(found):
            assert set(header) <= set(record)


@EVERY
@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "markdown", "latex", "trec"])
def test_a_result_is_written_in_the_formats_it_names_and_in_no_other(name: str, form: str) -> None:
    found = result(name)
    if form in found.formats:
        assert "".join(found.write(form)).strip() or not found.to_dicts()
    else:
        with pytest.raises(ValueError, match="written as"):
            list(found.write(form))


@EVERY
def test_a_result_says_what_it_found(name: str) -> None:
    found = result(name)
    assert "object at 0x" not in repr(found)
    assert not repr(found).startswith(f"{type(found).__name__}(")


@EVERY
def test_tables_fit_a_terminal(name: str) -> None:
    found = result(name)
    code = {line for block in found.blocks() if isinstance(block, Code) for line in block.lines}
    for line in found.to_text(80).splitlines():
        assert len(line) <= 80 or " " not in line.strip() or line.strip() in code


@EVERY
def test_old_names_of_methods_still_work(name: str) -> None:
    found = result(name)
    new = {"envelope": "json_document", "facts": "json_header", "paper": "document_blocks", "beside": "extra_views"}
    for old, now in new.items():
        with pytest.warns(DeprecationWarning, match=now):
            before = getattr(found, old)()
        after = getattr(found, now)()
        assert repr(list(before)) == repr(list(after))


@EVERY
def test_every_result_makes_a_page(name: str) -> None:
    pytest.importorskip("altair")
    html = rs.report(result(name)).html
    assert html.casefold().startswith("<!doctype html>")


# --- what conventions state reproduces the number -----------------------------------------------------

POLICIES: list[dict[str, Any]] = [
    {},
    *({"ties": value} for value in ("docid", "input", "expected", "best", "worst")),
    *({"queries": value} for value in ("run", "both", "either")),
    {"depth": 5},
    *({"no_relevant": value} for value in (0, 1, "skip")),
    *({"nothing_found": value} for value in ("skip", "skip_list")),
    {"mean": "micro"},
    {"dialect": "lightgbm"},
    {"seed": 3, "ties": "best"},
]


@pytest.mark.parametrize(
    "policy", POLICIES, ids=lambda policy: " ".join(f"{name} {value}" for name, value in policy.items()) or "defaults"
)
def test_what_conventions_state_reproduces_the_numbers(policy: dict[str, Any]) -> None:
    grades, runs = world()
    metrics = ["nDCG@10"] if "dialect" in policy else ["nDCG@10", "P@5", "RR"]
    scores = rs.evaluate(grades, runs, metrics, **policy)
    stated = json.loads(scores.to_json())["conventions"]
    names = (
        "ties",
        "queries",
        "depth",
        "duplicates",
        "self_match",
        "no_relevant",
        "nothing_found",
        "mean",
        "dialect",
        "seed",
    )
    again = {name: stated[name] for name in names if stated.get(name) is not None}
    if stated["dialect"] is not None:
        again = {name: again[name] for name in ("dialect", "depth", "seed") if name in again}
    repeated = rs.evaluate(grades, runs, metrics, **again)
    assert repeated.to_dicts() == scores.to_dicts()
