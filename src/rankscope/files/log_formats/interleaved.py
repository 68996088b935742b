"""Events of searches with interleaved lists of two rankers: lists shown, and clicks on positions that one of them filled."""

from __future__ import annotations

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.log_formats.inputs import LogFormat, LogInput, LogTable, places, tally
from rankscope.files.log_formats.rows import with_times
from rankscope.sources import UNDEFINED

COLUMNS = ("timestamp", "search_id", "event", "position", "ranking_function")
SHOWN, CLICKED = "serp", "click"
ALONE = "events have the clicked positions, not the other shown items: each row is one list, and CTR is per list"


def read_interleaved(log_input: LogInput) -> LogTable:
    """Return one row per list, with its clicks by the ranker that filled the position.

    ``click`` is 1 if a list was clicked, ``clicks`` counts its clicks, ``clicks_A`` and so on the clicks on positions of each ranking
    function. ``seconds_to_click`` is the time from the list to its first click. The events do not contain the other items of a list.

    Source: the data of Wikimedia's packages ortiz (R) and
    interleaved (Python).
    """
    parts = [part for part in log_input.parts if INTERLEAVED.fits(part)]
    if not parts:
        raise InputError(
            f"{log_input.label}: no events of interleaved searches; their columns are {', '.join(COLUMNS)}"
        )
    frames, notes = [], dict[str, None]()
    for part in parts:
        sheet = part.sheet()
        frame, time_notes = with_times(sheet, "timestamp")
        texts = [pl.col(name).cast(pl.String).str.strip_chars() for name in COLUMNS[1:]]
        frames.append(frame.select("timestamp", *texts))
        notes |= dict.fromkeys(time_notes)
    events = pl.concat(frames)
    clicked = pl.col("event") == CLICKED
    named = ~pl.col("ranking_function").str.to_lowercase().is_in(UNDEFINED)
    rankers = sorted(set(events.filter(clicked & named)["ranking_function"].drop_nulls()))
    at, first = pl.col("timestamp"), pl.col("timestamp").filter(clicked).min()
    rows = events.filter(pl.col("event").is_in([SHOWN, CLICKED])).group_by("search_id", maintain_order=True).agg(
        at.filter(pl.col("event") == SHOWN).min().fill_null(at.min()).alias("timestamp"), clicked.any().cast(pl.Int64).alias("click"),
        clicked.sum().cast(pl.Int64).alias("clicks"),
        *[(clicked & (pl.col("ranking_function") == name)).sum().cast(pl.Int64).alias(f"clicks_{name}") for name in rankers],
        ((first - at.filter(pl.col("event") == SHOWN).min()).dt.total_microseconds() / 1e6).alias("seconds_to_click"),
        (pl.col("event") == SHOWN).any().alias("listed"),
    )  # fmt: skip
    remarks = [*log_input.left_out(parts, "such events"), *notes, ALONE, *_remarks(events, rows)]
    clicks = int(rows["clicks"].sum())
    read_as = f"events of interleaved searches: {words.counted(rows.height, 'list')}, {words.counted(clicks, 'click')}"
    source = log_input.source("interleaved", parts, place_of=places(log_input.label, rows, {"search_id": "search"}))
    return LogTable(rows.drop("listed"), source, read_as, remarks)


def _remarks(events: pl.DataFrame, rows: pl.DataFrame) -> list[str]:
    unseen = rows.filter(~pl.col("listed")).height
    out = [f"{words.counted(unseen, 'list')} {words.agree(unseen, 'has')} clicks and no event of being shown"]
    out = out if unseen else []
    others = events.filter(~pl.col("event").is_in([SHOWN, CLICKED]).fill_null(value=False))
    if others.height:
        names = [f"{name} {words.count(count)}" for name, count in tally(others["event"])]
        kinds = f"{words.counted(others.height, 'event')} of other kinds {words.agree(others.height, 'is')}"
        out.append(f"{kinds} in no row: {words.listing(names)}")
    return out


INTERLEAVED = LogFormat(
    "interleaved", "events of interleaved searches (Wikimedia)", f"columns {', '.join(COLUMNS)}",
    read_interleaved, [COLUMNS], names=("wikimedia",),
)  # fmt: skip
