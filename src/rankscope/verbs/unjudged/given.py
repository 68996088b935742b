"""What a study of unjudged documents is given: judgments, runs and a call, and what a metric makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rankscope.engines.base import SEVERAL
from rankscope.metrics import RBP, Metric, RBPResidual
from rankscope.scoring.inputs import CleanInput
from rankscope.scoring.request import MetricRequest, Request


@dataclass(frozen=True, eq=False)
class Given:
    """Judgments and runs as they were read, and as they are after the policies; and what was asked of them."""

    raw_qrels: Any
    raw_runs: Sequence[tuple[str | None, Any]]
    qrels: CleanInput
    runs: Sequence[CleanInput]
    call: Request

    def call_with(self, beside: Mapping[Metric, Mapping[str, Metric]]) -> Request:
        """The call with what is shown beside its metrics."""
        asked = list(self.call.metrics)
        for a in self.call.metrics:
            asked += [replace(a, spelling=str(metric), metric=metric) for metric in beside[a.metric].values()]
        once = {a.metric: a for a in reversed(asked)}
        return self.call.with_metrics(*(a for a in asked if once[a.metric] is a))

    @cached_property
    def levels(self) -> list[float]:
        """The grades of the judgments, lowest first; 0 is one of them."""
        if self.qrels.is_mapping:
            grades = {float(g) for documents in self.qrels.data.values() for g in documents.values()}
        else:
            grades = set(self.qrels.data.frame["grade"].unique().to_list())
        return sorted({0.0, *(g for g in grades if g > 0)})


def top_grade(metric: Metric, highest: float) -> float:
    """The best grade a document can get: the metric's where it was given one, else the ``highest`` of the qrels, and relevant at least.

    >>> from rankscope.metrics import ERR, P, RBP
    >>> (
    ...     top_grade(P @ 5, 2.0),
    ...     top_grade(ERR @ 5, 2.0),
    ...     top_grade(RBP(max_grade=3), 2.0),
    ...     top_grade(P(level=2) @ 5, 1.0),
    ... )
    (2.0, 2.0, 3.0, 2.0)
    """
    said = getattr(metric, "max_grade", None)
    if isinstance(said, int | float) and said != getattr(type(metric), "max_grade", None):
        return float(said)
    level = getattr(metric, "level", None)
    return max(highest, 1.0, 1.0 if level is None else float(level))


def beside_of(metric: Metric) -> dict[str, Metric]:
    """What is shown beside a metric: the same over judged documents alone, and its residual."""
    out: dict[str, Metric] = {}
    if getattr(metric, "judged_only", None) is False:
        out["condensed"] = metric.having(judged_only=True)
    if type(metric) is RBP and not metric.judged_only and metric.gain is None:
        out["residual"] = RBPResidual(p=metric.p, cutoff=metric.cutoff)
    return out


def reason_of(asked: MetricRequest) -> str:
    """Why values cannot be put together query by query, where they cannot."""
    said = asked.convention
    if asked.metric.relevance == "none":
        return f"{asked.metric} does not depend on grades"
    if asked.metric.needs & SEVERAL:
        return f"{asked.metric} takes several grades of a document"
    if asked.metric.aggregate not in {"mean", "sum", "geometric"}:
        return f"{asked.metric} is no plain mean of its queries"
    if said.mean != "macro" or said.no_relevant != "metric" or said.nothing_found != "metric":
        return "which queries count, and how much, would change with the judgments"
    return ""
