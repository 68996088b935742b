"""The result of everything that compares systems: one name, one scale and one form for each column of a contrast.

A verb that compares declares a subclass of ``ContrastResult`` with its ``families``, chooses columns with ``columns_named``, and adds
its own columns and sentences. Interval and p-value in print are the corrected ones, as the verdict is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar, cast

from rankscope import words
from rankscope.blocks import Caution, NumberText, Value, ValueRange
from rankscope.diagnostics.comparisons import (
    CutoffDecides,
    FewClusters,
    FewQueriesDecide,
    JointWithGaps,
    MetricsDisagree,
    NotPaired,
    OutOfReach,
    SliceReversed,
    TooEarly,
    TooFewDiffer,
    TooFewDraws,
)
from rankscope.inference.base import Bounds, Sample
from rankscope.lists import Array
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.families import Family, Slices
from rankscope.panels.method import FEWEST, Method, Validity
from rankscope.panels.panel import Panel
from rankscope.panels.samples import leaders
from rankscope.show.result import Col, Result

# --- cells ------------------------------------------------------------------------------------------------


def p_cell(value: float) -> Value:
    """Return a p-value for a table; None for NaN."""
    return None if math.isnan(value) else NumberText(words.p_cell(value), value)


def number_cell(text: str, value: float) -> Value:
    """Return a number with its text for a table; None if it is not finite."""
    return NumberText(words.in_table(text), value) if math.isfinite(value) else None


def value_cell(c: Contrast, value: float) -> Value:
    """Return a value of one system, with the decimals of the measure."""
    decimals = c.panel.measure.decimals
    return value if decimals is None else number_cell(words.number(value, digits=decimals), value)


def difference_cell(c: Contrast) -> Value:
    """Return the difference with its sign."""
    return number_cell(words.number(c.difference, sign=True, digits=c.panel.measure.decimals), c.difference)


def signed_cell(value: float) -> Value:
    """Return a difference beside values of four decimals, with its sign; None if it is not finite.

    >>> signed_cell(0.35824), signed_cell(-0.25)
    (NumberText(text='+0.3582', value=0.35824), NumberText(text='-0.2500', value=-0.25))
    """
    return number_cell(words.number(value, sign=True, digits=4), value)


def interval_cell(c: Contrast) -> Value:
    """Return the corrected interval of the difference; None if there is none."""
    bounds = c.shown
    if not bounds.known:
        return None
    digits = c.panel.measure.decimals
    text = words.in_table(words.interval(bounds.lower, bounds.upper, sign=True, digits=digits, apart=(0.0,)))
    return bounds.around(c.difference, text)


def lift_cell(c: Contrast) -> Value:
    """Return the lift; None if the difference has a corrected interval and the lift has none."""
    value, bounds = c.relative_adjusted
    return number_cell(words.relative(value, bounds.ends), value) if bounds.known or not c.bounds.known else None


def lift_interval_cell(c: Contrast, lift: tuple[float, Bounds] | None = None) -> Value:
    """Return the interval of a lift, by default the corrected one; None if there is none."""
    value, bounds = c.relative_adjusted if lift is None else lift
    return bounds.around(value, words.in_table(lift_interval_in_words(bounds))) if bounds.known else None


def effects_drawn(contrasts: Sequence[Contrast], corrected: bool = True) -> tuple[str, list[ValueRange | float]]:
    """Return the lifts of contrasts in percent with their intervals, or their differences if one has no lift; first the name of both."""
    lifts = [c.relative_adjusted if corrected else c.relative for c in contrasts]
    if all(bounds.known for _, bounds in lifts):
        return "lift in percent", [b.scaled(100).around(100 * value) for value, b in lifts]
    return "difference", [(c.adjusted if corrected else c.bounds).around(c.difference) for c in contrasts]


def lift_interval_in_words(bounds: Bounds) -> str:
    """Return the interval of a lift; empty if there is none."""
    return words.interval_of_change(*bounds.ends) if bounds.known else ""


# --- columns ----------------------------------------------------------------------------------------------


def _ends(bounds: Bounds) -> tuple[float, float]:
    return bounds.lower, bounds.upper


def _equivalence(name: str, of: str = "equivalence", suffix: str = "") -> Col:
    def value(c: Contrast) -> float | None:
        equivalence = getattr(c, of)
        return None if equivalence is None else float(getattr(equivalence, name.removeprefix("ci_")))

    return Col(f"equivalence_{name}{suffix}", of=value, kind="value", rare=True, fill=None)


COLUMNS: dict[str, Col] = {
    "run": Col("run", head="run"),
    "variant": Col("variant", of=lambda c: c.run, head="variant"),
    "baseline": Col("baseline"),
    "metric": Col("metric", head="metric"),
    "value": Col("value", kind="value", head="value", cell=lambda c: value_cell(c, c.value)),
    "baseline_value": Col("baseline_value", kind="value", head="baseline", cell=lambda c: value_cell(c, c.baseline_value)),
    "difference": Col("difference", kind="value", head="difference", cell=difference_cell),
    "ci": Col("ci_lower", "ci_upper", of=lambda c: _ends(c.bounds), kind="value", head="interval", cell=interval_cell),
    "ci_adjusted": Col("ci_lower_adjusted", "ci_upper_adjusted", of=lambda c: _ends(c.adjusted), kind="value"),
    "relative": Col("relative", of=lambda c: c.relative[0], kind="value", head="lift", cell=lift_cell),
    "relative_ci": Col(
        "relative_ci_lower", "relative_ci_upper", of=lambda c: _ends(c.relative[1]), kind="value", head="interval of lift",
        cell=lift_interval_cell,
    ),
    "relative_ci_adjusted": Col(
        "relative_ci_lower_adjusted", "relative_ci_upper_adjusted", of=lambda c: _ends(c.relative_adjusted[1]), kind="value"
    ),
    "p_value": Col("p_value", kind="value"),
    "p_value_adjusted": Col("p_value_adjusted", kind="value", head="p", cell=lambda c: p_cell(c.p_value_adjusted)),
    "test": Col("test"),
    "correction": Col("correction", of=lambda c: str(c.method.correction)),
    "comparisons": Col("comparisons", kind="count"),
    "units": Col("units", of=lambda c: c.queries, kind="count"),
    "queries": Col("queries", kind="count"),
    "verdict": Col("verdict", head="verdict"),
    "detectable": Col("detectable_difference", of=lambda c: c.detectable.difference, kind="value"),
    "margin": Col("margin", of=lambda c: c.equivalence and c.margin, kind="value", rare=True, fill=None),
    "equivalence_p_value": _equivalence("p_value"),
    "equivalence_ci_lower": _equivalence("ci_lower"),
    "equivalence_ci_upper": _equivalence("ci_upper"),
    "equivalence_ci_lower_adjusted": _equivalence("ci_lower", "equivalence_adjusted", "_adjusted"),
    "equivalence_ci_upper_adjusted": _equivalence("ci_upper", "equivalence_adjusted", "_adjusted"),
    "equivalence_level_adjusted": _equivalence("level", "equivalence_adjusted", "_adjusted"),
    "noninferiority_p_value": Col("noninferiority_p_value", of=lambda c: c.not_worse, kind="value"),
}  # fmt: skip
ENDS = ("equivalence_ci_lower", "equivalence_ci_upper")
WITH_MARGIN = ("margin", "equivalence_p_value", *ENDS, "noninferiority_p_value")
DECIDED = (*(f"{end}_adjusted" for end in ENDS), "equivalence_level_adjusted")


def columns_named(*names: str, at: str = "", **heads: str) -> tuple[Col, ...]:
    """Return columns of a contrast by their names in ``COLUMNS``; ``heads`` gives some of them another header, empty for none.

    ``at`` names the attribute of a row that holds its contrast, if the row is not the contrast itself.

    >>> [
    ...     column.head
    ...     for column in columns_named("variant", "difference", "p_value_adjusted", p_value_adjusted="p, corrected")
    ... ]
    ['variant', 'difference', 'p, corrected']
    """
    return tuple(column_at(COLUMNS[name], at, heads.get(name)) for name in names)


def column_at(column: Col, at: str = "", head: str | None = None) -> Col:
    """Return a column of a contrast for rows that hold the contrast as the attribute ``at``, with its own or another header."""
    inner: Callable[[Any], Any] = attrgetter(at) if at else lambda c: c
    return Col(
        *column.names, of=lambda row: column.of(inner(row)), cell=lambda row: column.cell(inner(row)),
        head=column.head if head is None else head, kind=column.kind, rare=column.rare, fill=column.fill,
    )  # fmt: skip


# --- the result -------------------------------------------------------------------------------------------


class ContrastResult(Result):
    """The result of a verb that compares systems.

    A subclass is a dataclass with a field or property ``families``: the first holds the primary metric. ``result["B", "CTR"]`` is the
    contrast of a system with the baseline, ``result["B", "A", "CTR"]`` that of two systems, ``result["CTR"]`` the only one on a metric.
    ``system`` is the field's word for a system. If the data allow no verdict, ``exit_code`` is that of the ``Validity`` of the families.
    """

    system: ClassVar[str] = "run"

    @property
    def _families(self) -> Sequence[Family]:
        return cast("Sequence[Family]", getattr(self, "families"))  # noqa: B009 - a field or a property of the subclass

    @cached_property
    def contrasts(self) -> Sequence[Contrast]:
        """Every system against its baseline on every metric, the primary metric first."""
        return [c for family in self._families for c in family.contrasts]

    def error_shares(self, contrast: Contrast) -> tuple[Sequence[str], Array] | None:
        """The units of both systems and the share of each in the error of the difference, for systems with units of their own; None if unknown."""
        return None

    @property
    def method(self) -> Method:
        """How systems were compared."""
        return self._families[0].method

    @property
    def panels(self) -> Sequence[Panel]:
        """The metrics, the primary one first."""
        return [panel for family in self._families for panel in family.panels]

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics, the primary one first."""
        return [panel.name for panel in self.panels]

    @property
    def primary(self) -> str:
        """The metric that decides."""
        return self._families[0].primary.name

    @property
    def systems(self) -> tuple[str, ...]:
        """All systems, the baseline among them."""
        return self._families[0].primary.systems

    @property
    def validity(self) -> Validity:
        """Whether the data allow a verdict, and if not, the reason."""
        return self._families[0].validity

    @property
    def exit_code(self) -> int:
        """0, or the exit code of the validity: 3 if the data refuse an answer."""
        return self.validity.exit_code

    @property
    def changing(self) -> Mapping[str, Any]:
        """The conventions that change differences: a subclass has its own. Differences under others are not the same quantity."""
        return {}

    @property
    def judgments_sha256(self) -> str | None:
        """The digest of the judgments; None without judgments."""
        return None

    def of(self, metric: str) -> list[Contrast]:
        """Return the contrasts on one metric."""
        return [c for c in self.contrasts if c.metric == metric]

    def spelling(self, metric: Any) -> str:
        """Return the name of a metric among ``metrics``; a subclass reads other spellings."""
        return str(metric)

    def __getitem__(self, key: Any) -> Contrast:
        *names, metric = key if isinstance(key, tuple) else (key,)
        contrasts = self.of(str(metric)) or self.of(self.spelling(metric))
        if not contrasts:
            raise KeyError(f"{metric} was not compared: there are {', '.join(self.metrics)}")
        systems = tuple(map(str, names))
        chosen = [c for c in contrasts if systems in {(), (c.run,), (c.run, c.baseline)}]
        if len(chosen) != 1:
            pairs = ", ".join(c.sides for c in contrasts[:5])
            name = type(self).__name__.lower()
            raise KeyError(
                f"name the {self.system} and the metric, like {name}[{contrasts[0].run!r}, {str(metric)!r}], or both {self.system}s "
                f"and the metric: there are {pairs}"
            )
        return chosen[0]

    def withheld(self) -> Iterator[str]:
        """Yield the sentence about a verdict that is withheld; nothing if the data allow one."""
        if not self.validity.holds:
            yield f"The verdict is withheld: {self.validity.reason}. The numbers below help to find out why."


