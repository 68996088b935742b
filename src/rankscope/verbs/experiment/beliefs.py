"""The Bayesian summary of an experiment, where it was asked for: columns, and a sentence that says what it rests on."""

from __future__ import annotations

from rankscope import words
from rankscope.inference.effects import LiftPosterior, Prior, posterior_of_lift
from rankscope.panels.contrast import Contrast
from rankscope.panels.contrast_result import lift_interval_in_words
from rankscope.show.result import Col

CAUTION = (
    "Such a probability depends on the prior, and who stops as soon as it is high chooses wrongly more often than it says. "
    "The verdict does not use it."
)


def believe(c: Contrast, prior: Prior) -> LiftPosterior:
    """What to believe of the lift of a contrast."""
    return posterior_of_lift(c.pair.run_sample, c.pair.baseline_sample, prior, c.method.level, c.panel.better)


def columns_of(prior: Prior) -> tuple[Col, ...]:
    """The columns of what is believed: chance, loss and credible interval."""

    def each(c: Contrast) -> LiftPosterior:
        return believe(c, prior)

    def ends(c: Contrast) -> tuple[float, float]:
        found = each(c).credible
        return found.lower, found.upper

    return (
        Col("chance_better", of=lambda c: each(c).chance_better, head="chance better", kind="value",
            cell=lambda c: words.share(each(c).chance_better, 1)),
        Col("expected_loss", of=lambda c: each(c).expected_loss, head="expected loss", kind="value",
            cell=lambda c: words.share(each(c).expected_loss, 2)),
        Col("credible_lower", "credible_upper", of=ends, head="credible interval of lift", kind="value",
            cell=lambda c: words.in_table(lift_interval_in_words(each(c).credible))),
    )  # fmt: skip


def sentence(c: Contrast, prior: Prior) -> str:
    """What is believed of a contrast, given which prior."""
    found = believe(c, prior)
    if not found.credible.known:
        return f"No probability that {c.run} is better on {c.metric}: {found.credible.reason}."
    given = "a flat prior" if str(prior) == "flat" else f"a prior of lifts around 0 ({prior})"
    how = "better" if c.panel.sign else "higher"
    loss = f"choosing it loses {words.share(found.expected_loss, 2)} of {c.metric} on average; " if c.panel.sign else ""
    return (
        f"Given {given}, {c.run} is {how} than {c.baseline} on {c.metric} with a probability of {words.share(found.chance_better, 1)}; "
        f"{loss}the lift is {lift_interval_in_words(found.credible)} with a probability of {words.percent(c.method.level)}."
    )
