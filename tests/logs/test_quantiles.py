"""The rows of units one by one: which rows count, by unit, day, position and value, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError, RankscopeError
from rankscope.files import logs
from rankscope.inference.order_statistics import quantile_of
from rankscope.logs import bins, rollup
from rankscope.logs.base import parse_online, parse_online_metrics
from rankscope.logs.metrics import Quantile
from rankscope.logs.rollup import roll_up
from rankscope.logs.rows import UnitRows


def made(users: int = 200, seed: int = 1) -> pl.DataFrame:
    """A row a request: users have many or few, over four days and three places; some waits were not measured."""
    draws = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), draws.geometric(0.15, users))
    wait = np.exp(5 + 0.7 * draws.normal(size=users)[user] + 0.5 * draws.normal(size=len(user)))
    return pl.DataFrame({
        "user": [f"u{number}" for number in user], "item": draws.integers(0, 9, len(user)), "position": draws.integers(1, 4, len(user)),
        "timestamp": [f"2024-05-0{day}T12:00:00Z" for day in draws.integers(1, 5, len(user))], "country": draws.choice(["de", "fr"], len(user)),
        "wait": np.where(draws.random(len(user)) < 0.1, np.nan, wait), "click": draws.integers(0, 2, len(user)),
    }).with_columns(pl.col("wait").fill_nan(None))  # fmt: skip


def by_hand(log: pl.DataFrame, q: float) -> Any:
    """The quantile of a log's waits, in clusters of users."""
    known = log.filter(pl.col("wait").is_not_null())
    return quantile_of(known["wait"].to_numpy(), known["user"].rank("dense").to_numpy().astype(int), q)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.95], ids=["tenth", "half", "nineteen in twenty"])
def test_rows_are_clustered_in_units(q: float) -> None:
    log = made()
    (value,) = rs.online(log, Quantile(column="wait", q=q)).values
    hand = by_hand(log, q)
    assert (value.value, value.bounds) == (hand.value, hand.bounds)
    assert (value.numerator, value.denominator, value.units) == (hand.below, hand.rows, log["user"].n_unique())


def test_rows_without_a_user_are_each_their_own() -> None:
    log = made().drop("user", "timestamp")
    (value,) = rs.online(log, "Quantile(wait, q=0.5)").values
    known = log["wait"].drop_nulls().to_numpy()
    assert value.bounds == quantile_of(known, None, 0.5).bounds
    assert value.units == len(known)


def test_parts_have_the_quantiles_of_their_rows() -> None:
    log = made()
    found = rs.online(log, "Quantile(wait, q=0.9)", by=["day", "position"], slices="country")
    cuts = {
        "by_day": ("day", pl.col("timestamp").str.slice(0, 10)), "by_position": ("position", pl.col("position")), "slices": ("slice", pl.col("country")),
    }  # fmt: skip
    for view, (name, column) in cuts.items():
        rows = found.to_dicts(view)
        assert len(rows) == log.select(column.n_unique()).item()
        for row in rows:
            hand = by_hand(log.filter(column == row[name]), 0.9)
            assert (row["value"], row["ci_lower"], row["ci_upper"]) == (
                hand.value,
                hand.bounds.lower,
                hand.bounds.upper,
            )


def test_of_units_each_is_the_sum_of_its_rows() -> None:
    log = made()
    (value,) = rs.online(log, "Quantile(wait, q=0.5, per='unit')").values
    sums = log.filter(pl.col("wait").is_not_null()).group_by("user").agg(pl.col("wait").sum())["wait"].to_numpy()
    assert value.value == pytest.approx(float(np.quantile(sums, 0.5, method="inverted_cdf")), rel=1e-12)
    assert value.bounds.known
    assert [
        row["of"] for row in rs.online(log, "Quantile(wait, q=0.5, per='unit') Quantile(wait, q=0.5)").to_dicts()
    ] == ["user", "row"]
    remarks = rs.online(log, "Quantile(wait, q=0.5, per='unit') CTR", by="position").remarks
    assert any("Not by position: Quantile" in remark for remark in remarks)


