"""Arithmetic slips that turn the same values into another number, tried if no convention gives it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import median

from rankscope import words
from rankscope.errors import InputError
from rankscope.metrics import Metric, parse

CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)
OTHERS = ("nDCG", "AP", "RR", "P", "R", "Success", "DCG", "F")
KINDS = QUERIES_ROUNDED, MEAN_CUT, DIGITS, OTHER_CUTOFF, OTHER_METRIC, OTHER_COUNT, NO_MEAN, OF_RUNS = (
    "the value of each query rounded or cut off before the mean", "the mean cut off instead of rounded",
    "two digits swapped, or the point misplaced", "another cutoff", "another metric",
    "a mean over another number of queries",
    "the median, best or worst query, a sum, a product or 1 less the value instead of the mean",
    "a mean, a difference or a ratio of two runs",
)  # fmt: skip


@dataclass(frozen=True)
class Slip:
    """A slip that gives the number in question: its kind, a description, and its value."""

    kind: str
    what: str
    value: float


@dataclass(frozen=True)
class SlipSearch:
    """The kinds of slips that were ``tried``, and the slips that are ``matches`` of the number."""

    tried: tuple[str, ...]
    matches: tuple[Slip, ...]


def search_slips(
    text: str, meets: Callable[[float], bool], values: Mapping[str, Sequence[float]],
    counts: Mapping[str, Sequence[int]], others: Mapping[Metric, Mapping[str, float]], metric: Metric,
) -> SlipSearch:  # fmt: skip
    """Try slips on the values of each run and its other metrics. ``text`` is the printed number, ``counts`` are possible numbers of queries."""
    every: list[Slip] = []
    for run, of_queries in values.items():
        if of_queries:
            of = f" of {run}" if len(values) > 1 else ""
            every += _of_queries(of_queries, counts.get(run, ()), of)
            every += _of_text(text, math.fsum(of_queries) / len(of_queries), meets, of)
    for other, by_run in others.items():
        kind = OTHER_CUTOFF if type(other) is type(metric) else OTHER_METRIC
        every += [Slip(kind, f"{other} of {run}" if len(values) > 1 else str(other), v) for run, v in by_run.items()]
    every += _of_runs({run: math.fsum(of) / len(of) for run, of in values.items() if of})
    tried = {slip.kind: None for slip in every} | {MEAN_CUT: None, DIGITS: None}
    slips = [slip for slip in every if slip.kind in {MEAN_CUT, DIGITS} or meets(slip.value)]
    slips.sort(key=lambda slip: KINDS.index(slip.kind))
    return SlipSearch(tuple(kind for kind in KINDS if kind in tried), tuple(slips))


def other_metrics(metric: Metric) -> Iterator[Metric]:
    """The same metric at other cutoffs, and other metrics at the same cutoff: candidates for a number from a wrong row."""
    k = getattr(metric, "cutoff", None)
    if hasattr(metric, "cutoff"):
        for other in dict.fromkeys((*((k - 1, k + 1) if k else ()), *CUTOFFS, None)):
            if other not in {k, 0}:
                try:
                    yield metric.having(cutoff=other).ready()
                except InputError:  # it needs a cutoff
                    continue
    for name in OTHERS:
        try:
            other_metric = parse(name if k is None else f"{name}@{k}").ready()
        except InputError:
            continue
        if type(other_metric) is not type(metric):
            yield other_metric


def _of_queries(values: Sequence[float], counts: Sequence[int], of: str) -> Iterator[Slip]:
    count, whole = len(values), math.fsum(values)
    for digits in (1, 2, 3):
        scale = 10**digits
        ways: dict[str, Callable[[float], float]] = {
            "rounded to": lambda value, digits=digits: round(value, digits),  # type: ignore[misc]
            "cut off after": lambda value, scale=scale: math.floor(value * scale) / scale,  # type: ignore[misc]
        }
        for how, change in ways.items():
            what = f"the mean{of} of queries {how} {digits} {'decimal' if digits == 1 else 'decimals'}"
            yield Slip(QUERIES_ROUNDED, what, math.fsum(map(change, values)) / count)
    above = sum(value > 0 for value in values)
    for number in dict.fromkeys((above, count - 1, count + 1, *counts)):
        if number > 0 and number != count:
            others = f"{words.counted(number, 'query')} instead of {words.count(count)}"
            over = "the queries above 0" if number == above else others
            yield Slip(OTHER_COUNT, f"the mean{of} over {over}", whole / number)
    instead = {
        "the median query": median(values), "the best query": max(values), "the worst query": min(values),
        "the sum over queries": whole, "1 less the mean": 1 - whole / count,
    }  # fmt: skip
    if min(values) >= 0:
        instead["the geometric mean"] = math.exp(math.fsum(math.log(max(value, 1e-5)) for value in values) / count)
    yield from (Slip(NO_MEAN, f"{what}{of}", value) for what, value in instead.items())


def _of_text(text: str, mean: float, meets: Callable[[float], bool], of: str) -> Iterator[Slip]:
    decimals = len(text.partition(".")[2].rstrip("%"))
    cut = math.floor(mean * 10**decimals) / 10**decimals
    if decimals and meets(cut):
        yield Slip(MEAN_CUT, f"the mean{of} cut off after {decimals} decimals", mean)
    for power, where in ((10, "right"), (0.1, "left")):
        if meets(mean * power):
            yield Slip(DIGITS, f"the mean{of} with the point one place too far {where}", mean)
    digits = f"{mean:.{decimals}f}"
    for at in range(len(digits) - 1):
        swapped = digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :]
        if swapped != digits and "." not in digits[at : at + 2] and meets(float(swapped)):
            yield Slip(DIGITS, f"the mean{of} with two digits swapped", mean)


def _of_runs(means: Mapping[str, float]) -> Iterator[Slip]:
    for one, two in permutations(means, 2):
        if one < two:
            yield Slip(OF_RUNS, f"the mean of {one} and {two}", (means[one] + means[two]) / 2)
        yield Slip(OF_RUNS, f"{one} less {two}", means[one] - means[two])
        if means[two]:
            yield Slip(OF_RUNS, f"{one} as a share of {two}", means[one] / means[two])
            yield Slip(OF_RUNS, f"the change from {two} to {one} as a share", means[one] / means[two] - 1)
