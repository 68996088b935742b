"""Judgments that are missing: how far numbers could move, and what to judge next."""
