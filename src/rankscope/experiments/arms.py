"""The arms of an experiment: the units of a log that were given one variant each, and what is said of all others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics.logs import MixedUnitsLeftOut, NoUnits, WithoutVariant
from rankscope.errors import DataError, InputError
from rankscope.lists import Array
from rankscope.logs.rollup import UnitTotals

CONTROLS = ("control", "baseline", "a", "0", "off", "false", "old")  # what a baseline is called, the likeliest first
FEWEST_UNITS = 2


@dataclass(frozen=True, eq=False)
class Arms:
    """The units that were given one variant each; ``names`` are the variants, the baseline first.

    ``mixed`` are the ids of units that had several variants, None where there are none; ``cautions`` tell of all that is left out.
    """

    units: UnitTotals
    names: tuple[str, ...]
    mixed: Any = None
    cautions: tuple[Caution, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many units each variant has."""
        return counts_of(self.units, self.names)

    def of(self, units: UnitTotals) -> UnitTotals:
        """Those of other units of the same log, rolled up by more than the variant, that are of these arms."""
        kept = units.groups["variant"].is_not_null()
        if self.mixed is not None and units.ids is not None:
            kept &= ~units.ids.is_in(self.mixed.implode())
        return units.filter(kept)


def counts_of(units: UnitTotals, names: Iterable[str]) -> dict[str, int]:
    """How many of some units each variant has."""
    return {name: int((units.groups["variant"] == name).sum()) for name in names}


def places_of(units: UnitTotals, names: Iterable[str]) -> dict[str, Array]:
    """Where the units of each variant are among some units."""
    variant = units.groups["variant"]
    return {name: np.flatnonzero((variant == name).to_numpy()) for name in names}


def arms_of(units: UnitTotals, baseline: str | None = None) -> Arms:
    """The arms of units that were rolled up by variant, with their ids.

    The baseline is named, or is the variant that is called control, baseline, a ..., or the first. Raises DataError where there are
    not two variants of two units, InputError for a baseline that there is not.
    """
    kept, mixed, cautions = _sound(units)
    return Arms(kept, tuple(_names(kept, baseline)), mixed, tuple(cautions))


def _sound(units: UnitTotals) -> tuple[UnitTotals, Any, list[Caution]]:
    """The units that have one variant, the ids of those that have several, and what to say of what is left out."""
    variant = units.groups["variant"]
    cautions: list[Caution] = []
    mixed = None
    kept = variant.is_not_null()
    if not kept.all():
        cautions.append(WithoutVariant.caution(count=int((~kept).sum()), total=units.count, unit=units.noun))
    # all ids are looked at only where two of their hashes meet
    if units.ids is not None and units.unit == "unit_id" and units.ids.hash().n_unique() < units.count:
        both = units.ids.is_duplicated() & kept
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
        raise DataError(f"variant {few[0]} has one {units.noun}: two or more are needed to know how much chance does")
    return [first, *(name for name in names if name != first)]
