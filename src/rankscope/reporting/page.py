"""Pages: the sections of a report in reading order, the page of any result, of a log, and of a change judged and tried on users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
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
from rankscope.impressions import Log, attribute_columns
from rankscope.logs.base import parse_online_metrics
from rankscope.logs.cuts import with_merged_rows
from rankscope.logs.metrics import usual_metrics
from rankscope.panels.contrast_result import difference_cell, interval_cell, value_cell
from rankscope.parallel import map_parts
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
from rankscope.words import option_named

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
        return page_of_experiment(result, experiments.sections(result), title, command)
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


def page_of_experiment(
    result: Experiment, own: Iterable[Section], title: str | None, command: str | None, online: Result | None = None
) -> Page:
    """Return the page of an experiment with its ``own`` sections, and of the online metrics of its whole log."""
    beside = () if online is None else experiments.pooled(online)
    sections = (*own, *beside, reproduce_result(result, command))
    return Page(
        title or experiments.title_of(result), experiments.about(result), experiments.verdicts(result), sections, FOOT,
        experiments.answer(result, sections), result.exit_code,
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


# the page itself decides by day; the log is read before
OF_PAGE = {"variant", "by", "columns", "log_format", "time_format", "time_zone", "start", "end"}
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
    """Return the page of a log: of its experiment, its interleaved lists or its policies, and its online metrics, the verdict first."""
    chosen = {name: value for name, value in options.items() if name != "columns" and value is not None}
    chosen = {name: value for name, value in chosen.items() if not (isinstance(value, list | tuple) and not value)}
    models = chosen.pop("clicks", None)
    design = design_of(log, chosen.get("target"))
    taken = TAKEN[design]
    if (odd := next((name for name in chosen if name not in taken), None)) is not None:
        lacking = "experiments, and no column has the variants" if not design else "experiments"
        lacking = "policies: name one with --target" if odd in OF_POLICIES else lacking
        about = lacking if odd in {*OF_EXPERIMENT, *OF_POLICIES} else "rankings"
        raise InputError(f"{option_named(odd)} is about {about}: leave it out for {log.label}")
    if design in {"policies", "rankers"}:
        verb, of_verb = (estimate, "estimators") if design == "policies" else (interleaving, "credit")
        of_design = verb(log, **{of_verb: metrics}, **chosen)
        return _with_clicks(page_of_result(of_design, title, command), log, models)
    plan = chosen.pop("plan", None)
    wanted, request = metrics, ExperimentRequest(**chosen)
    if plan is not None:
        chosen["plan"] = plan = read_plan(plan).once_read
        wanted, request = plan.applied(metrics, request)
    roles = roles_of(log, wanted, request.primary, request.guardrails, request.margin) if design else ()
    if request.primary is not None:
        wanted = [request.primary, *([wanted] if isinstance(wanted, str) else wanted or [])]
    if log.of_impressions and design:  # the experiment, its days and slices, and online metrics sum up the same rows
        also = parse_online_metrics(wanted) if wanted else usual_metrics(log)
        log = with_merged_rows(log, [*roles, *also], ["variant", *attribute_columns(log, request.slices)])
    over = [name for name, role in (("day", "timestamp"), ("position", "position")) if log.has(role)]
    halves: list[Callable[[], Any]] = [
        lambda: _experiment(log, metrics, chosen) if design else (None, ()),
        lambda: online(log, wanted, by=over, level=1 - request.alpha) if log.of_impressions else None,
    ]
    # each uses one core most of the time; Spark has cores of its own
    compute = map_parts if log.elsewhere is None else map
    (result, own), values = compute(lambda half: half(), halves)
    if result is not None:
        page = page_of_experiment(result, own, title, command, values)
    else:
        assert values is not None
        named = f"Online metrics of {log.source.label.rpartition('/')[2]}"
        page = replace(page_of_result(values, title or named, command), about=experiments.dates_of(log))
    return _with_clicks(page, log, models)


def _with_clicks(page: Page, log: Log, models: Any) -> Page:
    """Return the page of a log with its position bias and its click models, if they are asked for, before the section that reproduces it."""
    if models is None:
        return page
    results = position_bias(log), clicks(log, None if models is True else models)
    *first, last = page.sections
    headlines = (Verdict(of_clicks.headline(one)) for one in results)
    return replace(page, verdicts=(*page.verdicts, *headlines), sections=(*first, *of_clicks.sections(*results), last))


def _experiment(log: Log, metrics: Any, options: Mapping[str, Any]) -> tuple[Experiment, tuple[Section, ...]]:
    """Return the experiment of a log, with its days if there are some to compare, and its sections."""
    result = experiment(log, metrics, **options)
    lead = next(iter(result.roles))
    if log.has("timestamp") and not lead.windowed and result.days is None:
        with suppress(DataError):  # only one day, or a variant without data in one half
            result = replace(result, days=over_days(result.variants, lead, result.families[0]))
    return result, tuple(experiments.sections(result))


TOGETHER = "together"  # the anchor of the section of both
BARS = "bars: the change as a share of the baseline, with its interval. The thin line marks no change"


def page_of_both(subject: Subject[Any], both: OnlineAgreement, title: str | None, command: str | None) -> Page:
    """The page of a comparison, whose rankings are the subject's, and of the experiment on the same change."""
    names = [both.pairing.label(variant) for variant in both.pairing.candidates]
    title = title or f"{words.listing(names)} against {both.pairing.label(both.pairing.baseline)}, offline and online"
    page = page_of(subject, title, command)
    *offline, last = page.sections
    units = words.counted(both.experiment.units.count, both.experiment.units.noun)
    about = f"{page.about} · {units} · main online metric: {both.experiment.primary}"
    first = " ".join(both.headline(row) for row in both.deciding)
    rest = [text for text in both.sentences() if text not in first]
    ours = Verdict(first, _tone(both), "offline and online"), Verdict(" ".join(rest), about="beside it")
    theirs = tuple(Verdict(text, about="online") for text in list(both.experiment.sentences())[1:])
    online = [
        _of_experiment(
            one, "Experiment" if one.name == "results" else f"Experiment: {one.title[:1].lower()}{one.title[1:]}"
        )
        for one in experiments.sections(both.experiment)
    ]
    again = _of_experiment(reproduce_result(both.experiment, None), "Reproduce the experiment")
    return replace(
        page, about=about, verdicts=(*ours, *page.verdicts, *theirs), answer=_answer(both, page.answer),
        sections=(_together(both), *offline, *online, last, again), exit_code=both.experiment.exit_code,
    )  # fmt: skip