def test_sums_are_what_they_are_without_a_quantile_beside_them() -> None:
    log = made()
    names = ["CTR", "Mean(wait)", "Ratio(wait, click)"]
    alone = rs.online(log, names).to_dicts()
    assert rs.online(log, [*names, "Quantile(wait, q=0.5)"]).to_dicts()[:3] == alone


@pytest.mark.parametrize("cuts", [1, 3, 8])
def test_parts_of_a_log_in_any_number_and_order_give_the_same_quantiles(cuts: int, tmp_path: Path) -> None:
    log = made()
    for number, part in enumerate(reversed([log[i::cuts] for i in range(cuts)])):
        part.write_parquet(tmp_path / f"part-{number}.parquet")
    whole, parts = (
        rs.online(source, "Quantile(wait, q=0.9)", slices="country", ignore="RS607").to_json()
        for source in (log, tmp_path)
    )
    assert (
        whole.split('"results"')[1].split('"data_health"')[0] == parts.split('"results"')[1].split('"data_health"')[0]
    )


@pytest.mark.parametrize("piece", [100, 1_000_000], ids=["many pieces", "one piece"])
def test_rows_are_the_same_beside_bins_and_groups(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(logs, "PIECE", piece)
    monkeypatch.setattr(bins, "STEP", 64)
    log = made()
    options: dict[str, Any] = {"by": ["day", "position"], "slices": "country"}
    views = ("results", "by_day", "by_position", "slices")
    names = ["CTR", "Quantile(wait, q=0.9)", "Quantile(wait, q=0.5)"]
    fast = rs.online(log, names, **options)
    monkeypatch.setattr(rollup, "sum_in_bins", lambda *_: None)
    slow = rs.online(log, names, **options)
    for view in views:
        assert fast.to_dicts(view) == slow.to_dicts(view)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_are_laid_out_by_unit_whichever_way_they_come(seed: int) -> None:
    draws = np.random.default_rng(seed)
    number, value = draws.integers(0, 30, 200), draws.normal(size=200)
    value[draws.random(200) < 0.2] = np.nan
    by_hand = [sorted(value[(number == unit) & ~np.isnan(value)]) for unit in range(33)]
    rows = UnitRows.of_numbers(value, number, 33)
    of_lists = UnitRows.of_lists(pl.Series(by_hand, dtype=pl.List(pl.Float64)))
    some = draws.permutation(33)[:12]
    for laid, units in (
        (rows, range(33)),
        (of_lists, range(33)),
        (rows.take(some), some),
        (rows + rows.take(some), [*range(33), *some]),
    ):
        expected = [by_hand[unit] for unit in units]
        assert laid.sizes.tolist() == [len(values) for values in expected]
        assert [sorted(laid.values[laid.units == i]) for i in range(len(expected))] == expected
    assert UnitRows.of_lists(pl.Series([1.0, None, 3.0])).units.tolist() == [0, 2]
    assert not len(rows.take(np.array([], dtype=int)).values)


def test_units_keep_their_rows_where_some_are_left_out() -> None:
    log = made()
    metric = parse_online("Quantile(wait, q=0.5)")
    assert isinstance(metric, Quantile)
    units = roll_up(rs.read_log(log), [metric], ids=True)
    assert units.ids is not None
    some = units.ids.is_in(["u3", "u5", "u8"])
    kept = units.filter(some).rows_of(metric)
    expected = log.filter(pl.col("user").is_in(["u3", "u5", "u8"]))["wait"].drop_nulls()
    assert sorted(kept.values) == sorted(expected)
    same = units.rows_of(metric, np.flatnonzero(some.to_numpy()))
    assert kept.values.tolist() == same.values.tolist()
    assert kept.units.tolist() == same.units.tolist()


def test_what_is_printed_says_how_many_rows_lie_below() -> None:
    text = next(rs.online(made(), "Quantile(wait, q=0.5)").sentences())
    assert "rows with a value are at or below it." in text
    few = next(rs.online(made(), "Quantile(wait, q=0.9999)").sentences())
    assert "no interval: " in few
    assert "and it takes about " in few


def test_few_rows_beyond_are_told() -> None:
    found = rs.online(made(), "Quantile(wait, q=0.97)")
    assert found.values[0].bounds.known
    assert any("has few rows beyond it: its interval needs about " in text for text in found.sentences())
    assert not any("few rows" in text for text in rs.online(made(), "Quantile(wait, q=0.5)").sentences())


# --- spelling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelled", "said"),
    [
        ("Quantile(wait, q=0.95)", "Quantile(wait, q=0.95)"),
        ("Quantile(column=wait,q=.5)", "Quantile(wait, q=0.5)"),
        ("Quantile(wait, better='lower', q=0.5)", "Quantile(wait, q=0.5, better='lower')"),
        ("Quantile('wait (ms)', q=0.5)", "Quantile('wait (ms)', q=0.5)"),
        ("Mean(wait, better='lower')", "Mean(wait, better='lower')"),
        ("Ratio(wait, click, better='neither')", "Ratio(wait, click, better='neither')"),
    ],
    ids=["as it is", "by name", "the direction first", "a name with blanks", "a mean that is a cost", "a ratio"],
)
def test_spellings(spelled: str, said: str) -> None:
    assert str(parse_online(spelled)) == said
    assert parse_online(said) == parse_online(spelled)
    assert [str(one) for one in parse_online_metrics(f"{spelled}, CTR")] == [said, "CTR"]


