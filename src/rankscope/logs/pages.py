"""Pages of a log, read once: the rows of shown items as a rectangle of lists by places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.impressions import COLUMNS, Log
from rankscope.lists import Array
from rankscope.lists.ids import Ids
from rankscope.lists.pages import Pages, PairIds
from rankscope.tables import FROM_CLICKS

DEEPEST = 200  # places of a rectangle, unless a depth is given
RULE = re.compile(r"([^<>=]+?)\s*(?:>=\s*([^=]+?)\s*)?=\s*([^=]+)")
GRADES_LIKE = "grades are like click=1,dwell>=30=2,purchase=3"


@dataclass(frozen=True)
class Grade:
    """A grade for engagement: ``column`` at least ``least`` (above 0 if None) is worth ``grade``."""

    column: str
    least: float | None
    grade: float


def read_grades(grades: str | Mapping[str, float]) -> list[Grade]:
    """Read grades of engagement, written ``click=1,dwell>=30=2,purchase=3`` or as a mapping.

    >>> read_grades("click=1,dwell>=30=2")
    [Grade(column='click', least=None, grade=1.0), Grade(column='dwell', least=30.0, grade=2.0)]
    """
    parts = [f"{name}={grade}" for name, grade in grades.items()] if isinstance(grades, Mapping) else grades.split(",")
    out = []
    for part in map(str.strip, parts):
        match = RULE.fullmatch(part)
        numbers = [words.as_number(match[i]) if match and match[i] else None for i in (2, 3)]
        if match is None or numbers[1] is None or numbers[1] <= 0 or (match[2] and numbers[0] is None):
            raise InputError(f"grade {words.quote(part)}: {GRADES_LIKE}, each grade a number above 0")
        out.append(Grade(match[1].strip(), numbers[0], numbers[1]))
    return out


@dataclass(frozen=True, eq=False)
class ReadPages:
    """Pages of a log, with remarks on rows that were left out, and the names of rankers and of the slices ``parts``."""

    pages: Pages
    remarks: tuple[str, ...]
    rankers: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    unit: str = "list"


def read_pages(
    log: Log, *, depth: int | None = None, grades: list[Grade] | None = None, by: str | None = None
) -> ReadPages:
    """Read the pages of a log: one list per impression, down to ``depth``, with the items, the clicks, and all else that it names.

    ``grades`` grade the engagement with each item, ``by`` is a column whose values are slices of lists. Raises DataError for a log
    without lists, items, positions or clicks.
    """
    log.require(("impression_id", "item_id", "position", "click"), "a page of results")
    inside = pl.col("position").is_not_null() & pl.col("impression_id").is_not_null() & pl.col("item_id").is_not_null()
    if log.has("shown"):
        inside &= (pl.col("shown") > 0).fill_null(value=True)
    first = _first_position(log)
    place = (pl.col("position") - first).cast(pl.Int32)
    if depth is not None:
        inside &= place < depth
    rows = log.gather(
        lambda frame: frame.filter(inside).select(place.alias("place"), *_columns(log, grades, by)), "impression_id"
    )
    if not len(rows):
        raise DataError(f"{log.label}: no row shows an item at a position, so there are no pages")
    if depth is None and (wide := int(rows["place"].max()) + 1) > DEEPEST:  # type: ignore[arg-type] # it has rows
        raise DataError(f"{log.label}: positions go down to {words.count(wide)}: give a depth, like --depth 20")
    if not rows["click"].any():
        raise DataError(f"{log.label}: no shown item was clicked, so nothing can be learned of clicks")
    pairs = log.gather(
        lambda frame: frame.filter(inside).group_by(_pair(log).alias("pair")).agg(*_names(log)), "impression_id"
    )
    return _pages(
        log, rows, pairs.unique("pair", keep="first", maintain_order=True), tuple(_remarks(log, inside, depth)), by
    )


def _first_position(log: Log) -> int:
    """The number of the first position: 0 or 1."""
    lowest = log.gather(lambda frame: frame.select(pl.col("position").min())).min().item()
    if lowest is None:
        raise DataError(f"{log.label}: no row has a position: fill the column position, counted from 1")
    if lowest < 0:
        raise DataError(f"{log.label}: a row has position {lowest}: positions count from 1")
    return 0 if lowest == 0 else 1


def _pair(log: Log) -> pl.Expr:
    item = pl.col("item_id").hash(1)
    return item ^ pl.col("query_id").fill_null("").hash(2) if log.has("query_id") else item


def _names(log: Log) -> list[pl.Expr]:
    query = pl.col("query_id").fill_null("").first() if log.has("query_id") else pl.lit("").first()
    return [query.alias("query_id"), pl.col("item_id").first()]


def _columns(log: Log, grades: list[Grade] | None, by: str | None) -> Iterator[pl.Expr]:
    yield pl.col("impression_id").hash().alias("list")
    yield _pair(log).alias("pair")
    yield (pl.col("click") > 0).fill_null(value=False).alias("click")
    for role in ("session_id", "unit_id"):
        if log.has(role):
            yield pl.col(role).fill_null(pl.col("impression_id")).hash().alias(role)
    if log.has("logger_id"):
        yield pl.col("logger_id").fill_null("").alias("ranker")
    if log.has("p_item_pos"):
        yield pl.col("p_item_pos").cast(pl.Float64).alias("chance")
    if log.has("label"):
        yield pl.col("label").cast(pl.Float64).alias("label")
    if log.has("timestamp"):
        yield pl.col("timestamp").dt.epoch("ms").alias("time")
    if grades is not None:
        yield _worth(log, grades).alias("worth")
    if by is not None:
        yield pl.col(log.column(by, "to slice by")).cast(pl.String).fill_null("(empty)").alias("part")


def _worth(log: Log, grades: list[Grade]) -> pl.Expr:
    """The highest grade that the engagement in a row reaches, 0 for none."""
    worths = []
    for one in grades:
        plain = words.plain_name(one.column)
        role = next(
            (name for name, column in COLUMNS.items() if plain in map(words.plain_name, (name, *column.names))), None
        )
        value = log.number(role if role is not None and log.has(role) else one.column)
        reached = value > 0 if one.least is None else value >= one.least
        worths.append(pl.when(reached).then(one.grade).otherwise(0.0))
    return reduce(pl.max_horizontal, worths)


def _numbered(column: pl.Series) -> tuple[Array, pl.Series]:
    """The number of each value in order of first appearance, and the values."""
    known = column.unique(maintain_order=True)
    numbers = column.to_frame("value").join(
        pl.DataFrame({"value": known, "number": np.arange(len(known), dtype=np.int32)}),
        on="value",
        how="left",
        maintain_order="left",
    )
    return numbers["number"].to_numpy(), known


def _pages(log: Log, rows: pl.DataFrame, names: pl.DataFrame, remarks: tuple[str, ...], by: str | None) -> ReadPages:
    list_number, lists = _numbered(rows["list"])
    place = rows["place"].to_numpy()
    wide = int(place.max()) + 1
    pair, known = _numbered(rows["pair"])
    names = pl.DataFrame({"pair": known}).join(names, on="pair", how="left", maintain_order="left")
    shape = len(lists), wide
    item = np.full(shape, -1, dtype=np.int32)
    item[list_number, place] = pair
    if int((item >= 0).sum()) < len(rows):
        raise DataError(
            f"{log.label}: lists have several items at one position: an impression_id must name one list as it was shown"
        )
    click = np.zeros(shape, dtype=bool)
    click[list_number, place] = rows["click"].to_numpy()
    first = np.zeros(len(lists), dtype=np.int64)
    first[list_number[::-1]] = np.arange(len(rows) - 1, -1, -1)  # a row of each list
    of_list, of_cell = _facts(rows, first, list_number, place, shape)
    session = of_list.pop("session_id", np.arange(len(lists)))
    unit = "user" if log.has("unit_id") else "session" if log.has("session_id") else "list"
    rankers, parts = (tuple(of_list.pop(f"{name}s", ())) for name in ("ranker", "part"))
    pairs, units = PairIds(Ids(names["query_id"]), Ids(names["item_id"])), of_list.pop("unit_id", session)
    pages = Pages(item, click, pairs, session, units, **of_list, **of_cell)
    return ReadPages(pages, remarks, rankers, parts, unit)


def _facts(
    rows: pl.DataFrame, first: Array, list_number: Array, place: Array, shape: tuple[int, int]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Facts of lists (session, user, ranker, slice, time), and of shown items (probability, label, worth)."""
    of_list: dict[str, Array] = {}
    for name in ("session_id", "unit_id", "ranker", "part"):
        if name in rows.columns:
            of_list[name], values = _numbered(rows[name][first])
            if name in {"ranker", "part"}:
                of_list[f"{name}s"] = values.to_list()  # type: ignore[assignment]
    if "time" in rows.columns:
        of_list["time"] = rows["time"][first].fill_null(0).to_numpy()
    of_cell = {}
    for name in ("chance", "label", "worth"):
        if name in rows.columns:
            of_cell[name] = np.full(shape, np.nan)
            of_cell[name][list_number, place] = rows[name].to_numpy()
    return of_list, of_cell


