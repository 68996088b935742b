"""TREC runs, qrels and preferences: six, four or five columns apart by any whitespace.

Nearly every file has one single separator throughout, and goes through Polars as it lies on disk.
Any sign that a line differs sends the whole file through ``_tidy``, which makes it so.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.layouts import PREFS, PRELS, QRELS3, RUN3, Layout, head_lines, layout_of
from rankscope.files.notes import EXPECTED, Found, content_lines, line_finder, made_qrels, made_run, stem
from rankscope.files.raw import BOM, Raw
from rankscope.files.regular import comment_lines, is_regular, tidy
from rankscope.tables import Array, Qrels, Run, Source, blocks_of


@dataclass
class _Parsed:
    """The good rows, and which lines were not among them."""

    frame: pl.DataFrame
    found: Found = field(default_factory=Found)
    bad: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def read_trec(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read a headerless file as a run or as qrels."""
    lines = head_lines(raw)
    layout = layout_of(raw, what, lines)
    parsed = _fast(raw, layout, lines[0]) or _general(raw, layout)
    found = parsed.found
    if not len(parsed.frame):
        if not found.faults:
            raise InputError(f"{raw.label}: no rows, only blank lines or comments; {EXPECTED[what]}")
        more = f" ({words.counted(found.faulty, 'such line')}, and no good one)" if found.faulty > 1 else ""
        raise InputError(f"{found.faults[0].message}{more}")
    source = Source(
        raw.label,
        f"TREC {what}",
        str(raw.path) if raw.path else None,
        line_of=line_finder(lambda: content_lines(raw.read()), parsed.bad),
        sha256=raw.sha256,
        same=raw.same,
    )
    if what == "run":
        return _finish_run(parsed, layout, source, name)
    return _finish_qrels(parsed, layout, source)


def _finish_run(parsed: _Parsed, layout: Layout, source: Source, name: str | None) -> Run:
    frame, found = parsed.frame, parsed.found
    title = "a TREC run"
    if layout is RUN3:
        title = "an MS MARCO run"
        found.notes.append("no scores: the third column is taken as the rank, and the score is -rank")
        frame = frame.with_columns(score=-pl.col("rank"))
        whole = frame.filter(pl.col("rank") != pl.col("rank").floor()).is_empty()
        frame = frame.with_columns(pl.col("rank").cast(pl.Int64)) if whole else frame.drop("rank")
    elif frame["rank"].null_count():
        text = "the rank column is left out: {} no whole number in it"
        found.notes.append(text.format(words.counted(frame["rank"].null_count(), "row has", "rows have")))
        frame = frame.drop("rank")
    columns = [c for c in ("query_id", "doc_id", "score", "rank") if c in frame.columns]
    name = name or found.tag or stem(source.label)
    return made_run(frame.select(columns), source, found, title, name)


def _finish_qrels(parsed: _Parsed, layout: Layout, source: Source) -> Qrels:
    frame, found = parsed.frame, parsed.found
    title = "TREC qrels"
    if layout is PRELS:
        title = "TREC prels (query document grade method probability)"
        found.notes.append("columns 4 and 5 (sampling method, inclusion probability) are not used")
    if layout is PREFS:
        title = "TREC preferences"
        found.notes.append("columns 2 and 3 name the judge and the part of the judge's preferences")
    if layout is QRELS3:
        title = "headerless qrels of 3 columns"
        found.notes.append("no header and 3 columns: taken as query, document, grade")
    columns = [c for c in ("query_id", "doc_id", "grade", "iteration", "subgroup") if c in frame.columns]
    return made_qrels(frame.select(columns), source, found, title)


def _fast(raw: Raw, layout: Layout, first: bytes) -> _Parsed | None:
    """Parse the file as it lies, or give None where any line may need the general way.

    Comments are looked for only where there are some: telling the parser of them costs a third of its speed.
    """
    separator = "\t" if b"\t" in first else " "
    wide = len(layout.names)
    if raw.head.startswith(BOM) or not re.fullmatch(
        rb"\S+(%s\S+){%d}" % (separator.encode(), wide - 1), first
    ):
        return None
    if not raw.packed and (parsed := _regular(raw, layout, separator, first)):
        return parsed
    plain = (
        None
        if raw.head.startswith(b"#") or b"\n#" in raw.head
        else _scanned(raw, layout, separator, first, None)
    )
    parsed = plain or _scanned(raw, layout, separator, first, "#")
    if parsed and not plain:
        _tell_comments(parsed.found, raw.read())
    return parsed


def _tell_comments(found: Found, data: bytes) -> None:
    skipped = comment_lines(data)
    if skipped:
        found.notes.append(
            f"{words.counted(skipped, 'line that begins', 'lines that begin')} with # skipped as a comment"
        )


