"""Verdicts in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankscope.inference.base import Bounds
from rankscope.panels.contrast import Contrast

if TYPE_CHECKING:
    from rankscope.panels.families import TopGroup

SPELLED = 3  # as many runs get sentences of their own; more are counted
NAMED = 6  # runs that a list names
NOTHING = 5e-13  # a difference below this is of rounding, and written as 0
OTHERWISE = {
    "different": "different",
    "equivalent": "practically the same",
    "not worse": "not worse by the margin",
    "same": "the same on every query",
    "cannot tell": "cannot be told apart from it",
}


def sentence(c: Contrast) -> str:
    """One contrast in full.

    The interval and the p-value are the adjusted ones where there are several comparisons.
    """
    return _verdict(c, f"{c.run} and {c.baseline}")


def also(c: Contrast) -> str:
    """One contrast beside another of the same two runs."""
    if c.verdict in {"better", "worse", "different"}:
        how = {"different": "higher" if c.difference > 0 else "lower"}.get(c.verdict, c.verdict)
        return f"{c.metric}: {how} by {number(abs(c.difference))} ({_evidence(c)})."
    if c.verdict == "same":
        return f"{c.metric}: the same on every query."
    if c.verdict == "equivalent":
        return f"{c.metric}: practically the same ({_within(c)})."
    if c.verdict == "not worse":
        return f"{c.metric}: not worse by {_margin(c)} or more ({p_of(c.not_worse or 0)})."
    return f"{c.metric}: cannot be told apart; {_limits(c)}"


def _verdict(c: Contrast, both: str) -> str:
    margin = number(abs(c.difference))
    queries = f"{c.queries:,} {'query' if c.queries == 1 else 'queries'}"
    if c.verdict in {"better", "worse"}:
        verb = "beats" if c.verdict == "better" else "loses to"
        counts = f"{queries}: {c.wins} better, {c.losses} worse, {c.ties} same"
        return f"{c.run} {verb} {c.baseline} on {c.metric} by {margin} ({_evidence(c)}, {counts})."
    if c.verdict == "different":
        how = "higher" if c.difference > 0 else "lower"
        return f"{c.run} is {how} than {c.baseline} on {c.metric} by {margin} ({_evidence(c)}, {queries})."
    if c.verdict == "same":
        return f"{both} are the same on {c.metric}, on {'the one query' if c.queries == 1 else f'every one of {queries}'}."
    if c.verdict == "equivalent":
        return f"{both} are practically the same on {c.metric} ({_within(c)}, {queries})."
    if c.verdict == "not worse":
        return f"{c.run} is not worse than {c.baseline} on {c.metric} by {_margin(c)} or more ({p_of(c.not_worse or 0)}, {queries})."
    return f"{both} cannot be told apart on {c.metric}: {_limits(c)}"


def _limits(c: Contrast) -> str:
    """Why it cannot be told, and what could."""
    if not c.queries:
        return "no query has a value for both."
    if c.few:
        differ = "differs" if c.differing == 1 else "differ"
        return f"only {c.differing:,} of {counted(c.queries)} {differ}, and fewer than 6 cannot tell ({p_of(c.p_value_adjusted)})."
    if c.significant and not c.agrees:
        return f"{signed(c.difference)} in the mean, but {c.test} sees most differences go the other way ({p_of(c.p_value_adjusted)}{after(c)})."
    if c.method.looking:
        return f"{signed(c.difference)} ({_evidence(c)}); add queries and look again."
    found = c.detectable
    if math.isnan(found.difference):
        return f"{c.bounds.reason or 'there is no spread to go by'}."
    said = f"{signed(c.difference)} ({_evidence(c)}), and the smallest difference these queries could show is about {number(found.difference)}."
    if c.queries_needed is not None and c.queries_needed > c.queries and abs(c.difference) > 0.0005:
        said += f" Some {rounded(c.queries_needed)} queries would show {number(abs(c.difference))}."
    return said


def _evidence(c: Contrast) -> str:
    """Interval and p-value, after the correction where there was one; the interval is of what the sentence says."""
    bounds = c.adjusted
    turned = c.verdict in {"better", "worse", "different"} and c.difference < 0
    parts = [f"{percent(c.method.level)} interval {ends(bounds, turned)}"] if bounds.known else []
    parts.append(p_of(c.p_value_adjusted) + after(c))
    return ", ".join(parts)


def after(c: Contrast) -> str:
    """The correction that a p-value is after; nothing where there is but one comparison."""
    if c.comparisons == 1 or str(c.method.correction) == "none":
        return ""
    return f" after {title(str(c.method.correction))} over {c.comparisons:,}"


def title(name: str) -> str:
    """The name of a correction as people write it."""
    known = {
        "holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini-Hochberg", "max_t": "max-T", "tukey": "Tukey's HSD",
        "randomised_tukey": "randomised Tukey HSD",
    }  # fmt: skip
    return known.get(name, name)


def _within(c: Contrast) -> str:
    found = c.equivalence
    assert found is not None
    bounds = f"{number(found.lower, sign=True)} to {number(found.upper, sign=True)}"
    return f"{percent(1 - 2 * c.method.alpha)} interval {bounds}, within ±{_margin(c)}"


def _margin(c: Contrast) -> str:
    return f"{c.method.margin_of(c.metric):g}"


# --- many ----------------------------------------------------------------------------------------------


def group_in_words(group: TopGroup) -> str:
    """Who cannot be told apart from the best."""
    names = ", ".join(group.systems)
    if len(group.systems) == group.of:
        return f"top group on {group.metric}: all {group.of} runs; none can be told apart from the best, {group.systems[0]}"
    return f"top group on {group.metric}: {names}" + ("" if len(group.systems) > 1 else " alone")


def named_runs_text(names: Sequence[str]) -> str:
    """The first of these names, and how many more there are."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


