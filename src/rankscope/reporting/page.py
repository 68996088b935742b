"""Pages: the sections of a report in reading order, the page of any result, of a log, and of a change judged and tried on users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from rankscope import words
from rankscope._version import __version__
from rankscope.blocks import (
    Answer,
    Chart,
    Column,
    Heading,
    Notes,
    Page,
    Section,
    Table,
    Tone,
    Value,
    ValueRange,
    Verdict,
)
from rankscope.errors import DataError, InputError
from rankscope.experiments.request import EXPERIMENT_OPTIONS
from rankscope.impressions import Log
from rankscope.panels.contrast_result import difference_cell, interval_cell, value_cell
from rankscope.reporting.agreement import OnlineAgreement
from rankscope.reporting.answer import TONES, answer, verdicts
from rankscope.reporting.explorer.rankings import QueriesPart
from rankscope.reporting.sections.data import DataPart, WorklistPart, warnings_table
from rankscope.reporting.sections.differences import ByQueryPart, CostsPart, DifferencesPart, PairsPart, SlicesPart
from rankscope.reporting.sections.ranks import AgreementPart, CutoffsPart, DiscountsPart, OriginPart, RecallPart
from rankscope.reporting.sections.reproduce import reproduce, reproduce_result
from rankscope.reporting.sections.scoreboard import ComparisonPart, HeatMapPart, ScoresPart, SpreadPart
from rankscope.reporting.subject import PagePart, Subject
from rankscope.show.result import Result, caution_notes
from rankscope.syntax import option_named
from rankscope.verbs.experiment.days import over_days
from rankscope.verbs.experiment.experiment import experiment
from rankscope.verbs.experiment.result import Experiment
from rankscope.verbs.online.online import online

# the sections in reading order; each declares its subjects
SECTIONS: tuple[type[PagePart], ...] = (
    ScoresPart, ComparisonPart, QueriesPart, DifferencesPart, SlicesPart, CostsPart, ByQueryPart, OriginPart, SpreadPart,
    HeatMapPart, CutoffsPart, RecallPart, PairsPart, AgreementPart, DiscountsPart, WorklistPart, DataPart,
)  # fmt: skip
FOOT = f"rankscope {__version__}"


def page_of(subject: Subject[Any], title: str | None = None, command: str | None = None) -> Page:
    """The whole page of a subject."""
    about, order = f"{subject.queries} · main metric: {subject.lead.name}", subject.colours()
    made = [(part, section) for part in SECTIONS if (section := part.section(subject)) is not None]
    shown = {code: section for part, section in made for code in part.warned}
    sections = [_with_links(_in_colours(section, order), shown) for _, section in made]
    first = answer(subject, sections)
    return Page(title or subject.title, about, verdicts(subject), (*sections, reproduce(subject, command)), FOOT, first)


def _in_colours(section: Section, order: tuple[str, ...]) -> Section:
    """Return the section with charts and tables in which every run, and every pair, keeps its colour."""

    def with_order(block: Any) -> Any:
        if isinstance(block, Table):
            named = block.columns and block.columns[0].header == "run"
            return replace(block, order=order) if named and {row[0] for row in block.rows} <= set(order) else block
        if not isinstance(block, Chart) or not block.series:
            return block
        at = block.at(block.series)
        names = {str(row[at]) for row in block.rows}
        if names <= set(order):
            return replace(block, order=order)
        of_run = {run: name for name in sorted(names) for run in order if name.startswith(f"{run} against ")}
        if set(of_run.values()) == names:
            return replace(block, order=tuple(of_run.get(run, run) for run in order))
        return block

    return replace(section, blocks=tuple(map(with_order, section.blocks)))


def _with_links(section: Section, shown: Mapping[str, Section]) -> Section:
    """Return the section with its warnings linked to the sections that show more of them."""

    def linked(block: Any) -> Any:
        if not isinstance(block, Notes):
            return block
        at = [shown.get(note.code, section) for note in block.items]
        notes = zip(block.items, at, strict=True)
        return Notes(tuple(n if s.name == section.name else replace(n, at=s.name, where=s.title) for n, s in notes))

    return replace(section, blocks=tuple(map(linked, section.blocks)))


# --- any result
def page_of_result(result: Result, title: str | None = None, command: str | None = None) -> Page:
    """Return the page of any result: its sentences, tables, charts, warnings and conventions."""
    verb = result.schema.partition("/")[0]
    sections = (*sections_of(result), reproduce_result(result, command))
    return Page(title or verb.capitalize(), "", verdicts_of(result), sections, FOOT)


def verdicts_of(result: Result) -> tuple[Verdict, ...]:
    """The sentences of a result; of an experiment its verdict leads, in its tone, unless the split forbids one."""
    if not isinstance(result, Experiment):
        return tuple(map(Verdict, result.sentences()))
    first, *others = result.sentences_of_page()
    leading = result.families[0].contrasts
    tone = TONES.get(leading[0].verdict, "plain") if len(leading) == 1 else "plain"
    return Verdict(first, tone), *map(Verdict, others)


def sections_of(result: Result) -> Iterator[Section]:
    """A section a table, the empty ones left out, then charts and warnings."""
    verb = result.schema.partition("/")[0]
    for view in result.views:
        table = view.table(result)
        if table.rows and table.columns:
            name = view.name or verb
            title = view.title or name.replace("_", " ").capitalize()
            own = "" if table.title == title else table.title  # the heading of the section says it
            yield Section(name, title, (replace(table, name=table.name or name, title=own),))
    if charts := tuple(result.charts()):
        yield Section("charts", "Charts", charts)
    if cautions := list(getattr(result, "warnings", ())):
        notes = caution_notes(cautions, "the table below lists all")
        more = (warnings_table(cautions),) if len(notes) < len(cautions) else ()
        yield Section("warnings", "Caveats", (Notes(tuple(notes)), *more))


OF_PAGE = {"variant", "by", "columns", "log_format"}  # the page itself decides by day; the log is read before
OF_EXPERIMENT = tuple(name for name in EXPERIMENT_OPTIONS if name not in OF_PAGE)


def page_of_log(log: Log, metrics: Any, options: Mapping[str, Any], title: str | None, command: str | None) -> Page:
    """Return the page of a log: its experiment, if it has variants, and its online metrics, the verdict first.

    Raises InputError for options that are for rankings, and for options of experiments if there are no variants.
    """
    given = {name: value for name, value in options.items() if name != "columns" and value not in (None, [], ())}
    several = log.has("variant")
    taken = OF_EXPERIMENT if several else ("alpha",)
    if (odd := next((name for name in given if name not in taken), None)) is not None:
        lacking = "experiments, and no column says which variant a user was given"
        about = lacking if odd in OF_EXPERIMENT else "rankings"
        raise InputError(f"{option_named(odd)} is about {about}: leave it out for {log.label}")
    results: list[Result] = [_experiment(log, metrics, given)] if several else []
    if log.of_impressions:
        over = [name for name, role in (("day", "timestamp"), ("position", "position")) if log.has(role)]
        wanted = metrics
        if "primary" in given:
            wanted = [given["primary"], *([metrics] if isinstance(metrics, str) else metrics or [])]
        results.append(online(log, wanted, by=over, level=1 - given.get("alpha", 0.05)))
    lead, *others = results
    sections = list(sections_of(lead))
    known = {section.name for section in sections}
    for section in (section for other in others for section in sections_of(other)):
        again = replace(section, name=f"online-{section.name}", title=f"{section.title}, all users")
        sections.append(again if section.name in known else section)
    notes = lead.variants.notes if isinstance(lead, Experiment) else lead.notes
    verb, about = lead.schema.partition("/")[0], f"{log.source.label}: {notes[-1]}"
    return Page(
        title or verb.capitalize(), about, verdicts_of(lead), (*sections, reproduce_result(lead, command)), FOOT
    )


def _experiment(log: Log, metrics: Any, given: Mapping[str, Any]) -> Experiment:
    """Return the experiment of a log, with its days if there are some to compare."""
    found = experiment(log, metrics, **given)
    lead = next(iter(found.roles))
    if not log.has("timestamp") or lead.windowed:
        return found
    try:
        return replace(found, days=over_days(found.variants, lead, found.method))
    except DataError:  # one day alone, or a variant that has nothing in one half of them
        return found


TOGETHER = "together"  # the anchor of the section of both
BARS = "bars: the change as a share of the baseline, with its interval; the thin line marks no change"


def page_of_both(subject: Subject[Any], found: OnlineAgreement, title: str | None, command: str | None) -> Page:
    """The page of a comparison, whose rankings are the subject's, and of the experiment on the same change."""
    names = [found.pairing.label(variant) for variant in found.pairing.candidates]
    title = title or f"{words.listing(names)} against {found.pairing.label(found.pairing.baseline)}, offline and online"
    page = page_of(subject, title, command)
    *offline, last = page.sections
    units = words.counted(found.experiment.units.count, found.experiment.units.noun)
    about = f"{page.about} · {units} · main online metric: {found.experiment.primary}"
    first = " ".join(found.headline(row) for row in found.deciding)
    rest = [text for text in found.sentences() if text not in first]
    ours = Verdict(first, _tone(found), "offline and online"), Verdict(" ".join(rest), about="beside it")
    theirs = tuple(Verdict(text, about="online") for text in list(found.experiment.sentences())[1:])
    online = [
        _of_experiment(
            one, "Experiment" if one.name == "results" else f"Experiment: {one.title[:1].lower()}{one.title[1:]}"
        )
        for one in sections_of(found.experiment)
    ]
    again = _of_experiment(reproduce_result(found.experiment, None), "Reproduce the experiment")
    return replace(
        page, about=about, verdicts=(*ours, *page.verdicts, *theirs), answer=_answer(found, page.answer),
        sections=(_together(found), *offline, *online, last, again),
    )  # fmt: skip


