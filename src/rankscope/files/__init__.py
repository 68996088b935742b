"""Readers of runs and qrels: one module a format family.

``raw`` finds the bytes, ``sniff`` tells the format, ``trec`` (with ``layouts``), ``delimited``, ``jsonl`` and
``parquet`` read it, ``long`` finds columns by their usual names, ``memory`` takes dicts and data frames, and
``notes`` holds what all of them say. Faulty rows never raise: the table of the good rows comes with
``source.faults``. What leaves no table at all is an ``InputError``.
"""

from __future__ import annotations

from rankscope.files.readers import qrels_of, read_qrels, read_run, run_of

__all__ = ["qrels_of", "read_qrels", "read_run", "run_of"]
