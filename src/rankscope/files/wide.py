"""Wide tables of questions and the texts retrieved for them, as Ragas, LlamaIndex, LangChain and DeepEval write them."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.catalogue import kind_of
from rankscope.files.objects import json_of, objects_of
from rankscope.files.parquet import open_parquet
from rankscope.files.raw import is_path, open_raw
from rankscope.words import plain_name

EXPECTED = "a table has one row per question, with the texts retrieved for it in a column like contexts, best first"
ROLES: dict[str, tuple[str, ...]] = {
    "question": ("question", "user_input", "input", "query", "inputs"),
    "contexts": ("retrieved_contexts", "contexts", "retrieval_context", "retrieved_texts", "source_documents", "documents", "retrieved"),
    "evidence": (
        "reference_contexts", "evidence", "evidences", "ground_truth_contexts", "expected_texts", "gold_contexts", "supporting_facts", "context",
    ),
    "answers": ("answers", "reference", "ground_truth", "ground_truths", "expected_output", "reference_answer", "answer"),
    "lengths": ("lengths", "context_lengths", "tokens"),
    "context_ids": ("retrieved_context_ids", "retrieved_ids", "context_ids"),
    "evidence_ids": ("reference_context_ids", "expected_ids", "evidence_ids"),
    "id": ("question_id", "query_id", "qid", "id"),
}  # fmt: skip
TEXT = ("text", "page_content", "content", "pageContent")  # of an object that holds a passage
START, END = ("start", "start_char_idx", "start_index"), ("end", "end_char_idx", "end_index")
DOCUMENT, ID = ("document", "doc_id", "ref_doc_id", "source"), ("id", "id_", "node_id", "chunk_id")


@dataclass(frozen=True)
class Passage:
    """A text, a span of a document, or both. ``start`` and ``end`` are character offsets in ``document``, or None. ``id`` names a chunk."""

    text: str
    document: str = ""
    start: int | None = None
    end: int | None = None
    id: str = ""


@dataclass(frozen=True)
class Question:
    """A question: the passages retrieved, best first, with their lengths in tokens if given, evidence and answers."""

    id: str
    question: str
    contexts: Sequence[Passage]
    evidence: Sequence[Passage]
    answers: Sequence[str]
    lengths: Sequence[int] | None = None


@dataclass(frozen=True)
class WideTable:
    """The questions of a table, its name, and the column of each role."""

    name: str
    questions: Sequence[Question]
    columns: Mapping[str, str]


def wide_table(source: Any, name: str | None = None) -> WideTable:
    """Read a wide table: JSON, JSON Lines, Parquet, CSV with JSON lists in its cells, a frame, or a list of dicts or objects.

    Columns are found by the names of Ragas, LlamaIndex, LangChain and DeepEval. A passage is a text, or an object with ``text`` (or
    ``page_content``), ``document``, ``start`` and ``end``. Raises InputError for a table without contexts, or a row that cannot be read.
    """
    label, rows = _rows(source)
    rows = [_flat(row) for row in rows]
    if not rows:
        raise InputError(f"{label}: no question is there; {EXPECTED}")
    names = {plain_name(str(key)): str(key) for row in rows for key in row}
    known = ((role, plain_name(one)) for role, some in ROLES.items() for one in reversed(some))
    columns = {role: names[plain] for role, plain in known if plain in names}
    if not columns.keys() & {"contexts", "context_ids"} and "context" in names:  # of a chain of LangChain
        rest = {role: one for role, one in columns.items() if one != names["context"]}
        columns = {"contexts": names["context"], **rest}
    if not columns.keys() & {"contexts", "context_ids"}:
        raise InputError(
            f"{label}: no column holds what was retrieved ({words.listing(list(names.values()), 6)}); {EXPECTED}"
        )
    questions = [_question(row, number, columns, f"{label} row {number}") for number, row in enumerate(rows, start=1)]
    seen: set[str] = set()
    for one in questions:
        if one.id in seen:
            raise InputError(
                f"{label}: question {words.quote(one.id)} is there twice; give each row an id, in a column question_id"
            )
        seen.add(one.id)
    return WideTable(name or (Path(label).stem.split(".")[0] if is_path(source) else "table"), questions, columns)


def _rows(source: Any) -> tuple[str, list[Mapping[str, Any]]]:
    if is_path(source):
        raw = open_raw(source, EXPECTED)
        kind = kind_of(raw)
        if kind == "parquet":
            return raw.label, list(open_parquet(raw).table().to_dicts())
        if kind == "jsonl":
            return raw.label, objects_of(raw, dict)[0]
        if kind == "json":
            value = json_of(raw, dict)
            if isinstance(value, Mapping):
                value = next((one for one in value.values() if isinstance(one, list)), None)
            if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
                raise InputError(f"{raw.label}: JSON must be a list of objects; {EXPECTED}")
            return raw.label, value
        csv.field_size_limit(1 << 30)
        return raw.label, list(csv.DictReader(io.StringIO(raw.text().decode("utf-8-sig"))))
    if isinstance(source, list | tuple):
        rows = [_mapping(row) for row in source]
        if not all(isinstance(row, Mapping) for row in rows):
            raise InputError(f"table: a list holds one dict per question; {EXPECTED}")
        return "table", rows
    if hasattr(source, "__arrow_c_stream__"):
        import polars as pl

        return "table", list(pl.DataFrame(source).to_dicts())
    raise InputError(f"table: cannot be read from {type(source).__name__}; {EXPECTED}")


def _mapping(value: Any) -> Any:
    """A mapping or plain value as it is, an object (a Document, a test case) as the mapping of its fields."""
    if isinstance(value, Mapping | str | int | float | list | tuple) or value is None:
        return value
    return value.model_dump() if hasattr(value, "model_dump") else vars(value) if hasattr(value, "__dict__") else value


def _flat(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row of a run in LangSmith without its levels: ``outputs`` hold what was retrieved, ``reference_outputs`` the answer."""
    inputs, outputs, gold = (row.get(name) for name in ("inputs", "outputs", "reference_outputs"))
    if not isinstance(outputs, Mapping):
        return row
    inputs, gold = (one if isinstance(one, Mapping) else {} for one in (inputs, gold))
    return {**{key: one for key, one in outputs.items() if key != "answer"}, **inputs, **gold, **row}


