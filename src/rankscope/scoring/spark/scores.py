"""The scores of runs that are Spark frames: a board made of sums, and per-query values that stay where they are."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rankscope.blocks import Chart
from rankscope.engines import spark
from rankscope.lists import Array
from rankscope.metrics import Metric
from rankscope.scoring.runs import RunScores
from rankscope.scoring.scores import Scores

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class ValueFrame:
    """The values of all queries as a Spark frame, one row per run and query: ``v0`` is of the first metric, and so on.

    ``weighted`` tells which metrics have a column of weights next to them, ``facts`` names what is no number.
    """

    frame: Any
    metrics: Sequence[Metric]
    weighted: Sequence[bool]
    facts: Sequence[str]

    def __post_init__(self) -> None:
        weakref.finalize(self, _let_go, self.frame).atexit = False

    def let_go(self) -> None:
        """Have Spark forget the values."""
        _let_go(self.frame)

    def long(self, names: Sequence[str]) -> Any:
        """run, query_id, metric, value (null: undefined): one row per query and metric."""
        F = spark.functions()
        run = F.element_at(F.array(*map(F.lit, names)), F.col("run") + 1).alias("run")
        pairs = [
            F.struct(
                F.lit(str(metric)).alias("metric"), F.nanvl(F.col(f"v{i}"), F.lit(None).cast("double")).alias("value")
            )
            for i, metric in enumerate(self.metrics)
        ]
        rows = self.frame.where("run is not null").select(run, "query_id", F.explode(F.array(*pairs)).alias("of"))
        return rows.select("run", "query_id", "of.metric", "of.value")

    @cached_property
    def here(self) -> pl.DataFrame:
        """All values, brought to the driver; queries in the order of their ids."""
        return spark.collect(self.frame.where("run is not null").drop("also")).sort("run", "query_id")

    def of_run(self, number: int) -> pl.DataFrame:
        """The values of a run, brought to the driver."""
        import polars as pl

        return self.here.filter(pl.col("run") == number)


def _let_go(frame: Any) -> None:
    with contextlib.suppress(Exception):  # the session may be gone
        frame.unpersist()


class FetchedIds(Sequence[str]):
    """Texts of queries, as their ids, that are fetched when they are first looked at; how many there are is known before."""

    def __init__(self, count: int, fetch: Callable[[], Sequence[str]]) -> None:
        self._count, self._fetch = count, fetch

    @cached_property
    def _ids(self) -> Sequence[str]:
        return self._fetch()

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: Any) -> Any:
        """The id at a place."""
        return self._ids[at]


class FetchedArrays(Mapping[Metric, Array]):
    """An array for each metric, fetched when it is first looked at."""

    def __init__(self, metrics: Sequence[Metric], fetch: Callable[[Metric], Array]) -> None:
        self._metrics, self._fetch = list(metrics), fetch

    def __getitem__(self, metric: Metric) -> Array:
        if metric not in self._metrics:
            raise KeyError(metric)
        return self._fetch(metric)

    def __iter__(self) -> Iterator[Metric]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


def fetched_run(name: str, number: int, tag: str | None, health: Any, count: int, values: ValueFrame) -> RunScores:
    """A run whose values are fetched when they are first looked at."""
    metrics = list(values.metrics)

    def column(letter: str, metric: Metric) -> Array:
        return values.of_run(number)[f"{letter}{metrics.index(metric)}"].fill_null(np.nan).to_numpy()

    def texts(column: str) -> list[str]:
        found: list[str] = values.of_run(number)[column].to_list()
        return found

    weighed = [metric for metric, weighs in zip(metrics, values.weighted, strict=True) if weighs]
    facts = {fact: FetchedIds(count, partial(texts, f"f{i}")) for i, fact in enumerate(values.facts)}
    return RunScores(
        name, FetchedIds(count, partial(texts, "query_id")),
        FetchedArrays(metrics, lambda metric: column("v", metric)), health, tag, facts,
        FetchedArrays(weighed, lambda metric: column("w", metric)),
        lambda: values.of_run(number)["first"].to_numpy().astype(np.int64),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class SparkScores(Scores):
    """What ``evaluate`` found in Spark frames: as ``Scores``, with the values of the queries left on the cluster.

    ``per_query`` is a Spark frame of run, query_id, metric and value, kept by Spark (``persist``) as long as this result lives. The board,
    its intervals, ``data_health`` and ``warnings`` are made of sums. What looks at single queries (``distribution``,
    ``to_polars("per_query")``, ``compare`` and ``gate``) brings queries x metrics numbers to the driver; ``collect()`` does so in the open.
    """

    values: ValueFrame | None = field(default=None)

    @property
    def per_query(self) -> Any:
        """run, query_id, metric, value (null: undefined): one row per query and metric, as a Spark frame."""
        assert self.values is not None
        return self.values.long([run.name for run in self.runs])

    def collect(self) -> Scores:
        """The same scores with the values of all queries here; what looks at single queries takes them without asking Spark again."""
        runs = [
            RunScores(
                run.name, list(run.query_ids), dict(run.values), run.health, run.tag,
                {name: list(fact) for name, fact in run.facts.items()}, dict(run.weights), run.ranks,
            )
            for run in self.runs
        ]  # fmt: skip
        return Scores(self.request, runs, self.board, self.warnings, self.inputs, self.notes)

    def to_polars(self, table: str = "") -> pl.DataFrame:
        """A table as a Polars frame; ``per_query`` is brought to the driver."""
        return self.collect().per_query if table == "per_query" else super().to_polars(table)

    def reader_notes(self) -> list[str]:
        """Return the notes of each input."""
        return list(self.notes)

    def charts(self) -> Iterator[Chart]:
        """None: charts show single queries, so ask ``collect()`` for them."""
        yield from ()
