"""Numbers of another tool and ours on the same input, and the verdict on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import rankscope as rs
from rankscope.dialects import Convention
from rankscope.metrics import Metric
from rankscope.scoring.definitions import MetricDefinition
from rankscope.verbs.reconcile.result import in_words

WORDS = {
    ("compat", 9.0): "the documents needed for a recall are counted as trec_eval 9 does",
    ("single_class", 0.0): "a list of one class counts as 0",
    ("ties", "input"): "equal scores in the order of the input",
    ("ties", "docid"): "equal scores by rising document id",
    ("ties", "worst"): "equal scores in the worst order",
    ("ties", "expected"): "the mean over the orders of equal scores",
    ("ties", "trec"): "equal scores by falling document id",
    ("queries", "run"): "averaged over the queries of the run",
    ("queries", "both"): "averaged over the queries of both files",
    ("level", 0.0): "a document of grade 0 counts as relevant",
    ("gain", "binary"): "no grades: relevant or not",
    ("ideal", "judged_uncut"): "ideal not cut at k",
    ("ideal", "judged_at_returned"): "ideal cut at the number of documents returned",
    ("ideal", "retrieved_all"): "ideal of the retrieved documents only",
    ("ideal", "full_k"): "ideal of k relevant documents, always",
    ("denominator", "relevant"): "divided by all relevant documents",
    ("denominator", "min_k_relevant"): "divided by min(k, relevant)",
    ("denominator", "min_k_listlen"): "divided by min(k, returned)",
    ("denominator", "min_relevant_listlen"): "divided by min(relevant, returned)",
    ("denominator", "hits_at_k"): "divided by the relevant documents found",
    ("denominator", "positives_in_list"): "divided by the relevant documents returned",
    ("denominator", "min_k_positives_in_list"): "divided by min(k, relevant documents returned)",
    ("no_relevant", 0): "queries without relevant documents count 0",
    ("no_relevant", 1): "queries without relevant documents count 1",
}


class Absent(Exception):  # noqa: N818 - no fault of anybody's
    """A tool is not installed here."""


@dataclass(frozen=True)
class Said:
    """What a tool says: the mean, and the value of each query where it tells them."""

    mean: float
    each: Mapping[str, float] = field(default_factory=dict)


def averaged(each: Mapping[str, float]) -> Said:
    """For a tool that says one value a query: their mean."""
    known = [value for value in each.values() if not math.isnan(value)]
    return Said(math.fsum(known) / len(known), each)


@dataclass(frozen=True)
class Pair:
    """One metric: how it is called there, and how here, on the same input.

    ``plain`` is what somebody would ask of rankscope who knows no convention: the verdict is "equal" where
    that gives the numbers of ``ours``, and names the convention where it does not. ``dialect``
    must give them, too, from the judgments as they are. ``view`` is the input as the tool is given it.
    """

    call: str
    ours: str
    theirs: Callable[[Any], Said]
    plain: str = ""
    policy: Mapping[str, Any] = field(default_factory=dict)
    dialect: str = ""
    view: Callable[[Any], Any] = lambda data: data
    shown: bool = True


@dataclass(frozen=True)
class Defect:
    """A number of a release that follows from no convention, and ours."""

    name: str
    call: str
    input: str
    theirs: float | str
    ours: float
    why: str

    def __post_init__(self) -> None:
        if not isinstance(self.theirs, str) and abs(self.theirs - self.ours) < 1e-6:
            raise ValueError(f"{self.name}: {self.call} gives {self.theirs} as rankscope does: no defect any more")


@dataclass(frozen=True)
class Tool:
    """Another tool: what is compared, on which inputs, how closely; ``policy`` holds for all of it, as ``about`` says."""

    name: str
    package: str
    about: str
    inputs: Sequence[Any]
    pairs: Sequence[Pair]
    close: float = 1e-9
    digits: int = 6
    policy: Mapping[str, Any] = field(default_factory=dict)
    defects: Sequence[Defect] = ()
    at: str = ""

    @property
    def version(self) -> str:
        """The release."""
        return self.at or version(self.package)


@dataclass(frozen=True)
class Row:
    """The outcome for one metric: their mean and ours on each input, how many numbers were compared, the verdict."""

    pair: Pair
    spelling: str
    means: Sequence[tuple[float, float]]
    plain: Sequence[float]
    count: int
    convention: str
    matters: bool

    @property
    def equal(self) -> bool:
        """Whether rankscope gives their number without further word."""
        return not self.convention


def compared(tool: Tool) -> Iterator[Row]:
    """Every metric of a tool. Raises ValueError for a number that neither side's conventions explain."""
    for pair in tool.pairs:
        ours, plain = rs.parse(pair.ours), rs.parse(pair.plain or pair.ours)
        policy = {**tool.policy, **pair.policy}
        means, by_default, count, same = [], [], 0, True
        for data in tool.inputs:
            view = pair.view(data)
            theirs = pair.theirs(view)
            said, default = evaluated(view, ours, policy), evaluated(view, plain, tool.policy)
            check(said, theirs, f"{tool.name} {pair.call}: {ours} {policy} ({data.name})", tool.close)
            same = same and distance(default, theirs) <= tool.close
            if pair.dialect:
                by_dialect = evaluated(data_of(data, view), plain, {"dialect": pair.dialect})
                what = f"{tool.name} {pair.call}: {plain} in the dialect {pair.dialect} ({data.name})"
                check(by_dialect, theirs, what, tool.close)
            means.append((theirs.mean, said.mean))
            by_default.append(default.mean)
            count += 1 + len(theirs.each)
        named = departures(ours, plain, policy, tool.policy)
        if not named and not same:
            raise ValueError(f"{tool.name} {pair.call}: {ours} is not {plain}, but no convention differs")
        yield Row(pair, spelling(ours, pair.policy), means, by_default, count, named, not same)


