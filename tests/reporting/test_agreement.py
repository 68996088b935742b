"""Offline and online together: which run is which variant, what is opposite, what is not compared, and the page of both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.made.experiments import log_of_users, users
from tests.made.results import METRICS, one, pair, world

import rankscope as rs
from rankscope.blocks import Table
from rankscope.cli import main
from rankscope.errors import InputError
from rankscope.inference.base import Bounds

REVENUE = "Mean(revenue)"


def offline(*names: str, metrics: Any = "nDCG@10", **more: Any) -> rs.Comparison:
    """The made-up runs, of which the second is better, under these names."""
    return rs.compare(world()[0], dict(zip(names or ("A", "B"), pair().values(), strict=True)), metrics, **more)


def online(lift: float, metrics: Any = REVENUE, **more: Any) -> rs.Experiment:
    """An experiment in which B earns so much more."""
    return rs.experiment(users(seed=5, lift=lift), metrics, **more)


def three() -> pl.DataFrame:
    """Users of three variants, of which C earns less."""
    table = users(seed=6, count=1800).with_columns(variant=pl.Series(["A", "B", "C"] * 600))
    return table.with_columns(revenue=pl.col("revenue") - 4.0 * (pl.col("variant") == "C"))


# --- laws -----------------------------------------------------------------------------------------------------------

WORLDS = {"more": 3.0, "as much": 0.0, "less": -3.0}


@pytest.mark.parametrize("lift", WORLDS.values(), ids=WORLDS)
def test_it_says_what_each_of_the_two_says(lift: float) -> None:
    comparison, experiment = offline(metrics=METRICS), online(lift, [REVENUE, "Mean(orders)"])
    found = rs.agreement(comparison, experiment)
    assert found["B"].offline is comparison["B", "nDCG@10"]
    assert found["B"].online is experiment["B", REVENUE]
    for row in found.to_dicts():
        c, e = comparison["B", row["offline_metric"]], experiment["B", row["online_metric"]]
        for side, of in (("offline", c), ("online", e)):
            for name in ("value", "baseline_value", "difference", "p_value", "p_value_adjusted", "verdict"):
                assert row[f"{side}_{name}"] == getattr(of, name), name
            assert (row[f"{side}_ci_lower"], row[f"{side}_ci_upper"]) == (of.bounds.lower, of.bounds.upper)


@pytest.mark.parametrize("lift", WORLDS.values(), ids=WORLDS)
def test_the_other_baseline_mirrors_both_and_leaves_the_agreement(lift: float) -> None:
    here = rs.agreement(offline(metrics=METRICS), online(lift))
    there = rs.agreement(offline(metrics=METRICS, baseline="B"), online(lift, baseline="B"))
    for ours, theirs in zip(here.both, there.both, strict=True):
        assert ours.agrees == theirs.agrees
        assert (ours.offline.difference, ours.online.difference) == (
            -theirs.offline.difference,
            -theirs.online.difference,
        )


@pytest.mark.parametrize("lift", WORLDS.values(), ids=WORLDS)
def test_a_comparison_the_other_way_round_is_turned(lift: float) -> None:
    straight = rs.agreement(offline(metrics=METRICS), online(lift))
    turned = rs.agreement(offline(metrics=METRICS, baseline="B"), online(lift))
    assert turned.to_dicts() == straight.to_dicts()


# --- worked cases ---------------------------------------------------------------------------------------------------

CASES = [
    (3.0, "agree", "Offline and online agree: B is better than A on nDCG@10 ("),
    (-3.0, "opposite", "Offline and online point in opposite directions: B is better than A on nDCG@10 ("),
    (0.0, "cannot tell", "Only offline is clear, so it is open whether the two agree: B is better than A on nDCG@10 ("),
]


@pytest.mark.parametrize(("lift", "agrees", "said"), CASES, ids=["agree", "opposite", "one cannot tell"])
def test_the_verdicts_of_both(lift: float, agrees: str, said: str) -> None:
    found = rs.agreement(offline(), online(lift))
    assert found["B"].agrees == agrees
    assert next(found.sentences()).startswith(said)
    assert found.opposite == (agrees == "opposite") == bool(found.causes)


def test_nothing_is_opposite_to_what_is_not_clear() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    alike = {query: {"a": 1.0} for query in qrels}
    found = rs.agreement(rs.compare(qrels, {"A": alike, "B": alike}, "RR"), online(-3.0))
    assert (found["B"].offline.verdict, found["B"].online.verdict, found["B"].agrees) == (
        "same",
        "worse",
        "cannot tell",
    )
    assert next(found.sentences()).startswith(
        "Only online is clear, so it is open whether the two agree: B is worse than A on Mean(revenue) ("
    )
    neither = rs.agreement(rs.compare(qrels, {"A": alike, "B": alike}, "RR"), online(0.0))
    assert next(neither.sentences()).startswith("Offline and online are both unclear: B and A score the same on RR (")


def test_what_is_withheld_is_not_compared() -> None:
    table = users(seed=5, lift=-3.0).filter((pl.col("variant") == "A") | (pl.int_range(pl.len()) % 8 != 1))
    found = rs.agreement(offline(), rs.experiment(table, REVENUE))
    assert (found["B"].agrees, found.opposite, found.causes) == ("withheld", False, [])
    assert {row["online_verdict"] for row in found.to_dicts()} == {"withheld"}
    assert "the online verdict is withheld, so the two are not compared" in next(found.sentences())


def test_the_main_metrics_decide_and_the_others_are_shown() -> None:
    found = rs.agreement(offline(metrics=METRICS), online(-3.0, [REVENUE, "Mean(orders)", "Mean(sessions)"]))
    rows = [(row["offline_metric"], row["online_metric"], row["role"]) for row in found.to_dicts()]
    assert rows == [
        ("nDCG@10", REVENUE, "primary"), ("AP", REVENUE, "secondary"), ("RR@10", REVENUE, "secondary"),
        ("nDCG@10", "Mean(orders)", "secondary"), ("nDCG@10", "Mean(sessions)", "secondary"),
    ]  # fmt: skip
    assert [row["side"] for row in found.to_dicts("sides")] == ["offline"] * 3 + ["online"] * 3


def test_metrics_that_go_the_other_way_are_named_first() -> None:
    table = users(seed=5, lift=-3.0).with_columns(stay=pl.col("sessions") + 2 * (pl.col("variant") == "B"))
    found = rs.agreement(offline(), rs.experiment(table, [REVENUE, "Mean(stay)"]))
    assert found.causes[0].text == "Online, Mean(stay) goes the way of nDCG@10"
    turned = rs.compare(world()[0], {"A": pair()["good"], "B": one()}, "nDCG@10")
    mixed = rs.agreement(turned, rs.experiment(table, ["Mean(stay)"]))
    assert mixed.opposite


def test_slices_that_go_the_other_way_are_named() -> None:
    table = users(seed=5, lift=-6.0).with_columns(
        revenue=pl.col("revenue") + 12.0 * ((pl.col("country") == "de") & (pl.col("variant") == "B"))
    )
    found = rs.agreement(offline(), rs.experiment(table, REVENUE, slices="country"))
    assert found.opposite
    assert "Within country de, Mean(revenue) goes the way of nDCG@10" in [note.text for note in found.causes]


def test_every_format_holds_the_same() -> None:
    found = rs.agreement(offline(metrics=METRICS), online(-3.0))
    held = json.loads(found.to_json())
    assert (held["schema"], held["opposite"]) == ("rankscope/agreement/1", True)
    assert held["results"] == found.to_dicts()
    assert held["sides"] == found.to_dicts("sides")
    assert held["verdict"] == list(found.sentences())
    assert len(held["causes"]) == len(found.causes) > 0
    assert held["conventions"]["runs"] == {"A": "A", "B": "B"}
    assert found.to_polars()["agreement"].to_list()[0] == "opposite"
    assert not any("--weights" in note.hint for note in found.causes)
    for text in (found.to_text(), found.to_markdown()):
        assert "opposite directions" in text
        assert "Position bias" in text


# --- which run is which variant -------------------------------------------------------------------------------------


def test_of_two_and_two_the_baselines_belong_together() -> None:
    found = rs.agreement(offline("old", "new"), online(-3.0))
    assert found.pairing.runs == {"A": "old", "B": "new"}
    assert list(found.sentences())[-1] == "Taken for granted: old is A and new is B."
    assert "new (B) is better than old (A)" in next(found.sentences())
    assert rs.agreement(offline("old", "new", baseline="new"), online(0.0)).pairing.runs == {"A": "new", "B": "old"}


def test_one_name_settles_the_other() -> None:
    found = rs.agreement(offline("B", "other"), online(3.0))
    assert found.pairing.runs == {"A": "other", "B": "B"}
    assert found["B"].agrees == "opposite"


def test_runs_of_variants_that_are_said() -> None:
    found = rs.agreement(offline("old", "new"), online(3.0), variants={"new": "A", "old": "B"})
    assert found.pairing.runs == {"A": "new", "B": "old"}
    assert found["B"].agrees == "opposite"


def test_several_variants_by_name() -> None:
    runs = dict(zip("ABC", world()[1].values(), strict=True))
    found = rs.agreement(rs.compare(world()[0], runs, "nDCG@10"), rs.experiment(three(), REVENUE))
    assert [(row.variant, row.agrees) for row in found.deciding] == [("C", "opposite"), ("B", "cannot tell")]
    assert next(found.sentences()).startswith("Offline and online point in opposite directions: C is better than A")
    row = next(row for row in found.to_dicts("sides") if row["side"] == "offline" and row["variant"] == "B")
    c = found.comparison["B", "nDCG@10"]
    assert (row["ci_lower_adjusted"], row["ci_upper_adjusted"]) == (c.adjusted.lower, c.adjusted.upper)
    assert row["ci_lower"] > row["ci_lower_adjusted"]
    assert "variant" in [column.header for column in found.table().columns]
    left = rs.agreement(offline("A", "C"), rs.experiment(three(), REVENUE))
    assert [row.variant for row in left.deciding] == ["C"]
    assert "No run is called B: left out here." in list(left.sentences())


def test_what_cannot_be_known_is_asked() -> None:
    runs = dict(zip(("x", "y", "z"), world()[1].values(), strict=True))
    comparison = rs.compare(world()[0], runs, "nDCG@10")
    with pytest.raises(
        InputError, match="cannot match runs to variants: the runs are x, y and z, the variants A and B"
    ):
        rs.agreement(comparison, online(0.0))
    assert rs.agreement(comparison, online(0.0), variants={"x": "A", "z": "B"})["B"].offline.run == "z"
    with pytest.raises(InputError, match="z was not compared with y: compare runs with baseline='y', or all_pairs"):
        _ = rs.agreement(comparison, online(0.0), variants={"y": "A", "z": "B"}).both
    every = rs.compare(world()[0], runs, "nDCG@10", all_pairs=True)
    assert rs.agreement(every, online(0.0), variants={"y": "A", "z": "B"})["B"].offline.baseline == "y"


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ({"nobody": "A"}, "variants: unknown run 'nobody'"),
        ({"A": "Z"}, "variants: no variant is called 'Z'"),
        ({"A": "A", "B": "A"}, "variants: A and B are both A"),
    ],
    ids=["no such run", "no such variant", "two runs of one variant"],
)
def test_names_that_there_are_not(variants: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        rs.agreement(offline(), online(0.0), variants=variants)


def test_what_is_no_comparison_and_no_experiment() -> None:
    scores: Any = rs.evaluate(world()[0], one(), "AP")
    with pytest.raises(InputError, match="a Scores was given for a Comparison"):
        rs.agreement(scores, online(0.0))
    with pytest.raises(
        InputError, match="Scores and Experiment: a page of two results is of a comparison and an experiment"
    ):
        rs.report(scores, online(0.0))
    with pytest.raises(InputError, match="a page of two results"):
        rs.report([offline(), offline()])


# --- the page -------------------------------------------------------------------------------------------------------


def test_the_page_says_first_whether_they_agree() -> None:
    comparison, experiment = offline(metrics=METRICS), online(-3.0, [REVENUE, "Mean(orders)"])
    page = rs.report(comparison, experiment, title="A change").page
    found = rs.agreement(comparison, experiment)
    assert page.answer is not None
    assert (page.answer.tone, page.title) == ("opposite", "A change")
    assert page.answer.text == found.headline(found["B"], short=True).rstrip(".")
    assert page.answer.caution_at == page.sections[0].name == "together"
    assert page.verdicts[0].text == found.headline(found["B"])
    assert [row[0] for row in page.answer.board.rows] == ["offline", "online"]
    names = [section.name for section in page.sections]
    assert len(set(names)) == len(names)
    assert {"queries", "experiment-results", "experiment-exposures", "reproduce", "experiment-reproduce"} <= set(names)
    tables = [b.name for section in page.sections for b in section.blocks if isinstance(b, Table) and b.name]
    assert len(set(tables)) == len(tables)


def test_the_page_is_the_same_however_it_is_asked_for() -> None:
    comparison, experiment = offline(), online(-3.0)
    pages = [
        rs.report(comparison, experiment), rs.report(experiment, comparison), rs.report([comparison, experiment]),
        rs.report(rs.agreement(comparison, experiment)),
    ]  # fmt: skip
    assert len({report.html for report in pages}) == 1
    assert "Opposite directions" in pages[0].html
    given = rs.report(
        world()[0],
        dict(zip("AB", pair().values(), strict=True)),
        "nDCG@10",
        log=users(seed=5, lift=-3.0),
        online=REVENUE,
    )
    assert given.page == pages[0].page


def test_the_runs_are_compared_as_the_variants_are() -> None:
    runs = {"B": pair()["good"], "A": one(), "C": world()[1]["other"], "D": world()[1]["other"]}
    page = rs.report(world()[0], runs, "nDCG@10", log=users(seed=5, lift=3.0), online=REVENUE).page
    assert page.answer is not None
    assert page.answer.text.startswith("Offline and online agree: B is better than A")


@pytest.mark.parametrize(("lift", "tone"), [(3.0, "better"), (0.0, "unclear")], ids=["agree", "cannot tell"])
def test_the_tone_of_the_answer(lift: float, tone: str) -> None:
    page = rs.report(offline(), online(lift)).page
    assert page.answer is not None
    assert page.answer.tone == tone


def test_options_that_have_no_place() -> None:
    comparison, experiment = offline(), online(0.0)
    with pytest.raises(InputError, match="the report of a result has no option 'ties'"):
        rs.report(comparison, experiment, ties="docid")
    with pytest.raises(InputError, match="the report of a result has no option 'split'"):
        rs.report(comparison, experiment, split="A=0.5,B=0.5")
    with pytest.raises(InputError, match="online is about a log of users"):
        rs.report(world()[0], pair(), online="CTR")
    with pytest.raises(InputError, match="needs a comparison: give the run of each variant"):
        rs.report(world()[0], one(), "AP", log=users(seed=5), online=REVENUE)
    with pytest.raises(InputError, match="log is a log itself"):
        rs.report(log_of_users(seed=1), log=log_of_users(seed=1))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in world()[0].items() for d, g in docs.items()))
    for name, run in pair().items():
        lines = (f"{q} Q0 {d} 1 {s} {name}\n" for q, docs in run.items() for d, s in docs.items())
        Path(f"{name}.run").write_text("".join(lines))
    users(seed=5, lift=-3.0).write_csv("users.csv")
    typed = [
        "report",
        "qrels.txt",
        "A=base.run",
        "B=good.run",
        "-m",
        "nDCG@10",
        "--log",
        "users.csv",
        "--online",
        REVENUE,
    ]
    assert main([*typed, "-o", "both.html", "--export", "parts"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(" Offline and online point in opposite directions: B is better than A")
    assert "read users.csv as a table" in said.err
    assert "Opposite directions" in Path("both.html").read_text()
    held = json.loads(Path("parts/sides.json").read_text())
    assert held
    assert main([*typed, "--log-format", "table", "-o", "same.html", "-q"]) == 0
    assert capsys.readouterr().out == said.out
    assert main([*typed, "--split", "A=0.9,B=0.1", "-o", "both.html"]) == 3
    assert "the online verdict is withheld" in capsys.readouterr().out
    assert main(["report", "qrels.txt", "base.run", "good.run", "--log", "none.csv"]) == 2
    assert capsys.readouterr().err == "none.csv: no such file (--log)\n"


def test_a_log_may_be_sliced_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    users(seed=7).write_csv("users.csv")
    Path("pyproject.toml").write_text('[tool.rankscope]\nmetrics = ["nDCG@10"]\nties = "docid"\n')
    assert main(["report", "users.csv", "-m", REVENUE, "--slices", "country,sessions", "-o", "log.html"]) == 0
    assert 'id="slices"' in Path("log.html").read_text()


def test_turned_intervals_keep_why_there_is_none() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    alike = {query: {"a": 1.0} for query in qrels}
    found = rs.agreement(rs.compare(qrels, {"A": alike, "B": alike}, "RR", baseline="B"), online(0.0))
    assert isinstance(found["B"].offline.adjusted, Bounds)
    assert (found["B"].offline.run, found["B"].offline.verdict) == ("B", "same")
