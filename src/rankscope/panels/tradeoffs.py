"""Quality against cost: the runs on the Pareto front, what a point of quality costs, and the best run within a budget."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rankscope import words
from rankscope.blocks import EMPTY, Block, Column, Heading, NumberText, Paragraph, Table
from rankscope.errors import DataError, InputError
from rankscope.files.side_tables import Costs

STEP = 0.01  # what a point of quality is
ABOUT = 1.05  # costs that differ by a smaller factor are about the same
_TIMES = ("latency", "time", "seconds", "duration")
_SIZES = ("size", "bytes", "memory", "ram", "disk", "storage", "mb", "gb", "mib", "gib")


@dataclass(frozen=True)
class CostPoint:
    """A run with one cost and its quality.

    ``dominated_by`` names a run that is at least as good, costs no more, and is better in one of the two; the runs without one are the
    front. ``price`` is the cost of 0.01 more of the metric, against the next cheaper run of the front.
    """

    run: str
    cost: float
    quality: float
    dominated_by: str | None = None
    price: float | None = None

    @property
    def on_front(self) -> bool:
        """True if no run dominates this one."""
        return self.dominated_by is None


@dataclass(frozen=True)
class Budget:
    """The best run whose costs are within limits; None where there is no such run.

    ``within`` are the runs that keep all limits, the best first, ``beyond`` the others, each with the first cost that is above its
    limit. ``better`` are those of the latter that would be ahead of the best within.
    """

    limits: tuple[tuple[str, float], ...]
    best: str | None
    quality: float | None
    within: tuple[str, ...]
    beyond: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    better: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The answer."""
        limits = " and ".join(f"{name} <= {words.amount(limit)}" for name, limit in self.limits)
        if self.best is None:
            return f"No run has {limits}."
        ahead = [f"{run} ({name} {words.amount(cost)})" for run in self.better for name, cost in [self.beyond[run]]]
        one = len(self.limits) == 1
        better = f"; better, but beyond {'it' if one else 'them'}: {words.listing(ahead, most=3)}" if ahead else ""
        return f"Best with {limits}: {self.best} (of {words.counted(len(self.within), 'run')} within the {'limit' if one else 'limits'}){better}."


