"""What a chart is drawn on: its marks, and what they tell on hover and to who listens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankscope.blocks import Chart, Written
from rankscope.show.cells import numbered
from rankscope.show.charts.data import field_of, ranged, safe

SPOKEN = 200  # as many marks are read out one by one; more of them would only be noise


@dataclass(frozen=True)
class Canvas:
    """A chart, the module it is drawn with, and how wide it becomes in pixels (None: as wide as where it is put)."""

    chart: Chart
    alt: Any
    width: int | None = None

    def field(self, header: str) -> str:
        """The field of a column."""
        return field_of(self.chart, header)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.chart.rows)

    def mark(self, kind: str, **looks: Any) -> Any:
        """A mark of one kind for each row, with what is told of it."""
        told = tellings(self.chart)
        if self.chart.query:
            looks["cursor"] = "pointer"
        spoken = self.size <= SPOKEN and self.width is not None  # a page says it by a table
        base = getattr(self.alt.Chart(), f"mark_{kind}")(aria=spoken, **looks)
        base = base.encode(tooltip=self.alt.TooltipValue({"expr": hover(told)}))
        if spoken:
            base = base.encode(description=self.alt.DescriptionValue({"expr": spoken_of(told)}))
        return base

    def plain(self, kind: str, **looks: Any) -> Any:
        """A mark that tells nothing by itself: the second part of another."""
        return getattr(self.alt.Chart(), f"mark_{kind}")(aria=False, tooltip=None, **looks)

    def once(self, kind: str, **looks: Any) -> Any:
        """A mark that is drawn once, whatever the rows."""
        alone = self.alt.sequence(0, 1, as_="once")
        return getattr(self.alt.Chart(alone), f"mark_{kind}")(aria=False, tooltip=None, **looks)


def tellings(chart: Chart) -> list[tuple[str, str]]:
    """All that a row says: headers, each with an expression for the text of its value."""
    told = []
    headers = numbered([safe(column.header) for column in chart.columns])
    for at, column in enumerate(chart.columns):
        value = f"datum['c{at}']"
        if column.kind == "text":
            text = f"isValid({value}) ? '' + {value} : '–'"
        else:
            how = ",.4f" if column.kind == "value" else ",.4~f"
            if any(isinstance(row[at], Written) for row in chart.rows):
                how = ".3~g"  # a number of its own writing may be far below four decimals
            number = f"format({value}, '{how}')"
            if ranged(chart, column.header):
                low, high = f"datum['c{at}_low']", f"datum['c{at}_high']"
                ends = f"' (' + format({low}, '{how}') + ' to ' + format({high}, '{how}') + ')'"
                number = f"{number} + (isNumber({low}) && isNumber({high}) ? {ends} : '')"
            text = f"isNumber({value}) ? {number} : isValid({value}) ? '' + {value} : '–'"
        told.append((headers[at], text))
    return told


def hover(told: Sequence[tuple[str, str]]) -> str:
    """An expression for the table that is shown at a mark."""
    return "{" + ", ".join(f"{json.dumps(header)}: {text}" for header, text in told) + "}"


def spoken_of(told: Sequence[tuple[str, str]]) -> str:
    """An expression for the sentence that is read out at a mark."""
    return " + '; ' + ".join(f"{json.dumps(header + ': ')} + ({text})" for header, text in told)