def data_of(data: Any, view: Any) -> Any:
    """The judgments as they are, with the scores that the tool is given."""
    return type(data)(data.name, data.qrels, {**data.run, **view.run})


def evaluated(data: Any, metric: Metric, policy: Mapping[str, Any]) -> Said:
    """What rankscope says."""
    scores = rs.evaluate(data.qrels, data.run, [metric], **policy)
    (one,) = scores.runs
    (values,) = one.values.values()
    return Said(scores.board[0].value, dict(zip(one.query_ids, values.tolist(), strict=True)))


def check(ours: Said, theirs: Said, what: str, close: float) -> None:
    """Raise where the numbers are not the same."""
    if distance(ours, theirs) > close:
        odd = [q for q in theirs.each if apart(theirs.each[q], ours.each.get(q, math.nan)) > close]
        told = ", ".join(f"{q}: {theirs.each[q]:.6g} and {ours.each.get(q, math.nan):.6g}" for q in odd[:4])
        raise ValueError(f"{what}: theirs is {theirs.mean:.9g}, ours {ours.mean:.9g}; {told}")


def distance(ours: Said, theirs: Said) -> float:
    """The largest difference: of the means, and of any query's values where theirs are told."""
    queries = {*theirs.each, *(ours.each if theirs.each else ())}
    pairs = [(theirs.each.get(q, math.nan), ours.each.get(q, math.nan)) for q in queries]
    return max(apart(one, other) for one, other in [(theirs.mean, ours.mean), *pairs])


def apart(one: float, other: float) -> float:
    """How far apart two numbers are; no number is like no number only."""
    if math.isnan(one) or math.isnan(other):
        return 0.0 if math.isnan(one) and math.isnan(other) else math.inf
    return abs(one - other) / max(1.0, abs(one))


def departures(ours: Metric, plain: Metric, policy: Mapping[str, Any], shared: Mapping[str, Any]) -> str:
    """The conventions in which a spelling differs from what is asked without further word."""
    way = MetricDefinition(ours, Convention(**policy))
    named = way.differences(MetricDefinition(plain, Convention(**shared)))
    return "; ".join(map(words, named))


def words(departure: tuple[str, Any]) -> str:
    """What a departure from rankscope's default is, in words short enough for a table."""
    return WORDS.get(departure) or in_words(departure)


def spelling(metric: Metric, policy: Mapping[str, Any]) -> str:
    """A metric and its policies as they are given to ``evaluate``."""
    return ", ".join([f"`{metric}`", *(f"`{name}={value!r}`" for name, value in policy.items())])


def number(value: float | str, digits: int) -> str:
    """A number for the page."""
    if isinstance(value, str):
        return value
    return "no number" if math.isnan(value) else f"{value + 0.0:.{digits}g}"
