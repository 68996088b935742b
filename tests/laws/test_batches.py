"""Every metric has the same value from arrays, from one list alone, and from tables of ids, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.made.samples import sampled

import rankscope as rs
from rankscope.metrics import CATALOGUE, Metric
from rankscope.testing import variants
from rankscope.testing.cases import top_grade

METRICS = [
    m for cls in dict.fromkeys(CATALOGUE.values()) if cls.__module__.startswith("rankscope.") for m in variants(cls)
]
NAMED = sorted({str(m): m for m in METRICS if not m.needs & {"subtopics", "items"}}.items())  # these need names


def world(tied: bool, fractions: bool = False) -> tuple[list[list[Any]], list[list[float]]]:
    """Lists of several lengths with unjudged, pooled and graded documents; with few distinct scores where they are tied."""
    rng = np.random.default_rng(7)
    labels, scores = [], []
    for _ in range(40):
        size = int(rng.integers(1, 26))
        grades = [None, -1.0, 0.0, 0.0, 1.0, 2.0, 4.0, *([0.5, 2.5] if fractions else [])]
        labels.append([grades[i] for i in rng.integers(0, len(grades), size).tolist()])
        scores.append(
            (rng.integers(0, 6, size) / 4.0).tolist() if tied else rng.permutation(size).astype(float).tolist()
        )
    return labels, scores


LABELS, SCORES = world(tied=False)
LABELS_TIED, SCORES_TIED = world(tied=True)


def padded(lists: list[list[Any]]) -> Any:
    """The lists as rows of an array, NaN where nobody judged and where there is no document."""
    out = np.full((len(lists), max(map(len, lists))), np.nan)
    for row, one in zip(out, lists, strict=True):
        row[: len(one)] = [np.nan if value is None else value for value in one]
    return out


def value_of(metric: Metric, *lists: Any, **more: Any) -> Any:
    """The value, or the line that refuses it."""
    try:
        return metric.of(*lists, **more)
    except rs.InputError as error:
        return str(error)


FOR_ALL = [
    m
    for _, m in NAMED
    if top_grade(m) >= 4 and not m.needs and not isinstance(value_of(m, LABELS_TIED, scores=SCORES_TIED), str)
]


@pytest.mark.parametrize("metric", [pytest.param(m, id=name) for name, m in sampled(NAMED, 80)])
def test_a_batch_is_its_lists_one_by_one(metric: Metric) -> None:
    for labels, scores in ((LABELS, SCORES), (LABELS_TIED, SCORES_TIED), (LABELS, None)):
        more = [{} if scores is None else {"scores": one} for one in (scores or labels)]
        alone = [value_of(metric, one, **given) for one, given in zip(labels, more, strict=True)]
        together = value_of(metric, labels, scores=scores)
        refused = [one for one in alone if isinstance(one, str)]
        if isinstance(together, str) or refused:
            assert together in refused
            continue
        np.testing.assert_array_equal(together, alone)
        arrays = [np.array(one, dtype=float) for one in labels]
        np.testing.assert_array_equal(value_of(metric, arrays, scores=scores), alone)
        lengths = [len(one) for one in labels]
        rows = value_of(metric, padded(labels), scores=None if scores is None else padded(scores), lengths=lengths)
        np.testing.assert_array_equal(rows, alone)


@pytest.mark.parametrize("metric", [pytest.param(m, id=name) for name, m in sampled(NAMED, 80) if "known" not in name])
def test_a_batch_with_more_that_is_relevant_elsewhere(metric: Metric) -> None:
    known = [len(one) + i % 3 for i, one in enumerate(LABELS)]
    alone = [value_of(metric, one, known=n) for one, n in zip(LABELS, known, strict=True)]
    together = value_of(metric, LABELS, known=known)
    if isinstance(together, str):
        assert together in alone
    else:
        np.testing.assert_array_equal(together, alone)


def mappings(labels: list[list[Any]], scores: list[list[float]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same with ids that rise with the place in the list."""
    qrels = {
        f"q{i:03}": {f"d{j:03}": grade for j, grade in enumerate(one) if grade is not None}
        for i, one in enumerate(labels)
    }
    run = {f"q{i:03}": {f"d{j:03}": score for j, score in enumerate(one)} for i, one in enumerate(scores)}
    return qrels, run


