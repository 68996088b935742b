"""A metric at every cutoff: whether the winner is the same wherever the list is cut."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankscope import words
from rankscope.blocks import Block, Chart, Column, Paragraph, Section, Table, Value
from rankscope.metrics import Metric, parse
from rankscope.panels.doubts import EVEN
from rankscope.panels.verdicts import number
from rankscope.reporting.sections.shown_runs import few_runs
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import number_or_none
from rankscope.scoring.measurements import CUTOFFS
from rankscope.scoring.rescore import rescored, why_not
from rankscope.scoring.scores import Scores

FAMILIES = 3  # metrics that are drawn
INSTEAD = "nDCG@10"  # where no metric with a cutoff was asked for
CAPTION = (
    "Each line is one run; further right the list is cut later. Compare runs at one k, never one run at two: a metric has another "
    "meaning at another k."
)


@dataclass(frozen=True)
class Curve:
    """One metric at several cutoffs: ``values[run][i]`` is the value of a run at ``cutoffs[i]``."""

    metric: Metric
    cutoffs: tuple[int, ...]
    values: dict[str, list[float]]

    @property
    def name(self) -> str:
        """The metric, with k for the cutoff."""
        return f"{str(self.metric).rpartition('@')[0]}@k"

    def winners(self) -> list[tuple[str, ...]]:
        """At each cutoff the runs that none is better than."""
        sign = -1.0 if self.metric.better == "lower" else 1.0
        out = []
        for i in range(len(self.cutoffs)):
            here = {run: sign * found[i] for run, found in self.values.items() if not math.isnan(found[i])}
            best = max(here.values(), default=math.nan)
            out.append(tuple(run for run, value in here.items() if abs(value - best) <= EVEN))
        return out


def section(subject: Subject) -> Section | None:
    """Each run at cutoffs from 1 to 100; None without rankings, and where no ranking holds more than one document."""
    scores = subject.scores
    if scores is None or not scores.evaluations:
        return None
    runs, left_out = few_runs(subject)
    deepest = _deepest(scores, runs)
    if deepest < 2:
        return None
    curves, reasons = [], []
    for metric, like in _families(subject):
        reason = why_not(scores, metric, like)
        if reason:
            reasons.append(f"{metric} is not drawn at other cutoffs: {reason}.")
        else:
            curves.append(curve_of(scores, runs, metric, like, deepest))
    blocks: list[Block | Chart] = [block for curve in curves for block in (_chart(curve), _table(curve))]
    blocks += [Paragraph(text, quiet=True) for text in [*reasons, *([left_out] if left_out and curves else [])]]
    if not blocks:
        return None
    lead = f"{_instead(subject, curves[0])}{_winners_in_words(curves[0], bool(left_out))}" if curves else ""
    return Section("cutoffs", "Wherever the list is cut", tuple(blocks), lead)


def curve_of(scores: Scores, runs: Sequence[str], metric: Metric, like: Metric, deepest: int) -> Curve:
    """A metric at the usual cutoffs and its own, down to the deepest ranking."""
    own = getattr(metric, "cutoff", None) or CUTOFFS[0]
    cutoffs = tuple(k for k in sorted({*CUTOFFS, own}) if k <= deepest or k == own)
    metrics = [metric.having(cutoff=k) for k in cutoffs]
    means = rescored(scores, [(like, one) for one in metrics], runs)
    return Curve(metric, cutoffs, {run: [mean.value for mean in means if mean.run == run] for run in runs})


def _families(subject: Subject) -> Iterator[tuple[Metric, Metric]]:
    """Metrics with a cutoff, each once whatever its cutoff, the leading one first; and whose conventions they follow."""
    assert subject.scores is not None
    asked = [subject.metric, *subject.scores.metrics]
    seen: set[Metric] = set()
    for metric in asked:
        if metric is None or getattr(metric, "cutoff", None) is None or metric.better == "neither":
            continue
        family = metric.having(cutoff=10)
        if family not in seen and len(seen) < FAMILIES:
            seen.add(family)
            yield metric, metric
    if not seen:
        yield parse(INSTEAD), subject.metric or subject.scores.metrics[0]


def _deepest(scores: Scores, runs: Sequence[str]) -> int:
    """The length of the longest ranking, or the depth at which all were cut."""
    at = scores.request.place(scores.metrics[0])
    found = [e.judged[at] for s, e in zip(scores.runs, scores.evaluations, strict=True) if s.name in runs]
    longest = max((int(judged.retrieved.max(initial=0)) for judged in found), default=0)
    return min(longest, scores.request.policies.depth or longest)


def _chart(curve: Curve) -> Chart:
    rows: list[tuple[Value, ...]] = [
        (run, k, number_or_none(value))
        for run, found in curve.values.items()
        for k, value in zip(curve.cutoffs, found, strict=True)
    ]
    return Chart(
        f"cutoffs-{type(curve.metric).__name__}",
        f"{curve.name} by the cutoff k",
        "lines",
        (Column("run"), Column("k", "count"), Column(curve.name, "value")),
        tuple(rows),
        x="k",
        y=curve.name,
        series="run",
        caption=CAPTION,
        logs=frozenset({"x"}),
        told=True,
    )


def _table(curve: Curve) -> Table:
    """A row a run, a column a cutoff, the best at each stressed."""
    runs = list(curve.values)
    columns = (Column("run"), *(Column(f"@{k}", "value") for k in curve.cutoffs))
    rows: list[tuple[Value, ...]] = [(run, *map(number_or_none, curve.values[run])) for run in runs]
    best: list[tuple[int, int]] = []
    if len(runs) > 1:
        best = [
            (runs.index(run), i)
            for i, winners in enumerate(curve.winners(), start=1)
            for run in winners
            if len(winners) < len(runs)
        ]
    return Table(columns, tuple(rows), best=frozenset(best), name=f"cutoffs-{type(curve.metric).__name__}-table")


def _instead(subject: Subject, curve: Curve) -> str:
    """That this is not the leading metric, where it is not."""
    lead = subject.metric
    if lead is None or lead == curve.metric:
        return ""
    why = "has no cutoff" if getattr(lead, "cutoff", None) is None else "is not drawn at other cutoffs"
    return f"The leading metric, {lead}, {why}; this is {curve.name}. "


def _winners_in_words(curve: Curve, some: bool = False) -> str:
    """Who is ahead at which cutoffs; of ``some`` of the runs, where not all were looked at."""
    if len(curve.values) == 1:
        ((run, found),) = curve.values.items()
        if math.isnan(found[0]) or math.isnan(found[-1]):
            return f"{run} at several cutoffs."
        return f"{run} has {number(found[0])} at k = {curve.cutoffs[0]} and {number(found[-1])} at k = {curve.cutoffs[-1]}: two questions, each with an answer of its own."
    stretches = _stretches(curve.cutoffs, curve.winners())
    first, *others = stretches
    of = "Of the runs shown, " if some else ""
    if not others:
        if len(first[0]) == len(curve.values):
            return f"All runs{' shown' if some else ''} are level on {curve.name} at every k looked at."
        return f"{of}{_names(first[0])} {_leads(first[0])} on {curve.name} wherever the list was cut: at k = {words.listing(curve.cutoffs, most=20)}."
    said = "; ".join(f"{_names(runs)} at k = {words.listing(ks, most=20)}" for runs, ks in stretches)
    return (
        f"Who leads on {curve.name} depends on k. {of}{said}."
        if of
        else f"Who leads on {curve.name} depends on k: {said}."
    )


def _stretches(cutoffs: Sequence[int], winners: Sequence[tuple[str, ...]]) -> list[tuple[tuple[str, ...], list[int]]]:
    """Cutoffs next to each other with the same winners."""
    out: list[tuple[tuple[str, ...], list[int]]] = []
    for k, runs in zip(cutoffs, winners, strict=True):
        if out and out[-1][0] == runs:
            out[-1][1].append(k)
        else:
            out.append((runs, [k]))
    return out


def _names(runs: Sequence[str]) -> str:
    if not runs:
        return "no run"
    return runs[0] if len(runs) == 1 else f"{', '.join(runs[:-1])} and {runs[-1]}"


def _leads(runs: Sequence[str]) -> str:
    return "leads" if len(runs) == 1 else "lead"
