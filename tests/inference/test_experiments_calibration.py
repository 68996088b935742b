"""Whether what ``experiment`` says of variants is right: laws over simulated experiments, with room for chance, from fixed seeds.

The simulations of ``tools/measure_experiments.py`` look at many experiments at once; here they are also held against the library, one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.inference.base import Estimate, Sample
from rankscope.inference.effects import split_p_value
from rankscope.inference.sequential import anytime, as_normal, as_student, critical, group_sequential

ROOT = Path(__file__).resolve().parents[2]
RATIO = "Ratio(above, below)"
GUARD = "Ratio(above, below, better='higher')"
BEFORE = {RATIO: "Ratio(above_before, below_before)"}
CONVERSION, REVENUE = "users who convert, 2%", "revenue, 1 user in 10 buys"
CLICKS = (
    "clicks out of impressions, 1%",
    "clicks out of impressions, 5%",
    "clicks out of impressions, 20%",
    "clicks out of impressions, 50%",
)
each_kind = pytest.mark.parametrize("name", [CONVERSION, REVENUE, CLICKS[0], CLICKS[2]])


@pytest.fixture(scope="module")
def tool() -> Iterator[SimpleNamespace]:
    """The modules of the tool that writes the section of the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        names = ("batched", "cells", "logs", "worlds")
        yield SimpleNamespace(
            main=import_module("measure_experiments"), calibrate=import_module("calibrate"),
            **{name: import_module(f"experiments_{name}") for name in names},
        )  # fmt: skip


def at_most(found: Any, rate: float) -> bool:
    """Whether a rate is no higher than this, but for chance."""
    return bool(
        found.rate
        <= rate + 3 * math.sqrt(rate * (1 - rate)) * found.error / math.sqrt(max(found.rate * (1 - found.rate), 1e-9))
    )


def error_of(rate: float, times: int) -> float:
    return 3 * math.sqrt(rate * (1 - rate) / times)


def table_of(arms: Sequence[Any], **more: Any) -> pl.DataFrame:
    """The users of two variants, the baseline first, as a table with a row a user."""
    names = ("above", "below", "above_before", "below_before")
    rows = np.concatenate(arms)
    frame = pl.DataFrame(dict(zip(names, rows.T, strict=False)))
    variant = ["A"] * len(arms[0]) + ["B"] * len(arms[1])
    return frame.with_columns(user=pl.int_range(pl.len()), variant=pl.Series(variant), **more)


# --- the simulation is of what the library computes -----------------------------------------------


@pytest.mark.parametrize("sizes", [(150, 150), (400, 90)], ids=["even", "uneven"])
@each_kind
def test_experiments_of_many_are_experiments_of_each(tool: Any, name: str, sizes: tuple[int, int]) -> None:
    rng, people = np.random.default_rng(1), tool.worlds.world(name)
    base, other = people.draw(rng, 4, sizes[0]), people.draw(rng, 4, sizes[1], lifted=True)
    sides = [tool.batched.Side.of(table) for table in (other, base)]
    for adjusted, chosen in ((False, [side.plain for side in sides]), (True, sides)):
        found, lifts = tool.cells.both(chosen)
        limits = tool.batched.anytime_limits(found, first=20)
        for i in range(4):
            table = table_of((base[i], other[i]))
            options: dict[str, Any] = {
                "covariates": BEFORE if adjusted else None,
                "test": "t",
                "split": dict(zip("AB", map(float, sizes), strict=True)),
            }
            one = rs.experiment(table, RATIO, **options)["B", RATIO]
            reach = tool.batched.quantiles(found.freedom, 0.975)[i]
            assert one.difference == pytest.approx(found.difference[i], rel=1e-9)
            assert one.bounds.upper == pytest.approx(found.difference[i] + reach * found.error[i], rel=1e-9)
            assert (one.p_value < 0.05) == found.rejects()[i]
            if one.relative[1].known:
                assert one.relative[1].upper == pytest.approx(lifts.upper[i], rel=1e-9)
            looked = rs.experiment(table, RATIO, **options | {"test": "anytime"})["B", RATIO]
            error = max(found.error[i], found.pooled[i])
            assert looked.bounds.upper - looked.difference == pytest.approx(limits[i] * error, rel=1e-9)
            planned = rs.experiment(
                table, RATIO, **options | {"test": "group_sequential(look=2, looks=3, shares=(0.1, 0.5))"}
            )
            end = critical(2, 3, 0.05, "obrien_fleming", (0.1, 0.5))[-1]
            c = planned["B", RATIO]
            assert c.bounds.upper - c.difference == pytest.approx(as_student(end, found.freedom[i]) * error, rel=1e-6)
            assert as_normal(abs(c.difference) / error, found.freedom[i]) == pytest.approx(found.z_planned[i], rel=1e-9)


