"""What ``experiment`` gives: the check of the split, the verdict, a row a metric and variant, slices, and what to doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Chart, Column, Heading, NumberText, Paragraph, ValueRange
from rankscope.impressions import Log
from rankscope.inference.base import Bounds
from rankscope.logs.base import OnlineMetric, parse_online
from rankscope.logs.metrics import Quantile
from rankscope.logs.rollup import Units
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.experiments import SampleRatio
from rankscope.panels.families import Family
from rankscope.panels.method import Method
from rankscope.panels.variants import Variants
from rankscope.show.result import Col, Result, Shown, View, caution_block, input_record

WITHHELD = "withheld"


@dataclass(frozen=True)
class Role:
    """A metric's part in the verdict, and the loss that would be accepted of a guardrail: a number, or ``relative``, a share of the baseline."""

    part: Literal["primary", "secondary", "guardrail"] = "secondary"
    margin: float | None = None
    relative: bool = False


@dataclass(frozen=True, eq=False)
class Slice:
    """The variants on the primary metric within one value of an attribute."""

    attribute: str
    value: str
    metric: str
    contrasts: Sequence[Contrast]


def _signed(c: Contrast) -> str:
    return words.in_table(words.number(c.difference, sign=True, digits=c.panel.measure.decimals))


def _span(c: Contrast, bounds: Bounds) -> str:
    text = words.interval(bounds.lower, bounds.upper, sign=True, digits=c.panel.measure.decimals)
    return words.in_table(text) if bounds.known else ""


def _number(c: Contrast, value: float) -> NumberText:
    return NumberText(words.in_table(words.number(value, digits=c.panel.measure.decimals)), value)


def _lift(c: Contrast) -> str:
    value, _ = c.relative
    return words.relative(value) if words.finite(value) is not None else ""


def _lifts(c: Contrast) -> str:
    _, bounds = c.relative
    return f"{words.relative(bounds.lower)} to {words.relative(bounds.upper)}" if bounds.known else ""


