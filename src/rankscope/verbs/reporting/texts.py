"""Texts of the queries and documents that a report shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rankscope.errors import InputError
from rankscope.files.texts import texts_of
from rankscope.verbs.reporting.rankings import explorer_of
from rankscope.verbs.reporting.subject import Subject


def with_texts(
    subject: Subject, queries_text: Any = None, docs_text: Any = None, shown: int | None = None
) -> Subject:
    """The subject with the texts of its queries and of the documents that are to be shown.

    Of a file with the texts of millions of documents, those that are shown are kept. Raises InputError for what cannot be read.
    """
    if queries_text is not None:
        found = texts_of(queries_text, subject.lead.query_ids, "query")
        subject = replace(subject, queries_text=found.by_id, texts=(found,))
    if docs_text is not None:
        if subject.scores is None:
            raise InputError(
                "scores alone name no documents, so that their texts have no place: leave them out"
            )
        found = texts_of(docs_text, list(_shown(subject, shown)))
        subject = replace(subject, docs_text=found.by_id, texts=(*subject.texts, found))
    return subject


def _shown(subject: Subject, shown: int | None) -> Iterable[str]:
    """The ids of the documents that the explorer has room for, each once."""
    explorer = explorer_of(subject, depth=shown, texts=False)
    if explorer is None:
        return ()
    return dict.fromkeys(doc.doc_id for query in explorer.queries for doc in query.documents)
