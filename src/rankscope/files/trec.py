"""TREC runs and qrels: lines of columns without a header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import (
    EXPECTED,
    ORDER,
    QRELS_LINE,
    RUN_LINE,
    Findings,
    content_lines,
    is_number,
    line_finder,
    make_qrels,
    make_run,
    stem,
)
from rankscope.files.raw import BOM, Raw
from rankscope.tables import Array, Qrels, Run, blocks_of


@dataclass(eq=False)
class LineLayout:
    """The columns of a headerless file: all are strings but those named as numbers; its ``title`` and ``note`` for readers.

    ``schema`` are their types in Polars, ``columns`` those that a table keeps, ``needed`` those without which a line is no row: all but
    the rank beside a score.
    """

    names: tuple[str, ...]
    number: str
    line: str
    title: str
    note: str = ""
    schema: dict[str, type[pl.DataType]] = field(init=False)
    columns: list[str] = field(init=False)
    needed: list[str] = field(init=False)

    def __post_init__(self) -> None:
        types: dict[str, type[pl.DataType]] = {"rank": pl.Int32, self.number: pl.Float64}
        used = ("query_id", "doc_id", self.number, "rank", "iteration", "subgroup")
        self.schema = {name: types.get(name, pl.String) for name in self.names}
        self.columns = [name for name in used if name in self.names]
        self.needed = [name for name in self.names if name != "rank" or self.number == "rank"]


RUN = LineLayout(("query_id", "q0", "doc_id", "rank", "score", "tag"), "score", RUN_LINE, "a TREC run")
QRELS = LineLayout(("query_id", "iteration", "doc_id", "grade"), "grade", QRELS_LINE, "TREC qrels")
PRELS = LineLayout(
    ("query_id", "doc_id", "grade", "method", "inclusion"), "grade", QRELS_LINE,
    "TREC prels (query document grade method probability)",
    "columns 4 and 5 (sampling method, inclusion probability) are not used",
)  # fmt: skip
PREFS = LineLayout(
    ("query_id", "iteration", "subgroup", "doc_id", "grade"), "grade",
    "a line of TREC preferences has 5 (query judge part document grade)",
    "TREC preferences", "columns 2 and 3 name the judge and the part of the judge's preferences",
)  # fmt: skip
RUN3 = LineLayout(
    ("query_id", "doc_id", "rank"), "rank", "an MS MARCO run line has 3 (query document rank)", "an MS MARCO run",
    "no scores: the third column is taken as the rank, and the score is -rank",
)  # fmt: skip
QRELS3 = LineLayout(
    ("query_id", "doc_id", "grade"), "grade", "this file's lines have 3 (query document grade)",
    "headerless qrels of 3 columns", "no header and 3 columns: taken as query, document, grade",
)  # fmt: skip


CONTENT = re.compile(rb"^[^\S\n]*[^\s#].*", re.MULTILINE)  # a line that is neither blank nor a comment


def head_lines(raw: Raw) -> list[bytes]:
    """Take the first lines of the file that hold something."""
    head = raw.head.removeprefix(BOM)
    if b"\x00" in head:
        raise InputError(f"{raw.label}: not a text file (it holds zero bytes)")
    if b"\n" not in head and b"\r" in head.rstrip():
        raise InputError(f"{raw.label}: lines end in a lone carriage return (old Mac): run tr '\\r' '\\n' on the file")
    whole = head[: head.rfind(b"\n") + 1] or head
    lines = CONTENT.findall(whole) or CONTENT.findall(raw.read().removeprefix(BOM))
    return [line.rstrip(b"\r") for line in lines]


def layout_of(raw: Raw, what: str, lines: list[bytes]) -> LineLayout:
    """Tell the layout by the number of columns that most lines have."""
    if not lines:
        raise InputError(f"{raw.label}: no rows, only blank lines or comments; {EXPECTED[what]}")
    split = [line.split() for line in lines[:1000]]
    width = Counter(len(fields) for fields in split).most_common(1)[0][0]
    typical = next(fields for fields in split if len(fields) == width)
    other = ""
    if what == "run" and width == 4 and is_number(typical[3]):
        other = "these are TREC qrels (4 columns: query iteration document grade), not a run"
    elif what == "qrels" and width >= 6 and is_number(typical[4]):
        other = "this is a TREC run (6 columns: query Q0 document rank score tag), not qrels"
    elif what == "run" and width == 5 and is_number(typical[4]) and not is_number(typical[3]):
        other = "these are TREC preferences (5 columns: query judge part document grade), not a run"
    if other:
        raise InputError(f"{raw.label}: {other}; {ORDER}")
    if width == 3 and is_number(typical[2]):
        return _three(raw, what, split)
    if width < 3:
        like = words.quote(b" ".join(typical).decode("utf-8", "replace"))
        said = f"not {'a run' if what == 'run' else 'qrels'}: most lines have {words.counted(width, 'column')}, like {like}"
        raise InputError(f"{raw.label}: {said}; {EXPECTED[what]}")
    if what == "qrels" and width == 5:
        return _five(raw, [fields for fields in split if len(fields) == 5])
    return RUN if what == "run" else QRELS


def _three(raw: Raw, what: str, split: list[list[bytes]]) -> LineLayout:
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


def _five(raw: Raw, rows: list[list[bytes]]) -> LineLayout:
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


BLOCK = 1 << 18  # what a processor's second cache holds
NEWLINE, BLANK = 10, 32
BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")


def is_regular(feed: Path | bytes, separator: str, wide: int, last: bytes | None) -> bool:
    """Look at every byte once: no doubled, leading or trailing blank, ``wide`` fields a line, the ``last`` always the same."""
    ending = b"" if last is None else separator.encode() + last
    blanks, lines = 0, 0
    for block in _blocks(feed):
        blank = block <= BLANK
        ends = np.flatnonzero(block == NEWLINE)
        begins = ends - len(ending)
        if blank[0] or (blank[1:] & blank[:-1]).any() or begins[0] < 0:
            return False
        if not all((block[begins + i] == letter).all() for i, letter in enumerate(ending)):
            return False
        found = int(np.count_nonzero(blank))
        if found != len(ends) + np.count_nonzero(block == ord(separator)):
            return False
        blanks += found
        lines += len(ends)
    return blanks == lines * wide


def tidy(data: bytes) -> bytes:
    """Leave one space between columns and none around lines, line for line."""
    data = data.removeprefix(BOM)
    if any(blank in data for blank in (b"\t", b"\r", b"\v", b"\f")):
        data = data.translate(BLANKS)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")


def _blocks(feed: Path | bytes) -> Iterator[Array]:
    """The file in blocks of whole lines; the last line gets the newline that it may lack."""
    with feed.open("rb", buffering=0) if isinstance(feed, Path) else BytesIO(feed) as file:
        buffer, kept = bytearray(BLOCK), 0
        while got := file.readinto(memoryview(buffer)[kept:]):
            held = kept + got
            end = buffer.rfind(b"\n", 0, held) + 1
            if end:
                yield np.frombuffer(buffer, np.uint8, count=end)
            rest = bytes(memoryview(buffer)[end:held])
            if len(rest) == len(buffer):
                buffer = bytearray(2 * len(rest))
            buffer[: len(rest)] = rest
            kept = len(rest)
    if kept:
        yield np.frombuffer(bytes(buffer[:kept]) + b"\n", np.uint8)


@dataclass
class _Rows:
    """The good rows, and which lines were not among them."""

    frame: pl.DataFrame
    findings: Findings = field(default_factory=Findings)
    bad: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def read_trec(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read a headerless file as a run or as qrels."""
    head = head_lines(raw)
    layout = layout_of(raw, what, head)
    parsed = _fast(raw, layout, head[0]) or _general(raw, layout)
    found = parsed.findings
    if not len(parsed.frame):
        found.refuse(f"{raw.label}: no rows, only blank lines or comments; {EXPECTED[what]}", "line")
    lines = line_finder(lambda: content_lines(raw.read()), parsed.bad)
    source = raw.source(f"TREC {what}", line_of=lines)
    if layout.note:
        found.notes.append(layout.note)
    frame = parsed.frame
    if layout is RUN3:
        frame = _with_scores(frame)
    elif what == "run" and (lacking := frame["rank"].null_count()):
        rows = words.counted(lacking, "row has", "rows have")
        found.notes.append(f"the rank column is left out: {rows} no whole number in it")
        frame = frame.drop("rank")
    columns = ("query_id", "doc_id", "score", "rank", "grade", "iteration", "subgroup")
    frame = frame.select([c for c in columns if c in frame.columns])
    if what == "run":
        return make_run(frame, source, found, layout.title, name or found.tag or stem(source.label))
    return make_qrels(frame, source, found, layout.title)


