"""The formats of logs, each declared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.log_formats.growthbook import GROWTHBOOK
from rankscope.files.log_formats.inputs import LogFormat, LogInput
from rankscope.files.log_formats.interleaved import INTERLEAVED
from rankscope.files.log_formats.obp import OBP
from rankscope.files.log_formats.open_bandit import OPEN_BANDIT
from rankscope.files.log_formats.ubi import UBI
from rankscope.files.log_formats.yandex import YANDEX
from rankscope.words import plain_name

LOG_FORMATS: dict[str, LogFormat] = {one.name: one for one in (OPEN_BANDIT, OBP, UBI, YANDEX, GROWTHBOOK, INTERLEAVED)}
TABLE = "table"
LOOKED = 100  # files of a folder that are asked for their columns
KEYS = tuple(key for one in LOG_FORMATS.values() for key in one.keys)


def log_format_named(name: str | None) -> LogFormat | None:
    """Return the format of this name in any spelling; None for a table or no name. Raises InputError for an unknown name."""
    if name is None or plain_name(str(name)) == TABLE:
        return None
    plain = plain_name(str(name))
    for one in LOG_FORMATS.values():
        if plain in map(plain_name, (one.name, *one.names)):
            return one
    there: Sequence[str] = [TABLE, *LOG_FORMATS]
    raise InputError(f"log_format={name!r}: unknown format of logs{words.hint(str(name), there)}")


def log_format_of(given: LogInput) -> LogFormat | None:
    """Return the format of an input if it is certain; None for a table."""
    looked = replace(given, parts=given.parts[:LOOKED])
    return next((one for one in LOG_FORMATS.values() if one.is_one(looked)), None)
