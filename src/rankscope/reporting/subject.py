"""What a report is about, as its sections take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankscope.metrics import Metric
from rankscope.panels.panel import Panel
from rankscope.scoring.measurements import panels_of

if TYPE_CHECKING:
    from rankscope.files.texts import Texts
    from rankscope.scoring.runs import RunEvaluation
    from rankscope.scoring.scores import Scores
    from rankscope.verbs.compare.result import Comparison


@dataclass(frozen=True, eq=False)
class Subject:
    """Scores of one run or several, the comparison of several, and the rankings behind them.

    ``scores`` is None where a table of scores was compared, ``comparison`` where there is one run; never both. ``qrels`` and
    ``runs`` (by name, as in ``scores.runs``) are what was read: tables or dicts; empty without rankings. ``queries_text`` and
    ``docs_text`` hold the texts that were given, by id, and ``texts`` tells where they came from. ``shown`` is
    how many documents of each ranking are to be shown, None where that is left to the room there is.
    """

    scores: Scores | None
    comparison: Comparison | None
    qrels: Any = None
    runs: Mapping[str, Any] = field(default_factory=dict)
    queries_text: Mapping[str, str] = field(default_factory=dict)
    docs_text: Mapping[str, str] = field(default_factory=dict)
    texts: tuple[Texts, ...] = ()
    shown: int | None = None

    @cached_property
    def fields(self) -> Sequence[Panel]:
        """Each metric over all systems and queries, the leading one first."""
        if self.comparison is not None:
            return self.comparison.fields
        assert self.scores is not None
        return panels_of(self.scores)

    @property
    def lead(self) -> Panel:
        """The metric that leads."""
        return self.fields[0]

    @property
    def metric(self) -> Metric | None:
        """The metric that leads, as one of the catalogue; None for scores that were given with a name of their own."""
        return self.lead.metric

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """All systems, the baseline first, else as they were given."""
        names = self.lead.systems
        if self.comparison is None:
            return names
        first = self.comparison.baseline
        return (first, *(name for name in names if name != first))

    @cached_property
    def rivals(self) -> tuple[tuple[str, str], ...]:
        """The pairs to look at, each as run and baseline, those first in which the run is furthest ahead."""
        if self.comparison is None:
            return ()
        lead = self.comparison.of(self.comparison.primary)
        return tuple((c.run, c.baseline) for c in sorted(lead, key=lambda c: -(c.measured.sign or 1) * c.difference))

    def evaluate_request(self, run: str) -> RunEvaluation:
        """The judged documents of a run; its name is one of ``scores.runs``. Raises KeyError for another."""
        assert self.scores is not None
        for scored, found in zip(self.scores.runs, self.scores.evaluations, strict=True):
            if scored.name == run:
                return found
        raise KeyError(run)
