"""Readers of runs and qrels, and of tables, scores, texts, attributes, costs and logs.

``raw`` opens a file, ``catalogue`` lists the formats of runs, ``long`` finds columns by name and keeps notes and faults. Faulty rows never
raise: the table of the good rows comes with ``source.faults``. A file without any good row is an ``InputError``.
"""

from __future__ import annotations

from rankscope.files.catalogue import open_run, qrels_of, read_qrels, read_run, run_of

__all__ = ["open_run", "qrels_of", "read_qrels", "read_run", "run_of"]
