"""The request of a call, checked once: metrics with their conventions, policies, intervals."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics.rankings import TiesAtCutoff, TiesMove
from rankscope.diagnostics.rule import MIN_PRINTED_CHANGE, active_cautions
from rankscope.dialects.base import Convention, Dialect
from rankscope.engines.base import Order
from rankscope.engines.values import depends_on_order
from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.metrics import DEFAULT, Metric, in_order, is_foreign
from rankscope.metrics.base import gain_from
from rankscope.metrics.effort import TokenBudget
from rankscope.scoring.health import Health, Raised, Rescored, tied_ranks, warnings_of_judgments, warnings_of_run
from rankscope.scoring.policies import BY_METRIC, MIXED, OVER_ORDERS, POLICIES, Policies, Policy

if TYPE_CHECKING:
    from rankscope.inference.base import Bounds, Interval

USUAL = "t; wilson for scores of 0 and 1"  # the intervals of means
RELSTRING = 10  # documents of a relstring, unless said


@dataclass(frozen=True, eq=False)
class Intervals:
    """The interval asked for (None: the one that is right for the scores), its level, and the clusters of the queries."""

    interval: Interval | None = None
    level: float = 0.95
    clusters: Any = None

    def of_mean(self, metric: Metric, values: Array, weights: Array | None, codes: Array | None) -> Bounds:
        """The interval of the mean of these values, or the reason that there is none."""
        from rankscope.inference.base import Bounds
        from rankscope.panels.samples import bounds_of

        try:
            bounds = bounds_of(metric, values, weights, self.interval, self.level, codes)
        except InputError as error:  # it takes no such values; others on the board have theirs
            return Bounds.none(str(error))
        if math.isinf(bounds.lower) or math.isinf(bounds.upper):
            return Bounds.none(f"{bounds.method} finds no end: too few queries differ")
        return bounds

    def codes(self, runs: Sequence[Sequence[str]]) -> list[Array]:
        """The number of the cluster of each query, for the queries of each run. Needs clusters."""
        from rankscope.files.side_tables import clusters_of

        ids = sorted({query for queries in runs for query in queries})
        codes, _ = clusters_of(self.clusters, ids)
        place = {query: i for i, query in enumerate(ids)}
        return [codes[[place[query] for query in queries]] for queries in runs]

    def statement(self) -> dict[str, Any]:
        """The statement of a result about it."""
        source = self.clusters
        label = None if source is None else str(source) if isinstance(source, str | Path) else "clusters"
        interval = USUAL if self.interval is None else str(self.interval)
        return {"interval": interval, "level": self.level, "clusters": label}


@dataclass(frozen=True)
class MetricRequest:
    """A metric in its original spelling, its parsed form, and the conventions under which it is computed."""

    spelling: str
    metric: Metric
    convention: Convention = field(default_factory=Convention)


@dataclass(frozen=True, eq=False)
class Request:
    """The checked request of a call: ``metrics`` with conventions, ``policies``, ``facts`` that are no numbers, and ``intervals`` of means."""

    metrics: tuple[MetricRequest, ...]
    policies: Policies = field(default_factory=Policies)
    facts: Mapping[str, int] = field(default_factory=dict)
    intervals: Intervals = field(default_factory=Intervals)

    @classmethod
    def of(
        cls, metrics: Any = None, policies: Mapping[str, Any] | None = None, *, interval: Any = None,
        level: float = 0.95, clusters: Any = None,
    ) -> Request:  # fmt: skip
        """The request for these metrics (None: the usual ones) and policies. An interval that draws has their seed unless it names its own."""
        chosen = Policies(**(policies or {}))
        metrics, facts = _without_facts(metrics)
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 < level < 1:
            raise InputError(f"level={level!r}: a level must be a number between 0.5 and 1, like 0.95")
        if interval is not None:
            from rankscope.inference.base import Interval
            from rankscope.panels.method import find_method

            interval = find_method(Interval, interval, chosen.seed)
        intervals = Intervals(interval, float(level), clusters)
        requests = tuple(_requests(metrics, chosen))
        for m in requests:
            if "items" in m.metric.needs and not chosen.knows_items:
                raise InputError(f"{m.metric} {m.metric.asks}")
        return cls(requests, chosen, facts, intervals)

    @property
    def relevant_from(self) -> float:
        """The lowest relevant grade of metrics and counts without a level of their own."""
        level = self.policies.relevance_level
        return 1.0 if level is None else float(level)

    @cached_property
    def orders(self) -> list[Order]:
        """The order in which an engine puts documents for each metric. A mean over all orders starts from trec_eval's."""
        needs = frozenset[str]().union(*(m.metric.needs for m in self.metrics))
        extra = any(m.convention.queries in {"run", "either"} for m in self.metrics)  # queries without judgments count
        # at which the state of the data is of interest
        cutoffs = tuple(sorted({c for m in self.metrics if (c := getattr(m.metric, "cutoff", None))} or {10}))
        out = []
        for m in self.metrics:
            ties = m.metric.trec_ties if m.convention.ties == "trec" else m.convention.ties
            if ties in OVER_ORDERS:
                out.append(Order("trec", None, cutoffs, needs, extra))
            else:
                out.append(Order(ties, self.policies.depth, cutoffs, needs, extra))  # type: ignore[arg-type]
        return out

    def place(self, metric: Metric) -> int:
        """The place of a metric among those asked for. The first, if a dialect has one metric under two names."""
        return next(i for i, m in enumerate(self.metrics) if m.metric == metric)

    def of_metric(self, metric: Metric) -> MetricRequest:
        """The request for one metric."""
        return self.metrics[self.place(metric)]

    def with_metrics(self, *metrics: Metric | MetricRequest, like: Metric | None = None) -> Request:
        """The same with other metrics. New ones have the conventions of ``like``, or of the first."""
        known = {m.metric: m for m in reversed(self.metrics)} if like is None else {}
        model = self.metrics[0] if like is None else self.of_metric(like)
        requests = (
            m if isinstance(m, MetricRequest) else known.get(m) or replace(model, spelling=str(m), metric=m)
            for m in metrics
        )
        return replace(self, metrics=tuple(requests))

    def with_policies(self, **changes: Any) -> Request:
        """The same under other policies, for every metric of it."""
        policies = self.policies.having(**changes)
        own = {p.name: p.statement(getattr(policies, p.name), ()) for p in BY_METRIC if p.name in changes}
        metrics = (replace(m, convention=replace(m.convention, **own)) for m in self.metrics)
        return replace(self, metrics=tuple(metrics), policies=policies)

    def differs(self, other: Request) -> list[Policy]:
        """The policies in which another request departs so that values of the two cannot be compared."""
        return differing(other.conventions(), self.conventions())

    def statement_of(self, name: str) -> Any:
        """The value of a policy as results state it: one value for all metrics, or a note that they differ."""
        conventions = [m.convention for m in self.metrics]
        own = {getattr(c, name, None) for c in conventions} if POLICIES[name] in BY_METRIC else set()
        if len(own) > 1:
            return MIXED
        if own:
            return own.pop()
        value = getattr(self.policies, name)
        return None if value is None else POLICIES[name].statement(value, conventions)

    def conventions(self) -> dict[str, Any]:
        """All conventions of a result: shared ones once, those of a dialect per metric."""
        out: dict[str, Any] = {}
        for name, policy in POLICIES.items():
            out[name] = self.statement_of(name)
            if policy.with_words:
                out[f"{name}_in_words"] = policy.words(out[name])
        out["metrics"] = {str(m.metric): m.metric.convention for m in self.metrics}
        if self.policies.dialect is not None:
            out["by_metric"] = {str(m.metric): asdict(m.convention) for m in self.metrics}
        return out | self.intervals.statement()

    def raised(
        self, health: Mapping[str, Health], costs: Mapping[str, Mapping[str, Any]] | None = None
    ) -> list[Raised]:
        """Return the warnings about these runs: each rule with its numbers. ``costs`` has the queries that score as empty, by run."""
        queries, ties = self.statement_of("queries"), self.statement_of("ties")
        of_runs = (
            one
            for name, h in health.items()
            for one in warnings_of_run(name, h, queries, ties, (costs or {}).get(name, {}))
        )
        return [
            *of_runs,
            *warnings_of_judgments(
                health, [m.metric for m in self.metrics], self.statement_of("no_relevant"), self.relevant_from
            ),
        ]

    def cautions(
        self, health: Mapping[str, Health], costs: Mapping[str, Mapping[str, Any]] | None = None, rescored: Rescored | None = None,
    ) -> list[Caution]:  # fmt: skip
        """Return the warnings about these runs that are not ignored. One sums up ties by ``rescored``, the means under other orders."""
        raised = self.raised(health, costs)
        tied = [numbers["run"] for rule, numbers in raised if rule is TiesAtCutoff]
        of_ties = self._ties_that_move(tied, health, rescored) if tied and rescored is not None else None
        if of_ties is not None:
            raised = [(rule, numbers) for rule, numbers in raised if rule is not TiesAtCutoff] + of_ties
        return active_cautions((rule.caution(**numbers) for rule, numbers in raised), self.policies.ignore)

    def _ties_that_move(
        self, tied: Sequence[str], health: Mapping[str, Health], rescored: Rescored
    ) -> list[Raised] | None:
        """Return one warning if ties move a metric, with the largest range, or None if a range has to be searched."""
        metrics = [m.metric for m in self.metrics if m.metric.better != "neither" and depends_on_order(m.metric)]
        if self.policies.depth is not None or not all(
            m.settled_by_grade and not m.needs and m.aggregate == "mean" for m in metrics
        ):
            return None
        ends = {m: [rescored(m, m, ties) for ties in ("worst", "best")] for m in metrics}
        ranges: list[tuple[float, str, Metric, float, float]] = [
            (abs(b[run] - a[run]), run, m, min(a[run], b[run]), max(a[run], b[run]))
            for m, (a, b) in ends.items()
            for run in tied
        ]
        wide = [one for one in ranges if one[0] >= MIN_PRINTED_CHANGE]
        if not wide:
            return []
        _, run, metric, low, high = max(wide, key=itemgetter(0))
        ranks = tied_ranks({k: n for k, n in health[run].ties_at_cutoff.items() if n})
        more = len({one[1] for one in wide}) - 1 or None
        return [(TiesMove, {"run": run, "ranks": ranks, "metric": metric, "low": low, "high": high, "more": more})]

    def version_notes(self) -> list[str]:
        """The metrics whose values depend on the version of trec_eval, with the version followed; empty without any."""
        differing = any(getattr(m.metric, "compat", None) == 10 for m in self.metrics)
        note = "IPrec: levels of recall rounded as trec_eval 10 does, other than 9.x and pytrec_eval (compat=9)"
        return [note] if differing else []

    def small_print(self) -> str:
        """The assumptions on which the metrics depend and which their names do not state, in one line."""
        stated = [(policy, self.statement_of(name)) for name, policy in POLICIES.items()]
        printed = ((p, value) for p, value in stated if p.name == "ties" or value not in {None, p.default})
        parts = [policy.brief(value) for policy, value in printed]
        metrics = [m.metric for m in self.metrics]
        gains = [m.gain for m in metrics if hasattr(m, "gain")]
        if "linear" in gains:
            parts.append("linear gain" + ("" if all(gain == "linear" for gain in gains) else " by default"))
        if any(getattr(m, "ideal", None) == "judged" for m in metrics):
            parts.append("ideal from all judged")
        levels = sorted({m.level for m in metrics if hasattr(m, "level") and m.relevance == "binary"})
        if levels:
            parts.append(f"relevant: grade ≥ {words.amount(levels[0])}" + (" by default" if len(levels) > 1 else ""))
        graded = [m for m in metrics if m.relevance == "graded" and "max_grade" not in str(m)]
        if scaled := [str(m) for m in graded if getattr(m, "max_grade", None) == 4.0]:
            parts.append(f"top grade for {', '.join(scaled)}: 4")
        if geometric := [str(m) for m in metrics if m.aggregate == "geometric"]:
            parts.append(f"geometric mean: {', '.join(geometric)}")
        parts += self.version_notes()
        if within := [m for m in metrics if getattr(m, "pooled", None) is False]:
            curve = f"the area under one curve for all queries, as of a classifier, is {within[0].having(pooled=True)}"
            parts.append(f"{', '.join(map(str, within))}: pairs within each query; {curve}")
        if together := [str(m) for m in metrics if m.aggregate == "pooled" and "items" not in m.needs]:
            parts.append(f"{', '.join(together)}: all pairs of documents of all queries")
        for assumption in dict.fromkeys(m.assumption for m in metrics if m.assumption):
            parts.append(f"{', '.join(str(m) for m in metrics if m.assumption == assumption)}: {assumption}")
        if shown := [str(m) for m in metrics if "items" in m.needs and not m.assumption]:
            parts.append(f"{', '.join(shown)}: every item shown, judged or not")
        return " · ".join(filter(None, parts))

    def sentences(self, health: Sequence[Health] = ()) -> Iterator[str]:
        """A sentence for a paper for each policy that departs from its default and changed something."""
        for name, policy in POLICIES.items():
            sentence = policy.sentence(self.statement_of(name))
            if sentence and (not health or policy.had_work(health)):
                yield sentence

    def in_words(self) -> Iterator[tuple[str, str]]:
        """Each policy with its value, default or not."""
        for name, policy in POLICIES.items():
            if policy.title:
                yield policy.title, policy.words(self.statement_of(name))

    def options(self) -> str:
        """The options of the command line that ask for the same policies: `` --ties docid --depth 10``."""
        values = {name: "@FILE" if value == "list" else shlex.quote(str(value)) for name, value in self._asked()}
        return "".join(f" --{name.replace('_', '-')} {text}" for name, text in values.items())

    def keywords(self) -> str:
        """The keywords of Python that ask for the same policies: ``, ties='docid', depth=10``."""
        return "".join(f", {name}={value!r}" for name, value in self._asked())

    def _asked(self) -> Iterator[tuple[str, Any]]:
        brought = {p.name for p in BY_METRIC} if self.policies.dialect is not None else set()
        for name, policy in POLICIES.items():
            value = self.statement_of(name)
            if name not in brought and value not in {None, policy.default}:
                yield name, value


