"""Estimate the value of other policies from a log."""
