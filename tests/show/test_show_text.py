"""Blocks and records for other programs and for papers."""

from __future__ import annotations

import json

import pytest

from rankscope.blocks import Column, Heading, Paragraph, Table
from rankscope.show.text import as_csv, as_json, as_jsonl, as_latex, as_markdown

TABLE = Table(
    (Column("run"), Column("n|DCG", "value")), (("a_b & 5% #1 $x^2~{y}\\", 0.5), ("line\nbreak <b>", None))
)


def test_json_reads_back_and_has_a_record_a_line() -> None:
    thing = {
        "schema": "x/1",
        "empty": [],
        "none": {},
        "results": [{"a": 1.5}, {"a": None}],
        "by": {"é": {"b": [1]}},
    }
    text = as_json(thing)
    assert json.loads(text) == thing
    assert '    {"a": 1.5},\n' in text
    assert "é" in text


def test_json_has_no_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json({"a": float("nan")})
    with pytest.raises(ValueError, match="not JSON compliant"):
        list(as_jsonl([{"a": float("inf")}]))


def test_csv_quotes_and_keeps_precision() -> None:
    assert list(as_csv(("a", "b"), [{"a": 'x,"y"', "b": 1 / 3}, {"a": None}])) == [
        "a,b\n",
        '"x,""y""",0.3333333333333333\n',
        ",\n",
    ]


def test_markdown_escapes() -> None:
    text = as_markdown([Heading("H"), TABLE, Paragraph("small")])
    assert "| run | n\\|DCG |" in text
    assert "| a\\_b &amp; 5% #1 $x^2~{y}\\\\ | 0.5000 |" in text
    assert "| line break &lt;b> | - |" in text


def test_latex_escapes() -> None:
    text = as_latex([TABLE, Paragraph("small")])
    assert r"a\_b \& 5\% \#1 \$x\textasciicircum{}2\textasciitilde{}\{y\}\textbackslash{} & 0.5000 \\" in text
    assert "% small\n" in text
