"""Logs from wherever they lie: files, folders and frames that are read here, and Spark frames, whose rows stay where they are."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from rankscope.errors import InputError
from rankscope.files import logs
from rankscope.files.roles import said_columns
from rankscope.impressions import Log


def read_log(source: Any, *, columns: Mapping[str, str] | str | None = None, log_format: str | None = None) -> Log:
    """Read a log: a row a shown item and what was done with it, or a row a user with numbers.

    ``source`` is a path (CSV, TSV, JSON lines, Parquet, compressed or not), a folder or pattern of such files, or a data frame of
    any library. Columns are known by their usual names, however these are spelled (``userId``, ``clicked``, ``rank``); ``columns``
    gives the role of others, as in ``{"visitor": "unit_id"}``. Clicks and the like are numbers, true and false, or yes and no; null (an
    empty cell) says that it was not observed. Times without a zone are taken as UTC. The rows of a Spark frame stay where
    they are, and are asked there.

    Logs that other tools write are told from tables by what they hold, and made rows of: files of Open Bandit (``open_bandit``) and the dict
    of obp (``obp``), OpenSearch UBI (``ubi``: a folder with queries and events, or ``{"queries": ..., "events": ...}``), lines of queries
    and clicks of Yandex, PyClick and NAVER CLARA 2 (``yandex``), GrowthBook's rows (``growthbook``: a folder with exposures and metrics, or
    ``{"exposures": ..., "orders": ...}``) and events of interleaved searches (``interleaved``). ``log_format`` names one of these, or
    ``"table"`` where a table must not be taken for one.

    Raises InputError for what cannot be read: the first cell or line that is at fault is named with its row.

    >>> import polars as pl
    >>> log = read_log(pl.DataFrame({"item": ["a", "b"], "clicked": [True, False]}))
    >>> sorted(log.roles.items()), log.rows
    ([('click', 'clicked'), ('item_id', 'item')], 2)
    >>> queries = [{"query_id": "q-1", "client_id": "c", "user_query": "tv", "query_response_hit_ids": ["a", "b"]}]
    >>> events = [{"query_id": "q-1", "action_name": "click", "event_attributes": {"object": {"object_id": "b"}}}]
    >>> log = read_log({"queries": queries, "events": events})
    >>> log.collect(log.frame.select("item_id", "position", "click")).rows()
    [('a', 1, 0.0), ('b', 2, 1.0)]
    """
    return logs.read_log(_in_place(source, log_format), columns=columns, log_format=log_format)


def read_experiment(
    source: Any,
    *,
    variant: str | None = None,
    columns: Mapping[str, str] | str | None = None,
    log_format: str | None = None,
) -> Log:
    """Read the log of an experiment; ``variant`` is the column of variants, where it has an unusual name.

    Raises DataError where no column says which variant a unit was given.
    """
    said = dict(said_columns(columns, "visitor=unit_id")) if columns else {}
    roles = {**said, **({variant: "variant"} if variant else {})}
    log = read_log(source, columns=roles or None, log_format=log_format)
    log.require(("variant",), "an experiment")
    return log


def log_of(source: Any, *, columns: Mapping[str, str] | str | None = None, log_format: str | None = None) -> Log | None:
    """A log, where the columns of what is given are those of one; None for judgments, rankings and all else.

    Raises InputError for a log that cannot be read, and for a file that is not there.
    """
    return logs.log_of(_in_place(source, log_format), columns=columns, log_format=log_format)


def _in_place(source: Any, log_format: str | None) -> Any:
    """The rows of a Spark frame as they lie; all else as it is."""
    if "pyspark" not in sys.modules:  # whoever has a frame has loaded it
        return source
    from rankscope.engines.spark import is_frame

    if not is_frame(source):
        return source
    if log_format not in {None, "table"}:
        raise InputError(
            f"log_format={log_format!r}: a Spark frame is taken as a table, with a row a shown item or a row a user"
        )
    from rankscope.scoring.spark.logs import rows_of

    return rows_of(source)
