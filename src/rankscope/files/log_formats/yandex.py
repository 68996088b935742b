"""Lines of queries and clicks in the formats of Yandex, PyClick and NAVER's CLARA 2.

Sources: the log of Yandex's Relevance Prediction Challenge (2011), whose lines PyClick and CLARA 2 read, and the log of Yandex's
Personalized Web Search Challenge (2013), which names users and pages of results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.log_formats.inputs import LogFormat, LogInput, LogPart, LogTable

QUERY = re.compile(r"^[^\t\s]+\t\d+(\.\d+)?\tQ\t[^\t]+(\t|$)")
SESSION = re.compile(r"^[^\t\s]+\tM\t\d+\t[^\t]+$")
LINES = "SESSION TIME Q QUERY REGION URL URL ... or SESSION TIME C URL, with tabs between"
NAMED_LINES = (
    "SESSION M DAY USER, SESSION TIME Q PAGE QUERY TERMS URL,DOMAIN ... or SESSION TIME C PAGE URL, with tabs between"
)
PADDING = " \t\r"  # CLARA 2 fills the lines of clicks up with empty fields
field = pl.col("fields").list


def read_lines(log_input: LogInput) -> LogTable:
    """Return one row per url on a page of results, with its click.

    A click belongs to the latest page before it in its session that shows the url, or to the page that its line names. A click on a url
    that no such page shows is a row of its own, with ``shown`` 0. The unit of time is not disclosed, so times stay what they are:
    ``time_passed`` when the page was shown, ``time_to_next`` from the first click to what the session did next (empty where it did nothing).
    """
    parts = [part for part in log_input.parts if YANDEX.fits(part)]
    if not parts:
        raise InputError(f"{log_input.label}: no lines of queries and clicks; a line is {LINES}")
    lines = pl.concat([_lines(part, number) for number, part in enumerate(parts)]).with_row_index("at")
    named = bool((lines["kind"] == "M").any())
    _check(lines, parts, named)
    pages = _pages(lines, named)
    shown = pages.filter(pl.col("item_id").list.len() > 0).explode("item_id", "position")
    if named:
        shown = shown.with_columns(pl.col("item_id").str.split(",").list.first())
    clicks = _clicks(lines, named)
    placed = _placed(clicks, shown, named)
    rows = _rows(shown, placed, pages)
    notes = [*log_input.left_out(parts, "queries and clicks"), *_remarks(shown, pages, placed)]
    read_as = f"lines of queries and clicks: {words.counted(pages.height, 'page')} of results, {words.counted(clicks.height, 'click')}"
    source = log_input.source("lines of queries and clicks", parts, place_of=_places(lines, parts, rows))
    return LogTable(rows.drop("at"), source, read_as, notes)


def _lines(part: LogPart, number: int) -> pl.DataFrame:
    assert part.raw is not None
    text = pl.col("line").str.strip_chars_end(PADDING)
    lines = part.raw.lines_frame().filter(pl.col("line").is_not_null() & (text != "")).select(
        pl.lit(number).alias("part"), text.str.split("\t").alias("fields")
    )  # fmt: skip
    is_session = field.get(1, null_on_oob=True) == "M"
    kind = pl.when(is_session).then(pl.lit("M")).otherwise(field.get(2, null_on_oob=True))
    time = field.get(1, null_on_oob=True).cast(pl.Float64, strict=False)
    return lines.with_columns(kind.fill_null("").alias("kind"), time.alias("time"))


def _check(lines: pl.DataFrame, parts: Sequence[LogPart], named: bool) -> None:
    kind, fields = pl.col("kind"), field.len()
    is_query = kind.is_in(["Q", "T"]) & (fields >= (6 if named else 5))
    is_click = (kind == "C") & (fields == (5 if named else 4))
    good = ((is_query | is_click) & pl.col("time").is_not_null()) | ((kind == "M") & (fields == 4))
    odd = lines.filter(~good.fill_null(value=False)).head(1)
    if odd.height:
        part = parts[odd["part"][0]]
        at, line = _line(part, int(odd["at"][0]) - lines.filter(pl.col("part") < odd["part"][0]).height)
        like = NAMED_LINES if named else LINES
        where = f"{part.label} line {words.count(at)}"
        raise InputError(f"{where}: {words.quote(line)}: a line is {like}; correct it, or leave it out")


def _line(part: LogPart, nth: int) -> tuple[int, str]:
    assert part.raw is not None
    rows = enumerate(part.raw.text().split(b"\n"), 1)
    at, line = next(islice(((at, line) for at, line in rows if line.strip(PADDING.encode())), nth, None))
    return at, line.decode("utf-8", "replace").strip()


def _places(lines: pl.DataFrame, parts: Sequence[LogPart], rows: pl.DataFrame) -> Callable[[int], str]:
    first = lines.group_by("part").agg(pl.col("at").min()).sort("part")["at"].to_list()

    def place_of(row: int) -> str:
        at = int(rows["at"][row])
        number = int(lines["part"][at])
        return f"{parts[number].label} line {words.count(_line(parts[number], at - first[number])[0])}"

    return place_of


def _pages(lines: pl.DataFrame, named: bool) -> pl.DataFrame:
    session, items = field.get(0), field.slice(6 if named else 5)
    page = field.get(3) if named else pl.int_range(1, pl.len() + 1).over(session).cast(pl.String)
    pages = lines.filter(pl.col("kind").is_in(["Q", "T"])).select(
        "at", session.alias("session_id"), pl.concat_str(session, page, separator="-").alias("impression_id"),
        field.get(4 if named else 3).alias("query_id"), *([] if named else [field.get(4).alias("region")]),
        pl.col("time").alias("time_passed"), items.alias("item_id"), pl.int_ranges(1, items.list.len() + 1).alias("position"),
    )  # fmt: skip
    if not named:
        return pages
    users = lines.filter(pl.col("kind") == "M").select(
        session.alias("session_id"), field.get(3).alias("user_id"), field.get(2).cast(pl.Int64, strict=False).alias("day_number")
    )  # fmt: skip
    return pages.join(users.unique("session_id", keep="first"), on="session_id", how="left", maintain_order="left")


def _clicks(lines: pl.DataFrame, named: bool) -> pl.DataFrame:
    session = field.get(0)
    acts = lines.filter(pl.col("kind") != "M")
    until = (pl.col("time").shift(-1).over(session) - pl.col("time")).alias("time_to_next")
    page = [pl.concat_str(session, field.get(3), separator="-").alias("impression_id")] if named else []
    chosen = acts.with_columns(until).filter(pl.col("kind") == "C")
    return chosen.select(
        "at", session.alias("session_id"), field.get(4 if named else 3).alias("item_id"), "time", "time_to_next", *page
    )


def _placed(clicks: pl.DataFrame, shown: pl.DataFrame, named: bool) -> pl.DataFrame:
    """Add the page and the position of each click; null if no page shows the url."""
    keys = ["session_id", "item_id", *(["impression_id"] if named else [])]
    first = shown.unique(["at", "item_id"], keep="first", maintain_order=True).select(
        "at", pl.col("at").alias("page"), "position", *keys
    )
    return clicks.join_asof(first, on="at", by=keys, strategy="backward", check_sortedness=False)


def _rows(shown: pl.DataFrame, placed: pl.DataFrame, pages: pl.DataFrame) -> pl.DataFrame:
    clicked = placed.filter(pl.col("page").is_not_null()).group_by("page", "position").agg(pl.col("time_to_next").first()).select(
        pl.col("page").alias("at"), "position", pl.lit(1).alias("click"), "time_to_next"
    )  # fmt: skip
    rows = shown.join(clicked, on=["at", "position"], how="left", maintain_order="left").with_columns(
        pl.lit(1).alias("shown"), pl.col("click").fill_null(0)
    )
    stray = placed.filter(pl.col("page").is_null()).select("at", "session_id", "item_id", "time", "time_to_next")
    about = pages.drop("item_id", "position", "time_passed")
    stray = stray.join_asof(about, on="at", by="session_id", strategy="backward", check_sortedness=False)
    stray = stray.unique(["session_id", "impression_id", "item_id"], keep="first", maintain_order=True).with_columns(
        pl.lit(0).alias("shown"), pl.lit(1).alias("click"), pl.col("time").alias("time_passed")
    )
    whole = pl.concat([rows, stray.drop("time")], how="diagonal").sort("at", "position", maintain_order=True)
    ids = [name for name in ("user_id", "session_id", "impression_id", "query_id") if name in whole.columns]
    order = [*ids, "item_id", "position", "shown", "click"]
    return whole.select(*order, *[name for name in whole.columns if name not in order])


def _remarks(shown: pl.DataFrame, pages: pl.DataFrame, placed: pl.DataFrame) -> list[str]:
    clicks, stray = placed.height, placed["page"].null_count()
    again = clicks - stray - placed.filter(pl.col("page").is_not_null()).unique(["page", "position"]).height
    empty = pages.filter(pl.col("item_id").list.len() == 0).height
    out = []
    if stray:
        some = f"{words.count(stray)} of {words.counted(clicks, 'click')}"
        out.append(f"{some}: no page before in the session shows the url. It becomes an extra row, with shown 0")
    if again:
        out.append(f"{words.counted(again, 'click')} came again on a url of the same page: each url is clicked or not")
    if empty:
        out.append(f"{words.counted(empty, 'page')} of results showed nothing, and {words.agree(empty, 'has')} no row")
    remedy = "if time_to_next is in seconds, use --columns 'time_to_next=dwell_s'"
    return [*out, f"times are in the unit of the log, which is not disclosed: {remedy}"]


YANDEX = LogFormat(
    "yandex", "lines of queries and clicks: Yandex, PyClick, NAVER CLARA 2",
    f"lines like {LINES}",
    read_lines, lines=(QUERY, SESSION), names=("pyclick", "clara2", "clara"),
)  # fmt: skip
