"""The dict of obp: positions counted from 1, each chance in its role, rounds and slates, arrays that do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError

# as obp's SyntheticBanditDataset and OpenBanditDataset return it
FEEDBACK: dict[str, Any] = {
    "n_rounds": 4, "n_actions": 3, "context": np.array([[0.5, 1.0], [-0.5, 2.0], [0.0, 3.0], [1.5, 4.0]]),
    "action_context": np.eye(3), "action": np.array([2, 0, 1, 2]), "position": np.array([0, 2, 1, 0]),
    "reward": np.array([1, 0, 0, 1]), "expected_reward": np.ones((4, 3)), "pi_b": np.ones((4, 3, 1)) / 3,
    "pscore": np.array([0.25, 0.5, 0.125, 0.25]),
}  # fmt: skip

# as its SyntheticSlateBanditDataset does: two slates of three, drawn one after the other from six
SLATES: dict[str, Any] = {
    "n_rounds": 2, "n_unique_action": 6, "slate_id": np.array([0, 0, 0, 1, 1, 1]), "context": np.array([[7.0], [9.0]]),
    "action_context": np.eye(6), "action": np.array([1, 5, 0, 4, 2, 3]), "position": np.array([0, 1, 2, 0, 1, 2]),
    "reward": np.array([0.5, 0.0, 2.0, 1.0, 0.0, 0.0]),
    "pscore_cascade": np.array([1 / 6, 1 / 30, 1 / 120, 1 / 6, 1 / 30, 1 / 120]), "pscore": np.full(6, 1 / 120),
    "pscore_item_position": np.full(6, 1 / 6), "evaluation_policy_pscore": np.full(6, 1 / 60),
}  # fmt: skip


def test_positions_count_from_one_and_the_chance_is_that_of_the_action_at_its_position() -> None:
    log = rs.read_log(FEEDBACK)
    assert log.collect(log.frame.select("item_id", "position", "reward", "p_item_pos", "context_0")).rows() == [
        ("2", 1, 1.0, 0.25, 0.5),
        ("0", 3, 0.0, 0.5, -0.5),
        ("1", 2, 0.0, 0.125, 0.0),
        ("2", 1, 1.0, 0.25, 1.5),
    ]
    assert "reward is 0 or 1 in all rows: it is also taken as click" in log.source.notes
    assert "positions are counted from 0 there: 1 is added to all" in log.source.notes
    assert not log.has("p_slate")
    assert not log.has("p_prefix")
    assert not log.has("impression_id")
    assert (
        "left out, as they have no element for each row: action_context, expected_reward and pi_b" in log.source.notes
    )


def test_the_mean_reward_is_the_value_of_the_policy_that_logged() -> None:
    result = rs.online(FEEDBACK, ["CTR", "Mean(reward)"], by="position")
    assert result["CTR"] == result["Mean(reward)"] == FEEDBACK["reward"].mean()
    assert {one.part: one.value for one in result.positions} == {1: 1.0, 2: 0.0, 3: 0.0}


def test_slates_are_lists_and_each_of_three_chances_has_its_role() -> None:
    log = rs.read_log(SLATES)
    columns = (
        "impression_id",
        "item_id",
        "position",
        "reward",
        "p_item_pos",
        "p_prefix",
        "p_slate",
        "context_0",
        "evaluation_policy_pscore",
    )
    assert log.collect(log.frame.select(columns)).rows() == [
        ("0", "1", 1, 0.5, 1 / 6, 1 / 6, 1 / 120, 7.0, 1 / 60),
        ("0", "5", 2, 0.0, 1 / 6, 1 / 30, 1 / 120, 7.0, 1 / 60),
        ("0", "0", 3, 2.0, 1 / 6, 1 / 120, 1 / 120, 7.0, 1 / 60),
        ("1", "4", 1, 1.0, 1 / 6, 1 / 6, 1 / 120, 9.0, 1 / 60),
        ("1", "2", 2, 0.0, 1 / 6, 1 / 30, 1 / 120, 9.0, 1 / 60),
        ("1", "3", 3, 0.0, 1 / 6, 1 / 120, 1 / 120, 9.0, 1 / 60),
    ]
    assert not log.has("click")  # the rewards are not all 0 or 1
    assert not any("taken as click" in note for note in log.source.notes)
    assert rs.online(SLATES, "Mean(reward)")["Mean(reward)"] == (0.5 + 2.0 + 1.0) / 2  # of a slate
    assert rs.check(log).exit_code == 0  # the rules of chances hold: RS608 to RS610


def test_feedback_without_positions_is_of_one_place() -> None:
    log = rs.read_log({**FEEDBACK, "position": None})
    assert not log.has("position")
    assert rs.online(log, "CTR")["CTR"] == 1 / 2


def test_a_file_of_json_is_the_same(tmp_path: Path) -> None:
    plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in FEEDBACK.items()}
    path = tmp_path / "feedback.json"
    path.write_text(json.dumps(plain))
    of_file, of_arrays = rs.read_log(path), rs.read_log(FEEDBACK)
    assert of_file.collect(of_file.frame).equals(of_arrays.collect(of_arrays.frame))
    assert of_file.source.at(1) == f"{path} row 2"


def test_named_it_needs_no_number_of_rounds() -> None:
    arrays = {name: FEEDBACK[name] for name in ("action", "reward", "pscore")}
    log = rs.read_log(arrays, log_format="obp")
    assert log.rows == 4
    assert not any("positions" in note or "left out" in note for note in log.source.notes)
    assert log.has("p_item_pos")


def test_roles_can_be_said_of_its_columns() -> None:
    log = rs.read_log(SLATES, columns={"evaluation_policy_pscore": "p_slate"})
    assert log.collect(log.frame.select("p_slate").unique()).rows() == [(1 / 60,)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"pscore": np.ones(3)}, "log: pscore is of shape (3,), and action has 4 elements", id="arrays of two lengths"),
        pytest.param({"reward": np.ones((4, 2))}, "log: reward is of shape (4, 2)", id="several rewards a row"),
        pytest.param({"position": np.array([0.5, 0, 1, 2])}, "log: position holds '0.0'; positions are whole numbers, which count from 0", id="positions between places"),
        pytest.param({"position": np.array([-1, 0, 1, 2])}, "log: position holds '-1'", id="positions below 0"),
        pytest.param({"action": [[1], [2, 3], [4], [5]]}, "log: action should be an array of numbers or texts", id="rows of several lengths"),
        pytest.param({"pscore": [0.5, None, 0.5, 0.5]}, "log: pscore should be an array of numbers or texts", id="a gap in an array"),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        rs.read_log({**FEEDBACK, **change})
    assert str(error.value).startswith(said)


def test_what_is_named_and_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="log: no feedback as obp has it; action and reward as arrays"):
        rs.read_log({"item": ["a"], "click": [1]}, log_format="obp")
