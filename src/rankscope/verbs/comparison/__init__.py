"""Comparing runs: pairs, families of pairs, the verdict and what to doubt about it."""
