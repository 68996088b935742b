"""Online metrics as their definitions read, row by row over a list of dicts: no code is shared with what they check.

A row has text for the ids (None if empty), a number or None for flags and numbers, seconds since 1970 or None for the time.
Each metric gives the sum above and below the line.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from tests.reference.readers import Refused

Row = dict[str, Any]
Parts = tuple[float, float]
IDS = ("user", "session", "list_id", "query", "item")
FLAGS = ("shown", "click", "conversion")
NUMBERS = ("dwell", "revenue", "reward")
EMPTY = ("", "nan", "na", "n/a", "null", "none")
YES, NO = ("1", "true", "yes", "y", "t"), ("0", "false", "no", "n", "f")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
DAY = 86_400


def number(text: str, flags: bool = True) -> float | None:
    """A cell as a number, None without a value. Raises ValueError for any other text."""
    plain = text.strip().lower()
    if plain in EMPTY:
        return None
    if flags and plain in YES + NO:
        return float(plain in YES)
    if not NUMBER.fullmatch(plain) or math.isinf(float(plain)):
        raise ValueError(text)
    return float(plain)


def seconds(text: str) -> float | None:
    """A time like 2024-05-02T10:00:00Z as seconds since 1970."""
    from datetime import datetime

    plain = text.strip()
    return None if plain.lower() in EMPTY else datetime.fromisoformat(plain).timestamp()


def read(data: bytes) -> list[Row]:
    """The rows of a plain CSV file: no quotes. Raises Refused with the line of the first faulty cell of a column, column by column."""
    head, *lines = data.decode().rstrip("\n").split("\n")
    names = head.split(",")
    cells = [line.split(",") for line in lines]
    rows: list[Row] = [{} for _ in cells]
    for name in names:
        for i, row in enumerate(cells):
            text = row[names.index(name)]
            if name in IDS or name == "variant":
                rows[i][name] = text.strip() or None
                continue
            try:
                rows[i][name] = seconds(text) if name == "time" else number(text, name not in NUMBERS)
            except ValueError:
                raise Refused(f"column {name}: {text!r}", i + 2) from None
    if any(row["user"] is None for row in rows):
        raise Refused("a row without a user")
    return rows


# --- parts ------------------------------------------------------------------------------------------


def groups(rows: Iterable[Row], *names: str) -> list[list[Row]]:
    """Rows by user and these ids, without the rows that lack one."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if all(row[name] is not None for name in names):
            found[row["user"], *(row[name] for name in names)].append(row)
    return list(found.values())


def was_shown(row: Row) -> bool:
    return "shown" not in row or (row["shown"] or 0) > 0


def known(row: Row) -> bool:
    return was_shown(row) and row["click"] is not None


def clicked(row: Row) -> bool:
    return known(row) and row["click"] > 0


def over(parts: Iterable[Iterable[float | bool]]) -> Parts:
    """The sums of pairs."""
    pairs = [(float(above), float(below)) for above, below in parts]
    return math.fsum(pair[0] for pair in pairs), math.fsum(pair[1] for pair in pairs)


def lists(rows: list[Row], above: Callable[[list[Row]], bool], below: Callable[[list[Row]], bool]) -> Parts:
    return over((above(g), below(g)) for g in groups(rows, "list_id"))


def left(group: list[Row]) -> bool:
    return any(map(known, group)) and not any(map(clicked, group))


def good_abandonment(rows: list[Row]) -> Parts:
    def told(g: list[Row]) -> bool:
        return left(g) and any(row["reward"] is not None for row in g)

    return lists(rows, lambda g: told(g) and any((row["reward"] or 0) > 0 for row in g), told)


def conversions(row: Row) -> tuple[bool, bool]:
    told = was_shown(row) and row["conversion"] is not None
    return told and row["conversion"] > 0, told


def cvr_of(*names: str) -> Callable[[list[Row]], Parts]:
    def cvr(rows: list[Row]) -> Parts:
        return over(map(any, zip(*map(conversions, g), strict=True)) for g in groups(rows, *names))

    return cvr


def cvr_of_clicks(rows: list[Row]) -> Parts:
    return over(conversions(row) for row in rows if (row["click"] or 0) > 0)


def order_value(rows: list[Row]) -> Parts:
    orders = [row for row in rows if row["revenue"] is not None and (row["conversion"] or 0) > 0]
    return over((row["revenue"], row["conversion"]) for row in orders)


def satisfied(rows: list[Row]) -> Parts:
    counted = [row for row in rows if known(row) and (row["click"] <= 0 or row["dwell"] is not None)]
    return over((row["click"] > 0 and row["dwell"] >= 30, 1) for row in counted)


def times(group: list[Row]) -> list[float]:
    return [row["time"] for row in group if row["time"] is not None]


def session_length(rows: list[Row]) -> Parts:
    return over((max(t) - min(t) if (t := times(g)) else 0, 1) for g in groups(rows, "session"))


