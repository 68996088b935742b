"""What a report is about: the scores of runs, or a comparison of them, with the rankings behind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from rankscope import words
from rankscope.metrics import Metric
from rankscope.panels.contrast import Contrast
from rankscope.panels.panel import Panel
from rankscope.scoring.measurements import panels_of
from rankscope.scoring.scores import Scores
from rankscope.verbs.compare.charts import is_corrected, method_in_words, p_in_words, rivals
from rankscope.verbs.compare.result import Comparison

if TYPE_CHECKING:
    from rankscope.files.texts import Texts
    from rankscope.scoring.runs import RunEvaluation

LINES = 8  # lines that a chart has colours for
NAMED = 3  # runs that a title names


@dataclass(frozen=True, eq=False)
class Subject:
    """A result, and the rankings behind it.

    ``qrels`` and ``runs`` (by name, as in ``scores.runs``) are what was read: tables or dicts; empty without rankings.
    ``queries_text`` and ``docs_text`` hold the texts that were given, by id, and ``texts`` where they came from. ``shown`` is
    how many documents of each ranking are to be shown, None where that is left to the room there is.
    """

    result: Scores | Comparison
    qrels: Any = None
    runs: Mapping[str, Any] = field(default_factory=dict)
    queries_text: Mapping[str, str] = field(default_factory=dict)
    docs_text: Mapping[str, str] = field(default_factory=dict)
    texts: tuple[Texts, ...] = ()
    shown: int | None = None

    if TYPE_CHECKING:  # said by the two kinds of subjects

        @property
        def scores(self) -> Scores | None:
            """What ``evaluate`` found; None where a table of scores was compared."""

        @property
        def fields(self) -> Sequence[Panel]:
            """Each metric over all systems and queries, the main one first."""

        @property
        def systems(self) -> tuple[str, ...]:
            """All systems, the baseline first, else as they were given."""

        @property
        def rivals(self) -> Sequence[Contrast]:
            """The contrasts to look at, on the main metric, those first in which the run is furthest ahead."""

        @property
        def members(self) -> Mapping[str, Sequence[str]]:
            """The runs of each system that is the mean of several."""

        @property
        def title(self) -> str:
            """What the page is called."""

        def merit(self) -> list[str]:
            """All systems, the best on the main metric first; in the order given on a metric without a direction."""

    @property
    def lead(self) -> Panel:
        """The main metric."""
        return self.fields[0]

    @property
    def metric(self) -> Metric | None:
        """The main metric as one of the catalogue; None for scores that were given with a name of their own."""
        return self.lead.metric

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """Run and baseline of the rivals."""
        return [(c.run, c.baseline) for c in self.rivals]

    @property
    def queries(self) -> str:
        """How many queries there are, in words."""
        return words.counted(len(self.lead.units), "query")

    def colours(self) -> tuple[str, ...]:
        """The systems in the order in which they get colours: the baseline, then the best first."""
        first = self.systems[0]
        return (first, *(system for system in self.lead.by_merit if system != first))

    def best(self, most: int) -> list[str]:
        """As many systems as a chart has room for, in order of merit: the baseline of a comparison, and the best others."""
        order, held = self.merit(), self._held()
        kept = {*held, *[name for name in order if name not in held][: most - len(held)]}
        return order if len(order) <= most else [name for name in order if name in kept]

    def _held(self) -> list[str]:
        return []

    # -- the runs behind the systems ------------------------------------------------------------------

    @property
    def run_names(self) -> tuple[str, ...]:
        """The runs that were scored, in the order given; none where scores were given."""
        return () if self.scores is None else tuple(run.name for run in self.scores.runs)

    @property
    def ranking_metric(self) -> Metric:
        """The metric in whose order rankings are laid side by side: the main one, or the first that was evaluated."""
        if self.metric is not None:
            return self.metric
        assert self.scores is not None
        return self.scores.metrics[0]

    @property
    def first_run(self) -> str:
        """The run that others are compared with: the baseline, or the first one given where several are one system."""
        return self.systems[0] if set(self.systems) == set(self.run_names) else self.run_names[0]

    def runs_by_merit(self) -> tuple[str, ...]:
        """The runs behind the systems, the best on the main metric first, as on the scoreboard; also where several are one system."""
        if set(self.systems) == set(self.run_names):
            return tuple(self.merit())
        assert self.scores is not None
        return tuple(best_first(self.scores, self.ranking_metric, self.run_names))

    def few_runs(self, most: int = LINES) -> tuple[tuple[str, ...], str]:
        """At most so many runs, the baseline and the best on the main metric, the best first; and what to say of the others."""
        names, baseline = self.runs_by_merit(), self.first_run
        if len(names) <= most:
            return names, ""
        kept = {baseline, *[name for name in names if name != baseline][: most - 1]}
        left = len(names) - len(kept)
        said = f"Shown are {baseline} and the {most - 1} best others by {self.lead.name}; {words.counted(left, 'run is', 'runs are')} left out."
        return tuple(name for name in names if name in kept), said

    def runs_in_order(self) -> tuple[str, ...]:
        """The runs with rankings: the two of the main verdict, then the others of the baseline, then the rivals, the furthest ahead first.

        In place of a system that is the mean of several runs stand these; the first of them is the one of the two.
        """
        there = [name for name in self.run_names if name in self.runs]
        named = [system for pair in self.pairs[:1] for system in reversed(pair)]
        named += [*(run for run, _ in self.pairs), *self.systems]
        of = [self.members.get(system, (system,)) for system in named]
        order = [*(runs[0] for runs in of[:2]), *(run for runs in of for run in runs)]
        return tuple(dict.fromkeys([*(run for run in order if run in there), *there]))


@dataclass(frozen=True, eq=False)
class SubjectOfScores(Subject):
    """Scores of one run, or of several that nobody compared."""

    result: Scores

    @property
    def scores(self) -> Scores:
        """What ``evaluate`` found."""
        return self.result

    @cached_property
    def fields(self) -> Sequence[Panel]:
        """Each metric over all runs and queries, in the order given."""
        return panels_of(self.result)

    @property
    def systems(self) -> tuple[str, ...]:
        """All runs, as they were given."""
        return self.lead.systems

    @property
    def rivals(self) -> Sequence[Contrast]:
        """None, as nothing is compared."""
        return ()

    @property
    def members(self) -> Mapping[str, Sequence[str]]:
        """None, as every run is a system."""
        return {}

    @property
    def title(self) -> str:
        """What the page is called."""
        first, *others = self.systems
        return _against(others, first) if others else f"{first}: how good is it?"

    def merit(self) -> list[str]:
        """All runs, the best on the main metric first: the scoreboard also knows metrics of all queries together."""
        return best_first(self.result, self.ranking_metric, self.lead.systems)


@dataclass(frozen=True, eq=False)
class SubjectOfComparison(Subject):
    """A comparison of several runs."""

    result: Comparison

    @property
    def comparison(self) -> Comparison:
        """What ``compare`` found."""
        return self.result

    @property
    def scores(self) -> Scores | None:
        """What ``evaluate`` found; None where a table of scores was compared."""
        return self.result.scores

    @property
    def fields(self) -> Sequence[Panel]:
        """The metrics that are compared, the primary one first."""
        return self.result.panels

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """All systems, the baseline first."""
        first = self.result.baseline
        return (first, *(name for name in self.lead.systems if name != first))

    @property
    def mine(self) -> Sequence[Contrast]:
        """The contrasts on the main metric."""
        return self.result.of(self.result.primary)

    @cached_property
    def rivals(self) -> Sequence[Contrast]:
        """The contrasts on the main metric, those first in which the run is furthest ahead."""
        return rivals(self.result.family)

    @property
    def members(self) -> Mapping[str, Sequence[str]]:
        """The runs of each system that is the mean of several."""
        return self.result.given.members

    @property
    def each_pair(self) -> bool:
        """Whether more than two runs are compared each with each, so that none is the baseline."""
        return self.result.family.each_pair

    @property
    def corrected(self) -> bool:
        """Whether p-values and intervals are corrected for several comparisons."""
        return is_corrected(self.result.family)

    @property
    def title(self) -> str:
        """What the page is called: ``dense and hybrid against bm25``."""
        first, *others = self.systems
        return f"{len(self.systems)} runs, each against each" if self.result.all_pairs else _against(others, first)

    @property
    def method(self) -> str:
        """The test, its correction, and the clusters that queries come in."""
        return method_in_words(self.result.family)

    @property
    def p_value(self) -> str:
        """What the p-values are."""
        return p_in_words(self.result.family)

    def merit(self) -> list[str]:
        """All systems, the best on the main metric first; in the order given on a metric without a direction."""
        return list(self.lead.by_merit)

    def _held(self) -> list[str]:
        return [] if self.each_pair else [self.result.baseline]


def best_first(scores: Scores, metric: Metric, names: Sequence[str]) -> list[str]:
    """Runs by their value on a metric, the best first, those without a value last; as given on a metric without a direction."""
    sign = {"higher": 1.0, "lower": -1.0, "neither": 0.0}[metric.better]
    value = {mean.run: sign * mean.value for mean in scores.board if mean.metric == metric}
    return sorted(names, key=lambda name: math.inf if math.isnan(value[name]) else -value[name])


def _against(others: Sequence[str], first: str) -> str:
    return f"{words.listing(others) if len(others) <= NAMED else f'{len(others)} runs'} against {first}"


@overload
def subject_of(result: Comparison, *of: Any, **more: Any) -> SubjectOfComparison: ...
@overload
def subject_of(result: Scores, *of: Any, **more: Any) -> SubjectOfScores: ...
@overload
def subject_of(result: Scores | Comparison, *of: Any, **more: Any) -> SubjectOfScores | SubjectOfComparison: ...
def subject_of(result: Scores | Comparison, *of: Any, **more: Any) -> SubjectOfScores | SubjectOfComparison:
    """The subject that a result makes, with its qrels and runs where there are any."""
    return (
        SubjectOfComparison(result, *of, **more)
        if isinstance(result, Comparison)
        else SubjectOfScores(result, *of, **more)
    )


def evaluation_of(scores: Scores, run: str) -> RunEvaluation:
    """The judged documents of a run; its name is one of ``scores.runs``. Raises KeyError for another."""
    for scored, found in zip(scores.runs, scores.evaluations, strict=True):
        if scored.name == run:
            return found
    raise KeyError(run)
