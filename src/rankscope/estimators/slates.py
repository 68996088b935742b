"""Estimators of rankings: a list earns the rewards of its positions."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.errors import DataError
from rankscope.estimators.base import Clip, Estimator
from rankscope.estimators.events import Earned, Level, LoggedEvents
from rankscope.estimators.targets import OfPolicy
from rankscope.lists import Array

MCINERNEY = "McInerney, Brost, Chandar, Mehrotra and Carterette, Counterfactual evaluation of slate recommendations with sequential reward interactions, KDD 2020"
LI = "Li, Abbasi-Yadkori, Kveton, Muthukrishnan, Vinay and Wen, Offline evaluation of ranking policies with click models, KDD 2018"
SWAMINATHAN = "Swaminathan, Krishnamurthy, Agarwal, Dudik, Langford, Jose and Zitouni, Off-policy evaluation for slate recommendation, NeurIPS 2017"


class _Slate(Estimator):
    """Base of the estimators that weigh each position: what a list earns is the sum over its positions of weight x reward."""

    per: ClassVar[Literal["row", "list"]] = "list"
    above, below = "weight x reward of all positions", "lists"
    unbiased = True

    clip: Clip = None

    def earn(self, events: LoggedEvents) -> Earned:
        """Return weight x reward per row, out of lists."""
        weight = self.cut(events)
        if not self.normalised:
            return Earned.of(events.weighted(weight), events.per_list)
        whole = Earned(())
        for place in range(events.places):
            there = events.position == place
            here, share = (
                np.where(there, weight, 0.0),
                there.sum() / max(len(events.starts), 1),
            )  # of lists with this position
            whole += Earned.of(share * here * events.reward, here)
        return whole


class SIPS(_Slate, aliases=("sips",)):
    """Standard IPS of rankings: the whole list has one weight. Right for any behaviour of users, and of huge variance."""

    level: ClassVar[Level | None] = "slate"
    assumes = "nothing of users"
    best_for = "short lists"
    source = SWAMINATHAN


class IIPS(_Slate, aliases=("iips",)):
    """Independent IPS: each position has the weight of its own item. Right if users look at each position by itself."""

    level: ClassVar[Level | None] = "item"
    assumes = "the reward of a position depends on its own item only"
    best_for = "long lists, and the default for lists"
    source = LI


class RIPS(_Slate, aliases=("rips",)):
    """Reward-interaction IPS: each position has the weight of the list down to it. Right if users read from the top."""

    level: ClassVar[Level | None] = "prefix"
    assumes = "the reward of a position depends on the items down to it"
    best_for = "users who read from the top, lists of medium length"
    source = MCINERNEY


class _PerPosition(_Slate):
    """Base of the estimators that are self-normalised per position."""

    unbiased, normalised = False, True
    below = "weight, per position"

    clip: Clip = None


class SNSIPS(_PerPosition, SIPS, aliases=("snsips",)):
    """SIPS, self-normalised per position."""


class SNIIPS(_PerPosition, IIPS, aliases=("sniips",)):
    """IIPS, self-normalised per position."""


class SNRIPS(_PerPosition, RIPS, aliases=("snrips",)):
    """RIPS, self-normalised per position."""


class CascadeDR(Estimator, aliases=("cascade_dr",)):
    """Doubly robust for users who read from the top: RIPS, with predicted rewards of the rest of the list as a baseline."""

    per: ClassVar[Literal["row", "list"]] = "list"
    level: ClassVar[Level | None] = "prefix"
    above, below = "weight x (reward - prediction) + weight above x mean prediction", "lists"
    unbiased, models, conditional = True, True, True
    assumes = RIPS.assumes
    best_for = "lists of medium length with a fair reward model"
    source = "Kiyohara, Saito, Matsuhiro, Narita, Shimizu and Yamamoto, Doubly robust off-policy evaluation for ranking policies under the cascade behavior model, WSDM 2022"

    def earn(self, events: LoggedEvents) -> Earned:
        """Return w_k (r_k - q_k) + w_(k-1) E q_k per row, where q_k predicts the reward from position k to the end of the list."""
        if events.target is None:
            return Earned.of(events.reward, events.per_list)
        if not isinstance(events.target, OfPolicy):
            raise DataError(
                f"{self}: the probability of every item is needed: give {events.target.name} as a policy on a run"
            )
        weight = events.weights("prefix")
        above = np.where(events.first, 1.0, np.concatenate([[1.0], weight[:-1]]))
        ends = np.cumsum(events.reward)
        rest = ends[events.last][events.list_number] - ends + events.reward
        predict = events.predicted_of(rest)
        predicted, mean = predict(slice(None), events.item), events.target.follow(events, predict)
        return Earned.of(weight * (events.reward - predicted) + above * mean, events.per_list)


class PI(Estimator, aliases=("pseudoinverse", "pi")):
    """The pseudoinverse estimator: one weight per list that is right if the reward of a list is a sum over its positions.

    For a logging policy that fills positions independently (``product``) the weight is 1 - K + sum of the ratios of the K positions.
    ``general`` inverts the second moments of a known logging policy on a run, by enumeration of its lists.
    """

    per: ClassVar[Literal["row", "list"]] = "list"
    above, below = "weight of the list x its reward", "lists"
    unbiased = True
    assumes = "the reward of a list is a sum of effects of its items at their positions"
    best_for = "a reward of the whole list, like a booking"
    source = SWAMINATHAN

    policy: Annotated[Literal["product", "general"], Param("how the logging policy fills positions")] = "product"

    def used_weights(self, events: LoggedEvents) -> Array:
        """Return the weight of each row's list."""
        if events.target is None:
            return np.ones(events.count)
        if self.policy == "general":
            return general_weights(events)
        ratios = events.sum_lists(events.weights("item"))
        sizes = events.last - events.starts + 1
        return np.asarray((1 - sizes + ratios)[events.list_number])

    def earn(self, events: LoggedEvents) -> Earned:
        """Return weight x reward of the list."""
        weight = self.used_weights(events)
        of = np.where(events.first, weight, 0.0) if self.normalised else events.per_list
        return Earned.of(weight * events.reward, of)


