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
from rankscope.experiments.plan import read_plan
from rankscope.experiments.request import EXPERIMENT_OPTIONS, ExperimentRequest
from rankscope.experiments.roles import roles_of
from rankscope.impressions import Log
from rankscope.logs.base import parse_online_metrics
from rankscope.logs.cuts import attribute_columns, with_merged_rows
from rankscope.logs.metrics import usual_metrics
from rankscope.panels.contrast_result import difference_cell, interval_cell, value_cell
from rankscope.reporting import clicks as of_clicks
from rankscope.reporting import experiments, of_logs
from rankscope.reporting.agreement import OnlineAgreement
from rankscope.reporting.answer import TONES, answer, verdicts
from rankscope.reporting.explorer.rankings import QueriesPart
from rankscope.reporting.sections.data import DataPart, WorklistPart
from rankscope.reporting.sections.differences import ByQueryPart, CostsPart, DifferencesPart, PairsPart, SlicesPart
from rankscope.reporting.sections.ranks import AgreementPart, CutoffsPart, DiscountsPart, OriginPart, RecallPart
from rankscope.reporting.sections.reproduce import reproduce, reproduce_result
from rankscope.reporting.sections.scoreboard import ComparisonPart, HeatMapPart, ScoresPart, SpreadPart
from rankscope.reporting.subject import PagePart, Subject
from rankscope.scoring.logs import design_of
from rankscope.show.result import Result
from rankscope.syntax import option_named
from rankscope.verbs.clicks.clicks import clicks
from rankscope.verbs.clicks.result import ClickModels
from rankscope.verbs.estimate.estimate import estimate
from rankscope.verbs.experiment.days import over_days
from rankscope.verbs.experiment.experiment import experiment
from rankscope.verbs.experiment.result import Experiment
from rankscope.verbs.interleaving.interleaving import interleaving
from rankscope.verbs.online.online import online
from rankscope.verbs.position_bias.position_bias import position_bias
from rankscope.verbs.position_bias.result import PositionBias

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
    if isinstance(result, Experiment):
        return page_of_experiment(result, title, command)
    if isinstance(result, of_logs.Compared):
        own = (*of_logs.sections(result), reproduce_result(result, command))
        first = of_logs.answer(result, own)
        return Page(title or of_logs.title_of(result), "", of_logs.verdicts(result), own, FOOT, first, result.exit_code)
    if isinstance(result, PositionBias | ClickModels):
        shown = (*of_clicks.sections(result), reproduce_result(result, command))
        return Page(
            title or of_clicks.title_of(result), "", of_clicks.verdicts(result), shown, FOOT, exit_code=result.exit_code
        )
    verb = result.schema.partition("/")[0]
    sections = (*sections_of(result), reproduce_result(result, command))
    return Page(title or verb.capitalize(), "", tuple(map(Verdict, result.sentences())), sections, FOOT)


def page_of_experiment(found: Experiment, title: str | None, command: str | None, online: Result | None = None) -> Page:
    """Return the page of an experiment, and of the online metrics of its whole log."""
    beside = () if online is None else experiments.pooled(online)
    sections = (*experiments.sections(found), *beside, reproduce_result(found, command))
    return Page(
        title or experiments.title_of(found), experiments.about(found), experiments.verdicts(found), sections, FOOT,
        experiments.answer(found, sections), found.exit_code,
    )  # fmt: skip


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
    yield from experiments.cautions(result)


OF_PAGE = {
    "variant",
    "by",
    "columns",
    "log_format",
    "time_format",
    "time_zone",
    "start",
    "end",
}  # the page itself decides by day; the log is read before
OF_EXPERIMENT = ("plan", *(name for name in EXPERIMENT_OPTIONS if name not in OF_PAGE))
COMPARED = ("baseline", "margin", "slices", "test", "interval", "correction", "alpha")
OF_POLICIES = ("target", "reward", "logging", "model", "examination", "force")
TAKEN = {
    "variants": OF_EXPERIMENT,
    "rankers": COMPARED,
    "policies": (*COMPARED, *OF_POLICIES, "ignore"),
    "": ("alpha",),
}


