"""Made-up runs and judgments of a given size; the same seed gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

Dicts = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


def write_files(folder: Path, name: str, queries: int, depth: int, judged: int, seed: int = 1) -> tuple[Path, Path]:
    """Write TREC qrels and a TREC run sorted by score; most judged documents are in the run."""
    rng = np.random.default_rng(seed)
    qrels, run = folder / f"{name}.qrels.txt", folder / f"{name}.run.txt"
    ids = np.sort(rng.choice(1_200_000, queries, replace=False))
    with qrels.open("w", encoding="ascii") as q, run.open("w", encoding="ascii") as r:
        for query in ids.tolist():
            docs = rng.choice(8_841_823, depth, replace=False).tolist()
            scores = np.sort(rng.gamma(2.0, 5.0, depth))[::-1].tolist()
            r.writelines(
                f"{query} Q0 {doc} {rank} {score:.6f} made\n"
                for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), 1)
            )
            picked = rng.choice(depth, min(judged, depth), replace=False).tolist()
            for i in picked:
                doc = docs[i] if rng.random() < 0.85 else 9_000_000 + i
                q.write(f"{query} 0 {doc} {1 if judged == 1 else int(rng.integers(0, 4))}\n")
    return qrels, run


def make_dicts(queries: int, depth: int, judged: int, seed: int = 1) -> Dicts:
    """The same in memory, as dicts of dicts."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(queries):
        docs = [f"d{doc}" for doc in rng.choice(100_000, depth, replace=False).tolist()]
        scores = rng.random(depth).astype(np.float32).tolist()
        run[f"q{number}"] = dict(zip(docs, scores, strict=True))
        picked = rng.choice(depth, judged, replace=False).tolist()
        qrels[f"q{number}"] = {docs[i]: int(rng.integers(0, 3)) for i in picked}
    return qrels, run
