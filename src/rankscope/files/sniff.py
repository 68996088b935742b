"""Which format a file is in: by its ending first, then by what it holds."""

from __future__ import annotations

from pathlib import Path

from rankscope.errors import InputError
from rankscope.files.long import ALIASES, is_number, known_header
from rankscope.files.raw import BOM, Raw
from rankscope.files.tabular import header_of, is_jsonl

SEPARATORS = {"csv": ",", "tsv": "\t", "semicolon": ";"}
_ENDINGS = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet",
    ".pq": "parquet",
}  # fmt: skip
_NAMES = {alias for aliases in ALIASES.values() for alias in aliases}


def kind_of(raw: Raw) -> str:
    """Name the format: trec, csv, tsv, semicolon, jsonl, json or parquet."""
    ending = _ending(raw.label)
    if raw.head.startswith(b"PAR1"):
        return "parquet"
    if ending == "parquet":
        raise InputError(f"{raw.label}: named like a Parquet file, but does not begin like one (PAR1)")
    start = raw.head.removeprefix(BOM).lstrip()[:1]
    if start == b"{":
        return "jsonl" if ending == "jsonl" or is_jsonl(raw) else "json"
    if start == b"[":
        return "json"
    if ending in {"json", "jsonl"}:
        return ending
    return _separator_kind(raw, ending)


def _ending(label: str) -> str:
    path = Path(label)
    if path.suffix.lower() in {".gz", ".zst"}:
        path = path.with_suffix("")
    return _ENDINGS.get(path.suffix.lower(), "")


def _separator_kind(raw: Raw, ending: str) -> str:
    """Tell a header from TREC lines, which have none."""
    likely = [ending, *(kind for kind in SEPARATORS if kind != ending)] if ending else [*SEPARATORS]
    headers = {kind: header_of(raw, SEPARATORS[kind]) for kind in likely}
    for kind, names in headers.items():
        if known_header(names) or len({name.strip().lower() for name in names} & _NAMES) >= 2:
            return kind
    names = headers.get(ending, [])
    if len(names) > 1 and (ending == "csv" or not any(is_number(name) for name in names)):
        return ending  # whose columns are unknown: the reader says which it needs
    return "trec"
