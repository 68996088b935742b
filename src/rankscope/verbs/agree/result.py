"""The result of ``agree``: the agreement of the rankings of each two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.inference.base import Bounds
from rankscope.panels.panel import Panel
from rankscope.scoring.runs import INTERVAL
from rankscope.show.result import Col, Result, View

LEGEND = " · ".join((
    "1: the same ranking (with equal scores RBO is 1 only under ties='w')",
    "mean over the queries of both runs, with its 95% interval (Wilson's for values of 0 and 1, t for others)",
    "correlations are of the documents that both rankings have",
))  # fmt: skip


@dataclass(frozen=True, eq=False)
class RunAgreement:
    """The agreement of two runs on one measure: the mean over queries, its interval, and the lowest query."""

    run: str
    other: str
    measure: str
    value: float
    bounds: Bounds
    queries: int
    undefined: int
    lowest: tuple[str, float]


def _by_query(result: RankAgreement) -> Iterator[dict[str, Any]]:
    for measure, panel in result.panels.items():
        for (run, other), values in zip(result.pairs, panel.values, strict=True):
            for query, value in zip(panel.units, values.tolist(), strict=True):
                yield {"run": run, "other": other, "measure": measure, "query_id": query, "value": value}


COLUMNS = (
    Col("run", head="run"), Col("other", head="and"), Col("measure", head="measure"),
    Col("value", head="agreement", kind="value"), INTERVAL, Col("queries", head="queries", kind="count"),
    Col("undefined", kind="count"), Col("lowest_query", of=lambda row: row.lowest[0]),
    Col("lowest", of=lambda row: row.lowest[1], kind="value"),
)  # fmt: skip
QUERY_COLUMNS = (
    Col("run", head="run"), Col("other", head="and"), Col("measure", head="measure"), Col("query_id", head="query"),
    Col("value", head="agreement", kind="value"),
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class RankAgreement(Result):
    """The agreement of each two runs: one row per pair and measure. ``panels`` have the values of queries."""

    pairs: Sequence[tuple[str, str]]
    panels: Mapping[str, Panel]
    only_in_one: Mapping[tuple[str, str], int]
    conventions: Mapping[str, Any]
    notes: Sequence[str] = ()
    per_query: bool = False
    warnings: Sequence[Caution] = ()

    schema = "agree/1"
    views = (
        View("results", COLUMNS, lambda result: result.rows_of_pairs, note=LEGEND, labels=3),
        View("per_query", QUERY_COLUMNS, _by_query, labels=4, most=20, option="per_query"),
    )

    @property
    def rows_of_pairs(self) -> list[RunAgreement]:
        """One row per pair and measure, pairs together."""
        return [self._row(pair, name) for pair in self.pairs for name in self.panels]

    def __getitem__(self, key: tuple[str, str, str]) -> RunAgreement:
        """The agreement of two runs on a measure: ``result["bm25", "dense", "RBO(p=0.9)"]``."""
        return self._row((key[0], key[1]), key[2])

    def _row(self, pair: tuple[str, str], measure: str) -> RunAgreement:
        panel = self.panels[measure]
        at = self.pairs.index(pair)
        values = panel.values[at]
        known = np.flatnonzero(~np.isnan(values))
        lowest = int(known[np.argmin(values[known])]) if len(known) else -1
        least = (panel.units[lowest], float(values[lowest])) if len(known) else ("", float("nan"))
        system = panel.systems[at]
        bounds = panel.interval(system) if len(known) else Bounds.none("no query has a value")
        mean = panel.means[system] if len(known) else float("nan")
        return RunAgreement(
            *pair, measure, mean, bounds, len(known), len(values) - len(known) - self.only_in_one[pair], least
        )

    def sentences(self) -> Iterator[str]:
        """Which runs agree most, and which least, by the first measure."""
        first = next(iter(self.panels))
        rows = [self._row(pair, first) for pair in self.pairs]
        near, far = max(rows, key=lambda row: row.value), min(rows, key=lambda row: row.value)
        yield f"{near.run} and {near.other} agree by {words.number(near.value, digits=3)} ({first})."
        if len(rows) > 1:
            yield f"{far.run} and {far.other} agree least: {words.number(far.value, digits=3)}."
        for pair, count in self.only_in_one.items():
            if count:
                yield f"{pair[0]} and {pair[1]}: {words.counted(count, 'query is', 'queries are')} in one of the two only, and left out."
