"""Logs of simulated users: one row per shown item, one row per user, and the true effect of each variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import polars as pl

from rankscope.behaviour.policies import TINY, Fixed
from rankscope.impressions import Log
from rankscope.lists import Array
from rankscope.logs.base import OnlineMetric
from rankscope.logs.rollup import roll_up
from rankscope.worlds.events import PART, Arm, Behaviour, Events, Visits, made_visits
from rankscope.worlds.world import stream

BEFORE = ("sessions_before", "impressions_before", "clicks_before", "revenue_before")
AT_ONCE = 64  # parts whose users are summed up at once


@dataclass(frozen=True, eq=False)
class Scenario:
    """The ``arms`` of a simulation and the ``shares`` of users or lists in each. ``by_user`` assigns users, as in an experiment."""

    behaviour: Behaviour
    arms: Sequence[Arm]
    shares: Sequence[float]
    by_user: bool

    def arm_of(self, visits: Visits, part: int) -> Array:
        """The arm of each list."""
        bounds = np.cumsum(self.shares)[:-1]
        seed = self.behaviour.world.seed
        if self.by_user:
            users = np.searchsorted(bounds, stream(seed, "variants", part=part).random(PART), side="right")
            return users[visits.user[visits.visit]]
        return np.searchsorted(bounds, stream(seed, "policies", part=part).random(len(visits.visit)), side="right")


def play(scenario: Scenario) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the log of a scenario, one row per shown item in order of time, and its users, one row per user."""
    both = [(units, _rows(scenario, visits, events, units)) for units, visits, events in _parts(scenario)]
    units, logs = zip(*both, strict=True)
    return pl.concat(logs).sort("timestamp", maintain_order=True), pl.concat(units)


def played_units(scenario: Scenario) -> pl.DataFrame:
    """Return only the users of a scenario, for millions of users."""
    return pl.concat(units for units, _, _ in _parts(scenario))


