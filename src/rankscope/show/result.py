"""The base of every result: tables declared once, sentences and charts, from which every format follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rankscope import words
from rankscope._version import __version__
from rankscope.blocks import (
    EMPTY,
    Block,
    Caution,
    Chart,
    Column,
    Explorer,
    Facts,
    Heading,
    Note,
    Notes,
    Paragraph,
    Table,
    Value,
)
from rankscope.errors import InputError, MissingExtraError
from rankscope.show import ENDINGS, OF_PAPER
from rankscope.show.text import as_csv, as_json, as_jsonl, as_latex, as_markdown
from rankscope.store import write_file

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["text", "value", "count"]
Shown = Block | Chart

FORMATS = ("table", "json", "jsonl", "csv", "markdown", "latex")
ABSENT = object()  # what fills no row
FEW = 2  # warnings of one kind that are printed one by one; of more the first stands for all


class Col:
    """A column of a result, declared once for programs and for people.

    ``names`` are its keys in JSON and CSV: none for a column that is printed only, two or more where one value of a row
    has parts, as the ends of an interval. ``of`` takes a row and gives the value, or a tuple of values for several names;
    without it the value is the attribute (or, of a dict, the entry) of that name. ``head`` is the header of the printed
    table; a column without one is for programs only. ``cell`` takes the row and gives what is printed; without it that
    is the value itself. A ``rare`` column stands in a record only where it has a value; CSV has it
    only with a ``fill`` for the other rows.

    >>> from types import SimpleNamespace
    >>> row = SimpleNamespace(run="bm25", value=float("nan"), bounds=(0.1, 0.2))
    >>> cols = Col("run", head="run"), Col("value"), Col("ci_lower", "ci_upper", of=lambda row: row.bounds)
    >>> dict(pair for col in cols for pair in col.record(row))
    {'run': 'bm25', 'value': None, 'ci_lower': 0.1, 'ci_upper': 0.2}
    """

    __slots__ = ("cell", "fill", "head", "hint", "kind", "names", "of", "queries", "rare", "wraps")

    def __init__(  # noqa: PLR0913 - a declaration names what departs from the default
        self,
        *names: str,
        of: Callable[[Any], Any] | None = None,
        head: str = "",
        cell: Callable[[Any], Value] | None = None,
        kind: Kind = "text",
        hint: str = "",
        rare: bool = False,
        fill: Any = ABSENT,
        queries: bool = False,
        wraps: bool = False,
    ) -> None:
        self.names = names
        if of is None and names:
            by_name, by_key = attrgetter(*names), itemgetter(*names)
            of = lambda row: by_key(row) if isinstance(row, Mapping) else by_name(row)  # noqa: E731
        self.of: Callable[[Any], Any] = of or (lambda _: None)
        self.head, self.cell, self.hint, self.wraps = head, cell or self.of, hint, wraps
        self.kind: Kind = kind
        self.rare, self.fill, self.queries = rare, fill, queries

    @property
    def always(self) -> bool:
        """Whether every row of a rectangle (CSV, a frame) has this column."""
        return not self.rare or self.fill is not ABSENT

    def record(self, row: Any) -> Iterator[tuple[str, Any]]:
        """The keys of this column with their values in a row, null where a number is not finite."""
        if not self.names:
            return
        value = self.of(row)
        for name, part in zip(self.names, (value,) if len(self.names) == 1 else value, strict=True):
            part = words.finite(part)  # noqa: PLW2901
            if part is not None or not self.rare:
                yield name, part


@dataclass(frozen=True, eq=False)
class View:
    """A table of a result: its name (``result.table("per_query")``), its columns, and how the result gives its rows.

    ``columns`` may depend on the result.
    """

    name: str
    columns: tuple[Col, ...] | Callable[[Any], Iterable[Col]]
    rows: Callable[[Any], Iterable[Any]]
    title: str = ""
    note: str | Callable[[Any], str] = ""
    labels: int | Callable[[Any], int] = 1

    def columns_of(self, result: Any) -> Sequence[Col]:
        """The columns for a result."""
        return tuple(self.columns(result)) if callable(self.columns) else self.columns

    def records(self, result: Any) -> Iterator[dict[str, Any]]:
        """The rows as plain records."""
        columns = self.columns_of(result)
        for row in self.rows(result):
            yield {name: value for column in columns for name, value in column.record(row)}

    def header(self, result: Any) -> list[str]:
        """The keys that every record has: those of CSV."""
        return [name for column in self.columns_of(result) if column.always for name in column.names]

    def rectangle(self, result: Any) -> Iterator[dict[str, Any]]:
        """The rows with a value for every key of the header."""
        fills = {name: c.fill for c in self.columns_of(result) if c.rare and c.always for name in c.names}
        return ({**fills, **record} for record in self.records(result)) if fills else self.records(result)

    def table(self, result: Any, most: int | None = None) -> Table:
        """The rows as they are printed, the first ``most`` of them."""
        note = self.note(result) if callable(self.note) else self.note
        labels = self.labels(result) if callable(self.labels) else self.labels
        table = table_of(self.columns_of(result), list(self.rows(result))[:most], labels, note)
        return replace(table, name=self.name, title=self.title)


def table_of(columns: Iterable[Col], rows: Iterable[Any], labels: int = 1, note: str = "") -> Table:
    """Rows as they are printed: those of the columns that have a header."""
    shown = [column for column in columns if column.head]
    return Table(
        tuple(Column(c.head, c.kind, c.wraps, c.hint, c.queries) for c in shown),
        tuple(tuple(column.cell(row) for column in shown) for row in rows),
        labels,
        note=note,
    )


class Result:
    """What a verb found, in every format.

    A subclass declares ``schema`` (``"compare/1"``) and its ``views``, of which the first is what CSV and JSON lines hold and
    stands under ``main`` in JSON, the others under their names. It says itself in ``sentences``, lays itself out for reading in ``blocks``, and draws
    itself in ``charts``; ``facts`` are what its JSON holds beside the views. All else follows.

    Subclasses are dataclasses with ``repr=False``: a result says what it found rather than how it is made.
    ``conventions`` state under which policies the numbers were computed, ``inputs`` what was read, ``notes`` what was said
    while reading, ``warnings`` what to know before believing the numbers.
    """

    schema: ClassVar[str]
    views: ClassVar[tuple[View, ...]]
    formats: ClassVar[tuple[str, ...]] = FORMATS[:-1]
    of_latex: ClassVar[tuple[str, ...]] = ()  # options that only a table of a paper has
    main: ClassVar[str] = "results"

    if TYPE_CHECKING:  # fields or properties of the subclass; no defaults here, as dataclasses would inherit them

        @property
        def conventions(self) -> Mapping[str, Any]:
            """The policies under which the numbers were computed."""

        @property
        def notes(self) -> Sequence[str]:
            """What was said while reading."""

        @property
        def warnings(self) -> Sequence[Caution]:
            """What to know before believing the numbers."""

    def facts(self) -> Mapping[str, Any]:
        """What JSON holds before the views: conventions, inputs, the state of the data."""
        return {"conventions": dict(getattr(self, "conventions", {}))}

    def sentences(self) -> Iterator[str]:
        """What was found, in sentences, the most important first."""
        yield from ()

    def blocks(self, **options: Any) -> list[Shown]:
        """The result as it is printed: sentences, then the first table."""
        said = list(map(Paragraph, self.sentences()))
        return [*said, *([EMPTY] if said else []), self.table(**options)]

    def paper(self, **options: Any) -> list[Shown]:
        """The result as it goes into a document: Markdown and LaTeX hold this."""
        return self.blocks(**options)

    def charts(self) -> Iterator[Chart]:
        """The charts of the result."""
        yield from ()

    def view(self, name: str = "") -> View:
        """A view by its name; the first without one. Raises InputError for a name that there is not."""
        for view in self.views:
            if name in ("", view.name):
                return view
        raise InputError(f"no table is called {name!r}: there are {', '.join(v.name for v in self.views)}")

    def table(self, name: str = "", *, most: int | None = None) -> Table:
        """A view as a printed table."""
        return self.view(name).table(self, most)

    def chart(self, name: str) -> Chart | None:
        """The chart of this name; None where the result has none such."""
        return next((chart for chart in self.charts() if chart.name == name), None)

    def to_dicts(self, table: str = "") -> list[dict[str, Any]]:
        """A table as a list of records, null where there is no number; the main one unless named."""
        return list(self.view(table).records(self))

    def beside(self, **options: Any) -> Iterator[str]:
        """The names of the views that JSON holds beside the main one: all, unless a subclass knows better."""
        yield from (view.name for view in self.views[1:])

    def envelope(self, **options: Any) -> dict[str, Any]:
        """All of the result as JSON has it; keys are added to it but never renamed."""
        return {
            "schema": f"rankscope/{self.schema}",
            "rankscope": __version__,
            **self.facts(),
            self.main: self.to_dicts(),
            **{name: self.to_dicts(name) for name in self.beside(**options)},
            "warnings": [caution.as_dict() for caution in getattr(self, "warnings", ())],
        }

    def to_json(self, **options: Any) -> str:
        """The result as JSON, with its conventions, inputs and warnings."""
        return as_json(self.envelope(**options))

    def to_jsonl(self, table: str = "") -> str:
        """A table as JSON lines."""
        return "".join(self._jsonl(table))

    def to_csv(self, table: str = "") -> str:
        """A table as CSV, numbers in full."""
        return "".join(self._csv(table))

    def to_markdown(self, **options: Any) -> str:
        """The result as Markdown."""
        return as_markdown(spoken(self.paper(**options)))

    def to_latex(self, **options: Any) -> str:
        """The tables of the result as LaTeX."""
        return as_latex(self.paper(**options))

    def to_text(self, width: int = 80, *, colour: bool = False, **options: Any) -> str:
        """The result as it is printed in a terminal of this width."""
        from rankscope.show.terminal import render

        blocks = self.blocks(**options)
        return render(blocks if words.SPEAKS["options"] else spoken(blocks), width, colour)

    def to_polars(self, table: str = "") -> pl.DataFrame:
        """A table as a Polars frame."""
        import polars as pl

        view = self.view(table)
        types = {"value": pl.Float64, "count": pl.Int64}
        schema: dict[str, Any] = {
            name: types.get(column.kind) for column in view.columns_of(self) if column.always for name in column.names
        }
        rows = [[record.get(name) for name in schema] for record in view.rectangle(self)]
        for i, (name, kind) in enumerate(schema.items()):
            if kind is pl.Int64 and any((row[i] or 0) >= 2**63 for row in rows):
                schema[name] = pl.Float64  # a count beyond what whole numbers of a frame hold
        frame = pl.DataFrame(rows, schema=schema, orient="row", infer_schema_length=None)
        whole: Iterable[str] = getattr(self, "whole_ids", getattr(getattr(self, "scores", None), "whole_ids", ()))
        return own_ids(frame.with_columns(pl.col(pl.Null).cast(pl.String)), whole)

    def to_pandas(self, table: str = "") -> Any:
        """A table as a pandas frame. Raises MissingExtraError where pandas is not installed."""
        frame = self.to_polars(table)
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("frames of pandas need pandas: pip install pandas") from None
        columns = {}
        for column in frame:
            plain = column.dtype.is_numeric() and not column.null_count()
            columns[column.name] = column.to_numpy() if plain or column.dtype.is_float() else column.to_list()
        return pd.DataFrame(columns)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The main table as a list of records."""
        return self.to_dicts()

    @property
    def results(self) -> pl.DataFrame:
        """The main table as a Polars frame."""
        return self.to_polars()

    def write(
        self, form: str, *, width: int = 80, colour: bool = False, table: str = "", **options: Any
    ) -> Iterable[str]:
        """The result in one of ``formats``, in pieces; ``table`` is the view of CSV and JSON lines, ``options`` are those of ``blocks``, ``paper`` and ``beside``."""
        if form not in self.formats:
            raise InputError(f"this is written as {', '.join(self.formats)}, not as {form}")
        if form != "latex" and (own := [name for name in self.of_latex if options.get(name) is not None]):
            raise InputError(OF_PAPER.format(own[0], form))
        if form == "table":
            return [self.to_text(width, colour=colour, **options)]
        if form == "json":
            return [self.to_json(**options)]
        if form in {"jsonl", "csv"}:
            return self._jsonl(table) if form == "jsonl" else self._csv(table)
        return [self.to_markdown(**options) if form == "markdown" else self.to_latex(**options)]

    def save(self, path: str | Path, *, table: str = "", **options: Any) -> Path:
        """Write the result to a file, in the format of its ending: .json .jsonl .csv .md .tex .txt; gives the path.

        ``table`` and ``options`` are those of ``write``. Raises InputError for another ending, and where nothing can be written.
        """
        place = Path(path)
        form = ENDINGS.get(place.suffix.lower())
        if form not in self.formats:
            endings = " ".join(ending for ending, known in ENDINGS.items() if known in self.formats)
            raise InputError(f"{place}: the format is that of the ending, one of {endings}")
        write_file(place, self.write(form, table=table, **options))
        return place

    def _jsonl(self, table: str) -> Iterator[str]:
        return iter(as_jsonl(self.view(table).records(self)))

    def _csv(self, table: str) -> Iterator[str]:
        view = self.view(table)
        return as_csv(view.header(self), view.rectangle(self))

    def __str__(self) -> str:
        return "\n".join(self.sentences()) or self.to_text()

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return as_markdown(spoken(self.blocks()))

    def _repr_html_(self) -> str | None:
        return fragment(spoken(at_a_glance(list(self.blocks()), list(self.charts()))))

    def report(self, **_: Any) -> None:
        """Gone: ``rs.report(result)`` makes the page of any result."""
        raise InputError("a result no longer makes its own page: write rs.report(result)")


