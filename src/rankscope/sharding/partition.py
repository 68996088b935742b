"""Evaluate one partition of a run: the part of its queries that this machine, or this hour, is to do."""

from __future__ import annotations

from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.scoring.evaluation import check_grades, read_judgments
from rankscope.scoring.inputs import named_runs
from rankscope.scoring.request import Request
from rankscope.sharding.partial import PartialScores, QrelsFacts, partition_of, terms_of
from rankscope.sharding.shares import judge_share


def evaluate_partition(qrels: Any, runs: Any, request: Request, partition: str) -> PartialScores:
    """Judge one partition of a run. Raises InputError for several runs, and for what cannot be kept in a file."""
    number, of = partition_of(partition)
    given = list(named_runs(runs))
    if len(given) > 1:
        raise InputError(
            f"a partition is one of a run, and there are {words.counted(len(given), 'run')}: evaluate each apart"
        )
    terms = terms_of(request)  # so that what cannot be kept is refused before any work
    grades = read_judgments(qrels, request)
    check_grades(grades, request)
    ((name, run),) = given
    share = judge_share(run, name, grades, request, number, of)
    if request.policies.columns is not None:
        request.policies.columns.refuse_absent()
    return PartialScores(number, of, request, terms, QrelsFacts.of(grades), share)
