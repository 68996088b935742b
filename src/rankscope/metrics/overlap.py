"""Metrics that compare a ranking with the ideal one by their overlap."""

from __future__ import annotations

__all__: list[str] = []
