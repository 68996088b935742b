"""The page about the three rankings of the demo."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from rankscope.files import read_qrels, read_run
from rankscope.files.texts import texts_of
from rankscope.reporting.report import Report, report
from rankscope.verbs.demo.demo import RUNS, UNJUDGED, folder


def demo_report() -> Report:
    """The report on the three rankings of the demo, with the texts of queries and documents."""
    runs = [(name, _under_file_name(read_run(folder() / f"{name}.run.gz"))) for name in RUNS]
    return report(
        _under_file_name(read_qrels(folder() / "qrels.txt")),
        runs,
        queries_text=texts_of(folder() / "queries.tsv").by_id,
        docs_text=texts_of(folder() / "docs.jsonl.gz").by_id,
        title="Three ways to search Python's documentation",
        about=f"The queries of a small collection that comes with rankscope. {UNJUDGED}",
        command="rankscope demo --report demo.html",
    )


def _under_file_name(table: Any) -> Any:
    """A table named by its file name only: its folder differs on every machine."""
    there, source = f"{folder()}{os.sep}", table.source
    notes = tuple(note.replace(there, "demo/") for note in source.notes)
    label = source.label.replace(there, "demo/")
    return replace(table, source=replace(source, label=label, path=label, notes=notes))
