"""Score rankings against judgments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from rankscope.errors import InputError
from rankscope.scoring.inputs import named_runs
from rankscope.scoring.keywords import PolicyOptions, with_policies
from rankscope.scoring.measurements import check_predicted, evaluate_local_or_spark
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores, metric_to_sort_by

HIGHEST = 10  # a level from 1 to here is that of grades: no interval has it, and a percentage is above

if TYPE_CHECKING:
    from rankscope.scoring.evaluation import Judge
    from rankscope.scoring.inputs import CleanInput
    from rankscope.sharding.partial import PartialScores


@overload
def evaluate(
    qrels: Any, runs: Any, metrics: Any = None, *, interval: Any = None, level: float = 0.95, clusters: Any = None, slices: Any = None, sort: Any = None,
    predicted: Any = None, references: bool = False, partition: None = None, resume: str | Path | None = None, progress: Callable[[str], None] | None = None, **policies: Unpack[PolicyOptions],
) -> Scores: ...  # fmt: skip


@overload
def evaluate(
    qrels: Any, runs: Any, metrics: Any = None, *, interval: Any = None, level: float = 0.95, clusters: Any = None, slices: Any = None, sort: Any = None,
    partition: str, progress: Callable[[str], None] | None = None, **policies: Unpack[PolicyOptions],
) -> PartialScores: ...  # fmt: skip


@with_policies
def evaluate(  # noqa: PLR0913
    qrels: Any, runs: Any, metrics: Any = None, *, interval: Any = None, level: float = 0.95, clusters: Any = None, slices: Any = None,
    sort: Any = None, predicted: Any = None, references: bool = False, partition: str | None = None, resume: str | Path | None = None,
    progress: Callable[[str], None] | None = None, **policies: Unpack[PolicyOptions],
) -> Scores | PartialScores:  # fmt: skip
    """Score one or more rankings against judgments.

    ``qrels`` and ``runs`` are paths, dicts, data frames, ``Qrels`` and ``Run``; ``runs`` may also be a list or a dict of named runs.
    ``metrics`` are names such as ``"nDCG@10"`` or objects such as ``nDCG @ 10``; without any: nDCG@10, AP, RR@10, R@100, P@10, Judged@10.

    ``interval`` (``"t"``, ``"bca(rounds=20000)"``, ``"wilson"`` ...) says how sure each mean is, at a ``level`` below 1; without
    one it is t, and wilson for scores of 0 and 1. ``clusters`` maps queries that belong together to their user or topic.
    A ``level`` of 1 to 10 is the ``relevance_level``. ``slices`` is a table of query attributes: ``scores.table("slices")`` has the
    means on the queries of each of their values. With ``sort`` the best run on that metric comes first. ``progress`` is called with the
    name of each run that is done. If ``qrels`` is the result of an earlier call, its runs are kept, and only
    ``runs`` are scored, under the same metrics and policies.

    ``references=True`` adds a random, a popular and an oracle list of items for every user, to give numbers a scale.
    ``predicted`` are judgments by a model of many queries. ``qrels``, by people, correct them (PPI++).
    ``partition="3/8"`` reads and judges the third of eight parts of one run, and gives ``PartialScores``: ``save`` writes them to a
    file, and ``rs.merge`` makes the result of all eight. ``resume`` is a folder: what is judged of large files is kept there, and
    the same call goes on from it after an interruption. The policies say what no metric says:

    {policies}

    Raises InputError for what cannot be used and DataError if run and qrels share no query.

    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q1": {"a": 2, "b": 0}}, {"q1": {"a": 0.3, "b": 0.9}}, ["nDCG@10", "RR"])
    >>> scores["RR"]
    0.5
    >>> rs.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0}}, "RR", ties="expected")["RR"]
    0.75
    """
    whole = {"slices": slices, "resume": resume, "predicted": predicted}
    if isinstance(qrels, Scores):
        options = {"interval": interval, "clusters": clusters, "partition": partition, **whole}
        return extend(qrels, runs, {"metrics": metrics, **options, **policies}, sort, progress)
    if _is_grade(level) and "relevance_level" not in policies:
        policies["relevance_level"], level = level, 0.95
    request = Request.of(metrics, policies, interval=interval, level=level, clusters=clusters)
    if references:
        from rankscope.scoring.references import with_references

        runs = with_references(qrels, runs, [m.metric for m in request.metrics], request.policies)
    if sort is not None:
        metric_to_sort_by(sort, [m.metric for m in request.metrics])
    if partition is not None:
        return _judge_partition(qrels, runs, request, partition, {**whole, "sort": sort})
    if score := check_predicted(predicted, slices=slices, resume=resume, clusters=clusters):
        corrected = score(qrels, runs, request, progress)
        return corrected if sort is None else corrected.sorted_by(sort)
    scores = _scored(qrels, runs, request, progress, resume)
    scores = scores if sort is None else scores.sorted_by(sort)
    if slices is None:
        return scores
    from rankscope.verbs.evaluate.slices import with_slices

    return with_slices(scores, slices)


def _scored(
    qrels: Any, runs: Any, request: Request, progress: Callable[[str], None] | None, resume: str | Path | None
) -> Scores:
    if request.policies.fold_cutoffs != "both":
        judging = None if resume is None else _judging_in(resume)
        return evaluate_local_or_spark(qrels, runs, request, progress, judging)
    if resume is not None:
        raise InputError("fold_cutoffs='both' judges every run twice, and resume keeps one level: leave one out")
    return _at_both_levels(qrels, list(named_runs(runs)), request, progress)


def _at_both_levels(qrels: Any, runs: Any, request: Request, progress: Callable[[str], None] | None) -> Scores:
    """Runs of chunks, each in two rows: cutoffs count documents in the first and chunks in the second."""
    from rankscope.scoring.evaluation import evaluate_request, read_judgments, scores_of

    grades = read_judgments(qrels, request)
    evaluations: list[Any] = []
    for number, level in enumerate(("documents", "chunks")):
        scores = evaluate_request(qrels, runs, request.with_policies(fold_cutoffs=level), progress)
        for place, (e, run) in enumerate(zip(scores.evaluations, scores.runs, strict=True)):
            row = replace(e, labels=(f"{run.name} by {level}", "", ""), source=None if number else e.source)
            evaluations.insert(2 * place + number if number else place, row)
    return scores_of(request, evaluations, grades.queries, grades.source, None, lambda: grades.content_sha256)


def extend(
    scores: Scores, runs: Any, options: Mapping[str, Any], sort: Any, progress: Callable[[str], None] | None
) -> Scores:
    """Return scores with further runs, judged as the first. Raises InputError for other ``options``, or scores that were read from a file."""
    from rankscope.scoring.evaluation import evaluate_request

    if name := next((name for name, value in options.items() if value is not None), None):
        remedy = "further runs keep the metrics and policies of the first: leave it out, or evaluate all runs again"
        raise InputError(f"{name}: {remedy}")
    if scores.data is None or scores.slices or scores.predictions is not None:
        raise InputError(
            "scores with slices or predictions, or read from a file, cannot take further runs: evaluate all runs"
        )
    whole = evaluate_request(scores.data[0], runs, scores.request, progress, earlier=scores)
    return whole if sort is None else whole.sorted_by(sort)


def _judge_partition(
    qrels: Any, runs: Any, request: Request, partition: str, options: Mapping[str, Any]
) -> PartialScores:
    for name, value in options.items():
        if value is not None:
            reason = "is kept in its own file" if name == "resume" else "has no means yet"
            raise InputError(f"a partition {reason}: leave out {name}, or partition")
    from rankscope.sharding.partial import evaluate_partition

    return evaluate_partition(qrels, runs, request, partition)


def _judging_in(folder: str | Path) -> Callable[[CleanInput, Request], Judge]:
    from rankscope.sharding.resume import KeptWork, check_parent

    check_parent(folder)
    return lambda grades, request: KeptWork(folder, grades, request).judge


def _is_grade(level: Any) -> bool:
    return isinstance(level, int | float) and level is not True and 1 <= level <= HIGHEST
