"""The arms of an experiment: the units of a log that were given one variant each, and whether they were split as planned."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics.comparisons import TooEarlyInExperiment
from rankscope.diagnostics.logs import MixedUnitsLeftOut, NoUnits, PartlyWithoutVariant, SkewedUnits, WithoutVariant
from rankscope.errors import DataError, InputError
from rankscope.inference.base import PairedTest
from rankscope.inference.dealing import SKEWED
from rankscope.lists import Array
from rankscope.logs.rollup import UnitTotals
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
        if len(self.counts) == 2:
            return "binomial test"
        from rankscope.inference.effects import few_planned

        few = few_planned(sum(self.counts.values()), self.expected.values())
        return "binomial tests, Bonferroni-corrected" if few else "chi-square test"

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


def planned_split(split: Any, names: Sequence[str]) -> dict[str, float] | None:
    """Return the planned shares by variant, from a mapping or texts like ``A=0.9,B=0.1``; None without a plan."""
    out = shares_of(split)
    unknown = [name for name in out or () if name not in names]
    if unknown:
        raise InputError(f"split {unknown[0]}: no variant is called that{words.hint(unknown[0], names)}")
    return out


def shares_of(split: Any) -> dict[str, float] | None:
    """Return shares by name. Raises InputError for values that are not shares."""
    if split is None:
        return None
    texts = [split] if isinstance(split, str) else split
    parts = [part.rpartition("=")[::2] for text in texts for part in str(text).split(",")]
    pairs = split.items() if isinstance(split, Mapping) else parts
    out: dict[str, float] = {}
    for name, part in pairs:
        if not str(name).strip():
            raise InputError(f"split {part}: name the variant of each share, like A=0.9,B=0.1")
        number = words.as_number(str(part).strip())
        if number is None or not number > 0:
            raise InputError(f"split {name}={part}: a share is a number above 0, like A=0.9,B=0.1")
        out[str(name).strip()] = number
    return out


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


MOST_MIXED = 0.1  # the share of units in several variants from which a verdict is withheld
CONTROLS = ("control", "baseline", "a", "0", "off", "false", "old")  # what a baseline is called, the likeliest first
FEWEST_UNITS = 2


@dataclass(frozen=True, eq=False)
class Arms:
    """The units that were given one variant each; ``names`` are the variants, the baseline first.

    ``mixed`` are the ids of units that had several variants, None where there are none, and ``mixed_share`` is their share in all units;
    ``cautions`` tell of all that is left out.
    """

    units: UnitTotals
    names: tuple[str, ...]
    mixed: Any = None
    mixed_share: float = 0.0
    cautions: tuple[Caution, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many units each variant has."""
        return counts_of(self.units, self.names)

    def of(self, units: UnitTotals) -> UnitTotals:
        """Return the totals of these arms from units of the same log that were rolled up by more than the variant."""
        kept = units.groups["variant"].is_not_null()
        if self.mixed is not None and units.ids is not None:
            kept &= ~units.ids.is_in(self.mixed.implode())
        return units.filter(kept)


def counts_of(units: UnitTotals, names: Iterable[str]) -> dict[str, int]:
    """How many of some units each variant has."""
    return {name: units.size_of(units.groups["variant"] == name) for name in names}


def places_of(units: UnitTotals, names: Iterable[str]) -> dict[str, Array]:
    """The positions of the units of each variant among some units."""
    variant = units.groups["variant"]
    return {name: np.flatnonzero((variant == name).to_numpy()) for name in names}


def arms_of(units: UnitTotals, baseline: str | None = None) -> Arms:
    """The arms of units that were rolled up by variant, with their ids."""
    kept, mixed, cautions = _sound(units)
    share = 0.0 if mixed is None else len(mixed) / (len(mixed) + kept.count)
    if share and not kept.count:
        names = words.listing(sorted(units.groups["variant"].drop_nulls().unique().to_list()), most=12)
        remedy = (
            "name the column of the assignment with --variant, or the column of the assigned unit with --columns 'NAME=unit_id'"
            if units.members is None
            else "name columns with one variant per value, like a city and an hour"
        )
        raise DataError(
            f"each {units.noun} has rows of several variants ({names}), which leaves nothing to compare: {remedy}"
        )
    return Arms(kept, tuple(_names(kept, baseline)), mixed, share, tuple(cautions))


def _sound(units: UnitTotals) -> tuple[UnitTotals, Any, list[Caution]]:
    """The units with one variant, the ids of units with several, and cautions about the exclusions."""
    variant = units.groups["variant"]
    cautions: list[Caution] = []
    mixed = None
    kept = variant.is_not_null()
    if not kept.all():
        ids = units.ids if units.unit == "unit_id" else None
        partly = 0 if ids is None else int(ids.filter(~kept).is_in(ids.filter(kept).implode()).sum())
        never, total = units.size_of(~kept) - partly, units.count if ids is None else ids.n_unique()
        if never:
            cautions.append(WithoutVariant.caution(count=never, total=total, unit=units.noun))
        if partly:
            cautions.append(PartlyWithoutVariant.caution(count=partly, total=total, unit=units.noun))
    # all ids are compared only if two of their hashes collide
    if units.ids is not None and units.unit == "unit_id" and units.ids.hash().n_unique() < units.count:
        both = units.ids.is_in(units.ids.filter(kept).filter(units.ids.filter(kept).is_duplicated()).implode()) & kept
        if both.any():
            mixed = units.ids.filter(both).unique()
            count, whole = units.ids.filter(both).n_unique(), units.ids.n_unique()
            cautions.append(MixedUnitsLeftOut.caution(count=count, total=whole, share=count / whole, unit=units.noun))
            kept &= ~both
    if units.remark:
        cautions.append(NoUnits.caution(remark=units.remark))
    return (units if kept.all() else units.filter(kept)), mixed, cautions


def _names(units: UnitTotals, baseline: str | None) -> list[str]:
    """The variants, the baseline first."""
    names = sorted(units.groups["variant"].unique().to_list())
    if len(names) < 2:
        only = f"one variant, {names[0]}" if names else "no variant"
        raise DataError(f"there is {only}: an experiment compares two or more")
    if baseline is not None and str(baseline) not in names:
        raise InputError(f"baseline {baseline!r}: no variant is called that{words.hint(str(baseline), names)}")
    usual = next((name for control in CONTROLS for name in names if name.casefold() == control), names[0])
    first = str(baseline) if baseline is not None else usual
    few = [name for name, count in counts_of(units, names).items() if count < FEWEST_UNITS]
    if few:
        totals = (
            ""
            if units.unit
            else "; if a row has totals of many users, name these columns: --columns 'users=n,orders=successes', or give sums of squares"
        )
        raise DataError(f"variant {few[0]} has one {units.noun}: a comparison needs two or more{totals}")
    return [first, *(name for name in names if name != first)]
