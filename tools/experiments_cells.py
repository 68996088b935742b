"""What is measured of experiments: how often intervals hold the truth, and how often tests find a difference that is not there, or one that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

import experiments_batched as many
import rankscope as rs
from calibrate_scores import Rate
from experiments_worlds import KINDS, PLANNED, World, generator, world
from rankscope.inference.sequential import critical
from rankscope.lists import Array

Row = tuple[str, ...]
SIZES = (100, 300, 1000, 10_000)
AT_ONCE = 2_000_000  # users drawn at once
PLANS = ((0.2, 0.4, 0.6, 0.8, 1.0), (0.05, 0.1, 0.2, 0.5, 1.0), (0.5, 0.6, 0.7, 0.9, 1.0))
SPLITS = ((1, 1), (9, 1))  # of the baseline and the other variant


@dataclass(frozen=True)
class Size:
    """How many experiments a run simulates: ``logs`` from whole logs, ``tries`` of users drawn, ``looked`` that are looked at often."""

    logs: int = 5000
    tries: int = 3000
    looked: int = 2000
    planned: int = 4000
    power: int = 4000


QUICK = Size(logs=100, tries=200, looked=100, planned=100, power=200)


def batches(times: int, users: int) -> Iterator[int]:
    """So many experiments, some at a time."""
    most = max(AT_ONCE // users, 1)
    while times > 0:
        yield min(most, times)
        times -= most


def rate(hits: list[Array]) -> Rate:
    """How often something happened, over batches of experiments."""
    return Rate.of(np.concatenate(hits))


def contrasts(table: Array, baseline: Array) -> many.Contrasts:
    """The differences of two variants' users."""
    return many.contrasts_of(*many.values_of([many.Side.of(table), many.Side.of(baseline)]))


def both(variants: Iterable[many.Side]) -> tuple[many.Contrasts, many.Lifts]:
    """The differences and the lifts of two variants."""
    values = many.values_of(list(variants))
    return many.contrasts_of(*values), many.lifts_of(*values)


def bare(found: Rate) -> str:
    """A rate without its error."""
    return f"{100 * found.rate:.1f}"


# --- one look ------------------------------------------------------------------------------------


def coverage(size: Size) -> Iterator[Row]:
    """How often 95% intervals hold the true difference and the true lift, and how often the users are said to be too few."""
    for name in KINDS:
        for users in SIZES:
            found = [covered(world(name), users, lifted, size) for lifted in (False, True)]
            cells = [", ".join(bare(rates[column]) for rates in found) for column in range(4)]
            yield name, f"{users:,}", *cells, f"{100 * found[0][4].rate:.0f}"


def covered(people: World, users: int, lifted: bool, size: Size) -> list[Rate]:
    """Of the difference, the difference with a covariate, the lift, the lift with a covariate; and the share of warnings."""
    difference, lift = people.truth(lifted=lifted)
    rng = generator("coverage", people.name, users, lifted)
    hits: list[list[Array]] = [[], [], [], [], []]
    times = size.tries if users < SIZES[-1] else size.tries // 3
    for some in batches(times, 2 * users):
        one, other = people.draw(rng, some, users, lifted=lifted), people.draw(rng, some, users)
        whole = [many.Side.of(table) for table in (one, other)]
        (plain, plain_lift), (adjusted, adjusted_lift) = both(side.plain for side in whole), both(whole)
        found = (
            plain.holds(difference), adjusted.holds(difference), plain_lift.holds(lift), adjusted_lift.holds(lift),
            many.skewness(one, other) > 1,
        )  # fmt: skip
        for into, these in zip(hits, found, strict=True):
            into.append(these)
    return [rate(these) for these in hits]


def adjustments(size: Size) -> Iterator[Row]:
    """How often tests at 5% find a difference where there is none: plain, and adjusted in each way."""
    for name in KINDS:
        for users in (50, *SIZES[:2]):
            yield name, f"{users:,}", *map(str, false_alarms(world(name), users, size))


