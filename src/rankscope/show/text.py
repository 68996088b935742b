"""Results as JSON, JSON lines, CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rankscope import words
from rankscope.blocks import Block, Chart, Code, Facts, Heading, Notes, Paragraph, Table
from rankscope.show.cells import note_text, rows_of
from rankscope.words import printable

SHOWN = 20  # rows of a chart in a text
MARKDOWN = {**{sign: "\\" + sign for sign in "\\|*_`[]"}, "<": "&lt;", "&": "&amp;"}


def as_json(thing: Mapping[str, Any]) -> str:
    """One JSON object, with one record per line. NaN raises an error."""
    parts = [f"  {_dump(key)}: {_spread(value)}" for key, value in thing.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _spread(value: Any) -> str:
    if isinstance(value, Mapping) and value:
        return "{\n" + ",\n".join(f"    {_dump(key)}: {_dump(part)}" for key, part in value.items()) + "\n  }"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"    {_dump(part)}" for part in value) + "\n  ]"
    return _dump(value)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_jsonl(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """One JSON object a line."""
    return (_dump(row) + "\n" for row in rows)


def as_csv(header: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Return comma-separated rows under a header; numbers in full, nothing for a missing value."""
    for values in (header, *([row.get(name) for name in header] for row in rows)):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(values)
        yield line.getvalue()


def as_markdown(blocks: Iterable[Block | Chart]) -> str:
    """Blocks as Markdown; charts as their first rows."""
    return "\n".join(_markdown(block) for block in blocks)


def as_latex(blocks: Iterable[Block | Chart]) -> str:
    """The tables as plain tabulars; the small print as comments."""
    return "\n".join(_latex(block) for block in blocks if isinstance(block, Table | Paragraph | Heading))


def _markdown(block: Block | Chart) -> str:
    if isinstance(block, Chart):
        return as_markdown([  # the title, the caption and the first rows
            Heading(block.title), *([Paragraph(block.caption)] if block.caption else []), Table(block.columns, block.rows[:SHOWN]),
            *([Paragraph(f"and {words.counted(more, 'more row')}")] if (more := len(block.rows) - SHOWN) > 0 else []),
        ])  # fmt: skip
    if isinstance(block, Heading):
        return f"### {_escape(block.text, MARKDOWN)}\n"
    if isinstance(block, Paragraph):
        return _escape(block.text, MARKDOWN) + "\n"
    if isinstance(block, Code):
        return "```\n" + "\n".join(map(printable, block.lines)) + "\n```\n"
    if isinstance(block, Notes):
        return _bullets(map(note_text, block.items))
    if isinstance(block, Facts):
        return _bullets(map(": ".join, block.items))
    rows = [[_escape(text, MARKDOWN) for text in row] for row in rows_of(block)]
    rows = _stress(block, rows, "**{}**")
    header = [_escape(column.header, MARKDOWN) for column in block.columns]
    align = ["---" if column.kind == "text" else "---:" for column in block.columns]
    note = f"\n{_escape(block.note, MARKDOWN)}\n" if block.note else ""
    return "".join(f"| {' | '.join(row)} |\n" for row in (header, align, *rows)) + note


def _bullets(lines: Iterable[str]) -> str:
    return "".join(f"- {_escape(line, MARKDOWN)}\n" for line in lines)


def _latex(block: Table | Paragraph | Heading) -> str:
    from rankscope.show.latex import latex_text

    if isinstance(block, Paragraph | Heading):
        return f"% {printable(block.text)}\n"
    rows = [[latex_text(text) for text in row] for row in rows_of(block)]
    rows = _stress(block, rows, r"\textbf{{{}}}")
    header = [latex_text(column.header) for column in block.columns]
    align = "".join("l" if column.kind == "text" else "r" for column in block.columns)
    lines = [f"{' & '.join(row)} \\\\" for row in (header, *rows)]
    note = rf"\multicolumn{{{len(header)}}}{{l}}{{\footnotesize {latex_text(block.note)}}} \\"
    rule, last = r"\hline", [note] if block.note else []
    head = [rf"\begin{{tabular}}{{{align}}}", rule, lines[0], rule]
    return "\n".join([*head, *lines[1:], rule, *last, r"\end{tabular}", ""])


def _stress(table: Table, rows: list[list[str]], how: str) -> list[list[str]]:
    return [
        [how.format(text) if (i, j) in table.best else text for j, text in enumerate(row)] for i, row in enumerate(rows)
    ]


def _escape(text: str, signs: Mapping[str, str]) -> str:
    return "".join(signs.get(sign, sign) for sign in printable(text))
