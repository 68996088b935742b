"""What a rank is worth to each metric, on one axis: the discounts, and how far readers of one's own rankings get under ERR."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rankscope.blocks import Chart, Column, Paragraph, Section, Table, Value, Written
from rankscope.errors import InputError
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric, parse
from rankscope.metrics.base import LARGEST
from rankscope.metrics.browsing import ERR
from rankscope.reporting.sections.rank_weights import DEPTH, hidden_of, weights_of
from rankscope.reporting.sections.shown_runs import MOST, few_runs
from rankscope.reporting.subject import Subject
from rankscope.scoring.rescore import places_of
from rankscope.verbs.catalogue.result import usual

DRAWN = (
    ("RR: 1/rank", "RR"),
    ("DCG, nDCG: 1/log2(rank+1)", "DCG"),
    ("RBP(p=0.95)", "RBP(p=0.95)"),
    ("RBP(p=0.8)", "RBP(p=0.8)"),
    ("RBP(p=0.5)", "RBP(p=0.5)"),
    ("P@10", "P@10"),
)
BELOW = ", below others"
OWN = 2  # runs whose readers are drawn beside the discounts
RANKS = (1, 2, 3, 5, 10, 20, 50, 100)  # that a table tells
TOP = 10  # where it is told how much of the weight lies below
CAPTION = (
    "What a relevant document at each rank is worth, compared with rank 1. The sooner a line falls, the more its metric is about the "
    "first few ranks alone."
)
REACH = (
    "ERR reach is no discount but a share of readers: those who under {} still look at a rank of the run's own rankings, as each "
    "document satisfies some of them, the better the more, and nobody looks beyond the end. What a document there can add is 1/rank, "
    "the discount of ERR, times this share: rankscope metrics ERR --plot draws the discount alone."
)
ALONE = (
    "What one relevant document at each rank adds, compared with rank 1, where it is the only one there is. Where there are several, "
    "what one adds may depend on the others."
)
HIDDEN = (
    "What one document of the top grade at each rank adds, compared with rank 1: where it is the only relevant one, and below others, "
    "where all ranks above hold such documents too. A good document makes those below it worth less: at rank 2 it then adds {} "
    "of what it adds at rank 1. Rankings lie between the two."
)
GRADED = " The ERR reach of a report is another thing: the share of readers who get to each rank of your own rankings."


def section(subject: Subject) -> Section:
    """The discounts of the usual metrics and of the leading one; with rankings, how far their readers get."""
    curves = {name: weights_of(parse(text)) for name, text in DRAWN}
    _add_lead(curves, subject.metric)
    reach = _own(subject, MOST - len(curves))
    rows: list[tuple[Value, ...]] = [
        (name, rank, float(value))
        for name, found in [*curves.items(), *reach.items()]
        for rank, value in enumerate(found.tolist(), start=1)
    ]
    chart = replace(_chart(rows, "discounts", "What each rank is worth", CAPTION), told=True)
    said = [Paragraph(REACH.format(_err(subject)), quiet=True)] if reach else []
    return Section("discounts", "What a rank is worth", (chart, *said, _table(curves, reach)), _in_words(curves, reach))


def of_metric(metric: Metric, alone: bool = False) -> Chart:
    """The weight of each rank of one metric, as a chart: what one document of the top grade earns there where it is the only relevant one, over that at rank 1.

    Where good documents hide those below, as in ERR, a second line tells what it adds below others of the top grade; ``alone``
    leaves that line out, not what is said of it. Raises InputError, with the reason, for a metric without such weights.

    >>> chart = of_metric(parse("RR"))
    >>> chart.rows[:2]
    (('RR', 1, 1.0), ('RR', 2, 0.5))
    """
    curves = _curves_of(metric)
    rows: list[tuple[Value, ...]] = [
        (name, rank, value)
        for name, found in list(curves.items())[: 1 if alone else None]
        for rank, value in enumerate(found.tolist(), start=1)
    ]
    return _chart(
        rows, f"weights-{type(metric).__name__}", f"What each rank is worth to {metric}", _caption(metric, curves)
    )


def table_of(metric: Metric) -> Table:
    """The same as a table, at some ranks."""
    return _table(_curves_of(metric))


def _curves_of(metric: Metric) -> dict[str, Array]:
    """What a document is worth at each rank by itself, and below others where that is less."""
    ready = metric.ready()
    curves, hidden = {str(metric): weights_of(ready)}, hidden_of(ready)
    return curves if hidden is None else {**curves, f"{metric}{BELOW}": hidden}


def _caption(metric: Metric, curves: Mapping[str, Array]) -> str:
    hidden = curves.get(f"{metric}{BELOW}")
    if hidden is None:
        return ALONE
    return f"{HIDDEN.format(_part(hidden[1]))}{GRADED if isinstance(metric, ERR) else ''}"


def _part(share: float) -> str:
    """A share in words, where it is too small for one as well."""
    if not share:
        return "nothing"
    return f"{share:.0%}" if share >= 0.005 else "less than 1%"


def usual_of(text: str) -> Metric:
    """The metric that a spelling means; one that needs parameters has those it is mostly asked for with.

    >>> usual_of("P"), usual_of("RBP(p=0.5)")
    (P@10, RBP(p=0.5))
    """
    try:
        return parse(text).ready()
    except InputError:
        from rankscope.verbs.catalogue.catalogue import find_metric

        cls = find_metric(text)
        if text.casefold() in {name.casefold() for name in (cls.__name__, *cls.aliases)}:
            return usual(cls).ready()
        raise


def below(weights: Array, rank: int = TOP) -> float:
    """The share of the weight that lies below a rank."""
    values = weights.tolist()
    whole = math.fsum(values)
    return math.fsum(values[rank:]) / whole if whole else math.nan


def reach_of(judged: Judged, queries: Array, metric: ERR, depth: int = DEPTH) -> Array:
    """The mean share of readers who look at rank 1, 2 ... under ERR, over those of these queries that have a ranking."""
    ranked = queries[judged.retrieved[queries] > 0]
    if not len(ranked):
        return np.full(depth, np.nan)
    looked: list[list[float]] = [[] for _ in range(depth)]
    inside = np.zeros(len(judged), dtype=bool)
    inside[ranked] = True
    for chunk in judged.chunks():
        here = chunk[inside[chunk]]
        if not len(here):
            continue
        terms = metric.having(cutoff=depth).taken_apart(judged.lists(here))
        stays = np.ones((len(here), depth))
        row, column = np.nonzero(terms.lists.shown)
        stays[row, terms.lists.rank[row, column] - 1] = 1.0 - terms.factors["satisfied here"][row, column]
        reach = np.hstack([np.ones((len(here), 1)), np.cumprod(stays, axis=1)[:, :-1]])
        reach[np.arange(1, depth + 1) > judged.retrieved[here][:, None]] = 0.0
        for i, values in enumerate(reach.T.tolist()):
            looked[i] += values
    return np.array([math.fsum(values) / len(ranked) for values in looked])


def _add_lead(curves: dict[str, Array], metric: Metric | None) -> None:
    """The leading metric, where it falls in another way than those that are drawn."""
    if metric is None:
        return
    try:
        found = weights_of(metric)
    except InputError:
        return
    if not any(np.allclose(found, other) for other in curves.values()):
        curves[str(metric)] = found


def _own(subject: Subject, most: int) -> dict[str, Array]:
    """The reach of the readers of the baseline and the best runs; empty without rankings or relevant documents."""
    metric = _err(subject)
    if metric is None:
        return {}
    scores = subject.scores
    assert scores is not None
    runs, _ = few_runs(subject, min(most, OWN))
    out = {}
    for scored, found in zip(scores.runs, scores.evaluations, strict=True):
        if scored.name in runs:
            judged = found.judged[scores.request.place(scores.metrics[0])]
            reach = reach_of(judged, places_of(scored.query_ids, found), metric)
            if not np.isnan(reach).any():
                out[f"ERR reach, {scored.name}"] = reach
    return {name: out[name] for run in runs if (name := f"ERR reach, {run}") in out}


def _err(subject: Subject) -> ERR | None:
    """ERR as it was asked for; else on the scale of the judgments. None without rankings and without relevant documents."""
    if subject.scores is None or not subject.scores.evaluations:
        return None
    asked = next((m for m in subject.scores.metrics if type(m) is ERR), None)
    if asked is not None:
        return asked.having(cutoff=None)
    top = max(float(found.judged[0].grade.max(initial=0.0)) for found in subject.scores.evaluations)
    return ERR(max_grade=top) if 0 < top <= LARGEST else None


def _chart(rows: Sequence[tuple[Value, ...]], name: str, title: str, caption: str) -> Chart:
    return Chart(
        name,
        title,
        "lines",
        (Column("metric"), Column("rank", "count"), Column("weight", "value")),
        tuple(rows),
        x="rank",
        y="weight",
        series="metric",
        caption=caption,
        logs=frozenset({"x"}),
        limits=(0.0, 1.0),
    )


def _table(curves: Mapping[str, Array], reach: Mapping[str, Array] | None = None) -> Table:
    """The curves at some ranks; how far readers get has no weight to lie below a rank."""
    columns = (
        Column("metric"),
        *(Column(f"rank {rank}" if rank == 1 else f"{rank}", "value") for rank in RANKS),
        Column(
            f"below {TOP}", "value", hint=f"the share of the weight of ranks 1 to {DEPTH} that lies below rank {TOP}"
        ),
    )
    rows: list[tuple[Value, ...]] = [
        (name, *(float(found[rank - 1]) for rank in RANKS), Written(f"{below(found):.0%}", below(found)))
        for name, found in curves.items()
    ]
    rows += [(name, *(float(found[rank - 1]) for rank in RANKS), None) for name, found in (reach or {}).items()]
    return Table(
        columns,
        tuple(rows),
        name="discounts-table",
        note=f"below {TOP}: the share of the weight of ranks 1 to {DEPTH} that lies below rank {TOP}.",
    )


def _in_words(curves: Mapping[str, Array], reach: Mapping[str, Array]) -> str:
    """How much of a metric is about what nobody sees on a first page."""
    log, reciprocal = curves[DRAWN[1][0]], curves[DRAWN[0][0]]
    said = (
        f"Down to rank {DEPTH}, {below(log):.0%} of the weight of DCG lies below rank {TOP} and {below(reciprocal):.0%} of 1/rank: "
        "metrics without a cutoff are much about ranks that few look at"
    )
    if not reach:
        return f"{said}."
    name, found = next(iter(reach.items()))
    return (
        f"{said}. Under ERR {found[TOP - 1]:.0%} of the readers of {name.rpartition(', ')[2]} would get to rank {TOP}."
    )
