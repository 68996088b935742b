"""Which runs a chart shows, where there are too many for one."""

from __future__ import annotations

import math

from rankscope.verbs.reporting.subject import Subject

MOST = 8  # lines that a chart has colours for


def ranked_runs(subject: Subject) -> tuple[str, ...]:
    """The runs behind the systems, the baseline first; all runs as they were given where several are one system."""
    assert subject.scores is not None
    names = tuple(scored.name for scored in subject.scores.runs)
    return subject.systems if set(subject.systems) == set(names) else names


def few_runs(subject: Subject, most: int = MOST) -> tuple[tuple[str, ...], str]:
    """At most so many runs, the baseline and the best by the leading metric, in their order; and what to say of the others."""
    names = ranked_runs(subject)
    if len(names) <= most:
        return names, ""
    assert subject.scores is not None
    lead = subject.lead.metric or subject.scores.metrics[0]
    means = {mean.run: mean.value for mean in subject.scores.board if mean.metric == lead}
    sign = -1.0 if lead.better == "lower" else 1.0

    def worth(name: str) -> float:
        return -math.inf if math.isnan(means[name]) else sign * means[name]

    best = sorted(names[1:], key=lambda name: -worth(name))[: most - 1]
    kept = tuple(name for name in names if name == names[0] or name in best)
    left = len(names) - len(kept)
    return (
        kept,
        f"Shown are {names[0]} and the {most - 1} best of the others by {lead}; {left} {'run is' if left == 1 else 'runs are'} left out.",
    )
