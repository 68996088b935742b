"""What may be compared, and what is told where it may not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.made.scores import as_arrays, drawn, one, ranked, ranked_run, table

import rankscope as rs
from rankscope.errors import DataError, InputError

ADJUSTED = {"p_value_adjusted", "ci_lower_adjusted", "ci_upper_adjusted", "comparisons", "verdict"}


def unadjusted(found: Any) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The numbers of each contrast that no other contrast has a part in."""
    return {
        (r["run"], r["baseline"], r["metric"]): {k: v for k, v in r.items() if k not in ADJUSTED}
        for r in found.to_dicts()
    }


# --- what is given ---------------------------------------------------------------------------------------


def test_any_table_of_scores(need: Callable[[str], ModuleType], tmp_path: Path) -> None:
    scores = drawn(6, systems=3)
    expected = unadjusted(rs.compare(scores, metrics="AP"))
    ids = list(scores["a"])
    columns = {"query_id": ids, **{name: list(row.values()) for name, row in scores.items()}}
    wide = pl.DataFrame(columns)
    long = wide.unpivot(index="query_id", variable_name="run", value_name="value").with_columns(metric=pl.lit("AP"))
    wide.write_csv(tmp_path / "wide.csv")
    given_ones: dict[str, Any] = {
        "polars": wide,
        "long": long,
        "csv": tmp_path / "wide.csv",
        "lists": {n: list(r.values()) for n, r in scores.items()},
        "pandas": need("pandas").DataFrame(columns),
    }
    for what, source in given_ones.items():
        found = unadjusted(rs.compare(source, metrics="AP"))
        assert found == expected, what
    array = np.array([list(row.values()) for row in scores.values()])
    numbers = [(c.difference, c.p_value) for c in rs.compare(array, metrics="AP").contrasts]
    assert numbers == [(r["difference"], r["p_value"]) for r in expected.values()]


def test_what_evaluate_found_is_compared_as_it_is() -> None:
    qrels = {f"q{i:02}": {"good": 1} for i in range(24)}
    runs = {"a": ranked_run(3), "b": ranked_run(4)}
    scores = rs.evaluate(qrels, runs, ["RR", "Success@1"])
    here, there = rs.compare(scores), rs.compare(qrels, runs, ["RR", "Success@1"])
    assert unadjusted(here) == unadjusted(there)
    assert here.scores is scores
    assert rs.compare(scores, metrics="Success@1").metrics == ["Success@1"]
    assert rs.compare(scores, primary="Success@1").metrics == ["Success@1", "RR"]
    with pytest.raises(InputError, match="was not evaluated"):
        rs.compare(scores, metrics="AP")


def test_repetitions_are_averaged_query_by_query() -> None:
    scores = drawn(9, systems=4)
    merged = rs.compare(scores, metrics="AP", systems={"a": "old", "b": "old", "c": "new", "d": "new"})
    rows = {n: np.array(list(r.values())) for n, r in scores.items()}
    old, new = (rows["a"] + rows["b"]) / 2, (rows["c"] + rows["d"]) / 2
    assert merged["new", "AP"].p_value == pytest.approx(stats.ttest_rel(new, old).pvalue, rel=1e-9)
    found = merged.measurements.replicates["AP"]["old"]
    within = np.var([rows["a"], rows["b"]], axis=0, ddof=1).mean()
    assert found.between_runs == pytest.approx(within)
    assert found.between_queries == pytest.approx(old.var(ddof=1))


def test_clusters_widen_the_interval_by_the_error_between_them() -> None:
    scores = drawn(2)
    ids = list(scores["a"])
    cluster = {q: f"u{i // 3}" for i, q in enumerate(ids)}
    found = one(scores, clusters=cluster)
    a, b = as_arrays(scores)
    d = b - a
    sums = (d - d.mean()).reshape(10, 3).sum(axis=1)
    error = math.sqrt(10 / 9 * (sums**2).sum()) / 30
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(d.mean()) / error, 9), rel=1e-9)
    assert found.bounds.upper - found.bounds.lower == pytest.approx(2 * stats.t.ppf(0.975, 9) * error)
    alone = one(scores, clusters={q: q for q in ids})
    assert alone.p_value == pytest.approx(one(scores).p_value, rel=1e-9)


