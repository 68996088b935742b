"""Metrics of readers who stop at some point: the C/W/L family."""

from __future__ import annotations

__all__: list[str] = []