def own_ids(frame: pl.DataFrame, whole: Iterable[str]) -> pl.DataFrame:
    """A frame in which these columns of ids are whole numbers, as far as each id is written as one."""
    import polars as pl

    for name in whole:
        if name in frame.columns and frame[name].dtype == pl.String:
            numbers = frame[name].cast(pl.Int64, strict=False)
            if (numbers.cast(pl.String) == frame[name]).fill_null(frame[name].is_null()).all():
                frame = frame.with_columns(numbers)
    return frame


def spoken(blocks: Iterable[Any]) -> list[Any]:
    """Blocks that name keywords of Python where they named options, unless the command line speaks; code stays as it is.

    >>> [block.text for block in spoken([Paragraph("9 more rows: --details shows all"), EMPTY])]
    ['9 more rows: details=True shows all', '']
    """
    say = words.keywords
    out: list[Any] = []
    for block in blocks:
        if isinstance(block, Paragraph | Heading):
            out.append(replace(block, text=say(block.text)))
        elif isinstance(block, Notes):
            out.append(Notes(tuple(replace(note, text=say(note.text), hint=say(note.hint)) for note in block.items)))
        elif isinstance(block, Facts):
            out.append(replace(block, items=tuple((say(term), say(text)) for term, text in block.items)))
        elif isinstance(block, Table):
            out.append(replace(block, note=say(block.note), unranged=say(block.unranged)))
        else:
            out.append(block)
    return out


