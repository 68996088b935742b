"""Dialects: the conventions of other tools for nDCG, AP, recall ... as data.

A dialect spells each of a tool's metrics as one of ours, with the tool's policies for ties, queries and means. It computes
nothing. ``rankscope reconcile`` and ``evaluate(dialect=...)`` use it.
"""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, DialectMetric
from rankscope.dialects.learning import LEARNING
from rankscope.dialects.recommendation import RECOMMENDATION
from rankscope.dialects.retrieval import RETRIEVAL

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (*RETRIEVAL, *RECOMMENDATION, *LEARNING)}

__all__ = ["DIALECTS", "Convention", "Dialect", "DialectMetric"]