def time_to_success(rows: list[Row]) -> Parts:
    firsts = [(times([r for r in g if (r["click"] or 0) > 0]), times(g)) for g in groups(rows, "session")]
    return over((min(done) - min(every), 1) for done, every in firsts if done)


def reformulations(rows: list[Row]) -> Parts:
    again = asked = 0
    for group in groups(rows, "session"):
        ordered = sorted(group, key=lambda row: (row["time"] is not None, row["time"] or 0))
        starts: list[Row] = []
        before = None
        for row in ordered:
            if row["query"] is not None and row["query"] != before:
                starts.append(row)
            before = row["query"]
        asked += len(starts)
        for one, other in itertools.pairwise(starts):
            timed = one["time"] is not None and other["time"] is not None
            again += timed and other["time"] - one["time"] <= 300 and one["query"] != other["query"]
    return float(again), float(asked)


def windowed(days: int, value: Callable[[list[Row], float], float]) -> Callable[[list[Row]], Parts]:
    """Users first seen at least so many days before the last time of the log, and the value of each."""

    def parts(rows: list[Row]) -> Parts:
        end = max(times(rows))
        firsts = [(g, min(t)) for g in groups(rows) if (t := times(g))]
        return over((value(g, first), 1) for g, first in firsts if first <= end - days * DAY)

    return parts


def came_back(days: int) -> Callable[[list[Row], float], float]:
    def value(group: list[Row], first: float) -> float:
        start = (first // DAY + 1) * DAY
        return any(start <= t < start + days * DAY for t in times(group))

    return value


def was_there(days: int) -> Callable[[list[Row], float], float]:
    def value(group: list[Row], first: float) -> float:
        start = (first // DAY + days) * DAY
        return any(start <= t < start + DAY for t in times(group))

    return value


def spent(days: int) -> Callable[[list[Row], float], float]:
    def value(group: list[Row], first: float) -> float:
        return math.fsum(
            row["revenue"] or 0 for row in group if row["time"] is not None and row["time"] < first + days * DAY
        )

    return value


def attribute(rows: list[Row]) -> Parts:
    firsts = [next((row["wait"] for row in g if row["wait"] is not None), None) for g in groups(rows)]
    return over((first, 1) for first in firsts if first is not None)


def quantile(values: list[float], q: float) -> Parts:
    return (sorted(values)[max(math.ceil(q * len(values)), 1) - 1], 1.0) if values else (0.0, 0.0)


def sums_of_users(rows: list[Row]) -> list[float]:
    told = ([row["wait"] for row in g if row["wait"] is not None] for g in groups(rows))
    return [math.fsum(waits) for waits in told if waits]


METRICS: dict[str, Callable[[list[Row]], Parts]] = {
    "CTR": lambda rows: over((clicked(row), known(row)) for row in rows),
    "ListCTR": lambda rows: lists(rows, lambda g: any(map(clicked, g)), lambda g: any(map(known, g))),
    "Abandonment": lambda rows: lists(rows, left, lambda g: any(map(known, g))),
    "GoodAbandonment": good_abandonment,
    "CVR": cvr_of_clicks,
    "CVR(per='impression')": lambda rows: over(map(conversions, rows)),
    "CVR(per='list')": cvr_of("list_id"),
    "CVR(per='session')": cvr_of("session"),
    "CVR(per='unit')": cvr_of(),
    "RPM": lambda rows: over((1000 * row["revenue"], 1) for row in rows if was_shown(row) and row["revenue"] is not None),
    "OrderValue": order_value,
    "Dwell": lambda rows: over((row["dwell"], 1) for row in rows if (row["click"] or 0) > 0 and row["dwell"] is not None),
    "SatisfiedClicks": satisfied,
    "SessionLength": session_length,
    "ItemsPerSession": lambda rows: over((sum(map(was_shown, g)), 1) for g in groups(rows, "session")),
    "SessionsPerUser": lambda rows: over((len(groups(g, "session")), 1) for g in groups(rows)),
    "TimeToSuccess": time_to_success,
    "ReformulationRate": reformulations,
    "ReturnRate@1": windowed(2, came_back(1)),
    "ReturnRate@3": windowed(4, came_back(3)),
    "Retention@1": windowed(2, was_there(1)),
    "Retention@2": windowed(3, was_there(2)),
    "LTV@2": windowed(2, spent(2)),
    "Mean(wait)": lambda rows: over((total, 1) for total in sums_of_users(rows)),
    "Mean(wait, empty='zero')": lambda rows: over((sum(row["wait"] or 0 for row in g), 1) for g in groups(rows)),
    "Attribute(wait)": attribute,
    "Ratio(wait, click)": lambda rows: over((row["wait"] or 0, row["click"] or 0) for row in rows),
    "Quantile(wait, q=0.5)": lambda rows: quantile([row["wait"] for row in rows if row["wait"] is not None], 0.5),
    "Quantile(wait, q=0.9, per='unit')": lambda rows: quantile(sums_of_users(rows), 0.9),
}  # fmt: skip
