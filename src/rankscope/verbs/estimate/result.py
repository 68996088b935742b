"""What ``estimate`` gives: the value of each policy by each estimator, what the log supports, and differences to the baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Chart, Column, Heading, NumberText, Paragraph, Value, ValueRange
from rankscope.estimators.base import Estimator
from rankscope.panels.contrast_result import WITH_MARGIN, ContrastResult, columns_named
from rankscope.panels.families import Family
from rankscope.panels.method import Method
from rankscope.panels.slices import SliceContrast
from rankscope.panels.validity import VALID, Validity
from rankscope.scoring.counterfactual import PolicyValue
from rankscope.scoring.events import LOGGED, EventLog
from rankscope.show.result import Col, Shown, View, caution_block, input_record

Bins = Sequence[tuple[float, float, int]]


def _diagnostic(name: str, head: str = "", **more: Any) -> Col:
    return Col(name, of=lambda row: getattr(row.support, name), head=head, **more)


def _count_cell(name: str) -> Any:
    def cell(row: PolicyValue) -> Value:
        number = getattr(row.support, name)
        return (
            None
            if math.isnan(number)
            else NumberText(words.amount(round(number, 1) if number < 100 else round(number)), number)
        )

    return cell


VALUES = (
    Col("policy", head="policy"),
    Col("estimator", of=lambda row: str(row.estimator), head="estimator"),
    Col("settled", of=lambda row: str(row.settled)),
    Col("value", of=lambda row: row.shown, head="value", kind="value", cell=lambda row: row.cell),
    Col("ci_lower", "ci_upper", of=lambda row: row.ends, head="interval", kind="value", cell=lambda row: row.interval_cell),
    _diagnostic("effective_sample_size", "effective n", kind="value", cell=_count_cell("effective_sample_size")),
    _diagnostic("effective_clicks", "effective clicks", kind="value", cell=_count_cell("effective_clicks")),
    _diagnostic("largest_share", kind="value"),
    _diagnostic("largest_weight", kind="value"),
    _diagnostic("weight_share", kind="value"),
    _diagnostic("mean_weight", kind="value"),
    _diagnostic("mean_weight_error", kind="value"),
    _diagnostic("unseen", kind="value"),
    _diagnostic("events", kind="count"),
    _diagnostic("units", kind="count"),
    _diagnostic("units_needed", kind="count"),
    Col("refused", of=lambda row: row.reason or None),
)  # fmt: skip


def _of_differences(found: Any) -> tuple[Col, ...]:
    several = any(c.comparisons > 1 for c in found.contrasts)
    return (
        *columns_named(
            "run", "baseline", "metric", "value", "baseline_value", "difference", "ci", "relative", "relative_ci", "p_value", "p_value_adjusted", "verdict",
            "test", "units", "ci_adjusted", "correction", "comparisons", run="policy", metric="estimator", value="", baseline_value="", relative="",
            relative_ci="", p_value_adjusted="p, corrected" if several else "p",
        ),
        *(Col(*col.names, of=col.of, kind=col.kind) for col in (columns_named(*WITH_MARGIN) if found.method.margin is not None else ())),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(ContrastResult):
    """The values that other policies would have had, by each estimator, and whether the log supports them.

    ``found["new", "SNIPS"]`` is the contrast of a policy with the baseline, ``value_of("new", "SNIPS")`` its value with interval and
    diagnostics. ``exit_code`` is 4 if an estimate was refused.
    """

    made: EventLog
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
    system: ClassVar[str] = "policy"
    views: ClassVar[tuple[View, ...]] = (
        View("results", VALUES, lambda found: found.distinct, labels=2),
        View("differences", _of_differences, lambda found: [c for c in found.contrasts if c.validity.holds], "Differences", labels=3,
             note=lambda found: f"Against {found.baseline}. Each policy earns on the same {words.plural(found.made.noun)}."),
        View("slices", (Col("attribute", head="slice"), Col("slice", of=lambda row: row.name, head="is"),
                        *columns_named("run", "baseline", "metric", "value", "baseline_value", "difference", "ci", "p_value", "p_value_adjusted", "verdict", at="contrast",
                                       run="policy", metric="", value="", baseline_value="", p_value_adjusted="p, corrected")),
             lambda found: found.slices, "Differences within slices", labels=3, held=lambda found: found.slices),
        View("weights", (Col("policy", of=lambda row: row[0], head="policy"), Col("from", "to", of=lambda row: row[1][:2], head="weight", cell=lambda row: _bin(row[1])),
                         Col("rows", of=lambda row: row[1][2], head="rows", kind="count")),
             lambda found: [(name, one) for name, bins in found.weights.items() for one in bins], "Weights", labels=2),
    )  # fmt: skip
    shown = ("", "differences", "slices")

    # -- values ---------------------------------------------------------------------------------------

    def value_of(self, policy: str, estimator: Any = None) -> PolicyValue:
        """Return the value of a policy by an estimator (by default the first). Raises KeyError for an unknown one."""
        name = self.spelling(estimator) if estimator is not None else str(self.values[0].estimator)
        for value in self.values:
            if value.policy == policy and str(value.estimator) == name:
                return value
        raise KeyError(
            f"{policy}, {name}: there are {words.listing(f'{one.policy}, {one.estimator}' for one in self.values)}"
        )

    @property
    def distinct(self) -> list[PolicyValue]:
        """All values, that of the policy that ran once for estimators that give it the same value."""
        seen: list[float] = []
        out = []
        for value in self.values:
            if value.policy == LOGGED:
                if any(math.isclose(value.value, other, rel_tol=1e-9) for other in seen):
                    continue
                seen.append(value.value)
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
            "baseline": self.baseline, "reward": self.made.reward, "unit": self.made.noun, "level": self.method.level,
            "interval": str(self.method.interval or "t"), "test": str(self.method.test or "t"), "correction": str(self.method.correction),
            "forced": self.forced, **({"model": self.model} if self.model else {}), **({"logging": self.logging} if self.logging else {}),
        }  # fmt: skip

    @property
    def notes(self) -> Sequence[str]:
        """Notes about the log, and rows that were left out."""
        return [*self.made.log.source.notes, *self.remarks]

    def json_header(self) -> Mapping[str, Any]:
        """The verdict, the conventions and the log."""
        return {
            "verdict": list(self.sentences()),
            "conventions": self.conventions,
            "inputs": [input_record(self.made.log.source)],
        }

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
            interval = (
                f"{words.percent(self.method.level)} interval {words.interval(*value.ends, digits=value.decimals)}"
                if value.bounds.known
                else f"no interval: {value.bounds.reason}"
            )
            yield f"Under {name} the mean {self.made.reward} would be {value.write(value.value)} by {lead} ({interval}){beside}."
            if self.families:
                for c in self.contrasts:
                    if c.run == name and c.metric == str(lead) and c.validity.holds:
                        yield f"Compared with {self.baseline}:{c.short_sentence().partition(':')[2]}"
        others = [value for value in self.values if value.refused and value.estimator != lead]
        if others:
            yield f"Also refused: {words.listing(dict.fromkeys(f'{value.policy} by {value.estimator}' for value in others))}."
        if not self.validity.holds:
            yield "The log does not support these estimates. --force prints them all the same."

    def blocks(self, **_: Any) -> list[Shown]:
        """The warnings first, then sentences, values, differences and slices."""
        cautions = [*caution_block(self.warnings), EMPTY] if self.warnings else []
        out: list[Shown] = [*cautions, *map(Paragraph, self.sentences()), EMPTY, self.table()]
        for name in ("differences", "slices"):
            table = self.table(name)
            if table.rows:
                out += [EMPTY, Heading(table.title), table]
        return [*out, EMPTY, Paragraph(" · ".join(self._small_print()), quiet=True)]

    def _small_print(self) -> Iterator[str]:
        events = self.made.events
        lists = len(events.starts) < events.count
        rows = words.counted(events.count, "row")
        yield f"{rows} of {words.counted(len(events.starts), 'list')}" if lists else rows
        if self.made.noun != "row":
            yield f"intervals over {words.counted(events.units, self.made.noun)}"
        else:
            yield "each row counts as one user: if users return, intervals are too narrow"
        yield words.counted(len(events.items), "item")
        if self.model:
            yield f"rewards predicted by {self.model}, across users"
        if self.forced:
            yield "estimates were forced"

    def charts(self) -> Iterator[Chart]:
        """The values with their intervals, and the weights of each policy."""
        drawn: list[tuple[Value, ...]] = []
        for value in self.values:
            if not value.refused and not (value.policy == LOGGED and value.estimator != self.values[0].estimator):
                name = LOGGED if value.policy == LOGGED else f"{value.policy}, {value.estimator}"
                known = value.bounds.known
                drawn.append((name, ValueRange(value.value, *value.ends) if known else value.value))
        if drawn:
            yield Chart(
                "estimates", "Estimated value of each policy", "intervals", (Column("policy"), Column(self.made.reward, "value")), tuple(drawn),
                x=self.made.reward, y="policy", caption="With intervals. The policy that ran needs no weights.", told=True,
            )  # fmt: skip
        rows = tuple((name, _bin(one), one[2]) for name, bins in self.weights.items() for one in bins)
        if rows:
            yield Chart(
                "weights", "Weights of logged rows", "bars", (Column("policy"), Column("weight"), Column("rows", "value")), rows, x="weight", y="rows",
                panel="policy" if len(self.weights) > 1 else "", caption="A few very large weights carry an estimate; weights of 0 mean rows that the policy would not show.",
            )  # fmt: skip


def _bin(one: tuple[float, float, int]) -> str:
    low, high, _ = one
    return (
        words.amount(low)
        if low == high
        else f"{words.amount(float(f'{low:.2g}'))} to {words.amount(float(f'{high:.2g}'))}"
    )
