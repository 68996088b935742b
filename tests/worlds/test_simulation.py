"""Simulated logs: what is true of each row and list, of chance and its seed, of rankers, of users and of the truth that is told."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.worlds.items import judged_candidates, made_candidates, quality_scores
from rankscope.worlds.world import STREAMS, World, stream

SMALL: dict[str, Any] = {"users": 400, "items": 6, "candidates": 9, "queries": 30}
MAKERS: dict[str, Callable[[], Any]] = {
    "a log by Plackett-Luce": lambda: rs.simulate(seed=1, **SMALL),
    "a log by three policies": lambda: rs.simulate(policy=["Fixed", "EpsilonShuffle", "TopShuffle(top=3)"], **SMALL),
    "a log of three rankers": lambda: rs.simulate(quality=(0, 0.5, 1), **SMALL),
    "an experiment": lambda: rs.simulate("experiment", truth=0, **SMALL),
    "an experiment by chance": lambda: rs.simulate("experiment", policy="PlackettLuce", truth=0, **SMALL),
    "interleaved lists": lambda: rs.simulate(interleave=True, quality=(0.2, 0.8), **SMALL),
    "a cascade": lambda: rs.simulate(browsing="Cascade(stop=1)", **SMALL),
    "short lists": lambda: rs.simulate(users=300, items=20, candidates=4, queries=5),
}


@pytest.fixture(scope="module", params=list(MAKERS))
def made(request: pytest.FixtureRequest) -> Any:
    return MAKERS[request.param]()


# --- rows and lists -----------------------------------------------------------------------------------------------


def test_rows_keep_the_rules_of_logs(made: Any) -> None:
    log = made.log
    clicked = log["click"] == 1
    assert log["click"].is_in([0, 1]).all()
    assert (log["examined"] >= log["click"]).all()  # who clicks has looked
    assert (log["dwell_s"].is_not_null() == clicked).all()  # time is observed where there was a click
    assert (log["conversion"] <= log["click"]).all()
    assert ((log["revenue"] > 0) == (log["conversion"] == 1)).all()
    start = made.scenario.behaviour.world.begins
    seconds = (log["timestamp"] - start).dt.total_milliseconds() / 1000
    assert seconds.min() >= 0
    assert seconds.max() < 14 * 86_400
    assert log["timestamp"].is_sorted()


def test_lists_are_whole(made: Any) -> None:
    lists = made.log.group_by("impression_id").agg(
        pl.col("position"), pl.col("item_id").n_unique().alias("items"),
        *(pl.col(name).n_unique() for name in ("unit_id", "session_id", "query_id", "timestamp")),
    )  # fmt: skip
    lengths = lists["position"].list.len()
    assert (lists["position"] == pl.Series([list(range(1, n + 1)) for n in lengths]).cast(pl.List(pl.Int16))).all()
    assert (lists["items"] == lengths).all()  # no item twice
    for name in ("unit_id", "session_id", "query_id", "timestamp"):
        assert (lists[name] == 1).all()


def test_lists_of_a_visit_follow_each_other(made: Any) -> None:
    firsts = made.log.filter(pl.col("position") == 1)
    turns = firsts.with_columns(pl.col("impression_id").str.split(".").list.last().cast(int).alias("turn"))
    for (_,), visit in turns.group_by("session_id"):
        assert visit.sort("timestamp")["turn"].to_list() == list(range(1, len(visit) + 1))


def test_probabilities_of_lists_hold_together(made: Any) -> None:
    by_chance = any(arm.rival is not None or str(arm.policy) != "Fixed" for arm in made.scenario.arms)
    assert ("p_slate" in made.log.columns) == by_chance
    if not by_chance:
        return
    chances = made.log.select("p_item_pos", "p_prefix", "p_slate").to_numpy()
    assert (chances > 0).all()
    assert (chances <= 1 + 1e-12).all()
    lists = made.log.sort("impression_id", "position").group_by("impression_id", maintain_order=True).agg(pl.all())
    for row in lists.iter_rows(named=True):
        assert len(set(row["p_slate"])) == 1
        assert row["p_prefix"][-1] == row["p_slate"][0]
        assert row["p_prefix"] == sorted(row["p_prefix"], reverse=True)
        assert all(p >= q - 1e-12 for p, q in zip(row["p_item_pos"], row["p_prefix"], strict=True))
        assert row["p_prefix"][0] == pytest.approx(row["p_item_pos"][0], abs=1e-12)


def test_users_are_the_sums_of_their_rows(made: Any) -> None:
    sums = made.log.group_by("unit_id").agg(
        pl.col("session_id").n_unique().alias("sessions"), pl.col("impression_id").n_unique().alias("lists"),
        pl.len().alias("impressions"), pl.col("click").cast(pl.Int64).sum().alias("clicks"),
        pl.col("conversion").cast(pl.Int64).sum().alias("orders"), pl.col("revenue").sum().round(2),
    )  # fmt: skip
    both = made.units.join(sums, on="unit_id", how="left", suffix="_of_rows")
    assert len(both) == made.scenario.behaviour.world.users  # every user comes at least once
    for name in ("sessions", "lists", "impressions", "clicks", "orders"):
        assert (both[name] == both[f"{name}_of_rows"]).all()
    assert (both["revenue"] - both["revenue_of_rows"]).abs().max() < 0.006


def test_a_log_that_is_written_is_read_as_a_log(made: Any, tmp_path: Path) -> None:
    clicks, rows = int(made.log["click"].sum()), len(made.log)
    for name in ("log.parquet", "log.csv", "log.jsonl", "log.tsv.gz"):
        log = rs.read_log(made.write_log(tmp_path / name))
        assert log.rows == rows
        found = log.collect(log.frame.select(pl.col("click").sum(), pl.col("timestamp").max()))
        assert found.row(0) == (clicks, made.log["timestamp"].max())


# --- chance -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["log", "experiment"])
def test_one_seed_gives_one_log(kind: Any, tmp_path: Path) -> None:
    files = []
    for number, seed in enumerate((4, 4, 5)):
        made = rs.simulate(kind, seed=seed, **SMALL | {"users": 80})
        files.append(made.write_log(tmp_path / f"{number}.parquet").read_bytes())
    assert files[0] == files[1] != files[2]


def test_a_user_does_not_depend_on_how_many_there_are() -> None:
    few, many = (rs.simulate(**SMALL | {"users": users}).log for users in (300, 700))
    assert few.equals(many.filter(pl.col("unit_id").str.slice(1).cast(int) <= 300))


def test_streams_of_chance_are_apart() -> None:
    draws = np.stack(
        [stream(3, name, phase, part).random(2000) for name in STREAMS for phase in ("log", "truth") for part in (0, 1)]
    )
    off_diagonal = np.corrcoef(draws) - np.eye(len(draws))
    assert np.abs(off_diagonal).max() < 5 / math.sqrt(2000)


def test_variants_by_one_ranker_are_the_same_world() -> None:
    """A user does the same under both, so that whatever differs between the variants is by chance."""
    made = [rs.simulate("experiment", quality=(0.5, 0.5), split=split, **SMALL) for split in ((1, 1), (1, 9))]
    one, other = (m.log.drop("variant") for m in made)
    assert one.equals(other)
    assert not made[0].log["variant"].equals(made[1].log["variant"])
    assert all((e.difference, e.error) == (0, 0) for e in made[0].effects)


def test_variants_are_given_in_the_shares_that_were_planned() -> None:
    made = rs.simulate("experiment", quality=(0.5, 0.6, 0.7), split=(2, 1, 1), **SMALL | {"users": 6000, "truth": 0})
    counts = dict(made.units["variant"].value_counts().iter_rows())
    for name, share in (("control", 0.5), ("treatment", 0.25), ("treatment_2", 0.25)):
        assert abs(counts[name] - 6000 * share) < 4 * math.sqrt(6000 * share * (1 - share))


# --- rankers and users --------------------------------------------------------------------------------------------


def test_quality_goes_from_chance_to_ideal() -> None:
    candidates = made_candidates(World(queries=400))
    by_chance, ideal = (quality_scores(candidates, q) for q in (0, 1))
    order = np.argsort(-ideal, axis=1)
    assert (np.diff(np.take_along_axis(candidates.labels, order, axis=1), axis=1) <= 0).all()
    assert abs(np.corrcoef(by_chance.ravel(), candidates.labels.ravel())[0, 1]) < 4 / math.sqrt(candidates.labels.size)


@pytest.mark.parametrize("browsing", ["PositionBased", "Cascade"])
def test_a_better_ranker_has_more_clicks_and_more_that_come_back(browsing: str) -> None:
    made = rs.simulate("experiment", quality=(0, 0.25, 0.5, 0.75, 1), browsing=browsing, users=10, truth=3000)
    first = made.effects[0]
    for metric in ("CTR", "ListCTR", "SatisfiedClicks", "SessionsPerUser"):
        effects = [e for e in made.effects if str(e.metric) == metric]
        values = [effects[0].baseline_value, *(e.value for e in effects)]
        assert values == sorted(values), metric
        assert effects[-1].difference > 5 * effects[-1].error, metric
    assert first.baseline_value > 0


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        pytest.param("log", {}, id="log"),
        pytest.param("experiment", {"truth": 0}, id="experiment"),
        pytest.param("log", {"browsing": "Cascade"}, id="cascade"),
    ],
)
def test_click_through_by_position_lies_in_the_known_bands(kind: Any, more: dict[str, Any]) -> None:
    """Worked example 24: 30-40% at 1, 15-20% at 2, 10-12% at 3, 2-3% at 10, under 1% from 20."""
    places = {p.position: p.ctr for p in rs.simulate(kind, users=12_000, seed=3, **more).places}
    for position, low, high in ((1, 0.30, 0.40), (2, 0.15, 0.20), (3, 0.10, 0.12), (10, 0.02, 0.03), (20, 0.0, 0.01)):
        assert low <= places[position] <= high, position


def test_the_first_place_is_always_examined_and_the_others_as_the_curve_says() -> None:
    places = rs.simulate(users=4000, browsing="PositionBased(decay=1)", policy="Fixed").places
    assert places[0].examined == places[0].shown
    for p in places[1:]:
        expected = p.shown / p.position
        assert abs(p.examined - expected) < 4.5 * math.sqrt(expected * (1 - 1 / p.position))


def test_a_cascade_that_stops_has_one_click_a_list() -> None:
    log = rs.simulate(browsing="Cascade(decay=0, stop=1)", **SMALL).log
    lists = (
        log.sort("impression_id", "position").group_by("impression_id", maintain_order=True).agg("click", "examined")
    )
    for row in lists.iter_rows(named=True):
        last = row["click"].index(1) if 1 in row["click"] else len(row["click"]) - 1
        assert sum(row["click"]) <= 1
        assert row["examined"] == [int(k <= last) for k in range(len(row["click"]))]


def test_who_leaves_at_once_makes_one_visit() -> None:
    made = rs.simulate(leave_bad=1.0, leave_good=1.0, visits=1.0, **SMALL)
    assert (made.units["sessions"] == 1).all()
    stay = rs.simulate(leave_bad=0.0, leave_good=0.0, visits=1.0, **SMALL)
    assert stay.units["sessions"].mean() == pytest.approx(14, abs=2)


def test_what_users_did_before_tells_of_what_they_do() -> None:
    made = rs.simulate("experiment", users=4000, truth=0)
    units = made.units
    for name in ("sessions", "clicks"):
        assert np.corrcoef(units[f"{name}_before"], units[name])[0, 1] > 0.4
    by_variant = units.group_by("variant").agg(
        pl.col("clicks_before").mean(), pl.col("clicks_before").std().alias("s"), pl.len()
    )
    (one, s, n), (other, t, m) = (by_variant.row(i)[1:] for i in (0, 1))
    assert abs(one - other) < 4 * math.sqrt(s**2 / n + t**2 / m)  # nobody had met a variant
    assert not [name for name in rs.simulate(**SMALL).units.columns if name.endswith("_before")]


# --- what is true -------------------------------------------------------------------------------------------------


def test_other_policies_are_estimated_without_bias() -> None:
    """Clicks weighted by how much more probable another policy makes an item at its place, or a list, are the clicks under that policy."""
    small: dict[str, Any] = {"users": 30_000, "items": 3, "candidates": 5, "queries": 4, "visits": 0.01, "seed": 2}
    logged = rs.simulate(policy="PlackettLuce(temperature=1)", quality=0.7, **small)
    target = rs.simulate(policy="Fixed", quality=0.7, **small)
    firsts = pl.col("impression_id").str.ends_with(".1.1")  # a first list is there under every policy
    log, truth = (made.log.filter(firsts) for made in (logged, target))
    fixed = truth.group_by("query_id", "item_id", "position").agg(pl.len()).drop("len").with_columns(match=1.0)
    weighed = log.join(fixed, on=["query_id", "item_id", "position"], how="left").with_columns(
        pl.col("match").fill_null(0.0)
    )
    whole = pl.col("match").min().over("impression_id")
    for weight in (pl.col("match") / pl.col("p_item_pos"), whole / pl.col("p_slate")):
        values = weighed.group_by("impression_id").agg((weight * pl.col("click")).sum().alias("v"))["v"]
        expected = truth["click"].sum() / truth["impression_id"].n_unique()
        spread = math.sqrt(values.var() / len(values) + expected / len(values))
        assert abs(values.mean() - expected) < 4 * spread
        naive = log["click"].sum() / log["impression_id"].n_unique()
        assert abs(naive - expected) > 4 * spread  # what the weights are for


def test_effects_turn_their_sign_with_the_variants() -> None:
    there, back = (
        rs.simulate("experiment", users=10, quality=q, truth=600, metrics=["CTR", "RPM"])
        for q in ((0.3, 0.8), (0.8, 0.3))
    )
    for one, other in zip(there.effects, back.effects, strict=True):
        assert (one.value, one.baseline_value) == (other.baseline_value, other.value)
        assert one.difference == -other.difference
        assert one.error == pytest.approx(other.error)


def test_an_experiment_shows_its_true_effect() -> None:
    made = rs.simulate("experiment", quality=(0.2, 0.9), users=12_000, truth=12_000, metrics="CTR", seed=5)
    found = rs.experiment(made.log, primary="CTR")["treatment", "CTR"]
    half = (found.bounds.upper - found.bounds.lower) / 2
    assert abs(found.difference - made["CTR"].difference) < 2 * half
    assert half < made["CTR"].difference / 4  # so that this could have failed
    assert made["CTR"].error < half / 5  # users who meet both variants tell more than users who meet one


def test_rows_are_not_independent_and_users_are() -> None:
    """A/A: 2,000 times a log's users are given variants by chance. Users are tested at 5%; rows are not."""
    made = rs.simulate("experiment", quality=(0.5, 0.5), users=10_000, truth=0, seed=11)
    assert made.design_effect >= 3
    clicks, rows = (made.units[name].to_numpy().astype(float) for name in ("clicks", "impressions"))
    sums = np.stack([np.ones_like(rows), clicks, rows, clicks**2, clicks * rows, rows**2], axis=1)
    times = 2000
    given = np.random.default_rng(1).random((times, len(rows))) < 0.5
    treated = given.astype(float) @ sums
    by_unit, by_row = [], []
    for n, c, r, cc, cr, rr in (treated.T, (sums.sum(axis=0) - treated).T):
        rate = c / r
        by_unit.append((rate, (cc - 2 * rate * cr + rate**2 * rr) / r**2 * n / (n - 1)))
        by_row.append((rate, rate * (1 - rate) / r))

    def rejected(sides: Any) -> float:
        (one, of_one), (other, of_other) = sides
        return float((np.abs(one - other) > 1.959964 * np.sqrt(of_one + of_other)).mean())

    assert abs(rejected(by_unit) - 0.05) < 3 * math.sqrt(0.05 * 0.95 / times)
    expected = math.erfc(1.959964 / math.sqrt(2 * made.design_effect))
    assert expected > 0.24
    assert abs(rejected(by_row) - expected) < 4 * math.sqrt(expected * (1 - expected) / times)


