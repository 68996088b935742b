"""A/A tests on a log: the rate of false verdicts of each metric, measured by random splits of its users."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from rankscope import words
from rankscope.blocks import NumberText
from rankscope.declared import whole_number
from rankscope.errors import DataError, InputError
from rankscope.experiments.arms import FEWEST_UNITS, Arms, name_of_test, sample_ratio, shares_of
from rankscope.experiments.variants import Adjustment, Variants, check_winsorise, covariates_of, refuse_outcomes
from rankscope.impressions import Log, cluster_columns
from rankscope.logs.base import OnlineMetric, parse_online_metrics
from rankscope.logs.metrics import require_deciding
from rankscope.logs.rollup import UnitTotals, roll_up
from rankscope.panels.contrast import CLEAR
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import Method, method_of
from rankscope.scoring.logs import read_log
from rankscope.show.result import Col, OfSource, View

USUAL_SHARES = {"A": 0.5, "B": 0.5}


@dataclass(frozen=True)
class ClearRounds:
    """The number of ``rounds`` in which a metric had a value in both variants, and had a clear difference: ``up`` and ``down``."""

    metric: OnlineMetric
    rounds: int
    up: int
    down: int


def resplit(  # noqa: PLR0913 - the options of an A/A test
    log: Log, metrics: Sequence[OnlineMetric], method: Method, adjustment: Adjustment, *, rounds: int, seed: int,
    split: Mapping[str, float] | None = None, clusters: Any = None,
) -> tuple[UnitTotals, list[ClearRounds]]:  # fmt: skip
    """Return the units of a log, and the clear differences of each metric between variants split at random."""
    shares = USUAL_SHARES if split is None else split
    if len(shares) != 2:
        raise InputError(f"split={dict(shares)}: an A/A test splits units into two variants, like A=0.9,B=0.1")
    refuse_outcomes(log, adjustment.covariates)
    others = [other for each in adjustment.covariates.values() for other in each]
    within = cluster_columns(log, clusters)
    units = roll_up(log, list(dict.fromkeys([*metrics, *others])), within, ids=True).clustered(within)
    names, draws = tuple(shares), np.random.default_rng(seed)
    parts = np.array([*shares.values()]) / sum(shares.values())
    if units.count * parts.min() < FEWEST_UNITS:
        raise DataError(f"{log.label}: {words.counted(units.count, units.noun)} are too few to split at random")
    # by id, as a roll-up has no order
    place = np.arange(units.count) if units.ids is None else units.ids.rank("ordinal").to_numpy() - 1
    verdicts = {metric: [0, 0, 0] for metric in metrics}
    for _ in range(rounds):
        dealt = np.array(names)[draws.choice(2, units.count, p=parts)[place]]
        arms = Arms(units.grouped("variant", dealt), names)
        variants = Variants(log, arms, sample_ratio(arms.counts, dict(shares)), adjustment, tuple(within)).looked_at(
            method.test
        )
        for metric, counts in verdicts.items():
            way = _clear(variants, metric, method)
            if way is not None:
                counts[0] += 1
                counts[1] += way > 0
                counts[2] += way < 0
    return units, [ClearRounds(metric, *counts) for metric, counts in verdicts.items()]


def _clear(variants: Variants, metric: OnlineMetric, method: Method) -> int | None:
    """Return the sign of the difference if it is clear, 0 if not, and None if a variant has no value."""
    try:
        panel = variants.panel(metric)
    except DataError:
        return None
    baseline, other = variants.names
    (c,) = Family([panel], pairs_of((baseline, other), baseline, all_pairs=False), method, baseline).contrasts
    return int(np.sign(c.difference)) if c.verdict in CLEAR else 0


# --- the result ---------------------------------------------------------------------------------------------------

STANDARD_ERRORS_FROM_ALPHA = 3.0  # of a rate that is not alpha


@dataclass(frozen=True, eq=False, repr=False)
class FalseAlarms(OfSource):
    """The rate of false verdicts per metric, over random splits of the users of a log into two variants.

    ``result["CTR"]`` is the rate. ``counts`` has the clear differences of each metric, up and down.
    """

    log: Log
    units: UnitTotals
    counts: Sequence[ClearRounds]
    method: Method
    rounds: int
    split: Mapping[str, float] | None = None
    clusters: Sequence[str] = ()

    schema: ClassVar[str] = "aa/1"
    source = property(attrgetter("log.source"), doc="The file or table of the log.")
    views: ClassVar[tuple[View, ...]] = (
        View(
            "results",
            lambda result: (
                Col("metric", of=lambda row: str(row.metric), head="metric"),
                Col("rounds", head="rounds", kind="count"),
                Col("rate", of=result.rate, head="false verdicts", kind="value", cell=lambda row: NumberText(_percent(result.rate(row)), result.rate(row))),
                Col("standard_error", of=result.error, head="±", kind="value", cell=lambda row: NumberText(_percent(result.error(row)), result.error(row))),
                Col("up", head="up", kind="count"),
                Col("down", head="down", kind="count"),
                Col("verdict", of=result.verdict, head="verdict"),
            ),
            lambda result: result.counts,
        ),
    )  # fmt: skip

    def __getitem__(self, metric: Any) -> float:
        (wanted,) = parse_online_metrics(metric)
        return self.rate(next(row for row in self.counts if row.metric == wanted))

    def rate(self, row: ClearRounds) -> float:
        """The share of rounds with a clear difference."""
        return (row.up + row.down) / row.rounds if row.rounds else math.nan

    def error(self, row: ClearRounds) -> float:
        """The standard error of the rate."""
        rate = self.rate(row)
        return math.sqrt(rate * (1 - rate) / row.rounds) if row.rounds else math.nan

    def verdict(self, row: ClearRounds) -> str:
        """``too many`` or ``few`` if the rate is more than 3 standard errors from alpha, ``as expected`` otherwise."""
        alpha = self.method.alpha
        if not row.rounds:
            return "no value"
        away = (self.rate(row) - alpha) / math.sqrt(alpha * (1 - alpha) / row.rounds)
        return "as expected" if abs(away) <= STANDARD_ERRORS_FROM_ALPHA else "too many" if away > 0 else "few"

    @property
    def notes(self) -> Sequence[str]:
        """Messages about the log and the roll-up."""
        return [*self.log.source.notes, *([self.units.remark] if self.units.remark else [])]

    @property
    def conventions(self) -> dict[str, Any]:
        """The number of rounds, the split, and the test."""
        split = dict(self.split) if self.split else None
        test, alpha = name_of_test(self.method.test), self.method.alpha
        within = {"clusters": [*self.clusters]} if self.clusters else {}
        return {"unit": self.units.noun, **within, "rounds": self.rounds, "split": split, "test": test, "alpha": alpha}

    def sentences(self) -> Iterator[str]:
        """Yield per metric the rate of false verdicts and its meaning."""
        several, expected = words.counted(self.units.count, self.units.noun), _percent(self.method.alpha)
        yield f"{words.counted(self.rounds, 'random split')} of {several}: by chance {expected} of verdicts are clear, and false."
        for row in self.counts:
            rate = (
                f"{row.metric}: {_percent(self.rate(row))} false verdicts (standard error {_percent(self.error(row))})"
            )
            yield f"{rate}, {MEANING[self.verdict(row)]}."


MEANING = {
    "too many": "more than expected: an experiment on this metric finds differences that do not exist",
    "few": "fewer than expected: an experiment on this metric misses differences",
    "as expected": "as expected",
    "no value": "because one variant is always without a value",
}


def _percent(share: float) -> str:
    return words.share(share, 1)


def simulate_aa(  # noqa: PLR0913 - the options of the command line, each with its default
    log: Any, metrics: Any = None, *, rounds: int = 500, seed: int = 0, split: Any = None, covariates: Any = None,
    winsorise: float | None = None, clusters: Any = None, test: Any = None, alpha: float = 0.05, columns: Any = None,
    log_format: str | None = None,
) -> FalseAlarms:  # fmt: skip
    """Measure the rate of false verdicts of an experiment by random splits of the users of a log into two variants.

    Clear differences are false, as variants differ by chance. ``rounds`` counts the splits, ``split`` has the shares of the
    variants, ``{"A": 0.9, "B": 0.1}``, even by default. ``clusters`` are the columns of groups that are
    split whole (households). The other options are as for ``experiment``. Raises InputError and DataError as
    ``experiment`` does.

    >>> found = simulate_aa(
    ...     {"user": [*range(200)], "revenue": [float(i % 7) for i in range(200)]}, "Mean(revenue)", rounds=99
    ... )
    >>> 0.0 <= found["Mean(revenue)"] < 0.15
    True
    """
    whole_number("rounds", rounds, 20, "the number of random splits: a whole number of at least 20, like 500")
    method = method_of(test=test, alpha=alpha)
    read = read_log(log, columns=columns, log_format=log_format)
    chosen = parse_online_metrics(metrics) if metrics else require_deciding(read)
    shares = shares_of(split)
    check_winsorise(winsorise)
    adjustment = Adjustment(covariates_of(covariates, chosen), None, winsorise)
    units, counts = resplit(read, chosen, method, adjustment, rounds=rounds, seed=seed, split=shares, clusters=clusters)
    return FalseAlarms(read, units, counts, method, rounds, shares, cluster_columns(read, clusters))
