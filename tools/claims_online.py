"""Claims about variants of an experiment: what ``experiment`` says of users whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import polars as pl

import rankscope as rs
from claims import Claim
from rankscope.inference.effects import relative_of_own
from rankscope.inference.sequences import group_sequential
from rankscope.lists import Array
from rankscope.panels.contrast import Contrast, contrast
from rankscope.panels.method import method_of
from rankscope.panels.ratios import panel_of
from rankscope.panels.samples import Measure

METHOD = method_of()
Users = Callable[[np.random.Generator, int], Array]


def everyone(deviation: float, rng: np.random.Generator, n: int) -> Array:
    """Log-normal revenue of all users."""
    return np.column_stack([np.exp(deviation * rng.normal(size=n)), np.ones(n)])


def buyers(rng: np.random.Generator, n: int, share: float = 0.05) -> Array:
    """One user in twenty buys."""
    return np.column_stack([rng.random(n) < share, np.ones(n)]).astype(float)


def gammas(rng: np.random.Generator, n: int) -> Array:
    """A gamma amount of each user, with a variance of two squared means."""
    return np.column_stack([rng.gamma(0.5, 2, n), np.ones(n)])


def revenue(rng: np.random.Generator, n: int) -> Array:
    """One user in twenty buys, for a log-normal amount."""
    return np.column_stack([(rng.random(n) < 0.05) * np.exp(rng.normal(size=n)), np.ones(n)])


def clicks(rng: np.random.Generator, n: int) -> Array:
    """Clicks of impressions, log-normal numbers of them, at a rate of each user."""
    shown = np.ceil(np.exp(1.5 + rng.normal(size=n)))
    return np.column_stack([rng.binomial(shown.astype(int), rng.beta(2, 8, n)), shown]).astype(float)


def of_two(base: Array, other: Array, **more: Any) -> Contrast:
    """A variant against the baseline."""
    return contrast(panel_of(Measure("m", unit="user"), {"A": base, "B": other}), "B", "A", method_of(**more))


def alarm(users: Users, sizes: tuple[int, int], rng: np.random.Generator) -> bool:
    """A false difference of two variants with the same users."""
    return of_two(users(rng, sizes[0]), users(rng, sizes[1])).p_value <= METHOD.alpha


PILOT = 4000


def planned(users: Users, lift: float, rng: np.random.Generator) -> bool:
    """A lift is found by as many users as the plan from a pilot asks for."""
    pilot = users(rng, PILOT)
    table = pl.DataFrame({"user": np.arange(PILOT), "y": pilot[:, 0], "n": pilot[:, 1]})
    plan: Any = rs.power(table, metrics="Ratio(y, n)" if np.ptp(pilot[:, 1]) else "Mean(y)", lift=lift)
    (target,) = plan.reaches[0].targets
    n = target.units // 2
    more = [1 + lift, 1.0]
    other = buyers(rng, n, 0.05 * more[0]) if users is buyers else users(rng, n) * more
    c = of_two(users(rng, n), other)
    return c.p_value <= METHOD.alpha and c.difference > 0


def adding(shares: bool, rng: np.random.Generator) -> bool:
    """A false difference at any of five daily looks, while users come back and add to a mean; the looks are at shares of users, or of days."""
    n = 400
    rate, first, variant = rng.gamma(0.7, 1, n), rng.integers(0, 5, n), rng.permutation(n) % 2
    seen = np.array([(first <= day) * rng.poisson(rate) for day in range(5)])
    known = np.array([first <= day for day in range(5)])
    for look in range(1, 6):
        inside = known[look - 1]
        own = np.column_stack([seen[:look].sum(axis=0)[inside], np.ones(inside.sum())])
        parts = tuple(known[:look].mean(axis=1).tolist()) if shares else None
        said = f"group_sequential(look={look}, looks=5, adding=True" + (f", shares={parts})" if parts else ")")
        if of_two(own[variant[inside] == 0], own[variant[inside] == 1], test=said).p_value <= METHOD.alpha:
            return True
    return False


def lift_at_looks(rng: np.random.Generator) -> bool:
    """The interval of the lift holds it at each of five looks."""
    base, other = (np.column_stack([rng.gamma(0.5, 2, 500), np.ones(500)]) for _ in "AB")
    for look in range(1, 6):
        pair = panel_of(Measure("m"), {"A": base[: 100 * look], "B": other[: 100 * look] * [1.2, 1.0]}).pair_of_means(
            "B", "A"
        )
        paid = group_sequential(look=look, looks=5)
        bounds = relative_of_own(pair.run_sample, pair.baseline_sample, 0.95, paid, pair.means)[1]
        if bounds.known and not bounds.lower <= 0.2 <= bounds.upper:
            return False
    return True


def grouped(n: int, how: str, rng: np.random.Generator) -> bool | None:
    """A false difference of two variants that were given to households of unequal size, whose users are alike."""
    home = np.repeat(np.arange(n), np.ceil(np.exp(0.7 * rng.normal(size=n))).astype(int))
    part = rng.permutation(n) % 2 if how == "1:1" else (rng.permutation(n) % 10 == 0).astype(int)
    y = rng.normal(size=n)[home] + rng.normal(size=len(home))
    table = {"user": np.arange(len(home)), "home": home, "variant": np.where(part[home] == 1, "B", "A"), "y": y}
    split = None if how == "1:1" else {"A": 0.9, "B": 0.1}
    found = rs.experiment(pl.DataFrame(table), "Mean(y)", clusters="home", split=split)
    return found.contrasts[0].significant if found.validity.holds else None


def small_loses(users: Users, rng: np.random.Generator) -> bool:
    """A small variant with a lift of 50% is called worse."""
    other = users(rng, 100) * [1.5, 1.0]
    c = of_two(users(rng, 900), other)
    return c.p_value <= METHOD.alpha and c.difference < 0


def lift_held(n: int, lift: float, rng: np.random.Generator) -> bool | None:
    """The interval of the lift holds it; without an end it does."""
    bounds = of_two(buyers(rng, n), buyers(rng, n, 0.05 * (1 + lift))).relative[1]
    return not bounds.known or bounds.lower <= lift <= bounds.upper


def within(share: float, rng: np.random.Generator) -> bool:
    """A lift of the whole margin is called practically the same."""
    base, other = (np.column_stack([rng.normal(3, 1, 60), np.ones(60)]) for _ in "AB")
    found = of_two(base, other * [1 + share, 1.0], margin=f"{100 * share:g}%").equivalence
    return found is not None and found.p_value <= METHOD.alpha


def depends(slices: int, rng: np.random.Generator) -> bool | None:
    """A false sign that the difference of a ratio depends on a column; None if there is no test."""
    users = clicks(rng, 200 * slices)
    table = pl.DataFrame({
        "user": np.arange(len(users)), "variant": np.where(np.arange(len(users)) % 2, "B", "A"), "clicks": users[:, 0], "shown": users[:, 1],
        "city": [f"c{i // 2 % slices}" for i in range(len(users))],
    })  # fmt: skip
    found = rs.experiment(table, "Ratio(clicks, shown)", slices="city").heterogeneity
    return found[0].significant if found else None


def changes(times: float, rng: np.random.Generator) -> bool:
    """A false change of a constant lift of 30% where all users do more, or less, late."""
    n = 300
    rate, variant = rng.gamma(2, 0.25, n), rng.permutation(n) % 2
    days = [rng.poisson(rate * (times if day >= 3 else 1) * (1 + 0.3 * variant)) for day in range(6)]
    table = pl.DataFrame({
        "user": np.tile(np.arange(n), 6), "variant": np.tile(np.where(variant, "B", "A"), 6), "y": np.concatenate(days),
        "timestamp": np.repeat([f"2024-05-0{day + 1}T10:00:00" for day in range(6)], n),
    })  # fmt: skip
    days_found = rs.experiment(table, "Mean(y)", by="day").days
    return days_found is not None and days_found.changes[0].verdict != "cannot tell"


def split_alarm(rng: np.random.Generator) -> bool:
    """A false alarm about the split at any of 30 daily looks, by the check that a test for looks has."""
    from rankscope.inference import effects

    p_value = getattr(effects, "split_p_value_at_looks", effects.split_p_value)
    counts = np.cumsum(rng.multinomial(1000, [0.5, 0.5], 30), axis=0)
    return any(p_value(row, np.array([0.5, 0.5])) < 0.001 for row in counts)


def false_sentence(rng: np.random.Generator) -> bool:
    """Any false sentence of a report without a difference: the primary metric, others, slices and days."""
    n = 400
    variant, city = rng.permutation(n) % 2, rng.integers(0, 3, n)
    names = [f"m{i}" for i in range(4)]
    table = pl.DataFrame({
        "user": np.tile(np.arange(n), 4), "variant": np.tile(np.where(variant, "B", "A"), 4), "city": np.tile(city, 4).astype(str),
        "timestamp": np.repeat([f"2024-05-0{day + 1}T10:00:00" for day in range(4)], n),
        **{name: rng.gamma(2, 1, 4 * n) for name in names},
    })  # fmt: skip
    found = rs.experiment(table, [f"Mean({name})" for name in names], by="day", slices="city")
    assert found.days is not None
    told = [c.verdict in {"better", "worse"} for family in found.families for c in family.contrasts]
    told += [test.significant for test in found.heterogeneity]
    return any(told) or any(change.verdict != "cannot tell" for change in found.days.changes)


def _claims() -> Iterator[Claim]:
    worlds: dict[str, Users] = {
        "log-normal, deviation 1.5": partial(everyone, 1.5), "log-normal, deviation 2": partial(everyone, 2.0),
        "5% buyers": buyers, "revenue of 5% buyers": revenue,
    }  # fmt: skip
    row = "experiment: false difference"
    for name, users in worlds.items():
        yield Claim(
            row, f"{name}, 900 and 100 users", "at most 5", 0, 5.7, partial(alarm, users, (900, 100)), 2000, few=12
        )
        yield Claim(row, f"{name}, 100 and 100 users", "at most 5", 0, 5.7, partial(alarm, users, (100, 100)), 4000)
    for name, users in worlds.items():
        loses = partial(small_loses, users)
        yield Claim(
            "experiment: worse at a lift of 50%",
            f"{name}, 900 and 100 users",
            "at most 2.5",
            0,
            3.2,
            loses,
            1000,
            few=12,
        )
    for n in (30, 100, 300):
        ratio, samples = partial(alarm, clicks, (n, n)), 4000 if n == 30 else 6000
        yield Claim("ratio of unequal users: false difference", f"n = {n}", "5", 4.3, 5.7, ratio, samples)
    for n in (100, 300, 1000):
        for lift in (0.0, 0.5):
            held = partial(lift_held, n, lift)
            yield Claim(
                "interval of the lift holds it", f"5% buyers, lift {lift:.0%}, n = {n}", "95 to 98", 94, 98, held, 2000
            )
    for count, how in ((60, "1:1"), (300, "9:1")):
        cell, trial, samples = f"{count} households, {how}", partial(grouped, count, how), 1500 if count == 60 else 3000
        yield Claim("clusters of users: false difference", cell, "5", 0, 5.7, trial, samples, few=20)
    sizes = partial(alarm, clicks, (900, 100))
    yield Claim("ratio of unequal users: false difference", "n = 900 and 100", "5", 0, 5.7, sizes, 2000, few=12)
    plans = {
        "gamma, 10%": (gammas, 0.1, 2000),
        "gamma, 50%": (gammas, 0.5, 4000),
        "5% buyers, 50%": (buyers, 0.5, 4000),
        "ratio, 20%": (clicks, 0.2, 4000),
    }
    for cell, (users, lift, samples) in plans.items():
        yield Claim("lift planned for: found", cell, "80", 77, 83, partial(planned, users, lift), samples, few=40)
    for shares in (False, True):
        cell = f"5 looks, shares of {'users' if shares else 'days'}"
        yield Claim(
            "users keep adding: false difference at any look",
            cell,
            "at most 5",
            0,
            5.7,
            partial(adding, shares),
            4000,
            few=40,
        )
    cell = "gamma, lift 20%"
    yield Claim("interval of the lift holds it at each of 5 looks", cell, "95", 94, 98, lift_at_looks, 3000, few=40)
    for share in (0.2, 0.5):
        same = partial(within, share)
        yield Claim(
            "lift of the margin called practically the same", f"margin {share:.0%}, n = 60", "5", 0, 5.7, same, 4000
        )
    for slices in (10, 20):
        apart = partial(depends, slices)
        yield Claim(
            "difference of a ratio depends on slices",
            f"{slices} slices, n = 100 each",
            "5",
            0,
            5.7,
            apart,
            1000 if slices == 10 else 3500,
            few=12,
        )
    for times in (1.6, 0.5):
        late = partial(changes, times)
        yield Claim("constant lift changes over days", f"baseline times {times} late", "5", 0, 5.7, late, 1500, few=12)
    yield Claim("30 looks at the split: alarm", "1,000 users a day", "at most 0.1", 0, 0.2, split_alarm, 2000)
    yield Claim(
        "report without a difference: any false sentence",
        "4 metrics, slices, days",
        "at most 15",
        0,
        15,
        false_sentence,
        1000,
        few=12,
    )


CLAIMS = tuple(_claims())
