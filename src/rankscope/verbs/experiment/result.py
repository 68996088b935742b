"""The result of ``experiment``: the check of the split, the verdict, the decision, one row per metric and variant, slices, and what to doubt."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Chart, Column, Heading, Paragraph
from rankscope.experiments.arms import SampleRatio, name_of_test
from rankscope.experiments.heterogeneity import Heterogeneity, sentences_of_slices
from rankscope.experiments.plan import Look
from rankscope.experiments.roles import Role
from rankscope.experiments.variants import Variants
from rankscope.impressions import Log
from rankscope.inference.base import is_significant
from rankscope.inference.effects import Prior
from rankscope.logs.base import OnlineMetric, parse_online
from rankscope.logs.metrics import Quantile
from rankscope.logs.rollup import UnitTotals
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.contrast_result import ContrastResult, effects_drawn, lift_interval_in_words
from rankscope.panels.families import Family, SliceContrast
from rankscope.panels.method import ALTERNATIVES
from rankscope.show.result import Shown, input_record
from rankscope.verbs.experiment import beliefs
from rankscope.verbs.experiment.days import OverDays
from rankscope.verbs.experiment.tables import VIEWS

FEW_OPEN = 3  # variants that cannot be told from the baseline have a sentence each up to so many
WITHIN = frozenset({"equivalent", "not worse"})  # what a margin allows to be said


def _beyond_margin(c: Contrast, *, guards: bool = False) -> str:
    """What the margin adds to a sentence that does not mention it; empty if there is nothing to add."""
    margin, equivalence = c.margin, c.equivalence_adjusted
    if (
        c.verdict not in {"cannot tell", "worse"}
        or margin is None
        or equivalence is None
        or not math.isfinite(equivalence.lower)
    ):
        return ""
    if guards and c.not_worse is not None:
        p_value = c.p_of_margin(c.not_worse)
        if is_significant(c.not_worse, c.margin_alpha):
            return f" The loss is smaller than the accepted {c.margin_in_words} ({p_value})."
        return f" The {c.interval_of_margin} decides. A loss of {c.margin_in_words} or more cannot be ruled out ({p_value})."
    if c.verdict == "worse":
        return ""
    return f" They are not shown to be practically the same: the {c.interval_of_margin}, reaches beyond ±{c.margin_in_words}."


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(ContrastResult):
    """Which variant is better for users, by how much, and whether that can be believed.

    ``found["B", "CTR"]`` is the contrast of a variant with the baseline. ``sample_ratio`` is the check of the split: where it fails,
    the verdicts are withheld and ``exit_code`` is 3. ``results`` is a Polars frame with one row per metric and variant.
    """

    variants: Variants
    roles: Mapping[OnlineMetric, Role]
    families: Sequence[Family]
    slices: Sequence[SliceContrast]
    warnings: Sequence[Caution]
    prior: Prior | None = None
    heterogeneity: Sequence[Heterogeneity] = ()
    days: OverDays | None = None
    slice_notes: Sequence[str] = ()
    decide: bool = False
    look: Look | None = None

    schema = "experiment/1"
    system = "variant"
    views = VIEWS

    # -- what was compared --------------------------------------------------------------------------

    @property
    def log(self) -> Log:
        """What was read."""
        return self.variants.log

    @property
    def units(self) -> UnitTotals:
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

    @property
    def all_pairs(self) -> bool:
        """True if every variant is compared with every other, not only with the baseline."""
        return self.families[0].baseline is None

    def named(self, c: Contrast) -> str:
        """The variant of a contrast, or both variants if all pairs are compared."""
        return c.sides if self.all_pairs else c.run

    @property
    def split(self) -> list[tuple[str, int, float, float]]:
        """Each variant with its units, their share, and the share that was planned."""
        ratio = self.sample_ratio
        whole = sum(ratio.counts.values())
        return [(name, number, number / whole, ratio.expected[name]) for name, number in ratio.counts.items()]

    @property
    def notes(self) -> Sequence[str]:
        """What was read, how it was rolled up, and what slices leave out."""
        return [*self.variants.notes, *self.slice_notes]

    @property
    def guards(self) -> list[Contrast]:
        """Every variant on every guardrail."""
        return [c for c in self.contrasts if self.part_of(c) == "guardrail"]

    @property
    def decisions(self) -> list[Decision]:
        """The decision about each variant."""
        some = self.families[0].contrasts, self.guards
        return list(decisions(*([c for c in contrasts if c.baseline == self.baseline] for contrasts in some)))

    def _of_decision(self) -> Iterator[str]:
        rule = rule_in_words(self.primary, self.guards)
        yield from (decision.sentence(rule) for decision in self.decisions if self.decide)

    def part_of(self, c: Contrast) -> str:
        """The part of a contrast's metric in the verdict."""
        return next(role.part for metric, role in self.roles.items() if self.variants.name_of(metric) == c.metric)

    def error_shares(self, contrast: Contrast) -> tuple[Sequence[str], Any] | None:
        """The units of both variants and the share of each in the error of the difference."""
        metric = next(metric for metric in self.roles if self.variants.name_of(metric) == contrast.metric)
        return self.variants.error_shares(metric, contrast.run, contrast.baseline)

    def spelling(self, metric: Any) -> str:
        """Return the canonical spelling of an online metric."""
        return self.variants.name_of(parse_online(metric))

    # -- for programs -------------------------------------------------------------------------------

    @property
    def conventions(self) -> dict[str, Any]:
        """How units were rolled up and compared."""
        return {
            "unit": self.units.noun, "baseline": self.baseline, "primary": self.primary,
            **({"clusters": [*self.variants.clusters]} if self.variants.clusters else {}),
            "higher_assumed_better": [str(metric) for metric in self.roles if metric.assumes(self.log)],
            "pairs": "all" if self.all_pairs else "with the baseline", "test": name_of_test(self.method.test), "alternative": self.method.alternative,
            "interval_of_lift": "Fieller, with the error of the difference", "alpha": self.method.alpha,
            "correction": str(self.method.correction), "family": "the primary metric; each guardrail; all others together", **self.adjustment,
            **({"heterogeneity": "Cochran's Q with Welch's correction, corrected over attributes and variants"} if self.slices else {}),
            **({"change": "late less early half of the days, within units"} if self.days else {}),
            **({"prior": f"{self.prior}, of the logarithm of the ratio"} if self.prior else {}),
            **({"margin": margins} if (margins := {str(m): str(role.margin) for m, role in self.roles.items() if role.margin is not None}) else {}),
        }  # fmt: skip

    @property
    def changing(self) -> Mapping[str, Any]:
        """The unit, and the quantile at which values are cut."""
        return {"unit": self.units.noun, "winsorise": self.variants.adjustment.winsorise}

    def json_header(self) -> dict[str, Any]:
        """The verdict, the check of the split, the conventions and what was read."""
        return {
            "verdict": list(self.sentences()),
            "conventions": self.conventions,
            "inputs": [input_record(self.log.source)],
            "sample_ratio": self.sample_ratio.record(),
            **({} if self.look is None else {"look": self.look.record()}),
            **({"decision": [decision.record() for decision in self.decisions]} if self.decide else {}),
        }  # fmt: skip

    def extra_views(self, **_: Any) -> Iterator[str]:
        """Yield the views of JSON besides the contrasts."""
        yield "variants"
        if self.slices:
            yield from ("slices", "heterogeneity")
        if self.days is not None:
            yield from ("by_day", "cumulated", "change")

    # -- for people ---------------------------------------------------------------------------------

    def sentences(self) -> Iterator[str]:
        """Yield the check of the split, the verdict on the primary metric, guardrails, and all other clear verdicts."""
        yield self.sample_ratio.sentence(self.units.noun)
        if self.look is not None:
            yield self.look.sentence(self.units.noun)
        if not self.validity.holds:
            yield from self.withheld()
            yield from self._of_decision()
            return
        yield from self._of_primary()
        yield from self._of_others()
        yield from self._of_decision()
        for metric in self.assumed:
            yield f"{metric}: higher is assumed to be better. If lower is, write {metric.having(better='lower')}."

    @property
    def assumed(self) -> list[OnlineMetric]:
        """The metrics with a clear verdict and an assumed direction."""
        clear = {c.metric for c in self.contrasts if c.verdict not in {"cannot tell", "same", "equivalent"}}
        return [m for m in self.roles if m.assumes(self.log) and self.variants.name_of(m) in clear]

    def sentences_of_page(self) -> Iterator[str]:
        """The sentences of a page: the verdict on the primary metric first, unless the check of the split fails."""
        split, *rest = self.sentences()
        verdict = list(self._of_primary()) if self.validity.holds else []
        yield from (*verdict, split, *(text for text in rest if text not in verdict))

    def _of_primary(self) -> Iterator[str]:
        """The verdict on the primary metric, with one sentence for many variants without a clear difference."""
        contrasts = self.families[0].contrasts
        open_ones = [c for c in contrasts if c.verdict == "cannot tell" and c.bounds.known and not _beyond_margin(c)]
        together = open_ones if len(open_ones) > FEW_OPEN else []
        for c in contrasts:
            if c not in together:
                yield c.sentence() + self._lift_of(c) + _beyond_margin(c)
        if together:
            yield self._open(together)

    def _open(self, contrasts: Sequence[Contrast]) -> str:
        """That several variants cannot be told from the baseline, and between what their differences lie."""
        least, most = (f(contrasts, key=lambda c: c.difference) for f in (min, max))
        ends = words.interval(least.difference, most.difference, sign=True, digits=contrasts[0].panel.measure.decimals)
        p = min(c.p_value_adjusted for c in contrasts)
        return (
            f"No clear difference between {self._in(contrasts)} on {self.primary} "
            f"(differences {ends}, the smallest {words.p_value(p)}{self.method.corrected_for(contrasts[0].comparisons)})."
        )

    def _in(self, contrasts: Sequence[Contrast]) -> str:
        """The variants of contrasts, to follow "between"."""
        if self.all_pairs:
            return words.listing([f"{c.baseline} and {c.run}" for c in contrasts], most=12, last="or")
        return f"{self.baseline} and {words.listing([c.run for c in contrasts], most=12)}"

    def _of_others(self) -> Iterator[str]:
        """Yield guardrails, all other clear verdicts, and requested extras."""
        first, *others = self.families
        for c in self.guards:
            only_alarms = c.margin is None and c.verdict == "cannot tell"
            alarms = " It can only alarm: no accepted loss was given." if only_alarms else ""
            yield f"Guardrail: {c.sentence()}{_beyond_margin(c, guards=True)}{alarms}"
        for c in (c for family in others for c in family.contrasts if self.part_of(c) == "secondary"):
            if c.verdict in CLEAR | WITHIN:
                yield c.sentence() + (self._lift_of(c) if c.verdict in CLEAR else "")
        if self.days is not None:
            yield from self.days.sentences(self.method)
        yield from sentences_of_slices(self.heterogeneity, self.method)
        if self.prior is not None:
            yield from (beliefs.sentence(c, self.prior) for c in first.contrasts)
            yield beliefs.CAUTION

    def _lift_of(self, c: Contrast) -> str:
        value, bounds = c.relative_adjusted
        if bounds.known:
            return f" Lift {words.relative(value, bounds.ends)} ({lift_interval_in_words(bounds)})."
        return f" No interval of the lift: {bounds.reason}." if c.adjusted.known and bounds.reason else ""

    def body(self, **_: Any) -> Iterator[Sequence[Shown]]:
        """Yield the table, and requested extras: beliefs, days, slices."""
        yield [self.table()]
        if self.prior is not None and self.validity.holds:
            yield Heading(self.view("posterior").title), self.table("posterior")
        if self.days is not None:
            yield (Heading(f"{self.primary} by day"), self.table("by_day"), EMPTY, self.table("change"))
        if self.slices:
            tested = self.table("heterogeneity")
            shown: list[Shown] = [EMPTY, tested] if any(test.significant for test in self.heterogeneity) else []
            quiet: list[Shown] = [Paragraph(tested.note, quiet=True)] if tested.note and not shown else []
            yield Heading(f"{self.primary} within slices"), self.table("slices"), *shown, *quiet

    def small_print(self) -> Iterator[str]:
        """Yield the unit, the tests, the adjustment and the corrections."""
        yield f"by {self.units.noun}"
        if self.variants.clusters:
            yield f"clusters of {words.listing(self.variants.clusters)}, errors by leaving each out (jackknife)"
        yield "Welch's t test, delta method for ratios" if self.method.test is None else str(self.method.test)
        if self.method.one_sided:
            yield f"one-sided: {ALTERNATIVES[self.method.alternative]}, with {words.percent(self.method.level)} intervals"
        if dealt := [c.metric for c in self.contrasts if c.test == "permutation" and self.method.test is None]:
            yield f"{words.listing(dict.fromkeys(dealt), most=4)} by random deals of {words.plural(self.units.noun)} (permutation)"
        yield from self.variants.adjustment.remarks()
        if any(isinstance(metric, Quantile) for metric in self.roles):
            yield f"errors of quantiles by order statistics{', and no value of theirs is cut' if self.variants.adjustment.winsorise else ''}"
        parts = {role.part for role in self.roles.values()}
        if "guardrail" in parts:
            yield "guardrails are not corrected: every one must hold"
        if "secondary" in parts and self.method.correction.corrects:
            yield f"other metrics are corrected together ({self.method.correction.name})"
        if self.slices and self.days is not None and self.method.correction.corrects:
            yield "tests of slices and of days are corrected together"
        yield from self._rate_of_report(parts)

    def _rate_of_report(self, parts: Collection[str]) -> Iterator[str]:
        """Yield the chance of any false sentence, if several groups of tests each have an alpha of their own."""
        guards = sum(self.part_of(c) == "guardrail" for c in self.contrasts)
        groups = 1 + ("secondary" in parts) + guards + bool(self.heterogeneity or self.days)
        if groups > 1 and self.method.correction.corrects:
            yield f"without any difference, at most {words.percent(min(groups * self.method.alpha, 1.0))} of such reports have a false sentence"

    def charts(self) -> Iterator[Chart]:
        """The lift of each metric with its interval."""
        known = [c for c in self.contrasts if c.relative_adjusted[1].known]
        names = [c.metric if len(self.sample_ratio.counts) == 2 else f"{c.metric}, {self.named(c)}" for c in known]
        if rows := list(zip(effects_drawn(known)[1], names, strict=True)):
            yield Chart(
                "lifts", "Lift" if self.all_pairs else f"Lift against {self.baseline}", "intervals", (Column("lift in percent", "value"), Column("metric")), tuple(rows),
                x="lift in percent", y="metric", guide="zero", caption="The change as a share of the baseline's value, with its interval.",
            )  # fmt: skip
        if self.slices:
            yield self._forest()
        if self.days is not None:
            yield from self.days.chart()

    def _forest(self) -> Chart:
        """Return the lift of all units and within each slice, or the difference if a slice has no lift."""
        whole = [("all", c) for c in self.families[0].contrasts]
        parts = [*whole, *((f"{part.attribute}: {part.name}", part.contrast) for part in self.slices)]
        over, effects = effects_drawn([c for _, c in parts])
        rows = [(name, self.named(c), effect) for (name, c), effect in zip(parts, effects, strict=True)]
        return Chart(
            "slices", f"{over.split()[0].capitalize()} on {self.primary} within slices", "intervals",
            (Column("slice"), Column("variant"), Column(over, "value")), tuple(rows), x=over, y="slice",
            series="variant" if len(whole) > 1 else "", guide="zero",
            caption="With intervals corrected over all slices." if self.all_pairs else f"Against {self.baseline}, with intervals corrected over all slices.",
        )  # fmt: skip


