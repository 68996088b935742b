"""The decision of an experiment by a rule that is set in advance: ship a variant, or do not, and how often that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rankscope import words
from rankscope.inference.base import is_significant
from rankscope.panels.contrast import Contrast


@dataclass(frozen=True)
class Decision:
    """Whether to ship a ``variant``; ``reasons`` are the conditions of the rule that fail. Both rates are bounds of a false "ship".

    ``if_not_better`` holds if the variant is not better on the primary metric, ``if_too_bad`` if a guardrail loses the accepted amount.
    ``if_too_bad`` is None without accepted losses.
    """

    variant: str
    ship: bool
    reasons: tuple[str, ...]
    if_not_better: float
    if_too_bad: float | None

    def record(self) -> dict[str, Any]:
        """The decision for programs."""
        return {
            "variant": self.variant, "ship": self.ship, "reasons": list(self.reasons),
            "false_ship_if_not_better": self.if_not_better, "false_ship_if_guardrail_fails": self.if_too_bad,
        }  # fmt: skip

    def sentence(self, rule: str) -> str:
        """The rule, its outcome, and the rate of a false "ship"."""
        reasons = f", as {words.listing(self.reasons)}" if self.reasons else ""
        outcome = f"ship {self.variant}" if self.ship else f"do not ship {self.variant}{reasons}"
        more = ""
        if self.if_too_bad is not None:
            more = f", and {words.percent(self.if_too_bad)} if a guardrail loses the accepted amount"
        return (
            f"Decision: {outcome}. Rule: ship if {rule}. "
            f'A false "ship" has a chance of at most {words.percent(self.if_not_better)} if {self.variant} is not better{more}.'
        )


def rule_in_words(primary: str, guards: Sequence[Contrast]) -> str:
    """Return the conditions under which a variant ships."""
    parts = [f"better on {primary}"]
    for c in {c.metric: c for c in guards}.values():
        margin = c.method.margin_of(c.metric)
        parts.append(f"no clear loss on {c.metric}" if margin is None else f"not worse on {c.metric} by {margin}")
    return words.listing([*parts, "units split as planned"], most=20)


def decisions(primary: Sequence[Contrast], guards: Sequence[Contrast]) -> Iterator[Decision]:
    """Yield the decision about each variant: better on the primary metric, and every guardrail holds.

    Each test is at its own level: guardrails must all hold, so their number makes a false "ship" rarer, not more frequent.
    Source: Schultzberg, Ankargren and Frånberg, Risk-aware product decisions in A/B tests with multiple metrics, 2024.
    """
    for c in primary:
        mine = [guard for guard in guards if guard.run == c.run]
        reasons = [] if c.verdict == "better" else [_of_primary(c)]
        reasons += filter(None, map(_of_guard, mine))
        limited = any(guard.margin is not None for guard in mine)
        alpha = c.method.alpha
        if_not_better = alpha / (1 if c.method.one_sided else 2)
        yield Decision(c.run, not reasons, tuple(reasons), if_not_better, alpha if limited else None)


def _of_primary(c: Contrast) -> str:
    if c.verdict == "withheld":
        return c.validity.reason
    return f"it is {'worse' if c.verdict == 'worse' else 'not clearly better'} on {c.metric}"


def _of_guard(c: Contrast) -> str:
    """Return the reason why a guardrail does not hold, empty if it does."""
    if c.verdict in {"withheld", "better"}:
        return ""
    if c.margin is None:
        return f"{c.metric} is worse" if c.verdict == "worse" else ""
    holds = c.not_worse is not None and is_significant(c.not_worse, c.margin_alpha)
    return "" if holds or c.verdict == "same" else f"a loss of {c.margin_in_words} on {c.metric} is not ruled out"
