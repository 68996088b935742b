"""The query explorer of a page: its data for scripts, and a table for browsers without scripts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterable, Sequence
from typing import Any
from urllib.parse import quote

from rankscope import words
from rankscope.blocks import Explorer, Query
from rankscope.show.cells import text_of
from rankscope.show.html.assets import safe
from rankscope.show.html.tables import visible, visible_id

ROWS = 500  # of the table that needs no script: more would be no reading, unless the page links to more
RUNS = 8  # columns of values that fit a page
TEXT = 160  # characters of a query's text in a cell
ID = 80
SAFE = "!~*'()"  # signs that encodeURIComponent keeps

# text that would end a script or a line of it, and lone surrogates, which no file can hold
_HALVES = re.compile("[\ud800-\udfff]")


def encode(explorer: Explorer) -> str:
    r"""The whole block as compact JSON, safe as the text of ``<script type="application/json">``.

    Grades are codes into ``grades`` (the first stands for a document that is not judged), texts of documents codes into ``texts``;
    the documents of a query are parallel arrays. Values have 6 significant digits; one that is undefined is null.

    >>> print(encode(Explorer(("</script>",), ("P@1",), "higher", (), 10, 1, 1.0, 3.0)))
    {"runs":["\u003c/script>"],"metrics":["P@1"],"better":"higher","depth":10,"cutoff":1,"level":1,"topGrade":3,"leftOut":0,"notes":[],"teaching":false,"parameters":{},"grades":[null],"texts":[""],"queries":[]}
    """
    grades, texts = _grades(explorer.queries), _texts(explorer.queries)
    whole: dict[str, Any] = {
        "runs": explorer.runs, "metrics": explorer.metrics, "better": explorer.better, "depth": explorer.depth,
        "cutoff": explorer.cutoff, "level": _short(explorer.level), "topGrade": _short(explorer.top_grade),
        "leftOut": explorer.left_out, "notes": explorer.notes, "teaching": explorer.teaching,
        "parameters": {name: _short(value) for name, value in explorer.parameters},
        "grades": [None if grade is None else _short(grade) for grade in grades], "texts": list(texts),
        "queries": [_query(query, grades, texts) for query in explorer.queries],
    }  # fmt: skip
    if explorer.betters:
        whole |= {"betters": explorer.betters, "cutoffs": explorer.cutoffs}
    if explorer.marks:
        whole["marks"] = json.loads(explorer.marks)
    return safe(json.dumps(whole, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def _query(query: Query, grades: dict[float | None, int], texts: dict[str, int]) -> dict[str, Any]:
    """Return a query with one-letter keys: there are thousands of queries."""
    documents = query.documents
    record: dict[str, Any] = {
        "i": query.query_id,
        "t": query.text,
        "v": [_shorts(values) for values in query.values],
        "n": query.sizes,
        "u": query.unjudged,
        "s": _shorts(query.rest),
        "j": _flat((grades[grade], count) for grade, count in query.judged),
        "b": [_flat((rank, grades[grade]) for rank, grade in below) for below in query.beyond],
        "d": [document.doc_id for document in documents],
        "g": [grades[document.grade] for document in documents],
        "r": list(zip(*(document.ranks for document in documents), strict=True)),
        "a": [_sparse(adds) for adds in zip(*(document.adds for document in documents), strict=True)],
    }
    if others := query.others:
        record["o"] = [document.doc_id for document in others]
        record["og"] = [grades[document.grade] for document in others]
        record["or"] = [_sparse(ranks) for ranks in zip(*(document.ranks for document in others), strict=True)]
    if query.answer:
        record["y"] = query.answer
    if any(document.text for document in documents):
        record["x"] = [texts[document.text] for document in documents]
    return record


def _grades(queries: Sequence[Query]) -> dict[float | None, int]:
    """All grades there are and their codes; code 0 is a document that is not judged."""
    there = {document.grade for query in queries for document in (*query.documents, *query.others)}
    there |= {grade for query in queries for grade, _ in query.judged}
    there |= {grade for query in queries for below in query.beyond for _, grade in below}
    return {grade: code for code, grade in enumerate([None, *sorted(g for g in there if g is not None)])}


def _texts(queries: Sequence[Query]) -> dict[str, int]:
    """Return all texts of documents, each once, and their codes; code 0 means no text."""
    texts = dict.fromkeys(document.text for query in queries for document in query.documents if document.text)
    return {text: code for code, text in enumerate(["", *texts])}


def _short(value: float) -> float | int | None:
    """Round a number to 6 significant digits; whole ones without a point, undefined ones as None."""
    if value == 0:
        return 0
    if not math.isfinite(value):
        return None
    cut = float(f"{value:.6g}")
    return int(cut) if cut.is_integer() and abs(cut) < 1e15 else cut


def _shorts(values: Iterable[float]) -> list[float | int | None]:
    return [_short(value) for value in values]


def _sparse(values: Iterable[float]) -> list[float | int | None]:
    """Return positions and values of the non-zero numbers, alternating: most documents add nothing."""
    return _flat((place, _short(value)) for place, value in enumerate(values) if value != 0)


def _flat(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    return [part for pair in pairs for part in pair]


def query_table(explorer: Explorer, linked: Container[str] = ()) -> dict[str, Any]:
    """The queries as a table that needs no script, largest loss first, and 8 runs at most.

    It holds the queries that the page links to, whose fragments are in ``linked``, and as many others as fit into 500. A row is its
    anchor, the id, the text and the numbers as they are to be written; the ``note`` lists the omissions.
    """
    runs, metric = explorer.runs[:RUNS], explorer.metrics[0] if explorer.metrics else ""
    differs = len(runs) > 1
    heads = (*(f"{metric} of {visible(run)}" for run in runs),)
    if differs:
        heads += (f"{visible(runs[1])} against {visible(runs[0])}",)
    ordered = explorer.queries if explorer.teaching else sorted(explorer.queries, key=_loss(explorer))
    rows = tuple(_query_row(query, len(runs), differs) for query in _keep(ordered, linked))
    return {"heads": heads, "rows": rows, "note": _omissions(explorer, len(rows))}


def _keep(ordered: Sequence[Query], linked: Container[str]) -> list[Query]:
    """Return the queries with a row, in order: a link to any other would be dead."""
    is_linked = [fragment(query.query_id) in linked for query in ordered]
    others = [i for i, one in enumerate(is_linked) if not one][: max(0, ROWS - sum(is_linked))]
    kept = {*others, *(i for i, one in enumerate(is_linked) if one)}
    return [query for i, query in enumerate(ordered) if i in kept]


def _loss(explorer: Explorer) -> Any:
    """The sort key: the worst for the first rival, or for the only run, first; undefined values last."""
    way = -1.0 if explorer.better == "lower" else 1.0

    def key(query: Query) -> tuple[bool, float]:
        values = [of_run[0] for of_run in query.values[:2]]
        value = way * (values[1] - values[0] if len(values) > 1 else values[0]) if values else math.nan
        return (math.isnan(value), value if not math.isnan(value) else 0.0)

    return key


def _query_row(query: Query, runs: int, differs: bool) -> tuple[str, str, str, tuple[str, ...]]:
    values = [of_run[0] if of_run else math.nan for of_run in query.values[:runs]]
    texts = [text_of(value) for value in values]
    if differs:
        texts.append(words.cell(values[1] - values[0], sign=True))
    query_id, text = words.short(visible_id(query.query_id), ID), visible(" ".join(query.text.split()))
    return fragment(query.query_id), query_id, words.short(text, TEXT), tuple(texts)


def _omissions(explorer: Explorer, rows: int) -> str:
    """Return the omissions of the table, in sentences."""
    omissions = []
    queries, runs = len(explorer.queries) - rows, len(explorer.runs) - RUNS
    if queries > 0:
        more, they = (words.counted(queries, "more query is", "more queries are"), "it" if queries == 1 else "they")
        omissions.append(f"{more} not in this table. With JavaScript {they} can be searched and opened.")
    if runs > 0:
        omissions.append(f"It shows the first {RUNS} of {len(explorer.runs)} runs.")
    if explorer.left_out:
        omissions.append(f"{words.counted(explorer.left_out, 'query is', 'queries are')} not in this file.")
    return " ".join(omissions)


def fragment(query_id: str, pair: Sequence[str] = ()) -> str:
    """Return the fragment of the address of a query, optionally with two runs, as ``encodeURIComponent`` writes it.

    >>> fragment("a b/ü"), fragment("1", ("bm25", "a&b"))
    ('q=a%20b%2F%C3%BC', 'q=1&a=bm25&b=a%26b')
    """
    parts = zip("qab", (query_id, *pair), strict=False)
    return "&".join(f"{name}={quote(_HALVES.sub(chr(0xFFFD), part), safe=SAFE)}" for name, part in parts)
