"""Findings that are open: what they are in words, and by what they are known. Empty when all are cured."""

from __future__ import annotations

import re

KNOWN: dict[str, str] = {
    "damaged Parquet": r"(crash|abort) \| Parquet",
    "zstandard that holds control characters": r"refused, though it is sound \|.*the zstd file is damaged",
}


def known(signature: str) -> str:
    """Which open finding this is, in words; '' for a new one."""
    return next((words for words, pattern in KNOWN.items() if re.match(pattern, signature)), "")
