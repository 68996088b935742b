"""The base of every result: tables declared once, sentences and charts; every format follows from these."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

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
    Kind,
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
from rankscope.words import in_caller_syntax

if TYPE_CHECKING:
    import polars as pl

    from rankscope.tables import Source

Shown = Block | Chart

FORMATS = ("table", "json", "jsonl", "csv", "markdown", "latex")
ABSENT = object()
MAX_WARNINGS_OF_A_KIND = 2  # of more only the first is printed, with their number


class Col:
    """A column of a result, declared once for programs and for people.

    ``names`` are its keys in JSON and CSV: none for a column that is only printed, two or more if its value has parts, as
    the ends of an interval. ``of`` takes a row and returns the value, or a tuple of values for several names; by default the
    attribute (or the entry of a dict) of that name. ``head`` is the header in the printed table; a column without one is for
    programs only. ``cell`` takes the row and returns the printed value; by default the value itself. A record holds a
    ``rare`` column only if it has a value; CSV holds it only with a ``fill`` for the other rows.

    >>> from types import SimpleNamespace
    >>> row = SimpleNamespace(run="bm25", value=float("nan"), bounds=(0.1, 0.2))
    >>> cols = Col("run", head="run"), Col("value"), Col("ci_lower", "ci_upper", of=lambda row: row.bounds)
    >>> dict(pair for col in cols for pair in col.record(row))
    {'run': 'bm25', 'value': None, 'ci_lower': 0.1, 'ci_upper': 0.2}
    """

    __slots__ = ("cell", "fill", "head", "hint", "kind", "names", "of", "queries", "rare", "wraps")

    def __init__(  # noqa: PLR0913 - a declaration names what departs from the default
        self, *names: str, of: Callable[[Any], Any] | None = None, head: str = "",
        cell: Callable[[Any], Value] | None = None, kind: Kind = "text", hint: str = "", rare: bool = False,
        fill: Any = ABSENT, queries: bool = False, wraps: bool = False,
    ) -> None:  # fmt: skip
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
        """True if every row of a rectangle (CSV, a frame) has this column."""
        return not self.rare or self.fill is not ABSENT

    def record(self, row: Any) -> Iterator[tuple[str, Any]]:
        """Yield the keys of this column with their values in a row; numbers that are not finite become None."""
        if not self.names:
            return
        value = self.of(row)
        for name, part in zip(self.names, (value,) if len(self.names) == 1 else value, strict=True):
            part = words.finite(part)  # noqa: PLW2901
            if part is not None or not self.rare:
                yield name, part


@dataclass(frozen=True, eq=False)
class View:
    """A table of a result: its name (``result.table("per_query")``), its columns and a function that returns its rows.

    ``columns``, ``note`` and ``labels`` may depend on the result. The ``title`` is printed above the table.
    ``most`` limits the printed rows. JSON holds the view if ``held`` returns true for the result and if its ``option``,
    if it has one, is set.
    """

    name: str
    columns: tuple[Col, ...] | Callable[[Any], Iterable[Col]]
    rows: Callable[[Any], Iterable[Any]]
    title: str = ""
    note: str | Callable[[Any], str] = ""
    labels: int | Callable[[Any], int] = 1
    most: int | None = None
    held: Callable[[Any], object] | None = None
    option: str = ""

    def columns_of(self, result: Any) -> Sequence[Col]:
        """Return the columns for a result."""
        return tuple(_value_for(self.columns, result))

    def records(self, result: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows as plain records."""
        columns = self.columns_of(result)
        for row in self.rows(result):
            yield {name: value for column in columns for name, value in column.record(row)}

    def header(self, result: Any) -> list[str]:
        """Return the keys that every record has: the header of CSV."""
        return [name for column in self.columns_of(result) if column.always for name in column.names]

    def rectangle(self, result: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows with a value for every key of the header."""
        fills = {name: c.fill for c in self.columns_of(result) if c.rare and c.always for name in c.names}
        return ({**fills, **record} for record in self.records(result)) if fills else self.records(result)

    def table(self, result: Any, most: int | None = None) -> Table:
        """Return the first ``most`` rows as a printed table."""
        note, labels = _value_for(self.note, result), _value_for(self.labels, result)
        table = table_of(self.columns_of(result), list(self.rows(result))[:most], labels, note)
        return replace(table, name=self.name, title=self.title)

    def part(self, result: Any) -> list[Shown]:
        """Return the table below its title, as it is printed; nothing if it has no rows."""
        table = result.table(self.name, most=self.most)
        title = [Heading(table.title)] if table.title else []
        return [*title, replace(table, title="")] if table.rows else []


def _value_for(declared: Any, result: Any) -> Any:
    return declared(result) if callable(declared) else declared


def table_of(columns: Iterable[Col], rows: Iterable[Any], labels: int = 1, note: str = "") -> Table:
    """Return rows as a printed table, with the columns that have a header."""
    shown = [column for column in columns if column.head]
    return Table(
        tuple(Column(c.head, c.kind, c.wraps, c.hint, c.queries) for c in shown),
        tuple(tuple(column.cell(row) for column in shown) for row in rows), labels, note=note,
    )  # fmt: skip


HEADER: dict[str, Callable[[Any], Any]] = {  # keys of JSON that are not simply an attribute
    "verdict": lambda result: list(result.sentences()),
    "summary": lambda result: list(result.sentences()),
    "metric": lambda result: str(result.metric),
    "conventions": lambda result: dict(result.conventions),
    "inputs": lambda result: list(map(input_record, result.inputs)),
    "notes": lambda result: list(result.notes),
}


def _renamed(old: str, new: str) -> Callable[..., Any]:
    """Return a method that warns that it is called ``new`` now, and calls it."""

    def method(self: Result, **options: Any) -> Any:
        warnings.warn(f"{old}() is called {new}() now", DeprecationWarning, stacklevel=2)
        return getattr(self, new)(**options)

    method.__name__, method.__doc__ = old, f"Call ``{new}``, the new name (deprecated)."
    return method


class Absent:
    """The value of an attribute that a result does not define. Dataclasses do not take it as the default of a field."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __get__(self, result: Any, of: type) -> Any:
        if result is None:
            raise AttributeError
        return self.value


class Result:
    """The result of a verb, in every format.

    A subclass declares ``schema`` (``"compare/1"``) and its ``views``: CSV and JSON lines hold the first, JSON holds it under
    the key ``main`` and the others under their names. ``header`` names the keys before them. In a terminal a result prints its
    ``sentences``, the views named by ``shown`` (default: the first), its cautions, its ``small_print`` and the ``next_step``.
    A subclass overrides ``body`` if it prints other tables, and ``charts`` to draw.

    Subclasses are dataclasses with ``repr=False``: printing a result prints its sentences.
    ``conventions`` are the policies under which the numbers were computed, ``inputs`` the files, ``notes`` the messages of
    readers, ``warnings`` the problems of the data.
    """

    schema: ClassVar[str]
    views: ClassVar[tuple[View, ...]]
    shown: ClassVar[tuple[str, ...]] = ("",)
    header: ClassVar[tuple[str, ...]] = ("conventions",)
    formats: ClassVar[tuple[str, ...]] = FORMATS[:-1]
    of_latex: ClassVar[tuple[str, ...]] = ()  # options for the table of a paper only
    main: ClassVar[str] = "results"
    appended: ClassVar[str] = (
        ""  # an attribute and view with rows for below those of the main table, in JSON lines and CSV
    )

    if TYPE_CHECKING:  # fields or properties of the subclass

        @property
        def conventions(self) -> Mapping[str, Any]:
            """The policies under which the numbers were computed."""

        @property
        def notes(self) -> Sequence[str]:
            """Messages of readers."""

        @property
        def warnings(self) -> Sequence[Caution]:
            """Problems of the data that affect the numbers."""

    else:
        conventions, notes, warnings = Absent({}), Absent(()), Absent(())

    def json_header(self) -> Mapping[str, Any]:
        """Return the keys of JSON before the views: those that ``header`` declares."""
        return {name: HEADER[name](self) if name in HEADER else getattr(self, name) for name in self.header}

    def sentences(self) -> Iterator[str]:
        """Yield the findings in sentences, the most important first."""
        yield from ()

    def body(self, **options: Any) -> Iterator[Sequence[Shown]]:
        """Yield the parts between the sentences and the cautions, as a terminal shows them: one per table."""
        for name in self.shown:
            yield self.view(name).part(self) or ([] if self.shown[1:] else [self.table(name)])

    def small_print(self) -> Iterable[str]:
        """Return the items of the small print: how the numbers were computed."""
        return ()

    def next_step(self) -> str:
        """Return the line that suggests the next command; empty if there is none."""
        return ""

    def blocks(self, **options: Any) -> list[Shown]:
        """Return the result as it is printed: sentences, parts, cautions, small print and next step."""
        quiet = [Paragraph(line, quiet=True) for line in (" · ".join(self.small_print()), self.next_step()) if line]
        foot = [*caution_block(self.warnings), *quiet]
        parts = [list(map(Paragraph, self.sentences())), *self.body(**options), foot]
        return [block for part in parts if part for block in (EMPTY, *part)][1:]

    def document_blocks(self, **options: Any) -> list[Shown]:
        """Return the blocks of a document: Markdown and LaTeX hold these."""
        return self.blocks(**options)

    def charts(self) -> Iterator[Chart]:
        """Yield the charts of the result."""
        yield from ()

    def view(self, name: str = "") -> View:
        """Return a view by its name, by default the first. Raises InputError for an unknown name."""
        for view in self.views:
            if name in ("", view.name):
                return view
        raise InputError(f"no table is called {name!r}: there are {', '.join(v.name for v in self.views)}")

    def table(self, name: str = "", *, most: int | None = None) -> Table:
        """Return a view as a printed table."""
        return self.view(name).table(self, most)

    def chart(self, name: str) -> Chart | None:
        """Return the chart of this name, or None."""
        return next((chart for chart in self.charts() if chart.name == name), None)

    def to_dicts(self, table: str = "") -> list[dict[str, Any]]:
        """Return a table (by default the main one) as a list of records; undefined numbers are null."""
        return list(self.view(table).records(self))

    def extra_views(self, **options: Any) -> Iterator[str]:
        """Yield the names of the views that JSON holds after the main one."""
        for view in self.views[1:]:
            if (view.held is None or view.held(self)) and (not view.option or options.get(view.option)):
                yield view.name

    def json_document(self, **options: Any) -> dict[str, Any]:
        """Return everything that JSON holds, as one dict; keys are added to it but never renamed."""
        return {
            "schema": f"rankscope/{self.schema}", "rankscope": __version__, **self.json_header(),
            self.main: self.to_dicts(), **{name: self.to_dicts(name) for name in self.extra_views(**options)},
            "warnings": [caution.as_dict() for caution in self.warnings],
        }  # fmt: skip

    envelope, facts = _renamed("envelope", "json_document"), _renamed("facts", "json_header")
    paper, beside = _renamed("paper", "document_blocks"), _renamed("beside", "extra_views")

    def to_json(self, **options: Any) -> str:
        """Return the result as JSON, with its conventions, inputs and warnings."""
        return as_json(self.json_document(**options))

    def to_jsonl(self, table: str = "") -> str:
        """Return a table as JSON lines."""
        return "".join(self._jsonl(table))

    def to_csv(self, table: str = "") -> str:
        """Return a table as CSV, numbers in full."""
        return "".join(self._csv(table))

    def to_markdown(self, **options: Any) -> str:
        """Return the result as Markdown."""
        return as_markdown(blocks_in_caller_syntax(self.document_blocks(**options)))

    def to_latex(self, **options: Any) -> str:
        """Return the tables of the result as LaTeX."""
        return as_latex(self.document_blocks(**options))

    def to_text(self, width: int = 80, *, colour: bool = False, **options: Any) -> str:
        """Return the result as it is printed in a terminal of this width."""
        from rankscope.show.terminal import render

        return render(blocks_in_caller_syntax(self.blocks(**options)), width, colour)

    def to_polars(self, table: str = "") -> pl.DataFrame:
        """Return a table as a Polars frame."""
        import polars as pl

        view = self.view(table)
        types = {"value": pl.Float64, "count": pl.Int64}
        schema: dict[str, Any] = {
            name: types.get(column.kind) for column in view.columns_of(self) if column.always for name in column.names
        }
        rows = [[record.get(name) for name in schema] for record in view.rectangle(self)]
        for i, (name, kind) in enumerate(schema.items()):
            if kind is pl.Int64 and any((row[i] or 0) >= 2**63 for row in rows):
                schema[name] = pl.Float64  # the count is too large for Int64
        for i in (i for i, kind in enumerate(schema.values()) if kind is None and _are_mixed(row[i] for row in rows)):
            for row in rows:
                row[i] = row[i] if row[i] is None or isinstance(row[i], str) else json.dumps(row[i], default=str)
        frame = pl.DataFrame(rows, schema=schema, orient="row", infer_schema_length=None)
        whole: Iterable[str] = getattr(self, "whole_ids", getattr(getattr(self, "scores", None), "whole_ids", ()))
        return own_ids(frame.with_columns(pl.col(pl.Null).cast(pl.String)), whole)

    def to_pandas(self, table: str = "") -> Any:
        """Return a table as a pandas frame. Raises MissingExtraError if pandas is not installed."""
        from rankscope.tables import pandas_of

        return pandas_of(self.to_polars(table))

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
        """Return the result in one of ``formats``, in pieces. CSV and JSON lines hold the view ``table``; ``options`` go to ``blocks``, ``document_blocks`` and ``extra_views``."""
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
        """Write the result to a file in the format of its ending (.json .jsonl .csv .md .tex .txt) and return the path."""
        place = Path(path)
        form = ENDINGS.get(place.suffix.lower())
        if form not in self.formats:
            endings = " ".join(ending for ending, known in ENDINGS.items() if known in self.formats)
            raise InputError(f"{place}: the ending sets the format, one of {endings}")
        write_file(place, self.write(form, table=table, **options))
        return place

    def _jsonl(self, table: str) -> Iterator[str]:
        yield from as_jsonl(self.view(table).records(self))
        if not table and getattr(self, self.appended, None):
            yield from as_jsonl(self.view(self.appended).records(self))

    def _csv(self, table: str) -> Iterator[str]:
        if table or not getattr(self, self.appended, None):
            view = self.view(table)
            return as_csv(view.header(self), view.rectangle(self))
        return as_csv(self.view(self.appended).header(self), [*self.to_dicts(), *self.to_dicts(self.appended)])

    def __str__(self) -> str:
        return "\n".join(self.sentences()) or self.to_text()

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return as_markdown(blocks_in_caller_syntax(self.blocks()))

    def _repr_html_(self) -> str | None:
        return fragment(blocks_in_caller_syntax(at_a_glance(list(self.blocks()), list(self.charts()))))


class OfSource(Result):
    """A result of one file or table, its ``source``: the input, with the notes of its reader."""

    if TYPE_CHECKING:

        @property
        def source(self) -> Source:
            """The file or table."""

    @property
    def inputs(self) -> Sequence[Source]:
        """The file or table that was read."""
        return [self.source]

    notes = property(attrgetter("source.notes"), doc="Messages of the reader.")
    header: ClassVar[tuple[str, ...]] = ("verdict", "conventions", "inputs")


def _are_mixed(cells: Iterable[Any]) -> bool:
    """Return True for texts among other cells, and for lists of objects: a column has one type."""
    held = [cell for cell in cells if cell is not None]
    texts = sum(isinstance(cell, str) for cell in held)
    return 0 < texts < len(held) or any(
        isinstance(cell, list | tuple) and cell and isinstance(cell[0], dict) for cell in held
    )


def own_ids(frame: pl.DataFrame, whole: Iterable[str]) -> pl.DataFrame:
    """Return the frame with these columns of ids as whole numbers, if every id is written as one."""
    import polars as pl

    for name in whole:
        if name in frame.columns and frame[name].dtype == pl.String:
            numbers = frame[name].cast(pl.Int64, strict=False)
            if (numbers.cast(pl.String) == frame[name]).fill_null(frame[name].is_null()).all():
                frame = frame.with_columns(numbers)
    return frame


def blocks_in_caller_syntax(blocks: Iterable[Any]) -> list[Any]:
    """Return blocks with their messages in the syntax of the caller; code stays as it is."""
    say = in_caller_syntax
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
    """Return the blocks that a notebook shows: sentences, the first table and chart, and the number of others."""
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
    drawn = sum(isinstance(block, Chart) for block in out)
    out += [] if drawn else charts[:1]
    more = (tables - 1, "more table"), (len(charts) - max(drawn, 1), "more chart")
    rest = [words.counted(n, noun) for n, noun in more if n > 0]
    if rest:
        shows = "print() shows it" if tables == 2 and len(charts) < 2 else "print() shows tables, .chart(NAME) a chart"
        out.append(Paragraph(f"{words.listing(rest)}: {shows}, and report() makes a page of all.", quiet=True))
    return out


def fragment(blocks: Sequence[Any]) -> str | None:
    """Return blocks as a piece of HTML; None if the extra is not installed, so that a notebook shows Markdown."""
    try:
        from rankscope.show.html.page import fragment as html_of

        return html_of([block for block in blocks if not isinstance(block, Explorer)])
    except MissingExtraError:
        return None


def input_record(source: Any) -> dict[str, Any]:
    """Return the path of an input and the hash of its content; a record is returned as it is."""
    if isinstance(source, Mapping):
        return dict(source)
    path = source.path or ("-" if source.label == "standard input" else source.label)
    return {"path": path, "sha256": source.sha256() if source.sha256 else None}


def caution_notes(warnings: Iterable[Caution], where: str = "--format json lists all") -> list[Note]:
    """Return warnings as notes, one kind after the other, shortened; ``where`` names the command that lists all."""
    out = []
    for code, group in groupby(sorted(warnings, key=lambda w: w.code), key=lambda w: w.code):
        alike = list(group)
        shown = alike if len(alike) <= MAX_WARNINGS_OF_A_KIND else alike[:1]
        rest = len(alike) - len(shown)
        more = f" (and {words.count(rest)} more like it: {where})" if rest else ""
        out += [Note(w.message, "", code) for w in shown[:-1]]
        out.append(Note(shown[-1].message + more, "" if shown[-1].brief else shown[-1].hint, code))
    return out


def caution_block(warnings: Iterable[Caution]) -> list[Block]:
    """Return warnings as a block, or an empty list."""
    return [Notes(tuple(notes))] if (notes := caution_notes(warnings)) else []
