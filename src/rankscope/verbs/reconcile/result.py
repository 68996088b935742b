"""The result of ``reconcile``: the number of every tool, the convention behind it, and the source of a number in question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from rankscope import words
from rankscope.blocks import EMPTY, Column, Heading, Paragraph, Table, Value
from rankscope.dialects import Convention
from rankscope.metrics import Metric
from rankscope.scoring.definitions import MetricDefinition
from rankscope.scoring.policies import POLICIES
from rankscope.scoring.results import OfScores
from rankscope.scoring.scores import Scores
from rankscope.show.result import Col, Shown, View, table_of
from rankscope.verbs.reconcile.slips import SlipSearch
from rankscope.words import in_caller_syntax

CLOSE = 1e-9  # numbers closer than this are the same
MAX_SLIPS_NAMED = 3
MAX_TOOLS_NAMED = 4
SHORT = {
    "no_relevant": "queries without relevant documents",
    "nothing_found": "queries with nothing found",
    "mean": "kind of mean",
}
WORDS: dict[tuple[str, Any], str] = {
    ("gain", "exponential"): "exponential gain, 2^grade - 1",
    ("gain", "linear"): "linear gain",
    ("gain", "binary"): "binary gain: relevant or not",
    ("ideal", "judged_uncut"): "ideal of all judged documents, never cut at k",
    ("ideal", "judged_at_returned"): "ideal cut at the number of documents returned",
    ("ideal", "retrieved_topk"): "ideal of the documents in the top k only",
    ("ideal", "retrieved_all"): "ideal of the documents retrieved only",
    ("ideal", "full_k"): "ideal of k relevant documents, even if fewer exist",
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
    ("looks_at", "list"): "lists without relevant documents count as queries without any",
    ("mean", "micro"): "one ratio over all queries together",
}


def in_words(departure: tuple[str, Any]) -> str:
    """A departure from rankscope's default, in words."""
    name, value = departure
    if name in {"ties", "queries"}:
        return f"{'ties:' if name == 'ties' else 'averaged over'} {POLICIES[name].words(value)}"
    usual = f"another metric under that name: {value}" if name == "metric" else f"{name}={value!r}"
    return WORDS.get(departure) or usual


@dataclass(frozen=True)
class ToolValues:
    """The value that a tool prints for each run (None for a ``defect``), ``reasons`` that change it here, the largest first, and ``idle`` departures."""

    dialect: str
    tool: str
    definition: MetricDefinition | None = None
    values: tuple[float, ...] | None = None
    reasons: tuple[tuple[str, Any], ...] = ()
    idle: tuple[tuple[str, Any], ...] = ()
    defect: str = ""

    @property
    def reason(self) -> str:
        """The reason for the difference, or the departures that make no difference here."""
        if self.reasons:
            also = ", ".join(SHORT.get(name, name) for name, _ in self.reasons[1:])
            return in_words(self.reasons[0]) + (f" (also: {also})" if also else "")
        policies = {"ties", "queries", "no_relevant", "nothing_found"}
        same = [departure for departure in self.idle if departure[0] not in policies]
        return f"(same here: {_together(same)})" if same else ""


