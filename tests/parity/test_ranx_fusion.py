"""ranx: its fusions and normalisations on real runs without ties, document by document; and its defects."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import rankscope as rs

Table = dict[str, dict[str, float]]
CLOSE = 1e-9
WEIGHTS = (0.2, 0.5, 0.3)

# it compiles itself on the way, and says so
pytestmark = pytest.mark.filterwarnings("ignore:.*unsafe cast")


@pytest.fixture(scope="module")
def ranx(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("ranx")


@pytest.fixture(scope="module")
def data(real_runs: Callable[[int, int], Any]) -> tuple[Any, list[Table]]:
    """Judgments and three rankings of the same queries that share some of their documents."""
    qrels, run = next(iter(real_runs(12, 60).values()))
    thinned = {q: {doc: score for i, (doc, score) in enumerate(docs.items()) if i % 3} for q, docs in run.items()}
    turned = {
        q: dict(zip(list(docs)[::-1][:40], sorted(docs.values(), reverse=True), strict=False))
        for q, docs in run.items()
    }
    return qrels, [thinned, run, turned]


def scores_of(run: Any) -> dict[tuple[str, str], float]:
    return {(q, doc): score for q, doc, score in run.frame.select("query_id", "doc_id", "score").iter_rows()}


def theirs(ranx: ModuleType, runs: list[Table], **options: Any) -> dict[tuple[str, str], float]:
    fused = ranx.fuse([ranx.Run(run, name=f"r{i}") for i, run in enumerate(runs)], **options)
    return {(str(q), str(doc)): float(score) for q, docs in fused.run.items() for doc, score in docs.items()}


@pytest.mark.parametrize(
    ("method", "normalise", "options"),
    [
        *(("CombSUM", ours, {"norm": name, "method": "sum"}) for ours, name in [("min_max", "min-max"), ("max", "max"), ("sum", "sum"), ("zmuv", "zmuv"), ("rank", "rank"), ("borda", "borda")]),
        *((f"Comb{name.upper()}", "min_max", {"norm": "min-max", "method": name}) for name in ("min", "max", "med", "sum", "anz", "mnz")),
        ("CombGMNZ(gamma=0.5)", "min_max", {"norm": "min-max", "method": "gmnz", "params": {"gamma": 0.5}}),
        (f"WeightedSum(weights={WEIGHTS})", "min_max", {"norm": "min-max", "method": "wsum", "params": {"weights": list(WEIGHTS)}}),
        (f"WeightedMNZ(weights={WEIGHTS})", "min_max", {"norm": "min-max", "method": "wmnz", "params": {"weights": list(WEIGHTS)}}),
        (f"Mixed(weights={WEIGHTS})", "min_max", {"norm": "min-max", "method": "mixed", "params": {"weights": list(WEIGHTS)}}),
        ("RRF(k=60)", None, {"norm": None, "method": "rrf", "params": {"k": 60}}),
        ("ISR", None, {"norm": None, "method": "isr"}),
        ("LogISR", None, {"norm": None, "method": "log_isr"}),
        ("LogNISR", None, {"norm": None, "method": "logn_isr", "params": {"sigma": 0.01}}),
        ("RBC(phi=0.8)", None, {"norm": None, "method": "rbc", "params": {"phi": 0.8}}),
        ("Borda", None, {"norm": None, "method": "bordafuse"}),
        (f"Borda(weights={WEIGHTS})", None, {"norm": None, "method": "w_bordafuse", "params": {"weights": list(WEIGHTS)}}),
    ],
)  # fmt: skip
def test_fusions_of_scores_and_ranks(
    ranx: ModuleType, data: tuple[Any, list[Table]], method: str, normalise: str | None, options: dict[str, Any]
) -> None:
    _, runs = data
    assert scores_of(rs.fuse(runs, method, normalise=normalise)) == pytest.approx(
        theirs(ranx, runs, **options), abs=CLOSE
    )


@pytest.mark.parametrize(
    ("method", "name", "learned", "more"),
    [
        ("PosFuse", "posfuse", "probs", {}),
        ("SlideFuse(window=3)", "slidefuse", "probs", {"w": 3}),
        ("SegFuse", "segfuse", "probs", {}),
        ("ProbFuse(segments=7)", "probfuse", "probs", {}),
        ("BayesFuse", "bayesfuse", "log_odds", {}),
        ("MAPFuse", "mapfuse", "map_scores", {}),
    ],
)
def test_fusions_that_learn(
    ranx: ModuleType, data: tuple[Any, list[Table]], method: str, name: str, learned: str, more: dict[str, Any]
) -> None:
    import ranx.fusion as fusions

    qrels, runs = data
    relevant = {q: {doc: 1 for doc, grade in docs.items() if grade >= 1} or {"none": 1} for q, docs in qrels.items()}
    train = getattr(fusions, f"{name}_train")
    values = train(
        ranx.Qrels(relevant), [ranx.Run(run) for run in runs], **({"n_segments": 7} if name == "probfuse" else {})
    )
    norm = "min-max" if name == "segfuse" else None
    expected = theirs(ranx, runs, norm=norm, method=name, params={learned: values, **more})
    assert scores_of(rs.fuse(runs, method, qrels=relevant)) == pytest.approx(expected, abs=CLOSE)


def test_more_runs_than_it_takes_and_other_queries_are_fused(ranx: ModuleType) -> None:
    runs = [{"q": {f"d{i}": 1.0}, f"q{i}": {"x": 1.0}} for i in range(30)]
    with pytest.raises(AssertionError, match="query ids do not match"):
        theirs(ranx, runs, norm=None, method="rrf", params={"k": 60})
    assert len(rs.fuse(runs).queries) == 31
