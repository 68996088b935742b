"""Convert the inputs of a verb to tables or dicts for an engine. Faults become one clear line."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankscope import words
from rankscope.errors import InputError
from rankscope.lists import MANY, Ids
from rankscope.metrics import CATALOGUE, Metric
from rankscope.scoring.policies import Policies

if TYPE_CHECKING:
    from rankscope.files.roles import ColumnRoles
    from rankscope.tables import Qrels

Kind = Literal["run", "qrels"]
_SEVERAL = {"aspects", "subtopics"}  # what takes several grades of one document


class NumberedQueries(dict[str, Any]):
    """A dict of queries with whole numbers as ids, converted to texts."""


@dataclass(frozen=True, eq=False)
class CleanInput:
    """An input after the policies, and the documents they removed. ``chunks`` is true if it contains later chunks of a document."""

    data: Any
    duplicates: int = 0
    self_matches: int = 0
    chunks: bool = False

    @property
    def queries(self) -> Collection[str]:
        """The queries that it holds."""
        if isinstance(self.data, dict):
            return self.data
        return Ids(self.data.names) if len(self.data.names) > MANY else self.data.queries

    @property
    def source(self) -> Any:
        """The path of the input, None for a dict."""
        return None if isinstance(self.data, dict) else self.data.source

    @cached_property
    def table(self) -> Qrels:
        """Judgments as a table, with the rows of each query adjacent."""
        from rankscope.files import qrels_of

        return qrels_of(self.data).by_query()

    @property
    def content_sha256(self) -> str:
        """The digest of the judgments' content."""
        return self.table.content_sha256

    @property
    def mapping(self) -> Mapping[str, Mapping[str, float]]:
        """Judgments as dicts."""
        return self.data if isinstance(self.data, dict) else self.data.mapping


def named_runs(runs: Any) -> Iterator[tuple[str | None, Any]]:
    """The runs of a call, each with the name given to it or None: one run, a dict of named runs, or a list of runs, or of pairs of name and run."""
    if isinstance(runs, Mapping) and _names_runs(runs):
        for name, run in runs.items():
            yield str(name), run
    elif isinstance(runs, list | tuple) and not (runs and hasattr(runs[0], "doc_id") and _is_one_run(runs)):
        if not runs:
            raise InputError("no run was given: pass a path, a dict, a data frame or a list")
        for run in runs:
            pair = isinstance(run, tuple) and len(run) == 2 and (run[0] is None or isinstance(run[0], str))
            yield run if pair else (None, run)
    else:
        yield None, runs


def _is_one_run(runs: Any) -> bool:
    from rankscope.files.memory import is_rows

    return is_rows(runs)


def _names_runs(runs: Mapping[Any, Any]) -> bool:

    def is_ranking(value: Any) -> bool:
        if isinstance(value, list | tuple) and value and hasattr(value[0], "doc_id"):
            return not _is_one_run(value)
        if isinstance(value, list | tuple | set | frozenset | KeysView | ValuesView):
            return True
        frame = hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__")
        return hasattr(value, "__array__") and not frame and getattr(value, "ndim", 1) == 1

    for value in runs.values():
        if isinstance(value, Mapping):
            for inner in value.values():
                return isinstance(inner, Mapping) or is_ranking(inner)
        elif is_ranking(value):
            if len(value):
                return False
        else:
            return True
    return False


