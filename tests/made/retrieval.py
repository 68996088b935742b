"""First-stage rankings of small collections: BM25 by bm25s, and latent semantic vectors in place of an embedding model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.files.texts import texts_of

Texts = Mapping[str, str]
FILES = {
    "cranfield": ("cran.qry", "cran.all.1400", "cranqrel.trec.txt"),
    "vaswani": ("query-text.trec", "doc-text.trec", "qrels"),
}
DEPTH = 100


def collection(folder: Path) -> tuple[dict[str, str], Texts, Path]:
    """Queries, documents and the judgments of Cranfield or Vaswani. Judgments of Cranfield number its queries from 1 on."""
    queries_file, docs_file, qrels = FILES[folder.name]
    queries, docs = texts_of(folder / queries_file, noun="query").by_id, texts_of(folder / docs_file).by_id
    if folder.name == "cranfield":
        queries = {str(number): text for number, text in enumerate(queries.values(), 1)}
    return dict(queries), docs, folder / qrels


def bm25_run(queries: Texts, docs: Texts, k1: float = 1.2, b: float = 0.75) -> dict[str, dict[str, float]]:
    """The first 100 documents of each query by BM25."""
    import bm25s

    ids = list(docs)
    tokens: Any = bm25s.tokenize(list(docs.values()), stopwords="en", show_progress=False)
    index = bm25s.BM25(k1=k1, b=b)
    index.index(tokens, show_progress=False)
    asked: Any = bm25s.tokenize(list(queries.values()), stopwords="en", show_progress=False)
    found, scores = index.retrieve(asked, k=min(DEPTH, len(ids)), show_progress=False)
    return {
        query: {ids[i]: float(s) for i, s in zip(row, line, strict=True) if s > 0}
        for query, row, line in zip(queries, found.tolist(), scores.tolist(), strict=True)
    }


def latent_vectors(queries: Texts, docs: Texts, size: int = 100) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Vectors of queries and documents by latent semantic analysis (truncated SVD of tf-idf), of length 1."""
    from collections import Counter

    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.linalg import svds

    from rankscope.files.features import WORD

    rows = [Counter(WORD.findall(text.casefold())) for text in docs.values()]
    with_word = Counter(word for row in rows for word in row)
    words = {word: place for place, word in enumerate(w for w, n in with_word.items() if n > 1 and len(w) > 2)}

    def matrix(counters: list[Counter[str]]) -> Any:
        cells = [(i, words[w], 1 + np.log(n)) for i, row in enumerate(counters) for w, n in row.items() if w in words]
        at, columns, values = zip(*cells, strict=True)
        idf = np.log(len(rows) / np.array([with_word[word] for word in words]))
        return csr_array((values, (at, columns)), shape=(len(counters), len(words))) @ diags_array(idf)

    tfidf = matrix(rows)
    tfidf = diags_array(1 / np.maximum(np.sqrt((tfidf.multiply(tfidf)).sum(axis=1)), 1e-9)) @ tfidf
    _, _, right = svds(tfidf, k=size, random_state=0)
    asked = matrix([Counter(WORD.findall(text.casefold())) for text in queries.values()])
    both = [found @ right.T for found in (asked, tfidf)]
    unit = [v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12) for v in both]
    return unit[0], unit[1]


def dense_run(queries: Texts, docs: Texts, size: int = 100) -> dict[str, dict[str, float]]:
    """The first 100 documents of each query by the cosine of latent vectors."""
    asked, vectors = latent_vectors(queries, docs, size)
    ids, out = list(docs), {}
    for query, scores in zip(queries, asked @ vectors.T, strict=True):
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        out[query] = {ids[i]: float(scores[i]) for i in best.tolist()}
    return out
