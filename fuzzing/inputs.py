"""Inputs for the fuzzer: sound files of every format that is read, and what strangers, full disks and editors do to them.

Everything is drawn from one generator for each number, so that an input can be made again from the seed and its number.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

import polars as pl

from fuzzing import logs

Rows = list[tuple[str, str, str]]  # query, document, score or grade as text


@dataclass(frozen=True)
class Input:
    """A file to be read as a run or as qrels.

    ``kind`` is the format it is meant to be in, ``form`` its form in words, ``data`` its text before it is packed. ``packed`` is how, and ``damaged``
    the bytes of the file where they were changed after packing; ``steps`` says at which levels it was changed. ``table`` is what was written to Parquet.
    """

    what: str
    kind: str
    form: str
    name: str
    data: bytes
    packed: str = ""
    damaged: bytes | None = None
    steps: tuple[str, ...] = ()
    table: pl.DataFrame | None = None

    @property
    def file(self) -> bytes:
        """The bytes as they lie in the file."""
        return self.damaged if self.damaged is not None else PACK[self.packed](self.data)


# --- sound files ------------------------------------------------------------------------------------

QUERIES = ["q1", "q2", "1", "01", "2", "301", "é", "日本", "10", "-5", "null", "true", "nan", "1e5", "a/b", "q#1"]
DOCS = [
    "d1", "d2", "d3", "d10", "FT911-3", "7", "007", "1.0", "doc:1", "ä.html", "x'y", "None", "NA", "inf", "a\u00a0b", "😀", "_", "1_0",
]  # fmt: skip
SPACED = [
    "red shoes",
    "new, cheap",
    'the "best"',
    "a;b",
    " lead",
    "trail ",
    "semi; colon, comma",
    "it's",
    "#1 hit",
    "a\tb",
]
SCORES = [
    "1", "2", "3", "3", "2.5", "0", "-1", "0.1", "1e3", "-0", "1E-2", ".5", "12.25", "7.000000001", "+4", "100", "0.30000000000000004", "1e999", "5.",
]  # fmt: skip
GRADES = ["0", "1", "2", "3", "0", "1", "1", "-1", "0.5", "2.0", "4"]


def rows_of(rng: Random, what: str, spaced: bool = False) -> Rows:
    """Some documents of some queries, each once, with scores that tie now and then, or grades."""
    queries = rng.sample(QUERIES[: rng.choice([3, 4, 16])], rng.choice([1, 2, 2, 3]))
    if spaced and rng.random() < 0.5:
        queries[0] = rng.choice(SPACED)
    values = SCORES if what == "run" else GRADES
    out = []
    for query in queries:
        docs = rng.sample(DOCS[: rng.choice([4, 18])], rng.randint(1, 4))
        if spaced and rng.random() < 0.3:
            docs[0] = rng.choice(SPACED)
        plain = rng.random() < 0.5
        for place, doc in enumerate(docs):
            value = str(9 - place) if plain and what == "run" else rng.choice(values)
            out.append((query, doc, value))
    return out


def _lines(rng: Random, rows: Sequence[Sequence[str]]) -> bytes:
    gap = rng.choice([" ", " ", "\t", "\t", "  "])
    end = rng.choice(["\n", "\n", "\n", "\r\n"])
    text = end.join(gap.join(row) for row in rows) + (end if rng.random() < 0.9 else "")
    return text.encode()


def _ranks(rows: Rows) -> list[int]:
    ranks, last = [], dict.fromkeys((query for query, _, _ in rows), 0)
    for query, _, _ in rows:
        last[query] += 1
        ranks.append(last[query])
    return ranks


def trec_run(rng: Random) -> bytes:
    rows = rows_of(rng, "run")
    tag = rng.choice(["t", "bm25", "1"])
    return _lines(rng, [(q, "Q0", d, str(n), s, tag) for (q, d, s), n in zip(rows, _ranks(rows), strict=True)])


def ms_marco_run(rng: Random) -> bytes:
    rows = rows_of(rng, "run")
    return _lines(rng, [(q, d, str(n)) for (q, d, _), n in zip(rows, _ranks(rows), strict=True)])


def trec_qrels(rng: Random) -> bytes:
    return _lines(rng, [(q, rng.choice("0001"), d, g) for q, d, g in rows_of(rng, "qrels")])


def headerless_qrels(rng: Random) -> bytes:
    return _lines(rng, rows_of(rng, "qrels"))


def preferences(rng: Random) -> bytes:
    docs = ["da", "db", "dc", "dd"]
    return _lines(
        rng,
        [
            (q, "judge", "part", d, g)
            for q in ("q1", "q2")
            for d, g in zip(rng.sample(docs, 3), rng.sample(GRADES, 3), strict=True)
        ],
    )


def prels(rng: Random) -> bytes:
    return _lines(rng, [(q, d, g, "1", rng.choice(["0.5", "1", "0.25"])) for q, d, g in rows_of(rng, "qrels")])


RUN_HEADS = [
    ("query_id", "doc_id", "score"),
    ("qid", "docno", "score"),
    ("Query", "DocID", "Score"),
    ("query-id", "corpus-id", "score"),
]
QRELS_HEADS = [
    ("query_id", "doc_id", "grade"),
    ("qid", "docid", "rel"),
    ("query-id", "corpus-id", "score"),
    ("topic", "item", "LABEL"),
]


def _table(rng: Random, what: str, spaced: bool) -> tuple[list[str], list[list[str]]]:
    """A header and rows, with one or two columns more now and then, in any order."""
    rows = rows_of(rng, what, spaced)
    head = list(rng.choice(RUN_HEADS if what == "run" else QRELS_HEADS))
    table = [list(row) for row in rows]
    if rng.random() < 0.35:
        head.append(rng.choice(["note", "price", "title", "id"]))
        table = [[*row, rng.choice(["", "x", "1", "200", "a b"])] for row in table]
    if rng.random() < 0.25:
        more = (
            ("rank", map(str, _ranks(rows)))
            if what == "run"
            else (rng.choice(["iteration", "subtopic"]), (rng.choice("012") for _ in rows))
        )
        head.append(more[0])
        table = [[*row, cell] for row, cell in zip(table, more[1], strict=True)]
    if what == "run" and rng.random() < 0.15:
        head.append(rng.choice(["run", "tag"]))
        table = [[*row, "bm25"] for row in table]
    if rng.random() < 0.3:
        places = rng.sample(range(len(head)), len(head))
        head, table = [head[i] for i in places], [[row[i] for i in places] for row in table]
    return head, table


def _separated(separator: str) -> Callable[[Random, str], bytes]:
    def write(rng: Random, what: str) -> bytes:
        head, table = _table(rng, what, spaced=separator != "\t")
        out = io.StringIO()
        all_quoted = separator != "\t" and rng.random() < 0.2
        ends = rng.choice(["\n", "\n", "\r\n"])
        if separator == "\t":
            table = [[cell.replace("\t", " ") for cell in row] for row in table]
        style: Literal[0, 1] = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
        writer = csv.writer(out, delimiter=separator, lineterminator=ends, quoting=style)
        writer.writerows([head, *table])
        return out.getvalue().encode()

    return write


def _as_number(text: str) -> Any:
    """A number as JSON writes it, now and then as a text: infinity has no other way."""
    value = float(text)
    return text if abs(value) == float("inf") else int(value) if value.is_integer() and "." not in text else value


def jsonl(rng: Random, what: str) -> bytes:
    head, table = _table(rng, what, spaced=True)
    lines = []
    as_texts = rng.random() < 0.2
    for row in table:
        cells = dict(zip(head, row, strict=True))
        for name, cell in cells.items():
            if name.lower() in {"score", "grade", "rel", "label", "rank"} and not as_texts:
                cells[name] = _as_number(cell)
        lines.append(
            json.dumps(cells, ensure_ascii=rng.random() < 0.5, separators=(",", ":") if rng.random() < 0.3 else None)
        )
    return ("\n".join(lines) + "\n").encode()


def json_objects(rng: Random, what: str) -> bytes:
    out: dict[str, dict[str, Any]] = {}
    for query, doc, value in rows_of(rng, what, spaced=True):
        out.setdefault(query, {})[doc] = _as_number(value)
    return json.dumps(out, indent=rng.choice([None, 1]), ensure_ascii=rng.random() < 0.5).encode()


def json_lists(rng: Random, what: str) -> bytes:
    out: dict[str, list[str | int]] = {}
    for query, doc, _ in rows_of(rng, what, spaced=True):
        out.setdefault(query, []).append(int(doc) if doc == "7" else doc)
    return json.dumps(out, indent=rng.choice([None, 1])).encode()


def json_aspects(rng: Random, what: str) -> bytes:
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for query, doc, grade in rows_of(rng, what):
        out.setdefault(query, {}).setdefault(doc, {})[rng.choice(["s1", "s2"])] = _as_number(grade)
    return json.dumps(out).encode()


Maker = Callable[[Random], bytes]


def _for(make: Callable[[Random, str], bytes], what: str) -> Maker:
    return lambda rng: make(rng, what)


FORMS: dict[tuple[str, str, str, str], Maker] = {
    ("run", "trec", "TREC run", "a.run"): trec_run,
    ("run", "trec", "MS MARCO run", "a.txt"): ms_marco_run,
    ("run", "csv", "CSV run", "a.csv"): _for(_separated(","), "run"),
    ("run", "semicolon", "CSV run (semicolons)", "a.csv"): _for(_separated(";"), "run"),
    ("run", "tsv", "TSV run", "a.tsv"): _for(_separated("\t"), "run"),
    ("run", "jsonl", "JSONL run", "a.jsonl"): _for(jsonl, "run"),
    ("run", "json", "JSON run", "a.json"): _for(json_objects, "run"),
    ("run", "json", "JSON run (lists)", "a.json"): _for(json_lists, "run"),
    ("qrels", "trec", "TREC qrels", "q.txt"): trec_qrels,
    ("qrels", "trec", "qrels of 3 columns", "q.txt"): headerless_qrels,
    ("qrels", "trec", "TREC preferences", "q.txt"): preferences,
    ("qrels", "trec", "TREC prels", "q.txt"): prels,
    ("qrels", "csv", "CSV qrels", "q.csv"): _for(_separated(","), "qrels"),
    ("qrels", "semicolon", "CSV qrels (semicolons)", "q.csv"): _for(_separated(";"), "qrels"),
    ("qrels", "tsv", "TSV qrels", "q.tsv"): _for(_separated("\t"), "qrels"),
    ("qrels", "jsonl", "JSONL qrels", "q.jsonl"): _for(jsonl, "qrels"),
    ("qrels", "json", "JSON qrels", "q.json"): _for(json_objects, "qrels"),
    ("qrels", "json", "JSON qrels (lists)", "q.json"): _for(json_lists, "qrels"),
    ("qrels", "json", "JSON qrels (subtopics)", "q.json"): _for(json_aspects, "qrels"),
}  # fmt: skip


# --- other files: none has a reference, so all that is asked is a result or one line, soon ----------


def _of_lines(*lines: str) -> Maker:
    """These lines, some of them, in this order after the first."""

    def make(rng: Random) -> bytes:
        return ("\n".join([lines[0], *(line for line in lines[1:] if rng.random() < 0.8)]) + "\n").encode()

    return make


OTHERS: dict[tuple[str, str], Maker] = {
    ("scores", "s.csv"): _of_lines("query_id,bm25,dense", "q1,0.5,1", "q2,0,0.25", "q3,,0.125", "q4,1,1"),
    ("scores", "s.tsv"): _of_lines("run\tquery_id\tmetric\tvalue", "a\tq1\tAP\t0.5", "a\tq2\tAP\t1", "b\tq1\tAP\t0.25", "b\tq2\tAP\t0"),
    ("scores", "s.jsonl"): _of_lines('{"query_id": "q1", "a": 0.5, "b": 1}', '{"query_id": "q2", "a": 0, "b": 0.25}'),
    ("scores", "s.json"): lambda rng: json.dumps({"a": {"q1": 0.5, "q2": rng.random()}, "b": {"q1": 1, "q2": 0}}).encode(),
    ("texts", "t.tsv"): _of_lines("q1\tred shoes", "q2\twhat is <b>bold</b>", "q3\ta & b", "q4\t"),
    ("texts", "t.csv"): _of_lines("id,title,text", 'd1,Moon,"It pulls, it goes."', "d2,Tides,", "d3,<![CDATA[,x"),
    ("texts", "t.jsonl"): _of_lines('{"_id": "d1", "title": "Moon", "text": "It pulls."}', '{"_id": "d2", "text": "<script>"}'),
    ("texts", "t.xml"): _of_lines("<top>", "<num> Number: 301", "<title> Crime", "<desc> Description:", "What & why?", "</top>", "<top>", "<num> 302", "<title> Polio", "</top>"),
    ("texts", "t.trec"): _of_lines("<DOC>", "<DOCNO> d1 </DOCNO>", "<TEXT>", "Some <b>text</b> <!-- note -->", "</TEXT>", "</DOC>"),
    ("texts", "t.txt"): _of_lines(".I 1", ".T", "a title", ".W", "the words", ".I 2", ".W", "more"),
    ("attributes", "a.csv"): _of_lines("query,kind,length", "q1,short,2", "q2,long,7", "q3,,1"),
    ("costs", "c.csv"): _of_lines("run,latency_ms,dollars", "bm25,12,0.1", "dense,80,2"),
    ("weights", "w.txt"): _of_lines("q1 2", "q2 0.5", "q3 1"),
    ("settings", "s.toml"): _of_lines("[tool.rankscope]", 'metrics = ["nDCG@10", "AP"]', "depth = 100", 'ties = "trec"', "[tool.rankscope.gate]", "tolerance = 0.01"),
}  # fmt: skip
WEIGHTS = {"TREC run": 5, "TREC qrels": 4, "CSV run": 4, "CSV qrels": 3, "TSV run": 2, "JSONL run": 2, "JSON run": 2}


# --- changes ----------------------------------------------------------------------------------------

TOKENS = [
    b'"', b'""', b",", b"\t", b" ", b"  ", b"\r", b"\r\n", b"\n", b"\n\n", b"\x00", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xc2\x85",
    b"\xff", b"\xe9", b"#", b"# note\n", b"{", b"}", b"[", b"]", b":", b";", b"nan", b"NaN", b"inf", b"-inf", b"1e999", b"-", b"+", b"_", b"1_000",
    b"\\ud800", b"\\udc00", b"\\u0000", b"\\", b"\\n", b"\f", b"\v", b"\x1c", b"\x1f", b"\x7f", b"\x1b[31m", b"'", b"null", b"true", b"0x10",
    b"1,250", b"\xf0\x9f\x98\x80", b"\xe2\x80\xae", b"1e-400", b"99999999999999999999", b"NA", b"\xef\xbc\x91", b"{}", b"0", b"9", b".", b"e",
    b"=1+1", b"PAR1", b"\x01", b"\x1a", b"/", b"*",
]  # fmt: skip
CELLS = [
    b"", b" ", b"nan", b"inf", b"-inf", b"1e999", b"1_000", b"x", b"0", b"-1", b"1.5", b"null", b"true", b'"q1"', b'"a,b"', b'"', b'"1"6"6"', b"1,250",
    b"a b", b"01", b"1e5", b"-0", b"+1", b"0x1", b"1.", b".5", b"1e", b"--1", b"1 ", b" 1", b"\xc2\xa0", b"#1", b"NaN", b"Infinity", b"2147483648",
    b"9223372036854775808", b"1e308", b"5e-324", b"q1", b"d1", b"[]", b"{}", b'{"s": 1}', b'["d1"]', b'"\\ud83d"', b'"\\ud83d\\ude00"', b"2.50000000000000000001",
]  # fmt: skip
Change = Callable[[Random, bytes], bytes]


def _at(rng: Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def flip_a_bit(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def insert_a_token(rng: Random, data: bytes) -> bytes:
    at = _at(rng, data)
    return data[:at] + rng.choice(TOKENS) + data[at:]


def put_a_token(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(TOKENS) + data[at + 1 :]


def delete_bytes(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice([1, 1, 1, 2, 5, 20]) :]


def repeat_bytes(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    piece = data[at : at + rng.choice([1, 2, 5, 20])]
    return data[:at] + piece * rng.choice([2, 2, 3]) + data[at + len(piece) :]


def cut_short(rng: Random, data: bytes) -> bytes:
    return data[: rng.randrange(1, len(data) + 1)]


def _by_lines(change: Callable[[Random, list[bytes]], list[bytes] | None]) -> Change:
    def changed(rng: Random, data: bytes) -> bytes:
        lines = data.split(b"\n")
        found = change(rng, lines)
        return data if found is None else b"\n".join(found)

    changed.__name__ = change.__name__
    return changed


def drop_a_line(rng: Random, lines: list[bytes]) -> list[bytes]:
    at = rng.randrange(len(lines))
    return lines[:at] + lines[at + 1 :]


def repeat_a_line(rng: Random, lines: list[bytes]) -> list[bytes]:
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines) + 1)
    return [*lines[:to], lines[at], *lines[to:]]


def swap_lines(rng: Random, lines: list[bytes]) -> list[bytes]:
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return lines


def add_a_line(rng: Random, lines: list[bytes]) -> list[bytes]:
    odd = rng.choice(
        [
            b"",
            b"",
            b" ",
            b"\t",
            b"# a note",
            b"  # a note",
            b"x",
            b",",
            b",,",
            b'"',
            b"{}",
            b"null",
            b"\r",
            b"1 2 3 4 5 6",
            b"q1,d9,1",
            b"\xff",
        ]
    )
    at = rng.randrange(len(lines) + 1)
    return [*lines[:at], odd, *lines[at:]]


def join_lines(rng: Random, lines: list[bytes]) -> list[bytes]:
    at = rng.randrange(len(lines))
    return [*lines[:at], b"".join(lines[at : at + 2]), *lines[at + 2 :]]


def end_lines_otherwise(rng: Random, lines: list[bytes]) -> list[bytes]:
    end = rng.choice([b"\r", b"\r\r", b" ", b"\t", b",", b"\x0b"])
    return [line + end if rng.random() < 0.7 else line for line in lines]


def _cells(rng: Random, lines: list[bytes]) -> tuple[int, bytes, list[bytes]]:
    at = rng.randrange(len(lines))
    separator = next((sign for sign in (b"\t", b";", b",", b" ") if sign in lines[at]), b" ")
    return at, separator, lines[at].split(separator)


def put_a_cell(rng: Random, lines: list[bytes]) -> list[bytes]:
    at, separator, cells = _cells(rng, lines)
    place = rng.randrange(len(cells))
    given = cells[place]
    cells[place] = rng.choice(CELLS)
    if b": " in given and rng.random() < 0.8:  # the value of a key
        cells[place] = given.partition(b": ")[0] + b": " + cells[place] + (b"}" if given.endswith(b"}") else b"")
    lines[at] = separator.join(cells)
    return lines


def add_a_cell(rng: Random, lines: list[bytes]) -> list[bytes]:
    at, separator, cells = _cells(rng, lines)
    cells.insert(rng.randrange(len(cells) + 1), rng.choice([*CELLS, *cells]))
    lines[at] = separator.join(cells)
    return lines


def drop_a_cell(rng: Random, lines: list[bytes]) -> list[bytes]:
    at, separator, cells = _cells(rng, lines)
    del cells[rng.randrange(len(cells))]
    lines[at] = separator.join(cells)
    return lines


def swap_cells(rng: Random, lines: list[bytes]) -> list[bytes]:
    at, separator, cells = _cells(rng, lines)
    a, b = rng.randrange(len(cells)), rng.randrange(len(cells))
    cells[a], cells[b] = cells[b], cells[a]
    lines[at] = separator.join(cells)
    return lines


def quote_a_cell(rng: Random, lines: list[bytes]) -> list[bytes]:
    at, separator, cells = _cells(rng, lines)
    place = rng.randrange(len(cells))
    cells[place] = b'"' + cells[place] + b'"'
    lines[at] = separator.join(cells)
    return lines


CHANGES: dict[str, list[Change]] = {
    "bytes": [flip_a_bit, insert_a_token, insert_a_token, put_a_token, delete_bytes, repeat_bytes, cut_short],
    "lines": [
        *map(
            _by_lines, [drop_a_line, repeat_a_line, swap_lines, add_a_line, add_a_line, join_lines, end_lines_otherwise]
        )
    ],
    "cells": [*map(_by_lines, [put_a_cell, put_a_cell, add_a_cell, drop_a_cell, swap_cells, quote_a_cell])],
}


# --- archives and Parquet ---------------------------------------------------------------------------


def zstd(data: bytes) -> bytes:
    """Compress with zstandard; Polars writes it, which Python before 3.14 does not: a line a row, ending as the last one does."""
    if not data.endswith(b"\n"):
        raise ValueError("only whole lines are written")
    out = io.BytesIO()
    lines = pl.DataFrame({"line": data.decode().split("\n")[:-1]})
    lines.write_csv(out, include_header=False, quote_style="never", compression="zstd")
    return out.getvalue()


PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, "gz": lambda data: gzip.compress(data, 1, mtime=0), "zst": zstd}


def parquet(rng: Random, what: str) -> tuple[bytes, pl.DataFrame]:
    """A table in Parquet, its cells and types as odd as they come."""
    head, table = _table(rng, what, spaced=True)
    columns: dict[str, Any] = {}
    for name, cells in zip(head, zip(*table, strict=True), strict=True):
        number = name.lower() in {"score", "grade", "rel", "label", "rank"}
        columns[name] = pl.Series([float(cell) for cell in cells] if number else list(cells))
        if name == "rank":
            columns[name] = columns[name].cast(pl.Int64)
    frame = pl.DataFrame(columns)
    for _ in range(rng.choice([0, 1, 1, 2])):
        frame = _odd_column(rng, frame)
    out = io.BytesIO()
    frame.write_parquet(out, compression=rng.choice(["zstd", "uncompressed", "snappy"]))
    return out.getvalue(), frame


def _odd_column(rng: Random, frame: pl.DataFrame) -> pl.DataFrame:
    name = rng.choice(frame.columns)
    column = pl.Series(name, [None if cell is None else str(cell) for cell in frame[name].to_list()], dtype=pl.String)
    ways: list[Callable[[], pl.Series]] = [
        lambda: column,
        lambda: pl.Series(
            name, [rng.choice([1, 2, 100, -4, None]) for _ in column], dtype=rng.choice([pl.Int8, pl.Int64, pl.Int16])
        ),
        lambda: pl.Series(
            name, [rng.choice([1.0, 2.0, 2.5, float("nan"), float("inf"), None]) for _ in column], dtype=pl.Float64
        ),
        lambda: pl.Series(
            name, [rng.choice([1.0, 2.0, 4.0]) for _ in column], dtype=rng.choice([pl.Float32, pl.Float64])
        ),
        lambda: column.cast(pl.Categorical),
        lambda: pl.Series(name, [None] * len(column)),
        lambda: pl.Series(name, [rng.choice(["", "1.5", " 2", "x", None, "q1"]) for _ in column], dtype=pl.String),
        lambda: pl.Series(name, [rng.choice([True, False]) for _ in column]),
        lambda: pl.Series(name, [["a"] for _ in column]),
        lambda: column.cast(pl.Binary),
    ]
    return frame.with_columns(rng.choice(ways)().alias(name))


LOGS = 0.02  # the share of logs among all inputs: one takes as long as many files


def made(seed: int, number: int) -> Input:
    """The input of this number."""
    rng = Random(f"{seed} {number}")
    if rng.random() < 0.06:
        return _parquet_input(rng)
    if rng.random() < LOGS:
        given = Input("log", "log", "CSV log", "log.csv", logs.log(rng))
        return _changed(rng, given) if rng.random() < 0.5 else given
    if rng.random() < 0.08:
        what, name = rng.choice(list(OTHERS))
        given = Input(what, "other", f"other: {what}", name, OTHERS[what, name](rng))
    else:
        forms = list(FORMS)
        form = rng.choices(forms, [WEIGHTS.get(form[2], 1) for form in forms])[0]
        what, kind, title, name = form
        given = Input(what, kind, title, name, FORMS[form](rng))
    given = _changed(rng, given)
    return _packed(rng, given) if rng.random() < 0.15 else given


def _changed(rng: Random, given: Input) -> Input:
    """The input with some changes of its bytes, lines and cells."""
    steps = []
    data = given.data
    for _ in range(rng.choice([0, 1, 1, 1, 1, 2, 2, 3])):
        if not data:
            break
        level = rng.choice([*CHANGES])
        change = rng.choice(CHANGES[level])
        data = change(rng, data)
        steps.append(level)
    return replace(given, data=data, steps=tuple(steps))


def _packed(rng: Random, given: Input) -> Input:
    packed = rng.choice(["gz", "gz", "zst"])
    if packed == "zst" and (not given.data.endswith(b"\n") or not _is_text(given.data)):
        packed = "gz"
    given = replace(given, packed=packed, name=f"{given.name}.{packed}")
    if rng.random() < 0.3:
        change = rng.choice(CHANGES["bytes"])
        given = replace(given, damaged=change(rng, given.file), steps=(*given.steps, "archive"))
    return given


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _parquet_input(rng: Random) -> Input:
    what = rng.choice(["run", "qrels"])
    data, frame = parquet(rng, what)
    given = Input(
        what,
        "parquet",
        f"Parquet {what}",
        "a.parquet" if what == "run" else "q.parquet",
        b"",
        damaged=data,
        table=frame,
    )
    if rng.random() < 0.5:
        for _ in range(rng.choice([1, 1, 2])):
            data = rng.choice(CHANGES["bytes"])(rng, data)
        given = replace(given, damaged=data, steps=("archive",))
    return given
