"""The state of the data behind a number, and what it does to the number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.engines.base import DataFacts
from rankscope.lists import Judged

if TYPE_CHECKING:
    from rankscope.metrics import Metric

LISTED = 10  # how many queries a health entry names
NOTABLE = 0.0005  # a smaller change of a mean prints as 0.000 and is not worth a word
LONGEST = 40  # signs of an id that a warning quotes
# to these, and to what is made of them, unjudged is not "not relevant"
BLIND = {"Judged", "Bpref", "infAP", "AUC", "_Count"}
BREAKS = {  # a tie across a cutoff
    "trec": "the document id breaks the tie",
    "docid": "the document id breaks the tie",
    "input": "the order of the file breaks the tie",
}


@dataclass(frozen=True)
class Health:
    """What was found in a run and its judgments. Keys at a cutoff k are of the judged queries.

    ``ties_at_cutoff[k]``: queries in which scores tie across rank k. ``unjudged_at_cutoff[k]``: the share
    of the documents in the top k that are not in the qrels, ``tied_at_cutoff[k]`` the share of those whose
    score another document of the query has too. ``rank_disagreements``: queries whose rank
    column contradicts the scores (null without a rank column). ``empty_queries``: judged queries whose
    ranking is there but holds no document.
    """

    rows: int
    queries: int
    judged_queries: int
    missing_queries: int
    missing: Sequence[str]
    extra_queries: int
    extra: Sequence[str]
    queries_without_relevant: int
    tied_rows: int
    ties_at_cutoff: Mapping[int, int] = field(default_factory=dict)
    unjudged_at_cutoff: Mapping[int, float] = field(default_factory=dict)
    rank_disagreements: int | None = None
    duplicates: int = 0
    self_matches: int = 0
    empty_queries: int = 0
    qrels_duplicates: int = 0
    tied_at_cutoff: Mapping[int, float] = field(default_factory=dict)

    def at(self, cutoffs: Set[int]) -> Health:
        """The same at these cutoffs only."""
        kept: dict[str, Any] = {
            f.name: {k: v for k, v in value.items() if k in cutoffs}
            for f in fields(self)
            if isinstance(value := getattr(self, f.name), Mapping)
        }
        return replace(self, **kept)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, keys as strings."""
        out: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Mapping):
                value = {str(k): v for k, v in value.items()}
            elif isinstance(value, tuple):
                value = list(value)
            out[f.name] = value
        return out


def examine(
    judged: Judged,
    seen: DataFacts,
    cutoffs: Sequence[int],
    judged_queries: int,
    duplicates: int,
    self_matches: int,
    *,
    qrels_duplicates: int = 0,
) -> Health:
    """Put together what was seen; ``judged_queries`` counts the first rows of ``judged``, those with judgments."""
    query = np.repeat(np.arange(len(judged)), judged.size)
    good = np.bincount(query, weights=judged.grade >= 1, minlength=len(judged))[:judged_queries]
    unjudged, tied = {}, {}
    retrieved = judged.retrieved[:judged_queries]
    for k in cutoffs:
        shown = int(np.minimum(retrieved, k).sum())
        known = int(((judged.rank > 0) & (judged.rank <= k)).sum())
        unjudged[k] = (shown - known) / shown if shown else 0.0
        tied[k] = seen.tied_in_top.get(k, 0) / shown if shown else 0.0
    return Health(
        rows=seen.rows,
        queries=seen.queries,
        judged_queries=judged_queries,
        missing_queries=len(seen.missing),
        missing=tuple(seen.missing[:LISTED]),
        extra_queries=len(seen.extra),
        extra=tuple(seen.extra[:LISTED]),
        queries_without_relevant=int((good == 0).sum()),
        tied_rows=seen.tied_rows,
        ties_at_cutoff=dict(seen.tied_at),
        unjudged_at_cutoff=unjudged,
        rank_disagreements=seen.disagreeing,
        duplicates=duplicates,
        self_matches=self_matches,
        empty_queries=max(int((retrieved == 0).sum()) - len(seen.missing), 0),
        qrels_duplicates=qrels_duplicates,
        tied_at_cutoff=tied,
    )


def warnings_of(
    health: Mapping[str, Health], population: str, metrics: Sequence[Metric] = (), ties: str = "trec"
) -> list[Caution]:
    """What a reader should know before trusting the numbers of these metrics (of any, where none is given)."""
    out = []
    for name, h in health.items():
        out += _queries(name, h, population) + _rows(name, h) + _tied(name, h, ties)
    out += _judgments(health)
    cutoffs = {k for h in health.values() for k in h.unjudged_at_cutoff}
    out += _unjudged(health, _counting(metrics, cutoffs) if metrics else cutoffs)
    return out


