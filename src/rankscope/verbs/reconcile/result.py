"""What ``reconcile`` found, as blocks and records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rankscope._version import __version__
from rankscope.blocks import EMPTY, Block, Column, Heading, Paragraph, Table, Value
from rankscope.dialects import Convention
from rankscope.scoring.conventions import QUERIES_IN_WORDS, TIES_IN_WORDS
from rankscope.show.result import null
from rankscope.verbs.reconcile.reconcile import CLOSE, Explained, Printed, Reconciled

NAMED = 4  # tools that a sentence names
SHORT = {
    "no_relevant": "queries without relevant documents",
    "nothing_found": "queries with nothing found",
    "mean": "kind of mean",
}

# what a departure from rankscope's default is, in a few words
WORDS: dict[tuple[str, Any], str] = {
    ("gain", "exponential"): "exponential gain, 2^grade - 1",
    ("gain", "linear"): "linear gain",
    ("gain", "binary"): "relevant or not, whatever the grade",
    ("ideal", "judged_uncut"): "ideal of all judged documents, never cut at k",
    ("ideal", "judged_at_returned"): "ideal cut at the number of documents returned",
    ("ideal", "retrieved_topk"): "ideal of the documents in the top k only",
    ("ideal", "retrieved_all"): "ideal of the documents retrieved only",
    ("ideal", "full_k"): "ideal of k relevant documents, whether they exist or not",
    ("discount", "log2_rank"): "the first two ranks are worth the same",
    ("discount", "reciprocal"): "discount 1/rank",
    ("discount", "none"): "no discount by rank",
    ("denominator", "relevant"): "divided by all relevant documents",
    ("denominator", "k"): "divided by k",
    ("denominator", "min_k_relevant"): "divided by the smaller of k and the relevant documents",
    ("denominator", "min_k_listlen"): "divided by the smaller of k and the documents returned",
    ("denominator", "min_relevant_listlen"): "divided by the smaller of relevant and returned documents",
    ("denominator", "hits_at_k"): "divided by the relevant documents found in the top k",
    ("denominator", "positives_in_list"): "divided by the relevant documents in the returned list only",
    (
        "denominator",
        "min_k_positives_in_list",
    ): "divided by the smaller of k and the relevant documents in the list",
    ("judged_only", True): "documents nobody judged left out",
    ("not_found", "skip"): "queries with nothing found left out",
    ("no_relevant", 0): "a query without relevant documents counts as 0",
    ("no_relevant", 1): "a query without relevant documents counts as 1",
    ("no_relevant", "skip"): "queries without relevant documents left out",
    ("nothing_found", "skip"): "queries with nothing relevant in the top k left out",
    ("nothing_found", "skip_list"): "queries with nothing relevant in the list left out",
    ("looks_at", "list"): "a list without a relevant document counts as a query without one",
    ("mean", "micro"): "one ratio over all queries together",
}


def in_words(departure: tuple[str, Any]) -> str:
    """A departure in words a reader knows."""
    name, value = departure
    if name == "ties":
        return f"ties: {TIES_IN_WORDS[value]}"
    if name == "queries":
        return f"averaged over {QUERIES_IN_WORDS[value]}"
    if name == "metric":
        return f"another metric under that name: {value}"
    return WORDS.get(departure) or f"{name}={value!r}"


def blocks_of(found: Reconciled) -> list[Block]:
    """The answer, the tools by what they print, the conventions that give the number, and the winners."""
    blocks: list[Block] = [Paragraph(text) for text in sentences(found)]
    blocks += [EMPTY, _tools(found)]
    others = [e for e in found.explained if not e.dialects and e.departures]
    if others:
        blocks += [EMPTY, Heading(f"what else gives {found.value}"), _ways(found, others)]
    defects = [p for p in found.printed if p.values is None]
    blocks += [
        Paragraph(
            f"{p.tool} prints something under this name that follows from no convention: {p.says.defect}",
            quiet=True,
        )
        for p in defects
    ]
    blocks.append(
        Paragraph(f"rankscope: {found.metric.convention}; ties: {TIES_IN_WORDS['trec']}", quiet=True)
    )
    return blocks


def sentences(found: Reconciled) -> Iterator[str]:
    """The answer first."""
    if found.value is not None:
        yield _about_value(found)
    else:
        yield _about_tools(found)
    if len(found.runs) > 1:
        yield _about_winners(found)


def _about_value(found: Reconciled) -> str:
    told = {name for e in found.explained for name in e.dialects}
    ours = any(not e.departures for e in found.explained)
    groups: dict[str, list[str]] = {}
    for p in found.printed:
        if p.dialect in told:
            groups.setdefault(_reason(p) if p.reasons else "", []).append(p.dialect)
    if groups or ours:
        same = groups.pop("", [])
        parts = [f"what {_listed(['rankscope', *same])} {'prints' if not same else 'print'}"] if ours else []
        parts += [
            f"what {_listed(names)} {'prints' if len(names) == 1 else 'print'}: {why}"
            for why, names in groups.items()
        ]
        return f"{found.value} is {'; and '.join(parts)}."
    if found.explained:
        first = found.explained[0]
        return (
            f"{found.value} could be {found.metric} of {first.run} with {_together(first.departures)}; no tool known here computes "
            "it so."
        )
    low, high = _span(found)
    return f"No convention known here gives {found.value}: {found.metric} is {found.ours[0]:.4f}, and tools print {low:.4f} to {high:.4f}."


def _together(departures: Sequence[tuple[str, Any]]) -> str:
    return "; ".join(map(in_words, departures))


def _about_tools(found: Reconciled) -> str:
    tools = [p for p in found.printed if p.values is not None]
    if not tools:
        return f"No tool known here has {found.metric}."
    numbers = {tuple(f"{value:.4f}" for value in p.values or ()) for p in tools}
    ours = tuple(f"{value:.4f}" for value in found.ours)
    same = sum(1 for p in tools if tuple(f"{v:.4f}" for v in p.values or ()) == ours)
    if numbers == {ours}:
        return f"Every tool known here that has {found.metric} ({len(tools)}) prints {', '.join(ours)}."
    others = len(numbers - {ours})
    return (
        f"Of {len(tools)} tools that have {found.metric}, {same} {'prints' if same == 1 else 'print'} {', '.join(ours)} as rankscope "
        f"does, the rest {others} other {'number' if others == 1 else 'numbers'}."
    )


def _about_winners(found: Reconciled) -> str:
    winners = found.winners
    if len(winners) < 2:
        best = next(iter(winners), "")
        return f"Every convention has {best} first." if best else "No convention tells the runs apart."
    parts = [
        f"{_listed(names)} {'puts' if len(names) == 1 else 'put'} {f'{run} first' if run else 'the first two level'}"
        for run, names in winners.items()
    ]
    return "The choice of convention changes which run is best: " + "; ".join(parts) + "."


def _span(found: Reconciled) -> tuple[float, float]:
    values = [v for p in found.printed for v in p.values or () if not math.isnan(v)] + list(found.ours)
    return min(values), max(values)


def _listed(names: Sequence[str]) -> str:
    if len(names) > NAMED + 1:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"


def _tools(found: Reconciled) -> Table:
    """A row a number and reason: who prints it, and the one reason why."""
    groups: dict[tuple[tuple[str, ...], str], list[str]] = {}
    values: dict[tuple[str, ...], tuple[float, ...]] = {}

    def enter(numbers: tuple[float, ...], why: str, name: str) -> None:
        key = tuple(f"{value:.4f}" for value in numbers)
        values[key] = numbers
        groups.setdefault((key, why), []).append(name)

    enter(found.ours, "", "rankscope")
    for p in found.printed:
        if p.values is not None:
            enter(p.values, _reason(p), p.dialect)
    order = list(dict.fromkeys(key for key, _ in groups))
    rows: list[tuple[Value, ...]] = [
        (*map(null, values[key]), ", ".join(names), why)
        for key in order
        for (own, why), names in groups.items()
        if own == key
    ]
    heads = [Column("value" if len(found.runs) == 1 else run, "value") for run in found.runs]
    return Table(
        (*heads, Column("printed by", wraps=True), Column("because of", wraps=True)), tuple(rows), labels=0
    )


def _reason(p: Printed) -> str:
    if p.reasons:
        also = ", ".join(SHORT.get(name, name) for name, _ in p.reasons[1:])
        return in_words(p.reasons[0]) + (f" (also: {also})" if also else "")
    said = [d for d in p.idle if d[0] not in {"ties", "queries", "no_relevant", "nothing_found"}]
    return f"(same here: {_together(said)})" if said else ""


def _ways(found: Reconciled, others: Sequence[Explained]) -> Table:
    several = len(found.runs) > 1
    columns = [*([Column("run")] if several else []), Column("value", "value"), Column("by", wraps=True)]
    rows: list[tuple[Value, ...]] = [
        (*([e.run] if several else []), e.value, _together(e.departures)) for e in others
    ]
    return Table(tuple(columns), tuple(rows), labels=1 if several else 0)


# --- as records --------------------------------------------------------------------------------------


def envelope(found: Sequence[Reconciled]) -> dict[str, Any]:
    """All of it, for other programs: the numbers of every tool, and for each metric what explains a value and who wins."""
    return {
        "schema": "rankscope/reconcile/1",
        "rankscope": __version__,
        "results": [record for one in found for record in records(one)],
        "metrics": [
            {
                "metric": str(one.metric),
                "asked": one.asked,
                "value": one.value,
                "explained": [_explained(e) for e in one.explained],
                "winners": [{"run": run or None, "dialects": names} for run, names in one.winners.items()],
            }
            for one in found
        ],
    }


def records(found: Reconciled) -> Iterator[dict[str, Any]]:
    """One record a tool and run, rankscope first."""
    for run, value in zip(found.runs, found.ours, strict=True):
        yield {
            "dialect": "rankscope",
            "tool": "rankscope",
            "run": run,
            "asked": found.asked,
            "metric": str(found.metric),
            "value": null(value),
            "same": True,
            "reason": None,
            "defect": None,
        }
    for p in found.printed:
        for at, run in enumerate(found.runs):
            theirs = None if p.values is None else p.values[at]
            yield {
                "dialect": p.dialect,
                "tool": p.tool,
                "run": run,
                "asked": found.asked,
                "metric": str(p.way.metric) if p.way else None,
                "value": None if theirs is None else null(theirs),
                "same": theirs is not None and abs(theirs - found.ours[at]) <= CLOSE,
                "reason": _together(p.reasons) or None,
                "defect": p.says.defect or None,
            }


def _explained(e: Explained) -> dict[str, Any]:
    said = asdict(e.way.convention)
    plain = asdict(Convention())
    return {
        "metric": str(e.way.metric),
        "convention": {name: value for name, value in said.items() if value != plain[name]},
        "departures": [in_words(d) for d in e.departures],
        "dialects": list(e.dialects),
        "run": e.run,
        "value": e.value,
    }
