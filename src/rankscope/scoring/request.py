"""What a call of ``evaluate`` asks for, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankscope.declared.choices import one_of
from rankscope.dialects.base import Ties
from rankscope.engines.base import Order
from rankscope.errors import InputError
from rankscope.scoring import conventions as said_conventions
from rankscope.scoring.conventions import MetricRequest
from rankscope.scoring.facts import split_off
from rankscope.scoring.inputs import Duplicates, Policy, SelfMatch
from rankscope.scoring.intervals import Intervals, intervals_of
from rankscope.scoring.policies import CONVENTIONS, POLICIES
from rankscope.scoring.weights import Weights, weights_of


@dataclass(frozen=True)
class Request:
    """What a call asked for, checked: the metrics with their conventions, and what holds for all of them."""

    asked: Sequence[MetricRequest]
    policy: Policy = field(default_factory=Policy)
    depth: int | None = None
    only: frozenset[str] | None = None
    weights: Weights | None = None
    seed: int = 0
    dialect: str | None = None
    facts: Mapping[str, int] = field(default_factory=dict)
    intervals: Intervals = field(default_factory=Intervals)

    @property
    def extra(self) -> bool:
        """Whether queries without judgments count for some metric."""
        return any(a.convention.queries in {"run", "either"} for a in self.asked)

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """The cutoffs at which the state of the data is of interest."""
        return tuple(sorted({c for a in self.asked if (c := getattr(a.metric, "cutoff", None))} or {10}))

    def order(self, asked: MetricRequest) -> Order:
        """How an engine is to order documents for a metric; what holds over all orders starts from trec_eval's."""
        needs = frozenset[str]().union(*(a.metric.needs for a in self.asked))
        ties = asked.convention.ties
        if ties == "trec":
            ties = asked.metric.trec_ties
        if ties in {"expected", "best", "worst"}:
            return Order("trec", None, self.cutoffs, needs, self.extra)
        return Order(ties, self.depth, self.cutoffs, needs, self.extra)  # type: ignore[arg-type]


def request_of(metrics: Any, policies: Mapping[str, Any], intervals: Any = (None, 0.95, None)) -> Request:
    """A call from the policies that were said; those that were not have their defaults. Each must be one of ``POLICIES``."""
    said = POLICIES | dict(policies)
    convention, only = said_conventions.convention_of(**{name: said[name] for name in CONVENTIONS})
    metrics, facts = split_off(metrics)
    dialect, seed = said["dialect"], _seed(said["seed"])
    return Request(
        asked=said_conventions.asked(metrics, convention, dialect),
        policy=policy_of(said["duplicates"], said["self_match"], said["ties"]),
        depth=_depth(said["depth"]),
        only=only,
        weights=weights_of(said["weights"]),
        seed=seed,
        dialect=None if dialect is None else said_conventions.dialect_called(dialect).name,
        facts=facts,
        intervals=intervals_of(intervals, seed),
    )


def policy_of(duplicates: Duplicates, self_match: SelfMatch, ties: Ties) -> Policy:
    """What is done with the rows of the input, checked."""
    one_of("duplicates", duplicates, ("error", "first", "best"))
    one_of("self_match", self_match, ("keep", "drop"))
    if ties == "rank" and duplicates == "best":
        raise InputError(
            "duplicates='best' goes by score and ties='rank' does not: choose duplicates='first'"
        )
    return Policy(duplicates, self_match)


def _depth(depth: Any) -> int | None:
    if depth is not None and (isinstance(depth, bool) or not hasattr(depth, "__index__") or depth < 1):
        raise InputError(f"depth={depth!r}: depth is a whole number of at least 1")
    return None if depth is None else int(depth)


def _seed(seed: Any) -> int:
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or seed < 0:
        raise InputError(f"seed={seed!r}: a seed is a whole number of at least 0")
    return int(seed)
