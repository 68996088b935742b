"""Files of the Open Bandit Dataset: one shown item and its propensity per row."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.folders import joint_places
from rankscope.files.log_formats.inputs import LogFormat, LogInput, LogPart, LogTable

COLUMNS = {"timestamp", "item_id", "position", "click"}
CHANCES = ("propensity_score", "action_prob")
POLICIES, CAMPAIGNS = ("random", "bts"), ("all", "men", "women")  # names of folders
ONE = "a row is one item at one position, and the file does not say which rows were on one page: there are no lists"


def _is_rows(part: LogPart) -> bool:
    names = set(part.names)
    of_users = any(name.startswith(("user_feature_", "user-item_affinity_")) for name in names)
    return of_users and names >= COLUMNS and bool(names & set(CHANCES))


def _is_items(part: LogPart) -> bool:
    return {"item_id", "item_feature_0"} <= set(part.names)


def read_open_bandit(given: LogInput) -> LogTable:
    """Return the rows of the Open Bandit Dataset: ``propensity_score`` is the probability of the item at its position, from 1 to 3.

    The folder of a file names its policy (``random/men/men.csv``: random), which becomes ``logger_id``; the file name is the campaign.
    Features of items in ``item_context.csv`` of the same folder are joined.

    A row ``timestamp=..., item_id=14, position=3, click=0, propensity_score=0.029`` is the same row here. Source: Saito, Aihara,
    Matsutani and Narita, Open Bandit Dataset and Pipeline, arXiv 2008.07146.
    """
    parts = [part for part in given.parts if _is_rows(part)]
    if not parts:
        raise InputError(
            f"{given.label}: no file of Open Bandit with the columns {', '.join(sorted(COLUMNS))}, propensity_score, user_feature_0 ..."
        )
    items = [part for part in given.parts if _is_items(part)]
    sheets = [part.sheet() for part in parts]
    frames = [_with_items(_labelled(part, sheet.frame), part, items) for part, sheet in zip(parts, sheets, strict=True)]
    frame = pl.concat(frames, how="diagonal_relaxed")
    source = given.source(
        "Open Bandit", parts, place_of=joint_places([(sheet.frame.height, sheet.at) for sheet in sheets])
    )
    loggers = sorted(set(frame["logger_id"].drop_nulls())) if "logger_id" in frame.columns else []
    by = f" by {'policies' if len(loggers) > 1 else 'the policy'} {words.listing(loggers)}" if loggers else ""
    return LogTable(
        frame,
        source,
        f"Open Bandit: {words.counted(frame.height, 'impression')}{by}",
        [*given.left_out([*parts, *items], "rows of Open Bandit"), ONE],
    )


def _labelled(part: LogPart, frame: pl.DataFrame) -> pl.DataFrame:
    folders = [folder.lower() for folder in Path(part.label).parts[:-1]]
    policy = next((folder for folder in reversed(folders) if folder in POLICIES), None)
    said = {"logger_id": policy, "campaign": part.name if part.name in CAMPAIGNS else None}
    return frame.with_columns(pl.lit(value).alias(name) for name, value in said.items() if value is not None)


def _with_items(frame: pl.DataFrame, part: LogPart, items: list[LogPart]) -> pl.DataFrame:
    near = [one for one in items if Path(one.label).parent == Path(part.label).parent]
    if not near:
        return frame
    features = near[0].sheet().frame
    names = [name for name in features.columns if name.startswith("item_feature_")]
    features = features.select(pl.col("item_id").cast(pl.String), *names).unique("item_id", keep="first")
    return frame.with_columns(pl.col("item_id").cast(pl.String)).join(
        features, on="item_id", how="left", maintain_order="left"
    )


OPEN_BANDIT = LogFormat(
    "open_bandit", "files of the Open Bandit Dataset", "columns item_id, position, click, propensity_score and user_feature_0",
    lambda given: any(map(_is_rows, given.parts)), read_open_bandit, names=("obd",),
)  # fmt: skip
