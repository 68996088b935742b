"""Which offline metric predicts which online one, over the launches of a ledger: pairs of differences, errors of signs, combinations, drift."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.inference.base import Bounds
from rankscope.inference.errors_in_variables import (
    REASONS,
    NoisyPairs,
    TrueRelation,
    best_weights,
    cross_validate,
    true_relation,
)
from rankscope.inference.intervals import normal, wilson
from rankscope.ledger.launch import Launch, Measurement, Side
from rankscope.ledger.recording import shared_covariance
from rankscope.lists import Array

PERIODS, EACH = 4, 25  # periods of a drift, and the fewest launches of one
PER_METRIC = 10  # launches for each weight of a combination
COVERED = 0.5  # share of launches with an online result that a metric of a combination must have
NULL = {"same", "equivalent"}
NULL_TAG = "aa"  # a launch without any change


@dataclass(frozen=True, eq=False)
class Rates:
    """Errors of an offline metric on past launches, counted where both sides can be decided at alpha.

    ``nulls`` are launches without an online effect (tag ``aa``, or verdict same or equivalent), ``type_one`` of them clear offline. ``decided``
    are launches that are clear online: ``type_two`` of them are unclear offline, ``type_three`` clear in the other direction.
    """

    nulls: int
    type_one: int
    decided: int
    type_two: int
    type_three: int

    @property
    def directed(self) -> int:
        """Launches that are clear on both sides."""
        return self.decided - self.type_two

    def share(self, count: int, of: int) -> tuple[float, Bounds]:
        """Return a share with its Wilson interval; NaN of nothing."""
        if not of:
            return math.nan, Bounds.none("no such launch")
        return count / of, wilson().of_share(of, count / of)


@dataclass(frozen=True, eq=False)
class Relation:
    """An offline and an online metric over launches: ``pairs`` of gains, and what they say of the ``true`` ones.

    ``x`` and ``y`` hold the measurements, one per launch that has the offline metric (None in ``y`` without an online result). ``judgments`` counts
    the sets of judgments, ``mixed`` the conventions.
    """

    offline: str
    online: str
    launches: Sequence[Launch]
    x: Sequence[Measurement]
    y: Sequence[Measurement | None]
    mixed: int
    pairs: NoisyPairs

    @cached_property
    def true(self) -> TrueRelation:
        """The relation of the true differences."""
        return true_relation(self.pairs)

    @property
    def count(self) -> int:
        """Launches with both differences."""
        return int(self.pairs.both.sum())

    @property
    def judgments(self) -> int:
        """The number of known sets of judgments."""
        return len({m.judgments for m in self.x if m.judgments})

    @property
    def verdict(self) -> str:
        """``predicts``, ``predicts the opposite``, ``no clear relation`` or ``cannot tell``, by the interval of the correlation."""
        if not self.true.known:
            return "cannot tell"
        bounds = self.true.correlation()[1]
        return "predicts" if bounds.lower > 0 else "predicts the opposite" if bounds.upper < 0 else "no clear relation"

    @property
    def reason(self) -> str:
        """The reason why there is no answer, or an empty text."""
        several = words.counted(self.count, "launch")
        return REASONS[self.true.unclear].format(count=several, x=self.offline, y=self.online)

    @property
    def agreement(self) -> tuple[float, Bounds]:
        """The share of launches with the same sign of both measured differences, with its interval."""
        both = self.pairs.both
        same = int((self.pairs.x[both] * self.pairs.y[both] > 0).sum())
        return Rates(0, 0, 0, 0, 0).share(same, self.count)

    @cached_property
    def rates(self) -> Rates:
        """Type I, II and III errors of the offline metric."""
        z, both, p = normal(0.025), self.pairs.both, self.pairs
        clear_x = np.abs(p.x) > z * np.sqrt(p.x_variance)
        clear_y = both & (np.abs(np.where(both, p.y, 0.0)) > z * np.sqrt(np.where(both, p.y_variance, 1.0)))
        null = np.array(
            [
                NULL_TAG in launch.tags or (m is not None and m.verdict in NULL)
                for launch, m in zip(self.launches, self.y, strict=True)
            ]
        )
        decided = clear_y & ~null
        wrong = decided & clear_x & (p.x * np.where(both, p.y, 0.0) < 0)
        return Rates(*(int(np.sum(which)) for which in (null, null & clear_x, decided, decided & ~clear_x, wrong)))

    @property
    def baseline_value(self) -> float | None:
        """The mean value of the online baselines; None if some are unknown."""
        values = [m.baseline_value for m in self.y if m is not None]
        return None if not values or None in values else float(np.mean(values))  # type: ignore[arg-type]

    @cached_property
    def periods(self) -> list[tuple[str, Relation]]:
        """The relation in periods with equal numbers of launches, each with its days. Empty if launches are few or without days."""
        order = [i for i in np.flatnonzero(self.pairs.both).tolist() if self.launches[i].day is not None]
        number = min(PERIODS, len(order) // EACH)
        if number < 2:
            return []
        return [
            (f"{self.launches[part[0]].day} to {self.launches[part[-1]].day}", self._part(part))
            for part in _cut(order, number)
        ]

    @cached_property
    def change(self) -> tuple[float, Bounds] | None:
        """The slope in the late half less the early half, with its interval; None if either is unknown."""
        order = [i for i in np.flatnonzero(self.pairs.both).tolist() if self.launches[i].day is not None]
        if len(order) < 2 * EACH:
            return None
        early, late = (self._part(part).true for part in _cut(order, 2))
        if not (early.known and late.known):
            return None
        value, reach = (
            late.slope()[0] - early.slope()[0],
            normal(0.025) * math.hypot(early.slope_error, late.slope_error),
        )
        return value, Bounds(value - reach, value + reach, "delta")

    def _part(self, which: Sequence[int]) -> Relation:
        launches, x, y = [self.launches[i] for i in which], [self.x[i] for i in which], [self.y[i] for i in which]
        return Relation(self.offline, self.online, launches, x, y, self.mixed, self.pairs.take(np.array(which)))


@dataclass(frozen=True, eq=False)
class Combination:
    """Predictors of an online metric, validated on launches that did not choose them: ``single``, the best metric, and the ``weighted`` sum of all.

    ``weights`` is the change of the online metric per unit of each offline one. ``covered`` is true if covariances of errors are known.
    """

    online: str
    metrics: Sequence[str]
    count: int
    chosen: str
    single: TrueRelation
    weighted: TrueRelation
    weights: Mapping[str, float]
    covered: bool

    @property
    def few(self) -> bool:
        """True if launches are few for the number of metrics."""
        return self.count < PER_METRIC * len(self.metrics)


def _cut(order: Sequence[int], number: int) -> list[list[int]]:
    return [part.tolist() for part in np.array_split(np.array(order), number)]


# --- from launches to pairs ------------------------------------------------------------------------------


def relations_of(
    launches: Sequence[Launch], offline: Iterable[str] = (), online: Iterable[str] = (), *, mixed: bool = False
) -> list[Relation]:
    """Return every offline metric against every online one, or those that are named.

    Differences under other conventions are another metric, marked with their hash. With ``mixed`` they are taken together. Raises
    DataError without launches that have both sides, InputError for a metric that no launch has.
    """
    series = {side: _series(launches, side, mixed) for side in ("offline", "online")}
    for side in ("offline", "online"):
        if not series[side]:
            raise DataError(
                f"no launch has an {side} difference: {'compare' if side == 'offline' else 'experiment'} --record adds some"
            )
    chosen = {side: _chosen(series[side], names, side) for side, names in (("offline", offline), ("online", online))}
    return [_relation(launches, a, b, series) for b in chosen["online"] for a in chosen["offline"]]


def _series(launches: Sequence[Launch], side: Side, mixed: bool) -> dict[str, dict[int, Measurement]]:
    """Return the measurements of each metric by the number of the launch. Under several conventions the hash is part of the name."""
    used = Counter((m.metric, m.conventions) for launch in launches for m in launch.of(side))
    several = {name for name, count in Counter(name for name, _ in used).items() if count > 1} if not mixed else set()
    out: dict[str, dict[int, Measurement]] = {}
    for at, launch in enumerate(launches):
        for m in launch.of(side):
            name = f"{m.metric} [{m.conventions[:8] or 'unknown'}]" if m.metric in several else m.metric
            out.setdefault(name, {})[at] = m
    return out


def _chosen(series: Mapping[str, object], names: Iterable[str], side: str) -> list[str]:
    out = []
    for name in names:
        found = [known for known in series if known == name or known.startswith(f"{name} [")]
        if not found:
            raise InputError(f"{side} metric {name}: no launch has it{words.hint(name, series)}")
        out += found
    return list(dict.fromkeys(out)) or list(series)


def _relation(
    launches: Sequence[Launch], offline: str, online: str, series: Mapping[str, Mapping[str, Mapping[int, Measurement]]]
) -> Relation:
    xs, ys = series["offline"][offline], series["online"][online]
    places = sorted(xs)
    x, y = [xs[i] for i in places], [ys.get(i) for i in places]
    number = float("nan")
    pairs = NoisyPairs(
        np.array([m.gain for m in x]), np.array([m.standard_error**2 for m in x]),
        np.array([number if m is None else m.gain for m in y]), np.array([number if m is None else m.standard_error**2 for m in y]),
        np.array([0.0 if m is None else _joint(a, m) for a, m in zip(x, y, strict=True)]), shared_covariance(x),
        shared_covariance([m for m in y if m is not None]),
    )  # fmt: skip
    mixed = len({m.conventions for m in x}) + len({m.conventions for m in y if m is not None}) - 1
    return Relation(offline, online, [launches[i] for i in places], x, y, max(mixed, 1), pairs)


def _joint(one: Measurement, other: Measurement) -> float:
    """Return the covariance of the errors of two gains of a launch."""
    known = one.covariances.get(other.metric, other.covariances.get(one.metric, 0.0))
    return known if one.better == other.better else -known


# --- the best metric, and weights ------------------------------------------------------------------------


def combination_of(relations: Sequence[Relation]) -> Combination | None:
    """Return the best metric and the weighted combination for one online metric; None with fewer than two offline metrics or too few launches.

    Launches must have all metrics that at least half of the launches have.
    """
    place = [{r.launches[i].name: i for i in np.flatnonzero(r.pairs.both).tolist()} for r in relations]
    most = max((len(one) for one in place), default=0)
    used = [(r, one) for r, one in zip(relations, place, strict=True) if len(one) >= max(COVERED * most, 1)]
    names = [name for name in (used[0][1] if used else {}) if all(name in one for _, one in used)]
    if len(used) < 2 or len(names) < max(len(used) + 2, 10):
        return None
    at = [[one[name] for name in names] for _, one in used]
    metrics = [r.offline for r, _ in used]
    x = np.stack([r.pairs.x[rows] for (r, _), rows in zip(used, at, strict=True)], axis=1)
    joint = np.stack([r.pairs.covariance[rows] for (r, _), rows in zip(used, at, strict=True)], axis=1)
    errors = _error_matrices([[r.x[i] for i in rows] for (r, _), rows in zip(used, at, strict=True)])
    first, rows = used[0][0], at[0]
    y, noise = first.pairs.y[rows], first.pairs.y_variance[rows]
    single, weighted = (
        true_relation(replace(cross_validate(x, errors, y, noise, joint, weigh), y_shared=first.pairs.y_shared))
        for weigh in (_best_single, best_weights)
    )
    weights = dict(zip(metrics, best_weights(x, errors, y, joint).tolist(), strict=True))
    alone = np.flatnonzero(_best_single(x, errors, y, joint))
    covered = all(r.x[i].covariances for (r, _), rows in zip(used, at, strict=True) for i in rows)
    return Combination(first.online, metrics, len(names), metrics[int(alone[0])], single, weighted, weights, covered)


def _error_matrices(columns: Sequence[Sequence[Measurement]]) -> Array:
    """Return the covariance matrix of the errors of each launch; unknown covariances are 0."""
    count, size = len(columns[0]), len(columns)
    out = np.zeros((count, size, size))
    for a in range(size):
        for i, m in enumerate(columns[a]):
            out[i, a, a] = m.standard_error**2
            for b in range(a) if m.covariances else ():
                out[i, a, b] = out[i, b, a] = _joint(m, columns[b][i])
    return out


def _best_single(x: Array, errors: Array, y: Array, joint: Array) -> Array:
    """Return weights that are 0 for all metrics except the one with the largest true correlation."""
    var = np.maximum(x.var(axis=0, ddof=1) - np.einsum("nii->i", errors) / len(x), 0.05 * x.var(axis=0, ddof=1))
    cov = (x - x.mean(axis=0)).T @ (y - y.mean()) / (len(x) - 1) - joint.mean(axis=0)
    at = int(np.argmax(np.abs(cov) / np.sqrt(np.maximum(var, 1e-300))))
    out: Array = np.where(np.arange(x.shape[1]) == at, cov / np.maximum(var, 1e-300), 0.0)
    return out