# --- numbers ---------------------------------------------------------------------------------------------


def number(value: float, sign: bool = False) -> str:
    """A difference as people read it: three decimals, more where it is smaller than they show.

    >>> number(0.0214), number(0.00042), number(-0.5, sign=True), number(12.345), number(-2e-17, sign=True)
    ('0.021', '0.00042', '-0.500', '12.345', '+0.000')
    """
    if math.isnan(value):
        return "-"
    size = abs(value)
    digits = 3 if size >= 0.001 or size < NOTHING else min(1 - math.floor(math.log10(size)), 12)
    said = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return said if float(said) else said.replace("-", "+" if sign else "")


def percent(share: float) -> str:
    """A share as a percentage, with no more digits than it has.

    >>> percent(0.95), percent(0.999), percent(1 - 1e-5)
    ('95%', '99.9%', '99.999%')
    """
    return f"{100 * share:.8g}%"


def counted(queries: int) -> str:
    """A count of queries in words."""
    return f"{queries:,} {'query' if queries == 1 else 'queries'}"


def signed(value: float) -> str:
    """A difference with its sign."""
    return number(value, sign=True)


def ends(bounds: Bounds, turned: bool = False, between: str = " to ") -> str:
    """The ends of an interval, of the opposite difference if ``turned``."""
    low, high = (-bounds.upper, -bounds.lower) if turned else (bounds.lower, bounds.upper)
    return f"{number(low + 0.0)}{between}{number(high + 0.0)}"


def p_of(value: float) -> str:
    """A p-value as people read it.

    >>> p_of(0.01234), p_of(0.00001), p_of(0.25)
    ('p = 0.012', 'p < 0.001', 'p = 0.25')
    """
    if math.isnan(value):
        return "no p-value"
    return "p < 0.001" if value < 0.001 else f"p = {p_plain(value)}"


def p_plain(value: float) -> str:
    """A p-value without its letter: two digits, three decimals at most."""
    if math.isnan(value):
        return "-"
    if value < 0.001:
        return "<.001"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def rounded(count: int) -> str:
    """A count of queries to two digits: it is no more exact than that.

    >>> rounded(113), rounded(47), rounded(12345)
    ('110', '47', '12,000')
    """
    digits = max(len(str(count)) - 2, 0)
    return f"{round(count, -digits):,}"
