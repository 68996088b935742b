"""A gate for continuous integration: pass, fail, or cannot tell whether a candidate lost against a baseline."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from rankscope.blocks import Caution
from rankscope.declared import one_of
from rankscope.errors import DataError, InputError
from rankscope.metrics import Metric
from rankscope.panels.method import Method, method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import NO_SAMPLE
from rankscope.panels.tolerance import Tolerances, tolerances_of
from rankscope.scoring.measurements import panels_of
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.scores import Scores
from rankscope.scoring.settings import GATE
from rankscope.show.notebook import InNotebook
from rankscope.verbs.gate.checks import NOTHING, Check, FailOn, Status, drafted, settled
from rankscope.verbs.gate.provenance import Stored, as_pair, provenance, stored_of

USUAL = "nDCG@10"
CODES: dict[Status, int] = {"pass": 0, "fail": 1, "cannot tell": 4}


@dataclass(frozen=True, eq=False)
class Gate(InNotebook):
    """The verdict of a gate; true where it passes.

    ``status`` is pass, fail or cannot tell, ``exit_code`` 0, 1 or 4, and ``sentence`` the verdict in words. ``checks`` holds one
    check a metric and slice. ``scores`` is what was evaluated here, ``stored`` a baseline that was stored.
    """

    shown_by: ClassVar[str] = "rankscope.verbs.gate.result"

    checks: Sequence[Check]
    baseline: str
    candidate: str
    scores: Scores
    method: Method
    fail_on: FailOn = "loss"
    stored: Stored | None = None
    notes: Sequence[str] = ()

    @cached_property
    def status(self) -> Status:
        """Fail if any check fails, pass if all pass, else cannot tell."""
        said = {check.status for check in self.checks}
        return "fail" if "fail" in said else "cannot tell" if "cannot tell" in said else "pass"

    @property
    def passed(self) -> bool:
        """Whether every check passes."""
        return self.status == "pass"

    def __bool__(self) -> bool:
        """Whether every check passes, so that ``assert gate(...)`` says what it seems to say."""
        return self.passed

    @property
    def exit_code(self) -> int:
        """0 for pass, 1 for fail, 4 for cannot tell."""
        return CODES[self.status]

    @property
    def unchanged(self) -> bool:
        """Whether no query changed in any metric."""
        return all(check.method == NOTHING for check in self.checks)

    @property
    def queries(self) -> int:
        """How many queries both runs have a value for; of several metrics the most."""
        return max(check.queries for check in self.checks)

    @cached_property
    def sentence(self) -> str:
        """The verdict in words."""
        from rankscope.verbs.gate.result import sentence

        return sentence(self)

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """The judgments, both runs and the version, with hashes of the files."""
        return provenance(self.scores, self.stored, (self.baseline, self.candidate))

    @cached_property
    def warnings(self) -> list[Caution]:
        """What a reader should know before believing the verdict."""
        return [*self.scores.warnings, *self._unanswered(), *self._left_out()]

    def _unanswered(self) -> list[Caution]:
        """Where queries in common count alone: those that only the baseline answers, which would else be losses."""
        scores = self.scores
        if scores.request.policies.queries != "both" or not scores.evaluations:
            return []
        lost = set(scores.evaluations[-1].missing)
        if self.stored is None:
            lost -= scores.evaluations[0].missing
        else:
            lost &= set(next(iter(self.stored.values.values())))
        if not lost:
            return []
        said = f"{len(lost):,} judged {'query' if len(lost) == 1 else 'queries'}"
        return [
            Caution(
                "RS101",
                f"{self.candidate} has no ranking for {said} that {self.baseline} answers, left out",
                "find out why; take --queries judged to count a missing ranking as a loss",
            )
        ]

    def _left_out(self) -> list[Caution]:
        said = self.scores.conventions
        hint = "take --queries judged to count a missing ranking as a loss"
        if said["nothing_found"] != "metric":
            hint = "take --nothing-found metric to score a query that finds nothing"
        elif said["queries"] != "run" and (said["queries"] != "both" or self.stored is None):
            hint = "a query may have no value by the metric itself (as AUC with one class); name a metric that has one"
        return [
            Caution(
                "RS407",
                f"{c.metric}: {c.left_out:,} {'query has' if c.left_out == 1 else 'queries have'} a value for only one of "
                f"{self.candidate} and {self.baseline} and cannot be paired: the gate is over the other {c.queries:,}",
                hint,
            )
            for c in self.checks
            if c.left_out and c.slice is None
        ]

    def __str__(self) -> str:
        return self.sentence

    __repr__ = __str__


def gate(  # noqa: PLR0913 - the options of the command line, each with its default
    qrels: Any,
    baseline: Any,
    candidate: Any,
    metrics: Any = None,
    *,
    tolerance: Any = None,
    fail_on: FailOn = "loss",
    alpha: float = 0.05,
    slices: Any = None,
    clusters: Any = None,
    test: Any = None,
    interval: Any = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    **policies: Any,
) -> Gate:
    """Say whether a candidate may replace a baseline: pass, fail, or cannot tell.

    ``qrels``, ``baseline`` and ``candidate`` are as for ``evaluate``, and so are further ``policies`` (``ties``, ``queries``,
    ``depth`` ...); the baseline may also be what ``evaluate`` stored with the values of every query, whose judgments,
    conventions and version must be those at hand. ``metrics`` are all gated (nDCG@10 unless named).

    Each metric, on all queries and on each slice of ``slices``, is one check. It passes where the lower end of the 95% interval of
    the difference lies above minus the ``tolerance`` (0.01 unless said; a number, ``"2%"`` of the baseline, or a mapping of these by
    metric), or where nothing changed. It fails where a loss is proved: the upper end lies below 0 after Holm's correction over
    all checks (with ``fail_on="tolerance"`` below minus the tolerance). Where one to five queries differ no interval is used:
    it passes if the losses alone stay within the tolerance, and never fails. All checks must pass.

    ``alpha`` sets the level of the intervals, ``clusters`` maps queries to users, sessions or topics, ``interval`` and ``test`` are t.

    Raises InputError for what cannot be used, DataError where nothing can be compared or a stored baseline was made otherwise.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(20)}
    >>> good = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    >>> poor = good | {f"q{i}": {"b": 2.0, "a": 1.0} for i in range(9)}
    >>> rs.gate(qrels, good, poor, "RR").status
    'fail'
    >>> rs.gate(qrels, good, good, "RR").exit_code
    0
    """
    refuse_unknown(policies, "gate", (*GATE, "metrics", "progress"))
    one_of("fail_on", fail_on, ("loss", "tolerance"))
    method = method_of(test=test, interval=interval, alpha=alpha, seed=seed)
    from rankscope.scoring.evaluation import evaluate_request
    from rankscope.scoring.request import Request

    stored = stored_of(baseline)
    runs = [candidate] if stored is not None else _named(baseline, candidate)
    request = Request.of(USUAL if metrics is None else metrics, {**policies, "seed": seed})
    scores = evaluate_request(qrels, runs, request, progress)
    _refuse_undirected(scores.metrics)
    both = scores if stored is None else stored.beside(scores)
    allowed = tolerances_of(tolerance, [(m.spelling, m.metric) for m in scores.board])
    fields = _clustered(panels_of(both, scores.metrics), clusters)
    drafts, notes = _drafts(fields, slices, allowed, fail_on, method)
    notes = [*([stored.note] if stored is not None else []), *notes]
    names = fields[0].systems
    return Gate(settled(drafts, fail_on, method), names[0], names[1], scores, method, fail_on, stored, notes)


def _named(baseline: Any, candidate: Any) -> list[Any]:
    """Both runs; called by their parts where they have no names of their own that would tell them apart."""
    runs = [baseline, candidate]
    bare = [run for _, run in map(as_pair, runs)]
    paths = [str(run) for run in bare if isinstance(run, str | os.PathLike)]
    alike = len(set(paths)) < 2 if len(paths) == 2 else True
    if alike and not any(name for name, _ in map(as_pair, runs)):
        return list(zip(("baseline", "candidate"), bare, strict=True))
    return runs


def _refuse_undirected(metrics: Sequence[Metric]) -> None:
    for metric in metrics:
        if metric.better == "neither":
            raise InputError(
                f"{metric} is neither better nor worse when it is higher, so nothing can be gated on it: leave it out"
            )
        if metric.aggregate in NO_SAMPLE:
            raise InputError(
                f"{metric} is {NO_SAMPLE[metric.aggregate]}, so it has no interval to gate on: leave it out"
            )


def _clustered(fields: list[Panel], source: Any) -> list[Panel]:
    """The queries numbered by the cluster they belong to."""
    if source is None:
        return fields
    from dataclasses import replace

    from rankscope.files.attributes import clusters_of

    codes, names = clusters_of(source, list(fields[0].query_ids))
    if len(names) < 2:
        raise DataError("clusters: all queries are in one; two or more are needed to tell how clusters vary")
    return [replace(field, clusters=codes) for field in fields]


def _drafts(
    fields: Sequence[Panel], slices: Any, allowed: Tolerances, fail_on: FailOn, method: Method
) -> tuple[list[Check], list[str]]:
    """A draft of every check, each metric on all queries and then on its slices; and what to say about the slices."""
    parts, notes = _parts(slices, fields[0].query_ids)
    out = []
    for field in fields:
        assert field.metric is not None
        allowance = allowed.of(field.metric)
        whole = drafted(field, None, allowance, fail_on, method)
        if whole is None:
            raise DataError(f"no query has a value of {field.name} in both runs: there is nothing to compare")
        out.append(whole)
        for name, inside in parts:
            check = drafted(field.within(inside), name, allowance, fail_on, method)
            if check is None:
                notes.append(f"{name}: no query has a value of {field.name} in both runs, so it is not gated")
            else:
                out.append(check)
    return out, notes


def _parts(source: Any, ids: Sequence[str]) -> tuple[list[tuple[str, Any]], list[str]]:
    """The slices that a table of query attributes makes, and what to say about it."""
    if source is None:
        return [], []
    from rankscope.files.attributes import attributes_of

    table = attributes_of(source)
    found = [
        (name if name.startswith(f"{attribute} ") else f"{attribute}={name}", inside)
        for attribute, slices in table.slices(list(ids)).items()
        for name, inside in slices.items()
        if inside.any()
    ]
    return found, table.remarks(list(ids))
