"""Scores of runs."""
