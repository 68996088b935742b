"""The subject of a page (scores, or a comparison, with the rankings behind them), and the parts of its sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rankscope import words
from rankscope.blocks import Column, Section
from rankscope.errors import InputError
from rankscope.metrics import Metric, parse
from rankscope.metrics.description import DIRECTIONS, description_of
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import TopGroup
from rankscope.panels.panel import Panel
from rankscope.scoring.measurements import panels_of
from rankscope.scoring.scores import Scores
from rankscope.verbs.compare.charts import rivals
from rankscope.verbs.compare.result import Comparison

if TYPE_CHECKING:
    from rankscope.files.texts import Texts

R = TypeVar("R", bound=Scores | Comparison)

LINES = 8  # lines that a chart has colours for
NAMED = 3  # runs that a title names
MANY = 4  # runs from which on the best one is what the others are compared with, unless a baseline is named


@dataclass(frozen=True, eq=False)
class Subject(Generic[R]):
    """A result, and the rankings behind it.

    ``qrels`` and ``runs`` (by name, as in ``scores.runs``) are what was read: tables or dicts; empty without rankings.
    ``queries_text`` and ``docs_text`` hold the texts that were given, by id, and ``texts`` where they came from. ``depth`` is
    how many documents of each ranking are to be shown, None where that is left to the room there is. ``marks`` are notes and grades of
    readers, as JSON.
    """

    result: R
    qrels: Any = None
    runs: Mapping[str, Any] = field(default_factory=dict)
    queries_text: Mapping[str, str] = field(default_factory=dict)
    docs_text: Mapping[str, str] = field(default_factory=dict)
    texts: tuple[Texts, ...] = ()
    depth: int | None = None
    marks: str = ""

    @property
    def comparison(self) -> Comparison | None:
        """The comparison, or None."""
        return self.result if isinstance(self.result, Comparison) else None

    @property
    def scores(self) -> Scores | None:
        """The scores of ``evaluate``; None for a table of scores."""
        return self.result.scores if isinstance(self.result, Comparison) else self.result

    # -- metrics and queries --------------------------------------------------------------------------

    @cached_property
    def panels(self) -> Sequence[Panel]:
        """Each metric over all systems and queries, the main one first."""
        return self.result.panels if isinstance(self.result, Comparison) else panels_of(self.result)

    @property
    def lead(self) -> Panel:
        """The main metric."""
        return self.panels[0]

    @property
    def metric(self) -> Metric | None:
        """The main metric as one of the catalogue; None for scores with a name of their own."""
        return self.lead.metric

    @property
    def ranking_metric(self) -> Metric:
        """The metric of the order of rankings: the main one, or the first that was evaluated."""
        if self.metric is not None:
            return self.metric
        assert self.scores is not None
        return self.scores.metrics[0]

    @property
    def queries(self) -> str:
        """The number of queries, in words."""
        return words.counted(len(self.lead.units), "query")

    # -- systems --------------------------------------------------------------------------------------

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """All systems: the baseline of a comparison first, otherwise in the given order."""
        first = () if self.comparison is None else (self.comparison.baseline,)
        return (*first, *(name for name in self.lead.systems if name not in first))

    @cached_property
    def rivals(self) -> Sequence[Contrast]:
        """The contrasts on the main metric, the largest leads first; empty without a comparison."""
        return () if self.comparison is None else rivals(self.comparison.family)

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """Run and baseline of the rivals."""
        return [(c.run, c.baseline) for c in self.rivals]

    @property
    def members(self) -> Mapping[str, Sequence[str]]:
        """The runs of each system that is the mean of several."""
        return {} if self.comparison is None else self.comparison.measurements.members

    @property
    def title(self) -> str:
        """The title of the page: ``dense and hybrid against bm25``."""
        first, *others = self.systems
        if self.comparison is not None and self.comparison.all_pairs:
            return f"{len(self.systems)} runs, each against each"
        if not others:
            return f"{first}: how good is it?"
        return f"{words.listing(others) if len(others) <= NAMED else f'{len(others)} runs'} against {first}"

    def merit(self) -> list[str]:
        """All systems, the best on the main metric first; in the order given on a metric without a direction."""
        if isinstance(self.result, Comparison):
            return list(self.lead.means)
        return self.result.by_merit(self.ranking_metric)

    def colours(self) -> tuple[str, ...]:
        """The systems in the order in which they get colours: the baseline, then the best first."""
        first = self.systems[0]
        return (first, *(system for system in self.lead.means if system != first))

    def best(self, most: int) -> list[str]:
        """The systems that fit a chart, by merit: the baseline of a comparison, and the best others."""
        order, comparison = self.merit(), self.comparison
        held = [] if comparison is None or comparison.family.each_pair else [comparison.baseline]
        kept = {*held, *[name for name in order if name not in held][: most - len(held)]}
        return order if len(order) <= most else [name for name in order if name in kept]

    @cached_property
    def top_group(self) -> TopGroup | None:
        """The systems tied for first on the main metric; None without a comparison of three or more."""
        groups = [] if self.comparison is None else self.comparison.groups
        return next((group for group in groups if group.metric == self.lead.name), None)

    @cached_property
    def contenders(self) -> tuple[str, ...]:
        """The systems that the answer is about: of many the top group, the runner-up and the baseline, otherwise all."""
        if self.top_group is None or len(self.systems) < MANY:
            return self.systems
        kept = {*self.top_group.systems, *self.merit()[:2], self.systems[0]}
        return tuple(name for name in self.systems if name in kept)

    # -- the runs behind the systems ------------------------------------------------------------------

    @property
    def run_names(self) -> tuple[str, ...]:
        """The evaluated runs, in the given order; empty for a table of scores."""
        return () if self.scores is None else tuple(run.name for run in self.scores.runs)

    @property
    def first_run(self) -> str:
        """The run that others are compared with: the baseline, or its first run if several are one system."""
        return self.systems[0] if set(self.systems) == set(self.run_names) else self.run_names[0]

    def runs_by_merit(self) -> tuple[str, ...]:
        """The runs behind the systems, the best on the main metric first, as on the scoreboard; also if several are one system."""
        if set(self.systems) == set(self.run_names):
            return tuple(self.merit())
        assert self.scores is not None
        return tuple(self.scores.by_merit(self.ranking_metric))

    def few_runs(self, most: int = LINES) -> tuple[tuple[str, ...], str]:
        """Return at most this number of runs, the baseline and the best on the main metric, and a note on the others."""
        names, baseline = self.runs_by_merit(), self.first_run
        if len(names) <= most:
            return names, ""
        kept = {baseline, *[name for name in names if name != baseline][: most - 1]}
        left = words.counted(len(names) - len(kept), "run is", "runs are")
        text = f"Shown are {baseline} and the {most - 1} best others by {self.lead.name}, {left} left out."
        return tuple(name for name in names if name in kept), text

    def contending_runs(self) -> tuple[str, ...]:
        """The evaluated runs of the contenders, in the given order."""
        kept = {run for system in self.contenders for run in self.members.get(system, (system,))}
        return tuple(name for name in self.run_names if name in kept)

    def runs_in_order(self) -> tuple[str, ...]:
        """The runs with rankings: the two of the main verdict, others of the baseline, then the rivals, the furthest ahead first."""
        there = [name for name in self.run_names if name in self.runs]
        named = [system for pair in self.pairs[:1] for system in reversed(pair)]
        named += [*(run for run, _ in self.pairs), *self.systems]
        of = [self.members.get(system, (system,)) for system in named]
        order = [*(runs[0] for runs in of[:2]), *(run for runs in of for run in runs)]
        return tuple(dict.fromkeys([*(run for run in order if run in there), *there]))


def column_of(panel: Panel, header: str = "") -> Column:
    """Return the column of a metric, with its meaning."""
    return Column(header or panel.name, "count" if panel.measure.aggregate == "sum" else "value", hint=hint_of(panel))


def hint_of(panel: Panel) -> str:
    """Return the meaning of the metric of a panel."""
    try:
        return description_of(panel.metric or parse(panel.name))
    except InputError:
        return f"Scores as they were given. {DIRECTIONS[panel.better].capitalize()}."


class PagePart:
    """A section of a page: the subjects that have it, and the tables and charts that it picks.

    A subclass declares ``name`` (its anchor) and ``title``. All subjects have it, or only comparisons (``of_comparison``; False: only
    scores), or only subjects with scores of runs (``needs_scores``) or with rankings (``needs_rankings``). ``warned`` are codes of
    warnings: in other sections they link to this one. ``label`` is a shorter title for the contents of the page.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    of_comparison: ClassVar[bool | None] = None
    needs_scores: ClassVar[bool] = False
    needs_rankings: ClassVar[bool] = False
    warned: ClassVar[frozenset[str]] = frozenset()
    folded = True
    label: ClassVar[str] = ""

    def __init__(self, subject: Subject[Any]) -> None:
        self.subject = subject

    @classmethod
    def section(cls, subject: Subject[Any]) -> Section | None:
        """Return the section for a subject; None without content."""
        scores = subject.scores
        if cls.of_comparison not in (None, subject.comparison is not None):
            return None
        if (cls.needs_scores or cls.needs_rankings) and (scores is None or not scores.evaluations):
            return None
        if cls.needs_rankings and (not subject.runs or subject.metric is None):
            return None
        part = cls(subject)
        if not (blocks := tuple(part.blocks())):
            return None
        return Section(cls.name, cls.title, blocks, part.lead(), part.folded, part.caution(), cls.label)

    @property
    def scores(self) -> Scores:
        """The scores of a subject that has some."""
        assert self.subject.scores is not None
        return self.subject.scores

    @property
    def comparison(self) -> Comparison:
        """The comparison of a subject that is one."""
        assert self.subject.comparison is not None
        return self.subject.comparison

    @property
    def mine(self) -> Sequence[Contrast]:
        """The contrasts of a comparison on its main metric."""
        return self.comparison.of(self.comparison.primary)

    def blocks(self) -> Iterable[Any]:
        """Yield the content of the section: each section defines it."""
        raise TypeError(f"{type(self).__name__} defines no blocks(): return the content of its section")

    def lead(self) -> str:
        """Return the content in one sentence; called after the blocks."""
        return ""

    def caution(self) -> str:
        """One thing to doubt, with its size; asked for after the blocks."""
        return ""
