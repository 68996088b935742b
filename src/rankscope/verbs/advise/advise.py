"""Say which metrics and cutoffs fit the data and the task, which one to declare in advance, and what not to use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankscope.errors import DataError, InputError
from rankscope.inference.base import Sample
from rankscope.inference.power import detectable_difference
from rankscope.metrics import Metric
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import Takers, clean, named_runs, read_any
from rankscope.scoring.policies import Policies
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores
from rankscope.show.notebook import InNotebook
from rankscope.verbs.advise.avoid import Avoided, avoided
from rankscope.verbs.advise.case import RESTS, Case
from rankscope.verbs.advise.facts import Facts, RunFacts, facts_of
from rankscope.verbs.advise.guess import Guess, guessed
from rankscope.verbs.advise.tasks import SHARED_LAST, WITH_ASPECTS, Pick, Task, task_called

LOOK = 10  # how far down the data are looked at before a task is known
USUAL_DEVIATION = 0.2  # of the differences of two runs, where nothing else is known


@dataclass(frozen=True)
class Recommended:
    """A metric that fits: as it is spelled, why, the number in the data that this rests on, and whether it is the primary one."""

    metric: Metric
    why: str
    rests_on: str
    primary: bool = False


@dataclass(frozen=True)
class Showable:
    """What difference these queries show with 80 % power at 5 %, and where the spread comes from.

    ``source`` is "pairs" (the median over ``pairs`` of the runs given), "scores" (of the one run given) or "assumed".
    """

    queries: int
    difference: float
    deviation: float
    source: str
    pairs: int = 0


@dataclass(frozen=True, eq=False)
class Advice(InNotebook):
    """What ``advise`` found.

    ``recommended`` holds the metrics that fit, the primary one first, and ``avoid`` what not to use. ``task`` is the one named, or
    the one that fits the data best; ``sure`` says how sure that is and ``likeliest`` holds the two that fit best. ``showable`` is
    None where nothing is known of the spread. ``scores`` are those of the metrics on the runs given, None without runs.
    ``duplicates`` says what was done with repeated documents, ``given`` how the inputs are written in a command.
    """

    shown_by: ClassVar[str] = "rankscope.verbs.advise.result"

    facts: Facts
    case: Case
    task: Task
    sure: str
    likeliest: Sequence[Guess]
    recommended: Sequence[Recommended]
    avoid: Sequence[Avoided]
    showable: Showable | None
    notes: Sequence[str] = ()
    scores: Scores | None = None
    duplicates: str = "error"
    given: tuple[str | None, Sequence[str]] = (None, ())

    @property
    def primary(self) -> Metric:
        """The metric to declare in advance."""
        return self.recommended[0].metric

    @property
    def metrics(self) -> list[str]:
        """The metrics that fit, as they are spelled, the primary one first."""
        return [str(one.metric) for one in self.recommended]

    @property
    def next(self) -> list[str]:
        """The commands (calls, where nothing was read from files) to go on with."""
        from rankscope.verbs.advise.result import commands

        return commands(self)

    @property
    def settings(self) -> str:
        """The same choice for pyproject.toml."""
        from rankscope.verbs.advise.result import snippet

        return snippet(self)

    def __str__(self) -> str:
        from rankscope.verbs.advise.result import sentence

        return sentence(self)

    __repr__ = __str__


def advise(
    qrels: Any,
    runs: Any = None,
    task: str | None = None,
    k: int | None = None,
    *,
    duplicates: str = "error",
) -> Advice:
    """Say which metrics and cutoffs fit judgments and a task, which one to declare in advance, and what not to use.

    ``qrels`` and ``runs`` are what ``evaluate`` takes; with ``runs`` the advice also goes by how deep they are, how much of them is
    unjudged, and how their scores vary. ``task`` is one of known-item, question-answering, web, exploratory, recall, entity,
    candidates, re-ranking, feed, next-item, clicks, rag, benchmark (or another name of it); without one, the task that fits the
    data best is taken, and ``sure`` tells how sure that is. ``k`` is how many results people see, or the next stage takes.
    ``duplicates`` is as in ``evaluate``: "best" keeps the highest grade of documents with several.

    Raises InputError for what cannot be used (an unknown task, k below 1, judgments that cannot be read), DataError where no
    document is relevant, or no query of a run is judged.

    >>> import rankscope as rs
    >>> advice = rs.advise({"q1": {"a": 1}, "q2": {"b": 1}}, task="navigational")
    >>> str(advice.primary), advice.recommended[0].rests_on
    ('RR@10', '2 of 2 queries have exactly one relevant document')
    """
    from rankscope.files import qrels_of

    chosen = None if task is None else task_called(task)
    _check(k)
    users = _says_users(qrels)
    given = read_any("qrels", qrels)
    takers = Takers(None, True) if duplicates == "error" else None
    grades = clean(qrels_of(given), Policies(duplicates=duplicates), "qrels", takers).data
    facts = facts_of(grades, users=users)
    _refuse_nothing(facts)
    named = [] if runs is None else [(name, read_any("run", run, name)) for name, run in named_runs(runs)]
    looked = _looked_at(grades, named, facts, duplicates)
    case = _case(facts, looked, chosen, k)
    likeliest, sure = guessed(case)
    chosen, sure = (task_called(likeliest[0].task), sure) if chosen is None else (chosen, "said")
    case = _case(facts, looked, chosen, k)
    recommended = list(_recommended(case, chosen))
    metrics = [one.metric for one in recommended]
    request = Request.of(metrics, {"duplicates": duplicates})
    scores = evaluate_request(grades, named, request) if named else None
    return Advice(
        facts=case.facts,
        case=case,
        task=chosen,
        sure=sure,
        likeliest=likeliest,
        recommended=recommended,
        avoid=list(avoided(case, chosen.name, set(map(str, metrics)))),
        showable=_showable(case, metrics[0], scores),
        notes=looked.notes if looked else getattr(getattr(given, "source", None), "notes", ()),
        scores=scores,
        duplicates=duplicates,
        given=(_written(qrels, given), [_written_run(name, run) for name, run in named]),
    )


def _check(k: Any) -> None:
    if k is not None and (isinstance(k, bool) or not hasattr(k, "__index__") or k < 1):
        raise InputError(f"k={k!r}: how many results people see is a whole number of at least 1, like 10")


def _refuse_nothing(facts: Facts) -> None:
    if not facts.judgments:
        raise InputError(
            "the qrels hold no judgment: they map queries to documents and grades, like {'q1': {'d1': 1}}"
        )
    if not facts.positive:
        raise DataError(
            f"no document is relevant: all {facts.judgments:,} grades are 0 or below, so every metric would be 0"
        )


# --- what the runs are like -------------------------------------------------------------------------


def _looked_at(
    grades: Any, named: Sequence[tuple[str | None, Any]], facts: Facts, duplicates: str
) -> Scores | None:
    """The runs against the judgments, by metrics that take any grades."""
    if not named:
        return None
    metrics = [f"Judged@{LOOK}"] + ([f"StRecall@{LOOK}"] if facts.several else [])
    return evaluate_request(grades, named, Request.of(metrics, {"duplicates": duplicates}))


def _case(facts: Facts, looked: Scores | None, task: Task | None, k: int | None) -> Case:
    """The facts with the ranks of a task, which go no deeper than the runs do unless that is asked for."""
    own, deep = (task.k, task.deep) if task else (LOOK, 100)
    found = looked.evaluations if looked else ()
    reach = min((int(run.judged[0].retrieved.max(initial=0)) for run in found), default=0) or max(own, deep)
    seen = k or min(own, reach)
    runs = tuple(_run_facts(looked, i, seen) for i in range(len(found))) if looked else ()
    return Case(replace(facts, runs=runs), seen, max(seen, min(deep, reach)), bool(task and task.taste))


def _run_facts(looked: Scores, number: int, k: int) -> RunFacts:
    name, found = looked.runs[number].name, looked.evaluations[number]
    judged, health = found.judged[0], found.health
    lists = judged.retrieved[judged.retrieved > 0]
    deepest = int(lists.max(initial=0))
    shown = int(np.minimum(lists, k).sum())
    known = int(((judged.rank > 0) & (judged.rank <= k)).sum())
    return RunFacts(
        name=name,
        lists=len(lists),
        depth=int(np.median(lists)) if len(lists) else 0,
        deepest=deepest,
        ending=int((lists == deepest).sum()),
        unjudged=(shown - known) / shown if shown else 0.0,
        unknown=1 - int(judged.found.sum()) / int(lists.sum()) if len(lists) else 0.0,
        tied=health.tied_at_cutoff[LOOK],
        missing=health.missing_queries,
    )


# --- what fits ----------------------------------------------------------------------------------------


def _recommended(case: Case, task: Task) -> Iterator[Recommended]:
    """The picks whose conditions hold, each metric once, the first one primary."""
    seen: set[str] = set()
    picks: tuple[Pick, ...] = (*(WITH_ASPECTS if case.aspects else task.picks), *SHARED_LAST)
    for pick in picks:
        if not case.holds(pick.when):
            continue
        metric = case.metric(pick.metric, pick.at, pick.args)
        if str(metric) not in seen:
            yield Recommended(metric, pick.why, RESTS[pick.rests](case), primary=not seen)
            seen.add(str(metric))


def _showable(case: Case, primary: Metric, scores: Scores | None) -> Showable | None:
    """What difference in the primary metric the queries show, by the spread at hand."""
    if scores is not None and len(scores.runs) > 1:
        from rankscope.verbs.power.power import power

        try:
            one = power(scores, None, primary, all_pairs=True).summary[0]
        except DataError:  # runs that do not differ, a single query
            return None
        count = int(np.isfinite(scores.runs[0].values[primary]).sum())
        return Showable(count, one.detectable.median, one.deviation.median, "pairs", one.pairs)
    queries, deviation, source = case.facts.queries, USUAL_DEVIATION, "assumed"
    if scores is not None:
        values = scores.runs[0].values[primary]
        sample = Sample(values[np.isfinite(values)])
        queries, deviation, source = sample.count, sample.deviation, "scores"
    if queries < 2 or not deviation > 0:
        return None
    return Showable(queries, detectable_difference(queries, deviation), deviation, source)


# --- how the inputs are written in a command ----------------------------------------------------------


def _written(source: Any, read: Any) -> str | None:
    """The path that was given, None where it was no path."""
    if isinstance(source, str | Path):
        return str(source)
    return getattr(getattr(read, "source", None), "path", None)


def _written_run(name: str | None, read: Any) -> str:
    """A run as the command line takes it; one that was read from no file has a name only."""
    path = getattr(getattr(read, "source", None), "path", None)
    if path is None:
        return ""
    return path if name is None else f"{name}={path}"


def _says_users(source: Any) -> bool:
    """Whether the column of queries is called user: in a frame, or in the first line of a file that can be read as text."""
    columns: Any = getattr(source, "columns", None)
    if columns is None and isinstance(source, str | Path) and Path(source).suffix.lower() in {".csv", ".tsv"}:
        try:
            with Path(source).open(encoding="utf-8", errors="replace") as lines:
                columns = lines.readline().replace("\t", ",").split(",")
        except OSError:  # told where it is read
            return False
    if isinstance(source, Mapping) or columns is None:
        return False
    return any(str(name).strip(' "\n').casefold() in {"user", "user_id", "userid"} for name in columns)


__all__ = ["Advice", "Avoided", "Guess", "Recommended", "Showable", "advise"]
