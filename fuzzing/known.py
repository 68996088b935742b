"""Findings that are open: what they are in words, and by what they are known. Empty when all are cured."""

from __future__ import annotations

import re

KNOWN: dict[str, str] = {
    "rows with fewer fields than the header, or with broken quotes, in CSV and TSV": (
        r"(read, though it must be refused|another line) \| (CSV|TSV).*(faulty rows|a quote within)"
    ),
    "rows of nothing but separators in CSV and TSV": r"refused, though it is sound \| (CSV|TSV)",
    "CSV and TSV with too many fields beside other oddities": r"crash \| (CSV|TSV)",
    "an id with a space in a TREC file": r"(read, though it must be refused|another line) \| TREC.*faulty|another table.* \| TREC (run|qrels)",
    "lone surrogates and keys twice in JSON": r"(crash|read, though it must be refused|refused, though it is sound|another line|another table.*) \| JSON",
    "text that is not UTF-8 where nothing is read": r"read, though it must be refused \| .*refuse: not UTF",
    "a last line without a line feed, and blanks that separate nothing": (
        r"another table.* \| TREC|(another line|another table.*|read, though it must be refused) \| (MS MARCO|qrels of 3|TREC)"
    ),
    "ranks beyond whole numbers in MS MARCO runs": r"crash \| MS MARCO",
    "quotes in TSV behind a byte order mark, and empty in CSV": r"another table.* \| (TSV|CSV)",
    "damaged Parquet": r"(crash|abort) \| Parquet",
    "names with line breaks in messages": r"message of several lines",
}


def known(signature: str) -> str:
    """Which open finding this is, in words; '' for a new one."""
    return next((words for words, pattern in KNOWN.items() if re.match(pattern, signature)), "")
