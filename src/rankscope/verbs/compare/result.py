"""What ``compare`` gives: the verdict first, then the tables, who is tied for first, the doubts, the conventions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankscope import words
from rankscope.blocks import Caution, Chart, Heading, Paragraph, Table, Value
from rankscope.diagnostics.rule import active_cautions
from rankscope.metrics import spelled
from rankscope.panels.contrast import Contrast
from rankscope.panels.contrast_result import ContrastResult, column_at, comparison_cautions, p_cell
from rankscope.panels.families import Family, SliceContrast, Slices, TopGroup, anova_of, discriminative_power
from rankscope.panels.panel import Panel
from rankscope.panels.risk import NOTE, Risk, risks_of
from rankscope.scoring.measurements import Measurements
from rankscope.scoring.policies import POLICIES
from rankscope.scoring.scores import Scores
from rankscope.show.result import FORMATS, Col, Shown, View, input_record
from rankscope.verbs.compare.tables import (
    FEW,
    LEGEND,
    ROOM,
    board,
    columns_of,
    contrast_table,
    effects_table,
    how,
    paper_table,
    record_columns,
    slice_board,
    slice_table,
    value_range,
)

if TYPE_CHECKING:
    from rankscope.panels.tradeoffs import TradeOffs

NAMED = 12  # runs of a top group that a table names


def _risk_interval(risk: Risk) -> Value:
    text = words.in_table(words.interval(*risk.bounds.ends, sign=True, apart=(0.0,)))
    return risk.bounds.around(risk.value, text) if risk.bounds.known else None


def _slice_columns(comparison: Comparison) -> tuple[Col, ...]:
    labels = (Col("attribute", of=lambda part: part.attribute), Col("slice", of=lambda part: part.name))
    return (*labels, *(column_at(column, "contrast", "") for column in record_columns(comparison.family)))


def _means(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for panel in comparison.panels:
        for system in panel.systems:
            sample, bounds = panel.estimate(system), panel.interval(system, comparison.method.level)
            row = {"run": system, "metric": panel.name, "value": sample.mean}
            yield {**row, "bounds": bounds, "queries": sample.count}


def _replicates(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """The variances of each system that ran several times: between queries, and between its runs."""
    for metric, by_system in comparison.measurements.replicates.items():
        for system, r in by_system.items() if metric in comparison.metrics else ():
            yield {"run": system, "metric": metric, "of": r}


def _anovas(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for panel in comparison.panels:
        anova = anova_of(panel)
        if anova is not None:
            yield {"metric": panel.name, "of": anova}


VIEWS = (
    View("results", lambda comparison: record_columns(comparison.family), lambda comparison: comparison.contrasts),
    View(
        "means",
        (
            Col("run", head="run"), Col("metric", head="metric"), Col("value", kind="value", head="mean"),
            Col("ci_lower", "ci_upper", of=lambda row: (row["bounds"].lower, row["bounds"].upper), kind="value", head="interval", cell=lambda row: value_range(row["value"], row["bounds"])),
            Col("interval", of=lambda row: row["bounds"].method), Col("queries", kind="count", head="queries"),
        ),
        _means,
        labels=2,
    ),
    View(
        "top_groups",
        (
            Col("metric", head="metric"), Col("best", of=lambda group: group.systems[0], head="best"),
            Col("systems", of=lambda group: list(group.systems), head="tied with it", wraps=True,
                cell=lambda group: words.listing(group.systems[1:], NAMED) or "none"),
            Col("of", kind="count"),
            Col(head="runs", kind="count", cell=lambda group: len(group.systems), hint="how many are in the top group"),
        ),
        lambda comparison: comparison.groups,
    ),
    View(
        "anova",
        (
            Col("metric", head="metric"), Col("F", of=lambda row: row["of"].F, kind="value", head="F"),
            Col("p_value", of=lambda row: row["of"].p_value, kind="value", head="p", cell=lambda row: p_cell(row["of"].p_value)),
            Col("freedom_systems", "freedom_residual", of=lambda row: row["of"].freedom, kind="count",
                head="degrees of freedom", cell=lambda row: ", ".join(map(words.count, row["of"].freedom))),
        ),
        _anovas,
    ),
    View("slices", _slice_columns, lambda comparison: comparison.slices.contrasts if comparison.slices else ()),
    View(
        "tradeoffs",
        (
            Col("cost", of=lambda row: row[0], head="cost"), Col("run", of=lambda row: row[2].run, head="run"),
            Col("cost_value", of=lambda row: row[2].cost, kind="value", head="value"),
            Col("metric", of=lambda row: row[1], head="metric"), Col("value", of=lambda row: row[2].quality, kind="value", head="quality"),
            Col("on_front", of=lambda row: row[2].on_front, head="front", cell=lambda row: "yes" if row[2].on_front else "no"),
            Col("beaten_by", of=lambda row: row[2].dominated_by), Col("cost_per_0.01", of=lambda row: row[2].price, kind="value", head="per 0.01"),
        ),
        lambda comparison: [(cost, t.metric, point) for t in [comparison.tradeoffs] if t for cost in t.costs.columns for point in t.points(cost)],
        labels=2,
    ),
    View(
        "risk",
        (
            Col("run", head="run"), Col("baseline"), Col("metric", head="metric"), Col("urisk", of=lambda risk: risk.value, kind="value", head="U_risk"),
            Col("ci_lower", "ci_upper", of=lambda risk: risk.bounds.ends, kind="value", head="interval", cell=_risk_interval),
            Col("lost", kind="value", head="of losses"), Col("trisk", of=lambda risk: risk.t, kind="value", head="T_risk"),
            Col("georisk", of=lambda risk: risk.geo, kind="value", head="GeoRisk"), Col("queries", kind="count"),
        ),
        lambda comparison: comparison.risks,
        labels=3,
    ),
    View(
        "replicates",
        (
            Col("run", head="run"), Col("metric", head="metric"), Col("runs", of=lambda row: row["of"].runs, kind="count", head="runs"),
            Col("variance_between_queries", of=lambda row: row["of"].between_queries, kind="value", head="variance between queries"),
            Col("variance_between_runs", of=lambda row: row["of"].between_runs, kind="value", head="between runs"),
            Col("deviation_of_run_means", of=lambda row: row["of"].deviation, kind="value"),
            Col("share_that_more_runs_remove", of=lambda row: row["of"].removable, kind="value", head="removable",
                cell=lambda row: words.share(row["of"].removable)),
        ),
        _replicates,
        labels=2,
    ),
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ContrastResult):
    """Which runs are better, by how much, and whether the difference is real.

    ``comparison["hybrid", "nDCG@10"]`` is the contrast of a run with the baseline (in a comparison of all pairs, say both runs:
    ``comparison["hybrid", "bm25", "nDCG@10"]``). ``results`` is a Polars frame with a row a contrast; ``str(comparison)`` is the
    verdict in words. ``groups`` holds the top group of each metric, ``warnings`` what to doubt.
    """

    measurements: Measurements
    family: Family
    baseline: str
    slices: Slices | None = None
    tradeoffs: TradeOffs | None = None
    candidates_tried: int | None = None
    primary_declared: bool = False
    baselines: Sequence[str] = ()
    risk: float | None = None

    schema = "compare/1"
    views = VIEWS
    formats = FORMATS
    of_latex = ("caption", "label", "digits")
    appended = "slices"

    @property
    def families(self) -> Sequence[Family]:
        """The one family: every run against its baseline on every metric."""
        return (self.family,)

    @property
    def all_pairs(self) -> bool:
        """Whether every run is compared with every other."""
        return self.family.baseline is None and len(self.baselines) < 2

    @property
    def scores(self) -> Scores | None:
        """What ``evaluate`` found, where runs were compared and not scores."""
        return self.measurements.scores

    @cached_property
    def risks(self) -> list[Risk]:
        """The risk of each run on each metric, if it was asked for."""
        return [] if self.risk is None else list(risks_of(self.family, self.risk))

    @property
    def groups(self) -> Sequence[TopGroup]:
        """The top group of each metric that has a direction, where there are more than two runs."""
        return self.family.groups

    @property
    def notes(self) -> Sequence[str]:
        """What was read, and what was passed over."""
        return [*self.measurements.notes, *(self.slices.notes if self.slices else ())]

    @cached_property
    def warnings(self) -> list[Caution]:
        """What to know before believing the verdict: of the data, then of the comparison."""
        cautions = self.measurements.scores.warnings if self.measurements.scores is not None else []
        all_cautions = [*cautions, *comparison_cautions(self.family, self.slices, self.measurements.curve)]
        return active_cautions(all_cautions, self.measurements.ignored)

    @property
    def changing(self) -> Mapping[str, Any]:
        """The policies that change values, if runs were scored."""
        stated = {} if self.scores is None else self.scores.conventions
        return {name: stated.get(name) for name, policy in POLICIES.items() if policy.changes_values and stated}

    @property
    def judgments_sha256(self) -> str | None:
        """The digest of the judgments; None for scores computed elsewhere."""
        return None if self.scores is None else self.scores.judgments_sha256

    @property
    def methods(self) -> str:
        """The statement of method for a paper, then its sources as BibTeX."""
        from rankscope.verbs.compare.methods import Compared

        against = "every other" if self.all_pairs else words.listing(self.baselines or [self.baseline])
        sliced, tried = self.slices is not None, self.candidates_tried
        return Compared(self.family, self.measurements, against, sliced, self.primary_declared, tried).statement()

    def spelling(self, metric: Any) -> str:
        """Return the canonical spelling of a metric."""
        return spelled(metric)

    @property
    def conventions(self) -> dict[str, Any]:
        """Under which policies runs were scored, and how they were compared."""
        method = self.method
        usual = "paired t test, or if fewer than 6 queries differ, the exact sign-flip test"
        return {
            **(self.scores.conventions if self.scores is not None else {}),
            "baseline": list(self.baselines) if len(self.baselines) > 1 else self.family.baseline,
            "baseline_chosen_as_best": self.family.looked,
            "primary": self.primary,
            "primary_declared": self.primary_declared,
            "test": None if method.test is None else str(method.test),
            "name_of_test": usual if method.test is None else method.test.hypothesis,
            "interval_of_differences": "t" if method.interval is None else str(method.interval),
            "alpha": method.alpha,
            "correction": str(method.correction),
            "controls": method.correction.controls,
            "family": "all metrics and runs" if method.family == "all" else "the runs of each metric",
            "comparisons": self.family.size,
            "clustered": self.panels[0].clusters is not None,
            "compared": len(self.systems),
            "candidates_tried": self.candidates_tried,
            "risk_alpha": self.risk,
            "compare_seed": method.seed,
            **self.measurements.ignoring(),
        }

    def json_header(self) -> dict[str, Any]:
        """The verdict, the conventions, what was read, and the state of the data."""
        scores = self.scores
        inputs = self.measurements.inputs if scores is None else map(input_record, scores.inputs)
        out = {
            "verdict": list(self.sentences()), "conventions": self.conventions,
            "inputs": [dict(part) for part in inputs], "data_health": {} if scores is None else scores.data_health,
        }  # fmt: skip
        if self.all_pairs:
            out["discriminative_power"] = {m: words.finite(discriminative_power(self.of(m))) for m in self.metrics}
        return out

    def extra_views(self, **options: Any) -> Iterator[str]:
        """The views that JSON holds beside the contrasts: means, top groups, and what was asked for."""
        yield from ("means", "top_groups")
        contents = {
            "anova": self.all_pairs, "slices": self.slices, "tradeoffs": self.tradeoffs, "risk": self.risks, "replicates": self.measurements.replicates,
        }  # fmt: skip
        yield from (name for name, wanted in contents.items() if wanted)

    def sentences(self) -> Iterator[str]:
        """The verdict: the best run within the limits on costs, if any; then the primary metric, and where the others differ from it.

        Runs beyond the limits come last, and it is said that they are.
        """
        budget = None if self.tradeoffs is None else self.tradeoffs.budget
        beyond = {} if budget is None else budget.beyond
        if budget is not None:
            yield budget.sentence
        family = self.family
        if len(self.baselines) > 1:
            for baseline in self.baselines:
                if against := [run for run, other in family.pairs if other == baseline]:
                    yield from _of_many(family, baseline, against)
            return
        if family.each_pair:
            yield from _of_pairs(family)
            return
        runs = [run for run, _ in family.pairs]
        if len(runs) > FEW:
            yield from _of_many(family, self.baseline, runs)
            return
        for run in sorted(runs, key=lambda run: run in beyond):
            first, *others = (c for c in family.contrasts if run in {c.run, c.baseline})
            excess = [f"Beyond the limit ({beyond[run][0]} {words.amount(beyond[run][1])}):"] if run in beyond else []
            yield " ".join([*excess, first.sentence(), *(c.short_sentence() for c in others)])

    def table(self, name: str = "", *, most: int | None = None) -> Table:
        """A view as a printed table; without a name the contrasts on the primary metric."""
        if name in {"", "results"}:
            return contrast_table(self.family, self.panels[0], every=True)
        if name == "slices" and self.slices is not None:
            return slice_table(self.family, self.slices.contrasts)
        return super().table(name, most=most)

    def charts(self) -> Iterator[Chart]:
        """Differences with their intervals, counts of queries, and pair by pair the queries that differ."""
        from rankscope.verbs.compare.charts import charts_of

        yield from charts_of(self.family)

    def body(self, details: bool = False, **_: Any) -> Iterator[Sequence[Shown]]:
        """Yield the tables by metric, further findings, slices and trade-offs; ``details`` shows a full table per metric."""
        family, panels = self.family, self.family.panels
        full = panels if details or len(family.contrasts) + len(panels) <= ROOM else panels[:1]
        against = "" if family.baseline is None else f", against {family.baseline}"
        parts: list[list[Shown]] = []
        for panel in full:
            lower = " (lower is better)" if panel.sign < 0 and against else ""
            heading = Heading(f"{panel.name}{self._lead(panel)}{lower}{against}")
            parts.append([heading, contrast_table(family, panel, every=details)])
            parts += [[effects_table(family, panel)]] if details else []
        parts[-1].append(Paragraph(self._marks(), quiet=True))
        if len(full) < len(panels):
            parts.append([Heading("all metrics"), board(family)])
        parts[-1] += map(Paragraph, self._lines())
        yield from parts
        if self.slices is not None:
            yield from self._slice_parts(self.slices.contrasts, details)
        if self.tradeoffs is not None:
            yield self.tradeoffs.blocks()
        if self.risk is not None:
            note = NOTE.format(times=words.amount(1 + self.risk))
            yield [Heading(f"risk{against}"), replace(self.table("risk"), note=note)]

    def document_blocks(self, **_: Any) -> list[Shown]:
        """What goes into a document: runs and metrics, significance marks, and what the marks mean."""
        blocks: list[Shown] = [*map(Paragraph, self.sentences())]
        if self.family.baseline is None:
            for panel in self.panels:
                table = contrast_table(self.family, panel, every=True)
                blocks += [Heading(f"{panel.name}{self._lead(panel)}"), replace(table, note=self._marks())]
        else:
            marks = (
                f"* better, † worse than {self.baseline} at {words.percent(self.method.alpha)}: {how(self.family)}; "
                f"{self.panels[0].counted}"
            )
            blocks.append(replace(board(self.family), note=marks))
        blocks += [Paragraph(group.sentence()) for group in self.groups]
        return [*blocks, Paragraph(" · ".join(self.small_print()), quiet=True)]

    def to_latex(self, *, caption: str = "", label: str = "", digits: int | None = None, **_: Any) -> str:
        r"""The table of a paper: systems in the order given and metrics, the best in bold, what is significant marked, with a note.

        With ``all_pairs`` each system has the letters of those that it is significantly better than; else marks tell who is better or worse
        than the baseline. ``caption`` is plain text, ``label`` what LaTeX refers to it by (tab:systems), ``digits`` how many stand
        after the decimal point (3). It needs the packages booktabs and threeparttable, and spans both columns of a page where it has to.
        Raises InputError for a label or digits that cannot be.

        >>> import rankscope as rs
        >>> found = rs.compare({"a": {"q1": 0.2, "q2": 0.4}, "b": {"q1": 0.3, "q2": 0.6}}, metrics="AP")
        >>> print(found.to_latex(digits=2, caption="Two systems.").splitlines()[5])
        \caption{Two systems.}
        """
        table = paper_table(self.family, caption, label, digits)
        return "\n".join([*(f"% {words.printable(text)}" for text in self.sentences()), *table.lines(), ""])

    def _lead(self, panel: Panel) -> str:
        return " (primary)" if self.primary_declared and panel is self.panels[0] else ""

    def _marks(self) -> str:
        family = self.family
        baseline = "" if family.baseline is None else f" from {family.baseline}"
        marks = f"* different{baseline} at {words.percent(family.method.alpha)} ({how(family)})"
        reasons = dict.fromkeys(f"no interval: {c.without_interval}" for c in family.contrasts if c.without_interval)
        return " · ".join([marks, *(LEGEND[name] for name in columns_of(family) if name in LEGEND), *reasons])

    def _lines(self) -> Iterator[str]:
        family, method = self.family, self.family.method
        primary = family.panels[0].name
        for group in family.groups:
            if group.metric == primary or len(family.panels) <= 3:
                yield group.sentence()
        if family.each_pair and self.all_pairs:
            shares = ", ".join(f"{m} {words.share(discriminative_power(self.of(m)))}" for m in self.metrics)
            yield f"pairs with a clear difference (discriminative power): {shares}"
        if method.correction.anova:
            for row in _anovas(self):
                anova = row["of"]
                freedom = ", ".join(map(words.count, anova.freedom))
                f_value = words.number(anova.F, digits=4)
                yield f"two-way ANOVA of {row['metric']}: F({freedom}) = {f_value}, {words.p_value(anova.p_value)}"
        for system, r in self.measurements.replicates.get(primary, {}).items():
            yield (
                f"{system}: mean of {r.runs} runs. The variance of {primary} is {words.number(r.between_queries, digits=4)} between "
                f"queries and {words.number(r.between_runs, digits=4)} between runs of a query. More runs would remove "
                f"{words.share(r.removable)} of the variance of the mean"
            )
        if method.margin is not None or method.bayes:
            for c in family.of(primary):
                yield from _margins(c)
        if self.candidates_tried is not None:
            yield (
                f"{words.counted(self.candidates_tried, 'system')} {words.agree(self.candidates_tried, 'was')} tried on these judgments: the best of many "
                "looks better than it is, and fresh queries show by how much"
            )

    def _slice_parts(self, contrasts: Sequence[SliceContrast], details: bool) -> Iterator[Sequence[Shown]]:
        size = max((part.contrast.comparisons for part in contrasts), default=0)
        heading = Heading(f"slices, {self.primary}" + ("" if self.all_pairs else f", against {self.baseline}"))
        corrected = Paragraph(f"p and intervals of slices are corrected for {size:,} comparisons", quiet=True)
        yield [heading, slice_table(self.family, contrasts), corrected]
        values = slice_board(self.family, contrasts)
        rest = len(values.rows) - ROOM
        note = f"{words.counted(rest, 'more row')}: --details shows all" if rest > 0 and not details else ""
        heading = Heading("values on slices" + (", all metrics" if len(self.metrics) > 1 else ""))
        yield [heading, replace(values, rows=values.rows[: None if details else ROOM], note=note)]

    def small_print(self) -> Iterator[str]:
        """Yield the number of queries and the method."""
        method, panel = self.family.method, self.family.panels[0]
        yield panel.counted
        if panel.clusters is not None:
            yield f"in {int(panel.clusters.max()) + 1:,} clusters"
        if pooled := [one.name for one in self.family.panels if one.pools]:
            yield f"{', '.join(pooled)}: queries count as better or worse by their contributions, as they have no value of their own"
        if method.test is not None and str(method.test) != "t":
            yield f"{method.test} tests that {method.test.hypothesis}"
            if not method.every_look:
                yield "intervals are of the mean difference"
        if method.correction.joint and method.correction.calibration:
            yield f"{method.correction.name} {method.correction.calibration}"
        if self.measurements.scores is not None:
            yield self.measurements.scores.request.small_print()
        elif self.measurements.ignored:
            yield POLICIES["ignore"].brief(self.measurements.ignoring()["ignore"])


OTHERWISE = {
    "different": "different", "equivalent": "practically the same", "not worse": "not worse by the margin",
    "same": "the same on every query", "cannot tell": "without a clear difference",
}  # fmt: skip


def _of_many(family: Family, baseline: str, runs: Sequence[str]) -> Iterator[str]:
    """How many of many runs are better or worse than the baseline, metric by metric."""
    for i, metric in enumerate(family.metrics):
        mine = [c for c in family.of(metric) if c.baseline == baseline]
        better = [c.run for c in sorted(mine, key=lambda c: -abs(c.difference)) if c.verdict == "better"]
        worse = [c.run for c in mine if c.verdict == "worse"]
        counts = [(len(better), "better", better), (len(worse), "worse", worse if len(worse) <= 6 else [])]
        parts = [f"{n:,} {how}{f' ({words.listing(names)})' if names and not i else ''}" for n, how, names in counts]
        others = ((sum(c.verdict == verdict for c in mine), text) for verdict, text in OTHERWISE.items())
        parts += [f"{count:,} {text}" for count, text in others if count]
        if i:
            yield f"{metric}: {'; '.join(parts)}."
        else:
            corrected = family.method.corrected_for(mine[0].comparisons).removeprefix(", ")
            method = f" ({corrected})" if corrected else ""
            yield f"Of {words.counted(len(runs), 'run')} compared with {baseline} on {metric}: {'; '.join(parts)}{method}.{_detectable_range(mine)}"


def _detectable_range(contrasts: Sequence[Contrast]) -> str:
    """The range of the differences that could have been detected, of those contrasts that are not clear."""
    sizes = (c.detectable.difference for c in contrasts if c.verdict == "cannot tell")
    unclear = sorted(size for size in sizes if size > 0)
    if not unclear:
        return ""
    low, high = words.number(unclear[0]), words.number(unclear[-1])
    return f" These queries can detect differences of about {low if low == high else f'{low} to {high}'}."


def _of_pairs(family: Family) -> Iterator[str]:
    for i, metric in enumerate(family.metrics):
        mine = family.of(metric)
        share = discriminative_power(mine)
        lead = f"Of {len(mine):,} pairs of {len(family.primary.systems)} runs, " if not i else ""
        yield f"{lead}{metric} shows a clear difference on {round(share * len(mine)):,} ({words.share(share)}{family.method.corrected_for(mine[0].comparisons)})."


def _margins(c: Contrast) -> Iterator[str]:
    pair = f"{c.run} against {c.baseline} on {c.metric}"
    margin = c.margin_in_words
    within = "" if c.margin is None else f"within ±{margin}"
    if c.equivalence is not None:
        worse = "" if c.not_worse is None else f"; not worse by {margin} or more: {c.p_of_margin(c.not_worse)}"
        yield f"{pair}: {within}: {c.p_of_margin(c.equivalence.p_value)} (two one-sided t tests){worse}"
    if c.chances is not None:
        better, worse, equal = (words.number(chance) for chance in c.chances.values())
        yield (
            f"{pair}: probability better {better}, worse {worse}{f', {within} {equal}' if within else ''} (Bayesian bootstrap)"
        )
