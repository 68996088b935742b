"""Interleaved lists: what is taken of clicks of every kind, of few lists, of three rankers and of lists that cannot be told apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.experiments.test_traffic import ROWS, slope

import rankscope as rs
from rankscope.errors import DataError
from rankscope.experiments.interleaved import Interleaved
from rankscope.experiments.traffic import Traffic, decay_of, traffic_of


def lists_of(*lists: tuple[str, str, str], **more: Any) -> dict[str, list[Any]]:
    """Lists by user, the team of each place, and the clicks of each place: ("u", "ab", "10")."""
    rows = [(user, f"l{n}", at + 1, team, int(c)) for n, (user, teams, clicks) in enumerate(lists) for at, (team, c) in enumerate(zip(teams, clicks, strict=True))]  # fmt: skip
    return {name: [row[i] for row in rows] for i, name in enumerate(("user", "list_id", "position", "team", "click"))} | more  # fmt: skip


def few_items() -> list[dict[str, Any]]:
    """Two items, each at two places in turn; the second was clicked once."""
    clicks = {("tea", 1): "1101", ("tea", 2): "0100", ("mug", 1): "0000", ("mug", 2): "0010"}
    return [
        {"user": f"u{number}", "list_id": f"l{number}", "query_id": "q", "item": item, "position": place, "click": int(clicks[item, place][number // 2]), "team": "AB"[(number + place) % 2], "rank_A": 1 if item == "tea" else 2, "rank_B": 2 if item == "tea" else 1}
        for number in range(8)
        for place, item in enumerate(("tea", "mug") if number % 2 else ("mug", "tea"), 1)
    ]  # fmt: skip


def test_one_click_on_an_item_at_two_places_says_something_of_attention() -> None:
    rows = few_items()
    found = decay_of(Interleaved.of(rs.read_log(pl.DataFrame(rows))))
    assert found is not None
    assert slope(rows, found) == pytest.approx(0, abs=1e-6)
    without = decay_of(Interleaved.of(rs.read_log(pl.DataFrame(rows).filter(pl.col("item") == "tea"))))
    assert without is not None
    assert without != pytest.approx(found, abs=1e-3)
    first = [row | {"click": int(row["position"] == 1)} for row in rows]
    assert decay_of(Interleaved.of(rs.read_log(pl.DataFrame(first)))) == pytest.approx(8.0), (
        "the steepest that is looked for"
    )
    last = [row | {"click": int(row["position"] == 2)} for row in rows]
    assert decay_of(Interleaved.of(rs.read_log(pl.DataFrame(last)))) == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("credit", ["TeamCredit(event=conversion)", "TeamCredit(dwell=30)"])
def test_clicks_of_an_ab_test_are_all_clicks_whatever_is_credited(credit: str) -> None:
    rows = [
        row | {"conversion": row["click"] * (n % 3 == 0), "dwell_s": 40.0 if n % 3 else 20.0}
        for n, row in enumerate(ROWS)
    ]
    plain, other = (rs.interleaving(pl.DataFrame(rows), credit=one).traffic for one in ("TeamCredit", credit))
    assert plain is not None
    assert other is not None
    for name in ("difference", "value", "deviation_of_clicks", "decay", "lists"):
        assert getattr(other, name) == pytest.approx(getattr(plain, name), rel=1e-12)
    assert other.preference != plain.preference


def test_without_a_preference_or_without_a_difference_in_clicks_there_is_no_plan() -> None:
    frame = pl.DataFrame(few_items())
    even = frame.with_columns(team=pl.when(pl.col("position") == 1).then(pl.lit("A")).otherwise(pl.lit("B")), click=1)
    assert traffic_of(Interleaved.of(rs.read_log(even)), decay=0.5) is None
    alike = frame.with_columns(rank_B=pl.col("rank_A"))
    interleaved = Interleaved.of(rs.read_log(alike))
    won, of = interleaved.units.columns(interleaved.units.metrics[0]).sum(axis=0)
    assert 2 * won != of, "one ranker is preferred"
    assert traffic_of(interleaved, decay=0.5) is None
    assert traffic_of(Interleaved.of(rs.read_log(frame)), decay=0.5) is not None


def test_lists_needed_grow_with_the_square_of_what_is_looked_for() -> None:
    plan = Traffic(0.2, 0.05, 0.5, 0.9, 0.7, 50, 200, 0.8, 0.8, 0.05, 1.5, 30.25)
    assert plan.each == 4
    for share in (1.0, 0.25):
        one, both = plan.needed(share)
        usual = 4 * (0.8416212 + 1.9599640) ** 2 / share**2
        assert one == pytest.approx(usual * (0.9 / 0.2) ** 2, rel=0.05)
        assert both == pytest.approx(4 * usual * (0.7 / 0.05) ** 2, rel=0.05)
    assert plan.in_words == f"{plan.multiplier:.1f} times the lists (95% interval 1.5 to 30.2)"
    assert plan.multiplier == plan.needed()[1] / plan.needed()[0]


def test_two_lists_on_which_rankers_agree_are_enough_for_a_p_value() -> None:
    lists = lists_of(("u1", "ab", "10"), ("u2", "ba", "10"), ("u3", "ab", "10"))
    ranks = {"rank_a": [1, 2] * 2 + [2, 1], "rank_b": [1, 2] * 3}
    agreed = Interleaved.of(rs.read_log(lists | ranks)).agreed
    assert agreed is not None
    assert (agreed[0], agreed[2]) == (0.0, 2)
    assert agreed[1] == pytest.approx(1.0)
    wins = lists_of(("u1", "ab", "10"), ("u2", "ba", "01"), ("u2", "ba", "01"), ("u3", "ba", "10"))
    same = Interleaved.of(rs.read_log(wins | {"rank_a": [1, 2] * 4, "rank_b": [1, 2] * 4})).agreed
    assert same is not None
    assert (same[0], same[2]) == (0.5, 4)
    assert 0.05 < same[1] < 1


def test_ties_within_rounding_are_ties_of_a_unit() -> None:
    """A unit of ten lists that prefers each ranker in five; others are won by one of them."""
    lists = [("u", "ab", "10"), ("u", "ab", "01")] * 5 + [("v", "ab", "10"), ("w", "ba", "10")]
    interleaved = Interleaved.of(rs.read_log(lists_of(*lists)))
    units = interleaved.units
    by_unit, by_list = interleaved.panel(units, each_unit=True), interleaved.panel(units)
    assert sorted(by_unit.values[0].tolist()) == [0.0, 0.5, 1.0]
    assert (by_unit.values.sum(axis=0) == 1).all()
    assert by_unit.weights is None
    assert by_list.weights is not None
    assert sorted(np.asarray(by_list.weights)[0].tolist()) == [1, 1, 10]
    assert (by_unit.measure.name, by_list.measure.name) == ("preference of users", "preference")


def test_the_values_of_three_rankers_are_means_over_their_rivals() -> None:
    lists = lists_of(("u1", "abc", "100"), ("u2", "bca", "100"), ("u3", "cab", "011"), ("u4", "bac", "110"), ("u5", "cba", "001"))  # fmt: skip
    interleaved = Interleaved.of(rs.read_log(lists))
    panel = interleaved.panel(interleaved.units)
    duels = [interleaved._duel(interleaved.units, pair, interleaved.units.columns(one), "x", False) for pair, one in zip(interleaved.pairs, interleaved.units.metrics, strict=True)]  # fmt: skip
    for at, name in enumerate("abc"):
        own = [duel.means[name] for duel in duels if name in duel.systems]
        assert len(own) == 2
        assert panel.values[at] == pytest.approx([sum(own) / 2] * 5)
    first, second = panel.pair("a", "b"), panel.pair("b", "a")
    assert first.gains.tolist() == (-second.gains).tolist()


def test_lists_are_known_by_their_users_and_are_as_long_as_their_last_place() -> None:
    log = lists_of(("u1", "ab", "10"), ("u2", "ba", "11"), rank_a=[1, 2, 1, 2], rank_b=[1, 2, 2, 1])
    lists = Interleaved.of(rs.read_log(log)).lists.sort("unit_id")
    assert lists.select("unit_id", "impression_id", "clicks", "longest", "apart").rows() == [("u1", "l0", 1, 2, False), ("u2", "l1", 2, 2, True)]  # fmt: skip
    one_apart = lists_of(("u1", "ab", "10"), rank_a=[1, 2], rank_b=[1, 3])
    assert Interleaved.of(rs.read_log(one_apart)).lists["apart"].to_list() == [True]
    assert not Interleaved.of(rs.read_log(lists_of(("u1", "ab", "10")))).lists["apart"].any()
    part = Interleaved.of(rs.read_log(lists_of(("u1", "ab", "10"), rank_a=[1, 2])))
    assert (part.ranks, part.agreed) == ([], None)


def test_pairs_of_which_one_item_is_missing_are_not_competitive() -> None:
    """Places 1 and 2 are a pair, and so are 3 and 4; the last item of three has no other."""
    wished = {"rank_a": [1, 2, 3], "rank_b": [2, 1, 3]}
    log = lists_of(("u1", "abb", "111"), **wished)
    found = Interleaved.of(rs.read_log(log), pairs="competitive").log
    assert found.collect(found.frame)["position"].to_list() == [1, 2]
    turned = lists_of(("u1", "bab", "111"), **wished)
    with pytest.raises(DataError, match="every list is without a credited click"):
        _ = Interleaved.of(rs.read_log(turned), pairs="competitive").units
    unknown = lists_of(("u1", "ab", "11"), rank_a=[1, None], rank_b=[None, 1])
    kept = Interleaved.of(rs.read_log(unknown), pairs="competitive").log
    assert kept.collect(kept.frame)["position"].to_list() == [1, 2]


def test_a_multiplier_that_no_draw_shows_has_no_interval() -> None:
    from rankscope.experiments.traffic import _interval

    table = np.array([[0.0, 1.0, 1.0, 1.0, 0.0, 0.0]] * 5)
    assert all(math.isnan(end) for end in _interval(table))
