"""One run: its judged lists, its value for every query, and its means over all queries and over slices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope import words
from rankscope.blocks import Column, Table, Value
from rankscope.engines.values import Values
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.scoring.health import Health
from rankscope.show.result import Col

if TYPE_CHECKING:
    from rankscope.inference.base import Bounds


@dataclass(frozen=True, eq=False)
class RunEvaluation:
    """One run with the judged documents and values of all queries ``query_id`` by metric. ``inside`` marks the queries that are averaged."""

    labels: tuple[str, str, str]
    query_id: Sequence[str]
    judged: Sequence[Judged]
    values: Sequence[Values]
    missing: frozenset[str]
    health: Health
    source: Any
    inside: Sequence[Array] = ()


@dataclass(frozen=True, eq=False)
class RunScores:
    """A run's values: ``values[metric]`` holds one number a query, NaN if undefined or not averaged.

    ``facts`` are no numbers, like trec_eval's relstring, a string a query; ``weights[metric]`` is what each query weighs in the
    mean, if that is not the same for all. ``ranks`` finds what ``first_relevant`` tells, when it is first looked at.
    """

    name: str
    query_ids: Sequence[str]
    values: Mapping[Metric, Array]
    health: Health
    tag: str | None = None
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    weights: Mapping[Metric, Array] = field(default_factory=dict)
    ranks: Callable[[], Array] | None = field(default=None, repr=False)

    @property
    def first_relevant(self) -> Array:
        """The rank of each query's first document of grade 1 or more, 0 if there is none."""
        return np.zeros(0, dtype=np.int64) if self.ranks is None else self.ranks()


@dataclass(frozen=True)
class Mean:
    """One number of a scoreboard: the value of a metric over the queries of a run.

    ``queries`` is how many queries the value is made of; ``undefined`` how many were left out because
    the metric has no value for them. ``spelling`` is the metric as it was asked for. ``error`` is the
    standard error that comes from sampling the orders of tied documents, None if nothing was sampled.
    ``sampled_queries`` counts the queries whose orders were too many to be tried, so that best and worst are the extremes of some.
    ``bounds`` is the interval of the value over queries, made by ``interval`` when it is first looked at.
    """

    run: str
    metric: Metric
    spelling: str
    value: float
    queries: int
    undefined: int = 0
    error: float | None = None
    sampled_queries: int = 0
    interval: Callable[[], Bounds] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def bounds(self) -> Bounds:
        """The interval of the value. Without one the ends are NaN, and a reason is given."""
        if self.interval is not None:
            return self.interval()
        from rankscope.inference.base import Bounds

        return Bounds.none("not asked for")


@dataclass(frozen=True)
class SliceMean:
    """The value of a metric over the queries of a run in one slice: the queries whose ``attribute`` is ``name``."""

    attribute: str
    name: str
    mean: Mean


def _interval_cell(row: Any) -> Any:
    text = words.in_table(words.interval(*row.bounds.ends))
    return row.bounds.around(row.value, text) if row.bounds.known else None


INTERVAL = Col(
    "ci_lower", "ci_upper", of=lambda row: row.bounds.ends, kind="value", head="interval", cell=_interval_cell
)


SLICES = (
    Col("attribute", head="attribute"),
    Col("slice", of=lambda part: part.name, head="slice"),
    Col("run", of=lambda part: part.mean.run, head="run"),
    Col("metric", of=lambda part: str(part.mean.metric), head="metric"),
    Col("value", of=lambda part: part.mean.value, head="value", kind="value"),
    Col("queries", of=lambda part: part.mean.queries, head="queries", kind="count"),
    Col("undefined", of=lambda part: part.mean.undefined, kind="count"),
    Col("ci_lower", "ci_upper", of=lambda part: (part.mean.bounds.lower, part.mean.bounds.upper), kind="value"),
    Col("interval", of=lambda part: part.mean.bounds.method),
)


def tables_of_slices(slices: Sequence[SliceMean], metrics: Sequence[Metric], runs: Sequence[str]) -> Iterator[Table]:
    """One table per attribute: slices as rows, for several runs one under the other, and metrics as columns."""
    for attribute in dict.fromkeys(part.attribute for part in slices):
        cells = {(p.name, p.mean.run, p.mean.metric): p.mean for p in slices if p.attribute == attribute}
        several = [Column("run")] if len(runs) > 1 else []
        columns = (Column(attribute), Column("queries", "count"), *several, *(Column(str(m), "value") for m in metrics))
        rows: list[tuple[Value, ...]] = []
        for name in dict.fromkeys(name for name, _, _ in cells):
            for run in runs:
                means = [cells[name, run, metric] for metric in metrics]
                label = (name.removeprefix(f"{attribute} "), max(one.queries for one in means))
                rows.append((*label, *([run] if several else []), *(words.finite(one.value) for one in means)))
        yield Table(columns, tuple(rows), labels=2 + len(several), name="slices", title=f"by {attribute}")


def trec_queries(run: RunScores) -> Iterator[tuple[str, str, str]]:
    """Name, query and value as trec_eval prints them, query by query."""
    # as in trec_eval, what is only a fact of all queries together is not printed for one
    shown = [m for m in run.values if m.aggregate != "geometric" and m.trec_name() != "num_q"]
    by_id = sorted(enumerate(run.query_ids), key=lambda pair: pair[1].encode("utf-8", "surrogateescape"))
    for i, query in by_id:
        yield from (trec_value(metric, query, float(run.values[metric][i])) for metric in shown)
        yield from ((name, query, f"'{facts[i]}'") for name, facts in run.facts.items())


def trec_value(metric: Metric, query: str, value: float) -> tuple[str, str, str]:
    """Name, query and value in trec_eval's format. Empty without a value."""
    text = f"{value:.0f}" if metric.aggregate == "sum" else f"{value:6.4f}"
    return metric.trec_name() or str(metric), query, "" if math.isnan(value) else text
