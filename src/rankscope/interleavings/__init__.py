"""Interleaved lists in logs: the credit that each ranker earns."""