# --- interleaving, judgments ---------------------------------------------------------------------------------------


def test_interleaved_lists_are_drafts() -> None:
    log = rs.simulate(interleave=True, quality=(0.1, 0.9), **SMALL | {"users": 2000}).log.sort(
        "impression_id", "position"
    )
    for row in log.group_by("impression_id", maintain_order=True).agg(pl.all()).head(500).iter_rows(named=True):
        teams = row["team"]
        assert all(set(teams[i : i + 2]) == {"a", "b"} for i in range(0, len(teams) - 1, 2))  # one each a round
        for team, ranks in (("a", row["rank_a"]), ("b", row["rank_b"])):
            picks = [rank for of, rank in zip(teams, ranks, strict=True) if of == team]
            assert picks == sorted(picks)
            for place, (of, rank) in enumerate(zip(teams, ranks, strict=True)):
                above = set(ranks[:place])
                assert of != team or rank == min(set(range(1, 10)) - above)  # the best that is left
    credit = dict(log.filter(pl.col("click") == 1)["team"].value_counts().iter_rows())
    assert credit["b"] > 1.2 * credit["a"]


QRELS = {"q1": {"a": 3, "b": 0, "c": 1}, "q2": {"a": 0, "x": 2}, "q9": {"z": 0}}
RUNS = {
    "old": {"q1": {"b": 3.0, "a": 2.0, "n": 2.0}, "q2": {"x": 1.0}},
    "new": {"q1": {"a": 9.0, "c": 1.0}, "q2": {"x": 2.0, "a": 1.0}},
}