def flat(labels: list[list[Any]], scores: list[list[float]]) -> tuple[Any, Any, list[int]]:
    """The same end to end, with group sizes."""
    end_to_end = [np.nan if one is None else one for ones in labels for one in ones]
    return np.array(end_to_end), np.array([one for ones in scores for one in ones]), [len(ones) for ones in labels]


POLICIES: list[dict[str, Any]] = [
    {"ties": "input"},
    {"ties": "trec"},
    {"ties": "docid"},
    {"ties": "trec", "depth": 5},
    {"ties": "input", "no_relevant": "skip"},
    {"ties": "trec", "nothing_found": "skip", "no_relevant": 1},
    {"ties": "expected"},
    {"ties": "worst", "depth": 7},
]


@pytest.mark.parametrize("policies", [pytest.param(p, id=" ".join(map(str, p.values()))) for p in POLICIES])
def test_arrays_give_what_evaluate_gives(policies: dict[str, Any]) -> None:
    metrics = (
        FOR_ALL
        if policies["ties"] in {"input", "trec", "docid"}
        else ["nDCG@10", "AP", "RR", "P@5", "ERR", "AUC", "Bpref"]
    )
    qrels, run = mappings(LABELS_TIED, SCORES_TIED)
    labels, scores, group = flat(LABELS_TIED, SCORES_TIED)
    theirs = rs.evaluate(qrels, run, metrics, **policies)
    ids = np.repeat([f"q{i:03}" for i in range(len(group))], group)
    for how in (group, ids):
        ours = rs.evaluate_arrays(labels, scores, group=how, metrics=metrics, **policies)
        for mean, other in zip(ours.board, theirs.board, strict=True):
            if how is ids or policies["ties"] not in {"expected", "worst"}:  # orders are drawn by the id of the query
                np.testing.assert_array_equal(
                    ours.values[mean.metric], theirs.runs[0].values[other.metric], err_msg=str(mean.metric)
                )
                np.testing.assert_array_equal(mean.value, other.value, err_msg=str(mean.metric))


def test_most_metrics_are_tried() -> None:
    assert len(NAMED) > 350
    assert len(FOR_ALL) > 300


def test_layouts_agree() -> None:
    labels, scores, group = flat(LABELS_TIED, SCORES_TIED)
    metrics = ["nDCG@10", "AP", "RR", "R@5", "AUC", "Judged@10"]
    one = rs.evaluate_arrays(labels, scores, group=group, metrics=metrics)
    lengths = np.array(group)
    rows, at = padded(LABELS_TIED), padded(SCORES_TIED)
    ids = np.repeat(np.arange(len(group)), group)
    by = np.argsort(np.arange(len(ids)) % 3, kind="stable")  # rows of a query apart
    by = np.concatenate([by[ids[by] == 0], by[ids[by] != 0]])
    unstable = [rs.evaluate_arrays(labels[by], scores[by] + 1e-9 * by, group=ids[by], metrics=metrics)]
    apart = rs.evaluate_arrays(labels, scores + 1e-9 * np.arange(len(ids)), group=ids, metrics=metrics)
    mask = np.arange(rows.shape[1]) < lengths[:, None]
    others = [
        rs.evaluate_arrays(rows, at, metrics=metrics, lengths=group),
        rs.evaluate_arrays(np.where(mask, rows, 3.0), np.where(mask, at, 9.0), metrics=metrics, mask=mask),
        rs.evaluate_arrays(labels, scores, metrics=metrics, group=ids),
        rs.evaluate_arrays(np.asfortranarray(rows), np.asfortranarray(at), metrics=metrics, lengths=lengths),
    ]
    for other in others:
        for name, values in one.per_query.items():
            np.testing.assert_array_equal(other.per_query[name], values, err_msg=name)
    by_id = {int(q): i for i, q in enumerate(unstable[0].query_ids)}
    for name, values in apart.per_query.items():
        np.testing.assert_array_equal(
            [unstable[0].per_query[name][by_id[q]] for q in range(len(group))], values, err_msg=name
        )