def _of_experiment(section: Section, title: str) -> Section:
    """Return a section of the experiment, with names of its own."""
    own = [replace(b, name=f"experiment-{b.name}") if isinstance(b, Table) and b.name else b for b in section.blocks]
    return replace(section, name=f"experiment-{section.name}", title=title, blocks=tuple(own), folded=True)


def _tone(both: OnlineAgreement) -> Tone:
    """Return the tone of the answer: invalid if the split is, opposite if any variant is, otherwise the tone that all variants share."""
    if not both.experiment.validity.holds:
        return "invalid"
    if both.opposite:
        return "opposite"
    of_row = ((TONES.get(row.offline.verdict, "plain"), row.agrees) for row in both.deciding)
    tones: set[Tone] = {tone if agrees == "agree" else "unclear" for tone, agrees in of_row}
    return tones.pop() if len(tones) == 1 else "plain"


def _answer(both: OnlineAgreement, offline: Answer | None) -> Answer:
    """Return the first screen: whether the two agree, both on their main metrics, and one possible cause or caveat."""
    text = " ".join(both.headline(row, short=True) for row in both.deciding).removesuffix(".")
    caution, at = "", ""
    if both.causes:
        caution, at = both.causes[0].text, TOGETHER
    elif offline is not None:
        caution, at = offline.caution, offline.caution_at
    queries, pairs = ((), ()) if offline is None else (offline.queries, offline.pairs)
    split = experiments.split_of(both.experiment)
    return Answer(text, _tone(both), _board(both), caution, at, queries, pairs, split)


def _board(both: OnlineAgreement) -> Table:
    """Both sides on their main metrics, each with its change as a share of the baseline, so that one scale fits both."""
    several = len(both.pairing.runs) > 2
    main = {both.comparison.primary, both.experiment.primary}
    rows: list[tuple[Value, ...]] = []
    for one in (side for side in both.sides if side.contrast.metric in main):
        c, (relative, bounds) = one.contrast, one.contrast.relative
        lift = ValueRange(
            relative, bounds.lower, bounds.upper, text=words.in_table(words.relative(relative, bounds.ends))
        )
        labels = [one.side, one.variant, c.metric] if several else [one.side, c.metric]
        values = value_cell(c, c.baseline_value), value_cell(c, c.value), difference_cell(c), interval_cell(c)
        rows.append((*labels, *values, one.verdict, lift if bounds.known else None))
    heads = ["side", *(["variant"] if several else []), "metric"]
    first, second = both.pairing.baseline, "value" if several else both.pairing.candidates[0]
    taken = {*heads, "difference", "interval", "verdict", "change"}  # variants may be called anything
    named = [f"{name} (value)" if name in taken else name for name in (first, second)]
    columns = (
        *map(Column, heads), *(Column(name, "value") for name in (*named, "difference", "interval")), Column("verdict"),
        Column("change", "value", guide="zero"),
    )  # fmt: skip
    return Table(columns, tuple(rows), labels=len(heads), note=BARS, name="answer")


def _together(both: OnlineAgreement) -> Section:
    """Both sides on all their metrics, and what may explain that they are opposite."""
    blocks: list[Any] = [Heading("Possible explanations"), Notes(tuple(both.causes))] if both.causes else []
    blocks += [replace(both.table("sides"), title="Side by side", name="sides"), *both.charts()]
    if len(both.both) > len(both.deciding):
        blocks.append(replace(both.table(), title="Metric by metric", name="agreement"))
    lead = "The change by judgments, and by users."
    return Section(TOGETHER, "Offline and online", tuple(blocks), lead)
