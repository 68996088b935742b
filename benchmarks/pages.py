"""Write docs/benchmarks.md, docs/scale.md and their charts from what was measured: ``python -m benchmarks.pages``.

``tests/house/test_benchmark_pages.py`` fails where a page is out of date.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import scale_page
from benchmarks.measure import ROOT
from benchmarks.results import STORE, Growth, Row, families, rows
from benchmarks.wording import BUSY, amount, bytes_of, exponent, is_busy, much, rounds_of, times

DOCS = ROOT / "docs"
Record = Mapping[str, Any]

ABOUT = """# Benchmarks

How long rankscope takes beside other tools, measured by one command and written by it:

    make bench ARGS=--write

`make bench` alone prints the same tables and changes nothing; `make bench ARGS="files dicts --rounds 3"` measures two groups, and
`.venv/bin/python -m benchmarks --help` lists all of them. A tool that is not installed is left out and said to be;
`make peers` installs those that Python packages offer.

**How it is measured.** In every table the jobs take turns: a round runs each of them once, and a first round is not counted. Seconds are medians over rounds.
The ratio is the median of the ratios within a round: **2.00 is twice the time of the job in the first line** of its table. Where files are read, a job is a whole
process, from its start to its exit; where the input is in memory, it is a call in a process of its own, the input made before. CPU
seconds add up all threads. Memory is the peak of the process in megabytes (10⁶ bytes), input and imports included, and
of a process never less than that of the one that measures (20 MB).
A slope is the exponent with which seconds grow with the size, over all sizes and over the last step: 1 is in proportion, ten times the lines in ten times the seconds.
All data are made up from a seed. Five metrics are nDCG@10, AP, RR@10, R@100 and P@10; where tools answer the same question, their answers are
compared, and a difference is said below the table.
"""

TITLES = {
    "files": "Files",
    "scale": "Growth to many rows",
    "logs": "Logs and experiments",
    "lists": "Interleaving, other policies and clicks",
    "fusion": "Fusion",
    "dicts": "Dicts in memory",
    "arrays": "Arrays and loops",
    "recommenders": "Recommendations in data frames",
    "contexts": "Contexts of a language model",
    "spark": "Spark",
    "inference": "Inference",
    "launches": "Launches",
    "report": "Reports",
    "startup": "Start-up",
}
"""The groups in the order of the page."""
DRAWN = {
    "files/deep": "TREC files, rankings of 1,000, whole processes",
    "files/many": "TREC files, rankings of 10, whole processes",
    "dicts/evaluate": "Dicts in memory",
    "arrays/dense": "nDCG@10 of arrays, queries of 1,000 documents",
    "arrays/tensors": "nDCG@10 of tensors, queries of 100 documents",
    "recommenders/pandas": "Recommendations in data frames",
    "scale/long": "Parquet, ten metrics, rankings of 1,000, whole processes",
    "logs/numbers": "Logs of an experiment, ids as numbers, whole processes",
    "logs/texts": "Logs of an experiment, ids as texts, whole processes",
    "spark/users": "Spark on two cores of one machine",
}
"""The families of trials that have a chart, with its title."""


def pages(stored: Record) -> dict[Path, str]:
    """The text of every page, by where it belongs."""
    return {DOCS / "benchmarks.md": benchmarks(stored), DOCS / "scale.md": scale_page.page(stored)}


def write() -> None:
    """Write the pages and draw the charts, in place of those that there were."""
    if not STORE.exists():
        raise SystemExit("nothing has been measured yet: python -m benchmarks --write")
    stored = json.loads(STORE.read_text(encoding="utf-8"))
    for path, text in pages(stored).items():
        path.write_text(text, encoding="utf-8", newline="\n")
    for old in (DOCS / "images").glob("benchmarks-*.svg"):
        old.unlink()
    for path, drawn in pictures(stored).items():
        path.write_text(drawn, encoding="utf-8", newline="\n")


# --- the page ----------------------------------------------------------------------------------------------------


def benchmarks(stored: Record) -> str:
    """The whole page of benchmarks."""
    groups = {name: stored["groups"][name] for name in TITLES if name in stored["groups"]}
    parts = [ABOUT, _glance(groups), _machines(groups)]
    parts += [_section(name, group) for name, group in groups.items()]
    return "\n".join(parts)


def _glance(groups: Mapping[str, Record]) -> str:
    """The largest size of every family: how many times as long another tool takes, and how far we are from what is the least."""
    pairs = [*_largest(groups)]
    lines = [
        "## At a glance\n",
        "The largest size at which both were timed. More than 1: the other takes longer than rankscope.\n",
        "| other's time / ours | CPU | other | work | its seconds | ours | its MB | ours |",
        "|--:|--:|---|---|--:|--:|--:|--:|",
        *(
            _line(other.ratio, other.cpu_ratio, trial, ours, other)
            for trial, ours, other in pairs
            if not _floor(trial, other)
        ),
        *_behind(groups),
        "\nWhat does less than is asked, and so says how near to the least rankscope is:\n",
        "| our time / its | CPU | what | work | its seconds | ours | its MB | ours |",
        "|--:|--:|---|---|--:|--:|--:|--:|",
        *(
            _line(other.under, other.cpu_under, trial, ours, other)
            for trial, ours, other in pairs
            if _floor(trial, other)
        ),
    ]
    return "\n".join(lines) + "\n"


def _largest(groups: Mapping[str, Record]) -> Iterator[tuple[Record, Row, Row]]:
    """Every other tool at the largest size of a family at which it was timed; trials without a family stand alone."""
    found: dict[tuple[str, str], tuple[Record, Row, Row]] = {}
    for group in groups.values():
        for trial in sorted(group["trials"], key=lambda trial: trial["size"]):
            lines = rows(trial)
            for other in lines[1:]:
                if not other.job.startswith("rankscope"):
                    found[trial["family"] or trial["name"], other.job] = (trial, lines[0], other)
    return iter(found.values())


def _line(ratio: float, cpu: float | None, trial: Record, ours: Row, other: Row) -> str:
    cells = (amount(other.seconds), amount(ours.seconds), much(other.memory), much(ours.memory))
    first = f"| **{times(ratio)}** | {'–' if cpu is None else times(cpu)} "
    return f"{first}| {other.job} | {trial['title']} | {' | '.join(cells)} |"


def _behind(groups: Mapping[str, Record]) -> list[str]:
    """Who is faster than rankscope at the smallest size of a family: the largest alone would not tell."""
    smallest: dict[str, Record] = {}
    for group in groups.values():
        for trial in sorted(group["trials"], key=lambda trial: trial["size"]):
            if trial["family"] and rows(trial):
                smallest.setdefault(trial["family"], trial)
    lines = []
    for trial in smallest.values():
        ours, *others = rows(trial)
        ahead = [
            row for row in others if row.ratio < 1 and not _floor(trial, row) and not row.job.startswith("rankscope")
        ]
        if ahead:
            words = ", ".join(f"{row.job} {times(row.under)} times" for row in sorted(ahead, key=lambda row: row.ratio))
            lines.append(f"- {trial['title']}, where rankscope takes {amount(ours.seconds)} s: {words} faster.")
    return (
        ["\nAt the smallest sizes others are ahead, as what is paid once weighs most there:\n", *lines] if lines else []
    )


def _floor(trial: Record, row: Row) -> bool:
    return row.job in trial["floors"]


def _machines(groups: Mapping[str, Record]) -> str:
    """The machine and the versions, once where all groups were measured on the same."""
    said: dict[str, list[str]] = {}
    for name, group in groups.items():
        said.setdefault(_machine(group), []).append(TITLES[name])
    lines = ["## Machine and versions\n"]
    for words, names in said.items():
        lines.append(words if len(said) == 1 else f"**{', '.join(names)}.** {words}")
        lines.append("")
    busy = ", ".join(f"{TITLES[name].lower()} {group['machine']['load']}" for name, group in groups.items())
    lines.append(
        "Load of the machine (processes that want to run, mean of the last minute) at the end of each group, our own work "
        f"included: {busy}.{BUSY if any(is_busy(group) for group in groups.values()) else ''}\n"
    )
    return "\n".join(lines)


def _machine(group: Record) -> str:
    machine, versions, others = group["machine"], group["versions"], group["recommenders"]
    memory = "" if machine["memory_mb"] is None else f", {machine['memory_mb'] / 1000:,.0f} GB of memory"
    what = f"{machine['processor'] or 'unknown processor'}, {machine['cores']} cores{memory}, {machine['system']}"
    words = f"Measured on {group['date']}, {rounds_of(group)}: {what}. {_versions(versions)}."
    return words + (f" RecTools and RePlay in an environment of their own: {_versions(others)}." if others else "")


def _versions(found: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _section(name: str, group: Record) -> str:
    """A group: its growth first, then every trial."""
    lines = [f"## {TITLES[name]}\n"]
    for family, grown in families(group):
        if family in DRAWN and grown:
            lines += [f"![{DRAWN[family]}: seconds by size]({_picture(family).relative_to(DOCS).as_posix()})\n"]
        if grown:
            lines.append(_slopes(DRAWN.get(family, ""), grown))
    lines += [
        "| work | job | time, first = 1 | CPU, first = 1 | seconds | CPU seconds | peak MB |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for trial in group["trials"]:
        lines += _rows(trial)
    return "\n".join([*lines, "", *_said(group)])


def _slopes(title: str, grown: list[Growth]) -> str:
    """How the jobs of a family grow."""
    unit = grown[0].unit
    lines = [
        f"{title or 'Growth'}:\n",
        f"| job | {unit} | slope of seconds | over the last step | slope of memory | over the last step |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for growth in grown:
        memory = ("–", "–")
        if None not in growth.memory:
            memory = (exponent(growth.slope("memory")), exponent(growth.last_slope("memory")))
        span = f"{growth.sizes[0]:,} to {growth.sizes[-1]:,}"
        cells = (growth.job, span, exponent(growth.slope()), exponent(growth.last_slope()), *memory)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _rows(trial: Record) -> Iterator[str]:
    for number, row in enumerate(rows(trial)):
        cpu = "–" if row.cpu_ratio is None else times(row.cpu_ratio)
        cells = (
            times(row.ratio),
            cpu,
            amount(row.seconds),
            "–" if row.cpu is None else amount(row.cpu),
            much(row.memory),
        )
        yield f"| {'' if number else trial['title']} | {row.job} | **{cells[0]}** | {' | '.join(cells[1:])} |"


def _said(group: Record) -> list[str]:
    """What was left out, what differs, and what else is known."""
    left: dict[tuple[str, str], list[str]] = {}
    for trial in group["trials"]:
        for job, why in trial["left_out"].items():
            left.setdefault((job, why), []).append(trial["title"])
    lines = [
        f"- Left out: {job}, {why}" + (f" ({len(titles)} of {len(group['trials'])} tables)." if titles else ".")
        for (job, why), titles in left.items()
    ]
    for trial in group["trials"]:
        lines += [f"- {job} gives other numbers than {trial['first']}: {trial['title']}." for job in trial["differ"]]
        for answer in trial["answers"].values():
            if "megabytes" in answer:
                opens = f", opens in headless Chromium in {answer['opens']:.2f} s" if "opens" in answer else ""
                lines.append(f"- {trial['title']}: {bytes_of(answer['megabytes'] * 1e6)}{opens}.")
    return [*lines, ""] if lines else []


# --- charts ------------------------------------------------------------------------------------------------------


def _picture(family: str) -> Path:
    return DOCS / "images" / f"benchmarks-{family.replace('/', '-')}.svg"


def charts(stored: Record) -> dict[Path, Any]:
    """A chart a family: seconds by size, both logarithmic, a line a job."""
    from rankscope.blocks import Chart, Column

    drawn = {}
    for name in TITLES:
        for family, grown in families(stored["groups"].get(name, {"trials": []})):
            if family not in DRAWN or not grown:
                continue
            unit = grown[0].unit
            columns = (Column("job"), Column(unit, "value"), Column("seconds", "value"))
            points = tuple(
                (growth.job, float(size), seconds)
                for growth in grown
                for size, seconds in zip(growth.sizes, growth.seconds, strict=True)
            )
            drawn[_picture(family)] = Chart(
                family.replace("/", "-"), DRAWN[family], "lines", columns, points, x=unit, y="seconds", series="job",
                caption="Medians. Both axes are logarithmic: lines that are parallel grow alike.",
                logs=frozenset({"x", "y"}), told=True,
            )  # fmt: skip
    return drawn


def pictures(stored: Record) -> dict[Path, str]:
    """The charts as SVG on white paper. Each names the numbers it was drawn from, as letters are drawn a little differently by every version."""
    from rankscope.show.charts import svg_of

    return {
        path: re.sub(r"^<svg ", f'<svg style="background:#ffffff" data-drawn-from="{mark(chart)}" ', svg_of(chart))
        for path, chart in charts(stored).items()
    }


def mark(chart: Any) -> str:
    """What changes where anything changes that a chart shows, and is the same in every process."""
    shown = [chart.title, chart.caption, chart.x, chart.y, sorted(chart.logs), chart.rows]
    return hashlib.sha256(json.dumps(shown).encode("utf-8")).hexdigest()[:16]


if __name__ == "__main__":
    write()
