"""Whether what judgments say of a change and what users say of it point the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Chart, Column, Heading, Note, Notes, Paragraph
from rankscope.errors import InputError
from rankscope.inference.base import Bounds
from rankscope.panels.contrast import Contrast, contrast
from rankscope.panels.contrast_result import COLUMNS, columns_named, effects_drawn
from rankscope.show.result import Col, Result, Shown, View
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.experiment.result import Experiment
from rankscope.words import in_caller_syntax

UNJUDGED = "RS204"  # the warning that much of a top is not judged
MAX_SLICES_NAMED = 4  # slices that are named
USUAL = (
    Note("Position bias: users click the first and the attractive items, even if they are not useful",
        "look at clicks by position (rankscope online LOG --by position), and at satisfied clicks, after which users stayed"),
    Note("Other queries: the judged queries are not those that users ask",
        "weigh queries by how often they are asked (--weights), or judge a sample of the log's"),
    Note("Another goal: the metric counts ranks that users do not see, or ignores their wishes (price, freshness, variety)",
        "look at other cutoffs and metrics (rankscope advise QRELS RUN RUN)"),
    Note("More than the ranking changed: latency, layout, content next to it",
        "compare the lists of the variants with the judged runs"),
)  # fmt: skip


def findings(
    offline: Contrast, online: Contrast, others: Sequence[Contrast], online_others: Sequence[Contrast]
) -> Iterator[Note]:
    """Metrics of one side that clearly go the way of the other."""
    if with_users := [c.metric for c in others if c.verdict == online.verdict]:
        yield Note(
            f"{words.listing(with_users)} {words.agree(len(with_users), 'goes')} the way of {online.metric}",
            f"{offline.metric} may reward ranks that users do not see: look which metric foresaw earlier experiments before choosing the main one",
        )
    if with_judges := [c.metric for c in online_others if c.verdict == offline.verdict]:
        yield Note(
            f"Online, {words.listing(with_judges)} {words.agree(len(with_judges), 'goes')} the way of {offline.metric}",
            f"decide which of {words.listing([online.metric, *with_judges])} measures the goal. Clicks may fall if users find "
            "their answer sooner",
        )


def findings_in_slices(
    offline: Contrast, online: Contrast, comparison: Comparison, experiment: Experiment
) -> Iterator[Note]:
    """Slices of one side that clearly go the way of the other."""
    parts = comparison.slices.contrasts if comparison.slices else ()
    queries = [
        part.label
        for part in parts
        if part.contrast.metric == offline.metric
        and {part.contrast.run, part.contrast.baseline} == {offline.run, offline.baseline}
        and part.contrast.verdict == (online.verdict if part.contrast.run == offline.run else offline.verdict)
    ]
    users = [
        f"{part.attribute} {part.name}"
        for part in experiment.slices
        if part.contrast.run == online.run and part.contrast.verdict == offline.verdict
    ]
    for names, metric, to in ((queries, offline.metric, online.metric), (users, online.metric, offline.metric)):
        if names:
            yield Note(
                f"Within {words.listing(names, MAX_SLICES_NAMED)}, {metric} goes the way of {to}",
                "the mean hides two kinds of queries or users: look at these apart, and weigh them as they come in traffic",
            )


def usual_causes(comparison: Comparison) -> Iterator[Note]:
    """The most frequent explanations, each with the next place to look."""
    unjudged = [caution for caution in comparison.warnings if caution.code == UNJUDGED]
    if unjudged:
        yield from (Note(caution.message, caution.hint, caution.code) for caution in unjudged)
    else:
        yield Note(
            "Unjudged results: documents new in a ranking were never judged, and count as not relevant",
            "rankscope unjudged QRELS RUN RUN shows their possible effect",
        )
    yield from USUAL


# --- the run of each variant ---------------------------------------------------------------------------------------

NAMED = "give runs the names of their variants, like {example} on the command line, or say variants={{'run': 'variant'}} to rs.agreement"


@dataclass(frozen=True)
class Pairing:
    """The run of each variant, the baseline first; ``remarks`` name assumptions and variants that are left out."""

    runs: Mapping[str, str]
    remarks: tuple[str, ...] = ()

    @property
    def baseline(self) -> str:
        """The variant that others are compared with."""
        return next(iter(self.runs))

    @property
    def candidates(self) -> list[str]:
        """The variants that may replace it."""
        return list(self.runs)[1:]

    def label(self, variant: str) -> str:
        """A variant with its run, if that has another name."""
        run = self.runs[variant]
        return variant if run == variant else f"{run} ({variant})"


def pair_variants(comparison: Comparison, experiment: Experiment, matches: Mapping[str, str] | None = None) -> Pairing:
    """Find the run of each variant: as ``matches`` (by run), by name, or, of two and two, by which is the baseline."""
    variants, systems = experiment.variants.names, comparison.systems
    runs = _runs_by_variant(matches or {}, variants, systems)
    runs |= {name: name for name in variants if name in systems and name not in runs and name not in runs.values()}
    remarks: list[str] = []
    if len(variants) == len(systems) == 2 and len(runs) < 2:
        rest = [name for name in (comparison.baseline, *systems) if name not in runs.values()]
        left = [name for name in variants if name not in runs]
        guessed = dict(zip(left, dict.fromkeys(rest), strict=True))
        runs |= guessed
        remarks.append(
            f"Taken for granted: {words.listing([f'{run} is {variant}' for variant, run in guessed.items()])}."
        )
    baseline = variants[0]
    if baseline not in runs or len(runs) < 2:
        example = " ".join(f"{variant}=RUN" for variant in variants[:3])
        raise InputError(
            f"cannot match runs to variants: the runs are {words.listing(systems)}, the variants {words.listing(variants)}; "
            + NAMED.format(example=example)
        )
    if alone := [name for name in variants if name not in runs]:
        remarks.append(f"No run is called {words.listing(alone, last='or')}: left out here.")
    return Pairing({name: runs[name] for name in variants if name in runs}, tuple(remarks))


def _runs_by_variant(matches: Mapping[str, str], variants: Sequence[str], systems: Sequence[str]) -> dict[str, str]:
    """The run of each variant as stated, by run."""
    out: dict[str, str] = {}
    for run, variant in matches.items():
        if run not in systems:
            raise InputError(f"variants: unknown run {run!r}{words.hint(str(run), systems)}")
        if variant not in variants:
            raise InputError(f"variants: no variant is called {variant!r}{words.hint(str(variant), variants)}")
        if variant in out:
            raise InputError(f"variants: {out[variant]} and {run} are both {variant}: name one")
        out[variant] = run
    return out


def contrasts_of(comparison: Comparison, run: str, baseline: str) -> dict[str, Contrast]:
    """The contrast of two runs on each metric, this way round. Raises InputError if they were not compared."""
    out = {}
    for c in comparison.contrasts:
        if (c.run, c.baseline) == (run, baseline):
            out[c.metric] = c
        elif (c.run, c.baseline) == (baseline, run):
            out[c.metric] = mirror(c)
    if not out:
        raise InputError(
            f"{run} was not compared with {baseline}: compare runs with baseline={baseline!r}, or all_pairs"
        )
    return out


def mirror(c: Contrast) -> Contrast:
    """A contrast with the two systems in each other's place, corrected as it was."""
    ends = c.adjusted
    return replace(
        contrast(c.panel, c.baseline, c.run, c.method, c.validity), p_value_adjusted=c.p_value_adjusted, comparisons=c.comparisons,
        significant=c.significant, corrected_level=c.corrected_level, adjusted=Bounds(-ends.upper, -ends.lower, ends.method, ends.reason),
    )  # fmt: skip


