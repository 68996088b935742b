"""docs/scale.md: what a billion rows need, worked out from what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.measure import MEGA
from benchmarks.results import Growth, families
from benchmarks.wording import BUSY, amount, bytes_of, count, duration, exponent, is_busy, much, rounds_of, times

Record = Mapping[str, Any]
BILLION = 1_000_000_000
CORES = (16, 64, 256)
FLAT = 1.0  # bytes a row up to which memory is said not to grow
STRAIGHT = 1.1  # a slope of seconds up to which it is said to be in proportion
STEADY = 0.9  # a slope of seconds below which what is paid once still weighs
VALUE = 8  # bytes of a number
METRICS = 10
DAY = 86_400
OURS, FLOOR = "rankscope", "Polars, scan only"
SHAPES = {"scale/long": "rankings of 1,000", "scale/short": "rankings of 20"}
ON_SPARK, WITHOUT_SPARK = "rankscope on Spark", "rankscope without Spark"

ABOUT = """# Scale

What a billion rows need on one machine and on a cluster, and where rankscope would break first. This page is written from measurements by
the command that makes [benchmarks](benchmarks.md). **Only the tables that say so were measured; a billion rows were not.** What is
worked out stands with its arithmetic, so that it can be redone with numbers of your own.

The work: one run as a Parquet file with ids as text, ten metrics, whole processes of `rankscope evaluate`, beside Polars
going through the same columns and keeping nothing, which is the least that reading costs.
"""


def page(stored: Record) -> str:
    """The whole page."""
    group = stored["groups"].get("scale")
    if group is None:
        return f"{ABOUT}\nNothing has been measured yet: `python -m benchmarks scale --write`.\n"
    grown = {family: {growth.job: growth for growth in jobs} for family, jobs in families(group)}
    shapes = {family: jobs for family, jobs in grown.items() if OURS in jobs and FLOOR in jobs}
    parts = [ABOUT, _measured(group, shapes), _machine(group, shapes), _cluster(stored, shapes), _limits(group, shapes)]
    return "\n".join([*parts, _unmeasured(stored, shapes)])


def _measured(group: Record, shapes: Mapping[str, Mapping[str, Growth]]) -> str:
    machine = group["machine"]
    memory = "" if machine["memory_mb"] is None else f", {machine['memory_mb'] / 1000:,.0f} GB of memory"
    lines = [
        "## What was measured\n",
        f"On {machine['cores']} cores ({machine['processor'] or 'unknown processor'}{memory}) on {group['date']}, medians of {rounds_of(group)}.{_load(group)}\n",
        "| rows | shape | seconds | scan only | times the scan | CPU seconds | peak MB |",
        "|--:|---|--:|--:|--:|--:|--:|",
    ]
    for family, jobs in shapes.items():
        ours, floor = jobs[OURS], dict(zip(jobs[FLOOR].sizes, jobs[FLOOR].seconds, strict=True))
        for size, seconds, cpu, peak in zip(ours.sizes, ours.seconds, ours.cpu, ours.memory, strict=True):
            scan = floor.get(size)
            beside = ("–", "–") if scan is None else (amount(scan), times(seconds / scan))
            cells = (
                f"{size:,}",
                SHAPES[family],
                amount(seconds),
                *beside,
                "–" if cpu is None else amount(cpu),
                much(peak),
            )
            lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(_growth(SHAPES[family], jobs[OURS]) for family, jobs in shapes.items())]
    return "\n".join(lines) + "\n"


def _load(group: Record) -> str:
    return f" The load of the machine was {group['machine']['load']} at the end.{BUSY}" if is_busy(group) else ""


def _growth(shape: str, ours: Growth) -> str:
    """A sentence on how time and memory grow, whatever that is."""
    seconds, last = ours.slope(), ours.last_slope()
    straight = "in proportion to the rows" if last <= STRAIGHT else "faster than the rows"
    if last < STEADY:
        straight = "more slowly than the rows, as the start of a process still weighs"
    words = (
        f"- {shape}: seconds grow with a slope of {exponent(seconds)} over all sizes and {exponent(last)} over the last step "
        f"({ours.sizes[-2]:,} to {ours.sizes[-1]:,} rows), {straight}."
    )
    if None in ours.memory:
        return words
    memory = ours.last_slope("memory")
    grows = f"{_bytes(ours):,.0f} bytes more for each row" if _grows(ours) else "it stays as it is"
    return f"{words} Memory: a slope of {exponent(memory)} over the last step, {grows}."


def _each(ours: Growth, of: str) -> float:
    return max(ours.each(of), 0.0)


def _bytes(ours: Growth) -> float:
    """What a further row adds to the peak of memory."""
    return _each(ours, "memory") * MEGA


def _grows(ours: Growth) -> bool:
    return _bytes(ours) > FLAT


def _machine(group: Record, shapes: Mapping[str, Mapping[str, Growth]]) -> str:
    lines = [
        "## A billion rows on one machine\n",
        "Worked out: what the largest size took, and for every further row what a row cost between the two largest sizes.\n",
        "| shape | seconds a million rows | a billion rows | scan only | CPU | memory | file |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for family, jobs in shapes.items():
        ours, largest = jobs[OURS], jobs[OURS].sizes[-1]
        facts = next(
            trial["facts"] for trial in group["trials"] if trial["family"] == family and trial["size"] == largest
        )
        cells = (
            SHAPES[family],
            amount(_each(ours, "seconds") * 1e6),
            duration(ours.at(BILLION)),
            duration(jobs[FLOOR].at(BILLION)),
            "–" if None in ours.cpu else duration(ours.at(BILLION, "cpu")),
            "–" if None in ours.memory else bytes_of(ours.at(BILLION, "memory") * MEGA),
            bytes_of(facts["bytes"] / largest * BILLION),
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(_fits(group, SHAPES[family], jobs[OURS]) for family, jobs in shapes.items())]
    if any(jobs[OURS].last_slope() < STEADY for jobs in shapes.values()):
        lines.append("\nAt the sizes that were measured the start of a process still weighs, so this table is rough.")
    if any(jobs[OURS].last_slope() > STRAIGHT for jobs in shapes.values()):
        lines.append("\nWhere seconds grow faster than the rows, a billion of them take longer than this table says.")
    return "\n".join(lines) + "\n"


def _fits(group: Record, shape: str, ours: Growth) -> str:
    """Whether a billion rows fit in the machine that measured, and how many do."""
    have = group["machine"]["memory_mb"]
    if have is None or None in ours.memory:
        return f"- {shape}: memory was not measured."
    if not _grows(ours):
        return f"- {shape}: memory does not grow with the rows, so it is no limit to their number."
    most, need = _full(ours, have), ours.at(BILLION, "memory")
    fits = "fit" if need <= have else "do not fit"
    return (
        f"- {shape}: a billion rows would need {bytes_of(need * MEGA)}, and {fits} in the {have / 1000:,.0f} GB of this machine, which would be "
        f"full at about {count(most)} rows."
    )


def _full(ours: Growth, megabytes: float) -> float:
    """Rows at which memory is full, if it grows on as between the two largest sizes."""
    peak = ours.amounts("memory")[-1]
    each = _each(ours, "memory")
    return ours.sizes[-1] + (megabytes - peak) / each if each else float("inf")


def _cluster(stored: Record, shapes: Mapping[str, Mapping[str, Growth]]) -> str:
    factor = _factor(stored)
    lines = ["## A billion rows on a Spark cluster\n"]
    if factor is None:
        lines.append(
            "**rankscope on Spark was not measured here**, so this says only how long the cores would be busy with what rankscope itself does: its CPU "
            "seconds, spread evenly over all cores. Spark's own work (reading, bringing the rows of a query together, handing them to Python) comes on top.\n"
        )
    else:
        lines.append(
            f"On two cores of one machine, rankscope on Spark takes {times(factor)} times the CPU seconds of rankscope without it for each further row "
            "(reading, bringing the rows of a query together and handing them to Python included). This takes that as given for a cluster, where rows travel over a network, "
            "which was not measured.\n"
        )
    head = "".join(f" {cores} cores |" for cores in CORES)
    lines += [f"| shape | CPU |{head}", f"|---|--:|{'--:|' * len(CORES)}"]
    for family, jobs in shapes.items():
        if None in jobs[OURS].cpu:
            continue
        cpu = jobs[OURS].at(BILLION, "cpu") * (factor or 1.0)
        cells = (SHAPES[family], duration(cpu), *(duration(cpu / cores) for cores in CORES))
        lines.append(f"| {' | '.join(cells)} |")
    lines.append(
        "\nNo part of an evaluation crosses a query, so cores share the work as long as there are many more queries than cores."
    )
    return "\n".join(lines) + "\n"


def _factor(stored: Record) -> float | None:
    """CPU seconds of a further row on Spark, in those of a row without it; None where either was not measured."""
    group = stored["groups"].get("spark")
    jobs = {growth.job: growth for _, grown in families(group) for growth in grown} if group else {}
    if ON_SPARK not in jobs or WITHOUT_SPARK not in jobs:
        return None
    if None in jobs[ON_SPARK].cpu or None in jobs[WITHOUT_SPARK].cpu:
        return None
    without = jobs[WITHOUT_SPARK].each("cpu")
    return jobs[ON_SPARK].each("cpu") / without if without > 0 else None


def _limits(group: Record, shapes: Mapping[str, Mapping[str, Growth]]) -> str:
    """What ends first as rows grow, the earliest first."""
    found = sorted(_ends(group, shapes))
    lines = [
        "## Where it would break first\n",
        "With more and more rows on the machine that measured, in this order:\n",
        *(f"{number}. **{count(rows)} rows**: {words}" for number, (rows, words) in enumerate(found, 1)),
        "",
        "What no number here bounds:\n",
        (
            "- **One query.** All rows of a query are judged together, in one process. Many queries can be shared out; one that is larger than the memory of a core's "
            "share cannot."
        ),
        "- **Skew.** If a few queries hold most rows, most cores wait for those that have them.",
        (
            "- **Judgments.** Every part is judged against the judgments of its queries. Here they are small beside the run; judgments as large as the run "
            "double what has to be read and held."
        ),
        "- **Several runs.** Runs are evaluated one after the other, so seconds add up and memory does not, but for the values of queries.",
    ]
    return "\n".join(lines) + "\n"


def _ends(group: Record, shapes: Mapping[str, Mapping[str, Growth]]) -> Iterator[tuple[float, str]]:
    have = group["machine"]["memory_mb"]
    for family, jobs in shapes.items():
        ours, shape = jobs[OURS], SHAPES[family]
        if have is not None and None not in ours.memory and _grows(ours):
            each = f"{_bytes(ours):,.0f} bytes a row, measured"
            yield _full(ours, have), f"memory is full, {shape} ({each}; the point itself is worked out)."
        if (seconds := _each(ours, "seconds")) > 0:
            rows = ours.sizes[-1] + (DAY - ours.seconds[-1]) / seconds
            yield rows, f"a run takes a day, {shape} ({seconds * 1e9:,.0f} nanoseconds a row, measured)."
        if have is not None:
            depth = _depth(group, family)
            rows = have * MEGA / (METRICS * VALUE) * depth
            yield (
                rows,
                (
                    f"the values of queries alone fill the memory, {shape} (arithmetic: {METRICS} metrics × {VALUE} bytes for each query of {depth:,} rows)."
                ),
            )


def _depth(group: Record, family: str) -> int:
    trial: Record = next(trial for trial in group["trials"] if trial["family"] == family)
    rows: float = trial["size"] / trial["facts"]["queries"]
    return round(rows)


def _unmeasured(stored: Record, shapes: Mapping[str, Mapping[str, Growth]]) -> str:
    largest = max((jobs[OURS].sizes[-1] for jobs in shapes.values()), default=0)
    lines = [
        "## What was not measured\n",
        f"- Anything above {largest:,} rows.",
        "- More than one machine: no cluster, no network, no storage that is shared.",
        f"- More than {stored['groups']['scale']['machine']['cores']} cores.",
        (
            "- A disk that had to be read: files had just been read or written, and lay in the cache of the system where it is large enough. On a cold disk nothing "
            "is faster than the disk reads the file."
        ),
        "- Ids longer than those made up here (9 and 7 characters), which make files, and what is held of them, larger.",
    ]
    if _factor(stored) is None:
        lines.insert(3, "- rankscope on Spark.")
    return "\n".join(lines) + "\n"
