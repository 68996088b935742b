"""What was measured, as data: ``benchmarks/results.json``, and what is worked out from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import at_size, each_more, ratio, slope

STORE = Path(__file__).with_name("results.json")
SCHEMA = "rankscope/benchmarks/1"
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A job of a trial: medians of its rounds, the highest memory, and how many times the first job's seconds it takes.

    ``under`` is the other way round: how many times its seconds the first job takes.
    """

    job: str
    seconds: float
    cpu: float | None
    memory: float | None
    ratio: float
    cpu_ratio: float | None
    under: float
    cpu_under: float | None


def merge(stored: Record, groups: Record) -> dict[str, Any]:
    """What is stored, with the groups that were measured now in place of what they were."""
    return {"schema": SCHEMA, "groups": {**stored.get("groups", {}), **groups}}


def rows(trial: Record) -> list[Row]:
    """The jobs of a trial, the first one first; none where that could not run."""
    jobs, first = trial["jobs"], trial["first"]
    if first not in jobs:
        return []
    names = [first, *(name for name in jobs if name != first)]
    return [_row(name, jobs[name], jobs[first]) for name in names]


def _row(name: str, job: Record, first: Record) -> Row:
    told = _all(job["cpu"]) and _all(first["cpu"]) and min(*job["cpu"], *first["cpu"]) > 0
    return Row(
        name,
        median(job["seconds"]),
        median(job["cpu"]) if _all(job["cpu"]) else None,
        max(job["memory"]) if _all(job["memory"]) else None,
        ratio(job["seconds"], first["seconds"]),
        ratio(job["cpu"], first["cpu"]) if told else None,
        ratio(first["seconds"], job["seconds"]),
        ratio(first["cpu"], job["cpu"]) if told else None,
    )


def _all(numbers: list[float | None]) -> bool:
    return None not in numbers


def table(trial: Record) -> str:
    """A trial for a terminal: ratios, seconds, CPU seconds and megabytes, then who was left out and why."""
    lines = [f"\n  {trial['title']}"]
    for row in rows(trial):
        cpu = "" if row.cpu is None else f"{row.cpu:9.3f} s CPU"
        memory = "" if row.memory is None else f"{row.memory:8,.0f} MB"
        lines.append(f"    {row.job:<38}{row.ratio:7.2f} x{row.seconds:10.3f} s{cpu}{memory}")
    for facts in trial["answers"].values():
        if "megabytes" in facts:
            opens = f"opens in {facts['opens']:.2f} s" if "opens" in facts else "no browser here"
            lines.append(f"    a page of {facts['megabytes']:.2f} MB, {opens}")
    lines += [f"    {name} gives other numbers than {trial['first']}" for name in trial["differ"]]
    lines += [f"    left out: {name} ({why})" for name, why in trial["left_out"].items()]
    return "\n".join(lines)


@dataclass(frozen=True)
class Growth:
    """How a job of a family of trials grows: its sizes, seconds, CPU seconds and megabytes, smallest size first."""

    job: str
    unit: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    cpu: tuple[float | None, ...]
    memory: tuple[float | None, ...]

    def slope(self, of: str = "seconds") -> float:
        """The exponent over all sizes, of ``seconds``, ``cpu`` or ``memory``."""
        return slope(self.sizes, self.amounts(of))

    def last_slope(self, of: str = "seconds") -> float:
        """The exponent over the last tenfold alone, in which the start of a process weighs least."""
        return slope(self.sizes[-2:], self.amounts(of)[-2:])

    def each(self, of: str = "seconds") -> float:
        """What one more costs."""
        return each_more(self.sizes, self.amounts(of))

    def at(self, size: float, of: str = "seconds") -> float:
        """What a size beyond those measured would take."""
        return at_size(size, self.sizes, self.amounts(of))

    def amounts(self, of: str) -> list[float]:
        """The medians of one kind. Raises ValueError where the system did not tell them."""
        found = [number for number in getattr(self, of) if number is not None]
        if len(found) < len(self.sizes):
            raise ValueError(f"{of} of {self.job} were not measured")
        return found


def families(group: Record) -> Iterator[tuple[str, list[Growth]]]:
    """The families of a group, each with its jobs that were timed at two sizes or more."""
    names = dict.fromkeys(trial["family"] for trial in group["trials"] if trial["family"])
    for name in names:
        trials = sorted(
            (trial for trial in group["trials"] if trial["family"] == name), key=lambda trial: trial["size"]
        )
        jobs = dict.fromkeys(row.job for trial in trials for row in rows(trial))
        grown = [_growth(job, trials) for job in jobs]
        yield name, [growth for growth in grown if len(growth.sizes) > 1]


def _growth(job: str, trials: list[Record]) -> Growth:
    points = [(trial["size"], row) for trial in trials for row in rows(trial) if row.job == job]
    return Growth(
        job,
        trials[0]["unit"],
        tuple(size for size, _ in points),
        tuple(row.seconds for _, row in points),
        tuple(row.cpu for _, row in points),
        tuple(row.memory for _, row in points),
    )
