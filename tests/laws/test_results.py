"""Laws that the result of every verb keeps: each format holds the same numbers, and what is declared is what is written."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import numpy as np
import pytest
from tests.made.results import RESULTS, result, world

import rankscope as rs
from rankscope.show.result import Result

EVERY = pytest.mark.parametrize("name", RESULTS)


@EVERY
def test_every_verb_gives_a_result(name: str) -> None:
    assert isinstance(result(name), Result)


@EVERY
def test_json_holds_the_records(name: str) -> None:
    found = result(name)
    said = json.loads(found.to_json())
    assert said["schema"] == f"rankscope/{found.schema}"
    assert said["rankscope"] == rs.__version__
    main = found.views[0]
    key = next(key for key in ("results", "rows", main.name) if key in said)
    assert said[key] == json.loads(json.dumps(found.to_dicts()))


@EVERY
def test_lines_of_json_are_the_records(name: str) -> None:
    found = result(name)
    assert [json.loads(line) for line in found.to_jsonl().splitlines()] == json.loads(
        json.dumps(found.to_dicts())
    )


@EVERY
def test_csv_holds_the_numbers_of_the_records(name: str) -> None:
    found = result(name)
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    records = found.to_dicts()
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
    records = found.to_dicts()
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
        for record in view.records(found):
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
    for line in result(name).to_text(80).splitlines():
        assert len(line) <= 80 or " " not in line.strip()


@EVERY
def test_no_result_makes_its_own_page(name: str) -> None:
    with pytest.raises(ValueError, match=r"rs\.report\(result\)"):
        result(name).report()


@EVERY
def test_every_result_makes_a_page(name: str) -> None:
    pytest.importorskip("altair")
    html = rs.report(result(name)).html
    assert html.startswith("<!DOCTYPE html>")


# --- one test, one p; one mean, one interval ---------------------------------------------------------


@pytest.mark.parametrize("test", ["t", "sign", "wilcoxon", "permutation", "bootstrap"])
@pytest.mark.parametrize("metric", ["nDCG@10", "RR@10", "GMAP"])
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
def test_one_test_on_one_pair_has_one_p_in_every_verb(test: str, metric: str, weighted: bool) -> None:
    grades, runs = world()
    both = {name: runs[name] for name in ("base", "good")}
    weights = {q: 1.0 + int(q[1:]) % 3 for q in grades} if weighted else None
    compared = rs.compare(grades, both, metric, test=test, weights=weights, interval="t")
    (contrast,) = compared.contrasts
    gated = rs.gate(grades, both["base"], both["good"], metric, test=test, weights=weights)
    (check,) = gated.checks
    assert check.p_value == contrast.p_value


@pytest.mark.parametrize("metric", ["nDCG@10", "RR@10", "GMAP", "P@5"])
@pytest.mark.parametrize("clustered", [False, True], ids=["queries alone", "clusters"])
def test_one_mean_has_one_interval_in_every_verb(metric: str, clustered: bool) -> None:
    grades, runs = world()
    clusters = {q: int(q[1:]) % 7 for q in grades} if clustered else None
    both = {name: runs[name] for name in ("base", "good")}
    scores = rs.evaluate(grades, both, metric, clusters=clusters)
    means = rs.compare(grades, both, metric, clusters=clusters).to_dicts("means")
    for mean in means:
        ends = scores.bounds_of((mean["run"], metric))
        assert (mean["ci_lower"], mean["ci_upper"]) == (ends.lower, ends.upper)
        assert mean["value"] == pytest.approx(scores[mean["run"], metric], rel=1e-12)


@pytest.mark.parametrize("test", ["sign"])
def test_a_test_of_signs_depends_on_signs_only(test: str) -> None:
    draws = np.random.default_rng(5)
    differences = draws.normal(0.1, 1.0, 40)
    stretches: list[Any] = [np.asarray, np.cbrt, lambda d: np.sign(d) * (np.exp(np.abs(d)) - 1)]
    for stretch in stretches:
        scores = {
            "a": {f"q{i:02}": 0.0 for i in range(40)},
            "b": {f"q{i:02}": float(d) for i, d in enumerate(stretch(differences))},
        }
        (contrast,) = rs.compare(scores, metrics="score", test=test, systems="rows").contrasts
        wins = int((differences > 0).sum())
        assert contrast.p_value == pytest.approx(_binomial(wins, 40), rel=1e-12)


def _binomial(wins: int, of: int) -> float:
    """The two-sided sign test, counted out: twice the smaller tail of fair coins."""
    tail = sum(math.comb(of, k) for k in range(max(wins, of - wins), of + 1)) / 2**of
    return min(1.0, 2 * tail)


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
    "policy",
    POLICIES,
    ids=lambda policy: " ".join(f"{name} {value}" for name, value in policy.items()) or "defaults",
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
