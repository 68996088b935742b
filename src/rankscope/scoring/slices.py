"""Means of scores on parts of the queries: by length, by intent, head or tail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankscope import words
from rankscope.blocks import Column, Table, Value
from rankscope.metrics import Metric
from rankscope.scoring.runs import Mean
from rankscope.show.result import Col


@dataclass(frozen=True)
class SliceMean:
    """The value of a metric over the queries of a run that are in one slice: those whose ``attribute`` is ``name``."""

    attribute: str
    name: str
    mean: Mean


COLUMNS = (
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


def tables_of(slices: Sequence[SliceMean], metrics: Sequence[Metric], runs: Sequence[str]) -> Iterator[Table]:
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
