"""A chart, told by its data and by what they mean; how it is drawn is up to who shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rankscope.blocks.text import Column, Value

Form = Literal["intervals", "bars", "ordered", "stacked", "points", "lines", "steps", "heat"]
Guide = Literal["", "zero", "equal"]


@dataclass(frozen=True)
class Chart:
    """A chart of ``rows`` under ``columns``, a row a mark.

    ``x``, ``y``, ``series`` (what a colour means), ``panel`` (small charts side by side), ``label`` (written at the mark) and
    ``query`` (an id, to look into) are headers of columns. ``title`` and ``caption`` tell what it shows and how to read it.

    ``form`` says what the marks are:

    - ``intervals``: a ``ValueRange`` value on x with its interval, a name on y, in the order of the rows;
    - ``bars``: a name on x in the order of the rows, a value on y; bars of several series stand side by side;
    - ``ordered``: a bar a row from 0, side by side in the order of the rows, with no room for names: x is a count, y a value;
    - ``stacked``: a name on y in the order of the rows, a count on x, one part a series;
    - ``points``: values on x and y; with a ``path`` a line joins the rows in which that column is true;
    - ``lines``: values on x and y, a line a series, with a band where y is ``ValueRange``;
    - ``steps``: as lines, level to the right up to the next value;
    - ``heat``: names on x and y, a value as colour (``colour`` is its header), written into the cell where there is room.

    ``guide`` draws what to compare with: where the value is 0 (``zero``), or where x and y are ``equal``. Of values in ``series``,
    ``better``, ``worse`` and ``same`` have colours of their own. An axis in ``logs`` is logarithmic. ``middle`` is the value at
    which the colours of a heat chart part into two directions. ``marked`` is the header of a column of 1 and 0: rows with 0 are drawn fainter.
    ``limits`` are the ends of the axis (or colours) of the value, where they are known. ``order`` names series in the order in which
    they get their colours, whether they are in this chart or not, so that one series looks the same in all charts of a page. ``told`` says that a table of the same numbers
    stands beside it. ``pair`` names the two runs that its queries are to be looked into
    with, the baseline first.
    """

    name: str
    title: str
    form: Form
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    x: str
    y: str
    series: str = ""
    panel: str = ""
    label: str = ""
    query: str = ""
    colour: str = ""
    path: str = ""
    marked: str = ""
    caption: str = ""
    guide: Guide = ""
    logs: frozenset[Literal["x", "y"]] = frozenset()
    middle: float | None = None
    limits: tuple[float, float] | None = None
    order: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    told: bool = False

    def at(self, header: str) -> int:
        """The place of a column, by its header. Raises ValueError where there is none."""
        return [column.header for column in self.columns].index(header)
