"""Evaluation of a run in shares: partitions, files of partial results, and work that goes on after an interruption."""