# --- the agreement ------------------------------------------------------------------------------------------------

Agrees = Literal["agree", "opposite", "cannot tell", "withheld"]
SIDES = ("offline", "online")
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
    for result, wanted in ((comparison, Comparison), (experiment, Experiment)):
        if not isinstance(result, wanted):
            raise InputError(
                f"a {type(result).__name__} was given for a {wanted.__name__}: write rs.agreement(rs.compare(...), rs.experiment(...))"
            )
    return OnlineAgreement(comparison, experiment, pair_variants(comparison, experiment, variants))


@dataclass(frozen=True, eq=False)
class BothVerdicts:
    """The contrasts ``offline`` and ``online`` of one ``variant``; ``decides`` is true if both are on the main metrics."""

    variant: str
    offline: Contrast
    online: Contrast
    decides: bool

    @property
    def withheld(self) -> bool:
        """True if users were not split as planned."""
        return self.online.verdict == "withheld"

    @property
    def agrees(self) -> Agrees:
        """``agree``, ``opposite``, ``cannot tell`` if one of them is not clear, or ``withheld``."""
        both = {self.offline.verdict, self.online.verdict}
        if self.withheld:
            return "withheld"
        if both == {"better", "worse"}:
            return "opposite"
        return "agree" if both in ({"better"}, {"worse"}) or both <= {"same", "equivalent"} else "cannot tell"


