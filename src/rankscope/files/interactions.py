"""Training data of a recommender: users, their items, and times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from rankscope.errors import InputError
from rankscope.files.readers import qrels_of
from rankscope.files.roles import ColumnRoles
from rankscope.files.sheets import Sheet, is_path, open_sheet

USERS = ("user_id", "user", "userid", "query_id", "qid", "session_id", "customer_id")
ITEMS = ("item_id", "item", "itemid", "movieid", "movie_id", "doc_id", "docid", "product_id", "article_id", "iid")
TIMES = ("timestamp", "time", "unix_timestamp", "datetime", "date", "ts", "t_dat", "event_time", "created_at")
EXPECTED = "interactions are a table with the columns user_id and item_id"


def interactions_of(source: Any, columns: ColumnRoles | None = None) -> pl.DataFrame:
    """Read interactions from a table of users and items, or from any input of qrels.

    Each row has ``query_id`` (the user), ``doc_id`` (the item) and ``time``, null if it is unknown. ``columns`` gives roles to columns.
    """
    sheet = _sheet(source)
    given = columns.among(sheet.frame.columns, "qrels", sheet.label) if sheet is not None and columns else {}
    user, item = (sheet.role(USERS), sheet.role(ITEMS)) if sheet else (None, None)
    user, item = given.get("query_id", user), given.get("doc_id", item)
    if sheet is not None and user and item:
        frame = pl.DataFrame({"query_id": sheet.ids(user, "user"), "doc_id": sheet.ids(item, "item")})
        time = sheet.role(TIMES)
        return frame.with_columns(time=_seconds(sheet.frame[time]) if time else pl.lit(None, pl.Float64))
    return qrels_of(source, columns).frame.select("query_id", "doc_id", time=pl.lit(None, pl.Float64))


def timed_interactions(source: Any) -> pl.DataFrame | None:
    """Read interactions from a table with a column of times; None for any other input."""
    sheet = _sheet(source)
    return None if sheet is None or sheet.role(TIMES) is None else interactions_of(source)


def _sheet(source: Any) -> Sheet | None:
    if isinstance(source, Mapping) or not (is_path(source) or hasattr(source, "__arrow_c_stream__")):
        return None
    try:
        found = open_sheet(source, "train", EXPECTED, (*USERS, *ITEMS))
    except InputError:
        return None
    return found if isinstance(found, Sheet) else None


def _seconds(column: pl.Series) -> pl.Series:
    if column.dtype.is_numeric():
        return column.cast(pl.Float64)
    if column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        if numbers.is_not_null().any():
            return numbers
        column = column.str.replace("T", " ").str.slice(0, 19)
        dates = column.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
        column = dates.fill_null(column.str.slice(0, 10).str.to_datetime("%Y-%m-%d", strict=False))
    return column.cast(pl.Datetime).dt.epoch("s").cast(pl.Float64)
