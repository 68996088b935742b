"""Metrics of users of a fitted click model, against all ways to look and to click written out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.reference import click_models as reference

import rankscope as rs
from rankscope.behaviour.browsing import LEARNED
from rankscope.click_models.base import FittedModel
from rankscope.click_models.files import save_model as save_path
from rankscope.click_models.models import find_click_model
from rankscope.lists.pages import PairIds


def save_model(model: FittedModel, path: Path) -> str:
    return str(save_path(model, path))


PLACES, GRADES = 4, ("0", "1", "2", "nan")
ATTRACTION, CONTENT = (0.1, 0.4, 0.7, 0.2), (0.2, 0.3, 0.8, 0.5)
GAMMA = {(place + 1, last): 1 / (1 + abs(place - last)) for last in range(PLACES) for place in range(1, PLACES)}


def fitted(name: str) -> FittedModel:
    """A model with known probabilities of each grade."""
    model = find_click_model(name)
    table = model.browsing.table(PLACES)
    if name.startswith("UBM"):
        own = [GAMMA[place + 1, last] for last in range(PLACES) for place in range(1, PLACES)]
        table[LEARNED:] = own
    content = np.array(CONTENT) if model.browsing.satisfies == "item" else None
    pairs = PairIds([""] * len(GRADES), list(GRADES))
    return FittedModel(model, PLACES, table, np.array(ATTRACTION), content, (0.3, 0.4), pairs)


def clicked(grades: list[int], onward: reference.Onward, independent: bool) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every pattern of clicks with its probability."""
    attraction, content = ([values[g] for g in grades] for values in (ATTRACTION, CONTENT))
    for clicks in product((0, 1), repeat=len(grades)):
        yield clicks, sum(chance for _, chance in reference.ways(clicks, attraction, content, onward, independent))


@pytest.mark.parametrize("grades", [[2, 0, 1, 2], [0, 2, 2, 1], [1]], ids=["best first", "best second", "one item"])
def test_utility_is_the_expected_gain_of_all_patterns_of_clicks(grades: list[int], tmp_path: Path) -> None:
    ways = {
        "DBN": reference.dynamic_bayesian(0.9),
        "SDBN": reference.dynamic_bayesian(1.0),
        "UBM": reference.user_browsing(GAMMA),
    }
    for name, onward in ways.items():
        path = save_model(fitted(f"{name}(of='label')"), tmp_path / f"{name}.json")
        metric = (rs.uUBM if name == "UBM" else rs.EBU)(model=path) @ 10
        expected = sum(
            chance * sum(c * g for c, g in zip(clicks, grades, strict=True))
            for clicks, chance in clicked(grades, onward, name == "UBM")
        )
        assert metric.of(grades) == pytest.approx(expected, rel=1e-9)
        assert rs.parse(str(metric)) == metric


def test_reciprocal_rank_is_that_of_the_click_that_satisfies(tmp_path: Path) -> None:
    grades, (a, s) = [1, 0, 2], (ATTRACTION, CONTENT)
    stays = [1 - a[g] * s[g] for g in grades]
    expected = a[1] * s[1] + 0.9 * stays[0] * a[0] * s[0] / 2 + 0.9**2 * stays[0] * stays[1] * a[2] * s[2] / 3
    metric = rs.rrDBN(model=str(save_model(fitted("DBN(of='label')"), tmp_path / "m.json"))) @ 5
    assert metric.of(grades) == pytest.approx(expected)
    assert metric.of([1, None, 2]) == pytest.approx(expected)  # an unjudged item is as one of grade 0
    assert metric.of([0, 0, 0, 0, 2]) == metric.of([0, 0, 0, 0, 0])  # lists of the log have four places


def test_grades_between_those_of_the_log_are_on_the_line(tmp_path: Path) -> None:
    metric = rs.EBU(model=save_model(fitted("SDBN(of='label')"), tmp_path / "m.json")) @ 1
    assert metric.of([1.5]) == pytest.approx(1.5 * (0.4 + 0.7) / 2)


def test_err_is_the_reciprocal_rank_of_users_whom_every_item_attracts(tmp_path: Path) -> None:
    grade = np.arange(5.0)
    one = fitted("SDBN(of='label')")
    sure = replace(
        one,
        attraction=np.ones(5),
        satisfaction=(2**grade - 1) / 2**4,
        pairs=PairIds([""] * 5, list(map(str, range(5)))),
    )
    metric = rs.rrDBN(model=save_model(sure, tmp_path / "m.json")) @ 4
    assert metric.of([1, 4, 0, 2]) == pytest.approx((rs.ERR @ 4).of([1, 4, 0, 2]))


def test_a_log_with_grades_gives_the_model(tmp_path: Path) -> None:
    made = rs.simulate("log", users=400, items=5, policy="TopShuffle(top=5)", seed=3)
    found = rs.clicks(made.log, ["DBN(of='label')", "DBN"])
    values = found.fitted["DBN(of='label')"]
    assert values.pairs.item[:3] == ["0", "1", "2"]
    metric = rs.EBU(model=str(found.save_model(tmp_path / "dbn.json", "DBN(of='label')"))) @ 5
    scores = [metric.of(grades) for grades in ([3, 3, 3], [3, 1, 0], [1, 0, 0], [0, 0, 0])]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] == 0
    with pytest.raises(rs.DataError, match=r"PBM\(of='label'\) needs the column label"):
        rs.clicks(made.log.drop("label"), "PBM(of='label')")


@pytest.mark.parametrize(
    ("model", "metric", "said"),
    [
        ("PBM(of='label')", "EBU", r"the model is PBM\(of='label'\), and EBU needs DBN or SDBN, fitted by grade"),
        ("DBN(of='label')", "uUBM", r"the model is DBN\(of='label'\), and uUBM needs UBM, fitted by grade"),
        (
            "DBN",
            "rrDBN",
            "the model is DBN, and rrDBN needs DBN or SDBN, fitted by grade to a log with a column label: rankscope clicks LOG",
        ),
    ],
    ids=["another model", "other users", "not by grade"],
)
def test_a_model_of_other_users_is_refused(model: str, metric: str, said: str, tmp_path: Path) -> None:
    path = save_model(fitted(model), tmp_path / "m.json")
    with pytest.raises(rs.InputError, match=said):
        rs.parse(f"{metric}(model='{path}')@10")


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read"), ("{", "not JSON"), ("{}", "has no schema"), ('{"schema": "rankscope/click-model/2"}', "holds 'rankscope/click-model/2'"),
     ('{"schema": "rankscope/click-model/1", "model": "DBN"}', "'item'.* is wrong or missing")],
    ids=["no file", "not JSON", "another file", "another version", "nothing in it"],
)  # fmt: skip
def test_a_file_that_is_no_model_is_refused(content: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(rs.InputError, match=said):
        rs.parse(f"EBU(model='{path}')@10")


def test_a_grade_above_those_of_the_log_is_refused(tmp_path: Path) -> None:
    metric = rs.EBU(model=save_model(fitted("DBN(of='label')"), tmp_path / "m.json")) @ 3
    with pytest.raises(rs.InputError, match="a document has grade 3, and the model has grades up to 2"):
        metric.of([3])


def test_models_without_items_have_no_grades() -> None:
    with pytest.raises(rs.InputError, match="items have no attraction of their own here"):
        find_click_model("RCTR(of='label')")