def _parts(scenario: Scenario) -> Iterator[tuple[pl.DataFrame, Visits, Events]]:
    """Some users at a time: their sums, their visits and their events."""
    world = scenario.behaviour.world
    for part in range(-(-world.users // PART)):
        visits = made_visits(world, scenario.behaviour.candidates, part)
        arm = scenario.arm_of(visits, part)
        events = scenario.behaviour.events(visits, scenario.arms, arm)
        users = min(PART, world.users - part * PART)
        numbers = pl.Series(np.arange(visits.first + 1, visits.first + users + 1)).cast(pl.String)
        units = pl.DataFrame({"unit_id": "u" + numbers, **_sums_of_users(events, users)})
        if scenario.by_user:
            variant = np.zeros(PART, dtype=int)
            variant[visits.user[visits.visit]] = arm
            units = units.with_columns(variant=_names(scenario.arms, variant[:users]))
            units = units.select("unit_id", "variant", pl.exclude("unit_id", "variant"))
        if world.before:
            units = units.hstack(_sums_before(scenario, part, users))
        yield units, visits, events


# --- rows and users -----------------------------------------------------------------------------------------------


def _names(arms: Sequence[Arm], codes: Array) -> pl.Series:
    return pl.Series([arm.name for arm in arms]).gather(pl.Series(codes))


def _times(seconds: Array, start: datetime) -> pl.Series:
    begin = int((start - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    return pl.Series((seconds * 1000).round().astype(np.int64) + begin * 1000).cast(pl.Datetime("ms", "UTC"))


def _rows(scenario: Scenario, visits: Visits, events: Events, units: pl.DataFrame) -> pl.DataFrame:
    """The rows of some users' lists."""
    candidates, world = scenario.behaviour.candidates, scenario.behaviour.world
    ours = events.user < len(units)
    row, place = np.nonzero((events.order >= 0) & ours[:, None])
    query, order = visits.query[events.lists], events.order
    turn = visits.turn[events.lists]
    lists = pl.DataFrame({
        "unit_id": units["unit_id"].gather(pl.Series(np.minimum(events.user, len(units) - 1))),
        "number": visits.number[events.visit] + 1,
        "turn": turn + 1,
        "query_id": candidates.queries.gather(pl.Series(query)),
        "timestamp": _times(events.time, world.begins),
    }).with_columns(session_id=pl.concat_str("unit_id", "number", separator="."))  # fmt: skip
    lists = lists.with_columns(impression_id=pl.concat_str("session_id", "turn", separator="."))
    out = lists.select("unit_id", "session_id", "impression_id", "query_id", "timestamp")[row]
    item = order[row, place]
    flat = query[row] * candidates.labels.shape[1] + item
    out = out.with_columns(
        candidates.items.gather(pl.Series(flat)).alias("item_id"),
        pl.Series("position", (place + 1).astype(np.int16)),
        pl.Series("examined", events.examined[row, place].astype(np.int8)),
        pl.Series("click", events.click[row, place].astype(np.int8)),
        pl.Series("dwell_s", events.dwell[row, place]).fill_nan(None),
        pl.Series("conversion", events.conversion[row, place].astype(np.int8)),
        pl.Series("revenue", events.revenue[row, place]),
        pl.Series("label", candidates.labels.ravel()[flat]),
    )
    arm = _names(scenario.arms, events.arm[row])
    if len(scenario.arms) > 1 or not scenario.by_user:
        out = out.with_columns(arm.alias("variant" if scenario.by_user else "logger_id"))
    if any(one.rival is not None or not isinstance(one.policy, Fixed) for one in scenario.arms):  # lists made by chance
        out = out.with_columns(_chances(scenario, events, query, row, place))
    if any(one.rival is not None for one in scenario.arms):
        out = out.with_columns(_teams(scenario, events, query, row, place))
    return out


def _chances(scenario: Scenario, events: Events, query: Array, row: Array, place: Array) -> list[pl.Series]:
    chances = np.ones(events.order.shape)
    for number, arm in enumerate(scenario.arms):
        lists = np.flatnonzero(events.arm == number)
        order = events.order[lists]
        of_arm = np.maximum(arm.chances[query[lists, None], order, np.arange(order.shape[1])], TINY)
        chances[lists] = np.where(order >= 0, of_arm, 1.0)  # 1 past the end of a list
    prefix = events.prefix[row]
    down_to = prefix[np.arange(len(row)), place]
    columns = {"p_item_pos": chances[row, place], "p_prefix": down_to, "p_slate": prefix[:, -1]}
    return [pl.Series(name, values) for name, values in columns.items()]


def _teams(scenario: Scenario, events: Events, query: Array, row: Array, place: Array) -> list[pl.Series]:
    """The ranker of each item, and its rank in both rankings, null if a ranking does not have it."""
    ranks = {"rank_a": np.zeros(len(row)), "rank_b": np.zeros(len(row))}
    item, of = events.order[row, place], events.arm[row]
    for number, arm in enumerate(scenario.arms):
        if arm.rival is None:
            continue
        ours = np.flatnonzero(of == number)
        for name, scores in zip(ranks, (arm.scores, arm.rival), strict=True):
            table = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) + 1.0
            table[np.isneginf(scores)] = np.nan
            ranks[name][ours] = table[query[row[ours]], item[ours]]
    team = pl.Series("team", events.team[row, place]).replace_strict({-1: None, 0: "a", 1: "b"}, return_dtype=pl.String)
    columns = [pl.Series(name, values).fill_nan(None).cast(pl.Int32) for name, values in ranks.items()]
    return [team, *columns, pl.Series("merge_method", ["TeamDraft"] * len(row))]


def _sums_of_users(events: Events, users: int) -> dict[str, Array]:
    """The sums of each of the first users."""

    def total(values: Array | None, user: Array = events.user) -> Array:
        return np.bincount(user, values, minlength=PART)[:users]

    counts = {
        "sessions": total(None, events.user[np.unique(events.visit, return_index=True)[1]]),
        "lists": total(None),
        "impressions": total((events.order >= 0).sum(axis=1)),
        "clicks": total(events.click.sum(axis=1)),
        "orders": total(events.conversion.sum(axis=1)),
    }
    whole = {name: values.astype(np.int64) for name, values in counts.items()}
    return {**whole, "revenue": total(events.revenue.sum(axis=1)).round(2)}


def _sums_before(scenario: Scenario, part: int, users: int) -> pl.DataFrame:
    """The sums of the same users in the days before the start, if all were shown the first arm and all stayed."""
    behaviour = scenario.behaviour
    days = behaviour.world.before
    visits = made_visits(behaviour.world, behaviour.candidates, part, "before", days)
    events = behaviour.events(visits, scenario.arms, np.zeros(len(visits.visit), dtype=int), stay=True, days=days)
    sums = _sums_of_users(events, users)
    return pl.DataFrame({name: sums[name.removesuffix("_before")] for name in BEFORE})


# --- the truth ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effect:
    """The true effect of an arm: its ``value`` of a metric and the baseline's, with the standard ``error`` of the difference."""

    metric: OnlineMetric
    arm: str
    baseline: str
    value: float
    baseline_value: float
    error: float

    @property
    def difference(self) -> float:
        """The value less the baseline's."""
        return self.value - self.baseline_value


def true_effects(scenario: Scenario, metrics: Sequence[OnlineMetric], users: int) -> list[Effect]:
    """The true effect of each arm against the first: the same further users, in the same mood, meet every arm."""
    sums = [np.concatenate(batch, axis=2) for batch in zip(*_sums_of_arms(scenario, metrics, users), strict=True)]
    base = sums[0]
    out = []
    for arm, these in zip(scenario.arms[1:], sums[1:], strict=True):
        for i, metric in enumerate(metrics):
            (value, moved), (usual, was) = _ratio(these[i]), _ratio(base[i])
            error = float(np.std(moved - was, ddof=1) / np.sqrt(len(moved))) if len(moved) > 1 else float("nan")
            out.append(Effect(metric, arm.name, scenario.arms[0].name, value, usual, error))
    return out


def _ratio(sums: Array) -> tuple[float, Array]:
    """A ratio of sums, and the contribution of each user to its error."""
    above, below = sums
    value = float(above.sum() / below.sum()) if below.sum() else float("nan")
    return value, (above - value * below) / below.mean()


def _sums_of_arms(scenario: Scenario, metrics: Sequence[OnlineMetric], users: int) -> Iterator[list[Array]]:
    """The numerators and denominators of some users under each arm: metrics x 2 x users."""
    behaviour = scenario.behaviour
    parts = -(-users // PART)
    for first in range(0, parts, AT_ONCE):
        frames: list[list[pl.DataFrame]] = [[] for _ in scenario.arms]
        for part in range(first, min(first + AT_ONCE, parts)):
            visits = made_visits(behaviour.world, behaviour.candidates, part, "truth")
            for number, into in enumerate(frames):
                events = behaviour.events(visits, scenario.arms, np.full(len(visits.visit), number))
                into.append(_lean(events, visits, part, users, behaviour.world.begins))
        yield [_sums(pl.concat(some), metrics) for some in frames]


def _lean(events: Events, visits: Visits, part: int, users: int, start: datetime) -> pl.DataFrame:
    """The columns that metrics need, with numbers for ids."""
    row, place = np.nonzero((events.order >= 0) & (events.user + visits.first < users)[:, None])
    ids = np.int64(part) << 32
    columns = {
        "unit_id": events.user[row] + visits.first,
        "session_id": events.visit[row] + ids,
        "impression_id": events.lists[row] + ids,
        "query_id": visits.query[events.lists][row],
        "timestamp": _times(events.time, start).gather(pl.Series(row)),
        "position": place + 1,
        "click": events.click[row, place].astype(float),
        "conversion": events.conversion[row, place],
        "revenue": events.revenue[row, place],
    }
    return pl.DataFrame(columns).with_columns(pl.Series("dwell_s", events.dwell[row, place]).fill_nan(None))


def _sums(frame: pl.DataFrame, metrics: Sequence[OnlineMetric]) -> Array:
    units = roll_up(Log(frame.lazy(), {name: name for name in frame.columns}), metrics, ids=True)
    assert units.ids is not None
    order = np.argsort(units.ids.to_numpy())
    return np.stack([units.numerators, units.denominators], axis=1)[:, :, order]


def design_effect(clicks: Array, impressions: Array, groups: Array) -> float:
    """How much larger the variance of a click-through rate is than if rows were independent. Users are the clusters.

    ``groups`` are the variants of the users, each with its own rate. NaN where nothing can be said.

    >>> design_effect(np.array([2.0, 0.0, 2.0, 0.0]), np.array([2.0, 2.0, 2.0, 2.0]), np.zeros(4))
    2.6666666666666665
    """
    clustered = rows = 0.0
    for group in np.unique(groups):
        above, below = clicks[groups == group], impressions[groups == group]
        if len(below) < 2 or not below.sum():
            continue
        rate = above.sum() / below.sum()
        clustered += float(((above - rate * below) ** 2).sum() * len(below) / (len(below) - 1))
        rows += float(below.sum() * rate * (1 - rate))
    return clustered / rows if rows else float("nan")


def counts_by_position(log: pl.DataFrame) -> list[SimpleNamespace]:
    """Count the items ``shown``, ``examined`` and clicked at each position."""
    examined, clicks = pl.col("examined").cast(pl.Int64).sum(), pl.col("click").cast(pl.Int64).sum().alias("clicks")
    counts = log.group_by("position").agg(pl.len().alias("shown"), examined, clicks)
    return _with_rate(counts.sort("position"), "shown")


def counts_by_arm(log: pl.DataFrame) -> list[SimpleNamespace]:
    """Count the users, lists, rows and clicks of each variant or policy. Empty for a single unnamed one."""
    column = next((name for name in ("variant", "logger_id") if name in log.columns), None)
    if column is None:
        return []
    users, lists = pl.col("unit_id").n_unique().alias("users"), pl.col("impression_id").n_unique().alias("lists")
    clicks = pl.col("click").cast(pl.Int64).sum().alias("clicks")
    arms = log.group_by(pl.col(column).alias("name"))
    return _with_rate(arms.agg(users, lists, pl.len().alias("rows"), clicks), "rows")


def _with_rate(counts: pl.DataFrame, of: str) -> list[SimpleNamespace]:
    """The rows of counts, with the click-through rate ``ctr``."""
    return [
        SimpleNamespace(**row) for row in counts.with_columns(ctr=pl.col("clicks") / pl.col(of)).iter_rows(named=True)
    ]
