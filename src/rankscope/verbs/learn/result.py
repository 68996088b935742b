"""The result of ``learn``: models on test queries, and the importance of features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankscope import words
from rankscope.blocks import Caution, Chart, Column
from rankscope.panels.contrast_result import ContrastResult, columns_named
from rankscope.panels.families import Family
from rankscope.rankers.learners import RankingModel
from rankscope.scoring.request import Request
from rankscope.scoring.results import OfRequest
from rankscope.show.result import Col, View

MOST = 10  # features shown


@dataclass(frozen=True)
class Importance:
    """The share of a feature in the importance of all features of a model."""

    model: str
    feature: int
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class Learning(OfRequest, ContrastResult):
    """Trained ``models`` by name, compared on test queries with the best single feature, the ``baseline``.

    ``learning["Linear", "nDCG@10"]`` is a contrast. ``runs`` has the rankings of the test queries, ``queries`` the numbers of training and test
    queries (or clicks).
    """

    families: Sequence[Family]
    models: Mapping[str, RankingModel]
    runs: Mapping[str, Any]
    baseline: str
    request: Request
    queries: tuple[int, int]
    of_clicks: bool = False
    weighted: bool = False
    notes: Sequence[str] = ()
    warnings: Sequence[Caution] = ()

    # fmt: off
    schema = "learn/1"
    header = ("verdict", "conventions", "baseline", "trees")
    shown = ("", "importance")
    views = (
        View(
            "results",
            columns_named("run", "baseline", "metric", "baseline_value", "value", "difference", "ci", "ci_adjusted", "p_value", "p_value_adjusted", "test", "queries", "verdict",
                          run="model", baseline_value="best feature"),
            lambda learning: learning.contrasts,
            labels=2,
        ),
        View(
            "importance",
            (Col("model", head="model"), Col("feature", head="feature", kind="count"), Col("share", head="share", kind="value", cell=lambda row: words.share(row.share, 1))),
            lambda learning: learning.importance,
            title="Importance of features",
            most=MOST,
            labels=2,
        ),
    )
    # fmt: on

    @property
    def trees(self) -> dict[str, int | None]:
        """The number of trees of each model, as JSON has it."""
        return {name: model.rounds for name, model in self.models.items()}

    @property
    def importance(self) -> list[Importance]:
        """The most important features of each model, the first with the largest share."""
        out = []
        for name, model in self.models.items():
            shares = model.importance / max(float(model.importance.sum()), 1e-300)
            for feature in sorted(range(len(shares)), key=lambda i: -shares[i])[:MOST]:
                out += [Importance(name, feature, float(shares[feature]))] if shares[feature] > 0 else []
        return out

    def sentences(self) -> Iterator[str]:
        """Each model against the best single feature on the first metric, then the others."""
        for c in self.contrasts:
            yield c.sentence()

    def small_print(self) -> Iterator[str]:
        """Yield how models were trained."""
        learned, held = self.queries
        noun = "click" if self.of_clicks else "query"
        weighted = ", weighted by the examination curve" if self.weighted else ""
        yield f"learned from {words.counted(learned, noun)}{weighted}"
        yield f"test: {words.counted(held, 'query')}"
        yield from (
            f"{name}: {words.counted(trees, 'tree')}" for name, trees in self.trees.items() if trees is not None
        )
        yield self.request.small_print()

    def charts(self) -> Iterator[Chart]:
        """Yield the importance of features of the first model."""
        first = next(iter(self.models))
        rows = tuple((f"feature {one.feature}", one.share) for one in self.importance if one.model == first)
        if rows:
            yield Chart("importance", f"Importance of features in {first}", "bars",
                        (Column("feature"), Column("share", "value")), rows, x="feature", y="share")  # fmt: skip
