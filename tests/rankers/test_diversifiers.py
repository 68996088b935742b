"""Laws over all diversifiers, and worked arithmetic of each."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from rankscope.errors import DataError, InputError
from rankscope.files.features import WordFeatures, features_of, targets_of
from rankscope.rankers.diversifiers import DPP, MMR, PM2, Calibrated, CandidatePool, Diversifier, xQuAD

DIVERSIFIERS = list(dict.fromkeys(Diversifier.catalogue.values()))


def pool(seed: int, documents: int = 9, features: int = 4) -> CandidatePool:
    draws = np.random.default_rng(seed)
    relevance = np.sort(draws.random(documents))[::-1]
    target = draws.random(features)
    return CandidatePool(relevance, draws.random((documents, features)), target / target.sum())


def named(one: Any) -> str:
    return str(one.__name__)


@pytest.mark.parametrize("method", DIVERSIFIERS, ids=named)
@pytest.mark.parametrize("k", [1, 4, 9, 20])
def test_each_document_is_taken_at_most_once(method: type[Diversifier], k: int) -> None:
    for seed in range(5):
        for diversity in (0.0, 0.4, 1.0):
            order = method(diversity=diversity).order(pool(seed), k)
            assert len(order) == min(k, 9) == len(set(order.tolist()))


@pytest.mark.parametrize("method", [one for one in DIVERSIFIERS if one is not PM2], ids=named)
def test_without_diversity_the_order_is_that_of_relevance(method: type[Diversifier]) -> None:
    assert method(diversity=0).order(pool(3), 9).tolist() == list(range(9))


@pytest.mark.parametrize("method", DIVERSIFIERS, ids=named)
def test_a_shorter_list_is_the_start_of_a_longer_one(method: type[Diversifier]) -> None:
    assert method().order(pool(4), 3).tolist() == method().order(pool(4), 9).tolist()[:3]


@pytest.mark.parametrize("method", DIVERSIFIERS, ids=named)
def test_documents_without_features_are_ranked(method: type[Diversifier]) -> None:
    empty = CandidatePool(np.array([1.0, 0.5]), np.zeros((2, 2)), np.array([0.5, 0.5]))
    assert sorted(method().order(empty, 2).tolist()) == [0, 1]


def test_marginal_relevance_takes_off_the_nearest_document() -> None:
    made = CandidatePool(np.array([1.0, 0.9, 0.6]), np.array([[1.0, 0], [3, 4], [0, 1]]), np.array([0.5, 0.5]))
    # after the first: 0.5 * 0.9 - 0.5 * 3/5 = 0.15 and 0.5 * 0.6 - 0 = 0.3
    assert MMR(diversity=0.5).order(made, 3).tolist() == [0, 2, 1]
    # 0.8 * 0.9 - 0.2 * 0.6 = 0.6 and 0.8 * 0.6 = 0.48
    assert MMR(diversity=0.2).order(made, 3).tolist() == [0, 1, 2]


def test_xquad_counts_subtopics_that_are_still_open() -> None:
    made = CandidatePool(np.array([1.0, 0.9, 0.5]), np.array([[0.8, 0], [0.8, 0], [0, 0.5]]), np.array([0.5, 0.5]))
    # after the first the open shares are 0.5 * 0.2 and 0.5: 0.5 * 0.9 + 0.5 * 0.8 * 0.1 = 0.49, 0.5 * 0.5 + 0.5 * 0.5 * 0.5 = 0.375
    assert xQuAD(diversity=0.5).order(made, 3).tolist() == [0, 1, 2]
    # 0.1 * 0.9 + 0.9 * 0.08 = 0.162, 0.1 * 0.5 + 0.9 * 0.25 = 0.275
    assert xQuAD(diversity=0.9).order(made, 3).tolist() == [0, 2, 1]


def test_seats_follow_the_shares_of_the_target() -> None:
    features = np.repeat(np.eye(2), [6, 3], axis=0)
    made = CandidatePool(np.linspace(1, 0.9, 9), features, np.array([2 / 3, 1 / 3]))
    order = PM2(diversity=1).order(made, 6)
    # quotients of Sainte-Lague for 2 : 1 give a b a a b a
    assert (order >= 6).tolist() == [False, True, False, False, True, False]


def test_a_determinantal_process_multiplies_the_volume_most() -> None:
    for seed in range(6):
        made, method = pool(seed, features=12), DPP(diversity=0.5)
        chosen: list[int] = []
        similarity = made.similarity.copy()
        np.fill_diagonal(similarity, 1.0)
        for _ in range(5):

            def worth(doc: int, above: list[int] = chosen) -> float:
                with_it = [*above, doc]
                volume = np.linalg.slogdet(similarity[np.ix_(with_it, with_it)])[1]  # noqa: B023
                return float(0.5 * made.relevance[with_it].sum() + 0.5 * volume)  # noqa: B023

            chosen.append(max((doc for doc in range(9) if doc not in chosen), key=worth))
        assert method.order(made, 5).tolist() == chosen


def test_calibration_is_the_greedy_minimum_of_the_divergence() -> None:
    made, method = pool(7), Calibrated(diversity=0.8)
    shares = made.features / made.features.sum(axis=1, keepdims=True)

    def worth(listed: list[int]) -> float:
        mixed = 0.99 * shares[listed].mean(axis=0) + 0.01 * made.target
        divergence = sum(p * math.log(p / q) for p, q in zip(made.target, mixed, strict=True))
        return float(0.2 * made.relevance[listed].sum() - 0.8 * divergence)

    chosen: list[int] = []
    for _ in range(4):
        left = [doc for doc in range(9) if doc not in chosen]
        chosen.append(max(left, key=lambda doc: worth([*chosen, doc])))
    assert method.order(made, 4).tolist() == chosen


def test_calibration_beats_every_pair_of_its_size_if_diversity_is_all() -> None:
    features = np.array([[1.0, 0], [1, 0], [0, 1], [0.5, 0.5]])
    made = CandidatePool(np.array([1.0, 0.9, 0.8, 0.7]), features, np.array([0.5, 0.5]))
    order = Calibrated(diversity=1).order(made, 2).tolist()
    apart = {pair: abs(features[list(pair)].mean(axis=0)[0] - 0.5) for pair in combinations(range(4), 2)}
    assert order[0] == 3  # half and half at once
    assert apart[tuple(sorted(order))] == min(apart[pair] for pair in apart if 3 in pair)


def test_features_are_read_from_categories_vectors_and_queries(tmp_path: Any) -> None:
    genres = tmp_path / "genres.csv"
    genres.write_text("doc_id,genres\nd1,Comedy|Drama\nd2,Drama\n")
    found = features_of(str(genres))
    assert found.names == ("Comedy", "Drama")
    assert found.of("q", ["d1", "d2", "d3"]).tolist() == [[1, 1], [0, 1], [0, 0]]
    vectors = tmp_path / "vectors.csv"
    vectors.write_text("doc_id,x,y\nd1,0.5,1\nd2,-1,0\n")
    assert features_of(str(vectors)).of("q", ["d2", "d3"]).tolist() == [[-1, 0], [0, 0]]
    subtopics = tmp_path / "subtopics.csv"
    subtopics.write_text("query_id,doc_id,subtopic,weight\nq1,d1,a,0.5\nq2,d1,b,1\n")
    by_query = features_of(str(subtopics))
    assert by_query.of("q1", ["d1"]).tolist() == [[0.5, 0]]
    assert by_query.of("q2", ["d1"]).tolist() == [[0, 1]]


def test_words_weigh_more_if_they_are_rare() -> None:
    found = WordFeatures.of_texts("texts", {"a": "the moon", "b": "the tide tide", "c": "The moon"})
    near = CandidatePool(np.ones(3), found.of("q", ["a", "b", "c"]), np.zeros(1)).similarity
    assert near[0, 1] == pytest.approx(0.0, abs=1e-12)  # "the" is in every text
    assert near[0, 2] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "empty"),
        ({"a": [1.0, 2.0], "b": [1.0]}, "all vectors have one length"),
        ({"a": "x", "b": [1.0]}, "both categories and vectors"),
        ({"a": {"x": -1}}, "0 or more"),
    ],
)
def test_bad_features_are_refused_in_one_line(source: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        features_of(source)


def test_bad_targets_and_unrelated_features_are_refused() -> None:
    with pytest.raises(InputError, match="wants 'comdy', a feature that no document has, did you mean comedy"):
        targets_of({"q": {"comdy": 1}}, ["comedy"])
    with pytest.raises(InputError, match="with a sum above 0"):
        targets_of({"q": {"comedy": 0}}, ["comedy"])
    with pytest.raises(DataError, match="no document of the run has features"):
        features_of({"a": "x"}).lacking([("q", "b")])
