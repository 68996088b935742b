"""Mix the rankings of two or more runs into one list per query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from rankscope import words
from rankscope.behaviour.mixing import MixedList, Mixing
from rankscope.behaviour.optimised import Optimised
from rankscope.declared import whole_number
from rankscope.engines.base import Order
from rankscope.engines.top import top
from rankscope.errors import DataError, InputError
from rankscope.files import run_of
from rankscope.files.writers import write_rows
from rankscope.scoring.inputs import clean, distinct_names, label_of, named_runs, read_any
from rankscope.scoring.policies import Policies

DEPTH = 100  # items of each ranking that are mixed, unless k is larger


@dataclass(frozen=True, eq=False)
class MixedLists:
    """One interleaved list per query. ``frame`` has one row per item: ids, position, team, and the rank and credit of each ranker."""

    method: Mixing
    rankers: tuple[str, ...]
    frame: pl.DataFrame
    notes: Sequence[str]

    @property
    def lists(self) -> int:
        """The number of lists."""
        return self.frame["impression_id"].n_unique()

    def write(self, path: str | Path) -> Path:
        """Write the rows to a file, in the format of its ending: .jsonl, .csv, .tsv or .parquet, also with .gz."""
        return write_rows(self.frame, path)

    def __repr__(self) -> str:
        return f"{words.counted(self.lists, 'list')} of {words.listing(self.rankers)}, mixed by {self.method}"


def interleave(
    runs: Any, method: Any = "TeamDraft()", *, k: int = 10, seed: int = 0, ties: str = "trec", duplicates: str = "error", columns: Any = None,
) -> MixedLists:  # fmt: skip
    """Mix the rankings of two or more runs into one list per query, to show to users.

    ``runs`` is a list or a dict of runs, as for ``evaluate``. ``method`` is a way of mixing: ``TeamDraft``, ``Balanced``, ``DebiasedBalanced``,
    ``Probabilistic(tau=3)``, ``Optimised`` or ``PairwisePreference``. ``k`` is the length of lists. The list of a query depends only
    on its rankings, ``k`` and the ``seed``. The id of a list (``impression_id``) is its query; to mix while serving, call ``mix`` of the method.

    Queries that a run lacks are left out, with a note. Raises InputError for fewer than two runs and an unknown method, DataError if no query is
    in all runs, or if ``Optimised`` cannot give rankers equal credit.

    >>> import rankscope as rs
    >>> lists = rs.interleave({"old": {"q1": {"a": 2.0, "b": 1.0}}, "new": {"q1": {"b": 2.0, "c": 1.0}}}, k=2, seed=7)
    >>> lists.frame.select("item_id", "position", "team", "rank_old", "rank_new").rows()
    [('a', 1, 'old', 1, None), ('b', 2, 'new', 2, 1)]
    """
    mixing = Mixing.read(method)
    whole_number("k", k, 1, "the length of a list is a whole number of 1 or more")
    whole_number("seed", seed, 0, "a seed is a whole number of 0 or more")
    names, rankings = _rankings(runs, Policies(ties=ties, duplicates=duplicates, columns=columns), k)
    shared = [query for query in rankings[0] if all(query in ranking for ranking in rankings)]
    if not shared:
        raise DataError(f"{words.listing(names)} share no query: there is nothing to mix")
    rows, short, apart = list[dict[str, Any]](), 0, 0
    for query in shared:
        each = [ranking[query] for ranking in rankings]
        try:
            mixed = mixing.mix(each, k, seed, query)
        except (InputError, DataError) as error:
            raise type(error)(f"query {query}: {error}") from None
        rows += _rows(mixed, names, query, seed)
        short += len(mixed.items) < k
        apart += not set(each[0]).intersection(*each[1:])
    if short == len(shared):
        raise InputError(f"k={k}: the rankings of every query have fewer documents: give a smaller k")
    notes = list(_notes(names, rankings, shared, k, short, apart))
    return MixedLists(mixing, tuple(names), pl.DataFrame(rows, infer_schema_length=None), notes)


def _rankings(runs: Any, policies: Policies, k: int) -> tuple[list[str], list[Mapping[str, list[str]]]]:
    """The names of the runs, and the ranking of each query by each."""
    if policies.ties not in ("trec", "docid", "input", "rank"):
        one = "a mixed list needs one order of equal scores: trec, docid, input or rank"
        raise InputError(f"ties={policies.ties!r}: {one}")
    read = [(name, run_of(read_any("run", run, name, reading=policies))) for name, run in named_runs(runs)]
    if len(read) < 2:
        raise InputError(f"interleaving needs two runs or more, and {words.counted(len(read), 'run')} was given")
    names = distinct_names([label_of(run, name, number) for number, (name, run) in enumerate(read, start=1)])
    rankings: list[Mapping[str, list[str]]] = []
    for name, (_, run) in zip(names, read, strict=True):
        ranked = top(clean(run, policies, "run").data, Order(policies.ties, None), max(DEPTH, k), name)
        docs = ranked.group_by("query_id", maintain_order=True).agg("doc_id")
        rankings.append(dict(docs.iter_rows()))
    return names, rankings


def _rows(mixed: MixedList, names: Sequence[str], query: str, seed: int) -> list[dict[str, Any]]:
    """One row per item of a list, with the columns that ``interleaving`` reads."""
    of_list = {"p_slate": mixed.probability, "merge_method": str(mixed.method), "merge_seed": seed}
    columns: dict[str, Sequence[Any]] = {f"rank_{name}": row for name, row in zip(names, mixed.ranks, strict=True)}
    if (earned := mixed.credits) is not None:
        columns |= {f"credit_{name}": row for name, row in zip(names, earned, strict=True)}
    if (prefix := mixed.prefix) is not None:
        columns["p_prefix"] = prefix
    return [
        {
            "impression_id": query, "query_id": query, "item_id": item, "position": at + 1, "team": names[team] if team >= 0 else None,
            **{name: row[at] for name, row in columns.items()}, **of_list,
        }
        for at, (item, team) in enumerate(zip(mixed.items, mixed.teams, strict=True))
    ]  # fmt: skip


def _notes(
    names: Sequence[str], rankings: Sequence[Mapping[str, Any]], shared: Sequence[str], k: int, short: int, apart: int
) -> Any:
    """Yield queries left out, short lists, and rankings without a common document."""
    for name, ranking in zip(names, rankings, strict=True):
        if lost := len(ranking) - len(shared):
            yield f"{name}: {words.counted(lost, 'query')} left out, not in every run"
    if short:
        yield f"{words.counted(short, 'query')} {words.agree(short, 'has')} fewer than {k} documents: {words.agree(short, 'its')} list is shorter"
    if apart == len(shared):
        yield "no document is in both rankings of any query: check that the runs use the same document ids"


KNOWN = (Optimised,)  # importing it declares it