def page_of_log(log: Log, metrics: Any, options: Mapping[str, Any], title: str | None, command: str | None) -> Page:
    """Return the page of a log: of its experiment, its interleaved lists or its policies, and its online metrics, the verdict first.

    Raises InputError for options that are for rankings, and for options of other logs.
    """
    given = {name: value for name, value in options.items() if name != "columns" and value is not None}
    given = {name: value for name, value in given.items() if not (isinstance(value, list | tuple) and not value)}
    models = given.pop("clicks", None)
    design = design_of(log, given.get("target"))
    taken = TAKEN[design]
    if (odd := next((name for name in given if name not in taken), None)) is not None:
        lacking = "experiments, and no column has the variants" if not design else "experiments"
        lacking = "policies: name one with --target" if odd in OF_POLICIES else lacking
        about = lacking if odd in {*OF_EXPERIMENT, *OF_POLICIES} else "rankings"
        raise InputError(f"{option_named(odd)} is about {about}: leave it out for {log.label}")
    if design in {"policies", "rankers"}:
        of_design = (
            estimate(log, estimators=metrics, **given)
            if design == "policies"
            else interleaving(log, credit=metrics, **given)
        )
        return _with_clicks(page_of_result(of_design, title, command), log, models)
    plan = given.pop("plan", None)
    wanted, asked = metrics, ExperimentRequest(**given)
    if plan is not None:
        given["plan"] = plan = read_plan(plan).once_read
        wanted, asked = plan.applied(metrics, asked)
    roles = roles_of(log, wanted, asked.primary, asked.guardrails, asked.margin) if design else ()
    if asked.primary is not None:
        wanted = [asked.primary, *([wanted] if isinstance(wanted, str) else wanted or [])]
    if log.of_impressions and design:  # the experiment, its days and slices, and online metrics sum up the same rows
        also = parse_online_metrics(wanted) if wanted else usual_metrics(log)
        log = with_merged_rows(log, [*roles, *also], ["variant", *attribute_columns(log, asked.slices)])
    found = _experiment(log, metrics, given) if design else None
    values = None
    if log.of_impressions:
        over = [name for name, role in (("day", "timestamp"), ("position", "position")) if log.has(role)]
        values = online(log, wanted, by=over, level=1 - asked.alpha)
    if found is not None:
        page = page_of_experiment(found, title, command, values)
    else:
        assert values is not None
        named = f"Online metrics of {log.source.label.rpartition('/')[2]}"
        page = replace(page_of_result(values, title or named, command), about=experiments.dates_of(log))
    return _with_clicks(page, log, models)


def _with_clicks(page: Page, log: Log, models: Any) -> Page:
    """Return the page of a log with its position bias and its click models, if they are asked for, before the section that reproduces it."""
    if models is None:
        return page
    found = position_bias(log), clicks(log, None if models is True else models)
    *first, last = page.sections
    said = (Verdict(of_clicks.headline(one)) for one in found)
    return replace(page, verdicts=(*page.verdicts, *said), sections=(*first, *of_clicks.sections(*found), last))


def _experiment(log: Log, metrics: Any, given: Mapping[str, Any]) -> Experiment:
    """Return the experiment of a log, with its days if there are some to compare."""
    found = experiment(log, metrics, **given)
    lead = next(iter(found.roles))
    if not log.has("timestamp") or lead.windowed or found.days is not None:
        return found
    try:
        return replace(found, days=over_days(found.variants, lead, found.families[0]))
    except DataError:  # only one day, or a variant without data in one half
        return found


TOGETHER = "together"  # the anchor of the section of both
BARS = "bars: the change as a share of the baseline, with its interval. The thin line marks no change"


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
        for one in experiments.sections(found.experiment)
    ]
    again = _of_experiment(reproduce_result(found.experiment, None), "Reproduce the experiment")
    return replace(
        page, about=about, verdicts=(*ours, *page.verdicts, *theirs), answer=_answer(found, page.answer),
        sections=(_together(found), *offline, *online, last, again), exit_code=found.experiment.exit_code,
    )  # fmt: skip


def _of_experiment(section: Section, title: str) -> Section:
    """Return a section of the experiment, with names of its own."""
    own = [replace(b, name=f"experiment-{b.name}") if isinstance(b, Table) and b.name else b for b in section.blocks]
    return replace(section, name=f"experiment-{section.name}", title=title, blocks=tuple(own), folded=True)


def _tone(found: OnlineAgreement) -> Tone:
    """Return the tone of the answer: invalid if the split is, opposite if any variant is, otherwise the tone that all variants share."""
    if not found.experiment.validity.holds:
        return "invalid"
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
    split = experiments.split_of(found.experiment)
    return Answer(text, _tone(found), _board(found), caution, at, queries, pairs, split)


def _board(found: OnlineAgreement) -> Table:
    """Both sides on their main metrics, each with its change as a share of the baseline, so that one scale fits both."""
    several = len(found.pairing.runs) > 2
    main = {found.comparison.primary, found.experiment.primary}
    rows: list[tuple[Value, ...]] = []
    for one in (side for side in found.sides if side.contrast.metric in main):
        c, (relative, bounds) = one.contrast, one.contrast.relative
        lift = ValueRange(
            relative, bounds.lower, bounds.upper, text=words.in_table(words.relative(relative, bounds.ends))
        )
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
    blocks: list[Any] = [Heading("Possible explanations"), Notes(tuple(found.causes))] if found.causes else []
    blocks += [replace(found.table("sides"), title="Side by side", name="sides"), *found.charts()]
    if len(found.both) > len(found.deciding):
        blocks.append(replace(found.table(), title="Metric by metric", name="agreement"))
    lead = "The change by judgments, and by users."
    return Section(TOGETHER, "Offline and online", tuple(blocks), lead)
