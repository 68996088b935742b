"""Metrics averaged over several judges of the same documents."""

from __future__ import annotations

__all__: list[str] = []
