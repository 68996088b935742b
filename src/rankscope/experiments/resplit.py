"""A/A tests on a log: random splits of its units into two variants, compared as in an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.experiments.arms import FEWEST_UNITS, Arms
from rankscope.experiments.covariates import refuse_outcomes
from rankscope.experiments.split import sample_ratio
from rankscope.experiments.variants import Adjustment, Variants
from rankscope.impressions import Log
from rankscope.logs.base import OnlineMetric
from rankscope.logs.cuts import cluster_columns
from rankscope.logs.rollup import UnitTotals, roll_up
from rankscope.panels.contrast import CLEAR
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import Method

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
    """Return the units of a log, and the clear differences of each metric between variants split at random.

    ``split`` has the shares of two variants, the baseline first; ``clusters`` are the columns of groups that are split whole. Raises
    InputError for other splits, DataError for too few units.
    """
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
