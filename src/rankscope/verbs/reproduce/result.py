"""The result of ``reproduce``: how alike rankings, values and effects of two runs are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from rankscope import words
from rankscope.blocks import Heading, Paragraph
from rankscope.metrics import Metric, spelled
from rankscope.panels.contrast import Contrast
from rankscope.panels.contrast_result import difference_cell, p_cell
from rankscope.scoring.request import Request
from rankscope.scoring.results import OfScores
from rankscope.scoring.scores import Scores
from rankscope.show.result import Col, Shown, View


@dataclass(frozen=True)
class OrderOfQuery:
    """The likeness of the two rankings of a query.

    ``tau`` is Kendall's tau of the union as repro_eval computes it: documents are numbered by id, and the numbers at each rank are
    correlated. ``tau_shared`` correlates the ranks of the documents ``shared`` by both. ``rbo`` is rank-biased overlap down to a depth,
    and below 1 even of the ``same`` rankings if these end above it.
    """

    query_id: str
    tau: float
    tau_shared: float
    shared: int
    rbo: float
    same: bool = False


@dataclass(frozen=True)
class MetricEffect:
    """A metric of the original and of mine: the ``contrast``, errors (``nrmse`` relative to the largest possible), and improvements over baselines with their means."""

    metric: Metric | None
    contrast: Contrast
    rmse: float
    nrmse: float
    improvements: Sequence[tuple[float, float]] = ()

    @property
    def ratio(self) -> float:
        """The mean improvement of mine divided by the improvement of the original. NaN without one."""
        (original, _), (mine, _) = self.improvements or ((0.0, 0.0), (0.0, 0.0))
        return mine / original if original else math.nan

    @property
    def relative(self) -> float:
        """The relative improvement of the original less mine. NaN if a baseline is at 0."""
        if not self.improvements or not all(base for _, base in self.improvements):
            return math.nan
        (original, first), (mine, second) = self.improvements
        return original / first - mine / second


def _number(name: str, head: str, hint: str = "") -> Col:
    return Col(name, of=attrgetter(name), head=head, kind="value", hint=hint)


def _columns(reproduction: Reproduction) -> tuple[Col, ...]:
    effects = (
        Col("effect_ratio", of=attrgetter("ratio"), head="effect ratio", kind="value"),
        Col("delta_relative_improvement", of=attrgetter("relative"), head="ΔRI", kind="value",
            cell=lambda e: words.cell(e.relative, sign=True)),
    )  # fmt: skip
    return (
        Col("metric", of=lambda e: e.contrast.metric, head="metric"),
        Col("original", of=lambda e: e.contrast.baseline_value, head="original", kind="value"),
        Col("mine", of=lambda e: e.contrast.value, head="mine", kind="value"),
        Col("difference", of=lambda e: e.contrast.difference, head="difference", kind="value", cell=lambda e: difference_cell(e.contrast)),
        _number("rmse", "RMSE"), Col("nrmse", kind="value"),
        Col("p_value", of=lambda e: e.contrast.p_value, head="p", kind="value", cell=lambda e: p_cell(e.contrast.p_value)),
        Col("queries", of=lambda e: e.contrast.queries, kind="count"),
        *(effects if reproduction.has_effects else ()),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(OfScores):
    """A comparison of a run with the original: ``by_query`` compares rankings, ``effects`` metrics.

    ``reproduction["nDCG@10"]`` is the effect of a metric. ``tau``, ``tau_shared`` and ``rbo`` are means over queries.
    """

    names: tuple[str, str]
    by_query: Sequence[OrderOfQuery]
    effects: Sequence[MetricEffect]
    p: float
    depth: int
    request: Request
    scores: Scores | None = None
    alone: tuple[int, int] = (0, 0)  # queries that only the original ranks, and only mine

    schema = "reproduce/1"
    header = ("conventions", "orders")
    views = (
        View("results", _columns, lambda reproduction: reproduction.effects),
        View(
            "per_query",
            (
                Col("query_id", head="query", queries=True), _number("tau", "tau (union)"),
                Col("tau_shared", head="tau (shared)", kind="value"), Col("shared", head="shared", kind="count"), _number("rbo", "RBO"),
            ),
            lambda reproduction: reproduction.by_query,
            option="per_query",
        ),
    )  # fmt: skip

    def __getitem__(self, metric: Any) -> MetricEffect:
        for effect in self.effects:
            if effect.contrast.metric in {str(metric), spelled(metric)}:
                return effect
        raise KeyError(f"{metric} was not computed: there are {', '.join(e.contrast.metric for e in self.effects)}")

    @property
    def has_effects(self) -> bool:
        """True if baselines were given."""
        return any(effect.improvements for effect in self.effects)

    @cached_property
    def tau(self) -> float:
        """The mean of Kendall's tau of the union, over queries that have one."""
        return _mean(one.tau for one in self.by_query)

    @cached_property
    def tau_shared(self) -> float:
        """The mean of Kendall's tau of the documents in both rankings, over queries that have one."""
        return _mean(one.tau_shared for one in self.by_query)

    @cached_property
    def rbo(self) -> float:
        """The mean rank-biased overlap."""
        return _mean(one.rbo for one in self.by_query)

    @property
    def orders(self) -> dict[str, Any]:
        """The means over queries, as JSON has them."""
        means = {
            "tau": words.finite(self.tau),
            "tau_shared": words.finite(self.tau_shared),
            "rbo": words.finite(self.rbo),
        }
        lost = dict(zip(("queries_original_alone", "queries_mine_alone"), self.alone, strict=True))
        return {**means, "queries": len(self.by_query), **lost, "p": self.p, "depth": self.depth}

    def sentences(self) -> Iterator[str]:
        """The closeness of rankings, then of each metric."""
        original, mine = self.names
        same = sum(one.same for one in self.by_query)
        yield (
            f"{mine} ranks as {original} does on {words.count(same)} of {words.counted(len(self.by_query), 'query')}. "
            f"Rank-biased overlap is {words.number(self.rbo, digits=3)}, Kendall's tau {words.number(self.tau, digits=3)} "
            f"(union of documents) and {words.number(self.tau_shared, digits=3)} (documents of both)."
        )
        lost = [
            f"{words.counted(n, 'query')} by {name} alone" for n, name in zip(self.alone, self.names, strict=True) if n
        ]
        if lost:
            yield f"Left out of this, as ranked by one run: {' and '.join(lost)}."
        for effect in self.effects[:1]:
            c = effect.contrast
            p = "" if math.isnan(c.p_value) else f" ({words.p_value(c.p_value)}, paired t test)"
            yield (
                f"{c.metric}: {words.number(c.baseline_value, digits=4)} originally, {words.number(c.value, digits=4)} here{p}. "
                f"A query is off by {words.number(effect.rmse, digits=3)} (root mean square)."
            )
            if effect.improvements:
                yield self._about_effect(effect)

    def _about_effect(self, effect: MetricEffect) -> str:
        if math.isnan(effect.ratio):
            return f"{effect.contrast.metric}: the original equals its baseline on average, so the effect ratio is undefined."
        ratio = words.number(effect.ratio, digits=2)
        meaning = "in the other direction" if effect.ratio <= 0 else "weaker" if effect.ratio < 1 else "stronger"
        meaning = "the effect is reproduced" if 0.9 <= effect.ratio <= 1.1 else meaning
        return f"{effect.contrast.metric}: effect ratio {ratio}: {meaning}."

    def body(self, per_query: bool = False, **_: Any) -> Iterator[Sequence[Shown]]:
        """Yield the table of metrics, and the most different rankings or every query."""
        if self.effects:
            yield [self.table()]
        if per_query:
            yield [self.table("per_query")]
            return
        worst = sorted((one for one in self.by_query if not one.same), key=lambda one: one.rbo)[:10]
        if worst:
            rows = self.view("per_query")
            table = View(rows.name, rows.columns, lambda _: worst).table(self)
            yield [Heading("queries with the most different rankings"), table]
        if not self.effects:
            yield [
                Paragraph(
                    "With judgments there are errors of metrics: rankscope reproduce QRELS ORIGINAL MINE", quiet=True
                )
            ]

    def _csv(self, table: str) -> Iterator[str]:
        return super()._csv(table or ("" if self.effects else "per_query"))

    def _jsonl(self, table: str) -> Iterator[str]:
        return super()._jsonl(table or ("" if self.effects else "per_query"))

    def small_print(self) -> Iterator[str]:
        """Yield the parameters."""
        yield f"RBO: p={words.amount(self.p)}, to rank {words.count(self.depth)}, as repro_eval has it: below the end of a ranking nothing agrees"
        if self.effects:
            yield "RMSE: of the values of queries"
        if self.has_effects:
            yield "effect ratio: improvement over the baseline, mine / original (1 is perfect)"
            yield "ΔRI: relative improvement, original − mine (0 is perfect)"
        if self.scores is not None:
            yield self.scores.request.small_print()


def _mean(values: Iterator[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
