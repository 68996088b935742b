"""Click models and position bias from logs: what people type, what is refused, and grades that flow into evaluate and compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli import main
from rankscope.click_models.files import read_model
from rankscope.logs.pages import read_pages


@cache
def swapped() -> Any:
    """A log of swaps, with users of position-based browsing."""
    return rs.simulate("log", users=1500, items=6, policy="SwapFirst(top=6)", seed=1).log


@cache
def fixed() -> Any:
    """A log of one fixed ranker."""
    return rs.simulate("log", users=200, items=6, policy="Fixed", seed=1).log


@cache
def compared() -> Any:
    """Two click models and the baseline on the log of swaps."""
    return rs.clicks(swapped(), ["RCTR", "PBM", "DBN"], grades="click=1,dwell>=30=2")


def rows(*lists: list[tuple[str, int]], **more: Any) -> dict[str, list[Any]]:
    """A log of lists of items with clicks."""
    cells = [
        (number, place, item, click) for number, one in enumerate(lists) for place, (item, click) in enumerate(one, 1)
    ]
    return {
        "impression_id": [f"l{number}" for number, *_ in cells], "item_id": [item for *_, item, _ in cells],
        "position": [place for _, place, *_ in cells], "click": [click for *_, click in cells], **more,
    }  # fmt: skip


# --- pages of a log -------------------------------------------------------------------------------------------------


def test_pages_are_the_rows_of_lists() -> None:
    log = rows([("a", 1), ("b", 0)], [("b", 0), ("a", 1)], query_id=["q", "q", "q", "r"])
    pages = read_pages(rs.read_log(log)).pages
    names = list(zip(pages.pairs.query, pages.pairs.item, strict=True))
    assert [[names[pair] for pair in row] for row in pages.item] == [[("q", "a"), ("q", "b")], [("q", "b"), ("r", "a")]]
    assert pages.click.tolist() == [[True, False], [False, True]]
    assert (pages.counts.shown.sum(), pages.counts.clicks.sum()) == (4, 2)


def test_the_order_of_rows_does_not_matter() -> None:
    log = swapped().head(600)
    one, other = (rs.position_bias(frame, "swaps", rounds=20).points for frame in (log, log.reverse()))
    assert [point.value for point in one] == pytest.approx([point.value for point in other])


def test_positions_may_count_from_0_and_unshown_rows_are_left_out() -> None:
    log = rows([("a", 1), ("b", 1)], [("b", 0), ("a", 1)], shown=[1, 0, 1, 1])
    log["position"] = [place - 1 for place in log["position"]]
    found = read_pages(rs.read_log(log))
    assert found.pages.item.tolist() == [[0, -1], [1, 0]]
    assert found.remarks == ("1 row left out: no position or not shown, 1 click among them",)


def test_engagement_is_graded_by_its_highest_grade() -> None:
    log = rows([("a", 1), ("b", 1), ("c", 0), ("d", 1)], dwell=[40.0, 3.0, 0.0, 50.0], purchase=[0, 0, 0, 1])
    from rankscope.logs.pages import read_grades

    pages = read_pages(rs.read_log(log), grades=read_grades("click=1,dwell>=30=2,purchase=3")).pages
    assert pages.worth is not None
    assert pages.worth.tolist() == [[2.0, 1.0, 0.0, 3.0]]


@pytest.mark.parametrize("rule", ["click=0", "click=-1", "dwell>=long=2", "click"])
def test_a_grade_is_a_number_above_0(rule: str) -> None:
    with pytest.raises(rs.InputError, match="each grade a number above 0"):
        rs.clicks(rows([("a", 1), ("b", 0)]), grades=rule)


# --- position bias --------------------------------------------------------------------------------------------------


def test_swaps_recover_the_curve_within_their_intervals() -> None:
    found = rs.position_bias(swapped(), "swaps")
    truth = np.arange(1, 7) ** -0.85
    inside = [
        point.bounds.lower <= true <= point.bounds.upper
        for point, true in zip(found.points, truth, strict=True)
        if point.position > 1
    ]
    assert sum(inside) >= 4
    assert found.exit_code == 0


def test_an_interval_of_95_percent_is_two_standard_errors_to_either_side() -> None:
    for point in rs.position_bias(swapped(), "swaps", rounds=60).points[1:]:
        half = (np.log(point.bounds.upper) - np.log(point.bounds.lower)) / 2
        assert half == pytest.approx(1.96 * point.error / point.value, rel=0.1)


def test_no_click_at_a_position_is_no_certainty_that_nobody_looks() -> None:
    import polars as pl

    shuffled = rs.simulate("log", users=400, items=6, policy="TopShuffle(top=6)", seed=1).log
    clicks = pl.when(pl.col("position") == 4).then(0).otherwise(pl.col("click")).alias("click")
    fourth = rs.position_bias(shuffled.with_columns(clicks), "randomised(top=6)", rounds=20).points[3]
    assert fourth.value == 0
    assert fourth.bounds.reason == "no item was clicked at the position"


def test_a_log_without_swaps_is_refused_with_the_reason() -> None:
    found = rs.position_bias(fixed())
    assert (found.exit_code, found.validity.holds, found.points) == (4, False, [])
    assert "no item changed places" in next(found.sentences())
    with pytest.raises(rs.DataError, match="no curve can be saved"):
        found.save_curve("never.json")


def test_a_curve_per_slice() -> None:
    log = swapped().with_columns(device=swapped()["unit_id"].str.slice(-1, 1).is_in(["0", "1", "2", "3"]).cast(str))
    found = rs.position_bias(log, "swaps", slices="device", rounds=20)
    assert {point.part for point in found.slices} == {"true", "false"}


def test_a_saved_curve_is_a_discount(tmp_path: Path) -> None:
    found = rs.position_bias(swapped(), ["swaps", "regression_em"], rounds=20)
    path = found.save_curve(tmp_path / "curve.json")
    curve: Any = rs.Examination.read(path)
    assert curve.probabilities.tolist() == pytest.approx(
        [point.value for point in found.points if point.method == "swaps"]
    )
    metric = rs.parse(f"DCG(discount={str(path)!r})@3")
    assert metric.of([3, 2, 1]) == pytest.approx(float(np.dot([3, 2, 1], curve.probabilities[:3])))
    assert rs.parse(str(metric)) == metric
    assert (rs.nDCG(discount=curve) @ 2).of([2, 3]) == pytest.approx(  # a curve is read
        float((2 + 3 * curve.probabilities[1]) / (3 + 2 * curve.probabilities[1]))
    )


@pytest.mark.parametrize(
    ("positions", "said"),
    [
        ([1.0, -0.1], "must be from 0 to 1, and position 2 has '-0.1'"),
        ([1.2, 0.5], "must be from 0 to 1, and position 1 has '1.2'"),
        ([1.0, None], "must be from 0 to 1, and position 2 has nothing"),
        ([0.0, 0.0], "must have a probability above 0"),
    ],
    ids=["negative", "above 1", "missing", "nothing"],
)
def test_a_curve_that_is_none_is_refused(positions: list[float], said: str, tmp_path: Path) -> None:
    found = [{"position": i, "examination": value} for i, value in enumerate(positions, 1)]
    (tmp_path / "curve.json").write_text(json.dumps({"schema": "rankscope/examination/1", "positions": found}))
    with pytest.raises(rs.InputError, match=said):
        rs.parse(f"nDCG(discount='{tmp_path}/curve.json')@10")


def test_missing_ranks_of_a_curve_are_refused(tmp_path: Path) -> None:
    rows = [{"position": 1, "examination": 1}, {"position": 3, "examination": 0.5}]
    (tmp_path / "curve.json").write_text(json.dumps({"schema": "rankscope/examination/1", "positions": rows}))
    with pytest.raises(rs.InputError, match="positions must be 1 to 2 in order, and are 1 and 3"):
        rs.Examination.read(tmp_path / "curve.json")


# --- click models ---------------------------------------------------------------------------------------------------


def test_models_are_a_paired_panel_of_sessions() -> None:
    found = compared()
    contrast, panel = found["PBM", "log-likelihood"], found.panels[0]
    assert panel.by_unit
    assert contrast.difference == pytest.approx(float((panel.values[1] - panel.values[0]).mean()))
    assert found.ranked[0].name == found.best
    assert [fit.log_likelihood.sum() for fit in found.fits] == pytest.approx(panel.values.sum(axis=1).tolist())


def test_a_model_of_its_own_data_beats_click_rates() -> None:
    log = rs.simulate("log", users=1500, items=6, policy="TopShuffle(top=6)", seed=2, queries=30).log
    assert rs.clicks(log, ["PBM"])["PBM", "log-likelihood"].verdict == "better"


def test_the_last_sessions_can_be_held_out_and_another_log_tested() -> None:
    timed = rs.clicks(swapped(), "PBM", split="time")
    assert timed.conventions["held_out_by"] == "time"
    other = rs.simulate("log", users=100, items=6, seed=5).log
    assert rs.clicks(swapped(), "PBM", test_log=other).test_lists == other["impression_id"].n_unique()


def test_grades_are_engagement_per_look(tmp_path: Path) -> None:
    log = rows(*[[("a", 1), ("b", 0)], [("a", 1), ("b", 1)], [("b", 0), ("a", 0)]] * 8)
    found = rs.clicks(log, "DCTR(smoothing=0)")
    grades = dict(zip(found.read.pages.pairs.item, found.grades().grade, strict=True))
    assert grades == {"a": pytest.approx(2 / 3), "b": pytest.approx(1 / 3)}  # every place is examined
    assert found.grades().error.tolist() == pytest.approx([np.sqrt(2 / 9 / 24)] * 2)
    written = [line.split(",")[1:] for line in found.write_qrels(tmp_path / "grades.csv").read_text().splitlines()[1:]]
    error = f"{np.sqrt(2 / 9 / 24):.4f}"
    assert written == [["a", "0.6667", "clicks", error, "24.0"], ["b", "0.3333", "clicks", error, "24.0"]]


def test_grades_flow_into_evaluate_and_compare(tmp_path: Path) -> None:
    found = compared()
    lines, table, weights = (
        found.write_qrels(tmp_path / "g.qrels"),
        found.write_qrels(tmp_path / "g.csv"),
        found.write_weights(tmp_path / "w.csv"),
    )
    assert table.read_text().partition("\n")[0] == "query_id,doc_id,grade,iteration,error,views"
    best: dict[str, dict[str, float]] = {}
    for query, _, item, grade in map(str.split, lines.read_text().splitlines()):
        best.setdefault(query, {})[item] = float(grade)
    worst = {query: {item: -grade for item, grade in items.items()} for query, items in best.items()}
    scores = rs.evaluate(lines, best, "nDCG@5")
    assert scores["nDCG@5"] == pytest.approx(1.0, abs=1e-3)
    assert "RS117" in {caution.code for caution in scores.warnings}
    assert rs.evaluate(table, best, "nDCG@5")["nDCG@5"] == scores["nDCG@5"]
    compared_runs = rs.compare(lines, {"best": best, "worst": worst}, "nDCG@5", weights=weights)
    assert compared_runs["worst", "nDCG@5"].verdict == "worse"


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ({"impression_id": ["l"], "item_id": ["a"], "click": [1]}, "needs the column position"),
        (rows([("a", 0), ("b", 0)], [("a", 0)]), "no shown item was clicked"),
        ({**rows([("a", 1), ("b", 0)]), "position": [None, None]}, "no row has a position: fill the column position"),
        (rows([("a", 1), ("b", 0)]), "there is one"),
        ({**rows([("a", 1), ("b", 0)], [("a", 1)]), "position": [1, 1, 1]}, "several items at one position"),
        (
            {**rows([("a", 1), ("b", 0)], [("a", 1)]), "position": [1, 9999, 1]},
            "give a depth, like --depth 20|give a depth, like depth=20",
        ),
        ({**rows([("a", 1), ("b", 0)], [("a", 1)]), "position": [-1, 1, 1]}, "positions count from 1"),
    ],
    ids=[
        "no positions",
        "no clicks",
        "empty positions",
        "one page",
        "two items at a position",
        "very deep",
        "negative",
    ],
)
def test_what_cannot_be_used_is_one_line(log: dict[str, list[Any]], said: str) -> None:
    for verb in (rs.position_bias, rs.clicks):
        with pytest.raises((rs.DataError, rs.InputError), match=said) as error:
            verb(log)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("said", ["click", "click=0", "dwell>=x=2", "click=-1"])
def test_grades_that_are_none_are_refused(said: str) -> None:
    with pytest.raises(rs.InputError, match="grades are like click=1"):
        rs.clicks(swapped(), "PBM", grades=said)


# --- the command line -----------------------------------------------------------------------------------------------


def test_commands_write_what_they_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    swapped().write_csv("log.csv")
    fixed().write_csv("fixed.csv")
    assert main(["position-bias", "log.csv", "--method", "swaps", "--rounds", "20", "--save", "curve.json"]) == 0
    assert "wrote curve.json (examination curve by swaps)" in capsys.readouterr().err
    assert main(["position-bias", "fixed.csv"]) == 4
    assert "is not identified: no item changed places" in capsys.readouterr().out
    assert main(["position-bias", "fixed.csv", "--save", "none.json"]) == 4
    assert "wrote" not in capsys.readouterr().err
    assert not Path("none.json").exists()
    assert (
        main(
            [
                "clicks",
                "log.csv",
                "--model",
                "PBM",
                "--save",
                "m.json",
                "--to-qrels",
                "g.qrels",
                "--to-weights",
                "w.csv",
                "--format",
                "json",
            ]
        )
        == 0
    )
    document = json.loads(capsys.readouterr().out)
    assert document["results"][0]["run" if "run" in document["results"][0] else "model"] == "PBM"
    assert {row["model"] for row in document["models"]} == {"RCTR", "PBM"}
    assert read_model("m.json").name == "PBM"
    assert main(["clicks", "log.csv", "--save", "-"]) == 2


# --- CLARA 2 --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_models_predict_clara_at_least_as_well_as_click_rates(shared_data: Callable[[str], Path]) -> None:
    found = rs.clicks(
        str(shared_data("clara2/CLARA2SearchLog_beta.gz")), ["RCTR", "DCTR", "PBM", "UBM", "CCM", "DBN", "SDBN", "DCM"]
    )
    perplexity = {fit.name: fit.perplexity for fit in found.ranked}
    rates = min(perplexity["RCTR"], perplexity["DCTR"])
    assert {name for name, value in perplexity.items() if value > rates + 1e-9} <= {"RCTR", "DCTR"}
