"""Findings that are open: what they are in words, and a pattern of their signatures. Empty when all are cured."""

from __future__ import annotations

import re

KNOWN: dict[str, str] = {}


def known(signature: str) -> str:
    """Which open finding this is, in words; '' for a new one."""
    return next((words for words, pattern in KNOWN.items() if re.match(pattern, signature)), "")
