"""Dialects: the conventions of other tools as data; each spells the metrics of a tool as ours, with policies for ties, queries and means."""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, DialectMetric
from rankscope.dialects.learning import LEARNING
from rankscope.dialects.recommendation import RECOMMENDATION
from rankscope.dialects.retrieval import RETRIEVAL

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (*RETRIEVAL, *RECOMMENDATION, *LEARNING)}

__all__ = ["DIALECTS", "Convention", "Dialect", "DialectMetric"]
