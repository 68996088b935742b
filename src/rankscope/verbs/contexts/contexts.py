"""Score the contexts that were retrieved for the questions of a language model, by the texts of evidence and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.declared import one_of
from rankscope.dialects import DIALECTS
from rankscope.errors import DataError, InputError
from rankscope.files.texts import texts_of
from rankscope.files.wide import WideTable, wide_table, with_documents
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.scoring.inputs import named_runs
from rankscope.verbs.contexts.evidence import MATCHES, EvidenceSearch, Matching
from rankscope.verbs.contexts.measures import USUAL, ContextMeasure, EvidenceRecall, Length
from rankscope.verbs.contexts.result import ContextScores, Unanswerable

Searches = Mapping[str, Mapping[str, EvidenceSearch]]
BUDGETS = (256, 512, 1024, 2048, 4096, 8192)


def contexts(  # noqa: PLR0913 - the options of the command line, each with its default
    tables: Any, measures: Any = None, *, budgets: Sequence[int] | None = None, threshold: float = 0.8,
    tokeniser: Callable[[str], Any] | None = None, docs_text: Any = None, dialect: str | None = None, per_query: bool = False,
) -> ContextScores:  # fmt: skip
    """Score the contexts of questions by the texts of their evidence, so that the ids of chunks do not matter.

    ``tables`` is one wide table or a list of them, one per system: a file (JSON, JSON Lines, Parquet, CSV), a frame or a list of dicts, with the
    columns of Ragas, LlamaIndex, LangChain or DeepEval. A passage counts as found if at least ``threshold`` of its words stand in the
    contexts so far, in runs of three words, after the normalisation of SQuAD. If passages and contexts have ``document``, ``start`` and
    ``end``, characters are compared instead. ``measures`` are those of ``USUAL``, or spellings like ``EvidenceRecall(tokens=2048)`` and
    ``AnswerInContext@5``. A ``dialect`` (ragas, deepeval, llamaindex) reads them as names of that tool. ``docs_text`` has the texts of the
    documents in which spans lie: ``{id: text}``, a frame or a file. ``budgets`` are the tokens for recall by tokens. ``tokeniser`` maps a text to tokens or their number; by default words
    between spaces are counted. Questions with neither evidence nor answers are unanswerable: how much is retrieved for them is counted apart.

    Raises InputError for a table that cannot be read, DataError if no question has evidence or answers.

    >>> import rankscope as rs
    >>> row = {
    ...     "question": "q",
    ...     "contexts": ["Paris is large.", "It has the Eiffel Tower."],
    ...     "reference_contexts": ["the Eiffel Tower"],
    ... }
    >>> found = rs.contexts([row], ["EvidenceRecall@1", "EvidenceRecall", "RankedPrecision"])
    >>> [round(row.value, 2) for row in found.rows_of_systems]
    [0.0, 1.0, 0.5]
    """
    chosen, dialect_notes = _chosen(measures, dialect)
    matching = Matching(threshold, tokeniser)
    read = [_whole(wide_table(source, name), docs_text) for name, source in _named(tables)]
    names = _distinct([table.name for table in read])
    searches = ({one.id: EvidenceSearch.of(one, matching) for one in table.questions} for table in read)
    by_system = dict(zip(names, searches, strict=True))
    answerable = _answerable(by_system)
    measured = all(one.measured for of_table in by_system.values() for one in of_table.values())
    if not (measured or measures or dialect):
        chosen = [one for one in chosen if not isinstance(one, Length)]
    used = [one for one in chosen if any(one.has(a[q]) for a in by_system.values() for q in answerable if q in a)]
    if not used:
        lacking = words.listing([str(one) for one in chosen])
        columns = "reference_contexts or reference, or ids like retrieved_context_ids and reference_context_ids"
        raise DataError(f"no question has the evidence or answers for {lacking}: add a column like {columns}")
    panels = {str(measure): _panel(measure, by_system, answerable) for measure in used}
    limits = _budgets(budgets, by_system, answerable) if measured or budgets is not None else []
    curve = _curve(limits, by_system, answerable, used)
    lengths = {
        tokens: {name: _spent(of_table, tokens, answerable) for name, of_table in by_system.items()} for tokens in curve
    }
    notes = [*(_note(table) for table in read), *dialect_notes]
    notes += [
        f"left out {one}: every question lacks its input" for one in chosen if one not in used and (measures or dialect)
    ]
    if not (measured or curve):
        notes.append("left out recall by tokens: contexts without texts need a column lengths")
    left, conventions = list(_unanswerable(by_system, set(answerable))), _conventions(matching, used, by_system)
    return ContextScores(tuple(names), panels, curve, lengths, left, conventions, notes, per_query)


def _conventions(matching: Matching, used: Sequence[ContextMeasure], by_system: Searches) -> dict[str, Any]:
    searches = [one for of_table in by_system.values() for one in of_table.values()]
    under = {getattr(one, "match", "evidence") for one in used if one.needs == "evidence"}
    kinds = {kind for one in searches for match in under if one.offers(match) for kind in one.under(match).matches}
    by_text = "words between spaces" if matching.tokeniser is None else "by the tokeniser given"
    counts = {one.question.lengths is not None for one in searches if one.measured and one.question.contexts}
    share = words.share(matching.threshold)
    return {
        "threshold": matching.threshold, "match": " or ".join(text.format(share=share) for kind, text in MATCHES.items() if kind in kinds),
        "tokens": " or ".join({True: "the column of lengths", False: by_text}[one] for one in sorted(counts)), "measures": [str(one) for one in used],
    }  # fmt: skip


def _curve(
    limits: Sequence[int], by_system: Searches, questions: Sequence[str], used: Sequence[ContextMeasure]
) -> dict[int, Panel]:
    if not any(measure.needs == "evidence" for measure in used):
        return {}
    return {tokens: _panel(EvidenceRecall(tokens=tokens), by_system, questions) for tokens in limits}


def _chosen(measures: Any, dialect: str | None) -> tuple[list[ContextMeasure], list[str]]:
    if dialect is None:
        return ContextMeasure.read_all(measures or USUAL), []
    tools = {name: one for name, one in DIALECTS.items() if one.contexts}
    one_of("dialect", dialect, list(tools))
    tool, chosen, notes = tools[dialect], list[ContextMeasure](), []
    names = measures or tuple(tool.contexts)
    for name in [names] if isinstance(names, str | type | ContextMeasure) else names:
        theirs = tool.contexts.get(name) if isinstance(name, str) else None
        chosen.append(ContextMeasure.read(theirs.metric if theirs else name))
        notes += [f"{name} of {tool.tool} as {theirs.metric}: {theirs.because}"] if theirs else []
    return chosen, notes


def _whole(table: WideTable, docs_text: Any) -> WideTable:
    if docs_text is None:
        return table
    passages = (one for question in table.questions for one in (*question.contexts, *question.evidence))
    texts = texts_of(docs_text, {one.document for one in passages if one.start is not None}).by_id
    return replace(table, questions=[with_documents(one, texts) for one in table.questions])


def _named(tables: Any) -> list[tuple[str | None, Any]]:
    if isinstance(tables, list | tuple) and tables and all(isinstance(row, Mapping) for row in tables):
        return [(None, tables)]  # the rows of one table
    if isinstance(tables, Mapping):
        return [(str(name), table) for name, table in tables.items()]
    return list(named_runs(tables))


def _distinct(names: Sequence[str]) -> list[str]:
    return [name if names.count(name) == 1 else f"{name}{i}" for i, name in enumerate(names, start=1)]


def _answerable(by_system: Searches) -> list[str]:
    every = [one for of_table in by_system.values() for one in of_table.values()]
    out = list(dict.fromkeys(one.question.id for one in every if one.question.evidence or one.question.answers))
    if not out:
        columns = "reference_contexts (the passages that answer it) or reference (the answer)"
        raise DataError(f"no question has evidence or answers: add a column like {columns}")
    return out


def _unanswerable(by_system: Searches, answerable: set[str]) -> Iterator[Unanswerable]:
    """The contexts and tokens that each system retrieved for other questions."""
    for name, of_table in by_system.items():
        some = [one for question, one in of_table.items() if question not in answerable]
        if some:
            contexts = float(np.mean([len(one.question.contexts) for one in some]))
            tokens = [one.lengths.sum() if one.measured else np.nan for one in some]
            yield Unanswerable(name, len(some), contexts, float(np.mean(tokens)))


def _panel(measure: ContextMeasure, by_system: Searches, questions: Sequence[str]) -> Panel:
    values = [[measure.value(one[q]) if q in one else np.nan for q in questions] for one in by_system.values()]
    of = Measure(str(measure), measure.better, measure.range, unit="question")
    return Panel(of, tuple(by_system), tuple(questions), np.array(values))


def _budgets(budgets: Sequence[int] | None, by_system: Searches, questions: Sequence[str]) -> list[int]:
    if budgets is not None:
        for one in budgets:
            if isinstance(one, bool) or not isinstance(one, int) or one < 1:
                raise InputError(
                    f"budgets: {one!r} is not a number of tokens; give whole numbers of at least 1, like 1024"
                )
        return sorted(set(budgets))
    longest = max(int(of_table[q].lengths.sum()) for of_table in by_system.values() for q in questions if q in of_table)
    enough = next((i for i, one in enumerate(BUDGETS) if one >= longest), len(BUDGETS) - 1)
    return list(BUDGETS[: enough + 1])


def _spent(of_table: Mapping[str, EvidenceSearch], tokens: int, questions: Sequence[str]) -> float:
    searches = [of_table[q] for q in questions if q in of_table]
    return float(np.mean([one.lengths[: one.within(tokens)].sum() for one in searches] or [0]))


def _note(table: WideTable) -> str:
    roles = ", ".join(f"{column} as {role}" for role, column in table.columns.items() if column != role)
    return f"read {table.name}: {words.counted(len(table.questions), 'question')}" + (f" ({roles})" if roles else "")
