"""What hangs on unjudged documents, in sentences, tables and records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rankscope._version import __version__
from rankscope.blocks import EMPTY, Block, Column, Heading, Paragraph, Table, Value
from rankscope.show.result import input_record, null
from rankscope.verbs.unjudged.unjudged import Bounded, Turn, Unjudged, Wanted

SPELLED = 3  # runs that get a sentence each
ALIKE = 0.00005  # values nearer than this look the same
SHOWN = 10  # documents of the worklist in the terminal
COLUMNS = (
    "run", "metric", "value", "lower", "upper", "exact", "worthless", "perfect", "condensed", "residual", "residual_of",
    "unjudged", "shown", "share", "depth", "grade", "queries",
)  # fmt: skip
WORKLIST_COLUMNS = ("query_id", "doc_id", "ranks", "effect")


def sentence(found: Unjudged) -> str:
    """The answer for the first metric, run by run, and what it takes to turn the differences."""
    first = next(iter(found)).metric
    told = [b for b in found if b.metric == first]
    turns = [t for t in found.turns if t.metric == first]
    return " ".join([*map(_of_run, told[:SPELLED]), *map(_of_turn, turns[:SPELLED])])


def _of_run(b: Bounded) -> str:
    what = _top(b)
    value = null(b.value)
    if value is None:
        return f"{b.run}: {b.metric} has no value on any query."
    if not b.unjudged:
        return f"{b.run}: every document of its {what} is judged; {b.metric} is {value:.3f}."
    ends = f"{b.lower:.3f} to {b.upper:.3f}"
    tail = "whatever the rest is worth" if b.exact else "as far as grades for the rest were tried"
    return (
        f"{b.run}: {_share(b)} of its {what} is unjudged; {b.metric} is {value:.3f} as judged, {ends} {tail}."
    )


def _top(b: Bounded) -> str:
    return "ranking" if b.depth is None else f"top {b.depth:,}"


def _share(b: Bounded) -> str:
    """The share that is unjudged; neither none nor all unless it is."""
    if 0 < b.share < 0.005:
        return "less than 1%"
    if 0.995 < b.share < 1:
        return "more than 99%"
    return f"{b.share:.0%}"


def _of_turn(t: Turn) -> str:
    if t.ahead is None:
        return f"{t.run} and {t.baseline} do not differ on {t.metric}."
    behind = t.baseline if t.ahead == t.run else t.run
    lead = f"{t.ahead} is ahead of {behind} by {abs(t.difference):.4f}"
    documents = f"{t.unjudged:,} unjudged document{'' if t.unjudged == 1 else 's'}"
    if not t.unjudged:
        return f"{lead}, and every document that this rests on is judged."
    if t.needed is None:
        return f"{lead}: {_not_turned(t, documents)}."
    if t.fewest:
        return f"{lead}: {t.needed:,} of {documents} would have to be relevant to turn that."
    return f"{lead}: {t.needed:,} of {documents}, if relevant, would turn that, and fewer may do."


def _not_turned(t: Turn, documents: str) -> str:
    if t.reason.startswith("no judgment"):
        return f"no judgment of the {documents} could turn that"
    if t.reason.startswith("none"):
        return f"among the {documents} none were found that would turn that"
    return f"what it would take to turn that is not known ({t.reason})"


def blocks_of(found: Unjudged) -> list[Block]:
    """The answer, the tables behind it, the documents to judge, and what the numbers rest on."""
    metrics = list(dict.fromkeys(b.metric for b in found))
    out: list[Block] = [Paragraph(sentence(found)), EMPTY]
    for metric in metrics:
        if len(metrics) > 1:
            out.append(Heading(str(metric)))
        out += [_bounds_table([b for b in found if b.metric == metric]), EMPTY]
        turns = [t for t in found.turns if t.metric == metric]
        out += [_turn_table(turns), EMPTY] if turns else []
    if found.worklist:
        out += [
            Paragraph(f"To judge next, by what it could change {_what(found)}:"),
            _work_table(found.worklist),
            EMPTY,
        ]
    return [*out, *(Paragraph(text, quiet=True) for text in _small_print(found))]


def _what(found: Unjudged) -> str:
    metric = next(iter(found)).metric
    return f"in a difference of {metric}" if found.turns else f"in {metric}"


def _bounds_table(bounds: Sequence[Bounded]) -> Table:
    residual = any(b.residual_of for b in bounds)
    # all alike is mostly the worst and the best that there is
    alike = all(_near(b.worthless, b.lower) and _near(b.perfect, b.upper) for b in bounds)
    names = ["as judged", "lowest", "highest", *([] if alike else ["worthless", "perfect"])]
    columns = [
        Column("run"),
        *(Column(name, "value") for name in names),
        Column("residual" if residual else "condensed", "value"),
        Column("unjudged", "value"),
    ]
    rows: list[tuple[Value, ...]] = [
        (
            b.run,
            *map(null, (b.value, b.lower, b.upper, *(() if alike else (b.worthless, b.perfect)))),
            _plain(b.residual if residual else b.condensed),
            _share(b),
        )
        for b in bounds
    ]
    return Table(tuple(columns), tuple(rows))


def _near(one: float, other: float) -> bool:
    """Whether two values look the same with four decimals."""
    return null(one) == null(other) or abs(one - other) < ALIKE


def _turn_table(turns: Sequence[Turn]) -> Table:
    columns = (
        Column("run"),
        Column("against"),
        *(Column(name, "value") for name in ("change", "lowest", "highest", "unjudged", "to turn")),
    )
    rows: list[tuple[Value, ...]] = [
        (
            t.run,
            t.baseline,
            *(_signed(v) for v in (t.difference, t.lower, t.upper)),
            f"{t.unjudged:,}",
            None if t.needed is None else f"{'' if t.fewest else '≤ '}{t.needed:,}",
        )
        for t in turns
    ]
    return Table(columns, tuple(rows), labels=2)


def _signed(value: float) -> str | None:
    return None if null(value) is None else f"{value:+.4f}"


def _work_table(worklist: Sequence[Wanted]) -> Table:
    rows: list[tuple[Value, ...]] = [
        (w.query_id, w.doc_id, w.effect, said_ranks(w)) for w in worklist[:SHOWN]
    ]
    columns = (Column("query"), Column("document"), Column("effect", "value"), Column("ranks", wraps=True))
    return Table(columns, tuple(rows), labels=2)


def said_ranks(w: Wanted) -> str:
    """The rank of a document in each run that shows it: ``bm25=3; dense=7``."""
    return "; ".join(f"{run}={rank}" for run, rank in w.ranks.items())


def _small_print(found: Unjudged) -> Iterator[str]:
    bounds = list(found)
    grades = ", ".join(dict.fromkeys(f"{b.grade:g}" for b in bounds))
    sure = all(b.exact for b in bounds) and all(t.exact for t in found.turns)
    yield (
        f"lowest, highest: over ways of grading the unjudged documents of the top, from 0 to {grades}"
        + ("" if sure else ", the widest found where not all ways could be tried")
        + "; what is known of a query, and so its ideal, changes with them · worthless, perfect: all of them of grade 0, or of "
        f"{grades} · documents below the top, or retrieved by no run, stay as they are"
    )
    if found.turns:
        yield (
            f"to turn: documents that would do it if they were of grade {grades} and the others stayed unjudged"
            + ("" if all(t.fewest for t in found.turns if t.needed) else "; ≤ where fewer may do")
        )
    if any(b.residual_of for b in bounds):
        yield "residual: what is below the end of the list counts, too"
    if any(b.condensed is not None and not b.residual_of for b in bounds):
        yield "condensed: over judged documents alone"
    if found.considered < found.candidates and found.worklist:
        yield f"the {found.considered:,} documents of the best ranks were tried one by one, of {found.candidates:,}"
    yield found.scores.request.small_print()
    if found.worklist:
        yield "next: --worklist judge.csv writes the documents to judge"


# --- as records --------------------------------------------------------------------------------------


def records(found: Unjudged) -> Iterator[dict[str, Any]]:
    """One record a run and metric."""
    for b in found:
        yield {
            "run": b.run,
            "metric": str(b.metric),
            "value": null(b.value),
            "lower": null(b.lower),
            "upper": null(b.upper),
            "exact": b.exact,
            "worthless": null(b.worthless),
            "perfect": null(b.perfect),
            "condensed": _plain(b.condensed),
            "residual": _plain(b.residual),
            "residual_of": b.residual_of,
            "unjudged": b.unjudged,
            "shown": b.shown,
            "share": b.share,
            "depth": b.depth,
            "grade": b.grade,
            "queries": b.queries,
        }


def turns(found: Unjudged) -> Iterator[dict[str, Any]]:
    """One record a metric and run other than the baseline."""
    for t in found.turns:
        yield {
            "run": t.run,
            "baseline": t.baseline,
            "metric": str(t.metric),
            "difference": null(t.difference),
            "lower": null(t.lower),
            "upper": null(t.upper),
            "exact": t.exact,
            "unjudged": t.unjudged,
            "needed": t.needed,
            "fewest": t.fewest,
            "turned": _plain(t.turned),
            "reason": t.reason,
        }


def worklist(found: Unjudged) -> Iterator[dict[str, Any]]:
    """One record a document to judge, for a CSV file."""
    for w in found.worklist:
        yield {"query_id": w.query_id, "doc_id": w.doc_id, "ranks": said_ranks(w), "effect": w.effect}


def envelope(found: Unjudged) -> dict[str, Any]:
    """All of a result, with what it rests on."""
    return {
        "schema": "rankscope/unjudged/1",
        "rankscope": __version__,
        "conventions": dict(found.scores.conventions),
        "inputs": [input_record(source) for source in found.scores.inputs],
        "verdict": [sentence(found)],
        "results": list(records(found)),
        "turns": list(turns(found)),
        "worklist": [
            {"query_id": w.query_id, "doc_id": w.doc_id, "ranks": dict(w.ranks), "effect": w.effect}
            for w in found.worklist
        ],
        "candidates": found.candidates,
        "considered": found.considered,
        "warnings": [warned.as_dict() for warned in found.scores.warnings],
    }


def _plain(value: float | None) -> float | None:
    return None if value is None else null(value)
