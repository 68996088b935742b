"""Each run against each: which pairs differ clearly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rankscope import words
from rankscope.panels.charts import is_clear
from rankscope.panels.families import separated
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import SubjectOfComparison
from rankscope.verbs.compare.charts import pair_differences, pair_p_values
from rankscope.verbs.compare.tables import ROOM, pair_table

MATRIX = 15  # runs whose p-values are read as a table of runs x runs


class PairsPart(PagePart[SubjectOfComparison]):
    """Differences of all pairs on the main metric as a picture, their p-values as tables."""

    name, title = "pairs", "Each run against each"
    subjects = SubjectOfComparison

    def blocks(self) -> Iterator[Any]:
        """The picture, the p-values where there is room, and the table of pairs."""
        if not self.subject.each_pair:
            return
        found, mine, order = self.subject.result, self.subject.mine, self.subject.merit()
        yield pair_differences(order, mine)
        if len(order) <= MATRIX:
            note = f"{self.subject.p_value}; stressed: a clear difference at {words.percent(found.method.alpha)}"
            yield pair_p_values(order, mine, note)
        many = len(mine) > ROOM
        table = pair_table(found.family, found.family.primary, every=not many, parted=True)
        note = f"the {len(table.rows)} largest clear differences, of {words.count(len(mine))} pairs" if many else ""
        if table.rows:
            yield replace(table, note=note, name="pairs", title=f"Pairs on {found.primary}")

    def lead(self) -> str:
        """How many pairs differ clearly."""
        found, mine = self.subject.result, self.subject.mine
        clear = words.count(sum(map(is_clear, mine)))
        return (
            f"{clear} of {words.count(len(mine))} pairs differ clearly on {found.primary} ({words.share(separated(mine))}) at "
            f"{words.percent(found.method.alpha)}: {self.subject.method}."
        )
