"""The results of ``gate``, for two runs and for a log: the verdict, its words, the exit code, test cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Heading, NumberText, Paragraph
from rankscope.diagnostics.comparisons import NothingFoundInGate, NotPairedInGate, UndefinedInGate
from rankscope.diagnostics.inputs import MissingInCandidate
from rankscope.diagnostics.rule import active_cautions
from rankscope.experiments.arms import SampleRatio
from rankscope.experiments.plan import Look
from rankscope.impressions import Log
from rankscope.panels.method import FEWEST, Margin, Method, Validity
from rankscope.panels.panel import Panel
from rankscope.scoring.results import OfScores
from rankscope.scoring.scores import Scores
from rankscope.show.junit import JUnitCase, as_junit
from rankscope.show.result import Col, Result, Shown, View, caution_block, input_record
from rankscope.verbs.gate.baseline import StoredBaseline, provenance
from rankscope.verbs.gate.checks import FLIPS, LOSSES, NOTHING, Check, FailOn, Status

WORDS: dict[Status, str] = {"pass": "pass", "fail": "FAIL", "cannot tell": "cannot tell", "withheld": "WITHHELD"}
WORST: tuple[Status, ...] = ("withheld", "fail", "cannot tell", "pass")
MAX_SENTENCES = 3  # checks that do not pass which get a sentence
BOUND = (
    "instead of an interval, the largest share of queries that may lose (Clopper-Pearson) times the range of the metric"
)


def _interval_cell(check: Check) -> str:
    """Return the interval that decided, or the basis of a check without one."""
    lower, upper = check.deciding
    if not math.isnan(lower):
        return words.in_table(words.interval(lower, upper, True, check.digits))
    if check.method == LOSSES:
        return f"{LOSSES} {words.cell(-check.loss)}"
    return {NOTHING: "same", FLIPS: FLIPS}.get(check.method, "none")


def _columns(
    gate: GateResult, names: Sequence[Col], counts: Sequence[Col], needed: Col, more: Sequence[Col]
) -> tuple[Col, ...]:
    """Return the columns of a check, between those that tell which check it is and those of its counts."""
    return (
        *names,
        Col("slice", head="slice" if gate.has_slices else "", cell=lambda c: c.slice or "all"),
        Col("status", head="verdict", cell=lambda c: WORDS[c.status]),
        Col("difference", head="change", cell=lambda c: words.cell(c.difference, c.digits, sign=True), kind="value"),
        Col("ci_lower", "ci_upper", of=lambda c: (c.lower, c.upper), kind="value", head=f"{words.percent(gate.method.level)} interval", cell=_interval_cell),
        Col("tolerance", head="tolerance", kind="value", cell=lambda c: words.cell(c.tolerance, c.digits_of_tolerance)),
        Col("p_value", kind="value"),
        Col("test"),
        Col("p_value_adjusted", head="p", cell=lambda c: NumberText(words.p_cell(c.p_value_adjusted), c.p_value_adjusted), kind="value"),
        Col("ci_lower_adjusted", "ci_upper_adjusted", of=lambda c: (c.lower_adjusted, c.upper_adjusted), kind="value"),
        Col("value", "baseline_value", kind="value"),
        *counts,
        Col("method"),
        needed,
        Col("reason"),
        Col("better"),
        *more,
        Col("tolerance_said"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Result):
    """The result of every gate; true if it passes. ``codes`` are the exit codes it can have."""

    checks: Sequence[Check]
    baseline: str
    candidate: str
    method: Method
    fail_on: FailOn
    slice_notes: Sequence[str]

    schema = "gate/1"
    header: ClassVar[tuple[str, ...]] = ("status", "exit_code", "sentence", "rule", "settings", "conventions")
    settings: ClassVar[None] = None  # the command line has them in a file
    codes: ClassVar[Mapping[Status, int]] = {"pass": 0, "fail": 1, "cannot tell": 4}

    @property
    def noun(self) -> str:
        """The noun for a unit."""
        return "query"

    @cached_property
    def status(self) -> Status:
        """Fail if any check fails, pass if all pass, otherwise cannot tell."""
        return min((check.status for check in self.checks), key=WORST.index)

    @property
    def passed(self) -> bool:
        """True if every check passes."""
        return self.status == "pass"

    def __bool__(self) -> bool:
        """True if every check passes, so that ``assert gate(...)`` works."""
        return self.passed

    @property
    def exit_code(self) -> int:
        """0 for pass, 1 for fail, 4 for cannot tell, and 3 if units of an experiment were not split as planned or had several variants."""
        return self.codes[self.status]

    @property
    def nothing_changed(self) -> bool:
        """True if no unit changed in any metric."""
        return all(check.method == NOTHING for check in self.checks)

    @property
    def has_slices(self) -> bool:
        """True if there are checks of slices."""
        return any(check.slice is not None for check in self.checks)

    @property
    def queries(self) -> int:
        """The number of units with a value for both; for several metrics the largest."""
        return max(check.queries for check in self.checks)

    @property
    def tested(self) -> int:
        """The number of checks with a p-value, for which p-values are corrected. If almost nothing changed, there is no test."""
        return sum(not math.isnan(check.p_value) for check in self.checks)

    @property
    def tests(self) -> str:
        """The tests that gave the p-values."""
        known = dict.fromkeys(check.test for check in self.checks if not math.isnan(check.p_value))
        return ", ".join(known) or str(self.method.test or "t")

    # -- for programs -------------------------------------------------------------------------------

    @property
    def rule(self) -> dict[str, Any]:
        """The rule of the verdict, as JSON has it."""
        return {
            "fail_on": self.fail_on, "alpha": self.method.alpha, "interval": str(self.method.interval or "t"),
            "test": self.tests, "correction": str(self.method.correction), "comparisons": self.tested,
        }  # fmt: skip

    def json_document(self, *, settings: str = "", **options: Any) -> dict[str, Any]:
        """Return the verdict as JSON holds it; ``settings`` is the file of the project's settings."""
        return {**super().json_document(**options), "settings": settings or None}

    def to_junit(self) -> str:
        """Return the checks as JUnit XML: a failure for one that fails, skipped for one that cannot tell."""
        return as_junit("rankscope gate", list(self._cases()))

    def _cases(self) -> Iterator[JUnitCase]:
        for check in self.checks:
            text = self.sentence_of(check)
            open_ = f"{check.status}: {text}" if check.status in {"cannot tell", "withheld"} else ""
            yield JUnitCase(check.name, text, text * (check.status == "fail"), open_)

    # -- in words -----------------------------------------------------------------------------------

    @cached_property
    def sentence(self) -> str:
        """The verdict: the check that decides it, or the one that comes nearest to its tolerance."""
        word, number = WORDS[self.status], len(self.checks)
        if self.nothing_changed:
            metrics = words.listing(dict.fromkeys(check.metric for check in self.checks))
            units = (
                f"all {words.count(self.queries)} {words.plural(self.noun)}" if self.queries > 1 else f"the {self.noun}"
            )
            return (
                f"{word}: nothing changed: {self.candidate} scores the same as {self.baseline} on {units} ({metrics})."
            )
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
        """Yield the verdict, and the other checks that do not pass, worst first."""
        yield self.sentence
        rest = [check for check in self._worst_first[1:] if check.status != "pass"]
        yield from (f"{WORDS[check.status]}: {self.sentence_of(check)}" for check in rest[: MAX_SENTENCES - 1])
        if (more := len(rest) - MAX_SENTENCES + 1) > 0:
            yield f"{words.counted(more, 'more check')} {words.agree(more, 'does')} not pass."

    @property
    def _worst_first(self) -> list[Check]:
        return sorted(self.checks, key=lambda c: (WORST.index(c.status), c.margin))

    def sentence_of(self, check: Check) -> str:
        """Return one check in words."""
        units = words.plural(self.noun)
        if check.method == NOTHING:
            return f"{check.name} is the same on all {words.count(check.queries)} {units}."
        if math.isnan(check.lower):
            return self._without_interval(check)
        evidence, (lower, upper) = [], check.deciding
        if not math.isnan(lower):
            evidence.append(
                f"{words.percent(self.method.level)} interval {words.interval(lower, upper, digits=check.digits)}"
            )
        if check.status == "fail":
            evidence.append(self._p_value(check))
        change = f"{self._change(check)} ({', '.join(evidence)})"
        settle = ""
        if check.status == "cannot tell" and check.queries_needed is not None:
            needed = words.rounded(check.queries_needed, up=True)
            settle = f" About {needed} {units} would settle it, and you have {words.count(check.queries)}."
        return f"{change}, and the tolerance is {check.tolerance_in_words}.{settle}"

    def _without_interval(self, check: Check) -> str:
        return f"{self._change(check)}: {check.reason}."

    def _change(self, check: Check) -> str:
        return f"{check.name} changed by {words.number(check.difference, True, check.digits)}"

    def _p_value(self, check: Check) -> str:
        return f"{words.p_value(check.p_value_adjusted)}{self._corrected}"

    @property
    def _corrected(self) -> str:
        return self.method.corrected_for(max(1, self.tested), "check")

    def blocks(self, **_: Any) -> list[Shown]:
        """Return the verdict, the table of the checks, the cautions, the rule, and the exit code."""
        answer = [*map(Paragraph, self.sentences()), EMPTY, self.table(), EMPTY, *caution_block(self.warnings)]
        return [*answer, *self._quiet(), Paragraph(self._exit_line)]

    def document_blocks(self, **_: Any) -> list[Shown]:
        """Return the verdict for a page, such as the summary of a job."""
        return [
            Heading(f"rankscope gate: {self.status} ({self.candidate} against {self.baseline})"),
            *map(Paragraph, self.sentences()), self.table(),
            *(Paragraph(f"{w.code}: {w.message}; {w.hint}") for w in self.warnings), *self._quiet(),
            Paragraph(self._exit_line, quiet=True),
        ]  # fmt: skip

    def _quiet(self) -> list[Paragraph]:
        lines = (" · ".join(self._rules()), " · ".join(self.small_print()))
        return [Paragraph(line, quiet=True) for line in lines if line]

    def _rules(self) -> Iterator[str]:
        """Yield the rule in short, and the metrics with a turned sign."""
        several = ", in every check" if len(self.checks) > 1 else ""
        floor = "below 0" if self.fail_on == "loss" else "below minus the tolerance"
        yield f"{self.candidate} against {self.baseline}"
        yield f"pass: the interval is above minus the tolerance{several}"
        article = "an" if self.tests[0] in "aeiou" else "a"
        yield f"fail: the mean is {floor} by {article} {self.tests.replace('_', ' ')} test (p{self._corrected})"
        if self._corrected and any(check.status != "pass" and not math.isnan(check.lower) for check in self.checks):
            yield "intervals of checks that do not pass are corrected, as p is"
        yield from self._remarks()
        if lower := dict.fromkeys(check.metric for check in self.checks if check.better == "lower"):
            yield f"{words.listing(lower)}: lower is better, so the sign is turned and a loss is negative"

    def _remarks(self) -> Iterator[str]:
        """Yield the remarks that a subclass adds to the rule."""
        yield from ()

    @property
    def _exit_line(self) -> str:
        return f"exit {self.exit_code} ({', '.join(f'{code} {status}' for status, code in self.codes.items())})"


