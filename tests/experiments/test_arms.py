"""Which units of a log are in the variants: one variant each, the others told with their counts, in slices and days alike."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.experiments.variants import variants_of
from rankscope.inference.base import Correction, Interval, PairedTest
from rankscope.logs.base import parse_online
from rankscope.panels.method import Method, find_method
from rankscope.scoring.logs import read_experiment

Rows = list[tuple[str, str | None, float]]
SOUND: Rows = [(f"{name.lower()}{i}", name, float(i * i % 5)) for name in "AB" for i in range(4)]
SEVERAL: Rows = [("m", "A", 1.0), ("m", "B", 2.0), ("n", "A", 4.0), ("n", "B", 0.0), ("n", None, 8.0)]
PARTLY: Rows = [("p", "A", 1.0), ("p", None, 3.0)]
WITHOUT: Rows = [("w", None, 1.0), ("x", None, 2.0), ("y", None, 0.5)]


def table(*parts: Rows) -> pl.DataFrame:
    rows = [row for part in parts for row in part]
    return pl.DataFrame(rows, schema=["user", "variant", "revenue"], orient="row")


def test_units_outside_of_the_variants_are_told_with_their_counts() -> None:
    """Of 14 users eight have one variant, two have both (one of them also a row of none), one has rows of one and of none, three have none."""
    found = rs.experiment(table(SOUND, SEVERAL, PARTLY, WITHOUT), "Mean(revenue)")
    told = [caution.message for caution in found.warnings if caution.code in {"RS605", "RS642"}]
    assert told == [
        "3 users of 14 have no variant, and are left out",
        "2 users of 14 have rows with a variant and rows without one, of which the first count",
        "2 users of 14 (14.3%) were in several variants, and are left out",
    ]
    assert found.sample_ratio.counts == {"A": 5, "B": 4}
    assert found.variants.arms.mixed_share == 2 / (2 + 9)
    assert "18 rows rolled up to 9 users" in found.notes
    alone = rs.experiment(table(SOUND), "Mean(revenue)")
    assert not [caution for caution in alone.warnings if caution.code in {"RS605", "RS642"}]
    assert alone.variants.arms.mixed_share == 0
    rows = rs.experiment(table(SOUND, WITHOUT).drop("user"), "Mean(revenue)")
    assert "3 rows of 11 have no variant, and are left out" in [caution.message for caution in rows.warnings]


@pytest.mark.parametrize("metric", ["Mean(revenue)", "Count", "Quantile(revenue, q=0.5)"])
def test_units_of_several_variants_are_in_no_slice_and_on_no_day(metric: str) -> None:
    def log(*parts: Rows) -> pl.DataFrame:
        rows = pl.concat([table(*parts).with_columns(country=pl.lit(name), day=pl.lit(name)) for name in ("de", "fr")])
        return rows.sort("user", "country", maintain_order=True)

    def slices(*parts: Rows) -> list[list[Any]]:
        variants = variants_of(read_experiment(log(*parts)), [parse_online(metric)])
        units = variants.units_by("country", parse_online(metric))
        assert units.ids is not None
        columns = [units.ids, units.groups["variant"], units.groups["country"], *map(pl.Series, units.numerators)]
        return sorted(map(list, zip(*columns, strict=True)))

    assert slices(SOUND, SEVERAL, WITHOUT) == slices(SOUND)
    assert len(slices(SOUND)) == 8 * 2


@pytest.mark.parametrize(
    ("names", "baseline", "order"),
    [
        (["treatment", "control", "b"], None, ["control", "b", "treatment"]),
        (["b", "A", "c"], None, ["A", "b", "c"]),
        (["on", "OFF"], None, ["OFF", "on"]),
        (["new", "Baseline", "control"], None, ["control", "Baseline", "new"]),
        (["y", "x"], None, ["x", "y"]),
        (["control", "new"], "new", ["new", "control"]),
    ],
)
def test_the_baseline_is_named_or_the_likeliest(names: list[str], baseline: str | None, order: list[str]) -> None:
    rows: Rows = [(f"{name}{i}", name, float(i)) for name in names for i in range(3)]
    found = rs.experiment(table(rows), "Mean(revenue)", baseline=baseline)
    assert [*found.variants.names] == order
    assert found.sample_ratio.counts == dict.fromkeys(order, 3)


def test_variants_have_two_units_or_more() -> None:
    two = [row for row in SOUND if row[0] in {"a0", "a1", "b0", "b1"}]
    assert rs.experiment(table(two), "Mean(revenue)").sample_ratio.counts == {"A": 2, "B": 2}
    one = [row for row in two if row[0] != "b1"]
    with pytest.raises(DataError, match=r"^variant B has one user: a comparison needs two or more$"):
        rs.experiment(table(one), "Mean(revenue)")
    with pytest.raises(DataError, match=r"^variant B has one row: a comparison needs two or more; if a row has totals"):
        rs.experiment(table(one).drop("user"), "Mean(revenue)")
    with pytest.raises(DataError, match="there is no variant: an experiment compares two or more"):
        rs.experiment(table(WITHOUT), "Mean(revenue)")
    with pytest.raises(InputError, match="baseline 'C': no variant is called that"):
        rs.experiment(table(SOUND), "Mean(revenue)", baseline="C")


LOOKS = "group_sequential(look=1, looks=2)"


@pytest.mark.parametrize(
    ("test", "metrics", "days", "adding"),
    [
        pytest.param(LOOKS, ["Mean(revenue)"], 2, True, id="users come back"),
        pytest.param(LOOKS, ["Mean(revenue)", "ReturnRate@1"], 2, True, id="one of two metrics is over a window"),
        pytest.param(LOOKS, ["ReturnRate@1"], 2, False, id="each metric is over a window"),
        pytest.param(LOOKS, ["Mean(revenue)"], 1, False, id="nobody comes back"),
        pytest.param("group_sequential(look=1, looks=1)", ["Mean(revenue)"], 2, False, id="one look alone"),
        pytest.param("t", ["Mean(revenue)"], 2, None, id="no looks"),
        pytest.param("anytime(first=200)", ["Mean(revenue)"], 2, None, id="looks that are not planned"),
    ],
)
def test_planned_looks_know_if_users_go_on_adding(
    test: str, metrics: list[str], days: int, adding: bool | None
) -> None:
    rows = pl.concat([table(SOUND).with_columns(time=pl.lit(f"2024-05-0{1 + n}T12:00:00Z")) for n in range(days)])
    found = [parse_online(name) for name in metrics]
    variants = variants_of(read_experiment(rows), found)
    given = Method(find_method(PairedTest, test), find_method(Interval, test), find_method(Correction, "holm"))
    made = variants.method_for(given, found)
    assert [getattr(one, "adding", None) for one in (made.test, made.interval)] == [adding] * 2
    assert (made == given) == (not adding)
