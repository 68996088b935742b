"""Warnings about estimates for other policies (RS68x): the support of one policy's log for another policy."""

from __future__ import annotations

from rankscope.diagnostics.rule import Rule

ESTIMATE = "rankscope estimate"

# fmt: off
FewEffectiveClicks = Rule("RS681", "FewEffectiveClicks", "The estimate rests on few clicks once these are weighted", of="log", other_verb=ESTIMATE,
    why="Large weights make some clicks count a hundred times. Below 50 effective clicks intervals are too narrow, and "
        "below 10 the estimate is refused.",
    remedy="collect more traffic, or evaluate a policy closer to the one that ran",
    text="{policy}, {estimator}: the clicks count as {clicks:1} equally weighted clicks, fewer than 50[; about {needed:{noun}} would be enough, "
        "and the log has {units}]")

OneEventDominates = Rule("RS682", "OneEventDominates", "One event makes up more than half of the estimate, or of all weight", of="log", other_verb=ESTIMATE,
    why="The estimate would shrink by more than half without this event: it depends on one click. If one "
        "event has most of the weight, its reward is the estimate.",
    remedy="clip weights (IPS(clip=50)), collect more traffic, or evaluate a policy closer to the one that ran",
    text="{policy}, {estimator}: one event with weight {weight:amount} is {share:%} of the estimate")
OneWeightDominates = OneEventDominates.variant(text="{policy}, {estimator}: one event has {share:%} of all weight ({weight:amount})")

MeanWeightOff = Rule("RS683", "MeanWeightOff", "The mean weight is more than 3 standard errors from 1", of="log", other_verb=ESTIMATE,
    why="With right propensities and full support weights are 1 on average. A lower mean is the share of the target's traffic that the logging "
        "policy can serve: the rest was never tried. A higher mean means wrong propensities.",
    remedy="check the logged probabilities; if they are right, the logging policy never shows some items of the target: let it explore them",
    text="{policy}, {estimator}: the mean weight is {mean:2} (standard error {error:3}), not 1: about {share:%} of the target's traffic has no support in the log")
MeanWeightHigh = MeanWeightOff.variant(
    remedy="check the logged probabilities: they are too small",
    text="{policy}, {estimator}: the mean weight is {mean:2} (standard error {error:3}), not 1")

NoSupport = Rule("RS684", "NoSupport", "The target shows items that the log never shows", of="log", other_verb=ESTIMATE,
    why="Nothing is known of the reward of an item that was never shown. IPS counts it as 0, a reward model guesses.",
    remedy="show these items to some users, or leave them out of the target",
    text="{policy}: {share:%1} of its traffic goes to items that no row of the log shows")

PropensitiesOff = Rule("RS685", "PropensitiesOff", "Logged propensities do not match logged frequencies", of="log", other_verb=ESTIMATE,
    why="An item that is shown more often than its propensity allows has a propensity that is too small. Its weights, and the estimate, are then too large. "
        "Above 1% of the traffic estimates are refused.",
    remedy="log the probability with which the item was shown at this position, at the time when it was shown",
    text="{log}: items with {share:%} of the traffic were shown more often than their propensities allow, most of all {item} ({ratio:1} times)")

EstimatedPropensities = Rule("RS686", "EstimatedPropensities", "Propensities were estimated from the log", of="log", other_verb=ESTIMATE, severity="information",
    why="Estimated propensities are right only if the logging policy used nothing but the columns they are estimated from. Their own error is not in the intervals.",
    remedy="log the probability of each shown item",
    text="{log}: propensities are estimated from {source}")
