"""More runs in an evaluation, its order, its residuals, and runs as frames and dicts."""

from __future__ import annotations

from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import InputError

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "c": 2}}
LOW, HIGH = {"q1": ["b", "a"], "q2": ["d", "a"]}, {"q1": ["a", "b"], "q2": ["c", "a"]}
METRICS = ["nDCG@10", "RR"]


def values(scores: rs.Scores) -> list[tuple[Any, ...]]:
    return [(m.run, str(m.metric), m.value, m.bounds.lower, m.queries) for m in scores.board]


@pytest.mark.parametrize("queries", ["judged", "run", "both"])
def test_an_extended_evaluation_is_the_evaluation_of_all(queries: Any) -> None:
    partial = {"q2": HIGH["q2"]}
    first = rs.evaluate(QRELS, {"low": LOW}, METRICS, queries=queries)
    extended = rs.evaluate(first, {"high": HIGH, "partial": partial})
    whole = rs.evaluate(QRELS, {"low": LOW, "high": HIGH, "partial": partial}, METRICS, queries=queries)
    assert repr(values(extended)) == repr(values(whole))  # NaN is NaN
    assert [w.message for w in extended.warnings] == [w.message for w in whole.warnings]
    assert extended.per_query.equals(whole.per_query)


def test_earlier_runs_are_not_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankscope.scoring import evaluation

    judge, judged = getattr(evaluation, "judge_run"), []  # noqa: B009 - it is not exported

    def noted(run: Any, *more: Any) -> Any:
        judged.append(run)
        return judge(run, *more)

    first = rs.evaluate(QRELS, {"low": LOW}, "RR")
    monkeypatch.setattr(evaluation, "judge_run", noted)
    assert [run.name for run in rs.evaluate(first, {"high": HIGH}).runs] == ["low", "high"]
    assert judged == [HIGH]


@pytest.mark.parametrize(
    ("options", "said"),
    [({"metrics": "AP"}, "^metrics: further runs"), ({"ties": "docid"}, "^ties: further runs"), ({"slices": {"q1": "x"}}, "^slices: ")],
)  # fmt: skip
def test_further_runs_take_no_other_options(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        rs.evaluate(rs.evaluate(QRELS, {"low": LOW}, "RR"), {"high": HIGH}, **options)


def test_changed_judgments_refuse_further_runs(tmp_path: Any) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 a 1\n")
    first = rs.evaluate(qrels, {"low": LOW}, "RR")
    qrels.write_text("q1 0 b 1\n")
    with pytest.raises(InputError, match="changed since"):
        rs.evaluate(first, {"high": HIGH})


def test_runs_are_sorted_by_a_metric() -> None:
    runs = {"low": LOW, "high": HIGH}
    scores = rs.evaluate(QRELS, runs, ["RR", "Unjudged@1"], sort="mrr")
    assert [run.name for run in scores.runs] == ["high", "low"]
    assert [mean.run for mean in scores.board] == ["high", "high", "low", "low"]
    assert scores["low", "RR"] == rs.evaluate(QRELS, runs, "RR")["low", "RR"]
    with pytest.raises(InputError, match="sort by one of RR"):
        rs.evaluate(QRELS, runs, "RR", sort="AP")


@pytest.mark.parametrize("asked", ["RBP(p=0.5) RBPResidual(p=0.5)", "RBPResidual(p=0.5) RBP(p=0.5)"])
def test_a_residual_stands_in_the_cell_of_its_metric(asked: str) -> None:
    scores = rs.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, asked)
    text = scores.to_text()
    # b may be relevant, and everything from rank 3 on: 0.5 + 0.25
    assert "0.2500 + 0.7500" in text
    assert "RBPResidual" not in text
    assert {row["metric"] for row in scores.to_dicts()} == {"RBP(p=0.5)", "RBPResidual(p=0.5)"}


def test_a_residual_of_another_persistence_has_its_own_column() -> None:
    scores = rs.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RBP(p=0.5) RBPResidual(p=0.8)")
    assert "RBPResidual" in scores.to_text()


def test_trec_says_j_for_judged() -> None:
    assert rs.evaluate(QRELS, LOW, "J@10")["Judged@10"] == (2 / 2 + 1 / 2) / 2


def test_runs_and_judgments_as_dicts_and_frames() -> None:
    run, qrels = rs.read_run(LOW), rs.read_qrels(QRELS)
    assert qrels.to_dict() == QRELS
    assert rs.evaluate(QRELS, run.to_dict(), "RR")["RR"] == rs.evaluate(QRELS, LOW, "RR")["RR"]
    assert run.to_polars().columns[:2] == ["query_id", "doc_id"]
    frame = pytest.importorskip("pandas") and run.to_pandas()
    assert list(zip(frame["query_id"], frame["doc_id"], strict=True)) == [
        ("q1", "b"),
        ("q1", "a"),
        ("q2", "d"),
        ("q2", "a"),
    ]


def test_the_table_of_a_paper_has_an_appendix_of_queries() -> None:
    scores = rs.evaluate(QRELS, {"a_b": LOW, "high": HIGH}, ["RR", "RBP(p=0.5)", "RBPResidual(p=0.5)"])
    text = scores.to_latex(per_query=True, caption="Runs & more", label="tab:x", digits=2)
    assert r"\caption{Runs \& more}" in text
    assert r"a\_b & 0.50 &  & 0.25 + 0." in text
    assert r"\textbf{1.00}" in text
    assert text.count(r"\begin{longtable}{@{}lrr@{}}") == 3
    assert r"query & a\_b & high \\" in text
    assert r"q1 & 0.50 & 1.00 \\" in text
    assert r"\label{tab:x-queries-1}" in text
    for wrong in ({"digits": 0}, {"label": "a b"}):
        with pytest.raises(InputError):
            scores.to_latex(**wrong)
    with pytest.raises(InputError, match="caption"):
        list(scores.write("csv", caption="x"))