def test_betting_takes_the_queries_as_they_came() -> None:
    scores = drawn(3, queries=40)
    by_gain = sorted(scores["a"], key=lambda q: scores["b"][q] - scores["a"][q], reverse=True)
    gains_first = {name: {q: row[q] for q in by_gain} for name, row in scores.items()}
    losses_first = {name: {q: row[q] for q in reversed(by_gain)} for name, row in scores.items()}
    early, late = (one(s, test="betting") for s in (gains_first, losses_first))
    assert early.p_value < late.p_value
    assert early.difference == late.difference
    qrels = {f"q{i:02}": {"good": 1} for i in range(24)}
    better_first = {"a": ranked((2,) * 12 + (1,) * 12), "b": ranked((1,) * 12 + (2,) * 12)}
    runs = {n: {f"q{int(q[1:]):02}": d for q, d in run.items()} for n, run in better_first.items()}
    back = {n: dict(reversed(run.items())) for n, run in runs.items()}
    here = rs.compare(qrels, runs, "RR", test="betting")["b", "RR"]
    there = rs.compare(dict(reversed(qrels.items())), back, "RR", test="betting")["b", "RR"]
    assert here.bounds.lower > there.bounds.lower


def test_anytime_is_wider_than_t_and_says_the_same_as_its_interval() -> None:
    for seed in range(6):
        scores = drawn(seed, queries=60)
        any_time, once = one(scores, test="anytime"), one(scores)
        assert any_time.p_value >= once.p_value
        assert any_time.bounds.upper - any_time.bounds.lower > once.bounds.upper - once.bounds.lower
        outside = not any_time.bounds.lower <= 0 <= any_time.bounds.upper
        assert outside == (any_time.p_value <= 0.05)


# --- what is wrong -----------------------------------------------------------------------------------------

WRONG: list[tuple[Mapping[str, Any], str]] = [
    ({"baseline": "aa"}, "did you mean a?"),
    ({"test": "wilcoxn"}, "did you mean wilcoxon"),
    ({"test": "permutation(round=9)"}, "did you mean rounds"),
    ({"test": 3}, "name of one, like 't'"),
    ({"correction": "homl"}, "did you mean holm"),
    ({"correction": None}, "like 'holm'"),
    ({"interval": "bcaa"}, "did you mean bca"),
    ({"family": "al"}, "'metric', 'all'"),
    ({"family": "all", "correction": "max_t"}, "one metric"),
    *(({"alpha": alpha}, "alpha is a share") for alpha in (0, 1, 0.5, -1, math.nan, "x", True, None)),
    *(
        ({"margin": margin}, "a difference that would not matter must be a number above 0")
        for margin in (0, -1, math.nan, "x", True)
    ),
    ({"margin": {"AP": 0}}, "a difference that would not matter must be a number above 0"),
    ({"tried": 0}, "whole number"),
    ({"tried": 1.5}, "whole number"),
    ({"primary": "P@5"}, "there are scores of AP"),
    ({"systems": {"A": "x"}}, "no run is called"),
    ({"limits": {"ms": 3}}, "the cost of each run"),
    ({"clusters": {f"q{i:02}": "u" for i in range(30)}}, "in one cluster"),
    ({"clusters": {"q00": "u"}}, "has no cluster"),
    ({"test": "sign", "clusters": {f"q{i:02}": f"u{i % 3}" for i in range(30)}}, "independent"),
    ({"correction": "max_t", "clusters": {f"q{i:02}": f"u{i % 3}" for i in range(30)}}, "use holm"),
    ({"slices": {"other": {"lang": "en"}}}, "use one set of query ids"),
]


@pytest.mark.parametrize(("options", "said"), WRONG, ids=lambda v: str(v)[:40])
def test_what_cannot_be_used_is_told_in_one_line(options: Mapping[str, Any], said: str) -> None:
    with pytest.raises((InputError, DataError)) as caught:
        rs.compare(drawn(1), metrics="AP", **options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_runs_at_least() -> None:
    qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0}}
    with pytest.raises(DataError, match="two or more"):
        rs.compare(qrels, {"x": run}, "AP")
    with pytest.raises(DataError, match="two or more"):
        rs.compare(drawn(1), metrics="AP", systems={"b": "a"})


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises((InputError, TypeError)):
        rs.compare(drawn(1), metrics="AP", corection="bh")