def test_runs_are_shown_as_they_rank() -> None:
    made = rs.simulate("experiment", qrels=QRELS, runs=RUNS, users=600, truth=100, metrics="CTR")
    expected = {
        ("old", "q1"): ["b", "n", "a"],
        ("old", "q2"): ["x"],
        ("new", "q1"): ["a", "c"],
        ("new", "q2"): ["x", "a"],
    }
    lists = (
        made.log.sort("impression_id", "position")
        .group_by("impression_id")
        .agg("item_id", "label", pl.col("variant", "query_id").first())
    )
    assert set(zip(lists["variant"], lists["query_id"], strict=True)) == set(expected)
    for row in lists.iter_rows(named=True):
        assert row["item_id"] == expected[row["variant"], row["query_id"]]
        assert row["label"] == [float(QRELS[row["query_id"]].get(item, 0)) for item in row["item_id"]]
    assert made["new", "CTR"].difference > 0


def test_judgments_alone_are_ranked_by_quality() -> None:
    log = rs.simulate(qrels=QRELS, quality=1.0, policy="Fixed", users=300).log
    lists = log.sort("impression_id", "position").group_by("impression_id").agg("label")["label"].to_list()
    assert {tuple(labels) for labels in lists} == {(3.0, 1.0, 0.0), (2.0, 0.0), (0.0,)}


