"""The page of an experiment: its first screen, and its sections as choices of the tables and charts of results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from rankscope import words
from rankscope.blocks import Answer, Chart, Notes, Section, Table, Tone, Verdict
from rankscope.impressions import Log
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.reporting.answer import TONES, change, metric_board
from rankscope.reporting.sections.data import warnings_table
from rankscope.show.result import Result, caution_notes
from rankscope.verbs.experiment.result import Experiment

FEW = 2  # variants besides the best that the headline holds
GROUPS = {"primary": "Primary metric", "secondary": "Secondary metrics", "guardrail": "Guardrails"}
INVALID = "Invalid split: do not use these results"
FIND = "find what removes or repeats {units} of one variant: compare the assignment with the log (rankscope check)"


# --- title and verdicts
def title_of(experiment: Experiment) -> str:
    """Return the variants: ``B against A``."""
    others = [name for name in experiment.variants.names if name != experiment.baseline]
    named = words.listing(others) if len(others) <= FEW + 1 else f"{len(others)} variants"
    return f"{named} against {experiment.baseline}"


def about(experiment: Experiment) -> str:
    """Return the dates, the number of units and the log in one line."""
    log, units = experiment.log, words.counted(experiment.units.count, experiment.units.noun)
    return " · ".join(filter(None, (dates_of(log), units, log.source.label)))


def dates_of(log: Log) -> str:
    """Return the first and the last day of a log, or empty text without times."""
    days = log.days()
    if len(days) == 2 and (days[0].year, days[0].month) == (days[1].year, days[1].month):
        return f"{days[0].day} to {_written(days[1])}"
    return " to ".join(map(_written, days))


def _written(day: date) -> str:
    return f"{day.day} {day:%b %Y}"


def verdicts(experiment: Experiment) -> tuple[Verdict, ...]:
    """Return the sentences of an experiment, the verdict first, in its tone, unless the split forbids one."""
    first, *others = experiment.sentences_of_page()
    return Verdict(first, _tone(experiment)), *map(Verdict, others)


def _tone(experiment: Experiment) -> Tone:
    """Return the tone of the best variant, or of an invalid split."""
    return TONES.get(_best(experiment)[0].verdict, "plain") if experiment.validity.holds else "invalid"


# --- the first screen
def answer(experiment: Experiment, sections: Sequence[Section]) -> Answer:
    """Return the first screen: the lift of the best variant with its interval, every metric, the split, a caution, the next step."""
    split = split_of(experiment)
    if not experiment.validity.holds:
        step = FIND.format(units=words.plural(experiment.units.noun))
        variants = replace(experiment.table("variants"), name="answer")
        return Answer(INVALID, "invalid", variants, checked=split, step=step)
    best, *others = _best(experiment)
    more = [f"{c.run} {change(c, lift=True)}" for c in others]
    more = more if len(others) <= FEW else [f"best of {len(others) + 1} variants"]
    text = "; ".join([f"{best.run} {change(best, named=True, lift=True)}", *more])
    at = "warnings" if any(section.name == "warnings" for section in sections) else ""
    tone, board, caution = _tone(experiment), _board(experiment), _caution(experiment) if at else ""
    return Answer(text, tone, board, caution, at, checked=split, step=next_step(experiment, best))


def split_of(experiment: Experiment) -> str:
    """Return the check of the split in short, without its full stop."""
    return experiment.sample_ratio.brief(experiment.units.noun).rstrip(".")


def _best(experiment: Experiment) -> list[Contrast]:
    """Return the contrasts on the primary metric, the best variant first."""
    leading = experiment.families[0]
    sign = leading.primary.sign or 1
    against = [c for c in leading.contrasts if c.baseline == experiment.baseline]
    return sorted(against, key=lambda c: -sign * c.difference)


def _board(experiment: Experiment) -> Table:
    """Return a row per metric and variant, by the part of the metric in the verdict."""
    ordered = sorted(experiment.contrasts, key=lambda c: list(GROUPS).index(experiment.part_of(c)))
    return metric_board(ordered, experiment.method.level, lambda c: GROUPS[experiment.part_of(c)], lift=True)


def _caution(experiment: Experiment) -> str:
    """Return the first warning about the primary metric, or about the whole log."""

    def names(metric: str, text: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(metric)}(?!\w)", text) is not None

    for caution in experiment.warnings:
        text = f"{caution.message} {caution.hint}"
        if names(experiment.primary, text) or not any(names(metric, text) for metric in experiment.metrics):
            return caution.message
    return ""


def next_step(experiment: Experiment, best: Contrast) -> str:
    """Return what to do next: more units, guardrails to look at, or a decision."""
    guards = [c for c in experiment.guards if (c.run, c.baseline) == (best.run, best.baseline)]
    lost = [c.metric for c in guards if c.verdict == "worse"]
    several, needed = words.plural(experiment.units.noun), best.queries_needed or 0
    if best.verdict == "cannot tell":
        if needed > best.queries and not experiment.method.every_look:
            return f"about {words.rounded(needed - best.queries)} more {several} would show a difference of this size"
        return "run it longer, or decide by other means"
    if lost:
        return f"do not launch {best.run} before {words.listing(lost)} {words.agree(len(lost), 'is')} explained"
    if best.verdict == "worse":
        return f"keep {experiment.baseline}"
    if best.verdict not in CLEAR:
        return "choose by cost: the difference is within the margin"
    open_ones = [c.metric for c in guards if c.verdict == "cannot tell" and c.margin is not None]
    if open_ones:
        return f"run longer, or accept a possible loss on {words.listing(open_ones)}"
    watched = "no guardrail got clearly worse" if guards else "no guardrail was named"
    return f"launch {best.run} ({watched})"


# --- sections
@dataclass(frozen=True)
class Choice:
    """A section as a choice of charts and tables of a result, by name. ``folded_tables`` open on demand."""

    name: str
    title: str
    charts: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    folded_tables: tuple[str, ...] = ()
    folded: bool = False
    lead: str = ""
    label: str = ""

    def section(self, result: Result, charts: Mapping[str, Chart], order: tuple[str, ...]) -> Section | None:
        """Return the section, or None without content. Variants have their colours in one ``order`` everywhere."""
        drawn = [
            replace(chart, order=order if chart.series == "variant" else ())
            for chart in (charts[name] for name in self.charts if name in charts)
        ]
        tables = [self._table(result, name) for name in (*self.tables, *self.folded_tables)]
        blocks: tuple[Chart | Table, ...] = (*drawn, *(table for table in tables if table.rows and table.columns))
        return Section(self.name, self.title, blocks, self.lead, self.folded, label=self.label) if blocks else None

    def _table(self, result: Result, name: str) -> Table:
        table = result.table(name)
        title = "" if table.title == self.title else table.title
        if name in self.folded_tables:
            title = title or table.title or "Numbers"
        return replace(table, title=title, folded=name in self.folded_tables)


OF_EXPERIMENT = (
    Choice("posterior", "Beliefs", tables=("posterior",)),
    Choice("days", "Effect over time", ("by_day", "cumulated"), ("change",), ("by_day",), label="Over time"),
    Choice("exposures", "Split", ("exposures",), ("variants",)),
    Choice("slices", "Effect within slices", ("slices",), ("heterogeneity",), ("slices",), label="Slices"),
    Choice("power", "Power", tables=("power",), lead="The differences that an experiment of this size can show, and the size that the observed ones take."),
    Choice("results", "All numbers", ("lifts",), ("results",), folded=True, lead="Every metric with difference, interval, lift and p-value."),
)  # fmt: skip


def chosen(choices: Iterable[Choice], result: Result, order: tuple[str, ...] = ()) -> Iterator[Section]:
    """Yield the sections of the choices that have content."""
    charts = {chart.name: chart for chart in result.charts()}
    for choice in choices:
        if (section := choice.section(result, charts, order)) is not None:
            yield section


def sections(experiment: Experiment) -> Iterator[Section]:
    """Yield the sections of an experiment, all folded if the split is invalid, with cautions last."""
    for section in chosen(OF_EXPERIMENT, experiment, experiment.variants.names):
        yield section if experiment.validity.holds else replace(section, folded=True)
    yield from cautions(experiment)


def pooled(result: Result) -> Iterator[Section]:
    """Yield one folded section with the online metrics of all variants together."""
    charts = [replace(chart, name=f"online-{chart.name}") for chart in result.charts()]
    tables = [view.table(result) for view in result.views]
    named = [replace(t, name=f"online-{t.name or 'results'}") for t in tables if t.rows and t.columns]
    blocks: tuple[Table | Chart, ...] = (*named[:1], *charts, *(replace(table, folded=True) for table in named[1:]))
    lead = "Values of the whole log: they compare nothing."
    yield Section("online", "All variants together", blocks, lead, folded=True, label="Pooled")


def cautions(result: Any) -> Iterator[Section]:
    """Yield the section of warnings."""
    if warnings := list(result.warnings):
        notes = caution_notes(warnings, "the table below lists all")
        more = (warnings_table(warnings),) if len(notes) < len(warnings) else ()
        yield Section("warnings", "Caveats", (Notes(tuple(notes)), *more))
