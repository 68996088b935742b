"""The policies of an evaluation that change its numbers, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankscope.scoring.scores import Scores

TITLES = {
    "no_relevant": "queries without relevant documents",
    "nothing_found": "queries with nothing relevant found",
    "mean": "means",
    "duplicates": "documents that stand twice",
    "self_match": "self-matches",
}
IN_WORDS: dict[str, dict[Any, str]] = {
    "no_relevant": {
        "metric": "as each metric says",
        "skip": "left out",
        0: "score 0",
        1: "score 1",
    },
    "nothing_found": {
        "metric": "as each metric says",
        "skip": "left out where nothing relevant stands in the top k",
        "skip_list": "left out where nothing relevant stands in the whole list",
    },
    "mean": {
        "macro": "every query weighs the same",
        "micro": "all that the queries earn, out of all that they are worth",
    },
    "duplicates": {"error": "refused", "first": "the first row counts", "best": "the best row counts"},
    "self_match": {"keep": "kept", "drop": "left out: documents that are their own query"},
}


def in_words(scores: Scores) -> Iterator[tuple[str, str]]:
    """Each policy and what it is, a default or not."""
    said = scores.conventions
    for name, title in TITLES.items():
        words = IN_WORDS[name].get(said[name], str(said[name]))
        if name == "mean" and said["weights"]:
            words = (
                "queries weigh as was said" if said["mean"] == "macro" else f"{words}, weighed as was said"
            )
        yield title, words
    depth = said["depth"]
    yield "depth", "whole rankings" if depth is None else f"the first {depth:,} documents of each ranking"
    if said["weights"]:
        yield "weights", _source(said["weights"], "weights")


def _source(label: str, unnamed: str) -> str:
    return "given in memory" if label == unnamed else f"of {label}"


def clusters_in_words(said: str) -> str:
    """Where clusters were said, for a result that knows it."""
    return _source(said, "clusters")


def policies(scores: Scores) -> Iterator[str]:
    """A sentence for each policy that departs from the default, and of those about odd rows, that had something to do."""
    said = scores.conventions
    if said["mean"] == "micro":
        yield "Means are micro means: all that the queries earn, out of all that they are worth."
    if said["weights"]:
        yield "Queries weigh in the means as they were said to."
    if said["no_relevant"] in {"skip", 0, 1}:
        what = "were left out" if said["no_relevant"] == "skip" else f"score {said['no_relevant']}"
        yield f"Queries without a relevant document {what}."
    if said["nothing_found"] in {"skip", "skip_list"}:
        where = "the top k" if said["nothing_found"] == "skip" else "the whole ranking"
        yield f"Queries with nothing relevant in {where} were left out."
    if said["depth"] is not None:
        yield f"Rankings were cut after {said['depth']:,} documents."
    health = [run.health for run in scores.runs]
    if any(h.duplicates or h.qrels_duplicates for h in health):
        yield f"Of documents that stand twice for a query the {said['duplicates']} row counts."
    if any(h.self_matches for h in health):
        yield "Documents that are their own query were left out."