def _question(row: Mapping[str, Any], number: int, columns: Mapping[str, str], where: str) -> Question:
    cells = {role: row.get(column) for role, column in columns.items()}
    question = str(cells.get("question") or "")
    contexts = _passages(cells, "context", columns, where)
    lengths = [_whole(one) for one in _listed(cells.get("lengths"))]
    if lengths and (len(lengths) != len(contexts) or not all(isinstance(n, int) and n >= 0 for n in lengths)):
        raise InputError(
            f"{where}: {columns['lengths']} must have one whole number for each of {words.counted(len(contexts), 'context')}"
        )
    evidence = _passages(cells, "evidence", columns, where)
    answers = [str(one) for one in _listed(cells.get("answers")) if str(one).strip()]
    question_id = cells.get("id")
    name = str(question_id) if question_id not in {None, ""} else question or str(number)
    return Question(name, question, contexts, evidence, answers, lengths or None)


def _listed(value: Any) -> list[Any]:
    """The values of a cell: of a list, of JSON or Python in a text, one, or none."""
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN of a frame
        return []
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                return list(json.loads(value))
            except ValueError:
                return _listed_by_python(value.strip())
        return [value] if value.strip() else []
    return list(value) if isinstance(value, Iterable) and not isinstance(value, Mapping) else [value]


