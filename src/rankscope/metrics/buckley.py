"""Buckley's experiments in trec_eval, and transformations of other metrics."""

from __future__ import annotations

__all__: list[str] = []
