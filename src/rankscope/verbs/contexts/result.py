"""The result of ``contexts``: measures of each system, and recall by tokens."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution, NumberText
from rankscope.inference.base import Bounds
from rankscope.panels.panel import Panel
from rankscope.scoring.runs import INTERVAL
from rankscope.show.result import Col, Result, View


@dataclass(frozen=True, eq=False)
class SystemValue:
    """A measure of a system: its mean over questions, with an interval. ``tokens`` is the budget, ``spent`` the mean number of tokens used."""

    system: str
    measure: str
    value: float
    bounds: Bounds
    questions: int
    tokens: int | None = None
    spent: float = math.nan
    per_token: float = math.nan


@dataclass(frozen=True)
class Unanswerable:
    """The mean contexts and tokens that a system retrieved for questions with neither evidence nor answers."""

    system: str
    questions: int
    contexts: float
    tokens: float


COLUMNS = (
    Col("system", head="system"), Col("measure", head="measure"), Col("value", head="value", kind="value"), INTERVAL,
    Col("questions", head="questions", kind="count"),
)  # fmt: skip
CURVE = (
    Col("system", head="system"), Col("tokens", head="tokens", kind="count"), Col("value", head="recall", kind="value"), INTERVAL,
    Col("spent", head="used", kind="value", cell=lambda row: NumberText(words.number(row.spent, digits=0), row.spent)),
    Col("per_token", kind="value", head="per 1,000 more", cell=lambda row: None if math.isnan(row.per_token) else row.per_token * 1000),
)  # fmt: skip
QUERIES = (
    Col("system", head="system"), Col("measure", head="measure"), Col("query_id", head="question"), Col("value", head="value", kind="value"),
)  # fmt: skip
NOTHING = (
    Col("system", head="system"), Col("questions", head="questions", kind="count"), Col("contexts", head="contexts", kind="value"),
    Col("tokens", head="tokens", kind="value"),
)  # fmt: skip


def _by_query(result: ContextScores) -> Iterator[dict[str, Any]]:
    for measure, panel in result.panels.items():
        for system, values in zip(panel.systems, panel.values, strict=True):
            for question, value in zip(panel.units, values.tolist(), strict=True):
                yield {"system": system, "measure": measure, "query_id": question, "value": value}


@dataclass(frozen=True, eq=False, repr=False)
class ContextScores(Result):
    """Measures of the contexts of each system (``panels``), recall by tokens (``curve``), and the contexts of unanswerable questions."""

    systems: Sequence[str]
    panels: Mapping[str, Panel]
    curve: Mapping[int, Panel]
    lengths: Mapping[int, Mapping[str, float]]
    nothing: Sequence[Unanswerable]
    conventions: Mapping[str, Any]
    notes: Sequence[str] = ()
    per_query: bool = False
    warnings: Sequence[Caution] = ()

    schema = "contexts/1"
    shown = ("", "by_tokens")
    views = (
        View("results", COLUMNS, lambda result: result.rows_of_systems, labels=2, note=lambda result: result.legend),
        View(
            "by_tokens", CURVE, lambda result: result.rows_of_budgets, title="Recall by tokens", labels=2,
            held=lambda result: bool(result.curve),
        ),
        View(
            "unanswerable", NOTHING, lambda result: result.nothing, title="Retrieved for nothing",
            held=lambda result: bool(result.nothing),
        ),
        View("per_query", QUERIES, _by_query, labels=3, most=20, option="per_query"),
    )  # fmt: skip

    @property
    def legend(self) -> str:
        """The rule of the match, and the count of tokens."""
        match, tokens = self.conventions["match"], self.conventions["tokens"]
        parts = [f"a passage is found if {match}"] * bool(match) + [f"tokens: {tokens}"] * bool(tokens)
        return " · ".join([*parts, "95% intervals over questions, Wilson's for shares of questions, else t"])

    @property
    def rows_of_systems(self) -> list[SystemValue]:
        """One row per system and measure."""
        return [self._row(panel, system) for system in self.systems for panel in self.panels.values()]

    @property
    def rows_of_budgets(self) -> list[SystemValue]:
        """One row per system and budget, with the recall that 1 more token added since the budget before."""
        out = []
        for system in self.systems:
            before = SystemValue(system, "", 0.0, Bounds.none(""), 0, 0, 0.0)
            for tokens, panel in self.curve.items():
                row, spent = self._row(panel, system), self.lengths[tokens][system]
                more = (row.value - before.value) / (spent - before.spent) if spent > before.spent else math.nan
                before = SystemValue(system, row.measure, row.value, row.bounds, row.questions, tokens, spent, more)
                out.append(before)
        return out

    def __getitem__(self, key: tuple[str, str] | str) -> float:
        """The mean of a measure: ``result["bm25", "EvidenceRecall"]``, or of the only system ``result["EvidenceRecall"]``."""
        system, measure = (self.systems[0], key) if isinstance(key, str) else key
        return self._row(self.panels[measure], system).value

    def _row(self, panel: Panel, system: str) -> SystemValue:
        known = int(np.count_nonzero(~np.isnan(panel.values[panel.systems.index(system)])))
        bounds = panel.interval(system) if known else Bounds.none("no question has a value")
        return SystemValue(system, panel.name, panel.means[system] if known else math.nan, bounds, known)

    def sentences(self) -> Iterator[str]:
        """The share of evidence found, and the contexts retrieved for nothing."""
        first = next(iter(self.panels.values()))
        for system in self.systems:
            row = self._row(first, system)
            yield f"{system}: {first.name} is {words.number(row.value, digits=3)} over {words.counted(row.questions, 'question')}."
        for one in self.nothing:
            tokens = "" if math.isnan(one.tokens) else f" ({words.number(one.tokens, digits=0)} tokens)"
            yield (
                f"{one.system}: {words.counted(one.questions, 'question has', 'questions have')} neither evidence nor an answer, and "
                f"{words.number(one.contexts, digits=1)} contexts are retrieved for each{tokens}."
            )
