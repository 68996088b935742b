"""What may explain that judgments and users point in opposite directions: what these data show, and what is usual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankscope import words
from rankscope.blocks import Note
from rankscope.panels.contrast import Contrast
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.experiment.result import Experiment

UNJUDGED = "RS204"  # the warning that much of a top is not judged
NAMED = 4  # slices that are named
USUAL = (
    Note("Position bias: users click the first and the attractive items, even if they are not useful",
        "look at clicks by position (rankscope online LOG --by position), and at satisfied clicks, after which users stayed"),
    Note("Other queries: the judged queries are not those that users ask",
        "weigh queries by how often they are asked (--weights), or judge a sample of the log's"),
    Note("Another goal: the metric counts ranks that users do not see, or ignores their wishes (price, freshness, variety)",
        "look at other cutoffs and metrics (rankscope advise QRELS RUN RUN)"),
    Note("More than the ranking changed: latency, layout, content next to it",
        "compare the lists of the variants with the judged runs"),
)  # fmt: skip


def findings(
    offline: Contrast, online: Contrast, others: Sequence[Contrast], online_others: Sequence[Contrast]
) -> Iterator[Note]:
    """Metrics of one side that clearly go the way of the other."""
    if with_users := [c.metric for c in others if c.verdict == online.verdict]:
        yield Note(
            f"{words.listing(with_users)} {words.agree(len(with_users), 'goes')} the way of {online.metric}",
            f"{offline.metric} may reward ranks that users do not see: look which metric foresaw earlier experiments before choosing the main one",
        )
    if with_judges := [c.metric for c in online_others if c.verdict == offline.verdict]:
        yield Note(
            f"Online, {words.listing(with_judges)} {words.agree(len(with_judges), 'goes')} the way of {offline.metric}",
            f"decide which of {words.listing([online.metric, *with_judges])} measures the goal. Clicks may fall if users find "
            "their answer sooner",
        )


def findings_in_slices(
    offline: Contrast, online: Contrast, comparison: Comparison, experiment: Experiment
) -> Iterator[Note]:
    """Slices of one side that clearly go the way of the other."""
    parts = comparison.slices.contrasts if comparison.slices else ()
    queries = [
        part.label
        for part in parts
        if part.contrast.metric == offline.metric
        and {part.contrast.run, part.contrast.baseline} == {offline.run, offline.baseline}
        and part.contrast.verdict == (online.verdict if part.contrast.run == offline.run else offline.verdict)
    ]
    users = [
        f"{part.attribute} {part.name}"
        for part in experiment.slices
        if part.contrast.run == online.run and part.contrast.verdict == offline.verdict
    ]
    for names, metric, to in ((queries, offline.metric, online.metric), (users, online.metric, offline.metric)):
        if names:
            yield Note(
                f"Within {words.listing(names, NAMED)}, {metric} goes the way of {to}",
                "the mean hides two kinds of queries or users: look at these apart, and weigh them as they come in traffic",
            )


def usual_causes(comparison: Comparison) -> Iterator[Note]:
    """What mostly explains it, each with what to look at."""
    unjudged = [caution for caution in comparison.warnings if caution.code == UNJUDGED]
    if unjudged:
        yield from (Note(caution.message, caution.hint, caution.code) for caution in unjudged)
    else:
        yield Note(
            "Unjudged results: documents new in a ranking were never judged, and count as not relevant",
            "rankscope unjudged QRELS RUN RUN shows their possible effect",
        )
    yield from USUAL