FEW_DEGREES = 10.0  # below so many degrees of freedom the quantile of t grows fast
CARRIED = 0.05  # a lead carried by this share of the queries, or less, is told ...
FEWER = 0.5  # ... where that is this part, or less, of what carries such leads otherwise


def comparison_cautions(family: Family, slices: Slices | None = None, curve: Sequence[Panel] = ()) -> list[Caution]:
    """Return the cautions about a family of comparisons, by stable codes; ``curve`` is the primary metric at several cutoffs."""
    contrasts = family.contrasts
    return [
        *(_metrics_disagree(contrasts) if len(family.panels) > 1 else ()),
        *_cutoffs_disagree(curve, contrasts),
        *_few_queries_carry(contrasts),
        *(_slices_disagree(contrasts, slices) if slices else ()),
        *_few_queries_differ(contrasts),
        *_out_of_reach(family),
        *_left_out(contrasts),
        *(_runs_have_gaps(family) if family.method.correction.joint else ()),
        *(few_clusters(contrasts) if family.panels[0].clusters is not None else ()),
        *(_too_early(contrasts) if family.method.every_look else ()),
    ]


def _metrics_disagree(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    by_pair: dict[tuple[str, str], list[Contrast]] = {}
    for c in contrasts:
        by_pair.setdefault((c.run, c.baseline), []).append(c)
    for (run, baseline), clear in sorted(by_pair.items()):
        up = [c.metric for c in clear if c.verdict == "better"]
        down = [c.metric for c in clear if c.verdict == "worse"]
        if up and down:
            yield MetricsDisagree.caution(run=run, baseline=baseline, better=up, worse=down)


def _cutoffs_disagree(curve: Sequence[Panel], contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Warn if another system leads at another cutoff, and two of the leaders clearly differ."""
    leads: list[tuple[int, str]] = []
    for panel in curve:
        ahead = leaders(panel.means, panel.measure.better)
        if len(ahead) == 1:
            leads.append((int(panel.measure.metric.cutoff), ahead[0]))  # type: ignore[union-attr]
    spans = [(system, [k for k, _ in part]) for system, part in groupby(leads, key=lambda lead: lead[1])]
    systems = {system for system, _ in spans}
    if any(c.verdict in CLEAR and {c.run, c.baseline} <= systems for c in contrasts) and len(spans) > 1:
        name = str(curve[0].name).rpartition("@")[0]
        ranges = "; ".join(f"{system} at {words.listing(ks, most=20)}" for system, ks in spans)
        yield CutoffDecides.caution(metric=name, leads=ranges)


def _few_queries_carry(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    for c in contrasts:
        if c.verdict in CLEAR and c.favourable is not None and c.favourable[1] <= CARRIED:
            count, share = c.favourable
            usual = _usual_carriers(c)
            if count <= usual * FEWER:
                numbers = {"count": count, "queries": c.queries, "share": share, "usual": round(usual)}
                yield FewQueriesDecide.caution(contrast=c.title, **numbers)


def _usual_carriers(c: Contrast) -> float:
    """Return the queries that carry such a lead in normal differences, or if most differences have one size: the queries better less worse."""
    from rankscope.inference.effects import favourable_if_normal

    sample = c.paired.means
    ahead = abs(c.wins - c.losses) if (c.wins > c.losses) == c.is_gain else math.inf
    return min(favourable_if_normal(sample), ahead)


def _slices_disagree(contrasts: Sequence[Contrast], slices: Slices) -> Iterator[Caution]:
    """Warn if the whole improves and a slice worsens."""
    whole = {(c.run, c.baseline, c.metric): c for c in contrasts}
    for part in slices.contrasts:
        c, all_queries = part.contrast, whole[part.contrast.run, part.contrast.baseline, part.contrast.metric]
        if {all_queries.verdict, c.verdict} == {"better", "worse"}:
            yield SliceReversed.caution(
                run=c.run, baseline=c.baseline, metric=c.metric, verdict=all_queries.verdict, verdict_here=c.verdict,
                slice=part.label, difference=c.difference, queries=c.queries,
            )  # fmt: skip


def _few_queries_differ(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    few = [c for c in contrasts if c.few]
    if few:
        c = few[0]
        yield TooFewDiffer.caution(
            run=c.run, baseline=c.baseline, metric=c.metric, differing=c.differing, queries=c.queries, fewest=FEWEST,
            more=len(few) - 1 or None,
        )  # fmt: skip


def _out_of_reach(family: Family) -> Iterator[Caution]:
    """Warn if no p-value that the test can give is small enough for the correction."""
    correction, alpha = family.method.correction, family.method.alpha
    least = 1 / (getattr(correction, "rounds", math.inf) + 1)
    if correction.joint and least > alpha:
        name, rounds = type(correction).__name__, str(math.ceil(20 / alpha))
        yield TooFewDraws.caution(correction=correction, name=name, smallest=least, alpha=alpha, rounds=rounds)
    lost = [c for c in family.contrasts if c.smallest * c.comparisons > alpha and c.differing and not c.few]
    if lost and correction.least:
        c = lost[0]
        counts = {"differing": c.differing, "comparisons": c.comparisons}
        yield OutOfReach.caution(test=c.test, smallest=c.smallest, **counts, alpha=alpha, metric=c.metric)


def _left_out(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Warn if some queries have a value for one system only."""
    seen = set()
    for c in contrasts:
        without = c.pair.undefined_for_one
        if without and c.metric not in seen:
            seen.add(c.metric)
            yield NotPaired.caution(metric=c.metric, count=without, run=c.run, baseline=c.baseline, queries=c.queries)


def _runs_have_gaps(family: Family) -> Iterator[Caution]:
    """Warn if a joint correction, which needs a value of every run, sees fewer queries than a pair does."""
    for panel in family.panels:
        whole = panel.complete.shape[1]
        most = max((c.queries for c in family.of(panel.name)), default=0)
        if whole < most:
            correction = family.method.correction
            yield JointWithGaps.caution(metric=panel.name, correction=correction, complete=whole, queries=most)


def few_clusters(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Warn if clusters are too few or too uneven for a good estimate of the error between them."""
    least = min((c.pair.means for c in contrasts if c.queries), key=lambda sample: sample.freedom, default=None)
    if isinstance(least, Sample) and least.freedom < FEW_DEGREES:
        size = None if least.shares is None else float(least.shares.max())
        weighted = least.weights is not None and least.weights.min() < least.weights.max()
        freedom = least.groups - 1 if least.shares is None else words.number(least.freedom, digits=1)
        yield FewClusters.caution(
            queries=least.count, clusters=least.groups, size=None if weighted else size, weight=size if weighted else None,
            freedom=freedom, unit="degree" if freedom == 1 else "degrees",
        )  # fmt: skip


def _too_early(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Warn if a sequential test has seen too few queries to estimate the spread of differences."""
    test, c = contrasts[0].method.test, min(contrasts, key=lambda c: c.queries)
    if test is not None and c.queries < test.needs_many:
        yield TooEarly.caution(test=test, queries=c.queries)
