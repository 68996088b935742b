"""TREC runs and qrels: six or four columns apart by any whitespace.

Nearly every file has one single separator throughout, and goes through Polars as it lies on disk.
Any sign that a line differs sends the whole file through ``_tidy``, which makes it so.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import polars as pl

from rankscope.errors import InputError
from rankscope.files.notes import (
    EXPECTED,
    ORDER,
    QRELS_LINE,
    RUN_LINE,
    Found,
    content_lines,
    count,
    line_finder,
    listed,
    made_qrels,
    made_run,
    shown,
    stem,
)
from rankscope.files.raw import BOM, Raw
from rankscope.tables import Array, Qrels, Run, Source, blocks_of


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
            types["rank"] = pl.Int64
        return {name: types.get(name, pl.String) for name in self.names}

    @property
    def needed(self) -> list[str]:
        """The columns without which a line is no row."""
        return [name for name in self.names if name not in self.optional]


RUN = Layout("run", ("query_id", "q0", "doc_id", "rank", "score", "tag"), "score", RUN_LINE, frozenset({"rank"}))
QRELS = Layout("qrels", ("query_id", "iteration", "doc_id", "grade"), "grade", QRELS_LINE)
PRELS = Layout("qrels", ("query_id", "doc_id", "grade", "method", "inclusion"), "grade", QRELS_LINE)
RUN3 = Layout("run", ("query_id", "doc_id", "rank"), "rank", "an MS MARCO run line has 3 (query document rank)")
QRELS3 = Layout("qrels", ("query_id", "doc_id", "grade"), "grade", "this file's lines have 3 (query document grade)")

_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")
_ODD = "[\t\r\x0b\x0c ]"


def read_trec(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read a headerless file as a run or as qrels."""
    lines = _head_lines(raw)
    layout = _layout(raw, what, lines)
    found = Found()
    if layout is RUN:
        first = lines[0].split()
        parsed = _fast(raw, layout, lines[0], first[5].decode("utf-8", "replace") if len(first) > 5 else "")
    else:
        parsed = _fast(raw, layout, lines[0], "")
    if parsed is None:
        frame, bad, found = _general(raw, layout)
    else:
        (frame, found.tag), bad = parsed, np.empty(0, dtype=np.int64)
    if not len(frame):
        more = f" ({found.faulty:,} such lines, and no good one)" if found.faulty > 1 else ""
        text = found.faults[0].message if found.faults else f"{raw.label}: no rows, only blank lines or comments"
        raise InputError(f"{text}{more}" if found.faults else f"{text}; {EXPECTED[what]}")
    source = Source(
        raw.label,
        f"TREC {what}",
        str(raw.path) if raw.path else None,
        line_of=line_finder(lambda: content_lines(raw.read()), bad),
        sha256=raw.sha256,
    )
    if what == "run":
        return _finish_run(frame, layout, source, found, name)
    return _finish_qrels(frame, layout, source, found)


def _finish_run(frame: pl.DataFrame, layout: Layout, source: Source, found: Found, name: str | None) -> Run:
    title = "a TREC run"
    if layout is RUN3:
        title = "an MS MARCO run"
        found.notes.append("no scores: the third column is taken as the rank, and the score is -rank")
        frame = frame.with_columns(score=-pl.col("rank"))
        whole = frame.filter(pl.col("rank") != pl.col("rank").floor()).is_empty()
        frame = frame.with_columns(pl.col("rank").cast(pl.Int64)) if whole else frame.drop("rank")
    elif frame["rank"].null_count():
        text = "the rank column is left out: {} no whole number in it"
        found.notes.append(text.format(count(frame["rank"].null_count(), "row has", "rows have")))
        frame = frame.drop("rank")
    columns = [c for c in ("query_id", "doc_id", "score", "rank") if c in frame.columns]
    return made_run(frame.select(columns), source, found, title, name or found.tag or stem(source.label))


def _finish_qrels(frame: pl.DataFrame, layout: Layout, source: Source, found: Found) -> Qrels:
    title = "TREC qrels"
    if layout is PRELS:
        title = "TREC prels (query document grade method probability)"
        found.notes.append("columns 4 and 5 (sampling method, inclusion probability) are not used")
    if layout is QRELS3:
        title = "headerless qrels of 3 columns"
        found.notes.append("no header and 3 columns: taken as query, document, grade")
    columns = [c for c in ("query_id", "doc_id", "grade", "iteration") if c in frame.columns]
    return made_qrels(frame.select(columns), source, found, title)


