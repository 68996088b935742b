"""Reorder a run so that the top of each ranking covers more."""
