"""Metrics of label ranking: how many labels must be read to find all that hold."""

from __future__ import annotations

__all__: list[str] = []
