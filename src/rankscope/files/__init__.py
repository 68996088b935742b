"""Readers of runs and qrels: one module a format family."""

from __future__ import annotations

from rankscope.files.readers import qrels_of, read_qrels, read_run, run_of

__all__ = ["qrels_of", "read_qrels", "read_run", "run_of"]
