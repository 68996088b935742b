"""A metric in words: its meaning, its parameters, and how it differs from its usual form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from typing import Any

from rankscope.declared import doc_of, plain
from rankscope.metrics.base import Metric

STATED = ("gain", "discount", "ideal", "p", "max_grade", "alpha", "T", "decay", "beta")  # parameters that papers state
IN_WORDS: dict[str, dict[Any, str]] = {
    "gain": {"linear": "linear gain", "exponential": "gain 2^grade - 1", "binary": "gain 1 from grade 1 on"},
    "discount": {
        "log2": "discount 1/log2(rank + 1)", "log2_rank": "discount 1/log2(rank) from rank 2 on",
        "reciprocal": "discount 1/rank", "none": "no discount",
    },
    "ideal": {
        "judged": "ideal of all judged documents, cut at k",
        "judged_uncut": "ideal of all judged documents, never cut",
        "judged_at_returned": "ideal of all judged documents, cut at the number returned",
        "retrieved_topk": "ideal of the documents retrieved in the top k",
        "retrieved_all": "ideal of all documents retrieved",
        "full_k": "ideal of k documents of grade 1",
        "max_grade_k": "ideal of k documents of the best grade",
    },
    "judged_only": {True: "unjudged documents are removed first"},
}  # fmt: skip


DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neither": "no better direction"}


def rewards(cls: type[Metric]) -> str:
    """The meaning of a metric in one sentence."""
    return doc_of(cls).strip().split("\n\n")[0].replace("\n", " ").rstrip(".")


def unfit_for(metric: Metric) -> str:
    """Uses for which a metric is unfit: by its class, and by its traits."""
    open_end = getattr(metric, "cutoff", 0) is None and metric.positions and metric.counts == "many"
    reasons = {
        vars(type(metric)).get("not_for", ""): True,
        "distinguishing grades": metric.relevance == "binary",
        "judging relevance": metric.relevance == "none" and metric.better == "neither",
        "the order of the documents": not metric.positions and metric.aggregate != "sum",
        "queries that want several documents": metric.counts == "one",
        "lists with only the top visible, unless cut (@10)": open_end,
        "judgments without subtopics": "subtopics" in metric.needs,
        "runs on different queries": metric.aggregate == "sum",
        "deciding which run is better": metric.better == "neither",
    }
    return "; ".join(reason for reason, holds in reasons.items() if holds and reason)


def description_of(metric: Metric) -> str:
    """The meaning of a metric, its formula, its watch-out, and its better direction. Changed parameters come first."""
    own = changed_parameters(metric)
    parts = [f"Here {', '.join(own)}. The usual form:"] if own else []
    parts += [f"{rewards(type(metric))}."]
    parts += [f"Formula: {metric.formula}."] if metric.formula else []
    parts += [f"Watch out: {metric.convention}."] if metric.convention else []
    return " ".join([*parts, f"{DIRECTIONS[metric.better].capitalize()}."])


def convention_of(metric: Metric) -> str:
    """The watch-out of a metric. Changed parameters come first, as the usual convention does not apply to them."""
    own = changed_parameters(metric)
    if not own:
        return metric.convention
    usually = f". Usually: {metric.convention}" if metric.convention else ""
    return f"here: {', '.join(own)}{usually}"


def changed_parameters(metric: Metric) -> list[str]:
    """The parameters of a metric that differ from its defaults, in words. The cutoff is left out."""
    return [_words(metric, name) for name, default in _parameters(metric) if getattr(metric, name) != default]


def stated_parameters(metric: Metric) -> list[str]:
    """The parameters that a paper states with a metric's name, because they change its numbers."""
    return [
        _words(metric, name)
        for name, default in _parameters(metric)
        if (value := getattr(metric, name)) is not None and name != "level" and (name in STATED or value != default)
    ]


def relevance_levels(metrics: Iterable[Metric]) -> str:
    """The lowest relevant grade in a sentence. Empty if no metric depends on it."""
    by_level: dict[float, list[str]] = {}
    for metric in metrics:
        level = getattr(metric, "level", None)
        if level is not None and getattr(metric, "gain", None) is None:  # gains replace the level
            by_level.setdefault(level, []).append(str(metric))
    parts = [f"from grade {plain(level)} on" for level in by_level]
    if len(parts) > 1:
        parts = [f"{part} for {', '.join(by_level[level])}" for part, level in zip(parts, by_level, strict=True)]
    return f"A document is relevant {', '.join(parts)}." if parts else ""


def _parameters(metric: Metric) -> Iterator[tuple[str, Any]]:
    for f in fields(metric):
        if f.name not in {"cutoff", type(metric).at}:
            yield f.name, f.default if f.default_factory is MISSING else f.default_factory()


def _words(metric: Metric, name: str) -> str:
    value = getattr(metric, name)
    if name == "level":
        return f"relevant from grade {plain(value)} on"
    words = IN_WORDS.get(name, {})
    if isinstance(value, str | bool) and value in words:
        uncut = name == "ideal" and value == "judged" and getattr(metric, "cutoff", None) is None
        return words[value].removesuffix(", cut at k") if uncut else words[value]
    if name in {"gain", "discount"}:
        return f"{name} {value!r}"
    return f"{name} = {plain(value) if isinstance(value, int | float) else value!r}"