def _judgments(health: Mapping[str, Health]) -> list[Caution]:
    """What is to say about the qrels, once for all runs."""
    out = []
    repeated = max((h.qrels_duplicates for h in health.values()), default=0)
    if repeated:
        what = words.counted(repeated, "repeated judgment was", "repeated judgments were")
        out.append(Caution("RS104", f"qrels: {what} dropped", "see --duplicates"))
    without = max((h.queries_without_relevant for h in health.values()), default=0)
    if without:
        out.append(
            Caution(
                "RS103",
                f"{words.counted(without, 'judged query')} {words.agree(without, 'has')} no relevant document (grade 1 or more) and "
                f"{words.agree(without, 'scores')} 0 on most metrics",
                "keep them to match trec_eval, or leave them out with --no-relevant skip, and say which",
            )
        )
    return out


def _queries(name: str, h: Health, population: str) -> list[Caution]:
    out = []
    if h.missing_queries and population == "judged":
        out.append(
            Caution(
                "RS101",
                f"{name} has no ranking for {h.missing_queries} of {words.counted(h.judged_queries, 'judged query')} "
                f"({words.sample(h.missing, h.missing_queries)}), scored as empty",
                "find out why they are missing; --queries both leaves them out",
            )
        )
    if h.empty_queries:
        out.append(
            Caution(
                "RS106",
                f"{name} has an empty ranking for {words.counted(h.empty_queries, 'judged query')}, scored as empty",
                "find out why nothing was returned for them",
            )
        )
    if h.extra_queries:
        what = "scored with no judgments" if population == "run" else "left out"
        out.append(
            Caution(
                "RS102",
                f"{name} ranks {words.counted(h.extra_queries, 'query')} without judgments ({words.sample(h.extra, h.extra_queries)}), {what}",
                "expected where a run covers more than the qrels do",
            )
        )
    return out


def _rows(name: str, h: Health) -> list[Caution]:
    out = []
    if h.duplicates:
        what = words.counted(h.duplicates, "repeated document was", "repeated documents were")
        out.append(Caution("RS104", f"{name}: {what} dropped", "see --duplicates"))
    if h.self_matches:
        what = words.counted(
            h.self_matches, "document that is its own query was", "documents that are their own query were"
        )
        out.append(Caution("RS105", f"{name}: {what} dropped", "see --self-match"))
    if h.rank_disagreements:
        out.append(
            Caution(
                "RS201",
                f"{name}: the rank column contradicts the scores in {words.counted(h.rank_disagreements, 'query')}; the scores were followed",
                "--ties rank follows the rank column",
            )
        )
    return out


def _tied(name: str, h: Health, ties: str) -> list[Caution]:
    """Cutoffs at which only the tie policy tells who is in; the rank column leaves none."""
    tied = [(k, n) for k, n in h.ties_at_cutoff.items() if n]
    if not tied or ties not in BREAKS:
        return []
    (rank, number), *more = tied
    queries = words.counted(number, "query")
    if more:
        rest = "".join(f", {n:,} at rank {k}" for k, n in more)
        what = f"scores tie across the cutoff in {queries} at rank {rank}{rest}"
    else:
        what = f"scores tie across rank {rank} in {queries}"
    return [
        Caution(
            "RS203",
            f"{name}: {what}; {BREAKS[ties]}",
            "give distinct scores, or take --ties expected; rankscope ties shows how much it matters",
        )
    ]


def _counting(metrics: Sequence[Metric], cutoffs: set[int]) -> set[int]:
    """The cutoffs down to which a metric counts unjudged documents as not relevant; all, for one without a cutoff."""
    counting = [
        m
        for m in metrics
        if m.relevance != "none"
        and not getattr(m, "judged_only", False)
        and not BLIND & {cls.__name__ for cls in type(m).__mro__}
    ]
    own = {getattr(m, "cutoff", None) for m in counting}
    return cutoffs if None in own else cutoffs & own


def _unjudged(health: Mapping[str, Health], cutoffs: set[int]) -> list[Caution]:
    """Holes in the judgments, where they are large or uneven between runs."""
    if not cutoffs:
        return []
    k = min(cutoffs, key=lambda c: abs(c - 10))
    share = {name: h.unjudged_at_cutoff.get(k, 0.0) for name, h in health.items()}
    worst, best = max(share, key=lambda n: share[n]), min(share, key=lambda n: share[n])
    if share[worst] < 0.1:
        return []
    uneven = len(share) > 1 and share[worst] - share[best] > 0.05
    compared = f" ({best}: {share[best]:.0%}), so the comparison may be unfair" if uneven else ""
    return [
        Caution(
            "RS204",
            f"{worst}: {share[worst]:.0%} of its top {k} is unjudged and counted as not relevant{compared}",
            "judge more, or look at Bpref beside the others; rankscope unjudged shows how much it could matter",
        )
    ]