def _head_lines(raw: Raw) -> list[bytes]:
    """Take the first lines of the file that hold something."""
    head = raw.head.removeprefix(BOM)
    if b"\x00" in head:
        raise InputError(f"{raw.label}: not a text file (it holds zero bytes)")
    if b"\n" not in head and b"\r" in head.rstrip():
        raise InputError(f"{raw.label}: lines end in a lone carriage return (old Mac): run tr '\\r' '\\n' on the file")
    lines = head.split(b"\n")
    found = _content(lines[:-1] if len(lines) > 1 else lines)
    return found or _content(raw.read().removeprefix(BOM).split(b"\n"))


def _content(lines: list[bytes]) -> list[bytes]:
    return [text for line in lines if (text := line.rstrip(b"\r")).strip() and not text.lstrip().startswith(b"#")]


def _layout(raw: Raw, what: str, lines: list[bytes]) -> Layout:
    """Tell the layout by the number of columns that most lines have."""
    if not lines:
        raise InputError(f"{raw.label}: no rows, only blank lines or comments; {EXPECTED[what]}")
    split = [line.split() for line in lines[:1000]]
    width = Counter(len(fields) for fields in split).most_common(1)[0][0]
    typical = next(fields for fields in split if len(fields) == width)
    if what == "run" and width == 4 and _number(typical[3]):
        raise InputError(f"{raw.label}: these are TREC qrels (4 columns: query iteration document grade), not a run; {ORDER}")
    if what == "qrels" and width >= 6 and _number(typical[4]):
        raise InputError(
            f"{raw.label}: this is a TREC run (6 columns: query Q0 document rank score tag), not qrels; {ORDER}"
        )
    if what == "qrels" and width == 5 and _number(typical[4]) and not _number(typical[3]):
        raise InputError(
            f"{raw.label}: these look like preference judgments (5 columns: query judge group document level), "
            f"which are not read; {QRELS_LINE}"
        )
    if width == 3 and _number(typical[2]):
        return _three(raw, what, split)
    if width < 3:
        raise InputError(
            f"{raw.label}: not {'a run' if what == 'run' else 'qrels'}: most lines have {count(width, 'column')}, "
            f"like {shown(b' '.join(typical).decode('utf-8', 'replace'))}; {EXPECTED[what]}"
        )
    if what == "qrels" and width == 5 and _is_prels(split):
        return PRELS
    return RUN if what == "run" else QRELS


def _three(raw: Raw, what: str, split: list[list[bytes]]) -> Layout:
    if what == "qrels":
        return QRELS3
    last: dict[bytes, float] = {}
    for query, _, rank in (fields for fields in split if len(fields) == 3 and _number(fields[2])):
        if float(rank) != last.get(query, 0) + 1:
            raise InputError(
                f"{raw.label}: 3 columns, but the third does not count 1, 2, 3 within a query, as in an MS MARCO run "
                f"(query document rank); {RUN_LINE}, or write a header: query_id doc_id score"
            )
        last[query] = float(rank)
    return RUN3


def _is_prels(split: list[list[bytes]]) -> bool:
    """Column 2 names documents and column 5 is a probability, where plain qrels have few values in column 2."""
    rows = [fields for fields in split if len(fields) == 5]
    numbers = all(_number(f[2]) and _number(f[4]) and 0 <= float(f[4]) <= 1 for f in rows)
    return numbers and len({(f[0], f[1]) for f in rows}) > len({(f[0], f[2]) for f in rows})