def _regular(raw: Raw, layout: Layout, separator: str, first: bytes) -> _Parsed | None:
    """Parse only the columns that are used, while another thread sees that every line has them all."""
    wide, tag = len(layout.names), first.split()[5] if "tag" in layout.names else None
    if tag is not None and _is_number(tag):  # a line that lacks a field could pass for a whole one
        return None
    if not is_regular(raw.head[: raw.head.rfind(b"\n") + 1], separator, wide, tag):
        return None
    keep = layout.kept
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
    if any(frame[c].null_count() for c in keep) or (
        layout.number == "grade" and frame["grade"].is_nan().any()
    ):
        return None
    blocks = blocks_of(frame["query_id"])
    if blocks.query.str.starts_with("#").any():
        return None
    return _Parsed(frame, Found(tag=None if tag is None else tag.decode("utf-8", "replace"), blocks=blocks))


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _scan(
    raw: Raw, separator: str, schema: dict[str, type[pl.DataType]], comment: str | None
) -> pl.LazyFrame:
    return pl.scan_csv(
        raw.feed,
        separator=separator,
        has_header=False,
        quote_char=None,
        ignore_errors=True,
        comment_prefix=comment,
        schema=schema,
        glob=False,
    )


def _scanned(raw: Raw, layout: Layout, separator: str, first: bytes, comment: str | None) -> _Parsed | None:
    """Parse with one separator; None where a row is not sound, or looks like a comment that was not expected."""
    tag = first.split()[5].decode("utf-8", "replace") if "tag" in layout.names else None
    other = " " if separator == "\t" else "\t"
    keep = layout.kept
    # every column is asked for, also a run's second: only then does the parser tell of columns beyond
    sound = ~pl.col("doc_id").str.contains(other, literal=True)
    for name in set(layout.needed).difference(keep, {"tag"}):
        sound &= pl.col(name).is_not_null()
    if tag is not None:
        sound &= pl.col("tag").eq_missing(pl.lit(tag))

    try:
        frame = (
            _scan(raw, separator, layout.schema, comment)
            .select(*keep, sound=sound.fill_null(False))
            .collect()
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, OSError):
            raw.fail(error)
        return None
    odd = frame.filter(~pl.col("sound"))
    frame = frame.drop("sound")
    if odd.height:
        # blank lines, unless what a line holds is no number where one is due
        texts = _scan(raw, separator, dict.fromkeys(layout.names, pl.String), comment).select(
            pl.all_horizontal(pl.all().is_null()).sum()
        )
        empty = pl.all_horizontal(pl.col(keep).is_null())
        if odd.filter(empty).height != odd.height or _counted(texts) != odd.height:
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
    return _Parsed(frame, Found(tag=tag, blocks=blocks))


def _counted(lines: pl.LazyFrame) -> int | None:
    try:
        return int(lines.collect().item())
    except pl.exceptions.PolarsError:
        return None


def _general(raw: Raw, layout: Layout) -> _Parsed:
    """Parse any whitespace, and name the lines that are no rows."""
    data = raw.read()
    names = [*layout.names, "beyond"]
    header = " ".join(names).encode() + b"\n"
    scan = pl.scan_csv(
        header + tidy(data), separator=" ", has_header=True, quote_char=None, ignore_errors=True, comment_prefix="#",
        schema=layout.schema | {"beyond": pl.String}, truncate_ragged_lines=True,
    )  # fmt: skip
    needed = pl.col(layout.needed)
    good = pl.all_horizontal(needed.is_not_null())
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
    found = Found()
    _tell_comments(found, data)
    if frame["blank"].any():
        frame = frame.filter(~pl.col("blank"))
    bad = np.flatnonzero(~frame["good"].to_numpy())
    if len(bad):
        _name_faults(raw, layout, data, bad, found)
        frame = frame.filter("good")
    beyond = int(frame["beyond"].sum())
    if beyond:
        text = f"{words.counted(beyond, 'line has', 'lines have')} more than {len(layout.names)} columns: the rest is ignored"
        found.notes.append(text)
    if "tag" in layout.names and len(frame):
        _name_tag(frame["tag"], found)
    return _Parsed(frame.drop("beyond", "good", "blank", "tag", strict=False), found, bad)


def _name_tag(tag: pl.Series, found: Found) -> None:
    found.tag = tag[-1]
    tags = tag.unique(maintain_order=True)
    if len(tags) > 1:
        found.notes.append(
            f"{words.counted(len(tags), 'tag')} ({words.listing(tags.to_list(), 3)}): the last line's, {found.tag}, names the run"
        )


def _name_faults(raw: Raw, layout: Layout, data: bytes, bad: Array, found: Found) -> None:
    lines = data.split(b"\n")
    numbers = content_lines(data)[bad]
    found.faulty = max(len(bad) - 20, 0)
    for number in numbers[:20].tolist():
        text = lines[number - 1].removeprefix(BOM).decode("utf-8", "replace").strip()
        fields = text.split()
        at = f"{raw.label} line {words.count(number)}"
        if len(fields) < len(layout.names):
            columns = words.counted(len(fields), "column")
            found.fault("columns", f"{at}: {columns}, {layout.line}: {words.quote(text)}", number)
        else:
            value = fields[layout.names.index(layout.number)]
            found.fault("number", f"{at}: {layout.number} {words.quote(value)} is not a number", number)
