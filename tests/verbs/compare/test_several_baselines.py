"""Several baselines in one comparison."""

from __future__ import annotations

import pytest
from tests.made.results import METRICS, world

import rankscope as rs
from rankscope.errors import InputError

QRELS, RUNS = world()


def test_every_run_meets_every_baseline_once() -> None:
    found = rs.compare(QRELS, RUNS, METRICS, baseline=["base", "other"])
    assert [(c.run, c.baseline) for c in found.of("AP")] == [("good", "base"), ("other", "base"), ("good", "other")]
    assert found.conventions["baseline"] == ["base", "other"]
    assert not found.all_pairs
    said = list(found.sentences())
    assert "compared with base" in said[0]
    assert any("compared with other" in sentence for sentence in said)


def test_p_values_are_corrected_over_all_comparisons() -> None:
    found = rs.compare(QRELS, RUNS, "AP", baseline=["base", "other"], correction="bonferroni")
    alone = {
        (run, base): rs.compare(QRELS, RUNS, "AP", baseline=base)[run, "AP"].p_value for run, base in found.family.pairs
    }
    for c in found.contrasts:
        assert c.p_value == pytest.approx(alone[c.run, c.baseline])
        assert c.p_value_adjusted == pytest.approx(min(3 * c.p_value, 1))


def test_one_baseline_in_a_list_is_that_baseline() -> None:
    one, other = (rs.compare(QRELS, RUNS, "AP", baseline=baseline) for baseline in (["good"], "good"))
    assert one.to_dicts() == other.to_dicts()


def test_an_unknown_baseline_is_refused() -> None:
    with pytest.raises(InputError, match="no run is called"):
        rs.compare(QRELS, RUNS, "AP", baseline=["base", "basic"])


@pytest.mark.parametrize("metric", ["AP", "nDCG@10"])
@pytest.mark.parametrize("test", [None, "t", "permutation", "bootstrap", "wilcoxon", "sign", "betting"])
def test_footnotes_of_one_metric_take_four_lines(test: str | None, metric: str) -> None:
    found = rs.compare(QRELS, {"a": RUNS["base"], "b": RUNS["good"]}, metric, test=test)
    lines = found.to_text().splitlines()
    marks = next(i for i, line in enumerate(lines) if line.strip().startswith("* different"))
    end = next((i for i, line in enumerate(lines) if i > marks and not line.strip()), len(lines))
    queries = next(i for i, line in enumerate(lines) if line.strip().startswith("24 queries"))
    assert (end - marks) + (len(lines) - queries) <= 4
