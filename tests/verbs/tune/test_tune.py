"""The held-out gain is that of queries that did not choose; the optimistic gain is not; guardrails and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankscope as rs

Rankings = dict[str, dict[str, float]]


def noise(queries: int = 40, runs: int = 12) -> tuple[Rankings, dict[str, Rankings]]:
    """Runs that differ by chance alone."""
    draws = np.random.default_rng(4)
    names = [f"q{i:02}" for i in range(queries)]
    qrels = {query: {f"d{d}": 1.0 for d in range(4)} for query in names}
    return qrels, {
        f"r{run}": {q: {f"d{d}": float(s) for d, s in enumerate(draws.random(20))} for q in names}
        for run in range(runs)
    }


def signal() -> tuple[Rankings, list[Rankings]]:
    """A good and a bad run."""
    draws = np.random.default_rng(6)
    qrels = {f"q{i:02}": {f"d{d}": 1.0 for d in range(4)} for i in range(40)}
    good = {q: {f"d{d}": float((d < 4) + draws.normal()) for d in range(20)} for q in qrels}
    bad = {q: {f"d{d}": float(draws.normal()) for d in range(20)} for q in qrels}
    return qrels, [good, bad]


def test_the_best_of_runs_that_differ_by_chance_gains_only_on_its_own_queries() -> None:
    qrels, runs = noise()
    found = rs.tune(qrels, runs, "AP")
    assert found.optimistic.difference > 0.01
    assert found["AP"].difference < found.optimistic.difference / 2
    assert [caution.code for caution in found.warnings] == ["RS420"]


def test_the_held_out_gain_is_that_of_the_held_out_run_in_compare() -> None:
    qrels, runs = noise()
    found = rs.tune(qrels, runs, "AP", baseline="r3")
    other = rs.compare(qrels, {"r3": runs["r3"], "tuned": found.held_out_run}, "AP")["tuned", "AP"]
    mine = found["AP"]
    assert (mine.difference, mine.p_value, mine.bounds) == (other.difference, other.p_value, other.bounds)
    assert found.optimistic.value == rs.evaluate(qrels, found.run, "AP")["AP"]


def test_each_fold_is_scored_with_the_best_of_the_others() -> None:
    qrels, runs = noise()
    found = rs.tune(qrels, runs, "AP", folds=4)
    scores = {name: rs.evaluate(qrels, run, "AP").per_query for name, run in runs.items()}
    values = {name: dict(frame.select("query_id", "value").iter_rows()) for name, frame in scores.items()}
    held = found.held_out_run.frame
    for fold in found.folds:
        ranked = {q: dict(zip(g["doc_id"], g["score"], strict=True)) for (q,), g in held.group_by("query_id")}
        mine = {q for q, docs in ranked.items() if docs == runs[fold.choice][q]}
        others = [q for q in qrels if q not in mine] if len(mine) == fold.queries else None
        if others is not None:
            means = {name: np.mean([value[q] for q in others]) for name, value in values.items()}
            assert fold.choice == max(means, key=means.__getitem__)
    assert sum(fold.queries for fold in found.folds) == len(qrels)


def test_a_real_gain_is_found_and_chosen_in_every_fold() -> None:
    qrels, runs = signal()
    found = rs.tune(qrels, runs, "AP", method="WeightedSum", normalise="z_score")
    assert found["AP"].verdict == "better"
    assert found.point["weights"][0] >= 0.7
    assert list(found.warnings) == []


def test_methods_and_normalisations_are_parameters() -> None:
    qrels, runs = signal()
    found = rs.tune(
        qrels, runs, "AP", method="CombSUM", space={"method": "CombSUM,CombANZ", "normalise": ["min_max", "z_score"]}
    )
    assert {str(point["method"]) for point, _ in found.tried} == {"CombSUM", "CombANZ"}
    assert len(found.tried) == 4


def test_fusions_that_learn_never_see_the_queries_that_score_them() -> None:
    qrels, runs = signal()
    found = rs.tune(qrels, runs, "AP", method="PosFuse", folds=2, baseline="run1")
    part = {fold.fold: fold for fold in found.folds}
    held = rs.evaluate(qrels, found.held_out_run, "AP")["AP"]
    assert held == pytest.approx(found["AP"].value)
    assert len(part) == 2
    everything = rs.fuse(runs, "PosFuse", qrels=qrels)
    assert rs.evaluate(qrels, everything, "AP")["AP"] == pytest.approx(found.optimistic.value)
    assert not found.held_out_run.frame.sort("query_id", "doc_id").equals(everything.frame.sort("query_id", "doc_id"))


def test_a_function_of_parameters_is_tuned() -> None:
    qrels, runs = signal()

    def build(share: float) -> Any:
        return rs.fuse(runs, f"WeightedSum(weights=({share}, {1 - share}))")

    found = rs.tune(qrels, build, "AP", space={"share": "0.0..1.0"}, search="random(trials=6)")
    assert len(found.tried) == 7  # the first point of the grid is the baseline
    assert found["AP"].value > found["AP"].baseline_value


def test_a_guardrail_keeps_points_out_that_lose_too_much() -> None:
    qrels = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(12)}
    top = {q: {"a": 3.0, "x": 2.0, "y": 1.0} for q in qrels}
    both = {q: {"x": 3.0, "a": 2.0, "b": 1.0} for q in qrels}
    runs = {"both": both, "top": top}
    assert rs.tune(qrels, runs, "RR").choice == "top"
    assert rs.tune(qrels, runs, "RR", guardrails="R@10").choice == "both"
    assert rs.tune(qrels, runs, "RR", guardrails={"R@10": 0.6}).choice == "top"
    ends = rs.tune(qrels, runs, "RR", guardrails=["R@10=60%"])
    assert ends["R@10"].margin == pytest.approx(0.6)
    assert [caution.code for caution in ends.warnings] == ["RS421"]


def test_queries_of_one_cluster_share_a_fold() -> None:
    from rankscope.verbs.tune.candidates import folds_of

    clusters = np.arange(30) // 3
    fold = folds_of([f"q{i}" for i in range(30)], 5, clusters, 1)
    assert all(len(set(fold[clusters == cluster])) == 1 for cluster in range(10))
    assert np.bincount(fold).tolist() == [6] * 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "whole number of 2 or more"),
        ({"folds": 100}, "cannot be split into 100 folds: set folds= to at most"),
        ({"search": "gird"}, "did you mean grid"),
        ({"method": "RFF"}, "did you mean RRF"),
        ({"space": {"k": [1]}}, "parameters belong to a method"),
        ({"method": "RRF", "space": {"kk": [1]}}, "has no kk"),
        ({"method": "RRF", "space": {"weights": [(1, 2, 3)]}}, "3 weights for 2 runs"),
        ({"method": "CombSUM"}, "has no weights: name a parameter"),
        ({"baseline": "run3"}, "no run is called that"),
        ({"guardrails": "AP"}, "AP decides, and is a guardrail"),
        ({"guardrails": "R@10=-1"}, "the loss that would be accepted"),
        ({"serach": 3}, "tune has no option .serach., did you mean search"),
    ],
)
def test_bad_options_are_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    qrels, runs = signal()
    with pytest.raises((rs.InputError, rs.DataError), match=message) as error:
        rs.tune(qrels, runs, "AP", **options)
    assert "\n" not in str(error.value)


def test_a_single_run_and_metrics_without_a_mean_are_refused() -> None:
    qrels, runs = signal()
    with pytest.raises(rs.InputError, match="nothing to choose"):
        rs.tune(qrels, runs[0], "AP")
    with pytest.raises(rs.InputError, match="no direction or no mean"):
        rs.tune(qrels, runs, "NumRet")
    with pytest.raises(rs.InputError, match="a function needs the values of its parameters"):
        rs.tune(qrels, lambda: runs[0], "AP")
