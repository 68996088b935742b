"""What ``gate`` gives for the log of an experiment: the check of the split first, then a check a metric, variant and slice."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import Caution, NumberText
from rankscope.experiments.split import SampleRatio, name_of_test
from rankscope.experiments.variants import Variants
from rankscope.panels.method import Method
from rankscope.scoring.request import active_cautions
from rankscope.show.junit import JUnitCase
from rankscope.show.result import Col, View, input_record
from rankscope.verbs.gate.checks import CODES, NOTHING, WORDS, Check, FailOn, GateResult

SPLIT = "units were not split as planned"


def _change(check: Check) -> str:
    if math.isnan(check.lower):
        return "same" if check.method == NOTHING else "none"
    return words.in_table(words.interval(check.lower, check.upper, True, check.digits))


def _columns(gate: ExperimentGate) -> tuple[Col, ...]:
    several = len(gate.candidates) > 1
    return (
        Col("metric", head="metric"),
        Col("variant", of=lambda c: c.variant or gate.candidate, head="variant" if several else ""),
        Col("baseline", of=lambda _: gate.baseline),
        Col("slice", head="slice" if gate.has_slices else "", cell=lambda c: c.slice or "all"),
        Col("status", head="verdict", cell=lambda c: WORDS[c.status]),
        Col("difference", head="change", kind="value", cell=lambda c: words.cell(c.difference, c.digits, sign=True)),
        Col("ci_lower", "ci_upper", of=lambda c: (c.lower, c.upper), kind="value", head=f"{words.percent(gate.method.level)} interval", cell=_change),
        Col("tolerance", head="tolerance", kind="value", cell=lambda c: words.cell(c.tolerance, c.digits_of_tolerance)),
        Col("p_value", kind="value"),
        Col("test"),
        Col("p_value_adjusted", head="p", cell=lambda c: NumberText(words.p_cell(c.p_value_adjusted), c.p_value_adjusted), kind="value"),
        Col("value", kind="value"),
        Col("baseline_value", kind="value"),
        Col("units", of=lambda c: c.queries, kind="count"),
        Col("method"),
        Col("units_needed", of=lambda c: c.queries_needed, kind="count"),
        Col("reason"),
        Col("better"),
        Col("tolerance_said"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentGate(GateResult):
    """The verdict of a gate on the log of an experiment; true where it passes.

    ``status`` is pass, fail, cannot tell or, where units were not split as planned, withheld; ``exit_code`` is 0, 1, 4 or 3, and
    ``sentence`` says why. ``checks`` holds one check a metric, variant and slice. ``sample_ratio`` is the check of the split.
    """

    checks: Sequence[Check]
    variants: Variants
    candidates: Sequence[str]
    method: Method
    fail_on: FailOn = "loss"
    cautions: Sequence[Caution] = ()
    slice_notes: Sequence[str] = ()
    ignored: Collection[str] = frozenset()

    schema = "gate/1"
    codes: ClassVar = {**CODES, "withheld": 3}
    views = (
        View(
            "results",
            _columns,
            lambda gate: gate.checks,
            labels=lambda gate: 1 + gate.has_slices + (len(gate.candidates) > 1),
        ),
    )

    # -- what was gated -----------------------------------------------------------------------------

    @property
    def baseline(self) -> str:
        """The variant that others are compared with."""
        return self.variants.names[0]

    @property
    def candidate(self) -> str:
        """The variants that may replace it, as one name."""
        return words.listing(self.candidates, most=12)

    @property
    def noun(self) -> str:
        """What was given a variant."""
        return self.variants.noun

    @property
    def sample_ratio(self) -> SampleRatio:
        """How units were split over the variants, against the plan."""
        return self.variants.sample_ratio

    @property
    def notes(self) -> Sequence[str]:
        """What was read, how it was rolled up, and what to say of slices."""
        return [*self.variants.notes, *self.slice_notes]

    @cached_property
    def warnings(self) -> list[Caution]:
        """What to know before trusting the verdict."""
        return active_cautions(self.cautions, self.ignored)

    # -- for programs -------------------------------------------------------------------------------

    @property
    def conventions(self) -> dict[str, Any]:
        """How units were rolled up and compared."""
        return {
            "unit": self.noun, "baseline": self.baseline, "variants": list(self.candidates),
            "test": name_of_test(self.method.test), "alpha": self.method.alpha,
            "correction": str(self.method.correction), "family": "all checks", **self.variants.adjustment.statement(),
        }  # fmt: skip

    def json_header(self) -> dict[str, Any]:
        """The verdict, its rule, the check of the split, and what was read."""
        return {
            **super().json_header(),
            "inputs": [input_record(self.variants.log.source)],
            "sample_ratio": self.sample_ratio.record(),
            "notes": list(self.notes),
        }

    def _cases(self) -> Iterator[JUnitCase]:
        said = self.sample_ratio.sentence(self.noun)
        yield JUnitCase("sample ratio", said, "" if self.sample_ratio.holds else said)
        yield from super()._cases()

    # -- in words -----------------------------------------------------------------------------------

    @cached_property
    def sentence(self) -> str:
        """The verdict: the split where it is not as planned, else the check that decides."""
        if not self.sample_ratio.holds:
            return f"{WORDS['withheld']}: {self.sample_ratio.sentence(self.noun)}"
        return super().sentence

    def sentences(self) -> Iterator[str]:
        """The verdict, what else does not pass, and the check of the split."""
        if not self.sample_ratio.holds:
            yield self.sentence
            yield "The numbers below are for finding out why."
            return
        yield from super().sentences()
        yield self.sample_ratio.sentence(self.noun)

    def _remarks(self) -> Iterator[str]:
        yield f"by {self.noun}"
        yield from self.variants.adjustment.remarks()
