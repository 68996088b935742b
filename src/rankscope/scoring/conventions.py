"""Under which conventions a metric is computed: ties, queries, what has no value; of ours or of a dialect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from difflib import get_close_matches
from typing import Any, get_args

from rankscope.declared import plain
from rankscope.declared.choices import choices
from rankscope.dialects import DIALECTS, Convention, Dialect
from rankscope.dialects.base import LooksAt, Mean, NoRelevant, NothingFound, Population, Ties
from rankscope.errors import InputError
from rankscope.metrics import DEFAULT, Metric, in_order, parse
from rankscope.scoring.inputs import Policy

TIES: tuple[Ties, ...] = get_args(Ties)
POPULATIONS: tuple[Population, ...] = tuple(p for p in get_args(Population) if p != "list")
CHOICES: dict[str, Sequence[Any]] = {
    "ties": TIES,
    "queries": get_args(Population),
    "no_relevant": get_args(NoRelevant),
    "nothing_found": get_args(NothingFound),
    "looks_at": get_args(LooksAt),
    "mean": get_args(Mean),
}

TIES_IN_WORDS = {
    "trec": "score, then document id, both descending",
    "docid": "score descending, then document id ascending",
    "input": "score descending, then order of the file",
    "rank": "the rank column",
    "expected": "the mean over all orders of equal scores",
    "best": "equal scores in the order that is best for the metric",
    "worst": "equal scores in the order that is worst for the metric",
}
QUERIES_IN_WORDS = {
    "judged": "all judged queries; one missing from a run scores as empty",
    "run": "all queries of the run; one without judgments scores as if nothing were relevant",
    "both": "queries judged and in every run",
    "either": "all queries that are judged or in the run",
    "list": "the queries listed; one missing from a run scores as empty",
}


@dataclass(frozen=True)
class MetricRequest:
    """A metric as it was asked for, what it means here, and the conventions it is computed under."""

    said: str
    metric: Metric
    convention: Convention


def asked(metrics: Any, convention: Convention, dialect: str | None) -> list[MetricRequest]:
    """The metrics of a call, each with its conventions; in a dialect both are the dialect's."""
    found = _read(metrics)
    if not found:
        raise InputError(
            "no metric was given: name one, like nDCG@10, or leave metrics out for the usual ones"
        )
    if dialect is None:
        _refuse_impossible(found, convention, metrics is None)
        kept = [pair for pair in found if possible(pair[1], convention.ties)]
        return [MetricRequest(said, metric, convention) for said, metric in kept]
    speaks = dialect_called(dialect)
    if convention != Convention():
        own = next(f.name for f in fields(Convention) if getattr(convention, f.name) != f.default)
        raise InputError(f"dialect={dialect!r} has conventions of its own: leave {own} out, or the dialect")
    if metrics is None:
        found = [pair for pair in found if computes(speaks, pair[1])]
    return [
        MetricRequest(said, translated(speaks, metric), speaks.of(family(metric))) for said, metric in found
    ]


def _read(metrics: Any) -> list[tuple[str, Metric]]:
    if metrics is None:
        return in_order(DEFAULT)
    if isinstance(metrics, str | Metric | type):
        return in_order([metrics])
    if not isinstance(metrics, Iterable):
        raise InputError(f"metrics are names like 'nDCG@10' or objects like nDCG @ 10, not {metrics!r}")
    return in_order(metrics)


def convention_of(**said: Any) -> tuple[Convention, frozenset[str] | None]:
    """Check the policies of a call; a list of queries is given back beside them."""
    only = None
    queries = said["queries"]
    if not isinstance(queries, str):
        if not isinstance(queries, Iterable) or isinstance(queries, Mapping):
            raise InputError(
                f"queries={queries!r}: queries is one of {choices(POPULATIONS)}, or a list of query ids"
            )
        only = frozenset(str(query) for query in queries)
        if not only:
            raise InputError("queries is an empty list: give the ids of the queries to score")
        said["queries"] = "list"
    elif queries == "list":
        raise InputError("queries='list': give the list itself, like queries=['q1', 'q2']")
    for name, value in said.items():
        if not any(value == choice and type(value) is type(choice) for choice in CHOICES[name]):
            allowed = POPULATIONS if name == "queries" else CHOICES[name]
            raise InputError(f"{name}={value!r}: {name} is one of {choices(allowed)}")
    return Convention(**said), only