def _of_contrast(found: Experiment) -> tuple[Col, ...]:
    return (
        Col("metric", head="metric"),
        Col("variant", of=lambda c: c.run, head="variant"),
        Col("baseline"),
        Col("role", of=found.part_of),
        Col("value", head="value", kind="value", cell=lambda c: _number(c, c.value)),
        Col("baseline_value", head=found.baseline, kind="value", cell=lambda c: _number(c, c.baseline_value)),
        Col("difference", head="difference", kind="value", cell=_signed),
        Col("ci_lower", "ci_upper", of=lambda c: (c.bounds.lower, c.bounds.upper), kind="value", head="interval", cell=lambda c: _span(c, c.bounds)),
        Col("relative", of=lambda c: c.relative[0], kind="value", head="lift", cell=_lift),
        Col("relative_ci_lower", "relative_ci_upper", of=lambda c: (c.relative[1].lower, c.relative[1].upper), kind="value", head="interval of lift", cell=_lifts),
        Col("p_value", kind="value"),
        Col("p_value_adjusted", kind="value", head="p, corrected" if any(c.comparisons > 1 for c in found.contrasts) else "p", cell=lambda c: words.p_cell(c.p_value_adjusted)),
        Col("verdict", of=found.verdict_of, head="verdict"),
        Col("test"),
        Col("units", of=lambda c: c.queries, kind="count"),
        Col("detectable_difference", of=lambda c: c.detectable.difference, kind="value"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Result):
    """Which variant is better for users, by how much, and whether that can be believed.

    ``found["B", "CTR"]`` is the contrast of a variant with the baseline. ``sample_ratio`` is the check of the split: where it fails,
    the verdicts are withheld and ``exit_code`` is 3. ``results`` is a Polars frame with a row a metric and variant.
    """

    variants: Variants
    roles: Mapping[OnlineMetric, Role]
    families: Sequence[Family]
    slices: Sequence[Slice]
    warnings: Sequence[Caution]
    method: Method

    schema = "experiment/1"
    views = (
        View("results", _of_contrast, lambda found: found.contrasts, labels=2),
        View(
            "variants",
            (
                Col("variant", of=lambda row: row[0], head="variant"),
                Col("units", of=lambda row: row[1], kind="count", head="units"),
                Col("share", of=lambda row: row[2], kind="value", head="share", cell=lambda row: words.share(row[2], 1)),
                Col("planned", of=lambda row: row[3], kind="value", head="planned", cell=lambda row: words.share(row[3], 1)),
            ),
            lambda found: found.split,
        ),
        View(
            "slices",
            (
                Col("attribute", of=lambda row: row[0].attribute, head="attribute"),
                Col("slice", of=lambda row: row[0].value, head="slice"),
                Col("metric", of=lambda row: row[0].metric),
                Col("variant", of=lambda row: row[1].run, head="variant"),
                Col("baseline", of=lambda row: row[1].baseline),
                Col("difference", of=lambda row: row[1].difference, kind="value", head="difference", cell=lambda row: _signed(row[1])),
                Col("ci_lower", "ci_upper", of=lambda row: (row[1].adjusted.lower, row[1].adjusted.upper), kind="value", head="interval", cell=lambda row: _span(row[1], row[1].adjusted)),
                Col("p_value", of=lambda row: row[1].p_value, kind="value"),
                Col("p_value_adjusted", of=lambda row: row[1].p_value_adjusted, kind="value", head="p, corrected", cell=lambda row: words.p_cell(row[1].p_value_adjusted)),
                Col("units", of=lambda row: row[1].queries, kind="count", head="units"),
                Col("verdict", of=lambda row: row[1].verdict, head="verdict"),
            ),
            lambda found: [(part, c) for part in found.slices for c in part.contrasts],
            labels=3,
            note="corrected over the slices of each attribute",
        ),
    )  # fmt: skip

    # -- what was compared --------------------------------------------------------------------------

    @property
    def log(self) -> Log:
        """What was read."""
        return self.variants.log

    @property
    def units(self) -> Units:
        """What the log was rolled up to."""
        return self.variants.arms.units

    @property
    def sample_ratio(self) -> SampleRatio:
        """How units were split over the variants, against the plan."""
        return self.variants.sample_ratio

    @property
    def adjustment(self) -> Mapping[str, Any]:
        """What was adjusted for."""
        return self.variants.adjustment.statement()

    @property
    def baseline(self) -> str:
        """The variant that others are compared with."""
        return self.variants.names[0]

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """Every variant against the baseline, the primary metric first."""
        return [c for family in self.families for c in family.contrasts]

    @property
    def primary(self) -> str:
        """The metric that decides."""
        return self.families[0].primary.name

    @property
    def split(self) -> list[tuple[str, int, float, float]]:
        """Each variant with its units, their share, and the share that was planned."""
        ratio = self.sample_ratio
        whole = sum(ratio.counts.values())
        return [(name, number, number / whole, ratio.expected[name]) for name, number in ratio.counts.items()]

    @property
    def exit_code(self) -> int:
        """0, or 3 where the split was not the one that was planned."""
        return 0 if self.sample_ratio.holds else 3

    @property
    def notes(self) -> Sequence[str]:
        """What was read, and how it was rolled up."""
        return self.variants.notes

    def part_of(self, c: Contrast) -> str:
        """The part of a contrast's metric in the verdict."""
        return next(role.part for metric, role in self.roles.items() if str(metric) == c.metric)

    def verdict_of(self, c: Contrast) -> str:
        """The verdict of a contrast: better, worse, cannot tell ...; withheld where the split was not as planned."""
        return c.verdict if self.sample_ratio.holds else WITHHELD

    def __getitem__(self, key: Any) -> Contrast:
        *variants, metric = key if isinstance(key, tuple) else (key,)
        name = str(parse_online(metric))
        chosen = [c for c in self.contrasts if c.metric == name and tuple(map(str, variants)) in {(), (c.run,)}]
        if len(chosen) != 1:
            known = "; ".join(f"{c.run}, {c.metric}" for c in self.contrasts[:6])
            raise KeyError(f"name the variant and the metric, like experiment['B', 'CTR']: there are {known}")
        return chosen[0]

    # -- for programs -------------------------------------------------------------------------------

    @property
    def conventions(self) -> dict[str, Any]:
        """How units were rolled up and compared."""
        return {
            "unit": self.units.noun, "baseline": self.baseline, "primary": self.primary,
            "test": "t (Welch)" if self.method.test is None else str(self.method.test),
            "interval_of_lift": "of the logarithm of the ratio (delta method)", "alpha": self.method.alpha,
            "correction": str(self.method.correction), "family": "the primary metric; all others together", **self.adjustment,
        }  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """The verdict, the check of the split, the conventions and what was read."""
        return {
            "verdict": list(self.sentences()),
            "conventions": self.conventions,
            "inputs": [input_record(self.log.source)],
            "sample_ratio": self.sample_ratio.record(),
        }  # fmt: skip

    def beside(self, **_: Any) -> Iterator[str]:
        """The views that JSON holds beside the contrasts."""
        yield "variants"
        if self.slices:
            yield "slices"

    # -- for people ---------------------------------------------------------------------------------

    def sentences(self) -> Iterator[str]:
        """The check of the split, then the verdict on the primary metric, guardrails, and what else is clear."""
        yield self.sample_ratio.sentence(self.units.noun)
        if not self.sample_ratio.holds:
            yield "The verdict is withheld; the numbers below are for finding out why."
            return
        first, *others = self.families
        for c in first.contrasts:
            yield c.sentence() + self._lift_of(c)
        guards = [c for family in others for c in family.contrasts if self.part_of(c) == "guardrail"]
        for c in guards:
            yield f"Guardrail: {c.sentence()}"
        rest = [
            c for family in others for c in family.contrasts if self.part_of(c) == "secondary" and c.verdict in CLEAR
        ]
        for c in rest:
            yield c.sentence() + self._lift_of(c)

    def _lift_of(self, c: Contrast) -> str:
        _, bounds = c.relative
        return f" Lift {_lift(c)} ({_lifts(c)})." if bounds.known else ""

    def blocks(self, **_: Any) -> list[Shown]:
        """The verdict, the table, slices, cautions, and how it was done."""
        blocks: list[Shown] = [*map(Paragraph, self.sentences()), EMPTY, self.table()]
        if self.slices:
            blocks += [EMPTY, Heading(f"{self.primary} within slices"), self.table("slices")]
        return [*blocks, EMPTY, *caution_block(self.warnings), Paragraph(" · ".join(self._small_print()), quiet=True)]

    def _small_print(self) -> Iterator[str]:
        yield f"by {self.units.noun}"
        yield "Welch's t test, delta method for ratios" if self.method.test is None else str(self.method.test)
        yield from self.variants.adjustment.remarks()
        if any(isinstance(metric, Quantile) for metric in self.roles):
            yield f"errors of quantiles by order statistics{', and no value of theirs is cut' if self.variants.adjustment.winsorise else ''}"
        if len(self.families) > 1 and self.method.correction.corrects:
            yield f"metrics beside {self.primary} are corrected together ({self.method.correction.name})"

    def charts(self) -> Iterator[Chart]:
        """The lift of each metric with its interval."""
        rows = []
        for c in self.contrasts:
            value, bounds = c.relative
            if bounds.known:
                rows.append(
                    (
                        ValueRange(100 * value, 100 * bounds.lower, 100 * bounds.upper),
                        c.metric if len(self.sample_ratio.counts) == 2 else f"{c.metric}, {c.run}",
                    )
                )
        if rows:
            yield Chart(
                "lifts", f"Lift against {self.baseline}", "intervals", (Column("lift in percent", "value"), Column("metric")), tuple(rows),
                x="lift in percent", y="metric", guide="zero", caption="The change as a share of the baseline's value, with its interval.",
            )  # fmt: skip