# --- two runs ---------------------------------------------------------------------------------------------


def _run_columns(gate: Gate) -> tuple[Col, ...]:
    runs = Col("run", "baseline", of=lambda _: (gate.candidate, gate.baseline))
    names = (runs, Col("metric", head="metric"))
    counts = (
        Col("loss", "loss_upper", kind="value"), Col("queries", "differing", kind="count"),
        *(Col(name, head=head, kind="count") for name, head in (("wins", "W"), ("losses", "L"), ("ties", "T"))),
    )  # fmt: skip
    more = Col("left_out", "differing_clusters", kind="count")
    return _columns(gate, names, counts, Col("queries_needed", kind="count"), [more])


@dataclass(frozen=True, eq=False, repr=False)
class Gate(GateResult, OfScores):
    """The verdict of a gate; true if it passes.

    ``status`` is pass, fail or cannot tell, ``exit_code`` 0, 1 or 4, and ``sentence`` the verdict in words. ``checks`` holds one
    check per metric and slice. ``scores`` are the runs evaluated here, ``stored_baseline`` is a baseline that was read as stored scores.
    """

    scores: Scores
    stored_baseline: StoredBaseline | None = None

    header = (*GateResult.header, "provenance", "data_health", "notes")
    views = (View("results", _run_columns, lambda gate: gate.checks, labels=lambda gate: 1 + gate.has_slices),)

    @property
    def provenance(self) -> dict[str, Any]:
        """The judgments, both runs and the version, with hashes of the files."""
        return provenance(self.scores, self.stored_baseline, (self.baseline, self.candidate))

    @property
    def notes(self) -> list[str]:
        """Messages about a stored baseline and about slices."""
        return [*([self.stored_baseline.note] if self.stored_baseline else []), *self.slice_notes]

    @cached_property
    def warnings(self) -> list[Caution]:
        """Problems to know before trusting the verdict."""
        cautions = [*self.scores.warnings, *self._lost_queries(), *self._left_out()]
        return active_cautions(cautions, self.scores.request.policies.ignore)

    def _lost_queries(self) -> Iterator[Caution]:
        """Yield a caution if only queries in common count: the queries that only the baseline answers would otherwise be losses."""
        evaluations = self.scores.evaluations
        if self.scores.request.statement_of("queries") != "both" or not evaluations:
            return
        lost = set(evaluations[-1].missing)
        lost = lost - evaluations[0].missing if self.stored_baseline is None else lost & self.stored_baseline.queries
        if lost:
            yield MissingInCandidate.caution(run=self.candidate, count=len(lost), baseline=self.baseline)

    def _left_out(self) -> Iterator[Caution]:
        queries = self.scores.request.statement_of("queries")
        rule = NotPairedInGate
        if self.scores.request.statement_of("nothing_found") != "metric":
            rule = NothingFoundInGate
        elif queries != "run" and (queries != "both" or self.stored_baseline is None):
            rule = UndefinedInGate
        for c in self.checks:
            if c.left_out and c.slice is None:
                yield rule.caution(
                    metric=c.metric, count=c.left_out, run=self.candidate, baseline=self.baseline, queries=c.queries
                )

    def _without_interval(self, check: Check) -> str:
        differ = f"{words.counted(check.queries, 'query')} {words.agree(check.differing, 'differs')}"
        text = f"{check.name}: {words.count(check.differing)} of {differ}"
        if check.differing_clusters is not None:
            text += f", in {words.counted(check.differing_clusters, 'cluster')}"
        even, tolerance = "by the same amount, " if check.method == FLIPS else "", check.tolerance_in_words
        if check.status == "fail":
            mean = words.number(check.difference, True, 4)
            return f"{text}, {even}{mean} in the mean ({self._p_value(check)}), and the tolerance is {tolerance}."
        loss = f"ignoring gains, the loss is {words.number(check.loss, digits=4)}"
        upper = words.number(check.possible_loss, digits=4)
        if check.status == "pass":
            return f"{text}; a loss above {upper} is ruled out, and the tolerance is {tolerance}. No interval was used."
        why = "too few for an interval" if check.few else f"{even}which has no interval" if even else "with no interval"
        return f"{text}, {why}; {loss}, and up to {upper} is not ruled out: the tolerance is {tolerance}. Judge more queries on which the two answer differently."

    def small_print(self) -> Iterator[str]:
        """Yield the conventions of the scores."""
        yield self.scores.request.small_print()

    def _remarks(self) -> Iterator[str]:
        bare = [c for c in self.checks if math.isnan(c.lower) and c.method != NOTHING]
        units = "queries" if all(check.differing_clusters is None for check in self.checks) else "clusters"
        if any(c.few for c in bare):
            yield f"fewer than {FEWEST} differing {units}: {BOUND}"
        if any(c.method == FLIPS for c in bare):
            yield f"all {units} changed by the same amount: sign flips and losses instead of an interval"
        if any(c.method == LOSSES and not c.few for c in bare):
            yield "these differences have no interval: losses only"
        if pooled := [str(m) for m in self.scores.metrics if m.aggregate == "pooled"]:
            yield f"{words.listing(pooled)}: queries win or lose by their contributions"


