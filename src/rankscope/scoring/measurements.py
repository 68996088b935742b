"""The panels of a comparison: of runs evaluated here, of a result of ``evaluate``, or of a table of scores.

Runs are evaluated on this machine, or on the Spark cluster that holds them. Where a model judged more queries than people did, their
judgments correct its own.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope import words
from rankscope.diagnostics.inputs import ExtraQueries
from rankscope.errors import DataError, InputError
from rankscope.inference.anova import Replicates, average
from rankscope.metrics import DEFAULT, Metric, in_order, parse
from rankscope.panels.panel import Panel
from rankscope.panels.pooled import Pool, pool_of
from rankscope.panels.samples import UNKNOWN, Measure
from rankscope.scoring.evaluation import Judge, evaluate_request, run_scores, values_of
from rankscope.scoring.inputs import CleanInput, named_runs
from rankscope.scoring.policies import POLICIES, refuse_unknown
from rankscope.scoring.request import Request, at_level
from rankscope.scoring.scores import Scores

if TYPE_CHECKING:
    from rankscope.files.matrices import ScoreTable


USUAL = tuple(name for name in DEFAULT if not name.startswith("Judged"))
OPTIONS = (
    "baseline", "all_pairs", "primary", "test", "interval", "correction", "family", "alpha", "margin", "bayes", "clusters",
    "slices", "costs", "limits", "systems", "tried", "progress", "predicted", "references",
)  # fmt: skip
Scorer = Callable[..., Scores]
CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100)  # to check if the winner changes with k
LARGEST = 1e150  # beyond it squares are infinite


@dataclass(frozen=True, eq=False)
class Measurements:
    """What is compared: each metric over all systems, the primary metric first.

    ``curve`` holds the primary metric at other cutoffs, ``replicates`` the variances of systems that ran several times, by metric
    and system, and ``members`` the runs of each such system; ``scores`` is there if runs were evaluated.
    ``ignored`` are the codes of warnings to leave out.
    """

    panels: Sequence[Panel]
    scores: Scores | None = None
    curve: Sequence[Panel] = ()
    notes: Sequence[str] = ()
    replicates: Mapping[str, Mapping[str, Replicates]] = field(default_factory=dict)
    inputs: Sequence[Mapping[str, Any]] = ()
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()

    def ignoring(self) -> dict[str, str]:
        """The statement of a result about the warnings it leaves out, empty if it leaves out none."""
        return {"ignore": POLICIES["ignore"].statement(self.ignored, ())} if self.ignored else {}


def measure(  # noqa: PLR0913 - the options of compare
    qrels: Any, runs: Any, metrics: Any, *, primary: Any = None, clusters: Any = None,
    systems: Mapping[str, str] | str | None = None, as_given: bool = False, score: Scorer | None = None,
    **policies: Any,
) -> Measurements:  # fmt: skip
    """Panels of runs, of a result or of a table, as ``compare`` takes them. Queries are sorted by id unless ``as_given``. ``score`` may replace ``evaluate``."""
    refuse_unknown(policies, "compare", OPTIONS)
    if runs is None:
        pairs = list(qrels.values()) if isinstance(qrels, Mapping) else []
        if pairs and all(isinstance(one, tuple) and len(one) == 2 for one in pairs):
            raise InputError("these are collections (judgments and runs by name): give them to rs.compare_collections")
        _refuse_policies(policies)
    elif isinstance(qrels, Scores) or (isinstance(runs, str) and not Path(runs).exists() and is_metric(runs)):
        raise InputError(f"{runs!r} was given as a run: name metrics with metrics={runs!r}")
    if runs is not None:
        out = _of_runs(qrels, runs, metrics, primary, as_given, policies, score)
    elif isinstance(qrels, Scores):
        out = _of_scores(qrels, metrics, primary, as_given)
    else:
        out = _of_table(qrels, metrics, primary, as_given, _where(systems))
    settled = None if out.scores is None else out.scores.request.policies.ignore
    if settled or "ignore" in policies:
        more = POLICIES["ignore"].check(policies.get("ignore"))
        out = replace(out, ignored=(settled or frozenset()) | (more or frozenset()))
    for panel in out.panels:
        if panel.measure.aggregate == "pooled" and not panel.pools:
            raise InputError(f"{panel.name} is {panel.reason} and has no value of a query to compare: leave it out")
    if systems and not isinstance(systems, str):
        out = _with_repetitions(out, systems)
    return out if clusters is None else replace(out, panels=in_clusters(out.panels, clusters))


def panels_of(scores: Scores, metrics: Sequence[Metric] | None = None, as_given: bool = False) -> list[Panel]:
    """The metrics of a result, each over all its runs and the union of their queries, sorted by id unless they stay ``as_given``."""
    model = [] if scores.predictions is None else scores.predictions.runs
    known = dict.fromkeys(query for run in (*scores.runs, *model) for query in run.query_ids)
    ids = tuple(known if as_given else sorted(known))
    places = {query: i for i, query in enumerate(ids)}
    at = [np.array([places[query] for query in run.query_ids], dtype=int) for run in scores.runs]
    names = tuple(run.name for run in scores.runs)
    out = []
    for metric in scores.metrics if metrics is None else metrics:
        values = np.full((len(scores.runs), len(ids)), np.nan)
        weights = np.ones_like(values) if any(metric in run.weights for run in scores.runs) else None
        for row, run in enumerate(scores.runs):
            values[row, at[row]] = run.values[metric]
            if weights is not None and metric in run.weights:
                weights[row, at[row]] = np.nan_to_num(run.weights[metric])
        predicted = np.full_like(values, np.nan) if model else None
        for row, run in enumerate(model):
            predicted[row, [places[query] for query in run.query_ids]] = run.values[metric]  # type: ignore[index]
        if predicted is not None:
            values[:, np.isnan(predicted).any(axis=0)] = np.nan
        pools = pools_of(scores, metric, places) if metric.aggregate == "pooled" else ()
        if pools:
            values = np.stack([pool.parts() for pool in pools])
        out.append(Panel(Measure.of(metric), names, ids, values, weights, pools=pools, predicted=predicted))
    return out


def pools_of(scores: Scores, metric: Metric, places: Mapping[str, int]) -> tuple[Pool, ...]:
    """The documents of a pooled metric by run, queries numbered by their positions. Empty if they are not kept."""
    if len(scores.evaluations) != len(scores.runs) or not any(m.metric == metric for m in scores.request.metrics):
        return ()
    at, out = scores.request.place(metric), list[Pool]()
    for run, e in zip(scores.runs, scores.evaluations, strict=True):
        counted = frozenset(run.query_ids)
        pool = pool_of(
            metric, e.judged[at], {query: places[query] for query in e.judged[at].query_id if query in counted}
        )
        if pool is None:
            return ()
        out.append(pool if pool.units == len(places) else replace(pool, units=len(places)))
    return tuple(out)


def is_metric(name: str) -> bool:
    """True if this is the name of a metric."""
    try:
        parse(name)
    except InputError:
        return False
    return True


def lead_first(metrics: Any, primary: Any = None) -> list[Metric]:
    """Metrics with the one that leads first: the one declared, or the first that is asked for."""
    entries = [metrics] if isinstance(metrics, str | Metric | type) else list(metrics)
    if not entries:
        raise InputError("metrics is empty: name one, like nDCG@10, or leave metrics out")
    parsed = [metric for _, metric in in_order(entries)]
    first = parsed[0] if primary is None else parse(primary)
    return list(dict.fromkeys([first, *parsed]))


def _refuse_policies(policies: Iterable[str]) -> None:
    for name in policies:
        if name in POLICIES and name not in {"seed", "ignore"}:
            raise InputError(f"{name} turns rankings into scores, and these are scores already: leave it out")


def check_comparison(metrics: Any, options: Mapping[str, Any]) -> None:
    """Refuse, before runs are read, options that ``compare`` refuses for any run. ``options`` are the options of ``compare``."""
    from rankscope.panels.method import method_of

    policies = {name: value for name, value in options.items() if name in POLICIES}
    Request.of(lead_first(USUAL if metrics is None else metrics, options.get("primary")), policies)
    parts = set(signature(method_of).parameters)
    method_of(**{name: value for name, value in options.items() if name in parts})
    if options.get("limits"):
        check_limits(options["limits"], options.get("costs"))


def check_limits(limits: Any, costs: Any) -> Mapping[str, float]:
    """Limits on costs, checked before anything is read."""
    if costs is None:
        raise InputError("a limit is on a cost: give the cost of each run, with a table of runs and costs")
    from rankscope.panels.tradeoffs import limits_of

    return limits if isinstance(limits, Mapping) else limits_of(limits)


def _of_runs(
    qrels: Any, runs: Any, metrics: Any, primary: Any, as_given: bool, policies: dict[str, Any], score: Scorer | None
) -> Measurements:
    """Runs, evaluated, also at other cutoffs of the primary metric if that costs little."""
    measured = lead_first(USUAL if metrics is None else metrics, primary)
    if (level := policies.get("relevance_level")) is not None:
        measured = [at_level(metric, level) for metric in measured]
    first, known = measured[0], frozenset(measured)
    deepest, cutoff = policies.get("depth") or CUTOFFS[-1], getattr(first, "cutoff", None)
    cutoffs = [] if cutoff is None or first.better == "neither" else [k for k in CUTOFFS if cutoff != k <= deepest]
    cutoffs = [] if first.aggregate == "pooled" else cutoffs
    others = [] if policies.get("dialect") else [m for k in cutoffs if (m := first.having(cutoff=k)) not in known]
    progress = policies.pop("progress", None)
    intervals = {name: policies.pop(name) for name in ("interval", "level") if name in policies}
    scores = (score or evaluate_local_or_spark)(qrels, runs, Request.of(measured, policies, **intervals), progress)
    panels = panels_of(scores, scores.metrics if policies.get("dialect") else measured, as_given=as_given)
    curve = (
        _curve_of(scores, first, others) if others and scores.evaluations and scores.predictions is None else []
    )  # Spark keeps no judged documents
    return Measurements(panels, scores, curve, list(scores.notes))


def _curve_of(scores: Scores, first: Metric, others: Sequence[Metric]) -> list[Panel]:
    like = scores.request.metrics[0]
    metrics = tuple(replace(like, spelling=str(metric), metric=metric) for metric in others)
    request = replace(scores.request, metrics=metrics)
    runs = []
    for run, e in zip(scores.runs, scores.evaluations, strict=True):
        judged, inside = [e.judged[0]] * len(others), [e.inside[0]] * len(others)
        there = run_scores(
            run.name, replace(e, judged=judged, values=values_of(request, judged), inside=inside), request
        )
        runs.append(
            replace(there, values={**there.values, first: run.values[first]}, weights={**run.weights, **there.weights})
        )
    return panels_of(replace(scores, runs=runs), sorted([first, *others], key=lambda m: m.cutoff))  # type: ignore[attr-defined]


def _of_scores(scores: Scores, metrics: Any, primary: Any, as_given: bool) -> Measurements:
    first, *others = lead_first(scores.metrics if metrics is None else metrics, primary)
    there = words.listing(scores.metrics, most=20)
    for metric in others if primary is not None else [first, *others]:
        if metric not in scores.metrics:
            raise InputError(f"{metric} was not evaluated: there are {there}")
    if first not in scores.metrics:
        raise InputError(f"primary {first}: it was not evaluated, there are {there}")
    return Measurements(panels_of(scores, [first, *others], as_given=as_given), scores)


def in_clusters(panels: Sequence[Panel], source: Any) -> list[Panel]:
    """The same panels with the cluster of each query, unchanged without a source of clusters."""
    if source is None:
        return list(panels)
    from rankscope.files.side_tables import clusters_of

    ids = panels[0].units
    codes, names = clusters_of(source, list(ids))
    if len(names) < 2:
        raise DataError(
            f"clusters: all {len(ids)} queries are in one cluster: two or more are needed to see how clusters vary"
        )
    return [replace(panel, clusters=codes) for panel in panels]


def _where(systems: Any) -> Any:
    if systems is None or not isinstance(systems, str):
        return "auto"
    if systems not in {"rows", "columns"}:
        raise InputError(
            f"systems={systems!r}: write 'rows' or 'columns', the place of systems in a table, or name the runs of each system"
        )
    return systems


def _of_table(source: Any, metrics: Any, primary: Any, as_given: bool, systems: Any) -> Measurements:
    """The metrics of a table of scores, as files, frames or dicts hold it. Raises InputError for a metric that it does not hold."""
    from rankscope.files.matrices import NAMELESS, scores_of

    names = _names(metrics)
    table = scores_of(source, names[0] if names and len(names) == 1 else None, systems)
    panels = [_panel_of(table, name, as_given) for name in _choose(table, names)]
    if primary is not None:
        names = [str(primary), str(parse(primary))]
        if not any(panel.name in names for panel in panels):
            there = words.listing((panel.name for panel in panels), most=20)
            raise InputError(f"primary {primary!r}: there are scores of {there}")
        panels.sort(key=lambda panel: panel.name not in names)
    notes = [table.note] if table.note else []
    notes += [
        f"{panel.name} is not a metric of rankscope: higher is taken as better"
        for panel in panels
        if not is_metric(panel.name) and panel.name != NAMELESS
    ]
    return Measurements(panels, notes=notes, inputs=[_file(path) for path in _paths(source)])


def _paths(source: Any) -> list[str]:
    parts = source.values() if isinstance(source, Mapping) else source
    parts = parts if isinstance(source, Mapping | list | tuple) else [source]
    return [str(part) for part in parts if isinstance(part, str | Path)]


def _file(path: str) -> dict[str, Any]:
    if path == "-":
        return {"path": path, "sha256": None}
    with Path(path).open("rb") as stream:
        return {"path": path, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def _names(metrics: Any) -> list[str] | None:
    if metrics is None:
        return None
    entries = [metrics] if isinstance(metrics, str | Metric | type) else list(metrics)
    return [m if isinstance(m, str) else str(parse(m)) for m in entries]


def _choose(table: ScoreTable, names: Sequence[str] | None) -> list[str]:
    if names is None or len(names) == 1:
        return list(table.values)
    for name in names:
        if name not in table.values:
            hint = words.hint(name, table.values)
            raise InputError(f"metric {name!r}: not among the metrics of the scores{hint}")
    return list(names)


def _panel_of(table: ScoreTable, name: str, as_given: bool) -> Panel:
    """One metric of a table of scores. Its direction and range are known if its name is the name of a metric."""
    places = range(len(table.query_ids))
    order = list(places) if as_given else sorted(places, key=lambda i: table.query_ids[i])
    values = table.values[name][:, order]
    ids = tuple(table.query_ids[i] for i in order)
    known = values[~np.isnan(values)]
    largest = float(np.abs(known).max(initial=0.0))
    if largest > LARGEST:
        raise InputError(
            f"{name}: a score of {words.amount(largest)} is too large to be squared: give scores on a smaller scale"
        )
    if not is_metric(name):
        return Panel(Measure(name), table.systems, ids, values)
    metric = parse(name)
    low, high = metric.range
    inside = bool(((known >= low - 1e-9) & (known <= high + 1e-9)).all())
    return Panel(Measure(str(metric), metric.better, (low, high) if inside else UNKNOWN), table.systems, ids, values)


def _with_repetitions(measurements: Measurements, systems: Mapping[str, str]) -> Measurements:
    names = measurements.panels[0].systems
    if not isinstance(systems, Mapping):
        raise InputError(
            f"systems={systems!r}: it maps repeated runs to their system, like {{'run1': 'mine', 'run2': 'mine'}}"
        )
    for run in systems:
        if run not in names:
            raise InputError(f"systems: no run is called {run!r}{words.hint(run, names)}")
    of = {name: systems.get(name, name) for name in names}
    several = [system for system in systems.values() if list(systems.values()).count(system) > 1]
    mixed = [name for name in names if name not in systems and name in several]
    if mixed:
        raise InputError(f"systems: {mixed[0]} is both a run and a system of several runs: give one another name")
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(of[name], []).append(row)
    parts = {
        panel.name: {system: average(panel.values[at]) for system, at in rows.items()}
        for panel in (*measurements.panels, *measurements.curve)
    }
    return replace(
        measurements,
        panels=[_average(panel, rows, parts[panel.name]) for panel in measurements.panels],
        curve=[_average(panel, rows, parts[panel.name]) for panel in measurements.curve],
        replicates={
            name: {system: part for system, part in by_system.items() if part.runs > 1}
            for name, by_system in parts.items()
        },
        members={s: tuple(run for run in names if of[run] == s) for s in dict.fromkeys(several)},
    )


def _average(panel: Panel, rows: Mapping[str, Sequence[int]], parts: Mapping[str, Replicates]) -> Panel:
    weights = panel.weights
    if weights is not None:
        if len(rows) < len(panel.systems):
            weights = np.where(np.isnan(panel.values), 0.0, weights)
        weights = np.stack([weights[at].max(axis=0) for at in rows.values()])
    values = np.stack([part.values for part in parts.values()])
    return replace(panel, systems=tuple(rows), values=values, weights=weights)


FEWEST = 3  # queries judged by people, below which a model cannot be corrected


def evaluate_predicted(
    qrels: Any, runs: Any, request: Request, progress: Callable[[str], None] | None = None, *, predicted: Any
) -> Scores:
    """Score rankings by judgments of people, and add judgments by a model (``predicted``) for more queries.

    Means and differences use people's queries, corrected by the model on all other queries (``inference.predicted``).
    Raises InputError for metrics and options that predictions rule out, DataError if fewer than 3 queries are judged by both.
    """
    _refuse(request)
    people = evaluate_local_or_spark(qrels, runs, request, progress)
    model = evaluate_local_or_spark(predicted, runs, request)
    kept = [w for w in people.warnings if w.code != ExtraQueries.code]  # other queries are judged by the model
    unjudged = [w for w in model.warnings if w.code == ExtraQueries.code]
    scores = replace(people, predictions=model, inputs=[*people.inputs, *model.inputs[:1]], warnings=[*kept, *unjudged])
    panels = {panel.name: panel for panel in panels_of(scores)}
    board = []
    for mean in people.board:
        panel = panels[str(mean.metric)]
        values = panel.predictions(panel.systems.index(mean.run))
        if len(values.people) < FEWEST:
            both = words.counted(len(values.people), "query")
            raise DataError(f"{mean.metric}: {both} judged by people and by the model: {FEWEST} or more are needed")
        interval = partial(panel.interval, mean.run, request.intervals.level)
        board.append(
            replace(
                mean, value=panel.estimate(mean.run).mean, queries=len(values.people), interval=interval, error=None
            )
        )
    return replace(scores, board=board, notes=[*people.notes, _note(scores, len(values.people), len(values.others))])


def check_predicted(predicted: Any, *, runs: Any = True, **others: Any) -> Callable[..., Scores] | None:
    """Return the function that scores runs with predictions, None without predictions. Raises InputError without runs, and for options that predictions rule out."""
    if predicted is None:
        return None
    odd = next((name for name, value in others.items() if value is not None), None)
    if odd is not None:
        raise InputError(f"predicted: means are corrected over all queries together: leave out {odd}, or predicted")
    if runs is None:
        raise InputError("predicted: a model's judgments need runs to score: give judgments by people and runs")
    return partial(evaluate_predicted, predicted=predicted)


def _note(scores: Scores, people: int, others: int) -> str:
    known = set(scores.predictions.runs[0].query_ids) if scores.predictions is not None else set()
    lost = int(np.sum([query not in known for query in scores.runs[0].query_ids]))
    left = f" without {words.counted(lost, 'query')} that the model did not judge" if lost else ""
    corrected = f"corrected by a model on {words.counted(others, 'other')} (PPI++)"
    by = corrected if others else "and the model judged no other query of the runs, so nothing is corrected"
    return f"means are of {words.counted(people, 'query')} judged by people, {by}{left}"


def _refuse(request: Request) -> None:
    interval = request.intervals.interval
    odd = next((m.metric for m in request.metrics if m.metric.aggregate != "mean"), None)
    if odd is not None:
        raise InputError(f"{odd}: predictions correct means over queries only: leave {odd} out, or predicted")
    if request.policies.weights is not None or request.intervals.clusters is not None:
        name = "weights" if request.policies.weights is not None else "clusters"
        raise InputError(f"predicted: queries count as equal and independent: leave out {name}, or predicted")
    if interval is not None and not interval.by_moments:
        raise InputError(f"interval={interval}: predictions correct only means: leave it out, or take t")


def evaluate_local_or_spark(
    qrels: Any, runs: Any, request: Request, progress: Callable[[str], None] | None = None,
    judging: Callable[[CleanInput, Request], Judge] | None = None,
) -> Scores:  # fmt: skip
    """Score rankings as a request asks: Spark frames on Spark, all others here. ``judging`` is for local runs (see ``evaluate_request``)."""
    if "pyspark" in sys.modules:  # whoever has a frame has loaded it
        from rankscope.engines.spark import is_frame

        several = isinstance(runs, list | tuple | dict)
        if is_frame(runs) or (several and any(is_frame(run) for _, run in named_runs(runs))):
            from rankscope.scoring.spark.evaluation import evaluate_frames

            if judging is not None:
                raise InputError("resume keeps work on files, and Spark has checkpoints of frames: leave it out")
            return evaluate_frames(qrels, runs, request, progress)
        if is_frame(qrels):
            raise InputError(
                "the qrels are a Spark frame and the runs are not: give the runs as Spark frames, or qrels.toArrow()"
            )
    return evaluate_request(qrels, runs, request, progress, judging)
