"""How to reproduce the numbers: command, versions, conventions, inputs; and the paragraph of a paper with its citations."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rankscope import words
from rankscope._version import __version__
from rankscope.blocks import Block, Code, Column, Facts, Heading, Paragraph, Section, Table, Value
from rankscope.errors import InputError
from rankscope.inference import find_method
from rankscope.inference.base import Correction, Interval, PairedTest
from rankscope.inference.bootstrap import Posterior
from rankscope.inference.effects import Equivalence
from rankscope.metrics.description import convention_of, relevance_levels, stated_parameters
from rankscope.panels.method import FEWEST, Method
from rankscope.reporting.citations import bibliography, in_brackets, sources_of
from rankscope.reporting.subject import Subject
from rankscope.scoring.request import USUAL
from rankscope.scoring.scores import Scores
from rankscope.show.result import Result
from rankscope.verbs.compare.charts import is_corrected
from rankscope.verbs.compare.result import Comparison

PACKAGES = ("numpy", "polars", "scipy", "altair")
NO_HASH = "in memory"
Fact = tuple[str, str]


def reproduce(subject: Subject[Any], command: str | None) -> Section:
    """The section that reproduces a page. ``command`` is the command or call, None if unknown.

    It holds nothing that differs from one making of the page to the next: no time, no place but those the reader typed.
    """
    conventions = [] if subject.scores is None else list(_conventions(subject, subject.scores))
    if subject.comparison is not None:
        conventions += _method(subject, subject.comparison)
    columns = ("input", "file", "kind", "rows", "SHA-256")
    return _section(command, conventions, columns, _inputs(subject), notes_read(subject), paper_blocks(subject))


def reproduce_result(result: Result, command: str | None) -> Section:
    """The facts of any other result: versions, conventions, inputs."""
    stated = dict(getattr(result, "conventions", {})).items()
    conventions = [
        (name.replace("_", " "), str(value)) for name, value in stated if isinstance(value, str | int | float)
    ]
    inputs = [one for one in result.json_header().get("inputs", ()) if one]
    rows = [(str(one.get("path", "")), one.get("sha256") or NO_HASH) for one in inputs]
    return _section(command, conventions, ("file", "SHA-256"), rows, list(getattr(result, "notes", ())))


def _section(
    command: str | None, conventions: Sequence[Fact], columns: Sequence[str], inputs: Iterable[Sequence[Value]],
    notes: Sequence[str], more: Iterable[Block] = (),
) -> Section:  # fmt: skip
    blocks: list[Block] = [*([Code((command,))] if command else []), Facts(tuple(versions()))]
    if conventions:
        blocks += [Heading("Conventions"), Facts(tuple(conventions))]
    if rows := tuple(map(tuple, inputs)):
        heads = tuple(Column(name, "count" if name == "rows" else "text") for name in columns)
        blocks.append(Table(heads, rows, name="inputs", title="Inputs"))
    if notes:
        blocks += [Heading("Inputs"), *(Paragraph(note, quiet=True) for note in notes)]
    lead = "Everything needed to get the same numbers again."
    return Section("reproduce", "Reproduce", (*blocks, *more), lead, folded=True)


def versions() -> Iterator[Fact]:
    """Return the versions of the software."""
    yield "rankscope", __version__
    yield "Python", platform.python_version()
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


def notes_read(subject: Subject[Any]) -> list[str]:
    """Return the notes of readers, one line per file or one for many, each once."""
    scores = subject.scores
    own = [] if scores is None else scores.reader_notes()
    known = set() if scores is None else set(scores.notes)
    more = [note for note in subject.result.notes if note not in known]
    return [*dict.fromkeys([*own, *more]), *(note for texts in subject.texts for note in texts.notes)]


# --- conventions
def _conventions(subject: Subject[Any], scores: Scores) -> Iterator[Fact]:
    """Everything that the values rest on, in words."""
    stated = scores.conventions
    yield from scores.request.in_words()
    if subject.comparison is None:
        yield "interval of means", f"{words.percent(stated['level'])}, {stated['interval']}"
        if stated["clusters"]:
            yield ("clusters", "given in memory" if stated["clusters"] == "clusters" else f"of {stated['clusters']}")
    for metric in scores.metrics:
        if convention := convention_of(metric):
            yield str(metric), convention


def _method(subject: Subject[Any], found: Comparison) -> Iterator[Fact]:
    """Yield the method of the comparison."""
    method = found.method
    yield "baseline", "every run against every other" if found.all_pairs else found.baseline
    yield "primary metric", f"{found.primary}{'' if found.primary_declared else ' (the first one)'}"
    usual = f"paired t; where fewer than {FEWEST} queries differ, the exact sign-flip test"
    yield "test", usual if method.test is None else str(method.test)
    yield "interval of means", f"{words.percent(method.level)}, {USUAL}"
    joint = method.correction.joint
    level = ", at the level of the correction where there is one" if is_corrected(found.family) and not joint else ""
    of = method.correction if joint else interval_of(method)
    yield "interval of differences", f"{words.percent(method.level)}, {of}{level}"
    over = "within each metric" if method.family == "metric" else "over all metrics together"
    yield "correction", f"{method.correction}, {over}"
    yield "alpha", words.amount(method.alpha)
    if method.margin is not None:
        yield "margin", margins(method)
    if subject.lead.clusters is not None:
        yield "clusters", f"queries come in {clusters(subject)}; intervals and tests are of the sums over each"
    for system, runs in next(iter(found.measurements.replicates.values()), {}).items():
        yield f"runs of {system}", f"{words.count(runs.runs)}, averaged query by query"
    if found.candidates_tried is not None:
        yield "systems tried", words.count(found.candidates_tried)
    yield "seed", str(method.seed)


# --- inputs
def _inputs(subject: Subject[Any]) -> Iterator[tuple[Value, ...]]:
    """Return the inputs with the hash of their content."""
    scores, found = subject.scores, subject.comparison
    if scores is not None and subject.runs:
        for name, data in (("qrels", subject.qrels), *subject.runs.items()):
            if isinstance(data, dict):
                yield name, None, "dict", sum(map(len, data.values())), NO_HASH
            else:
                path = data.source.label if data.source.sha256 else None
                yield name, path, data.source.kind, data.frame.height, _hash(data.source)
    elif scores is not None:
        yield from ((source.label, source.label, source.kind, None, _hash(source)) for source in scores.inputs)
    elif found is not None:
        for one in found.measurements.inputs:
            yield "scores", str(one.get("path", "")), "scores", None, str(one.get("sha256") or NO_HASH)
    for texts in subject.texts:
        path = texts.label if texts.source.sha256 else None
        yield "texts" if path else texts.label, path, texts.source.kind, len(texts.by_id), _hash(texts.source)


def _hash(source: Any) -> str:
    return str(source.sha256()) if source.sha256 else NO_HASH


def _numbers(spelling: str) -> str:
    return spelling.partition("(")[2].removesuffix(")")


@dataclass
class Cites:
    """The sources that a text cites, in order; ``clustered`` is true for queries in clusters."""

    clustered: bool
    sources: list[str] = field(default_factory=list)

    def of(self, thing: Any, *before: str) -> str:
        """Return the brackets after a metric or a method: the text ``before``, and its sources."""
        named = sources_of(thing, self.clustered)
        self.sources += named
        return in_brackets(named, *filter(None, before))

    def method(self, method: PairedTest | Interval | Correction, *more: str, between: str = "") -> str:
        """Return a test, interval or correction in words, with its numbers (``rounds=500``) and its sources."""
        return f"{_in_words(method)}{between}{self.of(method, _numbers(str(method)), *more)}"

    def interval(self, spelling: str, alone: bool) -> str:
        """Return an interval by its spelling; several intervals name their values."""
        try:
            interval = find_method(Interval, spelling)
        except InputError:  # made by a class that is not declared
            return f"{spelling.partition('(')[0]} intervals{self.of(None, _numbers(spelling))}"
        return self.method(interval, *([interval.fits] if interval.fits and not alone else []))


def _in_words(method: PairedTest | Interval | Correction) -> str:
    """Return a method in words, or by its name."""
    by_kind = {"interval": "{} intervals", "test": "the test {}", "correction": "the correction {}"}
    return method.in_words or by_kind[method.kind].format(type(method).__name__)


def paper_blocks(subject: Subject[Any]) -> list[Block]:
    """Return the paragraph, and its sources as BibTeX."""
    found, clustered = subject.comparison, subject.lead.clusters is not None
    if found is None:
        clustered = subject.scores is not None and subject.scores.request.intervals.clusters is not None
    cites = Cites(clustered)
    text = [*_scoring(subject, cites), *_means(subject, cites)]
    text += [] if found is None else _comparing(found, cites)
    return [Heading("For a paper"), Paragraph(" ".join(text)), Code(tuple(bibliography(cites.sources)))]


# --- how values were made
def _scoring(subject: Subject[Any], cites: Cites) -> Iterator[str]:
    panels, scores, found = subject.panels, subject.scores, subject.comparison
    runs, on = words.counted(len(subject.systems), "run"), subject.queries
    named = "; ".join(
        panel.name + ("" if panel.metric is None else cites.of(panel.metric, *stated_parameters(panel.metric)))
        for panel in panels
    )
    if scores is None:
        yield f"Scores of {runs} on {on} were compared with rankscope {__version__}, on {named}."
    else:
        were = words.agree(len(subject.systems), "was")
        yield f"{runs} {were} scored on {on} with rankscope {__version__}, by {named}."
        level = relevance_levels(panel.metric for panel in panels if panel.metric is not None)
        yield from [level] if level else []
        yield from scores.request.sentences([run.health for run in scores.runs])
    if found is not None and (
        replicates := next(iter(found.measurements.replicates.values()), {})
    ):  # on one metric as on all
        several = ", ".join(f"{system} of {words.counted(one.runs, 'run')}" for system, one in replicates.items())
        yield f"Runs of one system were averaged query by query: {several}."


def _means(subject: Subject[Any], cites: Cites) -> Iterator[str]:
    """The intervals of the means that the scoreboard shows."""
    found, scores = subject.comparison, subject.scores
    if found is not None:
        level = found.method.level
        bounds = [panel.interval(s, level) for panel in subject.panels if not panel.reason for s in panel.systems]
    else:
        assert scores is not None
        level, bounds = scores.request.intervals.level, [mean.bounds for mean in scores.board]
    methods = sorted({one.method for one in bounds if one.known})
    names = [cites.interval(method, alone=len(methods) == 1) for method in methods]
    if names:
        yield f"Intervals of means are {words.percent(level)} {' or '.join(names)}."
    if cites.clustered:
        tests = " are" if found is None else " and tests are"
        yield f"Queries come in {clusters(subject)}, and intervals{tests} of the sums over each."


def clusters(subject: Subject[Any]) -> str:
    """Return the number of clusters: ``12 clusters``; only a comparison knows it."""
    codes = subject.lead.clusters
    return "clusters" if codes is None else words.counted(int(codes.max()) + 1, "cluster")


# --- how runs were compared
def _comparing(found: Comparison, cites: Cites) -> Iterator[str]:
    method, corrected = found.method, is_corrected(found.family)
    against = "with every other" if found.all_pairs else f"with {found.baseline}"
    test, interval = method.test or find_method(PairedTest, "t"), interval_of(method)
    # another test replaces t in some cases
    flipped = [c for c in found.contrasts if method.test is None and c.test.startswith("permutation")]
    where = [f"fewer than {FEWEST} queries differed"] if any(c.few for c in flipped) else []
    where += ["all queries differed alike"] if any(not c.few for c in flipped) else []
    exact = f"; where {' or '.join(where)}, by the exact sign-flip test" if where else ""
    yield f"Every run was compared {against} by {cites.method(test, between=', two-sided')}{exact}."
    if method.test is None and (pooled := [panel.name for panel in found.panels if panel.pools]):
        units = "queries" if found.panels[0].clusters is None else "clusters"
        yield f"{words.listing(pooled)}, of the documents of all queries together, was compared by the bootstrap over {units}."
    level, correction = words.percent(method.level), _in_words(method.correction)
    if method.correction.joint:
        yield f"Intervals of differences are simultaneous {level} intervals by {correction}."
    elif corrected:
        yield f"Intervals of differences are {cites.method(interval)} at the level at which {correction} tests each comparison ({level} for one alone)."
    else:
        yield f"Intervals of differences are {level} {cites.method(interval)}."
    yield from _correction(found, cites)
    yield from _further(found, cites)
    parts = (test, interval, method.correction)
    if any("seed" in {f.name for f in fields(part)} for part in parts) or method.bayes or exact:
        yield f"Random numbers start from seed {method.seed}."


def interval_of(method: Method) -> Interval:
    """Return the interval of the differences: the chosen one, the one of the test, or t."""
    return method.interval or getattr(method.test, "interval", None) or find_method(Interval, "t")


def _correction(found: Comparison, cites: Cites) -> Iterator[str]:
    method = found.method
    alpha = f"alpha = {words.amount(method.alpha)}"
    if not method.correction.corrects:
        yield f"P-values were not corrected; {alpha}."
    elif not is_corrected(found.family):
        each = "" if len(found.panels) == 1 else " for each metric"
        yield f"There was one comparison{each}, so no p-value needed correction; {alpha}."
    else:
        over = "the comparisons of each metric" if method.family == "metric" else "all runs and metrics"
        yield f"P-values were corrected over {over} by {cites.method(method.correction)}, at {alpha}."
    if found.slices is not None:
        by = " by Holm's correction" if method.correction.joint else ""
        yield f"Comparisons within slices were corrected together{by}, over all slices and runs of a metric."


def _further(found: Comparison, cites: Cites) -> Iterator[str]:
    """Yield the other options: a margin, probabilities, a primary metric, the number of systems tried."""
    method = found.method
    if method.margin is not None:
        about = cites.of(Equivalence)
        yield f"Whether runs are practically the same was tested by two one-sided t tests{about}, with the margin {margins(method)}."
    if method.bayes:
        yield f"Chances are of the Bayesian bootstrap{cites.of(Posterior)}."
    if found.primary_declared:
        yield f"{found.primary} was declared as the primary metric."
    if found.candidates_tried is not None:
        yield f"{words.count(found.candidates_tried)} systems were tried on these judgments."


def margins(method: Method) -> str:
    """Return the margin, or one per metric."""
    if isinstance(method.margin, Mapping):
        return ", ".join(f"{margin} ({name})" for name, margin in method.margin.items())
    return str(method.margin)