@dataclass(frozen=True)
class Decision:
    """Whether to ship a ``variant``; ``reasons`` are the conditions of the rule that fail. Both rates are bounds of a false "ship".

    ``if_not_better`` holds if the variant is not better on the primary metric, ``if_too_bad`` if a guardrail loses the accepted amount.
    ``if_too_bad`` is None without accepted losses.
    """

    variant: str
    ship: bool
    reasons: tuple[str, ...]
    if_not_better: float
    if_too_bad: float | None

    def record(self) -> dict[str, Any]:
        """The decision for programs."""
        return {
            "variant": self.variant, "ship": self.ship, "reasons": list(self.reasons),
            "false_ship_if_not_better": self.if_not_better, "false_ship_if_guardrail_fails": self.if_too_bad,
        }  # fmt: skip

    def sentence(self, rule: str) -> str:
        """The rule, its outcome, and the rate of a false "ship"."""
        reasons = f", as {words.listing(self.reasons)}" if self.reasons else ""
        outcome = f"ship {self.variant}" if self.ship else f"do not ship {self.variant}{reasons}"
        more = ""
        if self.if_too_bad is not None:
            more = f", and {words.percent(self.if_too_bad)} if a guardrail loses the accepted amount"
        return (
            f"Decision: {outcome}. Rule: ship if {rule}. "
            f'A false "ship" has a chance of at most {words.percent(self.if_not_better)} if {self.variant} is not better{more}.'
        )


