"""NIST's own expected output of trec_eval 10.0: every line of every measure that there is here, to every decimal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.metrics import parse_many

OFFICIAL = 29  # lines of the official set, without the run's name
ALL = 98  # lines that say "all"; three of them are not printed for each of the three queries
BY_QUERY = 4 * ALL - 3 * 3

# expected output: qrels, run, options of trec_eval, and the fewest lines that must be compared
CASES: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "out.test": ("qrels.test", "results.test", {}, OFFICIAL),
    "out.test with comments": ("qrels.test.with-comments", "results.test", {}, OFFICIAL),
    "out.comment.test": ("qrels.comment.test", "results.comment.test", {}, OFFICIAL),
    "out.test.a": ("qrels.test", "results.test", {}, ALL),
    "out.test.aq": ("qrels.test", "results.test", {}, BY_QUERY),
    "out.test.aqc": ("qrels.test", "results.trunc", {"queries": "judged"}, BY_QUERY),
    "out.test.aqcM": ("qrels.test", "results.trunc", {"queries": "judged", "depth": 100}, BY_QUERY),
    "out.test.aql": ("qrels.rel_level", "results.test", {"level": 2}, BY_QUERY),
}

# what is no number but a fact of the run
NOT_COMPARED = {"runid", "relstring", "relstring_20"}


def lines_of(path: Path) -> dict[tuple[str, str], str]:
    """Lines of trec_eval's output by query and measure."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    lines = {(row[1], row[0]): row[2] for row in rows}
    assert len(lines) == len(rows)
    return lines


def printed(name: str, value: float) -> str:
    """A number as trec_eval prints it."""
    return f"{value:.0f}" if name.startswith("num_") else f"{value:.4f}"


def at_level(metric: Any, level: float | None) -> Any:
    """The metric as -l makes it: what is graded goes on as before."""
    return metric if level is None or not hasattr(metric, "level") else metric.having(level=level)


def computed(qrels: Any, run: Any, metrics: dict[str, Any], conventions: dict[str, Any]) -> dict[tuple[str, str], str]:
    scores = rs.evaluate(qrels, run, list(metrics.values()), **conventions)
    out = {}
    means = {mean.metric: mean.value for mean in scores.board}
    for name, metric in metrics.items():
        out["all", name] = printed(name, means[metric])
        for query, value in zip(scores.runs[0].query_ids, scores.runs[0].values[metric].tolist(), strict=True):
            # the geometric means print a query as it enters them
            floored = max(value, 1e-5) if metric.aggregate == "geometric" else value
            out[query, name] = printed(name, floored)
    return out


def as_dict(table: Any, worth: str) -> dict[str, dict[str, float]]:
    out: dict[str, dict[str, float]] = {}
    for query, doc, value in table.frame.select("query_id", "doc_id", worth).iter_rows():
        out.setdefault(query, {})[doc] = value
    return out


@pytest.fixture(params=["tables", "dicts"])
def given(request: pytest.FixtureRequest, shared_data: Callable[[str], Path]) -> Callable[[str, str], tuple[Any, Any]]:
    """The inputs for either engine."""

    def load(qrels: str, run: str) -> tuple[Any, Any]:
        paths = shared_data(f"trec_eval/{qrels}"), shared_data(f"trec_eval/{run}")
        if request.param == "tables":
            return paths
        return as_dict(rs.read_qrels(paths[0]), "grade"), as_dict(rs.read_run(paths[1]), "score")

    return load


@pytest.mark.parametrize("case", CASES)
def test_every_line(
    case: str, given: Callable[[str, str], tuple[Any, Any]], shared_data: Callable[[str], Path]
) -> None:
    qrels, run, options, at_least = CASES[case]
    expected = lines_of(shared_data(f"trec_eval/{case.partition(' ')[0]}"))
    level = options.get("level")
    conventions = {"queries": "both"} | {name: value for name, value in options.items() if name != "level"}
    metrics = {name: at_level(metric, level) for name, metric in parse_many("all_trec")}
    ours = computed(*given(qrels, run), metrics, conventions)
    compared = {key: value for key, value in expected.items() if key in ours}
    assert {key[1] for key in expected.keys() - compared.keys()} <= NOT_COMPARED
    assert len(compared) >= at_least
    assert {key: ours[key] for key in compared} == compared


PARAMETERS = {
    "iprec_at_recall..10,.20,.25,.75,.50": {f"iprec_at_recall_{x}" for x in ("0.10", "0.20", "0.25", "0.50", "0.75")},
    "P.5,7,3": {"P_3", "P_5", "P_7"},
    "Rprec_mult.5.0,0.2,0.35": {"Rprec_mult_0.20", "Rprec_mult_0.35", "Rprec_mult_5.00"},
    "utility.2,-1,0,0": {"utility_2,-1,0,0"},
    "recall.20,2000": {"recall_20", "recall_2000"},
    "11pt_avg..25,.5,.75": {"11pt_avg_.25,.5,.75"},
    "ndcg.1=3,2=9,4=4.5": {"ndcg_1=3,2=9,4=4.5"},
    "ndcg_cut.10,20,23": {"ndcg_cut_10", "ndcg_cut_20", "ndcg_cut_23"},
    "success.2,5,20": {"success_2", "success_5", "success_20"},
}


def test_every_line_of_measures_with_parameters(
    given: Callable[[str, str], tuple[Any, Any]], shared_data: Callable[[str], Path]
) -> None:
    expected = lines_of(shared_data("trec_eval/out.test.meas_params"))
    metrics: dict[str, Any] = {}
    for asked, names in PARAMETERS.items():
        found = dict(parse_many(asked))
        # where one measure takes all the parameters, it is printed with them
        metrics |= dict(zip(names, found.values(), strict=True)) if len(names) == 1 else found
        assert len(names) == 1 or set(found) == names
    ours = computed(*given("qrels.test", "results.test"), metrics, {"queries": "both"})
    assert ours == expected
    assert len(ours) == 4 * sum(len(names) for names in PARAMETERS.values()) == 4 * 22


def test_what_separates_the_expected_outputs(shared_data: Callable[[str], Path]) -> None:
    """Options change most lines, so a test that ignored them would fail."""
    plainly = lines_of(shared_data("trec_eval/out.test.aq"))
    for case in ("out.test.aqc", "out.test.aqcM", "out.test.aql"):
        other = lines_of(shared_data(f"trec_eval/{case}"))
        assert sum(other.get(key) != value for key, value in plainly.items()) > 50


def test_rbp_divides_by_the_best_grade_of_a_topic_only_above_one() -> None:
    """The rule behind the expected figures, where no file of theirs tells it: gains up to 1 stay as they are."""
    ((_, rbp),) = parse_many("rbp")
    assert rbp.of([3, 0, 1]) == pytest.approx((1 - 0.9) * (3 / 3 + 0.9**2 / 3))
    assert rbp.of([1, 0, 1]) == pytest.approx((1 - 0.9) * (1 + 0.9**2))
    assert rbp.of([0.5, 0.25]) == pytest.approx((1 - 0.9) * (0.5 + 0.9 * 0.25))
    assert rbp.of([1], ideal=[1, 3]) == pytest.approx((1 - 0.9) / 3)
