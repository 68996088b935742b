"""Estimators of single actions: each row of the log earns by itself."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.errors import DataError
from rankscope.estimators.base import Clip, Estimator
from rankscope.estimators.events import Earned, Level, LoggedEvents, OfRows, by_parts, number_cells
from rankscope.lists import Array

SWAMINATHAN = "Swaminathan and Joachims, The self-normalized estimator for counterfactual learning, NeurIPS 2015"
DUDIK = "Dudik, Langford and Li, Doubly robust policy evaluation and learning, ICML 2011"
OVERLAP = "the logging policy gives each item of the target a probability above 0"


class IPS(Estimator, aliases=("ips", "IPW")):
    """The mean of weight x reward: each reward counts as often as the target would have shown its item."""

    above, below = "weight x reward", "rows"
    unbiased = True
    assumes = OVERLAP
    best_for = "good overlap, and many clicks"
    source = (
        "Horvitz and Thompson, A generalization of sampling without replacement from a finite universe, JASA 47, 1952"
    )

    clip: Clip = None


class SNIPS(Estimator, aliases=("snips", "SNIPW")):
    """IPS divided by the mean weight: less variance, a little bias that vanishes with the number of rows."""

    above, below = "weight x reward", "weight"
    normalised = True
    best_for = "the default for single items"
    source = SWAMINATHAN

    clip: Clip = None

    def earn(self, events: LoggedEvents) -> Earned:
        weight = self.cut(events)
        return Earned.of(events.weighted(weight), weight)


class DM(Estimator, aliases=("direct_method",)):
    """The direct method: the mean of the predicted reward under the target. As good, and as biased, as the reward model.

    It has no interval, as the log does not show how wrong the model is about items that are rarely shown.
    """

    above, below = "predicted reward under the target", "rows"
    level: ClassVar[Level | None] = None
    fallible, models = True, True
    best_for = "a second opinion; poor overlap and a model that you trust"
    source = DUDIK

    def earn(self, events: LoggedEvents) -> Earned:
        return Earned.of(events.reward if events.target is None else by_parts(events.count, events.expected))


class DR(Estimator, aliases=("dr",)):
    """Doubly robust: the prediction, corrected by weight x the error of the model. Right if propensities or the model are."""

    above, below = "prediction + weight x error of the prediction", "rows"
    unbiased, models = True, True
    assumes = OVERLAP
    best_for = "a fair reward model, and fair overlap"
    source = DUDIK

    clip: Clip = None

    def earn(self, events: LoggedEvents) -> Earned:
        if events.target is None:
            return Earned.of(events.reward)
        return Earned.of(by_parts(events.count, self.corrected(events, self.cut(events), events.expected)))

    def corrected(self, events: LoggedEvents, weight: Array, prediction: OfRows | None = None) -> OfRows:
        """Return a function from rows to weight x the error of their predictions, plus ``prediction``."""

        def make(rows: slice) -> Array:
            earned = events.reward[rows] - events.fitted(rows)
            earned *= weight[rows]
            return earned if prediction is None else earned + prediction(rows)

        return make


class SNDR(DR):
    """Doubly robust with a self-normalised correction."""

    above, below = "weight x error of the prediction", "weight, and the mean prediction beside it"
    unbiased, normalised = False, True
    best_for = "poor overlap with a fair reward model"
    source = SWAMINATHAN

    def earn(self, events: LoggedEvents) -> Earned:
        if events.target is None:
            return Earned.of(events.reward)
        weight = self.cut(events)
        predicted, errors = (by_parts(events.count, one) for one in (events.expected, self.corrected(events, weight)))
        return Earned.of(predicted) + Earned.of(errors, weight)


class SwitchDR(DR, aliases=("Switch", "switch_dr")):
    """Doubly robust for weights up to ``threshold``, and the model without correction above it."""

    unbiased = False
    best_for = "a few very large weights"
    source = "Wang, Agarwal and Dudik, Optimal and adaptive off-policy evaluation in contextual bandits, ICML 2017"

    threshold: Annotated[
        float | Literal["slope"],
        Param("the largest weight of a correction; 'slope' chooses it from the log", above=0.0),
    ] = 10.0

    def cut(self, events: LoggedEvents) -> Array:
        weight = events.weight
        return np.where(weight <= self.threshold, weight, 0.0)


class DRos(DR, aliases=("dr_os",)):
    """Doubly robust with optimistic shrinkage: weight w counts as shrink x w / (w^2 + shrink)."""

    unbiased = False
    best_for = "heavy-tailed weights"
    source = "Su, Dimakopoulou, Krishnamurthy and Dudik, Doubly robust off-policy evaluation with shrinkage, ICML 2020"

    shrink: Annotated[
        float | Literal["slope"],
        Param("0 gives the direct method, a very large number DR; 'slope' chooses it from the log", above=0.0),
    ] = 100.0

    def cut(self, events: LoggedEvents) -> Array:
        weight, by = events.weight, float(self.shrink)
        return np.asarray(by * weight / (weight**2 + by))


class _SubGaussian(Estimator):
    lam: Annotated[float, Param("from 0 (the weights as they are) to 1 (no weights)", low=0.0, high=1.0)] = 0.05

    def cut(self, events: LoggedEvents) -> Array:
        return np.asarray(events.weight / (1 - self.lam + self.lam * events.weight))


class SubGaussianIPS(_SubGaussian, aliases=("sg_ips",)):
    """IPS with weights w / (1 - lam + lam x w): no weight above 1 / lam, and smooth in w."""

    above, below = "transformed weight x reward", "rows"
    best_for = "heavy-tailed weights without a reward model"
    source = "Metelli, Russo and Restelli, Subgaussian and differentiable importance sampling for off-policy evaluation and learning, NeurIPS 2021"


class SubGaussianDR(_SubGaussian, DR, aliases=("sg_dr",)):
    """Doubly robust with the weights of ``SubGaussianIPS``."""

    unbiased = False
    source = SubGaussianIPS.source


class BetaIPS(Estimator, aliases=("beta_ips",)):
    """IPS with the constant baseline of least variance: the mean of weight x (reward - beta) + beta."""

    above, below = "weight x (reward - beta) + beta", "rows"
    assumes = OVERLAP
    best_for = "good overlap: never worse than IPS or SNIPS in large logs"
    source = "Gupta, Jeunen, Oosterhuis and de Rijke, Optimal baseline corrections for off-policy contextual bandits, RecSys 2024"

    def earn(self, events: LoggedEvents) -> Earned:
        pull = self.pull(events)
        beta = float((pull * events.reward).sum() / whole) if (whole := pull.sum()) else 0.0
        return Earned.of(events.weight * (events.reward - beta) + beta)

    def pull(self, events: LoggedEvents) -> Array:
        """Return how much each reward moves the best beta, w^2 - w: beta is the mean of pull x reward, divided by the mean pull."""
        return np.asarray(events.weight**2 - events.weight)


class DeltaIPS(BetaIPS, aliases=("delta_ips",)):
    """IPS with one baseline for all policies, for which their differences to the baseline policy vary least (Delta-OPE)."""

    best_for = "the difference of two policies"
    source = "Jeunen and Ustimenko, Delta-OPE: off-policy estimation with pairs of policies, RecSys 2024"

    def pull(self, events: LoggedEvents) -> Array:
        base, *others = (events.under(policy).weight for policy in events.compared or (None, events.target))
        return np.asarray(np.sum([(other - base) ** 2 for other in others], axis=0))


class MIPS(Estimator, aliases=("marginalised_ips",)):
    """IPS with one weight per category of items: for many items that earn alike within a category.

    The weight of a category is the mean weight of its logged rows at the position, so that it needs no model of the logging policy.
    """

    above, below = "weight of the category x reward", "rows"
    assumes = "an item earns only through its category"
    best_for = "thousands of items with informative categories"
    source = "Saito and Joachims, Off-policy evaluation for large action spaces via embeddings, ICML 2022"

    by: Annotated[str | None, Param("the column of the log with the category of the item", needed=True)] = None

    def used_weights(self, events: LoggedEvents) -> Array:
        if self.by is None or self.by not in events.categories:
            raise DataError(
                f"{self}: the log has no column {self.by}: name the column with the category of the shown item"
            )
        cell = (events.categories[self.by] * events.contexts + events.context) * events.places + events.position
        _, group = number_cells(cell, int(cell.max(initial=0)) + 1)
        return np.asarray((np.bincount(group, weights=events.weight) / np.bincount(group))[group])


class Replay(Estimator, aliases=("replay",)):
    """The mean reward of rows on which a deterministic target would have shown the same item. Needs uniform logging."""

    above, below = "reward of rows on which both policies agree", "rows on which both agree"
    normalised = True
    assumes = "the log was collected uniformly at random"
    best_for = "a deterministic policy on random traffic"
    source = "Li, Chu, Langford and Wang, Unbiased offline evaluation of contextual-bandit-based news article recommendation algorithms, WSDM 2011"

    def used_weights(self, events: LoggedEvents) -> Array:
        if events.target is None:
            return np.ones(events.count)
        chance = events.chance()
        if not np.isin(chance, (0.0, 1.0)).all():
            raise DataError(
                f"{self}: {events.target.name} shows items by chance, and replay needs a deterministic policy: use SNIPS"
            )
        return chance

    def earn(self, events: LoggedEvents) -> Earned:
        same = self.used_weights(events)
        return Earned.of(same * events.reward, same)


class BalancedIPS(Estimator, aliases=("balanced_ips",)):
    """IPS for logs of several policies, with the mean probability under all loggers as denominator, so that one poor logger does no harm."""

    above, below = "target / mixture of loggers x reward", "rows"
    unbiased = True
    assumes = "some logger gives each item of the target a probability above 0"
    best_for = "several loggers with known probabilities in every row"
    source = "Agarwal, Basu, Schnabel and Joachims, Effective evaluation using logged bandit feedback from multiple loggers, KDD 2017"

    def used_weights(self, events: LoggedEvents) -> Array:
        if events.target is None:
            return np.ones(events.count)
        if events.mixtures is None:
            raise DataError(
                f"{self}: the probability of each row under every logger is needed: columns p_item_pos_NAME, one per logger"
            )
        shares = np.bincount(events.logger, minlength=events.mixtures.shape[1]) / max(events.count, 1)
        return np.asarray(events.chance() / (events.mixtures @ shares))


class WeightedIPS(Estimator, aliases=("weighted_ips",)):
    """IPS per logger, averaged by inverse variance: loggers whose weights vary less count more."""

    above, below = "share of the logger x weight x reward", "rows of the logger"
    assumes = "every logger gives each item of the target a probability above 0"
    best_for = "several loggers of unequal quality"
    source = BalancedIPS.source

    def earn(self, events: LoggedEvents) -> Earned:
        value = events.weighted(events.weight)
        inside = [events.logger == number for number in np.unique(events.logger)]
        trust = np.array([own.sum() / max(float(value[own].var()), 1e-12) for own in inside])  # rows over variance
        whole = Earned(())
        for own, share in zip(inside, (trust / trust.sum()).tolist(), strict=True):
            whole += Earned.of(np.where(own, share * value, 0.0), own)
        return whole
