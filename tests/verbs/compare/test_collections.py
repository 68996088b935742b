"""The same runs on several collections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.made.results import world

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import InputError

QRELS, RUNS = world()
RUNS = {name: {**run, "q03": run.get("q03", {"d1": 1.0})} for name, run in RUNS.items()}


def given(parts: int) -> dict[str, Any]:
    """The world in parts, as collections."""
    queries = sorted(QRELS)
    chosen = {f"set{i}": queries[i::parts] for i in range(parts)}
    return {
        name: ({q: QRELS[q] for q in kept}, {run: {q: ranking[q] for q in kept} for run, ranking in RUNS.items()})
        for name, kept in chosen.items()
    }


def test_a_collection_is_compared_as_it_would_be_alone() -> None:
    collections = given(3)
    found = rs.compare_collections(collections, ["AP", "RR"])
    for name, pair in collections.items():
        qrels, runs = pair
        assert found.parts[name].to_dicts() == rs.compare(qrels, runs, ["AP", "RR"]).to_dicts()


def test_collections_count_alike_and_are_the_units_of_the_test() -> None:
    found = rs.compare_collections(given(8), "AP")
    means = {run: np.array([part.panels[0].means[run] for part in found.parts.values()]) for run in RUNS}
    for c in found.over.of("AP"):
        assert c.difference == pytest.approx(means[c.run].mean() - means[c.baseline].mean())
        assert c.p_value == pytest.approx(stats.ttest_rel(means[c.run], means[c.baseline]).pvalue)
        assert c.queries == 8


def test_the_table_of_a_paper_has_a_column_for_each_collection() -> None:
    found = rs.compare_collections(given(3), "AP")
    text = found.to_latex()
    assert all(f"{{c}}{{{head}}}" in text for head in (*found.parts, "Mean"))
    assert "the baseline" in found.to_text()
    assert {row["collection"] for row in found.to_dicts()} == {*found.parts, "all collections"}


def test_folders_are_collections(tmp_path: Path) -> None:
    for name, (qrels, runs) in given(2).items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "qrels.txt").write_text(
            "".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items())
        )
        for run, ranking in runs.items():
            lines = (f"{q} Q0 {d} 0 {s} {run}\n" for q, docs in ranking.items() for d, s in docs.items())
            (folder / f"{run}.run").write_text("".join(lines))
    found = rs.compare_collections(sorted(tmp_path.iterdir()), "AP", baseline="base")
    whole = rs.compare_collections(given(2), "AP", baseline="base")
    assert found.over.primary.means == pytest.approx(dict(whole.over.primary.means))
    with pytest.raises(InputError, match="a folder with one file qrels"):
        rs.compare_collections([tmp_path, tmp_path / "set0"])


def test_collections_need_the_same_runs_and_one_baseline() -> None:
    collections = given(2)
    with pytest.raises(InputError, match="one baseline"):
        rs.compare_collections(collections, "AP", all_pairs=True)
    with pytest.raises(InputError, match="two collections"):
        rs.compare_collections({"one": collections["set0"]}, "AP")
    del collections["set1"][1]["other"]
    with pytest.raises(InputError, match="set1: every collection needs the same runs"):
        rs.compare_collections(collections, "AP")


def test_compare_names_the_function_for_collections() -> None:
    with pytest.raises(InputError, match=r"give them to rs\.compare_collections"):
        rs.compare(given(2))


def test_a_warning_names_its_collection() -> None:
    found = rs.compare_collections({"small": next(iter(given(8).values())), "whole": (QRELS, RUNS)}, "AP")
    texts = [warning.message for warning in found.warnings]
    assert texts
    assert all(text.startswith(("small: ", "whole: ")) for text in texts)
    assert [len(part.warnings) for part in found.parts.values()] == [
        sum(text.startswith(f"{name}: ") for text in texts) for name in found.parts
    ]


def test_the_best_run_of_each_collection_is_no_common_baseline() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(6)}
    first, second = (dict.fromkeys(qrels, order) for order in (["a", "b"], ["b", "a"]))
    sets = {"one": (qrels, {"x": first, "y": second}), "two": (qrels, {"x": second, "y": first})}
    with pytest.raises(InputError, match="the best run differs between collections: name one run"):
        rs.compare_collections(sets, "RR", baseline="best")


@pytest.mark.parametrize(
    "option", ["--methods", "--bayes", "--risk=1", "--tried=9", "--predicted=model.txt", "--limit=depth=9"]
)
def test_options_whose_results_are_not_shown_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--collections", "one", "two", option]) == 2
    assert f"{option.partition('=')[0]} is for one collection: leave it out" in capsys.readouterr().err
