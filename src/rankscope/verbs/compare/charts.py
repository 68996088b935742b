"""The charts of a comparison: differences with their intervals, queries better and worse, queries one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from rankscope import words
from rankscope.blocks import Chart
from rankscope.panels.charts import PAIRS, files_of, forest, outcome_counts, scatter, sides, waterfall, wide
from rankscope.panels.contrast import Contrast
from rankscope.panels.panel import Panel
from rankscope.verbs.compare.tables import in_order_of_merit

FEW = 3  # pairs that get charts of their own


class Compared(Protocol):
    """What the charts need of a comparison."""

    @property
    def fields(self) -> Sequence[Panel]:
        """The metrics that are compared, the primary one first."""

    @property
    def baseline(self) -> str:
        """The run that others are compared with."""

    @property
    def all_pairs(self) -> bool:
        """Whether every run is compared with every other."""

    def of(self, metric: str) -> list[Contrast]:
        """The contrasts on one metric."""


def charts_of(found: Compared, interval: str = "the interval", p_value: str = "p-value") -> Iterator[Chart]:
    """All charts of a comparison; ``interval`` and ``p_value`` say what these are."""
    yield from forests(found, interval, p_value)
    yield from win_loss(found)
    rivals = [c for c in rivals_of(found) if c.differing][:FEW]
    for (_, file), c in zip(files_of(rivals).items(), rivals, strict=True):
        yield from (waterfall(c, file), scatter(c, file))


def each_pair(found: Compared) -> bool:
    """Whether more than two runs are compared each with each, so that none is the baseline."""
    return found.all_pairs and len(found.fields[0].systems) > 2


def rivals_of(found: Compared) -> list[Contrast]:
    """The contrasts on the primary metric, those first in which the run is furthest ahead."""
    return sorted(found.of(found.fields[0].name), key=lambda c: -(c.measured.sign or 1) * c.difference)


def forests(found: Compared, interval: str, p_value: str) -> Iterator[Chart]:
    """The differences of the means, as one chart or several small ones.

    With one rival a row is a metric, else a row is a run and the primary metric has a chart of its own. A metric of a wide
    range (a count, a total) does not share its scale with others.
    """
    first, *others = found.fields
    alike = [panel for panel in others if wide(panel) == wide(first)]
    unlike = [panel for panel in others if wide(panel) != wide(first)]
    by_metric = len(found.of(first.name)) == 1
    parts = [("forest", [first, *alike])] if by_metric else [("forest", [first]), ("forest-others", alike)]
    parts += [(f"forest-{i}", [panel]) for i, panel in enumerate(unlike, start=2)]
    for name, panels in parts:
        if not panels:
            continue
        rows = []
        for panel in panels:
            label = f"{panel.name} (lower is better)" if panel.sign < 0 else panel.name
            mine = _in_order(found, panel)
            rows += [(label, c.run, c) if by_metric else (_name(found, c), label, c) for c in mine]
        minus = "the first of the pair minus the second" if each_pair(found) else "run minus baseline"
        heads = ("metric", "run") if by_metric else ("run", "metric")
        caption = _caption(found, panels, minus, interval)
        chart = forest(name, _title(found, panels, by_metric), rows, heads, caption, (minus, p_value))
        if chart is not None:
            yield chart


def _title(found: Compared, panels: Sequence[Panel], by_metric: bool) -> str:
    if each_pair(found):
        title = "Differences of pairs"
    elif by_metric:
        (c,) = found.of(panels[0].name)
        title = f"{c.run} against {c.baseline}"
    else:
        title = f"Differences from {found.baseline}"
    if len(panels) == 1:
        return f"{title} on {panels[0].name}"
    return title if by_metric else f"{title}, other metrics"


def _caption(found: Compared, panels: Sequence[Panel], minus: str, interval: str) -> str:
    """How to read differences."""
    left = len(found.of(panels[0].name)) - PAIRS if each_pair(found) else 0
    more = f" The {PAIRS} largest differences; {words.count(left)} more are not drawn." if left > 0 else ""
    return (
        f"Difference of the means, {minus}, with {interval}. {sides(panels)} "
        f"An interval that contains 0 is drawn fainter: no clear difference.{more}"
    )


def _in_order(found: Compared, panel: Panel) -> list[Contrast]:
    """The contrasts on a metric, the runs in order of merit on the primary one; of many pairs those that differ most."""
    mine = found.of(panel.name)
    if each_pair(found):
        return sorted(mine, key=lambda c: -np.nan_to_num(abs(c.difference)))[:PAIRS]
    place = {run: i for i, run in enumerate(in_order_of_merit(found.fields[0]))}
    return sorted(mine, key=lambda c: place[c.run])


def _name(found: Compared, c: Contrast) -> str:
    """What a contrast is called where its comparison is known: by its run, or of all pairs by both."""
    return f"{c.run} − {c.baseline}" if each_pair(found) else c.run


def win_loss(found: Compared) -> Iterator[Chart]:
    """Queries better, same and worse: a row a metric for one rival, else a row a run on the primary metric."""
    first = found.fields[0]
    alone = len(found.of(first.name)) == 1
    if alone:
        rows = [(c.metric, c) for panel in found.fields for c in found.of(panel.name)]
    else:
        rows = [(_name(found, c), c) for c in _in_order(found, first)]
    against = "the other of the pair" if each_pair(found) else found.baseline
    chart = outcome_counts(
        rows, head="metric" if alone else "run", title=f"Queries better, same and worse{'' if alone else f' on {first.name}'}",
        caption=f"On how many queries {rows[0][1].run if alone else 'a run'} scores better than {against}, the same, or worse. "
        "A small lead on many queries and a large one on few are different things.",
    )  # fmt: skip
    if chart is not None:
        yield chart
