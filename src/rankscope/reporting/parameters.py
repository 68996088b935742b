"""What a metric is computed with, in words: gain, discount, ideal, and what departs from the usual."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from typing import Any

from rankscope.declared import plain
from rankscope.metrics import Metric

SAID = ("gain", "discount", "ideal", "p", "max_grade", "alpha", "T", "decay", "beta")  # numbers hang on them
IN_WORDS: dict[str, dict[Any, str]] = {
    "gain": {"linear": "linear gain", "exponential": "gain 2^grade - 1", "binary": "gain 1 from grade 1 on"},
    "discount": {
        "log2": "discount 1/log2(rank + 1)",
        "log2_rank": "discount 1/log2(rank) from rank 2 on",
        "reciprocal": "discount 1/rank",
        "none": "no discount",
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
    "judged_only": {True: "documents that nobody judged are taken out first"},
}


def convention_of(metric: Metric) -> str:
    """The convention of a metric that bites; parameters of its own come first, as the usual convention does not hold for them.

    >>> from rankscope.metrics import parse
    >>> convention_of(parse("P@10"))
    "divides by k even where fewer documents were returned; denominator='min_k_listlen' does not"
    >>> convention_of(parse("DCG(gain='exponential')@10"))[:55]
    'here: gain 2^grade - 1. Usually: linear gain and 1/log2'
    """
    own = own_of(metric)
    if not own:
        return metric.convention
    usually = f". Usually: {metric.convention}" if metric.convention else ""
    return f"here: {', '.join(own)}{usually}"


def own_of(metric: Metric) -> list[str]:
    """The parameters of a metric that are not as usual, in words, its cutoff aside."""
    return [_words(metric, name) for name, default in _parameters(metric) if getattr(metric, name) != default]


def told(metric: Metric) -> list[str]:
    """What a paper says of a metric beside its name: the parameters that change its numbers.

    >>> from rankscope.metrics import parse
    >>> told(parse("nDCG@10"))
    ['linear gain', 'discount 1/log2(rank + 1)', 'ideal of all judged documents, cut at k']
    >>> told(parse("AP"))
    []
    """
    return [
        _words(metric, name)
        for name, default in _parameters(metric)
        if (value := getattr(metric, name)) is not None and name != "level" and (name in SAID or value != default)
    ]


def levels(metrics: Iterable[Metric]) -> str:
    """From which grade on a document is relevant, in a sentence; empty where no metric asks.

    >>> from rankscope.metrics import parse
    >>> levels([parse("P@10"), parse("nDCG@10")]), levels([parse("AP"), parse("P(level=2)@10")])
    ('A document is relevant from grade 1 on.', 'A document is relevant from grade 1 on for AP, from grade 2 on for P(level=2)@10.')
    """
    by_level: dict[float, list[str]] = {}
    for metric in metrics:
        level = getattr(metric, "level", None)
        if level is not None and not _graded(metric):
            by_level.setdefault(level, []).append(str(metric))
    parts = [f"from grade {plain(level)} on" for level in by_level]
    if len(parts) > 1:
        parts = [f"{part} for {', '.join(by_level[level])}" for part, level in zip(parts, by_level, strict=True)]
    return f"A document is relevant {', '.join(parts)}." if parts else ""


def _graded(metric: Metric) -> bool:
    """Whether gains of its own take the place of the level."""
    return getattr(metric, "gain", None) is not None


def _parameters(metric: Metric) -> Iterator[tuple[str, Any]]:
    """The parameters of a metric beside its cutoff, each with what it is unless said."""
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