# --- the systems of a log ---------------------------------------------------------------------------------

Gated = tuple[Any, str | None, Panel, Method]  # metric, slice, panel, and the method on it


@dataclass(frozen=True)
class GatedKind:
    """Variants, policies or rankers: the word for one, the word for the check of the log, the reader of metrics, the usual tolerance."""

    name: str
    check: str
    read: Callable[[Any], Any]
    usual: Margin


@dataclass(frozen=True, eq=False)
class GatedLog:
    """The systems of a log, their panels on each metric, whole and within slices, and whether the log allows a verdict on each.

    ``check`` is the check of the log in words (the split, the mixing, the support), ``sound`` its outcome, ``record`` its numbers for programs.
    ``statement`` has conventions and ``remarks`` small print.
    """

    kind: GatedKind
    log: Log
    noun: str
    baseline: str
    panels: Sequence[Gated]
    method: Method
    validity: Mapping[str, Validity]
    notes: Sequence[str]
    cautions: Sequence[Caution]
    check: str
    sound: bool
    record: Mapping[str, Any]
    statement: Mapping[str, Any]
    remarks: Sequence[str]
    sample_ratio: SampleRatio | None = None
    look: Look | None = None

    @property
    def metrics(self) -> list[Any]:
        """Online metrics, estimators or a credit."""
        return list(dict.fromkeys(metric for metric, *_ in self.panels))


