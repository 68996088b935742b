"""Texts of the queries and documents that a report shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rankscope.errors import InputError
from rankscope.files.texts import texts_of
from rankscope.reporting.explorer.rankings import documents_of
from rankscope.reporting.subject import Subject


def with_texts(subject: Subject, queries_text: Any = None, docs_text: Any = None) -> Subject:
    """The subject with the texts of its queries and of the documents that are to be shown.

    Of a file with the texts of millions of documents, those that are shown are kept. Raises InputError for what cannot be read.
    """
    if queries_text is not None:
        found = texts_of(queries_text, subject.lead.query_ids, "query")
        subject = replace(subject, queries_text=found.by_id, texts=(found,))
    if docs_text is not None:
        if subject.scores is None:
            raise InputError("scores alone name no documents, so that their texts have no place: leave them out")
        found = texts_of(docs_text, documents_of(subject, subject.shown))
        subject = replace(subject, docs_text=found.by_id, texts=(*subject.texts, found))
    return subject
