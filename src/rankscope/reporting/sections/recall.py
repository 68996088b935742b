"""Precision against recall, interpolated at eleven points: how much has to be read to have found so much."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rankscope.blocks import Chart, Column, Paragraph, Section, Table, Value
from rankscope.metrics import Metric
from rankscope.metrics.interpolated import IPrec
from rankscope.metrics.trec import TENTHS
from rankscope.panels.verdicts import number
from rankscope.reporting.sections.shown_runs import few_runs, first_run
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import number_or_none
from rankscope.scoring.rescore import rescored, why_not
from rankscope.scoring.scores import Scores

TITLE = "Precision and recall"
CAPTION = (
    "At each recall the best precision at that recall or beyond, in the mean over queries. A line further up and right finds more "
    "with less to read; where lines cross, one run is better for few documents and the other for many. A recall of x means x times the "
    "relevant documents of a query, rounded to a whole number of them, half up, as trec_eval 10 does; IPrec(compat=9) is the older rule."
)
ROUNDED = "in whole documents: recall times the relevant documents of the query, rounded half up (trec_eval 10)"
HALF = TENTHS.index(0.5)


def section(subject: Subject) -> Section | None:
    """Interpolated precision at recall 0, 0.1 ... 1 of each run; None without rankings."""
    scores = subject.scores
    if scores is None or not scores.evaluations:
        return None
    runs, left_out = few_runs(subject)
    level = float(getattr(subject.metric, "level", 1.0))
    metrics = points(level)
    like = _like(scores, metrics[0])
    reason = why_not(scores, metrics[0], like)
    if reason:
        return Section("recall", TITLE, (Paragraph(f"Not drawn: {reason}.", quiet=True),), folded=True)
    pairs = [(like, metric) for metric in metrics]
    means = rescored(scores, pairs, runs)
    curves = {run: [mean.value for mean in means if mean.run == run] for run in runs}
    if all(math.isnan(value) for found in curves.values() for value in found):
        return None
    rows: list[tuple[Value, ...]] = [
        (run, recall, number_or_none(value))
        for run, found in curves.items()
        for recall, value in zip(TENTHS, found, strict=True)
    ]
    of = "" if level == 1 else f" (relevant: grade {level:g} or more)"
    chart = Chart(
        "recall",
        f"Precision at each recall{of}",
        "lines",
        (Column("run"), Column("recall", "value"), Column("precision", "value")),
        tuple(rows),
        x="recall",
        y="precision",
        series="run",
        caption=CAPTION,
        limits=(0.0, 1.0),
        told=True,
    )
    said = [Paragraph(left_out, quiet=True)] if left_out else []
    return Section("recall", TITLE, (chart, _table(curves), *said), _in_words(curves, first_run(subject)))


def points(level: float = 1.0) -> list[Metric]:
    """Interpolated precision at the eleven levels of recall."""
    return [IPrec(recall=recall, level=level) for recall in TENTHS]


def _like(scores: Scores, metric: Metric) -> Metric:
    """A metric that was asked for under the same order of equal scores."""
    return next((m for m in scores.metrics if m.trec_ties == metric.trec_ties), scores.metrics[0])


def _table(curves: Mapping[str, Sequence[float]]) -> Table:
    columns = (
        Column("run"),
        *(
            Column(f"{recall:g}", "value", hint=f"precision at recall {recall:g} or beyond, {ROUNDED}")
            for recall in TENTHS
        ),
    )
    rows: list[tuple[Value, ...]] = [(run, *map(number_or_none, found)) for run, found in curves.items()]
    return Table(columns, tuple(rows), name="recall-table")


def _in_words(curves: Mapping[str, Sequence[float]], baseline: str) -> str:
    """What half of the relevant documents cost, of the best run and of the baseline."""
    known = {run: found for run, found in curves.items() if not math.isnan(found[HALF])}
    if not known:
        return ""
    first = baseline if baseline in known else next(iter(known))
    best = max(known, key=lambda run: known[run][HALF])
    value = known[best][HALF]
    said = f"With half of the relevant documents found, {best} has a precision of {number(value)} in the mean"
    if not value:
        return "No run finds half of the relevant documents of any query."
    if len(known) == 1:
        return f"{said}: {value * 10:.1f} of 10 documents read are relevant."
    if best == first:
        other = max((run for run in known if run != first), key=lambda run: known[run][HALF])
        return f"{said}, {other} {number(known[other][HALF])}."
    return f"{said}, {first} {number(known[first][HALF])}."
