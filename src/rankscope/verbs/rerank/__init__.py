"""Reorder the top of each ranking by scores of texts."""
