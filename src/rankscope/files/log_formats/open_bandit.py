"""The Open Bandit Dataset, one shown item and its propensity per row, and the feedback of the Open Bandit Pipeline (obp)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.log_formats.inputs import LogFormat, LogInput, LogPart, LogTable
from rankscope.files.parts import joint_places
from rankscope.tables import Array

COLUMNS = {"timestamp", "item_id", "position", "click"}
CHANCES = ("propensity_score", "action_prob")
POLICIES, CAMPAIGNS = ("random", "bts"), ("all", "men", "women")  # names of folders
ONE = "a row is one item at one position, and the file does not contain the pages: rows cannot be grouped into lists"


def _is_rows(part: LogPart) -> bool:
    of_users = any(name.startswith(("user_feature_", "user-item_affinity_")) for name in part.names)
    return of_users and OPEN_BANDIT.fits(part)


def read_open_bandit(log_input: LogInput) -> LogTable:
    """Return the rows of the Open Bandit Dataset: ``propensity_score`` is the probability of the item at its position, from 1 to 3.

    The folder of a file names its policy (``random/men/men.csv``: random), which becomes ``logger_id``; the file name is the campaign.
    Features of items in ``item_context.csv`` of the same folder are joined.

    A row ``timestamp=..., item_id=14, position=3, click=0, propensity_score=0.029`` is the same row here. Source: Saito, Aihara,
    Matsutani and Narita, Open Bandit Dataset and Pipeline, arXiv 2008.07146.
    """
    parts = [part for part in log_input.parts if _is_rows(part)]
    if not parts:
        expected = f"{', '.join(sorted(COLUMNS))}, propensity_score, user_feature_0 ..."
        raise InputError(f"{log_input.label}: no file of Open Bandit with the columns {expected}")
    items = [part for part in log_input.parts if {"item_id", "item_feature_0"} <= set(part.names)]
    sheets = [part.sheet() for part in parts]
    frames = [_with_items(_labelled(part, sheet.frame), part, items) for part, sheet in zip(parts, sheets, strict=True)]
    frame = pl.concat(frames, how="diagonal_relaxed")
    source = log_input.source(
        "Open Bandit", parts, place_of=joint_places([(sheet.frame.height, sheet.at) for sheet in sheets])
    )
    loggers = sorted(set(frame["logger_id"].drop_nulls())) if "logger_id" in frame.columns else []
    by = f" by {'policies' if len(loggers) > 1 else 'the policy'} {words.listing(loggers)}" if loggers else ""
    read_as = f"Open Bandit: {words.counted(frame.height, 'impression')}{by}"
    return LogTable(frame, source, read_as, [*log_input.left_out([*parts, *items], "rows of Open Bandit"), ONE])


def _labelled(part: LogPart, frame: pl.DataFrame) -> pl.DataFrame:
    folders = [folder.lower() for folder in Path(part.label).parts[:-1]]
    policy = next((folder for folder in reversed(folders) if folder in POLICIES), None)
    labels = {"logger_id": policy, "campaign": part.name if part.name in CAMPAIGNS else None}
    return frame.with_columns(pl.lit(value).alias(name) for name, value in labels.items() if value is not None)


def _with_items(frame: pl.DataFrame, part: LogPart, items: list[LogPart]) -> pl.DataFrame:
    near = [one for one in items if Path(one.label).parent == Path(part.label).parent]
    if not near:
        return frame
    features = near[0].sheet().frame
    names = [name for name in features.columns if name.startswith("item_feature_")]
    features = features.select(pl.col("item_id").cast(pl.String), *names).unique("item_id", keep="first")
    frame = frame.with_columns(pl.col("item_id").cast(pl.String))
    return frame.join(features, on="item_id", how="left", maintain_order="left")


OPEN_BANDIT = LogFormat(
    "open_bandit", "files of the Open Bandit Dataset", "columns item_id, position, click, propensity_score and user_feature_0",
    read_open_bandit, [{*COLUMNS, chance} for chance in CHANCES], sure=lambda log_input: any(map(_is_rows, log_input.parts)), names=("obd",),
)  # fmt: skip


# --- the dict of feedback of obp: one array per column, one element per row ---------------------------------------------


EXPECTS = "action and reward as arrays, and position (from 0), pscore, slate_id and context if there are any"
ROLES = {
    "action": "item_id", "reward": "reward", "slate_id": "impression_id", "pscore_item_position": "p_item_pos",
    "pscore_cascade": "p_prefix",
}  # fmt: skip


def read_obp(log_input: LogInput) -> LogTable:
    """Return obp's ``bandit_feedback`` as rows: action, reward, and position, which obp counts from 0 and a log from 1.

    ``pscore`` is the probability of the action at its position (``p_item_pos``). For slates, which have a ``slate_id``, it is the
    probability of the slate (``p_slate``), ``pscore_cascade`` of the slate down to the position (``p_prefix``), and
    ``pscore_item_position`` of the action at its position. A reward of only 0 and 1 is also a click. Columns of ``context`` and other
    arrays with one element per row are attributes.

    >>> feedback = {"n_rounds": 2, "action": [3, 1], "position": [0, 2], "reward": [1, 0], "pscore": [0.5, 0.1]}
    >>> print(read_obp(LogInput("log", (), feedback)).frame.rows(named=True)[1])
    {'item_id': 1, 'position': 3, 'reward': 0, 'click': 0, 'p_item_pos': 0.1}
    """
    arrays = log_input.arrays
    if arrays is None or not {"action", "reward"} <= set(arrays):
        raise InputError(f"{log_input.label}: no feedback as obp has it; {EXPECTS} are expected")
    rows = len(_array(log_input, "action", arrays["action"]))
    slates = arrays.get("slate_id") is not None
    columns: dict[str, Array] = {}
    for name in ("slate_id", "action", "position", "reward", "pscore", "pscore_item_position", "pscore_cascade"):
        if arrays.get(name) is None:
            continue
        array = _array(log_input, name, arrays[name])
        if array.ndim != 1 or len(array) != rows:
            shapes = f"{name} is of shape {array.shape}, and action has {words.counted(rows, 'element')}"
            raise InputError(f"{log_input.label}: {shapes}; they should have one element per row each")
        if name == "position":
            columns[name] = _from_one(log_input, array)
        else:
            columns[ROLES.get(name, "p_slate" if slates else "p_item_pos")] = array
        if name == "reward" and np.isin(array, (0, 1)).all():
            columns["click"] = array
    context = _context(log_input, arrays, rows)
    columns |= context
    others, left = _others(arrays, rows, used=bool(context))
    frame = pl.DataFrame({**columns, **others})
    notes = ["positions are counted from 0 there: 1 is added to all"] if "position" in columns else []
    notes += ["reward is 0 or 1 in all rows: it is also taken as click"] if "click" in columns else []
    notes += [f"left out, as they have no element for each row: {words.listing(left)}"] if left else []
    in_slates = f" in {words.counted(len(np.unique(columns['impression_id'])), 'slate')}" if slates else ""
    source = log_input.source("obp", log_input.parts)
    return LogTable(frame, source, f"feedback as obp has it: {words.counted(rows, 'row')}{in_slates}", notes)


def _array(log_input: LogInput, name: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:  # rows of several lengths
        array = np.asarray(None)
    if array.dtype == object or not array.ndim:
        raise InputError(f"{log_input.label}: {name} should be an array of numbers or texts; {EXPECTS} are expected")
    return array


def _from_one(log_input: LogInput, position: Array) -> Array:
    if position.dtype.kind not in "iu" or (len(position) and position.min() < 0):
        problem = f"position holds {words.quote(str(position.min()))}"
        raise InputError(f"{log_input.label}: {problem}; positions are whole numbers, which count from 0 in obp")
    return position.astype(np.int64) + 1


def _context(log_input: LogInput, arrays: Mapping[str, Any], rows: int) -> dict[str, Array]:
    """Return a column per dimension of the context; rows of a slate share its context."""
    if arrays.get("context") is None:
        return {}
    context = _array(log_input, "context", arrays["context"])
    if context.ndim != 2:
        return {}
    if len(context) != rows and arrays.get("slate_id") is not None:
        slates, place = np.unique(np.asarray(arrays["slate_id"]), return_inverse=True)
        if len(slates) != len(context):
            return {}
        context = context[place]
    return {f"context_{i}": context[:, i] for i in range(context.shape[1])} if len(context) == rows else {}


def _others(arrays: Mapping[str, Any], rows: int, used: bool) -> tuple[dict[str, Array], list[str]]:
    others, left = {}, []
    for name, value in arrays.items():
        known = name in {*ROLES, "position", "pscore"} or (name == "context" and used)
        if known or value is None or np.ndim(value) == 0:
            continue
        array = np.asarray(value)
        if array.ndim == 1 and len(array) == rows and array.dtype != object:
            others[str(name)] = array
        else:
            left.append(str(name))
    return others, left


OBP = LogFormat(
    "obp", "the dict of feedback of obp (Open Bandit Pipeline)", EXPECTS,
    read_obp, arrays=("n_rounds", "action", "reward"),
    names=("bandit_feedback",),
)  # fmt: skip