# --- bad input ----------------------------------------------------------------------------------------------------

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("an unknown kind", {"kind": "logs"}, "kind is one of 'log', 'experiment'"),
    ("no users", {"users": 0}, "users must be from 1"),
    ("half a user", {"users": 1.5}, "users must be a whole number"),
    ("an unknown parameter", {"tast": 1}, "no parameter 'tast', did you mean taste"),
    ("too much taste", {"taste": 3}, "taste must be from 0 to 2"),
    ("a chance above 1", {"attraction": (0.1, 1.2)}, "attraction must be from 0 to 1"),
    ("no attraction", {"attraction": ()}, "attraction must be a list of numbers"),
    ("grades that are not all", {"grades": (0.5, 0.2)}, "must add up to 1"),
    ("no date", {"start": "yesterday"}, "written like 2024-01-01"),
    ("a negative quality", {"quality": -0.1}, "a number from 0"),
    ("a quality that is none", {"quality": "good"}, "a number from 0"),
    ("no quality", {"quality": ()}, "name the quality"),
    ("one variant", {"kind": "experiment", "quality": 0.5}, "two variants or more"),
    ("several policies of an experiment", {"kind": "experiment", "policy": ["Fixed", "PlackettLuce"]}, "by one policy"),
    ("no policy", {"policy": []}, "name a policy"),
    ("an unknown browsing", {"browsing": "Cascad"}, "did you mean Cascade"),
    ("a split of a log", {"split": (1, 1)}, "split is of an experiment"),
    ("a split of three", {"kind": "experiment", "split": (1, 1, 1)}, "a share above 0 for each of 2 variants"),
    ("a split without a share", {"kind": "experiment", "split": (1, 0)}, "a share above 0"),
    ("the truth of a log", {"truth": 5}, "truth is of an experiment"),
    ("half a truth", {"kind": "experiment", "truth": 0.5}, "a whole number, 0 for none"),
    ("metrics of a log", {"metrics": "CTR"}, "metrics are for the true effects of an experiment"),
    ("an unknown metric", {"kind": "experiment", "metrics": "CTRR"}, "did you mean CTR"),
    ("one ranker interleaved", {"interleave": True}, "takes two rankers, not 1"),
    ("an interleaved experiment", {"kind": "experiment", "interleave": True}, "interleave is of a log"),
    ("chance within drafts", {"interleave": True, "policy": "PlackettLuce"}, "leave the policy out"),
    ("runs without judgments", {"runs": RUNS}, "give qrels as well"),
    ("runs and qualities", {"qrels": QRELS, "runs": RUNS, "quality": (0.5, 0.6)}, "not both"),
    ("more than memory", {"users": 90_000_000, "days": 3000}, "takes about"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), [pytest.param(o, m, id=name) for name, o, m in BAD])
