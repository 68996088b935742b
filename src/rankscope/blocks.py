"""The blocks of a result: tables, paragraphs, notes, charts, rankings to explore. Renderers need nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

EVEN = 0.0001  # below this difference both sides of an interval read the same in four decimals


@dataclass(frozen=True)
class ValueRange:
    """A value with the ends of its interval. ``text`` replaces all three if it is set."""

    value: float
    lower: float
    upper: float
    text: str = ""

    @property
    def even(self) -> bool:
        """True if both sides read the same in four decimals."""
        return abs((self.value - self.lower) - (self.upper - self.value)) < EVEN

    @staticmethod
    def note(ranges: Sequence[ValueRange], which: str) -> str:
        """Return the legend of intervals in a table: ``±`` for equal sides, ``-`` and ``+`` for unequal ones."""
        even = [one.even for one in ranges]
        if not any(even):
            return f"- and + are the two sides of {which}" if even else ""
        return f"± is half of {which}" + ("" if all(even) else ", - and + its two sides if they differ")


@dataclass(frozen=True)
class NumberText:
    """A number with its text: ``+0.082 *``, ``<.001``, ``49 of 200``. Exports hold ``value``."""

    text: str
    value: float


Value = str | int | float | ValueRange | NumberText | None
Guide = Literal["", "zero", "equal"]
Kind = Literal["text", "value", "count", "date"]


def plain_value(value: Value) -> str | int | float | None:
    """A value without its interval and without a text of its own."""
    return value.value if isinstance(value, ValueRange | NumberText) else value


@dataclass(frozen=True)
class Column:
    """A column of a table.

    A ``value`` is shown with four decimals, a ``count`` without any, and None as a dash. A ``ValueRange`` value is followed by the
    half of its interval, 0.5120 ±0.0610, or by both sides if they differ, 0.9800 -0.0484 +0.0139. A column that
    ``wraps`` contains running text, broken over lines if space is short. ``hint`` is the header in full,
    shown if there is space. The cells of a column of ``queries`` are ids of queries, which a page links to.
    If ``guide`` is ``zero``, the intervals of the column are drawn with a line at 0. A ``date`` counts days from 1970-01-01
    on, and reads 2024-01-05. A ``spare`` column is left out of a narrow board, as on a phone.
    """

    header: str
    kind: Kind = "text"
    wraps: bool = False
    hint: str = ""
    queries: bool = False
    guide: Guide = ""
    spare: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of values under columns.

    The first ``labels`` columns name a row. ``best`` are the cells (row, column) to stress. A table that
    ``turns`` may be shown with its rows and columns exchanged. A ``note`` explains its marks, and stays with it;
    ``unranged`` replaces it if no interval fits, and is added if only some fit.
    ``name`` is the file name of an exported table; ``title`` is printed above it on a page. ``pair`` names the two runs that its
    queries are to be looked into with, the baseline first. ``order`` names the runs of the first column in the order in which they get
    their colours, as for a ``Chart``. ``latex`` is the table of a paper, if there is one. ``parts`` are titles of groups of rows, each
    with its first row. On a page a ``folded`` table opens on demand, as it repeats a chart.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    labels: int = 1
    best: frozenset[tuple[int, int]] = frozenset()
    turns: bool = False
    note: str = ""
    unranged: str = ""
    name: str = ""
    title: str = ""
    pair: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    latex: str = ""
    parts: tuple[tuple[int, str], ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Paragraph:
    """A paragraph. ``quiet`` text is the small print."""

    text: str
    quiet: bool = False


@dataclass(frozen=True)
class Heading:
    """The heading of the next blocks."""

    text: str


@dataclass(frozen=True)
class Caution:
    """A caution: a stable code, its meaning, and its remedy, which is not printed of a ``brief`` one."""

    code: str
    message: str
    hint: str
    brief: bool = False

    def as_dict(self) -> dict[str, str]:
        """Return the record for JSON."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


@dataclass(frozen=True)
class Note:
    """The problem, its remedy, and a stable code. On a page ``at`` is the anchor of the section that shows more, and ``where`` its title."""

    text: str
    hint: str = ""
    code: str = ""
    at: str = ""
    where: str = ""