@dataclass(frozen=True, eq=False)
class TradeOffs:
    """The mean quality of each run by one metric, and what each run costs."""

    metric: str
    better: Literal["higher", "lower"]
    quality: Mapping[str, float]
    costs: Costs
    baseline: str | None = None
    budget: Budget | None = None

    def points(self, column: str) -> tuple[CostPoint, ...]:
        """Return every run with this cost, the cheapest first; for equal costs the best first."""
        cost = {run: self.costs.by_run[run][self.costs.column(column)] for run in self.quality}
        points: list[CostPoint] = []
        for run in sorted(self.quality, key=lambda run: (cost[run], -self._good(run), run)):
            dominant, price = self._dominant(run, cost), None
            cheaper = [point for point in points if point.on_front and point.cost < cost[run]]
            if cheaper and dominant is None:
                gained = abs(self.quality[run] - cheaper[-1].quality)
                price = (cost[run] - cheaper[-1].cost) / (gained / STEP)
            points.append(CostPoint(run, cost[run], self.quality[run], dominant, price))
        return tuple(points)

    def front(self, column: str) -> tuple[CostPoint, ...]:
        """Return the runs that no other dominates, the cheapest first: less cost is less quality among them."""
        return tuple(point for point in self.points(column) if point.on_front)

    def within(self, limits: Mapping[str, float]) -> Budget:
        """The best run whose costs are at most these; of equally good ones the cheaper, by the columns in the order given."""
        columns = [self.costs.column(name) for name in limits]
        by_run = self.costs.by_run
        kept = [run for run in self.quality if all(by_run[run][name] <= limits[name] for name in columns)]
        order = sorted(kept, key=lambda run: (-self._good(run), *(by_run[run][name] for name in columns), run))
        best = order[0] if order else None
        beyond = {
            run: next((name, by_run[run][name]) for name in columns if by_run[run][name] > limits[name])
            for run in sorted(self.quality, key=lambda run: (-self._good(run), run))
            if run not in kept
        }
        better = tuple(run for run in beyond if best is not None and self._good(run) > self._good(best))
        quality = None if best is None else self.quality[best]
        return Budget(tuple(limits.items()), best, quality, tuple(order), beyond, better)

    def sentence(self, run: str, against: str) -> str:
        """One run against another: what it loses or gains, and what it saves or costs.

        >>> from rankscope.files.side_tables import costs_of
        >>> costs = costs_of({"A": {"latency_ms": 250}, "B": {"latency_ms": 45}})
        >>> tradeoffs({"A": 0.912, "B": 0.856}, costs, metric="nDCG@10").sentence("B", "A")
        'B loses 0.056 nDCG@10 (6.1%) against A and is 5.6x faster.'
        """
        own, other = self.costs.by_run[run], self.costs.by_run[against]
        kinds, parts = Counter(map(_kind, self.costs.columns)), [self._against(run, against)]
        parts += [_cost_in_words(c, own[c], other[c], kinds[_kind(c)] == 1) for c in self.costs.columns]
        return f"{run} {words.listing(parts, most=len(parts))}."

    def blocks(self) -> list[Block]:
        """Sentences first, then one table a cost."""
        runs = [run for run in self.quality if run != self.baseline]
        out: list[Block] = []
        if self.baseline is not None:
            out += [Paragraph(self.sentence(run, self.baseline)) for run in runs]
        for column in self.costs.columns:
            out += [*([EMPTY] if out else []), Heading(f"{self.metric} against {column}"), self._table(column)]
        small = f"per {STEP}: {self.price_in_words}"
        return [
            *out,
            Paragraph(f"{small} · from means only: whether a difference is real is another question", quiet=True),
        ]

    @property
    def price_in_words(self) -> str:
        """What the price of a run is."""
        return f"the cost of {STEP} of {self.metric}, against the next cheaper run on the front"

    def cost_in_words(self, column: str) -> str:
        """What one of the costs is."""
        return f"the cost of a run: {column}"

    def _good(self, run: str) -> float:
        return self.quality[run] if self.better == "higher" else -self.quality[run]

    def _dominant(self, run: str, cost: Mapping[str, float]) -> str | None:
        """Return the best of the runs that dominate this one."""
        own = cost[run], -self._good(run)
        each = ((cost[other], -self._good(other), other) for other in self.quality)
        dominant = [(good, c, other) for c, good, other in each if c <= own[0] and good <= own[1] and (c, good) != own]
        return min(dominant)[2] if dominant else None

    def _against(self, run: str, against: str) -> str:
        difference = self._good(run) - self._good(against)
        if difference == 0:
            return f"equals {against} on {self.metric}"
        base = abs(self.quality[against])
        share = f" ({words.share(abs(difference) / base, 1)})" if base > 0 else ""
        verb = "gains" if difference > 0 else "loses"
        if self.better == "lower":
            verb = "is better by" if difference > 0 else "is worse by"
        return f"{verb} {words.number(abs(difference))} {self.metric}{share} against {against}"

    def _table(self, column: str) -> Table:
        limit = None if self.budget is None else dict(self.budget.limits).get(column)
        within = [] if limit is None else [Column(f"<= {words.amount(limit)}", hint="whether it is within the limit")]
        points, rows = self.points(column), []
        for p in points:
            kept = [] if limit is None else ["yes" if p.cost <= limit else "no"]
            front = "yes" if p.on_front else f"no: {p.dominated_by} is at least as good and costs no more"
            price = None if p.price is None else NumberText(words.amount(p.price), p.price)
            rows.append((p.run, NumberText(words.amount(p.cost), p.cost), *kept, p.quality, front, price))
        columns = (
            Column("run"),
            Column(column, "value", hint=self.cost_in_words(column)),
            *within,
            Column(self.metric, "value"),
            Column("front", wraps=True),
            Column(f"per {STEP}", "value", hint=self.price_in_words),
        )
        return Table(columns, tuple(rows), best=frozenset((n, 0) for n, p in enumerate(points) if p.on_front))


