"""The guide docs/better-rankings.md: its tables are what fusion, tuning, re-ranking and diversification give on Cranfield and Vaswani."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.made.files import some
from tests.made.retrieval import bm25_run, collection, dense_run, latent_vectors

import rankscope as rs
from rankscope import words
from rankscope.files.features import WORD

PAGE = Path(__file__).resolve().parents[2] / "docs" / "better-rankings.md"
LEAD = "nDCG@10"


def bigrams(query: str, texts: Sequence[str]) -> list[float]:
    """The number of pairs of neighbouring words that a query and a text share."""

    def pairs(text: str) -> set[tuple[str, str]]:
        found = WORD.findall(text.casefold())
        return set(pairwise(found))

    asked = pairs(query)
    return [float(len(asked & pairs(text))) for text in texts]


def change(name: str, c: Any) -> str:
    """A row of the table: the value, the difference with its interval."""
    ends = words.interval(c.bounds.lower, c.bounds.upper, sign=True, digits=3)
    return f"| {name} | {c.value:.3f} | {words.number(c.difference, sign=True, digits=3)} ({ends}) |"


def row(name: str, c: Any) -> str:
    """A row of the table: the value, the difference from BM25 with its interval, the verdict."""
    return f"{change(name, c)} {c.verdict} |"


def rows_of(folder: Path) -> list[str]:
    """The table of a collection: each change against BM25, without correction, as the guide decides one step after another."""
    queries, docs, qrels = collection(folder)
    bm25, dense = bm25_run(queries, docs), dense_run(queries, docs)
    hybrid = rs.fuse({"bm25": bm25, "dense": dense})
    tuned = rs.tune(qrels, {"bm25": bm25, "dense": dense}, LEAD, method="WeightedSum", baseline="bm25")
    reranked = rs.rerank(bm25, bigrams, queries_text=queries, docs_text=docs, depths=20).run
    diverse = rs.diversify(bm25, "MMR(diversity=0.3)", docs_text=docs).run
    out = [f"| BM25 | {rs.evaluate(qrels, bm25, LEAD)[LEAD]:.3f} | | |"]
    systems = {
        "dense": dense,
        "hybrid, RRF(k=60)": hybrid,
        "re-ranked by word pairs": reranked,
        "diversified, MMR(diversity=0.3)": diverse,
    }
    for name, run in systems.items():
        out.append(row(name, rs.compare(qrels, {"bm25": bm25, name: run}, LEAD)[name, LEAD]))
    out.append(row("tuned weights, held-out queries", tuned[LEAD]))
    out.append(row("tuned weights, same queries", tuned.optimistic))
    return out


def rows_of_poor_queries(folder: Path) -> list[str]:
    """The column of a collection in the table of poor queries, as rows with a label and a number."""
    queries, docs, qrels = collection(folder)
    bm25 = bm25_run(queries, docs)
    hybrid = rs.fuse({"bm25": bm25, "dense": dense_run(queries, docs)})
    (found,) = rs.diagnose(qrels, bm25, LEAD).runs
    scores = rs.evaluate(qrels, {"bm25": bm25, "hybrid": hybrid}, [LEAD, "R@100"])
    values = {(row["run"], row["query_id"], row["metric"]): row["value"] for row in scores.per_query.to_dicts()}
    poor = [query for run, query, metric in values if (run, metric) == ("bm25", LEAD) and not values[run, query, LEAD]]
    return [
        f"{found.loss.never_retrieved:.3f}",
        f"{found.loss.ordered_badly:.3f}",
        f"{len(poor)} of {len(values) // 4}",
        str(sum(values["bm25", query, "R@100"] > 0 for query in poor)),
        str(sum(values["hybrid", query, LEAD] > 0 for query in poor)),
        f"{sum(values['hybrid', query, LEAD] for query in poor) / len(poor):.3f}",
    ]


def rows_of_subtopics(folder: Path) -> list[str]:
    """The table of subtopics: the dimension in which a document is strongest is its category, a category with a relevant document a subtopic."""
    queries, docs, qrels = collection(folder)
    labels = np.abs(latent_vectors(queries, docs)[1][:, -21:-1]).argmax(
        axis=1
    )  # all are strong in the last, which has the largest singular value
    clusters = {doc: [f"dimension {label}"] for doc, label in zip(docs, labels.tolist(), strict=True)}
    out = []
    for method in ("xQuAD(diversity=0.3)", "PM2(diversity=0.3)"):
        found = rs.diversify(bm25_run(queries, docs), method, features=clusters, qrels=qrels, levels=[0.3])
        out += [change(f"{method}: {c.metric} | {c.baseline_value:.3f}", c) for c in found.contrasts[:3]]
    return out


def assert_written(line: str, written: str) -> None:
    """Find a line of a table in a page, with the same label and nearly the same numbers."""
    numbers = re.compile(r"[+−-]?\d+\.\d+")
    label = line.split("|")[1]
    near = [
        other
        for other in written.splitlines()
        if other.startswith(f"|{label}|")
        and len(numbers.findall(other)) == len(numbers.findall(line))
        and all(
            abs(float(a.replace("−", "-")) - float(b.replace("−", "-"))) <= 0.0021  # libraries of linear algebra differ
            for a, b in zip(numbers.findall(other)[1:], numbers.findall(line)[1:], strict=True)
        )
    ]
    assert near or line in written, line


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cranfield", "vaswani"])
def test_the_guide_has_the_numbers_of_the_collections(
    name: str, shared_data: Callable[[str], Path], need: Callable[[str], ModuleType]
) -> None:
    need("bm25s")
    written = PAGE.read_text(encoding="utf-8")
    for line in rows_of(shared_data(name)):
        assert_written(line, written)


@pytest.mark.slow
def test_the_guide_has_the_poor_queries(shared_data: Callable[[str], Path], need: Callable[[str], ModuleType]) -> None:
    need("bm25s")
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| BM25 | Cranfield | Vaswani |") + 2
    columns = [rows_of_poor_queries(shared_data(name)) for name in ("cranfield", "vaswani")]
    assert [line.split(" | ")[1:] for line in lines[start : start + len(columns[0])]] == [
        [one, f"{other} |"] for one, other in zip(*columns, strict=True)
    ]


@pytest.mark.slow
def test_the_guide_has_the_subtopics(shared_data: Callable[[str], Path], need: Callable[[str], ModuleType]) -> None:
    need("bm25s")
    for line in rows_of_subtopics(shared_data("cranfield")):
        assert_written(line, PAGE.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_page_on_fusion_has_the_numbers_of_trec_covid(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("trec_covid")
    runs = {path.name.removesuffix(".gz"): str(path) for path in some((folder / "round1" / "runs").glob("*.gz"))}
    everything = {**runs, "RRF": rs.fuse(runs, "RRF(k=60)")}
    scores = rs.evaluate(str(folder / "qrels.txt"), everything, ["nDCG@10", "P@5", "AP"])
    written = (PAGE.parent / "fusion.md").read_text(encoding="utf-8")
    for metric in ("nDCG@10", "P@5", "AP"):
        best = max(runs, key=lambda name: scores[name, metric])
        c = rs.compare(scores, metrics=metric, baseline=best, correction="none")["RRF", metric]
        assert f"| {metric} | {best} {c.baseline_value:.3f} {change('', c)[2:].strip()}" in written
