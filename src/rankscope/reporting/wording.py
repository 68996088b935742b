"""Words and values that several sections of a report share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankscope.blocks import Column, Ranged
from rankscope.errors import InputError
from rankscope.inference.base import Bounds
from rankscope.metrics import parse
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.panel import Panel
from rankscope.panels.verdicts import percent
from rankscope.reporting.parameters import own_of
from rankscope.verbs.catalogue.result import rewards
from rankscope.verbs.compare.tables import how

if TYPE_CHECKING:
    from rankscope.reporting.subject import Subject
    from rankscope.verbs.compare.result import Comparison

FEW = 3  # rivals that get charts of their own


def hint_of(field: Panel) -> str:
    """What a metric is: its meaning, formula, the convention that bites, and which way is better.

    These are told of the metric as its name alone stands for it. Where parameters are set otherwise, they are said first, and the
    rest as that of the usual form.
    """
    metric = field.metric
    if metric is None:
        try:
            metric = parse(field.name)
        except InputError:
            return f"Scores as they were given. {way(field).capitalize()}."
    own = own_of(metric)
    parts = [f"Here {', '.join(own)}. The usual form:"] if own else []
    parts += [f"{rewards(type(metric))}."]
    parts += [f"Formula: {metric.formula}."] if metric.formula else []
    parts += [f"Convention: {metric.convention}."] if metric.convention else []
    return " ".join([*parts, f"{way(field).capitalize()}."])


def way(field: Panel) -> str:
    """Which way is better, in words."""
    if not field.sign:
        return "neither high nor low is better"
    return "higher is better" if field.sign > 0 else "lower is better"


def column_of(field: Panel, header: str = "") -> Column:
    """The column of a metric, with what it is."""
    total = field.metric is not None and field.metric.aggregate == "sum"
    return Column(header or field.name, "count" if total else "value", hint=hint_of(field))


def ranged(value: float, bounds: Bounds) -> Ranged | None:
    """A value with its interval; None where an end is not known or without bound."""
    ends = (value, bounds.lower, bounds.upper)
    return Ranged(*ends) if all(map(math.isfinite, ends)) else None


def number_or_none(value: float) -> float | None:
    """A number, None where it is undefined or without bound."""
    return float(value) if math.isfinite(value) else None


def each_pair(found: Comparison) -> bool:
    """Whether more than two runs are compared each with each, so that no one is the baseline."""
    return found.all_pairs and len(found.systems) > 2


def is_corrected(found: Comparison) -> bool:
    """Whether p-values and intervals of differences take into account that there are several."""
    size = max((c.comparisons for c in found.contrasts), default=1)
    return size > 1 and str(found.method.correction) != "none"


def interval_said(found: Comparison) -> str:
    """What the intervals of differences are: ``the 95% interval at the level of the correction (paired t test, Holm over 2 comparisons)``."""
    at = " at the level of the correction" if is_corrected(found) else ""
    return f"the {percent(found.method.level)} interval{at} ({method_said(found)})"


def method_said(found: Comparison) -> str:
    """The test, its correction, and the clusters that queries come in."""
    codes = found.fields[0].clusters
    return how(found.family) + ("" if codes is None else f"; queries in {int(codes.max()) + 1:,} clusters")


def p_said(found: Comparison) -> str:
    """What the p-values of a comparison are."""
    return f"p-value{' after the correction' if is_corrected(found) else ''} ({method_said(found)})"


def name_of(found: Comparison, c: Contrast) -> str:
    """What a contrast is called where its comparison is known: by its run, or of all pairs by both."""
    return f"{c.run} − {c.baseline}" if each_pair(found) else c.run


def is_clear(c: Contrast) -> int:
    """1 where the two are told apart, else 0."""
    return int(c.verdict in CLEAR)


def rivals_of(subject: Subject) -> list[Contrast]:
    """The contrasts on the leading metric, those whose means differ most first."""
    found = subject.comparison
    if found is None:
        return []
    by_pair = {(c.run, c.baseline): c for c in found.of(found.primary)}
    return [by_pair[pair] for pair in subject.rivals]


def merit(subject: Subject) -> list[str]:
    """All systems, the best on the leading metric first; in the order given on a metric without a direction."""
    field, scores = subject.lead, subject.scores
    if subject.comparison is not None or scores is None:
        return field.by_merit
    # the scoreboard knows the value of a metric that is made of all queries together
    value = {mean.run: field.sign * mean.value for mean in scores.board if str(mean.metric) == field.name}
    return sorted(field.systems, key=lambda s: math.inf if math.isnan(value[s]) else -value[s])


def weighed(field: Panel) -> str:
    """What a picture of single queries does not show of the mean; nothing for a plain one."""
    aggregate = field.metric.aggregate if field.metric is not None else "mean"
    if aggregate == "pooled":
        return f" {field.name} over all is made of the documents of all queries together, and is no mean of these."
    if aggregate == "geometric":
        return " The mean is geometric: what is near 0 weighs more in it than is seen here."
    return " Queries weigh unevenly in the mean, which is not seen here." if field.weights is not None else ""


def shown_systems(subject: Subject, most: int) -> list[str]:
    """As many systems as can be told apart in a chart, in order of merit: the baseline of a comparison, and the best others."""
    order = merit(subject)
    if len(order) <= most:
        return order
    found = subject.comparison
    held = [] if found is None or each_pair(found) else [found.baseline]
    kept = {*held, *[name for name in order if name not in held][: most - len(held)]}
    return [name for name in order if name in kept]


def some(names: Sequence[str], most: int = 6) -> str:
    """A list of names, no longer than can be read."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def short(name: str, most: int = 40) -> str:
    """A name within a sentence: cut where it is very long."""
    return name if len(name) <= most else name[: most - 1] + "…"


def query_ids(field: Panel, inside: Any) -> list[str]:
    """The ids of the queries that are inside, in their order."""
    return [query for query, kept in zip(field.query_ids, inside.tolist(), strict=True) if kept]


def files_of(contrasts: Sequence[Contrast]) -> Mapping[tuple[str, str], str]:
    """What the files of each pair are called, ``hybrid-against-bm25``: letters and digits, not too long, each its own."""
    out: dict[tuple[str, str], str] = {}
    for c in contrasts:
        name = "-against-".join(slug(part) or "run" for part in (c.run, c.baseline))
        tries = (name, *(f"{name}-{number}" for number in range(2, len(contrasts) + 1)))
        out[c.run, c.baseline] = next(one for one in tries if one not in out.values())
    return out


def slug(text: str, most: int = 18) -> str:
    """A name within the name of a file: small letters and digits of ASCII, joined by hyphens.

    >>> slug("BM25 (tuned).run")
    'bm25-tuned-run'
    """
    kept = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in text.lower())
    return "-".join(kept.split())[:most].strip("-")


def apart(header: str, *others: str) -> str:
    """A header of a chart that is none of the others, as columns are found by their headers."""
    return f"{header} (value)" if header in others else header
