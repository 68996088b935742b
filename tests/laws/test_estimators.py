"""Laws over all estimators: exact means by enumeration, merging, spelling, and what self-normalisation promises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.made import slates
from tests.made.slates import Guess, Reward, events_of, every_list, logged_by, mean_of, policy, truth_of

import rankscope.estimators.catalogue  # noqa: F401 - declares them
from rankscope.behaviour.policies import EpsilonShuffle, Fixed, LoggingPolicy, PlackettLuce, TopShuffle
from rankscope.declared import parse_all
from rankscope.estimators.base import Estimator
from rankscope.estimators.events import Earned, LoggedEvents
from rankscope.estimators.single import MIPS, Replay
from rankscope.estimators.slates import PI
from rankscope.estimators.targets import Dense
from rankscope.lists import Array
from rankscope.lists.examination import Examination

ALL = sorted(
    {cls for cls in Estimator.catalogue.values() if cls.__module__.startswith("rankscope.")},
    key=lambda cls: cls.__name__,
)
UNBIASED = [cls for cls in ALL if cls.unbiased]
OF_ROWS = [cls for cls in UNBIASED if cls.per == "row"]
OF_LISTS = [cls for cls in UNBIASED if cls.per == "list" and cls.level is not None]
TARGETS: dict[str, LoggingPolicy] = {
    "a fixed ranking": Fixed(), "some exploration": EpsilonShuffle(epsilon=0.3), "draws": PlackettLuce(temperature=0.7), "a shuffled top": TopShuffle(top=2),
}  # fmt: skip
LOGGERS: dict[str, LoggingPolicy] = {
    "uniform": EpsilonShuffle(epsilon=1.0),
    "exploring": EpsilonShuffle(epsilon=0.4),
    "draws": PlackettLuce(temperature=1.0),
}
SCORES, OTHERS = (1.0, 2.0, 3.0, 0.0), (2.0, 0.5, 1.0, 1.5)


def name_of(cls: type) -> str:
    return cls.__name__


def made(cls: type[Estimator]) -> Estimator:
    return cls(by="kind") if issubclass(cls, MIPS) else cls()


@pytest.mark.parametrize("logger", LOGGERS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("cls", OF_ROWS, ids=name_of)
def test_estimators_of_single_items_are_unbiased(cls: type[Estimator], target: str, logger: str) -> None:
    events, chances = logged_by(
        events_of(every_list(1), slates.independent, model=Guess()), policy(LOGGERS[logger], OTHERS)
    )
    aim = policy(TARGETS[target], SCORES)
    events = replace(events, mixtures=events.propensities["item"][:, None])
    assert mean_of(made(cls), events, aim, chances) == pytest.approx(truth_of(events, aim), rel=1e-12)


WORLDS: dict[str, Reward] = {"item": slates.independent, "prefix": slates.cascade, "slate": slates.anything}


@pytest.mark.parametrize("logger", LOGGERS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("cls", [cls for cls in OF_LISTS if not issubclass(cls, PI)], ids=name_of)
def test_estimators_of_lists_are_unbiased_where_users_are_as_assumed(
    cls: type[Estimator], target: str, logger: str
) -> None:
    events, chances = logged_by(
        events_of(every_list(3), WORLDS[str(cls.level)], model=Guess()), policy(LOGGERS[logger], OTHERS)
    )
    aim = policy(TARGETS[target], SCORES)
    assert mean_of(made(cls), events, aim, chances) == pytest.approx(truth_of(events, aim), rel=1e-11)


def test_a_weaker_assumption_is_a_bias() -> None:
    events, chances = logged_by(events_of(every_list(3), slates.anything), policy(EpsilonShuffle(epsilon=0.6), OTHERS))
    aim = policy(PlackettLuce(temperature=0.5), SCORES)
    of = {
        cls.__name__: abs(mean_of(cls(), events, aim, chances) - truth_of(events, aim))
        for cls in OF_LISTS
        if cls.__name__ in {"SIPS", "IIPS", "RIPS"}
    }
    assert of["SIPS"] < 1e-12
    assert min(of["IIPS"], of["RIPS"]) > 1e-3


TABLE = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.3, 0.2]])
AIM = np.array([[0.1, 0.1, 0.1, 0.7], [0.0, 0.5, 0.5, 0.0], [0.6, 0.2, 0.1, 0.1]])


def of_independent_positions(reward: Reward) -> tuple[LoggedEvents, Array, Dense]:
    lists = slates.product_lists(3)
    events, chances = logged_by(events_of(lists, reward), slates.product_policy(TABLE, len(lists)))
    return events, chances, slates.product_policy(AIM, len(lists), "target")


def test_pseudoinverse_is_the_published_product_formula_and_unbiased() -> None:
    events, chances, aim = of_independent_positions(slates.independent)
    ratios = (AIM / TABLE)[events.position, events.item].reshape(-1, 3)
    assert PI().used_weights(events.under(aim))[::3] == pytest.approx(1 - 3 + ratios.sum(axis=1), rel=1e-12)
    assert mean_of(PI(), events, aim, chances) == pytest.approx(truth_of(events, aim), rel=1e-12)


@pytest.mark.parametrize("logger", LOGGERS)
@pytest.mark.parametrize("target", TARGETS)
def test_general_pseudoinverse_is_unbiased_for_policies_without_repetition(target: str, logger: str) -> None:
    events, chances = logged_by(events_of(every_list(3), slates.independent), policy(LOGGERS[logger], OTHERS))
    aim = policy(TARGETS[target], SCORES)
    assert mean_of(PI(policy="general"), events, aim, chances) == pytest.approx(truth_of(events, aim), rel=1e-9)


RELEVANT = np.array([0.9, 0.2, 0.6, 0.4])
CURVE = Examination(np.array([1.0, 0.5, 0.25]))
TRUSTING = Examination(np.array([1.0, 0.5, 0.25]), np.array([0.9, 0.5, 0.2]), np.array([0.1, 0.05, 0.02]))


@pytest.mark.parametrize("metric", ["DCG@3", "P@2", "RBP(p=0.8)", "RR"])
@pytest.mark.parametrize("curve", [CURVE, TRUSTING], ids=["examination", "with trust"])
def test_metrics_from_clicks_are_those_of_relevance(metric: str, curve: Examination) -> None:
    from rankscope.estimators.slates import Clicked
    from rankscope.metrics import parse

    def click(shown: tuple[int, ...], place: int) -> float:
        return float(curve.alpha[place] * RELEVANT[shown[place]] + curve.beta[place])

    events, chances = logged_by(
        events_of(every_list(3), click, examination=curve), policy(EpsilonShuffle(epsilon=1.0), OTHERS)
    )
    aim = policy(Fixed(), SCORES)
    found = mean_of(Clicked(metric=metric), events, aim, chances)
    ranking = [2, 1, 0, 3]  # by SCORES
    earned = sum(RELEVANT[item] * parse(metric).of([0] * rank + [1]) for rank, item in enumerate(ranking))
    # a list of three shows each of four items in three cases of four
    assert found == pytest.approx(3 / 4 * earned, rel=1e-12)


def random_log(seed: int = 3, rows: int = 400) -> LoggedEvents:
    draws = np.random.default_rng(seed)
    lists = [tuple(int(i) for i in draws.permutation(4)[:3]) for _ in range(rows)]
    events = events_of(lists, slates.independent, model=Guess(), examination=CURVE)
    logged, _ = logged_by(events, policy(EpsilonShuffle(epsilon=1.0), OTHERS))
    clicks = (draws.random(events.count) < logged.reward).astype(float)
    unit = logged.list_number % 90
    return replace(
        logged,
        reward=clicks,
        unit=unit,
        units=90,
        categories={"kind": logged.item % 2},
        mixtures=logged.propensities["item"][:, None],
    )


@pytest.mark.parametrize("cls", ALL, ids=name_of)
def test_parts_of_a_log_add_up_to_the_whole(cls: type[Estimator]) -> None:
    events = random_log().under(policy(Fixed() if cls is Replay else PlackettLuce(), SCORES))
    earned = (
        (made(cls)).earn(events)
        if cls is not Replay
        else made(cls).earn(replace(events, target=policy(Fixed(), SCORES)))
    )
    totals = earned.totals(events)
    half = events.unit < 40
    cut = sum((np.where(part, one, 0.0).sum() for part in (half, ~half) for one in [earned.parts[0][0]]), 0.0)
    assert totals.shape == (90, 2 * len(earned.parts))
    assert totals[:, 0].sum() == pytest.approx(cut, rel=1e-12)
    assert earned.value == pytest.approx(
        sum(a.sum() / b.sum() for a, b in zip(totals.T[::2], totals.T[1::2], strict=True)), rel=1e-12
    )


@pytest.mark.parametrize("cls", ALL, ids=name_of)
def test_the_policy_that_ran_has_its_mean_reward(cls: type[Estimator]) -> None:
    events = random_log()
    if cls.__name__ == "Clicked":
        pytest.skip("a metric of the ranking, not a reward")
    whole = events.reward.sum() / (len(events.starts) if cls.per == "list" else events.count)
    assert made(cls).earn(events.under(None)).value == pytest.approx(whole, rel=1e-9)


NORMALISED = [cls for cls in ALL if cls.normalised and not cls.models]


@pytest.mark.parametrize("cls", NORMALISED, ids=name_of)
def test_self_normalised_estimates_of_a_constant_are_the_constant(cls: type[Estimator]) -> None:
    events = random_log()
    events = replace(events, reward=np.full(events.count, 2.0)).under(policy(Fixed(), SCORES))
    expected = 6.0 if cls.per == "list" else 2.0
    assert made(cls).earn(events).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("cls", ALL, ids=name_of)
def test_a_spelling_reads_back(cls: type[Estimator]) -> None:
    estimator = made(cls)
    assert list(parse_all(Estimator, str(estimator))) == [estimator]


@pytest.mark.parametrize("cls", ALL, ids=name_of)
def test_each_says_what_it_is_for(cls: type[Estimator]) -> None:
    assert cls.source
    assert cls.above
    assert cls.below
    assert cls.assumes or not cls.unbiased


def test_parts_join() -> None:
    one, two = Earned.of([1.0, 2.0]), Earned.of([4.0, 0.0], [1.0, 1.0])
    assert (one + two).value == 3 / 2 + 4 / 2
