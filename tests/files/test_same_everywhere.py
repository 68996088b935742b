"""The same rows give the same table in every format, however they are spaced, packed or handed over."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.files import qrels_of, read_qrels, read_run, run_of

LETTERS = "ab01é日#._-/:'\u00a0"
GAPS = [" ", "\t", "  ", " \t", "\v", "\t\t "]
ids = st.text(LETTERS, min_size=1, max_size=6).filter(lambda text: not text.startswith("#") and text.strip("\u00a0"))
odd_ids = ids | st.sampled_from(["01", "1", "1.0", "1e5", "nan", "null", "None", "true", "NA", "inf"])
numbers = st.floats(allow_nan=False, width=64)
pairs = st.dictionaries(st.tuples(odd_ids, odd_ids), numbers, min_size=1, max_size=12)


@st.composite
def spaced(draw: Any, lines: Any) -> Any:
    """Lines with any whitespace, comments and blank lines between."""
    if draw(st.booleans()):
        gap = draw(st.sampled_from(GAPS))
        return "".join(gap.join(fields) + "\n" for fields in lines)
    out = []
    for fields in lines:
        gaps = draw(st.lists(st.sampled_from(GAPS), min_size=len(fields), max_size=len(fields)))
        out.append("".join(field + gap for field, gap in zip(fields, gaps, strict=True)).rstrip(" \t\v"))
        out += draw(st.sampled_from([[], [], [""], ["# note"], [" \t"], ["  # note"]]))
    end = draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    return draw(st.sampled_from(["", "\ufeff", "  "])) + end.join(out) + draw(st.sampled_from(["", end]))


def read(reader: Any, name: Any, text: Any, pack: Any, ending: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (name + ending)
        path.write_bytes(pack[ending](text.encode()))
        return reader(path)


def untyped(rows: Any) -> Any:
    """The same rows where nothing says what is a number: ids that are all written as floats are whole numbers."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    for ids in columns[:2]:
        if all(re.fullmatch(r"[0-9]+\.0+", one) for one in ids):
            ids[:] = [one.partition(".")[0].lstrip("0") or "0" for one in ids]
    return list(zip(*columns, strict=True))


def separated(header: Any, rows: Any, separator: Any) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()


@settings(deadline=None, max_examples=150)
@given(st.data(), pairs)
def test_trec_run(pack: Any, data: Any, rows: Any) -> None:
    lines = [(q, "Q0", d, str(n), repr(s), "tag") for n, ((q, d), s) in enumerate(rows.items())]
    text = data.draw(spaced(lines))
    run = read(read_run, "a.run", text, pack, data.draw(st.sampled_from(["", ".gz", ".zst"])))
    assert run.source.faults == ()
    assert run.frame.rows() == [(q, d, s, n) for n, ((q, d), s) in enumerate(rows.items())]


@settings(deadline=None, max_examples=100)
@given(st.data(), pairs)
def test_trec_qrels(pack: Any, data: Any, rows: Any) -> None:
    lines = [(q, "0", d, repr(g)) for (q, d), g in rows.items()]
    qrels = read(read_qrels, "q.txt", data.draw(spaced(lines)), pack, data.draw(st.sampled_from(["", ".gz", ".zst"])))
    assert qrels.source.faults == ()
    assert qrels.frame.rows() == [(q, d, g, "0") for (q, d), g in rows.items()]


@settings(deadline=None, max_examples=100)
@given(rows=pairs, ending=st.sampled_from(["", ".gz", ".zst"]))
def test_tables(pack: Any, rows: Any, ending: Any) -> None:
    flat = [(q, d, s) for (q, d), s in rows.items()]
    finite = [(q, d, s if abs(s) < float("inf") else 0.0) for q, d, s in flat]
    lines = "".join(json.dumps({"qid": q, "docid": d, "score": s}) + "\n" for q, d, s in finite)
    header = ("query_id", "doc_id", "score")
    assert read(read_run, "a.csv", separated(header, flat, ","), pack, ending).frame.rows() == untyped(flat)
    assert read(read_run, "a.tsv", separated(header, flat, "\t"), pack, ending).frame.rows() == untyped(flat)
    assert read(read_run, "a.jsonl", lines, pack, ending).frame.rows() == finite
    qrels = read(read_qrels, "a.csv", separated(("qid", "docno", "rel"), flat, ","), pack, ending)
    assert qrels.frame.rows() == untyped(flat)
    frame = pl.DataFrame(flat, schema=list(header), orient="row")
    assert run_of(frame).frame.rows() == flat
    with tempfile.TemporaryDirectory() as folder:
        frame.write_parquet(Path(folder) / "a.parquet")
        assert read_run(Path(folder) / "a.parquet").frame.rows() == flat


@settings(deadline=None, max_examples=100)
@given(pairs)
def test_dicts(rows: Any) -> None:
    nested: dict[str, dict[str, float]] = {}
    for (query, doc), score in rows.items():
        nested.setdefault(query, {})[doc] = score
    flat = [(q, d, s) for q, docs in nested.items() for d, s in docs.items()]
    assert run_of(nested).frame.rows() == flat
    assert qrels_of(nested).frame.rows() == flat
