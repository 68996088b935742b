"""Metrics that recommenders and click models are judged by."""

from __future__ import annotations

__all__: list[str] = []
