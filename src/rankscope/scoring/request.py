"""What a call asks for, checked once: metrics with their conventions, policies, intervals."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from rankscope.blocks import Caution
from rankscope.dialects.base import Convention
from rankscope.engines.base import Order
from rankscope.errors import InputError
from rankscope.metrics import DEFAULT, Metric, in_order
from rankscope.scoring.facts import split_off
from rankscope.scoring.health import Health, warnings_of
from rankscope.scoring.intervals import Intervals
from rankscope.scoring.policies import MIXED, POLICIES, Policies, Policy, by_metric, differing
from rankscope.scoring.weights import Weights


@dataclass(frozen=True)
class MetricRequest:
    """A metric as it was spelled, what it means here, and the conventions it is computed under."""

    spelling: str
    metric: Metric
    convention: Convention = field(default_factory=Convention)


@dataclass(frozen=True, eq=False)
class Request:
    """What a call asks for, checked: ``metrics`` with their conventions, and the ``policies`` that hold for all of them.

    ``facts`` are what is no number, by name and depth; ``intervals`` how sure means are to be told.
    """

    metrics: tuple[MetricRequest, ...]
    policies: Policies = field(default_factory=Policies)
    facts: Mapping[str, int] = field(default_factory=dict)
    intervals: Intervals = field(default_factory=Intervals)

    @classmethod
    def of(
        cls,
        metrics: Any = None,
        policies: Mapping[str, Any] | None = None,
        *,
        interval: Any = None,
        level: float = 0.95,
        clusters: Any = None,
    ) -> Request:
        """What is asked for with these metrics (None: the usual ones), and these policies beside the defaults of the others.

        Raises InputError for what cannot be used, or does not go together.
        """
        chosen = Policies(**(policies or {}))
        metrics, facts = split_off(metrics)
        intervals = Intervals.of(interval, level, clusters, chosen.seed)
        return cls(tuple(_requests(metrics, chosen)), chosen, facts, intervals)

    # -- what follows from it -------------------------------------------------------------------------

    @property
    def weights(self) -> Weights | None:
        """What queries weigh in the mean, where that was given."""
        weights: Weights | None = self.policies.weights
        return weights

    @property
    def extra(self) -> bool:
        """Whether queries without judgments count for some metric."""
        return any(m.convention.queries in {"run", "either"} for m in self.metrics)

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """The cutoffs at which the state of the data is of interest."""
        return tuple(sorted({c for m in self.metrics if (c := getattr(m.metric, "cutoff", None))} or {10}))

    def order(self, request: MetricRequest) -> Order:
        """How an engine is to order documents for a metric; what holds over all orders starts from trec_eval's."""
        needs = frozenset[str]().union(*(m.metric.needs for m in self.metrics))
        ties = request.convention.ties
        if ties == "trec":
            ties = request.metric.trec_ties
        if ties in {"expected", "best", "worst"}:
            return Order("trec", None, self.cutoffs, needs, self.extra)
        return Order(ties, self.policies.depth, self.cutoffs, needs, self.extra)  # type: ignore[arg-type]

    def of_metric(self, metric: Metric) -> MetricRequest:
        """What was asked for under a metric; the first, where a dialect has one metric under two names."""
        return next(m for m in self.metrics if m.metric == metric)

    def place(self, metric: Metric) -> int:
        """The place of a metric among those asked for."""
        return next(i for i, m in enumerate(self.metrics) if m.metric == metric)

    # -- others made of it ----------------------------------------------------------------------------

    def with_metrics(self, *metrics: Metric | MetricRequest, like: Metric | None = None) -> Request:
        """The same with other metrics.

        A metric that was asked for keeps its conventions; another has those of ``like``, or of the first.
        """
        known = {m.metric: m for m in reversed(self.metrics)}
        model = self.metrics[0] if like is None else self.of_metric(like)
        asked = (
            m
            if isinstance(m, MetricRequest)
            else known[m]
            if m in known and like is None
            else replace(model, spelling=str(m), metric=m)
            for m in metrics
        )
        return replace(self, metrics=tuple(asked))

    def with_policies(self, **changes: Any) -> Request:
        """The same under other policies, for every metric of it."""
        policies = self.policies.having(**changes)
        own = {p.name: p.stated(policies.values[p.name], ()) for p in by_metric() if p.name in changes}
        metrics = (replace(m, convention=replace(m.convention, **own)) for m in self.metrics)
        return replace(self, metrics=tuple(metrics), policies=policies)

    def differs(self, other: Request) -> list[Policy]:
        """The policies in which another request departs so that values of the two cannot be compared."""
        return differing(other.conventions(), self.conventions())

    # -- as results state it --------------------------------------------------------------------------

    def stated(self, policy: Policy) -> Any:
        """The value of a policy as results state it: what holds for all metrics, or that they differ."""
        conventions = [m.convention for m in self.metrics]
        own = {getattr(c, policy.name, None) for c in conventions} if policy in by_metric() else set()
        if len(own) > 1:
            return MIXED
        return own.pop() if own else policy.stated(self.policies.values[policy.name], conventions)

    def conventions(self) -> dict[str, Any]:
        """All conventions of a result: shared ones once, those of a dialect also metric by metric."""
        out: dict[str, Any] = {}
        for name, policy in POLICIES.items():
            out[name] = self.stated(policy)
            if policy.with_words:
                out[f"{name}_in_words"] = policy.words(out[name])
        out["metrics"] = {str(m.metric): m.metric.convention for m in self.metrics}
        if self.policies.dialect is not None:
            out["by_metric"] = {str(m.metric): asdict(m.convention) for m in self.metrics}
        return out | self.intervals.stated()

    def cautions(self, health: Mapping[str, Health]) -> list[Caution]:
        """What to know of these runs before trusting the numbers asked for."""
        queries, ties = (self.stated(POLICIES[name]) for name in ("queries", "ties"))
        return warnings_of(health, queries, [m.metric for m in self.metrics], ties)

    def small_print(self) -> str:
        """What was assumed, in one line: only what the metrics at hand depend on, and not what their names say."""
        told = (policy.brief(self.stated(policy)) for policy in POLICIES.values())
        return " · ".join([*filter(None, told), *_of_metrics([m.metric for m in self.metrics])])

    def sentences(self, health: Sequence[Health] = ()) -> Iterator[str]:
        """A sentence for each policy that a paper should tell: those that depart from the default and had something to do."""
        for policy in POLICIES.values():
            sentence = policy.sentence(self.stated(policy))
            if sentence and (not health or policy.acted(health)):
                yield sentence

    def in_words(self) -> Iterator[tuple[str, str]]:
        """Each policy and what it is, a default or not."""
        for policy in POLICIES.values():
            if policy.title:
                yield policy.title, policy.words(self.stated(policy))

    def options(self) -> str:
        """The options of the command line that ask for the same policies: `` --ties docid --depth 10``."""
        brought = {p.name for p in by_metric()} if self.policies.dialect is not None else set()
        out = ""
        for name, policy in POLICIES.items():
            value = self.stated(policy)
            if name not in brought and value not in {None, policy.default}:
                text = "@FILE" if value == "list" else shlex.quote(str(value))
                out += f" --{name.replace('_', '-')} {text}"
        return out


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
    scaled = [str(m) for m in having("max_grade", 4.0) if m.relevance == "graded" and "max_grade" not in str(m)]
    if scaled:
        yield f"top grade for {', '.join(scaled)}: 4"
    geometric = [str(m) for m in metrics if m.aggregate == "geometric"]
    if geometric:
        yield f"geometric mean: {', '.join(geometric)}"