def _log_columns(gate: LogGate) -> tuple[Col, ...]:
    kind = gate.of.kind.name
    system = Col(kind, of=lambda c: c.variant or gate.candidate, head=kind if len(gate.candidates) > 1 else "")
    names = Col("metric", head="metric"), system, Col("baseline", of=lambda _: gate.baseline)
    counts = [Col("units", of=lambda c: c.queries, kind="count")]
    return _columns(gate, names, counts, Col("units_needed", of=lambda c: c.queries_needed, kind="count"), ())


@dataclass(frozen=True, eq=False, repr=False)
class LogGate(GateResult):
    """The verdict of a gate on a log: of an experiment, of interleaved lists, or of a policy and its targets. True if it passes.

    ``status`` is pass, fail, cannot tell or withheld; ``exit_code`` is 0, 1, 4 or, if withheld, 3 (units were not split as planned or had several
    variants, lists were mixed unfairly) or 4 (the log does not support an estimate). ``sentence`` gives the reason. ``checks`` holds one check per
    metric, system and slice. ``sample_ratio`` is the check of the split.
    """

    of: GatedLog
    candidates: Sequence[str]
    ignored: Collection[str] = frozenset()

    views = (
        View("results", _log_columns, lambda gate: gate.checks, labels=lambda gate: 1 + gate.has_slices + (len(gate.candidates) > 1)),
    )  # fmt: skip

    @property
    def codes(self) -> Mapping[Status, int]:  # type: ignore[override] # the code of a withheld verdict depends on the log
        """The exit codes that it can have."""
        withheld = max((check.contrast.validity.exit_code for check in self.checks), default=0)
        return {**GateResult.codes, "withheld": withheld or (4 if self.of.kind.check == "support" else 3)}

    noun = property(attrgetter("of.noun"), doc="The noun for a unit.")
    notes = property(attrgetter("of.notes"), doc="Messages about the log, the roll-up and slices.")

    @property
    def sample_ratio(self) -> SampleRatio | None:
        """The split of units over variants, or of first places over rankers, against the plan; None for policies."""
        return self.of.sample_ratio

    @cached_property
    def warnings(self) -> list[Caution]:
        """Problems to know before trusting the verdict."""
        return active_cautions(self.of.cautions, self.ignored)

    @property
    def conventions(self) -> dict[str, Any]:
        """The conventions of the roll-up and the comparison."""
        several = {"policy": "policies"}.get(self.of.kind.name, f"{self.of.kind.name}s")
        return {
            "unit": self.noun, "baseline": self.baseline, several: list(self.candidates), "test": str(self.method.test or "t"),
            "alpha": self.method.alpha, "correction": str(self.method.correction), "family": "all checks", **self.of.statement,
        }  # fmt: skip

    def json_header(self) -> dict[str, Any]:
        """Return the verdict, its rule, the check of the log, and the inputs."""
        more = {"inputs": [input_record(self.of.log.source)], **self.of.record, "notes": list(self.notes)}
        return {**super().json_header(), **more}

    def _cases(self) -> Iterator[JUnitCase]:
        yield JUnitCase(self.of.kind.check, self.of.check, "" if self.of.sound else self.of.check)
        yield from super()._cases()

    @cached_property
    def sentence(self) -> str:
        """The verdict: the reason if it is withheld, otherwise the check that decides."""
        if self.status != "withheld":
            return super().sentence
        return f"{WORDS['withheld']}: {self._worst_first[0].reason + '.' if self.of.sound else self.of.check}"

    def sentences(self) -> Iterator[str]:
        """Yield the verdict, the other checks that do not pass, and the check of the log."""
        if self.status == "withheld":
            yield self.sentence
            yield "The numbers below are for finding out why."
            return
        yield from super().sentences()
        if self.of.check:
            yield self.of.check

    def _change(self, check: Check) -> str:
        preference = self.of.kind.check == "mixing"
        return super()._change(check).replace("changed by", "is") if preference else super()._change(check)

    def _remarks(self) -> Iterator[str]:
        yield f"by {self.noun}"
        yield from self.of.remarks


ExperimentGate = LogGate  # the earlier public name
