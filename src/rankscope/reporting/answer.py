"""The first screen of a report: a plain sentence, the scoreboard with one interval per row, and one caveat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rankscope import words
from rankscope.blocks import Answer, Column, Section, Table, Tone, Value, ValueRange
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.families import TopGroup
from rankscope.panels.panel import Panel
from rankscope.reporting.sections.scoreboard import mean_of
from rankscope.reporting.sections.verdicts import DECIDING, TONES, deciding, doubts
from rankscope.reporting.subject import MANY, Subject, column_of
from rankscope.scoring.scores import best_rows
from rankscope.verbs.compare.tables import value_range

ROWS = 10  # runs of the board: it is read at a glance
NAMED = 4  # runs that are named as tied
LEVEL = 0.95


def answer(subject: Subject[Any], sections: Sequence[Section]) -> Answer | None:
    """Return the first screen of a page of these sections, with their first caveat; None without a value."""
    if not subject.lead.means:
        return None
    text, tone, c = _sentence(subject)
    caution, at = _caution(subject, sections, c)
    queries = () if c is None else deciding(c, DECIDING)
    pairs = () if c is None else ((c.baseline, c.run),) * len(queries)
    return Answer(text, tone, _board(subject), caution, at, queries, pairs)


# --- sentences --------------------------------------------------------------------------------------------


def _sentence(subject: Subject[Any]) -> tuple[str, Tone, Contrast | None]:
    """Return the answer, its tone, and its contrast, if any."""
    if subject.comparison is None or not subject.rivals:
        return _of_scores(subject), "plain", None
    if len(subject.systems) < MANY and not subject.comparison.family.each_pair:
        c = subject.rivals[0]
        return _of_pair(subject, c), TONES.get(c.verdict, "plain"), c
    return _of_many(subject)


def _of_pair(subject: Subject[Any], c: Contrast) -> str:
    """Return a sentence with both means, the relative change, and the number of clear metrics."""
    means = c.panel.means
    old, new = (_figure(c.panel, means[name]) for name in (c.baseline, c.run))
    change = c.relative[0]
    share = f", {words.relative(change, 0 if abs(change) >= 0.1 else 1)}" if words.finite(change) is not None else ""
    who = {
        "better": f"{c.run} beats {c.baseline}", "worse": f"{c.run} loses to {c.baseline}",
        "different": f"{c.run} differs from {c.baseline}", "same": f"{c.run} and {c.baseline} are the same",
        "equivalent": f"{c.run} is equivalent to {c.baseline}", "not worse": f"{c.run} is not worse than {c.baseline}",
    }.get(c.verdict, f"No clear difference between {c.run} and {c.baseline}")  # fmt: skip
    return f"{who}: {c.metric} {old} to {new}{share}{_on_metrics(subject, c)}"


def _on_metrics(subject: Subject[Any], c: Contrast) -> str:
    """On how many of several metrics two runs differ clearly, and whether some go the other way."""
    assert subject.comparison is not None
    alike = [one for one in subject.comparison.contrasts if (one.run, one.baseline) == (c.run, c.baseline)]
    if len(alike) < 2:
        return ""
    clear = [one for one in alike if one.verdict in CLEAR]
    other = [one.metric for one in clear if c.verdict in CLEAR and one.verdict != c.verdict]
    same = [one for one in clear if one.metric not in other]
    against = f", the other way on {words.listing(other, NAMED)}" if other else ""
    return f"; clear on {words.count(len(same))} of {words.counted(len(alike), 'metric')}{against}"


def _of_many(subject: Subject[Any]) -> tuple[str, Tone, Contrast | None]:
    """Return the best of many runs, the runs tied with it, and its lead."""
    assert subject.comparison is not None
    found, panel = subject.comparison, subject.lead
    best, several = next(iter(panel.means)), words.counted(len(subject.systems), "run")
    figure = f"{panel.name} {_figure(panel, panel.means[best])}"
    if not panel.sign:
        return f"{best} has the highest {figure} of {several}", "plain", None
    group = next((group for group in found.groups if group.metric == panel.name), None)
    text = f"{best} is best of {several}: {figure}{'' if group is None else _tied(group, subject.systems)}"
    c = next((c for c in subject.rivals if c.run == best and c.baseline == found.baseline), None)
    if c is None or found.family.each_pair:
        return text, "plain", next(iter(subject.rivals), None)
    change = f"{words.relative(c.relative[0], 0)} on" if words.finite(c.relative[0]) is not None else "ahead of"
    clear = "clear" if c.verdict in CLEAR else "no clear difference"
    return f"{text}; {change} {found.baseline} ({clear})", TONES.get(c.verdict, "plain"), c


def _tied(group: TopGroup, systems: Sequence[str]) -> str:
    others = group.systems[1:]
    if not others:
        return ", clearly ahead of every other run"
    if len(group.systems) == group.of:
        return ", but none is clearly ahead of the others"
    behind = [system for system in systems if system not in group.systems]
    rest = behind[0] if len(behind) == 1 else f"the other {words.count(len(behind))}"
    return f", tied with {words.listing(others, NAMED)}, clearly ahead of {rest}"


def _of_scores(subject: Subject[Any]) -> str:
    panel, queries = subject.lead, subject.queries
    best = subject.merit()[0]
    value = f"{panel.name} {_figure(panel, panel.means[best])}"
    if len(subject.systems) == 1:
        return f"{best}: {value} over {queries}"
    first = f"{best} has the best value" if panel.sign else f"{best} comes first"
    return f"{first} of {words.counted(len(subject.systems), 'run')}: {value}; whether that is a real difference was not tested"


def _figure(panel: Panel, value: float) -> str:
    return words.amount(value) if panel.measure.aggregate == "sum" else words.number(value)


def _caution(subject: Subject[Any], sections: Sequence[Section], c: Contrast | None) -> tuple[str, str]:
    """Return one caveat with its size, and the section that shows more of it; empty without one."""
    told = {section.name: section.caution for section in sections if section.caution}
    if c is not None and "worklist" in told:
        return told["worklist"], "worklist"
    there = {section.name for section in sections}
    doubt = next(iter(doubts(subject, c)), "") if c is not None else ""
    if doubt and "data" in there:
        return doubt.removeprefix("Caution: ").rstrip("."), "data"
    return next(((text, name) for name, text in told.items()), ("", ""))


# --- the board -------------------------------------------------------------------------------------------


def _board(subject: Subject[Any]) -> Table:
    """Return the means, one interval per row: of the difference on the main metric, or of the mean of a single run."""
    panels, found, systems = subject.panels, subject.comparison, subject.merit()
    if len(systems) == 1:
        return _metric_by_metric(subject, systems[0])
    shown = _shown(systems, subject.systems[0] if found is not None else "")
    rows: list[tuple[Value, ...]] = [(s, *(words.finite(panel.means[s]) for panel in panels)) for s in shown]
    notes = []
    if len(shown) < len(systems):
        notes.append(
            f"{words.count(len(shown))} of {words.count(len(systems))} runs, the best first: the scoreboard has all"
        )
    if found is not None and not found.family.each_pair:
        by_run = {c.run: c for c in found.of(subject.lead.name)}
        ends = [_signed(value_range(c.difference, c.shown)) if (c := by_run.get(s)) else None for s in shown]
        drawn = Column(f"{subject.lead.name}: difference from {found.baseline}", "value", guide="zero")
        notes.append(
            f"bars: the {words.percent(found.method.level)} interval of the difference; the thin line marks no difference"
        )
    else:
        level = LEVEL if found is None else found.method.level
        ends = [value if isinstance(value := mean_of(subject.lead, s, level), ValueRange) else None for s in shown]
        drawn = Column(f"{subject.lead.name} with its interval", "value")
        notes.append(f"bars: the {words.percent(level)} interval over queries")
    columns = (Column("run"), *(replace(column_of(panel), hint="") for panel in panels))
    if any(ends):
        columns, rows = (*columns, drawn), [(*row, end) for row, end in zip(rows, ends, strict=True)]
    best = frozenset(
        (i, j)
        for j, panel in enumerate(panels, start=1)
        for i in best_rows(panel.better, [words.finite(panel.means[s]) for s in shown])
    )
    return Table(columns, tuple(rows), best=best, note="; ".join(notes), name="answer", order=subject.colours())


def _shown(systems: Sequence[str], baseline: str) -> list[str]:
    """Return the systems on the board, the best first, and always the baseline."""
    if len(systems) <= ROWS:
        return list(systems)
    kept = [s for s in systems if s != baseline][: ROWS - bool(baseline)]
    return [s for s in systems if s in {baseline, *kept}]


def _metric_by_metric(subject: Subject[Any], system: str) -> Table:
    rows = tuple((panel.name, mean_of(panel, system, LEVEL)) for panel in subject.panels)
    note = f"± and bars: the {words.percent(LEVEL)} interval over queries"
    return Table((Column("metric"), Column("value", "value")), rows, name="answer", note=note)


def _signed(value: ValueRange | None) -> ValueRange | None:
    return None if value is None else replace(value, text=words.in_table(words.number(value.value, sign=True)))
