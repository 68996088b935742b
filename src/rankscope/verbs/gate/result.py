"""What ``gate`` gives: its checks, the verdict in words, the table, a page for a job, and test cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Heading, NumberText, Paragraph
from rankscope.panels.method import FEWEST, Method
from rankscope.scoring.request import heeded
from rankscope.scoring.scores import OfScores, Scores
from rankscope.show.junit import JUnitCase, as_junit
from rankscope.show.result import Col, Shown, View, caution_block
from rankscope.verbs.gate.baseline import StoredBaseline, provenance

Status = Literal["pass", "fail", "cannot tell"]
FailOn = Literal["loss", "tolerance"]

CODES: dict[Status, int] = {"pass": 0, "fail": 1, "cannot tell": 4}
WORDS: dict[Status, str] = {"pass": "pass", "fail": "FAIL", "cannot tell": "cannot tell"}
WORST: tuple[Status, ...] = ("fail", "cannot tell", "pass")
NOTHING, LOSSES, FLIPS = "nothing changed", "losses alone", "sign flips"
NO_PROMISE = (
    "no interval was used, and no error rate is promised: with so few differing queries a candidate that truly loses as much as "
    "the tolerance may pass in more than half of the cases"
)
MOST = 3  # checks that do not pass which get a sentence


@dataclass(frozen=True)
class Check:
    """One metric on all queries, or on the queries of a ``slice``.

    ``difference`` is how much better the candidate is than the baseline: below 0 it lost, also where lower is better. ``lower`` and
    ``upper`` are the ends of its interval, NaN where no interval was used; ``loss`` is what the mean loses where only the
    queries that got worse count. ``p_value`` is that of the test behind a failure, and ``loses`` whether the test sees a loss.
    ``left_out`` counts the queries that have a value in one run only, ``differing_clusters`` the clusters in which a query differs,
    where there are clusters; ``queries_needed`` is how many would settle the check if the difference stayed as it is, None where it
    is settled or no number would.
    """

    metric: str
    slice: str | None
    baseline_value: float
    value: float
    difference: float
    lower: float
    upper: float
    loss: float
    tolerance: float
    tolerance_said: str
    p_value: float
    loses: bool
    queries: int
    differing: int
    wins: int
    losses: int
    method: str
    better: str = "higher"
    left_out: int = 0
    differing_clusters: int | None = None
    p_value_adjusted: float = math.nan
    status: Status = "cannot tell"
    reason: str = ""
    queries_needed: int | None = None

    @property
    def ties(self) -> int:
        """Queries on which both score the same."""
        return self.queries - self.differing

    @property
    def name(self) -> str:
        """The metric, and the slice if it is on one."""
        return self.metric if self.slice is None else f"{self.metric} [{self.slice}]"

    @property
    def few(self) -> bool:
        """Whether so few queries, or clusters, differ that no interval is tried."""
        return (self.differing if self.differing_clusters is None else self.differing_clusters) < FEWEST

    @property
    def margin(self) -> float:
        """How far the worst that is not ruled out stays within the tolerance; below 0 it does not."""
        return self.tolerance + (-self.loss if math.isnan(self.lower) else self.lower)


def _change(check: Check) -> str:
    if not math.isnan(check.lower):
        return words.in_table(words.interval(check.lower, check.upper, True, 4, " … "))
    return {NOTHING: "same", FLIPS: FLIPS}.get(check.method, f"{LOSSES} {words.cell(-check.loss)}")


def _columns(gate: Gate) -> tuple[Col, ...]:
    return (
        Col("run", of=lambda _: gate.candidate),
        Col("baseline", of=lambda _: gate.baseline),
        Col("metric", head="metric"),
        Col("slice", head="slice" if gate.has_slices else "", cell=lambda c: c.slice or "all"),
        Col("status", head="verdict", cell=lambda c: WORDS[c.status]),
        Col("difference", head="change", cell=lambda c: words.cell(c.difference, sign=True), kind="value"),
        Col(
            "ci_lower", "ci_upper", of=lambda c: (c.lower, c.upper), kind="value",
            head=f"{words.percent(gate.method.level)} interval", cell=_change,
        ),
        Col("tolerance", head="tolerance", kind="value"),
        Col("p_value", kind="value"),
        Col("p_value_adjusted", head="p", cell=lambda c: NumberText(words.p_cell(c.p_value_adjusted), c.p_value_adjusted), kind="value"),
        *(Col(name, kind="value") for name in ("value", "baseline_value", "loss")),
        *(Col(name, kind="count") for name in ("queries", "differing")),
        *(Col(name, head=head, kind="count") for name, head in (("wins", "W"), ("losses", "L"), ("ties", "T"))),
        Col("method"),
        Col("queries_needed", kind="count"),
        Col("reason"),
        Col("better"),
        Col("left_out", kind="count"),
        Col("differing_clusters", kind="count"),
        Col("tolerance_said"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Gate(OfScores):
    """The verdict of a gate; true where it passes.

    ``status`` is pass, fail or cannot tell, ``exit_code`` 0, 1 or 4, and ``sentence`` the verdict in words. ``checks`` holds one
    check a metric and slice. ``scores`` are the runs evaluated here, ``stored_baseline`` is a baseline that was read as stored scores.
    """

    checks: Sequence[Check]
    baseline: str
    candidate: str
    scores: Scores
    method: Method
    fail_on: FailOn = "loss"
    stored_baseline: StoredBaseline | None = None
    slice_notes: Sequence[str] = ()

    schema = "gate/1"
    views = (View("results", _columns, lambda gate: gate.checks, labels=lambda gate: 2 if gate.has_slices else 1),)

    @cached_property
    def status(self) -> Status:
        """Fail if any check fails, pass if all pass, else cannot tell."""
        statuses = {check.status for check in self.checks}
        return next(status for status in WORST if status in statuses)

    @property
    def passed(self) -> bool:
        """Whether every check passes."""
        return self.status == "pass"

    def __bool__(self) -> bool:
        """Whether every check passes, so that ``assert gate(...)`` does what it seems to do."""
        return self.passed

    @property
    def exit_code(self) -> int:
        """0 for pass, 1 for fail, 4 for cannot tell."""
        return CODES[self.status]

    @property
    def nothing_changed(self) -> bool:
        """Whether no query changed in any metric."""
        return all(check.method == NOTHING for check in self.checks)

    @property
    def has_slices(self) -> bool:
        """Whether there are checks of slices."""
        return any(check.slice is not None for check in self.checks)

    @property
    def queries(self) -> int:
        """How many queries both runs have a value for; of several metrics the most."""
        return max(check.queries for check in self.checks)

    @property
    def tested(self) -> int:
        """How many checks have a p-value: what p-values are corrected for. Where nearly nothing changed no test is made."""
        return sum(not math.isnan(check.p_value) for check in self.checks)

    @property
    def _corrected(self) -> str:
        return self.method.corrected_for(max(1, self.tested), "check")

    @property
    def provenance(self) -> dict[str, Any]:
        """The judgments, both runs and the version, with hashes of the files."""
        return provenance(self.scores, self.stored_baseline, (self.baseline, self.candidate))

    @property
    def notes(self) -> list[str]:
        """What was read of a stored baseline and of slices."""
        return [*([self.stored_baseline.note] if self.stored_baseline else []), *self.slice_notes]

    @cached_property
    def warnings(self) -> list[Caution]:
        """What to know before trusting the verdict."""
        found = [*self.scores.warnings, *self._lost_queries(), *self._left_out()]
        return heeded(found, self.scores.request.policies.ignore)

    def _lost_queries(self) -> Iterator[Caution]:
        """Where only queries in common count: those that only the baseline answers, which would else be losses."""
        evaluations = self.scores.evaluations
        if self.scores.request.statement_of("queries") != "both" or not evaluations:
            return
        lost = set(evaluations[-1].missing)
        lost = lost - evaluations[0].missing if self.stored_baseline is None else lost & self.stored_baseline.queries
        if lost:
            yield Caution(
                "RS101",
                f"{self.candidate} has no ranking for {words.counted(len(lost), 'judged query')} that {self.baseline} answers; left out",
                "find out why, or use --queries judged to count a missing ranking as a loss",
            )

    def _left_out(self) -> Iterator[Caution]:
        queries = self.scores.request.statement_of("queries")
        hint = "use --queries judged to count a missing ranking as a loss"
        if self.scores.request.statement_of("nothing_found") != "metric":
            hint = "use --nothing-found metric to score a query that finds nothing"
        elif queries != "run" and (queries != "both" or self.stored_baseline is None):
            hint = "the metric itself may be undefined for a query (as AUC with one class); choose one that is not"
        for c in self.checks:
            if c.left_out and c.slice is None:
                yield Caution(
                    "RS407",
                    f"{c.metric}: {words.counted(c.left_out, 'query has', 'queries have')} a value for only one of "
                    f"{self.candidate} and {self.baseline} and cannot be paired: the gate looks at the other {words.count(c.queries)}",
                    hint,
                )

    def facts(self) -> dict[str, Any]:
        """The verdict, its rule, and what it rests on."""
        return {
            "status": self.status,
            "exit_code": self.exit_code,
            "sentence": self.sentence,
            "rule": {
                "fail_on": self.fail_on,
                "alpha": self.method.alpha,
                "interval": str(self.method.interval or "t"),
                "test": str(self.method.test or "t"),
                "correction": str(self.method.correction),
                "comparisons": self.tested,
            },
            "settings": None,  # the command line has them in a file
            "conventions": self.conventions,
            "provenance": self.provenance,
            "data_health": self.scores.data_health,
            "notes": list(self.notes),
        }

    def envelope(self, *, settings: str = "", **options: Any) -> dict[str, Any]:
        """All of a verdict as JSON has it; ``settings`` is where those of the project stand."""
        return {**super().envelope(**options), "settings": settings or None}

    def to_junit(self) -> str:
        """The checks as JUnit XML: a failure where one fails, skipped where it cannot tell."""
        cases = []
        for check in self.checks:
            text = self.sentence_of(check)
            failure, skipped = text * (check.status == "fail"), f"cannot tell: {text}" * (check.status == "cannot tell")
            cases.append(JUnitCase(check.name, text, failure, skipped))
        return as_junit("rankscope gate", cases)

    @cached_property
    def sentence(self) -> str:
        """The verdict: the check that decides it, or the one that comes nearest to its tolerance."""
        word, number = WORDS[self.status], len(self.checks)
        if self.nothing_changed:
            metrics = words.listing(dict.fromkeys(check.metric for check in self.checks))
            on = "the query" if self.queries == 1 else f"all {words.count(self.queries)} queries"
            return f"{word}: nothing changed: {self.candidate} scores the same as {self.baseline} on {on} ({metrics})."
        first = self.sentence_of(self._worst_first[0])
        if number == 1:
            return f"{word}: {first}"
        if self.passed:
            return f"{word}: all {number} checks pass. The closest: {first}"
        count = sum(check.status == self.status for check in self.checks)
        verb = words.agree(count, "fails") if self.status == "fail" else f"{words.agree(count, 'is')} inconclusive"
        several = f"all {count}" if count == number else f"{count} of {number}"
        return f"{word}: {several} checks {verb}. {'The worst: ' if count > 1 else ''}{first}"

    def sentences(self) -> Iterator[str]:
        """The verdict, and what else does not pass, worst first."""
        yield self.sentence
        rest = [check for check in self._worst_first[1:] if check.status != "pass"]
        yield from (f"{WORDS[check.status]}: {self.sentence_of(check)}" for check in rest[: MOST - 1])
        if len(rest) >= MOST:
            more = len(rest) - MOST + 1
            yield f"{words.counted(more, 'more check')} {words.agree(more, 'does')} not pass."

    @property
    def _worst_first(self) -> list[Check]:
        return sorted(self.checks, key=lambda c: (WORST.index(c.status), c.margin))

    def sentence_of(self, check: Check) -> str:
        """One check in words."""
        if check.method == NOTHING:
            return f"{check.name} is the same on all {words.count(check.queries)} queries."
        if math.isnan(check.lower):
            return self._without_interval(check)
        proof = f", {self._p_value(check)}" if check.status == "fail" else ""
        interval = f"{words.percent(self.method.level)} interval {words.interval(check.lower, check.upper, digits=4)}"
        change = f"{check.name} changed by {words.number(check.difference, True, 4)} ({interval}{proof})"
        settle = ""
        if check.status == "cannot tell" and check.queries_needed is not None:
            needed = words.rounded(check.queries_needed, up=True)
            settle = f" About {needed} queries would settle it; you have {words.count(check.queries)}."
        return f"{change}; the tolerance is {_tolerance(check)}.{settle}"

    def _without_interval(self, check: Check) -> str:
        differ = f"{words.counted(check.queries, 'query')} {words.agree(check.differing, 'differs')}"
        text = f"{check.name}: {words.count(check.differing)} of {differ}"
        if check.differing_clusters is not None:
            text += f", in {words.counted(check.differing_clusters, 'cluster')}"
        even, tolerance = "by the same amount, " if check.method == FLIPS else "", _tolerance(check)
        if check.status == "fail":
            mean = words.number(check.difference, True, 4)
            return f"{text}, {even}{mean} in the mean ({self._p_value(check)}); the tolerance is {tolerance}."
        loss = f"ignoring gains, the loss is {words.number(check.loss, digits=4)}"
        if check.status == "pass":
            return f"{text}; {loss}, within the tolerance of {tolerance}. No interval was used."
        why = "too few for an interval" if check.few else f"{even}which has no interval" if even else "with no interval"
        return f"{text}, {why}; {loss}, above the tolerance of {tolerance}. Judge more queries on which the two answer differently."

    def _p_value(self, check: Check) -> str:
        return f"{words.p_value(check.p_value_adjusted)}{self._corrected}"

    def blocks(self, **_: Any) -> list[Shown]:
        """The verdict, the table of the checks, the cautions, what it rests on, and the exit code."""
        answer = [*map(Paragraph, self.sentences()), EMPTY, self.table(), EMPTY, *caution_block(self.warnings)]
        return [*answer, *self._small_print(), Paragraph(self._exit_line)]

    def paper(self, **_: Any) -> list[Shown]:
        """The verdict for a page, such as the summary of a job."""
        return [
            Heading(f"rankscope gate: {self.status} ({self.candidate} against {self.baseline})"),
            *map(Paragraph, self.sentences()),
            self.table(),
            *(Paragraph(f"{w.code}: {w.message}; {w.hint}") for w in self.warnings),
            *self._small_print(),
            Paragraph(self._exit_line, quiet=True),
        ]

    def _small_print(self) -> Iterator[Paragraph]:
        several = ", in every check" if len(self.checks) > 1 else ""
        floor = "below 0" if self.fail_on == "loss" else "below minus the tolerance"
        corrected = self._corrected
        parts = [
            f"{self.candidate} against {self.baseline}",
            f"pass: the interval lies above minus the tolerance{several}",
            f"fail: the mean is {floor} by a {self.method.test or 't'} test (p{corrected})",
            *self._without_intervals(),
        ]
        if pooled := [str(m) for m in self.scores.metrics if m.aggregate == "pooled"]:
            usual = "" if self.method.test or self.method.interval else "by the bootstrap over queries; "
            parts.append(f"{words.listing(pooled)}: {usual}queries win or lose by what they add")
        if lower := dict.fromkeys(check.metric for check in self.checks if check.better == "lower"):
            parts.append(f"{words.listing(lower)}: lower is better, so the sign is turned and a loss is negative")
        yield Paragraph(" · ".join(parts), quiet=True)
        yield Paragraph(self.scores.request.small_print(), quiet=True)

    def _without_intervals(self) -> Iterator[str]:
        bare = [c for c in self.checks if math.isnan(c.lower) and c.method != NOTHING]
        units = "queries" if all(check.differing_clusters is None for check in self.checks) else "clusters"
        if any(c.few for c in bare):
            yield f"fewer than {FEWEST} differing {units}: the losses alone; {NO_PROMISE}"
        if any(c.method == FLIPS for c in bare):
            yield f"all {units} changed by the same amount: no interval, but sign flips and the losses alone"
        if any(c.method == LOSSES and not c.few for c in bare):
            yield "these differences have no interval: the losses alone"

    @property
    def _exit_line(self) -> str:
        return f"exit {self.exit_code} ({', '.join(f'{code} {status}' for status, code in CODES.items())})"


def _tolerance(check: Check) -> str:
    share = f" ({check.tolerance_said})" if "%" in check.tolerance_said else ""
    return f"{words.number(check.tolerance, digits=4)}{share}"
