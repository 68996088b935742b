"""CatBoost: its ranking metrics over lists that it scores itself, where equal scores are taken in the worst order."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import rankscope as rs

CLOSE = 1e-12
KINDS = ("no ties", "ties", "one feature")
TOP = (1, 3, 5, 10)


@pytest.fixture(scope="module")
def catboost(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("catboost.utils")


def theirs(catboost: ModuleType, queries: list[Any], metric: str) -> tuple[float, list[float]]:
    """What the tool says of all queries together, and of each alone."""

    def said(chosen: list[Any]) -> float:
        labels = [label for said, _ in chosen for label in said]
        scores = [score for _, said in chosen for score in said]
        groups = [i for i, (said, _) in enumerate(chosen) for _ in said]
        return float(catboost.eval_metric(labels, scores, metric, group_id=groups)[0])

    return said(queries), [said([query]) for query in queries]


def compare(tool: Any, data: Any, metric: Any, name: str, no_relevant: Any = "metric", label: Any = float) -> None:
    """Each query and the mean; labels are given to the tool as it wants them."""
    mean, each = theirs(tool, data.relabelled(label).queries, name)
    scores = rs.evaluate(data.qrels, data.run, [metric], ties="worst", no_relevant=no_relevant)
    assert scores.runs[0].values[metric].tolist() == pytest.approx(each, abs=CLOSE)
    assert scores[metric] == pytest.approx(mean, abs=CLOSE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", TOP)
@pytest.mark.parametrize(("gain", "base"), [("linear", "Base"), ("exponential", "Exp")])
@pytest.mark.parametrize(("discount", "position"), [("log2", "LogPosition"), ("reciprocal", "Position")])
def test_gain(
    gain: Any, base: str, discount: Any, position: str, k: int, kind: str, catboost: ModuleType, letor: Any
) -> None:
    said = f"top={k};type={base};denominator={position}"
    compare(catboost, letor[kind], rs.nDCG(gain=gain, discount=discount) @ k, f"NDCG:{said}", 1)
    compare(catboost, letor[kind], rs.DCG(gain=gain, discount=discount) @ k, f"DCG:{said}")


BINARY: Any = [
    (rs.AP(denominator="min_k_relevant"), "MAP", "metric"),
    (rs.RR(), "MRR", "metric"),
    (rs.P(denominator="min_k_listlen"), "PrecisionAt", "metric"),
    (rs.R(), "RecallAt", 1),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", TOP)
@pytest.mark.parametrize(("metric", "name", "no_relevant"), BINARY)
def test_binary(metric: Any, name: str, no_relevant: Any, k: int, kind: str, catboost: ModuleType, letor: Any) -> None:
    metric = metric.having(level=3) @ k
    compare(catboost, letor[kind], metric, f"{name}:top={k};border=2.5", no_relevant)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", TOP)
def test_readers_who_stop(k: int, kind: str, catboost: ModuleType, letor: Any) -> None:
    """Labels are the chances of being satisfied themselves."""
    compare(catboost, letor[kind], rs.PFound(max_grade=4) @ k, f"PFound:top={k}", label=lambda g: g / 4)
    metric = rs.PFound(max_grade=4, decay=0.6, stops="exponential") @ k
    stops = lambda grade: (2**grade - 1) / 2**4  # noqa: E731 - one chance, given to three comparisons
    compare(catboost, letor[kind], metric, f"PFound:top={k};decay=0.6", label=stops)
    compare(catboost, letor[kind], rs.ERR(max_grade=4) @ k, f"ERR:top={k}", label=stops)


@pytest.mark.parametrize("kind", KINDS)
def test_areas(kind: str, catboost: ModuleType, letor: Any) -> None:
    """The one metric of the tool that takes no order of equal scores: they count half."""
    areas: Any = {
        "Ranking": (rs.OPA(single_class=0), letor[kind]),
        "Classic": (rs.AUC(single_class=0, level=3), letor[kind].relabelled(lambda grade: float(grade >= 3))),
    }
    for name, (metric, theirs_of) in areas.items():
        mean, each = theirs(catboost, theirs_of.queries, f"QueryAUC:type={name}")
        scores = rs.evaluate(letor[kind].qrels, letor[kind].run, [metric])
        assert scores.runs[0].values[metric].tolist() == pytest.approx(each, abs=CLOSE)
        assert scores[metric] == pytest.approx(mean, abs=CLOSE)


@pytest.mark.parametrize(
    ("metric", "name", "no_relevant", "published"),
    [(rs.P(denominator="min_k_listlen"), "PrecisionAt", "metric", 0.2778), (rs.R(), "RecallAt", 1, 0.5),
     (rs.AP(denominator="min_k_relevant"), "MAP", "metric", 0.2407), (rs.RR(), "MRR", "metric", 0.3889),
     (rs.nDCG(), "NDCG", 1, 0.4846)],
)  # fmt: skip
def test_six_users(
    metric: Any, name: str, no_relevant: Any, published: float, catboost: ModuleType, six_users: Any
) -> None:
    """The figures on record for this release."""
    compare(catboost, six_users, metric @ 3, f"{name}:top=3", no_relevant)
    assert theirs(catboost, six_users.queries, f"{name}:top=3")[0] == pytest.approx(published, abs=5e-5)


@pytest.mark.parametrize(
    ("gain", "discount", "name", "published"),
    [("linear", "log2", "type=Base", 0.5025), ("exponential", "log2", "type=Exp", 0.5234),
     ("exponential", "reciprocal", "type=Exp;denominator=Position", 0.4340)],
)  # fmt: skip
def test_one_graded_list(
    gain: Any, discount: Any, name: str, published: float, catboost: ModuleType, graded_list: Any
) -> None:
    compare(catboost, graded_list, rs.nDCG(gain=gain, discount=discount) @ 3, f"NDCG:top=3;{name}")
    metric = rs.nDCG(gain=gain, discount=discount) @ 3
    assert metric.of(graded_list.queries[0][0]) == pytest.approx(published, abs=5e-5)


def test_mean_area_counts_groups_of_one_class_as_0(catboost: ModuleType) -> None:
    """A defect of the tool: a group without a pair has no area, and should leave the mean alone."""
    groups = [
        ([1, 0, 1, 0, 0], [0.9, 0.7, 0.5, 0.3, 0.1]),
        ([1, 1, 0, 0, 0, 0, 0, 0], [0.5, 0.2, 0.9, 0.8, 0.7, 0.5, 0.2, 0.1]),
        ([0, 0, 0], [0.6, 0.4, 0.2]),
        ([1, 1], [0.6, 0.4]),
    ]
    areas = [5 / 6, (3 + 2 / 2) / 12]
    for kind in ("Classic", "Ranking"):
        mean, _ = theirs(catboost, groups, f"QueryAUC:type={kind}")
        assert mean == pytest.approx(sum(areas) / 4, abs=CLOSE)
    qrels = {f"q{i}": {f"d{j}": g for j, g in enumerate(labels)} for i, (labels, _) in enumerate(groups)}
    run = {f"q{i}": {f"d{j}": s for j, s in enumerate(scores)} for i, (_, scores) in enumerate(groups)}
    scores = rs.evaluate(qrels, run, ["AUC", "OPA", "AUC(single_class=0)"])
    assert scores["AUC"] == scores["OPA"] == pytest.approx(sum(areas) / 2, abs=CLOSE)
    assert scores["AUC(single_class=0)"] == pytest.approx(sum(areas) / 4, abs=CLOSE)
    assert scores.board[0].undefined == 2
