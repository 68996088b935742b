"""Runs that are one and the same ranking under several names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from rankscope.reporting.sections.shown_runs import leading_metric
from rankscope.reporting.subject import Subject
from rankscope.scoring.ranking import top_of


def alike(subject: Subject) -> Iterator[str]:
    """A sentence for each set of runs that hold the same documents in the same order on every query scored.

    Of scores without rankings, for each set that has the same value of every metric on every query.
    """
    for group in _groups(subject):
        several, all_of_them = (
            f"{', '.join(group[:-1])} and {group[-1]}",
            "both" if len(group) == 2 else f"all {len(group)}",
        )
        what = (
            "are the same ranking on every query"
            if subject.runs
            else "have the same value of every metric on every query"
        )
        yield f"{several} {what}{f': {all_of_them} count in the correction' if _corrected(subject, group) else ''}"


def _corrected(subject: Subject, group: Sequence[str]) -> bool:
    """Whether each of these is one more comparison that p-values are corrected for."""
    found = subject.comparison
    return (
        found is not None
        and len(found.systems) > 2
        and set(group) <= set(found.systems)
        and str(found.method.correction) != "none"
    )


def _groups(subject: Subject) -> list[list[str]]:
    """The runs that are alike, two or more together. Rankings are looked at only where all values are the same."""
    alike: dict[object, list[str]] = {}
    for name, values in _values(subject):
        alike.setdefault(values, []).append(name)
    groups = [names for names in alike.values() if len(names) > 1]
    return [part for names in groups for part in _by_ranking(subject, names)] if subject.runs else groups


def _values(subject: Subject) -> Iterator[tuple[str, object]]:
    """Each run, with all of its values as something to compare."""
    if subject.scores is None:
        for row, name in enumerate(subject.lead.systems):
            values = [np.asarray(field.values[field.row(name)]).tobytes() for field in subject.fields]
            yield subject.lead.systems[row], tuple(values)
        return
    for run in subject.scores.runs:
        yield run.name, (tuple(run.query_ids), *(np.asarray(v).tobytes() for v in run.values.values()))


def _by_ranking(subject: Subject, names: Sequence[str]) -> list[list[str]]:
    """Those of these runs that are one ranking, two or more together."""
    kept: list[tuple[pl.DataFrame, list[str]]] = []
    for name in names:
        rows = _rows(subject, name)
        same = next((group for frame, group in kept if frame.equals(rows)), None)
        if same is None:
            kept.append((rows, [name]))
        else:
            same.append(name)
    return [group for _, group in kept if len(group) > 1]


def _rows(subject: Subject, name: str) -> pl.DataFrame:
    """The documents of a run on the queries that were scored, in the order in which they were scored."""
    assert subject.scores is not None
    run = next(run for run in subject.scores.runs if run.name == name)
    rows = top_of(subject.scores, leading_metric(subject), subject.runs[name], label=name)
    return rows.filter(pl.col("query_id").is_in(list(run.query_ids))).sort("query_id", "rank")
