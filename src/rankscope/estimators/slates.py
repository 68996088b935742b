"""Estimators of rankings: a list earns the rewards of its positions, or an offline metric from its clicks, corrected for position bias."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.errors import DataError, InputError
from rankscope.estimators.base import Clip, Estimator
from rankscope.estimators.events import Earned, Level, LoggedEvents
from rankscope.estimators.targets import OfPolicy
from rankscope.lists import Array
from rankscope.metrics import Metric, parse

MCINERNEY = "McInerney, Brost, Chandar, Mehrotra and Carterette, Counterfactual evaluation of slate recommendations with sequential reward interactions, KDD 2020"
LI = "Li, Abbasi-Yadkori, Kveton, Muthukrishnan, Vinay and Wen, Offline evaluation of ranking policies with click models, KDD 2018"
SWAMINATHAN = "Swaminathan, Krishnamurthy, Agarwal, Dudik, Langford, Jose and Zitouni, Off-policy evaluation for slate recommendation, NeurIPS 2017"
DEEPEST = 1_000  # ranks below this earn nothing in metrics from clicks


class _Slate(Estimator):
    """Base of the estimators that weigh each position: what a list earns is the sum over its positions of weight x reward."""

    per: ClassVar[Literal["row", "list"]] = "list"
    above, below = "weight x reward of all positions", "lists"
    unbiased = True

    clip: Clip = None

    def earn(self, events: LoggedEvents) -> Earned:
        weight = self.cut(events)
        if not self.normalised:
            return Earned.of(events.weighted(weight), events.per_list)
        whole = Earned(())
        for place in range(events.places):
            there = events.position == place
            here, share = np.where(there, weight, 0.0), there.sum() / max(len(events.starts), 1)  # of lists that long
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


class SNSIPS(_PerPosition, SIPS, aliases=("snsips",)):
    """SIPS, self-normalised per position."""


class SNIIPS(_PerPosition, IIPS, aliases=("sniips",)):
    """IIPS, self-normalised per position."""


class SNRIPS(_PerPosition, RIPS, aliases=("snrips",)):
    """RIPS, self-normalised per position."""


class CascadeDR(Estimator, aliases=("cascade_dr",)):
    """Doubly robust for users who read from the top: RIPS, with predicted rewards of the rest of the list as a baseline.

    A row earns w_k (r_k - q_k) + w_(k-1) E q_k, where q_k predicts the reward from position k to the end of the list.
    """

    per: ClassVar[Literal["row", "list"]] = "list"
    level: ClassVar[Level | None] = "prefix"
    above, below = "weight x (reward - prediction) + weight above x mean prediction", "lists"
    unbiased, models, conditional = True, True, True
    assumes = RIPS.assumes
    best_for = "lists of medium length with a fair reward model"
    source = "Kiyohara, Saito, Matsuhiro, Narita, Shimizu and Yamamoto, Doubly robust off-policy evaluation for ranking policies under the cascade behavior model, WSDM 2022"

    def earn(self, events: LoggedEvents) -> Earned:
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
        if events.target is None:
            return np.ones(events.count)
        if self.policy == "general":
            return general_weights(events)
        ratios = events.sum_lists(events.weights("item"))
        sizes = events.last - events.starts + 1
        return np.asarray((1 - sizes + ratios)[events.list_number])

    def earn(self, events: LoggedEvents) -> Earned:
        weight = self.used_weights(events)
        of = np.where(events.first, weight, 0.0) if self.normalised else events.per_list
        return Earned.of(weight * events.reward, of)


class WPI(PI, aliases=("wpi", "weighted_pi")):
    """The pseudoinverse estimator, self-normalised."""

    below = "weight of lists"
    unbiased, normalised = False, True


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


def check_metric(value: Any) -> str:
    """Return the reason to refuse a metric; empty if it can be computed from one relevant document per click."""
    try:
        metric = parse(value)
    except InputError as error:
        return str(error)
    fits = metric.better == "higher" and not metric.needs
    return "" if fits else "it needs more than grades and ranks: use DCG, RR, P or AP"


def earnings_by_rank(metric: Metric, ranks: int) -> Array:
    """Return the value of a list with one relevant document, by its rank.

    >>> earnings_by_rank(parse("RR"), 3).round(3).tolist(), earnings_by_rank(parse("P@2"), 3).tolist()
    ([1.0, 0.5, 0.333], [0.5, 0.5, 0.0])
    """
    return np.array([metric.of([0] * rank + [1]) for rank in range(min(ranks, DEEPEST))])


class Clicked(Estimator, aliases=("clicked", "IPSMetric")):
    """An offline metric from clicks: each click earns the metric of its item at the target's rank, over the examination of its position.

    For a metric that is a sum over relevant documents (DCG, P) this is the metric of the ranking; of others (RR, AP) it is the sum over
    relevant documents of the metric of each by itself.
    """

    per: ClassVar[Literal["row", "list"]] = "list"
    level: ClassVar[Level | None] = None
    above, below = "clicks / examination x earning at the target's rank", "lists"
    unbiased = True
    assumes = "a user clicks what is examined and relevant, and examination depends on the position only"
    best_for = "DCG from clicks, without judgments"
    source = "Joachims, Swaminathan and Schnabel, Unbiased learning-to-rank with biased feedback, WSDM 2017; trust bias: Vardasbi, Oosterhuis and de Rijke, CIKM 2020"

    metric: Annotated[str, Param("an offline metric, like DCG@10", reason_against=check_metric)] = "DCG@10"
    clip: Annotated[
        float | None, Param("the largest weight 1 / examination: larger ones count as this number", low=1.0)
    ] = None
    normalised_by_clicks: Annotated[
        bool, Param("divide by the sum of the weights of clicks: the mean over relevant documents")
    ] = False

    def used_weights(self, events: LoggedEvents) -> Array:
        curve = events.examination
        if curve is None:
            raise DataError(
                f"{self}: the probability that each position is examined is needed: --examination 1,0.6,0.4, or its file"
            )
        examined = curve.alpha[curve.index(events.position + 1)]
        if not examined.all():
            raise DataError(f"{self}: a position of the log is never examined: clicks at it cannot be weighted")
        weight = 1 / examined
        return weight if self.clip is None else np.minimum(weight, self.clip)

    def earn(self, events: LoggedEvents) -> Earned:
        weight, curve = self.used_weights(events), events.examination
        assert curve is not None
        relevant = (events.reward - curve.beta[events.position]) * weight
        metric = parse(self.metric)
        if events.target is None:
            gains = earnings_by_rank(metric, events.places)[events.position]
        else:
            depth = max(events.places, getattr(events.target, "scores", np.zeros((1, 0))).shape[1])
            gains = events.target.gains(events, earnings_by_rank(metric, depth))
        return Earned.of(relevant * gains, relevant if self.normalised_by_clicks else events.per_list)
