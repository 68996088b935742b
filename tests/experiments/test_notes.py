"""What an experiment says of small slices, of units without a value, and of tables of events."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError
from rankscope.experiments.variants import variants_of
from rankscope.logs.base import parse_online

METRIC = "Mean(spent)"


def table(count: int = 40, **more: Any) -> pl.DataFrame:
    columns = {
        "user": [f"u{n}" for n in range(count)],
        "variant": ["A", "B"] * (count // 2),
        "spent": [float(n * 5 % 7) for n in range(count)],
    }
    return pl.DataFrame({**columns, **more})


def test_small_slices_are_named_the_first_five() -> None:
    for small, said in ((5, "c0, c1, c2, c3 and c4 have"), (7, "c0, c1, c2, c3, c4 and 2 more have"), (1, "c0 has")):
        city = [f"c{n}" if n < small else "big" for n in range(40)]
        found = rs.experiment(table(city=city), METRIC, slices="city")
        verb = "are" if small > 1 else "is"
        assert f"city: {said} too few users for {METRIC} in a variant, and {verb} left out" in found.notes


def test_a_slice_without_a_value_in_a_variant_is_left_out() -> None:
    city = ["x" if n < 20 else "y" for n in range(40)]
    found = rs.experiment(
        table(city=city, spent=[None if n >= 20 and n % 2 else 1.0 + n % 3 for n in range(40)]), METRIC, slices="city"
    )
    assert {row["slice"] for row in found.to_dicts("slices")} == {"x"}
    assert f"city: y has too few users for {METRIC} in a variant, and is left out" in found.notes


def test_a_variant_without_anything_below_the_line_is_named_with_what_it_lacks() -> None:
    log = table(visits=[0 if n % 2 else 1 for n in range(40)])
    with pytest.raises(DataError, match=r"^Ratio\(spent, visits\): B has no visits$"):
        rs.experiment(log, "Ratio(spent, visits)")
    few = table(spent=[1.0 + n % 3 if n % 2 == 0 or n == 1 else None for n in range(40)])
    with pytest.raises(DataError, match=r"^Mean\(spent\): B has fewer than two users with a value$"):
        rs.experiment(few, METRIC)
    two = few.with_columns(spent=pl.when(pl.col("user") == "u3").then(2.0).otherwise("spent"))
    assert rs.experiment(two, METRIC).to_dicts()[0]["units"] == 20 + 2


@pytest.mark.parametrize(
    ("metrics", "twice", "told"),
    [([METRIC], 20, True), (["Count"], 20, True), (["Share(where='spent > 3')"], 20, True), ([METRIC, "Attribute(spent)"], 20, True),
     (["Attribute(spent)"], 20, False), ([METRIC], 0, False), ([METRIC], 5, False)],
)  # fmt: skip
def test_a_table_of_events_is_told_if_a_metric_adds_up_over_them(metrics: list[str], twice: int, told: bool) -> None:
    """With a few doubled users another warning says so."""
    times = [f"2024-05-01T10:{n:02}:00Z" for n in range(40)]
    log = table(time=times) if twice != 5 else table()
    found = rs.experiment(pl.concat([log, log.head(2 * twice).with_columns(pl.col("spent") + 1)]), metrics)
    said = [caution for caution in found.warnings if caution.code == "RS646"]
    assert len(said) == told


def test_units_and_rows_are_told_as_they_were_read() -> None:
    assert rs.experiment(table(), METRIC).notes[-1] == "40 rows, each its own user"
    assert rs.experiment(table().drop("user"), METRIC).notes[-1] == "40 rows, each its own unit"
    assert rs.experiment(pl.concat([table(), table()]), METRIC).notes[-1] == "80 rows rolled up to 40 users"
    homes = table(home=[f"h{n // 4 * 2 + n % 2}" for n in range(40)])
    assert rs.experiment(homes, METRIC, clusters="home").notes[-1] == "40 rows of 40 users in 20 clusters (home)"


def test_shares_of_the_error_are_of_units_with_a_name() -> None:
    log = rs.read_log(table(past=[n % 3 for n in range(40)]))
    for covariates in (None, {METRIC: "past"}):
        made = variants_of(log, [parse_online(METRIC)], covariates=covariates)
        shares = made.error_shares(parse_online(METRIC), "B", "A")
        assert shares is not None
        ids, values = shares
        assert (len(ids), len({*ids}), len(values)) == (40, 40, 40)
        assert values.sum() == pytest.approx(0.0, abs=1e-12)
        (c,) = rs.experiment(log, METRIC, covariates=covariates or "none").contrasts
        assert (values**2).sum() == pytest.approx(c.pair.means.error**2)
        assert {*ids[:20]} == {f"u{n}" for n in range(1, 40, 2)}
    rows = variants_of(rs.read_log(table().drop("user")), [parse_online(METRIC)])
    assert rows.error_shares(parse_online(METRIC), "B", "A") is None
