"""Every mean with its interval: which, of what, and the reasons where there is none."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.inference.base import Sample
from rankscope.inference.bootstrap import bca

QRELS = {f"q{i}": {"a": 1} for i in range(8)}
RANKS = (1, 2, 4, 2, 1, 3, 2, 5)  # where each query finds its document
REFUSED = "betting(low=-1, high=0.5) was given values from 0.3869 to 1: set their range"
VALUES = np.array([1 / rank for rank in RANKS])


def ranked(ranks: tuple[int, ...]) -> dict[str, dict[str, float]]:
    return {f"q{i}": {**{f"x{j}": 9.0 - j for j in range(rank - 1)}, "a": 1.0} for i, rank in enumerate(ranks)}


RUN = ranked(RANKS)


def ends(metric: str = "RR", run: Any = None, qrels: Any = None, **policies: Any) -> Any:
    return rs.evaluate(qrels or QRELS, run or RUN, metric, **policies).bounds_of(metric)


def student(values: Any, level: float = 0.95) -> Any:
    return stats.t.interval(level, len(values) - 1, np.mean(values), stats.sem(values))


def test_a_mean_has_the_interval_of_student() -> None:
    found = ends()
    assert (found.lower, found.upper) == pytest.approx(student(VALUES), rel=1e-12)
    assert found.method == "t"
    assert (ends(level=0.8).lower, ends(level=0.8).upper) == pytest.approx(student(VALUES, 0.8), rel=1e-12)


def test_scores_of_0_and_1_have_the_interval_of_wilson() -> None:
    found = ends("Success@2")
    wanted = stats.binomtest(5, 8).proportion_ci(method="wilson")
    assert (found.lower, found.upper) == pytest.approx((wanted.low, wanted.high), rel=1e-12)
    assert found.method == "wilson"
    everyone = ends("Success@5")
    assert (everyone.upper, everyone.known) == (1.0, True)


def test_what_may_be_above_1_has_no_interval_of_a_share() -> None:
    nothing = ranked((3,) * 8)
    assert not ends("DCG@2", nothing).known
    assert ends("DCG@2", nothing).reason == "every query has the same value"
    assert ends("DCG@1", ranked((1, 2) * 4)).method == "t"


def test_it_stays_within_the_range_of_the_metric() -> None:
    found = ends("RR", ranked((1, 1, 1, 1, 1, 1, 1, 2)))
    assert found.upper == 1.0
    assert found.lower == pytest.approx(student([1.0] * 7 + [0.5])[0])


def test_it_may_be_asked_for() -> None:
    wanted = bca(rounds=500, seed=3).of(Sample(VALUES))
    for found in (
        ends(interval="bca(rounds=500, seed=3)"),
        ends(interval=bca(rounds=500, seed=3)),
        ends(interval="bca(rounds=500)", seed=3),
    ):
        assert (found.lower, found.upper) == (wanted.lower, wanted.upper)
    assert ends("Success@2", interval="t").method == "t"


@pytest.mark.parametrize(
    ("metric", "policies", "reason"),
    [
        ("NumRet", {}, "a total, not a mean"),
        ("RR", {"interval": "wilson"}, "wilson takes only values of 0 and 1"),
        ("RR", {"queries": ["q1"]}, "fewer than 2 queries"),
        ("RR", {"queries": ["q1", "q3"]}, "every query has the same value"),
        ("DCG@10", {"interval": "betting(high=0.5)"}, REFUSED),
        ("RR", {"clusters": dict.fromkeys(QRELS, "one")}, "fewer than 2 clusters"),
    ],
)
def test_where_there_is_none_there_is_a_reason(metric: str, policies: Any, reason: str) -> None:
    found = ends(metric, **policies)
    assert (found.known, found.method, found.reason) == (False, "none", reason)


def test_undefined_queries_are_left_out() -> None:
    qrels = {**QRELS, "q8": {"a": 0}}
    found = ends(qrels=qrels, no_relevant="skip")
    assert (found.lower, found.upper) == pytest.approx(student(VALUES))
    whole = ends(qrels=qrels)
    assert (whole.lower, whole.upper) == pytest.approx(student([*VALUES, 0.0]))


def test_weighted_means_have_the_error_of_a_ratio() -> None:
    weight = np.array([1.0, 2, 1, 3, 1, 1, 2, 0])
    kept = weight > 0
    mean = (weight @ VALUES) / weight.sum()
    # a query of weight w is a cluster of w equal rows: CR2 and Satterthwaite's degrees of freedom, row by row
    cluster = np.repeat(np.flatnonzero(kept), weight[kept].astype(int))
    rows, total = VALUES[cluster], len(cluster)
    left = np.eye(total) - 1 / total
    parts = np.array(
        [left[cluster == i].sum(axis=0) / math.sqrt(1 - weight[i] / total) / total for i in np.flatnonzero(kept)]
    )
    products = parts @ parts.T
    freedom = np.trace(products) ** 2 / (products**2).sum()
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(((parts @ rows) ** 2).sum())
    found = ends(weights={f"q{i}": w for i, w in enumerate(weight)})
    assert (found.lower, found.upper) == pytest.approx((mean - reach, mean + reach))


def test_a_geometric_mean_has_that_of_its_logarithms() -> None:
    found = ends("GMAP")
    assert (found.lower, found.upper) == pytest.approx(np.exp(student(np.log(VALUES))))


def test_clusters_are_what_varies() -> None:
    users = {f"q{i}": f"u{i // 2}" for i in range(8)}
    around = (VALUES - VALUES.mean()).reshape(4, 2).sum(axis=1)
    reach = stats.t.ppf(0.975, 3) * math.sqrt(4 / 3 * (around**2).sum()) / 8
    frame = pl.DataFrame({"query": list(users), "user": list(users.values())})
    for clusters in (users, frame):
        found = ends(clusters=clusters)
        assert (found.lower, found.upper) == pytest.approx((VALUES.mean() - reach, VALUES.mean() + reach))
    assert ends("Success@2", clusters=users).method == "t"
    assert rs.evaluate(QRELS, RUN, "RR", clusters=users).conventions["clusters"] == "clusters"
    with pytest.raises(DataError, match="has no cluster"):
        rs.evaluate(QRELS, RUN, "RR", clusters={"q1": "u1"})


def test_a_geometric_mean_takes_clusters() -> None:
    users = {f"q{i}": f"u{i // 2}" for i in range(8)}
    assert ends("GMAP", clusters=users).lower != ends("GMAP").lower


@pytest.mark.parametrize("level", [95, 0.5, 0, "0.9", True, math.nan])
def test_levels_that_are_none(level: Any) -> None:
    with pytest.raises(InputError, match=r"a level must be a number between 0\.5 and 1, like 0\.95"):
        rs.evaluate(QRELS, RUN, "RR", level=level)


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ("bcaa", "no interval is called bcaa, did you mean bca?"),
        ("zzz", "no interval is called zzz: there are t, wilson, "),
        ("bca(rounds=5)", "rounds must be from 99"),
        ("bca(200)", r"every parameter needs its name, like \(rounds=...\)"),
        ("b c", "cannot read the interval 'b c'"),
        (3, "interval=3: give the name of one"),
    ],
)
def test_intervals_that_are_none(interval: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        rs.evaluate(QRELS, RUN, "RR", interval=interval)


def test_it_depends_on_nothing_else_in_the_call() -> None:
    other = ranked((3,) * 8)
    both = rs.evaluate(QRELS, {"a": RUN, "b": other}, ["RR", "P@1"], interval="bca(rounds=300)")
    backwards = dict(reversed(RUN.items()))
    alone = ends("RR", backwards, interval="bca(rounds=300)")
    assert both.bounds_of(("a", "RR")) == alone


def test_means_are_a_frame_with_ends() -> None:
    scores = rs.evaluate(QRELS, RUN, ["RR", "NumRet"])
    assert scores.means["ci_lower"].to_list() == [ends().lower, None]
    assert scores.means["ci_upper"].to_list() == [ends().upper, None]


def test_who_does_not_look_pays_nothing() -> None:
    code = (
        "import sys, rankscope as rs; s = rs.evaluate({'a': {'d': 1}, 'b': {'d': 1}}, {'a': {'d': 1.0}}, 'RR DCG@3');"
        "assert not any('bounds' in vars(m) for m in s.board); assert s.board[0].bounds.known; assert 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("metric", ["GMAP", "AP", "P@2"])
@pytest.mark.parametrize(
    "policies", [{}, {"weights": {f"q{i}": 1.0 + i % 3 for i in range(8)}}], ids=["even", "weighted"]
)
def test_a_mean_has_one_interval_whoever_shows_it(metric: str, policies: dict[str, Any]) -> None:
    clusters = {f"q{i}": f"user {i // 2}" for i in range(8)}
    settings: list[dict[str, Any]] = [{}, {"clusters": clusters}]
    for more in settings:
        scores = rs.evaluate(QRELS, {"one": RUN, "two": ranked(RANKS[::-1])}, metric, **policies, **more)
        (panel,) = rs.compare(QRELS, {"one": RUN, "two": ranked(RANKS[::-1])}, metric, **policies, **more).panels
        for run in ("one", "two"):
            assert panel.interval(run) == scores.bounds_of((run, metric))
