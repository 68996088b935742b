"""What ``gate`` gives for two runs: its table, what it rests on, and what is said where no interval was used."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rankscope import words
from rankscope.blocks import Caution, NumberText, Paragraph
from rankscope.diagnostics.comparisons import NothingFoundInGate, NotPairedInGate, UndefinedInGate
from rankscope.diagnostics.inputs import MissingInCandidate
from rankscope.panels.method import FEWEST, Method
from rankscope.scoring.request import active_cautions
from rankscope.scoring.scores import OfScores, Scores
from rankscope.show.result import Col, View
from rankscope.verbs.gate.baseline import StoredBaseline, provenance
from rankscope.verbs.gate.checks import FLIPS, LOSSES, NOTHING, WORDS, Check, FailOn, GateResult

NO_PROMISE = (
    "no interval was used, and no error rate is promised: with so few differing queries a candidate that truly loses as much as "
    "the tolerance may pass in more than half of the cases"
)


def _change(check: Check) -> str:
    if not math.isnan(check.lower):
        return words.in_table(words.interval(check.lower, check.upper, True, 4))
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
        Col("test"),
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
class Gate(GateResult, OfScores):
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
        return active_cautions(found, self.scores.request.policies.ignore)

    def _lost_queries(self) -> Iterator[Caution]:
        """Where only queries in common count: those that only the baseline answers, which would else be losses."""
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

    def json_header(self) -> dict[str, Any]:
        """The verdict, its rule, and what it rests on."""
        return {
            **super().json_header(),
            "provenance": self.provenance,
            "data_health": self.scores.data_health,
            "notes": list(self.notes),
        }

    def _without_interval(self, check: Check) -> str:
        differ = f"{words.counted(check.queries, 'query')} {words.agree(check.differing, 'differs')}"
        text = f"{check.name}: {words.count(check.differing)} of {differ}"
        if check.differing_clusters is not None:
            text += f", in {words.counted(check.differing_clusters, 'cluster')}"
        even, tolerance = "by the same amount, " if check.method == FLIPS else "", check.tolerance_in_words
        if check.status == "fail":
            mean = words.number(check.difference, True, 4)
            return f"{text}, {even}{mean} in the mean ({self._p_value(check)}); the tolerance is {tolerance}."
        loss = f"ignoring gains, the loss is {words.number(check.loss, digits=4)}"
        if check.status == "pass":
            return f"{text}; {loss}, within the tolerance of {tolerance}. No interval was used."
        why = "too few for an interval" if check.few else f"{even}which has no interval" if even else "with no interval"
        return f"{text}, {why}; {loss}, above the tolerance of {tolerance}. Judge more queries on which the two answer differently."

    def _small_print(self) -> Iterator[Paragraph]:
        yield from super()._small_print()
        yield Paragraph(self.scores.request.small_print(), quiet=True)

    def _remarks(self) -> Iterator[str]:
        yield from self._without_intervals()
        if pooled := [str(m) for m in self.scores.metrics if m.aggregate == "pooled"]:
            usual = "" if self.method.test or self.method.interval else "by the bootstrap over queries; "
            yield f"{words.listing(pooled)}: {usual}queries win or lose by what they add"

    def _without_intervals(self) -> Iterator[str]:
        bare = [c for c in self.checks if math.isnan(c.lower) and c.method != NOTHING]
        units = "queries" if all(check.differing_clusters is None for check in self.checks) else "clusters"
        if any(c.few for c in bare):
            yield f"fewer than {FEWEST} differing {units}: the losses alone; {NO_PROMISE}"
        if any(c.method == FLIPS for c in bare):
            yield f"all {units} changed by the same amount: no interval, but sign flips and the losses alone"
        if any(c.method == LOSSES and not c.few for c in bare):
            yield "these differences have no interval: the losses alone"