def _with_scores(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows that have a rank alone, with scores that say the same; the ranks stay where all are whole numbers."""
    frame = frame.with_columns(score=-pl.col("rank"))
    whole = frame.filter(pl.col("rank") != pl.col("rank").floor()).is_empty()
    return frame.with_columns(pl.col("rank").cast(pl.Int64)) if whole else frame.drop("rank")


def _fast(raw: Raw, layout: LineLayout, first: bytes) -> _Rows | None:
    """Parse the file as it lies, or give None where any line may need the general way.

    Comments are looked for only where there are some: telling the parser of them costs a third of its speed.
    """
    separator = "\t" if b"\t" in first else " "
    wide = len(layout.names)
    if raw.head.startswith(BOM) or not re.fullmatch(rb"\S+(%s\S+){%d}" % (separator.encode(), wide - 1), first):
        return None
    if not raw.compression and (parsed := _regular(raw, layout, separator, first)):
        return parsed
    plain = None if raw.head.startswith(b"#") or b"\n#" in raw.head else _read_scan(raw, layout, separator, None)
    parsed = plain or _read_scan(raw, layout, separator, "#")
    if parsed and not plain:
        _tell_comments(parsed.findings, raw.read())
    return parsed


def _tell_comments(found: Findings, data: bytes) -> None:
    skipped = len(re.findall(rb"^[ \t]*#", data.removeprefix(BOM), re.MULTILINE))
    if skipped:
        lines = words.counted(skipped, "line that begins", "lines that begin")
        found.notes.append(f"{lines} with # skipped as a comment")


def _regular(raw: Raw, layout: LineLayout, separator: str, first: bytes) -> _Rows | None:
    """Parse only the columns that are used, while another thread sees that every line has them all."""
    wide, tag = len(layout.names), first.split()[5] if "tag" in layout.names else None
    if tag is not None and is_number(tag):  # a line that lacks a field could pass for a whole one
        return None
    if not is_regular(raw.head[: raw.head.rfind(b"\n") + 1], separator, wide, tag):
        return None
    keep = layout.columns
    with ThreadPoolExecutor(1) as other:
        regular = other.submit(is_regular, raw.feed, separator, wide, tag)
        try:
            frame = _scan(raw, separator, layout.schema, None).select(keep).collect()
        except OSError as error:
            raw.fail(error)
        except pl.exceptions.PolarsError:
            return None
        if not regular.result():
            return None
    if any(frame[c].null_count() for c in keep) or (layout.number == "grade" and frame["grade"].is_nan().any()):
        return None
    blocks = blocks_of(frame["query_id"])
    if blocks.query.str.starts_with("#").any():
        return None
    return _Rows(frame, Findings(tag=None if tag is None else tag.decode("utf-8", "replace"), blocks=blocks))


def _scan(raw: Raw, separator: str, schema: dict[str, type[pl.DataType]], comment: str | None) -> pl.LazyFrame:
    return pl.scan_csv(
        raw.feed, separator=separator, has_header=False, quote_char=None, ignore_errors=True, comment_prefix=comment,
        schema=schema, glob=False,
    )  # fmt: skip


def _read_scan(raw: Raw, layout: LineLayout, separator: str, comment: str | None) -> _Rows | None:
    """Parse with one separator; None where a row is not sound, or looks like a comment that was not expected."""
    other = " " if separator == "\t" else "\t"
    keep = [*layout.columns, "tag"] if "tag" in layout.names else layout.columns
    # every column is asked for, also a run's second: only then does the parser tell of columns beyond
    sound = ~pl.col("doc_id").str.contains(other, literal=True)
    for name in set(layout.needed).difference(layout.columns):
        sound &= pl.col(name).is_not_null()
    try:
        frame = _scan(raw, separator, layout.schema, comment).select(*keep, sound=sound.fill_null(False)).collect()
    except OSError as error:
        raw.fail(error)
    except pl.exceptions.PolarsError:
        return None
    odd = frame.filter(~pl.col("sound"))
    frame = frame.drop("sound")
    if odd.height:
        # blank lines, unless what a line holds is no number where one is due
        texts = _scan(raw, separator, dict.fromkeys(layout.names, pl.String), comment)
        empty = pl.all_horizontal(pl.col(keep).is_null())
        if odd.filter(empty).height != odd.height or _count_blank(texts) != odd.height:
            return None
        frame = frame.filter(~empty)
    nan = layout.number == "grade" and frame["grade"].is_nan().any()
    if nan or any(frame[c].null_count() for c in frame.columns):
        return None
    blocks = blocks_of(frame["query_id"])
    if blocks.query.str.contains(other, literal=True).any() or (
        comment is None and blocks.query.str.starts_with("#").any()
    ):
        return None
    found = Findings(blocks=blocks)
    if "tag" in keep and len(frame):
        tags = _name_tag(frame["tag"], found)
        if any(tag.split() != [tag] for tag in tags):  # not the last column
            return None
    return _Rows(frame, found)


def _count_blank(lines: pl.LazyFrame) -> int | None:
    try:
        return int(lines.select(pl.all_horizontal(pl.all().is_null()).sum()).collect().item())
    except pl.exceptions.PolarsError:
        return None


def _general(raw: Raw, layout: LineLayout) -> _Rows:
    """Parse any whitespace, and name the lines that are no rows."""
    data = raw.read()
    names = [*layout.names, "beyond"]
    header = " ".join(names).encode() + b"\n"
    scan = pl.scan_csv(
        header + tidy(data), separator=" ", has_header=True, quote_char=None, ignore_errors=True, comment_prefix="#",
        schema=layout.schema | {"beyond": pl.String}, truncate_ragged_lines=True,
    )  # fmt: skip
    good = pl.all_horizontal(pl.col(layout.needed).is_not_null())
    if layout.number == "grade":
        good &= pl.col("grade").is_not_nan()
    keep = [c for c in layout.names if c != "q0"]
    blank = pl.col("query_id").is_null()  # tidy lines that hold anything hold this
    try:
        frame = scan.select(
            *keep, beyond=pl.col("beyond").is_not_null(), good=good.fill_null(False), blank=blank
        ).collect()
    except pl.exceptions.PolarsError as error:
        raw.fail(error)
    found = Findings()
    _tell_comments(found, data)
    if frame["blank"].any():
        frame = frame.filter(~pl.col("blank"))
    bad = np.flatnonzero(~frame["good"].to_numpy())
    if len(bad):
        _name_faults(raw, layout, data, bad, found)
        frame = frame.filter("good")
    beyond = int(frame["beyond"].sum())
    if beyond:
        lines = words.counted(beyond, "line has", "lines have")
        found.notes.append(f"{lines} more than {len(layout.names)} columns: the rest is ignored")
    if "tag" in layout.names and len(frame):
        _name_tag(frame["tag"], found)
    return _Rows(frame.drop("beyond", "good", "blank", "tag", strict=False), found, bad)


def _name_tag(tag: pl.Series, found: Findings) -> list[str]:
    """Find the tag of a run, the last line's, and note that there are others; gives all tags."""
    found.tag = tag[-1]
    tags = [tag[-1]] if (tag == tag[-1]).all() else tag.unique(maintain_order=True).to_list()
    if len(tags) > 1:
        several = f"{words.counted(len(tags), 'tag')} ({words.listing(tags, 3)})"
        found.notes.append(f"{several}: the last line's, {found.tag}, names the run")
    return tags


def _name_faults(raw: Raw, layout: LineLayout, data: bytes, bad: Array, found: Findings) -> None:
    lines = data.split(b"\n")

    def fault(number: int) -> tuple[str, str]:
        text = lines[number - 1].removeprefix(BOM).decode("utf-8", "replace").strip()
        fields = text.split()
        if len(fields) < len(layout.names):
            return "columns", f"{words.counted(len(fields), 'column')}, {layout.line}: {words.quote(text)}"
        value = fields[layout.names.index(layout.number)]
        return "number", f"{layout.number} {words.quote(value)} is not a number"

    found.fault_rows(raw.label, content_lines(data)[bad], fault, lambda number: number)
