"""Which columns a headerless file has: a TREC run, TREC qrels, or one of their kin."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import is_number
from rankscope.files.notes import EXPECTED, ORDER, QRELS_LINE, RUN_LINE
from rankscope.files.raw import BOM, Raw


@dataclass(frozen=True)
class Layout:
    """The columns of a headerless file: all are strings but those named as numbers."""

    what: str
    names: tuple[str, ...]
    number: str
    line: str
    optional: frozenset[str] = frozenset()

    @property
    def schema(self) -> dict[str, type[pl.DataType]]:
        """Polars types of the columns."""
        types: dict[str, type[pl.DataType]] = {self.number: pl.Float64}
        if self.number != "rank":
            types["rank"] = pl.Int32
        return {name: types.get(name, pl.String) for name in self.names}

    @property
    def kept(self) -> list[str]:
        """The columns that a table keeps."""
        used = ("query_id", "doc_id", self.number, "rank", "iteration", "subgroup")
        return [name for name in used if name in self.names]

    @property
    def needed(self) -> list[str]:
        """The columns without which a line is no row."""
        return [name for name in self.names if name not in self.optional]


RUN = Layout(
    "run", ("query_id", "q0", "doc_id", "rank", "score", "tag"), "score", RUN_LINE, frozenset({"rank"})
)
QRELS = Layout("qrels", ("query_id", "iteration", "doc_id", "grade"), "grade", QRELS_LINE)
PRELS = Layout("qrels", ("query_id", "doc_id", "grade", "method", "inclusion"), "grade", QRELS_LINE)
PREFS = Layout(
    "qrels",
    ("query_id", "iteration", "subgroup", "doc_id", "grade"),
    "grade",
    "a line of TREC preferences has 5 (query judge part document grade)",
)
RUN3 = Layout(
    "run", ("query_id", "doc_id", "rank"), "rank", "an MS MARCO run line has 3 (query document rank)"
)
QRELS3 = Layout(
    "qrels", ("query_id", "doc_id", "grade"), "grade", "this file's lines have 3 (query document grade)"
)


def head_lines(raw: Raw) -> list[bytes]:
    """Take the first lines of the file that hold something."""
    head = raw.head.removeprefix(BOM)
    if b"\x00" in head:
        raise InputError(f"{raw.label}: not a text file (it holds zero bytes)")
    if b"\n" not in head and b"\r" in head.rstrip():
        raise InputError(
            f"{raw.label}: lines end in a lone carriage return (old Mac): run tr '\\r' '\\n' on the file"
        )
    lines = head.split(b"\n")
    found = _content(lines[:-1] if len(lines) > 1 else lines)
    return found or _content(raw.read().removeprefix(BOM).split(b"\n"))


def _content(lines: list[bytes]) -> list[bytes]:
    return [
        text for line in lines if (text := line.rstrip(b"\r")).strip() and not text.lstrip().startswith(b"#")
    ]


def layout_of(raw: Raw, what: str, lines: list[bytes]) -> Layout:
    """Tell the layout by the number of columns that most lines have."""
    if not lines:
        raise InputError(f"{raw.label}: no rows, only blank lines or comments; {EXPECTED[what]}")
    split = [line.split() for line in lines[:1000]]
    width = Counter(len(fields) for fields in split).most_common(1)[0][0]
    typical = next(fields for fields in split if len(fields) == width)
    if what == "run" and width == 4 and is_number(typical[3]):
        raise InputError(
            f"{raw.label}: these are TREC qrels (4 columns: query iteration document grade), not a run; {ORDER}"
        )
    if what == "qrels" and width >= 6 and is_number(typical[4]):
        raise InputError(
            f"{raw.label}: this is a TREC run (6 columns: query Q0 document rank score tag), not qrels; {ORDER}"
        )
    if what == "run" and width == 5 and is_number(typical[4]) and not is_number(typical[3]):
        raise InputError(
            f"{raw.label}: these are TREC preferences (5 columns: query judge part document grade), not a run; {ORDER}"
        )
    if width == 3 and is_number(typical[2]):
        return _three(raw, what, split)
    if width < 3:
        raise InputError(
            f"{raw.label}: not {'a run' if what == 'run' else 'qrels'}: most lines have {words.counted(width, 'column')}, "
            f"like {words.quote(b' '.join(typical).decode('utf-8', 'replace'))}; {EXPECTED[what]}"
        )
    if what == "qrels" and width == 5:
        return _five(raw, [fields for fields in split if len(fields) == 5])
    return RUN if what == "run" else QRELS


def _three(raw: Raw, what: str, split: list[list[bytes]]) -> Layout:
    if what == "qrels":
        return QRELS3
    last: dict[bytes, float] = {}
    for query, _, rank in (fields for fields in split if len(fields) == 3 and is_number(fields[2])):
        if float(rank) != last.get(query, 0) + 1:
            raise InputError(
                f"{raw.label}: 3 columns, but the third does not count 1, 2, 3 within a query, as in an MS MARCO run "
                f"(query document rank); {RUN_LINE}, or write a header: query_id doc_id score"
            )
        last[query] = float(rank)
    return RUN3


def _five(raw: Raw, rows: list[list[bytes]]) -> Layout:
    """Tell preferences, prels and plain qrels with a column more by where the numbers are and what is repeated."""
    fits = {
        PRELS: [is_number(f[2]) and is_number(f[4]) and 0 <= float(f[4]) <= 1 for f in rows],
        QRELS: [is_number(f[3]) for f in rows],
        PREFS: [is_number(f[4]) for f in rows],
    }
    most = max(map(sum, fits.values()))
    if 2 * most <= len(rows):
        return QRELS  # whose faults are named
    likely = [layout for layout, fit in fits.items() if sum(fit) == most]
    if PRELS in likely and _is_prels(rows):
        return PRELS
    if QRELS not in likely:
        return PREFS
    if PREFS not in likely:
        return QRELS
    # a judgment stands once for each document, while preferences take two documents or more
    once = len({(f[0], f[1], f[2]) for f in rows}) / len(rows)
    if 0.6 < once < 0.9:
        raise InputError(
            f"{raw.label}: 5 columns, which may be TREC preferences (query judge part document grade) or qrels with a column more "
            "(query iteration document grade ...): leave out the column that is not used, or write a header: query_id doc_id grade"
        )
    return QRELS if once >= 0.9 else PREFS


def _is_prels(rows: list[list[bytes]]) -> bool:
    """Column 2 names documents, each once, where qrels and preferences have few values there."""
    documents = len({(f[0], f[1]) for f in rows})
    return documents >= 0.9 * len(rows) and documents > len({(f[0], f[2]) for f in rows})