def _remarks(log: Log, inside: pl.Expr, depth: int | None) -> Iterator[str]:
    clicked = (pl.col("click") > 0).fill_null(value=False)
    left = log.gather(
        lambda frame: frame.filter(~inside).select(pl.len().alias("rows"), clicked.sum().alias("clicks"))
    ).sum()
    count, clicks = left.row(0)
    if count:
        why = "no position or not shown" if depth is None else f"no position, not shown, or below place {depth}"
        among = f", {words.counted(clicks, 'click')} among them" if clicks else ""
        yield f"{words.counted(count, 'row')} left out: {why}{among}"


def grade_rows(pairs: PairIds, grade: Array, error: Array, views: Array) -> pl.DataFrame:
    """Return grades from behaviour as a table of judgments, the best of each query first, with the error and the views of each."""
    columns = {
        "query_id": list(pairs.query), "doc_id": list(pairs.item), "grade": grade.round(4), "iteration": [FROM_CLICKS] * len(pairs),
        "error": error.round(4), "views": views.round(1),
    }  # fmt: skip
    return pl.DataFrame(columns).sort("query_id", "grade", descending=[False, True], maintain_order=True)


def query_weights(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the views that the grades of each query rest on, as weights of queries."""
    return rows.group_by("query_id", maintain_order=True).agg(pl.col("views").sum().round(1).alias("weight"))
