"""Readers of runs and qrels, and of tables, scores, texts, attributes and costs that stand beside them.

``readers`` tells the format of a file; ``raw`` opens it; ``trec``, ``columns`` (CSV, TSV), ``objects`` (JSON), ``parquet`` and
``memory`` (dicts and data frames) read runs and qrels, with ``long`` to find columns by name and to keep notes and faults. Faulty rows never raise: the
table of the good rows comes with ``source.faults``. A file without any good row is an ``InputError``.
"""

from __future__ import annotations

from rankscope.files.readers import open_run, qrels_of, read_qrels, read_run, run_of

__all__ = ["open_run", "qrels_of", "read_qrels", "read_run", "run_of"]
