"""Agreement of rankings: against scipy and worked pairs, ties, missing queries, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli import main
from rankscope.lists.overlap import rbo
from rankscope.verbs.agree.agree import USUAL, OfRankings

MEASURES = [type(OfRankings.read(name)).__name__ for name in USUAL]


def two_runs(seed: int, size: int = 30, ties: bool = False) -> list[dict[str, dict[str, float]]]:
    rng = np.random.default_rng(seed)
    docs = [f"d{n:02}" for n in range(size)]
    scores = [rng.integers(0, 6, size) if ties else rng.permutation(size) for _ in range(2)]
    return [{"q": dict(zip(docs, map(float, one.tolist()), strict=True))} for one in scores]


def agreement(runs: Any, measure: str) -> float:
    found = rs.agree({"a": runs[0], "b": runs[1]}, measure)
    return found["a", "b", str(OfRankings.read(measure))].value


@pytest.mark.parametrize("name", MEASURES)
def test_a_ranking_agrees_with_itself(name: str) -> None:
    run, _ = two_runs(1)
    assert agreement([run, run], f"{name}@5" if name == "Jaccard" else name) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["RBO", "Jaccard@7", "Kendall", "WeightedTau", "TauAP(symmetric=True)"])
def test_agreement_has_no_direction(name: str) -> None:
    one, other = two_runs(2)
    assert agreement([one, other], name) == pytest.approx(agreement([other, one], name))


@pytest.mark.parametrize("name", ["Kendall", "TauAP", "WeightedTau"])
def test_the_opposite_order_is_minus_one(name: str) -> None:
    run, _ = two_runs(3)
    back = {"q": {doc: -score for doc, score in run["q"].items()}}
    assert agreement([run, back], name) == pytest.approx(-1.0)


@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("seed", range(5))
def test_correlations_are_those_of_scipy(seed: int, ties: bool) -> None:
    from scipy import stats

    one, other = two_runs(seed, ties=ties)
    a, b = ([run["q"][doc] for doc in sorted(run["q"])] for run in (one, other))
    assert agreement([one, other], "Kendall") == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-12)
    assert agreement([one, other], "WeightedTau") == pytest.approx(stats.weightedtau(a, b).statistic, abs=1e-12)


def test_tau_ap_is_worked_out_by_hand() -> None:
    # below ranks 2 and 3 of x, z, y: x is above z (1 of 1), and x but not z is above y (1 of 2) in x, y, z
    runs = [{"q": ["x", "z", "y"]}, {"q": ["x", "y", "z"]}]
    assert agreement(runs, "TauAP") == pytest.approx(2 * (1 / 1 + 1 / 2) / 2 - 1)


def test_equal_scores_are_ties_for_rank_biased_overlap() -> None:
    runs = [{"q": {"x": 2.0, "y": 2.0, "z": 1.0}}, {"q": {"y": 3.0, "x": 2.0, "z": 1.0}}]
    assert agreement(runs, "RBO(p=0.8)") == pytest.approx(rbo([{"x", "y"}, "z"], ["y", "x", "z"], 0.8).ext)


def test_the_legend_names_ties_and_the_interval_of_shares() -> None:
    """A run agrees with itself by less than 1 if scores are equal, and equal values of 1 have Wilson's interval."""
    run = {"q": {"x": 1.0, "y": 1.0}, "r": {"x": 1.0, "y": 1.0}}
    found = rs.agree({"a": run, "b": run}, ["RBO", "RBO(ties='w')", "Jaccard@2"])
    assert found["a", "b", "RBO"].value < 1.0 == found["a", "b", "RBO(ties='w')"].value
    assert found["a", "b", "Jaccard@2"].bounds.method == "wilson"
    said = " ".join(found.to_text().split())
    assert "with equal scores RBO is 1 only under ties='w'" in said
    assert "Wilson's for values of 0 and 1, t for others" in said


def test_rankings_without_ties_take_a_shorter_way_to_the_same_number() -> None:
    one, other = two_runs(8)
    a, b = (sorted(run["q"], key=lambda doc, run=run: -run["q"][doc]) for run in (one, other))  # type: ignore[misc]
    assert agreement([one, other], "RBO") == pytest.approx(rbo(a, b, 0.9).ext, abs=1e-12)


def test_queries_of_one_run_are_left_out_and_told() -> None:
    found = rs.agree({"a": {"q": ["x"], "r": ["x"]}, "b": {"q": ["x"]}}, "Jaccard@1")
    row = found["a", "b", "Jaccard@1"]
    assert (row.value, row.queries, row.undefined) == (1.0, 1, 0)
    assert "1 query is in one of the two only" in str(found)


def test_the_interval_is_that_of_the_values_of_queries() -> None:
    rng = np.random.default_rng(4)
    runs = [{f"q{n}": [str(i) for i in rng.permutation(10)] for n in range(30)} for _ in range(2)]
    found = rs.agree({"a": runs[0], "b": runs[1]}, ["Kendall"], per_query=True)
    row = found["a", "b", "Kendall"]
    assert row.bounds.lower < row.value < row.bounds.upper
    assert np.mean(found.panels["Kendall"].values) == pytest.approx(row.value)


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "one run": ([{"q": ["x"]}], {}, "needs two runs or more"),
    "no common query": ([{"q": ["x"]}, {"r": ["x"]}], {}, "no query is in two runs"),
    "an unknown measure": ([{"q": ["x"]}, {"q": ["x"]}], {"measures": "RBX"}, "did you mean RBO"),
    "a measure without its cutoff": ([{"q": ["x"]}, {"q": ["x"]}], {"measures": "Jaccard"}, "Jaccard"),
    "all orders of ties": ([{"q": ["x"]}, {"q": ["x"]}], {"ties": "expected"}, "in one order"),
}


@pytest.mark.parametrize(("runs", "options", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(runs: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(rs.RankscopeError) as refused:
        rs.agree(runs, **options)
    assert said in str(refused.value)


def test_on_the_command_line(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for name, order in (("a", "xyz"), ("b", "xzy")):
        (tmp_path / f"{name}.run").write_text(
            "".join(f"q Q0 {doc} {n} {9 - n} {name}\n" for n, doc in enumerate(order, 1))
        )
    assert (
        main(["agree", str(tmp_path / "a.run"), str(tmp_path / "b.run"), "-m", "Kendall", "--format", "csv", "-q"]) == 0
    )
    assert capsys.readouterr().out.splitlines()[1].startswith("a,b,Kendall,0.333")
    assert main(["agree", str(tmp_path / "a.run")]) == 2
    assert "two runs or more" in capsys.readouterr().err
