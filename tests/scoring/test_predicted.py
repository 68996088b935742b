"""Judgments by a model next to judgments by people: evaluate and compare agree, and refuse what cannot be corrected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import DataError, InputError
from rankscope.inference.predicted import PowerTuning, Predictions


def world(people: int = 40, others: int = 300, wrong: float = 0.15, seed: int = 1) -> tuple[Any, Any, Any]:
    draws = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    model: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {"a": {}, "b": {}}
    for i in range(people + others):
        query, relevant = f"q{i:04}", draws.random(12) < 0.3
        predicted = np.where(draws.random(12) < wrong, ~relevant, relevant)
        if i < people:
            qrels[query] = {f"d{j}": int(relevant[j]) for j in range(12)}
        model[query] = {f"d{j}": int(predicted[j]) for j in range(12)}
        for name, skill in (("a", 0.6), ("b", 0.8)):
            runs[name][query] = {f"d{j}": float(relevant[j] * skill + draws.random()) for j in range(12)}
    return qrels, model, runs


def test_a_mean_is_that_of_people_corrected_by_the_model() -> None:
    qrels, model, runs = world()
    found = rs.evaluate(qrels, runs, "nDCG@5", predicted=model)
    people, models = rs.evaluate(qrels, runs, "nDCG@5"), rs.evaluate(model, runs, "nDCG@5")
    for name in runs:
        mine = {row["query_id"]: row["value"] for row in people.per_query.to_dicts() if row["run"] == name}
        theirs = {row["query_id"]: row["value"] for row in models.per_query.to_dicts() if row["run"] == name}
        values = Predictions(
            np.array([mine[q] for q in qrels]), np.array([theirs[q] for q in qrels]), np.array([theirs[q] for q in model if q not in qrels])
        )  # fmt: skip
        assert found[name, "nDCG@5"] == pytest.approx(PowerTuning.of(values).sample(values).mean)
        ours, alone = found.bounds_of((name, "nDCG@5")), people.bounds_of((name, "nDCG@5"))
        assert ours.upper - ours.lower < alone.upper - alone.lower
    assert any("40 queries judged by people, corrected by a model on 300 others" in note for note in found.notes)


def test_a_difference_is_that_of_both_values() -> None:
    qrels, model, runs = world()
    (row,) = rs.compare(qrels, runs, "nDCG@5", predicted=model).to_dicts()
    assert row["value"] - row["baseline_value"] == pytest.approx(row["difference"])
    assert row["queries"] == 40
    assert row["relative_ci_lower"] * row["ci_lower"] > 0
    (alone,) = rs.compare(qrels, runs, "nDCG@5").to_dicts()
    assert row["ci_upper"] - row["ci_lower"] < alone["ci_upper"] - alone["ci_lower"]
    assert (row["wins"], row["losses"]) == (alone["wins"], alone["losses"])


def test_evaluate_and_then_compare_is_compare() -> None:
    qrels, model, runs = world()
    one = rs.compare(rs.evaluate(qrels, runs, "nDCG@5", predicted=model)).to_dicts()
    assert one == rs.compare(qrels, runs, "nDCG@5", predicted=model).to_dicts()


def test_predictions_for_the_same_queries_alone_change_nothing() -> None:
    qrels, model, runs = world(others=0)
    found, alone = rs.evaluate(qrels, runs, "nDCG@5", predicted=model), rs.evaluate(qrels, runs, "nDCG@5")
    assert found["a", "nDCG@5"] == pytest.approx(alone["a", "nDCG@5"])
    assert found.bounds_of(("a", "nDCG@5")).lower == pytest.approx(alone.bounds_of(("a", "nDCG@5")).lower)


@pytest.mark.parametrize(
    "options", [{"test": "sign"}, {"test": "bootstrap"}, {"interval": "bca"}, {"clusters": {}}, {"slices": {}}]
)
def test_what_looks_at_single_queries_is_refused(options: Any) -> None:
    qrels, model, runs = world(people=20, others=20)
    with pytest.raises(InputError, match="predict"):
        rs.compare(qrels, runs, "nDCG@5", predicted=model, **options)


@pytest.mark.parametrize("metric", ["GMAP", "AUC(over='all')", "num_rel"])
def test_a_metric_that_is_no_mean_is_refused(metric: str) -> None:
    qrels, model, runs = world(people=20, others=20)
    with pytest.raises(InputError):
        rs.evaluate(qrels, runs, metric, predicted=model)


def test_predictions_of_other_queries_alone_are_refused() -> None:
    qrels, model, runs = world(people=20, others=20)
    with pytest.raises(DataError, match="0 queries judged by people and by the model"):
        rs.evaluate(qrels, runs, "nDCG@5", predicted={q: docs for q, docs in model.items() if q not in qrels})


def test_the_command_line_takes_predictions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, model, runs = world(people=20, others=60)
    for name, table in (("qrels", qrels), ("model", model)):
        lines = [f"{q} 0 {d} {grade}\n" for q, docs in table.items() for d, grade in docs.items()]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    for name, table in runs.items():
        lines = [f"{q} Q0 {d} 0 {score} {name}\n" for q, docs in table.items() for d, score in docs.items()]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    files = [str(tmp_path / name) for name in ("qrels.txt", "a.run", "b.run")]
    for verb in ("evaluate", "compare"):
        assert main([verb, *files, "-m", "nDCG@5", "--predicted", str(tmp_path / "model.txt")]) == 0
        captured = capsys.readouterr()
        assert "20 queries judged by people" in captured.out + captured.err


def test_queries_that_neither_people_nor_the_model_judged_are_told() -> None:
    qrels, model, runs = world(people=20, others=20)
    assert "RS102" in {w.code for w in rs.evaluate(qrels, runs, "nDCG@5").warnings}
    assert "RS102" not in {w.code for w in rs.evaluate(qrels, runs, "nDCG@5", predicted=model).warnings}
    fewer = dict(list(model.items())[:-3])
    told = [w.message for w in rs.evaluate(qrels, runs, "nDCG@5", predicted=fewer).warnings if w.code == "RS102"]
    assert len(told) == len(runs)
    assert all("3 queries without judgments" in message for message in told)


def test_sentences_count_the_queries_of_the_model() -> None:
    qrels, model, runs = world(people=5, others=3)
    text = " ".join(rs.compare(qrels, runs, "nDCG@5", predicted=model).to_text().split())
    assert "5 queries judged by people and 3 by a model that they correct (PPI++); changes are corrected" in text
    four = rs.compare(qrels, runs, "nDCG@5", predicted={query: model[query] for query in list(model)[:4]})
    assert "4 queries judged by people ·" in " ".join(four.to_text().split())
    assert any("so nothing is corrected without 1 query that the model did not judge" in note for note in four.notes)
