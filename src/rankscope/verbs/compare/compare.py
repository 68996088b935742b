"""Compare runs: which is better, by how much, and whether the difference is real."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankscope.blocks import Caution
from rankscope.errors import DataError, InputError
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import TopGroup, baseline_of, contrasts_of, pairs_of, top_group
from rankscope.panels.method import Method, method_of
from rankscope.panels.panel import Panel
from rankscope.panels.slices import Slices, sliced
from rankscope.scoring.comparable import measure
from rankscope.scoring.measurements import Measurements
from rankscope.show.notebook import InNotebook
from rankscope.verbs.compare.doubts import flags_of

if TYPE_CHECKING:
    import polars as pl

    from rankscope.panels.tradeoffs import TradeOffs
    from rankscope.reporting.report import Report
    from rankscope.scoring.scores import Scores


@dataclass(frozen=True, eq=False)
class Comparison(InNotebook):
    """What ``compare`` found.

    ``comparison["hybrid", "nDCG@10"]`` is the contrast of a run with the baseline (in a comparison of all pairs, say both runs:
    ``comparison["hybrid", "bm25", "nDCG@10"]``). ``results`` is a Polars frame with a row a contrast; ``str(comparison)`` is the
    verdict in words. ``groups`` holds the top group of each metric, ``warnings`` what to doubt.
    """

    shown_by: ClassVar[str] = "rankscope.verbs.compare.result"

    given: Measurements
    contrasts: Sequence[Contrast]
    method: Method
    baseline: str
    all_pairs: bool
    slices: Slices | None = None
    tradeoffs: TradeOffs | None = None
    tried: int | None = None
    declared: bool = False

    @property
    def primary(self) -> str:
        """The metric that leads the verdict."""
        return self.fields[0].name

    @property
    def notes(self) -> Sequence[str]:
        """What was read, and what was passed over."""
        return [*self.given.notes, *(self.slices.notes if self.slices else ())]

    @property
    def fields(self) -> Sequence[Panel]:
        """The metrics that are compared, the primary one first."""
        return self.given.fields

    @property
    def scores(self) -> Scores | None:
        """What ``evaluate`` found, where runs were compared and not scores."""
        return self.given.scores

    @property
    def systems(self) -> tuple[str, ...]:
        """All runs, the baseline among them."""
        return self.fields[0].systems

    @property
    def metrics(self) -> list[str]:
        """The metrics, the primary one first."""
        return [measured.name for measured in self.fields]

    @cached_property
    def groups(self) -> list[TopGroup]:
        """The top group of each metric that has a direction, where there are more than two runs."""
        if len(self.systems) < 3:
            return []
        found = (top_group(measured, self.contrasts, self.method) for measured in self.fields)
        return [group for group in found if group is not None]

    @cached_property
    def warnings(self) -> list[Caution]:
        """What a reader should know before believing the verdict: of the data, then of the comparison."""
        said = list(self.scores.warnings) if self.scores is not None else []
        return [*said, *flags_of(self)]

    def of(self, metric: str) -> list[Contrast]:
        """The contrasts on one metric."""
        return [c for c in self.contrasts if c.metric == metric]

    def __getitem__(self, key: Any) -> Contrast:
        *runs, metric = key if isinstance(key, tuple) else (key,)
        found = [c for c in self.contrasts if c.metric == str(metric)]
        if not found:
            raise KeyError(f"{metric} was not compared: there are {', '.join(self.metrics)}")
        found = [c for c in found if tuple(runs) in {(), (c.run,), (c.run, c.baseline)}]
        if len(found) != 1:
            pairs = ", ".join(f"{c.run} against {c.baseline}" for c in self.of(str(metric))[:5])
            raise KeyError(
                f"say which runs, like comparison['run', 'metric'] or comparison['run', 'baseline', 'metric']: there are {pairs}"
            )
        return found[0]

    @cached_property
    def results(self) -> pl.DataFrame:
        """One row a contrast, with the columns that the command line writes as CSV."""
        import polars as pl

        from rankscope.verbs.compare.records import records

        return pl.DataFrame(list(records(self.contrasts)), infer_schema_length=None)

    def report(self, **options: Any) -> Report:
        """One page of this comparison, to be saved or exported; ``queries_text``, ``docs_text``, ``title`` and ``shown`` as for ``rs.report``."""
        from rankscope.reporting.report import report_of

        return report_of(self, **options)

    def __str__(self) -> str:
        from rankscope.verbs.compare.verdicts import sentences

        return "\n".join(sentences(self))

    __repr__ = __str__


# fmt: off
def compare(  # noqa: PLR0913 - the options of the command line, each with its default
    qrels: Any, runs: Any = None, metrics: Any = None, *,
    baseline: str | None = None, all_pairs: bool = False, primary: Any = None,
    test: Any = None, interval: Any = None, correction: Any = "holm", family: str = "metric", alpha: float = 0.05,
    margin: float | Mapping[str, float] | None = None, bayes: bool = False,
    clusters: Any = None, slices: Any = None, costs: Any = None, limits: Any = None,
    systems: Mapping[str, str] | str | None = None, tried: int | None = None,
    seed: int = 0, progress: Callable[[str], None] | None = None, **policies: Any,
) -> Comparison:
    """Say which of several runs is better, by how much, and whether the difference is real.

    ``qrels``, ``runs`` and ``metrics`` are as for ``evaluate``, and so are further ``policies`` (``ties``, ``queries``, ``depth``
    ...). Without ``runs``, the first argument is what was scored already: a ``Scores`` of ``evaluate``, or a table of systems and
    queries (a frame or a file; ``{system: {query: score}}``; an array, systems x queries), of the metric named in ``metrics``.

    Every run is compared with ``baseline`` (the first run unless named), or with ``all_pairs`` every run with every other. The
    difference is run - baseline. ``primary`` is the metric that was declared in advance; it leads the verdict (the first unless
    named). ``test`` is a paired test (t; where fewer than six queries differ, the exact sign-flip test), ``interval`` that of the
    differences (t), ``correction`` (holm) holds within each metric, or with ``family="all"`` over all. ``margin`` is a difference
    that would not matter: equivalence is tested then. ``bayes`` adds the chances by the Bayesian bootstrap. ``clusters`` maps
    queries to users, sessions or topics; ``slices`` is a table of query attributes, ``costs`` one of systems (latency, price),
    with ``limits`` on its columns (``{"latency_ms": 100}``). ``systems`` maps runs that are repetitions of one system to its name: they are averaged
    query by query; of a table it may say where its systems are, ``"rows"`` or ``"columns"``. ``tried`` is how many systems were tried on these judgments, where that is known.

    Raises InputError for what cannot be used, DataError where there is nothing to compare.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> low = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    >>> high = {query: {"a": 2.0, "b": 1.0} for query in qrels} | {"q7": {"b": 1.0}}
    >>> found = rs.compare(qrels, {"low": low, "high": high}, "RR")
    >>> found["high", "RR"].verdict, found["high", "RR"].difference
    ('better', 0.375)
    """
    method = method_of(
        test=test, interval=interval, correction=correction, family=family, alpha=alpha, margin=margin, bayes=bayes, seed=seed,
    )
    given = measure(
        qrels, runs, metrics, primary=primary, clusters=clusters, systems=systems, as_given=method.as_given,
        progress=progress, seed=seed, **policies,
    )
    method.check_margins([measured.name for measured in given.fields])
    names = given.fields[0].systems
    if all_pairs and baseline is not None:
        raise InputError("all_pairs compares every run with every other: leave out the baseline, or all_pairs")
    chosen = baseline_of(baseline, names)
    pairs = pairs_of(names, chosen, all_pairs)
    parts = None if slices is None else sliced(slices, given.fields, pairs, method)
    given, priced = _priced(given, costs, limits, chosen)
    contrasts = contrasts_of(given.fields, pairs, method)
    if not any(c.queries for c in contrasts):
        raise DataError(f"no query has a value for two of the runs: {_why_none(given)}")
    return Comparison(given, contrasts, method, chosen, all_pairs, parts, priced, _tried(tried), primary is not None)
# fmt: on


def _priced(
    given: Measurements, costs: Any, limits: Any, baseline: str
) -> tuple[Measurements, TradeOffs | None]:
    """What the runs cost against the primary metric, and what is to say about the table of costs."""
    if costs is None:
        if limits:
            raise InputError("a limit is on a cost: say what each run costs, with a table of runs and costs")
        return given, None
    from rankscope.files.costs import costs_of
    from rankscope.panels.tradeoffs import tradeoffs

    first = given.fields[0]
    if first.better == "neither":
        raise InputError(
            f"{first.name} is neither better nor worse when it is higher: name a primary metric that is"
        )
    table = costs_of(costs)
    means = {system: first.mean(system) for system in first.systems}
    found = tradeoffs(
        means, table, metric=first.name, better=first.better, baseline=baseline, within=limits or None
    )
    return replace(given, notes=[*given.notes, *table.remarks(first.systems)]), found


def _why_none(given: Measurements) -> str:
    """Why no two runs have a value for one query."""
    ranked = [set(run.query_ids) for run in given.scores.runs] if given.scores is not None else []
    if ranked and not np.isfinite(given.fields[0].values).any():
        return f"{given.fields[0].name} leaves out every query, as the metric or a policy (no_relevant, nothing_found) says"
    return "they are of different queries"


def _tried(number: Any) -> int | None:
    if number is not None and (
        isinstance(number, bool) or not hasattr(number, "__index__") or int(number) < 1
    ):
        raise InputError(
            f"tried={number!r}: how many systems were tried on these judgments, a whole number of at least 1"
        )
    return None if number is None else int(number)