def test_looks_of_many_are_looks_at_each(tool: Any) -> None:
    people, looks = tool.worlds.world(CLICKS[1]), np.array([100, 250, 400])
    drawn = [people.draw(np.random.default_rng(seed), 3, 400) for seed in (1, 2)]
    found = tool.batched.contrasts_of(
        *tool.batched.values_of([tool.batched.Side.at_looks(table, looks) for table in drawn])
    )
    for i in range(3):
        for j, users in enumerate(looks.tolist()):
            table = table_of((drawn[1][i, :users], drawn[0][i, :users]))
            one = rs.experiment(table, RATIO, covariates=BEFORE, test="t")["B", RATIO]
            assert one.difference == pytest.approx(found.difference[i, j], rel=1e-8)
            assert one.pair.means.error == pytest.approx(found.error[i, j], rel=1e-8)


def test_strata_and_cuts_of_many_are_those_of_each(tool: Any) -> None:
    rng, people = np.random.default_rng(3), tool.worlds.world(REVENUE).plain
    base, other = people.draw(rng, 3, 200), people.draw(rng, 3, 150)
    strata = [rng.integers(0, 3, (3, users)) for users in (200, 150)]
    marked = [tool.batched.with_strata(table, of, 3) for table, of in zip((other, base), strata[::-1], strict=True)]
    by_strata = tool.cells.contrasts(*marked)
    by_cut = tool.cells.contrasts(*tool.batched.winsorised(other, base, 0.99))
    skewed = tool.batched.skewness(other, base)
    for i in range(3):
        table = table_of((base[i], other[i]), group=pl.Series(np.concatenate([of[i] for of in strata])).cast(pl.String))
        for found, options in ((by_strata, {"strata": "group"}), (by_cut, {"winsorise": 0.99})):
            one = rs.experiment(table, RATIO, test="t", **options)["B", RATIO]
            assert one.difference == pytest.approx(found.difference[i], rel=1e-9)
            assert one.pair.means.error == pytest.approx(found.error[i], rel=1e-9)
        told = any(caution.code == "RS640" for caution in rs.experiment(table, RATIO).warnings)
        assert told == (skewed[i] > 1)


# --- laws: one look -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_users_reject_in_5_percent_where_rows_reject_in_a_quarter(tool: Any) -> None:
    times = 400
    effect, (users, rows) = tool.logs.without_difference(tool.cells.Size(logs=times), seed=7)
    assert effect >= 3
    assert abs(float(users[1].split()[0]) - 5) < 100 * error_of(0.05, times)
    assert abs(float(rows[1].split()[0]) - float(rows[2])) < 100 * error_of(0.26, times)
    assert float(rows[2]) > 20


@pytest.mark.slow
@pytest.mark.parametrize("users", [300, 1000])
@pytest.mark.parametrize("name", CLICKS)
def test_intervals_of_ratios_cover(tool: Any, name: str, users: int) -> None:
    for lifted in (False, True):
        found = tool.cells.covered(tool.worlds.world(name), users, lifted, tool.cells.Size(tries=1500))
        for rate in found[:2]:
            assert 0.94 - 3 * rate.error <= rate.rate <= 0.96 + 3 * rate.error