def read_any(
    kind: Kind, source: Any, name: str | None = None, *, parts: bool = False, reading: Policies | None = None
) -> Any:
    """A run or qrels: dicts of dicts stay dicts, the rest becomes a table, with ``parts`` read later. ``reading`` has names of columns and values of grades."""
    columns: ColumnRoles | None = None if reading is None else reading.columns
    if kind == "qrels" and reading is not None and reading.grades is not None:
        from rankscope.files import read_qrels

        return read_qrels(source, columns=columns, grades=reading.grades)
    # dicts of dicts of numbers need no table; several grades of a document do
    if isinstance(source, Mapping) and all(
        isinstance(documents, Mapping)
        and not isinstance(query, float)  # ids that became floats: the table says so
        and not any(isinstance(grade, Mapping) or isinstance(doc, float) for doc, grade in islice(documents.items(), 1))
        for query, documents in source.items()
    ):
        if not source:
            raise InputError(f"the {kind} dict is empty: it maps queries to documents, like {{'q1': {{'d1': 1}}}}")
        from rankscope.engines.mappings import id_text

        queries = {id_text(query, kind): documents for query, documents in source.items()}
        if len(queries) < len(source):
            raise InputError(f"{kind}: a query is given both as a number and as a string: make the ids strings")
        return queries if isinstance(next(iter(source)), str) else NumberedQueries(queries)
    from rankscope.files import open_run, qrels_of, run_of

    return qrels_of(source, columns) if kind == "qrels" else (open_run if parts else run_of)(source, name, columns)


def kinds_of_ids(sources: Iterable[Any], passed: Iterable[Any]) -> frozenset[str]:
    """The roles (query_id, doc_id) with whole numbers as ids in every data frame and dict of ``passed``."""
    whole: dict[str, set[bool]] = {"query_id": set(), "doc_id": set()}
    for source in sources:
        for role, votes in whole.items() if source.kind == "data frame" else ():
            votes.add(role in source.whole)
    for one in passed:
        if isinstance(one, Mapping):
            documents = next((value for value in one.values() if isinstance(value, Collection) and len(value)), ())
            for votes, ids in zip(whole.values(), (one, documents), strict=True):
                votes.update(isinstance(ids, NumberedQueries) or not isinstance(key, str) for key in islice(ids, 1))
    return frozenset(role for role, votes in whole.items() if votes == {True})


def read_inputs(qrels: Any, runs: Any, reading: Policies) -> tuple[Any, list[tuple[str | None, Any]]]:
    """The qrels and the runs of a call as ``read_any`` reads them, each run with the name given to it or None."""
    grades = read_any("qrels", qrels, reading=reading)
    read = [(name, read_any("run", run, name, reading=reading)) for name, run in named_runs(runs)]
    if reading.columns is not None:
        reading.columns.refuse_absent()
    return grades, read


def clean(data: Any, policies: Policies, kind: Kind, metrics: Sequence[Metric] | None = None) -> CleanInput:
    """Refuse invalid rows and apply policies of rows. Qrels may have a grade for each aspect if no metric takes a single one."""
    drop_own = kind == "run" and policies.self_match == "drop"
    fold = policies.folding if kind == "run" else None
    if isinstance(data, dict):
        if fold is not None:
            data = fold(data)
        own = [query for query, documents in data.items() if drop_own and query in documents]
        kept = {query: {doc: score for doc, score in data[query].items() if doc != query} for query in own}
        return CleanInput(
            data | kept if own else data, 0, len(own), fold is not None and policies.fold_cutoffs == "chunks"
        )
    if faults := data.source.faults:
        more = f" (and {len(faults) - 1} more like it)" if len(faults) > 1 else ""
        raise InputError(faults[0].message + more)
    for row in data.nan_rows[:1].tolist():
        value = data.held[data.worth][row]
        fault = (
            "NaN" if math.isnan(value) else "infinite" if math.isinf(value) else f"{value:g}, too large to compute with"
        )
        raise InputError(f"{data.source.at(row)}: the {data.worth} is {fault}; give a number or leave the document out")
    repeated, matches = data.repetitions, 0
    if len(repeated):
        taker = None if metrics is None else taker_of_one_grade(metrics)
        several = metrics is not None and taker is None
        repeated = data.repetitions_by_aspect if several else repeated
        if len(repeated) and policies.duplicates == "error":
            _refuse_repeated(data, int(repeated[0]), kind, taker)
        data = data.distinct(policies.duplicates, *(("iteration", "subgroup") if several else ()))
    if fold is not None:
        data = fold(data)
    if drop_own:
        data, matches = data.without_self_matches()
    return CleanInput(data, len(repeated), matches, fold is not None and policies.fold_cutoffs == "chunks")


