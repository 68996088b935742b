"""Offline metrics from clicks, corrected for position bias: a click counts for all the times its position was not examined."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.errors import DataError, InputError
from rankscope.estimators.base import Estimator
from rankscope.estimators.events import Earned, Level, LoggedEvents
from rankscope.lists import Array
from rankscope.metrics import Metric, parse

DEEPEST = 1_000  # ranks below this earn nothing


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
        """Return 1 / examination of each row's position."""
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
        """Return clicks / examination x earning of the rank, out of lists or of the weight of clicks."""
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