@each_kind
def test_users_are_said_to_be_too_few_where_intervals_cover_less(tool: Any, name: str) -> None:
    for users in (100, 300):
        *covered, warned = tool.cells.covered(tool.worlds.world(name), users, True, tool.cells.Size(tries=800))
        if min(rate.rate for rate in covered) < 0.94:
            assert warned.rate > 0.95


@pytest.mark.slow
@each_kind
def test_adjusted_tests_keep_their_level_in_small_experiments(tool: Any, name: str) -> None:
    for users in (50, 300):
        for found in tool.cells.false_alarms(tool.worlds.world(name), users, tool.cells.Size(tries=800)):
            assert at_most(found, 0.06)


@pytest.mark.parametrize("name", [REVENUE, CLICKS[2]])
def test_a_covariate_is_without_bias_and_leaves_less_to_chance(tool: Any, name: str) -> None:
    rng, people = np.random.default_rng(4), tool.worlds.world(name)
    sides = [tool.batched.Side.of(people.draw(rng, 3000, 100, lifted=lifted)) for lifted in (True, False)]
    (plain, _), (adjusted, _) = tool.cells.both([side.plain for side in sides]), tool.cells.both(sides)
    truth, _ = people.truth(lifted=True)
    for found in (plain, adjusted):
        assert abs(found.difference.mean() - truth) < 3.5 * found.difference.std() / math.sqrt(3000)
    assert adjusted.difference.std() < 0.97 * plain.difference.std()
    assert np.mean(adjusted.error**2) == pytest.approx(adjusted.difference.var(), rel=0.1)


def test_many_strata_take_nothing_from_a_difference(tool: Any) -> None:
    """20 strata of 100 users: with coefficients from all users together a fifth of the difference would be laid to them."""
    rng, people = np.random.default_rng(10), tool.worlds.world(CLICKS[2]).plain
    drawn = [people.draw(rng, 3000, 50, lifted=lifted) for lifted in (True, False)]
    marked = [tool.batched.with_strata(table, rng.integers(0, 20, table.shape[:2]), 20) for table in drawn]
    found, (truth, _) = tool.cells.contrasts(*marked), people.truth(lifted=True)
    assert abs(found.difference.mean() - truth) < 3 * found.difference.std() / math.sqrt(3000)
    assert found.holds(truth).mean() == pytest.approx(0.95, abs=0.02)


ADJUSTED = {"strata": {"strata": "group"}, "covariates": {"covariates": {"Mean(above)": ["above_before", "noise"]}}}


@pytest.mark.parametrize("adjust", ADJUSTED.values(), ids=ADJUSTED)
def test_what_a_variant_adds_to_each_user_is_what_is_found(tool: Any, adjust: Any) -> None:
    rng, people = np.random.default_rng(12), tool.worlds.world("minutes, the same more for each")
    arms = [people.draw(rng, 1, users)[0] for users in (30, 45)]
    more = {"group": pl.Series(rng.integers(0, 8, 75)).cast(pl.String), "noise": pl.Series(rng.normal(size=75))}
    found = []
    for added in (0.0, 7.5):
        arms[1][:, 0] += added
        found.append(rs.experiment(table_of(arms, **more), "Mean(above)", **adjust)["B", "Mean(above)"])
    assert found[1].difference - found[0].difference == pytest.approx(7.5, rel=1e-9)
    assert found[1].pair.means.error == pytest.approx(found[0].pair.means.error, rel=1e-9)


def test_more_covariates_than_users_can_tell_are_refused(tool: Any) -> None:
    arms = [tool.worlds.world(REVENUE).draw(np.random.default_rng(13), 1, 10)[0] for _ in range(2)]
    rng = np.random.default_rng(14)
    before = {f"before{i}": pl.Series(rng.normal(size=20)) for i in range(8)}
    table = table_of(arms, group=pl.Series([str(i % 4) for i in range(20)]), **before)
    with pytest.raises(
        rs.RankscopeError, match="20 users are too few to adjust for 11 covariates and strata: name fewer"
    ):
        rs.experiment(table, "Mean(above)", strata="group", covariates={"Mean(above)": list(before)})