@pytest.mark.parametrize(
    ("spelled", "said"),
    [
        ("Quantile(wait)", "Quantile needs q"),
        ("Quantile(wait, q=1)", "q is a share below 1, like 0.5 for the median or 0.95"),
        ("Quantile(wait, q=0)", "q must be above 0"),
        ("Quantile(wait, q=95)", "q is a share below 1"),
        ("Quantile(wait, q=half)", "q must be a number"),
        ("Quantile(wait, q=0.5, per='list')", "per must be one of 'row', 'unit'"),
        ("Quantile(wait, q=0.5, better='up')", "better must be one of"),
        ("Quantile(wait, 0.5)", "every parameter needs its name"),
        ("Quantile(wai, q=0.5)", "no column 'wai', did you mean wait"),
        ("Quantile(country, q=0.5)", "is not a number"),
    ],
    ids=["no share", "all", "none", "in percent", "a word", "per list", "a direction", "no name", "a typo", "text"],
)
def test_what_cannot_be_computed(spelled: str, said: str) -> None:
    with pytest.raises(RankscopeError) as caught:
        rs.online(made(), spelled)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["Quantile(wait, q=0.5)", "Quantile(wait, q=0.5, per='unit')", "Mean(wait)", "Ratio(click, wait)"]
)
def test_infinite_numbers_are_refused(name: str) -> None:
    log = made().with_columns(
        pl.when(pl.int_range(pl.len()) < 3).then(float("inf")).otherwise(pl.col("wait")).alias("wait")
    )
    with pytest.raises(DataError, match=r"beyond 1e.50 in size"):
        rs.online(log, name)


def test_no_sums_and_no_true_effects_are_made_up_for_it() -> None:
    metric = parse_online("Quantile(wait, q=0.5)")
    with pytest.raises(DataError, match="units add nothing up to it"):
        roll_up(rs.read_log(made()), [metric]).columns(metric)
    with pytest.raises(InputError, match="not of a quantile of rows; name another metric"):
        rs.simulate("experiment", users=50, truth=50, metrics="Quantile(dwell_s, q=0.5)")


def test_a_quantile_is_explained_with_a_spelling_that_can_be_read() -> None:
    text = str(rs.catalogue("Quantile"))
    assert "Quantile(COLUMN, q=0.95)" in text
    assert parse_online("Quantile(COLUMN, q=0.95)")
    with pytest.raises(InputError):
        parse_online("Quantile(COLUMN)")
