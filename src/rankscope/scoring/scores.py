"""The result of ``evaluate``: means, the values of every query, the conventions and the state of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankscope.blocks import Caution
from rankscope.errors import InputError
from rankscope.inference.base import Bounds
from rankscope.lists import Array
from rankscope.metrics import Metric, parse, parse_many
from rankscope.scoring.health import Health
from rankscope.show.notebook import InNotebook
from rankscope.show.result import null

if TYPE_CHECKING:
    import polars as pl

    from rankscope.reporting.report import Report
    from rankscope.scoring.evaluation import RunEvaluation


@dataclass(frozen=True)
class Mean:
    """One number of a scoreboard: the value of a metric over the queries of a run.

    ``queries`` is how many queries the value is made of; ``undefined`` how many were left out because
    the metric has no value for them. ``asked`` is the metric as it was asked for. ``error`` is the
    standard error that comes from sampling the orders of tied documents, None where nothing was sampled.
    ``drawn`` counts the queries whose orders were too many to be tried, so that best and worst are the extremes of some.
    ``bounds`` is the interval of the value over queries, made by ``ends`` when it is first looked at.
    """

    run: str
    metric: Metric
    asked: str
    value: float
    queries: int
    undefined: int = 0
    error: float | None = None
    drawn: int = 0
    ends: Callable[[], Bounds] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def bounds(self) -> Bounds:
        """The interval of the value; without one its ends are NaN, and there is a reason."""
        return Bounds.none("not asked for") if self.ends is None else self.ends()


@dataclass(frozen=True, eq=False)
class RunScores:
    """A run's values: ``values[metric]`` holds one number a query, NaN where undefined or not averaged.

    ``errors[metric]`` holds standard errors, for metrics whose tied documents were sampled; ``weights[metric]`` what each
    query weighs in the mean, where that is not the same for all; ``facts`` what is no number, like trec_eval's relstring,
    a string a query. ``first_relevant`` is the rank of each query's first document of grade 1 or more, 0 where there is none.
    """

    name: str
    query_ids: Sequence[str]
    values: Mapping[Metric, Array]
    health: Health
    tag: str | None = None
    errors: Mapping[Metric, Array] = field(default_factory=dict)
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    weights: Mapping[Metric, Array] = field(default_factory=dict)
    first_relevant: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Scores(InNotebook):
    """What ``evaluate`` found.

    ``scores["bm25", "nDCG@10"]`` is a number; with one run ``scores["nDCG@10"]`` is enough, and ``bounds_of`` takes the same
    to tell its interval. ``means``, ``per_query``, ``distribution`` and ``first_relevant`` are Polars frames. ``conventions`` states what was assumed, ``data_health`` what
    is odd about the data, ``warnings`` what that does to the numbers. ``found`` holds the judged documents of each run, for
    verbs that look below the values; ``given`` is what was passed as qrels and as runs, each with its name, for those that look for
    documents.
    """

    shown_by: ClassVar[str] = "rankscope.scoring.scoreboard"

    runs: Sequence[RunScores]
    board: Sequence[Mean]
    conventions: Mapping[str, Any]
    warnings: Sequence[Caution]
    inputs: Sequence[Any] = field(default_factory=list)
    notes: Sequence[str] = field(default_factory=list)
    found: Sequence[RunEvaluation] = ()
    given: tuple[Any, Sequence[tuple[str | None, Any]]] | None = None

    def __getitem__(self, key: Any) -> float:
        return self.mean_of(key).value

    def bounds_of(self, key: Any) -> Bounds:
        """The interval of a number, which is named as in ``scores[key]``.

        >>> import rankscope as rs
        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
        >>> run = {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"b": 2.0, "c": 1.0, "a": 0.5}}
        >>> ends = rs.evaluate(qrels, run, "RR").bounds_of("RR")
        >>> ends.method, ends.lower, ends.upper  # 0.61 ± 4.303 · 0.200, within 0 and 1
        ('t', 0.0, 1.0)
        """
        return self.mean_of(key).bounds

    def mean_of(self, key: Any) -> Mean:
        """The entry of the board that is named as in ``scores[key]``. Raises KeyError where there is none."""
        run, metric = key if isinstance(key, tuple) else (None, key)
        names = [scored.name for scored in self.runs]
        if run is None:
            if len(names) > 1:
                raise KeyError(
                    f"there are {len(names)} runs, say which: scores[{names[0]!r}, {str(metric)!r}]"
                )
            run = names[0]
        if run not in names:
            raise KeyError(f"no run is called {run!r}: there are {', '.join(names)}")
        for mean in self.board:
            if mean.run == run and metric in (mean.asked, str(mean.metric)):
                return mean
        try:
            wanted = parse(metric)
        except InputError as error:
            raise KeyError(str(error)) from None
        for mean in self.board:
            if mean.run == run and wanted in (mean.metric, *(m for _, m in parse_many(mean.asked))):
                return mean
        raise KeyError(f"{wanted} was not evaluated: there are {', '.join(str(m) for m in self.metrics)}")

    @cached_property
    def metrics(self) -> list[Metric]:
        """The metrics, in the order asked."""
        return list(dict.fromkeys(mean.metric for mean in self.board))

    @property
    def data_health(self) -> dict[str, dict[str, Any]]:
        """What each run's data look like, as plain values."""
        return {scored.name: scored.health.as_dict() for scored in self.runs}

    @cached_property
    def means(self) -> pl.DataFrame:
        """run, metric, value (null: undefined), queries, and the ends of the interval (null: none): one row a number."""
        import polars as pl

        rows = [
            (
                m.run,
                str(m.metric),
                null(m.value),
                m.queries,
                null(m.bounds.lower),
                null(m.bounds.upper),
            )
            for m in self.board
        ]
        schema = {"run": pl.String, "metric": pl.String, "value": pl.Float64, "queries": pl.Int64}
        ends = {"ci_lower": pl.Float64, "ci_upper": pl.Float64}
        return pl.DataFrame(rows, schema={**schema, **ends}, orient="row")

    @cached_property
    def distribution(self) -> pl.DataFrame:
        """run, metric, queries, min, q05, q25, median, q75, q95, max, zeros: how the queries' values are spread.

        Quantiles lie between the two values around them, as numpy's; ``zeros`` counts values of exactly 0.
        """
        import polars as pl

        from rankscope.scoring.distribution import QUANTILES, distribution

        schema = {"run": pl.String, "metric": pl.String, "queries": pl.Int64}
        quantiles = dict.fromkeys(QUANTILES, pl.Float64)
        return pl.DataFrame(list(distribution(self)), schema={**schema, **quantiles, "zeros": pl.Int64})

    @cached_property
    def first_relevant(self) -> pl.DataFrame:
        """run, rank (1 to 10, 11-100, 101+, none), queries: where rankings show their first document of grade 1 or more."""
        import polars as pl

        from rankscope.scoring.distribution import first_relevant

        schema = {"run": pl.String, "rank": pl.String, "queries": pl.Int64}
        return pl.DataFrame(list(first_relevant(self)), schema=schema)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """run, query_id, metric, value (null: undefined): one row a query and metric."""
        import polars as pl

        parts = []
        for scored in self.runs:
            queries, metrics = len(scored.query_ids), len(scored.values)
            matrix = np.stack(list(scored.values.values()), axis=1) if metrics else np.empty((queries, 0))
            parts.append(
                pl.DataFrame(
                    {
                        "query_id": pl.Series(scored.query_ids, dtype=pl.String).gather(
                            np.repeat(np.arange(queries), metrics)
                        ),
                        "metric": pl.Series([str(m) for m in scored.values]).gather(
                            np.tile(np.arange(metrics), queries)
                        ),
                        "value": pl.Series(matrix.ravel(), nan_to_null=True),
                    }
                ).select(pl.lit(scored.name).alias("run"), "query_id", "metric", "value")
            )
        return pl.concat(parts)

    def report(self, **options: Any) -> Report:
        """One page of these scores; ``queries_text``, ``docs_text``, ``title`` and ``shown`` as for ``rs.report``."""
        from rankscope.reporting.report import report_of

        return report_of(self, **options)

    def __repr__(self) -> str:
        lines = [
            f"{m.run}  {m.metric} = {m.value:.4f}  ({m.queries:,} {'query' if m.queries == 1 else 'queries'})"
            for m in self.board
        ]
        return "\n".join(lines)