PLANNED = {
    "a mean": "minutes, the same more for each",
    "a ratio": "clicks out of impressions, 20%, the same more for each",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANNED.values(), ids=PLANNED)
@pytest.mark.parametrize("covariate", [False, True], ids=["plain", "with a covariate"])
def test_planned_sizes_find_what_they_were_planned_for(tool: Any, name: str, covariate: bool) -> None:
    people = tool.worlds.world(name, 0.1)
    users = tool.cells.users_planned(people, covariate)
    found = tool.cells.found_differences(people, users, covariate, tool.cells.Size(power=2000))
    # the plan lets what users differ by grow with the lift, by a tenth of the variance, which it does not in these worlds
    assert -error_of(0.8, 2000) < found.rate - 0.8 < 0.04 + error_of(0.8, 2000)
    half = tool.cells.found_differences(people, users // 2, covariate, tool.cells.Size(power=1000))
    assert half.rate < 0.7


# --- laws: many looks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", [(1, 1), (9, 1)], ids=["even", "nine to one"])
@each_kind
def test_looking_at_any_time_from_100_users_a_variant_keeps_the_level(
    tool: Any, name: str, split: tuple[int, int]
) -> None:
    looks = np.unique(np.geomspace(100, 1099, 120).astype(int))
    size = tool.cells.Size(looked=600 if split == (1, 1) else 300)
    by_looks, _, by_t, _ = tool.cells.refuted(tool.worlds.world(name), split, size, looks)
    assert at_most(by_looks, 0.05)
    assert by_t.rate > 0.15  # what looks are paid for


@pytest.mark.parametrize("split", [(1, 1), (9, 1)], ids=["even", "nine to one"])
def test_looks_with_a_covariate_keep_the_level(tool: Any, split: tuple[int, int]) -> None:
    """Its coefficient is another at every look."""
    rng, people, times = np.random.default_rng(14), tool.worlds.world(CLICKS[2]), 500 if split == (1, 1) else 150
    looks = np.unique(np.geomspace(100, 1099, 100).astype(int))
    sides = [tool.batched.Side.at_looks(people.draw(rng, times, 1099 * part), looks * part) for part in split]
    found = tool.batched.contrasts_of(*tool.batched.values_of(sides[::-1]))
    crossed = (found.z_guarded > tool.batched.anytime_limits(found, first=200)).any(axis=1)
    assert crossed.mean() <= 0.05 + error_of(0.05, times)
    assert found.rejects().any(axis=1).mean() > 0.15


def test_the_usual_error_of_a_small_variant_would_break_looks(tool: Any) -> None:
    looks = np.unique(np.geomspace(100, 1099, 120).astype(int))
    guarded, usual, *_ = tool.cells.refuted(tool.worlds.world(CLICKS[0]), (9, 1), tool.cells.Size(looked=300), looks)
    assert guarded.rate < 0.05 < usual.rate - 3 * usual.error


@pytest.mark.slow
@pytest.mark.parametrize("plan", [(0.5, 1.0), (0.2, 0.4, 0.6, 0.8, 1.0), tuple(i / 10 for i in range(1, 11)), (0.05, 0.1, 0.2, 0.5, 1.0)], ids=["two", "five", "ten", "early"])  # fmt: skip
@each_kind
def test_planned_looks_keep_the_level(tool: Any, name: str, plan: tuple[float, ...]) -> None:
    *by_plan, by_t = tool.cells.spent_errors(tool.worlds.world(name), plan, tool.cells.Size(planned=1000))
    for found in by_plan:
        assert at_most(found, 0.05)
    assert by_t.rate > max(found.rate for found in by_plan)
    assert len(plan) == 2 or by_t.rate > 0.09


@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
def test_looks_that_came_earlier_than_planned_need_their_shares(spending: str) -> None:
    parts = np.array([0.05, 0.1, 0.2, 0.5, 1.0])
    steps = np.random.default_rng(5).normal(size=(60_000, 5)) * np.sqrt(np.diff(parts, prepend=0.0))
    z = np.abs(steps.cumsum(axis=1)) / np.sqrt(parts)
    told, untold = (
        (z > np.array(critical(5, 5, 0.05, spending, shares))).any(axis=1).mean()
        for shares in (tuple(parts.tolist()), ())
    )
    assert told == pytest.approx(0.05, abs=error_of(0.05, 60_000))
    assert untold > 0.05 + 2 * error_of(0.05, 60_000)


def test_intervals_of_lifts_and_margins_hold_at_every_look(tool: Any) -> None:
    """A lift of 0 is excluded at any look, and a loss as large as the margin is called smaller, no more often than alpha says; by t it would be."""
    people, times = tool.worlds.world(CLICKS[2]).plain, 300
    looks = np.unique(np.geomspace(100, 1099, 25).astype(int))
    drawn = [people.draw(np.random.default_rng(seed), times, 1099) for seed in (1, 2)]
    margin = 0.02
    lifts, passes, by_t = np.zeros(times), np.zeros(times), np.zeros(times)
    sides = [tool.batched.Side.at_looks(table, looks) for table in drawn]
    one, other = tool.batched.values_of(sides)
    for i in range(times):
        for j in range(len(looks)):
            run, base = (
                Estimate(float(v.value[i, j]), float(v.error[i, j]), int(looks[j]) - 1, int(looks[j]), 1.0)
                for v in (one, other)
            )
            _, bounds = rs_relative(run, base)
            lifts[i] += not bounds.lower <= 0 <= bounds.upper
            lost = Estimate.between(run, base)
            moved = Estimate(
                lost.mean - margin, lost.error, lost.freedom, lost.count, lost.largest, lost.least, lost.pooled
            )
            passes[i] += not_worse(moved, margin)
            by_t[i] += (moved.mean + margin) / moved.error > 1.645
    assert (lifts > 0).mean() <= 0.05 + error_of(0.05, times)
    assert (passes > 0).mean() <= 0.05 + error_of(0.05, times)
    assert (by_t > 0).mean() > 0.15


def rs_relative(run: Estimate, base: Estimate) -> Any:
    from rankscope.inference.effects import relative_of_own
    from rankscope.inference.sequences import anytime as interval

    return relative_of_own(run, base, 0.95, interval(first=200))


def not_worse(found: Estimate, margin: float) -> bool:
    from rankscope.inference.effects import above_at_looks

    return above_at_looks(anytime(first=200), found, -margin) <= 0.05


def test_guardrails_of_a_looked_at_experiment_say_what_the_interval_says(tool: Any) -> None:
    rng, people = np.random.default_rng(8), tool.worlds.world(CLICKS[2])
    seen = set()
    for users, loss in ((150, "40%"), (4000, "20%"), (9000, "30%")):
        table = table_of([people.draw(rng, 1, users)[0] for _ in range(2)])
        for test in ("anytime(first=200)", "group_sequential(look=1, looks=4)"):
            found = rs.experiment(table, primary="Mean(below)", guardrails={GUARD: loss}, test=test)
            c = found["B", GUARD]
            margin = float(loss.rstrip("%")) / 100 * c.baseline_value
            ends = c.equivalence  # of the lift, as the margin is a share
            assert ends is not None
            assert (c.verdict == "equivalent") == (-margin < ends.lower and ends.upper < margin)
            assert ends.lower > -margin or c.verdict == "cannot tell"
            plain = rs.experiment(table, RATIO)["B", RATIO]
            wider = (c.bounds.upper - c.bounds.lower) / (plain.bounds.upper - plain.bounds.lower)
            widths = [one.relative[1].upper - one.relative[1].lower for one in (c, plain)]
            assert widths[0] > widths[1]
            assert wider > 1
            seen.add(c.verdict)
    assert {"equivalent", "cannot tell"} <= seen


# --- laws: the split ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("users", [200, 1000, 10_000])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_a_split_as_planned_is_refuted_in_one_of_1000(share: float, users: int) -> None:
    from scipy.stats import binom

    first = np.arange(users + 1)
    chance = binom.pmf(first, users, share)
    likely = first[chance > 1e-12]
    alarm = np.array(
        [split_p_value(np.array([k, users - k]), np.array([share, 1 - share])) < 0.001 for k in likely.tolist()]
    )
    assert 0.0001 < chance[likely][alarm].sum() <= 0.001


def test_small_shares_of_many_variants_do_not_alarm_too_often() -> None:
    shares, times = np.array([0.98, 0.01, 0.01]), 40_000
    drawn = np.random.default_rng(6).multinomial(200, shares, times)
    by_squares = ((drawn - 200 * shares) ** 2 / (200 * shares)).sum(axis=1) > 13.8155  # chi square at 0.001
    alarm = np.array([split_p_value(counts, shares) < 0.001 for counts in drawn[by_squares]])
    assert by_squares.mean() > 0.003  # why chi square is not asked
    assert alarm.sum() / times <= 0.001 + error_of(0.001, times)


# --- worked arithmetic ----------------------------------------------------------------------------------------


def test_a_side_without_spread_varies_as_all_units_do() -> None:
    sides = [Sample(np.repeat([1.0, 0.0], [ones, zeros])) for ones, zeros in ((0, 100), (20, 880))]
    found = Estimate.between(*sides)
    within = 20 * 880 / 900  # the sum of squares around the means
    assert found.error == pytest.approx(math.sqrt(within / 998 * (1 / 100 + 1 / 900)))
    assert found.freedom == 998
    assert found.error > 2 * sides[1].error


def test_variants_of_one_size_have_one_error() -> None:
    rng = np.random.default_rng(2)
    found = Estimate.between(Sample(rng.normal(size=50)), Sample(rng.normal(size=50) * 9))
    assert found.pooled == pytest.approx(found.error, rel=1e-12)
    assert found.guarded == max(found.error, found.pooled)


def test_the_first_look_waits_for_the_smaller_variant() -> None:
    found = Estimate.between(Sample(np.arange(40.0)), Sample(np.arange(900.0)))
    assert math.isnan(anytime(first=200).p_value(found))
    assert not math.isnan(anytime(first=80).p_value(found))
    from rankscope.inference.sequences import anytime as interval

    assert interval(first=200).of(found).reason == "the first look is at 100 units in each variant, and one has 40"


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((0.1,), "give a share for each look up to this one, like shares=(0.33, 0.67)"),
        ((0.5, 0.2), "each is above the one before"),
        ((0.5, 1.0), "below 1 until the last look"),
        ((0.0, 0.5), "each is above the one before"),
        ({1: 0.1, 3: 0.5}, "give a share for each look"),
    ],
    ids=["one of two", "falling", "all too early", "none", "a gap"],
)
def test_shares_that_are_none(shares: Any, said: str) -> None:
    with pytest.raises(rs.RankscopeError) as caught:
        group_sequential(look=2, looks=3, shares=shares)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_last_look_spends_what_is_left() -> None:
    for last in (0.8, 1.0, 1.3):
        ends = critical(2, 2, 0.05, "pocock", (0.5, last))
        steps = np.random.default_rng(9).normal(size=(60_000, 2)) * np.sqrt([0.5, last - 0.5])
        z = np.abs(steps.cumsum(axis=1)) / np.sqrt([0.5, last])
        assert (z > np.array(ends)).any(axis=1).mean() == pytest.approx(0.05, abs=error_of(0.05, 60_000))


# --- the page ---------------------------------------------------------------------------------------------------


def test_the_section_was_made_by_this_tool_in_full(tool: Any) -> None:
    page = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
    section = tool.calibrate.experiments_of(page)
    assert section.startswith(tool.main.HEAD)
    titles = [title for title, _ in tool.main.PARTS.values()]
    assert [line.removeprefix("### ") for line in section.splitlines() if line.startswith("### ")] == titles
    size = tool.cells.Size()
    for count in (size.logs, size.tries, size.looked, size.planned, size.power):
        assert f"{count:,}" in section
