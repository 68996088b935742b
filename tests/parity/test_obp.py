"""obp (Open Bandit Pipeline), run for real: the value of each estimator that both have, on logs of single items and of lists.

obp counts positions from 0. It self-normalises IIPS by the mean weight of all positions, and rankscope by that of each position. Its MIPS
takes the distribution of items in a category as known, and rankscope takes it from the log: both are equal if items have their shares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.made.slates import Guess, policy

import rankscope as rs
from rankscope.behaviour.policies import PlackettLuce
from rankscope.estimators.catalogue import read_estimators
from rankscope.estimators.events import Level, LoggedEvents
from rankscope.estimators.targets import Dense
from rankscope.lists import Array

CLOSE = 1e-10
ROWS, ITEMS, PLACES = 600, 5, 3
SINGLE = {
    "IPS": ("InverseProbabilityWeighting", {}),
    "IPS(clip=2)": ("InverseProbabilityWeighting", {"lambda_": 2.0}),
    "SNIPS": ("SelfNormalizedInverseProbabilityWeighting", {}),
    "DM": ("DirectMethod", {}),
    "DR": ("DoublyRobust", {}),
    "DR(clip=2)": ("DoublyRobust", {"lambda_": 2.0}),
    "SNDR": ("SelfNormalizedDoublyRobust", {}),
    "SwitchDR(threshold=2)": ("SwitchDoublyRobust", {"lambda_": 2.0}),
    "DRos(shrink=3)": ("DoublyRobustWithShrinkage", {"lambda_": 3.0}),
    "SubGaussianIPS(lam=0.2)": ("SubGaussianInverseProbabilityWeighting", {"lambda_": 0.2}),
    "SubGaussianDR(lam=0.2)": ("SubGaussianDoublyRobust", {"lambda_": 0.2}),
}
SLATES = {
    "SIPS": "SlateStandardIPS", "IIPS": "SlateIndependentIPS", "RIPS": "SlateRewardInteractionIPS", "CascadeDR": "SlateCascadeDoublyRobust",
    "SNSIPS": "SelfNormalizedSlateStandardIPS", "SNRIPS": "SelfNormalizedSlateRewardInteractionIPS",
}  # fmt: skip
PSCORE: dict[Level, str] = {"slate": "pscore", "item": "pscore_item_position", "prefix": "pscore_cascade"}


@pytest.fixture(scope="module")
def obp(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("obp.ope")


def value_of(name: str, events: LoggedEvents) -> float:
    return read_estimators(name)[0].earn(events).value


def log_of(item: Array, chances: Array, reward: Array, places: int = 1) -> LoggedEvents:
    """Lists of items that were drawn with these chances, with one query."""
    rows, zeros = np.arange(len(item)), np.zeros(len(item), dtype=np.int64)
    return LoggedEvents(
        reward, rows // places, len(item) // places, rows // places, rows % places, item, [f"i{i}" for i in range(ITEMS)], zeros, zeros,
        {"item": chances}, model=Guess(),
    )  # fmt: skip


@pytest.fixture(scope="module")
def single() -> tuple[LoggedEvents, dict[str, Any]]:
    """Items drawn by chances that differ from row to row, and the same as obp has it, with the predictions of one model."""
    draws = np.random.default_rng(8)
    logged, wanted = draws.dirichlet(np.ones(ITEMS), size=(2, ROWS))
    item = (draws.random((ROWS, 1)) > np.cumsum(logged, axis=1)).sum(axis=1)
    reward = draws.integers(0, 2, size=ROWS).astype(float)
    events = log_of(item, logged[np.arange(ROWS), item], reward).under(Dense("wanted", wanted))
    every = np.arange(ROWS)
    predicted = np.stack([events.predicted(every, np.full(ROWS, one)) for one in range(ITEMS)], axis=1)
    return events, {
        "reward": reward, "action": item, "pscore": events.propensity(), "action_dist": wanted[:, :, None],
        "estimated_rewards_by_reg_model": predicted[:, :, None],
    }  # fmt: skip


@pytest.mark.parametrize("ours", SINGLE)
def test_estimators_of_single_items(obp: ModuleType, single: Any, ours: str) -> None:
    events, given = single
    name, options = SINGLE[ours]
    theirs = getattr(obp, name)(**options).estimate_policy_value(**given)
    assert value_of(ours, events) == pytest.approx(theirs, rel=CLOSE)


def test_replay_of_a_fixed_policy(obp: ModuleType, single: Any) -> None:
    events, given = single
    fixed = np.zeros((ROWS, ITEMS))
    fixed[:, 2] = 1.0
    theirs = obp.ReplayMethod().estimate_policy_value(**{**given, "action_dist": fixed[:, :, None]})
    assert value_of("Replay", events.under(Dense("fixed", fixed))) == pytest.approx(theirs, rel=CLOSE)


def test_several_loggers(obp: ModuleType, single: Any) -> None:
    events, given = single
    logger = np.arange(ROWS) % 3 // 2
    mixtures = np.stack([given["pscore"], np.roll(given["pscore"], 1)], axis=1)
    several = replace(events, logger=logger, mixtures=mixtures)
    average = mixtures @ (np.bincount(logger) / ROWS)
    for ours, theirs in {
        "IPS": obp.MultiLoggersNaiveInverseProbabilityWeighting().estimate_policy_value(**given),
        "BalancedIPS": obp.MultiLoggersBalancedInverseProbabilityWeighting().estimate_policy_value(**given, pscore_avg=average),
        "WeightedIPS": obp.MultiLoggersWeightedInverseProbabilityWeighting().estimate_policy_value(**given, stratum_idx=logger),
    }.items():  # fmt: skip
        assert value_of(ours, several) == pytest.approx(theirs, rel=CLOSE), ours


def test_categories_of_items(obp: ModuleType) -> None:
    shares, kinds = np.array([4, 3, 2, 2, 1]), np.array([0, 0, 1, 1, 1])
    item = np.repeat(np.arange(ITEMS), shares * 10)
    logged, wanted = shares / shares.sum(), np.array([0.1, 0.2, 0.1, 0.2, 0.4])
    reward = np.random.default_rng(3).integers(0, 2, size=len(item)).astype(float)
    events = log_of(item, logged[item], reward).under(Dense("wanted", np.tile(wanted, (len(item), 1))))
    events = replace(events, categories={"kind": kinds[item]})
    theirs = obp.MarginalizedInverseProbabilityWeighting(n_actions=ITEMS).estimate_policy_value(
        reward=reward, action=item, action_embed=kinds[item][:, None], context=None, pi_b=np.tile(logged[:, None], (len(item), 1, 1)),
        action_dist=np.tile(wanted[:, None], (len(item), 1, 1)), p_e_a=np.eye(2)[kinds][:, :, None],
    )  # fmt: skip
    assert value_of("MIPS(by='kind')", events) == pytest.approx(theirs, rel=CLOSE)


@pytest.fixture(scope="module")
def lists() -> tuple[LoggedEvents, dict[str, Any]]:
    """Lists without repeated items, drawn and wanted by Plackett-Luce, and the same as obp has it."""
    draws = np.random.default_rng(4)
    logged, wanted = draws.normal(size=(2, ITEMS))
    item = np.argsort(-draws.gumbel(size=(ROWS, ITEMS)) - logged, axis=1)[:, :PLACES].ravel()
    events = log_of(item, np.ones(len(item)), draws.integers(0, 2, size=len(item)).astype(float), PLACES)
    logger, target = (policy(PlackettLuce(temperature=1.0), tuple(scores), "it") for scores in (logged, wanted))
    levels: Any = ("item", "prefix", "slate")
    events = replace(events, propensities={level: logger.chance(events, level) for level in levels}).under(target)
    left = np.ones((ROWS, ITEMS), dtype=bool)
    follows = np.zeros((ROWS, PLACES, ITEMS))  # the target's chance of each item after those above it
    for place in range(PLACES):
        weight = np.exp(wanted) * left
        follows[:, place] = weight / weight.sum(axis=1, keepdims=True)
        left[np.arange(ROWS), item[place::PLACES]] = False
    every = np.arange(len(item))
    predicted = np.stack([events.predicted(every, np.full(len(item), one)) for one in range(ITEMS)], axis=1)
    return events, {
        "slate_id": events.lists, "reward": events.reward, "position": events.position, "action": item, "q_hat": predicted.ravel(),
        "evaluation_policy_action_dist": follows.ravel(),
        **{name: events.propensity(level) for level, name in PSCORE.items()},
        **{f"evaluation_policy_{name}": events.chance(level) for level, name in PSCORE.items()},
    }  # fmt: skip


@pytest.mark.parametrize("ours", SLATES)
def test_estimators_of_lists(obp: ModuleType, lists: Any, ours: str) -> None:
    events, given = lists
    options = {"len_list": PLACES} | ({"n_unique_action": ITEMS} if ours == "CascadeDR" else {})
    theirs = getattr(obp, SLATES[ours])(**options).estimate_policy_value(**given)
    assert value_of(ours, events) == pytest.approx(theirs, rel=CLOSE)


def test_real_clicks(obp: ModuleType, shared_data: Callable[[str], Path]) -> None:
    log = shared_data("obd") / "bts" / "men"
    found = rs.estimate(log, "uniform", ["IPS", "SNIPS"], force=True)
    events = found.event_log.events
    uniform = np.full((events.count, 34, 1), 1 / 34)
    given = {"reward": events.reward, "action": events.item, "pscore": events.propensity(), "action_dist": uniform}
    for ours in ("IPS", "SNIPS"):
        theirs = getattr(obp, SINGLE[ours][0])().estimate_policy_value(**given)
        assert found.value_of("uniform", ours).value == pytest.approx(theirs, rel=CLOSE)
