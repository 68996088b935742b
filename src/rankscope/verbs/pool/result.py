"""The result of ``pool``: runs without their unique documents, and the agreement of metrics on the order of systems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from rankscope import words
from rankscope.lists.overlap import kendall
from rankscope.metrics import Metric
from rankscope.panels.samples import SIGNS
from rankscope.scoring.results import OfScores
from rankscope.scoring.scores import Scores
from rankscope.show.result import Col, View


@dataclass(frozen=True)
class LeftOut:
    """A metric of a run: its ``value``, the value ``without`` the judgments of its own documents, and both positions among the systems."""

    run: str
    metric: Metric
    value: float
    without: float
    rank: int | None
    rank_without: int | None

    @property
    def change(self) -> float:
        """The value without its own documents less the value."""
        return self.without - self.value


METRIC = Col("metric", of=lambda one: str(one.metric), head="metric")


@dataclass(frozen=True)
class Contribution:
    """The number of judged documents of a run in the pool, of documents that no other run found, and of relevant ones among these."""

    run: str
    judged: int
    own: int
    own_relevant: int


@dataclass(frozen=True)
class Agreement:
    """The agreement of two metrics on the order of systems: Kendall's ``tau`` (b, corrected for ties), NaN if one of them ties all."""

    metric: Metric
    other: Metric
    tau: float


@dataclass(frozen=True, eq=False, repr=False)
class PoolReport(OfScores):
    """The result of ``pool``: ``left_out`` has each run and metric, ``contributions`` each run's part in the pool, ``agreements`` each pair of metrics."""

    left_out: Sequence[LeftOut]
    contributions: Sequence[Contribution]
    scores: Scores
    pool_depth: int

    schema = "pool/1"
    header = ("conventions", "inputs", "pool_depth")
    shown = ("contributions", "results", "orders", "agreements")
    views = (
        View("results", (
            Col("run", head="run"), METRIC, Col("value", head="value", kind="value"), Col("without", head="without own", kind="value"),
            Col("change", head="change", kind="value", cell=lambda one: words.cell(one.change, sign=True)),
            Col("rank", head="place", kind="count"), Col("rank_without", head="then", kind="count"),
        ), lambda report: report.left_out, labels=2),
        View("contributions", (
            Col("run", head="run"), Col("judged", head="judged", kind="count"), Col("own", head="own", kind="count"),
            Col("own_relevant", head="own relevant", kind="count"),
        ), lambda report: report.contributions),
        View("orders", (
            Col("metric", of=lambda row: str(row[0]), head="metric"), Col("tau", of=lambda row: row[1], head="Kendall's tau", kind="value"),
        ), lambda report: report.orders, title="orders of the systems: as they are, and each without its own documents"),
        View("agreements", (
            METRIC, Col("other", of=lambda one: str(one.other), head="other"), Col("tau", head="Kendall's tau", kind="value"),
        ), lambda report: report.agreements, title="how far metrics order the systems alike", labels=2),
    )  # fmt: skip

    @cached_property
    def agreements(self) -> list[Agreement]:
        """Each pair of metrics that have a direction, with how far they order the systems alike."""
        directed = [metric for metric in self.scores.metrics if metric.better != "neither"]
        values = {m: [SIGNS[m.better] * self.scores[run.name, str(m)] for run in self.scores.runs] for m in directed}
        return [Agreement(one, two, kendall(values[one], values[two])) for one, two in combinations(directed, 2)]

    @cached_property
    def orders(self) -> list[tuple[Metric, float]]:
        """For each metric that has a direction, Kendall's tau of the systems as they are and each without its own documents."""
        out = []
        for metric in dict.fromkeys(one.metric for one in self.left_out if one.rank is not None):
            mine = [one for one in self.left_out if one.metric == metric]
            out.append((metric, kendall([one.value for one in mine], [one.without for one in mine])))
        return out

    def sentences(self) -> Iterator[str]:
        """Yield the share of a value from unique documents, changes of places, and the metrics that disagree most."""
        directed = [one for one in self.left_out if one.rank is not None]
        moved = [one for one in directed if one.rank != one.rank_without]
        if worst := max(directed, key=lambda one: abs(one.change), default=None):
            yield (
                f"Left out of the pool, {worst.run} would change most: {worst.metric} from {words.number(worst.value, digits=4)} to "
                f"{words.number(worst.without, digits=4)}."
            )
            places = f"{words.count(len(moved))} of {words.count(len(directed))} places of runs"
            fair = "No run changes its place so: the judgments seem fair to runs that were not pooled."
            yield f"{places} {words.agree(len(moved), 'changes')} so." if moved else fair
        known = [one for one in self.agreements if not math.isnan(one.tau)]
        if known and len(self.scores.runs) > 2:
            least = min(known, key=lambda one: one.tau)
            tau = words.number(least.tau, digits=2)
            unlike = f"{least.metric} and {least.other} order the systems least alike: Kendall's tau {tau}."
            yield "All metrics order the systems alike." if least.tau == 1 else unlike

    def small_print(self) -> Iterator[str]:
        """Yield the meaning of the columns."""
        depth = words.count(self.pool_depth)
        yield f"own: judged documents among the first {depth} of a run that no other run has there · relevant: grade ≥ 1"
        yield "place: among all runs, then: without the judgments of its own documents"
