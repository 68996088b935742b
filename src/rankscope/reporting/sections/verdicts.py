"""The verdict of a report: which run is ahead, by how much, how sure that is, and the queries that decide it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rankscope import words
from rankscope.blocks import Tone, Verdict
from rankscope.panels.contrast import Contrast
from rankscope.reporting.subject import Subject
from rankscope.scoring.runs import Mean
from rankscope.scoring.scores import Scores
from rankscope.verbs.compare.charts import by_size, query_ids
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.compare.tables import FEW
from rankscope.verbs.diagnose.diagnose import diagnosis_of
from rankscope.verbs.diagnose.losses import LABELS

DOUBTFUL = {"RS101", "RS201", "RS204"}  # missing queries, ranks that contradict scores, much that is unjudged
MEANS_ONLY = "By the means only; the verdict tests whether a difference is real."
DECIDING = 3  # queries that are named for one rival
EACH = 2  # and for each of several
TONES: dict[str, Tone] = {
    "better": "better", "worse": "worse", "cannot tell": "unclear", "same": "same", "equivalent": "same",
}  # fmt: skip


def verdicts(subject: Subject[Any]) -> tuple[Verdict, ...]:
    """Return the answers of a report, the first on the main metric.

    With a comparison: the best within the limits on costs, the verdict on each rival (for more than three: all of them together, the
    best, and the worst that is clearly worse), the top group, and what is inconclusive; each with the queries on which the two differ most.
    With one run: its score, its losses and their causes, and the queries with the largest losses.
    """
    if subject.comparison is None:
        return tuple(_of_scores(subject))
    first, *others = _of_contrasts(subject, subject.comparison)
    return (*_within_limits(subject.comparison), first, *_beside(subject.comparison, others))


# --- several runs --------------------------------------------------------------------------------


def _of_contrasts(subject: Subject[Any], found: Comparison) -> Iterator[Verdict]:
    mine, each_pair = found.of(found.primary), found.family.each_pair
    if not each_pair and len(mine) <= FEW:
        for c in subject.rivals:
            alike = [one for one in found.contrasts if (one.run, one.baseline) == (c.run, c.baseline)]
            yield _of_contrast(subject, c, [one.short_sentence() for one in alike if one is not c])
        return
    limited = found.tradeoffs is not None and found.tradeoffs.budget is not None
    first, *others = list(found.sentences())[limited:]  # the best within limits is shown already
    cards = [] if each_pair else _best_and_worst(subject, mine)
    rest = [c for c in subject.rivals[:FEW] if c not in cards]  # rivals without a card of their own
    several = [(c, one) for c in rest for one in deciding(c, EACH, both=each_pair)]
    queries, pairs = tuple(one for _, one in several), tuple((c.baseline, c.run) for c, _ in several)
    tones = {TONES.get(c.verdict, "plain") for c in mine}
    tone: Tone = "plain" if each_pair or len(tones) > 1 else tones.pop()
    against = f"{words.count(len(mine))} runs against {found.baseline}"
    about = f"{words.count(len(found.systems))} runs, each against each" if each_pair else against
    yield Verdict(first, tone, about, queries, pairs=pairs)
    yield from (_of_contrast(subject, c) for c in cards)
    if others:
        yield Verdict(" ".join(others), "plain", "the other metrics")


def _of_contrast(subject: Subject[Any], c: Contrast, more: Sequence[str] = ()) -> Verdict:
    """Return one contrast on the main metric, the other metrics of the same two runs, and its caveats."""
    queries, small = deciding(c, DECIDING), (*more, *doubts(subject, c))
    tone, about = TONES.get(c.verdict, "plain"), c.sides
    return Verdict(c.sentence(), tone, about, queries, small, ((c.baseline, c.run),) * len(queries))


def _best_and_worst(subject: Subject[Any], mine: Sequence[Contrast]) -> list[Contrast]:
    """The contrast of the run with the best mean, the baseline aside, and of the worst one that is clearly worse."""
    by_run = {c.run: c for c in mine}
    order = [by_run[run] for run in subject.merit() if run in by_run]
    return [order[0], *[c for c in order[1:] if c.verdict == "worse"][-1:]]


def doubts(subject: Subject[Any], c: Contrast) -> Iterator[str]:
    """Yield the caveats in the data of two runs: missing judgments, missing queries, contradicting ranks.

    These are the warnings of ``evaluate`` for the two runs.
    """
    scores = subject.scores
    if scores is None:
        return
    health = {run.name: run.health for run in scores.runs if run.name in {c.run, c.baseline}}
    metrics = [c.panel.metric] if c.panel.metric is not None else []
    cautions = scores.request.with_metrics(*metrics).cautions(health)
    for caution in sorted(cautions, key=lambda w: w.code, reverse=True):
        if caution.code in DOUBTFUL:
            run, colon, rest = caution.message.partition(": ")
            whose = rest.replace(" its ", f" {run}'s ", 1) if colon and run in health else caution.message
            yield f"Caution: {whose if whose != rest else caution.message}."


def deciding(c: Contrast, most: int, both: bool = False) -> tuple[tuple[str, str], ...]:
    """The queries on which two runs differ most, each with by how much; ties in the order of the queries.

    >>> import rankscope as rs
    >>> low, high = {"q1": 0.2, "q2": 0.5, "q3": 0.5}, {"q1": 0.9, "q2": 0.4, "q3": 0.5}
    >>> deciding(rs.compare({"low": low, "high": high}, metrics="AP")["high", "AP"], 3)
    (('q1', 'high +0.700'), ('q2', 'high −0.100'))
    """
    ids, gains = query_ids(c), c.paired.gains
    name = c.sides if both else c.run
    lower = {True: " (better)", False: " (worse)"} if c.panel.sign < 0 else {True: "", False: ""}
    return tuple(
        (ids[i], f"{name} {words.number(gains[i], sign=True)}{lower[bool(gains[i] < 0)]}") for i in by_size(c)[:most]
    )


def _within_limits(found: Comparison) -> Iterator[Verdict]:
    """Return the best run within the limits on costs, if there are limits."""
    tone: Tone
    budget = None if found.tradeoffs is None else found.tradeoffs.budget
    if budget is not None:
        about = f"within the {'limit' if len(budget.limits) == 1 else 'limits'}"
        tone = "unclear" if budget.best is None else "plain"
        yield Verdict(budget.sentence, tone, about, (), () if budget.best is None else (MEANS_ONLY,))


def _beside(found: Comparison, others: Sequence[Verdict]) -> Iterator[Verdict]:
    """Yield further verdicts: the others, ties for first, open questions."""
    tone: Tone
    yield from others
    for group in found.groups:
        if group.metric == found.primary:
            tone = "unclear" if 1 < len(group.systems) == group.of else "plain"
            yield Verdict(f"{group.sentence()}.", tone, f"best on {group.metric}")
    mine = found.of(found.primary)
    if len(mine) > FEW and any(c.verdict == "cannot tell" for c in mine):
        yield Verdict(_left_open(found, mine), "unclear", "left open")


def _left_open(found: Comparison, mine: Sequence[Contrast]) -> str:
    """Return the number of inconclusive comparisons, and the queries that would settle the closest."""
    unclear = [c for c in mine if c.verdict == "cannot tell"]
    are = words.agree(len(unclear), "is")
    text = f"{words.count(len(unclear))} of {words.count(len(mine))} comparisons on {found.primary} {are} inconclusive"
    needs = [(c.queries_needed or 0, c) for c in unclear if not found.method.every_look]
    needs = [(needed, c) for needed, c in needs if needed > c.queries]
    if not needs:
        return f"{text}."
    needed, c = min(needs, key=lambda need: need[0])
    return (
        f"{text}; the closest is {c.sides} ({words.number(c.difference, sign=True)}): detecting a difference of that size would take "
        f"about {words.rounded(needed)} queries, and there are {words.count(c.queries)}."
    )


# --- one run -------------------------------------------------------------------------------------


def _of_scores(subject: Subject[Any]) -> Iterator[Verdict]:
    """Yield the score of each run on the main metric, and its losses."""
    scores = subject.scores
    assert scores is not None
    means = [mean for mean in scores.board if mean.metric == scores.metrics[0]]
    for mean in means[:FEW]:
        yield Verdict(_of_mean(mean, scores), "plain", mean.run)
    if len(means) > FEW:
        more = words.counted(len(means) - FEW, "more run is", "more runs are")
        yield Verdict(f"{more} on the scoreboard; they are not compared.", "plain", "more runs")
    if not scores.evaluations or scores.metrics[0].aggregate == "pooled":
        return  # without rankings there is no reason, and of all documents together no query has a part
    found = diagnosis_of(scores, subject.qrels, subject.runs, DECIDING)
    queries = []
    for one in found.hardest:
        run = f"{one.run} " if len(found.runs) > 1 else ""
        lost = "" if found.reason or math.isnan(one.loss) else f", loses {words.number(one.loss)}"
        queries.append((one.query_id, f"{run}{words.number(one.value)}{lost}: {LABELS[one.kind]}"))
    yield Verdict(" ".join(found.sentences()), "plain", "what is lost, and why", tuple(queries))


def _of_mean(mean: Mean, scores: Scores) -> str:
    if math.isnan(mean.value):
        return f"{mean.run} has no value of {mean.metric} on any query."
    value = words.amount(mean.value) if mean.metric.aggregate == "sum" else words.number(mean.value)
    queries = f"over {words.counted(mean.queries, 'query')}"
    if mean.undefined:
        queries += f", {words.count(mean.undefined)} more without a value"
    if mean.bounds.known:
        ends = words.interval(mean.bounds.lower, mean.bounds.upper)
        queries = f"{words.percent(scores.request.intervals.level)} interval {ends}, {queries}"
    return f"{mean.run} scores {value} on {mean.metric} ({queries})."
