"""Frozen named things, declared once: parameters, catalogue, ``@`` and the grammar that reads them back.

A kind (metric, and later statistical test, estimator, fusion, check rule) subclasses ``Declared``;
each of its class statements is then an object, a string and an entry of the kind's catalogue:
``nDCG(gain="exponential") @ 10``, ``"nDCG(gain='exponential')@10"`` and ``rankscope metrics nDCG``.
"""

from __future__ import annotations

from rankscope.declared.base import Declared, parameters, required
from rankscope.declared.grammar import family, parse_all
from rankscope.declared.param import Param, Table, plain

__all__ = ["Declared", "Param", "Table", "family", "parameters", "parse_all", "plain", "required"]
