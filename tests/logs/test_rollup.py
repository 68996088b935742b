"""A log rolled up in parts, each of whole units: the same as the whole, however it is cut and in whatever order parts are added."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.made.parts import assert_close, scattered
from tests.verbs.online.test_online import made

import rankscope as rs
from rankscope import impressions
from rankscope.diagnostics.rule import Finding
from rankscope.errors import DataError
from rankscope.impressions import Log
from rankscope.logs.base import OnlineMetric, RatioParts, parse_online_metrics
from rankscope.logs.cuts import with_days
from rankscope.logs.health import examine
from rankscope.logs.metrics import usual_metrics
from rankscope.logs.rollup import UnitTotals, arrivals, roll_up
from rankscope.moments import Moments
from rankscope.scoring.logs import read_log

EACH_LEVEL = "CTR Mean(revenue) Attribute(dwell) ListCTR TimeToSuccess SessionsPerUser ReturnRate@2 LTV@3 RPM"
CUTS = [
    pytest.param(2, 1, id="two parts"),
    pytest.param(5, 2, id="five parts"),
    pytest.param(90, 3, id="more parts than units"),
]


def a_log(users: int = 60) -> Log:
    """A log with fractions in it, some of whose users have no country, and few are in both variants."""
    rows = made(users).with_columns(
        pl.col("revenue") * 1.1, pl.col("dwell") / 7, variant=pl.when(pl.col("user") == "u7").then(pl.col("query")).otherwise(pl.col("country")),
        country=pl.when(pl.col("item") != "i3").then("country"),
    )  # fmt: skip
    return rs.read_log(rows)


def sorted_units(units: UnitTotals) -> pl.DataFrame:
    """What there is of each unit, in the order of the ids and groups."""
    columns: dict[str, Any] = {"id": units.ids, **units.groups}
    for kind, table in (("n", units.numerators), ("d", units.denominators)):
        columns |= {f"{kind}{i}": row for i, row in enumerate(table)}
    return pl.DataFrame(columns).sort("id", *units.groups)


def cut(log: Log, parts: int, seed: int) -> list[Log]:
    """A log in parts of whole units, in any order."""
    rows = log.collect(log.frame)
    users = rows["unit_id"].unique().sort().to_list()
    place = np.random.default_rng(seed).integers(0, parts, len(users))
    pieces = [
        rows.filter(pl.col("unit_id").is_in([u for u, at in zip(users, place, strict=True) if at == part]))
        for part in range(parts)
    ]
    return [replace(log, frame=piece.lazy()) for piece in pieces]


def assert_units(one: UnitTotals, other: UnitTotals, exact: bool = True) -> None:
    a, b = sorted_units(one), sorted_units(other)
    numbers = [name for name, kind in a.schema.items() if kind.is_numeric()]
    assert a.drop(numbers).equals(b.drop(numbers))
    np.testing.assert_allclose(a.select(numbers).to_numpy(), b.select(numbers).to_numpy(), rtol=1e-12, atol=0)
    if exact:
        assert a.equals(b)
    facts = ("metrics", "unit", "noun", "rows", "censored", "end", "count")
    assert [getattr(one, name) for name in facts] == [getattr(other, name) for name in facts]


@pytest.mark.parametrize(("parts", "seed"), CUTS)
@pytest.mark.parametrize("by", [pytest.param([], id="units"), pytest.param(["variant"], id="units by variant")])
def test_parts_of_whole_units_add_up_to_the_whole(parts: int, seed: int, by: list[str]) -> None:
    log = a_log()
    # lists and sessions of a unit are summed in any order: the level of rows and units keeps the order of rows
    for exact, metrics in (
        (True, "CTR Mean(revenue) Attribute(dwell) ListCTR LTV@3 ReturnRate@2"),
        (False, EACH_LEVEL),
    ):
        asked = parse_online_metrics(metrics)
        whole = roll_up(log, asked, by, attributes=["country"], ids=True)
        assert sum(whole.censored) > 0
        pieces = [
            roll_up(part, asked, by, attributes=["country"], ids=True, end=whole.end) for part in cut(log, parts, seed)
        ]
        assert_units(reduce(UnitTotals.__add__, pieces), whole, exact)
        assert_units(reduce(UnitTotals.__add__, reversed(pieces)), whole, exact)


def test_rows_that_are_units_count_with_something_below_the_line_alone() -> None:
    (ratio,) = parse_online_metrics("Ratio(a, b)")
    rows = read_log({"variant": ["A", "B", "A"], "a": [1.0, 2.0, 3.0], "b": [2.0, 0.0, 4.0]})
    users = read_log({"user": ["x", "y", "z"], "a": [1.0, 2.0, 3.0], "b": [2.0, 0.0, 4.0]})
    assert roll_up(rows, [ratio]).counted(ratio).count == 2
    assert roll_up(users, [ratio]).counted(ratio).count == 3


@pytest.mark.parametrize(
    ("more", "read_as"),
    [({}, "a table with one or more rows per unit"), ({"item_id": ["a", "b"]}, "a log")],
    ids=["a table of users", "a log of items"],
)
def test_what_the_rows_are_taken_for_is_said_first(more: dict[str, Any], read_as: str) -> None:
    log = read_log({"user": ["x", "y"], "clicks": [1, 0], **more})
    assert log.source.notes[0].startswith(f"read log as {read_as}: ")


def test_units_with_other_ends_or_twice_are_not_added() -> None:
    one, two = cut(a_log(), 2, 1)
    early = datetime(2024, 3, 5, tzinfo=UTC)
    metrics = parse_online_metrics("LTV@3")
    with pytest.raises(DataError, match=r"units end at 2024-03-05 .* roll both up with the same end"):
        roll_up(one, metrics, end=early) + roll_up(two, metrics, end=early.replace(day=6))
    with pytest.raises(DataError, match=r"user u\d+ is in both parts: a part has all rows of its users"):
        roll_up(one, metrics, ids=True, end=early) + roll_up(one, metrics, ids=True, end=early)
    with pytest.raises(DataError, match="other metrics, columns or kinds"):
        roll_up(one, metrics, end=early) + roll_up(two, parse_online_metrics("CTR"), end=early)
    assert (roll_up(one, metrics, end=early) + roll_up(two, metrics, end=early)).end == early


@pytest.mark.parametrize(("parts", "seed"), CUTS)
def test_moments_of_parts_are_those_of_the_whole(parts: int, seed: int) -> None:
    log, metrics = a_log(), parse_online_metrics("CTR RPM ListCTR")
    whole = roll_up(log, metrics)
    for metric in metrics:
        one = Moments.of(whole.columns(metric))
        pieces = [Moments.of(roll_up(part, metrics).columns(metric)) for part in cut(log, parts, seed)]
        for several in (sum(pieces, Moments.empty(2)), sum(reversed(pieces), Moments.empty(2))):
            assert several.count == one.count
            np.testing.assert_allclose(several.mean, one.mean, rtol=1e-12)
            np.testing.assert_allclose(several.products, one.products, rtol=1e-12)


@pytest.mark.parametrize(("parts", "seed"), CUTS)
def test_rows_elsewhere_say_what_rows_here_say(parts: int, seed: int) -> None:
    log = a_log()
    there, asked = scattered(log, parts, seed)
    metrics = [*usual_metrics(log), *parse_online_metrics(EACH_LEVEL)]
    for by in ([], ["variant"]):
        assert_units(
            roll_up(there, metrics, by, attributes=["country"], ids=True),
            roll_up(log, metrics, by, attributes=["country"], ids=True),
            exact=False,
        )
    assert set(asked.within) == {"", "unit_id"}
    assert (there.rows, arrivals(there)) == (log.rows, arrivals(log))
    days = [roll_up(with_days(one), parse_online_metrics("CTR"), [" day"], ids=True) for one in (log, there)]
    assert_units(days[0], days[1])


def groups_of(finding: Finding) -> list[str]:
    """The lists, sessions and users of a finding; rows on other machines have no numbers."""
    return [place for place in finding.places if place.split()[0] in {"list", "session", "user"}]


@pytest.mark.parametrize(("parts", "seed"), CUTS)
def test_what_is_wrong_is_found_in_parts(parts: int, seed: int) -> None:
    rows = made(40).with_columns(
        pl.when(pl.col("item") == "i3").then(-1.0).otherwise(pl.col("revenue")).alias("revenue"),
        pl.when(pl.col("user") != "u5").then("session").alias("session"), shown=pl.col("item") != "i4", variant=pl.when(pl.col("item") == "i9").then(pl.lit("b")).otherwise(pl.lit("a")),
        revenue_before=pl.when(pl.col("user") == "u3").then("position").otherwise(pl.col("country").eq("de") * 5 + pl.col("user").str.slice(1).cast(pl.Int64) % 3),
    )  # fmt: skip
    log = rs.read_log(
        pl.concat([rows, rows.head(3)]).filter(pl.col("position") != 2, ~pl.col("time").str.contains("03-04"))
    )
    here, elsewhere = examine(log), examine(scattered(log, parts, seed)[0])
    assert {"RS602", "RS603", "RS604", "RS605", "RS612", "RS613", "RS614", "RS615"} <= set(here.as_dict())
    assert elsewhere.unordered == ("RS607",)
    assert "Not checked, as rows have no order: RS607" in elsewhere.remark()
    told = [
        {f.code: (f.message, f.count, groups_of(f)) for f in health.facts if f.code != "RS607"}
        for health in (here, elsewhere)
    ]
    assert told[0] == told[1]
    variants = rows.filter(pl.col("user") != "u3").with_columns(variant="country")
    apart = [
        examine(one).of("RS615") for one in (rs.read_log(variants), scattered(rs.read_log(variants), parts, seed)[0])
    ]
    assert "differs between variants de and fr" in apart[0][0].message
    assert [f.message for f in apart[0]] == [f.message for f in apart[1]]
    own = pl.col("position") - (pl.col("user") == "u3").cast(pl.Int64)
    low = rs.read_log(rows.with_columns(position=own))
    for one in (low, scattered(low, parts, seed)[0]):
        (lowest,) = examine(one).of("RS601")
        assert "positions start at 0" in lowest.message


def test_a_log_of_many_rows_is_grouped_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    log = rs.read_log(
        made(60).with_columns(user=pl.when(pl.col("user") != "u1").then("user"), revenue=pl.col("revenue") * 1.1)
    )
    named = rs.read_log(made(60).with_columns(revenue=pl.col("revenue") * 1.1))
    asked = parse_online_metrics("CTR Mean(revenue) Attribute(dwell) ListCTR LTV@3")
    whole, came = roll_up(named, asked, ids=True), arrivals(named)
    monkeypatch.setattr(impressions, "PART", 50)
    queries = []

    def collect(query: pl.LazyFrame) -> pl.DataFrame:
        queries.append(query)
        return query.collect()

    counted = replace(named, collect=collect)
    assert_units(roll_up(counted, asked, ids=True), whole)
    assert len(queries) >= named.rows / 50
    assert arrivals(counted) == came
    with pytest.raises(DataError, match=r"rows name no user"):  # they are in one of the parts
        roll_up(log, asked)


def test_rows_that_are_units_are_not_brought_from_elsewhere() -> None:
    there, _ = scattered(rs.read_log(made(5).select("item", "click")))
    with pytest.raises(DataError, match=r"no user, session or list is named.* columns=\{\"visitor\": \"unit_id\"\}"):
        roll_up(there, parse_online_metrics("CTR"))


def test_results_of_rows_elsewhere() -> None:
    log = a_log()
    there, _ = scattered(log)
    asked = "Quantile(dwell, q=0.9) CTR TimeToSuccess"
    for by in ("day", "position"):
        here, elsewhere = (
            rs.online(log, asked, by=by, slices="country"),
            rs.online(there, asked, by=by, slices="country"),
        )
        for view in ("results", f"by_{by}", "slices"):
            assert elsewhere.to_dicts(view)
            assert_close(elsewhere.to_dicts(view), here.to_dicts(view))
    trials = [
        rs.experiment(
            one, "Quantile(dwell, q=0.9) RPM", covariates={"RPM": "position"}, winsorise=0.99, slices="country"
        )
        for one in (there, log)
    ]
    assert_close(trials[0].to_dicts(), trials[1].to_dicts())
    assert [w.message for w in trials[0].warnings] == [w.message for w in trials[1].warnings]


def test_an_own_metric_is_asked_elsewhere() -> None:
    class TopShare(OnlineMetric):
        """Clicks at the top."""

        needs = ("click", "position")
        unit, above, below = "click", "clicks at position 1", "clicks"

        def parts(self, log: Log, end: datetime | None) -> RatioParts:
            clicked = pl.col("click") > 0
            return RatioParts("row", (clicked & (pl.col("position") == 1)).cast(float), clicked.cast(float))

    log = a_log()
    assert rs.online(scattered(log)[0], TopShare())["TopShare"] == rs.online(log, TopShare())["TopShare"]
