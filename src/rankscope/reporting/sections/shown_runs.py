"""Which runs a chart shows, where there are too many for one."""

from __future__ import annotations

import math

from rankscope.metrics import Metric
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import merit

MOST = 8  # lines that a chart has colours for


def first_run(subject: Subject) -> str:
    """The run that others are compared with: the baseline, or the first one given where several are one system."""
    assert subject.scores is not None
    names = [scored.name for scored in subject.scores.runs]
    return subject.systems[0] if set(subject.systems) == set(names) else names[0]


def ranked_runs(subject: Subject) -> tuple[str, ...]:
    """The runs behind the systems, the best on the leading metric first, as on the scoreboard; also where several are one system."""
    assert subject.scores is not None
    names = tuple(scored.name for scored in subject.scores.runs)
    if set(subject.systems) == set(names):
        return tuple(merit(subject))
    lead = subject.lead.metric or subject.scores.metrics[0]
    sign = {"higher": 1.0, "lower": -1.0, "neither": 0.0}[lead.better]
    value = {mean.run: sign * mean.value for mean in subject.scores.board if mean.metric == lead}
    return tuple(sorted(names, key=lambda name: math.inf if math.isnan(value[name]) else -value[name]))


def leading_metric(subject: Subject) -> Metric:
    """The metric in whose order rankings are laid side by side: the leading one, or the first that was evaluated."""
    assert subject.scores is not None
    return subject.scores.metrics[0] if subject.metric is None else subject.metric


def few_runs(subject: Subject, most: int = MOST) -> tuple[tuple[str, ...], str]:
    """At most so many runs, the baseline and the best by the leading metric, the best first; and what to say of the others."""
    names = ranked_runs(subject)
    if len(names) <= most:
        return names, ""
    baseline, lead = first_run(subject), subject.lead.name
    kept = {baseline, *[name for name in names if name != baseline][: most - 1]}
    left = len(names) - len(kept)
    return (
        tuple(name for name in names if name in kept),
        f"Shown are {baseline} and the {most - 1} best of the others by {lead}; {left} {'run is' if left == 1 else 'runs are'} left out.",
    )