@dataclass(frozen=True)
class Match:
    """A definition that gives the number in question, its departures from the default, and the tools that use it."""

    definition: MetricDefinition
    departures: tuple[tuple[str, Any], ...]
    dialects: tuple[str, ...]
    run: str
    value: float

    @property
    def policies(self) -> dict[str, Any]:
        """The policies that differ from rankscope's."""
        convention, default = asdict(self.definition.convention), asdict(Convention())
        return {name: value for name, value in convention.items() if value != default[name]}

    @property
    def spelling(self) -> str:
        """The metric to paste, and the options that it needs."""
        options = self.policies
        needed = [f"--{name.replace('_', '-')} {value}" for name, value in options.items()]
        if not options.keys() <= POLICIES.keys():  # a rule of a tool, which no option sets
            needed = [f"--dialect {name}" for name in self.dialects[:1]]
        return str(self.definition.metric) + (f" with {' '.join(needed)}" if needed else "")

    def record(self) -> dict[str, Any]:
        """The match in JSON."""
        return {
            "metric": str(self.definition.metric), "convention": self.policies,
            "departures": [in_words(d) for d in self.departures], "dialects": list(self.dialects), "run": self.run,
            "value": self.value,
        }  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Reconciliation(OfScores):
    """The values of each tool for a metric, rankscope first, and the definitions that give the ``value`` in question.

    If no convention gives it, ``slips`` holds the arithmetic slips that were tried. ``more`` holds the results of other metrics.
    """

    metric: Metric
    spelling: str
    runs: tuple[str, ...]
    tools: Sequence[ToolValues]
    value: str | None
    matches: Sequence[Match]
    scores: Scores
    more: Sequence[Reconciliation] = ()
    slips: SlipSearch | None = None

    schema = "reconcile/1"
    views = (
        View(
            "results",
            tuple(map(Col, ("dialect", "tool", "run", "asked", "metric", "value", "same", "reason", "defect"))),
            lambda result: (row for part in result.parts for row in part.numbers()),
        ),
    )

    @property
    def parts(self) -> Sequence[Reconciliation]:
        """The results of all metrics, this one first."""
        return (self, *self.more)

    @property
    def ours(self) -> tuple[float, ...]:
        """The values of rankscope, one per run."""
        return self.tools[0].values or ()

    def json_header(self) -> Mapping[str, Any]:
        """For each metric, the sources of the value in question, and the best run by tool."""
        return {"metrics": [part._record() for part in self.parts]}

    def _record(self) -> dict[str, Any]:
        slips: dict[str, Any] = {}
        if self.slips is not None:
            slips = {"slips_tried": list(self.slips.tried), "slips": list(map(asdict, self.slips.matches))}
        return {
            "metric": str(self.metric), "asked": self.spelling, "value": self.value,
            "explained": [match.record() for match in self.matches],
            "winners": [{"run": run or None, "dialects": names} for run, names in self.winners.items()], **slips,
        }  # fmt: skip

    def numbers(self) -> Iterator[dict[str, Any]]:
        """Every number of every tool."""
        for tool in self.tools:
            for run, ours, value in zip(self.runs, self.ours, tool.values or (None,) * len(self.runs), strict=True):
                same = tool is self.tools[0] or (value is not None and abs(value - ours) <= CLOSE)
                yield {
                    "dialect": tool.dialect, "tool": tool.tool, "run": run, "asked": self.spelling,
                    "metric": str(tool.definition.metric) if tool.definition else None, "value": value, "same": same,
                    "reason": _together(tool.reasons) or None, "defect": tool.defect or None,
                }  # fmt: skip

    @cached_property
    def winners(self) -> dict[str, list[str]]:
        """The best run (a tie is "") with the tools that find it best, if there are two runs or more."""
        out: dict[str, list[str]] = {}
        for tool in self.tools:
            if tool.values is not None and not any(map(math.isnan, tool.values)):
                out.setdefault(self._winner(tool.values), []).append(tool.dialect)
        return out

    def _winner(self, values: Sequence[float]) -> str:
        sign = -1 if self.metric.better == "lower" else 1
        best = max(sign * value for value in values)
        top = [run for run, value in zip(self.runs, values, strict=True) if best - sign * value <= CLOSE]
        return top[0] if len(top) == 1 else ""

    def sentences(self) -> Iterator[str]:
        """The answer, metric by metric."""
        for part in self.parts:
            yield part._about_tools() if part.value is None else part._about_value()
            if len(part.runs) > 1:
                yield part._about_winners()

    def blocks(self, **_: Any) -> list[Shown]:
        """Per metric: the answer, the tools by value, and the conventions that give the number."""
        return [block for part in self.parts for block in part._blocks()]

    def _blocks(self) -> Iterator[Shown]:
        yield from map(Paragraph, replace(self, more=()).sentences())
        yield from (EMPTY, self._tools())
        others = [match for match in self.matches if not match.dialects and match.departures]
        if others:
            yield from (EMPTY, Heading(f"other conventions that give {self.value}"), self._definitions(others))
        defect = "{0.tool} has a defect under this name, which no convention explains: {0.defect}"
        yield from (Paragraph(defect.format(tool), quiet=True) for tool in self.tools if tool.values is None)
        yield Paragraph(f"rankscope: {self.metric.convention} · ties: {POLICIES['ties'].words('trec')}", quiet=True)

    def _about_value(self) -> str:
        matching = {name for match in self.matches for name in match.dialects}
        ours = any(not match.departures for match in self.matches)
        groups: dict[str, list[str]] = {}
        for tool in self.tools[1:]:
            if tool.dialect in matching:
                groups.setdefault(tool.reason if tool.reasons else "", []).append(tool.dialect)
        if groups or ours:
            same = groups.pop("", [])
            parts = [f"by {words.listing(['rankscope', *same], MAX_TOOLS_NAMED)}"] if ours else []
            parts += [f"by {words.listing(names, MAX_TOOLS_NAMED)}: {why}" for why, names in groups.items()]
            spellings = {match.spelling: None for match in self.matches if match.dialects or not match.departures}
            paste = in_caller_syntax(f"Paste {words.listing(spellings, MAX_SLIPS_NAMED, last='or')}.")
            return f"{self.value} is printed {'; and '.join(parts)}. {paste}"
        if self.matches:
            first = self.matches[0]
            could = f"{self.value} could be {self.metric} of {first.run} with {_together(first.departures)}"
            return in_caller_syntax(f"{could}. No known tool computes it so. Paste {first.spelling}.")
        answer = f"No known convention gives {self.value}: {self._nearest()}."
        if self.slips is None:
            return answer
        if not self.slips.matches:
            return f"{answer} No slip gives it either. Tried: {'; '.join(self.slips.tried)}."
        slips = self.slips.matches[:MAX_SLIPS_NAMED]
        named = [f"{slip.what} is {words.number(slip.value, digits=self._digits)}" for slip in slips]
        rest = len(self.slips.matches) - len(named)
        more = f" ({words.counted(rest, 'other slip also gives', 'other slips also give')} it)" if rest else ""
        return f"{answer} A slip may: {'; or '.join(named)}{more}."

    @property
    def _digits(self) -> int:
        return min(max(len((self.value or "").rstrip("%").partition(".")[2]), 4), 12)

    def _nearest(self) -> str:
        digits, text = self._digits, self.value or ""
        number = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
        printed = [(v, tool.dialect) for tool in self.tools for v in tool.values or () if not math.isnan(v)]
        if not printed:
            return f"no query is scored on {self.metric}"
        values = [value for value, _ in printed]
        nearest, name = min(printed, key=lambda one: abs(one[0] - number))
        own = "undefined" if math.isnan(self.ours[0]) else words.number(self.ours[0], digits=digits)
        low, high = (words.number(end, digits=digits) for end in (min(values), max(values)))
        ends = low if low == high else f"{low} to {high}"
        if abs(nearest - self.ours[0]) <= CLOSE:
            return f"the nearest is {own}, {self.metric} itself, and tools print {ends}"
        near = f"{words.number(nearest, digits=digits)} ({name})"
        return f"{self.metric} is {own}, and tools print {ends}, the nearest {near}"

    def _about_tools(self) -> str:
        tools, ours = [_four(tool.values) for tool in self.tools[1:] if tool.values is not None], _four(self.ours)
        same, others = tools.count(ours), len(set(tools) - {ours})
        if not others:
            agreed = f"All {len(tools)} known tools that have {self.metric} agree: {', '.join(ours)}."
            return agreed if tools else f"No known tool has {self.metric}."
        agree = f"{same} {words.agree(same, 'agrees')} ({', '.join(ours)})"
        left = len(tools) - same
        rest = (
            f"{left} {words.agree(left, 'gives')} another value"
            if others == 1
            else f"the rest give {others} other values"
        )
        return f"{words.counted(len(tools), 'tool has', 'tools have')} {self.metric}: {agree}, and {rest}."

    def _about_winners(self) -> str:
        winners = self.winners
        if len(winners) < 2:
            best = next(iter(winners), "")
            return f"Every convention ranks {best} first." if best else "No convention separates the runs."
        firsts = {run: f"{run} first" if run else "the first two level" for run in winners}
        parts = [f"{_names(names, 'puts')} {firsts[run]}" for run, names in winners.items()]
        return f"The choice of convention changes which run is best: {'; '.join(parts)}."

    def _tools(self) -> Table:
        groups: dict[tuple[str, ...], dict[str, list[ToolValues]]] = {}
        for tool in self.tools:
            if tool.values is not None:
                groups.setdefault(_four(tool.values), {}).setdefault(tool.reason, []).append(tool)
        rows: list[tuple[Value, ...]] = []
        for by_reason in groups.values():
            for why, tools in by_reason.items():
                rows.append((*map(words.finite, tools[0].values or ()), ", ".join(tool.dialect for tool in tools), why))
        heads = ["value"] if len(self.runs) == 1 else self.runs
        columns = (Column("printed by", wraps=True), Column("because of", wraps=True))
        return Table((*(Column(head, "value") for head in heads), *columns), tuple(rows), labels=0)

    def _definitions(self, matches: Sequence[Match]) -> Table:
        run = (Col("run", head="run"),) if len(self.runs) > 1 else ()
        value = Col("value", head="value", kind="value")
        by = Col(head="by", cell=lambda match: _together(match.departures), wraps=True)
        paste = Col(head="paste", cell=lambda match: match.spelling, wraps=True)
        return table_of((*run, value, by, paste), matches, labels=len(run))


def _four(values: Sequence[float]) -> tuple[str, ...]:
    return tuple(words.number(value, digits=4) for value in values)


def _together(departures: Sequence[tuple[str, Any]]) -> str:
    return "; ".join(map(in_words, departures))


def _names(names: Sequence[str], verb: str) -> str:
    return f"{words.listing(names, MAX_TOOLS_NAMED)} {words.agree(len(names), verb)}"
