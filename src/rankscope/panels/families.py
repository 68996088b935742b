"""Many comparisons at once: corrected p-values and intervals, the top group, how well a metric separates, slices of the queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.inference.anova import Anova, two_way
from rankscope.inference.base import TINY, UNIT, Bounds, Joint, is_significant
from rankscope.lists import Array
from rankscope.panels.contrast import CLEAR, Contrast, contrast, interval_of
from rankscope.panels.method import FEWEST, VALID, Method, Validity
from rankscope.panels.panel import Panel

Pairs = Sequence[tuple[str, str]]
Corrected = tuple[Contrast, float, Bounds, float]


@dataclass(frozen=True, eq=False)
class Family:
    """Pairs of systems compared on panels by one method, and corrected together as the method says.

    The primary panel stands first. ``pairs`` are runs and baselines, as ``pairs_of`` gives them; ``baseline`` is the one that all
    runs are compared with, None where it is each with each. ``looked`` is true if the baseline was chosen as the best system.
    Any pair could have been compared then, so the correction counts all pairs. ``each_pair`` tells that more than two systems are compared so,
    ``size`` how many comparisons are corrected together. ``validity`` is whether the data allow a verdict: each contrast has it.
    """

    panels: Sequence[Panel]
    pairs: Pairs
    method: Method
    baseline: str | None = None
    validity: Validity = VALID
    looked: bool = False
    each_pair: bool = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        pairs = math.comb(len(self.pairs) + 1, 2) if self.looked else len(self.pairs)
        size = pairs * (len(self.panels) if self.method.family == "all" else 1)
        vars(self).update(each_pair=self.baseline is None and len(self.pairs) > 1, size=max(size, 1))

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """Every pair on every panel, panel by panel, corrected."""
        by_panel = [
            [contrast(panel, *pair, self.method, self.validity) for pair in self.pairs] for panel in self.panels
        ]
        if self.method.family == "all":
            by_panel = [[c for part in by_panel for c in part]]
        return [c for part in by_panel for c in correct(part, [1.0] * (self.size - len(part)))]

    def check_margins(self) -> None:
        """Refuse a margin of a metric that is not compared, and a share of a baseline that is 0. Raises InputError."""
        self.method.check_margins(self.metrics)
        for panel in self.panels:
            chosen = self.method.margin_of(panel.name)
            if chosen is None or not chosen.relative or not any(panel.means.values()):
                continue
            for baseline in dict.fromkeys(baseline for _, baseline in self.pairs):
                if not panel.means[baseline]:
                    raise InputError(
                        f"margin of {panel.name}: {baseline} is at 0, which has no share: give a number, like 0.01"
                    )

    @property
    def primary(self) -> Panel:
        """The panel that leads the verdict."""
        return self.panels[0]

    @property
    def metrics(self) -> list[str]:
        """The names of the panels, the primary one first."""
        return [panel.name for panel in self.panels]

    def of(self, metric: str) -> list[Contrast]:
        """The contrasts on one panel."""
        return [c for c in self.contrasts if c.metric == metric]

    @cached_property
    def groups(self) -> list[TopGroup]:
        """The top group of each panel that has a direction, where there are more than two systems."""
        if len(self.panels[0].systems) < 3 or not self.validity.holds:
            return []
        groups = (top_group(panel, self.contrasts, self.method) for panel in self.panels)
        return [group for group in groups if group is not None]


BEST = "best"


def choose_baseline(named: object, panel: Panel) -> tuple[str, bool]:
    """Return the baseline of the systems of a panel, and True if it was chosen as the best of several: ``best`` is named, and names no system."""
    if str(named) == BEST and BEST not in panel.systems and panel.sign and len(panel.systems) > 1:
        return next(iter(panel.means)), len(panel.systems) > 2
    return baseline_of(None if named is None else str(named), panel.systems), False


def choose_baselines(named: object, panel: Panel) -> tuple[list[str], bool]:
    """Return the baselines, one or a list of several, and True if one was chosen as the best."""
    names = list(named) if isinstance(named, list | tuple) else [named]
    picked = dict(choose_baseline(one, panel) for one in names or [None])
    return list(picked), any(picked.values())


def baseline_of(named: str | None, names: Sequence[str]) -> str:
    """The run that others are compared with: the one named, or the first; an error for a name that no run has."""
    if len(names) < 2:
        raise DataError(f"there is one run, {names[0]}: a comparison needs two or more")
    if named is None:
        return names[0]
    named = str(named)
    if named not in names:
        raise InputError(f"baseline {named!r}: no run is called that{words.hint(named, names)}")
    return named


def pairs_of(systems: Sequence[str], baseline: str, all_pairs: bool) -> Pairs:
    """Which runs are compared, each as run and baseline: all against one, or each with every one before it."""
    if all_pairs:
        return [(later, earlier) for earlier, later in combinations(systems, 2)]
    return [(system, baseline) for system in systems if system != baseline]


def pairs_with(systems: Sequence[str], baselines: Sequence[str]) -> Pairs:
    """Return every run with each of several baselines, as run and baseline. Two baselines are compared once.

    >>> pairs_with(["a", "b", "c"], ["a", "b"])
    [('b', 'a'), ('c', 'a'), ('c', 'b')]
    """
    earlier = {baseline: set(baselines[: i + 1]) for i, baseline in enumerate(baselines)}
    return [(system, baseline) for baseline in baselines for system in systems if system not in earlier[baseline]]


def square(order: Sequence[str], contrasts: Sequence[Contrast]) -> Iterator[tuple[str, str, Contrast | None, int]]:
    """Every pair both ways round: row, column, contrast (None: of a run with itself), 1 or -1 where it is turned."""
    by_pair = {(c.run, c.baseline): c for c in contrasts}
    for row in order:
        for column in order:
            turned = (row, column) not in by_pair
            c = by_pair.get((column, row) if turned else (row, column))
            yield row, column, c, -1 if turned else 1


def correct(family: Sequence[Contrast], others: Sequence[float] = ()) -> list[Contrast]:
    """Return the members of a family with p-values and intervals that take its size into account and do not contradict each other."""
    if not family:
        return []
    method = family[0].method
    out = []
    rows = _jointly(family, method, others) if method.correction.joint else _by_p_values(family, method, others)
    for c, p_value, bounds, level in rows:
        significant = c.differing >= FEWEST and is_significant(p_value, method.alpha) and c.agrees
        out.append(
            replace(
                c, p_value_adjusted=p_value, adjusted=bounds if significant else bounds.including(0.0), corrected_level=level,
                comparisons=len(family) + len(others), significant=significant,
            )
        )  # fmt: skip
    return out


def _by_p_values(family: Sequence[Contrast], method: Method, others: Sequence[float]) -> Iterator[Corrected]:
    """Yield each member with its corrected p-value, and the interval at the level that the correction leaves it."""
    p_values = np.array([*(c.p_value for c in family), *others])
    adjusted = method.correction.adjusted(p_values)
    levels = method.correction.levels(p_values, method.alpha)
    for c, p_value, level in zip(family, adjusted.tolist(), levels.tolist(), strict=False):
        bounds, confidence = c.bounds, method.level
        if bounds.known and not math.isclose(level, method.alpha, rel_tol=1e-12):
            confidence = method.confidence(level)
            bounds = interval_at(c, confidence)
        yield c, p_value, bounds, confidence


def interval_at(c: Contrast, level: float) -> Bounds:
    """Return the interval of a difference at another level; none if the random draws are too few for it."""
    try:
        return interval_of(c.pair, c.method, level, c.panel)
    except InputError as error:
        return Bounds.none(str(error))


def _jointly(family: Sequence[Contrast], method: Method, others: Sequence[float]) -> Iterator[Corrected]:
    """Yield each member of a family on one panel, corrected by the scores of all its systems together."""
    panel = family[0].panel
    pairs = [(c.run, c.baseline) for c in family]
    if others:  # all pairs of the runs
        runs = [run for run, _ in pairs]
        pairs += pairs_of(runs, runs[0], all_pairs=True)
    result = joint(panel, pairs, method)
    low, high = panel.measure.range
    rows = zip(family, result.adjusted.tolist(), result.critical.tolist(), result.error.tolist(), strict=False)
    for c, p_value, critical, error in rows:
        reach = critical * error  # infinite or NaN if chance reaches every difference
        bounds = Bounds.none("no difference would exceed chance")
        if math.isfinite(reach):
            bounds = Bounds(c.difference - reach, c.difference + reach, str(method.correction))
            bounds = bounds.clipped(low - high, high - low)
        yield c, p_value, bounds, math.nan


def joint(panel: Panel, pairs: Pairs, method: Method) -> Joint:
    """What a joint correction says of pairs of systems."""
    if panel.predicted is not None:
        raise InputError(
            f"correction={str(method.correction)!r} looks at single queries, and predictions correct only means: use holm"
        )
    if panel.clusters is not None:
        raise InputError(f"correction={str(method.correction)!r} takes queries as independent; with clusters use holm")
    rows = np.array([(panel.systems.index(run), panel.systems.index(baseline)) for run, baseline in pairs])
    used, places = np.unique(rows, return_inverse=True)
    scores = panel.of_rows(used.tolist()).complete
    if 0 < np.abs(scores).max(initial=0.0) < TINY:
        result = method.correction.over(scores * UNIT, places.reshape(rows.shape), method.level)
        return replace(result, error=result.error / UNIT)
    return method.correction.over(scores, places.reshape(rows.shape), method.level)


@dataclass(frozen=True)
class TopGroup:
    """The systems that are statistically tied for first on a metric, the highest mean first. They hold the best one with confidence ``level``."""

    metric: str
    systems: tuple[str, ...]
    of: int
    level: float = 0.95

    def sentence(self) -> str:
        """Who is tied for first."""
        if len(self.systems) == 1:
            return f"{self.metric}: {self.systems[0]} is the best of {self.of:,} runs, at {words.percent(self.level)} confidence"
        if len(self.systems) == self.of:
            return f"{self.metric}: all {self.of:,} runs are statistically tied for first; {self.systems[0]} has the highest mean"
        return f"{self.metric}: {words.listing(self.systems, most=10)} are statistically tied for first: {len(self.systems):,} of {self.of:,} runs"


def top_group(panel: Panel, contrasts: Iterable[Contrast], method: Method) -> TopGroup | None:
    """Return the systems that may be the best; None without a direction.

    A system is left out if any other is better by a one-sided test at alpha over the number of others. The best one is then left out in at most
    alpha of all cases. A system that the contrasts at hand compare with the highest mean is left out exactly if their verdict is clear.
    Source: Hsu, Simultaneous confidence intervals for all distances from the "best", Annals of Statistics 9(5), 1981.
    """
    ranked = [system for system, mean in panel.means.items() if not math.isnan(mean)]
    if not panel.sign or len(ranked) < 2:
        return None
    best, *others = ranked
    mine = [c for c in contrasts if c.metric == panel.name and best in {c.run, c.baseline}]
    differs = {c.baseline if c.run == best else c.run: c.verdict in CLEAR for c in mine}
    kept = [best]
    for place, system in enumerate(others, 1):
        rivals = (contrast(panel, other, system, method) for other in ranked[:place])
        behind = differs[system] if system in differs else any(_is_ahead(c, len(others)) for c in rivals)
        kept += [] if behind else [system]
    return TopGroup(panel.name, tuple(kept), len(panel.systems), method.level)


def _is_ahead(c: Contrast, others: int) -> bool:
    """True if the run of a contrast is better than its baseline by a one-sided test, one per other system."""
    return c.is_gain and c.agrees and c.differing >= FEWEST and is_significant(c.p_value / 2 * others, c.method.alpha)


def anova_of(panel: Panel) -> Anova | None:
    """Two-way analysis of variance (systems and queries) of a metric; None for fewer than three systems or two queries."""
    scores = panel.complete
    if len(scores) < 3 or scores.shape[1] < 2:
        return None
    return two_way(scores)


def discriminative_power(contrasts: Sequence[Contrast]) -> float:
    """The share of the pairs that a metric tells apart with these queries: its discriminative power."""
    return sum(c.verdict in CLEAR for c in contrasts) / len(contrasts) if contrasts else math.nan


_NUMBERS = frozenset("-0123456789")  # a name of numbers begins with its attribute
MAX_VALUES = 30  # an attribute with more values makes no slices: it tells queries or users apart, not kinds of them


@dataclass(frozen=True, eq=False)
class SliceContrast:
    """A contrast on the queries of one slice: those with ``name`` as ``attribute``."""

    attribute: str
    name: str
    contrast: Contrast

    @property
    def label(self) -> str:
        """The slice in words: names of numbers say their attribute themselves."""
        return self.name if self.name.startswith(self.attribute) else f"{self.attribute} {self.name}"

    @property
    def equation(self) -> str:
        """The slice as what holds of its queries: ``kind = head``, ``terms = 3 to 5``."""
        attribute, space, numbers = self.name.partition(" ")
        if space and attribute == self.attribute and numbers[:1] in _NUMBERS:
            return f"{attribute} = {numbers}"
        return f"{self.attribute} = {self.name}"


@dataclass(frozen=True, eq=False)
class Slices:
    """The contrasts of each slice, corrected over all slices and runs within a metric, and what to say about the attributes."""

    contrasts: Sequence[SliceContrast]
    notes: Sequence[str]


def too_many_values(attribute: str, count: int) -> str:
    """Return the note about an attribute that makes no slices."""
    return f"{attribute} has {count:,} values, too many for slices (at most {MAX_VALUES}), and is left out"


def parts_of(source: Any, ids: Sequence[str]) -> tuple[list[tuple[str, str, Array]], list[str]]:
    """The slices that a table of attributes makes of these queries: attribute, name and queries; and notes on the table."""
    from rankscope.files.side_tables import attributes_of

    table = attributes_of(source)
    notes = table.remarks(list(ids))
    parts: list[tuple[str, str, Array]] = []
    for attribute, inside in table.slices(list(ids)).items():
        if len(inside) > MAX_VALUES:
            notes.append(f"{table.label}: {too_many_values(attribute, len(inside))}")
        else:
            parts += [(attribute, name, which) for name, which in inside.items() if which.any()]
    return parts, notes


def slices_of(source: Any, family: Family) -> Slices:
    """Compare within each slice that a table of query attributes makes, as the family does over all queries."""
    parts, notes = parts_of(source, family.panels[0].units)
    contrasts: list[SliceContrast] = []
    for panel in family.panels:
        within = {(attribute, name): panel.within(inside) for attribute, name, inside in parts}
        contrasts += compare_within(within, family)
    return Slices(contrasts, notes)


def compare_within(panels: Mapping[tuple[str, str], Panel], family: Family) -> list[SliceContrast]:
    """Compare the pairs of a family on the panel of each slice, by attribute and name."""
    from rankscope.inference.corrections import holm

    correction = holm() if family.method.correction.joint else family.method.correction
    method = replace(family.method, family="all", correction=correction)
    within = Family([*panels.values()], family.pairs, method, validity=family.validity, looked=family.looked)
    labels = [label for label in panels for _ in family.pairs]
    return [SliceContrast(*label, c) for label, c in zip(labels, within.contrasts, strict=True)]