def _of_experiment(section: Section, title: str) -> Section:
    """Return a section of the experiment, with names of its own."""
    own = [replace(b, name=f"experiment-{b.name}") if isinstance(b, Table) and b.name else b for b in section.blocks]
    return replace(section, name=f"experiment-{section.name}", title=title, blocks=tuple(own), folded=True)


def _tone(found: OnlineAgreement) -> Tone:
    """Return the tone of the answer: opposite if any variant is, otherwise the tone that all variants share."""
    if found.opposite:
        return "opposite"
    of_row = ((TONES.get(row.offline.verdict, "plain"), row.agrees) for row in found.deciding)
    tones: set[Tone] = {tone if agrees == "agree" else "unclear" for tone, agrees in of_row}
    return tones.pop() if len(tones) == 1 else "plain"


def _answer(found: OnlineAgreement, offline: Answer | None) -> Answer:
    """Return the first screen: whether the two agree, both on their main metrics, and one possible cause or caveat."""
    text = " ".join(found.headline(row, short=True) for row in found.deciding).removesuffix(".")
    caution, at = "", ""
    if found.causes:
        caution, at = found.causes[0].text, TOGETHER
    elif offline is not None:
        caution, at = offline.caution, offline.caution_at
    queries, pairs = ((), ()) if offline is None else (offline.queries, offline.pairs)
    return Answer(text, _tone(found), _board(found), caution, at, queries, pairs)


