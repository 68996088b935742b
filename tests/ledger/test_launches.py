"""Recording, importing, correlating and predicting, in Python and on the command line."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import users
from tests.made.ledgers import launches, one
from tests.made.results import METRICS, pair, world

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import DataError, InputError
from rankscope.ledger.analysis import relations_of
from rankscope.ledger.recording import launches_of, shared_covariance


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKSCOPE_LEDGER", raising=False)
    return tmp_path


def run(line: str, *more: str) -> int:
    return main([*line.split(), *more])


# --- recording ---------------------------------------------------------------------------------------------------


def test_a_comparison_is_recorded_with_its_errors_and_their_covariances() -> None:
    found = rs.compare(world()[0], pair(), METRICS)
    (launch,) = launches_of(found, "l", day=date(2024, 1, 1))
    first, second = (found["good", metric].paired.gains for metric in METRICS[:2])
    m = {one.metric: one for one in launch.measurements}
    assert (launch.baseline, launch.candidate) == ("base", "good")
    assert m["nDCG@10"].difference == found["good", "nDCG@10"].difference
    assert m["nDCG@10"].standard_error == pytest.approx(np.std(first, ddof=1) / np.sqrt(len(first)))
    assert m["nDCG@10"].covariances["AP"] == pytest.approx(np.cov(first, second)[0, 1] / len(first))
    assert m["nDCG@10"].judgments == found.scores.judgments_sha256  # type: ignore[union-attr]


def test_other_conventions_have_another_hash() -> None:
    hashes = {
        ties: launches_of(rs.compare(world()[0], pair(), "AP", ties=ties))[0].measurements[0].conventions for ties in ("trec", "docid")
    }  # fmt: skip
    assert hashes["trec"] != hashes["docid"]


def test_sketches_estimate_the_errors_that_launches_share() -> None:
    qrels, runs = world()
    several = [
        launches_of(rs.compare(qrels, {"base": runs["base"], name: runs[name]}, "AP"), name)[0].measurements[0] for name in ("good", "other")
    ]  # fmt: skip
    queries = list(qrels)
    values = rs.evaluate(qrels, runs, "AP").per_query
    by = {(r["run"], r["query_id"]): r["value"] for r in values.to_dicts()}
    gains = [np.array([by[name, q] - by["base", q] for q in queries]) for name in ("good", "other")]
    exact = np.cov(gains[0], gains[1])[0, 1] / len(queries)
    assert shared_covariance(several) == pytest.approx(
        exact, abs=0.35 * several[0].standard_error * several[1].standard_error
    )


def test_variants_with_one_control_share_its_error() -> None:
    log = users(seed=5, count=900).with_columns(variant=pl.Series(["A", "B", "C"] * 300))
    found = rs.experiment(log, ["Mean(revenue)"])
    contrasts = {c.run: c for c in found.contrasts}
    shares: dict[str, dict[str, float]] = {}
    for run, c in contrasts.items():
        held = found.error_shares(c)
        assert held is not None
        shares[run] = dict(zip(*held, strict=True))
    exact = sum(value * shares["C"].get(unit, 0.0) for unit, value in shares["B"].items())
    control = log.filter(pl.col("variant") == "A")["revenue"].to_numpy()
    assert exact == pytest.approx(control.var(ddof=1) / len(control))
    for run, c in contrasts.items():
        assert sum(np.square([*shares[run].values()])) == pytest.approx(c.pair.means.error**2)
    several = [launch.measurements[0] for launch in launches_of(found)]
    assert shared_covariance(several) == pytest.approx(
        exact, abs=0.35 * several[0].standard_error * several[1].standard_error
    )
    others = users(seed=6).with_columns("v" + pl.col("user"))
    apart = launches_of(rs.experiment(others, ["Mean(revenue)"]))[0].measurements[0]
    own = apart.standard_error * several[0].standard_error
    assert shared_covariance([several[0], apart]) == pytest.approx(0, abs=0.35 * own)


def test_an_experiment_completes_the_launch_of_a_comparison(place: Path) -> None:
    rs.launches.record(rs.compare(world()[0], pair(), METRICS), "a.db", launch="l", day="2024-01-01")
    rs.launches.record(rs.experiment(users(seed=5), ["Mean(revenue)"]), "a.db", launch="l")
    (launch,) = rs.launches.list("a.db").launches
    assert launch.day == date(2024, 1, 1)
    assert [(m.side, m.metric) for m in launch.measurements] == [
        ("offline", "AP"), ("offline", "RR@10"), ("offline", "nDCG@10"), ("online", "Mean(revenue)"),
    ]  # fmt: skip


def test_what_is_not_recorded() -> None:
    with pytest.raises(InputError, match="a Scores is not recorded"):
        launches_of(rs.evaluate(*world(), "AP"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="there are 2 candidates"):
        launches_of(rs.compare(*world(), "AP"), "one name")
    uneven = users(seed=5)
    with pytest.raises(DataError, match="nothing was recorded, as the verdict is withheld"):
        launches_of(rs.experiment(uneven, ["Mean(revenue)"], split={"A": 0.9, "B": 0.1}))


# --- correlations ------------------------------------------------------------------------------------------------


def test_conventions_are_apart_unless_mixed() -> None:
    made = [one(f"l{i}", offline=i / 100) for i in range(12)]
    for launch in made[:4]:
        vars(launch.measurements[0])["conventions"] = "c1"
    assert [r.offline for r in relations_of(made)] == ["nDCG@10 [c1]", "nDCG@10 [unknown]"]
    (mixed,) = relations_of(made, mixed=True)
    assert (mixed.offline, mixed.mixed, mixed.count) == ("nDCG@10", 2, 12)


def test_rejected_candidates_are_kept(place: Path) -> None:
    rs.launches.import_(rs.simulate_launches(300, rejected=0.5, seed=2).rows, "a.db")
    found = rs.launches.correlate("a.db", offline="nDCG@10")
    relation = found["nDCG@10", "CTR"]
    assert (len(relation.x), relation.count) == (300, 150)
    low, high = relation.true.correlation()[1].lower, relation.true.correlation()[1].upper
    assert low <= 0.8 <= high


def test_a_metric_that_is_better_if_lower_counts_by_gains() -> None:
    made = launches(100, correlation={"nDCG@10": 0.8})
    before = relations_of(made)[0].true.correlation()[0]
    for launch in made:
        for m in launch.of("offline"):
            vars(m).update(better="lower", difference=-m.difference)
    assert relations_of(made)[0].true.correlation()[0] == pytest.approx(before)


def test_errors_of_signs_are_counted() -> None:
    cases = {"agrees": (0.05, 0.01), "missed": (0.001, 0.01), "wrong": (-0.05, 0.01), "unclear": (0.05, 0.0)}
    made = [one(f"{name} {i}", *values) for name, values in cases.items() for i in range(3)]
    made += [one(f"null {i}", 0.05 * (i == 0), 0.0, tags=("aa",)) for i in range(2)]
    rates = relations_of(made)[0].rates
    assert (rates.decided, rates.type_two, rates.directed, rates.type_three) == (9, 3, 6, 3)
    assert (rates.nulls, rates.type_one) == (2, 1)


def test_a_combination_is_validated_and_warns(place: Path) -> None:
    rs.launches.import_(rs.simulate_launches(200, seed=3).rows, "a.db")
    found = rs.launches.correlate("a.db")
    (combination,) = found.combinations
    assert combination.chosen == "nDCG@10"
    assert combination.weighted.correlation()[0] > 0.6
    assert not {"RS906", "RS907"} & {w.code for w in found.warnings}
    few = [{**row, "covariances": ""} for row in rs.simulate_launches(32, seed=3).rows]
    rs.launches.import_(few, "b.db")
    assert {"RS906", "RS907"} <= {w.code for w in rs.launches.correlate("b.db").warnings}


def test_a_change_over_time_is_seen() -> None:
    made = launches(200, correlation={"nDCG@10": 0.9}, reliability=0.9)
    (steady,) = relations_of(made)
    for launch in made[100:]:
        for m in launch.of("online"):
            vars(m).update(difference=-m.difference)
    (turned,) = relations_of(made)
    assert steady.change is not None
    assert turned.change is not None
    assert steady.change[1].lower < 0 < steady.change[1].upper
    assert turned.change[1].upper < 0
    assert [part.count for part in turned.periods] == [50] * 4


# --- the command line --------------------------------------------------------------------------------------------


def test_simulated_launches_go_through_a_pipe(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("simulate launches --seed 1 -q") == 0
    rows = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
    assert run("launches import -") == 0
    assert "200 launches written to launches.db" in capsys.readouterr().out
    assert run("launches correlate") == 0
    said = capsys.readouterr().out
    assert " nDCG@10 predicts CTR (correlation 0." in said
    assert "Signs and errors" in said
    assert run("launches correlate --offline P@10 --format json") == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert (row["offline"], row["launches"], row["verdict"]) == ("P@10", 200, "no clear relation")
    assert run("launches predict --offline nDCG@10=0.03,0.01 -q") == 0
    assert "the launch wins on CTR with probability" in " ".join(capsys.readouterr().out.split())


def test_eight_launches_cannot_tell(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rs.launches.import_(rs.simulate_launches(8, correlation={"AP": 1.0}, reliability=1.0).rows, "launches.db")
    assert run("launches correlate -q") == 4
    assert "Cannot tell if AP predicts CTR: 8 launches with both values, and 9 or more are needed." in " ".join(
        capsys.readouterr().out.split()
    )


WRONG = [
    ("launches list", "launches.db: there is no ledger: rankscope launches import or compare --record makes one"),
    ("launches add a --offline nDCG@10=0.01", "--offline nDCG@10: give a difference and its standard error"),
    ("launches add a --online CTR=1,-1", "CTR: the standard error is -1.0: it must be a number of 0 or more"),
    ("launches add a --offline AP=x,1", "difference 'x': a finite number is needed"),
    ("launches add a --date 2024-13-01", "date '2024-13-01': write a date like 2024-05-31"),
    ("launches add", "launches add takes one name"),
    ("launches list --mixed", "--mixed is not for launches list: leave it out"),
    ("launches predict", "give the new offline difference"),
    ("launches import absent.csv", "absent.csv"),
    ("launches import bad.csv", "bad.csv line 2: standard_error 'x': a finite number is needed"),
    ("launches import other.csv", "other.csv line 2: there is no column launch"),
    ("launches import twice.csv", "launch l: AP is given twice (offline)"),
    ("launches import joint.csv", "the covariance of the errors of AP and RR is 9, and their standard errors allow at most 1"),
    ("simulate launches --users 5", "--users is for other kinds: leave it out of simulate launches"),
    ("simulate launches --set reliabilty=1", "did you mean reliability?"),
    ("simulate log --launches 5", "--launches is for simulate launches"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "said"), WRONG, ids=[line.replace("--", "").replace("2024-13-01", "of month 13") for line, _ in WRONG]
)
def test_wrong_input_is_one_line(line: str, said: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = "launch,side,metric,difference,standard_error"
    Path("bad.csv").write_text(f"{head}\nl,offline,AP,1,x\n")
    Path("other.csv").write_text("a,b\n1,2\n")
    Path("twice.csv").write_text(f"{head}\nl,offline,AP,1,1\nl,offline,AP,2,1\n")
    Path("joint.csv").write_text(f"{head},covariances\nl,offline,AP,1,1,RR=9\nl,offline,RR,1,1,\n")
    assert run(line) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
    assert not Path("launches.db").exists()


def test_a_page_has_the_scatter_with_its_line(
    place: Path, need: Callable[[str], object], capsys: pytest.CaptureFixture[str]
) -> None:
    need("altair")
    rs.launches.import_(rs.simulate_launches(60).rows, "launches.db")
    assert run("launches report -o page.html") == 0
    assert "predicts CTR" in capsys.readouterr().out
    page = Path("page.html").read_text(encoding="utf-8")
    chart = rs.launches.correlate("launches.db").chart("scatter")
    assert chart is not None
    assert chart.fit is not None
    assert "nDCG@10 gain offline" in page
