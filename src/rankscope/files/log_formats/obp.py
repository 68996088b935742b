"""The dict of logged feedback that obp (Open Bandit Pipeline) hands around: one array a thing, one element a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.log_formats.base import LogFormat, LogTable
from rankscope.files.log_formats.inputs import LogInput
from rankscope.tables import Array, Source

EXPECTS = "action and reward as arrays, and position (from 0), pscore, slate_id and context as far as there are any"
ROLES = {
    "action": "item_id",
    "reward": "reward",
    "slate_id": "impression_id",
    "pscore_item_position": "p_item_pos",
    "pscore_cascade": "p_prefix",
}


def _is_feedback(given: LogInput) -> bool:
    return given.arrays is not None and all(name in given.arrays for name in ("n_rounds", "action", "reward"))


def read_obp(given: LogInput) -> LogTable:
    """Obp's ``bandit_feedback`` as rows: action, reward, and position, which obp counts from 0 and a log from 1.

    ``pscore`` is how probable the action was at its position (``p_item_pos``); of slates, which have a ``slate_id``, it is how probable the
    whole slate was (``p_slate``), ``pscore_cascade`` the slate down to here (``p_prefix``) and ``pscore_item_position`` the action at its
    position. A reward that is 0 or 1 throughout is a click, too. Columns of ``context``, and other arrays with an element a row, are attributes.

    >>> feedback = {"n_rounds": 2, "action": [3, 1], "position": [0, 2], "reward": [1, 0], "pscore": [0.5, 0.1]}
    >>> print(read_obp(LogInput("log", (), feedback)).frame.rows(named=True)[1])
    {'item_id': 1, 'position': 3, 'reward': 0, 'click': 0, 'p_item_pos': 0.1}
    """
    arrays = given.arrays
    if arrays is None or not {"action", "reward"} <= set(arrays):
        raise InputError(f"{given.label}: no feedback as obp has it; {EXPECTS} are expected")
    rows = len(_array(given, "action", arrays["action"]))
    slates = arrays.get("slate_id") is not None
    columns: dict[str, Array] = {}
    for name in ("slate_id", "action", "position", "reward", "pscore", "pscore_item_position", "pscore_cascade"):
        if arrays.get(name) is None:
            continue
        array = _array(given, name, arrays[name])
        if array.ndim != 1 or len(array) != rows:
            raise InputError(
                f"{given.label}: {name} is of shape {array.shape}, and action has {words.counted(rows, 'element')}; they should have one element a row each"
            )
        if name == "position":
            columns[name] = _from_one(given, array)
        else:
            columns[ROLES.get(name, "p_slate" if slates else "p_item_pos")] = array
        if name == "reward" and np.isin(array, (0, 1)).all():
            columns["click"] = array
    context = _context(given, arrays, rows)
    columns |= context
    others, left = _others(arrays, rows, used=bool(context))
    frame = pl.DataFrame({**columns, **others})
    notes = ["positions are counted from 0 there: 1 is added to all"] if "position" in columns else []
    notes += ["reward is 0 or 1 in all rows: it is taken as click, too"] if "click" in columns else []
    notes += [f"left out, as they have no element for each row: {words.listing(left)}"] if left else []
    what = f" in {words.counted(len(np.unique(columns['impression_id'])), 'slate')}" if slates else ""
    return LogTable(frame, _source(given), f"feedback as obp has it: {words.counted(rows, 'row')}{what}", notes)


def _source(given: LogInput) -> Source:
    return given.source("obp", given.parts) if given.parts else Source(given.label, "obp")


def _array(given: LogInput, name: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:  # rows of several lengths
        array = np.asarray(None)
    if array.dtype == object or not array.ndim:
        raise InputError(f"{given.label}: {name} is no array of numbers or texts; {EXPECTS} are expected")
    return array


def _from_one(given: LogInput, position: Array) -> Array:
    """Positions that count from 0, as those of a log do."""
    if position.dtype.kind not in "iu" or (len(position) and position.min() < 0):
        raise InputError(
            f"{given.label}: position holds {words.quote(str(position.min()))}; positions are whole numbers, which count from 0 in obp"
        )
    return position.astype(np.int64) + 1


def _context(given: LogInput, arrays: Mapping[str, Any], rows: int) -> dict[str, Array]:
    """A column for each dimension of what was known of a round; of a slate each of its rows has that of the slate."""
    if arrays.get("context") is None:
        return {}
    context = _array(given, "context", arrays["context"])
    if context.ndim != 2:
        return {}
    if len(context) != rows and arrays.get("slate_id") is not None:
        slates, place = np.unique(np.asarray(arrays["slate_id"]), return_inverse=True)
        if len(slates) != len(context):
            return {}
        context = context[place]
    return {f"context_{i}": context[:, i] for i in range(context.shape[1])} if len(context) == rows else {}


def _others(arrays: Mapping[str, Any], rows: int, used: bool) -> tuple[dict[str, Array], list[str]]:
    """Further arrays with an element for each row, and the names of those without."""
    others, left = {}, []
    for name, value in arrays.items():
        if (
            name in {*ROLES, "position", "pscore"}
            or value is None
            or np.ndim(value) == 0
            or (name == "context" and used)
        ):
            continue
        array = np.asarray(value)
        if array.ndim == 1 and len(array) == rows and array.dtype != object:
            others[str(name)] = array
        else:
            left.append(str(name))
    return others, left


OBP = LogFormat(
    "obp", "the dict of feedback of obp (Open Bandit Pipeline)", EXPECTS,
    _is_feedback, read_obp,
    names=("bandit_feedback",),
)  # fmt: skip