def _number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _fast(raw: Raw, layout: Layout, first: bytes, tag: str) -> tuple[pl.DataFrame, str | None] | None:
    """Parse the file as it lies, or give None where any line may need the general way."""
    separator = "\t" if b"\t" in first else " "
    wide = len(layout.names)
    if raw.head.startswith(BOM) or not re.fullmatch(rb"\S+(%s\S+){%d}" % (separator.encode(), wide - 1), first):
        return None
    odd = _ODD.replace(separator, "")
    strict = layout.needed
    sound = ~pl.col("doc_id").str.contains(odd) & pl.all_horizontal(pl.col(strict).is_not_null())
    if "tag" in layout.names:
        sound &= pl.col("tag").eq_missing(pl.lit(tag))
    blank = pl.all_horizontal(pl.col(strict).is_null())
    sound = sound.fill_null(False) | blank
    keep = [c for c in ("query_id", "doc_id", layout.number, "rank", "iteration") if c in layout.names]
    scan = pl.scan_csv(
        raw.feed, separator=separator, has_header=False, quote_char=None, ignore_errors=True, comment_prefix="#",
        schema=layout.schema, glob=False,
    )  # fmt: skip
    try:
        frame = scan.select(*dict.fromkeys(keep), sound=sound).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, OSError):
            raw.fail(error)
        return None
    if not frame["sound"].all():
        return None
    frame = frame.drop("sound")
    if frame["query_id"].null_count():  # blank lines
        frame = frame.filter(pl.col("query_id").is_not_null())
    nan = layout.number == "grade" and frame["grade"].is_nan().any()
    if nan or any(frame[c].null_count() for c in frame.columns):
        return None
    if blocks_of(frame["query_id"]).query.str.contains(odd).any():
        return None
    return frame, tag or None


def _tidy(data: bytes) -> bytes:
    """Leave one space between columns and none around lines, line for line."""
    data = data.removeprefix(BOM)
    if data.translate(None, b"\t\r\v\f") is not data:
        data = data.translate(_BLANKS)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")


def _general(raw: Raw, layout: Layout) -> tuple[pl.DataFrame, Array, Found]:
    """Parse any whitespace, and name the lines that are no rows."""
    data = raw.read()
    names = [*layout.names, "beyond"]
    header = " ".join(names).encode() + b"\n"
    scan = pl.scan_csv(
        header + _tidy(data), separator=" ", has_header=True, quote_char=None, ignore_errors=True, comment_prefix="#",
        schema=layout.schema | {"beyond": pl.String}, truncate_ragged_lines=True,
    )  # fmt: skip
    try:
        frame = scan.collect()
    except pl.exceptions.PolarsError as error:
        raw.fail(error)
    found = Found()
    # a line without its first column is a blank one
    frame = frame.filter(pl.col("query_id").is_not_null())
    good = pl.all_horizontal(pl.col(layout.needed).is_not_null())
    if layout.number == "grade":
        good &= pl.col("grade").is_not_nan()
    sound = frame.select(good).to_series()
    bad = np.flatnonzero(~sound.to_numpy())
    if len(bad):
        _name_faults(raw, layout, data, bad, found)
        frame = frame.filter(sound)
    beyond = len(frame) - frame["beyond"].null_count()
    if beyond:
        text = f"{count(beyond, 'line has', 'lines have')} more than {len(layout.names)} columns: the rest is ignored"
        found.notes.append(text)
    if "tag" in layout.names and len(frame):
        _name_tag(frame["tag"], found)
    return frame.drop("beyond", "tag", "q0", strict=False).rechunk(), bad, found


def _name_tag(tag: pl.Series, found: Found) -> None:
    found.tag = tag[-1]
    tags = tag.unique(maintain_order=True)
    if len(tags) > 1:
        found.notes.append(f"{len(tags):,} tags ({listed(tags.to_list(), 3)}): the last line's, {found.tag}, names the run")


def _name_faults(raw: Raw, layout: Layout, data: bytes, bad: Array, found: Found) -> None:
    lines = data.split(b"\n")
    numbers = content_lines(data)[bad]
    found.faulty = max(len(bad) - 20, 0)
    for number in numbers[:20].tolist():
        text = lines[number - 1].removeprefix(BOM).decode("utf-8", "replace").strip()
        fields = text.split()
        at = f"{raw.label} line {number:,}"
        if len(fields) < len(layout.names):
            columns = count(len(fields), "column")
            found.fault("columns", f"{at}: {columns}, {layout.line}: {shown(text)}", number)
        else:
            value = fields[layout.names.index(layout.number)]
            found.fault("number", f"{at}: {layout.number} {shown(value)} is not a number", number)
