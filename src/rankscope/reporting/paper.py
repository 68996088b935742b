"""The paragraph of a paper on the method of a report, and its citations."""

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
from rankscope.reporting.citations import bibliography, in_brackets, sources_of
from rankscope.reporting.subject import Subject
from rankscope.verbs.compare.charts import is_corrected
from rankscope.verbs.compare.result import Comparison


@dataclass
class Cites:
    """The sources that a text cites, in order; ``clustered`` is true for queries in clusters."""

    clustered: bool
    sources: list[str] = field(default_factory=list)

    def of(self, thing: Any, *before: str) -> str:
        """Return the brackets after a metric or a method: the text ``before``, and its sources."""
        named = sources_of(thing, self.clustered)
        self.sources += named
        return in_brackets(named, *before)

    def method(self, method: PairedTest | Interval | Correction, *more: str, between: str = "") -> str:
        """A test, interval or correction in words, with the numbers that it was given and its sources."""
        return f"{_in_words(method)}{between}{self.of(method, *_numbers(str(method)), *more)}"

    def interval(self, spelling: str, alone: bool) -> str:
        """Return an interval by its spelling; several intervals name their values."""
        try:
            interval = find_method(Interval, spelling)
        except InputError:  # made by a class that is not declared
            return f"{spelling.partition('(')[0]} intervals{self.of(None, *_numbers(spelling))}"
        return self.method(interval, *([interval.fits] if interval.fits and not alone else []))


def _in_words(method: PairedTest | Interval | Correction) -> str:
    """Return a method in words, or by its name."""
    by_kind = {"interval": "{} intervals", "test": "the test {}", "correction": "the correction {}"}
    return method.in_words or by_kind[method.kind].format(type(method).__name__)


def _numbers(spelling: str) -> list[str]:
    """The numbers in the spelling of a method: ``rounds=500``."""
    numbers = spelling.partition("(")[2].removesuffix(")")
    return [numbers] if numbers else []


def blocks(subject: Subject[Any]) -> list[Block]:
    """Return the paragraph, and its sources as BibTeX."""
    cites, found = Cites(_has_clusters(subject)), subject.comparison
    text = [*_scoring(subject, cites), *_means(subject, cites)]
    text += [] if found is None else _comparing(found, cites)
    return [Heading("For a paper"), Paragraph(" ".join(text)), Code(tuple(bibliography(cites.sources)))]


# --- how values were made ----------------------------------------------------------------------------------


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


def _has_clusters(subject: Subject[Any]) -> bool:
    if subject.comparison is not None:
        return subject.lead.clusters is not None
    return subject.scores is not None and subject.scores.request.intervals.clusters is not None


def clusters(subject: Subject[Any]) -> str:
    """Return the number of clusters: ``12 clusters``; only a comparison knows it."""
    codes = subject.lead.clusters
    return "clusters" if codes is None else words.counted(int(codes.max()) + 1, "cluster")


# --- how runs were compared --------------------------------------------------------------------------------


def _comparing(found: Comparison, cites: Cites) -> Iterator[str]:
    method, corrected = found.method, is_corrected(found.family)
    against = "with every other" if found.all_pairs else f"with {found.baseline}"
    test, interval = method.test or find_method(PairedTest, "t"), interval_of(method)
    exact = _exact(found.contrasts) if method.test is None else ""
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


def _exact(contrasts: Iterable[Contrast]) -> str:
    """Yield the cases in which another test replaced t."""
    flipped = [c for c in contrasts if c.test.startswith("permutation")]
    where = [f"fewer than {FEWEST} queries differed"] if any(c.few for c in flipped) else []
    where += ["all queries differed alike"] if any(not c.few for c in flipped) else []
    return f"; where {' or '.join(where)}, by the exact sign-flip test" if where else ""


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