def _board(found: OnlineAgreement) -> Table:
    """Both sides on their main metrics, each with its change as a share of the baseline, so that one scale fits both."""
    several = len(found.pairing.runs) > 2
    main = {found.comparison.primary, found.experiment.primary}
    rows: list[tuple[Value, ...]] = []
    for one in (side for side in found.sides if side.contrast.metric in main):
        c, (relative, bounds) = one.contrast, one.contrast.relative
        lift = ValueRange(relative, bounds.lower, bounds.upper, text=words.in_table(words.relative(relative)))
        labels = [one.side, one.variant, c.metric] if several else [one.side, c.metric]
        values: list[Value] = [
            value_cell(c, c.baseline_value),
            value_cell(c, c.value),
            difference_cell(c),
            interval_cell(c),
        ]
        rows.append((*labels, *values, one.verdict, lift if bounds.known else None))
    heads = ["side", *(["variant"] if several else []), "metric"]
    first, second = found.pairing.baseline, "value" if several else found.pairing.candidates[0]
    taken = {*heads, "difference", "interval", "verdict", "change"}  # variants may be called anything
    named = [f"{name} (value)" if name in taken else name for name in (first, second)]
    columns = (
        *map(Column, heads), *(Column(name, "value") for name in (*named, "difference", "interval")), Column("verdict"),
        Column("change", "value", guide="zero"),
    )  # fmt: skip
    return Table(columns, tuple(rows), labels=len(heads), note=BARS, name="answer")


def _together(found: OnlineAgreement) -> Section:
    """Both sides on all their metrics, and what may explain that they are opposite."""
    blocks: list[Any] = [Heading("What may explain it"), Notes(tuple(found.causes))] if found.causes else []
    blocks += [replace(found.table("sides"), title="Side by side", name="sides"), *found.charts()]
    if len(found.both) > len(found.deciding):
        blocks.append(replace(found.table(), title="Metric by metric", name="agreement"))
    lead = "What judgments say of the change, and what users say."
    return Section(TOGETHER, "Offline and online", tuple(blocks), lead)
