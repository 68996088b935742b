"""Logs of impressions with odd cells: the online metrics against the reference, and no error that is not rankscope's own."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

from tests.reference import online as reference
from tests.reference.readers import Refused

import rankscope as rs

NAMES = ("user", "session", "list_id", "query", "time", "item", "position", "shown", "click", "dwell", "conversion", "revenue", "reward", "wait", "variant")  # fmt: skip
ASKED = 6  # metrics of one log
FLAGS = ("0", "1", "1", "0", " 1 ", "yes", "No", "TRUE", "f", "", "NA", "2", "-1", "0.0")
NUMBERS = ("0", "3", "12.5", " 7 ", "1e2", "", "null", "40", "-2", "+.5", "30")
FAULTY = ("x", "1_0", "1 2", "inf", "--1", "1,")


def log(rng: Random) -> bytes:
    """A log as CSV: some columns, some users over some days, each time once."""
    names = [name for name in NAMES if name not in {"shown", "variant"} or rng.random() < 0.7]
    users = rng.randint(1, 6)
    at = rng.sample(range(6 * 86_400), rng.randint(1, 40))
    faults = {name: 0.004 if rng.random() < 0.1 else 0.0 for name in names}
    lines = [",".join(names)]
    for second in (
        rng.sample([*at, *rng.choices([0, 86_400, 86_399, 2 * 86_400, 4 * 86_400], k=2)], len(at))
        if rng.random() < 0.5
        else at
    ):
        user = rng.randrange(users)
        cells = {
            "user": f"u{user}", "session": rng.choice(["", f"s{user}-{rng.randrange(3)}", f" s{user}-0"]),
            "list_id": rng.choice(["", f"l{user}-{rng.randrange(3)}"]), "query": rng.choice(["", "a", "b", "c "]),
            "time": "" if rng.random() < 0.05 else _time(second), "item": f"d{rng.randrange(9)}", "position": str(rng.randint(1, 9)),
            **{name: rng.choice(FLAGS) for name in reference.FLAGS}, **{name: rng.choice(NUMBERS) for name in reference.NUMBERS},
            "wait": rng.choice([*NUMBERS, "yes", "no"]), "variant": "AB"[user % 2],
        }  # fmt: skip
        for name in names:
            if rng.random() < faults[name]:
                cells[name] = "" if name == "user" else rng.choice(FAULTY[:-1])
        lines.append(",".join(cells[name] for name in names))
    return ("\n".join(lines) + "\n").encode()


def _time(second: int) -> str:
    day, rest = divmod(second, 86_400)
    return f"2024-05-{day + 1:02}T{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}Z"


def breaches(path: Path, data: bytes, rng: Random) -> list[tuple[str, str, str]]:
    """What does not hold of a log as it was made: the breach, what rankscope says, what is due."""
    asked = rng.sample(list(reference.METRICS), ASKED)
    try:
        rows = reference.read(data)
    except Refused as fault:
        return _refused(path, asked, fault)
    out = []
    for name in asked:
        try:
            above, below = reference.METRICS[name](rows)
        except ValueError:  # no time in the log
            continue
        due = above / below if below else math.nan
        try:
            said = float(rs.online(path, name)[name])
        except rs.RankscopeError as error:
            if not math.isnan(due):
                out.append((f"refuses {name}", str(error), f"{due}"))
            continue
        if not (math.isnan(said) and math.isnan(due)) and not math.isclose(said, due, rel_tol=1e-9, abs_tol=1e-9):
            out.append((f"another value of {name}", f"{said}", f"{due}"))
    return out


def _refused(path: Path, asked: list[str], fault: Refused) -> list[tuple[str, str, str]]:
    if not any("wait" in name for name in asked) and "column wait" in fault.why:
        return []
    asked = [name for name in asked if "wait" in name] if "column wait" in fault.why else asked
    try:
        said = f"{rs.online(path, asked)}"
    except rs.RankscopeError as error:
        where = "" if fault.line is None else f"line {fault.line}"
        return (
            []
            if where in str(error)
            else [("another line of a log", str(error), f"refuse {fault.why}, line {fault.line}")]
        )
    return [("a log is read, though it must be refused", said, fault.why)]


def look(path: str) -> list[str]:
    """Read a log in every verb that takes one: only rankscope's own errors may come."""
    out = []
    for verb in (rs.read_log, rs.online, rs.experiment, rs.check):
        try:
            out.append(str(verb(path)))
        except rs.RankscopeError as error:
            if "\n" in str(error):
                raise AssertionError(f"a message of several lines: {error}") from None
    return out