def rule_in_words(primary: str, guards: Sequence[Contrast]) -> str:
    """Return the conditions under which a variant ships."""
    parts = [f"better on {primary}"]
    for c in {c.metric: c for c in guards}.values():
        margin = c.method.margin_of(c.metric)
        parts.append(f"no clear loss on {c.metric}" if margin is None else f"not worse on {c.metric} by {margin}")
    return words.listing([*parts, "units split as planned"], most=20)


def decisions(primary: Sequence[Contrast], guards: Sequence[Contrast]) -> Iterator[Decision]:
    """Yield the decision about each variant: better on the primary metric, and every guardrail holds.

    Each test is at its own level: guardrails must all hold, so their number makes a false "ship" rarer, not more frequent.
    Source: Schultzberg, Ankargren and Frånberg, Risk-aware product decisions in A/B tests with multiple metrics, 2024.
    """
    for c in primary:
        mine = [guard for guard in guards if guard.run == c.run]
        reasons = [] if c.verdict == "better" else [_of_primary(c)]
        reasons += filter(None, map(_of_guard, mine))
        limited = any(guard.margin is not None for guard in mine)
        alpha = c.method.alpha
        if_not_better = alpha / (1 if c.method.one_sided else 2)
        yield Decision(c.run, not reasons, tuple(reasons), if_not_better, alpha if limited else None)


def _of_primary(c: Contrast) -> str:
    if c.verdict == "withheld":
        return c.validity.reason
    return f"it is {'worse' if c.verdict == 'worse' else 'not clearly better'} on {c.metric}"


def _of_guard(c: Contrast) -> str:
    """Return the reason why a guardrail does not hold, empty if it does."""
    if c.verdict in {"withheld", "better"}:
        return ""
    if c.margin is None:
        return f"{c.metric} is worse" if c.verdict == "worse" else ""
    holds = c.not_worse is not None and is_significant(c.not_worse, c.margin_alpha)
    return "" if holds or c.verdict == "same" else f"a loss of {c.margin_in_words} on {c.metric} is not ruled out"