def at_level(metric: Metric, level: float) -> Metric:
    """The metric with this lowest relevant grade, also of a binary gain, unless it sets one itself."""
    if getattr(metric, "gain", None) == "binary":
        return metric.having(gain=gain_from(float(level)))
    if isinstance(metric, TokenBudget):
        return metric.having(metric=str(at_level(metric.inner(), level).having(cutoff=None)))
    return metric.having(level=float(level)) if getattr(metric, "level", None) == 1 else metric


def _dialect_of(policies: Policies) -> Dialect | None:
    if policies.dialect is None:
        return None
    from rankscope.dialects import DIALECTS

    return DIALECTS[policies.dialect]


def _requests(metrics: Any, policies: Policies) -> Iterator[MetricRequest]:
    """The metrics of a call, each with its conventions. In a dialect both are the dialect's."""
    if metrics is not None and not isinstance(metrics, Iterable | Metric | type):
        if is_foreign(metrics):
            yield from _requests([metrics], policies)
            return
        raise InputError(f"metrics are names like 'nDCG@10' or objects like nDCG @ 10, not {metrics!r}")
    several: Any = [metrics] if isinstance(metrics, str | Metric | type) else metrics
    dialect = _dialect_of(policies)
    named = in_order(DEFAULT if metrics is None else several, dialect.names if dialect else None)
    if not named:
        raise InputError("metrics is empty: name one, like nDCG@10, or leave metrics out for the usual ones")
    if (level := policies.relevance_level) is not None:  # what has a level of its own keeps it
        named = [(spelling, at_level(metric, level)) for spelling, metric in named]
    if dialect is not None:
        from rankscope.scoring.definitions import computes, convention_of, translate

        for spelling, metric in named:
            if metrics is not None or computes(dialect, metric):
                theirs = translate(dialect, metric, spelling)
                leveled = theirs if level is None else at_level(theirs, level)
                yield MetricRequest(spelling, leveled, convention_of(dialect, metric))
        return
    convention = Convention(**{p.name: p.statement(getattr(policies, p.name), ()) for p in BY_METRIC})
    for spelling, metric in named:
        chosen = ((p, value) for name, p in POLICIES.items() if (value := getattr(policies, name)) != p.default)
        reason = next(filter(None, (policy.refuses(value, metric) for policy, value in chosen)), "")
        if reason and metrics is not None:
            raise InputError(reason)
        if not reason:
            yield MetricRequest(spelling, metric, convention)


def _without_facts(metrics: Any) -> tuple[Any, dict[str, int]]:
    """The metrics that are numbers, and the depths of relstrings by their names as trec_eval prints them."""
    if not isinstance(metrics, str | list | tuple):
        return metrics, {}
    facts: dict[str, int] = {}
    rest: list[Any] = []
    for one in [metrics] if isinstance(metrics, str) else metrics:
        several = isinstance(one, str) and ("relstring" in one or "all_trec" in one)
        for word in one.split() if several else [one]:
            match = re.fullmatch(r"relstring(?:[._](\d{1,6}))?", word) if isinstance(word, str) else None
            if match is None:
                rest.append(word)
            else:
                facts["relstring" if match[1] is None else f"relstring_{int(match[1])}"] = int(match[1] or RELSTRING)
    if "all_trec" in [one for one in rest if isinstance(one, str)]:
        facts.setdefault("relstring", RELSTRING)
    if facts and not rest:
        raise InputError("relstring is a fact of each query, printed with a metric: also name one, like P@10")
    return (rest, facts) if facts else (metrics, {})


def differing(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[Policy]:
    """The policies that make values stated with other conventions incomparable."""
    return [p for name, p in POLICIES.items() if p.changes_values and then.get(name) != now.get(name)]
