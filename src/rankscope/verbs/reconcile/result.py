"""What ``reconcile`` found: the number of every tool, the convention behind it, and what gives a number in question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from rankscope.blocks import EMPTY, Block, Chart, Column, Heading, Paragraph, Table, Value
from rankscope.dialects import Convention
from rankscope.dialects.base import Says
from rankscope.metrics import Metric
from rankscope.scoring.policies import POLICIES
from rankscope.scoring.scores import Scores
from rankscope.scoring.ways import Way
from rankscope.show.result import Col, Result, View, null

CLOSE = 1e-9  # numbers closer than this are the same
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
    ("denominator", "min_k_positives_in_list"): "divided by the smaller of k and the relevant documents in the list",
    ("judged_only", True): "unjudged documents left out",
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
        return f"ties: {POLICIES['ties'].words(value)}"
    if name == "queries":
        return f"averaged over {POLICIES['queries'].words(value)}"
    if name == "metric":
        return f"another metric under that name: {value}"
    return WORDS.get(departure) or f"{name}={value!r}"


@dataclass(frozen=True)
class Printed:
    """What a tool prints for a metric: one value a run (None where its number is a defect that is never computed).

    ``reasons`` are the departures from rankscope's default in the order of how much of the difference each
    explains alone; those that change nothing here come last and are in ``idle``.
    """

    dialect: str
    tool: str
    says: Says
    way: Way | None
    values: tuple[float, ...] | None
    reasons: tuple[tuple[str, Any], ...] = ()
    idle: tuple[tuple[str, Any], ...] = ()

    @property
    def reason(self) -> str:
        """Why the number differs, or what it shares with ours although it is another convention."""
        if self.reasons:
            also = ", ".join(SHORT.get(name, name) for name, _ in self.reasons[1:])
            return in_words(self.reasons[0]) + (f" (also: {also})" if also else "")
        policies = {"ties", "queries", "no_relevant", "nothing_found"}
        same = [departure for departure in self.idle if departure[0] not in policies]
        return f"(same here: {_together(same)})" if same else ""


@dataclass(frozen=True)
class Match:
    """A way to compute the number in question, by what it departs in, and the tools that compute so."""

    way: Way
    departures: tuple[tuple[str, Any], ...]
    dialects: tuple[str, ...]
    run: str
    value: float

    def record(self) -> dict[str, Any]:
        """As it stands in JSON."""
        convention, default = asdict(self.way.convention), asdict(Convention())
        return {
            "metric": str(self.way.metric),
            "convention": {name: value for name, value in convention.items() if value != default[name]},
            "departures": [in_words(d) for d in self.departures],
            "dialects": list(self.dialects),
            "run": self.run,
            "value": self.value,
        }


@dataclass(frozen=True)
class _Row:
    """One number of one tool for one run."""

    of: Reconciliation
    run: str
    ours: float
    value: float | None
    printed: Printed | None = None  # None: rankscope itself

    @property
    def metric(self) -> str | None:
        if self.printed is None:
            return str(self.of.metric)
        return str(self.printed.way.metric) if self.printed.way else None

    @property
    def same(self) -> bool:
        return self.printed is None or (self.value is not None and abs(self.value - self.ours) <= CLOSE)


COLUMNS = (
    Col("dialect", of=lambda row: row.printed.dialect if row.printed else "rankscope"),
    Col("tool", of=lambda row: row.printed.tool if row.printed else "rankscope"),
    Col("run"),
    Col("asked", of=lambda row: row.of.asked),
    Col("metric"),
    Col("value", kind="value"),
    Col("same"),
    Col("reason", of=lambda row: _together(row.printed.reasons) or None if row.printed else None),
    Col("defect", of=lambda row: row.printed.says.defect or None if row.printed else None),
)


class _Reconciled(Result):
    """What one metric and several have in common."""

    schema = "reconcile/1"
    views = (View("results", COLUMNS, lambda result: (row for part in result.parts for row in part.numbers())),)

    @property
    def parts(self) -> Sequence[Reconciliation]:
        """What was found for each metric."""
        raise NotImplementedError

    @property
    def notes(self) -> Sequence[str]:
        """What was said while reading."""
        return self.parts[0].scores.notes

    def facts(self) -> Mapping[str, Any]:
        """For each metric what gives the value in question, and who calls which run the best."""
        return {
            "metrics": [
                {
                    "metric": str(part.metric),
                    "asked": part.asked,
                    "value": part.value,
                    "explained": [match.record() for match in part.explained],
                    "winners": [{"run": run or None, "dialects": names} for run, names in part.winners.items()],
                }
                for part in self.parts
            ]
        }


@dataclass(frozen=True, eq=False, repr=False)
class Reconciliations(_Reconciled):
    """What ``reconcile`` found for several metrics, one after the other."""

    several: tuple[Reconciliation, ...]

    @property
    def parts(self) -> Sequence[Reconciliation]:
        """What was found for each metric."""
        return self.several

    def sentences(self) -> Iterator[str]:
        """The answers."""
        return chain.from_iterable(part.sentences() for part in self.several)

    def blocks(self, **_: Any) -> list[Block | Chart]:
        """One metric after the other."""
        return [block for part in self.several for block in part.blocks()]


@dataclass(frozen=True, eq=False, repr=False)
class Reconciliation(_Reconciled):
    """What ``reconcile`` found for one metric: what each tool prints, and which ways give the ``value`` in question."""

    metric: Metric
    asked: str
    runs: tuple[str, ...]
    ours: tuple[float, ...]
    printed: Sequence[Printed]
    value: str | None
    explained: Sequence[Match]
    scores: Scores

    @property
    def parts(self) -> Sequence[Reconciliation]:
        """This one alone."""
        return (self,)

    def numbers(self) -> Iterator[_Row]:
        """Every number of every tool, rankscope's first."""
        for run, value in zip(self.runs, self.ours, strict=True):
            yield _Row(self, run, value, value)
        for p in self.printed:
            for at, run in enumerate(self.runs):
                yield _Row(self, run, self.ours[at], None if p.values is None else p.values[at], p)

    @cached_property
    def winners(self) -> dict[str, list[str]]:
        """With two runs or more, the run that each tool would call the best (a tie is ""), ours as "rankscope"."""
        out: dict[str, list[str]] = {}
        for name, values in (("rankscope", self.ours), *((p.dialect, p.values) for p in self.printed)):
            if values is not None and not any(map(math.isnan, values)):
                out.setdefault(self._winner(values), []).append(name)
        return out

    def _winner(self, values: Sequence[float]) -> str:
        sign = -1 if self.metric.better == "lower" else 1
        best = max(sign * value for value in values)
        top = [run for run, value in zip(self.runs, values, strict=True) if best - sign * value <= CLOSE]
        return top[0] if len(top) == 1 else ""

    # -- for people -----------------------------------------------------------------------------------

    def sentences(self) -> Iterator[str]:
        """The answer first."""
        yield self._about_tools() if self.value is None else self._about_value()
        if len(self.runs) > 1:
            yield self._about_winners()

    def blocks(self, **_: Any) -> list[Block | Chart]:
        """The answer, the tools by what they print, the conventions that give the number, and the winners."""
        blocks: list[Block | Chart] = [*map(Paragraph, self.sentences()), EMPTY, self._tools()]
        others = [match for match in self.explained if not match.dialects and match.departures]
        if others:
            blocks += [EMPTY, Heading(f"what else gives {self.value}"), self._ways(others)]
        defects = [p for p in self.printed if p.values is None]
        blocks += [
            Paragraph(
                f"{p.tool} prints something under this name that follows from no convention: {p.says.defect}",
                quiet=True,
            )
            for p in defects
        ]
        return [
            *blocks,
            Paragraph(f"rankscope: {self.metric.convention}; ties: {POLICIES['ties'].words('trec')}", quiet=True),
        ]

    def _about_value(self) -> str:
        tools = {name for match in self.explained for name in match.dialects}
        ours = any(not match.departures for match in self.explained)
        groups: dict[str, list[str]] = {}
        for p in self.printed:
            if p.dialect in tools:
                groups.setdefault(p.reason if p.reasons else "", []).append(p.dialect)
        if groups or ours:
            same = groups.pop("", [])
            parts = [f"what {_prints(['rankscope', *same])}"] if ours else []
            parts += [f"what {_prints(names)}: {why}" for why, names in groups.items()]
            return f"{self.value} is {'; and '.join(parts)}."
        if self.explained:
            first = self.explained[0]
            return (
                f"{self.value} could be {self.metric} of {first.run} with {_together(first.departures)}; no tool known here "
                "computes it that way."
            )
        values = [v for p in self.printed for v in p.values or () if not math.isnan(v)] + list(self.ours)
        return (
            f"No convention known here gives {self.value}: {self.metric} is {self.ours[0]:.4f}, and tools print {min(values):.4f} "
            f"to {max(values):.4f}."
        )

    def _about_tools(self) -> str:
        tools = [_four(p.values) for p in self.printed if p.values is not None]
        ours = _four(self.ours)
        same, others = tools.count(ours), len(set(tools) - {ours})
        if not tools:
            return f"No tool known here has {self.metric}."
        if not others:
            return f"All {len(tools)} tools known here that have {self.metric} agree: {', '.join(ours)}."
        values = "1 other value" if others == 1 else f"{others} other values"
        return (
            f"{len(tools)} tools have {self.metric}: {same} {'agrees' if same == 1 else 'agree'} ({', '.join(ours)}); the rest "
            f"give {values}."
        )

    def _about_winners(self) -> str:
        winners = self.winners
        if len(winners) < 2:
            best = next(iter(winners), "")
            return f"Every convention ranks {best} first." if best else "No convention separates the runs."
        parts = [
            f"{_names(names)} {'puts' if len(names) == 1 else 'put'} {f'{run} first' if run else 'the first two level'}"
            for run, names in winners.items()
        ]
        return "The choice of convention changes which run is best: " + "; ".join(parts) + "."

    def _tools(self) -> Table:
        """A row a number and reason: who prints it, and the one reason why."""
        groups: dict[tuple[tuple[str, ...], str], list[str]] = {}
        values: dict[tuple[str, ...], tuple[float, ...]] = {}
        lines = [(self.ours, "", "rankscope"), *((p.values, p.reason, p.dialect) for p in self.printed)]
        for numbers, why, name in lines:
            if numbers is not None:
                values[_four(numbers)] = numbers
                groups.setdefault((_four(numbers), why), []).append(name)
        order = list(dict.fromkeys(key for key, _ in groups))
        rows: list[tuple[Value, ...]] = [
            (*map(null, values[key]), ", ".join(names), why)
            for key in order
            for (own, why), names in groups.items()
            if own == key
        ]
        heads = [Column("value" if len(self.runs) == 1 else run, "value") for run in self.runs]
        return Table(
            (*heads, Column("printed by", wraps=True), Column("because of", wraps=True)), tuple(rows), labels=0
        )

    def _ways(self, matches: Sequence[Match]) -> Table:
        several = len(self.runs) > 1
        columns = [*([Column("run")] if several else []), Column("value", "value"), Column("by", wraps=True)]
        rows: list[tuple[Value, ...]] = [
            (*([m.run] if several else []), m.value, _together(m.departures)) for m in matches
        ]
        return Table(tuple(columns), tuple(rows), labels=1 if several else 0)


def _four(values: Sequence[float]) -> tuple[str, ...]:
    """Values as they are told apart."""
    return tuple(f"{value:.4f}" for value in values)


def _together(departures: Sequence[tuple[str, Any]]) -> str:
    return "; ".join(map(in_words, departures))


def _prints(names: Sequence[str]) -> str:
    return f"{_names(names)} {'prints' if len(names) == 1 else 'print'}"


def _names(names: Sequence[str]) -> str:
    if len(names) > NAMED + 1:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"