@dataclass(frozen=True, eq=False)
class SideOfChange:
    """The contrast of a variant on one metric, on one side: ``offline`` or ``online``."""

    side: str
    variant: str
    contrast: Contrast

    @property
    def verdict(self) -> str:
        """The verdict of the contrast."""
        return self.contrast.verdict


def _of_side(side: str, name: str) -> Col:
    """Return a column of a contrast for one side of a row, with the side in its names."""
    column, contrast = COLUMNS[name], attrgetter(side)
    head = {"metric": side, "verdict": "verdict"}.get(name, "")
    return Col(
        *(f"{side}_{key}" for key in column.names), of=lambda row: column.of(contrast(row)), kind=column.kind, head=head
    )


def _columns(result: OnlineAgreement) -> tuple[Col, ...]:
    of_sides = ("metric", "value", "baseline_value", "difference", "ci", "p_value", "p_value_adjusted", "verdict")
    return (
        Col("variant", head="variant" if result.several else ""),
        Col("baseline", of=lambda _: result.pairing.baseline),
        Col("run", of=lambda row: row.offline.run),
        Col("baseline_run", of=lambda row: row.offline.baseline),
        *(_of_side(side, name) for side in SIDES for name in of_sides),
        Col("queries", of=lambda row: row.offline.queries, kind="count"),
        Col("units", of=lambda row: row.online.queries, kind="count"),
        Col("role", of=lambda row: "primary" if row.decides else "secondary"),
        Col("agreement", of=lambda row: row.agrees, head="agreement"),
    )