def possible(metric: Metric, ties: Ties) -> bool:
    """Whether a metric can be computed under a tie policy: a best order needs to know what is better."""
    ordered = metric.positions or getattr(metric, "cutoff", None) is not None
    return not (ties in {"best", "worst"} and metric.better == "neither" and ordered)


def _refuse_impossible(found: Sequence[tuple[str, Metric]], convention: Convention, usual: bool) -> None:
    for _, metric in found:
        if not usual and not possible(metric, convention.ties):
            raise InputError(
                f"ties={convention.ties!r}: {metric} is neither better nor worse when it is higher, so no order of equal scores is "
                f"{convention.ties} for it; leave it out, or use ties='expected'"
            )
        if convention.mean == "micro" and metric.aggregate not in {"mean", "sum"}:
            raise InputError(
                f"mean='micro': {metric} has a mean of its own ({metric.aggregate}); leave it out, or use mean='macro'"
            )


# --- dialects --------------------------------------------------------------------------------------


def dialect_called(name: str) -> Dialect:
    """The dialect of this name, or an error that offers the nearest."""
    if not isinstance(name, str):
        raise InputError(f"dialect={name!r}: a dialect is the name of one tool, like 'lightgbm'")
    found = DIALECTS.get(name.casefold())
    if found is None:
        close = get_close_matches(name.casefold(), DIALECTS, n=1, cutoff=0.6)
        hint = f", did you mean {close[0]}?" if close else f": there are {', '.join(DIALECTS)}"
        raise InputError(f"dialect {name!r}: no dialect is called that{hint}")
    return found


def family(metric: Metric) -> str:
    """The name under which a dialect speaks of a metric."""
    return type(metric).__name__


def computes(dialect: Dialect, metric: Metric) -> bool:
    """Whether a dialect has a number for this metric that follows from conventions."""
    says = dialect.metrics.get(family(metric))
    return says is not None and bool(says.metric)


def translated(dialect: Dialect, metric: Metric) -> Metric:
    """What a dialect computes under the name of a metric: its own parameters, and the cutoff and level asked for."""
    says = dialect.metrics.get(family(metric))
    if says is None:
        raise InputError(
            f"dialect {dialect.name!r} has no {family(metric)}: it has {', '.join(dialect.metrics)}"
        )
    if not says.metric:
        raise InputError(
            f"dialect {dialect.name!r}: its {family(metric)} is a defect that is never computed as ours ({says.defect}); "
            "rankscope reconcile shows it"
        )
    k = getattr(metric, type(metric).at, None)
    try:
        theirs = parse(says.metric if k is None else f"{says.metric}@{plain(k)}")
    except InputError as error:
        if k is None and "cutoff" in str(error):
            said = f"{family(metric)}@10"
            raise InputError(
                f"dialect {dialect.name!r}: its {family(metric)} needs a cutoff, write {said}"
            ) from None
        raise
    default = {f.name: f.default for f in fields(theirs)}
    ours = {f.name: getattr(metric, f.name) for f in fields(metric) if getattr(metric, f.name) != f.default}
    carried = {
        name: value
        for name, value in ours.items()
        if name in default and getattr(theirs, name) == default[name] and default[name] is not MISSING
    }
    return theirs.having(**carried).ready()


# --- as the result states them ----------------------------------------------------------------------


def stated(
    asked: Sequence[MetricRequest],
    policy: Policy,
    depth: int | None,
    dialect: str | None,
    weights: str | None,
    seed: int,
) -> dict[str, Any]:
    """All conventions of a result: shared ones once, those of a dialect also metric by metric."""
    first = asked[0].convention
    shared = {
        f.name: getattr(first, f.name)
        if all(getattr(a.convention, f.name) == getattr(first, f.name) for a in asked)
        else "as the dialect says"
        for f in fields(Convention)
    }
    out = {
        "ties": shared["ties"],
        "ties_in_words": TIES_IN_WORDS.get(shared["ties"], shared["ties"]),
        "queries": shared["queries"],
        "queries_in_words": QUERIES_IN_WORDS.get(shared["queries"], shared["queries"]),
        "no_relevant": shared["no_relevant"],
        "nothing_found": shared["nothing_found"],
        "mean": shared["mean"],
        "weights": weights,
        "dialect": dialect,
        "seed": seed if any(a.convention.ties == "expected" for a in asked) else None,
        "depth": depth,
        "duplicates": policy.duplicates,
        "self_match": policy.self_match,
        "metrics": {str(a.metric): a.metric.convention for a in asked},
    }
    if dialect is not None:
        out["by_metric"] = {str(a.metric): asdict(a.convention) for a in asked}
    return out
