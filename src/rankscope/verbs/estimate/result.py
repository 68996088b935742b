"""What ``estimate`` gives: the value of each policy by each estimator, what the log supports, and differences to the baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Chart, Column, Kind, NumberText, Value
from rankscope.estimators.base import Estimator
from rankscope.panels.contrast_result import WITH_MARGIN, ContrastResult, columns_named
from rankscope.panels.families import Family, SliceContrast
from rankscope.panels.method import VALID, Method, Validity
from rankscope.scoring.counterfactual import PolicyValue
from rankscope.scoring.events import LOGGED, EventLog
from rankscope.show.result import Col, OfSource, Shown, View, caution_block

Bins = Sequence[tuple[float, float, int]]


def _diagnostic(name: str, head: str = "", kind: Kind = "value") -> Col:
    def cell(row: PolicyValue) -> Value:
        if math.isnan(number := getattr(row.support, name)):
            return None
        return NumberText(words.amount(round(number, 1 if number < 100 else None)), number)

    return Col(name, of=lambda row: getattr(row.support, name), head=head, kind=kind, cell=cell if head else None)


VALUES = (
    Col("policy", head="policy"),
    Col("estimator", of=lambda row: str(row.estimator), head="estimator"),
    Col("settled", of=lambda row: str(row.settled)),
    Col("value", of=lambda row: row.shown, head="value", kind="value", cell=lambda row: row.cell),
    Col("ci_lower", "ci_upper", of=lambda row: row.ends, head="interval", kind="value", cell=lambda row: row.interval_cell),
    _diagnostic("effective_sample_size", "effective n"), _diagnostic("effective_clicks", "effective clicks"),
    *map(_diagnostic, ("largest_share", "largest_weight", "weight_share", "mean_weight", "mean_weight_error", "unseen")),
    *(_diagnostic(name, kind="count") for name in ("events", "units", "units_needed")),
    Col("refused", of=lambda row: row.reason or None),
)  # fmt: skip


def _of_differences(estimates: Any) -> tuple[Col, ...]:
    several = any(c.comparisons > 1 for c in estimates.contrasts)
    return (
        *columns_named(
            "run", "baseline", "metric", "value", "baseline_value", "difference", "ci", "relative", "relative_ci", "p_value", "p_value_adjusted", "verdict",
            "test", "units", "ci_adjusted", "correction", "comparisons", run="policy", metric="estimator", value="", baseline_value="", relative="",
            relative_ci="", p_value_adjusted="p, corrected" if several else "p",
        ),
        *(Col(*col.names, of=col.of, kind=col.kind) for col in (columns_named(*WITH_MARGIN) if estimates.method.margin is not None else ())),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(ContrastResult, OfSource):
    """The values that other policies would have had, by each estimator, and whether the log supports them.

    ``found["new", "SNIPS"]`` is the contrast of a policy with the baseline, ``value_of("new", "SNIPS")`` its value with interval and
    diagnostics. ``exit_code`` is 4 if an estimate was refused.
    """

    event_log: EventLog
    values: Sequence[PolicyValue]
    families: Sequence[Family]
    warnings: Sequence[Caution]
    baseline: str
    how: Method
    slices: Sequence[SliceContrast] = ()
    remarks: Sequence[str] = ()
    weights: Mapping[str, Bins] = ()  # type: ignore[assignment]
    forced: bool = False
    model: str = ""
    logging: str = ""

    schema: ClassVar[str] = "estimate/1"
    source = property(attrgetter("event_log.log.source"), doc="The file or table of the log.")
    system: ClassVar[str] = "policy"
    views: ClassVar[tuple[View, ...]] = (
        View("results", VALUES, lambda estimates: estimates.distinct, labels=2),
        View("differences", _of_differences, lambda estimates: [c for c in estimates.contrasts if c.validity.holds], "Differences", labels=3,
             note=lambda estimates: f"Against {estimates.baseline}. Each policy earns on the same {words.plural(estimates.event_log.noun)}."),
        View("slices", (Col("attribute", head="slice"), Col("slice", of=lambda row: row.name, head="is"),
                        *columns_named("run", "baseline", "metric", "value", "baseline_value", "difference", "ci", "p_value", "p_value_adjusted", "verdict", at="contrast",
                                       run="policy", metric="", value="", baseline_value="", p_value_adjusted="p, corrected")),
             lambda estimates: estimates.slices, "Differences within slices", labels=3, held=lambda estimates: estimates.slices),
        View("weights", (Col("policy", of=lambda row: row[0], head="policy"), Col("from", "to", of=lambda row: row[1][:2], head="weight", cell=lambda row: _bin(row[1])),
                         Col("rows", of=lambda row: row[1][2], head="rows", kind="count")),
             lambda estimates: [(name, one) for name, bins in estimates.weights.items() for one in bins], "Weights", labels=2),
    )  # fmt: skip
    shown = ("", "differences", "slices")

    # -- values ---------------------------------------------------------------------------------------

    def value_of(self, policy: str, estimator: Any = None) -> PolicyValue:
        """Return the value of a policy by an estimator (by default the first). Raises KeyError for an unknown one."""
        name = self.spelling(estimator) if estimator is not None else str(self.values[0].estimator)
        by = {(value.policy, str(value.estimator)): value for value in self.values}
        if (policy, name) not in by:
            raise KeyError(f"{policy}, {name}: there are {words.listing(map(', '.join, by))}")
        return by[policy, name]

    @property
    def distinct(self) -> list[PolicyValue]:
        """All values, that of the policy that ran once for estimators that give it the same value."""
        out: list[PolicyValue] = []
        for value in self.values:
            same = (math.isclose(value.value, one.value, rel_tol=1e-9) for one in out if one.policy == LOGGED)
            if value.policy != LOGGED or not any(same):
                out.append(value)
        return out

    def spelling(self, metric: Any) -> str:
        """Return the canonical spelling of an estimator."""
        return str(Estimator.read(metric))

    @property
    def method(self) -> Method:
        """The intervals and the comparison of values."""
        return self.how

    @property
    def validity(self) -> Validity:
        """The support of the log for all estimates, with the first reason against it."""
        return next((family.validity for family in self.families if not family.validity.holds), VALID)

    # -- for programs ---------------------------------------------------------------------------------

    @property
    def conventions(self) -> dict[str, Any]:
        """The estimation and the comparison of values."""
        return {
            "baseline": self.baseline, "reward": self.event_log.reward, "unit": self.event_log.noun, "level": self.method.level,
            "interval": str(self.method.interval or "t"), "test": str(self.method.test or "t"), "correction": str(self.method.correction),
            "forced": self.forced, **({"model": self.model} if self.model else {}), **({"logging": self.logging} if self.logging else {}),
        }  # fmt: skip

    @property
    def notes(self) -> Sequence[str]:
        """Notes about the log, and rows that were left out."""
        return [*self.source.notes, *self.remarks]

    # -- for people -----------------------------------------------------------------------------------

    def sentences(self) -> Iterator[str]:
        """The value of each policy by the first estimator, the difference to the baseline, refusals."""
        lead = self.values[0].estimator
        own = {value.policy: value for value in self.values if value.estimator == lead}
        base = own[self.baseline]
        for name, value in own.items():
            if name == self.baseline:
                continue
            if value.refused:
                yield f"The estimate of {name} is refused: {value.reason}."
                continue
            as_logged = "as logged" if self.baseline == LOGGED else f"under {self.baseline}"
            beside = "" if base.refused else f"; {as_logged} it is {base.write(base.value)}"
            interval = f"no interval: {value.bounds.reason}"
            if value.bounds.known:
                ends = words.interval(*value.ends, digits=value.decimals)
                interval = f"{words.percent(self.method.level)} interval {ends}"
            yield f"Under {name} the mean {self.event_log.reward} would be {value.write(value.value)} by {lead} ({interval}){beside}."
            for c in self.contrasts if self.families else ():
                if c.run == name and c.metric == str(lead) and c.validity.holds:
                    yield f"Compared with {self.baseline}:{c.short_sentence().partition(':')[2]}"
        others = [value for value in self.values if value.refused and value.estimator != lead]
        if others:
            yield f"Also refused: {words.listing(dict.fromkeys(f'{value.policy} by {value.estimator}' for value in others))}."
        if not self.validity.holds:
            yield "The log does not support these estimates. --force prints them all the same."

    def blocks(self, **options: Any) -> list[Shown]:
        """The warnings first, then sentences, values, differences and slices."""
        cautions = [*caution_block(self.warnings), EMPTY] if self.warnings else []
        return [*cautions, *ContrastResult.blocks(replace(self, warnings=()), **options)]

    def small_print(self) -> Iterator[str]:
        """Yield the rows, units and items that estimates rest on."""
        events, noun = self.event_log.events, self.event_log.noun
        of_lists = "" if events.of_items else f" of {words.counted(len(events.starts), 'list')}"
        yield f"{words.counted(events.count, 'row')}{of_lists}"
        over = f"intervals over {words.counted(events.units, noun)}"
        yield over if noun != "row" else "each row counts as one user: if users return, intervals are too narrow"
        yield words.counted(len(events.items), "item")
        if self.model:
            yield f"rewards predicted by {self.model}, across users"
        if self.forced:
            yield "estimates were forced"

    def charts(self) -> Iterator[Chart]:
        """The values with their intervals, and the weights of each policy."""
        lead = self.values[0].estimator
        drawn = tuple(
            (LOGGED if one.policy == LOGGED else f"{one.policy}, {one.estimator}", one.bounds.around(one.value))
            for one in self.values if not one.refused and (one.policy != LOGGED or one.estimator == lead)
        )  # fmt: skip
        if drawn:
            yield Chart(
                "estimates", "Estimated value of each policy", "intervals", (Column("policy"), Column(self.event_log.reward, "value")), drawn,
                x=self.event_log.reward, y="policy", caption="With intervals. The policy that ran needs no weights.", told=True,
            )  # fmt: skip
        rows = tuple((name, _bin(one), one[2]) for name, bins in self.weights.items() for one in bins)
        if rows:
            yield Chart(
                "weights", "Weights of logged rows", "bars", (Column("policy"), Column("weight"), Column("rows", "value")), rows, x="weight", y="rows",
                panel="policy" if len(self.weights) > 1 else "", caption="A few very large weights carry an estimate; weights of 0 mean rows that the policy would not show.",
            )  # fmt: skip


def _bin(one: tuple[float, float, int]) -> str:
    low, high = one[:2]
    return words.amount(low) if low == high else " to ".join(words.amount(float(f"{end:.2g}")) for end in (low, high))
