"""How the values of the queries are spread: one mean hides much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rankscope.blocks import Block, Chart, Column, Section, Table, Value
from rankscope.lists import Array
from rankscope.panels.panel import Panel
from rankscope.panels.verdicts import counted, number
from rankscope.reporting.sections.shown_runs import ranked_runs
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import apart, column_of, merit, shown_systems, some, weighed
from rankscope.scoring.scores import Scores
from rankscope.scoring.spread import NONE, QUANTILES, RANKS, spread_of

MOST = 8  # runs whose lines can be told apart
BARS = 4  # runs whose bars can stand side by side
STEPS = 200  # steps of a line
ROWS = 40  # rows of quantiles that are read at one go
TOGETHER = {
    "1": ("1",), "2": ("2",), "3": ("3",), "4-5": ("4", "5"), "6-10": ("6", "7", "8", "9", "10"), "11-100": ("11-100",),
    "101+": ("101+",), NONE: (NONE,),
}  # fmt: skip
SHARE = "share of queries"


def section(subject: Subject) -> Section | None:
    """The distribution of the leading metric over queries, its quantiles, and where first relevant documents stand."""
    field = subject.lead
    if not any(_known(field, system).size for system in field.systems):
        return None
    blocks: list[Block | Chart] = [_steps(subject), *_quantiles(subject)]
    if subject.scores is not None:
        blocks += _first_ranks(subject, subject.scores)
    return Section("spread", "How the queries are spread", tuple(blocks), _lead(subject))


def _known(field: Panel, system: str) -> Array:
    values = field.values[field.row(system)]
    return np.asarray(values[~np.isnan(values)])


def _lead(subject: Subject) -> str:
    """What the mean of the best run hides, in numbers."""
    field = subject.lead
    systems = [system for system in shown_systems(subject, MOST) if _known(field, system).size]
    known = _known(field, systems[0])
    found = spread_of(known)
    if found["min"] == found["max"]:
        which = "its one query" if len(known) == 1 else f"every one of {counted(len(known))}"
        return f"{systems[0]} scores {_figure(field, found['min'])} on {field.name}, on {which}."
    if found["q25"] == found["q75"]:
        level = int(np.count_nonzero(known == found["median"]))
        return (
            f"On {level:,} of {counted(len(known))} {systems[0]} has the same {field.name}, {_figure(field, found['median'])}; "
            f"the others lie between {_figure(field, found['min'])} and {_figure(field, found['max'])}."
        )
    low, high = _figure(field, found["q25"]), _figure(field, found["q75"])
    said = f"One mean hides much: half of the queries of {systems[0]} score between {low} and {high} on {field.name}"
    worst, top = found["zeros"], field.bounds[1]
    best = int(np.count_nonzero(known >= top)) if np.isfinite(top) else 0
    ends = f", {worst:,} {_score(worst)} 0" if worst else ", none scores 0"
    return f"{said}{ends}{f' and {best:,} {_score(best)} {top:g}' if best else ''}."


def _figure(field: Panel, value: float) -> str:
    """A value in words: counts without decimals."""
    total = field.metric is not None and field.metric.aggregate == "sum"
    return f"{value:,.0f}" if total and value == round(value) else number(value)


def _score(count: int) -> str:
    return "scores" if count == 1 else "score"


# --- the distribution ----------------------------------------------------------------------------


def _steps(subject: Subject) -> Chart:
    """The share of queries that score at most so much, a line a run."""
    field = subject.lead
    shown = shown_systems(subject, MOST)
    rows = tuple((x, share, system) for system in shown for x, share in cumulative(_known(field, system), field.bounds))
    which = (
        f" Of {len(field.systems):,} runs these are shown: {some(shown, MOST)}."
        if len(shown) < len(field.systems)
        else ""
    )
    read = {
        1: "The further right and the lower a line, the better",
        -1: "The further left and the higher a line, the better",
        0: "A line further right is of higher values",
    }[field.sign]
    header = apart(field.name, SHARE, "run")
    return Chart(
        "distribution",
        f"Distribution of {field.name} over queries",
        "steps",
        (Column(header, "value", hint=column_of(field).hint), Column(SHARE, "value"), Column("run")),
        rows,
        x=header,
        y=SHARE,
        series="run",
        caption=f"The share of queries that score at most the value on the axis. {read}; lines that cross differ in kind.{weighed(field)}{which}",
        limits=(0.0, 1.0),
    )


def cumulative(
    known: Array, bounds: tuple[float, float] = (-np.inf, np.inf), most: int = STEPS
) -> list[tuple[float, float]]:
    """The empirical distribution function at the values there are, or at ``most`` of them: always exact, and 1 at the end.

    It starts and ends at the ends of the range, where these are known.

    >>> cumulative(np.array([0.5, 0.0, 0.5, 1.0]))
    [(0.0, 0.25), (0.5, 0.75), (1.0, 1.0)]
    """
    if not known.size:
        return []
    values, counts = np.unique(known, return_counts=True)
    share = np.cumsum(counts) / len(known)
    if len(values) > most:
        # the same rise from step to step, so that no part of the line is coarser than another
        picked = np.searchsorted(share, np.linspace(share[0], 1.0, most))
        kept = np.unique(np.append(picked.clip(0, len(values) - 1), len(values) - 1))
        values, share = values[kept], share[kept]
    points = list(zip(values.tolist(), share.tolist(), strict=True))
    if np.isfinite(bounds[0]) and points[0][0] > bounds[0]:
        points.insert(0, (float(bounds[0]), 0.0))
    if np.isfinite(bounds[1]) and points[-1][0] < bounds[1]:
        points.append((float(bounds[1]), 1.0))
    return points


def _quantiles(subject: Subject) -> Iterator[Table]:
    """The quantiles of each run, of all metrics where there is room."""
    fields = subject.fields if len(subject.fields) * len(subject.systems) <= ROWS else subject.fields[:1]
    if len(subject.systems) == 1:
        (system,) = subject.systems
        rows = [(field.name, *_row(field, system)) for field in fields]
        yield _quantile_table("metric", rows, "quantiles", "Values of the queries", fields)
        return
    order = {field.name: [s for s in merit(subject) if _known(field, s).size] for field in fields}
    first, *others = fields
    rows = [(system, *_row(first, system)) for system in order[first.name]]
    yield _quantile_table("run", rows, "quantiles", f"Values of the queries: {first.name}", fields[:1])
    if others:
        many: list[tuple[Value, ...]] = [(f.name, s, *_row(f, s)) for f in others for s in order[f.name]]
        table = _quantile_table("run", many, "quantiles-others", "Values of the queries: other metrics", others)
        yield replace(table, columns=(Column("metric"), *table.columns), labels=2)


def _row(field: Panel, system: str) -> tuple[Value, ...]:
    known = _known(field, system)
    found = spread_of(known)
    top = field.bounds[1]
    full = int(np.count_nonzero(known >= top)) if np.isfinite(top) else None
    return (*(found[name] for name in QUANTILES), found["zeros"], full, found["queries"])


def _quantile_table(
    first: str, rows: Sequence[tuple[Value, ...]], name: str, title: str, fields: Sequence[Panel]
) -> Table:
    hints = {"q05": "5% of the queries score at most this", "q25": "a quarter of the queries scores at most this",
             "median": "half of the queries score at most this", "q75": "three quarters of the queries score at most this",
             "q95": "95% of the queries score at most this"}  # fmt: skip
    columns = (
        Column(first),
        *(Column(name, "value", hint=hints.get(name, "")) for name in QUANTILES),
        Column("zeros", "count", hint="queries that score exactly 0"),
        Column("full", "count", hint="queries that score the highest value there is"),
        Column("queries", "count", hint="queries that have a value"),
    )
    return Table(columns, tuple(rows), name=name, title=title, note=_unweighed(fields))


def _unweighed(fields: Sequence[Panel]) -> str:
    """That every query counts once in quantiles, where it does not in the mean: of weights, and of means made in another way."""
    said: dict[str, list[str]] = {}
    for field in fields:
        if more := weighed(field).strip():
            said.setdefault(more, []).append(field.name)
    if not said:
        return ""
    told = (more if len(names) == len(fields) else f"{', '.join(names)}: {more}" for more, names in said.items())
    return f"Every query counts once here. {' '.join(told)}"


# --- the first relevant document -----------------------------------------------------------------


def _never(run: str, none: int) -> str:
    return f"{run} shows none on {counted(none)}." if none else f"{run} shows one on every query."


def _first_ranks(subject: Subject, scores: Scores) -> Iterator[Chart | Table]:
    """In how many queries the first relevant document stands at each rank."""
    records = scores.to_dicts("first_relevant")
    names = list(ranked_runs(subject))
    shown = [name for name in shown_systems(subject, BARS) if name in names] or names[:BARS]
    counts = {name: {r["rank"]: int(r["queries"]) for r in records if r["run"] == name} for name in shown}
    parts = TOGETHER if len(shown) > 1 else {rank: (rank,) for rank in (*RANKS, NONE)}
    rows = tuple((label, sum(counts[name][r] for r in ranks), name) for name in shown for label, ranks in parts.items())
    which = f" Shown: {some(shown)}; the table has all runs." if len(shown) < len(names) else ""
    none = counts[shown[0]][NONE]
    yield Chart(
        "first-relevant",
        "Queries by the rank of their first relevant document",
        "bars",
        (Column("rank"), Column("queries", "count"), Column("run")),
        rows,
        x="rank",
        y="queries",
        series="run" if len(shown) > 1 else "",
        caption=(f"Where a reader meets the first document of grade 1 or more. {_never(shown[0], none)}{which}"),
        told=len(names) > 1,
    )
    if len(names) > 1:
        columns = (Column("run"), *(Column(rank, "count") for rank in (*RANKS, NONE)))
        by_run = {name: tuple(r["queries"] for r in records if r["run"] == name) for name in names}
        yield Table(columns, tuple((name, *by_run[name]) for name in names), turns=True, name="first-relevant-ranks")