def at_a_glance(blocks: Sequence[Block | Chart], charts: Sequence[Chart]) -> list[Any]:
    """What a notebook shows of a result: what is said of it, the first of its tables and of its charts, and how many more there are.

    >>> from rankscope.blocks import Heading
    >>> one, two = Table((Column("a"),), (("1",),)), Table((Column("b"),), (("2",),))
    >>> [
    ...     getattr(block, "text", block) for block in at_a_glance([Paragraph("said"), one, Heading("more"), two], [])
    ... ] == ["said", one, "1 more table: print() shows it, and report() makes a page of all."]
    True
    """
    out: list[Any] = []
    tables = 0
    for block in blocks:
        if isinstance(block, Table):
            tables += 1
            if tables > 1:
                while out and (out[-1] == EMPTY or isinstance(out[-1], Heading)):
                    out.pop()
                continue
        out.append(block)
    out += charts[:1]
    rest = [
        words.counted(n, noun) for n, noun in ((tables - 1, "more table"), (len(charts) - 1, "more chart")) if n > 0
    ]
    if rest:
        shows = "print() shows it" if tables == 2 and len(charts) < 2 else "print() shows tables, .chart(NAME) a chart"
        out.append(Paragraph(f"{words.listing(rest)}: {shows}, and report() makes a page of all.", quiet=True))
    return out


