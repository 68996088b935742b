"""Many comparisons at once: corrected p-values and intervals, the top group, how well a metric separates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import combinations

import numpy as np

from rankscope.errors import DataError, InputError
from rankscope.inference.anova import Anova, two_way
from rankscope.inference.base import Bounds, Joint
from rankscope.panels.contrast import CLEAR, Contrast, contrast, interval_of
from rankscope.panels.method import FEWEST, Method
from rankscope.panels.panel import Panel

Pairs = Sequence[tuple[str, str]]


def baseline_of(named: str | None, names: Sequence[str]) -> str:
    """The run that others are compared with: the one named, or the first; an error for a name that no run has."""
    if len(names) < 2:
        raise DataError(f"there is one run, {names[0]}: a comparison needs two or more")
    if named is None:
        return names[0]
    named = str(named)
    if named not in names:
        close = get_close_matches(named, names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names[:10])}"
        raise InputError(f"baseline {named!r}: no run is called that, {hint}")
    return named


def pairs_of(systems: Sequence[str], baseline: str, all_pairs: bool) -> Pairs:
    """Which runs are compared, each as run and baseline: all against one, or each with every one before it."""
    if all_pairs:
        return [(later, earlier) for earlier, later in combinations(systems, 2)]
    return [(system, baseline) for system in systems if system != baseline]


def contrasts_of(fields: Sequence[Panel], pairs: Pairs, method: Method) -> list[Contrast]:
    """Every pair on every metric, corrected within the families."""
    by_metric = [[contrast(field, *pair, method) for pair in pairs] for field in fields]
    if method.correction.joint:
        return [c for field, family in zip(fields, by_metric, strict=True) for c in _jointly(field, family)]
    if method.family == "all":
        return corrected([c for family in by_metric for c in family])
    return [c for family in by_metric for c in corrected(family)]


def corrected(family: Sequence[Contrast]) -> list[Contrast]:
    """The members of a family with p-values and intervals that take its size into account."""
    if not family:
        return []
    from rankscope.inference.corrections import level_of

    method = family[0].method
    p_values = np.array([c.p_value for c in family])
    adjusted = method.correction.adjusted(p_values)
    levels = level_of(method.correction, p_values, method.alpha)
    out = []
    for c, p, level in zip(family, adjusted.tolist(), levels.tolist(), strict=True):
        bounds = c.bounds
        if c.bounds.known and not math.isclose(level, method.alpha, rel_tol=1e-12):
            bounds = _at(level, c)
        out.append(_with(c, p, bounds, len(family)))
    return out


def _at(level: float, c: Contrast) -> Bounds:
    """The interval at the level of a correction; none where its random draws are too few for that."""
    try:
        return interval_of(c.paired, c.method, 1 - level, c.measured)
    except InputError as error:
        return Bounds.none(str(error))


def _with(c: Contrast, p_value: float, bounds: Bounds, size: int) -> Contrast:
    """A contrast with its corrected p-value and an interval that does not contradict it."""
    clear = p_value <= c.method.alpha and c.differing >= FEWEST and c.agrees
    if bounds.known and not clear:
        bounds = replace(bounds, lower=min(bounds.lower, 0.0), upper=max(bounds.upper, 0.0))
    return replace(c, p_value_adjusted=p_value, adjusted=bounds, comparisons=size)


def _jointly(field: Panel, family: Sequence[Contrast]) -> list[Contrast]:
    """A family corrected by looking at the scores of all its systems together."""
    if not family:
        return []
    found = joint(field, [(c.run, c.baseline) for c in family], family[0].method)
    low, high = field.bounds[0] - field.bounds[1], field.bounds[1] - field.bounds[0]
    out = []
    for i, c in enumerate(family):
        reach = float(found.critical[i]) * float(
            found.error[i]
        )  # without end, or NaN, where chance reaches everything
        bounds = Bounds.none("no difference would be beyond what chance gives")
        if math.isfinite(reach):
            bounds = Bounds(c.difference - reach, c.difference + reach, str(c.method.correction))
            bounds = bounds.clipped(low, high) if math.isfinite(high) else bounds
        out.append(_with(c, float(found.adjusted[i]), bounds, len(family)))
    return out


def joint(field: Panel, pairs: Pairs, method: Method) -> Joint:
    """What a joint correction says of pairs of systems."""
    if field.clusters is not None:
        raise InputError(
            f"correction={str(method.correction)!r} takes queries as independent; with clusters use holm"
        )
    rows = np.array([(field.row(run), field.row(baseline)) for run, baseline in pairs])
    used, places = np.unique(rows, return_inverse=True)
    scores = field.restricted(used.tolist()).complete
    return method.correction.over(scores, places.reshape(rows.shape), method.level)


@dataclass(frozen=True)
class TopGroup:
    """The systems that cannot be told apart from the best one on a metric, the best first."""

    metric: str
    systems: tuple[str, ...]
    of: int


def top_group(field: Panel, contrasts: Iterable[Contrast], method: Method) -> TopGroup | None:
    """Who cannot be told apart from the best; None without a direction.

    The best is picked by looking at all, so all pairs are the family. Nobody is in it whom the contrasts at hand tell from the best.
    """
    means = {system: field.mean(system) for system in field.systems}
    ranked = sorted(
        (s for s in field.systems if not math.isnan(means[s])), key=lambda s: -field.sign * means[s]
    )
    if not field.sign or len(ranked) < 2:
        return None
    best, *others = ranked
    mine = [c for c in contrasts if c.metric == field.name]
    if len(mine) < len(field.systems) * (len(field.systems) - 1) // 2:
        every = pairs_of(field.systems, best, all_pairs=True)
        mine += contrasts_of([field], every, replace(method, family="metric"))
    told = [c for c in mine if c.verdict in CLEAR and best in {c.run, c.baseline}]
    apart = {c.baseline if c.run == best else c.run for c in told}
    return TopGroup(field.name, (best, *(s for s in others if s not in apart)), len(field.systems))


def anova_of(field: Panel) -> Anova | None:
    """Two-way analysis of variance (systems and queries) of a metric; None for fewer than three systems or two queries."""
    scores = field.complete
    if len(scores) < 3 or scores.shape[1] < 2:
        return None
    return two_way(scores)


def separated(contrasts: Sequence[Contrast]) -> float:
    """The share of the pairs that a metric tells apart with these queries: its discriminative power."""
    return sum(c.verdict in CLEAR for c in contrasts) / len(contrasts) if contrasts else math.nan
