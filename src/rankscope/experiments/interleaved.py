"""Interleaved lists of a log as a panel: the credit of each ranker per unit, and a check of the mixing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.behaviour.mixing import Mixing
from rankscope.errors import DataError, InputError
from rankscope.experiments.arms import UNEQUAL, SampleRatio, sample_ratio
from rankscope.impressions import Log, one_key
from rankscope.inference.base import Sample, import_ahead
from rankscope.inference.paired import t
from rankscope.interleavings.credits import Credit, TeamCredit, credit_of, recorded_method, summed
from rankscope.lists import Array
from rankscope.logs.rollup import UNITS, UnitTotals, roll_up, unit_of
from rankscope.panels.families import MAX_VALUES, Pairs, too_many_values
from rankscope.panels.method import VALID, Validity
from rankscope.panels.panel import PairedValues, Panel
from rankscope.panels.ratios import in_scale
from rankscope.panels.samples import Measure

PREFERENCE, OF_UNITS = "preference", "preference of {units}"
PAIRS = ("all", "competitive")
MISMATCHED = 0.01  # largest share of lists with teams that do not fit the recorded method


@dataclass(frozen=True, eq=False)
class Duels(Panel):
    """A panel of several rankers whose pairs have outcomes of their own: the winner of a list depends on the two that are compared.

    ``duels`` has the panel of each pair. The values of the panel itself are means over rivals.
    """

    duels: Mapping[tuple[str, str], Panel] = field(default_factory=dict)

    def pair(self, run: str, baseline: str, inside: Array | None = None) -> PairedValues:
        """Return the outcomes of one ranker against another."""
        known = (run, baseline) if (run, baseline) in self.duels else (baseline, run)
        return self.duels[known].pair(run, baseline, inside)

    @cached_property
    def complete(self) -> Array:
        """Refuse to look at all rankers together."""
        raise InputError(
            "a joint correction looks at values of all rankers on one list, and each pair has outcomes of its own: use holm"
        )


@dataclass(frozen=True, eq=False)
class Interleaved:
    """A log of interleaved lists, the ``credit`` of its clicks, and its ``rankers``. ``competitive`` keeps only pairs of items that differ. ``method`` is the recorded way of mixing."""

    log: Log
    credit: Credit
    rankers: tuple[str, ...]
    competitive: bool = False
    method: Mixing | None = None

    @classmethod
    def of(cls, log: Log, credit: Any = None, pairs: str = "all", first: str | None = None) -> Interleaved:
        """Return the interleaved lists of a log, with the usual credit of its mixing. ``first`` names the ranker to list first."""
        if pairs not in PAIRS:
            raise InputError(f"pairs={pairs!r}: pairs is one of {words.choices(PAIRS)}")
        import_ahead()
        method = recorded_method(log)
        chosen = credit_of(log, credit, method)
        log.require(chosen.columns(log), str(chosen))
        rankers = chosen.rankers(log)
        if first is not None and str(first) not in rankers:
            raise InputError(f"baseline {first!r}: no ranker is called that{words.hint(str(first), rankers)}")
        ordered = [*(name for name in rankers if name != str(first)), *([str(first)] if first is not None else [])]
        interleaved = cls(log, chosen, tuple(ordered), pairs == "competitive", method)
        return replace(interleaved, log=interleaved._competitive()) if interleaved.competitive else interleaved

    @property
    def pairs(self) -> Pairs:
        """The rankers that are compared, each as ranker and rival: the earlier one first."""
        return list(summed(self.credit, self.rankers))

    # -- totals and panels --------------------------------------------------------------------------

    def roll_up(self, by: Sequence[str] = (), kept: pl.Expr | None = None, *, ids: bool = False) -> UnitTotals:
        """Sum up the outcomes of lists with an event by unit: one earning per pair of rankers."""
        log = self._events if self._events.schema.keys() >= {*by} else self._with_events
        log = log if kept is None else log.turned(lambda frame: frame.filter(kept))
        log.require(("impression_id",), "interleaving")
        return roll_up(log, [*summed(self.credit, self.rankers).values()], by=by, ids=ids)

    @cached_property
    def _with_events(self) -> Log:
        """The rows of lists that can count: those with an event, unless whole lists matter."""
        value, most = self.credit.value(self.log), None if self.log.elsewhere else self.log.rows
        kept = self.log if self.credit.whole_lists else self.log.turned(lambda frame: frame.filter(value != 0))
        return replace(kept, most=most)

    @cached_property
    def _events(self) -> Log:
        """The same rows in memory, with the columns that credits, units and ranks take, unless they are elsewhere."""
        log = self._with_events
        if self.credit.whole_lists or log.elsewhere is not None:
            return log
        each = summed(self.credit, self.rankers).values()
        parts = [part for credit in each for part in (credit.value(log), *credit.sums(log))]
        named = {*self.ranks, *UNITS, "team", "position", "click"}.union(*(part.meta.root_names() for part in parts))
        columns = [name for name in log.schema if name in named]
        ids = [name for name in columns if name in {*UNITS, "team"}]
        rows = log.gather(lambda frame: frame.select(columns), ids=ids)
        roles = {name: own for name, own in log.roles.items() if name in columns}
        others = tuple(name for name in log.attributes if name in columns)
        return replace(log, frame=rows.lazy(), roles=roles, attributes=others, most=rows.height)

    @cached_property
    def clicked(self) -> pl.DataFrame:
        """The rows with a click: lists, units, positions and ranks."""
        log = self._events if self.credit.event == "click" and self.credit.dwell is None else self.log
        columns = [*self.keys, one_key(self.keys), "position", "click", *self.ranks]
        return log.gather(lambda frame: frame.filter(pl.col("click") != 0).select(columns), ids=self.keys)

    @property
    def ranks(self) -> list[str]:
        """The columns of ranks, one per ranker in their order; none unless every ranker has one."""
        names = [f"rank_{name}" for name in self.rankers]
        return names if all(name in self.log.attributes for name in names) else []

    def panel(self, units: UnitTotals, *, each_unit: bool = False) -> Panel:
        """Return the panel of preferences. With ``each_unit`` a unit counts once, for the ranker that it prefers."""
        name = OF_UNITS.format(units=words.plural(units.noun)) if each_unit else PREFERENCE
        made = {
            pair: self._duel(units, pair, units.columns(one), name, each_unit)
            for pair, one in summed(self.credit, self.rankers).items()
        }
        first, *others = made.values()
        if not others:
            return first
        seen = [panel for panel in made.values() if panel.values.shape[1]]
        means = [np.mean([panel.means[name] for panel in seen if name in panel.systems]) for name in self.rankers]
        values = np.repeat(np.array(means)[:, None], units.count, axis=1)
        return Duels(first.measure, self.rankers, tuple(map(str, range(units.count))), values, duels=made)

    def _duel(self, units: UnitTotals, pair: tuple[str, str], totals: Array, name: str, each_unit: bool) -> Panel:
        won, of = totals[totals[:, 1] > 0].T
        share = won / of
        if each_unit:
            share = (1 + np.sign(np.round(share - 0.5, 12))) / 2
        weights = np.ones(len(share)) if each_unit else of
        apart = 2 * share - 1
        error = 0.0
        if len(share):
            error = float(np.linalg.norm(weights * (apart - np.average(apart, weights=weights))) / weights.sum())
        measure = in_scale(Measure(name, "higher", self.credit.range, unit=units.noun), [error, 0.0])
        both = None if (weights == 1).all() else np.stack([weights, weights])
        names = tuple(map(str, range(len(share))))
        return Panel(measure, pair, names, np.stack([share, 1 - share]), weights=both)

    @cached_property
    def units(self) -> UnitTotals:
        """The outcomes of all lists by unit. Raises DataError if no list has a credited event."""
        units = self.roll_up(ids=True)
        if not units.count:
            raise DataError(
                f"{self.log.label}: every list is without a credited {self.credit.event}: there is nothing to compare"
            )
        return units

    def slices(self, attributes: Sequence[str]) -> tuple[dict[tuple[str, str], Panel], list[str]]:
        """Return the panel within each value of the columns, and notes about columns that are left out."""
        panels, notes = dict[tuple[str, str], Panel](), []
        for attribute in attributes:
            cut = self.roll_up(by=[attribute])
            values = cut.groups[attribute].unique().sort(nulls_last=True)
            if len(values) > MAX_VALUES:
                notes.append(too_many_values(attribute, len(values)))
                continue
            for value in values:
                panels[attribute, str(value)] = self.panel(cut.filter(cut.groups[attribute].eq_missing(value)))
        return panels, notes

    @property
    def notes(self) -> list[str]:
        """Messages about the log and its units."""
        return [*self.log.source.notes, *filter(None, [self.units.remark])]

    # -- the mixing ---------------------------------------------------------------------------------

    @cached_property
    def first_places(self) -> SampleRatio | None:
        """True if rankers filled the first place equally often, as a draft does, or None if the log has no teams or positions."""
        if not (isinstance(self.credit, TeamCredit) and self.log.has("team", "position")):
            return None
        return sample_ratio({name: int(self._opened[f"first_{name}"].sum()) for name in self.rankers})

    @cached_property
    def agreed(self) -> tuple[float, float, int] | None:
        """The preference on lists whose shown items all rankers rank alike, its p-value and the number of lists; None without such lists."""
        if self.competitive or not self.ranks or not self.log.has("impression_id"):
            return None
        alike = self.lists.filter(~pl.col("apart"))["impression_id"].drop_nulls()
        apart = self.lists.filter(pl.col("apart") & pl.col("impression_id").is_in(alike.implode()))["impression_id"]
        lists = alike.filter(~alike.is_in(apart.implode()))  # an id may be of lists of two users
        if lists.is_empty() or not (units := self.roll_up(kept=pl.col("impression_id").is_in(lists.implode()))).count:
            return None
        tests = []
        for one in summed(self.credit, self.rankers).values():
            won, of = units.columns(one).T
            gains = (2 * won - of)[of > 0]
            p_value = t().p_value(Sample(gains)) if np.count_nonzero(gains) > 1 else 1.0
            tests += [(float(gains.sum() / of.sum()), p_value, int(of.sum()))] if len(gains) else []
        return min(tests, key=itemgetter(1), default=None)

    @cached_property
    def validity(self) -> Validity:
        """A check if the mixing was fair: first places split evenly, and no preference between rankers that agree."""
        if self.first_places is not None and not self.first_places.holds:
            p_value = words.p_value(self.first_places.p_value)
            return Validity.unless(
                False, f"rankers did not fill the first place equally often ({self._places}; {p_value})"
            )
        if self.agreed is not None and self.agreed[1] < UNEQUAL:
            size, lists = words.number(self.agreed[0], sign=True), words.counted(self.agreed[2], "list")
            shown = f"({size}; {words.p_value(self.agreed[1])})"
            return Validity.unless(False, f"{lists} on which all rankers agree show a preference {shown}")
        return VALID

    def checks(self) -> Iterator[str]:
        """Yield the checks of the mixing in words."""
        if self.first_places is not None:
            yield f"Mixing: first places are split evenly ({self._places}; {words.p_value(self.first_places.p_value)})."
        if self.agreed is not None:
            preference, p_value, lists = self.agreed
            yield f"If rankers agree, the preference is {words.number(preference, sign=True)} on {words.counted(lists, 'list')} ({words.p_value(p_value)})."

    def record(self) -> dict[str, Any]:
        """Return the check of the mixing for programs."""
        agreed = self.agreed and dict(zip(("preference", "p_value", "lists"), self.agreed, strict=True))
        return {
            "holds": self.validity.holds, "reason": self.validity.reason,
            "first_places": self.first_places and self.first_places.record(), "where_rankers_agree": agreed,
        }  # fmt: skip

    @property
    def _places(self) -> str:
        assert self.first_places is not None
        return words.listing(
            [f"{name} {words.count(number)}" for name, number in self.first_places.counts.items()], most=12
        )

    def check_method(self) -> None:
        """Refuse a log whose teams the recorded way of mixing cannot make. Raises DataError."""
        if self.method is None or not self.method.rounds or not self.log.has("team", "position", "impression_id"):
            return
        wrong, whole = self._wrong, self.lists["impression_id"].n_unique()
        if whole and wrong / whole > MISMATCHED:
            raise DataError(
                f"{self.log.label}: {words.count(wrong)} of {words.counted(whole, 'list')} have teams that {self.method} cannot make: "
                "check the column team, or name the way of mixing in merge_method"
            )

    @cached_property
    def lists(self) -> pl.DataFrame:
        """One row per list (of each unit): its ``clicks``, the ``longest`` position, and whether its items are ranked ``apart`` by rankers."""
        keys = self.keys
        first, *others = map(pl.col, self.ranks or ["impression_id"])
        apart = pl.any_horizontal(first.ne_missing(other) for other in others).any() if others else pl.len() < 0
        facts = {"apart": apart}
        if self.log.has("click"):
            facts["clicks"] = pl.col("click").fill_null(0.0).sum()
        if self.log.has("position"):
            facts["longest"] = pl.col("position").max()
        return self.log.gather(
            lambda frame: frame.group_by(one_key(keys)).agg(pl.col(keys).first(), **facts), "impression_id", keys
        )

    @property
    def keys(self) -> list[str]:
        """The columns that name a list: its unit and its id."""
        return list(dict.fromkeys([unit_of(self.log), "impression_id"]))

    @property
    def _team(self) -> pl.Expr:
        name = pl.col("team").str.strip_chars()
        return pl.when(name != "").then(name)

    @cached_property
    def _opened(self) -> pl.DataFrame:
        """The first round of each list: whether a team is in it twice, so that another is missing, and the first places of each ranker."""
        team, place, rankers = self._team, pl.col("position") - self._first_place, len(self.rankers)
        firsts = [((place == 0) & (team == name)).sum().alias(f"first_{name}") for name in self.rankers]
        twice = pl.any_horizontal((team == name).sum() > 1 for name in self.rankers) & (team.count() == rankers)

        def lists(frame: pl.LazyFrame) -> pl.LazyFrame:
            return frame.filter(place < rankers).group_by("impression_id").agg(twice.alias("twice"), *firsts)

        return self.log.gather(lists, "impression_id", ["impression_id"])

    @property
    def _wrong(self) -> int:
        """The number of lists whose teams no draft can make: a team twice in the first round, or a team without the item."""
        wrong = self._opened.filter("twice").select("impression_id")
        if self.ranks:
            pairs = zip(self.rankers, self.ranks, strict=True)
            absent = pl.any_horizontal(pl.col(rank).is_null() & (self._team == name) for name, rank in pairs)
            lists = self.log.gather(
                lambda frame: frame.filter(absent).select("impression_id").unique(), "impression_id", ["impression_id"]
            )
            wrong = pl.concat([wrong, lists])
        return wrong["impression_id"].n_unique()

    @cached_property
    def _first_place(self) -> int:
        return int(self.log.gather(lambda f: f.select(pl.col("position").min())).min().item() or 0)

    def _competitive(self) -> Log:
        """Return the rows of pairs (places 1 and 2, 3 and 4, ...) in which the rankers wanted different items.

        A pair is not competitive if the second ranker would have picked the first item. Source: Zhang et al., Harnessing
        the power of interleaving and counterfactual evaluation for Airbnb search ranking, KDD 2025.
        """
        self.log.require(("team", "position", "impression_id"), "pairs='competitive'")
        if len(self.rankers) != 2 or not self.ranks:
            ranks = " and ".join(f"rank_{name}" for name in self.rankers)
            raise DataError(f"{self.log.label}: competitive pairs need two rankers and the columns {ranks}")
        pair, place = ["impression_id", (pl.col("position") - 1) // 2], pl.col("position")
        wished = (pl.col(name).cast(pl.Float64).fill_null(math.inf).sort_by(place) for name in self.ranks)
        # true if the later item is wished first
        one, other = ((wish.first() > wish.last()).over(pair) for wish in wished)
        last = pl.col("team").sort_by(place).last().over(pair)
        wanted = pl.when(last == self.rankers[0]).then(one).otherwise(other)
        return replace(self.log, frame=self.log.frame.filter(wanted & (pl.len().over(pair) == 2)))
