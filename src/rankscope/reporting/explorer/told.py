"""Which runs an explorer starts with, and what it tells of systems that are the mean of several runs and of its metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rankscope.metrics import Metric
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import some

NAMED = 6  # runs that a sentence names
TOLD = {"RBP": ("p",), "ERR": ("max_grade",)}  # what a what-if needs to compute the same


def members_of(subject: Subject) -> Mapping[str, Sequence[str]]:
    """The runs of each system that is the mean of several."""
    return subject.comparison.given.members if subject.comparison is not None else {}


def runs_in_order(subject: Subject) -> tuple[str, ...]:
    """The runs with rankings: the two of the leading verdict, then the others of the baseline, then the rivals, the furthest ahead first.

    In place of a system that is the mean of several runs stand these; the first of them is the one of the two.
    """
    assert subject.scores is not None
    members = members_of(subject)
    there = [run.name for run in subject.scores.runs if run.name in subject.runs]
    known = set(there)
    of = [members.get(system, (system,)) for system in _systems(subject)]
    leading = [runs[0] for runs in of[:2]]
    named = [run for run in [*leading, *(run for runs in of for run in runs)] if run in known]
    return tuple(dict.fromkeys([*named, *there]))


def _systems(subject: Subject) -> Iterator[str]:
    """All systems, some of them several times: the two of the leading verdict first."""
    if subject.rivals:
        run, baseline = subject.rivals[0]
        yield from (baseline, run)
    for run, _ in subject.rivals:
        yield run
    yield from subject.systems


def said_of_members(subject: Subject) -> Iterator[str]:
    """What a reader should know of systems that are the mean of several runs, a sentence each."""
    for system, runs in members_of(subject).items():
        names = some(runs) if len(runs) > NAMED else f"{', '.join(runs[:-1])} and {runs[-1]}"
        yield (
            f"{system} is the mean of {names}: the verdicts, tables and charts are of that mean, "
            f"the rankings here are of one run at a time, and {runs[0]} stands for {system} where a query is opened from there."
        )


def parameters_of(metrics: Sequence[Metric]) -> tuple[tuple[str, float], ...]:
    """What the metrics were told that a what-if needs; of several metrics of one class the first.

    >>> from rankscope.metrics import ERR, RBP
    >>> parameters_of([RBP(p=0.5), ERR(max_grade=3) @ 10, RBP(p=0.9)])
    (('p', 0.5), ('max_grade', 3.0))
    """
    found: dict[str, float] = {}
    for metric in metrics:
        for name in TOLD.get(type(metric).__name__, ()):
            found.setdefault(name, float(getattr(metric, name)))
    return tuple(found.items())
