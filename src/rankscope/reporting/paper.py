"""The paragraph of a paper that says how the numbers of a report were made, and what it cites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rankscope import words
from rankscope._version import __version__
from rankscope.blocks import Block, Code, Heading, Paragraph
from rankscope.errors import InputError
from rankscope.inference import find_method
from rankscope.inference.base import Correction, Interval, PairedTest
from rankscope.inference.bootstrap import Posterior
from rankscope.inference.effects import Equivalence
from rankscope.metrics.description import relevance_levels, stated_parameters
from rankscope.panels.contrast import Contrast
from rankscope.panels.method import FEWEST, Method
from rankscope.reporting.citations import bibliography, cited, sources_of
from rankscope.reporting.subject import Subject, SubjectOfComparison
from rankscope.verbs.compare.result import Comparison


@dataclass
class Cites:
    """The sources that a text cites, in the order in which it does."""

    sources: list[str] = field(default_factory=list)

    def of(self, thing: Any, *before: str, clustered: bool = False) -> str:
        """What stands in brackets behind a metric or a method: what is said of it ``before``, and its sources."""
        named = sources_of(thing, clustered)
        self.sources += named
        return cited(named, *before)


def blocks(subject: Subject) -> list[Block]:
    """The paragraph, and what it cites as BibTeX."""
    cites = Cites()
    said = " ".join(_sentences(subject, cites))
    return [Heading("For a paper"), Paragraph(said), Code(tuple(bibliography(cites.sources)))]


def _sentences(subject: Subject, cites: Cites) -> Iterator[str]:
    yield from _scored(subject, cites)
    yield from _means(subject, cites)
    if isinstance(subject, SubjectOfComparison):
        yield from _compared(subject, cites)


# --- how values were made ----------------------------------------------------------------------------------


def _scored(subject: Subject, cites: Cites) -> Iterator[str]:
    systems = len(subject.systems)
    runs, on = words.counted(systems, "run"), subject.queries
    named = "; ".join(
        one.name + ("" if one.metric is None else cites.of(one.metric, *stated_parameters(one.metric)))
        for one in subject.fields
    )
    if subject.scores is None:
        yield f"Scores of {runs} on {on} were compared with rankscope {__version__}, on {named}."
    else:
        yield f"{runs} {words.agree(systems, 'was')} scored on {on} with rankscope {__version__}, by {named}."
        level = relevance_levels(one.metric for one in subject.fields if one.metric is not None)
        yield from [level] if level else []
        yield from subject.scores.request.sentences([run.health for run in subject.scores.runs])
    if isinstance(subject, SubjectOfComparison):
        yield from _repeated(subject.result)


def _repeated(found: Comparison) -> Iterator[str]:
    """Systems that ran several times, on the first metric as on all."""
    runs = next(iter(found.given.replicates.values()), {})
    if runs:
        several = ", ".join(f"{system} of {words.counted(one.runs, 'run')}" for system, one in runs.items())
        yield f"Runs of one system were averaged query by query: {several}."


def _means(subject: Subject, cites: Cites) -> Iterator[str]:
    """The intervals of the means that the scoreboard shows."""
    found, scores = isinstance(subject, SubjectOfComparison), subject.scores
    if isinstance(subject, SubjectOfComparison):
        level, clustered = subject.result.method.level, subject.lead.clusters is not None
        bounds = [f.interval(s, level) for f in subject.fields if not f.reason for s in f.systems]
    else:
        assert scores is not None
        level, clustered = scores.request.intervals.level, scores.request.intervals.clusters is not None
        bounds = [mean.bounds for mean in scores.board]
    used = sorted({one.method for one in bounds if one.known})
    names = []
    for said in used:
        interval = _interval_from(said)
        fits = [interval.fits] if interval is not None and interval.fits and len(used) > 1 else []
        names.append(_cited(interval, said, cites, *fits, clustered=clustered))
    if names:
        yield f"Intervals of means are {words.percent(level)} {' or '.join(names)}."
    if clustered:
        yield f"Queries come in {clusters(subject)}, and intervals{' and tests are' if found else ' are'} of the sums over each."


def clusters(subject: Subject) -> str:
    """How many clusters there are: ``12 clusters``; their number is known to a comparison alone."""
    codes = subject.lead.clusters
    return "clusters" if codes is None else words.counted(int(codes.max()) + 1, "cluster")


# --- how runs were compared --------------------------------------------------------------------------------


def _compared(subject: SubjectOfComparison, cites: Cites) -> Iterator[str]:
    found, method = subject.result, subject.result.method
    clustered = subject.lead.clusters is not None
    against = "with every other" if found.all_pairs else f"with {found.baseline}"
    test = method.test or find_method(PairedTest, "t")
    exact = _exact(found.contrasts) if method.test is None else ""
    yield f"Every run was compared {against} by {_named(test)}, two-sided{cites.of(test, *_numbers(test), clustered=clustered)}{exact}."
    yield from _intervals(subject, cites)
    yield from _corrected(subject, cites)
    yield from _further(found, cites)
    parts = (test, interval_of(method), method.correction)
    if any("seed" in {f.name for f in fields(part)} for part in parts) or method.bayes or exact:
        yield f"Random numbers start from seed {method.seed}."


def _exact(contrasts: Iterable[Contrast]) -> str:
    """Where another test than t was taken, as there was nothing for it to go by."""
    flipped = [c for c in contrasts if c.test.startswith("permutation")]
    where = [f"fewer than {FEWEST} queries differed"] if any(c.few for c in flipped) else []
    where += ["all queries differed alike"] if any(not c.few for c in flipped) else []
    return f"; where {' or '.join(where)}, by the exact sign-flip test" if where else ""


def interval_of(method: Method) -> Interval:
    """The interval of the differences: the one asked for, that of the test, or t."""
    return method.interval or getattr(method.test, "interval", None) or find_method(Interval, "t")


def _intervals(subject: SubjectOfComparison, cites: Cites) -> Iterator[str]:
    method = subject.result.method
    if method.correction.joint:
        yield f"Intervals of differences are simultaneous {words.percent(method.level)} intervals by {_named(method.correction)}."
        return
    interval = interval_of(method)
    named = _cited(interval, str(interval), cites, clustered=subject.lead.clusters is not None)
    if subject.corrected:
        yield f"Intervals of differences are {named} at the level at which {_named(method.correction)} tests each comparison ({words.percent(method.level)} for one alone)."
    else:
        yield f"Intervals of differences are {words.percent(method.level)} {named}."


def _corrected(subject: SubjectOfComparison, cites: Cites) -> Iterator[str]:
    found, method = subject.result, subject.result.method
    alpha = f"alpha = {words.amount(method.alpha)}"
    if str(method.correction) == "none":
        yield f"P-values were not corrected; {alpha}."
    elif not subject.corrected:
        each = "" if len(found.panels) == 1 else " for each metric"
        yield f"There was one comparison{each}, so no p-value needed correction; {alpha}."
    else:
        over = "the comparisons of each metric" if method.family == "metric" else "all runs and metrics"
        about = cites.of(method.correction, *_numbers(method.correction))
        yield f"P-values were corrected over {over} by {_named(method.correction)}{about}, at {alpha}."
    if found.slices is not None:
        by = " by Holm's correction" if method.correction.joint else ""
        yield f"Comparisons within slices were corrected together{by}, over all slices and runs of a metric."


def _further(found: Comparison, cites: Cites) -> Iterator[str]:
    """What was asked for beside: a margin, chances, a primary metric, how many systems were tried."""
    method = found.method
    if method.margin is not None:
        about = cites.of(Equivalence)
        yield f"Whether runs are practically the same was tested by two one-sided t tests{about}, with the margin {margins(method)}."
    if method.bayes:
        yield f"Chances are of the Bayesian bootstrap{cites.of(Posterior)}."
    if found.declared:
        yield f"{found.primary} was declared as the primary metric."
    if found.tried is not None:
        yield f"{words.count(found.tried)} systems were tried on these judgments."


def margins(method: Method) -> str:
    """The margin, or that of each metric that has one."""
    if isinstance(method.margin, Mapping):
        return ", ".join(f"{words.amount(value)} ({name})" for name, value in method.margin.items())
    return words.amount(float(method.margin or 0.0))


# --- methods -----------------------------------------------------------------------------------------------


def _named(method: PairedTest | Interval | Correction) -> str:
    """What a text calls a method: in its words, or by its name where it has none."""
    kind = {"interval": "{} intervals", "test": "the test {}", "correction": "the correction {}"}[method.kind]
    return method.in_words or kind.format(type(method).__name__)


def _numbers(method: object) -> list[str]:
    """The numbers that a method was given: ``rounds=500``."""
    return [part for part in [str(method).partition("(")[2].removesuffix(")")] if part]


def _cited(interval: Interval | None, said: str, cites: Cites, *more: str, clustered: bool) -> str:
    """An interval in words with its numbers and sources; by its spelling alone where its class is not known."""
    name = f"{said.partition('(')[0]} intervals" if interval is None else _named(interval)
    return name + cites.of(interval, *_numbers(said), *more, clustered=clustered)


def _interval_from(said: str) -> Interval | None:
    """The interval of a spelling; None where it was made by a class that is not declared."""
    try:
        return find_method(Interval, said)
    except InputError:
        return None
