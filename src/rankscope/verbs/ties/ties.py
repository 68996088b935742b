"""How much equal scores matter: how many there are in the top k, and how far the metrics could move."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankscope._version import __version__
from rankscope.blocks import EMPTY, Block, Column, Paragraph, Table, Value
from rankscope.dialects.base import Ties
from rankscope.metrics import Metric
from rankscope.scoring.conventions import QUERIES_IN_WORDS
from rankscope.scoring.evaluation import evaluate
from rankscope.scoring.inputs import named_runs, read_any
from rankscope.scoring.scores import RunScores, Scores
from rankscope.show.notebook import InNotebook
from rankscope.show.result import null

NOTABLE = 0.0005  # a spread below this is nothing to worry about


@dataclass(frozen=True)
class Spread:
    """One metric of one run under all orders of equal scores.

    ``value`` is the number under trec_eval's order, ``expected`` the mean over all orders, ``worst`` and
    ``best`` the ends (None where a metric knows no better). ``queries`` of ``of`` have a value that depends
    on the order; ``tied`` is the share of the documents in the top k (10 without a cutoff) that are tied.
    """

    run: str
    metric: Metric
    value: float
    expected: float
    worst: float | None
    best: float | None
    queries: int
    of: int
    tied: float
    error: float | None = None

    @property
    def width(self) -> float:
        """How far the value could move."""
        return 0.0 if self.best is None or self.worst is None else abs(self.best - self.worst)


@dataclass(frozen=True, eq=False)
class TieReport(InNotebook):
    """What ``ties`` found: one ``Spread`` a run and metric."""

    shown_by: ClassVar[str] = "rankscope.verbs.ties.ties"

    spreads: Sequence[Spread]
    scores: Scores

    def __iter__(self) -> Iterator[Spread]:
        return iter(self.spreads)

    def __str__(self) -> str:
        return sentence(self)

    __repr__ = __str__


def ties(qrels: Any, runs: Any, metrics: Any = None, *, seed: int = 0, **policies: Any) -> TieReport:
    """Say how much of the top k is tied, and how far each metric could move by reordering equal scores.

    Takes what ``evaluate`` takes, but for ``ties`` and ``dialect``. Raises what ``evaluate`` raises.

    >>> import rankscope as rs
    >>> report = rs.ties({"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0, "c": 0.5}}, "RR")
    >>> [(s.worst, s.expected, s.best, s.queries) for s in report]
    [(0.5, 0.75, 1.0, 1)]
    """
    grades = read_any("qrels", qrels)
    given = [(name, read_any("run", run, name)) for name, run in named_runs(runs)]
    plainly = evaluate(grades, given, metrics, **policies)
    asked = [mean.asked for mean in plainly.board if mean.run == plainly.runs[0].name]
    bounded = [m for m in plainly.metrics if m.better != "neither"]

    def under(policy: Ties, wanted: Sequence[Any]) -> Scores | None:
        return evaluate(grades, given, list(wanted), ties=policy, seed=seed, **policies) if wanted else None

    spreads = _spreads(plainly, under("expected", asked), under("worst", bounded), under("best", bounded))
    return TieReport(list(spreads), plainly)


def _spreads(
    plainly: Scores, expected: Scores | None, worst: Scores | None, best: Scores | None
) -> Iterator[Spread]:
    for run in plainly.runs:
        for metric in plainly.metrics:
            low, high = _mean(worst, run.name, metric), _mean(best, run.name, metric)
            mean = next(m for m in (expected or plainly).board if m.run == run.name and m.metric == metric)
            yield Spread(
                run=run.name,
                metric=metric,
                value=plainly[run.name, str(metric)],
                expected=mean.value,
                worst=low,
                best=high,
                queries=_moved(_run(worst, run.name), _run(best, run.name), metric),
                of=len(run.query_ids),
                tied=run.health.tied_at_cutoff.get(_depth(metric, run), 0.0),
                error=mean.error,
            )


def _depth(metric: Metric, run: RunScores) -> int:
    """The cutoff of a metric, or the one of the state of the data that comes nearest to 10."""
    known = run.health.tied_at_cutoff
    return getattr(metric, "cutoff", None) or min(known, key=lambda k: abs(k - 10), default=10)


def _mean(scores: Scores | None, run: str, metric: Metric) -> float | None:
    found = [m.value for m in scores.board if m.run == run and m.metric == metric] if scores else []
    return found[0] if found else None


def _run(scores: Scores | None, name: str) -> RunScores | None:
    return next((run for run in scores.runs if run.name == name), None) if scores else None


def _moved(worst: RunScores | None, best: RunScores | None, metric: Metric) -> int:
    """How many queries have a value that depends on the order of equal scores."""
    if worst is None or best is None or metric not in worst.values:
        return 0
    difference = np.abs(best.values[metric] - worst.values[metric])
    return int(np.count_nonzero(difference > 1e-12))  # NaN is no difference


# --- as blocks and records ---------------------------------------------------------------------------


def blocks_of(report: TieReport) -> list[Block]:
    """The answer in a sentence, the table behind it, and the conventions."""
    several = len(report.scores.runs) > 1
    columns = [
        *([Column("run")] if several else []),
        Column("metric"),
        Column("by id", "value"),
        Column("expected", "value"),
        Column("worst", "value"),
        Column("best", "value"),
        Column("queries", "text"),
        Column("tied", "text"),
    ]
    rows: list[tuple[Value, ...]] = [
        (
            *([s.run] if several else []),
            str(s.metric),
            null(s.value),
            null(s.expected),
            s.worst,
            s.best,
            f"{s.queries:,} of {s.of:,}",
            f"{s.tied:.0%}",
        )
        for s in report
    ]
    return [
        Paragraph(sentence(report)),
        EMPTY,
        Table(tuple(columns), tuple(rows), labels=2 if several else 1),
        Paragraph(
            "by id: score, then document id, both descending, as trec_eval · expected: the mean over all orders of equal scores · "
            "queries: those whose value depends on the order · tied: share of the top k (10 without a cutoff) that shares its score",
            quiet=True,
        ),
    ]


def sentence(report: TieReport) -> str:
    """The answer: whether the order of equal scores matters here."""
    widest = max(report, key=lambda s: s.width, default=None)
    if widest is None or widest.width < NOTABLE:
        return "Equal scores do not matter here: no metric could move by 0.0005 or more."
    of = f" of {widest.run}" if len(report.scores.runs) > 1 else ""
    return (
        f"Equal scores matter: {widest.metric}{of} could be {widest.worst:.4f} to {widest.best:.4f} by their order alone, "
        f"{widest.expected:.4f} in the mean. Give distinct scores, or report --ties expected."
    )


def records(report: TieReport) -> Iterator[dict[str, Any]]:
    """One record a run and metric."""
    for s in report:
        yield {
            "run": s.run,
            "metric": str(s.metric),
            "value": null(s.value),
            "expected": null(s.expected),
            "worst": _plain(s.worst),
            "best": _plain(s.best),
            "queries_that_move": s.queries,
            "queries": s.of,
            "tied_in_top": s.tied,
            "standard_error_of_expected": _plain(s.error),
        }


def envelope(report: TieReport) -> dict[str, Any]:
    """All of a report, with what it rests on."""
    said = report.scores.conventions
    return {
        "schema": "rankscope/ties/1",
        "rankscope": __version__,
        "conventions": {"queries": said["queries"], "queries_in_words": QUERIES_IN_WORDS[said["queries"]]},
        "results": list(records(report)),
    }


def _plain(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
