"""The answer of a report: the first screen (a sentence, the scoreboard, one caveat), and the verdicts with their queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from rankscope import words
from rankscope.blocks import Answer, Column, Section, Table, Tone, Value, ValueRange, Verdict
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.contrast_result import value_cell
from rankscope.panels.families import TopGroup
from rankscope.panels.panel import Panel
from rankscope.reporting.sections.scoreboard import mean_of
from rankscope.reporting.subject import MANY, Subject, column_of
from rankscope.scoring.runs import Mean
from rankscope.scoring.scores import Scores, best_rows
from rankscope.show.html.tables import TONES as SIGNS
from rankscope.verbs.compare.charts import by_size, query_ids
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.compare.tables import FEW, value_range
from rankscope.verbs.diagnose.diagnose import diagnosis_of
from rankscope.verbs.diagnose.losses import LABELS

ROWS = 6  # runs of the board: it is read at a glance
NAMED = 2  # runs that are named as tied
LEVEL = 0.95


def answer(subject: Subject[Any], sections: Sequence[Section]) -> Answer | None:
    """Return the first screen of a page of these sections, with their first caveat; None without a value."""
    if not subject.lead.means:
        return None
    text, tone, c = _sentence(subject)
    caution, at = _caution(subject, sections, c)
    queries = () if c is None else deciding(c, EACH if len(subject.systems) < MANY else 1)
    pairs = () if c is None else ((c.baseline, c.run),) * len(queries)
    return Answer(text, tone, _board(subject), caution, at, queries, pairs, step=_next(c))


# --- sentences
def _sentence(subject: Subject[Any]) -> tuple[str, Tone, Contrast | None]:
    """Return the answer, its tone, and its contrast, if any."""
    if subject.comparison is None or not subject.rivals:
        return _of_scores(subject), "plain", None
    if len(subject.systems) < MANY and not subject.comparison.family.each_pair:
        c = subject.rivals[0]
        return _of_pair(subject, c), TONES.get(c.verdict, "plain"), c
    return _of_many(subject)


def _of_pair(subject: Subject[Any], c: Contrast) -> str:
    """Return a sentence with the difference and its interval, the number of clear metrics, and a tie for first."""
    who = {
        "better": f"{c.run} beats {c.baseline}", "worse": f"{c.run} loses to {c.baseline}",
        "different": f"{c.run} differs from {c.baseline}", "same": f"{c.run} and {c.baseline} are the same",
        "equivalent": f"{c.run} is equivalent to {c.baseline}", "not worse": f"{c.run} is not worse than {c.baseline}",
    }.get(c.verdict, f"No clear difference between {c.run} and {c.baseline}")  # fmt: skip
    return f"{who}: {change(c, named=True)}{_on_metrics(subject, c)}{_tied_with(subject, c)}"


def _tied_with(subject: Subject[Any], c: Contrast) -> str:
    """Return the other runs that are tied for first with the run of a contrast."""
    group = subject.top_group
    if group is None or group.systems[0] != c.run or len(group.systems) < 2:
        return ""
    others = [name for name in group.systems[1:] if name != c.baseline]
    return f"; not clearly ahead of {words.listing(others, NAMED)}" if others else ""


def change(c: Contrast, named: bool = False, lift: bool = False, ahead: str = "", metric: str = "") -> str:
    """Return the difference, or the lift, with its interval: ``+0.082 nDCG@10 (95% interval +0.051 to +0.114)``."""
    size, ends = _change(c, lift, -1 if ahead == c.baseline else 1)
    level = f"{words.percent(c.method.level)} interval " if named else ""
    return f"{size}{f' {metric or c.metric}' if named else ''}{f' ({level}{ends})' if ends else ''}"


def _change(c: Contrast, lift: bool, way: int = 1) -> tuple[str, str]:
    """Return the difference or lift as text, and its interval."""
    value, bounds = c.relative_adjusted
    if lift and bounds.known:
        low, high = (words.relative(end, bounds.ends) for end in bounds.ends)
        return words.relative(value, bounds.ends), f"{low.removesuffix('%')} to {high}"
    digits, bounds = c.panel.measure.decimals, c.shown
    ends = sorted((way * bounds.lower, way * bounds.upper)) if bounds.known else []
    size = words.number(way * c.difference, sign=True, digits=digits)
    return size, words.interval(ends[0], ends[1], sign=True, digits=digits) if ends else ""


def _on_metrics(subject: Subject[Any], c: Contrast) -> str:
    """On how many of several metrics two runs differ clearly, and whether some go the other way."""
    assert subject.comparison is not None
    if len(subject.systems) == 2:
        return ""  # the board shows them
    alike = [one for one in subject.comparison.contrasts if (one.run, one.baseline) == (c.run, c.baseline)]
    if len(alike) < 2:
        return ""
    clear = [one for one in alike if one.verdict in CLEAR]
    other = [one.metric for one in clear if c.verdict in CLEAR and one.verdict != c.verdict]
    same = [one for one in clear if one.metric not in other]
    against = f", the other way on {words.listing(other, NAMED)}" if other else ""
    return f"; clear on {words.count(len(same))} of {words.counted(len(alike), 'metric')}{against}"


def _of_many(subject: Subject[Any]) -> tuple[str, Tone, Contrast | None]:
    """Return the best of many runs, its lead on the runner-up or the baseline, and the runs tied with it."""
    assert subject.comparison is not None
    comparison, panel = subject.comparison, subject.lead
    best, second, *_ = panel.means
    several = words.counted(len(subject.systems), "run")
    figure = f"{panel.name} {_figure(panel, panel.means[best])}"
    if not panel.sign:
        return f"{best} has the highest {figure} of {several}", "plain", None
    pairs = [{best, second}, *([] if best == comparison.baseline else [{best, comparison.baseline}])]
    there = (c for pair in pairs for c in comparison.of(panel.name) if {c.run, c.baseline} == pair)
    c = next(there, None)
    ahead = other = ""
    if c is not None:
        other = c.baseline if c.run == best else c.run
        ahead = f", {change(c, ahead=best)} on {other}".replace("(", f"({words.percent(c.method.level)} interval ", 1)
    group = subject.top_group
    tone: Tone = "plain" if group is None else "better" if len(group.systems) == 1 else "unclear"
    tied = "" if group is None else _tied(group, subject.systems, other if ahead else "")
    return f"{best} is best of {several}: {figure}{ahead}{tied}", tone, c


def _tied(group: TopGroup, systems: Sequence[str], named: str) -> str:
    others = group.systems[1:]
    if not others:
        return "; clearly ahead of every other run"
    if len(group.systems) == group.of:
        return "; not clearly ahead of any other run"
    behind = [system for system in systems if system not in group.systems]
    rest = behind[0] if len(behind) == 1 else words.count(len(behind))
    tied = words.listing(["it" if name == named else name for name in others], NAMED)
    return f"; not clearly ahead of {tied}, clearly ahead of {rest}"


def _of_scores(subject: Subject[Any]) -> str:
    panel, queries = subject.lead, subject.queries
    best = subject.merit()[0]
    bounds = panel.interval(best, LEVEL)
    known = bounds.known and not panel.reason
    ends = f" ({words.percent(LEVEL)} interval {words.interval(bounds.lower, bounds.upper)})" if known else ""
    value = f"{panel.name} {_figure(panel, panel.means[best])}{ends}"
    if len(subject.systems) == 1:
        return f"{best}: {value} over {queries}"
    first = f"{best} has the best value" if panel.sign else f"{best} comes first"
    return f"{first} of {words.counted(len(subject.systems), 'run')}: {value}. Whether the difference is real was not tested"


def _figure(panel: Panel, value: float) -> str:
    return words.amount(value) if panel.measure.aggregate == "sum" else words.number(value)


def _caution(subject: Subject[Any], sections: Sequence[Section], c: Contrast | None) -> tuple[str, str]:
    """Return one caveat with its size, and the section that shows more of it; empty without one."""
    cautions = {section.name: section.caution for section in sections if section.caution}
    if c is not None and "worklist" in cautions:
        return cautions["worklist"], "worklist"
    there = {section.name for section in sections}
    doubt = next(iter(doubts(subject, c)), "") if c is not None else ""
    if doubt and "data" in there:
        return doubt.removeprefix("Caution: ").rstrip("."), "data"
    return next(((text, name) for name, text in cautions.items()), ("", ""))


def _next(c: Contrast | None) -> str:
    """Return the number of queries that would show an open difference; empty for any other."""
    if c is None or c.verdict != "cannot tell" or c.method.every_look:
        return ""
    more = (c.queries_needed or 0) - c.queries
    return f"about {words.rounded(more)} more queries would show this difference" if more > 0 else ""


# --- the board
def _board(subject: Subject[Any]) -> Table:
    """Return the means, one interval per row: of the difference on the main metric, or of the mean of a single run."""
    panels, comparison, systems = subject.panels, subject.comparison, subject.merit()
    if len(systems) == 1:
        means = tuple((panel.name, mean_of(panel, systems[0], LEVEL)) for panel in panels)
        note = f"± and bars: the {words.percent(LEVEL)} interval over queries"
        return Table((Column("metric"), Column("value", "value")), means, name="answer", note=note)
    if comparison is not None and len(systems) == 2:
        return metric_board(comparison.contrasts, comparison.method.level)
    shown = systems
    if len(systems) > ROWS:  # the best, and always the baseline
        first = {subject.systems[0]} if comparison is not None else set()
        kept = {*first, *[s for s in systems if s not in first][: ROWS - len(first)]}
        shown = [s for s in systems if s in kept]
    panels = panels[: None if len(systems) < MANY else 1]  # of many runs the scoreboard has the other metrics
    rows: list[tuple[Value, ...]] = [(s, *(words.finite(panel.means[s]) for panel in panels)) for s in shown]
    notes = []
    if len(shown) < len(systems):
        count = f"{words.count(len(shown))} of {words.count(len(systems))} runs"
        notes.append(count)
    if comparison is not None and not comparison.family.each_pair:
        by_run = {c.run: c for c in comparison.of(subject.lead.name)}
        ends = [_signed(by_run[s]) if s in by_run else None for s in shown]
        drawn = Column(f"{subject.lead.name}: difference from {comparison.baseline}", "value", guide="zero")
        level = words.percent(comparison.method.level)
        notes.append(f"bars: {level} intervals")
    else:
        share = LEVEL if comparison is None else comparison.method.level
        ends = [value if isinstance(value := mean_of(subject.lead, s, share), ValueRange) else None for s in shown]
        drawn = Column(f"{subject.lead.name} with its interval", "value")
        notes.append(f"bars: {words.percent(share)} intervals over queries")
    heads = (replace(column_of(panel), hint="", spare=i > 0) for i, panel in enumerate(panels))
    columns = (Column("run"), *heads)
    if any(ends):
        columns, rows = (*columns, drawn), [(*row, end) for row, end in zip(rows, ends, strict=True)]
    best = ((j, best_rows(p.better, [words.finite(p.means[s]) for s in shown])) for j, p in enumerate(panels, start=1))
    marked = frozenset((i, j) for j, places in best for i in places)
    return Table(columns, tuple(rows), best=marked, note="; ".join(notes), name="answer", order=subject.colours())


def _signed(c: Contrast) -> ValueRange | None:
    value = value_range(c.difference, c.shown)
    return None if value is None else replace(value, text=words.in_table(change(c)))


def metric_board(
    contrasts: Sequence[Contrast], level: float, part_of: Callable[[Contrast], str] | None = None, lift: bool = False
) -> Table:
    """Return a row per metric and system, with the interval of its relative change drawn, apart by the part of the metric."""
    several, pairs = (len({getattr(c, name) for c in contrasts}) > 1 for name in ("run", "baseline"))
    rows: list[tuple[Value, ...]] = []
    parts: list[tuple[int, str]] = []
    for part, group in groupby(contrasts, key=part_of or (lambda _: "")):
        parts.append((len(rows), part))
        for c in group:
            value, bounds = c.relative_adjusted
            text = words.in_table(change(c, lift=lift))
            drawn: Value = ValueRange(value, bounds.lower, bounds.upper, text) if bounds.known else text
            names = [c.metric, c.sides if pairs else c.run] if several else [c.metric]
            rows.append((*names, value_cell(c, c.baseline_value), value_cell(c, c.value), drawn, marked(c.verdict)))
    columns = (
        Column("metric"), *([Column("variant")] if several else []), Column("baseline" if pairs else contrasts[0].baseline, "value", spare=True),
        Column("value" if several else contrasts[0].run, "value", spare=True), Column("lift" if lift else "difference", "value", guide="zero"),
        Column("verdict"),
    )  # fmt: skip
    note = f"bars: relative, {words.percent(level)} intervals"
    return Table(
        columns, tuple(rows), labels=1 + several, note=note, name="answer", parts=tuple(parts) if len(parts) > 1 else ()
    )


DOUBTFUL = {"RS101", "RS201", "RS204"}  # missing queries, ranks that contradict scores, much that is unjudged
MEANS_ONLY = "By the means only. The verdict tests whether a difference is real."
DECIDING = 3  # queries that are named for one rival
EACH = 2  # and for each of several; of many runs the first screen names one
TONES: dict[str, Tone] = {
    "better": "better", "worse": "worse", "cannot tell": "unclear", "same": "same", "equivalent": "same",
}  # fmt: skip


def marked(verdict: str) -> str:
    """Return a verdict with the sign of its tone: ``▲ better``."""
    return f"{SIGNS[TONES.get(verdict, 'plain')][0]} {verdict}".strip()


def verdicts(subject: Subject[Any]) -> tuple[Verdict, ...]:
    """Return the answers of a report, the first on the main metric.

    With a comparison: the best within the limits on costs, the verdict on each rival (for more than three: all of them together, the
    best, and the worst that is clearly worse), the top group, and what is inconclusive; each with the queries on which the two differ most.
    With one run: its score, its losses and their causes, and the queries with the largest losses.
    """
    if subject.comparison is None:
        return tuple(_verdicts_of_scores(subject))
    first, *others = _of_contrasts(subject, subject.comparison)
    return (*_within_limits(subject.comparison), first, *_beside(subject.comparison, others))


# --- several runs
def _of_contrasts(subject: Subject[Any], comparison: Comparison) -> Iterator[Verdict]:
    mine, each_pair = comparison.of(comparison.primary), comparison.family.each_pair
    if not each_pair and len(mine) <= FEW:
        for c in subject.rivals:
            alike = [one for one in comparison.contrasts if (one.run, one.baseline) == (c.run, c.baseline)]
            yield _of_contrast(subject, c, [one.short_sentence() for one in alike if one is not c])
        return
    limited = comparison.tradeoffs is not None and comparison.tradeoffs.budget is not None
    first, *others = list(comparison.sentences())[limited:]  # the best within limits is shown already
    by_run = {c.run: c for c in mine}
    best, *others_of = [by_run[run] for run in subject.merit() if run in by_run]
    # the best run other than the baseline, and the worst that is clearly worse
    cards = [] if each_pair else [best, *[c for c in others_of if c.verdict == "worse"][-1:]]
    rest = [c for c in subject.rivals[:FEW] if c not in cards]  # rivals without a card of their own
    several = [(c, one) for c in rest for one in deciding(c, EACH, both=each_pair)]
    queries, pairs = tuple(one for _, one in several), tuple((c.baseline, c.run) for c, _ in several)
    tones = {TONES.get(c.verdict, "plain") for c in mine}
    tone: Tone = "plain" if each_pair or len(tones) > 1 else tones.pop()
    against = f"{words.count(len(mine))} runs against {comparison.baseline}"
    about = f"{words.count(len(comparison.systems))} runs, each against each" if each_pair else against
    yield Verdict(first, tone, about, queries, pairs=pairs)
    yield from (_of_contrast(subject, c) for c in cards)
    if others:
        yield Verdict(" ".join(others), "plain", "the other metrics")


def _of_contrast(subject: Subject[Any], c: Contrast, more: Sequence[str] = ()) -> Verdict:
    """Return one contrast on the main metric, the other metrics of the same two runs, and its caveats."""
    queries, small = deciding(c, DECIDING), (*more, *doubts(subject, c))
    tone, about = TONES.get(c.verdict, "plain"), c.sides
    return Verdict(c.sentence(), tone, about, queries, small, ((c.baseline, c.run),) * len(queries))


def doubts(subject: Subject[Any], c: Contrast) -> Iterator[str]:
    """Yield the caveats in the data of two runs: missing judgments, missing queries, contradicting ranks."""
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


def _within_limits(comparison: Comparison) -> Iterator[Verdict]:
    """Return the best run within the limits on costs, if there are limits."""
    tone: Tone
    budget = None if comparison.tradeoffs is None else comparison.tradeoffs.budget
    if budget is not None:
        about = f"within the {'limit' if len(budget.limits) == 1 else 'limits'}"
        tone = "unclear" if budget.best is None else "plain"
        yield Verdict(budget.sentence, tone, about, (), () if budget.best is None else (MEANS_ONLY,))


def _beside(comparison: Comparison, others: Sequence[Verdict]) -> Iterator[Verdict]:
    """Yield further verdicts: the others, ties for first, open questions."""
    tone: Tone
    yield from others
    for group in comparison.groups:
        if group.metric == comparison.primary:
            tone = "unclear" if 1 < len(group.systems) == group.of else "plain"
            yield Verdict(f"{group.sentence()}.", tone, f"best on {group.metric}")
    mine = comparison.of(comparison.primary)
    if len(mine) > FEW and any(c.verdict == "cannot tell" for c in mine):
        yield Verdict(_left_open(comparison, mine), "unclear", "left open")


def _left_open(comparison: Comparison, mine: Sequence[Contrast]) -> str:
    """Return the number of inconclusive comparisons, and the one nearest to clear."""
    unclear = [c for c in mine if c.verdict == "cannot tell"]
    are = words.agree(len(unclear), "is")
    text = f"{words.count(len(unclear))} of {words.count(len(mine))} comparisons on {comparison.primary} {are} inconclusive"
    closest = [c for c in unclear if c.queries_needed is not None and c.detectable.difference > 0]
    if not closest:
        return f"{text}."
    c = max(closest, key=lambda c: abs(c.difference) / c.detectable.difference)
    return f"{text}; the one nearest to clear is {c.sides} ({words.number(c.difference, sign=True)}). {c.reach}."


# --- one run
def _verdicts_of_scores(subject: Subject[Any]) -> Iterator[Verdict]:
    """Yield the score of each run on the main metric, and its losses."""
    scores = subject.scores
    assert scores is not None
    means = [mean for mean in scores.board if mean.metric == scores.metrics[0]]
    for mean in means[:FEW]:
        yield Verdict(_of_mean(mean, scores), "plain", mean.run)
    if len(means) > FEW:
        more = words.counted(len(means) - FEW, "more run is", "more runs are")
        yield Verdict(f"{more} on the scoreboard, not compared.", "plain", "more runs")
    if not scores.evaluations or scores.metrics[0].aggregate == "pooled":
        return  # without rankings there is no reason, and of all documents together no query has a part
    diagnosis = diagnosis_of(scores, subject.qrels, subject.runs, DECIDING)
    queries = []
    for one in diagnosis.hardest:
        run = f"{one.run} " if len(diagnosis.runs) > 1 else ""
        lost = "" if diagnosis.reason or math.isnan(one.loss) else f", loses {words.number(one.loss)}"
        queries.append((one.query_id, f"{run}{words.number(one.value)}{lost}: {LABELS[one.kind]}"))
    yield Verdict(" ".join(diagnosis.sentences()), "plain", "the losses and their causes", tuple(queries))


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
