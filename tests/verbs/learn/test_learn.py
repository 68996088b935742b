"""Learning to rank: reading, splits, a linear baseline, boosted trees, clicks with position bias, bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.files.svmlight import RankingData, ranking_data_of
from rankscope.lists.examination import Examination
from rankscope.rankers.learners import ClickedLists, LambdaMART, Linear, from_clicks

ROWS = "2 qid:a 1:0.5 3:1 # d7\n0 qid:a 2:-1\n1 qid:b 1:2 # docid = d9\n"


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def made(queries: int = 60, seed: int = 2) -> RankingData:
    """Grades that follow the sum of two of five features."""
    draws = np.random.default_rng(seed)
    x = draws.normal(size=(10 * queries, 5))
    grades = np.digitize(x[:, 1] + x[:, 3] + 0.5 * draws.normal(size=len(x)), [0.5, 1.5]).astype(float)
    return RankingData(
        "made",
        x,
        grades,
        np.full(queries, 10),
        [f"q{i}" for i in range(queries)],
        [f"d{i}" for i in range(10)] * queries,
    )


def test_letor_files_are_read_with_qid_and_with_group_sizes(tmp_path: Path) -> None:
    found = ranking_data_of(write(tmp_path / "a.txt", ROWS))
    assert found.features.tolist() == [[0, 0.5, 0, 1], [0, 0, -1, 0], [0, 2, 0, 0]]
    assert (found.grades.tolist(), found.sizes.tolist()) == ([2, 0, 1], [2, 1])
    assert (found.queries, found.documents) == (["a", "b"], ["d7", "2", "d9"])
    bare = write(tmp_path / "b.txt", "2 1:0.5\n0 2:1\n1 1:2\n")
    write(tmp_path / "b.txt.query", "2\n1\n")
    assert ranking_data_of(bare).sizes.tolist() == [2, 1]
    assert ranking_data_of(bare, group=[1, 2]).sizes.tolist() == [1, 2]


def test_labels_have_the_ids_that_evaluate_reads(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", ROWS)
    data = ranking_data_of(path)
    run = data.table(np.array([1.0, 2.0, 3.0]))
    assert rs.evaluate(path, run, "RR")["RR"] == pytest.approx((1 / 2 + 1) / 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 qid:1 1:0.5\n1 qid:1 1\n", "line 2: '1' is not a feature and its number"),
        ("2 qid:1 1:0.5\n1 qid:1 3:x\n", "line 2: '3:x' is not a feature"),
        ("2 qid:1 1:0.5 1:0.7\n", "line 1: '1:0.5' is a feature that is there twice"),
        ("x qid:1 1:0.5\n", "line 1: the label is not a number"),
        ("2 qid:1 1:0.5\n2 1:0.5\n", "line 2: no qid, and other rows have one"),
        ("2 qid:1 1:0\n2 qid:2 1:1\n1 qid:1 1:1\n", "are not adjacent"),
        ("2 1:0.5\n", "need a file of group sizes"),
        ("2 qid:1 9999999:1\n", "above 1,000,000"),
        ("# nothing\n", "no row"),
    ],
)
def test_ragged_rows_are_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(rs.InputError, match=message):
        ranking_data_of(write(tmp_path / "a.txt", text))


def test_group_sizes_must_add_up(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "2 1:0.5\n0 1:1\n")
    with pytest.raises(rs.InputError, match="add up to 3"):
        ranking_data_of(path, group=write(tmp_path / "sizes", "2\n1\n"))
    with pytest.raises(rs.InputError, match="one whole number above 0 per line"):
        ranking_data_of(path, group=write(tmp_path / "sizes", "2\nx\n"))


def test_a_split_never_divides_a_query() -> None:
    train, held = made().split(0.25, seed=3)
    assert len(held.sizes) == 15
    assert set(train.queries).isdisjoint(held.queries)
    assert len(train.grades) == 450
    with pytest.raises(rs.DataError, match="1 query cannot be split into two parts: give more queries"):
        train.only(np.arange(len(train.sizes)) == 0).split(0.25, seed=3)


def test_the_linear_baseline_is_ridge_regression_within_queries() -> None:
    data = made()
    model = Linear(penalty=0.0).fit(data, data, lambda data, scores: 0.0)
    centred = data.features.reshape(60, 10, 5) - data.features.reshape(60, 10, 5).mean(axis=1, keepdims=True)
    grades = data.grades.reshape(60, 10) - data.grades.reshape(60, 10).mean(axis=1, keepdims=True)
    expected = np.linalg.lstsq(centred.reshape(-1, 5), grades.ravel(), rcond=None)[0]
    assert model.predict(np.eye(5)) == pytest.approx(expected, abs=1e-9)


def test_the_baseline_is_the_best_single_feature_and_a_model_of_two_beats_it() -> None:
    found = rs.learn(made(), learners="Linear", metrics=["nDCG@5", "AP"])
    assert found.baseline in {"feature 1", "feature 3"}
    assert found["Linear", "nDCG@5"].verdict == "better"
    assert {one.feature for one in found.importance[:2]} == {1, 3}


def lists_with_clicks(data: RankingData, curve: np.ndarray[Any, Any], rounds: int, seed: int = 4) -> ClickedLists:
    """Documents shown in the order of a poor feature, and clicked if examined and relevant (or by mistake)."""
    draws = np.random.default_rng(seed)
    lists, queries, documents, clicked = [], [], [], []
    positions: list[int] = []
    for number in range(len(data.queries) * rounds):
        query = number % len(data.queries)
        rows = np.flatnonzero(data.query == query)
        shown = rows[np.argsort(-data.features[rows, 0])]
        looked = draws.random(len(shown)) < curve[: len(shown)]
        likes = draws.random(len(shown)) < np.where(data.grades[shown] >= 1, 0.8, 0.1)
        lists += [number] * len(shown)
        queries += [data.queries[query]] * len(shown)
        documents += [data.documents[row] for row in shown]
        positions += range(1, len(shown) + 1)
        clicked += (looked & likes).tolist()
    return ClickedLists(lists, queries, documents, np.array(positions), np.array(clicked))


def test_weighted_clicks_undo_the_bias_of_positions() -> None:
    data, curve = made(80), 1.0 / np.arange(1, 11) ** 1.5
    shown = lists_with_clicks(data, curve, rounds=30)
    plain, weighted = from_clicks(data, shown, None), from_clicks(data, shown, Examination(curve))
    models = [Linear().fit(one, one, lambda data, scores: 0.0) for one in (plain, weighted)]
    pull = [abs(model.predict(np.eye(5))[0]) / model.predict(np.eye(5))[1] for model in models]
    assert pull[1] < pull[0] / 2  # the feature of the logged order pulls the plain model
    held = made(200, seed=9)
    values = [
        rs.evaluate(held.table(held.grades), held.table(m.predict(held.features)), "nDCG@5")["nDCG@5"] for m in models
    ]
    assert values[1] > values[0] + 0.02


def test_a_click_is_one_list_with_one_relevant_document() -> None:
    data = made(2)
    shown = ClickedLists(
        ["l", "l", "l"], ["q0"] * 3, ["d4", "d2", "d1"], np.array([1, 2, 3]), np.array([True, False, True])
    )
    found = from_clicks(data, shown, Examination(np.array([1.0, 0.5, 0.25])))
    assert found.documents == ["d4", "d2", "d2", "d1"]  # another clicked document is no counterexample
    assert found.grades.tolist() == [1, 0, 0, 1]
    assert (found.sizes.tolist(), found.weights.tolist()) == ([2, 2], [1, 1, 4, 4])  # type: ignore[union-attr]


def test_clicks_are_learned_from_a_log() -> None:
    data, curve = made(30), [1.0, 0.6, 0.4, 0.3, 0.25, 0.2, 0.2, 0.2, 0.2, 0.2]
    shown = lists_with_clicks(data, np.array(curve), rounds=3)
    log = {
        "impression_id": [f"l{one}" for one in shown.lists], "query_id": list(shown.queries), "item_id": list(shown.documents),
        "position": shown.positions.tolist(), "click": shown.clicked.astype(int).tolist(),
    }  # fmt: skip
    found = rs.learn(data, made(20, seed=7), "Linear", "nDCG@5", clicks=log, examination=curve)
    assert found.queries[0] == int(shown.clicked.sum())
    assert found["Linear", "nDCG@5"].value > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learners": "LambdaMRT"}, "did you mean LambdaMART"),
        ({"learners": ["Linear", "Linear"]}, "name each learner once"),
        ({"test_share": 1.5}, "between 0 and 1"),
        ({"examination": [1.0]}, "add clicks=|add --clicks|weighs clicks"),
        ({"metrics": "NumRet"}, "no better direction"),
        ({"clicks": {"query_id": ["q1"], "click": [1]}}, "no column"),
    ],
)
def test_bad_options_are_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises((rs.InputError, rs.DataError), match=message) as error:
        rs.learn(made(), **({"learners": "Linear"} | options))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "other", [{"test": "train.txt"}, {"valid": "./train.txt"}, {"test": "b.txt", "valid": "b.txt"}]
)
def test_one_file_does_not_train_and_test(
    other: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rs.InputError, match=r"give (TEST|valid=) other queries"):
        rs.learn("train.txt", **other)


def test_clicks_that_cannot_be_learned_from_are_refused() -> None:
    data = made(2)
    one = ClickedLists(["l"], ["q0"], ["d0"], np.array([1]), np.array([False]))
    with pytest.raises(rs.DataError, match="nothing was clicked"):
        from_clicks(data, one, None)
    with pytest.raises(rs.DataError, match="was shown and has no features"):
        from_clicks(data, ClickedLists(["l"], ["q0"], ["x"], np.array([1]), np.array([True])), None)
    trusting = Examination(np.array([1.0]), alpha=np.array([0.9]), beta=np.array([0.1]))
    with pytest.raises(rs.InputError, match="trust bias"):
        from_clicks(data, one, trusting)


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(rs.RankscopeError, match=r"pip install 'rankscope\[learn\]'"):
        rs.learn(made(), learners="LambdaMART")


@pytest.mark.parametrize("learner", ["LambdaMART", "XGBoost", "LambdaMART(objective='rank_xendcg')", "LambdaMART(objective='regression')", "XGBoost(objective='rank:pairwise')", "XGBoost(objective='reg:squarederror')", "LambdaMART(top_grade=1)", "LambdaMART(truncation=3)"])  # fmt: skip
def test_boosted_trees_learn_with_grades_and_queries_that_miss_some(
    need: Callable[[str], ModuleType], learner: str
) -> None:
    need("xgboost" if learner.startswith("XGBoost") else "lightgbm")
    data = made(120)
    grades = np.where(data.grades == 1, 0.0, 2 * data.grades)  # 0 and 4: grades 1 to 3 are missing
    grades[data.query % 10 == 0] = 0.0  # queries without a pair
    gaps = RankingData("gaps", data.features, grades, data.sizes, data.queries, data.documents)
    found = rs.learn(gaps, learners=learner, metrics="nDCG@5")
    model = found.models[learner.replace('"', "'")]
    assert model.rounds is not None
    assert model.rounds >= 1
    assert found.contrasts[0].difference > 0
    assert {one.feature for one in found.importance[:2]} == {1, 3}


def test_fractional_grades_are_refused_by_losses_of_ranks(need: Callable[[str], ModuleType]) -> None:
    need("lightgbm")
    data = made()
    half = RankingData("half", data.features, data.grades / 2, data.sizes, data.queries, data.documents)
    with pytest.raises(rs.InputError, match="needs whole grades"):
        LambdaMART().fit(half, half, lambda data, scores: 0.0)
