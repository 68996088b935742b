"""Logs from wherever they lie: files, folders and frames that are read here, and Spark frames, whose rows stay where they are."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from rankscope.files import logs
from rankscope.files.roles import said_columns
from rankscope.impressions import Log


def read_log(source: Any, *, columns: Mapping[str, str] | str | None = None) -> Log:
    """Read a log: a row a shown item and what was done with it, or a row a user with numbers.

    ``source`` is a path (CSV, TSV, JSON lines, Parquet, compressed or not), a folder or pattern of such files, or a data frame of
    any library. Columns are known by their usual names, however these are spelled (``userId``, ``clicked``, ``rank``); ``columns``
    gives the role of others, as in ``{"visitor": "unit_id"}``. Clicks and the like are numbers, true and false, or yes and no; null (an
    empty cell) says that it was not observed. Times without a zone are taken as UTC. The rows of a Spark frame stay where they are: what is asked of
    the log is asked there.

    Raises InputError for what cannot be read: the first cell that is at fault is named with its row.

    >>> import polars as pl
    >>> log = read_log(pl.DataFrame({"item": ["a", "b"], "clicked": [True, False]}))
    >>> sorted(log.roles.items()), log.rows
    ([('click', 'clicked'), ('item_id', 'item')], 2)
    """
    return logs.read_log(_in_place(source), columns=columns)


def read_experiment(source: Any, *, variant: str | None = None, columns: Mapping[str, str] | str | None = None) -> Log:
    """Read the log of an experiment; ``variant`` is the column of variants, where it has an unusual name.

    Raises DataError where no column says which variant a unit was given.
    """
    said = dict(said_columns(columns, "visitor=unit_id")) if columns else {}
    log = read_log(source, columns={**said, **({variant: "variant"} if variant else {})} or None)
    log.require(("variant",), "an experiment")
    return log


def log_of(source: Any, *, columns: Mapping[str, str] | str | None = None) -> Log | None:
    """A log, where the columns of what is given are those of one; None for judgments, rankings and all else.

    Raises InputError for a log that cannot be read, and for a file that is not there.
    """
    return logs.log_of(_in_place(source), columns=columns)


def _in_place(source: Any) -> Any:
    """The rows of a Spark frame as they lie; all else as it is."""
    if "pyspark" not in sys.modules:  # whoever has a frame has loaded it
        return source
    from rankscope.engines.spark import is_frame

    if not is_frame(source):
        return source
    from rankscope.scoring.spark.logs import rows_of

    return rows_of(source)
