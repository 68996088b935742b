"""The gate on the log of an experiment: the p-value of experiment, the rule of the gate, the split first, and what it refuses."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from scipy import stats
from tests.made.experiments import log_of_users, users

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import DataError, InputError

REVENUE = "Mean(revenue)"


def three(seed: int) -> pl.DataFrame:
    """Users in three variants."""
    table = users(seed=seed, count=1800)
    return table.with_columns(variant=pl.Series(["A", "B", "C"] * 600))


# --- laws -----------------------------------------------------------------------------------------------------------

DESIGNS: dict[str, tuple[Callable[[], pl.DataFrame], str, dict[str, Any]]] = {
    "a table of users": (lambda: users(seed=1), REVENUE, {}),
    "a ratio": (lambda: users(seed=2), "Ratio(orders, sessions)", {}),
    "a log of impressions": (lambda: log_of_users(seed=3), "CTR", {}),
    "covariates": (lambda: users(seed=4), REVENUE, {"covariates": {REVENUE: "before"}}),
    "strata and winsorising": (lambda: users(seed=5), REVENUE, {"strata": "country", "winsorise": 0.99}),
    "a sequential test": (lambda: users(seed=6), REVENUE, {"test": "group_sequential(look=2, looks=3)"}),
    "another level": (lambda: users(seed=7), REVENUE, {"alpha": 0.1}),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_one_test_on_one_pair_has_one_p_value(design: str) -> None:
    table, metric, options = DESIGNS[design]
    (check,) = rs.gate(table(), metrics=metric, **options).checks
    c = rs.experiment(table(), metric, **options)["B", metric]
    assert check.p_value == c.p_value
    assert (check.difference, check.lower, check.upper) == (c.difference, c.bounds.lower, c.bounds.upper)
    assert (check.value, check.baseline_value, check.queries) == (c.value, c.baseline_value, c.queries)


@pytest.mark.parametrize("design", DESIGNS)
def test_an_experiment_and_a_gate_tell_the_same_of_a_log(design: str) -> None:
    table, metric, options = DESIGNS[design]
    faulty = table().with_columns(revenue=-1.0)
    told = [caution.code for caution in rs.gate(faulty, metrics=metric, **options).warnings]
    assert told == [caution.code for caution in rs.experiment(faulty, metric, **options).warnings]
    assert ("RS612" in told) == ("revenue" in metric)


def test_an_attribute_with_many_values_makes_no_slices() -> None:
    table = users(seed=8).with_columns(pl.int_range(pl.len()).mod(31).alias("shop"))
    gate = rs.gate(table, metrics=REVENUE, slices=["country", "shop"])
    assert {c.slice for c in gate.checks} == {None, "country=de", "country=fr", "country=it"}
    assert "shop has 31 values, too many for slices (at most 30), and is left out" in gate.notes


def test_a_variant_that_does_not_pass_shows_the_corrected_interval() -> None:
    gate, found = rs.gate(three(8), metrics=REVENUE), rs.experiment(three(8), REVENUE)
    for check, c in zip(gate.checks, found.contrasts, strict=True):
        assert (check.lower_adjusted, check.upper_adjusted) == (c.adjusted.lower, c.adjusted.upper)
        assert check.deciding == (
            (check.lower, check.upper) if check.status == "pass" else (c.adjusted.lower, c.adjusted.upper)
        )


def test_the_same_in_three_variants_and_in_slices() -> None:
    found = rs.experiment(three(8), REVENUE, slices="country")
    gate = rs.gate(three(8), metrics=REVENUE, slices="country")
    assert len(gate.checks) == 2 * 4
    ours = {(c.variant, c.slice): c.p_value for c in gate.checks}
    theirs: dict[tuple[str, str | None], float] = {(c.run, None): c.p_value for c in found.contrasts}
    theirs |= {(part.contrast.run, f"country={part.name}"): part.contrast.p_value for part in found.slices}
    assert ours == theirs


def test_p_values_are_corrected_over_all_checks() -> None:
    gate = rs.gate(three(9), metrics=[REVENUE, "Mean(orders)"])
    raw = sorted(c.p_value for c in gate.checks)
    holm, most = [], 0.0
    for i, p in enumerate(raw):
        most = max(most, min(1.0, p * (len(raw) - i)))
        holm.append(most)
    assert sorted(c.p_value_adjusted for c in gate.checks) == pytest.approx(holm)


def test_the_order_of_rows_and_the_names_of_users_do_not_matter() -> None:
    log = log_of_users(seed=4)
    renamed = log.sample(fraction=1.0, shuffle=True, seed=1).with_columns(pl.col("user").str.reverse() + "x")
    assert rs.gate(log, metrics="CTR").to_dicts() == rs.gate(renamed, metrics="CTR").to_dicts()


def test_lower_is_better_turns_the_sign() -> None:
    log = log_of_users(seed=5, lift=0.2).with_columns(list_id=pl.int_range(pl.len()) // 3)
    found = rs.experiment(log, "Abandonment")["B", "Abandonment"]
    (check,) = rs.gate(log, metrics="Abandonment").checks
    assert found.difference < 0 < check.difference
    assert (check.lower, check.upper) == (-found.bounds.upper, -found.bounds.lower)
    assert check.status == "pass"
    assert rs.gate(log, "B", metrics="Abandonment").status == "fail"


# --- the rule -------------------------------------------------------------------------------------------------------


def test_a_proved_loss_fails_as_scipy_says() -> None:
    table = users(seed=10, lift=-1.5)
    gate = rs.gate(table, metrics=REVENUE, tolerance=0.1)
    ours, theirs = (table.filter(variant=name)["revenue"].to_numpy() for name in "BA")
    welch = stats.ttest_ind(ours, theirs, equal_var=False)
    (check,) = gate.checks
    assert (gate.status, gate.exit_code, bool(gate)) == ("fail", 1, False)
    assert check.p_value == pytest.approx(welch.pvalue)
    ends = welch.confidence_interval(0.95)
    assert (check.lower, check.upper) == pytest.approx((ends.low, ends.high))
    assert check.difference == pytest.approx(ours.mean() - theirs.mean())


def test_a_tolerance_moves_what_is_tested() -> None:
    table = users(seed=10, lift=-1.5)
    (check,) = rs.gate(table, metrics=REVENUE, tolerance=0.5, fail_on="tolerance").checks
    ours, theirs = (table.filter(variant=name)["revenue"].to_numpy() for name in "BA")
    assert check.p_value == pytest.approx(stats.ttest_ind(ours + 0.5, theirs, equal_var=False).pvalue)


def test_the_usual_tolerance_is_one_percent_of_the_baseline() -> None:
    (check,) = rs.gate(users(seed=11), metrics=REVENUE).checks
    assert check.tolerance == 0.01 * check.baseline_value
    assert check.tolerance_said == "1% of the baseline"


def test_tolerances_by_metric() -> None:
    gate = rs.gate(users(seed=11), metrics=[REVENUE, "Mean(orders)"], tolerance={"default": "5%", REVENUE: 2})
    assert [c.tolerance for c in gate.checks] == [2, 0.05 * gate.checks[1].baseline_value]


def test_a_wide_tolerance_passes_and_a_narrow_one_cannot_tell() -> None:
    table = users(seed=12)
    assert rs.gate(table, metrics=REVENUE, tolerance="50%").status == "pass"
    gate = rs.gate(table, metrics=REVENUE, tolerance="0.1%")
    assert (gate.status, gate.exit_code) == ("cannot tell", 4)
    needed = gate.checks[0].queries_needed
    assert needed is not None
    assert needed > 2000
    assert "users would settle it, and you have 2,000." in gate.sentence


def test_nothing_that_differs_passes() -> None:
    table = pl.DataFrame({"variant": ["A", "B"] * 20, "revenue": [3.0] * 40})
    gate = rs.gate(table, metrics=REVENUE)
    assert (gate.status, gate.checks[0].method) == ("pass", "nothing changed")


@pytest.mark.parametrize(
    ("value", "status"), [(2.0, "fail"), (2.99, "pass"), (4.0, "pass")], ids=["a loss", "a small loss", "a gain"]
)
def test_without_spread_the_change_is_known(value: float, status: str) -> None:
    table = pl.DataFrame({"variant": ["A", "B"] * 20, "revenue": [3.0, value] * 20})
    gate = rs.gate(table, metrics=REVENUE)
    assert (gate.status, gate.checks[0].method) == (status, "no spread")


def test_few_users_cannot_tell() -> None:
    table = pl.DataFrame({"variant": ["A", "B"] * 2, "revenue": [3.0, 2.0, 3.1, 1.9]})
    gate = rs.gate(table, metrics=REVENUE)
    assert gate.status == "cannot tell"
    assert "fewer than 6 rows" in gate.sentence


def test_every_variant_must_pass_unless_one_is_named() -> None:
    table = three(13).with_columns(
        revenue=pl.when(pl.col("variant") == "C").then(pl.col("revenue") - 3).otherwise(pl.col("revenue") + 3)
    )
    table = table.with_columns(
        revenue=pl.when(pl.col("variant") == "A").then(pl.col("revenue") - 3).otherwise("revenue")
    )
    assert rs.gate(table, metrics=REVENUE).status == "fail"
    assert rs.gate(table, candidate="B", metrics=REVENUE).status == "pass"
    assert rs.gate(table, "C", "A", REVENUE).status == "pass"
    assert rs.gate(table, "C", "A", REVENUE).candidate == "A"


# --- the split ------------------------------------------------------------------------------------------------------


def test_nothing_is_said_where_users_were_not_split_as_planned() -> None:
    table = users(seed=14, lift=2.0).filter((pl.col("variant") == "A") | (pl.int_range(pl.len()) % 8 != 1))
    gate = rs.gate(table, metrics=REVENUE, slices="country")
    assert (gate.status, gate.exit_code, bool(gate)) == ("withheld", 3, False)
    assert {c.status for c in gate.checks} == {"withheld"}
    assert gate.sentence.startswith("WITHHELD: Sample ratio mismatch: ")
    case, *others = ET.fromstring(gate.to_junit()).iter("testcase")
    assert case.get("name") == "sample ratio"
    assert case.find("failure") is not None
    assert all(other.find("skipped") is not None for other in others)


def test_an_uneven_split_that_was_planned() -> None:
    table = users(seed=15).filter((pl.col("variant") == "A") | (pl.int_range(pl.len()) % 18 == 1))
    assert rs.gate(table, metrics=REVENUE).exit_code == 3
    assert rs.gate(table, metrics=REVENUE, split="A=0.9,B=0.1").exit_code != 3


# --- formats --------------------------------------------------------------------------------------------------------


def test_every_format_holds_the_same() -> None:
    gate = rs.gate(three(16), metrics=REVENUE, slices="country")
    found = json.loads(gate.to_json())
    assert (found["schema"], found["status"], found["exit_code"]) == ("rankscope/gate/1", gate.status, gate.exit_code)
    assert found["sample_ratio"]["holds"] is True
    assert found["conventions"]["variants"] == ["B", "C"]
    assert found["results"] == gate.to_dicts()
    assert [row["variant"] for row in found["results"][:2]] == ["B", "C"]
    assert gate.to_polars().height == 8
    for c in gate.checks:
        assert c.name in gate.to_junit()
    assert gate.to_markdown().startswith(f"### rankscope gate: {gate.status} (B and C against A)")


def test_the_page_of_a_gate() -> None:
    gate = rs.gate(users(seed=17), metrics=REVENUE)
    page = rs.report(gate).page
    assert page.title == "Gate"
    assert [verdict.text for verdict in page.verdicts] == list(gate.sentences())


def test_values_with_too_few_users_are_told() -> None:
    table = users(seed=18).with_columns(
        country=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("mt")).otherwise("country")
    )
    gate = rs.gate(table, metrics=REVENUE, slices="country")
    assert "country: mt has too few users for Mean(revenue) in a variant, and is left out" in gate.notes


def test_warnings_can_be_left_out() -> None:
    few = (pl.col("variant") == "A") | (pl.col("user").hash(1) % 9 == 0)
    table = users(seed=19).with_columns(revenue=pl.col("revenue") ** 4).filter(few)
    split = {"A": 0.9, "B": 0.1}
    assert [w.code for w in rs.gate(table, metrics=REVENUE, split=split).warnings] == ["RS640"]
    assert rs.gate(table, metrics=REVENUE, split=split, ignore="RS640").warnings == []


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ties": "docid"}, "ties is about rankings: leave it out for log"),
        ({"clusters": {"q": "a"}}, "clusters: of a log they are names of its columns, like household"),
        ({"candidate": "Z"}, "candidate 'Z': no variant is called that: there are A and B"),
        ({"candidate": "A"}, "candidate 'A' is the baseline: name another of A and B"),
        ({"baseline": "Z"}, "baseline 'Z': no variant is called that"),
        ({"metrics": "Impressions"}, "no online metric is called Impressions"),
        ({"tolerance": "lots"}, "a tolerance must be a number of at least 0"),
        ({"tolerance": {"CTR": 0.1}}, "tolerance of CTR: the gate does not look at it"),
        ({"slices": "planet"}, "no column 'planet'"),
        ({"slices": "variant"}, "which are compared already"),
        ({"slices": {"q1": "a"}}, "slices: of a log they are names of its columns"),
        ({"test": "wilcoxon"}, "use t"),
        ({"split": "A=0.9,B=none"}, "a share is a number above 0"),
        ({"fail_on": "anything"}, "fail_on"),
    ],
    ids=[
        "a policy of rankings", "clusters", "no such candidate", "the baseline as candidate", "no such baseline", "no such metric",
        "no tolerance", "a tolerance of another metric", "no such column", "the column of variants", "a table of slices",
        "a test of pairs", "no share", "no such rule",
    ],
)  # fmt: skip
def test_what_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        rs.gate(users(seed=20), **{"metrics": REVENUE, **options})


def test_a_metric_without_a_direction_is_refused() -> None:
    class Rows(rs.OnlineMetric):
        """Rows a user."""

        needs = ("click",)
        better = "neither"
        unit, above, below = "user", "rows", "users"

        def parts(self, log: Any, end: Any) -> rs.RatioParts:
            return rs.RatioParts("row", pl.lit(1.0), None)

    with pytest.raises(InputError, match="Rows has no better direction: it cannot decide"):
        rs.gate(log_of_users(seed=21), metrics=Rows())
    for said in ("Mean(revenue, better='neither')", "Mean(height)"):
        with pytest.raises(InputError, match="better direction is unknown: write Mean"):
            rs.gate(users(seed=20).with_columns(height=pl.lit(1.0)), metrics=said)


def test_a_log_without_variants_is_refused() -> None:
    with pytest.raises(DataError, match="variant"):
        rs.gate(log_of_users(seed=22).drop("variant"), metrics="CTR")


def test_options_of_experiments_are_refused_beside_rankings() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    run = {query: {"a": 1.0} for query in qrels}
    with pytest.raises(InputError, match="split is for the log of an experiment: leave it out, or give a log"):
        rs.gate(qrels, run, run, "RR", split="A=0.5,B=0.5")
    with pytest.raises(InputError, match="a gate takes judgments and two runs"):
        rs.gate(qrels, run)


def test_a_log_takes_no_runs_and_no_stored_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, run, stored = tmp_path / "log.parquet", tmp_path / "a.run", tmp_path / "baseline.json"
    log_of_users(seed=23).write_parquet(log)
    run.write_text("q1 Q0 d1 1 1.0 a\n")
    scores = rs.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}, "RR")
    scores.save(stored)
    for args in ([run, run], [stored, run], [stored]):
        assert main(["gate", str(log), *map(str, args)]) == 2
        said = capsys.readouterr().err
        assert "is the log of an experiment, which compares its variants, not runs or a stored baseline" in said
        assert said.count("\n") == 1


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    users(seed=24, lift=2.0).write_csv("users.csv")
    (tmp_path / "pyproject.toml").write_text('[tool.rankscope]\nmetrics = ["nDCG@10"]\nties = "docid"\n')
    typed = [
        "gate",
        "users.csv",
        "-m",
        REVENUE,
        "--slices",
        "country,sessions",
        "--tolerance",
        "20%",
        "--junit",
        "gate.xml",
    ]
    code = main([*typed, "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    gate = rs.gate("users.csv", metrics=REVENUE, slices=["country", "sessions"], tolerance="20%")
    assert (code, found["results"], found["settings"]) == (gate.exit_code, gate.to_dicts(), None)
    assert "sessions=1" in {row["slice"] for row in found["results"] if row["slice"]} or "sessions=1" in str(
        found["notes"]
    )
    assert (tmp_path / "gate.xml").read_text() == gate.to_junit()
    assert main(["gate", "users.csv", "B", "A", "-m", REVENUE, "-q"]) == 1
    assert "A against B" in capsys.readouterr().out


def test_the_fixture_takes_a_log(rankscope_gate: Any) -> None:
    assert rankscope_gate(users(seed=25, lift=3.0), metrics=REVENUE).passed
    assert math.isnan(rankscope_gate(users(seed=25), "A", "B", REVENUE).checks[0].loss)


def test_runs_that_are_there_are_no_variants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "qrels.txt").write_text("".join(f"q{i} 0 a 1\n" for i in range(8)))
    for name in ("old", "new"):
        (tmp_path / "runs" / f"{name}.run").write_text("".join(f"q{i} Q0 a 1 1.0 {name}\n" for i in range(8)))
    for both in (
        ["main=runs/old.run", "branch=runs/new.run"],
        ["runs/old*.run", "runs/new*.run"],
        ["runs/old.run", "runs/new.run"],
    ):
        assert main(["gate", "qrels.txt", *both, "-m", "RR", "-q"]) == 0
    capsys.readouterr()
    assert main(["gate", "qrels.txt", "runs/none.run", "runs/neither.run"]) == 2
    assert capsys.readouterr().err.startswith("runs/none.run: no such file")


def test_a_table_without_users_is_gated_by_its_rows() -> None:
    table = {"variant": ["A", "B"] * 500, "orders": [1, 2, 2, 1, 3, 1, 1, 1, 2, 1] * 100}
    assert rs.gate(table, "B", "A", "Mean(orders)").passed
    assert "RS643" in {w.code for w in rs.gate(table, metrics="Mean(orders)").warnings}


def test_an_early_look_is_told() -> None:
    table = users(seed=26, count=80)
    found = rs.gate(table, metrics=REVENUE, test="anytime(first=40)")
    assert "RS412" in {w.code for w in found.warnings}
    assert {w.code for w in rs.experiment(table, REVENUE, test="anytime(first=40)").warnings} == {
        w.code for w in found.warnings
    }


def test_large_numbers_have_no_decimals() -> None:
    table = users(seed=27).with_columns(revenue=pl.col("revenue") * 10_000)
    gate = rs.gate(table, metrics=REVENUE)
    assert "." not in gate.sentence.partition("changed by ")[2].partition(" (")[0]


def test_a_tolerance_is_never_written_as_nothing() -> None:
    gate = rs.gate(users(seed=9), metrics=REVENUE, tolerance="0.1%")
    (check,) = gate.checks
    assert 0 < check.tolerance < 0.05
    assert check.digits_of_tolerance > check.digits
    assert "the tolerance is 0.0 " not in gate.sentence
    assert f"{check.tolerance:.{check.digits_of_tolerance}f}" in gate.to_text()


def test_a_file_that_is_not_there_is_said_before_its_metrics(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    absent = str(tmp_path / "typo.parquet")
    with pytest.raises(InputError, match=r"typo\.parquet: no such file"):
        rs.gate(absent, "A", "B", "CTR")
    assert main(["gate", absent, "A", "B", "-m", "CTR"]) == 2
    assert "no such file" in capsys.readouterr().err


def test_what_wrote_the_log_can_be_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table, path = users(seed=10), tmp_path / "users.csv"
    table.write_csv(path)
    plain = rs.gate(table, metrics=REVENUE)
    assert rs.gate(path, metrics=REVENUE, log_format="table").checks == plain.checks
    assert main(["gate", str(path), "A", "B", "-m", REVENUE, "--log-format", "table", "-q"]) == plain.exit_code
    capsys.readouterr()
    assert main(["gate", str(path), "--log-format", "tabel"]) == 2
    assert "unknown format of logs, did you mean table?" in capsys.readouterr().err
    qrels = {"q": {"a": 1}}
    with pytest.raises(InputError, match="log_format is for the log of an experiment"):
        rs.gate(qrels, {"q": {"a": 1.0}}, {"q": {"a": 1.0}}, "RR", log_format="table")