def _listed_by_python(text: str) -> list[Any]:
    """The values of a list as ``str`` writes it, which Ragas and pandas put into CSV. NumPy writes no commas between texts."""
    try:
        tokens = [one for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.string.strip()]
        if all(one.type == tokenize.STRING or one.string in "[,]" for one in tokens):
            return [ast.literal_eval(one.string) for one in tokens if one.type == tokenize.STRING]
        value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
        value = None
    if not isinstance(value, list) and re.match(r"\[\s*(['\"{]|\w+\()", text) and text.endswith("]"):
        start = words.quote(text[:40])
        raise InputError(
            f"the list {start} is not JSON or Python; write it with json.dumps, or as JSON Lines or Parquet"
        )
    return value if isinstance(value, list) else [text]


def _whole(value: Any) -> Any:
    """A whole number as an int, from 7, 7.0, "7" or NumPy; other values as they are."""
    try:
        return int(value) if float(value) == int(value) else value
    except (TypeError, ValueError, OverflowError):
        return value


def _passages(cells: Mapping[str, Any], kind: str, columns: Mapping[str, str], where: str) -> list[Passage]:
    """The contexts or the evidence of a row: by their texts, their ids, or both."""
    role = {"context": "contexts"}.get(kind, kind)
    out = [_passage(one, f"{where}, {columns[role]}") for one in _listed(cells.get(role))]
    ids = [str(one) for one in _listed(cells.get(f"{kind}_ids"))]
    if ids and out and len(ids) != len(out):
        texts = words.counted(len(out), "text")
        raise InputError(
            f"{where}: {columns[f'{kind}_ids']} has {words.counted(len(ids), 'id')} for {texts}; give each text its id"
        )
    return [replace(one, id=of) for one, of in zip(out or [Passage("")] * len(ids), ids, strict=True)] if ids else out


def _passage(value: Any, where: str) -> Passage:
    if isinstance(value, str):
        return Passage(value)
    value = _mapping(value)
    for wrapper in ("node", "kwargs"):  # of LlamaIndex, and of LangChain
        value = _mapping(value[wrapper]) if isinstance(value, Mapping) and value.get(wrapper) else value
    if not isinstance(value, Mapping):
        raise InputError(
            f"{where}: {words.quote(str(value))} is not a passage; give a text, or an object with text, document, start and end"
        )
    inner = value.get("metadata")
    whole = {**(inner if isinstance(inner, Mapping) else {}), **value}
    text, start, end, document, chunk = (
        next((whole[key] for key in names if whole.get(key) is not None), None)
        for names in (TEXT, START, END, DOCUMENT, ID)
    )
    text, start, end = "" if text is None else str(text), _whole(start), _whole(end)
    if end is None and text and isinstance(start, int):
        end = start + len(text)
    if (start is None) != (end is None):
        raise InputError(f"{where}: a span needs start and end, in characters of its document")
    if start is not None and not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end):
        raise InputError(
            f"{where}: the span {start} to {end} is not inside its document; start is at least 0 and end is above start"
        )
    if start is not None and end is not None and len(text) > end - start:
        raise InputError(
            f"{where}: the span {start} to {end} is shorter than its text of {words.counted(len(text), 'character')}"
        )
    return Passage(text, str(document or ""), start, end, str(chunk or ""))


def with_documents(question: Question, texts: Mapping[str, str]) -> Question:
    """The same with the text of each span from its document. Raises InputError for a span outside its document."""

    def filled(one: Passage) -> Passage:
        if one.start is None or one.end is None:
            return one
        whole = texts.get(one.document)
        if whole is None or one.end > len(whole):
            size = "without a text" if whole is None else f"of {words.counted(len(whole), 'character')}"
            where = f"question {words.quote(question.id)}: the span {one.start} to {one.end} is outside document {words.quote(one.document)}"
            raise InputError(f"{where}, {size}; give spans in characters of the texts in --docs-text")
        return replace(one, text=one.text or whole[one.start : one.end])

    contexts, evidence = ([filled(one) for one in some] for some in (question.contexts, question.evidence))
    return replace(question, contexts=contexts, evidence=evidence)