def _side_columns(result: OnlineAgreement) -> tuple[Col, ...]:
    names = (
        "metric", "baseline_value", "value", "difference", "ci", "ci_adjusted", "relative", "relative_ci", "p_value",
        "p_value_adjusted", "verdict",
    )  # fmt: skip
    value = "value" if result.several else result.pairing.candidates[0]
    heads = {"baseline_value": result.pairing.baseline, "value": value, "relative": "", "relative_ci": ""}
    return (
        Col("side", head="side"),
        Col("variant", head="variant" if result.several else ""),
        *columns_named(*names, at="contrast", **heads),
        Col("n", of=lambda one: one.contrast.queries, kind="count"),
        Col("unit", of=lambda one: one.contrast.panel.measure.unit),
    )


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
        View("results", _columns, lambda result: result.both, labels=1),
        View("sides", _side_columns, lambda result: result.sides, "Side by side", labels=lambda result: 2 + result.several),
    )  # fmt: skip

    # -- what each says -----------------------------------------------------------------------------

    @property
    def several(self) -> bool:
        """True if there are several variants beside the baseline."""
        return len(self.pairing.runs) > 2

    @cached_property
    def both(self) -> list[BothVerdicts]:
        """The verdicts side by side, first those that decide, by variant."""
        out = []
        for variant in self.pairing.candidates:
            offline, online = self._offline(variant), self._online(variant)
            pairs = [(c, online[0]) for c in offline] + [(offline[0], c) for c in online[1:]]
            out += [BothVerdicts(variant, *pair, decides=i == 0) for i, pair in enumerate(pairs)]
        return sorted(out, key=lambda row: not row.decides)

    @property
    def deciding(self) -> list[BothVerdicts]:
        """The verdicts on the main metrics, a variant each, the opposite ones first."""
        return sorted((row for row in self.both if row.decides), key=lambda row: row.agrees != "opposite")

    @property
    def sides(self) -> list[SideOfChange]:
        """Each side on each of its metrics, the main one first."""
        return [
            SideOfChange(side, variant, c)
            for variant in self.pairing.candidates
            for side, contrasts in zip(SIDES, (self._offline(variant), self._online(variant)), strict=True)
            for c in contrasts
        ]

    @property
    def opposite(self) -> bool:
        """Whether the main metrics point in opposite directions for some variant."""
        return any(row.agrees == "opposite" for row in self.deciding)

    def _offline(self, variant: str) -> list[Contrast]:
        runs = self.pairing.runs
        by_metric = contrasts_of(self.comparison, runs[variant], runs[self.pairing.baseline])
        return [by_metric[metric] for metric in self.comparison.metrics]

    def _online(self, variant: str) -> list[Contrast]:
        return [c for c in self.experiment.contrasts if c.run == variant and c.baseline == self.experiment.baseline]

    def __getitem__(self, variant: Any) -> BothVerdicts:
        rows = [row for row in self.deciding if row.variant == str(variant)]
        if not rows:
            raise KeyError(f"no variant is called {variant}: there are {words.listing(self.pairing.candidates)}")
        return rows[0]

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
        of_both = {"offline": self.comparison.conventions, "online": self.experiment.conventions}
        return {"runs": dict(self.pairing.runs), **of_both}

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
        """The reasons if the two are opposite: first those that these data show, then the usual ones."""
        possible: list[Note] = []
        for row in self.deciding:
            if row.agrees == "opposite":
                possible += findings(
                    row.offline, row.online, self._offline(row.variant)[1:], self._online(row.variant)[1:]
                )
                possible += findings_in_slices(row.offline, row.online, self.comparison, self.experiment)
        notes = [*possible, *usual_causes(self.comparison)] if self.opposite else []
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
        run, baseline = self.pairing.label(row.variant), self.pairing.label(self.pairing.baseline)
        one, other = row.offline, row.online
        first, on_other = _verdict(one, run, baseline, short), f"on {other.metric} ({_evidence(other, short)})"
        if row.withheld:
            return f"Offline {first}; the online verdict is withheld, so the two are not compared."
        if row.agrees == "opposite":
            return f"Offline and online point in opposite directions: {first}, but {other.verdict} {on_other}."
        if row.agrees == "agree":
            return f"Offline and online agree: {first}, and {on_other}."
        clear = [c.verdict in {"better", "worse"} for c in (one, other)]
        if not any(clear):
            return f"Offline and online are both unclear: {first}; {_unclear(other, short)}."
        second = _verdict(other, run, baseline, short)
        text = f"{first}; {_unclear(other, short)}" if clear[0] else f"{second}; {_unclear(one, short)}"
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
            out += [EMPTY, Heading("Possible explanations"), Notes(tuple(self.causes))]
        return out

    def charts(self) -> Iterator[Chart]:
        """The change on each metric as a share of the baseline, with its interval: so that both sides have one scale."""
        known = [one for one in self.sides if one.contrast.relative[1].known]
        effects = effects_drawn([one.contrast for one in known], corrected=False)[1]
        named = [f"{o.contrast.metric}, {o.variant}" if self.several else o.contrast.metric for o in known]
        if rows := [(effect, name, one.side) for effect, name, one in zip(effects, named, known, strict=True)]:
            columns = Column("change in percent", "value"), Column("metric"), Column("side")
            yield Chart(
                "sides", f"Change against {self.pairing.label(self.pairing.baseline)}", "intervals", columns, tuple(rows),
                x="change in percent", y="metric", series="side", guide="zero", order=SIDES,
                caption="The change as a share of the baseline's value, with its interval: offline over queries, online over users.",
            )  # fmt: skip


def _evidence(c: Contrast, short: bool) -> str:
    """Return the difference of a contrast, with its interval unless ``short``."""
    digits = c.panel.measure.decimals
    change = words.number(c.difference, sign=True, digits=digits)
    if short or not c.shown.known:
        return change
    ends = words.interval(c.shown.lower, c.shown.upper, digits=digits)
    return f"{change}, {words.percent(c.method.level)} interval {ends}"


def _verdict(c: Contrast, run: str, baseline: str, short: bool) -> str:
    """Return a contrast as the beginning of a sentence."""
    on = f"on {c.metric} ({_evidence(c, short)})"
    if c.verdict in {"better", "worse"}:
        return f"{run} is {c.verdict} than {baseline} {on}"
    how = {"same": "score the same", "equivalent": "are practically the same"}.get(c.verdict)
    return f"{run} and {baseline} {how} {on}" if how else _unclear(c, short)


def _unclear(c: Contrast, short: bool) -> str:
    """Return a contrast without a better system, in short."""
    return f"{c.metric} {_short(c)} ({_evidence(c, short)})"


def _short(c: Contrast) -> str:
    """What a contrast says, as it stands after the name of its metric."""
    return {
        "better": "better", "worse": "worse", "same": "the same", "equivalent": "practically the same", "not worse": "not worse",
        "different": "has no better direction",
    }.get(c.verdict, "shows no clear difference")  # fmt: skip