# --- metrics as they are asked for ----------------------------------------------------------------------


def _requests(metrics: Any, policies: Policies) -> Iterator[MetricRequest]:
    """The metrics of a call, each with its conventions; in a dialect both are the dialect's."""
    named = _named(metrics)
    if policies.dialect is not None:
        yield from _in_dialect(named, policies.dialect, usual=metrics is None)
        return
    convention = policies.convention
    for spelling, metric in named:
        reasons = (p.refuses(policies.values[name], metric) for name, p in POLICIES.items())
        reason = next(filter(None, reasons), "")
        if reason and metrics is not None:
            raise InputError(reason)
        if not reason:
            yield MetricRequest(spelling, metric, convention)


def _named(metrics: Any) -> list[tuple[str, Metric]]:
    """The metrics with their spellings."""
    if metrics is None:
        return in_order(DEFAULT)
    if isinstance(metrics, str | Metric | type):
        metrics = [metrics]
    elif not isinstance(metrics, Iterable):
        raise InputError(f"metrics are names like 'nDCG@10' or objects like nDCG @ 10, not {metrics!r}")
    found = in_order(metrics)
    if not found:
        raise InputError("no metric was given: name one, like nDCG@10, or leave metrics out for the usual ones")
    return found


def _in_dialect(named: Sequence[tuple[str, Metric]], name: str, usual: bool) -> Iterator[MetricRequest]:
    from rankscope.scoring.dialect import computes, dialect_called, family, translated

    dialect = dialect_called(name)
    for spelling, metric in named:
        if not usual or computes(dialect, metric):
            yield MetricRequest(spelling, translated(dialect, metric), dialect.of(family(metric)))
