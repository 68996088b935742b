"""The statement of method of a comparison, for a paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from rankscope import words
from rankscope.inference.base import Interval, PairedTest
from rankscope.inference.bootstrap import Posterior
from rankscope.inference.effects import Equivalence
from rankscope.panels.families import Family
from rankscope.panels.method import FEWEST, Method, find_method
from rankscope.scoring.measurements import Measurements
from rankscope.scoring.methods import Cites, in_words, of_means, of_values
from rankscope.verbs.compare.charts import is_corrected


@dataclass(frozen=True)
class Compared:
    """A comparison: its family and measurements, the systems ``against`` which runs were compared, and the options that were given."""

    family: Family
    measurements: Measurements
    against: str
    sliced: bool = False
    primary_declared: bool = False
    tried: int | None = None

    def statement(self) -> str:
        """Return the paragraph for a paper, then its sources as BibTeX."""
        family, measurements = self.family, self.measurements
        panels, level, codes = family.panels, family.method.level, family.primary.clusters
        cites = Cites(codes is not None)
        scores = measurements.scores
        request, health = (None, []) if scores is None else (scores.request, [one.health for one in scores.runs])
        runs = words.counted(len(family.primary.systems), "run")
        metrics = [(panel.name, panel.metric) for panel in panels]
        text = [*of_values(metrics, runs, len(family.primary.units), cites, request, health)]
        if replicates := next(iter(measurements.replicates.values()), {}):  # on one metric as on all
            several = ", ".join(f"{system} of {words.counted(one.runs, 'run')}" for system, one in replicates.items())
            text.append(f"Runs of one system were averaged query by query: {several}.")
        bounds = [panel.interval(s, level) for panel in panels if not panel.reason for s in panel.systems]
        clusters = "" if codes is None else words.counted(int(codes.max()) + 1, "cluster")
        text += [*of_means(bounds, level, cites, clusters, " and tests are"), *_comparing(self, cites)]
        return cites.statement(text)


def _comparing(comparison: Compared, cites: Cites) -> Iterator[str]:
    family, method, corrected = comparison.family, comparison.family.method, is_corrected(comparison.family)
    if family.looked:
        yield f"The baseline was chosen as the run with the best {family.primary.name}, so corrections count all pairs of the {len(family.primary.systems):,} runs."
    test, interval = method.test or find_method(PairedTest, "t"), interval_of(method)
    # another test replaces t in some cases
    flipped = [c for c in family.contrasts if method.test is None and c.test.startswith("permutation")]
    where = [f"fewer than {FEWEST} queries differed"] if any(c.few for c in flipped) else []
    where += ["all queries differed alike"] if any(not c.few for c in flipped) else []
    exact = f", or if {' or '.join(where)}, by the exact sign-flip test" if where else ""
    yield f"Every run was compared with {comparison.against} by {cites.method(test, between=', two-sided')}{exact}."
    level, correction = words.percent(method.level), in_words(method.correction)
    if method.correction.joint:
        yield f"Intervals of differences are simultaneous {level} intervals by {correction}."
    elif corrected:
        yield f"Intervals of differences are {cites.method(interval)} at the level at which {correction} tests each comparison ({level} for one comparison)."
    else:
        yield f"Intervals of differences are {level} {cites.method(interval)}."
    yield from _correction(comparison, cites)
    yield from _further(comparison, cites)
    parts = (test, interval, method.correction)
    if any("seed" in {f.name for f in fields(part)} for part in parts) or method.bayes or exact:
        yield f"Random numbers start from seed {method.seed}."


def interval_of(method: Method) -> Interval:
    """Return the interval of the differences: the chosen one, the one of the test, or t."""
    return method.interval or getattr(method.test, "interval", None) or find_method(Interval, "t")


def _correction(comparison: Compared, cites: Cites) -> Iterator[str]:
    method = comparison.family.method
    alpha = f"alpha = {words.amount(method.alpha)}"
    if not method.correction.corrects:
        yield f"P-values were not corrected, and {alpha}."
    elif not is_corrected(comparison.family):
        each = "" if len(comparison.family.panels) == 1 else " for each metric"
        yield f"There was one comparison{each}, so no p-value needed correction, and {alpha}."
    else:
        over = "the comparisons of each metric" if method.family == "metric" else "all runs and metrics"
        yield f"P-values were corrected over {over} by {cites.method(method.correction)}, at {alpha}."
    if comparison.sliced:
        by = " by Holm's correction" if method.correction.joint else ""
        yield f"Comparisons within slices were corrected together{by}, over all slices and runs of a metric."


def _further(comparison: Compared, cites: Cites) -> Iterator[str]:
    method = comparison.family.method
    if method.margin is not None:
        about = cites.of(Equivalence)
        yield f"Whether runs are practically the same was tested by two one-sided t tests{about}, with the margin {margins(method)}."
    if method.bayes:
        yield f"Chances are of the Bayesian bootstrap{cites.of(Posterior)}."
    if comparison.primary_declared:
        yield f"{comparison.family.primary.name} was declared as the primary metric."
    if comparison.tried is not None:
        yield f"{words.count(comparison.tried)} systems were tried on these judgments."


def margins(method: Method) -> str:
    """Return the margin, or one per metric."""
    if isinstance(method.margin, Mapping):
        return ", ".join(f"{margin} ({name})" for name, margin in method.margin.items())
    return str(method.margin)
