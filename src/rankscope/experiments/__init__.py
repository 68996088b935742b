"""Experiments: the variants of a log as panels, by day, by slice, and the check of their split."""
