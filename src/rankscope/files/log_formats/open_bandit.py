"""Files of the Open Bandit Dataset: one item that was shown at one position a row, with the chance that it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.log_formats.base import LogFormat, LogTable
from rankscope.files.log_formats.inputs import LogInput, LogPart, left_out
from rankscope.files.sheets import Sheet

COLUMNS = {"timestamp", "item_id", "position", "click"}
CHANCES = ("propensity_score", "action_prob")
POLICIES, CAMPAIGNS = ("random", "bts"), ("all", "men", "women")  # which the folders of the data set are called by
ONE = "a row is one item at one position, and nothing says which rows were on one page: there are no lists"


def _is_rows(part: LogPart) -> bool:
    names = set(part.names)
    of_users = any(name.startswith(("user_feature_", "user-item_affinity_")) for name in names)
    return of_users and names >= COLUMNS and bool(names & set(CHANCES))


def _is_items(part: LogPart) -> bool:
    return {"item_id", "item_feature_0"} <= set(part.names)


def read_open_bandit(given: LogInput) -> LogTable:
    """Rows of the Open Bandit Dataset as they are: ``propensity_score`` is how probable the item was at its position, from 1 to 3.

    Of several files each says by its folder which policy made it (``random/men/men.csv`` is of the policy random), which becomes
    ``logger_id``, and by its name which campaign it is of. Features of items, which lie beside as ``item_context.csv``, are joined to them.

    A row ``timestamp=..., item_id=14, position=3, click=0, propensity_score=0.029`` is the same row here. Source: Saito, Aihara,
    Matsutani and Narita, Open Bandit Dataset and Pipeline, arXiv 2008.07146.
    """
    parts = [part for part in given.parts if _is_rows(part)]
    if not parts:
        raise InputError(
            f"{given.label}: no file of Open Bandit, whose columns are {', '.join(sorted(COLUMNS))}, propensity_score, user_feature_0 ..."
        )
    items = [part for part in given.parts if _is_items(part)]
    sheets = [part.sheet() for part in parts]
    frames = [_with_items(_labelled(part, sheet.frame), part, items) for part, sheet in zip(parts, sheets, strict=True)]
    frame = pl.concat(frames, how="diagonal_relaxed")
    source = given.source("Open Bandit", parts, place_of=_places(sheets))
    loggers = sorted(set(frame["logger_id"].drop_nulls())) if "logger_id" in frame.columns else []
    by = f" by {'policies' if len(loggers) > 1 else 'the policy'} {words.listing(loggers)}" if loggers else ""
    return LogTable(
        frame,
        source,
        f"Open Bandit: {words.counted(frame.height, 'impression')}{by}",
        [*left_out(given, [*parts, *items], "rows of Open Bandit"), ONE],
    )


def _labelled(part: LogPart, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a file with its policy and campaign, where its folders and its name say them."""
    folders = [folder.lower() for folder in Path(part.label).parts[:-1]]
    policy = next((folder for folder in reversed(folders) if folder in POLICIES), None)
    said = {"logger_id": policy, "campaign": part.name if part.name in CAMPAIGNS else None}
    return frame.with_columns(pl.lit(value).alias(name) for name, value in said.items() if value is not None)


def _with_items(frame: pl.DataFrame, part: LogPart, items: list[LogPart]) -> pl.DataFrame:
    """The rows of a file with the features of items that lie in the same folder."""
    near = [one for one in items if Path(one.label).parent == Path(part.label).parent]
    if not near:
        return frame
    features = near[0].sheet().frame
    names = [name for name in features.columns if name.startswith("item_feature_")]
    features = features.select(pl.col("item_id").cast(pl.String), *names).unique("item_id", keep="first")
    return frame.with_columns(pl.col("item_id").cast(pl.String)).join(
        features, on="item_id", how="left", maintain_order="left"
    )


def _places(sheets: list[Sheet]) -> Callable[[int], str]:
    """Where a row stands, of several files one after the other."""
    ends = np.cumsum([sheet.frame.height for sheet in sheets])

    def place_of(row: int) -> str:
        number = int(np.searchsorted(ends, row, side="right"))
        return sheets[number].at(row - int(ends[number] - sheets[number].frame.height))

    return place_of


OPEN_BANDIT = LogFormat(
    "open_bandit", "files of the Open Bandit Dataset", "columns item_id, position, click, propensity_score and user_feature_0",
    lambda given: any(map(_is_rows, given.parts)), read_open_bandit, names=("obd",),
)  # fmt: skip
