"""The result of ``rerank``: quality and latency at each depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rankscope import words
from rankscope.blocks import Caution, Chart, Column, ValueRange
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.contrast_result import columns_named
from rankscope.panels.families import Family
from rankscope.panels.panel import Panel
from rankscope.scoring.request import Request
from rankscope.scoring.results import OfRequest
from rankscope.show.result import Col, View
from rankscope.tables import Run


@dataclass(frozen=True)
class DepthRow:
    """A depth: its mean latency per query in milliseconds with its interval, and a contrast with the run before, if there are judgments."""

    depth: int
    latency: ValueRange
    contrast: Contrast | None


def _columns(result: Reranking) -> tuple[Col, ...]:
    names = ("metric", "value", "difference", "ci", "p_value", "p_value_adjusted", "verdict")
    quality = columns_named(*names, at="contrast") if result.family else ()
    return (
        Col("depth", head="depth", kind="count"),
        *quality,
        Col("latency_ms", "latency_ci_lower", "latency_ci_upper", of=lambda r: (r.latency.value, r.latency.lower, r.latency.upper),
            head="ms per query", kind="value", cell=lambda r: r.latency),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Reranking(OfRequest):
    """A re-ranked ``run``, and quality and latency at each depth.

    ``family`` compares each depth with the run before; None without judgments. ``latency`` has the milliseconds of each query.
    """

    family: Family | None
    latency: Panel
    depths: Sequence[int]
    run: Run
    request: Request | None
    baseline: str
    notes: Sequence[str] = ()
    warnings: Sequence[Caution] = ()

    schema = "rerank/1"
    header = ("verdict", "conventions", "baseline")
    views = (View("results", _columns, lambda reranking: reranking.by_depth),)

    @cached_property
    def contrasts(self) -> Sequence[Contrast]:
        """Each depth against the run before, on each metric."""
        return [] if self.family is None else self.family.contrasts

    @cached_property
    def by_depth(self) -> list[DepthRow]:
        """One row per depth and metric."""
        out = []
        for depth, system in zip(self.depths, self.latency.systems, strict=True):
            bounds = self.latency.interval(system)
            took = ValueRange(self.latency.means[system], bounds.lower, bounds.upper)
            mine: list[Contrast | None] = [c for c in self.contrasts if c.run == system]
            out += [DepthRow(depth, took, c) for c in mine or [None]]
        return out

    def __getitem__(self, key: tuple[int, Any]) -> Contrast:
        depth, metric = key
        for row in self.by_depth:
            if row.depth == depth and row.contrast is not None and row.contrast.metric == str(metric):
                return row.contrast
        raise KeyError(f"{metric} at depth {depth} was not measured: there are depths {words.listing(self.depths)}")

    def sentences(self) -> Iterator[str]:
        """The verdict at each depth on the first metric, and the cost of the deepest."""
        if self.family is not None:
            first = self.family.of(self.family.primary.name)
            for c in first:
                yield c.sentence()
            sign = self.family.primary.sign
            best = max(first, key=lambda c: sign * c.difference)
            if best.verdict in CLEAR and len(first) > 1:
                yield f"The highest mean is at {best.run}."
        last = self.by_depth[-1]
        yield f"Depth {last.depth} takes {words.number(last.latency.value, digits=1)} ms per query."

    def small_print(self) -> Iterator[str]:
        """Yield how latency and quality were measured."""
        yield "latency: one call of the scorer per query, on this machine, without reading texts"
        if self.request is not None:
            yield self.request.small_print()

    def charts(self) -> Iterator[Chart]:
        """Yield the mean of the first metric by latency, one point per depth, with intervals."""
        if self.family is None:
            return
        panel, rows = self.family.primary, []
        for depth, system in zip(self.depths, self.latency.systems, strict=True):
            quality = panel.interval(system, self.family.method.level).around(panel.means[system])
            rows.append((self.latency.means[system], quality, words.count(depth)))
        yield Chart(
            "depth", f"{panel.name} by latency", "lines", (Column("ms per query", "value"), Column(panel.name, "value"), Column("depth")),
            tuple(rows), x="ms per query", y=panel.name, label="depth",
            caption=f"One point per depth ({words.listing(self.depths)}), with the interval of its mean.",
        )  # fmt: skip