def test_margins_name_metrics_as_people_do() -> None:
    assert one(drawn(1), "nDCG@10", margin={"ndcg@10": 0.1}).equivalence is not None
    with pytest.raises(InputError):
        rs.compare(drawn(1), metrics="AP", margin={"APP": 0.1})


def test_a_list_of_one_metric_is_that_metric() -> None:
    scores = table([0.5] * 10, [0.7 + i / 100 for i in range(10)])
    (c,) = rs.compare(scores, metrics=["LabelRankingLoss"]).contrasts
    assert (c.metric, c.verdict) == ("LabelRankingLoss", "worse")


def test_a_metric_that_the_table_has_not() -> None:
    rows = {"run": ["a", "b"], "query_id": ["q1", "q1"], "metric": ["AP", "AP"], "value": [0.1, 0.2]}
    with pytest.raises(InputError):
        rs.compare(pl.DataFrame(rows), metrics=["P@5"])


def test_a_metric_itself_names_the_scores() -> None:
    assert rs.compare(drawn(1), metrics=rs.parse("AP")).metrics == ["AP"]
    assert rs.compare(drawn(1), metrics=rs.AP).metrics == ["AP"]


def test_a_margin_does_not_tell_from_a_handful_of_queries() -> None:
    assert one(table([0.5] * 2, [0.501] * 2), margin=0.01).verdict == "cannot tell"
    assert one(table([0.5] * 3, [0.6] * 3), margin=0.01).verdict == "cannot tell"


def test_a_seed_gives_the_same_p_value_and_another_seed_another() -> None:
    scores = drawn(11, queries=60)  # more than 40 differ: signs are drawn
    options: dict[str, Any] = {"test": "permutation(rounds=999)"}
    first, again, other = (one(scores, seed=seed, **options) for seed in (1, 1, 2))
    assert first.p_value == again.p_value != other.p_value
    assert (first.p_value * 1000) == pytest.approx(round(first.p_value * 1000), abs=1e-9)  # (b + 1) / (999 + 1)


def test_a_baseline_that_is_no_text() -> None:
    number: Any = 1
    with pytest.raises(InputError):
        rs.compare(drawn(1), metrics="AP", baseline=number)


def test_an_infinite_margin() -> None:
    with pytest.raises(InputError):
        rs.compare(drawn(1), metrics="AP", margin=math.inf)


def test_contrasts_are_found_by_name() -> None:
    found = rs.compare(drawn(1, systems=3), metrics="AP", all_pairs=True)
    assert found["c", "b", "AP"].run == "c"
    with pytest.raises(KeyError, match="name the run and the metric"):
        found["c", "AP"]
    with pytest.raises(KeyError, match="was not compared"):
        found["c", "b", "P@5"]
    assert rs.compare(drawn(1), metrics="AP")["AP"].run == "b"
    assert found.results.height == 3


def test_where_a_table_has_its_systems_can_be_said(need: Callable[[str], ModuleType]) -> None:
    pandas = need("pandas")
    scores = drawn(5)
    rows = pandas.DataFrame(list(scores.values()), index=list(scores))
    with pytest.raises(InputError, match="systems='rows'"):
        rs.compare(rows)
    assert unadjusted(rs.compare(rows, metrics="AP", systems="rows")) == unadjusted(rs.compare(scores, metrics="AP"))
    assert unadjusted(rs.compare(rows.T, metrics="AP", systems="columns")) == unadjusted(
        rs.compare(scores, metrics="AP")
    )
    with pytest.raises(InputError, match="'rows' or 'columns'"):
        rs.compare(rows, systems="row")


def test_scores_too_large_to_be_squared_are_refused() -> None:
    table = {name: {f"q{i}": factor * i for i in range(9)} for name, factor in (("a", 1e300), ("b", 1e299))}
    with pytest.raises(InputError, match=r"a score of 8e\+300 is too large to be squared"):
        rs.compare(table, metrics="x")


def test_a_policy_that_leaves_out_every_query_is_named() -> None:
    qrels = {f"q{i}": {"a": 0} for i in range(8)}
    run = {query: {"a": 1.0} for query in qrels}
    with pytest.raises(DataError, match=r"nDCG@10 leaves out every query, by the metric or a policy"):
        rs.compare(qrels, {"one": run, "two": run}, no_relevant="skip")