class WPI(PI, aliases=("wpi", "weighted_pi")):
    """The pseudoinverse estimator, self-normalised."""

    below = "weight of lists"
    unbiased, normalised = False, True

    policy: Annotated[Literal["product", "general"], Param("how the logging policy fills positions")] = "product"


def general_weights(events: LoggedEvents) -> Array:
    """Return q' G+ 1_s per row: q has the target's probability of each item at each position, G the second moments of the logging policy.

    Raises DataError unless both are policies on a run.
    """
    target, logging = events.target, events.logging
    if not (isinstance(target, OfPolicy) and isinstance(logging, OfPolicy)):
        raise DataError(
            "PI(policy='general'): the policy that ran and the target are both needed as policies on a run (--logging, --target)"
        )
    width, out = len(events.items), np.zeros(events.count)
    for context in np.unique(events.context).tolist():
        of_logger, of_target = (context if len(one.scores) > 1 else 0 for one in (logging, target))
        lists, chances = logging.lists(of_logger, events.places)
        places = np.arange(lists.shape[1])
        shown = np.zeros((len(lists), width * events.places + len(places)))
        shown[np.arange(len(lists))[:, None], logging.items[of_logger][lists] * len(places) + places] = 1.0
        used = np.flatnonzero(shown.any(axis=0))
        moments = (shown[:, used] * chances[:, None]).T @ shown[:, used]
        aim, values = np.zeros((2, shown.shape[1]))
        items = target.items[of_target]
        inside = (items >= 0) & (items < width)
        aim[items[inside][:, None] * len(places) + places] = target.table(len(places))[of_target][inside]
        values[used] = np.linalg.pinv(moments, hermitian=True) @ aim[used]
        rows = np.flatnonzero(events.context == context)
        out[rows] = values[events.item[rows] * len(places) + events.position[rows]]
    return np.asarray(events.sum_lists(out)[events.list_number])