def tradeoffs(
    quality: Mapping[str, float],
    costs: Costs,
    *,
    metric: str,
    better: Literal["higher", "lower"] = "higher",
    baseline: str | None = None,
    within: Mapping[str, float] | str | Iterable[str] | None = None,
) -> TradeOffs:
    """Weigh the mean quality of each run by one metric against what it costs.

    Every run with a quality must have its costs; of costs, less is better. Runs whose quality is NaN are left out. ``within``
    are limits, ``{"latency_ms": 100}`` or ``"latency_ms=100"``. Raises InputError for a run, a baseline or a column that is not
    there, DataError where no run has a quality.
    """
    known = {run: float(value) for run, value in quality.items() if not math.isnan(value)}
    if not known:
        raise DataError(f"runs have no value of {metric} to weigh against {costs.label}")
    if baseline is not None and baseline not in known:
        raise InputError(f"unknown run {baseline!r} with a value of {metric}{words.hint(baseline, known)}")
    kept = Costs(costs.columns, costs.of(known), costs.label)
    plainly = TradeOffs(metric, better, known, kept, baseline)
    if not within:
        return plainly
    limits = within if isinstance(within, Mapping) else limits_of(within)
    return TradeOffs(metric, better, known, kept, baseline, plainly.within(limits))


def limits_of(text: str | Iterable[str]) -> dict[str, float]:
    """Read limits: ``latency_ms=100``, several apart by commas, or a list of such.

    >>> limits_of("latency_ms=100, cost=2.5")
    {'latency_ms': 100.0, 'cost': 2.5}
    """
    pieces = [piece for part in ([text] if isinstance(text, str) else text) for piece in part.split(",")]
    out: dict[str, float] = {}
    for piece in pieces:
        name, _, number = (part.strip() for part in piece.replace("<=", "=").partition("="))
        try:
            limit = float(number)
        except ValueError:
            limit = math.nan
        if not name or math.isnan(limit):
            raise InputError(f"the limit {piece.strip()!r} cannot be read: write it like latency_ms=100")
        if name in out:
            raise InputError(f"{name} has two limits: keep one")
        out[name] = limit
    return out


def _kind(column: str) -> str:
    parts = re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", column).lower())
    if "ms" in parts or any(sign in word for word in parts for sign in _TIMES):
        return "time"
    return "size" if any(word == sign for word in parts for sign in _SIZES) else "cost"


def _cost_in_words(column: str, own: float, other: float, alone: bool) -> str:
    """The cost of one run against another's: ``is 5.6x faster``, ``takes 9x as long``, ``costs 9x as much``."""
    kind = _kind(column)
    start, same = {"time": ("is", "fast"), "size": ("is", "large"), "cost": ("costs", "much")}[kind]
    which = "" if alone and (kind != "cost" or column.lower() == "cost") else f" ({column})"
    if own == other:
        return f"{start} as {same}{which}"
    if min(own, other) == 0:
        return f"has a {column} of {words.amount(own)} instead of {words.amount(other)}"
    factor = max(own, other) / min(own, other)
    if factor < ABOUT:
        return f"{start} about as {same}{which}"
    if kind == "time":
        return (
            f"{f'is {words.factor(factor)} faster' if own < other else f'takes {words.factor(factor)} as long'}{which}"
        )
    if kind == "size":
        return f"is {words.factor(factor)} {'smaller' if own < other else 'larger'}{which}"
    return f"costs {_part(own / other) if own < other else words.factor(factor)} as much{which}"


def _part(share: float) -> str:
    """A part of a cost in per cent: 50%, 0.81%."""
    return f"{words.amount(float(f'{100 * share:.2g}'))}%" if share >= 0.0001 else "less than 0.01%"
