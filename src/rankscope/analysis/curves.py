"""Scores at other cutoffs and at each recall: whether the best run is the best wherever a list is cut."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from rankscope import words
from rankscope.blocks import Chart, Column, Table, Value
from rankscope.metrics import Metric, parse
from rankscope.metrics.relevance import IPrec
from rankscope.metrics.trec import TENTHS
from rankscope.panels.samples import leaders
from rankscope.scoring.rescore import rescore, why_not
from rankscope.scoring.scores import Scores

CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100)
FAMILIES = 3  # metrics that are drawn
INSTEAD = "nDCG@10"  # if the metrics asked for lack cutoffs
HALF = TENTHS.index(0.5)
AT_CUTOFFS = (
    "Each line is one run. Further right the list is cut later. Compare runs at one k, do not compare one run across cutoffs: "
    "a metric has another meaning at another k."
)
AT_RECALLS = (
    "At each recall the best precision at that recall or beyond, averaged over queries. A line further up and right finds more "
    "with less to read. If lines cross, neither run is better throughout. A recall of x means x times the "
    "relevant documents of a query, rounded half up to a whole number, as in trec_eval 10. IPrec(compat=9) is the older rule."
)
ROUNDED = "in whole documents: recall times the relevant documents of the query, rounded half up (trec_eval 10)"


@dataclass(frozen=True)
class Curve:
    """One metric at several cutoffs: ``values[run][i]`` is the value of a run at ``cutoffs[i]``."""

    metric: Metric
    cutoffs: tuple[int, ...]
    values: Mapping[str, Sequence[float]]

    @property
    def name(self) -> str:
        """The metric, with k for the cutoff."""
        return f"{str(self.metric).rpartition('@')[0]}@k"

    def winners(self) -> list[tuple[str, ...]]:
        """The best runs at each cutoff."""
        by_cutoff = ({run: at[i] for run, at in self.values.items()} for i in range(len(self.cutoffs)))
        return [leaders(means, self.metric.better) for means in by_cutoff]

    def chart(self) -> Chart:
        """One line per run."""
        columns = Column("run"), Column("k", "count"), Column(self.name, "value")
        return Chart(
            f"cutoffs-{type(self.metric).__name__}", f"{self.name} by the cutoff k", "lines", columns,
            _rows(self.values, self.cutoffs), x="k", y=self.name, series="run", caption=AT_CUTOFFS, logs=frozenset({"x"}), told=True,
            axes=(("k", "cutoff k"),),
        )  # fmt: skip

    def table(self) -> Table:
        """One row per run, a column a cutoff, the best at each stressed."""
        runs = list(self.values)
        columns = (Column("run"), *(Column(f"@{k}", "value") for k in self.cutoffs))
        ahead = [(i, winners) for i, winners in enumerate(self.winners(), start=1) if len(winners) < len(runs)]
        best = frozenset((runs.index(run), i) for i, winners in ahead for run in winners)
        return Table(columns, _lines(self.values), best=best, name=f"cutoffs-{type(self.metric).__name__}-table")

    def sentence(self, some: bool = False) -> str:
        """The run that leads at each cutoff, among ``some`` of the runs if not all were scored."""
        if len(self.values) == 1:
            ((run, at),) = self.values.items()
            if math.isnan(at[0]) or math.isnan(at[-1]):
                return f"{run} at several cutoffs."
            first, last = (f"{words.number(at[i])} at k = {self.cutoffs[i]}" for i in (0, -1))
            return f"{run} scores {first} and {last}: two different questions."
        by_winners = groupby(zip(self.winners(), self.cutoffs, strict=True), key=itemgetter(0))
        stretches = [(runs, [k for _, k in level]) for runs, level in by_winners]  # cutoffs with the same winners
        (leading, _), *others = stretches
        of = "Of the runs shown, " if some else ""
        if others:
            leads = (f"{words.listing(runs, 99) or 'no run'} at k = {words.listing(ks, 99)}" for runs, ks in stretches)
            return f"Which run leads on {self.name} depends on k{f'. {of}' if of else ': '}{'; '.join(leads)}."
        if len(leading) == len(self.values):
            return f"All runs{' shown' if some else ''} are level on {self.name} at every k tried."
        at_each = words.listing(self.cutoffs, 99)
        return f"{of}{words.listing(leading, 99)} {words.agree(len(leading), 'leads')} on {self.name} at every cutoff: k = {at_each}."


def by_cutoff(scores: Scores, runs: Sequence[str], lead: Metric | None = None) -> tuple[list[Curve], list[str]]:
    """The metrics with a cutoff as curves over cutoffs from 1 to 100, ``lead`` first, and why others are not drawn. Nothing for single documents."""
    curves, reasons, at = [], [], scores.request.place(scores.metrics[0])
    judgments = [e.judged[at] for s, e in zip(scores.runs, scores.evaluations, strict=True) if s.name in runs]
    longest = max((int(judged.retrieved.max(initial=0)) for judged in judgments), default=0)
    deepest = min(longest, scores.request.policies.depth or longest)
    for metric, like in _with_cutoffs(scores, lead) if deepest > 1 else ():
        if reason := why_not(scores, metric, like):
            reasons.append(f"{metric} is not drawn at other cutoffs: {reason}.")
        else:
            curves.append(curve_of(scores, runs, metric, like, deepest))
    return curves, reasons


def curve_of(scores: Scores, runs: Sequence[str], metric: Metric, like: Metric, deepest: int) -> Curve:
    """A metric at the usual cutoffs and its own, down to the deepest ranking."""
    own = getattr(metric, "cutoff", None) or CUTOFFS[0]
    cutoffs = tuple(k for k in sorted({*CUTOFFS, own}) if k <= deepest or k == own)
    metrics = [metric.having(cutoff=k) for k in cutoffs]
    return Curve(metric, cutoffs, _values(scores, runs, metrics, like))


def _with_cutoffs(scores: Scores, lead: Metric | None) -> Iterator[tuple[Metric, Metric]]:
    seen: set[Metric] = set()
    for metric in [lead, *scores.metrics]:
        if metric is None or getattr(metric, "cutoff", None) is None or metric.better == "neither":
            continue
        family = metric.having(cutoff=10)
        if family not in seen and len(seen) < FAMILIES:
            seen.add(family)
            yield metric, metric
    if not seen:
        yield parse(INSTEAD), lead or scores.metrics[0]


@dataclass(frozen=True)
class RecallCurve:
    """Interpolated precision at recall 0, 0.1 ... 1: ``values[run][i]`` at ``TENTHS[i]``. Relevant is a grade of ``level`` or more."""

    values: Mapping[str, Sequence[float]]
    level: float

    def chart(self) -> Chart:
        """One line per run."""
        of = "" if self.level == 1 else f" (relevant: grade {words.amount(self.level)} or more)"
        columns = Column("run"), Column("recall", "value"), Column("precision", "value")
        return Chart(
            "recall", f"Precision at each recall{of}", "lines", columns, _rows(self.values, TENTHS), x="recall", y="precision",
            series="run", caption=AT_RECALLS, limits=(0.0, 1.0), told=True,
        )  # fmt: skip

    def table(self) -> Table:
        """One row per run, a column a recall."""
        columns = (Column("run"), *(Column(words.amount(recall), "value") for recall in TENTHS))
        note = f"precision at that recall or beyond, {ROUNDED}"
        return Table(columns, _lines(self.values), name="recall-table", note=note)

    def sentence(self, baseline: str) -> str:
        """The depth that half of the relevant documents need, for the best run and the baseline."""
        known = {run: at for run, at in self.values.items() if not math.isnan(at[HALF])}
        if not known:
            return ""
        first = baseline if baseline in known else next(iter(known))
        best = max(known, key=lambda run: known[run][HALF])
        value = known[best][HALF]
        if not value:
            return "No run finds half of the relevant documents of any query."
        start = f"With half of the relevant documents found, {best} has a mean precision of {words.number(value)}"
        if len(known) == 1:
            return f"{start}: {words.number(value * 10, digits=1)} of 10 documents read are relevant."
        other = max((r for r in known if r != first), key=lambda r: known[r][HALF]) if best == first else first
        return f"{start}, {other} {words.number(known[other][HALF])}."


def by_recall(scores: Scores, runs: Sequence[str], level: float = 1.0) -> RecallCurve | str | None:
    """Interpolated precision of runs at eleven levels of recall. A reason if it is unavailable, None if no query has a value."""
    metrics: list[Metric] = [IPrec(recall=recall, level=level) for recall in TENTHS]
    like = next((m for m in scores.metrics if m.trec_ties == metrics[0].trec_ties), scores.metrics[0])
    if reason := why_not(scores, metrics[0], like):
        return reason
    values = _values(scores, runs, metrics, like)
    return RecallCurve(values, level) if any(not math.isnan(v) for at in values.values() for v in at) else None


def _values(scores: Scores, runs: Sequence[str], metrics: Sequence[Metric], like: Metric) -> dict[str, list[float]]:
    means = rescore(scores, [(like, metric) for metric in metrics], runs)
    return {run: [mean.value for mean in means if mean.run == run] for run in runs}


def _rows(values: Mapping[str, Sequence[float]], at: Sequence[float]) -> tuple[tuple[Value, ...], ...]:
    return tuple((run, x, words.finite(y)) for run, line in values.items() for x, y in zip(at, line, strict=True))


def _lines(values: Mapping[str, Sequence[float]]) -> tuple[tuple[Value, ...], ...]:
    return tuple((run, *map(words.finite, line)) for run, line in values.items())