@dataclass(frozen=True)
class Notes:
    """Several notes, one below the other."""

    items: tuple[Note, ...]


@dataclass(frozen=True)
class Facts:
    """Terms and their descriptions. ``room`` is the width of the terms if several lists are to align."""

    items: tuple[tuple[str, str], ...]
    room: int = 0


@dataclass(frozen=True)
class Code:
    """Lines to be shown as they are: commands, files."""

    lines: tuple[str, ...]


Block = Table | Paragraph | Heading | Notes | Facts | Code
"""Blocks that a terminal, a file and a page can show."""

EMPTY = Paragraph("")


Form = Literal["intervals", "bars", "ordered", "stacked", "points", "lines", "steps", "heat"]


@dataclass(frozen=True)
class Chart:
    """A chart of ``rows`` under ``columns``, one row per mark.

    ``x``, ``y``, ``series`` (the colour), ``panel`` (small charts side by side), ``label`` (written at the mark) and
    ``query`` (an id that links to its rankings) are headers of columns. ``title`` and ``caption`` explain the chart.

    ``form`` is the kind of marks:

    - ``intervals``: a ``ValueRange`` value on x with its interval, a name on y, in the order of the rows;
    - ``bars``: a name on x in the order of the rows, a value on y. Bars of several series stand side by side;
    - ``ordered``: one bar per row from 0, side by side in the order of the rows, without names: x is a count, y a value;
    - ``stacked``: a name on y in the order of the rows, a count on x, one part a series;
    - ``points``: values on x and y; with a ``path`` a line joins the rows in which that column is true;
    - ``lines``: values on x and y, one line per series, with a band if y is ``ValueRange``;
    - ``steps``: as lines, level to the right up to the next value;
    - ``heat``: names on x and y, a value as colour (``colour`` is its header), written into the cell if it fits.

    ``guide`` draws a reference: the value 0 (``zero``), or x and y ``equal``. For values in ``series``,
    ``better``, ``worse`` and ``same`` have colours of their own. An axis in ``logs`` is logarithmic. ``middle`` is the value at
    which the colours of a heat chart part into two directions. ``marked`` is the header of a column of 1 and 0: rows with 0 are drawn fainter.
    ``limits`` are the ends of the axis (or colours) of the value, if known. ``order`` names series in the order of
    their colours, whether they are in this chart or not, so that one series looks the same in all charts of a page. ``told`` is true if a table of the same numbers
    is next to it. ``pair`` names the two runs that its queries are linked
    with, the baseline first. ``most`` is a value of x at which a line is drawn among ``points``, as its limit. ``fit`` is a fitted line
    through them: x and y of both ends.
    ``axes`` are headers, each with the label of its axis in a picture without a title: by default the header and its hint.
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
    most: float | None = None
    fit: tuple[float, float, float, float] | None = None
    axes: tuple[tuple[str, str], ...] = ()

    def at(self, header: str) -> int:
        """Return the number of a column by its header. Raises ValueError if it is missing."""
        return [column.header for column in self.columns].index(header)


def other_than(header: str, *others: str) -> str:
    """Return a header that differs from the others, as charts find columns by their headers."""
    return f"{header} (value)" if header in others else header


@dataclass(frozen=True)
class Document:
    """A document of the shown rankings: ``grade`` (None: not in the qrels), and by run ``ranks`` (0: not retrieved) and ``adds``, its share of the leading metric."""

    doc_id: str
    grade: float | None
    ranks: tuple[int, ...]
    adds: tuple[float, ...]
    text: str = ""


@dataclass(frozen=True)
class Query:
    """A query, its values by run and metric (NaN: undefined), and the documents shown, each once.

    ``sizes`` is how many documents each run retrieved. ``judged`` holds the grades of all documents in the qrels, retrieved or not,
    each with its count. ``others`` are documents of a grade above 0 that no ranking shows, known by id and rank; ``beyond`` holds, run by
    run, rank and grade of the remaining ones. ``rest`` is the part of each run's value that no shown document adds. ``unjudged`` counts the unjudged documents in each run's top.
    ``answer`` is the solution of an exercise on a page.
    """

    query_id: str
    text: str
    values: tuple[tuple[float, ...], ...]
    documents: tuple[Document, ...]
    sizes: tuple[int, ...]
    judged: tuple[tuple[float, int], ...]
    beyond: tuple[tuple[tuple[int, float], ...], ...]
    rest: tuple[float, ...]
    unjudged: tuple[int, ...]
    answer: str = ""
    others: tuple[Document, ...] = ()


@dataclass(frozen=True)
class Explorer:
    """Queries to look into. ``runs`` starts with the baseline and its first rival, ``metrics`` with the one that leads.

    The first ``depth`` documents of each ranking are shown; ``cutoff`` is that of the leading metric (None: none). Documents of at
    least grade ``level`` are relevant; ``top_grade`` is the best grade there is. ``left_out`` counts queries that are not in
    ``queries``. ``notes`` explain the order and the omissions. ``members`` names the runs of each
    system that is the mean of several, which pairs of systems use. ``parameters`` are those of the metrics: ``p``,
    ``max_grade``. ``betters`` and ``cutoffs`` belong to the metrics, if another than the first may be chosen. ``marks`` holds
    notes and grades of readers, as JSON.
    """

    runs: tuple[str, ...]
    metrics: tuple[str, ...]
    better: Literal["higher", "lower", "neither"]
    queries: tuple[Query, ...]
    depth: int
    cutoff: int | None
    level: float
    top_grade: float
    left_out: int = 0
    notes: tuple[str, ...] = ()
    teaching: bool = False
    members: tuple[tuple[str, tuple[str, ...]], ...] = ()
    parameters: tuple[tuple[str, float], ...] = ()
    betters: tuple[str, ...] = ()
    cutoffs: tuple[int | None, ...] = ()
    marks: str = ""


Tone = Literal["better", "worse", "unclear", "same", "opposite", "invalid", "plain"]


@dataclass(frozen=True)
class Verdict:
    """A sentence that answers the question of the page; ``tone`` sets its word, sign and colour.

    ``about`` is its subject in a few words (``hybrid against bm25``); ``queries`` are the ids of queries that decide it,
    each with its sentence and a link. ``more`` has less important sentences, such as those about other metrics.
    ``pairs`` names the two runs for each of the queries, the baseline first. If it is empty, these are
    the first two.
    """

    text: str
    tone: Tone = "plain"
    about: str = ""
    queries: tuple[tuple[str, str], ...] = ()
    more: tuple[str, ...] = ()
    pairs: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Section:
    """A part of a page: ``name`` is its anchor, ``lead`` its summary, ``caution`` a caveat for the first screen, ``label`` its title in the contents."""

    name: str
    title: str
    blocks: tuple[Block | Chart | Explorer | Verdict, ...]
    lead: str = ""
    folded: bool = False
    caution: str = ""
    label: str = ""


@dataclass(frozen=True)
class Answer:
    """The first screen of a page: a plain sentence, its ``tone``, the ``board`` with one interval per row, and one caveat.

    ``checked`` is the check of the data that allows the sentence, or forbids it (tone ``invalid``), and ``step`` what to do next. ``caution_at`` is the anchor of the section that shows more of the ``caution``. ``queries`` and ``pairs`` are as for a ``Verdict``.
    """

    text: str
    tone: Tone
    board: Table
    caution: str = ""
    caution_at: str = ""
    queries: tuple[tuple[str, str], ...] = ()
    pairs: tuple[tuple[str, ...], ...] = ()
    checked: str = ""
    step: str = ""


@dataclass(frozen=True)
class Page:
    """A whole page: ``about`` is its subject, ``foot`` its last line, ``answer`` the first screen. ``exit_code`` is 3 if the data refuse an answer."""

    title: str
    about: str
    verdicts: tuple[Verdict, ...]
    sections: tuple[Section, ...]
    foot: str = ""
    answer: Answer | None = None
    exit_code: int = 0

    @property
    def explorer(self) -> Explorer | None:
        """The rankings of the page, or None."""
        explorers = (b for section in self.sections for b in section.blocks if isinstance(b, Explorer))
        return next(explorers, None)
