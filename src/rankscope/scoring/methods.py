"""The statement of method of a paper: how values were made, with the sources of metrics and methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankscope import words
from rankscope._version import __version__
from rankscope.errors import InputError
from rankscope.inference import find_method
from rankscope.inference.base import Bounds, Correction, Interval, PairedTest
from rankscope.metrics import Metric
from rankscope.metrics.description import relevance_levels, stated_parameters
from rankscope.scoring.citations import bibliography, in_brackets, sources_of
from rankscope.scoring.request import Request


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
        return f"{in_words(method)}{between}{self.of(method, _numbers(str(method)), *more)}"

    def interval(self, spelling: str, alone: bool) -> str:
        """Return an interval by its spelling; several intervals name their values."""
        try:
            interval = find_method(Interval, spelling)
        except InputError:  # made by a class that is not declared
            return f"{spelling.partition('(')[0]} intervals{self.of(None, _numbers(spelling))}"
        return self.method(interval, *([interval.fits] if interval.fits and not alone else []))

    def statement(self, sentences: Iterable[str]) -> str:
        """Return the paragraph, and its sources as BibTeX."""
        return "\n".join([" ".join(sentences), "", *bibliography(self.sources), ""])


def in_words(method: PairedTest | Interval | Correction) -> str:
    """Return a method in words, or by its name."""
    by_kind = {"interval": "{} intervals", "test": "the test {}", "correction": "the correction {}"}
    return method.in_words or by_kind[method.kind].format(type(method).__name__)


def of_values(
    metrics: Iterable[tuple[str, Metric | None]], runs: str, queries: int, cites: Cites, request: Request | None, health: Sequence[Any] = (),
) -> Iterator[str]:  # fmt: skip
    """Yield the runs (``2 runs were``), their metrics, and the policies that changed something. ``request`` is None if scores were given."""
    metrics = list(metrics)
    named = "; ".join(
        name + ("" if metric is None else cites.of(metric, *stated_parameters(metric))) for name, metric in metrics
    )
    on = words.counted(queries, "query")
    if request is None:
        yield f"Scores of {runs} on {on} were compared with rankscope {__version__}, on {named}."
        return
    were = "was" if runs.startswith("1 ") else "were"
    yield f"{runs} {were} scored on {on} with rankscope {__version__}, by {named}."
    if level := relevance_levels(metric for _, metric in metrics if metric is not None):
        yield level
    yield from request.sentences(health)


def of_means(bounds: Iterable[Bounds], level: float, cites: Cites, clusters: str, tests: str = "") -> Iterator[str]:
    """Yield the intervals of means, and the ``clusters`` of queries if there are some."""
    methods = sorted({one.method for one in bounds if one.known})
    if names := [cites.interval(method, alone=len(methods) == 1) for method in methods]:
        yield f"Intervals of means are {words.percent(level)} {' or '.join(names)}."
    if cites.clustered:
        yield f"Queries come in {clusters}, and intervals{tests} of the sums over each."
