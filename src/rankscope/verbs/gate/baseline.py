"""Baselines that ``evaluate`` stored: read, checked value by value, and compared with the conventions of today."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankscope import words
from rankscope._version import __version__
from rankscope.errors import DataError, InputError
from rankscope.files.long import stem
from rankscope.files.raw import open_raw
from rankscope.scoring.request import differing
from rankscope.scoring.runs import RunScores
from rankscope.scoring.scores import Scores
from rankscope.show.result import input_record
from rankscope.words import by_caller

SCHEMA = "rankscope/evaluate/1"
ROUNDING = 1e-9  # values beyond the range of their metric by less are right

Values = dict[str, dict[str, float]]  # by metric and query, NaN where undefined


@dataclass(frozen=True, eq=False)
class StoredBaseline:
    """The values of one run as ``evaluate`` wrote them: ``values[metric][query]``, NaN where undefined.

    ``counts[metric]`` is how many queries have a value, as the means beside them say; ``content`` is the digest of the judgments.
    """

    label: str
    run: str
    values: Values
    counts: Mapping[str, int]
    conventions: Mapping[str, Any]
    inputs: tuple[Mapping[str, Any], ...]
    version: str
    content: str | None = None

    @property
    def queries(self) -> set[str]:
        """The queries that it has values of."""
        return set(next(iter(self.values.values())))

    @property
    def note(self) -> str:
        """What was read."""
        metrics = ", ".join(self.values)
        return f"read {self.label} as a stored baseline: {self.run}, {metrics}, by rankscope {self.version}"

    def beside(self, scores: Scores) -> Scores:
        """The scores of a candidate with this baseline as the first of two runs."""
        if scores.request.policies.mean == "micro":
            raise InputError(
                f"mean='micro' needs the worth of each query, which {self.label} does not contain: give the baseline as a run"
            )
        options = " ".join(f"-m {shlex.quote(str(metric))}" for metric in scores.metrics)
        again = by_caller(
            f"rankscope evaluate QRELS RUN {options} --per-query{scores.request.options()} -o baseline.json",
            f"rs.evaluate(qrels, run, {list(map(str, scores.metrics))}{scores.request.keywords()}).to_json(per_query=True)",
        )
        if reasons := list(self._differences(scores)):
            raise DataError(
                f"{self.label} cannot be the baseline here: {'; '.join(reasons)}. To compare like with like, store it again: {again}"
            )
        for metric in map(str, scores.metrics):
            if metric not in self.values:
                raise InputError(
                    f"{self.label} has no {metric}, only {', '.join(self.values)}: name one, or store it again: {again}"
                )
        if wrong := next(self._faults(scores), ""):
            raise DataError(f"{self.label} was not written by rankscope evaluate: {wrong}; store it again: {again}")
        (run,) = scores.runs
        return replace(scores, runs=(self._scores(run), run))

    def _differences(self, scores: Scores) -> Iterator[str]:
        then, now = (self.inputs[0].get("sha256") if self.inputs else None, _qrels_of(scores)["sha256"])
        if self.content is not None and (then is None or then != now) and scores.judgments_sha256 is not None:
            # the same judgments may come from another file, or from none
            then, now = (self.content, scores.judgments_sha256)
        if then is None or now is None:
            when = "then" if then is None else "now"
            yield f"the judgments {when} were not read from a file, so it is unknown whether they are the same"
        elif then != now:
            yield f"the judgments differ (then SHA-256 {then[:12]}…, now {now[:12]}…)"
        changed = [policy.name for policy in differing(self.conventions, scores.conventions)]
        for name in changed:
            before, after = (c.get(name) for c in (self.conventions, scores.conventions))
            yield f"{name} was {'not set' if before is None else before}, now {'not set' if after is None else after}"
        if scores.request.statement_of("queries") == "list" and "queries" not in changed:
            then_ids, now_ids = self.queries, set(scores.runs[0].query_ids)
            if then_ids != now_ids:
                yield f"the list of queries differs ({words.count(len(then_ids))} then, {words.count(len(now_ids))} now)"
        if self.version.split(".")[:2] != __version__.split(".")[:2]:
            yield f"rankscope was {self.version}, now {__version__}"

    def _faults(self, scores: Scores) -> Iterator[str]:
        now = set(scores.runs[0].query_ids)
        first = set(self.values[str(scores.metrics[0])])
        for metric in map(str, scores.metrics):
            then = set(self.values[metric])
            if then != first:
                yield f"{metric} has values of other queries than {scores.metrics[0]}"
            if scores.request.statement_of("queries") == "judged":
                for ids, what in ((now - then, "is judged and not in it"), (then - now, "is in it and not judged")):
                    if ids:
                        more = f" (and {words.count(len(ids) - 1)} more)" if len(ids) > 1 else ""
                        yield f"query {min(ids)}{more} {what}"
        for m in scores.metrics:
            low, high = m.range
            for query, value in self.values[str(m)].items():
                if value < low - ROUNDING or value > high + ROUNDING:
                    range_ = f"{words.amount(low)} to {words.amount(high)}"
                    yield f"{m} of query {query} is {words.amount(value)}, outside its range of {range_}"
            count = self.counts.get(str(m))
            defined = sum(not math.isnan(value) for value in self.values[str(m)].values())
            if count != defined:
                results = "do not mention it" if count is None else f"count {words.count(count)}"
                yield f"{m} has values of {words.counted(defined, 'query')}, and its results {results}"

    def _scores(self, run: RunScores) -> RunScores:
        name = self.run if self.run != run.name else stem(self.label) or "baseline"
        name = f"{name} before" if name == run.name else name
        ids = list(self.values[str(next(iter(run.values)))])
        places = {query: i for i, query in enumerate(run.query_ids)}
        values = {m: np.array([self.values[str(m)].get(query, math.nan) for query in ids]) for m in run.values}
        weights = {
            m: np.array([of_queries[places[q]] if q in places else math.nan for q in ids])
            for m, of_queries in run.weights.items()
        }
        return replace(run, name=name, query_ids=ids, values=values, weights=weights, facts={})


def stored_baseline(source: Any) -> StoredBaseline | None:
    """A baseline that ``evaluate`` stored, as a JSON file, the same as a dict, or ``Scores``; None for what is a run.

    With a name, as in ``("main", "baseline.json")``, it is the run of this name. A file of one run needs none, and takes any.
    Raises InputError for another kind or shape, DataError for a query that has two values of a metric.
    """
    name, source = as_pair(source)
    if isinstance(source, Scores):
        return _read(json.loads(source.to_json(per_query=True)), "the baseline", name)
    if isinstance(source, Mapping):
        return _read(source, "the baseline", name) if isinstance(source.get("schema"), str) else None
    document = _document(Path(source)) if isinstance(source, str | os.PathLike) else None
    return None if document is None else _read(document, str(source), name)


def as_pair(source: Any) -> tuple[str | None, Any]:
    """A run with the name given to it, or None."""
    named = isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], str | None)
    return source if named else (None, source)


def provenance(scores: Scores, stored: StoredBaseline | None, names: tuple[str, str]) -> dict[str, Any]:
    """What a comparison rests on: the judgments and both runs, with their hashes, and the version."""
    count = len(scores.runs)
    runs = list(map(input_record, scores.inputs))[-count:]
    runs = runs if len(runs) == count else [{"path": None, "sha256": None}] * count
    baseline: dict[str, Any] = {"run": names[0], **runs[0], "stored": False}
    if stored is not None:
        baseline = {"run": names[0], "path": stored.label, "stored": True, "rankscope": stored.version}
        baseline["made_from"] = [dict(source) for source in stored.inputs[1:]]
    return {
        "qrels": _qrels_of(scores), "baseline": baseline, "candidate": {"run": names[1], **runs[-1]},
        "rankscope": __version__,
    }  # fmt: skip


def _qrels_of(scores: Scores) -> dict[str, Any]:
    of_file = len(scores.inputs) > len(scores.runs)
    return input_record(scores.inputs[0]) if of_file else {"path": None, "sha256": None}


def _document(path: Path) -> Any:
    """The JSON that rankscope wrote into a file, packed or not; None for another file, a pipe, or what is not there."""
    try:
        if not path.is_file():  # what is read from a pipe is gone, and is left to who reads runs
            return None
        raw = open_raw(path, SCHEMA)
        head = raw.head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not head.startswith(b"{"):
            return None
        document = json.loads(raw.read().decode("utf-8-sig"))
    except (OSError, InputError):
        return None  # the reader of runs will say so
    except (ValueError, RecursionError) as error:
        if b'"rankscope/' not in head:
            return None
        raise InputError(
            f"{path}: cannot be read as JSON: {' '.join(str(error).split())}; write it again with rankscope evaluate -o"
        ) from None
    schema = document.get("schema") if isinstance(document, dict) else None
    return document if isinstance(schema, str) and schema.startswith("rankscope/") else None


def _read(document: Mapping[str, Any], label: str, name: str | None) -> StoredBaseline:
    if document.get("schema") != SCHEMA:
        raise InputError(
            f"{label} holds {document.get('schema')}, and a baseline is {SCHEMA}: write it with rankscope evaluate --per-query -o baseline.json"
        )
    try:
        values = _values(document["per_query"], label)
        counts = {
            (_text(r["run"]), _text(r["metric"])): _of_kind(r["queries"], int, "number of queries")
            for r in document["results"]
        }
        conventions = dict(_of_kind(document["conventions"], Mapping, "object"))
        inputs = tuple(dict(_of_kind(source, Mapping, "object")) for source in document["inputs"])
        version = _text(document["rankscope"])
        content = _of_kind(document.get("judgments", {}), Mapping, "object").get("content_sha256")
        _of_kind(content, str | None, "text")
        for source in inputs:
            _of_kind(source.get("sha256"), str | None, "text")
    except DataError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{label} is not as rankscope evaluate writes it ({type(error).__name__}: {error}): store it again"
        ) from None
    if not values:
        how = by_caller(f"rankscope evaluate --per-query -o {label}", f"scores.save({label!r})")
        raise InputError(f"{label} has no values of queries: store it with {how}")
    run = str(name) if name in values else next(iter(values))
    if name not in values and len(values) > 1:
        what = f"other runs than {name}" if name is not None else f"{len(values)} runs"
        raise InputError(f"{label} holds {what}: there is {', '.join(values)}; choose one as {run}={label}")
    mine = {metric: count for (of, metric), count in counts.items() if of == run}
    return StoredBaseline(label, name or run, values[run], mine, conventions, inputs, version, content)


def _values(rows: Iterable[Any], label: str) -> dict[str, Values]:
    values: dict[str, Values] = {}
    for row in rows:
        run, metric, query = (_text(row[name]) for name in ("run", "metric", "query_id"))
        of_metric = values.setdefault(run, {}).setdefault(metric, {})
        if query in of_metric:
            raise DataError(f"{label} has two values of {metric} for query {query} of {run}: store it again")
        of_metric[query] = _number(row["value"])
    return values


def _of_kind(value: Any, kind: Any, what: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError(f"{words.short(json.dumps(value, default=str))}: expected {what}")
    return value


def _text(value: Any) -> str:
    return str(_of_kind(value, str, "text"))


def _number(value: Any) -> float:
    number = math.nan if value is None else float(_of_kind(value, int | float, "number"))
    if value is not None and not math.isfinite(number):
        raise ValueError(f"the value {value} is too large")
    return number
