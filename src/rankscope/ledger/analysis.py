"""Which offline metric predicts which online one, over the launches of a ledger: pairs of differences, errors of signs, combinations, drift."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.inference.base import Bounds
from rankscope.inference.errors_in_variables import (
    FLOOR,
    REASONS,
    NoisyPairs,
    TrueRelation,
    best_weights,
    cross_validate,
    true_relation,
)
from rankscope.inference.intervals import normal, wilson
from rankscope.ledger.launch import Launch, Measurement
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


def share_of(count: int, of: int) -> tuple[float, Bounds]:
    """Return a share with its Wilson interval; NaN of nothing."""
    if not of:
        return math.nan, Bounds.none("no such launch")
    return count / of, wilson().of_share(of, count / of)


@dataclass(frozen=True, eq=False)
class Relation:
    """An offline and an online metric over launches: ``pairs`` of gains, and what they say of the ``true`` ones.

    ``x`` and ``y`` hold the measurements, one per launch that has the offline metric (None in ``y`` without an online result).
    """

    offline: str
    online: str
    launches: Sequence[Launch]
    x: Sequence[Measurement]
    y: Sequence[Measurement | None]
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
    def mixed(self) -> int:
        """The number of conventions that are taken together."""
        return max(len({m.conventions for m in self.x}) + len({m.conventions for m in self.y if m is not None}) - 1, 1)

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
        return share_of(int((self.pairs.x * self.pairs.y > 0).sum()), self.count)

    @cached_property
    def rates(self) -> Rates:
        """Type I, II and III errors of the offline metric."""
        z, p = normal(0.025), self.pairs
        clear_x, clear_y = np.abs(p.x) > z * np.sqrt(p.x_variance), np.abs(p.y) > z * np.sqrt(p.y_variance)
        unchanged = (
            NULL_TAG in launch.tags or (m is not None and m.verdict in NULL)
            for launch, m in zip(self.launches, self.y, strict=True)
        )
        null = np.fromiter(unchanged, bool)
        decided = clear_y & ~null
        wrong = decided & clear_x & (p.x * p.y < 0)
        return Rates(*(int(np.sum(which)) for which in (null, null & clear_x, decided, decided & ~clear_x, wrong)))

    @property
    def baseline_value(self) -> float | None:
        """The mean value of the online baselines; None if some are unknown."""
        values = [m.baseline_value for m in self.y if m is not None]
        return None if not values or None in values else float(np.mean(values))  # type: ignore[arg-type]

    @property
    def period(self) -> str:
        """The days of the first and the last launch."""
        return f"{self.launches[0].day} to {self.launches[-1].day}"

    @cached_property
    def periods(self) -> list[Relation]:
        """The relation in periods with equal numbers of launches. Empty if launches are few or without days."""
        return self._parts(PERIODS)

    @cached_property
    def change(self) -> tuple[float, Bounds] | None:
        """The slope in the late half less the early half, with its interval; None if either is unknown."""
        halves = [part.true for part in self._parts(2)]
        if not halves or not all(half.known for half in halves):
            return None
        early, late = halves
        value = late.slope()[0] - early.slope()[0]
        reach = normal(0.025) * math.hypot(early.slope_error, late.slope_error)
        return value, Bounds(value - reach, value + reach, "delta")

    def _parts(self, most: int) -> list[Relation]:
        """The relation in at most ``most`` periods of launches with a day; empty if there are not enough for two."""
        order = np.array([i for i in np.flatnonzero(self.pairs.both).tolist() if self.launches[i].day is not None], int)
        number = min(most, len(order) // EACH)
        return [
            replace(
                self, launches=[self.launches[i] for i in part], x=[self.x[i] for i in part], y=[self.y[i] for i in part],
                pairs=self.pairs.take(part),
            )
            for part in (np.array_split(order, number) if number > 1 else ())
        ]  # fmt: skip


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


# --- from launches to pairs ------------------------------------------------------------------------------


def relations_of(
    launches: Sequence[Launch], offline: Iterable[str] = (), online: Iterable[str] = (), *, mixed: bool = False
) -> list[Relation]:
    """Return every offline metric against every online one, or those that are named.

    Differences under other conventions are another metric, marked with their hash. With ``mixed`` they are taken together. Raises
    DataError without launches that have both sides, InputError for a metric that no launch has.
    """
    series: dict[str, dict[str, dict[int, Measurement]]] = {}
    chosen: dict[str, list[str]] = {}
    for side, names, verb in (("offline", offline, "compare"), ("online", online, "experiment")):
        if not (found := _series(launches, side, mixed)):
            raise DataError(f"no launch has an {side} difference: {verb} --record adds some")
        series[side], chosen[side] = found, _chosen(found, names, side)
    return [
        _relation(launches, a, b, series["offline"][a], series["online"][b])
        for b in chosen["online"] for a in chosen["offline"]
    ]  # fmt: skip


def _series(launches: Sequence[Launch], side: str, mixed: bool) -> dict[str, dict[int, Measurement]]:
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
    launches: Sequence[Launch], offline: str, online: str, xs: Mapping[int, Measurement], ys: Mapping[int, Measurement]
) -> Relation:
    x, y = list(xs.values()), [ys.get(i) for i in xs]
    joint = np.array([0.0 if m is None else _joint(a, m) for a, m in zip(x, y, strict=True)])
    shared = (shared_covariance([m for m in side if m is not None]) for side in (x, y))
    pairs = NoisyPairs(*_gains(x), *_gains(y), joint, *shared)
    return Relation(offline, online, [launches[i] for i in xs], x, y, pairs)


def _gains(measurements: Sequence[Measurement | None]) -> tuple[Array, Array]:
    """Return gains and the variances of their errors, NaN for a missing one."""
    gains, variances = np.array(
        [(math.nan,) * 2 if m is None else (m.gain, m.standard_error**2) for m in measurements]
    ).T.copy()
    return gains, variances


def _joint(one: Measurement, other: Measurement) -> float:
    """Return the covariance of the errors of two gains of a launch."""
    known = one.covariances.get(other.metric, other.covariances.get(one.metric, 0.0))
    return known if one.better == other.better else -known


# --- the best metric, and weights ------------------------------------------------------------------------


def combination_of(relations: Sequence[Relation]) -> Combination | None:
    """Return the best metric and the weighted combination for one online metric; None with fewer than two offline metrics or too few launches.

    Launches must have all metrics that at least half of the launches have.
    """
    places = [(r, {r.launches[i].name: i for i in np.flatnonzero(r.pairs.both).tolist()}) for r in relations]
    most = max(len(at) for _, at in places)
    used = [(r, at) for r, at in places if len(at) >= max(COVERED * most, 1)]
    names = [name for name in (used[0][1] if used else {}) if all(name in at for _, at in used)]
    if len(used) < 2 or len(names) < max(len(used) + 2, 10):
        return None
    columns = [(r, [at[name] for name in names]) for r, at in used]
    measured = [[r.x[i] for i in rows] for r, rows in columns]
    x, joint = (
        np.stack([of(r.pairs)[rows] for r, rows in columns], axis=1) for of in (attrgetter("x"), attrgetter("covariance"))
    )  # fmt: skip
    errors, (first, rows), metrics = _error_matrices(measured), columns[0], [r.offline for r, _ in columns]
    y, noise = first.pairs.y[rows], first.pairs.y_variance[rows]
    single, weighted = (
        true_relation(replace(cross_validate(x, errors, y, noise, joint, weigh), y_shared=first.pairs.y_shared))
        for weigh in (_best_single, best_weights)
    )
    weights = dict(zip(metrics, best_weights(x, errors, y, joint).tolist(), strict=True))
    chosen = metrics[int(np.flatnonzero(_best_single(x, errors, y, joint))[0])]
    covered = all(m.covariances for column in measured for m in column)
    return Combination(first.online, metrics, len(names), chosen, single, weighted, weights, covered)


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
    seen = x.var(axis=0, ddof=1)
    var = np.maximum(seen - np.einsum("nii->i", errors) / len(x), FLOOR * seen)
    cov = (x - x.mean(axis=0)).T @ (y - y.mean()) / (len(x) - 1) - joint.mean(axis=0)
    best = np.argmax(np.abs(cov) / np.sqrt(np.maximum(var, 1e-300)))
    out: Array = np.where(np.arange(len(cov)) == best, cov / np.maximum(var, 1e-300), 0.0)
    return out
