"""Analyse interleaved lists."""
