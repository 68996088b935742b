"""Traffic of interleaving and of an A/B test: attention, sums of units and lists needed, against plain loops over the rows."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.inference.power import queries_needed, units_needed

POWER_OF_80, LEVEL_OF_5 = 0.8416212, 1.9599640  # quantiles of the normal distribution


def mixed_log() -> list[dict[str, Any]]:
    """Lists of three of four items by two rankers, of users with one to four lists; some lists and users without a click."""
    draws = np.random.default_rng(12)
    rankings = {"A": ["w", "x", "y", "z"], "B": ["y", "z", "w", "x"]}
    rows = []
    for number in range(240):
        mixed = rs.TeamDraft().mix(list(rankings.values()), 3, 3, number)
        query = ("tea", "mug")[number % 2]
        for at, (item, team) in enumerate(zip(mixed.items, mixed.teams, strict=True)):
            ranks = {f"rank_{name}": order.index(item) + 1 for name, order in rankings.items()}
            click = int(draws.random() < {"w": 0.5, "x": 0.3, "y": 0.2, "z": 0.1}[item] / (at + 1) ** 0.7)
            rows.append({
                "user": f"u{math.isqrt(number * 40)}", "list_id": f"l{number}", "query_id": query, "item": item, "position": at + 1,
                "click": click if number % 7 else 0, "team": "AB"[team], **ranks, "merge_method": "TeamDraft",
            })  # fmt: skip
    return rows


ROWS = mixed_log()


@pytest.fixture(scope="module")
def found() -> Any:
    return rs.interleaving(pl.DataFrame(ROWS)).traffic


def slope(rows: list[dict[str, Any]], decay: float) -> float:
    """How the likelihood of the places of clicks, given their items, rises with the decay: 0 at its top."""
    shown: dict[Any, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        shown[row["query_id"], row["item"]][row["position"]] += 1
    out = 0.0
    for row in rows:
        if row["click"]:
            weights = {place: n * place**-decay for place, n in shown[row["query_id"], row["item"]].items()}
            mean = sum(w * math.log(place) for place, w in weights.items()) / sum(weights.values())
            out += mean - math.log(row["position"])
    return out


def test_attention_falls_as_the_clicks_on_moved_items_say(found: Any) -> None:
    assert found.decay > 0.3
    assert slope(ROWS, found.decay) == pytest.approx(0, abs=1e-5)
    assert slope(ROWS, found.decay - 1e-3) > 0 > slope(ROWS, found.decay + 1e-3)


def by_user() -> dict[str, dict[str, float]]:
    """Sums of each user, list by list."""
    decay = rs.interleaving(pl.DataFrame(ROWS)).traffic.decay  # type: ignore[union-attr]
    lists: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in ROWS:
        lists[row["user"], row["list_id"]].append(row)
    out: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (user, _), rows in lists.items():
        sums, clicked = out[user], [row for row in rows if row["click"]]
        won = sum(row["team"] == "A" for row in clicked) - sum(row["team"] == "B" for row in clicked)
        sums["lists"] += 1
        sums["clicks"] += len(clicked)
        sums["of"] += bool(clicked)
        sums["apart"] += (won > 0) - (won < 0)
        for name in "AB":
            on_list = [row for row in clicked if row[f"rank_{name}"] <= 3]
            sums[name] += sum((row["position"] / row[f"rank_{name}"]) ** decay for row in on_list)
    return out


def test_sums_of_users_are_those_of_their_lists(found: Any) -> None:
    sums = {
        name: np.array([one[name] for one in by_user().values()])
        for name in ("lists", "clicks", "of", "apart", "A", "B")
    }
    assert (sums["clicks"] == 0).any(), "there are users without a click"
    units, of = len(sums["of"]), sums["of"].sum()
    assert (found.units, found.lists, found.each) == (units, 240, 240 / units)
    assert found.preference == pytest.approx(sums["apart"].sum() / of)
    assert found.difference == pytest.approx((sums["A"] - sums["B"]).sum() / 240)
    assert found.value == pytest.approx(sums["clicks"].sum() / 240)
    apart = sums["apart"] - found.preference * sums["of"]
    assert found.deviation == pytest.approx(math.sqrt((apart**2).sum() * units) / of)
    clicks = sums["clicks"] - found.value * sums["lists"]
    assert found.deviation_of_clicks == pytest.approx(math.sqrt((clicks**2).sum() / (units - 1)) / (240 / units))


def test_lists_needed_are_those_of_the_units_needed(found: Any) -> None:
    for share in (1.0, 0.5):
        one = queries_needed(found.deviation, abs(found.preference) * share)
        both = units_needed(found.deviation_of_clicks, abs(found.difference) * share)
        assert found.needed(share) == (math.ceil(one * found.each), math.ceil(both * found.each))
    assert found.needed() == found.needed(1.0)
    one, both = found.needed(0.1)
    usual = (POWER_OF_80 + LEVEL_OF_5) ** 2 * found.each
    assert one == pytest.approx(usual * (found.deviation / found.preference / 0.1) ** 2, rel=0.01)
    assert both == pytest.approx(4 * usual * (found.deviation_of_clicks / found.difference / 0.1) ** 2, rel=0.01)
    assert found.multiplier == found.needed()[1] / found.needed()[0]
    assert found.low < found.multiplier < found.high


def test_the_interval_is_that_of_units_drawn_again(found: Any) -> None:
    """400 times each unit is drawn as often as a Poisson variable says; the lists of both designs follow from each draw by their formula."""
    sums = {
        name: np.array([one[name] for one in by_user().values()])
        for name in ("lists", "clicks", "of", "apart", "A", "B")
    }
    table = np.round(np.column_stack([sums[name] for name in ("apart", "of", "clicks", "lists", "A", "B")]), 9)
    table = table[np.argsort([*by_user()])]
    times = np.random.default_rng(0).poisson(1.0, (400, len(table)))
    multipliers = []
    for each in times:
        apart, of, clicks, lists, one, other = np.repeat(table, each, axis=0).T
        preference, difference, rate = (
            apart.sum() / of.sum(),
            (one - other).sum() / lists.sum(),
            clicks.sum() / lists.sum(),
        )
        of_interleaving = ((apart - preference * of) ** 2).sum() / of.sum() ** 2 / preference**2
        of_ab = 4 * ((clicks - rate * lists) ** 2).sum() / lists.sum() ** 2 / difference**2
        multipliers.append(of_ab / of_interleaving)
    ends = np.sort(multipliers)[[9, 389]]  # the 10th and the 390th of 400
    assert [found.low, found.high] == pytest.approx(ends.tolist(), rel=1e-9)
    assert found.in_words.endswith(f" times the lists (95% interval {found.low:.1f} to {found.high:.1f})")


def test_items_at_one_place_say_nothing_of_attention() -> None:
    """Those without a click, those always at one place, and rows without a place change nothing."""
    at_one_place = [
        row | {"item": "still", "position": 4, "list_id": f"l{n}", "click": 0} for n, row in enumerate(ROWS[:20])
    ]
    more = pl.DataFrame([*ROWS, *at_one_place])
    clicked = more.with_columns(click=pl.when(pl.col("item") == "still").then(1).otherwise("click"))
    expected = rs.interleaving(pl.DataFrame(ROWS)).traffic
    assert expected is not None
    for log in (more, clicked):
        traffic = rs.interleaving(log, credit="TeamCredit").traffic
        assert traffic is not None
        assert traffic.decay == expected.decay
    alike = pl.DataFrame(ROWS).with_columns(item=pl.concat_str("item", "position"))
    assert rs.interleaving(alike).traffic is None, "no item was at two places"


def test_a_click_that_is_unknown_is_none() -> None:
    empty = pl.DataFrame(ROWS).with_columns(click=pl.when(pl.col("click") > 0).then(pl.col("click")))
    assert rs.interleaving(empty).traffic == rs.interleaving(pl.DataFrame(ROWS)).traffic


def test_what_shows_no_difference_in_clicks_has_no_plan() -> None:
    frame = pl.DataFrame(ROWS)
    third = frame.with_columns(rank_C=5 - pl.col("rank_A"), team=pl.col("team").replace("B", "C"))
    third = pl.concat([third, frame.with_columns(rank_C=5 - pl.col("rank_A"), list_id=pl.col("list_id") + "again")])
    cases: list[tuple[str, pl.DataFrame, dict[str, Any]]] = [
        ("equal rankers", frame.with_columns(rank_B=pl.col("rank_A")), {}),
        ("three rankers", third.drop("merge_method"), {}),
        ("competitive pairs", frame, {"pairs": "competitive"}),
        ("no items", frame.drop("item"), {}),
        ("no ranks", frame.drop("rank_A", "rank_B", "merge_method"), {}),
    ]
    for name, log, options in cases:
        assert rs.interleaving(log, **options).traffic is None, name
