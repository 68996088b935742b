"""Blocks and records for other programs and for papers."""

from __future__ import annotations

import json

import pytest

from rankscope.blocks import Block, Column, Heading, Paragraph, Table
from rankscope.show.text import as_csv, as_json, as_jsonl, as_latex, as_markdown

TABLE = Table((Column("run"), Column("n|DCG", "value")), (("a_b & 5% #1 $x^2~{y}\\", 0.5), ("line\nbreak <b>", None)))


def test_json_reads_back_and_has_a_record_a_line() -> None:
    thing = {"schema": "x/1", "empty": [], "none": {}, "results": [{"a": 1.5}, {"a": None}], "by": {"é": {"b": [1]}}}
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
    assert "| line\\\\nbreak &lt;b> | - |" in text


def test_latex_escapes() -> None:
    text = as_latex([TABLE, Paragraph("small")])
    assert r"a\_b \& 5\% \#1 \$x\textasciicircum{}2\textasciitilde{}\{y\}\textbackslash{} & 0.5000 \\" in text
    assert "% small\n" in text


def test_what_does_not_print_is_escaped() -> None:
    blocks: list[Block] = [Heading("a\nb"), Table((Column("r\x1bn"),), (("x\ty\u202e\u3000é",),)), Paragraph("c\nd")]
    assert as_markdown(blocks) == "### a\\\\nb\n\n| r\\\\x1bn |\n| --- |\n| x\\\\ty\\\\u202e\u3000é |\n\nc\\\\nd\n"
    latex = as_latex(blocks)
    assert latex.splitlines()[0] == r"% a\nb"
    assert r"x\textbackslash{}ty\textbackslash{}u202e" in latex
    assert not {"\t", "\x1b", "\u202e"} & set(latex)
