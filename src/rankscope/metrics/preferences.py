"""Metrics over preferences between pairs of documents."""

from __future__ import annotations

__all__: list[str] = []
