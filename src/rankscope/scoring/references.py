"""Three lists that give numbers of a recommender their scale: random, popular and oracle, made from the same data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankscope.errors import InputError
from rankscope.lists.items import ItemTable
from rankscope.metrics import Metric
from rankscope.scoring.inputs import named_runs, read_any
from rankscope.scoring.policies import Policies

REFERENCES = ("random", "popular", "oracle")
USUAL = 100  # items of a list, if a metric has no cutoff
Lists = dict[str, dict[str, float]]


def with_references(
    qrels: Any, runs: Any, metrics: Sequence[Metric], policies: Policies
) -> list[tuple[str | None, Any]]:
    """The runs of a call, and after them a random, a popular and an oracle list for every judged user.

    Lists are as long as the largest cutoff. Items that a user has in the history are left out. ``random`` draws from the catalogue, ``popular`` has
    the items most users have in the history, and ``oracle`` the relevant items that can be shown, best first, and then popular ones. Raises
    InputError without items and history, and for a run with one of these names.
    """
    table = policies.item_table
    if table is None:
        raise InputError(
            "references are made of items: add --items with the catalogue, or --history with users and items"
        )
    named = list(named_runs(runs))
    for name, _ in named:
        if name in REFERENCES:
            raise InputError(f"a run is called {name}, as one of the references: give it another name")
    judgments = read_any("qrels", qrels, reading=policies)
    grades = judgments if isinstance(judgments, dict) else judgments.mapping
    references = reference_lists(grades, table, depth_of(metrics), policies.seed)
    return [*named, *((name, references[name]) for name in REFERENCES if references[name])]


def depth_of(metrics: Sequence[Metric]) -> int:
    """The length of the lists: the largest cutoff."""
    return max(getattr(metric, "cutoff", None) or USUAL for metric in metrics)


def reference_lists(grades: Any, table: ItemTable, depth: int, seed: int = 0) -> dict[str, Lists]:
    """A random, a popular (if there is a history) and an oracle list for every user of ``grades``, without items that the user had before."""
    ids = np.array(list(table.ids), dtype=object)
    rng = np.random.default_rng(seed)
    popularity = np.zeros(len(ids)) if table.popularity is None else table.popularity
    popular = np.argsort(-popularity, kind="stable")
    out: dict[str, Lists] = {name: {} for name in REFERENCES}
    for user, documents in grades.items():
        had = _had(table, user)
        drawn = rng.choice(len(ids), min(depth + len(had), len(ids)), replace=False)
        ranked = [one for one in popular[: depth + len(had)].tolist() if one not in had]
        wanted = sorted(
            (doc for doc, grade in documents.items() if grade > 0 and table.number.get(doc, table.size) < table.size),
            key=lambda doc: -documents[doc],
        )
        best = [one for one in map(table.number.__getitem__, wanted) if one not in had][:depth]
        lists = {
            "random": [one for one in drawn.tolist() if one not in had],
            "popular": ranked,
            "oracle": [*best, *(one for one in ranked if one not in set(best))],
        }
        for name, items in lists.items():
            out[name][user] = {ids[one]: float(depth - n) for n, one in enumerate(items[:depth])}
    if table.popularity is None:
        out["popular"] = {}
    return out


def _had(table: ItemTable, user: str) -> set[int]:
    histories = table.histories
    if histories is None or (number := int(histories.rows([user])[0])) < 0:
        return set()
    return set(histories.item[histories.start[number] : histories.start[number + 1]].tolist())
