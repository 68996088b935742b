"""The checks of a gate, and what every gate makes of them: the verdict, its words, the exit code, test cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rankscope import words
from rankscope.blocks import EMPTY, Heading, Paragraph
from rankscope.panels.method import FEWEST, Method
from rankscope.show.junit import JUnitCase, as_junit
from rankscope.show.result import Result, Shown, caution_block

Status = Literal["pass", "fail", "cannot tell", "withheld"]
FailOn = Literal["loss", "tolerance"]

CODES: dict[Status, int] = {"pass": 0, "fail": 1, "cannot tell": 4}
WORDS: dict[Status, str] = {"pass": "pass", "fail": "FAIL", "cannot tell": "cannot tell", "withheld": "WITHHELD"}
WORST: tuple[Status, ...] = ("withheld", "fail", "cannot tell", "pass")
NOTHING, LOSSES, FLIPS, NO_SPREAD = "nothing changed", "losses alone", "sign flips", "no spread"
MOST = 3  # checks that do not pass which get a sentence
DIGITS = 4  # decimals of a change on a scale from 0 to 1


@dataclass(frozen=True)
class Check:
    """One metric on all queries, or on the queries of a ``slice``.

    ``difference`` is how much better the candidate is than the baseline: below 0 it lost, also where lower is better. ``lower`` and
    ``upper`` are the ends of its interval, NaN where no interval was used; ``loss`` is what the mean loses where only the
    queries that got worse count. ``p_value`` is that of the test behind a failure, and ``loses`` whether the test sees a loss.
    ``left_out`` counts the queries that have a value in one run only, ``differing_clusters`` the clusters in which a query differs,
    where there are clusters; ``queries_needed`` is how many would settle the check if the difference stayed as it is, None where it
    is settled or no number would.

    In the gate of an experiment ``queries`` are users, of whom none has a value in both variants: ``loss`` is NaN there, as no user
    is known to have lost. ``variant`` is the one that is checked, where there are several.
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
    variant: str = ""
    digits: int = DIGITS
    test: str = "t"

    @property
    def ties(self) -> int:
        """Queries on which both score the same."""
        return self.queries - self.differing

    @property
    def name(self) -> str:
        """The metric, the variant if there are several, and the slice if it is on one."""
        variant = f" of {self.variant}" if self.variant else ""
        return f"{self.metric}{variant}" if self.slice is None else f"{self.metric}{variant} [{self.slice}]"

    @property
    def few(self) -> bool:
        """Whether so few queries, or clusters, differ that no interval is tried."""
        return (self.differing if self.differing_clusters is None else self.differing_clusters) < FEWEST

    @property
    def margin(self) -> float:
        """How far the worst that is not ruled out stays within the tolerance; below 0 it does not."""
        if not math.isnan(self.lower):
            return self.tolerance + self.lower
        return -math.inf if math.isnan(self.loss) else self.tolerance - self.loss

    @property
    def tolerance_in_words(self) -> str:
        """The tolerance as a number, and as a share where it was given as one."""
        share = f" ({self.tolerance_said})" if "%" in self.tolerance_said else ""
        return f"{words.number(self.tolerance, digits=self.digits_of_tolerance)}{share}"

    @property
    def digits_of_tolerance(self) -> int:
        """The decimals of the tolerance: those of the change, and more where these would show none of it."""
        return max(self.digits, words.decimals_for(self.tolerance) - 1)


