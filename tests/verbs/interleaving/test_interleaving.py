"""``interleaving``: the reference data, worked logs, the example server, bias, slices, several rankers, plans, and bad input."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from examples.interleaving_asgi import InterleavedSearch

import rankscope as rs
from rankscope.errors import DataError, InputError, RankscopeError
from rankscope.experiments import traffic
from rankscope.interleavings.credits import pairwise

WIKIMEDIA = Path(__file__).resolve().parents[4] / "shared/data/interleaving"
Rows = list[dict[str, Any]]


def made(lists: int = 300, seed: int = 1, users: int = 60, method: rs.Mixing | None = None, better: float = 0.3, third: bool = False) -> pl.DataFrame:  # fmt: skip
    """A log of lists of 6 items: items a1 to a6 are good with the chance 0.2 + ``better``, which ranker A puts first, others with 0.2."""
    draws = np.random.default_rng(seed)
    good, poor = [f"a{n}" for n in range(6)], [f"b{n}" for n in range(6)]
    rankings = {"A": [*good, *poor], "B": [*poor, *good], **({"C": [*good[::-1], *poor]} if third else {})}
    mixing = rs.TeamDraft() if method is None else method
    rows: Rows = []
    for number in range(lists):
        mixed = mixing.mix(list(rankings.values()), 6, seed, number)
        earned = mixed.credits
        prefix = mixed.prefix
        for at, (item, team) in enumerate(zip(mixed.items, mixed.teams, strict=True)):
            chance = 0.2 + better * (item[0] == "a")
            rows.append({
                "user": f"u{draws.integers(users)}", "list_id": f"l{number}", "query_id": "q", "item": item, "position": at + 1,
                "click": int(draws.random() < chance / (at + 1)), "team": list(rankings)[team] if team >= 0 else None, "country": ["de", "fr"][number % 2],
                **{f"rank_{name}": mixed.ranks[i][at] for i, name in enumerate(rankings)},
                **({} if earned is None else {f"credit_{name}": earned[i][at] for i, name in enumerate(rankings)}),
                **({} if prefix is None else {"p_prefix": prefix[at]}), "merge_method": str(mixing),
            })  # fmt: skip
    frame = pl.DataFrame(rows, infer_schema_length=None)
    one_user_per_list = pl.col("user").first().over("list_id")
    return frame.with_columns(one_user_per_list)


@pytest.mark.skipif(not WIKIMEDIA.exists(), reason="the data of Wikimedia are not here")
@pytest.mark.parametrize(
    ("name", "wins", "lists", "verdict"),
    [("a", 754 - 81, 906, "better"), ("b", 83 - 720, 906, "worse"), ("no", 395 - 342, 875, "cannot tell")],
    ids=["A preferred", "B preferred", "none preferred"],
)
def test_reference_numbers_of_wikimedia(name: str, wins: int, lists: int, verdict: str) -> None:
    found = rs.interleaving(WIKIMEDIA / f"{name}-pref.csv.gz")
    row = found.to_dicts()[0]
    assert (row["comparison"], row["lists"], row["verdict"]) == ("A against B", lists, verdict)
    assert row["preference"] == pytest.approx(wins / lists, abs=1e-12)
    assert row["ci_lower"] < row["preference"] < row["ci_upper"]
    for test in ("sign", "permutation", "t"):
        assert (rs.interleaving(WIKIMEDIA / f"{name}-pref.csv.gz", test=test).contrasts[0].p_value < 0.04) == (
            name != "no"
        )


def log_of(*lists: tuple[str, str, str], **more: Any) -> dict[str, list[Any]]:
    """A log of lists of two, given as user, teams in order and clicks in order, like ("u1", "ab", "01")."""
    rows = [(user, f"l{n}", at + 1, team, int(click)) for n, (user, teams, clicks) in enumerate(lists) for at, (team, click) in enumerate(zip(teams, clicks, strict=True))]  # fmt: skip
    names = ("user", "list_id", "position", "team", "click")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)} | more


WORKED = [
    ("u1", "ab", "10"),
    ("u1", "ba", "11"),
    ("u2", "ab", "01"),
    ("u2", "ba", "01"),
    ("u3", "ba", "00"),
    ("u3", "ab", "10"),
]


def test_a_worked_log() -> None:
    found = rs.interleaving(log_of(*WORKED))
    c = found["a", "b", "preference"]
    # of five lists with a click a wins three, b one, one is tied
    assert c.difference == pytest.approx((3 - 1) / 5)
    assert [c.value, c.baseline_value] == pytest.approx([3.5 / 5, 1.5 / 5])
    assert (c.wins, c.losses, c.ties, c.queries) == (2, 0, 1, 3)  # users: u1 won and tied, u2 one each
    assert found.to_dicts()[0]["lists"] == 5
    # each user counts once
    assert found["a", "b", "preference of users"].difference == pytest.approx(2 / 3)


CREDITS = [
    ("ties are left out", "TeamCredit(ties=leave_out)", (3 - 1) / 4),
    ("each click counts", "TeamCredit(per=event)", (4 - 2) / 6),
    ("a click lower down weighs more", "TeamCredit(per=event, decay=1)", (1 + 2 + 2 + 1 - 2 - 1) / 9),
]


@pytest.mark.parametrize(("credit", "preference"), [pytest.param(*rest, id=name) for name, *rest in CREDITS])
def test_credit_by_its_parameters(credit: str, preference: float) -> None:
    assert rs.interleaving(log_of(*WORKED), credit=credit).contrasts[0].difference == pytest.approx(preference)


def test_clicks_count_by_dwell_and_by_kind() -> None:
    more = {"dwell_s": [40.0, None, 5.0, 40.0] + [None] * 8, "conversion": [0, 0, 1, 0] + [0] * 8}
    assert rs.interleaving(log_of(*WORKED, **more), credit="TeamCredit(dwell=30)").contrasts[0].difference == 1.0
    assert (
        rs.interleaving(log_of(*WORKED, **more), credit="TeamCredit(event=conversion)").contrasts[0].difference == -1.0
    )


METHODS = [
    rs.TeamDraft(),
    rs.Balanced(),
    rs.DebiasedBalanced(),
    rs.Probabilistic(),
    rs.Optimised(),
    rs.PairwisePreference(),
]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_every_method_finds_the_better_ranker_and_nothing_in_equals(method: rs.Mixing) -> None:
    found = rs.interleaving(made(method=method))
    assert str(found.lists.credit) == method.credit
    assert found.contrasts[0].verdict == "better"
    assert abs(rs.interleaving(made(method=method, better=0.0, seed=4)).contrasts[0].difference) < 0.15


def test_balanced_credit_on_a_worked_list() -> None:
    # clicked: a, which A has first and B third, and c; the lowest clicked is c, first of B and third of A: down to rank 1
    rows = {"list_id": ["l"] * 3, "position": [1, 2, 3], "item": list("abc"), "click": [1, 0, 1], "merge_method": ["Balanced"] * 3,
            "rank_A": [1, 2, 3], "rank_B": [3, 2, 1]}  # fmt: skip
    assert rs.interleaving(rows).contrasts[0].difference == 0.0
    assert rs.interleaving(rows | {"click": [1, 1, 0]}).contrasts[0].difference == 1.0


def test_pairwise_credit_counts_pairs_that_could_be_in_either_order() -> None:
    # both items were at rank 1 of a ranking: 1 of 2 orders, so the pair weighs 1 / (1/2 or 1)
    rows: list[list[float]] = [[1, 2], [0.0, 1.0], [0.5, 0.5], [1, 1]]
    agrees, opposes = ([pl.Series(column) for column in [*rows, ranks]] for ranks in ([2.0, 1.0], [1.0, 2.0]))
    assert (pairwise(agrees), pairwise(opposes)) == (1.0, -1.0)
    # only one item is in reach of the first place: it never follows
    assert pairwise([pl.Series(c) for c in ([1, 2], [0.0, 1.0], [1.0, 1.0], [1, 2], [2, 1])]) == 0.0


def test_unequal_first_places_withhold_the_verdict() -> None:
    first = pl.when(pl.col("position") == 1).then(pl.lit("A")).otherwise("team")
    found = rs.interleaving(made().with_columns(team=first).drop("merge_method"))
    assert found.exit_code == 3
    assert found.contrasts[0].verdict == "withheld"
    assert "did not fill the first place equally often" in next(found.sentences())


def test_first_places_are_counted_by_ranker() -> None:
    """Four of six lists open with b: (1 + 6 + 15) of 64 splits of six are so uneven on one side, and as many on the other."""
    lists = [("u1", "ba", "10"), ("u2", "ba", "01"), ("u3", "ba", "00"), ("u4", "ba", "10"), ("u5", "ab", "10"), ("u6", "ab", "01")]  # fmt: skip
    log = log_of(*lists)
    for positions in ([1, 2] * 6, [0, 1] * 6):
        found = rs.interleaving(log | {"position": positions})
        said = "Mixing: first places are split evenly (a 2 and b 4; p = 0.69)."
        assert said in list(found.sentences())
        first = json.loads(found.to_json())["validity"]["first_places"]
        assert (first["counts"], first["expected"]) == ({"a": 2, "b": 4}, {"a": 0.5, "b": 0.5})
        assert first["p_value"] == pytest.approx(2 * (1 + 6 + 15) / 64)
        assert (first["test"], first["holds"]) == ("binomial test", True)
    three = made(lists=60, third=True)
    opened = dict(three.filter(pl.col("position") == 1)["team"].value_counts().iter_rows())
    assert opened["A"] != opened["C"]
    validity = json.loads(rs.interleaving(three).to_json())["validity"]
    assert validity["first_places"]["counts"] == {name: opened[name] for name in "ABC"}


def test_a_preference_between_rankers_that_agree_withholds_the_verdict() -> None:
    log = made(better=0.0, seed=2).with_columns(rank_B=pl.col("rank_A"), click=(pl.col("team") == "A").cast(pl.Int64))
    found = rs.interleaving(log.filter(pl.col("merge_method") != ""), credit="TeamCredit")
    assert found.exit_code == 3
    assert "on which all rankers agree show a preference" in found.validity.reason


def test_a_log_without_users_says_that_each_list_counts_by_itself() -> None:
    table = log_of(*WORKED)
    assert len(rs.interleaving(table).notes) == 1
    _, note = rs.interleaving({name: cells for name, cells in table.items() if name != "user"}).notes
    assert note.startswith("no user is named: each list counts as one of its own")


def test_competitive_pairs_leave_out_items_that_both_want() -> None:
    same = {"rank_a": [1, 2] * 2, "rank_b": [1, 2] * 2}
    apart = {"rank_a": [1, 2, 2, 1], "rank_b": [2, 1, 1, 2]}
    lists = log_of(("u1", "ab", "10"), ("u2", "ba", "10"))
    assert rs.interleaving(lists | apart, pairs="competitive").units.count == 2
    with pytest.raises(DataError, match="every list is without a credited click"):
        rs.interleaving(lists | same, pairs="competitive")
    found = rs.interleaving(made(), pairs="competitive")
    assert found.conventions["pairs"] == "competitive"
    assert found.contrasts[0].verdict == "better"


def test_several_rankers_are_compared_in_pairs_and_corrected() -> None:
    found = rs.interleaving(made(lists=500, third=True))
    assert [c.sides for c in found.families[0].contrasts] == ["A against B", "A against C", "B against C"]
    assert found["A", "B", "preference"].comparisons == 3
    assert {(edge.winner, edge.loser) for edge in found.edges} >= {("A", "B"), ("C", "B")}
    # the pair alone: lists won by A less lists won by B
    clicks = made(lists=500, third=True).filter(pl.col("click") > 0).group_by("list_id").agg((pl.col("team") == "A").sum().alias("a"), (pl.col("team") == "B").sum().alias("b"))  # fmt: skip
    expected = float(np.sign(clicks["a"].cast(pl.Int64).to_numpy() - clicks["b"].cast(pl.Int64).to_numpy()).mean())
    assert found["A", "B", "preference"].difference == pytest.approx(expected)
    with pytest.raises(InputError, match="use holm"):
        _ = rs.interleaving(made(lists=500, third=True), correction="max_t").contrasts


def test_a_preference_graph_has_the_winner_first_and_leaves_unclear_pairs_empty() -> None:
    found = rs.interleaving(made(lists=500, third=True))
    leader, *_, last = found.wins
    graph = next(chart for chart in found.charts() if chart.name == "graph")
    cells = {(row, other): value for row, other, value in graph.rows}
    assert last == "B"
    assert list(dict.fromkeys(row for row, *_ in graph.rows)) == list(found.wins)
    difference = found["A", "B", "preference"].difference
    assert (cells["A", "B"], cells["B", "A"]) == (difference, -difference)
    assert cells["A", "A"] == 0
    clear = {(edge.winner, edge.loser) for edge in found.edges}
    assert all((cells[pair] is None) == (not {pair, pair[::-1]} & clear) for pair in cells if pair[0] != pair[1])
    page = rs.report(made(lists=500, third=True)).html
    assert f"Users prefer {leader} to " in page
    equal = rs.interleaving(made(lists=60, third=True, better=0.0))
    assert (len(equal.edges), [chart.name for chart in equal.charts()]) == (0, ["preferences"])
    assert "No clear preference between 3 rankers" in rs.report(made(lists=60, third=True, better=0.0)).html


def test_slices_compare_within_each_value() -> None:
    found = rs.interleaving(made(), slices="country")
    assert [(part.attribute, part.name) for part in found.slices] == [("country", "de"), ("country", "fr")]
    both = [part.contrast for part in found.slices]
    whole = sum(found.lists.roll_up(by=["country"]).columns(found.units.metrics[0])[:, 1])
    assert sum(c.difference * sum(np.asarray(c.panel.weights)[0]) for c in both) / whole == pytest.approx(
        found.contrasts[0].difference
    )
    unknown = made().with_columns(country=pl.when(pl.col("country") == "de").then(pl.lit("de")))
    assert [part.name for part in rs.interleaving(unknown, slices="country").slices] == ["de", "None"]


def test_lists_on_which_rankers_agree_are_told_with_their_preference() -> None:
    """Of four lists both rank three alike: of these a wins two and b one."""
    lists = log_of(("u1", "ab", "10"), ("u2", "ba", "10"), ("u3", "ab", "10"), ("u4", "ba", "10"))
    ranks = {"rank_a": [1, 2] * 4, "rank_b": [1, 2] * 3 + [2, 1]}
    sentences = list(rs.interleaving(lists | ranks).sentences())
    assert any("If rankers agree, the preference is +0.333 on 3 lists (p = " in said for said in sentences), sentences
    one = log_of(("u1", "ab", "10"), ("u4", "ba", "10"), ("u5", "ab", "01"))
    found = rs.interleaving(one | {"rank_a": [1, 2, 2, 1, 1, 2], "rank_b": [1, 2, 1, 2, 2, 1]})
    said = [text for text in found.sentences() if "on 1 list " in text]
    assert said, "one list says nothing of chance"
    assert "the preference is +1.000 on 1 list (p = 1.00)" in said[0]


def test_a_baseline_is_named_last() -> None:
    one, other = rs.interleaving(made()).contrasts[0], rs.interleaving(made(), baseline="A").contrasts[0]
    assert (other.run, other.baseline) == ("B", "A")
    assert other.difference == pytest.approx(-one.difference)


# --- traffic


def test_the_plan_stands_beside_an_ab_test() -> None:
    log = rs.simulate("log", users=1500, quality=(0.4, 0.7), seed=5, interleave=True).log
    found = rs.interleaving(log)
    assert found.traffic is not None
    assert found.traffic.low <= found.traffic.multiplier <= found.traffic.high
    assert "times the lists" in list(found.sentences())[-1]
    plan = rs.power(log, design="interleaving", lift=[0.02, 0.05])
    assert isinstance(plan, rs.InterleavingPlan)
    assert plan.traffic == found.traffic
    rows = plan.to_dicts()
    assert [row["lift"] for row in rows][:2] == [0.02, 0.05]
    # four times the lists for half of the difference
    by_lift = {row["lift"]: row for row in rs.power(log, design="interleaving", lift=[0.01, 0.02]).to_dicts()}
    assert by_lift[0.01]["lists_ab_test"] / by_lift[0.02]["lists_ab_test"] == pytest.approx(4, rel=0.01)


def test_a_plan_does_not_depend_on_the_format_of_the_log(tmp_path: Path) -> None:
    frame = rs.simulate("log", users=300, quality=(0.4, 0.7), seed=5, interleave=True).log
    frame.write_csv(tmp_path / "mixed.csv")
    frame.write_parquet(tmp_path / "mixed.parquet")
    one, other = (rs.interleaving(tmp_path / f"mixed.{kind}").traffic for kind in ("csv", "parquet"))
    assert one is not None
    assert one == other


@pytest.mark.slow
def test_the_measured_difference_is_that_of_an_ab_test() -> None:
    truth = rs.simulate("experiment", users=300, quality=(0.5, 0.7), seed=2, truth=8000, metrics="CTR")[
        "treatment", "CTR"
    ]
    found = rs.interleaving(rs.simulate("log", users=6000, quality=(0.5, 0.7), seed=2, interleave=True).log)
    assert found.traffic is not None
    assert -found.traffic.difference / 20 == pytest.approx(truth.difference, rel=0.25)
    assert found.traffic.decay == pytest.approx(0.85, abs=0.12)  # the one of the simulated users


def test_a_log_without_ranks_has_no_plan() -> None:
    assert rs.interleaving(log_of(*WORKED)).traffic is None
    with pytest.raises(DataError, match="both designs cannot be compared"):
        rs.power(pl.DataFrame(log_of(*WORKED)), design="interleaving")
    with pytest.raises(InputError, match="plans from a log of interleaved lists"):
        rs.power(design="interleaving")


# --- the example server


def ask(app: InterleavedSearch, method: str, path: str, query: str = "", body: Any = None) -> Any:
    """The answer of the application to one request."""
    sent: Rows = []

    async def receive() -> dict[str, Any]:
        return {"body": json.dumps(body).encode()}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app({"type": "http", "method": method, "path": path, "query_string": query.encode()}, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_traffic_without_an_upper_end_is_null_in_json() -> None:
    log = rs.simulate("log", users=60, quality=(0.4, 0.7), seed=5, interleave=True).log
    for found in (rs.interleaving(log), rs.power(log, design="interleaving", lift=[0.02])):
        assert isinstance(found, rs.InterleavingPlan | rs.Interleaving)
        assert found.traffic is not None
        endless = replace(found, traffic=replace(found.traffic, high=math.inf))
        document = json.loads(endless.to_json())
        ends = document.get("ab_test") or document["conventions"]
        assert [end for name, end in ends.items() if name.endswith("ci_upper")] == [None]


def test_simulated_traffic_through_the_example_server(tmp_path: Path) -> None:
    good = [f"d{n}" for n in range(10)]
    app = InterleavedSearch({"A": lambda _: good, "B": lambda _: good[::-1]}, k=6, seed=7)
    draws = np.random.default_rng(3)
    for user in range(150):
        status, shown = ask(app, "GET", "/search", f"q=tea&user=u{user}")
        assert status == 200
        for place, item in enumerate(shown["items"], 1):
            if draws.random() < 0.6 * (1 - int(item[1:]) / 10) / place:
                ask(app, "POST", "/click", body={"impression_id": shown["impression_id"], "position": place})
    assert ask(app, "GET", "/nothing")[0] == 404
    path = tmp_path / "log.jsonl"
    path.write_text(app.lines())
    found = rs.interleaving(path)
    assert found["A", "B", "preference"].verdict == "better"
    # each list can be made again from its seed and id
    for impression, rows in app.log.items():
        mixed = rs.TeamDraft().mix([good, good[::-1]], 6, 7, impression)
        assert [row["item_id"] for row in rows] == list(mixed.items)


def test_padded_ids_are_those_without_blanks(tmp_path: Path) -> None:
    log = made(lists=200)
    padded = log.with_columns(
        pl.when(pl.col("position") % 2 == 0).then(pl.concat_str(pl.lit(" "), name)).otherwise(pl.concat_str(name, pl.lit("\t"))).alias(name)
        for name in ("user", "list_id", "query_id", "item", "team")
    )  # fmt: skip
    for name, frame in (("plain", log), ("padded", padded)):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    plain, other = (rs.interleaving(tmp_path / f"{name}.parquet") for name in ("plain", "padded"))
    assert plain.to_dicts() == other.to_dicts()
    assert plain.traffic == other.traffic
    assert plain.traffic == rs.interleaving(log).traffic
    assert plain.lists.record() == other.lists.record()


def test_many_users_are_drawn_in_bundles_and_the_interval_stays() -> None:
    draws = np.random.default_rng(4)
    of = draws.integers(1, 4, 6000).astype(float)
    clicks = [draws.poisson(rate * of) for rate in (0.7, 0.6)]
    table = np.stack([draws.binomial(2 * of.astype(int), 0.55) - of, of, sum(clicks), of, *clicks], axis=1).astype(
        float
    )
    with pytest.MonkeyPatch.context() as patch:
        ends = [traffic._interval(table)]
        patch.setattr(traffic, "BUNDLES", 10_000)
        ends.append(traffic._interval(table))
    (low, high), (alone_low, alone_high) = ends
    # 400 draws: an end is known to about a tenth of the width
    assert low == pytest.approx(alone_low, abs=0.3 * (alone_high - alone_low))
    assert high == pytest.approx(alone_high, abs=0.3 * (alone_high - alone_low))


# --- bad input

MADE = made(lists=40)
BAD: list[tuple[str, Any, dict[str, Any], str]] = [
    ("no teams", {"list_id": ["l"], "click": [1]}, {}, "interleaved lists are expected: give the ranker of each item in a column team"),
    ("one team", log_of(("u", "aa", "10")), {}, "an interleaved log has two teams or more, and there is one, of a"),
    ("no lists", {"team": ["a", "b"], "click": [1, 0], "user": ["u", "u"]}, {}, "interleaving needs the column impression_id"),
    ("ranks without teams", MADE.drop("team"), {}, "or a column clicks_NAME of each ranker"),
    ("no click", log_of(("u", "ab", "00")), {}, "every list is without a credited click: there is nothing to compare"),
    ("teams of another method", MADE.with_columns(team=pl.when(pl.col("position") == 2).then(pl.col("team").shift(1)).otherwise("team")), {}, "have teams that TeamDraft cannot make"),
    ("a team without ranks", MADE.with_columns(team=pl.col("team").replace("A", "Z")), {}, "team Z has no column rank_Z; the ranks are of A and B"),
    ("two methods", MADE.with_columns(merge_method=pl.when(pl.col("position") > 3).then(pl.lit("Balanced")).otherwise("merge_method")), {}, "lists were mixed in 2 ways"),
    ("an unknown method", MADE.with_columns(merge_method=pl.lit("Draft")), {}, "column merge_method: mixing 'Draft': no mixing is called Draft"),
    ("an unknown credit", MADE, {"credit": "Team"}, "no credit is called Team, did you mean TeamCredit"),
    ("an unknown ranker", MADE, {"baseline": "C"}, "no ranker is called that"),
    ("competitive pairs without ranks", log_of(*WORKED), {"pairs": "competitive"}, "^log: competitive pairs need two rankers and the columns rank_a and rank_b$"),
    ("competitive pairs of three", made(lists=40, third=True), {"pairs": "competitive"}, "^log: competitive pairs need two rankers and the columns rank_A and rank_B and rank_C$"),
    ("unknown pairs", MADE, {"pairs": "some"}, "pairs is one of"),
    ("credits that the log lacks", log_of(*WORKED), {"credit": "LoggedCredit"}, "needs a column credit_NAME of each ranker"),
]  # fmt: skip


@pytest.mark.parametrize(("log", "options", "words"), [pytest.param(*rest, id=name) for name, *rest in BAD])
def test_bad_input_is_one_clear_line(log: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(RankscopeError, match=words) as caught:
        rs.interleaving(log, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lists", [1, 2, 3])
def test_two_lists_in_200_may_have_teams_that_a_draft_cannot_make(lists: int) -> None:
    log = made(lists=200)
    wrong = (pl.col("position") == 2) & pl.col("list_id").is_in([f"l{number}" for number in range(lists)])
    odd = log.with_columns(team=pl.when(wrong).then(pl.col("team").shift(1)).otherwise("team"))
    if lists <= 2:
        assert len(list(rs.interleaving(odd).sentences())) > 0
    else:
        with pytest.raises(DataError, match="3 of 200 lists have teams that TeamDraft cannot make"):
            rs.interleaving(odd)


# --- interleave

RUNS = {
    "old": {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0}},
    "new": {"q1": {"c": 3.0, "d": 2.0}, "q3": {"a": 1.0}},
}


def test_lists_are_mixed_per_query_and_written(tmp_path: Path) -> None:
    mixed = rs.interleave(RUNS, k=3, seed=7)
    assert mixed.lists == 1
    assert mixed.notes == ["old: 1 query left out, not in every run", "new: 1 query left out, not in every run"]
    again = rs.TeamDraft().mix([list("abc"), list("cd")], 3, 7, "q1")
    assert mixed.frame["item_id"].to_list() == list(again.items)
    assert mixed.frame["p_slate"].unique().to_list() == [again.probability]
    mixed.write(tmp_path / "lists.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "lists.jsonl").read_text().splitlines()]
    assert [row["position"] for row in rows] == [1, 2, 3]
    assert math.isclose(sum(row["credit_old"] + row["credit_new"] for row in rows), 3)
    clicked = [row | {"click": int(row["team"] == "new")} for row in rows]
    assert rs.interleaving(pl.DataFrame(clicked))["old", "new", "preference"].difference == -1.0


WRONG: list[tuple[str, Any, dict[str, Any], str]] = [
    ("one run", {"old": RUNS["old"]}, {}, "interleaving needs two runs or more, and 1 run was given"),
    ("no query in common", {"a": {"q1": {"x": 1.0}}, "b": {"q2": {"x": 1.0}}}, {}, "a and b share no query"),
    ("too long", RUNS, {"k": 50}, "k=50: the rankings of every query have fewer documents"),
    ("too many for balanced", RUNS | {"third": RUNS["new"]}, {"method": "Balanced"}, "query q1: Balanced mixes two rankings"),
    ("an unknown method", RUNS, {"method": "Draft"}, "no mixing is called Draft"),
    ("a program without a solution", {"a": {"q": {"b": 1.0}}, "b": {"q": {"d": 2.0, "c": 1.0}}}, {"method": "Optimised", "k": 3}, "query q: Optimised: no mixture"),
]  # fmt: skip


@pytest.mark.parametrize(("runs", "options", "words"), [pytest.param(*rest, id=name) for name, *rest in WRONG])
def test_runs_that_cannot_be_mixed_are_refused(runs: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(RankscopeError, match=words):
        rs.interleave(runs, **options)