def test_what_cannot_be_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        rs.simulate(**options)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("qrels", "runs", "message"),
    [
        pytest.param({"q1": {"a": 0}}, None, "no document is judged relevant", id="nothing relevant"),
        pytest.param(
            {"q1": {"a": 1}}, {"q7": {"a": 1.0}}, "the query ids of judgments and runs", id="no query of both"
        ),
    ],
)
def test_judgments_that_say_nothing_are_refused(qrels: Any, runs: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        rs.simulate(qrels=qrels, runs=runs, users=10)


def test_the_page_lists_every_parameter_with_its_meaning() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/online.md").read_text(encoding="utf-8")
    for one in fields(World):
        usual = one.default if isinstance(one.default, tuple) else (one.default,)
        default = ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in usual)
        assert f"| `{one.name}` | {World.about(one.name)} | {default} |" in page


def test_judged_queries_are_asked_as_often_as_their_popularity_says() -> None:
    qrels = pl.DataFrame({"query_id": ["a", "b", "c", "d"], "doc_id": ["x"] * 4, "grade": [1.0] * 4})
    candidates, _ = judged_candidates(World.of({"popularity": 1.5}), qrels)
    expected = np.arange(1.0, 5.0) ** -1.5
    assert sorted(candidates.popularity, reverse=True) == pytest.approx((expected / expected.sum()).tolist())
