"""The options of an experiment: the twin of the request for judgments. Verbs and pages that take a log derive their options from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from rankscope import words
from rankscope.errors import InputError


@dataclass(frozen=True)
class ExperimentRequest:
    """All options of ``experiment`` besides the log and its metrics, with their defaults."""

    variant: str | None = None
    baseline: str | None = None
    primary: Any = None
    guardrails: Any = None
    margin: Any = None
    covariates: Any = None
    split: Any = None
    strata: str | None = None
    winsorise: float | None = None
    clusters: Any = None
    by: Any = None
    slices: Any = None
    test: Any = None
    interval: Any = None
    correction: Any = "holm"
    alpha: float = 0.05
    alternative: str = "two-sided"
    all_pairs: bool = False
    prior: Any = None
    decide: bool = False
    columns: Any = None
    log_format: str | None = None
    time_format: str | None = None
    time_zone: str | None = None
    start: Any = None
    end: Any = None
    assignments: Any = None
    events: Any = None
    window: Any = None


EXPERIMENT_OPTIONS = tuple(option.name for option in fields(ExperimentRequest))


def refuse_for_log(options: Iterable[str], verb: str, taken: Iterable[str]) -> None:
    """Refuse every option that a verb does not take for a log, by its name. Raises InputError.

    >>> refuse_for_log({"strata": "country"}, "power", ["lift"])
    Traceback (most recent call last):
    rankscope.errors.InputError: power of a log takes no strata: that is an option of experiment
    """
    known = list(taken)
    for name in options:
        if name not in known:
            about = ": that is an option of experiment" if name in EXPERIMENT_OPTIONS else words.hint(name, known)
            raise InputError(f"{verb} of a log takes no {name}{about}")
