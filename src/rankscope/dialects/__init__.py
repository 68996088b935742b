"""Dialects: how other tools compute what they call nDCG, AP, recall ... as data.

Nothing here computes. A dialect spells each of a tool's metrics as one of ours, with the policies that
the tool applies to ties, queries and means; ``rankscope reconcile`` and ``evaluate(dialect=...)`` read it.
"""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, Says
from rankscope.dialects.learning import LEARNING
from rankscope.dialects.recommendation import RECOMMENDATION
from rankscope.dialects.retrieval import RETRIEVAL

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (*RETRIEVAL, *RECOMMENDATION, *LEARNING)}

__all__ = ["DIALECTS", "Convention", "Dialect", "Says"]
