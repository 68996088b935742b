"""The split of an experiment: the check of its units per variant, and cautions about few or skewed units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics.comparisons import TooEarlyInExperiment
from rankscope.diagnostics.logs import SkewedUnits
from rankscope.errors import InputError
from rankscope.inference.base import PairedTest
from rankscope.inference.dealing import SKEWED
from rankscope.panels.panel import Panel

UNEQUAL = 0.001  # the p-value below which a split is not the one that was planned


@dataclass(frozen=True)
class SampleRatio:
    """How units were split over the variants, and how probable a split as uneven is by chance."""

    counts: Mapping[str, int]
    expected: Mapping[str, float]
    p_value: float
    at_looks: bool

    @property
    def holds(self) -> bool:
        """Whether the split can be the one that was planned."""
        return not self.p_value < UNEQUAL

    @property
    def test(self) -> str:
        """The name of the test of the split."""
        if self.at_looks:
            return "sequential multinomial test"
        return "binomial test" if len(self.counts) == 2 else "chi-square test"

    def record(self) -> dict[str, Any]:
        """The check for programs."""
        return {
            "counts": dict(self.counts), "expected": dict(self.expected), "p_value": words.finite(self.p_value), "holds": self.holds,
            "test": self.test,
        }  # fmt: skip

    def brief(self, noun: str) -> str:
        """The check without the counts, which stand elsewhere; what is broken is said in full."""
        return f"Sample ratio: {self._passed}." if self.holds else self.sentence(noun)

    @property
    def _passed(self) -> str:
        alarm = f"; alarm below {UNEQUAL}" if self.p_value < 0.05 else ""
        return f"no sign of a mismatch ({words.p_value(self.p_value)}{alarm})"

    def sentence(self, noun: str) -> str:
        """The check in a sentence."""
        apart = ":" if any(name[-1:].isdigit() for name in self.counts) else ""  # of variants 0 and 1: "0: 1,034"
        split = words.listing([f"{name}{apart} {words.count(number)}" for name, number in self.counts.items()], most=12)
        if self.holds:
            return f"Sample ratio: {split} {words.plural(noun)}, {self._passed}."
        planned = words.listing(
            [f"{name}{apart} {words.share(part, 1)}" for name, part in self.expected.items()], most=12
        )
        return (
            f"Sample ratio mismatch: {split} {words.plural(noun)} where {planned} were planned ({words.p_value(self.p_value)}). "
            "Assignment or logging is biased, so no result can be trusted: find the cause first."
        )


def sample_ratio(
    counts: Mapping[str, int], planned: Mapping[str, float] | None = None, at_looks: bool = False
) -> SampleRatio:
    """Compare how units were split with the split that was planned: evenly unless shares are given.

    Two variants are compared by the binomial distribution (its normal limit with a correction for continuity from 1,000 units on),
    more of them by chi square. ``at_looks`` asks for a p-value that holds at any number of looks. Raises InputError for shares that are not those of the variants.
    Source: Fabijan et al., Diagnosing sample ratio mismatch in online controlled experiments, KDD 2019.
    """
    from rankscope.inference.effects import split_p_value, split_p_value_at_looks

    if planned is not None and (set(planned) != set(counts) or not all(part > 0 for part in planned.values())):
        raise InputError(
            f"the split is given for {words.listing(planned)}: give each of {words.listing(counts)} a share above 0, like {next(iter(counts))}=0.5"
        )
    parts = dict.fromkeys(counts, 1.0) if planned is None else {name: float(planned[name]) for name in counts}
    shares = {name: part / math.fsum(parts.values()) for name, part in parts.items()}
    find = split_p_value_at_looks if at_looks else split_p_value
    p_value = find(np.array([*counts.values()]), np.array([*shares.values()]))
    return SampleRatio(dict(counts), shares, p_value, at_looks)


def name_of_test(test: PairedTest | None) -> str:
    """Return the name of the test that compares variants; by default Welch's t."""
    return "t (Welch)" if test is None else str(test)


def early_caution(test: PairedTest | None, counts: Mapping[str, int], noun: str) -> Caution | None:
    """A caution where a test for looks at any time is asked before a variant has shown how its units differ."""
    name, least = min(counts.items(), key=lambda item: item[1])
    if test is None or not test.every_look or least >= test.needs_many or 2 * least < getattr(test, "first", 0):
        return None
    return TooEarlyInExperiment.caution(test=test, variant=name, count=least, unit=noun, needed=test.needs_many)


def skew_caution(panel: Panel, test: PairedTest | None) -> Caution | None:
    """A caution where a variant is smaller than the baseline, or larger, and both have too few units for how skewed what they add is."""
    baseline, *others = panel.systems
    pairs = [(name, panel.pair_of_means(name, baseline).means) for name in others]
    name, worst = max(pairs, key=lambda pair: abs(pair[1].skewness))
    if not abs(worst.skewness) > SKEWED:
        return None
    run, base = (units.moments.count for units in worst.units)
    needed = math.ceil(worst.least * (worst.skewness / SKEWED) ** 2)
    return SkewedUnits.caution(
        metric=panel.name, variant=name if run < base else baseline, needed=words.rounded(needed), unit=panel.measure.unit, count=worst.least,
        test="permutation" if test is None else None,
    )  # fmt: skip
