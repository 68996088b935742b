"""The page of a change that was judged and tried on users: whether the two agree, both side by side, then all that a page of each has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rankscope import words
from rankscope.blocks import Answer, Column, Heading, Notes, Page, Section, Table, Tone, Value, ValueRange, Verdict
from rankscope.panels.contrast_result import difference_cell, interval_cell, value_cell
from rankscope.reporting.agreement import BothVerdicts, OnlineAgreement, SideOfChange
from rankscope.reporting.page import page_of, sections_of
from rankscope.reporting.sections.reproduce import reproduce_result
from rankscope.reporting.sections.verdicts import TONES
from rankscope.reporting.subject import Subject

NAME = "together"  # the anchor of the section of both
BARS = "bars: the change as a share of the baseline, with its interval; the thin line marks no change"


def page_of_both(subject: Subject[Any], found: OnlineAgreement, title: str | None, command: str | None) -> Page:
    """The page of a comparison, whose rankings are the subject's, and of the experiment on the same change."""
    names = [found.pairing.label(variant) for variant in found.pairing.candidates]
    title = title or f"{words.listing(names)} against {found.pairing.label(found.pairing.baseline)}, offline and online"
    page = page_of(subject, title, command)
    *offline, last = page.sections
    online = list(_of_experiment(found))
    units = words.counted(found.experiment.units.count, found.experiment.units.noun)
    about = f"{page.about} · {units} · main online metric: {found.experiment.primary}"
    first = " ".join(found.headline(row) for row in found.deciding)
    rest = [text for text in found.sentences() if text not in first]
    ours = Verdict(first, _tone(found), "offline and online"), Verdict(" ".join(rest), about="beside it")
    theirs = tuple(Verdict(text, about="online") for text in list(found.experiment.sentences())[1:])
    sections = (_together(found), *offline, *online, last, _reproduce(found))
    return replace(
        page,
        about=about,
        verdicts=(*ours, *page.verdicts, *theirs),
        sections=sections,
        answer=_answer(found, page.answer),
    )


def _tone(found: OnlineAgreement) -> Tone:
    """The tone of the answer: opposite where that is so for any variant, else that of the one variant."""
    if found.opposite:
        return "opposite"
    tones = {_tone_of(row) for row in found.deciding}
    return tones.pop() if len(tones) == 1 else "plain"


def _tone_of(row: BothVerdicts) -> Tone:
    return TONES.get(row.offline.verdict, "plain") if row.agrees == "agree" else "unclear"


def _answer(found: OnlineAgreement, offline: Answer | None) -> Answer:
    """The first screen: whether the two agree, both on their main metrics, and what may explain it or is to be doubted."""
    text = " ".join(found.headline(row, short=True) for row in found.deciding).removesuffix(".")
    caution, at = "", ""
    if found.causes:
        caution, at = found.causes[0].text, NAME
    elif offline is not None:
        caution, at = offline.caution, offline.caution_at
    queries, pairs = ((), ()) if offline is None else (offline.queries, offline.pairs)
    return Answer(text, _tone(found), _board(found), caution, at, queries, pairs)


def _board(found: OnlineAgreement) -> Table:
    """Both sides on their main metrics, each with its change as a share of the baseline, so that one scale fits both."""
    several = len(found.pairing.runs) > 2
    main = {found.comparison.primary, found.experiment.primary}
    rows: list[tuple[Value, ...]] = []
    for one in found.sides:
        if one.contrast.metric not in main:
            continue
        c = one.contrast
        change = difference_cell(c)
        labels = [one.side, one.variant, c.metric] if several else [one.side, c.metric]
        values: list[Value] = [value_cell(c, c.baseline_value), value_cell(c, c.value), change, interval_cell(c)]
        rows.append((*labels, *values, one.verdict, _lift(one)))
    heads = ["side", *(["variant"] if several else []), "metric"]
    first, second = found.pairing.baseline, "value" if several else found.pairing.candidates[0]
    taken = {*heads, "difference", "interval", "verdict", "change"}  # variants may be called anything
    named = [f"{name} (value)" if name in taken else name for name in (first, second)]
    columns = (
        *map(Column, heads), *(Column(name, "value") for name in (*named, "difference", "interval")), Column("verdict"),
        Column("change", "value", guide="zero"),
    )  # fmt: skip
    return Table(columns, tuple(rows), labels=len(heads), note=BARS, name="answer")


def _lift(one: SideOfChange) -> ValueRange | None:
    value, bounds = one.contrast.relative
    if not bounds.known:
        return None
    return ValueRange(value, bounds.lower, bounds.upper, text=words.in_table(words.relative(value)))


def _together(found: OnlineAgreement) -> Section:
    """Both sides on all their metrics, and what may explain that they are opposite."""
    blocks: list[Any] = [Heading("What may explain it"), Notes(tuple(found.causes))] if found.causes else []
    blocks += [replace(found.table("sides"), title="Side by side", name="sides"), *found.charts()]
    if len(found.both) > len(found.deciding):
        blocks.append(replace(found.table(), title="Metric by metric", name="agreement"))
    return Section(NAME, "Offline and online", tuple(blocks), "What judgments say of the change, and what users say.")


def _of_experiment(found: OnlineAgreement) -> Iterator[Section]:
    """The sections of the experiment, with names of their own."""
    for section in sections_of(found.experiment):
        title = (
            "Experiment" if section.name == "results" else f"Experiment: {section.title[:1].lower()}{section.title[1:]}"
        )
        blocks = tuple(
            replace(b, name=f"experiment-{b.name}") if isinstance(b, Table) and b.name else b for b in section.blocks
        )
        yield replace(section, name=f"experiment-{section.name}", title=title, blocks=blocks, folded=True)


def _reproduce(found: OnlineAgreement) -> Section:
    section = reproduce_result(found.experiment, None)
    blocks = tuple(replace(b, name="experiment-inputs") if isinstance(b, Table) else b for b in section.blocks)
    return replace(section, name="experiment-reproduce", title="Reproduce the experiment", blocks=blocks)