def fragment(blocks: Sequence[Any]) -> str | None:
    """Blocks as a piece of HTML; None where what draws it is not installed, so that a notebook shows Markdown."""
    try:
        from rankscope.show.html.page import fragment as html_of

        return html_of([block for block in blocks if not isinstance(block, Explorer)])
    except MissingExtraError:
        return None


def input_record(source: Any) -> dict[str, Any]:
    """A file that was read: its path, and the hash of what is in it."""
    path = source.path or ("-" if source.label == "standard input" else source.label)
    return {"path": path, "sha256": source.sha256() if source.sha256 else None}


def caution_notes(warnings: Iterable[Caution], where: str = "--format json lists all") -> list[Note]:
    """Warnings as notes, those of one kind together, no more than can be read; ``where`` says what lists all of them."""
    out = []
    for code, group in groupby(sorted(warnings, key=lambda w: w.code), key=lambda w: w.code):
        alike = list(group)
        shown = alike if len(alike) <= FEW else alike[:1]
        rest = len(alike) - len(shown)
        more = f" (and {words.count(rest)} more like it; {where})" if rest else ""
        out += [Note(w.message, "", code) for w in shown[:-1]]
        out.append(Note(shown[-1].message + more, shown[-1].hint, code))
    return out


def caution_block(warnings: Iterable[Caution]) -> list[Block]:
    """Warnings as a block; nothing where there are none."""
    return [Notes(tuple(notes))] if (notes := caution_notes(warnings)) else []