def false_alarms(people: World, users: int, size: Size) -> list[Rate]:
    """Of the plain test; with a covariate; with 2, 5 and 20 strata; cut at the 99% and the 95% quantile."""
    rng = generator("adjustments", people.name, users)
    hits: list[list[Array]] = [[] for _ in range(7)]
    for some in batches(size.tries, 20 * users):
        one, other = people.draw(rng, some, users), people.draw(rng, some, users)
        found = [contrasts(one[..., :2], other[..., :2]), contrasts(one, other)]
        for strata in (2, 5, 20):
            tables = [
                many.with_strata(table, rng.integers(0, strata, table.shape[:2]), strata) for table in (one, other)
            ]
            found.append(contrasts(tables[0], tables[1]))
        for quantile in (0.99, 0.95):
            cut = many.winsorised(one[..., :2], other[..., :2], quantile)
            found.append(contrasts(*cut))
        for into, these in zip(hits, found, strict=True):
            into.append(these.rejects())
    return [rate(these) for these in hits]


# --- many looks ----------------------------------------------------------------------------------


def at_looks(
    people: World, rng: np.random.Generator, some: int, looks: Array, split: tuple[int, int]
) -> many.Contrasts:
    """Differences without an effect at looks at so many users of the smaller variant: experiments x looks."""
    least = min(split)
    drawn = [people.plain.draw(rng, some, int(looks[-1]) * part // least) for part in split]
    made = [many.Side.at_looks(table, looks * part // least) for table, part in zip(drawn, split, strict=True)]
    return many.contrasts_of(*many.values_of(made[::-1]))


def anytime_errors(size: Size) -> Iterator[Row]:
    """How often no difference is refuted at any of 1,000 looks from 100 users a variant on."""
    for name in KINDS:
        for split in SPLITS:
            yield name, ":".join(map(str, split)), *map(str, refuted(world(name), split, size))


def refuted(people: World, split: tuple[int, int], size: Size, looks: Array | None = None) -> list[Rate]:
    """By ``anytime(first=200)``, by the same without the guarded error, by Welch's test at every look and at the last one."""
    looks = np.arange(100, 1100) if looks is None else looks
    rng = generator("anytime", people.name, split)
    hits: list[list[Array]] = [[], [], [], []]
    times = size.looked if sum(split) == 2 else size.looked // 2
    for some in batches(times, 2 * int(looks[-1]) * sum(split)):
        found = at_looks(people, rng, some, looks, split)
        limit = many.anytime_limits(found, first=200)
        by_t = found.rejects()
        crossed = (found.z_guarded > limit).any(axis=1), (found.z > limit).any(axis=1), by_t.any(axis=1), by_t[:, -1]
        for into, these in zip(hits, crossed, strict=True):
            into.append(np.asarray(these))
    return [rate(these) for these in hits]


def planned_errors(size: Size) -> Iterator[Row]:
    """How often no difference is refuted at any planned look, 2,000 users in the end: by how alpha is spent."""
    for name in KINDS:
        for looks in (2, 5, 10):
            plan = tuple(number / looks for number in range(1, looks + 1))
            yield name, f"{looks}, at equal numbers", *map(str, spent_errors(world(name), plan, size))
        for plan in PLANS[1:]:
            yield name, " ".join(f"{part:.0%}" for part in plan), *map(str, spent_errors(world(name), plan, size))


def spent_errors(people: World, plan: tuple[float, ...], size: Size, users: int = 1000) -> list[Rate]:
    """By ``group_sequential`` with both ways to spend alpha, and by Welch's test at every look."""
    rng = generator("planned", people.name, plan)
    ends = [np.array(critical(len(plan), len(plan), 0.05, how, plan)) for how in ("obrien_fleming", "pocock")]
    looks = np.round(np.array(plan) * users).astype(int)
    hits: list[list[Array]] = [[], [], []]
    for some in batches(size.planned, 2 * users):
        found = at_looks(people, rng, some, looks, (1, 1))
        z = found.z_planned
        for into, crossed in zip(hits, (*((z > end) for end in ends), found.rejects()), strict=True):
            into.append(np.asarray(crossed.any(axis=1)))
    return [rate(these) for these in hits]


# --- the split -----------------------------------------------------------------------------------


def split_alarms(p_value: Callable[[Array, Array], float], times: int = 200_000) -> Iterator[Row]:
    """How often a split as planned is called a mismatch: of two variants counted out, of more by simulation."""
    from scipy.special import gammaln

    for shares in ((0.5, 0.5), (0.9, 0.1), (0.99, 0.01), (1 / 3, 1 / 3, 1 / 3), (0.8, 0.1, 0.1), (0.98, 0.01, 0.01)):
        part = np.array(shares)
        cells = []
        for users in (200, 1000, 10_000, 100_000):
            if len(shares) == 2:
                first = np.arange(users + 1)
                logs = gammaln(users + 1) - gammaln(first + 1) - gammaln(users - first + 1)
                chance = np.exp(logs + first * np.log(part[0]) + (users - first) * np.log(part[1]))
                likely = np.flatnonzero((chance > 1e-12) & (np.abs(first - users * part[0]) > 0))
                alarm = np.array([p_value(np.array([k, users - k]), part) < 0.001 for k in likely.tolist()])
                cells.append(f"{100 * float(chance[likely][alarm].sum()):.3f}")
                continue
            drawn, often = np.unique(
                generator("split", shares, users).multinomial(users, part, times), axis=0, return_counts=True
            )
            far = ((drawn - users * part) ** 2 / (users * part)).sum(axis=1) > 5  # no p-value is small nearer by
            alarm = np.array([p_value(counts, part) < 0.001 for counts in drawn[far]])
            share = float(often[far][alarm].sum()) / times
            cells.append(f"{100 * share:.3f} ± {100 * (share * (1 - share) / times) ** 0.5:.3f}")
        yield " : ".join(f"{one:.3g}" for one in shares), *cells


# --- power ---------------------------------------------------------------------------------------


LIFTS = {**dict.fromkeys(PLANNED, 0.05), "users who convert, 10%": 0.1, "clicks out of impressions, 20%": 0.05}


def power(size: Size) -> Iterator[Row]:
    """How many users ``rankscope power`` asks for, and how often experiments of that size find the difference."""
    for name, lift in LIFTS.items():
        people = world(name, lift)
        for covariate in (False, True):
            users = users_planned(people, covariate)
            yield (
                name,
                f"{lift:.0%}",
                "with a covariate" if covariate else "plain",
                f"{users:,}",
                str(found_differences(people, users, covariate, size)),
            )


def users_planned(people: World, covariate: bool) -> int:
    """What ``rankscope power`` says of a log of the usual users, for the true lift."""
    names = ("above", "below", "above_before", "below_before")
    log = pl.DataFrame(dict(zip(names, people.usual.T, strict=True))).with_columns(user=pl.int_range(pl.len()))
    metric, before = "Ratio(above, below)", "Ratio(above_before, below_before)"
    found = rs.power(
        log, None, metric, lift=people.truth(lifted=True)[1], covariates={metric: before} if covariate else None
    )
    return found.reaches[0].targets[0].units


def found_differences(people: World, users: int, covariate: bool, size: Size) -> Rate:
    """How often Welch's test finds the lift with so many users together."""
    rng = generator("power", people.name, users, covariate)
    columns = slice(None) if covariate else slice(2)
    hits: list[Array] = []
    for some in batches(size.power, users):
        one, other = people.draw(rng, some, users // 2, lifted=True), people.draw(rng, some, users - users // 2)
        hits.append(contrasts(one[..., columns], other[..., columns]).rejects())
    return rate(hits)
