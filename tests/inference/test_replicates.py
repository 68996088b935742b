"""Several runs of one system: worked arithmetic, the analysis of variance of statsmodels, and variances that come back."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from rankscope.errors import InputError
from rankscope.inference.anova import average
from rankscope.lists import Array

SCORES = np.array([[0.2, 0.4, 0.9], [0.4, 0.6, 0.5]])


def test_worked() -> None:
    # averages .3 .5 .7: variance .04; within queries .02 .02 .08; means of runs .5 .5: variance 0
    found = average(SCORES)
    assert found.values.tolist() == pytest.approx([0.3, 0.5, 0.7])
    assert (found.runs, found.complete) == (2, 3)
    assert found.between_queries == pytest.approx(0.04)
    assert found.between_runs == pytest.approx((0.02 + 0.02 + 0.08) / 3)
    assert found.deviation == pytest.approx(0)
    assert found.residual == pytest.approx(0.04 * 3 / 2)
    assert found.variance == pytest.approx((0.04 - 0.06 / 2) / 3)
    assert found.removable == pytest.approx(0)


def test_runs_that_differ_on_all_queries_alike() -> None:
    # means of runs .4 and .6: variance .02, that of the mean .02 / 2; averages .3 .7: variance .08, over two queries .04
    found = average(np.array([[0.2, 0.6], [0.4, 0.8]]))
    assert found.residual == pytest.approx(0)
    assert found.deviation == pytest.approx(math.sqrt(0.02))
    assert found.variance == pytest.approx(0.04 + 0.01)
    assert found.removable == pytest.approx(0.01 / 0.05)


def test_order_of_runs_and_queries_does_not_matter() -> None:
    random = np.random.default_rng(0)
    scores = random.random((4, 9))
    found, other = average(scores), average(scores[::-1, ::-1])
    assert found.values.tolist() == other.values[::-1].tolist()
    assert (found.between_queries, found.between_runs, found.variance, found.removable) == (
        other.between_queries,
        other.between_runs,
        other.variance,
        other.removable,
    )


def test_it_is_the_two_way_analysis_of_variance_of_statsmodels(need: Callable[[str], ModuleType]) -> None:
    pd = need("pandas")
    anova = need("statsmodels.stats.anova")
    formula = need("statsmodels.formula.api")
    runs, queries = 4, 12
    scores = made(np.random.default_rng(1), runs, queries)
    table = pd.DataFrame(
        {
            "score": scores.ravel(),
            "run": np.repeat(np.arange(runs), queries),
            "query": np.tile(np.arange(queries), runs),
        }
    )
    squares = anova.anova_lm(formula.ols("score ~ C(run) + C(query)", table).fit())["mean_sq"]
    found = average(scores)
    assert found.residual == pytest.approx(squares["Residual"], rel=1e-9)
    assert found.between_queries == pytest.approx(squares["C(query)"] / runs, rel=1e-9)
    assert found.deviation**2 == pytest.approx(squares["C(run)"] / queries, rel=1e-9)
    size = runs * queries
    expected = (squares["C(run)"] + squares["C(query)"] - squares["Residual"]) / size
    assert found.variance == pytest.approx(expected, rel=1e-9)


def made(random: np.random.Generator, runs: int, queries: int) -> Array:
    """Scores with variances of queries 1, runs .04 and residual .25."""
    return np.asarray(
        random.normal(0, 1, queries) + random.normal(0, 0.2, (runs, 1)) + random.normal(0, 0.5, (runs, queries))
    )


def test_the_variance_of_the_mean_is_that_of_new_runs_and_queries() -> None:
    random = np.random.default_rng(2)
    drawn = [made(random, 3, 20) for _ in range(1500)]
    truth = 1 / 20 + 0.04 / 3 + 0.25 / 60
    assert np.var([scores.mean() for scores in drawn]) == pytest.approx(truth, rel=0.12)
    found = [average(scores) for scores in drawn]
    assert np.mean([f.variance for f in found]) == pytest.approx(truth, rel=0.05)
    assert np.mean([f.removable * f.variance for f in found]) == pytest.approx(0.04 / 3 + 0.25 / 60, rel=0.1)


def test_what_is_undefined_is_left_out() -> None:
    found = average(np.array([[0.2, math.nan, 0.4, 0.9, math.nan], [0.4, math.nan, 0.6, 0.5, 0.3]]))
    assert found.values[[0, 2, 3, 4]].tolist() == pytest.approx([0.3, 0.5, 0.7, 0.3])
    assert math.isnan(found.values[1])
    whole = average(SCORES)
    assert found.complete == 3
    assert (found.between_runs, found.variance) == (whole.between_runs, whole.variance)


@pytest.mark.parametrize("scores", [[[0.1, 0.2, 0.3]], [[0.1], [0.2]], [[], []]])
def test_one_run_or_one_query_has_no_variances(scores: list[list[float]]) -> None:
    found = average(np.array(scores))
    assert len(found.values) == len(scores[0])
    assert math.isnan(found.between_runs)
    assert math.isnan(found.removable)


def test_runs_that_are_all_the_same_have_nothing_to_remove() -> None:
    found = average(np.array([[0.1, 0.3], [0.1, 0.3]]))
    assert found.removable == 0
    assert found.variance == pytest.approx(0.02 / 2)
    assert average(np.full((2, 3), 0.5)).removable == 0


@pytest.mark.parametrize("scores", [[0.1, 0.2], [[0.1, math.inf]], []])
def test_bad_scores(scores: list[float]) -> None:
    with pytest.raises(InputError, match="scores of several runs are"):
        average(np.array(scores))
