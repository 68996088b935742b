"""The verdict of a report: which run is ahead, by how much, how sure that is, and the queries that decide it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rankscope import words
from rankscope.blocks import Tone, Verdict
from rankscope.panels.contrast import Contrast
from rankscope.reporting.subject import Subject, SubjectOfComparison, SubjectOfScores
from rankscope.scoring.runs import Mean
from rankscope.scoring.scores import Scores
from rankscope.verbs.compare.charts import by_size, query_ids
from rankscope.verbs.compare.tables import FEW
from rankscope.verbs.diagnose.diagnose import diagnosis_of
from rankscope.verbs.diagnose.losses import LABELS, QueryDiagnosis
from rankscope.verbs.diagnose.result import Diagnosis

DOUBTFUL = {"RS101", "RS201", "RS204"}  # missing queries, ranks that contradict scores, much that is unjudged
MEANS_ONLY = "By the means alone; whether a difference is real is another question."
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
    """The answers of a report, the first of them on the main metric.

    With a comparison: what each rival comes to (for more than three: all of them together, the best, and the worst that is clearly
    worse), the best within a budget, the top group, and what is inconclusive; each with the queries on which the two differ most.
    With one run: what it scores, what it loses and why, and the queries that lose most.
    """
    if isinstance(subject, SubjectOfScores):
        return tuple(_alone(subject))
    assert isinstance(subject, SubjectOfComparison)
    first, *others = _compared(subject)
    return (first, *_budget(subject), *others, *_groups(subject), *_inconclusive(subject))


# --- several runs --------------------------------------------------------------------------------


def _compared(subject: SubjectOfComparison) -> Iterator[Verdict]:
    found, mine = subject.result, subject.mine
    if not subject.each_pair and len(mine) <= FEW:
        for c in subject.rivals:
            alike = [one for one in found.contrasts if (one.run, one.baseline) == (c.run, c.baseline)]
            yield _verdict(subject, c, tuple(one.beside() for one in alike if one is not c))
        return
    first, *others = found.sentences()
    cards = [] if subject.each_pair else _ends(subject)
    rest = [c for c in subject.rivals[:FEW] if c not in cards]  # what has a card of its own is linked there
    several = [(c, one) for c in rest for one in deciding(c, EACH, both=subject.each_pair)]
    queries, pairs = tuple(one for _, one in several), tuple((c.baseline, c.run) for c, _ in several)
    tones = {TONES.get(c.verdict, "plain") for c in mine}
    tone: Tone = "plain" if subject.each_pair or len(tones) > 1 else tones.pop()
    about = (
        f"{words.count(len(found.systems))} runs, each against each"
        if subject.each_pair
        else f"{words.count(len(mine))} runs against {found.baseline}"
    )
    yield Verdict(first, tone, about, queries, pairs=pairs)
    yield from (_verdict(subject, c) for c in cards)
    if others:
        yield Verdict(" ".join(others), "plain", "the other metrics")


def _verdict(subject: Subject, c: Contrast, more: tuple[str, ...] = ()) -> Verdict:
    """One contrast on the main metric, what the other metrics say of the same two runs, and what makes it doubtful."""
    tone, about = TONES.get(c.verdict, "plain"), f"{c.run} against {c.baseline}"
    queries, small = deciding(c, DECIDING), (*more, *doubts(subject, c))
    return Verdict(c.sentence(), tone, about, queries, small, ((c.baseline, c.run),) * len(queries))


def _ends(subject: SubjectOfComparison) -> list[Contrast]:
    """The contrast of the run with the best mean, the baseline aside, and of the worst one that is clearly worse."""
    by_run = {c.run: c for c in subject.mine}
    order = [by_run[run] for run in subject.merit() if run in by_run]
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
    metrics = [c.panel.metric] if c.panel.metric is not None else []
    found = scores.request.with_metrics(*metrics).cautions(health)
    for warned in sorted(found, key=lambda w: w.code, reverse=True):
        if warned.code in DOUBTFUL:
            run, colon, rest = warned.message.partition(": ")
            whose = rest.replace(" its ", f" {run}'s ", 1) if colon and run in health else warned.message
            yield f"Caution: {whose if whose != rest else warned.message}."


def _budget(subject: SubjectOfComparison) -> Iterator[Verdict]:
    """The best run within the limits on costs, or that there is none."""
    tradeoffs = subject.result.tradeoffs
    budget = None if tradeoffs is None else tradeoffs.budget
    if budget is not None:
        tone: Tone = "plain" if budget.best is not None else "unclear"
        small = () if budget.best is None else (MEANS_ONLY,)
        about = f"within the {'limit' if len(budget.limits) == 1 else 'limits'}"
        yield Verdict(budget.sentence, tone, about, (), small)


def deciding(c: Contrast, most: int, both: bool = False) -> tuple[tuple[str, str], ...]:
    """The queries on which two runs differ most, each with by how much; ties in the order of the queries.

    >>> import rankscope as rs
    >>> low, high = {"q1": 0.2, "q2": 0.5, "q3": 0.5}, {"q1": 0.9, "q2": 0.4, "q3": 0.5}
    >>> deciding(rs.compare({"low": low, "high": high}, metrics="AP")["high", "AP"], 3)
    (('q1', 'high +0.700'), ('q2', 'high −0.100'))
    """
    ids, gains = query_ids(c), c.paired.gains
    name = f"{c.run} against {c.baseline}" if both else c.run
    lower = {True: " (better)", False: " (worse)"} if c.panel.sign < 0 else {True: "", False: ""}
    return tuple((ids[i], f"{name} {words.signed(gains[i])}{lower[bool(gains[i] < 0)]}") for i in by_size(c)[:most])


def _groups(subject: SubjectOfComparison) -> Iterator[Verdict]:
    """Which runs are statistically tied for first on the main metric."""
    found = subject.result
    group = next((group for group in found.groups if group.metric == found.primary), None)
    if group is None:
        return
    best, *others = group.systems
    about = f"best on {group.metric}"
    if not others:
        yield Verdict(f"{best} is best on {group.metric}, clearly ahead of every other run.", "plain", about)
    elif len(group.systems) == group.of:
        text = f"All {words.count(group.of)} runs are statistically tied for first on {group.metric}; {best} has the best mean."
        yield Verdict(text, "unclear", about)
    else:
        text = f"{words.listing(group.systems)} are statistically tied for first on {group.metric}: {len(group.systems):,} of {group.of:,} runs."
        yield Verdict(text, "plain", about)


def _inconclusive(subject: SubjectOfComparison) -> Iterator[Verdict]:
    """What many runs leave open, and how many queries would close it; a few runs have that in their own sentences."""
    mine = subject.mine
    unclear = [c for c in mine if c.verdict == "cannot tell"]
    if len(mine) <= FEW or not unclear:
        return
    are = words.agree(len(unclear), "is")
    text = f"{words.count(len(unclear))} of {words.count(len(mine))} comparisons on {subject.result.primary} {are} inconclusive"
    needs = [(c.queries_needed or 0, c) for c in unclear] if not subject.result.method.every_look else []
    needs = [(needed, c) for needed, c in needs if needed > c.queries]
    if needs:
        needed, c = min(needs, key=lambda need: need[0])
        text += (
            f"; the closest is {c.run} against {c.baseline} ({words.signed(c.difference)}): detecting a difference of that size would take "
            f"about {words.rounded(needed)} queries, and there are {words.count(c.queries)}"
        )
    yield Verdict(f"{text}.", "unclear", "left open")


# --- one run -------------------------------------------------------------------------------------


def _alone(subject: SubjectOfScores) -> Iterator[Verdict]:
    """What each run scores on the main metric, and what it loses."""
    scores = subject.scores
    means = [mean for mean in scores.board if mean.metric == scores.metrics[0]]
    for mean in means[:FEW]:
        yield Verdict(_scored(mean, scores), "plain", mean.run)
    if len(means) > FEW:
        more = words.counted(len(means) - FEW, "more run is", "more runs are")
        yield Verdict(f"{more} on the scoreboard; they are not compared.", "plain", "more runs")
    if not scores.evaluations or scores.metrics[0].aggregate == "pooled":
        return  # without rankings there is no reason, and of all documents together no query has a part
    found = diagnosis_of(scores, subject.qrels, subject.runs, DECIDING)
    queries = tuple((one.query_id, _failing(one, found)) for one in found.hardest)
    yield Verdict(" ".join(found.sentences()), "plain", "what is lost, and why", queries)


def _scored(mean: Mean, scores: Scores) -> str:
    if math.isnan(mean.value):
        return f"{mean.run} has no value of {mean.metric} on any query."
    total = mean.metric.aggregate == "sum"
    said = f"{mean.run} scores {words.amount(mean.value) if total else words.number(mean.value)} on {mean.metric}"
    queries = f"over {words.counted(mean.queries, 'query')}"
    if mean.undefined:
        queries += f", {words.count(mean.undefined)} more without a value"
    if not mean.bounds.known:
        return f"{said} ({queries})."
    ends = words.interval(mean.bounds.lower, mean.bounds.upper)
    return f"{said} ({words.percent(scores.request.intervals.level)} interval {ends}, {queries})."


def _failing(one: QueryDiagnosis, found: Diagnosis) -> str:
    """What to say of a query that fails: its value, what it loses, and how."""
    run = f"{one.run} " if len(found.runs) > 1 else ""
    lost = "" if found.reason or math.isnan(one.loss) else f", loses {words.number(one.loss)}"
    return f"{run}{words.number(one.value)}{lost}: {LABELS[one.kind]}"
