"""The verdict of a report: who is ahead, by how much, how sure that is, and the queries that decide it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from rankscope.blocks import Tone, Verdict
from rankscope.panels.contrast import Contrast
from rankscope.panels.verdicts import SPELLED, also, counted, ends, number, percent, rounded, sentence, signed
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import FEW, each_pair, query_ids, rivals_of, some
from rankscope.scoring.runs import Mean
from rankscope.scoring.scores import Scores
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.diagnose.diagnose import diagnosis_of
from rankscope.verbs.diagnose.failures import LABELS
from rankscope.verbs.diagnose.losses import QueryDiagnosis
from rankscope.verbs.diagnose.result import Diagnosis

DOUBTFUL = {"RS101", "RS201", "RS204"}  # missing queries, ranks that contradict scores, much that is unjudged
MEANS_ONLY = "By the means alone: whether a difference is real is another question."
DECIDING = 3  # queries that are named for one rival
EACH = 2  # and for each of several
TONES: dict[str, Tone] = {
    "better": "better",
    "worse": "worse",
    "cannot tell": "unclear",
    "same": "same",
    "equivalent": "same",
}


def verdicts(subject: Subject) -> tuple[Verdict, ...]:
    """The answers of a report, the first of them on the metric that leads.

    With a comparison: what each rival comes to (for more than three: all of them together, the best, and the worst that is told
    apart), the best within a budget, the top group, and what cannot be told; each with the queries on which the two differ most.
    With one run: what it scores, what it loses and why, and the queries that lose most.
    """
    found = subject.comparison
    if found is None:
        assert subject.scores is not None
        return tuple(_alone(subject, subject.scores))
    first, *others = _compared(subject, found)
    return (first, *_budget(found), *others, *_groups(found), *_untold(found))


# --- several runs --------------------------------------------------------------------------------


def _compared(subject: Subject, found: Comparison) -> Iterator[Verdict]:
    mine = found.of(found.primary)
    if not each_pair(found) and len(mine) <= SPELLED:
        for c in sorted(mine, key=lambda c: -(c.measured.sign or 1) * c.difference):
            alike = [one for one in found.contrasts if (one.run, one.baseline) == (c.run, c.baseline)]
            yield _verdict(subject, c, tuple(also(one) for one in alike if one is not c))
        return
    first, *others = found.sentences()
    cards = [] if each_pair(found) else _ends(found, mine)
    rest = [c for c in rivals_of(subject)[:FEW] if c not in cards]  # what has a card of its own is linked there
    several = [(c, one) for c in rest for one in deciding(c, EACH, both=each_pair(found))]
    queries, pairs = tuple(one for _, one in several), tuple((c.baseline, c.run) for c, _ in several)
    if each_pair(found):
        yield Verdict(first, "plain", f"{len(found.systems):,} runs, each against each", queries, pairs=pairs)
    else:
        yield Verdict(first, _common(mine), f"{len(mine):,} runs against {found.baseline}", queries, pairs=pairs)
        yield from (_verdict(subject, c) for c in cards)
    if others:
        yield Verdict(" ".join(others), "plain", "the other metrics")


def _verdict(subject: Subject, c: Contrast, more: tuple[str, ...] = ()) -> Verdict:
    """One contrast on the metric that leads, what the other metrics say of the same two runs, and what makes it doubtful."""
    tone, about = TONES.get(c.verdict, "plain"), f"{c.run} against {c.baseline}"
    queries, small = deciding(c, DECIDING), (*more, *doubts(subject, c))
    return Verdict(sentence(c), tone, about, queries, small, ((c.baseline, c.run),) * len(queries))


def _ends(found: Comparison, mine: Sequence[Contrast]) -> list[Contrast]:
    """The contrast of the run with the best mean, the baseline aside, and of the worst one that is told apart as worse."""
    by_run = {c.run: c for c in mine}
    order = [by_run[run] for run in found.fields[0].by_merit if run in by_run]
    worse = [c for c in order[1:] if c.verdict == "worse"]
    return [order[0], *worse[-1:]]


def doubts(subject: Subject, c: Contrast) -> Iterator[str]:
    """What the data of two runs give to doubt about their verdict: judgments that are missing, queries, ranks that disagree.

    It is what ``evaluate`` would warn of, had it been given these two runs alone.
    """
    scores = subject.scores
    if scores is None:
        return
    health = {run.name: run.health for run in scores.runs if run.name in {c.run, c.baseline}}
    metrics = [c.measured.metric] if c.measured.metric is not None else []
    found = scores.request.with_metrics(*metrics).cautions(health)
    for warned in sorted(found, key=lambda w: w.code, reverse=True):
        if warned.code in DOUBTFUL:
            run, colon, rest = warned.message.partition(": ")
            yield f"Doubt about {run}: {rest}." if colon and run in health else f"Doubt: {warned.message}."


def _budget(found: Comparison) -> Iterator[Verdict]:
    """The best run within the limits on costs, or that there is none."""
    budget = None if found.tradeoffs is None else found.tradeoffs.budget
    if budget is None:
        return
    tone: Tone = "plain" if budget.best is not None else "unclear"
    small = () if budget.best is None else (MEANS_ONLY,)
    yield Verdict(budget.sentence, tone, f"within the {'limit' if len(budget.limits) == 1 else 'limits'}", (), small)


def _common(contrasts: Sequence[Contrast]) -> Tone:
    """The tone that all have, else none."""
    tones = {TONES.get(c.verdict, "plain") for c in contrasts}
    return tones.pop() if len(tones) == 1 else "plain"


def deciding(c: Contrast, most: int, both: bool = False) -> tuple[tuple[str, str], ...]:
    """The queries on which two runs differ most, each with by how much; ties in the order of the queries.

    >>> import rankscope as rs
    >>> low, high = {"q1": 0.2, "q2": 0.5, "q3": 0.5}, {"q1": 0.9, "q2": 0.4, "q3": 0.5}
    >>> deciding(rs.compare({"low": low, "high": high}, metrics="AP")["high", "AP"], 3)
    (('q1', 'high +0.700'), ('q2', 'high -0.100'))
    """
    gains = c.paired.gains
    ids = query_ids(c.measured, c.paired.inside)
    order = np.argsort(-np.abs(gains), kind="stable")[:most].tolist()
    name = f"{c.run} against {c.baseline}" if both else c.run
    return tuple((ids[i], f"{name} {signed(gains[i])}{_turned(c, gains[i])}") for i in order if gains[i])


def _turned(c: Contrast, gain: float) -> str:
    """Whether that is good, where less is better."""
    if c.measured.sign >= 0:
        return ""
    return " (better)" if gain < 0 else " (worse)"


def _groups(found: Comparison) -> Iterator[Verdict]:
    """Who cannot be told apart from the best, on the metric that leads."""
    group = next((group for group in found.groups if group.metric == found.primary), None)
    if group is None:
        return
    best, *others = group.systems
    about = f"best on {group.metric}"
    if not others:
        yield Verdict(f"{best} is best on {group.metric}, told apart from all others.", "plain", about)
    elif len(group.systems) == group.of:
        text = f"None of the {group.of:,} runs can be told apart from the best on {group.metric}, {best}."
        yield Verdict(text, "unclear", about)
    else:
        text = f"{best} is best on {group.metric}; {some(others)} cannot be told apart from it"
        yield Verdict(f"{text}: the top group holds {len(group.systems):,} of {group.of:,} runs.", "plain", about)


def _untold(found: Comparison) -> Iterator[Verdict]:
    """What many runs leave open, and how many queries would close it; a few runs have that in their own sentences."""
    mine = found.of(found.primary)
    unclear = [c for c in mine if c.verdict == "cannot tell"]
    if len(mine) <= SPELLED or not unclear:
        return
    text = f"{len(unclear):,} of {len(mine):,} comparisons on {found.primary} cannot be told"
    needs = [(c.queries_needed or 0, c) for c in unclear] if not found.method.every_look else []
    needs = [(needed, c) for needed, c in needs if needed > c.queries]
    if needs:
        needed, c = min(needs, key=lambda need: need[0])
        text += (
            f"; nearest to it is {c.run} against {c.baseline} ({signed(c.difference)}): some {rounded(needed)} queries would show a "
            f"difference of that size, and there are {c.queries:,}"
        )
    yield Verdict(f"{text}.", "unclear", "left open")


# --- one run -------------------------------------------------------------------------------------


def _alone(subject: Subject, scores: Scores) -> Iterator[Verdict]:
    """What each run scores on the metric that leads, and what it loses."""
    means = [mean for mean in scores.board if mean.metric == scores.metrics[0]]
    for mean in means[:FEW]:
        yield Verdict(_scored(mean, scores), "plain", mean.run)
    if len(means) > FEW:
        yield Verdict(
            f"{len(means) - FEW:,} more runs are on the scoreboard; nobody compared them.", "plain", "more runs"
        )
    if not scores.evaluations or scores.metrics[0].aggregate == "pooled":
        return  # without rankings there is no reason, and of all documents together no query has a part
    found = diagnosis_of(scores, subject.qrels, subject.runs, DECIDING)
    queries = tuple((one.query_id, _failing(one, found)) for one in found.hardest)
    yield Verdict(" ".join(found.sentences()), "plain", "what is lost, and why", queries)


def _scored(mean: Mean, scores: Scores) -> str:
    if math.isnan(mean.value):
        return f"{mean.run} has no value of {mean.metric} on any query."
    total = mean.metric.aggregate == "sum"
    said = f"{mean.run} scores {f'{mean.value:,.6g}' if total else number(mean.value)} on {mean.metric}"
    queries = f"over {counted(mean.queries)}"
    if mean.undefined:
        queries += f", {mean.undefined:,} more without a value"
    if not mean.bounds.known:
        return f"{said} ({queries})."
    return f"{said} ({percent(scores.request.intervals.level)} interval {ends(mean.bounds)}, {queries})."


def _failing(one: QueryDiagnosis, found: Diagnosis) -> str:
    """What to say of a query that fails: its value, what it loses, and how."""
    run = f"{one.run} " if len(found.runs) > 1 else ""
    lost = "" if found.reason or math.isnan(one.loss) else f", loses {number(one.loss)}"
    return f"{run}{number(one.value)}{lost}: {LABELS[one.kind]}"
