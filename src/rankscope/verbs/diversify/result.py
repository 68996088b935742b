"""The result of ``diversify``: the run, its metrics before and after, and the trade-off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rankscope import words
from rankscope.blocks import Caution, Chart, Column, Value
from rankscope.panels.contrast_result import ContrastResult, columns_named
from rankscope.panels.families import Family
from rankscope.rankers.diversifiers import Diversifier
from rankscope.scoring.request import Request
from rankscope.scoring.results import OfRequest
from rankscope.show.result import Col, View
from rankscope.tables import Run


@dataclass(frozen=True)
class Level:
    """A level of diversity, and the mean of each metric there."""

    diversity: float
    means: Mapping[str, float]


def _levels(diversification: Diversification) -> tuple[Col, ...]:
    def column(metric: str) -> Col:
        return Col(metric, of=lambda level: level.means[metric], head=metric, kind="value")

    level = Col("diversity", head="diversity", cell=lambda level: words.amount(level.diversity))
    return level, *map(column, diversification.scored)


@dataclass(frozen=True, eq=False, repr=False)
class Diversification(OfRequest, ContrastResult):
    """A diversified ``run``, compared with the run before.

    ``found["alpha_nDCG@10"]`` is the contrast of a metric. ``levels`` have the means at other levels of diversity; empty without judgments.
    """

    families: Sequence[Family]
    run: Run
    diversifier: Diversifier
    levels: Sequence[Level]
    request: Request | None
    notes: Sequence[str] = ()
    warnings: Sequence[Caution] = ()

    schema = "diversify/1"
    header = ("verdict", "conventions", "diversifier_in_words")
    shown = ("", "levels")
    views = (
        View(
            "results",
            columns_named("metric", "run", "baseline", "baseline_value", "value", "difference", "ci", "p_value", "p_value_adjusted", "test",
                          "queries", "verdict", run="", baseline_value="before", value="after"),
            lambda diversification: diversification.contrasts,
        ),
        View("levels", _levels, lambda diversification: diversification.levels, title="Levels of diversity", held=lambda diversification: diversification.levels),
    )  # fmt: skip

    @property
    def scored(self) -> list[str]:
        """The metrics of judgments."""
        return list(self.levels[0].means) if self.levels else []

    @property
    def diversifier_in_words(self) -> str:
        """The spelling of the diversifier, as JSON has it."""
        return str(self.diversifier)

    def sentences(self) -> Iterator[str]:
        """Each metric, before and after."""
        first, *others = self.contrasts
        yield first.sentence()
        for c in others:
            yield c.short_sentence()

    def small_print(self) -> Iterator[str]:
        """Yield the method and how metrics were computed."""
        yield str(self.diversifier)
        yield f"distance: mean of 1 - cosine of the pairs among the first documents ({words.counted(self.contrasts[-1].queries, 'query')})"
        if self.request is not None:
            yield self.request.small_print()

    def charts(self) -> Iterator[Chart]:
        """Yield the first metric against the last, one point per level of diversity."""
        if len(self.scored) < 2:
            return
        y, x = self.scored[0], self.scored[-1]
        rows: list[tuple[Value, ...]]
        rows = [(words.amount(one.diversity), one.means[x], one.means[y], 1) for one in self.levels]
        yield Chart(
            "trade_off", f"{y} against {x} by diversity", "points",
            (Column("diversity"), Column(x, "value"), Column(y, "value"), Column("level", "count")), tuple(rows),
            x=x, y=y, label="diversity", path="level", caption="Each point is a level of diversity. The line joins them in order.",
        )  # fmt: skip
