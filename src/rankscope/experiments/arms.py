"""The arms of an experiment: the units of a log that were given one variant each, and what is said of all others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics.logs import MixedUnitsLeftOut, NoUnits, PartlyWithoutVariant, WithoutVariant
from rankscope.errors import DataError, InputError
from rankscope.lists import Array
from rankscope.logs.rollup import UnitTotals

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
            "name the column of the assignment with --variant, or the column of the assigned unit with --columns NAME=unit_id"
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