def taker_of_one_grade(metrics: Sequence[Metric]) -> str | None:
    """The first of these metrics that needs a single grade per document, or None."""
    several = any(m.needs & _SEVERAL for m in metrics)
    # what is blind to grades goes with either
    one = (m for m in metrics if not m.needs & _SEVERAL and not (several and m.relevance == "none"))
    return next(map(str, one), None)


def _refuse_repeated(data: Any, row: int, kind: str, taker: str | None) -> None:
    query, doc = data.frame["query_id"][row], data.frame["doc_id"][row]
    if kind == "qrels" and taker and len(data.repetitions_by_aspect) < len(data.repetitions):
        several = []
        for cls in dict.fromkeys(CATALOGUE.values()):
            with suppress(InputError, TypeError):
                several += [cls.__name__] if cls().needs & _SEVERAL else []
        raise InputError(
            f"{data.source.at(row)}: document {doc} of query {query} has several grades (by subtopic or judge) and {taker} "
            f"takes one: only {', '.join(several)} take several; --duplicates best keeps the highest"
        )
    what = f"document {doc} of query {query} is {'ranked' if kind == 'run' else 'judged'} twice"
    raise InputError(f"{data.source.at(row)}: {what}; remove one, or choose --duplicates first or best")


def fraction_in(qrels: CleanInput) -> str | None:
    """The place of a fractional grade in words. None if all grades are whole."""
    if isinstance(qrels.data, dict):
        for query, grades in qrels.data.items():
            for doc, grade in grades.items():
                if float(grade) % 1:
                    return f"document {doc} of query {query} is graded {words.amount(grade)}"
        return None
    grade = qrels.data.held["grade"].to_numpy()
    rows = np.flatnonzero(grade % 1)
    if not len(rows):
        return None
    row = int(rows[0])
    query, doc = qrels.data.frame["query_id"][row], qrels.data.frame["doc_id"][row]
    return f"{qrels.data.source.at(row)}: document {doc} of query {query} is graded {words.amount(grade[row])}"


def label_of(data: Any, name: str | None, number: int) -> tuple[str, str, str]:
    """The name of a run: the name given, else the path it came from, else a number."""
    if name is not None:
        return name, "", ""
    if isinstance(data, dict):
        return "run", "", f"run{number}"
    path = data.source.path
    return (data.name, str(path), "") if path and path != "-" else (data.name, "", f"run{number}")


def distinct_names(labels: Sequence[tuple[str, str, str]]) -> list[str]:
    """The shortest of each run's names that no other run has: its tag, its file's name, the last parts of its path, a number.

    A name that the caller gave to one run stays.
    """
    names = [name for name, _, _ in labels]
    if len(set(names)) == len(names):
        return names
    if not any(path for _, path, _ in labels):
        choices = [[name, number or name] for name, _, number in labels]
    else:
        from rankscope.files.long import ends_of_path

        choices = [[name, *(ends_of_path(path) if path else [number or name])] for name, path, number in labels]
    given = {i: name for i, (name, path, number) in enumerate(labels) if not path and not number}
    chosen = {i: name for i, name in given.items() if list(given.values()).count(name) == 1}
    for level in range(max(map(len, choices))):
        here = {i: some[level] for i, some in enumerate(choices) if level < len(some)}
        alike, taken = Counter(here.values()), {*chosen.values()}
        chosen |= {i: name for i, name in here.items() if i not in chosen and alike[name] == 1 and name not in taken}
    return [chosen.get(i, f"{some[1]}#{i + 1}") for i, some in enumerate(choices)]
