"""Baselines that were stored: what ``evaluate`` wrote, and whether it may be compared with what is scored now."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankscope._version import __version__
from rankscope.errors import DataError, InputError
from rankscope.metrics import Metric
from rankscope.scoring.policies import differing
from rankscope.scoring.runs import RunScores
from rankscope.scoring.scores import Scores
from rankscope.verbs.gate.baseline import contents_of, document_of, unlike


@dataclass(frozen=True, eq=False)
class Stored:
    """The values of one run as ``evaluate`` wrote them: ``values[metric][query]``, NaN where undefined.

    ``counts[metric]`` is how many queries have a value, as the means beside them say.
    """

    label: str
    run: str
    values: Mapping[str, Mapping[str, float]]
    conventions: Mapping[str, Any]
    inputs: tuple[Mapping[str, Any], ...]
    version: str
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """What was read."""
        return f"read {self.label} as a stored baseline: {self.run}, {', '.join(self.values)}, by rankscope {self.version}"

    @property
    def qrels_sha256(self) -> str | None:
        """The hash of the judgments; None where they were no file."""
        return self.inputs[0].get("sha256") if self.inputs else None

    def beside(self, scores: Scores) -> Scores:
        """The scores of a candidate with this baseline as the first of two runs.

        Raises DataError where the two were made under different conventions, from different judgments, by different versions or
        of other queries, or where values cannot be right; InputError where the baseline has no values of a metric.
        """
        refuse_other(self, scores)
        for metric in scores.metrics:
            if str(metric) not in self.values:
                raise InputError(
                    f"{self.label} has no {metric}, only {', '.join(self.values)}: name one of these, or {_anew(self, scores)}"
                )
        refuse_wrong(self, scores)
        (run,) = scores.runs
        name = self.run if self.run != run.name else Path(self.label).name.split(".")[0] or "baseline"
        name = f"{name} before" if name == run.name else name
        ids = list(self.values[str(scores.metrics[0])])
        values = {
            m: np.array([self.values[str(m)].get(query, math.nan) for query in ids]) for m in scores.metrics
        }
        mine = replace(
            run, name=name, query_ids=ids, values=values, weights=_weights(run, ids), facts={}, errors={}
        )
        return replace(scores, runs=(mine, run))


def _weights(run: RunScores, ids: list[str]) -> dict[Metric, Any]:
    """The weights of queries for another run on the same queries."""
    places = {query: i for i, query in enumerate(run.query_ids)}
    return {
        metric: np.array([weights[places[q]] if q in places else math.nan for q in ids])
        for metric, weights in run.weights.items()
    }


def stored_of(source: Any) -> Stored | None:
    """A baseline that ``evaluate`` stored, as a JSON file, the same as a dict, or ``Scores``; None for what is a run.

    With a name, as in ``("main", "baseline.json")``, it is the run of this name. A file of one run needs none, and takes any.
    """
    name, source = as_pair(source)
    if isinstance(source, Scores):
        return _stored(json.loads(json.dumps(source.envelope(per_query=True))), "the baseline", name)
    if isinstance(source, Mapping):
        is_ours = isinstance(source.get("schema"), str)
        return _stored(source, "the baseline", name) if is_ours else None
    document = document_of(Path(source)) if isinstance(source, str | os.PathLike) else None
    return None if document is None else _stored(document, str(source), name)


def as_pair(source: Any) -> tuple[str | None, Any]:
    """A run with the name given to it, or None."""
    named = isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], str | None)
    return source if named else (None, source)


def _stored(document: Mapping[str, Any], label: str, name: str | None) -> Stored:
    found = contents_of(document, label)
    run = _chosen(found.values, label, name)
    counts = {metric: count for (of, metric), count in found.counts.items() if of == run}
    return Stored(
        label, name or run, found.values[run], found.conventions, found.inputs, found.version, counts
    )


def _chosen(values: Mapping[str, Any], label: str, name: str | None) -> str:
    if name in values:
        return str(name)
    if len(values) == 1:
        return next(iter(values))
    what = f"no run called {name}" if name is not None else f"{len(values)} runs"
    first = next(iter(values))
    raise InputError(f"{label} holds {what}: there is {', '.join(values)}; choose one as {first}={label}")


# --- whether it may be compared ----------------------------------------------------------------------


def refuse_other(stored: Stored, scores: Scores) -> None:
    """One line where a stored baseline was made from other judgments, conventions or versions than the scores at hand."""
    if scores.request.policies.mean == "micro":
        raise InputError(
            f"mean='micro' needs what each query is worth, which {stored.label} does not hold: give the baseline as a run"
        )
    parts = list(_different(stored, scores))
    if parts:
        raise DataError(
            f"{stored.label} is no baseline for this: {'; '.join(parts)}. To compare like with like, {_anew(stored, scores)}"
        )


def refuse_wrong(stored: Stored, scores: Scores) -> None:
    """One line where the values of a stored baseline cannot be those of the queries and metrics at hand."""
    wrong = next(_wrong(stored, scores), None)
    if wrong is not None:
        raise DataError(
            f"{stored.label} cannot be what rankscope evaluate wrote: {wrong}; {_anew(stored, scores)}"
        )


def _wrong(stored: Stored, scores: Scores) -> Iterator[str]:
    now = set(scores.runs[0].query_ids)
    first = set(stored.values[str(scores.metrics[0])])
    for metric in map(str, scores.metrics):
        then = set(stored.values[metric])
        if then != first:
            yield f"{metric} is there for other queries than {scores.metrics[0]}"
        if scores.request.policies.queries != "judged":
            continue
        for some, what in ((now - then, "is judged and not in it"), (then - now, "is in it and not judged")):
            if some:
                more = f" (and {len(some) - 1:,} more)" if len(some) > 1 else ""
                yield f"query {min(some)}{more} {what}"
    for m in scores.metrics:
        if reason := unlike(stored.values[str(m)], m, stored.counts.get(str(m))):
            yield reason


def _different(stored: Stored, scores: Scores) -> Iterator[str]:
    theirs, ours = stored.qrels_sha256, _qrels_of(scores)
    if theirs is None or ours is None:
        yield f"the judgments {'then' if theirs is None else 'now'} were no file, so nobody can tell whether they are the same"
    elif theirs != ours:
        yield f"the judgments differ (then SHA-256 {theirs[:12]}…, now {ours[:12]}…)"
    then, now = stored.conventions, scores.conventions
    for policy in differing(then, now):
        yield f"{policy.name} was {_plain(then.get(policy.name))}, now {_plain(now[policy.name])}"
    if then.get("queries") == "list" == now["queries"]:
        then_ids = set(next(iter(stored.values.values())))
        if then_ids != set(scores.runs[0].query_ids):
            yield f"the list of queries differs ({len(then_ids):,} then, {len(scores.runs[0].query_ids):,} now)"
    if stored.version.split(".")[:2] != __version__.split(".")[:2]:
        yield f"rankscope was {stored.version}, now {__version__}"


def _plain(value: Any) -> str:
    return "not set" if value is None else str(value)


def _qrels_of(scores: Scores) -> str | None:
    """The hash of the judgments behind scores; None where they were no file."""
    if len(scores.inputs) == len(scores.runs) or not scores.inputs or scores.inputs[0].sha256 is None:
        return None
    return str(scores.inputs[0].sha256())


def _anew(stored: Stored, scores: Scores) -> str:
    """How to store the baseline as the scores at hand were made."""
    metrics = " ".join(f"-m {shlex.quote(str(m))}" for m in scores.metrics)
    return f"make it anew: rankscope evaluate QRELS RUN {metrics} --per-query{scores.request.options()} -o baseline.json"


def provenance(scores: Scores, stored: Stored | None, names: tuple[str, str]) -> dict[str, Any]:
    """What a comparison rests on: the judgments and both runs, with their hashes, and the version."""
    hashed = [{"path": s.path or s.label, "sha256": s.sha256() if s.sha256 else None} for s in scores.inputs]
    runs = len(scores.runs)
    qrels = hashed[0] if len(hashed) > runs else {"path": None, "sha256": None}
    given = hashed[-runs:] if len(hashed) >= runs else [{"path": None, "sha256": None}] * runs
    if stored is None:
        baseline = {"run": names[0], **given[0], "stored": False}
    else:
        then = [dict(source) for source in stored.inputs[1:]]
        baseline = {"run": names[0], "path": stored.label, "stored": True, "rankscope": stored.version}
        baseline["made_from"] = then
    return {
        "qrels": qrels,
        "baseline": baseline,
        "candidate": {"run": names[1], **given[-1]},
        "rankscope": __version__,
    }
