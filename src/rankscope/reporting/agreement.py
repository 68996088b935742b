"""Whether what judgments say of a change and what users say of it point the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Chart, Column, Heading, Note, Notes, Paragraph, ValueRange
from rankscope.errors import InputError
from rankscope.panels.contrast import Contrast
from rankscope.panels.contrast_result import difference_cell, interval_cell, value_cell
from rankscope.reporting.causes import findings, findings_in_slices, usual_causes
from rankscope.reporting.pairing import Pairing, contrasts_of, pair_variants
from rankscope.show.result import Col, Result, Shown, View
from rankscope.syntax import in_caller_syntax
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.experiment.result import Experiment
from rankscope.verbs.experiment.tables import WITHHELD

Agrees = Literal["agree", "opposite", "cannot tell", "withheld"]
SIDES = ("offline", "online")
ALIKE = {"same", "equivalent"}
SEVERAL = 6  # other metrics that a sentence names


def agreement(
    comparison: Comparison, experiment: Experiment, *, variants: Mapping[str, str] | None = None
) -> OnlineAgreement:
    """Say whether a comparison of rankings and an experiment on the same change point the same way.

    ``comparison`` is what ``compare`` found, ``experiment`` what ``experiment`` found; the main metric of each decides, the others are shown
    beside it. ``variants`` says which run is which variant, ``{"dense": "treatment"}``: without it runs and variants of one
    name belong together, and of two and two the baselines do. Only verdicts that are clear are opposite; where an experiment is withheld,
    nothing is compared.

    Raises InputError where it cannot be known which run is which variant, and where two runs were not compared.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(12)}
    >>> low = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    >>> high = {query: {"a": 2.0, "b": 1.0} for query in qrels} | {"q7": {"b": 1.0}}
    >>> users = {"variant": ["A", "B"] * 500, "orders": [1, 2, 2, 1, 3, 1, 1, 1, 2, 1] * 100}
    >>> found = rs.agreement(rs.compare(qrels, {"A": low, "B": high}, "RR"), rs.experiment(users, "Mean(orders)"))
    >>> found["B"].offline.verdict, found["B"].online.verdict, found["B"].agrees
    ('better', 'worse', 'opposite')
    """
    for given, wanted in ((comparison, Comparison), (experiment, Experiment)):
        if not isinstance(given, wanted):
            raise InputError(
                f"a {type(given).__name__} stands where a {wanted.__name__} does: rs.agreement(rs.compare(...), rs.experiment(...))"
            )
    return OnlineAgreement(comparison, experiment, pair_variants(comparison, experiment, variants))


@dataclass(frozen=True, eq=False)
class BothVerdicts:
    """What judgments and users say of one ``variant``: the contrasts ``offline`` and ``online``, and whether they agree.

    ``decides`` tells that both are of the main metrics. ``withheld`` is true where users were not split as planned.
    """

    variant: str
    offline: Contrast
    online: Contrast
    decides: bool
    withheld: bool

    @property
    def agrees(self) -> Agrees:
        """``agree``, ``opposite``, ``cannot tell`` where one of them is not clear, or ``withheld``."""
        one, other = self.offline.verdict, self.online.verdict
        if self.withheld:
            return "withheld"
        if {one, other} <= {"better", "worse"}:
            return "agree" if one == other else "opposite"
        return "agree" if {one, other} <= ALIKE else "cannot tell"

    @property
    def online_verdict(self) -> str:
        """The verdict of users; withheld where they were not split as planned."""
        return WITHHELD if self.withheld else self.online.verdict


@dataclass(frozen=True, eq=False)
class SideOfChange:
    """What one side, ``offline`` or ``online``, says of a variant on one metric."""

    side: str
    variant: str
    contrast: Contrast
    verdict: str


def _ends(c: Contrast, relative: bool = False) -> tuple[float, float]:
    bounds = c.relative[1] if relative else c.bounds
    return bounds.lower, bounds.upper


def _of_side(name: str) -> Iterator[Col]:
    """The columns of one side of a row."""
    of = attrgetter(name)
    yield Col(f"{name}_metric", of=attrgetter(f"{name}.metric"), head=name)
    for part in ("value", "baseline_value"):
        yield Col(f"{name}_{part}", of=attrgetter(f"{name}.{part}"), kind="value")
    yield Col(f"{name}_difference", of=attrgetter(f"{name}.difference"), kind="value")
    yield Col(f"{name}_ci_lower", f"{name}_ci_upper", of=lambda row: _ends(of(row)), kind="value")
    for part in ("p_value", "p_value_adjusted"):
        yield Col(f"{name}_{part}", of=attrgetter(f"{name}.{part}"), kind="value")
    yield Col(
        f"{name}_verdict",
        of=lambda row: row.online_verdict if name == "online" else row.offline.verdict,
        head="verdict",
    )


def _columns(found: OnlineAgreement) -> tuple[Col, ...]:
    several = len(found.pairing.runs) > 2
    return (
        Col("variant", head="variant" if several else ""),
        Col("baseline", of=lambda _: found.pairing.baseline),
        Col("run", of=lambda row: row.offline.run),
        Col("baseline_run", of=lambda row: row.offline.baseline),
        *_of_side("offline"),
        *_of_side("online"),
        Col("queries", of=lambda row: row.offline.queries, kind="count"),
        Col("units", of=lambda row: row.online.queries, kind="count"),
        Col("role", of=lambda row: "primary" if row.decides else "secondary"),
        Col("agreement", of=lambda row: row.agrees, head="agreement"),
    )  # fmt: skip


def _side_columns(found: OnlineAgreement) -> tuple[Col, ...]:
    return (
        Col("side", head="side"),
        Col("variant", head="variant" if len(found.pairing.runs) > 2 else ""),
        Col("metric", of=lambda one: one.contrast.metric, head="metric"),
        Col("baseline_value", of=lambda one: one.contrast.baseline_value, kind="value", head=found.pairing.baseline, cell=lambda one: value_cell(one.contrast, one.contrast.baseline_value)),
        Col("value", of=lambda one: one.contrast.value, kind="value", head="value" if len(found.pairing.runs) > 2 else found.pairing.candidates[0], cell=lambda one: value_cell(one.contrast, one.contrast.value)),
        Col("difference", of=lambda one: one.contrast.difference, kind="value", head="difference", cell=lambda one: difference_cell(one.contrast)),
        Col("ci_lower", "ci_upper", of=lambda one: _ends(one.contrast), kind="value"),
        Col("ci_lower_adjusted", "ci_upper_adjusted", of=lambda one: (one.contrast.adjusted.lower, one.contrast.adjusted.upper), kind="value", head="interval",
            cell=lambda one: interval_cell(one.contrast)),
        Col("relative", of=lambda one: one.contrast.relative[0], kind="value"),
        Col("relative_ci_lower", "relative_ci_upper", of=lambda one: _ends(one.contrast, relative=True), kind="value"),
        Col("p_value", of=lambda one: one.contrast.p_value, kind="value"),
        Col("p_value_adjusted", of=lambda one: one.contrast.p_value_adjusted, kind="value", head="p", cell=lambda one: words.p_cell(one.contrast.p_value_adjusted)),
        Col("verdict", head="verdict"),
        Col("n", of=lambda one: one.contrast.queries, kind="count"),
        Col("unit", of=lambda one: one.contrast.panel.measure.unit),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class OnlineAgreement(Result):
    """Whether judgments and users say the same of a change.

    ``found["treatment"]`` has the verdicts on the main metrics for a variant, ``rows`` and ``results`` those on others, too: each offline metric beside
    the main online one, and each online metric beside the main offline one. ``comparison`` and ``experiment`` are what it rests on,
    ``pairing`` says which run is which variant.
    """

    comparison: Comparison
    experiment: Experiment
    pairing: Pairing

    schema = "agreement/1"
    views = (
        View("results", _columns, lambda found: found.both, labels=1),
        View("sides", _side_columns, lambda found: found.sides, "Side by side", labels=lambda found: 2 + (len(found.pairing.runs) > 2)),
    )  # fmt: skip

    # -- what each says -----------------------------------------------------------------------------

    @cached_property
    def both(self) -> list[BothVerdicts]:
        """The verdicts side by side, those that decide first: variant by variant."""
        withheld = not self.experiment.sample_ratio.holds
        out = []
        for variant in self.pairing.candidates:
            offline, online = self._offline(variant), self._online(variant)
            pairs = [
                (offline[0], online[0]),
                *((c, online[0]) for c in offline[1:]),
                *((offline[0], c) for c in online[1:]),
            ]
            out += [BothVerdicts(variant, *pair, decides=i == 0, withheld=withheld) for i, pair in enumerate(pairs)]
        return sorted(out, key=lambda row: not row.decides)

    @property
    def deciding(self) -> list[BothVerdicts]:
        """The verdicts on the main metrics, a variant each, the opposite ones first."""
        return sorted((row for row in self.both if row.decides), key=lambda row: row.agrees != "opposite")

    @property
    def sides(self) -> list[SideOfChange]:
        """Each side on each of its metrics, the main one first."""
        out = []
        for variant in self.pairing.candidates:
            out += [SideOfChange("offline", variant, c, c.verdict) for c in self._offline(variant)]
            out += [SideOfChange("online", variant, c, c.verdict) for c in self._online(variant)]
        return out

    @property
    def opposite(self) -> bool:
        """Whether the main metrics point in opposite directions for some variant."""
        return any(row.agrees == "opposite" for row in self.deciding)

    def _offline(self, variant: str) -> list[Contrast]:
        runs = self.pairing.runs
        by_metric = contrasts_of(self.comparison, runs[variant], runs[self.pairing.baseline])
        return [by_metric[metric] for metric in self.comparison.metrics]

    def _online(self, variant: str) -> list[Contrast]:
        return [c for c in self.experiment.contrasts if c.run == variant]

    def __getitem__(self, variant: Any) -> BothVerdicts:
        found = [row for row in self.deciding if row.variant == str(variant)]
        if not found:
            raise KeyError(f"no variant is called {variant}: there are {words.listing(self.pairing.candidates)}")
        return found[0]

    # -- for programs -------------------------------------------------------------------------------

    @property
    def notes(self) -> Sequence[str]:
        """What was read."""
        return [*self.comparison.notes, *self.experiment.notes]

    @property
    def warnings(self) -> Sequence[Caution]:
        """What to know before believing either."""
        return [*self.comparison.warnings, *self.experiment.warnings]

    @property
    def conventions(self) -> dict[str, Any]:
        """Which run is which variant, and how each was compared."""
        return {
            "runs": dict(self.pairing.runs),
            "offline": self.comparison.conventions,
            "online": self.experiment.conventions,
        }

    def json_header(self) -> dict[str, Any]:
        """The answer, what usually explains it, the conventions and what was read."""
        return {
            "verdict": list(self.sentences()),
            "opposite": self.opposite,
            "causes": [{"cause": note.text, "remedy": note.hint} for note in self.causes],
            "conventions": self.conventions,
            "inputs": [*self.comparison.json_header()["inputs"], *self.experiment.json_header()["inputs"]],
            "sample_ratio": self.experiment.sample_ratio.record(),
        }

    # -- for people ---------------------------------------------------------------------------------

    @cached_property
    def causes(self) -> list[Note]:
        """Where the two are opposite: what these data give to think, and what usually explains it."""
        found: list[Note] = []
        for row in self.deciding:
            if row.agrees == "opposite":
                found += findings(
                    row.offline, row.online, self._offline(row.variant)[1:], self._online(row.variant)[1:]
                )
                found += findings_in_slices(row.offline, row.online, self.comparison, self.experiment)
        notes = [*found, *usual_causes(self.comparison)] if self.opposite else []
        return [replace(note, text=in_caller_syntax(note.text), hint=in_caller_syntax(note.hint)) for note in notes]

    def sentences(self) -> Iterator[str]:
        """Whether the two agree, variant by variant; what other metrics say; the split; and which run was taken for which variant."""
        for row in self.deciding:
            yield self.headline(row)
            yield from self._beside(row)
        yield self.experiment.sample_ratio.sentence(self.experiment.units.noun)
        yield from self.pairing.remarks

    def headline(self, row: BothVerdicts, *, short: bool = False) -> str:
        """Whether offline and online agree on a variant, in a sentence with both differences; ``short`` leaves out their intervals."""
        said = _InWords(self.pairing.label(row.variant), self.pairing.label(self.pairing.baseline), short)
        one, other = row.offline, row.online
        first = said.verdict(one)
        if row.withheld:
            return f"Offline {first}; the online verdict is withheld, so the two are not compared."
        if row.agrees == "opposite":
            return f"Offline and online point in opposite directions: {first}, but {other.verdict} {said.on(other)}."
        if row.agrees == "agree":
            return f"Offline and online agree: {first}, and {said.on(other)}."
        clear = [c.verdict in {"better", "worse"} for c in (one, other)]
        if not any(clear):
            return f"Neither offline nor online says which is better: {first}; {said.unclear(other)}."
        text = f"{first}; {said.unclear(other)}" if clear[0] else f"{said.verdict(other)}; {said.unclear(one)}"
        return f"Only {SIDES[clear[1]]} is clear, so it is open whether the two agree: {text}."

    def _beside(self, row: BothVerdicts) -> Iterator[str]:
        """What the other metrics of each side say."""
        for side, others in zip(SIDES, (self._offline(row.variant)[1:], self._online(row.variant)[1:]), strict=True):
            if others and not (side == "online" and row.withheld):
                each = words.listing([f"{c.metric} {_short(c)}" for c in others], most=SEVERAL)
                yield f"Other {side} metrics: {each}."

    def blocks(self, **_: Any) -> list[Shown]:
        """The answer, both sides, the verdicts metric by metric, and what usually explains that they are opposite."""
        out: list[Shown] = [*map(Paragraph, self.sentences()), EMPTY, self.table("sides")]
        if len(self.both) > len(self.deciding):
            out += [EMPTY, Heading("Metric by metric"), self.table()]
        if self.causes:
            out += [EMPTY, Heading("What may explain it"), Notes(tuple(self.causes))]
        return out

    def charts(self) -> Iterator[Chart]:
        """The change on each metric as a share of the baseline, with its interval: so that both sides have one scale."""
        several = len(self.pairing.runs) > 2
        rows = []
        for one in self.sides:
            value, bounds = one.contrast.relative
            if bounds.known:
                name = f"{one.contrast.metric}, {one.variant}" if several else one.contrast.metric
                rows.append((ValueRange(100 * value, 100 * bounds.lower, 100 * bounds.upper), name, one.side))
        if rows:
            columns = Column("change in percent", "value"), Column("metric"), Column("side")
            yield Chart(
                "sides", f"Change against {self.pairing.label(self.pairing.baseline)}", "intervals", columns, tuple(rows),
                x="change in percent", y="metric", series="side", guide="zero", order=SIDES,
                caption="The change as a share of the baseline's value, with its interval: offline over queries, online over users.",
            )  # fmt: skip


@dataclass(frozen=True)
class _InWords:
    """Contrasts of a run with a baseline as parts of a sentence; ``short`` ones have no interval."""

    run: str
    baseline: str
    short: bool

    def evidence(self, c: Contrast) -> str:
        """The difference of a contrast, with its interval."""
        digits = c.panel.measure.decimals
        change = words.number(c.difference, sign=True, digits=digits)
        if self.short or not c.shown.known:
            return change
        ends = words.interval(c.shown.lower, c.shown.upper, digits=digits)
        return f"{change}, {words.percent(c.method.level)} interval {ends}"

    def on(self, c: Contrast) -> str:
        """On which metric, and by how much."""
        return f"on {c.metric} ({self.evidence(c)})"

    def verdict(self, c: Contrast) -> str:
        """A contrast as the beginning of a sentence."""
        if c.verdict in {"better", "worse"}:
            return f"{self.run} is {c.verdict} than {self.baseline} {self.on(c)}"
        how = {"same": "score the same", "equivalent": "are practically the same"}.get(c.verdict)
        return f"{self.run} and {self.baseline} {how} {self.on(c)}" if how else self.unclear(c)

    def unclear(self, c: Contrast) -> str:
        """A contrast that says of neither that it is better, in short."""
        return f"{c.metric} {_short(c)} ({self.evidence(c)})"


def _short(c: Contrast) -> str:
    """What a contrast says, as it stands after the name of its metric."""
    return {
        "better": "better", "worse": "worse", "same": "the same", "equivalent": "practically the same", "not worse": "not worse",
        "different": "has no better direction",
    }.get(c.verdict, "shows no clear difference")  # fmt: skip
