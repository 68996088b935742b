"""Scores as blocks: the board, the values of each query, the doubts, the conventions in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rankscope.blocks import (
    EMPTY,
    Block,
    Column,
    Heading,
    Note,
    Notes,
    Paragraph,
    Ranged,
    Table,
    Value,
)
from rankscope.metrics import Metric
from rankscope.scoring import distribution
from rankscope.scoring.intervals import legend, without
from rankscope.scoring.scores import Mean, Scores
from rankscope.show.result import caution_notes, null

UNRANGED = "there is no room for the other intervals: a wider terminal shows them, --format csv has them"
TOO_MANY = 3  # notes of readers that are shown one by one


def blocks_of(scores: Scores, per_query: bool = False, spread: bool = False) -> list[Block]:
    """The answer, what to doubt about it, and the conventions it rests on; with ``spread`` the distribution of the values."""
    tables: list[Block] = [query_table(scores), EMPTY] if per_query else []
    doubts = warned(scores)
    return [
        *tables,
        board(scores),
        *(Paragraph(text, quiet=True) for text in counted(scores)),
        EMPTY,
        *([*distribution.blocks_of(scores), EMPTY] if spread else []),
        *([Notes(tuple(doubts))] if doubts else []),
        Paragraph(conventions(scores), quiet=True),
    ]


def paper_blocks(scores: Scores, per_query: bool = False, spread: bool = False) -> list[Block]:
    """What goes into a page: the tables, and in the small print the queries and conventions."""
    small = " · ".join([*counted(scores), conventions(scores)])
    tables: list[Block] = [board(scores)]
    if per_query:
        alone = f"{scores.runs[0].name}: " if len(scores.runs) == 1 else ""
        tables = [Heading(f"{alone}each query"), query_table(scores), Heading("all queries"), *tables]
    more = distribution.blocks_of(scores) if spread else []
    return [*tables, *more, Paragraph(small, quiet=True)]


def board(scores: Scores) -> Table:
    """Runs as rows, metrics as columns; the best value of each metric is marked where there are several runs."""
    numbers = {(mean.run, mean.metric): mean for mean in scores.board}
    varying = _queries_vary(scores)
    columns = [
        Column("run"),
        *map(_column, scores.metrics),
        *([Column("queries", "count")] if varying else []),
    ]
    rows: list[tuple[Value, ...]] = []
    for run in scores.runs:
        means = [numbers[run.name, metric] for metric in scores.metrics]
        rows.append((run.name, *map(_with_ends, means), *([len(run.query_ids)] if varying else [])))
    best = {
        (i, j)
        for j, metric in enumerate(scores.metrics, start=1)
        for i in _best(metric, [null(numbers[run.name, metric].value) for run in scores.runs])
    }
    return Table(
        tuple(columns), tuple(rows), best=frozenset(best), turns=True, note=legend(scores), unranged=UNRANGED
    )


def _with_ends(mean: Mean) -> Value:
    ends = mean.bounds
    return Ranged(mean.value, ends.lower, ends.upper) if ends.known else null(mean.value)


def _column(metric: Metric) -> Column:
    return Column(str(metric), "count" if metric.aggregate == "sum" else "value")


def _best(metric: Metric, values: Sequence[Any]) -> list[int]:
    """The rows with the best value, as far as four decimals tell; none where all are the same."""
    seen = [None if value is None else round(value, 4) for value in values]
    known = [value for value in seen if value is not None]
    if metric.better == "neither" or len(known) < 2 or len(set(known)) == 1:
        return []
    top = max(known) if metric.better == "higher" else min(known)
    return [i for i, value in enumerate(seen) if value == top]


def query_table(scores: Scores) -> Table:
    """The values of each query: a row a query, or with several runs a row a query and run."""
    several = len(scores.runs) > 1
    names = [Column("query"), *([Column("run")] if several else [])]
    order = dict.fromkeys(query for run in scores.runs for query in run.query_ids)
    places = [{query: i for i, query in enumerate(run.query_ids)} for run in scores.runs]
    rows: list[tuple[Value, ...]] = []
    for query in order:
        for run, place in zip(scores.runs, places, strict=True):
            if query in place:
                values = [null(float(column[place[query]])) for column in run.values.values()]
                facts = [said[place[query]] for said in run.facts.values()]
                rows.append((query, *([run.name] if several else []), *values, *facts))
    columns = (*names, *map(_column, scores.metrics), *map(Column, scores.runs[0].facts))
    return Table(columns, tuple(rows), labels=len(names))


def _queries_vary(scores: Scores) -> bool:
    return len({len(run.query_ids) for run in scores.runs}) > 1


def counted(scores: Scores) -> Iterator[str]:
    """How many queries the values are made of, and which metrics leave some out."""
    number = len(scores.runs[0].query_ids)
    noun = "query" if number == 1 else "queries"
    words = {
        "judged": f"{number:,} judged {noun}",
        "run": "all queries of each run" if _queries_vary(scores) else f"{number:,} {noun} of the run",
        "both": f"{number:,} {noun} judged and in every run",
        "either": "all queries judged or in the run"
        if _queries_vary(scores)
        else f"{number:,} {noun} judged or in the run",
        "list": f"{number:,} {noun} of the list",
    }
    yield words.get(
        scores.conventions["queries"], f"{number:,} {noun}, which of them count is up to the dialect"
    )
    for metric in scores.metrics:
        left = [mean for mean in scores.board if mean.metric == metric and mean.undefined]
        if left:
            yield _left_out(metric, left, len(scores.runs))
        drawn = max(mean.drawn for mean in scores.board if mean.metric == metric)
        if drawn and scores.conventions["ties"] in {"best", "worst"}:
            noun = "query has" if drawn == 1 else "queries have"
            yield f"{metric}: {drawn:,} {noun} too many orders of equal scores to try, so the {scores.conventions['ties']} of some is taken"
        sampled = [mean.error for mean in scores.board if mean.metric == metric and mean.error]
        if sampled:
            yield f"{metric}: too many orders of equal scores to count, so they were sampled: standard error {max(sampled):.2g}"
    yield from without(scores)


def _left_out(metric: Metric, left: Sequence[Mean], runs: int) -> str:
    counts = {mean.undefined for mean in left}
    if len(counts) == 1 and len(left) == runs:
        number = counts.pop()
        said = f"{number:,} {'query' if number == 1 else 'queries'}"
    elif len(left) <= TOO_MANY:
        said = ", ".join(f"{mean.undefined:,} ({mean.run})" for mean in left) + " of the queries"
    else:
        said = f"{min(counts):,} to {max(counts):,} queries, depending on the run"
    return f"{metric} has no value for {said}: left out of its mean"


def warned(scores: Scores) -> list[Note]:
    """The warnings of a result as notes."""
    return caution_notes(scores.warnings)


def conventions(scores: Scores) -> str:
    """What was assumed, in one line: only what the metrics at hand depend on, and not what their names say."""
    said = scores.conventions
    parts = [f"dialect: {said['dialect']}"] if said["dialect"] else []
    parts.append(f"ties: {said['ties_in_words']}")
    if said["depth"]:
        parts.append(f"rankings cut at {said['depth']:,}")
    if said["duplicates"] != "error":
        parts.append(f"of repeated documents the {said['duplicates']} is kept")
    if said["self_match"] == "drop":
        parts.append("documents that are their own query dropped")
    if said["weights"]:
        parts.append(f"queries weighted by {said['weights']}")
    if said["mean"] == "micro":
        parts.append("micro mean: all that was earned out of all that it was worth")
    if said["no_relevant"] in {0, 1}:
        parts.append(f"a query without relevant documents counts as {said['no_relevant']}")
    elif said["no_relevant"] == "skip":
        parts.append("queries without relevant documents left out")
    if said["nothing_found"] in {"skip", "skip_list"}:
        where = "top k" if said["nothing_found"] == "skip" else "list"
        parts.append(f"queries with nothing relevant in the {where} left out")
    return " · ".join([*parts, *_of_metrics(scores.metrics)])


def _of_metrics(metrics: Sequence[Metric]) -> Iterator[str]:
    def having(name: str, value: Any) -> list[Metric]:
        return [m for m in metrics if getattr(m, name, None) == value]

    gaining = [m for m in metrics if hasattr(m, "gain")]
    if having("gain", "linear"):
        yield "linear gain" + ("" if having("gain", "linear") == gaining else " unless named")
    if having("ideal", "judged"):
        yield "ideal from all judged"
    levels = sorted({m.level for m in metrics if hasattr(m, "level") and m.relevance == "binary"})
    if levels:
        yield f"relevant: grade ≥ {levels[0]:g}" + (" unless named" if len(levels) > 1 else "")
    scaled = [
        str(m) for m in having("max_grade", 4.0) if m.relevance == "graded" and "max_grade" not in str(m)
    ]
    if scaled:
        yield f"top grade for {', '.join(scaled)}: 4"
    geometric = [str(m) for m in metrics if m.aggregate == "geometric"]
    if geometric:
        yield f"geometric mean: {', '.join(geometric)}"


def notes_of(scores: Scores) -> list[str]:
    """What the readers said: line by line for a few runs, summed up for many."""
    if len(scores.runs) <= TOO_MANY:
        return list(scores.notes)
    qrels, runs = scores.inputs[: -len(scores.runs)], scores.inputs[-len(scores.runs) :]
    kinds = {source.kind for source in runs}
    health = [run.health for run in scores.runs]
    kind = f" as {kinds.pop()}s" if len(kinds) == 1 else ""
    told = f"read {len(runs)} runs{kind}: {_span([h.rows for h in health])} rows, {_span([h.queries for h in health])} queries each"
    more = [note for source in runs for note in source.notes[1:]]
    rest = (
        [f"and {len(more) - TOO_MANY:,} more such notes: evaluate a run alone to see its own"]
        if len(more) > TOO_MANY
        else []
    )
    own = {note for source in scores.inputs for note in source.notes}
    others = [note for note in scores.notes if note not in own]
    return [*(note for source in qrels for note in source.notes), told, *more[:TOO_MANY], *rest, *others]


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
