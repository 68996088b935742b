"""Metrics over the subtopics of a query: novelty and coverage."""

from __future__ import annotations

__all__: list[str] = []