class GateResult(Result):
    """What every gate gives: true where it passes.

    A subclass is a dataclass of the fields below. ``noun`` is what its units are called, ``codes`` are the exit codes it can have.
    """

    codes: ClassVar[Mapping[Status, int]] = CODES

    if TYPE_CHECKING:  # fields of the subclass

        @property
        def checks(self) -> Sequence[Check]:
            """One check a metric, slice and variant."""

        @property
        def baseline(self) -> str:
            """What is compared with."""

        @property
        def candidate(self) -> str:
            """What may replace it."""

        @property
        def method(self) -> Method:
            """How the two are compared."""

        @property
        def fail_on(self) -> FailOn:
            """What fails."""

    @property
    def noun(self) -> str:
        """What a unit is called."""
        return "query"

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
        """0 for pass, 1 for fail, 4 for cannot tell; 3 where units of an experiment were not split as planned."""
        return self.codes[self.status]

    @property
    def nothing_changed(self) -> bool:
        """Whether no unit changed in any metric."""
        return all(check.method == NOTHING for check in self.checks)

    @property
    def has_slices(self) -> bool:
        """Whether there are checks of slices."""
        return any(check.slice is not None for check in self.checks)

    @property
    def queries(self) -> int:
        """How many units both have a value for; of several metrics the most."""
        return max(check.queries for check in self.checks)

    @property
    def tested(self) -> int:
        """How many checks have a p-value: what p-values are corrected for. Where nearly nothing changed no test is made."""
        return sum(not math.isnan(check.p_value) for check in self.checks)

    @property
    def tests(self) -> str:
        """The tests that gave the p-values."""
        known = dict.fromkeys(check.test for check in self.checks if not math.isnan(check.p_value))
        return ", ".join(known) or str(self.method.test or "t")

    @property
    def _corrected(self) -> str:
        return self.method.corrected_for(max(1, self.tested), "check")

    def json_header(self) -> dict[str, Any]:
        """The verdict and its rule."""
        return {
            "status": self.status,
            "exit_code": self.exit_code,
            "sentence": self.sentence,
            "rule": {
                "fail_on": self.fail_on,
                "alpha": self.method.alpha,
                "interval": str(self.method.interval or "t"),
                "test": self.tests,
                "correction": str(self.method.correction),
                "comparisons": self.tested,
            },
            "settings": None,  # the command line has them in a file
            "conventions": dict(self.conventions),
        }

    def json_document(self, *, settings: str = "", **options: Any) -> dict[str, Any]:
        """All of a verdict as JSON has it; ``settings`` is where those of the project stand."""
        return {**super().json_document(**options), "settings": settings or None}

    def to_junit(self) -> str:
        """The checks as JUnit XML: a failure where one fails, skipped where it cannot tell."""
        return as_junit("rankscope gate", list(self._cases()))

    def _cases(self) -> Iterator[JUnitCase]:
        for check in self.checks:
            text = self.sentence_of(check)
            open_ = f"{check.status}: {text}" if check.status in {"cannot tell", "withheld"} else ""
            yield JUnitCase(check.name, text, text * (check.status == "fail"), open_)

    # -- in words ----------------------------------------------------------------------------------

    @cached_property
    def sentence(self) -> str:
        """The verdict: the check that decides it, or the one that comes nearest to its tolerance."""
        word, number = WORDS[self.status], len(self.checks)
        if self.nothing_changed:
            metrics = words.listing(dict.fromkeys(check.metric for check in self.checks))
            on = (
                f"the {self.noun}"
                if self.queries == 1
                else f"all {words.count(self.queries)} {words.plural(self.noun)}"
            )
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
        units = words.plural(self.noun)
        if check.method == NOTHING:
            return f"{check.name} is the same on all {words.count(check.queries)} {units}."
        if math.isnan(check.lower):
            return self._without_interval(check)
        proof = f", {self._p_value(check)}" if check.status == "fail" else ""
        ends = words.interval(check.lower, check.upper, digits=check.digits)
        interval = f"{words.percent(self.method.level)} interval {ends}"
        change = f"{check.name} changed by {words.number(check.difference, True, check.digits)} ({interval}{proof})"
        settle = ""
        if check.status == "cannot tell" and check.queries_needed is not None:
            needed = words.rounded(check.queries_needed, up=True)
            settle = f" About {needed} {units} would settle it; you have {words.count(check.queries)}."
        return f"{change}; the tolerance is {check.tolerance_in_words}.{settle}"

    def _without_interval(self, check: Check) -> str:
        return f"{check.name} changed by {words.number(check.difference, True, check.digits)}: {check.reason}."

    def _p_value(self, check: Check) -> str:
        return f"{words.p_value(check.p_value_adjusted)}{self._corrected}"

    def blocks(self, **_: Any) -> list[Shown]:
        """The verdict, the table of the checks, the cautions, what it rests on, and the exit code."""
        answer = [*map(Paragraph, self.sentences()), EMPTY, self.table(), EMPTY, *caution_block(self.warnings)]
        return [*answer, *self._small_print(), Paragraph(self._exit_line)]

    def document_blocks(self, **_: Any) -> list[Shown]:
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
        yield Paragraph(" · ".join(self._rules()), quiet=True)

    def _rules(self) -> Iterator[str]:
        """The rule in short, and where its sign is turned."""
        several = ", in every check" if len(self.checks) > 1 else ""
        floor = "below 0" if self.fail_on == "loss" else "below minus the tolerance"
        yield f"{self.candidate} against {self.baseline}"
        yield f"pass: the interval lies above minus the tolerance{several}"
        yield f"fail: the mean is {floor} by a {self.tests} test (p{self._corrected})"
        yield from self._remarks()
        if lower := dict.fromkeys(check.metric for check in self.checks if check.better == "lower"):
            yield f"{words.listing(lower)}: lower is better, so the sign is turned and a loss is negative"

    def _remarks(self) -> Iterator[str]:
        """What a subclass adds to the rule."""
        yield from ()

    @property
    def _exit_line(self) -> str:
        return f"exit {self.exit_code} ({', '.join(f'{code} {status}' for status, code in self.codes.items())})"
